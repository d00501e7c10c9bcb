#include "device/space.h"

#include "base/error.h"
#include "base/heap.h"
#include "device/space_state.h"

/* ---- life ---- */

/* Returns the exponent of the first unit: the largest power of two that divides the size and
 * the alignment. */
static uint32_t first_unit_shift(const struct tts_space_config *c)
{
    return (uint32_t)__builtin_ctzll(c->size_bytes | c->alignment_bytes);
}

static bool has_too_many_units(const struct tts_space_config *c, uint32_t unit_shift)
{
    return c->size_bytes >> unit_shift > TTS_SPACE_MAX_UNITS;
}

static enum tts_status config_check(const struct tts_space_config *c, struct tts_error *err)
{
    if (c->size_bytes == 0)
        return tts_error_set(err, TTS_E_INVALID, "pool size is 0, expected at least 1 byte");
    if (c->alignment_bytes == 0)
        return tts_error_set(err, TTS_E_INVALID, "alignment is 0, expected at least 1 byte");
    if (c->policy != TTS_POLICY_FIRST && c->policy != TTS_POLICY_BEST)
        return tts_error_set(err, TTS_E_INVALID, "unknown allocation policy %d",
                             (int)c->policy);
    const struct {
        const char *name;
        uint64_t bytes;
    } bounded[] = {{"pool size", c->size_bytes},
                   {"minimum allocation size", c->min_bytes},
                   {"alignment", c->alignment_bytes}};
    for (size_t i = 0; i < sizeof(bounded) / sizeof(bounded[0]); i++) {
        if (bounded[i].bytes > TTS_SPACE_MAX_BYTES)
            return tts_error_set(err, TTS_E_RANGE,
                                 "%s is %llu bytes, expected at most %llu bytes (2^46)",
                                 bounded[i].name, (unsigned long long)bounded[i].bytes,
                                 (unsigned long long)TTS_SPACE_MAX_BYTES);
    }
    uint32_t shift = first_unit_shift(c);
    if (has_too_many_units(c, shift))
        return tts_error_set(err, TTS_E_RANGE,
                             "pool size is %llu bytes, expected at most %llu bytes (2^32 - 2 "
                             "units of %llu bytes) for an alignment of %llu bytes",
                             (unsigned long long)c->size_bytes,
                             (unsigned long long)TTS_SPACE_MAX_UNITS << shift, 1ULL << shift,
                             (unsigned long long)c->alignment_bytes);
    if (c->offset_bytes > UINT64_MAX - c->size_bytes)
        return tts_error_set(
            err, TTS_E_RANGE,
            "the end of the pool does not fit in 64 bits: offset %llu + size %llu",
            (unsigned long long)c->offset_bytes, (unsigned long long)c->size_bytes);
    return TTS_OK;
}

/* Makes the whole space one free block. The first leaf is empty, so there is room for the
 * block. */
static void start_whole(struct tts_blocks *b)
{
    struct tts_unit_block whole = {0, b->units, tts_idstack_pop_if(&b->ids, 1)};
    enum tts_status status = b->ops->add_free(b, whole);
    assert(status == TTS_OK);
    (void)status;
}

enum tts_status tts_space_new(const struct tts_space_config *config,
                              const struct tts_alloc *alloc, struct tts_space **out,
                              struct tts_error *err)
{
    enum tts_status status = config_check(config, err);
    if (status != TTS_OK)
        return status;
    if (!alloc)
        alloc = tts_alloc_libc();
    struct tts_space *s = alloc->alloc(alloc->ctx, sizeof(*s));
    if (!s)
        return tts_error_set(err, TTS_E_NOMEM,
                             "cannot create the model of a memory pool: " TTS_TEXT_NOMEM);
    uint64_t align = config->alignment_bytes;
    *s = (struct tts_space){.config = *config,
                            .alloc = alloc,
                            .align_is_uneven = (align & (align - 1)) != 0,
                            .lowest_off = TTS_SPACE_NO_LOWEST,
                            .blocks = tts_blocks_new(config, first_unit_shift(config), alloc)};
    if (!s->blocks) {
        tts_space_free(s);
        return tts_error_set(err, TTS_E_NOMEM,
                             "cannot create the model of a memory pool: " TTS_TEXT_NOMEM);
    }
    s->ops = s->blocks->ops;
    start_whole(s->blocks);
    *out = s;
    return TTS_OK;
}

void tts_space_free(struct tts_space *s)
{
    if (!s)
        return;
    tts_blocks_free(s->blocks);
    s->alloc->free(s->alloc->ctx, s, sizeof(*s));
}

void tts_space_clear(struct tts_space *s)
{
    s->blocks->ops->clear(s->blocks);
    s->shrunk_bytes = 0;
    start_whole(s->blocks);
}

/* ---- units ---- */

/* Copies the blocks of a space with the given unit, which may be smaller than before. Returns
 * NULL if memory is missing. */
static struct tts_blocks *blocks_copy(const struct tts_space *s, uint32_t unit_shift)
{
    const struct tts_blocks *from = s->blocks;
    struct tts_blocks *to = tts_blocks_new(&s->config, unit_shift, s->alloc);
    if (!to)
        return NULL;
    enum tts_status status = tts_idstack_copy(&to->ids, &from->ids);
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    while (status == TTS_OK && tts_space_next(s, &cursor, &block)) {
        struct tts_unit_block b = {(block.address - s->config.offset_bytes) >> unit_shift,
                                   block.size_bytes >> unit_shift, block.id};
        status = block.taken ? to->ops->add_taken(to, b) : to->ops->add_free(to, b);
    }
    if (status != TTS_OK) {
        tts_blocks_free(to);
        return NULL;
    }
    return to;
}

static bool is_counted(const struct tts_space *s, uint64_t bytes)
{
    uint64_t units;
    return tts_space_in_units(s, bytes, &units);
}

/* Makes the unit small enough to divide `bytes`. The unit never grows again. Takes time
 * proportional to the number of blocks. TTS_E_NOMEM: out of memory. TTS_E_RANGE: the space
 * would have too many units. */
static enum tts_status refine(struct tts_space *s, uint64_t bytes)
{
    uint32_t shift = (uint32_t)__builtin_ctzll(bytes | s->config.alignment_bytes);
    assert(shift < s->blocks->unit_shift);
    if (has_too_many_units(&s->config, shift))
        return TTS_E_RANGE;
    struct tts_blocks *finer = blocks_copy(s, shift);
    if (!finer)
        return TTS_E_NOMEM;
    tts_blocks_free(s->blocks);
    s->blocks = finer;
    s->ops = finer->ops;
    return TTS_OK;
}

/* ---- changing ---- */

enum tts_status tts_space_take(struct tts_space *s, uint64_t bytes,
                               enum tts_direction direction, uint64_t limit, uint64_t *address)
{
    return s->ops->take(s, bytes, direction, limit, address);
}

enum tts_status tts_space_give(struct tts_space *s, uint64_t address)
{
    return s->ops->give(s, address);
}

enum tts_status tts_space_take_at(struct tts_space *s, uint64_t address, uint64_t bytes)
{
    struct tts_blocks *b = s->blocks;
    enum tts_status status;
    uint64_t need = tts_space_rounded(s, bytes), off = address - s->config.offset_bytes;
    if (need - 1 >= s->config.size_bytes || address < s->config.offset_bytes ||
        off >= s->config.size_bytes)
        return TTS_E_FULL;
    if (!is_counted(s, off | need)) {
        /* Round the range outward to units. This is allowed, because every free block begins
         * and ends on a unit. */
        uint64_t unit = UINT64_C(1) << b->unit_shift, start = off >> b->unit_shift;
        uint64_t end = (off + need + unit - 1) >> b->unit_shift;
        if (!b->ops->is_free(b, start, end - start))
            return TTS_E_FULL;
        status = refine(s, off | need);
        if (status != TTS_OK)
            return status;
        b = s->blocks;
    }
    status = b->ops->take_at(b, off >> b->unit_shift, need >> b->unit_shift);
    if (status == TTS_OK)
        tts_space_lower_lowest(s, off);
    tts_assert_expensive(tts_space_is_valid(s));
    return status;
}

enum tts_status tts_space_shrink(struct tts_space *s, uint64_t bytes)
{
    struct tts_blocks *b = s->blocks;
    if (bytes > s->config.size_bytes - s->shrunk_bytes)
        return TTS_E_RANGE;
    if (bytes == 0)
        return TTS_OK;
    struct tts_unit_block first;
    uint64_t from = s->shrunk_bytes >> b->unit_shift;
    if (!b->ops->next_free(b, from, &first) || first.start != from ||
        first.size << b->unit_shift < bytes)
        return TTS_E_BUSY;
    enum tts_status status = is_counted(s, bytes) ? TTS_OK : refine(s, bytes);
    if (status != TTS_OK)
        return status;
    b = s->blocks;
    from = s->shrunk_bytes >> b->unit_shift;
    if (b->ops->move_start(b, from, from + (bytes >> b->unit_shift)) != TTS_OK)
        return TTS_E_NOMEM;
    s->shrunk_bytes += bytes;
    tts_assert_expensive(tts_space_is_valid(s));
    return TTS_OK;
}

enum tts_status tts_space_unshrink(struct tts_space *s)
{
    if (s->shrunk_bytes == 0)
        return TTS_OK;
    struct tts_blocks *b = s->blocks;
    uint64_t from = s->shrunk_bytes >> b->unit_shift;
    struct tts_unit_block first;
    bool is_free = b->ops->next_free(b, from, &first) && first.start == from;
    enum tts_status status;
    if (is_free)
        status = b->ops->move_start(b, from, 0);
    else
        status = b->ops->add_free(
            b, (struct tts_unit_block){0, from, tts_idstack_pop_if(&b->ids, 0)});
    if (status != TTS_OK)
        return status;
    tts_idstack_pop_if(&b->ids, !is_free);
    s->shrunk_bytes = 0;
    tts_assert_expensive(tts_space_is_valid(s));
    return TTS_OK;
}

enum tts_status tts_space_copy(const struct tts_space *space, struct tts_space **out)
{
    struct tts_space *s = space->alloc->alloc(space->alloc->ctx, sizeof(*s));
    if (!s)
        return TTS_E_NOMEM;
    *s = *space;
    s->blocks = blocks_copy(space, space->blocks->unit_shift);
    if (!s->blocks) {
        tts_space_free(s);
        return TTS_E_NOMEM;
    }
    s->ops = s->blocks->ops;
    *out = s;
    return TTS_OK;
}
