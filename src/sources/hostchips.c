#include "sources/hostchips.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/number.h"
#include "sources/hostfile.h"
#include "ttscope/chip.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct host_card {
    uint32_t code; /* the digits of the serial number that name the card type */
    enum tts_arch arch;
    const char *type;   /* the name that the driver uses */
    const char *preset; /* a name for tts_chip_preset() */
};

enum { SERIAL_DIGITS = 16, CODE_SHIFT = 36, CODE_MASK = 0xffff };

static const struct host_card cards[] = {
    {0x14, TTS_ARCH_WORMHOLE, "n300", "n300"},
    {0x18, TTS_ARCH_WORMHOLE, "n150", "n150"},
    {0x35, TTS_ARCH_WORMHOLE, "galaxy-wormhole", "galaxy"},
    {0x36, TTS_ARCH_BLACKHOLE, "p100", "p100"},
    {0x40, TTS_ARCH_BLACKHOLE, "p150a", "p150"},
    {0x41, TTS_ARCH_BLACKHOLE, "p150b", "p150"},
    {0x42, TTS_ARCH_BLACKHOLE, "p150c", "p150"},
    {0x43, TTS_ARCH_BLACKHOLE, "p100a", "p100"},
    {0x44, TTS_ARCH_BLACKHOLE, "p300b", "p300"},
    {0x45, TTS_ARCH_BLACKHOLE, "p300a", "p300"},
    {0x46, TTS_ARCH_BLACKHOLE, "p300c", "p300"},
    {0x47, TTS_ARCH_BLACKHOLE, "galaxy-blackhole", "galaxy-blackhole"},
};

static const struct pci_id {
    uint64_t device;
    enum tts_arch arch;
} pci_ids[] = {
    {0x401e, TTS_ARCH_WORMHOLE},
    {0xb140, TTS_ARCH_BLACKHOLE},
    {0xfaca, TTS_ARCH_GRAYSKULL},
};

enum { CARDS = sizeof cards / sizeof cards[0], PCI_IDS = sizeof pci_ids / sizeof pci_ids[0] };

/* Returns the card of a serial number, which has 16 hex digits, or NULL if the card is
 * unknown. */
static const struct host_card *find_card_of_serial(const char *serial)
{
    uint64_t board;
    if (strlen(serial) != SERIAL_DIGITS ||
        tts_number_parse_hex(serial, SERIAL_DIGITS, &board) != TTS_OK)
        return NULL;
    for (size_t i = 0; i < CARDS; i++)
        if (cards[i].code == (board >> CODE_SHIFT & CODE_MASK))
            return &cards[i];
    return NULL;
}

static const struct host_card *find_card_of_type(const char *type)
{
    for (size_t i = 0; i < CARDS; i++)
        if (strcmp(cards[i].type, type) == 0)
            return &cards[i];
    return NULL;
}

/* Finds the architecture of a PCI device id. The id has the form of sysfs, "0x401e". Returns
 * false if the id is unknown. */
static bool find_card_arch(const char *pci_device, enum tts_arch *out)
{
    uint64_t device;
    if (strncmp(pci_device, "0x", 2) != 0 ||
        tts_number_parse_hex(pci_device + 2, strlen(pci_device + 2), &device) != TTS_OK)
        return false;
    for (size_t i = 0; i < PCI_IDS; i++) {
        if (pci_ids[i].device == device) {
            *out = pci_ids[i].arch;
            return true;
        }
    }
    return false;
}

enum {
    ATTRIBUTE_BYTES = 4096, /* maximum size of a sysfs file */
    PATH_BYTES = 4096,
    PIDS_BYTES = 16 * 1024,
    SENSORS_MAX = 64,               /* entries of the directory of sensors that are looked at */
    PIDS_SEEN_MAX = PIDS_BYTES / 2, /* the shortest line has one digit and the line end */
};

#define CLASS_DIR "/sys/class/tenstorrent"

#define MODULE_DIR "/sys/module/tenstorrent"

#define PROC_DIR "/proc/driver/tenstorrent"

static const char node_prefix[] = "tenstorrent!";

/* Memory for one file of process ids. The files of all chips are read into this memory, one
 * after the other. */
struct pid_room {
    char text[PIDS_BYTES];
    uint32_t pids[PIDS_SEEN_MAX];
};

struct scan {
    const char *root;
    const struct tts_alloc *alloc;
    struct tts_error *err;
    DIR *class_dir;
    uint32_t nodes[TTS_HOST_CHIPS_MAX]; /* the lowest node numbers, ascending */
    size_t node_count, nodes_seen;
};

/* --- attributes --------------------------------------------------------------------------- */

/* Copies a text from the kernel. Removes blanks and line ends at its end, and replaces
 * characters that cannot be printed. */
static void clean_text(const char *raw, size_t len, char out[TTS_HOST_TEXT_MAX])
{
    while (len > 0 && (raw[len - 1] == '\n' || raw[len - 1] == ' '))
        len--;
    if (len > TTS_HOST_TEXT_MAX - 1)
        len = TTS_HOST_TEXT_MAX - 1;
    for (size_t i = 0; i < len; i++)
        out[i] = raw[i] >= ' ' && raw[i] <= '~' ? raw[i] : '?';
    out[len] = '\0';
}

/* Reads an attribute. Sets `out` to "" if the attribute is missing or cannot be read: the
 * driver refuses reads during a reset. */
static void read_chip_attribute(int dir, const char *name, char out[TTS_HOST_TEXT_MAX])
{
    char raw[ATTRIBUTE_BYTES];
    ssize_t len = tts_hostfile_read(dir, name, raw, sizeof raw);
    clean_text(raw, len > 0 ? (size_t)len : 0, out);
}

/* --- one chip --------------------------------------------------------------------------- */

static void read_pci_address(int entry_fd, char out[TTS_HOST_TEXT_MAX])
{
    char target[PATH_BYTES];
    ssize_t len = readlinkat(entry_fd, "device", target, sizeof target);
    bool whole = len > 0 && len < PATH_BYTES;
    size_t begin = whole ? (size_t)len : 0, end = begin;
    while (begin > 0 && target[begin - 1] != '/')
        begin--;
    clean_text(target + begin, end - begin, out);
}

/* Finds the architecture by the name of the chip's sensors, "wormhole" or "blackhole", in
 * device/hwmon/hwmonN/name. Returns false if the PCI device has no such name. */
static bool find_sensor_arch(int pci_fd, enum tts_arch *out)
{
    int fd = openat(pci_fd, "hwmon", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    bool found = false;
    struct dirent *entry;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    for (int i = 0; i < SENSORS_MAX && !found && (entry = readdir(dir)); i++) {
        char path[sizeof entry->d_name + sizeof "/name"], name[TTS_HOST_TEXT_MAX];
        snprintf(path, sizeof path, "%s/name", entry->d_name);
        if (strncmp(entry->d_name, "hwmon", strlen("hwmon")) != 0)
            continue;
        read_chip_attribute(fd, path, name);
        found = strcmp(name, "wormhole") == 0 || strcmp(name, "blackhole") == 0;
        if (found)
            *out = name[0] == 'w' ? TTS_ARCH_WORMHOLE : TTS_ARCH_BLACKHOLE;
    }
    closedir(dir);
    return found;
}

static void read_chip_arch(int entry_fd, struct tts_hostchip *chip)
{
    char id[TTS_HOST_TEXT_MAX] = "";
    const struct host_card *card = find_card_of_type(chip->card_type);
    int pci_fd = tts_hostfile_open_dir(entry_fd, "device");
    if (pci_fd >= 0)
        read_chip_attribute(pci_fd, "device", id);
    chip->arch_known = find_card_arch(id, &chip->arch);
    if (!chip->arch_known && card) {
        chip->arch = card->arch;
        chip->arch_known = true;
    }
    if (!chip->arch_known && pci_fd >= 0)
        chip->arch_known = find_sensor_arch(pci_fd, &chip->arch);
    if (pci_fd >= 0)
        close(pci_fd);
    /* If the card type and the chip contradict each other, one of them was misread. No preset
     * is better than a wrong preset. */
    chip->preset = card && card->arch == chip->arch ? card->preset : NULL;
}

static void read_chip_sysfs(int entry_fd, struct tts_hostchip *chip)
{
    read_chip_attribute(entry_fd, "tt_serial", chip->serial);
    read_chip_attribute(entry_fd, "tt_asic_id", chip->asic_id);
    read_chip_attribute(entry_fd, "tt_card_type", chip->card_type);
    read_chip_attribute(entry_fd, "tt_fw_bundle_ver", chip->firmware);
    read_pci_address(entry_fd, chip->pci_address);
    const struct host_card *card = find_card_of_serial(chip->serial);
    if (chip->card_type[0] == '\0' && card)
        clean_text(card->type, strlen(card->type), chip->card_type);
    read_chip_arch(entry_fd, chip);
}

/* --- processes that have the chip open -------------------------------------------------- */

/* Inserts a value into sorted[0..count), which stays ascending and without duplicates. Returns
 * the new count. */
static size_t insert_sorted(uint32_t *sorted, size_t count, uint32_t value)
{
    size_t at = 0, end = count;
    while (at < end) {
        size_t middle = at + (end - at) / 2;
        if (sorted[middle] < value)
            at = middle + 1;
        else
            end = middle;
    }
    if (at < count && sorted[at] == value)
        return count;
    memmove(&sorted[at + 1], &sorted[at], (count - at) * sizeof sorted[0]);
    sorted[at] = value;
    return count + 1;
}

/* Reads one number from each line. Skips lines that cannot be a process id. Returns how many
 * ids were read. */
static size_t parse_pids(const char *text, size_t len, uint32_t pids[PIDS_SEEN_MAX])
{
    size_t count = 0;
    for (size_t at = 0, end; at < len; at = end + 1) {
        const char *newline = memchr(text + at, '\n', len - at);
        if (!newline && len == PIDS_BYTES)
            break; /* the last line may be cut off */
        end = newline ? (size_t)(newline - text) : len;
        uint64_t pid;
        if (tts_number_parse(text + at, end - at, &pid) != TTS_OK || pid > INT32_MAX)
            continue;
        assert(count < PIDS_SEEN_MAX);
        count = insert_sorted(pids, count, (uint32_t)pid);
    }
    return count;
}

/* Reads the processes of a chip. `kept` may be NULL. */
static void read_chip_pids(int proc_fd, struct pid_room *room, struct tts_hostchip *chip,
                           struct tts_hostpids *kept)
{
    char name[TTS_NUMBER_MAX + sizeof "/pids"];
    snprintf(name, sizeof name, "%" PRIu32 "/pids", chip->node);
    ssize_t len =
        kept ? tts_keptfile_read(&kept->file, proc_fd, name, room->text, sizeof room->text)
             : tts_hostfile_read(proc_fd, name, room->text, sizeof room->text);
    if (kept && kept->is_kept && len >= 0 && (size_t)len == kept->len &&
        memcmp(kept->text, room->text, kept->len) == 0)
        return;
    chip->pids_known = len >= 0;
    chip->pid_count = 0;
    if (kept)
        kept->is_kept = len >= 0 && len <= TTS_HOST_PIDTEXT_MAX;
    if (len < 0)
        return;
    if (kept && kept->is_kept) {
        kept->len = (size_t)len;
        memcpy(kept->text, room->text, kept->len);
    }
    chip->pid_count = parse_pids(room->text, (size_t)len, room->pids);
    size_t count = chip->pid_count < TTS_HOST_PIDS_MAX ? chip->pid_count : TTS_HOST_PIDS_MAX;
    memcpy(chip->pids, room->pids, count * sizeof chip->pids[0]);
}

/* --- all chips -------------------------------------------------------------------------- */

static enum tts_status fail_host_dir(const struct scan *scan, int reason)
{
    enum tts_status status = reason == ENOMEM ? TTS_E_NOMEM : TTS_E_IO;
    return tts_error_set_errno(scan->err, status, reason,
                               "cannot list the chips in '%s" CLASS_DIR
                               "': check the permissions of the directory",
                               scan->root);
}

static enum tts_status fail_host_memory(struct tts_error *err)
{
    return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the list of chips");
}

/* Reads the node number: 0 from "tenstorrent!0". The driver uses no other form of name, so
 * "tenstorrent!00" is refused. */
static bool parse_chip_node(const char *name, uint32_t *out)
{
    const size_t prefix = sizeof node_prefix - 1;
    uint64_t node;
    if (strncmp(name, node_prefix, prefix) != 0)
        return false;
    const char *digits = name + prefix;
    if (tts_number_parse(digits, strlen(digits), &node) != TTS_OK || node > UINT32_MAX ||
        (digits[0] == '0' && digits[1] != '\0'))
        return false;
    *out = (uint32_t)node;
    return true;
}

/* Adds a node number. The names in a directory are not sorted, so if there are too many chips,
 * the highest number is dropped. */
static void add_chip_node(struct scan *scan, uint32_t node)
{
    scan->nodes_seen++;
    if (scan->node_count == TTS_HOST_CHIPS_MAX) {
        if (node > scan->nodes[TTS_HOST_CHIPS_MAX - 1])
            return;
        scan->node_count--;
    }
    scan->node_count = insert_sorted(scan->nodes, scan->node_count, node);
    assert(scan->node_count <= TTS_HOST_CHIPS_MAX);
}

static enum tts_status list_chip_nodes(struct scan *scan)
{
    struct dirent *entry;
    errno = 0;
    while ((entry = readdir(scan->class_dir))) {
        uint32_t node;
        if (parse_chip_node(entry->d_name, &node))
            add_chip_node(scan, node);
        errno = 0;
    }
    return errno == 0 ? TTS_OK : fail_host_dir(scan, errno);
}

/* Adds a chip, unless it has disappeared since the directory was listed. */
static enum tts_status add_host_chip(const struct scan *scan, uint32_t node,
                                     struct tts_hostchips *found)
{
    char name[sizeof node_prefix + TTS_NUMBER_MAX];
    snprintf(name, sizeof name, "%s%" PRIu32, node_prefix, node);
    int entry_fd = tts_hostfile_open_dir(dirfd(scan->class_dir), name);
    if (entry_fd < 0) {
        bool gone = errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENODEV;
        return gone ? TTS_OK : fail_host_dir(scan, errno);
    }
    assert(found->count < TTS_HOST_CHIPS_MAX);
    struct tts_hostchip *chip = &found->chips[found->count++];
    *chip = (struct tts_hostchip){.node = node};
    read_chip_sysfs(entry_fd, chip);
    close(entry_fd);
    return TTS_OK;
}

static enum tts_status add_host_chips(struct scan *scan, struct tts_hostchips *found)
{
    enum tts_status status = list_chip_nodes(scan);
    if (status != TTS_OK || scan->node_count == 0)
        return status;
    const struct tts_alloc *alloc = scan->alloc;
    /* Allocates memory for the maximum number of chips: chips may disappear during the scan,
     * and the free call needs the allocated size. */
    found->chips = alloc->alloc(alloc->ctx, TTS_HOST_CHIPS_MAX * sizeof *found->chips);
    if (!found->chips)
        status = fail_host_memory(scan->err);
    for (size_t i = 0; status == TTS_OK && i < scan->node_count; i++)
        status = add_host_chip(scan, scan->nodes[i], found);
    found->left_out = scan->nodes_seen - scan->node_count;
    return status;
}

/* Opens the directory of the chips. Returns NULL with errno set on failure. */
static DIR *open_class_dir(const char *root)
{
    int path_fd = tts_hostfile_open_root(root, CLASS_DIR);
    if (path_fd < 0)
        return NULL;
    int fd = openat(path_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    int reason = errno;
    if (fd >= 0 && !dir)
        close(fd);
    close(path_fd);
    errno = reason;
    return dir;
}

void tts_hostchips_read_driver(struct tts_hostchips *out, const char *root)
{
    int fd = tts_hostfile_open_root(root, MODULE_DIR);
    if (fd < 0)
        return;
    out->driver_loaded = true;
    read_chip_attribute(fd, "version", out->driver_version);
    close(fd);
}

enum tts_status tts_hostchips_scan_sysfs(struct tts_hostchips *out, const char *root,
                                         const struct tts_alloc *alloc, struct tts_error *err)
{
    struct scan scan = {.root = root, .alloc = alloc ? alloc : tts_alloc_libc(), .err = err};
    struct tts_hostchips found = {.alloc = scan.alloc};
    enum tts_status status = TTS_OK;
    tts_hostchips_read_driver(&found, root);
    scan.class_dir = open_class_dir(root);
    if (scan.class_dir) {
        found.driver_loaded = true; /* no other driver creates this sysfs class */
        status = add_host_chips(&scan, &found);
        closedir(scan.class_dir);
    } else if (errno != ENOENT) {
        status = fail_host_dir(&scan, errno);
    }
    if (status == TTS_OK)
        *out = found;
    else
        tts_hostchips_release(&found);
    return status;
}

enum tts_status tts_hostchips_read_pids(struct tts_hostchips *chips, const char *root,
                                        struct tts_hostpids *kept, size_t kept_count,
                                        struct tts_error *err)
{
    if (chips->count == 0)
        return TTS_OK;
    struct pid_room *room = chips->alloc->alloc(chips->alloc->ctx, sizeof *room);
    if (!room)
        return fail_host_memory(err);
    int proc_fd = tts_hostfile_open_root(root, PROC_DIR);
    for (size_t i = 0; i < chips->count; i++)
        /* Without the directory, nothing can be opened. */
        read_chip_pids(proc_fd, room, &chips->chips[i], i < kept_count ? &kept[i] : NULL);
    if (proc_fd >= 0)
        close(proc_fd);
    chips->alloc->free(chips->alloc->ctx, room, sizeof *room);
    return TTS_OK;
}

enum tts_status tts_hostchips_scan(struct tts_hostchips *out, const char *root,
                                   const struct tts_alloc *alloc, struct tts_error *err)
{
    struct tts_hostchips found;
    enum tts_status status = tts_hostchips_scan_sysfs(&found, root, alloc, err);
    if (status != TTS_OK)
        return status;
    status = tts_hostchips_read_pids(&found, root, NULL, 0, err);
    if (status == TTS_OK)
        *out = found;
    else
        tts_hostchips_release(&found);
    return status;
}

enum tts_status tts_hostchips_mark(const char *root, uint64_t *out, struct tts_error *err)
{
    struct scan scan = {.root = root, .err = err};
    uint64_t mark = 0;
    struct dirent *entry;
    scan.class_dir = open_class_dir(root);
    if (!scan.class_dir && errno != ENOENT)
        return fail_host_dir(&scan, errno);
    errno = 0;
    while (scan.class_dir && (entry = readdir(scan.class_dir))) {
        uint32_t node;
        /* A sum, because the order of a directory may change. A driver that makes a chip again
         * makes a new inode. */
        if (parse_chip_node(entry->d_name, &node))
            mark += tts_fnv1a64_u64(tts_fnv1a64_u64(TTS_FNV1A64_INIT, node), entry->d_ino);
        errno = 0;
    }
    enum tts_status status = errno == 0 ? TTS_OK : fail_host_dir(&scan, errno);
    if (scan.class_dir)
        closedir(scan.class_dir);
    if (status == TTS_OK)
        *out = mark;
    return status;
}

void tts_hostchips_release(struct tts_hostchips *chips)
{
    if (chips->chips)
        chips->alloc->free(chips->alloc->ctx, chips->chips,
                           TTS_HOST_CHIPS_MAX * sizeof *chips->chips);
    *chips = (struct tts_hostchips){0};
}
