/* regionclean.h: removes dead processes from a memory region of the runtime. docs/design/
 * region.md has the rules, and analysis decides which processes are dead.
 *
 * The region stays in use meanwhile: each entry is claimed with one atomic step, and totals
 * change by atomic differences, so counters of live processes stay right.
 *
 * The claim needs a mapping. If another process truncates the file during the call, the kernel
 * ends the calling process with SIGBUS. No runtime truncates a region below its layout. A
 * caller that must survive makes the call in a child process, with the struct in shared memory.
 *
 * Threads: one thread at a time. Cost: a lock, a mapping, and about ten atomic operations per
 * entry. */
#pragma once

#include "model/live/hostview.h"

/* An entry to remove. The caller sets `slot`. */
struct tts_regionclean_entry {
    size_t slot;                /* place in `slots` of the region */
    bool is_removed;            /* false: the entry was used again, and is unchanged */
    struct tts_counters before; /* what the entry held when it was removed */
};

struct tts_regionclean {
    const struct tts_seenregion *region; /* borrowed; state TTS_SEENREGION_READ */
    /* No process holds the device: also reset the reference count and the bytes that no process
     * accounts for. */
    bool is_unheld;
    size_t entry_count;
    struct tts_regionclean_entry entries[TTS_HOSTVIEW_SLOTS];
    /* Results. */
    bool is_reset; /* the reference count and all totals are 0 now */
    struct tts_counters
        reset; /* what the totals held before the reset; other entries are gone */
};

/* Removes the entries from a region in the /dev/shm below `root`. Changes nothing on failure:
 *
 * TTS_E_NOT_FOUND: the file was removed or replaced after it was read.
 * TTS_E_BUSY: another process cleans the region, or its version or size changed.
 * TTS_E_INVALID: the region is in a private /dev/shm or was not read.
 * TTS_E_IO: the file cannot be opened or mapped; err->sys_errno is EACCES or EPERM if this user
 * may not write it. */
TTS_NODISCARD enum tts_status tts_regionclean_run(struct tts_regionclean *clean,
                                                  const char *root, struct tts_error *err);
