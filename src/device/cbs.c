#include "device/cbs.h"

#include "base/compiler.h"
#include "base/error.h"
#include "base/heap.h"
#include "device/cbs_state.h"

#include <string.h>

/* ---- life ---- */

static enum tts_status config_check(const struct tts_cbs_config *c, struct tts_error *err)
{
    if (c->columns == 0 || c->columns > TTS_GRID_SIDE_MAX || c->rows == 0 ||
        c->rows > TTS_GRID_SIDE_MAX)
        return tts_error_set(err, TTS_E_INVALID, "compute grid is %ux%u, expected 1x1 to %dx%d",
                             c->columns, c->rows, TTS_GRID_SIDE_MAX, TTS_GRID_SIDE_MAX);
    if (c->alignment_bytes == 0 || (c->alignment_bytes & (c->alignment_bytes - 1)) != 0)
        return tts_error_set(err, TTS_E_INVALID, "alignment is %llu, expected a power of two",
                             (unsigned long long)c->alignment_bytes);
    if (c->max_indices == 0 || c->max_indices > TTS_CB_INDICES_MAX)
        return tts_error_set(err, TTS_E_INVALID,
                             "a core has %u buffer indices, expected 1 to %d", c->max_indices,
                             TTS_CB_INDICES_MAX);
    if (c->base > c->l1_bytes || c->l1_small_bytes > c->l1_bytes - c->base)
        return tts_error_set(
            err, TTS_E_INVALID,
            "L1 has %llu bytes, too few for a base address of %llu and %llu bytes of L1_SMALL",
            (unsigned long long)c->l1_bytes, (unsigned long long)c->base,
            (unsigned long long)c->l1_small_bytes);
    return TTS_OK;
}

enum tts_status tts_cbs_new(const struct tts_cbs_config *config, const struct tts_alloc *alloc,
                            struct tts_cbs **out, struct tts_error *err)
{
    enum tts_status status = config_check(config, err);
    if (status != TTS_OK)
        return status;
    if (!alloc)
        alloc = tts_alloc_libc();
    struct tts_cbs *cbs = alloc->alloc(alloc->ctx, sizeof(*cbs));
    if (!cbs)
        return tts_error_set(err, TTS_E_NOMEM, "cannot create a program: " TTS_TEXT_NOMEM);
    *cbs = (struct tts_cbs){.config = *config, .alloc = alloc};
    size_t cores = tts_cbs_core_count(cbs), line = TTS_CACHE_LINE_BYTES;
    tts_chunks_init(&cbs->on, alloc, (cores * sizeof(uint64_t) + line - 1) / line * line);
    cbs->cores = alloc->alloc(alloc->ctx, cores * sizeof(cbs->cores[0]));
    if (!cbs->cores) {
        tts_cbs_free(cbs);
        return tts_error_set(err, TTS_E_NOMEM, "cannot create a program: " TTS_TEXT_NOMEM);
    }
    tts_cbs_reset(cbs, 0);
    *out = cbs;
    return TTS_OK;
}

static void give_back(const struct tts_alloc *alloc, void *memory, size_t bytes)
{
    if (memory)
        alloc->free(alloc->ctx, memory, bytes);
}

void tts_cbs_free(struct tts_cbs *cbs)
{
    if (!cbs)
        return;
    const struct tts_alloc *alloc = cbs->alloc;
    give_back(alloc, cbs->placed, cbs->capacity * sizeof(cbs->placed[0]));
    give_back(alloc, cbs->ranges, cbs->range_capacity * sizeof(cbs->ranges[0]));
    give_back(alloc, cbs->regions, cbs->region_capacity * sizeof(cbs->regions[0]));
    give_back(alloc, cbs->cores, tts_cbs_core_count(cbs) * sizeof(cbs->cores[0]));
    tts_chunks_release(&cbs->on);
    give_back(alloc, cbs, sizeof(*cbs));
}

void tts_cbs_reset(struct tts_cbs *cbs, uint64_t program_id)
{
    cbs->program_id = program_id;
    cbs->count = cbs->range_count = cbs->region_count = cbs->local_count = 0;
    for (size_t i = 0; i < tts_cbs_core_count(cbs); i++)
        cbs->cores[i] = (struct tts_core_state){.end = cbs->config.base};
    tts_assert_expensive(tts_cbs_is_valid(cbs));
}

/* Reserves the memory for one more circular buffer. */
static bool reserve(struct tts_cbs *cbs, const struct tts_cb_adding *add)
{
    size_t ranges = add->cb->range_count;
    size_t regions_new = ranges - (size_t)__builtin_popcountll(add->known);
    void *placed = tts_alloc_grow(cbs->alloc, cbs->placed, &cbs->capacity, cbs->count + 1,
                                  sizeof(cbs->placed[0]));
    if (!placed)
        return false;
    cbs->placed = placed;
    void *all = tts_alloc_grow(cbs->alloc, cbs->ranges, &cbs->range_capacity,
                               cbs->range_count + ranges, sizeof(cbs->ranges[0]));
    if (!all)
        return false;
    cbs->ranges = all;
    void *regions = tts_alloc_grow(cbs->alloc, cbs->regions, &cbs->region_capacity,
                                   cbs->region_count + regions_new, sizeof(cbs->regions[0]));
    if (!regions)
        return false;
    cbs->regions = regions;
    return cbs->count / TTS_CBS_WORD < cbs->on.count || tts_chunks_add(&cbs->on);
}

/* ---- changing ---- */

/* Inserts the circular buffer `idx` into by_address, after those at the same address. */
static void insert_by_address(struct tts_cbs *cbs, size_t idx)
{
    assert(idx < TTS_CBS_MAX && cbs->local_count <= idx);
    size_t low = 0, high = cbs->local_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (cbs->placed[cbs->by_address[middle]].address > cbs->placed[idx].address)
            high = middle;
        else
            low = middle + 1;
    }
    uint16_t *at = &cbs->by_address[low];
    memmove(at + 1, at, (cbs->local_count - low) * sizeof(*at));
    *at = (uint16_t)idx;
    cbs->local_count++;
}

/* Marks the indices of the circular buffer as used on its cores. Also marks the circular buffer
 * itself on its cores, unless it is global. */
static void mark_cores(struct tts_cbs *cbs, const struct tts_cb_adding *add)
{
    bool local = !add->cb->global;
    uint64_t *words = tts_cbs_words(cbs, cbs->count / TTS_CBS_WORD);
    uint64_t bit = (uint64_t)local << cbs->count % TTS_CBS_WORD;
    for (uint32_t y = 0; y < cbs->config.rows; y++) {
        for (uint64_t rest = add->rows[y]; rest; rest &= rest - 1) {
            size_t idx = tts_cbs_core_idx(cbs, (uint32_t)__builtin_ctzll(rest), y);
            struct tts_core_state *core = &cbs->cores[idx];
            assert((core->indices & add->indices) == 0);
            core->indices |= add->indices;
            words[idx] |= bit;
            if (local && add->start < add->end && core->end < add->end)
                core->end = add->end;
        }
    }
}

static void append(struct tts_cbs *cbs, const struct tts_cb_adding *add)
{
    const struct tts_cb *cb = add->cb;
    assert(cbs->count < cbs->capacity);
    assert(cb->range_count <= cbs->range_capacity - cbs->range_count);
    cbs->placed[cbs->count] = (struct tts_cb_placed){.address = add->start,
                                                     .total_bytes = cb->total_bytes,
                                                     .global = cb->global,
                                                     .overlaps = add->overlaps,
                                                     .first_range = cbs->range_count,
                                                     .range_count = cb->range_count,
                                                     .indices = add->indices};
    memcpy(&cbs->ranges[cbs->range_count], cb->ranges, cb->range_count * sizeof(cb->ranges[0]));
    cbs->range_count += cb->range_count;
    if (!cb->global)
        insert_by_address(cbs, cbs->count);
    cbs->count++;
}

enum tts_status tts_cbs_add(struct tts_cbs *cbs, const struct tts_cb *cb, uint64_t *address,
                            struct tts_error *err)
{
    struct tts_cb_adding add = {.cb = cb};
    enum tts_status status = tts_cb_adding_check(cbs, &add, err);
    if (status == TTS_OK)
        status = tts_cb_adding_place(cbs, &add, err);
    if (status != TTS_OK)
        return status;
    if (!reserve(cbs, &add))
        return tts_error_set(err, TTS_E_NOMEM, "cannot add a circular buffer: " TTS_TEXT_NOMEM);
    if (cbs->count % TTS_CBS_WORD == 0)
        memset(tts_cbs_words(cbs, cbs->count / TTS_CBS_WORD), 0, cbs->on.chunk_bytes);
    tts_cbs_grow_regions(cbs, &add);
    mark_cores(cbs, &add);
    append(cbs, &add);
    tts_assert_expensive(tts_cbs_is_valid(cbs));
    *address = add.start;
    return TTS_OK;
}

/* ---- queries ---- */

const struct tts_cb_placed *tts_cbs_at(const struct tts_cbs *cbs, size_t idx)
{
    return idx < cbs->count ? &cbs->placed[idx] : NULL;
}

size_t tts_cbs_count(const struct tts_cbs *cbs)
{
    return cbs->count;
}

struct tts_core_range tts_cbs_range(const struct tts_cbs *cbs, size_t idx)
{
    assert(idx < cbs->range_count);
    return cbs->ranges[idx];
}

uint64_t tts_cbs_program(const struct tts_cbs *cbs)
{
    return cbs->program_id;
}
