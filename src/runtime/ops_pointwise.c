/* ops_pointwise.c: operations on single elements (sums, products, activations, dropout), and
 * SwiGLU. */
#include "runtime/kernel.h"
#include "runtime/ops.h"

#include <assert.h>

/* Runs a kernel with one input and adds its node. Returns the output. */
static struct tts_value *run_unary_op(struct tts_autograd *ag, const struct tts_op *op,
                                      enum tts_kernel_kind kind, struct tts_value *x)
{
    tts_runtime_op_begin(&ag->rt, op->name);
    struct tts_value *out =
        tts_value_new(ag, tts_kernel_1(&ag->rt, kind, x->data.shape, x->data));
    struct tts_node node = {.op = op, .in = {x}, .out = {out}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(&ag->rt);
    return out;
}

/* Runs a backward pass that is one kernel, whose inputs are the gradient and the input of the
 * operation. */
static void unary_backward(struct tts_autograd *ag, struct tts_node *node,
                           enum tts_kernel_kind kind)
{
    struct tts_value *x = node->in[0];
    struct tts_tensor d_out = node->out[0]->gradient;
    tts_value_add_gradient(ag, x, tts_kernel_2(&ag->rt, kind, x->data.shape, d_out, x->data));
}

static void silu_backward(struct tts_autograd *ag, struct tts_node *node)
{
    unary_backward(ag, node, TTS_KERNEL_SILU_BW);
}

static void gelu_backward(struct tts_autograd *ag, struct tts_node *node)
{
    unary_backward(ag, node, TTS_KERNEL_GELU_BW);
}

/* Runs a backward pass that applies the kernel of the forward pass, with the same factor or
 * mask, to the gradient. */
static void again_backward(struct tts_autograd *ag, struct tts_node *node,
                           enum tts_kernel_kind kind)
{
    struct tts_tensor d_out = node->out[0]->gradient;
    tts_value_add_gradient(ag, node->in[0], tts_kernel_1(&ag->rt, kind, d_out.shape, d_out));
}

static void scale_backward(struct tts_autograd *ag, struct tts_node *node)
{
    again_backward(ag, node, TTS_KERNEL_SCALE);
}

static void dropout_backward(struct tts_autograd *ag, struct tts_node *node)
{
    again_backward(ag, node, TTS_KERNEL_DROPOUT);
}

struct tts_value *tts_op_silu(struct tts_autograd *ag, struct tts_value *x)
{
    static const struct tts_op op = {"silu", "silu_bw", silu_backward};
    return run_unary_op(ag, &op, TTS_KERNEL_SILU, x);
}

struct tts_value *tts_op_gelu(struct tts_autograd *ag, struct tts_value *x)
{
    static const struct tts_op op = {"gelu", "gelu_bw", gelu_backward};
    return run_unary_op(ag, &op, TTS_KERNEL_GELU, x);
}

struct tts_value *tts_op_scale(struct tts_autograd *ag, struct tts_value *x)
{
    static const struct tts_op op = {"scale", "scale_bw", scale_backward};
    return run_unary_op(ag, &op, TTS_KERNEL_SCALE, x);
}

struct tts_value *tts_op_dropout(struct tts_autograd *ag, struct tts_value *x, bool on)
{
    static const struct tts_op op = {"dropout", "dropout_bw", dropout_backward};
    return on ? run_unary_op(ag, &op, TTS_KERNEL_DROPOUT, x) : tts_value_share(x);
}

/* --- sums and products ------------------------------------------------------------------ */

/* Passes the gradient of a sum to one of its terms. A term of the same shape shares the
 * gradient. A term that was broadcast gets the sum over the batch. */
static void pass_gradient(struct tts_autograd *ag, struct tts_value *x, struct tts_tensor d_out)
{
    struct tts_tensor d_x = tts_shape_equal(x->data.shape, d_out.shape)
                                ? tts_tensor_share(d_out)
                                : tts_kernel_1(&ag->rt, TTS_KERNEL_SUM, x->data.shape, d_out);
    tts_value_add_gradient(ag, x, d_x);
}

static void add_backward(struct tts_autograd *ag, struct tts_node *node)
{
    pass_gradient(ag, node->in[0], node->out[0]->gradient);
    pass_gradient(ag, node->in[1], node->out[0]->gradient);
}

static void add_constant_backward(struct tts_autograd *ag, struct tts_node *node)
{
    pass_gradient(ag, node->in[0], node->out[0]->gradient);
}

static struct tts_value *add_values(struct tts_autograd *ag, struct tts_value *a,
                                    struct tts_value *b)
{
    return tts_value_new(
        ag, tts_kernel_2(&ag->rt, TTS_KERNEL_ADD, a->data.shape, a->data, b->data));
}

struct tts_value *tts_op_add(struct tts_autograd *ag, struct tts_value *a, struct tts_value *b)
{
    static const struct tts_op op = {"add", "add_bw", add_backward};
    tts_runtime_op_begin(&ag->rt, op.name);
    struct tts_value *out = add_values(ag, a, b);
    struct tts_node node = {.op = &op, .in = {a, b}, .out = {out}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(&ag->rt);
    return out;
}

struct tts_value *tts_op_add_constant(struct tts_autograd *ag, struct tts_value *a,
                                      struct tts_value *b)
{
    static const struct tts_op op = {"add", "add_bw", add_constant_backward};
    tts_runtime_op_begin(&ag->rt, op.name);
    struct tts_value *out = add_values(ag, a, b);
    struct tts_node node = {.op = &op, .in = {a}, .out = {out}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(&ag->rt);
    return out;
}

static void mul_backward(struct tts_autograd *ag, struct tts_node *node)
{
    struct tts_runtime *rt = &ag->rt;
    struct tts_value *a = node->in[0], *b = node->in[1];
    struct tts_tensor d_out = node->out[0]->gradient;
    struct tts_tensor d_a =
        tts_kernel_2(rt, TTS_KERNEL_MULTIPLY, a->data.shape, d_out, b->data);
    struct tts_tensor d_b =
        tts_kernel_2(rt, TTS_KERNEL_MULTIPLY, b->data.shape, d_out, a->data);
    tts_value_add_gradient(ag, a, d_a);
    tts_value_add_gradient(ag, b, d_b);
}

struct tts_value *tts_op_mul(struct tts_autograd *ag, struct tts_value *a, struct tts_value *b)
{
    static const struct tts_op op = {"mul", "mul_bw", mul_backward};
    tts_runtime_op_begin(&ag->rt, op.name);
    struct tts_value *out = tts_value_new(
        ag, tts_kernel_2(&ag->rt, TTS_KERNEL_MULTIPLY, a->data.shape, a->data, b->data));
    struct tts_node node = {.op = &op, .in = {a, b}, .out = {out}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(&ag->rt);
    return out;
}

/* --- swiglu ----------------------------------------------------------------------------- */

enum { LINEAR1, GATE, GATED };

/* Computes the gradient of a weight and adds it to the weight. */
static void add_weight_gradient(struct tts_autograd *ag, struct tts_value *weight,
                                struct tts_tensor d_out, struct tts_tensor x)
{
    tts_value_add_gradient(
        ag, weight, tts_kernel_2(&ag->rt, TTS_KERNEL_MATMUL, weight->data.shape, d_out, x));
}

/* Runs the backward pass from the output to the gate. Overwrites the kept linear1 with its
 * gradient, and sets *d_gate to the gradient of the gate, in a new buffer. Drops *d_out. */
static void swiglu_gate_backward(struct tts_autograd *ag, struct tts_node *node,
                                 struct tts_tensor *d_out, struct tts_tensor *d_gate)
{
    struct tts_runtime *rt = &ag->rt;
    struct tts_tensor *saved = node->kept;
    struct tts_value *w2 = node->in[2];
    struct tts_shape wide = saved[LINEAR1].shape;
    add_weight_gradient(ag, w2, *d_out, saved[GATED]);
    tts_tensor_drop(rt, &saved[GATED]);
    struct tts_tensor d_product = tts_kernel_2(rt, TTS_KERNEL_MATMUL, wide, *d_out, w2->data);
    tts_tensor_drop(rt, d_out);
    *d_gate = tts_tensor_tiled(rt, wide);
    struct tts_kernel kernel = {TTS_KERNEL_SWIGLU_GATE_BW,
                                {saved[LINEAR1], saved[GATE], d_product},
                                {saved[LINEAR1], *d_gate},
                                3,
                                2};
    tts_kernel_launch(rt, &kernel);
    tts_tensor_drop(rt, &saved[GATE]);
    tts_tensor_drop(rt, &d_product);
}

/* Runs the backward pass. Frees each tensor as soon as it has been read; separate operations
 * would have a higher peak. Takes the handle of d_out. */
static void swiglu_backward_of(struct tts_autograd *ag, struct tts_node *node,
                               struct tts_tensor d_out)
{
    struct tts_runtime *rt = &ag->rt;
    struct tts_value *x = node->in[0], *w1 = node->in[1], *w3 = node->in[3];
    struct tts_tensor d_gate;
    swiglu_gate_backward(ag, node, &d_out, &d_gate);
    struct tts_tensor d_linear1 = node->kept[LINEAR1];
    struct tts_shape shape = x->data.shape;
    struct tts_tensor d_x = tts_kernel_2(rt, TTS_KERNEL_MATMUL, shape, d_linear1, w1->data);
    struct tts_tensor more = tts_kernel_2(rt, TTS_KERNEL_MATMUL, shape, d_gate, w3->data);
    tts_kernel_in_place(rt, TTS_KERNEL_ADD, d_x, more);
    tts_tensor_drop(rt, &more);
    tts_value_add_gradient(ag, x, d_x);
    add_weight_gradient(ag, w1, d_linear1, x->data);
    add_weight_gradient(ag, w3, d_gate, x->data);
    tts_tensor_drop(rt, &d_gate);
}

static void swiglu_backward(struct tts_autograd *ag, struct tts_node *node)
{
    swiglu_backward_of(ag, node, tts_tensor_share(node->out[0]->gradient));
}

static void swiglu_dropout_backward(struct tts_autograd *ag, struct tts_node *node)
{
    struct tts_tensor d_out = node->out[0]->gradient;
    struct tts_tensor masked = tts_kernel_1(&ag->rt, TTS_KERNEL_DROPOUT, d_out.shape, d_out);
    swiglu_backward_of(ag, node, masked);
}

struct tts_value *tts_op_swiglu(struct tts_autograd *ag, struct tts_value *x,
                                struct tts_value *const weights[3], bool dropout)
{
    static const struct tts_op plain = {"swiglu", "swiglu_bw", swiglu_backward};
    static const struct tts_op drops = {"swiglu", "swiglu_bw", swiglu_dropout_backward};
    struct tts_runtime *rt = &ag->rt;
    tts_runtime_op_begin(rt, plain.name);
    struct tts_shape wide = x->data.shape;
    wide.d[3] = weights[0]->data.shape.d[2];
    struct tts_tensor linear1 =
        tts_kernel_2(rt, TTS_KERNEL_MATMUL, wide, x->data, weights[0]->data);
    struct tts_tensor gate =
        tts_kernel_2(rt, TTS_KERNEL_MATMUL, wide, x->data, weights[2]->data);
    struct tts_tensor gated = tts_kernel_2(rt, TTS_KERNEL_SWIGLU_GATE, wide, linear1, gate);
    struct tts_value *out = tts_value_new(
        ag, tts_kernel_2(rt, TTS_KERNEL_MATMUL, x->data.shape, gated, weights[1]->data));
    if (dropout)
        tts_kernel_in_place(rt, TTS_KERNEL_DROPOUT, out->data, out->data);
    struct tts_node node = {.op = dropout ? &drops : &plain,
                            .in = {x, weights[0], weights[1], weights[2]},
                            .out = {out},
                            .kept = {linear1, gate, gated}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(rt);
    return out;
}
