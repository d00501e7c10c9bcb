#include "capture/recorder_file.h"

#include "base/error.h"
#include "capture/recorder_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- error messages --------------------------------------------------------------------- */

static const char *advice(int sys_errno)
{
    switch (sys_errno) {
    case ENOENT:
    case ENOTDIR:
        return "make the directory first";
    case EISDIR:
        return "name a file in this directory";
    case EACCES:
    case EPERM:
    case EROFS:
        return "give a path that may be written";
    case ENOSPC:
    case EDQUOT:
        return "free some space, or record to another disk";
    case EFBIG:
        return "raise the limit with 'ulimit -f'";
    case ENAMETOOLONG:
        return "give a shorter path";
    case EMFILE:
    case ENFILE:
        return "close other files first";
    default:
        return "record to another file";
    }
}

/* Returns at most the last 64 bytes of a path, so that the message around the path is not cut
 * off. The end is kept, because it says more than the beginning. */
static const char *tail(const char *path)
{
    enum { SHOWN = 64 };
    size_t len = strlen(path);
    return len > SHOWN ? path + len - SHOWN : path;
}

enum tts_status tts_recorder_file_error(struct tts_error *err, int sys_errno, const char *path,
                                        bool has_begun)
{
    enum tts_status status = sys_errno == ENOMEM ? TTS_E_NOMEM : TTS_E_IO;
    const char *shown = tail(path);
    return tts_error_set_errno(err, status, sys_errno, "%s '%s%s' (%s)",
                               has_begun ? "stopped recording to" : "cannot record to",
                               shown == path ? "" : "...", shown, advice(sys_errno));
}

static enum tts_status file_busy(struct tts_error *err, const char *path)
{
    const char *shown = tail(path);
    return tts_error_set(
        err, TTS_E_BUSY,
        "'%s%s' is in use by another recorder: give each recorder its own path "
        "(%%p: process id, %%r: rank)",
        shown == path ? "" : "...", shown);
}

/* --- locks ------------------------------------------------------------------------------ */

/* A recorder locks its file before the file gets its final name, and holds the lock until the
 * recorder ends. Only the holder of the lock on the file at a path may replace that file. The
 * system releases the lock when the process ends. */

enum { LOOKS_MAX = 100 }; /* attempts to lock a path whose file keeps changing */

/* Locks the file. Returns false if another recorder has the lock. On a file system without
 * locks, always returns true. */
static bool lock_file(int fd)
{
    int status;
    do
        status = flock(fd, LOCK_EX | LOCK_NB);
    while (status != 0 && errno == EINTR);
    return status == 0 || errno != EWOULDBLOCK;
}

/* Unlocks and closes the file. Closing alone is not enough, because a child process may have a
 * copy of the descriptor. */
static void unlock_file(int *fd)
{
    if (*fd < 0)
        return;
    flock(*fd, LOCK_UN);
    close(*fd);
    *fd = -1;
}

static bool is_at_path(int fd, const char *path)
{
    struct stat at, there;
    return fstat(fd, &at) == 0 && stat(path, &there) == 0 && at.st_dev == there.st_dev &&
           at.st_ino == there.st_ino;
}

/* Locks the file that is now at the path, if there is one. Returns 0 or an errno value, which
 * is EWOULDBLOCK if another recorder has the lock. */
static int lock_before(struct tts_recorder_file *file)
{
    for (int i = 0; i < LOOKS_MAX; i++) {
        int fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
            return errno == ENOENT ? 0 : errno;
        bool is_locked = lock_file(fd);
        bool is_there = is_at_path(fd, file->path);
        if (is_there && !is_locked) {
            close(fd);
            return EWOULDBLOCK;
        }
        file->before_fd = fd;
        if (is_there)
            return 0;
        unlock_file(&file->before_fd); /* the path now refers to another file */
    }
    return EWOULDBLOCK;
}

/* --- creation --------------------------------------------------------------------------- */

/* Returns an errno value if the file cannot be recorded to, otherwise 0. A pipe or a device
 * cannot be mapped and must not be replaced. */
static int refuse(mode_t mode)
{
    if (mode == 0 || S_ISREG(mode))
        return 0;
    return S_ISDIR(mode) ? EISDIR : EINVAL;
}

/* Makes and locks the new file. Returns 0 or an errno value. */
static int make_locked(struct tts_recorder_file *file, mode_t mode)
{
    int reason = mode != 0 ? lock_before(file) : 0;
    if (reason == 0)
        reason = tts_beside_open(file->path, O_RDWR, &file->fd);
    if (reason == EOPNOTSUPP) /* if the process is killed now, the temporary name stays */
        reason = tts_beside_create(file->path, O_RDWR, 0666, file->temporary, &file->fd);
    if (reason != 0)
        return reason;
    if (!lock_file(file->fd) || (mode != 0 && fchmod(file->fd, mode & 0777) != 0))
        return errno;
    return 0;
}

enum tts_status tts_recorder_file_make(struct tts_recorder_file *file, const char *path,
                                       struct tts_error *err)
{
    mode_t mode;
    char expanded[TTS_PATH_MAX];
    *file = (struct tts_recorder_file){.fd = -1, .before_fd = -1};
    enum tts_status status = tts_recorder_path_expand(path, expanded, err);
    if (status != TTS_OK)
        return status;
    int reason = tts_beside_resolve(expanded, file->path, &mode);
    if (reason == 0)
        reason = refuse(mode);
    if (reason == 0)
        reason = make_locked(file, mode);
    if (reason == 0)
        return TTS_OK;
    tts_recorder_file_close(file, false);
    return reason == EWOULDBLOCK ? file_busy(err, expanded)
                                 : tts_recorder_file_error(err, reason, expanded, false);
}

/* --- naming ----------------------------------------------------------------------------- */

/* Gives the file its name if no file has that name. Returns 0 or an errno value. */
static int name_new(struct tts_recorder_file *file)
{
    if (!file->temporary[0])
        return tts_beside_link(file->fd, file->path);
    if (link(file->temporary, file->path) == 0) {
        unlink(file->temporary);
        return 0;
    }
    if (errno == EEXIST)
        return EEXIST;
    /* The file system has no hard links. Two recorders that begin at the same time may both get
     * here; the last one wins. */
    return rename(file->temporary, file->path) == 0 ? 0 : errno;
}

/* Replaces the locked file. The system cannot replace a file by a file without a name, so the
 * old file is removed first. If the process is killed between the two calls, neither file
 * exists. The alternative is a temporary name for the new file, but a killed process would
 * leave this name in the directory. Returns 0 or an errno value. */
static int name_replacing(struct tts_recorder_file *file)
{
    if (!is_at_path(file->before_fd, file->path))
        return EEXIST; /* another file has the name now */
    if (file->temporary[0])
        return rename(file->temporary, file->path) == 0 ? 0 : errno;
    if (unlink(file->path) != 0 && errno != ENOENT)
        return errno;
    return tts_beside_link(file->fd, file->path);
}

/* Gives the file its name. Returns 0 or an errno value. */
static int name_file(struct tts_recorder_file *file)
{
    for (int i = 0; i < LOOKS_MAX; i++) {
        int reason = file->before_fd >= 0 ? name_replacing(file) : name_new(file);
        if (reason != EEXIST)
            return reason;
        unlock_file(&file->before_fd);
        reason = lock_before(file); /* another process was faster */
        if (reason != 0)
            return reason;
    }
    return EWOULDBLOCK;
}

enum tts_status tts_recorder_file_name(struct tts_recorder_file *file, struct tts_error *err)
{
    int reason = name_file(file);
    if (reason == EWOULDBLOCK)
        return file_busy(err, file->path);
    if (reason != 0)
        return tts_recorder_file_error(err, reason, file->path, false);
    file->is_named = true;
    unlock_file(&file->before_fd); /* another file has the name now */
    return TTS_OK;
}

int tts_recorder_file_close(struct tts_recorder_file *file, bool is_child)
{
    int reason = 0;
    unlock_file(&file->before_fd);
    if (file->fd < 0)
        return 0;
    if (!file->is_named && file->temporary[0])
        unlink(file->temporary);
    if (!is_child)
        flock(file->fd, LOCK_UN);
    if (close(file->fd) != 0)
        reason = errno;
    file->fd = -1;
    return reason;
}
