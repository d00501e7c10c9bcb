#include "sources/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { COPY_BYTES = 1 << 16 };

/* What there is, 0 behind the last. Negative: errno says why. */
static ssize_t read_some(int fd, unsigned char *out, size_t len)
{
    ssize_t n;
    do
        n = read(fd, out, len);
    while (n < 0 && errno == EINTR);
    return n;
}

ssize_t tts_spool_read(int fd, unsigned char *out, size_t len)
{
    size_t have = 0;
    while (have < len) {
        ssize_t n = read_some(fd, out + have, len - have);
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

static bool write_all(int fd, const unsigned char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* Some file systems make no file without a name: there one is made, and its name taken away. */
static int unnamed_file(void)
{
    char path[PATH_MAX];
    const char *dir = getenv("TMPDIR");
    dir = dir && *dir ? dir : "/tmp";
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    if ((size_t)snprintf(path, sizeof path, "%s/ttscope-XXXXXX", dir) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

int tts_spool(int fd, const unsigned char *head, size_t len,
              const struct tts_eventfile_watch *watch)
{
    unsigned char bytes[COPY_BYTES];
    uint64_t done = len;
    int copy = unnamed_file();
    if (copy < 0)
        return -1;
    bool ok = write_all(copy, head, len);
    ssize_t n = 0;
    while (ok && (n = read_some(fd, bytes, sizeof bytes)) > 0) {
        ok = write_all(copy, bytes, (size_t)n);
        done += (uint64_t)n;
        if (watch->fn)
            watch->fn(watch->ctx, done);
    }
    if (ok && n == 0)
        return copy;
    int sys_errno = errno;
    close(copy);
    errno = sys_errno;
    return -1;
}
