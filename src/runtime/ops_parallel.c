/* ops_parallel.c: operations over the chips of a mesh, as one chip sees them, and the loss if
 * the vocabulary is divided among the chips. */
#include "runtime/collective.h"
#include "runtime/kernel.h"
#include "runtime/ops.h"

static struct tts_tensor sum_over_chips(struct tts_runtime *rt, struct tts_tensor x)
{
    return tts_collective_all_reduce(rt, x, rt->tensor_parallel);
}

static void broadcast_backward(struct tts_autograd *ag, struct tts_node *node)
{
    tts_value_add_gradient(ag, node->in[0], sum_over_chips(&ag->rt, node->out[0]->gradient));
}

/* Nothing is copied, because each chip already has all of x. */
struct tts_value *tts_op_broadcast(struct tts_autograd *ag, struct tts_value *x)
{
    static const struct tts_op op = {"broadcast", "broadcast_bw", broadcast_backward};
    tts_runtime_op_begin(&ag->rt, op.name);
    struct tts_value *out = tts_value_new(ag, tts_tensor_share(x->data));
    struct tts_node node = {.op = &op, .in = {x}, .out = {out}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(&ag->rt);
    return out;
}

static void all_reduce_backward(struct tts_autograd *ag, struct tts_node *node)
{
    tts_value_add_gradient(ag, node->in[0], tts_tensor_share(node->out[0]->gradient));
}

struct tts_value *tts_op_all_reduce(struct tts_autograd *ag, struct tts_value *x)
{
    static const struct tts_op op = {"all_reduce", "all_reduce_bw", all_reduce_backward};
    tts_runtime_op_begin(&ag->rt, op.name);
    struct tts_value *out = tts_value_new(ag, sum_over_chips(&ag->rt, x->data));
    struct tts_node node = {.op = &op, .in = {x}, .out = {out}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(&ag->rt);
    return out;
}

/* --- cross entropy of divided logits ---------------------------------------------------- */

static struct tts_tensor run_fp32_kernel(struct tts_runtime *rt, enum tts_kernel_kind kind,
                                         struct tts_shape shape, struct tts_tensor a)
{
    struct tts_tensor like = {NULL, shape, TTS_DTYPE_FP32, TTS_LAYOUT_TILE};
    return tts_kernel_to(rt, kind, a, like);
}

enum { LARGEST, SUM }; /* The tensors that the node keeps. */

/* Runs the backward pass. It needs no data of other chips: it computes the exponentials again
 * in fp32, then the softmax in fp32, and converts the result to bf16. */
static void divided_backward_from(struct tts_autograd *ag, struct tts_node *node, bool shifts)
{
    struct tts_runtime *rt = &ag->rt;
    struct tts_value *logits = node->in[0];
    struct tts_shape shape = logits->data.shape;
    struct tts_tensor shifted = {0};
    if (shifts)
        shifted = run_fp32_kernel(rt, TTS_KERNEL_SUBTRACT, shape, logits->data);
    struct tts_tensor exponents =
        run_fp32_kernel(rt, TTS_KERNEL_SUBTRACT_EXP, shape, logits->data);
    struct tts_tensor inverse =
        run_fp32_kernel(rt, TTS_KERNEL_RECIPROCAL, node->kept[SUM].shape, node->kept[SUM]);
    struct tts_tensor softmax = run_fp32_kernel(rt, TTS_KERNEL_MULTIPLY, shape, exponents);
    tts_tensor_drop(rt, &inverse);
    struct tts_tensor scaled = tts_kernel_1(rt, TTS_KERNEL_SCALE, shape, softmax);
    tts_kernel_in_place(rt, TTS_KERNEL_TARGET_SUBTRACT, scaled, node->in[1]->data);
    struct tts_tensor d_logits =
        tts_kernel_2(rt, TTS_KERNEL_MULTIPLY, shape, scaled, node->out[0]->gradient);
    tts_value_add_gradient(ag, logits, d_logits);
    tts_tensor_drop(rt, &scaled);
    tts_tensor_drop(rt, &softmax);
    tts_tensor_drop(rt, &exponents);
    tts_tensor_drop(rt, &shifted);
}

static void divided_backward(struct tts_autograd *ag, struct tts_node *node)
{
    divided_backward_from(ag, node, false);
}

static void divided_backward_shifted(struct tts_autograd *ag, struct tts_node *node)
{
    divided_backward_from(ag, node, true);
}

/* The buffers of the forward pass that the node does not keep, in the order of their
 * allocation. They live until the forward pass ends. */
enum {
    OWN_LARGEST,
    GATHERED,
    SHIFTED,
    EXPONENTS,
    OWN_SUM,
    NORMALIZER,
    PICKED,
    TARGET,
    LOSSES,
    OF_BATCH,
    OF_ALL,
    LOCALS
};

/* Computes the logarithm of the sum of the exponentials over the vocabulary of all chips. */
static void make_normalizer(struct tts_runtime *rt, struct tts_tensor logits,
                            struct tts_tensor local[LOCALS], struct tts_tensor kept[2],
                            bool shifts)
{
    struct tts_shape s = logits.shape, column = tts_shape(s.d[0], 1, s.d[2], 1);
    local[OWN_LARGEST] = tts_kernel_1(rt, TTS_KERNEL_LARGEST, column, logits);
    local[GATHERED] =
        tts_collective_gather_columns(rt, local[OWN_LARGEST], rt->tensor_parallel);
    kept[LARGEST] = tts_kernel_1(rt, TTS_KERNEL_LARGEST, column, local[GATHERED]);
    if (shifts)
        local[SHIFTED] = run_fp32_kernel(rt, TTS_KERNEL_SUBTRACT, s, logits);
    local[EXPONENTS] = run_fp32_kernel(rt, TTS_KERNEL_SUBTRACT_EXP, s, logits);
    local[OWN_SUM] = run_fp32_kernel(rt, TTS_KERNEL_SUM, column, local[EXPONENTS]);
    kept[SUM] = sum_over_chips(rt, local[OWN_SUM]);
    struct tts_tensor logarithm = run_fp32_kernel(rt, TTS_KERNEL_LOGARITHM, column, kept[SUM]);
    local[NORMALIZER] = run_fp32_kernel(rt, TTS_KERNEL_ADD, column, logarithm);
    tts_tensor_drop(rt, &logarithm);
}

struct tts_value *tts_op_cross_entropy_divided(struct tts_autograd *ag,
                                               struct tts_value *logits,
                                               struct tts_value *targets, bool shifts)
{
    static const struct tts_op ops[2] = {
        {"cross_entropy", "cross_entropy_bw", divided_backward},
        {"cross_entropy", "cross_entropy_bw", divided_backward_shifted}};
    struct tts_runtime *rt = &ag->rt;
    struct tts_tensor local[LOCALS] = {0}, kept[2];
    tts_runtime_op_begin(rt, ops[shifts].name);
    struct tts_shape s = logits->data.shape, column = tts_shape(s.d[0], 1, s.d[2], 1);
    struct tts_shape one = tts_shape(1, 1, 1, 1);
    make_normalizer(rt, logits->data, local, kept, shifts);
    local[PICKED] =
        tts_kernel_2(rt, TTS_KERNEL_TARGET_LOGIT, column, logits->data, targets->data);
    local[TARGET] = sum_over_chips(rt, local[PICKED]);
    local[LOSSES] = run_fp32_kernel(rt, TTS_KERNEL_SUBTRACT, column, local[NORMALIZER]);
    local[OF_BATCH] =
        run_fp32_kernel(rt, TTS_KERNEL_SUM, tts_shape(1, 1, s.d[2], 1), local[LOSSES]);
    local[OF_ALL] = run_fp32_kernel(rt, TTS_KERNEL_SUM, one, local[OF_BATCH]);
    struct tts_value *out =
        tts_value_new(ag, tts_kernel_1(rt, TTS_KERNEL_SCALE, one, local[OF_ALL]));
    for (int i = 0; i < LOCALS; i++)
        tts_tensor_drop(rt, &local[i]);
    struct tts_node node = {.op = &ops[shifts],
                            .in = {logits, targets},
                            .out = {out},
                            .kept = {kept[LARGEST], kept[SUM]}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(rt);
    return out;
}
