#include "serve/serverclient.h"

#include "base/heap.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void tts_serverclient_init(struct tts_serverclient *client, int fd,
                           const struct tts_alloc *alloc)
{
    *client = (struct tts_serverclient){.fd = fd, .alloc = alloc ? alloc : tts_alloc_libc()};
}

static void drop_replies(struct tts_serverclient *client)
{
    if (client->reply)
        client->alloc->free(client->alloc->ctx, client->reply, TTS_SERVERCLIENT_REPLY_MAX);
    client->reply = NULL;
    client->reply_bytes = 0;
    client->reply_sent = 0;
}

void tts_serverclient_release(struct tts_serverclient *client)
{
    drop_replies(client);
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
}

/* --- frames ----------------------------------------------------------------------------- */

void tts_serverclient_take(struct tts_serverclient *client, struct tts_serverroom *room,
                           size_t len, bool is_drained, const struct tts_serverframes *frames)
{
    const unsigned char *at = room->bytes, *end = at + client->rest_bytes + len;
    struct tts_frame frame;
    bool has_frame;
    size_t used = 1;
    memcpy(room->bytes, client->rest, client->rest_bytes);
    while (at < end && !client->is_ignored && used > 0) {
        used = tts_framestream_next(&client->stream, at, (size_t)(end - at), is_drained, &frame,
                                    &has_frame);
        at += used;
        if (has_frame)
            frames->take(frames->ctx, &frame);
        else if (client->stream.frames == 0 &&
                 client->stream.skipped_bytes > TTS_SERVERCLIENT_GARBAGE_MAX)
            client->is_ignored = true;
    }
    client->rest_bytes = client->is_ignored ? 0 : (uint16_t)(end - at);
    assert(client->rest_bytes < TTS_SERVERCLIENT_REST_MAX);
    memcpy(client->rest, at, client->rest_bytes);
}

size_t tts_serverclient_receive(struct tts_serverclient *client, struct tts_serverroom *room,
                                const struct tts_serverframes *frames)
{
    ssize_t got =
        recv(client->fd, room->bytes + client->rest_bytes, TTS_SERVERCLIENT_RECEIVE_BYTES, 0);
    size_t len = got > 0 ? (size_t)got : 0;
    client->has_ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    if (client->is_ignored)
        return len;
    tts_serverclient_take(client, room, len, len < TTS_SERVERCLIENT_RECEIVE_BYTES, frames);
    return len;
}

/* --- replies ---------------------------------------------------------------------------- */

void tts_serverclient_send(struct tts_serverclient *client)
{
    while (client->reply_sent < client->reply_bytes) {
        ssize_t done = send(client->fd, client->reply + client->reply_sent,
                            client->reply_bytes - client->reply_sent, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EAGAIN)
            return;
        if (done <= 0)
            break; /* the peer takes no replies any more */
        client->reply_sent += (uint32_t)done;
    }
    drop_replies(client);
    if (client->ends_replies)
        shutdown(client->fd, SHUT_WR);
}

/* Keeps the bytes that the peer does not take now. A reply that has no room is left out. */
static void keep_reply(struct tts_serverclient *client, const unsigned char *bytes, size_t len)
{
    if (!client->reply)
        client->reply = client->alloc->alloc(client->alloc->ctx, TTS_SERVERCLIENT_REPLY_MAX);
    if (!client->reply || len > TTS_SERVERCLIENT_REPLY_MAX - client->reply_bytes) {
        client->has_stalled = true;
        return;
    }
    memcpy(client->reply + client->reply_bytes, bytes, len);
    client->reply_bytes += (uint32_t)len;
}

void tts_serverclient_reply(struct tts_serverclient *client, const unsigned char *bytes,
                            size_t len)
{
    if (client->reply) {
        keep_reply(client, bytes, len);
        return;
    }
    ssize_t done = client->fd >= 0 ? send(client->fd, bytes, len, MSG_NOSIGNAL) : -1;
    if (done < 0 && errno != EAGAIN && errno != EINTR)
        return;
    size_t sent = done > 0 ? (size_t)done : 0;
    if (sent < len)
        keep_reply(client, bytes + sent, len - sent);
}

void tts_serverclient_end_replies(struct tts_serverclient *client)
{
    client->ends_replies = true;
    if (!client->reply && client->fd >= 0)
        shutdown(client->fd, SHUT_WR);
}

bool tts_serverclient_is_waiting(const struct tts_serverclient *client)
{
    return client->reply != NULL;
}
