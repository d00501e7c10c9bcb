/* Tests sums, products, activations, dropout, SwiGLU, the loss, and the operations between
 * chips. */
#include "harness/op_rig.h"

#define SCALAR SHAPE_OF(1, 1, 1, 1)

/* --- one input -------------------------------------------------------------------------- */

static struct tts_value *run_silu(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_silu(ag, in[0]);
}

static struct tts_value *run_gelu(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_gelu(ag, in[0]);
}

static struct tts_value *run_dropout(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_dropout(ag, in[0], true);
}

static struct tts_value *run_scale(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_scale(ag, in[0]);
}

T_TEST(silu_and_gelu_take_one_buffer_each_way)
{
    struct op_case op = {
        .name = "silu",
        .in = {SHAPE_F},
        .gradients = 1,
        .run = run_silu,
        .on = ROW_OF(+F),
        .off = ROW_OF(+F),
        .backward = ROW_OF(+F, +F),
    };
    check_op(&op);
    op.name = "gelu";
    op.run = run_gelu;
    check_op(&op);
}

T_TEST(dropout_takes_one_buffer_each_way)
{
    const struct op_case op = {
        .name = "dropout",
        .in = {SHAPE_U},
        .gradients = 1,
        .run = run_dropout,
        .on = ROW_OF(+U),
        .off = ROW_OF(+U),
        .backward = ROW_OF(+U, +U),
    };
    check_op(&op);
}

T_TEST(dropout_of_probability_zero_is_the_input)
{
    struct rig rig;
    rig_open(&rig);
    struct tts_value *x = tiled_value(&rig, (struct tts_shape)SHAPE_U);
    rig_look(&rig);
    struct tts_value *out = tts_op_dropout(&rig.ag, x, false);
    T_TRUE(out == x);
    T_EQ(rig.ag.node_count, 0);
    tts_value_drop(&rig.ag, x);
    T_QUIET(&rig);
    tts_value_drop(&rig.ag, out);
    T_ROW(&rig, -U);
    rig_close(&rig);
}

T_TEST(scaling_a_loss_takes_a_tile_each_way)
{
    const struct op_case op = {
        .name = "scale",
        .in = {SCALAR},
        .gradients = 1,
        .run = run_scale,
        .on = ROW_OF(+T),
        .off = ROW_OF(+T),
        .backward = ROW_OF(+T, +T),
    };
    check_op(&op);
}

/* --- two inputs ------------------------------------------------------------------------- */

static struct tts_value *run_add(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_add(ag, in[0], in[1]);
}

static struct tts_value *run_add_constant(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_add_constant(ag, in[0], in[1]);
}

static struct tts_value *run_mul(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_mul(ag, in[0], in[1]);
}

T_TEST(add_gives_both_inputs_the_same_gradient)
{
    const struct op_case op = {
        .name = "add",
        .in = {SHAPE_U, SHAPE_U},
        .gradients = 3,
        .run = run_add,
        .on = ROW_OF(+U),
        .off = ROW_OF(+U),
        .backward = ROW_OF(+U),
    };
    check_op(&op);
    struct rig rig;
    rig_open(&rig);
    struct tts_value *x = tiled_value(&rig, (struct tts_shape)SHAPE_U),
                     *y = tts_op_add(&rig.ag, x, x);
    rig_look(&rig);
    /* Both inputs are the same value: it adopts the first gradient, and the second is added. */
    tts_autograd_backward(&rig.ag, y);
    T_ROW(&rig, +U, +U);
    T_TRUE(x->gradient.storage != y->gradient.storage);
    tts_value_drop(&rig.ag, x);
    tts_value_drop(&rig.ag, y);
    rig_close(&rig);
}

T_TEST(add_sums_the_gradient_of_what_was_broadcast)
{
    const struct op_case op = {
        .name = "add, positions",
        .in = {SHAPE_U, SHAPE_OF(1, 1, SEQUENCE, WIDTH)},
        .gradients = 3,
        .run = run_add,
        .on = ROW_OF(+U),
        .off = ROW_OF(+U),
        .backward = ROW_OF(+U, +SE),
    };
    check_op(&op);
}

T_TEST(add_of_a_constant_gives_it_no_gradient)
{
    const struct op_case op = {
        .name = "add, fixed positions",
        .in = {SHAPE_U, SHAPE_OF(1, 1, SEQUENCE, WIDTH)},
        .gradients = 1,
        .run = run_add_constant,
        .on = ROW_OF(+U),
        .off = ROW_OF(+U),
        .backward = ROW_OF(+U),
    };
    struct rig rig;
    struct tts_value *in[OP_INPUTS] = {NULL};
    op_open(&rig, &op, in);
    struct tts_value *out = op.run(&rig.ag, in);
    row_is(&rig, op.name, op.on);
    tts_value_drop(&rig.ag, in[1]); /* the node does not hold the constant */
    T_ROW(&rig, -SE);
    in[1] = NULL;
    tts_value_drop(&rig.ag, out);
    drop_all(&rig, in);
    T_QUIET(&rig);
    rig_close(&rig);
    op_keeps_nothing(&op);
    op_runs_backwards(&op);
}

T_TEST(mul_makes_two_gradients)
{
    const struct op_case op = {
        .name = "mul",
        .in = {SHAPE_F, SHAPE_F},
        .gradients = 3,
        .run = run_mul,
        .on = ROW_OF(+F),
        .off = ROW_OF(+F),
        .backward = ROW_OF(+F, +F, +F),
    };
    check_op(&op);
}

/* --- swiglu ----------------------------------------------------------------------------- */

static struct tts_value *run_swiglu(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_swiglu(ag, in[0], &in[1], false);
}

static struct tts_value *run_swiglu_dropout(struct tts_autograd *ag,
                                            struct tts_value *const in[])
{
    return tts_op_swiglu(ag, in[0], &in[1], true);
}

static const struct op_case swiglu = {
    .name = "swiglu",
    .in = {SHAPE_U, SHAPE_OF(1, 1, MLP, WIDTH), SHAPE_OF(1, 1, WIDTH, MLP),
           SHAPE_OF(1, 1, MLP, WIDTH)},
    .gradients = 15,
    .run = run_swiglu,
    .on = ROW_OF(+F, +F, +F, +U),
    .off = ROW_OF(+F, +F, +F, +U, -F, -F, -F),
    /* In order: dW2, gated; dprod, dgate; gate, dprod; dX, dX'; dW1, dW3; dgate; and linear1
     * together with the node. */
    .backward = ROW_OF(+U, +W_F, -F, +F, +F, -F, -F, +U, +U, -U, +W_F, +W_F, -F, -F),
};

T_TEST(swiglu_keeps_three_and_frees_them_as_it_has_read_them)
{
    check_op(&swiglu);
}

T_TEST(swiglu_drops_out_in_place_and_masks_its_gradient_first)
{
    struct op_case op = swiglu;
    static const int64_t masked[] = {+U, +U, +W_F, -F, +F,   -U,   +F, -F,
                                     -F, +U, +U,   -U, +W_F, +W_F, -F, -F};
    op.run = run_swiglu_dropout;
    op.backward = (struct row){masked, sizeof masked / sizeof *masked};
    check_op(&op);
}

/* --- the loss --------------------------------------------------------------------------- */

static struct tts_value *run_loss(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_cross_entropy(ag, in[0], in[1], false);
}

static struct tts_value *run_loss_scratch(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_cross_entropy(ag, in[0], in[1], true);
}

static const struct op_case loss = {
    .name = "cross entropy",
    .in = {SHAPE_OF(BATCH, 1, SEQUENCE, VOCABULARY_32), SHAPE_OF(1, 1, BATCH, SEQUENCE)},
    .ids = 2,
    .gradients = 1,
    .run = run_loss,
    .on = ROW_OF(+N, +T, +N, +T_B, -N, +T_B, -T_B, -T_B, -N),
    .off = ROW_OF(+N, +T, +N, +T_B, -N, +T_B, -T_B, -T_B, -N),
    .backward = ROW_OF(+T, +LG, +LG, -LG),
};

T_TEST(cross_entropy_keeps_a_tile)
{
    check_op(&loss);
}

T_TEST(cross_entropy_peaks_at_two_columns_and_a_tile_for_each_sample)
{
    struct rig rig;
    struct tts_value *in[OP_INPUTS] = {NULL};
    op_open(&rig, &loss, in);
    struct tts_value *out = loss.run(&rig.ag, in);
    T_EQ(rig.peak, T + 2 * N + T_B);
    tts_value_drop(&rig.ag, out);
    drop_all(&rig, in);
    rig_close(&rig);
}

T_TEST(cross_entropy_of_recipe_head_uses_one_more_column)
{
    struct op_case op = loss;
    static const int64_t more[] = {+N, -N, +N, +T, +N, +T_B, -N, +T_B, -T_B, -T_B, -N};
    op.run = run_loss_scratch;
    op.on = op.off = (struct row){more, sizeof more / sizeof *more};
    check_op(&op);
}

static struct tts_value *run_divided_loss(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_cross_entropy_divided(ag, in[0], in[1], false);
}

static struct tts_value *run_shifted_loss(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_cross_entropy_divided(ag, in[0], in[1], true);
}

/* A column cannot be divided between two chips in any dimension, so the sum over the chips
 * gathers whole columns. */
#define GATHERS(n) +(n), +(n), +2 * (n), -(n), -(n)
#define REDUCES(n) GATHERS(n), +(n), -2 * (n)
#define DIVIDED_MAXIMUM +N, +N, +N, +N, -N, -N, +N
#define DIVIDED_LOSS                                                                           \
    +2 * LG, +2 * N, REDUCES(2 * N), +2 * N, +2 * N, -2 * N, +N, REDUCES(N), +2 * N, +ROW,     \
        +WIDE_T, +T, -N, -N
#define DIVIDED_DROPS -2 * LG, -2 * N, -2 * N, -N, -N, -2 * N, -ROW, -WIDE_T

/* The exponentials and the softmax are in fp32. The largest value and the sum of each row are
 * kept. */
T_TEST(cross_entropy_of_divided_logits_works_in_fp32)
{
    enum { ROW = 2 * 64 * SEQUENCE, WIDE_T = 2 * T };
    struct op_case op = loss;
    op.name = "divided cross entropy";
    op.chips = 2;
    op.run = run_divided_loss;
    op.on = (struct row)ROW_OF(DIVIDED_MAXIMUM, DIVIDED_LOSS, DIVIDED_DROPS);
    op.off = (struct row)ROW_OF(DIVIDED_MAXIMUM, DIVIDED_LOSS, DIVIDED_DROPS, -N, -2 * N);
    op.backward = (struct row)ROW_OF(+T, +2 * LG, +2 * N, +2 * LG, -2 * N, +LG, +LG, -LG,
                                     -2 * LG, -2 * LG, -N, -2 * N);
    check_op(&op);
}

T_TEST(cross_entropy_of_may_keeps_the_shifted_logits_too)
{
    enum { ROW = 2 * 64 * SEQUENCE, WIDE_T = 2 * T };
    struct op_case op = loss;
    op.name = "shifted cross entropy";
    op.chips = 2;
    op.run = run_shifted_loss;
    op.on = (struct row)ROW_OF(DIVIDED_MAXIMUM, +2 * LG, DIVIDED_LOSS, -2 * LG, DIVIDED_DROPS);
    op.off = (struct row)ROW_OF(DIVIDED_MAXIMUM, +2 * LG, DIVIDED_LOSS, -2 * LG, DIVIDED_DROPS,
                                -N, -2 * N);
    op.backward = (struct row)ROW_OF(+T, +2 * LG, +2 * LG, +2 * N, +2 * LG, -2 * N, +LG, +LG,
                                     -LG, -2 * LG, -2 * LG, -2 * LG, -N, -2 * N);
    check_op(&op);
}

/* --- between chips ---------------------------------------------------------------------- */

static struct tts_value *run_broadcast(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_broadcast(ag, in[0]);
}

static struct tts_value *run_all_reduce(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_all_reduce(ag, in[0]);
}

/* A reduce-scatter on a line of two chips needs twice the input and then half of it. The
 * all-gather follows. */
#define SCATTERS(n) +2 * (n), +(n) / 2, -2 * (n), +(n), -(n) / 2

T_TEST(broadcast_copies_nothing_and_reduces_its_gradient)
{
    const struct op_case op = {
        .name = "broadcast",
        .in = {SHAPE_U},
        .gradients = 1,
        .chips = 2,
        .run = run_broadcast,
        .on = {NULL, 0},
        .off = {NULL, 0},
        .backward = ROW_OF(+U, SCATTERS(U)),
    };
    check_op(&op);
}

T_TEST(all_reduce_scatters_gathers_and_passes_its_gradient_on)
{
    const struct op_case op = {
        .name = "all_reduce",
        .in = {SHAPE_U},
        .gradients = 1,
        .chips = 2,
        .run = run_all_reduce,
        .on = ROW_OF(SCATTERS(U)),
        .off = ROW_OF(SCATTERS(U)),
        .backward = ROW_OF(+U),
    };
    check_op(&op);
}

T_TEST(where_no_dimension_divides_all_reduce_gathers_whole_tensors)
{
    const struct op_case op = {
        .name = "all_reduce of 3 chips",
        .in = {SHAPE_OF(1, 1, 32, 32)},
        .gradients = 1,
        .chips = 3,
        .run = run_all_reduce,
        .on = ROW_OF(+T, +T, +T, +3 * T, -T, -T, -T, +T, -3 * T),
        .off = ROW_OF(+T, +T, +T, +3 * T, -T, -T, -T, +T, -3 * T),
        .backward = ROW_OF(+T),
    };
    check_op(&op);
}
