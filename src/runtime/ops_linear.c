/* ops_linear.c: operations with weights: embedding, linear, rmsnorm and layernorm. */
#include "runtime/kernel.h"
#include "runtime/ops.h"

/* --- embedding -------------------------------------------------------------------------- */

static void embedding_backward(struct tts_autograd *ag, struct tts_node *node)
{
    struct tts_value *weight = node->in[0];
    struct tts_tensor d_out = node->out[0]->gradient;
    struct tts_tensor d_weight = tts_kernel_2(&ag->rt, TTS_KERNEL_EMBEDDING_BW,
                                              weight->data.shape, node->in[1]->data, d_out);
    tts_value_add_gradient(ag, weight, d_weight);
}

/* The lookup needs the table in rows, so the table is untilized for it. */
struct tts_value *tts_op_embedding(struct tts_autograd *ag, struct tts_value *ids,
                                   struct tts_value *weight)
{
    static const struct tts_op op = {"embedding", "embedding_bw", embedding_backward};
    struct tts_runtime *rt = &ag->rt;
    tts_runtime_op_begin(rt, op.name);
    struct tts_tensor like = {NULL, weight->data.shape, TTS_DTYPE_BF16, TTS_LAYOUT_ROW_MAJOR};
    struct tts_tensor table = tts_kernel_to(rt, TTS_KERNEL_UNTILIZE, weight->data, like);
    struct tts_shape shape =
        tts_shape(ids->data.shape.d[0], 1, ids->data.shape.d[3], weight->data.shape.d[3]);
    struct tts_value *out =
        tts_value_new(ag, tts_kernel_2(rt, TTS_KERNEL_EMBEDDING, shape, ids->data, table));
    tts_tensor_drop(rt, &table);
    struct tts_node node = {.op = &op, .in = {weight, ids}, .out = {out}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(rt);
    return out;
}

/* --- linear ----------------------------------------------------------------------------- */

static struct tts_shape flat_shape(struct tts_shape s)
{
    return tts_shape(1, 1, s.d[0] * s.d[1] * s.d[2], s.d[3]);
}

/* Adds the gradients of the bias, the input and the weight, in this order. Flattening a tensor
 * makes a view, not a copy, because the number of rows is a multiple of the side of a tile. */
static void linear_backward(struct tts_autograd *ag, struct tts_node *node)
{
    struct tts_runtime *rt = &ag->rt;
    struct tts_value *weight = node->in[0], *x = node->in[1], *bias = node->in[2];
    struct tts_tensor flat_x = tts_tensor_reshape(rt, x->data, flat_shape(x->data.shape));
    struct tts_tensor d_out = node->out[0]->gradient;
    struct tts_tensor flat_d = tts_tensor_reshape(rt, d_out, flat_shape(d_out.shape));
    struct tts_tensor d_weight =
        tts_kernel_2(rt, TTS_KERNEL_MATMUL, weight->data.shape, flat_d, flat_x);
    struct tts_tensor d_x =
        tts_kernel_2(rt, TTS_KERNEL_MATMUL, x->data.shape, flat_d, weight->data);
    if (bias)
        tts_value_add_gradient(ag, bias,
                               tts_kernel_1(rt, TTS_KERNEL_SUM, bias->data.shape, flat_d));
    tts_value_add_gradient(ag, x, d_x);
    tts_value_add_gradient(ag, weight, d_weight);
    tts_tensor_drop(rt, &flat_x);
    tts_tensor_drop(rt, &flat_d);
}

/* One kernel does the whole layer, including the transpose of the weight and the bias. */
struct tts_value *tts_op_linear(struct tts_autograd *ag, struct tts_value *x,
                                struct tts_value *weight, struct tts_value *bias)
{
    static const struct tts_op op = {"linear", "linear_bw", linear_backward};
    struct tts_runtime *rt = &ag->rt;
    tts_runtime_op_begin(rt, op.name);
    struct tts_shape shape = x->data.shape;
    shape.d[3] = weight->data.shape.d[2];
    struct tts_tensor out_data =
        bias ? tts_kernel_3(rt, TTS_KERNEL_LINEAR, shape,
                            (const struct tts_tensor[3]){x->data, weight->data, bias->data})
             : tts_kernel_2(rt, TTS_KERNEL_MATMUL, shape, x->data, weight->data);
    struct tts_value *out = tts_value_new(ag, out_data);
    struct tts_node node = {.op = &op, .in = {weight, x, bias}, .out = {out}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(rt);
    return out;
}

/* --- norms ------------------------------------------------------------------------------ */

/* Returns the shape of a tensor that has one number for each row of `shape`. */
static struct tts_shape column_shape(struct tts_shape shape)
{
    shape.d[3] = 1;
    return shape;
}

/* Returns the gradient of gamma: sums its parts over dimension 1, then over the batch, then
 * over the rows. */
static struct tts_tensor sum_gradient_parts(struct tts_runtime *rt, struct tts_tensor parts,
                                            enum tts_dtype dtype, struct tts_shape out)
{
    struct tts_tensor like = {NULL, parts.shape, dtype, TTS_LAYOUT_TILE};
    struct tts_tensor over_heads = tts_kernel_to(rt, TTS_KERNEL_SUM, parts, like);
    like.shape.d[0] = 1;
    struct tts_tensor over_batch = tts_kernel_to(rt, TTS_KERNEL_SUM, over_heads, like);
    struct tts_tensor sum = tts_kernel_1(rt, TTS_KERNEL_SUM, out, over_batch);
    tts_tensor_drop(rt, &over_heads);
    tts_tensor_drop(rt, &over_batch);
    return sum;
}

static void rmsnorm_backward_in(struct tts_autograd *ag, struct tts_node *node,
                                enum tts_dtype dtype)
{
    struct tts_runtime *rt = &ag->rt;
    struct tts_value *x = node->in[0], *gamma = node->in[1];
    struct tts_shape shape = x->data.shape;
    struct tts_kernel kernel = {TTS_KERNEL_RMSNORM_BW,
                                {x->data, gamma->data, node->kept[0], node->out[0]->gradient},
                                {tts_tensor_tiled(rt, shape), tts_tensor_tiled(rt, shape)},
                                4,
                                2};
    tts_kernel_launch(rt, &kernel);
    struct tts_tensor d_gamma = sum_gradient_parts(rt, kernel.out[1], dtype, gamma->data.shape);
    tts_tensor_drop(rt, &kernel.out[1]);
    tts_value_add_gradient(ag, x, kernel.out[0]);
    tts_value_add_gradient(ag, gamma, d_gamma);
}

static void rmsnorm_backward(struct tts_autograd *ag, struct tts_node *node)
{
    rmsnorm_backward_in(ag, node, TTS_DTYPE_BF16);
}

static void rmsnorm_wide_backward(struct tts_autograd *ag, struct tts_node *node)
{
    rmsnorm_backward_in(ag, node, TTS_DTYPE_FP32);
}

struct tts_value *tts_op_rmsnorm(struct tts_autograd *ag, struct tts_value *x,
                                 struct tts_value *gamma, bool wide_sums)
{
    static const struct tts_op op = {"rmsnorm", "rmsnorm_bw", rmsnorm_backward};
    static const struct tts_op wide = {"rmsnorm", "rmsnorm_bw", rmsnorm_wide_backward};
    struct tts_runtime *rt = &ag->rt;
    tts_runtime_op_begin(rt, op.name);
    struct tts_shape shape = x->data.shape;
    struct tts_kernel kernel = {
        TTS_KERNEL_RMSNORM,
        {x->data, gamma->data},
        {tts_tensor_tiled(rt, shape), tts_tensor_tiled(rt, column_shape(shape))},
        2,
        2};
    tts_kernel_launch(rt, &kernel);
    struct tts_value *out = tts_value_new(ag, kernel.out[0]);
    struct tts_node node = {
        .op = wide_sums ? &wide : &op, .in = {x, gamma}, .out = {out}, .kept = {kernel.out[1]}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(rt);
    return out;
}

static void layernorm_backward(struct tts_autograd *ag, struct tts_node *node)
{
    struct tts_runtime *rt = &ag->rt;
    struct tts_value *x = node->in[0], *gamma = node->in[1], *beta = node->in[2];
    struct tts_shape shape = x->data.shape;
    struct tts_kernel kernel = {
        TTS_KERNEL_LAYERNORM_BW,
        {x->data, gamma->data, node->kept[0], node->kept[1], node->out[0]->gradient},
        {tts_tensor_tiled(rt, shape), tts_tensor_tiled(rt, shape), tts_tensor_tiled(rt, shape)},
        5,
        3};
    tts_kernel_launch(rt, &kernel);
    struct tts_tensor d_gamma =
        tts_kernel_1(rt, TTS_KERNEL_SUM, gamma->data.shape, kernel.out[1]);
    struct tts_tensor d_beta =
        tts_kernel_1(rt, TTS_KERNEL_SUM, beta->data.shape, kernel.out[2]);
    tts_tensor_drop(rt, &kernel.out[1]);
    tts_tensor_drop(rt, &kernel.out[2]);
    tts_value_add_gradient(ag, x, kernel.out[0]);
    tts_value_add_gradient(ag, gamma, d_gamma);
    tts_value_add_gradient(ag, beta, d_beta);
}

/* The program allocates columns for mean and rstd, but the kernel allocates its own. The first
 * two are dropped unused. */
struct tts_value *tts_op_layernorm(struct tts_autograd *ag, struct tts_value *x,
                                   struct tts_value *gamma, struct tts_value *beta)
{
    static const struct tts_op op = {"layernorm", "layernorm_bw", layernorm_backward};
    struct tts_runtime *rt = &ag->rt;
    tts_runtime_op_begin(rt, op.name);
    struct tts_shape shape = x->data.shape, column = column_shape(shape);
    struct tts_tensor mean = tts_tensor_tiled(rt, column), rstd = tts_tensor_tiled(rt, column);
    struct tts_kernel kernel = {TTS_KERNEL_LAYERNORM,
                                {x->data, gamma->data, beta->data},
                                {tts_tensor_tiled(rt, shape), tts_tensor_tiled(rt, column),
                                 tts_tensor_tiled(rt, column)},
                                3,
                                3};
    tts_kernel_launch(rt, &kernel);
    tts_tensor_drop(rt, &mean);
    tts_tensor_drop(rt, &rstd);
    struct tts_value *out = tts_value_new(ag, kernel.out[0]);
    struct tts_node node = {.op = &op,
                            .in = {x, gamma, beta},
                            .out = {out},
                            .kept = {kernel.out[1], kernel.out[2]}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(rt);
    return out;
}
