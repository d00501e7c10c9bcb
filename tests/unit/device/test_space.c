#include "device/space.h"
#include "harness/t.h"

#include <string.h>

/* The pool in the unit tests of the runtime's own allocator. Most tests here use it. */
static const uint64_t K = 1024, G = UINT64_C(1) << 30;
static const struct tts_space_config plain = {.size_bytes = UINT64_C(1) << 30,
                                              .min_bytes = 1024,
                                              .alignment_bytes = 1024,
                                              .policy = TTS_POLICY_BEST};

enum { SOME = 8 }; /* length of the lists in these small tests */

static struct tts_space *space_of(struct tts_space_config config)
{
    struct tts_space *space = NULL;
    struct tts_error err;
    T_EQ(tts_space_new(&config, NULL, &space, &err), TTS_OK);
    T_TRUE(tts_space_is_valid(space));
    return space;
}

static struct tts_space *space_with(enum tts_policy policy)
{
    struct tts_space_config config = plain;
    config.policy = policy;
    return space_of(config);
}

static void done(struct tts_space *space)
{
    T_TRUE(tts_space_is_valid(space));
    tts_space_free(space);
}

static uint64_t take(struct tts_space *space, uint64_t bytes, enum tts_direction direction)
{
    uint64_t address = 0;
    T_EQ(tts_space_take(space, bytes, direction, 0, &address), TTS_OK);
    return address;
}

static uint64_t up(struct tts_space *space, uint64_t bytes)
{
    return take(space, bytes, TTS_DIRECTION_UP);
}

static uint64_t down(struct tts_space *space, uint64_t bytes)
{
    return take(space, bytes, TTS_DIRECTION_DOWN);
}

/* Checks that a request fails from both ends and leaves *address unchanged. */
static void refused(struct tts_space *space, uint64_t bytes)
{
    uint64_t address = 77;
    T_EQ(tts_space_take(space, bytes, TTS_DIRECTION_UP, 0, &address), TTS_E_FULL);
    T_EQ(tts_space_take(space, bytes, TTS_DIRECTION_DOWN, 0, &address), TTS_E_FULL);
    T_EQ(address, 77);
}

static void give(struct tts_space *space, uint64_t address)
{
    T_EQ(tts_space_give(space, address), TTS_OK);
}

static void lowest_is(const struct tts_space *space, uint64_t expected)
{
    uint64_t reported = 77, truly = 77;
    T_TRUE(tts_space_lowest_reported(space, &reported));
    T_EQ(reported, expected);
    T_TRUE(tts_space_lowest(space, &truly));
    T_EQ(truly, expected);
}

static void nothing_is_lowest(const struct tts_space *space)
{
    uint64_t address = 77;
    T_TRUE(!tts_space_lowest_reported(space, &address));
    T_TRUE(!tts_space_lowest(space, &address));
    T_EQ(address, 77);
}

static void available_are(const struct tts_space *space, uint64_t bytes,
                          const struct tts_range *expected, size_t count)
{
    struct tts_range seen[SOME];
    T_EQ(tts_space_available(space, bytes, seen, SOME), count);
    for (size_t i = 0; i < count; i++) {
        T_EQ(seen[i].start, expected[i].start);
        T_EQ(seen[i].end, expected[i].end);
    }
}

static void taken_are(const struct tts_space *space, const struct tts_range *expected,
                      size_t count)
{
    struct tts_block seen[SOME];
    size_t seen_count = 77;
    T_EQ(tts_space_taken(space, seen, SOME, &seen_count), TTS_OK);
    T_EQ(seen_count, count);
    for (size_t i = 0; i < count; i++) {
        T_TRUE(seen[i].taken);
        T_EQ(seen[i].address, expected[i].start);
        T_EQ(seen[i].address + seen[i].size_bytes, expected[i].end);
    }
}

static struct tts_space_stats stats_of(const struct tts_space *space)
{
    struct tts_space_stats stats;
    tts_space_get_stats(space, &stats);
    return stats;
}

/* --- test vectors of the runtime's allocator -------------------------------------------- */

T_TEST(blocks_follow_each_other_from_the_bottom)
{
    struct tts_space *space = space_of(plain);
    T_EQ(up(space, K), 0);
    T_EQ(up(space, K), K);
    done(space);
}

T_TEST(a_small_request_is_rounded_to_the_alignment)
{
    struct tts_space_config config = plain;
    config.min_bytes = 1;
    struct tts_space *space = space_of(config);
    T_EQ(up(space, 64), 0);
    T_EQ(up(space, 64), K);
    done(space);
}

T_TEST(a_small_request_takes_the_minimum)
{
    struct tts_space_config config = plain;
    config.alignment_bytes = 1;
    struct tts_space *space = space_of(config);
    T_EQ(up(space, 1), 0);
    T_EQ(up(space, 1), K);
    done(space);
}

T_TEST(a_clear_starts_again_at_the_bottom)
{
    struct tts_space *space = space_of(plain);
    up(space, K);
    up(space, K);
    tts_space_clear(space);
    T_TRUE(tts_space_is_valid(space));
    T_EQ(up(space, K), 0);
    done(space);
}

T_TEST(a_block_is_taken_at_an_address_only_where_it_is_free)
{
    struct tts_space *space = space_of(plain);
    T_EQ(up(space, K), 0);
    T_EQ(tts_space_take_at(space, K, K), TTS_OK);
    T_EQ(tts_space_take_at(space, K, K), TTS_E_FULL);
    T_EQ(tts_space_take_at(space, 2 * K, K), TTS_OK);
    give(space, 0);
    T_EQ(tts_space_take_at(space, 0, K), TTS_OK);
    done(space);
}

T_TEST(best_goes_below_a_block_placed_by_address)
{
    struct tts_space *space = space_with(TTS_POLICY_BEST);
    T_EQ(tts_space_take_at(space, 32 * K, K), TTS_OK);
    T_EQ(up(space, K), 0);
    T_EQ(down(space, K), 31 * K);
    T_EQ(up(space, K), K);
    done(space);
}

T_TEST(first_goes_to_the_top_past_a_block_placed_by_address)
{
    struct tts_space *space = space_with(TTS_POLICY_FIRST);
    T_EQ(tts_space_take_at(space, 32 * K, K), TTS_OK);
    T_EQ(up(space, K), 0);
    T_EQ(down(space, K), G - K);
    T_EQ(up(space, K), K);
    done(space);
}

T_TEST(what_a_shrink_cuts_off_cannot_be_taken_until_it_is_undone)
{
    struct tts_space *space = space_of(plain);
    uint64_t a = up(space, K), b = up(space, K);
    give(space, a);
    T_EQ(tts_space_shrink(space, K), TTS_OK);
    T_EQ(tts_space_take_at(space, 0, K), TTS_E_FULL);
    T_EQ(tts_space_take_at(space, K, K), TTS_E_FULL);
    T_EQ(stats_of(space).total_bytes, G - K);
    T_EQ(tts_space_unshrink(space), TTS_OK);
    T_EQ(stats_of(space).total_bytes, G);
    give(space, b);
    T_EQ(up(space, 2 * K), 0);
    done(space);
}

T_TEST(statistics_count_what_is_taken)
{
    struct tts_space *space = space_of(plain);
    uint64_t a = up(space, K);
    up(space, K);
    give(space, a);
    struct tts_space_stats stats = stats_of(space);
    T_EQ(stats.taken_bytes, K);
    T_EQ(stats.total_bytes, G);
    T_EQ(stats.free_bytes, G - K);
    T_EQ(stats.largest_free_bytes, G - 2 * K);
    T_EQ(stats.taken_blocks, 1);
    T_EQ(stats.free_blocks, 2);
    done(space);
}

T_TEST(blocks_follow_each_other_from_the_top)
{
    struct tts_space *space = space_of(plain);
    T_EQ(down(space, K), G - K);
    T_EQ(down(space, K), G - 2 * K);
    T_EQ(up(space, K), 0);
    done(space);
}

T_TEST(neighbours_given_back_become_one_block)
{
    struct tts_space *space = space_of(plain);
    uint64_t a = up(space, K), b = up(space, K);
    up(space, K);
    give(space, b);
    give(space, a);
    T_EQ(up(space, 2 * K), 0);
    done(space);
}

T_TEST(neighbours_are_one_block_after_a_shrink_is_undone)
{
    struct tts_space *space = space_of(plain);
    uint64_t a = up(space, K), b = up(space, K);
    up(space, K);
    give(space, b);
    give(space, a);
    T_EQ(tts_space_shrink(space, K), TTS_OK);
    T_EQ(tts_space_unshrink(space), TTS_OK);
    T_EQ(up(space, 2 * K), 0);
    done(space);
}

T_TEST(a_full_pool_refuses)
{
    struct tts_space *space = space_of(plain);
    T_EQ(up(space, G), 0);
    refused(space, K);
    tts_space_clear(space);
    T_EQ(up(space, G - K), 0);
    refused(space, 2 * K);
    T_EQ(up(space, K), G - K);
    done(space);
}

T_TEST(available_ranges_are_those_that_hold_the_request)
{
    struct tts_space *space = space_of(plain);
    up(space, K);
    available_are(space, K, (struct tts_range[]){{K, G}}, 1);
    uint64_t second = up(space, K);
    up(space, K);
    give(space, second);
    available_are(space, K, (struct tts_range[]){{K, 2 * K}, {3 * K, G}}, 2);
    available_are(space, 10 * K, (struct tts_range[]){{3 * K, G}}, 1);
    done(space);
}

T_TEST(the_lowest_address_follows_takes_and_gives)
{
    struct tts_space *space = space_of(plain);
    nothing_is_lowest(space);
    up(space, K);
    up(space, K);
    up(space, K);
    lowest_is(space, 0);
    give(space, 0);
    lowest_is(space, K);
    give(space, K);
    lowest_is(space, 2 * K);
    give(space, 2 * K);
    nothing_is_lowest(space);
    T_EQ(tts_space_take_at(space, K, K), TTS_OK);
    lowest_is(space, K);
    give(space, K);
    nothing_is_lowest(space);
    done(space);
}

T_TEST(first_takes_the_first_hole_even_if_a_tighter_one_follows)
{
    struct tts_space *space = space_with(TTS_POLICY_FIRST);
    T_EQ(up(space, K), 0);
    T_EQ(up(space, 3 * K), K);
    T_EQ(up(space, K), 4 * K);
    T_EQ(up(space, K), 5 * K);
    T_EQ(up(space, K), 6 * K);
    give(space, K);
    give(space, 5 * K);
    T_EQ(up(space, K), K);
    done(space);
}

T_TEST(an_address_given_back_can_be_taken_again)
{
    struct tts_space *space = space_of(plain);
    T_EQ(tts_space_take_at(space, K, K), TTS_OK);
    give(space, K);
    T_EQ(tts_space_take_at(space, K, K), TTS_OK);
    done(space);
}

T_TEST(taken_blocks_are_listed_by_block_id)
{
    struct tts_space *space = space_of(plain);
    T_EQ(down(space, 512 * K), G - 512 * K);
    T_EQ(up(space, 2 * K), 0);
    T_EQ(up(space, 500), 2 * K);
    const struct tts_range all[] = {{G - 512 * K, G}, {0, 2 * K}, {2 * K, 3 * K}};
    taken_are(space, all, 3);
    give(space, G - 512 * K);
    taken_are(space, all + 1, 2);
    tts_space_clear(space);
    taken_are(space, NULL, 0);
    T_EQ(down(space, K), G - K);
    const struct tts_range top[] = {{G - K, G}};
    taken_are(space, top, 1);
    T_EQ(tts_space_shrink(space, K), TTS_OK);
    taken_are(space, top, 1);
    T_EQ(tts_space_unshrink(space), TTS_OK);
    taken_are(space, top, 1);
    done(space);
}

T_TEST(addresses_include_the_offset)
{
    struct tts_space_config config = plain;
    config.offset_bytes = 2 * K;
    struct tts_space *space = space_of(config);
    available_are(space, K, (struct tts_range[]){{2 * K, G + 2 * K}}, 1);
    T_EQ(tts_space_take_at(space, 2 * K, 3 * K), TTS_OK);
    const struct tts_range taken[] = {{2 * K, 5 * K}, {G, G + 2 * K}};
    taken_are(space, taken, 1);
    available_are(space, K, (struct tts_range[]){{5 * K, G + 2 * K}}, 1);
    T_EQ(down(space, 2 * K), G);
    taken_are(space, taken, 2);
    lowest_is(space, 2 * K);
    done(space);
}

T_TEST(buffers_from_the_top_of_an_l1_bank_end_at_a_running_total)
{
    struct tts_space_config config = {.size_bytes = 1393472,
                                      .offset_bytes = 105664,
                                      .min_bytes = 32,
                                      .alignment_bytes = 32,
                                      .policy = TTS_POLICY_FIRST};
    struct tts_space *space = space_of(config);
    uint64_t top = config.offset_bytes + config.size_bytes, total = 0;
    for (unsigned i = 0; i < 15; i++) {
        uint64_t bytes = (32 * K) << i % 3;
        total += bytes;
        T_EQ(down(space, bytes), top - total);
    }
    refused(space, config.size_bytes + 64);
    done(space);
}

/* --- quirks of the runtime's allocator, kept or not kept --------------------------------- */

T_TEST(a_shrink_sees_a_taken_block_whatever_its_id)
{
    struct tts_space_config config = plain;
    config.size_bytes = 10 * K;
    struct tts_space *space = space_of(config);
    T_EQ(tts_space_take_at(space, K, K), TTS_OK);
    T_EQ(up(space, K), 0);
    give(space, K);
    T_EQ(tts_space_shrink(space, 3 * K), TTS_E_BUSY);
    taken_are(space, (struct tts_range[]){{0, K}}, 1);
    available_are(space, 0, (struct tts_range[]){{K, 10 * K}}, 1);
    T_EQ(stats_of(space).total_bytes, 10 * K);
    done(space);
}

T_TEST(a_block_below_the_limit_stays_taken_but_is_not_the_lowest)
{
    struct tts_space *space = space_of(plain);
    uint64_t address = 77, size = 77;
    T_EQ(tts_space_take(space, K, TTS_DIRECTION_UP, 1, &address), TTS_E_BELOW_LIMIT);
    T_EQ(address, 0);
    T_TRUE(!tts_space_lowest_reported(space, &address));
    T_TRUE(tts_space_lowest(space, &address));
    T_EQ(tts_space_size_at(space, 0, &size), TTS_OK);
    T_EQ(size, K);
    T_EQ(up(space, K), K);
    give(space, 0);
    lowest_is(space, K);
    /* If no lowest address is reported, giving a block back does not change that. */
    give(space, K);
    T_EQ(tts_space_take(space, K, TTS_DIRECTION_UP, K, &address), TTS_E_BELOW_LIMIT);
    T_EQ(tts_space_take(space, K, TTS_DIRECTION_UP, G, &address), TTS_E_BELOW_LIMIT);
    T_EQ(address, K);
    give(space, 0);
    T_TRUE(!tts_space_lowest_reported(space, &address));
    T_TRUE(tts_space_lowest(space, &address));
    done(space);
}

T_TEST(a_limit_compares_with_the_absolute_address_and_never_steers)
{
    struct tts_space_config config = plain;
    config.offset_bytes = 4 * K;
    struct tts_space *space = space_of(config);
    uint64_t address = 77;
    T_EQ(tts_space_take(space, K, TTS_DIRECTION_UP, 4 * K, &address), TTS_OK);
    T_EQ(address, 4 * K);
    T_EQ(tts_space_take(space, K, TTS_DIRECTION_UP, 5 * K + 1, &address), TTS_E_BELOW_LIMIT);
    T_EQ(address, 5 * K);
    T_EQ(tts_space_take(space, K, TTS_DIRECTION_DOWN, 5 * K + 1, &address), TTS_OK);
    T_EQ(address, G + 3 * K);
    done(space);
}

T_TEST(a_clear_leaves_the_reported_lowest_address)
{
    struct tts_space *space = space_of(plain);
    uint64_t address = 77;
    T_EQ(tts_space_take_at(space, 8 * K, K), TTS_OK);
    tts_space_clear(space);
    T_TRUE(tts_space_lowest_reported(space, &address));
    T_EQ(address, 8 * K);
    T_TRUE(!tts_space_lowest(space, &address));
    /* A higher block does not change the lowest address, and giving it back does not either. */
    T_EQ(tts_space_take_at(space, 16 * K, K), TTS_OK);
    give(space, 16 * K);
    T_TRUE(tts_space_lowest_reported(space, &address));
    T_EQ(address, 8 * K);
    /* A lower block changes the lowest address. Giving back a block at or below it does too. */
    T_EQ(tts_space_take_at(space, 4 * K, K), TTS_OK);
    lowest_is(space, 4 * K);
    give(space, 4 * K);
    nothing_is_lowest(space);
    done(space);
}

T_TEST(giving_back_a_block_below_a_stale_lowest_address_finds_the_next_one)
{
    struct tts_space *space = space_of(plain);
    uint64_t address = 77;
    T_EQ(tts_space_take_at(space, 8 * K, K), TTS_OK);
    tts_space_clear(space);
    T_EQ(tts_space_take(space, K, TTS_DIRECTION_UP, K, &address), TTS_E_BELOW_LIMIT);
    T_EQ(tts_space_take_at(space, 16 * K, K), TTS_OK);
    give(space, 0); /* a block that was left behind and never was the lowest */
    lowest_is(space, 16 * K);
    done(space);
}

T_TEST(a_pool_that_is_not_aligned_is_not_aligned_from_the_top)
{
    struct tts_space_config config = {.size_bytes = 10000,
                                      .min_bytes = 32,
                                      .alignment_bytes = 32,
                                      .policy = TTS_POLICY_FIRST};
    struct tts_space *space = space_of(config);
    T_EQ(down(space, 32), 9968);
    T_EQ(down(space, 1), 9936);
    T_EQ(up(space, 33), 0);
    T_EQ(up(space, 32), 64);
    refused(space, 9936 - 96 + 1);
    T_EQ(down(space, 9936 - 96 - 16), 112);
    available_are(space, 0, NULL, 0); /* 16 bytes are left, which is less than a block */
    T_EQ(stats_of(space).largest_free_bytes, 16);
    done(space);
}

T_TEST(best_takes_the_first_fit_of_a_class_not_the_tightest)
{
    struct tts_space_config config = plain;
    config.min_bytes = config.alignment_bytes = 32;
    struct tts_space *space = space_of(config);
    T_EQ(tts_space_take_at(space, 3584, 32), TTS_OK);
    T_EQ(tts_space_take_at(space, 3616 + 3072, 32), TTS_OK);
    available_are(space, 3072, (struct tts_range[]){{0, 3584}, {3616, 6688}, {6720, G}}, 3);
    T_EQ(up(space, 3072), 0);
    done(space);
}

T_TEST(best_from_the_top_takes_the_last_fit_of_the_lowest_class)
{
    struct tts_space_config config = plain;
    config.min_bytes = config.alignment_bytes = 32;
    struct tts_space *space = space_of(config);
    T_EQ(tts_space_take_at(space, 3584, 32), TTS_OK);
    T_EQ(tts_space_take_at(space, 3616 + 3072, 32), TTS_OK);
    T_EQ(down(space, 3072), 3616);
    T_EQ(down(space, 3072), 512);
    T_EQ(down(space, 3072), G - 3072);
    done(space);
}

/* --- size classes ----------------------------------------------------------------------- */

T_TEST(available_ranges_are_sorted_by_class_then_address)
{
    struct tts_space_config config = plain;
    config.min_bytes = config.alignment_bytes = 1;
    struct tts_space *space = space_of(config);
    /* The sizes of the holes, from the bottom, are 4096 (class 2), 2047 (0), 2048 (1), 4095 (1)
     * and 1 (0). */
    const struct tts_range holes[] = {
        {0, 4096}, {4097, 6144}, {6145, 8193}, {8194, 12289}, {12290, 12291}};
    for (size_t i = 0; i < 5; i++)
        T_EQ(tts_space_take_at(space, holes[i].end, 1), TTS_OK);
    const struct tts_range sorted[] = {holes[1], holes[4], holes[2],
                                       holes[3], holes[0], {12292, G}};
    available_are(space, 0, sorted, 6);
    const struct tts_range from_2048[] = {holes[2], holes[3], holes[0], {12292, G}};
    available_are(space, 2048, from_2048, 4);
    T_EQ(down(space, 1), 12290);
    T_EQ(down(space, 2048), 8194 + 4095 - 2048);
    done(space);
}

T_TEST(the_last_class_is_open_and_a_tiny_pool_has_two)
{
    struct tts_space_config config = plain;
    config.size_bytes = 100 * K; /* this size has 7 classes */
    config.min_bytes = config.alignment_bytes = 1;
    struct tts_space *space = space_of(config);
    T_EQ(tts_space_take_at(space, 33 * K, 1), TTS_OK);
    T_EQ(down(space, 32 * K), K); /* class 5 comes before class 6 */
    done(space);

    /* This size has 5 classes: 8 KiB and 16 KiB are in different ones. */
    config.size_bytes = 16 * K;
    space = space_of(config);
    T_EQ(tts_space_take_at(space, 9 * K, 1), TTS_OK);
    available_are(space, 0, (struct tts_range[]){{9 * K + 1, 16 * K}, {0, 9 * K}}, 2);
    done(space);

    /* This size has 3 classes: 4 KiB and all larger sizes share one. */
    config.size_bytes = 7 * K;
    config.policy = TTS_POLICY_BEST;
    space = space_of(config);
    T_EQ(tts_space_take_at(space, 5 * K, 1), TTS_OK);
    available_are(space, 0, (struct tts_range[]){{5 * K + 1, 7 * K}, {0, 5 * K}}, 2);
    done(space);

    config.size_bytes = 1000; /* this size has 2 classes; all blocks are in the first */
    space = space_of(config);
    T_EQ(tts_space_take_at(space, 900, 1), TTS_OK);
    available_are(space, 0, (struct tts_range[]){{0, 900}, {901, 1000}}, 2);
    T_EQ(down(space, 50), 950);
    T_EQ(down(space, 50), 850);
    done(space);
}

T_TEST(a_block_of_128_mib_and_more_is_in_the_last_class)
{
    struct tts_space_config config = plain;
    config.size_bytes = 8 * G;
    struct tts_space *space = space_of(config);
    /* The first hole is much larger, but both are in class 17. */
    T_EQ(tts_space_take_at(space, 4 * G, K), TTS_OK);
    T_EQ(tts_space_take_at(space, 4 * G + K + G / 8, K), TTS_OK);
    const struct tts_range holes[] = {
        {0, 4 * G}, {4 * G + K, 4 * G + K + G / 8}, {4 * G + 2 * K + G / 8, 8 * G}};
    available_are(space, 0, holes, 3);
    T_EQ(up(space, G / 8), 0);
    done(space);
}
