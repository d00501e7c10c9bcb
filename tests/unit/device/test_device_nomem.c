/* Makes each allocation fail once. The call must report the failure and leave the device
 * unchanged, and must succeed when it is repeated. */
#include "device/devicepools.h"
#include "device/space.h"
#include "harness/device_rig.h"

#include <string.h>

enum { OPS = 1500, LIVE_MAX = 250, CORES = 64 };

static const struct tts_core_range first = {0, 0, 0, 0}, second = {1, 0, 1, 0},
                                   pair = {0, 0, 1, 0}, all = {0, 0, 7, 7};

/* --- creation --------------------------------------------------------------------------- */

/* Returns the number of allocations that making a device needs. */
static uint64_t births(struct tts_chip chip, bool hybrid)
{
    struct tts_device_config config = {.hybrid = hybrid};
    for (uint64_t n = 1;; n++) {
        struct heap heap;
        struct tts_device *device = NULL;
        struct tts_error err = {0};
        heap_init(&heap);
        heap.fail_at = n;
        heap.fail_after = n % 2;
        enum tts_status status = tts_device_new(&chip, &config, &heap.alloc, &device, &err);
        T_EQ(status, heap.failed > 0 ? TTS_E_NOMEM : TTS_OK);
        T_EQ(device == NULL, heap.failed > 0);
        if (heap.failed > 0)
            T_TRUE(err.status == TTS_E_NOMEM && says(&err, "the host has too little memory"));
        tts_device_free(device);
        T_TRUE(heap_is_settled(&heap));
        if (status == TTS_OK)
            return n - 1;
    }
}

T_TEST(a_device_is_born_whole_or_not_at_all)
{
    T_TRUE(births(chip_with("n150", "32768", "1M"), false) > 12);
    T_TRUE(births(chip_with("n150", "32768", "1M"), true) > 12 + CORES);
    T_TRUE(births(chip_of("galaxy-blackhole"), false) > 2);
    struct tts_chip chip = chip_of("grayskull");
    set(&chip, "grid", "8x8");
    T_TRUE(births(chip, true) > CORES);
}

/* --- a long history --------------------------------------------------------------------- */

struct held {
    struct tts_buffer buffer;
    uint64_t at[2]; /* addresses of the blocks of a buffer with a block in each core */
    bool own;
};

/* The result of one operation, which must be the same in every run. */
struct result {
    enum tts_status status;
    uint64_t address;
};

struct history {
    struct heap heap;
    struct tts_device *device;
    const struct tts_device *other;
    uint64_t rng, op;
    struct held held[LIVE_MAX];
    size_t count;
    uint64_t nomem;
};

static struct tts_request own_request(uint64_t bytes, struct tts_shard *shard)
{
    return sharded_in(TTS_POOL_L1, 1, bytes, &pair, shard);
}

static enum tts_status take(struct history *h, uint64_t what, uint64_t bytes, struct held *held)
{
    struct tts_shard shard;
    struct tts_request request = pages_in(TTS_POOL_DRAM, 1 + bytes % 30, 1 + bytes);
    struct tts_error err = {0};
    enum tts_status status;
    memset(held, 0, sizeof *held);
    request.placement = (enum tts_placement)(bytes % 3);
    if (what == 0)
        status = tts_device_alloc_kernel(h->device, bytes, &held->buffer, &err);
    else if (what == 1)
        status = tts_device_alloc_trace(h->device, bytes, &held->buffer, &err);
    else if (what == 2 && h->op > OPS / 2) { /* not while a buffer has a block in each core */
        held->own = true;
        request = own_request(32 + bytes % 3000, &shard);
        status =
            tts_device_alloc_per_core(h->device, &request, held->at, 2, &held->buffer, &err);
    } else if (what < 6) {
        request.pool = TTS_POOL_L1;
        status = tts_device_alloc(h->device, &request, &held->buffer, &err);
    } else {
        status = tts_device_alloc(h->device, &request, &held->buffer, &err);
    }
    if (status == TTS_E_NOMEM)
        T_TRUE(says(&err, "the host has too little memory"));
    return status;
}

static enum tts_status give(struct history *h, const struct held *held)
{
    struct tts_shard shard;
    if (!held->own)
        return tts_device_release(h->device, &held->buffer);
    struct tts_request request = own_request(held->buffer.bytes_per_bank, &shard);
    return tts_device_release_per_core(h->device, &request, held->at, &held->buffer);
}

static enum tts_status program(struct history *h, uint64_t op, uint64_t *address)
{
    struct tts_cb cb = {.ranges = &all, .range_count = 1, .total_bytes = 64};
    if (op % 250 == 0)
        tts_device_program(h->device, op);
    return tts_device_add_cb(h->device, &cb, address, NULL);
}

/* Runs one operation, and repeats it if memory ran out. Checks that the failed attempt changed
 * nothing. */
static struct result step(struct history *h, uint64_t op)
{
    uint64_t bytes = t_random(&h->rng) % 5000, what = t_random(&h->rng) % 10;
    size_t idx = t_random(&h->rng) % (LIVE_MAX + LIVE_MAX / 4);
    struct result result = {.status = TTS_E_NOMEM};
    h->op = op;
    struct held *held = &h->held[h->count];
    for (int tries = 0; result.status == TTS_E_NOMEM; tries++) {
        struct tts_pool_stats was[TTS_POOLS];
        T_TRUE(tries < 2);
        for (int i = 0; i < TTS_POOLS; i++)
            was[i] = stats_of(h->device, (enum tts_pool)i);
        if (op % 3 == 2)
            result.status = program(h, op, &result.address);
        else if (op == OPS / 2)
            result.status = tts_device_synchronize(h->device, &h->other, 1, NULL);
        else if (idx < h->count)
            result.status = give(h, &h->held[idx]);
        else if (h->count < LIVE_MAX)
            result.status = take(h, what, bytes, held);
        else
            result.status = TTS_OK;
        for (int i = 0; result.status == TTS_E_NOMEM && i < TTS_POOLS; i++) {
            struct tts_pool_stats now = stats_of(h->device, (enum tts_pool)i);
            T_MEM_EQ(&now, &was[i], sizeof now);
            T_TRUE(tts_banks_is_valid(tts_device_pool(h->device, (enum tts_pool)i)));
        }
        h->nomem += result.status == TTS_E_NOMEM;
        /* Each failed allocation is reported exactly once. */
        T_EQ(h->nomem, h->heap.failed);
    }
    if (op % 3 == 2 || op == OPS / 2)
        return result;
    if (idx < h->count) {
        h->held[idx] = h->held[--h->count];
    } else if (h->count < LIVE_MAX && result.status == TTS_OK) {
        result.address = held->buffer.address ^ held->at[1];
        h->count++;
    }
    return result;
}

/* Runs the history and makes allocation number `n` fail. Returns the number of allocations. */
static uint64_t run(uint64_t n, const struct tts_device *other, struct result *results,
                    bool compare)
{
    static struct history h;
    memset(&h, 0, sizeof h);
    heap_init(&h.heap);
    h.rng = 77;
    h.other = other;
    h.heap.paused = true;
    h.device = device_on(chip_with("n150", "32768", "20M"),
                         (struct tts_device_config){.hybrid = true}, &h.heap);
    h.heap.paused = false;
    h.heap.fail_at = n;
    for (uint64_t op = 0; op < OPS; op++) {
        struct result result = step(&h, op);
        if (compare)
            T_TRUE(result.status == results[op].status &&
                   result.address == results[op].address);
        else
            results[op] = result;
    }
    T_EQ(h.heap.failed, n > 0);
    tts_device_free(h.device);
    T_TRUE(heap_is_settled(&h.heap));
    return h.heap.calls;
}

T_TEST(every_operation_can_run_out_of_memory_and_be_tried_again)
{
    static struct result results[OPS];
    struct tts_device *other = device_on(chip_with("n150", "32768", "20M"),
                                         (struct tts_device_config){.hybrid = true}, NULL);
    /* With gaps between the blocks, so that they do not join. */
    for (uint64_t i = 0; i < 40; i++) {
        struct tts_buffer hole = taken(other, pages_in(TTS_POOL_DRAM, 12, 2048));
        taken(other, pages_in(TTS_POOL_DRAM, 12, 1024));
        taken(other, pages_in(TTS_POOL_L1, 64, 32 + i * 32));
        given(other, hole);
    }
    uint64_t calls = run(0, other, results, false);
    T_TRUE(calls > 30);
    for (uint64_t n = 1; n <= calls; n++)
        run(n, other, results, true);
    tts_device_free(other);
}

/* --- undoing ---------------------------------------------------------------------------- */

/* Places buffers with a block in each core, first on empty cores, then on cores that are in
 * use. */
T_TEST(buffers_of_single_cores_are_given_back_even_without_memory)
{
    for (uint64_t n = 1, failed = 1; failed > 0; n++) {
        struct heap heap;
        heap_init(&heap);
        struct tts_device *device =
            device_on(chip_of("n150"), (struct tts_device_config){.hybrid = true}, &heap);
        struct tts_shard shard;
        struct tts_buffer small, whole = {.address = 7};
        uint64_t at[64], two[2];
        struct tts_request request = sharded_in(TTS_POOL_L1, 1, 32, &first, &shard);
        for (size_t i = 0; i < 64; i++)
            T_EQ(tts_device_alloc_per_core(device, &request, &at[i], 1, &small, NULL), TTS_OK);
        /* The middle one comes last and joins two free blocks. */
        for (size_t i = 0; i < 64; i++)
            if (i != 32)
                T_EQ(tts_device_release_per_core(device, &request, &at[i], &small), TTS_OK);
        T_EQ(tts_device_release_per_core(device, &request, &at[32], &small), TTS_OK);
        request = sharded_in(TTS_POOL_L1, 1, 32, &second, &shard);
        T_EQ(tts_device_alloc_per_core(device, &request, at, 1, &small, NULL), TTS_OK);
        request = own_request(L1_BYTES, &shard);
        struct snapshot was = snapshot_of(device);
        heap.calls = 0;
        heap.fail_at = n;
        enum tts_status status =
            tts_device_alloc_per_core(device, &request, two, 2, &whole, NULL);
        failed = heap.failed;
        T_EQ(status, failed > 0 ? TTS_E_NOMEM : TTS_E_FULL);
        T_EQ(whole.address, 7);
        was.failures += failed == 0;
        was.stats[TTS_POOL_L1].failures += failed == 0;
        heap.paused = true;
        is_as_it_was(device, &was);
        tts_device_free(device);
        T_TRUE(heap_is_settled(&heap) && (n > 1 || failed > 0));
    }
}

/* Takes and gives back 64 blocks, the last one between two free blocks. Then the list of
 * retired ids is full. */
T_TEST(a_trace_that_cannot_be_given_back_keeps_its_budget)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_device *device =
        device_on(chip_with("n150", "0", "98304"), (struct tts_device_config){0}, &heap);
    struct tts_buffer plain[64], trace, none;
    for (size_t i = 0; i < 64; i++)
        plain[i] = taken(device, pages_in(TTS_POOL_TRACE, 1, 32));
    for (size_t i = 0; i < 64; i++)
        if (i != 32)
            given(device, plain[i]);
    given(device, plain[32]);
    T_EQ(tts_device_alloc_trace(device, 98304, &trace, NULL), TTS_OK);
    heap.calls = 0;
    heap.fail_at = 1;
    T_EQ(tts_device_release(device, &trace), TTS_E_NOMEM);
    T_EQ(tts_device_alloc_trace(device, 1, &none, NULL), TTS_E_FULL);
    T_EQ(tts_device_failure(device)->kind, TTS_FAILURE_TRACE);
    given(device, trace);
    T_EQ(tts_device_alloc_trace(device, 98304, &trace, NULL), TTS_OK);
    tts_device_free(device);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(parts_and_states_of_a_mesh_come_whole_or_not_at_all)
{
    for (uint64_t n = 1, failed = 1; failed > 0; n++) {
        struct heap heap;
        heap_init(&heap);
        struct tts_device *device =
            device_on(chip_with("n300", "32768", "1M"), (struct tts_device_config){0}, &heap);
        struct tts_device *part = NULL;
        struct tts_error err = {0};
        taken(device, pages_in(TTS_POOL_DRAM, 12, 2048));
        heap.calls = 0;
        heap.fail_at = n;
        enum tts_status status = tts_device_submesh(device, 1, &part, &err);
        failed = heap.failed;
        T_EQ(status, failed > 0 ? TTS_E_NOMEM : TTS_OK);
        T_EQ(part == NULL, failed > 0);
        tts_device_free(part);
        tts_device_free(device);
        T_TRUE(heap_is_settled(&heap));
    }
    struct tts_device *other = device_in(TTS_MODE_PLACE, chip_with("n300", "32768", "1M"));
    taken(other, pages_in(TTS_POOL_DRAM, 12, 4096));
    taken(other, pages_in(TTS_POOL_L1, 56, 4096));
    taken(other, pages_in(TTS_POOL_TRACE, 12, 4096));
    uint64_t n = 1;
    for (uint64_t failed = 1; failed > 0; n++) {
        struct heap heap;
        heap_init(&heap);
        struct tts_device *device =
            device_on(chip_with("n300", "32768", "1M"), (struct tts_device_config){0}, &heap);
        const struct tts_device *others[] = {other, device};
        struct tts_buffer own = taken(device, pages_in(TTS_POOL_DRAM, 12, 2048));
        struct snapshot was = snapshot_of(device);
        heap.calls = 0;
        heap.fail_at = n;
        enum tts_status status = tts_device_synchronize(device, others, 2, NULL);
        failed = heap.failed;
        heap.paused = true;
        T_EQ(status, failed > 0 ? TTS_E_NOMEM : TTS_OK);
        if (failed > 0)
            is_as_it_was(device, &was);
        else
            T_EQ(stats_of(device, TTS_POOL_TRACE).buffers, 1);
        for (int i = 0; failed == 0 && i < TTS_POOLS; i++)
            tts_space_free(was.spaces[i][0]);
        given(device, own);
        tts_device_free(device);
        T_TRUE(heap_is_settled(&heap));
    }
    T_TRUE(n > 20);
    tts_device_free(other);
}
