/* chunks.h: equal, cache-line-aligned pieces of memory that never move once added. Storage for
 * structures that must grow without a pause: adding a chunk costs one allocation and copies
 * only the directory of pointers. Caller's memory. One thread. */
#pragma once

#include "ttscope/alloc.h"

#include <stddef.h>

enum { TTS_CACHE_LINE_BYTES = 64 };

struct tts_chunks {
    const struct tts_alloc *alloc;
    unsigned char **chunk; /* [count] */
    size_t count, capacity;
    size_t chunk_bytes; /* a multiple of TTS_CACHE_LINE_BYTES */
};

void tts_chunks_init(struct tts_chunks *chunks, const struct tts_alloc *alloc,
                     size_t chunk_bytes);
void tts_chunks_release(struct tts_chunks *chunks);

/* Returns the new chunk, uninitialized. Returns NULL if there is no memory; nothing changes
 * then. */
void *tts_chunks_add(struct tts_chunks *chunks);

/* Returns the bytes held, including the directory. */
size_t tts_chunks_memory(const struct tts_chunks *chunks);
