/* Tests the configuration, the state and the memory of a space. test_space.c tests the
 * placement. */
#include "device/space.h"
#include "harness/t.h"
#include "torture/heap.h"

#include <string.h>

static const uint64_t K = 1024;
static const struct tts_space_config small = {.size_bytes = 64 * 1024,
                                              .min_bytes = 1024,
                                              .alignment_bytes = 1024,
                                              .policy = TTS_POLICY_FIRST};

enum { SOME = 16 }; /* length of the lists in these small tests */

static struct tts_space *space_on(struct tts_space_config config, const struct heap *heap)
{
    struct tts_space *space = NULL;
    struct tts_error err;
    T_EQ(tts_space_new(&config, heap != NULL ? &heap->alloc : NULL, &space, &err), TTS_OK);
    T_TRUE(tts_space_is_valid(space));
    return space;
}

static struct tts_space *space_of(struct tts_space_config config)
{
    return space_on(config, NULL);
}

static void done(struct tts_space *space)
{
    T_TRUE(tts_space_is_valid(space));
    tts_space_free(space);
}

static uint64_t up(struct tts_space *space, uint64_t bytes)
{
    uint64_t address = 0;
    T_EQ(tts_space_take(space, bytes, TTS_DIRECTION_UP, 0, &address), TTS_OK);
    return address;
}

static uint64_t down(struct tts_space *space, uint64_t bytes)
{
    uint64_t address = 0;
    T_EQ(tts_space_take(space, bytes, TTS_DIRECTION_DOWN, 0, &address), TTS_OK);
    return address;
}

static void give(struct tts_space *space, uint64_t address)
{
    T_EQ(tts_space_give(space, address), TTS_OK);
}

static struct tts_space_stats stats_of(const struct tts_space *space)
{
    struct tts_space_stats stats;
    tts_space_get_stats(space, &stats);
    return stats;
}

/* --- configurations --------------------------------------------------------------------- */

static void refused(struct tts_space_config config, enum tts_status status)
{
    struct tts_space *space = NULL;
    struct tts_error err = {0};
    T_EQ(tts_space_new(&config, NULL, &space, &err), status);
    T_TRUE(space == NULL);
    T_EQ(err.status, status);
    T_TRUE(strlen(err.text) > 0);
    T_EQ(tts_space_new(&config, NULL, &space, NULL), status);
}

T_TEST(a_pool_of_nothing_or_of_no_policy_is_invalid)
{
    struct tts_space_config config = small;
    config.size_bytes = 0;
    refused(config, TTS_E_INVALID);
    config = small;
    config.alignment_bytes = 0;
    refused(config, TTS_E_INVALID);
    config = small;
    int unknown = 7;
    memcpy(&config.policy, &unknown, sizeof config.policy);
    refused(config, TTS_E_INVALID);
}

T_TEST(a_pool_past_its_largest_size_or_past_64_bits_is_out_of_range)
{
    struct tts_space_config config = small;
    config.size_bytes = TTS_SPACE_MAX_BYTES + 1;
    refused(config, TTS_E_RANGE);
    config.size_bytes = UINT64_MAX;
    refused(config, TTS_E_RANGE);
    config.size_bytes = config.alignment_bytes * (TTS_SPACE_MAX_UNITS + 1);
    refused(config, TTS_E_RANGE);
    config.size_bytes = TTS_SPACE_MAX_UNITS + 1; /* the size is odd, so the unit is one byte */
    refused(config, TTS_E_RANGE);
    config = small;
    config.alignment_bytes = TTS_SPACE_MAX_BYTES + 1;
    refused(config, TTS_E_RANGE);
    config = small;
    config.offset_bytes = UINT64_MAX - config.size_bytes + 1;
    refused(config, TTS_E_RANGE);
    config.offset_bytes = UINT64_MAX;
    refused(config, TTS_E_RANGE);
}

T_TEST(the_largest_pool_at_the_highest_offset_works_to_its_last_byte)
{
    struct tts_space_config config = {.size_bytes = TTS_SPACE_MAX_UNITS,
                                      .offset_bytes = UINT64_MAX - TTS_SPACE_MAX_UNITS,
                                      .min_bytes = 1,
                                      .alignment_bytes = 1};
    for (int best = 0; best < 2; best++) {
        config.policy = best ? TTS_POLICY_BEST : TTS_POLICY_FIRST;
        struct tts_space *space = space_of(config);
        T_EQ(up(space, TTS_SPACE_MAX_UNITS), config.offset_bytes);
        T_EQ(stats_of(space).free_blocks, 0);
        give(space, config.offset_bytes);
        T_EQ(stats_of(space).largest_free_bytes, TTS_SPACE_MAX_UNITS);
        T_EQ(down(space, 1), UINT64_MAX - 1);
        T_EQ(tts_space_take_at(space, UINT64_MAX - 2, 1), TTS_OK);
        T_EQ(tts_space_take_at(space, UINT64_MAX, 1), TTS_E_FULL);
        T_EQ(tts_space_take_at(space, UINT64_MAX - 3, 2), TTS_E_FULL);
        done(space);
    }
}

T_TEST(a_space_tells_the_configuration_it_was_born_with)
{
    struct tts_space_config config = small, told = {0};
    config.offset_bytes = 12345;
    struct tts_space *space = space_of(config);
    T_EQ(tts_space_shrink(space, K), TTS_OK);
    tts_space_get_config(space, &told);
    T_EQ(told.size_bytes, config.size_bytes);
    T_EQ(told.offset_bytes, config.offset_bytes);
    T_EQ(told.min_bytes, config.min_bytes);
    T_EQ(told.alignment_bytes, config.alignment_bytes);
    T_EQ(told.policy, config.policy);
    done(space);
}

/* --- requests at the limits ------------------------------------------------------------- */

static void never_fits(struct tts_space *space, uint64_t bytes)
{
    uint64_t address = 77;
    T_EQ(tts_space_take(space, bytes, TTS_DIRECTION_UP, 0, &address), TTS_E_FULL);
    T_EQ(tts_space_take(space, bytes, TTS_DIRECTION_DOWN, 0, &address), TTS_E_FULL);
    T_EQ(address, 77);
    struct tts_space_config config;
    tts_space_get_config(space, &config);
    T_EQ(tts_space_take_at(space, config.offset_bytes, bytes), TTS_E_FULL);
    T_EQ(stats_of(space).taken_blocks, 0);
}

T_TEST(a_request_near_64_bits_is_refused_whatever_the_rounding)
{
    static const uint64_t alignments[] = {1, 3, 48, 1024, TTS_SPACE_MAX_BYTES};
    for (size_t i = 0; i < sizeof alignments / sizeof alignments[0]; i++) {
        struct tts_space_config config = small;
        config.alignment_bytes = alignments[i];
        struct tts_space *space = space_of(config);
        struct tts_range range;
        for (uint64_t less = 0; less < 5; less++) {
            never_fits(space, UINT64_MAX - less);
            never_fits(space, UINT64_MAX / 2 + less);
            never_fits(space, UINT64_MAX - alignments[i] - less);
            never_fits(space, UINT64_MAX - alignments[i] + 1);
            T_EQ(tts_space_available(space, UINT64_MAX - less, &range, 1), 0);
        }
        never_fits(space, config.size_bytes + 1);
        done(space);
    }
}

T_TEST(a_request_that_only_rounding_makes_too_large_is_refused)
{
    struct tts_space_config config = small;
    config.size_bytes = 1000;
    config.min_bytes = 1;
    config.alignment_bytes = 48;
    struct tts_space *space = space_of(config);
    /* 961 is rounded up to 21 * 48 = 1008, which exceeds 1000. 960 is 20 * 48. */
    never_fits(space, 961);
    T_EQ(down(space, 960), 40);
    done(space);
}

T_TEST(a_request_of_nothing_takes_the_minimum_and_never_nothing)
{
    struct tts_space_config config = small;
    config.min_bytes = 33;
    config.alignment_bytes = 32;
    struct tts_space *space = space_of(config);
    uint64_t size = 77;
    T_EQ(up(space, 0), 0);
    T_EQ(tts_space_size_at(space, 0, &size), TTS_OK);
    T_EQ(size, 64);
    done(space);

    config.min_bytes = 0;
    space = space_of(config);
    struct tts_range range = {0};
    never_fits(space, 0);
    T_EQ(tts_space_available(space, 0, &range, 1), 1);
    T_EQ(range.end, config.size_bytes);
    T_EQ(up(space, 1), 0);
    T_EQ(up(space, 1), 32);
    done(space);
}

T_TEST(a_minimum_above_the_pool_lets_nothing_in)
{
    struct tts_space_config config = small;
    config.min_bytes = config.size_bytes + 1;
    struct tts_space *space = space_of(config);
    never_fits(space, 1);
    done(space);
}

T_TEST(an_address_outside_the_pool_is_never_free)
{
    struct tts_space_config config = small;
    config.offset_bytes = 100000;
    struct tts_space *space = space_of(config);
    T_EQ(tts_space_take_at(space, 99999, K), TTS_E_FULL);
    T_EQ(tts_space_take_at(space, 0, K), TTS_E_FULL);
    T_EQ(tts_space_take_at(space, 100000 + 63 * K + 1, K), TTS_E_FULL);
    T_EQ(tts_space_take_at(space, 100000 + 64 * K, K), TTS_E_FULL);
    T_EQ(tts_space_take_at(space, UINT64_MAX, K), TTS_E_FULL);
    T_EQ(tts_space_take_at(space, UINT64_MAX - K + 1, K), TTS_E_FULL);
    T_EQ(stats_of(space).taken_blocks, 0);
    T_EQ(tts_space_take_at(space, 100000 + 63 * K, K), TTS_OK);
    done(space);
}

T_TEST(an_unaligned_address_leaves_unaligned_blocks_behind)
{
    struct tts_space_config config = small;
    config.offset_bytes = 5;
    struct tts_space *space = space_of(config);
    T_EQ(tts_space_take_at(space, 5 + 1500, 100), TTS_OK);
    T_EQ(up(space, K), 5);
    T_EQ(up(space, K), 5 + 1500 + K); /* the gap of 476 bytes is too small */
    T_EQ(down(space, K), 5 + 63 * K);
    give(space, 5 + 1500);
    T_EQ(up(space, K), 5 + K);
    done(space);
}

T_TEST(only_the_exact_start_of_a_taken_block_is_known)
{
    struct tts_space_config config = small;
    config.offset_bytes = 3 * K;
    struct tts_space *space = space_of(config);
    uint64_t a = up(space, 2 * K), size = 77;
    const uint64_t wrong[] = {0, a - 1, a + 1, a + K, a + 2 * K, a + 64 * K, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        T_EQ(tts_space_give(space, wrong[i]), TTS_E_NOT_FOUND);
        T_EQ(tts_space_size_at(space, wrong[i], &size), TTS_E_NOT_FOUND);
        T_EQ(size, 77);
    }
    T_EQ(tts_space_size_at(space, a, &size), TTS_OK);
    T_EQ(size, 2 * K);
    give(space, a);
    T_EQ(tts_space_give(space, a), TTS_E_NOT_FOUND);
    T_EQ(tts_space_size_at(space, a, &size), TTS_E_NOT_FOUND);
    T_EQ(stats_of(space).free_blocks, 1);
    done(space);
}

/* --- shrinking -------------------------------------------------------------------------- */

T_TEST(a_shrink_stops_at_the_first_taken_block)
{
    struct tts_space *space = space_of(small);
    T_EQ(tts_space_take_at(space, 8 * K, K), TTS_OK);
    T_EQ(tts_space_shrink(space, 64 * K + 1), TTS_E_RANGE);
    T_EQ(tts_space_shrink(space, UINT64_MAX), TTS_E_RANGE);
    T_EQ(tts_space_shrink(space, 64 * K), TTS_E_BUSY);
    T_EQ(tts_space_shrink(space, 8 * K + 1), TTS_E_BUSY);
    T_EQ(tts_space_shrink(space, 0), TTS_OK);
    T_EQ(stats_of(space).total_bytes, 64 * K);
    T_EQ(tts_space_shrink(space, 3 * K), TTS_OK);
    T_EQ(tts_space_shrink(space, 5 * K + 1), TTS_E_BUSY);
    T_EQ(tts_space_shrink(space, 61 * K + 1), TTS_E_RANGE);
    T_EQ(up(space, K), 3 * K);
    give(space, 3 * K);
    T_EQ(tts_space_shrink(space, 5 * K), TTS_OK); /* the free block at the bottom disappears */
    T_EQ(tts_space_shrink(space, 1), TTS_E_BUSY);
    T_EQ(stats_of(space).free_blocks, 1);
    T_EQ(tts_space_unshrink(space), TTS_OK);
    T_EQ(tts_space_unshrink(space), TTS_OK);
    T_EQ(stats_of(space).free_blocks, 2);
    T_EQ(up(space, 8 * K), 0);
    done(space);
}

T_TEST(the_lowest_address_is_found_above_a_shrink)
{
    struct tts_space *space = space_of(small);
    uint64_t address = 77;
    T_EQ(tts_space_shrink(space, 4 * K), TTS_OK);
    T_TRUE(!tts_space_lowest(space, &address));
    T_EQ(tts_space_take_at(space, 9 * K, K), TTS_OK);
    T_TRUE(tts_space_lowest(space, &address));
    T_EQ(address, 9 * K);
    T_EQ(up(space, K), 4 * K);
    T_TRUE(tts_space_lowest(space, &address));
    T_EQ(address, 4 * K);
    done(space);
}

T_TEST(a_free_pool_can_be_shrunk_to_nothing_and_back)
{
    struct tts_space *space = space_of(small);
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    T_EQ(tts_space_shrink(space, 60 * K), TTS_OK);
    T_EQ(tts_space_shrink(space, 4 * K), TTS_OK);
    T_TRUE(tts_space_is_valid(space));
    struct tts_space_stats stats = stats_of(space);
    T_TRUE(stats.total_bytes == 0 && stats.free_bytes == 0 && stats.largest_free_bytes == 0);
    T_EQ(stats.free_blocks, 0);
    T_TRUE(!tts_space_next(space, &cursor, &block));
    T_EQ(tts_space_shrink(space, 1), TTS_E_RANGE);
    never_fits(space, 1);
    T_EQ(tts_space_unshrink(space), TTS_OK);
    T_EQ(stats_of(space).free_blocks, 1);
    T_EQ(down(space, K), 63 * K);
    done(space);
}

T_TEST(a_clear_undoes_a_shrink)
{
    struct tts_space *space = space_of(small);
    T_EQ(tts_space_shrink(space, 60 * K), TTS_OK);
    tts_space_clear(space);
    T_EQ(stats_of(space).total_bytes, 64 * K);
    T_EQ(up(space, 64 * K), 0);
    done(space);
}

/* --- block ids and walks ---------------------------------------------------------------- */

static void ids_are(const struct tts_space *space, const uint32_t *ids, size_t count)
{
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    for (size_t i = 0; i < count; i++) {
        T_TRUE(tts_space_next(space, &cursor, &block));
        T_EQ(block.id, ids[i]);
        T_EQ(block.prev_id, i > 0 ? ids[i - 1] : TTS_BLOCK_NONE);
        T_EQ(block.next_id, i + 1 < count ? ids[i + 1] : TTS_BLOCK_NONE);
    }
    T_TRUE(!tts_space_next(space, &cursor, &block));
}

T_TEST(the_taken_part_keeps_the_id_and_the_left_rest_is_named_first)
{
    struct tts_space *space = space_of(small);
    ids_are(space, (uint32_t[]){0}, 1);
    T_EQ(tts_space_take_at(space, 8 * K, K), TTS_OK);
    ids_are(space, (uint32_t[]){1, 0, 2}, 3);
    up(space, K);
    ids_are(space, (uint32_t[]){1, 3, 0, 2}, 4);
    down(space, K);
    ids_are(space, (uint32_t[]){1, 3, 0, 4, 2}, 5);
    done(space);
}

T_TEST(ids_out_of_use_are_told_in_the_order_they_went)
{
    uint32_t ids[3] = {77, 77, 77};
    struct tts_space *space = space_of(small);
    T_EQ(tts_space_unused_ids(space, ids, 3), 0);
    for (int i = 0; i < 5; i++)
        up(space, K);
    give(space, 0);
    give(space, 2 * K);
    give(space, K);     /* retires the ids 1 and 2, in this order */
    give(space, 4 * K); /* retires the id 5 */
    T_EQ(tts_space_unused_ids(space, ids, 2), 3);
    T_TRUE(ids[0] == 1 && ids[1] == 2 && ids[2] == 77); /* writes at most `capacity` ids */
    T_EQ(tts_space_unused_ids(space, ids, 3), 3);
    T_EQ(ids[2], 5);
    done(space);
}

T_TEST(the_id_retired_last_is_used_first)
{
    struct tts_space *space = space_of(small);
    for (int i = 0; i < 5; i++)
        up(space, K);
    ids_are(space, (uint32_t[]){0, 1, 2, 3, 4, 5}, 6);
    give(space, 0);
    give(space, 2 * K);
    give(space, K); /* joins both neighbours: retires the ids 1 and 2, in this order */
    ids_are(space, (uint32_t[]){0, 3, 4, 5}, 4);
    T_EQ(tts_space_take_at(space, K, K), TTS_OK);
    ids_are(space, (uint32_t[]){2, 0, 1, 3, 4, 5}, 6);
    give(space, 4 * K); /* joins the next block: keeps the id 4 and retires 5 */
    ids_are(space, (uint32_t[]){2, 0, 1, 3, 4}, 5);
    T_EQ(tts_space_shrink(space, K), TTS_OK); /* retires the id 2 */
    ids_are(space, (uint32_t[]){0, 1, 3, 4}, 4);
    T_EQ(down(space, K), 63 * K);
    ids_are(space, (uint32_t[]){0, 1, 3, 2, 4}, 5);
    T_EQ(tts_space_unshrink(space), TTS_OK);
    ids_are(space, (uint32_t[]){5, 0, 1, 3, 2, 4}, 6);
    tts_space_clear(space);
    ids_are(space, (uint32_t[]){0}, 1);
    up(space, K);
    ids_are(space, (uint32_t[]){0, 1}, 2);
    done(space);
}

T_TEST(tables_are_in_id_order_and_want_room_for_every_id)
{
    struct tts_space *space = space_of(small);
    struct tts_block blocks[SOME];
    size_t count = 77;
    T_EQ(tts_space_take_at(space, 8 * K, K), TTS_OK);
    T_EQ(tts_space_take_at(space, 20 * K, K), TTS_OK);
    uint32_t limit = tts_space_id_limit(space);
    T_TRUE(limit > 4 && limit <= SOME);
    T_EQ(tts_space_blocks(space, blocks, limit - 1, &count), TTS_E_RANGE);
    T_EQ(tts_space_taken(space, blocks, limit - 1, &count), TTS_E_RANGE);
    T_EQ(count, 77);
    T_EQ(tts_space_blocks(space, blocks, limit, &count), TTS_OK);
    T_EQ(count, 5);
    const uint64_t starts[] = {8 * K, 0, 20 * K, 9 * K, 21 * K};
    for (uint32_t i = 0; i < count; i++) {
        T_EQ(blocks[i].id, i);
        T_EQ(blocks[i].address, starts[i]);
        T_EQ(blocks[i].taken, i == 0 || i == 2);
    }
    T_EQ(blocks[0].prev_id, 1);
    T_EQ(blocks[0].next_id, 3);
    T_EQ(blocks[1].prev_id, TTS_BLOCK_NONE);
    T_EQ(blocks[4].next_id, TTS_BLOCK_NONE);
    T_EQ(tts_space_taken(space, blocks, limit, &count), TTS_OK);
    T_EQ(count, 2);
    T_TRUE(blocks[0].id == 0 && blocks[1].id == 2);
    T_TRUE(blocks[1].prev_id == 3 && blocks[1].next_id == 4);
    done(space);
}

T_TEST(a_short_list_of_available_ranges_still_counts_them_all)
{
    struct tts_space *space = space_of(small);
    for (uint64_t i = 1; i < 8; i++)
        T_EQ(tts_space_take_at(space, 2 * i * K, K), TTS_OK);
    struct tts_range ranges[3] = {{0}, {0}, {77, 78}};
    T_EQ(tts_space_available(space, 0, ranges, 2), 8);
    T_TRUE(ranges[0].start == 3 * K && ranges[1].start == 5 * K);
    T_TRUE(ranges[2].start == 77 && ranges[2].end == 78);
    T_EQ(tts_space_available(space, 0, NULL, 0), 8);
    done(space);
}

/* --- copies and equality ---------------------------------------------------------------- */

T_TEST(a_copy_is_equal_and_lives_its_own_life)
{
    struct tts_space *space = space_of(small), *copy = NULL;
    up(space, K);
    T_EQ(tts_space_take_at(space, 8 * K, K), TTS_OK);
    T_EQ(tts_space_copy(space, &copy), TTS_OK);
    T_TRUE(tts_space_is_valid(copy));
    T_TRUE(tts_space_equal(space, copy) && tts_space_equal(copy, space));
    T_TRUE(tts_space_equal(space, space));
    T_EQ(up(copy, K), K);
    T_TRUE(!tts_space_equal(space, copy));
    T_EQ(up(space, K), K);
    T_TRUE(tts_space_equal(space, copy));
    give(space, 0);
    T_TRUE(!tts_space_equal(space, copy));
    done(space);
    T_EQ(up(copy, K), 2 * K);
    done(copy);
}

T_TEST(a_copy_of_a_shrunk_space_is_shrunk)
{
    struct tts_space *space = space_of(small), *copy = NULL;
    T_EQ(tts_space_shrink(space, 3 * K), TTS_OK);
    T_EQ(tts_space_copy(space, &copy), TTS_OK);
    T_TRUE(tts_space_equal(space, copy));
    T_EQ(stats_of(copy).total_bytes, 61 * K);
    T_EQ(up(copy, K), 3 * K);
    give(copy, 3 * K);
    T_EQ(tts_space_unshrink(copy), TTS_OK);
    T_EQ(up(copy, K), 0);
    T_TRUE(!tts_space_equal(space, copy));
    done(copy);
    done(space);
}

/* Makes two spaces by different histories that end with the same blocks, and returns whether
 * the spaces are equal. */
static bool equal_after(void (*one_way)(struct tts_space *),
                        void (*another)(struct tts_space *))
{
    struct tts_space *a = space_of(small), *b = space_of(small);
    one_way(a);
    another(b);
    bool equal = tts_space_equal(a, b) && tts_space_equal(b, a);
    done(a);
    done(b);
    return equal;
}

static void stay(struct tts_space *space)
{
    (void)space;
}

static void take_and_give(struct tts_space *space)
{
    give(space, up(space, K));
}

static void take_and_clear(struct tts_space *space)
{
    up(space, K);
    tts_space_clear(space);
}

static void give_four_upward(struct tts_space *space)
{
    for (int i = 0; i < 4; i++)
        up(space, K);
    for (uint64_t i = 0; i < 4; i++)
        give(space, i * K);
}

static void give_four_downward(struct tts_space *space)
{
    for (int i = 0; i < 4; i++)
        up(space, K);
    for (uint64_t i = 4; i-- > 0;)
        give(space, i * K);
}

static void shrink_and_back(struct tts_space *space)
{
    T_EQ(tts_space_shrink(space, K), TTS_OK);
    T_EQ(tts_space_unshrink(space), TTS_OK);
}

static void shrink_one(struct tts_space *space)
{
    T_EQ(tts_space_shrink(space, K), TTS_OK);
}

static void take_below_limit(struct tts_space *space)
{
    uint64_t address;
    T_EQ(tts_space_take(space, K, TTS_DIRECTION_UP, 1, &address), TTS_E_BELOW_LIMIT);
}

static void take_one(struct tts_space *space)
{
    up(space, K);
}

T_TEST(equal_means_that_every_later_call_would_have_the_same_result)
{
    T_TRUE(equal_after(stay, stay));
    T_TRUE(equal_after(stay, shrink_and_back));
    T_TRUE(equal_after(give_four_upward, give_four_upward));
    T_TRUE(!equal_after(stay, take_one));
    T_TRUE(!equal_after(stay, shrink_one));
    T_TRUE(!equal_after(stay, take_and_give));  /* one of them has a retired id */
    T_TRUE(!equal_after(stay, take_and_clear)); /* one of them reports an old lowest address */
    /* They report different lowest addresses. */
    T_TRUE(!equal_after(take_below_limit, take_one));
    /* Their ids have different orders. */
    T_TRUE(!equal_after(give_four_upward, give_four_downward));
}

T_TEST(spaces_of_different_configuration_are_not_equal)
{
    struct tts_space_config configs[6] = {small, small, small, small, small, small};
    configs[1].size_bytes += 1;
    configs[2].offset_bytes += 1;
    configs[3].min_bytes += 1;
    configs[4].alignment_bytes += 1;
    configs[5].policy = TTS_POLICY_BEST;
    struct tts_space *space = space_of(configs[0]);
    for (size_t i = 0; i < 6; i++) {
        struct tts_space *other = space_of(configs[i]);
        T_EQ(tts_space_equal(space, other), i == 0);
        done(other);
    }
    done(space);
}

/* --- memory ----------------------------------------------------------------------------- */

enum { CHURNED = 2000 };

static const struct tts_space_config large = {.size_bytes = UINT64_C(1) << 30,
                                              .min_bytes = 32,
                                              .alignment_bytes = 32,
                                              .policy = TTS_POLICY_FIRST};

/* Takes until CHURNED blocks are live, then replaces random blocks, from both ends. Uses the
 * same random numbers each time, so that a second round needs no more memory than the first. */
static void churn(struct tts_space *space)
{
    uint64_t live[CHURNED], count = 0, rng = 99;
    for (int i = 0; i < 6 * CHURNED; i++) {
        if (count == CHURNED) {
            uint64_t idx = t_random(&rng) % count;
            give(space, live[idx]);
            live[idx] = live[--count];
        }
        uint64_t bytes = 1 + t_random(&rng) % 200000;
        live[count++] = t_random(&rng) >> 63 ? up(space, bytes) : down(space, bytes);
    }
    while (count > 0)
        give(space, live[--count]);
}

T_TEST(nothing_is_allocated_once_a_space_has_seen_its_load)
{
    for (int best = 0; best < 2; best++) {
        struct heap heap;
        heap_init(&heap);
        struct tts_space_config config = large;
        config.policy = best ? TTS_POLICY_BEST : TTS_POLICY_FIRST;
        struct tts_space *space = space_on(config, &heap);
        churn(space);
        uint64_t calls = heap.calls, bytes = heap.live_bytes;
        T_TRUE(calls > 1);
        for (int i = 0; i < 3; i++)
            churn(space);
        T_EQ(heap.calls, calls);
        T_EQ(heap.live_bytes, bytes);
        tts_space_clear(space);
        T_EQ(heap.live_bytes, bytes);
        churn(space);
        T_EQ(heap.calls, calls);
        done(space);
        T_TRUE(heap_is_settled(&heap));
    }
}

T_TEST(a_space_knows_how_much_memory_it_holds)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_space *space = space_on(large, &heap), *copy = NULL;
    size_t empty = tts_space_memory(space);
    T_EQ(empty, heap.live_bytes);
    for (int i = 0; i < CHURNED; i++)
        up(space, 64);
    size_t full = tts_space_memory(space);
    T_EQ(full, heap.live_bytes);
    T_TRUE(full > empty);
    T_EQ(tts_space_copy(space, &copy), TTS_OK);
    T_EQ(heap.live_bytes, full + tts_space_memory(copy));
    done(space);
    T_EQ(heap.live_bytes, tts_space_memory(copy));
    done(copy);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(freeing_no_space_is_harmless)
{
    tts_space_free(NULL);
}
