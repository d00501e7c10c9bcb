/* json_bytes.h: what a reader of JSON looks for, 16 bytes at a time.
 * All of them read up to TTS_JSONPULL_PAD bytes behind what they return. */
#pragma once

#include "base/bytes16.h"

#include <stdbool.h>
#include <stdint.h>

enum { TTS_JSONPULL_PAD = 64 };

static TTS_FORCE_INLINE bool tts_jsonpull_is_blank(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The next byte that is no blank. */
static TTS_FORCE_INLINE const unsigned char *tts_jsonpull_pass_blanks(const unsigned char *at)
{
    if (TTS_LIKELY(!tts_jsonpull_is_blank(*at)))
        return at;
    for (at++;; at += 16) {
        tts_bytes16 bytes = tts_bytes16_load(at);
        tts_bytes16 blank = (tts_bytes16)(bytes == ' ') | (tts_bytes16)(bytes == '\n') |
                            (tts_bytes16)(bytes == '\r') | (tts_bytes16)(bytes == '\t');
        unsigned first = tts_bytes16_first(~blank);
        if (TTS_LIKELY(first < 16))
            return at + first;
    }
}

/* The next '"' or '\'. */
static TTS_FORCE_INLINE const unsigned char *tts_jsonpull_find_quote(const unsigned char *at)
{
    for (;; at += 16) {
        tts_bytes16 bytes = tts_bytes16_load(at);
        tts_bytes16 hits = (tts_bytes16)(bytes == '"') | (tts_bytes16)(bytes == '\\');
        unsigned first = tts_bytes16_first(hits);
        if (TTS_LIKELY(first < 16))
            return at + first;
    }
}

/* Brackets, square and curly, which differ by one bit; and what lies between them, '\\' and
 * '|', which stands in strings only. */
static TTS_FORCE_INLINE tts_bytes16 tts_jsonpull_brackets(tts_bytes16 bytes)
{
    return (tts_bytes16)((bytes | 0x20) - '{' <= '}' - '{');
}

/* The next '"' or one of these. */
static TTS_FORCE_INLINE const unsigned char *tts_jsonpull_find_bracket(const unsigned char *at)
{
    for (;; at += 16) {
        tts_bytes16 bytes = tts_bytes16_load(at);
        tts_bytes16 hits = (tts_bytes16)(bytes == '"') | tts_jsonpull_brackets(bytes);
        unsigned first = tts_bytes16_first(hits);
        if (TTS_LIKELY(first < 16))
            return at + first;
    }
}

/* What matters to brackets in 64 bytes: bit i for byte i. */
struct tts_jsonpull_block {
    uint64_t quotes, escapes, brackets;
};

static TTS_FORCE_INLINE struct tts_jsonpull_block tts_jsonpull_look_at(const unsigned char *at)
{
    struct tts_jsonpull_block block = {0};
    for (unsigned i = 0; i < 64; i += 16) {
        tts_bytes16 bytes = tts_bytes16_load(at + i);
        block.quotes |= (uint64_t)tts_bytes16_mask((tts_bytes16)(bytes == '"')) << i;
        block.escapes |= (uint64_t)tts_bytes16_mask((tts_bytes16)(bytes == '\\')) << i;
        block.brackets |= (uint64_t)tts_bytes16_mask(tts_jsonpull_brackets(bytes)) << i;
    }
    return block;
}

/* Bit i: whether an odd number of bits up to and with i are set. */
static TTS_FORCE_INLINE uint64_t tts_jsonpull_parity(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* Ends of lines in [at, end). */
uint64_t tts_jsonpull_count_lines(const unsigned char *at, const unsigned char *end);
