/* Tests the ownership rules of autograd.h: which tensors are kept, when they are released, and
 * how gradients are added. */
#include "runtime/kernel.h"

#include "harness/runtime_rig.h"
#include "runtime/ops.h"

#include <stdio.h>

static const struct tts_shape shape_u = SHAPE_U, shape_f = SHAPE_F;

/* --- rules 1 and 3: kept until its own backward ran, then released ---------------------- */

T_TEST(every_output_lives_until_its_own_backward_has_run)
{
    struct rig rig;
    rig_open(&rig);
    struct tts_autograd *ag = &rig.ag;
    struct tts_value *x = tiled_value(&rig, shape_f), *y = tts_value_share(x);
    for (int i = 0; i < 3; i++)
        tts_value_replace(ag, &y, tts_op_gelu(ag, y));
    T_ROW(&rig, +F, +F, +F, +F);
    tts_autograd_backward(ag, y);
    /* In order: the ones; the last value, which this test still holds; then for each node the
     * release of its value and its gradient. */
    T_ROW(&rig, +F, +F, +F, -F, -F, +F, -F, -F);
    tts_value_drop(ag, y);
    T_ROW(&rig, -F, -F);
    tts_value_drop(ag, x);
    T_ROW(&rig, -F, -F);
    rig_close(&rig);
}

T_TEST(a_value_that_is_its_own_new_value_frees_the_old_behind) /* rule 6 */
{
    struct rig rig;
    rig_open(&rig);
    rig.ag.gradients = false;
    struct tts_value *x = tiled_value(&rig, shape_f);
    tts_value_replace(&rig.ag, &x, tts_op_gelu(&rig.ag, x));
    T_ROW(&rig, +F, +F, -F);
    tts_value_drop(&rig.ag, x);
    rig_close(&rig);
}

T_TEST(the_root_has_ones_unless_it_has_a_gradient)
{
    struct rig rig;
    rig_open(&rig);
    struct tts_value *x = tiled_value(&rig, shape_f), *y = tts_op_gelu(&rig.ag, x);
    y->gradient = tts_tensor_tiled(&rig.ag.rt, shape_f);
    rig_look(&rig);
    tts_autograd_backward(&rig.ag, y);
    T_ROW(&rig, +F);
    rig_look(&rig);
    tts_autograd_backward(&rig.ag, x); /* no operation made this value, so no node runs */
    T_QUIET(&rig);
    tts_value_drop(&rig.ag, y);
    tts_value_drop(&rig.ag, x);
    rig_close(&rig);
}

/* --- rule 2: which operations have a node ------------------------------------------------ */

T_TEST(a_recipe_that_prunes_makes_a_node_only_where_a_gradient_is_needed)
{
    for (int prunes = 0; prunes < 2; prunes++) {
        struct rig rig;
        rig_open(&rig);
        struct tts_autograd *ag = &rig.ag;
        ag->prunes = prunes;
        struct tts_value *x = tiled_value(&rig, shape_u), *w = tiled_value(&rig, shape_u);
        x->needs_gradient = false;
        struct tts_value *y = tts_op_gelu(ag, x);
        T_EQ(ag->node_count, prunes ? 0 : 1);
        T_EQ(y->needs_gradient, !prunes);
        /* With pruning this operation has no node either. */
        struct tts_value *z = tts_op_silu(ag, y);
        T_EQ(ag->node_count, prunes ? 0 : 2);
        /* One input with needs_gradient is enough for a node. */
        struct tts_value *both = tts_op_mul(ag, z, w);
        T_EQ(ag->node_count, prunes ? 1 : 3);
        T_TRUE(both->needs_gradient);
        rig_look(&rig);
        tts_value_drop(ag, y);
        T_EQ(rig.live - rig.base, prunes ? -U : 0);
        tts_value_drop(ag, z);
        tts_value_drop(ag, both);
        T_EQ(rig.live - rig.base, prunes ? -U : 0); /* the node of the product holds z */
        tts_value_drop(ag, x);
        tts_value_drop(ag, w);
        rig_close(&rig);
    }
}

static struct tts_value *two_gelus(struct tts_autograd *ag, const void *block,
                                   struct tts_value *x)
{
    T_TRUE(block == &shape_f);
    struct tts_value *y = tts_op_gelu(ag, x);
    tts_value_replace(ag, &y, tts_op_gelu(ag, y));
    return y;
}

T_TEST(checkpoints_and_the_nodes_that_wait_are_never_pruned)
{
    struct rig rig;
    struct tts_value *out[3];
    rig_open(&rig);
    rig.ag.prunes = true;
    struct tts_value *x = tiled_value(&rig, shape_f);
    struct tts_value *qkv = tiled_value(&rig, tts_shape(BATCH, 1, SEQUENCE, 3 * WIDTH));
    x->needs_gradient = qkv->needs_gradient = false;
    struct tts_value *y = tts_op_checkpoint(&rig.ag, two_gelus, &shape_f, x);
    T_TRUE(rig.ag.node_count == 1 && y->needs_gradient);
    tts_op_heads(&rig.ag, qkv, HEADS, out);
    T_EQ(rig.ag.node_count, 3); /* the last operation has no node of its own */
    for (int i = 0; i < 3; i++)
        tts_value_drop(&rig.ag, out[i]);
    tts_value_drop(&rig.ag, qkv);
    tts_value_drop(&rig.ag, y);
    tts_value_drop(&rig.ag, x);
    rig_close(&rig);
}

/* --- rule 3: order ----------------------------------------------------------------------- */

struct log {
    char text[256];
    size_t used;
};

static void log_op(void *ctx, const char *op, int32_t layer)
{
    struct log *log = ctx;
    (void)layer;
    int more = snprintf(log->text + log->used, sizeof log->text - log->used, "%s ", op);
    T_TRUE(more > 0 && (size_t)more < sizeof log->text - log->used);
    log->used += (size_t)more;
}

static void forget(struct log *log)
{
    *log = (struct log){0};
}

T_TEST(backward_runs_in_the_reverse_of_a_post_order_walk_over_inputs)
{
    struct log log = {0};
    struct tts_workload_watch watch = {.ctx = &log, .op_begin = log_op};
    struct rig rig;
    rig_open_with(&rig, &watch, NULL);
    struct tts_autograd *ag = &rig.ag;
    struct tts_value *x = tiled_value(&rig, shape_f);
    struct tts_value *a = tts_op_gelu(ag, x), *b = tts_op_silu(ag, x);
    /* The walk visits b first, so its node runs last. */
    struct tts_value *y = tts_op_mul(ag, b, a);
    forget(&log);
    tts_autograd_backward(ag, y);
    T_STR_EQ(log.text, "ones mul_bw gelu_bw silu_bw ");
    tts_value_replace(ag, &a, tts_op_gelu(ag, x));
    /* `a` is an input of `b` too, so in the backward pass `a` must run after `b`. */
    tts_value_replace(ag, &b, tts_op_scale(ag, a));
    tts_value_replace(ag, &y, tts_op_mul(ag, a, b));
    forget(&log);
    tts_autograd_backward(ag, y);
    T_STR_EQ(log.text, "ones mul_bw scale_bw gelu_bw ");
    tts_value_drop(ag, a);
    tts_value_drop(ag, b);
    tts_value_drop(ag, x);
    tts_value_drop(ag, y);
    rig_close(&rig);
}

T_TEST(heads_run_backwards_behind_all_that_gives_them_gradients)
{
    struct log log = {0};
    struct tts_workload_watch watch = {.ctx = &log, .op_begin = log_op};
    struct tts_value *out[3];
    struct rig rig;
    rig_open_with(&rig, &watch, NULL);
    struct tts_autograd *ag = &rig.ag;
    struct tts_value *qkv = tiled_value(&rig, tts_shape(BATCH, 1, SEQUENCE, 3 * WIDTH));
    tts_op_heads(ag, qkv, HEADS, out);
    struct tts_value *kv = tts_op_add(ag, out[1], out[2]), *y = tts_op_mul(ag, kv, out[0]);
    forget(&log);
    tts_autograd_backward(ag, y);
    T_STR_EQ(log.text, "ones mul_bw add_bw heads_creation_bw ");
    T_TRUE(qkv->gradient.storage);
    for (int i = 0; i < 3; i++)
        tts_value_drop(ag, out[i]);
    tts_value_drop(ag, kv);
    tts_value_drop(ag, y);
    tts_value_drop(ag, qkv);
    rig_close(&rig);
}

T_TEST(a_long_chain_needs_no_stack)
{
    enum { LONG = 20000 };
    struct rig rig;
    rig_open(&rig);
    struct tts_value *x = tiled_value(&rig, tts_shape(1, 1, 1, 1)), *y = tts_value_share(x);
    for (int i = 0; i < LONG; i++)
        tts_value_replace(&rig.ag, &y, tts_op_gelu(&rig.ag, y));
    tts_autograd_backward(&rig.ag, y);
    T_EQ(rig.live, 4 * T);
    tts_value_drop(&rig.ag, y);
    tts_value_drop(&rig.ag, x);
    rig_close(&rig);
}

/* --- rule 4: adopt, then sum ------------------------------------------------------------- */

T_TEST(the_first_gradient_is_adopted_and_every_further_one_summed_anew)
{
    struct rig rig;
    rig_open(&rig);
    struct tts_runtime *rt = &rig.ag.rt;
    struct tts_value *x = tiled_value(&rig, shape_f);
    struct tts_tensor first = tts_tensor_tiled(rt, shape_f);
    uint64_t id = first.storage->buffer.id;
    rig_look(&rig);
    tts_value_add_gradient(&rig.ag, x, first);
    T_QUIET(&rig);
    T_EQ(x->gradient.storage->buffer.id, id);
    for (int i = 0; i < 2; i++) {
        tts_value_add_gradient(&rig.ag, x, tts_tensor_tiled(rt, shape_f));
        /* In order: the new gradient and the sum are allocated, then the old and the new
         * gradient are freed. */
        T_ROW(&rig, +F, +F, -F, -F);
        T_EQ(x->gradient.storage->buffer.id, id + 2 * (uint64_t)(i + 1));
    }
    struct tts_tensor shared = tts_tensor_share(x->gradient);
    tts_value_add_gradient(&rig.ag, x, tts_tensor_tiled(rt, shape_f));
    T_ROW(&rig, +F, +F, -F); /* this test holds the old gradient too, so it stays */
    tts_tensor_drop(rt, &shared);
    T_ROW(&rig, -F);
    tts_value_drop(&rig.ag, x);
    rig_close(&rig);
}

/* In a second micro step each gradient of a weight is computed and added to the old one; then
 * both are freed. */
T_TEST(a_second_backward_adds_to_the_gradients_of_the_first)
{
    struct rig rig;
    rig_open(&rig);
    struct tts_autograd *ag = &rig.ag;
    struct tts_value *x = tiled_value(&rig, shape_u);
    struct tts_value *w = tiled_value(&rig, tts_shape(1, 1, MLP, WIDTH));
    x->needs_gradient = false;
    for (int i = 0; i < 2; i++) {
        struct tts_value *y = tts_op_linear(ag, x, w, NULL);
        rig_look(&rig);
        tts_autograd_backward(ag, y);
        if (i == 1)
            T_ROW(&rig, +F, +W_F, +U, +U, -U, -U, +W_F, -W_F, -W_F);
        tts_value_drop(ag, y);
        tts_autograd_reset(ag);
    }
    tts_value_drop(ag, x);
    tts_value_drop(ag, w);
    rig_close(&rig);
}

/* --- checkpoints ------------------------------------------------------------------------- */

T_TEST(a_checkpoint_keeps_its_output_alone_and_makes_the_rest_again)
{
    struct rig rig;
    rig_open(&rig);
    struct tts_autograd *ag = &rig.ag;
    struct tts_value *x = tiled_value(&rig, shape_f);
    rig_look(&rig);
    struct tts_value *y = tts_op_checkpoint(ag, two_gelus, &shape_f, x);
    T_ROW(&rig, +F, +F, -F);
    T_TRUE(ag->gradients && ag->node_count == 1);
    tts_value_replace(ag, &y, tts_op_silu(ag, y));
    T_ROW(&rig, +F);
    tts_autograd_backward(ag, y);
    /* In order: the ones; silu; gelu twice, for the second time; their gradients; the inner
     * value with its gradient; the output of the second run; the output of the first run with
     * its gradient. */
    T_ROW(&rig, +F, +F, +F, +F, +F, +F, -F, -F, -F, -F, -F);
    T_TRUE(x->gradient.storage);
    T_EQ(rig.live, 4 * F);
    tts_value_drop(ag, y);
    tts_value_drop(ag, x);
    rig_close(&rig);
}

T_TEST(a_checkpoint_without_gradients_is_the_block)
{
    struct rig rig;
    rig_open(&rig);
    rig.ag.gradients = false;
    struct tts_value *x = tiled_value(&rig, shape_f);
    rig_look(&rig);
    struct tts_value *y = tts_op_checkpoint(&rig.ag, two_gelus, &shape_f, x);
    T_ROW(&rig, +F, +F, -F);
    T_TRUE(!rig.ag.gradients && rig.ag.node_count == 0);
    tts_value_drop(&rig.ag, y);
    T_ROW(&rig, -F);
    tts_value_drop(&rig.ag, x);
    rig_close(&rig);
}

/* --- purpose of buffers ----------------------------------------------------------------- */

T_TEST(parts_say_what_is_kept_what_is_a_gradient_and_what_goes)
{
    struct rig rig;
    rig_open(&rig);
    struct tts_autograd *ag = &rig.ag;
    struct tts_value *x = tiled_value(&rig, shape_u);
    struct tts_value *gamma = tiled_value(&rig, tts_shape(1, 1, 1, WIDTH));
    gamma->is_parameter = true;
    struct tts_value *y = tts_op_rmsnorm(ag, x, gamma, false);
    T_EQ(y->data.storage->part, TTS_PART_ACTIVATIONS);
    T_EQ(ag->nodes[0].kept[0].storage->part, TTS_PART_ACTIVATIONS);
    T_STR_EQ(y->data.storage->op, "rmsnorm");
    tts_autograd_backward(ag, y);
    T_EQ(gamma->gradient.storage->part, TTS_PART_GRADIENTS);
    T_STR_EQ(gamma->gradient.storage->op, "rmsnorm_bw");
    T_EQ(x->gradient.storage->part, TTS_PART_TEMPORARIES);
    tts_value_add_gradient(ag, gamma, tts_tensor_tiled(&ag->rt, gamma->data.shape));
    T_EQ(gamma->gradient.storage->part, TTS_PART_GRADIENTS);
    ag->gradients = false;
    tts_value_replace(ag, &y, tts_op_rmsnorm(ag, x, gamma, false));
    T_EQ(y->data.storage->part, TTS_PART_TEMPORARIES);
    tts_value_drop(ag, y);
    tts_value_drop(ag, gamma);
    tts_value_drop(ag, x);
    rig_close(&rig);
}
