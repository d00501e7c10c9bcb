#include "runtime/optimizer.h"

#include "runtime/collective.h"
#include "runtime/kernel.h"

#include <assert.h>
#include <string.h>

/* Indices of the state of a parameter: the master weights (with Kahan summation: the bits that
 * the weights lose), m (or the momentum), v, and the largest v of AMSGrad. */
enum { MASTER, FIRST, SECOND, THIRD };

static struct tts_tensor state_like(struct tts_autograd *ag, const struct tts_value *parameter,
                                    enum tts_dtype dtype)
{
    struct tts_tensor state = tts_kernel_full(&ag->rt, parameter->data.shape, dtype);
    tts_tensor_mark(state, TTS_PART_OPTIMIZER);
    return state;
}

static struct tts_tensor cast_tensor(struct tts_autograd *ag, struct tts_tensor from,
                                     enum tts_dtype dtype)
{
    struct tts_tensor like = {NULL, from.shape, dtype, TTS_LAYOUT_TILE};
    return tts_kernel_to(&ag->rt, TTS_KERNEL_TYPECAST, from, like);
}

static void build_adamw(const struct tts_optimizer_config *config, struct tts_autograd *ag,
                        const struct tts_value *parameter, struct tts_tensor *state)
{
    bool full = config->kind == TTS_OPTIMIZER_ADAMW_FULL_PRECISION;
    enum tts_dtype dtype = full ? TTS_DTYPE_FP32 : TTS_DTYPE_BF16;
    if (full) {
        state[MASTER] = cast_tensor(ag, parameter->data, dtype);
        tts_tensor_mark(state[MASTER], TTS_PART_OPTIMIZER);
    }
    state[FIRST] = state_like(ag, parameter, dtype);
    state[SECOND] = state_like(ag, parameter, dtype);
    if (config->kind == TTS_OPTIMIZER_ADAMW_COMPOSITE && config->kahan)
        state[MASTER] = state_like(ag, parameter, dtype);
    if (config->amsgrad)
        state[THIRD] = state_like(ag, parameter, dtype);
}

static void build_state(const struct tts_optimizer_config *config, struct tts_autograd *ag,
                        const struct tts_value *parameter, struct tts_tensor *state)
{
    switch (config->kind) {
    case TTS_OPTIMIZER_SGD:
        if (config->momentum)
            state[FIRST] = state_like(ag, parameter, TTS_DTYPE_BF16);
        break;
    case TTS_OPTIMIZER_ADAMW:
    case TTS_OPTIMIZER_MOREH_ADAMW:
    case TTS_OPTIMIZER_ADAMW_COMPOSITE:
    case TTS_OPTIMIZER_ADAMW_FULL_PRECISION:
        build_adamw(config, ag, parameter, state);
        break;
    case TTS_OPTIMIZER_NONE:
    case TTS_OPTIMIZERS:
        break;
    }
}

void tts_optimizer_build(struct tts_optimizer *optimizer, struct tts_autograd *ag,
                         const struct tts_model *model)
{
    size_t bytes = model->parameter_count * sizeof *optimizer->state;
    *optimizer = (struct tts_optimizer){.config = model->workload->optimizer, .model = model};
    /* In January 2026 AdamW was always composite. */
    if (tts_recipe_is_v1(model->workload->recipe) &&
        optimizer->config.kind == TTS_OPTIMIZER_ADAMW)
        optimizer->config.kind = TTS_OPTIMIZER_ADAMW_COMPOSITE;
    if (ag->rt.status != TTS_OK)
        return;
    optimizer->state = ag->rt.alloc->alloc(ag->rt.alloc->ctx, bytes);
    if (!optimizer->state) {
        tts_runtime_fail(&ag->rt, TTS_E_NOMEM, NULL);
        return;
    }
    memset(optimizer->state, 0, bytes);
    tts_runtime_op_begin(&ag->rt, "optimizer_state");
    for (size_t i = 0; i < model->parameter_count; i++)
        build_state(&optimizer->config, ag, model->parameters[i], optimizer->state[i]);
    tts_runtime_op_end(&ag->rt);
}

void tts_optimizer_release(struct tts_optimizer *optimizer, struct tts_autograd *ag)
{
    if (!optimizer->state)
        return;
    for (size_t i = 0; i < optimizer->model->parameter_count; i++)
        for (int j = 0; j < TTS_OPTIMIZER_STATES; j++)
            tts_tensor_drop(&ag->rt, &optimizer->state[i][j]);
    ag->rt.alloc->free(ag->rt.alloc->ctx, optimizer->state,
                       optimizer->model->parameter_count * sizeof *optimizer->state);
    optimizer->state = NULL;
}

/* --- a step ----------------------------------------------------------------------------- */

/* Returns a * f + b * g. The two products are dropped only after the sum exists. */
static struct tts_tensor mix_moment(struct tts_runtime *rt, struct tts_tensor a,
                                    struct tts_tensor b)
{
    struct tts_tensor x = tts_kernel_1(rt, TTS_KERNEL_SCALE, a.shape, a);
    struct tts_tensor y = tts_kernel_1(rt, TTS_KERNEL_SCALE, a.shape, b);
    struct tts_tensor sum = tts_kernel_2(rt, TTS_KERNEL_ADD, a.shape, x, y);
    tts_tensor_drop(rt, &x);
    tts_tensor_drop(rt, &y);
    return sum;
}

static struct tts_tensor mix_square_moment(struct tts_runtime *rt, struct tts_tensor a,
                                           struct tts_tensor b)
{
    struct tts_tensor x = tts_kernel_1(rt, TTS_KERNEL_SCALE, a.shape, a);
    struct tts_tensor square = tts_kernel_1(rt, TTS_KERNEL_SQUARE, a.shape, b);
    struct tts_tensor y = tts_kernel_1(rt, TTS_KERNEL_SCALE, a.shape, square);
    struct tts_tensor sum = tts_kernel_2(rt, TTS_KERNEL_ADD, a.shape, x, y);
    tts_tensor_drop(rt, &x);
    tts_tensor_drop(rt, &square);
    tts_tensor_drop(rt, &y);
    return sum;
}

/* Returns sqrt(of) + epsilon, and drops the square root. */
static struct tts_tensor adamw_divisor(struct tts_runtime *rt, struct tts_tensor of)
{
    struct tts_tensor root = tts_kernel_1(rt, TTS_KERNEL_SQUARE_ROOT, of.shape, of);
    struct tts_tensor sum = tts_kernel_1(rt, TTS_KERNEL_ADD, of.shape, root);
    tts_tensor_drop(rt, &root);
    return sum;
}

/* Returns above / below, computed as above * (1 / below), and drops the reciprocal. */
static struct tts_tensor adamw_quotient(struct tts_runtime *rt, struct tts_tensor above,
                                        struct tts_tensor below)
{
    struct tts_tensor inverse = tts_kernel_1(rt, TTS_KERNEL_RECIPROCAL, below.shape, below);
    struct tts_tensor ratio =
        tts_kernel_2(rt, TTS_KERNEL_MULTIPLY, above.shape, above, inverse);
    tts_tensor_drop(rt, &inverse);
    return ratio;
}

/* Adds the update to the weights. With Kahan summation, *lost is the state that keeps the bits
 * that bf16 weights cannot hold. Without it, *lost is empty. */
static void apply_update(struct tts_runtime *rt, struct tts_tensor *weights,
                         struct tts_tensor update, struct tts_tensor *lost)
{
    struct tts_shape shape = weights->shape;
    struct tts_tensor sum;
    if (!lost->storage) {
        sum = tts_kernel_2(rt, TTS_KERNEL_ADD, shape, *weights, update);
    } else {
        struct tts_tensor adjusted =
            tts_kernel_2(rt, TTS_KERNEL_SUBTRACT, shape, update, *lost);
        sum = tts_kernel_2(rt, TTS_KERNEL_ADD, shape, *weights, adjusted);
        struct tts_tensor moved = tts_kernel_2(rt, TTS_KERNEL_SUBTRACT, shape, sum, *weights);
        struct tts_tensor rest = tts_kernel_2(rt, TTS_KERNEL_SUBTRACT, shape, moved, adjusted);
        tts_tensor_mark(rest, TTS_PART_OPTIMIZER);
        tts_tensor_drop(rt, &moved);
        tts_tensor_drop(rt, &adjusted);
        tts_tensor_replace(rt, lost, rest);
    }
    tts_tensor_mark(sum, TTS_PART_PARAMETERS);
    tts_tensor_replace(rt, weights, sum);
}

static void keep_state(struct tts_runtime *rt, struct tts_tensor *state, struct tts_tensor next)
{
    tts_tensor_mark(next, TTS_PART_OPTIMIZER);
    tts_tensor_replace(rt, state, next);
}

/* Returns the update. In January 2026 this was one statement, so all its buffers live until the
 * end. */
static struct tts_tensor update_v1(struct tts_runtime *rt, struct tts_tensor first_hat,
                                   struct tts_tensor second_hat)
{
    struct tts_shape shape = first_hat.shape;
    struct tts_tensor above = tts_kernel_1(rt, TTS_KERNEL_SCALE, shape, first_hat);
    struct tts_tensor root = tts_kernel_1(rt, TTS_KERNEL_SQUARE_ROOT, shape, second_hat);
    struct tts_tensor below = tts_kernel_1(rt, TTS_KERNEL_ADD, shape, root);
    struct tts_tensor update = adamw_quotient(rt, above, below);
    tts_tensor_drop(rt, &below);
    tts_tensor_drop(rt, &root);
    tts_tensor_drop(rt, &above);
    return update;
}

static void finish_v1(struct tts_runtime *rt, struct tts_value *parameter,
                      struct tts_tensor *state, struct tts_tensor moments[2])
{
    struct tts_shape shape = parameter->data.shape;
    struct tts_tensor first_hat = tts_kernel_1(rt, TTS_KERNEL_SCALE, shape, moments[0]);
    struct tts_tensor second_hat = tts_kernel_1(rt, TTS_KERNEL_SCALE, shape, moments[1]);
    keep_state(rt, &state[FIRST], moments[0]);
    keep_state(rt, &state[SECOND], moments[1]);
    struct tts_tensor update = update_v1(rt, first_hat, second_hat);
    apply_update(rt, &parameter->data, update, &state[MASTER]);
    tts_tensor_drop(rt, &update);
    tts_tensor_drop(rt, &second_hat);
    tts_tensor_drop(rt, &first_hat);
}

/* Finishes a step as the programs since May 2026 do: they drop the bias-corrected second moment
 * before the division, and the divisor at the end. */
static void finish_head(struct tts_runtime *rt, struct tts_value *parameter,
                        struct tts_tensor *state, struct tts_tensor moments[2])
{
    struct tts_shape shape = parameter->data.shape;
    struct tts_tensor first_hat = tts_kernel_1(rt, TTS_KERNEL_SCALE, shape, moments[0]);
    keep_state(rt, &state[FIRST], moments[0]);
    keep_state(rt, &state[SECOND], moments[1]);
    struct tts_tensor *largest = &state[SECOND];
    if (state[THIRD].storage) {
        largest = &state[THIRD];
        keep_state(rt, largest,
                   tts_kernel_2(rt, TTS_KERNEL_MAXIMUM, shape, *largest, state[SECOND]));
    }
    struct tts_tensor hat = tts_kernel_1(rt, TTS_KERNEL_SCALE, shape, *largest);
    struct tts_tensor below = adamw_divisor(rt, hat);
    tts_tensor_drop(rt, &hat);
    struct tts_tensor above = tts_kernel_1(rt, TTS_KERNEL_SCALE, shape, first_hat);
    struct tts_tensor update = adamw_quotient(rt, above, below);
    tts_tensor_drop(rt, &above);
    apply_update(rt, &parameter->data, update, &state[MASTER]);
    tts_tensor_drop(rt, &update);
    tts_tensor_drop(rt, &below);
    tts_tensor_drop(rt, &first_hat);
}

static void step_composite(struct tts_runtime *rt, struct tts_value *parameter,
                           struct tts_tensor *state, bool is_head)
{
    struct tts_tensor none = {0};
    struct tts_tensor decay =
        tts_kernel_1(rt, TTS_KERNEL_SCALE, parameter->data.shape, parameter->data);
    apply_update(rt, &parameter->data, decay, &none);
    tts_tensor_drop(rt, &decay);
    struct tts_tensor moments[2] = {mix_moment(rt, state[FIRST], parameter->gradient)};
    moments[1] = mix_square_moment(rt, state[SECOND], parameter->gradient);
    (is_head ? finish_head : finish_v1)(rt, parameter, state, moments);
}

/* Updates the fp32 master weights in place, then makes new bf16 weights from them. */
static void step_full_precision(struct tts_autograd *ag, struct tts_value *parameter,
                                struct tts_tensor *state)
{
    tts_kernel_in_place(&ag->rt, TTS_KERNEL_ADAMW, state[MASTER], parameter->gradient);
    struct tts_tensor weights = cast_tensor(ag, state[MASTER], TTS_DTYPE_BF16);
    tts_tensor_mark(weights, TTS_PART_PARAMETERS);
    tts_tensor_replace(&ag->rt, &parameter->data, weights);
}

static void step_parameter(struct tts_optimizer *optimizer, struct tts_autograd *ag, size_t i)
{
    struct tts_value *parameter = optimizer->model->parameters[i];
    struct tts_tensor *state = optimizer->state[i];
    switch (optimizer->config.kind) {
    case TTS_OPTIMIZER_ADAMW:
    case TTS_OPTIMIZER_MOREH_ADAMW:
        tts_kernel_in_place(&ag->rt, TTS_KERNEL_ADAMW, parameter->data, parameter->gradient);
        break;
    case TTS_OPTIMIZER_ADAMW_COMPOSITE:
        step_composite(&ag->rt, parameter, state,
                       !tts_recipe_is_v1(optimizer->model->workload->recipe));
        break;
    case TTS_OPTIMIZER_ADAMW_FULL_PRECISION:
        step_full_precision(ag, parameter, state);
        break;
    case TTS_OPTIMIZER_SGD:
        tts_kernel_in_place(&ag->rt, TTS_KERNEL_SGD, parameter->data, parameter->gradient);
        break;
    case TTS_OPTIMIZER_NONE:
    case TTS_OPTIMIZERS:
        break;
    }
}

void tts_optimizer_step(struct tts_optimizer *optimizer, struct tts_autograd *ag)
{
    tts_runtime_op_begin(&ag->rt, "optimizer_step");
    for (size_t i = 0; i < optimizer->model->parameter_count && ag->rt.status == TTS_OK; i++)
        step_parameter(optimizer, ag, i);
    tts_runtime_op_end(&ag->rt);
}

/* --- gradients -------------------------------------------------------------------------- */

static bool leaves_zeros(enum tts_optimizer_kind kind)
{
    return kind == TTS_OPTIMIZER_SGD || kind == TTS_OPTIMIZER_ADAMW_FULL_PRECISION ||
           kind == TTS_OPTIMIZER_NONE;
}

void tts_optimizer_zero_gradients(struct tts_optimizer *optimizer, struct tts_autograd *ag)
{
    struct tts_runtime *rt = &ag->rt;
    tts_runtime_op_begin(rt, "zero_grad");
    for (size_t i = 0; i < optimizer->model->parameter_count && rt->status == TTS_OK; i++) {
        struct tts_value *parameter = optimizer->model->parameters[i];
        struct tts_tensor zeros = {0};
        if (!parameter->gradient.storage)
            continue;
        if (leaves_zeros(optimizer->config.kind)) {
            zeros = tts_kernel_full(rt, parameter->data.shape, TTS_DTYPE_BF16);
            tts_tensor_mark(zeros, TTS_PART_GRADIENTS);
        }
        tts_tensor_replace(rt, &parameter->gradient, zeros);
    }
    tts_runtime_op_end(rt);
}

/* Allocates one tile for the norm of each gradient, and six tiles to reduce the norms to one
 * factor. */
void tts_gradients_clip(const struct tts_model *model, struct tts_autograd *ag)
{
    enum { SINGLE_TILES = 6 };
    struct tts_runtime *rt = &ag->rt;
    struct tts_tensor tiles[SINGLE_TILES];
    tts_runtime_op_begin(rt, "clip_grad_norm");
    struct tts_tensor norms = tts_tensor_tiled(rt, tts_shape(model->parameter_count, 1, 1, 1));
    for (size_t i = 0; i < model->parameter_count; i++)
        tts_kernel_in_place(rt, TTS_KERNEL_GRADIENT_NORM, norms,
                            model->parameters[i]->gradient);
    for (int i = 0; i < SINGLE_TILES; i++)
        tiles[i] = tts_tensor_tiled(rt, tts_shape(1, 1, 1, 1));
    for (size_t i = 0; i < model->parameter_count; i++)
        tts_kernel_in_place(rt, TTS_KERNEL_GRADIENT_SCALE, model->parameters[i]->gradient,
                            tiles[0]);
    for (int i = 0; i < SINGLE_TILES; i++)
        tts_tensor_drop(rt, &tiles[i]);
    tts_tensor_drop(rt, &norms);
    tts_runtime_op_end(rt);
}

void tts_gradients_synchronize(const struct tts_model *model, struct tts_autograd *ag)
{
    struct tts_runtime *rt = &ag->rt;
    tts_runtime_op_begin(rt, "synchronize_gradients");
    for (size_t i = 0; i < model->parameter_count; i++) {
        struct tts_tensor *gradient = &model->parameters[i]->gradient;
        struct tts_tensor sum =
            tts_collective_all_reduce(rt, *gradient, model->workload->data_parallel);
        struct tts_tensor scaled = tts_kernel_1(rt, TTS_KERNEL_SCALE, sum.shape, sum);
        tts_tensor_mark(scaled, TTS_PART_GRADIENTS);
        tts_tensor_drop(rt, &sum);
        tts_tensor_replace(rt, gradient, scaled);
    }
    tts_runtime_op_end(rt);
}
