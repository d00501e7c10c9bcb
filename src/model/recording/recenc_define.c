#include "model/opnames.h"
#include "model/recording/recenc_inside.h"

#include <assert.h>

/* Returns the first four bytes of a slot definition. */
static uint64_t define_word(enum tts_rec_define what, unsigned slot, unsigned byte)
{
    assert(slot <= UINT8_MAX && byte <= UINT8_MAX);
    return TTS_RECORD_DEFINE | what << 8 | slot << 16 | (uint64_t)byte << 24;
}

void tts_recenc_use_device(struct tts_recenc *enc, uint32_t device)
{
    if (device == enc->device)
        return;
    tts_recenc_byte(enc, TTS_RECORD_DEFINE);
    tts_recenc_byte(enc, TTS_DEFINE_DEVICE);
    tts_recenc_varint(enc, device);
    enc->device = device;
}

/* --- names ------------------------------------------------------------------------------ */

/* Returns the slot for a name. A hash has two possible slots. Returns the one that has the
 * hash, otherwise the one that is empty, otherwise the first one. */
static unsigned name_slot_for(const struct tts_recenc *enc, uint64_t hash)
{
    unsigned first = hash % TTS_REC_NAMES, second = (hash >> 8) % TTS_REC_NAMES;
    if (TTS_LIKELY(enc->names[first] == hash))
        return first;
    return enc->names[second] == hash || (enc->names[first] && !enc->names[second]) ? second
                                                                                    : first;
}

unsigned tts_recenc_use_name(struct tts_recenc *enc, struct tts_item_op op)
{
    assert(op.hash != 0);
    unsigned slot = name_slot_for(enc, op.hash);
    if (TTS_LIKELY(enc->names[slot] == op.hash))
        return slot;
    if (!op.name) {
        op.name = enc->op(enc->ctx, op.hash);
        op.name_len = strnlen(op.name, TTS_OP_NAME_MAX);
    }
    /* The stored form of the name. Any other name with this hash has the same form. */
    char name[TTS_OP_NAME_MAX];
    size_t len = tts_opnames_copy(name, op.name, op.name_len);
    tts_recenc_push(enc, define_word(TTS_DEFINE_NAME, slot, (unsigned)len), 4);
    tts_recenc_bytes(enc, name, len);
    enc->names[slot] = op.hash;
    return slot;
}

/* --- ranges ----------------------------------------------------------------------------- */

static uint32_t pack(struct tts_core_range r)
{
    assert(r.x0 < TTS_GRID_SIDE_MAX && r.y0 < TTS_GRID_SIDE_MAX && r.x1 < TTS_GRID_SIDE_MAX &&
           r.y1 < TTS_GRID_SIDE_MAX);
    return r.x0 | (uint32_t)r.y0 << 8 | (uint32_t)r.x1 << 16 | (uint32_t)r.y1 << 24;
}

unsigned tts_recenc_use_ranges(struct tts_recenc *enc, const struct tts_core_range *ranges,
                               size_t count)
{
    assert(count >= 1 && count <= TTS_RANGES_MAX);
    uint32_t packed[TTS_RANGES_MAX];
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        packed[i] = pack(ranges[i]);
        hash = tts_checksum_step(hash, packed[i]);
    }
    unsigned slot = tts_checksum_value(hash, 0, 0) % TTS_REC_RANGES;
    struct tts_recenc_ranges *kept = &enc->ranges[slot];
    if (kept->serial && kept->count == count &&
        memcmp(kept->packed, packed, count * sizeof packed[0]) == 0)
        return slot;
    tts_recenc_push(enc, define_word(TTS_DEFINE_RANGES, slot, (unsigned)count), 4);
    for (size_t i = 0; i < count; i++)
        tts_recenc_push(enc, packed[i], sizeof packed[i]);
    kept->serial = ++enc->serial;
    kept->count = (uint32_t)count;
    memcpy(kept->packed, packed, count * sizeof packed[0]);
    return slot;
}

/* --- shapes ----------------------------------------------------------------------------- */

static bool is_same(const struct tts_recenc_shape *a, const struct tts_recenc_shape *b)
{
    return a->tag == b->tag && a->size_bytes == b->size_bytes && a->op_hash == b->op_hash &&
           a->bytes_per_bank == b->bytes_per_bank && a->block_bytes == b->block_bytes &&
           a->page_bytes == b->page_bytes && a->cores == b->cores && a->ranges == b->ranges;
}

static uint32_t hash_of(const struct tts_recenc_shape *shape)
{
    if (shape->tag & TTS_TAG_PLAIN)
        return tts_recenc_hash(shape->tag, shape->size_bytes, shape->op_hash);
    uint64_t hash = tts_checksum_step(shape->op_hash, shape->bytes_per_bank);
    hash = tts_checksum_step(hash, shape->block_bytes ^ shape->tag << 32);
    hash = tts_checksum_step(hash, shape->page_bytes ^ (uint64_t)shape->cores << 32);
    return tts_recenc_hash(shape->ranges, shape->size_bytes, hash);
}

/* Returns a slot for a new shape: the slot of the shape with the same hash, else an empty slot,
 * else a random slot. Random replacement works best for shapes that repeat in a cycle. */
static unsigned slot_for(struct tts_recenc *enc, uint32_t hash)
{
    unsigned slot = enc->shape_at[hash];
    if (enc->shapes[slot].tag != 0 && enc->shapes[slot].hash == hash)
        return slot;
    uint32_t count = enc->shape_count++;
    return count < TTS_REC_SHAPES ? count : count * UINT32_C(0x9e3779b1) >> 24;
}

static unsigned flags_of(const struct tts_recenc_shape *shape)
{
    unsigned flags = shape->tag >> TTS_TAG_KIND & 3;
    flags <<= TTS_SHAPE_KIND;
    if (shape->tag & TTS_TAG_ADDRESS)
        flags |= TTS_SHAPE_ADDRESS;
    if (shape->tag & TTS_TAG_BORROWED)
        flags |= TTS_SHAPE_BORROWED;
    if (shape->op_hash)
        flags |= TTS_SHAPE_OP;
    if (shape->bytes_per_bank || shape->block_bytes)
        flags |= TTS_SHAPE_BANKS;
    if (shape->page_bytes)
        flags |= TTS_SHAPE_REQUEST;
    if (shape->ranges)
        flags |= TTS_SHAPE_RANGES;
    return flags;
}

/* Writes the fields after the size. */
static void put_more(struct tts_recenc *enc, const struct tts_recenc_shape *shape,
                     unsigned ranges_slot, unsigned name_slot)
{
    if (shape->bytes_per_bank || shape->block_bytes) {
        tts_recenc_varint(enc, shape->bytes_per_bank);
        tts_recenc_varint(enc, shape->block_bytes);
    }
    if (shape->page_bytes) {
        tts_recenc_varint(enc, shape->page_bytes);
        tts_recenc_varint(enc, shape->cores);
    }
    if (shape->ranges)
        tts_recenc_byte(enc, ranges_slot);
    if (shape->op_hash)
        tts_recenc_byte(enc, name_slot);
}

static void define_shape(struct tts_recenc *enc, const struct tts_recenc_shape *shape,
                         unsigned slot, unsigned ranges_slot, unsigned name_slot)
{
    uint64_t head = define_word(TTS_DEFINE_SHAPE, slot, flags_of(shape));
    tts_recenc_push(enc, head | (shape->tag >> TTS_TAG_POOL & 0xff) << 32, 5);
    if (!(shape->tag & TTS_TAG_PLAIN) || shape->size_bytes >> 35) {
        tts_recenc_varint(enc, shape->size_bytes);
        put_more(enc, shape, ranges_slot, name_slot);
        return;
    }
    unsigned count;
    uint64_t word = tts_varint_word(shape->size_bytes, &count);
    if (shape->op_hash)
        word |= (uint64_t)name_slot << 8 * count++;
    tts_recenc_push(enc, word, count);
}

static void keep_shape(struct tts_recenc *enc, const struct tts_recenc_shape *shape,
                       unsigned slot, uint32_t hash)
{
    assert(slot < TTS_REC_SHAPES && hash < TTS_RECENC_HASHES);
    enc->shapes[slot] = *shape;
    enc->shapes[slot].hash = hash;
    enc->shape_at[hash] = (uint8_t)slot;
}

unsigned tts_recenc_use_shape(struct tts_recenc *enc, const struct tts_recenc_shape *shape,
                              unsigned ranges_slot, struct tts_item_op op)
{
    assert(shape->tag != 0 && shape->op_hash == op.hash);
    assert(shape->page_bytes || !shape->cores);
    uint32_t hash = hash_of(shape);
    unsigned slot = enc->shape_at[hash];
    if (TTS_LIKELY(is_same(&enc->shapes[slot], shape)))
        return slot;
    slot = slot_for(enc, hash);
    unsigned name_slot = op.hash ? tts_recenc_use_name(enc, op) : 0;
    define_shape(enc, shape, slot, ranges_slot, name_slot);
    keep_shape(enc, shape, slot, hash);
    return slot;
}
