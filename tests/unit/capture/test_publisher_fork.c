/* Tests forks of a program that publishes: while other threads post events, and what a child
 * keeps of its parent. Each test runs in a process of its own, because the tracker of a process
 * exists once. */
#include "harness/chip_tools.h"
#include "harness/publish_rig.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

enum { POSTERS = 2, FORKS = 30, CHILD_EVENTS = TTS_INBOX_EVENTS + 100, PATIENCE_S = 5 };

struct poster {
    struct tts_tracker *tracker;
    uint64_t id;
    atomic_bool *has_ended;
};

static void *post_until_the_end(void *ctx)
{
    const struct poster *poster = ctx;
    while (!atomic_load(poster->has_ended)) {
        tts_track_op_begin(poster->tracker, "step", 4, NULL);
        tts_track_alloc(poster->tracker, 0, TTS_POOL_L1, poster->id, 100, 10, NULL);
        tts_track_free(poster->tracker, 0, TTS_POOL_L1, poster->id, 0, 0, NULL);
        tts_track_op_end(poster->tracker, NULL);
    }
    return NULL;
}

/* Uses every kind of call that waits for the thread that folds. A child that would wait for
 * ever is ended by the alarm. */
static void use_tracker_in_child(struct tts_tracker *tracker)
{
    struct tts_tracker_health health;
    alarm(PATIENCE_S);
    for (uint64_t id = 1000; id < 1000 + CHILD_EVENTS; id++)
        if (tts_track_alloc(tracker, 0, TTS_POOL_DRAM, id, 10, 0, NULL) != TTS_OK)
            _exit(1);
    tts_tracker_get_health(tracker, &health);
    if (health.dropped > POSTERS || header_in(tracker).dropped != 0)
        _exit(6);
    if (!tts_publish_is_on(tracker) || header_in(tracker).pid != (uint32_t)getpid())
        _exit(2);
    struct tts_clientregion_device device = device_in(tracker, 0);
    if (device.pools[TTS_POOL_DRAM].allocated_bytes != 10 * CHILD_EVENTS ||
        device.pools[TTS_POOL_L1].allocated_bytes != 0)
        _exit(3);
    tts_publish_end(tracker);
    _exit(0);
}

static int fork_while_threads_post(void)
{
    struct tts_tracker *tracker = tts_tracker_process();
    struct poster posters[POSTERS];
    pthread_t threads[POSTERS];
    atomic_bool has_ended = false;
    int bad = 0;
    for (uint64_t i = 0; i < POSTERS; i++) {
        posters[i] = (struct poster){tracker, i + 1, &has_ended};
        if (pthread_create(&threads[i], NULL, post_until_the_end, &posters[i]) != 0)
            return 4;
    }
    for (int i = 0; i < FORKS && bad == 0; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            use_tracker_in_child(tracker);
        if (waitpid(pid, &status, 0) != pid || status != 0)
            bad = 10 + (WIFSIGNALED(status) ? 0 : WEXITSTATUS(status));
    }
    atomic_store(&has_ended, true);
    for (int i = 0; i < POSTERS; i++)
        pthread_join(threads[i], NULL);
    /* The forks have not disturbed the parent. */
    if (bad == 0 && (pool_in(tracker, 0, TTS_POOL_L1).buffers != 0 ||
                     header_in(tracker).dropped != 0 || header_in(tracker).unknown_frees != 0))
        bad = 5;
    return bad;
}

/* Runs `work` in a process whose environment asks for publishing. Returns its status. */
static int status_of_publisher(int (*work)(void))
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("TTSCOPE", "1", 1);
        exit(work());
    }
    T_EQ(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool can_publish(void)
{
    if (access("/dev/shm", W_OK) == 0)
        return true;
    print_message("skipped: /dev/shm may not be written\n");
    return false;
}

T_TEST(a_child_works_if_other_threads_post_at_the_moment_of_the_fork)
{
    if (can_publish())
        T_EQ(status_of_publisher(fork_while_threads_post), 0);
}

/* --- what a child keeps ------------------------------------------------------------------ */

static bool has_parents_facts(struct tts_tracker *tracker)
{
    struct tts_clientregion_device mesh = device_in(tracker, 0), chip = device_in(tracker, 1);
    uint32_t known = TTS_CLIENTDEVICE_UNIQUE_ID | TTS_CLIENTDEVICE_ARCH |
                     TTS_CLIENTDEVICE_QUEUES | TTS_CLIENTDEVICE_CHANNELS |
                     TTS_CLIENTDEVICE_GRID;
    return (mesh.known & known) == known && mesh.unique_id == 77 &&
           mesh.arch == TTS_ARCH_BLACKHOLE && mesh.hardware_queues == 2 &&
           mesh.dram_channels == 8 && mesh.grid_columns == 11 && mesh.grid_rows == 10 &&
           (chip.known & TTS_CLIENTDEVICE_MESH) && chip.mesh == 0;
}

/* The facts of devices and the mesh of a chip hold in a child too. The counters do not: the
 * buffers belong to the parent. */
static int keep_facts(void)
{
    int status;
    struct tts_tracker *tracker = tts_tracker_process();
    struct tts_publish_facts facts = {.unique_id_known = true,
                                      .unique_id = 77,
                                      .arch_known = true,
                                      .arch = TTS_ARCH_BLACKHOLE,
                                      .hardware_queues = 2,
                                      .dram_channels = 8,
                                      .grid_columns = 11,
                                      .grid_rows = 10};
    struct tts_publish_report report = {.banks = 1, .total_bytes = 5, .free_bytes = 5};
    if (tts_tracker_chip(tracker, 1, 0, NULL) != TTS_OK ||
        tts_publish_device(tracker, 0, &facts, NULL) != TTS_OK ||
        tts_publish_pool(tracker, 0, TTS_POOL_DRAM, &report, 0, NULL) != TTS_OK ||
        tts_track_trace_begin(tracker, 0, NULL) != TTS_OK)
        return 1;
    alloc_dram(tracker, 1, 100);
    if (!has_parents_facts(tracker))
        return 2;
    pid_t pid = fork();
    if (pid == 0) {
        alloc_dram(tracker, 2, 10);
        struct tts_clientregion_device device = device_in(tracker, 0);
        const struct tts_clientregion_pool *dram = &device.pools[TTS_POOL_DRAM];
        if (!has_parents_facts(tracker))
            exit(3);
        exit(dram->allocated_bytes == 10 && dram->view_ns == 0 && device.trace_depth == 0 ? 0
                                                                                          : 4);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return WIFEXITED(status) ? WEXITSTATUS(status) : 6;
    return 0;
}

T_TEST(a_child_publishes_the_facts_of_devices_that_its_parent_published)
{
    if (can_publish())
        T_EQ(status_of_publisher(keep_facts), 0);
}
