#include "device/cbs_state.h"

static bool is_on(const struct tts_cbs *cbs, size_t cb_idx, size_t core_idx)
{
    return tts_cbs_words(cbs, cb_idx / TTS_CBS_WORD)[core_idx] >> cb_idx % TTS_CBS_WORD & 1;
}

/* ---- the check of the runtime ---- */

/* Returns the lowest address of an L1 buffer on a core, or UINT64_MAX if the core has none. */
static uint64_t floor_of(const struct tts_cbs_floor *floor, size_t core_idx)
{
    if (!floor->known)
        return UINT64_MAX;
    return floor->by_core ? floor->by_core[core_idx] : floor->address;
}

static uint64_t lowest_floor(const struct tts_cbs *cbs, const struct tts_cbs_floor *floor,
                             const struct tts_core_range *r)
{
    if (!floor->by_core)
        return floor_of(floor, 0);
    uint64_t lowest = UINT64_MAX;
    for (uint32_t y = r->y0; y <= r->y1; y++) {
        for (uint32_t x = r->x0; x <= r->x1; x++) {
            uint64_t address = floor_of(floor, tts_cbs_core_idx(cbs, x, y));
            lowest = address < lowest ? address : lowest;
        }
    }
    return lowest;
}

enum tts_status tts_cbs_check(const struct tts_cbs *cbs, const struct tts_cbs_floor *floor,
                              struct tts_failure *out)
{
    for (size_t i = 0; i < cbs->region_count; i++) {
        const struct tts_cbs_region *q = &cbs->regions[i];
        uint64_t lowest = lowest_floor(cbs, floor, &q->range);
        bool beyond = q->end > cbs->config.l1_bytes;
        if (!beyond && lowest >= q->end)
            continue; /* A region without circular buffers has the end 0, so it is skipped too.
                       */
        *out =
            (struct tts_failure){.kind = beyond ? TTS_FAILURE_CB_BEYOND : TTS_FAILURE_CB_CLASH,
                                 .pool = TTS_POOL_L1,
                                 .program_id = cbs->program_id,
                                 .region_end = q->end,
                                 .l1_bytes = beyond ? cbs->config.l1_bytes : 0,
                                 .l1_address = beyond ? 0 : lowest,
                                 .range = q->range};
        return TTS_E_FULL;
    }
    return TTS_OK;
}

/* ---- queries ---- */

/* Computes all fields except cb_bytes. Takes constant time. */
static struct tts_core_room room_of(const struct tts_cbs *cbs,
                                    const struct tts_cbs_floor *floor, size_t core_idx)
{
    const struct tts_cbs_config *c = &cbs->config;
    uint64_t end = cbs->cores[core_idx].end, top = c->l1_bytes - c->l1_small_bytes;
    uint64_t lowest = floor_of(floor, core_idx);
    uint64_t ceiling = lowest < top ? lowest : top;
    assert(end >= c->base && top >= c->base);
    return (struct tts_core_room){.region_end = end,
                                  .ceiling = ceiling,
                                  .free_bytes = ceiling > end ? ceiling - end : 0,
                                  .excess_bytes = end > ceiling ? end - ceiling : 0};
}

/* Returns the number of bytes in use on a core. Walks all circular buffers of the program once,
 * in the order of their addresses. */
static uint64_t bytes_on(const struct tts_cbs *cbs, size_t core_idx)
{
    uint64_t bytes = 0, reached = cbs->config.base;
    for (size_t i = 0; i < cbs->local_count; i++) {
        size_t cb_idx = cbs->by_address[i];
        const struct tts_cb_placed *p = &cbs->placed[cb_idx];
        assert(!p->global && p->address >= cbs->config.base);
        uint64_t end = p->address + p->total_bytes;
        if (end <= reached || !is_on(cbs, cb_idx, core_idx))
            continue;
        bytes += p->total_bytes;
        if (p->address < reached)
            bytes -= reached - p->address;
        reached = end;
    }
    return bytes;
}

enum tts_status tts_cbs_core(const struct tts_cbs *cbs, const struct tts_cbs_floor *floor,
                             struct tts_core core, struct tts_core_room *out)
{
    if (core.x >= cbs->config.columns || core.y >= cbs->config.rows)
        return TTS_E_RANGE;
    size_t core_idx = tts_cbs_core_idx(cbs, core.x, core.y);
    *out = room_of(cbs, floor, core_idx);
    out->cb_bytes = bytes_on(cbs, core_idx);
    assert(out->cb_bytes <= out->region_end - cbs->config.base);
    return TTS_OK;
}

static bool is_tighter(const struct tts_core_room *a, const struct tts_core_room *b)
{
    return a->free_bytes < b->free_bytes || a->excess_bytes > b->excess_bytes;
}

struct tts_core tts_cbs_tightest(const struct tts_cbs *cbs, const struct tts_cbs_floor *floor,
                                 struct tts_core_room *out)
{
    size_t found = 0;
    struct tts_core_room tightest = room_of(cbs, floor, 0);
    for (size_t i = 1; i < tts_cbs_core_count(cbs); i++) {
        struct tts_core_room room = room_of(cbs, floor, i);
        if (is_tighter(&room, &tightest)) {
            tightest = room;
            found = i;
        }
    }
    tightest.cb_bytes = bytes_on(cbs, found);
    *out = tightest;
    return (struct tts_core){.x = (uint16_t)(found % cbs->config.columns),
                             .y = (uint16_t)(found / cbs->config.columns)};
}

/* ---- checking ---- */

static bool is_within(const struct tts_core_range *r, uint32_t x, uint32_t y)
{
    return r->x0 <= x && x <= r->x1 && r->y0 <= y && y <= r->y1;
}

static bool names_core(const struct tts_cbs *cbs, const struct tts_cb_placed *p,
                       size_t core_idx)
{
    uint32_t columns = cbs->config.columns;
    for (size_t i = 0; i < p->range_count; i++) {
        const struct tts_core_range *r = &cbs->ranges[p->first_range + i];
        if (is_within(r, (uint32_t)(core_idx % columns), (uint32_t)(core_idx / columns)))
            return true;
    }
    return false;
}

static bool core_is_valid(const struct tts_cbs *cbs, size_t core_idx)
{
    struct tts_core_state seen = {.end = cbs->config.base};
    for (size_t i = 0; i < cbs->count; i++) {
        const struct tts_cb_placed *p = &cbs->placed[i];
        bool named = names_core(cbs, p, core_idx);
        if (is_on(cbs, i, core_idx) != (named && !p->global))
            return false;
        uint64_t end = p->address + p->total_bytes;
        if (named && !p->global && p->total_bytes > 0 && end > seen.end)
            seen.end = end;
        seen.indices |= named ? p->indices : 0;
    }
    return seen.end == cbs->cores[core_idx].end && seen.indices == cbs->cores[core_idx].indices;
}

/* Returns true if every range has exactly one region, and every region has a range. */
static bool regions_are_valid(const struct tts_cbs *cbs)
{
    /* Number of regions seen so far. Regions are in the order in which the ranges first name
     * them. */
    size_t first = 0;
    for (size_t i = 0; i < cbs->range_count; i++) {
        size_t found = 0;
        for (size_t k = 0; k < cbs->region_count; k++)
            found += tts_range_same(&cbs->regions[k].range, &cbs->ranges[i]);
        if (found != 1)
            return false;
        if (first < cbs->region_count &&
            tts_range_same(&cbs->regions[first].range, &cbs->ranges[i]))
            first++;
    }
    return first == cbs->region_count;
}

bool tts_cbs_is_valid(const struct tts_cbs *cbs)
{
    size_t ranges = 0, local = 0;
    for (size_t i = 0; i < cbs->count; i++) {
        const struct tts_cb_placed *p = &cbs->placed[i];
        if (p->first_range != ranges || p->total_bytes > UINT64_MAX - p->address)
            return false;
        ranges += p->range_count;
        local += !p->global;
    }
    if (ranges != cbs->range_count || local != cbs->local_count || !regions_are_valid(cbs))
        return false;
    for (size_t i = 1; i < local; i++) {
        if (cbs->placed[cbs->by_address[i - 1]].address >
            cbs->placed[cbs->by_address[i]].address)
            return false;
    }
    for (size_t i = 0; i < tts_cbs_core_count(cbs); i++) {
        if (!core_is_valid(cbs, i))
            return false;
    }
    return true;
}
