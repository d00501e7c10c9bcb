#include "device/device_inside.h"
#include "device/devicepools.h"
#include "harness/device_rig.h"

#include <string.h>

enum { KIB = 1024, TILE = 2048 };

static const struct tts_core_range all = {0, 0, 7, 7};

/* --- creation --------------------------------------------------------------------------- */

static void has_its_pools(const struct tts_device *device, const struct tts_chip *chip)
{
    for (int k = 0; k < TTS_POOLS; k++) {
        struct tts_pool_layout want;
        enum tts_pool pool = (enum tts_pool)k;
        const struct tts_pool_layout *got = tts_device_layout(device, pool);
        bool known = tts_chip_pool(chip, pool, &want, NULL) == TTS_OK;
        T_EQ(tts_device_pool(device, pool) != NULL, known);
        T_EQ(got != NULL, known);
        if (!known)
            continue;
        same_layout(got, &want);
        T_EQ(tts_banks_allocators(tts_device_pool(device, pool)), 1);
        T_EQ(stats_of(device, pool).space.total_bytes, want.bank_bytes);
    }
}

T_TEST(a_device_has_the_pools_of_its_chip)
{
    const struct tts_preset *preset;
    for (size_t i = 0; (preset = tts_preset_at(i)) != NULL; i++) {
        struct tts_chip chip = chip_with(preset->name, "32768", "1M");
        if (chip.fact[TTS_FACT_GRID].origin == TTS_ORIGIN_UNKNOWN)
            set(&chip, "grid", "8x8");
        struct tts_device *device = device_in(TTS_MODE_PLACE, chip);
        same_chip(tts_device_chip(device), &chip);
        has_its_pools(device, &chip);
        T_TRUE(tts_device_cbs(device) != NULL);
        tts_device_free(device);
    }
    tts_device_free(NULL);
}

T_TEST(a_pool_of_no_bytes_is_no_pool)
{
    struct tts_device *device = device_of("n150");
    struct tts_pool_stats stats;
    T_TRUE(tts_device_map(device) != NULL && tts_device_map(device)->columns == 8);
    T_TRUE(tts_device_pool(device, TTS_POOL_L1_SMALL) == NULL);
    T_TRUE(tts_device_layout(device, TTS_POOL_TRACE) == NULL);
    T_TRUE(!tts_device_stats(device, TTS_POOL_TRACE, &stats));
    T_TRUE(tts_device_pool(device, TTS_POOLS) == NULL);
    T_TRUE(!tts_device_stats(device, TTS_POOLS, &stats));
    tts_device_free(device);
}

T_TEST(a_chip_without_dram_has_l1_alone_and_one_without_cores_dram_alone)
{
    struct tts_chip chip = chip_of("grayskull");
    struct tts_error err = {.text = "untouched"};
    struct tts_device *device = NULL;
    set(&chip, "grid", "12x10");
    T_EQ(tts_device_new(&chip, NULL, NULL, &device, &err), TTS_OK);
    T_STR_EQ(err.text, "untouched");
    T_TRUE(tts_device_pool(device, TTS_POOL_L1) && !tts_device_pool(device, TTS_POOL_DRAM));
    T_TRUE(tts_device_map(device) == NULL && tts_device_cbs(device) != NULL);
    struct tts_request request = pages_in(TTS_POOL_DRAM, 1, 32);
    struct tts_buffer buffer;
    T_EQ(tts_device_alloc(device, &request, &buffer, &err), TTS_E_NOT_FOUND);
    T_TRUE(says(&err, "'dram_banks'"));
    tts_device_free(device);
    device = device_of("galaxy-blackhole");
    T_TRUE(tts_device_pool(device, TTS_POOL_DRAM) && !tts_device_pool(device, TTS_POOL_L1));
    T_TRUE(tts_device_map(device) == NULL && tts_device_cbs(device) == NULL);
    T_TRUE(!tts_device_floor(device).known);
    tts_device_free(device);
}

T_TEST(there_are_no_circular_buffers_where_a_fact_of_them_is_unknown)
{
    static const enum tts_fact_key needed[] = {TTS_FACT_GRID, TTS_FACT_L1_BASE,
                                               TTS_FACT_L1_SIZE, TTS_FACT_MAX_CBS};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        struct tts_chip chip = chip_of("n150");
        chip.fact[needed[i]] = (struct tts_fact){.source = ""};
        struct tts_device *device = device_in(TTS_MODE_PLACE, chip);
        T_TRUE(tts_device_cbs(device) == NULL);
        tts_device_free(device);
    }
}

T_TEST(a_chip_with_no_pool_and_one_that_cannot_be_are_refused)
{
    struct tts_chip chip = chip_of("quasar");
    struct tts_device *device = NULL;
    struct tts_error err = {0};
    T_EQ(tts_device_new(&chip, NULL, NULL, &device, &err), TTS_E_NOT_FOUND);
    T_EQ(err.status, TTS_E_NOT_FOUND);
    T_TRUE(says(&err, "'quasar' needs 'dram_banks': set this property"));
    T_EQ(tts_device_new(&chip, NULL, NULL, &device, NULL), TTS_E_NOT_FOUND);
    chip = chip_of("n150");
    set(&chip, "dram_banks", "13");
    T_EQ(tts_device_new(&chip, NULL, NULL, &device, &err), TTS_E_INVALID);
    chip = chip_of("n150");
    struct tts_device_config config = {0};
    int unknown = TTS_MODE_OVERCOMMIT + 1;
    memcpy(&config.mode, &unknown, sizeof config.mode);
    T_EQ(tts_device_new(&chip, &config, NULL, &device, &err), TTS_E_INVALID);
    T_TRUE(says(&err, "unknown mode 3"));
    T_TRUE(device == NULL);
}

/* --- placement -------------------------------------------------------------------------- */

T_TEST(dram_and_traces_go_up_and_l1_goes_down_unless_told)
{
    struct tts_device *device =
        device_in(TTS_MODE_PLACE, chip_with("n150", "32768", "95693824"));
    struct tts_shard shard;
    const uint64_t trace_start = DRAM_TOP - 7979008;
    struct tts_request small = sharded_in(TTS_POOL_L1_SMALL, 1, 64, &all, &shard);
    T_EQ(taken(device, pages_in(TTS_POOL_DRAM, 12, TILE)).address, DRAM_BASE);
    T_EQ(taken(device, pages_in(TTS_POOL_DRAM, 12, TILE)).address, DRAM_BASE + TILE);
    T_EQ(taken(device, pages_in(TTS_POOL_TRACE, 12, TILE)).address, trace_start);
    T_EQ(taken(device, pages_in(TTS_POOL_TRACE, 12, TILE)).address, trace_start + TILE);
    T_EQ(taken(device, pages_in(TTS_POOL_L1, 64, TILE)).address, L1_TOP - 32768 - TILE);
    T_EQ(taken(device, pages_in(TTS_POOL_L1, 64, TILE)).address, L1_TOP - 32768 - 2 * TILE);
    T_EQ(taken(device, small).address, L1_TOP - 64);
    T_EQ(taken(device, small).address, L1_TOP - 128);
    struct tts_request down = pages_in(TTS_POOL_DRAM, 1, TILE), up = down;
    down.placement = TTS_PLACE_DOWN;
    up.placement = TTS_PLACE_UP;
    T_EQ(taken(device, down).address, trace_start - TILE);
    T_EQ(taken(device, up).address, DRAM_BASE + UINT64_C(2) * TILE);
    down.pool = up.pool = TTS_POOL_TRACE;
    T_EQ(taken(device, down).address, DRAM_TOP - TILE);
    T_EQ(taken(device, up).address, trace_start + UINT64_C(2) * TILE);
    down.pool = up.pool = TTS_POOL_L1;
    T_EQ(taken(device, up).address, L1_BASE);
    T_EQ(taken(device, down).address, L1_TOP - 32768 - 3 * TILE);
    small.placement = TTS_PLACE_UP;
    T_EQ(taken(device, small).address, L1_TOP - 32768);
    tts_device_free(device);
}

T_TEST(l1_buffers_from_the_top_land_at_the_end_less_all_before)
{
    struct tts_device *device = device_of("n150");
    static const uint64_t sizes[] = {32 * KIB, 64 * KIB, 128 * KIB};
    uint64_t total = 0;
    for (size_t i = 0; total + sizes[i % 3] <= L1_BYTES; i++) {
        total += sizes[i % 3];
        struct tts_buffer buffer = taken(device, pages_in(TTS_POOL_L1, 1, sizes[i % 3]));
        T_EQ(buffer.address, L1_TOP - total);
        T_EQ(buffer.banks, 64);
    }
    T_TRUE(total > UINT64_C(1200) * KIB);
    refused(device, pages_in(TTS_POOL_L1, 1, L1_BYTES - total + 64), TTS_E_FULL);
    T_EQ(taken(device, pages_in(TTS_POOL_L1, 1, L1_BYTES - total)).address, L1_BASE);
    tts_device_free(device);
    device = device_of("n150");
    refused(device, pages_in(TTS_POOL_L1, 1, L1_BYTES + 64), TTS_E_FULL);
    T_EQ(taken(device, pages_in(TTS_POOL_L1, 1, L1_BYTES)).address, L1_BASE);
    tts_device_free(device);
}

T_TEST(a_buffer_tells_what_it_takes_of_a_bank)
{
    struct tts_device *device = device_of("n150");
    struct tts_shard shard;
    static const struct tts_core_range some = {1, 1, 3, 2};
    struct tts_buffer buffer = taken(device, pages_in(TTS_POOL_L1, 1, 100));
    T_TRUE(buffer.pool == TTS_POOL_L1 && buffer.placed && buffer.size_bytes == 100);
    T_TRUE(buffer.bytes_per_bank == 112 && buffer.block_bytes == 128 && buffer.banks == 64);
    buffer = taken(device, sharded_in(TTS_POOL_L1, 3, 100, &some, &shard));
    T_TRUE(buffer.bytes_per_bank == 336 && buffer.block_bytes == 352 && buffer.banks == 6);
    T_EQ(buffer.address, L1_TOP - 128 - 352);
    buffer = taken(device, pages_in(TTS_POOL_DRAM, 1024, 1088));
    T_TRUE(buffer.bytes_per_bank == 93568 && buffer.banks == 12);
    T_EQ(stats_of(device, TTS_POOL_L1).space.taken_bytes, 480);
    tts_device_free(device);
}

T_TEST(a_buffer_of_no_bytes_or_with_an_address_touches_nothing)
{
    struct tts_device *device = device_of("n150");
    taken(device, pages_in(TTS_POOL_L1, 64, TILE));
    struct snapshot was = snapshot_of(device);
    struct tts_buffer none = taken(device, pages_in(TTS_POOL_L1, 0, TILE));
    T_TRUE(!none.placed && none.address == 0 && none.block_bytes == 0 && none.size_bytes == 0);
    struct tts_request at = pages_in(TTS_POOL_L1, 64, TILE);
    at.placement = TTS_PLACE_AT;
    at.address = L1_TOP - TILE; /* another buffer is at this address */
    struct tts_buffer there = taken(device, at);
    T_TRUE(!there.placed && there.address == L1_TOP - TILE && there.block_bytes == 0);
    T_TRUE(there.bytes_per_bank == TILE && there.size_bytes == UINT64_C(64) * TILE);
    given(device, there);
    given(device, none);
    is_as_it_was(device, &was);
    tts_device_free(device);
}

T_TEST(what_is_given_back_can_be_taken_again_and_twice_is_harmless)
{
    struct tts_device *device = device_of("n150");
    struct tts_buffer a = taken(device, pages_in(TTS_POOL_DRAM, 12, TILE));
    struct tts_buffer b = taken(device, pages_in(TTS_POOL_DRAM, 12, TILE));
    given(device, a);
    struct snapshot was = snapshot_of(device);
    T_EQ(tts_device_release(device, &a), TTS_E_NOT_FOUND);
    struct tts_buffer nowhere = a;
    nowhere.pool = TTS_POOL_TRACE;
    T_EQ(tts_device_release(device, &nowhere), TTS_E_NOT_FOUND);
    nowhere.pool = TTS_POOLS;
    T_EQ(tts_device_release(device, &nowhere), TTS_E_NOT_FOUND);
    nowhere = (struct tts_buffer){.pool = TTS_POOL_DRAM, .block_bytes = 32};
    T_EQ(tts_device_release(device, &nowhere), TTS_E_NOT_FOUND);
    is_as_it_was(device, &was);
    T_EQ(taken(device, pages_in(TTS_POOL_DRAM, 12, TILE)).address, a.address);
    given(device, b);
    tts_device_free(device);
}

/* --- refusals --------------------------------------------------------------------------- */

T_TEST(in_l1_small_of_no_bytes_nothing_fits)
{
    struct tts_shard shard;
    struct tts_request request = sharded_in(TTS_POOL_L1_SMALL, 1, 33792, &all, &shard);
    char text[TTS_FAILURE_TEXT_MAX];
    for (enum tts_mode mode = TTS_MODE_PLACE; mode <= TTS_MODE_OVERCOMMIT; mode++) {
        struct tts_device *device = device_in(mode, chip_of("n150"));
        struct tts_buffer buffer;
        enum tts_status status = tts_device_alloc(device, &request, &buffer, NULL);
        T_EQ(status, mode == TTS_MODE_PLACE ? TTS_E_FULL : TTS_OK);
        T_EQ(tts_device_failures(device), mode == TTS_MODE_NO_DISPATCH ? 0 : 1);
        if (mode != TTS_MODE_NO_DISPATCH)
            T_STR_EQ(
                tts_failure_text(tts_device_failure(device), text),
                "Out of Memory: Not enough space to allocate 2162688 B L1_SMALL buffer "
                "across 64 banks, where each bank needs to store 33792 B, but bank size is "
                "0 B (allocated: 0 B, free: 0 B, largest free block: 0 B)");
        if (status == TTS_OK) {
            T_TRUE(!buffer.placed && buffer.block_bytes == 33792);
            T_EQ(tts_device_release(device, &buffer), TTS_OK);
            T_EQ(tts_device_release(device, &buffer), TTS_E_NOT_FOUND);
        }
        tts_device_free(device);
    }
}

T_TEST(an_odd_alignment_goes_the_long_way)
{
    struct tts_chip chip = chip_of("n150");
    set(&chip, "dram_alignment", "16M");
    set(&chip, "l1_size", "1G");
    set(&chip, "dram_banks", "1");
    struct tts_device *device = device_in(TTS_MODE_PLACE, chip);
    struct tts_request request = {
        .pool = TTS_POOL_DRAM, .size_bytes = UINT64_C(1) << 40, .page_bytes = 1};
    struct tts_buffer buffer;
    T_EQ(tts_device_alloc(device, &request, &buffer, NULL), TTS_E_RANGE);
    tts_device_free(device);
}

T_TEST(requests_that_cannot_be_are_refused_and_said_why)
{
    struct tts_device *device = device_of("n150");
    struct tts_buffer buffer;
    struct tts_error err = {0};
    struct tts_request request = pages_in(TTS_POOL_TRACE, 64, TILE);
    struct snapshot was = snapshot_of(device);
    T_EQ(tts_device_alloc(device, &request, &buffer, &err), TTS_E_NOT_FOUND);
    T_STR_EQ(err.text, "'n150' has no TRACE: set 'trace_region' to more than 0");
    request.pool = TTS_POOLS;
    T_EQ(tts_device_alloc(device, &request, &buffer, &err), TTS_E_NOT_FOUND);
    T_STR_EQ(err.text, "the pool is unknown: give one of enum tts_pool");
    request = pages_in(TTS_POOL_DRAM, 3, TILE);
    request.size_bytes++;
    T_EQ(tts_device_alloc(device, &request, &buffer, &err), TTS_E_INVALID);
    T_TRUE(says(&err, "is not a multiple of the page size"));
    request = pages_in(TTS_POOL_DRAM, 1, UINT64_MAX);
    T_EQ(tts_device_alloc(device, &request, &buffer, &err), TTS_E_RANGE);
    refused(device, request, TTS_E_RANGE);
    is_as_it_was(device, &was);
    T_TRUE(tts_device_failure(device) == NULL && tts_device_first_failure(device) == NULL);
    tts_device_free(device);
}

static void failure_is(const struct tts_failure *got, struct tts_failure want)
{
    T_TRUE(got != NULL);
    same_failure(got, &want);
    T_EQ(got->taken_bytes + got->free_bytes, got->bank_bytes);
}

T_TEST(a_refused_buffer_is_told_with_all_circumstances)
{
    struct tts_device *device = device_of("n150");
    static const struct tts_core_range some = {0, 0, 3, 1};
    struct tts_shard shard;
    char text[TTS_FAILURE_TEXT_MAX];
    struct tts_buffer low = taken(device, pages_in(TTS_POOL_L1, 1, 600000));
    taken(device, pages_in(TTS_POOL_L1, 1, 64));
    given(device, low); /* 600000 bytes are free at the top and 793408 below */
    refused(device, pages_in(TTS_POOL_L1, 65, 800000), TTS_E_FULL);
    struct tts_failure first = {.kind = TTS_FAILURE_SPACE,
                                .pool = TTS_POOL_L1,
                                .requested_bytes = UINT64_C(65) * 800000,
                                .need_bytes = 1600000,
                                .block_bytes = 1600000,
                                .banks = 64,
                                .bank_bytes = L1_BYTES,
                                .taken_bytes = 64,
                                .free_bytes = L1_BYTES - 64,
                                .largest_free_bytes = L1_BYTES - 64 - 600000};
    failure_is(tts_device_failure(device), first);
    T_STR_EQ(
        tts_failure_text(tts_device_failure(device), text),
        "Out of Memory: Not enough space to allocate 52000000 B L1 buffer across 64 banks, "
        "where each bank needs to store 1600000 B, but bank size is 1393472 B (allocated: "
        "64 B, free: 1393408 B, largest free block: 793408 B)");
    struct tts_request request = sharded_in(TTS_POOL_L1, 7, 123456, &some, &shard);
    request.size_bytes -= 123456; /* the last core now has one page less */
    refused(device, request, TTS_E_FULL);
    struct tts_failure last = first;
    last.requested_bytes = UINT64_C(8) * 7 * 123456;
    last.need_bytes = last.block_bytes = UINT64_C(7) * 123456;
    last.banks = 8;
    failure_is(tts_device_failure(device), last);
    request = sharded_in(TTS_POOL_L1, 9, 100000 + 1, &some, &shard);
    refused(device, request, TTS_E_FULL);
    last.requested_bytes = UINT64_C(8) * 9 * 100016;
    last.need_bytes = UINT64_C(9) * 100016;
    last.block_bytes = last.need_bytes + 16;
    failure_is(tts_device_failure(device), last);
    failure_is(tts_device_first_failure(device), first);
    T_EQ(tts_device_failures(device), 3);
    T_EQ(stats_of(device, TTS_POOL_L1).failures, 3);
    T_EQ(stats_of(device, TTS_POOL_DRAM).failures, 0);
    tts_device_free(device);
}

/* No chip has a limit above the base of a pool, but the rules of the runtime allow one. */
T_TEST(a_buffer_below_the_limit_is_told_by_its_address_alone)
{
    struct tts_device *device = device_of("n150");
    static const struct tts_core_range one = {0, 0, 0, 0};
    struct tts_shard shard;
    device->pools[TTS_POOL_L1].layout.limit = L1_BASE + 64;
    struct tts_request request = pages_in(TTS_POOL_L1, 1, 32);
    request.placement = TTS_PLACE_UP;
    refused(device, request, TTS_E_BELOW_LIMIT);
    failure_is(tts_device_failure(device), (struct tts_failure){.kind = TTS_FAILURE_BELOW_LIMIT,
                                                                .pool = TTS_POOL_L1,
                                                                .address = L1_BASE,
                                                                .limit = L1_BASE + 64});
    T_EQ(stats_of(device, TTS_POOL_L1).buffers, 0);
    /* The limit is not for sharded buffers. */
    request = sharded_in(TTS_POOL_L1, 1, 32, &one, &shard);
    request.placement = TTS_PLACE_UP;
    T_EQ(taken(device, request).address, L1_BASE + 32);
    tts_device_free(device);
    device = device_in(TTS_MODE_OVERCOMMIT, chip_of("n150"));
    device->pools[TTS_POOL_L1].layout.limit = L1_TOP;
    struct tts_buffer buffer = taken(device, pages_in(TTS_POOL_L1, 1, 32));
    T_TRUE(!buffer.placed && buffer.address == 0);
    T_EQ(tts_device_failure(device)->address, L1_TOP - 32);
    tts_device_free(device);
}
