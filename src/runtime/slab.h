/* slab.h: objects of one size, taken and given back, that never move. Caller's memory. */
#pragma once

#include "base/chunks.h"

#include <stddef.h>

struct tts_slab {
    struct tts_chunks chunks;
    size_t object_bytes, per_chunk, used; /* of the last chunk */
    void *spare;                          /* given back: each begins with the next */
};

/* Objects are 8 bytes at least. */
void tts_slab_init(struct tts_slab *slab, const struct tts_alloc *alloc, size_t object_bytes);
void tts_slab_release(struct tts_slab *slab);

/* Zeroed; NULL: out of memory. */
void *tts_slab_take(struct tts_slab *slab);
void tts_slab_give(struct tts_slab *slab, void *object);
