/* clientregions.h: reads the regions of programs that publish: files ttscope_<pid>_<start>_
 * <namespace> in /dev/shm (wire/clientregion.h). docs/design/client-region.md has the rules.
 *
 * A region belongs to another process, which may write, truncate or replace it at any time. The
 * reader copies with pread() and checks the copy; it maps nothing, writes nothing and opens
 * regular files only.
 *
 * Ownership: results go to a host view of the caller. Threads: one thread per store.
 * Cost: two system calls for a region that has not changed; a region that has changed is read:
 * header, devices and the table up to its highest slot. */
#pragma once

#include "model/live/hostview.h"
#include "wire/clientregion.h"

enum { TTS_CLIENTREGIONS_MAX = 1024 };

/* A live buffer of a program, as its region lists the buffer. */
struct tts_seenlive {
    uint64_t id, address;
    uint64_t size_bytes;
    uint64_t bank_bytes; /* 0: unknown */
    uint64_t time_ns;
    uint32_t device; /* index in the devices of the region */
    uint16_t op;     /* 1 + index in the operations of the region; 0: none */
    uint8_t pool, flags;
};

struct tts_clientstore; /* opaque; heap: the regions that are kept between reads */

TTS_NODISCARD enum tts_status tts_clientstore_open(const char *root,
                                                   const struct tts_alloc *alloc,
                                                   struct tts_clientstore **out,
                                                   struct tts_error *err);
void tts_clientstore_close(struct tts_clientstore *store); /* NULL is allowed */

/* From now on, regions that a server writes are left out: the server itself knows better. */
void tts_clientstore_leave_out_served(struct tts_clientstore *store);

/* Lists the regions of the host and adds what they say to `view`: one tts_seenclient for each
 * region, and one tts_seenview for each device of a region. The buffers of a mesh are added to
 * each of its chips, too. Whether the processes are alive is not decided here: `is_alive`,
 * `is_judged`, `is_orphan` and the numbers `pid` stay 0 (livehost.h). Files that are no regular
 * files are left out. Returns TTS_OK, or TTS_E_NOMEM with a part of the regions in `view`. */
TTS_NODISCARD enum tts_status tts_clientstore_read(struct tts_clientstore *store,
                                                   struct tts_hostview *view,
                                                   struct tts_error *err);

/* Like tts_clientstore_read(), and also lists the regions in the /dev/shm that each of the
 * processes private_of[0..count) sees, as in a container. */
TTS_NODISCARD enum tts_status tts_clientstore_read_all(struct tts_clientstore *store,
                                                       const uint32_t *private_of, size_t count,
                                                       struct tts_hostview *view,
                                                       struct tts_error *err);

/* Calls `visit` for each live buffer that region `client` of the last read lists. `client` is
 * the index in `clients` of a host view that had no other regions. Returns TTS_E_NOT_FOUND if
 * there is no such region now, TTS_E_SYNTAX or TTS_E_IO if the file cannot be read (some
 * buffers may have been visited), TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status
tts_clientstore_buffers(struct tts_clientstore *store, uint32_t client,
                        void (*visit)(void *ctx, const struct tts_seenlive *live), void *ctx,
                        struct tts_error *err);
