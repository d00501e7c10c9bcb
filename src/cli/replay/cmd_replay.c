/* cmd_replay.c: the command `replay`, which runs an allocation sequence on a pool and shows
 * each result. */
#include "base/error.h"
#include "base/heap.h"
#include "base/lines.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/message.h"
#include "cli/replay/replay_device.h"
#include "cli/replay/replay_recording.h"
#include "cli/replay/replay_sequence.h"
#include "cli/same_file.h"
#include "device/space.h"
#include "sources/input.h"
#include "views/map/addrmap.h"
#include "views/map/blocktable.h"
#include "views/map/svgmap.h"

#include <inttypes.h>
#include <string.h>

/* Counts of the operations that request memory (`a` and `x` together), for text and JSON. */
struct replay_requests {
    uint64_t total, ok, below_limit, failed;
    uint64_t fragmentation, too_little_free, range_not_free; /* failed requests by reason */
};

static struct replay_requests replay_requests(const struct tts_opseq_counts *counts)
{
    struct replay_requests requests = {
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

static void print_sequence_part(FILE *out, const char *before, uint64_t count, const char *what)
{
    fprintf(out, "%s%" PRIu64 " %s", before, count, what);
}

static void print_reasons(FILE *out, const struct replay_requests *requests)
{
    const struct {
        uint64_t count;
        const char *what;
    } reasons[] = {{requests->fragmentation, "by fragmentation"},
                   {requests->too_little_free, "too little free"},
                   {requests->range_not_free, "range not free"}};
    const char *before = "    ";
    tts_replay_text_count(out, "failed", requests->failed);
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].count == 0)
            continue;
        print_sequence_part(out, before, reasons[i].count, reasons[i].what);
        before = ", ";
    }
    fputc('\n', out);
}

static void print_counts(FILE *out, const struct tts_opseq_counts *counts)
{
    struct replay_requests requests = replay_requests(counts);
    tts_replay_text_count(out, "operations", counts->operations);
    fputc('\n', out);
    tts_replay_text_count(out, "requests", requests.total);
    print_sequence_part(out, "    ", requests.ok, "ok");
    print_sequence_part(out, ", ", requests.failed, "failed");
    print_sequence_part(out, ", ", requests.below_limit, "below the limit\n");
    print_reasons(out, &requests);
    tts_replay_text_count(out, "takes",
                          counts->takes + counts->takes_failed + counts->takes_below_limit);
    print_sequence_part(out, "    ", counts->takes, "ok");
    print_sequence_part(out, ", ", counts->takes_failed, "failed");
    print_sequence_part(out, ", ", counts->takes_below_limit, "below the limit\n");
    tts_replay_text_count(out, "takes at", counts->takes_at + counts->takes_at_failed);
    print_sequence_part(out, "    ", counts->takes_at, "ok");
    print_sequence_part(out, ", ", counts->takes_at_failed, "failed\n");
    tts_replay_text_count(out, "frees", counts->gives + counts->gives_ignored);
    print_sequence_part(out, "    ", counts->gives, "ok");
    print_sequence_part(out, ", ", counts->gives_ignored, "ignored\n");
    tts_replay_text_count(out, "shrinks", counts->shrinks + counts->shrinks_refused);
    print_sequence_part(out, "    ", counts->shrinks, "ok");
    print_sequence_part(out, ", ", counts->shrinks_refused, "refused\n");
    tts_replay_text_count(out, "unshrinks", counts->unshrinks);
    fputc('\n', out);
    tts_replay_text_count(out, "clears", counts->clears);
    fputc('\n', out);
    tts_replay_text_count(out, "queries", counts->queries);
    fputc('\n', out);
}

static void replay_text_stats(const struct tts_opseq_run *run, FILE *out)
{
    const struct tts_space_stats *stats = &run->stats;
    fputs("statistics, per bank\n", out);
    tts_replay_text_bytes(out, "total", stats->total_bytes);
    fputc('\n', out);
    tts_replay_text_bytes(out, "allocated", stats->taken_bytes);
    fprintf(out, "  in %" PRIu64 " block%s\n", stats->taken_blocks,
            stats->taken_blocks == 1 ? "" : "s");
    tts_replay_text_bytes(out, "free", stats->free_bytes);
    fprintf(out, "  in %" PRIu64 " block%s\n", stats->free_blocks,
            stats->free_blocks == 1 ? "" : "s");
    tts_replay_text_bytes(out, "largest free", stats->largest_free_bytes);
    fputc('\n', out);
    tts_replay_text_fragmentation(out, stats);
    tts_replay_text_bytes(out, "peak allocated", run->counts.peak_taken_bytes);
    if (run->counts.peak_line > 0)
        fprintf(out, "  at line %" PRIu64, run->counts.peak_line);
    fputc('\n', out);
    print_counts(out, &run->counts);
}

/* Begins the document and, if `results` is true, the array of results. */
static void replay_json_begin(struct tts_json *json, const char *file,
                              const struct tts_space_config *pool, bool results)
{
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.replay");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    tts_json_text(json, "file", file);
    tts_json_text(json, "scope", "per_bank");
    tts_json_object(json, "pool");
    tts_json_number(json, "size_bytes", pool->size_bytes);
    tts_json_number(json, "offset_bytes", pool->offset_bytes);
    tts_json_number(json, "min_allocation_size_bytes", pool->min_bytes);
    tts_json_number(json, "alignment_bytes", pool->alignment_bytes);
    tts_json_text(json, "policy", tts_opseq_policy_name(pool->policy));
    tts_json_object_end(json);
    if (results)
        tts_json_array(json, "results");
}

/* --- results ---------------------------------------------------------------------------- */

static void put_sequence_address(struct tts_json *json, const char *key, bool none,
                                 uint64_t address)
{
    if (none)
        tts_json_null(json, key);
    else
        tts_json_number(json, key, address);
}

static void put_taken(struct tts_json *json, const struct tts_opseq_step *step)
{
    static const char *const outcomes[] = {[TTS_OPSEQ_DONE] = "ok",
                                           [TTS_OPSEQ_FAILED] = "failed",
                                           [TTS_OPSEQ_BELOW_LIMIT] = "below_limit"};
    const struct tts_opseq_result *result = &step->line.result;
    bool failed = result->outcome == TTS_OPSEQ_FAILED;
    tts_json_text(json, "result", outcomes[result->outcome]);
    put_sequence_address(json, "address", failed, result->value[0]);
    put_sequence_address(json, "block_bytes", failed, step->bytes);
}

static void put_stats(struct tts_json *json, const uint64_t value[TTS_OPSEQ_VALUES])
{
    tts_json_number(json, "total_allocatable_size_bytes", value[0]);
    tts_json_number(json, "total_allocated_bytes", value[1]);
    tts_json_number(json, "total_free_bytes", value[2]);
    tts_json_number(json, "largest_free_block_bytes", value[3]);
}

static void put_sequence_hash(struct tts_json *json, const struct tts_opseq_step *step)
{
    tts_json_number(json, "blocks", step->line.result.value[0]);
    tts_json_hex(json, "hash", step->line.result.value[1]);
}

static void put_operation(struct tts_json *json, const struct tts_opseq_step *step)
{
    const struct tts_opseq_line *line = &step->line;
    switch (line->kind) {
    case TTS_OPSEQ_TAKE:
        tts_json_number(json, "size_bytes", line->bytes);
        tts_json_bool(json, "bottom_up", line->direction == TTS_DIRECTION_UP);
        tts_json_number(json, "limit", line->limit);
        put_taken(json, step);
        break;
    case TTS_OPSEQ_TAKE_AT:
        tts_json_number(json, "requested_address", line->address);
        tts_json_number(json, "size_bytes", line->bytes);
        put_taken(json, step);
        break;
    case TTS_OPSEQ_GIVE:
        tts_json_number(json, "address", line->address);
        tts_json_text(json, "result", step->bytes > 0 ? "ok" : "ignored");
        put_sequence_address(json, "block_bytes", step->bytes == 0, step->bytes);
        break;
    case TTS_OPSEQ_SHRINK:
        tts_json_number(json, "size_bytes", line->bytes);
        tts_json_text(json, "result",
                      line->result.outcome == TTS_OPSEQ_FAILED ? "refused" : "ok");
        break;
    case TTS_OPSEQ_STATS:
        put_stats(json, line->result.value);
        break;
    case TTS_OPSEQ_LOWEST:
    case TTS_OPSEQ_STALE:
        put_sequence_address(json, "reported_address", line->result.none[0],
                             line->result.value[0]);
        put_sequence_address(json, "lowest_address", line->result.none[1],
                             line->result.value[1]);
        break;
    case TTS_OPSEQ_AVAILABLE:
        tts_json_number(json, "size_bytes", line->bytes);
        put_sequence_hash(json, step);
        break;
    case TTS_OPSEQ_MAP:
    case TTS_OPSEQ_TABLE:
        put_sequence_hash(json, step);
        break;
    case TTS_OPSEQ_UNSHRINK:
    case TTS_OPSEQ_CLEAR:
    case TTS_OPSEQ_BLANK:
    case TTS_OPSEQ_POOL:
    case TTS_OPSEQ_KINDS:
        break; /* the result has only its letter */
    }
}

static void replay_json_result(struct tts_json *json, const struct tts_opseq_step *step,
                               uint64_t line_no)
{
    const char op[] = {tts_opseq_letter(step->line.kind), '\0'};
    tts_json_object(json, NULL);
    tts_json_number(json, "line", line_no);
    tts_json_text(json, "op", op);
    put_operation(json, step);
    tts_json_object_end(json);
}

/* --- the end ---------------------------------------------------------------------------- */

static void put_counts(struct tts_json *json, const struct tts_opseq_counts *counts)
{
    tts_json_object(json, "operations");
    tts_json_number(json, "total", counts->operations);
    tts_json_number(json, "takes_ok", counts->takes);
    tts_json_number(json, "takes_failed", counts->takes_failed);
    tts_json_number(json, "takes_below_limit", counts->takes_below_limit);
    tts_json_number(json, "takes_at_ok", counts->takes_at);
    tts_json_number(json, "takes_at_failed", counts->takes_at_failed);
    tts_json_number(json, "frees_ok", counts->gives);
    tts_json_number(json, "frees_ignored", counts->gives_ignored);
    tts_json_number(json, "shrinks_ok", counts->shrinks);
    tts_json_number(json, "shrinks_refused", counts->shrinks_refused);
    tts_json_number(json, "unshrinks", counts->unshrinks);
    tts_json_number(json, "clears", counts->clears);
    tts_json_number(json, "queries", counts->queries);
    tts_json_object_end(json);
}

static void put_requests(struct tts_json *json, const struct tts_opseq_counts *counts)
{
    struct replay_requests requests = replay_requests(counts);
    tts_json_object(json, "requests");
    tts_json_number(json, "total", requests.total);
    tts_json_number(json, "ok", requests.ok);
    tts_json_number(json, "below_limit", requests.below_limit);
    tts_json_number(json, "failed", requests.failed);
    tts_json_number(json, "fragmentation", requests.fragmentation);
    tts_json_number(json, "too_little_free", requests.too_little_free);
    tts_json_number(json, "range_not_free", requests.range_not_free);
    tts_json_object_end(json);
}

static void put_statistics(struct tts_json *json, const struct tts_opseq_run *run)
{
    const struct tts_space_stats *stats = &run->stats;
    const uint64_t value[TTS_OPSEQ_VALUES] = {stats->total_bytes, stats->taken_bytes,
                                              stats->free_bytes, stats->largest_free_bytes};
    tts_json_object(json, "statistics");
    put_stats(json, value);
    tts_json_ratio(json, "fragmentation_ratio", stats->free_bytes - stats->largest_free_bytes,
                   stats->free_bytes);
    tts_json_number(json, "allocated_blocks", stats->taken_blocks);
    tts_json_number(json, "free_blocks", stats->free_blocks);
    tts_json_number(json, "peak_allocated_bytes", run->counts.peak_taken_bytes);
    put_sequence_address(json, "peak_line", run->counts.peak_line == 0, run->counts.peak_line);
    tts_json_object_end(json);
}

/* Ends the document. `check` is NULL if no comparison was asked for. */
static void replay_json_end(struct tts_json *json, const struct tts_opseq_run *run,
                            const struct tts_replay_check *check, bool results, bool blocks)
{
    if (results)
        tts_json_array_end(json);
    put_counts(json, &run->counts);
    put_requests(json, &run->counts);
    put_statistics(json, run);
    tts_replay_json_check(json, check);
    if (blocks)
        tts_replay_json_blocks(json, run->space);
    tts_json_object_end(json);
}

static const char command[] = "replay";

struct replay {
    /* The options. */
    const char *path, *map_path;
    bool check, stats, blocks, json, quiet;
    struct tts_replay_device on_device; /* device.name is NULL for one pool */
    /* The state of the command. */
    struct tts_lines lines;
    struct tts_opseq_run run;
    struct tts_addrmap *map;
    struct tts_json document;
    struct tts_replay_check checked;
};

/* --- options ---------------------------------------------------------------------------- */

#define AT(member) offsetof(struct replay, member)

static const struct tts_option options_table[] = {
    {"check", 'c', TTS_OPTION_FLAG, AT(check),
     .help = "compare with the results stated in the file"},
    {"stats", 's', TTS_OPTION_FLAG, AT(stats), .help = "print statistics"},
    {"blocks", 'b', TTS_OPTION_FLAG, AT(blocks), .help = "print the blocks at the end"},
    {"json", 'j', TTS_OPTION_FLAG, AT(json), .help = "write JSON"},
    {"quiet", 'q', TTS_OPTION_FLAG, AT(quiet), .help = "do not print the results"},
    {"map", 'm', TTS_OPTION_TEXT, AT(map_path), "OUT.svg", .help = "draw the address map"},
    {"device", 'd', TTS_OPTION_TEXT, AT(on_device.device.name), "NAME",
     .help = "run on all pools of this device"},
    {"set", 0, TTS_OPTION_OTHER, AT(on_device.device), "KEY=VALUE",
     "change a property of the device", .needs = "device", .take = tts_device_arg_take_set},
    {"mode", 0, TTS_OPTION_TEXT, AT(on_device.mode), "MODE",
     .help = "how to allocate: place, no-dispatch or overcommit", .needs = "device"},
    {"csv", 0, TTS_OPTION_TEXT, AT(on_device.csv_dir), "DIR",
     .help = "write the runtime's memory reports", .needs = "device"},
    {"pool", 0, TTS_OPTION_TEXT, AT(on_device.map_pool), "POOL",
     .help = "the pool that the map shows", .needs = "map"},
    {0},
};

#undef AT

static bool map_is_stdout(const struct replay *replay)
{
    return replay->map_path && strcmp(replay->map_path, "-") == 0;
}

/* Returns false after printing a message. */
static bool check_sequence_options(const struct tts_job *job, const struct replay *replay)
{
    const struct tts_replay_device *on = &replay->on_device;
    bool prints = replay->check || replay->stats || replay->blocks || replay->json;
    if (on->map_pool && !on->device.name)
        tts_job_usage(job, "'--pool' needs '--device NAME'");
    else if (on->device.name && strcmp(on->device.name, "-") == 0 &&
             strcmp(replay->path, "-") == 0)
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
    const struct tts_device_arg *device = &replay->on_device.device;
    return replay->map_path && (tts_same_file(replay->path, replay->map_path) ||
                                (device->name && tts_device_arg_is_file(device) &&
                                 tts_same_file(device->name, replay->map_path)));
}

static void refuse_map(const struct replay *replay)
{
    if (map_is_stdout(replay))
        tts_message(command,
                    "standard output is also the input: write the map to another file");
    else
        tts_message(command, "'%s' is the input: write the map to another file",
                    replay->map_path);
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

/* Creates the outputs that depend on the pool. */
static enum tts_status begin_views(struct replay *replay, struct tts_error *err)
{
    const struct tts_space_config *pool = &replay->run.pool;
    if (replay->json)
        replay_json_begin(&replay->document, replay->path, pool, !replay->quiet);
    if (!replay->map_path)
        return TTS_OK;
    enum tts_status status = tts_addrmap_new(pool, NULL, &replay->map);
    return status == TTS_OK
               ? TTS_OK
               : tts_error_set(err, status, "cannot draw a map: %s", tts_status_text(status));
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
    bool prints = !replay->quiet && !replay->json && !replay->check && !map_is_stdout(replay);
    if (prints && !print_step(step))
        return false;
    if (!step->is_operation)
        return true;
    if (replay->json && !replay->quiet)
        replay_json_result(&replay->document, step, line_no);
    if (replay->map) {
        struct tts_addrmap_event event = sequence_event(replay, step);
        tts_addrmap_add(replay->map, &event, &replay->run.stats);
    }
    return !replay->check || compare_sequence_line(&replay->checked, line, step, line_no);
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

/* Prints the text after the results. */
static enum tts_status print_end(struct replay *replay, struct tts_error *err)
{
    replay->checked.operations = replay->run.counts.operations;
    if (replay->json)
        replay_json_end(&replay->document, &replay->run,
                        replay->check ? &replay->checked : NULL, !replay->quiet,
                        replay->blocks);
    else if (replay->stats)
        replay_text_stats(&replay->run, stdout);
    if (replay->json || !replay->blocks)
        return TTS_OK;
    enum tts_status status = tts_blocktable_write(replay->run.space, NULL, stdout);
    return status == TTS_OK ? TTS_OK
                            : tts_error_set(err, status, "cannot list the blocks: %s",
                                            tts_status_text(status));
}

static int run_on_pool(struct tts_job *job, struct replay *replay)
{
    struct tts_error err = {0};
    FILE *json = NULL, *map = NULL;
    if (tts_lines_open(&replay->lines, replay->path, tts_alloc_libc(), &err) != TTS_OK)
        return tts_job_fail(job, replay->path, &err);
    if (replay->map_path && !(map = tts_job_open(job, replay->map_path)))
        return TTS_EXIT_INPUT;
    if (replay->json && !(json = tts_job_open(job, "-")))
        return TTS_EXIT_INPUT;
    if (json)
        tts_json_init(&replay->document, json);
    enum tts_status status = run_lines(replay, &err);
    if (status != TTS_OK)
        tts_replay_locate(&replay->lines, &err);
    if (ferror(stdout))
        return TTS_EXIT_INPUT; /* main prints the error; a map of only a part would mislead */
    if (status == TTS_OK && replay->map) {
        tts_addrmap_finish(replay->map);
        tts_svgmap_write(replay->map, replay->path, map);
    }
    if (status == TTS_OK)
        status = print_end(replay, &err);
    if (status != TTS_OK)
        return tts_job_fail(job, replay->path, &err);
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

/* Returns the name of an option that applies only to sequences, or NULL if none was given. */
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

static int run_replay(struct tts_job *job, void *values)
{
    struct replay *replay = values;
    replay->path = job->operands[0];
    if (!check_sequence_options(job, replay))
        return TTS_EXIT_USAGE;
    const char *device = replay->on_device.device.name;
    if (tts_input_may_have_events(&replay->path, !device || strcmp(device, "-") != 0))
        return run_recording(replay);
    if (map_is_input(replay)) {
        refuse_map(replay);
        return TTS_EXIT_USAGE;
    }
    if (device)
        return run_on_device(replay);
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
