/* trainlog.h: reads the memory summaries in the log of a training program one by one, in one
 * pass and with bounded memory. The rules are in docs/design/train-log.md. One thread. */
#pragma once

#include "model/run.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdint.h>

struct tts_input;
struct tts_trainlog; /* opaque; heap */

/* Opens a log: plain, gzip or zstd. "-" is standard input. `alloc` may be NULL for the C
 * library's. TTS_E_IO, TTS_E_NOMEM: err names the path. */
TTS_NODISCARD enum tts_status tts_trainlog_open(const char *path, const struct tts_alloc *alloc,
                                                struct tts_trainlog **out,
                                                struct tts_error *err);

/* Like tts_trainlog_open(), but reads an input that the caller opened, from its current
 * position. The input is borrowed until close. */
TTS_NODISCARD enum tts_status tts_trainlog_new(struct tts_input *in,
                                               const struct tts_alloc *alloc,
                                               struct tts_trainlog **out,
                                               struct tts_error *err);

/* Reads the next summary, in the order of their ends. It is borrowed until the next call. A
 * summary that is cut off is also given (is_cut), at the next heading of its rank or at the end
 * of the log. TTS_E_NOT_FOUND: no more. TTS_E_IO, TTS_E_SYNTAX (damaged compressed bytes),
 * TTS_E_NOMEM: the rest of the log cannot be read. Summaries that were open have been given
 * before, as cut off. err has line and offset. */
TTS_NODISCARD enum tts_status
tts_trainlog_next(struct tts_trainlog *log, const struct tts_run **out, struct tts_error *err);

/* Facts about the log besides the summaries. They are final after the last summary. */
struct tts_trainlog_facts {
    uint64_t lines, bytes; /* lines and bytes of the text, not of the compressed file */
    bool has_nul;          /* not a text file, or a log with a hole */
    bool is_utf16;         /* the log begins like UTF-16; no summary was found in it */
    /* Lines with memory figures outside any block, because the heading is not in the log. */
    uint64_t stray_lines;
    uint64_t stray_line; /* the first of them */
};
void tts_trainlog_facts(const struct tts_trainlog *log, struct tts_trainlog_facts *out);

/* Return the bytes of the file read so far, and its size (0: unknown), to show progress.
 * tts_trainlog_next() calls `tick` from time to time. */
uint64_t tts_trainlog_taken(const struct tts_trainlog *log);
uint64_t tts_trainlog_total(const struct tts_trainlog *log);
void tts_trainlog_on_tick(struct tts_trainlog *log, void (*tick)(void *ctx, uint64_t taken),
                          void *ctx);

void tts_trainlog_close(struct tts_trainlog *log); /* NULL is allowed */
