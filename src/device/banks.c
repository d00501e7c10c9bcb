#include "device/banks.h"

#include "base/error.h"
#include "base/heap.h"
#include "device/banks_inside.h"
#include "device/space.h"
#include "device/space_state.h"

#include <string.h>

static void release_items(const struct tts_alloc *alloc, void *items, size_t bytes)
{
    if (items)
        alloc->free(alloc->ctx, items, bytes);
}

/* ---- life ---- */

static enum tts_status config_check(const struct tts_banks_config *c, struct tts_error *err)
{
    if (c->page_alignment_bytes == 0 || c->block_alignment_bytes == 0)
        return tts_error_set(err, TTS_E_INVALID, "%s alignment is 0, expected at least 1 byte",
                             c->page_alignment_bytes == 0 ? "page" : "block");
    if (c->banks == 0)
        return tts_error_set(err, TTS_E_INVALID, "the pool has 0 banks, expected at least 1");
    return TTS_OK;
}

static enum tts_status spaces_new(struct tts_banks *b, struct tts_error *err)
{
    const struct tts_space_config config = {.size_bytes = b->config.size_bytes,
                                            .offset_bytes = b->config.offset_bytes,
                                            .min_bytes = b->config.block_alignment_bytes,
                                            .alignment_bytes = b->config.block_alignment_bytes,
                                            .policy = TTS_POLICY_FIRST};
    b->spaces = b->alloc->alloc(b->alloc->ctx, b->count * sizeof(struct tts_space *));
    if (!b->spaces)
        return tts_error_set(err, TTS_E_NOMEM, "cannot create the banks: " TTS_TEXT_NOMEM);
    memset(b->spaces, 0, b->count * sizeof(struct tts_space *));
    for (uint32_t i = 0; i < b->count; i++) {
        enum tts_status status = tts_space_new(&config, b->alloc, &b->spaces[i], err);
        if (status != TTS_OK)
            return status;
    }
    b->first = b->spaces[0];
    return TTS_OK;
}

static bool could_be_plain(const struct tts_banks *b)
{
    return tts_banks_is_alone(b, 0) && b->left_count == 0 && !b->is_watched;
}

static void know_if_plain(struct tts_banks *b)
{
    b->is_plain = could_be_plain(b);
}

enum tts_status tts_banks_new(const struct tts_banks_config *config,
                              const struct tts_alloc *alloc, struct tts_banks **out,
                              struct tts_error *err)
{
    enum tts_status status = config_check(config, err);
    if (status != TTS_OK)
        return status;
    if (!alloc)
        alloc = tts_alloc_libc();
    struct tts_banks *b = alloc->alloc(alloc->ctx, sizeof(*b));
    if (!b)
        return tts_error_set(err, TTS_E_NOMEM, "cannot create the banks: " TTS_TEXT_NOMEM);
    *b = (struct tts_banks){.config = *config, .alloc = alloc};
    b->config.dependencies = NULL; /* the caller owns the dependencies */
    b->config.dependency_count = 0;
    status = tts_banks_link(b, config, err);
    if (status == TTS_OK)
        status = spaces_new(b, err);
    if (status != TTS_OK) {
        tts_banks_free(b);
        return status;
    }
    know_if_plain(b);
    *out = b;
    return TTS_OK;
}

void tts_banks_free(struct tts_banks *b)
{
    if (!b)
        return;
    const struct tts_alloc *alloc = b->alloc;
    for (uint32_t i = 0; b->spaces && i < b->count; i++)
        tts_space_free(b->spaces[i]);
    release_items(alloc, b->spaces, b->count * sizeof(struct tts_space *));
    if (b->links)
        release_items(alloc, b->links, b->link_begin[b->count] * sizeof(*b->links));
    release_items(alloc, b->link_begin, (b->count + (size_t)1) * sizeof(*b->link_begin));
    release_items(alloc, b->left, b->left_capacity * sizeof(*b->left));
    release_items(alloc, b->busy, b->busy_capacity * sizeof(*b->busy));
    alloc->free(alloc->ctx, b, sizeof(*b));
}

/* ---- blocks left behind ---- */

/* Returns the index of a block in the list of blocks left behind. If the list does not have the
 * block, returns the index where it belongs. */
static size_t left_seek(const struct tts_banks *b, uint32_t allocator, uint64_t address)
{
    size_t low = 0, high = b->left_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct tts_banks_left *at = &b->left[mid];
        if (at->allocator < allocator || (at->allocator == allocator && at->address < address))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool left_has(const struct tts_banks *b, uint32_t allocator, uint64_t address)
{
    size_t at = left_seek(b, allocator, address);
    return at < b->left_count && b->left[at].allocator == allocator &&
           b->left[at].address == address;
}

static enum tts_status left_reserve(struct tts_banks *b)
{
    if (b->left_count < b->left_capacity)
        return TTS_OK;
    void *left = tts_alloc_grow(b->alloc, b->left, &b->left_capacity, b->left_count + 1,
                                sizeof(*b->left));
    if (!left)
        return TTS_E_NOMEM;
    b->left = left;
    return TTS_OK;
}

static void left_add(struct tts_banks *b, uint32_t allocator, uint64_t address)
{
    assert(b->left_count < b->left_capacity && !left_has(b, allocator, address));
    size_t at = left_seek(b, allocator, address);
    memmove(&b->left[at + 1], &b->left[at], (b->left_count - at) * sizeof(*b->left));
    b->left[at] = (struct tts_banks_left){allocator, address};
    b->left_count++;
    know_if_plain(b);
}

static void left_drop(struct tts_banks *b, uint32_t allocator, uint64_t address)
{
    if (!left_has(b, allocator, address))
        return;
    size_t at = left_seek(b, allocator, address);
    assert(at < b->left_count);
    b->left_count--;
    memmove(&b->left[at], &b->left[at + 1], (b->left_count - at) * sizeof(*b->left));
    know_if_plain(b);
}

/* ---- taking and giving ---- */

static void raise_to(uint64_t *mark, uint64_t end)
{
    *mark = end > *mark ? end : *mark;
}

static enum tts_status take_alone(struct tts_banks *b, const struct tts_banks_wish *take,
                                  uint64_t *address)
{
    if (take->limit > b->config.offset_bytes && left_reserve(b) != TTS_OK)
        return TTS_E_NOMEM;
    enum tts_status status = tts_space_take(b->spaces[take->allocator], take->bytes,
                                            take->direction, take->limit, address);
    assert(status != TTS_E_BELOW_LIMIT || take->limit > *address);
    if (status == TTS_E_BELOW_LIMIT)
        left_add(b, take->allocator, *address);
    return status;
}

static TTS_COLD enum tts_status
take_otherwise(struct tts_banks *b, const struct tts_banks_wish *take, uint64_t *address)
{
    if (take->allocator >= b->count)
        return TTS_E_INVALID;
    enum tts_status status = tts_banks_is_alone(b, take->allocator)
                                 ? take_alone(b, take, address)
                                 : tts_banks_take_between(b, take, address);
    if (status == TTS_OK && b->is_watched)
        raise_to(&b->water.taken_end, *address + take->bytes);
    tts_assert_expensive(tts_banks_is_valid(b));
    return status;
}

enum tts_status tts_banks_take(struct tts_banks *b, const struct tts_banks_wish *take,
                               uint64_t *address)
{
    /* A limit at or below the first address has no effect. */
    if (TTS_LIKELY(b->is_plain && take->allocator == 0 &&
                   take->limit <= b->config.offset_bytes))
        return tts_space_take(b->first, take->bytes, take->direction, 0, address);
    return take_otherwise(b, take, address);
}

enum tts_status tts_banks_take_at(struct tts_banks *b, uint32_t allocator, uint64_t address,
                                  uint64_t bytes)
{
    if (allocator >= b->count)
        return TTS_E_INVALID;
    enum tts_status status = tts_space_take_at(b->spaces[allocator], address, bytes);
    if (status == TTS_OK && b->is_watched)
        raise_to(&b->water.taken_end, address + bytes);
    return status;
}

static TTS_COLD enum tts_status give_otherwise(struct tts_banks *b, uint32_t allocator,
                                               uint64_t address)
{
    if (allocator >= b->count)
        return TTS_E_INVALID;
    uint64_t bytes = 0;
    enum tts_status status = tts_space_size_at(b->spaces[allocator], address, &bytes);
    if (status == TTS_OK)
        status = tts_space_give(b->spaces[allocator], address);
    if (status != TTS_OK)
        return status;
    left_drop(b, allocator, address);
    if (b->is_watched)
        raise_to(&b->water.given_end, address + bytes);
    return TTS_OK;
}

enum tts_status tts_banks_give(struct tts_banks *b, uint32_t allocator, uint64_t address)
{
    if (TTS_LIKELY(b->is_plain && allocator == 0))
        return tts_space_give(b->first, address);
    return give_otherwise(b, allocator, address);
}

/* ---- all at once ---- */

enum tts_status tts_banks_emptied(const struct tts_banks *b, uint32_t allocator,
                                  struct tts_space **out)
{
    assert(allocator < b->count);
    struct tts_space *copy = NULL;
    enum tts_status status = tts_space_copy(b->spaces[allocator], &copy);
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    while (status == TTS_OK && tts_space_next(b->spaces[allocator], &cursor, &block)) {
        if (block.taken && !left_has(b, allocator, block.address))
            status = tts_space_give(copy, block.address);
    }
    if (status != TTS_OK) {
        tts_space_free(copy);
        return status;
    }
    *out = copy;
    return TTS_OK;
}

/* Giving a block back may need memory. So the blocks are first given back in copies of the
 * spaces: then either all blocks are given back or none. */
enum tts_status tts_banks_give_all(struct tts_banks *b)
{
    const size_t bytes = b->count * sizeof(struct tts_space *);
    struct tts_space **emptied = b->alloc->alloc(b->alloc->ctx, bytes);
    if (!emptied)
        return TTS_E_NOMEM;
    memset(emptied, 0, bytes);
    enum tts_status status = TTS_OK;
    for (uint32_t i = 0; status == TTS_OK && i < b->count; i++) {
        struct tts_space_stats stats;
        tts_space_get_stats(b->spaces[i], &stats);
        if (stats.taken_blocks > 0)
            status = tts_banks_emptied(b, i, &emptied[i]);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        if (status == TTS_OK && emptied[i])
            tts_space_swap(b->spaces[i], emptied[i]);
        tts_space_free(emptied[i]);
    }
    b->alloc->free(b->alloc->ctx, emptied, bytes);
    tts_assert_expensive(tts_banks_is_valid(b));
    return status;
}

void tts_banks_clear(struct tts_banks *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        tts_space_clear(b->spaces[i]);
    b->left_count = 0;
    know_if_plain(b);
    tts_assert_expensive(tts_banks_is_valid(b));
}

enum tts_status tts_banks_shrink(struct tts_banks *b, uint64_t bytes)
{
    return b->count > 1 ? TTS_E_INVALID : tts_space_shrink(b->first, bytes);
}

enum tts_status tts_banks_unshrink(struct tts_banks *b)
{
    return b->count > 1 ? TTS_E_INVALID : tts_space_unshrink(b->first);
}

void tts_banks_water_begin(struct tts_banks *b)
{
    b->water = (struct tts_water){0};
    b->is_watched = true;
    know_if_plain(b);
}

struct tts_water tts_banks_water_end(struct tts_banks *b)
{
    b->is_watched = false;
    know_if_plain(b);
    return b->water;
}

/* ---- queries ---- */

uint32_t tts_banks_allocators(const struct tts_banks *b)
{
    return b->count;
}

const uint32_t *tts_banks_neighbours(const struct tts_banks *b, uint32_t allocator,
                                     size_t *count)
{
    *count = 0;
    if (allocator >= b->count || tts_banks_is_alone(b, allocator))
        return NULL;
    uint32_t begin = b->link_begin[allocator];
    *count = b->link_begin[allocator + 1] - begin;
    return &b->links[begin];
}

const struct tts_space *tts_banks_space(const struct tts_banks *b, uint32_t allocator)
{
    return allocator < b->count ? b->spaces[allocator] : NULL;
}

bool tts_banks_lowest(const struct tts_banks *b, uint32_t allocator, uint64_t *address)
{
    return allocator < b->count && tts_space_lowest_reported(b->spaces[allocator], address);
}

/* Checks that the list of blocks left behind is sorted, that each block in it is taken, and
 * that none belongs to an allocator with neighbours: there no block lies below the limit. */
static bool left_is_valid(const struct tts_banks *b)
{
    for (size_t i = 0; i < b->left_count; i++) {
        const struct tts_banks_left *at = &b->left[i];
        uint64_t bytes;
        if (at->allocator >= b->count || !tts_banks_is_alone(b, at->allocator) ||
            tts_space_size_at(b->spaces[at->allocator], at->address, &bytes) != TTS_OK ||
            left_seek(b, at->allocator, at->address) != i)
            return false;
    }
    return b->left_count <= b->left_capacity;
}

bool tts_banks_is_valid(const struct tts_banks *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        if (!tts_space_is_valid(b->spaces[i]))
            return false;
    }
    return b->first == b->spaces[0] && b->is_plain == could_be_plain(b) && left_is_valid(b) &&
           tts_banks_links_are_valid(b);
}
