#include "ttscope/space.h"

#include "base/alloc.h"
#include "base/error.h"
#include "device/space_state.h"

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
                            .lowest_off = TTS_SPACE_NO_LOWEST,
                            .classes = tts_sizeclass_count(config->size_bytes)};
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
    uint64_t need = tts_space_rounded(s, bytes);
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
    uint64_t need = tts_space_rounded(s, bytes), off = address - s->config.offset_bytes;
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
    if (off <= s->lowest_off && s->lowest_off != TTS_SPACE_NO_LOWEST)
        s->lowest_off = end < s->config.size_bytes ? end : TTS_SPACE_NO_LOWEST;
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

/* ---- copying ---- */

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
