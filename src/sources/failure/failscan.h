/* failscan.h: finds the failure messages of the runtime in a text of any kind and size, one
 * after the other, in one pass. docs/design/failure-message.md has the rules.
 *
 * Ownership: the caller owns the scan and the input; the input stays open until close.
 * Threads: one thread for each scan.
 * Cost: one pass; memory does not grow with the text (less than 1 MiB).
 * Returns: see the functions. */
#pragma once

#include "model/failmsg.h"
#include "sources/log/logtext.h"
#include "ttscope/status.h"

struct tts_failscan; /* opaque; heap */

/* Opens a scan of `in` from its current position. `alloc` NULL is the C library's.
 * TTS_E_NOMEM: err names the path. */
TTS_NODISCARD enum tts_status tts_failscan_new(struct tts_input *in,
                                               const struct tts_alloc *alloc,
                                               struct tts_failscan **out,
                                               struct tts_error *err);
void tts_failscan_free(struct tts_failscan *scan); /* NULL is allowed */

/* Finds the next message. Returns TTS_E_NOT_FOUND after the last. Returns TTS_E_IO or
 * TTS_E_SYNTAX (damaged compressed bytes) if the rest cannot be read; then err has line and
 * offset. */
TTS_NODISCARD enum tts_status tts_failscan_next(struct tts_failscan *scan,
                                                struct tts_failmsg *out, struct tts_error *err);

/* Goes on after TTS_E_NOT_FOUND, for a text that grows. A message that may still grow at the
 * end of the text is not given before more text follows it, or `is_quiet` says that nothing
 * came for a while. Returns false if the text cannot grow. */
bool tts_failscan_resume(struct tts_failscan *scan, bool is_quiet);
/* Call before the first message if the text grows. */
void tts_failscan_follow(struct tts_failscan *scan);

/* Returns facts about the text. They are final after the last message. */
struct tts_logtext_facts tts_failscan_facts(const struct tts_failscan *scan);
/* Calls `tick` after each following read with the number of bytes of the file read so far. */
void tts_failscan_on_tick(struct tts_failscan *scan, void (*tick)(void *ctx, uint64_t taken),
                          void *ctx);
