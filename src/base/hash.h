/* hash.h: the 64-bit FNV-1a hash. The golden files of the tests contain such hashes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TTS_FNV1A64_INIT UINT64_C(0xcbf29ce484222325)

/* Returns `hash` continued with the 8 little-endian bytes of `value`. */
static inline uint64_t tts_fnv1a64_u64(uint64_t hash, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        hash = (hash ^ ((value >> (8 * i)) & 0xff)) * UINT64_C(0x100000001b3);
    return hash;
}

/* Returns `hash` continued with the bytes of a text. */
static inline uint64_t tts_fnv1a64_text(uint64_t hash, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}
