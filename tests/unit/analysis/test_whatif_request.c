#include "harness/t.h"
#include "analysis/whatif.h"
#include "harness/chip_tools.h"

static struct tts_event alloc_of(enum tts_pool pool, uint64_t size, uint64_t page)
{
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, 0);
    event.pool = pool;
    event.size_bytes = size;
    event.page_bytes = page;
    return event;
}

static void map(const struct tts_event *event, const char *preset,
                struct tts_whatif_request *out)
{
    struct tts_chip chip = chip_of(preset);
    struct tts_error err = {0};
    if (tts_whatif_map(event, &chip, out, &err) != TTS_OK)
        fail_msg("%s", err.text);
}

static uint64_t block_of(const struct tts_whatif_request *request, const char *preset)
{
    struct tts_chip chip = chip_of(preset);
    struct tts_pool_layout layout;
    struct tts_need need;
    struct tts_error err = {0};
    T_EQ(tts_chip_pool(&chip, request->request.pool, &layout, &err), TTS_OK);
    if (tts_request_need(&request->request, &layout, value_of(&chip, TTS_FACT_GRID), &need,
                         &err) != TTS_OK)
        fail_msg("%s", err.text);
    return need.block_bytes;
}

T_TEST(interleaved_stays_as_it_was_asked_for)
{
    struct tts_whatif_request out;
    struct tts_event event = alloc_of(TTS_POOL_DRAM, 64 * 1088, 1088);
    event.placement = TTS_PLACE_DOWN;
    map(&event, "p150", &out);
    T_TRUE(out.request.size_bytes == 64 * 1088 && out.request.page_bytes == 1088);
    T_TRUE(out.request.placement == TTS_PLACE_DOWN && out.request.shard == NULL);
    T_TRUE(!out.page_is_unknown && !out.is_padded);
    /* The address of another device has no meaning on this device. */
    event.placement = TTS_PLACE_AT;
    map(&event, "p150", &out);
    T_EQ(out.request.placement, TTS_PLACE_DEFAULT);
}

T_TEST(a_page_that_does_not_divide_the_size_ends_in_a_whole_one)
{
    struct tts_whatif_request out;
    struct tts_event event = alloc_of(TTS_POOL_DRAM, 5000, 2048);
    map(&event, "n150", &out);
    T_TRUE(out.request.size_bytes == 6144 && out.request.page_bytes == 2048 && out.is_padded);
    event = alloc_of(TTS_POOL_DRAM, 100, 2048);
    map(&event, "n150", &out);
    T_TRUE(out.request.size_bytes == 2048 && out.is_padded);
}

T_TEST(a_page_that_is_not_known_is_taken_as_2048)
{
    struct tts_whatif_request out;
    struct tts_event event = alloc_of(TTS_POOL_L1, 8192, 0);
    map(&event, "n150", &out);
    T_TRUE(out.page_is_unknown && !out.is_padded && out.request.page_bytes == 2048);
    T_EQ(out.request.size_bytes, 8192);
    event = alloc_of(TTS_POOL_L1, 8193, 0);
    map(&event, "n150", &out);
    T_TRUE(out.page_is_unknown && out.is_padded && out.request.size_bytes == 5 * 2048);
    event = alloc_of(TTS_POOL_L1, 2047, 0); /* a buffer smaller than a page is one page */
    map(&event, "n150", &out);
    T_TRUE(out.request.page_bytes == 2047 && out.request.size_bytes == 2047);
}

T_TEST(a_sharded_buffer_keeps_what_a_core_has)
{
    struct tts_whatif_request out;
    struct tts_event event = alloc_of(TTS_POOL_L1, 56 * 6144, 2048);
    event.cores = 56;
    event.bytes_per_bank = 6144;
    map(&event, "n150", &out);
    T_TRUE(out.request.page_bytes == 6144 && out.request.size_bytes == 56 * 6144);
    T_EQ(out.shard.cores.count, 1);
    T_TRUE(out.ranges[0].x1 == 7 && out.ranges[0].y1 == 6);
    T_EQ(block_of(&out, "n150"), 6144);
    event.bytes_per_bank = 0;
    event.size_bytes = 56 * 6144 - 1;
    map(&event, "n150", &out);
    T_EQ(block_of(&out, "n150"), 6144);
}

T_TEST(shards_go_over_the_first_cores_row_by_row)
{
    struct tts_whatif_request out;
    struct tts_event event = alloc_of(TTS_POOL_L1, 64 * 2048, 2048);
    static const struct {
        uint32_t cores;
        size_t count;
        struct tts_core_range ranges[2];
    } cases[] = {{1, 1, {{0, 0, 0, 0}}},
                 {8, 1, {{0, 0, 7, 0}}},
                 {11, 2, {{0, 0, 7, 0}, {0, 1, 2, 1}}},
                 {64, 1, {{0, 0, 7, 7}}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        event.cores = cases[i].cores;
        map(&event, "n150", &out);
        T_EQ(out.shard.cores.count, cases[i].count);
        T_MEM_EQ(out.ranges, cases[i].ranges, cases[i].count * sizeof out.ranges[0]);
        T_TRUE(out.request.shard == &out.shard && out.shard.cores.ranges == out.ranges);
    }
    event.pool = TTS_POOL_DRAM;
    event.cores = 12;
    map(&event, "n150", &out);
    T_TRUE(out.shard.cores.count == 1 && out.ranges[0].x1 == 11 && out.ranges[0].y1 == 0);
}

T_TEST(more_cores_than_there_are_has_its_own_words)
{
    struct tts_whatif_request out;
    struct tts_error err = {0};
    struct tts_chip chip = chip_of("n150");
    struct tts_event event = alloc_of(TTS_POOL_L1, 64 * 2048, 2048);
    set(&chip, "grid", "8x7");
    event.cores = 64;
    T_EQ(tts_whatif_map(&event, &chip, &out, &err), TTS_E_RANGE);
    T_STR_EQ(err.text, "the buffer needs 64 cores, but the grid has 56");
    event.pool = TTS_POOL_DRAM;
    event.cores = 13;
    T_EQ(tts_whatif_map(&event, &chip, &out, &err), TTS_E_RANGE);
    T_STR_EQ(err.text, "the buffer needs 13 banks, but the device has 12");
    chip.fact[TTS_FACT_GRID].origin = TTS_ORIGIN_UNKNOWN;
    event.pool = TTS_POOL_L1;
    T_EQ(tts_whatif_map(&event, &chip, &out, &err), TTS_E_NOT_FOUND);
    T_STR_EQ(err.text, "'grid' is unknown: set this property of the device");
}

T_TEST(l1_small_is_always_sharded)
{
    struct tts_whatif_request out;
    struct tts_event event = alloc_of(TTS_POOL_L1_SMALL, 64 * 512, 0);
    event.bytes_per_bank = 512;
    map(&event, "n150", &out);
    T_TRUE(out.request.shard != NULL && out.request.page_bytes == 512);
    T_EQ(out.request.size_bytes, 512);
}

T_TEST(what_is_past_64_bits_is_not_asked_for)
{
    struct tts_whatif_request out;
    struct tts_error err = {0};
    struct tts_chip chip = chip_of("n150");
    struct tts_event event = alloc_of(TTS_POOL_DRAM, 3, UINT64_MAX - 1);
    map(&event, "n150", &out);
    T_EQ(out.request.size_bytes, UINT64_MAX - 1);
    event = alloc_of(TTS_POOL_DRAM, UINT64_MAX, UINT64_C(1) << 63);
    T_EQ(tts_whatif_map(&event, &chip, &out, &err), TTS_E_INVALID);
    event = alloc_of(TTS_POOL_L1, 4096, 2048);
    event.cores = 2;
    event.bytes_per_bank = UINT64_C(1) << 63;
    T_EQ(tts_whatif_map(&event, &chip, &out, &err), TTS_E_INVALID);
    T_STR_EQ(err.text, "the size of the buffer does not fit in 64 bits");
}
