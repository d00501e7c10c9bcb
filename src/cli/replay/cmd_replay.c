/* cmd_replay.c: the command `replay`. It chooses one of the three kinds of replay, and has the
 * kind that runs a sequence on one pool and shows each result. */
#include "base/error.h"
#include "base/heap.h"
#include "base/lines.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/message.h"
#include "cli/replay/replay.h"
#include "cli/replay/replay_sequence.h"
#include "cli/same_file.h"
#include "sources/input.h"
#include "sources/seq/opseq_run.h"
#include "views/map/addrmap.h"
#include "views/map/blocktable.h"
#include "views/map/svgmap.h"
#include "views/replay/opseq_view.h"

#include <string.h>

static const char command[] = "replay";

enum { DAY_S = 86400 };

struct replay {
    struct tts_replay_options options;
    /* The state of a replay on one pool. */
    struct tts_lines lines;
    struct tts_opseq_run run;
    struct tts_addrmap *map;
    struct tts_json document;
    struct tts_replay_check checked;
};

/* --- options ---------------------------------------------------------------------------- */

#define AT(member) offsetof(struct replay, options.member)

static const struct tts_option options_table[] = {
    {"check", 'c', TTS_OPTION_FLAG, AT(check),
     .help = "compare with the results stated in the file"},
    {"stats", 's', TTS_OPTION_FLAG, AT(stats), .help = "print statistics"},
    {"blocks", 'b', TTS_OPTION_FLAG, AT(blocks), .help = "print the blocks at the end"},
    {"json", 'j', TTS_OPTION_FLAG, AT(json), .help = "write JSON"},
    {"quiet", 'q', TTS_OPTION_FLAG, AT(quiet), .help = "do not print the results"},
    {"map", 'm', TTS_OPTION_TEXT, AT(map_path), "OUT.svg", .help = "draw the address map"},
    {"device", 'd', TTS_OPTION_TEXT, AT(device.name), "NAME",
     .help = "run on all pools of this device"},
    {"set", 0, TTS_OPTION_OTHER, AT(device), "KEY=VALUE", "change a property of the device",
     .needs = "device", .take = tts_device_arg_take_set},
    {"mode", 0, TTS_OPTION_TEXT, AT(mode), "MODE",
     .help = "how to allocate: place, no-dispatch or overcommit", .needs = "device"},
    {"csv", 0, TTS_OPTION_TEXT, AT(csv_dir), "DIR",
     .help = "write memory reports as the runtime does", .needs = "device"},
    {"publish", 'p', TTS_OPTION_FLAG, AT(publish),
     .help = "show the memory live, in 'ttscope top' and 'ttscope serve'", .needs = "device"},
    {"step", 0, TTS_OPTION_NUMBER, AT(step_ms), "MS", "milliseconds for each step (default: 0)",
     .max = DAY_S * 1000, .needs = "publish"},
    {"hold", 0, TTS_OPTION_NUMBER, AT(hold_s), "SECONDS",
     "publish the memory this long after the end (default: until Ctrl-C)", .max = DAY_S,
     .needs = "publish"},
    {"pool", 0, TTS_OPTION_TEXT, AT(map_pool), "POOL", .help = "the pool that the map shows",
     .needs = "map"},
    {0},
};

#undef AT

static bool map_is_stdout(const struct replay *replay)
{
    return replay->options.map_path && strcmp(replay->options.map_path, "-") == 0;
}

/* Returns false after printing a message. */
static bool check_sequence_options(const struct tts_job *job, const struct replay *replay)
{
    const struct tts_replay_options *on = &replay->options;
    bool prints = on->check || on->stats || on->blocks || on->json;
    if (on->map_pool && !on->device.name)
        tts_job_usage(job, "'--pool' needs '--device NAME'");
    else if (on->device.name && strcmp(on->device.name, "-") == 0 && strcmp(on->path, "-") == 0)
        tts_message(command, "standard input cannot be both the device file and the sequence");
    else if (map_is_stdout(replay) && prints)
        tts_message(command, "'--map -' uses standard output: write the map to a file, or omit "
                             "--check, --stats, --blocks and --json");
    else
        return true;
    return false;
}

/* Returns true if the map would replace the sequence or the device file. */
static bool map_is_input(const struct replay *replay)
{
    const struct tts_device_arg *device = &replay->options.device;
    return replay->options.map_path &&
           (tts_same_file(replay->options.path, replay->options.map_path) ||
            (device->name && tts_device_arg_is_file(device) &&
             tts_same_file(device->name, replay->options.map_path)));
}

static void refuse_map(const struct replay *replay)
{
    if (map_is_stdout(replay))
        tts_message(command,
                    "standard output is also the input: write the address map to another file");
    else
        tts_message(command, "'%s' is the input: write the address map to another file",
                    replay->options.map_path);
}

/* --- one line --------------------------------------------------------------------------- */

static struct tts_addrmap_event sequence_event(const struct replay *replay,
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

static struct tts_opseq_view sequence_view(const struct replay *replay)
{
    const struct tts_opseq_run *run = &replay->run;
    return (struct tts_opseq_view){.path = replay->options.path,
                                   .policy = tts_opseq_policy_name(run->pool.policy),
                                   .pool = &run->pool,
                                   .counts = &run->counts,
                                   .stats = &run->stats,
                                   .space = run->space,
                                   .check = replay->options.check ? &replay->checked : NULL,
                                   .with_results = !replay->options.quiet,
                                   .with_blocks = replay->options.blocks};
}

/* Creates the outputs that depend on the pool. */
static enum tts_status begin_views(struct replay *replay, struct tts_error *err)
{
    const struct tts_space_config *pool = &replay->run.pool;
    struct tts_opseq_view view = sequence_view(replay);
    if (replay->options.json)
        tts_opseq_json_begin(&replay->document, &view);
    if (!replay->options.map_path)
        return TTS_OK;
    enum tts_status status = tts_addrmap_new(pool, NULL, &replay->map);
    return status == TTS_OK
               ? TTS_OK
               : tts_error_set(err, status, "cannot draw a map: %s", tts_error_cause(status));
}

/* Compares the result with the result that the line states. Returns false if they differ. */
static bool compare_sequence_line(struct tts_replay_check *checked,
                                  const struct tts_opseq_line *stated,
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

/* Prints one line of results. Returns false if standard output cannot be written. */
static bool print_step(const struct tts_opseq_step *step)
{
    char text[TTS_OPSEQ_TEXT_MAX + 1];
    size_t len = tts_opseq_format(&step->line, text);
    text[len++] = '\n';
    return fwrite(text, 1, len, stdout) == len;
}

/* Passes the result of one line to each output. Returns false to stop. */
static bool show_step(struct replay *replay, const struct tts_opseq_line *line,
                      const struct tts_opseq_step *step)
{
    uint64_t line_no = replay->lines.line;
    bool prints = !replay->options.quiet && !replay->options.json && !replay->options.check &&
                  !map_is_stdout(replay);
    if (prints && !print_step(step))
        return false;
    if (!step->is_operation)
        return true;
    if (replay->options.json && !replay->options.quiet)
        tts_opseq_json_result(&replay->document, step, tts_opseq_letter(step->line.kind),
                              line_no);
    if (replay->map) {
        struct tts_addrmap_event event = sequence_event(replay, step);
        tts_addrmap_add(replay->map, &event, &replay->run.stats);
    }
    return !replay->options.check ||
           compare_sequence_line(&replay->checked, line, step, line_no);
}

/* --- the command ------------------------------------------------------------------------ */

/* Reads and runs all lines, up to the end or to the first difference. */
static enum tts_status run_lines(struct replay *replay, struct tts_error *err)
{
    for (;;) {
        const char *text;
        size_t len;
        struct tts_opseq_line line;
        struct tts_opseq_step step;
        enum tts_status status =
            tts_replay_next_line(&replay->lines, replay->options.path, &text, &len, err);
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

/* Prints the text after the results. */
static enum tts_status print_end(struct replay *replay, struct tts_error *err)
{
    struct tts_opseq_view view = sequence_view(replay);
    replay->checked.operations = replay->run.counts.operations;
    if (replay->options.json)
        tts_opseq_json_end(&replay->document, &view);
    else if (replay->options.stats)
        tts_opseq_text_stats(&view, stdout);
    if (replay->options.json || !replay->options.blocks)
        return TTS_OK;
    enum tts_status status = tts_blocktable_write(replay->run.space, NULL, stdout);
    return status == TTS_OK ? TTS_OK
                            : tts_error_set(err, status, "cannot list the blocks: %s",
                                            tts_error_cause(status));
}

static int run_on_pool(struct tts_job *job, struct replay *replay)
{
    struct tts_error err = {0};
    FILE *json = NULL, *map = NULL;
    if (tts_lines_open(&replay->lines, replay->options.path, tts_alloc_libc(), &err) != TTS_OK)
        return tts_job_fail(job, replay->options.path, &err);
    if (replay->options.map_path && !(map = tts_job_open(job, replay->options.map_path)))
        return TTS_EXIT_INPUT;
    if (replay->options.json && !(json = tts_job_open(job, "-")))
        return TTS_EXIT_INPUT;
    if (json)
        tts_json_init(&replay->document, json);
    enum tts_status status = run_lines(replay, &err);
    if (status != TTS_OK)
        tts_replay_locate(&replay->lines, &err);
    if (ferror(stdout))
        return TTS_EXIT_INPUT; /* main prints the error. No map: it would show only a part of
                                  the sequence. */
    if (status == TTS_OK && replay->map) {
        tts_addrmap_finish(replay->map);
        tts_svgmap_write(replay->map, replay->options.path, map);
    }
    if (status == TTS_OK)
        status = print_end(replay, &err);
    if (status != TTS_OK)
        return tts_job_fail(job, replay->options.path, &err);
    return replay->options.check ? tts_replay_check_end(&replay->checked, replay->options.path,
                                                        replay->options.json)
                                 : TTS_EXIT_DONE;
}

/* --- recordings ------------------------------------------------------------------------- */

/* Returns the name of an option that applies only to sequences, or NULL if none was given. */
static const char *option_of_sequences(const struct replay *replay)
{
    const struct {
        bool is_given;
        const char *name;
    } options[] = {{replay->options.check, "--check"},
                   {replay->options.blocks, "--blocks"},
                   {replay->options.quiet, "--quiet"},
                   {replay->options.map_path != NULL, "--map"},
                   {replay->options.map_pool != NULL, "--pool"},
                   {replay->options.csv_dir != NULL, "--csv"},
                   {replay->options.mode != NULL, "--mode"}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (options[i].is_given)
            return options[i].name;
    return NULL;
}

/* Returns false after printing a message. */
static bool check_recording_options(const struct replay *replay)
{
    const char *refused = option_of_sequences(replay);
    const char *shown = tts_message_path(replay->options.path);
    if (refused)
        tts_message(
            command,
            "'%s' works with sequences only, but '%.200s' is a recording or graph trace",
            refused, shown);
    else if (!replay->options.device.name)
        tts_message(
            command,
            "'%.200s' is a recording or graph trace: give '--device NAME' to choose the "
            "device on which its requests are replayed",
            shown);
    return !refused && replay->options.device.name;
}

static int run_replay(struct tts_job *job, void *values)
{
    struct replay *replay = values;
    replay->options.path = job->operands[0];
    replay->options.has_hold = tts_options_has(&job->options, "hold");
    if (!check_sequence_options(job, replay))
        return TTS_EXIT_USAGE;
    const char *device = replay->options.device.name;
    if (tts_input_may_have_events(&replay->options.path, !device || strcmp(device, "-") != 0))
        return check_recording_options(replay) ? tts_replay_recording(&replay->options)
                                               : TTS_EXIT_USAGE;
    if (map_is_input(replay)) {
        refuse_map(replay);
        return TTS_EXIT_USAGE;
    }
    if (device)
        return tts_replay_device(&replay->options);
    tts_opseq_run_init(&replay->run, NULL);
    int exit_code = run_on_pool(job, replay);
    tts_addrmap_free(replay->map);
    tts_opseq_run_release(&replay->run);
    tts_lines_close(&replay->lines);
    return exit_code;
}

const struct tts_command tts_replay_command = {
    .name = "replay",
    .operands = "FILE",
    .summary = "run a sequence or a recording on the device model",
    .work = run_replay,
    .options = options_table,
    .values_bytes = sizeof(struct replay),
    .operands_min = 1,
    .operands_max = 1,
};
