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
    frame->left_out = 0;
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
    memset(process, 0, sizeof *process);
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
