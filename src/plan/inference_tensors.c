/* inference_tensors.c: which tensors serving a model takes, in which shapes. */
#include "plan/inference_inside.h"
#include "runtime/tensor.h"

#include <assert.h>

enum { TILE = TTS_TILE_SIDE, BF16_BYTES = 2 };

static const uint64_t tile_bytes[] = {
    [TTS_WEIGHT_BF16] = 2048, [TTS_WEIGHT_BFP8] = 1088, [TTS_WEIGHT_BFP4] = 576};

/* What a chip has of the model. */
struct share {
    uint64_t q_heads, kv_heads, q_width, kv_width, mlp_width, vocabulary;
};

/* What is put on the list next. */
struct filling {
    struct tts_inference_list *list;
    enum tts_inference_part part;
    enum tts_tensor_stage stage;
    enum tts_weight_dtype dtype;
};

static uint64_t divide_up(uint64_t value, uint64_t by)
{
    return value / by + (value % by != 0);
}

/* Products that pass 2^63 mark the list; the value then means nothing. */
static uint64_t multiply(struct tts_inference_list *list, uint64_t a, uint64_t b)
{
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product) || product > INT64_MAX) {
        list->overflows = true;
        return 1;
    }
    return product;
}

static void put(const struct filling *fill, uint64_t pages, uint64_t page_bytes)
{
    struct tts_inference_list *list = fill->list;
    assert(list->count < TTS_INFERENCE_TENSORS_MAX);
    assert(pages > 0 && page_bytes > 0);
    multiply(list, pages, page_bytes);
    list->tensors[list->count++] =
        (struct tts_inference_tensor){fill->part, fill->stage, page_bytes, pages};
}

/* `count` matrices in one tensor, each padded to whole tiles. */
static void put_tiles(const struct filling *fill, uint64_t count, uint64_t rows, uint64_t cols)
{
    uint64_t tiles = multiply(fill->list, divide_up(rows, TILE), divide_up(cols, TILE));
    put(fill, multiply(fill->list, count, tiles), tile_bytes[fill->dtype]);
}

static void put_matrix(const struct filling *fill, uint64_t rows, uint64_t cols)
{
    put_tiles(fill, 1, rows, cols);
}

/* Of one row, padded to one row of tiles; always bf16. */
static void put_vector(const struct filling *fill, uint64_t width)
{
    struct filling plain = *fill;
    plain.dtype = TTS_WEIGHT_BF16;
    put_tiles(&plain, 1, 1, width);
}

static struct share share_of(struct tts_inference_list *list,
                             const struct tts_inference_config *config)
{
    const struct tts_inference_model *model = &config->model;
    uint64_t chips = config->tensor_parallel;
    assert(chips > 0 && model->heads % chips == 0);
    struct share share = {.q_heads = model->heads / chips,
                          .kv_heads = divide_up(model->kv_heads, chips),
                          .mlp_width = divide_up(model->mlp_width, chips),
                          .vocabulary = divide_up(model->vocabulary, chips)};
    share.q_width = multiply(list, share.q_heads, model->head_dim);
    share.kv_width = multiply(list, share.kv_heads, model->head_dim);
    return share;
}

/* ---- weights ---- */

static void put_embedding(struct filling fill, const struct tts_inference_config *config,
                          const struct share *share)
{
    const struct tts_inference_model *model = &config->model;
    bool is_head = model->tied && !config->separate_head;
    uint64_t row_bytes = multiply(fill.list, model->hidden, BF16_BYTES);
    fill.dtype = config->embedding;
    /* Rows are looked up, so the table has them as pages; where it is also the matrix of the
     * head, or has blocks with a common exponent, it is in tiles. */
    if (is_head || fill.dtype != TTS_WEIGHT_BF16)
        put_matrix(&fill, share->vocabulary, model->hidden);
    else
        put(&fill, share->vocabulary, row_bytes);
    if (model->learned_positions)
        put(&fill, model->positions > 0 ? model->positions : config->length, row_bytes);
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

/* ---- the rest ---- */

static uint64_t round_up(struct tts_inference_list *list, uint64_t value, uint64_t to)
{
    return multiply(list, divide_up(value, to), to);
}

static void put_rope(struct filling fill, const struct tts_inference_config *config)
{
    if (config->model.learned_positions)
        return;
    put_matrix(&fill, config->length, config->model.head_dim);
    put_matrix(&fill, config->length, config->model.head_dim);
    put_matrix(&fill, TILE, TILE); /* the matrix that swaps the halves of a pair */
}

static void put_cache(struct filling fill, const struct tts_inference_config *config,
                      const struct share *share)
{
    uint64_t heads = multiply(fill.list, config->batch, share->kv_heads);
    uint64_t tokens = round_up(fill.list, config->length, config->block);
    fill.dtype = config->cache;
    for (int i = 0; i < 2; i++)
        put_tiles(&fill, heads, tokens, config->model.head_dim);
}

static void put_attention_run(const struct filling *fill,
                              const struct tts_inference_config *config, uint64_t tokens,
                              const struct share *share)
{
    uint64_t head_dim = config->model.head_dim, q = share->q_heads, kv = share->kv_heads;
    /* together, by heads, rotated, attended, and with the heads side by side again */
    put_matrix(fill, tokens, multiply(fill->list, q + 2 * kv, head_dim));
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
    int wide = config->model.mlp == TTS_MLP_GATED ? 3 : 2; /* gate, up, product; or up, act */
    for (int i = 0; i < wide; i++)
        put_matrix(fill, tokens, share->mlp_width);
}

static uint64_t pages_from(const struct tts_inference_list *list, size_t first)
{
    uint64_t pages = 0;
    for (size_t i = first; i < list->count; i++)
        if (__builtin_add_overflow(pages, list->tensors[i].pages, &pages))
            return UINT64_MAX;
    return pages;
}

/* The wider half of a block, as if it freed nothing before its end. */
static void put_activations(struct filling fill, const struct tts_inference_config *config,
                            const struct share *share)
{
    uint64_t tokens = tts_inference_prefill(config);
    /* A step of generation has a row for each sequence instead. */
    tokens = tokens > config->batch ? tokens : config->batch;
    for (int i = 0; i < 4; i++) /* residual, its norm, what the half adds, their sum */
        put_matrix(&fill, tokens, config->model.hidden);
    struct tts_inference_list mlp = *fill.list;
    struct filling mlp_fill = fill;
    mlp_fill.list = &mlp;
    size_t first = fill.list->count;
    put_attention_run(&fill, config, tokens, share);
    put_mlp_run(&mlp_fill, config, tokens, share);
    if (mlp.overflows || pages_from(&mlp, first) > pages_from(fill.list, first))
        *fill.list = mlp;
    put_matrix(&fill, config->batch, share->vocabulary); /* logits of each one's last token */
}

static void put_weights(struct tts_inference_list *list,
                        const struct tts_inference_config *config, const struct share *share)
{
    struct filling fill = {list, TTS_INFERENCE_EMBEDDING, TTS_STAGE_BEFORE, TTS_WEIGHT_BF16};
    put_embedding(fill, config, share);
    fill.stage = TTS_STAGE_LAYER;
    fill.part = TTS_INFERENCE_ATTENTION;
    put_attention(fill, config, share);
    fill.part = TTS_INFERENCE_MLP;
    put_mlp(fill, config, share);
    fill.part = TTS_INFERENCE_NORMS;
    put_norms(fill, &config->model);
    fill.stage = TTS_STAGE_AFTER;
    put_norm(&fill, &config->model);
    fill.part = TTS_INFERENCE_HEAD;
    fill.dtype = config->head;
    if (!config->model.tied || config->separate_head)
        put_matrix(&fill, config->model.hidden, share->vocabulary);
}

void tts_inference_list_fill(struct tts_inference_list *list,
                             const struct tts_inference_config *config)
{
    *list = (struct tts_inference_list){0};
    struct share share = share_of(list, config);
    put_weights(list, config, &share);
    struct filling fill = {list, TTS_INFERENCE_ROPE, TTS_STAGE_AFTER, TTS_WEIGHT_BF16};
    put_rope(fill, config);
    fill.part = TTS_INFERENCE_CACHE;
    fill.stage = TTS_STAGE_CACHE;
    put_cache(fill, config, &share);
    fill.part = TTS_INFERENCE_ACTIVATIONS;
    fill.stage = TTS_STAGE_RUN;
    put_activations(fill, config, &share);
}
