/* checkpoint.c: a block that computes its activations again for the backward pass instead of
 * keeping them. */
#include "runtime/ops.h"

/* Runs the block again and then backwards. The input is a new value without a node, so that the
 * inner backward pass ends there. The output of the second run stays until this function ends;
 * the output of the first run and its gradient stay until the node is released. */
static void checkpoint_backward(struct tts_autograd *ag, struct tts_node *node)
{
    struct tts_value *x = node->in[0];
    struct tts_value *detached = tts_value_new(ag, tts_tensor_share(x->data));
    struct tts_value *again = node->block_fn(ag, node->block, detached);
    if (ag->rt.status == TTS_OK) {
        again->gradient = tts_tensor_share(node->out[0]->gradient);
        tts_autograd_backward(ag, again);
        tts_value_add_gradient(ag, x, tts_tensor_share(detached->gradient));
    }
    tts_value_drop(ag, again);
    tts_value_drop(ag, detached);
}

struct tts_value *tts_op_checkpoint(struct tts_autograd *ag, tts_block_fn fn, const void *block,
                                    struct tts_value *x)
{
    static const struct tts_op op = {"checkpoint", NULL, checkpoint_backward};
    bool gradients = ag->gradients;
    ag->gradients = false;
    struct tts_value *out = fn(ag, block, x);
    ag->gradients = gradients;
    struct tts_node node = {.op = &op, .in = {x}, .out = {out}, .block_fn = fn, .block = block};
    tts_autograd_add(ag, &node);
    out->needs_gradient = gradients;
    return out;
}
