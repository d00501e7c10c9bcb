/* The unit of a space is internal, so no request, however unusual, may reveal it. Every test
 * runs with the vector instructions of the processor and with portable code. */
#include "device/blocks.h"
#include "device/space.h"
#include "harness/t.h"

#include <stdbool.h>

/* Returns the memory of a new space. A space with words of half the width has about half the
 * memory. */
static size_t memory_of(uint64_t size_bytes, uint64_t alignment_bytes)
{
    struct tts_space_config config = {.size_bytes = size_bytes,
                                      .alignment_bytes = alignment_bytes,
                                      .policy = TTS_POLICY_FIRST};
    struct tts_space *space = NULL;
    T_EQ(tts_space_new(&config, NULL, &space, NULL), TTS_OK);
    size_t bytes = tts_space_memory(space);
    tts_space_free(space);
    return bytes;
}

T_TEST(words_are_as_narrow_as_a_space_allows)
{
    size_t narrow = memory_of(32, 1);
    T_EQ(memory_of(65534, 1), narrow);
    T_EQ(memory_of(65535, 1), memory_of(UINT32_MAX - 1, 1));
    T_EQ(memory_of(UINT64_C(32) * 65534, 32), narrow);
    T_EQ(memory_of(32 * TTS_SPACE_MAX_UNITS, 32), memory_of(65535, 1));
}

static const uint64_t L1_BYTES = 1393472, LARGE = UINT64_C(1) << 36;

static struct tts_space *space_of(uint64_t size_bytes, uint64_t alignment_bytes, bool portable)
{
    struct tts_space_config config = {.size_bytes = size_bytes,
                                      .min_bytes = alignment_bytes,
                                      .alignment_bytes = alignment_bytes,
                                      .policy = TTS_POLICY_FIRST};
    struct tts_space *space = NULL;
    tts_blocks_set_portable(portable);
    T_EQ(tts_space_new(&config, NULL, &space, NULL), TTS_OK);
    return space;
}

static void done(struct tts_space *space)
{
    T_TRUE(tts_space_is_valid(space));
    tts_space_free(space);
    tts_blocks_set_portable(false);
}

static uint64_t take(struct tts_space *space, uint64_t bytes, enum tts_direction direction)
{
    uint64_t address = 0;
    T_EQ(tts_space_take(space, bytes, direction, 0, &address), TTS_OK);
    T_TRUE(tts_space_is_valid(space));
    return address;
}

static void both_ways(void (*test)(bool portable))
{
    test(false);
    test(true);
}

static void place_odd(bool portable)
{
    struct tts_space *space = space_of(L1_BYTES, 32, portable), *copy;
    for (uint64_t i = 0; i < 100; i++)
        T_EQ(take(space, 2048, TTS_DIRECTION_UP), i * 2048);
    T_EQ(tts_space_take_at(space, 500001, 32), TTS_OK);
    T_TRUE(tts_space_is_valid(space));
    T_EQ(take(space, 500001 - 100 * 2048 - 31, TTS_DIRECTION_UP), 100 * 2048);
    T_EQ(take(space, 32, TTS_DIRECTION_UP), 500001 + 32);
    T_EQ(take(space, 32, TTS_DIRECTION_DOWN), L1_BYTES - 32);
    T_EQ(tts_space_copy(space, &copy), TTS_OK);
    T_TRUE(tts_space_equal(space, copy));
    T_EQ(tts_space_give(space, 500001), TTS_OK);
    T_TRUE(!tts_space_equal(space, copy));
    tts_space_free(copy);
    for (uint64_t i = 0; i < 100; i++)
        T_EQ(tts_space_give(space, i * 2048), TTS_OK);
    done(space);
}

T_TEST(an_odd_address_leaves_all_others_where_they_are)
{
    both_ways(place_odd);
}

static void shrink_odd(bool portable)
{
    struct tts_space *space = space_of(L1_BYTES, 32, portable);
    struct tts_space_stats stats;
    T_EQ(take(space, 64, TTS_DIRECTION_DOWN), L1_BYTES - 64);
    T_EQ(tts_space_shrink(space, 17), TTS_OK);
    T_EQ(take(space, 32, TTS_DIRECTION_UP), 17);
    tts_space_get_stats(space, &stats);
    T_EQ(stats.total_bytes, L1_BYTES - 17);
    T_EQ(stats.largest_free_bytes, L1_BYTES - 17 - 32 - 64);
    T_EQ(tts_space_unshrink(space), TTS_OK);
    T_EQ(tts_space_give(space, 17), TTS_OK);
    T_EQ(take(space, L1_BYTES - 64, TTS_DIRECTION_UP), 0);
    done(space);
}

T_TEST(a_shrink_need_not_be_aligned)
{
    both_ways(shrink_odd);
}

T_TEST(a_large_space_refuses_a_shrink_that_it_cannot_count)
{
    struct tts_space *space = space_of(LARGE, 32, false);
    T_EQ(tts_space_shrink(space, 17), TTS_E_RANGE);
    T_EQ(tts_space_shrink(space, 64), TTS_OK);
    T_EQ(take(space, 32, TTS_DIRECTION_UP), 64);
    done(space);
}

/* Asks for single bytes in a space whose unit is 32 bytes. The space has too many bytes for a
 * unit of one byte. */
static void ask_for_single_bytes(bool portable)
{
    struct tts_space *space = space_of(LARGE, 32, portable);
    T_EQ(take(space, LARGE / 2, TTS_DIRECTION_DOWN), LARGE / 2);
    T_EQ(take(space, 4096, TTS_DIRECTION_UP), 0);
    T_EQ(take(space, 33, TTS_DIRECTION_UP), 4096);
    T_EQ(take(space, 4096, TTS_DIRECTION_UP), 4096 + 64);
    size_t before = tts_space_memory(space);
    T_EQ(tts_space_take_at(space, 1000001, 1), TTS_E_RANGE);
    T_EQ(tts_space_take_at(space, LARGE - 1, 1), TTS_E_FULL);
    T_EQ(tts_space_memory(space), before);
    T_EQ(tts_space_give(space, LARGE / 2), TTS_OK);
    T_EQ(tts_space_give(space, 1000001), TTS_E_NOT_FOUND);
    T_EQ(take(space, LARGE - 8192 - 64, TTS_DIRECTION_UP), 8192 + 64);
    done(space);
}

T_TEST(a_large_space_refuses_addresses_that_it_cannot_count)
{
    both_ways(ask_for_single_bytes);
}

/* Makes calls that fail. They must change neither the unit nor the memory. */
static void fail_odd(bool portable)
{
    struct tts_space *space = space_of(L1_BYTES, 32, portable);
    struct tts_space *large = space_of(LARGE, 32, portable);
    T_EQ(take(space, L1_BYTES, TTS_DIRECTION_UP), 0);
    size_t before = tts_space_memory(space);
    T_EQ(tts_space_take_at(space, 17, 1), TTS_E_FULL);
    T_EQ(tts_space_take_at(space, L1_BYTES - 1, 32), TTS_E_FULL);
    T_EQ(tts_space_shrink(space, 17), TTS_E_BUSY);
    T_EQ(tts_space_memory(space), before);
    T_EQ(take(large, LARGE, TTS_DIRECTION_UP), 0);
    before = tts_space_memory(large);
    uint64_t address;
    T_EQ(tts_space_take(large, 32, TTS_DIRECTION_UP, 0, &address), TTS_E_FULL);
    T_EQ(tts_space_memory(large), before);
    tts_space_free(large);
    done(space);
}

T_TEST(an_odd_request_that_fails_changes_nothing)
{
    both_ways(fail_odd);
}

static void refuse_what_cannot_be(bool portable)
{
    struct tts_space *space = space_of(LARGE, 32, portable);
    uint64_t address, bytes;
    T_EQ(tts_space_take(space, UINT64_MAX, TTS_DIRECTION_UP, 0, &address), TTS_E_FULL);
    T_EQ(tts_space_take(space, LARGE + 1, TTS_DIRECTION_UP, 0, &address), TTS_E_FULL);
    T_EQ(tts_space_give(space, 7), TTS_E_NOT_FOUND);
    T_EQ(tts_space_size_at(space, 7, &bytes), TTS_E_NOT_FOUND);
    T_EQ(take(space, LARGE, TTS_DIRECTION_UP), 0);
    T_EQ(tts_space_take(space, 32, TTS_DIRECTION_UP, 0, &address), TTS_E_FULL);
    done(space);
}

T_TEST(what_no_unit_could_express_is_not_there)
{
    both_ways(refuse_what_cannot_be);
}

/* Returns true if the hash of the start has certain top bits. The map of taken blocks
 * multiplies starts by this number and uses the top bits. */
static bool is_alike(uint64_t start)
{
    return start * UINT64_C(0x9e3779b97f4a7c15) >> 52 == 0x5a5;
}

static void take_alike(bool portable)
{
    enum { MANY = 1500 };
    struct tts_space *space = space_of(TTS_SPACE_MAX_UNITS, 1, portable);
    uint64_t taken[MANY], start = 1000;
    for (int i = 0; i < MANY; i++) {
        while (!is_alike(++start))
            ;
        taken[i] = start;
        T_EQ(tts_space_take_at(space, start, 1), TTS_OK);
    }
    T_TRUE(tts_space_is_valid(space));
    for (int i = 0; i < MANY; i++) {
        uint64_t bytes = 0;
        T_EQ(tts_space_size_at(space, taken[i], &bytes), TTS_OK);
        T_EQ(bytes, 1);
    }
    T_TRUE(tts_space_memory(space) < 2000 * MANY);
    for (int i = MANY; i-- > 0;)
        T_EQ(tts_space_give(space, taken[i]), TTS_OK);
    T_EQ(tts_space_give(space, taken[0]), TTS_E_NOT_FOUND);
    done(space);
}

T_TEST(starts_that_hash_alike_cost_time_but_neither_memory_nor_truth)
{
    both_ways(take_alike);
}
