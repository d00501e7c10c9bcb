/* recenc_inside.h: the functions that the files of the encoder share. Each written byte is
 * added to the checksum at the same time. A reader sees the bytes after tts_recenc_tell(). */
#pragma once

#include "model/recording/recenc.h"

/* Bits of the tag of a shape: flags, and the shifts of kind, pool and placement. */
enum {
    TTS_TAG_VALID = 1,
    TTS_TAG_KIND = 8, /* first of three shifts */
    TTS_TAG_POOL = 12,
    TTS_TAG_PLACEMENT = 16,
    TTS_TAG_ADDRESS = 1 << 20,
    TTS_TAG_BORROWED = 1 << 21,
    TTS_TAG_PLAIN = 1 << 22, /* has a size, but no bank sizes, no request and no ranges */
};

/* Returns the kind of shape for a kind of event that has shapes. */
static inline unsigned tts_recenc_shape_kind(enum tts_event_kind kind)
{
    return kind == TTS_EVENT_ALLOC ? 0 : (unsigned)(kind - TTS_EVENT_CB) + 1;
}

static TTS_FORCE_INLINE uint32_t tts_recenc_hash(uint64_t tag, uint64_t size_bytes,
                                                 uint64_t op_hash)
{
    uint64_t hash = (size_bytes ^ tag << 40) * TTS_CHECKSUM_STEP;
    return (uint32_t)((hash ^ op_hash) * TTS_CHECKSUM_END >> 52);
}

/* Each of these functions returns the slot of a name, of ranges or of a shape. If the block
 * does not have the definition yet, the function writes it first. */
unsigned tts_recenc_use_name(struct tts_recenc *enc, struct tts_item_op op);
unsigned tts_recenc_use_ranges(struct tts_recenc *enc, const struct tts_core_range *ranges,
                               size_t count);
unsigned tts_recenc_use_shape(struct tts_recenc *enc, const struct tts_recenc_shape *shape,
                              unsigned ranges_slot, struct tts_item_op op);
void tts_recenc_use_device(struct tts_recenc *enc, uint32_t device);

/* ---- writing ---- */

void tts_recenc_byte(struct tts_recenc *enc, unsigned byte);
void tts_recenc_varint(struct tts_recenc *enc, uint64_t value);
void tts_recenc_bytes(struct tts_recenc *enc, const void *bytes, size_t len);

/* Writes the difference between `value` and *last, and sets *last to `value`. */
static inline void tts_recenc_step(struct tts_recenc *enc, uint64_t value, uint64_t *last)
{
    tts_recenc_varint(enc, tts_zigzag(value - *last));
    *last = value;
}

/* Returns the first byte of a record and the rest of its time, which is below
 * TTS_TIME_VARINT_FROM. */
static TTS_FORCE_INLINE uint64_t tts_recenc_head_word(enum tts_rec_code code, uint64_t since,
                                                      unsigned *bytes)
{
    /* The time follows in one or two more bytes. Each form counts from the first time that the
     * shorter form cannot express. */
    uint64_t is_long = since > TTS_TIME_SHORT, is_longer = since >= TTS_TIME_TWO_FROM;
    uint64_t more = is_long + is_longer;
    uint64_t low = since - TTS_TIME_BYTE - (is_longer << 8);
    uint64_t longer = (TTS_TIME_SHORT + more) << 4 | low << 8;
    *bytes = (unsigned)more + 1;
    return code | (is_long ? longer : since << 4);
}

static TTS_FORCE_INLINE uint64_t tts_recenc_since(const struct tts_recenc *enc, uint64_t tick)
{
    return tick > enc->tick ? tick - enc->tick : 0;
}

/* The encoder never reads the payload: a load that overlaps several small stores has to wait
 * for all of them. */

/* Writes the `count` lowest bytes of `bits`. `count` is 1 to 8. The higher bits are 0. */
static TTS_FORCE_INLINE void tts_recenc_push(struct tts_recenc *enc, uint64_t bits,
                                             unsigned count)
{
    size_t used = tts_recenc_used(enc), in_word = used % 8;
    unsigned char *at = enc->at, *word_at = at - in_word;
    uint64_t hash = enc->check.hash;
    uint64_t word = enc->rest | bits << 8 * in_word;
    uint64_t over = bits >> 1 >> (63 - 8 * in_word), rest = word;
    if (in_word + count >= 8) {
        hash = tts_checksum_step(hash, word);
        rest = over;
    }
    tts_put64(word_at, word);
    tts_put64(word_at + 8, over);
    enc->at = at + count;
    enc->rest = rest;
    enc->check = (struct tts_checksum){hash, (used + count) / 8};
}

/* Commits the written bytes. The release store pairs with the reader's acquire load of the
 * commit word: a reader that sees the commit also sees the bytes. */
static TTS_FORCE_INLINE void tts_recenc_tell(struct tts_recenc *enc)
{
    uint64_t used = tts_recenc_used(enc);
    uint64_t value = tts_checksum_value(enc->check.hash, enc->rest, used);
    __atomic_store_n(enc->commit, tts_le64(value << 32 | used), __ATOMIC_RELEASE);
}
