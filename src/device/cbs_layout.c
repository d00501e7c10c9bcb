#include "base/error.h"
#include "device/cbs_state.h"

/* Returns the end of a region after a circular buffer [start, end) was placed on one of its
 * cores. A region whose end is above `start` keeps its end, even if its end is inside the
 * circular buffer. This is a quirk of the runtime. */
static uint64_t grown_end(uint64_t region_end, uint64_t start, uint64_t end)
{
    return start < region_end ? region_end : end;
}

/* Returns a word with a bit for each of 64 circular buffers, set if the circular buffer lies on
 * some core of the range. */
static uint64_t word_on(const struct tts_cbs *cbs, size_t word_idx,
                        const struct tts_core_range *r)
{
    const uint64_t *words = tts_cbs_words(cbs, word_idx);
    uint64_t any = 0;
    for (uint32_t y = r->y0; y <= r->y1; y++) {
        for (uint32_t x = r->x0; x <= r->x1; x++)
            any |= words[tts_cbs_core_idx(cbs, x, y)];
    }
    return any;
}

/* Returns the circular buffer that belongs to the lowest set bit of a word. */
static const struct tts_cb_placed *bit_placed(const struct tts_cbs *cbs, size_t word_idx,
                                              uint64_t word)
{
    size_t idx = word_idx * TTS_CBS_WORD + (size_t)__builtin_ctzll(word);
    assert(idx < cbs->count && !cbs->placed[idx].global);
    return &cbs->placed[idx];
}

static size_t word_count(const struct tts_cbs *cbs)
{
    return (cbs->count + TTS_CBS_WORD - 1) / TTS_CBS_WORD;
}

/* Returns the end of a region that is named for the first time. The runtime knows all ranges
 * before it places anything. So this function repeats the placement of the circular buffers
 * that touch this region. */
static uint64_t replayed_end(const struct tts_cbs *cbs, const struct tts_core_range *r)
{
    uint64_t end = 0;
    for (size_t w = 0; w < word_count(cbs); w++) {
        for (uint64_t rest = word_on(cbs, w, r); rest; rest &= rest - 1) {
            const struct tts_cb_placed *p = bit_placed(cbs, w, rest);
            end = grown_end(end, p->address, p->address + p->total_bytes);
        }
    }
    return end;
}

static void find_ends(const struct tts_cbs *cbs, struct tts_cb_adding *add)
{
    const struct tts_cb *cb = add->cb;
    for (size_t i = 0; i < cbs->region_count; i++) {
        const struct tts_core_range *r = &cbs->regions[i].range;
        if (!(add->corners[r->y0] >> r->x0 & 1))
            continue;
        for (size_t own = 0; own < cb->range_count; own++) {
            if (tts_range_same(r, &cb->ranges[own])) {
                assert(!(add->known >> own & 1));
                add->ends[own] = cbs->regions[i].end;
                add->known |= UINT64_C(1) << own;
            }
        }
    }
    for (size_t own = 0; own < cb->range_count; own++) {
        assert(add->corners[cb->ranges[own].y0] >> cb->ranges[own].x0 & 1);
        if (!(add->known >> own & 1))
            add->ends[own] = replayed_end(cbs, &cb->ranges[own]);
    }
}

/* Computes the start of a circular buffer: the highest end of its ranges, rounded up. Returns
 * false if the start exceeds 64 bits. */
static bool local_start(const struct tts_cbs *cbs, const struct tts_cb_adding *add,
                        uint64_t *out)
{
    uint64_t start = cbs->config.base, mask = cbs->config.alignment_bytes - 1;
    for (size_t i = 0; i < add->cb->range_count; i++)
        start = add->ends[i] > start ? add->ends[i] : start;
    *out = (start + mask) & ~mask;
    return start <= UINT64_MAX - mask;
}

static enum tts_status find_start(const struct tts_cbs *cbs, struct tts_cb_adding *add,
                                  struct tts_error *err)
{
    const struct tts_cb *cb = add->cb;
    uint64_t start = cb->global_address;
    if ((!cb->global && !local_start(cbs, add, &start)) || cb->total_bytes > UINT64_MAX - start)
        return tts_error_set(
            err, TTS_E_RANGE,
            "the end of a circular buffer of %llu bytes does not fit in 64 bits",
            (unsigned long long)cb->total_bytes);
    add->start = start;
    add->end = start + cb->total_bytes;
    assert(cb->global || start >= cbs->config.base);
    return TTS_OK;
}

static uint64_t highest_end(const struct tts_cbs *cbs, const struct tts_cb_adding *add)
{
    uint64_t highest = 0;
    for (uint32_t y = 0; y < cbs->config.rows; y++) {
        for (uint64_t rest = add->rows[y]; rest; rest &= rest - 1) {
            size_t core = tts_cbs_core_idx(cbs, (uint32_t)__builtin_ctzll(rest), y);
            highest = cbs->cores[core].end > highest ? cbs->cores[core].end : highest;
        }
    }
    return highest;
}

/* Returns true if both circular buffers share a byte. One with 0 bytes shares none. */
static bool overlaps(const struct tts_cb_adding *add, const struct tts_cb_placed *p)
{
    uint64_t end = p->address + p->total_bytes;
    uint64_t from = p->address > add->start ? p->address : add->start;
    return from < (end < add->end ? end : add->end);
}

/* Counts the circular buffers that overlap the new one. Usually all cores end at or below its
 * start, and then no search is needed. */
static size_t count_overlaps(const struct tts_cbs *cbs, const struct tts_cb_adding *add)
{
    const struct tts_cb *cb = add->cb;
    size_t count = 0;
    if (cb->global || highest_end(cbs, add) <= add->start)
        return 0;
    for (size_t w = 0; w < word_count(cbs); w++) {
        uint64_t rest = 0;
        for (size_t i = 0; i < cb->range_count; i++)
            rest |= word_on(cbs, w, &cb->ranges[i]);
        for (; rest; rest &= rest - 1)
            count += overlaps(add, bit_placed(cbs, w, rest));
    }
    return count;
}

enum tts_status tts_cb_adding_place(const struct tts_cbs *cbs, struct tts_cb_adding *add,
                                    struct tts_error *err)
{
    assert(add->known == 0 && add->overlaps == 0);
    find_ends(cbs, add);
    enum tts_status status = find_start(cbs, add, err);
    if (status == TTS_OK)
        add->overlaps = count_overlaps(cbs, add);
    return status;
}

static void add_regions(struct tts_cbs *cbs, const struct tts_cb_adding *add)
{
    for (size_t i = 0; i < add->cb->range_count; i++) {
        if (add->known >> i & 1)
            continue;
        assert(cbs->region_count < cbs->region_capacity);
        cbs->regions[cbs->region_count++] =
            (struct tts_cbs_region){add->cb->ranges[i], add->ends[i]};
    }
}

void tts_cbs_grow_regions(struct tts_cbs *cbs, const struct tts_cb_adding *add)
{
    add_regions(cbs, add);
    if (add->cb->global)
        return;
    for (size_t i = 0; i < cbs->region_count; i++) {
        struct tts_cbs_region *q = &cbs->regions[i];
        if (tts_range_touches(add->rows, &q->range))
            q->end = grown_end(q->end, add->start, add->end);
    }
}
