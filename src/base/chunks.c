#include "base/chunks.h"

#include <assert.h>
#include <stdint.h>

/* A chunk is allocated one cache line larger and starts at the first line boundary after its
 * first byte. The byte before the chunk stores the distance from the start of the allocation,
 * which is needed to free the chunk. */
static size_t allocated_bytes(const struct tts_chunks *chunks)
{
    return chunks->chunk_bytes + TTS_CACHE_LINE_BYTES;
}

void tts_chunks_init(struct tts_chunks *chunks, const struct tts_alloc *alloc,
                     size_t chunk_bytes)
{
    assert(chunk_bytes > 0 && chunk_bytes % TTS_CACHE_LINE_BYTES == 0);
    *chunks = (struct tts_chunks){.alloc = alloc, .chunk_bytes = chunk_bytes};
}

void tts_chunks_release(struct tts_chunks *chunks)
{
    const struct tts_alloc *alloc = chunks->alloc;
    for (size_t i = 0; i < chunks->count; i++) {
        unsigned char *chunk = chunks->chunk[i];
        alloc->free(alloc->ctx, chunk - chunk[-1], allocated_bytes(chunks));
    }
    if (chunks->chunk)
        alloc->free(alloc->ctx, chunks->chunk, chunks->capacity * sizeof(*chunks->chunk));
    *chunks = (struct tts_chunks){.alloc = alloc, .chunk_bytes = chunks->chunk_bytes};
}

static int directory_grow(struct tts_chunks *chunks)
{
    const struct tts_alloc *alloc = chunks->alloc;
    size_t old_bytes = chunks->capacity * sizeof(*chunks->chunk);
    size_t capacity = chunks->capacity ? chunks->capacity * 2 : 8;
    size_t bytes = capacity * sizeof(*chunks->chunk);
    void *memory = chunks->chunk ? alloc->resize(alloc->ctx, chunks->chunk, old_bytes, bytes)
                                 : alloc->alloc(alloc->ctx, bytes);
    if (!memory)
        return 0;
    chunks->chunk = memory;
    chunks->capacity = capacity;
    return 1;
}

void *tts_chunks_add(struct tts_chunks *chunks)
{
    if (chunks->count == chunks->capacity && !directory_grow(chunks))
        return NULL;
    unsigned char *memory = chunks->alloc->alloc(chunks->alloc->ctx, allocated_bytes(chunks));
    if (!memory)
        return NULL;
    size_t skip = TTS_CACHE_LINE_BYTES - (uintptr_t)memory % TTS_CACHE_LINE_BYTES;
    memory[skip - 1] = (unsigned char)skip;
    chunks->chunk[chunks->count++] = memory + skip;
    return memory + skip;
}

size_t tts_chunks_memory(const struct tts_chunks *chunks)
{
    return chunks->count * allocated_bytes(chunks) + chunks->capacity * sizeof(*chunks->chunk);
}
