#include "harness/t.h"
#include "wire/clientwriter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns a directory of this test, for regions. */
static const char *region_directory(void)
{
    static char path[200];
    snprintf(path, sizeof path, "%s", t_scratch("regions"));
    assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
    return path;
}

static struct tts_clientwriter_config small_config(void)
{
    struct tts_clientwriter_config config = {.directory = region_directory(),
                                             .writer = TTS_CLIENTREGION_BY_PROCESS,
                                             .device_slots = 2,
                                             .op_slots = 2,
                                             .buffer_slots = 4,
                                             .event_slots = 4};
    T_EQ(tts_clientidentity_own(&config.process, NULL), TTS_OK);
    config.writer_pid = config.process.pid;
    config.writer_start_ticks = config.process.start_ticks;
    return config;
}

/* A copy of a region file, as a reader reads it. */
struct region_copy {
    struct tts_clientregion_header header;
    struct tts_clientregion_device devices[2];
    char ops[2][TTS_CLIENTREGION_NAME_BYTES];
    struct tts_clientregion_buffer buffers[4];
    struct tts_clientregion_event events[4];
};

static struct region_copy read_region(const char *path)
{
    struct region_copy copy;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    T_EQ(pread(fd, &copy, sizeof copy, 0), sizeof copy);
    close(fd);
    return copy;
}

T_TEST(identity_is_the_identity_of_this_process)
{
    struct tts_clientidentity own, child = {0};
    int pipes[2], status;
    T_EQ(tts_clientidentity_own(&own, NULL), TTS_OK);
    T_EQ(own.pid, getpid());
    T_EQ(own.uid, getuid());
    T_TRUE(own.start_ticks > 0 && own.pid_namespace > 0);
    T_STR_EQ(own.comm, "test_clientwrit"); /* 15 bytes are what the kernel keeps */
    T_EQ(pipe(pipes), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (tts_clientidentity_own(&child, NULL) != TTS_OK ||
            write(pipes[1], &child, sizeof child) != sizeof child)
            _exit(1);
        _exit(0);
    }
    T_EQ(read(pipes[0], &child, sizeof child), sizeof child);
    T_EQ(waitpid(pid, &status, 0), pid);
    T_EQ(child.pid, pid);
    T_EQ(child.pid_namespace, own.pid_namespace);
    T_TRUE(child.start_ticks >= own.start_ticks);
    close(pipes[0]);
    close(pipes[1]);
}

T_TEST(a_new_region_is_complete_and_private)
{
    struct tts_clientwriter w;
    struct tts_clientwriter_config config = small_config();
    struct stat info;
    char name[200];
    mode_t mask = umask(0);
    T_EQ(tts_clientwriter_open(&config, &w, NULL), TTS_OK);
    umask(mask);
    snprintf(name, sizeof name, "%s/ttscope_%u_%llu_%llu", config.directory, config.process.pid,
             (unsigned long long)config.process.start_ticks,
             (unsigned long long)config.process.pid_namespace);
    T_STR_EQ(w.path, name);
    T_EQ(stat(w.path, &info), 0);
    T_EQ(info.st_mode & 0777, 0600);
    T_EQ(info.st_size, sizeof(struct region_copy));
    T_TRUE(info.st_blocks * 512 >= info.st_size); /* all space is reserved */
    struct region_copy copy = read_region(w.path);
    T_MEM_EQ(copy.header.magic, "TTSCLNT\n", 8);
    T_EQ(copy.header.version, 1);
    T_EQ(copy.header.file_bytes, sizeof copy);
    T_EQ(copy.header.header_bytes, 4096);
    T_EQ(copy.header.devices_off, offsetof(struct region_copy, devices));
    T_EQ(copy.header.ops_off, offsetof(struct region_copy, ops));
    T_EQ(copy.header.buffers_off, offsetof(struct region_copy, buffers));
    T_EQ(copy.header.events_off, offsetof(struct region_copy, events));
    T_EQ(copy.header.state, TTS_CLIENTREGION_LIVE);
    T_EQ(copy.header.pid, getpid());
    T_STR_EQ(copy.header.comm, config.process.comm);
    T_TRUE(copy.header.begin_ns > 0);
    char boot[40] = "", text[40] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    T_TRUE(file && fgets(boot, sizeof boot, file));
    fclose(file);
    for (int i = 0, at = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text[at++] = '-';
        at += snprintf(text + at, sizeof text - (size_t)at, "%02x", copy.header.boot_id[i]);
    }
    boot[strcspn(boot, "\n")] = '\0';
    T_STR_EQ(text, boot);
    tts_clientwriter_close(&w, true, false);
    T_TRUE(access(name, F_OK) != 0);
    T_TRUE(w.header == NULL);
    tts_clientwriter_close(&w, true, false); /* a struct of zeros */
}

T_TEST(buffers_and_events_have_their_stamps)
{
    struct tts_clientwriter w;
    struct tts_clientwriter_config config = small_config();
    T_EQ(tts_clientwriter_open(&config, &w, NULL), TTS_OK);
    T_EQ(tts_clientwriter_add_op(&w, "ttnn::matmul"), 0);
    T_EQ(tts_clientwriter_add_op(&w,
                                 "0123456789012345678901234567890123456789012345678901234567890"
                                 "the_end"),
         1);
    T_EQ(tts_clientwriter_add_op(&w, "third"), UINT32_MAX);
    for (uint64_t i = 0; i < 6; i++) {
        if (i < 3)
            tts_clientwriter_put_buffer(&w, (uint32_t)i,
                                        &(struct tts_clientregion_buffer){
                                            .stamp = i + 1, .id = 70 + i, .size_bytes = 9});
        tts_clientwriter_put_event(
            &w, &(struct tts_clientregion_event){.time_ns = 1000 + i, .id = i, .stamp = 77});
    }
    tts_clientwriter_drop_buffer(&w, 1);
    struct region_copy copy = read_region(w.path);
    T_STR_EQ(copy.ops[0], "ttnn::matmul");
    T_EQ(strlen(copy.ops[1]), 63);
    T_STR_EQ(copy.ops[1] + 63 - 7, "the_end");
    T_EQ(copy.header.op_count, 2);
    T_EQ(copy.header.events, 6);
    T_EQ(copy.header.update_ns, 1005);
    T_EQ(copy.header.buffer_high, 3);
    T_EQ(copy.buffers[0].stamp, 1);
    T_EQ(copy.buffers[0].id, 70);
    T_EQ(copy.buffers[1].stamp, 0);
    T_EQ(copy.buffers[2].stamp, 3);
    T_EQ(copy.buffers[3].stamp, 0);
    for (uint64_t i = 2; i < 6; i++) {
        T_EQ(copy.events[i % 4].stamp, i + 1);
        T_EQ(copy.events[i % 4].id, i);
    }
    tts_clientwriter_close(&w, true, false);
}

T_TEST(devices_are_found_again_until_the_slots_are_used_up)
{
    struct tts_clientwriter w;
    struct tts_clientwriter_config config = small_config();
    T_EQ(tts_clientwriter_open(&config, &w, NULL), TTS_OK);
    struct tts_clientregion_device *first = tts_clientwriter_device(&w, 7);
    struct tts_clientregion_device *second = tts_clientwriter_device(&w, 0);
    T_TRUE(first && second && first != second);
    T_TRUE(tts_clientwriter_device(&w, 7) == first);
    T_TRUE(tts_clientwriter_device(&w, 0) == second);
    T_TRUE(tts_clientwriter_device(&w, 1) == NULL);
    tts_clientdevice_lock(first);
    T_EQ(read_region(w.path).devices[0].lock, 1);
    tts_clientdevice_unlock(first);
    struct region_copy copy = read_region(w.path);
    T_EQ(copy.devices[0].lock, 2);
    T_EQ(copy.devices[0].id, 7);
    T_EQ(copy.header.device_count, 2);
    tts_clientwriter_close(&w, true, false);
}

T_TEST(a_left_over_is_replaced_and_only_the_own_file_is_removed)
{
    struct tts_clientwriter first, second;
    struct tts_clientwriter_config config = small_config();
    T_EQ(tts_clientwriter_open(&config, &first, NULL), TTS_OK);
    T_EQ(tts_clientwriter_open(&config, &second, NULL), TTS_OK);
    char path[TTS_CLIENTWRITER_PATH_MAX];
    snprintf(path, sizeof path, "%s", second.path);
    T_STR_EQ(first.path, path);
    tts_clientwriter_close(&first, true, false);
    T_EQ(read_region(path).header.state, TTS_CLIENTREGION_LIVE);
    tts_clientwriter_close(&second, false, false);
    T_EQ(read_region(path).header.state, TTS_CLIENTREGION_ENDED);
    T_EQ(unlink(path), 0);
}

T_TEST(a_server_does_not_replace_the_region_of_a_process)
{
    struct tts_clientwriter own, server;
    struct tts_clientwriter_config config = small_config();
    T_EQ(tts_clientwriter_open(&config, &own, NULL), TTS_OK);
    struct tts_clientwriter_config by_server = config;
    by_server.writer = TTS_CLIENTREGION_BY_SERVER;
    T_EQ(tts_clientwriter_open(&by_server, &server, NULL), TTS_E_BUSY);
    tts_clientwriter_close(&own, false, false);
    T_EQ(tts_clientwriter_open(&by_server, &server, NULL), TTS_OK); /* the process has ended */
    T_EQ(tts_clientwriter_open(&config, &own, NULL), TTS_OK);
    tts_clientwriter_close(&server, true, false);
    T_EQ(read_region(own.path).header.writer, TTS_CLIENTREGION_BY_PROCESS);
    tts_clientwriter_close(&own, true, false);
}

T_TEST(a_child_leaves_the_file_alone)
{
    struct tts_clientwriter w;
    struct tts_clientwriter_config config = small_config();
    int status;
    T_EQ(tts_clientwriter_open(&config, &w, NULL), TTS_OK);
    pid_t pid = fork();
    if (pid == 0) {
        tts_clientwriter_close(&w, true, true);
        _exit(w.header ? 1 : 0);
    }
    T_EQ(waitpid(pid, &status, 0), pid);
    T_EQ(status, 0);
    T_EQ(read_region(w.path).header.state, TTS_CLIENTREGION_LIVE);
    tts_clientwriter_close(&w, true, false);
}

T_TEST(bad_configurations_and_directories_are_refused_and_leave_no_file)
{
    struct tts_clientwriter w;
    struct tts_error err;
    struct tts_clientwriter_config config = small_config();
    config.event_slots = 3;
    T_EQ(tts_clientwriter_open(&config, &w, &err), TTS_E_RANGE);
    T_STR_EQ(err.text, "event_slots is 3: give 0 or a power of two");
    config.event_slots = 4;
    config.buffer_slots = TTS_CLIENTREGION_BUFFERS_MAX + 1;
    T_EQ(tts_clientwriter_open(&config, &w, &err), TTS_E_RANGE);
    config.buffer_slots = 4;
    config.directory = "/nowhere";
    T_EQ(tts_clientwriter_open(&config, &w, &err), TTS_E_IO);
    T_TRUE(strstr(err.text, "'/nowhere/ttscope_") && strstr(err.text, "make the directory"));
    config.directory = region_directory();
    /* A limit of file sizes, because a full file system needs privileges. */
    struct rlimit limit;
    T_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    T_EQ(setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, limit.rlim_max}), 0);
    T_EQ(tts_clientwriter_open(&config, &w, &err), TTS_E_IO);
    T_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    T_TRUE(strstr(err.text, "ulimit -f"));
    T_EQ(rmdir(config.directory), 0); /* no file is left */
}

T_TEST(a_region_may_have_no_table_and_no_ring)
{
    struct tts_clientwriter w;
    struct tts_clientwriter_config config = small_config();
    config.buffer_slots = config.event_slots = config.op_slots = 0;
    T_EQ(tts_clientwriter_open(&config, &w, NULL), TTS_OK);
    T_EQ(tts_clientwriter_add_op(&w, "op"), UINT32_MAX);
    tts_clientwriter_put_event(&w, &(struct tts_clientregion_event){.time_ns = 5});
    T_EQ(w.header->events, 1);
    T_EQ(w.header->update_ns, 5);
    tts_clientwriter_close(&w, true, false);
}
