#include "sources/trainlog/trainlog.h"

#include "base/bytes16.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/heap.h"
#include "sources/log/logtext.h"
#include "sources/trainlog/trainblock.h"
#include "ttscope/chip.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
    LOOK_BACK = 1000,      /* bytes before a line that are searched for facts about it */
    PHASES_IN_ALL = 32768, /* most phases that are kept in all open blocks together */
    /* A larger array of phases is freed after its run; a smaller one is reused. */
    PHASES_REUSED = 32,
    PREDICTION_LINES = 8, /* most lines from a prediction to the heading it is used for */
    WRAPS = 8, /* most wrapped lines that wait for their other pieces at the same time */
    /* After a line of a block or a piece of a wrapped line, this many lines are examined one by
     * one. After them, the search for known words continues. */
    BLOCK_LINES_MORE = 16,
    /* The same for the lines after a row of a header. */
    HEADER_LINES_MORE = 64,
};

static_assert((int)TTS_LOGTEXT_BACK >= (int)TTS_LOGLINE_MAX + (int)LOOK_BACK,
              "the lines before one of interest are in the window");

/* The facts printed before a block, either by one rank or by all ranks. There are three groups:
 * parameters, device, optimizer. The facts of a group replace each other together. Each group
 * has the time at which it was printed (a value of tts_trainlog.clock), or 0 if it was not
 * printed. */
struct tts_trainlog_around {
    uint64_t parameters_at, device_at, optimizer_at;
    bool has_memory; /* a memory size was printed; `memory` is unknown if it is unreadable */
    bool is_parameters_bad;
    uint64_t parameters, parameters_line, memory_line;
    struct tts_amount memory;
    char bad_parameters[TTS_TRAINLINE_EXCERPT], bad_memory[TTS_TRAINLINE_EXCERPT];
    uint32_t mesh_devices;
    char chip[TTS_RUN_WORD_MAX];
    bool has_kahan, is_kahan;
    bool is_optimizer_new; /* the optimizer was printed after the last block began */
    char optimizer[TTS_RUN_WORD_MAX];
    /* The prediction. It is used for the next block only. */
    uint64_t whole_at, whole_line;
    struct tts_run_whole whole;
    char bad_whole[TTS_TRAINLINE_EXCERPT]; /* the text of the prediction if whole.peak is
                                              unknown */
};

/* The section of a header that a rank is printing. */
enum tts_trainlog_section {
    TTS_TRAINLOG_NO_SECTION,
    TTS_TRAINLOG_SECTION,
    TTS_TRAINLOG_OPTIMIZER_SECTION,
};

/* One rank: the facts it printed, and its block while it is open. */
struct tts_trainlog_rank {
    uint64_t hash, folded;
    uint64_t touched;   /* time of the last use, by tts_trainlog.clock */
    uint64_t ended;     /* time at which the rank's last block ended */
    uint64_t joined_to; /* offset after the last wrapped line of a block */
    char name[TTS_RUN_TITLE_MAX], folded_name[TTS_RUN_TITLE_MAX];
    enum tts_trainlog_section section;
    struct tts_trainlog_around around;
    bool is_open;
    bool is_bare;   /* only the heading of the open block has the prefix */
    bool is_folded; /* the prefix of the open block has numbers that differ from line to line */
    struct tts_trainblock block;
};

struct tts_trainlog {
    const struct tts_alloc *alloc;
    struct tts_input *in;
    bool owns_in;
    struct tts_logtext text;
    struct tts_trainlog_rank *ranks[TTS_LOGKEY_RANKS];
    size_t rank_count, open_count, phase_count;
    /* Rank of the block that was opened last; NULL after that block ended. */
    struct tts_trainlog_rank *last_opened;
    uint64_t clock;
    uint64_t looked_at; /* the text up to this offset has been read line by line */
    /* Number of lines that are still to be read one by one, because they may belong to the last
     * line that was recognized. */
    unsigned lines_more;
    bool has_section;                  /* a rank may be in a section */
    struct tts_trainlog_around around; /* the latest facts printed by any rank */
    uint64_t stray_lines, stray_line;
    struct tts_trainwrap wraps[WRAPS]; /* the wrapped lines that wait, oldest first */
    size_t wrap_count;
    uint64_t lines_read; /* number of lines examined */
    /* The offsets where the last wrapped line outside a block begins and ends. */
    uint64_t joined_from, joined_to;
    bool has_run; /* `run` is complete and will be returned next */
    struct tts_run run;
    struct tts_run_phase *phases; /* the phases of `run` */
    size_t capacity;
    enum tts_status status; /* TTS_E_NOMEM: reading stopped because memory is missing */
    struct tts_logkey key, line_key;
    char clean[TTS_LOGLINE_MAX], clean_before[TTS_LOGLINE_MAX];
};

/* ---- life ---- */

enum tts_status tts_trainlog_new(struct tts_input *in, const struct tts_alloc *alloc,
                                 struct tts_trainlog **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_trainlog *log = alloc->alloc(alloc->ctx, sizeof *log);
    if (!log)
        return tts_error_set_errno(err, TTS_E_NOMEM, ENOMEM, "cannot read '%s'",
                                   tts_input_path(in));
    memset(log, 0, sizeof *log);
    log->alloc = alloc;
    log->in = in;
    enum tts_status status = tts_logtext_open(&log->text, in, alloc, err);
    if (status != TTS_OK) {
        alloc->free(alloc->ctx, log, sizeof *log);
        return status;
    }
    *out = log;
    return TTS_OK;
}

enum tts_status tts_trainlog_open(const char *path, const struct tts_alloc *alloc,
                                  struct tts_trainlog **out, struct tts_error *err)
{
    struct tts_input *in = NULL;
    enum tts_status status = tts_input_open(path, alloc, &in, err);
    if (status == TTS_OK)
        status = tts_trainlog_new(in, alloc, out, err);
    if (status == TTS_OK)
        (*out)->owns_in = true;
    else
        tts_input_close(in);
    return status;
}

static void free_rank_phases(struct tts_trainlog *log, struct tts_run_phase *phases,
                             size_t capacity)
{
    if (phases)
        log->alloc->free(log->alloc->ctx, phases, capacity * sizeof *phases);
}

void tts_trainlog_close(struct tts_trainlog *log)
{
    if (!log)
        return;
    const struct tts_alloc *alloc = log->alloc;
    for (size_t i = 0; i < log->rank_count; i++) {
        free_rank_phases(log, log->ranks[i]->block.phases, log->ranks[i]->block.capacity);
        alloc->free(alloc->ctx, log->ranks[i], sizeof *log->ranks[i]);
    }
    free_rank_phases(log, log->phases, log->capacity);
    tts_logtext_close(&log->text);
    if (log->owns_in)
        tts_input_close(log->in);
    alloc->free(alloc->ctx, log, sizeof *log);
}

/* ---- ranks ---- */

/* Returns the rank whose key has this hash, or NULL. */
static struct tts_trainlog_rank *find_rank(const struct tts_trainlog *log, uint64_t hash)
{
    for (size_t i = 0; i < log->rank_count; i++)
        if (log->ranks[i]->hash == hash)
            return log->ranks[i];
    return NULL;
}

/* Ends the open block of a rank and makes it the run that is returned next. */
static void end_block(struct tts_trainlog *log, struct tts_trainlog_rank *rank, bool is_cut)
{
    struct tts_trainblock *block = &rank->block;
    assert(rank->is_open && !log->has_run);
    assert(log->open_count > 0 && log->phase_count >= block->run.phase_count);
    log->phase_count -= block->run.phase_count;
    tts_trainblock_end(block, is_cut);
    if (rank->is_folded)
        memcpy(block->run.rank, rank->folded_name, sizeof block->run.rank);
    if (log->capacity > PHASES_REUSED) {
        log->alloc->free(log->alloc->ctx, log->phases, log->capacity * sizeof *log->phases);
        log->phases = NULL;
        log->capacity = 0;
    }
    struct tts_run_phase *phases = log->phases;
    size_t capacity = log->capacity;
    log->run = block->run;
    log->phases = block->phases;
    log->capacity = block->capacity;
    log->run.phases = log->phases;
    log->run.is_cut = is_cut || block->is_full;
    log->has_run = true;
    log->open_count--;
    block->phases = phases;
    block->capacity = capacity;
    rank->is_open = false;
    rank->ended = ++log->clock;
    if (log->last_opened == rank)
        log->last_opened = NULL;
    log->lines_more = log->open_count > 0 ? BLOCK_LINES_MORE : 0;
}

/* Returns the rank to replace if there are too many: the one whose last use is the longest ago,
 * among the ranks without an open block if there are any. */
static struct tts_trainlog_rank *stalest_rank(const struct tts_trainlog *log)
{
    struct tts_trainlog_rank *found = log->ranks[0];
    for (size_t i = 1; i < log->rank_count; i++) {
        struct tts_trainlog_rank *rank = log->ranks[i];
        if (rank->is_open != found->is_open ? !rank->is_open : rank->touched < found->touched)
            found = rank;
    }
    return found;
}

static struct tts_trainlog_rank *new_rank(struct tts_trainlog *log, bool may_close)
{
    struct tts_trainlog_rank *rank;
    if (log->rank_count == TTS_LOGKEY_RANKS) {
        rank = stalest_rank(log);
        if (rank->is_open && !may_close)
            return NULL;
        if (rank->is_open)
            end_block(log, rank, true);
        struct tts_run_phase *phases = rank->block.phases;
        size_t capacity = rank->block.capacity;
        *rank = (struct tts_trainlog_rank){.block = {.phases = phases, .capacity = capacity}};
        return rank;
    }
    rank = log->alloc->alloc(log->alloc->ctx, sizeof *rank);
    if (!rank) {
        log->status = TTS_E_NOMEM;
        return NULL;
    }
    *rank = (struct tts_trainlog_rank){0};
    log->ranks[log->rank_count++] = rank;
    return rank;
}

static void name_rank(struct tts_trainlog_rank *rank, const struct tts_logkey *key)
{
    rank->hash = key->hash;
    rank->folded = key->folded;
    tts_logkey_show(key, false, rank->name, sizeof rank->name);
    tts_logkey_show(key, true, rank->folded_name, sizeof rank->folded_name);
}

/* Returns the rank with this key. Creates it if necessary; if there are too many ranks, another
 * one is replaced. Returns NULL if memory is missing, or if all ranks have an open block and
 * `may_close` forbids to end one. */
static struct tts_trainlog_rank *get_rank(struct tts_trainlog *log,
                                          const struct tts_logkey *key, bool may_close)
{
    struct tts_trainlog_rank *rank = find_rank(log, key->hash);
    if (!rank) {
        rank = new_rank(log, may_close);
        if (!rank)
            return NULL;
        name_rank(rank, key);
    }
    rank->touched = ++log->clock;
    return rank;
}

/* Returns the rank of the only open block whose prefix is equal to the key except for numbers,
 * or NULL. A prefix may have numbers that change in every line, such as counters or thread
 * numbers. Such numbers change in every line of the block. So a block counts only if none of
 * its later lines had exactly the prefix of the heading. */
static struct tts_trainlog_rank *find_folded_rank(const struct tts_trainlog *log,
                                                  const struct tts_logkey *key)
{
    struct tts_trainlog_rank *found = NULL;
    for (size_t i = 0; i < log->rank_count; i++) {
        struct tts_trainlog_rank *rank = log->ranks[i];
        if (!rank->is_open || rank->folded != key->folded)
            continue;
        if (found)
            return NULL;
        found = rank;
    }
    return found && (found->block.run.phase_count == 0 || found->is_folded) ? found : NULL;
}

/* Returns the rank of the open block that a line belongs to, or NULL. A logger that gets the
 * whole summary as one message puts its prefix only before the heading. So a line without a
 * prefix belongs to the block that was opened last, if no other line of that block had the
 * prefix. */
static struct tts_trainlog_rank *find_open_rank(struct tts_trainlog *log,
                                                const struct tts_logkey *key)
{
    struct tts_trainlog_rank *rank = find_rank(log, key->hash), *last = log->last_opened;
    if (rank && rank->is_open) {
        rank->touched = ++log->clock;
        return rank;
    }
    if (key->len > 0) {
        last = find_folded_rank(log, key);
        if (last)
            last->is_folded = true;
    } else if (last && (last->block.run.phase_count == 0 || last->is_bare)) {
        last->is_bare = true;
    } else {
        last = NULL;
    }
    if (last)
        last->touched = ++log->clock;
    return last;
}

/* ---- values ---- */

/* The time and the line number at which a fact was printed. */
struct moment {
    uint64_t at, line;
};

/* Returns the first word of the text after a colon: "7" in "7 (0.00B)", "1,234" in "1,234,
 * trainable: 3". */
static struct tts_span first_value_word(struct tts_span value)
{
    struct tts_span word = tts_span_trim(value);
    size_t len = 0;
    while (len < word.len && !tts_is_blank(word.at[len]))
        len++;
    while (len > 0 && len < word.len && (word.at[len - 1] == ',' || word.at[len - 1] == ';'))
        len--;
    return (struct tts_span){word.at, len};
}

/* Stores the number of parameters. A program prints this number once, so it belongs to a new
 * program. If a block has begun since the optimizer was printed, the optimizer belongs to the
 * previous program and is forgotten. */
static void set_log_parameters(struct tts_trainlog_around *around, struct tts_span word,
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
    around->is_parameters_bad = !tts_trainline_count(word, &around->parameters);
    if (around->is_parameters_bad)
        tts_trainline_excerpt(around->bad_parameters, value);
}

/* Forgets memory, mesh and chip, which are printed together. */
static void forget_log_device(struct tts_trainlog_around *around)
{
    around->device_at = 0;
    around->has_memory = false;
    around->memory = (struct tts_amount){0};
    around->memory_line = 0;
    around->mesh_devices = 0;
    around->chip[0] = '\0';
}

/* Stores the name of the board that follows the memory in brackets, such as "(n150)", if a
 * preset has this name. */
static void set_log_board(struct tts_trainlog_around *around, struct tts_span rest)
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

static void set_log_memory(struct tts_trainlog_around *around, struct tts_span value,
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
    around->memory.is_known = tts_trainline_mb(size, &around->memory.bytes);
    set_log_board(around, (struct tts_span){value.at + size.len, value.len - size.len});
    if (!around->memory.is_known)
        tts_trainline_excerpt(around->bad_memory, value);
}

static void set_log_optimizer(struct tts_trainlog_around *around, struct tts_span name,
                              struct moment moment)
{
    around->optimizer_at = moment.at;
    around->is_optimizer_new = true;
    around->has_kahan = around->is_kahan = false;
    tts_span_copy(around->optimizer, sizeof around->optimizer, name);
}

/* Stores the setting of Kahan summation. It is printed only with the settings of AdamW, so it
 * also tells the optimizer. */
static void set_log_kahan(struct tts_trainlog_around *around, struct tts_span value,
                          struct moment moment)
{
    value = tts_span_trim(value);
    if (!tts_span_is(value, "true") && !tts_span_is(value, "false"))
        return;
    set_log_optimizer(around, (struct tts_span){"AdamW", 5}, moment);
    around->has_kahan = true;
    around->is_kahan = tts_span_is(value, "true");
}

/* Copies the name of the phase that has the peak. The name "iteration 2" of a log is
 * "ITERATION_2" in results. */
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

/* Reads a prediction, such as "13975.36 MB in iteration 2, does not fit n150". The verdict is
 * "does not run on n150" if the program would refuse the run. Returns false if the text cannot
 * be read. */
static bool read_prediction(struct tts_span value, struct tts_run_whole *out)
{
    const char *end = value.at + value.len, *in = tts_span_find(value, " in ");
    if (!in)
        return false;
    struct tts_span size = {value.at, (size_t)(in - value.at)};
    struct tts_span phase = {in + 4, (size_t)(end - in) - 4};
    const char *comma = tts_span_find(phase, ", ");
    int64_t bytes;
    if (!comma || comma == phase.at || !tts_trainline_mb(size, &bytes) || bytes < 0)
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
    tts_trainline_excerpt(around->bad_whole, value);
}

/* Reads the parts of the predicted peak, such as "parameters 22.52 MB, gradients 22.52 MB". A
 * text that cannot be read is ignored; then the sum of the parts differs from the peak. */
static void set_prediction_parts(struct tts_trainlog_around *around, struct tts_span value)
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
        if (!tts_trainline_mb((struct tts_span){blank, one.len - name_len}, &bytes) ||
            !tts_run_whole_add(&whole, name, bytes))
            return;
        if (!is_last)
            value = (struct tts_span){comma + 2, value.len - len - 2};
    }
    around->whole = whole;
}

static void set_header_row(struct tts_trainlog_around *around, const struct tts_trainline *line,
                           bool is_optimizer, struct moment moment)
{
    if (tts_span_is(line->name, "params")) {
        set_log_parameters(around, line->value, line->value, moment);
    } else if (tts_span_is(line->name, "memory")) {
        set_log_memory(around, line->value, moment);
    } else if (tts_span_is(line->name, "mesh")) {
        around->device_at = moment.at;
        if (!tts_trainline_shape(line->value, &around->mesh_devices))
            around->mesh_devices = 0;
    } else if (tts_span_is(line->name, "chip")) {
        around->device_at = moment.at;
        tts_span_copy(around->chip, sizeof around->chip, line->value);
    } else if (is_optimizer && tts_span_is(line->name, "name")) {
        set_log_optimizer(around, line->value, moment);
    }
}

static void set_around(struct tts_trainlog_around *around, const struct tts_trainline *line,
                       bool is_optimizer, struct moment moment)
{
    if (line->kind == TTS_TRAINLINE_PARAMETERS) {
        set_log_parameters(around, first_value_word(line->value), line->value, moment);
    } else if (line->kind == TTS_TRAINLINE_MEMORY) {
        forget_log_device(around);
        set_log_memory(around, line->value, moment);
    } else if (line->kind == TTS_TRAINLINE_PREDICTED_PEAK) {
        set_prediction(around, line->value, moment);
    } else if (line->kind == TTS_TRAINLINE_PREDICTED_PARTS) {
        set_prediction_parts(around, line->value);
    } else if (line->kind == TTS_TRAINLINE_KAHAN) {
        set_log_kahan(around, line->value, moment);
    } else if (line->kind == TTS_TRAINLINE_NO_OPTIMIZER) {
        set_log_optimizer(around, (struct tts_span){"NoOp", 4}, moment);
    } else if (line->kind == TTS_TRAINLINE_ROW) {
        set_header_row(around, line, is_optimizer, moment);
    } else if (tts_span_is(line->name, "HARDWARE")) {
        forget_log_device(around);
    }
}

/* ---- sections ---- */

static void end_sections(struct tts_trainlog *log)
{
    if (!log->has_section)
        return;
    for (size_t i = 0; i < log->rank_count; i++)
        log->ranks[i]->section = TTS_TRAINLOG_NO_SECTION;
    log->has_section = false;
}

/* Handles a line without facts. If the line is empty after its prefix, it ends the section of
 * its rank. */
static void pass_silent_line(struct tts_trainlog *log, struct tts_span text)
{
    if (!log->has_section)
        return;
    tts_logkey_make(&log->key, text);
    struct tts_trainlog_rank *rank = find_rank(log, log->key.hash);
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

/* Stores the facts of a line around a block. A row counts only inside a section, because many
 * programs print columns. */
static void say_around(struct tts_trainlog *log, const struct tts_trainline *line,
                       uint64_t number)
{
    tts_logkey_make(&log->key, line->prefix);
    struct tts_trainlog_rank *rank = get_rank(log, &log->key, false);
    enum tts_trainlog_section section = rank ? rank->section : TTS_TRAINLOG_NO_SECTION;
    if (line->kind == TTS_TRAINLINE_ROW && section == TTS_TRAINLOG_NO_SECTION)
        return;
    if (rank && line->kind == TTS_TRAINLINE_SECTION)
        begin_section(log, rank, line->name);
    struct moment moment = {++log->clock, number};
    bool is_optimizer = section == TTS_TRAINLOG_OPTIMIZER_SECTION;
    if (rank)
        set_around(&rank->around, line, is_optimizer, moment);
    set_around(&log->around, line, is_optimizer, moment);
}

/* Returns true if the search for words found this line and the lines around it may have more
 * facts. Those lines have none of the words. */
static bool is_found_by_word(const struct tts_trainline *line)
{
    return line->kind == TTS_TRAINLINE_PARAMETERS || line->kind == TTS_TRAINLINE_MEMORY ||
           (line->kind == TTS_TRAINLINE_ROW &&
            (tts_span_is(line->name, "params") || tts_span_is(line->name, "memory")));
}

/* Returns the length of the line end at the beginning of the text; 0 if there is none. */
static size_t line_end_len(struct tts_span text)
{
    if (tts_span_begins(text, "\r\n"))
        return 2;
    return text.len > 0 && (text.at[0] == '\n' || text.at[0] == '\r');
}

/* Returns the text before the line `raw` that has not been read line by line. */
static struct tts_span unread_before(const struct tts_trainlog *log, struct tts_span raw)
{
    struct tts_span all = tts_logtext_before(&log->text, raw.at, LOOK_BACK);
    uint64_t from = tts_logtext_offset(&log->text, all.at);
    if (from >= log->looked_at)
        return all;
    uint64_t known = log->looked_at - from;
    if (known >= all.len)
        return (struct tts_span){raw.at, 0};
    all = (struct tts_span){all.at + known, all.len - (size_t)known};
    size_t line_end = line_end_len(all);
    return (struct tts_span){all.at + line_end, all.len - line_end};
}

static void say_before(struct tts_trainlog *log, struct tts_span raw)
{
    struct tts_span all = unread_before(log, raw);
    while (all.len > 0) {
        struct tts_span text = tts_logline_clean(tts_logtext_first(&all), log->clean_before);
        struct tts_trainline line;
        tts_trainline_tell(text, &line);
        if (line.kind >= TTS_TRAINLINE_KAHAN && !is_found_by_word(&line))
            say_around(log, &line, 0);
        else if (line.kind == TTS_TRAINLINE_OTHER)
            pass_silent_line(log, text);
    }
}

/* Handles a line around a block. `raw` is the line in the window. */
static void say_line(struct tts_trainlog *log, const struct tts_trainline *line,
                     struct tts_span raw, uint64_t number)
{
    if (is_found_by_word(line)) {
        say_before(log, raw);
        log->lines_more = HEADER_LINES_MORE;
    }
    say_around(log, line, number);
}

/* ---- a block begins ---- */

static void apply_log_parameters(struct tts_run *run, const struct tts_trainlog_around *from)
{
    if (from->parameters_at == 0)
        return;
    run->has_parameters = !from->is_parameters_bad;
    run->parameters = from->parameters;
    run->parameters_line = from->parameters_line;
    if (from->is_parameters_bad)
        tts_trainblock_note(run, from->parameters_line,
                            "cannot read the number of parameters: '%s'", from->bad_parameters);
}

static void apply_log_device(struct tts_run *run, const struct tts_trainlog_around *from)
{
    run->mesh_devices = from->mesh_devices;
    memcpy(run->chip, from->chip, sizeof run->chip);
    if (!from->has_memory)
        return;
    run->device_memory = from->memory;
    run->device_memory_line = from->memory_line;
    if (!from->memory.is_known)
        tts_trainblock_note(run, from->memory_line,
                            "cannot read the size of the device memory: '%s'",
                            from->bad_memory);
}

static void apply_log_optimizer(struct tts_run *run, const struct tts_trainlog_around *from)
{
    memcpy(run->optimizer, from->optimizer, sizeof run->optimizer);
    run->has_kahan = from->has_kahan;
    run->is_kahan = from->is_kahan;
}

/* Adds the prediction to a run. `ttscope fit` prints the prediction directly before the
 * summary, with sizes for one device. If the summary is further away, it is from another
 * program. */
static void apply_prediction(struct tts_run *run, const struct tts_trainlog_around *from)
{
    if (from->whole_at == 0 || run->line - from->whole_line > PREDICTION_LINES)
        return;
    run->whole = from->whole;
    run->device_memory_is_one = true;
    if (!from->whole.peak.is_known)
        tts_trainblock_note(run, from->whole_line, "cannot read the predicted peak: '%s'",
                            from->bad_whole);
}

/* Returns true if the fact that the rank printed at time `own` is used, not the latest fact of
 * any rank, printed at time `any`. A rank without a key may stand for several programs, so a
 * fact from before its last block is out of date. */
static bool is_own_statement(const struct tts_trainlog_rank *rank, uint64_t own, uint64_t any)
{
    bool has_key = rank->hash != TTS_FNV1A64_INIT;
    return own > 0 && (has_key || own > rank->ended || own >= any);
}

/* Adds the known facts to the run of a block that begins. */
static void apply_around(struct tts_trainlog *log, struct tts_trainlog_rank *rank)
{
    struct tts_trainlog_around *own = &rank->around, *any = &log->around;
    struct tts_run *run = &rank->block.run;
    apply_log_parameters(
        run, is_own_statement(rank, own->parameters_at, any->parameters_at) ? own : any);
    apply_log_device(run, is_own_statement(rank, own->device_at, any->device_at) ? own : any);
    apply_log_optimizer(
        run, is_own_statement(rank, own->optimizer_at, any->optimizer_at) ? own : any);
    apply_prediction(run, is_own_statement(rank, own->whole_at, any->whole_at) ? own : any);
    own->whole_at = any->whole_at = 0;
    own->is_optimizer_new = any->is_optimizer_new = false;
}

/* ---- the title of a block ---- */

/* ---- lines that cannot be a title ---- */

/* Returns true if the text has a letter or a digit. Characters for drawing boxes (U+2500 to
 * U+257F) do not count; other characters above ASCII do. */
static bool has_name_letter(struct tts_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == 0xe2 && i + 2 < text.len &&
            ((unsigned char)text.at[i + 1] == 0x94 || (unsigned char)text.at[i + 1] == 0x95))
            i += 2;
        else if (c >= 0x80 || tts_is_letter(text.at[i]) || tts_is_digit(text.at[i]))
            return true;
    }
    return false;
}

/* Returns true if the text has a name and a figure, like "Loss: 10.4" or "lr=3e-4". */
static bool has_named_figure(struct tts_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] != ':' && text.at[i] != '=')
            continue;
        size_t at = i + 1;
        while (at < text.len && tts_is_blank(text.at[at]))
            at++;
        if (at < text.len && (text.at[at] == '-' || text.at[at] == '+'))
            at++;
        if (at < text.len && tts_is_digit(text.at[at]))
            return true;
    }
    return false;
}

static bool is_log_level(struct tts_span word)
{
    static const char *const levels[] = {"INFO", "DEBUG", "WARNING", "WARN", "ERROR", "TRACE"};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (tts_span_is(word, levels[i]))
            return true;
    return false;
}

/* Returns true if a level is a field of its own at `at`, in upper or lower case: "info     |",
 * or "[info]" at the beginning of the text. */
static bool is_level_field(struct tts_span text, size_t at)
{
    struct tts_span rest = {text.at + at, text.len - at};
    size_t len = tts_logline_level(rest);
    while (len > 0 && len < rest.len && tts_is_blank(rest.at[len]))
        len++;
    if (len == 0 || len == rest.len)
        return false;
    return rest.at[len] == '|' || (rest.at[len] == ']' && at == 1 && text.at[0] == '[');
}

static bool has_level_word(struct tts_span text)
{
    for (size_t begin = 0; begin < text.len;) {
        size_t end = begin;
        while (end < text.len && tts_is_letter(text.at[end]))
            end++;
        if (is_log_level((struct tts_span){text.at + begin, end - begin}) ||
            is_level_field(text, begin))
            return true;
        begin = end + 1;
    }
    return false;
}

/* Returns true for a row of a header, like "      seed  5489": two blanks, a name, two blanks,
 * a value. */
static bool is_header_row(struct tts_span text)
{
    struct tts_span inside = tts_span_trim(text);
    size_t indent = (size_t)(inside.at - text.at);
    return indent >= 2 && tts_span_find(inside, "  ") != NULL;
}

/* ---- the line without its prefix ---- */

/* Removes the prefix of the rank from a line. log->key is the key of the rank. Returns false if
 * the line has another prefix. */
static bool strip_rank_key(struct tts_trainlog *log, struct tts_span text, struct tts_span *out)
{
    text = tts_logline_without_source(text);
    *out = text;
    if (log->key.len == 0 && log->key.has_time)
        *out = tts_logkey_skip_times(text);
    if (log->key.len == 0)
        return true;
    struct tts_logkey *line = &log->line_key;
    tts_logkey_make(line, text);
    if (line->len < log->key.len || memcmp(line->text, log->key.text, log->key.len) != 0)
        return false;
    size_t at = log->key.len;
    while (at < line->len && (tts_is_blank(line->text[at]) || line->text[at] == '-' ||
                              line->text[at] == '*' || line->text[at] == '|'))
        at++;
    *out = (struct tts_span){line->text + at, line->len - at};
    return true;
}

/* Returns true if the line belongs to an earlier block of the same rank. Then the lines before
 * it belong to that block too. */
static bool is_block_line(struct tts_trainlog *log, const struct tts_trainline *line)
{
    if (line->kind < TTS_TRAINLINE_HEADING || line->kind > TTS_TRAINLINE_OVERALL)
        return false;
    tts_logkey_make(&log->line_key, line->prefix);
    return log->line_key.hash == log->key.hash;
}

static bool is_title(struct tts_span text)
{
    struct tts_span inside = tts_span_trim(text);
    bool is_bar = tts_span_find(inside, "%|") != NULL;
    return inside.len > 0 && inside.at[0] != '#' && has_name_letter(inside) &&
           !has_named_figure(inside) && !has_level_word(inside) && !is_header_row(text) &&
           !is_bar;
}

/* Finds the title of a block: searches backwards for the nearest line that can be a title. If a
 * line "[SECTION] ---" comes before that line, without an empty line between them, the line
 * belongs to a header and is not the title. */
static void find_title(struct tts_trainlog *log, struct tts_span raw,
                       char out[TTS_RUN_TITLE_MAX])
{
    struct tts_span all = tts_logtext_before(&log->text, raw.at, LOOK_BACK);
    struct tts_span text, rest;
    const struct tts_trainlog_rank *rank = find_rank(log, log->key.hash);
    uint64_t block_end = rank ? rank->joined_to : 0;
    out[0] = '\0';
    while (tts_logtext_last(&all, &text)) {
        struct tts_trainline line;
        uint64_t offset = tts_logtext_offset(&log->text, text.at);
        if (offset < block_end)
            return;
        if (offset >= log->joined_from && offset < log->joined_to)
            continue;
        text = tts_logline_clean(text, log->clean_before);
        tts_trainline_tell(text, &line);
        if (is_block_line(log, &line))
            return;
        if (!strip_rank_key(log, text, &rest))
            continue;
        bool is_empty = tts_span_trim(rest).len == 0;
        if (is_empty && out[0] != '\0')
            return;
        if (line.kind == TTS_TRAINLINE_SECTION)
            out[0] = '\0';
        else if (line.kind == TTS_TRAINLINE_OTHER && out[0] == '\0' && is_title(rest))
            tts_span_copy(out, TTS_RUN_TITLE_MAX, tts_span_trim(rest));
    }
}

/* Returns true if the program warns, before the heading at `raw`, that it overwrites phases. */
static bool is_overwrite_warned(const struct tts_trainlog *log, struct tts_span raw)
{
    struct tts_span before = tts_logtext_before(&log->text, raw.at, LOOK_BACK);
    /* The text before the end of an earlier block says nothing about this block. */
    for (const char *at; (at = tts_span_find(before, "Overall DRAM Peak"));)
        before = (struct tts_span){at + 1, before.len - (size_t)(at + 1 - before.at)};
    return tts_span_find(before, "' already exists, overwriting") != NULL;
}

/* ---- a block ---- */

/* Returns the rank of a heading. If the prefix of an open block has numbers that change from
 * line to line, and the heading has the same prefix except for numbers, the heading belongs to
 * that rank. */
static struct tts_trainlog_rank *heading_rank(struct tts_trainlog *log)
{
    struct tts_trainlog_rank *rank = NULL;
    if (log->key.len > 0 && !find_rank(log, log->key.hash))
        rank = find_folded_rank(log, &log->key);
    if (!rank || !rank->is_folded)
        return get_rank(log, &log->key, true);
    end_block(log, rank, true);
    name_rank(rank, &log->key);
    rank->touched = ++log->clock;
    return rank;
}

static void begin_block(struct tts_trainlog *log, struct tts_span line, uint64_t number)
{
    struct tts_trainlog_rank *rank = heading_rank(log);
    if (!rank)
        return;
    if (rank->is_open)
        end_block(log, rank, true);
    tts_trainblock_begin(&rank->block, number, is_overwrite_warned(log, line));
    memcpy(rank->block.run.rank, rank->name, sizeof rank->block.run.rank);
    find_title(log, line, rank->block.run.title);
    apply_around(log, rank);
    rank->is_open = true;
    rank->is_bare = rank->is_folded = false;
    log->open_count++;
    log->last_opened = rank;
    log->lines_more = BLOCK_LINES_MORE;
}

static void add_stray_line(struct tts_trainlog *log, enum tts_trainline_kind kind,
                           uint64_t number)
{
    if (kind != TTS_TRAINLINE_SEGMENT && kind != TTS_TRAINLINE_CUMULATIVE &&
        kind != TTS_TRAINLINE_OVERALL)
        return;
    if (log->stray_lines++ == 0)
        log->stray_line = number;
}

/* Handles a line of a block. A line that belongs to no open block is counted as stray. */
static void take_block_line(struct tts_trainlog *log, const struct tts_trainline *line,
                            uint64_t number)
{
    bool is_figure = line->kind == TTS_TRAINLINE_SEGMENT ||
                     line->kind == TTS_TRAINLINE_CUMULATIVE || line->kind == TTS_TRAINLINE_L1;
    tts_logkey_make(&log->key, line->prefix);
    struct tts_trainlog_rank *rank = find_open_rank(log, &log->key);
    if (!rank || (is_figure && rank->block.run.phase_count == 0)) {
        add_stray_line(log, line->kind, number);
        return;
    }
    size_t before = rank->block.run.phase_count;
    log->lines_more = BLOCK_LINES_MORE;
    enum tts_status status = tts_trainblock_take(&rank->block, line, number,
                                                 log->phase_count < PHASES_IN_ALL, log->alloc);
    if (status != TTS_OK)
        log->status = status;
    log->phase_count += rank->block.run.phase_count - before;
    if (line->kind == TTS_TRAINLINE_OVERALL)
        end_block(log, rank, false);
}

/* ---- reading ---- */

/* Handles a recognized line. If the line was wrapped, *line has all of it and `raw` is its
 * first piece in the window. */
static void take_told_line(struct tts_trainlog *log, const struct tts_trainline *line,
                           struct tts_span raw, uint64_t number)
{
    if (line->kind == TTS_TRAINLINE_HEADING) {
        tts_logkey_make(&log->key, line->prefix);
        begin_block(log, raw, number);
    } else if (line->kind <= TTS_TRAINLINE_OVERALL) {
        take_block_line(log, line, number);
    } else {
        say_line(log, line, raw, number);
    }
}

/* ---- lines that were wrapped ---- */

static void forget_wrap(struct tts_trainlog *log, size_t at)
{
    assert(at < log->wrap_count);
    log->wrap_count--;
    memmove(&log->wraps[at], &log->wraps[at + 1],
            (log->wrap_count - at) * sizeof log->wraps[at]);
}

/* Stops waiting for the other pieces of a wrapped line. Handles the pieces read so far as a
 * line, unless they were handled already. This may end a block, so the caller must not end
 * another one. */
static void give_up_wrap(struct tts_trainlog *log, size_t at)
{
    struct tts_trainwrap *wrap = &log->wraps[at];
    struct tts_trainline line;
    if (!wrap->is_told) {
        tts_trainline_tell((struct tts_span){wrap->text, wrap->len}, &line);
        if (line.kind != TTS_TRAINLINE_OTHER)
            take_block_line(log, &line, wrap->number);
    }
    forget_wrap(log, at);
}

/* Handles a wrapped line that is now complete, and forgets it. `raw` is its last piece. */
static void end_wrap(struct tts_trainlog *log, size_t at, struct tts_span raw)
{
    struct tts_trainwrap *wrap = &log->wraps[at];
    struct tts_span first = {tts_logtext_at(&log->text, wrap->offset), 0};
    struct tts_trainline line;
    uint64_t end = tts_logtext_offset(&log->text, raw.at) + raw.len;
    tts_trainline_tell((struct tts_span){wrap->text, wrap->len}, &line);
    /* Facts that are printed between the pieces of a heading belong to its block. */
    if (line.kind == TTS_TRAINLINE_HEADING)
        wrap->number = tts_logtext_line(&log->text, raw.at);
    if (line.kind != TTS_TRAINLINE_OTHER)
        take_told_line(log, &line, first, wrap->number);
    struct tts_trainlog_rank *rank = find_rank(log, wrap->hash);
    if (line.kind > TTS_TRAINLINE_OVERALL) {
        log->joined_from = wrap->offset;
        log->joined_to = end;
    } else if (rank) {
        rank->joined_to = end;
    }
    forget_wrap(log, at);
}

/* Adds the line to the wrapped line it is a piece of. Returns false if it is no piece. */
static bool join_wrap(struct tts_trainlog *log, struct tts_span text, struct tts_span raw)
{
    uint64_t offset = tts_logtext_offset(&log->text, raw.at);
    for (size_t i = log->wrap_count; i-- > 0;) {
        struct tts_trainwrap *wrap = &log->wraps[i];
        /* If the first piece is further away, the text before it may have left the window. */
        if (offset - wrap->offset > TTS_LOGLINE_MAX)
            continue;
        enum tts_trainwrap_match match =
            tts_trainwrap_join(wrap, text, wrap->last + 1 == log->lines_read, &log->line_key);
        if (match == TTS_TRAINWRAP_NONE)
            continue;
        wrap->last = log->lines_read;
        log->lines_more = BLOCK_LINES_MORE;
        log->looked_at = offset + raw.len;
        if (match == TTS_TRAINWRAP_WHOLE)
            end_wrap(log, i, raw);
        return true;
    }
    return false;
}

/* Returns true if a line with this key and the wrapped line belong to different blocks. */
static bool is_other_block(const struct tts_trainlog *log, const struct tts_trainwrap *wrap,
                           const struct tts_logkey *key)
{
    const struct tts_trainlog_rank *a = find_rank(log, wrap->hash),
                                   *b = find_rank(log, key->hash);
    if (a && b && a->is_open && b->is_open)
        return a != b;
    return wrap->has_key && key->len > 0 && wrap->folded != key->folded;
}

/* Gives up one wrapped line if necessary: one that belongs to the same block as the new line,
 * because lines of a block are handled in order, or the oldest one if the new line waits
 * (`waits`) and there is no room. Returns false if no line was given up. */
static bool make_wrap_room(struct tts_trainlog *log, struct tts_span prefix, bool waits)
{
    tts_logkey_make(&log->key, prefix);
    size_t at = 0;
    while (at < log->wrap_count && is_other_block(log, &log->wraps[at], &log->key))
        at++;
    if (at == log->wrap_count && !(waits && at == WRAPS))
        return false;
    give_up_wrap(log, at < log->wrap_count ? at : 0);
    return true;
}

/* Stores the first piece of a wrapped line until its other pieces are read. */
static void add_wrap(struct tts_trainlog *log, const struct tts_trainwrap *begun,
                     struct tts_span raw)
{
    assert(log->wrap_count < WRAPS);
    struct tts_trainwrap *wrap = &log->wraps[log->wrap_count++];
    *wrap = *begun;
    tts_logkey_make(&log->key, (struct tts_span){wrap->text, wrap->prefix_len});
    wrap->hash = log->key.hash;
    wrap->folded = log->key.folded;
    wrap->has_key = log->key.len > 0;
    wrap->number = tts_logtext_line(&log->text, raw.at);
    wrap->offset = tts_logtext_offset(&log->text, raw.at);
    wrap->last = log->lines_read;
}

/* Handles a line that is, or may be, a piece of a wrapped line. Returns true if the caller need
 * not handle the line: it is a piece, or it will be read again. */
static bool read_wrapped_line(struct tts_trainlog *log, const struct tts_trainline *line,
                              struct tts_span text, struct tts_span raw)
{
    struct tts_trainwrap begun;
    bool is_of_block =
        line->kind >= TTS_TRAINLINE_HEADING && line->kind <= TTS_TRAINLINE_OVERALL;
    if (log->wrap_count > 0 && !is_of_block && join_wrap(log, text, raw))
        return true;
    bool waits = tts_trainwrap_begin(&begun, text, line, log->open_count > 0);
    struct tts_span prefix =
        waits ? (struct tts_span){begun.text, begun.prefix_len} : line->prefix;
    if (log->wrap_count > 0 && (is_of_block || waits) && make_wrap_room(log, prefix, waits)) {
        tts_logtext_unread(&log->text, raw.at);
        log->lines_read--;
        log->lines_more++;
        return true;
    }
    if (!waits)
        return false;
    add_wrap(log, &begun, raw);
    log->lines_more = log->lines_more > BLOCK_LINES_MORE ? log->lines_more : BLOCK_LINES_MORE;
    if (begun.is_told)
        return false;
    log->looked_at = log->wraps[log->wrap_count - 1].offset + raw.len;
    return true;
}

/* ---- the words of lines of interest ---- */

/* Finds the words of the lines of interest: "emory", "aram" and "DRAM", in a block also "-- "
 * and "L1:". Compares two letters of each word, two bytes apart and in any case; is_scan_word()
 * compares the rest. `a` has 16 bytes of the text, `c` the bytes two places further. */
static TTS_FORCE_INLINE tts_bytes16 find_hits(tts_bytes16 a, tts_bytes16 c, bool is_block)
{
    const tts_bytes16 fold = {32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32};
    a |= fold;
    c |= fold;
    tts_bytes16 hits = (tts_bytes16)(a == 'r') & (tts_bytes16)(c == 'm');
    hits |= (tts_bytes16)(a == 'o') & (tts_bytes16)(c == 'y');
    if (is_block) {
        hits |= (tts_bytes16)(a == '-') & (tts_bytes16)(c == ' ');
        hits |= (tts_bytes16)(a == 'l') & (tts_bytes16)(c == ':');
    }
    return hits;
}

/* Returns the place of the first hit among 32 bytes; at least 32 if there is none. */
static TTS_FORCE_INLINE unsigned first_hit(tts_bytes16 low, tts_bytes16 high)
{
    unsigned first = tts_bytes16_first(low);
    return first < 16 ? first : 16 + tts_bytes16_first(high);
}

/* Finds the next word. Counts line ends on the way, because the bytes are already loaded. The
 * counts are 16 bytes, each at most 255; a round adds at most 127 times 2 to a byte. */
static TTS_FORCE_INLINE const unsigned char *
find_log_words(struct tts_logcount *count, const unsigned char *end, bool is_block)
{
    const unsigned char *at = count->at;
    tts_bytes16 low = {0}, high = {0}, nuls = {0};
    while (end - at >= 32) {
        tts_bytes16 sums = {0};
        for (int i = 0; i < 127 && end - at >= 32; i++, at += 32) {
            tts_bytes16 a = tts_bytes16_load(at), b = tts_bytes16_load(at + 16);
            low = find_hits(a, tts_bytes16_load(at + 2), is_block);
            high = find_hits(b, tts_bytes16_load(at + 18), is_block);
            if (TTS_UNLIKELY(tts_bytes16_mask(low | high) != 0))
                break;
            sums -= (tts_bytes16)(a == '\n');
            sums -= (tts_bytes16)(b == '\n');
            nuls |= (tts_bytes16)(a == 0) | (tts_bytes16)(b == 0);
        }
        count->line_ends += tts_bytes16_sum(sums);
        if (tts_bytes16_mask(low | high) != 0)
            break;
    }
    count->at = at;
    count->has_nul = count->has_nul || tts_bytes16_mask(nuls) != 0;
    if (end - at < 32) {
        low = find_hits(tts_bytes16_load(at), tts_bytes16_load(at + 2), is_block);
        high = find_hits(tts_bytes16_load(at + 16), tts_bytes16_load(at + 18), is_block);
    }
    unsigned first = first_hit(low, high);
    return first < 32 && first < end - at ? at + first : end;
}

static const unsigned char *find_log_word(struct tts_logcount *count, const unsigned char *end)
{
    return find_log_words(count, end, false);
}

static const unsigned char *find_block_word(struct tts_logcount *count,
                                            const unsigned char *end)
{
    return find_log_words(count, end, true);
}

/* Returns true for "emory", "aram", "DRAM", "--- " and "L1:". The byte that the search found is
 * the third from the end of `word`. */
static bool is_scan_word(const char word[TTS_LOGSCAN_HEAD + TTS_LOGSCAN_TAIL])
{
    switch (word[TTS_LOGSCAN_HEAD]) {
    case 'o':
        return memcmp(word + 1, "emory", 5) == 0;
    case 'r':
        return memcmp(word + 2, "aram", 4) == 0;
    case 'R':
        return memcmp(word + 2, "DRAM", 4) == 0;
    case '-':
        return memcmp(word + 2, "--- ", 4) == 0;
    case 'L':
        return memcmp(word + 3, "L1:", 3) == 0;
    default:
        return false;
    }
}

static const struct tts_logscan *choose_scan(const struct tts_trainlog *log)
{
    static const struct tts_logscan outside = {find_log_word, is_scan_word},
                                    inside = {find_block_word, is_scan_word};
    return log->open_count > 0 ? &inside : &outside;
}

/* ---- lines ---- */

/* Handles a line. `is_next` is true if the line before it was handled too. */
static void read_log_line(struct tts_trainlog *log, struct tts_span raw, bool is_next)
{
    struct tts_trainline line;
    struct tts_span text = tts_logline_clean(raw, log->clean);
    uint64_t end = tts_logtext_offset(&log->text, raw.at) + raw.len;
    tts_trainline_tell(text, &line);
    log->lines_read++;
    if (read_wrapped_line(log, &line, text, raw))
        return;
    if (line.kind == TTS_TRAINLINE_OTHER) {
        /* The search for words found a line without facts. The lines before it were not read,
         * so looked_at must not change. */
        if (!is_next)
            return;
        pass_silent_line(log, text);
    } else {
        take_told_line(log, &line, raw, tts_logtext_line(&log->text, raw.at));
    }
    log->looked_at = end;
}

static bool read_next_line(struct tts_trainlog *log)
{
    struct tts_span raw;
    bool is_next = log->lines_more > 0, is_there;
    if (!is_next && log->wrap_count > 0) {
        give_up_wrap(log, 0);
        return true;
    }
    log->lines_more -= is_next;
    if (!is_next)
        end_sections(log);
    is_there = is_next ? tts_logtext_raw(&log->text, &raw)
                       : tts_logtext_find(&log->text, choose_scan(log), &raw);
    if (is_there)
        read_log_line(log, raw, is_next);
    else if (log->wrap_count > 0)
        give_up_wrap(log, 0);
    else
        return false;
    return true;
}

/* Returns the rank of the open block that began first. Used at the end of the log. */
static struct tts_trainlog_rank *first_open_rank(const struct tts_trainlog *log)
{
    struct tts_trainlog_rank *first = NULL;
    for (size_t i = 0; i < log->rank_count; i++) {
        struct tts_trainlog_rank *rank = log->ranks[i];
        if (rank->is_open && (!first || rank->block.run.line < first->block.run.line))
            first = rank;
    }
    assert((first != NULL) == (log->open_count > 0));
    return first;
}

static enum tts_status finish_log(struct tts_trainlog *log, struct tts_error *err)
{
    enum tts_status status = log->status;
    if (status != TTS_OK) {
        tts_error_set_errno(&log->text.err, status, ENOMEM, "cannot read the rest of the log");
        tts_logtext_finish(&log->text, err);
        return status;
    }
    status = tts_logtext_finish(&log->text, NULL);
    if (status == TTS_OK)
        return TTS_E_NOT_FOUND;
    return tts_logtext_finish(&log->text, err);
}

enum tts_status tts_trainlog_next(struct tts_trainlog *log, const struct tts_run **out,
                                  struct tts_error *err)
{
    log->has_run = false;
    while (!log->has_run && log->status == TTS_OK && read_next_line(log))
        ;
    if (!log->has_run && log->open_count > 0)
        end_block(log, first_open_rank(log), true);
    if (!log->has_run)
        return finish_log(log, err);
    *out = &log->run;
    return TTS_OK;
}

/* ---- facts ---- */

void tts_trainlog_facts(const struct tts_trainlog *log, struct tts_trainlog_facts *out)
{
    struct tts_logtext_facts text = tts_logtext_facts(&log->text);
    *out = (struct tts_trainlog_facts){.lines = text.lines,
                                       .bytes = text.bytes,
                                       .has_nul = text.has_nul,
                                       .is_utf16 = text.is_utf16,
                                       .stray_lines = log->stray_lines,
                                       .stray_line = log->stray_line};
}

uint64_t tts_trainlog_taken(const struct tts_trainlog *log)
{
    return tts_input_taken(log->in);
}

uint64_t tts_trainlog_total(const struct tts_trainlog *log)
{
    return tts_input_total(log->in);
}

void tts_trainlog_on_tick(struct tts_trainlog *log, void (*tick)(void *ctx, uint64_t taken),
                          void *ctx)
{
    tts_logtext_on_tick(&log->text, tick, ctx);
}

void tts_trainlog_on_read(struct tts_trainlog *log,
                          void (*tap)(void *ctx, const struct tts_logpiece *piece), void *ctx)
{
    tts_logtext_on_read(&log->text, tap, ctx);
}
