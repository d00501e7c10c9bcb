/* space_state.h: what a space is made of; for the files that are the space. */
#pragma once

#include "base/compiler.h"
#include "device/freetree.h"
#include "device/idstack.h"
#include "device/livemap.h"
#include "device/sizeclass.h"
#include "ttscope/space.h"

#define TTS_SPACE_NO_LOWEST UINT64_MAX

/* Offsets are relative to the space's first byte throughout. */
struct tts_space {
    struct tts_space_config config;
    const struct tts_alloc *alloc;
    uint64_t align_mask;   /* alignment - 1 when that is a power of two, else 0 */
    uint64_t shrunk_bytes; /* cut off the bottom: blocks tile [shrunk, size) */
    uint64_t lowest_off;   /* as the reference reports it, TTS_SPACE_NO_LOWEST: none */
    uint64_t taken_bytes;
    uint32_t classes;
    struct tts_freetree tree; /* the free blocks */
    struct tts_livemap map;   /* the taken blocks */
    struct tts_idstack ids;
};

#define TTS_SPACE_CANNOT_FIT UINT64_MAX

/* What a request takes: 0 only where the minimum is 0, TTS_SPACE_CANNOT_FIT where it is past
 * the space.
 */
static inline uint64_t tts_space_rounded(const struct tts_space *s, uint64_t bytes)
{
    uint64_t need = bytes > s->config.min_bytes ? bytes : s->config.min_bytes;
    if (TTS_UNLIKELY(need > s->config.size_bytes))
        return TTS_SPACE_CANNOT_FIT;
    uint64_t align = s->config.alignment_bytes;
    if (TTS_LIKELY(s->align_mask || align == 1))
        return (need + s->align_mask) & ~s->align_mask;
    return (need + align - 1) / align * align;
}
