/* transformer.c: the blocks of both families. Values are dropped where the variables of the
 * modelled program end: that is what decides how much a block takes when gradients are off. */
#include "runtime/model.h"

static bool is_fused(const struct tts_model *model)
{
    return !tts_recipe_is_v1(model->workload->recipe);
}

static struct tts_value *attend(struct tts_autograd *ag, const struct tts_model *model,
                                struct tts_value *const qkv[3])
{
    return is_fused(model) ? tts_op_attention_fused(ag, qkv)
                           : tts_op_attention(ag, qkv, model->mask);
}

/* From the heads to the end of attention; q, k and v are dropped. */
static struct tts_value *finish_attention(struct tts_autograd *ag,
                                          const struct tts_model_block *block,
                                          struct tts_value *qkv[3])
{
    const struct tts_model *model = block->model;
    struct tts_value *x = attend(ag, model, qkv);
    tts_value_replace(ag, &x, tts_op_heads_fusion(ag, x));
    struct tts_value *out = tts_linear_rows(ag, model, x, &block->attention);
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
    struct tts_value *q = tts_linear_columns(ag, model, x, &block->q);
    struct tts_value *kv = tts_linear_columns(ag, model, x, &block->kv);
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
    if (is_fused(model) && !model->is_parallel) {
        struct tts_value *weights[] = {block->w1.weight, block->w2.weight, block->w3.weight};
        return tts_op_swiglu(ag, x, weights, dropout);
    }
    struct tts_value *swished = tts_linear_columns(ag, model, x, &block->w1);
    tts_value_replace(ag, &swished, tts_op_silu(ag, swished));
    struct tts_value *gate = tts_linear_columns(ag, model, x, &block->w3);
    struct tts_value *gated = tts_op_mul(ag, swished, gate);
    struct tts_value *out = tts_linear_rows(ag, model, gated, &block->w2);
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
    struct tts_value *h = tts_norm_of(ag, block->model, &block->attention_norm, input);
    tts_value_replace(ag, &h, llama_attention(ag, block, h));
    tts_value_replace(ag, &h, tts_op_add(ag, h, input));
    struct tts_value *x = tts_norm_of(ag, block->model, &block->mlp_norm, h);
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
    struct tts_value *qkv = tts_linear_columns(ag, block->model, x, &block->q);
    tts_op_heads(ag, qkv, block->model->heads, parts);
    struct tts_value *out = finish_attention(ag, block, parts);
    tts_value_drop(ag, qkv);
    return out;
}

static struct tts_value *gpt2_mlp(struct tts_autograd *ag, const struct tts_model_block *block,
                                  struct tts_value *input)
{
    const struct tts_model *model = block->model;
    struct tts_value *x = tts_linear_columns(ag, model, input, &block->w1);
    tts_value_replace(ag, &x, tts_op_gelu(ag, x));
    tts_value_replace(ag, &x, tts_linear_rows(ag, model, x, &block->w2));
    tts_value_replace(ag, &x, tts_op_dropout(ag, x, model->workload->model.dropout));
    return x;
}

struct tts_value *tts_gpt2_block(struct tts_autograd *ag, const void *block_,
                                 struct tts_value *input)
{
    const struct tts_model_block *block = block_;
    struct tts_value *x = tts_norm_of(ag, block->model, &block->attention_norm, input);
    tts_value_replace(ag, &x, gpt2_attention(ag, block, x));
    tts_value_replace(ag, &x, tts_op_add(ag, x, input));
    struct tts_value *residual = tts_value_share(x);
    tts_value_replace(ag, &x, tts_norm_of(ag, block->model, &block->mlp_norm, x));
    tts_value_replace(ag, &x, gpt2_mlp(ag, block, x));
    tts_value_replace(ag, &x, tts_op_add(ag, x, residual));
    tts_value_drop(ag, residual);
    return x;
}
