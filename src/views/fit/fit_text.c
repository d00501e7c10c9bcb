/* fit_text.c: the answer for people. tts_fit_text(), at the end, prints the sections in order:
 * a refusal, the configuration, the published summary, the peak, the verdict and its remedies.
 */
#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "views/fit/fit_view.h"
#include "views/fit/fit_words.h"
#include "views/percent.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- the peak ---- */

enum { BAR = 30, OPS_MAX = 128, OPS_SHOWN = 8, RANGES_SHOWN = 8 };

struct op_sum {
    const char *op;
    uint64_t bytes, buffers;
};

/* Returns the number of a later iteration, as text, or NULL if `phase` belongs to the first
 * iteration or comes before it. */
static const char *later_iteration(const char *phase)
{
    const size_t len = sizeof TTS_PHASE_LATER_ITERATION - 1;
    return strncmp(phase, TTS_PHASE_LATER_ITERATION, len) == 0 ? phase + len : NULL;
}

/* Prints a place, such as "FORWARD_PASS, in sdpa of block 3". `op` NULL and `layer`
 * TTS_LAYER_NONE are left out. */
static void print_fit_place(FILE *out, const char *phase, const char *op, int32_t layer)
{
    const char *later = later_iteration(phase);
    if (later)
        fprintf(out, "iteration %s", later);
    else
        fputs(phase, out);
    if (op)
        fprintf(out, ", in %s", op);
    if (layer != TTS_LAYER_NONE)
        fprintf(out, " of block %" PRId32, layer);
}

/* ---- the peak by part ---- */

static void print_peak_part(const struct tts_fit_peak *peak, enum tts_tensor_part part,
                            FILE *out)
{
    uint64_t bytes = peak->part_bytes[part];
    char megabytes[TTS_NUMBER_MB_MAX], share[TTS_FIT_SHARE_MAX], bar[BAR + 1];
    if (bytes == 0)
        return;
    /* A part that is not empty has a bar of at least one character. */
    size_t len = (size_t)((double)bytes / (double)peak->bytes * BAR + 0.5);
    len = len < 1 ? 1 : len > BAR ? BAR : len;
    memset(bar, '#', len);
    bar[len] = '\0';
    char name[24];
    snprintf(name, sizeof name, "%s", tts_part_name(part));
    for (char *c = name; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    fprintf(out, "  %-16s %10s MB  %7s  %s\n", name, tts_fit_mb(megabytes, bytes),
            tts_fit_share(share, bytes, peak->bytes), bar);
}

/* Prints the parts, the largest first. */
static void print_peak_parts(const struct tts_fit_peak *peak, FILE *out)
{
    bool is_done[TTS_PARTS] = {false};
    for (int i = 0; i < TTS_PARTS; i++) {
        int best = -1;
        for (int part = 0; part < TTS_PARTS; part++)
            if (!is_done[part] && (best < 0 || peak->part_bytes[part] > peak->part_bytes[best]))
                best = part;
        is_done[best] = true;
        print_peak_part(peak, (enum tts_tensor_part)best, out);
    }
}

/* ---- the peak by operation ---- */

/* Adds up the buffers of a part by operation, over all layers. Returns the number of
 * operations. The last of OPS_MAX sums collects all further operations. */
static size_t sum_part_ops(const struct tts_fit_peak *peak, enum tts_tensor_part part,
                           struct op_sum sums[OPS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < peak->part_count; i++) {
        const struct tts_fit_part *one = &peak->parts[i];
        const char *op = one->op ? one->op : "(outside any operation)";
        size_t at = 0;
        if (one->part != part)
            continue;
        while (at < count && strcmp(sums[at].op, op) != 0)
            at++;
        if (at == OPS_MAX)
            op = sums[--at].op = "(others)";
        else if (at == count)
            sums[count++] = (struct op_sum){.op = op};
        sums[at].bytes += one->bytes;
        sums[at].buffers += one->buffers;
    }
    return count;
}

static void print_op_sum(const struct op_sum *sum, FILE *out)
{
    char megabytes[TTS_NUMBER_MB_MAX];
    fprintf(out, "    %-30.30s %10s MB in %" PRIu64 " buffer%s\n", sum->op,
            tts_fit_mb(megabytes, sum->bytes), sum->buffers, sum->buffers == 1 ? "" : "s");
}

static void print_part_ops(const struct tts_fit_peak *peak, enum tts_tensor_part part,
                           FILE *out)
{
    struct op_sum sums[OPS_MAX];
    char megabytes[TTS_NUMBER_MB_MAX];
    size_t count = sum_part_ops(peak, part, sums);
    if (count == 0)
        return;
    fprintf(out, "\n  %s by operation\n", tts_part_name(part));
    for (size_t shown = 0; shown < OPS_SHOWN && shown < count; shown++) {
        size_t best = shown;
        for (size_t i = shown + 1; i < count; i++)
            best = sums[i].bytes > sums[best].bytes ? i : best;
        struct op_sum largest = sums[best];
        sums[best] = sums[shown];
        sums[shown] = largest;
        print_op_sum(&largest, out);
    }
    uint64_t rest = 0;
    for (size_t i = OPS_SHOWN; i < count; i++)
        rest += sums[i].bytes;
    if (count > OPS_SHOWN)
        fprintf(out, "    %-30s %10s MB\n", "others", tts_fit_mb(megabytes, rest));
}

/* ---- the peak by block ---- */

static void print_block_range(uint64_t first, uint64_t last, uint64_t bytes, FILE *out)
{
    char name[64], megabytes[TTS_NUMBER_MB_MAX];
    if (first == last)
        snprintf(name, sizeof name, "block %" PRIu64, first);
    else
        snprintf(name, sizeof name, "blocks %" PRIu64 " to %" PRIu64, first, last);
    fprintf(out, "    %-30s %10s MB%s\n", name, tts_fit_mb(megabytes, bytes),
            first == last ? "" : " each");
}

/* Prints one line for each range of neighbouring blocks with equal bytes. */
static void print_block_ranges(const uint64_t *bytes, uint64_t blocks, FILE *out)
{
    uint64_t first = 0, shown = 0;
    for (uint64_t i = 1; i <= blocks; i++) {
        if (i < blocks && bytes[i] == bytes[first])
            continue;
        if (bytes[first] > 0 && shown++ < RANGES_SHOWN)
            print_block_range(first, i - 1, bytes[first], out);
        first = i;
    }
    if (shown > RANGES_SHOWN)
        fprintf(out, "    %" PRIu64 " more lines are in the output of --json\n",
                shown - RANGES_SHOWN);
}

static void print_activation_blocks(const struct tts_fit *fit, uint64_t *bytes, FILE *out)
{
    const struct tts_fit_peak *peak = &fit->peak;
    uint64_t blocks = fit->workload.model.blocks, outside = 0;
    char megabytes[TTS_NUMBER_MB_MAX];
    for (size_t i = 0; i < peak->part_count; i++) {
        const struct tts_fit_part *one = &peak->parts[i];
        if (one->part != TTS_PART_ACTIVATIONS)
            continue;
        if (one->layer >= 0 && (uint64_t)one->layer < blocks)
            bytes[one->layer] += one->bytes;
        else
            outside += one->bytes;
    }
    fputs("\n  activations by block\n", out);
    print_block_ranges(bytes, blocks, out);
    if (outside > 0)
        fprintf(out, "    %-30s %10s MB\n", "outside the blocks",
                tts_fit_mb(megabytes, outside));
}

static enum tts_status print_activations(const struct tts_fit *fit, FILE *out,
                                         struct tts_error *err)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    uint64_t blocks = fit->workload.model.blocks, *bytes = NULL;
    if (fit->peak.part_bytes[TTS_PART_ACTIVATIONS] == 0)
        return TTS_OK;
    size_t size = (size_t)blocks * sizeof *bytes;
    if (blocks <= SIZE_MAX / sizeof *bytes)
        bytes = alloc->alloc(alloc->ctx, size);
    if (!bytes)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    memset(bytes, 0, size);
    print_activation_blocks(fit, bytes, out);
    alloc->free(alloc->ctx, bytes, size);
    return TTS_OK;
}

/* ---- the whole peak ---- */

/* Returns the bytes that are live after the first iteration and were not live before it. */
static uint64_t stayed_dram_bytes(const struct tts_fit *fit)
{
    for (size_t i = 0; i < tts_capture_count(fit->capture); i++) {
        const struct tts_phase *phase = tts_capture_at(fit->capture, i);
        int64_t before = phase->usage.pools[TTS_POOL_DRAM].cumulative_current_bytes;
        if (strcmp(phase->name, "OPTIMIZER_CREATION") == 0)
            return before >= 0 && fit->final_bytes > (uint64_t)before
                       ? fit->final_bytes - (uint64_t)before
                       : 0;
    }
    return 0;
}

/* Explains a peak in a later iteration. The summary covers the first iteration only. */
static void print_later_peak(const struct tts_fit *fit, FILE *out)
{
    char first[TTS_NUMBER_MB_MAX], stayed[TTS_NUMBER_MB_MAX];
    if (!later_iteration(fit->peak.phase))
        return;
    tts_say(out, 2,
            "this peak is not in the summary above, which covers only the first iteration "
            "(peak %s MB); besides parameters and optimizer state, %s" TTS_SAY_GLUE
            "MB stay allocated after the first iteration%s",
            tts_fit_mb(first, fit->first_peak_bytes),
            tts_fit_mb(stayed, stayed_dram_bytes(fit)),
            fit->peak.part_bytes[TTS_PART_GRADIENTS] > 0 ? ", mostly gradients" : "");
}

static enum tts_status print_fit_peak(const struct tts_fit *fit, FILE *out,
                                      struct tts_error *err)
{
    const struct tts_fit_peak *peak = &fit->peak;
    char megabytes[TTS_NUMBER_MB_MAX];
    fprintf(out, "peak: %s MB in ", tts_fit_mb(megabytes, peak->bytes));
    print_fit_place(out, peak->phase, peak->op, peak->layer);
    fputc('\n', out);
    print_later_peak(fit, out);
    print_peak_parts(peak, out);
    print_part_ops(peak, TTS_PART_ACTIVATIONS, out);
    enum tts_status status = print_activations(fit, out, err);
    if (status == TTS_OK)
        print_part_ops(peak, TTS_PART_TEMPORARIES, out);
    return status;
}

/* ---- the configuration ---- */

enum { LABEL = 10, COLUMNS = 80, PATH_COLUMNS = 400 };

/* A line with a label. Words that would pass column COLUMNS start a new line. */
struct head_line {
    FILE *out;
    size_t column;
};

static void begin_head_line(struct head_line *line, const char *label)
{
    fprintf(line->out, "  %-*s ", LABEL, label);
    line->column = LABEL + 3;
}

static void add_head_words(struct head_line *line, const char *words)
{
    size_t len = strlen(words);
    bool is_first = line->column == LABEL + 3;
    if (!is_first && line->column + 1 + len > COLUMNS) {
        fprintf(line->out, "\n  %-*s ", LABEL, "");
        line->column = LABEL + 3;
        is_first = true;
    }
    fprintf(line->out, "%s%s", is_first ? "" : " ", words);
    line->column += len + !is_first;
}

static void add_head_number(struct head_line *line, const char *before, uint64_t number,
                            const char *after)
{
    char words[96];
    snprintf(words, sizeof words, "%s%" PRIu64 "%s", before, number, after);
    add_head_words(line, words);
}

static void end_head_line(struct head_line *line)
{
    fputc('\n', line->out);
}

/* ---- the configuration: model, loop, device ---- */

static void print_fit_model(const struct tts_trainconfig *setup, struct head_line *line)
{
    const struct tts_model_config *model = &setup->workload.model;
    begin_head_line(line, "model");
    add_head_words(line, tts_trainconfig_is_llama(setup) ? "llama:" : "gpt2:");
    add_head_number(line, "", model->blocks, model->blocks == 1 ? " block" : " blocks");
    add_head_number(line, "of width ", model->width, ",");
    add_head_number(line, "", model->heads,
                    tts_trainconfig_is_llama(setup) ? " heads" : " heads,");
    if (tts_trainconfig_is_llama(setup))
        add_head_number(line, "in ", model->groups,
                        model->groups == 1 ? " group," : " groups,");
    add_head_number(line, "mlp ", tts_model_mlp_width(model), ",");
    add_head_number(line, "sequence ", model->sequence, ",");
    add_head_words(line, model->tied ? "tied weights," : "weights not tied,");
    if (!tts_trainconfig_is_llama(setup))
        add_head_words(line,
                       model->fixed_positions ? "fixed positions," : "trainable positions,");
    add_head_words(line, model->dropout ? "dropout" : "no dropout");
    end_head_line(line);
}

static void print_fit_vocabulary(const struct tts_trainconfig *setup, struct head_line *line)
{
    const struct tts_setting_value *value = &setup->values[TTS_FIELD_VOCABULARY];
    uint64_t padded = tts_workload_vocabulary(&setup->workload);
    const char *why = value->origin == TTS_ORIGIN_OPTION ? "option --vocab" : value->why;
    begin_head_line(line, "vocabulary");
    add_head_number(line, "", value->number, padded == value->number ? ":" : ",");
    if (padded != value->number)
        add_head_number(line, "padded to ", padded, ":");
    add_head_words(line, why ? why : "");
    end_head_line(line);
}

static void print_fit_loop(const struct tts_trainconfig *setup, struct head_line *line)
{
    const struct tts_workload *workload = &setup->workload;
    begin_head_line(line, "loop");
    add_head_number(line, "batch ", workload->batch, workload->data_parallel > 1 ? "" : ",");
    if (workload->data_parallel > 1)
        add_head_number(line, "in total (", workload->batch / workload->data_parallel,
                        " per chip),");
    if (workload->accumulate > 1)
        add_head_number(line, "", workload->accumulate, " micro steps,");
    add_head_words(line, tts_runner_name(workload->runner));
    add_head_words(line, "runner,");
    add_head_words(line, tts_optimizer_name(workload->optimizer.kind));
    if (workload->optimizer.momentum)
        add_head_words(line, "with momentum");
    if (workload->optimizer.amsgrad)
        add_head_words(line, "with amsgrad");
    if (workload->optimizer.kahan)
        add_head_words(line, "with Kahan sums");
    if (workload->clip)
        add_head_words(line, "and clipping");
    end_head_line(line);
    if (workload->tensor_parallel == 1 && workload->data_parallel == 1)
        return;
    begin_head_line(line, "chips");
    add_head_number(line, "tensor parallel ", workload->tensor_parallel, ",");
    add_head_number(line, "data parallel ", workload->data_parallel, ";");
    add_head_words(line, "all figures are per chip");
    end_head_line(line);
}

static void print_fit_recipe(const struct tts_trainconfig *setup, struct head_line *line)
{
    static const char *const recipes[TTS_RECIPES] = {
        [TTS_RECIPE_V1] = "v1: nano_gpt (C++) of January 2026",
        [TTS_RECIPE_V1_PYTHON] = "v1-python: train_nanogpt.py of January 2026",
        [TTS_RECIPE_HEAD] = "head: train.py of August 2026",
        [TTS_RECIPE_HEAD_CPP] = "head-c++: nano_gpt (C++) of August 2026",
        [TTS_RECIPE_MAY] = "may: train_nanogpt.py of May 2026",
        [TTS_RECIPE_MAY_CPP] = "may-c++: nano_gpt (C++) of May 2026",
    };
    begin_head_line(line, "recipe");
    add_head_words(line, recipes[setup->workload.recipe]);
    end_head_line(line);
}

static void print_fit_device(const struct tts_fit *fit, struct head_line *line)
{
    char words[96], bank[TTS_NUMBER_MB_MAX], all[TTS_NUMBER_MB_MAX];
    begin_head_line(line, "device");
    snprintf(words, sizeof words, "%s: %s MB of DRAM, %" PRIu32 " banks of %s MB",
             fit->chip->name, tts_fit_mb(all, fit->capacity_bytes), fit->placement.banks,
             tts_fit_mb(bank, fit->placement.bank_bytes));
    add_head_words(line, words);
    end_head_line(line);
}

/* ---- the configuration: defaults and estimates ---- */

static void add_head_default(const struct tts_trainconfig *setup,
                             enum tts_workload_field setting, const char *after,
                             struct head_line *line)
{
    const struct tts_setting *info = tts_setting_of(setting);
    uint64_t number = setup->values[setting].number;
    char words[96], digits[24];
    const char *value = digits;
    snprintf(digits, sizeof digits, "%" PRIu64, number);
    if (info->kind == TTS_SETTING_WORD)
        value = tts_trainconfig_word(setup, setting);
    else if (info->kind == TTS_SETTING_BOOL)
        value = number ? "on" : "off";
    snprintf(words, sizeof words, "%s %s%s", info->key, value, after);
    add_head_words(line, words);
}

/* Returns true if the setting is listed under "defaults". The two parallel settings are not
 * listed: their default is one chip. */
static bool is_default_setting(const struct tts_trainconfig *setup, int setting)
{
    return setup->values[setting].origin == TTS_ORIGIN_DEFAULT &&
           setting != TTS_FIELD_TENSOR_PARALLEL && setting != TTS_FIELD_DATA_PARALLEL;
}

static void print_fit_defaults(const struct tts_trainconfig *setup, struct head_line *line)
{
    size_t count = 0, shown = 0;
    for (int i = 0; i < TTS_FIELD_NONE; i++)
        count += is_default_setting(setup, i);
    if (count == 0)
        return;
    begin_head_line(line, "defaults");
    for (int i = 0; i < TTS_FIELD_NONE; i++)
        if (is_default_setting(setup, i))
            add_head_default(setup, (enum tts_workload_field)i, ++shown < count ? "," : "",
                             line);
    end_head_line(line);
}

static void print_fit_estimated(const struct tts_fit *fit, struct head_line *line)
{
    const struct tts_workload *workload = &fit->workload;
    if (!fit->is_estimated)
        return;
    begin_head_line(line, "estimated");
    if (workload->tensor_parallel > 1 || workload->data_parallel > 1) {
        add_head_words(line, "collective operations are counted for chips in a line;");
        add_head_words(line, "chips in a ring need less;");
        add_head_words(line, "each chip is assumed to hold the whole embedding and all norms;");
    }
    if (workload->kernel_binaries)
        add_head_number(line, "kernel binaries are assumed to be ", TTS_KERNEL_BINARY_BYTES,
                        " B for each program;");
    if (workload->clip)
        add_head_words(line, "the few tiles that clipping adds were calculated, not measured;");
    if (tts_fit_steps_in_parts(workload))
        add_head_words(line,
                       "the buffers of the optimizer's step were calculated, not measured;");
    add_head_words(line, "everything else follows rules that were checked on devices");
    end_head_line(line);
}

/* Copies a path as safe text. The path "-" becomes "<stdin>". */
static void copy_safe_path(char *out, size_t capacity, const char *path, size_t columns)
{
    tts_safe_text(out, capacity, strcmp(path, "-") == 0 ? "<stdin>" : path, columns);
}

static void print_fit_file(const char *label, const char *path, FILE *out)
{
    if (path[0] == '\0')
        return;
    char text[PATH_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    copy_safe_path(text, sizeof text, path, PATH_COLUMNS);
    fprintf(out, "  %-*s %s\n", LABEL, label, text);
}

static void print_unless_one(uint64_t count, const char *before, const char *after, FILE *out)
{
    if (count != 1)
        fprintf(out, ", %s%" PRIu64 "%s", before, count, after);
}

/* Prints the parts of the peak in lines of at most 80 columns, each with the same heading. A
 * program that reads the lines collects the parts of all of them. */
static void print_predicted_parts(const struct tts_fit_peak *peak, FILE *out)
{
    static const char heading[] = "Predicted DRAM parts: ";
    char megabytes[TTS_NUMBER_MB_MAX], words[64];
    size_t column = 0;
    for (int part = 0; part < TTS_PARTS; part++) {
        if (peak->part_bytes[part] == 0)
            continue;
        snprintf(words, sizeof words, "%s %s MB", tts_part_name((enum tts_tensor_part)part),
                 tts_fit_mb(megabytes, peak->part_bytes[part]));
        bool is_new = column == 0 || column + 2 + strlen(words) > COLUMNS;
        fprintf(out, "%s%s%s",
                !is_new      ? ", "
                : column > 0 ? "\n"
                             : "",
                is_new ? heading : "", words);
        column = (is_new ? sizeof heading - 1 : column + 2) + strlen(words);
    }
    if (column > 0)
        fputc('\n', out);
}

/* Prints the peak of all iterations, the verdict and the parts of that peak, for programs that
 * read the summary, which covers the first iteration only (docs/design/train-log.md). */
static void print_prediction(const struct tts_fit_answer *answer, FILE *out)
{
    const struct tts_fit *fit = answer->fit;
    char peak[TTS_NUMBER_MB_MAX];
    fprintf(out, "Predicted DRAM peak: %s MB in ", tts_fit_mb(peak, fit->peak_bytes));
    print_fit_place(out, fit->peak.phase, NULL, TTS_LAYER_NONE);
    const char *verdict = tts_fit_reason(answer) ? "does not fit" : "fits";
    if (answer->setup->stop_count > 0)
        verdict = "does not run on";
    fprintf(out, ", %s %s\n", verdict, fit->chip->name);
    print_predicted_parts(&fit->peak, out);
}

/* Prints the lines that `ttscope analyze` and other readers of logs look for above a summary: a
 * title, and the number of parameters and the device memory as the training program logs them.
 */
static void print_fit_log_lines(const struct tts_fit_answer *answer, FILE *out)
{
    const struct tts_trainconfig *setup = answer->setup;
    const struct tts_workload *workload = &setup->workload;
    char all[TTS_NUMBER_MB_MAX];
    fprintf(out, "\n%s, %" PRIu64 " blocks, batch %" PRIu64 ", %s runner",
            tts_trainconfig_word(setup, TTS_FIELD_FAMILY),
            setup->values[TTS_FIELD_BLOCKS].number, setup->values[TTS_FIELD_BATCH].number,
            tts_trainconfig_word(setup, TTS_FIELD_RUNNER));
    print_unless_one(workload->accumulate, "", " micro steps", out);
    print_unless_one(workload->tensor_parallel, "tensor parallel ", "", out);
    print_unless_one(workload->data_parallel, "data parallel ", "", out);
    fputc('\n', out);
    /* With tensor parallel a chip has only a share of the parameters. A reader that compares
     * the number of all parameters with the figures of one chip would expect wrong sizes. */
    if (workload->tensor_parallel == 1)
        fprintf(out, "%s: %" PRIu64 "\n",
                tts_recipe_is_v1(setup->workload.recipe) ? "Number of parameters"
                                                         : "Total parameters",
                answer->fit->parameters);
    fprintf(out, "Available Device Memory: %s MB\n",
            tts_fit_mb(all, answer->fit->capacity_bytes));
    print_prediction(answer, out);
    fputc('\n', out);
}

static void print_fit_head(const struct tts_fit_answer *answer, FILE *out)
{
    const struct tts_trainconfig *setup = answer->setup;
    struct head_line line = {.out = out};
    fprintf(out, "simulated training%s%s, without a device\n",
            answer->has_max ? " with the configured " : "",
            !answer->has_max                   ? ""
            : answer->max == TTS_LARGEST_BATCH ? "batch"
                                               : "sequence");
    print_fit_file("file", setup->file.paths[TTS_TRAINFILE_TRAINING], out);
    print_fit_file("model file", setup->file.paths[TTS_TRAINFILE_MODEL], out);
    print_fit_recipe(setup, &line);
    print_fit_model(setup, &line);
    print_fit_vocabulary(setup, &line);
    print_fit_loop(setup, &line);
    print_fit_device(answer->fit, &line);
    print_fit_defaults(setup, &line);
    print_fit_estimated(answer->fit, &line);
    print_fit_log_lines(answer, out);
}

/* ---- the verdict ---- */

/* Returns true if the banks have too little memory. If a buffer fails although this is false,
 * the free memory is in pieces. */
static bool is_over_bank(const struct tts_fit_placement *placement)
{
    return placement->peak_bank_bytes > placement->bank_bytes;
}

const char *tts_fit_reason(const struct tts_fit_answer *answer)
{
    const struct tts_fit *fit = answer->fit;
    if (answer->setup->stop_count > 0)
        return "refused";
    if (!tts_fit_has_chips(&fit->workload, fit->chip))
        return "chips";
    if (fit->placement.failures == 0)
        return NULL;
    return is_over_bank(&fit->placement) ? "memory" : "fragmentation";
}

static struct tts_fit_banks fit_banks_of(const struct tts_fit_placement *placement)
{
    return (struct tts_fit_banks){.count = placement->banks,
                                  .bank_bytes = placement->bank_bytes,
                                  .peak_bank_bytes = placement->peak_bank_bytes};
}

static void print_fit_banks(const struct tts_fit_placement *placement, FILE *out)
{
    char free_mb[TTS_NUMBER_MB_MAX], largest[TTS_NUMBER_MB_MAX], share[TTS_PERCENT_MAX];
    const struct tts_fit_banks banks = fit_banks_of(placement);
    tts_fit_say_each_bank(out, &banks);
    const char *when = placement->failures > 0 ? "at the first failure" : "at the peak";
    if (placement->free_bytes == 0) {
        fprintf(out, "  fragmentation %s: nothing is free\n", when);
        return;
    }
    tts_say(out, 2,
            "fragmentation %s: %s; each bank has %s MB free, at most %s MB in one piece", when,
            tts_percent_format(share, placement->free_bytes - placement->largest_free_bytes,
                               placement->free_bytes),
            tts_fit_mb(free_mb, placement->free_bytes),
            tts_fit_mb(largest, placement->largest_free_bytes));
}

static void print_fit_failure(const struct tts_fit_placement *placement, FILE *out)
{
    const struct tts_fit_failure *first = &placement->first;
    char text[TTS_FAILURE_TEXT_MAX];
    fputs("  first allocation that fails: in ", out);
    print_fit_place(out, first->phase, first->op, first->layer);
    fputc('\n', out);
    tts_say_sentence(out, "    ", tts_failure_text(&first->failure, text));
    if (tts_failure_deficit_is_known(&first->failure))
        fprintf(out, "    missing: %" PRIu64 " B in each bank\n",
                tts_failure_deficit(&first->failure));
    if (placement->failures > 1)
        fprintf(out, "  %" PRIu64 " later allocation%s\n", placement->failures - 1,
                placement->failures == 2 ? " fails, too" : "s fail, too");
}

/* Explains a failure that happens only because the free memory is in pieces. */
static void print_fit_pieces(const struct tts_fit_placement *placement, FILE *out)
{
    char asked[TTS_NUMBER_MB_MAX], free_mb[TTS_NUMBER_MB_MAX], largest[TTS_NUMBER_MB_MAX];
    const char *op = placement->first.op;
    tts_say(out, 2,
            "%s asks for %s MB of each bank; %s MB are free there, but at most %s MB in one "
            "piece",
            op ? op : "the program", tts_fit_mb(asked, placement->first.failure.block_bytes),
            tts_fit_mb(free_mb, placement->free_bytes),
            tts_fit_mb(largest, placement->largest_free_bytes));
}

static struct tts_fit_too_few too_few_chips_of(const struct tts_fit *fit)
{
    return (struct tts_fit_too_few){.chip = fit->chip,
                                    .needed = tts_fit_chips(&fit->workload),
                                    .peak_bytes = fit->peak_bytes,
                                    .capacity_bytes = fit->capacity_bytes,
                                    .is_estimated = fit->is_estimated,
                                    .is_too_much = fit->placement.failures > 0};
}

/* Formats the verdict, the first line of the answer. Returns `out`. */
static const char *format_fit_verdict(char out[TTS_FIT_VERDICT_MAX], const struct tts_fit *fit)
{
    const char *mark = fit->is_estimated ? " (estimated)" : "", *name = fit->chip->name;
    const struct tts_fit_too_few few = too_few_chips_of(fit);
    char peak[TTS_NUMBER_MB_MAX], all[TTS_NUMBER_MB_MAX], share[TTS_PERCENT_MAX];
    tts_fit_mb(peak, fit->peak_bytes);
    tts_fit_mb(all, fit->capacity_bytes);
    if (!tts_fit_has_chips(&fit->workload, fit->chip))
        return tts_fit_too_few_text(out, &few);
    if (tts_fit_fits(fit))
        snprintf(out, TTS_FIT_VERDICT_MAX, "fits %s%s: %s MB of %s MB, %s free", name, mark,
                 peak, all,
                 tts_percent_format(share, fit->capacity_bytes - fit->peak_bytes,
                                    fit->capacity_bytes));
    else
        snprintf(out, TTS_FIT_VERDICT_MAX, "does not fit %s%s: %s MB of %s MB%s", name, mark,
                 peak, all,
                 is_over_bank(&fit->placement) ? "" : ", but the free memory is in pieces");
    return out;
}

static void print_no_fit(const struct tts_fit *fit, FILE *out)
{
    const struct tts_fit_placement *placement = &fit->placement;
    const struct tts_fit_banks banks = fit_banks_of(placement);
    const struct tts_fit_too_few few = too_few_chips_of(fit);
    char verdict[TTS_FIT_VERDICT_MAX];
    if (!tts_fit_has_chips(&fit->workload, fit->chip)) {
        tts_fit_say_too_few(out, &few);
    } else {
        fprintf(out, "%s\n", format_fit_verdict(verdict, fit));
        if (is_over_bank(placement))
            tts_fit_say_missing(out, &banks);
        else
            print_fit_pieces(placement, out);
    }
    if (placement->failures > 0)
        print_fit_failure(placement, out);
    print_fit_banks(placement, out);
}

static void print_good_fit(const struct tts_fit *fit, FILE *out)
{
    const struct tts_fit_placement *placement = &fit->placement;
    char verdict[TTS_FIT_VERDICT_MAX];
    fprintf(out, "%s\n", format_fit_verdict(verdict, fit));
    print_fit_banks(placement, out);
    if (!fit->is_settled)
        tts_say(
            out, 2,
            "only the first %" PRIu64 " iterations were checked: %s replaces its buffers "
            "in every step, so the gaps between buffers move and a later iteration may fail",
            fit->iterations, tts_optimizer_name(fit->workload.optimizer.kind));
    const struct tts_fit_banks banks = fit_banks_of(placement);
    tts_fit_say_headroom(out, &banks);
}

static void print_fit_verdict(const struct tts_fit_answer *answer, FILE *out)
{
    const struct tts_fit *fit = answer->fit;
    fputc('\n', out);
    if (answer->setup->stop_count > 0)
        fputs("if changed as stated at the top: ", out);
    if (tts_fit_fits(fit))
        print_good_fit(fit, out);
    else
        print_no_fit(fit, out);
}

/* ---- what would change it ---- */

/* Prints the costs of a change, one on each line. `costs` separates them by "; ". */
static void print_change_costs(const char *costs, FILE *out)
{
    fputs("    cost: ", out);
    for (const char *next; (next = strstr(costs, "; ")); costs = next + 2)
        fprintf(out, "%.*s;\n          ", (int)(next - costs), costs);
    fprintf(out, "%s\n", costs);
}

static void print_fit_change(const struct tts_fit_change *change, FILE *out)
{
    char peak[TTS_NUMBER_MB_MAX], less[TTS_NUMBER_MB_MAX];
    fprintf(out, "  %s\n",
            change->options[0] ? change->options : "(a change of the configuration file)");
    const char *fits = change->fits ? "fits" : "does not fit";
    if (change->saves_bytes > 0)
        tts_say(out, 4, "%s: the peak falls by %s MB, to %s MB", fits,
                tts_number_format_mb(less, change->saves_bytes, false),
                tts_fit_mb(peak, change->peak_bytes));
    else
        tts_say(out, 4, "%s: the peak is %s MB", fits, tts_fit_mb(peak, change->peak_bytes));
    if (change->saves_activation_bytes > 0)
        tts_say(out, 4, "each forward pass keeps %s MB less",
                tts_number_format_mb(less, change->saves_activation_bytes, false));
    print_change_costs(change->cost, out);
}

static void print_fit_changes(const struct tts_fit_answer *answer, FILE *out)
{
    for (size_t i = 0; i < answer->change_count; i++) {
        const struct tts_fit_change *change = &answer->changes[i];
        if (i == 0 && change->fits)
            fputs("\nchanges that make it fit, sorted by their cost to the training:\n", out);
        if (!change->fits && (i == 0 || change[-1].fits))
            fputs(i == 0 ? "\nnone of these changes makes it fit:\n"
                         : "\nthese changes are not enough:\n",
                  out);
        print_fit_change(change, out);
    }
}

/* ---- the largest ---- */

/* Explains a peak that does not fit although it is below the capacity of the device. */
#define ROOM_IN_PIECES                                                                         \
    ": buffers are rounded up to whole pages, and the free memory is in pieces"

static const char *max_noun(const struct tts_fit_answer *answer)
{
    return answer->max == TTS_LARGEST_BATCH ? "batch" : "sequence";
}

/* Formats the answer to --max. Returns `out`. */
static const char *format_largest(char out[TTS_FIT_VERDICT_MAX],
                                  const struct tts_fit_answer *answer)
{
    const struct tts_fit *fit = answer->fit;
    const struct tts_largest *largest = &answer->largest;
    const char *noun = max_noun(answer), *name = fit->chip->name;
    char peak[TTS_NUMBER_MB_MAX], all[TTS_NUMBER_MB_MAX];
    tts_fit_mb(peak, largest->peak_bytes);
    if (largest->value > 0)
        snprintf(out, TTS_FIT_VERDICT_MAX, "largest %s that fits %s: %" PRIu64 ", peak %s MB",
                 noun, name, largest->value, peak);
    else if (!tts_fit_has_chips(&fit->workload, fit->chip))
        snprintf(out, TTS_FIT_VERDICT_MAX, "no %s fits %s: the device has too few chips", noun,
                 name);
    else
        snprintf(out, TTS_FIT_VERDICT_MAX,
                 "no %s fits %s: the smallest %s needs %s MB of %s MB%s", noun, name, noun,
                 peak, tts_fit_mb(all, fit->capacity_bytes),
                 largest->peak_bytes <= fit->capacity_bytes ? ROOM_IN_PIECES : "");
    return out;
}

static void print_next_larger(const struct tts_fit_answer *answer, FILE *out)
{
    const struct tts_largest *largest = &answer->largest;
    const char *what = max_noun(answer);
    char peak[TTS_NUMBER_MB_MAX];
    if (largest->next == 0) {
        fprintf(out, "  values above %d were not tried\n", TTS_LARGEST_MAX);
        return;
    }
    if (largest->next_peak_bytes > INT64_MAX) {
        fprintf(out, "  %s %" PRIu64 " does not fit: it needs more than 2^63 bytes\n", what,
                largest->next);
        return;
    }
    fprintf(out, "  %s %" PRIu64 " does not fit: %s MB\n", what, largest->next,
            tts_fit_mb(peak, largest->next_peak_bytes));
    if (largest->next_peak_bytes <= answer->fit->capacity_bytes)
        tts_say(out, 2,
                "this size is below the capacity%s; near this limit a smaller value may not "
                "fit either",
                ROOM_IN_PIECES);
}

static void print_fit_largest(const struct tts_fit_answer *answer, FILE *out)
{
    const struct tts_largest *largest = &answer->largest;
    char text[TTS_FIT_VERDICT_MAX];
    fputc('\n', out);
    tts_say(out, 0, "%s", format_largest(text, answer));
    if (largest->value > 0)
        print_next_larger(answer, out);
    else if (tts_fit_has_chips(&answer->fit->workload, answer->fit->chip))
        fputs("  without --max, the command lists changes that would help\n", out);
}

/* ---- a run that its program refuses ---- */

static void print_fit_stops(const struct tts_trainconfig *setup, FILE *out)
{
    fputs("does not run: the training program refuses this configuration\n", out);
    for (size_t i = 0; i < setup->stop_count; i++) {
        const struct tts_train_stop *stop = &setup->stops[i];
        char path[TTS_TRAINFILE_TEXT_MAX * TTS_SAFE_COLUMN_BYTES + 1] = "", line[24] = "";
        if (stop->line > 0) {
            copy_safe_path(path, sizeof path, tts_trainconfig_path(setup, stop->file),
                           TTS_TRAINFILE_TEXT_MAX);
            snprintf(line, sizeof line, ":%" PRIu32 ": ", stop->line);
        }
        tts_say(out, 2, "%s%s%s", path, line, stop->reason);
        tts_say(out, 2, "the figures below are for %s", stop->figures);
    }
    fputc('\n', out);
}

/* ---- all of it ---- */

/* Prints the answer in one line. */
static void print_fit_headline(const struct tts_fit_answer *answer, FILE *out)
{
    const struct tts_fit *fit = answer->fit;
    const struct tts_fit_change *change = &answer->changes[0];
    char text[TTS_FIT_VERDICT_MAX], limit[64];
    struct tts_fit_headline line = {0};
    if (answer->has_max) {
        line.verdict = format_largest(text, answer);
    } else {
        line.verdict = format_fit_verdict(text, fit);
        line.peak_bytes = fit->peak_bytes;
        line.capacity_bytes = fit->capacity_bytes;
        if (tts_fit_has_chips(&fit->workload, fit->chip))
            line.banks = fit_banks_of(&fit->placement);
        if (answer->change_count > 0 && change->fits)
            line.remedy =
                change->options[0] ? change->options : "a change of the configuration file";
        if (tts_fit_fits(fit) && !fit->is_settled) {
            snprintf(limit, sizeof limit, "only the first %" PRIu64 " iterations were checked",
                     fit->iterations);
            line.limit = limit;
        }
    }
    tts_fit_say_headline(out, &line);
}

enum tts_status tts_fit_text(const struct tts_fit_answer *answer, FILE *out,
                             struct tts_error *err)
{
    const struct tts_fit *fit = answer->fit;
    if (answer->setup->stop_count > 0)
        print_fit_stops(answer->setup, out);
    else
        print_fit_headline(answer, out);
    print_fit_head(answer, out);
    enum tts_status status = tts_capture_print(fit->capture, out, err);
    if (status != TTS_OK)
        return status;
    fputs(TTS_FIT_L1_UNKNOWN "\n\n", out);
    status = print_fit_peak(fit, out, err);
    if (status != TTS_OK)
        return status;
    print_fit_verdict(answer, out);
    if (answer->has_max)
        print_fit_largest(answer, out);
    else
        print_fit_changes(answer, out);
    return TTS_OK;
}
