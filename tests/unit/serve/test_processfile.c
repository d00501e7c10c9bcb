#include "base/ticks.h"
#include "harness/recorded_file_rig.h"
#include "harness/server_rig.h"
#include "serve/processfile.h"
#include "torture/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct recorded recorded;

static int open_dir(const char *name)
{
    const char *path = t_scratch(name);
    T_EQ(mkdir(path, 0700), 0);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    T_TRUE(fd >= 0);
    return fd;
}

static struct tts_processfile_config config_of(int dir)
{
    return (struct tts_processfile_config){
        .dir_fd = dir, .process = &server_process, .period_ns = 500000000};
}

static struct tts_processfile *new_file(int dir)
{
    struct tts_processfile *file = NULL;
    struct tts_error err = {0};
    const struct tts_processfile_config config = config_of(dir);
    T_EQ(tts_processfile_new(&config, NULL, &file, &err), TTS_OK);
    return file;
}

static const char *path_in(const char *dir, const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", t_scratch(dir), name);
    return path;
}

T_TEST(the_name_of_a_file_is_safe)
{
    char name[TTS_PROCESSFILE_NAME_MAX];
    struct tts_serverprocess process = {.pid = 42, .start_ticks = 900, .name = "python3"};
    T_STR_EQ(tts_processfile_name(name, &process, 1), "python3-42-900.tts");
    T_STR_EQ(tts_processfile_name(name, &process, 2), "python3-42-900-2.tts");
    snprintf(process.name, sizeof process.name, "../a b\n\xff");
    T_STR_EQ(tts_processfile_name(name, &process, 1), "_._a_b__-42-900.tts");
    snprintf(process.name, sizeof process.name, "-rf");
    T_STR_EQ(tts_processfile_name(name, &process, 1), "_rf-42-900.tts");
    process.name[0] = '\0';
    process.pid = 0;
    process.pid_inside = 7;
    T_STR_EQ(tts_processfile_name(name, &process, 1), "process-7-900.tts");
    memset(process.name, 'a', sizeof process.name - 1);
    process.pid = UINT32_MAX;
    process.start_ticks = UINT64_MAX;
    T_TRUE(strlen(tts_processfile_name(name, &process, 1000)) < sizeof name - 1);
}

T_TEST(buffers_become_events_and_everything_else_becomes_samples)
{
    int dir = open_dir("items");
    struct tts_processfile *file = new_file(dir);
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_ALLOC);
    T_TRUE(tts_processfile_event(file, &event));
    event.references = 2; /* the same buffer again takes no memory */
    T_TRUE(tts_processfile_event(file, &event));
    event = server_event(TTS_SERVEREVENT_CB_ALLOC);
    event.size_bytes = 4096;
    T_TRUE(tts_processfile_event(file, &event));
    event.size_bytes = 1024;
    T_TRUE(tts_processfile_event(file, &event));
    event.kind = TTS_SERVEREVENT_CB_FREE;
    T_TRUE(tts_processfile_event(file, &event));
    event = server_event(TTS_SERVEREVENT_REFUSED);
    event.device = 3;
    T_TRUE(tts_processfile_event(file, &event));
    event = server_event(TTS_SERVEREVENT_UNKNOWN_FREE);
    T_TRUE(tts_processfile_event(file, &event));
    event = server_event(TTS_SERVEREVENT_FREE);
    event.references = 1; /* one reference is left */
    T_TRUE(tts_processfile_event(file, &event));
    event.references = 0;
    T_TRUE(tts_processfile_event(file, &event));
    event = server_event(TTS_SERVEREVENT_LOST);
    event.buffers = 11;
    T_TRUE(tts_processfile_event(file, &event));
    tts_processfile_free(file);
    recorded_read(&recorded, path_in("items", "python3-12345-900.tts"));
    T_EQ(recorded.events, 4);
    T_EQ(recorded.missed, 11);
    T_EQ(recorded.count, 8);
    const struct tts_item *item = recorded.items;
    T_EQ(item[0].event.kind, TTS_EVENT_ALLOC);
    T_EQ(item[0].event.pool, TTS_POOL_L1);
    T_EQ(item[0].event.id, 0x18b00);
    T_EQ(item[0].event.size_bytes, 16777216);
    for (size_t i = 1; i < 4; i++) {
        static const uint64_t cb_bytes[] = {0, 4096, 5120, 4096};
        T_EQ(item[i].kind, TTS_ITEM_SAMPLE);
        T_EQ(recorded.samples[i].known, 1u << TTS_SAMPLE_CB);
        T_EQ(recorded.samples[i].values[TTS_SAMPLE_CB], cb_bytes[i]);
        T_EQ(recorded.samples[i].period_ns, 0); /* each change is an event */
    }
    T_EQ(item[4].event.kind, TTS_EVENT_FAILURE);
    T_EQ(item[4].event.device, 3);
    T_EQ(item[5].event.kind, TTS_EVENT_FREE);
    T_EQ(item[6].event.kind, TTS_EVENT_FREE);
    T_TRUE(recorded.info.file_bytes <
           4096 + 512); /* the space that was not used is given back */
    T_EQ(recorded.info.state.kind, TTS_REC_ENDED);
    T_EQ(recorded.info.state.events, 4);
    T_STR_EQ(recorded.info.header.program, "python3");
    T_EQ(recorded.info.header.pid, 12345);
    T_EQ(recorded.info.header.flags, TTS_REC_SAMPLES | TTS_REC_L1_REQUESTED);
    close(dir);
}

T_TEST(counters_without_ids_become_samples_of_their_sum)
{
    int dir = open_dir("counters");
    struct tts_processfile *file = new_file(dir);
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_ALLOC);
    event.source = TTS_SERVERSOURCE_COUNTERS;
    event.id_known = false;
    event.pool = TTS_POOL_DRAM;
    event.size_bytes = 300;
    T_TRUE(tts_processfile_event(file, &event));
    event.kind = TTS_SERVEREVENT_FREE;
    event.size_bytes = 100;
    T_TRUE(tts_processfile_event(file, &event));
    event.size_bytes = 1000; /* a region can say that more is free than was taken */
    T_TRUE(tts_processfile_event(file, &event));
    event.device = 9;
    event.kind = TTS_SERVEREVENT_ALLOC;
    event.size_bytes = UINT64_MAX;
    T_TRUE(tts_processfile_event(file, &event));
    tts_processfile_free(file);
    recorded_read(&recorded, path_in("counters", "python3-12345-900.tts"));
    static const uint64_t sums[] = {300, 200, 0, TTS_SAMPLE_VALUE_MAX};
    unsigned number = tts_sample_number(TTS_SAMPLE_ALLOCATED, TTS_POOL_DRAM);
    T_EQ(recorded.count, 4);
    for (size_t i = 0; i < 4; i++) {
        T_EQ(recorded.items[i].device, i == 3 ? 9 : 0);
        T_EQ(recorded.samples[i].values[number], sums[i]);
        T_EQ(recorded.samples[i].known, 1u << number);
        T_EQ(recorded.samples[i].period_ns, 500000000);
    }
    close(dir);
}

T_TEST(a_file_that_exists_is_not_overwritten)
{
    int dir = open_dir("twice");
    const char *first = path_in("twice", "python3-12345-900.tts");
    int fd = open(first, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    T_EQ(write(fd, "mine", 4), 4);
    close(fd);
    T_EQ(symlinkat("/dev/null", dir, "python3-12345-900-2.tts"), 0);
    tts_processfile_free(new_file(dir));
    struct stat st;
    T_EQ(stat(first, &st), 0);
    T_EQ(st.st_size, 4);
    recorded_read(&recorded, path_in("twice", "python3-12345-900-3.tts"));
    T_EQ(recorded.events, 0);
    T_EQ(stat(path_in("twice", "python3-12345-900-3.tts"), &st), 0);
    T_EQ(st.st_mode & 0777, 0600);
    close(dir);
}

T_TEST(many_events_fill_many_blocks_and_a_killed_writer_loses_none)
{
    enum { EVENTS = 100000 };
    int dir = open_dir("killed");
    pid_t child = fork();
    T_TRUE(child >= 0);
    if (child == 0) {
        struct tts_processfile *file = new_file(dir);
        struct tts_serverevent event = server_event(TTS_SERVEREVENT_ALLOC);
        event.pool = TTS_POOL_DRAM;
        uint64_t now_ns = tts_clock_realtime_ns();
        for (uint64_t i = 0; i < EVENTS; i++) {
            event.time_ns = now_ns + i * 10 - (i % 7 ? 5000000 : 0); /* some are late */
            event.kind = i % 2 ? TTS_SERVEREVENT_FREE : TTS_SERVEREVENT_ALLOC;
            event.references = i % 2 ? 0 : 1;
            event.id = i / 2 * 2048;
            event.size_bytes = 1 + i / 2 * 7 % 100000;
            if (!tts_processfile_event(file, &event))
                _exit(1);
        }
        raise(SIGKILL);
    }
    int status;
    T_EQ(waitpid(child, &status, 0), child);
    T_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    recorded_read(&recorded, path_in("killed", "python3-12345-900.tts"));
    T_EQ(recorded.events, EVENTS);
    T_EQ(recorded.info.state.kind, TTS_REC_RECORDING);
    T_TRUE(recorded.info.state.blocks > 3);
    T_EQ(recorded.items[5].event.id, 4096);
    T_EQ(recorded.items[4].event.size_bytes, 15);
    close(dir);
}

T_TEST(times_never_go_back_and_never_lie_after_now)
{
    static const uint64_t hours[] = {0, 1, UINT64_MAX, 5};
    int dir = open_dir("times");
    struct tts_processfile *file = new_file(dir);
    uint64_t begin_ns = tts_clock_ns();
    for (size_t i = 0; i < 4; i++) {
        struct tts_serverevent event = server_event(TTS_SERVEREVENT_ALLOC);
        event.id = i;
        event.time_ns =
            hours[i] == UINT64_MAX ? UINT64_MAX : hours[i] * UINT64_C(3600000000000);
        T_TRUE(tts_processfile_event(file, &event));
    }
    tts_processfile_free(file);
    recorded_read(&recorded, path_in("times", "python3-12345-900.tts"));
    uint64_t last = begin_ns - UINT64_C(1000000000);
    for (size_t i = 0; i < 4; i++) {
        T_TRUE(recorded.items[i].time_ns >= last);
        T_TRUE(recorded.items[i].time_ns <= tts_clock_ns() + 20000000); /* clocks differ */
        last = recorded.items[i].time_ns;
    }
    close(dir);
}

T_TEST(the_recording_begins_with_its_first_event)
{
    static const uint64_t ages_ns[] = {3000000000, 3600000000000, 0};
    static const uint64_t starts_ns[] = {3000000000, 10000000000, 0};
    int dir = open_dir("begin");
    for (unsigned i = 0; i < 3; i++) {
        struct tts_serverprocess process = {.pid = i + 1, .name = "a"};
        struct tts_processfile_config config = config_of(dir);
        struct tts_serverevent event = server_event(TTS_SERVEREVENT_ALLOC);
        struct tts_processfile *file;
        struct tts_error err;
        char name[TTS_PROCESSFILE_NAME_MAX];
        uint64_t now_ns = tts_clock_ns(), slack_ns = 1000000000;
        event.time_ns = tts_clock_realtime_ns() - ages_ns[i];
        config.process = &process;
        config.begin_ns = event.time_ns;
        T_EQ(tts_processfile_new(&config, NULL, &file, &err), TTS_OK);
        T_TRUE(tts_processfile_event(file, &event));
        tts_processfile_free(file);
        recorded_read(&recorded, path_in("begin", tts_processfile_name(name, &process, 1)));
        uint64_t start_ns = recorded.info.header.start_ns;
        T_TRUE(start_ns + starts_ns[i] + slack_ns > now_ns);
        T_TRUE(start_ns + starts_ns[i] < now_ns + slack_ns);
        T_TRUE(recorded.items[0].time_ns >= start_ns);
        T_TRUE(recorded.items[0].time_ns < start_ns + slack_ns);
    }
    close(dir);
}

T_TEST(an_event_that_no_recording_can_have_is_missed)
{
    int dir = open_dir("hostile");
    struct tts_processfile *file = new_file(dir);
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_ALLOC);
    event.size_bytes = UINT64_MAX;
    T_TRUE(!tts_processfile_event(file, &event));
    for (uint32_t device = 0; device < 100; device++) { /* only 64 have counters */
        event = server_event(TTS_SERVEREVENT_CB_ALLOC);
        event.device = device;
        T_EQ(tts_processfile_event(file, &event), device < 64);
    }
    tts_processfile_free(file);
    recorded_read(&recorded, path_in("hostile", "python3-12345-900.tts"));
    T_EQ(recorded.events, 0);
    T_EQ(recorded.missed, 1 + 36);
    close(dir);
}

T_TEST(a_full_disk_stops_the_file_and_the_file_says_so)
{
    int dir = open_dir("full");
    struct rlimit old, limit;
    T_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = (struct rlimit){.rlim_cur = 4096 + 2 * 65536, .rlim_max = old.rlim_max};
    struct tts_processfile *file = new_file(dir);
    T_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    uint64_t written = 0, sent = 0;
    for (; sent < 100000; sent++) {
        struct tts_serverevent event = server_event(TTS_SERVEREVENT_ALLOC);
        event.id = sent * 64;
        event.size_bytes = sent + 1;
        written += tts_processfile_event(file, &event);
    }
    T_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
    T_TRUE(tts_processfile_stopped(file) == EFBIG);
    tts_processfile_free(file);
    recorded_read(&recorded, path_in("full", "python3-12345-900.tts"));
    T_TRUE(written > 1000 && written < sent);
    T_EQ(recorded.events, written);
    T_EQ(recorded.info.state.kind, TTS_REC_STOPPED);
    T_EQ(recorded.info.state.sys_errno, EFBIG);
    T_EQ(recorded.info.state.events, written);
    T_EQ(recorded.info.state.dropped, sent - written);
    close(dir);
}

T_TEST(without_memory_there_is_no_file)
{
    int dir = open_dir("memory");
    struct tts_error err;
    struct tts_processfile *file = NULL;
    struct heap heap;
    const struct tts_processfile_config config = config_of(dir);
    heap_init(&heap);
    heap.fail_at = 1;
    T_EQ(tts_processfile_new(&config, &heap.alloc, &file, &err), TTS_E_NOMEM);
    T_TRUE(!file && strstr(err.text, "out of memory"));
    heap.fail_at = 0;
    T_EQ(tts_processfile_new(&config, &heap.alloc, &file, &err), TTS_OK);
    tts_processfile_free(file);
    T_TRUE(heap_is_settled(&heap));
    close(dir);
}

T_TEST(a_directory_that_cannot_be_written_is_an_error)
{
    int dir = open_dir("gone");
    struct tts_error err;
    struct tts_processfile *file = NULL;
    const struct tts_processfile_config config = config_of(dir);
    T_EQ(rmdir(t_scratch("gone")), 0);
    T_EQ(tts_processfile_new(&config, NULL, &file, &err), TTS_E_IO);
    T_TRUE(strstr(err.text, "cannot write the recording 'python3-12345-900.tts'"));
    close(dir);
}
