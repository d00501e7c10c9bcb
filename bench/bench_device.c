/* bench_device: measures the cost of a whole device, compared with its bare spaces.
 *
 *   bench_device
 *
 * Draws one million mixed events on an n150 once: allocations and releases in all four pools,
 * interleaved and sharded. Then the device executes them as requests, and bare spaces execute
 * the resulting blocks, alternating in one process on one core, best of nine. The addresses
 * must be the same. The target is a ratio of at most 1.30; a miss is only marked. The other
 * rows have no bare counterpart and are printed in nanoseconds. */
#include "device/space.h"
#include "stream.h"

#include "ttscope/device.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVENTS = 1000000, SLOTS = 4096, ROUNDS = 9, CB_EVENTS = 200000 };

#define RATIO_AIM 1.30

static void die(const char *what)
{
    fprintf(stderr, "bench_device: %s\n", what);
    exit(3);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* --- events ----------------------------------------------------------------------------- */

/* An event as a program requests it, and as the spaces execute it. */
struct event {
    uint32_t slot; /* index of the buffer */
    uint8_t pool, is_release, is_sharded;
    uint32_t page_bytes;
    uint64_t size_bytes;
};

struct bare_event {
    uint32_t slot;
    uint8_t pool, is_release;
    uint8_t down, limited;
    uint64_t bytes;
};

static struct event *events;
static struct bare_event *bare_events;
static struct tts_buffer buffers[SLOTS];
static uint64_t addresses[SLOTS];

static const struct tts_core_range all_cores = {0, 0, 7, 7};
static const struct tts_shard one_shard = {.shard_height = 4,
                                           .shard_width = 1,
                                           .page_height = 1,
                                           .page_width = 1,
                                           .cores = {&all_cores, 1, false}};

static struct tts_request request_of(const struct event *event)
{
    return (struct tts_request){.pool = (enum tts_pool)event->pool,
                                .size_bytes = event->size_bytes,
                                .page_bytes = event->page_bytes,
                                .shard = event->is_sharded ? &one_shard : NULL};
}

static struct tts_device *device_new(struct tts_observer observer)
{
    struct tts_chip chip;
    struct tts_error err;
    struct tts_device *device = NULL;
    struct tts_device_config config = {.observer = observer};
    if (tts_chip_preset("n150", &chip, &err) != TTS_OK ||
        tts_chip_set(&chip, "l1_small", "65536", &err) != TTS_OK ||
        tts_chip_set(&chip, "trace_region", "95693824", &err) != TTS_OK ||
        tts_device_new(&chip, &config, NULL, &device, &err) != TTS_OK)
        die(err.text);
    return device;
}

/* For each pool: its share of 100 allocations, and its number of live buffers. */
static const struct {
    unsigned share, live;
} mix[TTS_POOLS] = {[TTS_POOL_DRAM] = {60, 1000},
                    [TTS_POOL_L1] = {30, 40},
                    [TTS_POOL_L1_SMALL] = {6, 16},
                    [TTS_POOL_TRACE] = {4, 16}};

static enum tts_pool draw_pool(struct stream_random *random)
{
    unsigned at = (unsigned)stream_random_below(random, 100);
    int pool = 0;
    while (at >= mix[pool].share)
        at -= mix[pool++].share;
    return (enum tts_pool)pool;
}

static void draw_request(struct stream_random *random, struct event *event)
{
    uint64_t tiles = 1 + stream_random_below(random, 24);
    event->page_bytes = stream_random_below(random, 3) == 0 ? 1088 : 2048;
    if (event->pool == TTS_POOL_DRAM)
        event->size_bytes = stream_random_size(random, 12) / 2048 * event->page_bytes;
    else if (event->pool == TTS_POOL_L1)
        event->size_bytes = tiles * 64 * event->page_bytes / 2;
    else
        event->size_bytes = tiles * event->page_bytes;
    event->is_sharded = event->pool == TTS_POOL_L1_SMALL ||
                        (event->pool == TTS_POOL_L1 && stream_random_below(random, 4) == 0);
    if (event->is_sharded) {
        event->page_bytes = event->pool == TTS_POOL_L1_SMALL ? 64 : 2048;
        event->size_bytes = UINT64_C(256) * event->page_bytes;
    }
}

/* Draws events that succeed. Runs each event on a device to find out whether it succeeds. */
static void draw_events(struct stream_random *random)
{
    struct tts_device *device = device_new((struct tts_observer){0});
    static uint32_t live[TTS_POOLS][SLOTS];
    uint32_t count[TTS_POOLS] = {0}, next_slot = 0;
    static uint32_t spare[SLOTS];
    uint32_t spare_count = 0;
    struct tts_error err;
    for (size_t i = 0; i < EVENTS;) {
        struct event event = {.pool = (uint8_t)draw_pool(random)};
        uint32_t *of = live[event.pool], *n = &count[event.pool];
        event.is_release =
            *n > 0 && (stream_random_below(random, 2 * mix[event.pool].live) < *n);
        if (event.is_release) {
            uint32_t at = (uint32_t)stream_random_below(random, *n);
            event.slot = of[at];
            of[at] = of[--*n];
            if (tts_device_release(device, &buffers[event.slot]) != TTS_OK)
                die("cannot release");
            spare[spare_count++] = event.slot;
        } else {
            draw_request(random, &event);
            struct tts_request request = request_of(&event);
            struct tts_buffer buffer;
            enum tts_status status = tts_device_alloc(device, &request, &buffer, &err);
            if (status == TTS_E_FULL)
                continue;
            if (status != TTS_OK)
                die(err.text);
            event.slot = spare_count > 0 ? spare[--spare_count] : next_slot++;
            if (event.slot >= SLOTS)
                die("too few slots");
            buffers[event.slot] = buffer;
            of[(*n)++] = event.slot;
            const struct tts_pool_layout *layout = tts_device_layout(device, request.pool);
            bare_events[i].bytes = buffer.bytes_per_bank;
            bare_events[i].down = layout->direction == TTS_DIRECTION_DOWN;
            bare_events[i].limited = !event.is_sharded && layout->limit > 0;
        }
        bare_events[i].slot = event.slot;
        bare_events[i].pool = event.pool;
        bare_events[i].is_release = event.is_release;
        events[i++] = event;
    }
    tts_device_free(device);
}

/* --- device and bare spaces ------------------------------------------------------------- */

static double run_device(struct tts_device *device, uint64_t *sum)
{
    double start = now_ns();
    uint64_t total = 0;
    for (size_t i = 0; i < EVENTS; i++) {
        const struct event *event = &events[i];
        struct tts_buffer *buffer = &buffers[event->slot];
        if (event->is_release) {
            if (tts_device_release(device, buffer) != TTS_OK)
                die("a buffer was not there");
            continue;
        }
        struct tts_request request = request_of(event);
        if (tts_device_alloc(device, &request, buffer, NULL) != TTS_OK)
            die("a buffer did not fit");
        total = total * 31 + buffer->address;
    }
    *sum = total;
    return (now_ns() - start) / EVENTS;
}

static double run_bare(struct tts_space *const spaces[TTS_POOLS],
                       const uint64_t limits[TTS_POOLS], uint64_t *sum)
{
    double start = now_ns();
    uint64_t total = 0;
    for (size_t i = 0; i < EVENTS; i++) {
        const struct bare_event *event = &bare_events[i];
        struct tts_space *space = spaces[event->pool];
        uint64_t *address = &addresses[event->slot];
        if (event->is_release) {
            if (tts_space_give(space, *address) != TTS_OK)
                die("a block was not there");
            continue;
        }
        if (tts_space_take(space, event->bytes,
                           event->down ? TTS_DIRECTION_DOWN : TTS_DIRECTION_UP,
                           event->limited ? limits[event->pool] : 0, address) != TTS_OK)
            die("a block did not fit");
        total = total * 31 + *address;
    }
    *sum = total;
    return (now_ns() - start) / EVENTS;
}

static void spaces_new(struct tts_space *spaces[TTS_POOLS], uint64_t limits[TTS_POOLS])
{
    struct tts_device *device = device_new((struct tts_observer){0});
    struct tts_error err;
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        const struct tts_pool_layout *layout = tts_device_layout(device, (enum tts_pool)pool);
        struct tts_space_config config = {.size_bytes = layout->bank_bytes,
                                          .offset_bytes = layout->offset_bytes,
                                          .min_bytes = layout->block_alignment_bytes,
                                          .alignment_bytes = layout->block_alignment_bytes,
                                          .policy = TTS_POLICY_FIRST};
        limits[pool] = layout->limit;
        if (tts_space_new(&config, NULL, &spaces[pool], &err) != TTS_OK)
            die(err.text);
    }
    tts_device_free(device);
}

static double best(double a, double b)
{
    return a == 0 || b < a ? b : a;
}

static void count_event(void *ctx, const struct tts_device_event *event)
{
    uint64_t *counts = ctx;
    counts[event->kind]++;
}

static bool compare(void)
{
    double bare_ns = 0, device_ns = 0, watched_ns = 0;
    uint64_t bare_sum, device_sum, watched_sum, seen[8] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct tts_space *spaces[TTS_POOLS];
        uint64_t limits[TTS_POOLS];
        spaces_new(spaces, limits);
        bare_ns = best(bare_ns, run_bare(spaces, limits, &bare_sum));
        for (int pool = 0; pool < TTS_POOLS; pool++)
            tts_space_free(spaces[pool]);
        struct tts_device *device = device_new((struct tts_observer){0});
        device_ns = best(device_ns, run_device(device, &device_sum));
        tts_device_free(device);
        device = device_new((struct tts_observer){count_event, seen});
        watched_ns = best(watched_ns, run_device(device, &watched_sum));
        tts_device_free(device);
    }
    if (seen[TTS_DEVICE_ALLOC] + seen[TTS_DEVICE_FREE] != (uint64_t)ROUNDS * EVENTS)
        die("the observer missed events");
    double ratio = device_ns / bare_ns;
    printf("%-34s %8.1f ns/event\n", "bare spaces, 1M mixed events", bare_ns);
    printf("%-34s %8.1f ns/event   ratio %.2f, aim %.2f%s\n", "device", device_ns, ratio,
           RATIO_AIM, ratio > RATIO_AIM ? "  MISSED" : "");
    printf("%-34s %8.1f ns/event   ratio %.2f\n", "device, with an observer", watched_ns,
           watched_ns / bare_ns);
    return bare_sum == device_sum && bare_sum == watched_sum;
}

/* Measures programs of ten circular buffers, each checked against the live L1 buffers. */
static void circular_buffers(void)
{
    struct tts_device *device = device_new((struct tts_observer){0});
    struct tts_error err;
    double start = now_ns();
    uint64_t address;
    for (size_t i = 0; i < CB_EVENTS; i++) {
        struct tts_cb_index index = {(uint32_t)(i % 12), 2048};
        struct tts_cb cb = {.ranges = &all_cores,
                            .range_count = 1,
                            .total_bytes = 8192,
                            .indices = &index,
                            .index_count = 1};
        if (i % 12 == 0)
            tts_device_program(device, i);
        else if (i % 12 < 11 && tts_device_add_cb(device, &cb, &address, &err) != TTS_OK)
            die(err.text);
        else if (i % 12 == 11 && tts_device_run_program(device, &err) != TTS_OK)
            die("a program did not fit");
    }
    printf("%-34s %8.1f ns/event\n", "program, 10 circular buffers, run",
           (now_ns() - start) / CB_EVENTS);
    tts_device_free(device);
}

int main(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0)
        fprintf(stderr, "bench_device: cannot pin to a core, figures will be noisier\n");
    struct stream_random random = {7001};
    events = malloc(EVENTS * sizeof *events);
    bare_events = calloc(EVENTS, sizeof *bare_events);
    if (!events || !bare_events)
        die("out of memory");
    draw_events(&random);
    bool same = compare();
    if (!same)
        printf("addresses DIFFER\n");
    circular_buffers();
    free(events);
    free(bare_events);
    return same ? 0 : 1;
}
