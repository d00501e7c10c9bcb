#include "plain_server.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static_assert(sizeof(struct plain_frame) == 112, "the size of the second generation");

struct plain_connection {
    struct plain_server *server;
    int fd;
};

static void *serve_connection(void *ctx)
{
    struct plain_connection connection = *(struct plain_connection *)ctx;
    struct plain_frame frame;
    uint64_t frames = 0;
    __atomic_store_n(&((struct plain_connection *)ctx)->fd, -1, __ATOMIC_RELEASE);
    while (recv(connection.fd, &frame, sizeof frame, MSG_WAITALL) == sizeof frame)
        frames++;
    close(connection.fd);
    __atomic_fetch_add(&connection.server->frames, frames, __ATOMIC_RELAXED);
    return NULL;
}

static void *accept_connections(void *ctx)
{
    struct plain_server *server = ctx;
    while (server->connections < PLAIN_CONNECTIONS_MAX) {
        struct plain_connection connection = {server, accept(server->listen_fd, NULL, NULL)};
        if (connection.fd < 0 || pthread_create(&server->threads[server->connections], NULL,
                                                serve_connection, &connection) != 0)
            break;
        server->connections++;
        while (__atomic_load_n(&connection.fd, __ATOMIC_ACQUIRE) >= 0)
            usleep(100); /* until the thread has copied the connection */
    }
    return NULL;
}

static struct sockaddr_un address_of(const struct plain_server *server)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, server->path, sizeof server->path);
    return address;
}

bool plain_server_open(struct plain_server *server)
{
    *server = (struct plain_server){.listen_fd = socket(AF_UNIX, SOCK_STREAM, 0)};
    snprintf(server->path, sizeof server->path, "/tmp/bench_live-%ld.sock", (long)getpid());
    struct sockaddr_un address = address_of(server);
    unlink(server->path);
    return server->listen_fd >= 0 &&
           bind(server->listen_fd, (struct sockaddr *)&address, sizeof address) == 0 &&
           listen(server->listen_fd, 128) == 0 &&
           pthread_create(&server->acceptor, NULL, accept_connections, server) == 0;
}

void plain_server_close(struct plain_server *server)
{
    shutdown(server->listen_fd, SHUT_RDWR);
    pthread_join(server->acceptor, NULL);
    for (uint32_t i = 0; i < server->connections; i++)
        pthread_join(server->threads[i], NULL);
    close(server->listen_fd);
    unlink(server->path);
}

bool plain_client_open(struct plain_client *client, const struct plain_server *server)
{
    struct sockaddr_un address = address_of(server);
    const int bytes = 1 << 20;
    pthread_mutex_init(&client->mutex, NULL);
    client->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    client->pid = (int32_t)getpid();
    return client->fd >= 0 &&
           setsockopt(client->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) == 0 &&
           connect(client->fd, (struct sockaddr *)&address, sizeof address) == 0;
}

bool plain_client_send(struct plain_client *client, const struct plain_frame *frame)
{
    pthread_mutex_lock(&client->mutex);
    ssize_t sent = send(client->fd, frame, sizeof *frame, MSG_NOSIGNAL);
    pthread_mutex_unlock(&client->mutex);
    return sent == (ssize_t)sizeof *frame;
}

void plain_client_close(struct plain_client *client)
{
    close(client->fd);
    pthread_mutex_destroy(&client->mutex);
}
