/* space.h: one address space that places blocks exactly where the runtime's allocator would.
 *
 * A space is the part of a pool that every bank shares: [offset, offset + size). Blocks tile
 * it; each is free or taken, and two free blocks never touch. The rules (FIRST and BEST, from
 * either end, rounding, block ids, and the reference's quirks) are in docs/design/space.md.
 *
 * A space owns its memory. It holds at least 300 million taken blocks; one too many is
 * TTS_E_NOMEM. A call that fails leaves the space as it was, except after TTS_E_BELOW_LIMIT.
 * Addresses are absolute (offset included) unless a field says otherwise.
 *
 * Threads: one thread at a time for each space. Functions that take a const space may run at
 * the same time as each other.
 * Signals: no function here may be called in a signal handler, because each can allocate.
 * Fork: the child has its own copy of every space and may use and free the copy.
 *
 * Example:
 *     struct tts_space_config config = {.size_bytes = 1 << 20, .alignment_bytes = 32};
 *     struct tts_space *space;
 *     struct tts_error err;
 *     uint64_t address;
 *     if (tts_space_new(&config, NULL, &space, &err) != TTS_OK)
 *         return 1; // err.text says why
 *     if (tts_space_take(space, 4096, TTS_DIRECTION_UP, 0, &address) == TTS_OK &&
 *         tts_space_give(space, address) == TTS_OK)
 *         printf("4096 bytes fit at %llu\n", (unsigned long long)address);
 *     tts_space_free(space); */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/device.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TTS_SPACE_MAX_BYTES (UINT64_C(1) << 46) /* the most that a config may say */
/* The most units of a space. A unit is the largest power of two that divides the size and the
 * alignment: a space with an alignment of 32 bytes has at most 128 GiB. No bank is larger. */
#define TTS_SPACE_MAX_UNITS (UINT64_C(0xffffffff) - 1)
#define TTS_BLOCK_NONE UINT32_MAX /* the neighbour id of a block at an edge */

enum tts_policy {
    TTS_POLICY_FIRST, /* the fitting block nearest to the chosen end */
    TTS_POLICY_BEST,  /* the same inside the lowest size class that has a fitting block */
};

struct tts_space_config {
    uint64_t size_bytes;      /* 1 .. TTS_SPACE_MAX_BYTES; need not be aligned */
    uint64_t offset_bytes;    /* absolute address of the first byte */
    uint64_t min_bytes;       /* a smaller request becomes this, then is rounded up */
    uint64_t alignment_bytes; /* 1 .. size limit; need not be a power of two */
    enum tts_policy policy;
};

struct tts_range {
    uint64_t start, end; /* [start, end) */
};

struct tts_block {
    uint64_t address; /* absolute */
    uint64_t size_bytes;
    uint32_t id, prev_id, next_id; /* TTS_BLOCK_NONE at the edges */
    bool taken;
};

struct tts_space;

/* `alloc` NULL means the C library's. TTS_E_INVALID, TTS_E_RANGE (said in err), TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_space_new(const struct tts_space_config *config,
                                            const struct tts_alloc *alloc,
                                            struct tts_space **out, struct tts_error *err);
void tts_space_free(struct tts_space *space); /* NULL is fine */

/* Take room for `bytes`. TTS_E_FULL: no free block fits. TTS_E_BELOW_LIMIT: the chosen block
 * starts below `limit`; *address is written and the block stays taken, as in the reference. */
TTS_NODISCARD enum tts_status tts_space_take(struct tts_space *space, uint64_t bytes,
                                             enum tts_direction direction, uint64_t limit,
                                             uint64_t *address);

/* Take exactly [address, address + rounded bytes). TTS_E_FULL when it is not wholly free.
 * TTS_E_RANGE: the address is not a multiple of the unit, and with a smaller unit the space
 * would have more than TTS_SPACE_MAX_UNITS. */
TTS_NODISCARD enum tts_status tts_space_take_at(struct tts_space *space, uint64_t address,
                                                uint64_t bytes);

/* Give a block back. TTS_E_NOT_FOUND, harmless, when no taken block starts there. TTS_E_NOMEM:
 * there was none to note it, and it is still taken. */
TTS_NODISCARD enum tts_status tts_space_give(struct tts_space *space, uint64_t address);

/* Cut `bytes` off the bottom; other addresses do not move. TTS_E_RANGE: more than there is,
 * or not a multiple of the unit, as with tts_space_take_at(). TTS_E_BUSY: a taken block is in
 * the way. */
TTS_NODISCARD enum tts_status tts_space_shrink(struct tts_space *space, uint64_t bytes);

/* Undo every shrink. */
TTS_NODISCARD enum tts_status tts_space_unshrink(struct tts_space *space);

/* One free block again, shrinks undone; keeps its memory. The reported lowest address stays. */
void tts_space_clear(struct tts_space *space);

/* Constant time, at any size. */
void tts_space_get_stats(const struct tts_space *space, struct tts_space_stats *out);

/* The lowest taken address: as the runtime reports it (stale after a clear or a take below the
 * limit), and as it is. False: none; *address is then left alone. */
bool tts_space_lowest_reported(const struct tts_space *space, uint64_t *address);
bool tts_space_lowest(const struct tts_space *space, uint64_t *address);

/* The rounded size of the taken block that starts at `address`. TTS_E_NOT_FOUND. */
TTS_NODISCARD enum tts_status tts_space_size_at(const struct tts_space *space, uint64_t address,
                                                uint64_t *bytes);

/* Free blocks that hold `bytes`, by size class, then address, as the reference lists them.
 * Returns how many there are and writes the first `capacity` of them. */
size_t tts_space_available(const struct tts_space *space, uint64_t bytes, struct tts_range *out,
                           size_t capacity);

/* All blocks, or the taken ones, in block-id order. `capacity` must reach tts_space_id_limit(),
 * above every id in use, else TTS_E_RANGE; *count blocks are written. */
uint32_t tts_space_id_limit(const struct tts_space *space);
TTS_NODISCARD enum tts_status tts_space_blocks(const struct tts_space *space,
                                               struct tts_block *out, size_t capacity,
                                               size_t *count);
TTS_NODISCARD enum tts_status tts_space_taken(const struct tts_space *space,
                                              struct tts_block *out, size_t capacity,
                                              size_t *count);

/* Ids that are out of use, in the order they went; the last is the next to be used again.
 * Returns how many there are and writes the first `capacity` of them. */
size_t tts_space_unused_ids(const struct tts_space *space, uint32_t *out, size_t capacity);

/* Walk all blocks in address order: start from a zeroed cursor, stop at false. The cursor dies
 * with the next change to the space. */
struct tts_space_cursor {
    uint64_t next_off;            /* relative address of the next block */
    uint64_t free_off, free_size; /* the next free block; at the end: none, size 0 */
    uint32_t free_id, prev_id;
    bool started;
};
bool tts_space_next(const struct tts_space *space, struct tts_space_cursor *cursor,
                    struct tts_block *out);

/* A second space in the same state, ids and all, with memory of its own from the same place. */
TTS_NODISCARD enum tts_status tts_space_copy(const struct tts_space *space,
                                             struct tts_space **out);
/* Same configuration and state: every later call would have the same results in both. */
bool tts_space_equal(const struct tts_space *a, const struct tts_space *b);

void tts_space_get_config(const struct tts_space *space, struct tts_space_config *out);
/* Bytes of memory the space holds now, itself included. */
size_t tts_space_memory(const struct tts_space *space);
/* Checks every invariant: O(n). For tests, fuzzers and expensive assertions. */
bool tts_space_is_valid(const struct tts_space *space);
