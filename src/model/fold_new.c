#include "base/heap.h"
#include "model/fold_inside.h"

#include <assert.h>
#include <string.h>

_Static_assert(TTS_FOLD_OPS_MAX + TTS_OPNAMES_OTHER < UINT16_MAX,
               "an entry keeps 16 bits of it");

static bool are_limits_valid(const struct tts_tracker_config *limits)
{
    return limits->live_max > 0 && limits->live_max <= TTS_FOLD_LIVE_MAX &&
           limits->devices_max > 0 && limits->devices_max <= TTS_FOLD_DEVICES_MAX &&
           limits->ops_max > 0 && limits->ops_max <= TTS_FOLD_OPS_MAX;
}

static void *take(const struct tts_fold *fold, size_t bytes)
{
    return fold->alloc->alloc(fold->alloc->ctx, fold->limits.devices_max * bytes);
}

static void give(const struct tts_fold *fold, void *memory, size_t bytes)
{
    if (memory)
        fold->alloc->free(fold->alloc->ctx, memory, fold->limits.devices_max * bytes);
}

static enum tts_status take_all(struct tts_fold *fold)
{
    fold->ids = take(fold, sizeof *fold->ids);
    fold->devices = take(fold, sizeof *fold->devices);
    fold->grids = take(fold, sizeof *fold->grids);
    if (!fold->ids || !fold->devices || !fold->grids)
        return TTS_E_NOMEM;
    /* Where memory lies is not easily foreseen. */
    uint64_t seed = (uintptr_t)fold ^ (uint64_t)(uintptr_t)fold->grids << 16;
    enum tts_status status =
        tts_ledger_new(fold->limits.live_max, seed, fold->alloc, &fold->ledger);
    if (status == TTS_OK)
        status = tts_opnames_new(fold->limits.ops_max, fold->alloc, &fold->names);
    if (status == TTS_OK)
        status = tts_coresets_new(fold->alloc, &fold->sets);
    return status;
}

enum tts_status tts_fold_new(const struct tts_tracker_config *limits,
                             const struct tts_alloc *alloc, struct tts_fold **out)
{
    if (!are_limits_valid(limits))
        return TTS_E_INVALID;
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_fold *fold = alloc->alloc(alloc->ctx, sizeof *fold);
    if (!fold)
        return TTS_E_NOMEM;
    *fold = (struct tts_fold){.limits = *limits, .alloc = alloc};
    memset(fold->by_id, 0xff, sizeof fold->by_id);
    enum tts_status status = take_all(fold);
    if (status != TTS_OK) {
        tts_fold_free(fold);
        return status;
    }
    *out = fold;
    return TTS_OK;
}

void tts_fold_free(struct tts_fold *fold)
{
    if (!fold)
        return;
    assert(!fold->watches);
    tts_coresets_free(fold->sets);
    tts_opnames_free(fold->names);
    tts_ledger_free(fold->ledger);
    give(fold, fold->grids, sizeof *fold->grids);
    give(fold, fold->devices, sizeof *fold->devices);
    give(fold, fold->ids, sizeof *fold->ids);
    fold->alloc->free(fold->alloc->ctx, fold, sizeof *fold);
}

void tts_fold_reset(struct tts_fold *fold)
{
    assert(!fold->watches);
    tts_ledger_reset(fold->ledger);
    tts_coresets_reset(fold->sets);
    fold->health = (struct tts_tracker_health){0};
    fold->seq = fold->trace_depth = 0;
    fold->is_lost = false;
    for (uint16_t i = 0; i < fold->device_count; i++) {
        fold->devices[i].trace_depth = 0;
        tts_cores_init(&fold->devices[i].cores, &fold->grids[i]);
    }
}

void tts_fold_health(const struct tts_fold *fold, struct tts_tracker_health *out)
{
    *out = fold->health;
    out->events = fold->seq;
}
