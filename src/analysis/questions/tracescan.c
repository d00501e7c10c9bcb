#include "analysis/questions/tracescan.h"

static bool is_large_trace_buffer(enum tts_pool pool, uint64_t size_bytes)
{
    return pool == TTS_POOL_L1 && size_bytes >> TTS_TRACEPHASE_LARGE_CLASS > 0;
}

/* Adds the buffers that came and subtracts those that left. */
static void count_trace_change(struct tts_tracescan *scan, const struct tts_change *change)
{
    if (change->has_come) {
        scan->bytes[change->came.pool] += change->came.size_bytes;
        scan->large_buffers +=
            is_large_trace_buffer(change->came.pool, change->came.size_bytes);
    }
    if (change->has_left) {
        uint64_t *bytes = &scan->bytes[change->left.pool];
        *bytes -= change->left.size_bytes < *bytes ? change->left.size_bytes : *bytes;
        if (is_large_trace_buffer(change->left.pool, change->left.size_bytes))
            scan->large_buffers -= scan->large_buffers > 0;
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

static void sample_trace_scan(struct tts_tracescan *scan, uint64_t time_ns, bool is_event)
{
    struct tts_tracesample sample = {.time_ns = time_ns,
                                     .trace_known = true,
                                     .is_event = is_event,
                                     .large_known = scan->is_timed,
                                     .depth = scan->depth,
                                     .traces = scan->ended,
                                     .trace_bytes = scan->bytes[TTS_POOL_TRACE],
                                     .data_bytes = scan->bytes[TTS_POOL_L1],
                                     .other_bytes = scan->bytes[TTS_POOL_DRAM] +
                                                    scan->bytes[TTS_POOL_L1_SMALL],
                                     .large_buffers = scan->large_buffers,
                                     .changes = scan->changes};
    (void)tts_tracephases_feed(&scan->phases, &sample);
    scan->sample_ns = time_ns;
    scan->is_changed = false;
}

/* Takes a sample of the changes since the last sample. A phase begins with its first change. */
static void sample_trace_changes(struct tts_tracescan *scan)
{
    uint64_t news_ns = scan->news_ns;
    sample_trace_scan(scan, scan->is_changed ? scan->changed_ns : news_ns, false);
    scan->sample_ns = news_ns;
}

static uint64_t trace_scan_age(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* Takes the samples that are due before an event. */
static void settle_trace_scan(struct tts_tracescan *scan, uint64_t now_ns)
{
    bool has_sample = scan->phases.has_sample;
    uint64_t age_ns = trace_scan_age(now_ns, scan->news_ns);
    bool is_pause = age_ns >= TTS_TRACEPHASE_PAUSE_NS ||
                    trace_scan_age(now_ns, scan->sample_ns) >= TTS_TRACEPHASE_STILL_NS;
    if (scan->is_changed && is_pause && (scan->depth > 0 || !has_sample))
        sample_trace_changes(scan);
    if (scan->is_settled || age_ns < TTS_TRACEPHASE_STILL_NS)
        return;
    /* The first sample takes what has changed, the second one is still. */
    sample_trace_changes(scan);
    sample_trace_changes(scan);
    scan->is_settled = true;
}

static void take_timed_trace_item(struct tts_tracescan *scan, const struct tts_item *item,
                                  const struct tts_change *change)
{
    bool is_event = item->kind == TTS_ITEM_EVENT;
    bool begins = is_event && item->event.kind == TTS_EVENT_TRACE_BEGIN;
    bool ends = is_event && item->event.kind == TTS_EVENT_TRACE_END;
    bool is_news = begins || ends || item->kind == TTS_ITEM_TRACING || change->has_come ||
                   change->has_left;
    if (!is_news)
        return;
    if (scan->is_timed)
        settle_trace_scan(scan, item->time_ns);
    scan->is_timed = true;
    /* A capture begins after the phase before, and shows its phases before it ends. */
    if (begins && !scan->phases.has_sample)
        sample_trace_scan(scan, scan->is_changed ? scan->changed_ns : item->time_ns, false);
    if (ends && scan->is_changed)
        sample_trace_changes(scan);
    count_trace_change(scan, change);
    count_trace_item(scan, item);
    if (!scan->is_changed)
        scan->changed_ns = item->time_ns;
    scan->is_changed = true;
    if (ends)
        sample_trace_scan(scan, item->time_ns, true);
    scan->is_settled = false;
    scan->news_ns = item->time_ns;
}

void tts_tracescan_item(struct tts_tracescan *scan, const struct tts_item *item,
                        const struct tts_change *change)
{
    if (item->has_time) {
        take_timed_trace_item(scan, item, change);
        return;
    }
    count_trace_change(scan, change);
    count_trace_item(scan, item);
    if (item->kind == TTS_ITEM_EVENT)
        sample_trace_scan(scan, 0, true);
}

void tts_tracescan_end(struct tts_tracescan *scan)
{
    if (scan->is_timed)
        settle_trace_scan(scan, UINT64_MAX);
}
