#include "base/heap.h"
#include "device/banks_inside.h"
#include "device/space.h"
#include "device/space_state.h"

#include <string.h>

size_t tts_ranges_fuse(struct tts_range *ranges, size_t count)
{
    size_t last = 0;
    for (size_t i = 1; i < count; i++) {
        assert(ranges[i - 1].start <= ranges[i].start && ranges[i].start < ranges[i].end);
        if (ranges[i].start > ranges[last].end)
            ranges[++last] = ranges[i];
        else if (ranges[i].end > ranges[last].end)
            ranges[last].end = ranges[i].end;
    }
    return count > 0 ? last + 1 : 0;
}

static enum tts_status reserve(struct tts_banks_state *s, const struct tts_alloc *alloc,
                               size_t needed)
{
    if (needed <= s->capacity)
        return TTS_OK;
    void *ranges = tts_alloc_grow(alloc, s->ranges, &s->capacity, needed, sizeof(*s->ranges));
    if (!ranges)
        return TTS_E_NOMEM;
    s->ranges = ranges;
    s->alloc = alloc;
    return TTS_OK;
}

static const struct tts_alloc *alloc_of(const struct tts_banks_state *s)
{
    return s->alloc ? s->alloc : tts_alloc_libc();
}

/* Returns the configuration of the pool with its current size: without the part that was cut
 * off, as the runtime's allocator does. */
static struct tts_banks_config config_now(const struct tts_banks *b)
{
    struct tts_banks_config config = b->config;
    struct tts_space_stats stats;
    tts_space_get_stats(b->first, &stats);
    config.size_bytes = stats.total_bytes;
    return config;
}

static bool is_same_pool(const struct tts_banks_config *a, const struct tts_banks_config *b)
{
    return a->size_bytes == b->size_bytes && a->offset_bytes == b->offset_bytes &&
           a->page_alignment_bytes == b->page_alignment_bytes &&
           a->block_alignment_bytes == b->block_alignment_bytes && a->banks == b->banks &&
           a->limit == b->limit;
}

enum tts_status tts_banks_extract(const struct tts_banks *b, struct tts_banks_state *out)
{
    const struct tts_alloc *alloc = out->alloc ? out->alloc : b->alloc;
    struct tts_space_stats stats;
    tts_space_get_stats(b->first, &stats);
    if (reserve(out, alloc, stats.taken_blocks) != TTS_OK)
        return TTS_E_NOMEM;
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    size_t count = 0;
    while (tts_space_next(b->first, &cursor, &block)) {
        if (!block.taken)
            continue;
        assert(count < out->capacity);
        out->ranges[count++] =
            (struct tts_range){block.address, block.address + block.size_bytes};
    }
    out->count = tts_ranges_fuse(out->ranges, count);
    out->config = config_now(b);
    out->alloc = alloc;
    return TTS_OK;
}

enum tts_status tts_banks_state_merge(struct tts_banks_state *into,
                                      const struct tts_banks_state *from)
{
    if (!is_same_pool(&into->config, &from->config))
        return TTS_E_INVALID;
    if (into == from || from->count == 0)
        return TTS_OK;
    size_t total;
    if (__builtin_add_overflow(into->count, from->count, &total) ||
        reserve(into, alloc_of(into), total) != TTS_OK)
        return TTS_E_NOMEM;
    /* Merge from the end of the array, where there is room. */
    size_t a = into->count, b = from->count;
    for (size_t to = total; b > 0; to--) {
        assert(to == a + b);
        bool own_last = a > 0 && into->ranges[a - 1].start > from->ranges[b - 1].start;
        into->ranges[to - 1] = own_last ? into->ranges[--a] : from->ranges[--b];
    }
    into->count = tts_ranges_fuse(into->ranges, total);
    return TTS_OK;
}

/* Returns the index of the first range that ends at or after `address`. */
static size_t seek(const struct tts_banks_state *s, uint64_t address)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->ranges[mid].end < address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

enum tts_status tts_banks_state_add(struct tts_banks_state *s, struct tts_range range)
{
    if (range.start > range.end)
        return TTS_E_INVALID;
    if (range.start == range.end)
        return TTS_OK;
    size_t at = seek(s, range.start), behind = at;
    assert(at == s->count || s->ranges[at].end >= range.start);
    for (; behind < s->count && s->ranges[behind].start <= range.end; behind++) {
        const struct tts_range *joined = &s->ranges[behind];
        range.start = joined->start < range.start ? joined->start : range.start;
        range.end = joined->end > range.end ? joined->end : range.end;
    }
    if (at == behind && reserve(s, alloc_of(s), s->count + 1) != TTS_OK)
        return TTS_E_NOMEM;
    memmove(&s->ranges[at + 1], &s->ranges[behind], (s->count - behind) * sizeof(*s->ranges));
    s->ranges[at] = range;
    s->count = s->count - (behind - at) + 1;
    assert(s->count <= s->capacity);
    return TTS_OK;
}

enum tts_status tts_banks_override(struct tts_banks *b, const struct tts_banks_state *state)
{
    struct tts_banks_config config = config_now(b);
    if (!is_same_pool(&config, &state->config))
        return TTS_E_INVALID;
    struct tts_space *next = NULL;
    enum tts_status status = tts_banks_emptied(b, 0, &next);
    for (size_t i = 0; status == TTS_OK && i < state->count; i++) {
        const struct tts_range *range = &state->ranges[i];
        status = tts_space_take_at(next, range->start, range->end - range->start);
    }
    if (status == TTS_OK)
        tts_space_swap(b->first, next);
    tts_space_free(next);
    tts_assert_expensive(tts_banks_is_valid(b));
    return status;
}

void tts_banks_state_release(struct tts_banks_state *state)
{
    if (state->ranges)
        state->alloc->free(state->alloc->ctx, state->ranges,
                           state->capacity * sizeof(*state->ranges));
    *state = (struct tts_banks_state){0};
}
