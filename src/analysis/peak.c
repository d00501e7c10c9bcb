#include "analysis/peak.h"

#include "base/heap.h"

#include <assert.h>

/* A buffer that lived at the peak and has left since. */
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

static enum tts_status depart(struct tts_peak *peak, const struct tts_live *live)
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

static void raise(struct tts_peak *peak, const struct tts_change *change,
                  const struct tts_level *level)
{
    const struct tts_item *item = change->item;
    peak->info = (struct tts_peak_info){.pool = peak->info.pool,
                                        .level = *level,
                                        .is_start = change->is_restored,
                                        .seq = change->seq};
    peak->count = 0;
    if (change->is_restored)
        return;
    peak->info.has_time = item->has_time;
    peak->info.time_ns = item->time_ns;
    if (change->kind == TTS_CHANGE_CAME)
        peak->info.op = change->live.op;
}

enum tts_status tts_peak_change(struct tts_peak *peak, const struct tts_change *change,
                                const struct tts_levels *levels)
{
    bool is_chip = change->kind == TTS_CHANGE_CHIP;
    if (!is_chip && change->live.pool != peak->info.pool)
        return TTS_OK;
    if (change->kind == TTS_CHANGE_LEFT)
        return change->live.seq <= peak->info.seq ? depart(peak, &change->live) : TTS_OK;
    if (change->kind == TTS_CHANGE_UNSEEN)
        return TTS_OK;
    struct tts_level level = tts_levels_of(levels, peak->info.pool);
    /* What was there before the file comes in no order: its last level counts. */
    bool is_raised =
        level.bytes > peak->info.level.bytes ||
        (change->is_restored && level.bytes > 0 && level.bytes == peak->info.level.bytes);
    if (is_raised)
        raise(peak, change, &level);
    return TTS_OK;
}

struct tts_peak_info tts_peak_info(const struct tts_peak *peak)
{
    return peak->info;
}

/* ---- what lived ---- */

struct visit {
    const struct tts_peak *peak;
    tts_live_fn fn;
    void *ctx;
    enum tts_status status;
};

static bool visit_live(void *ctx, const struct tts_item *item)
{
    struct visit *visit = ctx;
    const struct tts_peak_info *info = &visit->peak->info;
    if (item->kind != TTS_ITEM_LIVE || item->live.pool != info->pool ||
        item->live.seq > info->seq || !tts_level_has(&info->level, &item->live))
        return true;
    visit->status = visit->fn(visit->ctx, &item->live);
    return visit->status == TTS_OK;
}

static enum tts_status visit_departed(const struct visit *visit, const struct departed *gone)
{
    const struct tts_peak_info *info = &visit->peak->info;
    struct tts_live live = {.id = gone->id,
                            .size_bytes = gone->bytes,
                            .seq = gone->seq,
                            .device = gone->device,
                            .pool = info->pool,
                            .op = gone->op};
    if (tts_pool_is_l1(info->pool))
        live.bytes_per_bank = gone->bytes;
    return tts_level_has(&info->level, &live) ? visit->fn(visit->ctx, &live) : TTS_OK;
}

enum tts_status tts_peak_each(const struct tts_peak *peak, const struct tts_follow *follow,
                              tts_live_fn fn, void *ctx)
{
    struct visit visit = {peak, fn, ctx, TTS_OK};
    tts_fold_tell(tts_follow_fold(follow), visit_live, &visit);
    for (size_t i = 0; visit.status == TTS_OK && i < peak->count; i++)
        visit.status = visit_departed(&visit, &peak->departed[i]);
    return visit.status;
}
