/* hashtable.h: finds entries of an array by hash. The caller owns the array, compares keys and
 * chooses the hash. The table holds places in the array. The table uses open addressing with
 * linear probing. At most half of the slots are used; the table doubles when more are needed.
 * The caller owns the struct. One thread at a time.
 *
 * uint32_t place = tts_hashtable_find(&table, hash, is_same_name, names, "add");
 * if (place == TTS_HASHTABLE_NONE)
 *     status = tts_hashtable_add(&table, hash, new_place);
 *
 * Mix a secret (base/seed.h) into hashes of keys from foreign files, so that no file can make
 * them collide. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TTS_HASHTABLE_NONE UINT32_MAX

struct tts_hashtable_slot {
    uint32_t hash;
    uint32_t place_1; /* place + 1, or 0 if the slot is empty */
};

/* A table. Initialize with {.alloc = ...}. */
struct tts_hashtable {
    const struct tts_alloc *alloc;
    struct tts_hashtable_slot *slots;
    size_t width; /* number of slots: 0 or a power of two */
    size_t count;
};

/* Returns a 32-bit hash of `a`, `b` and the secret `seed`. */
static inline uint32_t tts_hashtable_mix(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t hash = (a ^ seed) * UINT64_C(0x9e3779b97f4a7c15) + b;
    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(hash ^ hash >> 32);
}

/* Frees the slots. The table is empty afterwards. */
void tts_hashtable_release(struct tts_hashtable *table);

/* Returns the place of the entry with `key`, or TTS_HASHTABLE_NONE. Calls `same` with `ctx`, a
 * place and `key` for each place whose hash is equal; `same` returns whether the entry at the
 * place has the key. */
static inline uint32_t tts_hashtable_find(const struct tts_hashtable *table, uint32_t hash,
                                          bool (*same)(const void *ctx, uint32_t place,
                                                       const void *key),
                                          const void *ctx, const void *key)
{
    size_t mask = table->width - 1;
    if (table->width == 0)
        return TTS_HASHTABLE_NONE;
    for (size_t at = hash & mask; table->slots[at].place_1 != 0; at = (at + 1) & mask) {
        const struct tts_hashtable_slot *slot = &table->slots[at];
        if (slot->hash == hash && same(ctx, slot->place_1 - 1, key))
            return slot->place_1 - 1;
    }
    return TTS_HASHTABLE_NONE;
}

/* Makes room for `count` entries, so that adding them cannot fail. Returns TTS_OK or
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_hashtable_reserve(struct tts_hashtable *table, size_t count);
/* Adds an entry whose key is not in the table. Returns TTS_E_NOMEM if there is no memory; the
 * table is unchanged then. */
TTS_NODISCARD enum tts_status tts_hashtable_add(struct tts_hashtable *table, uint32_t hash,
                                                uint32_t place);
/* Removes an existing entry by its hash and place. */
void tts_hashtable_remove(struct tts_hashtable *table, uint32_t hash, uint32_t place);
/* Tells the table that the caller moved an entry to another place in the array. */
void tts_hashtable_move(struct tts_hashtable *table, uint32_t hash, uint32_t from, uint32_t to);
