#include "model/live/liveframe.h"

#include "base/heap.h"

#include <assert.h>
#include <string.h>

static void free_processes(const struct tts_alloc *alloc, struct tts_liveprocess *processes,
                           size_t capacity)
{
    if (processes)
        alloc->free(alloc->ctx, processes, capacity * sizeof *processes);
}

void tts_liveframe_init(struct tts_liveframe *frame, const struct tts_alloc *alloc)
{
    *frame = (struct tts_liveframe){.alloc = alloc ? alloc : tts_alloc_libc()};
}

void tts_liveframe_release(struct tts_liveframe *frame)
{
    const struct tts_alloc *alloc = frame->alloc;
    if (!alloc)
        return;
    for (size_t i = 0; i < frame->device_capacity; i++)
        free_processes(alloc, frame->devices[i].processes, frame->devices[i].process_capacity);
    if (frame->devices)
        alloc->free(alloc->ctx, frame->devices,
                    frame->device_capacity * sizeof *frame->devices);
    free_processes(alloc, frame->strays, frame->stray_capacity);
    tts_liveframe_init(frame, alloc);
}

void tts_liveframe_reset(struct tts_liveframe *frame)
{
    frame->time_ns = 0;
    frame->device_count = 0;
    frame->stray_count = 0;
    frame->left_out = frame->processes_left_out = frame->logs_left_out = 0;
    frame->driver_loaded = false;
}

/* Devices beyond device_count keep the memory of their processes for the next use. */
struct tts_livedevice *tts_liveframe_add_device(struct tts_liveframe *frame)
{
    size_t capacity = frame->device_capacity;
    if (frame->device_count == capacity) {
        struct tts_livedevice *grown = tts_alloc_grow(frame->alloc, frame->devices, &capacity,
                                                      capacity + 1, sizeof *frame->devices);
        if (!grown)
            return NULL;
        memset(grown + frame->device_capacity, 0,
               (capacity - frame->device_capacity) * sizeof *grown);
        frame->devices = grown;
        frame->device_capacity = capacity;
    }
    struct tts_livedevice *device = &frame->devices[frame->device_count];
    *device = (struct tts_livedevice){.index = (uint32_t)frame->device_count,
                                      .processes = device->processes,
                                      .process_capacity = device->process_capacity};
    frame->device_count++;
    return device;
}

static struct tts_liveprocess *append_process(const struct tts_alloc *alloc,
                                              struct tts_liveprocess **processes, size_t *count,
                                              size_t *capacity)
{
    if (*count == *capacity) {
        struct tts_liveprocess *grown =
            tts_alloc_grow(alloc, *processes, capacity, *count + 1, sizeof *grown);
        if (!grown)
            return NULL;
        *processes = grown;
    }
    struct tts_liveprocess *process = &(*processes)[(*count)++];
    /* The texts are most of the bytes, and a frame can have thousands of processes. */
    memset(process, 0, offsetof(struct tts_liveprocess, user));
    process->user[0] = process->name[0] = process->command[0] = '\0';
    process->shared_by = 1;
    return process;
}

struct tts_liveprocess *tts_livedevice_add_process(struct tts_liveframe *frame,
                                                   struct tts_livedevice *device)
{
    return append_process(frame->alloc, &device->processes, &device->process_count,
                          &device->process_capacity);
}

struct tts_liveprocess *tts_liveframe_add_stray(struct tts_liveframe *frame)
{
    return append_process(frame->alloc, &frame->strays, &frame->stray_count,
                          &frame->stray_capacity);
}

bool tts_liveprocess_is_same(const struct tts_liveprocess *a, const struct tts_liveprocess *b)
{
    if (a->instance_known && b->instance_known)
        return a->instance.pid == b->instance.pid &&
               a->instance.start_ticks == b->instance.start_ticks &&
               a->instance.namespace_id == b->instance.namespace_id;
    return a->pid_known && b->pid_known && a->pid == b->pid;
}

void tts_liveprocess_set_facts(struct tts_liveprocess *process,
                               const struct tts_seenprocess *seen)
{
    process->state = TTS_LIVEPROCESS_LIVE;
    process->pid_known = true;
    process->pid = seen->pid;
    process->container_pid_known = seen->pid_levels > 1 && seen->pid_inside > 0;
    process->container_pid = seen->pid_inside;
    process->start_known = seen->start_known;
    process->start_ns = seen->start_ns;
    process->start_ticks = seen->ticks_known ? seen->start_ticks : 0;
    process->uid_known = seen->uid_known;
    process->uid = seen->uid;
    static_assert(sizeof process->user == sizeof seen->user, "same size");
    static_assert(sizeof process->name == sizeof seen->comm, "same size");
    static_assert(sizeof process->command == sizeof seen->command, "same size");
    memccpy(process->user, seen->user, '\0', sizeof process->user);
    memccpy(process->name, seen->comm, '\0', sizeof process->name);
    memccpy(process->command, seen->command, '\0', sizeof process->command);
}

void tts_livedevice_set_allocated(struct tts_livedevice *device,
                                  const struct tts_counters *counters,
                                  const struct tts_counters *left)
{
    for (int i = 0; i < TTS_POOLS; i++) {
        struct tts_livepool *pool = &device->pools[i];
        pool->allocated_known = counters->known >> i & 1;
        pool->allocated_bytes = counters->bytes[i];
        uint64_t left_bytes = left->known >> i & 1 ? left->bytes[i] : 0;
        pool->left_over_bytes =
            left_bytes < pool->allocated_bytes ? left_bytes : pool->allocated_bytes;
        uint64_t taken = pool->allocated_bytes - pool->left_over_bytes;
        pool->free_known =
            pool->allocated_known && pool->total_known && taken <= pool->total_bytes;
        pool->free_is_limit = pool->free_known;
        pool->free_bytes = pool->free_known ? pool->total_bytes - taken : 0;
        if (pool->allocated_known && pool->total_known && !pool->free_known)
            device->caveats |= TTS_CAVEAT_OVER_NOMINAL;
    }
    device->cb_known = counters->known >> TTS_COUNTER_CB & 1;
    device->cb_bytes = counters->bytes[TTS_COUNTER_CB];
}

bool tts_livepool_share(const struct tts_livepool *pool, uint32_t *out_millionths)
{
    if (!pool->total_known || !pool->allocated_known)
        return false;
    if (pool->total_bytes == 0) {
        *out_millionths = 0;
        return true;
    }
    /* In floating point, because the product of two foreign numbers can exceed 64 bits. */
    double share = (double)pool->allocated_bytes / (double)pool->total_bytes * 1e6;
    *out_millionths = share < 4e9 ? (uint32_t)(share + 0.5) : UINT32_MAX;
    return true;
}

const char *tts_counter_name(enum tts_counter counter)
{
    static const char *const names[TTS_COUNTERS] = {
        [TTS_COUNTER_DRAM] = "DRAM",
        [TTS_COUNTER_L1] = "L1",
        [TTS_COUNTER_L1_SMALL] = "L1_SMALL",
        [TTS_COUNTER_TRACE] = "TRACE",
        [TTS_COUNTER_CB] = "CB",
        [TTS_COUNTER_KERNEL] = "KERNEL",
    };
    assert(counter < TTS_COUNTERS);
    return names[counter];
}
