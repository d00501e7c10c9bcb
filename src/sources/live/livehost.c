#include "sources/live/livehost.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "base/span.h"
#include "sources/hostfile.h"
#include "sources/live/clientlife.h"
#include "sources/live/inspector.h"
#include "sources/live/livechips.h"
#include "sources/live/liveprocs.h"
#include "sources/live/regions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    LOGS_MAX = 64,        /* processes whose logs are looked for */
    DIRECTORIES_MAX = 64, /* different directories /dev/shm */
    PATH_BYTES = 4096,
};

/* The most bytes of logs that one read of the host reads, for all processes together. The first
 * read may read more, because it may be the only read. */
#define FIRST_LOG_BYTES (UINT64_C(512) << 20)
#define LATER_LOG_BYTES (UINT64_C(32) << 20)
/* A log is read in pieces, so that a read can be stopped. */
#define LOG_PIECE_BYTES (UINT64_C(1) << 20)

/* The logs of one process. */
struct process_log {
    uint32_t pid;
    bool ticks_known;
    uint64_t start_ticks;
    uint64_t refresh; /* number of the last read that used the entry */
    bool is_found;
    struct tts_inspector *inspector;
};

struct tts_livehost {
    const struct tts_alloc *alloc;
    atomic_bool is_stopped;
    struct tts_livechips chips;
    struct tts_liveprocs *procs;
    struct tts_regionstore regions;
    struct tts_clientstore *clients;
    struct tts_clientlife life;
    struct process_log logs[LOGS_MAX];
    size_t log_count;
    uint32_t privates[DIRECTORIES_MAX]; /* processes whose own /dev/shm is read */
    size_t private_count;
    uint64_t refresh;
    bool own_namespace_known;
    uint64_t own_namespace_id;
    size_t root_len;
    char root[];
};

/* --- open and close --------------------------------------------------------------------- */

/* Reads the pid namespace of this process. */
static void read_own_namespace(struct tts_livehost *host)
{
    char target[64];
    int dir = tts_hostfile_open_root(host->root, "/proc/self");
    ssize_t len = dir < 0 ? -1 : readlinkat(dir, "ns/pid", target, sizeof target);
    struct tts_span link = {target, len > 0 ? (size_t)len : 0};
    const size_t begin = strlen("pid:[");
    if (dir >= 0)
        close(dir);
    if (tts_span_begins(link, "pid:[") && tts_span_ends(link, "]"))
        host->own_namespace_known = tts_number_parse(link.at + begin, link.len - begin - 1,
                                                     &host->own_namespace_id) == TTS_OK;
}

enum tts_status tts_livehost_open(const char *root, const struct tts_alloc *alloc,
                                  struct tts_livehost **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    size_t root_len = strlen(root);
    int root_dir = tts_hostfile_open_root(root, "/");
    if (root_dir < 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot read the system files in '%s'",
                                   root);
    close(root_dir);
    struct tts_livehost *host = alloc->alloc(alloc->ctx, sizeof *host + root_len + 1);
    if (!host)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the state of the host");
    memset(host, 0, sizeof *host);
    host->alloc = alloc;
    host->root_len = root_len;
    memcpy(host->root, root, root_len + 1);
    enum tts_status status = tts_liveprocs_new(root, alloc, &host->procs, err);
    if (status == TTS_OK)
        status = tts_clientstore_open(root, alloc, &host->clients, err);
    if (status != TTS_OK) {
        tts_liveprocs_free(host->procs);
        alloc->free(alloc->ctx, host, sizeof *host + root_len + 1);
        return status;
    }
    tts_livechips_init(&host->chips, host->root, alloc);
    read_own_namespace(host);
    *out = host;
    return TTS_OK;
}

void tts_livehost_close(struct tts_livehost *host)
{
    if (!host)
        return;
    const struct tts_alloc *alloc = host->alloc;
    for (size_t i = 0; i < host->log_count; i++)
        tts_inspector_free(host->logs[i].inspector);
    tts_livechips_release(&host->chips);
    tts_regionstore_release(&host->regions);
    tts_clientstore_close(host->clients);
    tts_clientlife_release(&host->life);
    tts_liveprocs_free(host->procs);
    alloc->free(alloc->ctx, host, sizeof *host + host->root_len + 1);
}

/* --- stop ------------------------------------------------------------------------------- */

void tts_livehost_stop(struct tts_livehost *host)
{
    atomic_store_explicit(&host->is_stopped, true, memory_order_relaxed);
}

static bool is_host_stopped(const struct tts_livehost *host)
{
    return atomic_load_explicit(&host->is_stopped, memory_order_relaxed);
}

/* Returns TTS_E_IO if the read is stopped, otherwise TTS_OK. */
static enum tts_status check_host_stop(const struct tts_livehost *host, struct tts_error *err)
{
    if (!is_host_stopped(host))
        return TTS_OK;
    return tts_error_set(err, TTS_E_IO, "the read of the host was stopped");
}

/* --- processes -------------------------------------------------------------------------- */

static size_t count_kept_holders(const struct tts_seenchip *chip)
{
    return chip->holder_count < TTS_HOSTVIEW_HOLDERS_MAX ? chip->holder_count
                                                         : TTS_HOSTVIEW_HOLDERS_MAX;
}

static enum tts_status add_host_process(struct tts_livehost *host, uint32_t pid,
                                        struct tts_hostview *view, struct tts_error *err)
{
    enum tts_status status = check_host_stop(host, err);
    return status == TTS_OK ? tts_liveprocs_add(host->procs, pid, view, err) : status;
}

/* Adds the holders of the chips before other processes, so that the files of the holders are
 * kept open. */
static enum tts_status add_live_holders(struct tts_livehost *host, struct tts_hostview *view,
                                        struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    for (size_t i = 0; status == TTS_OK && i < view->chip_count; i++)
        for (size_t k = 0; status == TTS_OK && k < count_kept_holders(&view->chips[i]); k++)
            status = add_host_process(host, view->chips[i].holders[k], view, err);
    for (size_t i = 0; i < view->process_count; i++)
        view->processes[i].is_holder = true;
    for (size_t i = 0; status == TTS_OK && i < view->chip_count; i++)
        if (view->chips[i].lock_known)
            status = add_host_process(host, (uint32_t)view->chips[i].lock_pid, view, err);
    return status;
}

/* Adds the processes that registered in regions. The numbers may belong to another pid
 * namespace; then they mean nothing here. */
static enum tts_status add_registered(struct tts_livehost *host, struct tts_hostview *view,
                                      struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    for (size_t i = 0; i < view->region_count; i++) {
        const struct tts_seenregion *region = &view->regions[i];
        for (size_t k = 0; status == TTS_OK && k < region->slot_count; k++)
            status = add_host_process(host, (uint32_t)region->slots[k].pid, view, err);
    }
    return status;
}

static int compare_log_pids(const void *a, const void *b)
{
    const struct tts_seenbuffers *left = a, *right = b;
    return (left->pid > right->pid) - (left->pid < right->pid);
}

/* --- private regions -------------------------------------------------------------------- */

/* Directories that are already listed. */
struct shm_list {
    uint64_t devices[DIRECTORIES_MAX], inodes[DIRECTORIES_MAX];
    size_t count;
};

/* Adds a directory. Returns false if the directory is in the list already. */
static bool add_shm_dir(struct shm_list *list, uint64_t device, uint64_t inode)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->devices[i] == device && list->inodes[i] == inode)
            return false;
    if (list->count == DIRECTORIES_MAX)
        return true;
    list->devices[list->count] = device;
    list->inodes[list->count++] = inode;
    return true;
}

/* Returns whether a directory is the /dev/shm of this process although `root` stands for
 * another host, as in tests. Programs that publish there are no part of the other host. */
static bool is_foreign_shm(const struct tts_livehost *host, uint64_t device, uint64_t inode)
{
    struct stat info;
    return host->root_len > 0 && stat("/dev/shm", &info) == 0 && info.st_dev == device &&
           info.st_ino == inode;
}

/* Reads the regions in directories /dev/shm that only holders of chips see. Most holders see
 * the /dev/shm of the host. */
static enum tts_status add_private_regions(struct tts_livehost *host, struct tts_hostview *view,
                                           struct tts_error *err)
{
    struct shm_list list = {.count = 0};
    struct stat info;
    enum tts_status status = TTS_OK;
    int own = tts_hostfile_open_root(host->root, "/dev/shm");
    if (own >= 0 && fstat(own, &info) == 0)
        add_shm_dir(&list, info.st_dev, info.st_ino);
    if (own >= 0)
        close(own);
    size_t count = view->process_count;
    host->private_count = 0;
    for (size_t i = 0; status == TTS_OK && i < count; i++) {
        struct tts_seenprocess *process = &view->processes[i];
        uint64_t device, inode;
        if (!process->is_holder || tts_liveprocs_dir(host->procs, process->pid) < 0)
            continue;
        process->shm_errno = tts_liveprocs_shm(host->procs, process->pid, &device, &inode);
        if (process->shm_errno != 0 || !add_shm_dir(&list, device, inode))
            continue;
        if (host->private_count < DIRECTORIES_MAX && !is_foreign_shm(host, device, inode))
            host->privates[host->private_count++] = process->pid;
        status = check_host_stop(host, err);
        if (status == TTS_OK)
            status = tts_regions_read(view, host->root, process->pid, &host->regions, err);
    }
    return status;
}

/* --- logs ------------------------------------------------------------------------------- */

/* Returns whether a process may use a chip, so that its log is of interest. */
static bool may_have_log(const struct tts_hostview *view, const struct tts_seenprocess *process)
{
    if (!process->is_alive || process->pid == view->own_pid)
        return false;
    if (process->is_holder || (process->nodes_known && process->nodes != 0))
        return true;
    if (process->pid_levels > 1)
        return false;
    for (size_t i = 0; i < view->region_count; i++) {
        const struct tts_seenregion *region = &view->regions[i];
        for (size_t k = 0; k < region->slot_count; k++)
            if ((uint32_t)region->slots[k].pid == process->pid &&
                strcmp(region->slots[k].name, process->comm) == 0)
                return true;
    }
    return false;
}

/* Returns the logs of a process: the logs of the last read, or a new entry. Returns NULL if
 * there are too many entries or memory ran out. */
static struct process_log *find_process_log(struct tts_livehost *host,
                                            const struct tts_seenprocess *process)
{
    struct process_log *log = host->logs;
    struct process_log *end = host->logs + host->log_count;
    while (log < end && (log->pid != process->pid || log->ticks_known != process->ticks_known ||
                         log->start_ticks != process->start_ticks))
        log++;
    if (log < end)
        return log;
    struct tts_inspector *inspector;
    if (host->log_count == LOGS_MAX ||
        tts_inspector_new(host->alloc, &inspector, NULL) != TTS_OK)
        return NULL;
    host->log_count++;
    *log = (struct process_log){.pid = process->pid,
                                .ticks_known = process->ticks_known,
                                .start_ticks = process->start_ticks,
                                .inspector = inspector};
    return log;
}

/* Closes the logs of processes that are not of interest any more. */
static void drop_old_logs(struct tts_livehost *host)
{
    for (size_t i = host->log_count; i-- > 0;) {
        if (host->logs[i].refresh == host->refresh)
            continue;
        tts_inspector_free(host->logs[i].inspector);
        host->logs[i] = host->logs[--host->log_count];
    }
}

/* Returns whether `log` was found for two processes and belongs rather to the other process: a
 * child inherits the open files of its parent, and a name may lead to the log of another
 * process. */
static bool is_log_of_other(const struct tts_livehost *host, const struct process_log *log)
{
    for (size_t i = 0; i < host->log_count; i++) {
        const struct process_log *other = &host->logs[i];
        if (other == log || !other->is_found ||
            !tts_inspector_is_same(log->inspector, other->inspector))
            continue;
        bool is_open = tts_inspector_is_open_file(log->inspector);
        bool is_other_open = tts_inspector_is_open_file(other->inspector);
        if (is_open != is_other_open)
            return is_other_open;
        if (log->start_ticks != other->start_ticks ? log->start_ticks > other->start_ticks
                                                   : log->pid > other->pid)
            return true;
    }
    return false;
}

/* Reads at most `max_bytes` of the logs of a process. */
static void read_process_log(const struct tts_livehost *host, struct process_log *log,
                             const struct tts_hostview *view, uint64_t max_bytes)
{
    const struct tts_seenprocess *process = tts_hostview_process(view, log->pid);
    int dir = tts_liveprocs_dir(host->procs, log->pid);
    log->is_found = true;
    for (uint64_t left = max_bytes; left > 0 && log->is_found && !is_host_stopped(host);) {
        uint64_t piece = left < LOG_PIECE_BYTES ? left : LOG_PIECE_BYTES;
        log->is_found =
            tts_inspector_read(log->inspector, dir, process, view->time_ns, piece) == TTS_OK;
        left = log->is_found && tts_inspector_has_more(log->inspector) ? left - piece : 0;
    }
}

static void read_process_logs(struct tts_livehost *host, struct tts_hostview *view)
{
    size_t wanted = 0;
    for (size_t i = 0; i < view->process_count; i++) {
        const struct tts_seenprocess *process = &view->processes[i];
        if (!may_have_log(view, process) || tts_liveprocs_dir(host->procs, process->pid) < 0)
            continue;
        struct process_log *log = find_process_log(host, process);
        if (log)
            log->refresh = host->refresh;
        else
            view->buffers_left_out++;
        wanted++;
    }
    drop_old_logs(host);
    uint64_t budget = host->refresh == 1 ? FIRST_LOG_BYTES : LATER_LOG_BYTES;
    for (size_t i = 0; i < host->log_count; i++) {
        struct process_log *log = &host->logs[i];
        const struct tts_seenprocess *process = tts_hostview_process(view, log->pid);
        read_process_log(host, log, view, budget / wanted);
        view->processes[process - view->processes].has_unsure_log =
            !log->is_found && tts_inspector_is_unsure(log->inspector);
    }
}

static enum tts_status add_process_logs(struct tts_livehost *host, struct tts_hostview *view,
                                        struct tts_error *err)
{
    read_process_logs(host, view);
    enum tts_status status = check_host_stop(host, err);
    for (size_t i = 0; status == TTS_OK && i < host->log_count; i++) {
        const struct process_log *log = &host->logs[i];
        if (!log->is_found || is_log_of_other(host, log))
            continue;
        struct tts_seenbuffers *buffers = tts_hostview_add_buffers(view);
        if (!buffers)
            return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the logs of buffers");
        buffers->pid = log->pid;
        tts_inspector_fill(log->inspector, buffers);
    }
    if (view->buffers_count > 0)
        qsort(view->buffers, view->buffers_count, sizeof *view->buffers, compare_log_pids);
    return status;
}

/* --- read ------------------------------------------------------------------------------- */

static void fill_own_facts(const struct tts_livehost *host, struct tts_hostview *view)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    view->time_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    view->own_pid = (uint32_t)getpid();
    view->own_uid = geteuid();
    view->own_namespace_known = host->own_namespace_known;
    view->own_namespace_id = host->own_namespace_id;
}

void tts_livehost_leave_out_served(struct tts_livehost *host)
{
    tts_clientstore_leave_out_served(host->clients);
}

enum tts_status tts_livehost_read(struct tts_livehost *host, struct tts_hostview *view,
                                  struct tts_error *err)
{
    bool wants_nodes = false;
    tts_hostview_reset(view);
    host->refresh++;
    fill_own_facts(host, view);
    tts_regionstore_begin(&host->regions, host->alloc);
    enum tts_status status = tts_livechips_read(&host->chips, view, err);
    if (status == TTS_OK)
        status = check_host_stop(host, err);
    if (status == TTS_OK)
        status = tts_regions_read(view, host->root, 0, &host->regions, err);
    /* An old driver does not list the holders of its chips. */
    for (size_t i = 0; i < view->chip_count; i++)
        wants_nodes = wants_nodes || !view->chips[i].holders_known;
    tts_liveprocs_begin(host->procs, view->time_ns, wants_nodes);
    view->clock_known = tts_liveprocs_clock(host->procs, &view->clock_since_ns);
    if (status == TTS_OK)
        status = add_live_holders(host, view, err);
    if (status == TTS_OK)
        status = add_private_regions(host, view, err);
    if (status == TTS_OK)
        status = check_host_stop(host, err);
    if (status == TTS_OK)
        status = tts_clientstore_read_all(host->clients, host->privates, host->private_count,
                                          view, err);
    /* A process that the driver does not list may have inherited an open node. */
    tts_liveprocs_want_nodes(host->procs);
    if (status == TTS_OK)
        status = add_registered(host, view, err);
    if (status == TTS_OK)
        status = check_host_stop(host, err);
    if (status == TTS_OK)
        status = tts_clientlife_add(&host->life, host->alloc, host->procs, view, err);
    tts_hostview_sort_processes(view);
    if (status == TTS_OK) {
        tts_clientlife_judge(&host->life, view);
        status = add_process_logs(host, view, err);
    }
    if (status != TTS_OK) {
        tts_hostview_reset(view);
        return status;
    }
    return TTS_OK;
}

enum tts_status tts_livehost_buffers(struct tts_livehost *host, uint32_t client,
                                     void (*visit)(void *ctx, const struct tts_seenlive *live),
                                     void *ctx, struct tts_error *err)
{
    return tts_clientstore_buffers(host->clients, client, visit, ctx, err);
}

/* --- users ------------------------------------------------------------------------------ */

void tts_livehost_defer_users(struct tts_livehost *host)
{
    tts_liveprocs_defer_users(host->procs);
}

static void name_process_user(struct tts_livehost *host, struct tts_liveprocess *process)
{
    if (process->uid_known && !process->user[0])
        snprintf(process->user, sizeof process->user, "%s",
                 tts_liveprocs_user(host->procs, process->uid));
}

void tts_livehost_name_users(struct tts_livehost *host, struct tts_liveframe *frame,
                             size_t per_device)
{
    if (!tts_liveprocs_has_unasked(host->procs))
        return; /* the processes of the frame have their names from the last read */
    for (size_t i = 0; i < frame->device_count; i++) {
        struct tts_livedevice *device = &frame->devices[i];
        for (size_t j = 0; j < device->process_count && j < per_device; j++)
            name_process_user(host, &device->processes[j]);
    }
    for (size_t i = 0; i < frame->stray_count; i++)
        name_process_user(host, &frame->strays[i]);
}
