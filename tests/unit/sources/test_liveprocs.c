#include "harness/host.h"
#include "harness/t.h"
#include "sources/live/liveprocs.h"
#include "torture/heap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

static struct tts_liveprocs *procs;
static struct tts_hostview view;

static void begin(const char *root)
{
    T_EQ(tts_liveprocs_new(root, NULL, &procs, NULL), TTS_OK);
    tts_hostview_init(&view, NULL);
}

static void end(void)
{
    tts_liveprocs_free(procs);
    tts_hostview_release(&view);
}

static void refresh(uint64_t seconds, bool wants_nodes)
{
    tts_hostview_reset(&view);
    tts_liveprocs_begin(procs, seconds * SECOND, wants_nodes);
}

static struct tts_seenprocess add(uint32_t pid)
{
    size_t count = view.process_count;
    struct tts_error err = {0};
    T_EQ(tts_liveprocs_add(procs, pid, &view, &err), TTS_OK);
    T_STR_EQ(err.text, "");
    T_EQ(view.process_count, count + 1);
    T_EQ(view.processes[count].pid, pid);
    return view.processes[count];
}

static struct tts_seenprocess look(uint64_t seconds, uint32_t pid)
{
    refresh(seconds, false);
    return add(pid);
}

T_TEST(a_process_has_all_facts_of_its_files)
{
    host_new("facts");
    host_add_process(4711, "python3", "4711\t88\t4", 60);
    T_EQ(symlink("pid:[4026531999]", host_path(host_process(4711, "ns/pid"))), 0);
    host_add_fd(4711, 3, "/dev/tenstorrent/0");
    host_add_fd(4711, 4, "/dev/tenstorrent/31");
    host_add_fd(4711, 5, "/dev/tenstorrent/64");
    host_add_fd(4711, 6, "/dev/tenstorrent/1x");
    host_add_fd(4711, 7, "/tmp/dev/tenstorrent/2");
    begin(host_root);
    refresh(1, true);
    struct tts_seenprocess seen = add(4711);
    T_TRUE(seen.is_alive);
    T_TRUE(seen.pid_inside == 4 && seen.pid_levels == 3);
    T_TRUE(seen.start_known && seen.start_ns == (HOST_BOOT_SECONDS + 60) * SECOND);
    T_TRUE(seen.uid_known && seen.uid == 0);
    T_STR_EQ(seen.user, "root");
    T_STR_EQ(seen.comm, "python3");
    T_STR_EQ(seen.command, "python3 --run");
    T_TRUE(seen.namespace_known && seen.namespace_id == 4026531999);
    T_TRUE(seen.nodes_known && seen.nodes == (1 | UINT64_C(1) << 31));
    T_EQ(tts_liveprocs_add(procs, 4711, &view, NULL), TTS_OK);
    T_EQ(tts_liveprocs_add(procs, 0, &view, NULL), TTS_OK);
    T_EQ(view.process_count, 1);
    T_TRUE(tts_liveprocs_dir(procs, 4711) >= 0);
    T_EQ(tts_liveprocs_dir(procs, 1), -1);
    end();
}

T_TEST(nodes_are_read_only_if_wanted)
{
    host_new("nodes");
    host_add_process(5, "a", "5", 1);
    begin(host_root);
    T_TRUE(!look(100, 5).nodes_known);
    refresh(101, true);
    T_TRUE(add(5).nodes_known && view.processes[0].nodes == 0);
    host_add_fd(5, 1, "/dev/tenstorrent/7");
    refresh(105, true);
    T_EQ(add(5).nodes, 0);
    refresh(106, true);
    T_EQ(add(5).nodes, 1 << 7);
    end();
}

T_TEST(a_name_may_hold_blanks_parentheses_and_lines)
{
    host_new("names");
    host_add_process(6, "a) S 9 (b \x1b\n) Z", "6", 70);
    begin(host_root);
    struct tts_seenprocess seen = look(1, 6);
    T_STR_EQ(seen.comm, "a) S 9 (b \x1b\n) Z");
    T_TRUE(seen.is_alive && seen.start_ns == (HOST_BOOT_SECONDS + 70) * SECOND);
    end();
}

T_TEST(a_process_without_files_is_not_alive)
{
    host_new("dead");
    begin(host_root);
    struct tts_seenprocess seen = look(1, 77);
    T_TRUE(!seen.is_alive && !seen.start_known && !seen.uid_known && seen.pid_levels == 0);
    host_add_process(77, "a", "77", 1);
    T_TRUE(look(2, 77).is_alive);
    host_remove_process(77);
    seen = look(3, 77);
    T_TRUE(!seen.is_alive && !seen.start_known);
    T_STR_EQ(seen.comm, "");
    T_EQ(tts_liveprocs_dir(procs, 77), -1);
    end();
}

T_TEST(a_number_that_is_used_again_is_another_process)
{
    host_new("again");
    host_add_process(8, "first", "8\t1", 1);
    begin(host_root);
    T_STR_EQ(look(1, 8).comm, "first");
    host_remove_process(8);
    host_add_process(8, "second", "8", 90);
    struct tts_seenprocess seen = look(2, 8);
    T_STR_EQ(seen.comm, "second");
    T_STR_EQ(seen.command, "second --run");
    T_TRUE(seen.pid_inside == 8 && seen.pid_levels == 1);
    T_EQ(seen.start_ns, (HOST_BOOT_SECONDS + 90) * SECOND);
    end();
}

T_TEST(arguments_are_read_again_after_a_new_name_or_10_seconds)
{
    host_new("exec");
    host_add_process(9, "sh", "9", 1);
    begin(host_root);
    look(100, 9);
    host_put(host_process(9, "cmdline"), "other");
    T_STR_EQ(look(109, 9).command, "sh --run");
    T_STR_EQ(look(110, 9).command, "other");
    host_add_process(9, "python3", "9", 1);
    T_STR_EQ(look(111, 9).command, "python3 --run");
    end();
}

T_TEST(a_process_that_waits_for_its_parent_is_not_alive)
{
    host_new("zombie");
    host_add_process(10, "a", "10", 1);
    host_put(host_process(10, "stat"),
             "10 (a) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 0 5\n");
    begin(host_root);
    T_TRUE(!look(1, 10).is_alive);
    host_put(host_process(10, "stat"),
             "10 (a) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 2 0 5\n");
    T_TRUE(look(2, 10).is_alive);
    end();
}

T_TEST(the_number_of_a_thread_is_no_process)
{
    host_new("thread");
    host_add_process(11, "a", "11", 1);
    host_put(host_process(11, "status"), "Name:\ta\nTgid:\t7\nNSpid:\t11\n");
    begin(host_root);
    T_TRUE(!look(1, 11).is_alive);
    end();
}

T_TEST(malformed_files_leave_facts_unknown)
{
    static const char *const stats[] = {
        "",
        "x",
        "(",
        ")",
        ")(",
        "1 (a",
        "1 (a)",
        "1 (a) S",
        "1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 0 x",
        "1 (a) S 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 1 0 18446744073709551615"};
    static const char *const statuses[] = {"",
                                           "NSpid:",
                                           "NSpid:\n",
                                           "NSpid:\tx\n",
                                           "NSpid:\t0\n",
                                           "NSpid:\t12\t0\n",
                                           "NSpid:\t12\t99999999999\n",
                                           "NSpid:\t12\t-4\n",
                                           "NSpid:\t12\t4",
                                           "Uid:\t\nUid:"};
    host_new("malformed");
    host_add_process(12, "a", "12", 1);
    begin(host_root);
    uint64_t now = 100;
    for (size_t i = 0; i < sizeof stats / sizeof stats[0]; i++) {
        host_put(host_process(12, "stat"), stats[i]);
        host_put(host_process(12, "status"),
                 statuses[i % (sizeof statuses / sizeof *statuses)]);
        host_put(host_process(12, "cmdline"), "");
        now += 100;
        tts_liveprocs_begin(procs, now * SECOND, false);
        tts_liveprocs_begin(procs, now * SECOND, false); /* forgets the process */
        struct tts_seenprocess seen = look(now, 12);
        T_TRUE(seen.is_alive && !seen.start_known && !seen.namespace_known);
        T_TRUE(seen.pid_inside == 0 && seen.pid_levels == 0);
        T_TRUE(seen.uid_known && seen.uid == getuid());
        T_STR_EQ(seen.command, "");
    }
    end();
}

T_TEST(long_texts_are_cut_and_marked)
{
    static char text[9000];
    host_new("long");
    host_add_process(13, "a", "13", 1);
    memset(text, 'x', sizeof text);
    text[100] = '\0';
    host_put_bytes(host_process(13, "cmdline"), text, sizeof text);
    begin(host_root);
    struct tts_seenprocess seen = look(1, 13);
    T_EQ(strlen(seen.command), TTS_HOSTVIEW_COMMAND_MAX - 1);
    T_EQ(seen.command[100], ' ');
    T_STR_EQ(seen.command + TTS_HOSTVIEW_COMMAND_MAX - 4, "...");
    end();
}

T_TEST(pipes_and_links_are_not_read)
{
    host_new("kinds");
    host_add_process(14, "a", "14", 1);
    T_EQ(unlink(host_path(host_process(14, "cmdline"))), 0);
    T_EQ(mkfifo(host_path(host_process(14, "cmdline")), 0644), 0);
    T_EQ(unlink(host_path(host_process(14, "stat"))), 0);
    T_EQ(symlink("../stat", host_path(host_process(14, "stat"))), 0);
    begin(host_root);
    struct tts_seenprocess seen = look(1, 14);
    T_TRUE(seen.is_alive && !seen.start_known && seen.pid_levels == 1);
    T_STR_EQ(seen.command, "");
    end();
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

T_TEST(many_processes_keep_a_bounded_number_of_files_open)
{
    enum { MANY = 300 };
    host_new("many");
    int before = open_descriptors();
    for (uint32_t pid = 1; pid <= MANY; pid++)
        host_add_process(pid, "a", "1", pid);
    begin(host_root);
    for (uint64_t round = 0; round < 3; round++) {
        refresh(1 + round, false);
        for (uint32_t pid = 1; pid <= MANY; pid++) {
            struct tts_seenprocess seen = add(pid);
            T_TRUE(seen.is_alive && seen.start_ns == (HOST_BOOT_SECONDS + pid) * SECOND);
        }
        T_EQ(open_descriptors(), before + 1 + 2 * TTS_LIVEPROCS_OPEN_MAX);
    }
    refresh(9, false);
    refresh(10, false);
    T_EQ(open_descriptors(), before + 1);
    end();
    T_EQ(open_descriptors(), before);
}

T_TEST(processes_beyond_the_maximum_are_counted)
{
    host_new("limit");
    begin(host_root);
    refresh(1, false);
    for (uint32_t pid = 1; pid <= TTS_HOSTVIEW_PROCESSES_MAX + 3; pid++)
        T_EQ(tts_liveprocs_add(procs, pid, &view, NULL), TTS_OK);
    T_EQ(view.process_count, TTS_HOSTVIEW_PROCESSES_MAX);
    T_EQ(view.processes_left_out, 3);
    end();
}

T_TEST(a_process_starts_later_when_the_clock_was_set_forward)
{
    uint64_t since_ns;
    host_new("clock");
    host_add_process(15, "a", "15", 60);
    begin(host_root);
    T_EQ(look(1, 15).start_ns, (HOST_BOOT_SECONDS + 60) * SECOND);
    T_TRUE(tts_liveprocs_clock(procs, &since_ns));
    T_EQ(since_ns, HOST_BOOT_SECONDS * SECOND);
    host_put("proc/stat", "btime 1003600\n");
    T_EQ(look(2003600, 15).start_ns, (1003600 + 60) * SECOND);
    T_TRUE(tts_liveprocs_clock(procs, &since_ns));
    T_EQ(since_ns, 2003600 * SECOND);
    look(2003601, 15);
    T_TRUE(tts_liveprocs_clock(procs, &since_ns) && since_ns == 2003600 * SECOND);
    host_put("proc/stat", "btime 999000\n"); /* and back */
    T_EQ(look(1999000, 15).start_ns, (999000 + 60) * SECOND);
    T_TRUE(tts_liveprocs_clock(procs, &since_ns) && since_ns == 1999000 * SECOND);
    host_put("proc/stat", "");
    T_TRUE(!look(1999001, 15).start_known && !tts_liveprocs_clock(procs, &since_ns));
    end();
}

/* --- processes of this host ------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec now;
    T_EQ(clock_gettime(CLOCK_REALTIME, &now), 0);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* Starts a process with the given name that waits. */
static uint32_t start_child(const char *name)
{
    int ready[2];
    char byte;
    T_EQ(pipe(ready), 0);
    pid_t pid = fork();
    T_TRUE(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, name);
        if (write(ready[1], "x", 1) == 1)
            pause();
        _exit(0);
    }
    T_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return (uint32_t)pid;
}

T_TEST(a_real_child_is_alive_until_it_ends)
{
    begin("");
    uint32_t pid = start_child("a (real) one");
    uint64_t now = now_ns() / SECOND;
    struct tts_seenprocess seen = look(now, pid);
    T_TRUE(seen.is_alive);
    T_STR_EQ(seen.comm, "a (real) one");
    T_TRUE(seen.command[0] != '\0');
    T_TRUE(seen.start_known && seen.start_ns <= now_ns() &&
           now_ns() - seen.start_ns < 60 * SECOND);
    T_TRUE(seen.uid_known && seen.uid == geteuid());
    T_TRUE(seen.pid_inside > 0 && seen.pid_levels == 1 && seen.pid_inside == pid);
    T_TRUE(seen.namespace_known && seen.namespace_id > 0);
    T_TRUE(look(now, pid).is_alive);
    T_EQ(kill((pid_t)pid, SIGKILL), 0);
    siginfo_t info;
    T_EQ(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
    T_TRUE(!look(now, pid).is_alive); /* nobody has collected its status yet */
    T_EQ(waitpid((pid_t)pid, NULL, 0), (pid_t)pid);
    T_TRUE(!look(now, pid).is_alive);
    end();
}

T_TEST(the_boot_of_this_host_is_that_of_the_kernel)
{
    char text[64];
    unsigned long long seconds = 0;
    uint64_t since_ns, again_ns;
    FILE *file = fopen("/proc/stat", "r");
    while (file && seconds == 0 && fscanf(file, "%63s", text) == 1)
        if (strcmp(text, "btime") == 0)
            T_EQ(fscanf(file, "%llu", &seconds), 1);
    T_TRUE(file && fclose(file) == 0);
    begin("");
    refresh(1, false);
    T_TRUE(tts_liveprocs_clock(procs, &since_ns));
    T_TRUE(since_ns > (seconds - 2) * SECOND && since_ns < (seconds + 2) * SECOND);
    refresh(2, false);
    T_TRUE(tts_liveprocs_clock(procs, &again_ns));
    T_EQ(again_ns, since_ns); /* the same moment, not one for each reading */
    end();
}

T_TEST(a_process_of_another_user_hides_its_namespace_and_nodes)
{
    enum { NOBODY = 65534 };
    if (geteuid() != 0)
        skip();
    begin("");
    uint32_t pid = (uint32_t)getpid();
    T_EQ(seteuid(NOBODY), 0);
    refresh(now_ns() / SECOND, true);
    struct tts_seenprocess seen = add(1);
    T_EQ(seteuid(0), 0);
    T_TRUE(seen.is_alive && !seen.nodes_known && !seen.namespace_known && seen.start_known);
    T_TRUE(look(now_ns() / SECOND, pid).namespace_known);
    end();
}

T_TEST(a_known_process_costs_little)
{
    enum { ROUNDS = 2000 };
    begin("");
    uint32_t pid = start_child("cost");
    uint64_t now = now_ns() / SECOND;
    look(now, pid);
    uint64_t start = now_ns();
    for (int i = 0; i < ROUNDS; i++)
        look(now, pid);
    uint64_t each = (now_ns() - start) / ROUNDS;
    printf("%" PRIu64 " ns for a known process\n", each);
    T_TRUE(each < 200 * 1000); /* a loose limit: other programs run, too */
    T_EQ(kill((pid_t)pid, SIGKILL), 0);
    T_EQ(waitpid((pid_t)pid, NULL, 0), (pid_t)pid);
    end();
}

/* --- memory ----------------------------------------------------------------------------- */

T_TEST(without_memory_nothing_is_kept)
{
    struct heap heap;
    uint64_t calls = 0;
    host_new("memory");
    for (uint32_t pid = 1; pid <= 20; pid++)
        host_add_process(pid, "a", "1", pid);
    int before = open_descriptors();
    for (uint64_t fail_at = 0; fail_at <= calls; fail_at++) {
        heap_init(&heap);
        heap.fail_at = fail_at;
        tts_hostview_init(&view, &heap.alloc);
        enum tts_status status = tts_liveprocs_new(host_root, &heap.alloc, &procs, NULL);
        if (status == TTS_OK) {
            tts_liveprocs_begin(procs, SECOND, true);
            for (uint32_t pid = 1; pid <= 20 && status == TTS_OK; pid++)
                status = tts_liveprocs_add(procs, pid, &view, NULL);
            T_TRUE(view.process_count <= 20);
            tts_liveprocs_free(procs);
        }
        calls = fail_at ? calls : heap.calls;
        tts_hostview_release(&view);
        T_TRUE(heap_is_settled(&heap));
        T_EQ(open_descriptors(), before);
    }
    T_TRUE(calls > 5);
}
