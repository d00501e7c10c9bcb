/* autograd.h: values with gradients, and the graph for the backward pass.
 *
 * The ownership decides when memory is freed, so these rules are the heart of the model:
 * 1. An operation makes one value for each output. Its node holds the inputs, the outputs and
 * the kept tensors until its backward function has run. If gradients are off, there is no node,
 * and an output lives as long as something holds it.
 * 2. Each operation makes a node. If the recipe prunes, only an operation that has an input
 * with needs_gradient makes one.
 * 3. The backward pass walks the links of the nodes in post-order and runs the nodes in the
 * reverse order. Each node releases what it holds directly after it ran.
 * 4. The first gradient of a value is adopted: the value shares the buffer of the gradient.
 * Each later gradient is added to it: the sum gets a new buffer, and then the old buffer is
 * dropped.
 * One thread at a time. After a failure of the runtime (tts_runtime.status), every call is
 * harmless. */
#pragma once

#include "runtime/tensor.h"

struct tts_value {
    uint32_t owners;
    uint32_t node; /* number of the node that made the value, from 1; 0 if no node did */
    bool needs_gradient, is_parameter, is_norm;
    struct tts_tensor data, gradient;
};

struct tts_node;
struct tts_autograd;

/* An operation: its names and its backward function. The function reads node->in, node->out and
 * node->kept, and adds the gradients of the inputs. It may drop a kept tensor as soon as it has
 * read the tensor. */
struct tts_op {
    /* Names for the watch. If backward_name is NULL, the backward pass of the operation is not
     * reported. */
    const char *name, *backward_name;
    void (*backward)(struct tts_autograd *ag, struct tts_node *node);
};

enum { TTS_NODE_INPUTS = 4, TTS_NODE_OUTPUTS = 3, TTS_NODE_KEPT = 3 };

typedef struct tts_value *(*tts_block_fn)(struct tts_autograd *ag, const void *block,
                                          struct tts_value *x);

struct tts_node {
    const struct tts_op *op; /* NULL if the node has run */
    int32_t layer;
    struct tts_value *in[TTS_NODE_INPUTS], *out[TTS_NODE_OUTPUTS]; /* an unused place is NULL */
    struct tts_tensor kept[TTS_NODE_KEPT];
    uint32_t links[TTS_NODE_INPUTS]; /* numbers of the nodes that made the inputs, from 1 */
    uint32_t link_count;
    uint32_t seen;         /* number of the last walk that visited the node */
    tts_block_fn block_fn; /* function that runs the block again; only for a checkpoint */
    const void *block;
};

struct tts_autograd {
    struct tts_runtime rt;
    bool gradients; /* if false, operations make no nodes */
    /* Only operations with an input that has needs_gradient make a node (rule 2). */
    bool prunes;
    struct tts_slab values;
    struct tts_value nowhere; /* tts_value_new() returns this value after a failure */
    struct tts_node *nodes;
    size_t node_count, node_capacity;
    uint32_t walks;
};

void tts_autograd_init(struct tts_autograd *ag, struct tts_device *device,
                       const struct tts_workload_watch *watch, const struct tts_alloc *alloc);
void tts_autograd_release(struct tts_autograd *ag);

/* Creates a value with one owner. Takes the handle of `data`. Never returns NULL: after a
 * failure it returns &ag->nowhere. */
struct tts_value *tts_value_new(struct tts_autograd *ag, struct tts_tensor data);
struct tts_value *tts_value_share(struct tts_value *value);
/* Removes one owner. The last one frees the value. `value` may be NULL. */
void tts_value_drop(struct tts_autograd *ag, struct tts_value *value);
/* Sets *to to `from` and takes over the ownership of `from`. Then drops the old value, as the
 * assignment x = f(x) does. */
void tts_value_replace(struct tts_autograd *ag, struct tts_value **to, struct tts_value *from);

/* Adds a gradient to a value by rule 4. Takes the handle of `gradient`. */
void tts_value_add_gradient(struct tts_autograd *ag, struct tts_value *value,
                            struct tts_tensor gradient);

/* Adds a node by rules 1 and 2 (see the top of this file). The caller sets op, in, out and kept
 * of `node`. The function takes the handles in `kept`, and drops them if it makes no node. The
 * values in `in` and `out` are shared, not taken. The node becomes the node of out[0]. */
void tts_autograd_add(struct tts_autograd *ag, const struct tts_node *node);
/* Adds a node that does nothing, as the node of `value`. It depends on the nodes of `first` and
 * `second`, so it precedes them in the backward pass. If an operation has several outputs, such
 * nodes for the other outputs ensure that all outputs have their gradients before the operation
 * runs backwards. */
void tts_autograd_sync(struct tts_autograd *ag, struct tts_value *value,
                       const struct tts_value *first, const struct tts_value *second);

/* Runs the backward pass from `root` by rule 3. If `root` has no gradient, a tensor of ones
 * becomes its gradient. */
void tts_autograd_backward(struct tts_autograd *ag, struct tts_value *root);

/* Removes all nodes and releases what they hold. */
void tts_autograd_reset(struct tts_autograd *ag);
