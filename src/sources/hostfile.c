#include "sources/hostfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, READ_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

int tts_hostfile_open_dir(int dir, const char *name)
{
    return openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int tts_hostfile_open_root(const char *root, const char *path)
{
    char full[PATH_BYTES];
    int wanted = snprintf(full, sizeof full, "%s%s", root, path);
    if (wanted < 0 || wanted >= PATH_BYTES) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return tts_hostfile_open_dir(AT_FDCWD, full);
}

int tts_hostfile_open(int dir, const char *name)
{
    struct stat info;
    if (fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return -1;
    if (!S_ISREG(info.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    return openat(dir, name, READ_FLAGS | O_NOFOLLOW);
}

/* Opens the file that `pinned` (O_PATH) stands for, if it is a regular file. Closes `pinned`.
 */
static int open_pinned_file(int pinned, struct stat *info)
{
    char path[64];
    int fd = -1, reason = EINVAL;
    if (pinned < 0)
        return -1;
    if (fstat(pinned, info) != 0) {
        reason = errno;
    } else if (S_ISREG(info->st_mode)) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", pinned);
        fd = open(path, READ_FLAGS);
        reason = errno;
    }
    close(pinned);
    errno = reason;
    return fd;
}

int tts_hostfile_open_linked(int dir, const char *name, struct stat *info)
{
    return open_pinned_file(openat(dir, name, O_PATH | O_CLOEXEC), info);
}

int tts_hostfile_open_beneath(int dir, const char *path, struct stat *info)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    return open_pinned_file((int)syscall(SYS_openat2, dir, path, &how, sizeof how), info);
}

ssize_t tts_hostfile_reread(int fd, char *out, size_t size)
{
    size_t len = 0;
    while (len < size) {
        ssize_t got = pread(fd, out + len, size - len, (off_t)len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        len += (size_t)got;
    }
    return (ssize_t)len;
}

ssize_t tts_hostfile_read(int dir, const char *name, char *out, size_t size)
{
    int fd = tts_hostfile_open(dir, name);
    if (fd < 0)
        return -1;
    ssize_t len = tts_hostfile_reread(fd, out, size);
    close(fd);
    return len;
}

void tts_keptfile_close(struct tts_keptfile *file)
{
    if (file->fd_1 > 0)
        close(file->fd_1 - 1);
    file->fd_1 = 0;
}

ssize_t tts_keptfile_read(struct tts_keptfile *file, int dir, const char *name, char *out,
                          size_t size)
{
    struct stat info;
    if (file->fd_1 > 0 && fstat(file->fd_1 - 1, &info) == 0 && info.st_nlink > 0) {
        ssize_t len = tts_hostfile_reread(file->fd_1 - 1, out, size);
        if (len >= 0)
            return len;
    }
    tts_keptfile_close(file);
    file->fd_1 = tts_hostfile_open(dir, name) + 1;
    return file->fd_1 > 0 ? tts_hostfile_reread(file->fd_1 - 1, out, size) : -1;
}
