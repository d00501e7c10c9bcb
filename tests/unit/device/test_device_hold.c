#include "device/devicepools.h"
#include "harness/device_rig.h"

#include <pthread.h>
#include <string.h>

enum { TILE = 2048, K = 1024, LIVE_MAX = 100, ROUNDS = 20000 };

static const struct tts_core_range all = {0, 0, 7, 7}, row = {0, 0, 3, 0};

static struct tts_device *hybrid_in(enum tts_mode mode)
{
    return device_on(chip_with("n150", "32768", "102400"),
                     (struct tts_device_config){.mode = mode, .hybrid = true}, NULL);
}

static struct tts_buffer trace(struct tts_device *device, uint64_t bytes)
{
    struct tts_buffer buffer = {0};
    T_EQ(tts_device_alloc_trace(device, bytes, &buffer, NULL), TTS_OK);
    return buffer;
}

static void nothing_is_there(const struct tts_device *device)
{
    for (int i = 0; i < TTS_POOLS; i++) {
        struct tts_pool_stats stats = stats_of(device, (enum tts_pool)i);
        T_TRUE(stats.buffers == 0 && stats.unplaced_buffers == 0);
        T_TRUE(stats.space.taken_bytes == 0 && stats.unplaced_bytes == 0);
    }
}

/* --- like NO_DISPATCH ------------------------------------------------------------------- */

struct pair {
    /* A held device, and a device in NO_DISPATCH mode that must behave in the same way. */
    struct tts_device *held, *twin;
    struct tts_buffer a[LIVE_MAX], b[LIVE_MAX];
    size_t count;
    uint64_t rng;
};

static struct tts_request some_request(uint64_t *rng, struct tts_shard *shard)
{
    /* The largest sizes; some of them are larger than the device. */
    static const uint64_t most[] = {DRAM_TOP, L1_BYTES * 2, 65536, 8000};
    enum tts_pool pool = (enum tts_pool)(t_random(rng) % TTS_POOLS);
    uint64_t page = 1 + t_random(rng) % most[pool], pages = t_random(rng) % 30;
    struct tts_request request = pages_in(pool, pages, page);
    if (pool == TTS_POOL_L1_SMALL || t_random(rng) % 4 == 0)
        request = sharded_in(pool, 1, page, &row, shard);
    if (t_random(rng) % 20 == 0)
        request.size_bytes++; /* the size is no longer a multiple of the page */
    request.placement = (enum tts_placement)(t_random(rng) % 4);
    return request;
}

static enum tts_status one_of(struct tts_device *device, unsigned kind, uint64_t bytes,
                              const struct tts_request *request, struct tts_buffer *out)
{
    uint64_t at[64];
    if (kind == 0)
        return tts_device_alloc_kernel(device, bytes, out, NULL);
    if (kind == 1)
        return tts_device_alloc_trace(device, bytes, out, NULL);
    if (kind == 2)
        return tts_device_alloc_per_core(device, request, at, 64, out, NULL);
    return tts_device_alloc(device, request, out, NULL);
}

static void step(struct pair *p)
{
    struct tts_shard shard;
    size_t idx = t_random(&p->rng) % LIVE_MAX;
    if (idx < p->count) {
        given(p->held, p->a[idx]);
        given(p->twin, p->b[idx]);
        p->count--;
        p->a[idx] = p->a[p->count];
        p->b[idx] = p->b[p->count];
        return;
    }
    struct tts_request request = some_request(&p->rng, &shard);
    unsigned kind = (unsigned)(t_random(&p->rng) % 8);
    uint64_t bytes = t_random(&p->rng) % (DRAM_TOP * 20);
    enum tts_status status = one_of(p->held, kind, bytes, &request, &p->a[p->count]);
    T_EQ(one_of(p->twin, kind, bytes, &request, &p->b[p->count]), status);
    T_TRUE(status == TTS_OK || status == TTS_E_INVALID);
    if (status != TTS_OK)
        return;
    T_TRUE(!p->a[p->count].placed);
    same_buffer(&p->a[p->count], &p->b[p->count]);
    p->count++;
}

static void same_stats(const struct tts_device *a, const struct tts_device *b)
{
    for (int i = 0; i < TTS_POOLS; i++) {
        struct tts_pool_stats x = stats_of(a, (enum tts_pool)i),
                              y = stats_of(b, (enum tts_pool)i);
        T_MEM_EQ(&x, &y, sizeof x);
    }
}

T_TEST(a_device_that_is_held_does_as_one_without_dispatch)
{
    for (int mode = TTS_MODE_PLACE; mode <= TTS_MODE_OVERCOMMIT; mode++) {
        static struct pair p;
        p = (struct pair){.held = hybrid_in((enum tts_mode)mode),
                          .twin = hybrid_in(TTS_MODE_NO_DISPATCH),
                          .rng = 5 + (uint64_t)mode};
        tts_device_hold(p.held, true);
        for (int i = 0; i < 4000; i++) {
            step(&p);
            same_stats(p.held, p.twin);
        }
        T_EQ(tts_device_failures(p.held), 0);
        tts_device_hold(p.held, false);
        while (p.count > 0)
            given(p.held, p.a[--p.count]);
        nothing_is_there(p.held);
        tts_device_free(p.held);
        tts_device_free(p.twin);
    }
}

T_TEST(each_mode_is_back_when_the_hold_ends)
{
    for (int mode = TTS_MODE_PLACE; mode <= TTS_MODE_OVERCOMMIT; mode++) {
        struct tts_device *device = device_in((enum tts_mode)mode, chip_of("n150"));
        bool places = mode != TTS_MODE_NO_DISPATCH;
        struct tts_request huge = pages_in(TTS_POOL_L1, 1, L1_BYTES + 64);
        tts_device_hold(device, false); /* the device was not held, so this has no effect */
        T_EQ(taken(device, pages_in(TTS_POOL_L1, 1, 64)).placed, places);
        tts_device_hold(device, true);
        tts_device_hold(device, true);
        T_TRUE(!taken(device, pages_in(TTS_POOL_L1, 1, 64)).placed);
        T_TRUE(!taken(device, huge).placed);
        T_EQ(tts_device_failures(device), 0);
        tts_device_hold(device, false); /* one call ends both holds */
        struct tts_buffer next = taken(device, pages_in(TTS_POOL_L1, 1, 64));
        T_EQ(next.placed, places);
        /* The requests during the hold have no effect. */
        T_EQ(next.address, places ? L1_TOP - 128 : 0);
        if (mode == TTS_MODE_PLACE)
            refused(device, huge, TTS_E_FULL);
        else
            T_TRUE(!taken(device, huge).placed);
        T_EQ(tts_device_failures(device), places ? 1 : 0);
        tts_device_free(device);
    }
}

T_TEST(a_region_of_no_bytes_takes_all_while_held)
{
    struct tts_device *device = device_of("n150");
    struct tts_shard shard;
    struct tts_request small = sharded_in(TTS_POOL_L1_SMALL, 1, 64, &all, &shard);
    refused(device, small, TTS_E_FULL);
    tts_device_hold(device, true);
    struct tts_buffer b = taken(device, small);
    T_TRUE(!b.placed && b.block_bytes == 64);
    tts_device_hold(device, false);
    refused(device, small, TTS_E_FULL);
    given(device, b);
    T_EQ(tts_device_release(device, &b), TTS_E_NOT_FOUND);
    T_EQ(tts_device_failures(device), 2);
    tts_device_free(device);
}

T_TEST(programs_are_not_checked_while_held)
{
    struct tts_device *device = device_of("n150");
    struct tts_cb cb = {.ranges = &all, .range_count = 1, .total_bytes = L1_BYTES};
    uint64_t address;
    taken(device, pages_in(TTS_POOL_L1, 64, TILE));
    tts_device_hold(device, true);
    tts_device_program(device, 1);
    for (uint64_t i = 0; i < 2; i++) { /* the second circular buffer ends beyond L1 */
        T_EQ(tts_device_add_cb(device, &cb, &address, NULL), TTS_OK);
        T_EQ(address, L1_BASE + i * L1_BYTES);
        T_EQ(tts_device_run_program(device, NULL), TTS_OK);
    }
    T_EQ(tts_device_failures(device), 0);
    tts_device_hold(device, false);
    T_EQ(tts_device_run_program(device, NULL), TTS_E_FULL);
    tts_device_free(device);
}

/* --- release ---------------------------------------------------------------------------- */

T_TEST(a_buffer_is_given_back_as_it_was_made_held_or_not)
{
    for (int made_held = 0; made_held < 2; made_held++) {
        for (int given_held = 0; given_held < 2; given_held++) {
            struct tts_device *device = device_of("n150");
            struct tts_buffer stays = taken(device, pages_in(TTS_POOL_DRAM, 12, TILE));
            tts_device_hold(device, made_held);
            struct tts_buffer b = taken(device, pages_in(TTS_POOL_DRAM, 12, TILE));
            struct tts_pool_stats stats = stats_of(device, TTS_POOL_DRAM);
            T_EQ(b.placed, !made_held);
            T_EQ(stats.space.taken_bytes, made_held ? TILE : 2 * TILE);
            T_EQ(stats.unplaced_bytes, made_held ? TILE : 0);
            T_TRUE(stats.buffers == 2 && stats.peak_bytes == 2 * TILE);
            tts_device_hold(device, given_held);
            given(device, b);
            T_EQ(tts_device_release(device, &b), TTS_E_NOT_FOUND);
            stats = stats_of(device, TTS_POOL_DRAM);
            T_TRUE(stats.space.taken_bytes == TILE && stats.unplaced_bytes == 0);
            T_EQ(stats.buffers, 1);
            given(device, stays);
            tts_device_hold(device, false);
            T_EQ(taken(device, pages_in(TTS_POOL_DRAM, 12, TILE)).address, stays.address);
            tts_device_free(device);
        }
    }
}

T_TEST(so_are_buffers_of_single_cores)
{
    for (int made_held = 0; made_held < 2; made_held++) {
        for (int given_held = 0; given_held < 2; given_held++) {
            struct tts_device *device = hybrid_in(TTS_MODE_PLACE);
            struct tts_shard shard;
            struct tts_request request = sharded_in(TTS_POOL_L1, 1, 4 * K, &row, &shard);
            struct tts_buffer b;
            uint64_t at[4];
            tts_device_hold(device, made_held);
            T_EQ(tts_device_alloc_per_core(device, &request, at, 4, &b, NULL), TTS_OK);
            T_EQ(b.placed, !made_held);
            T_EQ(at[3], made_held ? 0 : L1_TOP - 32768 - 4 * K);
            struct tts_pool_stats stats = stats_of(device, TTS_POOL_L1);
            T_TRUE(stats.buffers == 1 && stats.peak_bytes == 4 * K);
            T_EQ(stats.unplaced_buffers, made_held);
            tts_device_hold(device, given_held);
            T_EQ(tts_device_release_per_core(device, &request, at, &b), TTS_OK);
            T_EQ(tts_device_release_per_core(device, &request, at, &b), TTS_E_NOT_FOUND);
            nothing_is_there(device);
            T_TRUE(!tts_device_floor(device).known);
            tts_device_free(device);
        }
    }
}

T_TEST(a_core_that_is_full_takes_all_while_held)
{
    struct tts_device *device = hybrid_in(TTS_MODE_PLACE);
    struct tts_shard shard;
    struct tts_request request = sharded_in(TTS_POOL_L1, 1, L1_BYTES, &row, &shard);
    struct tts_buffer b;
    uint64_t at[4];
    T_EQ(tts_device_alloc_per_core(device, &request, at, 4, &b, NULL), TTS_E_FULL);
    tts_device_hold(device, true);
    T_EQ(tts_device_alloc_per_core(device, &request, at, 4, &b, NULL), TTS_OK);
    T_TRUE(!b.placed && at[0] == 0 && at[3] == 0 && b.block_bytes == L1_BYTES);
    T_EQ(tts_device_failures(device), 1);
    tts_device_free(device);
}

/* --- traces ----------------------------------------------------------------------------- */

T_TEST(a_trace_is_counted_only_while_held_and_is_not_of_the_budget)
{
    struct tts_device *device = hybrid_in(TTS_MODE_PLACE);
    struct tts_buffer live = trace(device, 51200);
    tts_device_hold(device, true);
    struct tts_buffer counted = trace(device, 51200), huge = trace(device, 10 << 20);
    T_TRUE(live.placed && !counted.placed && !huge.placed);
    T_TRUE(counted.pool == TTS_POOL_TRACE && counted.block_bytes == UINT64_C(3) * 2048);
    tts_device_hold(device, false);
    struct tts_buffer second = trace(device, 51200), none;
    T_TRUE(second.placed);
    T_EQ(tts_device_alloc_trace(device, 1, &none, NULL), TTS_E_FULL);
    tts_device_hold(device, true);
    given(device, live); /* also reduces the bytes that count against the trace region */
    tts_device_hold(device, false);
    T_EQ(trace(device, 51200).address, live.address);
    given(device, counted);
    given(device, huge);
    T_EQ(stats_of(device, TTS_POOL_TRACE).buffers, 2);
    T_EQ(tts_device_failures(device), 1);
    tts_device_free(device);
}

T_TEST(what_is_held_leaves_no_mark_on_a_capture)
{
    struct tts_device *device = device_of("n150");
    struct tts_buffer kernel, low;
    tts_device_trace_begin(device);
    tts_device_hold(device, true);
    T_EQ(tts_device_alloc_kernel(device, 1, &kernel, NULL), TTS_OK);
    tts_device_hold(device, false);
    /* The kernel binary was only counted, so it is not at the top. */
    T_EQ(trace(device, 1).address, DRAM_TOP - 1024);
    tts_device_hold(device, true);
    tts_device_trace_begin(device);
    tts_device_hold(device, false);
    T_EQ(tts_device_alloc_kernel(device, 1, &kernel, NULL), TTS_OK);
    T_EQ(tts_device_alloc_trace(device, 1, &low, NULL), TTS_E_FULL);
    T_EQ(tts_device_failure(device)->kind, TTS_FAILURE_TRACE_OVERLAP);
    tts_device_trace_begin(device);
    tts_device_hold(device, true);
    given(device, kernel); /* gives a block back, so the high-water mark is near the top */
    /* A held device does not check the mark; the capture ends. */
    T_TRUE(!trace(device, 1).placed);
    tts_device_hold(device, false);
    T_TRUE(trace(device, 1).placed);
    tts_device_free(device);
}

/* --- meshes ----------------------------------------------------------------------------- */

T_TEST(a_part_of_a_mesh_is_held_on_its_own)
{
    struct tts_device *mesh = device_of("n300"), *part = NULL;
    struct tts_request request = pages_in(TTS_POOL_DRAM, 12, TILE);
    tts_device_hold(mesh, true);
    T_EQ(tts_device_submesh(mesh, 1, &part, NULL), TTS_OK);
    T_TRUE(taken(part, request).placed && !taken(mesh, request).placed);
    tts_device_hold(mesh, false);
    tts_device_hold(part, true);
    T_TRUE(!taken(part, request).placed && taken(mesh, request).placed);
    tts_device_free(part);
    tts_device_free(mesh);
}

T_TEST(to_synchronize_is_not_held_and_leaves_what_was_counted)
{
    struct tts_device *mesh = device_of("n300"), *part = NULL;
    struct tts_request request = pages_in(TTS_POOL_DRAM, 12, TILE);
    T_EQ(tts_device_submesh(mesh, 1, &part, NULL), TTS_OK);
    struct tts_buffer theirs = taken(part, request);
    tts_device_hold(mesh, true);
    tts_device_hold(part, true);
    struct tts_buffer counted = taken(mesh, request);
    taken(part, request); /* this buffer is only counted */
    const struct tts_device *others[] = {part};
    T_EQ(tts_device_synchronize(mesh, others, 1, NULL), TTS_OK);
    struct tts_pool_stats stats = stats_of(mesh, TTS_POOL_DRAM);
    T_TRUE(stats.space.taken_bytes == TILE && stats.unplaced_bytes == TILE);
    T_TRUE(stats.buffers == 2 && stats.unplaced_buffers == 1);
    given(mesh, counted);
    given(mesh, theirs);
    tts_device_hold(mesh, false);
    T_EQ(stats_of(mesh, TTS_POOL_DRAM).buffers, 0);
    T_EQ(taken(mesh, request).address, theirs.address);
    tts_device_free(part);
    tts_device_free(mesh);
}

/* --- threads ---------------------------------------------------------------------------- */

struct flipper {
    struct tts_device *device;
    bool stop; /* read and set atomically */
};

static void *flip(void *ctx)
{
    struct flipper *f = ctx;
    for (bool held = true; !__atomic_load_n(&f->stop, __ATOMIC_RELAXED); held = !held)
        tts_device_hold(f->device, held);
    return NULL;
}

/* Makes requests in a thread. Each request is either wholly placed or wholly counted. In
 * OVERCOMMIT mode nothing is refused, and everything can be given back. */
static void work(struct tts_device *device)
{
    static struct tts_buffer live[LIVE_MAX];
    size_t count = 0;
    uint64_t rng = 3;
    for (int i = 0; i < ROUNDS; i++) {
        struct tts_shard shard;
        struct tts_request request = sharded_in(TTS_POOL_L1, 1, 64, &row, &shard);
        size_t idx = t_random(&rng) % LIVE_MAX;
        unsigned kind = (unsigned)(t_random(&rng) % 4);
        if (kind == 3)
            request = pages_in(TTS_POOL_DRAM, 12, TILE);
        if (idx < count) {
            given(device, live[idx]);
            live[idx] = live[--count];
            continue;
        }
        if (kind == 2)
            kind = 3; /* a sharded buffer in lockstep */
        T_EQ(one_of(device, kind, 5000, &request, &live[count]), TTS_OK);
        count++;
        T_EQ(tts_device_run_program(device, NULL), TTS_OK);
    }
    while (count > 0)
        given(device, live[--count]);
}

T_TEST(threads_may_hold_a_device_that_another_one_uses)
{
    struct tts_device *device = device_in(TTS_MODE_OVERCOMMIT, chip_with("n150", "0", "1M"));
    struct flipper f = {.device = device};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        T_EQ(pthread_create(&threads[i], NULL, flip, &f), 0);
    work(device);
    __atomic_store_n(&f.stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        T_EQ(pthread_join(threads[i], NULL), 0);
    T_EQ(stats_of(device, TTS_POOL_DRAM).buffers, 0);
    T_EQ(stats_of(device, TTS_POOL_L1).space.taken_bytes, 0);
    T_EQ(stats_of(device, TTS_POOL_TRACE).unplaced_buffers, 0);
    tts_device_hold(device, false);
    T_TRUE(taken(device, pages_in(TTS_POOL_L1, 1, 64)).placed);
    tts_device_free(device);
}
