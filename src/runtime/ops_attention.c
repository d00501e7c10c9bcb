/* ops_attention.c: the split and fusion of heads, rope, and both kinds of attention. */
#include "runtime/kernel.h"
#include "runtime/ops.h"

#include <assert.h>

/* --- heads ------------------------------------------------------------------------------ */

/* Returns the shape [B,1,S,HD] for the shape [B,H,S,D]. */
static struct tts_shape fused_shape(struct tts_shape s)
{
    return tts_shape(s.d[0], 1, s.d[2], s.d[1] * s.d[3]);
}

static struct tts_tensor concat_heads(struct tts_runtime *rt, struct tts_tensor x)
{
    return tts_kernel_1(rt, TTS_KERNEL_HEADS_CONCAT, fused_shape(x.shape), x);
}

static void heads_backward(struct tts_autograd *ag, struct tts_node *node)
{
    struct tts_runtime *rt = &ag->rt;
    struct tts_tensor d[3];
    for (int i = 0; i < 3; i++)
        d[i] = concat_heads(rt, node->out[i]->gradient);
    struct tts_tensor all = tts_kernel_3(rt, TTS_KERNEL_CONCAT, node->in[0]->data.shape, d);
    for (int i = 0; i < 3; i++)
        tts_tensor_drop(rt, &d[i]);
    tts_value_add_gradient(ag, node->in[0], all);
}

static void grouped_heads_backward(struct tts_autograd *ag, struct tts_node *node)
{
    struct tts_runtime *rt = &ag->rt;
    struct tts_tensor d[3];
    for (int i = 0; i < 3; i++)
        d[i] = concat_heads(rt, node->out[i]->gradient);
    tts_value_add_gradient(ag, node->in[0], d[0]);
    struct tts_tensor both =
        tts_kernel_2(rt, TTS_KERNEL_CONCAT, node->in[1]->data.shape, d[1], d[2]);
    tts_value_add_gradient(ag, node->in[1], both);
    tts_tensor_drop(rt, &d[1]);
    tts_tensor_drop(rt, &d[2]);
}

/* Makes q, k and v with one kernel. The node of the kernel is the node of q. The sync nodes of
 * k and v precede it in the backward pass, so that all three gradients exist before it runs. */
static void split_heads(struct tts_autograd *ag, struct tts_node *node, struct tts_shape q,
                        struct tts_shape kv)
{
    struct tts_runtime *rt = &ag->rt;
    struct tts_kernel kernel = {
        TTS_KERNEL_HEADS_SPLIT,
        {node->in[0]->data},
        {tts_tensor_tiled(rt, q), tts_tensor_tiled(rt, kv), tts_tensor_tiled(rt, kv)},
        1,
        3};
    if (node->in[1])
        kernel.in[kernel.ins++] = node->in[1]->data;
    tts_kernel_launch(rt, &kernel);
    for (int i = 0; i < 3; i++)
        node->out[i] = tts_value_new(ag, kernel.out[i]);
    tts_autograd_add(ag, node);
    tts_autograd_sync(ag, node->out[1], node->in[0], node->out[0]);
    tts_autograd_sync(ag, node->out[2], node->in[0], node->out[0]);
}

void tts_op_heads(struct tts_autograd *ag, struct tts_value *qkv, uint64_t heads,
                  struct tts_value *out[3])
{
    static const struct tts_op op = {"heads_creation", "heads_creation_bw", heads_backward};
    struct tts_shape s = qkv->data.shape;
    struct tts_shape each = tts_shape(s.d[0], heads, s.d[2], s.d[3] / 3 / heads);
    struct tts_node node = {.op = &op, .in = {qkv}};
    tts_runtime_op_begin(&ag->rt, op.name);
    split_heads(ag, &node, each, each);
    for (int i = 0; i < 3; i++)
        out[i] = node.out[i];
    tts_runtime_op_end(&ag->rt);
}

void tts_op_grouped_heads(struct tts_autograd *ag, struct tts_value *q, struct tts_value *kv,
                          uint64_t heads, uint64_t groups, struct tts_value *out[3])
{
    static const struct tts_op op = {"grouped_heads_creation", "grouped_heads_creation_bw",
                                     grouped_heads_backward};
    struct tts_shape s = q->data.shape;
    uint64_t head = s.d[3] / heads;
    struct tts_node node = {.op = &op, .in = {q, kv}};
    tts_runtime_op_begin(&ag->rt, op.name);
    split_heads(ag, &node, tts_shape(s.d[0], heads, s.d[2], head),
                tts_shape(s.d[0], groups, s.d[2], head));
    for (int i = 0; i < 3; i++)
        out[i] = node.out[i];
    tts_runtime_op_end(&ag->rt);
}

/* Splits the gradient into heads. No kernel does this for a single tensor, so the program
 * transposes, makes a view, and transposes back. */
static void fusion_backward(struct tts_autograd *ag, struct tts_node *node)
{
    struct tts_runtime *rt = &ag->rt;
    struct tts_shape s = node->in[0]->data.shape;
    struct tts_tensor flipped =
        tts_kernel_1(rt, TTS_KERNEL_TRANSPOSE, tts_shape(s.d[0], 1, s.d[1] * s.d[3], s.d[2]),
                     node->out[0]->gradient);
    struct tts_tensor split =
        tts_tensor_reshape(rt, flipped, tts_shape(s.d[0], s.d[1], s.d[3], s.d[2]));
    tts_tensor_drop(rt, &flipped);
    struct tts_tensor d_x = tts_kernel_1(rt, TTS_KERNEL_TRANSPOSE, s, split);
    tts_tensor_drop(rt, &split);
    tts_value_add_gradient(ag, node->in[0], d_x);
}

struct tts_value *tts_op_heads_fusion(struct tts_autograd *ag, struct tts_value *x)
{
    static const struct tts_op op = {"heads_fusion", "heads_fusion_bw", fusion_backward};
    tts_runtime_op_begin(&ag->rt, op.name);
    struct tts_value *out = tts_value_new(ag, concat_heads(&ag->rt, x->data));
    struct tts_node node = {.op = &op, .in = {x}, .out = {out}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(&ag->rt);
    return out;
}

static void rope_backward(struct tts_autograd *ag, struct tts_node *node)
{
    struct tts_tensor d_out = node->out[0]->gradient;
    tts_value_add_gradient(ag, node->in[0],
                           tts_kernel_1(&ag->rt, TTS_KERNEL_ROPE, d_out.shape, d_out));
}

struct tts_value *tts_op_rope(struct tts_autograd *ag, struct tts_value *x)
{
    static const struct tts_op op = {"rope", "rope_bw", rope_backward};
    tts_runtime_op_begin(&ag->rt, op.name);
    struct tts_value *out =
        tts_value_new(ag, tts_kernel_1(&ag->rt, TTS_KERNEL_ROPE, x->data.shape, x->data));
    struct tts_node node = {.op = &op, .in = {x}, .out = {out}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(&ag->rt);
    return out;
}

/* --- attention of single operations ----------------------------------------------------- */

/* Repeats k or v for each head of its group: untilizes, repeats, and tilizes again. */
static struct tts_tensor repeat_for_heads(struct tts_runtime *rt, struct tts_tensor kv,
                                          uint64_t heads)
{
    struct tts_shape s = kv.shape;
    struct tts_tensor like = {NULL, s, TTS_DTYPE_BF16, TTS_LAYOUT_ROW_MAJOR};
    struct tts_tensor all = tts_kernel_to(rt, TTS_KERNEL_UNTILIZE, kv, like);
    like.shape = tts_shape(s.d[0], heads, s.d[2], s.d[3]);
    tts_tensor_replace(rt, &all, tts_kernel_to(rt, TTS_KERNEL_REPEAT, all, like));
    tts_tensor_replace(rt, &all, tts_kernel_1(rt, TTS_KERNEL_TILIZE, like.shape, all));
    return all;
}

/* Multiplies each head of `a` with the group of `kv` that the head belongs to. */
static struct tts_tensor group_matmul(struct tts_runtime *rt, struct tts_tensor a,
                                      struct tts_tensor kv, struct tts_shape out)
{
    uint64_t heads = a.shape.d[1];
    if (kv.shape.d[1] == heads)
        return tts_kernel_2(rt, TTS_KERNEL_MATMUL, out, a, kv);
    struct tts_tensor repeated = repeat_for_heads(rt, kv, heads);
    struct tts_tensor product = tts_kernel_2(rt, TTS_KERNEL_MATMUL, out, a, repeated);
    tts_tensor_drop(rt, &repeated);
    return product;
}

/* Returns the gradient of k or v: multiplies for each head, then sums over the heads of each
 * group. */
static struct tts_tensor matmul_of_group(struct tts_runtime *rt, struct tts_tensor a,
                                         struct tts_tensor b, struct tts_shape kv)
{
    struct tts_shape all = tts_shape(kv.d[0], a.shape.d[1], kv.d[2], kv.d[3]);
    struct tts_tensor d = tts_kernel_2(rt, TTS_KERNEL_MATMUL, all, a, b);
    if (kv.d[1] != all.d[1])
        tts_tensor_replace(rt, &d, tts_kernel_1(rt, TTS_KERNEL_SUM, kv, d));
    return d;
}

static void attention_backward(struct tts_autograd *ag, struct tts_node *node)
{
    struct tts_runtime *rt = &ag->rt;
    struct tts_value *q = node->in[0], *k = node->in[1], *v = node->in[2];
    struct tts_tensor weights = node->kept[0], d_out = node->out[0]->gradient;
    struct tts_tensor d_weights = group_matmul(rt, d_out, v->data, weights.shape);
    struct tts_tensor d_scores =
        tts_kernel_2(rt, TTS_KERNEL_SOFTMAX_BW, weights.shape, weights, d_weights);
    tts_tensor_drop(rt, &d_weights);
    tts_tensor_replace(rt, &d_scores,
                       tts_kernel_1(rt, TTS_KERNEL_SCALE, weights.shape, d_scores));
    struct tts_tensor d_q = group_matmul(rt, d_scores, k->data, q->data.shape);
    struct tts_tensor d_k = matmul_of_group(rt, d_scores, q->data, k->data.shape);
    struct tts_tensor d_v = matmul_of_group(rt, weights, d_out, v->data.shape);
    tts_value_add_gradient(ag, q, d_q);
    tts_value_add_gradient(ag, k, d_k);
    tts_value_add_gradient(ag, v, d_v);
    tts_tensor_drop(rt, &d_scores);
}

/* Replaces the scores by scores * mask + (mask - 1) * 1e9. In the modelled program this is one
 * statement, so all its buffers, and the old scores, live until its end. */
static void apply_mask(struct tts_runtime *rt, struct tts_tensor *scores,
                       struct tts_tensor mask)
{
    struct tts_tensor kept =
        tts_kernel_2(rt, TTS_KERNEL_MULTIPLY, scores->shape, mask, *scores);
    struct tts_tensor less = tts_kernel_1(rt, TTS_KERNEL_SUBTRACT, mask.shape, mask);
    struct tts_tensor masked = tts_kernel_1(rt, TTS_KERNEL_SCALE, mask.shape, less);
    struct tts_tensor sum = tts_kernel_2(rt, TTS_KERNEL_ADD, scores->shape, kept, masked);
    tts_tensor_drop(rt, &kept);
    tts_tensor_drop(rt, &less);
    tts_tensor_drop(rt, &masked);
    tts_tensor_replace(rt, scores, sum);
}

struct tts_value *tts_op_attention(struct tts_autograd *ag, struct tts_value *const qkv[3],
                                   struct tts_value *mask)
{
    static const struct tts_op op = {"attention", "attention_bw", attention_backward};
    struct tts_runtime *rt = &ag->rt;
    tts_runtime_op_begin(rt, op.name);
    struct tts_tensor q = qkv[0]->data;
    struct tts_shape square = tts_shape(q.shape.d[0], q.shape.d[1], q.shape.d[2], q.shape.d[2]);
    struct tts_tensor scaled = tts_kernel_1(rt, TTS_KERNEL_SCALE, q.shape, q);
    struct tts_tensor scores = group_matmul(rt, scaled, qkv[1]->data, square);
    if (mask)
        apply_mask(rt, &scores, mask->data);
    struct tts_tensor weights = tts_kernel_1(rt, TTS_KERNEL_SOFTMAX, square, scores);
    struct tts_value *out = tts_value_new(ag, group_matmul(rt, weights, qkv[2]->data, q.shape));
    struct tts_node node = {
        .op = &op, .in = {qkv[0], qkv[1], qkv[2], mask}, .out = {out}, .kept = {weights}};
    tts_autograd_add(ag, &node);
    tts_tensor_drop(rt, &scores);
    tts_tensor_drop(rt, &scaled);
    tts_runtime_op_end(rt);
    return out;
}

/* --- attention in one kernel ------------------------------------------------------------ */

static void fused_backward(struct tts_autograd *ag, struct tts_node *node)
{
    struct tts_runtime *rt = &ag->rt;
    struct tts_value *q = node->in[0], *k = node->in[1], *v = node->in[2];
    struct tts_tensor lse = node->kept[0];
    struct tts_kernel of_q = {
        TTS_KERNEL_SDPA_BW_Q,
        {node->out[0]->gradient, node->out[0]->data, q->data, k->data, v->data, lse},
        {tts_tensor_tiled(rt, q->data.shape),
         tts_tensor_new(rt, lse.shape, lse.dtype, lse.layout)},
        6,
        2};
    tts_kernel_launch(rt, &of_q);
    struct tts_kernel of_kv = {
        TTS_KERNEL_SDPA_BW_KV,
        {node->out[0]->gradient, of_q.out[1], q->data, k->data, v->data, lse},
        {tts_tensor_tiled(rt, k->data.shape), tts_tensor_tiled(rt, v->data.shape)},
        6,
        2};
    tts_kernel_launch(rt, &of_kv);
    tts_tensor_drop(rt, &of_q.out[1]);
    tts_value_add_gradient(ag, q, of_q.out[0]);
    tts_value_add_gradient(ag, k, of_kv.out[0]);
    tts_value_add_gradient(ag, v, of_kv.out[1]);
}

/* Of the attention weights, the node keeps only the logarithm of the sum of each row: one
 * column of tiles in fp32. */
struct tts_value *tts_op_attention_fused(struct tts_autograd *ag,
                                         struct tts_value *const qkv[3])
{
    static const struct tts_op op = {"attention", "attention_bw", fused_backward};
    struct tts_runtime *rt = &ag->rt;
    tts_runtime_op_begin(rt, op.name);
    struct tts_shape s = qkv[0]->data.shape;
    struct tts_shape column = tts_shape(s.d[0], s.d[1], s.d[2], TTS_TILE_SIDE);
    struct tts_kernel kernel = {
        TTS_KERNEL_SDPA,
        {qkv[0]->data, qkv[1]->data, qkv[2]->data},
        {tts_tensor_tiled(rt, s), tts_tensor_new(rt, column, TTS_DTYPE_FP32, TTS_LAYOUT_TILE)},
        3,
        2};
    tts_kernel_launch(rt, &kernel);
    struct tts_value *out = tts_value_new(ag, kernel.out[0]);
    struct tts_node node = {
        .op = &op, .in = {qkv[0], qkv[1], qkv[2]}, .out = {out}, .kept = {kernel.out[1]}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(rt);
    return out;
}
