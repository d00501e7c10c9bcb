/* blocks_map.h: a hash map of the taken blocks of a space, with their starts as keys. Part of
 * blocks.c.
 *
 * The map uses extendible hashing. The top bits of the hash of a start choose a segment, other
 * bits choose a bucket in the segment. A block is usually in this bucket or in the next one;
 * one comparison of two half rows finds it in both. If both are full, the block is elsewhere in
 * the segment, which is rare. A full segment is split in two, independently of the others. If
 * the hashes of many starts agree in too many bits, which is unlikely, further segments are
 * chained to the full one. */
#pragma once

#include "base/chunks.h"
#include "base/compiler.h"
#include "base/row.h"
#include "ttscope/status.h"

#include <stdbool.h>

enum {
    BUCKETS = 14,
    /* The last bucket serves only as the next one of the bucket before it. */
    SLOTS = (BUCKETS + 1) * TTS_HALF,
    MAX_SEGMENTS = 1 << 23, /* low enough that every id fits in 32 bits */
};

/* A segment. It has a row of starts, a row of sizes and a row of ids. A bucket is half a row of
 * each. */
struct segment {
    tts_word start[SLOTS]; /* TTS_WORD_NONE if the slot is free */
    tts_word size[SLOTS], id[SLOTS];
    struct segment *more; /* next segment in the chain */
    /* Number of top bits in which the hashes of all its blocks agree. Only valid in the first
     * segment of a chain. */
    uint32_t depth;
};

struct map {
    struct segment **dir; /* array of 1 << bits segments, found by the top bits of a hash */
    uint32_t bits;        /* at least 1 */
    const struct tts_alloc *alloc;
    struct tts_chunks segments;
    size_t used; /* number of segments in use */
};

/* The place of a block in the map. */
struct map_slot {
    struct segment *segment;
    uint32_t idx;
};

static inline uint64_t map_hash(tts_word start)
{
    return start * UINT64_C(0x9e3779b97f4a7c15);
}

static inline struct segment *map_segment(const struct map *map, uint64_t hash)
{
    return map->dir[hash >> (64 - map->bits)];
}

/* Returns the first slot of the bucket for a hash. */
static inline uint32_t map_home(uint64_t hash)
{
    return (uint32_t)((hash >> 16 & UINT32_MAX) * BUCKETS >> 32) * TTS_HALF;
}

/* Finds a block with this start in the bucket at `home` or in the next one. If `start` is
 * TTS_WORD_NONE, finds a free slot. */
static inline bool bucket_find(struct segment *s, uint32_t home, tts_word start,
                               struct map_slot *slot)
{
    uint32_t found =
        tts_row_bits(tts_row_same(tts_row_load(&s->start[home]), tts_row_all(start)));
    if (TTS_UNLIKELY(!found))
        return false;
    *slot = (struct map_slot){s, home + (uint32_t)__builtin_ctz(found)};
    return true;
}

/* Searches the whole segment, two buckets at a time from `home` on, and then the segments that
 * are chained to it. A segment has an odd number of buckets, so one bucket is not compared: the
 * first one if the number of the home bucket is odd, else the last one. No block with this home
 * is in that bucket, because the search for a free slot leaves out the same bucket. */
static TTS_COLD bool map_find_beyond(struct segment *s, uint32_t home, tts_word start,
                                     struct map_slot *slot)
{
    for (; s; s = s->more) {
        for (uint32_t i = 0; i < BUCKETS; i += 2) {
            if (bucket_find(s, (home + i * TTS_HALF) % (BUCKETS * TTS_HALF), start, slot))
                return true;
        }
    }
    return false;
}

static inline bool map_find(const struct map *map, tts_word start, struct map_slot *slot)
{
    uint64_t hash = map_hash(start);
    struct segment *s = map_segment(map, hash);
    uint32_t home = map_home(hash);
    __builtin_prefetch(&s->size[home]);
    __builtin_prefetch(&s->id[home]);
    return TTS_LIKELY(bucket_find(s, home, start, slot)) ||
           map_find_beyond(s, home, start, slot);
}

static void segment_clear(struct segment *s, uint32_t depth)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        s->start[i] = TTS_WORD_NONE;
    s->more = NULL;
    s->depth = depth;
}

static struct segment *segment_new(struct map *map, uint32_t depth)
{
    struct segment *s = map->used < map->segments.count
                            ? (struct segment *)(void *)map->segments.chunk[map->used]
                            : tts_chunks_add(&map->segments);
    if (!s)
        return NULL;
    map->used++;
    segment_clear(s, depth);
    return s;
}

static enum tts_status map_init(struct map *map, const struct tts_alloc *alloc)
{
    size_t lines = (sizeof(struct segment) + TTS_CACHE_LINE_BYTES - 1) / TTS_CACHE_LINE_BYTES;
    *map = (struct map){.alloc = alloc};
    tts_chunks_init(&map->segments, alloc, lines * TTS_CACHE_LINE_BYTES);
    map->bits = 1;
    map->dir = alloc->alloc(alloc->ctx, sizeof(*map->dir) << map->bits);
    struct segment *first = map->dir ? segment_new(map, 0) : NULL;
    if (!first)
        return TTS_E_NOMEM;
    map->dir[0] = map->dir[1] = first;
    return TTS_OK;
}

static void map_release(struct map *map)
{
    if (map->dir)
        map->alloc->free(map->alloc->ctx, map->dir, sizeof(*map->dir) << map->bits);
    tts_chunks_release(&map->segments);
}

/* Removes all blocks. Keeps the directory, but all its entries point to the same segment
 * again. */
static void map_clear(struct map *map)
{
    map->used = 0;
    struct segment *first = segment_new(map, 0);
    for (size_t i = 0; i < (size_t)1 << map->bits; i++)
        map->dir[i] = first;
}

static bool map_double(struct map *map)
{
    size_t bytes = sizeof(*map->dir) << map->bits;
    struct segment **dir = map->alloc->resize(map->alloc->ctx, map->dir, bytes, bytes * 2);
    if (!dir)
        return false;
    for (size_t i = (size_t)1 << map->bits; i-- > 0;)
        dir[2 * i] = dir[2 * i + 1] = dir[i];
    map->dir = dir;
    map->bits++;
    return true;
}

/* Splits a segment by one more bit of the hash: the blocks with the bit set move to `sibling`.
 * Each block keeps its slot number. */
static void segment_split(struct map *map, struct segment *s, struct segment *sibling,
                          uint64_t hash)
{
    uint32_t depth = ++s->depth;
    for (uint32_t i = 0; i < SLOTS; i++) {
        tts_word start = s->start[i];
        if (start == TTS_WORD_NONE || !(map_hash(start) >> (64 - depth) & 1))
            continue;
        sibling->start[i] = start;
        sibling->size[i] = s->size[i];
        sibling->id[i] = s->id[i];
        s->start[i] = TTS_WORD_NONE;
    }
    size_t span = (size_t)1 << (map->bits - depth);
    size_t first = (size_t)(hash >> (64 - depth) | 1) * span;
    for (size_t i = 0; i < span; i++)
        map->dir[first + i] = sibling;
}

/* Makes room for a start with this hash: splits its segment, or chains a segment to it. */
static TTS_COLD enum tts_status map_grow(struct map *map, uint64_t hash)
{
    struct segment *s = map_segment(map, hash);
    bool deepest = s->depth == map->bits;
    /* Few segments use the directory, so doubling it would waste memory. */
    bool sparse = (size_t)1 << map->bits > 8 * map->used;
    struct segment *fresh = map->used < MAX_SEGMENTS ? segment_new(map, s->depth + 1) : NULL;
    if (!fresh)
        return TTS_E_NOMEM;
    if (s->more || (deepest && sparse)) {
        fresh->more = s->more;
        s->more = fresh;
        return TTS_OK;
    }
    if (deepest && !map_double(map)) {
        map->used--;
        return TTS_E_NOMEM;
    }
    segment_split(map, s, fresh, hash);
    return TTS_OK;
}

/* Finds a free slot for a new start. Grows the map if necessary. Returns TTS_OK or TTS_E_NOMEM.
 */
static inline enum tts_status map_room(struct map *map, tts_word start, struct map_slot *slot)
{
    uint64_t hash = map_hash(start);
    uint32_t home = map_home(hash);
    for (;;) {
        struct segment *s = map_segment(map, hash);
        if (TTS_LIKELY(bucket_find(s, home, TTS_WORD_NONE, slot)) ||
            map_find_beyond(s, home, TTS_WORD_NONE, slot))
            return TTS_OK;
        if (map_grow(map, hash) != TTS_OK)
            return TTS_E_NOMEM;
    }
}

static inline void map_put(struct map_slot slot, tts_word start, tts_word size, tts_word id)
{
    tts_row_put(slot.segment->start, slot.idx, start);
    slot.segment->size[slot.idx] = size;
    slot.segment->id[slot.idx] = id;
}

static inline void map_drop(struct map_slot slot)
{
    tts_row_put(slot.segment->start, slot.idx, TTS_WORD_NONE);
}

static size_t map_memory(const struct map *map)
{
    return (sizeof(*map->dir) << map->bits) + tts_chunks_memory(&map->segments);
}

/* Returns true if a search finds every block and there are `count` blocks. */
static bool map_is_valid(const struct map *map, uint64_t count)
{
    uint64_t seen = 0;
    for (size_t d = 0; d < (size_t)1 << map->bits;) {
        struct segment *first = map->dir[d];
        if (first->depth > map->bits)
            return false;
        size_t span = (size_t)1 << (map->bits - first->depth);
        for (size_t i = 0; i < span; i++) {
            if (map->dir[d + i] != first)
                return false;
        }
        for (struct segment *s = first; s; s = s->more) {
            for (uint32_t i = 0; i < SLOTS; i++) {
                struct map_slot slot;
                if (s->start[i] == TTS_WORD_NONE)
                    continue;
                if (!map_find(map, s->start[i], &slot) || slot.segment != s || slot.idx != i)
                    return false;
                seen++;
            }
        }
        d += span;
    }
    return seen == count;
}
