#include "runtime/model.h"

#include "base/heap.h"
#include "runtime/kernel.h"

#include <assert.h>
#include <string.h>

/* --- parameters ------------------------------------------------------------------------- */

static struct tts_value *add_parameter(struct tts_model *model, struct tts_autograd *ag,
                                       struct tts_tensor data)
{
    const struct tts_alloc *alloc = ag->rt.alloc;
    tts_tensor_mark(data, TTS_PART_PARAMETERS);
    struct tts_value *value = tts_value_new(ag, data);
    value->is_parameter = true;
    struct tts_value **all =
        tts_alloc_grow(alloc, model->parameters, &model->parameter_capacity,
                       model->parameter_count + 1, sizeof *all);
    if (!all) {
        tts_runtime_fail(&ag->rt, TTS_E_NOMEM, NULL);
        return value;
    }
    model->parameters = all;
    all[model->parameter_count++] = value;
    return value;
}

/* Creates a parameter whose initial values are drawn on the host and uploaded. */
static struct tts_value *draw_parameter(struct tts_model *model, struct tts_autograd *ag,
                                        uint64_t rows, uint64_t columns)
{
    return add_parameter(model, ag, tts_kernel_upload(&ag->rt, tts_shape(1, 1, rows, columns)));
}

static struct tts_linear add_linear(struct tts_model *model, struct tts_autograd *ag,
                                    uint64_t out, uint64_t in)
{
    bool has_bias = model->workload->model.family == TTS_FAMILY_GPT2;
    struct tts_linear made = {.weight = draw_parameter(model, ag, out, in)};
    if (has_bias)
        made.bias = draw_parameter(model, ag, 1, out);
    return made;
}

static struct tts_norm add_norm(struct tts_model *model, struct tts_autograd *ag)
{
    struct tts_shape shape = tts_shape(1, 1, 1, model->workload->model.width);
    struct tts_norm made = {
        .gamma = add_parameter(model, ag, tts_kernel_full(&ag->rt, shape, TTS_DTYPE_BF16))};
    made.gamma->is_norm = true;
    if (model->workload->model.family == TTS_FAMILY_GPT2) {
        made.beta = add_parameter(model, ag, tts_kernel_full(&ag->rt, shape, TTS_DTYPE_BF16));
        made.beta->is_norm = true;
    }
    return made;
}

static struct tts_value *new_constant(struct tts_autograd *ag, struct tts_tensor data)
{
    tts_tensor_mark(data, TTS_PART_CONSTANTS);
    struct tts_value *value = tts_value_new(ag, data);
    value->needs_gradient = false;
    return value;
}

/* --- building --------------------------------------------------------------------------- */

static void build_llama_block(struct tts_model *model, struct tts_autograd *ag,
                              struct tts_model_block *block)
{
    const struct tts_model_config *config = &model->workload->model;
    uint64_t width = config->width, head = width / config->heads, mlp = model->mlp_width;
    block->w1 = add_linear(model, ag, mlp, width);
    block->w3 = add_linear(model, ag, mlp, width);
    block->w2 = add_linear(model, ag, width, mlp);
    block->attention_norm = add_norm(model, ag);
    block->mlp_norm = add_norm(model, ag);
    block->q = add_linear(model, ag, model->heads * head, width);
    block->kv = add_linear(model, ag, 2 * model->groups * head, width);
    block->attention = add_linear(model, ag, width, model->heads * head);
}

static void build_gpt2_block(struct tts_model *model, struct tts_autograd *ag,
                             struct tts_model_block *block)
{
    const struct tts_model_config *config = &model->workload->model;
    uint64_t width = config->width, inner = model->heads * (width / config->heads);
    block->w1 = add_linear(model, ag, model->mlp_width, width);
    block->w2 = add_linear(model, ag, width, model->mlp_width);
    block->attention_norm = add_norm(model, ag);
    block->mlp_norm = add_norm(model, ag);
    block->q = add_linear(model, ag, 3 * inner, width);
    block->attention = add_linear(model, ag, width, inner);
}

/* Builds the tables of rope: sin and cos of each position, the matrix that swaps the elements
 * of a pair, and -sin for the backward pass. */
static void build_rope(struct tts_model *model, struct tts_autograd *ag)
{
    const struct tts_model_config *config = &model->workload->model;
    struct tts_runtime *rt = &ag->rt;
    struct tts_shape table = tts_shape(1, 1, config->sequence, config->width / config->heads);
    model->rope[0] = new_constant(ag, tts_kernel_upload(rt, table));
    model->rope[1] = new_constant(ag, tts_kernel_upload(rt, table));
    model->rope[2] =
        new_constant(ag, tts_kernel_upload(rt, tts_shape(1, 1, TTS_TILE_SIDE, TTS_TILE_SIDE)));
    model->rope[3] =
        new_constant(ag, tts_kernel_1(rt, TTS_KERNEL_NEGATE, table, model->rope[0]->data));
}

static void build_positions(struct tts_model *model, struct tts_autograd *ag)
{
    const struct tts_model_config *config = &model->workload->model;
    struct tts_shape shape = tts_shape(1, 1, config->sequence, config->width);
    if (config->fixed_positions)
        model->positions = new_constant(ag, tts_kernel_upload(&ag->rt, shape));
    else
        model->positions = draw_parameter(model, ag, config->sequence, config->width);
}

/* Replaces all weights by new ones. In the programs of January 2026 the constructors draw
 * weights, and afterwards all weights are drawn again, each while the old one still exists. The
 * parameters of norms stay, because they are not named weight or bias. */
static void draw_parameters_again(struct tts_model *model, struct tts_autograd *ag)
{
    for (size_t i = 0; i < model->parameter_count && ag->rt.status == TTS_OK; i++) {
        struct tts_value *value = model->parameters[i];
        struct tts_shape shape = value->data.shape;
        if (value->is_norm)
            continue;
        bool is_bias = shape.d[2] == 1;
        struct tts_tensor again = is_bias ? tts_kernel_full(&ag->rt, shape, TTS_DTYPE_BF16)
                                          : tts_kernel_upload(&ag->rt, shape);
        tts_tensor_mark(again, TTS_PART_PARAMETERS);
        tts_tensor_replace(&ag->rt, &value->data, again);
    }
}

static void build_blocks(struct tts_model *model, struct tts_autograd *ag)
{
    bool is_llama = model->workload->model.family == TTS_FAMILY_LLAMA;
    size_t bytes = (size_t)model->block_count * sizeof *model->blocks;
    model->blocks = ag->rt.alloc->alloc(ag->rt.alloc->ctx, bytes);
    if (!model->blocks) {
        tts_runtime_fail(&ag->rt, TTS_E_NOMEM, NULL);
        return;
    }
    memset(model->blocks, 0, bytes);
    for (uint64_t i = 0; i < model->block_count; i++) {
        struct tts_model_block *block = &model->blocks[i];
        block->model = model;
        block->layer = ag->rt.layer = (int32_t)i;
        (is_llama ? build_llama_block : build_gpt2_block)(model, ag, block);
    }
    ag->rt.layer = TTS_LAYER_NONE;
}

void tts_model_build(struct tts_model *model, struct tts_autograd *ag,
                     const struct tts_workload *workload)
{
    const struct tts_model_config *config = &workload->model;
    uint64_t chips = workload->tensor_parallel;
    uint64_t vocabulary = tts_workload_vocabulary(workload);
    model->workload = workload;
    model->batch = workload->batch / workload->data_parallel;
    model->heads = config->heads / chips;
    model->groups = config->groups / chips;
    model->mlp_width = tts_model_mlp_width(config) / chips;
    model->is_parallel = chips > 1;
    model->block_count = config->blocks;
    tts_runtime_op_begin(&ag->rt, "create");
    model->head.weight = draw_parameter(model, ag, vocabulary / chips, config->width);
    model->embedding = config->tied ? tts_value_share(model->head.weight)
                                    : draw_parameter(model, ag, vocabulary, config->width);
    if (config->family == TTS_FAMILY_LLAMA)
        build_rope(model, ag);
    else
        build_positions(model, ag);
    build_blocks(model, ag);
    model->last_norm = add_norm(model, ag);
    if (tts_recipe_is_v1(workload->recipe))
        draw_parameters_again(model, ag);
    tts_runtime_op_end(&ag->rt);
}

void tts_model_make_mask(struct tts_model *model, struct tts_autograd *ag)
{
    uint64_t sequence = model->workload->model.sequence;
    if (!tts_recipe_is_v1(model->workload->recipe))
        return;
    tts_runtime_op_begin(&ag->rt, "mask");
    model->mask =
        new_constant(ag, tts_kernel_upload(&ag->rt, tts_shape(1, 1, sequence, sequence)));
    tts_runtime_op_end(&ag->rt);
}

void tts_model_release(struct tts_model *model, struct tts_autograd *ag)
{
    const struct tts_alloc *alloc = ag->rt.alloc;
    for (size_t i = 0; i < model->parameter_count; i++)
        tts_value_drop(ag, model->parameters[i]);
    if (model->workload && model->workload->model.tied)
        tts_value_drop(ag, model->embedding);
    if (model->workload && model->workload->model.fixed_positions)
        tts_value_drop(ag, model->positions);
    for (int i = 0; i < 4; i++)
        tts_value_drop(ag, model->rope[i]);
    tts_value_drop(ag, model->mask);
    if (model->parameters)
        alloc->free(alloc->ctx, model->parameters,
                    model->parameter_capacity * sizeof *model->parameters);
    if (model->blocks)
        alloc->free(alloc->ctx, model->blocks,
                    (size_t)model->block_count * sizeof *model->blocks);
    *model = (struct tts_model){0};
}

/* --- blocks ----------------------------------------------------------------------------- */

/* Values are dropped at the places where the scopes of the variables end in the modelled
 * program. If gradients are off, these places determine how much memory a block needs. */

/* Run a linear layer that is divided among the chips: run_linear_columns() by its outputs,
 * run_linear_rows() by its inputs. Without tensor parallelism both run the whole layer. */
static struct tts_value *run_linear_columns(struct tts_autograd *ag,
                                            const struct tts_model *model, struct tts_value *x,
                                            const struct tts_linear *linear)
{
    if (!model->is_parallel)
        return tts_op_linear(ag, x, linear->weight, linear->bias);
    struct tts_value *here = tts_op_broadcast(ag, x);
    struct tts_value *out = tts_op_linear(ag, here, linear->weight, linear->bias);
    tts_value_drop(ag, here);
    return out;
}

static struct tts_value *run_linear_rows(struct tts_autograd *ag, const struct tts_model *model,
                                         struct tts_value *x, const struct tts_linear *linear)
{
    struct tts_value *out = tts_op_linear(ag, x, linear->weight, linear->bias);
    if (model->is_parallel)
        tts_value_replace(ag, &out, tts_op_all_reduce(ag, out));
    return out;
}

/* Runs the norm of the family: layernorm for GPT2, rmsnorm for Llama. */
static struct tts_value *run_norm(struct tts_autograd *ag, const struct tts_model *model,
                                  const struct tts_norm *norm, struct tts_value *x)
{
    if (norm->beta)
        return tts_op_layernorm(ag, x, norm->gamma, norm->beta);
    return tts_op_rmsnorm(ag, x, norm->gamma, !tts_recipe_is_v1(model->workload->recipe));
}

static bool has_fused_ops(const struct tts_model *model)
{
    return !tts_recipe_is_v1(model->workload->recipe);
}

static struct tts_value *run_attention(struct tts_autograd *ag, const struct tts_model *model,
                                       struct tts_value *const qkv[3])
{
    return has_fused_ops(model) ? tts_op_attention_fused(ag, qkv)
                                : tts_op_attention(ag, qkv, model->mask);
}

/* Runs attention on q, k and v up to the output layer. Drops q, k and v. */
static struct tts_value *finish_attention(struct tts_autograd *ag,
                                          const struct tts_model_block *block,
                                          struct tts_value *qkv[3])
{
    const struct tts_model *model = block->model;
    struct tts_value *x = run_attention(ag, model, qkv);
    tts_value_replace(ag, &x, tts_op_heads_fusion(ag, x));
    struct tts_value *out = run_linear_rows(ag, model, x, &block->attention);
    tts_value_replace(ag, &out, tts_op_dropout(ag, out, model->workload->model.dropout));
    tts_value_drop(ag, x);
    for (int i = 0; i < 3; i++)
        tts_value_drop(ag, qkv[i]);
    return out;
}

/* --- Llama ------------------------------------------------------------------------------ */

static struct tts_value *llama_attention(struct tts_autograd *ag,
                                         const struct tts_model_block *block,
                                         struct tts_value *x)
{
    const struct tts_model *model = block->model;
    struct tts_value *qkv[3];
    struct tts_value *q = run_linear_columns(ag, model, x, &block->q);
    struct tts_value *kv = run_linear_columns(ag, model, x, &block->kv);
    tts_op_grouped_heads(ag, q, kv, model->heads, model->groups, qkv);
    tts_value_replace(ag, &qkv[0], tts_op_rope(ag, qkv[0]));
    tts_value_replace(ag, &qkv[1], tts_op_rope(ag, qkv[1]));
    struct tts_value *out = finish_attention(ag, block, qkv);
    tts_value_drop(ag, q);
    tts_value_drop(ag, kv);
    return out;
}

static struct tts_value *llama_mlp(struct tts_autograd *ag, const struct tts_model_block *block,
                                   struct tts_value *x)
{
    const struct tts_model *model = block->model;
    bool dropout = model->workload->model.dropout;
    if (has_fused_ops(model) && !model->is_parallel) {
        struct tts_value *weights[] = {block->w1.weight, block->w2.weight, block->w3.weight};
        return tts_op_swiglu(ag, x, weights, dropout);
    }
    struct tts_value *swished = run_linear_columns(ag, model, x, &block->w1);
    tts_value_replace(ag, &swished, tts_op_silu(ag, swished));
    struct tts_value *gate = run_linear_columns(ag, model, x, &block->w3);
    struct tts_value *gated = tts_op_mul(ag, swished, gate);
    struct tts_value *out = run_linear_rows(ag, model, gated, &block->w2);
    tts_value_replace(ag, &out, tts_op_dropout(ag, out, dropout));
    tts_value_drop(ag, gated);
    tts_value_drop(ag, gate);
    tts_value_drop(ag, swished);
    return out;
}

struct tts_value *tts_llama_block(struct tts_autograd *ag, const void *block_,
                                  struct tts_value *input)
{
    const struct tts_model_block *block = block_;
    struct tts_value *h = run_norm(ag, block->model, &block->attention_norm, input);
    tts_value_replace(ag, &h, llama_attention(ag, block, h));
    tts_value_replace(ag, &h, tts_op_add(ag, h, input));
    struct tts_value *x = run_norm(ag, block->model, &block->mlp_norm, h);
    tts_value_replace(ag, &x, llama_mlp(ag, block, x));
    tts_value_replace(ag, &x, tts_op_add(ag, x, h));
    tts_value_drop(ag, h);
    return x;
}

/* --- GPT2 ------------------------------------------------------------------------------- */

static struct tts_value *gpt2_attention(struct tts_autograd *ag,
                                        const struct tts_model_block *block,
                                        struct tts_value *x)
{
    struct tts_value *parts[3];
    struct tts_value *qkv = run_linear_columns(ag, block->model, x, &block->q);
    tts_op_heads(ag, qkv, block->model->heads, parts);
    struct tts_value *out = finish_attention(ag, block, parts);
    tts_value_drop(ag, qkv);
    return out;
}

static struct tts_value *gpt2_mlp(struct tts_autograd *ag, const struct tts_model_block *block,
                                  struct tts_value *input)
{
    const struct tts_model *model = block->model;
    struct tts_value *x = run_linear_columns(ag, model, input, &block->w1);
    tts_value_replace(ag, &x, tts_op_gelu(ag, x));
    tts_value_replace(ag, &x, run_linear_rows(ag, model, x, &block->w2));
    tts_value_replace(ag, &x, tts_op_dropout(ag, x, model->workload->model.dropout));
    return x;
}

struct tts_value *tts_gpt2_block(struct tts_autograd *ag, const void *block_,
                                 struct tts_value *input)
{
    const struct tts_model_block *block = block_;
    struct tts_value *x = run_norm(ag, block->model, &block->attention_norm, input);
    tts_value_replace(ag, &x, gpt2_attention(ag, block, x));
    tts_value_replace(ag, &x, tts_op_add(ag, x, input));
    struct tts_value *residual = tts_value_share(x);
    tts_value_replace(ag, &x, run_norm(ag, block->model, &block->mlp_norm, x));
    tts_value_replace(ag, &x, gpt2_mlp(ag, block, x));
    tts_value_replace(ag, &x, tts_op_add(ag, x, residual));
    tts_value_drop(ag, residual);
    return x;
}

/* --- the whole model --------------------------------------------------------------------- */

static struct tts_value *embed_tokens(const struct tts_model *model, struct tts_autograd *ag,
                                      struct tts_value *tokens)
{
    if (!model->positions)
        return tts_value_share(tokens);
    struct tts_value *x = model->workload->model.fixed_positions
                              ? tts_op_add_constant(ag, tokens, model->positions)
                              : tts_op_add(ag, tokens, model->positions);
    tts_value_replace(ag, &x, tts_op_dropout(ag, x, model->workload->model.dropout));
    return x;
}

struct tts_value *tts_model_forward(const struct tts_model *model, struct tts_autograd *ag,
                                    struct tts_value *ids)
{
    tts_block_fn run =
        model->workload->model.family == TTS_FAMILY_LLAMA ? tts_llama_block : tts_gpt2_block;
    bool recomputes = model->workload->runner == TTS_RUNNER_MEMORY_EFFICIENT;
    struct tts_value *tokens = tts_op_embedding(ag, ids, model->embedding);
    struct tts_value *x = embed_tokens(model, ag, tokens);
    for (uint64_t i = 0; i < model->block_count && ag->rt.status == TTS_OK; i++) {
        const struct tts_model_block *block = &model->blocks[i];
        ag->rt.layer = block->layer;
        tts_value_replace(
            ag, &x, recomputes ? tts_op_checkpoint(ag, run, block, x) : run(ag, block, x));
    }
    ag->rt.layer = TTS_LAYER_NONE;
    tts_value_replace(ag, &x, run_norm(ag, model, &model->last_norm, x));
    struct tts_value *logits = run_linear_columns(ag, model, x, &model->head);
    tts_value_drop(ag, x);
    tts_value_drop(ag, tokens);
    return logits;
}
