/* reccode.h: codes and numbers of the records in a payload (docs/design/recording.md). */
#pragma once

#include "base/bytes.h"
#include "base/compiler.h"

#include <stddef.h>
#include <stdint.h>

enum tts_rec_code {
    TTS_RECORD_ALLOC = 1,
    TTS_RECORD_ALLOC_ID = 2,
    TTS_RECORD_FREE = 3,
    TTS_RECORD_FREE_UNSEEN = 4,
    TTS_RECORD_PROGRAM = 5,
    TTS_RECORD_PART = 6,
    TTS_RECORD_OP_BEGIN = 7,
    TTS_RECORD_OP_END = 8,
    TTS_RECORD_DEFINE = 9,
    TTS_RECORD_MARK = 10,
    TTS_RECORD_FAILURE = 11,
    TTS_RECORD_LIVE = 12,
};

enum tts_rec_define {
    TTS_DEFINE_SHAPE = 1,
    TTS_DEFINE_NAME = 2,
    TTS_DEFINE_RANGES = 3,
    TTS_DEFINE_DEVICE = 4,
};

enum tts_rec_mark {
    TTS_REC_MARK_BEGIN = 1,
    TTS_REC_MARK_CUT = 2,
    TTS_REC_MARK_END = 3,
    TTS_REC_MARK_CHIP = 4,
    TTS_REC_MARK_MISSED = 5,
    TTS_REC_MARK_TRACE_BEGIN = 6,
    TTS_REC_MARK_TRACE_END = 7,
    TTS_REC_MARK_KEYFRAME = 8,
    TTS_REC_MARK_KEYFRAME_END = 9,
    TTS_REC_MARK_KEYFRAME_PART = 10,
    TTS_REC_MARK_TRACING = 11,
    TTS_REC_MARK_ACTIVE = 12,
    TTS_REC_MARK_ZERO = 13,
    TTS_REC_MARK_FREE_AHEAD = 14,
    TTS_REC_MARK_LEFT_OUT = 15,
    TTS_REC_MARK_SAMPLE = 16,
};

/* Flags of a shape (recdec.h). The kind of the shape is in the bits above the flags. */
enum {
    TTS_SHAPE_ADDRESS = 1,
    TTS_SHAPE_BORROWED = 2,
    TTS_SHAPE_OP = 4,
    TTS_SHAPE_BANKS = 8,
    TTS_SHAPE_REQUEST = 16,
    TTS_SHAPE_RANGES = 32,
    TTS_SHAPE_KIND = 6, /* number of bits below the kind */
};

enum {
    TTS_REC_SHAPES = 256,
    TTS_REC_NAMES = 256,
    TTS_REC_RANGES = 64,
    TTS_REC_FAILURE_FIELDS = 24,
    TTS_VARINT_MAX = 10,
    /* The upper half of a record's first byte. A value up to TTS_TIME_SHORT is the time since
     * the last record. A higher value is the form of the time that follows the first byte. */
    TTS_TIME_SHORT = 12,
    TTS_TIME_BYTE = 13,
    TTS_TIME_TWO = 14,
    TTS_TIME_VARINT = 15,
    TTS_TIME_TWO_FROM = TTS_TIME_BYTE + 256,
    TTS_TIME_VARINT_FROM = TTS_TIME_TWO_FROM + 65536,
};

/* The bits of 5 bytes that say "another byte follows". */
#define TTS_VARINT_MORE UINT64_C(0x8080808080)

static inline uint64_t tts_zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t tts_unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

/* Spreads the lowest 35 bits of `value` over 5 bytes, 7 bits in each byte. */
static TTS_FORCE_INLINE uint64_t tts_varint_spread(uint64_t value)
{
    return (value & 0x7f) | (value & 0x3f80) << 1 | (value & 0x1fc000) << 2 |
           (value & 0xfe00000) << 3 | (value & UINT64_C(0x7f0000000)) << 4;
}

/* Returns the varint of a value below 2^35 as a word, and its length (1 to 5) in *bytes.
 * Branches only for the shortest form, because a branch on the length would be mispredicted
 * often. */
static TTS_FORCE_INLINE uint64_t tts_varint_word(uint64_t value, unsigned *bytes)
{
    if (TTS_LIKELY(value < 0x80)) {
        *bytes = 1;
        return value;
    }
    unsigned count = (unsigned)(70 - __builtin_clzll(value)) / 7;
    *bytes = count;
    return tts_varint_spread(value) |
           (TTS_VARINT_MORE & ((UINT64_C(1) << 8 * (count - 1)) - 1));
}

/* Reads a varint that ends before `end`. Returns the address after the varint, or NULL if the
 * varint does not end before `end` or does not fit in 64 bits. */
const unsigned char *tts_varint_get(const unsigned char *at, const unsigned char *end,
                                    uint64_t *out);

/* Like tts_varint_get(), but without a loop, and only for varints of at most 8 bytes. Returns
 * NULL if fewer than 8 bytes are left or the varint is longer. */
static TTS_FORCE_INLINE const unsigned char *
tts_varint_get_quick(const unsigned char *at, const unsigned char *end, uint64_t *out)
{
    if (TTS_UNLIKELY(end - at < 8))
        return NULL;
    uint64_t word = tts_get64(at);
    if (TTS_LIKELY(!(word & 0x80))) {
        *out = word & 0x7f;
        return at + 1;
    }
    uint64_t last = ~word & UINT64_C(0x8080808080808080);
    if (TTS_UNLIKELY(!last))
        return NULL;
    /* Clear the bytes after the varint. Then join the 7-bit groups: two, then four, then eight
     * of them. */
    word &= last ^ (last - 1);
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    *out = (word & UINT64_C(0x0fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
    return at + ((unsigned)__builtin_ctzll(last) / 8 + 1);
}
