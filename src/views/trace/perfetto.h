/* perfetto.h: writes marks of a timeline as a trace for Perfetto: protobuf packets, each
 * written as soon as it is known. Names become UTF-8. The caller owns the struct. One
 * thread. */
#pragma once

#include "views/rowout.h"
#include "views/trace/timeline.h"
#include "views/trace/tracefile.h"

enum { TTS_PERFETTO_PACKET_MAX = 8192 };

struct tts_perfetto {
    struct tts_rowout rows;
    struct tts_tracefile file;
    bool has_names, has_late_names; /* the names of annotations have been written */
    uint64_t begun;                 /* one bit for each capture lane that has packets */
};

/* Writes the beginning. `file` is copied; its texts are borrowed. The caller checks `out` for
 * errors. */
void tts_perfetto_begin(struct tts_perfetto *perfetto, const struct tts_tracefile *file,
                        FILE *out);
/* A tts_timeline_fn; ctx is a struct tts_perfetto. */
void tts_perfetto_put(void *ctx, const struct tts_mark *mark);
void tts_perfetto_end(struct tts_perfetto *perfetto);
