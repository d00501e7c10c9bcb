/* recdec.h: the payload of a block back into items.
 * The bytes are foreign: whatever they are, an item or a located error comes out. Whether they
 * are the ones that were written is for who reads the block to check first. Caller's memory,
 * some 200 KiB. One thread. */
#pragma once

#include "model/item.h"
#include "model/recording/reccode.h"
#include "model/recording/recformat.h"

/* What was defined last in a slot. A shape is an event without its device, id and address. */
struct tts_recdec_shape {
    struct tts_event event;
    struct tts_item_op op;
};
struct tts_recdec_ranges {
    size_t count;
    const unsigned char *bytes; /* in the payload */
};

struct tts_recdec {
    const unsigned char *payload, *at, *end;
    struct tts_rec_block block;
    uint64_t tick, seq, id, address, live_id, live_seq;
    uint32_t device;
    bool in_keyframe;
    struct tts_failure failure;
    /* Which slots have something: */
    bool has_shape[TTS_REC_SHAPES], has_name[TTS_REC_NAMES], has_ranges[TTS_REC_RANGES];
    struct tts_recdec_shape shapes[TTS_REC_SHAPES];
    struct tts_item_op names[TTS_REC_NAMES]; /* texts are in the payload */
    struct tts_recdec_ranges ranges[TTS_REC_RANGES];
    /* A shape keeps its ranges when their slot is defined anew. */
    struct tts_core_range shape_ranges[TTS_REC_SHAPES][TTS_RANGES_MAX];
};

/* `payload` is borrowed until the last item. Nothing of a block before is needed, nor kept. */
void tts_recdec_begin(struct tts_recdec *dec, const struct tts_rec_block *block,
                      const unsigned char *payload, size_t len);

/* As item.h says; time_ns is not filled in, *tick is. TTS_E_SYNTAX: damaged; err->offset is the
 * byte of the payload. Events are checked by tts_event_check(). The pool of a FREE that was
 * seen is not known; it is DRAM, with no sizes. */
TTS_NODISCARD enum tts_status tts_recdec_next(struct tts_recdec *dec, struct tts_item *out,
                                              uint64_t *tick, struct tts_error *err);
