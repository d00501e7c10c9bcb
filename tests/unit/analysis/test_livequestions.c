#include "analysis/questions/livequestions.h"
#include "harness/leak_rig.h"
#include "harness/live_rig.h"
#include "torture/heap.h"

static const struct tts_growth_rule rule = {TTS_GROWTH_INTERVAL_NS, TTS_GROWTH_RISES};

/* A monitor that looks at one process of one device every second. */
struct monitor {
    struct tts_livequestions *questions;
    struct tts_liveframe frame;
    struct tts_seenclient client;
    struct tts_seenview view;
    uint32_t pid;
    uint64_t start_ns, start_ticks;
};

static void init_monitor(struct monitor *m)
{
    *m = (struct monitor){.pid = 7, .start_ns = LIVE_BLOCK_NS, .start_ticks = 1000};
    live_init(&m->frame, LIVE_BLOCK_NS);
    T_EQ(tts_livequestions_new(&rule, NULL, &m->questions), TTS_OK);
    m->view.classes_known = m->view.counted_known = m->view.trace_known = true;
}

static void release_monitor(struct monitor *m)
{
    tts_livequestions_free(m->questions);
    tts_liveframe_release(&m->frame);
}

/* Makes a frame with the bytes of the view. Returns its device. */
static struct tts_livedevice *look_at(struct monitor *m, uint64_t time_ns)
{
    tts_liveframe_reset(&m->frame);
    m->frame.time_ns = LIVE_BLOCK_NS + time_ns;
    struct tts_livedevice *device = live_add_published(&m->frame);
    struct tts_liveprocess *process = live_add_process(&m->frame, device, m->pid);
    process->start_ns = m->start_ns;
    process->start_ticks = m->start_ticks;
    process->client = &m->client;
    process->view = &m->view;
    process->counters.known = (1u << TTS_POOLS) - 1;
    for (size_t i = 0; i < TTS_POOLS; i++) {
        process->counters.bytes[i] = m->view.counted_bytes[i];
        device->pools[i] = live_pool(1, UINT64_C(1) << 40, m->view.counted_bytes[i],
                                     (UINT64_C(1) << 40) - m->view.counted_bytes[i], 1);
    }
    tts_livequestions_feed(m->questions, &m->frame, NULL);
    return device;
}

static void look_at_bench(struct bench *b)
{
    struct monitor *m = b->ctx;
    memcpy(m->view.counted_bytes, b->bytes, sizeof b->bytes);
    memcpy(m->view.allocs, b->allocs, sizeof b->allocs);
    memcpy(m->view.frees, b->frees, sizeof b->frees);
    memcpy(m->view.class_buffers, b->classes, sizeof b->classes);
    const struct tts_livedevice *device = look_at(m, b->now_ns);
    b->looks++;
    b->looks_with_leak += device->answers.leak_count > 0;
}

/* Runs the program under a monitor. Returns how often a leak was on the screen. */
static uint64_t looks_with_leak(void (*program)(struct bench *b), uint64_t seed)
{
    struct monitor m;
    struct bench *b = bench_new(seed);
    init_monitor(&m);
    b->look = look_at_bench;
    b->look_ns = BENCH_SECOND;
    b->ctx = &m;
    tts_leakscan_free(b->scan);
    b->scan = NULL;
    program(b);
    uint64_t looks = b->looks_with_leak;
    release_monitor(&m);
    bench_free(b);
    return looks;
}

/* ---- programs of some minutes ---- */

static void load_ten_minutes(struct bench *b)
{
    bench_load(b, 80, (int)bench_random(b, 3), 600 * BENCH_SECOND / 560);
}

static void train_minutes(struct bench *b)
{
    uint64_t step_ns = BENCH_SECOND / 4 << bench_random(b, 6);
    bench_load(b, 12, 0, BENCH_SECOND / 10);
    for (uint64_t end = b->now_ns + 400 * BENCH_SECOND; b->now_ns < end;)
        bench_step(b, 12, 1 + (int)bench_random(b, 4), step_ns);
}

static void evaluate_minutes(struct bench *b)
{
    bench_load(b, 4, 0, BENCH_SECOND / 10);
    for (int i = 1; i <= 300; i++) {
        uint32_t held[8], count = 0;
        bench_step(b, 4, 3, BENCH_SECOND);
        for (int j = 0; i % 20 == 0 && j < 8; j++) {
            held[count++] = bench_alloc(b, TTS_POOL_DRAM, bench_op_eval, 1 << 15);
            bench_step(b, 4, 2, BENCH_SECOND);
        }
        while (count > 0)
            bench_give(b, held[--count]);
    }
}

static void serve_minutes(struct bench *b)
{
    static uint32_t pages[256];
    bench_load(b, 8, 0, BENCH_SECOND / 100);
    for (int requests = 0; requests < 30; requests++) {
        uint32_t count = 0;
        for (uint64_t i = 20 + bench_random(b, 180); i > 0; i--) {
            bench_step(b, 4, 2, BENCH_SECOND / 10);
            if (i % 8 == 0)
                pages[count++] = bench_alloc(b, TTS_POOL_DRAM, bench_op_kv, 1 << 17);
        }
        while (count > 0)
            bench_give(b, pages[--count]);
    }
}

static void leak_minutes(struct bench *b)
{
    uint64_t step_ns = BENCH_SECOND / 8 << bench_random(b, 4);
    bench_load(b, 8, 0, BENCH_SECOND / 10);
    for (uint64_t end = b->now_ns + 300 * BENCH_SECOND; b->now_ns < end;) {
        bench_step(b, 8, 3, step_ns);
        bench_alloc(b, TTS_POOL_DRAM, bench_op_leak, 2048);
    }
}

static void leak_after_a_minute(struct bench *b)
{
    bench_load(b, 8, 0, BENCH_SECOND / 10);
    for (int i = 0; i < 800; i++) {
        bench_step(b, 8, 3, BENCH_SECOND / 4);
        if (i >= 240 && i % 2)
            bench_alloc(b, TTS_POOL_L1, bench_op_leak, 512);
    }
}

/* Waiting is no work: the leak after an hour is found as fast as after a minute. */
static void leak_after_waiting(struct bench *b)
{
    bench_load(b, 8, 0, BENCH_SECOND / 10);
    for (int i = 0; i < 640; i++) {
        if (i == 240)
            bench_pass(b, 3600 * BENCH_SECOND);
        bench_step(b, 8, 3, BENCH_SECOND / 4);
        if (i >= 240)
            bench_alloc(b, TTS_POOL_L1, bench_op_leak, 512);
    }
}

enum { SEEDS = 6 };

T_TEST(no_program_without_a_leak_shows_one)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        T_EQ(looks_with_leak(load_ten_minutes, seed), 0);
        T_EQ(looks_with_leak(train_minutes, seed), 0);
        T_EQ(looks_with_leak(evaluate_minutes, seed), 0);
        T_EQ(looks_with_leak(serve_minutes, seed), 0);
    }
}

T_TEST(a_leak_is_shown_within_minutes)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        T_TRUE(looks_with_leak(leak_minutes, seed) >= 60);
        T_TRUE(looks_with_leak(leak_after_a_minute, seed) >= 30);
    }
    for (uint64_t seed = 1; seed <= 2; seed++) {
        T_TRUE(looks_with_leak(leak_after_waiting, seed) >= 15);
    }
}

T_TEST(a_leak_has_its_pool_process_and_class)
{
    struct monitor m;
    struct bench *b = bench_new(1);
    init_monitor(&m);
    b->look = look_at_bench;
    b->look_ns = BENCH_SECOND;
    b->ctx = &m;
    leak_after_a_minute(b);
    const struct tts_liveanswers *answers = &m.frame.devices[0].answers;
    T_EQ(answers->leak_count, 1);
    const struct tts_liveleak *leak = &answers->leaks[0];
    T_EQ(leak->pool, TTS_POOL_L1);
    T_EQ(leak->owner.pid, 7);
    T_STR_EQ(leak->owner.name, "python3");
    T_EQ(leak->classes, UINT64_C(1) << 9);
    T_EQ(leak->bytes_at_least, leak->buffers * 512);
    T_TRUE(leak->buffers >= 60 && leak->buffers <= 280);
    T_TRUE(leak->is_after_steady);
    T_TRUE(leak->since_ns > LIVE_BLOCK_NS + 50 * BENCH_SECOND);
    T_TRUE(leak->since_ns < LIVE_BLOCK_NS + 85 * BENCH_SECOND);
    T_TRUE(leak->periods >= 4 && leak->period_ns >= 4 * BENCH_SECOND);
    release_monitor(&m);
    bench_free(b);
}

T_TEST(growth_is_shown_with_its_slope_and_withdrawn)
{
    struct monitor m;
    init_monitor(&m);
    for (uint64_t second = 0; second <= 40; second++) {
        uint64_t mb = 10 + 10 * ((second < 20 ? second : 20) / 5);
        m.view.counted_bytes[TTS_POOL_DRAM] = mb << 20;
        const struct tts_liveanswers *answers = &look_at(&m, second * BENCH_SECOND)->answers;
        T_EQ(answers->growing_count, second >= 10 && second < 30);
        if (second == 10) {
            T_EQ(answers->growing[0].pool, TTS_POOL_DRAM);
            T_EQ(answers->growing[0].owner.pid, 7);
            T_EQ(answers->growing[0].grown_bytes, LIVE_MB(20));
            T_EQ(answers->growing[0].bytes_per_second, LIVE_MB(2));
            T_EQ(answers->growing[0].since_ns, LIVE_BLOCK_NS);
            T_TRUE(answers->growing[0].full_known);
            T_EQ(answers->growing[0].full_seconds, ((UINT64_C(1) << 20) - 30) / 2);
        }
    }
    release_monitor(&m);
}

T_TEST(another_process_with_the_same_number_begins_again)
{
    struct monitor m;
    init_monitor(&m);
    for (uint64_t i = 0; i < 2; i++) {
        m.view.counted_bytes[TTS_POOL_L1] = (10 * (i + 1)) << 20;
        (void)look_at(&m, 5 * i * BENCH_SECOND);
    }
    /* The number is used again: the frame has another start. */
    m.view.counted_bytes[TTS_POOL_L1] = LIVE_MB(30);
    m.start_ns += BENCH_SECOND;
    m.start_ticks += 100;
    T_EQ(look_at(&m, 10 * BENCH_SECOND)->answers.growing_count, 0);
    m.view.counted_bytes[TTS_POOL_L1] = LIVE_MB(40);
    T_EQ(look_at(&m, 15 * BENCH_SECOND)->answers.growing_count, 0);
    release_monitor(&m);
}

T_TEST(a_clock_that_is_set_begins_no_process_again)
{
    struct monitor m;
    init_monitor(&m);
    for (uint64_t i = 0; i < 3; i++) {
        m.view.counted_bytes[TTS_POOL_L1] = (10 * (i + 1)) << 20;
        m.start_ns += 3600 * BENCH_SECOND; /* the same moment, by another clock */
        T_EQ(look_at(&m, 5 * i * BENCH_SECOND)->answers.growing_count, i == 2);
    }
    release_monitor(&m);
}

T_TEST(a_trace_of_the_only_process_is_the_phase_of_the_device)
{
    struct monitor m;
    init_monitor(&m);
    T_EQ(tts_livephases_now(&look_at(&m, 0)->answers.phases), TTS_TRACEPHASE_INIT);
    m.view.trace_depth = 1;
    m.view.counted_bytes[TTS_POOL_TRACE] = LIVE_MB(128);
    T_EQ(tts_livephases_now(&look_at(&m, BENCH_SECOND)->answers.phases),
         TTS_TRACEPHASE_CAPTURE_START);
    T_EQ(m.frame.devices[0].processes[0].phase, TTS_TRACEPHASE_CAPTURE_START);
    m.view.trace_known = false;
    T_EQ(tts_livephases_now(&look_at(&m, 2 * BENCH_SECOND)->answers.phases),
         TTS_TRACEPHASE_UNKNOWN);
    release_monitor(&m);
}

T_TEST(programs_with_the_same_device_number_have_their_own_phases)
{
    struct tts_livequestions *questions;
    struct tts_liveframe frame;
    struct tts_seenview views[2] = {{.trace_known = true, .traces = 1}, {.trace_known = true}};
    live_init(&frame, LIVE_BLOCK_NS);
    T_EQ(tts_livequestions_new(&rule, NULL, &questions), TTS_OK);
    for (int round = 0; round < 3; round++) {
        tts_liveframe_reset(&frame);
        for (uint32_t i = 0; i < 2; i++) {
            struct tts_livedevice *device = live_add_published(&frame);
            live_add_process(&frame, device, 7 + i)->view = &views[i];
        }
        tts_livequestions_feed(questions, &frame, NULL);
        T_EQ(tts_livephases_now(&frame.devices[0].answers.phases), TTS_TRACEPHASE_EXECUTION);
        T_EQ(tts_livephases_now(&frame.devices[1].answers.phases), TTS_TRACEPHASE_INIT);
        T_EQ(frame.devices[0].answers.phases.row_count, 1);
    }
    tts_livequestions_free(questions);
    tts_liveframe_release(&frame);
}

T_TEST(a_list_that_is_not_whole_is_not_judged)
{
    struct monitor m;
    struct bench *b = bench_new(1);
    init_monitor(&m);
    m.client.unlisted = 1;
    b->look = look_at_bench;
    b->look_ns = BENCH_SECOND;
    b->ctx = &m;
    leak_after_a_minute(b);
    T_EQ(b->looks_with_leak, 0);
    release_monitor(&m);
    bench_free(b);
}

T_TEST(subjects_beyond_the_limit_have_no_answers_and_gone_ones_make_room)
{
    struct tts_livequestions *questions;
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    T_EQ(tts_livequestions_new(&rule, NULL, &questions), TTS_OK);
    for (uint64_t round = 0; round < 6; round++) {
        tts_liveframe_reset(&frame);
        frame.time_ns = LIVE_BLOCK_NS + 5 * round * BENCH_SECOND;
        struct tts_livedevice *device = live_add_published(&frame);
        uint32_t first = round < 3 ? 1 : 5000;
        for (uint32_t i = 0; i < TTS_LIVEQUESTIONS_SUBJECTS + 9; i++) {
            struct tts_liveprocess *process = live_add_process(&frame, device, first + i);
            process->start_ns = 5;
            process->counters.known = 1u << TTS_COUNTER_DRAM;
            process->counters.bytes[TTS_COUNTER_DRAM] = round + 1;
        }
        tts_livequestions_feed(questions, &frame, NULL);
        uint64_t all = device->answers.growing_count + device->answers.growing_unlisted;
        T_EQ(all, round % 3 == 2 ? TTS_LIVEQUESTIONS_SUBJECTS : 0);
    }
    tts_livequestions_free(questions);
    tts_liveframe_release(&frame);
}

T_TEST(each_allocation_may_fail)
{
    struct heap heap;
    enum tts_status status = TTS_E_NOMEM;
    heap_init(&heap);
    for (uint64_t n = 1; status == TTS_E_NOMEM; n++) {
        struct tts_livequestions *questions = NULL;
        heap_init(&heap);
        heap.fail_at = n;
        status = tts_livequestions_new(&rule, &heap.alloc, &questions);
        tts_livequestions_free(questions);
        T_TRUE(heap_is_settled(&heap));
        T_EQ(heap.live_bytes, 0);
    }
    T_EQ(status, TTS_OK);
}
