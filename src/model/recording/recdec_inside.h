/* recdec_inside.h: reads the fields of one record. If a function fails, it sets the error and
 * returns false. The decoder changes only after a record was read completely. */
#pragma once

#include "model/recording/recdec.h"

struct tts_recdec_in {
    struct tts_recdec *dec;
    const unsigned char *at;
    uint64_t tick; /* time of the record */
    struct tts_error *err;
};

/* Both functions set the error at the place `at` and return false. */
bool tts_recdec_refuse(const struct tts_recdec *dec, const unsigned char *at,
                       struct tts_error *err, const char *format, ...) TTS_PRINTF(4, 5);
bool tts_recdec_refuse_varint(const struct tts_recdec *dec, const unsigned char *at,
                              struct tts_error *err);
bool tts_recdec_refuse_end(const struct tts_recdec *dec, const unsigned char *at,
                           struct tts_error *err);

bool tts_recdec_byte(struct tts_recdec_in *in, unsigned *out);
bool tts_recdec_varint(struct tts_recdec_in *in, uint64_t *out);
/* Reads a number of at most `max`. `what` is the name of the number in the error. */
bool tts_recdec_bounded(struct tts_recdec_in *in, uint64_t max, const char *what,
                        uint64_t *out);
bool tts_recdec_bytes(struct tts_recdec_in *in, size_t count, const unsigned char **out);
/* tts_recdec_shape() reads the number of a defined shape, which is the shape of a buffer or of
 * a program part. tts_recdec_name() reads the number of a defined name. */
bool tts_recdec_shape(struct tts_recdec_in *in, bool is_buffer, unsigned *out);
bool tts_recdec_name(struct tts_recdec_in *in, unsigned *out);

/* tts_recdec_make_item() makes an item of this kind with all other fields 0.
 * tts_recdec_make_event() makes an item of kind EVENT and counts the event. */
void tts_recdec_make_item(const struct tts_recdec *dec, enum tts_item_kind kind,
                          struct tts_item *out);
void tts_recdec_make_event(struct tts_recdec *dec, enum tts_event_kind kind,
                           struct tts_item *out);

/* Checks that the record `what` is inside or outside a keyframe, as required. */
bool tts_recdec_check_place(const struct tts_recdec_in *in, bool is_inside, const char *what);

/* These functions read a record after its first byte. */

/* Reads an event that has no fields. */
bool tts_recdec_bare(struct tts_recdec_in *in, enum tts_event_kind kind, struct tts_item *out);
/* Reads a definition of a slot. Sets *is_name, and *slot to the number of the slot, if the
 * definition is a name. */
bool tts_recdec_define(struct tts_recdec_in *in, bool *is_name, unsigned *slot);
bool tts_recdec_mark(struct tts_recdec_in *in, struct tts_item *out);
bool tts_recdec_live(struct tts_recdec_in *in, struct tts_item *out);
/* Reads any record except an alloc, a free or a definition. */
bool tts_recdec_rare(struct tts_recdec_in *in, unsigned code, struct tts_item *out);
