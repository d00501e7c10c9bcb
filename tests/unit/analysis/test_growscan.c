/* Tests the search for growing pools in a file of events or samples. */
#include "analysis/questions/growscan.h"
#include "harness/t.h"

#define SECOND UINT64_C(1000000000)
#define MB (UINT64_C(1) << 20)

static struct tts_growscan begin_scan(void)
{
    return (struct tts_growscan){.rule = {TTS_GROWTH_INTERVAL_NS, TTS_GROWTH_RISES}};
}

/* Adds bytes at a time, or takes them away. */
static void change_at(struct tts_growscan *scan, uint64_t seconds, int64_t bytes)
{
    struct tts_item item = {
        .kind = TTS_ITEM_EVENT, .has_time = true, .time_ns = 1000 + seconds * SECOND};
    struct tts_live live = {.pool = TTS_POOL_DRAM,
                            .device = 3,
                            .size_bytes = bytes < 0 ? (uint64_t)-bytes : (uint64_t)bytes};
    struct tts_change change = {.has_come = bytes > 0, .has_left = bytes < 0};
    change.came = change.left = live;
    tts_growscan_item(scan, &item, &change);
}

static void end_at(struct tts_growscan *scan, uint64_t seconds)
{
    tts_growscan_end(scan, 1000 + seconds * SECOND);
}

T_TEST(the_published_rule_finds_10_20_30_mb_at_10_seconds)
{
    struct tts_growscan scan = begin_scan();
    for (uint64_t i = 0; i < 3; i++)
        change_at(&scan, 5 * i, (int64_t)(10 * MB));
    T_EQ(scan.found.count, 0);
    end_at(&scan, 10);
    T_EQ(scan.found.count, 1);
    const struct tts_growfound *found = &scan.found.list[0];
    T_TRUE(found->device == 3 && found->pool == TTS_POOL_DRAM && !found->is_withdrawn);
    T_EQ(found->growth.last_bytes - found->growth.from_bytes, 20 * MB);
}

T_TEST(a_growth_that_levels_off_is_withdrawn_and_a_later_one_is_another)
{
    struct tts_growscan scan = begin_scan();
    for (uint64_t i = 0; i < 4; i++)
        change_at(&scan, 1 + 5 * i, (int64_t)MB);
    for (uint64_t i = 0; i < 4; i++)
        change_at(&scan, 3601 + 5 * i, (int64_t)MB);
    end_at(&scan, 3621);
    T_EQ(scan.found.count, 2);
    T_TRUE(scan.found.list[0].is_withdrawn && !scan.found.list[1].is_withdrawn);
    T_EQ(scan.found.list[0].withdrawn_ns, 1000 + 26 * SECOND);
    T_EQ(scan.found.list[0].growth.from_ns, 1000 + 1 * SECOND);
}

T_TEST(a_fall_ends_a_growth_and_short_files_have_none)
{
    struct tts_growscan scan = begin_scan();
    for (uint64_t i = 0; i < 40; i++) /* all within one interval */
        change_at(&scan, i / 10, (int64_t)MB);
    T_EQ(scan.found.count, 0);
    change_at(&scan, 9, (int64_t)MB);
    change_at(&scan, 14, (int64_t)MB);
    change_at(&scan, 19, -(int64_t)(20 * MB));
    end_at(&scan, 25);
    T_EQ(scan.found.count, 1);
    T_TRUE(scan.found.list[0].is_withdrawn);
}

T_TEST(buffers_that_lived_before_the_file_are_no_growth)
{
    struct tts_growscan scan = begin_scan();
    struct tts_item item = {.kind = TTS_ITEM_LIVE, .has_time = true, .time_ns = 1000};
    struct tts_change change = {.has_come = true, .is_restored = true};
    change.came = (struct tts_live){.pool = TTS_POOL_DRAM, .device = 3, .size_bytes = MB};
    for (int i = 0; i < 100; i++)
        tts_growscan_item(&scan, &item, &change);
    T_TRUE(!scan.found.has_times);
    change_at(&scan, 1, 1);
    change_at(&scan, 7, 1);
    end_at(&scan, 60);
    T_EQ(scan.found.count, 0);
    T_TRUE(scan.found.has_times);
}

/* Five samples of a pool of 100 MB that grows by 1 MB every 5 seconds. */
static void sample_growth(struct tts_growscan *scan, uint32_t device, enum tts_pool pool)
{
    struct tts_change none = {0};
    struct tts_sample sample = {0};
    struct tts_item item = {
        .kind = TTS_ITEM_SAMPLE, .device = device, .has_time = true, .sample = &sample};
    for (uint64_t i = 0; i < 5; i++) {
        tts_sample_set(&sample, tts_sample_number(TTS_SAMPLE_ALLOCATED, pool), i * MB);
        tts_sample_set(&sample, tts_sample_number(TTS_SAMPLE_TOTAL, pool), 100 * MB);
        item.time_ns = 5 * i * SECOND;
        tts_growscan_item(scan, &item, &none);
    }
}

T_TEST(samples_count_for_a_device_without_events)
{
    struct tts_growscan scan = begin_scan();
    sample_growth(&scan, 1, TTS_POOL_L1);
    T_EQ(scan.found.count, 1);
    T_TRUE(scan.found.list[0].device == 1 && scan.found.list[0].pool == TTS_POOL_L1);
    T_TRUE(scan.found.list[0].total_known && scan.found.list[0].total_bytes == 100 * MB);
}

T_TEST(growths_of_samples_are_dropped_and_totals_are_kept_when_events_begin)
{
    struct tts_growscan scan = begin_scan();
    sample_growth(&scan, 3, TTS_POOL_DRAM); /* device 3 gets events */
    sample_growth(&scan, 1, TTS_POOL_L1);
    sample_growth(&scan, 3, TTS_POOL_TRACE);
    T_EQ(scan.found.count, 3);
    for (uint64_t i = 6; i < 9; i++)
        change_at(&scan, 5 * i, (int64_t)MB);
    end_at(&scan, 40);
    T_EQ(scan.found.count, 2);
    const struct tts_growfound *sampled = &scan.found.list[0], *found = &scan.found.list[1];
    T_TRUE(sampled->device == 1 && sampled->pool == TTS_POOL_L1 && sampled->is_withdrawn);
    T_TRUE(found->device == 3 && found->pool == TTS_POOL_DRAM && !found->is_withdrawn);
    T_EQ(found->growth.from_ns, 1000 + 30 * SECOND);
    T_TRUE(found->total_known && found->total_bytes == 100 * MB);
}

T_TEST(growths_of_samples_beyond_the_limit_do_not_count_when_events_begin)
{
    struct tts_growscan scan = begin_scan();
    for (uint64_t i = 0; i < TTS_GROWSCAN_FOUND_MAX; i++)
        for (uint64_t j = 0; j < 4; j++)
            change_at(&scan, 1000 * i + 5 * j, (int64_t)MB);
    sample_growth(&scan, 1, TTS_POOL_L1);
    T_EQ(scan.found.unlisted, 1);
    struct tts_item item = {.kind = TTS_ITEM_EVENT, .has_time = true, .time_ns = SECOND};
    struct tts_change change = {.has_come = true};
    change.came = (struct tts_live){.pool = TTS_POOL_L1, .device = 1, .size_bytes = MB};
    tts_growscan_item(&scan, &item, &change);
    T_EQ(scan.found.unlisted, 0);
    T_EQ(scan.found.count, TTS_GROWSCAN_FOUND_MAX);
}

T_TEST(more_devices_and_growths_than_the_limits_are_counted)
{
    struct tts_growscan scan = begin_scan();
    struct tts_item item = {.kind = TTS_ITEM_EVENT, .has_time = true};
    struct tts_change change = {.has_come = true};
    change.came = (struct tts_live){.pool = TTS_POOL_DRAM, .size_bytes = 1};
    for (uint32_t i = 0; i < 3 * (TTS_GROWSCAN_DEVICES + 2); i++) { /* each device 3 times */
        change.came.device = i % (TTS_GROWSCAN_DEVICES + 2);
        tts_growscan_item(&scan, &item, &change);
    }
    T_EQ(scan.found.devices_left_out, 2);
    scan = begin_scan();
    for (uint64_t i = 0; i < TTS_GROWSCAN_FOUND_MAX + 2; i++)
        for (uint64_t j = 0; j < 4; j++)
            change_at(&scan, 1000 * i + 5 * j, (int64_t)MB);
    end_at(&scan, 1000000);
    T_EQ(scan.found.count, TTS_GROWSCAN_FOUND_MAX);
    T_EQ(scan.found.unlisted, 2);
}

T_TEST(a_file_whose_events_have_times_and_touch_no_pool_has_times)
{
    struct tts_growscan scan = begin_scan();
    struct tts_change none = {0};
    struct tts_item item = {.kind = TTS_ITEM_EVENT};
    tts_growscan_item(&scan, &item, &none);
    T_TRUE(!scan.found.has_times);
    item.has_time = true;
    tts_growscan_item(&scan, &item, &none);
    T_TRUE(scan.found.has_times);
}

T_TEST(a_growth_beyond_the_limit_that_pauses_is_counted_once)
{
    struct tts_growscan scan = begin_scan();
    change_at(&scan, 0, (int64_t)MB);
    for (uint64_t i = 1; i <= TTS_GROWSCAN_FOUND_MAX + 1; i++)
        for (uint64_t j = 0; j < 2; j++) /* two rises, then a sample without a rise */
            change_at(&scan, 1000 * i + 5 * j, (int64_t)MB);
    end_at(&scan, 1000000);
    T_EQ(scan.found.count, TTS_GROWSCAN_FOUND_MAX);
    T_EQ(scan.found.unlisted, 1);
}
