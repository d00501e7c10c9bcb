#include "device/livemap.h"

enum {
    SLOTS = TTS_LIVEMAP_SLOTS,
    LAST = SLOTS - 1,
    OVERFLOW_CHUNK = 16, /* buckets */
    FIRST_BUCKETS = 64,
    MAX_BUCKETS = 1 << 27, /* 3e8 blocks: ids and bucket numbers stay far below 2^32 */
};

static void bucket_clear(struct tts_livemap_bucket *b)
{
    for (int i = 0; i < SLOTS; i++)
        b->slot[i] = (struct tts_pair){TTS_LIVEMAP_EMPTY, 0};
}

/* Nothing in it but perhaps a link. */
static bool bucket_is_empty(const struct tts_livemap_bucket *b)
{
    uint32_t link = (uint32_t)(b->slot[LAST].key == TTS_LIVEMAP_LINK) << LAST;
    return (tts_pairs_negative4(b->slot) | link) == (1u << SLOTS) - 1;
}

static void bucket_link(struct tts_livemap_bucket *b, struct tts_livemap_bucket *next)
{
    b->slot[LAST] = (struct tts_pair){TTS_LIVEMAP_LINK, (uintptr_t)next};
}

/* ---- life ---- */

/* 2.25 of 4 slots in use on average: then about 4 in 100 blocks are in a chain. */
static void set_buckets(struct tts_livemap *map, uint32_t count)
{
    map->bucket_count = count;
    map->split_count = (uint64_t)count * 9 / 4;
}

enum tts_status tts_livemap_init(struct tts_livemap *map, const struct tts_alloc *alloc)
{
    *map = (struct tts_livemap){.mask = FIRST_BUCKETS - 1};
    tts_chunks_init(&map->buckets, alloc,
                    TTS_LIVEMAP_CHUNK * sizeof(struct tts_livemap_bucket));
    tts_chunks_init(&map->overflows, alloc, OVERFLOW_CHUNK * sizeof(struct tts_livemap_bucket));
    if (!tts_chunks_add(&map->buckets))
        return TTS_E_NOMEM;
    set_buckets(map, FIRST_BUCKETS);
    tts_livemap_clear(map);
    return TTS_OK;
}

void tts_livemap_release(struct tts_livemap *map)
{
    tts_chunks_release(&map->buckets);
    tts_chunks_release(&map->overflows);
}

static void spare_push(struct tts_livemap *map, struct tts_livemap_bucket *b)
{
    bucket_link(b, map->spare);
    map->spare = b;
}

static struct tts_livemap_bucket *spare_pop(struct tts_livemap *map)
{
    struct tts_livemap_bucket *b = map->spare;
    assert(b);
    map->spare = tts_livemap_bucket_next(b);
    bucket_clear(b);
    return b;
}

static void spare_chunk(struct tts_livemap *map, unsigned char *chunk)
{
    struct tts_livemap_bucket *b = (struct tts_livemap_bucket *)(void *)chunk;
    for (int i = 0; i < OVERFLOW_CHUNK; i++)
        spare_push(map, b + i);
}

void tts_livemap_clear(struct tts_livemap *map)
{
    for (uint32_t i = 0; i < map->bucket_count; i++)
        bucket_clear(tts_livemap_bucket_at(map, i));
    map->spare = NULL;
    for (size_t i = 0; i < map->overflows.count; i++)
        spare_chunk(map, map->overflows.chunk[i]);
    map->count = 0;
}

size_t tts_livemap_memory(const struct tts_livemap *map)
{
    return tts_chunks_memory(&map->buckets) + tts_chunks_memory(&map->overflows);
}

/* ---- growing ---- */

/* An insert takes at most one overflow bucket; a split after it takes none but its own. */
TTS_COLD enum tts_status tts_livemap_reserve_more(struct tts_livemap *map)
{
    if (map->bucket_count == map->buckets.count * TTS_LIVEMAP_CHUNK &&
        (map->bucket_count >= MAX_BUCKETS || !tts_chunks_add(&map->buckets)))
        return TTS_E_NOMEM;
    if (!map->spare) {
        unsigned char *chunk = tts_chunks_add(&map->overflows);
        if (!chunk)
            return TTS_E_NOMEM;
        spare_chunk(map, chunk);
    }
    return TTS_OK;
}

static void chain_insert(struct tts_livemap *map, struct tts_livemap_bucket *b,
                         struct tts_pair block)
{
    for (;;) {
        uint32_t vacant = tts_pairs_negative4(b->slot);
        if (vacant) {
            tts_pairs_store(&b->slot[__builtin_ctz(vacant)], block);
            return;
        }
        struct tts_livemap_bucket *next = tts_livemap_bucket_next(b);
        if (!next) {
            next = spare_pop(map);
            next->slot[0] = b->slot[LAST];
            bucket_link(b, next);
        }
        b = next;
    }
}

void tts_livemap_insert_elsewhere(struct tts_livemap *map, struct tts_pair block)
{
    chain_insert(map, tts_livemap_choice(map, tts_block_off(block), 1), block);
}

/* Adds the bucket after the last and moves to it what now belongs there: each block stays with
 * the choice that put it here. The old chain's extra buckets go back first, so the two new
 * chains never need more of them than there are. */
TTS_COLD void tts_livemap_split(struct tts_livemap *map)
{
    uint32_t new_idx = map->bucket_count;
    assert(new_idx < map->buckets.count * TTS_LIVEMAP_CHUNK);
    if (new_idx > map->mask)
        map->mask = map->mask * 2 + 1;
    struct tts_livemap_bucket *old = tts_livemap_bucket_at(map, new_idx & map->mask >> 1);
    struct tts_livemap_bucket *fresh = tts_livemap_bucket_at(map, new_idx);
    bucket_clear(fresh);
    set_buckets(map, new_idx + 1);

    struct tts_livemap_bucket chain = *old;
    bucket_clear(old);
    for (;;) {
        struct tts_livemap_bucket *next = tts_livemap_bucket_next(&chain);
        for (int i = 0; i < SLOTS; i++) {
            struct tts_pair block = chain.slot[i];
            if (block.key >= TTS_LIVEMAP_LINK)
                continue;
            struct tts_livemap_bucket *home = tts_livemap_choice(map, tts_block_off(block), 0);
            if (home != old && home != fresh)
                home = tts_livemap_choice(map, tts_block_off(block), 1);
            chain_insert(map, home, block);
        }
        if (!next)
            break;
        chain = *next;
        spare_push(map, next);
    }
}

/* ---- asking and removing ---- */

static bool chain_find(struct tts_livemap_bucket *b, uint64_t off,
                       struct tts_livemap_bucket **found, uint32_t *slot)
{
    for (; b; b = tts_livemap_bucket_next(b)) {
        uint32_t match = tts_pairs_same4(b->slot, off);
        if (match) {
            *found = b;
            *slot = (uint32_t)__builtin_ctz(match);
            return true;
        }
    }
    return false;
}

bool tts_livemap_find(const struct tts_livemap *map, uint64_t off, struct tts_pair *out)
{
    struct tts_livemap_bucket *b;
    uint32_t slot;
    for (int choice = 0; choice < 2; choice++) {
        if (chain_find(tts_livemap_choice(map, off, choice), off, &b, &slot)) {
            *out = b->slot[slot];
            return true;
        }
    }
    return false;
}

/* Takes overflow buckets that hold nothing out of a chain. */
static void chain_trim(struct tts_livemap *map, struct tts_livemap_bucket *before)
{
    for (;;) {
        struct tts_livemap_bucket *b = tts_livemap_bucket_next(before);
        if (!b)
            return;
        if (!bucket_is_empty(b)) {
            before = b;
            continue;
        }
        before->slot[LAST] = b->slot[LAST]; /* the link onward, or an empty slot */
        spare_push(map, b);
    }
}

bool tts_livemap_remove_elsewhere(struct tts_livemap *map, uint64_t off, struct tts_pair *out)
{
    struct tts_livemap_bucket *b;
    uint32_t slot;
    for (int choice = 1; choice >= 0; choice--) {
        struct tts_livemap_bucket *home = tts_livemap_choice(map, off, choice);
        if (!chain_find(home, off, &b, &slot))
            continue;
        *out = b->slot[slot];
        b->slot[slot].key = TTS_LIVEMAP_EMPTY;
        map->count--;
        if (b != home)
            chain_trim(map, home);
        return true;
    }
    return false;
}

bool tts_livemap_is_valid(const struct tts_livemap *map)
{
    uint64_t count = 0, extra = 0;
    for (uint32_t i = 0; i < map->bucket_count; i++) {
        const struct tts_livemap_bucket *home = tts_livemap_bucket_at(map, i);
        for (const struct tts_livemap_bucket *b = home; b; b = tts_livemap_bucket_next(b)) {
            extra += b != home;
            for (int s = 0; s < SLOTS; s++) {
                if (b->slot[s].key >= TTS_LIVEMAP_LINK)
                    continue;
                uint64_t off = b->slot[s].key >> 16;
                if (tts_livemap_choice(map, off, 0) != home &&
                    tts_livemap_choice(map, off, 1) != home)
                    return false;
                count++;
            }
        }
    }
    for (const struct tts_livemap_bucket *b = map->spare; b; b = tts_livemap_bucket_next(b))
        extra++;
    return count == map->count && extra == map->overflows.count * OVERFLOW_CHUNK;
}
