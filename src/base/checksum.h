/* checksum.h: a checksum over bytes that grow at their end, kept up to date a few bytes at a
 * time. The same bytes give the same value however they came. It finds damage, not malice. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct tts_checksum {
    uint64_t hash;  /* of whole words of 8 bytes */
    uint64_t words; /* how many */
};

void tts_checksum_begin(struct tts_checksum *check, uint64_t seed);

/* bytes[0 .. len) are all the bytes so far, those of the calls before among them and unchanged,
 * and `len` did not fall. Returns the value for all of them, never 0. Costs by what is new. */
uint32_t tts_checksum_update(struct tts_checksum *check, const unsigned char *bytes,
                             size_t len);

/* ---- the parts, for who has the bytes in registers ---- */

#define TTS_CHECKSUM_STEP UINT64_C(0x9fb21c651e98df25)
#define TTS_CHECKSUM_END UINT64_C(0xd6e8feb86659fd93)

/* The hash behind one more whole word, little endian. One to one in each of the two: a word
 * that differs is still seen when the last one is in. */
static inline uint64_t tts_checksum_step(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * TTS_CHECKSUM_STEP;
    return hash ^ hash >> 29;
}

/* The value for `len` bytes; `rest` has the len % 8 behind the last whole word, above them 0.
 */
static inline uint32_t tts_checksum_value(uint64_t hash, uint64_t rest, uint64_t len)
{
    hash = tts_checksum_step(hash ^ len * TTS_CHECKSUM_END, rest);
    uint32_t value = (uint32_t)(hash * TTS_CHECKSUM_END >> 32);
    return value + (value == 0);
}
