#include "base/number.h"
#include "cli/command.h"
#include "cli/fit_parts.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/same_file.h"

#include <inttypes.h>
#include <string.h>

static const char command[] = TTS_FIT_COMMAND;

enum {
    OPTION_BATCH,
    OPTION_SEQ,
    OPTION_RUNNER,
    OPTION_VOCAB,
    OPTION_OPTIMIZER,
    OPTION_ACCUMULATE,
    OPTION_BLOCKS,
    OPTION_WIDTH,
    OPTION_HEADS,
    OPTION_GROUPS,
    OPTION_MLP,
    OPTION_DROPOUT,
    OPTION_WEIGHT_TYING,
    OPTION_MOMENTUM,
    OPTION_CLIP,
    OPTION_NO_CLIP,
    OPTION_TENSOR_PARALLEL,
    OPTION_DATA_PARALLEL,
    OPTION_RECIPE,
    OPTION_DEVICE,
    OPTION_SET,
    OPTION_KERNEL_BINARIES,
    OPTION_MAX,
    OPTION_RECORD,
    OPTION_JSON,
    OPTION_INFERENCE,
    OPTION_OF_INFERENCE, /* from here on: names only */
};

static const struct tts_option options_table[] = {
    [OPTION_BATCH] = {"batch", 'b', true},
    [OPTION_SEQ] = {"seq", 's', true},
    [OPTION_RUNNER] = {"runner", 'r', true},
    [OPTION_VOCAB] = {"vocab", 0, true},
    [OPTION_OPTIMIZER] = {"optimizer", 'o', true},
    [OPTION_ACCUMULATE] = {"accumulate", 'a', true},
    [OPTION_BLOCKS] = {"blocks", 0, true},
    [OPTION_WIDTH] = {"width", 0, true},
    [OPTION_HEADS] = {"heads", 0, true},
    [OPTION_GROUPS] = {"groups", 0, true},
    [OPTION_MLP] = {"mlp", 0, true},
    [OPTION_DROPOUT] = {"dropout", 0, true},
    [OPTION_WEIGHT_TYING] = {"weight-tying", 0, true},
    [OPTION_MOMENTUM] = {"momentum", 0, true},
    [OPTION_CLIP] = {"clip", 0, false},
    [OPTION_NO_CLIP] = {"no-clip", 0, false},
    [OPTION_TENSOR_PARALLEL] = {"tensor-parallel", 0, true},
    [OPTION_DATA_PARALLEL] = {"data-parallel", 0, true},
    [OPTION_RECIPE] = {"recipe", 0, true},
    [OPTION_DEVICE] = {"device", 'd', true},
    [OPTION_SET] = {"set", 0, true},
    [OPTION_KERNEL_BINARIES] = {"kernel-binaries", 'k', false},
    [OPTION_MAX] = {"max", 'm', true},
    [OPTION_RECORD] = {"record", 0, true},
    [OPTION_JSON] = {"json", 'j', false},
    [OPTION_INFERENCE] = {"inference", 0, false}, /* seen before; here for its name */
    [OPTION_OF_INFERENCE] = {"length", 'l', true},
    {"block", 0, true},
    {"prefill", 0, true},
    {"weights", 'w', true},
    {"attention-weights", 0, true},
    {"mlp-weights", 0, true},
    {"embedding-weights", 0, true},
    {"head-weights", 0, true},
    {"cache", 'c', true},
    {"trace-region", 0, true},
    {"separate-head", 0, false},
    {0},
};

static void give(struct tts_fit_options *options, enum tts_fit_setting setting, uint64_t value)
{
    options->is_given[setting] = true;
    options->given[setting] = value;
}

/* The functions below: false, said what is wrong. */

static bool set_number(struct tts_fit_options *options, enum tts_fit_setting setting,
                       const char *text)
{
    uint64_t value;
    if (tts_number_parse(text, strlen(text), &value) != TTS_OK || value == 0 ||
        value > UINT32_MAX) {
        tts_message(command, "'%.40s' is not for '%s', expected a whole number, 1 to %" PRIu32,
                    text, tts_fit_setting(setting)->option, UINT32_MAX);
        return false;
    }
    give(options, setting, value);
    return true;
}

static bool set_word(const struct tts_fit_words *words, const char *text, uint64_t *out)
{
    char error[TTS_FIT_WORD_ERROR_MAX];
    if (tts_fit_word_find(words, text, out))
        return true;
    tts_message(command, "%s", tts_fit_word_error(words, text, error));
    return false;
}

static bool set_setting_word(struct tts_fit_options *options, enum tts_fit_setting setting,
                             const struct tts_fit_words *words, const char *text)
{
    uint64_t value;
    if (!set_word(words, text, &value))
        return false;
    give(options, setting, value);
    return true;
}

static bool set_optimizer(struct tts_fit_options *options, const char *text)
{
    const char *nearest;
    if (!tts_fit_refuse_optimizer(text, &nearest))
        return set_setting_word(options, TTS_FIT_OPTIMIZER, &tts_fit_optimizers, text);
    tts_message(command, "the optimizer '%.40s' is not modelled, %s", text, nearest);
    return false;
}

/* From 0 to below 1; what counts is whether it is 0. */
static bool set_probability(struct tts_fit_options *options, enum tts_fit_setting setting,
                            const char *text)
{
    size_t digits = 0;
    bool is_behind_point = false, is_zero = true, is_good = true;
    for (const char *c = text; *c; c++) {
        if (*c == '.' && !is_behind_point) {
            is_behind_point = true;
            continue;
        }
        is_good &= *c == '0' || (is_behind_point && *c >= '1' && *c <= '9');
        is_zero &= *c == '0';
        digits++;
    }
    if (!is_good || digits == 0) {
        tts_message(command, "'%.40s' is not a number for '%s', expected 0 to below 1, as 0.1",
                    text, tts_fit_setting(setting)->option);
        return false;
    }
    give(options, setting, !is_zero);
    return true;
}

static bool set_recipe(struct tts_fit_options *options, const char *text)
{
    uint64_t value;
    if (!set_word(&tts_fit_recipes, text, &value))
        return false;
    options->recipe = (enum tts_recipe)value;
    options->has_recipe = true;
    return true;
}

static bool set_max(struct tts_fit_options *options, const char *text)
{
    static const char *const names[] = {"batch", "seq"};
    static const struct tts_fit_words words = {"quantity", names, 2};
    uint64_t value;
    if (!set_word(&words, text, &value))
        return false;
    options->has_max = true;
    options->max = (enum tts_largest_kind)value;
    return true;
}

/* The settings that are plain numbers; COUNT: it is not one of them. */
static enum tts_fit_setting number_of(int option)
{
    static const enum tts_fit_setting numbers[] = {
        [OPTION_BATCH] = TTS_FIT_BATCH,
        [OPTION_SEQ] = TTS_FIT_SEQUENCE,
        [OPTION_VOCAB] = TTS_FIT_VOCABULARY,
        [OPTION_ACCUMULATE] = TTS_FIT_ACCUMULATE,
        [OPTION_BLOCKS] = TTS_FIT_BLOCKS,
        [OPTION_WIDTH] = TTS_FIT_WIDTH,
        [OPTION_HEADS] = TTS_FIT_HEADS,
        [OPTION_GROUPS] = TTS_FIT_GROUPS,
        [OPTION_MLP] = TTS_FIT_MLP,
        [OPTION_TENSOR_PARALLEL] = TTS_FIT_TENSOR_PARALLEL,
        [OPTION_DATA_PARALLEL] = TTS_FIT_DATA_PARALLEL,
    };
    bool is_listed = option >= 0 && (size_t)option < sizeof numbers / sizeof numbers[0];
    /* What is not named in the list is 0, which no number has. */
    return is_listed && numbers[option] != TTS_FIT_FAMILY ? numbers[option]
                                                          : TTS_FIT_SETTING_COUNT;
}

static bool set_flag(struct tts_fit_options *options, int option)
{
    if (option == OPTION_CLIP || option == OPTION_NO_CLIP)
        give(options, TTS_FIT_CLIP, option == OPTION_CLIP);
    options->kernel_binaries |= option == OPTION_KERNEL_BINARIES;
    options->json |= option == OPTION_JSON;
    return true;
}

static bool set_option(struct tts_fit_options *options, int option, const char *value)
{
    enum tts_fit_setting setting = number_of(option);
    if (option >= OPTION_OF_INFERENCE) {
        tts_message(command, "option '--%s' goes only with '--inference'",
                    options_table[option].name);
        return false;
    }
    if (setting != TTS_FIT_SETTING_COUNT)
        return set_number(options, setting, value);
    switch (option) {
    case OPTION_RUNNER:
        return set_setting_word(options, TTS_FIT_RUNNER, &tts_fit_runners, value);
    case OPTION_WEIGHT_TYING:
        return set_setting_word(options, TTS_FIT_TIED, &tts_fit_tying, value);
    case OPTION_OPTIMIZER:
        return set_optimizer(options, value);
    case OPTION_DROPOUT:
        return set_probability(options, TTS_FIT_DROPOUT, value);
    case OPTION_MOMENTUM:
        return set_probability(options, TTS_FIT_MOMENTUM, value);
    case OPTION_RECIPE:
        return set_recipe(options, value);
    case OPTION_MAX:
        return set_max(options, value);
    case OPTION_SET:
        return tts_device_arg_set(&options->device, command, value);
    case OPTION_DEVICE:
        options->device.name = value;
        return true;
    case OPTION_RECORD:
        options->record_path = value;
        return true;
    default:
        return set_flag(options, option);
    }
}

/* What does not go together. */
static bool check(const struct tts_fit_options *options)
{
    const char *record = options->record_path, *device = options->device.name;
    if (strcmp(options->path, "-") == 0 && strcmp(device, "-") == 0) {
        tts_message(command, "standard input cannot be both CONFIG and the device");
        return false;
    }
    if (!record)
        return true;
    if (strcmp(record, "-") == 0) {
        tts_message(command, "'--record' needs a file, not standard output");
        return false;
    }
    bool is_device = tts_device_arg_is_file(&options->device) && tts_same_file(device, record);
    if (!is_device && !tts_same_file(options->path, record))
        return true;
    tts_message(command, "'%s' is an input, the recording needs another file", record);
    return false;
}

int tts_fit_options_read(struct tts_fit_options *options, char **argv, int *exit_code)
{
    struct tts_options parser = tts_options_begin(command, options_table, argv);
    int option;
    *options = (struct tts_fit_options){.recipe = TTS_RECIPE_HEAD, .device.name = "n150"};
    *exit_code = TTS_EXIT_USAGE;
    while ((option = tts_options_next(&parser)) >= 0)
        if (!set_option(options, option, parser.value))
            return TTS_OPTIONS_STOP;
    if (option == TTS_OPTIONS_STOP) {
        *exit_code = parser.exit_code;
        return option;
    }
    if (parser.operand_count != 1) {
        *exit_code = tts_options_bad_operands(&parser, parser.operand_count ? NULL : "CONFIG");
        return TTS_OPTIONS_STOP;
    }
    options->path = parser.operands[0];
    return check(options) ? TTS_OPTIONS_END : TTS_OPTIONS_STOP;
}
