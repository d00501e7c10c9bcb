#include "base/bytesize.h"
#include "base/nearest.h"
#include "base/share.h"
#include "cli/analyze_parts.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/same_file.h"

#include <string.h>
#include <strings.h>

static const char command[] = TTS_ANALYZE_COMMAND;

enum {
    OPTION_LOGS,
    OPTION_DEVICE_MEMORY, /* sizes from here */
    OPTION_MODEL_SIZE,
    OPTION_OPTIMIZER_SIZE,
    OPTION_GRADIENTS_SIZE,
    OPTION_DEVICE,
    OPTION_SET,
    OPTION_DTYPE,
    OPTION_OPTIMIZER,
    OPTION_VISUALIZE_PEAK,
    OPTION_VISUALIZE_PHASES,
    OPTION_USE_ACTUAL_SIZES,
    OPTION_TITLE,
    OPTION_OUTPUT,
    OPTION_FORMAT,
    OPTION_JSON,
    OPTION_CSV,
    OPTION_JUNIT,
    OPTION_FAIL_ABOVE,
};

static const struct tts_option options_table[] = {
    [OPTION_LOGS] = {"logs", 'l', .type = TTS_OPTION_TEXT},
    [OPTION_DEVICE_MEMORY] = {"device-memory", 0, .type = TTS_OPTION_TEXT},
    [OPTION_MODEL_SIZE] = {"model-size", 0, .type = TTS_OPTION_TEXT},
    [OPTION_OPTIMIZER_SIZE] = {"optimizer-size", 0, .type = TTS_OPTION_TEXT},
    [OPTION_GRADIENTS_SIZE] = {"gradients-size", 0, .type = TTS_OPTION_TEXT},
    [OPTION_DEVICE] = {"device", 'd', .type = TTS_OPTION_TEXT},
    [OPTION_SET] = {"set", 0, .type = TTS_OPTION_TEXT},
    [OPTION_DTYPE] = {"dtype", 0, .type = TTS_OPTION_TEXT},
    [OPTION_OPTIMIZER] = {"optimizer", 0, .type = TTS_OPTION_TEXT},
    [OPTION_VISUALIZE_PEAK] = {"visualize-peak", 0, .type = TTS_OPTION_FLAG},
    [OPTION_VISUALIZE_PHASES] = {"visualize-phases", 0, .type = TTS_OPTION_FLAG},
    [OPTION_USE_ACTUAL_SIZES] = {"use-actual-sizes", 0, .type = TTS_OPTION_FLAG},
    [OPTION_TITLE] = {"title", 0, .type = TTS_OPTION_TEXT},
    [OPTION_OUTPUT] = {"output", 'o', .type = TTS_OPTION_TEXT},
    [OPTION_FORMAT] = {"format", 0, .type = TTS_OPTION_TEXT},
    [OPTION_JSON] = {"json", 'j', .type = TTS_OPTION_FLAG},
    [OPTION_CSV] = {"csv", 0, .type = TTS_OPTION_FLAG},
    [OPTION_JUNIT] = {"junit", 0, .type = TTS_OPTION_TEXT},
    [OPTION_FAIL_ABOVE] = {"fail-above", 0, .type = TTS_OPTION_TEXT},
    {0},
};

/* As users of the script know it. */
static const char *const size_names[] = {
    [OPTION_DEVICE_MEMORY] = "--device_memory",
    [OPTION_MODEL_SIZE] = "--model_size",
    [OPTION_OPTIMIZER_SIZE] = "--optimizer_size",
    [OPTION_GRADIENTS_SIZE] = "--gradients_size",
};

/* The functions below: false, said what is wrong. */

static bool refuse_size(int option, const char *text, enum tts_status status)
{
    const char *why = status == TTS_E_INVALID ? "is below 0"
                      : status == TTS_E_RANGE ? "is more than 2^60 bytes"
                      : status == TTS_OK      ? "is no memory at all"
                                              : "is not a number of bytes";
    tts_message(command, "'%s %.40s' %s, expected bytes as 12884901888, 1.2e9 or 12GiB",
                size_names[option], text, why);
    return false;
}

static bool set_size(struct tts_analyze_options *options, int option, const char *text)
{
    struct tts_trainmem_options *mem = &options->mem;
    struct tts_amount *const amounts[] = {
        [OPTION_DEVICE_MEMORY] = &mem->device_memory,
        [OPTION_MODEL_SIZE] = &mem->model,
        [OPTION_OPTIMIZER_SIZE] = &mem->optimizer,
        [OPTION_GRADIENTS_SIZE] = &mem->gradients,
    };
    uint64_t bytes;
    enum tts_status status = tts_bytesize_parse(text, &bytes);
    if (status != TTS_OK || (option == OPTION_DEVICE_MEMORY && bytes == 0))
        return refuse_size(option, text, status);
    *amounts[option] = tts_amount_of((int64_t)bytes);
    if (option == OPTION_DEVICE_MEMORY)
        mem->device_memory_source = TTS_TRAIN_FROM_OPTION;
    return true;
}

static bool refuse_word(const char *what, const char *text, const struct tts_nearest *nearest,
                        const char *all)
{
    /* With half its letters wrong, a short word is another word. */
    bool is_near = nearest->best && nearest->distance * 2 < strlen(text);
    const char *known = is_near ? nearest->best : NULL;
    tts_message(command, "unknown %s '%.40s'%s%s%s (%s)", what, text,
                known ? ", did you mean '" : "", known ? known : "", known ? "'?" : "", all);
    return false;
}

static bool set_dtype(struct tts_analyze_options *options, const char *text)
{
    struct tts_nearest nearest = {.word = text};
    for (int i = 0; i < TTS_TRAIN_DTYPES; i++) {
        const char *name = tts_train_dtype_name((enum tts_train_dtype)i);
        tts_nearest_offer(&nearest, name);
        if (strcasecmp(text, name) != 0)
            continue;
        options->mem.dtype = (enum tts_train_dtype)i;
        options->mem.has_dtype = true;
        return true;
    }
    return refuse_word("dtype", text, &nearest, "bf16 or fp32");
}

static bool set_optimizer(struct tts_analyze_options *options, const char *text)
{
    struct tts_nearest nearest = {.word = text};
    options->mem.has_optimizer = tts_train_optimizer_find(text, &options->mem.optimizer_kind);
    if (options->mem.has_optimizer)
        return true;
    for (int i = 0; i < TTS_TRAIN_OPTIMIZERS; i++)
        tts_nearest_offer(&nearest, tts_train_optimizer_name((enum tts_train_optimizer)i));
    return refuse_word("optimizer", text, &nearest,
                       "or give its bytes by '--optimizer_size', see 'ttscope help analyze'");
}

static bool set_format(struct tts_analyze_options *options, const char *text)
{
    struct tts_nearest nearest = {.word = text};
    options->has_format = tts_analyze_format_find(text, &options->format);
    if (options->has_format)
        return true;
    for (int i = 0; i < TTS_PICTURE_FORMATS; i++)
        tts_nearest_offer(&nearest, tts_analyze_format_names[i]);
    return refuse_word("format", text, &nearest, "png, svg or pdf");
}

bool tts_analyze_limit_parse(const char *text, uint32_t *out)
{
    enum { LIMIT_MAX = 1000 * 100 };
    size_t len = strlen(text);
    uint64_t share;
    if (len == 0 || text[len - 1] != '%' ||
        tts_share_parse(text, len - 1, LIMIT_MAX, &share) != TTS_OK || share == 0)
        return false;
    *out = (uint32_t)share;
    return true;
}

static bool set_limit(struct tts_analyze_options *options, const char *text)
{
    options->has_limit = tts_analyze_limit_parse(text, &options->limit);
    if (!options->has_limit)
        tts_message(command,
                    "'--fail-above %.40s' is not a share of the device memory, expected a "
                    "percentage as '95%%' or '97.5%%'",
                    text);
    return options->has_limit;
}

static bool set_flag(struct tts_analyze_options *options, int option)
{
    options->has_picture[TTS_PICTURE_PEAK] |= option == OPTION_VISUALIZE_PEAK;
    options->has_picture[TTS_PICTURE_PHASES] |= option == OPTION_VISUALIZE_PHASES;
    options->mem.use_actual_sizes |= option == OPTION_USE_ACTUAL_SIZES;
    options->json |= option == OPTION_JSON;
    options->csv |= option == OPTION_CSV;
    return true;
}

static bool set_text(const char **out, const char *value)
{
    *out = value;
    return true;
}

static bool set_option(struct tts_analyze_options *options, int option, const char *value)
{
    switch (option) {
    case OPTION_LOGS:
        return set_text(&options->logs[options->log_count++], value);
    case OPTION_DEVICE_MEMORY:
    case OPTION_MODEL_SIZE:
    case OPTION_OPTIMIZER_SIZE:
    case OPTION_GRADIENTS_SIZE:
        return set_size(options, option, value);
    case OPTION_DEVICE:
        return set_text(&options->device.name, value);
    case OPTION_SET:
        return tts_device_arg_set(&options->device, command, value);
    case OPTION_DTYPE:
        return set_dtype(options, value);
    case OPTION_OPTIMIZER:
        return set_optimizer(options, value);
    case OPTION_TITLE:
        return set_text(&options->title, value);
    case OPTION_OUTPUT:
        return set_text(&options->output, tts_stdout_path(value));
    case OPTION_FORMAT:
        return set_format(options, value);
    case OPTION_JUNIT:
        return set_text(&options->junit_path, tts_stdout_path(value));
    case OPTION_FAIL_ABOVE:
        return set_limit(options, value);
    default:
        return set_flag(options, option);
    }
}

/* ---- what goes together ---- */

static bool check_pictures(const struct tts_analyze_options *options)
{
    if (tts_analyze_wants_pictures(options))
        return true;
    if (options->has_format)
        tts_message(command, "'--format' is of a picture: give '--visualize_peak' or "
                             "'--visualize_phases', or leave it out");
    else if (options->output || options->title) /* the original script ignores them, too */
        tts_message(command,
                    "note: '%s' has no effect without '--visualize_peak' or "
                    "'--visualize_phases'",
                    options->output ? "--output" : "--title");
    return !options->has_format;
}

static bool check_inputs(const struct tts_analyze_options *options)
{
    unsigned standard = options->device.name && strcmp(options->device.name, "-") == 0;
    for (size_t i = 0; i < options->log_count; i++)
        standard += strcmp(options->logs[i], "-") == 0;
    if (options->log_count == 0)
        tts_message(command, "which log? give '--logs FILE' ('-' is standard input)");
    else if (standard > 1)
        tts_message(command, "standard input can be read once only");
    else
        return true;
    return false;
}

static bool check_together(const struct tts_analyze_options *options)
{
    if (options->json && options->csv)
        tts_message(command, "'--json' and '--csv' are two answers, give one of them");
    else if (options->device.name && options->mem.device_memory.is_known)
        tts_message(command, "'--device' and '--device_memory' both say how much memory there "
                             "is, give one of them");
    else if (!options->device.name && options->device.set_count > 0)
        tts_message(command, "'--set' changes a device: give '--device NAME' too");
    else
        return check_inputs(options) && check_pictures(options);
    return false;
}

/* ---- all of it ---- */

/* In the order of the command line, whether an option or an operand. */
static void take_operands(struct tts_analyze_options *options, const struct tts_options *parser,
                          int *seen)
{
    for (; *seen < parser->operand_count; ++*seen)
        options->logs[options->log_count++] = parser->operands[*seen];
}

int tts_analyze_options_read(struct tts_analyze_options *options, char **argv, int *exit_code)
{
    struct tts_options parser = tts_options_begin(command, options_table, argv);
    int option, seen = 0;
    *exit_code = TTS_EXIT_USAGE;
    while ((option = tts_options_next(&parser)) >= 0) {
        take_operands(options, &parser, &seen);
        if (!set_option(options, option, parser.value))
            return TTS_OPTIONS_STOP;
    }
    if (option == TTS_OPTIONS_STOP) {
        *exit_code = parser.exit_code;
        return option;
    }
    take_operands(options, &parser, &seen);
    bool is_good = check_together(options) && tts_analyze_options_name(options);
    return is_good ? TTS_OPTIONS_END : TTS_OPTIONS_STOP;
}
