#include "analysis/peak.h"

#include "base/heap.h"

#include <assert.h>

/* A buffer that was live at the peak and was freed after it. */
struct departed {
    uint64_t id, bytes, seq;
    const char *op;
    uint32_t device;
};
static_assert(sizeof(struct departed) <= 40, "the header says so");

struct tts_peak {
    struct tts_peak_info info;
    struct departed *departed;
    size_t count, capacity;
    const struct tts_alloc *alloc;
};

enum tts_status tts_peak_new(enum tts_pool pool, const struct tts_alloc *alloc,
                             struct tts_peak **out)
{
    assert((unsigned)pool < TTS_POOLS);
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_peak *peak = alloc->alloc(alloc->ctx, sizeof *peak);
    if (!peak)
        return TTS_E_NOMEM;
    *peak = (struct tts_peak){.info.pool = pool, .alloc = alloc};
    *out = peak;
    return TTS_OK;
}

void tts_peak_free(struct tts_peak *peak)
{
    if (!peak)
        return;
    const struct tts_alloc *alloc = peak->alloc;
    if (peak->departed)
        alloc->free(alloc->ctx, peak->departed, peak->capacity * sizeof *peak->departed);
    alloc->free(alloc->ctx, peak, sizeof *peak);
}

static enum tts_status add_departed(struct tts_peak *peak, const struct tts_live *live)
{
    struct departed *grown = tts_alloc_grow(peak->alloc, peak->departed, &peak->capacity,
                                            peak->count + 1, sizeof *grown);
    if (!grown)
        return TTS_E_NOMEM;
    peak->departed = grown;
    grown[peak->count++] =
        (struct departed){live->id, tts_live_bytes(live), live->seq, live->op, live->device};
    return TTS_OK;
}

static void raise_pool_peak(struct tts_peak *peak, const struct tts_item *item,
                            const struct tts_change *change, const struct tts_level *level)
{
    peak->info = (struct tts_peak_info){.pool = peak->info.pool,
                                        .level = *level,
                                        .is_start = change->is_restored,
                                        .seq = change->seq};
    peak->count = 0;
    if (change->is_restored)
        return;
    peak->info.has_time = item->has_time;
    peak->info.time_ns = item->time_ns;
    if (change->has_come)
        peak->info.op = change->came.op;
}

enum tts_status tts_peak_change(struct tts_peak *peak, const struct tts_item *item,
                                const struct tts_change *change,
                                const struct tts_levels *levels)
{
    enum tts_pool pool = peak->info.pool;
    if (change->has_left && change->left.pool == pool && change->left.seq <= peak->info.seq) {
        enum tts_status status = add_departed(peak, &change->left);
        if (status != TTS_OK)
            return status;
    }
    if (!change->has_chip && !(change->has_come && change->came.pool == pool))
        return TTS_OK;
    struct tts_level level = tts_levels_of(levels, pool);
    /* Buffers that are older than the file come in any order. They count together, so the last
     * of them sets the peak, even if it does not raise the level. */
    bool is_raised =
        level.bytes > peak->info.level.bytes ||
        (change->is_restored && level.bytes > 0 && level.bytes == peak->info.level.bytes);
    if (is_raised)
        raise_pool_peak(peak, item, change, &level);
    return TTS_OK;
}

struct tts_peak_info tts_peak_info(const struct tts_peak *peak)
{
    return peak->info;
}

/* ---- the buffers of the peak ---- */

/* Returns the description of a buffer that was freed after the peak. */
static struct tts_live live_of_departed(const struct tts_peak *peak,
                                        const struct departed *gone)
{
    struct tts_live live = {.id = gone->id,
                            .size_bytes = gone->bytes,
                            .seq = gone->seq,
                            .device = gone->device,
                            .pool = peak->info.pool,
                            .op = gone->op};
    if (tts_pool_is_l1(live.pool))
        live.bytes_per_bank = gone->bytes;
    return live;
}

enum tts_status tts_peak_each(const struct tts_peak *peak, const struct tts_follow *follow,
                              tts_live_fn fn, void *ctx)
{
    const struct tts_fold *fold = tts_follow_fold(follow);
    const struct tts_peak_info *info = &peak->info;
    enum tts_status status = TTS_OK;
    struct tts_live live;
    uint32_t cursor = 0;
    while (status == TTS_OK && tts_fold_next_live(fold, &cursor, &live))
        if (live.pool == info->pool && live.seq <= info->seq &&
            tts_level_has(&info->level, &live))
            status = fn(ctx, &live);
    for (size_t i = 0; status == TTS_OK && i < peak->count; i++) {
        live = live_of_departed(peak, &peak->departed[i]);
        if (tts_level_has(&info->level, &live))
            status = fn(ctx, &live);
    }
    return status;
}
