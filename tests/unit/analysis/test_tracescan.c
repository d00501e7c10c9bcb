#include "analysis/questions/tracescan.h"
#include "harness/item_rig.h"
#include "harness/t.h"

#define MB UINT64_C(1048576)

struct scan_rig {
    struct item_rig items;
    struct tts_tracescan scan;
};

/* Feeds an event without an effect on buffers. Returns the phase after it. */
static enum tts_tracephase feed_event(struct scan_rig *rig, enum tts_event_kind kind)
{
    struct tts_item item = item_event(&rig->items, kind, 0);
    struct tts_change change = {0};
    tts_tracescan_item(&rig->scan, &item, &change);
    return tts_livephases_now(&rig->scan.phases.answer);
}

static enum tts_tracephase feed_alloc(struct scan_rig *rig, enum tts_pool pool, uint64_t bytes)
{
    struct tts_item item = item_event(&rig->items, TTS_EVENT_ALLOC, 0);
    struct tts_change change = {.has_come = true, .came = {.pool = pool, .size_bytes = bytes}};
    tts_tracescan_item(&rig->scan, &item, &change);
    return tts_livephases_now(&rig->scan.phases.answer);
}

static enum tts_tracephase feed_free(struct scan_rig *rig, enum tts_pool pool, uint64_t bytes)
{
    struct tts_item item = item_event(&rig->items, TTS_EVENT_FREE, 0);
    struct tts_change change = {.has_left = true, .left = {.pool = pool, .size_bytes = bytes}};
    tts_tracescan_item(&rig->scan, &item, &change);
    return tts_livephases_now(&rig->scan.phases.answer);
}

T_TEST(without_times_the_order_of_the_runtime_ends_with_the_trace_buffer)
{
    struct scan_rig rig = {.items.has_time = false};
    T_EQ(feed_alloc(&rig, TTS_POOL_DRAM, MB), TTS_TRACEPHASE_INIT);
    T_EQ(feed_event(&rig, TTS_EVENT_TRACE_BEGIN), TTS_TRACEPHASE_CAPTURE_START);
    T_EQ(feed_event(&rig, TTS_EVENT_OP_BEGIN), TTS_TRACEPHASE_CAPTURE_START);
    T_EQ(feed_alloc(&rig, TTS_POOL_L1, 80 * MB), TTS_TRACEPHASE_CAPTURE_DATA);
    T_EQ(feed_event(&rig, TTS_EVENT_TRACE_END), TTS_TRACEPHASE_CAPTURE_END);
    T_EQ(feed_alloc(&rig, TTS_POOL_TRACE, 128 * MB), TTS_TRACEPHASE_CAPTURE_END);
    T_EQ(feed_event(&rig, TTS_EVENT_OP_BEGIN), TTS_TRACEPHASE_EXECUTION);
    T_EQ(feed_event(&rig, TTS_EVENT_OP_END), TTS_TRACEPHASE_EXECUTION);
    T_EQ(rig.scan.begun + rig.scan.ended, 2);
    T_EQ(rig.scan.phases.answer.row_count, 5);
    T_EQ(rig.scan.phases.answer.rows[3].change_bytes, 128 * MB);
    T_EQ(feed_free(&rig, TTS_POOL_TRACE, 128 * MB), TTS_TRACEPHASE_EXECUTION);
    T_EQ(feed_free(&rig, TTS_POOL_L1, 80 * MB), TTS_TRACEPHASE_EXECUTION);
    T_EQ(feed_free(&rig, TTS_POOL_DRAM, MB), TTS_TRACEPHASE_IDLE);
}

T_TEST(a_free_of_more_than_was_counted_leaves_nothing)
{
    struct scan_rig rig = {.items.has_time = false};
    (void)feed_alloc(&rig, TTS_POOL_L1, 5);
    (void)feed_free(&rig, TTS_POOL_L1, 9);
    T_EQ(rig.scan.bytes[TTS_POOL_L1], 0);
    (void)feed_event(&rig, TTS_EVENT_TRACE_END);
    T_EQ(rig.scan.depth, 0);
}

T_TEST(a_keyframe_in_a_capture_is_in_the_capture)
{
    struct scan_rig rig = {.items.has_time = false};
    struct tts_item item = item_mark(&rig.items, TTS_ITEM_TRACING);
    struct tts_change change = {0};
    item.count = 1;
    tts_tracescan_item(&rig.scan, &item, &change);
    T_EQ(feed_event(&rig, TTS_EVENT_OP_BEGIN), TTS_TRACEPHASE_CAPTURE_START);
    T_EQ(feed_event(&rig, TTS_EVENT_TRACE_END), TTS_TRACEPHASE_CAPTURE_END);
}

#define MS UINT64_C(1000000)

static void check_trace_rows(struct tts_tracescan *scan, const enum tts_tracephase *phases,
                             const uint64_t *trace_mb, const uint64_t *l1_mb, size_t count)
{
    tts_tracescan_end(scan);
    const struct tts_livephases *answer = &scan->phases.answer;
    T_EQ(answer->row_count, count);
    for (size_t i = 0; i < count && i < answer->row_count; i++) {
        T_EQ(answer->rows[i].phase, phases[i]);
        T_EQ(answer->rows[i].trace_bytes, trace_mb[i] * MB);
        T_EQ(answer->rows[i].data_bytes, l1_mb[i] * MB);
    }
}

T_TEST(with_times_the_published_order_has_the_phases_of_the_live_view)
{
    struct scan_rig rig = {.items.has_time = true};
    (void)feed_event(&rig, TTS_EVENT_TRACE_BEGIN);
    (void)feed_alloc(&rig, TTS_POOL_TRACE, 128 * MB);
    (void)feed_alloc(&rig, TTS_POOL_L1, 5 * MB);
    rig.items.time_ns += 300 * MS;
    (void)feed_alloc(&rig, TTS_POOL_L1, 16 * MB);
    (void)feed_alloc(&rig, TTS_POOL_L1, 24 * MB);
    rig.items.time_ns += 300 * MS;
    for (int i = 0; i < 96; i++)
        (void)feed_alloc(&rig, TTS_POOL_L1, 32 << 10);
    rig.items.time_ns += 300 * MS;
    (void)feed_event(&rig, TTS_EVENT_TRACE_END);
    check_trace_rows(&rig.scan,
                     (const enum tts_tracephase[]){
                         TTS_TRACEPHASE_INIT, TTS_TRACEPHASE_CAPTURE_START,
                         TTS_TRACEPHASE_CAPTURE_DATA, TTS_TRACEPHASE_CAPTURE_KERNELS,
                         TTS_TRACEPHASE_CAPTURE_END, TTS_TRACEPHASE_EXECUTION},
                     (const uint64_t[]){0, 128, 128, 128, 128, 128},
                     (const uint64_t[]){0, 5, 45, 48, 48, 48}, 6);
    /* A phase begins with its first change, not when it is sampled. */
    T_EQ(rig.scan.phases.answer.rows[1].begin_ns, 1000);
    T_EQ(rig.scan.phases.answer.rows[2].begin_ns, 300 * MS + 4000);
}

T_TEST(with_times_the_trace_buffer_of_the_runtime_is_in_the_capture_end)
{
    struct scan_rig rig = {.items.has_time = true};
    (void)feed_alloc(&rig, TTS_POOL_L1, 5 * MB);
    rig.items.time_ns += 300 * MS;
    (void)feed_event(&rig, TTS_EVENT_TRACE_BEGIN);
    (void)feed_alloc(&rig, TTS_POOL_L1, 35 * MB);
    rig.items.time_ns += 300 * MS;
    (void)feed_alloc(&rig, TTS_POOL_L1, 8 * MB);
    (void)feed_event(&rig, TTS_EVENT_TRACE_END);
    (void)feed_alloc(&rig, TTS_POOL_TRACE, 128 * MB);
    rig.items.time_ns += 2000 * MS;
    (void)feed_free(&rig, TTS_POOL_L1, 5 * MB);
    check_trace_rows(
        &rig.scan,
        (const enum tts_tracephase[]){TTS_TRACEPHASE_INIT, TTS_TRACEPHASE_CAPTURE_START,
                                      TTS_TRACEPHASE_CAPTURE_DATA, TTS_TRACEPHASE_CAPTURE_END,
                                      TTS_TRACEPHASE_EXECUTION},
        (const uint64_t[]){0, 0, 0, 128, 128}, (const uint64_t[]){5, 40, 48, 48, 43}, 5);
}

T_TEST(a_capture_without_a_pause_is_sampled_each_second)
{
    struct scan_rig rig = {.items.has_time = true};
    (void)feed_event(&rig, TTS_EVENT_TRACE_BEGIN);
    for (int i = 0; i < 80; i++) {
        rig.items.time_ns += 30 * MS;
        (void)feed_alloc(&rig, TTS_POOL_L1, MB);
    }
    T_EQ(rig.scan.phases.answer.row_count, 3);
    T_EQ(tts_livephases_now(&rig.scan.phases.answer), TTS_TRACEPHASE_CAPTURE_DATA);
}
