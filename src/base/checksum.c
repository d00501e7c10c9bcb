#include "base/checksum.h"

#include "base/bytes.h"

#include <assert.h>

enum { WORD = sizeof(uint64_t) };

void tts_checksum_begin(struct tts_checksum *check, uint64_t seed)
{
    *check = (struct tts_checksum){.hash = tts_checksum_step(TTS_CHECKSUM_END, seed)};
}

/* Returns the bytes after the last whole word as a number. Reads no byte after bytes[len -
 * 1]. */
static uint64_t checksum_rest(const unsigned char *bytes, size_t len)
{
    size_t count = len % WORD;
    if (count == 0)
        return 0;
    if (len >= WORD)
        return tts_get64(bytes + len - WORD) >> 8 * (WORD - count);
    uint64_t rest = 0;
    for (size_t i = 0; i < count; i++)
        rest |= (uint64_t)bytes[i] << 8 * i;
    return rest;
}

uint32_t tts_checksum_update(struct tts_checksum *check, const unsigned char *bytes, size_t len)
{
    assert((bytes || len == 0) && check->words <= len / WORD);
    uint64_t hash = check->hash, words = len / WORD;
    for (uint64_t i = check->words; i < words; i++)
        hash = tts_checksum_step(hash, tts_get64(bytes + WORD * i));
    *check = (struct tts_checksum){hash, words};
    return tts_checksum_value(hash, checksum_rest(bytes, len), len);
}
