/* cbs_state.h: the fields of struct tts_cbs and the steps of adding a circular buffer. Only for
 * cbs*.c.
 *
 * Two things are kept separately: the end of each range, which determines addresses as in the
 * runtime, and the true content of each core. */
#pragma once

#include "base/chunks.h"
#include "device/cbs.h"

#include <assert.h>

enum { TTS_CBS_WORD = 64 }; /* circular buffers in one word, with one bit each */

/* A range that some circular buffer names. The runtime keeps one region for each different
 * range. */
struct tts_cbs_region {
    struct tts_core_range range;
    uint64_t end; /* 0 if no circular buffer was placed in the region */
};

struct tts_core_state {
    uint64_t indices; /* indices in use; global circular buffers use indices too */
    uint64_t end;     /* end of the last byte in use; the base if no byte is in use */
};

struct tts_cbs {
    struct tts_cbs_config config;
    const struct tts_alloc *alloc;
    uint64_t program_id;
    struct tts_cb_placed *placed;
    size_t count, capacity;
    /* The ranges of all circular buffers, in the order of placement. */
    struct tts_core_range *ranges;
    size_t range_count, range_capacity;
    struct tts_cbs_region *regions; /* in the order in which they were first named */
    size_t region_count, region_capacity;
    struct tts_core_state *cores; /* array of the cores, at index y * columns + x */
    /* Each chunk is for 64 circular buffers. It has one word for each core, whose bits tell
     * which of the circular buffers lie on the core. Bits of global ones are not set. */
    struct tts_chunks on;
    /* Indices of the circular buffers that are not global, by ascending address. */
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

/* Returns the words of all cores for the circular buffers 64 * word_idx to 64 * word_idx +
 * 63. */
static inline uint64_t *tts_cbs_words(const struct tts_cbs *cbs, size_t word_idx)
{
    assert(word_idx < cbs->on.count);
    void *words = cbs->on.chunk[word_idx];
    return words;
}

/* A circular buffer that is being added. Initialize with {.cb = ...}. */
struct tts_cb_adding {
    const struct tts_cb *cb;
    uint64_t indices;                 /* one bit for each index */
    uint64_t rows[TTS_GRID_SIDE_MAX]; /* the cores: bit x of rows[y] stands for core (x, y) */
    uint64_t corners[TTS_GRID_SIDE_MAX]; /* the first core of each range: bit x of corners[y] */
    /* The ends of the regions of its ranges, before the circular buffer is placed. */
    uint64_t ends[TTS_RANGES_MAX];
    uint64_t known; /* one bit for each range that already has a region */
    uint64_t start, end;
    size_t overlaps;
};

/* Checks whether the circular buffer may be added. Sets the fields indices, rows and
 * corners. */
TTS_NODISCARD enum tts_status tts_cb_adding_check(const struct tts_cbs *cbs,
                                                  struct tts_cb_adding *add,
                                                  struct tts_error *err);
/* Computes the address of the circular buffer. Sets the other fields. */
TTS_NODISCARD enum tts_status tts_cb_adding_place(const struct tts_cbs *cbs,
                                                  struct tts_cb_adding *add,
                                                  struct tts_error *err);
/* Adds regions for ranges that are named for the first time, and moves the ends of the regions
 * that the circular buffer touches. The memory must have been reserved. */
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

/* Returns true if regions, cores and order agree with the circular buffers. The time grows with
 * the square of their number. */
bool tts_cbs_is_valid(const struct tts_cbs *cbs);
