/* serveringest.h: the connections of the allocation server and the processes behind them: takes
 * frames into the registry, notices the end of each process, and publishes a region for each.
 *
 * A process is known by the number that the kernel gives for its connection, by its start time,
 * and by the number that its frames claim. A process in another pid namespace claims another
 * number, and both are kept. The child of a fork sends on the connection of its parent, and is
 * a process of its own. A process ends with its last connection, or when its pidfd says so,
 * after all frames that it sent were taken.
 *
 * Ownership: heap object of the caller. Threads: one thread at a time. Memory is bounded. */
#pragma once

#include "serve/serverclient.h"
#include "serve/serverpeer.h"
#include "serve/serverregistry.h"

struct tts_serveringest;

enum {
    TTS_SERVERINGEST_CONNECTIONS_MAX = 1 << 14,
    TTS_SERVERINGEST_CLAIMS_MAX = 64, /* processes of one connection */
};

struct tts_serveringest_config {
    int epoll_fd; /* borrowed; the events carry numbers for tts_serveringest_event() */
    struct tts_serverregistry *registry;     /* borrowed */
    const char *directory;                   /* of the regions, borrowed; NULL: no regions */
    const struct tts_clientidentity *server; /* this process, borrowed */
    const uint32_t *uids; /* users that are heard beside root and the own user; borrowed */
    size_t uid_count;
    /* Receives each frame that is a request. */
    void (*request)(void *ctx, struct tts_serverclient *client, const struct tts_frame *frame);
    void *ctx;
};

TTS_NODISCARD enum tts_status
tts_serveringest_open(const struct tts_serveringest_config *config,
                      const struct tts_alloc *alloc, struct tts_serveringest **out,
                      struct tts_error *err);
/* Closes the connections and removes the regions. NULL is allowed. */
void tts_serveringest_close(struct tts_serveringest *ingest);

/* Takes a new connection. A connection that cannot be kept is closed: there is no memory, or
 * there are too many. Call this only if tts_serveringest_has_room(). */
void tts_serveringest_add(struct tts_serveringest *ingest, int fd);
bool tts_serveringest_has_room(const struct tts_serveringest *ingest);

/* Event numbers of other owners of the epoll descriptor are below this. */
#define TTS_SERVERINGEST_EVENT (UINT64_C(1) << 32)
/* Handles one event of epoll. Returns the number of bytes received. */
size_t tts_serveringest_event(struct tts_serveringest *ingest, uint64_t number,
                              uint32_t events);
/* Publishes what has changed. Returns whether there was anything. */
bool tts_serveringest_publish(struct tts_serveringest *ingest);

/* Returns whether a live process with this number sends frames. `ctx` is the ingest. */
bool tts_serveringest_is_sender(void *ctx, uint32_t pid);
/* Returns the number of connections, and adds the bytes that were no frames to *skipped. */
uint64_t tts_serveringest_counts(const struct tts_serveringest *ingest, uint64_t *skipped);

/* For the end of the server: receives and drops the bytes of all connections until all peers
 * have closed. Call this in a process that does nothing else. */
void tts_serveringest_drain(struct tts_serveringest *ingest);
