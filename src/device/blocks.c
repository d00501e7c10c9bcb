/* This file is compiled once for each word width, with and without AVX2: see CMakeLists.txt. */
#include "device/blocks.h"

#include "device/blocks_map.h"
#include "device/blocks_tree.h"
#include "device/space.h"
#include "device/space_state.h"

struct blocks {
    struct tts_blocks common;
    struct tree tree; /* free blocks */
    struct map map;   /* taken blocks */
};

static inline struct blocks *own(struct tts_blocks *b)
{
    return (struct blocks *)b;
}

static inline const struct blocks *own_const(const struct tts_blocks *b)
{
    return (const struct blocks *)b;
}

/* ---- life ---- */

static enum tts_status init(struct tts_blocks *b, enum tts_policy policy)
{
    uint32_t rows = policy == TTS_POLICY_BEST ? b->classes : 1;
    /* Initialize all three parts even after a failure: all three will be released. */
    enum tts_status status = tts_idstack_init(&b->ids, b->alloc);
    enum tts_status tree_status = tree_init(&own(b)->tree, b->alloc, rows, b->unit_shift);
    enum tts_status map_status = map_init(&own(b)->map, b->alloc);
    return status != TTS_OK ? status : tree_status != TTS_OK ? tree_status : map_status;
}

static void release(struct tts_blocks *b)
{
    tree_release(&own(b)->tree);
    map_release(&own(b)->map);
    tts_idstack_release(&b->ids);
}

static void clear(struct tts_blocks *b)
{
    tree_clear(&own(b)->tree);
    map_clear(&own(b)->map);
    tts_idstack_clear(&b->ids);
    b->taken_units = b->free_count = 0;
}

/* ---- counting free blocks ---- */

static inline uint32_t row_of(const struct blocks *b, tts_word size)
{
    return tts_sizeclass_of((uint64_t)size << b->common.unit_shift, b->common.classes);
}

/* Counts a free block of this size that came or went; `came` and `went` are 0 or 1. BEST also
 * counts by size class. */
static inline void count_free(struct blocks *b, tts_word size, uint64_t came, uint64_t went,
                              bool best)
{
    b->common.free_count += came - went;
    if (best) {
        uint32_t row = row_of(b, size);
        uint64_t count = b->tree.class_count[row] += came - went;
        b->tree.class_mask |= (uint32_t)came << row;
        if (TTS_UNLIKELY(count == 0))
            b->tree.class_mask &= ~(UINT32_C(1) << row);
    }
}

static inline bool is_best(const struct blocks *b)
{
    return b->tree.rows > 1;
}

/* ---- taking ---- */

/* Finds the lowest row with a block for `need`: the row of `need` itself, or the first higher
 * row that has any block. Writes the smallest size to search for in that row to *low. */
static inline bool best_row(const struct blocks *b, uint32_t height, tts_word need,
                            uint32_t *row, tts_word *low)
{
    const struct tree *t = &b->tree;
    uint32_t own_row = row_of(b, need);
    uint64_t fits;
    if (height > 0) {
        const struct node *root = t->root;
        fits = node_at_least(root, &root->max[own_row * FANOUT], need);
    } else {
        const struct leaf *leaf = t->root;
        fits = leaf_fits(leaf, need, t->low[own_row + 1]);
    }
    uint32_t higher = t->class_mask & ~((UINT32_C(2) << own_row) - 1);
    uint32_t rows = (uint32_t)(fits != 0) << own_row | higher;
    if (TTS_UNLIKELY(!rows))
        return false;
    *row = (uint32_t)__builtin_ctz(rows);
    *low = *row == own_row ? need : t->low[*row];
    return true;
}

static TTS_FORCE_INLINE enum tts_status take(struct tts_space *s, uint64_t bytes,
                                             enum tts_direction direction, uint64_t limit,
                                             uint64_t *address, bool best)
{
    struct blocks *b = own(s->blocks);
    struct tree *t = &b->tree;
    const uint32_t height = t->height;
    const uint64_t up = direction == TTS_DIRECTION_UP;
    /* The unit divides the alignment, so it divides every rounded request. */
    const uint64_t need = tts_space_rounded(s, bytes) >> s->blocks->unit_shift;
    /* A block of 0 bytes would have the same start as its neighbour. */
    if (TTS_UNLIKELY(need - 1 >= b->common.units))
        return TTS_E_FULL;
    struct path path;
    uint32_t row = 0;
    tts_word low = (tts_word)need, high = TTS_WORD_NONE;
    if (best) {
        if (!best_row(b, height, (tts_word)need, &row, &low))
            return TTS_E_FULL;
        high = t->low[row + 1];
    }
    if (!tree_fit(t, height, row, low, high, up, &path))
        return TTS_E_FULL;
    struct leaf *leaf = path.leaf;
    const uint32_t slot = path.slot;
    const uint64_t size = leaf->size[slot], rest = size - need;
    const uint64_t start = leaf->start[slot] + (rest & (up - 1));
    uint64_t exact = rest == 0;
    TTS_HIDE(exact);
    struct map_slot room;
    if (TTS_UNLIKELY(map_room(&b->map, (tts_word)start, &room) != TTS_OK))
        return TTS_E_NOMEM;
    map_put(room, (tts_word)start, (tts_word)need, leaf->id[slot]);
    leaf_take(leaf, slot, (tts_word)need, (tts_word)(need & (0 - up)), exact,
              (tts_word)tts_idstack_pop_if(&b->common.ids, (uint32_t)exact ^ 1));
    b->common.taken_units += need;
    if (best) {
        count_free(b, (tts_word)size, 0, 1, true);
        count_free(b, (tts_word)rest, exact ^ 1, 0, true);
    } else {
        b->common.free_count -= exact;
    }
    if (height > 0) {
        tree_know_first(t, &path, height, slot);
        if (best) {
            uint32_t rest_row = row_of(b, (tts_word)rest);
            tree_know_more(t, &path, height, rest_row, (tts_word)rest);
            tree_know_max(t, &path, height, row, leaf_largest_in(leaf, t->low[row], high));
        } else {
            tree_know_max(t, &path, height, 0, tts_row_largest(tts_row_load(leaf->size)));
        }
        uint64_t thin = exact & (leaf->start[LEAF_THIN] == TTS_WORD_NONE);
        TTS_HIDE(thin);
        if (TTS_UNLIKELY(thin))
            tree_thin(t, &path);
    }
    uint64_t off = start << b->common.unit_shift;
    tts_assert_expensive(tts_space_is_valid(s));
    *address = s->config.offset_bytes + off;
    if (TTS_UNLIKELY(*address < limit))
        return TTS_E_BELOW_LIMIT;
    tts_space_lower_lowest(s, off);
    return TTS_OK;
}

static enum tts_status take_first(struct tts_space *s, uint64_t bytes,
                                  enum tts_direction direction, uint64_t limit,
                                  uint64_t *address)
{
    return take(s, bytes, direction, limit, address, false);
}

static enum tts_status take_best(struct tts_space *s, uint64_t bytes,
                                 enum tts_direction direction, uint64_t limit,
                                 uint64_t *address)
{
    return take(s, bytes, direction, limit, address, true);
}

/* Replaces the free block at the path and updates the nodes above it. A size of 0 removes the
 * block. */
static void replace(struct blocks *b, struct path *path, struct tts_unit_block block)
{
    struct leaf *leaf = path->leaf;
    uint32_t slot = path->slot;
    bool gone = block.size == 0;
    count_free(b, leaf->size[slot], 0, 1, is_best(b));
    count_free(b, (tts_word)block.size, !gone, 0, is_best(b));
    if (gone)
        leaf_remove(leaf, slot);
    else
        leaf_set(leaf, slot, block);
    tree_settle(&b->tree, path);
    if (gone && b->tree.height > 0 && leaf->start[LEAF_THIN] == TTS_WORD_NONE)
        tree_thin(&b->tree, path);
}

/* Inserts a free block. Call tree_reserve() first. */
static void insert(struct blocks *b, struct tts_unit_block block)
{
    struct path path;
    tree_seek(&b->tree, (tts_word)block.start, &path);
    if (path.leaf->start[TTS_ROW - 1] != TTS_WORD_NONE) {
        tree_split(&b->tree, &path);
        tree_seek(&b->tree, (tts_word)block.start, &path);
    }
    count_free(b, (tts_word)block.size, 1, 0, is_best(b));
    leaf_insert(path.leaf, path.slot, block);
    tree_settle(&b->tree, &path);
}

/* Finds the free block that contains the range. Returns false if there is none. That block
 * starts at or below `start`, so it is the last block of its leaf before the slot for `start` +
 * 1. */
static bool seek_around(const struct blocks *b, uint64_t start, uint64_t need,
                        struct path *path)
{
    tree_seek(&b->tree, (tts_word)(start + 1), path);
    if (path->slot == 0)
        return false;
    path->slot--;
    struct tts_unit_block block = leaf_get(path->leaf, path->slot);
    uint64_t end = block.start + block.size;
    return start < end && need <= end - start;
}

static bool is_free(const struct tts_blocks *b, uint64_t start, uint64_t need)
{
    struct path path;
    return seek_around(own_const(b), start, need, &path);
}

static enum tts_status take_at(struct tts_blocks *common, uint64_t start, uint64_t need)
{
    struct blocks *b = own(common);
    struct path path;
    struct map_slot room;
    if (!seek_around(b, start, need, &path))
        return TTS_E_FULL;
    struct tts_unit_block block = leaf_get(path.leaf, path.slot);
    uint64_t end = block.start + block.size;
    if (tree_reserve(&b->tree, &path) != TTS_OK ||
        map_room(&b->map, (tts_word)start, &room) != TTS_OK)
        return TTS_E_NOMEM;
    map_put(room, (tts_word)start, (tts_word)need, (tts_word)block.id);
    common->taken_units += need;
    struct tts_unit_block left = {block.start, start - block.start, 0};
    struct tts_unit_block right = {start + need, end - start - need, 0};
    left.id = left.size ? tts_idstack_pop_if(&common->ids, 1) : 0;
    right.id = right.size ? tts_idstack_pop_if(&common->ids, 1) : 0;
    replace(b, &path, left.size ? left : right);
    if (left.size && right.size)
        insert(b, right);
    return TTS_OK;
}

/* ---- giving ---- */

/* Gives a block back in the rare cases: the next free block is in another leaf, or the leaf is
 * full. */
static TTS_COLD enum tts_status give_apart(struct blocks *b, struct map_slot taken,
                                           struct tts_unit_block block, uint64_t *end)
{
    struct path before, after;
    struct tts_unit_block prev = {0}, next = {0};
    tree_seek(&b->tree, (tts_word)block.start, &before);
    tree_seek(&b->tree, (tts_word)(block.start + block.size), &after);
    if (before.slot > 0)
        prev = leaf_get(before.leaf, --before.slot);
    if (after.slot < TTS_ROW)
        next = leaf_get(after.leaf, after.slot);
    bool joins_prev = prev.size > 0 && prev.start + prev.size == block.start;
    bool joins_next = next.size > 0 && next.start == block.start + block.size;
    if (!joins_prev && !joins_next && tree_reserve(&b->tree, &before) != TTS_OK)
        return TTS_E_NOMEM;
    map_drop(taken);
    tts_idstack_push_if(&b->common.ids, block.id, joins_prev);
    tts_idstack_push_if(&b->common.ids, next.id, joins_next);
    block.size += joins_next ? next.size : 0;
    *end = block.start + block.size;
    if (joins_prev) {
        prev.size += block.size;
        replace(b, &before, prev);
        if (joins_next) { /* last, because it may change the tree */
            next.size = 0;
            replace(b, &after, next);
        }
    } else if (joins_next) {
        replace(b, &after, block);
    } else {
        insert(b, block);
    }
    return TTS_OK;
}

/* Updates the nodes above a leaf after a block was given back to the leaf. */
static TTS_FORCE_INLINE void give_know(struct blocks *b, struct path *path, uint32_t height,
                                       uint64_t prev, uint64_t next, tts_word prev_size,
                                       tts_word next_size, tts_word whole, bool best)
{
    struct tree *t = &b->tree;
    const struct leaf *leaf = path->leaf;
    tree_know_first(t, path, height, path->slot);
    const uint32_t row = best ? row_of(b, whole) : 0;
    if (best) {
        uint32_t lost = (uint32_t)prev << row_of(b, prev_size);
        lost |= (uint32_t)next << row_of(b, next_size);
        for (lost &= ~(UINT32_C(1) << row); lost; lost &= lost - 1) {
            uint32_t other = (uint32_t)__builtin_ctz(lost);
            tree_know_max(t, path, height, other,
                          leaf_largest_in(leaf, t->low[other], t->low[other + 1]));
        }
    }
    tree_know_more(t, path, height, row, whole);
    uint64_t thin = prev & next & (leaf->start[LEAF_THIN] == TTS_WORD_NONE);
    TTS_HIDE(thin);
    if (TTS_UNLIKELY(thin))
        tree_thin(t, path);
}

/* Handles a next free block that is the first block of another leaf. If that block begins at
 * `end`, moves the path there, so that both can be joined in that leaf. Returns 1 if the case
 * needs give_apart(). */
static TTS_FORCE_INLINE uint64_t go_across(struct path *path, uint32_t height, uint64_t end,
                                           uint64_t prev)
{
    const struct node *parent = path->node[1];
    uint32_t behind = path->child[1] + 1, last = behind == parent->count;
    uint32_t full = path->slot == TTS_ROW;
    uint64_t at_end = full | (path->leaf->start[path->slot - full] == TTS_WORD_NONE);
    uint64_t across = at_end & (parent->key[behind - (behind == FANOUT)] == end);
    uint64_t trouble = (across & prev) | (at_end & last & (height > 1));
    across &= prev ^ 1;
    TTS_HIDE(across);
    if (TTS_UNLIKELY(across)) {
        path->child[1] = behind;
        path->leaf = parent->child[behind];
        path->slot = 0;
    }
    return trouble;
}

static TTS_FORCE_INLINE enum tts_status give(struct tts_space *s, uint64_t address, bool best)
{
    struct blocks *b = own(s->blocks);
    struct tree *t = &b->tree;
    const uint32_t height = t->height;
    const uint64_t off = address - s->config.offset_bytes;
    uint64_t start, end;
    if (TTS_UNLIKELY(off >= s->config.size_bytes || !tts_space_in_units(s, off, &start)))
        return TTS_E_NOT_FOUND;
    struct map_slot taken;
    if (TTS_UNLIKELY(tts_idstack_reserve(&b->common.ids) != TTS_OK))
        return TTS_E_NOMEM;
    if (TTS_UNLIKELY(!map_find(&b->map, (tts_word)start, &taken)))
        return TTS_E_NOT_FOUND;
    const uint64_t size = taken.segment->size[taken.idx];
    const uint32_t id = (uint32_t)taken.segment->id[taken.idx];
    struct path path;
    tree_seek_in(t, height, (tts_word)start, &path);
    struct leaf *leaf = path.leaf;
    /* At the edges of the leaf these slots belong to a block that cannot be adjacent, or to
     * none. */
    uint32_t before = path.slot - (path.slot > 0);
    uint64_t prev_size = leaf->size[before];
    uint64_t prev = leaf->start[before] + prev_size == start;
    TTS_HIDE(prev);
    end = start + size;
    uint64_t trouble = height > 0 ? go_across(&path, height, end, prev) : 0;
    leaf = path.leaf;
    const uint32_t slot = path.slot, after = slot - (slot == TTS_ROW);
    const uint64_t next_size = leaf->size[after];
    uint64_t next = leaf->start[after] == end;
    TTS_HIDE(next);
    trouble |= ((prev | next) ^ 1) & (leaf->start[TTS_ROW - 1] != TTS_WORD_NONE);
    TTS_HIDE(trouble);
    if (TTS_UNLIKELY(trouble)) {
        struct tts_unit_block block = {start, size, id};
        enum tts_status status = give_apart(b, taken, block, &end);
        if (status != TTS_OK)
            return status;
    } else {
        map_drop(taken);
        const uint64_t next_part = next_size & (0 - next);
        const uint64_t whole = size + next_part + (prev_size & (0 - prev));
        end += next_part;
        tts_idstack_push_if(&b->common.ids, id, (uint32_t)prev);
        tts_idstack_push_if(&b->common.ids, (uint32_t)leaf->id[after], (uint32_t)next);
        leaf_give(leaf, slot, prev, next, (tts_word)start, (tts_word)whole, (tts_word)id);
        if (best) {
            count_free(b, (tts_word)prev_size, 0, prev, true);
            count_free(b, (tts_word)next_size, 0, next, true);
            count_free(b, (tts_word)whole, 1, 0, true);
        } else {
            b->common.free_count += UINT64_C(1) - prev - next;
        }
        if (height > 0)
            give_know(b, &path, height, prev, next, (tts_word)prev_size, (tts_word)next_size,
                      (tts_word)whole, best);
    }
    b->common.taken_units -= size;
    /* After the joined block comes a taken block or the end: free blocks are never adjacent. */
    if (off <= s->lowest_off && s->lowest_off != TTS_SPACE_NO_LOWEST)
        s->lowest_off =
            end < b->common.units ? end << b->common.unit_shift : TTS_SPACE_NO_LOWEST;
    tts_assert_expensive(tts_space_is_valid(s));
    return TTS_OK;
}

static enum tts_status give_first(struct tts_space *s, uint64_t address)
{
    return give(s, address, false);
}

static enum tts_status give_best(struct tts_space *s, uint64_t address)
{
    return give(s, address, true);
}

/* ---- changing single blocks ---- */

static enum tts_status add_free(struct tts_blocks *b, struct tts_unit_block block)
{
    struct path path;
    tree_seek(&own(b)->tree, (tts_word)block.start, &path);
    if (tree_reserve(&own(b)->tree, &path) != TTS_OK)
        return TTS_E_NOMEM;
    insert(own(b), block);
    return TTS_OK;
}

static enum tts_status add_taken(struct tts_blocks *b, struct tts_unit_block block)
{
    struct map_slot room;
    if (map_room(&own(b)->map, (tts_word)block.start, &room) != TTS_OK)
        return TTS_E_NOMEM;
    map_put(room, (tts_word)block.start, (tts_word)block.size, (tts_word)block.id);
    b->taken_units += block.size;
    return TTS_OK;
}

static enum tts_status move_start(struct tts_blocks *b, uint64_t from, uint64_t to)
{
    struct path path;
    if (tts_idstack_reserve(&b->ids) != TTS_OK)
        return TTS_E_NOMEM;
    tree_seek(&own(b)->tree, (tts_word)from, &path);
    struct tts_unit_block block = leaf_get(path.leaf, path.slot);
    assert(block.start == from && block.start + block.size >= to);
    block.size = block.start + block.size - to;
    block.start = to;
    replace(own(b), &path, block);
    tts_idstack_push_if(&b->ids, block.id, block.size == 0);
    return TTS_OK;
}

/* ---- queries ---- */

static bool find_taken(const struct tts_blocks *b, uint64_t start, struct tts_unit_block *out)
{
    struct map_slot slot;
    if (!map_find(&own_const(b)->map, (tts_word)start, &slot))
        return false;
    *out = (struct tts_unit_block){start, slot.segment->size[slot.idx],
                                   (uint32_t)slot.segment->id[slot.idx]};
    return true;
}

static bool next_free(const struct tts_blocks *b, uint64_t start, struct tts_unit_block *out)
{
    const struct tree *t = &own_const(b)->tree;
    struct path path;
    tree_seek(t, (tts_word)start, &path);
    uint32_t level = 1;
    if (path.slot == TTS_ROW || path.leaf->start[path.slot] == TTS_WORD_NONE) {
        while (level <= t->height && path.child[level] + 1 == path.node[level]->count)
            level++;
        if (level > t->height)
            return false;
        void *at = path.node[level]->child[path.child[level] + 1];
        while (--level > 0)
            at = ((struct node *)at)->child[0];
        path.leaf = at;
        path.slot = 0;
    }
    *out = leaf_get(path.leaf, path.slot);
    return true;
}

static uint64_t largest_free(const struct tts_blocks *b)
{
    const struct tree *t = &own_const(b)->tree;
    if (t->height == 0)
        return tts_row_largest(tts_row_load(((const struct leaf *)t->root)->size));
    uint32_t row = is_best(own_const(b)) ? 31 - (uint32_t)__builtin_clz(t->class_mask) : 0;
    return node_largest(&((const struct node *)t->root)->max[row * FANOUT]);
}

static size_t memory(const struct tts_blocks *b)
{
    const struct blocks *own_b = own_const(b);
    return sizeof(struct blocks) + tts_chunks_memory(&own_b->tree.leaves) +
           tts_chunks_memory(&own_b->tree.nodes) + map_memory(&own_b->map) +
           tts_idstack_memory(&b->ids);
}

static bool classes_are_valid(const struct blocks *b)
{
    if (!is_best(b))
        return true; /* FIRST keeps no counts by class */
    uint64_t count[TTS_SIZECLASS_MAX] = {0};
    struct tts_unit_block block = {0};
    uint32_t mask = 0;
    for (uint64_t at = 0; next_free(&b->common, at, &block); at = block.start + block.size)
        count[row_of(b, (tts_word)block.size)]++;
    for (uint32_t row = 0; row < TTS_SIZECLASS_MAX; row++) {
        mask |= (uint32_t)(count[row] > 0) << row;
        if (count[row] != b->tree.class_count[row])
            return false;
    }
    return mask == b->tree.class_mask;
}

static bool is_valid(const struct tts_blocks *b)
{
    const struct blocks *own_b = own_const(b);
    uint64_t end = 0, count = 0;
    return tree_part_is_valid(&own_b->tree, own_b->tree.root, own_b->tree.height, &end,
                              &count) &&
           count == b->free_count && end <= b->units &&
           map_is_valid(&own_b->map, tts_blocks_taken_count(b)) &&
           tts_idstack_is_valid(&b->ids) && classes_are_valid(own_b);
}

#define OPS(policy)                                                                            \
    {                                                                                          \
        .bytes = sizeof(struct blocks), .init = init, .release = release, .clear = clear,      \
        .take = take_##policy, .is_free = is_free, .take_at = take_at, .give = give_##policy,  \
        .add_free = add_free, .add_taken = add_taken, .move_start = move_start,                \
        .find_taken = find_taken, .next_free = next_free, .largest_free = largest_free,        \
        .memory = memory, .is_valid = is_valid                                                 \
    }

/* Indexed by policy: TTS_POLICY_FIRST, TTS_POLICY_BEST. */
const struct tts_blocks_ops TTS_BLOCKS_OPS[2] = {OPS(first), OPS(best)};
