/* cmd_export.c: turns what a file tells into a format of others. */
#include "cli/export.h"

#include "base/heap.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/device_arg.h"
#include "cli/export_writer.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/partial.h"
#include "cli/progress.h"
#include "cli/same_file.h"
#include "model/ledger.h"
#include "sources/eventpass.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char command[] = "export";

struct job {
    /* what was asked for */
    const char *path, *out_path;
    struct tts_device_arg device; /* name NULL: capacities are not known */
    struct tts_export_limits limits;
    /* what is under way */
    struct tts_eventfile *file;
    struct tts_eventpass pass;
    bool has_begun; /* the output has its head */
    struct tts_tracefile about;
    struct tts_outfile out;
    struct tts_export_writer writer;
    struct tts_progress progress;
    /* what became of it */
    struct tts_partial partial;
    struct tts_partial_notes missing;
};

/* --- options ---------------------------------------------------------------------------- */

enum { OPTION_TO, OPTION_OUTPUT, OPTION_SLOTS, OPTION_DEVICE, OPTION_SET };

static const struct tts_option options_table[] = {
    [OPTION_TO] = {"to", 't', .type = TTS_OPTION_TEXT},
    [OPTION_OUTPUT] = {"output", 'o', .type = TTS_OPTION_TEXT},
    [OPTION_SLOTS] = {"slots", 's', .type = TTS_OPTION_TEXT},
    [OPTION_DEVICE] = {"device", 'd', .type = TTS_OPTION_TEXT},
    [OPTION_SET] = {"set", 0, .type = TTS_OPTION_TEXT},
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
    job->limits.slots_max = (uint32_t)value;
    return true;
}

static bool set_option(struct job *job, int option, const char *value)
{
    if (option == OPTION_TO)
        return set_format(job, value);
    if (option == OPTION_SLOTS)
        return set_slots(job, value);
    if (option == OPTION_SET)
        return tts_device_arg_set(&job->device, command, value);
    if (option == OPTION_DEVICE) {
        job->device.name = value;
        return true;
    }
    job->out_path = tts_stdout_path(value);
    return true;
}

/* Whether what was asked for makes sense together. */
static bool check_options(const struct job *job, bool has_format)
{
    if (!has_format) {
        tts_message(command, "which format? give '--to perfetto', 'chrome', 'csv' or 'json'");
        return false;
    }
    if (!job->device.name && job->device.set_count > 0) {
        tts_message(command, "'--set' changes a device, which '--device NAME' gives");
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

/* What each pool has, of a core in L1, of the device in DRAM; 0 where it is not known. */
static int set_capacities(struct job *job)
{
    struct tts_chip chip;
    struct tts_pool_layout layout;
    if (!job->device.name)
        return TTS_EXIT_DONE;
    int code = tts_device_arg_resolve(&job->device, command, &chip);
    for (int i = 0; code == TTS_EXIT_DONE && i < TTS_POOLS; i++) {
        enum tts_pool pool = (enum tts_pool)i;
        if (tts_chip_pool(&chip, pool, &layout, NULL) == TTS_OK)
            job->limits.capacity_bytes[i] =
                layout.bank_bytes * (tts_pool_is_l1(pool) ? 1 : layout.banks);
    }
    return code;
}

/* --- the file --------------------------------------------------------------------------- */

static int fail(struct job *job, const struct tts_error *err)
{
    tts_progress_end(&job->progress);
    tts_message_error(command, job->path, err);
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
    enum tts_status status =
        tts_export_begin(&job->writer, &job->about, &job->limits, stream, err);
    job->has_begun = status == TTS_OK;
    return status;
}

/* The first item begins the output. A reader of standard output that is gone ends the pass. */
static enum tts_status take_item(void *ctx, const struct tts_item *item, struct tts_error *err)
{
    struct job *job = ctx;
    enum tts_status status = job->has_begun ? TTS_OK : begin(job, item, err);
    if (status != TTS_OK)
        return status;
    tts_partial_item(&job->partial, item);
    status = tts_export_item(&job->writer, item, err);
    job->pass.is_done = ferror(stdout);
    return status;
}

/* To the end of the file or of what can be read of it: what cannot be is a damage like any
 * other. TTS_E_NOMEM, and what ends it before the output begins. */
static enum tts_status take_items(struct job *job, struct tts_error *err)
{
    job->pass = (struct tts_eventpass){
        .file = job->file, .take = take_item, .ctx = job, .keeps_graph_times = true};
    enum tts_status status = tts_eventpass_run(&job->pass, err);
    if (status == TTS_OK && !job->has_begun)
        status = begin(job, NULL, err);
    if (status == TTS_OK || status == TTS_E_NOMEM || !job->has_begun)
        return status;
    job->partial.damage = *err;
    return TTS_OK;
}

/* --- what is said about it -------------------------------------------------------------- */

/* What does not make it an answer of a part. */
static void tell_notes(const struct job *job)
{
    const struct tts_graph *graph = tts_eventfile_graph(job->file);
    const struct tts_recfile *recording = tts_eventfile_recording(job->file);
    const char *path = tts_message_path(job->path);
    char like[TTS_PARTIAL_FIRST_MAX];
    for (int i = 0; graph && i < TTS_GRAPH_NOTES; i++) {
        enum tts_graph_note_kind kind = (enum tts_graph_note_kind)i;
        const struct tts_graph_note *note = tts_graph_note(graph, kind);
        if (note->count > 0 && !tts_graph_note_is_bad(kind))
            tts_message(command, "note: %s:%" PRIu64 ": %s%s", path, note->line, note->text,
                        tts_partial_first_of(note->count, like));
    }
    if (recording && tts_recfile_info(recording)->first_seq > 0)
        tts_message(command, "note: %s begins behind event %" PRIu64, path,
                    tts_recfile_info(recording)->first_seq);
}

static void tell_counts(const struct job *job)
{
    if (!job->writer.timeline)
        return;
    char text[TTS_EXPORT_TEXT_MAX];
    struct tts_timeline_counts counts = tts_timeline_counts(job->writer.timeline);
    if (!job->about.has_times)
        tts_message(command, "note: " TTS_TRACEFILE_NO_TIMES);
    if (!job->device.name)
        tts_message(command, "note: no capacity lines: the file does not name its device, give "
                             "'--device NAME'");
    if (counts.undrawn > 0)
        tts_message(command,
                    "note: counted but not drawn: %" PRIu64 " buffer%s, beside %" PRIu32
                    " others of the pool (see '--slots')",
                    counts.undrawn, counts.undrawn == 1 ? "" : "s", job->limits.slots_max);
    if (counts.unseen_frees > 0)
        tts_message(command, "note: left out: %" PRIu64 " free%s of buffers from before",
                    counts.unseen_frees, counts.unseen_frees == 1 ? "" : "s");
    if (counts.unseen_ends > 0)
        tts_message(command,
                    "note: left out: %" PRIu64 " end%s of operations or traces from before",
                    counts.unseen_ends, counts.unseen_ends == 1 ? "" : "s");
    if (counts.unnamed > 0)
        tts_message(command, "note: %s", tts_export_unnamed(counts.unnamed, text));
    if (counts.other_ops > 0)
        tts_message(command,
                    "note: not drawn: %" PRIu64
                    " operation%s of more threads than there is room for",
                    counts.other_ops, counts.other_ops == 1 ? "" : "s");
}

/* The exit code of an export that was written. */
static int tell(const struct job *job)
{
    tell_counts(job);
    tell_notes(job);
    return tts_partial_say(&job->missing, command, job->path);
}

/* --- the whole of it -------------------------------------------------------------------- */

static void on_read(void *ctx, uint64_t bytes)
{
    struct job *job = ctx;
    tts_progress_show(&job->progress, bytes);
}

/* On a terminal the line would be in between. */
static void begin_progress(struct job *job, uint64_t total_bytes)
{
    if (strcmp(job->out_path, "-") != 0 || !isatty(STDOUT_FILENO))
        tts_progress_begin(&job->progress, "exporting", job->path, total_bytes);
}

static enum tts_status open_file(struct job *job, struct tts_error *err)
{
    struct tts_eventfile_watch watch = {on_read, job};
    begin_progress(job, 0);
    enum tts_status status = tts_eventfile_open(job->path, &watch, NULL, &job->file, err);
    tts_progress_end(&job->progress);
    if (status == TTS_OK)
        begin_progress(job, tts_eventfile_size(job->file));
    return status;
}

static enum tts_status finish(struct job *job, struct tts_error *err)
{
    tts_partial_list(&job->partial, job->file, &job->missing);
    tts_export_end(&job->writer, &job->missing);
    return job->out.stream ? tts_outfile_commit(&job->out, err) : TTS_OK;
}

static int run(struct job *job)
{
    struct tts_error err = {0};
    enum tts_status status = open_file(job, &err);
    if (status == TTS_OK)
        status = take_items(job, &err);
    tts_progress_end(&job->progress);
    if (status == TTS_OK && ferror(stdout))
        return TTS_EXIT_INPUT; /* said at the end */
    if (status == TTS_OK)
        status = finish(job, &err);
    return status == TTS_OK ? tell(job) : fail(job, &err);
}

int tts_cmd_export(char **argv)
{
    struct job job = {.out_path = "-", .limits = {.slots_max = TTS_TIMELINE_SLOTS}};
    int exit_code;
    if (read_options(&job, argv, &exit_code) == TTS_OPTIONS_STOP)
        return exit_code;
    exit_code = set_capacities(&job);
    if (exit_code != TTS_EXIT_DONE)
        return exit_code;
    exit_code = run(&job);
    tts_outfile_abandon(&job.out);
    tts_export_release(&job.writer);
    tts_eventfile_close(job.file);
    return exit_code;
}
