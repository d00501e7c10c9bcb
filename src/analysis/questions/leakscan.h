/* leakscan.h: finds leaks (leak.h) in a file of events. A kind of buffers is an operation, a
 * pool and a size. A scan takes the changes of live buffers in the order of the file; the
 * numbers of each device are looked at when a buffer is allocated after others were freed, so
 * the frees at the end of a program count as nothing.
 *
 * The caller owns the pointer. One thread at a time. Cost: constant for each change, and a
 * search in a table. At most TTS_LEAKSCAN_DEVICES devices and TTS_LEAKSCAN_KINDS kinds of each
 * device are followed. */
#pragma once

#include "model/fold.h"

enum { TTS_LEAKSCAN_DEVICES = 32, TTS_LEAKSCAN_KINDS = 4096 };

struct tts_leakscan;

/* Makes an empty scan. Returns TTS_OK or TTS_E_NOMEM. If `alloc` is NULL, the C library
 * allocates. */
TTS_NODISCARD enum tts_status tts_leakscan_new(const struct tts_alloc *alloc,
                                               struct tts_leakscan **out);
void tts_leakscan_free(struct tts_leakscan *scan); /* `scan` may be NULL */

/* Takes a change at a time of the recorder. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_leakscan_change(struct tts_leakscan *scan,
                                                  const struct tts_change *change,
                                                  uint64_t time_ns);

/* Buffers of one kind that leak. */
struct tts_leakowner {
    uint32_t device;
    enum tts_pool pool;
    const char *op; /* a text of the fold (model/fold.h); NULL: outside any operation */
    uint64_t size_bytes;
    uint32_t buffers; /* more at the end of the growth than at its begin */
    uint64_t periods; /* repetitions of the work during the growth; 0: unknown */
    uint64_t since_ns, until_ns;
    bool is_after_steady; /* the same work did not grow before */
};

enum { TTS_LEAKSCAN_OWNERS_MAX = 64 };

struct tts_leakowners {
    struct tts_leakowner
        owners[TTS_LEAKSCAN_OWNERS_MAX]; /* by device, the most buffers first */
    size_t count, unlisted;
    uint64_t kinds_left_out; /* kinds and devices beyond the limits, which are not judged */
};

/* Finds the leaks after the last change. */
void tts_leakscan_judge(struct tts_leakscan *scan, struct tts_leakowners *out);
