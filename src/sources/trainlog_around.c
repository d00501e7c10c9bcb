#include "base/hash.h"
#include "sources/trainlog_inside.h"
#include "ttscope/chip.h"

enum { LINES_MORE = 64 }; /* of a header, read one by one behind the row that was found */

/* ---- values ---- */

/* When something was said, and in which line. */
struct moment {
    uint64_t at, line;
};

/* What stands behind a colon: "7 (0.00B)", "1,234, trainable: 3". */
static struct tts_span first_word(struct tts_span value)
{
    struct tts_span word = tts_span_trim(value);
    size_t len = 0;
    while (len < word.len && !tts_is_blank(word.at[len]))
        len++;
    while (len > 0 && len < word.len && (word.at[len - 1] == ',' || word.at[len - 1] == ';'))
        len--;
    return (struct tts_span){word.at, len};
}

/* A program says it once: if a block has begun since the optimizer was named, that was another
 * program's. */
static void set_parameters(struct tts_trainlog_around *around, struct tts_span word,
                           struct tts_span value, struct moment moment)
{
    if (!around->is_optimizer_new) {
        around->optimizer_at = 0;
        around->optimizer[0] = '\0';
        around->has_kahan = around->is_kahan = false;
    }
    around->parameters_at = moment.at;
    around->parameters = 0;
    around->parameters_line = moment.line;
    around->is_parameters_bad = !tts_logvalue_count(word, &around->parameters);
    if (around->is_parameters_bad)
        tts_trainlog_excerpt(around->bad_parameters, value);
}

/* Memory, mesh and chip are of one statement. */
static void forget_device(struct tts_trainlog_around *around)
{
    around->device_at = 0;
    around->has_memory = false;
    around->memory = (struct tts_amount){0};
    around->memory_line = 0;
    around->mesh_devices = 0;
    around->chip[0] = '\0';
}

/* "(n150)" after the memory is the board, if there is a preset of that name. */
static void set_board(struct tts_trainlog_around *around, struct tts_span rest)
{
    char name[TTS_RUN_WORD_MAX] = "";
    struct tts_chip chip;
    rest = tts_span_trim(rest);
    if (!tts_span_begins(rest, "(") || !tts_span_ends(rest, ")") || rest.len <= 2 ||
        rest.len - 2 >= sizeof name)
        return;
    tts_span_copy(name, sizeof name, (struct tts_span){rest.at + 1, rest.len - 2});
    if (tts_chip_preset(name, &chip, NULL) == TTS_OK)
        memcpy(around->chip, name, sizeof name);
}

static void set_memory(struct tts_trainlog_around *around, struct tts_span value,
                       struct moment moment)
{
    const char *unit = tts_span_find(value, "MB");
    size_t len = unit ? (size_t)(unit - value.at) + 2 : value.len;
    struct tts_span size = value;
    if (len < value.len && !tts_is_letter(value.at[len]) && !tts_is_digit(value.at[len]))
        size.len = len;
    around->device_at = moment.at;
    around->has_memory = true;
    around->memory_line = moment.line;
    around->memory = (struct tts_amount){0};
    around->memory.is_known = tts_logvalue_mb(size, &around->memory.bytes);
    set_board(around, (struct tts_span){value.at + size.len, value.len - size.len});
    if (!around->memory.is_known)
        tts_trainlog_excerpt(around->bad_memory, value);
}

static void set_optimizer(struct tts_trainlog_around *around, struct tts_span name,
                          struct moment moment)
{
    around->optimizer_at = moment.at;
    around->is_optimizer_new = true;
    around->has_kahan = around->is_kahan = false;
    tts_span_copy(around->optimizer, sizeof around->optimizer, name);
}

/* Printed below the settings of AdamW only. */
static void set_kahan(struct tts_trainlog_around *around, struct tts_span value,
                      struct moment moment)
{
    value = tts_span_trim(value);
    if (!tts_span_is(value, "true") && !tts_span_is(value, "false"))
        return;
    set_optimizer(around, (struct tts_span){"AdamW", 5}, moment);
    around->has_kahan = true;
    around->is_kahan = tts_span_is(value, "true");
}

/* A later iteration is printed for people, "iteration 2"; results call it "ITERATION_2". */
static void put_peak_phase(char out[TTS_RUN_NAME_MAX], struct tts_span words)
{
    static const char iteration[] = "iteration ";
    size_t len = sizeof iteration - 1;
    if (!tts_span_begins(words, iteration)) {
        tts_span_copy(out, TTS_RUN_NAME_MAX, words);
        return;
    }
    memcpy(out, "ITERATION_", len);
    tts_span_copy(out + len, TTS_RUN_NAME_MAX - len,
                  (struct tts_span){words.at + len, words.len - len});
}

/* "13975.36 MB in iteration 2, does not fit n150". A run that its program refuses "does not
 * run on n150". */
static bool read_prediction(struct tts_span value, struct tts_run_whole *out)
{
    const char *end = value.at + value.len, *in = tts_span_find(value, " in ");
    if (!in)
        return false;
    struct tts_span size = {value.at, (size_t)(in - value.at)};
    struct tts_span phase = {in + 4, (size_t)(end - in) - 4};
    const char *comma = tts_span_find(phase, ", ");
    int64_t bytes;
    if (!comma || comma == phase.at || !tts_logvalue_mb(size, &bytes) || bytes < 0)
        return false;
    struct tts_span verdict = {comma + 2, (size_t)(end - comma) - 2};
    phase.len = (size_t)(comma - phase.at);
    *out = (struct tts_run_whole){.peak = tts_amount_of(bytes),
                                  .has_fits = true,
                                  .fits = tts_span_begins(verdict, "fits "),
                                  .never_runs = tts_span_begins(verdict, "does not run ")};
    size_t word = verdict.len;
    while (word > 0 && verdict.at[word - 1] != ' ')
        word--;
    tts_span_copy(out->device, sizeof out->device,
                  (struct tts_span){verdict.at + word, verdict.len - word});
    put_peak_phase(out->phase, phase);
    return out->fits || out->never_runs || tts_span_begins(verdict, "does not fit ");
}

static void set_prediction(struct tts_trainlog_around *around, struct tts_span value,
                           struct moment moment)
{
    around->whole_at = moment.at;
    around->whole_line = moment.line;
    if (read_prediction(value, &around->whole))
        return;
    around->whole = (struct tts_run_whole){0};
    tts_trainlog_excerpt(around->bad_whole, value);
}

/* "parameters 22.52 MB, gradients 22.52 MB": some of what is in memory at the peak that was
 * said last. A line that cannot be read adds nothing; then the parts do not add up to the peak.
 */
static void set_parts(struct tts_trainlog_around *around, struct tts_span value)
{
    struct tts_run_whole whole = around->whole;
    for (bool is_last = false; !is_last;) {
        const char *comma = tts_span_find(value, ", ");
        is_last = !comma;
        size_t len = is_last ? value.len : (size_t)(comma - value.at);
        struct tts_span one = tts_span_trim((struct tts_span){value.at, len});
        const char *blank = tts_span_find(one, " ");
        char name[TTS_RUN_WORD_MAX];
        int64_t bytes;
        if (!blank)
            return;
        size_t name_len = (size_t)(blank - one.at);
        tts_span_copy(name, sizeof name, (struct tts_span){one.at, name_len});
        if (!tts_logvalue_mb((struct tts_span){blank, one.len - name_len}, &bytes) ||
            !tts_run_whole_add(&whole, name, bytes))
            return;
        if (!is_last)
            value = (struct tts_span){comma + 2, value.len - len - 2};
    }
    around->whole = whole;
}

static void set_row(struct tts_trainlog_around *around, const struct tts_logline *line,
                    bool is_optimizer, struct moment moment)
{
    if (tts_span_is(line->name, "params")) {
        set_parameters(around, line->value, line->value, moment);
    } else if (tts_span_is(line->name, "memory")) {
        set_memory(around, line->value, moment);
    } else if (tts_span_is(line->name, "mesh")) {
        around->device_at = moment.at;
        if (!tts_logvalue_shape(line->value, &around->mesh_devices))
            around->mesh_devices = 0;
    } else if (tts_span_is(line->name, "chip")) {
        around->device_at = moment.at;
        tts_span_copy(around->chip, sizeof around->chip, line->value);
    } else if (is_optimizer && tts_span_is(line->name, "name")) {
        set_optimizer(around, line->value, moment);
    }
}

static void set(struct tts_trainlog_around *around, const struct tts_logline *line,
                bool is_optimizer, struct moment moment)
{
    if (line->kind == TTS_LOGLINE_PARAMETERS) {
        set_parameters(around, first_word(line->value), line->value, moment);
    } else if (line->kind == TTS_LOGLINE_MEMORY) {
        forget_device(around);
        set_memory(around, line->value, moment);
    } else if (line->kind == TTS_LOGLINE_PREDICTED_PEAK) {
        set_prediction(around, line->value, moment);
    } else if (line->kind == TTS_LOGLINE_PREDICTED_PARTS) {
        set_parts(around, line->value);
    } else if (line->kind == TTS_LOGLINE_KAHAN) {
        set_kahan(around, line->value, moment);
    } else if (line->kind == TTS_LOGLINE_NO_OPTIMIZER) {
        set_optimizer(around, (struct tts_span){"NoOp", 4}, moment);
    } else if (line->kind == TTS_LOGLINE_ROW) {
        set_row(around, line, is_optimizer, moment);
    } else if (tts_span_is(line->name, "HARDWARE")) {
        forget_device(around);
    }
}

/* ---- sections ---- */

void tts_trainlog_end_sections(struct tts_trainlog *log)
{
    if (!log->has_section)
        return;
    for (size_t i = 0; i < log->rank_count; i++)
        log->ranks[i]->section = TTS_TRAINLOG_NO_SECTION;
    log->has_section = false;
}

void tts_trainlog_pass(struct tts_trainlog *log, struct tts_span text)
{
    if (!log->has_section)
        return;
    tts_logkey_make(&log->key, text);
    struct tts_trainlog_rank *rank = tts_trainlog_find_rank(log, log->key.hash);
    if (rank)
        rank->section = TTS_TRAINLOG_NO_SECTION;
}

static void begin_section(struct tts_trainlog *log, struct tts_trainlog_rank *rank,
                          struct tts_span name)
{
    log->has_section = true;
    rank->section =
        tts_span_is(name, "OPTIMIZER") ? TTS_TRAINLOG_OPTIMIZER_SECTION : TTS_TRAINLOG_SECTION;
}

/* ---- lines ---- */

/* A row counts below a section only: columns are printed by many. */
static void say(struct tts_trainlog *log, const struct tts_logline *line, uint64_t number)
{
    tts_logkey_make(&log->key, line->prefix);
    struct tts_trainlog_rank *rank = tts_trainlog_rank_of(log, &log->key, false);
    enum tts_trainlog_section section = rank ? rank->section : TTS_TRAINLOG_NO_SECTION;
    if (line->kind == TTS_LOGLINE_ROW && section == TTS_TRAINLOG_NO_SECTION)
        return;
    if (rank && line->kind == TTS_LOGLINE_SECTION)
        begin_section(log, rank, line->name);
    struct moment moment = {++log->clock, number};
    bool is_optimizer = section == TTS_TRAINLOG_OPTIMIZER_SECTION;
    if (rank)
        set(&rank->around, line, is_optimizer, moment);
    set(&log->around, line, is_optimizer, moment);
}

/* Whether lines around it may tell more; these have no word that is searched for. */
static bool is_found_by_word(const struct tts_logline *line)
{
    return line->kind == TTS_LOGLINE_PARAMETERS || line->kind == TTS_LOGLINE_MEMORY ||
           (line->kind == TTS_LOGLINE_ROW &&
            (tts_span_is(line->name, "params") || tts_span_is(line->name, "memory")));
}

/* How long the end of a line is that stands at the beginning. */
static size_t line_end_at(struct tts_span text)
{
    if (tts_span_begins(text, "\r\n"))
        return 2;
    return text.len > 0 && (text.at[0] == '\n' || text.at[0] == '\r');
}

/* What was not read yet of the text before the line. */
static struct tts_span unread_before(const struct tts_trainlog *log, struct tts_span raw)
{
    struct tts_span all = tts_logtext_before(&log->text, raw.at, TTS_TRAINLOG_LOOK_BACK);
    uint64_t from = tts_logtext_offset(&log->text, all.at);
    if (from >= log->looked_at)
        return all;
    uint64_t known = log->looked_at - from;
    if (known >= all.len)
        return (struct tts_span){raw.at, 0};
    all = (struct tts_span){all.at + known, all.len - (size_t)known};
    size_t line_end = line_end_at(all);
    return (struct tts_span){all.at + line_end, all.len - line_end};
}

static void say_before(struct tts_trainlog *log, struct tts_span raw)
{
    struct tts_span all = unread_before(log, raw);
    while (all.len > 0) {
        struct tts_span text = tts_logline_clean(tts_logtext_first(&all), log->clean_before);
        struct tts_logline line;
        tts_logline_tell(text, &line);
        if (line.kind >= TTS_LOGLINE_KAHAN && !is_found_by_word(&line))
            say(log, &line, 0);
        else if (line.kind == TTS_LOGLINE_OTHER)
            tts_trainlog_pass(log, text);
    }
}

void tts_trainlog_say(struct tts_trainlog *log, const struct tts_logline *line,
                      struct tts_span raw, uint64_t number)
{
    if (is_found_by_word(line)) {
        say_before(log, raw);
        log->lines_more = LINES_MORE;
    }
    say(log, line, number);
}

/* ---- a block begins ---- */

static void apply_parameters(struct tts_run *run, const struct tts_trainlog_around *from)
{
    if (from->parameters_at == 0)
        return;
    run->has_parameters = !from->is_parameters_bad;
    run->parameters = from->parameters;
    run->parameters_line = from->parameters_line;
    if (from->is_parameters_bad)
        tts_trainlog_note(run, from->parameters_line,
                          "cannot read the number of parameters: '%s'", from->bad_parameters);
}

static void apply_device(struct tts_run *run, const struct tts_trainlog_around *from)
{
    run->mesh_devices = from->mesh_devices;
    memcpy(run->chip, from->chip, sizeof run->chip);
    if (!from->has_memory)
        return;
    run->device_memory = from->memory;
    run->device_memory_line = from->memory_line;
    if (!from->memory.is_known)
        tts_trainlog_note(run, from->memory_line, "cannot read the device memory: '%s'",
                          from->bad_memory);
}

static void apply_optimizer(struct tts_run *run, const struct tts_trainlog_around *from)
{
    memcpy(run->optimizer, from->optimizer, sizeof run->optimizer);
    run->has_kahan = from->has_kahan;
    run->is_kahan = from->is_kahan;
}

/* `ttscope fit` prints the line just before its summary, and all its sizes are of one device. A
 * summary far below is another program's. */
static void apply_prediction(struct tts_run *run, const struct tts_trainlog_around *from)
{
    if (from->whole_at == 0 || run->line - from->whole_line > TTS_TRAINLOG_PREDICTION_LINES)
        return;
    run->whole = from->whole;
    run->device_memory_is_one = true;
    if (!from->whole.peak.is_known)
        tts_trainlog_note(run, from->whole_line, "cannot read the predicted peak: '%s'",
                          from->bad_whole);
}

/* Whether what the rank said itself, at `own`, counts, and not what was said last by any. Lines
 * without a prefix may be of several programs: what was said before their last block is old. */
static bool is_own(const struct tts_trainlog_rank *rank, uint64_t own, uint64_t any)
{
    bool has_key = rank->hash != TTS_FNV1A64_INIT;
    return own > 0 && (has_key || own > rank->ended || own >= any);
}

void tts_trainlog_apply(struct tts_trainlog *log, struct tts_trainlog_rank *rank)
{
    struct tts_trainlog_around *own = &rank->around, *any = &log->around;
    struct tts_run *run = &rank->run;
    apply_parameters(run, is_own(rank, own->parameters_at, any->parameters_at) ? own : any);
    apply_device(run, is_own(rank, own->device_at, any->device_at) ? own : any);
    apply_optimizer(run, is_own(rank, own->optimizer_at, any->optimizer_at) ? own : any);
    apply_prediction(run, is_own(rank, own->whole_at, any->whole_at) ? own : any);
    own->whole_at = any->whole_at = 0;
    own->is_optimizer_new = any->is_optimizer_new = false;
}
