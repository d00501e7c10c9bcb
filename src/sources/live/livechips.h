/* livechips.h: reads the chips of this host again and again: what the driver says about them,
 * the processes that have them open, and the processes that locked them. Opens no device node.
 *
 * The files of sysfs are read at first, when the list of chips changes, and every 10 seconds.
 * Holders and locks are read each time; the files of the first TTS_LIVECHIPS_OPEN_MAX chips
 * stay open. A lock that was missing is looked for again after /dev/shm has changed.
 *
 * The caller owns the struct: init, any number of reads, release. One thread at a time. */
#pragma once

#include "model/live/hostview.h"
#include "sources/hostchips.h"

enum { TTS_LIVECHIPS_OPEN_MAX = 64 };

/* The lock of a chip. Its file stays open. */
struct tts_livechip {
    struct tts_keptfile lock;
    bool is_lock_missing; /* at the last look */
};

struct tts_livechips {
    const char *root; /* borrowed */
    const struct tts_alloc *alloc;
    struct tts_hostchips found;
    bool is_scanned;
    int list_errno;   /* why the last scan failed; 0: the scan succeeded */
    uint64_t mark;    /* of the list of chips at the last scan */
    uint64_t scan_ns; /* time of the last scan */
    struct tts_hostpids pids[TTS_LIVECHIPS_OPEN_MAX];
    struct tts_livechip open[TTS_LIVECHIPS_OPEN_MAX];
    uint64_t shm_ns;   /* time of the last change of the directory /dev/shm; 0: not known */
    uint64_t locks_ns; /* time of the last look for locks that were missing */
};

/* `root` is put before /dev, /proc and /sys, and must outlive the struct. If `alloc` is NULL,
 * the C library allocates. */
void tts_livechips_init(struct tts_livechips *chips, const char *root,
                        const struct tts_alloc *alloc);
void tts_livechips_release(struct tts_livechips *chips);

/* Appends the chips to view->chips and fills the facts about the driver. view->time_ns is the
 * present time. A directory that cannot be read gives no chips, and view->chips_errno. Costs
 * six system calls for each chip. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_livechips_read(struct tts_livechips *chips,
                                                 struct tts_hostview *view,
                                                 struct tts_error *err);
