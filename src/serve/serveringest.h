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
    /* Receives a message for the user, lower case, without a full stop; may be NULL. */
    void (*note)(void *ctx, const char *text);
    void *ctx;
};

TTS_NODISCARD enum tts_status
tts_serveringest_open(const struct tts_serveringest_config *config,
                      const struct tts_alloc *alloc, struct tts_serveringest **out,
                      struct tts_error *err);
/* Closes the connections and removes the regions. NULL is allowed. */
void tts_serveringest_close(struct tts_serveringest *ingest);

/* Makes room for one more connection. Returns 0, EUSERS if there are too many, or ENOMEM: then
 * accept none, because a client whose connection is closed is killed at its next event. */
int tts_serveringest_reserve(struct tts_serveringest *ingest);
/* Takes a new connection. Call this only after tts_serveringest_reserve(). */
void tts_serveringest_add(struct tts_serveringest *ingest, int fd);

/* Event numbers of other owners of the epoll descriptor are below this. */
#define TTS_SERVERINGEST_EVENT (UINT64_C(1) << 32)
/* Handles one event of epoll. Returns the number of bytes received. */
size_t tts_serveringest_event(struct tts_serveringest *ingest, uint64_t number,
                              uint32_t events);
/* Receives from connections that epoll cannot watch, and tries again to watch them. Returns
 * whether there are any; then call this again soon. */
bool tts_serveringest_poll(struct tts_serveringest *ingest);
/* Publishes what has changed. Returns whether there was anything. Regions that cannot be made
 * are tried again from time to time, and noted once. */
bool tts_serveringest_publish(struct tts_serveringest *ingest);

/* Returns whether a live process with this number sends frames. `ctx` is the ingest. */
bool tts_serveringest_is_sender(void *ctx, uint32_t pid);
/* Returns the number of connections, and adds the bytes that were no frames to *skipped. */
uint64_t tts_serveringest_counts(const struct tts_serveringest *ingest, uint64_t *skipped);

/* Returns how many connections and processes have ended. Each end makes room for another
 * connection. */
uint64_t tts_serveringest_ends(const struct tts_serveringest *ingest);

/* For the end of the server: receives and drops the bytes of all connections until all peers
 * have closed. Call this in a process that does nothing else. */
void tts_serveringest_drain(struct tts_serveringest *ingest);
