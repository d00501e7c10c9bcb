#include "views/run/run_text.h"

#include "base/bytesize.h"
#include "base/number.h"
#include "base/share.h"
#include "views/run/grouped.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { RULE = 80, NAME_COLUMNS = 160 };

static void put_text_rule(FILE *out)
{
    for (int i = 0; i < RULE; i++)
        fputc('=', out);
    fputc('\n', out);
}

/* ---- the lines at the top ---- */

void tts_run_text_top_add(struct tts_run_text_top *top, const struct tts_named_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    struct tts_run_text_top one = {
        .has_model = mem->model.expected.is_known && run->run->has_parameters &&
                     mem->model.source != TTS_TRAIN_FROM_OPTION,
        .has_device =
            mem->device_memory.is_known && mem->device_memory_source == TTS_TRAIN_FROM_LOG,
        .parameters = run->run->parameters,
        .model_bytes = mem->model.expected.bytes,
        .device_bytes = mem->device_memory.bytes,
        .dtype = mem->dtype,
    };
    one.runs = top->runs + 1;
    if (top->runs > 0) {
        one.has_model &= top->has_model && one.parameters == top->parameters &&
                         one.model_bytes == top->model_bytes && one.dtype == top->dtype;
        one.has_device &= top->has_device && one.device_bytes == top->device_bytes;
    }
    *top = one;
}

void tts_run_text_top(const struct tts_run_text_top *top, FILE *out)
{
    char mb[TTS_NUMBER_MB_MAX], count[TTS_GROUPED_MAX];
    fprintf(out, "Found %" PRIu64 " memory usage summary/summaries\n", top->runs);
    if (top->has_model)
        fprintf(out,
                "Model size not provided, calculated from logs: %s MB (%s parameters, assuming "
                "%s)\n",
                tts_number_format_mb(mb, top->model_bytes, false),
                tts_grouped_count(count, top->parameters), tts_train_dtype_name(top->dtype));
    if (top->has_device)
        fprintf(out, "Available device memory, calculated from logs: %s MB\n",
                tts_number_format_mb(mb, top->device_bytes, false));
}

/* ---- rows ---- */

/* Writes a label and an amount. `at_least` is "at least " or "". */
static void put_at_least_line(FILE *out, const char *label, struct tts_amount amount,
                              const char *at_least)
{
    char mb[TTS_GROUPED_MAX];
    fprintf(out, "  %-22s", label);
    if (amount.is_known)
        fprintf(out, "%s%s MB\n", at_least, tts_grouped_mb(mb, amount.bytes));
    else
        fputs("unknown\n", out);
}

static void put_amount_line(FILE *out, const char *label, struct tts_amount amount)
{
    put_at_least_line(out, label, amount, "");
}

static void put_size_block(FILE *out, const char *heading, const struct tts_train_size *size)
{
    int64_t difference;
    fprintf(out, "\n--- %s ---\n", heading);
    put_amount_line(out, "Actual (from logs):", size->actual);
    put_amount_line(out, "Expected (input):", size->expected);
    if (!tts_train_difference(size, &difference)) {
        fputs("  Difference:           unknown\n", out);
        return;
    }
    uint64_t hundredths = difference < 0 ? 0 - (uint64_t)difference : (uint64_t)difference;
    fprintf(out, "  Difference:           %c%" PRIu64 ".%02" PRIu64 "%%\n",
            difference < 0 ? '-' : '+', hundredths / 100, hundredths % 100);
    if (size->expected.bytes == 0 && size->actual.bytes != 0)
        tts_say(out, 2, "the expected size is 0 MB, so +0.00%% has no meaning here");
}

/* ---- why a size is not known ---- */

/* Returns whether one of the first `count` phases of the run is about `part`. */
static bool has_phase_among(const struct tts_run *run, size_t count, enum tts_run_part part)
{
    for (size_t i = 0; i < count; i++)
        if (tts_train_part_of(run->phases[i].name) == part)
            return true;
    return false;
}

static bool has_phase_of(const struct tts_run *run, enum tts_run_part part)
{
    return has_phase_among(run, run->phase_count, part);
}

/* If the amount is unknown, says why. `part` and `phase` are the part and the name of the phase
 * that would state the amount. */
static void say_why_unknown(FILE *out, const struct tts_named_run *run,
                            struct tts_amount amount, enum tts_run_part part, const char *phase)
{
    if (amount.is_known)
        return;
    if (has_phase_of(run->run, part))
        tts_say(out, 2, "unknown: a figure of %s could not be read", phase);
    else
        tts_say(out, 2, "unknown: the run has no phase %s", phase);
}

/* Says why the gradients are unknown. Their size is the memory after a backward pass minus the
 * memory before the first step. */
static void say_no_gradients(FILE *out, const struct tts_named_run *run)
{
    if (run->run->is_overwritten) {
        tts_say(out, 2, "unknown: the program overwrote the phases of earlier micro-steps");
        return;
    }
    bool has_start = has_phase_of(run->run, TTS_RUN_PART_OPTIMIZER) ||
                     has_phase_of(run->run, TTS_RUN_PART_MODEL);
    if (has_start || !has_phase_of(run->run, TTS_RUN_PART_GRADIENTS))
        say_why_unknown(out, run, run->mem->gradients.actual, TTS_RUN_PART_GRADIENTS,
                        "BACKWARD_PASS");
    else
        say_why_unknown(out, run, run->mem->gradients.actual, TTS_RUN_PART_OPTIMIZER,
                        "OPTIMIZER_CREATION");
}

/* ---- where the expected sizes are from ---- */

/* Writes "2 x the model", or "by the parameters" if the quotient is not whole. Returns `out`.
 */
static const char *times_the_model(char out[TTS_GROUPED_MAX], int64_t bytes, int64_t model)
{
    if (model > 0 && bytes % model == 0)
        snprintf(out, TTS_GROUPED_MAX, "%" PRId64 " x the model", bytes / model);
    else
        snprintf(out, TTS_GROUPED_MAX, "by the parameters");
    return out;
}

/* Writes " (line 23 of the log)", or "" for a file without lines. Returns `out`. */
enum { LINE_WORDS_MAX = 48 };
static const char *log_line_words(char out[LINE_WORDS_MAX], uint64_t line)
{
    out[0] = '\0';
    if (line > 0)
        snprintf(out, LINE_WORDS_MAX, " (line %" PRIu64 " of the log)", line);
    return out;
}

static void say_model_source(FILE *out, const struct tts_named_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    char count[TTS_GROUPED_MAX], line[LINE_WORDS_MAX];
    if (mem->model.source == TTS_TRAIN_FROM_OPTION)
        tts_say(out, 2, "expected size: set by --model_size");
    else if (!mem->model.expected.is_known)
        tts_say(out, 2,
                "expected size: unknown, because the input has no parameter count; give "
                "--model_size");
    else
        tts_say(out, 2, "expected size: %s parameters%s x %" PRId64 " bytes, %s%s",
                tts_grouped_count(count, run->run->parameters),
                log_line_words(line, run->run->parameters_line),
                run->run->parameters > 0
                    ? mem->model.expected.bytes / (int64_t)run->run->parameters
                    : 0,
                mem->dtype_source == TTS_TRAIN_ASSUMED ? "assumed " : "",
                tts_train_dtype_name(mem->dtype));
}

static void say_optimizer_source(FILE *out, const struct tts_run_text_options *options,
                                 const struct tts_named_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    char logged[TTS_RUN_WORD_MAX * TTS_SAFE_COLUMN_BYTES + 1];
    char times[TTS_GROUPED_MAX];
    const char *name = tts_train_optimizer_name(mem->optimizer_kind);
    if (options->has_optimizer_size) {
        tts_say(out, 2, "expected size: set by --optimizer_size");
        return;
    }
    if (!mem->optimizer.expected.is_known && mem->model.expected.is_known) {
        tts_safe_text(logged, sizeof logged, run->run->optimizer, sizeof run->run->optimizer);
        tts_say(out, 2, "expected size: unknown, because the log names %s%s; give --optimizer",
                logged[0] ? logged : "no optimizer",
                mem->optimizer_kind == TTS_TRAIN_SGD && logged[0] ? " but not its momentum"
                : logged[0] ? ", whose state size is unknown"
                            : "");
        return;
    }
    if (!mem->optimizer.expected.is_known) {
        tts_say(out, 2,
                "expected size: unknown, because the size of the model is unknown; give "
                "--model_size or --optimizer_size");
        return;
    }
    times_the_model(times, mem->optimizer.expected.bytes, mem->model.expected.bytes);
    if (mem->optimizer_source == TTS_TRAIN_ASSUMED)
        tts_say(out, 2, "expected size: %s, assuming %s; --optimizer changes it", times, name);
    else
        tts_say(out, 2, "expected size: %s, as the state of %s (%s)", times, name,
                mem->optimizer_source == TTS_TRAIN_FROM_LOG ? "in the log" : "--optimizer");
}

static void say_gradients_source(FILE *out, const struct tts_trainmem *mem)
{
    if (mem->gradients.source == TTS_TRAIN_FROM_OPTION)
        tts_say(out, 2, "expected size: set by --gradients_size");
    else if (mem->gradients.expected.is_known)
        tts_say(out, 2, "expected size: assumed to be as large as the model");
    else
        tts_say(out, 2,
                "expected size: unknown, because the size of the model is unknown; give "
                "--model_size or --gradients_size");
}

/* ---- activations ---- */

static void put_activations_block(FILE *out, const struct tts_named_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    char all[TTS_GROUPED_MAX], most[TTS_GROUPED_MAX];
    fputs("\n--- Activations Size ---\n", out);
    put_amount_line(out, "Activations:", mem->activations);
    say_why_unknown(out, run, mem->activations, TTS_RUN_PART_ACTIVATIONS, "FORWARD_PASS");
    if (mem->parts_are_stated && mem->activations.is_known)
        tts_say(out, 2,
                "the forward pass kept this memory; at the peak, activations take "
                "%s" TTS_SAY_GLUE "MB",
                tts_grouped_mb(most, mem->parts[TTS_RUN_PART_ACTIVATIONS]));
    if (mem->forward_passes < 2 || !mem->activations.is_known)
        return;
    tts_say(out, 2, "largest of %" PRIu32 " forward passes%s%s%s", mem->forward_passes,
            mem->activations_sum.is_known ? ", which kept " : "",
            mem->activations_sum.is_known ? tts_grouped_mb(all, mem->activations_sum.bytes)
                                          : "",
            !mem->activations_sum.is_known ? ""
            : mem->backward_passes > 1     ? TTS_SAY_GLUE
                "MB together; each backward pass frees the activations of its forward pass"
                                       : TTS_SAY_GLUE "MB together");
}

/* ---- the peak ---- */

/* Says where the log states the device memory. The log may print another figure: the memory of
 * all devices, or the memory before the runtime reserves its part. */
static void say_log_device(FILE *out, const struct tts_named_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    const struct tts_run *what = run->run;
    char mb[TTS_GROUPED_MAX], chip[TTS_RUN_WORD_MAX * TTS_SAFE_COLUMN_BYTES + 1];
    bool is_as_printed =
        what->device_memory.is_known &&
        mem->device_memory.bytes == what->device_memory.bytes / mem->log_devices;
    tts_safe_text(chip, sizeof chip, what->chip, sizeof what->chip);
    tts_grouped_mb(mb, what->device_memory.bytes);
    if (what->device_memory_line == 0 && chip[0])
        tts_say(out, 2, "device memory: allocatable DRAM of %s, named in the log", chip);
    else if (what->device_memory_line == 0)
        tts_say(out, 2, "device memory: from the saved result");
    else if (!is_as_printed)
        tts_say(out, 2,
                "device memory: allocatable DRAM of one %s; line %" PRIu64
                " of the log says %s" TTS_SAY_GLUE "MB for %" PRIu32 " device%s",
                chip, what->device_memory_line, mb, mem->log_devices,
                mem->log_devices == 1 ? "" : "s");
    else if (mem->log_devices > 1)
        tts_say(out, 2,
                "device memory: line %" PRIu64 " of the log says %s" TTS_SAY_GLUE
                "MB, shared by %" PRIu32 " devices of the host",
                what->device_memory_line, mb, mem->log_devices);
    else
        tts_say(out, 2, "device memory: from line %" PRIu64 " of the log",
                what->device_memory_line);
}

static void say_device_source(FILE *out, const struct tts_run_text_options *options,
                              const struct tts_named_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    switch (mem->device_memory_source) {
    case TTS_TRAIN_FROM_OPTION:
        tts_say(out, 2, "device memory: set by --device_memory");
        break;
    case TTS_TRAIN_FROM_DEVICE:
        tts_say(out, 2, "device memory: allocatable DRAM of %s (--device)", options->device);
        break;
    case TTS_TRAIN_FROM_LOG:
        say_log_device(out, run);
        break;
    case TTS_TRAIN_ASSUMED:
        tts_say(out, 2, "device memory: 12 GiB assumed; give --device or --device_memory");
        break;
    case TTS_TRAIN_FROM_NOWHERE:
        tts_say(out, 2, "device memory: unknown; give --device or --device_memory");
        break;
    }
}

/* Says how much more later iterations need if the log covers only the first. */
static void say_later_iterations(FILE *out, const struct tts_trainmem *mem)
{
    char mb[TTS_GROUPED_MAX];
    const char *name = tts_train_optimizer_name(mem->optimizer_kind);
    if (!mem->covers_first)
        return;
    if (mem->later_more.is_known)
        tts_say(out, 2,
                "the log covers only the first iteration; %s keeps the gradients, so later "
                "iterations need up to %s" TTS_SAY_GLUE "MB more (twice the gradients)",
                name, tts_grouped_mb(mb, mem->later_more.bytes));
    else
        tts_say(out, 2,
                "the log covers only the first iteration; %s keeps the gradients, so later "
                "iterations need more",
                name);
}

static void say_overwritten(FILE *out, const struct tts_run *run)
{
    char mb[TTS_GROUPED_MAX];
    if (run->missing.is_known)
        tts_say(
            out, 2,
            "the program overwrote the phases of earlier micro-steps: at least %s" TTS_SAY_GLUE
            "MB are missing from the peak (one set of gradients, as large as the model)",
            tts_grouped_mb(mb, run->missing.bytes));
    else
        tts_say(out, 2,
                "the program overwrote the phases of earlier micro-steps: their gradients are "
                "missing from the peak");
}

static void put_peak_block(FILE *out, const struct tts_run_text_options *options,
                           const struct tts_named_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    char percent[TTS_GROUPED_MAX];
    const char *at_least = mem->peak_at_least ? "at least " : "";
    fputs("\n--- Peak DRAM Usage ---\n", out);
    put_at_least_line(out, "Peak DRAM:", mem->peak, at_least);
    put_amount_line(out, "Device Memory:", mem->device_memory);
    if (mem->peak.is_known && mem->device_memory.is_known && mem->device_memory.bytes > 0)
        fprintf(out, "  Usage:                %s%s%%\n", at_least,
                tts_grouped_percent(percent, mem->peak.bytes, mem->device_memory.bytes));
    else
        fputs("  Usage:                unknown\n", out);
    if (!mem->peak.is_known)
        tts_say(out, 2, "the peak is unknown: no readable line of the summary states it");
    else if (run->run->is_overwritten)
        say_overwritten(out, run->run);
    else if (mem->peak_at_least)
        tts_say(out, 2, "the real peak may be higher: %s",
                run->run->is_cut ? "the summary is cut off"
                                 : "some lines of the summary could not be read");
    say_device_source(out, options, run);
    say_later_iterations(out, mem);
}

enum { BAR = 24, PRESETS_SHOWN = 6, HEADROOM_PERCENT = 5, PHASE_COLUMNS = 40 };

/* ---- the parts of the peak ---- */

/* These names differ from the labels of the published blocks, so that a search for such a label
 * finds it once for each run. */
static const char *const part_names[] = {
    [TTS_RUN_PART_OTHER] = "other",
    [TTS_RUN_PART_MODEL] = "model parameters",
    [TTS_RUN_PART_GRADIENTS] = "gradients overhead",
    [TTS_RUN_PART_OPTIMIZER] = "optimizer state",
    [TTS_RUN_PART_ACTIVATIONS] = "activations",
};

/* Returns the name of a part. A log without the parts of its peak states only the activations
 * that the forward pass kept. At a peak in the backward pass some of them are freed, so the
 * name is different. */
static const char *peak_part_name(const struct tts_trainmem *mem, enum tts_run_part part,
                                  bool is_backward)
{
    if (part == TTS_RUN_PART_GRADIENTS && mem->parts_are_stated)
        return "gradients";
    if (part == TTS_RUN_PART_ACTIVATIONS && !mem->parts_are_stated && is_backward)
        return "activations kept";
    return part_names[part];
}

static void put_part_bar(const struct tts_trainmem *mem, enum tts_run_part part,
                         const char *name, FILE *out)
{
    char mb[TTS_GROUPED_MAX], percent[TTS_GROUPED_MAX], bar[BAR + 1];
    int64_t bytes = mem->parts[part], whole = mem->peak.bytes;
    assert(bytes >= 0 && bytes <= whole);
    double share = whole > 0 ? (double)bytes / (double)whole : 0;
    /* A part that is not empty has a bar of at least one character. */
    size_t len = (size_t)(share * BAR + 0.5);
    len = len < 1 && bytes > 0 ? 1 : len > BAR ? BAR : len;
    memset(bar, '#', len);
    bar[len] = '\0';
    snprintf(percent, sizeof percent, "%.1f", share * 100);
    fprintf(out, "  %-20s %12s MB  %5s %%%s%s\n", name, tts_grouped_mb(mb, bytes), percent,
            len > 0 ? "  " : "", bar);
}

/* Says whether model and optimizer are shown with measured or with expected sizes. A part that
 * no phase up to the peak creates has neither. */
static void say_sizes_source(const struct tts_named_run *run, FILE *out)
{
    static const char *const reasons[] = {
        [TTS_TRAIN_FORCE_NONE] = "",
        [TTS_TRAIN_FORCE_UNKNOWN] = ": an expected size is unknown",
        [TTS_TRAIN_FORCE_MAKING] = ": the peak is in the phase that creates one of these parts",
        [TTS_TRAIN_FORCE_TOO_MUCH] = ": the expected sizes are larger than the memory in use",
    };
    static const char *const parts[] = {"model and optimizer", "the model", "the optimizer"};
    const struct tts_trainmem *mem = run->mem;
    bool has_model = has_phase_among(run->run, mem->peak_phase + 1, TTS_RUN_PART_MODEL);
    bool has_optimizer = has_phase_among(run->run, mem->peak_phase + 1, TTS_RUN_PART_OPTIMIZER);
    const char *sized = parts[has_model && has_optimizer ? 0 : has_model ? 1 : 2];
    const char *rest = parts[!has_model && !has_optimizer ? 0 : has_model ? 2 : 1];
    if ((has_model || has_optimizer) && mem->parts_are_actual)
        tts_say(out, 2, "measured sizes are used for %s%s", sized, reasons[mem->parts_forced]);
    else if (has_model || has_optimizer)
        tts_say(out, 2,
                "expected sizes are used for %s; --use_actual_sizes takes the measured sizes",
                sized);
    if (!has_model || !has_optimizer)
        tts_say(out, 2,
                "no phase up to the peak creates %s: the table shows 0.00" TTS_SAY_GLUE
                "MB, although another row may contain such memory",
                rest);
}

static void put_parts_block(const struct tts_named_run *run, FILE *out)
{
    const struct tts_trainmem *mem = run->mem;
    char phase[PHASE_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    fputs("\n--- Peak Breakdown ---\n", out);
    if (mem->has_peak_phase) {
        assert(mem->peak_phase < run->run->phase_count);
        const struct tts_run_phase *at = &run->run->phases[mem->peak_phase];
        tts_safe_text(phase, sizeof phase, at->name, PHASE_COLUMNS);
        if (at->line > 0)
            tts_say(out, 2, "the peak is reached in %s, line %" PRIu64 " of the log", phase,
                    at->line);
        else
            tts_say(out, 2, "the peak is reached in %s", phase);
    }
    if (mem->peak_is_later) {
        tts_safe_text(phase, sizeof phase, run->run->whole.phase, PHASE_COLUMNS);
        tts_say(out, 2,
                "the peak is reached %s%s; the phases of the summary cover only the first "
                "iteration",
                phase[0] == '(' ? "" : "in ", phase[0] ? phase : "a later iteration");
    }
    if (!mem->has_parts) {
        tts_say(out, 2,
                "unknown: the summary does not state the parts of the memory at the peak");
        return;
    }
    enum tts_run_part of_peak = mem->has_peak_phase
                                    ? tts_train_part_of(run->run->phases[mem->peak_phase].name)
                                    : TTS_RUN_PART_OTHER;
    bool is_backward = of_peak == TTS_RUN_PART_GRADIENTS;
    for (int part = TTS_RUN_PARTS - 1; part >= 0; part--)
        put_part_bar(mem, (enum tts_run_part)part,
                     peak_part_name(mem, (enum tts_run_part)part, is_backward), out);
    if (mem->parts_are_stated) {
        tts_say(out, 2,
                "predicted by 'ttscope fit'; 'other' has temporary buffers, inputs, constants "
                "and kernel binaries");
        return;
    }
    tts_say(out, 2, "'%s' is everything that %s added, including temporary buffers%s",
            part_names[of_peak], is_backward ? "the backward passes up to the peak" : phase,
            is_backward ? "; 'activations kept' is the memory that the forward pass left, "
                          "some of which may be free again at the peak"
                        : "");
    say_sizes_source(run, out);
}

/* ---- remedies ---- */

uint64_t tts_chip_dram_bytes(const struct tts_chip *chip)
{
    struct tts_pool_layout dram;
    uint64_t bytes;
    if (tts_chip_pool(chip, TTS_POOL_DRAM, &dram, NULL) != TTS_OK ||
        __builtin_mul_overflow(dram.banks, dram.bank_bytes, &bytes))
        return 0;
    return bytes <= TTS_BYTESIZE_MAX ? bytes : 0;
}

struct larger {
    const char *name;
    uint64_t bytes;
};

/* Finds presets with at least `needed` bytes, the smallest first. Of presets with equal memory
 * only the first is listed. Returns how many there are, PRESETS_SHOWN at most. */
static size_t find_larger(uint64_t needed, struct larger out[PRESETS_SHOWN])
{
    size_t count = 0;
    const struct tts_preset *preset;
    for (size_t i = 0; (preset = tts_preset_at(i)); i++) {
        struct tts_chip chip;
        if (tts_chip_preset(preset->name, &chip, NULL) != TTS_OK)
            continue;
        struct larger one = {preset->name, tts_chip_dram_bytes(&chip)};
        if (one.bytes < needed)
            continue;
        bool is_alike = false;
        for (size_t seen = 0; seen < count; seen++)
            is_alike |= out[seen].bytes == one.bytes;
        if (is_alike)
            continue;
        size_t at = count < PRESETS_SHOWN ? count++ : PRESETS_SHOWN;
        while (at > 0 && out[at - 1].bytes > one.bytes) {
            if (at < PRESETS_SHOWN)
                out[at] = out[at - 1];
            at--;
        }
        if (at < PRESETS_SHOWN)
            out[at] = one;
    }
    return count;
}

/* Returns " without --set" for the preset that the user changed, else "". */
static const char *unchanged_words(const struct tts_run_text_options *options, const char *name)
{
    const char *changed = options->changed_preset;
    return changed && strcmp(changed, name) == 0 ? " without --set" : "";
}

static void say_larger(const struct tts_run_text_options *options, int64_t needed, FILE *out)
{
    struct larger larger[PRESETS_SHOWN];
    char text[512] = "", mb[TTS_GROUPED_MAX];
    size_t count = find_larger((uint64_t)needed, larger), used = 0;
    for (size_t i = 0; i < count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s%s%s (%s" TTS_SAY_GLUE "MB)", i > 0 ? ", " : "",
                                 larger[i].name, unchanged_words(options, larger[i].name),
                                 tts_grouped_mb(mb, (int64_t)larger[i].bytes));
    if (count == 0)
        tts_say(out, 2,
                "- a larger device: no known chip has enough memory; several chips may share "
                "the model (see 'ttscope devices')");
    else
        tts_say(out, 2, "- a larger device: %s", text);
}

/* Returns the first preset with the memory that the log states for its one device, compared in
 * whole MB, as logs print them. NULL: there is none. */
static const char *find_preset_of(const struct tts_trainmem *mem)
{
    enum { MB = 1048576 };
    const struct tts_preset *preset;
    for (size_t i = 0; (preset = tts_preset_at(i)); i++) {
        struct tts_chip chip;
        if (tts_chip_preset(preset->name, &chip, NULL) == TTS_OK &&
            (int64_t)tts_chip_dram_bytes(&chip) / MB == mem->device_memory.bytes / MB)
            return preset->name;
    }
    return NULL;
}

/* Returns the device of a run as the value of --device, or "NAME" if the device is unknown. */
static const char *device_option(const struct tts_run_text_options *options,
                                 const struct tts_trainmem *mem)
{
    const char *preset = NULL;
    if (options->device)
        return options->device;
    if (mem->device_memory_source == TTS_TRAIN_FROM_LOG && mem->log_devices <= 1)
        preset = find_preset_of(mem);
    if (mem->device_memory_source == TTS_TRAIN_ASSUMED)
        preset = "n150"; /* the assumed 12 GiB are those of an n150 */
    return preset ? preset : "NAME";
}

static void put_remedies(const struct tts_run_text_options *options,
                         const struct tts_trainmem *mem, FILE *out)
{
    char mb[TTS_GROUPED_MAX] = "";
    const char *device = device_option(options, mem);
    bool has_activations = mem->activations.is_known && mem->activations.bytes > 0;
    if (has_activations)
        tts_grouped_mb(mb, mem->activations.bytes);
    fputs("  what can help:\n", out);
    tts_say(
        out, 2,
        "- recompute activations (runner_type: memory_efficient): a forward pass keeps fewer "
        "activations%s%s%s",
        has_activations ? "; in this run it kept up to " : "", mb,
        has_activations ? TTS_SAY_GLUE "MB" : "");
    tts_say(out, 2, "- a smaller batch: reduces the activations");
    tts_say(out, 2,
            "- %sgradient accumulation: the same batch in smaller steps; reduces the "
            "activations, but the gradients stay in memory between the steps",
            mem->forward_passes > 1 ? "more " : "");
    say_larger(options, mem->peak.bytes, out);
    fputs("  to see how much each change saves (CONFIG is the training file of the run):\n",
          out);
    fprintf(out, "    ttscope fit CONFIG --device %s\n", device);
    fprintf(out, "    ttscope fit CONFIG --device %s --runner memory_efficient\n", device);
}

/* ---- the verdict ---- */

/* Writes the verdict of a run whose program overwrote phases. The printed peak and the missing
 * bytes are in memory at the same time, so their sum can be too much. */
static void put_overwritten_verdict(const struct tts_named_run *run, FILE *out)
{
    char peak[TTS_GROUPED_MAX], missing[TTS_GROUPED_MAX];
    const struct tts_trainmem *mem = run->mem;
    struct tts_amount all = tts_amount_add(mem->peak, run->run->missing);
    bool is_over = all.is_known && all.bytes > mem->device_memory.bytes;
    tts_grouped_mb(peak, mem->peak.bytes);
    if (all.is_known)
        tts_say(out, 2,
                "unknown: the run needs at least %s" TTS_SAY_GLUE
                "MB, and at least %s" TTS_SAY_GLUE "MB more that the log does not show%s",
                peak, tts_grouped_mb(missing, run->run->missing.bytes),
                is_over ? "; together this is more than the device has" : "");
    else
        tts_say(out, 2,
                "unknown: the run needs at least %s" TTS_SAY_GLUE
                "MB, and the log does not show its gradients",
                peak);
}

static void put_unknown_verdict(const struct tts_named_run *run, FILE *out)
{
    const struct tts_trainmem *mem = run->mem;
    char mb[TTS_GROUPED_MAX];
    if (mem->peak.is_known && mem->device_memory.is_known && run->run->is_overwritten)
        put_overwritten_verdict(run, out);
    else if (!mem->peak.is_known)
        tts_say(out, 2, "unknown: the log does not show the peak");
    else if (!mem->device_memory.is_known)
        tts_say(
            out, 2,
            "unknown: the memory of the device is unknown; give --device or --device_memory");
    else if (!mem->peak_at_least)
        tts_say(out, 2,
                "unknown: the first iteration fits with %s" TTS_SAY_GLUE
                "MB, but later iterations need more and may not fit",
                tts_grouped_mb(mb, mem->peak.bytes));
    else
        tts_say(out, 2,
                "unknown: part of the run is missing from the log; the peak is at least "
                "%s" TTS_SAY_GLUE "MB and may be higher",
                tts_grouped_mb(mb, mem->peak.bytes));
}

static void put_fitting_verdict(const struct tts_trainmem *mem, FILE *out)
{
    char peak[TTS_GROUPED_MAX], all[TTS_GROUPED_MAX], left[TTS_GROUPED_MAX];
    int64_t free_bytes = mem->device_memory.bytes - mem->peak.bytes;
    tts_say(out, 2,
            "fits: %s" TTS_SAY_GLUE "MB of %s" TTS_SAY_GLUE "MB, %s" TTS_SAY_GLUE "MB free",
            tts_grouped_mb(peak, mem->peak.bytes),
            tts_grouped_mb(all, mem->device_memory.bytes), tts_grouped_mb(left, free_bytes));
    if (free_bytes < mem->device_memory.bytes / 100 * HEADROOM_PERCENT)
        tts_say(out, 2,
                "warning: less than %d" TTS_SAY_GLUE
                "%% is left for fragmentation, programs and traces",
                HEADROOM_PERCENT);
}

static void put_verdict_block(const struct tts_run_text_options *options,
                              const struct tts_named_run *run, FILE *out)
{
    const struct tts_trainmem *mem = run->mem;
    char peak[TTS_GROUPED_MAX], all[TTS_GROUPED_MAX], more[TTS_GROUPED_MAX];
    fputs("\n--- Verdict ---\n", out);
    if (options->limit > 0 && !mem->is_refused &&
        tts_named_run_judge(run, options->limit) == TTS_VERDICT_BAD)
        tts_say(out, 2,
                "the peak is above the limit of --fail-above: %s%% of the device memory",
                tts_share_format(more, options->limit));
    if (!mem->has_verdict) {
        put_unknown_verdict(run, out);
        return;
    }
    if (mem->fits) {
        put_fitting_verdict(mem, out);
        return;
    }
    tts_grouped_mb(peak, mem->peak.bytes);
    tts_grouped_mb(all, mem->device_memory.bytes);
    if (mem->is_refused) { /* the reason is not the size of the peak, so no remedy is known */
        tts_say(out, 2,
                run->run->whole.never_runs
                    ? "does not run: the training program refuses the configuration; the peak "
                      "of %s" TTS_SAY_GLUE "MB is below the %s" TTS_SAY_GLUE
                      "MB of the device; run 'ttscope fit CONFIG' to see why the program "
                      "refuses"
                    : "does not fit, as 'ttscope fit' predicts: the peak of %s" TTS_SAY_GLUE
                      "MB is below the %s" TTS_SAY_GLUE
                      "MB of the device, but the device has too few chips or the free memory "
                      "is in pieces; 'ttscope fit' prints the reason",
                peak, all);
        return;
    }
    tts_say(out, 2,
            "does not fit: %s%s" TTS_SAY_GLUE "MB of %s" TTS_SAY_GLUE "MB, %s" TTS_SAY_GLUE
            "MB too much",
            mem->peak_at_least ? "at least " : "", peak, all,
            tts_grouped_mb(more, mem->peak.bytes - mem->device_memory.bytes));
    put_remedies(options, mem, out);
}

/* ---- all of it ---- */

static void put_section_head(FILE *out, const struct tts_named_run *run)
{
    char name[NAME_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1], count[TTS_GROUPED_MAX];
    tts_safe_text(name, sizeof name, run->name, NAME_COLUMNS);
    fputc('\n', out);
    put_text_rule(out);
    fprintf(out, "Section: %s\n", name);
    put_text_rule(out);
    fprintf(out, "Number of parameters: %s\n",
            run->run->has_parameters ? tts_grouped_count(count, run->run->parameters)
                                     : "unknown");
}

void tts_run_text(const struct tts_named_run *run, const struct tts_run_text_options *options,
                  FILE *out)
{
    const struct tts_trainmem *mem = run->mem;
    put_section_head(out, run);
    put_size_block(out, "Model Size", &mem->model);
    say_why_unknown(out, run, mem->model.actual, TTS_RUN_PART_MODEL, "MODEL_CREATION");
    say_model_source(out, run);
    put_size_block(out, "Optimizer State", &mem->optimizer);
    say_why_unknown(out, run, mem->optimizer.actual, TTS_RUN_PART_OPTIMIZER,
                    "OPTIMIZER_CREATION");
    say_optimizer_source(out, options, run);
    put_activations_block(out, run);
    put_size_block(out, "Gradients Size", &mem->gradients);
    say_no_gradients(out, run);
    say_gradients_source(out, mem);
    put_peak_block(out, options, run);
    put_parts_block(run, out);
    put_verdict_block(options, run, out);
}

/* ---- the end ---- */

const char *tts_run_tally_words(char out[TTS_RUN_TALLY_MAX], const struct tts_run_tally *tally)
{
    static const struct {
        enum tts_verdict verdict;
        const char *one, *many;
    } words[] = {{TTS_VERDICT_BAD, "does not fit", "do not fit"},
                 {TTS_VERDICT_GOOD, "fits", "fit"},
                 {TTS_VERDICT_UNKNOWN, "unknown", "unknown"}};
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        uint64_t count = tally->by_verdict[words[i].verdict];
        if (count > 0)
            len += (size_t)snprintf(out + len, TTS_RUN_TALLY_MAX - len, "%s%" PRIu64 " %s",
                                    len > 0 ? ", " : "", count,
                                    count == 1 ? words[i].one : words[i].many);
    }
    return out;
}

static void put_run_row(const struct tts_named_run *run, FILE *out)
{
    enum { ROW_COLUMNS = 120 }; /* names may differ only near their end */
    static const char *const verdicts[] = {[TTS_VERDICT_GOOD] = "fits",
                                           [TTS_VERDICT_BAD] = "does not fit",
                                           [TTS_VERDICT_UNKNOWN] = "unknown"};
    const struct tts_trainmem *mem = run->mem;
    char peak[TTS_GROUPED_MAX + 3] = "unknown", share[TTS_GROUPED_MAX + 1] = "";
    char number[TTS_GROUPED_MAX], name[ROW_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    if (mem->peak.is_known)
        snprintf(peak, sizeof peak, "%s MB", tts_grouped_mb(number, mem->peak.bytes));
    if (mem->peak.is_known && mem->device_memory.bytes > 0)
        snprintf(share, sizeof share, "%s%%",
                 tts_grouped_percent(number, mem->peak.bytes, mem->device_memory.bytes));
    tts_safe_text(name, sizeof name, run->name, ROW_COLUMNS);
    fprintf(out, "  %14s %9s  %-12s  %s\n", peak, share, verdicts[tts_named_run_judge(run, 0)],
            name);
}

static void put_run_table(const struct tts_worst_runs *worst, FILE *out)
{
    struct tts_named_run runs[TTS_WORST_RUNS_MAX];
    struct tts_run_tally rest;
    char words[TTS_RUN_TALLY_MAX];
    size_t count = tts_worst_runs_choose(worst, TTS_WORST_RUNS_MAX, runs, &rest);
    fprintf(out, "\n--- All Runs%s ---\n", rest.runs > 0 ? ", worst first" : "");
    for (size_t i = 0; i < count; i++)
        put_run_row(&runs[i], out);
    if (rest.runs > 0)
        fprintf(out, "  %" PRIu64 " more: %s\n", rest.runs, tts_run_tally_words(words, &rest));
}

void tts_run_text_end(const struct tts_worst_runs *worst, FILE *out)
{
    if (worst->all.runs > 1)
        put_run_table(worst, out);
    fputc('\n', out);
    put_text_rule(out);
    fputs("Analysis complete\n", out);
    put_text_rule(out);
    fputc('\n', out);
}
