#include "harness/host.h"
#include "harness/t.h"
#include "sources/hostfile.h"
#include "sources/live/inspector.h"
#include "torture/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define LOGS "work/generated/inspector/"
#define BUFFERS LOGS "mesh_buffers_log.yaml"
#define MESHES LOGS "mesh_devices_log.yaml"

enum { PID = 50 };

static struct tts_inspector *inspector;
static struct tts_seenprocess process;
static struct tts_seenbuffers seen;
static uint64_t now;

static const char *event(uint64_t id, uint64_t bytes)
{
    static char text[300];
    snprintf(text, sizeof text,
             "- mesh_buffer_allocated:\n    id: %" PRIu64 "\n    address: %" PRIu64
             "\n    size: %" PRIu64 "\n    device_local_size: %" PRIu64
             "\n    buffer_type: L1\n    timestamp_ns: %" PRIu64 "\n",
             id, id * 4096, bytes, bytes, 500 + id);
    return text;
}

static void append(const char *path, const char *text)
{
    FILE *file = fopen(host_path(path), "a");
    T_TRUE(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Makes a host with one process without open files. */
static void begin(const char *name)
{
    host_new(name);
    host_add_process(PID, "a", "50", 1);
    host_dir(LOGS);
    T_EQ(tts_inspector_new(NULL, &inspector, NULL), TTS_OK);
    process = (struct tts_seenprocess){.pid = PID};
    now = 100;
}

static void end(void)
{
    tts_inspector_free(inspector);
}

static enum tts_status look_at_most(uint64_t seconds, uint64_t max)
{
    int dir = open(host_path(host_process(PID, "")), O_PATH | O_DIRECTORY);
    now += seconds;
    enum tts_status status = tts_inspector_read(inspector, dir, &process, now * SECOND, max);
    close(dir);
    seen = (struct tts_seenbuffers){.pid = PID};
    if (status == TTS_OK)
        tts_inspector_fill(inspector, &seen);
    return status;
}

static enum tts_status look(uint64_t seconds)
{
    return look_at_most(seconds, UINT64_MAX);
}

/* Makes the list of open files unreadable, so that the log is looked for by its name. */
static void hide_open_files(void)
{
    T_EQ(rmdir(host_path(host_process(PID, "fd"))), 0);
}

/* Writes when the runtime started. */
static void put_startup(const char *path, uint64_t seconds)
{
    char text[200];
    snprintf(text, sizeof text,
             "startup_time:\n  system_clock_ns: %" PRIu64 "\n  high_resolution_clock_ns: 400\n",
             seconds * SECOND);
    host_put(path, text);
}

/* Adds an open file to the process. */
static void add_open(uint32_t fd, const char *path)
{
    host_add_fd(PID, fd, host_path(path));
}

T_TEST(the_log_is_found_among_the_open_files_and_followed)
{
    begin("open");
    T_EQ(look(0), TTS_E_NOT_FOUND);
    host_put(BUFFERS, event(1, 64));
    host_put(MESHES, "- mesh_device_created:\n    mesh_id: 1\n    devices: [3]\n");
    add_open(3, BUFFERS);
    add_open(4, MESHES);
    T_EQ(look(0), TTS_E_NOT_FOUND); /* searched again after a second */
    T_EQ(look(1), TTS_OK);
    T_TRUE(tts_inspector_is_open_file(inspector));
    T_TRUE(seen.bytes[TTS_POOL_L1] == 64 && seen.is_complete && !seen.update_known);
    T_TRUE(seen.devices_known && seen.device_count == 1 && seen.devices[0] == 3);
    append(BUFFERS, event(2, 100));
    T_EQ(look(0), TTS_OK);
    T_TRUE(seen.bytes[TTS_POOL_L1] == 164 && seen.buffers[TTS_POOL_L1] == 2);
    append(MESHES, "- mesh_device_destroyed:\n    mesh_id: 1\n");
    T_EQ(look(0), TTS_OK);
    T_TRUE(!seen.devices_known && seen.is_complete);
    end();
}

/* The keys, their order and their indentation are those of the runtime: see "Compared with" in
 * docs/design/live-sources.md. */
T_TEST(the_files_of_the_runtime_are_read_as_the_runtime_writes_them)
{
    begin("runtime");
    host_dir(LOGS "_rank_1");
    host_put(LOGS "_rank_1/startup.yaml", "startup_time:\n"
                                          "  system_clock_iso: '2025-10-09T08:53:20Z'\n"
                                          "  system_clock_ns: 1760000000000000000\n"
                                          "  high_resolution_clock_ns: 90000000000\n");
    host_put(LOGS "_rank_1/mesh_devices_log.yaml", "- mesh_device_created:\n"
                                                   "    mesh_id: 0\n"
                                                   "    timestamp_ns: 90000000001\n"
                                                   "    devices: [4, 5]\n"
                                                   "    shape: [1, 2]\n"
                                                   "- mesh_device_initialized:\n"
                                                   "    mesh_id: 0\n"
                                                   "    timestamp_ns: 90000000002\n"
                                                   "- mesh_device_created:\n"
                                                   "    mesh_id: 1\n"
                                                   "    timestamp_ns: 90000000003\n"
                                                   "    parent_mesh_id: 0\n"
                                                   "    devices: [4]\n"
                                                   "    shape: [1, 1]\n"
                                                   "- mesh_device_destroyed:\n"
                                                   "    mesh_id: 1\n"
                                                   "    timestamp_ns: 90000000004\n");
    host_put(LOGS "_rank_1/mesh_buffers_log.yaml", "- mesh_buffer_allocated:\n"
                                                   "    id: 94237716181120\n"
                                                   "    address: 1048576\n"
                                                   "    size: 8192\n"
                                                   "    device_local_size: 4096\n"
                                                   "    buffer_type: DRAM\n"
                                                   "    timestamp_ns: 90000000010\n"
                                                   "- mesh_buffer_allocated:\n"
                                                   "    id: 94237716181376\n"
                                                   "    address: 4096\n"
                                                   "    size: 2048\n"
                                                   "    device_local_size: 2048\n"
                                                   "    buffer_type: L1_SMALL\n"
                                                   "    timestamp_ns: 90000000011\n"
                                                   "- mesh_buffer_deallocated:\n"
                                                   "    id: 94237716181120\n"
                                                   "    address: 1048576\n"
                                                   "    timestamp_ns: 95000000000\n");
    add_open(3, LOGS "_rank_1/mesh_buffers_log.yaml");
    add_open(4, LOGS "_rank_1/mesh_devices_log.yaml");
    T_EQ(symlink("/", host_path(host_process(PID, "root"))), 0);
    T_EQ(look(0), TTS_OK);
    T_TRUE(seen.bytes[TTS_POOL_DRAM] == 0 && seen.buffers[TTS_POOL_DRAM] == 0);
    T_TRUE(seen.bytes[TTS_POOL_L1_SMALL] == 2048 && seen.buffers[TTS_POOL_L1_SMALL] == 1);
    T_TRUE(seen.events == 3 && seen.bad_lines == 0 && seen.unknown_frees == 0);
    T_TRUE(seen.devices_known && seen.device_count == 2);
    T_TRUE(seen.devices[0] == 4 && seen.devices[1] == 5);
    T_TRUE(seen.update_known && seen.update_ns == UINT64_C(1760000005000000000));
    end();
}

T_TEST(a_process_without_a_log_is_searched_less_and_less_often)
{
    static const uint64_t waits[] = {1, 2, 4, 8, 16, 32, 64, 64};
    for (size_t found_at = 0; found_at < 8; found_at++) {
        begin("backoff");
        host_put(BUFFERS, "");
        look(0);
        for (size_t i = 0; i < found_at; i++)
            T_EQ(look(waits[i]), TTS_E_NOT_FOUND);
        add_open(3, BUFFERS);
        T_EQ(look(waits[found_at] - 1), TTS_E_NOT_FOUND);
        T_EQ(look(1), TTS_OK);
        T_EQ(unlink(host_path(host_process(PID, "fd/3"))), 0);
        end();
    }
}

T_TEST(only_the_names_that_the_runtime_uses_are_logs)
{
    static const struct {
        const char *path;
        bool is_log;
    } names[] = {
        {"work/generated/inspector/mesh_buffers_log.yaml", true},
        {"work/generated/inspector/_rank_12/mesh_buffers_log.yaml", true},
        {"work/elsewhere/_rank_0/mesh_buffers_log.yaml", true},
        {"work/elsewhere/mesh_buffers_log.yaml", false},
        {"work/_rank_/mesh_buffers_log.yaml", false},
        {"work/_rank_x1/mesh_buffers_log.yaml", false},
        {"work/a_rank_1/mesh_buffers_log.yaml", false},
        {"work/xgenerated/inspector/mesh_buffers_log.yaml", false},
        {"work/generated/inspector/mesh_devices_log.yaml", false},
        {"work/generated/inspector/mesh_buffers_log.yaml2", false},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char dir[128];
        begin("names");
        snprintf(dir, sizeof dir, "%s", names[i].path);
        *strrchr(dir, '/') = '\0';
        host_dir(dir);
        host_put(names[i].path, event(1, 64));
        add_open(3, names[i].path);
        T_EQ(look(0), names[i].is_log ? TTS_OK : TTS_E_NOT_FOUND);
        T_EQ(unlink(host_path(names[i].path)), 0);
        T_EQ(unlink(host_path(host_process(PID, "fd/3"))), 0);
        end();
    }
}

T_TEST(a_log_without_a_name_is_read_through_its_descriptor)
{
    begin("deleted");
    host_put(BUFFERS " (deleted)", event(1, 64));
    host_put(MESHES " (deleted)", "- mesh_device_created:\n  mesh_id: 1\n  devices: [0]\n");
    host_put(MESHES, "- mesh_device_created:\n  mesh_id: 1\n  devices: [9]\n");
    add_open(3, BUFFERS " (deleted)");
    add_open(4, MESHES " (deleted)");
    T_EQ(symlink("/", host_path(host_process(PID, "root"))), 0);
    T_EQ(look(0), TTS_OK);
    T_TRUE(seen.bytes[TTS_POOL_L1] == 64 && seen.devices_known && seen.devices[0] == 0);
    end();
    T_EQ(tts_inspector_new(NULL, &inspector, NULL), TTS_OK);
    T_EQ(unlink(host_path(host_process(PID, "fd/4"))), 0);
    T_EQ(look(0), TTS_OK);
    T_TRUE(!seen.devices_known); /* the log beside the name belongs to another process */
    end();
}

T_TEST(a_log_that_is_truncated_begins_anew)
{
    begin("truncated");
    host_put(BUFFERS, event(1, 64));
    append(BUFFERS, event(2, 64));
    add_open(3, BUFFERS);
    T_EQ(look(0), TTS_OK);
    T_EQ(seen.bytes[TTS_POOL_L1], 128);
    host_put(BUFFERS, event(3, 5));
    T_EQ(look(0), TTS_OK);
    T_TRUE(seen.bytes[TTS_POOL_L1] == 5 && seen.is_complete);
    host_put(BUFFERS, "");
    T_EQ(look(0), TTS_OK);
    T_TRUE(seen.bytes[TTS_POOL_L1] == 0 && seen.is_complete);
    append(BUFFERS, event(4, 6));
    T_EQ(look(0), TTS_OK);
    T_EQ(seen.bytes[TTS_POOL_L1], 6);
    end();
}

T_TEST(a_log_that_grew_again_past_its_old_size_begins_anew)
{
    begin("regrown");
    host_put(BUFFERS, event(1, 64));
    add_open(3, BUFFERS);
    T_EQ(look(0), TTS_OK);
    host_put(BUFFERS, event(7, 5));
    append(BUFFERS, event(8, 6));
    T_EQ(look(0), TTS_OK);
    T_TRUE(seen.bytes[TTS_POOL_L1] == 11 && seen.is_complete);
    end();
}

T_TEST(a_log_that_is_made_again_is_opened_again)
{
    begin("recreated");
    host_put(BUFFERS, event(1, 64));
    add_open(3, BUFFERS);
    T_EQ(look(0), TTS_OK);
    T_EQ(rename(host_path(BUFFERS), host_path("old")), 0);
    T_EQ(unlink(host_path("old")), 0);
    host_put(BUFFERS, event(2, 7));
    T_EQ(look(1), TTS_OK);
    T_TRUE(seen.bytes[TTS_POOL_L1] == 7 && seen.buffers[TTS_POOL_L1] == 1);
    end();
}

T_TEST(the_name_of_a_log_comes_from_the_environment_or_the_directory_below_the_root)
{
    static const char environ[] = "A=1\0TT_METAL_LOGS_PATH=/logs\0B=2";
    static const char relative[] = "TT_METAL_LOGS_PATH=logs\0";
    begin("names");
    hide_open_files();
    process.start_known = true;
    process.start_ns = 1000 * SECOND;
    host_dir("c/logs/generated/inspector");
    host_dir("c/home/generated/inspector");
    host_dir("c/home/logs/generated/inspector");
    host_put("c/logs/generated/inspector/mesh_buffers_log.yaml", event(1, 10));
    host_put("c/logs/generated/inspector/mesh_devices_log.yaml",
             "- mesh_device_created:\n  mesh_id: 1\n  devices: [8]\n");
    host_put("c/home/generated/inspector/mesh_buffers_log.yaml", event(1, 20));
    host_put("c/home/logs/generated/inspector/mesh_buffers_log.yaml", event(1, 30));
    put_startup("c/logs/generated/inspector/startup.yaml", 1010);
    put_startup("c/home/generated/inspector/startup.yaml", 1010);
    put_startup("c/home/logs/generated/inspector/startup.yaml", 1010);
    T_EQ(symlink(host_path("c"), host_path(host_process(PID, "root"))), 0);
    T_EQ(symlink("/home", host_path(host_process(PID, "cwd"))), 0);
    T_EQ(look(0), TTS_OK);
    T_TRUE(seen.bytes[TTS_POOL_L1] == 20 && !tts_inspector_is_open_file(inspector));
    end();

    T_EQ(tts_inspector_new(NULL, &inspector, NULL), TTS_OK);
    host_put_bytes(host_process(PID, "environ"), environ, sizeof environ);
    T_EQ(look(0), TTS_OK);
    T_TRUE(seen.bytes[TTS_POOL_L1] == 10 && seen.devices_known && seen.devices[0] == 8);
    T_TRUE(seen.update_known && seen.update_ns == 1010 * SECOND + 501 - 400);
    end();

    T_EQ(tts_inspector_new(NULL, &inspector, NULL), TTS_OK);
    host_put_bytes(host_process(PID, "environ"), relative, sizeof relative);
    T_EQ(look(0), TTS_OK);
    T_EQ(seen.bytes[TTS_POOL_L1], 30);
    end();
}

/* Makes a log that is found only by its name, and was changed at 1000 s. */
static void begin_named(const char *name)
{
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    begin(name);
    hide_open_files();
    host_put(BUFFERS, event(1, 10));
    T_EQ(symlink(host_root, host_path(host_process(PID, "root"))), 0);
    T_EQ(symlink("/work", host_path(host_process(PID, "cwd"))), 0);
    T_EQ(utimensat(AT_FDCWD, host_path(BUFFERS), old, 0), 0);
    process.start_known = process.uid_known = true;
    process.start_ns = 900 * SECOND;
    process.uid = getuid();
}

T_TEST(a_log_of_an_earlier_process_or_another_user_is_not_taken)
{
    begin_named("earlier");
    put_startup(LOGS "startup.yaml", 910);
    process.start_ns = 1001 * SECOND;
    T_EQ(look(0), TTS_E_NOT_FOUND);
    process.start_ns = 900 * SECOND;
    process.uid = getuid() + 1;
    T_EQ(look(1), TTS_E_NOT_FOUND);
    T_TRUE(!tts_inspector_is_unsure(inspector));
    process.uid = getuid();
    T_EQ(look(2), TTS_OK);
    end();
}

T_TEST(a_killed_process_that_wrote_after_the_start_of_a_live_one_keeps_its_log)
{
    begin_named("killed");
    put_startup(LOGS "startup.yaml", 800); /* the process started at 900 */
    T_EQ(look(0), TTS_E_NOT_FOUND);
    T_TRUE(!tts_inspector_is_unsure(inspector));
    end();
}

/* Gives the process many open files that are no logs. The links are one file with many names,
 * which is faster to make than many files. */
static void add_many_open(int begin_at, int end_at)
{
    char name[32];
    int fds = open(host_path(host_process(PID, "fd")), O_PATH | O_DIRECTORY);
    for (int i = begin_at; i < end_at; i++) {
        snprintf(name, sizeof name, "%d", i);
        T_EQ(i ? linkat(fds, "0", fds, name, 0) : symlinkat("/dev/null", fds, name), 0);
    }
    close(fds);
}

T_TEST(a_log_beside_a_process_with_too_many_open_files_is_not_taken_but_told)
{
    begin_named("many");
    put_startup(LOGS "startup.yaml", 910);
    host_dir(host_process(PID, "fd"));
    host_put(BUFFERS, event(1, 10));
    add_many_open(0, 4200);
    T_EQ(look(0), TTS_E_NOT_FOUND); /* all were looked at */
    T_TRUE(!tts_inspector_is_unsure(inspector));
    add_many_open(4200, 8200);
    T_EQ(look(1), TTS_E_NOT_FOUND);
    T_TRUE(tts_inspector_is_unsure(inspector));
    end();
}

T_TEST(a_process_that_does_not_have_the_log_open_has_no_log)
{
    begin_named("not_open");
    put_startup(LOGS "startup.yaml", 910);
    host_dir(host_process(PID, "fd"));
    T_EQ(look(0), TTS_E_NOT_FOUND);
    T_TRUE(!tts_inspector_is_unsure(inspector));
    end();
}

T_TEST(a_log_whose_owner_cannot_be_told_is_not_taken_but_told)
{
    begin_named("unsure");
    T_EQ(look(0), TTS_E_NOT_FOUND);
    T_TRUE(tts_inspector_is_unsure(inspector)); /* no startup.yaml */
    put_startup(LOGS "startup.yaml", 900 + 3601);
    T_EQ(look(1), TTS_E_NOT_FOUND);
    T_TRUE(tts_inspector_is_unsure(inspector));
    process.start_known = false;
    put_startup(LOGS "startup.yaml", 910);
    T_EQ(look(2), TTS_E_NOT_FOUND);
    T_TRUE(tts_inspector_is_unsure(inspector));
    process.start_known = true;
    T_EQ(look(4), TTS_OK);
    T_TRUE(!tts_inspector_is_unsure(inspector));
    end();
}

T_TEST(names_do_not_lead_out_of_the_root_of_the_process)
{
    begin("escape");
    hide_open_files();
    process.start_known = true;
    put_startup(LOGS "startup.yaml", 10);
    host_put(BUFFERS, event(1, 10));
    host_dir("c/home/generated");
    T_EQ(symlink(host_path("c"), host_path(host_process(PID, "root"))), 0);
    T_EQ(symlink("/home", host_path(host_process(PID, "cwd"))), 0);
    T_EQ(symlink(host_path(LOGS), host_path("c/home/generated/inspector")), 0);
    T_EQ(look(0), TTS_E_NOT_FOUND);
    T_EQ(unlink(host_path("c/home/generated/inspector")), 0);
    T_EQ(symlink("../../../" LOGS, host_path("c/home/generated/inspector")), 0);
    T_EQ(look(1), TTS_E_NOT_FOUND);
    end();
}

T_TEST(pipes_and_directories_are_not_opened)
{
    begin("kinds");
    T_EQ(mkfifo(host_path(BUFFERS), 0644), 0);
    add_open(3, BUFFERS);
    T_EQ(look(0), TTS_E_NOT_FOUND);
    T_EQ(unlink(host_path(BUFFERS)), 0);
    host_dir(BUFFERS);
    T_EQ(look(1), TTS_E_NOT_FOUND);
    T_EQ(rmdir(host_path(BUFFERS)), 0);
    T_EQ(symlink("/dev/full", host_path(BUFFERS)), 0);
    T_EQ(look(2), TTS_E_NOT_FOUND);
    end();
}

T_TEST(a_long_log_is_read_in_parts_and_is_incomplete_until_then)
{
    begin("parts");
    host_put(BUFFERS, "");
    for (uint64_t i = 1; i <= 50; i++)
        append(BUFFERS, event(i, 1));
    add_open(3, BUFFERS);
    T_EQ(look_at_most(0, 500), TTS_OK);
    T_TRUE(seen.buffers[TTS_POOL_L1] < 5 && !seen.is_complete);
    for (int i = 0; i < 50; i++)
        T_EQ(look_at_most(0, 500), TTS_OK);
    T_TRUE(seen.buffers[TTS_POOL_L1] == 50 && seen.is_complete);
    end();
}

T_TEST(two_processes_with_one_log_are_told)
{
    struct tts_inspector *other;
    begin("shared");
    host_put(BUFFERS, event(1, 1));
    add_open(3, BUFFERS);
    T_EQ(look(0), TTS_OK);
    struct tts_inspector *first = inspector;
    T_EQ(tts_inspector_new(NULL, &other, NULL), TTS_OK);
    T_TRUE(!tts_inspector_is_same(first, other) && !tts_inspector_is_same(other, other));
    inspector = other;
    T_EQ(look(0), TTS_OK);
    T_TRUE(tts_inspector_is_same(first, other));
    tts_inspector_free(first);
    end();
}

T_TEST(without_memory_no_log_is_found_and_nothing_is_kept)
{
    struct heap heap;
    uint64_t calls = 0;
    begin("memory");
    end();
    host_put(BUFFERS, event(1, 1));
    add_open(3, BUFFERS);
    for (uint64_t fail_at = 0; fail_at <= calls; fail_at++) {
        heap_init(&heap);
        heap.fail_at = fail_at;
        if (tts_inspector_new(&heap.alloc, &inspector, NULL) == TTS_OK) {
            enum tts_status status = look(100);
            T_TRUE(status == TTS_OK || status == TTS_E_NOMEM);
            T_EQ(status == TTS_OK && seen.is_complete, fail_at == 0);
            end();
        }
        calls = fail_at ? calls : heap.calls;
        T_TRUE(heap_is_settled(&heap));
    }
    T_TRUE(calls >= 4);
}
