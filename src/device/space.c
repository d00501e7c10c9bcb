#include "ttscope/space.h"

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/error.h"
#include "device/freetree.h"
#include "device/idstack.h"
#include "device/livemap.h"

#include <string.h>

#define NO_LOWEST UINT64_MAX

/* Offsets are relative to the space's first byte throughout. */
struct tts_space {
    struct tts_space_config config;
    const struct tts_alloc *alloc;
    uint64_t align_mask;   /* alignment - 1 when that is a power of two, else 0 */
    uint64_t shrunk_bytes; /* cut off the bottom: blocks tile [shrunk, size) */
    uint64_t lowest_off;   /* as the reference reports it, NO_LOWEST: none */
    uint64_t taken_bytes;
    uint32_t classes;
    struct tts_freetree tree; /* the free blocks */
    struct tts_livemap map;   /* the taken blocks */
    struct tts_idstack ids;
};

/* ---- life ---- */

static enum tts_status config_check(const struct tts_space_config *c, struct tts_error *err)
{
    if (c->size_bytes == 0)
        return tts_error_set(err, TTS_E_INVALID, "pool size is 0, expected at least 1 byte");
    if (c->alignment_bytes == 0)
        return tts_error_set(err, TTS_E_INVALID, "alignment is 0, expected at least 1 byte");
    if (c->policy != TTS_POLICY_FIRST && c->policy != TTS_POLICY_BEST)
        return tts_error_set(err, TTS_E_INVALID, "unknown policy %d", (int)c->policy);
    const struct {
        const char *name;
        uint64_t bytes;
    } bounded[] = {{"pool size", c->size_bytes},
                   {"minimum allocation size", c->min_bytes},
                   {"alignment", c->alignment_bytes}};
    for (size_t i = 0; i < sizeof(bounded) / sizeof(bounded[0]); i++) {
        if (bounded[i].bytes > TTS_SPACE_MAX_BYTES)
            return tts_error_set(err, TTS_E_RANGE, "%s is %llu, expected at most %llu (2^46)",
                                 bounded[i].name, (unsigned long long)bounded[i].bytes,
                                 (unsigned long long)TTS_SPACE_MAX_BYTES);
    }
    if (c->offset_bytes > UINT64_MAX - c->size_bytes)
        return tts_error_set(
            err, TTS_E_RANGE, "pool ends past 64 bits: offset %llu + size %llu",
            (unsigned long long)c->offset_bytes, (unsigned long long)c->size_bytes);
    return TTS_OK;
}

/* clamp(bit length of the size in KiB, 2, 18) */
static uint32_t class_count(uint64_t size_bytes)
{
    uint64_t kib = size_bytes / 1024;
    uint32_t bits = kib ? 64 - (uint32_t)__builtin_clzll(kib) : 0;
    return bits < 2 ? 2 : bits > TTS_SPACE_MAX_CLASSES ? TTS_SPACE_MAX_CLASSES : bits;
}

static void start_whole(struct tts_space *s)
{
    struct tts_freetree_path path;
    tts_freetree_seek(&s->tree, 0, &path);
    tts_freetree_insert(&s->tree, &path,
                        tts_block_pack(0, s->config.size_bytes, tts_idstack_pop(&s->ids)));
}

static enum tts_status space_init(struct tts_space *s)
{
    uint32_t rows = s->config.policy == TTS_POLICY_BEST ? s->classes : 1;
    tts_idstack_init(&s->ids, s->alloc);
    enum tts_status status = tts_freetree_init(&s->tree, s->alloc, rows);
    if (status == TTS_OK)
        status = tts_livemap_init(&s->map, s->alloc);
    if (status == TTS_OK)
        status = tts_freetree_reserve(&s->tree);
    return status;
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
        return tts_error_set(err, TTS_E_NOMEM, "cannot create the space: out of memory");
    uint64_t align = config->alignment_bytes;
    *s = (struct tts_space){.config = *config,
                            .alloc = alloc,
                            .align_mask = (align & (align - 1)) == 0 ? align - 1 : 0,
                            .lowest_off = NO_LOWEST,
                            .classes = class_count(config->size_bytes)};
    status = space_init(s);
    if (status != TTS_OK) {
        tts_space_free(s);
        return tts_error_set(err, status, "cannot create the space: out of memory");
    }
    start_whole(s);
    *out = s;
    return TTS_OK;
}

void tts_space_free(struct tts_space *s)
{
    if (!s)
        return;
    tts_freetree_release(&s->tree);
    tts_livemap_release(&s->map);
    tts_idstack_release(&s->ids);
    s->alloc->free(s->alloc->ctx, s, sizeof(*s));
}

void tts_space_clear(struct tts_space *s)
{
    tts_freetree_clear(&s->tree);
    tts_livemap_clear(&s->map);
    tts_idstack_clear(&s->ids);
    s->shrunk_bytes = 0;
    s->taken_bytes = 0;
    start_whole(s);
}

/* ---- taking ---- */

#define CANNOT_FIT UINT64_MAX

/* What a request takes: 0 only where the minimum is 0, CANNOT_FIT where it is past the space.
 */
static uint64_t rounded(const struct tts_space *s, uint64_t bytes)
{
    uint64_t need = bytes > s->config.min_bytes ? bytes : s->config.min_bytes;
    if (TTS_UNLIKELY(need > s->config.size_bytes))
        return CANNOT_FIT;
    uint64_t align = s->config.alignment_bytes;
    if (TTS_LIKELY(s->align_mask || align == 1))
        return (need + s->align_mask) & ~s->align_mask;
    return (need + align - 1) / align * align;
}

/* Keep of the free block at the path only `size` bytes from `off`, under a new id; size 0:
 * none. */
static void trim(struct tts_space *s, struct tts_freetree_path *path, uint64_t off,
                 uint64_t size)
{
    if (size == 0)
        tts_freetree_remove(&s->tree, path);
    else
        tts_freetree_cut(&s->tree, path, tts_block_pack(off, size, tts_idstack_pop(&s->ids)));
}

static void commit(struct tts_space *s, struct tts_pair taken)
{
    tts_livemap_insert(&s->map, taken);
    s->taken_bytes += tts_block_size(taken);
}

static void lower_lowest(struct tts_space *s, uint64_t off)
{
    s->lowest_off = off < s->lowest_off ? off : s->lowest_off;
}

enum tts_status tts_space_take(struct tts_space *s, uint64_t bytes,
                               enum tts_direction direction, uint64_t limit, uint64_t *address)
{
    bool up = direction == TTS_DIRECTION_UP;
    uint64_t need = rounded(s, bytes);
    struct tts_freetree_path path;
    if (need == 0 || !tts_freetree_fit(&s->tree, need, up, &path))
        return TTS_E_FULL; /* a block of no bytes could not be told from its neighbour */
    if (TTS_UNLIKELY(tts_livemap_reserve(&s->map) != TTS_OK))
        return TTS_E_NOMEM;
    struct tts_pair block = path.leaf->slot[path.slot];
    uint64_t start = tts_block_off(block), rest = tts_block_size(block) - need;
    trim(s, &path, up ? start + need : start, rest);
    struct tts_pair taken = tts_block_part(block, up ? 0 : rest, need);
    commit(s, taken);
    uint64_t off = tts_block_off(taken);
    tts_assert_expensive(tts_space_is_valid(s));
    *address = s->config.offset_bytes + off;
    if (TTS_UNLIKELY(*address < limit))
        return TTS_E_BELOW_LIMIT;
    lower_lowest(s, off);
    return TTS_OK;
}

/* The path of the free block that holds `off`, if there is one. */
static bool find_containing(struct tts_space *s, uint64_t off, struct tts_freetree_path *path)
{
    tts_freetree_seek(&s->tree, off + 1, path);
    if (path->slot > 0) {
        path->slot--;
    } else {
        const struct tts_freetree_leaf *prev = path->leaf->prev;
        if (!prev)
            return false;
        tts_freetree_seek(&s->tree, tts_block_off(prev->slot[prev->count - 1]), path);
    }
    return tts_block_end(path->leaf->slot[path->slot]) > off;
}

enum tts_status tts_space_take_at(struct tts_space *s, uint64_t address, uint64_t bytes)
{
    uint64_t need = rounded(s, bytes), off = address - s->config.offset_bytes;
    struct tts_freetree_path path;
    if (need == 0 || address < s->config.offset_bytes || off >= s->config.size_bytes)
        return TTS_E_FULL;
    if (!find_containing(s, off, &path))
        return TTS_E_FULL;
    struct tts_pair block = path.leaf->slot[path.slot];
    uint64_t start = tts_block_off(block), end = tts_block_end(block);
    if (need > end - off)
        return TTS_E_FULL;
    if (tts_livemap_reserve(&s->map) != TTS_OK || tts_freetree_reserve(&s->tree) != TTS_OK)
        return TTS_E_NOMEM;
    uint64_t left = off - start, right = end - off - need;
    if (left == 0) {
        trim(s, &path, off + need, right);
    } else {
        trim(s, &path, start, left);
        path.slot++;
        if (right > 0)
            tts_freetree_insert(&s->tree, &path,
                                tts_block_pack(off + need, right, tts_idstack_pop(&s->ids)));
    }
    commit(s, tts_block_pack(off, need, tts_block_id(block)));
    lower_lowest(s, off);
    tts_assert_expensive(tts_space_is_valid(s));
    return TTS_OK;
}

/* ---- giving ---- */

static bool touches_prev(const struct tts_freetree_leaf *leaf, uint32_t slot, uint64_t off)
{
    uint32_t prev = slot - (slot > 0);
    return (slot > 0) & (tts_block_end(leaf->slot[prev]) == off);
}

/* The free neighbours of a freed block may be kept in other leaves than its place. Leads the
 * path behind the previous one if that touches; takes a next one that touches but is not in the
 * path's leaf out of the tree and returns it. */
static TTS_COLD struct tts_pair
detach_across(struct tts_space *s, struct tts_freetree_path *path, struct tts_pair block)
{
    const struct tts_freetree_leaf *leaf = path->leaf;
    const struct tts_freetree_leaf *before = path->slot == 0 ? leaf->prev : NULL;
    const struct tts_freetree_leaf *after = path->slot == leaf->count ? leaf->next : NULL;
    uint64_t off = tts_block_off(block), end = tts_block_end(block);
    bool prev_across = before && touches_prev(before, before->count, off);
    uint64_t prev_off = prev_across ? tts_block_off(before->slot[before->count - 1]) : 0;
    struct tts_pair next = after ? after->slot[0] : leaf->slot[path->slot];
    bool next_across = tts_block_off(next) == end && (after || prev_across);
    if (next_across) {
        tts_freetree_seek(&s->tree, end, path);
        tts_freetree_remove(&s->tree, path);
    }
    if (next_across || prev_across)
        tts_freetree_seek(&s->tree, prev_across ? prev_off : off, path);
    path->slot += prev_across;
    return next_across ? next : (struct tts_pair){TTS_FREETREE_EMPTY, 0};
}

/* Put a freed block among the free ones, joined with those it touches; returns where it ends.
 * Ids retire in the reference's order: the block's own when the one before survives, then that
 * of the one after. */
static uint64_t release(struct tts_space *s, struct tts_pair block)
{
    struct tts_freetree_path path;
    struct tts_pair after = {TTS_FREETREE_EMPTY, 0};
    tts_freetree_seek(&s->tree, tts_block_off(block), &path);
    if (s->tree.height > 0 && ((path.slot == 0) | (path.slot == path.leaf->count)))
        after = detach_across(s, &path, block);
    const struct tts_pair *slot =
        &path.leaf->slot[path.slot]; /* the last is followed by an empty one */
    bool prev = touches_prev(path.leaf, path.slot, tts_block_off(block));
    bool next = tts_block_off(*slot) == tts_block_end(block);
    if (next)
        after = *slot;
    if (prev)
        tts_idstack_push(&s->ids, tts_block_id(block));
    if (after.value)
        tts_idstack_push(&s->ids, tts_block_id(after));
    struct tts_pair whole = tts_block_longer(block, tts_block_size(after));
    if (prev)
        whole = tts_block_longer(path.leaf->slot[--path.slot], tts_block_size(whole));
    if (!prev && !next)
        tts_freetree_insert(&s->tree, &path, whole);
    else
        tts_freetree_grow(&s->tree, &path, whole);
    if (prev && next) {
        path.slot++;
        tts_freetree_remove(&s->tree, &path);
    }
    return tts_block_end(whole);
}

enum tts_status tts_space_give(struct tts_space *s, uint64_t address)
{
    uint64_t off = address - s->config.offset_bytes;
    struct tts_pair block;
    if (TTS_UNLIKELY(off >= s->config.size_bytes))
        return TTS_E_NOT_FOUND;
    if (TTS_UNLIKELY(tts_freetree_reserve(&s->tree) != TTS_OK ||
                     tts_idstack_reserve(&s->ids) != TTS_OK))
        return TTS_E_NOMEM;
    if (!tts_livemap_remove(&s->map, off, &block))
        return TTS_E_NOT_FOUND;
    s->taken_bytes -= tts_block_size(block);
    uint64_t end = release(s, block);
    /* What follows the joined block is taken, or the end: free blocks never touch. */
    if (off <= s->lowest_off && s->lowest_off != NO_LOWEST)
        s->lowest_off = end < s->config.size_bytes ? end : NO_LOWEST;
    tts_assert_expensive(tts_space_is_valid(s));
    return TTS_OK;
}

/* ---- resizing ---- */

enum tts_status tts_space_shrink(struct tts_space *s, uint64_t bytes)
{
    if (bytes > s->config.size_bytes - s->shrunk_bytes)
        return TTS_E_RANGE;
    if (bytes == 0)
        return TTS_OK;
    struct tts_freetree_path path;
    tts_freetree_seek(&s->tree, s->shrunk_bytes, &path);
    struct tts_pair first = path.leaf->slot[path.slot];
    bool is_free = tts_block_off(first) == s->shrunk_bytes;
    if (!is_free || tts_block_size(first) < bytes)
        return TTS_E_BUSY;
    if (tts_idstack_reserve(&s->ids) != TTS_OK)
        return TTS_E_NOMEM;
    s->shrunk_bytes += bytes;
    uint64_t rest = tts_block_size(first) - bytes;
    if (rest > 0) {
        tts_freetree_cut(&s->tree, &path,
                         tts_block_pack(s->shrunk_bytes, rest, tts_block_id(first)));
    } else {
        tts_freetree_remove(&s->tree, &path);
        tts_idstack_push(&s->ids, tts_block_id(first));
    }
    tts_assert_expensive(tts_space_is_valid(s));
    return TTS_OK;
}

enum tts_status tts_space_unshrink(struct tts_space *s)
{
    if (s->shrunk_bytes == 0)
        return TTS_OK;
    if (tts_freetree_reserve(&s->tree) != TTS_OK)
        return TTS_E_NOMEM;
    struct tts_freetree_path path;
    tts_freetree_seek(&s->tree, s->shrunk_bytes, &path);
    struct tts_pair first = path.leaf->slot[path.slot];
    bool is_free = tts_block_off(first) == s->shrunk_bytes;
    uint64_t end = is_free ? tts_block_end(first) : s->shrunk_bytes;
    uint32_t id = is_free ? tts_block_id(first) : tts_idstack_pop(&s->ids);
    if (is_free)
        tts_freetree_grow(&s->tree, &path, tts_block_pack(0, end, id));
    else
        tts_freetree_insert(&s->tree, &path, tts_block_pack(0, end, id));
    s->shrunk_bytes = 0;
    tts_assert_expensive(tts_space_is_valid(s));
    return TTS_OK;
}

/* ---- asking ---- */

void tts_space_stats(const struct tts_space *s, struct tts_space_stats *out)
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
    if (s->lowest_off == NO_LOWEST)
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
    uint64_t need = rounded(s, bytes);
    size_t place[TTS_SPACE_MAX_CLASSES + 1] = {0};
    /* A counting sort: how many of each class, then each block straight to its place. */
    for (const struct tts_freetree_leaf *leaf = s->tree.first; leaf; leaf = leaf->next) {
        for (uint32_t i = 0; i < leaf->count; i++) {
            uint64_t size = tts_block_size(leaf->slot[i]);
            place[tts_freetree_class_of(size, s->classes) + 1] += size >= need;
        }
    }
    for (uint32_t c = 0; c < TTS_SPACE_MAX_CLASSES; c++)
        place[c + 1] += place[c];
    size_t count = place[TTS_SPACE_MAX_CLASSES];
    for (const struct tts_freetree_leaf *leaf = s->tree.first; leaf; leaf = leaf->next) {
        for (uint32_t i = 0; i < leaf->count; i++) {
            struct tts_pair b = leaf->slot[i];
            if (tts_block_size(b) < need)
                continue;
            size_t at = place[tts_freetree_class_of(tts_block_size(b), s->classes)]++;
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

/* ---- whole states ---- */

static enum tts_status append(struct tts_space *s, const struct tts_block *b, uint64_t off)
{
    struct tts_pair words = tts_block_pack(off, b->size_bytes, b->id);
    enum tts_status status =
        b->taken ? tts_livemap_reserve(&s->map) : tts_freetree_reserve(&s->tree);
    if (status != TTS_OK)
        return status;
    if (b->taken) {
        commit(s, words);
        return TTS_OK;
    }
    struct tts_freetree_path path;
    tts_freetree_seek(&s->tree, off, &path);
    tts_freetree_insert(&s->tree, &path, words);
    return TTS_OK;
}

static enum tts_status fill_from(struct tts_space *s, const struct tts_space *from)
{
    enum tts_status status = tts_idstack_copy(&s->ids, &from->ids);
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    tts_freetree_clear(&s->tree);
    while (status == TTS_OK && tts_space_next(from, &cursor, &block))
        status = append(s, &block, block.address - from->config.offset_bytes);
    s->shrunk_bytes = from->shrunk_bytes;
    s->lowest_off = from->lowest_off;
    return status;
}

enum tts_status tts_space_copy(const struct tts_space *space, struct tts_space **out)
{
    struct tts_space *s;
    enum tts_status status = tts_space_new(&space->config, space->alloc, &s, NULL);
    if (status != TTS_OK)
        return status;
    status = fill_from(s, space);
    if (status != TTS_OK) {
        tts_space_free(s);
        return status;
    }
    *out = s;
    return TTS_OK;
}

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
    for (;;) {
        bool more = tts_space_next(a, &ca, &x);
        if (more != tts_space_next(b, &cb, &y))
            return false;
        if (!more)
            return true;
        if (x.address != y.address || x.size_bytes != y.size_bytes || x.id != y.id ||
            x.taken != y.taken)
            return false;
    }
}

void tts_space_config(const struct tts_space *s, struct tts_space_config *out)
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
