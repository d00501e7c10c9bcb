/* replay_device.c: runs a device sequence on a modelled device and shows each result. */
#include "cli/replay/replay_device.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/lines.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/replay/replay_sequence.h"
#include "device/devicepools.h"
#include "device/space.h"
#include "sources/seq/devseq_run.h"
#include "views/json.h"
#include "views/map/addrmap.h"
#include "views/map/blocktable.h"
#include "views/map/memreport.h"
#include "views/map/svgmap.h"
#include "views/say.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const char *const mode_names[] = {[TTS_MODE_PLACE] = "place",
                                         [TTS_MODE_NO_DISPATCH] = "no-dispatch",
                                         [TTS_MODE_OVERCOMMIT] = "overcommit"};

static void print_device_pool(const struct tts_devseq_run *run, enum tts_pool pool, FILE *out)
{
    struct tts_pool_stats stats;
    const struct tts_pool_layout *layout = tts_device_layout(run->device, pool);
    if (!layout || !tts_device_stats(run->device, pool, &stats))
        return;
    fprintf(out, "%s, %" PRIu32 " banks; per bank\n", tts_pool_name(pool), layout->banks);
    tts_replay_text_bytes(out, "total", stats.space.total_bytes);
    fputc('\n', out);
    tts_replay_text_bytes(out, "allocated", stats.space.taken_bytes);
    fprintf(out, "  in %" PRIu64 " buffer%s\n", stats.buffers - stats.unplaced_buffers,
            stats.buffers - stats.unplaced_buffers == 1 ? "" : "s");
    tts_replay_text_bytes(out, "of all banks", stats.space.taken_bytes * layout->banks);
    fputs("  allocated\n", out);
    if (stats.unplaced_buffers > 0) {
        tts_replay_text_bytes(out, "not placed", stats.unplaced_bytes);
        fprintf(out, "  in %" PRIu64 " buffer%s, counted only\n", stats.unplaced_buffers,
                stats.unplaced_buffers == 1 ? "" : "s");
    }
    tts_replay_text_bytes(out, "free", stats.space.free_bytes);
    fputc('\n', out);
    tts_replay_text_bytes(out, "largest free", stats.space.largest_free_bytes);
    fputc('\n', out);
    tts_replay_text_fragmentation(out, &stats.space);
    tts_replay_text_bytes(out, "peak", stats.peak_bytes);
    if (run->counts.peak_line[pool] > 0)
        fprintf(out, "  at line %" PRIu64, run->counts.peak_line[pool]);
    fputc('\n', out);
}

/* Prints where circular buffers and L1 buffers came closest to each other. */
static void print_tight(const struct tts_devseq_tight *tight, FILE *out)
{
    if (tight->line == 0)
        return;
    fprintf(out,
            "least free L1 of a core at a 'run': line %" PRIu64 ", program %" PRIu64
            ", core %u-%u\n",
            tight->line, tight->program_id, tight->core.x, tight->core.y);
    tts_replay_text_bytes(out, "in use", tight->room.cb_bytes);
    fputs("  circular buffers\n", out);
    tts_replay_text_bytes(out, "region end", tight->room.region_end);
    fputs("  address in L1\n", out);
    tts_replay_text_bytes(out, "ceiling", tight->room.ceiling);
    fputs("  lowest L1 buffer, L1_SMALL or end of L1\n", out);
    if (tight->room.excess_bytes > 0)
        tts_replay_text_bytes(out, "missing", tight->room.excess_bytes);
    else
        tts_replay_text_bytes(out, "free between", tight->room.free_bytes);
    fputc('\n', out);
}

static void print_device_counts(const struct tts_devseq_counts *counts, FILE *out)
{
    uint64_t failed = counts->buffers_failed;
    tts_replay_text_count(out, "statements", counts->operations);
    fputs("\n", out);
    tts_replay_text_count(out, "buffers",
                          counts->buffers_ok + counts->buffers_not_placed +
                              counts->buffers_below_limit + failed);
    fprintf(out,
            "    %" PRIu64 " ok, %" PRIu64 " failed (%" PRIu64 " by fragmentation), %" PRIu64
            " below the limit, %" PRIu64 " not placed\n",
            counts->buffers_ok, failed, counts->fragmented, counts->buffers_below_limit,
            counts->buffers_not_placed);
    tts_replay_text_count(out, "frees", counts->frees_ok + counts->frees_ignored);
    fprintf(out, "    %" PRIu64 " ok, %" PRIu64 " ignored\n", counts->frees_ok,
            counts->frees_ignored);
    tts_replay_text_count(out, "programs", counts->programs);
    fprintf(out, "    %" PRIu64 " circular buffers; run: %" PRIu64 " ok, %" PRIu64 " failed\n",
            counts->cbs, counts->runs_ok, counts->runs_failed);
    tts_replay_text_count(out, "queries", counts->queries);
    fputs("\n", out);
}

static void replay_device_stats(const struct tts_devseq_run *run, FILE *out)
{
    char text[TTS_FAILURE_TEXT_MAX];
    const struct tts_failure *first = tts_device_first_failure(run->device);
    for (int pool = 0; pool < TTS_POOLS; pool++)
        print_device_pool(run, (enum tts_pool)pool, out);
    print_tight(&run->tight, out);
    fprintf(out, "run on %s\n", tts_device_chip(run->device)->name);
    print_device_counts(&run->counts, out);
    if (first) {
        fprintf(out, "first failure, at line %" PRIu64 "\n", run->counts.first_failure_line);
        tts_say_sentence(out, "  ", tts_failure_text(first, text));
    }
    if (first && tts_failure_deficit_is_known(first))
        fprintf(out, "  missing: %" PRIu64 " B\n", tts_failure_deficit(first));
}

static void put_device_grid(struct tts_json *json, const char *x_key, const char *y_key,
                            const struct tts_fact *grid)
{
    bool known = grid->origin != TTS_ORIGIN_UNKNOWN;
    tts_json_number_or_null(json, y_key, known, TTS_GRID_ROWS(grid->value));
    tts_json_number_or_null(json, x_key, known, TTS_GRID_COLUMNS(grid->value));
}

/* Writes the fields of the runtime's device report, with the runtime's field names. */
static void put_report(struct tts_json *json, const struct tts_device *device)
{
    const struct tts_fact *fact = tts_device_chip(device)->fact;
    const struct tts_pool_layout *l1 = tts_device_layout(device, TTS_POOL_L1);
    uint64_t banks = l1 ? l1->banks : 0, bank = l1 ? l1->bank_bytes : 0;
    uint64_t size = fact[TTS_FACT_L1_SIZE].value, base = fact[TTS_FACT_L1_BASE].value;
    tts_json_object(json, "device_report");
    put_device_grid(json, "num_x_cores", "num_y_cores", &fact[TTS_FACT_TENSIX_GRID]);
    put_device_grid(json, "num_x_compute_cores", "num_y_compute_cores", &fact[TTS_FACT_GRID]);
    tts_json_number_or_null(json, "worker_l1_size", l1, size);
    tts_json_number_or_null(json, "l1_num_banks", l1, banks);
    tts_json_number_or_null(json, "l1_bank_size", l1, bank);
    tts_json_number_or_null(json, "address_at_first_l1_bank", l1, 0);
    tts_json_number_or_null(json, "address_at_first_l1_cb_buffer", l1, base);
    tts_json_number_or_null(json, "num_banks_per_storage_core", l1, l1 ? size / bank : 0);
    tts_json_number_or_null(json, "num_compute_cores", l1, banks);
    tts_json_number_or_null(json, "num_storage_cores", l1, 0);
    tts_json_number_or_null(json, "total_l1_memory", l1, banks * size);
    tts_json_null(json, "total_l1_for_tensors"); /* the runtime never sets it */
    tts_json_number_or_null(json, "total_l1_for_interleaved_buffers", l1, banks * bank);
    tts_json_number_or_null(json, "total_l1_for_sharded_buffers", l1, banks * bank);
    tts_json_number_or_null(json, "cb_limit", l1, size - base);
    tts_json_object_end(json);
}

static void replay_device_json_begin(struct tts_json *json,
                                     const struct tts_replay_device *options,
                                     const struct tts_device *device)
{
    const struct tts_chip *chip = tts_device_chip(device);
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.replay.device");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    tts_json_text(json, "file", options->path);
    tts_json_text(json, "device", chip->name);
    tts_json_text(json, "arch", tts_arch_name(chip->arch));
    tts_json_number(json, "chips", chip->fact[TTS_FACT_CHIPS].value);
    tts_json_text(json, "mode", options->mode ? options->mode : mode_names[0]);
    tts_json_text(json, "scope", "per_bank");
    put_report(json, device);
    if (!options->quiet)
        tts_json_array(json, "results");
}

/* --- results ---------------------------------------------------------------------------- */

static void put_device_failure(struct tts_json *json, const char *key,
                               const struct tts_failure *failure)
{
    char text[TTS_FAILURE_TEXT_MAX];
    bool space = failure->kind == TTS_FAILURE_SPACE || failure->kind == TTS_FAILURE_DEPENDENCY;
    tts_json_object(json, key);
    tts_json_text(json, "kind", tts_failure_kind_name(failure->kind));
    tts_json_text(json, "pool", tts_pool_name(failure->pool));
    tts_json_text(json, "text", tts_failure_text(failure, text));
    tts_json_number_or_null(json, "deficit_bytes", tts_failure_deficit_is_known(failure),
                            tts_failure_deficit(failure));
    tts_json_number_or_null(json, "requested_bytes",
                            space || failure->kind == TTS_FAILURE_TRACE,
                            failure->requested_bytes);
    tts_json_number_or_null(json, "need_bytes_per_bank", space, failure->need_bytes);
    tts_json_number_or_null(json, "banks", space, failure->banks);
    tts_json_number_or_null(json, "bank_bytes", space, failure->bank_bytes);
    tts_json_number_or_null(json, "allocated_bytes", space, failure->taken_bytes);
    tts_json_number_or_null(json, "free_bytes", space, failure->free_bytes);
    tts_json_number_or_null(json, "largest_free_bytes", space, failure->largest_free_bytes);
    tts_json_object_end(json);
}

static void put_buffer(struct tts_json *json, const struct tts_devseq_step *step)
{
    static const char *const outcomes[] = {[TTS_DEVSEQ_DONE] = "ok",
                                           [TTS_DEVSEQ_FAILED] = "failed",
                                           [TTS_DEVSEQ_BELOW_LIMIT] = "below_limit",
                                           [TTS_DEVSEQ_NOT_PLACED] = "not_placed"};
    const struct tts_devseq_result *result = &step->line.result;
    const struct tts_failure *failure = &step->failure;
    bool has = step->has_buffer, sized = step->failed && failure->banks > 0;
    bool somewhere =
        result->outcome == TTS_DEVSEQ_DONE || result->outcome == TTS_DEVSEQ_BELOW_LIMIT;
    tts_json_text(json, "result", outcomes[result->outcome]);
    tts_json_number_or_null(json, "address", somewhere, result->value[0]);
    tts_json_number_or_null(json, "bytes_per_bank", has || sized,
                            has ? step->buffer.bytes_per_bank : failure->need_bytes);
    tts_json_number_or_null(json, "block_bytes", has || sized,
                            has ? step->buffer.block_bytes : failure->block_bytes);
    tts_json_number_or_null(json, "banks", has || sized,
                            has ? step->buffer.banks : failure->banks);
}

static void put_page(struct tts_json *json, const struct tts_devseq_result *result)
{
    bool known = result->outcome == TTS_DEVSEQ_DONE;
    tts_json_number_or_null(json, "bank", known, result->value[0]);
    if (result->has_core) {
        tts_json_object(json, "core");
        tts_json_number(json, "x", result->core.x);
        tts_json_number(json, "y", result->core.y);
        tts_json_object_end(json);
    } else {
        tts_json_null(json, "core");
    }
    tts_json_number_or_null(json, "address", known, result->value[1]);
}

static void put_numbers(struct tts_json *json, const char *const *keys, int count,
                        const uint64_t *value)
{
    for (int i = 0; i < count; i++)
        tts_json_number(json, keys[i], value[i]);
}

static const char *const statistics_keys[] = {"total_allocatable_size_bytes",
                                              "total_allocated_bytes", "total_free_bytes",
                                              "largest_free_block_bytes"};

static const char *const room_keys[] = {"region_end", "ceiling", "free_bytes"};

static void put_device_result(struct tts_json *json, const struct tts_devseq_step *step)
{
    const struct tts_devseq_result *result = &step->line.result;
    switch (step->line.kind) {
    case TTS_DEVSEQ_BUFFER:
    case TTS_DEVSEQ_SHARD:
    case TTS_DEVSEQ_KERNEL:
    case TTS_DEVSEQ_TRACE:
        put_buffer(json, step);
        return;
    case TTS_DEVSEQ_CB:
        tts_json_number(json, "address", result->value[0]);
        tts_json_number(json, "overlaps", step->overlaps);
        return;
    case TTS_DEVSEQ_RUN:
        tts_json_text(json, "result", result->outcome == TTS_DEVSEQ_DONE ? "ok" : "failed");
        return;
    case TTS_DEVSEQ_FREE:
        tts_json_text(json, "result", step->has_buffer ? "ok" : "ignored");
        return;
    case TTS_DEVSEQ_STATS:
        put_numbers(json, statistics_keys, 4, result->value);
        return;
    case TTS_DEVSEQ_ROOM:
        put_numbers(json, room_keys, 3, result->value);
        return;
    case TTS_DEVSEQ_PAGE:
        put_page(json, result);
        return;
    case TTS_DEVSEQ_PROGRAM:
    case TTS_DEVSEQ_CAPTURE:
    case TTS_DEVSEQ_BLANK:
    case TTS_DEVSEQ_KINDS:
        return;
    }
}

static void replay_device_json_result(struct tts_json *json, const struct tts_devseq_step *step,
                                      uint64_t line_no)
{
    char text[TTS_DEVSEQ_TEXT_MAX];
    struct tts_devseq_line asked = step->line;
    asked.has_result = false;
    tts_devseq_format(&asked, text);
    tts_json_object(json, NULL);
    tts_json_number(json, "line", line_no);
    tts_json_text(json, "op", tts_devseq_verb(step->line.kind));
    tts_json_text(json, "statement", text);
    put_device_result(json, step);
    if (step->failed)
        put_device_failure(json, "failure", &step->failure);
    tts_json_object_end(json);
}

/* --- the end ---------------------------------------------------------------------------- */

static void put_device_statistics(struct tts_json *json, const struct tts_pool_stats *stats)
{
    const struct tts_space_stats *space = &stats->space;
    tts_json_object(json, "statistics");
    tts_json_number(json, "total_allocatable_size_bytes", space->total_bytes);
    tts_json_number(json, "total_allocated_bytes", space->taken_bytes);
    tts_json_number(json, "total_free_bytes", space->free_bytes);
    tts_json_number(json, "largest_free_block_bytes", space->largest_free_bytes);
    tts_json_ratio(json, "fragmentation_ratio", space->free_bytes - space->largest_free_bytes,
                   space->free_bytes);
    tts_json_object_end(json);
}

/* Writes the fields of the runtime's memory view, with the runtime's field names. */
static void put_view(struct tts_json *json, const struct tts_pool_stats *stats, uint32_t banks)
{
    const struct tts_space_stats *space = &stats->space;
    tts_json_object(json, "memory_view");
    tts_json_number(json, "num_banks", banks);
    tts_json_number(json, "total_bytes_per_bank", space->total_bytes);
    tts_json_number(json, "total_bytes_allocated_per_bank", space->taken_bytes);
    tts_json_number(json, "total_bytes_free_per_bank", space->free_bytes);
    tts_json_number(json, "largest_contiguous_bytes_free_per_bank", space->largest_free_bytes);
    tts_json_object_end(json);
}

static void put_device_pool(struct tts_json *json, const struct tts_devseq_run *run,
                            enum tts_pool pool, bool blocks)
{
    struct tts_pool_stats stats;
    const struct tts_pool_layout *layout = tts_device_layout(run->device, pool);
    if (!layout || !tts_device_stats(run->device, pool, &stats))
        return;
    tts_json_object(json, NULL);
    tts_json_text(json, "pool", tts_pool_name(pool));
    tts_json_number(json, "banks", layout->banks);
    tts_json_number(json, "bank_bytes", layout->bank_bytes);
    tts_json_number(json, "offset", layout->offset_bytes);
    tts_json_number(json, "alignment", layout->block_alignment_bytes);
    put_device_statistics(json, &stats);
    put_view(json, &stats, layout->banks);
    tts_json_number(json, "buffers", stats.buffers);
    tts_json_number(json, "not_placed_buffers", stats.unplaced_buffers);
    tts_json_number(json, "not_placed_bytes", stats.unplaced_bytes);
    tts_json_number(json, "peak_bytes", stats.peak_bytes);
    tts_json_number_or_null(json, "peak_line", run->counts.peak_line[pool] > 0,
                            run->counts.peak_line[pool]);
    tts_json_number(json, "failures", stats.failures);
    if (blocks)
        tts_replay_json_blocks(json, tts_banks_space(tts_device_pool(run->device, pool), 0));
    tts_json_object_end(json);
}

static void put_tight(struct tts_json *json, const struct tts_devseq_tight *tight)
{
    if (tight->line == 0) {
        tts_json_null(json, "tightest_core");
        return;
    }
    tts_json_object(json, "tightest_core");
    tts_json_number(json, "line", tight->line);
    tts_json_number(json, "program", tight->program_id);
    tts_json_number(json, "x", tight->core.x);
    tts_json_number(json, "y", tight->core.y);
    tts_json_number(json, "cb_bytes", tight->room.cb_bytes);
    tts_json_number(json, "region_end", tight->room.region_end);
    tts_json_number(json, "ceiling", tight->room.ceiling);
    tts_json_number(json, "free_bytes", tight->room.free_bytes);
    tts_json_number(json, "excess_bytes", tight->room.excess_bytes);
    tts_json_object_end(json);
}

/* Writes one buffer that is still allocated at the end: its name and the fields of the
 * runtime's buffer report. */
static void put_held(struct tts_json *json, const struct tts_devseq_held *held)
{
    static const char *const layouts[] = {
        [TTS_DEVSEQ_CLASSIC] = "classic", [TTS_DEVSEQ_ND] = "nd", [TTS_DEVSEQ_GRID] = "grid"};
    const struct tts_buffer *buffer = &held->buffer;
    tts_json_object(json, NULL);
    tts_json_text(json, "name", held->name.text);
    tts_json_text(json, "buffer_type", tts_pool_name(buffer->pool));
    tts_json_text(json, "buffer_layout",
                  held->sharding ? layouts[held->sharding->sharding] : "interleaved");
    tts_json_number_or_null(json, "address", held->has_address, buffer->address);
    tts_json_number(json, "size_bytes", buffer->size_bytes);
    tts_json_number_or_null(json, "page_bytes", held->page_bytes > 0, held->page_bytes);
    tts_json_number(json, "bytes_per_bank", buffer->bytes_per_bank);
    tts_json_number(json, "block_bytes", buffer->block_bytes);
    tts_json_object_end(json);
}

static void put_buffers(struct tts_json *json, const struct tts_devseq_names *names)
{
    tts_json_array(json, "buffers");
    for (size_t i = 0; i < names->count; i++)
        if (names->held[i].live)
            put_held(json, &names->held[i]);
    tts_json_array_end(json);
}

static void put_device_counts(struct tts_json *json, const struct tts_devseq_counts *counts)
{
    tts_json_object(json, "operations");
    tts_json_number(json, "total", counts->operations);
    tts_json_number(json, "buffers_ok", counts->buffers_ok);
    tts_json_number(json, "buffers_failed", counts->buffers_failed);
    tts_json_number(json, "buffers_failed_by_fragmentation", counts->fragmented);
    tts_json_number(json, "buffers_below_limit", counts->buffers_below_limit);
    tts_json_number(json, "buffers_not_placed", counts->buffers_not_placed);
    tts_json_number(json, "frees_ok", counts->frees_ok);
    tts_json_number(json, "frees_ignored", counts->frees_ignored);
    tts_json_number(json, "programs", counts->programs);
    tts_json_number(json, "circular_buffers", counts->cbs);
    tts_json_number(json, "runs_ok", counts->runs_ok);
    tts_json_number(json, "runs_failed", counts->runs_failed);
    tts_json_number(json, "captures", counts->captures);
    tts_json_number(json, "queries", counts->queries);
    tts_json_object_end(json);
}

/* Ends the document. `check` is NULL if no comparison was asked for. */
static void replay_device_json_end(struct tts_json *json,
                                   const struct tts_replay_device *options,
                                   struct tts_devseq_run *run,
                                   const struct tts_replay_check *check)
{
    const struct tts_failure *first = tts_device_first_failure(run->device);
    if (!options->quiet)
        tts_json_array_end(json);
    put_device_counts(json, &run->counts);
    tts_json_array(json, "pools");
    for (int pool = 0; pool < TTS_POOLS; pool++)
        put_device_pool(json, run, (enum tts_pool)pool, options->blocks);
    tts_json_array_end(json);
    put_buffers(json, &run->names);
    put_tight(json, &run->tight);
    if (first)
        put_device_failure(json, "first_failure", first);
    else
        tts_json_null(json, "first_failure");
    tts_json_number_or_null(json, "first_failure_line", first, run->counts.first_failure_line);
    tts_replay_json_check(json, check);
    tts_json_object_end(json);
}

static const char command[] = "replay";

enum { PATH_MAX_BYTES = 4096, REPORTS = 3 };

struct replay {
    const struct tts_replay_device *options;
    struct tts_lines lines;
    struct tts_device *device;
    struct tts_devseq_run run;
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
    const struct tts_replay_device *options = replay->options;
    struct tts_space_config config;
    if (!options->map_path)
        return TTS_EXIT_DONE;
    if (options->map_pool && !find_pool(options->map_pool, &replay->map_pool))
        return TTS_EXIT_USAGE;
    const struct tts_banks *banks = tts_device_pool(replay->device, replay->map_pool);
    if (!banks) {
        tts_message(command, "'%s' has no %s to draw", tts_device_chip(replay->device)->name,
                    tts_pool_name(replay->map_pool));
        return TTS_EXIT_USAGE;
    }
    tts_space_get_config(tts_banks_space(banks, 0), &config);
    if (tts_addrmap_new(&config, NULL, &replay->map) == TTS_OK)
        return TTS_EXIT_DONE;
    tts_message(command, "cannot draw a map: out of memory");
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
        event.change = TTS_ADDRMAP_FAILED; /* a failure of the trace budget has no block size */
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
        tts_message(command, "note: nothing happened in %s; choose another pool with '--pool'",
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

/* Prints further facts about a line as comments. Returns false if standard output cannot be
 * written. */
static bool print_remarks(const struct tts_devseq_step *step)
{
    char failure[TTS_FAILURE_TEXT_MAX];
    if (step->failed) {
        tts_say_sentence(stdout, "# ", tts_failure_text(&step->failure, failure));
        if (tts_failure_deficit_is_known(&step->failure))
            printf("# missing: %" PRIu64 " B\n", tts_failure_deficit(&step->failure));
        return !ferror(stdout);
    }
    if (step->overlaps > 0)
        return printf(
                   "# lies over %zu earlier circular buffer%s on some core, which the runtime "
                   "does not notice\n",
                   step->overlaps, step->overlaps == 1 ? "" : "s") > 0;
    if (step->line.kind == TTS_DEVSEQ_FREE && !step->has_buffer)
        return puts("# ignored: nothing is there") >= 0;
    return true;
}

/* Prints a line of results and its remarks. Returns false if standard output cannot be
 * written. */
static bool print_device_step(const struct tts_devseq_step *step)
{
    char text[TTS_DEVSEQ_TEXT_MAX + 1];
    size_t len = tts_devseq_format(&step->line, text);
    text[len++] = '\n';
    return fwrite(text, 1, len, stdout) == len && print_remarks(step);
}

/* Returns true if each result is printed. */
static bool prints(const struct replay *replay)
{
    const struct tts_replay_device *options = replay->options;
    return !options->quiet && !options->json && !options->check &&
           !(options->map_path && strcmp(options->map_path, "-") == 0);
}

/* Passes the result of one line to each output. Returns false to stop. */
static bool show_device_step(struct replay *replay, const struct tts_devseq_line *line,
                             const struct tts_devseq_step *step)
{
    const struct tts_replay_device *options = replay->options;
    if (prints(replay) && !print_device_step(step))
        return false;
    if (replay->map)
        add_to_map(replay, step);
    if (options->json && !options->quiet)
        replay_device_json_result(&replay->document, step, replay->lines.line);
    return !options->check ||
           compare_device_line(&replay->checked, line, step, replay->lines.line);
}

/* --- the whole sequence ----------------------------------------------------------------- */

/* Reads and runs all lines, up to the end or to the first difference. */
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
        if (!show_device_step(replay, &line, &step))
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
                                 tts_status_text(status));
    }
    return TTS_OK;
}

/* Prints the text after the results. */
static enum tts_status print_device_end(struct replay *replay, struct tts_error *err)
{
    const struct tts_replay_device *options = replay->options;
    replay->checked.operations = replay->run.counts.operations;
    if (options->json) {
        replay_device_json_end(&replay->document, options, &replay->run,
                               options->check ? &replay->checked : NULL);
        return tts_outfile_commit(&replay->json_file, err);
    }
    if (options->stats)
        replay_device_stats(&replay->run, stdout);
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
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot make the directory '%.80s'",
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
                             tts_status_text(status));
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
        replay_device_json_begin(&replay->document, replay->options, replay->device);
    }
    return status;
}

static int run_device_replay(struct replay *replay)
{
    struct tts_error err = {0};
    enum tts_status status = open_device_files(replay, &err);
    if (status == TTS_OK) {
        status = run_device_lines(replay, &err);
        if (status != TTS_OK)
            tts_replay_locate(&replay->lines, &err);
    }
    if (ferror(stdout))
        return TTS_EXIT_INPUT; /* main prints the error */
    /* a map or report shows the end of the sequence, which was not reached */
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
    const struct tts_replay_device *options = replay->options;
    return options->check ? tts_replay_check_end(&replay->checked, options->path, options->json)
                          : TTS_EXIT_DONE;
}

int tts_replay_device(const struct tts_replay_device *options)
{
    struct replay replay = {.options = options};
    int code = make_device(&replay);
    if (code == TTS_EXIT_DONE)
        code = begin_map(&replay);
    if (code == TTS_EXIT_DONE)
        code = run_device_replay(&replay);
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
