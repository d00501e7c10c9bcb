/* Tests a region while threads write it: a reader process copies devices, buffers and events
 * all the time, and every copy must be whole. */
#include "harness/publish_rig.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

enum {
    WRITERS = 4,
    DEVICES = 3,
    HELD = 50,
    STEPS = 40000,
    SIZE = 4096,
    TABLE = 128,
    RING = 64,
    DEVICE_LOOKS = 100
};

/* Every buffer has SIZE bytes, and its address and its bank bytes follow from its id. */
static uint64_t address_of_id(uint64_t id)
{
    return id * UINT64_C(0x9e3779b97f4a7c15) >> 8;
}

struct posts {
    struct tts_tracker *tracker;
    uint64_t first_id;
    uint64_t allocs;
};

static void post_alloc(struct posts *posts, uint32_t device, uint64_t id)
{
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, device);
    event.pool = (enum tts_pool)(id % TTS_POOLS);
    event.id = id;
    event.size_bytes = SIZE;
    event.bytes_per_bank = 1 + id % 64;
    event.has_address = true;
    event.address = address_of_id(id);
    if (tts_tracker_post(posts->tracker, &event, NULL) == TTS_OK)
        posts->allocs++;
}

static void *post_events(void *ctx)
{
    struct posts *posts = ctx;
    uint64_t held[HELD] = {0}, next = posts->first_id, random = posts->first_id;
    for (int i = 0; i < STEPS; i++) {
        uint64_t at = t_random(&random) % HELD;
        uint32_t device = (uint32_t)(at % DEVICES);
        if (held[at])
            tts_track_free(posts->tracker, device, (enum tts_pool)(held[at] % TTS_POOLS),
                           held[at], 0, 0, NULL);
        held[at] = 0;
        if (t_random(&random) % 4 == 0)
            continue;
        held[at] = next += WRITERS;
        post_alloc(posts, device, held[at]);
    }
    for (uint64_t at = 0; at < HELD; at++)
        if (held[at])
            tts_track_free(posts->tracker, (uint32_t)(at % DEVICES),
                           (enum tts_pool)(held[at] % TTS_POOLS), held[at], 0, 0, NULL);
    return NULL;
}

/* --- the reader process ----------------------------------------------------------------- */

/* Returns whether the counters of a device are those of one moment. */
static bool is_device_whole(const struct tts_clientregion_device *device)
{
    for (int i = 0; i < TTS_CLIENTREGION_POOLS; i++) {
        const struct tts_clientregion_pool *pool = &device->pools[i];
        if (pool->allocated_bytes != pool->buffers * SIZE ||
            pool->allocs - pool->frees != pool->buffers ||
            pool->peak_bytes < pool->allocated_bytes ||
            pool->buffers > (uint64_t)WRITERS * HELD)
            return false;
    }
    return true;
}

static bool is_buffer_whole(const struct tts_clientregion_buffer *buffer)
{
    return buffer->size_bytes == SIZE && buffer->address == address_of_id(buffer->id) &&
           buffer->bank_bytes == 1 + buffer->id % 64 &&
           buffer->pool == buffer->id % TTS_POOLS && buffer->device < DEVICES;
}

static bool is_event_whole(const struct tts_clientregion_event *event)
{
    /* The address of a buffer that is not in the table is not kept. */
    bool has_address =
        event->kind == TTS_CLIENTEVENT_ALLOC || event->address != TTS_CLIENTREGION_NO_ADDRESS;
    return event->size_bytes == SIZE && event->live_bytes % SIZE == 0 &&
           (!has_address || event->address == address_of_id(event->id)) &&
           event->pool == event->id % TTS_POOLS &&
           (event->kind == TTS_CLIENTEVENT_ALLOC || event->kind == TTS_CLIENTEVENT_FREE);
}

struct looks {
    uint64_t devices, buffers, events;
    bool is_torn;
};

static void look_once(struct seen_region *seen, struct looks *looks)
{
    struct tts_clientregion_device device;
    struct tts_clientregion_buffer buffer;
    struct tts_clientregion_event event;
    looks->is_torn |= !see_header(seen);
    for (uint32_t i = 0; i < DEVICE_LOOKS * seen->header.device_count; i++) {
        if (!see_device(seen, i % seen->header.device_count, &device))
            continue; /* the writer was faster 100 times */
        looks->is_torn |= !is_device_whole(&device);
        looks->devices++;
    }
    for (uint32_t slot = 0; slot < seen->header.buffer_high; slot++) {
        if (!see_buffer(seen, slot, &buffer))
            continue;
        looks->is_torn |= !is_buffer_whole(&buffer);
        looks->buffers++;
    }
    for (uint64_t i = 0; i < RING && i < seen->header.events; i++) {
        if (!see_event(seen, seen->header.events - 1 - i, &event))
            continue;
        looks->is_torn |= !is_event_whole(&event);
        looks->events++;
    }
}

/* Reads until the region has ended, or its file is gone. Ends the process with 0 if every copy
 * was whole. */
static void read_all_the_time(const char *path)
{
    struct seen_region seen;
    struct looks looks = {0};
    alarm(50);
    if (!see_region(path, &seen))
        _exit(2);
    while (!looks.is_torn && seen.header.state == TTS_CLIENTREGION_LIVE)
        look_once(&seen, &looks);
    _exit(looks.is_torn                                                   ? 1
          : looks.devices == 0 || looks.buffers == 0 || looks.events == 0 ? 3
                                                                          : 0);
}

T_TEST(every_copy_of_a_reader_is_whole_while_threads_write)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_publish_state at;
    struct posts posts[WRITERS];
    pthread_t threads[WRITERS];
    int status;
    publish(tracker, TABLE, RING); /* the table gets full */
    tts_publish_get_state(tracker, &at);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        read_all_the_time(at.path);
    uint64_t allocs = 0, counted = 0;
    for (uint64_t i = 0; i < WRITERS; i++) {
        posts[i] = (struct posts){tracker, i + 1, 0};
        T_EQ(pthread_create(&threads[i], NULL, post_events, &posts[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        T_EQ(pthread_join(threads[i], NULL), 0);
        allocs += posts[i].allocs;
    }
    /* An event whose call has returned is published, also if another thread folded it. */
    struct tts_clientregion_header header = header_in(tracker);
    T_EQ(header.dropped, 0);
    T_EQ(header.unknown_frees, 0);
    T_EQ(header.unlisted, 0);
    T_EQ(header.events, 2 * allocs);
    for (uint32_t d = 0; d < DEVICES; d++) {
        struct tts_clientregion_device device = device_in(tracker, d);
        for (int i = 0; i < TTS_POOLS; i++) {
            T_EQ(device.pools[i].buffers, 0);
            counted += device.pools[i].allocs;
        }
    }
    T_EQ(counted, allocs);
    tts_publish_end(tracker);
    T_EQ(waitpid(pid, &status, 0), pid);
    T_EQ(status, 0);
    tts_tracker_free(tracker);
}

/* Begins and ends to publish while other threads post. */
T_TEST(publishing_begins_and_ends_while_threads_post)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct posts posts[WRITERS];
    pthread_t threads[WRITERS];
    for (uint64_t i = 0; i < WRITERS; i++) {
        posts[i] = (struct posts){tracker, i + 1, 0};
        T_EQ(pthread_create(&threads[i], NULL, post_events, &posts[i]), 0);
    }
    for (int i = 0; i < 20; i++) {
        publish(tracker, TABLE, RING);
        tts_publish_end(tracker);
    }
    for (int i = 0; i < WRITERS; i++)
        T_EQ(pthread_join(threads[i], NULL), 0);
    tts_tracker_free(tracker);
}
