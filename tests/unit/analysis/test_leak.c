#include "analysis/questions/leak.h"
#include "harness/t.h"
#include "torture/heap.h"

/* A history with a key that comes and goes in each window (many), one with a base, and one that
 * is judged. A tick is one window until 16 are full. */
struct history_rig {
    struct tts_leak leak;
    uint32_t work, base, judged;
    uint64_t time_ns, allocs, frees;
};

static void init_history(struct history_rig *rig)
{
    *rig = (struct history_rig){.allocs = 100};
    T_EQ(tts_leak_init(&rig->leak, 3, NULL), TTS_OK);
    T_EQ(tts_leak_add(&rig->leak, 0, &rig->work), TTS_OK);
    T_EQ(tts_leak_add(&rig->leak, 50, &rig->base), TTS_OK);
    T_EQ(tts_leak_add(&rig->leak, 0, &rig->judged), TTS_OK);
}

/* Adds a window in which 40 buffers come and go, and the judged key has `low` to `high`. */
static void add_window(struct history_rig *rig, uint32_t low, uint32_t high)
{
    rig->time_ns += 1000;
    rig->allocs += 41;
    rig->frees += 40;
    tts_leak_set(&rig->leak, rig->work, 40, 0);
    tts_leak_set(&rig->leak, rig->judged, high, 0);
    tts_leak_set(&rig->leak, rig->judged, low, 0);
    tts_leak_set(&rig->leak, rig->work, 0, 40);
    tts_leak_tick(&rig->leak, rig->time_ns, rig->allocs, rig->frees);
}

static bool judge(struct history_rig *rig, bool has_ended, struct tts_leakfound *found)
{
    return tts_leak_judge(&rig->leak, has_ended, found);
}

/* The lowest number of a window is that at its begin. */
T_TEST(six_groups_from_the_begin_are_a_leak_and_five_are_not)
{
    struct history_rig rig;
    struct tts_leakfound found;
    init_history(&rig);
    for (uint32_t i = 1; i <= 6; i++)
        add_window(&rig, i, i);
    T_TRUE(!judge(&rig, false, &found));
    add_window(&rig, 7, 7);
    T_TRUE(judge(&rig, false, &found));
    T_EQ(found.growth_count, 1);
    T_EQ(found.growths[0].key, rig.judged);
    T_EQ(found.windows, 6);
    T_TRUE(!found.is_after_steady);
    T_EQ(found.until_ns, rig.time_ns);
    tts_leak_release(&rig.leak);
}

T_TEST(a_growth_of_less_than_half_of_the_history_needs_a_steady_time)
{
    struct history_rig rig;
    struct tts_leakfound found;
    init_history(&rig);
    for (uint32_t i = 0; i < 8; i++)
        add_window(&rig, 200 - 20 * i, 200); /* falls */
    for (uint32_t i = 1; i <= 6; i++)
        add_window(&rig, 60 + i, 60 + i);
    T_TRUE(!judge(&rig, false, &found));
    tts_leak_release(&rig.leak);
    init_history(&rig);
    for (uint32_t i = 0; i < 8; i++)
        add_window(&rig, 60, 60);
    for (uint32_t i = 1; i <= 4; i++)
        add_window(&rig, 60 + i, 60 + i);
    T_TRUE(judge(&rig, false, &found));
    T_TRUE(found.is_after_steady);
    T_EQ(found.windows, 4);
    T_EQ(found.since_ns, 8 * 1000);
    tts_leak_release(&rig.leak);
}

T_TEST(a_growth_within_the_swing_is_no_leak)
{
    struct history_rig rig;
    struct tts_leakfound found;
    init_history(&rig);
    for (uint32_t i = 1; i <= 12; i++)
        add_window(&rig, i, i + 50);
    T_TRUE(!judge(&rig, false, &found));
    tts_leak_release(&rig.leak);
}

T_TEST(a_growth_in_every_second_window_is_seen_in_pairs)
{
    struct history_rig rig;
    struct tts_leakfound found;
    init_history(&rig);
    for (uint32_t i = 2; i < 15; i++)
        add_window(&rig, i / 2, i / 2);
    T_TRUE(judge(&rig, false, &found));
    T_EQ(found.windows, 6);
    tts_leak_release(&rig.leak);
}

T_TEST(windows_in_which_a_program_cleans_up_are_left_out)
{
    struct history_rig rig;
    struct tts_leakfound found;
    init_history(&rig);
    for (uint32_t i = 1; i <= 10; i++)
        add_window(&rig, 10 * i, 10 * i);
    tts_leak_set(&rig.leak, rig.base, 0, 50);
    add_window(&rig, 0, 0);
    add_window(&rig, 1, 1);
    T_TRUE(!judge(&rig, false, &found));
    T_TRUE(judge(&rig, true, &found));
    T_EQ(found.growths[0].key, rig.judged);
    tts_leak_release(&rig.leak);
}

T_TEST(other_work_after_a_steady_time_is_no_leak)
{
    struct history_rig rig;
    struct tts_leakfound found;
    uint32_t other;
    init_history(&rig);
    tts_leak_release(&rig.leak);
    rig = (struct history_rig){.allocs = 100};
    T_EQ(tts_leak_init(&rig.leak, 4, NULL), TTS_OK);
    T_EQ(tts_leak_add(&rig.leak, 0, &rig.work), TTS_OK);
    T_EQ(tts_leak_add(&rig.leak, 50, &rig.base), TTS_OK);
    T_EQ(tts_leak_add(&rig.leak, 0, &rig.judged), TTS_OK);
    T_EQ(tts_leak_add(&rig.leak, 0, &other), TTS_OK);
    for (uint32_t i = 0; i < 8; i++)
        add_window(&rig, 7, 7);
    uint32_t work = rig.work;
    rig.work = other; /* the kinds of the steady time are no longer freed */
    for (uint32_t i = 1; i <= 5; i++)
        add_window(&rig, 7 + i, 7 + i);
    T_TRUE(!judge(&rig, false, &found));
    rig.work = work;
    tts_leak_release(&rig.leak);
}

/* Adds windows in which the judged key grows, two buffers are allocated and one is freed. */
static bool leaks_by_halves(uint32_t base)
{
    struct history_rig rig;
    struct tts_leakfound found;
    init_history(&rig);
    tts_leak_set(&rig.leak, rig.base, base, 0);
    for (uint32_t i = 1; i <= 10; i++) {
        tts_leak_set(&rig.leak, rig.work, 0, 1);
        tts_leak_set(&rig.leak, rig.judged, i, 0);
        tts_leak_tick(&rig.leak, 1000 * i, 2 * i, i);
    }
    bool leaks = judge(&rig, false, &found);
    tts_leak_release(&rig.leak);
    return leaks;
}

T_TEST(a_program_that_keeps_half_needs_other_buffers)
{
    T_TRUE(!leaks_by_halves(3));
    T_TRUE(leaks_by_halves(4));
}

T_TEST(a_kind_that_replaces_another_is_no_leak)
{
    struct history_rig rig;
    struct tts_leakfound found;
    init_history(&rig);
    for (uint32_t i = 1; i <= 10; i++) {
        tts_leak_set(&rig.leak, rig.base, 50 - i, 1);
        add_window(&rig, 2 * i, 2 * i);
    }
    T_TRUE(judge(&rig, false, &found)); /* one of two replaces another buffer */
    tts_leak_reset(&rig.leak);
    tts_leak_release(&rig.leak);
    init_history(&rig);
    for (uint32_t i = 1; i <= 10; i++) {
        tts_leak_set(&rig.leak, rig.base, 50 - 2 * i, 2);
        add_window(&rig, 3 * i, 3 * i);
    }
    T_TRUE(!judge(&rig, false, &found));
    tts_leak_release(&rig.leak);
}

T_TEST(windows_become_longer_and_keep_the_extremes)
{
    struct history_rig rig;
    struct tts_leakfound found;
    init_history(&rig);
    for (uint32_t i = 1; i <= 100; i++)
        add_window(&rig, i, i + 1);
    T_EQ(rig.leak.span, 8);
    T_EQ(rig.leak.window_count, 100 / 8);
    T_EQ(rig.leak.keys[rig.judged].low[0], 1);
    T_EQ(rig.leak.keys[rig.judged].high[0], 9);
    T_EQ(rig.leak.keys[rig.judged].low[1], 8);
    T_EQ(rig.leak.keys[rig.judged].high[1], 17);
    T_EQ(rig.leak.keys[rig.work].freed[1], 8 * 40);
    T_TRUE(judge(&rig, false, &found));
    tts_leak_reset(&rig.leak);
    T_TRUE(!judge(&rig, false, &found));
    T_EQ(rig.leak.key_capacity, 3);
    tts_leak_release(&rig.leak);
}

T_TEST(keys_beyond_the_capacity_are_refused)
{
    struct history_rig rig;
    uint32_t key = 77;
    struct heap heap;
    init_history(&rig);
    T_EQ(tts_leak_add(&rig.leak, 1, &key), TTS_E_FULL);
    T_EQ(key, 77);
    tts_leak_release(&rig.leak);
    heap_init(&heap);
    heap.fail_at = 1;
    T_EQ(tts_leak_init(&rig.leak, 3, &heap.alloc), TTS_E_NOMEM);
    tts_leak_release(&rig.leak);
    T_EQ(heap.live_bytes, 0);
}
