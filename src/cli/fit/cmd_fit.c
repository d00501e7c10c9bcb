/* cmd_fit.c: the command `fit`, which predicts whether a training run fits a device and which
 * changes would make it fit. */
#include "cli/commands.h"
#include "cli/fit/fit_job.h"
#include "cli/message.h"
#include "cli/same_file.h"
#include "plan/configpath.h"
#include "plan/inference.h"
#include "views/fit/fit_view.h"

#include <inttypes.h>
#include <string.h>

/* ---- options ---- */

#define AT(member) offsetof(struct tts_fit_values, member)

static enum tts_status take_runner_option(void *overrides, const char *text,
                                          struct tts_error *err)
{
    return tts_overrides_set(overrides, TTS_FIELD_RUNNER, text, err);
}

static enum tts_status take_optimizer_option(void *overrides, const char *text,
                                             struct tts_error *err)
{
    return tts_overrides_set(overrides, TTS_FIELD_OPTIMIZER, text, err);
}

static enum tts_status take_momentum_option(void *overrides, const char *text,
                                            struct tts_error *err)
{
    return tts_overrides_set(overrides, TTS_FIELD_MOMENTUM, text, err);
}

static enum tts_status take_dropout_option(void *overrides, const char *text,
                                           struct tts_error *err)
{
    return tts_overrides_set(overrides, TTS_FIELD_DROPOUT, text, err);
}

static enum tts_status take_tying_option(void *overrides, const char *text,
                                         struct tts_error *err)
{
    return tts_overrides_set(overrides, TTS_FIELD_TIED, text, err);
}

static enum tts_status take_recipe_option(void *target, const char *text, struct tts_error *err)
{
    struct tts_overrides *overrides = target;
    uint64_t recipe;
    enum tts_status status = tts_words_find(&tts_words_recipes, text, &recipe, err);
    if (status != TTS_OK)
        return status;
    overrides->recipe = (enum tts_recipe)recipe;
    overrides->has_recipe = true;
    return TTS_OK;
}

static const char *const max_words[] = {
    [TTS_LARGEST_BATCH] = "batch", [TTS_LARGEST_SEQUENCE] = "seq", NULL};
static const char *const dtype_words[] = {
    [TTS_WEIGHT_BF16] = "bf16", [TTS_WEIGHT_BFP8] = "bfp8", [TTS_WEIGHT_BFP4] = "bfp4", NULL};

/* The options of both modes. A row that excludes "inference" is for training only, a row that
 * needs it is for inference only. */
static const struct tts_option options_table[] = {
    {"batch", 'b', TTS_OPTION_NUMBER, AT(overrides.given[TTS_FIELD_BATCH]), "N",
     "samples per micro step; sequences served at once", .min = 1, .max = UINT32_MAX},
    {"accumulate", 'a', TTS_OPTION_NUMBER, AT(overrides.given[TTS_FIELD_ACCUMULATE]), "N",
     "micro steps per iteration", .min = 1, .max = UINT32_MAX, .excludes = "inference"},
    {"seq", 's', TTS_OPTION_NUMBER, AT(overrides.given[TTS_FIELD_SEQUENCE]), "N",
     "tokens per sample, or of context", .min = 1, .max = UINT32_MAX},
    {"vocab", 0, TTS_OPTION_NUMBER, AT(overrides.given[TTS_FIELD_VOCABULARY]), "N",
     "size of the vocabulary", .min = 1, .max = UINT32_MAX},
    {"runner", 'r', TTS_OPTION_OTHER, AT(overrides), "NAME",
     "default, or memory_efficient (recomputes activations)", .excludes = "inference",
     .take = take_runner_option},
    {"optimizer", 'o', TTS_OPTION_OTHER, AT(overrides), "NAME",
     "optimizer: AdamW, SGD, NoOp and others", .excludes = "inference",
     .take = take_optimizer_option},
    {"momentum", 0, TTS_OPTION_OTHER, AT(overrides), "P", "momentum of SGD; 0: none",
     .excludes = "inference", .take = take_momentum_option},
    {"clip", 0, TTS_OPTION_FLAG, AT(clip), .help = "clip gradients by their norm",
     .excludes = "inference"},
    {"no-clip", 0, TTS_OPTION_FLAG, AT(clip), .help = "do not clip gradients",
     .excludes = "inference", .is_off = true},
    {"blocks", 0, TTS_OPTION_NUMBER, AT(overrides.given[TTS_FIELD_BLOCKS]), "N",
     "number of blocks", .min = 1, .max = UINT32_MAX, .excludes = "inference"},
    {"width", 0, TTS_OPTION_NUMBER, AT(overrides.given[TTS_FIELD_WIDTH]), "N",
     "width of the model (embedding_dim)", .min = 1, .max = UINT32_MAX,
     .excludes = "inference"},
    {"heads", 0, TTS_OPTION_NUMBER, AT(overrides.given[TTS_FIELD_HEADS]), "N",
     "number of attention heads", .min = 1, .max = UINT32_MAX, .excludes = "inference"},
    {"groups", 0, TTS_OPTION_NUMBER, AT(overrides.given[TTS_FIELD_GROUPS]), "N",
     "number of groups of heads that share k and v (llama)", .min = 1, .max = UINT32_MAX,
     .excludes = "inference"},
    {"mlp", 0, TTS_OPTION_NUMBER, AT(overrides.given[TTS_FIELD_MLP_WIDTH]), "N",
     "inner width of the MLP (llama)", .min = 1, .max = UINT32_MAX, .excludes = "inference"},
    {"dropout", 0, TTS_OPTION_OTHER, AT(overrides), "P", "dropout; only 0 or not 0 matters",
     .excludes = "inference", .take = take_dropout_option},
    {"weight-tying", 0, TTS_OPTION_OTHER, AT(overrides), "NAME",
     "weight tying: enabled or disabled", .excludes = "inference", .take = take_tying_option},
    {"tensor-parallel", 0, TTS_OPTION_NUMBER, AT(overrides.given[TTS_FIELD_TENSOR_PARALLEL]),
     "N", "chips that share the model", .min = 1, .max = UINT32_MAX},
    {"data-parallel", 0, TTS_OPTION_NUMBER, AT(overrides.given[TTS_FIELD_DATA_PARALLEL]), "N",
     "chips that share the batch", .min = 1, .max = UINT32_MAX, .excludes = "inference"},
    {"recipe", 0, TTS_OPTION_OTHER, AT(overrides), "NAME",
     "training program: head, head-c++, v1, ...", .excludes = "inference",
     .take = take_recipe_option},
    {"device", 'd', TTS_OPTION_TEXT, AT(device.name), "NAME",
     .help = "preset or device file; default n150"},
    {"set", 0, TTS_OPTION_OTHER, AT(device), "KEY=VALUE", "change a property of the device",
     .take = tts_device_arg_take_set},
    {"kernel-binaries", 'k', TTS_OPTION_FLAG, AT(overrides.kernel_binaries),
     .help = "also count kernel binaries in DRAM", .excludes = "inference"},
    {"max", 'm', TTS_OPTION_WORD, AT(max), .help = "find the largest value that fits",
     .words = max_words, .excludes = "inference"},
    {"record", 0, TTS_OPTION_TEXT, AT(record_path), "FILE.tts",
     "write all allocations to a recording", .excludes = "inference"},
    {"json", 'j', TTS_OPTION_FLAG, AT(json), .help = "write JSON"},
    {"inference", 0, TTS_OPTION_FLAG, AT(is_inference),
     .help = "predict inference instead of training", .mode = &tts_fit_inference_command},
    {"length", 'l', TTS_OPTION_NUMBER, AT(overrides.given[TTS_FIELD_SEQUENCE]), "N",
     "tokens of context (same as --seq)", .min = 1, .max = UINT32_MAX, .needs = "inference"},
    {"block", 0, TTS_OPTION_NUMBER, AT(block), "N",
     "round the KV cache up to a multiple of N tokens", .min = 1, .max = UINT32_MAX,
     .needs = "inference"},
    {"prefill", 0, TTS_OPTION_NUMBER, AT(prefill), "N", "tokens per prefill chunk", .min = 1,
     .max = UINT32_MAX, .needs = "inference"},
    {"weights", 'w', TTS_OPTION_WORD, AT(weights), .help = "dtype of all matrices",
     .words = dtype_words, .needs = "inference"},
    {"attention-weights", 0, TTS_OPTION_WORD, AT(attention_weights),
     .help = "dtype of the attention", .words = dtype_words, .needs = "inference"},
    {"mlp-weights", 0, TTS_OPTION_WORD, AT(mlp_weights), .help = "dtype of the MLP",
     .words = dtype_words, .needs = "inference"},
    {"head-weights", 0, TTS_OPTION_WORD, AT(head_weights), .help = "dtype of the head",
     .words = dtype_words, .needs = "inference"},
    {"embedding-weights", 0, TTS_OPTION_WORD, AT(embedding_weights),
     .help = "dtype of the embedding", .words = dtype_words, .needs = "inference"},
    {"cache", 'c', TTS_OPTION_WORD, AT(cache), .help = "dtype of the KV cache",
     .words = dtype_words, .needs = "inference"},
    {"trace-region", 0, TTS_OPTION_TEXT, AT(trace_region), "BYTES", "size of the trace region",
     .needs = "inference"},
    {"separate-head", 0, TTS_OPTION_FLAG, AT(separate_head),
     .help = "count a second table for a tied head", .needs = "inference"},
    {0},
};

/* Sets is_given for the settings that the option table stored. A NUMBER that was given is at
 * least 1. Rows with a take() function set is_given themselves. */
static void mark_given_settings(const struct tts_job *job, struct tts_fit_values *values)
{
    struct tts_overrides *overrides = &values->overrides;
    for (int i = 0; i < TTS_FIELD_NONE; i++)
        if (tts_setting_of((enum tts_workload_field)i)->kind == TTS_SETTING_NUMBER)
            overrides->is_given[i] = overrides->given[i] > 0;
    if (tts_options_has(&job->options, "clip") || tts_options_has(&job->options, "no-clip"))
        tts_overrides_give(overrides, TTS_FIELD_CLIP, values->clip);
}

/* ---- the command ---- */

struct fit_run {
    struct tts_job *job;
    const struct tts_fit_values *values;
    const char *path;
    char folder_path[TTS_CONFIG_PATH_MAX]; /* holds `path` if a folder was given */
    struct tts_trainconfig setup;
    struct tts_chip chip;
    struct tts_fit *fit;
    struct tts_fit_answer answer;
};

int tts_fit_print_notes(const struct tts_job *job, const struct tts_notes *notes,
                        enum tts_status status)
{
    for (size_t i = 0; i <= notes->count; i++) {
        bool is_note = i < notes->count;
        const struct tts_note *note = is_note ? &notes->list[i] : &notes->error;
        const char *before = is_note ? "note: " : "";
        if (!is_note && status == TTS_OK)
            break;
        if (!note->path)
            tts_message(job->command, "%s%s", before, note->text);
        else if (note->line > 0)
            tts_message(job->command, "%s%s:%" PRIu32 ": %s", before,
                        tts_message_path(note->path), note->line, note->text);
        else
            tts_message(job->command, "%s%s: %s", before, tts_message_path(note->path),
                        note->text);
    }
    if (status == TTS_OK)
        return TTS_EXIT_DONE;
    return status == TTS_E_INVALID ? TTS_EXIT_USAGE : TTS_EXIT_INPUT;
}

static bool refuse_record(const struct fit_run *run)
{
    tts_message(run->job->command, "'%s' is an input: write the recording to another file",
                run->values->record_path);
    return false;
}

/* Checks that standard input is read only once and that the recording replaces no input.
 * Returns false after printing a message. */
static bool check_fit_files(const struct fit_run *run)
{
    const char *record = run->values->record_path, *device = run->values->device.name;
    if (strcmp(run->path, "-") == 0 && strcmp(device, "-") == 0) {
        tts_message(run->job->command, "standard input cannot be both CONFIG and the device");
        return false;
    }
    if (!record)
        return true;
    if (strcmp(record, "-") == 0) {
        tts_message(run->job->command, "'--record' needs a file, not standard output");
        return false;
    }
    bool is_device =
        tts_device_arg_is_file(&run->values->device) && tts_same_file(device, record);
    return !is_device && !tts_same_file(run->path, record) ? true : refuse_record(run);
}

/* Checks that the recording does not replace the model file, which no option names. Returns
 * false after printing a message. */
static bool check_model_file(const struct fit_run *run)
{
    const char *record = run->values->record_path;
    for (unsigned i = 0; record && i < TTS_TRAINFILE_FILES; i++) {
        const char *path = run->setup.file.paths[i];
        if (path[0] != '\0' && tts_same_file(path, record))
            return refuse_record(run);
    }
    return true;
}

static enum tts_status find_fit_answer(struct fit_run *run, struct tts_error *err)
{
    const struct tts_workload *workload = &run->setup.workload;
    struct tts_fit_config config = {
        .chip = &run->chip, .record_path = run->values->record_path, .parts = true};
    struct tts_fit_answer *answer = &run->answer;
    enum tts_status status = tts_fit_new(workload, &config, NULL, &run->fit, err);
    if (status != TTS_OK)
        return status;
    answer->path = run->path;
    answer->setup = &run->setup;
    answer->fit = run->fit;
    answer->has_max = run->values->max >= 0;
    if (answer->has_max)
        answer->max = (enum tts_largest_kind)run->values->max;
    if (answer->has_max && !tts_fit_has_chips(workload, &run->chip))
        return TTS_OK; /* another batch or sequence does not change the number of chips */
    if (answer->has_max)
        return tts_largest_find(workload, &run->chip, answer->max, NULL, &answer->largest, err);
    if (tts_fit_fits(run->fit))
        return TTS_OK;
    return tts_fit_change_find(run->fit, NULL, answer->changes, &answer->change_count, err);
}

static enum tts_status print_fit_answer(const struct fit_run *run, FILE *out,
                                        struct tts_error *err)
{
    struct tts_json json;
    if (!run->values->json)
        return tts_fit_text(&run->answer, out, err);
    tts_json_init(&json, out);
    tts_fit_json(&run->answer, &json);
    return TTS_OK;
}

/* Returns true if the run fits, or with --max if any batch or sequence fits. A run that the
 * training program refuses is never good. */
static bool is_good_answer(const struct tts_fit_answer *answer)
{
    if (answer->has_max && answer->setup->stop_count == 0)
        return answer->largest.value > 0;
    return tts_fit_reason(answer) == NULL;
}

/* Prints an error of plan and returns the exit code. A device that lacks a fact is a wrong
 * command line, all other errors are wrong input. */
static int fail_fit(const struct fit_run *run, const struct tts_error *err)
{
    if (err->status != TTS_E_NOT_FOUND)
        return tts_job_fail(run->job, err->status == TTS_E_IO ? NULL : run->path, err);
    tts_message(run->job->command, "device '%s': %s", run->values->device.name, err->text);
    return TTS_EXIT_USAGE;
}

static int answer_fit(struct fit_run *run)
{
    const struct tts_fit_values *values = run->values;
    struct tts_notes *notes = &run->setup.notes;
    struct tts_error err = {0};
    FILE *out;
    int code = tts_device_arg_resolve(&values->device, run->job->command, &run->chip);
    if (code != TTS_EXIT_DONE)
        return code;
    enum tts_status status = tts_configpath_resolve(&run->path, run->folder_path, notes);
    if (status == TTS_OK)
        status = tts_trainconfig_load(&run->setup, run->path, &values->overrides);
    code = tts_fit_print_notes(run->job, notes, status);
    if (code != TTS_EXIT_DONE)
        return code;
    if (!check_model_file(run))
        return TTS_EXIT_USAGE;
    if (find_fit_answer(run, &err) != TTS_OK)
        return fail_fit(run, &err);
    if (!(out = tts_job_open(run->job, "-")))
        return TTS_EXIT_INPUT;
    if (print_fit_answer(run, out, &err) != TTS_OK)
        return fail_fit(run, &err);
    return is_good_answer(&run->answer) ? TTS_EXIT_DONE : TTS_EXIT_BAD_NEWS;
}

static int run_fit(struct tts_job *job, void *values)
{
    struct fit_run run = {.job = job, .values = values, .path = job->operands[0]};
    mark_given_settings(job, values);
    int code = check_fit_files(&run) ? answer_fit(&run) : TTS_EXIT_USAGE;
    tts_fit_free(run.fit);
    return code;
}

static const struct tts_fit_values fit_defaults = {
    .device.name = "n150",
    .overrides.recipe = TTS_RECIPE_HEAD,
    .max = -1,
    .weights = -1,
    .attention_weights = -1,
    .mlp_weights = -1,
    .head_weights = -1,
    .embedding_weights = -1,
    .cache = -1,
};

const struct tts_command tts_fit_command = {
    .name = "fit",
    .operands = "CONFIG",
    .summary = "predict whether training or inference fits a device",
    .work = run_fit,
    .options = options_table,
    .defaults = &fit_defaults,
    .values_bytes = sizeof(struct tts_fit_values),
    .operands_min = 1,
    .operands_max = 1,
};
