#include "harness/inference_rig.h"

/* The expected figures were calculated by hand from the published sizes of the models. */

static struct tts_inference_config gpt2_small(void)
{
    struct tts_inference_config config = llama_8b();
    config.model = (struct tts_inference_model){.layers = 12,
                                                .hidden = 768,
                                                .heads = 12,
                                                .kv_heads = 12,
                                                .head_dim = 64,
                                                .mlp_width = 3072,
                                                .vocabulary = 50257,
                                                .positions = 1024,
                                                .tied = true,
                                                .mlp = TTS_MLP_PLAIN,
                                                .biases = true,
                                                .output_bias = true,
                                                .learned_positions = true};
    config.length = 1024;
    return config;
}

static uint64_t part_of(const struct tts_inference_config *config, enum tts_inference_part part)
{
    return plan_on(config, "p150").part_bytes[part];
}

T_TEST(parameters_are_those_that_are_published)
{
    struct tts_inference_config llama = llama_8b(), tiny = tiny_llama(), gpt2 = gpt2_small();
    T_EQ(plan_on(&llama, "p150").parameters, UINT64_C(8030261248));
    T_EQ(plan_on(&tiny, "p150").parameters, UINT64_C(1100048384));
    T_EQ(plan_on(&gpt2, "p150").parameters, UINT64_C(124439808));
    gpt2.model.fixed_positions = true;
    T_EQ(plan_on(&gpt2, "p150").parameters, UINT64_C(124439808) - 1024 * 768);
    gpt2.separate_head = true; /* a copy of the matrix adds no parameters */
    T_EQ(plan_on(&gpt2, "p150").parameters, UINT64_C(124439808) - 1024 * 768);
}

T_TEST(biases_and_norms_of_heads_count_where_the_model_has_them)
{
    /* The models are Qwen2.5 0.5B and Qwen3 0.6B. */
    struct tts_inference_config qwen2 = llama_8b(), qwen3 = llama_8b();
    qwen2.model = (struct tts_inference_model){.layers = 24,
                                               .hidden = 896,
                                               .heads = 14,
                                               .kv_heads = 2,
                                               .head_dim = 64,
                                               .mlp_width = 4864,
                                               .vocabulary = 151936,
                                               .tied = true,
                                               .biases = true};
    T_EQ(plan_on(&qwen2, "p150").parameters, 494032768);
    qwen3.model = (struct tts_inference_model){.layers = 28,
                                               .hidden = 1024,
                                               .heads = 16,
                                               .kv_heads = 8,
                                               .head_dim = 128,
                                               .mlp_width = 3072,
                                               .vocabulary = 151936,
                                               .tied = true,
                                               .head_norms = true};
    T_EQ(plan_on(&qwen3, "p150").parameters, 596049920);
    /* Each vector is padded to one row of tiles. Qwen2.5: 28 + 2 x 4 tiles for the biases of q,
     * k and v. Qwen3: 57 norms, and 28 x 2 norms of 4 tiles. */
    T_EQ(part_of(&qwen2, TTS_INFERENCE_ATTENTION),
         24 * (2 * 896 * (896 + 128) * 2 + (28 + 2 * 4) * 2048));
    T_EQ(part_of(&qwen3, TTS_INFERENCE_NORMS), 57 * 32 * 2048 + 28 * 2 * 4 * 2048);
    /* The biases keep their type, only the matrices change. */
    qwen2.attention = TTS_WEIGHT_BFP8;
    T_EQ(part_of(&qwen2, TTS_INFERENCE_ATTENTION),
         24 * (2 * 28 * (28 + 4) * 1088 + (28 + 2 * 4) * 2048));
}

T_TEST(parts_of_llama_are_what_the_shapes_come_to)
{
    struct tts_inference_config config = llama_8b();
    config.prefill = config.length;
    struct tts_inference plan = plan_on(&config, "p150");
    uint64_t sum = 0;
    T_EQ(plan.part_bytes[TTS_INFERENCE_EMBEDDING], UINT64_C(1050673152));
    T_EQ(plan.part_bytes[TTS_INFERENCE_ATTENTION], UINT64_C(2684354560));
    T_EQ(plan.part_bytes[TTS_INFERENCE_MLP], UINT64_C(11274289152));
    T_EQ(plan.part_bytes[TTS_INFERENCE_NORMS], 65 * 262144);
    T_EQ(plan.part_bytes[TTS_INFERENCE_HEAD], UINT64_C(1050673152));
    T_EQ(plan.part_bytes[TTS_INFERENCE_CACHE], UINT64_C(1073741824));
    T_EQ(plan.part_bytes[TTS_INFERENCE_ROPE], 2 * 8192 * 128 * 2 + 2048);
    /* The half of the MLP: (4 x 4096 + 3 x 14336) x 8192 tokens; and 32 rows of logits. */
    T_EQ(plan.part_bytes[TTS_INFERENCE_ACTIVATIONS], UINT64_C(973078528) + 8208384);
    T_EQ(plan.part_bytes[TTS_INFERENCE_TRACE], 0);
    for (int i = 0; i < TTS_INFERENCE_PARTS; i++)
        sum += plan.part_bytes[i];
    T_EQ(plan.total_bytes, sum);
    T_EQ(plan.capacity_bytes, UINT64_C(8) * 4272341376);
    T_TRUE(plan.fits);
    T_EQ(plan.failed_layer, -1);
}

T_TEST(gpt2_has_biases_a_table_of_positions_and_no_rope)
{
    struct tts_inference_config config = gpt2_small();
    uint64_t vector = UINT64_C(24) * 2048; /* 768 values, padded to one row of tiles */
    /* The table is also the matrix of the head, so it is stored in tiles: 50257 rows become
     * 50272. */
    T_EQ(part_of(&config, TTS_INFERENCE_EMBEDDING), 50272 * 768 * 2 + 1024 * 768 * 2);
    T_EQ(part_of(&config, TTS_INFERENCE_HEAD), 0);
    T_EQ(part_of(&config, TTS_INFERENCE_ROPE), 0);
    T_EQ(part_of(&config, TTS_INFERENCE_ATTENTION), 12 * (4 * 768 * 768 * 2 + 4 * vector));
    T_EQ(part_of(&config, TTS_INFERENCE_MLP), 12 * (2 * 768 * 3072 * 2 + 5 * vector));
    T_EQ(part_of(&config, TTS_INFERENCE_NORMS), 25 * 2 * vector);
    config.separate_head = true;
    T_EQ(part_of(&config, TTS_INFERENCE_EMBEDDING), 50257 * 768 * 2 + 1024 * 768 * 2);
    T_EQ(part_of(&config, TTS_INFERENCE_HEAD), 50272 * 768 * 2);
    config.model.positions = 0; /* then the table has one row for each token */
    config.length = 96;
    T_EQ(part_of(&config, TTS_INFERENCE_EMBEDDING), 50257 * 768 * 2 + 96 * 768 * 2);
}

T_TEST(each_tensor_is_padded_to_tiles_of_its_own)
{
    struct tts_inference_config config = odd_sizes();
    /* The table is row-major, so it has no padding. */
    T_EQ(part_of(&config, TTS_INFERENCE_EMBEDDING), 65 * 200);
    T_EQ(part_of(&config, TTS_INFERENCE_ATTENTION), (4 * 4 * 4) * 2048);
    T_EQ(part_of(&config, TTS_INFERENCE_MLP), (3 * 4 * 2) * 2048);
    T_EQ(part_of(&config, TTS_INFERENCE_NORMS), 3 * 4 * 2048);
    T_EQ(part_of(&config, TTS_INFERENCE_HEAD), 4 * 3 * 2048);
    T_EQ(part_of(&config, TTS_INFERENCE_CACHE), 2 * 3 * (2 * 2) * 2048);
    T_EQ(part_of(&config, TTS_INFERENCE_ROPE), 2 * (2 * 2) * 2048 + 2048);
    /* Two rows of tiles: 4 times the hidden size; q, k and v of 3 x 40 together (12 tiles
     * wide); by heads 3 x 2, two of them rotated; the result of attention; the joined heads.
     * And logits of one row, 3 tiles wide. */
    T_EQ(part_of(&config, TTS_INFERENCE_ACTIVATIONS),
         2 * (4 * 4 + 12 + 3 * 6 + 2 * 6 + 6 + 4) * 2048 + 3 * 2048);
}

T_TEST(every_dtype_has_its_tile)
{
    static const uint64_t tile[] = {2048, 1088, 576};
    static const char *const names[] = {"bf16", "bfp8", "bfp4"};
    for (int i = 0; i < TTS_WEIGHT_DTYPES; i++) {
        struct tts_inference_config config = odd_sizes();
        enum tts_weight_dtype dtype = (enum tts_weight_dtype)i;
        config.attention = dtype;
        T_EQ(part_of(&config, TTS_INFERENCE_ATTENTION), 64 * tile[i]);
        T_EQ(part_of(&config, TTS_INFERENCE_MLP), 24 * 2048);
        config.mlp = dtype;
        T_EQ(part_of(&config, TTS_INFERENCE_MLP), 24 * tile[i]);
        T_EQ(part_of(&config, TTS_INFERENCE_HEAD), 12 * 2048);
        config.head = dtype;
        T_EQ(part_of(&config, TTS_INFERENCE_HEAD), 12 * tile[i]);
        T_EQ(part_of(&config, TTS_INFERENCE_CACHE), 24 * 2048);
        config.cache = dtype;
        T_EQ(part_of(&config, TTS_INFERENCE_CACHE), 24 * tile[i]);
        config.embedding = dtype; /* the table is stored in tiles unless it is bf16 */
        T_EQ(part_of(&config, TTS_INFERENCE_EMBEDDING), i == 0 ? 65 * 200 : 12 * tile[i]);
        T_EQ(part_of(&config, TTS_INFERENCE_NORMS), 12 * 2048);
        T_STR_EQ(tts_weight_dtype_name(dtype), names[i]);
        T_STR_EQ(tts_inference_part_dtype(&config, TTS_INFERENCE_CACHE), names[i]);
        T_STR_EQ(tts_inference_part_dtype(&config, TTS_INFERENCE_NORMS), "bf16");
        T_TRUE(tts_inference_part_dtype(&config, TTS_INFERENCE_TRACE) == NULL);
    }
}

T_TEST(the_cache_is_rounded_up_to_the_block)
{
    struct tts_inference_config config = tiny_llama();
    uint64_t token = UINT64_C(22) * 2 * 4 * 64 * 2;
    config.length = 1;
    T_EQ(part_of(&config, TTS_INFERENCE_CACHE), 32 * token);
    config.length = 32;
    T_EQ(part_of(&config, TTS_INFERENCE_CACHE), 32 * token);
    config.length = 33;
    T_EQ(part_of(&config, TTS_INFERENCE_CACHE), 64 * token);
    config.block = 128;
    T_EQ(part_of(&config, TTS_INFERENCE_CACHE), 128 * token);
    config.batch = 5;
    T_EQ(part_of(&config, TTS_INFERENCE_CACHE), 5 * 128 * token);
}

T_TEST(activations_follow_the_prefill_and_the_batch)
{
    struct tts_inference_config config = tiny_llama();
    uint64_t row = (4 * 2048 + 3 * 5632) * 2, logits = 32000 * 2;
    T_EQ(part_of(&config, TTS_INFERENCE_ACTIVATIONS), 2048 * row + 32 * logits);
    config.prefill = 65;
    T_EQ(part_of(&config, TTS_INFERENCE_ACTIVATIONS), 96 * row + 32 * logits);
    config.batch = 100;
    T_EQ(part_of(&config, TTS_INFERENCE_ACTIVATIONS), 128 * row + 128 * logits);
    config.batch = 1;
    config.prefill = 4096; /* a prefill can be at most as long as the context */
    T_EQ(part_of(&config, TTS_INFERENCE_ACTIVATIONS), 2048 * row + 32 * logits);
    /* With a narrow MLP the half of attention is larger, with 5 tiles of q and 5 of k. */
    config.model.mlp_width = 32;
    T_EQ(part_of(&config, TTS_INFERENCE_ACTIVATIONS),
         2048 * (4 * 2048 + 5 * (2048 + 256)) * 2 + 32 * logits);
    T_TRUE(tts_inference_part_is_estimated(&config, TTS_INFERENCE_ACTIVATIONS));
    T_TRUE(!tts_inference_part_is_estimated(&config, TTS_INFERENCE_CACHE));
}

T_TEST(a_prefill_goes_in_chunks_and_the_whole_context_is_a_bound)
{
    struct tts_inference_config config = llama_8b();
    uint64_t row = (4 * 4096 + 3 * 14336) * 2, logits = 32 * 128256 * 2;
    T_EQ(config.length, 8192);
    T_EQ(tts_inference_prefill(&config), 2048);
    struct tts_inference plan = plan_on(&config, "p150");
    T_EQ(plan.part_bytes[TTS_INFERENCE_ACTIVATIONS], 2048 * row + logits);
    T_TRUE(plan.bound.is_known && plan.bound.fits);
    T_EQ(plan.bound.activation_bytes, 8192 * row + logits);
    T_EQ(plan.bound.total_bytes, plan.total_bytes + (8192 - 2048) * row);
    config.length = 1000; /* this is shorter than the default */
    T_EQ(tts_inference_prefill(&config), 1000);
    config.length = 8192;
    config.prefill = 8192;
    T_EQ(plan_on(&config, "p150").total_bytes, plan.bound.total_bytes);
}

T_TEST(tensor_parallel_divides_all_but_norms_positions_and_the_hidden_size)
{
    struct tts_inference_config config = llama_8b();
    config.tensor_parallel = 4;
    config.prefill = config.length;
    T_EQ(part_of(&config, TTS_INFERENCE_EMBEDDING), UINT64_C(1050673152) / 4);
    T_EQ(part_of(&config, TTS_INFERENCE_ATTENTION), UINT64_C(2684354560) / 4);
    T_EQ(part_of(&config, TTS_INFERENCE_MLP), UINT64_C(11274289152) / 4);
    T_EQ(part_of(&config, TTS_INFERENCE_NORMS), 65 * 262144);
    T_EQ(part_of(&config, TTS_INFERENCE_HEAD), UINT64_C(1050673152) / 4);
    T_EQ(part_of(&config, TTS_INFERENCE_CACHE), UINT64_C(1073741824) / 4);
    T_EQ(part_of(&config, TTS_INFERENCE_ACTIVATIONS),
         8192 * (4 * 4096 + 3 * 3584) * 2 + 32 * 32064 * 2);
    T_EQ(plan_on(&config, "p150").parameters, UINT64_C(8030261248));
    T_TRUE(tts_inference_part_is_estimated(&config, TTS_INFERENCE_MLP));
    T_TRUE(!tts_inference_part_is_estimated(&config, TTS_INFERENCE_NORMS));
    T_TRUE(!tts_inference_part_is_estimated(&config, TTS_INFERENCE_ROPE));
    T_TRUE(!tts_inference_part_is_estimated(&config, TTS_INFERENCE_TRACE));
    /* There are more chips than heads of k and v, so each chip has one head. */
    config.tensor_parallel = 32;
    T_EQ(part_of(&config, TTS_INFERENCE_CACHE), UINT64_C(1073741824) / 8);
}

T_TEST(the_trace_region_is_taken_off_dram)
{
    struct tts_inference_config config = tiny_llama();
    struct tts_inference without = plan_on(&config, "n150"), with;
    config.trace_bytes = 95693824; /* 12 x 7979008 bytes after rounding */
    with = plan_on(&config, "n150");
    T_EQ(with.part_bytes[TTS_INFERENCE_TRACE], 12 * 7979008);
    T_EQ(with.bank_bytes, 1062794176);
    T_EQ(with.banks, 12);
    T_EQ(with.capacity_bytes, without.capacity_bytes);
    T_EQ(with.total_bytes, without.total_bytes + UINT64_C(12) * 7979008);
    T_TRUE(with.largest_batch < without.largest_batch);

    struct tts_chip chip;
    struct tts_error err;
    struct tts_inference plan;
    T_EQ(tts_chip_preset("n150", &chip, &err), TTS_OK);
    T_EQ(tts_chip_set(&chip, "trace_region", "95693824", &err), TTS_OK);
    config.trace_bytes = 0; /* 0 means the value of the chip */
    T_EQ(tts_inference_plan(&config, &chip, NULL, &plan, &err), TTS_OK);
    T_EQ(plan.total_bytes, with.total_bytes);
    config.trace_bytes = UINT64_C(1) << 40;
    T_EQ(tts_inference_plan(&config, &chip, NULL, &plan, &err), TTS_E_INVALID);
}
