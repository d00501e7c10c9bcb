#include "base/error.h"
#include "base/heap.h"
#include "device/banks_inside.h"
#include "device/space.h"
#include "device/space_state.h"

#include <string.h>

/* ---- dependencies ---- */

/* One bit for each pair of allocators, set if they must not overlap. The last row marks the ids
 * of the list that is being read. */
struct pairs {
    uint64_t *bits;
    size_t row_words, bytes;
    uint32_t count;
};

static uint64_t *row_of(const struct pairs *p, uint32_t of)
{
    assert(of <= p->count);
    return &p->bits[of * p->row_words];
}

static bool is_set(const uint64_t *row, uint32_t id)
{
    return row[id / 64] >> id % 64 & 1;
}

static void set(uint64_t *row, uint32_t id)
{
    row[id / 64] |= UINT64_C(1) << id % 64;
}

static enum tts_status link_one(struct pairs *p, const struct tts_dependency *d,
                                struct tts_error *err)
{
    uint64_t *seen = row_of(p, p->count);
    memset(seen, 0, p->row_words * sizeof(*seen));
    for (size_t i = 0; i < d->count; i++) {
        uint32_t on = d->on[i];
        if (on == d->of)
            return tts_error_set(err, TTS_E_INVALID, "allocator %u depends on itself", on);
        if (is_set(seen, on))
            return tts_error_set(err, TTS_E_INVALID,
                                 "allocator %u depends on allocator %u twice", d->of, on);
        set(seen, on);
        set(row_of(p, d->of), on);
        set(row_of(p, on), d->of);
    }
    return TTS_OK;
}

static uint32_t largest_id(const struct tts_banks_config *c)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < c->dependency_count; i++) {
        const struct tts_dependency *d = &c->dependencies[i];
        largest = d->of > largest ? d->of : largest;
        for (size_t k = 0; k < d->count && largest < TTS_ALLOCATORS_MAX; k++)
            largest = d->on[k] > largest ? d->on[k] : largest;
    }
    return largest;
}

static enum tts_status links_new(struct tts_banks *b, const struct pairs *p)
{
    const struct tts_alloc *alloc = b->alloc;
    size_t total = 0;
    for (size_t i = 0; i < p->count * p->row_words; i++)
        total += (size_t)__builtin_popcountll(p->bits[i]);
    b->link_begin = alloc->alloc(alloc->ctx, (p->count + (size_t)1) * sizeof(uint32_t));
    if (!b->link_begin)
        return TTS_E_NOMEM;
    b->count = p->count;
    /* Every link is stored in both directions. */
    assert(total % 2 == 0 && total <= UINT32_MAX);
    memset(b->link_begin, 0, (p->count + (size_t)1) * sizeof(uint32_t));
    if (total == 0)
        return TTS_OK;
    b->links = alloc->alloc(alloc->ctx, total * sizeof(uint32_t));
    b->link_begin[p->count] = (uint32_t)total;
    return b->links ? TTS_OK : TTS_E_NOMEM;
}

static void links_fill(struct tts_banks *b, const struct pairs *p)
{
    uint32_t at = 0;
    for (uint32_t of = 0; of < p->count; of++) {
        b->link_begin[of] = at;
        for (uint32_t on = 0; on < p->count; on++) {
            if (is_set(row_of(p, of), on))
                b->links[at++] = on;
        }
    }
    assert(at == b->link_begin[p->count]);
}

enum tts_status tts_banks_link(struct tts_banks *b, const struct tts_banks_config *config,
                               struct tts_error *err)
{
    uint32_t largest = largest_id(config);
    if (largest >= TTS_ALLOCATORS_MAX)
        return tts_error_set(err, TTS_E_RANGE, "allocator number is %u, expected at most %u",
                             largest, (unsigned)TTS_ALLOCATORS_MAX - 1);
    struct pairs pairs = {.count = largest + 1, .row_words = largest / 64 + 1};
    pairs.bytes = (pairs.count + (size_t)1) * pairs.row_words * sizeof(*pairs.bits);
    pairs.bits = b->alloc->alloc(b->alloc->ctx, pairs.bytes);
    if (!pairs.bits)
        return tts_error_set(err, TTS_E_NOMEM, "cannot create the banks: " TTS_TEXT_NOMEM);
    memset(pairs.bits, 0, pairs.bytes);
    enum tts_status status = TTS_OK;
    for (size_t i = 0; status == TTS_OK && i < config->dependency_count; i++)
        status = link_one(&pairs, &config->dependencies[i], err);
    if (status == TTS_OK) {
        status = links_new(b, &pairs);
        if (status == TTS_OK)
            links_fill(b, &pairs);
        else
            tts_error_set(err, status, "cannot create the banks: " TTS_TEXT_NOMEM);
    }
    b->alloc->free(b->alloc->ctx, pairs.bits, pairs.bytes);
    return status;
}

static bool has_link(const struct tts_banks *b, uint32_t of, uint32_t on)
{
    for (uint32_t i = b->link_begin[of]; i < b->link_begin[of + 1]; i++) {
        if (b->links[i] == on)
            return true;
    }
    return false;
}

bool tts_banks_links_are_valid(const struct tts_banks *b)
{
    for (uint32_t of = 0; of < b->count; of++) {
        uint32_t begin = b->link_begin[of];
        for (uint32_t i = begin; i < b->link_begin[of + 1]; i++) {
            uint32_t on = b->links[i];
            if (on >= b->count || on == of || (i > begin && b->links[i - 1] >= on) ||
                !has_link(b, on, of))
                return false;
        }
    }
    return b->link_begin[0] == 0;
}

/* ---- busy ranges ---- */

static bool is_sorted(const struct tts_range *ranges, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (ranges[i].start < ranges[i - 1].start)
            return false;
    }
    return true;
}

/* Moves ranges[root] down to its place in the heap, whose largest start is at the top. */
static void sift(struct tts_range *ranges, size_t root, size_t count)
{
    const struct tts_range down = ranges[root];
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && ranges[child + 1].start > ranges[child].start)
            child++;
        if (ranges[child].start <= down.start)
            break;
        ranges[root] = ranges[child];
    }
    ranges[root] = down;
}

/* Sorts ranges by start, in place. Not by qsort(), because qsort() may allocate memory. The
 * ranges of a single neighbour are sorted already. */
static void sort(struct tts_range *ranges, size_t count)
{
    if (is_sorted(ranges, count))
        return;
    for (size_t i = count / 2; i > 0; i--)
        sift(ranges, i - 1, count);
    for (size_t last = count - 1; last > 0; last--) {
        struct tts_range largest = ranges[0];
        ranges[0] = ranges[last];
        ranges[last] = largest;
        sift(ranges, 0, last);
    }
    assert(is_sorted(ranges, count));
}

static enum tts_status busy_reserve(struct tts_banks *b, const struct tts_banks_wish *take)
{
    size_t needed = take->taken_count;
    for (uint32_t i = b->link_begin[take->allocator]; i < b->link_begin[take->allocator + 1];
         i++) {
        struct tts_space_stats stats;
        tts_space_get_stats(b->spaces[b->links[i]], &stats);
        if (__builtin_add_overflow(needed, stats.taken_blocks, &needed))
            return TTS_E_NOMEM;
    }
    if (needed <= b->busy_capacity)
        return TTS_OK;
    void *busy = tts_alloc_grow(b->alloc, b->busy, &b->busy_capacity, needed, sizeof(*b->busy));
    if (!busy)
        return TTS_E_NOMEM;
    b->busy = busy;
    return TTS_OK;
}

/* Writes the taken ranges of a space to `out` and returns their number. Adjacent blocks become
 * one range, so that there is less to sort. */
static size_t add_taken(const struct tts_space *space, struct tts_range *out)
{
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    size_t count = 0;
    while (tts_space_next(space, &cursor, &block)) {
        uint64_t end = block.address + block.size_bytes;
        if (!block.taken)
            continue;
        if (count > 0 && out[count - 1].end == block.address)
            out[count - 1].end = end;
        else
            out[count++] = (struct tts_range){block.address, end};
    }
    return count;
}

/* Collects the ranges that neighbours or the caller hold in b->busy, sorted and joined. Returns
 * their number. The room for them must have been reserved. */
static size_t busy_gather(struct tts_banks *b, const struct tts_banks_wish *take)
{
    size_t count = 0;
    if (!b->busy)
        return 0; /* nothing was reserved, because there is no range */
    for (uint32_t i = b->link_begin[take->allocator]; i < b->link_begin[take->allocator + 1];
         i++)
        count += add_taken(b->spaces[b->links[i]], &b->busy[count]);
    for (size_t i = 0; i < take->taken_count; i++) {
        if (take->taken[i].start < take->taken[i].end)
            b->busy[count++] = take->taken[i];
    }
    assert(count <= b->busy_capacity);
    sort(b->busy, count);
    return tts_ranges_fuse(b->busy, count);
}

/* ---- searching the rest ---- */

struct search {
    const struct tts_banks_wish *take;
    const struct tts_range *busy; /* the ranges to avoid, sorted and joined */
    size_t busy_count, busy_idx;  /* ranges before busy_idx end below all later gaps */
    bool found;
    uint64_t address;
};

/* Tries one gap. Upwards, the first gap that is large enough is chosen; downwards, the last
 * one. */
static void try_gap(struct search *s, uint64_t start, uint64_t end)
{
    if (start >= end || end - start < s->take->bytes)
        return;
    if (s->take->direction == TTS_DIRECTION_DOWN)
        s->address = end - s->take->bytes;
    else if (!s->found)
        s->address = start;
    s->found = true;
}

/* Tries the parts of the free block [start, end) that no busy range covers. */
static void try_free(struct search *s, uint64_t start, uint64_t end)
{
    assert(start < end);
    for (; s->busy_idx < s->busy_count; s->busy_idx++) {
        const struct tts_range *busy = &s->busy[s->busy_idx];
        if (busy->start >= end)
            break;
        try_gap(s, start, busy->start);
        start = busy->end > start ? busy->end : start;
        if (start >= end)
            return; /* the range at busy_idx may also reach into the next free block */
    }
    try_gap(s, start, end);
}

static void try_all(struct search *s, const struct tts_space *space)
{
    const uint64_t need = tts_space_rounded(space, s->take->bytes), limit = s->take->limit;
    const bool first_wins = s->take->direction == TTS_DIRECTION_UP;
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    while (!(first_wins && s->found) && tts_space_next(space, &cursor, &block)) {
        uint64_t end = block.address + block.size_bytes;
        if (!block.taken && block.size_bytes >= need && end > limit)
            try_free(s, block.address > limit ? block.address : limit, end);
    }
}

enum tts_status tts_banks_take_between(struct tts_banks *b, const struct tts_banks_wish *take,
                                       uint64_t *address)
{
    assert(!tts_banks_is_alone(b, take->allocator));
    struct tts_space *space = b->spaces[take->allocator];
    if (busy_reserve(b, take) != TTS_OK)
        return TTS_E_NOMEM;
    struct search s = {.take = take, .busy_count = busy_gather(b, take), .busy = b->busy};
    try_all(&s, space);
    if (!s.found)
        return TTS_E_FULL;
    assert(s.address >= b->config.offset_bytes && s.address >= take->limit);
    if (s.address % b->config.page_alignment_bytes != 0)
        return TTS_E_INVALID;
    /* The gap is large enough for the requested bytes, but the free block may be too small for
     * the rounded block. */
    enum tts_status status = tts_space_take_at(space, s.address, take->bytes);
    if (status == TTS_OK)
        *address = s.address;
    return status == TTS_E_FULL ? TTS_E_INVALID : status;
}
