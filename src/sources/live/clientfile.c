#include "sources/live/clientfile.h"

#include "sources/hostfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEVICE_TRIES = 100,
    SLOT_TRIES = 8,
    STATE_OFF = offsetof(struct tts_clientregion_header, state),
    CHANGE_BYTES = offsetof(struct tts_clientregion_header, rest) - STATE_OFF,
};

/* --- the header ------------------------------------------------------------------------- */

static bool is_ring_size(uint32_t number)
{
    return (number & (number - 1)) == 0;
}

/* Returns whether the parts lie in their order inside the file. The limits keep each sum far
 * below 64 bits, because the last sum is checked first. */
static bool are_parts_inside(const struct tts_clientregion_header *header, uint64_t size)
{
    const uint64_t device_bytes = sizeof(struct tts_clientregion_device);
    const uint64_t slot_bytes = sizeof(struct tts_clientregion_buffer);
    if (header->device_slots > TTS_CLIENTREGION_DEVICES_MAX ||
        header->op_slots > TTS_CLIENTREGION_OPS_MAX ||
        header->buffer_slots > TTS_CLIENTREGION_BUFFERS_MAX ||
        header->event_slots > TTS_CLIENTREGION_EVENTS_MAX || !is_ring_size(header->event_slots))
        return false;
    if (header->file_bytes > size || header->events_off > header->file_bytes ||
        header->buffers_off > header->events_off || header->ops_off > header->buffers_off)
        return false;
    return header->devices_off == TTS_CLIENTREGION_HEADER_BYTES &&
           header->ops_off >= header->devices_off + header->device_slots * device_bytes &&
           header->buffers_off - header->ops_off >=
               header->op_slots * (uint64_t)TTS_CLIENTREGION_NAME_BYTES &&
           header->events_off - header->buffers_off >= header->buffer_slots * slot_bytes &&
           header->file_bytes - header->events_off >=
               header->event_slots * (uint64_t)sizeof(struct tts_clientregion_event);
}

static bool are_counts_inside(const struct tts_clientregion_header *header)
{
    return (header->state == TTS_CLIENTREGION_LIVE ||
            header->state == TTS_CLIENTREGION_ENDED) &&
           header->device_count <= header->device_slots &&
           header->op_count <= header->op_slots && header->buffer_high <= header->buffer_slots;
}

/* Judges the copy of a header. `size` is the size of the file. */
static enum tts_seenregion_state judge_header(struct tts_clientregion_header *header,
                                              uint64_t size)
{
    if (memcmp(header->magic, TTS_CLIENTREGION_MAGIC, sizeof header->magic) != 0)
        return TTS_SEENREGION_CORRUPT;
    if (header->version != TTS_CLIENTREGION_VERSION)
        return TTS_SEENREGION_UNKNOWN_VERSION;
    if (header->header_bytes != TTS_CLIENTREGION_HEADER_BYTES ||
        !are_parts_inside(header, size) || header->writer < TTS_CLIENTREGION_BY_PROCESS ||
        header->writer > TTS_CLIENTREGION_BY_SERVER)
        return TTS_SEENREGION_CORRUPT;
    if (header->state == TTS_CLIENTREGION_MAKING)
        return TTS_SEENREGION_INITIALISING;
    header->comm[sizeof header->comm - 1] = '\0';
    return are_counts_inside(header) ? TTS_SEENREGION_READ : TTS_SEENREGION_CORRUPT;
}

/* --- open and close --------------------------------------------------------------------- */

static void note_client_file(struct tts_clientfile *file, const struct stat *info)
{
    file->device_no = info->st_dev;
    file->inode = info->st_ino;
    file->file_bytes = info->st_size > 0 ? (uint64_t)info->st_size : 0;
    file->owner_uid = info->st_uid;
}

static enum tts_seenregion_state read_client_header(struct tts_clientfile *file, int *sys_errno)
{
    struct stat info;
    if (fstat(file->fd, &info) != 0) {
        *sys_errno = errno;
        return TTS_SEENREGION_FAILED;
    }
    note_client_file(file, &info);
    if (file->file_bytes == 0)
        return TTS_SEENREGION_EMPTY;
    enum tts_status status =
        tts_clientfile_copy(file, 0, &file->header, sizeof file->header, sys_errno);
    if (status != TTS_OK)
        return status == TTS_E_IO ? TTS_SEENREGION_FAILED : TTS_SEENREGION_CORRUPT;
    return judge_header(&file->header, file->file_bytes);
}

enum tts_seenregion_state tts_clientfile_open(struct tts_clientfile *file, int dir,
                                              const char *name, int *sys_errno)
{
    struct stat info;
    *sys_errno = 0;
    *file = (struct tts_clientfile){.fd = tts_hostfile_open(dir, name)};
    if (file->fd < 0) {
        *sys_errno = errno;
        if (fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) == 0)
            note_client_file(file, &info);
        return *sys_errno == EACCES || *sys_errno == EPERM ? TTS_SEENREGION_NO_ACCESS
                                                           : TTS_SEENREGION_FAILED;
    }
    enum tts_seenregion_state state = read_client_header(file, sys_errno);
    if (state != TTS_SEENREGION_READ)
        tts_clientfile_close(file);
    return state;
}

void tts_clientfile_close(struct tts_clientfile *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* --- copies ----------------------------------------------------------------------------- */

enum tts_status tts_clientfile_copy(const struct tts_clientfile *file, uint64_t off, void *out,
                                    size_t bytes, int *sys_errno)
{
    size_t len = 0;
    while (len < bytes) {
        ssize_t got = pread(file->fd, (char *)out + len, bytes - len, (off_t)(off + len));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            *sys_errno = errno;
            return TTS_E_IO;
        }
        if (got == 0)
            return TTS_E_SYNTAX;
        len += (size_t)got;
    }
    return TTS_OK;
}

enum tts_status tts_clientfile_take_change(struct tts_clientfile *file,
                                           const unsigned char *copy)
{
    struct tts_clientregion_header next = file->header;
    memcpy((unsigned char *)&next + STATE_OFF, copy, CHANGE_BYTES);
    if (!are_counts_inside(&next) || next.events < file->header.events ||
        next.device_count < file->header.device_count ||
        next.op_count < file->header.op_count || next.buffer_high < file->header.buffer_high)
        return TTS_E_SYNTAX;
    memcpy((unsigned char *)&file->header + STATE_OFF, copy, CHANGE_BYTES);
    return TTS_OK;
}

enum tts_status tts_clientfile_refresh(struct tts_clientfile *file, int *sys_errno)
{
    unsigned char copy[CHANGE_BYTES];
    enum tts_status status = tts_clientfile_copy(file, STATE_OFF, copy, sizeof copy, sys_errno);
    return status == TTS_OK ? tts_clientfile_take_change(file, copy) : status;
}

/* Returns whether a copy of a device that may mix two states can be shown: the counts agree in
 * each pool. Such a copy is at most one event away from a state of the device. */
static bool is_device_plausible(const struct tts_clientregion_device *device)
{
    for (int i = 0; i < TTS_CLIENTREGION_POOLS; i++) {
        const struct tts_clientregion_pool *pool = &device->pools[i];
        if (pool->allocs - pool->frees != pool->buffers)
            return false;
    }
    return true;
}

/* Copies one device again and again. Two equal copies in a row are one state of the device,
 * because `lock` changes with each change. A program that changes the device without a pause,
 * or that was stopped or killed in the middle of a change, allows no such copies: then the last
 * plausible copy is taken. */
static enum tts_status copy_changing_device(const struct tts_clientfile *file, uint64_t off,
                                            struct tts_clientregion_device *device,
                                            bool *is_good, int *sys_errno)
{
    struct tts_clientregion_device next, plausible;
    *is_good = false;
    for (int i = 0; i < DEVICE_TRIES; i++) {
        enum tts_status status = tts_clientfile_copy(file, off, &next, sizeof next, sys_errno);
        if (status != TTS_OK)
            return status;
        if (next.lock % 2 == 0 && memcmp(&next, device, sizeof next) == 0) {
            *is_good = true;
            return TTS_OK;
        }
        *device = next;
        if (is_device_plausible(&next)) {
            plausible = next;
            *is_good = true;
        }
    }
    if (*is_good)
        *device = plausible;
    return TTS_OK;
}

enum tts_status tts_clientfile_devices(const struct tts_clientfile *file,
                                       struct tts_clientregion_device *devices,
                                       struct tts_clientregion_device *twin,
                                       unsigned char changing[32], int *sys_errno)
{
    const uint64_t off = file->header.devices_off;
    const uint32_t count = file->header.device_count;
    memset(changing, 0, 32);
    enum tts_status status =
        tts_clientfile_copy(file, off, devices, count * sizeof *devices, sys_errno);
    if (status == TTS_OK)
        status = tts_clientfile_copy(file, off, twin, count * sizeof *twin, sys_errno);
    for (uint32_t i = 0; status == TTS_OK && i < count; i++) {
        bool is_good = true;
        if (devices[i].lock % 2 == 0 && memcmp(&devices[i], &twin[i], sizeof *twin) == 0)
            continue;
        status = copy_changing_device(file, off + i * sizeof *devices, &devices[i], &is_good,
                                      sys_errno);
        if (!is_good)
            changing[i / 8] |= (unsigned char)(1u << i % 8);
    }
    return status;
}

enum tts_status tts_clientfile_buffers(const struct tts_clientfile *file, uint32_t first,
                                       uint32_t count, struct tts_clientregion_buffer *slots,
                                       struct tts_clientregion_buffer *twin, int *sys_errno)
{
    const uint64_t off = file->header.buffers_off + first * (uint64_t)sizeof *slots;
    enum tts_status status =
        tts_clientfile_copy(file, off, slots, count * sizeof *slots, sys_errno);
    if (status == TTS_OK)
        status = tts_clientfile_copy(file, off, twin, count * sizeof *twin, sys_errno);
    for (uint32_t i = 0; status == TTS_OK && i < count; i++) {
        bool is_same = memcmp(&slots[i], &twin[i], sizeof *twin) == 0;
        for (int try = 0; try < SLOT_TRIES && !is_same && status == TTS_OK; try++) {
            slots[i] = twin[i];
            status = tts_clientfile_copy(file, off + i * sizeof *slots, &twin[i], sizeof *twin,
                                         sys_errno);
            is_same = memcmp(&slots[i], &twin[i], sizeof *twin) == 0;
        }
        if (!is_same)
            slots[i].stamp = 0;
    }
    return status;
}

void tts_clientfile_op(const struct tts_clientfile *file, uint16_t op,
                       char name[TTS_CLIENTREGION_NAME_BYTES])
{
    int sys_errno;
    char copy[TTS_CLIENTREGION_NAME_BYTES];
    const uint64_t off =
        file->header.ops_off + (op - UINT64_C(1)) * TTS_CLIENTREGION_NAME_BYTES;
    memset(name, 0, TTS_CLIENTREGION_NAME_BYTES);
    if (op == 0 || op > file->header.op_count ||
        tts_clientfile_copy(file, off, copy, sizeof copy, &sys_errno) != TTS_OK)
        return;
    memccpy(name, copy, '\0', TTS_CLIENTREGION_NAME_BYTES - 1);
}
