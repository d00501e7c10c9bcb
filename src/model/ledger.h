/* ledger.h: the live buffers, by device and id.
 *
 * The ledger is a hash table with probing. Consecutive ids lie beside each other, so that a run
 * of allocations stays in the cache. A slot of the table has the data that a free needs. The
 * other data of a buffer is in a second table, at the same place. Full tables are replaced by
 * tables of twice the width. Data that only L1 buffers have, the L1 part of a buffer, is in a
 * list.
 *
 * tts_ledger_new() allocates memory for live_max buffers, which is touched only when it is
 * used. For more buffers, tts_ledger_enter() allocates twice as much each time, with the
 * allocator of tts_ledger_new(), or as pages from the system (base/heap.h) if that allocator is
 * the C library. No other call allocates. An event that widens the tables moves all entries, at
 * about 10 ns each. One thread at a time. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/chip.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stdint.h>

#define TTS_LEDGER_NONE UINT32_MAX
#define TTS_LEDGER_SIZE_MAX ((UINT64_C(1) << 53) - 1)
enum {
    TTS_LEDGER_DEVICES = 256, /* indices of devices are below this number */
    TTS_LEDGER_LIVE_MAX = 1 << 26,
};

/* Returns whether buffers of the pool lie on cores. */
static inline bool tts_pool_is_l1(enum tts_pool pool)
{
    return pool == TTS_POOL_L1 || pool == TTS_POOL_L1_SMALL;
}

/* The data of a buffer. */
struct tts_entry {
    uint64_t id;         /* `id` and `device` together are the key */
    uint64_t size_bytes; /* at most TTS_LEDGER_SIZE_MAX */
    uint64_t seq;        /* number of the event that allocated the buffer; below 2^47 */
    uint16_t op;         /* operation, as an index of opnames.h */
    uint8_t device;      /* index of a device, not its id */
    uint8_t pool;        /* enum tts_pool */
};

/* The additional data of a buffer in L1 or L1_SMALL. The ledger owns the list links and copies
 * the fields that struct tts_entry has as well. The caller fills the rest. */
struct tts_l1_entry {
    uint64_t id, seq;
    uint64_t bytes_per_bank, block_bytes;
    uint32_t next, prev; /* list links of the ledger */
    uint32_t cores;      /* core set, as an index of coresets.h */
    uint16_t op;
    uint8_t device, pool;
};

struct tts_ledger;

/* Creates a ledger with room for `live_max` entries (1 .. TTS_LEDGER_LIVE_MAX) at first. `seed`
 * makes the hash unpredictable. Returns TTS_E_INVALID if live_max is out of range, TTS_E_NOMEM
 * if there is no memory. */
TTS_NODISCARD enum tts_status tts_ledger_new(uint32_t live_max, uint64_t seed,
                                             const struct tts_alloc *alloc,
                                             struct tts_ledger **out);
void tts_ledger_free(struct tts_ledger *ledger); /* `ledger` may be NULL */
/* Removes all entries. Fast: clears only the smallest table. */
void tts_ledger_reset(struct tts_ledger *ledger);

/* Prepares for `count` entries in any order: widens the tables once, as far as memory allows
 * and to TTS_LEDGER_LIVE_MAX at most. Without this call, entries that come in the order of
 * tts_ledger_next() would fill neighbouring slots of a small table, and searches would be
 * slow. */
void tts_ledger_expect(struct tts_ledger *ledger, uint64_t count);

/* A place is the index of an entry in the table. Places are valid until the next
 * tts_ledger_enter() or tts_ledger_remove(). */

/* Enters a buffer and returns its place. If the key exists, sets *is_new to false and changes
 * nothing. Returns TTS_LEDGER_NONE if there is no memory. */
uint32_t tts_ledger_enter(struct tts_ledger *ledger, struct tts_entry entry, bool *is_new);
/* Replaces a buffer by another buffer with the same key. The caller has dropped the L1 part of
 * the old buffer. */
void tts_ledger_replace(struct tts_ledger *ledger, uint32_t place, struct tts_entry entry);
/* Returns the place of a key, or TTS_LEDGER_NONE. */
uint32_t tts_ledger_find(const struct tts_ledger *ledger, uint8_t device, uint64_t id);
/* Removes an entry and its L1 part. */
void tts_ledger_remove(struct tts_ledger *ledger, uint32_t place);

struct tts_entry tts_ledger_read(const struct tts_ledger *ledger, uint32_t place);
/* tts_ledger_pool() and tts_ledger_size() return one field of an entry. Both are faster than
 * tts_ledger_read(). */
enum tts_pool tts_ledger_pool(const struct tts_ledger *ledger, uint32_t place);
uint64_t tts_ledger_size(const struct tts_ledger *ledger, uint32_t place);

uint32_t tts_ledger_count(const struct tts_ledger *ledger);

/* Adds an L1 part to an entry in L1 or L1_SMALL that has none, and fills the fields that struct
 * tts_entry has too. There is always room. The part does not move. */
struct tts_l1_entry *tts_ledger_add_l1(struct tts_ledger *ledger, uint32_t place);
/* Returns the L1 part of an entry, or NULL if the entry has none. */
struct tts_l1_entry *tts_ledger_l1(const struct tts_ledger *ledger, uint32_t place);
void tts_ledger_drop_l1(struct tts_ledger *ledger, uint32_t place);

/* Iterate over the L1 parts, in no order: *cursor starts as tts_ledger_l1_head().
 * tts_ledger_l1_next() returns NULL after the last part. */
uint32_t tts_ledger_l1_head(const struct tts_ledger *ledger);
const struct tts_l1_entry *tts_ledger_l1_next(const struct tts_ledger *ledger,
                                              uint32_t *cursor);

/* Iterates over the places of all entries, in no order. *cursor starts at 0. Returns
 * TTS_LEDGER_NONE after the last entry. */
uint32_t tts_ledger_next(const struct tts_ledger *ledger, uint32_t *cursor);

bool tts_ledger_is_valid(const struct tts_ledger *ledger); /* slow: checks every entry */
