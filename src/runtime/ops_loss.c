/* ops_loss.c: the loss (cross entropy). */
#include "runtime/kernel.h"
#include "runtime/ops.h"

/* Computes the gradient of the logits, then multiplies it by the gradient of the loss. */
static void cross_entropy_backward(struct tts_autograd *ag, struct tts_node *node)
{
    struct tts_runtime *rt = &ag->rt;
    struct tts_value *logits = node->in[0], *targets = node->in[1];
    struct tts_shape shape = logits->data.shape;
    struct tts_tensor d =
        tts_kernel_2(rt, TTS_KERNEL_CROSS_ENTROPY_BW, shape, logits->data, targets->data);
    struct tts_tensor scaled =
        tts_kernel_2(rt, TTS_KERNEL_MULTIPLY, shape, d, node->out[0]->gradient);
    tts_tensor_drop(rt, &d);
    tts_value_add_gradient(ag, logits, scaled);
}

/* Writes the mean of `losses` [B,1,S,1] to `out`. Computes the mean over one dimension after
 * another; each step has its own buffer. */
static void mean_of_tokens(struct tts_runtime *rt, struct tts_tensor losses,
                           struct tts_tensor out)
{
    struct tts_shape shape = losses.shape;
    struct tts_tensor mean = tts_kernel_1(rt, TTS_KERNEL_MEAN, shape, losses);
    shape.d[2] = 1;
    tts_tensor_replace(rt, &mean, tts_kernel_1(rt, TTS_KERNEL_MEAN, shape, mean));
    tts_tensor_replace(rt, &mean, tts_kernel_1(rt, TTS_KERNEL_MEAN, shape, mean));
    tts_kernel_in_place(rt, TTS_KERNEL_MEAN, out, mean);
    tts_tensor_drop(rt, &mean);
}

struct tts_value *tts_op_cross_entropy(struct tts_autograd *ag, struct tts_value *logits,
                                       struct tts_value *targets, bool scratch)
{
    static const struct tts_op op = {"cross_entropy", "cross_entropy_bw",
                                     cross_entropy_backward};
    struct tts_runtime *rt = &ag->rt;
    tts_runtime_op_begin(rt, op.name);
    struct tts_shape s = logits->data.shape, column = tts_shape(s.d[0], 1, s.d[2], 1);
    if (scratch) {
        struct tts_tensor unused = tts_tensor_tiled(rt, column);
        tts_tensor_drop(rt, &unused);
    }
    struct tts_tensor losses =
        tts_kernel_2(rt, TTS_KERNEL_CROSS_ENTROPY, column, logits->data, targets->data);
    struct tts_value *out = tts_value_new(ag, tts_tensor_tiled(rt, tts_shape(1, 1, 1, 1)));
    mean_of_tokens(rt, losses, out->data);
    tts_tensor_drop(rt, &losses);
    struct tts_node node = {.op = &op, .in = {logits, targets}, .out = {out}};
    tts_autograd_add(ag, &node);
    tts_runtime_op_end(rt);
    return out;
}
