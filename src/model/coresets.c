#include "model/coresets.h"

#include "base/heap.h"

#include <assert.h>
#include <string.h>

enum { BUCKETS = 1024, NO_SET = UINT16_MAX };

struct set {
    uint64_t holders;
    uint16_t next; /* next set in the bucket, or next free set */
    uint16_t bucket;
    uint8_t count;
    struct tts_box box[TTS_RANGES_MAX];
};

struct tts_coresets {
    const struct tts_alloc *alloc;
    /* Number of sets with a holder, and number of sets that were ever used. */
    uint32_t count, used;
    uint16_t spare; /* first free set below `used` */
    uint16_t bucket[BUCKETS];
    struct set set[TTS_CORESETS_MAX];
};

_Static_assert((int)TTS_CORESETS_MAX < NO_SET, "a set is counted in 16 bits");
_Static_assert(TTS_GRID_SIDE_MAX <= UINT8_MAX, "a side of a box is counted in 8 bits");

void tts_boxes_pack(struct tts_boxes *out, const struct tts_core_range *ranges, size_t count)
{
    assert(count > 0 && count <= TTS_RANGES_MAX);
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        const struct tts_core_range *range = &ranges[i];
        assert(range->x0 <= range->x1 && range->x1 < TTS_GRID_SIDE_MAX);
        assert(range->y0 <= range->y1 && range->y1 < TTS_GRID_SIDE_MAX);
        out->box[i] = (struct tts_box){(uint8_t)range->x0, (uint8_t)range->y0,
                                       (uint8_t)range->x1, (uint8_t)range->y1};
    }
}

bool tts_boxes_have(const struct tts_box *box, size_t count, uint16_t core)
{
    struct tts_core at = tts_core_at(core);
    for (size_t i = 0; i < count; i++)
        if (at.x >= box[i].x0 && at.x <= box[i].x1 && at.y >= box[i].y0 && at.y <= box[i].y1)
            return true;
    return false;
}

enum tts_status tts_coresets_new(const struct tts_alloc *alloc, struct tts_coresets **out)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_coresets *sets = alloc->alloc(alloc->ctx, sizeof *sets);
    if (!sets)
        return TTS_E_NOMEM;
    sets->alloc = alloc;
    tts_coresets_reset(sets);
    *out = sets;
    return TTS_OK;
}

void tts_coresets_free(struct tts_coresets *sets)
{
    if (sets)
        sets->alloc->free(sets->alloc->ctx, sets, sizeof *sets);
}

void tts_coresets_reset(struct tts_coresets *sets)
{
    sets->count = 0;
    sets->used = 0;
    sets->spare = NO_SET;
    memset(sets->bucket, 0xff, sizeof sets->bucket);
}

static uint16_t set_bucket(const struct tts_boxes *boxes)
{
    uint64_t hash = boxes->count;
    for (size_t i = 0; i < boxes->count; i++) {
        uint32_t word;
        memcpy(&word, &boxes->box[i], sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return (uint16_t)((hash >> 20) % BUCKETS);
}

static uint16_t find_set(const struct tts_coresets *sets, const struct tts_boxes *boxes,
                         uint16_t bucket)
{
    size_t bytes = boxes->count * sizeof boxes->box[0];
    uint16_t at = sets->bucket[bucket];
    while (at != NO_SET && (sets->set[at].count != boxes->count ||
                            memcmp(sets->set[at].box, boxes->box, bytes) != 0))
        at = sets->set[at].next;
    return at;
}

static uint16_t take_set(struct tts_coresets *sets)
{
    uint16_t at = sets->spare;
    if (at != NO_SET) {
        assert(sets->set[at].holders == 0);
        sets->spare = sets->set[at].next;
    } else if (sets->used < TTS_CORESETS_MAX) {
        at = (uint16_t)sets->used++;
    }
    return at;
}

uint32_t tts_coresets_hold(struct tts_coresets *sets, const struct tts_boxes *boxes)
{
    assert(boxes->count > 0 && boxes->count <= TTS_RANGES_MAX);
    uint16_t bucket = set_bucket(boxes);
    uint16_t at = find_set(sets, boxes, bucket);
    if (at == NO_SET) {
        at = take_set(sets);
        if (at == NO_SET)
            return TTS_CORESETS_NOWHERE;
        struct set *set = &sets->set[at];
        set->holders = 0;
        set->bucket = bucket;
        set->next = sets->bucket[bucket];
        set->count = (uint8_t)boxes->count;
        memcpy(set->box, boxes->box, boxes->count * sizeof boxes->box[0]);
        sets->bucket[bucket] = at;
        sets->count++;
    }
    sets->set[at].holders++;
    return at;
}

void tts_coresets_hold_again(struct tts_coresets *sets, uint32_t set)
{
    assert(set < sets->used && sets->set[set].holders > 0);
    sets->set[set].holders++;
}

static void unlink_set(struct tts_coresets *sets, uint16_t at)
{
    uint16_t *link = &sets->bucket[sets->set[at].bucket];
    while (*link != at) {
        assert(*link != NO_SET);
        link = &sets->set[*link].next;
    }
    *link = sets->set[at].next;
}

void tts_coresets_drop(struct tts_coresets *sets, uint32_t set)
{
    assert(set < sets->used && sets->set[set].holders > 0);
    if (--sets->set[set].holders > 0)
        return;
    unlink_set(sets, (uint16_t)set);
    sets->set[set].next = sets->spare;
    sets->spare = (uint16_t)set;
    assert(sets->count > 0);
    sets->count--;
}

const struct tts_box *tts_coresets_boxes(const struct tts_coresets *sets, uint32_t set,
                                         size_t *count)
{
    assert(set < sets->used && sets->set[set].holders > 0);
    *count = sets->set[set].count;
    return sets->set[set].box;
}

bool tts_coresets_have(const struct tts_coresets *sets, uint32_t set, uint16_t core)
{
    if (set == TTS_CORESETS_EVERY || set == TTS_CORESETS_NOWHERE)
        return set == TTS_CORESETS_EVERY;
    size_t count;
    const struct tts_box *box = tts_coresets_boxes(sets, set, &count);
    return tts_boxes_have(box, count, core);
}

uint32_t tts_coresets_count(const struct tts_coresets *sets)
{
    return sets->count;
}
