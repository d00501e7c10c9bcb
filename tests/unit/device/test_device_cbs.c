#include "device/devicepools.h"
#include "harness/device_rig.h"

#include <string.h>

enum { TILE = 2048 };

static const struct tts_core_range all = {0, 0, 7, 7}, corner = {0, 0, 1, 1};

static uint64_t cb(struct tts_device *device, const struct tts_core_range *range,
                   uint64_t bytes)
{
    uint64_t address = 0;
    struct tts_error err = {0};
    struct tts_cb add = {.ranges = range, .range_count = 1, .total_bytes = bytes};
    if (tts_device_add_cb(device, &add, &address, &err) != TTS_OK)
        fail_msg("refused: %s", err.text);
    return address;
}

static void run_fails(struct tts_device *device, const char *sentence)
{
    char text[TTS_FAILURE_TEXT_MAX];
    T_EQ(tts_device_run_program(device, NULL), TTS_E_FULL);
    T_STR_EQ(tts_failure_text(tts_device_failure(device), text), sentence);
    T_EQ(tts_device_failure(device)->pool, TTS_POOL_L1);
}

static void run_works(struct tts_device *device)
{
    T_EQ(tts_device_run_program(device, NULL), TTS_OK);
}

T_TEST(circular_buffers_begin_at_the_base_and_again_with_every_program)
{
    struct tts_device *device = device_of("n150");
    T_EQ(cb(device, &all, 100), L1_BASE);
    T_EQ(cb(device, &all, TILE), L1_BASE + 128);
    tts_device_program(device, 9);
    T_EQ(tts_cbs_count(tts_device_cbs(device)), 0);
    T_EQ(tts_cbs_program(tts_device_cbs(device)), 9);
    T_EQ(cb(device, &corner, TILE), L1_BASE);
    struct tts_cb bad = {.ranges = &(struct tts_core_range){0, 0, 8, 0}, .range_count = 1};
    struct tts_error err = {0};
    uint64_t address = 7;
    T_EQ(tts_device_add_cb(device, &bad, &address, &err), TTS_E_INVALID);
    T_TRUE(says(&err, "not inside the compute grid") && address == 7);
    T_EQ(tts_cbs_count(tts_device_cbs(device)), 1);
    tts_device_free(device);
}

T_TEST(the_region_of_a_blackhole_is_aligned_to_64_and_has_64_indices)
{
    struct tts_device *device = device_of("p150");
    T_EQ(cb(device, &all, 100), 111616);
    T_EQ(cb(device, &all, 100), 111616 + 128);
    static const struct tts_cb_index last = {.index = 63}, beyond = {.index = 64};
    static const struct tts_core_range edge = {10, 9, 10, 9};
    uint64_t address;
    struct tts_cb add = {.ranges = &edge, .range_count = 1, .indices = &last, .index_count = 1};
    T_EQ(tts_device_add_cb(device, &add, &address, NULL), TTS_OK);
    add.indices = &beyond;
    T_EQ(tts_device_add_cb(device, &add, &address, NULL), TTS_E_INVALID);
    tts_device_free(device);
}

T_TEST(a_program_that_grows_beyond_l1_is_refused)
{
    struct tts_device *device = device_in(TTS_MODE_PLACE, chip_with("n150", "32768", "0"));
    tts_device_program(device, 4);
    cb(device, &all, L1_BYTES); /* overlaps L1_SMALL, which the runtime does not check */
    run_works(device);
    struct tts_core_room room;
    T_EQ(tts_cbs_core(tts_device_cbs(device), &(struct tts_cbs_floor){0}, (struct tts_core){0},
                      &room),
         TTS_OK);
    T_EQ(room.excess_bytes, 32768);
    tts_device_program(device, 5);
    cb(device, &corner, L1_BYTES + 1);
    run_fails(device, "Statically allocated circular buffers on core range [0-0 - 1-1] grow to "
                      "1499137 B which is beyond max L1 size of 1499136 B");
    T_EQ(tts_device_failure(device)->program_id, 5);
    T_EQ(tts_device_failures(device), 1);
    T_EQ(stats_of(device, TTS_POOL_L1).failures, 1);
    tts_device_free(device);
}

T_TEST(a_program_that_grows_into_l1_buffers_is_refused_until_they_are_gone)
{
    struct tts_device *device = device_of("n150");
    struct tts_error err;
    tts_device_program(device, 12);
    T_TRUE(!tts_device_floor(device).known);
    /* Buffers in DRAM do not limit circular buffers. */
    taken(device, pages_in(TTS_POOL_DRAM, 1, TILE));
    T_TRUE(!tts_device_floor(device).known);
    cb(device, &corner, L1_BYTES - 4096);
    run_works(device);
    struct tts_buffer top = taken(device, pages_in(TTS_POOL_L1, 64, 4096));
    struct tts_cbs_floor floor = tts_device_floor(device);
    T_TRUE(floor.known && floor.address == L1_TOP - 4096 && floor.by_core == NULL);
    run_works(device); /* both are adjacent and do not overlap */
    struct tts_buffer low = taken(device, pages_in(TTS_POOL_L1, 1, 32));
    T_EQ(tts_device_floor(device).address, L1_TOP - 4096 - 32);
    run_fails(device, "Statically allocated circular buffers in program 12 clash with L1 "
                      "buffers on core range [0-0 - 1-1]. L1 buffer allocated at 1495008 and "
                      "static circular buffer region ends at 1495040");
    T_EQ(tts_device_run_program(device, &err), TTS_E_FULL);
    T_EQ(tts_device_failures(device), 2);
    given(device, low);
    run_works(device);
    given(device, top);
    T_TRUE(!tts_device_floor(device).known);
    T_EQ(tts_device_failure(device)->kind, TTS_FAILURE_CB_CLASH);
    tts_device_free(device);
}

T_TEST(without_dispatch_programs_always_run_and_overcommitted_ones_are_noted)
{
    struct tts_device *device = device_in(TTS_MODE_NO_DISPATCH, chip_of("n150"));
    cb(device, &all, L1_BYTES + 1);
    run_works(device);
    T_TRUE(tts_device_failure(device) == NULL);
    tts_device_free(device);
    device = device_in(TTS_MODE_OVERCOMMIT, chip_of("n150"));
    taken(device, pages_in(TTS_POOL_L1, 64, TILE));
    cb(device, &all, L1_BYTES);
    run_works(device);
    T_EQ(tts_device_failure(device)->kind, TTS_FAILURE_CB_CLASH);
    T_TRUE(!taken(device, pages_in(TTS_POOL_L1, 1, L1_BYTES)).placed);
    T_EQ(tts_device_failures(device), 2);
    T_EQ(tts_device_first_failure(device)->kind, TTS_FAILURE_CB_CLASH);
    T_EQ(tts_device_failure(device)->kind, TTS_FAILURE_SPACE);
    tts_device_free(device);
}

T_TEST(a_device_without_a_grid_has_no_programs)
{
    struct tts_device *device = device_of("galaxy-blackhole");
    struct tts_error err;
    uint64_t address = 7;
    struct tts_cb add = {.ranges = &corner, .range_count = 1};
    T_TRUE(tts_device_cbs(device) == NULL);
    tts_device_program(device, 1);
    T_EQ(tts_device_add_cb(device, &add, &address, &err), TTS_E_NOT_FOUND);
    T_TRUE(says(&err, "of 'galaxy-blackhole' is unknown: set 'grid'") && address == 7);
    T_EQ(tts_device_run_program(device, &err), TTS_E_NOT_FOUND);
    tts_device_free(device);
}
