/* runs.h: the runs in a file, whatever it is: a training log (plain or compressed), a recording
 * or a graph trace, or a result that was saved with --json (analyze, fit, show); told apart by
 * content. All of them in memory, so there is a limit. One thread. */
#pragma once

#include "model/run.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stddef.h>
#include <stdint.h>

enum { TTS_RUNS_MAX = 256, TTS_RUNS_PHASES_MAX = 65536 };

enum tts_runs_kind { TTS_RUNS_LOG, TTS_RUNS_EVENTS, TTS_RUNS_RESULT };

struct tts_runs {
    enum tts_runs_kind kind;
    struct tts_run *runs; /* in the order of the file; their phases are kept with them */
    size_t count;
    uint64_t unlisted; /* runs, and phases of a run that is cut off there, beyond the limits */
    /* inside */
    const struct tts_alloc *alloc;
    void *memory;
};

/* "-" is standard input. `alloc` NULL is the C library's. TTS_E_IO: the text names the path.
 * Others stand behind it: TTS_E_NOT_FOUND (a log without a summary, an event file or result
 * without a phase), TTS_E_SYNTAX (err has the line), TTS_E_NOMEM. What of a run could not be
 * read is in its notes; of a recording that is damaged too. */
TTS_NODISCARD enum tts_status tts_runs_load(const char *path, const struct tts_alloc *alloc,
                                            struct tts_runs *out, struct tts_error *err);
/* Returns whether the file at `path`, or standard input for "-", begins like a recording or
 * like a JSON object. Takes nothing from a pipe. False for everything else that is not a
 * regular file: a reader of logs can read that in one pass. */
bool tts_runs_may_be_saved(const char *path);
void tts_runs_release(struct tts_runs *runs); /* a zeroed one is fine */
