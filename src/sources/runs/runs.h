/* runs.h: reads the runs in a file of any kind: a training log (plain or compressed), a
 * recording, a graph trace, or a result that was saved with --json (analyze, fit, show). The
 * content decides the kind. tts_runs_load() returns all runs at once and has limits. A reader
 * returns them one by one, and any number of them from a log.
 *
 * Ownership: the caller owns the results of open and load. A run of a reader is borrowed until
 * the next call.
 * Threads: one thread.
 * Cost: a log is read in one pass, also from a pipe. All other files are held in memory, and
 * the content of a pipe in a temporary file. */
#pragma once

#include "model/run_list.h"
#include "ttscope/status.h"

/* Loads all runs of a file. "-" is standard input. `alloc` may be NULL for the C library's.
 * TTS_E_IO: the text names the path. The text of other errors does not: TTS_E_NOT_FOUND (a log
 * without a summary, an event file or result without a phase), TTS_E_SYNTAX (err has the line),
 * TTS_E_NOMEM. Parts of a run that could not be read are in its notes, also for a damaged
 * recording. */
TTS_NODISCARD enum tts_status tts_runs_load(const char *path, const struct tts_alloc *alloc,
                                            struct tts_runs *out, struct tts_error *err);
void tts_runs_release(struct tts_runs *runs); /* a zeroed struct is allowed */

struct tts_runs_reader; /* opaque; heap */
struct tts_trainlog;

/* Opens a file. "-" is standard input. `alloc` may be NULL for the C library's. TTS_E_IO,
 * TTS_E_NOMEM: err names the path. */
TTS_NODISCARD enum tts_status tts_runs_open(const char *path, const struct tts_alloc *alloc,
                                            struct tts_runs_reader **out,
                                            struct tts_error *err);
void tts_runs_close(struct tts_runs_reader *reader); /* NULL is allowed */

/* Reads the next run, in the order of the file. TTS_E_NOT_FOUND: there are no more. Any other
 * status: the rest cannot be read. */
TTS_NODISCARD enum tts_status tts_runs_next(struct tts_runs_reader *reader,
                                            const struct tts_run **out, struct tts_error *err);

/* Calls `tick` from time to time with the number of bytes of a log read so far. Only before the
 * first run. */
void tts_runs_on_tick(struct tts_runs_reader *reader, void (*tick)(void *ctx, uint64_t taken),
                      void *ctx);
/* Returns the size of the file; 0 if it is unknown. */
uint64_t tts_runs_bytes(const struct tts_runs_reader *reader);

/* Returns the log that is being read, or NULL if the file is not a log. Borrowed. Only after
 * the first call of tts_runs_next(). */
const struct tts_trainlog *tts_runs_log(const struct tts_runs_reader *reader);
/* Returns the reason why JSON that is read as a log is not a graph trace. NULL for any other
 * file. Borrowed. */
const struct tts_error *tts_runs_refusal(const struct tts_runs_reader *reader);
