/* space.h: one address space that places blocks exactly where the runtime's allocator would.
 *
 * A space is the part of a pool that every bank shares: [offset, offset + size). Blocks tile
 * it; each is free or taken, and two free blocks never touch. The rules (FIRST and BEST, from
 * either end, rounding, block ids, and the reference's quirks) are in docs/design/space.md.
 *
 * A space owns its memory. It holds at least 300 million taken blocks. A take beyond the
 * maximum returns TTS_E_NOMEM. A call that fails leaves the space as it was, except after
 * TTS_E_BELOW_LIMIT. Addresses are absolute (offset included) unless a field says otherwise.
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

/* Largest size that a configuration may have. */
#define TTS_SPACE_MAX_BYTES (UINT64_C(1) << 46)
/* The most units that a space may have. A unit is the largest power of two that divides the
 * size and the alignment. So a space with an alignment of 32 bytes can have at most 128 GiB; no
 * bank is larger. */
#define TTS_SPACE_MAX_UNITS (UINT64_C(0xffffffff) - 1)
/* The id of the missing neighbour of a block at an end of the space. */
#define TTS_BLOCK_NONE UINT32_MAX

enum tts_policy {
    TTS_POLICY_FIRST, /* takes the first large enough block, seen from the chosen end */
    TTS_POLICY_BEST, /* like FIRST, but only looks at the lowest size class with a block that is
                        large enough */
};

struct tts_space_config {
    uint64_t size_bytes;   /* from 1 to TTS_SPACE_MAX_BYTES; may be unaligned */
    uint64_t offset_bytes; /* absolute address of the first byte */
    uint64_t min_bytes;    /* a smaller request is raised to this size, and then rounded up */
    uint64_t alignment_bytes; /* from 1 to TTS_SPACE_MAX_BYTES; may be any number */
    enum tts_policy policy;
};

struct tts_range {
    uint64_t start, end; /* [start, end) */
};

struct tts_block {
    uint64_t address; /* absolute */
    uint64_t size_bytes;
    uint32_t id, prev_id, next_id; /* a missing neighbour is TTS_BLOCK_NONE */
    bool taken;
};

struct tts_space;

/* Makes a space with one free block. The caller frees it. If `alloc` is NULL, the C library's
 * allocator is used. TTS_E_INVALID, TTS_E_RANGE: the configuration is impossible; `err` says
 * why. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_space_new(const struct tts_space_config *config,
                                            const struct tts_alloc *alloc,
                                            struct tts_space **out, struct tts_error *err);
void tts_space_free(struct tts_space *space); /* NULL is allowed */

/* Takes a block of `bytes`, rounded up, and sets *address. TTS_E_FULL: no free block is large
 * enough. TTS_E_BELOW_LIMIT: the chosen block starts below `limit`; *address is set and the
 * block stays taken, as in the runtime's allocator. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_space_take(struct tts_space *space, uint64_t bytes,
                                             enum tts_direction direction, uint64_t limit,
                                             uint64_t *address);

/* Takes exactly [address, address + rounded bytes). TTS_E_FULL: a part of the range is not
 * free. TTS_E_RANGE: the address is not a multiple of the unit, and with a smaller unit the
 * space would have more than TTS_SPACE_MAX_UNITS. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_space_take_at(struct tts_space *space, uint64_t address,
                                                uint64_t bytes);

/* Gives a block back. TTS_E_NOT_FOUND: no taken block begins at this address; nothing changes.
 * TTS_E_NOMEM: there is no memory for the bookkeeping, and the block is still taken. */
TTS_NODISCARD enum tts_status tts_space_give(struct tts_space *space, uint64_t address);

/* Cuts `bytes` off the bottom. Other addresses do not change. TTS_E_RANGE: `bytes` is more than
 * the size, or is not a multiple of the unit, as with tts_space_take_at(). TTS_E_BUSY: a taken
 * block is in that part. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_space_shrink(struct tts_space *space, uint64_t bytes);

/* Undoes every shrink. */
TTS_NODISCARD enum tts_status tts_space_unshrink(struct tts_space *space);

/* Makes the whole space one free block and undoes every shrink. Keeps the memory. The reported
 * lowest address does not change. */
void tts_space_clear(struct tts_space *space);

/* Copies the statistics to *out. Constant time. */
void tts_space_get_stats(const struct tts_space *space, struct tts_space_stats *out);

/* Set *address to the lowest taken address. The first function returns the address that the
 * runtime reports, which is out of date after a clear or a take below the limit; the second
 * returns the true one. Return false if there is none; then *address is unchanged. */
bool tts_space_lowest_reported(const struct tts_space *space, uint64_t *address);
bool tts_space_lowest(const struct tts_space *space, uint64_t *address);

/* Sets *bytes to the rounded size of the taken block that begins at `address`. TTS_E_NOT_FOUND:
 * no taken block begins there. */
TTS_NODISCARD enum tts_status tts_space_size_at(const struct tts_space *space, uint64_t address,
                                                uint64_t *bytes);

/* Lists the free blocks with room for `bytes`, ordered by size class and then by address, as
 * the runtime's allocator does. Writes at most `capacity` of them. Returns how many there
 * are. */
size_t tts_space_available(const struct tts_space *space, uint64_t bytes, struct tts_range *out,
                           size_t capacity);

/* List all blocks, or the taken blocks, in the order of their ids, and set *count to their
 * number. `capacity` must be at least tts_space_id_limit(), which is above every id in use;
 * otherwise the result is TTS_E_RANGE. */
uint32_t tts_space_id_limit(const struct tts_space *space);
TTS_NODISCARD enum tts_status tts_space_blocks(const struct tts_space *space,
                                               struct tts_block *out, size_t capacity,
                                               size_t *count);
TTS_NODISCARD enum tts_status tts_space_taken(const struct tts_space *space,
                                              struct tts_block *out, size_t capacity,
                                              size_t *count);

/* Lists the retired ids, the oldest first; the last one is used next. Writes at most `capacity`
 * of them. Returns how many there are. */
size_t tts_space_unused_ids(const struct tts_space *space, uint32_t *out, size_t capacity);

/* A walk over all blocks in the order of their addresses. Begin with a zeroed cursor, and stop
 * when tts_space_next() returns false. After any change of the space the cursor is invalid. */
struct tts_space_cursor {
    uint64_t next_off;            /* offset of the next block in the space */
    uint64_t free_off, free_size; /* the next free block; the size is 0 if there is none */
    uint32_t free_id, prev_id;
    bool started;
};
bool tts_space_next(const struct tts_space *space, struct tts_space_cursor *cursor,
                    struct tts_block *out);

/* Makes a second space in the same state, with the same ids, and its own memory from the same
 * allocator. The caller frees it. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_space_copy(const struct tts_space *space,
                                             struct tts_space **out);
/* Returns true if both spaces have the same configuration and state, so that every later call
 * gives the same result in both. */
bool tts_space_equal(const struct tts_space *a, const struct tts_space *b);

void tts_space_get_config(const struct tts_space *space, struct tts_space_config *out);
/* Returns the bytes of memory that the space holds now, including the struct itself. */
size_t tts_space_memory(const struct tts_space *space);
/* Checks every invariant in O(n). For tests, fuzzers and expensive assertions. */
bool tts_space_is_valid(const struct tts_space *space);
