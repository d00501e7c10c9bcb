#include "harness/t.h"
#include "serve/serverclient.h"
#include "torture/heap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct tts_serverroom room;

struct taken {
    uint64_t count, ids;
};

static void take_frame(void *ctx, const struct tts_frame *frame)
{
    struct taken *taken = ctx;
    taken->count++;
    taken->ids += frame->id;
}

/* A client on one end of a pair of sockets; the test has the other end. */
static int make_client(struct tts_serverclient *client, const struct tts_alloc *alloc)
{
    int fds[2];
    T_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    tts_serverclient_init(client, fds[0], alloc);
    return fds[1];
}

static size_t put_alloc(unsigned char *bytes, enum tts_framekind kind, uint64_t id)
{
    const struct tts_frame frame = {.kind = kind,
                                    .type = TTS_FRAMETYPE_ALLOC,
                                    .pid = 7,
                                    .size_bytes = 4096,
                                    .id = id,
                                    .time_ns = 1};
    return tts_frame_encode(&frame, bytes);
}

static size_t receive(struct tts_serverclient *client, struct taken *taken)
{
    const struct tts_serverframes frames = {take_frame, taken};
    return tts_serverclient_receive(client, &room, &frames);
}

T_TEST(frames_of_each_size_arrive_in_any_pieces)
{
    for (enum tts_framekind kind = TTS_FRAMEKIND_P1; kind <= TTS_FRAMEKIND_P4; kind++)
        for (size_t piece = 1; piece < 400; piece += 37) {
            struct tts_serverclient client;
            struct taken taken = {0};
            unsigned char bytes[10 * TTS_FRAME_BYTES_MAX];
            size_t len = 0;
            int fd = make_client(&client, NULL);
            for (uint64_t i = 1; i <= 10; i++)
                len += put_alloc(bytes + len, kind, i);
            for (size_t at = 0; at < len; at += piece) {
                size_t part = piece < len - at ? piece : len - at;
                T_EQ(send(fd, bytes + at, part, 0), part);
                T_EQ(receive(&client, &taken), part);
                T_TRUE(!client.has_ended);
            }
            T_TRUE(taken.count == 10 && taken.ids == 55);
            T_EQ(receive(&client, &taken), 0);
            T_TRUE(!client.has_ended);
            close(fd);
            T_EQ(receive(&client, &taken), 0);
            T_TRUE(client.has_ended);
            tts_serverclient_release(&client);
        }
}

T_TEST(the_frames_of_a_peer_that_has_closed_are_taken_before_its_end)
{
    struct tts_serverclient client;
    struct taken taken = {0};
    unsigned char bytes[TTS_FRAME_BYTES_MAX];
    int fd = make_client(&client, NULL);
    size_t len = put_alloc(bytes, TTS_FRAMEKIND_P2, 5);
    T_EQ(send(fd, bytes, len, 0), len);
    close(fd);
    T_EQ(receive(&client, &taken), len);
    T_TRUE(taken.count == 1 && !client.has_ended);
    T_EQ(receive(&client, &taken), 0);
    T_TRUE(client.has_ended);
    tts_serverclient_release(&client);
}

T_TEST(a_peer_that_sends_garbage_only_is_read_and_ignored)
{
    struct tts_serverclient client;
    struct taken taken = {0};
    unsigned char garbage[4096], bytes[TTS_FRAME_BYTES_MAX];
    size_t all = 0;
    int fd = make_client(&client, NULL);
    memset(garbage, 0xee, sizeof garbage);
    while (!client.is_ignored && all < 4 * TTS_SERVERCLIENT_GARBAGE_MAX) {
        T_EQ(send(fd, garbage, sizeof garbage, MSG_NOSIGNAL), sizeof garbage);
        T_EQ(receive(&client, &taken), sizeof garbage);
        all += sizeof garbage;
    }
    T_TRUE(client.is_ignored && all > TTS_SERVERCLIENT_GARBAGE_MAX);
    size_t len = put_alloc(bytes, TTS_FRAMEKIND_P4, 5);
    T_EQ(send(fd, bytes, len, MSG_NOSIGNAL), len);
    T_EQ(receive(&client, &taken), len);
    T_TRUE(taken.count == 0 && !client.has_ended);
    close(fd);
    tts_serverclient_release(&client);
}

T_TEST(replies_wait_for_the_peer_up_to_a_maximum)
{
    struct tts_serverclient client;
    unsigned char reply[TTS_FRAME_BYTES_MAX], got[TTS_FRAME_BYTES_MAX];
    uint32_t sent = 0, read_count = 0;
    int fd = make_client(&client, NULL);
    while (!client.has_stalled && sent < 100000) {
        memset(reply, (int)(sent++ % 251), sizeof reply);
        tts_serverclient_reply(&client, reply, sizeof reply);
    }
    T_TRUE(client.has_stalled && tts_serverclient_is_waiting(&client));
    /* All replies but the last arrive whole, and in order. */
    for (ssize_t len; (len = recv(fd, got, sizeof got, 0)) > 0; read_count++) {
        while (len < (ssize_t)sizeof got) {
            tts_serverclient_send(&client);
            len += recv(fd, got + len, sizeof got - (size_t)len, 0);
        }
        T_TRUE(got[0] == read_count % 251 && got[sizeof got - 1] == read_count % 251);
        tts_serverclient_send(&client);
    }
    T_EQ(read_count, sent - 1);
    T_TRUE(!tts_serverclient_is_waiting(&client));
    close(fd);
    tts_serverclient_release(&client);
}

T_TEST(the_end_of_the_replies_comes_after_them_and_the_peer_may_still_send)
{
    struct tts_serverclient client;
    static unsigned char reply[48], got[48];
    uint32_t count = 0;
    int fd = make_client(&client, NULL);
    while (!tts_serverclient_is_waiting(&client))
        tts_serverclient_reply(&client, reply, sizeof reply), count++;
    tts_serverclient_end_replies(&client);
    for (ssize_t len; (len = recv(fd, got, sizeof got, 0)) != 0;) {
        tts_serverclient_send(&client);
        count -= len == (ssize_t)sizeof got;
    }
    T_EQ(count, 0);
    T_EQ(send(fd, reply, sizeof reply, MSG_NOSIGNAL), sizeof reply);
    close(fd);
    tts_serverclient_release(&client);
}

T_TEST(a_reply_without_memory_is_left_out)
{
    struct tts_serverclient client;
    struct heap heap;
    static unsigned char reply[4096];
    heap_init(&heap);
    heap.fail_at = 1;
    int fd = make_client(&client, &heap.alloc);
    for (int i = 0; i < 1000 && !client.has_stalled; i++)
        tts_serverclient_reply(&client, reply, sizeof reply);
    T_TRUE(client.has_stalled && !tts_serverclient_is_waiting(&client));
    close(fd);
    tts_serverclient_release(&client);
    T_TRUE(heap_is_settled(&heap));
}
