/* cbs_state.h: what the circular buffers of a program are made of; for cbs*.c alone.
 *
 * Two things are kept apart: the region ends by range, which decide addresses as the runtime
 * does, and what truly lies on each core. */
#pragma once

#include "base/chunks.h"
#include "device/cbs.h"

#include <assert.h>

enum { TTS_CBS_WORD = 64 }; /* circular buffers that a word has bits for */

/* A range that some circular buffer names; the runtime has one for each different one. */
struct tts_cbs_region {
    struct tts_core_range range;
    uint64_t end; /* 0: nothing is placed */
};

struct tts_core_state {
    uint64_t indices; /* in use, of global ones too */
    uint64_t end;     /* of the highest byte in use; the base when there is none */
};

struct tts_cbs {
    struct tts_cbs_config config;
    const struct tts_alloc *alloc;
    uint64_t program_id;
    struct tts_cb_placed *placed;
    size_t count, capacity;
    struct tts_core_range *ranges; /* of all that is placed, one after the other */
    size_t range_count, range_capacity;
    struct tts_cbs_region *regions; /* in the order they came up */
    size_t region_count, region_capacity;
    struct tts_core_state *cores; /* [y * columns + x] */
    /* A chunk has a word for each core: which 64 circular buffers lie there, those that are
     * not global. */
    struct tts_chunks on;
    uint16_t by_address[TTS_CBS_MAX]; /* those that are not global, the lowest first */
    size_t local_count;
};

static inline size_t tts_cbs_core_count(const struct tts_cbs *cbs)
{
    return (size_t)cbs->config.columns * cbs->config.rows;
}

static inline size_t tts_cbs_core_idx(const struct tts_cbs *cbs, uint32_t x, uint32_t y)
{
    assert(x < cbs->config.columns && y < cbs->config.rows);
    return (size_t)y * cbs->config.columns + x;
}

/* The word of every core for circular buffers [64 * word_idx, + 64). */
static inline uint64_t *tts_cbs_words(const struct tts_cbs *cbs, size_t word_idx)
{
    assert(word_idx < cbs->on.count);
    void *words = cbs->on.chunk[word_idx];
    return words;
}

/* A circular buffer on its way in. All zero but `cb` to begin with. */
struct tts_cb_adding {
    const struct tts_cb *cb;
    uint64_t indices;                    /* a bit for each */
    uint64_t rows[TTS_GRID_SIDE_MAX];    /* its cores: bit x of row y */
    uint64_t corners[TTS_GRID_SIDE_MAX]; /* the first core of each range */
    uint64_t ends[TTS_RANGES_MAX];       /* of the regions of its ranges, before it */
    uint64_t known;                      /* a bit for each range that has a region already */
    uint64_t start, end;
    size_t overlaps;
};

/* May it be added? Fills in its indices and cores. */
TTS_NODISCARD enum tts_status tts_cb_adding_check(const struct tts_cbs *cbs,
                                                  struct tts_cb_adding *add,
                                                  struct tts_error *err);
/* Where does it go? Fills in the rest. */
TTS_NODISCARD enum tts_status tts_cb_adding_place(const struct tts_cbs *cbs,
                                                  struct tts_cb_adding *add,
                                                  struct tts_error *err);
/* It is there: new regions come up, and those that touch it grow. There is room for them. */
void tts_cbs_grow_regions(struct tts_cbs *cbs, const struct tts_cb_adding *add);

static inline bool tts_range_same(const struct tts_core_range *a,
                                  const struct tts_core_range *b)
{
    return a->x0 == b->x0 && a->y0 == b->y0 && a->x1 == b->x1 && a->y1 == b->y1;
}

/* Columns [x0, x1] of a row of cores. */
static inline uint64_t tts_range_columns(const struct tts_core_range *r)
{
    assert(r->x0 <= r->x1 && r->x1 < TTS_GRID_SIDE_MAX);
    return (UINT64_MAX >> (TTS_GRID_SIDE_MAX - 1 - (r->x1 - r->x0))) << r->x0;
}

static inline bool tts_range_touches(const uint64_t rows[TTS_GRID_SIDE_MAX],
                                     const struct tts_core_range *r)
{
    assert(r->y0 <= r->y1 && r->y1 < TTS_GRID_SIDE_MAX);
    uint64_t columns = tts_range_columns(r), any = 0;
    for (uint32_t y = r->y0; y <= r->y1; y++)
        any |= rows[y] & columns;
    return any != 0;
}

/* What is kept of ranges, cores and order follows from what is placed: O(all of it, squared).
 */
bool tts_cbs_is_valid(const struct tts_cbs *cbs);
