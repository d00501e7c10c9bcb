/* autograd.h: values with gradients, and the graph for the backward pass.
 *
 * Ownership decides when memory is freed, so these rules are the heart of the model:
 * 1. An operation makes one value for each output. Its node holds the inputs, the outputs and
 * the kept tensors until its backward function has run. With gradients off there is no node,
 * and an output lives as long as something holds it.
 * 2. Each operation makes a node. If the recipe prunes, only operations with an input that
 * needs a gradient do.
 * 3. Backward runs the nodes in the reverse of a post-order walk over their links. Each node
 * releases what it holds right after it ran.
 * 4. The first gradient of a value is adopted: the value shares its buffer. Each further
 * gradient is added into a new buffer, before the old buffer is dropped.
 * One thread. After a failure of the runtime every call is harmless. */
#pragma once

#include "runtime/tensor.h"

struct tts_value {
    uint32_t owners;
    uint32_t node; /* number of the node that made the value, from 1. 0: none */
    bool needs_gradient, is_parameter, is_norm;
    struct tts_tensor data, gradient;
};

struct tts_node;
struct tts_autograd;

/* An operation: its names and its backward function, which uses node->in and node->out. The
 * function may drop a kept tensor as soon as it has read it. */
struct tts_op {
    /* backward_name NULL: the backward pass is not reported. */
    const char *name, *backward_name;
    void (*backward)(struct tts_autograd *ag, struct tts_node *node);
};

enum { TTS_NODE_INPUTS = 4, TTS_NODE_OUTPUTS = 3, TTS_NODE_KEPT = 3 };

typedef struct tts_value *(*tts_block_fn)(struct tts_autograd *ag, const void *block,
                                          struct tts_value *x);

struct tts_node {
    const struct tts_op *op; /* NULL: the node has run */
    int32_t layer;
    struct tts_value *in[TTS_NODE_INPUTS], *out[TTS_NODE_OUTPUTS]; /* NULL: unused */
    struct tts_tensor kept[TTS_NODE_KEPT];
    uint32_t links[TTS_NODE_INPUTS]; /* numbers of nodes, from 1 */
    uint32_t link_count;
    uint32_t seen;         /* number of the last walk that visited the node */
    tts_block_fn block_fn; /* set for a checkpoint */
    const void *block;
};

struct tts_autograd {
    struct tts_runtime rt;
    bool gradients; /* gradients are on */
    bool prunes; /* only operations with an input that needs a gradient make a node (rule 2) */
    struct tts_slab values;
    struct tts_value nowhere; /* the value that functions return if memory runs out */
    struct tts_node *nodes;
    size_t node_count, node_capacity;
    uint32_t walks;
};

void tts_autograd_init(struct tts_autograd *ag, struct tts_device *device,
                       const struct tts_workload_watch *watch, const struct tts_alloc *alloc);
void tts_autograd_release(struct tts_autograd *ag);

/* Creates a value. Takes the handle of `data`. Never returns NULL. */
struct tts_value *tts_value_new(struct tts_autograd *ag, struct tts_tensor data);
struct tts_value *tts_value_share(struct tts_value *value);
void tts_value_drop(struct tts_autograd *ag, struct tts_value *value); /* `value` may be NULL */
/* Sets *to to `from` and takes the handle of `from`. Drops the old value afterwards, as in x =
 * f(x). */
void tts_value_replace(struct tts_autograd *ag, struct tts_value **to, struct tts_value *from);

/* Adds a gradient by rule 4. Takes the handle of `gradient`. */
void tts_value_add_gradient(struct tts_autograd *ag, struct tts_value *value,
                            struct tts_tensor gradient);

/* Adds a node by rules 1 and 2 (see the top of this file). The caller sets op, in, out and kept
 * of `node`. The handles in `kept` are taken; they are dropped if no node is made. Values are
 * borrowed. The node belongs to out[0]. */
void tts_autograd_add(struct tts_autograd *ag, const struct tts_node *node);
/* Adds a node of `value` that depends on the nodes of `first` and `second`. In the backward
 * pass the node runs before them. So all outputs of an operation have their gradients before
 * the operation runs backwards. */
void tts_autograd_sync(struct tts_autograd *ag, struct tts_value *value,
                       const struct tts_value *first, const struct tts_value *second);

/* Runs the backward pass by rule 3. If `root` has no gradient, its gradient is ones. */
void tts_autograd_backward(struct tts_autograd *ag, struct tts_value *root);

/* Removes all nodes. */
void tts_autograd_reset(struct tts_autograd *ag);
