/* cmd_analyze.c: what training logs say about memory. */
#include "cli/analyze.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/share.h"
#include "cli/analyze_parts.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/external.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/same_file.h"
#include "sources/runs/runs.h"
#include "sources/trainlog/trainlog.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const char command[] = TTS_ANALYZE_COMMAND;

enum { NOTES_SAID_MAX = 20 }; /* of a log */

/* ---- outputs ---- */

/* What cannot be written is said before any work. */
static enum tts_status open_outputs(struct tts_analyze_job *analyze, struct tts_error *err)
{
    const struct tts_analyze_options *options = &analyze->options;
    enum tts_status status = tts_outfile_open(&analyze->out, "-", err);
    if (status == TTS_OK && options->junit_path)
        status = tts_outfile_open(&analyze->junit_file, options->junit_path, err);
    for (int i = 0; i < TTS_PICTURES && status == TTS_OK; i++)
        if (options->has_picture[i])
            status = tts_outfile_open(&analyze->pictures[i], options->picture_path[i], err);
    if (status == TTS_OK && options->junit_path)
        status = tts_junit_begin(&analyze->junit, analyze->junit_file.stream, "ttscope analyze",
                                 err);
    if (status != TTS_OK)
        return status;
    tts_json_init(&analyze->json, analyze->out.stream);
    tts_rowout_init(&analyze->rows, analyze->out.stream);
    if (options->json)
        tts_analyze_json_begin(&analyze->json);
    if (options->csv)
        tts_analyze_csv_begin(&analyze->rows);
    return TTS_OK;
}

static void abandon_outputs(struct tts_analyze_job *analyze)
{
    tts_outfile_abandon(&analyze->out);
    tts_junit_release(&analyze->junit);
    tts_outfile_abandon(&analyze->junit_file);
    for (int i = 0; i < TTS_PICTURES; i++)
        tts_outfile_abandon(&analyze->pictures[i]);
}

/* ---- a run ---- */

/* Whether there is room for one more line about a log. */
static bool may_say(struct tts_analyze_job *analyze)
{
    tts_progress_end(&analyze->progress);
    return analyze->notes_said++ < NOTES_SAID_MAX;
}

/* Writes ":23", which follows a path, or "" for a file without lines. Returns `out`. */
static const char *line_words(char out[TTS_ANALYZE_NUMBER_MAX], uint64_t line)
{
    out[0] = '\0';
    if (line > 0)
        snprintf(out, TTS_ANALYZE_NUMBER_MAX, ":%" PRIu64, line);
    return out;
}

static void say_notes(struct tts_analyze_job *analyze, const struct tts_analyze_run *run)
{
    const char *path = tts_message_path(run->log);
    const struct tts_run *what = run->run;
    char line[TTS_ANALYZE_NUMBER_MAX];
    for (size_t i = 0; i < what->note_count; i++)
        if (may_say(analyze))
            tts_message(command, "%s%s: %s", path, line_words(line, what->notes[i].line),
                        what->notes[i].text);
    if (what->notes_in_all > what->note_count)
        analyze->notes_said += what->notes_in_all - what->note_count;
    if (what->is_cut && what->end_line > 0 && may_say(analyze))
        tts_message(command, "%s%s: the summary is cut off behind line %" PRIu64, path,
                    line_words(line, what->line), what->end_line);
    analyze->is_partial |= what->notes_in_all > 0 || what->is_cut || what->is_at_least;
}

/* Always said: it is why the exit status is 1. */
static void say_above(struct tts_analyze_job *analyze, const struct tts_analyze_run *run)
{
    char share[TTS_ANALYZE_NUMBER_MAX], limit[TTS_ANALYZE_NUMBER_MAX],
        line[TTS_ANALYZE_NUMBER_MAX];
    const struct tts_trainmem *mem = run->mem;
    tts_progress_end(&analyze->progress);
    tts_analyze_percent(share, mem->peak.bytes, mem->device_memory.bytes);
    tts_message(command, "%s%s: the peak of '%s' is %s%% of the device, %s%s%s",
                tts_message_path(run->log), line_words(line, run->run->line), run->name, share,
                mem->is_refused ? "but the run does not fit it" : "above ",
                mem->is_refused ? "" : tts_share_format(limit, analyze->options.limit),
                mem->is_refused ? "" : "%");
}

static void judge(struct tts_analyze_job *analyze, const struct tts_analyze_run *run)
{
    if (!analyze->options.has_limit)
        return;
    enum tts_analyze_answer answer = tts_analyze_judge(&analyze->options, run->mem);
    analyze->is_bad_news |= answer == TTS_ANALYZE_BAD;
    if (answer == TTS_ANALYZE_BAD)
        say_above(analyze, run);
    if (answer != TTS_ANALYZE_UNKNOWN)
        return;
    analyze->is_partial = true;
    const char *why = !run->mem->peak.is_known            ? "the peak is not known"
                      : !run->mem->device_memory.is_known ? "the device memory is not known"
                                                          : "the peak may be more";
    char line[TTS_ANALYZE_NUMBER_MAX];
    if (may_say(analyze))
        tts_message(command, "%s%s: %s, so '--fail-above' cannot be told",
                    tts_message_path(run->log), line_words(line, run->run->line), why);
}

/* Returns the kept run that is least worth showing. */
static struct tts_analyze_kept **best_kept(struct tts_analyze_gallery *gallery)
{
    struct tts_analyze_kept **best = &gallery->kept[0];
    for (size_t i = 1; i < gallery->count; i++)
        if (tts_analyze_is_worse(&(*best)->worth, &gallery->kept[i]->worth))
            best = &gallery->kept[i];
    return best;
}

/* Keeps the worst runs for pictures. For JSON without pictures, keeps the first run, in case it
 * is the only one. */
static enum tts_status keep(struct tts_analyze_job *analyze, const struct tts_analyze_run *run,
                            struct tts_error *err)
{
    struct tts_analyze_gallery *gallery = &analyze->gallery;
    bool is_drawn = tts_analyze_wants_pictures(&analyze->options);
    size_t max = is_drawn ? TTS_CHART_RUNS_MAX : analyze->options.json;
    struct tts_analyze_worth worth = tts_analyze_worth_of(run->mem, gallery->all.runs);
    struct tts_analyze_kept **at = NULL;
    tts_analyze_tally_add(&gallery->all, worth.verdict);
    if (gallery->count < max)
        at = &gallery->kept[gallery->count];
    else if (is_drawn && tts_analyze_is_worse(&worth, &(*best_kept(gallery))->worth))
        at = best_kept(gallery);
    if (!at)
        return TTS_OK;
    struct tts_analyze_kept *kept = tts_analyze_keep(run);
    if (!kept)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    kept->worth = worth;
    if (gallery->count < max)
        gallery->count++;
    else
        tts_analyze_kept_free(*at);
    *at = kept;
    return TTS_OK;
}

static void write_run(struct tts_analyze_job *analyze, const struct tts_analyze_run *run)
{
    const struct tts_analyze_options *options = &analyze->options;
    if (options->json)
        tts_analyze_json_run(&analyze->json, run);
    else if (options->csv)
        tts_analyze_csv_run(&analyze->rows, run);
    else
        tts_analyze_text_run(options, run, analyze->out.stream);
    if (options->junit_path)
        tts_analyze_junit_run(&analyze->junit, options, run);
}

static enum tts_status take_run(struct tts_analyze_job *analyze, struct tts_analyze_log *log,
                                const struct tts_run *what, struct tts_error *err)
{
    struct tts_trainmem mem;
    char name[TTS_RUN_LABEL_MAX];
    tts_trainmem_of(what, &analyze->options.mem, &mem);
    log->runs++;
    log->untitled += what->title[0] == '\0';
    tts_analyze_name_once(&analyze->names, what, analyze->label, log->untitled, name);
    const struct tts_analyze_run run = {name, log->path, what, &mem};
    tts_analyze_alike_add(&analyze->alike, &run);
    tts_analyze_table_add(&analyze->table, &run);
    write_run(analyze, &run);
    analyze->is_partial |= mem.covers_first && !mem.has_verdict;
    say_notes(analyze, &run);
    judge(analyze, &run);
    return keep(analyze, &run, err);
}

/* ---- a log ---- */

/* Why there is none, where it can be told. */
static void tell_none(struct tts_analyze_log *log, const struct tts_trainlog_facts *facts)
{
    static const char none[] = "no memory summary: ";
    char *out = log->problem + sizeof none - 1;
    size_t max = sizeof log->problem - sizeof none + 1;
    memcpy(log->problem, none, sizeof none);
    if (facts->bytes == 0)
        snprintf(out, max, "it is empty");
    else if (facts->is_utf16)
        snprintf(out, max, "it is UTF-16, convert it by 'iconv -f UTF-16 -t UTF-8'");
    else if (facts->stray_lines > 0)
        snprintf(out, max,
                 "line %" PRIu64 " has memory figures, but their heading '=== Memory Usage "
                 "Summary ===' is missing",
                 facts->stray_line);
    else if (tts_path_ends_in(log->path, ".tts"))
        snprintf(out, max, "it is not a recording either");
    else if (tts_path_ends_in(log->path, ".json"))
        snprintf(out, max, "it is not a result that 'ttscope fit --json' or 'show' saved");
    else if (facts->has_nul)
        snprintf(out, max, "it is no text file");
    else
        snprintf(out, max,
                 "run the program with memory tracking ('--track_memory'); the heading '=== "
                 "Memory Usage Summary ===' is looked for");
    tts_message(command, "no memory summary in '%s': %s", tts_message_path(log->path), out);
}

static void on_tick(void *ctx, uint64_t taken)
{
    struct tts_analyze_job *analyze = ctx;
    tts_progress_show(&analyze->progress, taken);
}

static void fail_log(struct tts_analyze_job *analyze, struct tts_analyze_log *log,
                     const struct tts_error *err)
{
    tts_progress_end(&analyze->progress);
    tts_message_error(command, log->path, err);
    snprintf(log->problem, sizeof log->problem, "%s", err->text);
}

static void tell_log(struct tts_analyze_job *analyze, struct tts_analyze_log *log,
                     const struct tts_runs_reader *file)
{
    struct tts_trainlog_facts facts;
    const char *path = tts_message_path(log->path);
    log->is_saved = !tts_runs_log(file);
    if (log->is_saved)
        return;
    tts_trainlog_facts(tts_runs_log(file), &facts);
    log->lines = facts.lines;
    log->bytes = facts.bytes;
    if (analyze->notes_said > NOTES_SAID_MAX)
        tts_message(command, "%s: %" PRIu64 " more of these", path,
                    analyze->notes_said - NOTES_SAID_MAX);
    if (log->problem[0] != '\0')
        return;
    if (log->runs == 0 && tts_runs_refusal(file) && strcmp(log->path, "-") == 0) {
        fail_log(analyze, log, tts_runs_refusal(file));
    } else if (log->runs == 0) {
        tell_none(log, &facts);
    } else if (facts.stray_lines > 0) {
        snprintf(log->problem, sizeof log->problem,
                 "memory figures outside any summary, %" PRIu64 " line%s passed over",
                 facts.stray_lines, facts.stray_lines == 1 ? "" : "s");
        tts_message(command, "%s:%" PRIu64 ": %s", path, facts.stray_line, log->problem);
    }
}

/* TTS_E_NOMEM; what else is wrong with a log is said, and others are read. */
static enum tts_status take_log(struct tts_analyze_job *analyze, struct tts_analyze_log *log,
                                struct tts_error *err)
{
    struct tts_runs_reader *file;
    const struct tts_run *run;
    struct tts_error why = {0};
    enum tts_status kept = TTS_OK, status = tts_runs_open(log->path, NULL, &file, &why);
    analyze->notes_said = 0;
    if (status != TTS_OK) {
        fail_log(analyze, log, &why);
        return TTS_OK;
    }
    tts_progress_begin(&analyze->progress, "reading", log->path, tts_runs_bytes(file));
    tts_runs_on_tick(file, on_tick, analyze);
    while (kept == TTS_OK && (status = tts_runs_next(file, &run, &why)) == TTS_OK)
        kept = take_run(analyze, log, run, err);
    tts_progress_end(&analyze->progress);
    if (status != TTS_OK && status != TTS_E_NOT_FOUND)
        fail_log(analyze, log, &why);
    tell_log(analyze, log, file);
    tts_runs_close(file);
    return kept;
}

static enum tts_status take_logs(struct tts_analyze_job *analyze, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    for (size_t i = 0; i < analyze->options.log_count && status == TTS_OK; i++) {
        struct tts_analyze_log *log = &analyze->logs[i];
        log->path = analyze->options.logs[i];
        analyze->label = tts_run_label(analyze->options.logs, analyze->options.log_count, i);
        status = take_log(analyze, log, err);
        if (log->problem[0] == '\0')
            continue;
        analyze->is_partial = true;
        if (analyze->options.junit_path)
            tts_analyze_junit_log(&analyze->junit, &analyze->options, log, analyze->label);
    }
    return status;
}

/* ---- all of it ---- */

static int exit_code_of(const struct tts_analyze_job *analyze)
{
    if (analyze->is_failed || analyze->alike.runs == 0)
        return TTS_EXIT_INPUT;
    if (analyze->is_bad_news)
        return TTS_EXIT_BAD_NEWS;
    return analyze->is_partial ? TTS_EXIT_PARTIAL : TTS_EXIT_DONE;
}

static int run(struct tts_analyze_job *analyze)
{
    struct tts_error err = {0};
    enum tts_status status = open_outputs(analyze, &err);
    if (status == TTS_OK)
        status = take_logs(analyze, &err);
    if (status != TTS_OK) {
        tts_message(command, "%s", err.text);
        return TTS_EXIT_INPUT;
    }
    tts_analyze_finish(analyze);
    return exit_code_of(analyze);
}

/* ---- the command ---- */

/* Pictures other than SVG are drawn by a program of their own. */
static int become_drawer(char **argv)
{
    int code = tts_external_exec(argv);
    if (code >= 0)
        return code;
    tts_message(command, "cannot draw PNG or PDF: its program is not installed "
                         "(libexec/ttscope/ttscope-analyze); '--format svg' works without");
    return TTS_EXIT_INPUT;
}

/* `original` is argv as it was before options were read. */
static int run_options(struct tts_analyze_job *analyze, char **argv, char **original)
{
    int exit_code;
    if (tts_analyze_options_read(&analyze->options, argv, &exit_code) != TTS_OPTIONS_END)
        return exit_code;
    if (tts_analyze_wants_pictures(&analyze->options) &&
        analyze->options.format != TTS_PICTURE_SVG && !analyze->gallery.drawer)
        return become_drawer(original);
    exit_code = tts_analyze_options_resolve(&analyze->options);
    return exit_code == TTS_EXIT_DONE ? run(analyze) : exit_code;
}

struct room {
    struct tts_analyze_job analyze;
    /* behind: the logs, their names, a copy of argv */
    struct tts_analyze_log logs[];
};

int tts_analyze(int argc, char **argv, const struct tts_analyze_drawer *drawer)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    size_t count = (size_t)argc + 1;
    size_t names_at = sizeof(struct room) + count * sizeof(struct tts_analyze_log);
    size_t bytes = names_at + 2 * count * sizeof(char *);
    struct room *room = alloc->alloc(alloc->ctx, bytes);
    if (!room) {
        tts_message(command, "out of memory");
        return TTS_EXIT_INPUT;
    }
    memset(room, 0, bytes);
    struct tts_analyze_job *analyze = &room->analyze;
    void *names = (char *)room + names_at;
    analyze->logs = room->logs;
    analyze->options.logs = names;
    analyze->gallery.drawer = drawer;
    char **original = (char **)names + count;
    memcpy(original, argv, (size_t)argc * sizeof *original);
    int exit_code = run_options(analyze, argv, original);
    abandon_outputs(analyze);
    for (size_t i = 0; i < analyze->gallery.count; i++)
        tts_analyze_kept_free(analyze->gallery.kept[i]);
    alloc->free(alloc->ctx, room, bytes);
    return exit_code;
}

int tts_cmd_analyze(int argc, char **argv)
{
    return tts_analyze(argc, argv, NULL);
}
