#include "sources/live/regionclean.h"

#include "base/bytes.h"
#include "base/error.h"
#include "wire/region.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_BYTES = 4096,
    PID_GOING = -1, /* pid of an entry that is being removed; no runtime takes such an entry */
    FIRST_EXACT_CB = 4, /* version from which the total of circular buffers is a sum */
};

typedef _Atomic uint64_t atomic_word;
typedef _Atomic uint32_t atomic_half;

/* A region that is open for writing. */
struct open_region {
    const struct tts_region_layout *layout;
    int fd;
    unsigned char *bytes; /* the mapping */
};

static atomic_word *word_at(const struct open_region *open, size_t off)
{
    return (atomic_word *)(void *)(open->bytes + off);
}

static atomic_half *half_at(const struct open_region *open, size_t off)
{
    return (atomic_half *)(void *)(open->bytes + off);
}

static uint64_t load_word(const struct open_region *open, size_t off)
{
    return tts_le64(atomic_load(word_at(open, off)));
}

static uint32_t load_half(const struct open_region *open, size_t off)
{
    return tts_le32(atomic_load(half_at(open, off)));
}

static uint64_t exchange_word(const struct open_region *open, size_t off, uint64_t value)
{
    return tts_le64(atomic_exchange(word_at(open, off), tts_le64(value)));
}

static bool swap_word(const struct open_region *open, size_t off, uint64_t from, uint64_t to)
{
    uint64_t expected = tts_le64(from);
    return atomic_compare_exchange_strong(word_at(open, off), &expected, tts_le64(to));
}

static bool swap_half(const struct open_region *open, size_t off, uint32_t from, uint32_t to)
{
    uint32_t expected = tts_le32(from);
    return atomic_compare_exchange_strong(half_at(open, off), &expected, tts_le32(to));
}

/* Subtracts, but not below 0: a counter may be lower than the sum of its parts. */
static void subtract_word(const struct open_region *open, size_t off, uint64_t value)
{
    uint64_t now;
    do
        now = load_word(open, off);
    while (!swap_word(open, off, now, now > value ? now - value : 0));
}

static void decrement_half(const struct open_region *open, size_t off)
{
    uint32_t now;
    do
        now = load_half(open, off);
    while (now > 0 && !swap_half(open, off, now, now - 1));
}

/* --- opening ---------------------------------------------------------------------------- */

static enum tts_status fail_clean(const struct tts_seenregion *region, enum tts_status status,
                                  const char *why, struct tts_error *err)
{
    return tts_error_set(err, status, "cannot clean region %" PRIu64 ": %s", region->id, why);
}

static enum tts_status fail_clean_errno(const struct tts_seenregion *region, int reason,
                                        struct tts_error *err)
{
    if (reason == ENOENT || reason == ELOOP)
        return fail_clean(region, TTS_E_NOT_FOUND, "the file was removed or replaced", err);
    return tts_error_set_errno(err, TTS_E_IO, reason, "cannot clean region %" PRIu64,
                               region->id);
}

/* Checks that the open file is the region that was read, with its size. */
static enum tts_status check_region_file(const struct open_region *open,
                                         const struct tts_seenregion *region,
                                         struct tts_error *err)
{
    struct stat info;
    if (fstat(open->fd, &info) != 0)
        return fail_clean_errno(region, errno, err);
    if (!S_ISREG(info.st_mode) || info.st_ino != region->inode ||
        info.st_dev != region->device_no)
        return fail_clean(region, TTS_E_NOT_FOUND, "the file was removed or replaced", err);
    if (info.st_size < 0 || (uint64_t)info.st_size != open->layout->bytes)
        return fail_clean(region, TTS_E_BUSY, "the size of the file changed", err);
    return TTS_OK;
}

/* Checks the words that must stay the same while the region is in use. */
static enum tts_status check_region_words(const struct open_region *open,
                                          const struct tts_seenregion *region,
                                          struct tts_error *err)
{
    const struct tts_region_layout *layout = open->layout;
    if (load_half(open, 0) != layout->version)
        return fail_clean(region, TTS_E_BUSY, "the version of the region changed", err);
    if (layout->init_state_off != 0 &&
        load_half(open, layout->init_state_off) != TTS_REGION_READY)
        return fail_clean(region, TTS_E_BUSY, "another process initialises the region", err);
    return TTS_OK;
}

static void close_region(struct open_region *open)
{
    if (open->bytes)
        munmap(open->bytes, open->layout->bytes);
    if (open->fd >= 0)
        close(open->fd); /* also releases the lock */
}

/* Opens and locks the file. Only other cleaners take this lock; no runtime does. */
static enum tts_status open_region_file(struct open_region *open, const char *root,
                                        const struct tts_seenregion *region,
                                        struct tts_error *err)
{
    char path[PATH_BYTES];
    int wanted = snprintf(path, sizeof path, "%s/dev/shm/tt_device_%" PRIu64 "_memory", root,
                          region->id);
    if (wanted < 0 || wanted >= PATH_BYTES)
        return fail_clean_errno(region, ENAMETOOLONG, err);
    open->fd = openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (open->fd < 0)
        return fail_clean_errno(region, errno, err);
    enum tts_status status = check_region_file(open, region, err);
    if (status == TTS_OK && flock(open->fd, LOCK_EX | LOCK_NB) != 0)
        status = errno == EWOULDBLOCK
                     ? fail_clean(region, TTS_E_BUSY, "another process cleans the region", err)
                     : fail_clean_errno(region, errno, err);
    return status;
}

static enum tts_status map_region(struct open_region *open, const struct tts_seenregion *region,
                                  struct tts_error *err)
{
    void *bytes =
        mmap(NULL, open->layout->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, open->fd, 0);
    if (bytes == MAP_FAILED)
        return fail_clean_errno(region, errno, err);
    open->bytes = bytes;
    /* The size is checked again as late as possible, because a read after the end of the file
     * ends this process. */
    enum tts_status status = check_region_file(open, region, err);
    return status == TTS_OK ? check_region_words(open, region, err) : status;
}

/* --- entries ---------------------------------------------------------------------------- */

static size_t slot_off(const struct open_region *open, size_t index)
{
    return open->layout->slots_off + index * open->layout->slot_bytes;
}

static size_t total_off(const struct open_region *open, uint32_t counter)
{
    return open->layout->totals_off + counter * sizeof(uint64_t);
}

/* Returns the most bytes of circular buffers of one process in the region. */
static uint64_t most_cb_bytes(const struct open_region *open)
{
    uint64_t most = 0;
    for (size_t i = 0; i < TTS_REGION_SLOTS; i++) {
        size_t at = slot_off(open, i);
        uint64_t bytes = load_word(open, at + open->layout->slot_counters_off +
                                             TTS_REGION_CB * sizeof bytes);
        if ((int32_t)load_half(open, at) > 0 && bytes > most)
            most = bytes;
    }
    return most;
}

/* Takes the bytes of a removed entry out of a total. Before version 4 the total of circular
 * buffers is not a sum but the figure of the process that wrote last: the total changes only if
 * the removed process wrote it. */
static void reduce_total(const struct open_region *open, uint32_t counter, uint64_t bytes)
{
    size_t off = total_off(open, counter);
    if (counter != TTS_REGION_CB || open->layout->version >= FIRST_EXACT_CB)
        subtract_word(open, off, bytes);
    else if (bytes > 0)
        swap_word(open, off, bytes, most_cb_bytes(open));
}

/* Claims an entry. Fails if the pid differs or the process has written since the region was
 * read: then a new process with the same pid has taken the entry over. */
static bool claim_entry(const struct open_region *open, size_t at,
                        const struct tts_seenslot *slot)
{
    if (!swap_half(open, at, (uint32_t)slot->pid, (uint32_t)PID_GOING))
        return false;
    if (load_word(open, at + open->layout->slot_time_off) == slot->last_update_ns)
        return true;
    swap_half(open, at, (uint32_t)PID_GOING, (uint32_t)slot->pid);
    return false;
}

static void remove_entry(const struct open_region *open, const struct tts_seenslot *slot,
                         struct tts_regionclean_entry *entry)
{
    const struct tts_region_layout *layout = open->layout;
    size_t at = slot_off(open, slot->index);
    entry->is_removed = claim_entry(open, at, slot);
    if (!entry->is_removed)
        return;
    entry->before.known = (UINT32_C(1) << layout->counters) - 1;
    for (uint32_t i = 0; i < layout->counters; i++) {
        size_t off = at + layout->slot_counters_off + i * sizeof(uint64_t);
        entry->before.bytes[i] = exchange_word(open, off, 0);
        reduce_total(open, i, entry->before.bytes[i]);
    }
    memset(open->bytes + at + layout->slot_name_off, 0, TTS_REGION_NAME_MAX);
    decrement_half(open, offsetof(struct tts_region_header, active_processes));
    /* Before version 4 a process can have an entry without a reference, and a reference without
     * an entry. */
    if (layout->version >= FIRST_EXACT_CB)
        decrement_half(open, offsetof(struct tts_region_header, reference_count));
    swap_half(open, at, (uint32_t)PID_GOING, 0);
}

/* --- the rest of a region that no process holds ------------------------------------------ */

static bool has_entries(const struct open_region *open)
{
    for (size_t i = 0; i < TTS_REGION_SLOTS; i++)
        if ((int32_t)load_half(open, slot_off(open, i)) > 0)
            return true;
    return false;
}

/* Frees the entries whose removal was begun by a process that ended before the last step. */
static void finish_removals(const struct open_region *open)
{
    const struct tts_region_layout *layout = open->layout;
    for (size_t slot = 0; slot < TTS_REGION_SLOTS; slot++) {
        size_t at = slot_off(open, slot);
        if ((int32_t)load_half(open, at) != PID_GOING)
            continue;
        for (uint32_t i = 0; i < layout->counters; i++)
            exchange_word(open, at + layout->slot_counters_off + i * sizeof(uint64_t), 0);
        memset(open->bytes + at + layout->slot_name_off, 0, TTS_REGION_NAME_MAX);
        swap_half(open, at, (uint32_t)PID_GOING, 0);
    }
}

static void clear_chip_rows(const struct open_region *open)
{
    const struct tts_region_layout *layout = open->layout;
    for (size_t chip = 0; chip < TTS_REGION_CHIPS; chip++)
        for (uint32_t i = 0; i < layout->counters; i++)
            exchange_word(open,
                          layout->chips_off + chip * layout->chip_bytes +
                              layout->chip_counters_off + i * sizeof(uint64_t),
                          0);
}

/* Does what the runtime does when the last process detaches. A process that attaches meanwhile
 * changes the reference count first; then nothing is reset. */
static void reset_region(const struct open_region *open, uint32_t references,
                         struct tts_regionclean *clean)
{
    const size_t references_off = offsetof(struct tts_region_header, reference_count);
    uint64_t totals[TTS_REGION_COUNTERS] = {0};
    for (uint32_t i = 0; i < open->layout->counters; i++)
        totals[i] = load_word(open, total_off(open, i));
    if (has_entries(open) || !swap_half(open, references_off, references, 0))
        return;
    clean->is_reset = true;
    clean->reset.known = (UINT32_C(1) << open->layout->counters) - 1;
    for (uint32_t i = 0; i < open->layout->counters; i++)
        if (swap_word(open, total_off(open, i), totals[i], 0))
            clean->reset.bytes[i] = totals[i];
    uint32_t active = load_half(open, offsetof(struct tts_region_header, active_processes));
    swap_half(open, offsetof(struct tts_region_header, active_processes), active, 0);
    finish_removals(open);
    if (load_half(open, references_off) == 0)
        clear_chip_rows(open);
}

/* Returns the reference count that the region has if no process attached or detached after the
 * region was read. */
static uint32_t references_left(const struct tts_regionclean *clean, uint32_t version)
{
    uint32_t left = clean->region->reference_count;
    for (size_t i = 0; version >= FIRST_EXACT_CB && i < clean->entry_count; i++)
        left -= clean->entries[i].is_removed && left > 0;
    return left;
}

enum tts_status tts_regionclean_run(struct tts_regionclean *clean, const char *root,
                                    struct tts_error *err)
{
    const struct tts_seenregion *region = clean->region;
    struct open_region open = {.fd = -1};
    if (region->state == TTS_SEENREGION_READ && region->private_of == 0)
        open.layout = tts_region_layout(region->version, region->file_bytes);
    if (!open.layout)
        return fail_clean(region, TTS_E_INVALID, "the region was not read from /dev/shm", err);
    enum tts_status status = open_region_file(&open, root, region, err);
    if (status == TTS_OK)
        status = map_region(&open, region, err);
    if (status == TTS_OK) {
        clean->is_reset = false;
        clean->reset = (struct tts_counters){0};
        for (size_t i = 0; i < clean->entry_count; i++) {
            assert(clean->entries[i].slot < region->slot_count);
            remove_entry(&open, &region->slots[clean->entries[i].slot], &clean->entries[i]);
        }
        if (clean->is_unheld)
            reset_region(&open, references_left(clean, open.layout->version), clean);
    }
    close_region(&open);
    return status;
}
