/* blocks_tree.h: a B+-tree of the free blocks of a space, ordered by address. Part of blocks.c.
 *
 * Sizes are grouped into rows (ranges of sizes). FIRST needs one row for all sizes; BEST has a
 * row for each size class. For each row, a node keeps the largest size under each child. So one
 * descent finds the first or the last block of a row that is large enough. A node also keeps
 * the start of the first block under each child. So one descent finds the leaf with the free
 * block before any address. Free blocks are never adjacent, and no size is 0. */
#pragma once

#include "base/chunks.h"
#include "base/compiler.h"
#include "device/blocks_leaf.h"
#include "device/sizeclass.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <string.h>

enum {
    FANOUT = 64,
    MAX_HEIGHT = 12, /* enough for 32^11 operations, because a node splits only after 32 splits
                        below it */
    /* A leaf with at most this many blocks is joined with a neighbour. */
    LEAF_THIN = TTS_ROW / 8,
    LEAF_JOINED =
        TTS_ROW * 5 /
        8, /* two leaves are joined only if they have at most this many blocks together */
    LEAVES_PER_CHUNK = 4,
};

struct node {
    tts_word key[FANOUT]; /* start of the first block under each child; TTS_WORD_NONE for unused
                             places */
    void *child[FANOUT];
    uint32_t count, padding[15];
    /* For each row FANOUT sizes: the largest size of the row under each child; 0 for unused
     * places. */
    tts_word max[];
};

struct tree {
    void *root;
    uint32_t height; /* number of levels of nodes; 0 if the root is a leaf */
    uint32_t rows;
    uint32_t class_mask; /* one bit for each row that has a block; kept for BEST only */
    void *spare_leaf, *spare_node; /* lists of unused leaves and nodes; the first word of each
                                      points to the next */
    struct tts_chunks leaves, nodes;
    /* The lowest size of each row. The entry after the last row is above all sizes. */
    tts_word low[TTS_SIZECLASS_MAX + 1];
    uint64_t class_count[TTS_SIZECLASS_MAX];
};

/* The way from the root to a slot of a leaf: node[height] is the root, node[1] is the parent of
 * the leaf, and child[i] is the index of the child taken in node[i]. */
struct path {
    struct leaf *leaf;
    uint32_t slot;
    uint32_t child[MAX_HEIGHT];
    struct node *node[MAX_HEIGHT];
};

/* ---- rows of a node ---- */

static inline uint64_t node_at_least(const struct node *n, const tts_word *row, tts_word x)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < n->count; i += TTS_ROW)
        bits |= (uint64_t)tts_row_bits(tts_row_at_least(tts_row_load(row + i), tts_row_all(x)))
                << i;
    return bits;
}

static inline tts_word node_largest(const tts_word *row)
{
    tts_word largest = 0;
    for (uint32_t i = 0; i < FANOUT; i += TTS_ROW) {
        tts_word one = tts_row_largest(tts_row_load(row + i));
        largest = one > largest ? one : largest;
    }
    return largest;
}

/* ---- searching ---- */

/* Returns the lowest set bit of a mask if `first` is 1, or the highest one if it is 0. The mask
 * must not be 0. */
static inline uint32_t pick(uint64_t mask, uint64_t first)
{
    return 63 ^ (uint32_t)__builtin_clzll(mask & ((0 - mask) | (first - 1)));
}

/* Finds the place of a block that begins at `start`: the leaf for this address, and the slot
 * after all blocks of the leaf that start below it. */
static inline void tree_seek_in(const struct tree *t, uint32_t height, tts_word start,
                                struct path *path)
{
    void *at = t->root;
    for (uint32_t level = height; level > 0; level--) {
        struct node *n = at;
        /* Any start below the second key belongs to the first child, so the first key is not
         * compared. */
        uint64_t used = (UINT64_C(2) << (n->count - 1)) - 1;
        uint64_t not_above = (~node_at_least(n, n->key, (tts_word)(start + 1)) & used) | 1;
        uint32_t idx = 63 ^ (uint32_t)__builtin_clzll(not_above);
        path->node[level] = n;
        path->child[level] = idx;
        at = n->child[idx];
    }
    path->leaf = at;
    __builtin_prefetch(path->leaf->size);
    __builtin_prefetch(path->leaf->id);
    path->slot = bits_first(
        tts_row_bits(tts_row_at_least(tts_row_load(path->leaf->start), tts_row_all(start))));
}

static inline void tree_seek(const struct tree *t, tts_word start, struct path *path)
{
    tree_seek_in(t, t->height, start, path);
}

/* Finds a block of a row whose size is at least `low` and below `high`: the one with the lowest
 * address if `first` is 1, else the one with the highest. Returns false if there is none. */
static inline bool tree_fit(const struct tree *t, uint32_t height, uint32_t row, tts_word low,
                            tts_word high, uint64_t first, struct path *path)
{
    void *at = t->root;
    for (uint32_t level = height; level > 0; level--) {
        struct node *n = at;
        uint64_t fits = node_at_least(n, &n->max[row * FANOUT], low);
        if (TTS_UNLIKELY(!fits))
            return false;
        uint32_t idx = pick(fits, first);
        path->node[level] = n;
        path->child[level] = idx;
        at = n->child[idx];
    }
    path->leaf = at;
    __builtin_prefetch(path->leaf->start);
    __builtin_prefetch(path->leaf->id);
    uint32_t fits = leaf_fits(path->leaf, low, high);
    if (TTS_UNLIKELY(!fits))
        return false;
    path->slot = pick(fits, first);
    return true;
}

/* ---- updating the nodes ---- */

/* The maximum of a row has changed in the path's node on `level`. Updates the maximum in the
 * nodes above, up to the root. */
static TTS_COLD void tree_carry_max(const struct tree *t, const struct path *path,
                                    uint32_t level, uint32_t row)
{
    while (++level <= t->height) {
        tts_word max = node_largest(&path->node[level - 1]->max[row * FANOUT]);
        tts_word *known = &path->node[level]->max[row * FANOUT];
        if (known[path->child[level]] == max)
            return;
        tts_row_put(known, path->child[level], max);
    }
}

/* Sets the largest size of a row in the path's leaf to `max`, and updates the nodes above
 * it. */
static inline void tree_know_max(const struct tree *t, const struct path *path, uint32_t height,
                                 uint32_t row, tts_word max)
{
    tts_word *known = &path->node[1]->max[row * FANOUT];
    tts_word old = known[path->child[1]];
    tts_row_put(known, path->child[1], max);
    if (height > 1) {
        tts_word above = path->node[2]->max[row * FANOUT + path->child[2]];
        uint32_t carries = (max > above) | ((old == above) & (max != old));
        TTS_HIDE(carries);
        if (TTS_UNLIKELY(carries))
            tree_carry_max(t, path, 1, row);
    }
}

/* Updates the maxima in the nodes above the path's leaf after a block of this size was added to
 * a row. */
static inline void tree_know_more(const struct tree *t, const struct path *path,
                                  uint32_t height, uint32_t row, tts_word size)
{
    tts_word known = path->node[1]->max[row * FANOUT + path->child[1]];
    tree_know_max(t, path, height, row, size > known ? size : known);
}

/* Sets the start of the first block under the path's child on `level`, and updates the nodes
 * above. */
static void tree_know_key(const struct tree *t, const struct path *path, uint32_t level,
                          tts_word start)
{
    for (; level <= t->height; level++) {
        tts_row_put(path->node[level]->key, path->child[level], start);
        if (path->child[level] > 0)
            return;
    }
}

/* Updates the keys in the nodes after the block in the path's `slot` changed. Only the first
 * block of a leaf is part of a key. */
static inline void tree_know_first(const struct tree *t, const struct path *path,
                                   uint32_t height, uint32_t slot)
{
    tts_word start = path->leaf->start[0];
    tts_row_put(path->node[1]->key, path->child[1], start);
    if (height > 1) {
        uint32_t higher = (slot | path->child[1]) == 0;
        TTS_HIDE(higher);
        if (TTS_UNLIKELY(higher))
            tree_know_key(t, path, 2, start);
    }
}

static inline tts_word leaf_max(const struct tree *t, const struct leaf *leaf, uint32_t row)
{
    return t->rows == 1 ? tts_row_largest(tts_row_load(leaf->size))
                        : leaf_largest_in(leaf, t->low[row], t->low[row + 1]);
}

/* Updates the keys and all maxima in the nodes above the path's leaf. */
static void tree_settle(const struct tree *t, const struct path *path)
{
    if (t->height == 0)
        return;
    tree_know_key(t, path, 1, path->leaf->start[0]);
    for (uint32_t row = 0; row < t->rows; row++)
        tree_know_max(t, path, t->height, row, leaf_max(t, path->leaf, row));
}

/* ---- memory ---- */

static size_t node_bytes(const struct tree *t)
{
    return sizeof(struct node) + sizeof(tts_word) * FANOUT * t->rows;
}

static void spare_push(void **list, void *memory)
{
    *(void **)memory = *list;
    *list = memory;
}

static void *spare_pop(void **list)
{
    void *memory = *list;
    assert(memory);
    *list = *(void **)memory;
    return memory;
}

static struct leaf *leaf_new(struct tree *t)
{
    struct leaf *leaf = spare_pop(&t->spare_leaf);
    leaf_empty(leaf, 0);
    return leaf;
}

static void node_empty(const struct tree *t, struct node *n, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        n->key[i] = TTS_WORD_NONE;
        n->child[i] = NULL;
        for (uint32_t row = 0; row < t->rows; row++)
            n->max[row * FANOUT + i] = 0;
    }
    n->count = from;
}

static struct node *node_new(struct tree *t)
{
    struct node *n = spare_pop(&t->spare_node);
    node_empty(t, n, 0, FANOUT);
    return n;
}

static enum tts_status tree_add_leaves(struct tree *t)
{
    unsigned char *chunk = tts_chunks_add(&t->leaves);
    if (!chunk)
        return TTS_E_NOMEM;
    for (size_t i = 0; i < LEAVES_PER_CHUNK; i++)
        spare_push(&t->spare_leaf, chunk + i * sizeof(struct leaf));
    return TTS_OK;
}

/* Reserves the memory that one more block in the path's leaf may need: a leaf, a node for each
 * level that is full, and a new root. */
static enum tts_status tree_reserve(struct tree *t, const struct path *path)
{
    if (path->leaf->start[TTS_ROW - 1] == TTS_WORD_NONE)
        return TTS_OK;
    if (!t->spare_leaf && tree_add_leaves(t) != TTS_OK)
        return TTS_E_NOMEM;
    uint32_t level = 1;
    while (level <= t->height && path->node[level]->count == FANOUT)
        level++;
    uint32_t missing = level - 1 + (level > t->height);
    for (void *spare = t->spare_node; spare && missing > 0; spare = *(void **)spare)
        missing--;
    for (; missing > 0; missing--) {
        void *chunk = tts_chunks_add(&t->nodes);
        if (!chunk)
            return TTS_E_NOMEM;
        spare_push(&t->spare_node, chunk);
    }
    return TTS_OK;
}

static enum tts_status tree_init(struct tree *t, const struct tts_alloc *alloc, uint32_t rows,
                                 uint32_t unit_shift)
{
    *t = (struct tree){.rows = rows};
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t low = tts_sizeclass_low(row), unit = UINT64_C(1) << unit_shift;
        t->low[row] = (tts_word)((low + unit - 1) >> unit_shift);
    }
    t->low[rows] = TTS_WORD_NONE;
    tts_chunks_init(&t->leaves, alloc, LEAVES_PER_CHUNK * sizeof(struct leaf));
    tts_chunks_init(&t->nodes, alloc, node_bytes(t));
    if (tree_add_leaves(t) != TTS_OK)
        return TTS_E_NOMEM;
    t->root = leaf_new(t);
    return TTS_OK;
}

static void tree_release(struct tree *t)
{
    tts_chunks_release(&t->leaves);
    tts_chunks_release(&t->nodes);
}

static void tree_clear(struct tree *t)
{
    t->spare_leaf = t->spare_node = NULL;
    t->height = t->class_mask = 0;
    for (size_t i = 0; i < t->leaves.count * LEAVES_PER_CHUNK; i++)
        spare_push(&t->spare_leaf, t->leaves.chunk[i / LEAVES_PER_CHUNK] +
                                       i % LEAVES_PER_CHUNK * sizeof(struct leaf));
    for (size_t i = 0; i < t->nodes.count; i++)
        spare_push(&t->spare_node, t->nodes.chunk[i]);
    for (uint32_t row = 0; row < TTS_SIZECLASS_MAX; row++)
        t->class_count[row] = 0;
    t->root = leaf_new(t);
}

/* ---- growing ---- */

/* Moves children, with their keys and maxima, to another place in the same or another node. */
static void node_move(const struct tree *t, struct node *to, uint32_t to_idx,
                      const struct node *from, uint32_t from_idx, uint32_t count)
{
    memmove(&to->key[to_idx], &from->key[from_idx], count * sizeof(to->key[0]));
    memmove(&to->child[to_idx], &from->child[from_idx], count * sizeof(to->child[0]));
    for (uint32_t row = 0; row < t->rows; row++)
        memmove(&to->max[row * FANOUT + to_idx], &from->max[row * FANOUT + from_idx],
                count * sizeof(to->max[0]));
}

static void node_insert(const struct tree *t, struct node *n, uint32_t idx, tts_word key,
                        void *child)
{
    node_move(t, n, idx + 1, n, idx, n->count - idx);
    n->key[idx] = key;
    n->child[idx] = child;
    n->count++;
}

/* Computes the maxima of one child of a node on `level`. The children of a node on level 1 are
 * leaves. */
static void node_learn(const struct tree *t, struct node *n, uint32_t level, uint32_t idx)
{
    for (uint32_t row = 0; row < t->rows; row++) {
        const struct node *child = n->child[idx];
        n->max[row * FANOUT + idx] = level == 1 ? leaf_max(t, n->child[idx], row)
                                                : node_largest(&child->max[row * FANOUT]);
    }
}

static struct node *node_split(struct tree *t, struct node *n)
{
    struct node *right = node_new(t);
    node_move(t, right, 0, n, FANOUT / 2, FANOUT / 2);
    right->count = FANOUT / 2;
    node_empty(t, n, FANOUT / 2, FANOUT);
    return right;
}

/* Inserts `right` after the path's child on `level`. `right` has blocks of that child, so the
 * keys and maxima above this node stay correct. */
static void tree_insert_child(struct tree *t, struct path *path, uint32_t level, tts_word key,
                              void *right)
{
    if (level > t->height) { /* a new root above the old root */
        struct node *root = node_new(t);
        tts_word first =
            level == 1 ? ((struct leaf *)t->root)->start[0] : ((struct node *)t->root)->key[0];
        assert(t->height + 1 < MAX_HEIGHT);
        node_insert(t, root, 0, first, t->root);
        t->root = path->node[level] = root;
        path->child[level] = 0;
        t->height++;
    }
    struct node *n = path->node[level];
    uint32_t idx = path->child[level];
    if (n->count == FANOUT) {
        struct node *half = node_split(t, n);
        tree_insert_child(t, path, level + 1, half->key[0], half);
        if (idx >= FANOUT / 2) {
            n = half;
            idx -= FANOUT / 2;
        }
    }
    node_insert(t, n, idx + 1, key, right);
    node_learn(t, n, level, idx);
    node_learn(t, n, level, idx + 1);
}

/* Splits the path's leaf, which is full, in two. tree_reserve() must have reserved the memory.
 * The path is invalid afterwards. */
static TTS_COLD void tree_split(struct tree *t, struct path *path)
{
    struct leaf *left = path->leaf, *right = leaf_new(t);
    enum { KEPT = TTS_ROW / 2 };
    memcpy(right->start, &left->start[KEPT], sizeof(tts_word) * (TTS_ROW - KEPT));
    memcpy(right->size, &left->size[KEPT], sizeof(tts_word) * (TTS_ROW - KEPT));
    memcpy(right->id, &left->id[KEPT], sizeof(tts_word) * (TTS_ROW - KEPT));
    leaf_empty(left, KEPT);
    tree_insert_child(t, path, 1, right->start[0], right);
}

/* ---- shrinking ---- */

/* Removes the path's child on `level` from its node. Another child must be left on this level.
 * Also removes nodes without children, and a root with only one child. */
static void tree_drop_child(struct tree *t, const struct path *path, uint32_t level)
{
    struct node *n = path->node[level];
    uint32_t idx = path->child[level];
    node_move(t, n, idx, n, idx + 1, n->count - idx - 1);
    node_empty(t, n, n->count - 1, n->count);
    if (n->count == 0) {
        spare_push(&t->spare_node, n);
        tree_drop_child(t, path, level + 1);
        return;
    }
    if (idx == 0)
        tree_know_key(t, path, level + 1, n->key[0]);
    for (uint32_t row = 0; row < t->rows; row++)
        tree_carry_max(t, path, level, row);
    while (t->height > 0 && ((struct node *)t->root)->count == 1) {
        struct node *root = t->root;
        t->root = root->child[0];
        t->height--;
        spare_push(&t->spare_node, root);
    }
}

/* Moves all blocks of the next leaf into the path's leaf, if both have few enough. Returns true
 * if it did. */
static bool tree_join_next(struct tree *t, struct path *path)
{
    struct node *n = path->node[1];
    uint32_t idx = path->child[1];
    struct leaf *left = n->child[idx], *right = n->child[idx + 1];
    uint32_t kept = leaf_count(left), moved = leaf_count(right);
    if (kept + moved > LEAF_JOINED)
        return false;
    memcpy(&left->start[kept], right->start, sizeof(tts_word) * moved);
    memcpy(&left->size[kept], right->size, sizeof(tts_word) * moved);
    memcpy(&left->id[kept], right->id, sizeof(tts_word) * moved);
    node_learn(t, n, 1, idx);
    spare_push(&t->spare_leaf, right);
    path->child[1] = idx + 1;
    tree_drop_child(t, path, 1);
    return true;
}

/* Removes the path's leaf if it is empty; otherwise joins it with a neighbour if possible. The
 * path is invalid afterwards. */
static TTS_COLD void tree_thin(struct tree *t, struct path *path)
{
    struct node *n = path->node[1];
    if (path->leaf->start[0] == TTS_WORD_NONE) {
        spare_push(&t->spare_leaf, path->leaf);
        tree_drop_child(t, path, 1);
        return;
    }
    if (path->child[1] + 1 < n->count && tree_join_next(t, path))
        return;
    if (path->child[1] > 0) {
        path->child[1]--;
        tree_join_next(t, path);
    }
}

/* ---- checking ---- */

/* Returns true if everything under a node on `level` is correct: keys, maxima and order.
 * Advances *end to the end of the last block and adds the number of blocks to *count. */
static bool tree_part_is_valid(const struct tree *t, const void *at, uint32_t level,
                               uint64_t *end, uint64_t *count)
{
    if (level == 0) {
        const struct leaf *leaf = at;
        uint32_t blocks = leaf_count(leaf);
        for (uint32_t i = 0; i < TTS_ROW; i++) {
            if (i >= blocks) {
                if (leaf->start[i] != TTS_WORD_NONE || leaf->size[i] != 0)
                    return false;
                continue;
            }
            bool touches = *count > 0 && leaf->start[i] <= *end;
            if (touches || leaf->size[i] == 0)
                return false;
            *end = (uint64_t)leaf->start[i] + leaf->size[i];
            ++*count;
        }
        return blocks > 0 || t->height == 0;
    }
    const struct node *n = at;
    bool is_root = level == t->height;
    if (n->count < 1 + (uint32_t)is_root || n->count > FANOUT)
        return false;
    for (uint32_t i = 0; i < FANOUT; i++) {
        if (i >= n->count) {
            bool used = n->key[i] != TTS_WORD_NONE || n->child[i];
            for (uint32_t row = 0; row < t->rows; row++)
                used |= n->max[row * FANOUT + i] != 0;
            if (used)
                return false;
            continue;
        }
        const struct leaf *leaf = n->child[i];
        const struct node *node = n->child[i];
        if (n->key[i] != (level == 1 ? leaf->start[0] : node->key[0]))
            return false;
        for (uint32_t row = 0; row < t->rows; row++) {
            tts_word max =
                level == 1 ? leaf_max(t, leaf, row) : node_largest(&node->max[row * FANOUT]);
            if (n->max[row * FANOUT + i] != max)
                return false;
        }
        if (!tree_part_is_valid(t, n->child[i], level - 1, end, count))
            return false;
    }
    return true;
}
