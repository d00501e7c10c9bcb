/* runs.h: reads the runs in a file of any kind: a training log (plain or compressed), a
 * recording, a graph trace, or a result that was saved with --json (analyze, fit, show). The
 * content determines the kind. tts_runs_load() returns all runs at once, up to a limit. A
 * reader returns the runs one by one, any number of them from a log.
 *
 * Ownership: the caller owns the results of tts_runs_load() and tts_runs_open(). A run from a
 * reader is valid until the next call.
 * Threads: one thread at a time.
 * Cost: a log is read in one pass, also from a pipe. The runs of any other file are all held in
 * memory, and the content of a pipe is copied to a temporary file. */
#pragma once

#include "model/failmsg.h"
#include "model/run_list.h"
#include "ttscope/status.h"

/* Loads all runs of a file. The path "-" means standard input. `alloc` may be NULL; then the C
 * library allocates.
 * TTS_E_IO: the file cannot be read; the text names the path. The texts of other errors do not
 * name the path. TTS_E_NOT_FOUND: a log without a summary, or an event file or result without a
 * phase. TTS_E_SYNTAX: err has the line. TTS_E_NOMEM: memory ran out. If a part of a run cannot
 * be read, for example in a damaged recording, the notes of the run say so, and the call
 * succeeds. */
TTS_NODISCARD enum tts_status tts_runs_load(const char *path, const struct tts_alloc *alloc,
                                            struct tts_runs *out, struct tts_error *err);
/* Frees the runs. *runs may be all zero. */
void tts_runs_release(struct tts_runs *runs);

struct tts_runs_reader; /* opaque; heap */
struct tts_input;
struct tts_trainlog;

/* Opens a file. The path "-" means standard input. `alloc` may be NULL; then the C library
 * allocates. TTS_E_IO: err names the path. TTS_E_NOMEM: memory ran out. */
TTS_NODISCARD enum tts_status tts_runs_open(const char *path, const struct tts_alloc *alloc,
                                            struct tts_runs_reader **out,
                                            struct tts_error *err);
/* Like tts_runs_open(), but takes over an input that the caller opened and that was not read.
 * After an error, the caller still owns the input. */
TTS_NODISCARD enum tts_status tts_runs_new(struct tts_input *in, const struct tts_alloc *alloc,
                                           struct tts_runs_reader **out, struct tts_error *err);
void tts_runs_close(struct tts_runs_reader *reader); /* NULL is allowed */

/* Reads the next run, in the order of the file. TTS_E_NOT_FOUND: there are no more runs. Any
 * other failure: the rest of the file cannot be read. */
TTS_NODISCARD enum tts_status tts_runs_next(struct tts_runs_reader *reader,
                                            const struct tts_run **out, struct tts_error *err);

/* Calls `tick` from time to time while a log is read. `taken` is the number of bytes read so
 * far. Allowed only before the first call of tts_runs_next(). */
void tts_runs_on_tick(struct tts_runs_reader *reader, void (*tick)(void *ctx, uint64_t taken),
                      void *ctx);
/* Calls `take` for each failure message of a log (model/failmsg.h), in the order of the log and
 * in the same pass. The message is borrowed for the call. Only before the first run. */
void tts_runs_on_failure(struct tts_runs_reader *reader,
                         void (*take)(void *ctx, const struct tts_failmsg *msg), void *ctx);
/* Returns the size of the file; 0 if it is unknown. */
uint64_t tts_runs_bytes(const struct tts_runs_reader *reader);

/* Returns the log that is being read, or NULL if the file is not a log. Valid after the first
 * call of tts_runs_next(), until tts_runs_close(). */
const struct tts_trainlog *tts_runs_log(const struct tts_runs_reader *reader);
/* Returns the reason why a JSON file that is read as a log is not a graph trace; NULL for any
 * other file. Valid until tts_runs_close(). */
const struct tts_error *tts_runs_refusal(const struct tts_runs_reader *reader);
