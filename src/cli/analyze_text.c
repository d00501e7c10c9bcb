/* analyze_text.c: the sections, labels and number formats of the published script; what is new
 * stands behind its rows. */
#include "base/number.h"
#include "cli/analyze_parts.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RULE = 80, NAME_COLUMNS = 160 };

static void put_rule(FILE *out)
{
    for (int i = 0; i < RULE; i++)
        fputc('=', out);
    fputc('\n', out);
}

/* ---- the lines at the top ---- */

void tts_analyze_alike_add(struct tts_analyze_alike *alike, const struct tts_analyze_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    struct tts_analyze_alike one = {
        .has_model = mem->model.expected.is_known && run->run->has_parameters &&
                     mem->model.source != TTS_TRAIN_FROM_OPTION,
        .has_device =
            mem->device_memory.is_known && mem->device_memory_source == TTS_TRAIN_FROM_LOG,
        .parameters = run->run->parameters,
        .model_bytes = mem->model.expected.bytes,
        .device_bytes = mem->device_memory.bytes,
        .dtype = mem->dtype,
    };
    one.runs = alike->runs + 1;
    if (alike->runs > 0) {
        one.has_model &= alike->has_model && one.parameters == alike->parameters &&
                         one.model_bytes == alike->model_bytes && one.dtype == alike->dtype;
        one.has_device &= alike->has_device && one.device_bytes == alike->device_bytes;
    }
    *alike = one;
}

void tts_analyze_text_head(const struct tts_analyze_alike *alike, FILE *out)
{
    char mb[TTS_NUMBER_MB_MAX], count[TTS_ANALYZE_NUMBER_MAX];
    fprintf(out, "Found %" PRIu64 " memory usage summary/summaries\n", alike->runs);
    if (alike->has_model)
        fprintf(out,
                "Model size not provided, calculated from logs: %s MB (%s parameters, assuming "
                "%s)\n",
                tts_number_format_mb(mb, alike->model_bytes, false),
                tts_analyze_count(count, alike->parameters),
                tts_train_dtype_name(alike->dtype));
    if (alike->has_device)
        fprintf(out, "Available device memory, calculated from logs: %s MB\n",
                tts_number_format_mb(mb, alike->device_bytes, false));
}

/* ---- rows ---- */

/* `at_least` is "at least " or "". */
static void put_amount_at_least(FILE *out, const char *label, struct tts_amount amount,
                                const char *at_least)
{
    char mb[TTS_ANALYZE_NUMBER_MAX];
    fprintf(out, "  %-22s", label);
    if (amount.is_known)
        fprintf(out, "%s%s MB\n", at_least, tts_analyze_mb(mb, amount.bytes));
    else
        fputs("unknown\n", out);
}

static void put_amount(FILE *out, const char *label, struct tts_amount amount)
{
    put_amount_at_least(out, label, amount, "");
}

static void put_size(FILE *out, const char *heading, const struct tts_train_size *size)
{
    int64_t difference;
    fprintf(out, "\n--- %s ---\n", heading);
    put_amount(out, "Actual (from logs):", size->actual);
    put_amount(out, "Expected (input):", size->expected);
    if (!tts_train_difference(size, &difference)) {
        fputs("  Difference:           unknown\n", out);
        return;
    }
    uint64_t hundredths = difference < 0 ? 0 - (uint64_t)difference : (uint64_t)difference;
    fprintf(out, "  Difference:           %c%" PRIu64 ".%02" PRIu64 "%%\n",
            difference < 0 ? '-' : '+', hundredths / 100, hundredths % 100);
    if (size->expected.bytes == 0 && size->actual.bytes != 0)
        tts_say(out, 2, "nothing is expected, so the difference has no percentage");
}

/* ---- why a size is not known ---- */

static bool has_phase(const struct tts_run *run, enum tts_run_part part)
{
    for (size_t i = 0; i < run->phase_count; i++)
        if (tts_train_part_of(run->phases[i].name) == part)
            return true;
    return false;
}

/* `part` is that of the phase that would tell. */
static void say_unknown(FILE *out, const struct tts_analyze_run *run, struct tts_amount amount,
                        enum tts_run_part part, const char *phase)
{
    if (amount.is_known)
        return;
    if (has_phase(run->run, part))
        tts_say(out, 2, "not known: a figure of it could not be read");
    else
        tts_say(out, 2, "not known: the summary has no phase %s", phase);
}

/* They are what a backward pass left, beyond what was there before the first step. */
static void say_no_gradients(FILE *out, const struct tts_analyze_run *run)
{
    if (run->run->is_overwritten) {
        tts_say(out, 2, "not known: the program overwrote the phases of earlier micro-steps");
        return;
    }
    bool has_start =
        has_phase(run->run, TTS_RUN_PART_OPTIMIZER) || has_phase(run->run, TTS_RUN_PART_MODEL);
    if (has_start || !has_phase(run->run, TTS_RUN_PART_GRADIENTS))
        say_unknown(out, run, run->mem->gradients.actual, TTS_RUN_PART_GRADIENTS,
                    "BACKWARD_PASS");
    else
        say_unknown(out, run, run->mem->gradients.actual, TTS_RUN_PART_OPTIMIZER,
                    "OPTIMIZER_CREATION");
}

/* ---- where the expected sizes are from ---- */

static const char *times_the_model(char out[TTS_ANALYZE_NUMBER_MAX], int64_t bytes,
                                   int64_t model)
{
    if (model > 0 && bytes % model == 0)
        snprintf(out, TTS_ANALYZE_NUMBER_MAX, "%" PRId64 " x the model", bytes / model);
    else
        snprintf(out, TTS_ANALYZE_NUMBER_MAX, "by the parameters");
    return out;
}

/* " (line 23 of the log)"; "" for a file without lines. Returns `out`. */
enum { LINE_WORDS_MAX = 48 };
static const char *line_words(char out[LINE_WORDS_MAX], uint64_t line)
{
    out[0] = '\0';
    if (line > 0)
        snprintf(out, LINE_WORDS_MAX, " (line %" PRIu64 " of the log)", line);
    return out;
}

static void say_model(FILE *out, const struct tts_analyze_options *options,
                      const struct tts_analyze_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    char count[TTS_ANALYZE_NUMBER_MAX], line[LINE_WORDS_MAX];
    if (options->mem.model.is_known)
        tts_say(out, 2, "expected: as --model_size says");
    else if (!mem->model.expected.is_known)
        tts_say(out, 2,
                "expected: not known, no parameter count in the log; give --model_size");
    else
        tts_say(out, 2, "expected: %s parameters%s x %" PRId64 " bytes, %s%s",
                tts_analyze_count(count, run->run->parameters),
                line_words(line, run->run->parameters_line),
                run->run->parameters > 0
                    ? mem->model.expected.bytes / (int64_t)run->run->parameters
                    : 0,
                mem->dtype_source == TTS_TRAIN_ASSUMED ? "assumed " : "",
                tts_train_dtype_name(mem->dtype));
}

static void say_optimizer(FILE *out, const struct tts_analyze_options *options,
                          const struct tts_analyze_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    char logged[TTS_RUN_WORD_MAX * TTS_SAFE_COLUMN_BYTES + 1];
    char times[TTS_ANALYZE_NUMBER_MAX];
    const char *name = tts_train_optimizer_name(mem->optimizer_kind);
    if (options->mem.optimizer.is_known) {
        tts_say(out, 2, "expected: as --optimizer_size says");
        return;
    }
    if (!mem->optimizer.expected.is_known && mem->model.expected.is_known) {
        tts_safe_text(logged, sizeof logged, run->run->optimizer, sizeof run->run->optimizer);
        tts_say(out, 2, "expected: not known, the log names %s%s; give --optimizer",
                logged[0] ? logged : "none",
                mem->optimizer_kind == TTS_TRAIN_SGD && logged[0]
                    ? ", and not whether it has momentum"
                    : ", whose state is not known here");
        return;
    }
    if (!mem->optimizer.expected.is_known) {
        tts_say(out, 2,
                "expected: not known, as the size of the model is not; give --model_size or "
                "--optimizer_size");
        return;
    }
    times_the_model(times, mem->optimizer.expected.bytes, mem->model.expected.bytes);
    if (mem->optimizer_source == TTS_TRAIN_ASSUMED)
        tts_say(out, 2, "expected: %s, assumed as %s; give --optimizer for another", times,
                name);
    else
        tts_say(out, 2, "expected: %s, as the state of %s (%s)", times, name,
                mem->optimizer_source == TTS_TRAIN_FROM_LOG ? "in the log" : "--optimizer");
}

static void say_gradients(FILE *out, const struct tts_analyze_options *options,
                          const struct tts_trainmem *mem)
{
    if (options->mem.gradients.is_known)
        tts_say(out, 2, "expected: as --gradients_size says");
    else if (mem->gradients.expected.is_known)
        tts_say(out, 2, "expected: as large as the model, assumed");
    else
        tts_say(out, 2,
                "expected: not known, as the size of the model is not; give --model_size or "
                "--gradients_size");
}

/* ---- activations ---- */

static void put_activations(FILE *out, const struct tts_analyze_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    char all[TTS_ANALYZE_NUMBER_MAX], most[TTS_ANALYZE_NUMBER_MAX];
    fputs("\n--- Activations Size ---\n", out);
    put_amount(out, "Activations:", mem->activations);
    say_unknown(out, run, mem->activations, TTS_RUN_PART_ACTIVATIONS, "FORWARD_PASS");
    if (mem->parts_are_stated && mem->activations.is_known)
        tts_say(out, 2, "kept by the forward pass; %s" TTS_SAY_GLUE "MB are in the peak",
                tts_analyze_mb(most, mem->parts[TTS_RUN_PART_ACTIVATIONS]));
    if (mem->forward_passes < 2 || !mem->activations.is_known)
        return;
    tts_say(out, 2, "the most at once of %" PRIu32 " forward passes%s%s%s", mem->forward_passes,
            mem->activations_sum.is_known ? ", which kept " : "",
            mem->activations_sum.is_known ? tts_analyze_mb(all, mem->activations_sum.bytes)
                                          : "",
            !mem->activations_sum.is_known ? ""
            : mem->backward_passes > 1     ? TTS_SAY_GLUE
                "MB together: each backward pass frees what its forward pass kept"
                                       : TTS_SAY_GLUE "MB together");
}

/* ---- the peak ---- */

/* The log may print another figure: of all devices, or before what the runtime reserves. */
static void say_log_device(FILE *out, const struct tts_analyze_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    const struct tts_run *what = run->run;
    char mb[TTS_ANALYZE_NUMBER_MAX], chip[TTS_RUN_WORD_MAX * TTS_SAFE_COLUMN_BYTES + 1];
    bool is_as_printed =
        what->device_memory.is_known &&
        mem->device_memory.bytes == what->device_memory.bytes / mem->log_devices;
    tts_safe_text(chip, sizeof chip, what->chip, sizeof what->chip);
    tts_analyze_mb(mb, what->device_memory.bytes);
    if (what->device_memory_line == 0 && chip[0])
        tts_say(out, 2, "device memory: what %s has to allocate, as the log says", chip);
    else if (what->device_memory_line == 0)
        tts_say(out, 2, "device memory: as the saved result says");
    else if (!is_as_printed)
        tts_say(out, 2,
                "device memory: what one %s has to allocate; line %" PRIu64
                " of the log says %s" TTS_SAY_GLUE "MB for %" PRIu32 " device%s",
                chip, what->device_memory_line, mb, mem->log_devices,
                mem->log_devices == 1 ? "" : "s");
    else if (mem->log_devices > 1)
        tts_say(out, 2,
                "device memory: line %" PRIu64 " of the log says %s" TTS_SAY_GLUE "MB, %" PRIu32
                " devices of the host share it",
                what->device_memory_line, mb, mem->log_devices);
    else
        tts_say(out, 2, "device memory: line %" PRIu64 " of the log", what->device_memory_line);
}

static void say_device(FILE *out, const struct tts_analyze_options *options,
                       const struct tts_analyze_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    char device[TTS_ANALYZE_DEVICE_MAX];
    switch (mem->device_memory_source) {
    case TTS_TRAIN_FROM_OPTION:
        tts_say(out, 2, "device memory: as --device_memory says");
        break;
    case TTS_TRAIN_FROM_DEVICE:
        tts_say(out, 2, "device memory: what %s has to allocate (--device)",
                tts_analyze_device_words(device, &options->device));
        break;
    case TTS_TRAIN_FROM_LOG:
        say_log_device(out, run);
        break;
    case TTS_TRAIN_ASSUMED:
        tts_say(out, 2, "device memory: assumed, 12 GiB; give --device or --device_memory");
        break;
    case TTS_TRAIN_FROM_NOWHERE:
        tts_say(out, 2, "device memory: not known; give --device or --device_memory");
        break;
    }
}

/* The log covers the first iteration: what later ones need more. */
static void say_later(FILE *out, const struct tts_trainmem *mem)
{
    char mb[TTS_ANALYZE_NUMBER_MAX];
    const char *name = tts_train_optimizer_name(mem->optimizer_kind);
    if (!mem->covers_first)
        return;
    if (mem->later_more.is_known)
        tts_say(out, 2,
                "the log covers the first iteration; %s keeps the gradients, so later "
                "iterations need more: at most %s" TTS_SAY_GLUE "MB, twice the gradients",
                name, tts_analyze_mb(mb, mem->later_more.bytes));
    else
        tts_say(out, 2,
                "the log covers the first iteration; %s keeps the gradients, so later "
                "iterations need more",
                name);
}

static void say_overwritten(FILE *out, const struct tts_run *run)
{
    char mb[TTS_ANALYZE_NUMBER_MAX];
    if (run->missing.is_known)
        tts_say(
            out, 2,
            "the program overwrote the phases of earlier micro-steps: at least %s" TTS_SAY_GLUE
            "MB are missing, one set of gradients (the size of the model)",
            tts_analyze_mb(mb, run->missing.bytes));
    else
        tts_say(out, 2,
                "the program overwrote the phases of earlier micro-steps: their gradients are "
                "missing");
}

static void put_peak(FILE *out, const struct tts_analyze_options *options,
                     const struct tts_analyze_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    char percent[TTS_ANALYZE_NUMBER_MAX];
    const char *at_least = mem->peak_at_least ? "at least " : "";
    fputs("\n--- Peak DRAM Usage ---\n", out);
    put_amount_at_least(out, "Peak DRAM:", mem->peak, at_least);
    put_amount(out, "Device Memory:", mem->device_memory);
    if (mem->peak.is_known && mem->device_memory.is_known && mem->device_memory.bytes > 0)
        fprintf(out, "  Usage:                %s%s%%\n", at_least,
                tts_analyze_percent(percent, mem->peak.bytes, mem->device_memory.bytes));
    else
        fputs("  Usage:                unknown\n", out);
    if (!mem->peak.is_known)
        tts_say(out, 2,
                "the peak is not known: no line of the summary that could be read "
                "says it");
    else if (run->run->is_overwritten)
        say_overwritten(out, run->run);
    else if (mem->peak_at_least)
        tts_say(out, 2, "%s: the peak is this or more",
                run->run->is_cut ? "the summary is cut off"
                                 : "not all of its lines could be read");
    say_device(out, options, run);
    say_later(out, mem);
}

/* ---- all of it ---- */

static void put_section(FILE *out, const struct tts_analyze_run *run)
{
    char name[NAME_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1], count[TTS_ANALYZE_NUMBER_MAX];
    tts_safe_text(name, sizeof name, run->name, NAME_COLUMNS);
    fputc('\n', out);
    put_rule(out);
    fprintf(out, "Section: %s\n", name);
    put_rule(out);
    fprintf(out, "Number of parameters: %s\n",
            run->run->has_parameters ? tts_analyze_count(count, run->run->parameters)
                                     : "unknown");
}

void tts_analyze_text_run(const struct tts_analyze_options *options,
                          const struct tts_analyze_run *run, FILE *out)
{
    const struct tts_trainmem *mem = run->mem;
    put_section(out, run);
    put_size(out, "Model Size", &mem->model);
    say_unknown(out, run, mem->model.actual, TTS_RUN_PART_MODEL, "MODEL_CREATION");
    say_model(out, options, run);
    put_size(out, "Optimizer State", &mem->optimizer);
    say_unknown(out, run, mem->optimizer.actual, TTS_RUN_PART_OPTIMIZER, "OPTIMIZER_CREATION");
    say_optimizer(out, options, run);
    put_activations(out, run);
    put_size(out, "Gradients Size", &mem->gradients);
    say_no_gradients(out, run);
    say_gradients(out, options, mem);
    put_peak(out, options, run);
    tts_analyze_text_parts(run, out);
    tts_analyze_text_verdict(options, run, out);
}

/* ---- behind the last ---- */

enum { ROW_COLUMNS = 120 }; /* the end of a name may be what tells it apart */

void tts_analyze_table_add(struct tts_analyze_table *table, const struct tts_analyze_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    struct tts_analyze_worth worth = tts_analyze_worth_of(mem, table->all.runs);
    tts_analyze_tally_add(&table->all, worth.verdict);
    struct tts_analyze_row *row = &table->rows[0];
    if (table->count < TTS_ANALYZE_ROWS_MAX) {
        row = &table->rows[table->count++];
    } else {
        /* The least bad row makes room. */
        for (size_t i = 1; i < table->count; i++)
            if (tts_analyze_is_worse(&row->worth, &table->rows[i].worth))
                row = &table->rows[i];
        if (!tts_analyze_is_worse(&worth, &row->worth))
            return;
    }
    *row = (struct tts_analyze_row){
        .peak = mem->peak, .device_memory = mem->device_memory, .worth = worth};
    tts_safe_text(row->name, sizeof row->name, run->name, ROW_COLUMNS);
}

static void put_row(const struct tts_analyze_row *row, FILE *out)
{
    char peak[TTS_ANALYZE_NUMBER_MAX + 3] = "unknown", share[TTS_ANALYZE_NUMBER_MAX + 1] = "",
                                       mb[TTS_ANALYZE_NUMBER_MAX];
    if (row->peak.is_known)
        snprintf(peak, sizeof peak, "%s MB", tts_analyze_mb(mb, row->peak.bytes));
    if (row->peak.is_known && row->device_memory.bytes > 0)
        snprintf(share, sizeof share, "%s%%",
                 tts_analyze_percent(mb, row->peak.bytes, row->device_memory.bytes));
    fprintf(out, "  %14s %9s  %-12s  %s\n", peak, share,
            row->worth.verdict == TTS_ANALYZE_UNKNOWN ? "unknown"
            : row->worth.verdict == TTS_ANALYZE_GOOD  ? "fits"
                                                      : "does not fit",
            row->name);
}

static int compare_rows(const void *a, const void *b)
{
    const struct tts_analyze_row *one = a, *other = b;
    return tts_analyze_is_worse(&one->worth, &other->worth) ? -1 : 1;
}

static void put_table(struct tts_analyze_table *table, FILE *out)
{
    struct tts_analyze_tally shown = {0};
    char words[TTS_ANALYZE_TALLY_MAX];
    bool is_all = table->all.runs == table->count;
    if (!is_all)
        qsort(table->rows, table->count, sizeof table->rows[0], compare_rows);
    fprintf(out, "\n--- All Runs%s ---\n", is_all ? "" : ", worst first");
    for (size_t i = 0; i < table->count; i++) {
        put_row(&table->rows[i], out);
        tts_analyze_tally_add(&shown, table->rows[i].worth.verdict);
    }
    struct tts_analyze_tally rest = tts_analyze_tally_rest(&table->all, &shown);
    if (rest.runs > 0)
        fprintf(out, "  and %" PRIu64 " more: %s\n", rest.runs,
                tts_analyze_tally_words(words, &rest));
}

void tts_analyze_text_end(struct tts_analyze_table *table, FILE *out)
{
    if (table->all.runs > 1)
        put_table(table, out);
    fputc('\n', out);
    put_rule(out);
    fputs("Analysis complete\n", out);
    put_rule(out);
    fputc('\n', out);
}
