/* failscan.h: finds the failure messages of the runtime in a text of any kind and size, in the
 * order of the text. docs/design/failure-message.md has the rules.
 *
 * A sentence begins at most 1 KiB and 12 lines before its phrase, and ends at most 3 KiB and 51
 * lines after the beginning of the phrase; a longer one is cut. The phrase is the first one of
 * the sentence that no line end divides. Other lines before a sentence do not change its
 * message, except its operation and the base of circular buffers, which they may state. The
 * sentences of the runtime have fewer than 400 bytes, so real logs are within these limits.
 *
 * Ownership: the caller owns the scan and the input, and keeps the input open until
 * tts_failscan_free().
 * Threads: one thread at a time for each scan.
 * Cost: one pass. Memory does not grow with the text (less than 1 MiB).
 * Returns: see the functions. */
#pragma once

#include "model/failmsg.h"
#include "sources/log/logtext.h"
#include "ttscope/status.h"

struct tts_failscan; /* opaque; on the heap */

/* Opens a scan of `in` from its current position. `alloc` may be NULL; then the C library
 * allocates. TTS_E_NOMEM: err names the path. */
TTS_NODISCARD enum tts_status tts_failscan_new(struct tts_input *in,
                                               const struct tts_alloc *alloc,
                                               struct tts_failscan **out,
                                               struct tts_error *err);
/* Opens a scan of bytes that another reader has read. `path` is for messages. */
TTS_NODISCARD enum tts_status tts_failscan_new_fed(const char *path,
                                                   const struct tts_alloc *alloc,
                                                   struct tts_failscan **out,
                                                   struct tts_error *err);
/* Gives a scan of tts_failscan_new_fed() its next bytes. They are borrowed until
 * tts_failscan_next() returns TTS_E_NOT_FOUND: call that function in a loop after each piece.
 * The messages are those of tts_failscan_new() for the whole text. */
void tts_failscan_feed(struct tts_failscan *scan, const struct tts_logpiece *piece);
void tts_failscan_free(struct tts_failscan *scan); /* NULL is allowed */

/* Finds the next message. Returns TTS_E_NOT_FOUND after the last message. Returns TTS_E_IO, or
 * TTS_E_SYNTAX for damaged compressed bytes, if the rest cannot be read; then err has the line
 * and the offset. */
TTS_NODISCARD enum tts_status tts_failscan_next(struct tts_failscan *scan,
                                                struct tts_failmsg *out, struct tts_error *err);

/* Continues after TTS_E_NOT_FOUND, for a text that grows. A message at the end of the text that
 * may still grow is not returned before more text follows, or before `is_quiet` tells that no
 * text came for a while. Returns false if the text cannot grow. */
bool tts_failscan_resume(struct tts_failscan *scan, bool is_quiet);
/* Prepares the scan for a text that grows. Call this before the first tts_failscan_next(). */
void tts_failscan_follow(struct tts_failscan *scan);

/* Returns facts about the text so far. They are final after the last message. */
struct tts_logtext_facts tts_failscan_facts(const struct tts_failscan *scan);
/* Calls `tick` after each later read. `taken` is the number of bytes of the file read so
 * far. */
void tts_failscan_on_tick(struct tts_failscan *scan, void (*tick)(void *ctx, uint64_t taken),
                          void *ctx);
