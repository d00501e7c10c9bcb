/* recorder_rig.h: short functions for tests of the recorder that write and read recordings. */
#pragma once

#include "harness/capture_rig.h"
#include "harness/recorded_rig.h"
#include "ttscope/recorder.h"

#include <stdlib.h>
#include <unistd.h>

enum { BOX = 4 << 20, FEW_PLACES_EVENTS = 2500 * 1000 };

static inline struct tts_recorder *recording(struct tts_tracker *tracker, const char *path,
                                             uint64_t keep_bytes)
{
    struct tts_recorder *recorder = NULL;
    struct tts_error err = {0};
    struct tts_recorder_config config = {.path = path, .keep_bytes = keep_bytes};
    if (tts_recorder_begin(tracker, &config, &recorder, &err) != TTS_OK)
        fail_msg("%s", err.text);
    return recorder;
}

static inline struct tts_recorder_state ended(struct tts_recorder *recorder)
{
    struct tts_recorder_state at;
    struct tts_error err = {0};
    if (tts_recorder_end(recorder, &at, &err) != TTS_OK)
        fail_msg("%s", err.text);
    T_TRUE(!at.is_stopped && at.dropped == 0);
    return at;
}

static inline void has_text(const char *path, const char *wanted)
{
    char *text = text_of_recording(path);
    T_STR_EQ(text, wanted);
    free(text);
}

static inline void post(struct tts_tracker *tracker, struct tts_event event)
{
    T_EQ(tts_tracker_post(tracker, &event, NULL), TTS_OK);
}

struct sums {
    uint64_t allocs, frees, bytes, keyframes, lives;
};

static inline void add_up(void *ctx, const struct tts_item *item, uint64_t time_ns)
{
    struct sums *sums = ctx;
    (void)time_ns;
    sums->keyframes += item->kind == TTS_ITEM_KEYFRAME;
    sums->lives += item->kind == TTS_ITEM_LIVE;
    if (item->kind != TTS_ITEM_EVENT)
        return;
    sums->allocs += item->event.kind == TTS_EVENT_ALLOC;
    sums->frees += item->event.kind == TTS_EVENT_FREE;
    if (item->event.kind == TTS_EVENT_ALLOC)
        sums->bytes += item->event.size_bytes;
}

static inline void churn(struct tts_tracker *tracker, uint64_t count)
{
    enum { LIVE = 100 };
    for (uint64_t i = 1; i <= count; i++) {
        alloc_dram(tracker, i, 1 + i % 1000);
        if (i > LIVE)
            free_dram(tracker, i - LIVE);
    }
}
