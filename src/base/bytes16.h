/* bytes16.h: searches and adds 16 bytes at once. `hits` is the result of a comparison: a byte
 * is 255 if the comparison is true for this byte, otherwise 0. */
#pragma once

#include "base/compiler.h"

#include <stdint.h>
#include <string.h>

typedef unsigned char tts_bytes16 __attribute__((vector_size(16)));

static TTS_FORCE_INLINE tts_bytes16 tts_bytes16_load(const unsigned char *at)
{
    tts_bytes16 bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/* Returns a number whose bit i is set if byte i of `hits` is 255. */
static TTS_FORCE_INLINE uint32_t tts_bytes16_mask(tts_bytes16 hits)
{
#ifdef __SSE2__
    typedef char signed16 __attribute__((vector_size(16)));
    return (uint32_t)__builtin_ia32_pmovmskb128((signed16)hits);
#else
    uint32_t mask = 0;
    for (unsigned i = 0; i < 16; i++)
        mask |= (uint32_t)(hits[i] & 1) << i;
    return mask;
#endif
}

/* Returns the index of the first byte of `hits` that is 255. Returns 16 if there is none. */
static TTS_FORCE_INLINE unsigned tts_bytes16_first(tts_bytes16 hits)
{
#ifdef __SSE2__
    return (unsigned)__builtin_ctz(tts_bytes16_mask(hits) | 1u << 16);
#else
    uint64_t half[2];
    memcpy(half, &hits, sizeof half);
    if ((half[0] | half[1]) == 0)
        return 16;
    return (unsigned)__builtin_ctz(tts_bytes16_mask(hits));
#endif
}

/* Returns the sum of the 16 bytes. */
static TTS_FORCE_INLINE uint64_t tts_bytes16_sum(tts_bytes16 bytes)
{
    const uint64_t every_other = UINT64_C(0x00ff00ff00ff00ff);
    uint64_t half[2], sums = 0;
    memcpy(half, &bytes, sizeof half);
    for (int i = 0; i < 2; i++) {
        uint64_t pairs = (half[i] & every_other) + (half[i] >> 8 & every_other);
        sums += pairs * UINT64_C(0x0001000100010001) >> 48;
    }
    return sums;
}
