/* Writes bytes as the files of a simulated host and reads its chips and processes. Every text
 * must be terminated, every number within its limits and in order, and a second read of the
 * same files must give the same facts.
 *
 * A byte 0xff ends the content of a file; the next file follows. Only an input whose length is
 * a multiple of 4 is read twice, and only files that change are written, so that a run costs
 * little. */
#include "fuzz/reuse.h"
#include "sources/live/livechips.h"
#include "sources/live/liveprocs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { PID = 50, PATH_BYTES = 512, CONTENT_MAX = 2048, NEW_PERIOD = 32 };

#define CHIP "/sys/class/tenstorrent/tenstorrent!0/"

static const char *const files[] = {
    "/proc/50/stat",
    "/proc/50/status",
    "/proc/driver/tenstorrent/0/pids",
    "/dev/shm/TT_UMD_LOCK.CHIP_IN_USE_0_PCIe",
    CHIP "tt_card_type",
    CHIP "tt_serial",
    CHIP "tt_asic_id",
    CHIP "device/device",
    CHIP "device/hwmon/hwmon1/name",
    "/proc/stat",
    "/proc/50/cmdline",
    "/sys/module/tenstorrent/version",
};
enum { FILES = sizeof files / sizeof files[0] };

static const char *const dirs[] = {
    "/proc",
    "/proc/50",
    "/proc/50/fd",
    "/proc/driver",
    "/proc/driver/tenstorrent",
    "/proc/driver/tenstorrent/0",
    "/dev",
    "/dev/shm",
    "/sys",
    "/sys/module",
    "/sys/module/tenstorrent",
    "/sys/class",
    "/sys/class/tenstorrent",
    CHIP,
    CHIP "device",
    CHIP "device/hwmon",
    CHIP "device/hwmon/hwmon1",
};
enum { DIRS = sizeof dirs / sizeof dirs[0] };

static char root[PATH_BYTES];
static int fds[FILES]; /* stay open */
static struct {
    uint8_t bytes[CONTENT_MAX];
    size_t len;
} contents[FILES]; /* the present contents of the files */

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void remove_tree(void)
{
    char path[2 * PATH_BYTES];
    for (size_t i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s%s", root, files[i]);
        unlink(path);
    }
    for (size_t i = DIRS; i-- > 0;) {
        snprintf(path, sizeof path, "%s%s", root, dirs[i]);
        rmdir(path);
    }
    rmdir(root);
}

static void make_tree(void)
{
    char path[2 * PATH_BYTES];
    const char *parent = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/tts-hosttree-XXXXXX", parent ? parent : "/tmp");
    check(mkdtemp(root) != NULL, "no directory");
    atexit(remove_tree);
    for (size_t i = 0; i < DIRS; i++) {
        snprintf(path, sizeof path, "%s%s", root, dirs[i]);
        check(mkdir(path, 0755) == 0, "no directory");
    }
    for (size_t i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s%s", root, files[i]);
        fds[i] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        check(fds[i] >= 0, "no file");
    }
}

static void write_tree(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0, at = 0; i < FILES; i++) {
        const uint8_t *end = at < len ? memchr(bytes + at, 0xff, len - at) : NULL;
        size_t stop = end ? (size_t)(end - bytes) : len;
        size_t count = at < stop ? stop - at : 0;
        if (count != contents[i].len ||
            (count > 0 && memcmp(contents[i].bytes, bytes + at, count) != 0)) {
            check(ftruncate(fds[i], 0) == 0, "not truncated");
            check(count == 0 || pwrite(fds[i], bytes + at, count, 0) == (ssize_t)count,
                  "not written");
            if (count > 0)
                memcpy(contents[i].bytes, bytes + at, count);
            contents[i].len = count;
        }
        at = end ? stop + 1 : len;
    }
}

static bool has_end(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static void check_chip(const struct tts_seenchip *chip)
{
    check(chip->node == 0, "another node");
    check(has_end(chip->card_type, sizeof chip->card_type), "a text without an end");
    for (const char *at = chip->card_type; *at; at++)
        check(*at >= ' ' && *at <= '~', "a byte that cannot be shown");
    check(!chip->serial_known || chip->serial != 0, "a serial number of 0");
    check(!chip->asic_id_known || chip->asic_id != 0, "an id of 0");
    check(!chip->preset || chip->arch_known, "a preset without an architecture");
    check(!chip->lock_known || chip->lock_pid >= 0, "a negative owner");
    check(chip->holders_known, "no list of holders");
    for (size_t i = 0; i < chip->holder_count && i < TTS_HOSTVIEW_HOLDERS_MAX; i++) {
        check(chip->holders[i] <= INT32_MAX, "a holder that is no process");
        check(i == 0 || chip->holders[i - 1] < chip->holders[i], "holders out of order");
    }
}

static void check_process(const struct tts_seenprocess *process)
{
    check(process->pid == PID, "another process");
    check(has_end(process->user, sizeof process->user) &&
              has_end(process->comm, sizeof process->comm) &&
              has_end(process->command, sizeof process->command),
          "a text without an end");
    check((process->pid_inside > 0) == (process->pid_levels > 0), "a number without levels");
    check(process->pid_inside <= INT32_MAX, "a number that is no process");
    check(process->is_alive ||
              (!process->start_known && !process->uid_known && process->comm[0] == '\0'),
          "facts about no process");
    check(process->nodes_known == process->is_alive && process->nodes == 0, "nodes");
    check(!process->namespace_known, "a namespace");
}

/* Reads the host. The time moves on by 10 seconds each time, so nothing is kept from before. */
static void read_tree(struct tts_livechips *chips, struct tts_liveprocs *procs,
                      struct tts_hostview *view)
{
    static uint64_t now_ns = 1;
    now_ns += UINT64_C(10000000000);
    tts_hostview_reset(view);
    view->time_ns = now_ns;
    check(tts_livechips_read(chips, view, NULL) == TTS_OK, "no chips");
    tts_liveprocs_begin(procs, now_ns, true);
    check(tts_liveprocs_add(procs, PID, view, NULL) == TTS_OK, "no process");
    check(view->chip_count == 1 && view->process_count == 1 && view->driver_loaded,
          "another number of chips or processes");
    check(has_end(view->driver_version, sizeof view->driver_version), "a text without an end");
    check_chip(&view->chips[0]);
    check_process(&view->processes[0]);
}

/* Reads the same files again and compares. */
static void read_again(struct tts_livechips *chips, struct tts_liveprocs *procs,
                       const struct tts_hostview *first)
{
    static struct tts_hostview second;
    if (!second.alloc)
        tts_hostview_init(&second, &reuse_alloc);
    read_tree(chips, procs, &second);
    check(memcmp(first->chips, second.chips, sizeof *first->chips) == 0,
          "other facts about the chip");
    check(memcmp(first->processes, second.processes, sizeof *first->processes) == 0,
          "other facts about the process");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct tts_livechips chips;
    static struct tts_hostview first;
    static struct tts_liveprocs *procs;
    static unsigned runs;
    if (len > CONTENT_MAX)
        return 0;
    if (root[0] == '\0') {
        make_tree();
        tts_livechips_init(&chips, root, &reuse_alloc);
        tts_hostview_init(&first, &reuse_alloc);
    }
    write_tree(bytes, len);
    /* A new object asks the system for names of users and for the start of the kernel again. */
    if (runs++ % NEW_PERIOD == 0) {
        tts_liveprocs_free(procs);
        check(tts_liveprocs_new(root, &reuse_alloc, &procs, NULL) == TTS_OK, "no memory");
    }
    tts_liveprocs_begin(procs, 0, false);
    tts_liveprocs_begin(procs, 0, false); /* forgets the process */
    read_tree(&chips, procs, &first);
    if (len % 4 == 0)
        read_again(&chips, procs, &first);
    return 0;
}
