/* trainlog.h: reads the memory summaries in the log of a training program one by one, in one
 * pass and with limited memory. docs/design/train-log.md has the rules. One thread at a time.
 */
#pragma once

#include "model/run.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdint.h>

struct tts_input;
struct tts_logpiece;
struct tts_trainlog; /* opaque; heap */

/* Opens a log, which may be compressed with gzip or zstd. The path "-" means standard input.
 * `alloc` may be NULL; then the C library allocates. TTS_E_IO, TTS_E_NOMEM: err names the
 * path. */
TTS_NODISCARD enum tts_status tts_trainlog_open(const char *path, const struct tts_alloc *alloc,
                                                struct tts_trainlog **out,
                                                struct tts_error *err);

/* Like tts_trainlog_open(), but reads an input that the caller opened, from its current
 * position. The caller keeps the input open until tts_trainlog_close(). */
TTS_NODISCARD enum tts_status tts_trainlog_new(struct tts_input *in,
                                               const struct tts_alloc *alloc,
                                               struct tts_trainlog **out,
                                               struct tts_error *err);

/* Reads the next summary. Summaries are returned in the order of their ends; *out is valid
 * until the next call. A summary that is cut off is returned too, with is_cut, at the next
 * heading of its rank or at the end of the log.
 * TTS_E_NOT_FOUND: there are no more summaries. TTS_E_IO, TTS_E_SYNTAX (damaged compressed
 * bytes), TTS_E_NOMEM: the rest of the log cannot be read; err has the line and the offset.
 * Before such a failure, the open summaries are returned as cut off. */
TTS_NODISCARD enum tts_status
tts_trainlog_next(struct tts_trainlog *log, const struct tts_run **out, struct tts_error *err);

/* Facts about the whole log. They are final after the last summary. */
struct tts_trainlog_facts {
    uint64_t lines, bytes; /* of the text after decompression */
    bool has_nul;          /* the input is not a text file, or it is a log with a hole */
    bool is_utf16;         /* the log begins like UTF-16, in which no summary can be found */
    /* Number of lines with memory figures outside any block. The log lacks their heading. */
    uint64_t stray_lines;
    uint64_t stray_line; /* number of the first such line */
};
void tts_trainlog_facts(const struct tts_trainlog *log, struct tts_trainlog_facts *out);

/* Return the number of bytes of the file read so far and the size of the file (0: unknown), to
 * show progress. tts_trainlog_next() calls `tick` from time to time. */
uint64_t tts_trainlog_taken(const struct tts_trainlog *log);
uint64_t tts_trainlog_total(const struct tts_trainlog *log);
void tts_trainlog_on_tick(struct tts_trainlog *log, void (*tick)(void *ctx, uint64_t taken),
                          void *ctx);

/* Calls `tap` with the bytes of each read, for a second search in the same pass. Only before
 * the first summary. */
void tts_trainlog_on_read(struct tts_trainlog *log,
                          void (*tap)(void *ctx, const struct tts_logpiece *piece), void *ctx);

void tts_trainlog_close(struct tts_trainlog *log); /* NULL is allowed */
