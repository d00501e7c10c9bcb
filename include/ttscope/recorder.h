/* recorder.h: writes every event of a tracker to a file, as it happens.
 *
 * While a recorder exists, its tracker is on, even if no capture is active. Every event, phase,
 * mesh and refused request goes into the file, in the tracker's one order. Events are written
 * into the mapped file itself, so the kernel keeps them if the program is killed. If the
 * recording cannot continue (the disk is full), it stops: the file says so, later events are
 * counted as dropped, and the program runs on. docs/design/recording.md describes the format;
 * `ttscope show` reads it.
 *
 * Kill: an event whose call has returned is in the file, with one exception. If another thread
 * is writing at that moment, the call waits up to about 0.1 ms and then leaves the event in
 * memory; the other thread writes it next. If the process is killed in between, such events of
 * other threads are lost: at most TTS_INBOX_EVENTS (4,096) of them. A program that uses one
 * thread, and no signal handler that posts events, loses none.
 * Threads: events come from any thread, as capture.h says. Once in 4 MiB of file an event makes
 * a system call, or sleeps while the recorder's own thread makes it. tts_recorder_begin(),
 * tts_recorder_get_state() and tts_recorder_end(): one thread at a time for each recorder.
 * Signals: an event may be posted in a signal handler; no function of this header may be called
 * there.
 * Fork: in the child the recorder has stopped. The child may end it; the file is the parent's.
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
    /* Replaced if it is there: a new file takes its name. "%p" in it becomes the process id,
     * "%%" a percent sign, "%r" the rank of the process in a parallel run: the first of
     * OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK, RANK, SLURM_PROCID and TT_MESH_HOST_RANK that
     * is a number in the environment. Any other use of "%", or no rank, is TTS_E_INVALID. */
    const char *path;
    /* 0: everything is kept. Else a black box: a file of about this size that has the last
     * events, and what lived before them. What lived is at most half of the file: if there is
     * more, the file has the largest buffers and says how many it leaves out.
     * TTS_RECORDER_KEEP_MIN at least. */
    uint64_t keep_bytes;
    uint64_t reserved[6]; /* 0, for later versions; else TTS_E_INVALID */
};
#define TTS_RECORDER_KEEP_MIN (UINT64_C(4) << 20)

struct tts_recorder;

/* TTS_E_IO: the file cannot be made, or has no room (err names it and what to do), or the
 * system is older than Linux 4.14.
 * TTS_E_BUSY: the tracker has a recorder, or another recorder, of this process or another one,
 * records to the same file now. The file is locked (flock) until the recorder ends or its
 * process does; a process that was forked meanwhile keeps the lock of one that was killed.
 * Readers need no lock. A file system without locks refuses nobody.
 * TTS_E_RANGE, TTS_E_INVALID, TTS_E_NOMEM. */
TTS_API TTS_NODISCARD enum tts_status
tts_recorder_begin(struct tts_tracker *tracker, const struct tts_recorder_config *config,
                   struct tts_recorder **out, struct tts_error *err);

struct tts_recorder_state {
    bool is_stopped; /* before its end; then: */
    struct tts_error reason;
    uint64_t dropped;     /* events since then */
    uint64_t events;      /* in the file, or pushed out of a black box by later ones */
    uint64_t bytes;       /* of the file, as far as it is used */
    uint64_t reserved[6]; /* 0 */
};
TTS_API void tts_recorder_get_state(struct tts_recorder *recorder,
                                    struct tts_recorder_state *out);

/* Finishes the file and frees the recorder, in any case; NULL is fine. Its captures go on. With
 * `state` as it was at the end. TTS_E_IO: it had stopped, or could not be finished; what is in
 * the file is good. */
TTS_API TTS_NODISCARD enum tts_status tts_recorder_end(struct tts_recorder *recorder,
                                                       struct tts_recorder_state *state,
                                                       struct tts_error *err);
