/* show.c: what is in a recording or a graph trace. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/number.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/show_parts.h"

#include <inttypes.h>
#include <string.h>

static const char command[] = "show";

/* ---- options ---- */

enum { OPTION_AT, OPTION_TOP, OPTION_POOL, OPTION_ALL, OPTION_JSON };

static const struct tts_option options_table[] = {
    [OPTION_AT] = {"at", 0, true},        [OPTION_TOP] = {"top", 'n', true},
    [OPTION_POOL] = {"pool", 0, true},    [OPTION_ALL] = {"all", 'a', false},
    [OPTION_JSON] = {"json", 'j', false}, {0},
};

static bool set_number(const char *option, const char *text, uint64_t least, uint64_t *out)
{
    uint64_t value;
    if (tts_number_parse(text, strlen(text), &value) == TTS_OK && value >= least) {
        *out = value;
        return true;
    }
    tts_message(command, "'%s' is not a number for '%s', expected %" PRIu64 " or more", text,
                option, least);
    return false;
}

static bool set_pool(const char *text, enum tts_pool *out)
{
    static const char *const names[] = {[TTS_POOL_DRAM] = "dram",
                                        [TTS_POOL_L1] = "l1",
                                        [TTS_POOL_L1_SMALL] = "l1_small",
                                        [TTS_POOL_TRACE] = "trace"};
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        if (strcmp(text, names[pool]) != 0)
            continue;
        *out = (enum tts_pool)pool;
        return true;
    }
    tts_message(command, "unknown pool '%s', expected dram, l1, l1_small or trace", text);
    return false;
}

/* False: said what is wrong. */
static bool set_option(struct tts_show_options *show, int option, const char *value)
{
    uint64_t top;
    switch (option) {
    case OPTION_AT:
        return set_number("--at", value, 1, &show->at);
    case OPTION_TOP:
        if (!set_number("--top", value, 0, &top))
            return false;
        show->top = top < SIZE_MAX ? (size_t)top : 0;
        return true;
    case OPTION_POOL:
        return set_pool(value, &show->pool);
    case OPTION_ALL:
        show->all = true;
        return true;
    default:
        show->json = true;
        return true;
    }
}

/* TTS_OPTIONS_END when there is something to show, else TTS_OPTIONS_STOP and the exit code. */
static int read_options(struct tts_show_options *show, char **argv, int *exit_code)
{
    struct tts_options options = tts_options_begin(command, options_table, argv);
    int option;
    *exit_code = TTS_EXIT_USAGE;
    while ((option = tts_options_next(&options)) >= 0)
        if (!set_option(show, option, options.value))
            return TTS_OPTIONS_STOP;
    if (option == TTS_OPTIONS_STOP) {
        *exit_code = options.exit_code;
        return option;
    }
    if (options.operand_count != 1) {
        *exit_code = tts_options_bad_operands(&options, options.operand_count ? NULL : "FILE");
        return TTS_OPTIONS_STOP;
    }
    show->path = options.operands[0];
    return TTS_OPTIONS_END;
}

/* ---- what is said on stderr ---- */

static const char *shown_path(const struct tts_show *show)
{
    return strcmp(show->options.path, "-") == 0 ? "<stdin>" : show->options.path;
}

/* With its place. Errors of the system name the file themselves. */
static void say_error(const struct tts_show *show, const struct tts_error *err,
                      const char *then)
{
    const char *path = shown_path(show);
    if (err->line > 0)
        tts_message(command, "%s:%" PRIu32 ": %s%s", path, err->line, err->text, then);
    else if (err->offset > 0)
        tts_message(command, "%s: byte %" PRIu64 ": %s%s", path, err->offset, err->text, then);
    else if (err->status == TTS_E_IO || err->status == TTS_E_NOMEM)
        tts_message(command, "%s%s", err->text, then);
    else
        tts_message(command, "%s: %s%s", path, err->text, then);
}

/* True: the answer is of a part only. */
static bool say_notes(const struct tts_show *show)
{
    const struct tts_graph *graph = tts_eventfile_graph(show->file);
    bool is_bad = false;
    for (int i = 0; graph && i < TTS_GRAPH_NOTES; i++) {
        const struct tts_graph_note *note = tts_graph_note(graph, (enum tts_graph_note_kind)i);
        if (note->count == 0 || !tts_graph_note_is_bad((enum tts_graph_note_kind)i))
            continue;
        is_bad = true;
        tts_message(command, "%s:%" PRIu64 ": %s (%" PRIu64 " time%s)", shown_path(show),
                    note->line, note->text, note->count, note->count == 1 ? "" : "s");
    }
    return is_bad;
}

static bool say_state(const struct tts_show *show)
{
    const struct tts_recfile *recording = tts_eventfile_recording(show->file);
    enum tts_show_state state = tts_show_state(show);
    char reason[TTS_SHOW_REASON_MAX];
    if (state == TTS_SHOW_STATE_UNKNOWN)
        tts_message(command, "%s: its state is damaged, whether it is complete is not known",
                    shown_path(show));
    if (state != TTS_SHOW_STOPPED || tts_recfile_info(recording)->state.dropped == 0)
        return state == TTS_SHOW_STATE_UNKNOWN;
    tts_message(command, "%s: the recording %s, and %" PRIu64 " events were dropped",
                shown_path(show), tts_show_stop_text(show, reason),
                tts_recfile_info(recording)->state.dropped);
    return true;
}

/* What makes the answer one of a part. */
static int say_what_is_missing(const struct tts_show *show)
{
    bool is_partial = show->is_damaged;
    if (show->is_damaged)
        say_error(show, &show->damage, "; shown is what stands before");
    is_partial |= say_notes(show);
    is_partial |= say_state(show);
    if (show->missed > 0)
        tts_message(command, "%s: %" PRIu64 " events were dropped before they were recorded",
                    shown_path(show), show->missed);
    if (show->refused > 0)
        say_error(show, &show->refusal, "; passed over");
    is_partial |= show->missed > 0 || show->refused > 0;
    return is_partial ? TTS_EXIT_PARTIAL : TTS_EXIT_DONE;
}

/* ---- one event ---- */

/* How many events there are is known when all were read. */
static void count_events(struct tts_show *show)
{
    struct tts_item item;
    while (tts_eventfile_next(show->file, &item, NULL) == TTS_OK) {
        if (item.kind != TTS_ITEM_EVENT)
            continue;
        if (!show->has_event)
            show->first_seq = item.seq - 1;
        show->has_event = true;
        show->event.seq = item.seq;
    }
}

static int say_no_event(const struct tts_show *show)
{
    if (show->has_event)
        tts_message(command,
                    "there is no event %" PRIu64 " in '%s', it has %" PRIu64 " to %" PRIu64,
                    show->options.at, shown_path(show), show->first_seq + 1, show->event.seq);
    else
        tts_message(command, "there is no event %" PRIu64 " in '%s', it has none",
                    show->options.at, shown_path(show));
    return TTS_EXIT_USAGE;
}

/* To the last moment before the event that all is known of. */
static enum tts_status seek(struct tts_show *show, struct tts_error *err)
{
    struct tts_recfile *recording = tts_eventfile_recording(show->file);
    if (show->options.at == 0 || !recording)
        return TTS_OK;
    if (show->options.at <= tts_recfile_info(recording)->first_seq)
        return TTS_E_NOT_FOUND;
    return tts_recfile_seek(recording, show->options.at, err);
}

/* ---- the whole of it ---- */

static enum tts_status print(const struct tts_show *show, struct tts_error *err)
{
    struct tts_outfile file;
    struct tts_json json;
    if (!show->options.json) {
        tts_show_text(show, stdout);
        return TTS_OK;
    }
    enum tts_status status = tts_outfile_open(&file, "-", err);
    if (status != TTS_OK)
        return status;
    tts_json_init(&json, file.stream);
    tts_show_json(show, &json);
    return tts_outfile_commit(&file, err);
}

static int fail(const struct tts_show *show, const struct tts_error *err)
{
    say_error(show, err, "");
    return TTS_EXIT_INPUT;
}

/* Reads; an answer there is when TTS_EXIT_DONE is returned. */
static int read_file(struct tts_show *show, struct tts_error *err)
{
    enum tts_status status =
        tts_eventfile_open(show->options.path, show->alloc, &show->file, err);
    if (status == TTS_OK)
        status = seek(show, err);
    if (show->file && status == TTS_E_NOT_FOUND) {
        count_events(show);
        return say_no_event(show);
    }
    if (status != TTS_OK)
        return fail(show, err);
    tts_progress_begin(&show->progress, "reading", show->options.path,
                       tts_eventfile_size(show->file));
    status = tts_show_read(show, err);
    tts_progress_end(&show->progress);
    bool is_there = show->options.at == 0 || show->event.is_known;
    if (status == TTS_OK && !is_there)
        return say_no_event(show);
    if (status == TTS_E_NOMEM || (status != TTS_OK && (!show->has_event || !is_there)))
        return fail(show, err);
    show->is_damaged = status != TTS_OK;
    show->damage = *err;
    return TTS_EXIT_DONE;
}

static int run(struct tts_show *show)
{
    struct tts_error err = {0};
    int code = read_file(show, &err);
    if (code != TTS_EXIT_DONE)
        return code;
    if (tts_show_finish(show, &err) != TTS_OK || print(show, &err) != TTS_OK)
        return fail(show, &err);
    return say_what_is_missing(show);
}

int tts_cmd_show(int argc, char **argv)
{
    (void)argc;
    struct tts_show_options options = {.top = TTS_SHOW_TOP};
    struct tts_error err;
    int exit_code;
    if (read_options(&options, argv, &exit_code) == TTS_OPTIONS_STOP)
        return exit_code;
    const struct tts_alloc *alloc = tts_alloc_libc();
    struct tts_show *show = alloc->alloc(alloc->ctx, sizeof *show);
    if (!show) {
        tts_message(command, "out of memory");
        return TTS_EXIT_INPUT;
    }
    if (tts_show_init(show, &options, &err) == TTS_OK) {
        exit_code = run(show);
    } else {
        tts_message(command, "%s", err.text);
        exit_code = TTS_EXIT_INPUT;
    }
    tts_show_release(show);
    alloc->free(alloc->ctx, show, sizeof *show);
    return exit_code;
}
