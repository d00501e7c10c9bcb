#include "capture/recorder_file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

/* --- making ----------------------------------------------------------------------------- */

/* Returns errno. A pipe or a device cannot be mapped and must not be replaced. */
static int refuse(mode_t mode)
{
    if (mode == 0 || S_ISREG(mode))
        return 0;
    return S_ISDIR(mode) ? EISDIR : EINVAL;
}

enum tts_status tts_recorder_file_make(struct tts_recorder_file *file, const char *path,
                                       struct tts_error *err)
{
    mode_t mode;
    file->fd = -1;
    file->is_named = false;
    int reason = tts_beside_resolve(path, file->path, &mode);
    if (reason == 0)
        reason = refuse(mode);
    if (reason == 0)
        reason = tts_beside_create(file->path, O_RDWR, file->temporary, &file->fd);
    if (reason == 0 && mode != 0 && fchmod(file->fd, mode & 0777) != 0) {
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
