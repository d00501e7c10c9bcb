/* fit_follow.h: follows one run of a workload. Finds the live bytes, the moment of the peak,
 * and the operation in progress at the first refusal. For fit.c and change.c.
 *
 * A follower is the observer of the device and the watch of the workload. If it has a tracker
 * and a capture, it passes all events on to them. Plain data. One follower follows one run. */
#pragma once

#include "plan/fit.h"

struct tts_fit_follow {
    /* Set by the caller. */
    const struct tts_device *device;
    struct tts_tracker *tracker; /* NULL: no tracker */
    struct tts_capture *capture; /* ends with the first iteration. NULL: no capture */
    /* Current state. */
    uint64_t live_bytes, phase_start_bytes;
    uint64_t allocations, events;
    const char *op; /* operation in progress. NULL: none */
    int32_t layer;
    bool is_first_over;   /* the first iteration is over */
    bool is_forward_over; /* the first forward pass is over */
    bool peak_is_open,
        first_is_open; /* the peak, or the first failure, is in the current phase. The name of
                          the phase is known only when the phase ends */
    /* Results. */
    uint64_t first_peak_bytes, later_peak_bytes, final_bytes, kept_bytes;
    uint64_t iterations;
    bool is_settled;
    struct tts_fit_peak peak;           /* without the parts */
    struct tts_fit_placement placement; /* without the figures that only the pool has */
    enum tts_status status;             /* the first error of the tracker or the capture */
    struct tts_error error;
};

/* Starts to observe `device`, which must be empty. The caller zeroes *follow, apart from the
 * fields it sets. */
void tts_fit_follow_begin(struct tts_fit_follow *follow, struct tts_device *device);
/* Returns the callbacks for tts_workload_run(). They borrow `follow`. */
struct tts_workload_watch tts_fit_follow_watch(struct tts_fit_follow *follow);
/* Stops observing after the run and copies the figures that only the device has. Returns the
 * first error of the tracker or the capture. */
TTS_NODISCARD enum tts_status tts_fit_follow_end(struct tts_fit_follow *follow,
                                                 struct tts_device *device,
                                                 struct tts_error *err);

/* Begins, runs the workload on the device, and ends. Also stops observing after a failure.
 * Returns the errors of tts_workload_run() and tts_fit_follow_end(). */
TTS_NODISCARD enum tts_status tts_fit_follow_run(struct tts_fit_follow *follow,
                                                 const struct tts_workload *workload,
                                                 struct tts_device *device,
                                                 const struct tts_alloc *alloc,
                                                 struct tts_error *err);
