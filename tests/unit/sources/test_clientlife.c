/* Tests which programs that publish are alive, and the removal of the files of dead ones. */
#include "harness/client_rig.h"
#include "sources/live/clientclean.h"
#include "sources/live/livehost.h"
#include "torture/heap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { OTHER_SPACE = 78 };
#define FIRST_SPACE UINT64_C(0xeffffffc)

static struct tts_livehost *host;
static struct tts_hostview view;
static struct tts_clientwriter writer;

/* Makes a host whose own namespace is `space`. */
static void begin_life(const char *name, uint64_t space)
{
    char link[64];
    host_new(name);
    host_dir("proc/self/ns");
    snprintf(link, sizeof link, "pid:[%" PRIu64 "]", space);
    T_EQ(symlink(link, host_path("proc/self/ns/pid")), 0);
    client_directory();
    T_EQ(tts_livehost_open(host_root, NULL, &host, NULL), TTS_OK);
    tts_hostview_init(&view, NULL);
}

static void end_life(void)
{
    tts_livehost_close(host);
    tts_hostview_release(&view);
}

/* The process of the regions: it started at CLIENT_START ticks. */
static void add_publisher(uint32_t pid, const char *levels, uint64_t space)
{
    char link[64];
    host_add_process(pid, "python3", levels, (uint32_t)(CLIENT_START / sysconf(_SC_CLK_TCK)));
    snprintf(link, sizeof link, "pid:[%" PRIu64 "]", space);
    T_EQ(symlink(link, host_path(host_process(pid, "ns/pid"))), 0);
}

static const struct tts_seenclient *seen_client(void)
{
    T_EQ(tts_livehost_read(host, &view, NULL), TTS_OK);
    T_EQ(view.client_count, 1);
    return &view.clients[0];
}

/* 'l': live, 'd': dead, '?': not judged */
static char life_of_client(void)
{
    const struct tts_seenclient *client = seen_client();
    T_TRUE(client->is_judged || !client->is_alive);
    T_TRUE((client->pid != 0) == client->is_alive);
    for (size_t i = 0; i < view.view_count; i++)
        T_EQ(view.views[i].pid, client->pid);
    return client->is_alive ? 'l' : client->is_judged ? 'd' : '?';
}

T_TEST(a_process_with_the_number_and_the_start_of_the_region_is_its_program)
{
    begin_life("near", CLIENT_SPACE);
    client_make(&writer, CLIENT_PID);
    client_alloc(&writer, 0, 0, 0, 64);
    add_publisher(CLIENT_PID, "4711", CLIENT_SPACE);
    T_EQ(life_of_client(), 'l');
    T_TRUE(view.view_count == 1 && view.clients[0].pid == CLIENT_PID);
    host_remove_process(CLIENT_PID);
    T_EQ(life_of_client(), 'd');
    /* The number is used again. */
    host_add_process(CLIENT_PID, "other", "4711", 9999);
    T_EQ(life_of_client(), 'd');
    client_kill(&writer);
    end_life();
}

T_TEST(a_program_without_a_known_namespace_is_judged_only_if_it_is_found)
{
    struct tts_clientwriter_config config;
    begin_life("unknown", CLIENT_SPACE);
    config = client_config(CLIENT_PID);
    config.process.pid_namespace = 0;
    client_open(&writer, &config);
    T_EQ(life_of_client(), '?');
    add_publisher(CLIENT_PID, "4711", CLIENT_SPACE);
    T_EQ(life_of_client(), 'l');
    client_kill(&writer);
    end_life();
}

T_TEST(a_program_of_another_namespace_is_searched)
{
    begin_life("inside", FIRST_SPACE);
    client_make(&writer, 4);
    T_EQ(life_of_client(), '?'); /* process 1 is hidden, so others may be */
    client_kill(&writer);
    end_life();
    begin_life("inside_all", FIRST_SPACE);
    client_make(&writer, 4);
    host_add_process(1, "init", "1", 0);
    add_publisher(5675, "5675\t4", CLIENT_SPACE);
    add_publisher(5676, "5676\t4", OTHER_SPACE);
    T_EQ(life_of_client(), 'l');
    T_EQ(view.clients[0].pid, 5675);
    T_EQ(life_of_client(), 'l');
    host_remove_process(5675);
    T_EQ(life_of_client(), 'd');
    T_EQ(life_of_client(), 'd');
    client_kill(&writer);
    end_life();
}

T_TEST(inside_a_namespace_nobody_can_say_that_others_are_dead)
{
    begin_life("outside", OTHER_SPACE);
    client_make(&writer, 4);
    host_add_process(1, "init", "1", 0);
    T_EQ(life_of_client(), '?');
    client_kill(&writer);
    end_life();
}

T_TEST(several_programs_of_other_namespaces_keep_their_places)
{
    struct tts_clientwriter writers[3];
    char levels[32];
    begin_life("several", FIRST_SPACE);
    host_add_process(1, "init", "1", 0);
    for (uint32_t i = 0; i < 3; i++) {
        client_make(&writers[i], 4 + i);
        snprintf(levels, sizeof levels, "%" PRIu32 "\t%" PRIu32, 700 - i, 4 + i);
        add_publisher(700 - i, levels, CLIENT_SPACE);
    }
    for (int round = 0; round < 3; round++) {
        T_EQ(tts_livehost_read(host, &view, NULL), TTS_OK);
        for (uint32_t i = 0; i < 3; i++)
            T_EQ(view.clients[i].pid, 700 - i);
    }
    tts_clientwriter_close(&writers[0], true, false);
    T_EQ(tts_livehost_read(host, &view, NULL), TTS_OK);
    T_TRUE(view.client_count == 2 && view.clients[0].pid == 699 && view.clients[1].pid == 698);
    client_make(&writers[0], 3);
    add_publisher(650, "650\t3", CLIENT_SPACE);
    T_EQ(tts_livehost_read(host, &view, NULL), TTS_OK);
    T_TRUE(view.clients[0].pid == 650 && view.clients[2].pid == 698);
    for (uint32_t i = 0; i < 3; i++)
        client_kill(&writers[i]);
    end_life();
}

T_TEST(the_region_of_a_server_that_has_ended_is_an_orphan)
{
    struct tts_clientwriter_config config;
    begin_life("server", CLIENT_SPACE);
    config = client_config(CLIENT_PID);
    config.writer = TTS_CLIENTREGION_BY_SERVER;
    config.writer_pid = 300;
    config.writer_start_ticks = CLIENT_START;
    client_open(&writer, &config);
    add_publisher(CLIENT_PID, "4711", CLIENT_SPACE);
    add_publisher(300, "300", CLIENT_SPACE);
    T_TRUE(life_of_client() == 'l' && !view.clients[0].is_orphan);
    host_remove_process(300);
    T_TRUE(life_of_client() == 'l' && view.clients[0].is_orphan);
    client_kill(&writer);
    end_life();
}

T_TEST(a_region_that_another_user_wrote_about_a_program_is_not_believed)
{
    begin_life("owner", CLIENT_SPACE);
    client_make(&writer, CLIENT_PID);
    client_alloc(&writer, 0, 0, 0, 64);
    add_publisher(CLIENT_PID, "4711", CLIENT_SPACE); /* of user 0 */
    T_EQ(seen_client()->state, TTS_SEENREGION_READ);
    if (geteuid() == 0) {
        T_EQ(chown(writer.path, 77, 77), 0);
        T_TRUE(seen_client()->state == TTS_SEENREGION_CORRUPT &&
               view.clients[0].view_count == 0);
        T_EQ(chown(writer.path, 0, 0), 0);
        T_EQ(seen_client()->state, TTS_SEENREGION_READ);
    }
    client_kill(&writer);
    end_life();
}

T_TEST(a_region_of_an_older_boot_is_dead)
{
    begin_life("boot", CLIENT_SPACE);
    end_life();
    host_dir("proc/sys/kernel/random");
    host_put("proc/sys/kernel/random/boot_id", "00000000-1111-2222-3333-444444444444\n");
    T_EQ(tts_livehost_open(host_root, NULL, &host, NULL), TTS_OK);
    tts_hostview_init(&view, NULL);
    client_make(&writer, CLIENT_PID);
    add_publisher(CLIENT_PID, "4711", CLIENT_SPACE);
    T_EQ(life_of_client(), 'd');
    T_EQ(tts_clientclean_run(&view.clients[0], host_root, NULL, NULL), TTS_OK);
    client_kill(&writer);
    end_life();
}

static void count_seen(void *ctx, const struct tts_seenlive *live)
{
    *(uint64_t *)ctx += live->size_bytes;
}

T_TEST(the_buffers_of_a_program_are_listed)
{
    uint64_t bytes = 0;
    begin_life("buffers", CLIENT_SPACE);
    client_make(&writer, CLIENT_PID);
    client_alloc(&writer, 0, 0, 0, 64);
    client_alloc(&writer, 0, 0, 1, 36);
    seen_client();
    T_EQ(tts_livehost_buffers(host, 0, count_seen, &bytes, NULL), TTS_OK);
    T_EQ(bytes, 100);
    T_EQ(tts_livehost_buffers(host, 1, count_seen, &bytes, NULL), TTS_E_NOT_FOUND);
    client_kill(&writer);
    end_life();
}

T_TEST(programs_in_the_private_directory_of_a_holder_are_read)
{
    struct tts_clientwriter_config config;
    struct tts_clientwriter inside, copy;
    char path[300];
    uint64_t bytes = 0;
    begin_life("private", FIRST_SPACE);
    end_life();
    host_new_driver("private_all", "2.10.0\n");
    host_add_chip(0, "0x401e\n");
    host_add_pids(0, "5675\n");
    host_add_process(1, "init", "1", 0);
    add_publisher(5675, "5675\t4", CLIENT_SPACE);
    host_dir("proc/self/ns");
    T_EQ(symlink("pid:[4026531836]", host_path("proc/self/ns/pid")), 0);
    host_dir("proc/5675/root/dev/shm");
    client_make(&writer, 3); /* in the /dev/shm of the host */
    config = client_config(4);
    snprintf(path, sizeof path, "%s", host_path("proc/5675/root/dev/shm"));
    config.directory = path;
    client_open(&inside, &config);
    client_alloc(&inside, 0, 0, 0, 77);
    config = client_config(3);
    config.directory = path;
    client_open(&copy, &config); /* the file of the host is better */
    T_EQ(tts_livehost_open(host_root, NULL, &host, NULL), TTS_OK);
    tts_hostview_init(&view, NULL);
    for (int i = 0; i < 2; i++) {
        T_EQ(tts_livehost_read(host, &view, NULL), TTS_OK);
        T_EQ(view.client_count, 2);
        T_TRUE(view.clients[0].private_of == 0 && view.clients[0].pid_inside == 3);
        T_TRUE(view.clients[1].private_of == 5675 && view.clients[1].pid == 5675);
        T_EQ(view.views[0].counted_bytes[0], 77);
    }
    T_EQ(tts_livehost_buffers(host, 1, count_seen, &bytes, NULL), TTS_OK);
    T_EQ(bytes, 77);
    client_kill(&writer);
    client_kill(&inside);
    client_kill(&copy);
    end_life();
}

T_TEST(only_the_file_of_a_dead_program_is_removed)
{
    struct tts_error err = {0};
    begin_life("clean", CLIENT_SPACE);
    client_make(&writer, CLIENT_PID);
    struct tts_seenclient client = *seen_client();
    add_publisher(CLIENT_PID, "4711", CLIENT_SPACE); /* alive now */
    T_EQ(tts_clientclean_run(&client, host_root, NULL, &err), TTS_E_BUSY);
    T_EQ(access(writer.path, F_OK), 0);
    host_remove_process(CLIENT_PID);
    host_add_process(CLIENT_PID, "other", "4711", 9999);
    client.inode++;
    T_EQ(tts_clientclean_run(&client, host_root, NULL, &err), TTS_E_NOT_FOUND);
    T_EQ(access(writer.path, F_OK), 0);
    client.inode--;
    T_EQ(tts_clientclean_run(&client, host_root, NULL, &err), TTS_OK);
    T_EQ(access(writer.path, F_OK), -1);
    T_EQ(tts_clientclean_run(&client, host_root, NULL, &err), TTS_E_NOT_FOUND);
    client_kill(&writer);
    end_life();
}

T_TEST(without_memory_a_read_fails)
{
    struct heap heap;
    uint64_t calls = 1;
    begin_life("memory", FIRST_SPACE);
    end_life();
    client_make(&writer, 4);
    client_alloc(&writer, 0, 0, 0, 64);
    host_add_process(1, "init", "1", 0);
    add_publisher(5675, "5675\t4", CLIENT_SPACE);
    for (uint64_t fail_at = 0; fail_at <= calls; fail_at++) {
        heap_init(&heap);
        heap.fail_at = fail_at;
        tts_hostview_init(&view, &heap.alloc);
        enum tts_status status = tts_livehost_open(host_root, &heap.alloc, &host, NULL);
        if (status == TTS_OK) {
            status = tts_livehost_read(host, &view, NULL);
            T_TRUE(status == TTS_OK || view.client_count == 0);
            heap.fail_at = 0;
            T_EQ(life_of_client(), 'l');
            tts_livehost_close(host);
        }
        T_TRUE(status == TTS_OK || status == TTS_E_NOMEM);
        calls = fail_at ? calls : heap.calls;
        tts_hostview_release(&view);
        T_TRUE(heap_is_settled(&heap));
    }
    T_TRUE(calls > 10);
    client_kill(&writer);
}
