/* whatif_result.c: what failed, and what came out. */
#include "analysis/whatif_inside.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* --- failures --------------------------------------------------------------------------- */

/* The larger first, then the older. */
static bool comes_before(const struct tts_whatif_live *a, const struct tts_whatif_live *b)
{
    return a->block_bytes != b->block_bytes ? a->block_bytes > b->block_bytes : a->seq < b->seq;
}

static void add_to_top(struct tts_whatif_failure *failure, const struct tts_whatif_live *live)
{
    size_t at = failure->top_count;
    while (at > 0 && comes_before(live, &failure->top[at - 1]))
        at--;
    if (at == TTS_WHATIF_TOP)
        return;
    failure->top_count += failure->top_count < TTS_WHATIF_TOP;
    size_t behind = failure->top_count - 1 - at;
    memmove(&failure->top[at + 1], &failure->top[at], behind * sizeof failure->top[0]);
    failure->top[at] = *live;
}

static void look_around(const struct tts_whatif *whatif, struct tts_whatif_failure *failure,
                        size_t model)
{
    for (size_t i = 0; i < whatif->table.count; i++) {
        const struct tts_whatif_entry *entry = &whatif->table.entries[i];
        if (!entry->is_used || entry->model != model || entry->buffer.block_bytes == 0 ||
            entry->buffer.pool != failure->pool)
            continue;
        struct tts_whatif_live live = {.id = entry->id,
                                       .seq = entry->seq,
                                       .size_bytes = entry->buffer.size_bytes,
                                       .block_bytes = entry->buffer.block_bytes,
                                       .op = tts_opnames_text(whatif->names, entry->op),
                                       .is_placed = entry->buffer.placed};
        failure->live++;
        failure->live_bytes += live.block_bytes;
        add_to_top(failure, &live);
    }
}

void tts_whatif_note(struct tts_whatif *whatif, const struct tts_whatif_moment *when,
                     struct tts_whatif_failure *failure, size_t model)
{
    bool is_refusal =
        failure->kind == TTS_WHATIF_REFUSED || failure->kind == TTS_WHATIF_PROGRAM;
    struct tts_whatif_fill *fill = &whatif->models[model].fill[failure->pool];
    uint64_t deficit = is_refusal ? tts_failure_deficit(&failure->failure) : 0;
    if (is_refusal)
        fill->failures++;
    if (deficit > fill->deficit_bytes) {
        fill->deficit_bytes = deficit;
        fill->deficit_seq = when->seq;
    }
    if (whatif->has_failed)
        return;
    failure->seq = when->seq;
    failure->has_time = when->has_time;
    failure->time_ns = when->time_ns;
    failure->device = when->device;
    failure->op = tts_opnames_text(whatif->names, when->op);
    look_around(whatif, failure, model);
    whatif->first = *failure;
    whatif->has_failed = true;
}

/* --- what came out ---------------------------------------------------------------------- */

void tts_whatif_get_counts(const struct tts_whatif *whatif, struct tts_whatif_counts *out)
{
    *out = whatif->counts;
}

uint64_t tts_whatif_failures(const struct tts_whatif *whatif)
{
    const struct tts_whatif_counts *counts = &whatif->counts;
    return counts->failed_buffers + counts->failed_cores + counts->failed_requests +
           counts->failed_programs;
}

uint64_t tts_whatif_left_out(const struct tts_whatif *whatif)
{
    const struct tts_whatif_counts *counts = &whatif->counts;
    return counts->unchecked + counts->other_parts + counts->no_pool + counts->single_core +
           counts->refused - counts->retried;
}

uint64_t tts_whatif_stop(const struct tts_whatif *whatif)
{
    return whatif->stop_seq;
}

const struct tts_whatif_failure *tts_whatif_first(const struct tts_whatif *whatif)
{
    return whatif->has_failed ? &whatif->first : NULL;
}

const char *tts_whatif_failure_text(const struct tts_whatif_failure *failure,
                                    char out[TTS_FAILURE_TEXT_MAX])
{
    if (failure->kind == TTS_WHATIF_REFUSED || failure->kind == TTS_WHATIF_PROGRAM)
        return tts_failure_text(&failure->failure, out);
    snprintf(out, TTS_FAILURE_TEXT_MAX, "%s", failure->text);
    return out;
}

size_t tts_whatif_devices(const struct tts_whatif *whatif)
{
    return whatif->model_count;
}

uint32_t tts_whatif_device_id(const struct tts_whatif *whatif, size_t idx)
{
    assert(idx < whatif->model_count);
    return whatif->models[idx].id;
}

const struct tts_device *tts_whatif_device(const struct tts_whatif *whatif, size_t idx)
{
    return idx < whatif->model_count ? whatif->models[idx].device : NULL;
}

bool tts_whatif_get_pool(const struct tts_whatif *whatif, size_t idx, enum tts_pool pool,
                         struct tts_whatif_pool *out)
{
    assert(idx < whatif->model_count);
    const struct tts_whatif_model *model = &whatif->models[idx];
    const struct tts_whatif_fill *fill = &model->fill[pool];
    const struct tts_pool_layout *layout = tts_device_layout(model->device, pool);
    if (!layout && fill->failures == 0)
        return false;
    *out = (struct tts_whatif_pool){.peak_seq = fill->peak_seq,
                                    .failures = fill->failures,
                                    .deficit_bytes = fill->deficit_bytes,
                                    .deficit_seq = fill->deficit_seq};
    if (layout)
        out->layout = *layout;
    /* A pool of no bytes has no statistics, but there may have been wishes. */
    if (!tts_device_stats(model->device, pool, &out->stats))
        out->stats = (struct tts_pool_stats){.unplaced_bytes = fill->bytes};
    out->stats.peak_bytes = fill->peak_bytes;
    return true;
}

bool tts_whatif_get_worst(const struct tts_whatif *whatif, enum tts_pool pool,
                          struct tts_whatif_pool *out)
{
    struct tts_whatif_pool one, worst = {0};
    bool any = false;
    for (size_t i = 0; i < whatif->model_count; i++) {
        if (!tts_whatif_get_pool(whatif, i, pool, &one))
            continue;
        uint64_t failures = worst.failures + one.failures, deficit = worst.deficit_bytes,
                 deficit_seq = worst.deficit_seq;
        if (one.deficit_bytes > deficit) {
            deficit = one.deficit_bytes;
            deficit_seq = one.deficit_seq;
        }
        if (!any || one.stats.peak_bytes > worst.stats.peak_bytes)
            worst = one;
        worst.failures = failures;
        worst.deficit_bytes = deficit;
        worst.deficit_seq = deficit_seq;
        any = true;
    }
    if (any)
        *out = worst;
    return any;
}

bool tts_whatif_get_region(const struct tts_whatif *whatif, enum tts_pool pool,
                           struct tts_whatif_region *out)
{
    assert(pool == TTS_POOL_L1_SMALL || pool == TTS_POOL_TRACE);
    bool is_trace = pool == TTS_POOL_TRACE;
    struct tts_whatif_region region = {
        .key = is_trace ? TTS_FACT_TRACE_REGION : TTS_FACT_L1_SMALL,
        .step_bytes = whatif->chip.fact[TTS_FACT_DRAM_ALIGNMENT].value};
    for (size_t i = 0; i < whatif->model_count; i++) {
        const struct tts_whatif_model *model = &whatif->models[i];
        const struct tts_whatif_fill *fill = &model->fill[pool];
        uint64_t peak = is_trace ? model->trace_peak_bytes : fill->peak_bytes;
        region.failures += is_trace ? model->trace_failures : fill->failures;
        region.low_bytes = peak > region.low_bytes ? peak : region.low_bytes;
    }
    if (region.failures == 0)
        return false;
    *out = region;
    return true;
}

bool tts_whatif_find(const struct tts_whatif *whatif, uint32_t device, uint64_t id,
                     struct tts_buffer *out)
{
    uint32_t place = tts_whatif_table_find(&whatif->table, device, id);
    if (place == TTS_WHATIF_NONE || whatif->table.entries[place].buffer.block_bytes == 0)
        return false;
    *out = whatif->table.entries[place].buffer;
    return true;
}
