#include "wire/clientwriter.h"

#include "base/beside.h"
#include "base/error.h"
#include "base/number.h"
#include "base/ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- identity --------------------------------------------------------------------------- */

/* Reads a small file of /proc as a terminated text. Returns 0 or an errno value. */
static int read_proc_text(const char *path, char *out, size_t capacity)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    ssize_t got = read(fd, out, capacity - 1);
    int reason = got < 0 ? errno : 0;
    close(fd);
    out[got > 0 ? got : 0] = '\0';
    return reason;
}

/* Reads field 22 of a stat file. The second field is in parentheses and may have spaces and
 * parentheses, so the fields are counted after the last parenthesis. */
static bool parse_start_ticks(const char *stat_text, uint64_t *out)
{
    enum { FIELDS_AFTER_NAME = 20 };
    const char *at = strrchr(stat_text, ')');
    for (int i = 0; at && i < FIELDS_AFTER_NAME; i++)
        at = strchr(at + 1, ' ');
    return at && tts_number_parse(at + 1, strspn(at + 1, "0123456789"), out) == TTS_OK;
}

static enum tts_status proc_unreadable(struct tts_error *err, const char *path, int reason)
{
    return tts_error_set_errno(err, TTS_E_IO, reason ? reason : EINVAL, "cannot read '%s'",
                               path);
}

enum tts_status tts_clientidentity_own(struct tts_clientidentity *out, struct tts_error *err)
{
    static const char stat_path[] = "/proc/self/stat", comm_path[] = "/proc/self/comm";
    struct tts_clientidentity own = {.pid = (uint32_t)getpid(), .uid = (uint32_t)getuid()};
    char text[1024];
    struct stat info;
    int reason = read_proc_text(stat_path, text, sizeof text);
    if (reason != 0 || !parse_start_ticks(text, &own.start_ticks))
        return proc_unreadable(err, stat_path, reason);
    reason = read_proc_text(comm_path, own.comm, sizeof own.comm);
    if (reason != 0)
        return proc_unreadable(err, comm_path, reason);
    own.comm[strcspn(own.comm, "\n")] = '\0';
    if (stat("/proc/self/ns/pid", &info) == 0)
        own.pid_namespace = info.st_ino;
    *out = own;
    return TTS_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum tts_status read_boot_id(unsigned char out[16], struct tts_error *err)
{
    static const char path[] = "/proc/sys/kernel/random/boot_id";
    char text[64];
    int digits = 0, reason = read_proc_text(path, text, sizeof text);
    memset(out, 0, 16);
    for (const char *at = text; reason == 0 && *at && digits < 32; at++) {
        int digit = hex_digit(*at);
        if (digit < 0)
            continue;
        out[digits / 2] = (unsigned char)(out[digits / 2] << 4 | digit);
        digits++;
    }
    return digits == 32 ? TTS_OK : proc_unreadable(err, path, reason);
}

/* --- the file --------------------------------------------------------------------------- */

static const char *region_advice(int sys_errno)
{
    switch (sys_errno) {
    case ENOSPC:
    case EDQUOT:
        return "free some space in this directory, or list fewer buffers";
    case EFBIG:
        return "raise the limit with 'ulimit -f'";
    case EACCES:
    case EPERM:
    case EROFS:
        return "give a directory that may be written";
    case ENOENT:
    case ENOTDIR:
        return "make the directory first";
    case EMFILE:
    case ENFILE:
        return "close other files first";
    default:
        return "give another directory";
    }
}

static enum tts_status region_unmade(struct tts_error *err, int reason, const char *path)
{
    enum { SHOWN = 80 };
    size_t len = strlen(path);
    return tts_error_set_errno(err, reason == ENOMEM ? TTS_E_NOMEM : TTS_E_IO, reason,
                               "cannot publish in '%s%s' (%s)", len > SHOWN ? "..." : "",
                               len > SHOWN ? path + len - SHOWN : path, region_advice(reason));
}

static enum tts_status check_slots(const char *name, uint32_t asked, uint32_t most,
                                   struct tts_error *err)
{
    if (asked <= most)
        return TTS_OK;
    return tts_error_set(err, TTS_E_RANGE, "%s is %" PRIu32 ", but the maximum is %" PRIu32,
                         name, asked, most);
}

static enum tts_status check_config(const struct tts_clientwriter_config *config,
                                    struct tts_error *err)
{
    enum tts_status status =
        check_slots("device_slots", config->device_slots, TTS_CLIENTREGION_DEVICES_MAX, err);
    if (status == TTS_OK)
        status = check_slots("op_slots", config->op_slots, TTS_CLIENTREGION_OPS_MAX, err);
    if (status == TTS_OK)
        status = check_slots("buffer_slots", config->buffer_slots, TTS_CLIENTREGION_BUFFERS_MAX,
                             err);
    if (status == TTS_OK)
        status =
            check_slots("event_slots", config->event_slots, TTS_CLIENTREGION_EVENTS_MAX, err);
    if (status == TTS_OK && (config->event_slots & (config->event_slots - 1)) != 0)
        status = tts_error_set(err, TTS_E_RANGE,
                               "event_slots is %" PRIu32 ": give 0 or a power of two",
                               config->event_slots);
    return status;
}

static void set_limits(struct tts_clientwriter *w, const struct tts_clientwriter_config *config)
{
    w->device_slots = config->device_slots;
    w->op_slots = config->op_slots;
    w->buffer_slots = config->buffer_slots;
    w->event_slots = config->event_slots;
}

/* Fills the header, with the state MAKING, and computes the places of the parts. */
static void lay_out(struct tts_clientregion_header *header,
                    const struct tts_clientwriter_config *config)
{
    *header = (struct tts_clientregion_header){.version = TTS_CLIENTREGION_VERSION,
                                               .header_bytes = TTS_CLIENTREGION_HEADER_BYTES,
                                               .pid = config->process.pid,
                                               .uid = config->process.uid,
                                               .start_ticks = config->process.start_ticks,
                                               .pid_namespace = config->process.pid_namespace,
                                               .begin_ns = tts_clock_realtime_ns(),
                                               .writer = config->writer,
                                               .writer_pid = config->writer_pid,
                                               .writer_start_ticks = config->writer_start_ticks,
                                               .device_slots = config->device_slots,
                                               .op_slots = config->op_slots,
                                               .buffer_slots = config->buffer_slots,
                                               .event_slots = config->event_slots,
                                               .devices_off = TTS_CLIENTREGION_HEADER_BYTES};
    memcpy(header->magic, TTS_CLIENTREGION_MAGIC, sizeof header->magic);
    snprintf(header->comm, sizeof header->comm, "%s", config->process.comm);
    header->ops_off = header->devices_off +
                      config->device_slots * (uint64_t)sizeof(struct tts_clientregion_device);
    header->buffers_off =
        header->ops_off + config->op_slots * (uint64_t)TTS_CLIENTREGION_NAME_BYTES;
    header->events_off =
        header->buffers_off +
        config->buffer_slots * (uint64_t)sizeof(struct tts_clientregion_buffer);
    header->file_bytes = header->events_off +
                         config->event_slots * (uint64_t)sizeof(struct tts_clientregion_event);
}

/* Reserves and maps the whole file, so that no later write can fail or fault. Returns 0 or an
 * errno value. */
static int map_new_region(struct tts_clientwriter *w, int fd,
                          const struct tts_clientregion_header *header)
{
    struct stat info;
    int reason = fchmod(fd, 0600) == 0 && fstat(fd, &info) == 0 ? 0 : errno;
    if (reason == 0)
        reason = tts_file_reserve(fd, 0, header->file_bytes);
    if (reason == 0)
        reason = tts_file_map(fd, 0, header->file_bytes, &w->file);
    if (reason == 0)
        reason = tts_mapped_populate(&w->file);
    if (reason != 0)
        return reason;
    unsigned char *bytes = w->file.bytes;
    w->header = (void *)bytes;
    w->devices = (void *)(bytes + header->devices_off);
    w->ops = (void *)(bytes + header->ops_off);
    w->buffers = (void *)(bytes + header->buffers_off);
    w->events = (void *)(bytes + header->events_off);
    w->file_device = info.st_dev;
    w->file_inode = info.st_ino;
    *w->header = *header;
    __atomic_store_n(&w->header->state, TTS_CLIENTREGION_LIVE, __ATOMIC_RELEASE);
    return 0;
}

/* Returns whether the file at the path is the region of a process that publishes itself. */
static bool is_owned_by_process(const char *path)
{
    struct tts_clientregion_header there;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool is_whole = pread(fd, &there, sizeof there, 0) == (ssize_t)sizeof there;
    close(fd);
    return is_whole && memcmp(there.magic, TTS_CLIENTREGION_MAGIC, sizeof there.magic) == 0 &&
           there.writer != TTS_CLIENTREGION_BY_SERVER && there.state == TTS_CLIENTREGION_LIVE;
}

/* Gives the file its name. The system cannot replace a file by a file without a name, so a
 * left-over is removed first. Returns 0 or an errno value, EBUSY if the process publishes
 * itself. */
static int name_region(const struct tts_clientwriter *w, int fd, const char *temporary,
                       bool is_server)
{
    if (is_server && is_owned_by_process(w->path))
        return EBUSY;
    if (temporary[0])
        return rename(temporary, w->path) == 0 ? 0 : errno;
    int reason = tts_beside_link(fd, w->path);
    if (reason != EEXIST)
        return reason;
    if (unlink(w->path) != 0 && errno != ENOENT)
        return errno;
    return tts_beside_link(fd, w->path);
}

static int make_region(struct tts_clientwriter *w, const struct tts_clientregion_header *header)
{
    char temporary[TTS_PATH_MAX] = "";
    int fd = -1;
    int reason = tts_beside_open(w->path, O_RDWR, &fd);
    if (reason == EOPNOTSUPP)
        reason = tts_beside_create(w->path, O_RDWR, 0600, temporary, &fd);
    if (reason != 0)
        return reason;
    reason = map_new_region(w, fd, header);
    if (reason == 0)
        reason = name_region(w, fd, temporary, header->writer == TTS_CLIENTREGION_BY_SERVER);
    if (reason != 0) {
        tts_mapped_release(&w->file);
        if (temporary[0])
            unlink(temporary);
    }
    close(fd);
    return reason;
}

enum tts_status tts_clientwriter_open(const struct tts_clientwriter_config *config,
                                      struct tts_clientwriter *out, struct tts_error *err)
{
    struct tts_clientwriter w = {0};
    struct tts_clientregion_header header;
    enum tts_status status = check_config(config, err);
    if (status != TTS_OK)
        return status;
    set_limits(&w, config);
    lay_out(&header, config);
    status = read_boot_id(header.boot_id, err);
    if (status != TTS_OK)
        return status;
    int len = snprintf(w.path, sizeof w.path,
                       "%s/" TTS_CLIENTREGION_PREFIX "%" PRIu32 "_%" PRIu64 "_%" PRIu64,
                       config->directory, header.pid, header.start_ticks, header.pid_namespace);
    int reason =
        len > 0 && (size_t)len < sizeof w.path ? make_region(&w, &header) : ENAMETOOLONG;
    if (reason == EBUSY)
        return tts_error_set(err, TTS_E_BUSY,
                             "process %" PRIu32
                             " already publishes its memory: end the earlier publication first",
                             header.pid);
    if (reason != 0)
        return region_unmade(err, reason, w.path);
    *out = w;
    return TTS_OK;
}

void tts_clientwriter_close(struct tts_clientwriter *w, bool removes, bool is_child)
{
    struct stat there;
    if (!w->header)
        return;
    if (!is_child)
        __atomic_store_n(&w->header->state, TTS_CLIENTREGION_ENDED, __ATOMIC_RELEASE);
    tts_mapped_release(&w->file);
    /* Another region of the same process may have this name now. */
    if (removes && !is_child && lstat(w->path, &there) == 0 && there.st_dev == w->file_device &&
        there.st_ino == w->file_inode)
        unlink(w->path);
    *w = (struct tts_clientwriter){0};
}

/* --- changes ---------------------------------------------------------------------------- */

struct tts_clientregion_device *tts_clientwriter_search(struct tts_clientwriter *w, uint32_t id)
{
    uint32_t idx = 0;
    while (idx < w->device_count && w->devices[idx].id != id)
        idx++;
    if (idx == w->device_slots)
        return NULL;
    w->last_device = idx;
    struct tts_clientregion_device *device = &w->devices[idx];
    if (idx == w->device_count) {
        device->id = id;
        w->device_count++;
        /* Readers of the new count see the id. */
        __atomic_store_n(&w->header->device_count, w->device_count, __ATOMIC_RELEASE);
    }
    return device;
}

uint32_t tts_clientwriter_add_op(struct tts_clientwriter *w, const char *name)
{
    if (w->op_count == w->op_slots)
        return UINT32_MAX;
    size_t len = strlen(name), most = TTS_CLIENTREGION_NAME_BYTES - 1;
    memcpy(w->ops[w->op_count], len > most ? name + len - most : name, len > most ? most : len);
    w->op_count++;
    __atomic_store_n(&w->header->op_count, w->op_count, __ATOMIC_RELEASE);
    return w->op_count - 1;
}
