/* autograd.h: values with gradients, and the graph of what is to be run backwards.
 *
 * Who owns what decides when memory is free, so these rules are the heart of the model:
 *  1. An operation makes one value for each output. Its node holds the inputs, the outputs and
 *     what the operation keeps besides, until its backward function has run. With gradients off
 *     there is no node, and an output lives as long as somebody holds it.
 *  2. A node is made for every operation, or, where the recipe prunes, when an input needs a
 *     gradient.
 *  3. Backward runs the nodes in the reverse of a post-order walk over their links, and lets go
 *     of each node's holdings right behind it.
 *  4. The first gradient of a value is adopted: the same buffer. Every further one is a new
 *     buffer, the sum, before the old one is dropped.
 * One thread. After a failure of the runtime every call is harmless. */
#pragma once

#include "runtime/tensor.h"

struct tts_value {
    uint32_t owners;
    uint32_t node; /* that made it, counted from 1; 0: none */
    bool needs_gradient, is_parameter, is_norm;
    struct tts_tensor data, gradient;
};

struct tts_node;
struct tts_autograd;

/* What an operation is: its names, and what it does backwards, with node->in and out. It may
 * drop what the node keeps as soon as it has read it. */
struct tts_op {
    const char *name, *backward_name; /* the second NULL: nothing is told of the backward */
    void (*backward)(struct tts_autograd *ag, struct tts_node *node);
};

enum { TTS_NODE_INPUTS = 4, TTS_NODE_OUTPUTS = 3, TTS_NODE_KEPT = 3 };

typedef struct tts_value *(*tts_block_fn)(struct tts_autograd *ag, const void *block,
                                          struct tts_value *x);

struct tts_node {
    const struct tts_op *op; /* NULL: it has run */
    int32_t layer;
    struct tts_value *in[TTS_NODE_INPUTS], *out[TTS_NODE_OUTPUTS]; /* NULL: none */
    struct tts_tensor kept[TTS_NODE_KEPT];
    uint32_t links[TTS_NODE_INPUTS]; /* nodes, from 1 */
    uint32_t link_count;
    uint32_t seen;         /* by the walk of that number */
    tts_block_fn block_fn; /* of a checkpoint */
    const void *block;
};

struct tts_autograd {
    struct tts_runtime rt;
    bool gradients; /* on */
    bool prunes;    /* rule 2 */
    struct tts_slab values;
    struct tts_value nowhere; /* what is given when there is no memory */
    struct tts_node *nodes;
    size_t node_count, node_capacity;
    uint32_t walks;
};

void tts_autograd_init(struct tts_autograd *ag, struct tts_device *device,
                       const struct tts_workload_watch *watch, const struct tts_alloc *alloc);
void tts_autograd_release(struct tts_autograd *ag);

/* Takes the handle of `data`. Never NULL. */
struct tts_value *tts_value_new(struct tts_autograd *ag, struct tts_tensor data);
struct tts_value *tts_value_share(struct tts_value *value);
void tts_value_drop(struct tts_autograd *ag, struct tts_value *value); /* NULL is fine */
/* `*to` = `from`, which is taken; what was there is dropped then: x = f(x). */
void tts_value_replace(struct tts_autograd *ag, struct tts_value **to, struct tts_value *from);

/* Rule 4. Takes the handle of `gradient`. */
void tts_value_add_gradient(struct tts_autograd *ag, struct tts_value *value,
                            struct tts_tensor gradient);

/* Rules 1 and 2: `node` has op, in, out and kept; the handles in kept are taken (and dropped
 * where no node is made), values are borrowed. The node is that of out[0]. */
void tts_autograd_add(struct tts_autograd *ag, const struct tts_node *node);
/* A node of `value` that only runs behind those of `first` and `second`: it makes sure that
 * all outputs of one operation have their gradients before it runs backwards. */
void tts_autograd_sync(struct tts_autograd *ag, struct tts_value *value,
                       const struct tts_value *first, const struct tts_value *second);

/* Rule 3. The gradient of `root` is ones unless it has one. */
void tts_autograd_backward(struct tts_autograd *ag, struct tts_value *root);

/* Forgets all nodes. */
void tts_autograd_reset(struct tts_autograd *ag);
