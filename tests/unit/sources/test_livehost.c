#include "harness/t.h"
#include "base/heap.h"
#include "harness/host.h"
#include "harness/region_image.h"
#include "sources/live/livehost.h"
#include "torture/heap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct tts_livehost *host;
static struct tts_hostview view;

static void begin(void)
{
    struct tts_error err = {0};
    T_EQ(tts_livehost_open(host_root, NULL, &host, &err), TTS_OK);
    tts_hostview_init(&view, NULL);
}

static void end(void)
{
    tts_livehost_close(host);
    tts_hostview_release(&view);
}

static void look(void)
{
    struct tts_error err = {0};
    T_EQ(tts_livehost_read(host, &view, &err), TTS_OK);
    T_STR_EQ(err.text, "");
    for (size_t i = 1; i < view.process_count; i++)
        T_TRUE(view.processes[i - 1].pid < view.processes[i].pid);
}

/* Writes a region with one process. `shm` is a directory of the host. */
static void put_region(const char *shm, uint64_t id, int32_t pid, uint64_t bytes)
{
    static struct region_image image;
    char path[300];
    struct region_image_slot slot = {
        .pid = pid, .bytes = {bytes}, .time_ns = 5, .name = "python3"};
    T_TRUE(region_image_init(&image, "v3", id));
    region_image_put_slot(&image, 0, &slot);
    region_image_put_totals(&image, slot.bytes);
    host_dir(shm);
    snprintf(path, sizeof path, "%s/tt_device_%" PRIu64 "_memory", shm, id);
    host_put_bytes(path, image.bytes, image.len);
}

static const char *one_buffer(uint64_t bytes)
{
    static char text[300];
    snprintf(text, sizeof text,
             "- mesh_buffer_allocated:\n    id: 1\n    address: 64\n    size: 9\n"
             "    device_local_size: %" PRIu64 "\n    buffer_type: L1\n    timestamp_ns: 1\n",
             bytes);
    return text;
}

/* Writes a log of buffers in the directory `dir` and returns its path below the root. */
static const char *put_log(const char *dir, uint64_t bytes)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/generated/inspector", dir);
    host_dir(path);
    snprintf(path, sizeof path, "%s/generated/inspector/mesh_buffers_log.yaml", dir);
    host_put(path, one_buffer(bytes));
    return path;
}

T_TEST(users_are_looked_up_only_for_processes_that_are_shown)
{
    struct tts_liveframe frame;
    host_new("users");
    host_add_process(50, "a", "50", 1);
    host_dir("dev/shm");
    put_region("dev/shm", 7, 50, 1);
    begin();
    look();
    T_STR_EQ(tts_hostview_process(&view, 50)->user, "root");
    end();
    begin();
    tts_livehost_defer_users(host);
    look();
    T_STR_EQ(tts_hostview_process(&view, 50)->user, "");
    T_TRUE(tts_hostview_process(&view, 50)->uid_known);
    tts_liveframe_init(&frame, NULL);
    struct tts_livedevice *device = tts_liveframe_add_device(&frame);
    for (size_t i = 0; i < 4; i++) {
        struct tts_liveprocess *process = tts_livedevice_add_process(&frame, device);
        process->uid_known = i != 1;
    }
    struct tts_liveprocess *stray = tts_liveframe_add_stray(&frame);
    stray->uid_known = true;
    device->process_count = 3; /* the last is not selected */
    device->deselected_count = 1;
    tts_livehost_name_users(host, &frame, 2);
    T_STR_EQ(device->processes[0].user, "root");
    T_STR_EQ(device->processes[1].user, ""); /* its user is not known */
    T_STR_EQ(device->processes[2].user, "");
    T_STR_EQ(stray->user, "root");
    tts_livehost_name_users(host, &frame, SIZE_MAX);
    T_STR_EQ(device->processes[2].user, "root");
    T_STR_EQ(device->processes[3].user, "");
    tts_liveframe_release(&frame);
    look(); /* a name that was found stays */
    T_STR_EQ(tts_hostview_process(&view, 50)->user, "root");
    end();
}

T_TEST(a_host_is_chips_regions_processes_and_logs)
{
    host_new_driver("all", "2.10.0\n");
    host_add_chip(0, "0x401e\n");
    host_add_pids(0, "4711\n0\n300\n");
    host_add_lock(0, 4711);
    host_add_process(4711, "python3", "4711", 60);
    host_add_process(300, "server", "300\t4", 61);
    host_add_process(4, "kthread", "4", 0);
    host_dir("proc/self/ns");
    T_EQ(symlink("pid:[1234]", host_path("proc/self/ns/pid")), 0);
    put_region("dev/shm", 7, 4, 1 << 20);
    put_region("dev/shm", 9, 99, 1 << 21);
    host_add_fd(4711, 3, host_path(put_log("work", 64)));
    begin();
    look();
    T_TRUE(view.time_ns > UINT64_C(1700000000000000000) && view.own_pid == (uint32_t)getpid());
    T_TRUE(view.own_uid == geteuid() && view.own_namespace_known &&
           view.own_namespace_id == 1234);
    T_TRUE(view.driver_loaded && view.chip_count == 1 && view.chips[0].holder_count == 3);
    T_EQ(view.chips[0].lock_pid, 4711);
    T_EQ(view.region_count, 2);
    T_TRUE(view.regions[0].id == 7 && view.regions[0].state == TTS_SEENREGION_READ);
    T_EQ(view.regions[0].total.bytes[TTS_COUNTER_DRAM], 1 << 20);
    T_EQ(view.process_count, 4);
    T_TRUE(view.processes[0].pid == 4 && view.processes[0].is_alive);
    T_TRUE(view.processes[1].pid == 99 && !view.processes[1].is_alive);
    T_TRUE(view.processes[2].pid == 300 && view.processes[2].pid_inside == 4);
    T_TRUE(view.processes[3].pid == 4711 && view.processes[3].pid_levels == 1);
    T_TRUE(!view.processes[3].nodes_known); /* the driver lists its holders */
    T_EQ(view.buffers_count, 1);
    T_TRUE(view.buffers[0].pid == 4711 && view.buffers[0].bytes[TTS_POOL_L1] == 64);
    T_TRUE(view.buffers[0].is_complete && !view.buffers[0].devices_known);
    end();
}

T_TEST(each_read_tells_the_present_state)
{
    host_new_driver("again", "2.10.0\n");
    host_add_chip(0, "0x401e\n");
    host_add_pids(0, "50\n");
    host_add_process(50, "python3", "50", 60);
    const char *log = put_log("work", 64);
    host_add_fd(50, 3, host_path(log));
    put_region("dev/shm", 7, 50, 1 << 20);
    begin();
    look();
    T_TRUE(view.process_count == 1 && view.buffers_count == 1 && view.region_count == 1);
    host_put(log, one_buffer(100));
    put_region("dev/shm", 7, 50, 3);
    look();
    T_EQ(view.buffers[0].bytes[TTS_POOL_L1], 100);
    T_EQ(view.regions[0].total.bytes[TTS_COUNTER_DRAM], 3);
    host_remove_process(50);
    host_add_pids(0, "");
    look();
    T_TRUE(view.process_count == 1 && !view.processes[0].is_alive);
    T_EQ(view.buffers_count, 0);
    T_EQ(unlink(host_path("dev/shm/tt_device_7_memory")), 0);
    look();
    T_TRUE(view.process_count == 0 && view.region_count == 0 && view.chip_count == 1);
    end();
}

T_TEST(a_private_region_is_read_once_below_the_root_of_its_holder)
{
    host_new_driver("private", "2.10.0\n");
    host_add_chip(0, "0x401e\n");
    host_add_pids(0, "50\n51\n52\n53\n");
    put_region("dev/shm", 7, 60, 1);
    put_region("c/dev/shm", 7, 4, 2);
    for (uint32_t pid = 50; pid <= 53; pid++)
        host_add_process(pid, "python3", "1\t4", 60);
    T_EQ(symlink(host_root, host_path(host_process(50, "root"))), 0);
    T_EQ(symlink("../../c", host_path(host_process(51, "root"))), 0);
    T_EQ(symlink("../../c", host_path(host_process(52, "root"))), 0);
    begin();
    look();
    T_EQ(view.region_count, 2);
    T_TRUE(view.regions[0].private_of == 0 && view.regions[1].private_of == 51);
    T_EQ(view.regions[1].total.bytes[TTS_COUNTER_DRAM], 2);
    T_TRUE(tts_hostview_process(&view, 4) && tts_hostview_process(&view, 60));
    T_EQ(tts_hostview_process(&view, 50)->shm_errno, 0);
    T_TRUE(tts_hostview_process(&view, 53)->shm_errno != 0);
    end();
}

T_TEST(an_old_driver_has_no_holders_and_the_nodes_of_processes_are_read)
{
    host_new_driver("old", "2.4.0\n");
    host_add_chip(0, "0x401e\n");
    host_add_process(50, "python3", "50", 60);
    host_add_fd(50, 3, "/dev/tenstorrent/0");
    host_add_fd(50, 4, host_path(put_log("work", 64)));
    put_region("dev/shm", 7, 50, 1);
    begin();
    look();
    T_TRUE(view.processes[0].nodes_known && view.processes[0].nodes == 1);
    T_EQ(view.buffers_count, 1);
    end();
}

T_TEST(a_log_that_several_processes_have_open_belongs_to_the_first)
{
    host_new_driver("inherited", "2.10.0\n");
    host_add_chip(0, "0x401e\n");
    host_add_pids(0, "50\n51\n52\n");
    host_add_process(50, "child", "50", 61);
    host_add_process(51, "parent", "51", 60);
    host_add_process(52, "other", "52", 0); /* started first, and has only the name */
    const char *log = put_log("work", 64);
    host_add_fd(50, 3, host_path(log));
    host_add_fd(51, 3, host_path(log));
    T_EQ(symlink(host_root, host_path(host_process(52, "root"))), 0);
    T_EQ(symlink("/work", host_path(host_process(52, "cwd"))), 0);
    begin();
    look();
    T_EQ(view.buffers_count, 1);
    T_EQ(view.buffers[0].pid, 51);
    end();
}

T_TEST(only_processes_that_may_use_a_chip_are_searched_for_logs)
{
    host_new_driver("others", "2.10.0\n");
    host_add_chip(0, "0x401e\n");
    host_add_pids(0, "");
    const char *log = put_log("work", 64);
    for (uint32_t pid = 50; pid <= 52; pid++)
        host_add_process(pid, pid == 51 ? "other" : "python3", pid == 52 ? "52\t4" : "5", 60);
    for (uint32_t pid = 50; pid <= 52; pid++)
        host_add_fd(pid, 3, host_path(log));
    put_region("dev/shm", 7, 51, 1);
    put_region("dev/shm", 8, 52, 1);
    begin();
    look();
    T_EQ(view.buffers_count, 0);
    put_region("dev/shm", 9, 50, 1); /* its name is that of the region */
    look();
    T_TRUE(view.buffers_count == 1 && view.buffers[0].pid == 50);
    end();
}

T_TEST(an_empty_host_is_no_error_and_a_missing_root_is_one)
{
    struct tts_error err = {0};
    host_new("empty");
    begin();
    look();
    T_TRUE(!view.driver_loaded && view.chip_count == 0 && view.process_count == 0);
    T_TRUE(view.region_count == 0 && !view.own_namespace_known);
    end();
    T_EQ(tts_livehost_open(t_scratch("missing"), NULL, &host, &err), TTS_E_IO);
    T_TRUE(strstr(err.text, "cannot read the system files in '") == err.text);
    tts_livehost_close(NULL);
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

T_TEST(without_memory_a_read_fails_or_leaves_a_log_out)
{
    struct heap heap;
    uint64_t calls = 0;
    host_new_driver("memory", "2.10.0\n");
    host_add_chip(0, "0x401e\n");
    host_add_pids(0, "50\n");
    host_add_process(50, "python3", "50", 60);
    host_add_fd(50, 3, host_path(put_log("work", 64)));
    put_region("dev/shm", 7, 50, 1);
    int before = open_descriptors();
    for (uint64_t fail_at = 0; fail_at <= calls; fail_at++) {
        heap_init(&heap);
        heap.fail_at = fail_at;
        tts_hostview_init(&view, &heap.alloc);
        enum tts_status status = tts_livehost_open(host_root, &heap.alloc, &host, NULL);
        if (status == TTS_OK) {
            status = tts_livehost_read(host, &view, NULL);
            if (status != TTS_OK)
                T_TRUE(view.chip_count == 0 && view.process_count == 0);
            else if (fail_at == 0)
                T_TRUE(view.buffers_count == 1 && view.processes[0].start_known);
            tts_livehost_close(host);
        }
        T_TRUE(status == TTS_OK || status == TTS_E_NOMEM);
        calls = fail_at ? calls : heap.calls;
        tts_hostview_release(&view);
        T_TRUE(heap_is_settled(&heap));
        T_EQ(open_descriptors(), before);
    }
    T_TRUE(calls > 8);
}

/* An allocator that stops the read at a call. */
struct stop_heap {
    struct tts_alloc alloc;
    bool is_on; /* calls count */
    uint64_t calls, stop_at, read_bytes;
};

/* Returns the bytes that this process has read, or 0 if the system does not tell. */
static uint64_t count_read_bytes(void)
{
    unsigned long long bytes = 0;
    FILE *io = fopen("/proc/self/io", "r");
    if (io && fscanf(io, "rchar: %llu", &bytes) != 1)
        bytes = 0;
    if (io)
        fclose(io);
    return bytes;
}

static void count_stop_call(struct stop_heap *heap)
{
    if (!heap->is_on || ++heap->calls != heap->stop_at)
        return;
    heap->read_bytes = count_read_bytes();
    tts_livehost_stop(host);
}

static void *stop_alloc(void *ctx, size_t bytes)
{
    count_stop_call(ctx);
    return tts_alloc_libc()->alloc(NULL, bytes);
}

static void *stop_resize(void *ctx, void *memory, size_t old_bytes, size_t bytes)
{
    count_stop_call(ctx);
    return tts_alloc_libc()->resize(NULL, memory, old_bytes, bytes);
}

static void stop_free(void *ctx, void *memory, size_t bytes)
{
    (void)ctx;
    tts_alloc_libc()->free(NULL, memory, bytes);
}

/* Makes a log of 4 MiB and more. */
static void put_long_log(const char *path)
{
    enum { BYTES = 4 << 20, EVENT_BYTES = 256 };
    char *text = malloc(BYTES + EVENT_BYTES);
    size_t len = 0;
    assert_non_null(text);
    for (unsigned id = 1; len < BYTES; id++)
        len += (size_t)snprintf(text + len, EVENT_BYTES,
                                "- mesh_buffer_allocated:\n    id: %u\n    address: %u\n"
                                "    device_local_size: 64\n    buffer_type: L1\n"
                                "    timestamp_ns: 9\n",
                                id, id * 64);
    host_put_bytes(path, text, len);
    free(text);
}

/* Reads the host and stops at a call of the allocator. Returns the number of calls. */
static uint64_t read_until_call(uint64_t stop_at)
{
    const uint64_t piece_bytes = (1 << 20) + (1 << 18); /* and small files */
    struct stop_heap heap = {.alloc = {stop_alloc, stop_resize, stop_free, &heap},
                             .stop_at = stop_at};

    tts_hostview_init(&view, NULL);
    T_EQ(tts_livehost_open(host_root, &heap.alloc, &host, NULL), TTS_OK);
    heap.is_on = true;
    enum tts_status status = tts_livehost_read(host, &view, NULL);
    if (heap.calls < stop_at) {
        T_EQ(status, TTS_OK);
        T_EQ(view.buffers_count, 1);
    } else {
        T_EQ(status, TTS_E_IO);
        T_TRUE(view.chip_count == 0 && view.process_count == 0 && view.buffers_count == 0);
        T_TRUE(count_read_bytes() - heap.read_bytes < piece_bytes);
        T_EQ(tts_livehost_read(host, &view, NULL), TTS_E_IO);
    }
    heap.is_on = false;
    tts_livehost_close(host);
    tts_hostview_release(&view);
    return heap.calls;
}

T_TEST(a_read_that_is_stopped_ends_soon_and_gives_nothing)
{
    const char *log = "work/generated/inspector/mesh_buffers_log.yaml";
    host_new_driver("stopped", "2.0.0");
    host_add_chip(0, "0x401e");
    host_add_pids(0, "50\n");
    host_add_process(50, "python3", "50", 5);
    host_dir("work/generated/inspector");
    put_long_log(log);
    host_add_fd(50, 3, host_path(log));
    uint64_t calls = read_until_call(UINT64_MAX);
    T_TRUE(calls > 1);
    for (uint64_t i = 1; i < calls; i++) /* after the last call, little is left to stop */
        read_until_call(i);
}

T_TEST(this_host_can_be_read)
{
    host_root = "";
    begin();
    look();
    T_TRUE(view.own_namespace_known);
    end();
}
