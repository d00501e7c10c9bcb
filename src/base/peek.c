#include "base/peek.h"

#include <fcntl.h>
#include <unistd.h>

ssize_t tts_peek_pipe(int fd, void *out, size_t size)
{
    int copy[2];
    if (pipe2(copy, O_CLOEXEC) != 0)
        return -1;
    ssize_t len = tee(fd, copy[1], size, 0);
    if (len > 0)
        len = read(copy[0], out, size);
    close(copy[0]);
    close(copy[1]);
    return len;
}
