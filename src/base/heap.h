/* heap.h: allocators and growing arrays. heap.c is the only file that calls malloc(); all other
 * files allocate through a struct tts_alloc. */
#pragma once

#include "ttscope/alloc.h"

const struct tts_alloc *tts_alloc_libc(void);

/* Returns an allocator of zeroed pages from the system. Each call is one system call and takes
 * no lock of the C library. Can be used where malloc() must not be called: in a signal handler
 * or in an allocator. Preserves errno. */
const struct tts_alloc *tts_alloc_pages(void);

/* Makes room for at least `needed` items in an array. Returns the array, which may have moved,
 * and updates *capacity. The capacity grows by at least half. `items` may be NULL if the
 * capacity is 0. Returns NULL if there is no memory; nothing changes then. */
void *tts_alloc_grow(const struct tts_alloc *alloc, void *items, size_t *capacity,
                     size_t needed, size_t item_bytes);
