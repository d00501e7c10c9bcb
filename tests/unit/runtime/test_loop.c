/* Compares whole runs with the formulas of the published rules. All bytes must agree. */
#include "harness/run_rig.h"

static struct run run;

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Returns a workload whose sequence is so long that attention needs most of the memory. */
static struct tts_workload long_llama(enum tts_recipe recipe)
{
    struct tts_workload w = small_llama(recipe);
    w.model.blocks = 3;
    w.model.sequence = 4096;
    w.batch = 2;
    return w;
}

static void phases_are(const char *const *names, size_t count)
{
    T_EQ(run.phase_count, count);
    for (size_t i = 0; i < count; i++)
        T_STR_EQ(run.phases[i].name, names[i]);
}

/* --- phases ------------------------------------------------------------------------------ */

T_TEST(phases_come_in_the_order_of_the_summary)
{
    static const char *const v1[] = {
        "MODEL_CREATION", "OPTIMIZER_CREATION",       "FORWARD_PASS",
        "BACKWARD_PASS",  "FIRST_ITERATION_COMPLETE", "ITERATION_2"};
    static const char *const head[] = {"ENTRY",
                                       "MODEL_CREATION",
                                       "OPTIMIZER_CREATION",
                                       "FORWARD_PASS_micro_0",
                                       "BACKWARD_PASS_micro_0",
                                       "FORWARD_PASS_micro_1",
                                       "BACKWARD_PASS_micro_1",
                                       "FIRST_ITERATION_COMPLETE",
                                       "ITERATION_2"};
    struct tts_workload w = small_llama(TTS_RECIPE_V1);
    run_whole(&run, &w);
    phases_are(v1, 6);
    w = small_llama(TTS_RECIPE_HEAD);
    w.accumulate = 2;
    run_whole(&run, &w);
    phases_are(head, 9);
}

/* --- creation ---------------------------------------------------------------------------- */

static int64_t rope_bytes(const struct sizes *z)
{
    return 3 * 2 * z->s * z->d + 2048;
}

T_TEST(a_model_is_its_padded_parameters_and_constants)
{
    struct tts_workload w = small_llama(TTS_RECIPE_V1);
    struct sizes z = sizes_of(&w);
    run_whole(&run, &w);
    T_EQ(phase_of(&run, "MODEL_CREATION")->change, z.p + rope_bytes(&z) + z.m);
    T_EQ(z.p, tts_workload_parameter_bytes(&w));
    T_EQ(phase_of(&run, "OPTIMIZER_CREATION")->change, 2 * z.p);
    w.recipe = TTS_RECIPE_V1_PYTHON;
    run_whole(&run, &w);
    T_EQ(phase_of(&run, "MODEL_CREATION")->change, z.p + rope_bytes(&z));
    w = small_gpt2(TTS_RECIPE_HEAD);
    w.model.tied = true;
    z = sizes_of(&w);
    run_whole(&run, &w);
    T_EQ(phase_of(&run, "MODEL_CREATION")->change, z.p);
    T_EQ(z.p, tts_workload_parameter_bytes(&w));
    w.model.fixed_positions = true;
    T_EQ(sizes_of(&w).p, z.p - 2 * z.s * z.e);
    run_whole(&run, &w);
    /* The fixed positions are a constant instead of a parameter. */
    T_EQ(phase_of(&run, "MODEL_CREATION")->change, z.p);
    T_EQ(sizes_of(&w).p, tts_workload_parameter_bytes(&w));
}

/* The programs of January 2026 draw their weights twice. The second time the first weights
 * still exist. Each weight is uploaded in rows and converted to tiles. */
T_TEST(weights_of_v1_are_drawn_once_more_beside_themselves)
{
    struct tts_workload w = small_llama(TTS_RECIPE_V1);
    struct sizes z = sizes_of(&w);
    run_whole(&run, &w);
    const struct run_phase *model = phase_of(&run, "MODEL_CREATION");
    int64_t norms = (2 * z.l + 1) * z.g, weights = z.p - norms;
    T_EQ(model->peak, model->change + 2 * z.w_e);
    /* The mask, sin, cos and the swap matrix are uploaded; -sin is computed from sin. */
    int64_t constants = 2 * z.m + 2 * 2 * (2 * z.s * z.d) + 2 * z.t + 2 * z.s * z.d;
    T_EQ(model->allocated, 4 * weights + norms + constants);
    w.recipe = TTS_RECIPE_HEAD;
    run_whole(&run, &w);
    model = phase_of(&run, "MODEL_CREATION");
    T_EQ(model->allocated, 2 * weights + norms + constants - 2 * z.m);
    /* The peak is at the last weight of the last block and its copy in rows, before the final
     * norm exists. */
    T_EQ(model->peak, model->change - z.g + z.w_e);
}

/* --- forward ----------------------------------------------------------------------------- */

/* Returns twice the bytes that a block keeps, because a half of kv would not be an integer. */
static int64_t twice_kept(const struct tts_workload *w, const struct sizes *z)
{
    bool is_head = w->recipe == TTS_RECIPE_HEAD;
    int64_t dropouts = w->model.dropout ? 4 * z->u : 0;
    if (w->model.family == TTS_FAMILY_GPT2)
        return 44 * z->u + 8 * z->n + 2 * (is_head ? z->lse : z->a) + dropouts;
    return 22 * z->u + 4 * z->n + 5 * z->kv + (is_head ? 2 * z->lse + 6 * z->f : 0) +
           (is_head ? 0 : 2 * z->a + 8 * z->f);
}

T_TEST(the_forward_pass_keeps_blocks_last_norm_logits_ids_and_the_loss)
{
    for (int recipe = TTS_RECIPE_V1; recipe <= TTS_RECIPE_HEAD; recipe++) {
        struct tts_workload w = small_llama((enum tts_recipe)recipe);
        struct sizes z = sizes_of(&w);
        int64_t mask = recipe == TTS_RECIPE_V1_PYTHON ? z.m : 0;
        run_whole(&run, &w);
        T_EQ(phase_of(&run, "FORWARD_PASS")->change,
             z.u + z.l * twice_kept(&w, &z) / 2 + (z.u + z.n) + z.lg + 2 * z.id + z.t + mask);
        w = small_gpt2((enum tts_recipe)recipe);
        z = sizes_of(&w);
        run_whole(&run, &w);
        T_EQ(phase_of(&run, "FORWARD_PASS")->change, 2 * z.u + z.l * twice_kept(&w, &z) / 2 +
                                                         (z.u + 2 * z.n) + z.lg + 2 * z.id +
                                                         z.t + mask);
        w.model.dropout = true;
        run_whole(&run, &w);
        T_EQ(phase_of(&run, "FORWARD_PASS")->change, 3 * z.u + z.l * twice_kept(&w, &z) / 2 +
                                                         (z.u + 2 * z.n) + z.lg + 2 * z.id +
                                                         z.t + mask);
    }
}

T_TEST(the_forward_pass_of_v1_peaks_in_the_mask_of_the_last_block)
{
    struct tts_workload w = long_llama(TTS_RECIPE_V1);
    struct sizes z = sizes_of(&w);
    int64_t before = z.u + (z.l - 1) * twice_kept(&w, &z) / 2 + (z.u + z.n) + (z.u + z.kv) +
                     (z.u + z.kv) + (z.u + z.kv / 2);
    run_whole(&run, &w);
    T_EQ(phase_of(&run, "FORWARD_PASS")->peak, before + 3 * z.a + z.u + 2 * z.m + 2 * z.id);
}

T_TEST(the_forward_pass_of_head_peaks_in_the_loss)
{
    struct tts_workload w = long_llama(TTS_RECIPE_HEAD);
    struct sizes z = sizes_of(&w);
    run_whole(&run, &w);
    const struct run_phase *forward = phase_of(&run, "FORWARD_PASS");
    T_EQ(forward->peak, forward->change + 2 * z.n + 2048 * z.b);
}

T_TEST(ids_and_targets_are_a_row_major_buffer_each)
{
    struct tts_workload w = small_llama(TTS_RECIPE_HEAD);
    struct sizes z = sizes_of(&w);
    run_whole(&run, &w);
    const struct run_op *op = &run.ops[phase_of(&run, "OPTIMIZER_CREATION")->ops];
    T_STR_EQ(op->name, "inputs");
    T_EQ(op->first, z.id);
}

/* --- backward ---------------------------------------------------------------------------- */

/* After the backward pass only the variables of the loop and the gradients of all parameters
 * are left. */
T_TEST(behind_the_backward_pass_are_gradients_and_what_the_loop_holds)
{
    struct tts_workload w = small_llama(TTS_RECIPE_V1);
    struct sizes z = sizes_of(&w);
    run_whole(&run, &w);
    int64_t forward = phase_of(&run, "FORWARD_PASS")->change;
    T_EQ(forward + phase_of(&run, "BACKWARD_PASS")->change,
         z.p + 2 * z.lg + 2 * z.t + 2 * z.id);
    w.recipe = TTS_RECIPE_HEAD; /* this loop has no variable for the logits */
    run_whole(&run, &w);
    forward = phase_of(&run, "FORWARD_PASS")->change;
    T_EQ(forward + phase_of(&run, "BACKWARD_PASS")->change, z.p + 2 * z.t + 2 * z.id);
    w.model.tied = true; /* both tables have the same gradient */
    w.recipe = TTS_RECIPE_V1;
    z = sizes_of(&w);
    run_whole(&run, &w);
    forward = phase_of(&run, "FORWARD_PASS")->change;
    T_EQ(forward + phase_of(&run, "BACKWARD_PASS")->change,
         z.p + 2 * z.lg + 2 * z.t + 2 * z.id);
}

T_TEST(later_micro_steps_allocate_a_sum_for_every_parameter_and_keep_none)
{
    struct tts_workload w = small_llama(TTS_RECIPE_HEAD);
    struct sizes z = sizes_of(&w);
    w.accumulate = 3;
    run_whole(&run, &w);
    const struct run_phase *first = phase_of(&run, "BACKWARD_PASS_micro_0");
    const struct run_phase *second = phase_of(&run, "BACKWARD_PASS_micro_1");
    const struct run_phase *third = phase_of(&run, "BACKWARD_PASS_micro_2");
    T_EQ(second->allocated, first->allocated + z.p);
    T_EQ(third->allocated, second->allocated);
    T_EQ(second->change, -phase_of(&run, "FORWARD_PASS_micro_1")->change);
    T_EQ(third->change, second->change);
}

/* The C++ loop releases the logits, the loss and the ids before it loads the next batch. The
 * Python loop replaces each of them after the next one exists. */
T_TEST(a_later_micro_step_finds_what_the_loop_still_holds)
{
    struct tts_workload w = long_llama(TTS_RECIPE_V1);
    struct sizes z = sizes_of(&w);
    w.accumulate = 2;
    run_whole(&run, &w);
    const struct run_phase *first = phase_of(&run, "FORWARD_PASS"), *second = first + 2;
    T_STR_EQ(second->name, "FORWARD_PASS");
    int64_t held = 2 * z.lg + 2 * z.t + 2 * z.id;
    T_EQ(second->change, first->change - held);
    T_EQ(second->peak, first->peak - held);
    w.recipe = TTS_RECIPE_HEAD;
    run_whole(&run, &w);
    first = phase_of(&run, "FORWARD_PASS_micro_0");
    second = phase_of(&run, "FORWARD_PASS_micro_1");
    T_EQ(second->change, first->change - 2 * z.t - 2 * z.id);
    T_EQ(second->peak, first->peak - 2 * z.id);
}

T_TEST(the_backward_pass_of_v1_peaks_as_its_closed_form)
{
    struct tts_workload w = long_llama(TTS_RECIPE_V1);
    struct sizes z = sizes_of(&w);
    run_whole(&run, &w);
    T_EQ(phase_of(&run, "BACKWARD_PASS")->peak, 2 * z.a + z.emb + 2 * z.g + 3 * z.w_f + z.w_e +
                                                    2 * z.u + z.lg + z.t -
                                                    (7 * z.u + 2 * z.n + 4 * z.f));
}

/* --- memory-efficient -------------------------------------------------------------------- */

T_TEST(recomputing_keeps_an_output_of_each_block)
{
    for (int recipe = TTS_RECIPE_V1; recipe <= TTS_RECIPE_HEAD; recipe++) {
        struct tts_workload w = long_llama((enum tts_recipe)recipe);
        w.runner = TTS_RUNNER_MEMORY_EFFICIENT;
        struct sizes z = sizes_of(&w);
        int64_t mask = recipe == TTS_RECIPE_V1_PYTHON ? z.m : 0;
        run_whole(&run, &w);
        const struct run_phase *forward = phase_of(&run, "FORWARD_PASS");
        T_EQ(forward->change, (z.l + 1) * z.u + (z.u + z.n) + z.lg + 2 * z.id + z.t + mask);
        /* The sum has h, q, kv, the rotated q, the rotated k and v, and the mask. */
        if (recipe != TTS_RECIPE_HEAD)
            T_EQ(forward->peak, z.l * z.u + z.u + z.u + z.kv + z.u + z.kv + 3 * z.a + z.u +
                                    2 * z.m + 2 * z.id + mask);
    }
}

/* The formula is for the peak in the first block. This holds if the parameters of a block are
 * larger than u. */
T_TEST(recomputing_peaks_backwards_as_its_closed_form)
{
    struct tts_workload w = long_llama(TTS_RECIPE_V1);
    w.batch = 1;
    w.model.sequence = 2048;
    w.model.mlp_width = 2816;
    w.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    struct sizes z = sizes_of(&w);
    run_whole(&run, &w);
    T_EQ(2 * phase_of(&run, "BACKWARD_PASS")->peak,
         2 * (z.p - z.emb - (z.g + z.w_e + z.w_kv) + 3 * z.a + 9 * z.u + z.n) + 5 * z.kv +
             2 * (z.lg + z.t - (z.u + z.n) - (z.l - 1) * z.u));
}

T_TEST(recomputing_ends_with_the_same_gradients)
{
    for (int family = 0; family < 2; family++) {
        struct tts_workload w =
            family ? small_gpt2(TTS_RECIPE_V1) : small_llama(TTS_RECIPE_HEAD);
        w.model.dropout = true;
        run_whole(&run, &w);
        int64_t stays =
            phase_of(&run, "FORWARD_PASS")->change + phase_of(&run, "BACKWARD_PASS")->change;
        int64_t peak = max_of(phase_of(&run, "FORWARD_PASS")->peak, 0);
        w.runner = TTS_RUNNER_MEMORY_EFFICIENT;
        run_whole(&run, &w);
        T_EQ(phase_of(&run, "FORWARD_PASS")->change + phase_of(&run, "BACKWARD_PASS")->change,
             stays);
        T_TRUE(phase_of(&run, "FORWARD_PASS")->peak < peak);
    }
}

/* --- the end of an iteration ------------------------------------------------------------- */

T_TEST(an_iteration_ends_with_its_step_in_place)
{
    struct tts_workload w = small_llama(TTS_RECIPE_HEAD);
    struct sizes z = sizes_of(&w);
    run_whole(&run, &w);
    T_EQ(phase_of(&run, "FIRST_ITERATION_COMPLETE")->allocated, 0);
    w.clip = true;
    run_whole(&run, &w);
    int64_t parameters = 2 + z.l * 8 + 1;
    T_EQ(phase_of(&run, "FIRST_ITERATION_COMPLETE")->peak, (parameters + 6) * z.t);
    T_EQ(phase_of(&run, "ITERATION_2")->change, 0);
}

T_TEST(data_parallel_divides_the_batch_and_synchronizes)
{
    struct tts_workload w = small_llama(TTS_RECIPE_HEAD);
    run_whole(&run, &w);
    int64_t change = phase_of(&run, "FORWARD_PASS")->change;
    struct sizes z = sizes_of(&w);
    w.batch *= 2;
    w.data_parallel = 2;
    run_whole(&run, &w);
    T_EQ(phase_of(&run, "FORWARD_PASS")->change, change);
    const struct run_phase *end = phase_of(&run, "FIRST_ITERATION_COMPLETE");
    /* The reduce-scatter needs 2 and 1/2 of a gradient, the all-gather 1 more, and then there
     * is the scaled copy. */
    T_EQ(end->peak, 5 * max_of(z.w_e, z.w_f) / 2);
    T_EQ(2 * end->allocated, 9 * z.p);
}
