#include "plan/inference.h"

#include "base/error.h"
#include "base/number.h"
#include "runtime/tensor.h"
#include "ttscope/device.h"

#include <assert.h>
#include <inttypes.h>

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

/* ---- tensors ---- */

/* When a tensor is created. Tensors are placed in the order of their stages. */
enum stage {
    STAGE_BEFORE, /* embedding */
    STAGE_LAYER,  /* the weights of every layer */
    STAGE_AFTER,  /* final norm, head, rope */
    STAGE_CACHE,  /* k and v of every layer */
    STAGE_RUN,    /* activations */
    STAGES,
};

/* A tensor of a plan. Tensors are interleaved in DRAM. */
struct tensor {
    enum tts_inference_part part;
    enum stage stage;
    uint64_t page_bytes, pages; /* both > 0; pages x page_bytes < 2^63 */
};

enum { TENSORS_MAX = 48 };

struct tensor_list {
    struct tensor tensors[TENSORS_MAX];
    size_t count;
    bool overflows; /* the sizes add up to 2^63 bytes or more; the list is unusable */
};

enum { TILE = TTS_TILE_SIDE, BF16_BYTES = 2 };

static const uint64_t tile_bytes[] = {
    [TTS_WEIGHT_BF16] = 2048, [TTS_WEIGHT_BFP8] = 1088, [TTS_WEIGHT_BFP4] = 576};

/* The share of the model that one chip holds. */
struct share {
    uint64_t q_heads, kv_heads, q_width, kv_width, mlp_width, vocabulary;
};

/* The properties of the next tensors. */
struct filling {
    struct tensor_list *list;
    enum tts_inference_part part;
    enum stage stage;
    enum tts_weight_dtype dtype;
};

static uint64_t divide_rounding_up(uint64_t value, uint64_t by)
{
    return value / by + (value % by != 0);
}

/* Returns a * b. If the product is 2^63 or more, marks the list and returns 1. */
static uint64_t multiply_sizes(struct tensor_list *list, uint64_t a, uint64_t b)
{
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product) || product > INT64_MAX) {
        list->overflows = true;
        return 1;
    }
    return product;
}

static void put_tensor(const struct filling *fill, uint64_t pages, uint64_t page_bytes)
{
    struct tensor_list *list = fill->list;
    assert(list->count < TENSORS_MAX);
    assert(pages > 0 && page_bytes > 0);
    multiply_sizes(list, pages, page_bytes);
    list->tensors[list->count++] = (struct tensor){fill->part, fill->stage, page_bytes, pages};
}

/* Adds one tensor of `count` matrices, each padded to whole tiles. */
static void put_tiles(const struct filling *fill, uint64_t count, uint64_t rows, uint64_t cols)
{
    uint64_t tiles = multiply_sizes(fill->list, divide_rounding_up(rows, TILE),
                                    divide_rounding_up(cols, TILE));
    put_tensor(fill, multiply_sizes(fill->list, count, tiles), tile_bytes[fill->dtype]);
}

static void put_matrix(const struct filling *fill, uint64_t rows, uint64_t cols)
{
    put_tiles(fill, 1, rows, cols);
}

/* Adds a tensor of one row, padded to one row of tiles. Its dtype is always bf16. */
static void put_vector(const struct filling *fill, uint64_t width)
{
    struct filling plain = *fill;
    plain.dtype = TTS_WEIGHT_BF16;
    put_tiles(&plain, 1, 1, width);
}

static struct share share_of_chip(struct tensor_list *list,
                                  const struct tts_inference_config *config)
{
    const struct tts_inference_model *model = &config->model;
    uint64_t chips = config->tensor_parallel;
    assert(chips > 0 && model->heads % chips == 0);
    struct share share = {.q_heads = model->heads / chips,
                          .kv_heads = divide_rounding_up(model->kv_heads, chips),
                          .mlp_width = divide_rounding_up(model->mlp_width, chips),
                          .vocabulary = divide_rounding_up(model->vocabulary, chips)};
    share.q_width = multiply_sizes(list, share.q_heads, model->head_dim);
    share.kv_width = multiply_sizes(list, share.kv_heads, model->head_dim);
    return share;
}

/* ---- tensors: weights ---- */

static void put_embedding(struct filling fill, const struct tts_inference_config *config,
                          const struct share *share)
{
    const struct tts_inference_model *model = &config->model;
    bool is_head = model->tied && !config->separate_head;
    uint64_t row_bytes = multiply_sizes(fill.list, model->hidden, BF16_BYTES);
    fill.dtype = config->embedding;
    /* The lookup reads rows, so each row of the table is a page. The table is in tiles if it is
     * also the matrix of the head, or if its dtype has blocks with a common exponent. */
    if (is_head || fill.dtype != TTS_WEIGHT_BF16)
        put_matrix(&fill, share->vocabulary, model->hidden);
    else
        put_tensor(&fill, share->vocabulary, row_bytes);
    if (model->learned_positions)
        put_tensor(&fill, model->positions > 0 ? model->positions : config->length, row_bytes);
}

static void put_attention(struct filling fill, const struct tts_inference_config *config,
                          const struct share *share)
{
    const struct tts_inference_model *model = &config->model;
    fill.dtype = config->attention;
    put_matrix(&fill, model->hidden, share->q_width);
    put_matrix(&fill, model->hidden, share->kv_width);
    put_matrix(&fill, model->hidden, share->kv_width);
    put_matrix(&fill, share->q_width, model->hidden);
    if (model->biases) {
        put_vector(&fill, share->q_width);
        put_vector(&fill, share->kv_width);
        put_vector(&fill, share->kv_width);
    }
    if (model->output_bias)
        put_vector(&fill, model->hidden);
}

static void put_mlp(struct filling fill, const struct tts_inference_config *config,
                    const struct share *share)
{
    const struct tts_inference_model *model = &config->model;
    bool is_gated = model->mlp == TTS_MLP_GATED;
    fill.dtype = config->mlp;
    put_matrix(&fill, model->hidden, share->mlp_width);
    if (is_gated)
        put_matrix(&fill, model->hidden, share->mlp_width);
    put_matrix(&fill, share->mlp_width, model->hidden);
    if (!is_gated) {
        put_vector(&fill, share->mlp_width);
        put_vector(&fill, model->hidden);
    }
}

static void put_norm(const struct filling *fill, const struct tts_inference_model *model)
{
    put_vector(fill, model->hidden);
    if (model->mlp == TTS_MLP_PLAIN)
        put_vector(fill, model->hidden);
}

static void put_norms(struct filling fill, const struct tts_inference_model *model)
{
    put_norm(&fill, model);
    put_norm(&fill, model);
    if (model->head_norms) {
        put_vector(&fill, model->head_dim);
        put_vector(&fill, model->head_dim);
    }
}

/* ---- tensors: rope, cache, activations ---- */

static uint64_t round_up_tokens(struct tensor_list *list, uint64_t value, uint64_t to)
{
    return multiply_sizes(list, divide_rounding_up(value, to), to);
}

static void put_rope(struct filling fill, const struct tts_inference_config *config)
{
    if (config->model.learned_positions)
        return;
    put_matrix(&fill, config->length, config->model.head_dim);
    put_matrix(&fill, config->length, config->model.head_dim);
    put_matrix(&fill, TILE, TILE); /* the matrix that swaps the two halves of a pair */
}

static void put_cache(struct filling fill, const struct tts_inference_config *config,
                      const struct share *share)
{
    uint64_t heads = multiply_sizes(fill.list, config->batch, share->kv_heads);
    uint64_t tokens = round_up_tokens(fill.list, config->length, config->block);
    fill.dtype = config->cache;
    for (int i = 0; i < 2; i++)
        put_tiles(&fill, heads, tokens, config->model.head_dim);
}

static void put_attention_run(const struct filling *fill,
                              const struct tts_inference_config *config, uint64_t tokens,
                              const struct share *share)
{
    uint64_t head_dim = config->model.head_dim, q = share->q_heads, kv = share->kv_heads;
    /* The tensors are: q, k and v together; q, k and v by heads; q and k after rope; the result
     * of attention; the joined heads. */
    put_matrix(fill, tokens, multiply_sizes(fill->list, q + 2 * kv, head_dim));
    put_tiles(fill, q, tokens, head_dim);
    put_tiles(fill, kv, tokens, head_dim);
    put_tiles(fill, kv, tokens, head_dim);
    if (!config->model.learned_positions) {
        put_tiles(fill, q, tokens, head_dim);
        put_tiles(fill, kv, tokens, head_dim);
    }
    put_tiles(fill, q, tokens, head_dim);
    put_matrix(fill, tokens, share->q_width);
}

static void put_mlp_run(const struct filling *fill, const struct tts_inference_config *config,
                        uint64_t tokens, const struct share *share)
{
    int wide =
        config->model.mlp == TTS_MLP_GATED ? 3 : 2; /* gate, up, product; or up, activation */
    for (int i = 0; i < wide; i++)
        put_matrix(fill, tokens, share->mlp_width);
}

static uint64_t sum_pages_from(const struct tensor_list *list, size_t first)
{
    uint64_t pages = 0;
    for (size_t i = first; i < list->count; i++)
        if (__builtin_add_overflow(pages, list->tensors[i].pages, &pages))
            return UINT64_MAX;
    return pages;
}

/* Adds the activations of the larger half of a block, as if nothing were freed before its
 * end. */
static void put_activation_tensors(struct filling fill,
                                   const struct tts_inference_config *config,
                                   const struct share *share)
{
    uint64_t tokens = tts_inference_prefill(config);
    /* A generation step computes one row for each sequence, not a chunk. */
    tokens = tokens > config->batch ? tokens : config->batch;
    for (int i = 0; i < 4; i++) /* residual, its norm, the result of the half, their sum */
        put_matrix(&fill, tokens, config->model.hidden);
    struct tensor_list mlp = *fill.list;
    struct filling mlp_fill = fill;
    mlp_fill.list = &mlp;
    size_t first = fill.list->count;
    put_attention_run(&fill, config, tokens, share);
    put_mlp_run(&mlp_fill, config, tokens, share);
    if (mlp.overflows || sum_pages_from(&mlp, first) > sum_pages_from(fill.list, first))
        *fill.list = mlp;
    put_matrix(&fill, config->batch, share->vocabulary); /* logits of the last tokens */
}

static void put_weights(struct tensor_list *list, const struct tts_inference_config *config,
                        const struct share *share)
{
    struct filling fill = {list, TTS_INFERENCE_EMBEDDING, STAGE_BEFORE, TTS_WEIGHT_BF16};
    put_embedding(fill, config, share);
    fill.stage = STAGE_LAYER;
    fill.part = TTS_INFERENCE_ATTENTION;
    put_attention(fill, config, share);
    fill.part = TTS_INFERENCE_MLP;
    put_mlp(fill, config, share);
    fill.part = TTS_INFERENCE_NORMS;
    put_norms(fill, &config->model);
    fill.stage = STAGE_AFTER;
    put_norm(&fill, &config->model);
    fill.part = TTS_INFERENCE_HEAD;
    fill.dtype = config->head;
    if (!config->model.tied || config->separate_head)
        put_matrix(&fill, config->model.hidden, share->vocabulary);
}

/* Fills the list with all tensors, without the trace region. The configuration passes
 * tts_inference_check(), but its sizes may overflow. */
static void fill_tensors(struct tensor_list *list, const struct tts_inference_config *config)
{
    *list = (struct tensor_list){0};
    struct share share = share_of_chip(list, config);
    put_weights(list, config, &share);
    struct filling fill = {list, TTS_INFERENCE_ROPE, STAGE_AFTER, TTS_WEIGHT_BF16};
    put_rope(fill, config);
    fill.part = TTS_INFERENCE_CACHE;
    fill.stage = STAGE_CACHE;
    put_cache(fill, config, &share);
    fill.part = TTS_INFERENCE_ACTIVATIONS;
    fill.stage = STAGE_RUN;
    put_activation_tensors(fill, config, &share);
}

/* ---- sums ---- */

static bool is_layer_stage(enum stage stage)
{
    return stage == STAGE_LAYER || stage == STAGE_CACHE;
}

/* Returns how often each tensor of a stage exists. */
static uint64_t stage_repeats(const struct tts_inference_config *config, enum stage stage)
{
    return is_layer_stage(stage) ? config->model.layers : 1;
}

/* Adds a * b * c to *sum. Returns false if the result is 2^63 or more; *sum is then
 * undefined. */
static bool add_product(uint64_t *sum, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t product;
    return !__builtin_mul_overflow(a, b, &product) &&
           !__builtin_mul_overflow(product, c, &product) &&
           !__builtin_add_overflow(*sum, product, sum) && *sum <= INT64_MAX;
}

/* Adds the bytes of each part to part_bytes. Returns false if the total is 2^63 or more. */
static bool sum_tensors(const struct tensor_list *list,
                        const struct tts_inference_config *config,
                        uint64_t part_bytes[TTS_INFERENCE_PARTS])
{
    uint64_t total = 0;
    if (list->overflows)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct tensor *tensor = &list->tensors[i];
        uint64_t repeats = stage_repeats(config, tensor->stage);
        assert((size_t)tensor->part < TTS_INFERENCE_PARTS);
        if (!add_product(&total, repeats, tensor->pages, tensor->page_bytes) ||
            !add_product(&part_bytes[tensor->part], repeats, tensor->pages, tensor->page_bytes))
            return false;
    }
    return true;
}

/* Counts the parameters of one layer. Returns false if there are 2^63 or more. */
static bool count_layer_parameters(const struct tts_inference_model *model, uint64_t *out)
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

/* Counts the elements of all parameters. Returns false if there are 2^63 or more. */
static bool count_parameters(const struct tts_inference_model *model, uint64_t *out)
{
    uint64_t layer, sum = 0;
    bool is_gated = model->mlp == TTS_MLP_GATED;
    bool ok = count_layer_parameters(model, &layer) &&
              add_product(&sum, layer, model->layers, 1) &&
              add_product(&sum, model->vocabulary, model->hidden, model->tied ? 1 : 2) &&
              add_product(&sum, model->hidden, is_gated ? 1 : 2, 1);
    if (ok && model->learned_positions && !model->fixed_positions)
        ok = add_product(&sum, model->positions, model->hidden, 1);
    if (ok)
        *out = sum;
    return ok;
}

/* ---- check ---- */

/* A number that the caller sets, and its limit. */
struct size_field {
    enum tts_inference_field field;
    uint64_t value, max;
};

enum { SIZE_FIELDS = 11 };

static enum tts_status check_fields(const struct size_field fields[SIZE_FIELDS],
                                    enum tts_inference_field *field, struct tts_error *err)
{
    for (int i = 0; i < SIZE_FIELDS; i++) {
        const struct size_field *size = &fields[i];
        *field = size->field;
        if (size->value == 0)
            return tts_error_set(err, TTS_E_INVALID, "must be at least 1, but is 0");
        if (size->value > size->max)
            return tts_error_set(err, TTS_E_RANGE,
                                 "must be at most %" PRIu64 ", but is %" PRIu64, size->max,
                                 size->value);
    }
    return TTS_OK;
}

static enum tts_status check_field_pairs(const struct tts_inference_config *config,
                                         enum tts_inference_field *field, struct tts_error *err)
{
    const struct tts_inference_model *model = &config->model;
    uint64_t chips = config->tensor_parallel;
    *field = TTS_INFERENCE_FIELD_KV_HEADS;
    if (model->heads % model->kv_heads != 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "must divide the %" PRIu64 " heads, but is %" PRIu64, model->heads,
                             model->kv_heads);
    *field = TTS_INFERENCE_FIELD_BLOCK;
    if (config->block % TTS_TILE_SIDE != 0)
        return tts_error_set(err, TTS_E_INVALID, "must be a multiple of 32, but is %" PRIu64,
                             config->block);
    *field = TTS_INFERENCE_FIELD_LENGTH;
    if (model->positions > 0 && config->length > model->positions)
        return tts_error_set(err, TTS_E_INVALID,
                             "must be at most %" PRIu64
                             ", the number of positions of the model, but is %" PRIu64,
                             model->positions, config->length);
    *field = TTS_INFERENCE_FIELD_TENSOR_PARALLEL;
    if (model->heads % chips != 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "must divide the %" PRIu64 " heads, but is %" PRIu64, model->heads,
                             chips);
    if (model->kv_heads % chips != 0 && chips % model->kv_heads != 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "must divide the %" PRIu64
                             " k/v heads or be a multiple of them, but is %" PRIu64,
                             model->kv_heads, chips);
    return TTS_OK;
}

static enum tts_status check_total(const struct tts_inference_config *config,
                                   const struct size_field fields[SIZE_FIELDS],
                                   enum tts_inference_field *field, struct tts_error *err)
{
    struct tensor_list list;
    uint64_t parts[TTS_INFERENCE_PARTS] = {0}, parameters, largest = 0;
    fill_tensors(&list, config);
    if (sum_tensors(&list, config, parts) && count_parameters(&config->model, &parameters))
        return TTS_OK;
    for (int i = 0; i < SIZE_FIELDS; i++)
        largest = fields[i].value > fields[largest].value ? (uint64_t)i : largest;
    *field = fields[largest].field;
    return tts_error_set(err, TTS_E_RANGE,
                         "is %" PRIu64
                         ", which is too large: the model would need 2^63 bytes or more",
                         fields[largest].value);
}

enum tts_status tts_inference_check(const struct tts_inference_config *config,
                                    enum tts_inference_field *field, struct tts_error *err)
{
    const struct tts_inference_model *model = &config->model;
    const struct size_field fields[SIZE_FIELDS] = {
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
    enum tts_inference_field bad;
    enum tts_status status = check_fields(fields, &bad, err);
    if (status == TTS_OK)
        status = check_field_pairs(config, &bad, err);
    if (status == TTS_OK)
        status = check_total(config, fields, &bad, err);
    if (field)
        *field = status == TTS_OK ? TTS_INFERENCE_FIELD_NONE : bad;
    return status;
}

/* ---- placement on a device ---- */

static struct tts_request tensor_request(const struct tensor *tensor)
{
    return (struct tts_request){.pool = TTS_POOL_DRAM,
                                .size_bytes = tensor->pages * tensor->page_bytes,
                                .page_bytes = tensor->page_bytes};
}

struct placement {
    const struct tts_inference_config *config;
    const struct tensor_list *list;
    struct tts_device *device;
    struct tts_inference *out;
    struct tts_error *err;
};

static enum tts_status place_tensor(const struct placement *placement,
                                    const struct tensor *tensor, int32_t layer)
{
    struct tts_buffer buffer;
    struct tts_request request = tensor_request(tensor);
    uint64_t failures = tts_device_failures(placement->device);
    enum tts_status status =
        tts_device_alloc(placement->device, &request, &buffer, placement->err);
    if (status == TTS_OK && failures == 0 && tts_device_failures(placement->device) > 0) {
        placement->out->failed_part = tensor->part;
        placement->out->failed_layer = layer;
    }
    return status;
}

static enum tts_status place_stage(const struct placement *placement, enum stage stage,
                                   int32_t layer)
{
    enum tts_status status = TTS_OK;
    for (size_t i = 0; i < placement->list->count && status == TTS_OK; i++)
        if (placement->list->tensors[i].stage == stage)
            status = place_tensor(placement, &placement->list->tensors[i], layer);
    return status;
}

static enum tts_status place_tensors(const struct placement *placement)
{
    enum tts_status status = TTS_OK;
    for (int stage = 0; stage < STAGES; stage++) {
        bool is_layered = is_layer_stage((enum stage)stage);
        uint64_t repeats = is_layered ? placement->config->model.layers : 1;
        assert(repeats <= TTS_INFERENCE_LAYERS_MAX);
        for (uint64_t i = 0; i < repeats && status == TTS_OK; i++)
            status = place_stage(placement, (enum stage)stage, is_layered ? (int32_t)i : -1);
    }
    return status;
}

/* Places each tensor on a new device of the chip. Fills fits, the first failure and the banks
 * of *out. */
static enum tts_status place_on_chip(const struct tts_inference_config *config,
                                     const struct tts_chip *chip, const struct tts_alloc *alloc,
                                     struct tts_inference *out, struct tts_error *err)
{
    struct tensor_list list;
    struct tts_device *device;
    struct tts_pool_stats stats;
    const struct tts_device_config overcommit = {.mode = TTS_MODE_OVERCOMMIT};
    fill_tensors(&list, config);
    enum tts_status status = tts_device_new(chip, &overcommit, alloc, &device, err);
    if (status != TTS_OK)
        return status;
    const struct placement placement = {config, &list, device, out, err};
    status = place_tensors(&placement);
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

/* ---- largest context and batch ---- */

/* Returns whether all tensors find a place in `dram`. Nothing is freed during the placement, so
 * the blocks follow each other, and the sum of their sizes decides. */
static bool would_fit(const struct tts_inference_config *config,
                      const struct tts_pool_layout *dram)
{
    struct tensor_list list;
    struct tts_need need;
    uint64_t left = dram->bank_bytes;
    fill_tensors(&list, config);
    if (list.overflows)
        return false;
    for (size_t i = 0; i < list.count; i++) {
        struct tts_request request = tensor_request(&list.tensors[i]);
        uint64_t repeats = stage_repeats(config, list.tensors[i].stage);
        /* Only shardings need the grid: 0 is enough. */
        if (tts_request_need(&request, dram, 0, &need, NULL) != TTS_OK ||
            need.block_bytes > left / repeats)
            return false;
        left -= need.block_bytes * repeats;
    }
    return true;
}

/* Returns the largest value of *field from 1 to `limit` that would fit, or 0. `field` points
 * into `config` and is restored at the end. */
static uint64_t find_largest_field(struct tts_inference_config *config, uint64_t *field,
                                   uint64_t limit, const struct tts_pool_layout *dram)
{
    uint64_t given = *field, fits = 0, fails = limit + 1;
    assert(limit > 0 && limit < INT64_MAX);
    /* A larger value never needs less memory, so a binary search finds the limit. */
    while (fails - fits > 1) {
        uint64_t middle = fits + (fails - fits) / 2;
        *field = middle;
        if (would_fit(config, dram))
            fits = middle;
        else
            fails = middle;
    }
    *field = given;
    return fits;
}

/* ---- plan ---- */

/* Copies the chip and sets the size of its trace region. */
static enum tts_status open_inference_chip(const struct tts_inference_config *config,
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

static void find_largest(const struct tts_inference_config *config,
                         const struct tts_pool_layout *dram, struct tts_inference *out)
{
    struct tts_inference_config probe = *config;
    uint64_t most = TTS_INFERENCE_SEARCH_MAX, positions = config->model.positions;
    out->batch_limit = config->batch > most ? config->batch : most;
    out->length_limit = config->length > most ? config->length : most;
    /* The user may have asked for a shorter context, so no check has covered `positions`. */
    if (positions > 0)
        out->length_limit = positions < INT64_MAX / 2 ? positions : INT64_MAX / 2;
    out->largest_length = find_largest_field(&probe, &probe.length, out->length_limit, dram);
    out->largest_batch = find_largest_field(&probe, &probe.batch, out->batch_limit, dram);
    assert(out->fits == (out->largest_length >= config->length));
    assert(out->fits == (out->largest_batch >= config->batch));
}

static struct tts_inference_bound whole_prefill_bound(const struct tts_inference_config *config,
                                                      const struct tts_pool_layout *dram,
                                                      uint64_t trace_bytes)
{
    struct tts_inference_bound bound = {.total_bytes = trace_bytes};
    struct tts_inference_config whole = *config;
    struct tensor_list list;
    uint64_t part_bytes[TTS_INFERENCE_PARTS] = {0};
    whole.prefill = whole.length;
    fill_tensors(&list, &whole);
    if (!sum_tensors(&list, &whole, part_bytes))
        return bound;
    for (int part = 0; part < TTS_INFERENCE_PARTS; part++)
        bound.total_bytes += part_bytes[part]; /* both are below 2^63 */
    bound.is_known = bound.total_bytes <= INT64_MAX;
    bound.activation_bytes = part_bytes[TTS_INFERENCE_ACTIVATIONS];
    bound.fits = would_fit(&whole, dram);
    return bound;
}

static enum tts_status sum_part_bytes(const struct tts_inference_config *config,
                                      struct tts_inference *out, struct tts_error *err)
{
    struct tensor_list list;
    fill_tensors(&list, config);
    bool ok = sum_tensors(&list, config, out->part_bytes) &&
              count_parameters(&config->model, &out->parameters);
    assert(ok && "the check lets nothing larger through");
    (void)ok;
    for (int part = 0; part < TTS_INFERENCE_PARTS; part++)
        if (__builtin_add_overflow(out->total_bytes, out->part_bytes[part],
                                   &out->total_bytes) ||
            out->total_bytes > INT64_MAX)
            return tts_error_set(err, TTS_E_RANGE, "the total is 2^63 bytes or more");
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
        status = open_inference_chip(config, chip, &opened, err);
    if (status == TTS_OK)
        status = tts_chip_pool(&opened, TTS_POOL_DRAM, &dram, err);
    if (status == TTS_OK)
        status = tts_chip_pool(&opened, TTS_POOL_TRACE, &trace, err);
    if (status != TTS_OK)
        return status;
    plan.part_bytes[TTS_INFERENCE_TRACE] = trace.banks * trace.bank_bytes;
    plan.capacity_bytes = dram.banks * dram.bank_bytes + trace.banks * trace.bank_bytes;
    status = sum_part_bytes(config, &plan, err);
    if (status == TTS_OK)
        status = place_on_chip(config, &opened, alloc, &plan, err);
    if (status != TTS_OK)
        return status;
    find_largest(config, &dram, &plan);
    plan.bound = whole_prefill_bound(config, &dram, plan.part_bytes[TTS_INFERENCE_TRACE]);
    *out = plan;
    return TTS_OK;
}
