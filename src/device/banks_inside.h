/* banks_inside.h: the parts of the banks. Only for the device room. */
#pragma once

#include "base/compiler.h"
#include "device/banks.h"
#include "device/space.h"

/* A block that a take below the limit left behind. It is taken, but the runtime does not know
 * it. */
struct tts_banks_left {
    uint32_t allocator;
    uint64_t address;
};

struct tts_banks {
    struct tts_space *first; /* space of allocator 0 */
    /* Allocator 0 has no neighbours, no block was left behind and no high-water mark is
     * watched. Then taking and giving work as in the space itself. */
    bool is_plain;
    bool is_watched; /* between tts_banks_water_begin() and tts_banks_water_end() */
    struct tts_banks_config config; /* without dependencies */
    uint32_t count;                 /* number of allocators */
    struct tts_space **spaces;      /* [count] */
    /* The neighbours of allocator i are links[link_begin[i]] to links[link_begin[i + 1] -
     * 1]. */
    uint32_t *link_begin;        /* [count + 1] */
    uint32_t *links;             /* NULL: no allocator has neighbours */
    struct tts_banks_left *left; /* ordered by allocator, then address */
    size_t left_count, left_capacity;
    struct tts_range *busy; /* room for the ranges of neighbours; every take reuses it */
    size_t busy_capacity;
    struct tts_water water;
    const struct tts_alloc *alloc;
};

/* Returns the space in which to take and give if nothing else has to be done, otherwise NULL.
 * The limit must not be above the first address. */
static inline struct tts_space *tts_banks_plain(const struct tts_banks *b)
{
    return TTS_LIKELY(b->is_plain) ? b->first : NULL;
}

static inline bool tts_banks_is_alone(const struct tts_banks *b, uint32_t allocator)
{
    assert(allocator < b->count);
    return b->link_begin[allocator] == b->link_begin[allocator + 1];
}

/* Fills count, links and link_begin from `config`. `b` is zeroed except `alloc`. The caller
 * frees `b` even after a failure. */
enum tts_status tts_banks_link(struct tts_banks *b, const struct tts_banks_config *config,
                               struct tts_error *err);
/* Checks that every link exists in both directions, and that links are sorted. */
bool tts_banks_links_are_valid(const struct tts_banks *b);

/* Implements tts_banks_take() for an allocator that has neighbours. */
enum tts_status tts_banks_take_between(struct tts_banks *b, const struct tts_banks_wish *take,
                                       uint64_t *address);

/* Copies the allocator's space and gives back every block that the runtime knows. The caller
 * frees *out. */
enum tts_status tts_banks_emptied(const struct tts_banks *b, uint32_t allocator,
                                  struct tts_space **out);

/* Joins ranges that overlap or touch. The ranges must be sorted by start and not empty. Returns
 * how many are left. */
size_t tts_ranges_fuse(struct tts_range *ranges, size_t count);
