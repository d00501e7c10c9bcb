/* hostchips.h: finds the Tenstorrent chips of this host in sysfs and procfs. Device nodes are
 * never opened: opening a node would raise the power of the chip and make this process one of
 * its users.
 *
 * The caller owns the struct. Call scan, read the fields, then call release. Texts from the
 * kernel are cut to TTS_HOST_TEXT_MAX and made printable. */
#pragma once

#include "sources/hostfile.h"
#include "ttscope/alloc.h"
#include "ttscope/chip.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTS_HOST_TEXT_MAX = 40, TTS_HOST_CHIPS_MAX = 256, TTS_HOST_PIDS_MAX = 64 };

/* One chip. A text is "" if the kernel does not provide it. */
struct tts_hostchip {
    uint32_t node;                       /* N of /dev/tenstorrent/N */
    char card_type[TTS_HOST_TEXT_MAX];   /* "n150", from the driver or from the serial number */
    char serial[TTS_HOST_TEXT_MAX];      /* serial number of the board, 16 hex digits */
    char asic_id[TTS_HOST_TEXT_MAX];     /* id of the chip, 16 hex digits */
    char firmware[TTS_HOST_TEXT_MAX];    /* version of the firmware bundle */
    char pci_address[TTS_HOST_TEXT_MAX]; /* "0000:01:00.0" */
    bool arch_known;
    enum tts_arch arch; /* from the PCI device id, the card type or the name of the sensors */
    const char *preset; /* name of the preset of this card; NULL if no preset is known */
    /* True if the driver lists the processes that have the chip open (driver 2.5 and later). */
    bool pids_known;
    /* Ids of the processes that have the chip open, ascending and without duplicates. 0 stands
     * for a process that this user may not see. */
    uint32_t pids[TTS_HOST_PIDS_MAX];
    size_t pid_count; /* number of processes; only the first TTS_HOST_PIDS_MAX are in `pids` */
};

struct tts_hostchips {
    bool driver_loaded;
    char driver_version[TTS_HOST_TEXT_MAX];
    struct tts_hostchip *chips; /* in ascending order of `node` */
    size_t count;
    size_t left_out; /* number of chips beyond the first TTS_HOST_CHIPS_MAX */
    const struct tts_alloc *alloc;
};

/* Scans the host. `root` is put before the paths /sys and /proc; "" selects this host. A host
 * without a driver or without a chip is not an error. Returns TTS_E_IO if a directory exists
 * but cannot be read, and TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_hostchips_scan(struct tts_hostchips *out, const char *root,
                                                 const struct tts_alloc *alloc,
                                                 struct tts_error *err);

/* The list of the processes of one chip, kept between two reads. Zeroed: not read yet. */
enum { TTS_HOST_PIDTEXT_MAX = 1024 };
struct tts_hostpids {
    struct tts_keptfile file;
    bool is_kept; /* `text` is the text of the last read, from which the chip has its pids */
    size_t len;
    char text[TTS_HOST_PIDTEXT_MAX];
};

/* The two halves of a scan, for callers that look again and again. scan_sysfs() reads all but
 * the processes and can return TTS_E_IO or TTS_E_NOMEM. read_pids() reads the processes of all
 * chips anew: five system calls for each chip, or three for chips[0..kept_count), whose files
 * stay open in `kept`. Returns TTS_E_NOMEM; *chips is unchanged then. */
TTS_NODISCARD enum tts_status tts_hostchips_scan_sysfs(struct tts_hostchips *out,
                                                       const char *root,
                                                       const struct tts_alloc *alloc,
                                                       struct tts_error *err);
TTS_NODISCARD enum tts_status tts_hostchips_read_pids(struct tts_hostchips *chips,
                                                      const char *root,
                                                      struct tts_hostpids *kept,
                                                      size_t kept_count, struct tts_error *err);
/* Fills the facts about the driver, as far as they can be known without the list of chips. */
void tts_hostchips_read_driver(struct tts_hostchips *out, const char *root);
/* Sets *out to a number that changes if a chip comes, goes or is made again. Lists one
 * directory. Returns TTS_E_IO like a scan. */
TTS_NODISCARD enum tts_status tts_hostchips_mark(const char *root, uint64_t *out,
                                                 struct tts_error *err);
void tts_hostchips_release(struct tts_hostchips *chips);
