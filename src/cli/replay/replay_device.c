/* replay_device.c: runs a device sequence on a modelled device and shows each result. */
#include "base/error.h"
#include "base/heap.h"
#include "base/lines.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/replay/replay.h"
#include "cli/replay/replay_publish.h"
#include "cli/replay/replay_sequence.h"
#include "device/devicepools.h"
#include "device/space.h"
#include "sources/seq/devseq_run.h"
#include "views/map/addrmap.h"
#include "views/map/blocktable.h"
#include "views/map/memreport.h"
#include "views/map/svgmap.h"
#include "views/replay/devseq_view.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const char *const mode_names[] = {[TTS_MODE_PLACE] = "place",
                                         [TTS_MODE_NO_DISPATCH] = "no-dispatch",
                                         [TTS_MODE_OVERCOMMIT] = "overcommit"};

static const char command[] = "replay";

enum { PATH_MAX_BYTES = 4096, REPORTS = 3 };

struct replay {
    const struct tts_replay_options *options;
    struct tts_lines lines;
    struct tts_device *device;
    struct tts_devseq_run run;
    struct tts_replay_publish publish;
    struct tts_outfile json_file;
    struct tts_json document;
    struct tts_replay_check checked;
    struct tts_outfile map_file;
    struct tts_addrmap *map; /* NULL if no map was asked for */
    enum tts_pool map_pool;
    struct tts_outfile reports[REPORTS];
    char report_paths[REPORTS][PATH_MAX_BYTES];
};

/* --- the device ------------------------------------------------------------------------- */

static bool find_mode(const char *name, enum tts_mode *out)
{
    for (int mode = 0; mode <= TTS_MODE_OVERCOMMIT; mode++)
        if (strcmp(name, mode_names[mode]) == 0) {
            *out = (enum tts_mode)mode;
            return true;
        }
    tts_message(command,
                "invalid value '%.40s' for '--mode': expected place, no-dispatch or overcommit",
                name);
    return false;
}

static int make_device(struct replay *replay)
{
    struct tts_chip chip;
    struct tts_error err = {0};
    struct tts_device_config config = {.mode = TTS_MODE_PLACE};
    if (replay->options->mode && !find_mode(replay->options->mode, &config.mode))
        return TTS_EXIT_USAGE;
    int code = tts_device_arg_resolve(&replay->options->device, command, &chip);
    if (code != TTS_EXIT_DONE)
        return code;
    if (tts_device_new(&chip, &config, NULL, &replay->device, &err) != TTS_OK) {
        bool ours =
            tts_device_arg_is_file(&replay->options->device) || err.status == TTS_E_NOMEM;
        tts_message(command, "cannot run a sequence on '%s': %s", chip.name, err.text);
        return ours ? TTS_EXIT_INPUT : TTS_EXIT_USAGE;
    }
    tts_devseq_run_init(&replay->run, replay->device, NULL);
    return TTS_EXIT_DONE;
}

static struct tts_devseq_view device_view(const struct replay *replay)
{
    const struct tts_replay_options *options = replay->options;
    const struct tts_devseq_run *run = &replay->run;
    return (struct tts_devseq_view){.path = options->path,
                                    .mode = options->mode ? options->mode : mode_names[0],
                                    .device = replay->device,
                                    .counts = &run->counts,
                                    .tight = &run->tight,
                                    .held = run->names.held,
                                    .held_count = run->names.count,
                                    .check = options->check ? &replay->checked : NULL,
                                    .with_results = !options->quiet,
                                    .with_blocks = options->blocks};
}

/* --- the map ---------------------------------------------------------------------------- */

static bool find_pool(const char *name, enum tts_pool *out)
{
    for (int pool = 0; pool < TTS_POOLS; pool++)
        if (strcasecmp(name, tts_pool_name((enum tts_pool)pool)) == 0) {
            *out = (enum tts_pool)pool;
            return true;
        }
    tts_message(command,
                "invalid value '%.40s' for '--pool': expected dram, l1, l1_small or trace",
                name);
    return false;
}

static int begin_map(struct replay *replay)
{
    const struct tts_replay_options *options = replay->options;
    struct tts_space_config config;
    if (!options->map_path)
        return TTS_EXIT_DONE;
    if (options->map_pool && !find_pool(options->map_pool, &replay->map_pool))
        return TTS_EXIT_USAGE;
    const struct tts_banks *banks = tts_device_pool(replay->device, replay->map_pool);
    if (!banks) {
        tts_message(command, "cannot draw a map of %s: '%s' has no such pool",
                    tts_pool_name(replay->map_pool), tts_device_chip(replay->device)->name);
        return TTS_EXIT_USAGE;
    }
    tts_space_get_config(tts_banks_space(banks, 0), &config);
    if (tts_addrmap_new(&config, NULL, &replay->map) == TTS_OK)
        return TTS_EXIT_DONE;
    tts_message(command, "cannot draw a map: " TTS_TEXT_NOMEM);
    return TTS_EXIT_INPUT;
}

/* Adds the statement to the map. A statement that does not change the mapped pool is
 * skipped. */
static void add_to_map(struct replay *replay, const struct tts_devseq_step *step)
{
    struct tts_addrmap_event event = {.line = replay->lines.line};
    const struct tts_failure *failure = step->failed ? &step->failure : NULL;
    const struct tts_buffer *buffer = &step->buffer;
    struct tts_pool_stats stats;
    if (step->has_buffer && buffer->placed && buffer->pool == replay->map_pool) {
        bool given = step->line.kind == TTS_DEVSEQ_FREE;
        event.change = given ? TTS_ADDRMAP_GIVEN : TTS_ADDRMAP_TAKEN;
        event.address = buffer->address;
        event.bytes = buffer->block_bytes;
    } else if (failure && step->line.kind != TTS_DEVSEQ_RUN &&
               failure->pool == replay->map_pool) {
        uint32_t banks = tts_device_layout(replay->device, replay->map_pool)->banks;
        event.change = TTS_ADDRMAP_FAILED; /* the failure of a trace has no block size */
        event.bytes = failure->block_bytes ? failure->block_bytes
                                           : (step->line.bytes + banks - 1) / banks;
    } else {
        return;
    }
    if (tts_device_stats(replay->device, replay->map_pool, &stats))
        tts_addrmap_add(replay->map, &event, &stats.space);
}

static enum tts_status write_map(struct replay *replay, struct tts_error *err)
{
    if (!replay->map)
        return TTS_OK;
    char title[PATH_MAX_BYTES];
    const char *path = tts_message_path(replay->options->path), *slash = strrchr(path, '/');
    snprintf(title, sizeof title, "%s, %s of %s", slash ? slash + 1 : path,
             tts_pool_name(replay->map_pool), tts_device_chip(replay->device)->name);
    if (replay->map->operations == 0)
        tts_message(command,
                    "note: the map is empty because the sequence does not use %s; choose "
                    "another pool with '--pool'",
                    tts_pool_name(replay->map_pool));
    tts_addrmap_finish(replay->map);
    tts_svgmap_write(replay->map, title, replay->map_file.stream);
    return tts_outfile_commit(&replay->map_file, err);
}

/* --- one line --------------------------------------------------------------------------- */

/* Compares the result with the result that the line states. Returns false if they differ. */
static bool compare_device_line(struct tts_replay_check *checked,
                                const struct tts_devseq_line *stated,
                                const struct tts_devseq_step *step, uint64_t line_no)
{
    bool same = tts_devseq_result_equal(&stated->result, &step->line.result);
    if (tts_replay_check_step(checked, step->line.has_result, stated->has_result, same,
                              line_no))
        return true;
    tts_devseq_format(stated, checked->expected);
    tts_devseq_format(&step->line, checked->got);
    return false;
}

/* Prints a line of results and its remarks. Returns false if standard output cannot be
 * written. */
static bool print_device_step(const struct tts_devseq_step *step)
{
    char text[TTS_DEVSEQ_TEXT_MAX + 1];
    size_t len = tts_devseq_format(&step->line, text);
    text[len++] = '\n';
    if (fwrite(text, 1, len, stdout) == len)
        tts_devseq_text_remarks(step, stdout);
    return !ferror(stdout);
}

static void put_device_step(struct replay *replay, const struct tts_devseq_step *step)
{
    char text[TTS_DEVSEQ_TEXT_MAX];
    struct tts_devseq_line asked = step->line;
    asked.has_result = false;
    tts_devseq_format(&asked, text);
    tts_devseq_json_result(&replay->document, step, tts_devseq_verb(asked.kind), text,
                           replay->lines.line);
}

/* Returns true if each result is printed. */
static bool prints(const struct replay *replay)
{
    const struct tts_replay_options *options = replay->options;
    return !options->quiet && !options->json && !options->check &&
           !(options->map_path && strcmp(options->map_path, "-") == 0);
}

/* Passes the result of one line to each output. Returns false to stop. */
static bool show_device_step(struct replay *replay, const struct tts_devseq_line *line,
                             const struct tts_devseq_step *step)
{
    const struct tts_replay_options *options = replay->options;
    if (prints(replay) && !print_device_step(step))
        return false;
    if (replay->map)
        add_to_map(replay, step);
    if (options->json && !options->quiet)
        put_device_step(replay, step);
    return !options->check ||
           compare_device_line(&replay->checked, line, step, replay->lines.line);
}

/* --- the whole sequence ----------------------------------------------------------------- */

static uint64_t idle_steps_of(const struct tts_devseq_line *line)
{
    return line->kind == TTS_DEVSEQ_IDLE ? line->number : 0;
}

/* Reads and runs all lines, up to the end, to the first difference, or to a signal. */
static enum tts_status run_device_lines(struct replay *replay, struct tts_error *err)
{
    if (prints(replay))
        printf("# on %s\n", tts_device_chip(replay->device)->name);
    for (;;) {
        const char *text;
        size_t len;
        struct tts_devseq_line line;
        struct tts_devseq_step step;
        enum tts_status status =
            tts_replay_next_line(&replay->lines, replay->options->path, &text, &len, err);
        if (status == TTS_E_NOT_FOUND)
            return tts_devseq_run_finish(&replay->run, err);
        if (status == TTS_OK)
            status = tts_devseq_parse(text, len, &line, err);
        if (status == TTS_OK && line.kind == TTS_DEVSEQ_BLANK)
            continue;
        if (status == TTS_OK)
            status = tts_devseq_run_line(&replay->run, &line, replay->lines.line, &step, err);
        if (status != TTS_OK)
            return status;
        if (!show_device_step(replay, &line, &step) ||
            !tts_replay_publish_line(&replay->publish, idle_steps_of(&line)))
            return TTS_OK;
    }
}

static enum tts_status print_blocks(struct replay *replay, struct tts_error *err)
{
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        const struct tts_banks *banks = tts_device_pool(replay->device, (enum tts_pool)pool);
        if (!banks)
            continue;
        printf("%s\n", tts_pool_name((enum tts_pool)pool));
        enum tts_status status = tts_blocktable_write(tts_banks_space(banks, 0), NULL, stdout);
        if (status != TTS_OK)
            return tts_error_set(err, status, "cannot list the blocks: %s",
                                 tts_error_cause(status));
    }
    return TTS_OK;
}

/* Prints the text after the results. */
static enum tts_status print_device_end(struct replay *replay, struct tts_error *err)
{
    const struct tts_replay_options *options = replay->options;
    struct tts_devseq_view view = device_view(replay);
    replay->checked.operations = replay->run.counts.operations;
    if (options->json) {
        tts_devseq_json_end(&replay->document, &view);
        return tts_outfile_commit(&replay->json_file, err);
    }
    if (options->stats)
        tts_devseq_text_stats(&view, stdout);
    return options->blocks ? print_blocks(replay, err) : TTS_OK;
}

/* --- reports ---------------------------------------------------------------------------- */

static const char *const report_names[REPORTS] = {
    "memory_usage_summary.csv", "l1_usage_summary.csv", "detailed_memory_usage.csv"};

static enum tts_status open_reports(struct replay *replay, struct tts_error *err)
{
    const char *dir = replay->options->csv_dir;
    if (!dir)
        return TTS_OK;
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot create the directory '%.80s'",
                                   dir);
    for (int report = 0; report < REPORTS; report++) {
        char *path = replay->report_paths[report];
        int len = snprintf(path, PATH_MAX_BYTES, "%s/%s", dir, report_names[report]);
        if (len < 0 || len >= PATH_MAX_BYTES)
            return tts_error_set(err, TTS_E_IO, "the path of directory '%.40s...' is too long",
                                 dir);
        enum tts_status status = tts_outfile_open(&replay->reports[report], path, err);
        if (status != TTS_OK)
            return status;
    }
    return TTS_OK;
}

/* Writes all reports before the first of them replaces an earlier file. */
static enum tts_status write_reports(struct replay *replay, struct tts_error *err)
{
    if (!replay->options->csv_dir)
        return TTS_OK;
    tts_memreport_summary(replay->device, replay->reports[0].stream);
    tts_memreport_l1(replay->device, replay->reports[1].stream);
    enum tts_status status =
        tts_memreport_detail(replay->device, NULL, replay->reports[2].stream);
    if (status != TTS_OK)
        return tts_error_set(err, status, "cannot write the reports: %s",
                             tts_error_cause(status));
    for (int report = 0; report < REPORTS && status == TTS_OK; report++)
        status = tts_outfile_commit(&replay->reports[report], err);
    return status;
}

/* --- the command ------------------------------------------------------------------------ */

static enum tts_status open_device_files(struct replay *replay, struct tts_error *err)
{
    enum tts_status status =
        tts_lines_open(&replay->lines, replay->options->path, tts_alloc_libc(), err);
    if (status == TTS_OK && replay->map)
        status = tts_outfile_open(&replay->map_file, replay->options->map_path, err);
    if (status == TTS_OK)
        status = open_reports(replay, err);
    if (status != TTS_OK || !replay->options->json)
        return status;
    status = tts_outfile_open(&replay->json_file, "-", err);
    if (status == TTS_OK) {
        tts_json_init(&replay->document, replay->json_file.stream);
        struct tts_devseq_view view = device_view(replay);
        tts_devseq_json_begin(&replay->document, &view);
    }
    return status;
}

/* Returns true if the sequence has an `idle` line. A pipe cannot be read twice. */
static bool has_idle_line(const char *path)
{
    struct tts_lines lines;
    struct tts_devseq_line line;
    struct stat info;
    const char *text;
    size_t len;
    bool found = false;
    if (strcmp(path, "-") == 0 || stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        tts_lines_open(&lines, path, tts_alloc_libc(), NULL) != TTS_OK)
        return false;
    while (!found && tts_replay_next_line(&lines, path, &text, &len, NULL) == TTS_OK)
        found =
            tts_devseq_parse(text, len, &line, NULL) == TTS_OK && line.kind == TTS_DEVSEQ_IDLE;
    tts_lines_close(&lines);
    return found;
}

static enum tts_status begin_device_publish(struct replay *replay, struct tts_error *err)
{
    const struct tts_replay_options *options = replay->options;
    enum tts_status status = tts_replay_publish_begin(&replay->publish, options, err);
    if (status == TTS_OK)
        status = tts_replay_publish_device(&replay->publish, replay->device, err);
    replay->publish.is_by_line = options->step_ms > 0 && !has_idle_line(options->path);
    return status;
}

static int run_device_replay(struct replay *replay)
{
    struct tts_error err = {0};
    enum tts_status status = open_device_files(replay, &err);
    if (status == TTS_OK)
        status = begin_device_publish(replay, &err);
    if (status == TTS_OK) {
        status = run_device_lines(replay, &err);
        if (status != TTS_OK)
            tts_replay_locate(&replay->lines, &err);
    }
    if (ferror(stdout))
        return TTS_EXIT_INPUT; /* main prints the error */
    /* A map, a report or a document would show the end of the sequence, which was not
     * reached. */
    if (status == TTS_OK && replay->publish.stop_signal != 0)
        return TTS_EXIT_DONE;
    bool stopped = replay->checked.line > 0;
    if (status == TTS_OK && !stopped)
        status = write_map(replay, &err);
    if (status == TTS_OK && !stopped)
        status = write_reports(replay, &err);
    if (status == TTS_OK)
        status = print_device_end(replay, &err);
    if (status != TTS_OK) {
        tts_message_error(command, replay->options->path, &err);
        return TTS_EXIT_INPUT;
    }
    const struct tts_replay_options *options = replay->options;
    return options->check ? tts_replay_check_end(&replay->checked, options->path, options->json)
                          : TTS_EXIT_DONE;
}

int tts_replay_device(const struct tts_replay_options *options)
{
    struct replay replay = {.options = options};
    int code = make_device(&replay);
    if (code == TTS_EXIT_DONE)
        code = begin_map(&replay);
    if (code == TTS_EXIT_DONE) {
        code = run_device_replay(&replay);
        if (code == TTS_EXIT_DONE || code == TTS_EXIT_BAD_NEWS)
            tts_replay_publish_hold(&replay.publish);
    }
    code = tts_replay_publish_end(&replay.publish, code);
    tts_outfile_abandon(&replay.json_file);
    tts_outfile_abandon(&replay.map_file);
    for (int report = 0; report < REPORTS; report++)
        tts_outfile_abandon(&replay.reports[report]);
    tts_addrmap_free(replay.map);
    if (replay.device)
        tts_devseq_run_release(&replay.run);
    tts_device_free(replay.device);
    tts_lines_close(&replay.lines);
    return code;
}
