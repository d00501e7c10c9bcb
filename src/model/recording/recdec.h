/* recdec.h: decodes the payload of a block into items. The bytes are not trusted: any bytes
 * give items or an error with its place. The reader of the block verifies the checksum before.
 * Caller's memory, about 200 KiB. One thread. */
#pragma once

#include "model/item.h"
#include "model/recording/reccode.h"
#include "model/recording/recformat.h"

/* The last definition of a slot. A shape is an event without device, id and address. */
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
    /* Whether a slot is defined. */
    bool has_shape[TTS_REC_SHAPES], has_name[TTS_REC_NAMES], has_ranges[TTS_REC_RANGES];
    struct tts_recdec_shape shapes[TTS_REC_SHAPES];
    struct tts_item_op names[TTS_REC_NAMES]; /* texts are in the payload */
    struct tts_recdec_ranges ranges[TTS_REC_RANGES];
    /* A shape keeps its ranges when the slot of the ranges is redefined. */
    struct tts_core_range shape_ranges[TTS_REC_SHAPES][TTS_RANGES_MAX];
};

/* Starts a block. `payload` is borrowed until the last item. Each block is decoded
 * independently. */
void tts_recdec_begin(struct tts_recdec *dec, const struct tts_rec_block *block,
                      const unsigned char *payload, size_t len);

/* Reads the next item (item.h). Sets *tick instead of time_ns. TTS_E_SYNTAX: damaged;
 * err->offset is the byte in the payload. Events are valid by tts_event_check(). A FREE of a
 * seen buffer does not contain its pool: it is set to DRAM, without sizes. */
TTS_NODISCARD enum tts_status tts_recdec_next(struct tts_recdec *dec, struct tts_item *out,
                                              uint64_t *tick, struct tts_error *err);
