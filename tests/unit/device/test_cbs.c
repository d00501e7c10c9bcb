/* Tests where circular buffers are placed, which ones are refused, and how many a program can
 * have. */
#include "harness/cbs_rig.h"

/* --- placement -------------------------------------------------------------------------- */

T_TEST(each_begins_where_the_one_before_ends_rounded_up)
{
    struct tts_cbs_config config = wormhole;
    config.base = BASE + 1;
    struct tts_cbs *cbs = cbs_of(config);
    T_EQ(on(cbs, all, 33), BASE + 32);
    T_EQ(on(cbs, all, 32), BASE + 96);
    T_EQ(on(cbs, all, 1), BASE + 128);
    room_is(cbs, 3, 66, BASE + 129);
    tts_cbs_free(cbs);
    config.alignment_bytes = 64;
    cbs = cbs_of(config);
    T_EQ(on(cbs, all, 1), BASE + 64);
    T_EQ(on(cbs, all, 1), BASE + 128);
    tts_cbs_free(cbs);
}

T_TEST(ranges_without_a_common_core_grow_apart)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    struct tts_core_range left = {0, 0, 3, 7}, right = {4, 0, 7, 7};
    T_EQ(on(cbs, left, TILE), BASE);
    T_EQ(on(cbs, right, 4 * TILE), BASE);
    T_EQ(on(cbs, left, TILE), BASE + TILE);
    T_EQ(on(cbs, right, TILE), BASE + 4 * TILE);
    room_is(cbs, 3, 2 * TILE, BASE + 2 * TILE);
    room_is(cbs, 4, 5 * TILE, BASE + 5 * TILE);
    tts_cbs_free(cbs);
}

T_TEST(several_ranges_begin_at_the_highest_of_them)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    struct tts_core_range left = {0, 0, 3, 7}, right = {4, 0, 7, 7};
    T_EQ(on(cbs, left, TILE), BASE);
    T_EQ(on(cbs, right, 4 * TILE), BASE);
    T_EQ(on_both(cbs, left, right, TILE), BASE + 4 * TILE);
    T_EQ(on(cbs, left, TILE), BASE + 5 * TILE);
    /* Between its circular buffers is a hole of three tiles. */
    room_is(cbs, 0, 3 * TILE, BASE + 6 * TILE);
    T_EQ(tts_cbs_at(cbs, 2)->overlaps, 0);
    tts_cbs_free(cbs);
}

T_TEST(a_range_that_shares_a_core_is_pushed_up)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    T_EQ(on(cbs, (struct tts_core_range){0, 0, 2, 2}, TILE), BASE);
    T_EQ(on(cbs, (struct tts_core_range){2, 2, 4, 4}, TILE), BASE + TILE);
    T_EQ(on(cbs, (struct tts_core_range){3, 3, 3, 3}, TILE), BASE + 2 * TILE);
    T_EQ(on(cbs, (struct tts_core_range){0, 0, 0, 0}, TILE), BASE + TILE);
    T_EQ(on(cbs, (struct tts_core_range){5, 5, 5, 5}, TILE), BASE);
    tts_cbs_free(cbs);
}

/* The end of the middle range comes from the right range. The middle range does not know the
 * higher end of the left one. */
T_TEST(a_range_that_overlaps_two_is_laid_over_the_larger)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    struct tts_core_range left = {0, 0, 1, 0}, middle = {1, 0, 2, 0}, right = {2, 0, 3, 0};
    T_EQ(on(cbs, right, 2 * TILE), BASE);
    T_EQ(on(cbs, left, 4 * TILE), BASE);
    T_EQ(on(cbs, middle, TILE), BASE + 2 * TILE);
    T_EQ(tts_cbs_at(cbs, 1)->overlaps, 0);
    T_EQ(tts_cbs_at(cbs, 2)->overlaps, 1);
    room_is(cbs, 0, 4 * TILE, BASE + 4 * TILE);
    /* Two circular buffers share one tile, which counts once. */
    room_is(cbs, 1, 4 * TILE, BASE + 4 * TILE);
    room_is(cbs, 2, 3 * TILE, BASE + 3 * TILE);
    tts_cbs_free(cbs);
}

T_TEST(a_range_around_two_is_laid_over_the_later_one)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    struct tts_core_range first = {0, 0, 0, 0}, second = {1, 0, 1, 0}, both = {0, 0, 1, 0};
    T_EQ(on(cbs, first, 2 * TILE), BASE);
    T_EQ(on(cbs, second, 5 * TILE), BASE);
    T_EQ(on(cbs, both, TILE), BASE + 2 * TILE);
    T_EQ(tts_cbs_at(cbs, 2)->overlaps, 1);
    T_EQ(on(cbs, second, TILE), BASE + 5 * TILE); /* `second` has an end of its own */
    T_EQ(tts_cbs_at(cbs, 3)->overlaps, 0);
    T_EQ(on(cbs, both, TILE), BASE + 6 * TILE);
    tts_cbs_free(cbs);
}

T_TEST(one_can_lie_over_several)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    on(cbs, (struct tts_core_range){0, 0, 0, 0}, 64);
    on(cbs, (struct tts_core_range){1, 0, 1, 0}, 96);
    on(cbs, (struct tts_core_range){2, 0, 2, 0}, 192);
    on(cbs, (struct tts_core_range){3, 0, 3, 0}, 32);
    T_EQ(on(cbs, (struct tts_core_range){0, 0, 3, 0}, 96), BASE + 64);
    T_EQ(tts_cbs_at(cbs, 4)->overlaps, 2);
    room_is(cbs, 0, 160, BASE + 160);
    room_is(cbs, 1, 160, BASE + 160);
    room_is(cbs, 2, 192, BASE + 192);
    room_is(cbs, 3, 128, BASE + 160);
    tts_cbs_free(cbs);
}

T_TEST(a_range_that_comes_up_late_sees_all_that_is_there)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    struct tts_core_range left = {0, 0, 0, 7}, right = {1, 0, 1, 7}, both = {0, 0, 1, 7};
    for (uint64_t i = 0; i < 130; i++)
        T_EQ(on(cbs, left, 32), BASE + 32 * i);
    T_EQ(on(cbs, right, 200 * 32), BASE);
    /* More than 128 circular buffers need more than two words. */
    T_EQ(on(cbs, both, 64), BASE + 130 * 32);
    T_EQ(tts_cbs_at(cbs, 131)->overlaps, 1);
    T_EQ(on(cbs, right, 32), BASE + 200 * 32);
    T_EQ(on(cbs, (struct tts_core_range){0, 3, 1, 3}, 32), BASE + 201 * 32);
    room_is(cbs, 0, 132 * 32, BASE + 132 * 32);
    tts_cbs_free(cbs);
}

T_TEST(nothing_at_all_is_placed_and_takes_nothing)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    T_EQ(on(cbs, all, 40), BASE);
    T_EQ(on(cbs, all, 0), BASE + 64);
    T_EQ(on(cbs, (struct tts_core_range){1, 0, 1, 0}, 8), BASE + 64);
    room_is(cbs, 0, 40, BASE + 40);
    room_is(cbs, 1, 48, BASE + 72);
    tts_cbs_free(cbs);
}

T_TEST(several_indices_share_one_piece_of_memory)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    struct tts_cb_index indices[] = {{0, TILE}, {3, 1024}, {31, 0}};
    struct tts_cb cb = {.ranges = &all,
                        .range_count = 1,
                        .total_bytes = 4 * TILE,
                        .indices = indices,
                        .index_count = 3};
    T_EQ(added(cbs, &cb), BASE);
    T_EQ(tts_cbs_at(cbs, 0)->indices, UINT64_C(1) << 31 | 1 << 3 | 1);
    T_EQ(tts_cbs_at(cbs, 0)->total_bytes, 4 * TILE);
    T_EQ(on(cbs, all, TILE), BASE + 4 * TILE);
    room_is(cbs, 0, 5 * TILE, BASE + 5 * TILE);
    tts_cbs_free(cbs);
}

T_TEST(one_on_an_l1_buffer_takes_nothing_of_the_region)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    T_EQ(global_on(cbs, all, 1400000), 1400000);
    T_EQ(on(cbs, all, TILE), BASE);
    /* A global circular buffer may overlap another one, because the runtime does not check
     * it. */
    T_EQ(global_on(cbs, all, BASE), BASE);
    T_EQ(on(cbs, all, TILE), BASE + TILE);
    for (size_t i = 0; i < 4; i++)
        T_EQ(tts_cbs_at(cbs, i)->overlaps, 0);
    T_TRUE(tts_cbs_at(cbs, 0)->global && !tts_cbs_at(cbs, 1)->global);
    T_EQ(tts_cbs_at(cbs, 0)->address, 1400000);
    room_is(cbs, 7, 2 * TILE, BASE + 2 * TILE);
    tts_cbs_free(cbs);
}

T_TEST(what_was_placed_is_listed_in_order_with_its_ranges)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    struct tts_core_range left = {0, 0, 3, 6}, right = {4, 1, 7, 7};
    T_TRUE(tts_cbs_at(cbs, 0) == NULL);
    on(cbs, all, 32);
    on_both(cbs, right, left, 64);
    T_TRUE(tts_cbs_at(cbs, 2) == NULL);
    const struct tts_cb_placed *second = tts_cbs_at(cbs, 1);
    T_EQ(tts_cbs_at(cbs, 0)->first_range, 0);
    T_EQ(tts_cbs_at(cbs, 0)->range_count, 1);
    T_EQ(second->address, BASE + 32);
    T_EQ(second->total_bytes, 64);
    T_EQ(second->first_range, 1);
    T_EQ(second->range_count, 2);
    struct tts_core_range range = tts_cbs_range(cbs, 2);
    T_MEM_EQ(&range, &left, sizeof left);
    range = tts_cbs_range(cbs, 1);
    T_MEM_EQ(&range, &right, sizeof right);
    tts_cbs_free(cbs);
}

/* --- refusals --------------------------------------------------------------------------- */

static void refused(struct tts_cbs *cbs, struct tts_cb cb, enum tts_status status,
                    const char *text)
{
    uint64_t address = 77;
    struct tts_error err = {0};
    T_EQ(tts_cbs_add(cbs, &cb, &address, &err), status);
    T_STR_EQ(err.text, text);
    T_EQ(err.status, status);
    T_EQ(address, 77);
    T_EQ(tts_cbs_add(cbs, &cb, &address, NULL), status);
}

T_TEST(ranges_that_cannot_be_are_refused)
{
    struct tts_cbs_config config = wormhole;
    config.rows = 7;
    struct tts_cbs *cbs = cbs_of(config);
    static const struct {
        struct tts_core_range ranges[2];
        const char *text;
    } cases[] = {
        {{{0, 0, 7, 6}, {7, 6, 7, 6}},
         "core range 7-6..7-6 overlaps another range of the same circular buffer (grid "
         "8x7)"},
        {{{0, 0, 1, 1}, {0, 0, 8, 0}},
         "core range 0-0..8-0 is not inside the compute grid (grid 8x7)"},
        {{{0, 0, 1, 1}, {2, 2, 3, 7}},
         "core range 2-2..3-7 is not inside the compute grid (grid 8x7)"},
        {{{65535, 65535, 65535, 65535}, {0}},
         "core range 65535-65535..65535-65535 is not inside the compute grid (grid 8x7)"},
        {{{3, 0, 2, 1}, {0}}, "core range 3-0..2-1 ends before it begins (grid 8x7)"},
        {{{0, 1, 2, 0}, {0}}, "core range 0-1..2-0 ends before it begins (grid 8x7)"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tts_cb cb = {.ranges = cases[i].ranges, .range_count = 2, .total_bytes = 32};
        refused(cbs, cb, TTS_E_INVALID, cases[i].text);
    }
    refused(cbs, (struct tts_cb){.total_bytes = 32}, TTS_E_INVALID,
            "circular buffer has 0 core ranges, expected 1 to 64");
    struct tts_core_range many[TTS_RANGES_MAX + 1] = {0};
    refused(cbs, (struct tts_cb){.ranges = many, .range_count = COUNT(many)}, TTS_E_INVALID,
            "circular buffer has 65 core ranges, expected 1 to 64");
    T_TRUE(tts_cbs_at(cbs, 0) == NULL);
    tts_cbs_free(cbs);
}

T_TEST(pages_and_indices_that_cannot_be_are_refused_for_global_ones_too)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    static const struct {
        struct tts_cb_index indices[2];
        size_t count;
        uint64_t total_bytes;
        const char *text;
    } cases[] = {
        {{{32, 0}}, 1, 32, "buffer index 32 is too high: a core has only 32 indices"},
        {{{UINT32_MAX, 0}},
         1,
         32,
         "buffer index 4294967295 is too high: a core has only 32 indices"},
        {{{5, 0}, {5, 0}}, 2, 32, "buffer index 5 is named twice"},
        {{{0, 32}, {1, 33}},
         2,
         64,
         "total size 64 of buffer index 1 is not a multiple of its page size 33"},
        {{{2, 128}},
         1,
         64,
         "total size 64 of buffer index 2 is not a multiple of its page size "
         "128"},
        {{{2, 1}}, 1, 65536, "buffer index 2 has 65536 pages, expected at most 65535"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tts_cb cb = {.ranges = &all,
                            .range_count = 1,
                            .total_bytes = cases[i].total_bytes,
                            .indices = cases[i].indices,
                            .index_count = cases[i].count};
        refused(cbs, cb, TTS_E_INVALID, cases[i].text);
        cb.global = true;
        refused(cbs, cb, TTS_E_INVALID, cases[i].text);
    }
    struct tts_cb_index most = {2, 1};
    struct tts_cb cb = {.ranges = &all,
                        .range_count = 1,
                        .total_bytes = 65535,
                        .indices = &most,
                        .index_count = 1};
    T_EQ(added(cbs, &cb), BASE);
    tts_cbs_free(cbs);
}

static struct tts_cb with_index(const struct tts_core_range *range,
                                const struct tts_cb_index *index)
{
    return (struct tts_cb){.ranges = range,
                           .range_count = 1,
                           .total_bytes = 32,
                           .indices = index,
                           .index_count = 1};
}

T_TEST(an_index_is_used_once_on_a_core)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    struct tts_core_range left = {0, 0, 3, 7}, right = {4, 0, 7, 7}, corner = {7, 7, 7, 7};
    struct tts_cb_index three = {3, 0}, four = {4, 0};
    struct tts_cb cb = with_index(&left, &three);
    added(cbs, &cb);
    refused(cbs, cb, TTS_E_INVALID, "buffer index 3 is already in use on core 0-0");
    refused(cbs, with_index(&all, &three), TTS_E_INVALID,
            "buffer index 3 is already in use on core 0-0");
    cb = with_index(&left, &four);
    added(cbs, &cb);
    cb = with_index(&right, &three);
    cb.global = true;
    added(cbs, &cb); /* a global circular buffer uses its index too */
    refused(cbs, with_index(&corner, &three), TTS_E_INVALID,
            "buffer index 3 is already in use on core 7-7");
    T_TRUE(tts_cbs_at(cbs, 3) == NULL);
    tts_cbs_free(cbs);
}

T_TEST(what_ends_past_64_bits_is_out_of_range_and_changes_nothing)
{
    struct tts_cbs_config config = wormhole;
    config.l1_bytes = UINT64_MAX;
    struct tts_cbs *cbs = cbs_of(config);
    struct tts_core_range one = {1, 1, 1, 1}, row = {0, 1, 7, 1};
    struct tts_cb cb = {.ranges = &one, .range_count = 1, .total_bytes = UINT64_MAX - BASE + 1};
    refused(
        cbs, cb, TTS_E_RANGE,
        "the end of a circular buffer of 18446744073709445952 bytes does not fit in 64 bits");
    cb.total_bytes--;
    T_EQ(added(cbs, &cb), BASE); /* the circular buffer ends at the last address */
    refused(cbs, (struct tts_cb){.ranges = &row, .range_count = 1}, TTS_E_RANGE,
            "the end of a circular buffer of 0 bytes does not fit in 64 bits");
    struct tts_cb far = {.ranges = &row,
                         .range_count = 1,
                         .total_bytes = 2,
                         .global = true,
                         .global_address = UINT64_MAX - 1};
    refused(cbs, far, TTS_E_RANGE,
            "the end of a circular buffer of 2 bytes does not fit in 64 bits");
    far.total_bytes = 1;
    T_EQ(added(cbs, &far), UINT64_MAX - 1);
    T_EQ(on(cbs, (struct tts_core_range){0, 0, 7, 0}, 32), BASE);
    T_TRUE(tts_cbs_at(cbs, 3) == NULL);
    tts_cbs_free(cbs);
}

static void config_refused(struct tts_cbs_config config, const char *text)
{
    struct tts_cbs *cbs = NULL;
    struct tts_error err = {0};
    T_EQ(tts_cbs_new(&config, NULL, &cbs, &err), TTS_E_INVALID);
    T_TRUE(cbs == NULL);
    T_STR_EQ(err.text, text);
}

T_TEST(a_core_that_cannot_be_is_invalid)
{
    struct tts_cbs_config config = wormhole;
    config.columns = 0;
    config_refused(config, "compute grid is 0x8, expected 1x1 to 64x64");
    config.columns = 65;
    config_refused(config, "compute grid is 65x8, expected 1x1 to 64x64");
    config.columns = 8;
    config.rows = 0;
    config_refused(config, "compute grid is 8x0, expected 1x1 to 64x64");
    config.rows = 65;
    config_refused(config, "compute grid is 8x65, expected 1x1 to 64x64");
    config = wormhole;
    config.alignment_bytes = 0;
    config_refused(config, "alignment is 0, expected a power of two");
    config.alignment_bytes = 48;
    config_refused(config, "alignment is 48, expected a power of two");
    config = wormhole;
    config.max_indices = 0;
    config_refused(config, "a core has 0 buffer indices, expected 1 to 64");
    config.max_indices = 65;
    config_refused(config, "a core has 65 buffer indices, expected 1 to 64");
    config = wormhole;
    config.base = L1 + 1;
    config_refused(
        config,
        "L1 has 1499136 bytes, too few for a base address of 1499137 and 0 bytes of L1_SMALL");
    config.base = L1 - 10;
    config.l1_small_bytes = 11;
    config_refused(
        config,
        "L1 has 1499136 bytes, too few for a base address of 1499126 and 11 bytes of L1_SMALL");
    config.l1_small_bytes = 10;
    tts_cbs_free(cbs_of(config));
    tts_cbs_free(NULL);
}

/* --- creation, limits, memory ----------------------------------------------------------- */

T_TEST(the_next_program_starts_afresh_and_takes_no_new_memory)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_cbs *cbs = cbs_on(wormhole, &heap);
    struct tts_cb_index index = {3, 0};
    uint64_t calls = 0;
    for (uint64_t program = 0; program < 3; program++) {
        tts_cbs_reset(cbs, program);
        T_EQ(tts_cbs_program(cbs), program);
        T_TRUE(tts_cbs_at(cbs, 0) == NULL);
        room_is(cbs, 0, 0, BASE);
        struct tts_cb cb = with_index(&all, &index);
        T_EQ(added(cbs, &cb), BASE);
        for (uint16_t i = 0; i < 200; i++)
            T_EQ(on(cbs, (struct tts_core_range){i % 8, i / 8 % 8, i % 8, i / 8 % 8}, 32),
                 BASE + 32 + 32 * (i / 64));
        if (program == 0)
            calls = heap.calls;
        T_EQ(heap.calls, calls);
    }
    tts_cbs_free(cbs);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(a_program_holds_4096_and_not_one_more)
{
    struct tts_cbs *cbs = cbs_of(wormhole);
    for (uint64_t i = 0; i < TTS_CBS_MAX; i++) {
        uint16_t x = i % 2 ? 0 : 4;
        T_EQ(on(cbs, (struct tts_core_range){x, 0, x + 3, 7}, 32), BASE + i / 2 * 32);
    }
    struct tts_cb cb = {.ranges = &all, .range_count = 1, .total_bytes = 1};
    refused(cbs, cb, TTS_E_RANGE,
            "the program already has 4096 circular buffers, which is the maximum");
    room_is(cbs, 0, 65536, BASE + 65536);
    T_EQ(tts_cbs_at(cbs, TTS_CBS_MAX - 1)->address, BASE + 65504);
    T_TRUE(tts_cbs_at(cbs, TTS_CBS_MAX) == NULL);
    tts_cbs_free(cbs);
}

T_TEST(the_largest_grid_has_its_last_core_and_64_ranges)
{
    struct tts_cbs_config config = wormhole;
    config.columns = config.rows = config.max_indices = 64;
    struct tts_cbs *cbs = cbs_of(config);
    struct tts_core_range columns[TTS_RANGES_MAX];
    for (uint16_t x = 0; x < 64; x++)
        columns[x] = (struct tts_core_range){x, 0, x, 63};
    struct tts_cb_index last = {63, 0};
    struct tts_cb cb = {.ranges = columns,
                        .range_count = 64,
                        .total_bytes = 32,
                        .indices = &last,
                        .index_count = 1};
    T_EQ(added(cbs, &cb), BASE);
    T_EQ(on(cbs, (struct tts_core_range){63, 63, 63, 63}, 32), BASE + 32);
    T_EQ(on(cbs, columns[0], 32), BASE + 32);
    T_EQ(on(cbs, (struct tts_core_range){0, 0, 63, 63}, 32), BASE + 64);
    T_EQ(room_of(cbs, &no_buffers, 63, 63).cb_bytes, 96);
    T_EQ(room_of(cbs, &no_buffers, 63, 62).cb_bytes, 64);
    struct tts_core_range corner = {63, 0, 63, 0};
    refused(cbs, with_index(&corner, &last), TTS_E_INVALID,
            "buffer index 63 is already in use on core 63-0");
    tts_cbs_free(cbs);
}

/* Builds a program that makes every array grow. Returns false if memory ran out; then no
 * circular buffer is half added. */
static bool build(struct tts_cbs *cbs)
{
    struct tts_cb_index index = {0, 0};
    for (uint16_t i = 0; i < 150; i++) {
        uint16_t next = (uint16_t)((i + 1) % 8);
        struct tts_core_range ranges[2] = {{i % 8, i / 8 % 8, i % 8, i / 8 % 8},
                                           {next, 0, next, 7}};
        struct tts_cb cb = {.ranges = ranges,
                            .range_count = 2,
                            .total_bytes = 32,
                            .indices = &index,
                            .index_count = i == 0};
        struct tts_error err = {0};
        struct tts_core_room before, after;
        tts_cbs_tightest(cbs, &no_buffers, &before);
        uint64_t address = 77;
        enum tts_status status = tts_cbs_add(cbs, &cb, &address, &err);
        if (status == TTS_OK)
            continue;
        T_EQ(status, TTS_E_NOMEM);
        T_STR_EQ(err.text, "cannot add a circular buffer: the host has too little memory");
        T_EQ(address, 77);
        T_TRUE(tts_cbs_at(cbs, i) == NULL);
        tts_cbs_tightest(cbs, &no_buffers, &after);
        T_MEM_EQ(&before, &after, sizeof before);
        /* The same call succeeds when memory is available again. */
        T_EQ(tts_cbs_add(cbs, &cb, &address, &err), TTS_OK);
        T_EQ(tts_cbs_at(cbs, i)->address, address);
        return false;
    }
    return true;
}

T_TEST(memory_may_run_out_at_any_time)
{
    bool whole = false;
    uint64_t at = 1;
    for (; !whole; at++) {
        struct heap heap;
        heap_init(&heap);
        heap.fail_at = at;
        struct tts_cbs *cbs = NULL;
        struct tts_error err = {0};
        enum tts_status status = tts_cbs_new(&wormhole, &heap.alloc, &cbs, &err);
        if (status == TTS_OK) {
            whole = build(cbs);
        } else {
            T_EQ(status, TTS_E_NOMEM);
            T_STR_EQ(err.text, "cannot create a program: the host has too little memory");
            T_TRUE(cbs == NULL);
        }
        tts_cbs_free(cbs);
        T_TRUE(heap_is_settled(&heap));
    }
    /* Each allocation failed once: the object, its cores, three lists, three words. */
    T_TRUE(at > 15);
}
