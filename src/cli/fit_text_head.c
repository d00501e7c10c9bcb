/* fit_text_head.c: what is run: model, loop, device, and where the values are from. */
#include "base/number.h"
#include "cli/fit_line.h"
#include "cli/fit_parts.h"
#include "cli/message.h"
#include "views/safe_text.h"

#include <inttypes.h>
#include <string.h>

enum { LABEL = 10, COLUMNS = 80, PATH_COLUMNS = 400 };

/* A line of words that is broken before the last column. */
struct line {
    FILE *out;
    size_t column;
};

static void begin(struct line *line, const char *label)
{
    fprintf(line->out, "  %-*s ", LABEL, label);
    line->column = LABEL + 3;
}

static void add(struct line *line, const char *words)
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

static void add_number(struct line *line, const char *before, uint64_t number,
                       const char *behind)
{
    char words[96];
    snprintf(words, sizeof words, "%s%" PRIu64 "%s", before, number, behind);
    add(line, words);
}

static void end(struct line *line)
{
    fputc('\n', line->out);
}

/* ---- what is run ---- */

static void put_model(const struct tts_trainconfig *setup, struct line *line)
{
    const struct tts_model_config *model = &setup->workload.model;
    begin(line, "model");
    add(line, tts_trainconfig_is_llama(setup) ? "llama:" : "gpt2:");
    add_number(line, "", model->blocks, model->blocks == 1 ? " block" : " blocks");
    add_number(line, "of width ", model->width, ",");
    add_number(line, "", model->heads, tts_trainconfig_is_llama(setup) ? " heads" : " heads,");
    if (tts_trainconfig_is_llama(setup))
        add_number(line, "in ", model->groups, model->groups == 1 ? " group," : " groups,");
    add_number(line, "mlp ", tts_model_mlp_width(model), ",");
    add_number(line, "sequence ", model->sequence, ",");
    add(line, model->tied ? "tied weights," : "weights not tied,");
    if (!tts_trainconfig_is_llama(setup))
        add(line, model->fixed_positions ? "fixed positions," : "trainable positions,");
    add(line, model->dropout ? "dropout" : "no dropout");
    end(line);
}

static void put_vocabulary(const struct tts_trainconfig *setup, struct line *line)
{
    const struct tts_setting_value *value = &setup->values[TTS_FIELD_VOCABULARY];
    uint64_t padded = tts_workload_vocabulary(&setup->workload);
    const char *why = value->origin == TTS_ORIGIN_OPTION ? "option --vocab" : value->why;
    begin(line, "vocabulary");
    add_number(line, "", value->number, padded == value->number ? ":" : ",");
    if (padded != value->number)
        add_number(line, "padded to ", padded, ":");
    add(line, why ? why : "");
    end(line);
}

static void put_loop(const struct tts_trainconfig *setup, struct line *line)
{
    const struct tts_workload *workload = &setup->workload;
    begin(line, "loop");
    add_number(line, "batch ", workload->batch, ",");
    if (workload->accumulate > 1)
        add_number(line, "", workload->accumulate, " micro steps,");
    add(line, tts_runner_name(workload->runner));
    add(line, "runner,");
    add(line, tts_optimizer_name(workload->optimizer.kind));
    if (workload->optimizer.momentum)
        add(line, "with momentum");
    if (workload->optimizer.amsgrad)
        add(line, "with amsgrad");
    if (workload->optimizer.kahan)
        add(line, "with Kahan sums");
    if (workload->clip)
        add(line, "and clipping");
    end(line);
    if (workload->tensor_parallel == 1 && workload->data_parallel == 1)
        return;
    begin(line, "chips");
    add_number(line, "tensor parallel ", workload->tensor_parallel, ",");
    add_number(line, "data parallel ", workload->data_parallel, ";");
    add(line, "all figures are of one chip");
    end(line);
}

static void put_recipe(const struct tts_trainconfig *setup, struct line *line)
{
    static const char *const recipes[TTS_RECIPES] = {
        [TTS_RECIPE_V1] = "v1: nano_gpt (C++) of January 2026",
        [TTS_RECIPE_V1_PYTHON] = "v1-python: train_nanogpt.py of January 2026",
        [TTS_RECIPE_HEAD] = "head: train.py of August 2026",
        [TTS_RECIPE_HEAD_CPP] = "head-c++: nano_gpt (C++) of August 2026",
        [TTS_RECIPE_MAY] = "may: train_nanogpt.py of May 2026",
        [TTS_RECIPE_MAY_CPP] = "may-c++: nano_gpt (C++) of May 2026",
    };
    begin(line, "recipe");
    add(line, recipes[setup->workload.recipe]);
    end(line);
}

static void put_device(const struct tts_fit *fit, struct line *line)
{
    char words[96], bank[TTS_NUMBER_MB_MAX], all[TTS_NUMBER_MB_MAX];
    begin(line, "device");
    snprintf(words, sizeof words, "%s: %s MB of DRAM, %" PRIu32 " banks of %s MB",
             fit->chip->name, tts_fit_mb(all, fit->capacity_bytes), fit->placement.banks,
             tts_fit_mb(bank, fit->placement.bank_bytes));
    add(line, words);
    end(line);
}

/* ---- what is assumed ---- */

static void add_default(const struct tts_trainconfig *setup, enum tts_workload_field setting,
                        const char *behind, struct line *line)
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
    snprintf(words, sizeof words, "%s %s%s", info->key, value, behind);
    add(line, words);
}

/* One chip needs no word. */
static bool is_default(const struct tts_trainconfig *setup, int setting)
{
    return setup->values[setting].origin == TTS_ORIGIN_DEFAULT &&
           setting != TTS_FIELD_TENSOR_PARALLEL && setting != TTS_FIELD_DATA_PARALLEL;
}

static void put_defaults(const struct tts_trainconfig *setup, struct line *line)
{
    size_t count = 0, shown = 0;
    for (int i = 0; i < TTS_FIELD_NONE; i++)
        count += is_default(setup, i);
    if (count == 0)
        return;
    begin(line, "defaults");
    for (int i = 0; i < TTS_FIELD_NONE; i++)
        if (is_default(setup, i))
            add_default(setup, (enum tts_workload_field)i, ++shown < count ? "," : "", line);
    end(line);
}

static void put_estimated(const struct tts_fit *fit, struct line *line)
{
    const struct tts_workload *workload = &fit->workload;
    if (!fit->is_estimated)
        return;
    begin(line, "estimated");
    if (workload->tensor_parallel > 1 || workload->data_parallel > 1) {
        add(line, "collective operations are those of a line of chips,");
        add(line, "a ring takes less;");
        add(line, "embedding and norms are whole on each chip;");
    }
    if (workload->kernel_binaries)
        add_number(line, "kernel binaries are taken as ", TTS_KERNEL_BINARY_BYTES,
                   " B for each program;");
    if (workload->clip)
        add(line, "the few tiles of clipping were counted, not measured;");
    if (tts_fit_steps_in_parts(workload))
        add(line, "the optimizer's step was counted, not measured;");
    add(line, "all else follows the rules that were checked");
    end(line);
}

static void put_file(const char *label, const char *path, FILE *out)
{
    if (path[0] == '\0')
        return;
    char text[PATH_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    tts_safe_text(text, sizeof text, tts_message_path(path), PATH_COLUMNS);
    fprintf(out, "  %-*s %s\n", LABEL, label, text);
}

static void put_count(uint64_t count, const char *before, const char *behind, FILE *out)
{
    if (count != 1)
        fprintf(out, ", %s%" PRIu64 "%s", before, count, behind);
}

/* As many as fit a line of 80 columns; a reader adds the lines up. */
static void put_predicted_parts(const struct tts_fit_peak *peak, FILE *out)
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

/* The summary covers the first iteration. These lines have the peak of all iterations, the
 * verdict and the parts of that peak, for programs that read the summary
 * (docs/design/train-log.md). */
static void put_prediction(const struct tts_fit_answer *answer, FILE *out)
{
    const struct tts_fit *fit = answer->fit;
    char peak[TTS_NUMBER_MB_MAX];
    fprintf(out, "Predicted DRAM peak: %s MB in ", tts_fit_mb(peak, fit->peak_bytes));
    tts_fit_text_place(out, fit->peak.phase, NULL, TTS_LAYER_NONE);
    const char *verdict = tts_fit_reason(answer) ? "does not fit" : "fits";
    if (answer->setup->stop_count > 0)
        verdict = "does not run on";
    fprintf(out, ", %s %s\n", verdict, fit->chip->name);
    put_predicted_parts(&fit->peak, out);
}

/* What `ttscope analyze`, and others who read logs, look for above a summary: a name, and two
 * figures as the program logs them. */
static void put_log_lines(const struct tts_fit_answer *answer, FILE *out)
{
    const struct tts_trainconfig *setup = answer->setup;
    const struct tts_workload *workload = &setup->workload;
    char all[TTS_NUMBER_MB_MAX];
    fprintf(out, "\n%s, %" PRIu64 " blocks, batch %" PRIu64 ", %s runner",
            tts_trainconfig_word(setup, TTS_FIELD_FAMILY),
            setup->values[TTS_FIELD_BLOCKS].number, setup->values[TTS_FIELD_BATCH].number,
            tts_trainconfig_word(setup, TTS_FIELD_RUNNER));
    put_count(workload->accumulate, "", " micro steps", out);
    put_count(workload->tensor_parallel, "tensor parallel ", "", out);
    put_count(workload->data_parallel, "data parallel ", "", out);
    fputc('\n', out);
    /* Those of the whole model are not what one of several chips has, and it is a chip that
     * the figures below are of: sizes expected by them would be wrong. */
    if (workload->tensor_parallel == 1)
        fprintf(out, "%s: %" PRIu64 "\n",
                tts_recipe_is_v1(setup->workload.recipe) ? "Number of parameters"
                                                         : "Total parameters",
                answer->fit->parameters);
    fprintf(out, "Available Device Memory: %s MB\n",
            tts_fit_mb(all, answer->fit->capacity_bytes));
    put_prediction(answer, out);
    fputc('\n', out);
}

void tts_fit_text_head(const struct tts_fit_answer *answer, FILE *out)
{
    const struct tts_trainconfig *setup = answer->setup;
    struct line line = {.out = out};
    fputs("training without a device\n", out);
    put_file("file", setup->file.paths[TTS_TRAINFILE_TRAINING], out);
    put_file("model file", setup->file.paths[TTS_TRAINFILE_MODEL], out);
    put_recipe(setup, &line);
    put_model(setup, &line);
    put_vocabulary(setup, &line);
    put_loop(setup, &line);
    put_device(answer->fit, &line);
    put_defaults(setup, &line);
    put_estimated(answer->fit, &line);
    put_log_lines(answer, out);
}
