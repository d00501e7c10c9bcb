#include "harness/leak_rig.h"
#include "torture/heap.h"

typedef void (*program_fn)(struct bench *b);

/* Runs the program and returns how many kinds leak in its recording. */
static size_t leaks_of(program_fn program, uint64_t seed, struct tts_leakowners *out)
{
    static struct tts_leakowners owners;
    struct bench *b = bench_new(seed);
    program(b);
    tts_leakscan_judge(b->scan, out ? out : &owners);
    bench_free(b);
    return out ? out->count : owners.count;
}

static uint64_t some(struct bench *b, uint64_t least, uint64_t most)
{
    return least + bench_random(b, most - least + 1);
}

/* ---- programs without a leak ---- */

static void load_only(struct bench *b)
{
    bench_load(b, (int)some(b, 4, 80), (int)some(b, 0, 2), BENCH_SECOND / 10);
}

static void load_twice(struct bench *b)
{
    bench_load(b, (int)some(b, 4, 40), 0, BENCH_SECOND / 10);
    bench_load(b, (int)some(b, 4, 40), 1, BENCH_SECOND / 10);
}

static void train(struct bench *b)
{
    int layers = (int)some(b, 2, 24), kept = (int)some(b, 1, 12), steps = (int)some(b, 1, 30);
    bench_load(b, layers, (int)some(b, 0, 1), BENCH_SECOND / 100);
    for (int i = 0; i < steps; i++) {
        for (uint64_t j = 0; i < 3 && j < some(b, 0, 4); j++)
            bench_alloc(b, TTS_POOL_DRAM, bench_op_cache, 1 << 13);
        bench_step(b, layers, kept, BENCH_SECOND);
    }
    if (some(b, 0, 1))
        bench_give_all(b);
}

static void train_cut(struct bench *b)
{
    /* The recording ends in a forward pass, as it does when memory runs out. */
    int layers = (int)some(b, 2, 24);
    bench_load(b, layers, 0, BENCH_SECOND / 100);
    for (uint64_t i = some(b, 0, 3); i > 0; i--)
        bench_step(b, layers, 4, BENCH_SECOND);
    for (int i = 0; i < layers * 4; i++) {
        uint32_t tmp = bench_alloc(b, TTS_POOL_L1, bench_op_act, 1 << 16);
        bench_alloc(b, TTS_POOL_DRAM, bench_op_act, (uint64_t)(i % 4 + 1) << 20);
        bench_give(b, tmp);
    }
}

static void accumulate(struct bench *b)
{
    int layers = (int)some(b, 2, 12), micro = (int)some(b, 2, 8);
    uint32_t grads[12];
    bench_load(b, layers, 0, BENCH_SECOND / 100);
    for (uint64_t steps = some(b, 3, 20); steps > 0; steps--) {
        for (int i = 0; i < layers; i++)
            grads[i] = bench_alloc(b, TTS_POOL_DRAM, bench_op_grad, 1 << 22);
        for (int i = 0; i < micro; i++)
            bench_step(b, layers, 3, BENCH_SECOND);
        for (int i = 0; i < layers; i++)
            bench_give(b, grads[i]);
    }
}

static void evaluate(struct bench *b)
{
    /* Every k steps, an evaluation collects results and frees them at its end. */
    uint64_t every = some(b, 3, 12), batches = some(b, 2, 6), steps = every * some(b, 3, 8);
    bench_load(b, 4, 0, BENCH_SECOND / 100);
    for (uint64_t i = 1; i <= steps; i++) {
        uint32_t held[8], count = 0;
        bench_step(b, 4, 3, BENCH_SECOND);
        for (uint64_t j = 0; i % every == 0 && j < batches; j++) {
            held[count++] = bench_alloc(b, TTS_POOL_DRAM, bench_op_eval, 1 << 15);
            bench_step(b, 4, 2, BENCH_SECOND / 2);
        }
        while (count > 0)
            bench_give(b, held[--count]);
    }
}

/* Requests fill a cache of pages and free the cache; the last request may be cut. */
static void serve_requests(struct bench *b)
{
    static uint32_t pages[512];
    bench_load(b, 8, 0, BENCH_SECOND / 100);
    for (uint64_t requests = some(b, 3, 8); requests > 0; requests--) {
        uint32_t count = 0;
        for (uint64_t i = some(b, 64, 256); i > 0; i--) {
            bench_step(b, 4, 2, BENCH_SECOND / 20);
            if (i % 8 == 0)
                pages[count++] = bench_alloc(b, TTS_POOL_DRAM, bench_op_kv, 1 << 17);
        }
        while (count > 0)
            bench_give(b, pages[--count]);
    }
}

/* A cache grows to its bound, and stays there for as long as it grew. */
static void fill_cache(struct bench *b)
{
    uint64_t bound = some(b, 8, 64);
    bench_load(b, 8, 0, BENCH_SECOND / 100);
    for (uint64_t i = 0; i < 2 * bound; i++) {
        if (i < bound)
            bench_alloc(b, TTS_POOL_DRAM, bench_op_kv, 1 << 17);
        bench_step(b, 4, 2, BENCH_SECOND / 20);
    }
}

static void restart(struct bench *b)
{
    for (uint64_t i = some(b, 2, 5); i > 0; i--) {
        train(b);
        bench_give_all(b);
    }
}

/* ---- programs with a leak ---- */

static void leak_each_step(struct bench *b)
{
    uint64_t steps = some(b, 12, 200), layers = some(b, 2, 24);
    bench_load(b, (int)layers, (int)some(b, 0, 1), BENCH_SECOND / 100);
    for (uint64_t i = 0; i < steps; i++) {
        bench_step(b, (int)layers, (int)some(b, 3, 3), BENCH_SECOND / 10);
        bench_alloc(b, TTS_POOL_DRAM, bench_op_leak, 2048);
    }
}

static void leak_same_kind(struct bench *b)
{
    /* The leaked buffer is like those that come and go. */
    bench_load(b, 8, 0, BENCH_SECOND / 100);
    for (uint64_t i = some(b, 20, 100); i > 0; i--) {
        bench_step(b, 8, 3, BENCH_SECOND / 10);
        bench_alloc(b, TTS_POOL_DRAM, bench_op_act, 1 << 20);
    }
    bench_give_all(b);
}

static void leak_second_step(struct bench *b)
{
    bench_load(b, 8, 0, BENCH_SECOND / 100);
    for (uint64_t i = some(b, 24, 200); i > 0; i--) {
        bench_step(b, 8, 3, BENCH_SECOND / 10);
        if (i % 2)
            bench_alloc(b, TTS_POOL_DRAM, bench_op_leak, 4096);
    }
}

static void leak_later(struct bench *b)
{
    uint64_t steps = some(b, 10, 40);
    bench_load(b, 8, 0, BENCH_SECOND / 100);
    for (uint64_t i = 0; i < 2 * steps; i++) {
        bench_step(b, 8, 3, BENCH_SECOND / 10);
        if (i >= steps)
            bench_alloc(b, TTS_POOL_L1, bench_op_leak, 1024);
    }
    bench_give_all(b);
}

/* Few buffers: one is freed and one is kept in each step. */
static void leak_half(struct bench *b)
{
    for (uint64_t i = some(b, 6, 12); i > 0; i--)
        bench_alloc(b, TTS_POOL_DRAM, bench_op_load, 1 << 20);
    for (uint64_t i = some(b, 12, 100); i > 0; i--) {
        uint32_t tmp = bench_alloc(b, TTS_POOL_DRAM, bench_op_act, 1 << 16);
        bench_alloc(b, TTS_POOL_DRAM, bench_op_leak, 1 << 12);
        bench_give(b, tmp);
        bench_pass(b, BENCH_SECOND / 10);
    }
}

/* A cache grows from the first step to the end of the file: nothing tells it from a leak. */
static void grow_to_the_end(struct bench *b)
{
    bench_load(b, 8, 0, BENCH_SECOND / 100);
    for (uint64_t i = some(b, 40, 100); i > 0; i--) {
        bench_alloc(b, TTS_POOL_DRAM, bench_op_kv, 1 << 17);
        bench_step(b, 4, 2, BENCH_SECOND / 20);
    }
}

/* Each step keeps half of its buffers, and nothing was there before: this can be loading. */
static void leak_without_base(struct bench *b)
{
    for (uint64_t i = some(b, 12, 100); i > 0; i--) {
        uint32_t tmp = bench_alloc(b, TTS_POOL_DRAM, bench_op_act, 1 << 16);
        bench_alloc(b, TTS_POOL_DRAM, bench_op_leak, 1 << 12);
        bench_give(b, tmp);
    }
}

enum { SEEDS = 50 };

/* Returns in how many of SEEDS histories something leaks. */
static int leaking(program_fn program)
{
    int found = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        found += leaks_of(program, seed, NULL) > 0;
    return found;
}

T_TEST(loading_is_never_a_leak)
{
    T_EQ(leaking(load_only), 0);
    T_EQ(leaking(load_twice), 0);
}

T_TEST(training_is_never_a_leak)
{
    T_EQ(leaking(train), 0);
    T_EQ(leaking(train_cut), 0);
    T_EQ(leaking(accumulate), 0);
    T_EQ(leaking(evaluate), 0);
    T_EQ(leaking(restart), 0);
}

T_TEST(a_cache_with_a_bound_is_no_leak_and_requests_rarely)
{
    T_EQ(leaking(fill_cache), 0);
    /* The last request can be longer than all requests before. */
    T_TRUE(leaking(serve_requests) <= SEEDS / 10);
}

T_TEST(a_leak_is_found_at_any_step_and_among_any_buffers)
{
    T_EQ(leaking(leak_each_step), SEEDS);
    T_EQ(leaking(leak_same_kind), SEEDS);
    T_EQ(leaking(leak_second_step), SEEDS);
    T_EQ(leaking(leak_later), SEEDS);
    T_EQ(leaking(leak_half), SEEDS);
}

T_TEST(the_limits_of_the_rule_are_as_documented)
{
    T_EQ(leaking(grow_to_the_end), SEEDS);
    T_EQ(leaking(leak_without_base), 0);
}

static void leak_two_kinds(struct bench *b)
{
    bench_load(b, 8, 0, BENCH_SECOND / 100);
    for (int i = 0; i < 64; i++) {
        bench_step(b, 8, 3, BENCH_SECOND / 10);
        bench_alloc(b, TTS_POOL_DRAM, bench_op_leak, 4096);
        for (int j = 0; j < 3; j++)
            bench_alloc(b, TTS_POOL_L1, bench_op_cache, 512);
    }
    bench_give_all(b);
}

T_TEST(a_leak_has_its_owners_sizes_and_counts)
{
    struct tts_leakowners owners;
    T_EQ(leaks_of(leak_two_kinds, 1, &owners), 2);
    const struct tts_leakowner *most = &owners.owners[0], *least = &owners.owners[1];
    T_TRUE(most->op == bench_op_cache && least->op == bench_op_leak);
    T_TRUE(most->pool == TTS_POOL_L1 && least->pool == TTS_POOL_DRAM);
    T_EQ(most->size_bytes, 512);
    T_EQ(least->size_bytes, 4096);
    /* The growth is from the first window to the last. */
    T_TRUE(least->buffers >= 48 && least->buffers <= 64);
    T_TRUE(most->buffers >= 3 * least->buffers - 6 && most->buffers <= 3 * least->buffers + 6);
    T_TRUE(least->until_ns > least->since_ns);
    T_TRUE(least->periods > 0);
    T_EQ(owners.unlisted + owners.kinds_left_out, 0);
}

static void leak_from_the_middle(struct bench *b)
{
    bench_load(b, 8, 0, BENCH_SECOND / 100);
    for (int i = 0; i < 200; i++) {
        bench_step(b, 8, 3, BENCH_SECOND / 10);
        if (i >= 100)
            bench_alloc(b, TTS_POOL_DRAM, bench_op_leak, 4096);
    }
}

T_TEST(a_leak_after_a_steady_time_says_since_when)
{
    struct tts_leakowners owners;
    T_EQ(leaks_of(leak_from_the_middle, 1, &owners), 1);
    T_TRUE(owners.owners[0].is_after_steady);
    T_TRUE(owners.owners[0].since_ns > 8 * BENCH_SECOND);
    T_TRUE(owners.owners[0].since_ns < 11 * BENCH_SECOND);
}

static void many_kinds(struct bench *b)
{
    for (uint64_t i = 0; i < TTS_LEAKSCAN_KINDS + 10; i++)
        bench_alloc(b, TTS_POOL_DRAM, bench_op_load, 64 + i);
}

T_TEST(kinds_and_devices_beyond_the_limits_are_counted)
{
    struct tts_leakowners owners;
    struct tts_leakscan *scan;
    T_EQ(leaks_of(many_kinds, 1, &owners), 0);
    T_EQ(owners.kinds_left_out, 10);
    T_EQ(tts_leakscan_new(NULL, &scan), TTS_OK);
    for (uint32_t i = 0; i < TTS_LEAKSCAN_DEVICES + 2; i++) {
        struct tts_change change = {.has_come = true, .came = {.size_bytes = 1, .device = i}};
        T_EQ(tts_leakscan_change(scan, &change, 0), TTS_OK);
    }
    tts_leakscan_judge(scan, &owners);
    T_EQ(owners.kinds_left_out, 2);
    tts_leakscan_free(scan);
}

T_TEST(each_allocation_may_fail)
{
    struct heap heap;
    enum tts_status status = TTS_E_NOMEM;
    for (uint64_t n = 1; status == TTS_E_NOMEM; n++) {
        struct tts_leakscan *scan = NULL;
        heap_init(&heap);
        heap.fail_at = n;
        status = tts_leakscan_new(&heap.alloc, &scan);
        for (uint64_t i = 0; i < 100 && status == TTS_OK; i++) {
            struct tts_change change = {.has_come = true,
                                        .came = {.size_bytes = 64 + i, .device = 3}};
            status = tts_leakscan_change(scan, &change, 0);
        }
        tts_leakscan_free(scan);
        T_TRUE(heap_is_settled(&heap));
        T_EQ(heap.live_bytes, 0);
    }
    T_EQ(status, TTS_OK);
    T_TRUE(heap.calls > 5);
}
