/* recdec_inside.h: reading the fields of one record. Each says no after it filled in the error;
 * nothing of the decoder changes but by a record that was read to its end. */
#pragma once

#include "model/recording/recdec.h"

struct tts_recdec_in {
    struct tts_recdec *dec;
    const unsigned char *at;
    uint64_t tick; /* of the record */
    struct tts_error *err;
};

/* Fill in the error, with the place `at`, and return false. */
bool tts_recdec_refuse(const struct tts_recdec *dec, const unsigned char *at,
                       struct tts_error *err, const char *format, ...) TTS_PRINTF(4, 5);
bool tts_recdec_refuse_varint(const struct tts_recdec *dec, const unsigned char *at,
                              struct tts_error *err);
bool tts_recdec_refuse_end(const struct tts_recdec *dec, const unsigned char *at,
                           struct tts_error *err);

bool tts_recdec_byte(struct tts_recdec_in *in, unsigned *out);
bool tts_recdec_varint(struct tts_recdec_in *in, uint64_t *out);
/* One that is at most `max`; `what` it is. */
bool tts_recdec_bounded(struct tts_recdec_in *in, uint64_t max, const char *what,
                        uint64_t *out);
bool tts_recdec_bytes(struct tts_recdec_in *in, size_t count, const unsigned char **out);
/* Slots that have something; the shape is that of a buffer, or of what is on cores. */
bool tts_recdec_shape(struct tts_recdec_in *in, bool is_buffer, unsigned *out);
bool tts_recdec_name(struct tts_recdec_in *in, unsigned *out);

/* An item of the kind, with all else 0; and an event, which is counted. */
void tts_recdec_make_item(const struct tts_recdec *dec, enum tts_item_kind kind,
                          struct tts_item *out);
void tts_recdec_make_event(struct tts_recdec *dec, enum tts_event_kind kind,
                           struct tts_item *out);

/* Whether `what`, the record, is where it belongs: inside a keyframe or outside. */
bool tts_recdec_check_place(const struct tts_recdec_in *in, bool is_inside, const char *what);

/* Records behind their first byte. */

/* An event without fields. */
bool tts_recdec_bare(struct tts_recdec_in *in, enum tts_event_kind kind, struct tts_item *out);
/* *is_name: of a name, in `slot`. */
bool tts_recdec_define(struct tts_recdec_in *in, bool *is_name, unsigned *slot);
bool tts_recdec_mark(struct tts_recdec_in *in, struct tts_item *out);
bool tts_recdec_live(struct tts_recdec_in *in, struct tts_item *out);
/* Any but an alloc, a free or a definition. */
bool tts_recdec_rare(struct tts_recdec_in *in, unsigned code, struct tts_item *out);
