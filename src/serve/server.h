/* server.h: the allocation server: one loop over the socket (serversocket.h), its connections
 * (serveringest.h), the programs that publish (serverrings.h) and the host (serverhost.h). It
 * prints (serverprint.h) and hands each event to another sink, such as a recording.
 *
 * The loop never waits for a client, a terminal or a disk, and for files of the host at most 5
 * ms at a time. docs/design/serve.md has the rules.
 *
 * Ownership: heap object of the caller. Threads: the thread that opens the server runs it.
 * Signals: from open to close, SIGINT, SIGTERM, SIGHUP and SIGUSR1 are blocked and belong to
 * the server, and SIGPIPE is ignored. A signal that the process ignored before stays ignored.
 */
#pragma once

#include "model/live/serverevent.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

struct tts_server;

struct tts_server_config {
    const char *socket_path; /* all pointers are borrowed */
    const char *root;        /* put before /dev/shm, /proc and /sys of the live sources */
    const uint32_t *uids;    /* users that may connect beside root and the own user */
    size_t uid_count;
    int output_fd;
    bool is_quiet; /* prints no lines of events */
    bool is_json, is_utf8;
    struct tts_serversink recorder; /* its function may be NULL */
    /* Receives a message for the user: lower case, without a full stop. */
    void (*note)(void *ctx, const char *text);
    void *ctx;
};

/* Returns the statuses of tts_serversocket_open(), TTS_E_IO or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_server_open(const struct tts_server_config *config,
                                              const struct tts_alloc *alloc,
                                              struct tts_server **out, struct tts_error *err);
/* Serves until SIGINT, SIGTERM or SIGHUP. Returns TTS_OK, or TTS_E_IO if the last output could
 * not be written. */
TTS_NODISCARD enum tts_status tts_server_run(struct tts_server *server, struct tts_error *err);
/* Stops listening, removes what the server made, and closes the connections. NULL is allowed.
 */
void tts_server_close(struct tts_server *server);

/* Returns the number of peers that are connected. If the server closed their connections, those
 * that send without MSG_NOSIGNAL would be killed by SIGPIPE. */
uint64_t tts_server_peers(const struct tts_server *server);
/* For a child of a fork, which ends afterwards: keeps the connections open, and drops their
 * bytes, until all peers have closed. */
void tts_server_drain(struct tts_server *server);
