#include "runtime/autograd.h"

#include "base/heap.h"
#include "runtime/kernel.h"

#include <assert.h>
#include <string.h>

enum { NODES_MAX = 1 << 22 };

void tts_autograd_init(struct tts_autograd *ag, struct tts_device *device,
                       const struct tts_workload_watch *watch, const struct tts_alloc *alloc)
{
    *ag = (struct tts_autograd){.gradients = true};
    tts_runtime_init(&ag->rt, device, watch, alloc);
    tts_slab_init(&ag->values, ag->rt.alloc, sizeof(struct tts_value));
}

void tts_autograd_release(struct tts_autograd *ag)
{
    tts_autograd_reset(ag);
    if (ag->nodes)
        ag->rt.alloc->free(ag->rt.alloc->ctx, ag->nodes, ag->node_capacity * sizeof *ag->nodes);
    ag->nodes = NULL;
    tts_slab_release(&ag->values);
    tts_runtime_release(&ag->rt);
}

/* --- values ----------------------------------------------------------------------------- */

struct tts_value *tts_value_new(struct tts_autograd *ag, struct tts_tensor data)
{
    struct tts_value *value = ag->rt.status == TTS_OK ? tts_slab_take(&ag->values) : NULL;
    if (!value) {
        tts_tensor_drop(&ag->rt, &data);
        tts_runtime_fail(&ag->rt, TTS_E_NOMEM, NULL);
        ag->nowhere.data = data;
        return &ag->nowhere;
    }
    value->owners = 1;
    value->needs_gradient = true;
    value->data = data;
    return value;
}

struct tts_value *tts_value_share(struct tts_value *value)
{
    value->owners++;
    return value;
}

void tts_value_drop(struct tts_autograd *ag, struct tts_value *value)
{
    if (!value || value == &ag->nowhere)
        return;
    assert(value->owners > 0);
    if (--value->owners > 0)
        return;
    tts_tensor_drop(&ag->rt, &value->data);
    tts_tensor_drop(&ag->rt, &value->gradient);
    tts_slab_give(&ag->values, value);
}

void tts_value_replace(struct tts_autograd *ag, struct tts_value **to, struct tts_value *from)
{
    struct tts_value *old = *to;
    *to = from;
    tts_value_drop(ag, old);
}

void tts_value_add_gradient(struct tts_autograd *ag, struct tts_value *value,
                            struct tts_tensor gradient)
{
    struct tts_runtime *rt = &ag->rt;
    if (value == &ag->nowhere || rt->status != TTS_OK) {
        tts_tensor_drop(rt, &gradient);
        return;
    }
    assert(tts_shape_equal(value->data.shape, gradient.shape));
    if (!value->gradient.storage) {
        value->gradient = gradient;
    } else {
        struct tts_tensor sum =
            tts_kernel_2(rt, TTS_KERNEL_ADD, gradient.shape, value->gradient, gradient);
        tts_tensor_replace(rt, &value->gradient, sum);
        tts_tensor_drop(rt, &gradient);
    }
    if (value->is_parameter)
        tts_tensor_mark(value->gradient, TTS_PART_GRADIENTS);
}

/* --- nodes ------------------------------------------------------------------------------ */

static void link_to_value(struct tts_node *node, const struct tts_value *value)
{
    if (value && value->node != 0)
        node->links[node->link_count++] = value->node;
}

static void release_node(struct tts_autograd *ag, struct tts_node *node)
{
    for (int i = 0; i < TTS_NODE_INPUTS; i++)
        tts_value_drop(ag, node->in[i]);
    for (int i = 0; i < TTS_NODE_OUTPUTS; i++)
        tts_value_drop(ag, node->out[i]);
    for (int i = 0; i < TTS_NODE_KEPT; i++)
        tts_tensor_drop(&ag->rt, &node->kept[i]);
}

static void hold_node_values(struct tts_node *node)
{
    for (int i = 0; i < TTS_NODE_INPUTS; i++)
        if (node->in[i])
            tts_value_share(node->in[i]);
    for (int i = 0; i < TTS_NODE_OUTPUTS; i++)
        if (node->out[i]) {
            tts_value_share(node->out[i]);
            tts_tensor_mark(node->out[i]->data, TTS_PART_ACTIVATIONS);
        }
    for (int i = 0; i < TTS_NODE_KEPT; i++)
        tts_tensor_mark(node->kept[i], TTS_PART_ACTIVATIONS);
}

/* Returns the place for one more node, or NULL after a failure of the run. Does not increase
 * node_count; the caller does. */
static struct tts_node *grow_graph_nodes(struct tts_autograd *ag)
{
    if (ag->rt.status != TTS_OK)
        return NULL;
    struct tts_node *nodes = NULL;
    if (ag->node_count < NODES_MAX)
        nodes = tts_alloc_grow(ag->rt.alloc, ag->nodes, &ag->node_capacity, ag->node_count + 1,
                               sizeof *nodes);
    if (!nodes) {
        tts_runtime_fail(&ag->rt, TTS_E_NOMEM, NULL);
        return NULL;
    }
    ag->nodes = nodes;
    return &nodes[ag->node_count];
}

static bool is_node_wanted(const struct tts_autograd *ag, const struct tts_node *node)
{
    if (!ag->gradients || !ag->prunes || node->block_fn)
        return ag->gradients;
    for (int i = 0; i < TTS_NODE_INPUTS; i++)
        if (node->in[i] && node->in[i]->needs_gradient)
            return true;
    return false;
}

void tts_autograd_add(struct tts_autograd *ag, const struct tts_node *wanted)
{
    struct tts_node node = *wanted;
    struct tts_node *place = is_node_wanted(ag, &node) ? grow_graph_nodes(ag) : NULL;
    if (!place) {
        for (int i = 0; i < TTS_NODE_OUTPUTS; i++)
            if (node.out[i])
                node.out[i]->needs_gradient = false;
        for (int i = 0; i < TTS_NODE_KEPT; i++)
            tts_tensor_drop(&ag->rt, &node.kept[i]);
        return;
    }
    node.layer = ag->rt.layer;
    for (int i = 0; i < TTS_NODE_INPUTS; i++)
        link_to_value(&node, node.in[i]);
    hold_node_values(&node);
    *place = node;
    node.out[0]->node = (uint32_t)++ag->node_count;
}

static void run_no_backward(struct tts_autograd *ag, struct tts_node *node)
{
    (void)ag;
    (void)node;
}

void tts_autograd_sync(struct tts_autograd *ag, struct tts_value *value,
                       const struct tts_value *first, const struct tts_value *second)
{
    static const struct tts_op sync = {"sync", NULL, run_no_backward};
    struct tts_node *place = ag->gradients ? grow_graph_nodes(ag) : NULL;
    if (!place)
        return;
    struct tts_node node = {.op = &sync, .layer = ag->rt.layer};
    link_to_value(&node, first);
    link_to_value(&node, second);
    *place = node;
    value->node = (uint32_t)++ag->node_count;
}

void tts_autograd_reset(struct tts_autograd *ag)
{
    for (size_t i = 0; i < ag->node_count; i++)
        if (ag->nodes[i].op)
            release_node(ag, &ag->nodes[i]);
    ag->node_count = 0;
}

/* --- backward --------------------------------------------------------------------------- */

/* A growing array of node numbers. */
struct row {
    uint32_t *items;
    size_t count, capacity;
};

static bool push_row(struct tts_autograd *ag, struct row *row, uint32_t item)
{
    uint32_t *items =
        tts_alloc_grow(ag->rt.alloc, row->items, &row->capacity, row->count + 1, sizeof *items);
    if (!items)
        return false;
    row->items = items;
    items[row->count++] = item;
    return true;
}

static void free_row_items(struct tts_autograd *ag, struct row *row)
{
    if (row->items)
        ag->rt.alloc->free(ag->rt.alloc->ctx, row->items, row->capacity * sizeof *row->items);
}

/* Returns the first link of `node` that the current walk has not visited, or 0. */
static uint32_t next_unseen_link(const struct tts_autograd *ag, const struct tts_node *node)
{
    for (uint32_t i = 0; i < node->link_count; i++)
        if (ag->nodes[node->links[i] - 1].seen != ag->walks)
            return node->links[i];
    return 0;
}

/* Appends the numbers of all nodes that `root` depends on to `order`, in post-order: each node
 * comes after the nodes it links to. Links are followed in their order. Returns false if memory
 * is missing. */
static bool walk_graph(struct tts_autograd *ag, uint32_t root, struct row *order)
{
    struct row path = {0};
    ag->walks++;
    ag->nodes[root - 1].seen = ag->walks;
    bool ok = push_row(ag, &path, root);
    while (ok && path.count > 0) {
        uint32_t at = path.items[path.count - 1];
        uint32_t next = next_unseen_link(ag, &ag->nodes[at - 1]);
        if (next != 0) {
            ag->nodes[next - 1].seen = ag->walks;
            ok = push_row(ag, &path, next);
        } else {
            path.count--;
            ok = push_row(ag, order, at);
        }
    }
    free_row_items(ag, &path);
    return ok;
}

/* Runs the backward function of a node. The function may add nodes and so move the array, so
 * run_node() works on a copy of the node. */
static void run_node(struct tts_autograd *ag, uint32_t number)
{
    struct tts_node node = ag->nodes[number - 1];
    assert(node.op); /* a node runs only once */
    ag->nodes[number - 1].op = NULL;
    int32_t layer = ag->rt.layer;
    ag->rt.layer = node.layer;
    if (node.op->backward_name)
        tts_runtime_op_begin(&ag->rt, node.op->backward_name);
    node.op->backward(ag, &node);
    if (node.op->backward_name)
        tts_runtime_op_end(&ag->rt);
    release_node(ag, &node);
    ag->rt.layer = layer;
}

void tts_autograd_backward(struct tts_autograd *ag, struct tts_value *root)
{
    struct row order = {0};
    if (ag->rt.status != TTS_OK || root->node == 0)
        return;
    if (!walk_graph(ag, root->node, &order))
        tts_runtime_fail(&ag->rt, TTS_E_NOMEM, NULL);
    if (ag->rt.status == TTS_OK && !root->gradient.storage) {
        tts_runtime_op_begin(&ag->rt, "ones");
        root->gradient = tts_kernel_full(&ag->rt, root->data.shape, root->data.dtype);
        tts_runtime_op_end(&ag->rt);
    }
    for (size_t i = order.count; i-- > 0 && ag->rt.status == TTS_OK;)
        run_node(ag, order.items[i]);
    free_row_items(ag, &order);
}
