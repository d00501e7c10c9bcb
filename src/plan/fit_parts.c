/* fit_parts.c: what the peak is made of. */
#include "base/error.h"
#include "base/heap.h"
#include "plan/fit_follow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* All that lives at the peak: first one entry for each buffer, then for each group. */
struct heap_of_parts {
    const struct tts_alloc *alloc;
    struct tts_fit_part *parts;
    size_t count, capacity;
    bool is_out_of_memory;
};

static void on_buffer(void *ctx, const struct tts_part_buffer *buffer)
{
    struct heap_of_parts *heap = ctx;
    struct tts_fit_part *grown = NULL;
    if (!heap->is_out_of_memory)
        grown = tts_alloc_grow(heap->alloc, heap->parts, &heap->capacity, heap->count + 1,
                               sizeof *grown);
    heap->is_out_of_memory = !grown;
    if (!grown)
        return;
    heap->parts = grown;
    heap->parts[heap->count++] = (struct tts_fit_part){.part = buffer->part,
                                                       .layer = buffer->layer,
                                                       .op = buffer->op,
                                                       .bytes = buffer->size_bytes,
                                                       .buffers = 1};
}

static int by_group(const void *left, const void *right)
{
    const struct tts_fit_part *a = left, *b = right;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    if (a->layer != b->layer)
        return a->layer < b->layer ? -1 : 1;
    return strcmp(a->op ? a->op : "", b->op ? b->op : "");
}

static int by_bytes(const void *left, const void *right)
{
    const struct tts_fit_part *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return by_group(left, right);
}

/* One entry for each group, in their order. */
static void join_groups(struct heap_of_parts *heap)
{
    size_t groups = 0;
    qsort(heap->parts, heap->count, sizeof *heap->parts, by_group);
    for (size_t i = 0; i < heap->count; i++) {
        struct tts_fit_part *last = groups > 0 ? &heap->parts[groups - 1] : NULL;
        if (last && by_group(last, &heap->parts[i]) == 0) {
            last->bytes += heap->parts[i].bytes;
            last->buffers++;
        } else {
            heap->parts[groups++] = heap->parts[i];
        }
    }
    heap->count = groups;
    qsort(heap->parts, heap->count, sizeof *heap->parts, by_bytes);
}

/* Nothing is placed: what lives depends on the requests alone. */
static enum tts_status look(const struct tts_workload *workload, const struct tts_chip *chip,
                            uint64_t allocation, struct heap_of_parts *heap,
                            struct tts_error *err)
{
    struct tts_device *device;
    enum tts_status status =
        tts_device_new(chip, &(struct tts_device_config){.mode = TTS_MODE_NO_DISPATCH},
                       heap->alloc, &device, err);
    if (status != TTS_OK)
        return status;
    struct tts_workload_watch watch = {.ctx = heap, .look_at = allocation, .look = on_buffer};
    status = tts_workload_run(workload, device, &watch, heap->alloc, err);
    tts_device_free(device);
    if (status == TTS_OK && heap->is_out_of_memory)
        status = tts_error_set(err, TTS_E_NOMEM, "out of memory");
    return status;
}

enum tts_status tts_fit_find_parts(const struct tts_workload *workload,
                                   const struct tts_chip *chip, const struct tts_alloc *alloc,
                                   struct tts_fit_peak *peak, size_t *capacity,
                                   struct tts_error *err)
{
    struct heap_of_parts heap = {.alloc = alloc};
    uint64_t bytes = 0;
    enum tts_status status = look(workload, chip, peak->allocation, &heap, err);
    if (status != TTS_OK) {
        if (heap.parts)
            alloc->free(alloc->ctx, heap.parts, heap.capacity * sizeof *heap.parts);
        return status;
    }
    if (heap.count > 0)
        join_groups(&heap);
    for (size_t i = 0; i < heap.count; i++) {
        assert((unsigned)heap.parts[i].part < TTS_PARTS);
        peak->part_bytes[heap.parts[i].part] += heap.parts[i].bytes;
        bytes += heap.parts[i].bytes;
    }
    assert(bytes == peak->bytes);
    (void)bytes;
    peak->parts = heap.parts;
    peak->part_count = heap.count;
    *capacity = heap.capacity;
    return TTS_OK;
}
