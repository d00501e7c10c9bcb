/* serversocket.h: the listening socket of the allocation server.
 *
 * Two servers never listen at the same path: a server refuses a path at which another server
 * accepts connections, and locks the directory while it starts, so that two servers that start
 * at the same time do not replace each other's socket. A socket that a dead server left is
 * replaced, if the system lets this user remove it. No other file is made. The socket has the
 * mode 0600, or 0666 if other users are allowed; then tts_serverpeer decides who is heard.
 *
 * Ownership: the caller owns the struct and closes it. Threads: one thread at a time. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

struct tts_serversocket {
    int fd; /* non-blocking */
    struct sockaddr_un address;
    dev_t file_device; /* identity of the socket file, so that only this file is removed */
    ino_t file_inode;
};

/* Returns TTS_E_BUSY if another server listens at the path, or if another user owns a socket
 * there that cannot be removed, TTS_E_RANGE if the path is too long
 * for a socket, TTS_E_INVALID if a file of another kind has this name, TTS_E_IO. `err` says
 * what to do. */
TTS_NODISCARD enum tts_status tts_serversocket_open(const char *path, bool allows_others,
                                                    struct tts_serversocket *out,
                                                    struct tts_error *err);
/* Returns the status with which an open would refuse the path now, as far as the open can know
 * before it changes anything. */
TTS_NODISCARD enum tts_status tts_serversocket_check(const char *path, struct tts_error *err);
/* Stops listening and removes the socket, unless another file has its name now. */
void tts_serversocket_close(struct tts_serversocket *socket);
/* Returns a new connection, or -1 and errno. */
int tts_serversocket_accept(const struct tts_serversocket *socket);
