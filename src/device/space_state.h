/* space_state.h: the fields of a space. Only for the device room. */
#pragma once

#include "base/compiler.h"
#include "device/blocks.h"
#include "device/space.h"

#define TTS_SPACE_NO_LOWEST UINT64_MAX

/* A space. All its offsets are relative to its first byte. */
struct tts_space {
    const struct tts_blocks_ops *ops; /* functions of `blocks` */
    struct tts_blocks *blocks;
    bool align_is_uneven; /* the alignment is not a power of two */
    /* Lowest taken offset as the runtime's allocator reports it; TTS_SPACE_NO_LOWEST if there
     * is none. */
    uint64_t lowest_off;
    struct tts_space_config config;
    uint64_t shrunk_bytes; /* bytes that were cut off at the bottom: the blocks tile
                              [shrunk_bytes, size) */
    const struct tts_alloc *alloc;
};

/* Returns the size of the block for a request. The size is 0 only if the minimum is 0. It
 * exceeds the size of the space if even an empty space has no room for the request. */
static inline uint64_t tts_space_rounded(const struct tts_space *s, uint64_t bytes)
{
    uint64_t need = bytes > s->config.min_bytes ? bytes : s->config.min_bytes;
    uint64_t align = s->config.alignment_bytes;
    if (TTS_UNLIKELY(need > s->config.size_bytes))
        return UINT64_MAX;
    if (TTS_UNLIKELY(s->align_is_uneven))
        need += align - 1 - (need + align - 1) % align;
    else
        need = (need + align - 1) & (0 - align);
    return need;
}

/* Converts an offset to units. Returns false if no block can begin or end at this offset. */
static inline bool tts_space_in_units(const struct tts_space *s, uint64_t off, uint64_t *units)
{
    uint32_t shift = s->blocks->unit_shift;
    *units = off >> shift;
    return *units << shift == off;
}

static inline void tts_space_lower_lowest(struct tts_space *s, uint64_t off)
{
    s->lowest_off = off < s->lowest_off ? off : s->lowest_off;
}

/* Swaps the contents of two spaces; the structs stay where they are. Used to prepare a change
 * in a copy. */
static inline void tts_space_swap(struct tts_space *a, struct tts_space *b)
{
    assert(a->alloc == b->alloc);
    struct tts_space was = *a;
    *a = *b;
    *b = was;
}
