/* space_state.h: what a space is made of; for the files that are the space. */
#pragma once

#include "base/compiler.h"
#include "device/blocks.h"
#include "device/space.h"

#define TTS_SPACE_NO_LOWEST UINT64_MAX

/* Offsets are relative to the space's first byte throughout. */
struct tts_space {
    const struct tts_blocks_ops *ops; /* of the blocks */
    struct tts_blocks *blocks;
    bool align_is_uneven; /* not a power of two */
    uint64_t lowest_off;  /* as the reference reports it, TTS_SPACE_NO_LOWEST: none */
    struct tts_space_config config;
    uint64_t shrunk_bytes; /* cut off the bottom: blocks tile [shrunk, size) */
    const struct tts_alloc *alloc;
};

/* What a request takes: 0 only where the minimum is 0; more than the space, if it could not
 * even hold it empty. */
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

/* An offset in units; false: no block can start or end there. */
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

/* Each becomes the other, and stays where it is: for a change that is made to a copy first. */
static inline void tts_space_swap(struct tts_space *a, struct tts_space *b)
{
    assert(a->alloc == b->alloc);
    struct tts_space was = *a;
    *a = *b;
    *b = was;
}
