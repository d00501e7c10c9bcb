/* cmd_show.c: the command `show`, which shows the memory use in a recording, a graph trace or
 * a log. */
#include "base/error.h"
#include "base/heap.h"
#include "cli/commands.h"
#include "cli/growing_arg.h"
#include "cli/job.h"
#include "cli/message.h"
#include "cli/show/show.h"
#include "sources/input.h"
#include "sources/runtimelog/oplog.h"

#include <inttypes.h>
#include <string.h>

static const char command[] = "show";

/* ---- options ---- */

static const char *const pool_names[] = {[TTS_POOL_DRAM] = "dram",
                                         [TTS_POOL_L1] = "l1",
                                         [TTS_POOL_L1_SMALL] = "l1_small",
                                         [TTS_POOL_TRACE] = "trace",
                                         NULL};

static const struct tts_option options_table[] = {
    {"at", 0, TTS_OPTION_NUMBER, offsetof(struct tts_show_options, at), "EVENT",
     "show the memory in use after this event", .min = 1},
    {"top", 'n', TTS_OPTION_NUMBER, offsetof(struct tts_show_options, top), "N",
     .help = "number of buffers and operations to list; 0: all"},
    {"pool", 0, TTS_OPTION_WORD, offsetof(struct tts_show_options, pool),
     .help = "the pool to show", .words = pool_names},
    {"rank", 0, TTS_OPTION_TEXT, offsetof(struct tts_show_options, rank), "NAME",
     .help = "the rank of a runtime log to show"},
    {"all", 'a', TTS_OPTION_FLAG, offsetof(struct tts_show_options, all),
     .help = "list all phases"},
    {"leaks", 0, TTS_OPTION_FLAG, offsetof(struct tts_show_options, leaks),
     .help = "find leaks; exit with 1 if there is one", .excludes = "at"},
    {"device", 'd', TTS_OPTION_TEXT, offsetof(struct tts_show_options, device.name), "NAME",
     .help = "say whether the peak is critical for this device"},
    {"set", 0, TTS_OPTION_OTHER, offsetof(struct tts_show_options, device), "KEY=VALUE",
     "change a property of the device", .take = tts_device_arg_take_set, .needs = "device"},
    {"phases", 0, TTS_OPTION_FLAG, offsetof(struct tts_show_options, phases),
     .help = "show the phases of traces", .excludes = "at"},
    {"growing", 0, TTS_OPTION_FLAG, offsetof(struct tts_show_options, growing),
     .help = "find pools that grow, or grew for a time", .excludes = "at"},
    {"growing-interval", 0, TTS_OPTION_OTHER,
     offsetof(struct tts_show_options, growing_rule.interval_ns), "SECONDS",
     "seconds between samples of growing pools (default: 5)",
     .take = tts_growing_arg_take_interval, .needs = "growing"},
    {"growing-rises", 0, TTS_OPTION_NUMBER,
     offsetof(struct tts_show_options, growing_rule.rises), "N",
     "rises without a fall after which a pool is growing (default: 2)", .min = 1,
     .max = TTS_GROWING_ARG_RISES_MAX, .needs = "growing"},
    {"follow", 'f', TTS_OPTION_FLAG, offsetof(struct tts_show_options, follow),
     .help = "follow a recording while it is written", .excludes = "at"},
    {"json", 'j', TTS_OPTION_FLAG, offsetof(struct tts_show_options, json),
     .help = "write JSON"},
    {0},
};

/* ---- one event ---- */

/* Reads the rest of the file to find the first and the last event. Returns TTS_E_NOT_FOUND at
 * the end of the file. */
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
                    "there is no event %" PRIu64 " in '%s': the file has events %" PRIu64
                    " to %" PRIu64,
                    show->options.at, tts_message_path(show->options.path),
                    show->sum.first_seq + 1, show->sum.event.seq);
    else
        tts_message(command, "there is no event %" PRIu64 " in '%s': the file has no events",
                    show->options.at, tts_message_path(show->options.path));
    return TTS_EXIT_USAGE;
}

/* Seeks to the last keyframe before the requested event. Does nothing for a graph trace, which
 * is read from its start. Returns TTS_E_NOT_FOUND if the recording has no such event. */
static enum tts_status seek_to_event(struct tts_show *show, struct tts_error *err)
{
    struct tts_recfile *recording = tts_eventfile_recording(show->file);
    if (show->options.at == 0 || !recording)
        return TTS_OK;
    if (show->options.at <= tts_recfile_info(recording)->first_seq)
        return TTS_E_NOT_FOUND;
    /* A keyframe directly after the event does not contain the event itself. */
    return tts_recfile_seek(recording, show->options.at - 1, err);
}

/* ---- the command ---- */

static bool print_show_answer(struct tts_job *job, struct tts_show *show)
{
    struct tts_show_facts facts;
    struct tts_json json;
    tts_show_facts(show, &facts);
    if (!show->options.json) {
        tts_show_text(&facts, stdout);
        return true;
    }
    FILE *out = tts_job_open(job, "-");
    if (!out)
        return false;
    tts_json_init(&json, out);
    json.is_one_line = show->options.follow;
    tts_show_json(&facts, &json);
    return true;
}

static int fail_to_show(const struct tts_show *show, const struct tts_error *err)
{
    tts_message_error(command, show->options.path, err);
    return TTS_EXIT_INPUT;
}

static void on_show_progress(void *ctx, uint64_t bytes)
{
    struct tts_show *show = ctx;
    tts_progress_show(&show->progress, bytes);
}

/* Opens the content of `in` as a log if it is a text, or else as events. Takes over `in`. */
static enum tts_status open_show_input(struct tts_show *show, struct tts_input *in,
                                       struct tts_error *err)
{
    struct tts_eventfile_watch watch = {on_show_progress, show};
    enum tts_input_kind kind;
    enum tts_status status = tts_input_kind(in, &kind, err);
    bool has_events = show->options.follow || show->options.at > 0;
    if (status == TTS_OK && kind == TTS_INPUT_TEXT && !has_events) {
        show->log = in;
        return TTS_OK;
    }
    if (status == TTS_OK)
        status = tts_eventfile_new(in, &watch, show->alloc, &show->file, err);
    if (status != TTS_OK)
        tts_input_close(in);
    return status;
}

static enum tts_status open_show_file(struct tts_show *show, struct tts_error *err)
{
    const char *path = show->options.path;
    struct tts_input *in;
    enum tts_status status = tts_input_open(path, show->alloc, &in, err);
    if (status == TTS_E_NOMEM)
        return tts_error_set(err, status, TTS_TEXT_NOMEM);
    if (status != TTS_OK)
        return status;
    tts_progress_begin(&show->progress, "reading", path, 0);
    uint64_t size = tts_input_total(in);
    status = open_show_input(show, in, err);
    tts_progress_end(&show->progress);
    if (status == TTS_OK && !show->log)
        status = seek_to_event(show, err);
    if (status == TTS_OK)
        tts_progress_begin(&show->progress, "reading", path,
                           show->log ? size : tts_eventfile_size(show->file));
    return status;
}

/* Reads the file. Returns TTS_EXIT_DONE if there is something to print. Otherwise prints a
 * message. */
static int read_show_file(struct tts_show *show, struct tts_error *err)
{
    enum tts_status status = open_show_file(show, err);
    if (show->file && status == TTS_E_NOT_FOUND)
        return count_events(show, err) == TTS_E_NOT_FOUND ? say_no_event(show)
                                                          : fail_to_show(show, err);
    if (status != TTS_OK)
        return fail_to_show(show, err);
    if (show->log)
        return TTS_EXIT_DONE;
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
        return fail_to_show(show, err);
    if (status != TTS_OK)
        show->partial.damage = *err;
    return TTS_EXIT_DONE;
}

/* Shows a text: the log of a runtime, or another log. The kind is known only at the end, so a
 * pipe is kept in a temporary file if its beginning does not tell. */
static int show_any_log(struct tts_job *job, struct tts_show *show)
{
    struct tts_error err = {0};
    struct tts_span head;
    bool is_one;
    head.at = (const char *)tts_input_head(show->log, &head.len);
    enum tts_status status = TTS_OK;
    if (!tts_oplog_is_head(head))
        status = tts_input_spool(show->log, "the log", on_show_progress, show, &err);
    if (status != TTS_OK)
        return fail_to_show(show, &err);
    int code = tts_show_runtimelog(job, show, &is_one);
    if (is_one)
        return code;
    status = tts_input_rewind(show->log, &err);
    return status == TTS_OK ? tts_show_log(job, show) : fail_to_show(show, &err);
}

static int show_file(struct tts_job *job, struct tts_show *show)
{
    struct tts_error err = {0};
    int code =
        tts_device_arg_banks(&show->options.device, command, show->bank_bytes, show->banks);
    if (code == TTS_EXIT_DONE)
        code = read_show_file(show, &err);
    if (code != TTS_EXIT_DONE || show->is_interrupted)
        return code;
    if (show->log)
        return show_any_log(job, show);
    if (show->is_abandoned)
        tts_message(command,
                    "%s: the recorded program (pid %" PRIu64 ") no longer runs and did not "
                    "close the recording; all events that it recorded are shown",
                    tts_message_path(show->options.path),
                    tts_recfile_info(tts_eventfile_recording(show->file))->header.pid);
    if (!show->sum.stored && tts_eventscan_finish(&show->scan, &err) != TTS_OK)
        return fail_to_show(show, &err);
    struct tts_recfile *recording = tts_eventfile_recording(show->file);
    bool has_cores =
        !recording || !(tts_recfile_info(recording)->header.flags & TTS_REC_L1_REQUESTED);
    show->partial.core = has_cores ? &show->sum.whole->usage.core : NULL;
    tts_partial_list(&show->partial, show->file, &show->missing);
    if (!print_show_answer(job, show))
        return TTS_EXIT_INPUT;
    int partial = tts_message_partial(&show->missing, command, show->options.path);
    return show->sum.leaks.count > 0 ? TTS_EXIT_BAD_NEWS : partial;
}

static int run_show(struct tts_job *job, void *values)
{
    struct tts_show_options *options = values;
    const struct tts_alloc *alloc = tts_alloc_libc();
    struct tts_error err;
    options->path = job->operands[0];
    if (options->follow && strcmp(options->path, "-") == 0) {
        tts_message(command, "'--follow' needs a file, not standard input");
        return TTS_EXIT_USAGE;
    }
    struct tts_show *show = alloc->alloc(alloc->ctx, sizeof *show);
    if (!show) {
        tts_message(command, TTS_TEXT_NOMEM);
        return TTS_EXIT_INPUT;
    }
    int code = tts_show_init(show, options, &err) == TTS_OK ? show_file(job, show)
                                                            : tts_job_fail(job, NULL, &err);
    tts_show_release(show);
    alloc->free(alloc->ctx, show, sizeof *show);
    return code;
}

static const struct tts_show_options defaults = {
    .top = TTS_SHOW_TOP, .growing_rule = {TTS_GROWTH_INTERVAL_NS, TTS_GROWTH_RISES}};

const struct tts_command tts_show_command = {
    .name = "show",
    .operands = "FILE",
    .summary = "show the memory use in a recording, a graph trace or a log",
    .work = run_show,
    .options = options_table,
    .defaults = &defaults,
    .values_bytes = sizeof(struct tts_show_options),
    .operands_min = 1,
    .operands_max = 1,
};
