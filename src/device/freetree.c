#include "device/freetree.h"

#include <string.h>

enum {
    LEAF = TTS_FREETREE_LEAF,
    FANOUT = TTS_FREETREE_FANOUT,
    LEAF_JOINED = LEAF * 3 / 4, /* a thin leaf joins its neighbour when both fit in so many */
    NODE_THIN = FANOUT / 4,
    NODE_JOINED = FANOUT * 3 / 4,
    LEAVES_PER_CHUNK = 8,
};

#define KEY_UNUSED (UINT64_MAX >> 1) /* above every offset */

/* ---- nodes ---- */

static size_t inner_bytes(const struct tts_freetree *tree)
{
    return sizeof(struct tts_freetree_inner) + sizeof(uint64_t) * FANOUT * tree->rows;
}

/* Between two leaves. */
static void leaf_move(struct tts_freetree_leaf *to, uint32_t to_slot,
                      const struct tts_freetree_leaf *from, uint32_t from_slot, uint32_t count)
{
    memcpy(&to->slot[to_slot], &from->slot[from_slot], count * sizeof(to->slot[0]));
}

static void leaf_empty(struct tts_freetree_leaf *leaf, uint32_t from)
{
    for (uint32_t i = from; i < LEAF; i++)
        leaf->slot[i] = (struct tts_pair){TTS_FREETREE_EMPTY, 0};
    leaf->count = from;
}

static void inner_empty(const struct tts_freetree *tree, struct tts_freetree_inner *node,
                        uint32_t from)
{
    for (uint32_t i = from; i < FANOUT; i++) {
        node->key[i] = KEY_UNUSED;
        node->child[i].leaf = NULL;
        for (uint32_t row = 0; row < tree->rows; row++)
            node->max[row * FANOUT + i] = 0;
    }
    node->count = from;
}

static void leaf_spare(struct tts_freetree *tree, struct tts_freetree_leaf *leaf)
{
    leaf->next = tree->spare_leaf;
    tree->spare_leaf = leaf;
    tree->spare_leaves++;
}

static void inner_spare(struct tts_freetree *tree, struct tts_freetree_inner *node)
{
    node->child[0].inner = tree->spare_inner;
    tree->spare_inner = node;
    tree->spare_inners++;
}

static struct tts_freetree_leaf *leaf_take(struct tts_freetree *tree)
{
    struct tts_freetree_leaf *leaf = tree->spare_leaf;
    assert(leaf);
    tree->spare_leaf = leaf->next;
    tree->spare_leaves--;
    leaf->prev = leaf->next = NULL;
    leaf_empty(leaf, 0);
    return leaf;
}

static struct tts_freetree_inner *inner_take(struct tts_freetree *tree)
{
    struct tts_freetree_inner *node = tree->spare_inner;
    assert(node);
    tree->spare_inner = node->child[0].inner;
    tree->spare_inners--;
    inner_empty(tree, node, 0);
    return node;
}

static void leaf_chunk_spare(struct tts_freetree *tree, unsigned char *chunk)
{
    struct tts_freetree_leaf *leaf = (struct tts_freetree_leaf *)(void *)chunk;
    for (uint32_t i = 0; i < LEAVES_PER_CHUNK; i++)
        leaf_spare(tree, leaf + i);
}

TTS_COLD enum tts_status tts_freetree_reserve_more(struct tts_freetree *tree)
{
    if (!tree->spare_leaves) {
        unsigned char *chunk = tts_chunks_add(&tree->leaves);
        if (!chunk)
            return TTS_E_NOMEM;
        leaf_chunk_spare(tree, chunk);
    }
    while (tree->spare_inners <= tree->height) {
        void *chunk = tts_chunks_add(&tree->inners);
        if (!chunk)
            return TTS_E_NOMEM;
        inner_spare(tree, chunk);
    }
    return TTS_OK;
}

static void start_empty(struct tts_freetree *tree)
{
    tree->height = 0;
    tree->row_mask = 0;
    tree->count = 0;
    tree->first = leaf_take(tree);
    tree->top = inner_take(tree);
    tree->top->count = 1;
    tree->top->child[0].leaf = tree->first;
}

enum tts_status tts_freetree_init(struct tts_freetree *tree, const struct tts_alloc *alloc,
                                  uint32_t rows)
{
    assert(rows >= 1 && rows <= TTS_SIZECLASS_MAX);
    *tree = (struct tts_freetree){.rows = rows};
    tts_chunks_init(&tree->leaves, alloc, LEAVES_PER_CHUNK * sizeof(struct tts_freetree_leaf));
    tts_chunks_init(&tree->inners, alloc, inner_bytes(tree));
    enum tts_status status = tts_freetree_reserve_more(tree);
    if (status == TTS_OK)
        start_empty(tree);
    return status;
}

void tts_freetree_release(struct tts_freetree *tree)
{
    tts_chunks_release(&tree->leaves);
    tts_chunks_release(&tree->inners);
}

void tts_freetree_clear(struct tts_freetree *tree)
{
    tree->spare_leaf = NULL;
    tree->spare_inner = NULL;
    tree->spare_leaves = tree->spare_inners = 0;
    for (size_t i = 0; i < tree->leaves.count; i++)
        leaf_chunk_spare(tree, tree->leaves.chunk[i]);
    for (size_t i = 0; i < tree->inners.count; i++)
        inner_spare(tree, (struct tts_freetree_inner *)(void *)tree->inners.chunk[i]);
    start_empty(tree);
}

/* ---- maxima ---- */

uint64_t tts_freetree_leaf_max(const struct tts_freetree *tree,
                               const struct tts_freetree_leaf *leaf, uint32_t row)
{
    uint64_t low = tts_sizeclass_low(row) << 16, max = 0;
    uint64_t high = tts_freetree_row_high(tree, row) << 16;
    for (uint32_t i = 0; i < leaf->count; i++) {
        uint64_t value = leaf->slot[i].value;
        max = value > max && value < high ? value : max;
    }
    return max >= low ? max >> 16 : 0;
}

static uint64_t node_max(const struct tts_freetree_inner *node, uint32_t row)
{
    uint64_t max = 0;
    for (uint32_t i = 0; i < FANOUT; i++) {
        uint64_t size = node->max[row * FANOUT + i];
        max = size > max ? size : max;
    }
    return max;
}

void tts_freetree_carry_max(struct tts_freetree *tree, const struct tts_freetree_path *path,
                            uint32_t row)
{
    for (uint32_t level = 1; level <= tree->height; level++) {
        uint64_t max = node_max(path->node[level], row);
        uint64_t *known = tts_freetree_known(path, level + 1, row);
        if (*known == max)
            return;
        *known = max;
    }
    bool any = tts_freetree_row_max(tree, row) != 0;
    tree->row_mask = (tree->row_mask & ~(1u << row)) | (uint32_t)any << row;
}

/* A block that grew over the key of the next leaf and then lost its front may start past that
 * key: raise it. `off` is where the last block of the path's leaf starts now. */
void tts_freetree_raise_key(const struct tts_freetree *tree,
                            const struct tts_freetree_path *path, uint64_t off)
{
    for (uint32_t level = 1; level <= tree->height; level++) {
        struct tts_freetree_inner *node = path->node[level];
        uint32_t next = path->child[level] + 1;
        if (next < node->count) {
            if (node->key[next] <= off)
                node->key[next] = off + 1;
            return;
        }
    }
}

/* ---- growing ---- */

static void copy_children(const struct tts_freetree *tree, struct tts_freetree_inner *to,
                          uint32_t to_idx, const struct tts_freetree_inner *from,
                          uint32_t from_idx, uint32_t count)
{
    memmove(&to->key[to_idx], &from->key[from_idx], count * sizeof(to->key[0]));
    memmove(&to->child[to_idx], &from->child[from_idx], count * sizeof(to->child[0]));
    for (uint32_t row = 0; row < tree->rows; row++)
        memmove(&to->max[row * FANOUT + to_idx], &from->max[row * FANOUT + from_idx],
                count * sizeof(to->max[0]));
}

/* Makes room in the node at `level` for a child after the path's one; the caller fills it. */
static struct tts_freetree_inner *open_child(const struct tts_freetree *tree,
                                             const struct tts_freetree_path *path,
                                             uint32_t level)
{
    struct tts_freetree_inner *node = path->node[level];
    uint32_t idx = path->child[level] + 1;
    assert(node->count < FANOUT);
    copy_children(tree, node, idx + 1, node, idx, node->count - idx);
    node->count++;
    return node;
}

/* The tree gets a level: the old root becomes the only child of a new one. */
static void grow_root(struct tts_freetree *tree, struct tts_freetree_path *path)
{
    struct tts_freetree_inner *root = inner_take(tree);
    copy_children(tree, root, 0, tree->top, 0, 1);
    root->count = 1;
    tree->top->child[0].inner = root;
    tree->height++;
    assert(tree->height + 1 < TTS_FREETREE_MAX_HEIGHT);
    path->node[tree->height] = root;
    path->child[tree->height] = 0;
    path->node[tree->height + 1] = tree->top;
    path->child[tree->height + 1] = 0;
}

/* Splits full nodes from `level` up until there is room for one more child at `level`. The path
 * goes on leading to the same child. Recursion is as deep as the tree is high. */
static void ensure_room(struct tts_freetree *tree, struct tts_freetree_path *path,
                        uint32_t level)
{
    if (level > tree->height) {
        grow_root(tree, path);
        return;
    }
    struct tts_freetree_inner *left = path->node[level];
    if (left->count < FANOUT)
        return;
    ensure_room(tree, path, level + 1);
    struct tts_freetree_inner *right = inner_take(tree);
    uint32_t half = FANOUT / 2;
    copy_children(tree, right, 0, left, half, FANOUT - half);
    right->count = FANOUT - half;
    inner_empty(tree, left, half);

    struct tts_freetree_inner *parent = open_child(tree, path, level + 1);
    uint32_t idx = path->child[level + 1];
    parent->key[idx + 1] = right->key[0];
    parent->child[idx + 1].inner = right;
    for (uint32_t row = 0; row < tree->rows; row++) {
        parent->max[row * FANOUT + idx] = node_max(left, row);
        parent->max[row * FANOUT + idx + 1] = node_max(right, row);
    }
    if (path->child[level] >= half) {
        path->node[level] = right;
        path->child[level] -= half;
        path->child[level + 1]++;
    }
}

TTS_COLD void tts_freetree_split_leaf(struct tts_freetree *tree, struct tts_freetree_path *path)
{
    ensure_room(tree, path, 1);
    struct tts_freetree_leaf *left = path->leaf, *right = leaf_take(tree);
    uint32_t half = LEAF / 2;
    leaf_move(right, 0, left, half, LEAF - half);
    right->count = LEAF - half;
    leaf_empty(left, half);
    right->prev = left;
    right->next = left->next;
    left->next = right;
    if (right->next)
        right->next->prev = right;

    struct tts_freetree_inner *parent = open_child(tree, path, 1);
    uint32_t idx = path->child[1];
    parent->key[idx + 1] = tts_block_off(right->slot[0]);
    parent->child[idx + 1].leaf = right;
    for (uint32_t row = 0; row < tree->rows; row++) {
        parent->max[row * FANOUT + idx] = tts_freetree_leaf_max(tree, left, row);
        parent->max[row * FANOUT + idx + 1] = tts_freetree_leaf_max(tree, right, row);
    }
}

/* ---- shrinking ---- */

static void remove_child(struct tts_freetree *tree, struct tts_freetree_path *path,
                         uint32_t level);

/* Child `idx` + 1 of the node at `level` has been emptied into child `idx`: forget it. */
static void forget_joined(struct tts_freetree *tree, struct tts_freetree_path *path,
                          uint32_t level, uint32_t idx)
{
    struct tts_freetree_inner *node = path->node[level];
    for (uint32_t row = 0; row < tree->rows; row++) {
        uint64_t *max = &node->max[row * FANOUT + idx];
        max[0] = max[0] > max[1] ? max[0] : max[1];
    }
    path->child[level] = idx + 1;
    remove_child(tree, path, level);
}

/* Joins the thin node at `level` with a neighbour under the same parent, if both fit in one. */
static void join_node(struct tts_freetree *tree, struct tts_freetree_path *path, uint32_t level)
{
    struct tts_freetree_inner *parent = path->node[level + 1];
    uint32_t idx = path->child[level + 1];
    if (parent->count < 2)
        return;
    idx -= idx == parent->count - 1;
    struct tts_freetree_inner *left = parent->child[idx].inner;
    struct tts_freetree_inner *right = parent->child[idx + 1].inner;
    if (left->count + right->count > NODE_JOINED)
        return;
    copy_children(tree, left, left->count, right, 0, right->count);
    left->key[left->count] = parent->key[idx + 1]; /* key[0] of a node may be stale */
    left->count += right->count;
    inner_spare(tree, right);
    forget_joined(tree, path, level + 1, idx);
}

/* The child of the path at `level` is gone; its maxima are already 0 or moved to another. */
static void remove_child(struct tts_freetree *tree, struct tts_freetree_path *path,
                         uint32_t level)
{
    struct tts_freetree_inner *node = path->node[level];
    uint32_t idx = path->child[level];
    copy_children(tree, node, idx, node, idx + 1, node->count - idx - 1);
    inner_empty(tree, node, node->count - 1);
    if (level == tree->height) {
        if (node->count == 1) {
            tree->top->child[0] = node->child[0];
            tree->height--;
            inner_spare(tree, node);
        }
    } else if (node->count == 0) {
        inner_spare(tree, node);
        remove_child(tree, path, level + 1);
    } else if (node->count < NODE_THIN) {
        join_node(tree, path, level);
    }
}

static void leaf_unlink(struct tts_freetree *tree, struct tts_freetree_leaf *leaf)
{
    if (leaf->prev)
        leaf->prev->next = leaf->next;
    else
        tree->first = leaf->next;
    if (leaf->next)
        leaf->next->prev = leaf->prev;
    leaf_spare(tree, leaf);
}

TTS_COLD void tts_freetree_thin_leaf(struct tts_freetree *tree, struct tts_freetree_path *path)
{
    struct tts_freetree_inner *parent = path->node[1];
    if (path->leaf->count == 0) {
        leaf_unlink(tree, path->leaf);
        remove_child(tree, path, 1);
        return;
    }
    if (parent->count < 2)
        return;
    uint32_t idx = path->child[1];
    idx -= idx == parent->count - 1;
    struct tts_freetree_leaf *left = parent->child[idx].leaf, *right = left->next;
    if (left->count + right->count > LEAF_JOINED)
        return;
    leaf_move(left, left->count, right, 0, right->count);
    left->count += right->count;
    leaf_unlink(tree, right);
    forget_joined(tree, path, 1, idx);
}

size_t tts_freetree_memory(const struct tts_freetree *tree)
{
    return tts_chunks_memory(&tree->leaves) + tts_chunks_memory(&tree->inners);
}

/* ---- checking ---- */

/* The range of offsets a child's blocks may start in, and what its parent knows of it. */
struct bounds {
    uint64_t low, high;
};

struct checker {
    const struct tts_freetree *tree;
    const struct tts_freetree_leaf *leaf; /* the next one in the chain */
    uint64_t count, end;                  /* blocks seen, end of the last one */
};

static bool leaf_is_valid(struct checker *c, const struct tts_freetree_leaf *leaf,
                          struct bounds bounds)
{
    if (leaf != c->leaf || leaf->count >= LEAF || (leaf->count == 0 && c->tree->height > 0))
        return false;
    if (leaf->next && leaf->next->prev != leaf)
        return false;
    for (uint32_t i = 0; i < LEAF; i++) {
        struct tts_pair b = leaf->slot[i];
        if (i >= leaf->count) {
            if (b.key != TTS_FREETREE_EMPTY || b.value != 0)
                return false;
            continue;
        }
        uint64_t off = tts_block_off(b);
        bool touches = c->count > 0 && off <= c->end;
        if (touches || tts_block_size(b) == 0 || off < bounds.low || off >= bounds.high)
            return false;
        c->end = tts_block_end(b);
        c->count++;
    }
    c->leaf = leaf->next;
    return true;
}

/* Recursion is as deep as the tree is high. */
static bool node_is_valid(struct checker *c, union tts_freetree_child child, uint32_t level,
                          struct bounds bounds)
{
    if (level == 0)
        return leaf_is_valid(c, child.leaf, bounds);
    const struct tts_freetree_inner *node = child.inner;
    if (node->count == 0 || node->count > FANOUT)
        return false;
    for (uint32_t i = 0; i < FANOUT; i++) {
        uint64_t low = i == 0 ? bounds.low : node->key[i];
        uint64_t high = i + 1 < node->count ? node->key[i + 1] : bounds.high;
        if (i >= node->count) {
            if (node->key[i] != KEY_UNUSED)
                return false;
        } else if (!node_is_valid(c, node->child[i], level - 1, (struct bounds){low, high})) {
            return false;
        }
        for (uint32_t row = 0; row < c->tree->rows; row++) {
            uint64_t max = i >= node->count ? 0
                           : level == 1
                               ? tts_freetree_leaf_max(c->tree, node->child[i].leaf, row)
                               : node_max(node->child[i].inner, row);
            if (node->max[row * FANOUT + i] != max)
                return false;
        }
    }
    return true;
}

bool tts_freetree_is_valid(const struct tts_freetree *tree)
{
    struct checker c = {.tree = tree, .leaf = tree->first};
    struct bounds all = {0, KEY_UNUSED};
    union tts_freetree_child top = {.inner = tree->top};
    if (!node_is_valid(&c, top, tree->height + 1, all) || tree->top->count != 1)
        return false;
    for (uint32_t row = 0; row < tree->rows; row++) {
        if ((tree->row_mask >> row & 1) != (tts_freetree_row_max(tree, row) != 0))
            return false;
    }
    return !c.leaf && c.count == tree->count;
}
