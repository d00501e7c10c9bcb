#include "harness/device_rig.h"

#include <string.h>

enum { TILE = 2048, EVENTS_MAX = 64, LIVE_MAX = 200, HISTORY = 4000, RANGES_MAX = 4 };

static const struct tts_core_range all = {0, 0, 7, 7}, row = {0, 0, 3, 0},
                                   two[] = {{2, 1, 3, 2}, {6, 6, 6, 6}};

/* A copy of one event, because an event is borrowed for the call only. */
struct seen {
    enum tts_device_event_kind kind;
    struct tts_buffer buffer;
    struct tts_cb_placed cb;
    struct tts_failure failure;
    struct tts_core_range ranges[RANGES_MAX];
    size_t range_count;
    uint64_t program_id;
};

struct watcher {
    size_t count;
    struct seen seen[EVENTS_MAX];
    uint64_t live_bytes[TTS_POOLS], live_buffers[TTS_POOLS], failures;
    uint64_t last_id;
    bool is_live[HISTORY + 1]; /* indexed by id */
};

static void watch(void *ctx, const struct tts_device_event *event)
{
    struct watcher *w = ctx;
    bool of_buffer = event->kind == TTS_DEVICE_ALLOC || event->kind == TTS_DEVICE_FREE;
    T_EQ(event->buffer != NULL, of_buffer);
    T_EQ(event->cb != NULL, event->kind == TTS_DEVICE_CB);
    T_EQ(event->failure != NULL, event->kind == TTS_DEVICE_FAILURE);
    T_EQ(event->ranges != NULL, event->range_count > 0);
    T_TRUE(event->range_count == 0 || of_buffer || event->kind == TTS_DEVICE_CB);
    T_TRUE(event->range_count <= RANGES_MAX);
    struct seen seen = {.kind = event->kind,
                        .range_count = event->range_count,
                        .program_id = event->program_id};
    if (event->ranges)
        memcpy(seen.ranges, event->ranges, event->range_count * sizeof seen.ranges[0]);
    if (of_buffer) {
        const struct tts_buffer *b = event->buffer;
        bool alloc = event->kind == TTS_DEVICE_ALLOC;
        seen.buffer = *b;
        T_EQ(b->id <= w->last_id, !alloc);
        T_TRUE(b->id <= HISTORY && w->is_live[b->id] == !alloc);
        w->is_live[b->id] = alloc;
        w->last_id += alloc;
        T_TRUE(b->id <= w->last_id);
        w->live_bytes[b->pool] += alloc ? b->block_bytes : 0 - b->block_bytes;
        w->live_buffers[b->pool] += b->block_bytes == 0 ? 0 : alloc ? 1 : UINT64_MAX;
    }
    if (event->cb)
        seen.cb = *event->cb;
    if (event->failure)
        seen.failure = *event->failure;
    w->failures += event->failure != NULL;
    if (w->count < EVENTS_MAX)
        w->seen[w->count] = seen;
    w->count++;
}

static struct tts_device *watched(struct watcher *w, struct tts_chip chip,
                                  struct tts_device_config config)
{
    memset(w, 0, sizeof *w);
    config.observer = (struct tts_observer){watch, w};
    return device_on(chip, config, NULL);
}

/* Returns the next event that was not checked yet, which must be the last one. */
static const struct seen *only(struct watcher *w, enum tts_device_event_kind kind)
{
    T_EQ(w->count, 1);
    T_EQ(w->seen[0].kind, kind);
    w->count = 0;
    return &w->seen[0];
}

static void only_buffer(struct watcher *w, enum tts_device_event_kind kind,
                        struct tts_buffer want)
{
    const struct seen *seen = only(w, kind);
    same_buffer(&seen->buffer, &want);
    T_TRUE(seen->program_id == 0 && seen->range_count == 0);
}

static void has_ranges(const struct seen *seen, const struct tts_core_range *want, size_t count)
{
    T_EQ(seen->range_count, count);
    T_MEM_EQ(seen->ranges, want, count * sizeof want[0]);
}

/* Checks the kinds of all events that were not checked before. */
static void kinds_are(struct watcher *w, const enum tts_device_event_kind *kinds, size_t count)
{
    T_EQ(w->count, count);
    for (size_t i = 0; i < count; i++)
        T_EQ(w->seen[i].kind, kinds[i]);
    w->count = 0;
}

T_TEST(buffers_of_every_kind_are_told_when_they_come_and_go)
{
    struct watcher w;
    struct tts_device *device =
        watched(&w, chip_with("n150", "0", "1M"), (struct tts_device_config){.hybrid = true});
    struct tts_buffer b = taken(device, pages_in(TTS_POOL_L1, 64, TILE));
    only_buffer(&w, TTS_DEVICE_ALLOC, b);
    given(device, b);
    only_buffer(&w, TTS_DEVICE_FREE, b);
    T_EQ(tts_device_release(device, &b), TTS_E_NOT_FOUND);
    b = taken(device, pages_in(TTS_POOL_L1, 0, TILE));
    only_buffer(&w, TTS_DEVICE_ALLOC, b);
    given(device, b);
    only_buffer(&w, TTS_DEVICE_FREE, b);
    T_EQ(tts_device_alloc_kernel(device, 5, &b, NULL), TTS_OK);
    only_buffer(&w, TTS_DEVICE_ALLOC, b);
    T_EQ(tts_device_alloc_trace(device, 5, &b, NULL), TTS_OK);
    T_EQ(b.pool, TTS_POOL_TRACE);
    /* No capture was running, so no event tells its end. */
    only_buffer(&w, TTS_DEVICE_ALLOC, b);
    given(device, b);
    only_buffer(&w, TTS_DEVICE_FREE, b);
    tts_device_free(device);
    T_EQ(w.count, 0);
}

T_TEST(buffers_of_single_cores_are_told_with_their_cores_placed_or_not)
{
    for (int held = 0; held < 2; held++) {
        struct watcher w;
        struct tts_device *device =
            watched(&w, chip_of("n150"), (struct tts_device_config){.hybrid = true});
        struct tts_shard shard;
        struct tts_request request = sharded_in(TTS_POOL_L1, 1, 64, &two[0], &shard);
        shard.cores = (struct tts_shard_cores){two, 2, false};
        /* There are shards for three cores only, but all cores have a block. */
        request.size_bytes = UINT64_C(3) * 64;
        uint64_t at[5];
        struct tts_buffer b;
        tts_device_hold(device, held);
        T_EQ(tts_device_alloc_per_core(device, &request, at, 5, &b, NULL), TTS_OK);
        T_TRUE(b.banks == 5 && b.placed == !held);
        const struct seen *seen = only(&w, TTS_DEVICE_ALLOC);
        same_buffer(&seen->buffer, &b);
        has_ranges(seen, two, 2);
        T_EQ(tts_device_release_per_core(device, &request, at, &b), TTS_OK);
        seen = only(&w, TTS_DEVICE_FREE);
        same_buffer(&seen->buffer, &b);
        has_ranges(seen, two, 2);
        T_EQ(tts_device_release_per_core(device, &request, at, &b), TTS_E_NOT_FOUND);
        tts_device_free(device);
        T_EQ(w.count, 0);
    }
}

T_TEST(programs_circular_buffers_and_their_failures_are_told)
{
    struct watcher w;
    struct tts_device *device = watched(&w, chip_of("n150"), (struct tts_device_config){0});
    uint64_t address;
    tts_device_program(device, 41);
    T_EQ(only(&w, TTS_DEVICE_PROGRAM)->program_id, 41);
    struct tts_cb cb = {.ranges = &all, .range_count = 1, .total_bytes = TILE};
    for (uint64_t i = 0; i < 2; i++) {
        T_EQ(tts_device_add_cb(device, &cb, &address, NULL), TTS_OK);
        const struct seen *seen = only(&w, TTS_DEVICE_CB);
        T_EQ(seen->program_id, 41);
        T_TRUE(seen->cb.address == L1_BASE + i * TILE && seen->cb.total_bytes == TILE);
        has_ranges(seen, i == 0 ? &all : two, i == 0 ? 1 : 2);
        cb.ranges = two;
        cb.range_count = 2;
    }
    cb.range_count = 0;
    T_EQ(tts_device_add_cb(device, &cb, &address, NULL), TTS_E_INVALID);
    T_EQ(tts_device_run_program(device, NULL), TTS_OK);
    T_EQ(w.count, 0);
    taken(device, pages_in(TTS_POOL_L1, 64, L1_BYTES));
    w.count = 0;
    T_EQ(tts_device_run_program(device, NULL), TTS_E_FULL);
    const struct seen *seen = only(&w, TTS_DEVICE_FAILURE);
    T_TRUE(seen->failure.kind == TTS_FAILURE_CB_CLASH && seen->failure.program_id == 41);
    same_failure(&seen->failure, tts_device_failure(device));
    tts_device_free(device);
    device = watched(&w, chip_of("galaxy-blackhole"), (struct tts_device_config){0});
    tts_device_program(device, 6); /* a program without circular buffers is told too */
    T_EQ(only(&w, TTS_DEVICE_PROGRAM)->program_id, 6);
    tts_device_free(device);
}

T_TEST(a_refused_buffer_is_told_as_a_failure_alone)
{
    struct watcher w;
    struct tts_device *device = watched(&w, chip_of("n150"), (struct tts_device_config){0});
    refused(device, pages_in(TTS_POOL_L1, 1, L1_BYTES + 64), TTS_E_FULL);
    const struct seen *seen = only(&w, TTS_DEVICE_FAILURE);
    same_failure(&seen->failure, tts_device_failure(device));
    refused(device, pages_in(TTS_POOL_TRACE, 1, 64), TTS_E_NOT_FOUND);
    refused(device, pages_in(TTS_POOL_L1, 1, UINT64_MAX), TTS_E_RANGE);
    T_EQ(w.count, 0);
    tts_device_free(device);
}

#define KINDS_ARE(w, ...)                                                                      \
    kinds_are(w, (const enum tts_device_event_kind[]){__VA_ARGS__},                            \
              sizeof((int[]){__VA_ARGS__}) / sizeof(int))

T_TEST(a_capture_is_told_when_it_begins_and_behind_its_trace)
{
    struct watcher w;
    struct tts_buffer b;
    static const char *const regions[] = {"0", "1M"};
    for (int i = 0; i < 4; i++) {
        struct tts_device *device =
            watched(&w, chip_with("n150", "0", regions[i % 2]), (struct tts_device_config){0});
        tts_device_hold(device, i >= 2);
        tts_device_trace_begin(device);
        KINDS_ARE(&w, TTS_DEVICE_TRACE_BEGIN);
        T_EQ(tts_device_alloc_trace(device, UINT64_MAX, &b, NULL), TTS_E_RANGE);
        T_EQ(w.count, 0); /* no event: the capture continues */
        T_EQ(tts_device_alloc_trace(device, 5, &b, NULL), TTS_OK);
        same_buffer(&w.seen[0].buffer, &b);
        T_EQ(b.placed, i < 2);
        KINDS_ARE(&w, TTS_DEVICE_ALLOC, TTS_DEVICE_TRACE_END);
        tts_device_trace_begin(device);
        tts_device_trace_begin(device); /* starts a new capture */
        KINDS_ARE(&w, TTS_DEVICE_TRACE_BEGIN, TTS_DEVICE_TRACE_END, TTS_DEVICE_TRACE_BEGIN);
        T_EQ(tts_device_alloc_trace(device, 0, &b, NULL), TTS_OK);
        KINDS_ARE(&w, TTS_DEVICE_ALLOC, TTS_DEVICE_TRACE_END);
        tts_device_free(device);
    }
    struct tts_chip chip = chip_of("grayskull"); /* some facts of its DRAM are unknown */
    set(&chip, "grid", "8x8");
    struct tts_device *device = watched(&w, chip, (struct tts_device_config){0});
    tts_device_trace_begin(device);
    T_EQ(tts_device_alloc_trace(device, 5, &b, NULL), TTS_E_NOT_FOUND);
    T_EQ(w.count, 0);
    tts_device_free(device);
}

T_TEST(a_capture_whose_trace_is_refused_ends_behind_the_failure)
{
    struct watcher w;
    struct tts_buffer b;
    for (int mode = TTS_MODE_PLACE; mode <= TTS_MODE_OVERCOMMIT; mode += 2) {
        struct tts_device *device = watched(
            &w, chip_of("n150"), (struct tts_device_config){.mode = (enum tts_mode)mode});
        bool is_refused = mode == TTS_MODE_PLACE;
        tts_device_trace_begin(device);
        T_EQ(tts_device_alloc_kernel(device, 5, &b, NULL), TTS_OK);
        w.count = 0;
        T_EQ(tts_device_alloc_trace(device, 5, &b, NULL), is_refused ? TTS_E_FULL : TTS_OK);
        T_EQ(w.seen[0].failure.kind, TTS_FAILURE_TRACE_OVERLAP);
        if (is_refused)
            KINDS_ARE(&w, TTS_DEVICE_FAILURE, TTS_DEVICE_TRACE_END);
        else
            KINDS_ARE(&w, TTS_DEVICE_FAILURE, TTS_DEVICE_ALLOC, TTS_DEVICE_TRACE_END);
        tts_device_free(device);
    }
}

T_TEST(a_buffer_that_is_counted_only_is_told_after_its_failure)
{
    struct watcher w;
    struct tts_device *device =
        watched(&w, chip_with("n150", "0", "98304"),
                (struct tts_device_config){.mode = TTS_MODE_OVERCOMMIT});
    struct tts_buffer b = taken(device, pages_in(TTS_POOL_L1, 1, L1_BYTES + 64));
    T_EQ(w.count, 2);
    T_EQ(w.seen[0].kind, TTS_DEVICE_FAILURE);
    T_EQ(w.seen[1].kind, TTS_DEVICE_ALLOC);
    same_buffer(&w.seen[1].buffer, &b);
    w.count = 0;
    T_EQ(tts_device_alloc_trace(device, 98305, &b, NULL), TTS_OK);
    T_EQ(w.count, 2);
    T_EQ(w.seen[0].failure.kind, TTS_FAILURE_TRACE);
    T_TRUE(w.seen[1].kind == TTS_DEVICE_ALLOC && !w.seen[1].buffer.placed);
    tts_device_free(device);
}

T_TEST(a_part_of_a_mesh_is_watched_too_and_to_synchronize_is_no_event)
{
    struct watcher w;
    struct tts_device *mesh = watched(&w, chip_of("n300"), (struct tts_device_config){0});
    struct tts_device *part = NULL;
    T_EQ(tts_device_submesh(mesh, 1, &part, NULL), TTS_OK);
    struct tts_buffer b = taken(part, pages_in(TTS_POOL_L1, 1, 64));
    only_buffer(&w, TTS_DEVICE_ALLOC, b);
    const struct tts_device *others[] = {part};
    T_EQ(tts_device_synchronize(mesh, others, 1, NULL), TTS_OK);
    T_EQ(w.count, 0);
    tts_device_free(part);
    tts_device_free(mesh);
}

T_TEST(a_watcher_can_be_put_in_and_taken_out_and_parts_do_not_have_it)
{
    struct watcher w = {0}, other;
    struct tts_observer observer = {watch, &w}, nobody = {NULL, &w};
    struct tts_device *mesh = device_of("n300"), *part = NULL;
    T_TRUE(!tts_device_is_observed(mesh));
    tts_device_observe(mesh, &observer);
    T_TRUE(tts_device_is_observed(mesh));
    only_buffer(&w, TTS_DEVICE_ALLOC, taken(mesh, pages_in(TTS_POOL_L1, 1, 64)));
    T_EQ(tts_device_submesh(mesh, 1, &part, NULL), TTS_OK);
    T_TRUE(!tts_device_is_observed(part));
    tts_device_free(part);
    tts_device_observe(mesh, &nobody);
    T_TRUE(!tts_device_is_observed(mesh));
    taken(mesh, pages_in(TTS_POOL_L1, 1, 64));
    tts_device_free(mesh);
    T_EQ(w.count, 0);
    memset(&w, 0, sizeof w); /* the ids of a new device begin at 1 again */
    mesh = watched(&other, chip_of("n300"), (struct tts_device_config){0});
    T_TRUE(tts_device_is_observed(mesh));
    /* Replaces the observer; later submeshes inherit the new one. */
    tts_device_observe(mesh, &observer);
    only_buffer(&w, TTS_DEVICE_ALLOC, taken(mesh, pages_in(TTS_POOL_L1, 1, 64)));
    T_EQ(tts_device_submesh(mesh, 1, &part, NULL), TTS_OK);
    taken(part, pages_in(TTS_POOL_L1, 1, 64));
    tts_device_observe(mesh, NULL);
    T_TRUE(!tts_device_is_observed(mesh));
    taken(mesh, pages_in(TTS_POOL_L1, 1, 64));
    tts_device_free(part);
    tts_device_free(mesh);
    T_TRUE(w.count == 0 && other.count == 0);
}

/* --- ids -------------------------------------------------------------------------------- */

T_TEST(buffers_of_every_kind_are_counted_from_one_and_refused_ones_are_not)
{
    struct tts_device *device = device_on(chip_with("n150", "32768", "1M"),
                                          (struct tts_device_config){.hybrid = true}, NULL);
    struct tts_shard shard;
    struct tts_request own = sharded_in(TTS_POOL_L1, 1, 64, &row, &shard),
                       at = pages_in(TTS_POOL_L1, 1, 64);
    uint64_t cores[4];
    struct tts_buffer b;
    at.placement = TTS_PLACE_AT;
    T_EQ(taken(device, pages_in(TTS_POOL_DRAM, 1, 64)).id, 1);
    T_EQ(taken(device, own).id, 2);
    refused(device, pages_in(TTS_POOL_L1, 1, L1_BYTES), TTS_E_FULL);
    refused(device, pages_in(TTS_POOL_L1_SMALL, 1, 64), TTS_E_INVALID);
    T_EQ(taken(device, pages_in(TTS_POOL_L1, 0, 64)).id, 3);
    T_EQ(taken(device, at).id, 4);
    T_EQ(tts_device_alloc_kernel(device, 5, &b, NULL), TTS_OK);
    T_EQ(b.id, 5);
    given(device, b);
    T_EQ(tts_device_alloc_trace(device, 5, &b, NULL), TTS_OK);
    T_EQ(b.id, 6);
    T_EQ(tts_device_alloc_per_core(device, &own, cores, 4, &b, NULL), TTS_OK);
    T_EQ(b.id, 7);
    own = sharded_in(TTS_POOL_L1, 1, L1_BYTES, &row, &shard);
    T_EQ(tts_device_alloc_per_core(device, &own, cores, 4, &b, NULL), TTS_E_FULL);
    tts_device_hold(device, true);
    T_EQ(tts_device_alloc_per_core(device, &own, cores, 4, &b, NULL), TTS_OK);
    T_EQ(b.id, 8);
    T_EQ(taken(device, pages_in(TTS_POOL_L1, 1, L1_BYTES)).id, 9);
    tts_device_free(device);
    /* On this device L1_SMALL has no bytes. */
    device = device_in(TTS_MODE_NO_DISPATCH, chip_of("n150"));
    own = sharded_in(TTS_POOL_L1_SMALL, 1, 64, &row, &shard);
    T_EQ(taken(device, own).id, 1);
    T_EQ(taken(device, own).id, 2);
    tts_device_free(device);
}

/* --- balance ---------------------------------------------------------------------------- */

static void balanced(const struct tts_device *device, const struct watcher *w)
{
    for (int i = 0; i < TTS_POOLS; i++) {
        struct tts_pool_stats stats = stats_of(device, (enum tts_pool)i);
        T_EQ(w->live_bytes[i], stats.space.taken_bytes + stats.unplaced_bytes);
        T_EQ(w->live_buffers[i], stats.buffers);
    }
    T_EQ(w->failures, tts_device_failures(device));
}

static struct tts_request some_request(uint64_t *rng, struct tts_shard *shard)
{
    enum tts_pool pool = (enum tts_pool)(t_random(rng) % TTS_POOLS);
    static const uint64_t most[] = {DRAM_TOP / 40, L1_BYTES / 10, 4000, 8000};
    uint64_t page = 1 + t_random(rng) % most[pool], pages = t_random(rng) % 30;
    struct tts_request request = pages_in(pool, pages, page);
    if (pool == TTS_POOL_L1_SMALL)
        request = sharded_in(pool, 1, page, &row, shard);
    request.placement = (enum tts_placement)(t_random(rng) % 4);
    return request;
}

T_TEST(what_came_less_what_went_is_what_is_there_in_every_mode)
{
    for (int mode = TTS_MODE_PLACE; mode <= TTS_MODE_OVERCOMMIT; mode++) {
        static struct watcher w;
        struct tts_device *device =
            watched(&w, chip_with("n150", "32768", "300000"),
                    (struct tts_device_config){.mode = (enum tts_mode)mode});
        static struct tts_buffer live[LIVE_MAX];
        uint64_t rng = 11 + (uint64_t)mode;
        size_t count = 0;
        for (int i = 0; i < HISTORY; i++) {
            struct tts_shard shard;
            struct tts_request request = some_request(&rng, &shard);
            size_t idx = t_random(&rng) % LIVE_MAX;
            enum tts_status status = TTS_E_FULL;
            tts_device_hold(device, t_random(&rng) % 4 == 0);
            if (idx < count) {
                given(device, live[idx]);
                live[idx] = live[--count];
            } else if (i % 9 == 0) {
                status =
                    tts_device_alloc_trace(device, t_random(&rng) % 50000, &live[count], NULL);
            } else {
                status = tts_device_alloc(device, &request, &live[count], NULL);
            }
            count += status == TTS_OK;
            balanced(device, &w);
        }
        T_EQ(w.failures > 100, mode != TTS_MODE_NO_DISPATCH);
        while (count > 0)
            given(device, live[--count]);
        balanced(device, &w);
        T_EQ(stats_of(device, TTS_POOL_TRACE).buffers, 0);
        tts_device_free(device);
    }
}
