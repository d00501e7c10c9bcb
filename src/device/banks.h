/* banks.h: the banks of one pool, allocated in lockstep, as the runtime's bank manager does it.
 *
 * One space stands for all banks: every bank gives up the same range for every buffer. There
 * may be several allocators over the same addresses, with a graph of which may not overlap
 * which; most pools have one. Addresses are absolute. The rules are in docs/design/banks.md.
 * A call that fails leaves the banks as they were, except after TTS_E_BELOW_LIMIT.
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

enum { TTS_ALLOCATORS_MAX = 4097 }; /* one for each core, and one for all */

/* Allocator `of` may not overlap those in `on`, nor they it. */
struct tts_dependency {
    uint32_t of;
    const uint32_t *on;
    size_t count;
};

struct tts_banks_config {
    uint64_t size_bytes, offset_bytes; /* of the address space that the banks share */
    uint64_t page_alignment_bytes;     /* with dependencies an address must be a multiple */
    uint64_t block_alignment_bytes;    /* of every block, and its smallest size */
    uint32_t banks;                    /* 1 .. */
    uint64_t limit;                    /* address limit; kept for state, see take */
    const struct tts_dependency *dependencies; /* none: one independent allocator */
    size_t dependency_count; /* ids up to the largest that is mentioned exist */
};

struct tts_banks;

/* `alloc` NULL means the C library's. TTS_E_INVALID (an id twice in one list, itself in its
 * list, an alignment of 0, no bank), TTS_E_RANGE, TTS_E_NOMEM: err says what. */
TTS_NODISCARD enum tts_status tts_banks_new(const struct tts_banks_config *config,
                                            const struct tts_alloc *alloc,
                                            struct tts_banks **out, struct tts_error *err);
void tts_banks_free(struct tts_banks *banks); /* NULL is fine */

uint32_t tts_banks_allocators(const struct tts_banks *banks);
/* The neighbours of an allocator in ascending order; *count of them, borrowed for life. NULL
 * and 0: it has none, or is none. */
const uint32_t *tts_banks_neighbours(const struct tts_banks *banks, uint32_t allocator,
                                     size_t *count);
/* The space of an allocator, to ask; borrowed for life. NULL: there is no such allocator. */
const struct tts_space *tts_banks_space(const struct tts_banks *banks, uint32_t allocator);

/* Take `bytes` of every bank. `limit` 0 is none. With neighbours the limit steers, and ranges
 * that they hold, or that are in `taken` (any order, may overlap), are left out; without, it
 * fails after the fact, as in the reference, and `taken` is not looked at. TTS_E_FULL.
 * TTS_E_BELOW_LIMIT (*address is written, the block stays taken). TTS_E_INVALID: no such
 * allocator, or (with neighbours) the address that came out is not aligned to a page, or the
 * rounded block does not fit there, which the runtime does not survive. TTS_E_NOMEM. */
struct tts_banks_wish {
    uint32_t allocator;
    enum tts_direction direction;
    uint64_t bytes, limit;
    const struct tts_range *taken; /* of others, e.g. other chips of a mesh */
    size_t taken_count;
};
TTS_NODISCARD enum tts_status
tts_banks_take(struct tts_banks *banks, const struct tts_banks_wish *take, uint64_t *address);

/* Exactly there. TTS_E_FULL when it is not wholly free in this allocator; neighbours are not
 * asked. TTS_E_INVALID: no such allocator. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_banks_take_at(struct tts_banks *banks, uint32_t allocator,
                                                uint64_t address, uint64_t bytes);

/* TTS_E_NOT_FOUND, harmless, when no block of the allocator starts there. TTS_E_INVALID: no
 * such allocator. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_banks_give(struct tts_banks *banks, uint32_t allocator,
                                             uint64_t address);

/* Gives back every block that was handed out; those that a take below the limit left behind
 * stay (the runtime never learned of them). TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_banks_give_all(struct tts_banks *banks);

/* All spaces free again, shrinks undone. */
void tts_banks_clear(struct tts_banks *banks);

/* As tts_space_shrink(); TTS_E_INVALID with more than one allocator. */
TTS_NODISCARD enum tts_status tts_banks_shrink(struct tts_banks *banks, uint64_t bytes);
TTS_NODISCARD enum tts_status tts_banks_unshrink(struct tts_banks *banks);

/* The lowest taken address of an allocator as the runtime reports it. False: none. */
bool tts_banks_lowest(const struct tts_banks *banks, uint32_t allocator, uint64_t *address);

/* ---- high-water mark ---- */

/* From begin to end: the highest end of what was taken (not rounded) and of what was given back
 * (rounded), in all allocators; giving all and an override do not count, nor does a block that
 * is left behind. Begin again starts over; not nested. */
struct tts_water {
    uint64_t taken_end, given_end; /* 0: nothing was */
};
void tts_banks_water_begin(struct tts_banks *banks);
struct tts_water tts_banks_water_end(struct tts_banks *banks);

/* ---- state ---- */

/* What is taken in allocator 0, sorted, with overlapping and adjacent ranges fused, and what
 * must be equal before two can be merged. */
struct tts_banks_state {
    struct tts_banks_config config; /* without dependencies; of what shrinks left of the size */
    struct tts_range *ranges;
    size_t count, capacity;
    const struct tts_alloc *alloc;
};

/* `out` is a zeroed or a used state; memory is its own alloc's, or that of the banks.
 * TTS_E_NOMEM leaves it as it was. */
TTS_NODISCARD enum tts_status tts_banks_extract(const struct tts_banks *banks,
                                                struct tts_banks_state *out);
/* Adds what `from` has. TTS_E_INVALID: of another pool. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_banks_state_merge(struct tts_banks_state *into,
                                                    const struct tts_banks_state *from);
/* Adds one range, as from a list of buffers; an empty one is none. TTS_E_INVALID: it ends
 * before it starts. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_banks_state_add(struct tts_banks_state *state,
                                                  struct tts_range range);
/* Gives back what allocator 0 handed out, then takes each range of the state there as one
 * block; other allocators are left alone. TTS_E_INVALID: of another pool. TTS_E_FULL: a range
 * cannot be taken, as a block that was left behind is in its way or it is not in the pool.
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_banks_override(struct tts_banks *banks,
                                                 const struct tts_banks_state *state);
void tts_banks_state_release(struct tts_banks_state *state); /* zeroed then */

/* Checks every invariant: O(n). */
bool tts_banks_is_valid(const struct tts_banks *banks);
