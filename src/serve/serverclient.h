/* serverclient.h: one connection of the allocation server: finds frames in the bytes of the
 * peer, and keeps replies until the peer reads them.
 *
 * A connection stays open until the peer closes: a peer that sends without MSG_NOSIGNAL would
 * be killed by SIGPIPE. The bytes of a peer that is not heard (another user, or garbage only)
 * are read and dropped.
 *
 * Ownership: the caller owns the struct. Threads: one thread at a time. Memory: fixed, and
 * replies of at most TTS_SERVERCLIENT_REPLY_MAX bytes while the peer does not read them. */
#pragma once

#include "ttscope/alloc.h"
#include "wire/frame.h"

enum {
    TTS_SERVERCLIENT_REST_MAX = 2 * TTS_FRAME_BYTES_MAX,
    TTS_SERVERCLIENT_RECEIVE_BYTES = 1 << 18,
    TTS_SERVERCLIENT_REPLY_MAX = 1 << 16,
    TTS_SERVERCLIENT_GARBAGE_MAX = 1 << 20, /* a peer is not heard after so many bytes */
};

/* Memory for receiving, shared by all connections: rest, then new bytes. */
struct tts_serverroom {
    unsigned char bytes[TTS_SERVERCLIENT_REST_MAX + TTS_SERVERCLIENT_RECEIVE_BYTES];
};

struct tts_serverclient {
    int fd; /* non-blocking; -1: none, as in tests */
    bool is_ignored;
    bool has_ended;   /* the peer has closed */
    bool has_stalled; /* the peer did not read its replies, and some were left out */
    bool ends_replies;
    struct tts_framestream stream;
    uint16_t rest_bytes;
    unsigned char rest[TTS_SERVERCLIENT_REST_MAX]; /* bytes that wait for more bytes */
    unsigned char *reply;
    uint32_t reply_bytes, reply_sent;
    const struct tts_alloc *alloc;
};

/* Receives each frame. */
struct tts_serverframes {
    void (*take)(void *ctx, const struct tts_frame *frame);
    void *ctx;
};

/* Starts with an open descriptor, which the struct owns from here on. */
void tts_serverclient_init(struct tts_serverclient *client, int fd,
                           const struct tts_alloc *alloc);
void tts_serverclient_release(struct tts_serverclient *client);

/* Receives once and takes the frames. Returns the number of received bytes. 0: the peer has
 * sent no more so far, or has ended. */
size_t tts_serverclient_receive(struct tts_serverclient *client, struct tts_serverroom *room,
                                const struct tts_serverframes *frames);
/* Takes the frames of bytes that were put to room->bytes + client->rest_bytes. `is_drained`
 * says that the peer has sent no more so far. */
void tts_serverclient_take(struct tts_serverclient *client, struct tts_serverroom *room,
                           size_t len, bool is_drained, const struct tts_serverframes *frames);

/* Sends a reply, or keeps it until the peer reads. A reply beyond the maximum is dropped. */
void tts_serverclient_reply(struct tts_serverclient *client, const unsigned char *bytes,
                            size_t len);
/* Sends what was kept. */
void tts_serverclient_send(struct tts_serverclient *client);
/* Ends the direction to the peer after the replies. The peer may still send. */
void tts_serverclient_end_replies(struct tts_serverclient *client);
/* Returns whether replies wait for the peer. */
bool tts_serverclient_is_waiting(const struct tts_serverclient *client);
