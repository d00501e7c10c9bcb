/* recenc.h: items into the payload of one block after the other (docs/design/recording.md).
 * Every item is committed when the call returns. Caller's memory, some 40 KiB; nothing is
 * allocated and no system call made. One thread at a time. */
#pragma once

#include "base/checksum.h"
#include "model/item.h"
#include "model/recording/reccode.h"

/* Of an item, with all that has to be defined for it. */
enum { TTS_RECENC_ITEM_MAX = 2048, TTS_RECENC_HASHES = 4096 };

/* The text of an operation that an item names by its hash alone. Never NULL. */
typedef const char *(*tts_recenc_op_fn)(void *ctx, uint64_t op_hash);

/* What was defined last in a slot. */
struct tts_recenc_shape {
    uint64_t tag; /* kind, flags, pool and placement; 0: nothing */
    uint64_t size_bytes, op_hash;
    uint64_t bytes_per_bank, block_bytes, page_bytes;
    uint32_t cores;
    uint32_t ranges; /* the serial of their definition; 0: none */
    uint32_t hash;   /* where shape_at has its slot */
};
struct tts_recenc_ranges {
    uint32_t serial; /* 0: nothing */
    uint32_t count;
    uint32_t packed[TTS_RANGES_MAX];
};

struct tts_recenc {
    /* The writer's: */
    unsigned char *payload, *at, *end; /* end leaves room for one item more */
    uint64_t *commit;                  /* of the block's header */
    struct tts_checksum check;
    uint64_t rest; /* the bytes behind the last whole word */
    uint64_t tick, id, address, live_id, live_seq;
    uint32_t device, serial;
    /* The caller's, before the first item: */
    tts_recenc_op_fn op;
    void *ctx;
    /* What the block has in its slots. A shape is found by its hash; there are many more of
     * these than slots, so that few shapes fight for one. */
    struct tts_recenc_shape shapes[TTS_REC_SHAPES];
    uint8_t shape_at[TTS_RECENC_HASHES];
    uint32_t shape_count;          /* definitions */
    uint64_t names[TTS_REC_NAMES]; /* hashes; 0: nothing */
    struct tts_recenc_ranges ranges[TTS_REC_RANGES];
};

/* Starts a block: `payload` of `capacity` bytes (TTS_RECENC_ITEM_MAX at least), its commit,
 * which is set for no bytes, and the time units at its begin. Bytes of the payload behind the
 * commit are written and mean nothing. */
void tts_recenc_begin(struct tts_recenc *enc, unsigned char *payload, size_t capacity,
                      uint64_t *commit, uint64_t block_number, uint64_t tick);

/* Appends an item that tts_event_check() passes, at `tick` (an earlier one counts as the last).
 * Operations: item->op.hash is enough; of a NAME the text is needed, and one that the block has
 * is not written again. False: the block may have no room; nothing was written.
 * `is_unseen`: a FREE of a buffer that is not in the ledger. */
bool tts_recenc_item(struct tts_recenc *enc, const struct tts_item *item, bool is_unseen,
                     uint64_t tick);

/* The same for the common case: a buffer in DRAM or TRACE, address and request not known. */
bool tts_recenc_alloc(struct tts_recenc *enc, uint32_t device, enum tts_pool pool, uint64_t id,
                      uint64_t size_bytes, uint64_t op_hash, uint64_t tick);
bool tts_recenc_free(struct tts_recenc *enc, uint32_t device, uint64_t id, uint64_t tick);

/* Bytes of payload in use. */
static inline size_t tts_recenc_used(const struct tts_recenc *enc)
{
    return (size_t)(enc->at - enc->payload);
}
