#include "base/bytesize.h"
#include "cli/check_parts.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/same_file.h"

#include <string.h>

static const char command[] = TTS_CHECK_COMMAND;

enum {
    OPTION_BUDGET,
    OPTION_BASELINE,
    OPTION_DEVICE,
    OPTION_DEVICE_MEMORY,
    OPTION_SET,
    OPTION_JSON,
    OPTION_JUNIT,
    OPTION_SARIF,
    OPTION_GITHUB,
    OPTION_QUIET,
};

static const struct tts_option options_table[] = {
    [OPTION_BUDGET] = {"budget", 'b', true},
    [OPTION_BASELINE] = {"baseline", 0, true},
    [OPTION_DEVICE] = {"device", 'd', true},
    [OPTION_DEVICE_MEMORY] = {"device-memory", 0, true},
    [OPTION_SET] = {"set", 0, true},
    [OPTION_JSON] = {"json", 'j', false},
    [OPTION_JUNIT] = {"junit", 0, true},
    [OPTION_SARIF] = {"sarif", 0, true},
    [OPTION_GITHUB] = {"github", 0, false},
    [OPTION_QUIET] = {"quiet", 'q', false},
    {0},
};

/* The functions below: false, said what is wrong. */

static bool set_memory(struct tts_check_options *options, const char *text)
{
    uint64_t bytes = 0;
    enum tts_status status = tts_bytesize_parse(text, &bytes);
    if (status == TTS_OK && bytes > 0) {
        options->device_memory = tts_amount_of((int64_t)bytes);
        return true;
    }
    tts_message(command,
                "'--device_memory %.40s' is not an amount of memory, expected bytes as "
                "12884901888, 1.2e9 or 12GiB",
                text);
    return false;
}

/* An answer is for one budget and one baseline. */
static bool set_once(const char **out, const char *value, const char *option)
{
    if (*out) {
        tts_message(command, "'%s' stands twice, give one of them", option);
        return false;
    }
    *out = value;
    return true;
}

static bool set_option(struct tts_check_options *options, int option, const char *value)
{
    switch (option) {
    case OPTION_BUDGET:
        return set_once(&options->budget_path, value, "--budget");
    case OPTION_BASELINE:
        return set_once(&options->baseline_path, value, "--baseline");
    case OPTION_DEVICE:
        return set_once(&options->device.name, value, "--device");
    case OPTION_DEVICE_MEMORY:
        return set_memory(options, value);
    case OPTION_SET:
        return tts_device_arg_set(&options->device, command, value);
    case OPTION_JUNIT:
        return set_once(&options->junit_path, tts_stdout_path(value), "--junit");
    case OPTION_SARIF:
        return set_once(&options->sarif_path, tts_stdout_path(value), "--sarif");
    default:
        options->json |= option == OPTION_JSON;
        options->github |= option == OPTION_GITHUB;
        options->quiet |= option == OPTION_QUIET;
        return true;
    }
}

/* ---- what goes together ---- */

static bool is_standard(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static bool check_inputs(const struct tts_check_options *options)
{
    int standard = is_standard(options->budget_path) + is_standard(options->baseline_path) +
                   is_standard(options->device.name);
    for (size_t i = 0; i < options->path_count; i++)
        standard += is_standard(options->paths[i]);
    if (!options->budget_path)
        tts_message(command, "which budget? give '--budget FILE' (see 'ttscope help check')");
    else if (options->path_count == 0)
        tts_message(command, "which run? give a log, a recording or a saved result ('-' is "
                             "standard input)");
    else if (standard > 1)
        tts_message(command, "standard input can be read once only");
    else
        return true;
    return false;
}

static bool check_together(const struct tts_check_options *options)
{
    if (options->json && (options->github || options->quiet))
        tts_message(command, "'--json' and '%s' are two answers, give one of them",
                    options->github ? "--github" : "--quiet");
    else if (options->device.name && options->device_memory.is_known)
        tts_message(command, "'--device' and '--device_memory' both say how much memory there "
                             "is, give one of them");
    else
        return true;
    return false;
}

bool tts_check_is_apart(const struct tts_check_options *options, const char *path)
{
    const char *const outputs[] = {options->junit_path, options->sarif_path};
    for (size_t i = 0; path && i < sizeof outputs / sizeof outputs[0]; i++) {
        if (!outputs[i] || !tts_same_file(path, outputs[i]))
            continue;
        tts_message(command, "'%s' is an input, the output needs another file", outputs[i]);
        return false;
    }
    return true;
}

static bool check_outputs(const struct tts_check_options *options)
{
    const char *junit = options->junit_path, *sarif = options->sarif_path;
    if (is_standard(junit) || is_standard(sarif)) {
        tts_message(command, "standard output has the answer, '%s' needs a file",
                    is_standard(junit) ? "--junit" : "--sarif");
        return false;
    }
    if (junit && sarif && (strcmp(junit, sarif) == 0 || tts_same_output(junit, sarif))) {
        tts_message(command, "'%s' cannot be both '--junit' and '--sarif'", junit);
        return false;
    }
    for (size_t i = 0; i < options->path_count; i++)
        if (!tts_check_is_apart(options, options->paths[i]))
            return false;
    return tts_check_is_apart(options, options->budget_path) &&
           tts_check_is_apart(options, options->baseline_path) &&
           (!options->device.name || !tts_device_arg_is_file(&options->device) ||
            tts_check_is_apart(options, options->device.name));
}

/* ---- all of it ---- */

int tts_check_options_read(struct tts_check_options *options, char **argv, int *exit_code)
{
    struct tts_options parser = tts_options_begin(command, options_table, argv);
    int option;
    *exit_code = TTS_EXIT_USAGE;
    while ((option = tts_options_next(&parser)) >= 0)
        if (!set_option(options, option, parser.value))
            return TTS_OPTIONS_STOP;
    if (option == TTS_OPTIONS_STOP) {
        *exit_code = parser.exit_code;
        return option;
    }
    for (int i = 0; i < parser.operand_count; i++)
        options->paths[options->path_count++] = parser.operands[i];
    bool is_good = check_inputs(options) && check_together(options) && check_outputs(options);
    return is_good ? TTS_OPTIONS_END : TTS_OPTIONS_STOP;
}
