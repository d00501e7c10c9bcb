#include "base/beside.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_TRIED = 100 };
static_assert(TTS_PATH_MAX >= PATH_MAX, "what realpath() writes");

int tts_beside_create(const char *final, int access, mode_t mode, char temporary[TTS_PATH_MAX],
                      int *fd)
{
    const char *slash = strrchr(final, '/');
    int directory_len = slash ? (int)(slash - final) + 1 : 0;
    for (int i = 0; i < NAMES_TRIED; i++) {
        int len = snprintf(temporary, TTS_PATH_MAX, "%.*s.ttscope-%ld-%d", directory_len, final,
                           (long)getpid(), i);
        if (len < 0 || len >= TTS_PATH_MAX)
            return ENAMETOOLONG;
        *fd = open(temporary, access | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (*fd >= 0)
            return 0;
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}

enum { FD_NAME_MAX = 40 };

static void fd_name(char out[FD_NAME_MAX], int fd)
{
    snprintf(out, FD_NAME_MAX, "/proc/self/fd/%d", fd);
}

int tts_beside_open(const char *final, int access_mode, int *fd)
{
    char directory[TTS_PATH_MAX], name[FD_NAME_MAX];
    const char *slash = strrchr(final, '/');
    int len = slash ? (int)(slash - final) + 1 : 0;
    if (len >= TTS_PATH_MAX)
        return ENAMETOOLONG;
    snprintf(directory, sizeof directory, "%.*s", len ? len : 1, len ? final : ".");
    *fd = open(directory, access_mode | O_TMPFILE | O_CLOEXEC, 0666);
    /* A kernel that does not know O_TMPFILE tries to open the directory, which fails. */
    if (*fd < 0)
        return errno == EISDIR || errno == EINVAL ? EOPNOTSUPP : errno;
    fd_name(name, *fd);
    if (access(name, F_OK) == 0)
        return 0;
    close(*fd);
    *fd = -1;
    return EOPNOTSUPP;
}

int tts_beside_link(int fd, const char *final)
{
    char name[FD_NAME_MAX];
    fd_name(name, fd);
    return linkat(AT_FDCWD, name, AT_FDCWD, final, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

static int copy_path(char out[TTS_PATH_MAX], const char *path)
{
    size_t len = strnlen(path, TTS_PATH_MAX);
    if (len == TTS_PATH_MAX)
        return ENAMETOOLONG;
    memcpy(out, path, len + 1);
    return 0;
}

static int resolve_once(const char *path, char final[TTS_PATH_MAX], mode_t *mode)
{
    struct stat info;
    *mode = 0;
    if (stat(path, &info) != 0) {
        int reason = errno;
        if (reason != ENOENT || !path[0])
            return reason;
        if (lstat(path, &info) != 0)
            return copy_path(final, path);
        /* If `path` is a link, its file does not exist, so there is no mode. */
        if (!S_ISLNK(info.st_mode))
            *mode = info.st_mode;
        return ENOENT;
    }
    *mode = info.st_mode;
    if (!S_ISREG(info.st_mode))
        return 0;
    return access(path, W_OK) == 0 && realpath(path, final) ? 0 : errno;
}

/* Repeats the check if the file appeared or disappeared during the check. The sign of this is a
 * contradiction: there is a mode, but the result is ENOENT. */
int tts_beside_resolve(const char *path, char final[TTS_PATH_MAX], mode_t *mode)
{
    int reason = ENOENT;
    for (int i = 0; i < NAMES_TRIED; i++) {
        reason = resolve_once(path, final, mode);
        if (reason != ENOENT || *mode == 0)
            break;
    }
    return reason;
}
