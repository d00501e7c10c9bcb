/* recorder.h: every event of a tracker, into a file, as it happens.
 *
 * While a recorder is there its tracker is on, whether a capture is active or not, and every
 * event, phase, mesh and refused request goes into the file, in the tracker's one order. Events
 * are written into the mapped file itself: one whose call has returned is in it, also when the
 * program is killed then. Unless another thread has the tracker for longer than it waits: that
 * writes what lives behind a failure, gets the next place in the file, answers a question, or
 * was stopped (also by the signal handler that tells this one). Then it waits in memory until
 * that thread is done, or for the next call that writes what others left. A recording that
 * cannot go on (the disk is full) stops for good: it says so, counts what it dropped, and the
 * program runs on. The format is in docs/design/recording.md; `ttscope show` reads it.
 *
 * One recorder at a time for a tracker. Threads: as capture.h says, but that an event waits
 * while that of another thread is written, at most some 0.1 ms, and that once in 4 MiB one
 * calls the system, or naps while the recorder's own thread does; begin, end and state belong
 * to one thread at a time. In a child of the process the recorder has stopped, and can
 * be ended: the file is the parent's. */
#pragma once

#include "ttscope/capture.h"

struct tts_recorder_config {
    const char *path; /* replaced if it is there: a new file takes its name */
    /* 0: everything is kept. Else a black box: a file of about this size that has the last
     * events, and what lived before them. TTS_RECORDER_KEEP_MIN at least. */
    uint64_t keep_bytes;
};
#define TTS_RECORDER_KEEP_MIN (UINT64_C(4) << 20)

struct tts_recorder;

/* TTS_E_IO: the file cannot be made, or has no room (err names it and what to do), or the
 * system is older than Linux 4.14.
 * TTS_E_BUSY: the tracker has a recorder. TTS_E_RANGE, TTS_E_INVALID, TTS_E_NOMEM. */
TTS_API TTS_NODISCARD enum tts_status
tts_recorder_begin(struct tts_tracker *tracker, const struct tts_recorder_config *config,
                   struct tts_recorder **out, struct tts_error *err);

struct tts_recorder_state {
    bool is_stopped; /* before its end; then: */
    struct tts_error reason;
    uint64_t dropped; /* events since then */
    uint64_t events;  /* in the file, or pushed out of a black box by later ones */
    uint64_t bytes;   /* of the file, as far as it is used */
};
TTS_API void tts_recorder_get_state(struct tts_recorder *recorder,
                                    struct tts_recorder_state *out);

/* Finishes the file and frees the recorder, in any case; NULL is fine. Its captures go on. With
 * `state` as it was at the end. TTS_E_IO: it had stopped, or could not be finished; what is in
 * the file is good. */
TTS_API TTS_NODISCARD enum tts_status tts_recorder_end(struct tts_recorder *recorder,
                                                       struct tts_recorder_state *state,
                                                       struct tts_error *err);
