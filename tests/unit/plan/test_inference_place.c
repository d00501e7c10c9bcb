#include "harness/inference_rig.h"
#include "torture/heap.h"

#include <string.h>

T_TEST(what_does_not_fit_names_the_first_that_fails)
{
    struct tts_inference_config config = llama_8b();
    struct tts_inference plan = plan_on(&config, "n150");
    T_TRUE(!plan.fits);
    T_EQ(plan.first_failure.kind, TTS_FAILURE_SPACE);
    T_EQ(plan.first_failure.pool, TTS_POOL_DRAM);
    /* A bank holds whole pages: 10688 rows of the table, 1366 tiles of q, 342 of k, 4779 of a
     * matrix of the MLP, 11 of a norm. After 27 layers 330688 bytes are left, which is less
     * than another q needs. */
    T_EQ(plan.failed_part, TTS_INFERENCE_ATTENTION);
    T_EQ(plan.failed_layer, 27);
    T_EQ(plan.first_failure.largest_free_bytes, 330688);
    T_EQ(plan.first_failure.block_bytes, 1366 * 2048);
    T_EQ(plan.first_failure.free_bytes + plan.first_failure.taken_bytes, plan.bank_bytes);
    T_TRUE(plan.peak_bank_bytes > plan.bank_bytes);
    T_TRUE(plan.peak_bank_bytes >= plan.total_bytes / 12);
    T_EQ(plan.largest_length, 0);
    T_EQ(plan.largest_batch, 0);
}

T_TEST(what_fails_outside_the_layers_has_none)
{
    struct tts_inference_config config = tiny_llama();
    config.model.positions = 0;
    config.length = 200000; /* the activations need 10 GB in tensors outside the layers */
    config.prefill = config.length;
    struct tts_inference plan = plan_on(&config, "n150");
    config.prefill = 0;
    struct tts_inference chunked = plan_on(&config, "n150");
    T_TRUE(chunked.fits && !chunked.bound.fits && plan.bound.is_known);
    T_EQ(chunked.bound.total_bytes, plan.total_bytes);
    T_TRUE(!plan.fits);
    T_EQ(plan.failed_part, TTS_INFERENCE_ACTIVATIONS);
    T_EQ(plan.failed_layer, -1);
    config = tiny_llama();
    config.model.vocabulary = 4000000;
    plan = plan_on(&config, "n150");
    T_EQ(plan.failed_part, TTS_INFERENCE_EMBEDDING);
    T_EQ(plan.failed_layer, -1);
}

T_TEST(all_in_bfp8_it_fits)
{
    struct tts_inference_config config = llama_8b();
    config.attention = config.mlp = config.head = config.cache = TTS_WEIGHT_BFP8;
    config.prefill = 2048;
    struct tts_inference plan = plan_on(&config, "n150");
    T_TRUE(plan.fits);
    T_EQ(plan.first_failure.kind, TTS_FAILURE_NONE);
    T_TRUE(plan.peak_bank_bytes <= plan.bank_bytes);
    T_TRUE(plan.peak_bank_bytes * 12 >= plan.total_bytes);
}

static bool fits_on(const struct tts_inference_config *config, const char *name)
{
    return plan_on(config, name).fits;
}

T_TEST(the_largest_fits_and_one_more_does_not)
{
    struct tts_inference_config config = tiny_llama();
    config.model.positions = 0;
    for (int i = 0; i < 3; i++) {
        config.batch = i == 0 ? 1 : 7;
        config.prefill = i == 2 ? 1024 : 0;
        struct tts_inference plan = plan_on(&config, "n150");
        struct tts_inference_config probe = config;
        T_EQ(plan.length_limit, 1 << 20);
        T_TRUE(plan.largest_length > config.length && plan.largest_length < plan.length_limit);
        T_EQ(plan.largest_length % config.block, 0);
        probe.length = plan.largest_length;
        T_TRUE(fits_on(&probe, "n150"));
        probe.length++;
        T_TRUE(!fits_on(&probe, "n150"));
        probe = config;
        probe.batch = plan.largest_batch;
        T_TRUE(fits_on(&probe, "n150"));
        probe.batch++;
        T_TRUE(!fits_on(&probe, "n150"));
    }
}

T_TEST(the_positions_of_the_model_bound_the_context)
{
    struct tts_inference_config config = tiny_llama();
    struct tts_inference plan = plan_on(&config, "n150");
    T_EQ(plan.largest_length, 2048);
    T_EQ(plan.length_limit, 2048);
    T_EQ(plan.batch_limit, 1 << 20);
    config.model.positions = 0;
    config.model.layers = 1;
    config.model.hidden = config.model.mlp_width = config.model.vocabulary = 32;
    config.model.heads = config.model.kv_heads = 1;
    config.length = 32;
    plan = plan_on(&config, "p150");
    T_EQ(plan.largest_length, 1 << 20);
    config.batch = (1 << 20) + 1; /* the search must always try the given value */
    plan = plan_on(&config, "p150");
    T_TRUE(plan.fits);
    T_EQ(plan.largest_batch, (1 << 20) + 1);
    config.batch = 1;
    config.length = (1 << 20) + 1;
    plan = plan_on(&config, "p150");
    T_TRUE(plan.fits);
    T_EQ(plan.largest_length, (1 << 20) + 1);
}

T_TEST(positions_beyond_all_measure_do_not_matter_to_a_short_context)
{
    struct tts_inference_config config = tiny_llama();
    config.model.positions = 0;
    struct tts_inference plain = plan_on(&config, "n150");
    config.model.positions = UINT64_MAX;
    T_EQ(plan_on(&config, "n150").largest_length, plain.largest_length);
}

static uint64_t below(uint64_t *seed, uint64_t count)
{
    return t_random(seed) % count;
}

static struct tts_inference_config draw(uint64_t *seed)
{
    struct tts_inference_config config = {.batch = 1 + below(seed, 200),
                                          .length = 1 + below(seed, 20000),
                                          .block = 32 * (1 + below(seed, 4)),
                                          .prefill = below(seed, 3000),
                                          .tensor_parallel = UINT64_C(1) << below(seed, 3)};
    struct tts_inference_model *model = &config.model;
    model->layers = 1 + below(seed, 80);
    model->hidden = 1 + below(seed, 6000);
    model->kv_heads = 4 * (1 + below(seed, 3));
    model->heads = model->kv_heads * (1 + below(seed, 4));
    model->head_dim = 1 + below(seed, 160);
    model->mlp_width = 1 + below(seed, 16000);
    model->vocabulary = 1 + below(seed, 100000);
    model->tied = below(seed, 2);
    model->mlp = (enum tts_mlp_kind)below(seed, 2);
    model->biases = model->learned_positions = model->mlp == TTS_MLP_PLAIN;
    config.attention = (enum tts_weight_dtype)below(seed, 3);
    config.mlp = (enum tts_weight_dtype)below(seed, 3);
    config.cache = (enum tts_weight_dtype)below(seed, 3);
    config.embedding = (enum tts_weight_dtype)below(seed, 3);
    return config;
}

/* Compares the search, which adds sizes, with a device, which places each block. */
T_TEST(sums_of_blocks_agree_with_the_placement_of_each)
{
    static const char *const names[] = {"n150", "p150", "p100"};
    uint64_t seed = 7, fitted = 0;
    for (int i = 0; i < 150; i++) {
        struct tts_inference_config config = draw(&seed);
        struct tts_pool_layout dram;
        struct tts_chip chip;
        struct tts_error err;
        struct tts_inference plan = plan_on(&config, names[i % 3]);
        T_EQ(tts_chip_preset(names[i % 3], &chip, &err), TTS_OK);
        T_EQ(tts_chip_pool(&chip, TTS_POOL_DRAM, &dram, &err), TTS_OK);
        T_EQ(plan.largest_length >= config.length, plan.fits);
        T_EQ(plan.fits, plan.peak_bank_bytes <= plan.bank_bytes);
        T_TRUE(plan.peak_bank_bytes >= plan.total_bytes / dram.banks);
        T_EQ(plan.fits, plan.first_failure.kind == TTS_FAILURE_NONE);
        T_EQ(plan.fits, plan.largest_batch >= config.batch);
        fitted += plan.fits;
    }
    T_TRUE(fitted > 20 && fitted < 130);
}

/* ---- refusals ---- */

static void expect_bad(const struct tts_inference_config *config, enum tts_status status,
                       enum tts_inference_field field, const char *text)
{
    struct tts_chip chip;
    struct tts_error err = {0};
    enum tts_inference_field found = TTS_INFERENCE_FIELD_NONE;
    struct tts_inference plan, before;
    T_EQ(tts_inference_check(config, &found, &err), status);
    T_EQ(found, field);
    T_STR_EQ(err.text, text);
    T_EQ(tts_chip_preset("n150", &chip, &err), TTS_OK);
    memset(&plan, 0x5a, sizeof plan);
    memset(&before, 0x5a, sizeof before);
    T_EQ(tts_inference_plan(config, &chip, NULL, &plan, &err), status);
    T_MEM_EQ(&plan, &before, sizeof plan);
}

T_TEST(sizes_of_nothing_are_refused_by_name)
{
    static const struct {
        size_t offset;
        enum tts_inference_field field;
    } fields[] = {
        {offsetof(struct tts_inference_config, model.layers), TTS_INFERENCE_FIELD_LAYERS},
        {offsetof(struct tts_inference_config, model.hidden), TTS_INFERENCE_FIELD_HIDDEN},
        {offsetof(struct tts_inference_config, model.heads), TTS_INFERENCE_FIELD_HEADS},
        {offsetof(struct tts_inference_config, model.kv_heads), TTS_INFERENCE_FIELD_KV_HEADS},
        {offsetof(struct tts_inference_config, model.head_dim), TTS_INFERENCE_FIELD_HEAD_DIM},
        {offsetof(struct tts_inference_config, model.mlp_width), TTS_INFERENCE_FIELD_MLP},
        {offsetof(struct tts_inference_config, model.vocabulary),
         TTS_INFERENCE_FIELD_VOCABULARY},
        {offsetof(struct tts_inference_config, batch), TTS_INFERENCE_FIELD_BATCH},
        {offsetof(struct tts_inference_config, length), TTS_INFERENCE_FIELD_LENGTH},
        {offsetof(struct tts_inference_config, block), TTS_INFERENCE_FIELD_BLOCK},
        {offsetof(struct tts_inference_config, tensor_parallel),
         TTS_INFERENCE_FIELD_TENSOR_PARALLEL},
    };
    uint64_t zero = 0;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        struct tts_inference_config config = llama_8b();
        memcpy((char *)&config + fields[i].offset, &zero, sizeof zero);
        expect_bad(&config, TTS_E_INVALID, fields[i].field, "must be at least 1, but is 0");
    }
}

T_TEST(sizes_that_do_not_go_together_are_refused)
{
    struct tts_inference_config config = llama_8b();
    config.model.kv_heads = 5;
    expect_bad(&config, TTS_E_INVALID, TTS_INFERENCE_FIELD_KV_HEADS,
               "must divide the 32 heads, but is 5");
    config = llama_8b();
    config.block = 48;
    expect_bad(&config, TTS_E_INVALID, TTS_INFERENCE_FIELD_BLOCK,
               "must be a multiple of 32, but is 48");
    config = llama_8b();
    config.length = 131073;
    expect_bad(&config, TTS_E_INVALID, TTS_INFERENCE_FIELD_LENGTH,
               "must be at most 131072, the number of positions of the model, but is 131073");
    config = llama_8b();
    config.tensor_parallel = 3;
    expect_bad(&config, TTS_E_INVALID, TTS_INFERENCE_FIELD_TENSOR_PARALLEL,
               "must divide the 32 heads, but is 3");
    config.model.heads = config.model.kv_heads = 12;
    config.model.kv_heads = 6;
    config.tensor_parallel = 4;
    expect_bad(&config, TTS_E_INVALID, TTS_INFERENCE_FIELD_TENSOR_PARALLEL,
               "must divide the 6 k/v heads or be a multiple of them, but is 4");
    config = llama_8b();
    config.model.layers = TTS_INFERENCE_LAYERS_MAX + 1;
    expect_bad(&config, TTS_E_RANGE, TTS_INFERENCE_FIELD_LAYERS,
               "must be at most 16384, but is 16385");
}

T_TEST(sizes_past_63_bits_name_the_largest_number)
{
    struct tts_inference_config config = llama_8b();
    /* The bytes of the table are this value x 4096 x 2. */
    config.model.vocabulary = UINT64_C(1) << 52;
    expect_bad(
        &config, TTS_E_RANGE, TTS_INFERENCE_FIELD_VOCABULARY,
        "is 4503599627370496, which is too large: the model would need 2^63 bytes or more");
    config = llama_8b();
    config.batch = UINT64_C(1) << 60;
    expect_bad(
        &config, TTS_E_RANGE, TTS_INFERENCE_FIELD_BATCH,
        "is 1152921504606846976, which is too large: the model would need 2^63 bytes or more");
    config.batch = UINT64_MAX;
    expect_bad(&config, TTS_E_RANGE, TTS_INFERENCE_FIELD_BATCH,
               "must be at most 9223372036854775807, but is 18446744073709551615");
    config = llama_8b();
    config.model.positions = 0;
    config.length = INT64_MAX;
    expect_bad(
        &config, TTS_E_RANGE, TTS_INFERENCE_FIELD_LENGTH,
        "is 9223372036854775807, which is too large: the model would need 2^63 bytes or more");
    /* No single tensor or layer is too large, but all of them together are. */
    config = llama_8b();
    config.model.layers = TTS_INFERENCE_LAYERS_MAX;
    config.batch = UINT64_C(1) << 25;
    expect_bad(&config, TTS_E_RANGE, TTS_INFERENCE_FIELD_BATCH,
               "is 33554432, which is too large: the model would need 2^63 bytes or more");
    config.batch = 1 << 20;
    T_EQ(tts_inference_check(&config, NULL, NULL), TTS_OK);
    /* The total is 2^63 bytes, which fits in 64 bits: 32 layers with two caches of 2^57 bytes
     * each. */
    config = llama_8b();
    config.batch = UINT64_C(1) << 33;
    expect_bad(&config, TTS_E_RANGE, TTS_INFERENCE_FIELD_BATCH,
               "is 8589934592, which is too large: the model would need 2^63 bytes or more");
    config.batch /= 2;
    T_EQ(tts_inference_check(&config, NULL, NULL), TTS_OK);
}

T_TEST(what_cannot_be_counted_does_not_fit)
{
    struct tts_inference_config config = tiny_llama();
    uint64_t plain = plan_on(&config, "n150").largest_length;
    T_EQ(plain, config.model.positions);
    config.model.positions = INT64_MAX; /* the search would try lengths of 2^61 */
    struct tts_inference plan = plan_on(&config, "n150");
    T_TRUE(plan.fits && plan.length_limit == INT64_MAX / 2);
    T_TRUE(plan.largest_length > plain && plan.largest_length < UINT64_C(1) << 32);
}

T_TEST(sizes_far_beyond_any_chip_are_still_counted)
{
    struct tts_inference_config config = odd_sizes();
    config.model.hidden = 1; /* a page of 2 bytes needs 32 bytes */
    config.model.vocabulary = UINT64_C(1) << 58;
    struct tts_chip chip;
    struct tts_error err = {0};
    struct tts_inference plan;
    T_EQ(tts_chip_preset("n150", &chip, &err), TTS_OK);
    enum tts_status status = tts_inference_plan(&config, &chip, NULL, &plan, &err);
    T_TRUE(status == TTS_E_RANGE || (status == TTS_OK && !plan.fits));
    for (int bits = 20; bits < 63; bits++) {
        config = odd_sizes();
        config.batch = UINT64_C(1) << bits;
        status = tts_inference_plan(&config, &chip, NULL, &plan, &err);
        T_TRUE(status == TTS_E_RANGE || (status == TTS_OK && !plan.fits) || bits < 26);
    }
}

T_TEST(a_chip_without_dram_is_said)
{
    struct tts_inference_config config = tiny_llama();
    struct tts_chip chip;
    struct tts_inference plan;
    struct tts_error err = {0};
    T_EQ(tts_chip_preset("n150", &chip, &err), TTS_OK);
    chip.fact[TTS_FACT_DRAM_BANKS].origin = TTS_ORIGIN_UNKNOWN;
    T_EQ(tts_inference_plan(&config, &chip, NULL, &plan, &err), TTS_E_NOT_FOUND);
    T_TRUE(strstr(err.text, "dram_banks") != NULL);
}

T_TEST(out_of_memory_at_any_call_leaves_nothing_behind)
{
    struct tts_inference_config config = tiny_llama();
    struct tts_chip chip;
    struct tts_error err;
    T_EQ(tts_chip_preset("n150", &chip, &err), TTS_OK);
    uint64_t refused = 0, failed = 1;
    for (uint64_t fail_at = 1; failed > 0; fail_at++) {
        struct heap heap;
        struct tts_inference plan = {.parameters = 1};
        heap_init(&heap);
        heap.fail_at = fail_at;
        enum tts_status status = tts_inference_plan(&config, &chip, &heap.alloc, &plan, &err);
        T_TRUE(heap_is_settled(&heap));
        T_TRUE(status == TTS_OK || (status == TTS_E_NOMEM && heap.failed > 0));
        T_EQ(plan.parameters, status == TTS_OK ? 1100048384 : 1);
        refused += status != TTS_OK;
        failed = heap.failed;
    }
    T_TRUE(refused > 1);
}
