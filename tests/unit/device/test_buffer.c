#include "harness/t.h"
#include "ttscope/buffer.h"

static const struct tts_core_range whole = {0, 0, 7, 7};

static struct tts_pool_layout layout(const char *preset, enum tts_pool pool)
{
    struct tts_chip chip;
    struct tts_pool_layout out;
    T_EQ(tts_chip_preset(preset, &chip, NULL), TTS_OK);
    T_EQ(tts_chip_set(&chip, "l1_small", "65536", NULL), TTS_OK);
    T_EQ(tts_chip_pool(&chip, pool, &out, NULL), TTS_OK);
    return out;
}

static enum tts_status need_of(const char *preset, const struct tts_request *request,
                               struct tts_need *out)
{
    struct tts_chip chip;
    struct tts_error err;
    struct tts_pool_layout pool = layout(preset, request->pool);
    T_EQ(tts_chip_preset(preset, &chip, NULL), TTS_OK);
    return tts_request_need(request, &pool, chip.fact[TTS_FACT_GRID].value, out, &err);
}

/* The examples from the table in docs/design/buffers.md: interleaved buffers whose pages have
 * one size. */
T_TEST(interleaved_buffers_take_what_the_table_says)
{
    static const struct {
        const char *preset;
        enum tts_pool pool;
        uint64_t pages, page_bytes, per_bank, block;
    } rows[] = {
        {"n150", TTS_POOL_DRAM, 1024, 2048, 86 * 2048, 176128},
        {"p150", TTS_POOL_DRAM, 1024, 2048, 128 * 2048, 262144},
        {"p100", TTS_POOL_DRAM, 1024, 2048, 147 * 2048, 301056},
        {"n150", TTS_POOL_L1, 1024, 2048, 16 * 2048, 32768},
        {"n150", TTS_POOL_DRAM, 1024, 1088, 86 * 1088, 93568},
        {"p150", TTS_POOL_DRAM, 1024, 1088, 139264, 139264},
        {"p100", TTS_POOL_DRAM, 1024, 1088, 159936, 159936},
        {"n150", TTS_POOL_L1, 1024, 1088, 17408, 17408},
        {"n150", TTS_POOL_DRAM, 1, 100, 128, 128},
        {"p150", TTS_POOL_DRAM, 1, 100, 128, 128},
        {"p100", TTS_POOL_DRAM, 1, 100, 128, 128},
        {"n150", TTS_POOL_L1, 1, 100, 112, 128},
        {"p150", TTS_POOL_L1, 1, 100, 112, 128},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tts_need need;
        struct tts_request request = {.pool = rows[i].pool,
                                      .size_bytes = rows[i].pages * rows[i].page_bytes,
                                      .page_bytes = rows[i].page_bytes};
        T_EQ(need_of(rows[i].preset, &request, &need), TTS_OK);
        T_EQ(need.bytes_per_bank, rows[i].per_bank);
        T_EQ(need.block_bytes, rows[i].block);
        T_EQ(need.pages, rows[i].pages);
        T_EQ(need.total_bytes, need.pages * need.page_bytes);
        T_EQ(need.banks, layout(rows[i].preset, rows[i].pool).banks);
    }
}

T_TEST(a_shard_of_three_pages_is_rounded_as_a_whole)
{
    struct tts_shard shard = {.shard_height = 3,
                              .shard_width = 32,
                              .page_height = 1,
                              .page_width = 32,
                              .cores = {&whole, 1, false}};
    struct tts_request request = {.pool = TTS_POOL_L1,
                                  .size_bytes = UINT64_C(64) * 300,
                                  .page_bytes = 100,
                                  .shard = &shard};
    struct tts_need need;
    T_EQ(need_of("n150", &request, &need), TTS_OK);
    T_EQ(need.bytes_per_bank, 336);
    T_EQ(need.block_bytes, 352);
    T_EQ(need.banks, 64);
    T_EQ(need.pages, 192);
    T_EQ(need_of("p150", &request, &need), TTS_OK);
    T_EQ(need.block_bytes, 384);
}

T_TEST(pages_of_a_classic_shard_are_divided_without_remainder)
{
    struct tts_core_range range = {0, 0, 3, 0};
    /* Two whole pages of 32 rows, and a part of a third. */
    struct tts_shard shard = {.shard_height = 95,
                              .shard_width = 70,
                              .page_height = 32,
                              .page_width = 32,
                              .cores = {&range, 1, false}};
    struct tts_request request = {.pool = TTS_POOL_L1,
                                  .size_bytes = UINT64_C(10) * 2048,
                                  .page_bytes = 2048,
                                  .shard = &shard};
    struct tts_need need;
    T_EQ(need_of("n150", &request, &need), TTS_OK);
    T_EQ(need.bytes_per_bank, 4 * 2048);
    T_EQ(need.banks, 4); /* all cores of the grid count, even without data */
}

T_TEST(a_classic_tensor_has_no_more_shards_than_cores)
{
    struct tts_core_range range = {0, 0, 3, 0};
    struct tts_shard shard = {.shard_height = 4,
                              .shard_width = 4,
                              .page_height = 1,
                              .page_width = 1,
                              .tensor_height_pages = 1,
                              .tensor_width_pages = 16,
                              .cores = {&range, 1, false}};
    struct tts_request request = {
        .pool = TTS_POOL_L1, .size_bytes = 16 * 1024, .page_bytes = 1024, .shard = &shard};
    struct tts_need need;
    T_EQ(need_of("n150", &request, &need), TTS_OK);
    shard.tensor_width_pages = 17; /* enough pages, but the tensor needs more shards */
    request.size_bytes = 17 * 1024;
    T_EQ(need_of("n150", &request, &need), TTS_E_INVALID);
    shard.tensor_width_pages = 18; /* the tensor is not as large as the buffer */
    T_EQ(need_of("n150", &request, &need), TTS_E_INVALID);
}

T_TEST(shards_of_a_distribution_go_round_the_cores)
{
    struct tts_core_range range = {0, 0, 3, 0};
    struct tts_distribution spread = {
        .rank = 3, .tensor = {2, 5, 3}, .shard = {1, 2, 3}, .cores = {&range, 1, false}};
    struct tts_request request = {.pool = TTS_POOL_L1,
                                  .size_bytes = UINT64_C(30) * 2048,
                                  .page_bytes = 2048,
                                  .distribution = &spread};
    struct tts_need need;
    T_EQ(need_of("n150", &request, &need), TTS_OK); /* 2 x 3 x 1 shards of 6 pages */
    T_EQ(need.banks, 4);
    T_EQ(need.bytes_per_bank, 2 * 6 * 2048);
    T_EQ(need.pages, 4 * 12);
    range.x1 = 7; /* there are fewer shards than cores, so only cores with a shard count */
    T_EQ(need_of("n150", &request, &need), TTS_OK);
    T_EQ(need.banks, 6);
    T_EQ(need.bytes_per_bank, 6 * 2048);
}

T_TEST(a_grid_is_trimmed_to_the_shards)
{
    struct tts_distribution spread = {.rank = 2,
                                      .tensor = {10, 6},
                                      .shard = {4, 2},
                                      .grid = true,
                                      .cores = {&whole, 1, false}};
    struct tts_request request = {.pool = TTS_POOL_L1,
                                  .size_bytes = UINT64_C(60) * 1024,
                                  .page_bytes = 1024,
                                  .distribution = &spread};
    struct tts_need need;
    T_EQ(need_of("n150", &request, &need), TTS_OK);
    T_EQ(need.banks, 9);
    T_EQ(need.bytes_per_bank, 8 * 1024);
    spread.tensor[0] = 33; /* nine rows of shards do not fit on eight rows of cores */
    request.size_bytes = UINT64_C(33) * 6 * 1024;
    T_EQ(need_of("n150", &request, &need), TTS_E_INVALID);
}

T_TEST(with_both_shardings_pages_are_of_one_and_cores_of_the_other)
{
    struct tts_shard shard = {.shard_height = 8,
                              .shard_width = 1,
                              .page_height = 1,
                              .page_width = 1,
                              .cores = {&whole, 1, false}};
    struct tts_distribution spread = {
        .rank = 1, .tensor = {20}, .shard = {8}, .cores = {&whole, 1, false}};
    struct tts_request request = {.pool = TTS_POOL_L1,
                                  .size_bytes = UINT64_C(20) * 1024,
                                  .page_bytes = 1024,
                                  .shard = &shard,
                                  .distribution = &spread};
    struct tts_need need;
    T_EQ(need_of("n150", &request, &need), TTS_OK);
    T_EQ(need.banks, 3);
    T_EQ(need.bytes_per_bank, 8 * 1024);
    shard.shard_height = 7; /* a core has too few pages for the shards dealt to it */
    T_EQ(need_of("n150", &request, &need), TTS_E_INVALID);
}

T_TEST(nothing_takes_nothing)
{
    struct tts_request request = {.pool = TTS_POOL_DRAM};
    struct tts_need need;
    T_EQ(need_of("n150", &request, &need), TTS_OK);
    T_TRUE(need.block_bytes == 0 && need.pages == 0 && need.total_bytes == 0);
}

T_TEST(what_the_runtime_does_not_take_is_refused)
{
    struct tts_core_range range = {0, 0, 8, 0}, twice[] = {{0, 0, 1, 1}, {1, 1, 2, 2}};
    struct tts_shard shard = {.shard_height = 1,
                              .shard_width = 1,
                              .page_height = 1,
                              .page_width = 1,
                              .cores = {&range, 1, false}};
    struct tts_request request = {
        .pool = TTS_POOL_L1, .size_bytes = 8192, .page_bytes = 1000, .shard = NULL};
    struct tts_need need = {.pages = 77};
    /* The size is not a multiple of the page. */
    T_EQ(need_of("n150", &request, &need), TTS_E_INVALID);
    request.page_bytes = 0;
    T_EQ(need_of("n150", &request, &need), TTS_E_INVALID);
    request.page_bytes = 1024;
    request.pool = TTS_POOL_L1_SMALL; /* L1_SMALL allows only sharded buffers */
    T_EQ(need_of("n150", &request, &need), TTS_E_INVALID);
    request.shard = &shard;
    T_EQ(need_of("n150", &request, &need), TTS_E_INVALID); /* the range is outside the grid */
    range.x1 = 6;
    /* There are eight pages for seven shards. */
    T_EQ(need_of("n150", &request, &need), TTS_E_INVALID);
    shard.cores = (struct tts_shard_cores){twice, 2, false};
    T_EQ(need_of("n150", &request, &need), TTS_E_INVALID); /* two ranges name the same core */
    shard.cores.count = 0;
    T_EQ(need_of("n150", &request, &need), TTS_E_INVALID);
    request.shard = NULL;
    request.pool = TTS_POOL_DRAM;
    request.size_bytes = UINT64_MAX;
    request.page_bytes = UINT64_MAX;
    T_EQ(need_of("n150", &request, &need), TTS_E_RANGE);
    request.page_bytes = 1;
    T_EQ(need_of("n150", &request, &need), TTS_E_RANGE);
    T_EQ(need.pages, 77); /* a failed call does not change `need` */
}

T_TEST(dram_shards_name_banks_and_are_no_more_than_cores)
{
    struct tts_core_range range = {0, 0, 11, 0};
    struct tts_shard shard = {.shard_height = 2,
                              .shard_width = 1,
                              .page_height = 1,
                              .page_width = 1,
                              .cores = {&range, 1, false}};
    struct tts_request request = {
        .pool = TTS_POOL_DRAM, .size_bytes = 24 * 2048, .page_bytes = 2048, .shard = &shard};
    struct tts_need need;
    struct tts_pool_layout pool = layout("n150", TTS_POOL_DRAM);
    T_EQ(tts_request_need(&request, &pool, TTS_GRID(8, 8), &need, NULL), TTS_OK);
    T_EQ(need.bytes_per_bank, 4096);
    T_EQ(tts_request_need(&request, &pool, TTS_GRID(11, 1), &need, NULL), TTS_E_INVALID);
    range.x1 = 12;
    T_EQ(tts_request_need(&request, &pool, TTS_GRID(8, 8), &need, NULL), TTS_E_INVALID);
}
