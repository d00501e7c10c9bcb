/* Tests the check that the runtime makes, and the room that is left on each core. */
#include "harness/cbs_rig.h"

#include <string.h>

/* --- the check -------------------------------------------------------------------------- */

static void fits(const struct tts_cbs *cbs, const struct tts_cbs_floor *floor)
{
    struct tts_failure failure = {.banks = 77};
    T_EQ(tts_cbs_check(cbs, floor, &failure), TTS_OK);
    T_EQ(failure.banks, 77);
}

static struct tts_failure fails(const struct tts_cbs *cbs, const struct tts_cbs_floor *floor)
{
    struct tts_failure failure;
    memset(&failure, 0xff, sizeof failure);
    T_EQ(tts_cbs_check(cbs, floor, &failure), TTS_E_FULL);
    T_EQ(failure.pool, TTS_POOL_L1);
    T_EQ(failure.requested_bytes, 0);
    return failure;
}

T_TEST(the_region_may_end_with_l1_and_no_higher)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    on(cbs, all, L1 - BASE);
    fits(cbs, &no_buffers);
    tts_cbs_reset(cbs, 0);
    on(cbs, all, L1 - BASE + 1);
    struct tts_failure failure = fails(cbs, &no_buffers);
    T_EQ(failure.kind, TTS_FAILURE_CB_BEYOND);
    T_EQ(failure.l1_bytes, L1);
    T_EQ(failure.l1_address, 0);
    T_EQ(tts_failure_deficit(&failure), 1);
    tts_cbs_free(cbs);
}

T_TEST(l1_small_is_not_part_of_what_the_runtime_checks)
{
    struct tts_cbs_config config = wormhole;
    config.l1_small_bytes = 32768;
    struct tts_cbs *cbs = cbs_of(config);
    on(cbs, all, L1 - BASE);
    fits(cbs, &no_buffers);
    T_EQ(room_of(cbs, &no_buffers, 0, 0).excess_bytes, 32768);
    tts_cbs_free(cbs);
}

/* The numbers are from tenstorrent/tt-metal#36426. */
T_TEST(a_program_beyond_l1_fails_in_the_words_of_the_report)
{
    struct tts_cbs_config config = wormhole;
    config.base = 103552;
    struct tts_cbs *cbs = cbs_of(config);
    tts_cbs_reset(cbs, 5);
    on(cbs, all, 790 * TILE);
    struct tts_cbs_floor low = {.known = true, .address = 103552};
    struct tts_failure failure = fails(cbs, &low); /* the runtime checks "beyond L1" first */
    char text[TTS_FAILURE_TEXT_MAX];
    T_STR_EQ(
        tts_failure_text(&failure, text),
        "Statically allocated circular buffers on core range [0-0 - 7-7] grow to 1721472 B "
        "which is beyond max L1 size of 1499136 B");
    T_EQ(tts_failure_deficit(&failure), 222336);
    tts_cbs_free(cbs);
}

/* The numbers are from tenstorrent/tt-xla#5206. */
T_TEST(a_program_in_l1_buffers_fails_in_the_words_of_the_report)
{
    struct tts_cbs_config config = wormhole;
    config.base = 103840;
    struct tts_cbs *cbs = cbs_of(config);
    tts_cbs_reset(cbs, 350188);
    T_EQ(tts_cbs_program(cbs), 350188);
    on(cbs, all, TILE);
    on(cbs, all, TILE);
    struct tts_cbs_floor floor = {.known = true, .address = 107936};
    fits(cbs, &floor);
    floor.address = 104448;
    struct tts_failure failure = fails(cbs, &floor);
    char text[TTS_FAILURE_TEXT_MAX];
    T_STR_EQ(tts_failure_text(&failure, text),
             "Statically allocated circular buffers in program 350188 clash with L1 buffers on "
             "core range [0-0 - 7-7]. L1 buffer allocated at 104448 and static circular buffer "
             "region ends at 107936");
    T_EQ(tts_failure_deficit(&failure), 3488);
    T_EQ(failure.l1_bytes, 0);
    floor.known = false;
    fits(cbs, &floor);
    tts_cbs_free(cbs);
}

T_TEST(the_range_that_came_up_first_is_the_one_that_fails)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    struct tts_core_range left = {0, 0, 3, 7}, right = {4, 0, 7, 7};
    on(cbs, left, 10 * TILE);
    on_both(cbs, right, left, TILE);
    struct tts_cbs_floor floor = {.known = true, .address = BASE + 10 * TILE};
    struct tts_failure failure = fails(cbs, &floor);
    T_EQ(failure.range.x0, 0);
    T_EQ(failure.region_end, BASE + 11 * TILE);
    tts_cbs_reset(cbs, 0);
    on_both(cbs, right, left, TILE);
    on(cbs, left, L1);
    floor.address = BASE + TILE - 1;
    failure = fails(cbs, &floor);
    /* Only a later range grows beyond L1, so the clash comes first. */
    T_EQ(failure.kind, TTS_FAILURE_CB_CLASH);
    T_EQ(failure.range.x0, 4);
    tts_cbs_free(cbs);
}

T_TEST(a_range_with_nothing_but_global_ones_has_no_region)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    struct tts_cbs_floor floor = {.known = true, .address = 1};
    global_on(cbs, all, UINT64_MAX - TILE);
    fits(cbs, &floor);
    /* A range has a region as soon as another circular buffer is placed on one of its cores. */
    on(cbs, (struct tts_core_range){2, 2, 2, 2}, TILE);
    struct tts_failure failure = fails(cbs, &floor);
    T_EQ(failure.range.x1, 7);
    T_EQ(failure.region_end, BASE + TILE);
    tts_cbs_reset(cbs, 0);
    on(cbs, (struct tts_core_range){2, 2, 2, 2}, TILE);
    global_on(cbs, all, BASE); /* places both in the other order */
    floor.address = BASE + TILE;
    fits(cbs, &floor);
    T_EQ(on(cbs, all, TILE), BASE + TILE);
    tts_cbs_free(cbs);
}

T_TEST(with_a_floor_for_each_core_only_those_of_the_range_count)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    uint64_t floors[64];
    for (size_t i = 0; i < COUNT(floors); i++)
        floors[i] = UINT64_MAX;
    struct tts_cbs_floor floor = {.known = true, .address = 1, .by_core = floors};
    on(cbs, (struct tts_core_range){2, 3, 4, 5}, TILE);
    fits(cbs, &floor);
    floors[2 * 8 + 2] = floors[6 * 8 + 4] = floors[3 * 8 + 1] = floors[5 * 8 + 5] = 0;
    fits(cbs, &floor);
    floors[5 * 8 + 4] = BASE + TILE;
    fits(cbs, &floor);
    floors[5 * 8 + 4] = BASE + TILE - 1;
    floors[3 * 8 + 2] = BASE + TILE - 2;
    struct tts_failure failure = fails(cbs, &floor);
    T_EQ(failure.l1_address, BASE + TILE - 2);
    T_EQ(room_of(cbs, &floor, 4, 5).ceiling, BASE + TILE - 1);
    T_EQ(room_of(cbs, &floor, 3, 4).ceiling, L1);
    floor.known = false;
    fits(cbs, &floor);
    tts_cbs_free(cbs);
}

/* --- room ------------------------------------------------------------------------------- */

T_TEST(a_core_has_what_lies_between_its_region_and_the_lowest_buffer)
{
    struct tts_cbs_config config = wormhole;
    config.l1_small_bytes = 65536;
    struct tts_cbs *cbs = cbs_of(config);
    struct tts_core_room room = room_of(cbs, &no_buffers, 7, 7);
    T_EQ(room.cb_bytes, 0);
    T_EQ(room.region_end, BASE);
    T_EQ(room.ceiling, L1 - 65536);
    T_EQ(room.free_bytes, L1 - 65536 - BASE);
    T_EQ(room.excess_bytes, 0);
    on(cbs, all, 100);
    struct tts_cbs_floor floor = {.known = true, .address = BASE + 120};
    room = room_of(cbs, &floor, 7, 7);
    T_EQ(room.cb_bytes, 100);
    T_EQ(room.ceiling, BASE + 120);
    T_EQ(room.free_bytes, 20);
    floor.address = BASE + 40;
    room = room_of(cbs, &floor, 7, 7);
    T_EQ(room.free_bytes, 0);
    T_EQ(room.excess_bytes, 60);
    floor.address = L1; /* L1_SMALL begins below this address */
    T_EQ(room_of(cbs, &floor, 7, 7).ceiling, L1 - 65536);
    room.cb_bytes = 77;
    T_EQ(tts_cbs_core(cbs, &floor, (struct tts_core){8, 0}, &room), TTS_E_RANGE);
    T_EQ(tts_cbs_core(cbs, &floor, (struct tts_core){0, 8}, &room), TTS_E_RANGE);
    T_EQ(room.cb_bytes, 77);
    tts_cbs_free(cbs);
}

static void tightest_is(const struct tts_cbs *cbs, const struct tts_cbs_floor *floor,
                        uint16_t x, uint16_t y)
{
    struct tts_core_room room = {0}, same;
    struct tts_core core = tts_cbs_tightest(cbs, floor, &room);
    T_EQ(core.x, x);
    T_EQ(core.y, y);
    same = room_of(cbs, floor, x, y);
    T_MEM_EQ(&room, &same, sizeof room);
}

T_TEST(the_tightest_core_has_the_least_room_and_the_lowest_place)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    tightest_is(cbs, &no_buffers, 0, 0);
    on(cbs, (struct tts_core_range){3, 2, 5, 6}, TILE);
    tightest_is(cbs, &no_buffers, 3, 2);
    on(cbs, (struct tts_core_range){5, 6, 6, 6}, TILE);
    tightest_is(cbs, &no_buffers, 5, 6);
    uint64_t floors[64];
    for (size_t i = 0; i < COUNT(floors); i++)
        floors[i] = BASE + TILE;
    struct tts_cbs_floor floor = {.known = true, .by_core = floors};
    tightest_is(cbs, &floor, 5, 6); /* core (5, 6) has one tile too much */
    floors[7 * 8 + 1] = BASE - 1;
    tightest_is(cbs, &floor, 5, 6);
    floors[4 * 8 + 4] = BASE - 1; /* core (4, 4) has one tile and one byte too much */
    tightest_is(cbs, &floor, 4, 4);
    tts_cbs_free(cbs);
}
