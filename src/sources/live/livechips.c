#include "sources/live/livechips.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "sources/hostfile.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ID_DIGITS = 16,
    LOCK_BYTES = 56,
    LOCK_PID_OFF = 52, /* i32: the owner; after a mutex, a marker and the thread of the owner */
};

#define SCAN_PERIOD_NS (UINT64_C(10) * 1000 * 1000 * 1000)

#define SHM_DIR "/dev/shm"
#define SHM_TICK_NS (UINT64_C(100) * 1000 * 1000)

void tts_livechips_init(struct tts_livechips *chips, const char *root,
                        const struct tts_alloc *alloc)
{
    *chips = (struct tts_livechips){.root = root, .alloc = alloc ? alloc : tts_alloc_libc()};
}

static void close_chip_files(struct tts_livechips *chips)
{
    for (size_t i = 0; i < TTS_LIVECHIPS_OPEN_MAX; i++) {
        tts_keptfile_close(&chips->pids[i].file);
        tts_keptfile_close(&chips->open[i].lock);
        chips->pids[i].is_kept = chips->open[i].is_lock_missing = false;
    }
}

void tts_livechips_release(struct tts_livechips *chips)
{
    close_chip_files(chips);
    tts_hostchips_release(&chips->found);
    tts_livechips_init(chips, chips->root, chips->alloc);
}

/* Scans sysfs if the last scan is too old. A scan that fails gives no chips, and is an error
 * only if memory ran out. */
static enum tts_status rescan_chips(struct tts_livechips *chips, uint64_t now_ns,
                                    struct tts_error *err)
{
    uint64_t mark = 0;
    struct tts_error cause = {0};
    enum tts_status status = tts_hostchips_mark(chips->root, &mark, &cause);
    /* A clock that was set back makes the difference very large. */
    if (chips->is_scanned && status == TTS_OK && mark == chips->mark &&
        now_ns - chips->scan_ns < SCAN_PERIOD_NS)
        return TTS_OK;
    struct tts_hostchips found = {.alloc = chips->alloc};
    if (status == TTS_OK)
        status = tts_hostchips_scan_sysfs(&found, chips->root, chips->alloc, &cause);
    if (status == TTS_E_NOMEM)
        return tts_error_set(err, status, TTS_TEXT_NOMEM " for the list of chips");
    if (status != TTS_OK) {
        found = (struct tts_hostchips){.alloc = chips->alloc};
        tts_hostchips_read_driver(&found, chips->root);
    }
    close_chip_files(chips);
    tts_hostchips_release(&chips->found);
    chips->found = found;
    chips->is_scanned = status == TTS_OK;
    chips->list_errno = status == TTS_OK ? 0 : cause.sys_errno;
    chips->mark = mark;
    chips->scan_ns = now_ns;
    return TTS_OK;
}

/* Reads an id of 16 hex digits. The firmware of some chips reports 0 for an id that it does not
 * know. */
static bool parse_chip_id(const char *text, uint64_t *out)
{
    uint64_t id;
    if (strlen(text) != ID_DIGITS || tts_number_parse_hex(text, ID_DIGITS, &id) != TTS_OK ||
        id == 0)
        return false;
    *out = id;
    return true;
}

/* Returns whether no file can have come to /dev/shm since the last look for missing locks. The
 * kernel notes changes in ticks of some milliseconds, so a directory that had just changed at
 * the last look says nothing. */
static bool is_shm_unchanged(struct tts_livechips *chips, int shm_fd, uint64_t now_ns)
{
    struct stat info;
    uint64_t before_ns = chips->shm_ns, looked_ns = chips->locks_ns;
    bool is_known = shm_fd >= 0 && fstat(shm_fd, &info) == 0 && info.st_mtim.tv_sec > 0;
    chips->shm_ns = is_known ? (uint64_t)info.st_mtim.tv_sec * UINT64_C(1000000000) +
                                   (uint64_t)info.st_mtim.tv_nsec
                             : 0;
    bool is_same = is_known && chips->shm_ns == before_ns &&
                   before_ns + SHM_TICK_NS < looked_ns && looked_ns <= now_ns;
    if (!is_same)
        chips->locks_ns = now_ns;
    return is_same;
}

/* Reads the owner from the lock of the chip. A lock that no process ever took has no file.
 * `open` is NULL if the file does not stay open. */
static void read_chip_lock(int shm_fd, struct tts_livechip *open, bool is_unchanged,
                           struct tts_seenchip *seen)
{
    unsigned char bytes[LOCK_BYTES];
    char name[sizeof "TT_UMD_LOCK.CHIP_IN_USE__PCIe" + TTS_NUMBER_MAX];
    if (open && is_unchanged && open->is_lock_missing)
        return;
    snprintf(name, sizeof name, "TT_UMD_LOCK.CHIP_IN_USE_%" PRIu32 "_PCIe", seen->node);
    ssize_t len =
        open ? tts_keptfile_read(&open->lock, shm_fd, name, (char *)bytes, sizeof bytes)
             : tts_hostfile_read(shm_fd, name, (char *)bytes, sizeof bytes);
    if (open)
        open->is_lock_missing = len < 0 && errno == ENOENT;
    if (len != LOCK_BYTES)
        return;
    uint32_t pid = tts_get32(bytes + LOCK_PID_OFF);
    if (pid > INT32_MAX)
        return; /* no process has a negative number */
    seen->lock_known = true;
    seen->lock_pid = (int32_t)pid;
}

static void fill_seen_chip(const struct tts_hostchip *chip, struct tts_seenchip *seen)
{
    static_assert(sizeof seen->card_type == sizeof chip->card_type, "same size");
    static_assert(sizeof seen->holders == sizeof chip->pids, "same size");
    seen->node = chip->node;
    memcpy(seen->card_type, chip->card_type, sizeof seen->card_type);
    seen->serial_known = parse_chip_id(chip->serial, &seen->serial);
    seen->asic_id_known = parse_chip_id(chip->asic_id, &seen->asic_id);
    seen->arch_known = chip->arch_known;
    seen->arch = chip->arch;
    seen->preset = chip->preset;
    seen->holders_known = chip->pids_known;
    seen->holder_count = chip->pid_count;
    size_t kept = chip->pid_count < TTS_HOST_PIDS_MAX ? chip->pid_count : TTS_HOST_PIDS_MAX;
    memcpy(seen->holders, chip->pids, kept * sizeof seen->holders[0]);
}

enum tts_status tts_livechips_read(struct tts_livechips *chips, struct tts_hostview *view,
                                   struct tts_error *err)
{
    enum tts_status status = rescan_chips(chips, view->time_ns, err);
    if (status == TTS_OK)
        status = tts_hostchips_read_pids(&chips->found, chips->root, chips->pids,
                                         TTS_LIVECHIPS_OPEN_MAX, err);
    if (status != TTS_OK)
        return status;
    int shm_fd = chips->found.count > 0 ? tts_hostfile_open_root(chips->root, SHM_DIR) : -1;
    bool is_unchanged = is_shm_unchanged(chips, shm_fd, view->time_ns);
    for (size_t i = 0; status == TTS_OK && i < chips->found.count; i++) {
        struct tts_seenchip *seen = tts_hostview_add_chip(view);
        if (!seen) {
            status = tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the list of chips");
            break;
        }
        fill_seen_chip(&chips->found.chips[i], seen);
        if (shm_fd >= 0)
            read_chip_lock(shm_fd, i < TTS_LIVECHIPS_OPEN_MAX ? &chips->open[i] : NULL,
                           is_unchanged, seen);
    }
    if (shm_fd >= 0)
        close(shm_fd);
    view->driver_loaded = chips->found.driver_loaded;
    static_assert(sizeof view->driver_version == sizeof chips->found.driver_version, "same");
    memcpy(view->driver_version, chips->found.driver_version, sizeof view->driver_version);
    view->chips_left_out = chips->found.left_out;
    view->chips_errno = chips->list_errno;
    return status;
}
