/* chrometrace.h: marks of a timeline as Chrome's trace JSON: an object with "traceEvents", one
 * event a line. Every event has a numeric pid, tid and ts, so that importers of other profilers
 * take it, too. Whole JSON at every end. Caller's memory, one thread. */
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

/* `file` is copied, what it points to borrowed. The caller asks `out` for errors. */
void tts_chrometrace_begin(struct tts_chrometrace *trace, const struct tts_tracefile *file,
                           FILE *out);
/* A tts_timeline_fn; ctx is a struct tts_chrometrace. */
void tts_chrometrace_put(void *ctx, const struct tts_mark *mark);
/* `missing`: why it is not complete, so many texts. */
void tts_chrometrace_end(struct tts_chrometrace *trace, const char *const *missing,
                         size_t count);
