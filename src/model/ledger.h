/* ledger.h: the buffers that live, by device and id.
 *
 * A table found by hashing and probing; ids that follow each other lie beside each other, so
 * that a run of allocations stays in the cache. A slot has what it takes to free a buffer; what
 * is only told about it stands in a second table, at the same place. Both are laid out anew,
 * twice as wide, when they fill. What only buffers in L1 have is kept apart, on a list. Memory
 * for live_max buffers is taken at birth and touched as it is needed. For more, enter takes
 * what is missing: twice as much each time, so seldom, from the allocator of birth, or, where
 * that is the C library's, as pages from the system (base/alloc.h). No other call allocates. An
 * event that widens the tables moves all entries: some 10 ns each. One thread at a time. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/chip.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stdint.h>

#define TTS_LEDGER_NONE UINT32_MAX
#define TTS_LEDGER_SIZE_MAX ((UINT64_C(1) << 53) - 1)
enum {
    TTS_LEDGER_DEVICES = 256, /* indices of devices are below */
    TTS_LEDGER_LIVE_MAX = 1 << 26,
};

/* Whether buffers of the pool lie on cores. */
static inline bool tts_pool_is_l1(enum tts_pool pool)
{
    return pool == TTS_POOL_L1 || pool == TTS_POOL_L1_SMALL;
}

/* A buffer as it is told of. */
struct tts_entry {
    uint64_t id;         /* key, with `device` */
    uint64_t size_bytes; /* at most TTS_LEDGER_SIZE_MAX */
    uint64_t seq;        /* of the allocation: grows; below 2^47 */
    uint16_t op;         /* its name, as opnames.h counts them */
    uint8_t device;      /* the index of a device, not its id */
    uint8_t pool;        /* enum tts_pool */
};

/* Of a buffer in L1 or L1_SMALL. All but the list is the caller's, filled in from the entry
 * where they have the same. */
struct tts_l1_entry {
    uint64_t id, seq;
    uint64_t bytes_per_bank, block_bytes;
    uint32_t next, prev; /* ledger */
    uint32_t cores;      /* its core set, as coresets.h counts them */
    uint16_t op;
    uint8_t device, pool;
};

struct tts_ledger;

/* Room for `live_max` (1 .. TTS_LEDGER_LIVE_MAX) entries at first. TTS_E_INVALID, TTS_E_NOMEM.
 * `seed` makes the hashing hard to foresee. */
TTS_NODISCARD enum tts_status tts_ledger_new(uint32_t live_max, uint64_t seed,
                                             const struct tts_alloc *alloc,
                                             struct tts_ledger **out);
void tts_ledger_free(struct tts_ledger *ledger);  /* NULL is fine */
void tts_ledger_reset(struct tts_ledger *ledger); /* empty again, as at birth; quick */

/* So many entries will come, in any order: widens the tables once, as far as there is memory
 * and for TTS_LEDGER_LIVE_MAX at most. To enter them as tts_ledger_next() tells them, into
 * tables that grow, would crowd these. */
void tts_ledger_expect(struct tts_ledger *ledger, uint64_t count);

/* Places of entries are good until the next enter or remove. */

/* Enters a buffer whose key is not there. When it is, *is_new is false and nothing is written.
 * TTS_LEDGER_NONE: there is no memory for it. */
uint32_t tts_ledger_enter(struct tts_ledger *ledger, struct tts_entry entry, bool *is_new);
/* Puts another buffer of the same key there; the one before has no part in L1. */
void tts_ledger_replace(struct tts_ledger *ledger, uint32_t place, struct tts_entry entry);
/* TTS_LEDGER_NONE: it is not there. */
uint32_t tts_ledger_find(const struct tts_ledger *ledger, uint8_t device, uint64_t id);
/* With its part in L1. */
void tts_ledger_remove(struct tts_ledger *ledger, uint32_t place);

struct tts_entry tts_ledger_read(const struct tts_ledger *ledger, uint32_t place);
/* Quicker than to read it all. */
enum tts_pool tts_ledger_pool(const struct tts_ledger *ledger, uint32_t place);
uint64_t tts_ledger_size(const struct tts_ledger *ledger, uint32_t place);

uint32_t tts_ledger_count(const struct tts_ledger *ledger);

/* A part in L1 for an entry in L1 or L1_SMALL, which has none yet, with what it has in common;
 * there is always room. It stays where it is. */
struct tts_l1_entry *tts_ledger_add_l1(struct tts_ledger *ledger, uint32_t place);
/* NULL: it has none. */
struct tts_l1_entry *tts_ledger_l1(const struct tts_ledger *ledger, uint32_t place);
void tts_ledger_drop_l1(struct tts_ledger *ledger, uint32_t place);

/* The parts in L1, in no order: *cursor starts as the head. NULL: no more. */
uint32_t tts_ledger_l1_head(const struct tts_ledger *ledger);
const struct tts_l1_entry *tts_ledger_l1_next(const struct tts_ledger *ledger,
                                              uint32_t *cursor);

/* The places of all entries, in no order: *cursor starts at 0. TTS_LEDGER_NONE: no more. */
uint32_t tts_ledger_next(const struct tts_ledger *ledger, uint32_t *cursor);

bool tts_ledger_is_valid(const struct tts_ledger *ledger); /* walks everything */
