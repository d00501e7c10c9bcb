/* chrometrace.h: writes marks of a timeline as Chrome's trace JSON: an object with
 * "traceEvents", one event per line. Every event has a numeric pid, tid and ts, so that other
 * profilers can import it. tts_chrometrace_end() completes the JSON. The caller owns the
 * struct. One thread at a time. */
#pragma once

#include "views/rowout.h"
#include "views/trace/timeline.h"
#include "views/trace/tracefile.h"

struct tts_chrometrace {
    struct tts_rowout rows;
    struct tts_tracefile file;
    uint64_t last_ns;
    bool has_event;
};

/* Writes the beginning. `file` is copied; its texts are borrowed. The caller checks `out` for
 * errors. */
void tts_chrometrace_begin(struct tts_chrometrace *trace, const struct tts_tracefile *file,
                           FILE *out);
/* A tts_timeline_fn; ctx is a struct tts_chrometrace. */
void tts_chrometrace_put(void *ctx, const struct tts_mark *mark);
/* Writes the end. `missing` lists the reasons why the trace is incomplete. */
void tts_chrometrace_end(struct tts_chrometrace *trace, const char *const *missing,
                         size_t count);
