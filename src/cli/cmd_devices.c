/* cmd_devices.c: the command `devices`, which lists the presets and the chips of this host, or
 * describes one device. */
#include "base/error.h"
#include "cli/commands.h"
#include "cli/device_arg.h"
#include "cli/job.h"
#include "cli/message.h"
#include "cli/same_file.h"
#include "sources/hostchips.h"
#include "views/chipview.h"
#include "views/map/l1map.h"
#include "views/safe_text.h"
#include "views/say.h"
#include "views/table.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct devices_options {
    struct tts_device_arg arg; /* .name is NULL: list all presets */
    const char *svg_path;
    bool layout, json;
};

static const struct tts_option options_table[] = {
    {"set", 's', TTS_OPTION_OTHER, offsetof(struct devices_options, arg), "KEY=VALUE",
     "change a property of the device", .take = tts_device_arg_take_set},
    {"layout", 'l', TTS_OPTION_FLAG, offsetof(struct devices_options, layout),
     .help = "show the L1 layout of a core, to scale"},
    {"svg", 0, TTS_OPTION_TEXT, offsetof(struct devices_options, svg_path), "FILE",
     "also draw the layout", .needs = "layout"},
    {"json", 'j', TTS_OPTION_FLAG, offsetof(struct devices_options, json),
     .help = "write JSON"},
    {0},
};

/* --- the chips of this host ------------------------------------------------------------- */

struct host {
    struct tts_hostchips found;
    const char *reason; /* why the chips are unknown; NULL if `found` is complete */
};

enum { PIDS_SHOWN = 8, PIDS_MAX = PIDS_SHOWN * 16 + 64 };

static void list_pids(const struct tts_hostchip *chip, char text[PIDS_MAX])
{
    size_t kept = chip->pid_count < TTS_HOST_PIDS_MAX ? chip->pid_count : TTS_HOST_PIDS_MAX;
    size_t shown = kept < PIDS_SHOWN ? kept : PIDS_SHOWN;
    size_t len = 0;
    if (!chip->pids_known || chip->pid_count == 0) {
        snprintf(text, PIDS_MAX, "%s", chip->pids_known ? "no process" : "unknown");
        return;
    }
    for (size_t i = 0; i < shown; i++) {
        const char *between = i > 0 ? ", " : "";
        int put = chip->pids[i] == 0 ? snprintf(text + len, PIDS_MAX - len, "%shidden", between)
                                     : snprintf(text + len, PIDS_MAX - len, "%s%" PRIu32,
                                                between, chip->pids[i]);
        assert(put > 0 && (size_t)put < PIDS_MAX - len);
        len += (size_t)put;
    }
    if (chip->pid_count > shown)
        snprintf(text + len, PIDS_MAX - len, " and %zu more", chip->pid_count - shown);
}

enum { NODE, CARD, PRESET, ARCH, PCI, SERIAL, OPEN_IN, HOST_COLUMNS };

static const struct tts_column host_columns[HOST_COLUMNS] = {
    [NODE] = {.title = "node", .type = TTS_COLUMN_NUMBER},
    [CARD] = {.title = "card", .unknown = "unknown"},
    [PRESET] = {.title = "preset", .unknown = "none"},
    [ARCH] = {.title = "arch", .unknown = "unknown"},
    [PCI] = {.title = "PCI address", .unknown = "unknown"},
    [SERIAL] = {.title = "serial", .unknown = "unknown"},
    [OPEN_IN] = {.title = "open in", .goes_below = true},
};

static enum tts_status add_hostchip(struct tts_table *table, const struct tts_hostchip *chip)
{
    char pids[PIDS_MAX];
    list_pids(chip, pids);
    return tts_table_add(
        table, (struct tts_cell[HOST_COLUMNS]){
                   [NODE] = tts_cell_number(chip->node),
                   [CARD] = tts_cell_text(chip->card_type),
                   [PRESET] = tts_cell_text(chip->preset),
                   [ARCH] = tts_cell_text(chip->arch_known ? tts_arch_name(chip->arch) : NULL),
                   [PCI] = tts_cell_text(chip->pci_address),
                   [SERIAL] = tts_cell_text(chip->serial),
                   [OPEN_IN] = tts_cell_text(pids),
               });
}

static enum tts_status print_hostchips(const struct tts_hostchips *found, FILE *out)
{
    struct tts_table table;
    enum tts_status status = TTS_OK;
    tts_table_init(&table, host_columns, HOST_COLUMNS, NULL);
    table.indent = 2;
    for (size_t i = 0; i < found->count && status == TTS_OK; i++)
        status = add_hostchip(&table, &found->chips[i]);
    if (status == TTS_OK)
        tts_table_text(&table, tts_say_columns(), out);
    tts_table_release(&table);
    if (found->left_out > 0)
        fprintf(out, "  %zu more chip%s not shown\n", found->left_out,
                found->left_out == 1 ? " is" : "s are");
    return status;
}

static enum tts_status print_host(const struct host *host, FILE *out)
{
    const struct tts_hostchips *found = &host->found;
    const char *version = found->driver_version;
    fputs("\non this host: ", out);
    if (host->reason) {
        fputs("unknown: the list of chips could not be read\n", out);
        return TTS_OK;
    }
    if (!found->driver_loaded) {
        fputs("chips unknown, because the driver (tt-kmd) is not loaded\n", out);
        return TTS_OK;
    }
    const char *space = version[0] ? " " : "";
    if (found->count == 0 && found->left_out > 0)
        fprintf(out, "at least %zu chips, but their entries cannot be read\n", found->left_out);
    else if (found->count == 0)
        fprintf(out, "no chips; the driver (tt-kmd%s%s) is loaded\n", space, version);
    else
        fprintf(out, "%zu chip%s, driver (tt-kmd%s%s)\n", found->count + found->left_out,
                tts_say_plural(found->count + found->left_out), space, version);
    return found->count > 0 ? print_hostchips(found, out) : TTS_OK;
}

static void put_pids(struct tts_json *json, const struct tts_hostchip *chip)
{
    size_t kept = chip->pid_count < TTS_HOST_PIDS_MAX ? chip->pid_count : TTS_HOST_PIDS_MAX;
    if (!chip->pids_known) {
        tts_json_null(json, "pids");
        tts_json_null(json, "pid_count");
        return;
    }
    tts_json_array(json, "pids");
    for (size_t i = 0; i < kept; i++)
        tts_json_number(json, NULL, chip->pids[i]);
    tts_json_array_end(json);
    tts_json_number(json, "pid_count", chip->pid_count);
}

static void put_hostchip(struct tts_json *json, const struct tts_hostchip *chip)
{
    tts_json_object(json, NULL);
    tts_json_number(json, "node", chip->node);
    tts_json_text_or_null(json, "card_type", chip->card_type);
    tts_json_text_or_null(json, "preset", chip->preset);
    tts_json_text_or_null(json, "arch", chip->arch_known ? tts_arch_name(chip->arch) : NULL);
    tts_json_text_or_null(json, "pci_address", chip->pci_address);
    tts_json_text_or_null(json, "serial", chip->serial);
    tts_json_text_or_null(json, "asic_id", chip->asic_id);
    tts_json_text_or_null(json, "firmware", chip->firmware);
    put_pids(json, chip);
    tts_json_object_end(json);
}

static void put_host(struct tts_json *json, const struct host *host)
{
    if (host->reason) {
        tts_json_null(json, "host");
        tts_json_null(json, "host_left_out");
        tts_json_text(json, "reason", host->reason);
        tts_json_null(json, "driver");
        return;
    }
    tts_json_array(json, "host");
    for (size_t i = 0; i < host->found.count; i++)
        put_hostchip(json, &host->found.chips[i]);
    tts_json_array_end(json);
    tts_json_number(json, "host_left_out", host->found.left_out);
    tts_json_object(json, "driver");
    tts_json_bool(json, "loaded", host->found.driver_loaded);
    tts_json_text_or_null(json, "version", host->found.driver_version);
    tts_json_object_end(json);
}

static enum tts_status find_hostchips(struct host *host, struct tts_error *err)
{
    const char *root = getenv("TTSCOPE_ROOT");
    if (root && root[0] && access(root, F_OK) != 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot read TTSCOPE_ROOT '%.80s'",
                                   root);
    return tts_hostchips_scan(&host->found, root ? root : "", NULL, err);
}

/* --- documents -------------------------------------------------------------------------- */

/* Begins a document on standard output. Returns false if standard output cannot be written. */
static bool begin_json(struct tts_job *job, struct tts_json *json)
{
    FILE *out = tts_job_open(job, "-");
    if (!out)
        return false;
    tts_json_init(json, out);
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.devices");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    return true;
}

static int print_all(struct tts_job *job, const struct host *host, bool as_json)
{
    struct tts_json json;
    if (as_json) {
        if (!begin_json(job, &json))
            return TTS_EXIT_INPUT;
        tts_chipview_json_list(&json);
        put_host(&json, host);
        tts_json_object_end(&json);
        return TTS_EXIT_DONE;
    }
    if (tts_chipview_text_list(stdout) == TTS_OK && print_host(host, stdout) == TTS_OK)
        return TTS_EXIT_DONE;
    tts_message(job->command, TTS_TEXT_NOMEM);
    return TTS_EXIT_INPUT;
}

/* Lists the presets and the chips of the host. If the host's chips cannot be read, the presets
 * are still written and the exit code reports the failure. */
static int list_all(struct tts_job *job, bool as_json)
{
    struct tts_error err = {0};
    struct host host = {0};
    int host_code = TTS_EXIT_DONE;
    if (find_hostchips(&host, &err) != TTS_OK) {
        host.reason = err.text;
        host_code = err.status == TTS_E_IO ? TTS_EXIT_DEVICE : TTS_EXIT_INPUT;
        tts_message(job->command, "%s", err.text);
    }
    int code = print_all(job, &host, as_json);
    tts_hostchips_release(&host.found);
    return code == TTS_EXIT_DONE ? tts_job_commit(job, host_code) : code;
}

/* Returns the preset of a chip, or NULL if the chip comes from a file. No preset has the name
 * of a file. */
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

static int show_one(struct tts_job *job, const struct devices_options *options)
{
    struct tts_chipview view = {0};
    struct tts_error err = {0};
    struct tts_json json;
    bool svg_is_stdout = options->svg_path && strcmp(options->svg_path, "-") == 0;
    int code = tts_device_arg_resolve(&options->arg, job->command, &view.chip);
    if (code != TTS_EXIT_DONE)
        return code;
    view.preset = preset_of(options->arg.name, &view.chip);
    if (!view.preset && options->svg_path &&
        tts_same_file(options->arg.name, options->svg_path)) {
        tts_message(job->command, "'%s' is the input: write the drawing to another file",
                    options->svg_path);
        return TTS_EXIT_USAGE;
    }
    if (options->layout)
        view.part_count = tts_chip_l1_parts(&view.chip, view.parts, &err);
    if (options->layout && view.part_count == 0)
        return tts_job_fail(job, NULL, &err);
    if (options->svg_path) {
        FILE *svg = tts_job_open(job, options->svg_path);
        if (!svg)
            return TTS_EXIT_INPUT;
        tts_l1map_write(&view.chip, view.parts, view.part_count, svg);
    }
    if (options->json) {
        if (!begin_json(job, &json))
            return TTS_EXIT_INPUT;
        tts_chipview_json_one(&json, &view);
        tts_json_object_end(&json);
    } else if (!options->layout) {
        tts_chipview_text_one(&view, stdout);
    } else if (!svg_is_stdout) {
        tts_chipview_text_layout(&view, tts_charset_is_utf8(), stdout);
    }
    return TTS_EXIT_DONE;
}

static int run_devices(struct tts_job *job, void *values)
{
    struct devices_options *options = values;
    if (job->operand_count == 0 && (options->layout || options->arg.set_count > 0))
        return tts_job_usage(job, "'%s' needs the name of a device (NAME)",
                             options->layout ? "--layout" : "--set");
    if (options->svg_path && strcmp(options->svg_path, "-") == 0 && options->json)
        return tts_job_usage(job,
                             "'--svg -' uses standard output: give a file, or omit --json");
    if (job->operand_count == 0)
        return list_all(job, options->json);
    options->arg.name = job->operands[0];
    return show_one(job, options);
}

const struct tts_command tts_devices_command = {
    .name = "devices",
    .operands = "[NAME]",
    .summary = "list known devices and the chips of this host",
    .work = run_devices,
    .options = options_table,
    .values_bytes = sizeof(struct devices_options),
    .operands_max = 1,
};
