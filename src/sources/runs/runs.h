/* runs.h: the runs in a file, whatever it is: a training log (plain or compressed), a recording
 * or a graph trace, or a result that was saved with --json (analyze, fit, show). The content
 * tells them apart. tts_runs_load() gives all runs at once and has limits; a reader gives one
 * after the other, and any number of a log.
 *
 * Ownership: the caller owns what open and load give. A run of a reader is borrowed until the
 * next call.
 * Threads: one thread.
 * Cost: a log is read in one pass, also from a pipe. Everything else is in memory as a whole,
 * and a pipe of it in a temporary file. */
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
void tts_runs_release(struct tts_runs *runs); /* a zeroed one is fine */

struct tts_runs_reader; /* opaque; heap */
struct tts_trainlog;

/* "-" is standard input. `alloc` NULL is the C library's. TTS_E_IO, TTS_E_NOMEM: err names the
 * path. */
TTS_NODISCARD enum tts_status tts_runs_open(const char *path, const struct tts_alloc *alloc,
                                            struct tts_runs_reader **out,
                                            struct tts_error *err);
void tts_runs_close(struct tts_runs_reader *reader); /* NULL is fine */

/* Reads the next run, in the order of the file. TTS_E_NOT_FOUND: there are no more. Any other
 * status: the rest cannot be read. */
TTS_NODISCARD enum tts_status tts_runs_next(struct tts_runs_reader *reader,
                                            const struct tts_run **out, struct tts_error *err);

/* Before the first run: `tick` is told now and then how many bytes of a log were read. */
void tts_runs_on_tick(struct tts_runs_reader *reader, void (*tick)(void *ctx, uint64_t taken),
                      void *ctx);
/* Returns the size of the file; 0 if it is unknown. */
uint64_t tts_runs_bytes(const struct tts_runs_reader *reader);

/* Returns the log that is being read, NULL if the file is something else. Borrowed. After the
 * first call of next. */
const struct tts_trainlog *tts_runs_log(const struct tts_runs_reader *reader);
/* Returns why JSON that is read as a log is no graph trace; NULL if the file is no such JSON.
 * Borrowed. */
const struct tts_error *tts_runs_refusal(const struct tts_runs_reader *reader);
