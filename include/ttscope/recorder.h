/* recorder.h: writes every event of a tracker to a file, as it happens.
 *
 * While a recorder exists, its tracker is on, even if no capture is active. Every event, phase,
 * mesh and refused request goes into the file, in the tracker's order. Events are written into
 * the mapped file itself, so the kernel keeps them if the program is killed. If the recording
 * cannot continue (the disk is full), it stops: the file says so, later events are counted as
 * dropped, and the program runs on. docs/design/recording.md describes the format; `ttscope
 * show` reads it.
 *
 * Ownership: the caller ends each recorder with tts_recorder_end(), which frees it.
 * Kill: an event whose call has returned is in the file, with one exception. If another thread
 * is writing at that moment, the call waits up to about 0.1 ms and then leaves the event in
 * memory; the other thread writes it next. If the process is killed in between, such events of
 * other threads are lost: at most TTS_INBOX_EVENTS (4,096) of them. A program that uses one
 * thread, and no signal handler that posts events, loses none.
 * Threads: any thread may post events, as capture.h says. tts_recorder_begin(),
 * tts_recorder_get_state() and tts_recorder_end(): one thread at a time for each recorder.
 * Cost: once in 4 MiB of file, an event makes a system call, or sleeps while the recorder's own
 * thread makes the call.
 * Signals: an event may be posted in a signal handler; no function of this header may be called
 * there.
 * Fork: in the child the recorder has stopped. The child may end it; the file stays with the
 * parent.
 *
 * Example:
 *     struct tts_recorder_config config = {.path = "run-%p.tts"}; // %p: the process id
 *     struct tts_tracker *tracker = tts_tracker_process();
 *     struct tts_recorder *recorder;
 *     struct tts_error err;
 *     if (tts_recorder_begin(tracker, &config, &recorder, &err) != TTS_OK)
 *         return 1; // err.text says why
 *     tts_track_alloc(tracker, 0, TTS_POOL_DRAM, 1, 8192, 0, NULL);
 *     if (tts_recorder_end(recorder, NULL, &err) != TTS_OK)
 *         fprintf(stderr, "%s\n", err.text); // what is in the file is good */
#pragma once

#include "ttscope/capture.h"

struct tts_recorder_config {
    /* The file to write. A new file replaces a file of that name. "%p" in the path becomes the
     * process id, "%%" a percent sign, "%r" the rank of the process in a parallel run: the
     * first of OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK, RANK, SLURM_PROCID and
     * TT_MESH_HOST_RANK that is a number in the environment. Any other use of "%", or "%r"
     * without a rank, is TTS_E_INVALID. The path is copied. */
    const char *path;
    /* If 0, the file keeps all events. Otherwise the recorder is a black box: a file of about
     * this size with the last events and the buffers that were live before them. These buffers
     * take at most half of the file; if there are more, the file has the largest and says how
     * many it omits. At least TTS_RECORDER_KEEP_MIN. */
    uint64_t keep_bytes;
    uint64_t reserved[6]; /* 0, for later versions; else TTS_E_INVALID */
};
#define TTS_RECORDER_KEEP_MIN (UINT64_C(4) << 20)

struct tts_recorder;

/* Creates the file and starts to record.
 *
 * Returns TTS_E_IO if the file cannot be created or has no room (`err` names the file and says
 * what to do), or the system is older than Linux 4.14. Returns TTS_E_BUSY if the tracker
 * already has a recorder, or another recorder, in this process or another one, writes to the
 * same file. A recorder locks its file (flock) until the recorder or its process ends; if a
 * killed process has forked, the child keeps the lock. Readers need no lock. On a file system
 * without locks, two recorders of one file are not detected. Returns TTS_E_RANGE if the path is
 * too long, or keep_bytes is out of range. Returns TTS_E_INVALID if the path is invalid, or an
 * argument is NULL. Returns TTS_E_NOMEM if there is no memory. After a failure *out is
 * unchanged. */
TTS_API TTS_NODISCARD enum tts_status
tts_recorder_begin(struct tts_tracker *tracker, const struct tts_recorder_config *config,
                   struct tts_recorder **out, struct tts_error *err);

struct tts_recorder_state {
    bool is_stopped; /* the recording stopped early; then `reason` says why */
    struct tts_error reason;
    uint64_t dropped; /* number of events since the recording stopped */
    /* Number of events written, including events that a black box has overwritten since. */
    uint64_t events;
    uint64_t bytes;       /* size of the used part of the file */
    uint64_t reserved[6]; /* 0 */
};
/* Copies the current state of the recorder to *out. */
TTS_API void tts_recorder_get_state(struct tts_recorder *recorder,
                                    struct tts_recorder_state *out);

/* Finishes the file and frees the recorder, also if it returns an error. NULL is allowed.
 * Captures of the tracker continue. If `state` is not NULL, it receives the final state.
 * Returns TTS_E_IO if the recording had stopped, or the file could not be finished; the events
 * in the file are valid. */
TTS_API TTS_NODISCARD enum tts_status tts_recorder_end(struct tts_recorder *recorder,
                                                       struct tts_recorder_state *state,
                                                       struct tts_error *err);
