#include "cli/command.h"
#include "cli/fit_parts.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/same_file.h"

#include <string.h>

static const char command[] = TTS_FIT_COMMAND;

/* Rows without an enum constant are settings of plan/settings.h. */
enum {
    OPTION_NO_CLIP = 15,
    OPTION_RECIPE = 18,
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
    {"batch", 'b', .type = TTS_OPTION_TEXT},
    {"seq", 's', .type = TTS_OPTION_TEXT},
    {"runner", 'r', .type = TTS_OPTION_TEXT},
    {"vocab", 0, .type = TTS_OPTION_TEXT},
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
    [OPTION_NO_CLIP] = {"no-clip", 0, .type = TTS_OPTION_FLAG},
    {"tensor-parallel", 0, .type = TTS_OPTION_TEXT},
    {"data-parallel", 0, .type = TTS_OPTION_TEXT},
    [OPTION_RECIPE] = {"recipe", 0, .type = TTS_OPTION_TEXT},
    [OPTION_DEVICE] = {"device", 'd', .type = TTS_OPTION_TEXT},
    [OPTION_SET] = {"set", 0, .type = TTS_OPTION_TEXT},
    [OPTION_KERNEL_BINARIES] = {"kernel-binaries", 'k', .type = TTS_OPTION_FLAG},
    [OPTION_MAX] = {"max", 'm', .type = TTS_OPTION_TEXT},
    [OPTION_RECORD] = {"record", 0, .type = TTS_OPTION_TEXT},
    [OPTION_JSON] = {"json", 'j', .type = TTS_OPTION_FLAG},
    [OPTION_INFERENCE] = {"inference", 0,
                          .type = TTS_OPTION_FLAG}, /* seen before; here for its name */
    [OPTION_OF_INFERENCE] = {"length", 'l', .type = TTS_OPTION_TEXT},
    {"block", 0, .type = TTS_OPTION_TEXT},
    {"prefill", 0, .type = TTS_OPTION_TEXT},
    {"weights", 'w', .type = TTS_OPTION_TEXT},
    {"attention-weights", 0, .type = TTS_OPTION_TEXT},
    {"mlp-weights", 0, .type = TTS_OPTION_TEXT},
    {"embedding-weights", 0, .type = TTS_OPTION_TEXT},
    {"head-weights", 0, .type = TTS_OPTION_TEXT},
    {"cache", 'c', .type = TTS_OPTION_TEXT},
    {"trace-region", 0, .type = TTS_OPTION_TEXT},
    {"separate-head", 0, .type = TTS_OPTION_FLAG},
    {0},
};

static bool print_error(const struct tts_error *err)
{
    tts_message(command, "%s", err->text);
    return false;
}

/* The functions below return false after a message. */

static bool set_word(const struct tts_words *words, const char *text, uint64_t *out)
{
    struct tts_error err = {0};
    return tts_words_find(words, text, out, &err) == TTS_OK || print_error(&err);
}

static bool set_recipe(struct tts_overrides *overrides, const char *text)
{
    uint64_t value;
    if (!set_word(&tts_words_recipes, text, &value))
        return false;
    overrides->recipe = (enum tts_recipe)value;
    overrides->has_recipe = true;
    return true;
}

static bool set_max(struct tts_fit_options *options, const char *text)
{
    static const char *const names[] = {"batch", "seq"};
    static const struct tts_words words = {"quantity", names, 2};
    uint64_t value;
    if (!set_word(&words, text, &value))
        return false;
    options->has_max = true;
    options->max = (enum tts_largest_kind)value;
    return true;
}

static bool set_setting(struct tts_overrides *overrides, enum tts_workload_field field,
                        const char *text)
{
    struct tts_error err = {0};
    if (text)
        return tts_overrides_set(overrides, field, text, &err) == TTS_OK || print_error(&err);
    tts_overrides_give(overrides, field, true);
    return true;
}

static bool set_option(struct tts_fit_options *options, int option, const char *value)
{
    struct tts_overrides *overrides = &options->overrides;
    enum tts_workload_field field = tts_setting_find(options_table[option].name);
    if (option >= OPTION_OF_INFERENCE) {
        tts_message(command, "option '--%s' goes only with '--inference'",
                    options_table[option].name);
        return false;
    }
    if (field != TTS_FIELD_NONE)
        return set_setting(overrides, field, value);
    switch (option) {
    case OPTION_NO_CLIP:
        tts_overrides_give(overrides, TTS_FIELD_CLIP, false);
        return true;
    case OPTION_RECIPE:
        return set_recipe(overrides, value);
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
        overrides->kernel_binaries |= option == OPTION_KERNEL_BINARIES;
        options->json |= option == OPTION_JSON;
        return true;
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
    *options =
        (struct tts_fit_options){.overrides.recipe = TTS_RECIPE_HEAD, .device.name = "n150"};
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
