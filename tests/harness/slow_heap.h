/* slow_heap.h: an allocator that keeps other threads waiting, or fails. For tests of objects
 * with a thread of their own. */
#pragma once

#include "base/heap.h"
#include "harness/t.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <time.h>

enum { SLOW_HEAP_S = 20 }; /* a test that forgot the thread ends nevertheless */

/* The next call waits for `go` if the heap is slow, except a call of the thread `quick`. */
struct slow_heap {
    struct tts_alloc alloc;
    pthread_t quick;
    bool is_slow, fails; /* atomic */
    uint64_t calls;      /* atomic */
    sem_t waits;         /* posted when a call waits */
    sem_t go;
};

/* Waits for a semaphore. Returns whether the semaphore was posted in time. */
static inline bool slow_heap_await(sem_t *posted)
{
    struct timespec until;
    int result;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SLOW_HEAP_S;
    do
        result = sem_timedwait(posted, &until);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

/* Waits if the heap is slow. Returns whether there is memory. */
static inline bool slow_heap_enter(struct slow_heap *heap)
{
    __atomic_add_fetch(&heap->calls, 1, __ATOMIC_ACQ_REL);
    if (!pthread_equal(pthread_self(), heap->quick) &&
        __atomic_exchange_n(&heap->is_slow, false, __ATOMIC_ACQ_REL)) {
        sem_post(&heap->waits);
        slow_heap_await(&heap->go);
    }
    return !__atomic_load_n(&heap->fails, __ATOMIC_ACQUIRE);
}

static inline void *slow_heap_alloc(void *ctx, size_t bytes)
{
    const struct tts_alloc *libc = tts_alloc_libc();
    return slow_heap_enter(ctx) ? libc->alloc(libc->ctx, bytes) : NULL;
}

static inline void *slow_heap_resize(void *ctx, void *memory, size_t old_bytes, size_t bytes)
{
    const struct tts_alloc *libc = tts_alloc_libc();
    return slow_heap_enter(ctx) ? libc->resize(libc->ctx, memory, old_bytes, bytes) : NULL;
}

static inline void slow_heap_free(void *ctx, void *memory, size_t bytes)
{
    const struct tts_alloc *libc = tts_alloc_libc();
    (void)ctx;
    libc->free(libc->ctx, memory, bytes);
}

/* The calling thread is quick. */
static inline void slow_heap_init(struct slow_heap *heap)
{
    *heap =
        (struct slow_heap){.alloc = {slow_heap_alloc, slow_heap_resize, slow_heap_free, heap},
                           .quick = pthread_self()};
    sem_init(&heap->waits, 0, 0);
    sem_init(&heap->go, 0, 0);
}

static inline void slow_heap_make_slow(struct slow_heap *heap)
{
    __atomic_store_n(&heap->is_slow, true, __ATOMIC_RELEASE);
}

static inline void slow_heap_fail(struct slow_heap *heap, bool fails)
{
    __atomic_store_n(&heap->fails, fails, __ATOMIC_RELEASE);
}

static inline uint64_t slow_heap_calls(struct slow_heap *heap)
{
    return __atomic_load_n(&heap->calls, __ATOMIC_ACQUIRE);
}
