/* analyze_outputs.c: what pictures are called, and what an option's device has. */
#include "base/bytesize.h"
#include "cli/analyze_parts.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/same_file.h"
#include "views/safe_text.h"

#include <string.h>
#include <strings.h>

static const char command[] = TTS_ANALYZE_COMMAND;

const char *const tts_analyze_format_names[TTS_PICTURE_FORMATS] = {
    [TTS_PICTURE_PNG] = "png", [TTS_PICTURE_SVG] = "svg", [TTS_PICTURE_PDF] = "pdf"};

bool tts_analyze_format_find(const char *word, enum tts_picture_format *out)
{
    for (int i = 0; i < TTS_PICTURE_FORMATS; i++) {
        if (strcasecmp(word, tts_analyze_format_names[i]) != 0)
            continue;
        *out = (enum tts_picture_format)i;
        return true;
    }
    return false;
}

/* ---- where pictures go ---- */

/* The point before "png" in "a.b/c.png"; the end where there is none. */
static const char *extension_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const char *base = slash ? slash + 1 : path;
    return dot && dot > base ? dot : path + strlen(path);
}

/* ".svg": what was to be before it is missing. */
static bool is_only_extension(const char *path)
{
    enum tts_picture_format format;
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    return base[0] == '.' && tts_analyze_format_find(base + 1, &format);
}

static bool choose_format(struct tts_analyze_options *options)
{
    const char *output = options->output ? options->output : "";
    const char *extension = extension_of(output);
    if (options->has_format)
        return true;
    if (is_only_extension(output))
        tts_message(command,
                    "'%s' has no name before its ending: give one, or '--format' png, "
                    "svg or pdf",
                    output);
    else if (extension[0] == '\0' || tts_analyze_format_find(extension + 1, &options->format))
        return true;
    else
        tts_message(
            command,
            "cannot tell the format of '%s' by its name: give '--format' png, svg or pdf",
            output);
    return false;
}

/* False: too long. */
static bool name_picture(struct tts_analyze_options *options, enum tts_picture picture)
{
    static const char *const names[] = {[TTS_PICTURE_PEAK] = "memory_peak_visualization",
                                        [TTS_PICTURE_PHASES] = "memory_phases_visualization"};
    char *out = options->picture_path[picture];
    const char *given = options->output;
    int need;
    if (!given) {
        need = snprintf(out, TTS_PATH_MAX, "%s.%s", names[picture],
                        tts_analyze_format_names[options->format]);
    } else {
        bool is_second =
            picture == TTS_PICTURE_PHASES && options->has_picture[TTS_PICTURE_PEAK];
        const char *extension = extension_of(given);
        need = snprintf(out, TTS_PATH_MAX, "%.*s%s%s", (int)(extension - given), given,
                        is_second ? "-phases" : "", extension);
    }
    return need > 0 && need < TTS_PATH_MAX;
}

static bool is_input(const struct tts_analyze_options *options, const char *path)
{
    for (size_t i = 0; i < options->log_count; i++)
        if (tts_same_file(options->logs[i], path))
            return true;
    return options->device.name && tts_device_arg_is_file(&options->device) &&
           tts_same_file(options->device.name, path);
}

static bool check_output(const struct tts_analyze_options *options, const char *path)
{
    if (path[0] == '\0')
        tts_message(command, "the name of an output is empty, a picture or '--junit' needs a "
                             "file");
    else if (strcmp(path, "-") == 0)
        tts_message(command, "standard output has the answer, a picture or '--junit' needs a "
                             "file");
    else if (tts_same_output(path, "-"))
        tts_message(command,
                    "'%s' is where standard output goes and has the answer, the output "
                    "needs another file",
                    path);
    else if (is_input(options, path))
        tts_message(command, "'%s' is an input, the output needs another file", path);
    else
        return true;
    return false;
}

static bool name_pictures(struct tts_analyze_options *options)
{
    if (options->output && !check_output(options, options->output))
        return false;
    for (int i = 0; i < TTS_PICTURES; i++) {
        if (options->has_picture[i] && !name_picture(options, (enum tts_picture)i)) {
            tts_message(command, "the name of the picture is too long");
            return false;
        }
    }
    return true;
}

/* Each for itself, and against those before it. */
static bool check_outputs(struct tts_analyze_options *options)
{
    const char *paths[1 + TTS_PICTURES];
    size_t count = 0;
    if (options->junit_path)
        paths[count++] = options->junit_path;
    for (int i = 0; i < TTS_PICTURES; i++)
        if (options->has_picture[i])
            paths[count++] = options->picture_path[i];
    for (size_t i = 0; i < count; i++) {
        if (!check_output(options, paths[i]))
            return false;
        for (size_t before = 0; before < i; before++) {
            if (!tts_same_output(paths[before], paths[i]))
                continue;
            bool is_report = before == 0 && options->junit_path;
            tts_message(command, "'%s' cannot be both %s", paths[i],
                        is_report ? "a picture and '--junit'" : "pictures: give another name");
            return false;
        }
    }
    return true;
}

bool tts_analyze_wants_pictures(const struct tts_analyze_options *options)
{
    return options->has_picture[TTS_PICTURE_PEAK] || options->has_picture[TTS_PICTURE_PHASES];
}

bool tts_analyze_options_name(struct tts_analyze_options *options)
{
    if (tts_analyze_wants_pictures(options) &&
        !(choose_format(options) && name_pictures(options)))
        return false;
    return check_outputs(options);
}

/* ---- the device ---- */

uint64_t tts_analyze_capacity(const struct tts_chip *chip)
{
    struct tts_pool_layout dram;
    uint64_t bytes;
    if (tts_chip_pool(chip, TTS_POOL_DRAM, &dram, NULL) != TTS_OK ||
        __builtin_mul_overflow(dram.banks, dram.bank_bytes, &bytes))
        return 0;
    return bytes <= TTS_BYTESIZE_MAX ? bytes : 0;
}

int tts_analyze_options_resolve(struct tts_analyze_options *options)
{
    enum { SMALL_BYTES = 1 << 20 };
    struct tts_chip chip;
    const struct tts_amount *memory = &options->mem.device_memory;
    if (memory->is_known && memory->bytes < SMALL_BYTES)
        tts_message(command, "note: '--device_memory' is in bytes, unless it has a unit as in "
                             "12GiB");
    if (!options->device.name)
        return TTS_EXIT_DONE;
    int code = tts_device_arg_resolve(&options->device, command, &chip);
    if (code != TTS_EXIT_DONE)
        return code;
    uint64_t bytes = tts_analyze_capacity(&chip);
    if (bytes == 0) {
        tts_message(command, "the DRAM of device '%s' is not known, give '--device_memory'",
                    options->device.name);
        return TTS_EXIT_USAGE;
    }
    options->mem.device_memory = tts_amount_of((int64_t)bytes);
    options->mem.device_memory_source = TTS_TRAIN_FROM_DEVICE;
    snprintf(options->mem.device, sizeof options->mem.device, "%s", chip.name);
    return TTS_EXIT_DONE;
}

/* ---- the device in words ---- */

enum { WORD_COLUMNS = 160 };

/* Adds `text`, between apostrophes where a shell would read it otherwise. */
static size_t add_word(char out[TTS_ANALYZE_DEVICE_MAX], size_t len, const char *before,
                       const char *text)
{
    char safe[WORD_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    char word[2 * sizeof safe + 64];
    size_t to = 0, room = TTS_ANALYZE_DEVICE_MAX - len;
    tts_safe_text(safe, sizeof safe, text, WORD_COLUMNS);
    bool is_plain = safe[strspn(safe, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_-+=./,:@%")] == '\0' &&
                    safe[0] != '\0';
    for (const char *from = safe; *from && to + 8 < sizeof word; from++) {
        if (*from == '\'' && !is_plain)
            to += (size_t)snprintf(word + to, sizeof word - to, "'\\'");
        word[to++] = *from;
    }
    word[to] = '\0';
    const char *mark = is_plain ? "" : "'";
    int need = snprintf(out + len, room, "%s%s%s%s", before, mark, word, mark);
    if (need >= 0 && (size_t)need < room)
        return len + (size_t)need;
    snprintf(out + len, room, "%s", room > 4 ? " ..." : "");
    return TTS_ANALYZE_DEVICE_MAX;
}

const char *tts_analyze_device_words(char out[TTS_ANALYZE_DEVICE_MAX],
                                     const struct tts_device_arg *device)
{
    size_t len = add_word(out, 0, "", device->name);
    for (size_t i = 0; i < device->set_count && len < TTS_ANALYZE_DEVICE_MAX; i++)
        len = add_word(out, len, " --set ", device->sets[i]);
    return out;
}
