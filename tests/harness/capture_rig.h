/* capture_rig.h: short functions for tests of trackers, events and phases. */
#pragma once

#include "harness/t.h"
#include "torture/heap.h"
#include "ttscope/capture.h"

#include <string.h>

/* The limits are small, so that tests can use the heap that checks every allocation. */
static const struct tts_tracker_config small_limits = {
    .live_max = 256, .devices_max = 4, .ops_max = 16};

static inline struct tts_tracker *tracker_on(const struct heap *heap)
{
    struct tts_tracker *tracker = NULL;
    T_EQ(tts_tracker_new(&small_limits, heap ? &heap->alloc : NULL, &tracker, NULL), TTS_OK);
    return tracker;
}

static inline struct tts_capture *capture_of(struct tts_tracker *tracker)
{
    struct tts_capture *capture = NULL;
    T_EQ(tts_capture_new(tracker, &capture, NULL), TTS_OK);
    return capture;
}

static inline struct tts_capture *begun(struct tts_tracker *tracker)
{
    struct tts_capture *capture = capture_of(tracker);
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    return capture;
}

static inline void alloc_dram(struct tts_tracker *tracker, uint64_t id, uint64_t bytes)
{
    T_EQ(tts_track_alloc(tracker, 0, TTS_POOL_DRAM, id, bytes, 0, NULL), TTS_OK);
}

static inline void free_dram(struct tts_tracker *tracker, uint64_t id)
{
    T_EQ(tts_track_free(tracker, 0, TTS_POOL_DRAM, id, 0, 0, NULL), TTS_OK);
}

static inline void alloc_l1(struct tts_tracker *tracker, uint64_t id, uint64_t bytes_per_bank)
{
    T_EQ(
        tts_track_alloc(tracker, 0, TTS_POOL_L1, id, 64 * bytes_per_bank, bytes_per_bank, NULL),
        TTS_OK);
}

static inline void free_l1(struct tts_tracker *tracker, uint64_t id)
{
    T_EQ(tts_track_free(tracker, 0, TTS_POOL_L1, id, 0, 0, NULL), TTS_OK);
}

static inline void add_cb(struct tts_tracker *tracker, struct tts_core_range range,
                          uint64_t bytes)
{
    T_EQ(tts_track_cb(tracker, 0, TTS_EVENT_CB, &range, 1, bytes, NULL), TTS_OK);
}

static inline void program(struct tts_tracker *tracker)
{
    T_EQ(tts_track_program(tracker, 0, NULL), TTS_OK);
}

static inline void op_begin(struct tts_tracker *tracker, const char *name)
{
    T_EQ(tts_track_op_begin(tracker, name, strlen(name), NULL), TTS_OK);
}

static inline void op_end(struct tts_tracker *tracker)
{
    T_EQ(tts_track_op_end(tracker, NULL), TTS_OK);
}

static inline void snapshot(struct tts_capture *capture, const char *name)
{
    T_EQ(tts_capture_snapshot(capture, name, NULL), TTS_OK);
}

static inline void end(struct tts_capture *capture, const char *name)
{
    T_EQ(tts_capture_end(capture, name, NULL), TTS_OK);
}

static inline const struct tts_phase *phase(const struct tts_capture *capture, size_t idx)
{
    const struct tts_phase *found = tts_capture_at(capture, idx);
    T_TRUE(found != NULL);
    return found;
}

static inline const struct tts_pool_usage *dram(const struct tts_capture *capture, size_t idx)
{
    return &phase(capture, idx)->usage.pools[TTS_POOL_DRAM];
}

static inline void is_dram(const struct tts_capture *capture, size_t idx, int64_t peak,
                           int64_t allocated, int64_t freed)
{
    T_EQ(dram(capture, idx)->peak_bytes, peak);
    T_EQ(dram(capture, idx)->allocated_bytes, allocated);
    T_EQ(dram(capture, idx)->freed_bytes, freed);
}

static inline struct tts_tracker_health health_of(struct tts_tracker *tracker)
{
    struct tts_tracker_health health;
    tts_tracker_get_health(tracker, &health);
    return health;
}

static inline void done(struct tts_capture *capture, struct tts_tracker *tracker)
{
    tts_capture_free(capture);
    tts_tracker_free(tracker);
}
