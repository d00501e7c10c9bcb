#include "device/sizeclass.h"
#include "device/space.h"
#include "device/space_state.h"

/* ---- queries ---- */

void tts_space_get_stats(const struct tts_space *s, struct tts_space_stats *out)
{
    const struct tts_blocks *b = s->blocks;
    uint64_t total = s->config.size_bytes - s->shrunk_bytes;
    uint64_t taken = b->taken_units << b->unit_shift;
    *out = (struct tts_space_stats){
        .total_bytes = total,
        .taken_bytes = taken,
        .free_bytes = total - taken,
        .largest_free_bytes = b->ops->largest_free(b) << b->unit_shift,
        .taken_blocks = tts_blocks_taken_count(b),
        .free_blocks = b->free_count,
    };
}

bool tts_space_lowest_reported(const struct tts_space *s, uint64_t *address)
{
    if (s->lowest_off == TTS_SPACE_NO_LOWEST)
        return false;
    *address = s->config.offset_bytes + s->lowest_off;
    return true;
}

/* Finds the first free block that starts at `off` or later. All values are in bytes. */
static bool next_free(const struct tts_space *s, uint64_t off, struct tts_unit_block *out)
{
    const struct tts_blocks *b = s->blocks;
    if (!b->ops->next_free(b, off >> b->unit_shift, out))
        return false;
    out->start <<= b->unit_shift;
    out->size <<= b->unit_shift;
    return true;
}

static bool find_taken(const struct tts_space *s, uint64_t off, struct tts_unit_block *out)
{
    const struct tts_blocks *b = s->blocks;
    uint64_t start;
    if (!tts_space_in_units(s, off, &start) || !b->ops->find_taken(b, start, out))
        return false;
    out->start = off;
    out->size <<= b->unit_shift;
    return true;
}

bool tts_space_lowest(const struct tts_space *s, uint64_t *address)
{
    struct tts_unit_block first;
    uint64_t off = s->shrunk_bytes;
    if (next_free(s, off, &first) && first.start == off)
        off += first.size;
    if (off >= s->config.size_bytes)
        return false;
    *address = s->config.offset_bytes + off;
    return true;
}

enum tts_status tts_space_size_at(const struct tts_space *s, uint64_t address, uint64_t *bytes)
{
    uint64_t off = address - s->config.offset_bytes;
    struct tts_unit_block block;
    if (off >= s->config.size_bytes || !find_taken(s, off, &block))
        return TTS_E_NOT_FOUND;
    *bytes = block.size;
    return TTS_OK;
}

size_t tts_space_available(const struct tts_space *s, uint64_t bytes, struct tts_range *out,
                           size_t capacity)
{
    uint64_t need = tts_space_rounded(s, bytes);
    uint32_t classes = s->blocks->classes;
    size_t place[TTS_SIZECLASS_MAX + 1] = {0};
    struct tts_unit_block b = {0};
    /* This is a counting sort: first count the blocks of each class, then put each block in its
     * place. */
    for (uint64_t off = 0; next_free(s, off, &b); off = b.start + b.size)
        place[tts_sizeclass_of(b.size, classes) + 1] += b.size >= need;
    for (uint32_t c = 0; c < TTS_SIZECLASS_MAX; c++)
        place[c + 1] += place[c];
    size_t count = place[TTS_SIZECLASS_MAX];
    for (uint64_t off = 0; next_free(s, off, &b); off = b.start + b.size) {
        if (b.size < need)
            continue;
        size_t at = place[tts_sizeclass_of(b.size, classes)]++;
        if (at < capacity)
            out[at] = (struct tts_range){s->config.offset_bytes + b.start,
                                         s->config.offset_bytes + b.start + b.size};
    }
    return count;
}

/* ---- walking ---- */

static void cursor_next_free(const struct tts_space *s, struct tts_space_cursor *cursor,
                             uint64_t off)
{
    struct tts_unit_block b;
    bool found = next_free(s, off, &b);
    cursor->free_off = found ? b.start : s->config.size_bytes;
    cursor->free_size = found ? b.size : 0;
    cursor->free_id = found ? b.id : TTS_BLOCK_NONE;
}

bool tts_space_next(const struct tts_space *s, struct tts_space_cursor *cursor,
                    struct tts_block *out)
{
    if (!cursor->started) {
        *cursor = (struct tts_space_cursor){
            .next_off = s->shrunk_bytes, .prev_id = TTS_BLOCK_NONE, .started = true};
        cursor_next_free(s, cursor, s->shrunk_bytes);
    }
    uint64_t off = cursor->next_off;
    if (off >= s->config.size_bytes)
        return false;
    /* Blocks tile the space, so the block at this offset is either the next free block or a
     * taken one. */
    struct tts_unit_block block = {off, cursor->free_size, cursor->free_id}, after;
    bool taken = cursor->free_off != off;
    if (taken) {
        bool found = find_taken(s, off, &block);
        assert(found);
        if (!found)
            return false;
    } else {
        cursor_next_free(s, cursor, off + block.size);
    }
    *out = (struct tts_block){.address = s->config.offset_bytes + off,
                              .size_bytes = block.size,
                              .id = block.id,
                              .prev_id = cursor->prev_id,
                              .next_id = TTS_BLOCK_NONE,
                              .taken = taken};
    cursor->next_off = off + block.size;
    cursor->prev_id = block.id;
    if (cursor->next_off == cursor->free_off)
        out->next_id = cursor->free_id;
    else if (find_taken(s, cursor->next_off, &after))
        out->next_id = after.id;
    return true;
}

uint32_t tts_space_id_limit(const struct tts_space *s)
{
    return s->blocks->ids.next;
}

size_t tts_space_unused_ids(const struct tts_space *s, uint32_t *out, size_t capacity)
{
    const struct tts_idstack *ids = &s->blocks->ids;
    for (size_t i = 0; i < ids->count && i < capacity; i++)
        out[i] = ids->retired[i];
    return ids->count;
}

/* Puts each block at the index of its id, then closes the gaps that retired ids and unwanted
 * blocks leave. */
static enum tts_status by_id(const struct tts_space *s, bool taken_only, struct tts_block *out,
                             size_t capacity, size_t *count)
{
    if (capacity < s->blocks->ids.next)
        return TTS_E_RANGE;
    for (uint32_t id = 0; id < s->blocks->ids.next; id++)
        out[id].size_bytes = 0;
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    while (tts_space_next(s, &cursor, &block)) {
        if (block.taken || !taken_only)
            out[block.id] = block;
    }
    size_t kept = 0;
    for (uint32_t id = 0; id < s->blocks->ids.next; id++) {
        if (out[id].size_bytes)
            out[kept++] = out[id];
    }
    *count = kept;
    return TTS_OK;
}

enum tts_status tts_space_blocks(const struct tts_space *s, struct tts_block *out,
                                 size_t capacity, size_t *count)
{
    return by_id(s, false, out, capacity, count);
}

enum tts_status tts_space_taken(const struct tts_space *s, struct tts_block *out,
                                size_t capacity, size_t *count)
{
    return by_id(s, true, out, capacity, count);
}

/* ---- comparing and checking ---- */

static bool config_equal(const struct tts_space_config *a, const struct tts_space_config *b)
{
    return a->size_bytes == b->size_bytes && a->offset_bytes == b->offset_bytes &&
           a->min_bytes == b->min_bytes && a->alignment_bytes == b->alignment_bytes &&
           a->policy == b->policy;
}

bool tts_space_equal(const struct tts_space *a, const struct tts_space *b)
{
    if (!config_equal(&a->config, &b->config) || a->shrunk_bytes != b->shrunk_bytes ||
        a->lowest_off != b->lowest_off || !tts_idstack_equal(&a->blocks->ids, &b->blocks->ids))
        return false;
    struct tts_space_cursor ca = {0}, cb = {0};
    struct tts_block x, y;
    while (tts_space_next(a, &ca, &x)) {
        if (!tts_space_next(b, &cb, &y) || x.address != y.address ||
            x.size_bytes != y.size_bytes || x.id != y.id || x.taken != y.taken)
            return false;
    }
    return !tts_space_next(b, &cb, &y);
}

void tts_space_get_config(const struct tts_space *s, struct tts_space_config *out)
{
    *out = s->config;
}

size_t tts_space_memory(const struct tts_space *s)
{
    return sizeof(*s) + s->blocks->ops->memory(s->blocks);
}

/* Returns true if the blocks tile the space, no two free blocks are adjacent, and the totals
 * are correct. */
static bool tiling_is_valid(const struct tts_space *s)
{
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    uint64_t end = s->shrunk_bytes, taken_bytes = 0, taken = 0, free_blocks = 0;
    bool after_free = false;
    while (tts_space_next(s, &cursor, &block)) {
        if (block.address != s->config.offset_bytes + end || block.size_bytes == 0 ||
            block.id >= s->blocks->ids.next || (after_free && !block.taken))
            return false;
        end += block.size_bytes;
        after_free = !block.taken;
        taken += block.taken;
        free_blocks += !block.taken;
        taken_bytes += block.taken ? block.size_bytes : 0;
    }
    const struct tts_blocks *b = s->blocks;
    return end == s->config.size_bytes && taken == tts_blocks_taken_count(b) &&
           free_blocks == b->free_count && taken_bytes == b->taken_units << b->unit_shift &&
           taken + free_blocks + b->ids.count == b->ids.next;
}

bool tts_space_is_valid(const struct tts_space *s)
{
    return s->blocks->ops->is_valid(s->blocks) && tiling_is_valid(s);
}
