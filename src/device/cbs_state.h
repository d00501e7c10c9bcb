/* cbs_state.h: the parts of the circular buffers of a program. Only for cbs*.c.
 *
 * Two things are kept separately: the end of each range, which decides addresses as in the
 * runtime, and the true contents of each core. */
#pragma once

#include "base/chunks.h"
#include "device/cbs.h"

#include <assert.h>

enum { TTS_CBS_WORD = 64 }; /* circular buffers in one word, one bit each */

/* A range that some circular buffer names. The runtime has one region for each different
 * range. */
struct tts_cbs_region {
    struct tts_core_range range;
    uint64_t end; /* 0: no circular buffer is placed */
};

struct tts_core_state {
    uint64_t indices; /* indices in use, also by global circular buffers */
    uint64_t end;     /* end of the highest byte in use; the base if there is none */
};

struct tts_cbs {
    struct tts_cbs_config config;
    const struct tts_alloc *alloc;
    uint64_t program_id;
    struct tts_cb_placed *placed;
    size_t count, capacity;
    struct tts_core_range *ranges; /* ranges of all placed circular buffers, in order */
    size_t range_count, range_capacity;
    struct tts_cbs_region *regions; /* in the order in which they were first named */
    size_t region_count, region_capacity;
    struct tts_core_state *cores; /* [y * columns + x] */
    /* Each chunk has one word for each core. The word has a bit for each of 64 circular
     * buffers: whether it lies on the core. Global ones are not marked. */
    struct tts_chunks on;
    /* Circular buffers that are not global, lowest first. */
    uint16_t by_address[TTS_CBS_MAX];
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

/* Returns the words of all cores for circular buffers 64 * word_idx to 64 * word_idx + 63. */
static inline uint64_t *tts_cbs_words(const struct tts_cbs *cbs, size_t word_idx)
{
    assert(word_idx < cbs->on.count);
    void *words = cbs->on.chunk[word_idx];
    return words;
}

/* A circular buffer that is being added. Initialize with {.cb = ...}. */
struct tts_cb_adding {
    const struct tts_cb *cb;
    uint64_t indices;                    /* one bit for each index */
    uint64_t rows[TTS_GRID_SIDE_MAX];    /* its cores: bit x of rows[y] */
    uint64_t corners[TTS_GRID_SIDE_MAX]; /* first core of each range: bit x of corners[y] */
    /* Ends of the regions of its ranges before it is placed. */
    uint64_t ends[TTS_RANGES_MAX];
    uint64_t known; /* one bit for each range that already has a region */
    uint64_t start, end;
    size_t overlaps;
};

/* Checks whether the circular buffer may be added. Fills in its indices and cores. */
TTS_NODISCARD enum tts_status tts_cb_adding_check(const struct tts_cbs *cbs,
                                                  struct tts_cb_adding *add,
                                                  struct tts_error *err);
/* Computes the address of the circular buffer. Fills in the remaining fields. */
TTS_NODISCARD enum tts_status tts_cb_adding_place(const struct tts_cbs *cbs,
                                                  struct tts_cb_adding *add,
                                                  struct tts_error *err);
/* Adds the regions that are new and grows the regions that touch the circular buffer. The
 * memory is already reserved. */
void tts_cbs_grow_regions(struct tts_cbs *cbs, const struct tts_cb_adding *add);

static inline bool tts_range_same(const struct tts_core_range *a,
                                  const struct tts_core_range *b)
{
    return a->x0 == b->x0 && a->y0 == b->y0 && a->x1 == b->x1 && a->y1 == b->y1;
}

/* Returns a mask of the columns x0 .. x1. */
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

/* Checks that regions, cores and order agree with the placed circular buffers. Takes time that
 * grows with the square of their number. */
bool tts_cbs_is_valid(const struct tts_cbs *cbs);
