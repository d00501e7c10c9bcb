/* op_rig.h: tests one operation with one output in every situation. */
#pragma once

#include "harness/runtime_rig.h"
#include "runtime/ops.h"

enum { OP_INPUTS = 5 };

struct op_case {
    const char *name;
    struct tts_shape in[OP_INPUTS]; /* the inputs; shapes after the last input are all zero */
    unsigned ids;                   /* bit i: input i holds ids */
    unsigned gradients;             /* bit i: input i has a gradient at the end */
    uint64_t chips;                 /* number of chips that share the model; 0: one */
    struct tts_value *(*run)(struct tts_autograd *ag, struct tts_value *const in[]);
    struct row on, off; /* forward pass, with and without gradients */
    /* Backward pass: first the initial gradient of ones, then the operation's own sizes, then
     * the frees. */
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

/* Checks that the output and extra tensors stay while only the graph's node holds them, and
 * that they are freed with the graph. */
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

/* Checks that only the output remains without gradients, and that it is freed with its last
 * holder. */
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
    /* The output shares the data of an input if the operation allocated nothing. */
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
