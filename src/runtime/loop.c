/* loop.c: the training loop. Builds the model, then runs iterations, and reports the phases of
 * the summary. */
#include "runtime/kernel.h"
#include "runtime/model.h"
#include "runtime/optimizer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

struct loop {
    const struct tts_workload *workload;
    struct tts_autograd ag;
    struct tts_model model;
    struct tts_optimizer optimizer;
    uint64_t iteration; /* number of the iteration, from 1; only in the first one the phases of
                           a micro step are reported */
    /* The variables in the body of the modelled loop. */
    struct tts_value *ids, *targets, *logits, *loss;
};

static void end_loop_phase(struct loop *loop, const char *name)
{
    const struct tts_workload_watch *watch = loop->ag.rt.watch;
    if (watch && watch->phase && loop->ag.rt.status == TTS_OK)
        watch->phase(watch->ctx, name);
}

/* Ends the forward or backward pass of a micro step. The programs since May 2026 add the number
 * of the micro step to the name if there are several. */
static void end_loop_pass(struct loop *loop, const char *name, uint64_t micro)
{
    char text[64];
    if (loop->iteration > 1)
        return;
    if (!tts_recipe_is_v1(loop->workload->recipe) && loop->workload->accumulate > 1) {
        snprintf(text, sizeof text, "%s_micro_%" PRIu64, name, micro);
        name = text;
    }
    end_loop_phase(loop, name);
}

/* --- one micro step --------------------------------------------------------------------- */

static struct tts_value *upload_ids(struct loop *loop, struct tts_shape shape)
{
    struct tts_tensor ids =
        tts_tensor_new(&loop->ag.rt, shape, TTS_DTYPE_UINT32, TTS_LAYOUT_ROW_MAJOR);
    tts_tensor_mark(ids, TTS_PART_INPUTS);
    struct tts_value *value = tts_value_new(&loop->ag, ids);
    value->needs_gradient = false;
    return value;
}

static void drop_variables(struct loop *loop)
{
    tts_value_replace(&loop->ag, &loop->logits, NULL);
    tts_value_replace(&loop->ag, &loop->loss, NULL);
    tts_value_replace(&loop->ag, &loop->ids, NULL);
    tts_value_replace(&loop->ag, &loop->targets, NULL);
}

/* Loads the token ids and the targets. The C++ loop releases the last batch before it loads the
 * next one; the Python loop holds both for a moment. */
static void load_batch(struct loop *loop)
{
    uint64_t batch = loop->model.batch, sequence = loop->workload->model.sequence;
    if (tts_recipe_is_cpp(loop->workload->recipe))
        drop_variables(loop);
    tts_runtime_op_begin(&loop->ag.rt, "inputs");
    struct tts_value *ids = upload_ids(loop, tts_shape(batch, 1, 1, sequence));
    struct tts_value *targets = upload_ids(loop, tts_shape(1, 1, batch, sequence));
    tts_runtime_op_end(&loop->ag.rt);
    tts_value_replace(&loop->ag, &loop->ids, ids);
    tts_value_replace(&loop->ag, &loop->targets, targets);
}

static void scale_loss(struct loop *loop)
{
    if (loop->workload->accumulate > 1)
        tts_value_replace(&loop->ag, &loop->loss, tts_op_scale(&loop->ag, loop->loss));
}

static void run_micro_step(struct loop *loop, uint64_t micro)
{
    struct tts_autograd *ag = &loop->ag;
    enum tts_recipe recipe = loop->workload->recipe;
    bool is_v1 = tts_recipe_is_v1(recipe), is_cpp = tts_recipe_is_cpp(recipe);
    load_batch(loop);
    if (micro == 0)
        tts_optimizer_zero_gradients(&loop->optimizer, ag);
    if (recipe == TTS_RECIPE_V1_PYTHON && !loop->model.mask)
        tts_model_make_mask(&loop->model, ag);
    tts_value_replace(ag, &loop->logits, tts_model_forward(&loop->model, ag, loop->ids));
    tts_value_replace(ag, &loop->loss,
                      loop->model.is_parallel
                          ? tts_op_cross_entropy_divided(ag, loop->logits, loop->targets,
                                                         tts_recipe_is_may(recipe))
                          : tts_op_cross_entropy(ag, loop->logits, loop->targets, !is_v1));
    /* The Python programs since May 2026 have no variable for the logits. They scale the loss
     * after the phase FORWARD_PASS. */
    bool scales_late = !is_v1 && !is_cpp;
    if (scales_late)
        tts_value_replace(ag, &loop->logits, NULL);
    else
        scale_loss(loop);
    end_loop_pass(loop, "FORWARD_PASS", micro);
    if (scales_late)
        scale_loss(loop);
    tts_autograd_backward(ag, loop->loss);
    end_loop_pass(loop, "BACKWARD_PASS", micro);
    tts_autograd_reset(ag);
    /* In the C++ programs since May 2026 the scope of the loss ends here. */
    if (!is_v1 && is_cpp)
        tts_value_replace(ag, &loop->loss, NULL);
}

/* --- the whole run ---------------------------------------------------------------------- */

static void run_iteration(struct loop *loop)
{
    struct tts_autograd *ag = &loop->ag;
    const struct tts_workload *workload = loop->workload;
    for (uint64_t i = 0; i < workload->accumulate && ag->rt.status == TTS_OK; i++)
        run_micro_step(loop, i);
    /* In the Python program the function for one step returns here, which frees its variables
     * `logits` and `loss`. */
    if (workload->recipe == TTS_RECIPE_V1_PYTHON) {
        tts_value_replace(ag, &loop->logits, NULL);
        tts_value_replace(ag, &loop->loss, NULL);
    }
    if (ag->rt.status != TTS_OK)
        return;
    if (workload->data_parallel > 1)
        tts_gradients_synchronize(&loop->model, ag);
    if (workload->clip)
        tts_gradients_clip(&loop->model, ag);
    tts_optimizer_step(&loop->optimizer, ag);
    if (loop->iteration == 1) {
        end_loop_phase(loop, TTS_PHASE_FIRST_ITERATION);
        return;
    }
    char name[sizeof TTS_PHASE_LATER_ITERATION + TTS_LATER_DIGITS];
    snprintf(name, sizeof name, TTS_PHASE_LATER_ITERATION "%" PRIu64, loop->iteration);
    end_loop_phase(loop, name);
}

/* Runs iterations until they repeat. A buffer that is replaced gets a new address, so the free
 * ranges differ from iteration to iteration. Once all buffers have the same addresses as at the
 * end of an earlier iteration, all later iterations repeat earlier ones. */
static void run_until_settled(struct loop *loop)
{
    uint64_t seen[TTS_ITERATIONS_MAX];
    size_t count = 0;
    const struct tts_workload_watch *watch = loop->ag.rt.watch;
    for (;;) {
        loop->iteration++;
        run_iteration(loop);
        uint64_t now = tts_runtime_layout(&loop->ag.rt);
        if (loop->ag.rt.status != TTS_OK)
            return;
        /* The workload does not fit, so more iterations add no information. */
        if (loop->iteration > 1 && tts_device_failures(loop->ag.rt.device) > 0)
            return;
        for (size_t i = 0; i < count; i++)
            if (seen[i] == now) {
                if (watch && watch->settled)
                    watch->settled(watch->ctx);
                return;
            }
        seen[count++] = now;
        if (count == TTS_ITERATIONS_MAX)
            return;
    }
}

static void run_loop(struct loop *loop)
{
    struct tts_autograd *ag = &loop->ag;
    if (!tts_recipe_is_v1(loop->workload->recipe) && !tts_recipe_is_cpp(loop->workload->recipe))
        end_loop_phase(loop, "ENTRY");
    if (loop->workload->recipe == TTS_RECIPE_V1)
        tts_model_make_mask(&loop->model, ag);
    tts_model_build(&loop->model, ag, loop->workload);
    end_loop_phase(loop, "MODEL_CREATION");
    tts_optimizer_build(&loop->optimizer, ag, &loop->model);
    end_loop_phase(loop, "OPTIMIZER_CREATION");
    run_until_settled(loop);
}

enum tts_status tts_workload_run(const struct tts_workload *workload, struct tts_device *device,
                                 const struct tts_workload_watch *watch,
                                 const struct tts_alloc *alloc, struct tts_error *err)
{
    enum tts_workload_field field;
    enum tts_status status = tts_workload_check(workload, &field, err);
    if (status != TTS_OK)
        return status;
    struct loop loop = {.workload = workload, .model.workload = workload};
    tts_autograd_init(&loop.ag, device, watch, alloc);
    loop.ag.prunes = !tts_recipe_is_v1(workload->recipe);
    loop.ag.rt.kernel_binaries = workload->kernel_binaries;
    loop.ag.rt.tensor_parallel = workload->tensor_parallel;
    loop.ag.rt.reduces_whole = tts_recipe_is_may(workload->recipe) &&
                               workload->tensor_parallel > 1 && workload->data_parallel > 1;
    run_loop(&loop);
    drop_variables(&loop);
    tts_autograd_reset(&loop.ag);
    tts_optimizer_release(&loop.optimizer, &loop.ag);
    tts_model_release(&loop.model, &loop.ag);
    tts_autograd_release(&loop.ag);
    status = loop.ag.rt.status; /* includes a failure to release a buffer */
    if (loop.ag.rt.is_stopped)
        return TTS_OK;
    if (status != TTS_OK && err)
        *err = loop.ag.rt.error;
    return status;
}
