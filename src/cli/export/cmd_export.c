/* cmd_export.c: the program ttscope-export, which writes the items of a file in a format of
 * other tools. */
#include "base/outfile.h"
#include "cli/device_arg.h"
#include "cli/job.h"
#include "cli/message.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/same_file.h"
#include "sources/eventpass.h"
#include "sources/partial.h"
#include "views/say.h"
#include "views/trace/chrometrace.h"
#include "views/trace/eventcsv.h"
#include "views/trace/eventjson.h"
#include "views/trace/eventrows.h"
#include "views/trace/itemcheck.h"
#include "views/trace/perfetto.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char command[] = "export";

enum { TO_PERFETTO, TO_CHROME, TO_CSV, TO_JSON };
static const char *const format_words[] = {"perfetto", "chrome", "csv", "json", NULL};

struct export_options {
    int format; /* TO_PERFETTO, TO_CHROME, TO_CSV or TO_JSON */
    const char *out_path;
    uint64_t slots_max;
    struct tts_device_arg device; /* name is NULL if the capacities are unknown */
};

static const struct export_options defaults = {.out_path = "-",
                                               .slots_max = TTS_TIMELINE_SLOTS};

static const struct tts_option options_table[] = {
    {"to", 't', TTS_OPTION_WORD, offsetof(struct export_options, format),
     .help = "output format (required)", .words = format_words},
    {"output", 'o', TTS_OPTION_TEXT, offsetof(struct export_options, out_path), "OUT",
     .help = "write to this file"},
    {"slots", 's', TTS_OPTION_NUMBER, offsetof(struct export_options, slots_max), "N",
     "maximum number of buffers drawn at once, per pool", .max = TTS_TIMELINE_SLOTS_MAX},
    {"device", 'd', TTS_OPTION_TEXT, offsetof(struct export_options, device.name), "NAME",
     .help = "draw the pool capacities of this device"},
    {"set", 0, TTS_OPTION_OTHER, offsetof(struct export_options, device), "KEY=VALUE",
     "change a property of the device", .take = tts_device_arg_take_set, .needs = "device"},
    {0},
};

/* The state of one export. */
struct export
{
    const char *path;
    const struct export_options *options;
    struct tts_eventfile *file;
    struct tts_eventpass pass;
    struct tts_progress progress;
    uint64_t bank_bytes[TTS_POOLS], banks[TTS_POOLS]; /* of the device; 0: unknown */
    /* The output. Its writers hold pointers into this struct, which must not move. */
    FILE *out;
    bool has_begun;
    struct tts_tracefile about;
    struct tts_itemcheck check;
    struct tts_timeline *timeline; /* for PERFETTO and CHROME */
    struct tts_eventrows rows;     /* for CSV and JSON */
    union {
        struct tts_perfetto perfetto;
        struct tts_chrometrace chrome;
        struct tts_rowout lines; /* for CSV and JSON */
    };
    /* The reasons why the export is incomplete, if any. */
    struct tts_partial partial;
    struct tts_partial_notes missing;
};

/* --- the output ------------------------------------------------------------------------- */

/* Returns true if the format is a drawing of a timeline and false if it consists of rows. */
static bool draws_timeline(const struct export *export)
{
    return export->options->format == TO_PERFETTO || export->options->format == TO_CHROME;
}

static enum tts_status begin_timeline(struct export *export, struct tts_error *err)
{
    bool is_chrome = export->options->format == TO_CHROME;
    struct tts_timeline_config config = {
        .slots_max = (uint32_t) export->options->slots_max,
        .l1_is_requested = export->about.l1_is_requested,
        .closes_at_end = is_chrome,
        .put = is_chrome ? tts_chrometrace_put : tts_perfetto_put,
        .ctx = is_chrome ? (void *)&export->chrome : (void *)&export->perfetto};
    for (int i = 0; i < TTS_POOLS; i++) {
        bool is_bank = tts_pool_is_l1((enum tts_pool)i) && !config.l1_is_requested;
        config.capacity_bytes[i] = export->bank_bytes[i] * (is_bank ? 1 : export->banks[i]);
    }
    return tts_timeline_new(&config, NULL, &export->timeline, err);
}

static void describe_file(struct export *export, const struct tts_item *first)
{
    struct tts_recfile *recording = tts_eventfile_recording(export->file);
    export->about = (struct tts_tracefile){.path = export->path,
                                           .is_recording = recording != NULL,
                                           .has_times = first && first->has_time};
    if (!recording)
        return;
    const struct tts_rec_header *header = &tts_recfile_info(recording)->header;
    export->about.l1_is_requested = header->flags & TTS_REC_L1_REQUESTED;
    export->about.program = header->program;
    export->about.pid = header->pid;
    export->about.start_ns = header->start_ns;
    export->about.start_realtime_ns = header->start_realtime_ns;
}

/* Writes the beginning of the output. `first` is the first item, or NULL if there is none. */
static enum tts_status begin_output(struct export *export, const struct tts_item *first,
                                    struct tts_error *err)
{
    describe_file(export, first);
    tts_eventrows_init(&export->rows, NULL);
    export->rows.l1_is_requested = export->about.l1_is_requested;
    if (draws_timeline(export)) {
        enum tts_status status = begin_timeline(export, err);
        if (status != TTS_OK)
            return status;
    } else {
        tts_rowout_init(&export->lines, export->out);
    }
    if (export->options->format == TO_PERFETTO)
        tts_perfetto_begin(&export->perfetto, &export->about, export->out);
    else if (export->options->format == TO_CHROME)
        tts_chrometrace_begin(&export->chrome, &export->about, export->out);
    else if (export->options->format == TO_CSV)
        tts_eventcsv_begin(&export->lines);
    else
        tts_eventjson_begin(&export->lines, &export->about);
    export->has_begun = true;
    return TTS_OK;
}

static void write_export_row(struct export *export)
{
    assert(!draws_timeline(export));
    if (export->options->format == TO_CSV)
        tts_eventcsv_row(&export->lines, &export->rows.row);
    else
        tts_eventjson_row(&export->lines, &export->rows.row);
}

/* Writes one item. Returns TTS_E_INVALID if the item is impossible and TTS_E_RANGE if it cannot
 * be drawn. */
static enum tts_status write_export_item(struct export *export, const struct tts_item *item,
                                         struct tts_error *err)
{
    enum tts_status status = tts_itemcheck_pass(&export->check, item, err);
    if (status != TTS_OK ||
        item->kind == TTS_ITEM_NAME) /* a NAME item adds nothing: each item has its own name */
        return status;
    if (draws_timeline(export))
        return tts_timeline_item(export->timeline, item, err);
    if (item->kind == TTS_ITEM_SAMPLE) {
        for (unsigned i = 0; i < TTS_SAMPLE_VALUES; i++)
            if (tts_eventrow_sample(&export->rows.row, item, i))
                write_export_row(export);
        return TTS_OK;
    }
    status = tts_eventrows_item(&export->rows, item, err);
    if (status == TTS_OK)
        write_export_row(export);
    return status;
}

/* --- the end of the output -------------------------------------------------------------- */

enum { TEXT_MAX = TTS_PARTIAL_TEXT_MAX + 32 };

/* Returns the text of a note. The line number, if any, comes first because the output has no
 * file name before it. */
static const char *text_of_note(const struct tts_partial_note *note, char out[TEXT_MAX])
{
    if (note->line == 0)
        return note->text;
    snprintf(out, TEXT_MAX, "line %" PRIu64 ": %s", note->line, note->text);
    return out;
}

static void end_chrome(struct export *export)
{
    static_assert(TTS_PARTIAL_NOTES_MAX <= 16, "the texts are on the stack");
    const struct tts_partial_notes *missing = &export->missing;
    char texts[TTS_PARTIAL_NOTES_MAX][TEXT_MAX];
    const char *all[TTS_PARTIAL_NOTES_MAX];
    for (size_t i = 0; i < missing->count; i++)
        all[i] = text_of_note(&missing->note[i], texts[i]);
    tts_chrometrace_end(&export->chrome, all, missing->count);
}

/* Writes the number of operations and buffers without a name. Returns `out`. */
static const char *say_unnamed(uint64_t count, char out[TEXT_MAX])
{
    snprintf(
        out, TEXT_MAX,
        "%" PRIu64
        " operations and buffers are named \"(other)\": at most %d operation names are kept",
        count, TTS_TIMELINE_NAMES_MAX);
    return out;
}

static void end_timeline(struct export *export)
{
    char text[TEXT_MAX];
    uint64_t unnamed = tts_timeline_counts(export->timeline).unnamed;
    tts_timeline_end(export->timeline);
    if (unnamed > 0)
        tts_timeline_note(export->timeline, say_unnamed(unnamed, text));
    if (export->options->format == TO_CHROME) {
        end_chrome(export);
        return;
    }
    for (size_t i = 0; i < export->missing.count; i++)
        tts_timeline_note(export->timeline, text_of_note(&export->missing.note[i], text));
    tts_perfetto_end(&export->perfetto);
}

/* Writes the end of the output, with the reasons why the export is incomplete. */
static void end_output(struct export *export)
{
    char text[TEXT_MAX];
    tts_partial_list(&export->partial, export->file, &export->missing);
    if (draws_timeline(export)) {
        end_timeline(export);
        return;
    }
    for (size_t i = 0; i < export->missing.count; i++) {
        const struct tts_partial_note *note = &export->missing.note[i];
        bool is_damage = strcmp(note->kind, "damage") == 0;
        tts_eventrow_note(&export->rows.row, is_damage ? "damage" : "partial",
                          text_of_note(note, text));
        write_export_row(export);
    }
    tts_rowout_flush(&export->lines);
}

/* --- the file --------------------------------------------------------------------------- */

static void show_progress(void *ctx, uint64_t bytes)
{
    struct export *export = ctx;
    tts_progress_show(&export->progress, bytes);
}

/* Starts the progress line, unless the output also goes to the terminal. */
static void begin_progress(struct export *export, uint64_t total_bytes)
{
    if (export->out != stdout || !isatty(STDOUT_FILENO))
        tts_progress_begin(&export->progress, "exporting", export->path, total_bytes);
}

static enum tts_status open_export_input(struct export *export, struct tts_error *err)
{
    struct tts_eventfile_watch watch = {show_progress, export};
    begin_progress(export, 0);
    enum tts_status status = tts_eventfile_open(export->path, &watch, NULL, &export->file, err);
    tts_progress_end(&export->progress);
    if (status == TTS_OK)
        begin_progress(export, tts_eventfile_size(export->file));
    return status;
}

/* Writes one item. The first item also begins the output. Ends the pass if the reader of
 * standard output has gone away. */
static enum tts_status take_export_item(void *ctx, const struct tts_item *item,
                                        struct tts_error *err)
{
    struct export *export = ctx;
    enum tts_status status = export->has_begun ? TTS_OK : begin_output(export, item, err);
    if (status != TTS_OK)
        return status;
    tts_partial_item(&export->partial, item);
    status = write_export_item(export, item, err);
    export->pass.is_done = ferror(stdout);
    return status;
}

/* Writes all items up to the end of the file or to damage, which becomes a note. Returns
 * TTS_E_NOMEM, or an error that occurred before the first item. */
static enum tts_status take_items(struct export *export, struct tts_error *err)
{
    export->pass = (struct tts_eventpass){.file = export->file,
                                          .take = take_export_item,
                                          .ctx = export,
                                          .keeps_graph_times = true};
    enum tts_status status = tts_eventpass_run(&export->pass, err);
    if (status == TTS_OK && !export->has_begun)
        status = begin_output(export, NULL, err);
    if (status == TTS_OK || status == TTS_E_NOMEM || !export->has_begun)
        return status;
    export->partial.damage = *err;
    return TTS_OK;
}

/* --- notes ------------------------------------------------------------------------------ */

/* Prints the notes that do not make the answer incomplete. */
static void say_file_notes(const struct export *export)
{
    const struct tts_graph *graph = tts_eventfile_graph(export->file);
    const struct tts_recfile *recording = tts_eventfile_recording(export->file);
    const char *path = tts_message_path(export->path);
    char like[TTS_PARTIAL_FIRST_MAX];
    for (int i = 0; graph && i < TTS_GRAPH_NOTES; i++) {
        enum tts_graph_note_kind kind = (enum tts_graph_note_kind)i;
        const struct tts_graph_note *note = tts_graph_note(graph, kind);
        if (note->count > 0 && !tts_graph_note_is_bad(kind))
            tts_message(command, "note: %s:%" PRIu64 ": %s%s", path, note->line, note->text,
                        tts_partial_first_of(note->count, like));
    }
    if (recording && tts_recfile_info(recording)->first_seq > 0)
        tts_message(command,
                    "note: %s: the recording begins in the middle of the run: the first event "
                    "is event %" PRIu64,
                    path, tts_recfile_info(recording)->first_seq + 1);
}

static void say_timeline_notes(const struct export *export)
{
    if (!export->timeline)
        return;
    char text[TEXT_MAX];
    struct tts_timeline_counts counts = tts_timeline_counts(export->timeline);
    if (!export->about.has_times)
        tts_message(command, "note: " TTS_TRACEFILE_NO_TIMES);
    if (!export->options->device.name)
        tts_message(command, "note: no capacities are drawn: the file does not name the device "
                             "(give '--device NAME')");
    if (counts.undrawn > 0)
        tts_message(command,
                    "note: %" PRIu64 " buffer%s counted but not drawn: at most %" PRIu64
                    " live buffers of a pool are drawn (see '--slots')",
                    counts.undrawn, counts.undrawn == 1 ? " is" : "s are",
                    export->options->slots_max);
    if (counts.unseen_frees > 0)
        tts_message(command,
                    "note: skipped %" PRIu64 " free%s whose allocation is not in the file",
                    counts.unseen_frees, tts_say_plural(counts.unseen_frees));
    if (counts.unseen_ends > 0)
        tts_message(command,
                    "note: skipped %" PRIu64
                    " operation or trace end%s whose start is not in the file",
                    counts.unseen_ends, tts_say_plural(counts.unseen_ends));
    if (counts.unnamed > 0)
        tts_message(command, "note: %s", say_unnamed(counts.unnamed, text));
    if (counts.other_ops > 0)
        tts_message(command,
                    "note: %" PRIu64 " start%s and end%s of operations not drawn: at most %d "
                    "threads are drawn, and the file has more",
                    counts.other_ops, tts_say_plural(counts.other_ops),
                    tts_say_plural(counts.other_ops), TTS_TIMELINE_THREADS_MAX);
}

/* --- the command ------------------------------------------------------------------------ */

/* Checks what the option table cannot check. Returns false after printing a message. */
static bool check_export_options(struct tts_job *job, const struct export_options *options)
{
    bool is_stdout = strcmp(options->out_path, "-") == 0;
    if (!tts_options_has(&job->options, "to"))
        tts_message(command, "the output format is missing: give '--to perfetto', '--to "
                             "chrome', '--to csv' or '--to json'");
    else if (options->format == TO_PERFETTO && is_stdout && isatty(STDOUT_FILENO))
        tts_message(command, "a Perfetto trace is binary and is not written to a terminal: "
                             "give '-o OUT.pftrace'");
    else if (tts_same_file(job->operands[0], options->out_path))
        tts_message(command, "'%s' is the input: write the output to another file",
                    options->out_path);
    else
        return true;
    return false;
}

/* Writes a file completely or not at all. Writes standard output item by item. */
static int write_export(struct tts_job *job, struct export *export)
{
    struct tts_error err = {0};
    enum tts_status status = open_export_input(export, &err);
    if (status == TTS_OK && export->out != stdout &&
        !(export->out = tts_job_open(job, export->options->out_path)))
        return TTS_EXIT_INPUT;
    if (status == TTS_OK)
        status = take_items(export, &err);
    tts_progress_end(&export->progress);
    if (status != TTS_OK)
        return tts_job_fail(job, export->path, &err);
    if (ferror(stdout))
        return TTS_EXIT_INPUT; /* tts_program_end() prints the reason */
    end_output(export);
    int code = tts_job_commit(job, TTS_EXIT_DONE);
    if (code != TTS_EXIT_DONE)
        return code;
    say_timeline_notes(export);
    say_file_notes(export);
    return tts_message_partial(&export->missing, command, export->path);
}

static int run_export(struct tts_job *job, void *values)
{
    struct export_options *options = values;
    struct export export = {.path = job->operands[0], .options = options};
    options->out_path = tts_stdout_path(options->out_path);
    if (!check_export_options(job, options))
        return TTS_EXIT_USAGE;
    export.out = strcmp(options->out_path, "-") == 0 ? stdout : NULL;
    int code =
        tts_device_arg_banks(&export.options->device, command, export.bank_bytes, export.banks);
    if (code == TTS_EXIT_DONE)
        code = write_export(job, &export);
    tts_timeline_free(export.timeline);
    tts_eventrows_release(&export.rows);
    tts_eventfile_close(export.file);
    return code;
}

int main(int argc, char **argv)
{
    (void)argc;
    struct tts_command row = *tts_command_find(command);
    row.work = run_export;
    row.options = options_table;
    row.defaults = &defaults;
    row.values_bytes = sizeof defaults;
    row.operands_min = row.operands_max = 1;
    tts_program_begin();
    return tts_program_end(tts_job_main(&row, argv), command);
}
