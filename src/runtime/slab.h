/* slab.h: allocates objects of one size, which never move. The caller owns the struct. */
#pragma once

#include "base/chunks.h"

#include <stddef.h>

struct tts_slab {
    struct tts_chunks chunks;
    size_t object_bytes, per_chunk, used; /* `used` counts objects of the last chunk */
    void *spare; /* list of the objects that were given back; each begins with a pointer to the
                    next */
};

/* Initializes a slab. object_bytes must be at least 8. */
void tts_slab_init(struct tts_slab *slab, const struct tts_alloc *alloc, size_t object_bytes);
void tts_slab_release(struct tts_slab *slab);

/* Returns a zeroed object, or NULL if memory is missing. */
void *tts_slab_take(struct tts_slab *slab);
void tts_slab_give(struct tts_slab *slab, void *object);
