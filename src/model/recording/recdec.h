/* recdec.h: decodes the payload of a block of a recording into items. The bytes are not
 * trusted: any bytes give items or an error with its place. The reader of the block has
 * verified the checksum. The caller owns the struct, which has about 200 KiB. One thread at a
 * time. */
#pragma once

#include "model/item.h"
#include "model/recording/reccode.h"
#include "model/recording/recformat.h"

/* A block defines shapes, names and ranges in numbered slots, and records refer to them by the
 * number of the slot. A shape is an event without device, id and address. This is the last
 * definition of a slot for shapes. */
struct tts_recdec_shape {
    struct tts_event event;
    struct tts_item_op op;
};
struct tts_recdec_ranges {
    size_t count;
    const unsigned char *bytes; /* borrowed from the payload */
};

struct tts_recdec {
    const unsigned char *payload, *at, *end;
    struct tts_rec_block block;
    uint64_t tick, seq, id, address, live_id, live_seq;
    uint32_t device;
    bool in_keyframe;
    struct tts_failure failure;
    struct tts_sample sample; /* of the last item of this kind */
    /* Whether each slot is defined. */
    bool has_shape[TTS_REC_SHAPES], has_name[TTS_REC_NAMES], has_ranges[TTS_REC_RANGES];
    struct tts_recdec_shape shapes[TTS_REC_SHAPES];
    struct tts_item_op names[TTS_REC_NAMES]; /* texts are in the payload */
    struct tts_recdec_ranges ranges[TTS_REC_RANGES];
    /* The ranges of each shape. They stay the same when their slot is defined again. */
    struct tts_core_range shape_ranges[TTS_REC_SHAPES][TTS_RANGES_MAX];
};

/* Starts a block. `payload` is borrowed until the last item. Each block is decoded
 * independently. */
void tts_recdec_begin(struct tts_recdec *dec, const struct tts_rec_block *block,
                      const unsigned char *payload, size_t len);

/* Reads the next item (item.h). Sets *tick instead of time_ns. Returns TTS_E_SYNTAX if the
 * payload is damaged; err->offset is the offset of the byte in the payload. tts_event_check()
 * accepts all returned events. A FREE of a buffer that the recorder knew does not contain the
 * pool and sizes; the pool is set to DRAM and the sizes to 0. */
TTS_NODISCARD enum tts_status tts_recdec_next(struct tts_recdec *dec, struct tts_item *out,
                                              uint64_t *tick, struct tts_error *err);
