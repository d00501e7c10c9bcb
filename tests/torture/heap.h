/* heap.h: memory that counts, that can be made to run out, and that checks its callers.
 * Every size handed back is compared with the one handed out, new memory is never zero, and a
 * resize always moves, so that an object which keeps an old pointer is found out. One heap is
 * for one thread; it must stay where it was initialised. */
#pragma once

#include "ttscope/alloc.h"

#include <stdbool.h>
#include <stdint.h>

struct heap {
    struct tts_alloc alloc; /* what the object under test is given */
    uint64_t calls;         /* allocations and resizes asked for while not paused */
    uint64_t fail_at;       /* the call that fails, counted from 1; 0: none */
    bool fail_after;        /* and every call after it */
    bool paused;            /* calls neither count nor fail */
    uint64_t failed;        /* calls that did */
    uint64_t live_bytes, live_blocks;
    uint64_t wrong_sizes; /* frees and resizes that named another size than at birth */
};

void heap_init(struct heap *heap);
/* Everything came back, each piece with the size it was born with. */
bool heap_is_settled(const struct heap *heap);
