/* bytes.h: reads and writes little-endian numbers at any address. tts_get32() and tts_get64()
 * read the number at `at`. tts_put32() and tts_put64() write it. `at` need not be aligned. */
#pragma once

#include <stdint.h>
#include <string.h>

/* tts_le64() and tts_le32() convert a number from the byte order of the host to little endian,
 * or back. */
static inline uint64_t tts_le64(uint64_t value)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(value) : value;
}

static inline uint32_t tts_le32(uint32_t value)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap32(value) : value;
}

static inline uint64_t tts_get64(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return tts_le64(value);
}

static inline uint32_t tts_get32(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return tts_le32(value);
}

static inline void tts_put64(unsigned char *at, uint64_t value)
{
    value = tts_le64(value);
    memcpy(at, &value, sizeof value);
}

static inline void tts_put32(unsigned char *at, uint32_t value)
{
    value = tts_le32(value);
    memcpy(at, &value, sizeof value);
}
