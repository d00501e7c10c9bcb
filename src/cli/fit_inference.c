#include "cli/fit_inference.h"

#include "base/nearest.h"
#include "base/number.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/fit_inference_parts.h"
#include "cli/message.h"
#include "cli/options.h"

#include <inttypes.h>
#include <string.h>

static const char command[] = TTS_INFERENCE_COMMAND;

/* --- options ---------------------------------------------------------------------------- */

enum {
    OPTION_INFERENCE,
    OPTION_SEPARATE_HEAD,
    OPTION_JSON,
    OPTION_BATCH, /* numbers from here */
    OPTION_LENGTH,
    OPTION_SEQ,
    OPTION_BLOCK,
    OPTION_PREFILL,
    OPTION_TENSOR_PARALLEL,
    OPTION_VOCAB,
    OPTION_WEIGHTS, /* dtypes from here */
    OPTION_ATTENTION_WEIGHTS,
    OPTION_MLP_WEIGHTS,
    OPTION_EMBEDDING_WEIGHTS,
    OPTION_HEAD_WEIGHTS,
    OPTION_CACHE,
    OPTION_TRACE_REGION,
    OPTION_DEVICE,
    OPTION_SET,
    OPTION_OF_TRAINING, /* from here on: names only */
};

static const struct tts_option options_table[] = {
    [OPTION_INFERENCE] = {"inference", 0, .type = TTS_OPTION_FLAG},
    [OPTION_SEPARATE_HEAD] = {"separate-head", 0, .type = TTS_OPTION_FLAG},
    [OPTION_JSON] = {"json", 'j', .type = TTS_OPTION_FLAG},
    [OPTION_BATCH] = {"batch", 'b', .type = TTS_OPTION_TEXT},
    [OPTION_LENGTH] = {"length", 'l', .type = TTS_OPTION_TEXT},
    [OPTION_SEQ] = {"seq", 's', .type = TTS_OPTION_TEXT},
    [OPTION_BLOCK] = {"block", 0, .type = TTS_OPTION_TEXT},
    [OPTION_PREFILL] = {"prefill", 0, .type = TTS_OPTION_TEXT},
    [OPTION_TENSOR_PARALLEL] = {"tensor-parallel", 0, .type = TTS_OPTION_TEXT},
    [OPTION_VOCAB] = {"vocab", 0, .type = TTS_OPTION_TEXT},
    [OPTION_WEIGHTS] = {"weights", 'w', .type = TTS_OPTION_TEXT},
    [OPTION_ATTENTION_WEIGHTS] = {"attention-weights", 0, .type = TTS_OPTION_TEXT},
    [OPTION_MLP_WEIGHTS] = {"mlp-weights", 0, .type = TTS_OPTION_TEXT},
    [OPTION_EMBEDDING_WEIGHTS] = {"embedding-weights", 0, .type = TTS_OPTION_TEXT},
    [OPTION_HEAD_WEIGHTS] = {"head-weights", 0, .type = TTS_OPTION_TEXT},
    [OPTION_CACHE] = {"cache", 'c', .type = TTS_OPTION_TEXT},
    [OPTION_TRACE_REGION] = {"trace-region", 0, .type = TTS_OPTION_TEXT},
    [OPTION_DEVICE] = {"device", 'd', .type = TTS_OPTION_TEXT},
    [OPTION_SET] = {"set", 0, .type = TTS_OPTION_TEXT},
    [OPTION_OF_TRAINING] = {"runner", 'r', .type = TTS_OPTION_TEXT},
    {"optimizer", 'o', .type = TTS_OPTION_TEXT},
    {"accumulate", 'a', .type = TTS_OPTION_TEXT},
    {"blocks", 0, .type = TTS_OPTION_TEXT},
    {"width", 0, .type = TTS_OPTION_TEXT},
    {"heads", 0, .type = TTS_OPTION_TEXT},
    {"groups", 0, .type = TTS_OPTION_TEXT},
    {"mlp", 0, .type = TTS_OPTION_TEXT},
    {"dropout", 0, .type = TTS_OPTION_TEXT},
    {"weight-tying", 0, .type = TTS_OPTION_TEXT},
    {"momentum", 0, .type = TTS_OPTION_TEXT},
    {"clip", 0, .type = TTS_OPTION_FLAG},
    {"no-clip", 0, .type = TTS_OPTION_FLAG},
    {"data-parallel", 0, .type = TTS_OPTION_TEXT},
    {"recipe", 0, .type = TTS_OPTION_TEXT},
    {"kernel-binaries", 'k', .type = TTS_OPTION_FLAG},
    {"max", 'm', .type = TTS_OPTION_TEXT},
    {"record", 0, .type = TTS_OPTION_TEXT},
    {0},
};

static const char *const option_names[] = {
    [OPTION_BATCH] = "--batch",
    [OPTION_LENGTH] = "--length",
    [OPTION_SEQ] = "--seq",
    [OPTION_BLOCK] = "--block",
    [OPTION_PREFILL] = "--prefill",
    [OPTION_TENSOR_PARALLEL] = "--tensor-parallel",
    [OPTION_VOCAB] = "--vocab",
    [OPTION_WEIGHTS] = "--weights",
    [OPTION_CACHE] = "--cache",
    [OPTION_ATTENTION_WEIGHTS] = "--attention-weights",
    [OPTION_MLP_WEIGHTS] = "--mlp-weights",
    [OPTION_EMBEDDING_WEIGHTS] = "--embedding-weights",
    [OPTION_HEAD_WEIGHTS] = "--head-weights",
};

struct given {
    enum tts_weight_dtype dtypes[OPTION_CACHE + 1];
    bool has_dtype[OPTION_CACHE + 1];
};

static bool set_number(struct tts_inferconfig *ask, int option, const char *value)
{
    struct tts_inference_config *config = &ask->config;
    uint64_t *const numbers[] = {
        [OPTION_BATCH] = &config->batch,
        [OPTION_LENGTH] = &config->length,
        [OPTION_SEQ] = &config->length,
        [OPTION_BLOCK] = &config->block,
        [OPTION_PREFILL] = &config->prefill,
        [OPTION_TENSOR_PARALLEL] = &config->tensor_parallel,
        [OPTION_VOCAB] = &ask->vocabulary,
    };
    static const enum tts_inference_field fields[] = {
        [OPTION_BATCH] = TTS_INFERENCE_FIELD_BATCH,
        [OPTION_LENGTH] = TTS_INFERENCE_FIELD_LENGTH,
        [OPTION_SEQ] = TTS_INFERENCE_FIELD_LENGTH,
        [OPTION_BLOCK] = TTS_INFERENCE_FIELD_BLOCK,
        [OPTION_TENSOR_PARALLEL] = TTS_INFERENCE_FIELD_TENSOR_PARALLEL,
        [OPTION_VOCAB] = TTS_INFERENCE_FIELD_VOCABULARY,
    };
    const char *name = option_names[option];
    enum tts_status status = tts_number_parse(value, strlen(value), numbers[option]);
    if (status == TTS_OK && (*numbers[option] == 0 || *numbers[option] > INT64_MAX))
        status = TTS_E_RANGE;
    if (status != TTS_OK) {
        tts_message(command, "'%.40s' is not for '%s', expected a whole number, 1 to %" PRId64,
                    value, name, INT64_MAX);
        return false;
    }
    if (option != OPTION_PREFILL)
        ask->origins[fields[option]] = (struct tts_inference_origin){.option = name};
    ask->has_length = ask->has_length || numbers[option] == &config->length;
    return true;
}

static bool set_dtype(struct given *given, int option, const char *value)
{
    struct tts_nearest nearest = {.word = value};
    for (int i = 0; i < TTS_WEIGHT_DTYPES; i++) {
        const char *name = tts_weight_dtype_name((enum tts_weight_dtype)i);
        tts_nearest_offer(&nearest, name);
        if (strcmp(name, value) != 0)
            continue;
        given->dtypes[option] = (enum tts_weight_dtype)i;
        given->has_dtype[option] = true;
        return true;
    }
    tts_message(command, "'%s' is bf16, bfp8 or bfp4, not '%.40s'%s%s%s", option_names[option],
                value, nearest.best ? " (nearest is '" : "", nearest.best ? nearest.best : "",
                nearest.best ? "')" : "");
    return false;
}

/* False: said what is wrong. */
static bool set_option(struct tts_inference_ask *ask, struct given *given, int option,
                       const char *value)
{
    if (option >= OPTION_OF_TRAINING) {
        tts_message(command, "option '--%s' is of training, not with '--inference'",
                    options_table[option].name);
        return false;
    }
    if (option >= OPTION_BATCH && option <= OPTION_VOCAB)
        return set_number(&ask->in, option, value);
    if (option >= OPTION_WEIGHTS && option <= OPTION_CACHE)
        return set_dtype(given, option, value);
    if (option == OPTION_SET)
        return tts_device_arg_set(&ask->device, command, value);
    if (option == OPTION_SEPARATE_HEAD)
        ask->in.config.separate_head = true;
    else if (option == OPTION_JSON)
        ask->json = true;
    else if (option == OPTION_TRACE_REGION)
        ask->trace_region = value;
    else if (option == OPTION_DEVICE)
        ask->device.name = value;
    return true;
}

/* The special ones go before the general one, wherever they stand. */
static void put_dtypes(struct tts_inferconfig *ask, const struct given *given)
{
    struct tts_inference_config *config = &ask->config;
    const struct {
        int option;
        enum tts_weight_dtype *dtype;
        bool is_matrix;
    } dtypes[] = {
        {OPTION_ATTENTION_WEIGHTS, &config->attention, true},
        {OPTION_MLP_WEIGHTS, &config->mlp, true},
        {OPTION_HEAD_WEIGHTS, &config->head, true},
        {OPTION_EMBEDDING_WEIGHTS, &config->embedding, false},
        {OPTION_CACHE, &config->cache, false},
    };
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        bool has_all = dtypes[i].is_matrix && given->has_dtype[OPTION_WEIGHTS];
        bool has_own = given->has_dtype[dtypes[i].option];
        ask->has_part_weights |= has_own && dtypes[i].is_matrix;
        if (has_own)
            *dtypes[i].dtype = given->dtypes[dtypes[i].option];
        else if (has_all)
            *dtypes[i].dtype = given->dtypes[OPTION_WEIGHTS];
    }
}

/* TTS_OPTIONS_END when there is something to do, else TTS_OPTIONS_STOP and the exit code. */
static int read_options(struct tts_inference_ask *ask, char **argv, int *exit_code)
{
    struct tts_options options = tts_options_begin(command, options_table, argv);
    struct given given = {0};
    int option;
    *exit_code = TTS_EXIT_USAGE;
    while ((option = tts_options_next(&options)) >= 0)
        if (!set_option(ask, &given, option, options.value))
            return TTS_OPTIONS_STOP;
    if (option == TTS_OPTIONS_STOP) {
        *exit_code = options.exit_code;
        return option;
    }
    if (options.operand_count != 1) {
        *exit_code =
            tts_options_bad_operands(&options, options.operand_count ? NULL : "CONFIG");
        return TTS_OPTIONS_STOP;
    }
    ask->in.path = options.operands[0];
    put_dtypes(&ask->in, &given);
    if (strcmp(ask->device.name, "-") == 0 && strcmp(ask->in.path, "-") == 0) {
        tts_message(command,
                    "standard input cannot be both the device file and the configuration");
        return TTS_OPTIONS_STOP;
    }
    return TTS_OPTIONS_END;
}

/* --- the answer ------------------------------------------------------------------------- */

bool tts_inference_has_chips(const struct tts_inference_answer *answer)
{
    return answer->ask->config.tensor_parallel <= answer->chip->fact[TTS_FACT_CHIPS].value;
}

bool tts_inference_fits(const struct tts_inference_answer *answer)
{
    return answer->plan.fits && tts_inference_has_chips(answer);
}

/* The chip with its trace region. */
static int find_chip(struct tts_inference_ask *ask, struct tts_chip *chip)
{
    struct tts_error err = {0};
    int code = tts_device_arg_resolve(&ask->device, command, chip);
    if (code != TTS_EXIT_DONE || !ask->trace_region)
        return code;
    if (tts_chip_set(chip, tts_fact_name(TTS_FACT_TRACE_REGION), ask->trace_region, &err) !=
            TTS_OK ||
        tts_chip_check(chip, &err) != TTS_OK) {
        tts_message(command, "'--trace-region': %s", err.text);
        return TTS_EXIT_USAGE;
    }
    return TTS_EXIT_DONE;
}

static int fail(const struct tts_error *err)
{
    tts_message(command, "%s", err->text);
    return TTS_EXIT_INPUT;
}

static int print(const struct tts_inference_answer *answer, bool is_json)
{
    struct tts_outfile file;
    struct tts_json json;
    struct tts_error err = {0};
    if (tts_outfile_open(&file, "-", &err) != TTS_OK)
        return fail(&err);
    if (is_json) {
        tts_json_init(&json, file.stream);
        tts_inference_json(answer, &json);
    } else {
        tts_inference_text(answer, file.stream);
    }
    if (tts_outfile_commit(&file, &err) != TTS_OK)
        return fail(&err);
    return tts_inference_fits(answer) ? TTS_EXIT_DONE : TTS_EXIT_BAD_NEWS;
}

static int run(struct tts_inference_ask *ask, char **argv)
{
    struct tts_chip chip;
    struct tts_inference_answer answer = {.ask = &ask->in, .chip = &chip};
    struct tts_error err = {0};
    int code;
    if (read_options(ask, argv, &code) == TTS_OPTIONS_STOP)
        return code;
    code = find_chip(ask, &chip);
    if (code != TTS_EXIT_DONE)
        return code;
    code = tts_fit_print_notes(&ask->in.train.notes, tts_inferconfig_load(&ask->in));
    if (code != TTS_EXIT_DONE)
        return code;
    if (tts_inference_plan(&ask->in.config, &chip, NULL, &answer.plan, &err) != TTS_OK)
        return fail(&err);
    if (!answer.plan.fits && tts_inference_has_chips(&answer) &&
        tts_inferconfig_lighten(&ask->in, &chip, &answer.plan, answer.lighter,
                                &answer.lighter_count, &err) != TTS_OK)
        return fail(&err);
    return print(&answer, ask->json);
}

int tts_fit_inference(int argc, char **argv)
{
    (void)argc;
    struct tts_inference_ask ask = {
        .device = {.name = "n150"},
        .in = {.config = {.batch = 1, .block = 32, .tensor_parallel = 1}}};
    return run(&ask, argv);
}
