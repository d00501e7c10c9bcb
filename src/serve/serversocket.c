#include "serve/serversocket.h"

#include "base/error.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 4096, LOCK_TRIES = 200 };
#define LOCK_PAUSE_NS (10L * 1000 * 1000)

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

/* Refuses the socket of another user. `is_dead`: nobody listens there; otherwise only this user
 * and root can find out. */
static enum tts_status refuse_foreign(struct tts_error *err, const char *path, uid_t owner,
                                      bool is_dead)
{
    return tts_error_set(err, TTS_E_BUSY,
                         is_dead ? "cannot listen at '%.54s': a server of user %lu left this "
                                   "socket (remove it as this user or root, or give another "
                                   "'--socket')"
                                 : "cannot listen at '%.54s': the socket of user %lu may be in "
                                   "use (end its server as this user or root, or give another "
                                   "'--socket')",
                         path, (unsigned long)owner);
}

/* Locks the directory of the path, so that of two servers that start at the same time one sees
 * the other. The lock ends with its descriptor and leaves no file. Some directories cannot be
 * locked, and any user may hold such a lock for long: then the server starts without the lock.
 * Returns the descriptor, or -1. */
static int lock_directory(const char *path)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
    char directory[sizeof((struct sockaddr_un){0}.sun_path) + 2];
    const char *name = strrchr(path, '/');
    snprintf(directory, sizeof directory, "%.*s", name ? (int)(name - path) + 1 : 1,
             name ? path : ".");
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        nanosleep(&pause, NULL);
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Connects to the path. Returns 0 or an errno value. */
static int try_path(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    int reason =
        connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ? 0 : errno;
    close(fd);
    return reason;
}

/* Looks for a server at the path, of any kind. Sets *is_dead if a server that has ended left a
 * socket of *owner there. */
static enum tts_status look_at_path(const struct sockaddr_un *address, bool *is_dead,
                                    uid_t *owner, struct tts_error *err)
{
    const char *path = address->sun_path;
    struct stat info;
    *is_dead = false;
    if (lstat(path, &info) != 0)
        return errno == ENOENT ? TTS_OK : refuse_path(err, TTS_E_IO, errno, path);
    if (!S_ISSOCK(info.st_mode))
        return tts_error_set(err, TTS_E_INVALID,
                             "cannot listen at '%.80s': a file of another kind has this name",
                             path);
    int reason = try_path(address);
    if (reason == 0 || reason == EAGAIN)
        return refuse_live(err, path);
    if (reason == EACCES && info.st_uid != geteuid())
        return refuse_foreign(err, path, info.st_uid, false);
    if (reason != ECONNREFUSED && reason != ENOENT)
        return refuse_path(err, TTS_E_IO, reason, path);
    *is_dead = reason == ECONNREFUSED;
    *owner = info.st_uid;
    return TTS_OK;
}

/* Makes room for a socket at the path: removes the socket of a server that has ended. */
static enum tts_status clear_path(const struct sockaddr_un *address, struct tts_error *err)
{
    const char *path = address->sun_path;
    bool is_dead;
    uid_t owner;
    enum tts_status status = look_at_path(address, &is_dead, &owner, err);
    if (status != TTS_OK || !is_dead || unlink(path) == 0 || errno == ENOENT)
        return status;
    if ((errno == EPERM || errno == EACCES) && owner != geteuid())
        return refuse_foreign(err, path, owner, true);
    return refuse_path(err, TTS_E_IO, errno, path);
}

/* Sets the mode of a file through a descriptor of its path. fchmod() refuses such a descriptor,
 * and chmod() with the path would follow a link that replaced the file. Returns 0 or an errno
 * value. */
static int set_path_mode(int fd, mode_t mode)
{
    char name[sizeof "/proc/self/fd/" + TTS_NUMBER_MAX];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return chmod(name, mode) == 0 ? 0 : errno;
}

/* Notes which file the socket is, and sets its mode. In a directory of others, another file can
 * have replaced the socket. Returns 0 or an errno value. */
static int adopt_socket_file(struct tts_serversocket *socket_at, mode_t mode)
{
    const char *path = socket_at->address.sun_path;
    struct stat info, opened;
    if (lstat(path, &info) != 0)
        return errno;
    if (!S_ISSOCK(info.st_mode) || info.st_uid != geteuid())
        return EEXIST;
    socket_at->file_device = info.st_dev;
    socket_at->file_inode = info.st_ino;
    if ((info.st_mode & 0777) == mode)
        return 0;
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno;
    bool is_same =
        fstat(fd, &opened) == 0 && opened.st_dev == info.st_dev && opened.st_ino == info.st_ino;
    int reason = is_same ? set_path_mode(fd, mode) : EEXIST;
    close(fd);
    return reason;
}

/* Returns 0 or an errno value. */
static int listen_at(struct tts_serversocket *socket_at, bool allows_others)
{
    const struct sockaddr_un *address = &socket_at->address;
    socket_at->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The mode of the socket limits the mode of its file, so that no other user can connect
     * before the mode of the file is set. */
    if (socket_at->fd < 0 || fchmod(socket_at->fd, 0600) != 0 ||
        bind(socket_at->fd, (const struct sockaddr *)address, sizeof *address) != 0)
        return errno;
    int reason = adopt_socket_file(socket_at, allows_others ? 0666 : 0600);
    if (reason != 0)
        return reason;
    return listen(socket_at->fd, BACKLOG) == 0 ? 0 : errno;
}

static enum tts_status make_address(const char *path, struct sockaddr_un *out,
                                    struct tts_error *err)
{
    size_t len = strlen(path);
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (len == 0 || len >= sizeof out->sun_path)
        return tts_error_set(
            err, TTS_E_RANGE,
            "cannot listen at '%.80s': the path of a socket has 1 to %zu bytes", path,
            sizeof out->sun_path - 1);
    memcpy(out->sun_path, path, len + 1);
    return TTS_OK;
}

enum tts_status tts_serversocket_check(const char *path, struct tts_error *err)
{
    struct sockaddr_un address;
    bool is_dead;
    uid_t owner;
    enum tts_status status = make_address(path, &address, err);
    return status == TTS_OK ? look_at_path(&address, &is_dead, &owner, err) : status;
}

enum tts_status tts_serversocket_open(const char *path, bool allows_others,
                                      struct tts_serversocket *out, struct tts_error *err)
{
    struct tts_serversocket made = {.fd = -1};
    enum tts_status status = make_address(path, &made.address, err);
    if (status != TTS_OK)
        return status;
    int lock_fd = lock_directory(path);
    status = clear_path(&made.address, err);
    if (status == TTS_OK) {
        int reason = listen_at(&made, allows_others);
        status = reason == 0 ? TTS_OK : refuse_path(err, TTS_E_IO, reason, path);
    }
    if (lock_fd >= 0)
        close(lock_fd);
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
    *socket = (struct tts_serversocket){.fd = -1};
}

int tts_serversocket_accept(const struct tts_serversocket *socket)
{
    return accept4(socket->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}
