#include "serve/serversocket.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKLOG = 4096 };

static enum tts_status refuse_path(struct tts_error *err, enum tts_status status, int reason,
                                   const char *path)
{
    return tts_error_set_errno(err, status, reason, "cannot listen at '%.80s'", path);
}

static enum tts_status refuse_live(struct tts_error *err, const char *path)
{
    return tts_error_set(err, TTS_E_BUSY,
                         "another server listens at '%.80s' (end it, or give another path with "
                         "'--socket')",
                         path);
}

/* Takes the lock of the path. The file stays when the server ends: if it were removed, a third
 * server could lock a new file while a second one waits for the old one. */
static enum tts_status take_lock(struct tts_serversocket *socket, struct tts_error *err)
{
    char path[sizeof socket->address.sun_path + sizeof ".lock"];
    snprintf(path, sizeof path, "%s.lock", socket->address.sun_path);
    socket->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (socket->lock_fd < 0)
        return refuse_path(err, TTS_E_IO, errno, path);
    if (flock(socket->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return TTS_OK;
    return errno == EWOULDBLOCK ? refuse_live(err, socket->address.sun_path)
                                : refuse_path(err, TTS_E_IO, errno, path);
}

/* Looks for a server at the path that takes no such lock, as the published one. */
static enum tts_status probe_path(const struct tts_serversocket *socket_at,
                                  struct tts_error *err)
{
    const char *path = socket_at->address.sun_path;
    struct stat info;
    if (lstat(path, &info) != 0)
        return errno == ENOENT ? TTS_OK : refuse_path(err, TTS_E_IO, errno, path);
    if (!S_ISSOCK(info.st_mode))
        return tts_error_set(err, TTS_E_INVALID,
                             "cannot listen at '%.80s': a file of another kind has this name",
                             path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return refuse_path(err, TTS_E_IO, errno, path);
    int done =
        connect(fd, (const struct sockaddr *)&socket_at->address, sizeof socket_at->address);
    int reason = done == 0 ? 0 : errno;
    close(fd);
    if (reason == 0 || reason == EAGAIN)
        return refuse_live(err, path);
    if (reason != ECONNREFUSED && reason != ENOENT)
        return refuse_path(err, TTS_E_IO, reason, path);
    if (reason == ECONNREFUSED && unlink(path) != 0 && errno != ENOENT)
        return refuse_path(err, TTS_E_IO, errno, path);
    return TTS_OK;
}

/* Returns 0 or an errno value. */
static int listen_at(struct tts_serversocket *socket_at, bool allows_others)
{
    const struct sockaddr_un *address = &socket_at->address;
    struct stat info;
    socket_at->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The mode of the socket limits the mode of its file, so that no other user can connect
     * before a chmod(). */
    if (socket_at->fd < 0 || fchmod(socket_at->fd, 0600) != 0 ||
        bind(socket_at->fd, (const struct sockaddr *)address, sizeof *address) != 0)
        return errno;
    if (lstat(address->sun_path, &info) != 0 ||
        chmod(address->sun_path, allows_others ? 0666 : 0600) != 0 ||
        listen(socket_at->fd, BACKLOG) != 0)
        return errno;
    socket_at->file_device = info.st_dev;
    socket_at->file_inode = info.st_ino;
    return 0;
}

enum tts_status tts_serversocket_open(const char *path, bool allows_others,
                                      struct tts_serversocket *out, struct tts_error *err)
{
    struct tts_serversocket made = {.fd = -1, .lock_fd = -1, .address.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof made.address.sun_path)
        return tts_error_set(
            err, TTS_E_RANGE,
            "cannot listen at '%.80s': the path of a socket has 1 to %zu bytes", path,
            sizeof made.address.sun_path - 1);
    memcpy(made.address.sun_path, path, len + 1);
    enum tts_status status = take_lock(&made, err);
    if (status == TTS_OK)
        status = probe_path(&made, err);
    if (status == TTS_OK) {
        int reason = listen_at(&made, allows_others);
        status = reason == 0 ? TTS_OK : refuse_path(err, TTS_E_IO, reason, path);
    }
    if (status == TTS_OK)
        *out = made;
    else
        tts_serversocket_close(&made);
    return status;
}

void tts_serversocket_close(struct tts_serversocket *socket)
{
    struct stat there;
    if (socket->file_inode != 0 && lstat(socket->address.sun_path, &there) == 0 &&
        there.st_dev == socket->file_device && there.st_ino == socket->file_inode)
        unlink(socket->address.sun_path);
    if (socket->fd >= 0)
        close(socket->fd);
    if (socket->lock_fd >= 0)
        close(socket->lock_fd);
    *socket = (struct tts_serversocket){.fd = -1, .lock_fd = -1};
}

int tts_serversocket_accept(const struct tts_serversocket *socket)
{
    return accept4(socket->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}
