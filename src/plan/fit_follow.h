/* fit_follow.h: follows one run of a workload: how many bytes live, when they were the most,
 * and what was under way at the first refusal. For fit*.c and change*.c.
 *
 * A follower is the device's observer and the workload's watch in one. It passes everything on
 * to a tracker and a capture when it has them. Plain data; one run each. */
#pragma once

#include "plan/fit.h"

struct tts_fit_follow {
    /* Given before. */
    const struct tts_device *device;
    struct tts_tracker *tracker; /* NULL: nobody else is told */
    struct tts_capture *capture; /* NULL: none; active, and ended with the first iteration */
    /* Now. */
    uint64_t live_bytes, phase_start_bytes;
    uint64_t allocations, events;
    const char *op; /* NULL: none */
    int32_t layer;
    bool is_first_over;               /* the first iteration */
    bool is_forward_over;             /* the first forward pass */
    bool peak_is_open, first_is_open; /* they get their phase when it ends */
    /* Found. */
    uint64_t first_peak_bytes, later_peak_bytes, final_bytes, kept_bytes;
    uint64_t iterations;
    bool is_settled;
    struct tts_fit_peak peak;           /* without its parts */
    struct tts_fit_placement placement; /* but for the pool's own figures */
    enum tts_status status;             /* the first thing that could not be passed on */
    struct tts_error error;
};

/* Begins to watch a device that holds nothing; *follow is zeroed but for what is given. */
void tts_fit_follow_begin(struct tts_fit_follow *follow, struct tts_device *device);
/* For tts_workload_run(). Borrows the follower. */
struct tts_workload_watch tts_fit_follow_watch(struct tts_fit_follow *follow);
/* Behind the run: stops watching, and takes what the device alone knows. Fails with what could
 * not be passed on. */
TTS_NODISCARD enum tts_status tts_fit_follow_end(struct tts_fit_follow *follow,
                                                 struct tts_device *device,
                                                 struct tts_error *err);

/* Begins, runs the workload on the device, ends. Stops watching after a failure too. Errors of
 * tts_workload_run() and tts_fit_follow_end(). */
TTS_NODISCARD enum tts_status tts_fit_follow_run(struct tts_fit_follow *follow,
                                                 const struct tts_workload *workload,
                                                 struct tts_device *device,
                                                 const struct tts_alloc *alloc,
                                                 struct tts_error *err);
