#include "runtime/slab.h"

#include <assert.h>
#include <string.h>

enum { CHUNK_BYTES = 16 * 1024 };

void tts_slab_init(struct tts_slab *slab, const struct tts_alloc *alloc, size_t object_bytes)
{
    assert(object_bytes >= sizeof(void *) && object_bytes <= CHUNK_BYTES);
    object_bytes = (object_bytes + 7) & ~(size_t)7;
    *slab = (struct tts_slab){.object_bytes = object_bytes,
                              .per_chunk = CHUNK_BYTES / object_bytes};
    tts_chunks_init(&slab->chunks, alloc, CHUNK_BYTES);
}

void tts_slab_release(struct tts_slab *slab)
{
    tts_chunks_release(&slab->chunks);
    slab->spare = NULL;
}

void *tts_slab_take(struct tts_slab *slab)
{
    unsigned char *object = slab->spare;
    if (object) {
        memcpy(&slab->spare, object, sizeof slab->spare);
    } else {
        if (slab->chunks.count == 0 || slab->used == slab->per_chunk) {
            if (!tts_chunks_add(&slab->chunks))
                return NULL;
            slab->used = 0;
        }
        object = slab->chunks.chunk[slab->chunks.count - 1] + slab->used++ * slab->object_bytes;
    }
    return memset(object, 0, slab->object_bytes);
}

void tts_slab_give(struct tts_slab *slab, void *object)
{
    memcpy(object, &slab->spare, sizeof slab->spare);
    slab->spare = object;
}
