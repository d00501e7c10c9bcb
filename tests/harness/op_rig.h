/* op_rig.h: runs an operation with one output in every situation, and checks what it allocates,
 * keeps and frees. */
#pragma once

#include "harness/runtime_rig.h"
#include "runtime/ops.h"

enum { OP_INPUTS = 5 };

struct op_case {
    const char *name;
    struct tts_shape in[OP_INPUTS]; /* shapes of the inputs; all zero after the last one */
    unsigned ids;                   /* bit i is set if input i holds ids */
    unsigned gradients; /* bit i is set if input i has a gradient after the backward pass */
    uint64_t chips;     /* number of chips that share the model; 0 counts as 1 */
    struct tts_value *(*run)(struct tts_autograd *ag, struct tts_value *const in[]);
    /* Sizes that the forward pass allocates (+) and frees (-), with and without gradients. */
    struct row on, off;
    /* The same for the backward pass: the ones as the first gradient, then the sizes of the
     * operation, then the frees. */
    struct row backward;
};

static inline void op_open(struct rig *rig, const struct op_case *op, struct tts_value **in)
{
    rig_open(rig);
    rig->ag.rt.tensor_parallel = op->chips ? op->chips : 1;
    for (int i = 0; i < OP_INPUTS && op->in[i].d[0] != 0; i++)
        in[i] = op->ids >> i & 1 ? ids_value(rig, op->in[i]) : tiled_value(rig, op->in[i]);
    rig_look(rig);
}

static inline void drop_all(struct rig *rig, struct tts_value **in)
{
    for (int i = 0; i < OP_INPUTS; i++)
        tts_value_drop(&rig->ag, in[i]);
}

/* Checks that the output and the kept tensors stay while only the node holds them, and that
 * they are freed with the graph. */
static inline void op_keeps(const struct op_case *op)
{
    struct rig rig;
    struct tts_value *in[OP_INPUTS] = {NULL};
    op_open(&rig, op, in);
    struct tts_value *out = op->run(&rig.ag, in);
    row_is(&rig, op->name, op->on);
    T_EQ(rig.ag.node_count, 1);
    tts_value_drop(&rig.ag, out);
    drop_all(&rig, in);
    T_QUIET(&rig);
    tts_autograd_reset(&rig.ag);
    T_EQ(rig.live, 0);
    rig_close(&rig);
}

/* Checks that without gradients only the output stays, and that it is freed when its last
 * holder drops it. */
static inline void op_keeps_nothing(const struct op_case *op)
{
    struct rig rig;
    struct tts_value *in[OP_INPUTS] = {NULL};
    op_open(&rig, op, in);
    rig.ag.gradients = false;
    struct tts_value *out = op->run(&rig.ag, in);
    uint64_t bytes = out->data.storage->buffer.size_bytes;
    T_EQ(rig.ag.node_count, 0);
    row_is(&rig, op->name, op->off);
    int64_t before = rig.live;
    /* If the operation allocates nothing, its output shares the data of an input. */
    bool is_shared = out->data.storage->owners > 1;
    tts_value_drop(&rig.ag, out);
    T_EQ(before - rig.live, is_shared ? 0 : (int64_t)bytes);
    drop_all(&rig, in);
    T_EQ(rig.live, 0);
    rig_close(&rig);
}

static inline void op_runs_backwards(const struct op_case *op)
{
    struct rig rig;
    struct tts_value *in[OP_INPUTS] = {NULL};
    op_open(&rig, op, in);
    struct tts_value *out = op->run(&rig.ag, in);
    rig_look(&rig);
    tts_autograd_backward(&rig.ag, out);
    row_is(&rig, op->name, op->backward);
    for (int i = 0; i < OP_INPUTS && in[i]; i++) {
        T_EQ(in[i]->gradient.storage != NULL, op->gradients >> i & 1);
        T_EQ(in[i]->owners, 1);
    }
    T_EQ(out->owners, 1);
    tts_value_drop(&rig.ag, out);
    drop_all(&rig, in);
    T_EQ(rig.live, 0);
    rig_close(&rig);
}

static inline void check_op(const struct op_case *op)
{
    op_keeps(op);
    op_keeps_nothing(op);
    op_runs_backwards(op);
}
