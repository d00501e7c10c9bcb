#include "harness/t.h"
#include "serve/serveringest.h"
#include "torture/heap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* An ingest with its registry. The test plays the clients. */
struct rig {
    int epoll_fd;
    struct tts_serverregistry *registry;
    struct tts_serveringest *ingest;
    struct tts_clientidentity own;
    uint32_t requests;
    struct tts_serverprocess begun[8];
    uint32_t begun_count, deaths;
    uint64_t dead_bytes;
};

static void note_request(void *ctx, struct tts_serverclient *client,
                         const struct tts_frame *frame)
{
    struct rig *rig = ctx;
    (void)client;
    (void)frame;
    rig->requests++;
}

static void note_event(void *ctx, const struct tts_serverevent *event)
{
    struct rig *rig = ctx;
    if (event->kind == TTS_SERVEREVENT_BEGIN && rig->begun_count < 8)
        rig->begun[rig->begun_count++] = *event->process;
    rig->deaths += event->kind == TTS_SERVEREVENT_DEATH;
    if (event->kind == TTS_SERVEREVENT_DEATH)
        rig->dead_bytes = event->size_bytes;
}

static bool rig_open(struct rig *rig, const char *directory, const struct tts_alloc *alloc)
{
    *rig = (struct rig){.epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
    T_EQ(tts_clientidentity_own(&rig->own, NULL), TTS_OK);
    const struct tts_serverregistry_config registry = {.sink = {note_event, rig}};
    if (tts_serverregistry_new(&registry, alloc, &rig->registry, NULL) != TTS_OK)
        return false;
    const struct tts_serveringest_config config = {.epoll_fd = rig->epoll_fd,
                                                   .registry = rig->registry,
                                                   .directory = directory,
                                                   .server = &rig->own,
                                                   .request = note_request,
                                                   .ctx = rig};
    return tts_serveringest_open(&config, alloc, &rig->ingest, NULL) == TTS_OK;
}

static void rig_close(struct rig *rig)
{
    tts_serveringest_close(rig->ingest);
    tts_serverregistry_free(rig->registry);
    close(rig->epoll_fd);
}

/* Handles all events that are there. */
static void rig_run(struct rig *rig)
{
    struct epoll_event event;
    while (epoll_wait(rig->epoll_fd, &event, 1, 20) > 0)
        tts_serveringest_event(rig->ingest, event.data.u64, event.events);
    tts_serveringest_publish(rig->ingest);
}

/* Handles the events that are there, the ends of processes first. */
static void rig_run_ends_first(struct rig *rig)
{
    struct epoll_event events[4];
    int count = epoll_wait(rig->epoll_fd, events, 4, 1000);
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < count; i++) {
            bool is_end = events[i].data.u64 >= 2 * TTS_SERVERINGEST_EVENT;
            if (is_end == (turn == 0))
                tts_serveringest_event(rig->ingest, events[i].data.u64, events[i].events);
        }
}

static int rig_connect(struct rig *rig)
{
    int fds[2];
    T_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    T_EQ(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    if (tts_serveringest_reserve(rig->ingest) == 0)
        tts_serveringest_add(rig->ingest, fds[0]);
    else
        close(fds[0]); /* the server leaves the client in the queue of the kernel */
    return fds[1];
}

/* Returns false if the connection is closed. */
static bool try_frame(int fd, uint8_t type, uint32_t pid, uint64_t id, uint64_t bytes)
{
    unsigned char wire[TTS_FRAME_BYTES_MAX];
    const struct tts_frame frame = {.kind = TTS_FRAMEKIND_P4,
                                    .type = type,
                                    .pid = (int32_t)pid,
                                    .id = id,
                                    .size_bytes = bytes};
    size_t len = tts_frame_encode(&frame, wire);
    return send(fd, wire, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* Also for children, which have no test to fail. */
static void send_frame(int fd, uint8_t type, uint32_t pid, uint64_t id, uint64_t bytes)
{
    if (!try_frame(fd, type, pid, id, bytes))
        _exit(1);
}

static uint64_t dram_of(const struct rig *rig)
{
    return tts_serverregistry_device(rig->registry, 0)->bytes[TTS_POOL_DRAM];
}

T_TEST(two_connections_of_a_process_are_one_process_until_both_end)
{
    struct rig rig;
    T_TRUE(rig_open(&rig, NULL, NULL));
    int a = rig_connect(&rig), b = rig_connect(&rig);
    send_frame(a, TTS_FRAMETYPE_ALLOC, (uint32_t)getpid(), 64, 100);
    rig_run(&rig);
    send_frame(b, TTS_FRAMETYPE_ALLOC, (uint32_t)getpid(), 64, 100);
    rig_run(&rig);
    T_TRUE(rig.begun_count == 1 && dram_of(&rig) == 100);
    T_TRUE(rig.begun[0].pid == (uint32_t)getpid() && rig.begun[0].start_ticks > 0);
    T_STR_EQ(rig.begun[0].name, "test_serveringe");
    T_TRUE(tts_serveringest_is_sender(rig.ingest, (uint32_t)getpid()));
    close(a);
    rig_run(&rig);
    T_TRUE(rig.deaths == 0 && dram_of(&rig) == 100);
    close(b);
    rig_run(&rig);
    T_TRUE(rig.deaths == 1 && rig.dead_bytes == 100 && dram_of(&rig) == 0);
    T_TRUE(!tts_serveringest_is_sender(rig.ingest, (uint32_t)getpid()));
    rig_close(&rig);
}

T_TEST(a_claimed_number_is_kept_beside_the_real_one_and_is_a_process_of_its_connection)
{
    struct rig rig;
    T_TRUE(rig_open(&rig, NULL, NULL));
    int a = rig_connect(&rig), b = rig_connect(&rig);
    send_frame(a, TTS_FRAMETYPE_ALLOC, 4000000, 64, 100);
    send_frame(b, TTS_FRAMETYPE_ALLOC, 4000000, 64, 10);
    rig_run(&rig);
    T_EQ(rig.begun_count, 2);
    T_EQ(dram_of(&rig), 110);
    T_TRUE(rig.begun[0].pid == (uint32_t)getpid() && rig.begun[0].pid_inside == 4000000);
    /* A frame without a number is of the last process. */
    send_frame(b, TTS_FRAMETYPE_FREE, 0, 64, 0);
    rig_run(&rig);
    T_EQ(dram_of(&rig), 100);
    close(a);
    rig_run(&rig);
    T_EQ(dram_of(&rig), 0);
    close(b);
    rig_close(&rig);
}

T_TEST(a_connection_with_too_many_claims_loses_no_bytes)
{
    struct rig rig;
    T_TRUE(rig_open(&rig, NULL, NULL));
    int fd = rig_connect(&rig);
    for (uint32_t i = 0; i < 200; i++)
        send_frame(fd, TTS_FRAMETYPE_ALLOC, 4000000 + i, i, 10);
    rig_run(&rig);
    T_EQ(dram_of(&rig), 2000);
    T_EQ(tts_serverregistry_counts(rig.registry)->live_processes, TTS_SERVERINGEST_CLAIMS_MAX);
    close(fd);
    rig_run(&rig);
    T_EQ(dram_of(&rig), 0);
    rig_close(&rig);
}

/* Runs a child that sends a frame, waits for a byte, sends 99 frames and ends. */
static pid_t start_child(int fd, int ready_fd, int go_fd)
{
    char byte = 0;
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    send_frame(fd, TTS_FRAMETYPE_ALLOC, (uint32_t)getpid(), 0, 1);
    if (write(ready_fd, "r", 1) != 1 || read(go_fd, &byte, 1) != 1)
        _exit(1);
    for (uint64_t i = 1; i < 100; i++)
        send_frame(fd, TTS_FRAMETYPE_ALLOC, (uint32_t)getpid(), i, 1);
    _exit(0);
}

/* The connection stays open in this process, so that only the pidfd can tell. */
T_TEST(a_child_that_inherits_a_connection_is_a_process_and_its_end_is_noticed)
{
    struct rig rig;
    int ready[2], go[2];
    char byte;
    T_TRUE(rig_open(&rig, NULL, NULL));
    T_TRUE(pipe2(ready, O_CLOEXEC) == 0 && pipe2(go, O_CLOEXEC) == 0);
    int fd = rig_connect(&rig);
    send_frame(fd, TTS_FRAMETYPE_ALLOC, (uint32_t)getpid(), 0, 5000);
    pid_t child = start_child(fd, ready[1], go[0]);
    T_EQ(read(ready[0], &byte, 1), 1);
    rig_run(&rig);
    T_EQ(dram_of(&rig), 5001);
    T_TRUE(rig.begun_count == 2 && rig.begun[1].pid == (uint32_t)child);
    /* Frames that the server has not read when the child ends are taken first. */
    T_EQ(write(go[1], "g", 1), 1);
    T_EQ(waitpid(child, NULL, 0), child);
    rig_run_ends_first(&rig);
    T_TRUE(rig.deaths == 1 && rig.dead_bytes == 100 && dram_of(&rig) == 5000);
    T_EQ(rig.begun_count, 2);
    send_frame(fd, TTS_FRAMETYPE_FREE, (uint32_t)getpid(), 0, 0);
    rig_run(&rig);
    T_EQ(dram_of(&rig), 0);
    T_EQ(tts_serverregistry_counts(rig.registry)->unknown_frees, 0);
    close(fd);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(go[i]);
    }
    rig_close(&rig);
}

/* An event of a place may come after the place was given to another process. */
T_TEST(an_event_about_an_ended_process_ends_no_live_one_at_its_place)
{
    struct rig rig;
    T_TRUE(rig_open(&rig, NULL, NULL));
    int fd = rig_connect(&rig);
    send_frame(fd, TTS_FRAMETYPE_ALLOC, (uint32_t)getpid(), 0, 5000);
    rig_run(&rig);
    for (uint64_t place = 0; place < 4; place++)
        tts_serveringest_event(rig.ingest, 2 * TTS_SERVERINGEST_EVENT | place, EPOLLIN);
    T_TRUE(rig.deaths == 0 && dram_of(&rig) == 5000);
    close(fd);
    rig_run(&rig);
    T_EQ(rig.deaths, 1);
    rig_close(&rig);
}

/* The descriptor of epoll is that of another file, so that no connection can be added. */
T_TEST(a_client_that_epoll_cannot_watch_is_kept_and_heard)
{
    struct rig rig;
    T_TRUE(rig_open(&rig, NULL, NULL));
    int epoll_fd = fcntl(rig.epoll_fd, F_DUPFD_CLOEXEC, 0), none = open("/dev/null", O_RDONLY);
    T_EQ(dup2(none, rig.epoll_fd), rig.epoll_fd);
    close(none);
    int fd = rig_connect(&rig);
    T_TRUE(try_frame(fd, TTS_FRAMETYPE_ALLOC, (uint32_t)getpid(), 0, 5000));
    T_TRUE(tts_serveringest_poll(rig.ingest));
    T_EQ(dram_of(&rig), 5000);
    T_EQ(dup2(epoll_fd, rig.epoll_fd), rig.epoll_fd);
    close(epoll_fd);
    T_TRUE(try_frame(fd, TTS_FRAMETYPE_ALLOC, (uint32_t)getpid(), 1, 100));
    T_TRUE(!tts_serveringest_poll(rig.ingest)); /* epoll watches the connection again */
    T_EQ(dram_of(&rig), 5100);
    T_TRUE(try_frame(fd, TTS_FRAMETYPE_ALLOC, (uint32_t)getpid(), 2, 10));
    rig_run(&rig);
    T_EQ(dram_of(&rig), 5110);
    close(fd);
    rig_run(&rig);
    T_EQ(rig.deaths, 1);
    rig_close(&rig);
}

/* Reads the only region of a directory. Returns whether there is one. */
static bool read_region(const char *directory, struct tts_clientregion_header *header,
                        struct tts_clientregion_device *device)
{
    const struct dirent *entry;
    bool is_there = false;
    DIR *list = opendir(directory);
    while ((entry = readdir(list))) {
        if (entry->d_name[0] == '.')
            continue;
        T_TRUE(!is_there);
        is_there = true;
        int fd = openat(dirfd(list), entry->d_name, O_RDONLY | O_CLOEXEC);
        T_EQ(pread(fd, header, sizeof *header, 0), sizeof *header);
        T_EQ(pread(fd, device, sizeof *device, sizeof *header), sizeof *device);
        close(fd);
    }
    closedir(list);
    return is_there;
}

T_TEST(a_process_has_a_region_until_it_ends)
{
    struct rig rig;
    struct tts_clientregion_header header;
    struct tts_clientregion_device device;
    const char *directory = t_scratch("shm");
    T_EQ(mkdir(directory, 0700), 0);
    T_TRUE(rig_open(&rig, directory, NULL));
    int fd = rig_connect(&rig);
    for (uint64_t i = 0; i < 5; i++)
        send_frame(fd, TTS_FRAMETYPE_ALLOC, (uint32_t)getpid(), i, 100);
    send_frame(fd, TTS_FRAMETYPE_FREE, (uint32_t)getpid(), 1, 0);
    send_frame(fd, TTS_FRAMETYPE_CB_ALLOC, (uint32_t)getpid(), 1, 77);
    rig_run(&rig);
    T_TRUE(read_region(directory, &header, &device));
    T_TRUE(header.writer == TTS_CLIENTREGION_BY_SERVER && header.pid == (uint32_t)getpid() &&
           header.writer_pid == (uint32_t)getpid() &&
           header.start_ticks == rig.own.start_ticks);
    const struct tts_clientregion_pool *pool = &device.pools[TTS_POOL_DRAM];
    T_TRUE(pool->allocated_bytes == 400 && pool->buffers == 4 && pool->peak_bytes == 500 &&
           pool->allocs == 5 && pool->frees == 1);
    T_TRUE(device.cb_bytes == 77 && device.known & TTS_CLIENTDEVICE_CB);
    T_TRUE(header.events == 6 && header.update_ns > 0 && device.lock % 2 == 0);
    /* A process in an unknown namespace cannot be judged, and has none. */
    send_frame(fd, TTS_FRAMETYPE_ALLOC, 4000000, 64, 100);
    rig_run(&rig);
    T_TRUE(read_region(directory, &header, &device));
    close(fd);
    rig_run(&rig);
    T_TRUE(!read_region(directory, &header, &device));
    rig_close(&rig);
}

T_TEST(requests_make_no_process)
{
    struct rig rig;
    T_TRUE(rig_open(&rig, NULL, NULL));
    int fd = rig_connect(&rig);
    send_frame(fd, TTS_FRAMETYPE_QUERY, 0, 0, 0);
    send_frame(fd, TTS_FRAMETYPE_DUMP, 0, 0, 0);
    rig_run(&rig);
    T_TRUE(rig.requests == 2 && rig.begun_count == 0);
    close(fd);
    rig_run(&rig);
    uint64_t skipped = 0;
    T_TRUE(tts_serveringest_counts(rig.ingest, &skipped) == 0 && skipped == 0);
    rig_close(&rig);
}

/* Returns whether no allocation failed. */
static bool run_with_heap(struct heap *heap)
{
    struct rig rig;
    bool is_open = rig_open(&rig, NULL, &heap->alloc);
    if (is_open) {
        int a = rig_connect(&rig), b = rig_connect(&rig);
        for (uint32_t i = 0; i < 20; i++)
            (void)try_frame(a, TTS_FRAMETYPE_ALLOC, 4000000 + i, i, 10);
        (void)try_frame(b, TTS_FRAMETYPE_ALLOC, (uint32_t)getpid(), 0, 10);
        rig_run(&rig);
        T_TRUE(tts_serverregistry_is_valid(rig.registry));
        close(a);
        close(b);
        rig_run(&rig);
        T_EQ(dram_of(&rig), 0);
    }
    rig_close(&rig);
    return heap->failed == 0;
}

T_TEST(every_failed_allocation_leaves_exact_sums)
{
    struct heap heap;
    uint64_t fail_at = 1;
    signal(SIGPIPE, SIG_IGN);
    do {
        heap_init(&heap);
        heap.fail_at = fail_at++;
    } while (!run_with_heap(&heap) && heap_is_settled(&heap));
    T_TRUE(heap.failed == 0 && heap_is_settled(&heap));
}
