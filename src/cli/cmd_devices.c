/* cmd_devices.c: the presets, the chips of this host, and all about one of them. */
#include "base/error.h"
#include "base/outfile.h"
#include "cli/charset.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/device_arg.h"
#include "cli/devices_parts.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/same_file.h"
#include "views/l1map.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char command[] = "devices";

struct devices {
    struct tts_device_arg arg; /* .name NULL: all of them */
    const char *svg_path;
    bool layout, json;
};

/* --- options ---------------------------------------------------------------------------- */

enum { OPTION_SET, OPTION_LAYOUT, OPTION_SVG, OPTION_JSON };

static const struct tts_option options_table[] = {
    [OPTION_SET] = {"set", 's', true},
    [OPTION_LAYOUT] = {"layout", 'l', false},
    [OPTION_SVG] = {"svg", 0, true},
    [OPTION_JSON] = {"json", 'j', false},
    {0},
};

static bool set_option(struct devices *devices, int option, const char *value)
{
    if (option == OPTION_SET)
        return tts_device_arg_set(&devices->arg, command, value);
    if (option == OPTION_LAYOUT)
        devices->layout = true;
    else if (option == OPTION_SVG)
        devices->svg_path = value;
    else
        devices->json = true;
    return true;
}

static bool svg_is_stdout(const struct devices *devices)
{
    return devices->svg_path && strcmp(devices->svg_path, "-") == 0;
}

/* Would the drawing replace the device file? */
static bool svg_is_input(const struct devices *devices)
{
    return devices->svg_path && tts_device_arg_is_file(&devices->arg) &&
           tts_same_file(devices->arg.name, devices->svg_path);
}

/* What the options do not go together with, NULL when they do. */
static const char *find_conflict(const struct devices *devices)
{
    if (!devices->arg.name && devices->layout)
        return "'--layout' needs the NAME of a device";
    if (!devices->arg.name && devices->arg.set_count > 0)
        return "'--set' needs the NAME of a device";
    if (devices->svg_path && !devices->layout)
        return "'--svg' draws the layout of L1, add '--layout'";
    if (svg_is_stdout(devices) && devices->json)
        return "'--svg -' needs standard output for itself, give it a file or leave out --json";
    return NULL;
}

/* TTS_OPTIONS_END when there is something to do, else TTS_OPTIONS_STOP and the exit code. */
static int read_options(struct devices *devices, char **argv, int *exit_code)
{
    struct tts_options options = tts_options_begin(command, options_table, argv);
    int option;
    while ((option = tts_options_next(&options)) >= 0) {
        if (!set_option(devices, option, options.value)) {
            *exit_code = TTS_EXIT_USAGE;
            return TTS_OPTIONS_STOP;
        }
    }
    *exit_code = options.exit_code;
    if (option == TTS_OPTIONS_STOP)
        return option;
    if (options.operand_count > 1) {
        *exit_code = tts_options_bad_operands(&options, NULL);
        return TTS_OPTIONS_STOP;
    }
    devices->arg.name = options.operand_count == 1 ? options.operands[0] : NULL;
    const char *conflict = find_conflict(devices);
    if (conflict) {
        tts_message(command, "%s (see 'ttscope help devices')", conflict);
        *exit_code = TTS_EXIT_USAGE;
        return TTS_OPTIONS_STOP;
    }
    return TTS_OPTIONS_END;
}

/* --- what is shown ---------------------------------------------------------------------- */

uint64_t tts_devices_l1_bytes(const struct tts_chip *chip)
{
    struct tts_l1_part parts[TTS_L1_PARTS_MAX];
    struct tts_error err;
    size_t count = tts_chip_l1_parts(chip, parts, &err);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += parts[i].grows ? parts[i].end - parts[i].start : 0;
    return bytes;
}

static int fail(const struct tts_error *err)
{
    tts_message(command, "%s", err->text);
    return TTS_EXIT_INPUT;
}

/* `host` or `one` in a document that appears whole or not at all. */
static int print_json(const struct tts_devices_host *host, const struct tts_devices_one *one)
{
    struct tts_outfile file;
    struct tts_json json;
    struct tts_error err = {0};
    if (tts_outfile_open(&file, "-", &err) != TTS_OK)
        return fail(&err);
    tts_json_init(&json, file.stream);
    if (host)
        tts_devices_json_list(&json, host);
    else
        tts_devices_json_one(&json, one);
    return tts_outfile_commit(&file, &err) == TTS_OK ? TTS_EXIT_DONE : fail(&err);
}

/* The presets are shown also where the host does not let us look. */
static int list_all(bool as_json)
{
    const char *root = getenv("TTSCOPE_ROOT");
    struct tts_error err = {0};
    struct tts_devices_host host = {0};
    int code = TTS_EXIT_DONE;
    enum tts_status status = TTS_OK;
    if (root && root[0] && access(root, F_OK) != 0)
        status = tts_error_set_errno(&err, TTS_E_IO, errno,
                                     "cannot look at TTSCOPE_ROOT '%.80s'", root);
    if (status == TTS_OK)
        status = tts_hostchips_scan(&host.found, root ? root : "", NULL, &err);
    if (status != TTS_OK) {
        host.reason = err.text;
        code = err.status == TTS_E_IO ? TTS_EXIT_DEVICE : TTS_EXIT_INPUT;
        tts_message(command, "%s", err.text);
    }
    if (as_json) {
        int json_code = print_json(&host, NULL);
        code = json_code == TTS_EXIT_DONE ? code : json_code;
    } else {
        tts_devices_text_list(stdout);
        tts_devices_text_host(&host, stdout);
    }
    tts_hostchips_release(&host.found);
    return code;
}

/* NULL when the chip is from a file: no preset is called like one. */
static const struct tts_preset *preset_of(const char *name, const struct tts_chip *chip)
{
    struct tts_chip found;
    struct tts_error err;
    const struct tts_preset *preset;
    if (tts_chip_preset(name, &found, &err) != TTS_OK)
        return NULL;
    for (size_t i = 0; (preset = tts_preset_at(i)) != NULL; i++)
        if (strcmp(preset->name, chip->name) == 0)
            return preset;
    assert(!"a preset is in the list of presets");
    return NULL;
}

static int draw(const struct devices *devices, const struct tts_devices_one *one)
{
    struct tts_outfile file;
    struct tts_error err = {0};
    if (tts_outfile_open(&file, devices->svg_path, &err) != TTS_OK)
        return fail(&err);
    tts_l1map_write(&one->chip, one->parts, one->part_count, file.stream);
    return tts_outfile_commit(&file, &err) == TTS_OK ? TTS_EXIT_DONE : fail(&err);
}

static int show_one(const struct devices *devices)
{
    struct tts_devices_one one = {0};
    struct tts_error err = {0};
    int code = tts_device_arg_resolve(&devices->arg, command, &one.chip);
    if (code != TTS_EXIT_DONE)
        return code;
    one.preset = preset_of(devices->arg.name, &one.chip);
    if (!one.preset && svg_is_input(devices)) {
        tts_message(command, "'%s' is the input, the drawing needs another file",
                    devices->svg_path);
        return TTS_EXIT_USAGE;
    }
    if (devices->layout) {
        one.part_count = tts_chip_l1_parts(&one.chip, one.parts, &err);
        if (one.part_count == 0)
            return fail(&err);
    }
    if (devices->svg_path && (code = draw(devices, &one)) != TTS_EXIT_DONE)
        return code;
    if (devices->json)
        return print_json(NULL, &one);
    if (!devices->layout)
        tts_devices_text_one(&one, stdout);
    else if (!svg_is_stdout(devices))
        tts_devices_text_layout(&one, tts_charset_is_utf8(), stdout);
    return TTS_EXIT_DONE;
}

int tts_cmd_devices(int argc, char **argv)
{
    (void)argc;
    struct devices devices = {0};
    int exit_code;
    if (read_options(&devices, argv, &exit_code) == TTS_OPTIONS_STOP)
        return exit_code;
    return devices.arg.name ? show_one(&devices) : list_all(devices.json);
}
