/* heap.h: memory of the C library as a struct tts_alloc, which is the only access to malloc;
 * pages of the system; and growing arrays. */
#pragma once

#include "ttscope/alloc.h"

const struct tts_alloc *tts_alloc_libc(void);

/* Returns an allocator of zeroed pages from the system. Each call is one system call and takes
 * no lock of the C library. Usable where malloc() must not be called: in a signal handler or an
 * allocator. Preserves errno. */
const struct tts_alloc *tts_alloc_pages(void);

/* Returns the items in an array with room for at least `needed` of them, and updates *capacity.
 * The capacity grows by at least half. `items` may be NULL with a capacity of 0. Returns NULL
 * if there is no memory; nothing changes then. */
void *tts_alloc_grow(const struct tts_alloc *alloc, void *items, size_t *capacity,
                     size_t needed, size_t item_bytes);
