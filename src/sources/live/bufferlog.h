/* bufferlog.h: the live buffers of a process, from its log of mesh buffers (the inspector of
 * the runtime writes mesh_buffers_log.yaml). docs/design/live-sources.md has the rules.
 *
 * The bytes may arrive in pieces of any size; the result does not depend on the pieces. Damaged
 * lines and events are counted and skipped. At most TTS_BUFFERLOG_LIVE_MAX live buffers are
 * kept; the others are counted as left out.
 *
 * Ownership: the caller owns the object and frees it. Threads: one thread at a time.
 * Cost: an event moves at most 12 KiB, whatever number of buffers is live. */
#pragma once

#include "model/live/hostview.h"

enum { TTS_BUFFERLOG_LIVE_MAX = 65536 };

struct tts_bufferlog; /* opaque; heap */

/* Makes an empty log. If `alloc` is NULL, the C library allocates. Returns TTS_OK or
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_bufferlog_new(const struct tts_alloc *alloc,
                                                struct tts_bufferlog **out,
                                                struct tts_error *err);
void tts_bufferlog_free(struct tts_bufferlog *log); /* NULL is allowed */
/* Forgets everything: the log begins anew. Keeps the memory. */
void tts_bufferlog_reset(struct tts_bufferlog *log);

/* Reads the next bytes of the log. A buffer for which there is no memory is left out. */
void tts_bufferlog_feed(struct tts_bufferlog *log, const char *bytes, size_t len);

/* Fills the bytes, counts and is_complete of *out. The rest of *out is unchanged. */
void tts_bufferlog_fill(struct tts_bufferlog *log, struct tts_seenbuffers *out);

/* Sets *out_ns to the timestamp of the last event that has a timestamp, in nanoseconds of the
 * clock of the runtime. Returns false if no event has a timestamp. */
bool tts_bufferlog_last_event(const struct tts_bufferlog *log, uint64_t *out_ns);
