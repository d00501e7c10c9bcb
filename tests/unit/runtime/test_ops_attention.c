/* Tests the operations of heads, rope, and both kinds of attention. */
#include "harness/op_rig.h"

#define SHAPE_Q SHAPE_OF(BATCH, HEADS, SEQUENCE, HEAD)
#define SHAPE_K SHAPE_OF(BATCH, GROUPS, SEQUENCE, HEAD)
#define SHAPE_MASK SHAPE_OF(1, 1, SEQUENCE, SEQUENCE)

/* --- heads ------------------------------------------------------------------------------ */

static struct tts_tensor ones_like(struct rig *rig, const struct tts_value *value)
{
    return tts_tensor_tiled(&rig->ag.rt, value->data.shape);
}

static void drop_three(struct rig *rig, struct tts_value *const out[3])
{
    for (int i = 0; i < 3; i++)
        tts_value_drop(&rig->ag, out[i]);
}

/* Runs the backward pass. The test sets the gradients of k and v; the gradient of q comes from
 * the root. */
static void run_heads_backward(struct rig *rig, struct tts_value *const out[3])
{
    tts_value_add_gradient(&rig->ag, out[1], ones_like(rig, out[1]));
    tts_value_add_gradient(&rig->ag, out[2], ones_like(rig, out[2]));
    rig_look(rig);
    tts_autograd_backward(&rig->ag, out[0]);
}

T_TEST(grouped_heads_split_and_are_put_together_again)
{
    struct rig rig;
    struct tts_value *out[3];
    rig_open(&rig);
    struct tts_value *q = tiled_value(&rig, (struct tts_shape)SHAPE_U);
    struct tts_value *kv = tiled_value(&rig, tts_shape(BATCH, 1, SEQUENCE, 2 * GROUPS * HEAD));
    rig_look(&rig);
    tts_op_grouped_heads(&rig.ag, q, kv, HEADS, GROUPS, out);
    T_ROW(&rig, +U, +KV_2, +KV_2);
    run_heads_backward(&rig, out);
    T_ROW(&rig, +U, +U, +KV_2, +KV_2, +KV, -KV_2, -KV_2);
    T_TRUE(q->gradient.storage && kv->gradient.storage);
    drop_three(&rig, out);
    T_ROW(&rig, -U, -U, -KV_2, -KV_2, -KV_2, -KV_2);
    tts_value_drop(&rig.ag, q);
    tts_value_drop(&rig.ag, kv);
    rig_close(&rig);
}

T_TEST(heads_of_one_matrix_split_and_are_put_together_again)
{
    struct rig rig;
    struct tts_value *out[3];
    rig_open(&rig);
    struct tts_value *qkv = tiled_value(&rig, tts_shape(BATCH, 1, SEQUENCE, 3 * WIDTH));
    rig_look(&rig);
    tts_op_heads(&rig.ag, qkv, HEADS, out);
    T_ROW(&rig, +U, +U, +U);
    run_heads_backward(&rig, out);
    T_ROW(&rig, +U, +U, +U, +U, +U_3, -U, -U, -U);
    T_TRUE(qkv->gradient.storage);
    drop_three(&rig, out);
    T_ROW(&rig, -U, -U, -U, -U, -U, -U);
    tts_value_drop(&rig.ag, qkv);
    rig_close(&rig);
}

T_TEST(heads_are_all_kept_with_gradients_and_die_one_by_one_without)
{
    for (int gradients = 0; gradients < 2; gradients++) {
        struct rig rig;
        struct tts_value *out[3];
        rig_open(&rig);
        rig.ag.gradients = gradients;
        struct tts_value *q = tiled_value(&rig, (struct tts_shape)SHAPE_U);
        struct tts_value *kv =
            tiled_value(&rig, tts_shape(BATCH, 1, SEQUENCE, 2 * GROUPS * HEAD));
        tts_op_grouped_heads(&rig.ag, q, kv, HEADS, GROUPS, out);
        rig_look(&rig);
        tts_value_drop(&rig.ag, out[1]);
        T_EQ(rig.live - rig.base, gradients ? 0 : -KV_2);
        tts_value_drop(&rig.ag, out[0]);
        T_EQ(rig.live - rig.base, gradients ? 0 : -KV_2 - U);
        tts_value_drop(&rig.ag, out[2]);
        T_EQ(rig.live - rig.base, gradients ? 0 : -KV - U);
        tts_value_drop(&rig.ag, q);
        tts_value_drop(&rig.ag, kv);
        T_EQ(rig.live, gradients ? 2 * U + 2 * KV : 0);
        /* One node of its own, and two sync nodes. */
        T_EQ(rig.ag.node_count, gradients ? 3 : 0);
        rig_close(&rig);
    }
}

static struct tts_value *run_fusion(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_heads_fusion(ag, in[0]);
}

T_TEST(heads_fusion_splits_by_two_transposes_and_a_view)
{
    const struct op_case op = {
        .name = "heads fusion",
        .in = {SHAPE_Q},
        .gradients = 1,
        .run = run_fusion,
        .on = ROW_OF(+U),
        .off = ROW_OF(+U),
        .backward = ROW_OF(+U, +U, +U, -U),
    };
    check_op(&op);
}

static struct tts_value *run_rope(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_rope(ag, in[0]);
}

T_TEST(rope_takes_one_buffer_each_way)
{
    const struct op_case op = {
        .name = "rope",
        .in = {SHAPE_K},
        .gradients = 1,
        .run = run_rope,
        .on = ROW_OF(+KV_2),
        .off = ROW_OF(+KV_2),
        .backward = ROW_OF(+KV_2, +KV_2),
    };
    check_op(&op);
}

/* --- of single operations --------------------------------------------------------------- */

static struct tts_value *run_attention(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_attention(ag, in, in[3]);
}

/* Rule 9: k or v is untilized, repeated, and tilized again, with at most two copies at a
 * time. */
#define REPEATED +KV_2, +U, -KV_2, +U, -U
/* One statement computes the scores times the mask, the mask - 1, this times 1e9, and the
 * sum. */
#define MASKED +A, +M, +M, +A, -A, -M, -M, -A

T_TEST(attention_repeats_k_and_v_for_its_groups_and_masks_in_one_statement)
{
    const struct op_case op = {
        .name = "attention",
        .in = {SHAPE_Q, SHAPE_K, SHAPE_K, SHAPE_MASK},
        .gradients = 7,
        .run = run_attention,
        .on = ROW_OF(+U, REPEATED, +A, -U, MASKED, +A, REPEATED, +U, -U, -A, -U),
        .off = ROW_OF(+U, REPEATED, +A, -U, MASKED, +A, REPEATED, +U, -U, -A, -A, -U),
        .backward = ROW_OF(+U, REPEATED, +A, -U, +A, -A, +A, -A, REPEATED, +U, -U, +U, +KV_2,
                           -U, +U, +KV_2, -U, -A, -A),
    };
    check_op(&op);
}

T_TEST(attention_of_as_many_groups_as_heads_repeats_and_sums_nothing)
{
    const struct op_case op = {
        .name = "attention, no groups",
        .in = {SHAPE_Q, SHAPE_Q, SHAPE_Q, SHAPE_MASK},
        .gradients = 7,
        .run = run_attention,
        .on = ROW_OF(+U, +A, MASKED, +A, +U, -A, -U),
        .off = ROW_OF(+U, +A, MASKED, +A, +U, -A, -A, -U),
        .backward = ROW_OF(+U, +A, +A, -A, +A, -A, +U, +U, +U, -A, -A),
    };
    check_op(&op);
}

T_TEST(attention_without_a_mask_has_the_scores_and_the_weights)
{
    const struct op_case op = {
        .name = "attention, no mask",
        .in = {SHAPE_Q, SHAPE_Q, SHAPE_Q},
        .gradients = 7,
        .run = run_attention,
        .on = ROW_OF(+U, +A, +A, +U, -A, -U),
        .off = ROW_OF(+U, +A, +A, +U, -A, -A, -U),
        .backward = ROW_OF(+U, +A, +A, -A, +A, -A, +U, +U, +U, -A, -A),
    };
    check_op(&op);
}

/* The published figures depend on this rule: the peak is 3A, in the forward pass because of the
 * mask, in the backward pass because of the weights. */
T_TEST(attention_of_a_long_sequence_peaks_at_three_squares_both_ways)
{
    enum { LONG = 4096, U_LONG = 2 * HEADS * LONG * HEAD };
    const int64_t square = (int64_t)2 * HEADS * LONG * LONG;
    struct rig rig;
    rig_open(&rig);
    struct tts_value *qkv[3];
    for (int i = 0; i < 3; i++)
        qkv[i] = tiled_value(&rig, tts_shape(1, i == 0 ? HEADS : GROUPS, LONG, HEAD));
    struct tts_value *mask = tiled_value(&rig, tts_shape(1, 1, LONG, LONG));
    rig_look(&rig);
    struct tts_value *out = tts_op_attention(&rig.ag, qkv, mask);
    T_EQ(rig.peak, 3 * square + U_LONG + 2 * ((int64_t)2 * LONG * LONG));
    T_EQ(rig.live - rig.base, square + U_LONG);
    rig_look(&rig);
    tts_autograd_backward(&rig.ag, out);
    /* The third square has the weights, which the forward pass kept. */
    T_EQ(rig.peak, 2 * square + U_LONG);
    drop_three(&rig, qkv);
    tts_value_drop(&rig.ag, mask);
    tts_value_drop(&rig.ag, out);
    rig_close(&rig);
}

/* --- in one kernel ---------------------------------------------------------------------- */

static struct tts_value *run_fused(struct tts_autograd *ag, struct tts_value *const in[])
{
    return tts_op_attention_fused(ag, in);
}

T_TEST(fused_attention_keeps_a_column_and_has_no_square)
{
    const struct op_case op = {
        .name = "attention, fused",
        .in = {SHAPE_Q, SHAPE_K, SHAPE_K},
        .gradients = 7,
        .run = run_fused,
        .on = ROW_OF(+U, +LSE),
        .off = ROW_OF(+U, +LSE, -LSE),
        .backward = ROW_OF(+U, +U, +LSE, +KV_2, +KV_2, -LSE, -LSE),
    };
    check_op(&op);
}

T_TEST(fused_attention_of_as_many_groups_as_heads_is_the_same_with_larger_k_and_v)
{
    const struct op_case op = {
        .name = "attention, fused, no groups",
        .in = {SHAPE_Q, SHAPE_Q, SHAPE_Q},
        .gradients = 7,
        .run = run_fused,
        .on = ROW_OF(+U, +LSE),
        .off = ROW_OF(+U, +LSE, -LSE),
        .backward = ROW_OF(+U, +U, +LSE, +U, +U, -LSE, -LSE),
    };
    check_op(&op);
}
