/* serverrings.h: follows the events of all programs that publish (sources/live/clientring.h)
 * and hands them to a sink. Regions that a server writes are not followed.
 *
 * Ownership: heap object of the caller. Threads: one thread at a time.
 * Cost: a ring without news takes one system call per look. The pause between two looks grows
 * from TTS_SERVERRINGS_BUSY_MS to TTS_SERVERRINGS_IDLE_MS while a ring has no news. */
#pragma once

#include "model/live/serverevent.h"

struct tts_serverrings;

enum {
    TTS_SERVERRINGS_MAX = 1024,
    TTS_SERVERRINGS_BUSY_MS = 4,
    TTS_SERVERRINGS_IDLE_MS = 50,
};

/* `directory` is that of the regions; it is borrowed. Returns TTS_E_NOMEM, or TTS_E_IO if the
 * system has no descriptors left. */
TTS_NODISCARD enum tts_status tts_serverrings_open(const char *directory,
                                                   const struct tts_serversink *sink,
                                                   const struct tts_alloc *alloc,
                                                   struct tts_serverrings **out,
                                                   struct tts_error *err);
void tts_serverrings_close(struct tts_serverrings *rings); /* NULL is allowed */

/* Returns a descriptor that is readable if a new region may exist, or if a program has ended:
 * then call tts_serverrings_clear(), read the host and call tts_serverrings_update(). */
int tts_serverrings_fd(const struct tts_serverrings *rings);
void tts_serverrings_clear(struct tts_serverrings *rings);
/* Begins to follow new programs, and ends with those that have ended. `is_sender` returns
 * whether a process sends frames: then its ring is not followed. */
void tts_serverrings_update(struct tts_serverrings *rings, const struct tts_hostview *view,
                            bool (*is_sender)(void *ctx, uint32_t pid), void *ctx);

/* Hands over events of the rings that are due, at most some thousand. Returns in how many
 * milliseconds the next ring is due: 0 means that there may be more events now, -1 that no ring
 * is followed. */
int tts_serverrings_step(struct tts_serverrings *rings, uint64_t now_ns);
/* Returns the number of programs that are followed. */
size_t tts_serverrings_count(const struct tts_serverrings *rings);
/* Returns the bytes of the circular buffers on a device by the last events. `read_bytes` is the
 * sum of the last read of the host, of all programs, also of those that are not followed. */
uint64_t tts_serverrings_cb_bytes(const struct tts_serverrings *rings, uint32_t device,
                                  uint64_t read_bytes);
