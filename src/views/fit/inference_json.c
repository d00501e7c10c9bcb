/* inference_json.c: the memory that serving a model needs, for programs
 * (docs/design/inference.md). */
#include "views/fit/fit_view.h"
#include "views/fit/inference_view.h"

static void put_inference_model(struct tts_json *json, const struct tts_inferconfig *ask,
                                const struct tts_inference *plan)
{
    const struct tts_inference_model *model = &ask->config.model;
    tts_json_object(json, "model");
    tts_json_text(json, "type", ask->model_type);
    tts_json_bool(json, "type_assumed", ask->type_is_assumed);
    tts_json_number(json, "parameters", plan->parameters);
    tts_json_number(json, "layers", model->layers);
    tts_json_number(json, "hidden", model->hidden);
    tts_json_number(json, "heads", model->heads);
    tts_json_number(json, "kv_heads", model->kv_heads);
    tts_json_number(json, "head_dim", model->head_dim);
    tts_json_number(json, "mlp_width", model->mlp_width);
    tts_json_number(json, "vocabulary", model->vocabulary);
    tts_json_number_or_null(json, "positions", model->positions > 0, model->positions);
    tts_json_bool(json, "tied", model->tied);
    tts_json_object_end(json);
}

static void put_inference_unused(struct tts_json *json, const struct tts_inferconfig *ask)
{
    tts_json_array(json, "unused_keys");
    if (tts_inferconfig_has_window(ask)) {
        tts_json_object(json, NULL);
        tts_json_text(json, "key", "sliding_window");
        tts_json_number(json, "value", ask->window);
        tts_json_text(json, "reason", TTS_INFERENCE_WINDOW_REASON);
        tts_json_object_end(json);
    }
    if (ask->is_quantized) {
        tts_json_object(json, NULL);
        tts_json_text(json, "key", "quantization_config");
        tts_json_text_or_null(json, "value", ask->quantization);
        tts_json_text(json, "reason", TTS_INFERENCE_QUANTIZATION_REASON);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_inference_config(struct tts_json *json, const struct tts_inferconfig *ask,
                                 const struct tts_chip *chip)
{
    const struct tts_inference_config *config = &ask->config;
    tts_json_object(json, "config");
    tts_json_number(json, "batch", config->batch);
    tts_json_number(json, "length", config->length);
    tts_json_number(json, "block", config->block);
    tts_json_number(json, "prefill", tts_inference_prefill(config));
    tts_json_bool(json, "prefill_is_default", config->prefill == 0);
    tts_json_number(json, "tensor_parallel", config->tensor_parallel);
    tts_json_bool(json, "separate_head", config->separate_head);
    tts_json_number(json, "trace_region_bytes", chip->fact[TTS_FACT_TRACE_REGION].value);
    tts_json_object_end(json);
}

static void put_inference_parts(struct tts_json *json, const struct tts_inferconfig *ask,
                                const struct tts_inference *plan)
{
    tts_json_array(json, "parts");
    for (int i = 0; i < TTS_INFERENCE_PARTS; i++) {
        enum tts_inference_part part = (enum tts_inference_part)i;
        tts_json_object(json, NULL);
        tts_json_text(json, "name", tts_inference_part_name(part));
        tts_json_number(json, "bytes", plan->part_bytes[i]);
        tts_json_text_or_null(json, "dtype", tts_inference_part_dtype(&ask->config, part));
        tts_json_bool(json, "estimated", tts_inference_part_is_estimated(&ask->config, part));
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_inference_failure(struct tts_json *json, const struct tts_inference *plan)
{
    const struct tts_failure *failure = &plan->first_failure;
    char text[TTS_FAILURE_TEXT_MAX];
    if (plan->fits) {
        tts_json_null(json, "first_failure");
        return;
    }
    tts_json_object(json, "first_failure");
    tts_json_text(json, "part", tts_inference_part_name(plan->failed_part));
    tts_json_number_or_null(json, "layer", plan->failed_layer >= 0,
                            (uint64_t)plan->failed_layer);
    tts_json_text(json, "kind", tts_failure_kind_name(failure->kind));
    tts_json_text(json, "pool", tts_pool_name(failure->pool));
    tts_json_text(json, "text", tts_failure_text(failure, text));
    tts_json_number_or_null(json, "deficit_bytes", tts_failure_deficit_is_known(failure),
                            tts_failure_deficit(failure));
    tts_json_number(json, "requested_bytes", failure->requested_bytes);
    tts_json_number(json, "block_bytes", failure->block_bytes);
    tts_json_number(json, "free_bytes", failure->free_bytes);
    tts_json_number(json, "largest_free_bytes", failure->largest_free_bytes);
    tts_json_object_end(json);
}

static void put_inference_placement(struct tts_json *json, const struct tts_inference *plan)
{
    tts_json_object(json, "placement");
    tts_json_bool(json, "ok", plan->fits);
    put_inference_failure(json, plan);
    tts_json_number(json, "peak_bytes_per_bank", plan->peak_bank_bytes);
    tts_json_number(json, "bank_bytes", plan->bank_bytes);
    tts_json_number(json, "banks", plan->banks);
    tts_json_object_end(json);
}

static void put_inference_bound(struct tts_json *json,
                                const struct tts_inference_answer *answer)
{
    const struct tts_inference_bound *bound = &answer->plan.bound;
    if (!bound->is_known) {
        tts_json_null(json, "whole_prefill_bound");
        return;
    }
    tts_json_object(json, "whole_prefill_bound");
    tts_json_number(json, "tokens", answer->ask->config.length);
    tts_json_number(json, "activation_bytes", bound->activation_bytes);
    tts_json_number(json, "total_bytes", bound->total_bytes);
    tts_json_bool(json, "fits", bound->fits && tts_inference_has_chips(answer));
    tts_json_object_end(json);
}

static void put_inference_largest(struct tts_json *json,
                                  const struct tts_inference_answer *answer)
{
    const struct tts_inference *plan = &answer->plan;
    bool has_chips = tts_inference_has_chips(answer);
    tts_json_object(json, "largest");
    tts_json_number_or_null(json, "context", has_chips && plan->largest_length > 0,
                            plan->largest_length);
    tts_json_number(json, "context_limit", plan->length_limit);
    tts_json_number_or_null(json, "batch", has_chips && plan->largest_batch > 0,
                            plan->largest_batch);
    tts_json_number(json, "batch_limit", plan->batch_limit);
    tts_json_object_end(json);
}

static void put_inference_lighter(struct tts_json *json,
                                  const struct tts_inference_answer *answer)
{
    tts_json_array(json, "suggestions");
    for (size_t i = 0; i < answer->lighter_count; i++) {
        const struct tts_inference_lighter *lighter = &answer->lighter[i];
        tts_json_object(json, NULL);
        tts_json_text(json, "options", lighter->options);
        tts_json_number(json, "total_bytes", lighter->total_bytes);
        tts_json_bool(json, "fits", lighter->fits);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

void tts_inference_json(const struct tts_inference_answer *answer, struct tts_json *json)
{
    const struct tts_inferconfig *ask = answer->ask;
    const struct tts_chip *chip = answer->chip;
    const struct tts_inference *plan = &answer->plan;
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.fit_inference");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    tts_json_text(json, "file", ask->path);
    tts_json_text(json, "device", chip->name);
    tts_json_number(json, "capacity_bytes", plan->capacity_bytes);
    tts_json_bool(json, "fits", tts_inference_fits(answer));
    tts_json_text_or_null(json, "fits_reason",
                          !tts_inference_has_chips(answer) ? "chips"
                          : plan->fits                     ? NULL
                                                           : "memory");
    tts_json_bool(json, "estimated", ask->config.tensor_parallel > 1);
    tts_json_number(json, "total_bytes", plan->total_bytes);
    tts_json_number(json, "chips_needed", ask->config.tensor_parallel);
    tts_json_number(json, "device_chips", chip->fact[TTS_FACT_CHIPS].value);
    put_inference_model(json, ask, plan);
    put_inference_unused(json, ask);
    put_inference_config(json, ask, chip);
    put_inference_parts(json, ask, plan);
    put_inference_placement(json, plan);
    put_inference_bound(json, answer);
    put_inference_largest(json, answer);
    put_inference_lighter(json, answer);
    tts_json_null(json, "l1");
    tts_json_text(json, "l1_reason", TTS_FIT_L1_REASON);
    tts_json_object_end(json);
}
