/* plain_server.h: the published design of an allocation server, for comparison: a Unix stream
 * socket, a thread for each connection, one frame per event and no reply. The server counts
 * frames and bytes and keeps nothing. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The frame of the second generation, 112 bytes. */
struct plain_frame {
    uint8_t type;
    uint8_t padding[3];
    int32_t device;
    uint64_t size;
    uint8_t pool;
    uint8_t more_padding[3];
    int32_t pid;
    uint64_t id, time_ns;
    uint64_t tail[9];
};

enum { PLAIN_CONNECTIONS_MAX = 64 };

struct plain_server {
    char path[64];
    int listen_fd;
    pthread_t acceptor;
    pthread_t threads[PLAIN_CONNECTIONS_MAX];
    uint32_t connections;
    uint64_t frames; /* valid after plain_server_close(), if the clients closed before */
};

/* Returns false if the server cannot be made. */
bool plain_server_open(struct plain_server *server);
/* Call after all clients have closed. Removes the socket. */
void plain_server_close(struct plain_server *server);

struct plain_client {
    int fd;
    int32_t pid;
    pthread_mutex_t mutex;
};

bool plain_client_open(struct plain_client *client, const struct plain_server *server);
bool plain_client_send(struct plain_client *client, const struct plain_frame *frame);
void plain_client_close(struct plain_client *client);
