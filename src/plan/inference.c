#include "plan/inference.h"

#include "base/error.h"
#include "base/number.h"
#include "plan/inference_inside.h"

#include <assert.h>

const char *tts_weight_dtype_name(enum tts_weight_dtype dtype)
{
    static const char *const names[] = {
        [TTS_WEIGHT_BF16] = "bf16", [TTS_WEIGHT_BFP8] = "bfp8", [TTS_WEIGHT_BFP4] = "bfp4"};
    return (size_t)dtype < TTS_WEIGHT_DTYPES ? names[dtype] : "unknown";
}

const char *tts_inference_part_name(enum tts_inference_part part)
{
    static const char *const names[] = {
        [TTS_INFERENCE_EMBEDDING] = "embedding",
        [TTS_INFERENCE_ATTENTION] = "attention",
        [TTS_INFERENCE_MLP] = "mlp",
        [TTS_INFERENCE_NORMS] = "norms",
        [TTS_INFERENCE_HEAD] = "head",
        [TTS_INFERENCE_CACHE] = "kv_cache",
        [TTS_INFERENCE_ROPE] = "rope",
        [TTS_INFERENCE_ACTIVATIONS] = "activations",
        [TTS_INFERENCE_TRACE] = "trace_region",
    };
    return (size_t)part < TTS_INFERENCE_PARTS ? names[part] : "unknown";
}

const char *tts_inference_part_dtype(const struct tts_inference_config *config,
                                     enum tts_inference_part part)
{
    const enum tts_weight_dtype dtypes[TTS_INFERENCE_PARTS] = {
        [TTS_INFERENCE_EMBEDDING] = config->embedding,
        [TTS_INFERENCE_ATTENTION] = config->attention,
        [TTS_INFERENCE_MLP] = config->mlp,
        [TTS_INFERENCE_HEAD] = config->head,
        [TTS_INFERENCE_CACHE] = config->cache,
    };
    assert((size_t)part < TTS_INFERENCE_PARTS);
    return part == TTS_INFERENCE_TRACE ? NULL : tts_weight_dtype_name(dtypes[part]);
}

bool tts_inference_part_is_estimated(const struct tts_inference_config *config,
                                     enum tts_inference_part part)
{
    bool is_whole = part == TTS_INFERENCE_NORMS || part == TTS_INFERENCE_ROPE ||
                    part == TTS_INFERENCE_TRACE;
    return part == TTS_INFERENCE_ACTIVATIONS || (config->tensor_parallel > 1 && !is_whole);
}

uint64_t tts_inference_prefill(const struct tts_inference_config *config)
{
    uint64_t chunk = config->prefill > 0 ? config->prefill : TTS_INFERENCE_PREFILL;
    return chunk < config->length ? chunk : config->length;
}

/* ---- the plan ---- */

/* The chip as it is opened. */
static enum tts_status open_chip(const struct tts_inference_config *config,
                                 const struct tts_chip *chip, struct tts_chip *out,
                                 struct tts_error *err)
{
    char text[TTS_NUMBER_MAX + 1];
    *out = *chip;
    if (config->trace_bytes == 0)
        return TTS_OK;
    text[tts_number_format(text, config->trace_bytes)] = '\0';
    return tts_chip_set(out, tts_fact_name(TTS_FACT_TRACE_REGION), text, err);
}

static void search(const struct tts_inference_config *config,
                   const struct tts_pool_layout *dram, struct tts_inference *out)
{
    struct tts_inference_config probe = *config;
    uint64_t most = TTS_INFERENCE_SEARCH_MAX, positions = config->model.positions;
    out->batch_limit = config->batch > most ? config->batch : most;
    out->length_limit = config->length > most ? config->length : most;
    if (positions > 0) /* which nobody has checked where a shorter context is asked for */
        out->length_limit = positions < INT64_MAX / 2 ? positions : INT64_MAX / 2;
    out->largest_length = tts_inference_largest(&probe, &probe.length, out->length_limit, dram);
    out->largest_batch = tts_inference_largest(&probe, &probe.batch, out->batch_limit, dram);
    assert(out->fits == (out->largest_length >= config->length));
    assert(out->fits == (out->largest_batch >= config->batch));
}

static struct tts_inference_bound bound_of(const struct tts_inference_config *config,
                                           const struct tts_pool_layout *dram,
                                           uint64_t trace_bytes)
{
    struct tts_inference_bound bound = {.total_bytes = trace_bytes};
    struct tts_inference_config whole = *config;
    struct tts_inference_list list;
    uint64_t part_bytes[TTS_INFERENCE_PARTS] = {0};
    whole.prefill = whole.length;
    tts_inference_list_fill(&list, &whole);
    if (!tts_inference_sum(&list, &whole, part_bytes))
        return bound;
    for (int part = 0; part < TTS_INFERENCE_PARTS; part++)
        bound.total_bytes += part_bytes[part]; /* below 2^63, and so is the trace region */
    bound.is_known = bound.total_bytes <= INT64_MAX;
    bound.activation_bytes = part_bytes[TTS_INFERENCE_ACTIVATIONS];
    bound.fits = tts_inference_would_fit(&whole, dram);
    return bound;
}

static enum tts_status sum_up(const struct tts_inference_config *config,
                              struct tts_inference *out, struct tts_error *err)
{
    struct tts_inference_list list;
    tts_inference_list_fill(&list, config);
    bool ok = tts_inference_sum(&list, config, out->part_bytes) &&
              tts_inference_parameters(&config->model, &out->parameters);
    assert(ok && "the check lets nothing larger through");
    (void)ok;
    for (int part = 0; part < TTS_INFERENCE_PARTS; part++)
        if (__builtin_add_overflow(out->total_bytes, out->part_bytes[part],
                                   &out->total_bytes) ||
            out->total_bytes > INT64_MAX)
            return tts_error_set(err, TTS_E_RANGE, "all comes to 2^63 bytes");
    return TTS_OK;
}

enum tts_status tts_inference_plan(const struct tts_inference_config *config,
                                   const struct tts_chip *chip, const struct tts_alloc *alloc,
                                   struct tts_inference *out, struct tts_error *err)
{
    struct tts_chip opened;
    struct tts_pool_layout dram, trace;
    struct tts_inference plan = {.failed_layer = -1};
    enum tts_status status = tts_inference_check(config, NULL, err);
    if (status == TTS_OK)
        status = open_chip(config, chip, &opened, err);
    if (status == TTS_OK)
        status = tts_chip_pool(&opened, TTS_POOL_DRAM, &dram, err);
    if (status == TTS_OK)
        status = tts_chip_pool(&opened, TTS_POOL_TRACE, &trace, err);
    if (status != TTS_OK)
        return status;
    plan.part_bytes[TTS_INFERENCE_TRACE] = trace.banks * trace.bank_bytes;
    plan.capacity_bytes = dram.banks * dram.bank_bytes + trace.banks * trace.bank_bytes;
    status = sum_up(config, &plan, err);
    if (status == TTS_OK)
        status = tts_inference_place(config, &opened, alloc, &plan, err);
    if (status != TTS_OK)
        return status;
    search(config, &dram, &plan);
    plan.bound = bound_of(config, &dram, plan.part_bytes[TTS_INFERENCE_TRACE]);
    *out = plan;
    return TTS_OK;
}
