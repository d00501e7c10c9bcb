#include "base/error.h"
#include "base/heap.h"
#include "model/recording/recpack_inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Estimates the size of a keyframe with `live` buffers from the size of the last keyframe. */
static uint64_t keyframe_cost(const struct tts_recpack *pack, uint64_t live)
{
    if (pack->keyframe_live == 0)
        return live * TTS_RECPACK_LIVE_BYTES;
    return pack->keyframe_bytes * live / pack->keyframe_live;
}

/* Keyframes may take only a fixed share of the file. So the file with its keyframes stays
 * smaller than its uncompressed events, which have about the size of the source. As soon as the
 * ledger has no room for a buffer, no more keyframes are made: a reader that starts at a
 * keyframe would not know the buffer, and it is unknown whether the buffer is still live. */
bool tts_recpack_is_due(const struct tts_recpack *pack)
{
    const struct tts_fold *fold = tts_follow_fold(pack->follow);
    struct tts_tracker_health health;
    tts_fold_health(fold, &health);
    uint64_t cost = keyframe_cost(pack, tts_fold_collect(fold, NULL, 0));
    uint64_t since = pack->off - pack->keyframe_end;
    return health.unlisted == 0 &&
           pack->seq - pack->keyframe_seq >= TTS_RECPACK_KEYFRAME_EVENTS &&
           since >= TTS_RECPACK_KEYFRAME_SHARE * cost && pack->off + cost <= pack->event_bytes;
}

/* ---- items ---- */

static bool put(struct tts_recpack *pack, const struct tts_item *item)
{
    if (!tts_recpack_has_room(pack) &&
        tts_recpack_begin(pack, false, true, pack->err) != TTS_OK)
        return false;
    tts_recpack_put(pack, item);
    return true;
}

static bool put_active(struct tts_recpack *pack)
{
    struct tts_item item = {.kind = TTS_ITEM_ACTIVE, .seq = pack->seq};
    for (size_t i = 0; i < pack->active_count; i++) {
        item.capture = pack->active[i];
        if (!put(pack, &item))
            return false;
    }
    return true;
}

/* ---- buffers ---- */

static bool make_room(struct tts_recpack *pack, size_t ranges)
{
    void *live = tts_alloc_grow(pack->alloc, pack->live, &pack->live_capacity,
                                pack->live_count + 1, sizeof *pack->live);
    if (!live)
        return false;
    pack->live = live;
    if (ranges == 0)
        return true;
    void *grown = tts_alloc_grow(pack->alloc, pack->ranges, &pack->range_capacity,
                                 pack->range_count + ranges, sizeof *pack->ranges);
    if (grown)
        pack->ranges = grown;
    return grown != NULL;
}

static bool keep(struct tts_recpack *pack, const struct tts_item *item)
{
    size_t count = item->event.range_count;
    assert(count <= TTS_RANGES_MAX && item->live.size_bytes > 0);
    if (!make_room(pack, count)) {
        tts_error_set(pack->err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the packed recording");
        return false;
    }
    pack->live[pack->live_count++] =
        (struct tts_recpack_live){item->live, item->op, pack->range_count, count};
    if (count > 0)
        memcpy(&pack->ranges[pack->range_count], item->event.ranges,
               count * sizeof *pack->ranges);
    pack->range_count += count;
    return true;
}

static int by_age(const void *a, const void *b)
{
    const struct tts_live *x = &((const struct tts_recpack_live *)a)->live;
    const struct tts_live *y = &((const struct tts_recpack_live *)b)->live;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Writes the live buffers in the order of their allocation. The ledger has them in no order.
 * Sorted, they compress well, and the same buffers always give the same bytes. */
static bool put_live(struct tts_recpack *pack)
{
    if (pack->live_count > 1)
        qsort(pack->live, pack->live_count, sizeof *pack->live, by_age);
    struct tts_item item = {.kind = TTS_ITEM_LIVE, .seq = pack->seq};
    for (size_t i = 0; i < pack->live_count; i++) {
        const struct tts_recpack_live *at = &pack->live[i];
        item.live = at->live;
        item.op = at->op;
        item.event.range_count = at->range_count;
        item.event.ranges = at->range_count ? &pack->ranges[at->first_range] : NULL;
        if (!put(pack, &item))
            return false;
    }
    pack->live_count = pack->range_count = 0;
    return true;
}

/* ---- keyframes ---- */

static bool tell(void *ctx, const struct tts_item *item)
{
    struct tts_recpack *pack = ctx;
    assert(item->seq == pack->seq);
    if (item->kind == TTS_ITEM_LIVE)
        return keep(pack, item);
    bool is_end = item->kind == TTS_ITEM_KEYFRAME_END;
    return put_live(pack) && (!is_end || put_active(pack)) && put(pack, item);
}

enum tts_status tts_recpack_keyframe(struct tts_recpack *pack, struct tts_error *err)
{
    assert(!pack->in_keyframe && pack->seq > pack->keyframe_seq);
    enum tts_status status = tts_recpack_begin(pack, true, false, err);
    if (status != TTS_OK)
        return status;
    struct tts_error failure = {0};
    pack->err = &failure;
    pack->live_count = pack->range_count = 0;
    pack->keyframe_seq = pack->seq;
    uint64_t off = pack->off;
    pack->is_telling = true;
    bool is_told = tts_fold_tell(tts_follow_fold(pack->follow), tell, pack);
    pack->is_telling = false;
    pack->err = NULL;
    if (!is_told && err)
        *err = failure;
    if (!is_told)
        return failure.status;
    /* Begin another block for the events, so that the size of the keyframe is known. */
    status = tts_recpack_begin(pack, false, false, err);
    pack->keyframe_live = tts_fold_collect(tts_follow_fold(pack->follow), NULL, 0);
    pack->keyframe_bytes = pack->off - off;
    pack->keyframe_end = pack->off;
    return status;
}

void tts_recpack_free_keyframe(struct tts_recpack *pack)
{
    const struct tts_alloc *alloc = pack->alloc;
    if (pack->live)
        alloc->free(alloc->ctx, pack->live, pack->live_capacity * sizeof *pack->live);
    if (pack->ranges)
        alloc->free(alloc->ctx, pack->ranges, pack->range_capacity * sizeof *pack->ranges);
    pack->live = NULL;
    pack->ranges = NULL;
}
