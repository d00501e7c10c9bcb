#include "harness/host.h"
#include "harness/slow_heap.h"
#include "serve/server.h"
#include "serve/serversocket.h"

#include <fcntl.h>
#include <unistd.h>

struct rig {
    struct slow_heap heap;
    struct tts_server_config config;
};

static void ignore_note(void *ctx, const char *text)
{
    (void)ctx;
    (void)text;
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
                                             .note = ignore_note,
                                             .ctx = rig};
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
