#include "serve/serverpeer.h"

#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PIDFD_OPEN = 434, /* the system call, on every architecture since Linux 5.3 */
    PEER_PIDFD = 77,  /* SO_PEERPIDFD, since Linux 6.5 */
    PARENT_FIELD = 4,
    START_FIELD = 22,
    GENERATIONS_MAX = 16,
};

/* Reads a file of a process as a terminated text. */
static bool read_peer_text(uint32_t pid, const char *name, char *out, size_t capacity)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, out, capacity - 1);
    close(fd);
    out[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static bool parse_peer_number(const char *text, uint64_t *out)
{
    return tts_number_parse(text, strspn(text, "0123456789"), out) == TTS_OK;
}

/* Reads a field of a stat file, counted after the name, which may hold any characters. */
static bool parse_stat_field(const char *stat_text, int field, uint64_t *out)
{
    const char *at = strrchr(stat_text, ')');
    for (int i = 2; at && i < field; i++)
        at = strchr(at + 1, ' ');
    return at && parse_peer_number(at + 1, out);
}

/* Reads the number of the process in its own pid namespace, the last of the line NSpid. */
static uint32_t parse_inside_pid(const char *status_text, uint32_t pid)
{
    uint64_t inside;
    const char *at = strstr(status_text, "\nNSpid:");
    if (!at)
        return pid;
    const char *end = at + 1 + strcspn(at + 1, "\n");
    while (end > at && end[-1] >= '0' && end[-1] <= '9')
        end--;
    return parse_peer_number(end, &inside) && inside <= UINT32_MAX ? (uint32_t)inside : pid;
}

static bool read_identity(uint32_t pid, struct tts_serverpeer *peer)
{
    struct tts_clientidentity *identity = &peer->identity;
    char text[16384], path[64];
    uint64_t parent;
    struct stat info;
    if (!read_peer_text(pid, "stat", text, sizeof text) ||
        !parse_stat_field(text, START_FIELD, &identity->start_ticks) ||
        !parse_stat_field(text, PARENT_FIELD, &parent))
        return false;
    peer->parent = (uint32_t)parent;
    if (!read_peer_text(pid, "status", text, sizeof text))
        return false;
    identity->pid = parse_inside_pid(text, pid);
    if (!read_peer_text(pid, "comm", identity->comm, sizeof identity->comm))
        return false;
    identity->comm[strcspn(identity->comm, "\n")] = '\0';
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/ns/pid", pid);
    if (stat(path, &info) == 0)
        identity->pid_namespace = info.st_ino;
    snprintf(path, sizeof path, "/proc/%" PRIu32, pid);
    if (stat(path, &info) == 0)
        identity->uid = info.st_uid;
    return true;
}

bool tts_serverpeer_has_ended(int pidfd)
{
    struct pollfd poll_fd = {.fd = pidfd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) > 0;
}

/* Reads the identity while the descriptor shows that the number is still that of the process.
 */
static void fill_peer(uint32_t pid, int pidfd, bool is_gone, struct tts_serverpeer *out)
{
    *out = (struct tts_serverpeer){.pid = pid, .identity.pid = pid, .pidfd = pidfd};
    if (pid == 0 || is_gone)
        return;
    struct tts_serverpeer found = *out;
    if (read_identity(pid, &found) && (pidfd < 0 || !tts_serverpeer_has_ended(pidfd))) {
        *out = found;
        out->is_known = true;
    }
}

void tts_serverpeer_look(uint32_t pid, struct tts_serverpeer *out)
{
    int pidfd = pid > 0 ? (int)syscall(PIDFD_OPEN, (pid_t)pid, 0) : -1;
    fill_peer(pid, pidfd, false, out);
}

void tts_serverpeer_of_socket(int fd, struct tts_serverpeer *out, uint32_t *uid)
{
    struct ucred peer = {.uid = UINT32_MAX};
    socklen_t len = sizeof peer;
    int pidfd = -1;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
        peer.pid = 0;
    *uid = peer.uid;
    uint32_t pid = peer.pid > 0 ? (uint32_t)peer.pid : 0;
    len = sizeof pidfd;
    if (getsockopt(fd, SOL_SOCKET, PEER_PIDFD, &pidfd, &len) == 0)
        fill_peer(pid, pidfd, false, out);
    else if (errno == ENOPROTOOPT)
        tts_serverpeer_look(pid, out);
    else
        fill_peer(pid, -1, true, out); /* the process has ended */
}

bool tts_serverpeer_descends(uint32_t child, uint32_t parent)
{
    char text[4096];
    uint64_t at = child;
    for (int i = 0; i < GENERATIONS_MAX && at > 1; i++) {
        if (!read_peer_text((uint32_t)at, "stat", text, sizeof text) ||
            !parse_stat_field(text, PARENT_FIELD, &at))
            return false;
        if (at == parent)
            return true;
    }
    return false;
}
