/* cmd_replay.c: runs an allocation sequence on a space and shows what it did. */
#include "base/error.h"
#include "base/heap.h"
#include "base/lines.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/replay_device.h"
#include "cli/replay_parts.h"
#include "cli/replay_recording.h"
#include "cli/same_file.h"
#include "views/addrmap.h"
#include "views/blocktable.h"
#include "views/svgmap.h"

#include <inttypes.h>
#include <string.h>

static const char command[] = "replay";

struct replay {
    /* what was asked for */
    const char *path, *map_path;
    bool check, stats, blocks, json, quiet;
    struct tts_replay_device on_device; /* device.name NULL: on one pool */
    /* what is under way */
    struct tts_lines lines;
    struct tts_opseq_run run;
    struct tts_addrmap *map;
    struct tts_outfile map_file, json_file;
    struct tts_json document;
    struct tts_replay_check checked;
};

/* --- options ---------------------------------------------------------------------------- */

enum {
    OPTION_CHECK,
    OPTION_STATS,
    OPTION_BLOCKS,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_MAP,
    OPTION_DEVICE,
    OPTION_SET,
    OPTION_MODE,
    OPTION_CSV,
    OPTION_POOL,
};

static const struct tts_option options_table[] = {
    [OPTION_CHECK] = {"check", 'c', false},   [OPTION_STATS] = {"stats", 's', false},
    [OPTION_BLOCKS] = {"blocks", 'b', false}, [OPTION_JSON] = {"json", 'j', false},
    [OPTION_QUIET] = {"quiet", 'q', false},   [OPTION_MAP] = {"map", 'm', true},
    [OPTION_DEVICE] = {"device", 'd', true},  [OPTION_SET] = {"set", 0, true},
    [OPTION_MODE] = {"mode", 0, true},        [OPTION_CSV] = {"csv", 0, true},
    [OPTION_POOL] = {"pool", 0, true},        {0},
};

/* False: said what is wrong. */
static bool set_option(struct replay *replay, int option, const char *value)
{
    bool *const flags[] = {[OPTION_CHECK] = &replay->check,
                           [OPTION_STATS] = &replay->stats,
                           [OPTION_BLOCKS] = &replay->blocks,
                           [OPTION_JSON] = &replay->json,
                           [OPTION_QUIET] = &replay->quiet};
    const char **const values[] = {[OPTION_MAP] = &replay->map_path,
                                   [OPTION_DEVICE] = &replay->on_device.device.name,
                                   [OPTION_MODE] = &replay->on_device.mode,
                                   [OPTION_CSV] = &replay->on_device.csv_dir,
                                   [OPTION_POOL] = &replay->on_device.map_pool};
    if (option == OPTION_SET)
        return tts_device_arg_set(&replay->on_device.device, command, value);
    if (option <= OPTION_QUIET)
        *flags[option] = true;
    else
        *values[option] = value;
    return true;
}

/* Options that only mean something with another. */
static bool check_device_options(const struct replay *replay)
{
    const struct tts_replay_device *on = &replay->on_device;
    const char *alone = on->device.set_count > 0 ? "--set"
                        : on->mode               ? "--mode"
                        : on->csv_dir            ? "--csv"
                        : on->map_pool           ? "--pool"
                                                 : NULL;
    if (!on->device.name && alone) {
        tts_message(command, "'%s' needs '--device NAME' (see 'ttscope help replay')", alone);
        return false;
    }
    if (on->device.name && strcmp(on->device.name, "-") == 0 &&
        strcmp(replay->path, "-") == 0) {
        tts_message(command, "standard input cannot be both the device file and the sequence");
        return false;
    }
    if (on->map_pool && !replay->map_path) {
        tts_message(command, "'--pool' says which pool '--map' draws, and needs it");
        return false;
    }
    return true;
}

static bool map_is_stdout(const struct replay *replay)
{
    return replay->map_path && strcmp(replay->map_path, "-") == 0;
}

/* TTS_OPTIONS_END when there is something to run, else TTS_OPTIONS_STOP and the exit code. */
static int read_options(struct replay *replay, char **argv, int *exit_code)
{
    struct tts_options options = tts_options_begin(command, options_table, argv);
    int option;
    *exit_code = TTS_EXIT_USAGE;
    while ((option = tts_options_next(&options)) >= 0)
        if (!set_option(replay, option, options.value))
            return TTS_OPTIONS_STOP;
    if (option == TTS_OPTIONS_STOP)
        *exit_code = options.exit_code;
    if (option == TTS_OPTIONS_STOP)
        return option;
    if (options.operand_count != 1) {
        *exit_code = tts_options_bad_operands(&options, options.operand_count ? NULL : "FILE");
        return TTS_OPTIONS_STOP;
    }
    replay->path = options.operands[0];
    if (!check_device_options(replay))
        return TTS_OPTIONS_STOP;
    bool prints = replay->check || replay->stats || replay->blocks || replay->json;
    if (map_is_stdout(replay) && prints) {
        tts_message(command, "'--map -' needs standard output for itself, give the map a file "
                             "or leave out --check, --stats, --blocks and --json");
        return TTS_OPTIONS_STOP;
    }
    return TTS_OPTIONS_END;
}

/* Would the map replace what it is a map of, or of which chip? */
static bool map_is_input(const struct replay *replay)
{
    const struct tts_device_arg *device = &replay->on_device.device;
    return replay->map_path && (tts_same_file(replay->path, replay->map_path) ||
                                (device->name && tts_device_arg_is_file(device) &&
                                 tts_same_file(device->name, replay->map_path)));
}

static void refuse_map(const struct replay *replay)
{
    if (map_is_stdout(replay))
        tts_message(command, "standard output is the input, the map needs another file");
    else
        tts_message(command, "'%s' is the input, the map needs another file", replay->map_path);
}

/* --- one line --------------------------------------------------------------------------- */

static struct tts_addrmap_event event_of(const struct replay *replay,
                                         const struct tts_opseq_step *step)
{
    struct tts_addrmap_event event = {TTS_ADDRMAP_NOTHING, step->address, step->bytes,
                                      replay->lines.line};
    enum tts_opseq_outcome outcome = step->line.result.outcome;
    bool failed = outcome == TTS_OPSEQ_FAILED;
    enum tts_opseq_kind kind = step->line.kind;
    if (kind == TTS_OPSEQ_TAKE)
        event.change = failed                             ? TTS_ADDRMAP_FAILED
                       : outcome == TTS_OPSEQ_BELOW_LIMIT ? TTS_ADDRMAP_LEAKED
                                                          : TTS_ADDRMAP_TAKEN;
    else if (kind == TTS_OPSEQ_TAKE_AT)
        event.change = failed ? TTS_ADDRMAP_REFUSED : TTS_ADDRMAP_TAKEN;
    else if (kind == TTS_OPSEQ_GIVE && step->bytes > 0)
        event.change = TTS_ADDRMAP_GIVEN;
    else if (kind == TTS_OPSEQ_CLEAR)
        event.change = TTS_ADDRMAP_CLEARED;
    if (kind == TTS_OPSEQ_SHRINK && failed) {
        event.change = TTS_ADDRMAP_NOT_CUT;
        event.address = replay->run.pool.offset_bytes + replay->run.pool.size_bytes -
                        replay->run.stats.total_bytes;
    }
    return event;
}

/* Makes what needs the pool. */
static enum tts_status begin_views(struct replay *replay, struct tts_error *err)
{
    const struct tts_space_config *pool = &replay->run.pool;
    if (replay->json)
        tts_replay_json_begin(&replay->document, replay->path, pool, !replay->quiet);
    if (!replay->map_path)
        return TTS_OK;
    enum tts_status status = tts_addrmap_new(pool, NULL, &replay->map);
    return status == TTS_OK
               ? TTS_OK
               : tts_error_set(err, status, "cannot draw a map: %s", tts_status_text(status));
}

/* Compares with what the line states. False: they differ. */
static bool compare(struct tts_replay_check *checked, const struct tts_opseq_line *stated,
                    const struct tts_opseq_step *step, uint64_t line_no)
{
    bool same = tts_opseq_result_equal(&stated->result, &step->line.result);
    if (tts_replay_check_step(checked, step->line.has_result, stated->has_result, same,
                              line_no))
        return true;
    tts_opseq_format(stated, checked->expected);
    tts_opseq_format(&step->line, checked->got);
    return false;
}

/* One line of results. False: standard output does not take it. */
static bool print_step(const struct tts_opseq_step *step)
{
    char text[TTS_OPSEQ_TEXT_MAX + 1];
    size_t len = tts_opseq_format(&step->line, text);
    text[len++] = '\n';
    return fwrite(text, 1, len, stdout) == len;
}

/* Shows one line that was run to all who asked. False: stop here. */
static bool show_step(struct replay *replay, const struct tts_opseq_line *line,
                      const struct tts_opseq_step *step)
{
    uint64_t line_no = replay->lines.line;
    bool prints = !replay->quiet && !replay->json && !replay->check && !map_is_stdout(replay);
    if (prints && !print_step(step))
        return false;
    if (!step->is_operation)
        return true;
    if (replay->json && !replay->quiet)
        tts_replay_json_result(&replay->document, step, line_no);
    if (replay->map) {
        struct tts_addrmap_event event = event_of(replay, step);
        tts_addrmap_add(replay->map, &event, &replay->run.stats);
    }
    return !replay->check || compare(&replay->checked, line, step, line_no);
}

struct tts_replay_requests tts_replay_requests(const struct tts_opseq_counts *counts)
{
    struct tts_replay_requests requests = {
        .ok = counts->takes + counts->takes_at,
        .below_limit = counts->takes_below_limit,
        .failed = counts->takes_failed + counts->takes_at_failed,
        .fragmentation = counts->takes_fragmented,
        .too_little_free = counts->takes_failed - counts->takes_fragmented,
        .range_not_free = counts->takes_at_failed,
    };
    requests.total = requests.ok + requests.below_limit + requests.failed;
    return requests;
}

/* --- the whole of it -------------------------------------------------------------------- */

/* Reads and runs to the end, or to the first difference. */
static enum tts_status run_lines(struct replay *replay, struct tts_error *err)
{
    for (;;) {
        const char *text;
        size_t len;
        struct tts_opseq_line line;
        struct tts_opseq_step step;
        enum tts_status status =
            tts_replay_next_line(&replay->lines, replay->path, &text, &len, err);
        if (status == TTS_E_NOT_FOUND)
            return tts_opseq_run_finish(&replay->run, err);
        if (status == TTS_OK)
            status = tts_opseq_parse(text, len, &line, err);
        if (status == TTS_OK && line.kind == TTS_OPSEQ_BLANK)
            continue;
        if (status == TTS_OK)
            status = tts_opseq_run_line(&replay->run, &line, replay->lines.line, &step, err);
        if (status == TTS_OK && line.kind == TTS_OPSEQ_POOL)
            status = begin_views(replay, err);
        if (status != TTS_OK)
            return status;
        if (!show_step(replay, &line, &step))
            return TTS_OK;
    }
}

/* What stands behind the results. */
static enum tts_status print_end(struct replay *replay, struct tts_error *err)
{
    replay->checked.operations = replay->run.counts.operations;
    if (replay->json) {
        tts_replay_json_end(&replay->document, &replay->run,
                            replay->check ? &replay->checked : NULL, !replay->quiet,
                            replay->blocks);
        return tts_outfile_commit(&replay->json_file, err);
    }
    if (replay->stats)
        tts_replay_text_stats(&replay->run, stdout);
    if (!replay->blocks)
        return TTS_OK;
    enum tts_status status = tts_blocktable_write(replay->run.space, NULL, stdout);
    return status == TTS_OK ? TTS_OK
                            : tts_error_set(err, status, "cannot list the blocks: %s",
                                            tts_status_text(status));
}

static enum tts_status write_map(struct replay *replay, struct tts_error *err)
{
    if (!replay->map)
        return TTS_OK;
    tts_addrmap_finish(replay->map);
    tts_svgmap_write(replay->map, replay->path, replay->map_file.stream);
    return tts_outfile_commit(&replay->map_file, err);
}

static enum tts_status open_files(struct replay *replay, struct tts_error *err)
{
    enum tts_status status =
        tts_lines_open(&replay->lines, replay->path, tts_alloc_libc(), err);
    if (status == TTS_OK && replay->map_path)
        status = tts_outfile_open(&replay->map_file, replay->map_path, err);
    if (status == TTS_OK && replay->json)
        status = tts_outfile_open(&replay->json_file, "-", err);
    if (status == TTS_OK && replay->json)
        tts_json_init(&replay->document, replay->json_file.stream);
    return status;
}

static int run_replay(struct replay *replay)
{
    struct tts_error err = {0};
    enum tts_status status = open_files(replay, &err);
    if (status == TTS_OK) {
        status = run_lines(replay, &err);
        if (status != TTS_OK)
            tts_replay_locate(&replay->lines, &err);
    }
    if (ferror(stdout))
        return TTS_EXIT_INPUT; /* main says so; a map of a part would mislead */
    if (status == TTS_OK)
        status = write_map(replay, &err);
    if (status == TTS_OK)
        status = print_end(replay, &err);
    if (status != TTS_OK) {
        tts_message_error(command, replay->path, &err);
        return TTS_EXIT_INPUT;
    }
    return replay->check ? tts_replay_check_end(&replay->checked, replay->path, replay->json)
                         : TTS_EXIT_DONE;
}

static int run_on_device(const struct replay *replay)
{
    struct tts_replay_device options = replay->on_device;
    options.path = replay->path;
    options.map_path = replay->map_path;
    options.check = replay->check;
    options.stats = replay->stats;
    options.blocks = replay->blocks;
    options.json = replay->json;
    options.quiet = replay->quiet;
    return tts_replay_device(&options);
}

/* --- recordings ------------------------------------------------------------------------- */

/* An option that only sequences have; NULL: none was given. */
static const char *option_of_sequences(const struct replay *replay)
{
    const struct {
        bool is_given;
        const char *name;
    } options[] = {{replay->check, "--check"},
                   {replay->blocks, "--blocks"},
                   {replay->quiet, "--quiet"},
                   {replay->map_path != NULL, "--map"},
                   {replay->on_device.map_pool != NULL, "--pool"},
                   {replay->on_device.csv_dir != NULL, "--csv"},
                   {replay->on_device.mode != NULL, "--mode"}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (options[i].is_given)
            return options[i].name;
    return NULL;
}

static int run_recording(const struct replay *replay)
{
    struct tts_replay_recording options = {.path = replay->path,
                                           .refused = option_of_sequences(replay),
                                           .device = replay->on_device.device,
                                           .stats = replay->stats,
                                           .json = replay->json};
    return tts_replay_recording(&options);
}

int tts_cmd_replay(int argc, char **argv)
{
    (void)argc;
    struct replay replay = {0};
    int exit_code;
    if (read_options(&replay, argv, &exit_code) == TTS_OPTIONS_STOP)
        return exit_code;
    const char *device = replay.on_device.device.name;
    if (tts_replay_is_recording(&replay.path, !device || strcmp(device, "-") != 0))
        return run_recording(&replay);
    if (map_is_input(&replay)) {
        refuse_map(&replay);
        return TTS_EXIT_USAGE;
    }
    if (replay.on_device.device.name)
        return run_on_device(&replay);
    tts_opseq_run_init(&replay.run, NULL);
    exit_code = run_replay(&replay);
    tts_outfile_abandon(&replay.json_file);
    tts_outfile_abandon(&replay.map_file);
    tts_addrmap_free(replay.map);
    tts_opseq_run_release(&replay.run);
    tts_lines_close(&replay.lines);
    return exit_code;
}
