/* cmd_fit.c: will a training run fit a device, and what would make it fit. */
#include "base/heap.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/fit_inference.h"
#include "cli/fit_parts.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/same_file.h"

#include <inttypes.h>
#include <string.h>

static const char command[] = TTS_FIT_COMMAND;

struct fit_command {
    struct tts_fit_options options;
    struct tts_trainconfig setup;
    struct tts_chip chip;
    struct tts_fit *fit;
    struct tts_fit_answer answer;
};

/* It has options of its own. */
static bool asks_for_inference(char **argv)
{
    for (char **arg = argv + 1; *arg && strcmp(*arg, "--") != 0; arg++)
        if (strcmp(*arg, "--inference") == 0)
            return true;
    return false;
}

/* The command line is wrong, or asks for a run that is not modelled: TTS_EXIT_USAGE. */
int tts_fit_print_notes(const struct tts_notes *notes, enum tts_status status)
{
    for (size_t i = 0; i <= notes->count; i++) {
        bool is_note = i < notes->count;
        const struct tts_note *note = is_note ? &notes->list[i] : &notes->error;
        const char *before = is_note ? "note: " : "";
        if (!is_note && status == TTS_OK)
            break;
        if (!note->path)
            tts_message(command, "%s%s", before, note->text);
        else if (note->line > 0)
            tts_message(command, "%s%s:%" PRIu32 ": %s", before, tts_message_path(note->path),
                        note->line, note->text);
        else
            tts_message(command, "%s%s: %s", before, tts_message_path(note->path), note->text);
    }
    if (status == TTS_OK)
        return TTS_EXIT_DONE;
    return status == TTS_E_INVALID ? TTS_EXIT_USAGE : TTS_EXIT_INPUT;
}

/* What the device cannot tell is a matter of the command line, the rest is input. */
static int fail(const struct fit_command *fit, const struct tts_error *err)
{
    if (err->status == TTS_E_NOT_FOUND) {
        tts_message(command, "device '%s': %s", fit->options.device.name, err->text);
        return TTS_EXIT_USAGE;
    }
    if (err->status == TTS_E_IO)
        tts_message(command, "%s", err->text);
    else
        tts_message_error(command, fit->options.path, err);
    return TTS_EXIT_INPUT;
}

/* Would the recording replace the model file, which the options do not name? */
static bool records_over_input(const struct fit_command *fit)
{
    const char *record = fit->options.record_path;
    for (unsigned i = 0; record && i < TTS_TRAINFILE_FILES; i++) {
        const char *path = fit->setup.file.paths[i];
        if (path[0] == '\0' || !tts_same_file(path, record))
            continue;
        tts_message(command, "'%s' is an input, the recording needs another file", record);
        return true;
    }
    return false;
}

/* ---- answers ---- */

static enum tts_status find(struct fit_command *fit, struct tts_error *err)
{
    const struct tts_fit_options *options = &fit->options;
    struct tts_fit_config config = {
        .chip = &fit->chip, .record_path = options->record_path, .parts = true};
    struct tts_fit_answer *answer = &fit->answer;
    enum tts_status status = tts_fit_new(&fit->setup.workload, &config, NULL, &fit->fit, err);
    if (status != TTS_OK)
        return status;
    answer->options = options;
    answer->setup = &fit->setup;
    answer->fit = fit->fit;
    if (options->has_max && !tts_fit_has_chips(&fit->setup.workload, &fit->chip))
        return TTS_OK; /* no batch or sequence changes that */
    if (options->has_max)
        return tts_largest_find(&fit->setup.workload, &fit->chip, options->max, NULL,
                                &answer->largest, err);
    if (tts_fit_fits(fit->fit))
        return TTS_OK;
    return tts_fit_change_find(fit->fit, NULL, answer->changes, &answer->change_count, err);
}

static enum tts_status print(const struct fit_command *fit, struct tts_error *err)
{
    struct tts_outfile file;
    struct tts_json json;
    enum tts_status status = tts_outfile_open(&file, "-", err);
    if (status != TTS_OK)
        return status;
    if (fit->options.json) {
        tts_json_init(&json, file.stream);
        tts_fit_json(&fit->answer, &json);
    } else {
        status = tts_fit_text(&fit->answer, file.stream, err);
    }
    if (status == TTS_OK)
        return tts_outfile_commit(&file, err);
    tts_outfile_abandon(&file);
    return status;
}

/* With --max the question is whether any fits. A run that its program refuses does not run. */
static bool is_good_news(const struct fit_command *fit)
{
    if (fit->setup.stop_count > 0)
        return false;
    return fit->options.has_max ? fit->answer.largest.value > 0 : tts_fit_fits(fit->fit);
}

static int run(struct fit_command *fit)
{
    struct tts_fit_options *options = &fit->options;
    struct tts_trainconfig *setup = &fit->setup;
    struct tts_error err = {0};
    int code = tts_device_arg_resolve(&fit->options.device, command, &fit->chip);
    if (code != TTS_EXIT_DONE)
        return code;
    enum tts_status status =
        tts_configpath_resolve(&options->path, options->folder_path, &setup->notes);
    if (status == TTS_OK)
        status = tts_trainconfig_load(setup, options->path, &options->overrides);
    code = tts_fit_print_notes(&setup->notes, status);
    if (code != TTS_EXIT_DONE)
        return code;
    if (records_over_input(fit))
        return TTS_EXIT_USAGE;
    if (find(fit, &err) != TTS_OK || print(fit, &err) != TTS_OK)
        return fail(fit, &err);
    return is_good_news(fit) ? TTS_EXIT_DONE : TTS_EXIT_BAD_NEWS;
}

int tts_cmd_fit(int argc, char **argv)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    int exit_code;
    if (asks_for_inference(argv))
        return tts_fit_inference(argc, argv);
    struct fit_command *fit = alloc->alloc(alloc->ctx, sizeof *fit);
    if (!fit) {
        tts_message(command, "out of memory");
        return TTS_EXIT_INPUT;
    }
    memset(fit, 0, sizeof *fit);
    if (tts_fit_options_read(&fit->options, argv, &exit_code) == TTS_OPTIONS_END)
        exit_code = run(fit);
    tts_fit_free(fit->fit);
    alloc->free(alloc->ctx, fit, sizeof *fit);
    return exit_code;
}
