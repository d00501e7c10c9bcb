#include "harness/host.h"
#include "harness/slow_heap.h"
#include "serve/server.h"
#include "serve/serversocket.h"
#include "wire/frame.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REPLY_MS = 5000 };

/* A server in a thread of its own. */
struct rig {
    struct slow_heap heap;
    struct tts_server_config config;
    pthread_t thread;
    sem_t is_open, is_full;
    sigset_t mask;
    enum tts_status status; /* of the thread, when it is not running */
};

static void note_full(void *ctx, const char *text)
{
    struct rig *rig = ctx;
    if (strstr(text, "new clients wait"))
        sem_post(&rig->is_full);
}

static void *run_server(void *ctx)
{
    struct rig *rig = ctx;
    struct tts_server *server;
    rig->heap.quick = pthread_self();
    rig->status = tts_server_open(&rig->config, &rig->heap.alloc, &server, NULL);
    sem_post(&rig->is_open);
    if (rig->status != TTS_OK)
        return NULL;
    rig->status = tts_server_run(server, NULL);
    tts_server_close(server);
    return NULL;
}

/* Prepares a server for a host whose reads wait. */
static void init_rig(struct rig *rig, const char *name)
{
    host_new_driver(name, "2.0.0");
    host_add_chip(0, "0x401e");
    slow_heap_init(&rig->heap);
    slow_heap_make_slow(&rig->heap);
    rig->config = (struct tts_server_config){.socket_path = host_path("socket"),
                                             .root = host_root,
                                             .output_fd = open("/dev/null", O_WRONLY),
                                             .is_quiet = true,
                                             .note = note_full,
                                             .ctx = rig};
    sem_init(&rig->is_open, 0, 0);
    sem_init(&rig->is_full, 0, 0);
}

static void start_server(struct rig *rig)
{
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    T_EQ(pthread_sigmask(SIG_BLOCK, &end, &rig->mask), 0); /* the server takes the signal */
    T_EQ(pthread_create(&rig->thread, NULL, run_server, rig), 0);
    T_TRUE(slow_heap_await(&rig->is_open));
}

static void end_server(struct rig *rig)
{
    sem_post(&rig->heap.go);
    T_EQ(kill(getpid(), SIGTERM), 0);
    T_EQ(pthread_join(rig->thread, NULL), 0);
    T_EQ(rig->status, TTS_OK);
    T_EQ(pthread_sigmask(SIG_SETMASK, &rig->mask, NULL), 0);
    close(rig->config.output_fd);
}

/* Connects and asks for the totals of device 0. */
static int ask_server(const struct rig *rig)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    unsigned char bytes[TTS_FRAME_BYTES_MAX];
    const struct tts_frame frame = {
        .kind = TTS_FRAMEKIND_P4, .type = TTS_FRAMETYPE_QUERY, .pid = getpid()};
    size_t len = tts_frame_encode(&frame, bytes);
    memcpy(address.sun_path, rig->config.socket_path, strlen(rig->config.socket_path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    T_EQ(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    T_EQ(send(fd, bytes, len, MSG_NOSIGNAL), len);
    return fd;
}

static bool has_reply(int fd, int wait_ms)
{
    struct pollfd reply = {.fd = fd, .events = POLLIN};
    return poll(&reply, 1, wait_ms) == 1;
}

T_TEST(a_client_that_waits_gets_the_place_of_another_during_a_read_of_the_host)
{
    static struct rig rig;
    init_rig(&rig, "full");
    start_server(&rig);
    T_TRUE(slow_heap_await(&rig.heap.waits)); /* the read has begun, and does not end */
    int first = ask_server(&rig);
    T_TRUE(has_reply(first, REPLY_MS));
    slow_heap_fail(&rig.heap, true); /* one place is prepared */
    int second = ask_server(&rig);
    T_TRUE(slow_heap_await(&rig.is_full));
    slow_heap_fail(&rig.heap, false);
    int third = ask_server(&rig);
    close(first);
    bool is_heard = has_reply(third, REPLY_MS);
    end_server(&rig);
    close(second);
    close(third);
    T_TRUE(is_heard);
}

T_TEST(a_busy_path_is_refused_before_the_host_is_read)
{
    static struct rig rig;
    struct tts_serversocket other;
    struct tts_server *server;
    init_rig(&rig, "busy");
    T_EQ(tts_serversocket_open(rig.config.socket_path, false, &other, NULL), TTS_OK);
    sem_post(&rig.heap.go);
    T_EQ(tts_server_open(&rig.config, &rig.heap.alloc, &server, NULL), TTS_E_BUSY);
    T_EQ(sem_trywait(&rig.heap.waits), -1);
    tts_serversocket_close(&other);
    close(rig.config.output_fd);
}
