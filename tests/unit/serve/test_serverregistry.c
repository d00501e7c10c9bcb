#include "harness/t.h"
#include "serve/serverregistry.h"
#include "torture/heap.h"

#include <string.h>

enum { NOW = 1000000000 };

static struct tts_serverregistry *make_registry(const struct tts_serverregistry_config *config,
                                                const struct tts_alloc *alloc)
{
    struct tts_serverregistry *registry = NULL;
    T_EQ(tts_serverregistry_new(config, alloc, &registry, NULL), TTS_OK);
    return registry;
}

static uint32_t begin_process(struct tts_serverregistry *registry, uint32_t pid)
{
    uint32_t place;
    const struct tts_serverprocess facts = {.pid = pid, .pid_inside = pid, .name = "test"};
    T_EQ(tts_serverregistry_begin(registry, &facts, NOW, &place), TTS_OK);
    return place;
}

static void take(struct tts_serverregistry *registry, uint32_t process, uint8_t type,
                 int32_t device, uint64_t id, uint64_t bytes, uint8_t buffer_type)
{
    const struct tts_frame frame = {.kind = TTS_FRAMEKIND_P4,
                                    .type = type,
                                    .device = device,
                                    .id = id,
                                    .size_bytes = bytes,
                                    .buffer_type = buffer_type};
    tts_serverregistry_take(registry, process, &frame, NOW);
}

/* Keeps the last event. */
struct seen {
    struct tts_serverevent last;
    uint64_t counts[TTS_SERVEREVENTS];
};

static void see_event(void *ctx, const struct tts_serverevent *event)
{
    struct seen *seen = ctx;
    seen->last = *event;
    seen->counts[event->kind]++;
}

static struct tts_serverregistry *make_seen(struct seen *seen)
{
    memset(seen, 0, sizeof *seen);
    const struct tts_serverregistry_config config = {.sink = {see_event, seen}};
    return make_registry(&config, NULL);
}

T_TEST(a_buffer_is_process_device_and_address)
{
    struct seen seen;
    struct tts_serverregistry *registry = make_seen(&seen);
    uint32_t a = begin_process(registry, 10), b = begin_process(registry, 10);
    take(registry, a, TTS_FRAMETYPE_ALLOC, 0, 64, 100, 0);
    take(registry, b, TTS_FRAMETYPE_ALLOC, 0, 64, 1000, 0);
    take(registry, a, TTS_FRAMETYPE_ALLOC, 1, 64, 7, 1);
    T_EQ(tts_serverregistry_device(registry, 0)->bytes[TTS_POOL_DRAM], 1100);
    T_EQ(tts_serverregistry_device(registry, 1)->bytes[TTS_POOL_L1], 7);
    T_EQ(tts_serverregistry_counts(registry)->live_buffers, 3);
    take(registry, a, TTS_FRAMETYPE_FREE, 0, 64, 0, 0);
    T_EQ(tts_serverregistry_device(registry, 0)->bytes[TTS_POOL_DRAM], 1000);
    T_EQ(seen.last.kind, TTS_SERVEREVENT_FREE);
    T_EQ(seen.last.size_bytes, 100);
    T_TRUE(seen.last.process->instance != 0 && seen.last.process->pid == 10);
    T_TRUE(tts_serverregistry_is_valid(registry));
    tts_serverregistry_free(registry);
}

T_TEST(a_repeated_allocation_adds_a_reference_and_keeps_the_size)
{
    struct seen seen;
    struct tts_serverregistry *registry = make_seen(&seen);
    uint32_t a = begin_process(registry, 10);
    take(registry, a, TTS_FRAMETYPE_ALLOC, 0, 64, 100, 0);
    take(registry, a, TTS_FRAMETYPE_ALLOC, 0, 64, 300, 1);
    T_EQ(seen.last.references, 2);
    T_EQ(tts_serverregistry_counts(registry)->size_changes, 1);
    T_EQ(tts_serverregistry_device(registry, 0)->bytes[TTS_POOL_DRAM], 100);
    T_EQ(tts_serverregistry_device(registry, 0)->bytes[TTS_POOL_L1], 0);
    take(registry, a, TTS_FRAMETYPE_FREE, 0, 64, 0, 0);
    T_EQ(seen.last.references, 1);
    T_EQ(tts_serverregistry_device(registry, 0)->buffers[TTS_POOL_DRAM], 1);
    take(registry, a, TTS_FRAMETYPE_FREE, 0, 64, 0, 0);
    T_EQ(seen.last.references, 0);
    T_EQ(tts_serverregistry_device(registry, 0)->buffers[TTS_POOL_DRAM], 0);
    take(registry, a, TTS_FRAMETYPE_FREE, 0, 64, 0, 0);
    T_EQ(seen.last.kind, TTS_SERVEREVENT_UNKNOWN_FREE);
    T_EQ(tts_serverregistry_counts(registry)->unknown_frees, 1);
    tts_serverregistry_free(registry);
}

T_TEST(system_memory_counts_as_l1_small)
{
    struct seen seen;
    struct tts_serverregistry *registry = make_seen(&seen);
    uint32_t a = begin_process(registry, 10);
    take(registry, a, TTS_FRAMETYPE_ALLOC, 0, 1, 10, 2);
    take(registry, a, TTS_FRAMETYPE_ALLOC, 0, 2, 20, 3);
    take(registry, a, TTS_FRAMETYPE_ALLOC, 0, 3, 40, 4);
    T_EQ(tts_serverregistry_device(registry, 0)->bytes[TTS_POOL_L1_SMALL], 30);
    T_EQ(tts_serverregistry_device(registry, 0)->bytes[TTS_POOL_TRACE], 40);
    tts_serverregistry_free(registry);
}

T_TEST(circular_buffers_and_kernels_never_fall_below_zero)
{
    struct seen seen;
    struct tts_serverregistry *registry = make_seen(&seen);
    uint32_t a = begin_process(registry, 10), b = begin_process(registry, 11);
    take(registry, a, TTS_FRAMETYPE_CB_ALLOC, 0, 1, 100, 0);
    take(registry, b, TTS_FRAMETYPE_CB_ALLOC, 0, 1, 50, 0);
    T_EQ(seen.last.live_bytes, 150);
    take(registry, a, TTS_FRAMETYPE_CB_FREE, 0, 1, 120, 0);
    T_EQ(tts_serverregistry_device(registry, 0)->cb_bytes, 50);
    take(registry, a, TTS_FRAMETYPE_KERNEL_UNLOAD, 0, 7, 5, 1);
    T_EQ(tts_serverregistry_device(registry, 0)->kernel_bytes, 0);
    take(registry, a, TTS_FRAMETYPE_KERNEL_LOAD, 0, 7, 5, 2);
    T_EQ(seen.last.kernel_type, 2);
    T_EQ(tts_serverregistry_device(registry, 0)->kernel_bytes, 5);
    T_EQ(tts_serverregistry_counts(registry)->live_buffers, 0);
    T_TRUE(tts_serverregistry_is_valid(registry));
    tts_serverregistry_free(registry);
}

/* Counts listed entries, and stops after `most`. */
struct listed {
    uint64_t count, bytes, most;
    uint32_t references;
};

static bool count_listed(void *ctx, const struct tts_serverbuffer *buffer)
{
    struct listed *listed = ctx;
    listed->count++;
    listed->bytes += buffer->size_bytes;
    listed->references = buffer->references;
    return listed->count < listed->most;
}

T_TEST(kernels_and_buffers_with_the_same_id_are_listed_apart)
{
    struct seen seen;
    struct listed listed = {.most = 100};
    struct tts_serverregistry *registry = make_seen(&seen);
    uint32_t a = begin_process(registry, 10);
    take(registry, a, TTS_FRAMETYPE_ALLOC, 3, 7, 100, 1);
    take(registry, a, TTS_FRAMETYPE_KERNEL_LOAD, 3, 7, 5, 0);
    take(registry, a, TTS_FRAMETYPE_KERNEL_LOAD, 3, 7, 5, 0);
    tts_serverregistry_list(registry, 3, TTS_SERVERREGISTRY_KERNELS, count_listed, &listed);
    T_TRUE(listed.count == 1 && listed.bytes == 5 && listed.references == 2);
    listed = (struct listed){.most = 100};
    tts_serverregistry_list(registry, 3, TTS_POOL_L1, count_listed, &listed);
    T_TRUE(listed.count == 1 && listed.bytes == 100);
    take(registry, a, TTS_FRAMETYPE_ALLOC, 3, 8, 100, 1);
    listed = (struct listed){.most = 1};
    tts_serverregistry_list(registry, 3, TTS_POOL_L1, count_listed, &listed);
    T_EQ(listed.count, 1);
    tts_serverregistry_free(registry);
}

T_TEST(an_ended_process_leaves_the_sums_at_once_and_its_entries_later)
{
    struct seen seen;
    struct tts_serverregistry *registry = make_seen(&seen);
    uint32_t a = begin_process(registry, 10), b = begin_process(registry, 11);
    for (uint64_t i = 0; i < 100; i++) {
        take(registry, a, TTS_FRAMETYPE_ALLOC, (int32_t)(i % 3), i, 10, 0);
        take(registry, b, TTS_FRAMETYPE_ALLOC, (int32_t)(i % 3), i, 1, 0);
    }
    tts_serverregistry_end(registry, a, NOW);
    T_EQ(seen.last.kind, TTS_SERVEREVENT_DEATH);
    T_TRUE(seen.last.buffers == 100 && seen.last.size_bytes == 1000);
    T_EQ(tts_serverregistry_counts(registry)->live_buffers, 100);
    T_EQ(tts_serverregistry_device(registry, 0)->bytes[TTS_POOL_DRAM], 34);
    T_TRUE(tts_serverregistry_is_valid(registry));
    int turns = 1;
    while (tts_serverregistry_sweep(registry, 7))
        turns++;
    T_TRUE(turns > 14);
    T_EQ(begin_process(registry, 12), a);
    take(registry, a, TTS_FRAMETYPE_FREE, 0, 0, 0, 0);
    T_EQ(tts_serverregistry_counts(registry)->unknown_frees, 1);
    tts_serverregistry_free(registry);
}

T_TEST(every_maximum_loses_events_and_changes_nothing)
{
    struct seen seen = {0};
    const struct tts_serverregistry_config config = {
        .sink = {see_event, &seen}, .processes_max = 2, .rows_max = 3, .buffers_max = 4};
    struct tts_serverregistry *registry = make_registry(&config, NULL);
    uint32_t a = begin_process(registry, 10), none;
    begin_process(registry, 11);
    T_EQ(tts_serverregistry_begin(registry, &(struct tts_serverprocess){.pid = 1}, NOW, &none),
         TTS_E_FULL);
    for (uint64_t i = 0; i < 6; i++)
        take(registry, a, TTS_FRAMETYPE_ALLOC, 0, i, 1, 0);
    T_EQ(tts_serverregistry_counts(registry)->lost_events, 2);
    T_EQ(tts_serverregistry_counts(registry)->live_buffers, 4);
    for (int32_t i = 0; i < 5; i++)
        take(registry, a, TTS_FRAMETYPE_CB_ALLOC, i, 0, 1, 0);
    T_EQ(tts_serverregistry_counts(registry)->lost_events, 4);
    take(registry, a, TTS_FRAMETYPE_CB_ALLOC, TTS_FRAME_DEVICES_MAX, 0, 1, 0);
    take(registry, a, TTS_FRAMETYPE_CB_ALLOC, -1, 0, 1, 0);
    T_EQ(tts_serverregistry_counts(registry)->events, 11);
    T_TRUE(tts_serverregistry_is_valid(registry));
    tts_serverregistry_free(registry);
}

T_TEST(no_sum_wraps)
{
    struct seen seen;
    struct tts_serverregistry *registry = make_seen(&seen);
    uint32_t a = begin_process(registry, 10);
    for (uint64_t i = 0; i < 1500; i++) {
        take(registry, a, TTS_FRAMETYPE_ALLOC, 0, i, TTS_FRAME_SIZE_BYTES_MAX, 0);
        take(registry, a, TTS_FRAMETYPE_CB_ALLOC, 0, i, TTS_FRAME_SIZE_BYTES_MAX, 0);
    }
    T_EQ(tts_serverregistry_device(registry, 0)->bytes[0], TTS_SERVERREGISTRY_BYTES_MAX);
    T_EQ(tts_serverregistry_device(registry, 0)->cb_bytes, TTS_SERVERREGISTRY_BYTES_MAX);
    T_EQ(tts_serverregistry_counts(registry)->lost_events, 2 * (1500 - 1024));
    T_TRUE(tts_serverregistry_is_valid(registry));
    tts_serverregistry_free(registry);
}

T_TEST(times_of_clients_are_believed_if_they_are_recent)
{
    struct seen seen;
    struct tts_serverregistry *registry = make_seen(&seen);
    uint32_t a = begin_process(registry, 10);
    const uint64_t now_ns = UINT64_C(1760000000000000000);
    const uint64_t times[][2] = {
        {now_ns - 5, now_ns - 5}, {now_ns + 5, now_ns}, {0, now_ns}, {now_ns / 2, now_ns}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const struct tts_frame frame = {
            .type = TTS_FRAMETYPE_ALLOC, .id = i, .size_bytes = 1, .time_ns = times[i][0]};
        tts_serverregistry_take(registry, a, &frame, now_ns);
        T_EQ(seen.last.time_ns, times[i][1]);
    }
    tts_serverregistry_free(registry);
}

T_TEST(a_changed_row_is_returned_once)
{
    struct seen seen;
    struct tts_serverregistry *registry = make_seen(&seen);
    uint32_t a = begin_process(registry, 10), b = begin_process(registry, 11);
    take(registry, a, TTS_FRAMETYPE_ALLOC, 5, 1, 10, 0);
    take(registry, a, TTS_FRAMETYPE_ALLOC, 5, 2, 10, 0);
    take(registry, b, TTS_FRAMETYPE_ALLOC, 6, 2, 10, 0);
    tts_serverregistry_end(registry, b, NOW);
    const struct tts_serverrow *row = tts_serverregistry_changed(registry);
    T_TRUE(row && row->device == 5 && row->bytes[0] == 20 && row->peak_bytes[0] == 20);
    T_TRUE(tts_serverregistry_changed(registry) == NULL);
    take(registry, a, TTS_FRAMETYPE_FREE, 5, 1, 0, 0);
    while (tts_serverregistry_sweep(registry, 1))
        continue;
    row = tts_serverregistry_changed(registry);
    T_TRUE(row && row->bytes[0] == 10 && row->peak_bytes[0] == 20 && row->frees[0] == 1);
    tts_serverregistry_free(registry);
}

/* --- a slow model ----------------------------------------------------------------------- */

enum { PROCESSES = 6, DEVICES = 4, IDS = 12, STEPS = 60000 };

struct slow_buffer {
    uint64_t bytes;
    uint32_t references, pool;
};

struct slow_model {
    bool is_live[PROCESSES];
    uint32_t places[PROCESSES];
    struct slow_buffer buffers[PROCESSES][DEVICES][IDS];
    uint64_t cb[PROCESSES][DEVICES], kernel[PROCESSES][DEVICES];
    uint64_t unknown_frees;
};

static void step_model(struct slow_model *model, uint32_t process, uint8_t type,
                       uint32_t device, uint32_t id, uint64_t bytes, uint32_t pool)
{
    struct slow_buffer *buffer = &model->buffers[process][device][id];
    uint64_t *cb = &model->cb[process][device], *kernel = &model->kernel[process][device];
    if (type == TTS_FRAMETYPE_ALLOC && buffer->references++ == 0) {
        buffer->bytes = bytes;
        buffer->pool = pool;
    } else if (type == TTS_FRAMETYPE_FREE) {
        model->unknown_frees += buffer->references == 0;
        buffer->references -= buffer->references > 0;
    } else if (type == TTS_FRAMETYPE_CB_ALLOC) {
        *cb += bytes;
    } else if (type == TTS_FRAMETYPE_CB_FREE) {
        *cb -= bytes < *cb ? bytes : *cb;
    } else if (type == TTS_FRAMETYPE_KERNEL_LOAD) {
        *kernel += bytes;
    } else if (type == TTS_FRAMETYPE_KERNEL_UNLOAD) {
        *kernel -= bytes < *kernel ? bytes : *kernel;
    }
}

static void compare_model(const struct slow_model *model,
                          const struct tts_serverregistry *registry)
{
    static const uint32_t pools[] = {0, 1, 2, 2, 3};
    for (uint32_t device = 0; device < DEVICES; device++) {
        uint64_t bytes[TTS_POOLS] = {0}, buffers[TTS_POOLS] = {0}, cb = 0, kernel = 0;
        for (int process = 0; process < PROCESSES; process++) {
            cb += model->cb[process][device];
            kernel += model->kernel[process][device];
            for (int id = 0; id < IDS; id++) {
                const struct slow_buffer *buffer = &model->buffers[process][device][id];
                if (buffer->references == 0)
                    continue;
                bytes[pools[buffer->pool]] += buffer->bytes;
                buffers[pools[buffer->pool]]++;
            }
        }
        const struct tts_serverdevice *sums = tts_serverregistry_device(registry, device);
        T_MEM_EQ(sums->bytes, bytes, sizeof bytes);
        T_MEM_EQ(sums->buffers, buffers, sizeof buffers);
        T_TRUE(sums->cb_bytes == cb && sums->kernel_bytes == kernel);
    }
}

/* Ends a process, or begins it again. */
static void turn_process(struct slow_model *model, struct tts_serverregistry *registry,
                         uint32_t process)
{
    if (!model->is_live[process]) {
        model->places[process] = begin_process(registry, 100 + process);
    } else {
        tts_serverregistry_end(registry, model->places[process], NOW);
        memset(model->buffers[process], 0, sizeof model->buffers[process]);
        memset(model->cb[process], 0, sizeof model->cb[process]);
        memset(model->kernel[process], 0, sizeof model->kernel[process]);
    }
    model->is_live[process] = !model->is_live[process];
}

T_TEST(agrees_with_a_slow_model_over_any_history)
{
    static const uint8_t types[] = {1, 1, 1, 2, 2, 8, 9, 10, 11};
    static struct slow_model model;
    struct seen seen;
    struct tts_serverregistry *registry = make_seen(&seen);
    uint64_t random = 23;
    for (int step = 0; step < STEPS; step++) {
        uint64_t draw = t_random(&random);
        uint32_t process = (uint32_t)draw % PROCESSES, device = (uint32_t)(draw >> 8) % DEVICES;
        uint32_t id = (uint32_t)(draw >> 16) % IDS, pool = (uint32_t)(draw >> 24) % 5;
        uint8_t type = types[(draw >> 32) % sizeof types];
        uint64_t bytes = (draw >> 40) % 1000;
        if (!model.is_live[process] || (draw >> 56) == 0) {
            turn_process(&model, registry, process);
            continue;
        }
        uint8_t buffer_type = type >= 10 ? 0 : (uint8_t)pool;
        take(registry, model.places[process], type, (int32_t)device, id, bytes, buffer_type);
        step_model(&model, process, type, device, id, bytes, pool);
        if (step % 7 == 0)
            (void)tts_serverregistry_sweep(registry, draw >> 60);
        if (step % 16 == 0) {
            compare_model(&model, registry);
            T_TRUE(tts_serverregistry_is_valid(registry));
        }
    }
    T_EQ(tts_serverregistry_counts(registry)->unknown_frees, model.unknown_frees);
    T_EQ(seen.counts[TTS_SERVEREVENT_UNKNOWN_FREE], model.unknown_frees);
    tts_serverregistry_free(registry);
}

/* --- no memory -------------------------------------------------------------------------- */

static bool run_short_history(struct heap *heap)
{
    struct tts_serverregistry *registry;
    const struct tts_serverregistry_config config = {.sink = {NULL, NULL}};
    uint32_t place;
    if (tts_serverregistry_new(&config, &heap->alloc, &registry, NULL) != TTS_OK)
        return false;
    bool has_begun = tts_serverregistry_begin(registry, &(struct tts_serverprocess){.pid = 1},
                                              NOW, &place) == TTS_OK;
    for (uint64_t i = 0; has_begun && i < 3000; i++)
        take(registry, place, TTS_FRAMETYPE_ALLOC, (int32_t)(i % 90), i, 1, 0);
    bool is_whole = has_begun && tts_serverregistry_counts(registry)->lost_events == 0;
    T_TRUE(tts_serverregistry_is_valid(registry));
    if (has_begun)
        tts_serverregistry_end(registry, place, NOW);
    while (tts_serverregistry_sweep(registry, 1000))
        continue;
    T_EQ(tts_serverregistry_counts(registry)->live_buffers, 0);
    tts_serverregistry_free(registry);
    return is_whole;
}

T_TEST(every_failed_allocation_loses_events_only)
{
    bool is_whole = false;
    for (uint64_t fail_at = 1; !is_whole; fail_at++) {
        struct heap heap;
        heap_init(&heap);
        heap.fail_at = fail_at;
        is_whole = run_short_history(&heap);
        T_TRUE(heap_is_settled(&heap));
        T_TRUE(is_whole == (heap.failed == 0));
    }
}
