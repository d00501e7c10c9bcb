#include "device/space_state.h"

/* ---- asking ---- */

void tts_space_get_stats(const struct tts_space *s, struct tts_space_stats *out)
{
    uint64_t total = s->config.size_bytes - s->shrunk_bytes;
    uint32_t rows = s->tree.row_mask;
    *out = (struct tts_space_stats){
        .total_bytes = total,
        .taken_bytes = s->taken_bytes,
        .free_bytes = total - s->taken_bytes,
        .largest_free_bytes =
            rows ? tts_freetree_row_max(&s->tree, 31 - (uint32_t)__builtin_clz(rows)) : 0,
        .taken_blocks = s->map.count,
        .free_blocks = s->tree.count,
    };
}

bool tts_space_lowest_reported(const struct tts_space *s, uint64_t *address)
{
    if (s->lowest_off == TTS_SPACE_NO_LOWEST)
        return false;
    *address = s->config.offset_bytes + s->lowest_off;
    return true;
}

bool tts_space_lowest(const struct tts_space *s, uint64_t *address)
{
    struct tts_pair first = s->tree.first->slot[0];
    bool starts_free = tts_block_off(first) == s->shrunk_bytes;
    uint64_t off = starts_free ? tts_block_end(first) : s->shrunk_bytes;
    if (off >= s->config.size_bytes)
        return false;
    *address = s->config.offset_bytes + off;
    return true;
}

enum tts_status tts_space_size_at(const struct tts_space *s, uint64_t address, uint64_t *bytes)
{
    uint64_t off = address - s->config.offset_bytes;
    struct tts_pair block;
    if (off >= s->config.size_bytes || !tts_livemap_find(&s->map, off, &block))
        return TTS_E_NOT_FOUND;
    *bytes = tts_block_size(block);
    return TTS_OK;
}

size_t tts_space_available(const struct tts_space *s, uint64_t bytes, struct tts_range *out,
                           size_t capacity)
{
    uint64_t need = tts_space_rounded(s, bytes);
    size_t place[TTS_SIZECLASS_MAX + 1] = {0};
    /* A counting sort: how many of each class, then each block straight to its place. */
    for (const struct tts_freetree_leaf *leaf = s->tree.first; leaf; leaf = leaf->next) {
        for (uint32_t i = 0; i < leaf->count; i++) {
            uint64_t size = tts_block_size(leaf->slot[i]);
            place[tts_sizeclass_of(size, s->classes) + 1] += size >= need;
        }
    }
    for (uint32_t c = 0; c < TTS_SIZECLASS_MAX; c++)
        place[c + 1] += place[c];
    size_t count = place[TTS_SIZECLASS_MAX];
    for (const struct tts_freetree_leaf *leaf = s->tree.first; leaf; leaf = leaf->next) {
        for (uint32_t i = 0; i < leaf->count; i++) {
            struct tts_pair b = leaf->slot[i];
            if (tts_block_size(b) < need)
                continue;
            size_t at = place[tts_sizeclass_of(tts_block_size(b), s->classes)]++;
            if (at < capacity)
                out[at] = (struct tts_range){s->config.offset_bytes + tts_block_off(b),
                                             s->config.offset_bytes + tts_block_end(b)};
        }
    }
    return count;
}

/* ---- walking ---- */

bool tts_space_next(const struct tts_space *s, struct tts_space_cursor *cursor,
                    struct tts_block *out)
{
    if (!cursor->started) {
        *cursor = (struct tts_space_cursor){.next_off = s->shrunk_bytes,
                                            .prev_id = TTS_BLOCK_NONE,
                                            .started = 1,
                                            .leaf = s->tree.first};
    }
    uint64_t off = cursor->next_off;
    if (off >= s->config.size_bytes)
        return false;
    /* Blocks tile the space: what starts here is the next free block, or it is taken. */
    const struct tts_freetree_leaf *leaf = cursor->leaf;
    struct tts_pair block = leaf->slot[cursor->slot];
    bool taken = tts_block_off(block) != off;
    if (taken) {
        bool found = tts_livemap_find(&s->map, off, &block);
        assert(found);
        if (!found)
            return false;
    } else if (++cursor->slot == leaf->count && leaf->next) {
        cursor->leaf = leaf->next;
        cursor->slot = 0;
    }
    *out = (struct tts_block){.address = s->config.offset_bytes + off,
                              .size_bytes = tts_block_size(block),
                              .id = tts_block_id(block),
                              .prev_id = cursor->prev_id,
                              .next_id = TTS_BLOCK_NONE,
                              .taken = taken};
    cursor->next_off = tts_block_end(block);
    cursor->prev_id = out->id;
    if (cursor->next_off < s->config.size_bytes) {
        const struct tts_freetree_leaf *next = cursor->leaf;
        struct tts_pair after = next->slot[cursor->slot];
        if (tts_block_off(after) == cursor->next_off ||
            tts_livemap_find(&s->map, cursor->next_off, &after))
            out->next_id = tts_block_id(after);
    }
    return true;
}

uint32_t tts_space_id_limit(const struct tts_space *s)
{
    return s->ids.next;
}

/* Scatter by id, then close the gaps that retired ids and unwanted blocks leave. */
static enum tts_status by_id(const struct tts_space *s, bool taken_only, struct tts_block *out,
                             size_t capacity, size_t *count)
{
    if (capacity < s->ids.next)
        return TTS_E_RANGE;
    for (uint32_t id = 0; id < s->ids.next; id++)
        out[id].size_bytes = 0;
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    while (tts_space_next(s, &cursor, &block)) {
        if (block.taken || !taken_only)
            out[block.id] = block;
    }
    size_t kept = 0;
    for (uint32_t id = 0; id < s->ids.next; id++) {
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
        a->lowest_off != b->lowest_off || !tts_idstack_equal(&a->ids, &b->ids))
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
    return sizeof(*s) + tts_freetree_memory(&s->tree) + tts_livemap_memory(&s->map) +
           tts_idstack_memory(&s->ids);
}

/* Blocks tile the space, none free beside another, and the totals are theirs. */
static bool tiling_is_valid(const struct tts_space *s)
{
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    uint64_t end = s->shrunk_bytes, taken_bytes = 0, taken = 0, free_blocks = 0;
    bool after_free = false;
    while (tts_space_next(s, &cursor, &block)) {
        if (block.address != s->config.offset_bytes + end || block.size_bytes == 0 ||
            block.id >= s->ids.next || (after_free && !block.taken))
            return false;
        end += block.size_bytes;
        after_free = !block.taken;
        taken += block.taken;
        free_blocks += !block.taken;
        taken_bytes += block.taken ? block.size_bytes : 0;
    }
    return end == s->config.size_bytes && taken == s->map.count &&
           free_blocks == s->tree.count && taken_bytes == s->taken_bytes &&
           taken + free_blocks + s->ids.count == s->ids.next;
}

bool tts_space_is_valid(const struct tts_space *s)
{
    return tts_freetree_is_valid(&s->tree) && tts_livemap_is_valid(&s->map) &&
           tts_idstack_is_valid(&s->ids) && tiling_is_valid(s);
}
