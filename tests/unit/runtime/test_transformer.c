/* Tests one block: the bytes that it keeps with and without gradients, and the order of its
 * backward pass. */
#include "runtime/kernel.h"
#include "runtime/model.h"

#include "harness/run_rig.h"
#include "harness/runtime_rig.h"

/* --- kept by a block --------------------------------------------------------------------- */

/* Returns the bytes that are left after a block has run and its output was dropped. */
static int64_t kept_by_block(const struct tts_workload *workload, bool gradients)
{
    struct rig rig;
    struct tts_model model = {.workload = workload};
    rig_open(&rig);
    struct tts_autograd *ag = &rig.ag;
    ag->prunes = workload->recipe == TTS_RECIPE_HEAD;
    tts_model_make_mask(&model, ag);
    tts_model_build(&model, ag, workload);
    struct tts_value *x = tiled_value(
        &rig, tts_shape(workload->batch, 1, workload->model.sequence, workload->model.width));
    int64_t before = rig.live;
    ag->gradients = gradients;
    tts_block_fn run =
        workload->model.family == TTS_FAMILY_LLAMA ? tts_llama_block : tts_gpt2_block;
    struct tts_value *out = run(ag, &model.blocks[0], x);
    int64_t held = rig.live - before;
    tts_value_drop(ag, out);
    T_EQ(held - (rig.live - before), gradients ? 0 : sizes_of(workload).u);
    tts_value_drop(ag, x);
    tts_autograd_reset(ag);
    tts_model_release(&model, ag);
    rig_close(&rig);
    return held;
}

static int64_t kept(struct tts_workload workload)
{
    struct sizes z = sizes_of(&workload);
    T_EQ(kept_by_block(&workload, false), z.u); /* only the output was kept */
    return kept_by_block(&workload, true);
}

T_TEST(a_llama_block_of_v1_keeps_every_output_and_the_weights_of_attention)
{
    struct tts_workload w = small_llama(TTS_RECIPE_V1);
    struct sizes z = sizes_of(&w);
    T_EQ(2 * kept(w), 22 * z.u + 4 * z.n + 5 * z.kv + 2 * z.a + 8 * z.f);
    w.model.dropout = true;
    T_EQ(2 * kept(w), 26 * z.u + 4 * z.n + 5 * z.kv + 2 * z.a + 8 * z.f);
    w = small_llama(TTS_RECIPE_V1_PYTHON);
    w.model.groups = w.model.heads;
    z = sizes_of(&w);
    T_EQ(2 * kept(w), 22 * z.u + 4 * z.n + 5 * z.kv + 2 * z.a + 8 * z.f);
}

T_TEST(a_llama_block_of_head_keeps_a_column_of_attention_and_three_of_its_mlp)
{
    struct tts_workload w = small_llama(TTS_RECIPE_HEAD);
    struct sizes z = sizes_of(&w);
    T_EQ(2 * kept(w), 22 * z.u + 4 * z.n + 5 * z.kv + 2 * z.lse + 6 * z.f);
    w.model.dropout = true; /* the dropout of the MLP works in place */
    T_EQ(2 * kept(w), 24 * z.u + 4 * z.n + 5 * z.kv + 2 * z.lse + 6 * z.f);
    w = small_llama(TTS_RECIPE_HEAD);
    w.model.groups = w.model.heads;
    z = sizes_of(&w);
    T_EQ(2 * kept(w), 22 * z.u + 4 * z.n + 5 * z.kv + 2 * z.lse + 6 * z.f);
}

T_TEST(a_gpt2_block_keeps_twenty_two_and_two_more_with_dropout)
{
    for (int recipe = TTS_RECIPE_V1; recipe <= TTS_RECIPE_HEAD; recipe++) {
        struct tts_workload w = small_gpt2((enum tts_recipe)recipe);
        struct sizes z = sizes_of(&w);
        int64_t attention = recipe == TTS_RECIPE_HEAD ? z.lse : z.a;
        T_EQ(kept(w), 22 * z.u + 4 * z.n + attention);
        w.model.dropout = true;
        T_EQ(kept(w), 24 * z.u + 4 * z.n + attention);
    }
}

T_TEST(tensor_parallel_divides_what_is_inside_and_keeps_partial_sums)
{
    struct tts_workload w = small_llama(TTS_RECIPE_HEAD);
    w.tensor_parallel = 2;
    w.model.mlp_width = 704;
    struct sizes z = sizes_of(&w);
    /* This is twice the number of bytes. */
    int64_t inside = 10 * z.u + 5 * z.kv + 2 * z.lse + 8 * z.f;
    T_EQ(2 * kept(w), 16 * z.u + 4 * z.n + inside / 2);
}

/* --- order ------------------------------------------------------------------------------- */

struct step {
    const char *op;
    int64_t first; /* the size of the first allocation; 0: none */
};

static struct run run;

/* Checks the operations from number `at` on. All of them must be in block 0. */
static void ran(size_t at, const struct step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct run_op *op = &run.ops[at + i];
        if (strcmp(op->name, steps[i].op) != 0 || op->first != steps[i].first)
            fail_msg("%zu: %s of %jd, expected %s of %jd", i, op->name, (intmax_t)op->first,
                     steps[i].op, (intmax_t)steps[i].first);
        T_EQ(op->layer, 0);
    }
}

static size_t first_of_layer(int32_t layer)
{
    size_t at = phase_of(&run, "OPTIMIZER_CREATION")->ops;
    while (at < run.op_count && run.ops[at].layer != layer)
        at++;
    return at;
}

T_TEST(blocks_run_forwards_in_the_order_of_their_code)
{
    struct tts_workload w = small_llama(TTS_RECIPE_V1);
    struct sizes z = sizes_of(&w);
    const struct step v1[] = {
        {"rmsnorm", z.u},   {"linear", z.u}, /* the layer of q */
        {"linear", z.kv},   {"grouped_heads_creation", z.u},
        {"rope", z.u},      {"rope", z.kv / 2},
        {"attention", z.u}, {"heads_fusion", z.u},
        {"linear", z.u},    {"add", z.u},
        {"rmsnorm", z.u},   {"linear", z.f}, /* the layer w1 */
        {"silu", z.f},      {"linear", z.f}, /* the layer w3 */
        {"mul", z.f},       {"linear", z.u},
        {"add", z.u},
    };
    enum { COUNT_V1 = sizeof v1 / sizeof *v1 };
    run_whole(&run, &w);
    ran(first_of_layer(0), v1, COUNT_V1);
    T_EQ(first_of_layer(1) - first_of_layer(0), COUNT_V1);
    w.recipe = TTS_RECIPE_HEAD;
    run_whole(&run, &w);
    ran(first_of_layer(0), v1, 11);
    ran(first_of_layer(0) + 11, (const struct step[]){{"swiglu", z.f}, {"add", z.u}}, 2);
    T_EQ(first_of_layer(1) - first_of_layer(0), 13);
    w = small_gpt2(TTS_RECIPE_V1);
    z = sizes_of(&w);
    const struct step gpt2[] = {
        {"layernorm", z.n}, {"linear", 3 * z.u},   {"heads_creation", z.u},
        {"attention", z.u}, {"heads_fusion", z.u}, {"linear", z.u},
        {"add", z.u},       {"layernorm", z.n},    {"linear", 4 * z.u},
        {"gelu", 4 * z.u},  {"linear", z.u},       {"add", z.u},
    };
    run_whole(&run, &w);
    ran(first_of_layer(0), gpt2, sizeof gpt2 / sizeof *gpt2);
    T_EQ(first_of_layer(1) - first_of_layer(0), sizeof gpt2 / sizeof *gpt2);
}

/* Checks the operations of the first backward pass from its beginning. The operations [from,
 * to) of the list are in block 0, the others are outside the blocks. */
static void runs_backwards(const struct tts_workload *w, const struct step *steps, size_t count,
                           size_t from, size_t to)
{
    run_whole(&run, w);
    size_t at = phase_of(&run, "FORWARD_PASS")->ops;
    T_EQ(phase_of(&run, "BACKWARD_PASS")->ops - at, count);
    ran(at + from, steps + from, to - from);
    for (size_t i = 0; i < count; i++) {
        const struct run_op *op = &run.ops[at + i];
        if (strcmp(op->name, steps[i].op) != 0 || op->first != steps[i].first)
            fail_msg("%zu: %s of %jd, expected %s of %jd", i, op->name, (intmax_t)op->first,
                     steps[i].op, (intmax_t)steps[i].first);
        T_EQ(op->layer, i >= from && i < to ? 0 : TTS_LAYER_NONE);
    }
}

/* Several operations have the same name. The size of the first allocation tells them apart. */
T_TEST(a_llama_block_of_v1_runs_backwards_in_the_published_order)
{
    struct tts_workload w = small_llama(TTS_RECIPE_V1);
    w.model.blocks = 1;
    struct sizes z = sizes_of(&w);
    const struct step steps[] = {
        {"ones", z.t},
        {"cross_entropy_bw", z.lg},
        {"linear_bw", z.emb},
        {"rmsnorm_bw", z.u},
        {"add_bw", 0},
        {"linear_bw", z.w_f}, /* the layer w2 */
        {"mul_bw", z.f},
        {"linear_bw", z.w_f}, /* the layer w3 */
        {"silu_bw", z.f},
        {"linear_bw", z.w_f}, /* the layer w1 */
        {"rmsnorm_bw", z.u},
        {"add_bw", 0},
        {"linear_bw", z.w_e},
        {"heads_fusion_bw", z.u},
        {"attention_bw", z.kv / 2},
        {"rope_bw", z.kv / 2},
        {"rope_bw", z.u},
        {"grouped_heads_creation_bw", z.u},
        {"linear_bw", z.w_kv},
        {"linear_bw", z.w_e}, /* the layer of q */
        {"rmsnorm_bw", z.u},
        {"embedding_bw", z.emb},
    };
    enum { COUNT = sizeof steps / sizeof *steps };
    runs_backwards(&w, steps, COUNT, 4, COUNT - 1);
}

T_TEST(a_llama_block_of_head_runs_its_mlp_backwards_at_once)
{
    struct tts_workload w = small_llama(TTS_RECIPE_HEAD);
    w.model.blocks = 1;
    struct sizes z = sizes_of(&w);
    const struct step steps[] = {
        {"ones", z.t},         {"cross_entropy_bw", z.lg},
        {"linear_bw", z.emb},  {"rmsnorm_bw", z.u},
        {"add_bw", 0},         {"swiglu_bw", z.w_f},
        {"rmsnorm_bw", z.u},   {"add_bw", 0},
        {"linear_bw", z.w_e},  {"heads_fusion_bw", z.u},
        {"attention_bw", z.u}, {"rope_bw", z.kv / 2},
        {"rope_bw", z.u},      {"grouped_heads_creation_bw", z.u},
        {"linear_bw", z.w_kv}, {"linear_bw", z.w_e},
        {"rmsnorm_bw", z.u},   {"embedding_bw", z.emb},
    };
    enum { COUNT = sizeof steps / sizeof *steps };
    runs_backwards(&w, steps, COUNT, 4, COUNT - 1);
}

T_TEST(a_gpt2_block_runs_backwards_in_the_published_order)
{
    struct tts_workload w = small_gpt2(TTS_RECIPE_V1);
    w.model.blocks = 1;
    w.model.dropout = true;
    struct sizes z = sizes_of(&w);
    const struct step steps[] = {
        {"ones", z.t},
        {"cross_entropy_bw", z.lg},
        {"linear_bw", z.emb},
        {"layernorm_bw", z.u},
        {"add_bw", 0},
        {"dropout_bw", z.u},
        {"linear_bw", 4 * z.w_e}, /* the layer fc2 */
        {"gelu_bw", 4 * z.u},
        {"linear_bw", 4 * z.w_e}, /* the layer fc1 */
        {"layernorm_bw", z.u},
        {"add_bw", 0},
        {"dropout_bw", z.u},
        {"linear_bw", z.w_e},
        {"heads_fusion_bw", z.u},
        {"attention_bw", z.a},
        {"heads_creation_bw", z.u},
        {"linear_bw", 3 * z.w_e}, /* the layer of q, k and v */
        {"layernorm_bw", z.u},
        {"dropout_bw", z.u}, /* the dropout after the positions */
        {"add_bw", 2 * z.s * z.e},
        {"embedding_bw", z.emb},
    };
    enum { COUNT = sizeof steps / sizeof *steps };
    runs_backwards(&w, steps, COUNT, 4, COUNT - 3);
}
