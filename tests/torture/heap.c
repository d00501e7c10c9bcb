#include "torture/heap.h"

#include "base/heap.h"

#include <string.h>

/* Precedes each block. Its size keeps the strictest alignment. */
union prefix {
    size_t bytes;
    max_align_t alignment;
};

static bool refused(struct heap *heap)
{
    if (heap->paused)
        return false;
    heap->calls++;
    if (heap->fail_at == 0 || heap->calls < heap->fail_at)
        return false;
    if (heap->calls > heap->fail_at && !heap->fail_after)
        return false;
    heap->failed++;
    return true;
}

/* Maximum number of bytes that are filled: the end of a large block is mostly never used. */
enum { FILLED_MAX = 1 << 18 };

static void *give_out(struct heap *heap, size_t bytes)
{
    const struct tts_alloc *libc = tts_alloc_libc();
    union prefix *prefix = libc->alloc(libc->ctx, sizeof *prefix + bytes);
    if (prefix == NULL)
        return NULL;
    prefix->bytes = bytes;
    memset(prefix + 1, 0xa5, bytes < FILLED_MAX ? bytes : FILLED_MAX);
    heap->live_bytes += bytes;
    heap->live_blocks++;
    return prefix + 1;
}

static void take_back(struct heap *heap, void *memory, size_t bytes)
{
    const struct tts_alloc *libc = tts_alloc_libc();
    union prefix *prefix = (union prefix *)memory - 1;
    if (prefix->bytes != bytes)
        heap->wrong_sizes++;
    heap->live_bytes -= prefix->bytes;
    heap->live_blocks--;
    libc->free(libc->ctx, prefix, sizeof *prefix + prefix->bytes);
}

static void *heap_alloc(void *ctx, size_t bytes)
{
    return refused(ctx) ? NULL : give_out(ctx, bytes);
}

static void *heap_resize(void *ctx, void *memory, size_t old_bytes, size_t bytes)
{
    if (refused(ctx))
        return NULL;
    void *moved = give_out(ctx, bytes);
    if (moved == NULL)
        return NULL;
    if (memory != NULL) {
        memcpy(moved, memory, old_bytes < bytes ? old_bytes : bytes);
        take_back(ctx, memory, old_bytes);
    }
    return moved;
}

static void heap_free(void *ctx, void *memory, size_t bytes)
{
    if (memory != NULL)
        take_back(ctx, memory, bytes);
}

void heap_init(struct heap *heap)
{
    *heap = (struct heap){.alloc = {heap_alloc, heap_resize, heap_free, heap}};
}

bool heap_is_settled(const struct heap *heap)
{
    return heap->live_bytes == 0 && heap->live_blocks == 0 && heap->wrong_sizes == 0;
}
