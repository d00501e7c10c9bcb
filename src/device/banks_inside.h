/* banks_inside.h: what banks are made of; for the files that are the banks. */
#pragma once

#include "base/compiler.h"
#include "device/banks.h"
#include "device/space.h"

/* A block that a take below the limit left behind: taken, and not known to the runtime. */
struct tts_banks_left {
    uint32_t allocator;
    uint64_t address;
};

struct tts_banks {
    struct tts_space *first; /* of allocator 0 */
    /* Allocator 0 has no neighbours, no block was left behind and nobody watches the water:
     * to take and to give is what it is in a bare space. */
    bool is_plain;
    bool is_watched;                /* the water is */
    struct tts_banks_config config; /* without dependencies */
    uint32_t count;                 /* of allocators */
    struct tts_space **spaces;      /* [count] */
    /* The neighbours of allocator i are links[link_begin[i]] .. links[link_begin[i + 1]]. */
    uint32_t *link_begin;        /* [count + 1] */
    uint32_t *links;             /* NULL: nobody has any */
    struct tts_banks_left *left; /* by allocator, then address */
    size_t left_count, left_capacity;
    struct tts_range *busy; /* room for what neighbours hold, used again by every take */
    size_t busy_capacity;
    struct tts_water water;
    const struct tts_alloc *alloc;
};

/* The space in which to take and to give where that is all there is to it; else NULL. The limit
 * must not be above the first address. */
static inline struct tts_space *tts_banks_plain(const struct tts_banks *b)
{
    return TTS_LIKELY(b->is_plain) ? b->first : NULL;
}

static inline bool tts_banks_is_alone(const struct tts_banks *b, uint32_t allocator)
{
    assert(allocator < b->count);
    return b->link_begin[allocator] == b->link_begin[allocator + 1];
}

/* Fills count, links and link_begin from `config`; `b` is zeroed but for its alloc, and is to
 * be freed whatever happens. */
enum tts_status tts_banks_link(struct tts_banks *b, const struct tts_banks_config *config,
                               struct tts_error *err);
/* Whether every link is there both ways, and in order. */
bool tts_banks_links_are_valid(const struct tts_banks *b);

/* tts_banks_take() for an allocator that has neighbours. */
enum tts_status tts_banks_take_between(struct tts_banks *b, const struct tts_banks_wish *take,
                                       uint64_t *address);

/* A copy of the allocator's space in which every block that the runtime knows is given. */
enum tts_status tts_banks_emptied(const struct tts_banks *b, uint32_t allocator,
                                  struct tts_space **out);

/* Joins ranges that overlap or touch; they are sorted by start, and none is empty. Returns how
 * many are left. */
size_t tts_ranges_fuse(struct tts_range *ranges, size_t count);
