#include "cli/replay_device.h"

static void put_number(struct tts_json *json, const char *key, bool known, uint64_t value)
{
    if (known)
        tts_json_number(json, key, value);
    else
        tts_json_null(json, key);
}

static void put_grid(struct tts_json *json, const char *x_key, const char *y_key,
                     const struct tts_fact *grid)
{
    bool known = grid->origin != TTS_ORIGIN_UNKNOWN;
    put_number(json, y_key, known, TTS_GRID_ROWS(grid->value));
    put_number(json, x_key, known, TTS_GRID_COLUMNS(grid->value));
}

/* The fields of the runtime's device report, under its names. */
static void put_report(struct tts_json *json, const struct tts_device *device)
{
    const struct tts_fact *fact = tts_device_chip(device)->fact;
    const struct tts_pool_layout *l1 = tts_device_layout(device, TTS_POOL_L1);
    uint64_t banks = l1 ? l1->banks : 0, bank = l1 ? l1->bank_bytes : 0;
    uint64_t size = fact[TTS_FACT_L1_SIZE].value, base = fact[TTS_FACT_L1_BASE].value;
    tts_json_object(json, "device_report");
    put_grid(json, "num_x_cores", "num_y_cores", &fact[TTS_FACT_TENSIX_GRID]);
    put_grid(json, "num_x_compute_cores", "num_y_compute_cores", &fact[TTS_FACT_GRID]);
    put_number(json, "worker_l1_size", l1, size);
    put_number(json, "l1_num_banks", l1, banks);
    put_number(json, "l1_bank_size", l1, bank);
    put_number(json, "address_at_first_l1_bank", l1, 0);
    put_number(json, "address_at_first_l1_cb_buffer", l1, base);
    put_number(json, "num_banks_per_storage_core", l1, l1 ? size / bank : 0);
    put_number(json, "num_compute_cores", l1, banks);
    put_number(json, "num_storage_cores", l1, 0);
    put_number(json, "total_l1_memory", l1, banks * size);
    tts_json_null(json, "total_l1_for_tensors"); /* which the runtime never fills */
    put_number(json, "total_l1_for_interleaved_buffers", l1, banks * bank);
    put_number(json, "total_l1_for_sharded_buffers", l1, banks * bank);
    put_number(json, "cb_limit", l1, size - base);
    tts_json_object_end(json);
}

void tts_replay_device_json_begin(struct tts_json *json,
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
    tts_json_text(json, "mode", options->mode ? options->mode : tts_mode_names[0]);
    tts_json_text(json, "scope", "per_bank");
    put_report(json, device);
    if (!options->quiet)
        tts_json_array(json, "results");
}

/* --- results ---------------------------------------------------------------------------- */

static void put_failure(struct tts_json *json, const char *key,
                        const struct tts_failure *failure)
{
    char text[TTS_FAILURE_TEXT_MAX];
    bool space = failure->kind == TTS_FAILURE_SPACE || failure->kind == TTS_FAILURE_DEPENDENCY;
    tts_json_object(json, key);
    tts_json_text(json, "kind", tts_failure_kind_name(failure->kind));
    tts_json_text(json, "pool", tts_pool_name(failure->pool));
    tts_json_text(json, "text", tts_failure_text(failure, text));
    put_number(json, "deficit_bytes", tts_failure_deficit_is_known(failure),
               tts_failure_deficit(failure));
    put_number(json, "requested_bytes", space || failure->kind == TTS_FAILURE_TRACE,
               failure->requested_bytes);
    put_number(json, "need_bytes_per_bank", space, failure->need_bytes);
    put_number(json, "banks", space, failure->banks);
    put_number(json, "bank_bytes", space, failure->bank_bytes);
    put_number(json, "allocated_bytes", space, failure->taken_bytes);
    put_number(json, "free_bytes", space, failure->free_bytes);
    put_number(json, "largest_free_bytes", space, failure->largest_free_bytes);
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
    put_number(json, "address", somewhere, result->value[0]);
    put_number(json, "bytes_per_bank", has || sized,
               has ? step->buffer.bytes_per_bank : failure->need_bytes);
    put_number(json, "block_bytes", has || sized,
               has ? step->buffer.block_bytes : failure->block_bytes);
    put_number(json, "banks", has || sized, has ? step->buffer.banks : failure->banks);
}

static void put_page(struct tts_json *json, const struct tts_devseq_result *result)
{
    bool known = result->outcome == TTS_DEVSEQ_DONE;
    put_number(json, "bank", known, result->value[0]);
    if (result->has_core) {
        tts_json_object(json, "core");
        tts_json_number(json, "x", result->core.x);
        tts_json_number(json, "y", result->core.y);
        tts_json_object_end(json);
    } else {
        tts_json_null(json, "core");
    }
    put_number(json, "address", known, result->value[1]);
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

static void put_result(struct tts_json *json, const struct tts_devseq_step *step)
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

void tts_replay_device_json_result(struct tts_json *json, const struct tts_devseq_step *step,
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
    put_result(json, step);
    if (step->failed)
        put_failure(json, "failure", &step->failure);
    tts_json_object_end(json);
}

/* --- the end ---------------------------------------------------------------------------- */

static void put_statistics(struct tts_json *json, const struct tts_pool_stats *stats)
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

/* The fields of the runtime's memory view, under its names. */
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

static void put_pool(struct tts_json *json, const struct tts_devseq_run *run,
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
    put_statistics(json, &stats);
    put_view(json, &stats, layout->banks);
    tts_json_number(json, "buffers", stats.buffers);
    tts_json_number(json, "not_placed_buffers", stats.unplaced_buffers);
    tts_json_number(json, "not_placed_bytes", stats.unplaced_bytes);
    tts_json_number(json, "peak_bytes", stats.peak_bytes);
    put_number(json, "peak_line", run->counts.peak_line[pool] > 0, run->counts.peak_line[pool]);
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

/* Who holds what at the end: the fields of the runtime's buffer report, and the name. */
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
    put_number(json, "address", held->has_address, buffer->address);
    tts_json_number(json, "size_bytes", buffer->size_bytes);
    put_number(json, "page_bytes", held->page_bytes > 0, held->page_bytes);
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

static void put_counts(struct tts_json *json, const struct tts_devseq_counts *counts)
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

void tts_replay_device_json_end(struct tts_json *json, const struct tts_replay_device *options,
                                struct tts_devseq_run *run,
                                const struct tts_replay_check *check)
{
    const struct tts_failure *first = tts_device_first_failure(run->device);
    if (!options->quiet)
        tts_json_array_end(json);
    put_counts(json, &run->counts);
    tts_json_array(json, "pools");
    for (int pool = 0; pool < TTS_POOLS; pool++)
        put_pool(json, run, (enum tts_pool)pool, options->blocks);
    tts_json_array_end(json);
    put_buffers(json, &run->names);
    put_tight(json, &run->tight);
    if (first)
        put_failure(json, "first_failure", first);
    else
        tts_json_null(json, "first_failure");
    put_number(json, "first_failure_line", first, run->counts.first_failure_line);
    tts_replay_json_check(json, check);
    tts_json_object_end(json);
}
