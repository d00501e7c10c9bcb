#include "capture/recorder_file.h"

#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what to do about it ---------------------------------------------------------------- */

static const char *advice(int sys_errno)
{
    switch (sys_errno) {
    case ENOENT:
    case ENOTDIR:
        return "make its directory first";
    case EISDIR:
        return "name a file in it";
    case EACCES:
    case EPERM:
    case EROFS:
        return "give one that may be written";
    case ENOSPC:
    case EDQUOT:
        return "make room or record elsewhere";
    case EFBIG:
        return "raise the limit (ulimit -f)";
    case ENAMETOOLONG:
        return "shorten it";
    case EMFILE:
    case ENFILE:
        return "close other files first";
    default:
        return "record elsewhere";
    }
}

/* The path is cut before the rest is: its end says the most. */
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
    return tts_error_set_errno(err, status, sys_errno, "%s '%s%s', %s",
                               has_begun ? "stopped recording to" : "cannot record to",
                               shown == path ? "" : "...", shown, advice(sys_errno));
}

static_assert(TTS_PATH_MAX >= PATH_MAX, "what realpath() writes");

/* --- making ----------------------------------------------------------------------------- */

static int copy_path(char out[TTS_PATH_MAX], const char *path)
{
    size_t len = strnlen(path, TTS_PATH_MAX);
    if (len == TTS_PATH_MAX)
        return ENAMETOOLONG;
    memcpy(out, path, len + 1);
    return 0;
}

/* Where it will stand, and the permissions of what stands there. Returns errno. */
static int resolve(const char *path, char out[TTS_PATH_MAX], mode_t *mode)
{
    struct stat info;
    *mode = 0;
    if (stat(path, &info) != 0) {
        int reason = errno;
        bool is_new = reason == ENOENT && path[0] && lstat(path, &info) != 0;
        return is_new ? copy_path(out, path) : reason; /* not through a link to nothing */
    }
    if (S_ISDIR(info.st_mode))
        return EISDIR;
    if (!S_ISREG(info.st_mode))
        return EINVAL; /* a pipe, a device: it cannot be mapped and must not be replaced */
    if (access(path, W_OK) != 0 || !realpath(path, out))
        return errno;
    *mode = info.st_mode & 0777;
    return 0;
}

enum tts_status tts_recorder_file_make(struct tts_recorder_file *file, const char *path,
                                       struct tts_error *err)
{
    mode_t mode;
    file->fd = -1;
    file->is_named = false;
    int reason = resolve(path, file->path, &mode);
    if (reason == 0)
        reason = tts_beside_create(file->path, O_RDWR, file->temporary, &file->fd);
    if (reason == 0 && mode != 0 && fchmod(file->fd, mode) != 0) {
        reason = errno;
        tts_recorder_file_close(file);
    }
    return reason == 0 ? TTS_OK : tts_recorder_file_error(err, reason, path, false);
}

enum tts_status tts_recorder_file_name(struct tts_recorder_file *file, struct tts_error *err)
{
    if (rename(file->temporary, file->path) != 0)
        return tts_recorder_file_error(err, errno, file->path, false);
    file->is_named = true;
    return TTS_OK;
}

int tts_recorder_file_close(struct tts_recorder_file *file)
{
    if (!file->is_named)
        unlink(file->temporary);
    return close(file->fd) == 0 ? 0 : errno;
}
