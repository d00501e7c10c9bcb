/* banks_inside.h: the parts of the banks. Only for the device room. */
#pragma once

#include "base/compiler.h"
#include "device/banks.h"
#include "device/space.h"

/* A block that was left behind: a take returned TTS_E_BELOW_LIMIT and the block is still taken,
 * but the runtime does not know it. */
struct tts_banks_left {
    uint32_t allocator;
    uint64_t address;
};

struct tts_banks {
    struct tts_space *first; /* space of allocator 0 */
    /* True if allocator 0 has no neighbours, no block was left behind and no high-water mark is
     * watched. Then taking and giving need nothing but the space. */
    bool is_plain;
    bool is_watched; /* between tts_banks_water_begin() and tts_banks_water_end() */
    struct tts_banks_config config; /* without dependencies */
    uint32_t count;                 /* number of allocators */
    struct tts_space **spaces;      /* array of `count` spaces */
    /* The neighbours of allocator i are links[link_begin[i]] to links[link_begin[i + 1] -
     * 1]. */
    uint32_t *link_begin;        /* array of `count` + 1 indices */
    uint32_t *links;             /* NULL if no allocator has neighbours */
    struct tts_banks_left *left; /* sorted by allocator, then by address */
    size_t left_count, left_capacity;
    struct tts_range *busy; /* room for the ranges of neighbours; reused by every take */
    size_t busy_capacity;
    struct tts_water water;
    const struct tts_alloc *alloc;
};

/* Returns the space if taking and giving need nothing but the space, otherwise NULL. For a
 * take, the limit must not be above the first address. */
static inline struct tts_space *tts_banks_plain(const struct tts_banks *b)
{
    return TTS_LIKELY(b->is_plain) ? b->first : NULL;
}

static inline bool tts_banks_is_alone(const struct tts_banks *b, uint32_t allocator)
{
    assert(allocator < b->count);
    return b->link_begin[allocator] == b->link_begin[allocator + 1];
}

/* Sets count, links and link_begin from `config`. `b` must be all zero except `alloc`. Even
 * after a failure the caller must free `b`. */
enum tts_status tts_banks_link(struct tts_banks *b, const struct tts_banks_config *config,
                               struct tts_error *err);
/* Returns true if every link exists in both directions and links are sorted. */
bool tts_banks_links_are_valid(const struct tts_banks *b);

/* Implements tts_banks_take() for an allocator that has neighbours. */
enum tts_status tts_banks_take_between(struct tts_banks *b, const struct tts_banks_wish *take,
                                       uint64_t *address);

/* Copies the space of an allocator to *out and gives back every block in the copy, except
 * blocks left behind. The caller frees *out. */
enum tts_status tts_banks_emptied(const struct tts_banks *b, uint32_t allocator,
                                  struct tts_space **out);

/* Joins ranges that overlap or touch. The ranges must be sorted by start, and none may be
 * empty. Returns the number of ranges left. */
size_t tts_ranges_fuse(struct tts_range *ranges, size_t count);
