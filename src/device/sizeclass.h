/* sizeclass.h: the size classes of the runtime's allocator. They determine which block BEST
 * takes and in which order free ranges are listed. Class 0 has all sizes below 2 KiB. Class k >
 * 0 begins at 2^k KiB. The last class has no upper end. */
#pragma once

#include <stdint.h>

enum { TTS_SIZECLASS_MAX = 18 };

/* Returns the number of classes of a space: the number of bits of its size in KiB, but at least
 * 2 and at most 18. */
static inline uint32_t tts_sizeclass_count(uint64_t space_bytes)
{
    uint64_t kib = space_bytes / 1024;
    uint32_t bits = kib ? 64 - (uint32_t)__builtin_clzll(kib) : 0;
    return bits < 2 ? 2 : bits > TTS_SIZECLASS_MAX ? TTS_SIZECLASS_MAX : bits;
}

static inline uint32_t tts_sizeclass_of(uint64_t bytes, uint32_t classes)
{
    uint32_t octave = 53 - (uint32_t)__builtin_clzll(bytes | 1024); /* 0 for sizes below 2048 */
    return octave < classes ? octave : classes - 1;
}

/* Returns the smallest size of a class. */
static inline uint64_t tts_sizeclass_low(uint32_t class_idx)
{
    return class_idx ? UINT64_C(1024) << class_idx : 0;
}
