#include "views/replay/devseq_view.h"

#include "device/devicepools.h"
#include "views/say.h"

#include <inttypes.h>

/* --- text ------------------------------------------------------------------------------- */

static void print_device_pool(const struct tts_devseq_view *view, enum tts_pool pool, FILE *out)
{
    struct tts_pool_stats stats;
    const struct tts_pool_layout *layout = tts_device_layout(view->device, pool);
    if (!layout || !tts_device_stats(view->device, pool, &stats))
        return;
    uint64_t placed = stats.buffers - stats.unplaced_buffers;
    uint64_t peak_line = view->counts->peak_line[pool];
    fprintf(out, "%s, %" PRIu32 " banks; per bank\n", tts_pool_name(pool), layout->banks);
    tts_replay_text_bytes(out, "total", stats.space.total_bytes, NULL);
    tts_replay_text_bytes(out, "allocated", stats.space.taken_bytes, "in %" PRIu64 " buffer%s",
                          placed, tts_say_plural(placed));
    tts_replay_text_bytes(out, "of all banks", stats.space.taken_bytes * layout->banks,
                          "allocated in all banks together");
    if (stats.unplaced_buffers > 0)
        tts_replay_text_bytes(out, "not placed", stats.unplaced_bytes,
                              "in %" PRIu64 " buffer%s, only counted", stats.unplaced_buffers,
                              tts_say_plural(stats.unplaced_buffers));
    tts_replay_text_bytes(out, "free", stats.space.free_bytes, NULL);
    tts_replay_text_largest(out, &stats.space);
    tts_replay_text_bytes(out, "peak", stats.peak_bytes,
                          peak_line > 0 ? "at line %" PRIu64 : NULL, peak_line);
}

/* Prints where circular buffers and L1 buffers came closest to each other. */
static void print_tight(const struct tts_devseq_tight *tight, FILE *out)
{
    if (tight->line == 0)
        return;
    fprintf(out,
            "the core with the least free L1 at a run: line %" PRIu64 ", program %" PRIu64
            ", core %u-%u\n",
            tight->line, tight->program_id, tight->core.x, tight->core.y);
    tts_replay_text_bytes(out, "in use", tight->room.cb_bytes, "by circular buffers");
    tts_replay_text_bytes(out, "region end", tight->room.region_end,
                          "end address of these buffers");
    tts_replay_text_bytes(out, "ceiling", tight->room.ceiling, "highest allowed end address");
    if (tight->room.excess_bytes > 0)
        tts_replay_text_bytes(out, "missing", tight->room.excess_bytes,
                              "region end minus ceiling");
    else
        tts_replay_text_bytes(out, "free between", tight->room.free_bytes,
                              "ceiling minus region end");
}

static void print_device_counts(const struct tts_devseq_counts *counts, FILE *out)
{
    uint64_t failed = counts->buffers_failed;
    tts_replay_text_count(out, "statements", counts->operations, NULL);
    tts_replay_text_count(
        out, "buffers",
        counts->buffers_ok + counts->buffers_not_placed + counts->buffers_below_limit + failed,
        "%" PRIu64 " ok, %" PRIu64 " failed (%" PRIu64 " by fragmentation), %" PRIu64
        " below the limit, %" PRIu64 " not placed",
        counts->buffers_ok, failed, counts->fragmented, counts->buffers_below_limit,
        counts->buffers_not_placed);
    tts_replay_text_count(out, "frees", counts->frees_ok + counts->frees_ignored,
                          "%" PRIu64 " ok, %" PRIu64 " ignored", counts->frees_ok,
                          counts->frees_ignored);
    tts_replay_text_count(out, "programs", counts->programs,
                          "%" PRIu64 " circular buffers; run: %" PRIu64 " ok, %" PRIu64
                          " failed",
                          counts->cbs, counts->runs_ok, counts->runs_failed);
    tts_replay_text_count(out, "queries", counts->queries, NULL);
}

static void print_device_failure(const struct tts_failure *failure, const char *mark, FILE *out)
{
    char text[TTS_FAILURE_TEXT_MAX];
    tts_say_sentence(out, mark, tts_failure_text(failure, text));
    tts_replay_text_missing(out, mark, failure, "");
}

void tts_devseq_text_stats(const struct tts_devseq_view *view, FILE *out)
{
    const struct tts_failure *first = tts_device_first_failure(view->device);
    for (int pool = 0; pool < TTS_POOLS; pool++)
        print_device_pool(view, (enum tts_pool)pool, out);
    print_tight(view->tight, out);
    fprintf(out, "run on %s\n", tts_device_chip(view->device)->name);
    print_device_counts(view->counts, out);
    if (first) {
        fprintf(out, "first failure, at line %" PRIu64 "\n", view->counts->first_failure_line);
        print_device_failure(first, "  ", out);
    }
}

void tts_devseq_text_remarks(const struct tts_devseq_step *step, FILE *out)
{
    if (step->failed)
        print_device_failure(&step->failure, "# ", out);
    else if (step->overlaps > 0)
        fprintf(
            out,
            "# overlaps %zu earlier circular buffer%s on at least one core; the runtime does "
            "not detect this\n",
            step->overlaps, tts_say_plural(step->overlaps));
    else if (step->line.kind == TTS_DEVSEQ_FREE && !step->has_buffer)
        fputs("# ignored: there is no such buffer\n", out);
}

/* --- JSON ------------------------------------------------------------------------------- */

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

void tts_devseq_json_begin(struct tts_json *json, const struct tts_devseq_view *view)
{
    const struct tts_chip *chip = tts_device_chip(view->device);
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.replay.device");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    tts_json_text(json, "file", view->path);
    tts_json_text(json, "device", chip->name);
    tts_json_text(json, "arch", tts_arch_name(chip->arch));
    tts_json_number(json, "chips", chip->fact[TTS_FACT_CHIPS].value);
    tts_json_text(json, "mode", view->mode);
    tts_json_text(json, "scope", "per_bank");
    put_report(json, view->device);
    if (view->with_results)
        tts_json_array(json, "results");
}

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
        tts_replay_json_stats(json, result->value);
        return;
    case TTS_DEVSEQ_ROOM:
        tts_json_number(json, "region_end", result->value[0]);
        tts_json_number(json, "ceiling", result->value[1]);
        tts_json_number(json, "free_bytes", result->value[2]);
        return;
    case TTS_DEVSEQ_PAGE:
        put_page(json, result);
        return;
    case TTS_DEVSEQ_PROGRAM:
    case TTS_DEVSEQ_CAPTURE:
    case TTS_DEVSEQ_IDLE:
    case TTS_DEVSEQ_BLANK:
    case TTS_DEVSEQ_KINDS:
        return;
    }
}

void tts_devseq_json_result(struct tts_json *json, const struct tts_devseq_step *step,
                            const char *verb, const char *statement, uint64_t line_no)
{
    tts_json_object(json, NULL);
    tts_json_number(json, "line", line_no);
    tts_json_text(json, "op", verb);
    tts_json_text(json, "statement", statement);
    put_device_result(json, step);
    if (step->failed)
        put_device_failure(json, "failure", &step->failure);
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

static void put_device_pool(struct tts_json *json, const struct tts_devseq_view *view,
                            enum tts_pool pool)
{
    struct tts_pool_stats stats;
    const struct tts_pool_layout *layout = tts_device_layout(view->device, pool);
    if (!layout || !tts_device_stats(view->device, pool, &stats))
        return;
    tts_json_object(json, NULL);
    tts_json_text(json, "pool", tts_pool_name(pool));
    tts_json_number(json, "banks", layout->banks);
    tts_json_number(json, "bank_bytes", layout->bank_bytes);
    tts_json_number(json, "offset", layout->offset_bytes);
    tts_json_number(json, "alignment", layout->block_alignment_bytes);
    tts_json_object(json, "statistics");
    tts_replay_json_space(json, &stats.space);
    tts_json_object_end(json);
    put_view(json, &stats, layout->banks);
    tts_json_number(json, "buffers", stats.buffers);
    tts_json_number(json, "not_placed_buffers", stats.unplaced_buffers);
    tts_json_number(json, "not_placed_bytes", stats.unplaced_bytes);
    tts_json_number(json, "peak_bytes", stats.peak_bytes);
    tts_json_number_or_null(json, "peak_line", view->counts->peak_line[pool] > 0,
                            view->counts->peak_line[pool]);
    tts_json_number(json, "failures", stats.failures);
    if (view->with_blocks)
        tts_replay_json_blocks(json, tts_banks_space(tts_device_pool(view->device, pool), 0));
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
    tts_json_number(json, "idles", counts->idles);
    tts_json_number(json, "queries", counts->queries);
    tts_json_object_end(json);
}

void tts_devseq_json_end(struct tts_json *json, const struct tts_devseq_view *view)
{
    const struct tts_failure *first = tts_device_first_failure(view->device);
    if (view->with_results)
        tts_json_array_end(json);
    put_device_counts(json, view->counts);
    tts_json_array(json, "pools");
    for (int pool = 0; pool < TTS_POOLS; pool++)
        put_device_pool(json, view, (enum tts_pool)pool);
    tts_json_array_end(json);
    tts_json_array(json, "buffers");
    for (size_t i = 0; i < view->held_count; i++)
        if (view->held[i].live)
            put_held(json, &view->held[i]);
    tts_json_array_end(json);
    put_tight(json, view->tight);
    if (first)
        put_device_failure(json, "first_failure", first);
    else
        tts_json_null(json, "first_failure");
    tts_json_number_or_null(json, "first_failure_line", first,
                            view->counts->first_failure_line);
    tts_replay_json_check(json, view->check);
    tts_json_object_end(json);
}
