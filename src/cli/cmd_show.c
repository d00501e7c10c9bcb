/* cmd_show.c: what is in a recording or a graph trace. */
#include "base/heap.h"
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

enum { OPTION_AT, OPTION_TOP, OPTION_POOL, OPTION_ALL, OPTION_FOLLOW, OPTION_JSON };

static const struct tts_option options_table[] = {
    [OPTION_AT] = {"at", 0, true},
    [OPTION_TOP] = {"top", 'n', true},
    [OPTION_POOL] = {"pool", 0, true},
    [OPTION_ALL] = {"all", 'a', false},
    [OPTION_FOLLOW] = {"follow", 'f', false},
    [OPTION_JSON] = {"json", 'j', false},
    {0},
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
    case OPTION_FOLLOW:
        show->follow = true;
        return true;
    default:
        show->json = true;
        return true;
    }
}

static bool check_follow(const struct tts_show_options *show)
{
    if (show->follow && show->at > 0)
        tts_message(command,
                    "'--follow' and '--at' do not go together: an event does not change");
    else if (show->follow && strcmp(show->path, "-") == 0)
        tts_message(command,
                    "'--follow' needs a file: standard input is read to its end first");
    else
        return true;
    return false;
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
    return check_follow(show) ? TTS_OPTIONS_END : TTS_OPTIONS_STOP;
}

/* ---- one event ---- */

/* How many events there are is known when all were read. TTS_E_NOT_FOUND: they were. */
static enum tts_status count_events(struct tts_show *show, struct tts_error *err)
{
    struct tts_item item;
    enum tts_status status;
    while ((status = tts_eventfile_next(show->file, &item, err)) == TTS_OK) {
        if (item.kind != TTS_ITEM_EVENT)
            continue;
        if (!show->sum.has_event)
            show->sum.first_seq = item.seq - 1;
        show->sum.has_event = true;
        show->sum.event.seq = item.seq;
    }
    return status;
}

static int say_no_event(const struct tts_show *show)
{
    if (show->sum.has_event)
        tts_message(command,
                    "there is no event %" PRIu64 " in '%s', it has %" PRIu64 " to %" PRIu64,
                    show->options.at, tts_message_path(show->options.path),
                    show->sum.first_seq + 1, show->sum.event.seq);
    else
        tts_message(command, "there is no event %" PRIu64 " in '%s', it has none",
                    show->options.at, tts_message_path(show->options.path));
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
    /* A keyframe behind the event does not have it. */
    return tts_recfile_seek(recording, show->options.at - 1, err);
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
    json.is_one_line = show->options.follow;
    tts_show_json(show, &json);
    return tts_outfile_commit(&file, err);
}

static int fail(const struct tts_show *show, const struct tts_error *err)
{
    tts_message_error(command, show->options.path, err);
    return TTS_EXIT_INPUT;
}

static void on_read(void *ctx, uint64_t bytes)
{
    struct tts_show *show = ctx;
    tts_progress_show(&show->progress, bytes);
}

static enum tts_status open_file(struct tts_show *show, struct tts_error *err)
{
    const char *path = show->options.path;
    struct tts_eventfile_watch watch = {on_read, show};
    tts_progress_begin(&show->progress, "reading", path, 0);
    enum tts_status status = tts_eventfile_open(path, &watch, show->alloc, &show->file, err);
    tts_progress_end(&show->progress);
    if (status == TTS_OK)
        status = seek(show, err);
    if (status == TTS_OK)
        tts_progress_begin(&show->progress, "reading", path, tts_eventfile_size(show->file));
    return status;
}

/* Reads; an answer there is when TTS_EXIT_DONE is returned. */
static int read_file(struct tts_show *show, struct tts_error *err)
{
    enum tts_status status = open_file(show, err);
    if (show->file && status == TTS_E_NOT_FOUND)
        return count_events(show, err) == TTS_E_NOT_FOUND ? say_no_event(show)
                                                          : fail(show, err);
    if (status != TTS_OK)
        return fail(show, err);
    bool is_loaded = !show->options.follow && tts_show_load(show);
    if (show->options.follow || is_loaded)
        tts_progress_end(&show->progress);
    if (is_loaded)
        return TTS_EXIT_DONE;
    status = show->options.follow ? tts_show_follow(show, err) : tts_show_read(show, err);
    tts_progress_end(&show->progress);
    bool is_there = show->options.at == 0 || show->sum.event.is_known;
    if (status == TTS_OK && !is_there)
        return say_no_event(show);
    if (status == TTS_E_NOMEM || (status != TTS_OK && !(show->partial.has_items && is_there)))
        return fail(show, err);
    if (status != TTS_OK)
        show->partial.damage = *err;
    return TTS_EXIT_DONE;
}

static int run(struct tts_show *show)
{
    struct tts_error err = {0};
    int code = read_file(show, &err);
    if (code != TTS_EXIT_DONE || show->is_interrupted)
        return code;
    if (show->is_abandoned)
        tts_message(command,
                    "%s: its program, pid %" PRIu64 ", is not running any more and did "
                    "not end it: complete up to its last event",
                    tts_message_path(show->options.path),
                    tts_recfile_info(tts_eventfile_recording(show->file))->header.pid);
    if (!show->sum.stored && tts_eventscan_finish(&show->scan, &err) != TTS_OK)
        return fail(show, &err);
    show->partial.core = &show->sum.whole->usage.core;
    tts_partial_list(&show->partial, show->file, &show->missing);
    if (print(show, &err) != TTS_OK)
        return fail(show, &err);
    return tts_partial_say(&show->missing, command, show->options.path);
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
