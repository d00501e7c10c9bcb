/* recenc.h: encodes items into the payload of block after block (docs/design/recording.md).
 * When a call returns, the item is committed: readers see it. The caller owns the struct, which
 * has about 40 KiB. Allocates nothing and makes no system call. One thread at a time. */
#pragma once

#include "base/checksum.h"
#include "model/item.h"
#include "model/recording/reccode.h"

/* Largest size of an item with all its definitions. */
enum { TTS_RECENC_ITEM_MAX = 2048, TTS_RECENC_HASHES = 4096 };

/* Returns the text of the operation with this hash, never NULL. */
typedef const char *(*tts_recenc_op_fn)(void *ctx, uint64_t op_hash);

/* The last definition of a slot for shapes. A shape is an event without device, id and address.
 * A block defines each shape once, and records refer to the slot. */
struct tts_recenc_shape {
    uint64_t tag; /* kind, flags, pool and placement; 0 if the slot is empty */
    uint64_t size_bytes, op_hash;
    uint64_t bytes_per_bank, block_bytes, page_bytes;
    uint32_t cores;
    uint32_t ranges; /* serial number of the definition of the ranges; 0 if there are none */
    uint32_t hash;   /* index in shape_at that refers to this slot */
};
struct tts_recenc_ranges {
    uint32_t serial; /* serial number of this definition; 0 if the slot is empty */
    uint32_t count;
    uint32_t packed[TTS_RANGES_MAX];
};

struct tts_recenc {
    /* Set by the encoder. */
    unsigned char *payload, *at, *end; /* `end` leaves room for one more item */
    uint64_t *commit;                  /* commit word in the header of the block */
    struct tts_checksum check;
    uint64_t rest; /* bytes after the last whole word of the checksum */
    uint64_t tick, id, address, live_id, live_seq;
    uint32_t device, serial;
    /* Set by the caller before the first item. */
    tts_recenc_op_fn op;
    void *ctx;
    /* The slots of the block. shape_at finds the slot of a shape by its hash. It has many more
     * entries than there are slots, so that few shapes share an entry. */
    struct tts_recenc_shape shapes[TTS_REC_SHAPES];
    uint8_t shape_at[TTS_RECENC_HASHES];
    uint32_t shape_count;          /* number of definitions */
    uint64_t names[TTS_REC_NAMES]; /* hashes of the names; 0 if the slot is empty */
    struct tts_recenc_ranges ranges[TTS_REC_RANGES];
};

/* Starts a block. `payload` has `capacity` bytes, at least TTS_RECENC_ITEM_MAX. Sets *commit to
 * the commit word of an empty payload. `tick` is the time at the beginning of the block.
 * Payload bytes after the committed bytes are undefined. */
void tts_recenc_begin(struct tts_recenc *enc, unsigned char *payload, size_t capacity,
                      uint64_t *commit, uint64_t block_number, uint64_t tick);

/* Appends an item that tts_event_check() accepts, at `tick`. If `tick` is before the last tick,
 * the last tick is used. item->op.hash identifies the operation. A NAME also needs the text,
 * and is not written if the block has the name already. `is_unseen` is true for a FREE of a
 * buffer that is not in the ledger. Returns false if the block may have no room; nothing is
 * written then. */
bool tts_recenc_item(struct tts_recenc *enc, const struct tts_item *item, bool is_unseen,
                     uint64_t tick);

/* Like tts_recenc_item(), for the common case: a buffer in DRAM or TRACE whose address and
 * request are unknown. */
bool tts_recenc_alloc(struct tts_recenc *enc, uint32_t device, enum tts_pool pool, uint64_t id,
                      uint64_t size_bytes, uint64_t op_hash, uint64_t tick);
bool tts_recenc_free(struct tts_recenc *enc, uint32_t device, uint64_t id, uint64_t tick);

/* Returns the number of used bytes of the payload. */
static inline size_t tts_recenc_used(const struct tts_recenc *enc)
{
    return (size_t)(enc->at - enc->payload);
}
