/* recorded_file_rig.h: reads a recording to its end and keeps what a test asks for. */
#pragma once

#include "harness/t.h"
#include "model/recording/recfile.h"

#include <string.h>

enum { RECORDED_MAX = 4096 };

/* The items of a file, without their pointers: samples and failures are copied. */
struct recorded {
    struct tts_item items[RECORDED_MAX];
    struct tts_sample samples[RECORDED_MAX];
    size_t count;
    uint64_t events, missed;
    struct tts_recfile_info info;
    enum tts_status end;
};

static inline void recorded_read(struct recorded *out, const char *path)
{
    struct tts_recfile *file = NULL;
    struct tts_error err = {0};
    memset(out, 0, sizeof *out);
    T_EQ(tts_recfile_open(path, NULL, &file, &err), TTS_OK);
    struct tts_item item;
    uint64_t last_ns = 0;
    while ((out->end = tts_recfile_next(file, &item, &err)) == TTS_OK) {
        T_TRUE(item.time_ns >= last_ns);
        last_ns = item.time_ns;
        out->events += item.kind == TTS_ITEM_EVENT;
        out->missed += item.kind == TTS_ITEM_MISSED ? item.count : 0;
        if (item.kind == TTS_ITEM_KEYFRAME || item.kind == TTS_ITEM_KEYFRAME_END ||
            out->count == RECORDED_MAX)
            continue;
        if (item.kind == TTS_ITEM_SAMPLE)
            out->samples[out->count] = *item.sample;
        out->items[out->count++] = item;
    }
    T_EQ(out->end, TTS_E_NOT_FOUND);
    out->info = *tts_recfile_info(file);
    tts_recfile_close(file);
}
