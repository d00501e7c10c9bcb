/* recdec_inside.h: reads the fields of one record. Each function returns false after it has set
 * the error. The decoder changes only after a record was read completely. */
#pragma once

#include "model/recording/recdec.h"

struct tts_recdec_in {
    struct tts_recdec *dec;
    const unsigned char *at;
    uint64_t tick; /* time of the record */
    struct tts_error *err;
};

/* Set the error at the place `at` and return false. */
bool tts_recdec_refuse(const struct tts_recdec *dec, const unsigned char *at,
                       struct tts_error *err, const char *format, ...) TTS_PRINTF(4, 5);
bool tts_recdec_refuse_varint(const struct tts_recdec *dec, const unsigned char *at,
                              struct tts_error *err);
bool tts_recdec_refuse_end(const struct tts_recdec *dec, const unsigned char *at,
                           struct tts_error *err);

bool tts_recdec_byte(struct tts_recdec_in *in, unsigned *out);
bool tts_recdec_varint(struct tts_recdec_in *in, uint64_t *out);
/* Reads a number of at most `max`. `what` names it in the error. */
bool tts_recdec_bounded(struct tts_recdec_in *in, uint64_t max, const char *what,
                        uint64_t *out);
bool tts_recdec_bytes(struct tts_recdec_in *in, size_t count, const unsigned char **out);
/* Read the number of a defined slot. A shape is the shape of a buffer or of a part on cores. */
bool tts_recdec_shape(struct tts_recdec_in *in, bool is_buffer, unsigned *out);
bool tts_recdec_name(struct tts_recdec_in *in, unsigned *out);

/* Makes an item of this kind with all other fields 0. The second function makes and counts an
 * event. */
void tts_recdec_make_item(const struct tts_recdec *dec, enum tts_item_kind kind,
                          struct tts_item *out);
void tts_recdec_make_event(struct tts_recdec *dec, enum tts_event_kind kind,
                           struct tts_item *out);

/* Checks that the record `what` is inside or outside a keyframe, as required. */
bool tts_recdec_check_place(const struct tts_recdec_in *in, bool is_inside, const char *what);

/* These functions read a record after its first byte. */

/* Reads an event without fields. */
bool tts_recdec_bare(struct tts_recdec_in *in, enum tts_event_kind kind, struct tts_item *out);
/* Reads a definition. Sets *is_name if it defines the name `slot`. */
bool tts_recdec_define(struct tts_recdec_in *in, bool *is_name, unsigned *slot);
bool tts_recdec_mark(struct tts_recdec_in *in, struct tts_item *out);
bool tts_recdec_live(struct tts_recdec_in *in, struct tts_item *out);
/* Reads any record except an alloc, a free or a definition. */
bool tts_recdec_rare(struct tts_recdec_in *in, unsigned code, struct tts_item *out);
