#include "base/bytesize.h"
#include "base/error.h"
#include "cli/check_parts.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/same_file.h"

#include <string.h>

static const char command[] = TTS_CHECK_COMMAND;

static enum tts_status take_memory(void *target, const char *text, struct tts_error *err)
{
    uint64_t bytes = 0;
    if (tts_bytesize_parse(text, &bytes) != TTS_OK || bytes == 0)
        return tts_error_set(err, TTS_E_SYNTAX,
                             "expected bytes as 12884901888, 1.2e9 or 12GiB");
    *(struct tts_amount *)target = tts_amount_of((int64_t)bytes);
    return TTS_OK;
}

/* A name of standard output counts as "-". */
static enum tts_status take_output(void *target, const char *text, struct tts_error *err)
{
    (void)err;
    *(const char **)target = tts_stdout_path(text);
    return TTS_OK;
}

#define AT(member) offsetof(struct tts_check_job, options.member)
const struct tts_option tts_check_options_table[] = {
    {"budget", 'b', TTS_OPTION_TEXT, AT(budget_path), "FILE", "the limits", .is_once = true},
    {"baseline", 0, TTS_OPTION_TEXT, AT(baseline_path), "FILE", "the run to compare with",
     .is_once = true},
    {"device", 'd', TTS_OPTION_TEXT, AT(device.name), "NAME", "the device of the run",
     .is_once = true},
    {"set", 0, TTS_OPTION_OTHER, AT(device), "KEY=VALUE", "change a fact of the device",
     .take = tts_device_arg_take_set},
    {"device-memory", 0, TTS_OPTION_OTHER, AT(device_memory), "BYTES",
     "the memory of the device", .excludes = "device", .take = take_memory},
    {"json", 'j', TTS_OPTION_FLAG, AT(json), .help = "write JSON"},
    {"junit", 0, TTS_OPTION_OTHER, AT(junit_path), "FILE", "write a JUnit report, too",
     .is_once = true, .take = take_output},
    {"sarif", 0, TTS_OPTION_OTHER, AT(sarif_path), "FILE", "write findings as SARIF, too",
     .is_once = true, .take = take_output},
    {"github", 0, TTS_OPTION_FLAG, AT(github), .help = "write annotations of a build, too",
     .excludes = "json"},
    {"quiet", 'q', TTS_OPTION_FLAG, AT(quiet), .help = "print nothing, return the exit code",
     .excludes = "json"},
    {0},
};
#undef AT

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

bool tts_check_options_are_good(const struct tts_check_options *options)
{
    return check_inputs(options) && check_outputs(options);
}
