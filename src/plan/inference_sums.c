/* inference_sums.c: what the tensors come to, and how many parameters a model has. */
#include "plan/inference_inside.h"

#include <assert.h>

uint64_t tts_inference_repeats(const struct tts_inference_config *config,
                               enum tts_tensor_stage stage)
{
    bool is_layered = stage == TTS_STAGE_LAYER || stage == TTS_STAGE_CACHE;
    return is_layered ? config->model.layers : 1;
}

/* *sum += a * b * c. False: 2^63 or more, *sum means nothing then. */
static bool add_product(uint64_t *sum, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t product;
    return !__builtin_mul_overflow(a, b, &product) &&
           !__builtin_mul_overflow(product, c, &product) &&
           !__builtin_add_overflow(*sum, product, sum) && *sum <= INT64_MAX;
}

bool tts_inference_sum(const struct tts_inference_list *list,
                       const struct tts_inference_config *config,
                       uint64_t part_bytes[TTS_INFERENCE_PARTS])
{
    uint64_t total = 0;
    if (list->overflows)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct tts_inference_tensor *tensor = &list->tensors[i];
        uint64_t repeats = tts_inference_repeats(config, tensor->stage);
        assert((size_t)tensor->part < TTS_INFERENCE_PARTS);
        if (!add_product(&total, repeats, tensor->pages, tensor->page_bytes) ||
            !add_product(&part_bytes[tensor->part], repeats, tensor->pages, tensor->page_bytes))
            return false;
    }
    return true;
}

/* Of one layer, all that has the hidden size as one side. */
static bool layer_parameters(const struct tts_inference_model *model, uint64_t *out)
{
    uint64_t heads2 = 0, kv2 = 0, bias = 0, sum = 0;
    bool is_gated = model->mlp == TTS_MLP_GATED;
    bool ok = add_product(&heads2, 2, model->heads, model->head_dim) &&
              add_product(&kv2, 2, model->kv_heads, model->head_dim) &&
              add_product(&sum, model->hidden, heads2, 1) &&
              add_product(&sum, model->hidden, kv2, 1) &&
              add_product(&sum, model->hidden, model->mlp_width, is_gated ? 3 : 2) &&
              add_product(&sum, model->hidden, is_gated ? 2 : 4, 1);
    if (ok && model->biases)
        bias = heads2 / 2 + kv2;
    ok = ok && add_product(&sum, bias, 1, 1);
    if (ok && model->output_bias)
        ok = add_product(&sum, model->hidden, 1, 1);
    if (ok && !is_gated)
        ok =
            add_product(&sum, model->hidden, 1, 1) && add_product(&sum, model->mlp_width, 1, 1);
    if (ok && model->head_norms)
        ok = add_product(&sum, model->head_dim, 2, 1);
    *out = sum;
    return ok;
}

bool tts_inference_parameters(const struct tts_inference_model *model, uint64_t *out)
{
    uint64_t layer, sum = 0;
    bool is_gated = model->mlp == TTS_MLP_GATED;
    bool ok = layer_parameters(model, &layer) && add_product(&sum, layer, model->layers, 1) &&
              add_product(&sum, model->vocabulary, model->hidden, model->tied ? 1 : 2) &&
              add_product(&sum, model->hidden, is_gated ? 1 : 2, 1);
    if (ok && model->learned_positions && !model->fixed_positions)
        ok = add_product(&sum, model->positions, model->hidden, 1);
    if (ok)
        *out = sum;
    return ok;
}
