#include "model/recording/recenc.h"

#include "model/recording/recenc_inside.h"

#include <assert.h>

/* Size of the largest item with all its definitions, each field at its longest: a first byte
 * with 10 bytes of time; a device; a shape with its name and ranges; two numbers. Or a
 * failure. */
enum {
    HEAD = 1 + TTS_VARINT_MAX,
    DEFINE_DEVICE = 2 + 5,
    DEFINE_NAME = 4 + TTS_OP_NAME_MAX,
    DEFINE_RANGES = 4 + 4 * TTS_RANGES_MAX,
    DEFINE_SHAPE = 5 + 4 * TTS_VARINT_MAX + 5 + 2,
    DEFINES = DEFINE_DEVICE + DEFINE_NAME + DEFINE_RANGES + DEFINE_SHAPE,
    FAILURE = 2 + 24 * TTS_VARINT_MAX,
    CUT = 1 + 5 + 1 + TTS_PHASE_NAME_MAX,
    SAMPLE = 1 + 10 + TTS_VARINT_MAX * (2 + TTS_SAMPLE_VALUES),
    /* 2 * 8, because a store writes a whole word. */
    LONGEST = HEAD + DEFINES + FAILURE + SAMPLE + CUT + 2 * 8,
};
_Static_assert((size_t)LONGEST <= TTS_RECENC_ITEM_MAX, "no bound is checked inside an item");

/* --- life ------------------------------------------------------------------------------- */

void tts_recenc_begin(struct tts_recenc *enc, unsigned char *payload, size_t capacity,
                      uint64_t *commit, uint64_t block_number, uint64_t tick)
{
    assert(payload && capacity >= TTS_RECENC_ITEM_MAX && capacity <= UINT32_MAX);
    assert((uintptr_t)commit % sizeof *commit == 0);
    enc->payload = enc->at = payload;
    enc->end = payload + (capacity - TTS_RECENC_ITEM_MAX);
    enc->commit = commit;
    enc->tick = tick;
    enc->id = enc->address = enc->live_id = enc->live_seq = 0;
    enc->device = enc->serial = enc->shape_count = 0;
    tts_checksum_begin(&enc->check, block_number);
    for (size_t i = 0; i < TTS_REC_SHAPES; i++)
        enc->shapes[i].tag = 0;
    for (size_t i = 0; i < TTS_REC_RANGES; i++)
        enc->ranges[i].serial = 0;
    memset(enc->shape_at, 0, sizeof enc->shape_at);
    memset(enc->names, 0, sizeof enc->names);
    enc->rest = 0;
    tts_recenc_tell(enc);
}

/* --- writing ---------------------------------------------------------------------------- */

void tts_recenc_byte(struct tts_recenc *enc, unsigned byte)
{
    assert(byte <= UINT8_MAX);
    tts_recenc_push(enc, byte, 1);
}

void tts_recenc_varint(struct tts_recenc *enc, uint64_t value)
{
    if (value >> 35) {
        tts_recenc_push(enc, tts_varint_spread(value) | TTS_VARINT_MORE, 5);
        value >>= 35;
    }
    unsigned count;
    uint64_t word = tts_varint_word(value, &count);
    tts_recenc_push(enc, word, count);
}

void tts_recenc_bytes(struct tts_recenc *enc, const void *bytes, size_t len)
{
    if (len == 0)
        return; /* `bytes` may be NULL then */
    memcpy(enc->at, bytes, len);
    enc->at += len;
    assert(enc->at - enc->end <= TTS_RECENC_ITEM_MAX);
    size_t used = tts_recenc_used(enc), in_word = used % 8;
    tts_checksum_update(&enc->check, enc->payload, used);
    enc->rest = in_word ? tts_get64(enc->at - in_word) & ((UINT64_C(1) << 8 * in_word) - 1) : 0;
}

/* --- the common case -------------------------------------------------------------------- */

/* Returns the tag of a shape with a pool, a size and possibly an operation. */
static TTS_FORCE_INLINE uint64_t plain_tag(enum tts_pool pool)
{
    return TTS_TAG_VALID | TTS_TAG_PLAIN | (uint64_t)pool << TTS_TAG_POOL;
}

static TTS_FORCE_INLINE bool push_free(struct tts_recenc *enc, uint64_t id, uint64_t tick)
{
    unsigned count, id_count;
    uint64_t since = tts_recenc_since(enc, tick);
    uint64_t word = tts_recenc_head_word(TTS_RECORD_FREE, since, &count);
    word |= tts_varint_word(enc->id - id, &id_count) << 8 * count;
    enc->tick += since;
    tts_recenc_push(enc, word, count + id_count);
    tts_recenc_tell(enc);
    return true;
}

/* tts_recenc_alloc() and tts_recenc_free() end with a tail call for the rare cases, so that
 * they have no registers to save. */

static TTS_NOINLINE bool alloc_far(struct tts_recenc *enc, uint32_t device, enum tts_pool pool,
                                   uint64_t id, uint64_t size_bytes, uint64_t op_hash,
                                   uint64_t tick)
{
    struct tts_item item = {.kind = TTS_ITEM_EVENT, .op.hash = op_hash};
    item.event = tts_event_of(TTS_EVENT_ALLOC, device);
    item.event.pool = pool;
    item.event.id = id;
    item.event.size_bytes = size_bytes;
    return tts_recenc_item(enc, &item, false, tick);
}

static TTS_NOINLINE bool alloc_other(struct tts_recenc *enc, uint32_t device,
                                     enum tts_pool pool, uint64_t id, uint64_t size_bytes,
                                     uint64_t op_hash, uint64_t tick)
{
    uint64_t since = tts_recenc_since(enc, tick), step = tts_zigzag(id - enc->id);
    if (size_bytes == 0 || since >= TTS_TIME_VARINT_FROM || step >> 28)
        return alloc_far(enc, device, pool, id, size_bytes, op_hash, tick);
    struct tts_recenc_shape shape = {
        .tag = plain_tag(pool), .size_bytes = size_bytes, .op_hash = op_hash};
    tts_recenc_use_device(enc, device);
    unsigned slot = tts_recenc_use_shape(enc, &shape, 0, (struct tts_item_op){.hash = op_hash});
    unsigned count, id_count = 0;
    bool is_next = step == tts_zigzag(1);
    uint64_t word =
        tts_recenc_head_word(is_next ? TTS_RECORD_ALLOC : TTS_RECORD_ALLOC_ID, since, &count);
    word |= (uint64_t)slot << 8 * count++;
    if (!is_next)
        word |= tts_varint_word(step, &id_count) << 8 * count;
    enc->tick += since;
    enc->id = id;
    tts_recenc_push(enc, word, count + id_count);
    tts_recenc_tell(enc);
    return true;
}

bool tts_recenc_alloc(struct tts_recenc *enc, uint32_t device, enum tts_pool pool, uint64_t id,
                      uint64_t size_bytes, uint64_t op_hash, uint64_t tick)
{
    assert(pool == TTS_POOL_DRAM || pool == TTS_POOL_TRACE);
    if (TTS_UNLIKELY(enc->at > enc->end))
        return false;
    uint64_t tag = plain_tag(pool), since = tts_recenc_since(enc, tick);
    unsigned count, slot = enc->shape_at[tts_recenc_hash(tag, size_bytes, op_hash)];
    const struct tts_recenc_shape *shape = &enc->shapes[slot];
    if (TTS_UNLIKELY(device != enc->device || id - enc->id != 1 ||
                     since >= TTS_TIME_VARINT_FROM || shape->tag != tag ||
                     shape->size_bytes != size_bytes || shape->op_hash != op_hash))
        return alloc_other(enc, device, pool, id, size_bytes, op_hash, tick);
    uint64_t word = tts_recenc_head_word(TTS_RECORD_ALLOC, since, &count);
    enc->tick += since;
    enc->id = id;
    tts_recenc_push(enc, word | (uint64_t)slot << 8 * count, count + 1);
    tts_recenc_tell(enc);
    return true;
}

static TTS_NOINLINE bool free_define(struct tts_recenc *enc, uint32_t device, uint64_t id,
                                     uint64_t tick)
{
    tts_recenc_use_device(enc, device);
    return push_free(enc, id, tick);
}

static TTS_NOINLINE bool free_far(struct tts_recenc *enc, uint32_t device, uint64_t id,
                                  uint64_t tick)
{
    struct tts_item item = {.kind = TTS_ITEM_EVENT};
    item.event = tts_event_of(TTS_EVENT_FREE, device);
    item.event.id = id;
    return tts_recenc_item(enc, &item, false, tick);
}

bool tts_recenc_free(struct tts_recenc *enc, uint32_t device, uint64_t id, uint64_t tick)
{
    if (TTS_UNLIKELY(enc->at > enc->end))
        return false;
    if (TTS_UNLIKELY(tts_recenc_since(enc, tick) >= TTS_TIME_VARINT_FROM ||
                     (enc->id - id) >> 35))
        return free_far(enc, device, id, tick);
    if (TTS_UNLIKELY(device != enc->device))
        return free_define(enc, device, id, tick);
    return push_free(enc, id, tick);
}
