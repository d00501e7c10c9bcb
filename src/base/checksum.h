/* checksum.h: a checksum over bytes that are appended, updated a few bytes at a time. The same
 * bytes give the same value, however they were split. Detects damage, not malice. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct tts_checksum {
    uint64_t hash;  /* hash of the whole 8-byte words */
    uint64_t words; /* number of these words */
};

void tts_checksum_begin(struct tts_checksum *check, uint64_t seed);

/* Updates the checksum. bytes[0 .. len) are all bytes so far, including the unchanged bytes of
 * earlier calls, and `len` never decreases. Returns the value for all of them, never 0. The
 * cost depends on the new bytes only. */
uint32_t tts_checksum_update(struct tts_checksum *check, const unsigned char *bytes,
                             size_t len);

/* ---- the steps, for callers that have the bytes in registers ---- */

#define TTS_CHECKSUM_STEP UINT64_C(0x9fb21c651e98df25)
#define TTS_CHECKSUM_END UINT64_C(0xd6e8feb86659fd93)

/* Returns the hash after one more whole little-endian word. Bijective in both arguments, so a
 * different word always gives a different hash. */
static inline uint64_t tts_checksum_step(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * TTS_CHECKSUM_STEP;
    return hash ^ hash >> 29;
}

/* Returns the value for `len` bytes. `rest` has the len % 8 bytes after the last whole word;
 * its other bytes are 0. */
static inline uint32_t tts_checksum_value(uint64_t hash, uint64_t rest, uint64_t len)
{
    hash = tts_checksum_step(hash ^ len * TTS_CHECKSUM_END, rest);
    uint32_t value = (uint32_t)(hash * TTS_CHECKSUM_END >> 32);
    return value + (value == 0);
}
