/* tracephase.h: in which phase of a trace a program is. A caller feeds samples: live frames, or
 * the state after each event.
 *
 * With trace events, a capture is known. Its phase is by the growth since the last sample:
 * data in L1, else code. L1 that grew by small buffers only is taken for kernels, as in the
 * published updates: an estimate. After the capture, a program that changes nothing executes
 * the trace. From counters alone, only a step in TRACE says "capture": every other phase is
 * unknown. If nothing is left, the program is idle.
 *
 * Plain data that begins as zeros; no clock, no allocation. One thread at a time. */
#pragma once

#include "model/live/liveanswer.h"

/* A kernel is smaller: the code of a core lies in a ring of 70,656 bytes. */
enum { TTS_TRACEPHASE_LARGE_CLASS = 16 };
/* Samples by events: a pause of a capture, and the time after which nothing changes any more.
 */
#define TTS_TRACEPHASE_PAUSE_NS UINT64_C(50000000)
#define TTS_TRACEPHASE_STILL_NS UINT64_C(1000000000)

struct tts_tracesample {
    uint64_t time_ns;
    bool trace_known; /* `depth` and `traces` are known */
    bool is_event;    /* one of the samples after each event, so that none is between two */
    bool code_known;
    bool large_known; /* `large_buffers` is known */
    uint32_t depth;   /* traces that are being captured */
    uint64_t traces;  /* captures that have ended */
    uint64_t trace_bytes, data_bytes, code_bytes;
    uint64_t other_bytes;   /* in other pools */
    uint64_t large_buffers; /* in L1, of at least 1 << TTS_TRACEPHASE_LARGE_CLASS bytes */
    uint64_t changes;       /* allocations and frees so far, if they are counted, else 0 */
};

struct tts_tracephases {
    bool has_sample;
    struct tts_tracesample last;
    uint64_t changed_ns; /* time of the last sample that differed from the sample before */
    struct tts_livephases answer;
};

/* Returns the phase of a sample of a program whose traces are known. `last` is the
 * sample before this one, or NULL if there is none. `before` is the phase of `last`. */
enum tts_tracephase tts_tracephase_after(enum tts_tracephase before,
                                         const struct tts_tracesample *last,
                                         const struct tts_tracesample *sample);

/* Takes a sample and brings `answer` up to date. Returns true if a phase begins with the
 * sample; the first sample begins the first phase. */
bool tts_tracephases_feed(struct tts_tracephases *phases, const struct tts_tracesample *sample);
