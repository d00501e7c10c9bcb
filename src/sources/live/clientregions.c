#include "sources/live/clientregions.h"

#include "base/checksum.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "sources/hostfile.h"
#include "sources/live/clientfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_BYTES = 4096,
    NAME_BYTES = TTS_HOSTVIEW_NAME_MAX + 32,
    OPEN_MAX = 128,             /* regions that stay open between reads */
    CHUNK = 1024,               /* slots of a table that are copied at once */
    REGION_SLOTS_MAX = 1 << 20, /* slots that one read looks at in one region, */
    READ_SLOTS_MAX = 1 << 22,   /* and in all regions */
    ID_PLACES = 512,
    CHANGE_OFF = offsetof(struct tts_clientregion_header, state),
    CHANGE_BYTES = TTS_CLIENTREGION_HEADER_BYTES - CHANGE_OFF,
};
static_assert((int)TTS_CLIENTREGION_POOLS == (int)TTS_POOLS, "pools are the same");
static_assert((int)TTS_CLIENTREGION_NAME_BYTES == (int)TTS_HOSTVIEW_NAME_MAX, "a name fits");
static_assert((int)TTS_CLIENTREGIONS_MAX <= (int)TTS_HOSTVIEW_CLIENTS_MAX, "all regions fit");

/* What the name of a file says. */
struct clientname {
    char text[NAME_BYTES];
    uint32_t pid;
    uint64_t start_ticks, namespace_id;
    uint64_t inode;
    uint32_t private_of; /* as in tts_seenclient */
};

typedef uint32_t class_counts[TTS_POOLS][TTS_SIZECLASSES];

/* A count above 0. Few of the classes of a device have buffers. */
struct keptclass {
    uint16_t device; /* index */
    uint8_t pool, class;
    uint32_t buffers;
};

/* A region of the last read. */
struct keptregion {
    struct clientname name;
    struct tts_clientfile file; /* fd -1: the region is opened again by each read */
    enum tts_seenregion_state state;
    int sys_errno;
    uint32_t client_1; /* 1 + index among the clients of the last read; 0: none */
    /* Of the devices, if no device was changing when it was read. */
    bool is_hashed;
    uint64_t hash;
    /* Buffers of devices[0..class_devices) by their size, at the time of event class_events. */
    bool classes_known;
    uint64_t class_events;
    uint32_t class_devices;
    struct keptclass *classes;
    size_t class_count, class_capacity;
};

struct tts_clientstore {
    const struct tts_alloc *alloc;
    struct keptregion *kept; /* in the order of the names */
    size_t count, capacity;
    size_t open_count;
    struct clientname *names; /* of the present read */
    size_t name_count, name_capacity, names_left_out;
    uint64_t slots_left; /* slots that the present read may still look at */
    /* Copies of devices. The first one has the end of the header before it. */
    unsigned char *copy;
    size_t copy_capacity;
    struct tts_clientregion_device *twin;
    size_t twin_capacity;
    class_counts *counts; /* of the devices of one region */
    size_t counts_capacity;
    struct tts_clientregion_buffer slots[CHUNK], slots_twin[CHUNK];
    bool boot_known, leaves_out_served;
    unsigned char boot_id[16];
    size_t root_len;
    char root[];
};

/* --- open and close --------------------------------------------------------------------- */

static int value_of_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads the id that the kernel gives to this boot: 32 digits with dashes. */
static void read_this_boot(struct tts_clientstore *store)
{
    char text[64];
    int digits = 0;
    int dir = tts_hostfile_open_root(store->root, "/proc");
    ssize_t len =
        dir < 0 ? -1 : tts_hostfile_read(dir, "sys/kernel/random/boot_id", text, sizeof text);
    if (dir >= 0)
        close(dir);
    for (ssize_t i = 0; i < len && digits < 32; i++) {
        int value = value_of_hex(text[i]);
        if (value < 0)
            continue;
        store->boot_id[digits / 2] = (unsigned char)(store->boot_id[digits / 2] << 4 | value);
        digits++;
    }
    store->boot_known = digits == 32;
}

enum tts_status tts_clientstore_open(const char *root, const struct tts_alloc *alloc,
                                     struct tts_clientstore **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    size_t root_len = strlen(root);
    struct tts_clientstore *store = alloc->alloc(alloc->ctx, sizeof *store + root_len + 1);
    if (!store)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the regions of programs");
    memset(store, 0, sizeof *store);
    store->alloc = alloc;
    store->root_len = root_len;
    memcpy(store->root, root, root_len + 1);
    read_this_boot(store);
    *out = store;
    return TTS_OK;
}

static void close_kept(struct tts_clientstore *store, struct keptregion *kept)
{
    if (kept->file.fd >= 0)
        store->open_count--;
    tts_clientfile_close(&kept->file);
    kept->is_hashed = kept->classes_known = false;
}

static void free_kept(struct tts_clientstore *store, struct keptregion *kept)
{
    close_kept(store, kept);
    if (kept->classes)
        store->alloc->free(store->alloc->ctx, kept->classes,
                           kept->class_capacity * sizeof *kept->classes);
}

void tts_clientstore_close(struct tts_clientstore *store)
{
    if (!store)
        return;
    const struct tts_alloc *alloc = store->alloc;
    for (size_t i = 0; i < store->count; i++)
        free_kept(store, &store->kept[i]);
    if (store->kept)
        alloc->free(alloc->ctx, store->kept, store->capacity * sizeof *store->kept);
    if (store->names)
        alloc->free(alloc->ctx, store->names, store->name_capacity * sizeof *store->names);
    if (store->copy)
        alloc->free(alloc->ctx, store->copy, store->copy_capacity);
    if (store->twin)
        alloc->free(alloc->ctx, store->twin, store->twin_capacity * sizeof *store->twin);
    if (store->counts)
        alloc->free(alloc->ctx, store->counts, store->counts_capacity * sizeof *store->counts);
    alloc->free(alloc->ctx, store, sizeof *store + store->root_len + 1);
}

/* --- the directory ---------------------------------------------------------------------- */

/* Takes a decimal number without leading zeros, up to `end`, from *at. */
static bool take_name_number(const char **at, char end, uint64_t max, uint64_t *out)
{
    size_t len = strspn(*at, "0123456789");
    if ((*at)[len] != end || (len > 1 && **at == '0') ||
        tts_number_parse(*at, len, out) != TTS_OK || *out > max)
        return false;
    *at += len + (end != '\0');
    return true;
}

/* Reads "ttscope_<pid>_<start>_<namespace>". */
static bool parse_client_name(const char *text, struct clientname *out)
{
    const size_t prefix = sizeof TTS_CLIENTREGION_PREFIX - 1;
    const char *at = text + prefix;
    uint64_t pid;
    if (strncmp(text, TTS_CLIENTREGION_PREFIX, prefix) != 0 || strlen(text) >= NAME_BYTES ||
        !take_name_number(&at, '_', INT32_MAX, &pid) || pid == 0 ||
        !take_name_number(&at, '_', UINT64_MAX, &out->start_ticks) ||
        !take_name_number(&at, '\0', UINT64_MAX, &out->namespace_id))
        return false;
    out->pid = (uint32_t)pid;
    memset(out->text, 0, sizeof out->text);
    memcpy(out->text, text, strlen(text));
    return true;
}

static int compare_clients(const struct clientname *x, const struct clientname *y)
{
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->start_ticks != y->start_ticks)
        return x->start_ticks < y->start_ticks ? -1 : 1;
    return (x->namespace_id > y->namespace_id) - (x->namespace_id < y->namespace_id);
}

/* Of files with one name, the file in the /dev/shm of the host is first. */
static int compare_client_names(const void *a, const void *b)
{
    const struct clientname *x = a, *y = b;
    int order = compare_clients(x, y);
    return order ? order : (x->private_of > y->private_of) - (x->private_of < y->private_of);
}

static enum tts_status add_client_name(struct tts_clientstore *store,
                                       const struct clientname *name)
{
    if (store->name_count == TTS_CLIENTREGIONS_MAX) {
        store->names_left_out++;
        return TTS_OK;
    }
    struct clientname *names = tts_alloc_grow(store->alloc, store->names, &store->name_capacity,
                                              store->name_count + 1, sizeof *names);
    if (!names)
        return TTS_E_NOMEM;
    store->names = names;
    names[store->name_count++] = *name;
    return TTS_OK;
}

/* Opens the /dev/shm of the host, or the one that a process sees. Returns NULL if it cannot be
 * opened. */
static DIR *open_client_dir(const struct tts_clientstore *store, uint32_t private_of)
{
    char path[PATH_BYTES];
    int wanted = private_of == 0
                     ? snprintf(path, sizeof path, "%s/dev/shm", store->root)
                     : snprintf(path, sizeof path, "%s/proc/%" PRIu32 "/root/dev/shm",
                                store->root, private_of);
    return wanted < 0 || wanted >= PATH_BYTES ? NULL : opendir(path);
}

/* Lists the files that are named like regions. */
static enum tts_status list_client_names(struct tts_clientstore *store, uint32_t private_of)
{
    struct dirent *entry;
    struct clientname name = {.private_of = private_of};
    enum tts_status status = TTS_OK;
    DIR *dir = open_client_dir(store, private_of);
    while (dir && status == TTS_OK && (entry = readdir(dir))) {
        name.inode = entry->d_ino;
        if ((entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN) &&
            parse_client_name(entry->d_name, &name))
            status = add_client_name(store, &name);
    }
    if (dir)
        closedir(dir);
    return status;
}

/* Puts the names into their order, each once. */
static void sort_client_names(struct tts_clientstore *store)
{
    size_t count = 0;
    if (store->name_count > 0)
        qsort(store->names, store->name_count, sizeof *store->names, compare_client_names);
    for (size_t i = 0; i < store->name_count; i++)
        if (count == 0 || compare_clients(&store->names[count - 1], &store->names[i]) != 0)
            store->names[count++] = store->names[i];
    store->name_count = count;
}

/* Keeps the regions whose files are still there, and makes an entry for each new file. Both
 * lists are in the same order. A region without an open file has nothing to keep. */
static enum tts_status match_client_names(struct tts_clientstore *store)
{
    size_t kept_count = 0, old = 0, total;
    for (size_t i = 0; i < store->name_count; i++) {
        int order = 1;
        while (old < store->count &&
               (order = compare_clients(&store->kept[old].name, &store->names[i])) < 0)
            free_kept(store, &store->kept[old++]);
        if (old == store->count || order != 0)
            continue;
        if (store->kept[old].name.inode != store->names[i].inode)
            close_kept(store, &store->kept[old]);
        store->kept[kept_count++] = store->kept[old++];
    }
    while (old < store->count)
        free_kept(store, &store->kept[old++]);
    store->count = kept_count;
    struct keptregion *list = tts_alloc_grow(store->alloc, store->kept, &store->capacity,
                                             store->name_count + 1, sizeof *list);
    if (!list)
        return TTS_E_NOMEM;
    store->kept = list;
    /* From the end, so that each entry moves once. */
    old = kept_count;
    for (total = store->name_count; total-- > 0;) {
        bool is_known =
            old > 0 && compare_clients(&list[old - 1].name, &store->names[total]) == 0;
        struct keptregion entry = {.file = {.fd = -1}};
        if (is_known)
            entry = list[--old];
        entry.name = store->names[total];
        list[total] = entry;
    }
    store->count = store->name_count;
    return TTS_OK;
}

/* --- sizes of buffers ------------------------------------------------------------------- */

/* The indices of devices, by their ids. */
struct device_ids {
    uint16_t places[ID_PLACES]; /* 1 + index; 0: free */
    const struct tts_clientregion_device *devices;
};

static uint32_t place_of_id(uint32_t id)
{
    return (uint32_t)(id * UINT64_C(2654435761)) >> 23;
}
static_assert(ID_PLACES == 1 << (32 - 23), "a place has 9 bits");
static_assert(ID_PLACES >= 2 * TTS_CLIENTREGION_DEVICES_MAX, "there is always a free place");

static void map_device_ids(struct device_ids *map,
                           const struct tts_clientregion_device *devices, uint32_t count)
{
    *map = (struct device_ids){.devices = devices};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = place_of_id(devices[i].id);
        while (map->places[at] && devices[map->places[at] - 1].id != devices[i].id)
            at = (at + 1) % ID_PLACES;
        if (!map->places[at])
            map->places[at] = (uint16_t)(i + 1);
    }
}

/* Finds the index of a device. */
static bool find_device_index(const struct device_ids *map, uint32_t id, uint32_t *out)
{
    uint32_t at = place_of_id(id);
    while (map->places[at] && map->devices[map->places[at] - 1].id != id)
        at = (at + 1) % ID_PLACES;
    if (!map->places[at])
        return false;
    *out = map->places[at] - 1u;
    return true;
}

static bool is_slot_possible(const struct tts_clientregion_buffer *slot)
{
    return slot->stamp != 0 && slot->pool < TTS_POOLS && slot->size_bytes > 0 &&
           slot->size_bytes <= TTS_CLIENTFILE_BYTES_MAX;
}

static unsigned class_of_size(uint64_t size_bytes)
{
    unsigned power = 63u - (unsigned)__builtin_clzll(size_bytes);
    return power < TTS_SIZECLASSES ? power : TTS_SIZECLASSES - 1;
}

/* Calls `visit` for each used slot of the table. */
static enum tts_status
visit_client_slots(struct tts_clientstore *store, const struct tts_clientfile *file,
                   const struct device_ids *map,
                   void (*visit)(void *ctx, const struct tts_seenlive *live), void *ctx)
{
    int sys_errno;
    for (uint32_t at = 0; at < file->header.buffer_high; at += CHUNK) {
        uint32_t left = file->header.buffer_high - at, count = left < CHUNK ? left : CHUNK;
        enum tts_status status = tts_clientfile_buffers(file, at, count, store->slots,
                                                        store->slots_twin, &sys_errno);
        if (status != TTS_OK)
            return status;
        for (uint32_t i = 0; i < count; i++) {
            const struct tts_clientregion_buffer *slot = &store->slots[i];
            struct tts_seenlive live = {.id = slot->id,
                                        .address = slot->address,
                                        .size_bytes = slot->size_bytes,
                                        .bank_bytes = slot->bank_bytes,
                                        .time_ns = slot->time_ns,
                                        .op = slot->op,
                                        .pool = slot->pool,
                                        .flags = slot->flags};
            if (is_slot_possible(slot) && find_device_index(map, slot->device, &live.device))
                visit(ctx, &live);
        }
    }
    return TTS_OK;
}

static void count_class(void *ctx, const struct tts_seenlive *live)
{
    class_counts *classes = ctx;
    classes[live->device][live->pool][class_of_size(live->size_bytes)]++;
}

static enum tts_status keep_class(struct tts_clientstore *store, struct keptregion *kept,
                                  struct keptclass class)
{
    struct keptclass *classes =
        tts_alloc_grow(store->alloc, kept->classes, &kept->class_capacity,
                       kept->class_count + 1, sizeof *classes);
    if (!classes)
        return TTS_E_NOMEM;
    kept->classes = classes;
    classes[kept->class_count++] = class;
    return TTS_OK;
}

/* Keeps the counts of the classes that have buffers. */
static enum tts_status keep_classes(struct tts_clientstore *store, struct keptregion *kept)
{
    const uint32_t per_device = TTS_POOLS * TTS_SIZECLASSES;
    enum tts_status status = TTS_OK;
    kept->class_count = 0;
    kept->class_devices = kept->file.header.device_count;
    for (uint32_t device = 0; device < kept->class_devices; device++) {
        const uint32_t *counts = store->counts[device][0];
        for (uint32_t i = 0; i < per_device && status == TTS_OK; i++)
            if (counts[i] > 0)
                status = keep_class(store, kept,
                                    (struct keptclass){.device = (uint16_t)device,
                                                       .pool = (uint8_t)(i / TTS_SIZECLASSES),
                                                       .class = (uint8_t)(i % TTS_SIZECLASSES),
                                                       .buffers = counts[i]});
    }
    kept->classes_known = status == TTS_OK;
    kept->class_events = kept->file.header.events;
    return status;
}

/* Counts the buffers of the table again if there was an event. Returns TTS_OK, TTS_E_NOMEM, or
 * another status if the file cannot be read. */
static enum tts_status count_classes(struct tts_clientstore *store, struct keptregion *kept,
                                     const struct tts_clientregion_device *devices)
{
    const struct tts_clientregion_header *header = &kept->file.header;
    struct device_ids map;
    if (kept->classes_known && kept->class_events == header->events &&
        kept->class_devices == header->device_count)
        return TTS_OK;
    kept->classes_known = false;
    if (header->buffer_slots == 0 || header->buffer_high > REGION_SLOTS_MAX ||
        header->buffer_high > store->slots_left || header->device_count == 0)
        return TTS_OK;
    store->slots_left -= header->buffer_high;
    class_counts *counts = tts_alloc_grow(store->alloc, store->counts, &store->counts_capacity,
                                          header->device_count, sizeof *counts);
    if (!counts)
        return TTS_E_NOMEM;
    store->counts = counts;
    memset(counts, 0, header->device_count * sizeof *counts);
    map_device_ids(&map, devices, header->device_count);
    enum tts_status status = visit_client_slots(store, &kept->file, &map, count_class, counts);
    return status == TTS_OK ? keep_classes(store, kept) : status;
}

/* --- one region ------------------------------------------------------------------------- */

/* The devices of a region that was read. */
struct region_devices {
    const struct tts_clientregion_device *list;
    unsigned char changing[32];
};

static bool is_changing(const struct region_devices *devices, uint32_t i)
{
    return devices->changing[i / 8] >> i % 8 & 1;
}

static void fail_kept(struct tts_clientstore *store, struct keptregion *kept,
                      enum tts_status status, int sys_errno)
{
    close_kept(store, kept);
    kept->state = status == TTS_E_IO ? TTS_SEENREGION_FAILED : TTS_SEENREGION_CORRUPT;
    kept->sys_errno = sys_errno;
}

/* Returns whether the header belongs to a file of this name. */
static bool is_name_of_header(const struct clientname *name,
                              const struct tts_clientregion_header *header)
{
    return header->pid == name->pid && header->start_ticks == name->start_ticks &&
           header->pid_namespace == name->namespace_id;
}

/* Opens the directory of a region as the start of a path. Returns -1 if that is not possible.
 */
static int open_kept_dir(const struct tts_clientstore *store, const struct keptregion *kept)
{
    char path[64] = "/dev/shm";
    if (kept->name.private_of)
        snprintf(path, sizeof path, "/proc/%" PRIu32 "/root/dev/shm", kept->name.private_of);
    return tts_hostfile_open_root(store->root, path);
}

/* Opens a region that is not open. Returns false if the file is gone. */
static bool open_kept(struct tts_clientstore *store, struct keptregion *kept)
{
    int dir = open_kept_dir(store, kept);
    if (dir < 0)
        return false;
    kept->state = tts_clientfile_open(&kept->file, dir, kept->name.text, &kept->sys_errno);
    close(dir);
    if (kept->state == TTS_SEENREGION_READ) {
        store->open_count++;
        if (!is_name_of_header(&kept->name, &kept->file.header))
            fail_kept(store, kept, TTS_E_SYNTAX, 0);
        return true;
    }
    /* Something that is no regular file is no region. */
    return kept->state != TTS_SEENREGION_FAILED ||
           (kept->sys_errno != ENOENT && kept->sys_errno != EINVAL && kept->sys_errno != ELOOP);
}

/* Looks at a region that is open. Returns false if the file has lost its name. */
static bool check_kept(struct tts_clientstore *store, struct keptregion *kept)
{
    struct stat info;
    int result = fstat(kept->file.fd, &info);
    if (result == 0 && info.st_nlink == 0)
        return false;
    if (result != 0 || (uint64_t)info.st_size < kept->file.header.file_bytes)
        fail_kept(store, kept, result != 0 ? TTS_E_IO : TTS_E_SYNTAX, errno);
    else
        kept->file.owner_uid = info.st_uid;
    return true;
}

static enum tts_status make_copy_room(struct tts_clientstore *store, size_t devices)
{
    size_t bytes = CHANGE_BYTES + devices * sizeof(struct tts_clientregion_device);
    unsigned char *copy =
        tts_alloc_grow(store->alloc, store->copy, &store->copy_capacity, bytes, 1);
    if (!copy)
        return TTS_E_NOMEM;
    store->copy = copy;
    struct tts_clientregion_device *twin = tts_alloc_grow(
        store->alloc, store->twin, &store->twin_capacity, devices + 1, sizeof *twin);
    if (!twin)
        return TTS_E_NOMEM;
    store->twin = twin;
    return TTS_OK;
}

static struct tts_clientregion_device *copied_devices(const struct tts_clientstore *store)
{
    return (struct tts_clientregion_device *)(void *)(store->copy + CHANGE_BYTES);
}

static uint64_t hash_devices(const struct tts_clientregion_device *devices, uint32_t count)
{
    const uint64_t *words = (const uint64_t *)(const void *)devices;
    uint64_t hash = count;
    for (size_t i = 0; i < count * sizeof *devices / sizeof *words; i++)
        hash = tts_checksum_step(hash, words[i]);
    return hash;
}

/* Copies the end of the header and the devices in one step, and returns whether both are those
 * of the last read. Then the devices are whole. */
static bool is_kept_unchanged(struct tts_clientstore *store, struct keptregion *kept)
{
    const struct tts_clientregion_header *header = &kept->file.header;
    size_t bytes = CHANGE_BYTES + header->device_count * sizeof(struct tts_clientregion_device);
    int sys_errno;
    return kept->is_hashed &&
           tts_clientfile_copy(&kept->file, CHANGE_OFF, store->copy, bytes, &sys_errno) ==
               TTS_OK &&
           memcmp(store->copy, (const unsigned char *)header + CHANGE_OFF,
                  offsetof(struct tts_clientregion_header, rest) - CHANGE_OFF) == 0 &&
           hash_devices(copied_devices(store), header->device_count) == kept->hash;
}

/* Reads the header, the devices and the table of an open region. Returns TTS_OK with the result
 * in kept->state, or TTS_E_NOMEM. */
static enum tts_status read_kept(struct tts_clientstore *store, struct keptregion *kept,
                                 struct region_devices *devices)
{
    int sys_errno = 0;
    *devices = (struct region_devices){0};
    if (make_copy_room(store, kept->file.header.device_slots) != TTS_OK)
        return TTS_E_NOMEM;
    devices->list = copied_devices(store);
    if (is_kept_unchanged(store, kept))
        return TTS_OK;
    kept->is_hashed = false;
    enum tts_status status = tts_clientfile_refresh(&kept->file, &sys_errno);
    if (status == TTS_OK)
        status = tts_clientfile_devices(&kept->file, copied_devices(store), store->twin,
                                        devices->changing, &sys_errno);
    if (status == TTS_OK)
        status = count_classes(store, kept, devices->list);
    if (status == TTS_E_NOMEM)
        return status;
    if (status != TTS_OK) {
        fail_kept(store, kept, status, sys_errno);
        return TTS_OK;
    }
    static const unsigned char none[sizeof devices->changing];
    kept->is_hashed = memcmp(devices->changing, none, sizeof none) == 0;
    kept->hash = hash_devices(devices->list, kept->file.header.device_count);
    return TTS_OK;
}

/* --- facts ------------------------------------------------------------------------------ */

static void fill_pool_report(struct tts_seenpool *out, const struct tts_clientregion_pool *pool)
{
    if (pool->view_ns == 0 || pool->total_bytes > TTS_CLIENTFILE_BYTES_MAX ||
        pool->taken_bytes > pool->total_bytes || pool->free_bytes > pool->total_bytes ||
        pool->largest_free_bytes > pool->free_bytes)
        return;
    out->is_known = true;
    out->banks = pool->banks;
    out->total_bytes = pool->total_bytes;
    out->allocated_bytes = pool->taken_bytes;
    out->free_bytes = pool->free_bytes;
    out->largest_free_bytes = pool->largest_free_bytes;
}

/* Returns whether the program counts the buffers of the device itself. A program that only
 * reads its allocator from time to time has no counts. */
static bool has_counts(const struct tts_clientregion_device *device)
{
    bool has_events = device->period_ns == 0;
    for (int i = 0; i < TTS_POOLS; i++) {
        const struct tts_clientregion_pool *pool = &device->pools[i];
        has_events = has_events || pool->allocs > 0;
        if (pool->allocs - pool->frees != pool->buffers ||
            pool->allocated_bytes > TTS_CLIENTFILE_BYTES_MAX ||
            pool->peak_bytes < pool->allocated_bytes)
            return false;
    }
    return has_events;
}

static void fill_view_counts(struct tts_seenview *view,
                             const struct tts_clientregion_device *device)
{
    view->counted_known = has_counts(device);
    for (int i = 0; i < TTS_POOLS; i++) {
        const struct tts_clientregion_pool *pool = &device->pools[i];
        fill_pool_report(&view->pools[i], pool);
        if (!view->counted_known)
            continue;
        view->counted_bytes[i] = pool->allocated_bytes;
        view->counted_buffers[i] = pool->buffers;
        view->peak_bytes[i] = pool->peak_bytes;
        view->allocs[i] = pool->allocs;
        view->frees[i] = pool->frees;
    }
    view->kernel_known = device->known & TTS_CLIENTDEVICE_KERNEL &&
                         device->kernel_bytes <= TTS_CLIENTFILE_BYTES_MAX;
    view->kernel_bytes = view->kernel_known ? device->kernel_bytes : 0;
    view->cb_known =
        device->known & TTS_CLIENTDEVICE_CB && device->cb_bytes <= TTS_CLIENTFILE_BYTES_MAX;
    view->cb_bytes = view->cb_known ? device->cb_bytes : 0;
    view->trace_known = view->counted_known;
    view->trace_depth = view->trace_known ? device->trace_depth : 0;
    view->traces = view->trace_known ? device->traces : 0;
}

static void fill_view_facts(struct tts_seenview *view,
                            const struct tts_clientregion_device *device)
{
    const uint32_t known = device->known;
    view->logical_id = device->id;
    view->unique_id_known = known & TTS_CLIENTDEVICE_UNIQUE_ID;
    view->unique_id = device->unique_id;
    view->arch_known = known & TTS_CLIENTDEVICE_ARCH && device->arch <= TTS_ARCH_QUASAR;
    view->arch = view->arch_known ? (enum tts_arch)device->arch : (enum tts_arch)0;
    view->queues_known = known & TTS_CLIENTDEVICE_QUEUES;
    view->hardware_queues = device->hardware_queues;
    view->channels_known = known & TTS_CLIENTDEVICE_CHANNELS;
    view->dram_channels = device->dram_channels;
    view->grid_known = known & TTS_CLIENTDEVICE_GRID;
    view->grid_columns = device->grid_columns;
    view->grid_rows = device->grid_rows;
    view->mesh_known = known & TTS_CLIENTDEVICE_MESH;
    view->mesh = device->mesh;
    view->period_known = device->period_ns > 0;
    view->period_ns = device->period_ns;
}

/* Adds the counts of a mesh to one of its chips. */
static void add_mesh_counts(struct tts_seenview *chip, const struct tts_seenview *mesh)
{
    for (int i = 0; i < TTS_POOLS; i++)
        if (!chip->pools[i].is_known)
            chip->pools[i] = mesh->pools[i];
    if (!mesh->counted_known)
        return;
    for (int i = 0; i < TTS_POOLS; i++) {
        chip->counted_bytes[i] += mesh->counted_bytes[i];
        chip->counted_buffers[i] += mesh->counted_buffers[i];
        chip->peak_bytes[i] += mesh->peak_bytes[i];
        chip->allocs[i] += mesh->allocs[i];
        chip->frees[i] += mesh->frees[i];
        for (int c = 0; chip->classes_known && c < TTS_SIZECLASSES; c++)
            chip->class_buffers[i][c] += mesh->class_buffers[i][c];
    }
    chip->counted_known = chip->trace_known = true;
    chip->trace_depth += mesh->trace_depth;
    chip->traces += mesh->traces;
    chip->kernel_known |= mesh->kernel_known;
    chip->kernel_bytes += mesh->kernel_bytes;
    chip->cb_known |= mesh->cb_known;
    chip->cb_bytes += mesh->cb_bytes;
}

/* The buffers of a mesh count on each of its chips. */
static void add_meshes(struct tts_seenview *views, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; views[i].mesh_known && k < count; k++)
            if (!views[k].mesh_known && views[k].logical_id == views[i].mesh)
                add_mesh_counts(&views[i], &views[k]);
}

static enum tts_status add_client_views(const struct keptregion *kept,
                                        const struct region_devices *devices,
                                        struct tts_hostview *view)
{
    struct tts_seenclient *client = &view->clients[view->client_count - 1];
    size_t at = 0; /* the classes are in the order of the devices */
    client->first_view = view->view_count;
    for (uint32_t i = 0; i < kept->file.header.device_count; i++) {
        if (is_changing(devices, i)) {
            client->views_left_out++;
            continue;
        }
        struct tts_seenview *seen = tts_hostview_add_view(view);
        if (!seen)
            return TTS_E_NOMEM;
        seen->client_1 = view->client_count;
        fill_view_facts(seen, &devices->list[i]);
        fill_view_counts(seen, &devices->list[i]);
        seen->classes_known = kept->classes_known;
        while (kept->classes_known && at < kept->class_count && kept->classes[at].device <= i) {
            const struct keptclass *class = &kept->classes[at++];
            if (class->device == i)
                seen->class_buffers[class->pool][class->class] = class->buffers;
        }
    }
    client->view_count = view->view_count - client->first_view;
    add_meshes(view->views + client->first_view, client->view_count);
    return TTS_OK;
}

static void fill_client(const struct tts_clientstore *store, const struct keptregion *kept,
                        struct tts_seenclient *client)
{
    const struct tts_clientregion_header *header = &kept->file.header;
    static_assert(sizeof client->file >= sizeof kept->name.text, "a name fits");
    memcpy(client->file, kept->name.text, sizeof kept->name.text);
    client->state = kept->state;
    client->sys_errno = kept->sys_errno;
    client->owner_uid = kept->file.owner_uid;
    client->file_bytes = kept->file.file_bytes;
    client->private_of = kept->name.private_of;
    client->device_no = kept->file.device_no;
    client->inode = kept->file.inode;
    client->pid_inside = kept->name.pid;
    client->start_ticks = kept->name.start_ticks;
    client->namespace_id = kept->name.namespace_id;
    if (kept->state != TTS_SEENREGION_READ)
        return;
    memcpy(client->comm, header->comm, sizeof client->comm);
    client->is_boot_old = store->boot_known &&
                          memcmp(header->boot_id, store->boot_id, sizeof store->boot_id) != 0;
    client->by_server = header->writer == TTS_CLIENTREGION_BY_SERVER;
    client->is_sampled = header->writer == TTS_CLIENTREGION_BY_SAMPLER;
    client->writer_pid_inside = header->writer_pid;
    client->writer_start_ticks = header->writer_start_ticks;
    client->has_ended = header->state == TTS_CLIENTREGION_ENDED;
    client->has_table = header->buffer_slots > 0;
    client->events = header->events;
    client->dropped = header->dropped;
    client->unlisted = header->unlisted;
    client->unknown_frees = header->unknown_frees;
    client->update_ns = header->update_ns;
}

/* Reads one region and adds what it says. A file that is gone adds nothing. */
static enum tts_status add_client(struct tts_clientstore *store, struct keptregion *kept,
                                  struct tts_hostview *view)
{
    struct region_devices devices = {0};
    bool is_there = kept->file.fd >= 0 && check_kept(store, kept);
    if (!is_there) {
        close_kept(store, kept);
        if (!open_kept(store, kept))
            return TTS_OK;
    }
    if (store->leaves_out_served && kept->file.fd >= 0 &&
        kept->file.header.writer == TTS_CLIENTREGION_BY_SERVER) {
        if (store->open_count > OPEN_MAX)
            close_kept(store, kept);
        return TTS_OK;
    }
    if (kept->file.fd >= 0 && read_kept(store, kept, &devices) != TTS_OK)
        return TTS_E_NOMEM;
    struct tts_seenclient *client = tts_hostview_add_client(view);
    if (!client)
        return TTS_E_NOMEM;
    kept->client_1 = (uint32_t)view->client_count;
    fill_client(store, kept, client);
    enum tts_status status = TTS_OK;
    if (kept->file.fd >= 0)
        status = add_client_views(kept, &devices, view);
    if (store->open_count > OPEN_MAX)
        close_kept(store, kept);
    return status;
}

void tts_clientstore_leave_out_served(struct tts_clientstore *store)
{
    store->leaves_out_served = true;
}

enum tts_status tts_clientstore_read_all(struct tts_clientstore *store,
                                         const uint32_t *private_of, size_t count,
                                         struct tts_hostview *view, struct tts_error *err)
{
    store->name_count = store->names_left_out = 0;
    store->slots_left = READ_SLOTS_MAX;
    enum tts_status status = list_client_names(store, 0);
    for (size_t i = 0; i < count && status == TTS_OK; i++)
        status = list_client_names(store, private_of[i]);
    sort_client_names(store);
    if (status == TTS_OK)
        status = match_client_names(store);
    for (size_t i = 0; i < store->count; i++)
        store->kept[i].client_1 = 0;
    for (size_t i = 0; status == TTS_OK && i < store->count; i++)
        status = add_client(store, &store->kept[i], view);
    view->clients_left_out += store->names_left_out;
    if (status != TTS_OK)
        return tts_error_set(err, status, TTS_TEXT_NOMEM " for the regions of programs");
    return TTS_OK;
}

enum tts_status tts_clientstore_read(struct tts_clientstore *store, struct tts_hostview *view,
                                     struct tts_error *err)
{
    return tts_clientstore_read_all(store, NULL, 0, view, err);
}

/* --- the live buffers of a region ------------------------------------------------------- */

static struct keptregion *find_kept_client(struct tts_clientstore *store, uint32_t client)
{
    for (size_t i = 0; i < store->count; i++)
        if (store->kept[i].client_1 == client + 1)
            return &store->kept[i];
    return NULL;
}

/* Opens the file of a region again that is not kept open. */
static enum tts_status reopen_kept(struct tts_clientstore *store, struct keptregion *kept,
                                   struct tts_error *err)
{
    if (!open_kept(store, kept))
        return tts_error_set(err, TTS_E_NOT_FOUND, "region '%s' is gone", kept->name.text);
    if (kept->file.fd < 0)
        return tts_error_set(err, TTS_E_IO, "cannot read region '%s'", kept->name.text);
    return TTS_OK;
}

static enum tts_status list_kept_buffers(struct tts_clientstore *store, struct keptregion *kept,
                                         void (*visit)(void *ctx,
                                                       const struct tts_seenlive *live),
                                         void *ctx, struct tts_error *err)
{
    struct device_ids map;
    unsigned char changing[32];
    int sys_errno = 0;
    if (make_copy_room(store, kept->file.header.device_slots) != TTS_OK)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the regions of programs");
    /* The header of the last read stays, so that the next read sees each change. */
    struct tts_clientfile now = kept->file;
    struct tts_clientregion_device *devices = copied_devices(store);
    enum tts_status status = tts_clientfile_refresh(&now, &sys_errno);
    if (status == TTS_OK)
        status = tts_clientfile_devices(&now, devices, store->twin, changing, &sys_errno);
    if (status == TTS_OK) {
        map_device_ids(&map, devices, now.header.device_count);
        status = visit_client_slots(store, &now, &map, visit, ctx);
    }
    if (status == TTS_OK)
        return TTS_OK;
    return tts_error_set(err, status, "cannot read the buffers of region '%s'",
                         kept->name.text);
}

enum tts_status tts_clientstore_buffers(struct tts_clientstore *store, uint32_t client,
                                        void (*visit)(void *ctx,
                                                      const struct tts_seenlive *live),
                                        void *ctx, struct tts_error *err)
{
    struct keptregion *kept = find_kept_client(store, client);
    enum tts_status status = TTS_OK;
    if (!kept || kept->state != TTS_SEENREGION_READ)
        return tts_error_set(err, TTS_E_NOT_FOUND, "there is no such region of a program");
    bool was_open = kept->file.fd >= 0;
    if (!was_open)
        status = reopen_kept(store, kept, err);
    if (status == TTS_OK)
        status = list_kept_buffers(store, kept, visit, ctx, err);
    if (!was_open)
        close_kept(store, kept);
    return status;
}
