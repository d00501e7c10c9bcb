/* livemap.h: the taken blocks of a space, by offset.
 * A hash of one-cache-line buckets. A block has two of them: it goes to the first if there is
 * room, else to the second, else into a chain; at the load kept here that is about 80, 16 and 4
 * in a hundred. It grows as linear hashes do, splitting one bucket at a time: its load and
 * bytes per block are the same at any size, and no operation ever rehashes the whole. It never
 * shrinks. Caller's memory; one thread. */
#pragma once

#include "base/chunks.h"
#include "base/compiler.h"
#include "device/block.h"
#include "ttscope/status.h"

#include <stdbool.h>

enum { TTS_LIVEMAP_SLOTS = 4, TTS_LIVEMAP_CHUNK = 64 /* buckets */ };

/* No block has these for its `at`. Empty has the sign bit. The last slot of a bucket may be a
 * link: its `len` says where the chain of the bucket goes on. */
#define TTS_LIVEMAP_EMPTY UINT64_MAX
#define TTS_LIVEMAP_LINK (UINT64_MAX >> 1)

struct tts_livemap_bucket {
    struct tts_pair slot[TTS_LIVEMAP_SLOTS];
};
_Static_assert(sizeof(struct tts_livemap_bucket) == TTS_CACHE_LINE_BYTES, "one line a bucket");

struct tts_livemap {
    struct tts_chunks buckets, overflows;
    struct tts_livemap_bucket *spare; /* unused overflow buckets */
    uint32_t bucket_count;
    uint32_t mask; /* the bits of a hash that address all buckets: a power of two less one */
    uint64_t count;
    uint64_t split_count; /* a bucket is split when `count` reaches this */
};

TTS_NODISCARD enum tts_status tts_livemap_init(struct tts_livemap *map,
                                               const struct tts_alloc *alloc);
void tts_livemap_release(struct tts_livemap *map);
void tts_livemap_clear(struct tts_livemap *map);
size_t tts_livemap_memory(const struct tts_livemap *map);
/* Every block is in the bucket of its hash, counts agree: O(n). */
bool tts_livemap_is_valid(const struct tts_livemap *map);

/* The rare halves of the functions below. */
enum tts_status tts_livemap_reserve_more(struct tts_livemap *map);
void tts_livemap_insert_elsewhere(struct tts_livemap *map, struct tts_pair block);
bool tts_livemap_remove_elsewhere(struct tts_livemap *map, uint64_t off, struct tts_pair *out);
void tts_livemap_split(struct tts_livemap *map);

static inline struct tts_livemap_bucket *tts_livemap_bucket_at(const struct tts_livemap *map,
                                                               uint32_t idx)
{
    unsigned char *chunk = map->buckets.chunk[idx / TTS_LIVEMAP_CHUNK];
    return (struct tts_livemap_bucket *)(void *)chunk + idx % TTS_LIVEMAP_CHUNK;
}

/* The two buckets that may hold a block: two different parts of one product. Buckets past the
 * last have not been split off yet: one bit less leads to their parent. The shift by a
 * comparison is there to be free of a branch nobody could predict. */
static inline struct tts_livemap_bucket *tts_livemap_choice(const struct tts_livemap *map,
                                                            uint64_t off, int choice)
{
    uint64_t product = off * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t hash = (uint32_t)(choice ? __builtin_bswap64(product) : product >> 32);
    uint32_t idx = hash & map->mask;
    idx &= map->mask >> (idx >= map->bucket_count);
    return tts_livemap_bucket_at(map, idx);
}

static inline struct tts_livemap_bucket *
tts_livemap_bucket_next(const struct tts_livemap_bucket *bucket)
{
    if (bucket->slot[TTS_LIVEMAP_SLOTS - 1].key != TTS_LIVEMAP_LINK)
        return NULL;
    return (struct tts_livemap_bucket *)(uintptr_t)bucket->slot[TTS_LIVEMAP_SLOTS - 1].value;
}

/* Makes sure that the next insert has the memory it may need. */
static inline enum tts_status tts_livemap_reserve(struct tts_livemap *map)
{
    if (TTS_LIKELY(map->spare && map->bucket_count < map->buckets.count * TTS_LIVEMAP_CHUNK))
        return TTS_OK;
    return tts_livemap_reserve_more(map);
}

/* After a reserve; no block of the map may start at the same offset. */
static inline void tts_livemap_insert(struct tts_livemap *map, struct tts_pair block)
{
    struct tts_livemap_bucket *b = tts_livemap_choice(map, tts_block_off(block), 0);
    uint32_t vacant = tts_pairs_negative4(b->slot);
    if (TTS_LIKELY(vacant))
        tts_pairs_store(&b->slot[__builtin_ctz(vacant)], block);
    else
        tts_livemap_insert_elsewhere(map, block);
    if (TTS_UNLIKELY(++map->count >= map->split_count))
        tts_livemap_split(map);
}

/* False: no block starts there; *out is left alone. */
bool tts_livemap_find(const struct tts_livemap *map, uint64_t off, struct tts_pair *out);

static inline bool tts_livemap_remove(struct tts_livemap *map, uint64_t off,
                                      struct tts_pair *out)
{
    struct tts_livemap_bucket *b = tts_livemap_choice(map, off, 0);
    uint32_t match = tts_pairs_same4(b->slot, off);
    if (TTS_UNLIKELY(!match))
        return tts_livemap_remove_elsewhere(map, off, out);
    struct tts_pair *slot = &b->slot[__builtin_ctz(match)];
    *out = *slot;
    slot->key = TTS_LIVEMAP_EMPTY;
    map->count--;
    return true;
}
