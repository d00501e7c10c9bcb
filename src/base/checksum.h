/* checksum.h: a checksum over a growing array of bytes. The same bytes give the same value,
 * whether they are added in one call or in many. The checksum detects accidental damage, but
 * not deliberate changes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct tts_checksum {
    uint64_t hash;  /* hash of the whole 8-byte words */
    uint64_t words; /* number of whole words in `hash` */
};

void tts_checksum_begin(struct tts_checksum *check, uint64_t seed);

/* Updates the checksum and returns its value for bytes[0 .. len), which is never 0. `bytes`
 * starts with the unchanged bytes of the earlier calls, and `len` never decreases. The time
 * depends on the number of new bytes only. */
uint32_t tts_checksum_update(struct tts_checksum *check, const unsigned char *bytes,
                             size_t len);

/* ---- single steps, for callers that have the bytes in registers ---- */

#define TTS_CHECKSUM_STEP UINT64_C(0x9fb21c651e98df25)
#define TTS_CHECKSUM_END UINT64_C(0xd6e8feb86659fd93)

/* Returns the hash after one more whole little-endian word. Two different words always give two
 * different hashes, and so do two different old hashes. */
static inline uint64_t tts_checksum_step(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * TTS_CHECKSUM_STEP;
    return hash ^ hash >> 29;
}

/* Returns the value of the checksum for `len` bytes. `hash` is the hash of the whole words.
 * `rest` has the len % 8 bytes after the last whole word, and zeros in the other bytes. */
static inline uint32_t tts_checksum_value(uint64_t hash, uint64_t rest, uint64_t len)
{
    hash = tts_checksum_step(hash ^ len * TTS_CHECKSUM_END, rest);
    uint32_t value = (uint32_t)(hash * TTS_CHECKSUM_END >> 32);
    return value + (value == 0);
}
