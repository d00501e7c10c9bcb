/* Tests embedding, linear and the norms: their allocations, the tensors they keep, and their
 * frees. */
#include "harness/op_rig.h"

T_TEST(no_two_sizes_of_these_tests_are_equal)
{
#define RIG_BYTES(name, bytes) name,
    static const int64_t sizes[] = {RIG_SIZES(RIG_BYTES)};
#undef RIG_BYTES
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < i; k++)
            T_TRUE(sizes[i] != sizes[k]);
}

/* --- embedding -------------------------------------------------------------------------- */

static struct tts_value *run_embedding(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_embedding(ag, in[0], in[1]);
}

T_TEST(embedding_untilizes_its_table_for_the_lookup)
{
    const struct op_case op = {
        .name = "embedding",
        .in = {SHAPE_OF(BATCH, 1, 1, SEQUENCE), SHAPE_OF(1, 1, VOCABULARY_32, WIDTH)},
        .ids = 1,
        .gradients = 2,
        .run = run_embedding,
        .on = ROW_OF(+W_V, +U, -W_V),
        .off = ROW_OF(+W_V, +U, -W_V),
        .backward = ROW_OF(+U, +W_V),
    };
    check_op(&op);
}

/* --- linear ----------------------------------------------------------------------------- */

static struct tts_value *run_linear(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_linear(ag, in[0], in[1], in[2]);
}

/* Rule 8: neither pass allocates a transposed tensor, and a flat tensor is a view. */
T_TEST(linear_allocates_its_output_alone)
{
    const struct op_case op = {
        .name = "linear",
        .in = {SHAPE_U, SHAPE_OF(1, 1, MLP, WIDTH)},
        .gradients = 3,
        .run = run_linear,
        .on = ROW_OF(+F),
        .off = ROW_OF(+F),
        .backward = ROW_OF(+F, +W_F, +U),
    };
    check_op(&op);
}

T_TEST(linear_with_a_bias_sums_its_gradient_last)
{
    const struct op_case op = {
        .name = "linear, bias",
        .in = {SHAPE_U, SHAPE_OF(1, 1, MLP, WIDTH), SHAPE_OF(1, 1, 1, MLP)},
        .gradients = 7,
        .run = run_linear,
        .on = ROW_OF(+F),
        .off = ROW_OF(+F),
        .backward = ROW_OF(+F, +W_F, +U, +B_F),
    };
    check_op(&op);
}

/* --- norms ------------------------------------------------------------------------------ */

static struct tts_value *run_rmsnorm(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_rmsnorm(ag, in[0], in[1], false);
}

static struct tts_value *run_rmsnorm_wide(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_rmsnorm(ag, in[0], in[1], true);
}

T_TEST(rmsnorm_keeps_a_column_and_sums_gamma_over_heads_batch_and_rows)
{
    const struct op_case op = {
        .name = "rmsnorm",
        .in = {SHAPE_U, SHAPE_OF(1, 1, 1, WIDTH)},
        .gradients = 3,
        .run = run_rmsnorm,
        .on = ROW_OF(+U, +N),
        .off = ROW_OF(+U, +N, -N),
        .backward = ROW_OF(+U, +U, +U, +U, +SE, +G, -U, -SE, -U, -N),
    };
    check_op(&op);
}

T_TEST(rmsnorm_of_recipe_head_sums_in_fp32)
{
    const struct op_case op = {
        .name = "rmsnorm, wide",
        .in = {SHAPE_U, SHAPE_OF(1, 1, 1, WIDTH)},
        .gradients = 3,
        .run = run_rmsnorm_wide,
        .on = ROW_OF(+U, +N),
        .off = ROW_OF(+U, +N, -N),
        .backward = ROW_OF(+U, +U, +U, +U_WIDE, +SE_WIDE, +G, -U_WIDE, -SE_WIDE, -U, -N),
    };
    check_op(&op);
}

static struct tts_value *run_layernorm(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_layernorm(ag, in[0], in[1], in[2]);
}

T_TEST(layernorm_allocates_two_columns_that_it_does_not_keep)
{
    const struct op_case op = {
        .name = "layernorm",
        .in = {SHAPE_U, SHAPE_OF(1, 1, 1, WIDTH), SHAPE_OF(1, 1, 1, WIDTH)},
        .gradients = 7,
        .run = run_layernorm,
        .on = ROW_OF(+N, +N, +U, +N, +N, -N, -N),
        .off = ROW_OF(+N, +N, +U, +N, +N, -N, -N, -N, -N),
        .backward = ROW_OF(+U, +U, +U, +U, +G, +G, -U, -U, -N, -N),
    };
    check_op(&op);
}
