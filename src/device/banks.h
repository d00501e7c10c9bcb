/* banks.h: the banks of one pool, allocated in lockstep, like in the runtime's bank manager.
 *
 * One space stands for all banks: every bank gives up the same range for every buffer. Several
 * allocators may share the same addresses; a graph says which of them may not overlap. Most
 * pools have one allocator. Addresses are absolute. The rules are in docs/design/banks.md. A
 * call that fails leaves the banks unchanged, except after TTS_E_BELOW_LIMIT.
 *
 * Threads: one thread at a time for each set of banks. Two threads may use two of them at once.
 * Signals: no function here may be called in a signal handler, because each can allocate.
 * Fork: the child has its own copy of every set of banks and may use and free the copy.
 *
 * Example:
 *     struct tts_banks_config config = {.size_bytes = 1 << 20, .page_alignment_bytes = 32,
 *                                       .block_alignment_bytes = 32, .banks = 12};
 *     struct tts_banks_wish wish = {.direction = TTS_DIRECTION_UP, .bytes = 4096};
 *     struct tts_banks *banks;
 *     struct tts_error err;
 *     uint64_t address;
 *     if (tts_banks_new(&config, NULL, &banks, &err) != TTS_OK)
 *         return 1; // err.text says why
 *     if (tts_banks_take(banks, &wish, &address) == TTS_OK)
 *         printf("4096 bytes of each of 12 banks, at %llu\n", (unsigned long long)address);
 *     tts_banks_free(banks); */
#pragma once

#include "device/space.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTS_ALLOCATORS_MAX = 4097 }; /* one for each core, and one for all cores together */

/* Allocator `of` and the allocators in the list `on` must not overlap. */
struct tts_dependency {
    uint32_t of;
    const uint32_t *on;
    size_t count;
};

struct tts_banks_config {
    uint64_t size_bytes, offset_bytes; /* the address space that all banks share */
    /* For allocators with dependencies, every address must be a multiple of this value. */
    uint64_t page_alignment_bytes;
    uint64_t block_alignment_bytes; /* alignment of every block, and smallest block size */
    uint32_t banks;                 /* at least 1 */
    uint64_t limit; /* copied to the state only; a request has its own limit (tts_banks_wish) */
    /* NULL: there is one allocator, without dependencies. */
    const struct tts_dependency *dependencies;
    size_t dependency_count; /* every id up to the largest one in the lists is an allocator */
};

struct tts_banks;

/* Makes the banks of a pool. The caller frees them. If `alloc` is NULL, the C library's
 * allocator is used. TTS_E_INVALID: a list names an id twice or the allocator itself, an
 * alignment is 0, or there is no bank. TTS_E_RANGE: the size is out of range. TTS_E_NOMEM: out
 * of memory. `err` says which. */
TTS_NODISCARD enum tts_status tts_banks_new(const struct tts_banks_config *config,
                                            const struct tts_alloc *alloc,
                                            struct tts_banks **out, struct tts_error *err);
void tts_banks_free(struct tts_banks *banks); /* NULL is allowed */

uint32_t tts_banks_allocators(const struct tts_banks *banks);
/* Returns the neighbours of an allocator (the allocators it must not overlap) in ascending
 * order, and sets *count to their number. Valid until the banks are freed. Returns NULL and 0
 * if there are no neighbours or no such allocator. */
const uint32_t *tts_banks_neighbours(const struct tts_banks *banks, uint32_t allocator,
                                     size_t *count);
/* Returns the space of an allocator, for queries; NULL if there is no such allocator. Valid
 * until the banks are freed. */
const struct tts_space *tts_banks_space(const struct tts_banks *banks, uint32_t allocator);

/* A request for `bytes` of every bank. A `limit` of 0 means that there is no limit.
 *
 * For an allocator with neighbours, only addresses from the limit on are considered. Ranges
 * that neighbours hold, and ranges in `taken` (in any order; they may overlap), are avoided.
 * For an allocator without neighbours, the limit is checked after the block was taken, as in
 * the runtime's allocator, and `taken` is ignored.
 *
 * tts_banks_take() returns:
 * TTS_E_FULL: no free range is large enough.
 * TTS_E_BELOW_LIMIT: the block lies below the limit. *address is written, and the block stays
 * taken.
 * TTS_E_INVALID: there is no such allocator. With neighbours also: the chosen address is not
 * aligned to a page, or the rounded block does not fit there. The runtime crashes in these two
 * cases.
 * TTS_E_NOMEM: out of memory. */
struct tts_banks_wish {
    uint32_t allocator;
    enum tts_direction direction;
    uint64_t bytes, limit;
    /* Ranges that are held elsewhere, for example on other chips of a mesh. */
    const struct tts_range *taken;
    size_t taken_count;
};
TTS_NODISCARD enum tts_status
tts_banks_take(struct tts_banks *banks, const struct tts_banks_wish *take, uint64_t *address);

/* Takes a block at exactly this address. Does not check neighbours. TTS_E_FULL: a part of the
 * range is not free in this allocator. TTS_E_INVALID: there is no such allocator. TTS_E_NOMEM:
 * out of memory. */
TTS_NODISCARD enum tts_status tts_banks_take_at(struct tts_banks *banks, uint32_t allocator,
                                                uint64_t address, uint64_t bytes);

/* Gives a block back. TTS_E_NOT_FOUND: no block of the allocator begins at this address;
 * nothing changes. TTS_E_INVALID: there is no such allocator. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_banks_give(struct tts_banks *banks, uint32_t allocator,
                                             uint64_t address);

/* Gives back every block whose address was returned with TTS_OK. Blocks that were left behind
 * (still taken after TTS_E_BELOW_LIMIT) stay taken, because the runtime does not know them.
 * TTS_E_NOMEM: out of memory, and nothing changes. */
TTS_NODISCARD enum tts_status tts_banks_give_all(struct tts_banks *banks);

/* Makes every space one free block and undoes all shrinks. */
void tts_banks_clear(struct tts_banks *banks);

/* Like tts_space_shrink() and tts_space_unshrink(), for the only allocator. TTS_E_INVALID:
 * there is more than one allocator. */
TTS_NODISCARD enum tts_status tts_banks_shrink(struct tts_banks *banks, uint64_t bytes);
TTS_NODISCARD enum tts_status tts_banks_unshrink(struct tts_banks *banks);

/* Sets *address to the lowest taken address of an allocator, as the runtime reports it. Returns
 * false if there is none. */
bool tts_banks_lowest(const struct tts_banks *banks, uint32_t allocator, uint64_t *address);

/* ---- high-water mark ---- */

/* The high-water mark between tts_banks_water_begin() and tts_banks_water_end(), over all
 * allocators: the highest end of a block that was taken (before rounding up) and of a block
 * that was given back (after rounding up). tts_banks_give_all(), tts_banks_override() and
 * blocks left behind (still taken after TTS_E_BELOW_LIMIT) do not count. A second begin starts
 * a new mark; marks do not nest. */
struct tts_water {
    uint64_t taken_end, given_end; /* 0 if there was no such block */
};
void tts_banks_water_begin(struct tts_banks *banks);
struct tts_water tts_banks_water_end(struct tts_banks *banks);

/* ---- state ---- */

/* The taken ranges of allocator 0, in ascending order, with overlapping and adjacent ranges
 * joined. Two states can be merged only if their `config` is equal. */
struct tts_banks_state {
    struct tts_banks_config config; /* has no dependencies; its size excludes the part that was
                                       cut off by a shrink */
    struct tts_range *ranges;
    size_t count, capacity;
    const struct tts_alloc *alloc;
};

/* Writes the state of the banks to *out, which must be all zero or hold an older state. A state
 * that is all zero gets the allocator of the banks for its memory. The caller releases the
 * state. TTS_E_NOMEM: *out is unchanged. */
TTS_NODISCARD enum tts_status tts_banks_extract(const struct tts_banks *banks,
                                                struct tts_banks_state *out);
/* Adds the ranges of `from`. TTS_E_INVALID: `from` belongs to a different pool. TTS_E_NOMEM:
 * out of memory. */
TTS_NODISCARD enum tts_status tts_banks_state_merge(struct tts_banks_state *into,
                                                    const struct tts_banks_state *from);
/* Adds one range, for example from a list of buffers. An empty range is ignored. TTS_E_INVALID:
 * the range ends before it starts. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_banks_state_add(struct tts_banks_state *state,
                                                  struct tts_range range);
/* Gives back all blocks of allocator 0 except those left behind, then takes each range of the
 * state as one block. Other allocators do not change. TTS_E_INVALID: the state belongs to a
 * different pool. TTS_E_FULL: a range overlaps a block that was left behind, or lies outside
 * the pool. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_banks_override(struct tts_banks *banks,
                                                 const struct tts_banks_state *state);
/* Frees the ranges. *state is all zero afterwards. */
void tts_banks_state_release(struct tts_banks_state *state);

/* Checks every invariant in O(n). */
bool tts_banks_is_valid(const struct tts_banks *banks);
