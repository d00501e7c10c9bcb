/* livehost.h: reads what this host says about the memory of its devices, again and again: chips
 * (livechips.h), regions of the runtime (regions.h), processes (liveprocs.h), buffer logs
 * (bufferlog.h) and programs that publish (clientregions.h).
 *
 * Reads files below /dev/shm, /proc and /sys only. Opens no device node, writes nothing and
 * starts nothing.
 *
 * Ownership: the caller owns the object, and closes it. Threads: one thread at a time, except
 * tts_livehost_stop().
 * Cost: the first read lists everything; later reads use kept descriptors and read what may
 * have changed. Memory is bounded by the limits of model/live/hostview.h. */
#pragma once

#include "model/live/liveframe.h"
#include "sources/live/clientregions.h"

struct tts_livehost; /* opaque; heap */

/* Opens the host below `root`, which is put before /dev, /proc and /sys; "" selects this host.
 * Returns TTS_E_IO if `root` does not exist, and TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_livehost_open(const char *root, const struct tts_alloc *alloc,
                                                struct tts_livehost **out,
                                                struct tts_error *err);
void tts_livehost_close(struct tts_livehost *host); /* NULL is allowed */

/* From now on, regions that a server writes are left out of the clients. */
void tts_livehost_leave_out_served(struct tts_livehost *host);

/* Reads the host once into *view, which is reset first. A source that is missing or cannot be
 * read is not an error: its facts stay unknown. Returns TTS_OK, or with an empty *view
 * TTS_E_NOMEM, or TTS_E_IO if the read was stopped. */
TTS_NODISCARD enum tts_status
tts_livehost_read(struct tts_livehost *host, struct tts_hostview *view, struct tts_error *err);

/* Makes a read that is under way end soon, with TTS_E_IO and an empty *view, and each later
 * read at once. Any thread may call this. A call of the system that blocks is not interrupted.
 */
void tts_livehost_stop(struct tts_livehost *host);

/* Calls `visit` for each live buffer that program `client` of the last read lists: `client` is
 * an index in `clients` of the host view. Returns as tts_clientstore_buffers() does. */
TTS_NODISCARD enum tts_status
tts_livehost_buffers(struct tts_livehost *host, uint32_t client,
                     void (*visit)(void *ctx, const struct tts_seenlive *live), void *ctx,
                     struct tts_error *err);

/* From now on tts_livehost_read() looks up no names of users: a name service on the network can
 * block for seconds, also for processes that are not shown. */
void tts_livehost_defer_users(struct tts_livehost *host);
/* Fills in the names of users: of the first `per_device` selected processes of each device, and
 * of the processes without a device. Asks the system once for each user. */
void tts_livehost_name_users(struct tts_livehost *host, struct tts_liveframe *frame,
                             size_t per_device);
