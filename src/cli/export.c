/* export.c: turns what a file tells into a format of others. */
#include "cli/export.h"

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/export_writer.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/same_file.h"
#include "sources/eventfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char command[] = "export";

enum { PROBLEM_MAX = 256 };

struct job {
    /* what was asked for */
    const char *path, *out_path;
    uint32_t slots_max;
    /* what is under way */
    struct tts_eventfile *file;
    struct tts_tracefile about;
    struct tts_outfile out;
    struct tts_export_writer writer;
    struct tts_progress progress;
    /* what became of it */
    uint64_t missed;           /* events that are not in the file, as far as it says */
    bool has_problem;          /* it was not read to its end: */
    struct tts_error err;      /* why */
    char problem[PROBLEM_MAX]; /* and the same with the place, for the output */
};

/* --- options ---------------------------------------------------------------------------- */

enum { OPTION_TO, OPTION_OUTPUT, OPTION_SLOTS };

static const struct tts_option options_table[] = {
    [OPTION_TO] = {"to", 't', true},
    [OPTION_OUTPUT] = {"output", 'o', true},
    [OPTION_SLOTS] = {"slots", 's', true},
    {0},
};

/* False: said what is wrong. */
static bool set_format(struct job *job, const char *word)
{
    struct tts_nearest nearest = {.word = word};
    for (int i = 0; i < TTS_EXPORT_FORMATS; i++) {
        tts_nearest_offer(&nearest, tts_export_format_names[i]);
        if (strcmp(word, tts_export_format_names[i]) != 0)
            continue;
        job->writer.format = (enum tts_export_format)i;
        return true;
    }
    const char *known = nearest.best;
    tts_message(command, "unknown format '%s'%s%s%s (perfetto, chrome, csv or json)", word,
                known ? ", did you mean '" : "", known ? known : "", known ? "'?" : "");
    return false;
}

static bool set_slots(struct job *job, const char *word)
{
    uint64_t value;
    if (tts_number_parse(word, strlen(word), &value) != TTS_OK ||
        value > TTS_TIMELINE_SLOTS_MAX) {
        tts_message(command, "'--slots %s' is not a number from 0 to %d", word,
                    TTS_TIMELINE_SLOTS_MAX);
        return false;
    }
    job->slots_max = (uint32_t)value;
    return true;
}

static bool set_option(struct job *job, int option, const char *value)
{
    if (option == OPTION_TO)
        return set_format(job, value);
    if (option == OPTION_SLOTS)
        return set_slots(job, value);
    job->out_path = value;
    return true;
}

/* Whether what was asked for makes sense together. */
static bool check_options(const struct job *job, bool has_format)
{
    if (!has_format) {
        tts_message(command, "which format? give '--to perfetto', 'chrome', 'csv' or 'json'");
        return false;
    }
    bool is_stdout = strcmp(job->out_path, "-") == 0;
    if (job->writer.format == TTS_EXPORT_PERFETTO && is_stdout && isatty(STDOUT_FILENO)) {
        tts_message(command, "a Perfetto trace is not for a terminal, give it a file: "
                             "'-o OUT.pftrace'");
        return false;
    }
    if (tts_same_file(job->path, job->out_path)) {
        tts_message(command, "'%s' is the input, the output needs another file", job->out_path);
        return false;
    }
    return true;
}

/* TTS_OPTIONS_END when there is something to do, else TTS_OPTIONS_STOP and the exit code. */
static int read_options(struct job *job, char **argv, int *exit_code)
{
    struct tts_options options = tts_options_begin(command, options_table, argv);
    bool has_format = false;
    int option;
    *exit_code = TTS_EXIT_USAGE;
    while ((option = tts_options_next(&options)) >= 0) {
        has_format |= option == OPTION_TO;
        if (!set_option(job, option, options.value))
            return TTS_OPTIONS_STOP;
    }
    if (option == TTS_OPTIONS_STOP) {
        *exit_code = options.exit_code;
        return option;
    }
    if (options.operand_count != 1) {
        *exit_code = tts_options_bad_operands(&options, options.operand_count ? NULL : "FILE");
        return TTS_OPTIONS_STOP;
    }
    job->path = options.operands[0];
    return check_options(job, has_format) ? TTS_OPTIONS_END : TTS_OPTIONS_STOP;
}

/* --- the file --------------------------------------------------------------------------- */

static const char *shown(const struct job *job)
{
    return strcmp(job->path, "-") == 0 ? "standard input" : job->path;
}

static void say_error(const struct job *job, const struct tts_error *err)
{
    if (err->status == TTS_E_IO || err->line > 0)
        tts_message_error(command, shown(job), err);
    else
        tts_message(command, "%s: %s", shown(job), err->text);
}

static int fail(struct job *job, const struct tts_error *err)
{
    tts_progress_end(&job->progress);
    say_error(job, err);
    return TTS_EXIT_INPUT;
}

static void describe(struct job *job, const struct tts_item *first)
{
    struct tts_recfile *recording = tts_eventfile_recording(job->file);
    job->about = (struct tts_tracefile){.path = job->path,
                                        .is_recording = recording != NULL,
                                        .has_times = first && first->has_time};
    if (!recording)
        return;
    const struct tts_rec_header *header = &tts_recfile_info(recording)->header;
    job->about.program = header->program;
    job->about.pid = header->pid;
    job->about.start_ns = header->start_ns;
    job->about.start_realtime_ns = header->start_realtime_ns;
}

/* Standard output is written to as it comes, a file appears whole. */
static enum tts_status begin(struct job *job, const struct tts_item *first,
                             struct tts_error *err)
{
    FILE *stream = stdout;
    describe(job, first);
    if (strcmp(job->out_path, "-") != 0) {
        enum tts_status status = tts_outfile_open(&job->out, job->out_path, err);
        if (status != TTS_OK)
            return status;
        stream = job->out.stream;
    }
    return tts_export_begin(&job->writer, &job->about, job->slots_max, stream, err);
}

static void note_problem(struct job *job, const struct tts_error *err)
{
    job->has_problem = true;
    job->err = *err;
    if (err->line > 0)
        snprintf(job->problem, PROBLEM_MAX, "line %" PRIu32 ": %s", err->line, err->text);
    else
        snprintf(job->problem, PROBLEM_MAX, "%s", err->text);
}

static enum tts_status take_item(struct job *job, const struct tts_item *item,
                                 struct tts_error *err)
{
    if (item->kind == TTS_ITEM_MISSED)
        job->missed += item->count;
    if (tts_progress_is_due(&job->progress))
        tts_progress_show(&job->progress, tts_eventfile_tell(job->file));
    return tts_export_item(&job->writer, item, err);
}

/* From the first item, which is there, to the end of the file or of what can be read of it.
 * TTS_E_NOMEM. */
static enum tts_status take_items(struct job *job, struct tts_item *item, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    while (status == TTS_OK && !ferror(stdout)) {
        status = take_item(job, item, err);
        if (status == TTS_OK)
            status = tts_eventfile_next(job->file, item, err);
    }
    if (status == TTS_OK || status == TTS_E_NOT_FOUND)
        return TTS_OK;
    if (status == TTS_E_NOMEM)
        return status;
    /* What cannot be is a damage like any other. */
    note_problem(job, err);
    return TTS_OK;
}

/* --- what is said about it -------------------------------------------------------------- */

/* True: it makes the answer a partial one. */
static bool tell_graph_notes(const struct job *job, const struct tts_graph *graph)
{
    bool is_partial = false;
    for (int i = 0; i < TTS_GRAPH_NOTES; i++) {
        enum tts_graph_note_kind kind = (enum tts_graph_note_kind)i;
        const struct tts_graph_note *note = tts_graph_note(graph, kind);
        if (note->count == 0)
            continue;
        bool is_bad = tts_graph_note_is_bad(kind);
        is_partial |= is_bad;
        tts_message(command, "%s%s:%" PRIu64 ": %s%s", is_bad ? "" : "note: ", shown(job),
                    note->line, note->text, note->count > 1 ? ", and more like it" : "");
    }
    return is_partial;
}

static bool tell_recording(const struct job *job, struct tts_recfile *recording)
{
    const struct tts_rec_state *state = &tts_recfile_info(recording)->state;
    bool is_stopped =
        tts_recfile_info(recording)->state_is_known && state->kind == TTS_REC_STOPPED;
    if (tts_recfile_info(recording)->first_seq > 0)
        tts_message(command, "note: %s begins behind event %" PRIu64, shown(job),
                    tts_recfile_info(recording)->first_seq);
    if (!tts_recfile_info(recording)->state_is_known)
        tts_message(command, "%s: its state is damaged, whether it is complete is not known",
                    shown(job));
    if (is_stopped)
        tts_message(command, "%s: the recording stopped early, %" PRIu64 " events are missing",
                    shown(job), state->dropped);
    return is_stopped || !tts_recfile_info(recording)->state_is_known;
}

static void tell_counts(const struct job *job)
{
    if (!job->writer.timeline)
        return;
    struct tts_timeline_counts counts = tts_timeline_counts(job->writer.timeline);
    if (!job->about.has_times)
        tts_message(command, "note: " TTS_TRACEFILE_NO_TIMES);
    if (counts.undrawn > 0)
        tts_message(command,
                    "note: %" PRIu64 " buffers are counted but not drawn: %" PRIu32
                    " others of their pool lived beside them (see '--slots')",
                    counts.undrawn, job->slots_max);
    if (counts.unseen_frees > 0)
        tts_message(command, "note: %" PRIu64 " frees are of buffers from before, and left out",
                    counts.unseen_frees);
    if (counts.unseen_ends > 0)
        tts_message(command, "note: %" PRIu64 " ends are of operations or traces from before",
                    counts.unseen_ends);
    if (counts.other_ops > 0)
        tts_message(command, "note: %" PRIu64 " operations are of more threads than are drawn",
                    counts.other_ops);
}

/* The exit code of an export that was written. */
static int tell(const struct job *job)
{
    const struct tts_graph *graph = tts_eventfile_graph(job->file);
    struct tts_recfile *recording = tts_eventfile_recording(job->file);
    bool is_partial = job->has_problem || job->missed > 0;
    tell_counts(job);
    if (graph)
        is_partial |= tell_graph_notes(job, graph);
    if (recording)
        is_partial |= tell_recording(job, recording);
    if (job->missed > 0)
        tts_message(command, "%s: %" PRIu64 " events were not recorded", shown(job),
                    job->missed);
    if (job->has_problem) {
        say_error(job, &job->err);
        tts_message(command, "note: what was before that is exported");
    }
    return is_partial ? TTS_EXIT_PARTIAL : TTS_EXIT_DONE;
}

/* --- the whole of it -------------------------------------------------------------------- */

static int run(struct job *job)
{
    struct tts_error err = {0};
    struct tts_item item;
    enum tts_status status = tts_eventfile_open(job->path, NULL, &job->file, &err);
    if (status != TTS_OK)
        return fail(job, &err);
    if (strcmp(job->out_path, "-") != 0 || !isatty(STDOUT_FILENO)) /* it would be in between */
        tts_progress_begin(&job->progress, "exporting", job->path,
                           tts_eventfile_size(job->file));
    enum tts_status first = tts_eventfile_next(job->file, &item, &err);
    if (first != TTS_OK && first != TTS_E_NOT_FOUND)
        return fail(job, &err);
    status = begin(job, first == TTS_OK ? &item : NULL, &err);
    if (status == TTS_OK && first == TTS_OK)
        status = take_items(job, &item, &err);
    tts_progress_end(&job->progress);
    if (status == TTS_OK && ferror(stdout))
        return TTS_EXIT_INPUT; /* said at the end */
    if (status == TTS_OK) {
        tts_export_end(&job->writer, job->has_problem ? job->problem : NULL);
        if (job->out.stream)
            status = tts_outfile_commit(&job->out, &err);
    }
    return status == TTS_OK ? tell(job) : fail(job, &err);
}

int tts_cmd_export(char **argv)
{
    struct job job = {.out_path = "-", .slots_max = TTS_TIMELINE_SLOTS};
    int exit_code;
    if (read_options(&job, argv, &exit_code) == TTS_OPTIONS_STOP)
        return exit_code;
    exit_code = run(&job);
    tts_outfile_abandon(&job.out);
    tts_export_release(&job.writer);
    tts_eventfile_close(job.file);
    return exit_code;
}
