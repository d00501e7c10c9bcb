/* heap.h: an allocator that counts, can be made to fail, and checks its callers. The size of
 * each freed block is compared with its allocated size. New memory is never zero. A resize
 * always moves the block, which exposes an object that keeps an old pointer. One thread per
 * heap. The struct must not move after heap_init(). */
#pragma once

#include "ttscope/alloc.h"

#include <stdbool.h>
#include <stdint.h>

struct heap {
    struct tts_alloc alloc; /* the allocator for the object under test */
    uint64_t calls;         /* allocations and resizes while not paused */
    uint64_t fail_at;       /* number of the call that fails, from 1; 0: none */
    bool fail_after;        /* every later call fails, too */
    bool paused;            /* calls are not counted and do not fail */
    uint64_t failed;        /* number of calls that failed */
    uint64_t live_bytes, live_blocks;
    uint64_t wrong_sizes; /* frees and resizes with a size other than the allocated one */
};

void heap_init(struct heap *heap);
/* Returns true if every block was freed with the size that it was allocated with. */
bool heap_is_settled(const struct heap *heap);
