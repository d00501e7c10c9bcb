/* cmd_fit_inference.c: the command `fit --inference`, which predicts the memory that serving a
 * model needs. */
#include "cli/fit/fit_job.h"
#include "cli/message.h"
#include "views/fit/inference_view.h"

#include <string.h>

/* Stores an option's number in *out and the option as its origin. The number 0 means that the
 * option was not given. */
static void use_number(struct tts_inferconfig *config, enum tts_inference_field field,
                       const char *option, uint64_t number, uint64_t *out)
{
    if (number == 0)
        return;
    *out = number;
    config->origins[field] = (struct tts_inference_origin){.option = option};
}

static void use_setting(struct tts_inferconfig *config, enum tts_inference_field field,
                        const struct tts_overrides *overrides, enum tts_workload_field setting,
                        uint64_t *out)
{
    use_number(config, field, tts_setting_of(setting)->option, overrides->given[setting], out);
}

static void use_numbers(struct tts_inferconfig *config, const struct tts_job *job,
                        const struct tts_fit_values *values)
{
    struct tts_inference_config *asked = &config->config;
    const struct tts_overrides *overrides = &values->overrides;
    use_setting(config, TTS_INFERENCE_FIELD_BATCH, overrides, TTS_FIELD_BATCH, &asked->batch);
    use_setting(config, TTS_INFERENCE_FIELD_TENSOR_PARALLEL, overrides,
                TTS_FIELD_TENSOR_PARALLEL, &asked->tensor_parallel);
    use_setting(config, TTS_INFERENCE_FIELD_VOCABULARY, overrides, TTS_FIELD_VOCABULARY,
                &config->vocabulary);
    use_number(config, TTS_INFERENCE_FIELD_LENGTH,
               tts_options_has(&job->options, "length") ? "--length" : "--seq",
               overrides->given[TTS_FIELD_SEQUENCE], &asked->length);
    config->has_length = asked->length > 0;
    use_number(config, TTS_INFERENCE_FIELD_BLOCK, "--block", values->block, &asked->block);
    asked->prefill = values->prefill;
}

/* Stores the dtypes. The dtype of one part overrides the dtype of all matrices. */
static void use_dtypes(struct tts_inferconfig *config, const struct tts_fit_values *values)
{
    struct tts_inference_config *asked = &config->config;
    const struct {
        int own, all;
        enum tts_weight_dtype *dtype;
    } dtypes[] = {
        {values->attention_weights, values->weights, &asked->attention},
        {values->mlp_weights, values->weights, &asked->mlp},
        {values->head_weights, values->weights, &asked->head},
        {values->embedding_weights, -1, &asked->embedding},
        {values->cache, -1, &asked->cache},
    };
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        int dtype = dtypes[i].own >= 0 ? dtypes[i].own : dtypes[i].all;
        if (dtype >= 0)
            *dtypes[i].dtype = (enum tts_weight_dtype)dtype;
    }
    config->has_part_weights =
        values->attention_weights >= 0 || values->mlp_weights >= 0 || values->head_weights >= 0;
}

/* Finds the chip and sets its trace region. Returns TTS_EXIT_DONE, or another exit code after
 * printing a message. */
static int find_traced_chip(const struct tts_job *job, const struct tts_fit_values *values,
                            struct tts_chip *chip)
{
    struct tts_error err = {0};
    int code = tts_device_arg_resolve(&values->device, job->command, chip);
    if (code != TTS_EXIT_DONE || !values->trace_region)
        return code;
    if (tts_chip_set(chip, tts_fact_name(TTS_FACT_TRACE_REGION), values->trace_region, &err) !=
            TTS_OK ||
        tts_chip_check(chip, &err) != TTS_OK) {
        tts_message(job->command, "'--trace-region': %s", err.text);
        return TTS_EXIT_USAGE;
    }
    return TTS_EXIT_DONE;
}

static int print_inference(struct tts_job *job, const struct tts_inference_answer *answer,
                           bool is_json)
{
    struct tts_json json;
    FILE *out = tts_job_open(job, "-");
    if (!out)
        return TTS_EXIT_INPUT;
    if (is_json) {
        tts_json_init(&json, out);
        tts_inference_json(answer, &json);
    } else {
        tts_inference_text(answer, out);
    }
    return tts_inference_fits(answer) ? TTS_EXIT_DONE : TTS_EXIT_BAD_NEWS;
}

static int run_fit_inference(struct tts_job *job, void *given)
{
    const struct tts_fit_values *values = given;
    struct tts_chip chip;
    struct tts_inferconfig config = {
        .path = job->operands[0],
        .config = {.batch = 1,
                   .block = 32,
                   .tensor_parallel = 1,
                   .separate_head = values->separate_head},
    };
    struct tts_inference_answer answer = {.ask = &config, .chip = &chip};
    struct tts_error err = {0};
    use_numbers(&config, job, values);
    use_dtypes(&config, values);
    if (strcmp(values->device.name, "-") == 0 && strcmp(config.path, "-") == 0) {
        tts_message(job->command,
                    "standard input cannot be both the device file and the configuration");
        return TTS_EXIT_USAGE;
    }
    int code = find_traced_chip(job, values, &chip);
    if (code == TTS_EXIT_DONE)
        code = tts_fit_print_notes(job, &config.train.notes, tts_inferconfig_load(&config));
    if (code != TTS_EXIT_DONE)
        return code;
    if (tts_inference_plan(&config.config, &chip, NULL, &answer.plan, &err) != TTS_OK)
        return tts_job_fail(job, NULL, &err);
    if (!answer.plan.fits && tts_inference_has_chips(&answer) &&
        tts_inferconfig_lighten(&config, &chip, &answer.plan, answer.lighter,
                                &answer.lighter_count, &err) != TTS_OK)
        return tts_job_fail(job, NULL, &err);
    return print_inference(job, &answer, values->json);
}

/* The command that the row `--inference` in the table of cmd_fit.c selects. */
const struct tts_command tts_fit_inference_command = {
    .name = "fit",
    .operands = "CONFIG",
    .summary = "predict whether inference fits a device",
    .work = run_fit_inference,
    .operands_min = 1,
    .operands_max = 1,
};
