#include "sources/live/inspector.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "base/span.h"
#include "sources/hostfile.h"
#include "sources/live/bufferlog.h"
#include "sources/live/meshlog.h"
#include "sources/live/startuplog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LOG_FDS_MAX = 8192, /* open files of a process that are looked at */
    HEAD_BYTES = 256,   /* the beginning of a log, to see that another log took its place */
    PIECE_BYTES = 16 * 1024,
    ENVIRON_BYTES = 256 * 1024,
    STARTUP_BYTES = 4096,
    WAIT_SECONDS_MAX = 64,
};

#define SECOND_NS (UINT64_C(1000) * 1000 * 1000)
/* The start of a process is known to two seconds, because the boot time has whole seconds. A
 * runtime that starts more than an hour after its process cannot be told from another one. */
#define START_SLACK_NS (2 * SECOND_NS)
#define STARTUP_MAX_NS (3600 * SECOND_NS)
#define LOG_DIR "generated/inspector"
#define BUFFERS_NAME "mesh_buffers_log.yaml"
#define MESHES_NAME "mesh_devices_log.yaml"
#define DELETED " (deleted)"

/* A file that is read as it grows. */
struct followed {
    int fd; /* -1: there is no file */
    dev_t device;
    ino_t inode;
    uint64_t offset;     /* bytes read */
    uint64_t size_bytes; /* of the file, at the last look */
    unsigned char head[HEAD_BYTES];
    size_t head_len;
    bool is_unlinked; /* the file has no name any more */
};

struct tts_inspector {
    const struct tts_alloc *alloc;
    struct followed buffers_file, meshes_file;
    struct tts_bufferlog *buffers; /* NULL before a log is found */
    struct tts_meshlog *meshes;    /* like `buffers` */
    bool is_open_file;
    bool is_unsure; /* a log has the right name, but may belong to another process */
    struct tts_startuplog startup;
    uint64_t search_ns; /* time of the last search */
    uint64_t wait_seconds;
};

enum tts_status tts_inspector_new(const struct tts_alloc *alloc, struct tts_inspector **out,
                                  struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_inspector *inspector = alloc->alloc(alloc->ctx, sizeof *inspector);
    if (!inspector)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for a log of buffers");
    memset(inspector, 0, sizeof *inspector);
    inspector->alloc = alloc;
    inspector->buffers_file.fd = -1;
    inspector->meshes_file.fd = -1;
    *out = inspector;
    return TTS_OK;
}

static void close_followed(struct followed *file)
{
    if (file->fd >= 0)
        close(file->fd);
    *file = (struct followed){.fd = -1};
}

void tts_inspector_free(struct tts_inspector *inspector)
{
    if (!inspector)
        return;
    const struct tts_alloc *alloc = inspector->alloc;
    close_followed(&inspector->buffers_file);
    close_followed(&inspector->meshes_file);
    tts_bufferlog_free(inspector->buffers);
    if (inspector->meshes)
        alloc->free(alloc->ctx, inspector->meshes, sizeof *inspector->meshes);
    alloc->free(alloc->ctx, inspector, sizeof *inspector);
}

/* --- one file --------------------------------------------------------------------------- */

/* Starts to follow an open file from its beginning. */
static void follow_log_file(struct followed *file, int fd, const struct stat *info)
{
    close_followed(file);
    file->fd = fd;
    file->device = info->st_dev;
    file->inode = info->st_ino;
}

/* Looks at the present size. Returns false if the file began anew: it is shorter than before or
 * has another beginning. Then the caller forgets the earlier content of the file. */
static bool look_at_followed(struct followed *file)
{
    unsigned char head[HEAD_BYTES];
    struct stat info;
    if (fstat(file->fd, &info) != 0 || info.st_size < 0)
        return true;
    uint64_t before = file->size_bytes;
    file->size_bytes = (uint64_t)info.st_size;
    file->is_unlinked = info.st_nlink == 0;
    bool is_same = file->size_bytes >= file->offset;
    if (is_same && file->size_bytes != before && file->head_len > 0)
        is_same = tts_hostfile_reread(file->fd, (char *)head, file->head_len) ==
                      (ssize_t)file->head_len &&
                  memcmp(head, file->head, file->head_len) == 0;
    if (!is_same) {
        file->offset = 0;
        file->head_len = 0;
    }
    return is_same;
}

/* Returns whether all bytes of a file are read. */
static bool is_read_up(const struct followed *file)
{
    return file->fd < 0 || file->offset >= file->size_bytes;
}

/* Reads the next bytes of a file. Returns their number; 0 at the end of the file. */
static size_t read_followed(struct followed *file, char *piece, size_t max)
{
    ssize_t got;
    do
        got = pread(file->fd, piece, max, (off_t)file->offset);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return 0;
    size_t room = HEAD_BYTES - file->head_len;
    size_t kept = (size_t)got < room ? (size_t)got : room;
    memcpy(file->head + file->head_len, piece, kept);
    file->head_len += kept;
    file->offset += (size_t)got;
    return (size_t)got;
}

/* --- search ----------------------------------------------------------------------------- */

/* A name of the log of buffers. */
struct log_name {
    char path[PATH_MAX];
    size_t dir_len; /* of the path up to the last slash */
};

/* Returns whether a path, without " (deleted)", is the path of a log of buffers. */
static bool parse_log_path(struct tts_span path, struct log_name *out)
{
    if (!tts_span_ends(path, "/" BUFFERS_NAME) || path.len >= sizeof out->path)
        return false;
    struct tts_span dir = {path.at, path.len - strlen("/" BUFFERS_NAME)};
    struct tts_span last = dir;
    while (last.len > 0 && tts_is_digit(last.at[last.len - 1]))
        last.len--;
    /* A run of several ranks has a directory for each rank. */
    bool is_rank = last.len < dir.len && tts_span_ends(last, "/_rank_");
    if (!is_rank && !tts_span_ends(dir, "/" LOG_DIR))
        return false;
    memcpy(out->path, path.at, path.len);
    out->path[path.len] = '\0';
    out->dir_len = dir.len;
    return true;
}

/* Cuts " (deleted)" from the end, which the kernel appends if a file has no name any more. */
static bool cut_deleted(struct tts_span *path)
{
    if (!tts_span_ends(*path, DELETED))
        return false;
    path->len -= strlen(DELETED);
    return true;
}

/* A file that the process has open. */
struct open_log {
    char name[TTS_NUMBER_MAX + sizeof "fd/"]; /* "fd/7"; "" if there is none */
    bool is_deleted;
};

struct log_search {
    struct log_name found; /* of the log of buffers */
    struct open_log buffers, meshes;
};

static void note_open_log(struct open_log *log, const char *name, bool is_deleted)
{
    /* A log that still has its name is newer. */
    if (log->name[0] != '\0' && is_deleted)
        return;
    snprintf(log->name, sizeof log->name, "fd/%.*s", TTS_NUMBER_MAX, name);
    log->is_deleted = is_deleted;
}

/* Looks at one open file. In the second round, the directory of the log is known. */
static void check_open_file(int fds, const char *name, bool is_second,
                            struct log_search *search)
{
    char target[PATH_MAX];
    struct log_name found;
    ssize_t len = readlinkat(fds, name, target, sizeof target);
    struct tts_span path = {target, len > 0 ? (size_t)len : 0};
    bool is_deleted = cut_deleted(&path);
    if (!is_second && parse_log_path(path, &found)) {
        if (search->buffers.name[0] == '\0' || !is_deleted)
            search->found = found;
        note_open_log(&search->buffers, name, is_deleted);
    }
    size_t dir_len = search->found.dir_len;
    if (is_second && path.len == dir_len + strlen("/" MESHES_NAME) &&
        memcmp(path.at, search->found.path, dir_len) == 0 &&
        tts_span_ends(path, "/" MESHES_NAME))
        note_open_log(&search->meshes, name, is_deleted);
}

enum open_files { OPEN_FOUND, OPEN_NONE, OPEN_UNKNOWN, OPEN_TOO_MANY };

/* Looks at all files that the process has open. Returns OPEN_UNKNOWN if the files cannot be
 * listed. */
static enum open_files list_open_files(int proc_dir, bool is_second, struct log_search *search)
{
    int fd = openat(proc_dir, "fd", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *fds = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    int count = 0;
    if (!fds) {
        if (fd >= 0)
            close(fd);
        return OPEN_UNKNOWN;
    }
    errno = 0;
    for (; count < LOG_FDS_MAX && (entry = readdir(fds)); count++) {
        check_open_file(fd, entry->d_name, is_second, search);
        errno = 0;
    }
    enum open_files unfound = count == LOG_FDS_MAX ? OPEN_TOO_MANY
                              : errno == 0         ? OPEN_NONE
                                                   : OPEN_UNKNOWN;
    closedir(fds);
    return search->buffers.name[0] != '\0' ? OPEN_FOUND : unfound;
}

/* Looks for the log among the files that the process has open. */
static enum open_files search_open_files(int proc_dir, struct log_search *search)
{
    search->buffers = (struct open_log){.name = ""};
    search->meshes = (struct open_log){.name = ""};
    search->found.dir_len = 0;
    enum open_files found = list_open_files(proc_dir, false, search);
    return found == OPEN_FOUND ? list_open_files(proc_dir, true, search) : found;
}

/* Finds the value of TT_METAL_LOGS_PATH in the environment that the process began with. Returns
 * an empty span if the variable is not set. `memory` has ENVIRON_BYTES bytes. */
static struct tts_span find_logs_path(int proc_dir, char *memory)
{
    static const char name[] = "TT_METAL_LOGS_PATH=";
    ssize_t got = tts_hostfile_read(proc_dir, "environ", memory, ENVIRON_BYTES);
    size_t len = got > 0 ? (size_t)got : 0;
    for (size_t at = 0; at < len;) {
        const char *end = memchr(memory + at, '\0', len - at);
        if (!end)
            break; /* the value may be cut off */
        struct tts_span entry = {memory + at, (size_t)(end - memory) - at};
        if (tts_span_begins(entry, name))
            return (struct tts_span){entry.at + sizeof name - 1, entry.len - (sizeof name - 1)};
        at += entry.len + 1;
    }
    return (struct tts_span){"", 0};
}

/* Makes the name of the log from the environment or the current directory of the process.
 * Returns false if neither the environment nor the directory can be read. */
static bool guess_log_name(const struct tts_alloc *alloc, int proc_dir, struct log_name *out)
{
    char cwd[PATH_MAX], path[PATH_MAX];
    char *memory = alloc->alloc(alloc->ctx, ENVIRON_BYTES);
    struct tts_span logs = {"", 0};
    if (memory)
        logs = find_logs_path(proc_dir, memory);
    ssize_t got = readlinkat(proc_dir, "cwd", cwd, sizeof cwd);
    int cwd_len = got > 0 && got < PATH_MAX ? (int)got : 0;
    bool is_absolute = tts_span_begins(logs, "/");
    int len = -1;
    if (logs.len < PATH_MAX && (is_absolute || cwd_len > 0))
        len = snprintf(path, sizeof path, "%.*s%s%.*s/" LOG_DIR "/" BUFFERS_NAME,
                       is_absolute ? 0 : cwd_len, cwd, is_absolute ? "" : "/", (int)logs.len,
                       logs.at);
    if (memory)
        alloc->free(alloc->ctx, memory, ENVIRON_BYTES);
    return len > 0 && len < PATH_MAX &&
           parse_log_path((struct tts_span){path, (size_t)len}, out);
}

/* Opens a file in the directory of the log, below the root of the process. */
static int open_beside_log(int root_dir, const struct log_name *log, const char *name,
                           struct stat *info)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%.*s/%s", (int)log->dir_len, log->path, name);
    if (root_dir < 0 || len < 0 || len >= PATH_MAX)
        return -1;
    return tts_hostfile_open_beneath(root_dir, path, info);
}

/* Reads when the runtime that wrote the log started. */
static void read_startup(int root_dir, const struct log_name *log, struct tts_startuplog *out)
{
    char text[STARTUP_BYTES];
    struct stat info;
    int fd = open_beside_log(root_dir, log, "startup.yaml", &info);
    *out = (struct tts_startuplog){.is_known = false};
    if (fd < 0)
        return;
    ssize_t got = tts_hostfile_reread(fd, text, sizeof text);
    close(fd);
    tts_startuplog_parse(text, got > 0 ? (size_t)got : 0, out);
}

enum log_owner { LOG_OWN, LOG_OF_OTHER, LOG_UNSURE };

/* Judges a file that was found by its name. The directory may have the log of a process that
 * ended: then the file, or the runtime that wrote the file, is older than the process. A
 * runtime that started later can be that of another process. */
static enum log_owner judge_named_log(const struct stat *info,
                                      const struct tts_startuplog *startup,
                                      const struct tts_seenprocess *process)
{
    uint64_t changed_ns =
        (uint64_t)info->st_mtim.tv_sec * SECOND_NS + (uint64_t)info->st_mtim.tv_nsec;
    if (process->uid_known && info->st_uid != process->uid)
        return LOG_OF_OTHER;
    if (!process->start_known)
        return LOG_UNSURE;
    if (changed_ns < process->start_ns ||
        (startup->is_known && startup->system_ns + START_SLACK_NS < process->start_ns))
        return LOG_OF_OTHER;
    bool is_soon =
        startup->is_known && startup->system_ns <= process->start_ns + STARTUP_MAX_NS;
    return is_soon ? LOG_OWN : LOG_UNSURE;
}

/* Forgets the contents of the logs. Makes the readers of the logs if there are none. */
static enum tts_status reset_inspector_logs(struct tts_inspector *inspector)
{
    const struct tts_alloc *alloc = inspector->alloc;
    if (!inspector->meshes)
        inspector->meshes = alloc->alloc(alloc->ctx, sizeof *inspector->meshes);
    if (!inspector->meshes)
        return TTS_E_NOMEM;
    memset(inspector->meshes, 0, sizeof *inspector->meshes);
    if (!inspector->buffers)
        return tts_bufferlog_new(alloc, &inspector->buffers, NULL);
    tts_bufferlog_reset(inspector->buffers);
    return TTS_OK;
}

/* Follows the files beside the log of buffers. */
static void follow_beside(struct tts_inspector *inspector, int proc_dir,
                          const struct log_search *search)
{
    struct stat beside;
    int root_dir = tts_hostfile_open_dir(proc_dir, "root");
    int meshes = -1;
    if (search->meshes.name[0] != '\0')
        meshes = tts_hostfile_open_linked(proc_dir, search->meshes.name, &beside);
    else if (!search->buffers.is_deleted)
        meshes = open_beside_log(root_dir, &search->found, MESHES_NAME, &beside);
    if (meshes >= 0)
        follow_log_file(&inspector->meshes_file, meshes, &beside);
    if (!search->buffers.is_deleted)
        read_startup(root_dir, &search->found, &inspector->startup);
    if (root_dir >= 0)
        close(root_dir);
}

/* Starts to follow the log of buffers in `fd`, and the files beside it. Takes `fd`. */
static enum tts_status adopt_logs(struct tts_inspector *inspector, int proc_dir,
                                  const struct log_search *search, int fd,
                                  const struct stat *info)
{
    struct followed *file = &inspector->buffers_file;
    bool is_new = file->fd < 0 || file->device != info->st_dev || file->inode != info->st_ino;
    if (is_new && reset_inspector_logs(inspector) != TTS_OK) {
        close(fd);
        return TTS_E_NOMEM;
    }
    if (is_new) {
        follow_log_file(file, fd, info);
        close_followed(&inspector->meshes_file);
        inspector->startup.is_known = false;
        inspector->wait_seconds = 0;
    } else {
        close(fd);
    }
    if (inspector->meshes_file.fd < 0)
        follow_beside(inspector, proc_dir, search);
    return TTS_OK;
}

/* Opens the log by its name. Returns the descriptor, or -1. */
static int open_named_log(struct tts_inspector *inspector, int proc_dir,
                          const struct tts_seenprocess *process, struct log_search *search,
                          struct stat *info)
{
    struct tts_startuplog startup;
    if (!guess_log_name(inspector->alloc, proc_dir, &search->found))
        return -1;
    int root_dir = tts_hostfile_open_dir(proc_dir, "root");
    int fd = open_beside_log(root_dir, &search->found, BUFFERS_NAME, info);
    read_startup(root_dir, &search->found, &startup);
    if (root_dir >= 0)
        close(root_dir);
    if (fd < 0)
        return -1;
    enum log_owner owner = judge_named_log(info, &startup, process);
    inspector->is_unsure = owner == LOG_UNSURE;
    if (owner == LOG_OWN)
        return fd;
    close(fd);
    return -1;
}

static enum tts_status search_logs(struct tts_inspector *inspector, int proc_dir,
                                   const struct tts_seenprocess *process)
{
    struct log_search search;
    struct stat info;
    int fd = -1;
    enum open_files found = search_open_files(proc_dir, &search);
    inspector->is_unsure = false;
    if (found == OPEN_FOUND) {
        fd = tts_hostfile_open_linked(proc_dir, search.buffers.name, &info);
        inspector->is_open_file = inspector->is_open_file || fd >= 0;
    } else if (found != OPEN_NONE) {
        fd = open_named_log(inspector, proc_dir, process, &search, &info);
        /* A runtime keeps its log open, but not all open files were looked at. */
        if (found == OPEN_TOO_MANY && fd >= 0) {
            inspector->is_unsure = true;
            close(fd);
            fd = -1;
        }
    } /* else no log: the runtime keeps its log open */
    return fd < 0 ? TTS_OK : adopt_logs(inspector, proc_dir, &search, fd, &info);
}

/* Searches if there is no log, or a log that may have been replaced, unless the last search is
 * too recent. */
static enum tts_status search_if_due(struct tts_inspector *inspector, int proc_dir,
                                     const struct tts_seenprocess *process, uint64_t now_ns)
{
    const struct followed *file = &inspector->buffers_file;
    bool is_settled = file->fd >= 0 && !file->is_unlinked && inspector->meshes_file.fd >= 0;
    uint64_t waited_ns = now_ns - inspector->search_ns;
    if (is_settled ||
        (inspector->wait_seconds > 0 && waited_ns < inspector->wait_seconds * SECOND_NS))
        return TTS_OK;
    inspector->search_ns = now_ns;
    inspector->wait_seconds = inspector->wait_seconds ? 2 * inspector->wait_seconds : 1;
    if (inspector->wait_seconds > WAIT_SECONDS_MAX)
        inspector->wait_seconds = WAIT_SECONDS_MAX;
    return search_logs(inspector, proc_dir, process);
}

/* --- reading ---------------------------------------------------------------------------- */

static void read_mesh_log(struct tts_inspector *inspector, uint64_t max_bytes)
{
    struct followed *file = &inspector->meshes_file;
    char piece[PIECE_BYTES];
    size_t got = 1;
    if (file->fd < 0)
        return;
    if (!look_at_followed(file))
        memset(inspector->meshes, 0, sizeof *inspector->meshes);
    for (uint64_t left = max_bytes; left > 0 && got > 0 && !is_read_up(file); left -= got) {
        got = read_followed(file, piece, left < sizeof piece ? (size_t)left : sizeof piece);
        tts_meshlog_feed(inspector->meshes, piece, got);
    }
}

static void read_buffer_log(struct tts_inspector *inspector, uint64_t max_bytes)
{
    struct followed *file = &inspector->buffers_file;
    char piece[PIECE_BYTES];
    size_t got = 1;
    if (!look_at_followed(file))
        tts_bufferlog_reset(inspector->buffers);
    for (uint64_t left = max_bytes; left > 0 && got > 0 && !is_read_up(file); left -= got) {
        got = read_followed(file, piece, left < sizeof piece ? (size_t)left : sizeof piece);
        tts_bufferlog_feed(inspector->buffers, piece, got);
    }
}

enum tts_status tts_inspector_read(struct tts_inspector *inspector, int proc_dir,
                                   const struct tts_seenprocess *process, uint64_t now_ns,
                                   uint64_t max_bytes)
{
    enum tts_status status = search_if_due(inspector, proc_dir, process, now_ns);
    if (status != TTS_OK)
        return status;
    if (inspector->buffers_file.fd < 0)
        return TTS_E_NOT_FOUND;
    read_mesh_log(inspector, max_bytes);
    read_buffer_log(inspector, max_bytes);
    return TTS_OK;
}

bool tts_inspector_has_more(const struct tts_inspector *inspector)
{
    return !is_read_up(&inspector->buffers_file) || !is_read_up(&inspector->meshes_file);
}

void tts_inspector_fill(struct tts_inspector *inspector, struct tts_seenbuffers *out)
{
    uint64_t clock_ns = 0;
    tts_bufferlog_fill(inspector->buffers, out);
    tts_meshlog_fill(inspector->meshes, out);
    /* Bytes that are not read yet may change everything. */
    out->is_complete = out->is_complete && is_read_up(&inspector->buffers_file);
    out->devices_known = out->devices_known && is_read_up(&inspector->meshes_file);
    out->update_known =
        inspector->startup.is_known && tts_bufferlog_last_event(inspector->buffers, &clock_ns);
    out->update_ns =
        out->update_known
            ? clock_ns + (inspector->startup.system_ns - inspector->startup.clock_ns)
            : 0;
}

bool tts_inspector_is_same(const struct tts_inspector *a, const struct tts_inspector *b)
{
    return a->buffers_file.fd >= 0 && b->buffers_file.fd >= 0 &&
           a->buffers_file.device == b->buffers_file.device &&
           a->buffers_file.inode == b->buffers_file.inode;
}

bool tts_inspector_is_open_file(const struct tts_inspector *inspector)
{
    return inspector->is_open_file;
}

bool tts_inspector_is_unsure(const struct tts_inspector *inspector)
{
    return inspector->is_unsure;
}
