/* Tests which events of several threads are in the file, and when. The file is read during the
 * recording, without another call to the tracker in between. tests/e2e/tsan.sh runs this under
 * ThreadSanitizer. */
#include "capture/tracker_inside.h"
#include "harness/recorder_rig.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

static uint64_t events_in(const char *path)
{
    struct recording rec = recording_open(path);
    recording_each(&rec, NULL, NULL);
    recording_close(&rec);
    return rec.last_seq;
}

/* --- at the same time ------------------------------------------------------------------- */

enum { HAMMERS = 2, ROUNDS = 300, HITS = 3 };

struct hammer {
    pthread_t thread;
    struct tts_tracker *tracker;
    pthread_barrier_t *barrier;
    _Atomic uint64_t *started;
    uint32_t idx;
    uint64_t failed;
};

/* Binds each thread to its own processor, if there are enough. Otherwise the threads rarely run
 * at the same time. */
static void pin(uint32_t idx)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || idx-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        return;
    }
}

/* Starts the threads closer together than a barrier does, so that their few events collide. */
static void start_together(struct hammer *h, uint64_t round)
{
    atomic_fetch_add(h->started, 1);
    for (int i = 0; atomic_load(h->started) < round * HAMMERS; i++)
        if (i % 10000 == 9999)
            sched_yield();
}

/* Posts one event on the general path, one on the fast path, and one that takes long, so that
 * the events of the other thread collide with it. */
static void *hit(void *ctx)
{
    static const struct tts_core_range wide = {0, 0, 31, 31};
    struct hammer *h = ctx;
    pin(h->idx);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        pthread_barrier_wait(h->barrier);
        start_together(h, round);
        h->failed += tts_track_program(h->tracker, h->idx, NULL) != TTS_OK;
        h->failed +=
            tts_track_alloc(h->tracker, h->idx, TTS_POOL_DRAM, 1, 64, 0, NULL) != TTS_OK;
        h->failed +=
            tts_track_cb(h->tracker, h->idx, TTS_EVENT_CB, &wide, 1, 64, NULL) != TTS_OK;
        pthread_barrier_wait(h->barrier);
    }
    return NULL;
}

T_TEST(what_threads_told_is_in_the_file_when_they_are_done)
{
    const char *path = t_scratch("hammered.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = recording(tracker, path, BOX);
    struct hammer hammers[HAMMERS];
    pthread_barrier_t barrier;
    _Atomic uint64_t started = 0;
    T_EQ(pthread_barrier_init(&barrier, NULL, HAMMERS + 1), 0);
    for (uint32_t i = 0; i < HAMMERS; i++) {
        hammers[i] = (struct hammer){
            .tracker = tracker, .barrier = &barrier, .started = &started, .idx = i};
        T_EQ(pthread_create(&hammers[i].thread, NULL, hit, &hammers[i]), 0);
    }
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        T_EQ(events_in(path), round * HAMMERS * HITS);
    }
    for (uint32_t i = 0; i < HAMMERS; i++) {
        T_EQ(pthread_join(hammers[i].thread, NULL), 0);
        T_EQ(hammers[i].failed, 0);
    }
    T_EQ(pthread_barrier_destroy(&barrier), 0);
    T_EQ(ended(recorder).events, ROUNDS * HAMMERS * HITS);
    tts_tracker_free(tracker);
}

/* --- while another thread is stopped ---------------------------------------------------- */

/* Does what a signal handler does that interrupts an event. */
T_TEST(what_is_told_inside_an_event_is_in_the_file_when_that_is_over)
{
    const char *path = t_scratch("handler.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    tts_tracker_enter(tracker);
    alloc_dram(tracker, 1, 1);
    free_dram(tracker, 1);
    T_EQ(tts_track_op_begin(tracker, "inside", 6, NULL), TTS_OK);
    T_EQ(events_in(path), 0);
    tts_tracker_leave(tracker);
    has_text(path, "keyframe 0: 0\nkeyframe end\n1 alloc d0 DRAM #1 1\n"
                   "2 free d0 DRAM #1 0\n3 op_begin of a thread in inside\n");
    ended(recorder);
    tts_tracker_free(tracker);
}

static void *tell_few(void *ctx)
{
    for (uint64_t id = 1; id <= 100; id++)
        alloc_dram(ctx, id, id);
    return NULL;
}

T_TEST(what_others_told_while_one_was_stopped_is_in_the_file_when_it_goes_on)
{
    const char *path = t_scratch("stopped.tts");
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_recorder *recorder = recording(tracker, path, 0);
    pthread_t other;
    tts_tracker_enter(tracker);
    T_EQ(pthread_create(&other, NULL, tell_few, tracker), 0);
    T_EQ(pthread_join(other, NULL), 0); /* the thread does not wait forever */
    T_EQ(events_in(path), 0);
    tts_tracker_leave(tracker);
    T_EQ(events_in(path), 100);
    ended(recorder);
    tts_tracker_free(tracker);
}

/* --- concurrent readers ----------------------------------------------------------------- */

struct watcher {
    pthread_t thread;
    const _Atomic uint64_t *commit;
    atomic_bool is_over;
    uint64_t looks, less;
};

static void *watch(void *ctx)
{
    struct watcher *w = ctx;
    for (uint32_t most = 0; !atomic_load(&w->is_over); w->looks++) {
        uint32_t used = (uint32_t)tts_le64(atomic_load(w->commit));
        w->less += used < most;
        most = used > most ? used : most;
    }
    return NULL;
}

/* The keyframes after the failures do not fit. */
T_TEST(what_a_reader_of_a_black_box_saw_is_not_taken_back)
{
    enum { MANY = 8000, PLACE = BOX / 8, LEFT = 60000, FAILURES = 10 };
    static const struct tts_failure failure = {.kind = TTS_FAILURE_SPACE};
    const char *path = t_scratch("watched.tts");
    struct tts_tracker *tracker = NULL;
    struct tts_tracker_config limits = {.live_max = 1 << 16};
    T_EQ(tts_tracker_new(&limits, NULL, &tracker, NULL), TTS_OK);
    struct tts_recorder *recorder = recording(tracker, path, BOX);
    struct tts_recorder_state at;
    int fd = open(path, O_RDONLY);
    size_t mapped = TTS_REC_HEADER_BYTES + PLACE;
    const unsigned char *bytes = mmap(NULL, mapped, PROT_READ, MAP_SHARED, fd, 0);
    T_TRUE(bytes != MAP_FAILED);
    struct watcher watcher = {
        .commit = (const void *)(bytes + TTS_REC_HEADER_BYTES + TTS_REC_COMMIT_OFF)};
    for (uint64_t i = 1; i <= MANY; i++)
        alloc_dram(tracker, i * 1000003, i);
    do {
        alloc_dram(tracker, 1, 1);
        free_dram(tracker, 1);
        tts_recorder_get_state(recorder, &at);
    } while (at.bytes < TTS_REC_HEADER_BYTES + PLACE - LEFT);
    T_EQ(pthread_create(&watcher.thread, NULL, watch, &watcher), 0);
    for (int i = 0; i < FAILURES; i++) {
        usleep(1000);
        T_EQ(tts_track_failure(tracker, 0, &failure, NULL), TTS_OK);
    }
    atomic_store(&watcher.is_over, true);
    T_EQ(pthread_join(watcher.thread, NULL), 0);
    T_TRUE(watcher.looks > 0);
    T_EQ(watcher.less, 0);
    T_EQ(events_in(path), at.events + FAILURES);
    ended(recorder);
    munmap((void *)(uintptr_t)bytes, mapped);
    close(fd);
    tts_tracker_free(tracker);
}
