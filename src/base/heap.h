/* heap.h: the C library's memory as a struct tts_alloc, the only door to malloc; the system's
 * pages; and arrays that grow. */
#pragma once

#include "ttscope/alloc.h"

const struct tts_alloc *tts_alloc_libc(void);

/* Zeroed pages straight from the system: one system call each, no lock of the C library. So
 * memory can be had where malloc() must not be called: in a signal handler, in an allocator.
 * Leaves errno as it was. */
const struct tts_alloc *tts_alloc_pages(void);

/* The items, in an array with room for `needed` of them at least; *capacity follows, by half at
 * least where it changes. `items` may be NULL with a capacity of 0. NULL: out of memory, and
 * all is as it was. */
void *tts_alloc_grow(const struct tts_alloc *alloc, void *items, size_t *capacity,
                     size_t needed, size_t item_bytes);
