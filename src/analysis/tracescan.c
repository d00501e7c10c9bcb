#include "analysis/tracescan.h"

/* Adds the buffers that came and subtracts those that left. */
static void count_trace_change(struct tts_tracescan *scan, const struct tts_change *change)
{
    if (change->has_come)
        scan->bytes[change->came.pool] += change->came.size_bytes;
    if (change->has_left) {
        uint64_t *bytes = &scan->bytes[change->left.pool];
        *bytes -= change->left.size_bytes < *bytes ? change->left.size_bytes : *bytes;
    }
    if (change->has_come || change->has_left)
        scan->changes++;
}

static void count_trace_item(struct tts_tracescan *scan, const struct tts_item *item)
{
    bool is_event = item->kind == TTS_ITEM_EVENT;
    if (item->kind == TTS_ITEM_TRACING) {
        scan->depth += (uint32_t)item->count; /* a keyframe: began before the file */
        scan->begun += item->count;
    } else if (is_event && item->event.kind == TTS_EVENT_TRACE_BEGIN) {
        scan->depth++;
        scan->begun++;
    } else if (is_event && item->event.kind == TTS_EVENT_TRACE_END) {
        scan->depth -= scan->depth > 0;
        scan->ended++;
    }
}

void tts_tracescan_item(struct tts_tracescan *scan, const struct tts_item *item,
                        const struct tts_change *change)
{
    count_trace_change(scan, change);
    count_trace_item(scan, item);
    if (item->kind != TTS_ITEM_EVENT)
        return;
    struct tts_tracesample sample = {.time_ns = item->has_time ? item->time_ns : 0,
                                     .trace_known = true,
                                     .is_event = true,
                                     .depth = scan->depth,
                                     .traces = scan->ended,
                                     .trace_bytes = scan->bytes[TTS_POOL_TRACE],
                                     .data_bytes = scan->bytes[TTS_POOL_L1],
                                     .other_bytes = scan->bytes[TTS_POOL_DRAM] +
                                                    scan->bytes[TTS_POOL_L1_SMALL],
                                     .changes = scan->changes};
    (void)tts_tracephases_feed(&scan->phases, &sample);
}
