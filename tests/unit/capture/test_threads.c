/* Tests events from many threads: each event is counted once, none is lost, and the tracker
 * keeps the order of the program. tests/e2e/tsan.sh runs this under ThreadSanitizer. */
#include "base/compiler.h"
#include "capture/tracker_inside.h"
#include "harness/capture_rig.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 6, EVENTS = 20000, LIVE = 16 };

struct worker {
    pthread_t thread;
    struct tts_tracker *tracker;
    uint32_t idx;
    uint64_t dropped; /* events that returned TTS_E_FULL */
};

static void post(struct worker *w, const struct tts_event *event)
{
    enum tts_status status = tts_tracker_post(w->tracker, event, NULL);
    T_TRUE(status == TTS_OK || status == TTS_E_FULL);
    w->dropped += status == TTS_E_FULL;
}

/* Allocates and frees a few buffers again and again, in operations, with circular buffers. */
static void *work(void *ctx)
{
    static const struct tts_core_range ranges[2] = {{0, 0, 3, 0}, {5, 1, 5, 1}};
    struct worker *w = ctx;
    uint64_t first = (uint64_t)w->idx << 32;
    for (uint64_t i = 0; i < EVENTS; i++) {
        struct tts_event event = {.kind = TTS_EVENT_ALLOC,
                                  .pool = i % 8 == 0 ? TTS_POOL_L1 : TTS_POOL_DRAM,
                                  .id = first + i,
                                  .size_bytes = 64,
                                  .bytes_per_bank = 1};
        if (i % 64 == 0)
            post(w, &(struct tts_event){
                        .kind = TTS_EVENT_OP_BEGIN, .name = "operation", .name_len = 9});
        post(w, &event);
        if (i >= LIVE) {
            event.kind = TTS_EVENT_FREE;
            event.id = first + i - LIVE;
            event.pool = (i - LIVE) % 8 == 0 ? TTS_POOL_L1 : TTS_POOL_DRAM;
            post(w, &event);
        }
        if (i % 64 == 0) {
            post(w, &(struct tts_event){.kind = TTS_EVENT_PROGRAM, .device = w->idx});
            post(w, &(struct tts_event){.kind = TTS_EVENT_CB,
                                        .device = w->idx,
                                        .size_bytes = 100,
                                        .ranges = ranges,
                                        .range_count = 2});
            post(w, &(struct tts_event){.kind = TTS_EVENT_OP_END});
        }
    }
    return NULL;
}

static uint64_t sum_of(const struct tts_capture *capture, int what)
{
    int64_t sum = 0;
    for (size_t i = 0; i < tts_capture_count(capture); i++) {
        const struct tts_pool_usage *pools = phase(capture, i)->usage.pools;
        sum += what == 0   ? pools[TTS_POOL_DRAM].allocated_bytes
               : what == 1 ? pools[TTS_POOL_DRAM].freed_bytes
                           : (int64_t)phase(capture, i)->events;
    }
    return (uint64_t)sum;
}

T_TEST(events_of_many_threads_are_each_counted_once)
{
    struct tts_tracker_config limits = {.live_max = 4096, .devices_max = 16, .ops_max = 16};
    struct tts_tracker *tracker = NULL;
    T_EQ(tts_tracker_new(&limits, NULL, &tracker, NULL), TTS_OK);
    struct tts_capture *capture = begun(tracker), *inner = capture_of(tracker);
    struct worker workers[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.tracker = tracker, .idx = i};
        T_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 50; i++) {
        T_EQ(tts_capture_begin(inner, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
        sched_yield();
        snapshot(capture, "while they run");
        tts_tracker_live(tracker, NULL, 0);
        end(inner, NULL);
    }
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        T_EQ(pthread_join(workers[i].thread, NULL), 0);
        dropped += workers[i].dropped;
    }
    end(capture, NULL);
    T_EQ(tts_capture_count(inner), 50);
    struct tts_tracker_health health = health_of(tracker);
    T_EQ(health.dropped, dropped); /* every drop was reported to a caller */
    T_EQ(health.events, sum_of(capture, 2));
    uint64_t ops = EVENTS / 64 + 1, posted = THREADS * (2 * EVENTS - LIVE + 4 * ops);
    T_EQ(health.events + dropped, posted);
    T_EQ(health.doubled, 0);
    if (dropped == 0) {
        T_EQ(sum_of(capture, 0), THREADS * (EVENTS - EVENTS / 8) * 64);
        T_EQ(sum_of(capture, 0) - sum_of(capture, 1), THREADS * (LIVE - LIVE / 8) * 64);
        T_EQ(tts_tracker_live(tracker, NULL, 0), THREADS * LIVE);
        T_EQ(health.unseen_frees, 0);
    }
    tts_capture_free(inner);
    done(capture, tracker);
}

/* --- order ------------------------------------------------------------------------------ */

/* Threads pass buffers on: one thread allocates a buffer and another frees it. If a free came
 * before its allocation, the free would not find its buffer. */
struct relay {
    struct tts_tracker *tracker;
    _Atomic uint64_t handed; /* ids up to this one are allocated */
};

static void *free_behind(void *ctx)
{
    struct relay *relay = ctx;
    for (uint64_t id = 1; id <= EVENTS; id++) {
        while (atomic_load_explicit(&relay->handed, memory_order_acquire) < id)
            sched_yield();
        free_dram(relay->tracker, id);
    }
    return NULL;
}

static void *disturb(void *ctx)
{
    struct relay *relay = ctx;
    for (uint64_t id = 1; id <= EVENTS; id++)
        T_EQ(tts_track_program(relay->tracker, 3, NULL), TTS_OK);
    return NULL;
}

T_TEST(an_event_never_overtakes_one_that_it_follows)
{
    struct tts_tracker_config limits = {.live_max = EVENTS, .devices_max = 4, .ops_max = 16};
    struct relay relay = {0};
    T_EQ(tts_tracker_new(&limits, NULL, &relay.tracker, NULL), TTS_OK);
    struct tts_capture *capture = begun(relay.tracker);
    pthread_t freeing, disturbing;
    T_EQ(pthread_create(&freeing, NULL, free_behind, &relay), 0);
    T_EQ(pthread_create(&disturbing, NULL, disturb, &relay), 0);
    for (uint64_t id = 1; id <= EVENTS; id++) {
        alloc_dram(relay.tracker, id, 10);
        atomic_store_explicit(&relay.handed, id, memory_order_release);
    }
    T_EQ(pthread_join(freeing, NULL), 0);
    T_EQ(pthread_join(disturbing, NULL), 0);
    end(capture, NULL);
    struct tts_tracker_health health = health_of(relay.tracker);
    T_TRUE(health.unknown_frees == 0 && health.dropped == 0);
    T_EQ(tts_tracker_live(relay.tracker, NULL, 0), 0);
    T_EQ(dram(capture, 0)->freed_bytes, EVENTS * 10);
    done(capture, relay.tracker);
}

/* --- operations ------------------------------------------------------------------------- */

static void *in_operation(void *ctx)
{
    struct worker *w = ctx;
    char name[] = "thread 0";
    name[7] = (char)('0' + w->idx);
    for (uint64_t i = 0; i < 200; i++) {
        op_begin(w->tracker, name);
        T_EQ(tts_track_alloc(w->tracker, 0, TTS_POOL_DRAM, w->idx * 1000 + i, 1, 0, NULL),
             TTS_OK);
        op_end(w->tracker);
    }
    return NULL;
}

T_TEST(operations_are_those_of_the_thread)
{
    struct tts_tracker_config limits = {.live_max = 4096, .devices_max = 4, .ops_max = 16};
    struct tts_tracker *tracker = NULL;
    static struct tts_live live[THREADS * 200];
    T_EQ(tts_tracker_new(&limits, NULL, &tracker, NULL), TTS_OK);
    struct tts_capture *capture = begun(tracker);
    struct worker workers[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.tracker = tracker, .idx = i};
        T_EQ(pthread_create(&workers[i].thread, NULL, in_operation, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        T_EQ(pthread_join(workers[i].thread, NULL), 0);
    T_EQ(tts_tracker_live(tracker, live, THREADS * 200), THREADS * 200);
    for (size_t i = 0; i < THREADS * 200; i++)
        T_EQ(live[i].op[7] - '0', live[i].id / 1000);
    done(capture, tracker);
}

/* --- waiting for another thread --------------------------------------------------------- */

/* Some turns do not count, because the system stops a thread in the middle. */
enum { TURNS = 5000, ENOUGH = 20, MOMENT = 100 };

struct moment {
    struct tts_tracker *tracker;
    atomic_int asked, posting, posted; /* the current turn of each step */
    atomic_int waited; /* events that waited for a fold and left nothing in the inbox */
};

static void await(atomic_int *at, int turn)
{
    for (int i = 0; atomic_load(at) < turn; i++) {
        TTS_PAUSE(); /* yielding the processor could take too long */
        if (i > 1 << 16)
            sched_yield();
    }
}

static void *post_in_turn(void *ctx)
{
    struct moment *m = ctx;
    for (int turn = 1; atomic_load(&m->waited) < ENOUGH && turn <= TURNS; turn++) {
        await(&m->asked, turn);
        atomic_store(&m->posting, turn);
        bool is_taken = atomic_load(&m->tracker->folding);
        alloc_dram(m->tracker, (uint64_t)turn, 32);
        if (is_taken && !tts_inbox_has_letters(&m->tracker->inbox))
            atomic_fetch_add(&m->waited, 1);
        atomic_store(&m->posted, turn);
    }
    return NULL;
}

/* Returns whether there is only one processor. Then the thread that folds cannot run while the
 * other waits. */
static bool has_one_processor(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
}

/* The event waits for the other thread instead of going through the inbox, whose memory both
 * threads write. */
T_TEST(an_event_waits_for_one_that_is_folded_at_the_moment)
{
    struct tts_tracker_config limits = {.live_max = 8192, .devices_max = 4, .ops_max = 16};
    struct moment m = {0};
    pthread_t thread;
    T_EQ(tts_tracker_new(&limits, NULL, &m.tracker, NULL), TTS_OK);
    struct tts_capture *capture = begun(m.tracker);
    T_EQ(pthread_create(&thread, NULL, post_in_turn, &m), 0);
    int turn = 0;
    while (atomic_load(&m.waited) < ENOUGH && turn < TURNS) {
        tts_tracker_enter(m.tracker);
        atomic_store(&m.asked, ++turn);
        await(&m.posting, turn);
        for (int i = 0; i < MOMENT; i++)
            TTS_PAUSE();
        tts_tracker_leave(m.tracker);
        await(&m.posted, turn);
    }
    pthread_join(thread, NULL);
    T_EQ(health_of(m.tracker).events, turn);
    T_TRUE(m.waited >= ENOUGH || has_one_processor());
    done(capture, m.tracker);
}
