/* Tests the state of optimizers, and the allocations of a step, of clipping and of
 * synchronizing gradients. */
#include "runtime/optimizer.h"

#include "harness/runtime_rig.h"
#include "runtime/kernel.h"

/* Two parameters of different sizes. P and Q are their numbers of bytes. */
enum { P = 2 * 64 * 96, Q = 2 * 32 * 160, PARAMETERS = 2 };

struct bench {
    struct rig rig;
    struct tts_workload workload;
    struct tts_model model;
    struct tts_value *parameters[PARAMETERS];
    struct tts_optimizer optimizer;
};

static void bench_open_in(struct bench *bench, struct tts_optimizer_config config,
                          enum tts_recipe recipe)
{
    rig_open(&bench->rig);
    bench->workload = (struct tts_workload){.optimizer = config, .recipe = recipe};
    bench->parameters[0] = tiled_value(&bench->rig, tts_shape(1, 1, 64, 96));
    bench->parameters[1] = tiled_value(&bench->rig, tts_shape(1, 1, 1, 160));
    bench->model = (struct tts_model){.workload = &bench->workload,
                                      .parameters = bench->parameters,
                                      .parameter_count = PARAMETERS};
    rig_look(&bench->rig);
    tts_optimizer_build(&bench->optimizer, &bench->rig.ag, &bench->model);
}

static void bench_open(struct bench *bench, struct tts_optimizer_config config)
{
    bench_open_in(bench, config, TTS_RECIPE_HEAD);
}

static void give_gradients(struct bench *bench)
{
    for (int i = 0; i < PARAMETERS; i++) {
        struct tts_value *parameter = bench->parameters[i];
        tts_value_add_gradient(&bench->rig.ag, parameter,
                               tts_tensor_tiled(&bench->rig.ag.rt, parameter->data.shape));
    }
    rig_look(&bench->rig);
}

static void bench_close(struct bench *bench)
{
    tts_optimizer_release(&bench->optimizer, &bench->rig.ag);
    tts_optimizer_release(&bench->optimizer, &bench->rig.ag); /* a second release is allowed */
    for (int i = 0; i < PARAMETERS; i++)
        tts_value_drop(&bench->rig.ag, bench->parameters[i]);
    rig_close(&bench->rig);
}

/* --- state ------------------------------------------------------------------------------- */

static void builds(struct tts_optimizer_config config, struct row expected)
{
    struct bench bench;
    bench_open(&bench, config);
    row_is(&bench.rig, tts_optimizer_name(config.kind), expected);
    for (int i = 0; i < PARAMETERS; i++)
        for (int k = 0; k < TTS_OPTIMIZER_STATES; k++) {
            const struct tts_tensor *state = &bench.optimizer.state[i][k];
            T_TRUE(!state->storage || state->storage->part == TTS_PART_OPTIMIZER);
        }
    bench_close(&bench);
}

#define BUILDS(config, ...) builds(config, (struct row)ROW_OF(__VA_ARGS__))
#define KIND(name) ((struct tts_optimizer_config){.kind = TTS_OPTIMIZER_##name})

T_TEST(adamw_holds_m_and_v_and_one_more_with_amsgrad)
{
    struct tts_optimizer_config config = KIND(ADAMW);
    BUILDS(KIND(MOREH_ADAMW), +P, +P, +Q, +Q);
    BUILDS(config, +P, +P, +Q, +Q);
    config.amsgrad = true;
    BUILDS(config, +P, +P, +P, +Q, +Q, +Q);
    config.kind = TTS_OPTIMIZER_ADAMW_COMPOSITE;
    BUILDS(config, +P, +P, +P, +Q, +Q, +Q);
}

T_TEST(composite_adamw_holds_one_more_with_kahan)
{
    struct tts_optimizer_config config = KIND(ADAMW_COMPOSITE);
    BUILDS(config, +P, +P, +Q, +Q);
    config.kahan = true;
    BUILDS(config, +P, +P, +P, +Q, +Q, +Q);
    config.amsgrad = true;
    BUILDS(config, +P, +P, +P, +P, +Q, +Q, +Q, +Q);
}

T_TEST(adamw_of_full_precision_holds_three_times_fp32)
{
    struct tts_optimizer_config config = KIND(ADAMW_FULL_PRECISION);
    BUILDS(config, +2 * P, +2 * P, +2 * P, +2 * Q, +2 * Q, +2 * Q);
    config.amsgrad = true;
    BUILDS(config, +2 * P, +2 * P, +2 * P, +2 * P, +2 * Q, +2 * Q, +2 * Q, +2 * Q);
}

T_TEST(sgd_holds_its_momentum_if_it_has_one)
{
    struct tts_optimizer_config config = KIND(SGD);
    builds(config, (struct row){NULL, 0});
    config.momentum = true;
    BUILDS(config, +P, +Q);
    builds(KIND(NONE), (struct row){NULL, 0});
}

/* --- steps ------------------------------------------------------------------------------- */

static void steps_in_place(struct tts_optimizer_config config)
{
    struct bench bench;
    bench_open(&bench, config);
    give_gradients(&bench);
    tts_optimizer_step(&bench.optimizer, &bench.rig.ag);
    T_QUIET(&bench.rig);
    bench_close(&bench);
}

T_TEST(fused_steps_allocate_nothing)
{
    steps_in_place(KIND(ADAMW));
    steps_in_place(KIND(MOREH_ADAMW));
    steps_in_place(KIND(SGD));
    steps_in_place(KIND(NONE));
}

T_TEST(a_step_of_full_precision_makes_the_weights_anew)
{
    struct bench bench;
    bench_open(&bench, KIND(ADAMW_FULL_PRECISION));
    give_gradients(&bench);
    tts_optimizer_step(&bench.optimizer, &bench.rig.ag);
    T_ROW(&bench.rig, +P, -P, +Q, -Q);
    T_EQ(bench.parameters[0]->data.storage->part, TTS_PART_PARAMETERS);
    T_EQ(bench.parameters[0]->data.dtype, TTS_DTYPE_BF16);
    bench_close(&bench);
}

/* In order: the decay and the new weights; the new m; the new v. */
#define COMPOSITE_START(p) +p, +p, -p, -p, +p, +p, +p, -p, -p, +p, +p, +p, +p, -p, -p, -p
/* In order: both corrected moments; the old m and v are freed; the quotient, whose buffers live
 * until the end. */
#define V1_UPDATE(p) +p, +p, -p, -p, +p, +p, +p, +p, +p, -p, -p, -p, -p
/* In order: one corrected moment; the old m and v are freed; with AMSGrad the maximum; the
 * other corrected moment and the divisor; the quotient. */
#define HEAD_MOMENTS(p) +p, -p, -p
#define HEAD_UPDATE(p) +p, +p, +p, -p, -p, +p, +p, +p, -p, -p
/* In order: the new weights, without or with Kahan summation; then the other buffers are
 * freed. */
#define PLAIN_END(p) +p, -p, -p, -p, -p
#define KAHAN_END(p) +p, +p, +p, +p, -p, -p, -p, -p, -p, -p, -p

static void check_step(struct bench *bench, int64_t peak, struct row expected)
{
    int64_t before;
    give_gradients(bench);
    before = bench->rig.live;
    tts_optimizer_step(&bench->optimizer, &bench->rig.ag);
    T_EQ(bench->rig.peak, peak);
    row_is(&bench->rig, "a step", expected);
    T_EQ(bench->rig.live, before);
    T_EQ(bench->parameters[0]->data.storage->part, TTS_PART_PARAMETERS);
    for (int k = 0; k < TTS_OPTIMIZER_STATES; k++) {
        const struct tts_tensor *state = &bench->optimizer.state[0][k];
        T_TRUE(!state->storage || state->storage->part == TTS_PART_OPTIMIZER);
    }
    bench_close(bench);
}

#define COMPOSITE_V1(p) COMPOSITE_START(p), V1_UPDATE(p), PLAIN_END(p)
#define COMPOSITE_V1_KAHAN(p) COMPOSITE_START(p), V1_UPDATE(p), KAHAN_END(p)
#define COMPOSITE(p) COMPOSITE_START(p), HEAD_MOMENTS(p), HEAD_UPDATE(p), PLAIN_END(p)
#define COMPOSITE_KAHAN(p) COMPOSITE_START(p), HEAD_MOMENTS(p), HEAD_UPDATE(p), KAHAN_END(p)
#define COMPOSITE_AMSGRAD(p)                                                                   \
    COMPOSITE_START(p), HEAD_MOMENTS(p), +p, -p, HEAD_UPDATE(p), PLAIN_END(p)

T_TEST(a_composite_step_of_v1_peaks_at_seven_of_the_largest_parameter)
{
    struct bench bench;
    struct tts_optimizer_config config = KIND(ADAMW_COMPOSITE);
    bench_open_in(&bench, config, TTS_RECIPE_V1);
    check_step(&bench, 7 * P, (struct row)ROW_OF(COMPOSITE_V1(P), COMPOSITE_V1(Q)));
    /* This is the same optimizer under another name. */
    bench_open_in(&bench, KIND(ADAMW), TTS_RECIPE_V1_PYTHON);
    check_step(&bench, 7 * P, (struct row)ROW_OF(COMPOSITE_V1(P), COMPOSITE_V1(Q)));
    config.kahan = true;
    bench_open_in(&bench, config, TTS_RECIPE_V1);
    check_step(&bench, 7 * P, (struct row)ROW_OF(COMPOSITE_V1_KAHAN(P), COMPOSITE_V1_KAHAN(Q)));
}

T_TEST(a_composite_step_of_head_drops_the_second_hat_first)
{
    struct bench bench;
    struct tts_optimizer_config config = KIND(ADAMW_COMPOSITE);
    bench_open(&bench, config);
    check_step(&bench, 5 * P, (struct row)ROW_OF(COMPOSITE(P), COMPOSITE(Q)));
    config.amsgrad = true;
    bench_open(&bench, config);
    check_step(&bench, 5 * P, (struct row)ROW_OF(COMPOSITE_AMSGRAD(P), COMPOSITE_AMSGRAD(Q)));
    config = KIND(ADAMW_COMPOSITE);
    config.kahan = true;
    bench_open(&bench, config);
    check_step(&bench, 7 * P, (struct row)ROW_OF(COMPOSITE_KAHAN(P), COMPOSITE_KAHAN(Q)));
}

/* --- gradients --------------------------------------------------------------------------- */

static void zeroes(struct tts_optimizer_config config, bool leaves_zeros)
{
    struct bench bench;
    bench_open(&bench, config);
    rig_look(&bench.rig);
    tts_optimizer_zero_gradients(&bench.optimizer, &bench.rig.ag);
    T_QUIET(&bench.rig); /* there are no gradients yet */
    give_gradients(&bench);
    tts_optimizer_zero_gradients(&bench.optimizer, &bench.rig.ag);
    if (leaves_zeros)
        T_ROW(&bench.rig, +P, -P, +Q, -Q);
    else
        T_ROW(&bench.rig, -P, -Q);
    const struct tts_tensor *gradient = &bench.parameters[1]->gradient;
    T_EQ(gradient->storage != NULL, leaves_zeros);
    T_TRUE(!leaves_zeros || gradient->storage->part == TTS_PART_GRADIENTS);
    bench_close(&bench);
}

T_TEST(zero_grad_drops_gradients_or_leaves_zeros)
{
    zeroes(KIND(ADAMW), false);
    zeroes(KIND(MOREH_ADAMW), false);
    zeroes(KIND(ADAMW_COMPOSITE), false);
    zeroes(KIND(ADAMW_FULL_PRECISION), true);
    zeroes(KIND(SGD), true);
    zeroes(KIND(NONE), true);
}

T_TEST(clipping_takes_a_tile_for_each_parameter_and_six_more)
{
    struct bench bench;
    bench_open(&bench, KIND(ADAMW));
    give_gradients(&bench);
    tts_gradients_clip(&bench.model, &bench.rig.ag);
    T_EQ(bench.rig.peak, PARAMETERS * T + 6 * T);
    T_ROW(&bench.rig, +PARAMETERS * T, +T, +T, +T, +T, +T, +T, -T, -T, -T, -T, -T, -T,
          -PARAMETERS * T);
    bench_close(&bench);
}

/* The second gradient cannot be divided in any dimension, so whole copies of both chips are
 * gathered. */
T_TEST(synchronizing_reduces_one_gradient_at_a_time)
{
    struct bench bench;
    bench_open(&bench, KIND(ADAMW));
    bench.workload.data_parallel = 2;
    give_gradients(&bench);
    tts_gradients_synchronize(&bench.model, &bench.rig.ag);
    T_EQ(bench.rig.peak, 4 * Q);
    T_ROW(&bench.rig, +2 * P, +P / 2, -2 * P, +P, -P / 2, +P, -P, -P, +Q, +Q, +2 * Q, -Q, -Q,
          +Q, -2 * Q, +Q, -Q, -Q);
    T_EQ(bench.parameters[0]->gradient.storage->part, TTS_PART_GRADIENTS);
    bench_close(&bench);
}
