/* trainlog.h: the memory summaries in the log of a training program, one after the other, in
 * one pass and bounded memory. The rules are in docs/design/train-log.md. One thread. */
#pragma once

#include "model/run.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdint.h>

struct tts_input;
struct tts_trainlog; /* opaque; heap */

/* Plain, gzip or zstd; "-" is standard input. `alloc` NULL is the C library's. TTS_E_IO,
 * TTS_E_NOMEM: err names the path. */
TTS_NODISCARD enum tts_status tts_trainlog_open(const char *path, const struct tts_alloc *alloc,
                                                struct tts_trainlog **out,
                                                struct tts_error *err);

/* Like tts_trainlog_open(), but reads an input that the caller has open, from where it stands.
 * The input is borrowed until close. */
TTS_NODISCARD enum tts_status tts_trainlog_new(struct tts_input *in,
                                               const struct tts_alloc *alloc,
                                               struct tts_trainlog **out,
                                               struct tts_error *err);

/* The next summary, in the order in which they end, borrowed until the next call. A block that
 * is cut off comes too (is_cut), at the next heading of its rank or at the end of the log.
 * TTS_E_NOT_FOUND: no more. TTS_E_IO, TTS_E_SYNTAX (compressed bytes that are damaged),
 * TTS_E_NOMEM: the log could not be read further; blocks that were open have been given
 * before, as cut off. err has line and offset. */
TTS_NODISCARD enum tts_status
tts_trainlog_next(struct tts_trainlog *log, const struct tts_run **out, struct tts_error *err);

/* What was seen besides the summaries; final behind the last of them. */
struct tts_trainlog_facts {
    uint64_t lines, bytes; /* of the text, not of the compressed file */
    bool has_nul;          /* it is no text file, or a log with a hole */
    bool is_utf16;         /* it begins as UTF-16 does: nothing was found in it */
    uint64_t stray_lines;  /* memory figures outside any block: its heading is not in the log */
    uint64_t stray_line;   /* the first of them */
};
void tts_trainlog_facts(const struct tts_trainlog *log, struct tts_trainlog_facts *out);

/* Bytes of the file so far and in all (0: not known), for a line of progress. The second
 * is asked while a call of `next` is under way: `tick` is called now and then. */
uint64_t tts_trainlog_taken(const struct tts_trainlog *log);
uint64_t tts_trainlog_total(const struct tts_trainlog *log);
void tts_trainlog_on_tick(struct tts_trainlog *log, void (*tick)(void *ctx, uint64_t taken),
                          void *ctx);

void tts_trainlog_close(struct tts_trainlog *log); /* NULL is fine */
