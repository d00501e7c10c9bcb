/* inference_place.c: whether the tensors find their places. */
#include "plan/inference_inside.h"

#include <assert.h>

struct tts_request tts_inference_request(const struct tts_inference_tensor *tensor)
{
    return (struct tts_request){.pool = TTS_POOL_DRAM,
                                .size_bytes = tensor->pages * tensor->page_bytes,
                                .page_bytes = tensor->page_bytes};
}

/* ---- tensor by tensor ---- */

struct placing {
    const struct tts_inference_config *config;
    const struct tts_inference_list *list;
    struct tts_device *device;
    struct tts_inference *out;
    struct tts_error *err;
};

static enum tts_status place_one(const struct placing *placing,
                                 const struct tts_inference_tensor *tensor, int32_t layer)
{
    struct tts_buffer buffer;
    struct tts_request request = tts_inference_request(tensor);
    uint64_t failures = tts_device_failures(placing->device);
    enum tts_status status = tts_device_alloc(placing->device, &request, &buffer, placing->err);
    if (status == TTS_OK && failures == 0 && tts_device_failures(placing->device) > 0) {
        placing->out->failed_part = tensor->part;
        placing->out->failed_layer = layer;
    }
    return status;
}

static enum tts_status place_layer(const struct placing *placing, enum tts_tensor_stage stage,
                                   int32_t layer)
{
    enum tts_status status = TTS_OK;
    for (size_t i = 0; i < placing->list->count && status == TTS_OK; i++)
        if (placing->list->tensors[i].stage == stage)
            status = place_one(placing, &placing->list->tensors[i], layer);
    return status;
}

static enum tts_status place_all(const struct placing *placing)
{
    enum tts_status status = TTS_OK;
    for (int stage = 0; stage < TTS_STAGES; stage++) {
        bool is_layered = stage == TTS_STAGE_LAYER || stage == TTS_STAGE_CACHE;
        uint64_t repeats = tts_inference_repeats(placing->config, (enum tts_tensor_stage)stage);
        assert(repeats <= TTS_INFERENCE_LAYERS_MAX);
        for (uint64_t i = 0; i < repeats && status == TTS_OK; i++)
            status = place_layer(placing, (enum tts_tensor_stage)stage,
                                 is_layered ? (int32_t)i : -1);
    }
    return status;
}

enum tts_status tts_inference_place(const struct tts_inference_config *config,
                                    const struct tts_chip *chip, const struct tts_alloc *alloc,
                                    struct tts_inference *out, struct tts_error *err)
{
    struct tts_inference_list list;
    struct tts_device *device;
    struct tts_pool_stats stats;
    const struct tts_device_config overcommit = {.mode = TTS_MODE_OVERCOMMIT};
    tts_inference_list_fill(&list, config);
    enum tts_status status = tts_device_new(chip, &overcommit, alloc, &device, err);
    if (status != TTS_OK)
        return status;
    const struct placing placing = {config, &list, device, out, err};
    status = place_all(&placing);
    if (status == TTS_OK) {
        const struct tts_failure *first = tts_device_first_failure(device);
        bool is_there = tts_device_stats(device, TTS_POOL_DRAM, &stats);
        assert(is_there);
        (void)is_there;
        out->fits = !first;
        if (first)
            out->first_failure = *first;
        out->banks = tts_device_layout(device, TTS_POOL_DRAM)->banks;
        out->bank_bytes = tts_device_layout(device, TTS_POOL_DRAM)->bank_bytes;
        out->peak_bank_bytes = stats.peak_bytes;
    }
    tts_device_free(device);
    return status;
}

/* ---- without a device ---- */

bool tts_inference_would_fit(const struct tts_inference_config *config,
                             const struct tts_pool_layout *dram)
{
    struct tts_inference_list list;
    struct tts_need need;
    uint64_t left = dram->bank_bytes;
    tts_inference_list_fill(&list, config);
    if (list.overflows)
        return false;
    for (size_t i = 0; i < list.count; i++) {
        struct tts_request request = tts_inference_request(&list.tensors[i]);
        uint64_t repeats = tts_inference_repeats(config, list.tensors[i].stage);
        /* The grid is for shardings. */
        if (tts_request_need(&request, dram, 0, &need, NULL) != TTS_OK ||
            need.block_bytes > left / repeats)
            return false;
        left -= need.block_bytes * repeats;
    }
    return true;
}

uint64_t tts_inference_largest(struct tts_inference_config *config, uint64_t *field,
                               uint64_t limit, const struct tts_pool_layout *dram)
{
    uint64_t given = *field, fits = 0, fails = limit + 1;
    assert(limit > 0 && limit < INT64_MAX);
    /* More of either never takes less, so what fits ends somewhere between. */
    while (fails - fits > 1) {
        uint64_t middle = fits + (fails - fits) / 2;
        *field = middle;
        if (tts_inference_would_fit(config, dram))
            fits = middle;
        else
            fails = middle;
    }
    *field = given;
    return fits;
}
