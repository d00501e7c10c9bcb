/* regions.h: reads the memory regions of the runtime: files tt_device_<id>_memory in /dev/shm.
 * docs/design/region.md has the rules.
 *
 * A region belongs to other processes, which may write, truncate or replace it at any time. The
 * reader copies the file with pread() and checks the copy. It never maps a file, never writes,
 * and opens regular files only.
 *
 * Ownership: results go to a host view of the caller. Threads: one thread per host view.
 * Cost: six system calls and a copy of 8576 bytes per region, and the listing of the directory;
 * two system calls for a region that is kept open. */
#pragma once

#include "model/live/hostview.h"

/* Values above this limit are corrupt. The limit is far above the memory of a device on
 * purpose: bytes of crashed processes and of buffers that a runtime only pretended to allocate
 * stay in the counters and add up. */
#define TTS_REGIONS_BYTES_MAX (UINT64_C(1) << 50)

enum { TTS_REGIONS_OPEN_MAX = 128 };

/* Regions that are kept between reads: each file stays open, and a region whose bytes are those
 * of the last read is not decoded again. At most TTS_REGIONS_OPEN_MAX regions are kept. The
 * caller owns the struct, which is valid when zeroed. */
struct tts_regionstore {
    struct tts_keptregion *list;
    size_t count, capacity;
    uint64_t round;
    const struct tts_alloc *alloc;
};

/* Begins a round of reads: forgets the regions that were not read in the last round. If `alloc`
 * is NULL, the C library allocates. */
void tts_regionstore_begin(struct tts_regionstore *store, const struct tts_alloc *alloc);
void tts_regionstore_release(struct tts_regionstore *store);

/* Lists the regions of this host and adds them to `view`. If `private_of` is not 0, lists the
 * regions in the /dev/shm that this process sees, and adds those that `view` does not have yet.
 * `root` is put before /dev and /proc; "" selects this host.
 *
 * A region that cannot be read is added with the reason as its state. Regions beyond the limit
 * of a host view are counted in view->regions_left_out. If the directory cannot be listed, no
 * region is added, and the reason is in view->regions_errno, or in `shm_errno` of the process
 * if `view` has the process. `store` may be NULL.
 *
 * Returns TTS_OK or TTS_E_NOMEM. After a failure `view` may have some of the regions. */
TTS_NODISCARD enum tts_status tts_regions_read(struct tts_hostview *view, const char *root,
                                               uint32_t private_of,
                                               struct tts_regionstore *store,
                                               struct tts_error *err);

/* Decodes the copy of a region. `region` must have `id` and `file_bytes`, and bytes[0..len) is
 * the beginning of the file: all of it, or at least TTS_REGION_V1K_BYTES. Sets the state and
 * all facts that come from the content. Never returns TTS_SEENREGION_CHANGING. */
enum tts_seenregion_state tts_regions_decode(const unsigned char *bytes, size_t len,
                                             struct tts_seenregion *region);
