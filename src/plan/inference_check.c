/* inference_check.c: what can be planned. */
#include "base/error.h"
#include "plan/inference_inside.h"
#include "runtime/tensor.h"

#include <inttypes.h>

struct number {
    enum tts_inference_field field;
    uint64_t value, max;
};

enum { NUMBERS = 11 };

static void list_numbers(const struct tts_inference_config *config, struct number out[NUMBERS])
{
    const struct tts_inference_model *model = &config->model;
    const struct number numbers[NUMBERS] = {
        {TTS_INFERENCE_FIELD_LAYERS, model->layers, TTS_INFERENCE_LAYERS_MAX},
        {TTS_INFERENCE_FIELD_HIDDEN, model->hidden, INT64_MAX},
        {TTS_INFERENCE_FIELD_HEADS, model->heads, INT64_MAX},
        {TTS_INFERENCE_FIELD_KV_HEADS, model->kv_heads, INT64_MAX},
        {TTS_INFERENCE_FIELD_HEAD_DIM, model->head_dim, INT64_MAX},
        {TTS_INFERENCE_FIELD_MLP, model->mlp_width, INT64_MAX},
        {TTS_INFERENCE_FIELD_VOCABULARY, model->vocabulary, INT64_MAX},
        {TTS_INFERENCE_FIELD_BATCH, config->batch, INT64_MAX},
        {TTS_INFERENCE_FIELD_LENGTH, config->length, INT64_MAX},
        {TTS_INFERENCE_FIELD_BLOCK, config->block, INT64_MAX},
        {TTS_INFERENCE_FIELD_TENSOR_PARALLEL, config->tensor_parallel, INT64_MAX},
    };
    for (int i = 0; i < NUMBERS; i++)
        out[i] = numbers[i];
}

static enum tts_status check_numbers(const struct number numbers[NUMBERS],
                                     enum tts_inference_field *field, struct tts_error *err)
{
    for (int i = 0; i < NUMBERS; i++) {
        const struct number *number = &numbers[i];
        *field = number->field;
        if (number->value == 0)
            return tts_error_set(err, TTS_E_INVALID, "must be at least 1, and is 0");
        if (number->value > number->max)
            return tts_error_set(err, TTS_E_RANGE,
                                 "must be at most %" PRIu64 ", and is %" PRIu64, number->max,
                                 number->value);
    }
    return TTS_OK;
}

static enum tts_status check_together(const struct tts_inference_config *config,
                                      enum tts_inference_field *field, struct tts_error *err)
{
    const struct tts_inference_model *model = &config->model;
    uint64_t chips = config->tensor_parallel;
    *field = TTS_INFERENCE_FIELD_KV_HEADS;
    if (model->heads % model->kv_heads != 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "must divide the %" PRIu64 " heads, and is %" PRIu64, model->heads,
                             model->kv_heads);
    *field = TTS_INFERENCE_FIELD_BLOCK;
    if (config->block % TTS_TILE_SIDE != 0)
        return tts_error_set(err, TTS_E_INVALID, "must be a multiple of 32, and is %" PRIu64,
                             config->block);
    *field = TTS_INFERENCE_FIELD_LENGTH;
    if (model->positions > 0 && config->length > model->positions)
        return tts_error_set(err, TTS_E_INVALID,
                             "must be at most %" PRIu64
                             ", the positions of the model, and is %" PRIu64,
                             model->positions, config->length);
    *field = TTS_INFERENCE_FIELD_TENSOR_PARALLEL;
    if (model->heads % chips != 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "must divide the %" PRIu64 " heads, and is %" PRIu64, model->heads,
                             chips);
    if (model->kv_heads % chips != 0 && chips % model->kv_heads != 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "must divide the %" PRIu64
                             " heads of k and v, or be a multiple of them, and is %" PRIu64,
                             model->kv_heads, chips);
    return TTS_OK;
}

static enum tts_status check_size(const struct tts_inference_config *config,
                                  const struct number numbers[NUMBERS],
                                  enum tts_inference_field *field, struct tts_error *err)
{
    struct tts_inference_list list;
    uint64_t parts[TTS_INFERENCE_PARTS] = {0}, parameters, largest = 0;
    tts_inference_list_fill(&list, config);
    if (tts_inference_sum(&list, config, parts) &&
        tts_inference_parameters(&config->model, &parameters))
        return TTS_OK;
    for (int i = 0; i < NUMBERS; i++)
        largest = numbers[i].value > numbers[largest].value ? (uint64_t)i : largest;
    *field = numbers[largest].field;
    return tts_error_set(err, TTS_E_RANGE, "is %" PRIu64 ", too large: all comes to 2^63 bytes",
                         numbers[largest].value);
}

enum tts_status tts_inference_check(const struct tts_inference_config *config,
                                    enum tts_inference_field *field, struct tts_error *err)
{
    struct number numbers[NUMBERS];
    enum tts_inference_field bad;
    list_numbers(config, numbers);
    enum tts_status status = check_numbers(numbers, &bad, err);
    if (status == TTS_OK)
        status = check_together(config, &bad, err);
    if (status == TTS_OK)
        status = check_size(config, numbers, &bad, err);
    if (field)
        *field = status == TTS_OK ? TTS_INFERENCE_FIELD_NONE : bad;
    return status;
}
