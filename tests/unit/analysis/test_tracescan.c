#include "analysis/tracescan.h"
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

T_TEST(the_order_of_the_runtime_ends_with_the_trace_buffer)
{
    struct scan_rig rig = {.items.has_time = true};
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
    struct scan_rig rig = {.items.has_time = true};
    (void)feed_alloc(&rig, TTS_POOL_L1, 5);
    (void)feed_free(&rig, TTS_POOL_L1, 9);
    T_EQ(rig.scan.bytes[TTS_POOL_L1], 0);
    (void)feed_event(&rig, TTS_EVENT_TRACE_END);
    T_EQ(rig.scan.depth, 0);
}

T_TEST(a_keyframe_in_a_capture_is_in_the_capture)
{
    struct scan_rig rig = {.items.has_time = true};
    struct tts_item item = item_mark(&rig.items, TTS_ITEM_TRACING);
    struct tts_change change = {0};
    item.count = 1;
    tts_tracescan_item(&rig.scan, &item, &change);
    T_EQ(feed_event(&rig, TTS_EVENT_OP_BEGIN), TTS_TRACEPHASE_CAPTURE_START);
    T_EQ(feed_event(&rig, TTS_EVENT_TRACE_END), TTS_TRACEPHASE_CAPTURE_END);
}
