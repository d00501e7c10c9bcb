/* chunks.h: pieces of memory of equal size that start at a cache line and never move. They
 * store structures that must grow without a pause: to add a chunk, one allocation is made and
 * only the array of pointers is copied. The caller owns the struct. One thread at a time. */
#pragma once

#include "ttscope/alloc.h"

#include <stddef.h>

enum { TTS_CACHE_LINE_BYTES = 64 };

struct tts_chunks {
    const struct tts_alloc *alloc;
    unsigned char **chunk; /* array of `count` pointers */
    size_t count, capacity;
    size_t chunk_bytes; /* a multiple of TTS_CACHE_LINE_BYTES */
};

void tts_chunks_init(struct tts_chunks *chunks, const struct tts_alloc *alloc,
                     size_t chunk_bytes);
void tts_chunks_release(struct tts_chunks *chunks);

/* Adds a chunk and returns it. Its bytes are not initialized. Returns NULL if there is no
 * memory; nothing changes then. */
void *tts_chunks_add(struct tts_chunks *chunks);

/* Returns the number of allocated bytes, including the array of pointers. */
size_t tts_chunks_memory(const struct tts_chunks *chunks);
