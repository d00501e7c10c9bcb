#include "sources/live/regions.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "sources/hostfile.h"
#include "wire/region.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static_assert((int)TTS_COUNTER_CB == (int)TTS_REGION_CB, "counters have the same order");
static_assert((int)TTS_COUNTER_KERNEL == (int)TTS_REGION_KERNEL, "counters have one order");
static_assert((int)TTS_COUNTERS == (int)TTS_REGION_COUNTERS, "counters are the same");
static_assert((int)TTS_HOSTVIEW_SLOTS == (int)TTS_REGION_SLOTS, "all slots fit");
static_assert((int)TTS_HOSTVIEW_NAME_MAX >= (int)TTS_REGION_NAME_MAX, "a name fits");

enum {
    PATH_BYTES = 4096,
    WORD_BYTES = 4,
    READ_TRIES = 4,
    PID_LIMIT = 4 * 1024 * 1024, /* the kernel's PID_MAX_LIMIT */
    STATE_NONE = 0,              /* init_state: nothing is initialised */
    STATE_BEGUN = 1,             /* init_state: a process initialises the region */
    LOCATION_BITS = 8,           /* version 1: bits of the id below the board */
};

static const char name_prefix[] = "tt_device_", name_suffix[] = "_memory";

/* --- the content of a region ------------------------------------------------------------ */

/* Reads the counters at `at`. Returns false if a value is corrupt. */
static bool read_counters(const unsigned char *at, uint32_t count, struct tts_counters *out)
{
    bool good = true;
    *out = (struct tts_counters){.known = (UINT32_C(1) << count) - 1};
    for (uint32_t i = 0; i < count; i++) {
        out->bytes[i] = tts_get64(at + i * sizeof out->bytes[0]);
        good = good && out->bytes[i] <= TTS_REGIONS_BYTES_MAX;
    }
    return good;
}

/* Reads a slot that belongs to a process. Returns false if a value is corrupt. */
static bool read_slot(const unsigned char *at, const struct tts_region_layout *layout,
                      struct tts_seenslot *out)
{
    const char *name = (const char *)at + layout->slot_name_off;
    out->pid = (int32_t)tts_get32(at);
    out->last_update_ns = tts_get64(at + layout->slot_time_off);
    size_t len = strnlen(name, TTS_REGION_NAME_MAX - 1);
    memcpy(out->name, name, len);
    out->name[len] = '\0';
    return read_counters(at + layout->slot_counters_off, layout->counters, &out->counters) &&
           out->pid <= PID_LIMIT;
}

/* Reads the slots that belong to processes. Returns false if one is corrupt. */
static bool read_slots(const unsigned char *bytes, const struct tts_region_layout *layout,
                       struct tts_seenregion *region)
{
    bool good = true;
    for (uint32_t i = 0; i < TTS_REGION_SLOTS; i++) {
        const unsigned char *at = bytes + layout->slots_off + i * layout->slot_bytes;
        if ((int32_t)tts_get32(at) <= 0)
            continue; /* free, or being released */
        struct tts_seenslot *slot = &region->slots[region->slot_count++];
        slot->index = i;
        good = read_slot(at, layout, slot) && good;
    }
    return good;
}

/* Returns the id that the region names. The ids of version 1 consist of two fields. */
static uint64_t id_in_region(const unsigned char *bytes, const struct tts_region_layout *layout)
{
    uint64_t asic_id = tts_get64(bytes + offsetof(struct tts_region_header, asic_id));
    uint64_t board = tts_get64(bytes + offsetof(struct tts_region_header, board_serial));
    return layout->has_asic_id ? asic_id : board << LOCATION_BITS | asic_id;
}

static enum tts_seenregion_state decode_layout(const unsigned char *bytes,
                                               const struct tts_region_layout *layout,
                                               struct tts_seenregion *region)
{
    region->is_unix_time = layout->is_unix_time != 0;
    region->is_id_confirmed = id_in_region(bytes, layout) == region->id;
    region->asic_id = tts_get64(bytes + offsetof(struct tts_region_header, asic_id));
    region->logical_id = tts_get32(bytes + offsetof(struct tts_region_header, device_id));
    region->reference_count =
        tts_get32(bytes + offsetof(struct tts_region_header, reference_count));
    region->last_update_ns =
        tts_get64(bytes + offsetof(struct tts_region_header, last_update_ns));
    bool good = read_counters(bytes + layout->totals_off, layout->counters, &region->total);
    good = read_slots(bytes, layout, region) && good;
    return good ? TTS_SEENREGION_READ : TTS_SEENREGION_CORRUPT;
}

/* Returns TTS_SEENREGION_READ if the region is complete as far as init_state tells. */
static enum tts_seenregion_state decode_init_state(const unsigned char *bytes,
                                                   const struct tts_region_layout *layout)
{
    if (layout->init_state_off == 0)
        return TTS_SEENREGION_READ;
    uint32_t value = tts_get32(bytes + layout->init_state_off);
    if (value == TTS_REGION_READY)
        return TTS_SEENREGION_READ;
    return value == STATE_NONE || value == STATE_BEGUN ? TTS_SEENREGION_INITIALISING
                                                       : TTS_SEENREGION_CORRUPT;
}

enum tts_seenregion_state tts_regions_decode(const unsigned char *bytes, size_t len,
                                             struct tts_seenregion *region)
{
    region->version = len >= WORD_BYTES ? tts_get32(bytes) : 0;
    region->slot_count = 0;
    region->layout = NULL;
    if (region->file_bytes == 0 || (region->version == 0 && len >= WORD_BYTES))
        return region->state = TTS_SEENREGION_EMPTY;
    const struct tts_region_layout *layout =
        tts_region_layout(region->version, region->file_bytes);
    if (!layout)
        return region->state = TTS_SEENREGION_UNKNOWN_VERSION;
    assert(len >= layout->bytes);
    region->layout = layout->name;
    region->state = decode_init_state(bytes, layout);
    if (region->state == TTS_SEENREGION_READ)
        region->state = decode_layout(bytes, layout, region);
    if (region->state != TTS_SEENREGION_READ)
        region->slot_count = 0;
    return region->state;
}

/* --- one file --------------------------------------------------------------------------- */

/* Returns whether the word at `off` in the file is still equal to the word in the copy. */
static bool is_same_word(int fd, const unsigned char *bytes, size_t off)
{
    unsigned char word[WORD_BYTES];
    ssize_t got;
    do
        got = pread(fd, word, sizeof word, (off_t)off);
    while (got < 0 && errno == EINTR);
    return got == sizeof word && memcmp(word, bytes + off, sizeof word) == 0;
}

static void note_file(struct tts_seenregion *region, const struct stat *info)
{
    region->owner_uid = info->st_uid;
    region->file_bytes = info->st_size > 0 ? (uint64_t)info->st_size : 0;
    region->device_no = info->st_dev;
    region->inode = info->st_ino;
}

/* The bytes of a region that was read. */
struct region_copy {
    unsigned char bytes[TTS_REGION_V1K_BYTES];
    size_t len;
};

/* Copies and decodes the file once. Returns false if the file changed meanwhile. On an error of
 * the system sets errno and region->state. */
static bool read_region_once(int fd, struct region_copy *copy, struct tts_seenregion *region)
{
    unsigned char *bytes = copy->bytes;
    struct stat info;
    region->state = TTS_SEENREGION_FAILED;
    if (fstat(fd, &info) != 0)
        return true;
    note_file(region, &info);
    size_t size = region->file_bytes < sizeof copy->bytes ? (size_t)region->file_bytes
                                                          : sizeof copy->bytes;
    ssize_t len = tts_hostfile_reread(fd, (char *)bytes, size);
    if (len < 0)
        return true;
    copy->len = size;
    if ((size_t)len < size)
        return false; /* the file was truncated after fstat() */
    enum tts_seenregion_state state = tts_regions_decode(bytes, size, region);
    const struct tts_region_layout *layout =
        tts_region_layout(region->version, region->file_bytes);
    if (!layout || state == TTS_SEENREGION_INITIALISING)
        return true;
    if (layout->init_state_off == 0)
        return is_same_word(fd, bytes, 0);
    /* A copy is good if it begins after the region was ready. The first copy has found the
     * region ready only at its end. */
    if (tts_hostfile_reread(fd, (char *)bytes, size) != (ssize_t)size)
        return false;
    tts_regions_decode(bytes, size, region);
    return is_same_word(fd, bytes, 0) && is_same_word(fd, bytes, layout->init_state_off);
}

static void read_region(int fd, struct region_copy *copy, struct tts_seenregion *region)
{
    for (int i = 0; i < READ_TRIES; i++) {
        if (read_region_once(fd, copy, region)) {
            if (region->state == TTS_SEENREGION_FAILED)
                region->sys_errno = errno;
            return;
        }
    }
    region->state = TTS_SEENREGION_CHANGING;
    region->slot_count = 0;
}

/* --- kept regions ----------------------------------------------------------------------- */

/* A region that could be read. */
struct tts_keptregion {
    int fd;
    uint64_t round; /* the last round that read the region */
    struct region_copy copy;
    struct tts_seenregion seen; /* decoded from `copy` */
};

void tts_regionstore_begin(struct tts_regionstore *store, const struct tts_alloc *alloc)
{
    store->alloc = store->alloc ? store->alloc : alloc ? alloc : tts_alloc_libc();
    for (size_t i = store->count; i-- > 0;) {
        if (store->list[i].round == store->round)
            continue;
        close(store->list[i].fd);
        if (i != --store->count)
            store->list[i] = store->list[store->count];
    }
    store->round++;
}

void tts_regionstore_release(struct tts_regionstore *store)
{
    for (size_t i = 0; i < store->count; i++)
        close(store->list[i].fd);
    if (store->list)
        store->alloc->free(store->alloc->ctx, store->list,
                           store->capacity * sizeof *store->list);
    *store = (struct tts_regionstore){0};
}

/* Returns the kept region with this id and inode, or NULL. An open file keeps its inode, so
 * another file cannot have the number. */
static struct tts_keptregion *find_kept_region(struct tts_regionstore *store, uint64_t id,
                                               uint64_t device_no, uint64_t inode)
{
    for (size_t i = 0; store && i < store->count; i++) {
        const struct tts_seenregion *seen = &store->list[i].seen;
        if (seen->id == id && seen->inode == inode && seen->device_no == device_no &&
            store->list[i].round != store->round)
            return &store->list[i];
    }
    return NULL;
}

/* Reads a kept region again. Returns false if the file has no name any more, or if nothing can
 * be said about it with the open descriptor. */
static bool reread_region(struct tts_keptregion *kept)
{
    struct region_copy copy;
    struct stat info;
    if (fstat(kept->fd, &info) != 0 || info.st_nlink == 0)
        return false;
    bool has_size = (uint64_t)info.st_size == kept->seen.file_bytes;
    if (has_size &&
        tts_hostfile_reread(kept->fd, (char *)copy.bytes, kept->copy.len) ==
            (ssize_t)kept->copy.len &&
        memcmp(copy.bytes, kept->copy.bytes, kept->copy.len) == 0) {
        note_file(&kept->seen, &info);
        return true;
    }
    kept->seen = (struct tts_seenregion){.id = kept->seen.id};
    read_region(kept->fd, &kept->copy, &kept->seen);
    return kept->seen.state == TTS_SEENREGION_READ;
}

/* Keeps a region that could be read. Returns false if the caller must close `fd`. */
static bool keep_region(struct tts_regionstore *store, int fd, const struct region_copy *copy,
                        const struct tts_seenregion *region)
{
    if (!store || store->count == TTS_REGIONS_OPEN_MAX || region->state != TTS_SEENREGION_READ)
        return false;
    struct tts_keptregion *list = tts_alloc_grow(store->alloc, store->list, &store->capacity,
                                                 store->count + 1, sizeof *list);
    if (!list)
        return false;
    store->list = list;
    list[store->count++] = (struct tts_keptregion){
        .fd = fd, .round = store->round, .copy = *copy, .seen = *region};
    return true;
}

/* --- a directory ------------------------------------------------------------------------ */

/* The lowest ids of a directory, ascending. */
struct region_ids {
    uint64_t ids[TTS_HOSTVIEW_REGIONS_MAX];
    uint64_t inodes[TTS_HOSTVIEW_REGIONS_MAX];
    size_t count, seen;
};

struct region_dir {
    int fd;
    uint64_t device_no;
    struct tts_regionstore *store; /* NULL: nothing is kept */
    uint32_t private_of;
    bool is_of_this_boot;
    struct tts_hostview *view;
};

/* Reads the id: 7 from "tt_device_7_memory". The runtime pads no id, so "tt_device_07_memory"
 * is refused. */
static bool parse_region_name(const char *name, uint64_t *out)
{
    const size_t prefix = sizeof name_prefix - 1, suffix = sizeof name_suffix - 1;
    size_t len = strlen(name);
    if (len <= prefix + suffix || strncmp(name, name_prefix, prefix) != 0 ||
        strcmp(name + len - suffix, name_suffix) != 0)
        return false;
    const char *digits = name + prefix;
    size_t count = len - prefix - suffix;
    return (digits[0] != '0' || count == 1) && tts_number_parse(digits, count, out) == TTS_OK;
}

static void insert_region_id(struct region_ids *list, uint64_t id, uint64_t inode)
{
    size_t at = 0, end = list->count;
    list->seen++;
    while (at < end) {
        size_t middle = at + (end - at) / 2;
        if (list->ids[middle] < id)
            at = middle + 1;
        else
            end = middle;
    }
    if (at < list->count && list->ids[at] == id)
        list->seen--; /* a directory that changes meanwhile may list a name twice */
    if (at == TTS_HOSTVIEW_REGIONS_MAX || (at < list->count && list->ids[at] == id))
        return;
    size_t kept =
        list->count < TTS_HOSTVIEW_REGIONS_MAX ? list->count : TTS_HOSTVIEW_REGIONS_MAX - 1;
    memmove(&list->ids[at + 1], &list->ids[at], (kept - at) * sizeof list->ids[0]);
    memmove(&list->inodes[at + 1], &list->inodes[at], (kept - at) * sizeof list->inodes[0]);
    list->ids[at] = id;
    list->inodes[at] = inode;
    list->count = kept + 1;
}

/* Lists the regular files that are named like regions. Returns 0 or errno. */
static int list_region_ids(DIR *dir, struct region_ids *list)
{
    struct dirent *entry;
    errno = 0;
    while ((entry = readdir(dir))) {
        uint64_t id;
        bool may_be_region = entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN;
        if (may_be_region && parse_region_name(entry->d_name, &id))
            insert_region_id(list, id, entry->d_ino);
        errno = 0;
    }
    return errno;
}

static bool has_region_file(const struct tts_hostview *view, const struct stat *info)
{
    for (size_t i = 0; i < view->region_count; i++)
        if (view->regions[i].inode == info->st_ino &&
            view->regions[i].device_no == info->st_dev)
            return true;
    return false;
}

/* Adds a zeroed region after all regions whose ids are not higher. */
static struct tts_seenregion *insert_region(struct tts_hostview *view, uint64_t id)
{
    struct tts_seenregion *at = tts_hostview_add_region(view);
    if (!at)
        return NULL;
    size_t after = 0;
    for (; at > view->regions && at[-1].id > id; at--)
        after++;
    if (after > 0) {
        memmove(at + 1, at, after * sizeof *at);
        memset(at, 0, sizeof *at);
    }
    at->id = id;
    return at;
}

static void note_dir(struct tts_seenregion *region, const struct region_dir *dir)
{
    region->private_of = dir->private_of;
    region->is_of_this_boot = dir->is_of_this_boot;
}

/* Adds a region whose file is open from an earlier read. Returns TTS_E_NOT_FOUND if there is no
 * such file, TTS_E_NOMEM. */
static enum tts_status add_kept_region(const struct region_dir *dir, uint64_t id,
                                       uint64_t inode)
{
    struct tts_keptregion *kept = find_kept_region(dir->store, id, dir->device_no, inode);
    if (!kept || !reread_region(kept))
        return TTS_E_NOT_FOUND;
    struct tts_seenregion *region = insert_region(dir->view, id);
    if (!region)
        return TTS_E_NOMEM;
    kept->round = dir->store->round;
    *region = kept->seen;
    note_dir(region, dir);
    return TTS_OK;
}

static enum tts_status add_region(const struct region_dir *dir, uint64_t id)
{
    char name[sizeof name_prefix + TTS_NUMBER_MAX + sizeof name_suffix];
    struct region_copy copy;
    struct stat info;
    snprintf(name, sizeof name, "%s%" PRIu64 "%s", name_prefix, id, name_suffix);
    int fd = openat(dir->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int reason = fd < 0 ? errno : 0;
    bool found =
        fd >= 0 ? fstat(fd, &info) == 0
                : reason != ENOENT && fstatat(dir->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
    enum tts_status status = TTS_OK;
    /* The file may have been removed or replaced after the directory was listed. */
    if (!found || !S_ISREG(info.st_mode) ||
        (dir->private_of != 0 && has_region_file(dir->view, &info)))
        goto out;
    struct tts_seenregion *region = insert_region(dir->view, id);
    if (!region) {
        status = TTS_E_NOMEM;
        goto out;
    }
    note_file(region, &info);
    if (fd >= 0) {
        read_region(fd, &copy, region);
    } else {
        bool denied = reason == EACCES || reason == EPERM;
        region->state = denied ? TTS_SEENREGION_NO_ACCESS : TTS_SEENREGION_FAILED;
        region->sys_errno = denied ? 0 : reason;
    }
    if (keep_region(dir->store, fd, &copy, region))
        fd = -1;
    note_dir(region, dir);
out:
    if (fd >= 0)
        close(fd);
    return status;
}

static enum tts_status add_regions(const struct region_dir *dir, const struct region_ids *list)
{
    struct tts_hostview *view = dir->view;
    enum tts_status status = TTS_OK;
    view->regions_left_out += list->seen - list->count;
    for (size_t i = 0; status == TTS_OK && i < list->count; i++) {
        if (view->region_count == TTS_HOSTVIEW_REGIONS_MAX) {
            view->regions_left_out++;
            continue;
        }
        status = add_kept_region(dir, list->ids[i], list->inodes[i]);
        if (status == TTS_E_NOT_FOUND)
            status = add_region(dir, list->ids[i]);
    }
    return status;
}

/* Opens a /dev/shm. Returns NULL with errno set on failure. */
static DIR *open_shm(const char *root, uint32_t private_of)
{
    char path[PATH_BYTES];
    int wanted =
        private_of == 0
            ? snprintf(path, sizeof path, "%s/dev/shm", root)
            : snprintf(path, sizeof path, "%s/proc/%" PRIu32 "/root/dev/shm", root, private_of);
    if (wanted < 0 || wanted >= PATH_BYTES) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    return opendir(path);
}

/* Returns whether the host empties the directory at each boot. A system without a mount on
 * /dev/shm has an ordinary directory there. The files of a simulated host lie anywhere. */
static bool is_memory_dir(const char *root, int fd)
{
    struct statfs info;
    return root[0] != '\0' || (fstatfs(fd, &info) == 0 &&
                               (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC));
}

static void note_list_errno(struct tts_hostview *view, uint32_t private_of, int reason)
{
    if (private_of == 0)
        view->regions_errno = reason;
    for (size_t i = 0; private_of != 0 && i < view->process_count; i++)
        if (view->processes[i].pid == private_of)
            view->processes[i].shm_errno = reason;
}

enum tts_status tts_regions_read(struct tts_hostview *view, const char *root,
                                 uint32_t private_of, struct tts_regionstore *store,
                                 struct tts_error *err)
{
    struct region_ids list;
    list.count = list.seen = 0;
    DIR *dir = open_shm(root, private_of);
    int reason = dir ? list_region_ids(dir, &list) : errno;
    note_list_errno(view, private_of, reason);
    enum tts_status status = TTS_OK;
    if (dir) {
        struct stat info;
        struct region_dir from = {.fd = dirfd(dir),
                                  .private_of = private_of,
                                  .is_of_this_boot = is_memory_dir(root, dirfd(dir)),
                                  .view = view};
        if (store && fstat(from.fd, &info) == 0) {
            from.store = store;
            from.device_no = info.st_dev;
        }
        status = add_regions(&from, &list);
        closedir(dir);
    }
    if (status != TTS_OK)
        return tts_error_set(err, status, TTS_TEXT_NOMEM " for the memory regions");
    return TTS_OK;
}
