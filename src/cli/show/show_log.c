/* show_log.c: shows a log. A log has no events; the answer is the failure in it. */
#include "analysis/failure/faillog.h"
#include "base/error.h"
#include "cli/message.h"
#include "cli/show/show.h"
#include "sources/input.h"
#include "sources/runs/runs.h"
#include "sources/trainlog/trainlog.h"
#include "views/failure/failview.h"
#include "views/say.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static const char command[] = "show";

struct show_log {
    struct tts_show *show;
    struct tts_faillog failures;
    bool lacks_failures; /* there was no memory for all of them */
    uint64_t summaries;
    struct tts_trainlog_facts facts;
};

static void take_failure_message(void *ctx, const struct tts_failmsg *msg)
{
    struct show_log *log = ctx;
    log->lacks_failures |= tts_faillog_add(&log->failures, msg, NULL) != TTS_OK;
}

static void tick_log_progress(void *ctx, uint64_t bytes)
{
    struct tts_show *show = ctx;
    tts_progress_show(&show->progress, bytes);
}

/* Reads the log to its end. Returns TTS_OK, or the reason why the rest cannot be read. */
static enum tts_status read_show_log(struct show_log *log, struct tts_error *err)
{
    struct tts_show *show = log->show;
    struct tts_runs_reader *reader;
    const struct tts_run *run;
    enum tts_status status = tts_runs_new(show->log, show->alloc, &reader, err);
    if (status != TTS_OK)
        return status;
    show->log = NULL; /* the reader owns it */
    tts_runs_on_failure(reader, take_failure_message, log);
    tts_runs_on_tick(reader, tick_log_progress, show);
    while ((status = tts_runs_next(reader, &run, err)) == TTS_OK)
        log->summaries++;
    if (tts_runs_log(reader))
        tts_trainlog_facts(tts_runs_log(reader), &log->facts);
    tts_runs_close(reader);
    if (log->lacks_failures)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    return status == TTS_E_NOT_FOUND ? TTS_OK : status;
}

/* Finds the reason why the content holds no events. The content of a pipe is gone. */
static void find_refusal(const char *path, struct tts_error *err)
{
    struct stat st;
    struct tts_eventfile *file = NULL;
    struct tts_item item;
    enum tts_status status = TTS_OK;
    if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
        status = tts_eventfile_open(path, NULL, NULL, &file, err);
    if (file)
        status = tts_eventfile_next(file, &item, err);
    if (status == TTS_OK || status == TTS_E_NOT_FOUND)
        tts_error_set(err, TTS_E_SYNTAX,
                      "is neither a recording (.tts) nor a graph trace (JSON)");
    tts_eventfile_close(file);
}

static int refuse_log(const struct show_log *log)
{
    struct tts_error err = {0};
    const char *path = log->show->options.path;
    if (log->summaries > 0)
        tts_error_set(&err, TTS_E_SYNTAX,
                      "is a log with %" PRIu64 " memory summar%s and without a failure: use "
                      "'ttscope analyze'",
                      log->summaries, log->summaries == 1 ? "y" : "ies");
    else
        find_refusal(path, &err);
    tts_message_error(command, path, &err);
    return TTS_EXIT_INPUT;
}

static void print_log_text(const struct show_log *log, const struct tts_failending *ending,
                           FILE *out)
{
    tts_failview_ending(ending, log->show->options.path, out);
    if (log->summaries > 0)
        tts_say(out, 2, "the log has %" PRIu64 " memory summar%s: use 'ttscope analyze'",
                log->summaries, log->summaries == 1 ? "y" : "ies");
}

static void print_log_json(const struct show_log *log, const struct tts_failending *ending,
                           bool is_damaged, FILE *out)
{
    struct tts_json json;
    tts_json_init(&json, out);
    tts_json_object(&json, NULL);
    tts_json_object(&json, "schema");
    tts_json_text(&json, "name", "ttscope.show.log");
    tts_json_number(&json, "version", 1);
    tts_json_object_end(&json);
    tts_json_text(&json, "file", log->show->options.path);
    tts_json_object(&json, "source");
    tts_json_text(&json, "kind", "log");
    tts_json_text(&json, "state", is_damaged ? "damaged" : "complete");
    tts_json_number(&json, "lines", log->facts.lines);
    tts_json_number(&json, "bytes", log->facts.bytes);
    tts_json_number(&json, "summaries", log->summaries);
    tts_json_object_end(&json);
    tts_json_number(&json, "failure_line", ending->line);
    tts_faillog_json(&log->failures, log->show->options.path, &json);
    tts_json_object_end(&json);
}

static int show_log(struct tts_job *job, struct show_log *log)
{
    struct tts_show *show = log->show;
    struct tts_error err = {0};
    struct tts_failending ending;
    enum tts_status status = read_show_log(log, &err);
    tts_progress_end(&show->progress);
    if (status != TTS_OK)
        tts_message_error(command, show->options.path, &err);
    if (status == TTS_E_NOMEM)
        return TTS_EXIT_INPUT;
    if (!tts_faillog_ending(&log->failures, 0, &ending))
        return status == TTS_OK ? refuse_log(log) : TTS_EXIT_INPUT;
    FILE *out = tts_job_open(job, "-");
    if (!out)
        return TTS_EXIT_INPUT;
    if (show->options.json)
        print_log_json(log, &ending, status != TTS_OK, out);
    else
        print_log_text(log, &ending, out);
    return status == TTS_OK ? TTS_EXIT_DONE : TTS_EXIT_PARTIAL;
}

int tts_show_log(struct tts_job *job, struct tts_show *show)
{
    struct show_log log = {.show = show};
    tts_faillog_init(&log.failures, show->alloc);
    int code = show_log(job, &log);
    tts_faillog_release(&log.failures);
    return code;
}
