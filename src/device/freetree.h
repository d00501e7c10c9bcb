/* freetree.h: the free blocks of a space, by address.
 * A B+-tree of address-ordered leaves. For each of its rows (ranges of sizes) an inner node
 * keeps the largest size under each child, so "the first block, or the last, of this row that
 * is large enough" is one descent, and the largest block of a row is known at the top. FIRST
 * needs one row for all sizes; BEST has one for each size class. Caller's memory; one thread.
 * Blocks never touch each other; sizes are never 0. */
#pragma once

#include "base/chunks.h"
#include "base/compiler.h"
#include "device/block.h"
#include "device/sizeclass.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    TTS_FREETREE_LEAF = 24, /* slots of a leaf: a multiple of 8 */
    TTS_FREETREE_FANOUT = 16,
    TTS_FREETREE_MAX_HEIGHT = 16,
};

/* No free block has this key: it is above all. */
#define TTS_FREETREE_EMPTY (UINT64_MAX >> 1)

struct tts_freetree_leaf {
    struct tts_freetree_leaf *prev, *next;
    uint32_t count; /* the last slot is always empty: it ends searches */
    uint32_t reserved[3];
    struct tts_pair slot[TTS_FREETREE_LEAF]; /* by address; {EMPTY, 0} from `count` on */
};

union tts_freetree_child {
    struct tts_freetree_leaf *leaf;
    struct tts_freetree_inner *inner;
};

struct tts_freetree_inner {
    uint32_t count;
    uint32_t reserved[15];
    uint64_t key[TTS_FREETREE_FANOUT]; /* no block under child i > 0 starts below key[i] */
    union tts_freetree_child child[TTS_FREETREE_FANOUT];
    uint64_t max[]; /* [rows][FANOUT]: the row's largest size under a child; unused: 0 */
};

_Static_assert(sizeof(struct tts_freetree_inner) % TTS_CACHE_LINE_BYTES == 0, "whole lines");

struct tts_freetree {
    struct tts_freetree_inner *top; /* above the root, which is its only child */
    uint32_t height;                /* inner levels between top and leaves */
    uint32_t rows;
    uint32_t row_mask; /* rows that have a block */
    uint32_t spare_leaves, spare_inners;
    uint64_t count;
    struct tts_freetree_leaf *first, *spare_leaf;
    struct tts_freetree_inner *spare_inner;
    struct tts_chunks leaves, inners;
};

/* A place in the tree: a slot of a leaf and the way to it. Level 1 is the leaf's parent, level
 * height + 1 the top. */
struct tts_freetree_path {
    struct tts_freetree_leaf *leaf;
    uint32_t slot;
    uint32_t child[TTS_FREETREE_MAX_HEIGHT];
    struct tts_freetree_inner *node[TTS_FREETREE_MAX_HEIGHT];
};

/* One row holds every size; `rows` > 1 are size classes: row r > 0 begins at 2^r KiB. */
TTS_NODISCARD enum tts_status tts_freetree_init(struct tts_freetree *tree,
                                                const struct tts_alloc *alloc, uint32_t rows);
void tts_freetree_release(struct tts_freetree *tree);
void tts_freetree_clear(struct tts_freetree *tree);
size_t tts_freetree_memory(const struct tts_freetree *tree);
/* Order, counts, links, separators, every maximum: O(n). */
bool tts_freetree_is_valid(const struct tts_freetree *tree);

/* The rare halves of the functions below. */
enum tts_status tts_freetree_reserve_more(struct tts_freetree *tree);
void tts_freetree_carry_max(struct tts_freetree *tree, const struct tts_freetree_path *path,
                            uint32_t row);
void tts_freetree_raise_key(const struct tts_freetree *tree,
                            const struct tts_freetree_path *path, uint64_t off);
uint64_t tts_freetree_leaf_max(const struct tts_freetree *tree,
                               const struct tts_freetree_leaf *leaf, uint32_t row);
void tts_freetree_split_leaf(struct tts_freetree *tree, struct tts_freetree_path *path);
void tts_freetree_thin_leaf(struct tts_freetree *tree, struct tts_freetree_path *path);

/* ---- rows ---- */

static inline uint32_t tts_freetree_row_of(const struct tts_freetree *tree, uint64_t size)
{
    return tree->rows == 1 ? 0 : tts_sizeclass_of(size, tree->rows);
}

/* One past the row's largest size. Sizes stay below 2^47 - 1, where the last row ends. */
static inline uint64_t tts_freetree_row_high(const struct tts_freetree *tree, uint32_t row)
{
    return row + 1 < tree->rows ? tts_sizeclass_low(row + 1) : (UINT64_C(1) << 47) - 1;
}

/* The largest size of a row in the whole tree, 0: none. */
static inline uint64_t tts_freetree_row_max(const struct tts_freetree *tree, uint32_t row)
{
    return tree->top->max[row * TTS_FREETREE_FANOUT];
}

/* ---- searching: fixed counts and few branches ---- */

/* The first or the last bit of a mask that has one. */
static inline uint32_t tts_freetree_pick(uint32_t mask, bool lowest)
{
    return (uint32_t)(lowest ? __builtin_ctz(mask) : 31 - __builtin_clz(mask));
}

/* The slot nearest to the chosen end whose value is in [low, high); there is one. */
static inline uint32_t tts_freetree_leaf_fit(const struct tts_freetree_leaf *leaf, uint64_t low,
                                             uint64_t high, bool lowest)
{
    uint32_t group = lowest ? 0 : (leaf->count - 1) & ~7u;
    for (;;) {
        const struct tts_pair *v = &leaf->slot[group];
        uint32_t fits = tts_pairs_values_below8(v, low) ^ 0xff;
        if (high)
            fits &= tts_pairs_values_below8(v, high);
        if (fits)
            return group + tts_freetree_pick(fits, lowest);
        group = lowest ? group + 8 : group - 8;
    }
}

/* How many blocks of a leaf start below `off`. In sorted numbers the smaller ones come first.
 */
static inline uint32_t tts_freetree_leaf_rank(const struct tts_freetree_leaf *leaf,
                                              uint64_t off)
{
    uint64_t key = off << 16;
    uint32_t group = 0;
    for (uint32_t i = 8; i < TTS_FREETREE_LEAF; i += 8)
        group += (leaf->slot[i].key < key) * 8u;
    uint32_t below = tts_pairs_keys_below8(&leaf->slot[group], key);
    return group + (uint32_t)__builtin_ctz(~below);
}

/* Finds the block of at least `need` bytes nearest to the chosen end, in the lowest row that
 * has one. False: none. */
static inline bool tts_freetree_fit(const struct tts_freetree *tree, uint64_t need, bool lowest,
                                    struct tts_freetree_path *path)
{
    uint32_t row = tts_freetree_row_of(tree, need);
    if (tts_freetree_row_max(tree, row) < need) {
        uint32_t higher = tree->row_mask & ~((2u << row) - 1);
        if (!higher)
            return false;
        row = (uint32_t)__builtin_ctz(higher);
        need = tts_sizeclass_low(row);
    }
    uint32_t level = tree->height + 1, idx = 0;
    struct tts_freetree_inner *node = tree->top;
    for (;;) {
        path->node[level] = node;
        path->child[level] = idx;
        if (--level == 0)
            break;
        node = node->child[idx].inner;
        const uint64_t *max = &node->max[row * TTS_FREETREE_FANOUT];
        idx = tts_freetree_pick(tts_numbers_below16(max, need) ^ 0xffff, lowest);
    }
    path->leaf = node->child[idx].leaf;
    uint64_t high = row + 1 < tree->rows ? tts_freetree_row_high(tree, row) << 16 : 0;
    path->slot = tts_freetree_leaf_fit(path->leaf, need << 16, high, lowest);
    return true;
}

/* Where a block at `off` is or would be: the first slot of its leaf at or after `off`. */
static inline void tts_freetree_seek(const struct tts_freetree *tree, uint64_t off,
                                     struct tts_freetree_path *path)
{
    uint32_t level = tree->height + 1, idx = 0;
    struct tts_freetree_inner *node = tree->top;
    for (;;) {
        path->node[level] = node;
        path->child[level] = idx;
        if (--level == 0)
            break;
        node = node->child[idx].inner;
        uint32_t not_above = tts_numbers_below16(node->key, off + 1) | 1;
        idx = (uint32_t)__builtin_ctz(~not_above) - 1;
    }
    path->leaf = node->child[idx].leaf;
    path->slot = tts_freetree_leaf_rank(path->leaf, off);
}

/* ---- maxima ---- */

/* What the node at a level of the path knows of its child there. */
static inline uint64_t *tts_freetree_known(const struct tts_freetree_path *path, uint32_t level,
                                           uint32_t row)
{
    return &path->node[level]->max[row * TTS_FREETREE_FANOUT + path->child[level]];
}

/* The leaf's largest size of a row is now `max`: write it where it is known, and carry it up in
 * the few cases that change what is known above. */
static inline void tts_freetree_know(struct tts_freetree *tree,
                                     const struct tts_freetree_path *path, uint32_t row,
                                     uint64_t max)
{
    uint64_t *known = &path->node[1]->max[row * TTS_FREETREE_FANOUT];
    uint64_t old = known[path->child[1]];
    tts_numbers_put(known, path->child[1], max);
    if (tree->height == 0) {
        if (max == 0 || old == 0)
            tree->row_mask ^= (uint32_t)(max != old) << row;
        return;
    }
    uint64_t above = *tts_freetree_known(path, 2, row);
    if (TTS_UNLIKELY(max > above || old == above))
        tts_freetree_carry_max(tree, path, row);
}

/* A block of `size` is now in the path's leaf. */
static inline void tts_freetree_came(struct tts_freetree *tree,
                                     const struct tts_freetree_path *path, uint32_t row,
                                     uint64_t size)
{
    if (size > *tts_freetree_known(path, 1, row))
        tts_freetree_know(tree, path, row, size);
}

/* A block of `size` has left it. */
static inline void tts_freetree_went(struct tts_freetree *tree,
                                     const struct tts_freetree_path *path, uint32_t row,
                                     uint64_t size)
{
    if (size == *tts_freetree_known(path, 1, row))
        tts_freetree_know(tree, path, row, tts_freetree_leaf_max(tree, path->leaf, row));
}

/* ---- changing ---- */

/* Makes sure that the next insert has the nodes it may need: a leaf, a node on each level and a
 * new root. */
static inline enum tts_status tts_freetree_reserve(struct tts_freetree *tree)
{
    if (TTS_LIKELY(tree->spare_leaves && tree->spare_inners > tree->height))
        return TTS_OK;
    return tts_freetree_reserve_more(tree);
}

/* The block at the path has lost a part: `rest` is what is left of it. */
static inline void tts_freetree_cut(struct tts_freetree *tree,
                                    const struct tts_freetree_path *path, struct tts_pair rest)
{
    struct tts_pair *slot = &path->leaf->slot[path->slot];
    uint64_t old_size = tts_block_size(*slot), size = tts_block_size(rest);
    tts_pairs_store(slot, rest);
    tts_freetree_went(tree, path, tts_freetree_row_of(tree, old_size), old_size);
    if (tree->rows > 1)
        tts_freetree_came(tree, path, tts_freetree_row_of(tree, size), size);
    if (path->slot + 1 == path->leaf->count)
        tts_freetree_raise_key(tree, path, tts_block_off(rest));
}

/* The block at the path is no longer free. Ends the path. */
static inline void tts_freetree_remove(struct tts_freetree *tree,
                                       struct tts_freetree_path *path)
{
    struct tts_freetree_leaf *leaf = path->leaf;
    uint64_t size = tts_block_size(leaf->slot[path->slot]);
    tts_pairs_close(leaf->slot, path->slot, leaf->count);
    leaf->count--;
    tree->count--;
    tts_freetree_went(tree, path, tts_freetree_row_of(tree, size), size);
    if (TTS_UNLIKELY(leaf->count < TTS_FREETREE_LEAF / 4) && tree->height > 0)
        tts_freetree_thin_leaf(tree, path);
}

/* The block at the path has grown to `whole`. */
static inline void tts_freetree_grow(struct tts_freetree *tree,
                                     const struct tts_freetree_path *path,
                                     struct tts_pair whole)
{
    struct tts_pair *slot = &path->leaf->slot[path->slot];
    uint64_t old_size = tts_block_size(*slot), size = tts_block_size(whole);
    tts_pairs_store(slot, whole);
    uint32_t row = tts_freetree_row_of(tree, size);
    tts_freetree_came(tree, path, row, size);
    if (tree->rows > 1 && tts_freetree_row_of(tree, old_size) != row)
        tts_freetree_went(tree, path, tts_freetree_row_of(tree, old_size), old_size);
}

/* A free block comes to the path's slot: where a seek to it led, or after the block left of it.
 * Needs a reserve; ends the path. */
static inline void tts_freetree_insert(struct tts_freetree *tree,
                                       struct tts_freetree_path *path, struct tts_pair block)
{
    struct tts_freetree_leaf *leaf = path->leaf;
    uint64_t size = tts_block_size(block);
    tts_pairs_open(leaf->slot, path->slot, leaf->count);
    tts_pairs_store(&leaf->slot[path->slot], block);
    leaf->count++;
    tree->count++;
    tts_freetree_came(tree, path, tts_freetree_row_of(tree, size), size);
    if (path->slot + 1 == leaf->count)
        tts_freetree_raise_key(tree, path, tts_block_off(block));
    if (TTS_UNLIKELY(leaf->count == TTS_FREETREE_LEAF))
        tts_freetree_split_leaf(tree, path);
}
