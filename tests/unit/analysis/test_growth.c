#include "analysis/questions/growth.h"
#include "harness/t.h"

#define SECOND UINT64_C(1000000000)
#define MB UINT64_C(1048576)

static const struct tts_growth_rule published = {TTS_GROWTH_INTERVAL_NS, TTS_GROWTH_RISES};

/* Feeds samples of `mb` every five seconds. Returns the number of the first sample that grows,
 * from 1, or 0. */
static int first_growing(struct tts_growth *growth, const int *mb, int count)
{
    int first = 0;
    *growth = (struct tts_growth){0};
    for (int i = 0; i < count; i++)
        if (tts_growth_feed(growth, &published, 7 + (uint64_t)i * 5 * SECOND,
                            (uint64_t)mb[i] * MB) &&
            first == 0)
            first = i + 1;
    return first;
}

T_TEST(the_published_samples_grow_at_the_third)
{
    struct tts_growth growth;
    uint64_t seconds;
    T_EQ(first_growing(&growth, (int[]){10, 20, 30, 40}, 4), 3);
    T_TRUE(growth.is_growing);
    T_EQ(tts_growth_slope(&growth), 2 * MB);
    T_TRUE(tts_growth_full(&growth, 60 * MB, &seconds));
    T_EQ(seconds, 30);
}

T_TEST(a_fall_begins_again_and_a_pause_does_not)
{
    struct tts_growth growth;
    T_EQ(first_growing(&growth, (int[]){10, 20, 15, 25, 24, 30}, 6), 0);
    T_EQ(first_growing(&growth, (int[]){10, 20, 15, 25, 35}, 5), 5);
    T_EQ(first_growing(&growth, (int[]){10, 20, 20, 30}, 4), 4);
    T_EQ(first_growing(&growth, (int[]){10, 20, 20, 20, 30}, 5), 0);
    T_EQ(first_growing(&growth, (int[]){10, 10, 10, 20, 30}, 5), 5);
    T_EQ(growth.from_bytes, 10 * MB);
    T_EQ(growth.last_ns - growth.from_ns, 10 * SECOND);
}

T_TEST(a_growth_ends_when_the_pool_falls_or_levels_off)
{
    struct tts_growth growth;
    uint64_t seconds;
    T_EQ(first_growing(&growth, (int[]){10, 20, 30, 29}, 4), 3);
    T_TRUE(!growth.is_growing);
    T_EQ(first_growing(&growth, (int[]){10, 20, 30, 30}, 4), 3);
    T_TRUE(growth.is_growing);
    T_EQ(first_growing(&growth, (int[]){10, 20, 30, 30, 30}, 5), 3);
    T_TRUE(!growth.is_growing);
    T_EQ(tts_growth_slope(&growth), 0);
    T_TRUE(!tts_growth_full(&growth, 60 * MB, &seconds));
}

T_TEST(only_samples_that_are_due_count)
{
    struct tts_growth growth = {0};
    uint64_t at = 0;
    for (int i = 0; i < 10; i++, at += SECOND)
        T_TRUE(!tts_growth_feed(&growth, &published, at, (uint64_t)i * MB));
    /* A refresh of 10.0 s that comes 50 ms early is the third sample. */
    T_TRUE(tts_growth_feed(&growth, &published, at - SECOND / 20, 10 * MB));
    /* A pause of 28 s is one sample; the next is due at 40 s. */
    T_TRUE(tts_growth_feed(&growth, &published, 38 * SECOND, 11 * MB));
    T_TRUE(tts_growth_feed(&growth, &published, 39 * SECOND, 1 * MB));
    T_TRUE(!tts_growth_feed(&growth, &published, 40 * SECOND, 1 * MB));
}

T_TEST(a_clock_that_goes_back_begins_again)
{
    struct tts_growth growth = {0};
    for (uint64_t i = 0; i < 3; i++)
        (void)tts_growth_feed(&growth, &published, (100 + 5 * i) * SECOND, i * MB);
    T_TRUE(growth.is_growing);
    T_TRUE(!tts_growth_feed(&growth, &published, 50 * SECOND, 9 * MB));
    T_TRUE(!tts_growth_feed(&growth, &published, 55 * SECOND, 10 * MB));
    T_TRUE(tts_growth_feed(&growth, &published, 60 * SECOND, 11 * MB));
}

T_TEST(other_intervals_and_rises_are_possible)
{
    struct tts_growth_rule rule = {SECOND, 4};
    struct tts_growth growth = {0};
    for (uint64_t i = 0; i < 5; i++)
        T_EQ(tts_growth_feed(&growth, &rule, i * SECOND, i), i == 4);
}

T_TEST(foreign_numbers_do_not_wrap)
{
    struct tts_growth_rule rule = {1, 1};
    struct tts_growth growth = {0};
    uint64_t seconds;
    (void)tts_growth_feed(&growth, &rule, 0, 0);
    T_TRUE(tts_growth_feed(&growth, &rule, 1, UINT64_MAX));
    T_EQ(tts_growth_slope(&growth), UINT64_MAX);
    T_TRUE(tts_growth_full(&growth, UINT64_MAX, &seconds));
    T_EQ(seconds, 0);
    growth = (struct tts_growth){0};
    (void)tts_growth_feed(&growth, &rule, 0, 0);
    T_TRUE(tts_growth_feed(&growth, &rule, UINT64_MAX / 2, 1));
    T_TRUE(tts_growth_full(&growth, UINT64_MAX, &seconds));
    T_EQ(seconds, UINT64_MAX / SECOND);
}
