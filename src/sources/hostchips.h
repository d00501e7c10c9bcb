/* hostchips.h: the Tenstorrent chips of this host, as sysfs and procfs tell. A device node is
 * never opened: that would raise the chip's power and show us among its users.
 *
 * Caller's memory: scan, read, release. Foreign bytes: bounded, and shown escaped. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/chip.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTS_HOST_TEXT_MAX = 40, TTS_HOST_CHIPS_MAX = 256, TTS_HOST_PIDS_MAX = 64 };

/* A text is "" where the kernel does not say. */
struct tts_hostchip {
    uint32_t node;                       /* N of /dev/tenstorrent/N */
    char card_type[TTS_HOST_TEXT_MAX];   /* "n150", as the driver has it or the serial says */
    char serial[TTS_HOST_TEXT_MAX];      /* 16 hex digits: the board */
    char asic_id[TTS_HOST_TEXT_MAX];     /* 16 hex digits: the chip */
    char firmware[TTS_HOST_TEXT_MAX];    /* of the bundle */
    char pci_address[TTS_HOST_TEXT_MAX]; /* "0000:01:00.0" */
    bool arch_known;
    enum tts_arch arch;               /* by the PCI device id, else the card type */
    const char *preset;               /* that fits the card, NULL: none known */
    bool pids_known;                  /* the driver tells who has it open (2.5 and later) */
    uint32_t pids[TTS_HOST_PIDS_MAX]; /* each once, ascending; 0: one that we may not see */
    size_t pid_count;                 /* may exceed TTS_HOST_PIDS_MAX: the rest is not kept */
};

struct tts_hostchips {
    bool driver_loaded;
    char driver_version[TTS_HOST_TEXT_MAX];
    struct tts_hostchip *chips; /* by node */
    size_t count;
    size_t left_out; /* beyond TTS_HOST_CHIPS_MAX */
    const struct tts_alloc *alloc;
};

/* `root` is put before /sys and /proc; "" for this host. No driver and no chip is no error.
 * TTS_E_IO: a directory is there and cannot be read. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_hostchips_scan(struct tts_hostchips *out, const char *root,
                                                 const struct tts_alloc *alloc,
                                                 struct tts_error *err);
void tts_hostchips_release(struct tts_hostchips *chips);
