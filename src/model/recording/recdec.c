#include "model/recording/recdec_inside.h"

#include "base/error.h"
#include "model/fold.h"

#include <assert.h>
#include <inttypes.h>

void tts_recdec_begin(struct tts_recdec *dec, const struct tts_rec_block *block,
                      const unsigned char *payload, size_t len)
{
    assert(payload || len == 0);
    dec->payload = dec->at = payload;
    dec->end = payload + len;
    dec->block = *block;
    dec->tick = block->tick;
    dec->seq = block->seq;
    dec->id = dec->address = dec->live_id = dec->live_seq = 0;
    dec->device = 0;
    dec->in_keyframe = block->in_keyframe;
    memset(dec->has_shape, 0, sizeof dec->has_shape);
    memset(dec->has_name, 0, sizeof dec->has_name);
    memset(dec->has_ranges, 0, sizeof dec->has_ranges);
}

/* --- the common case -------------------------------------------------------------------- */

/* Each function of this section is compiled twice. The version with `is_quick` accepts only the
 * most frequent forms, calls no function and sets no error. If this version refuses a record,
 * the other version reads the record again. The other version accepts every form and sets the
 * error. */

/* Reads the time that follows the first byte. */
static TTS_FORCE_INLINE bool read_time(struct tts_recdec_in *in, unsigned nibble, bool is_quick)
{
    const struct tts_recdec *dec = in->dec;
    const unsigned char *at = in->at;
    uint64_t since = nibble;
    if (nibble > TTS_TIME_SHORT) {
        ptrdiff_t left = dec->end - at, need = nibble - TTS_TIME_SHORT;
        if (TTS_UNLIKELY(nibble == TTS_TIME_VARINT)) {
            if (is_quick || !tts_recdec_varint(in, &since))
                return false;
        } else {
            if (TTS_UNLIKELY(left < need))
                return is_quick ? false : tts_recdec_refuse_end(dec, at, in->err);
            since = need == 1 ? (uint64_t)at[0] + TTS_TIME_BYTE
                              : (at[0] | (uint64_t)at[1] << 8) + TTS_TIME_TWO_FROM;
            in->at = at + need;
        }
    }
    in->tick = dec->tick + since;
    if (TTS_UNLIKELY(in->tick < since))
        return is_quick ? false
                        : tts_recdec_refuse(
                              dec, at, in->err,
                              "damaged record: the time of the record does not fit in 64 bits");
    return true;
}

static TTS_FORCE_INLINE bool read_varint(struct tts_recdec_in *in, uint64_t *out, bool is_quick)
{
    if (!is_quick)
        return tts_recdec_varint(in, out);
    const unsigned char *at = tts_varint_get_quick(in->at, in->dec->end, out);
    in->at = at;
    return at;
}

static TTS_FORCE_INLINE bool read_buffer(struct tts_recdec_in *in, unsigned *slot,
                                         bool is_quick)
{
    if (!is_quick)
        return tts_recdec_shape(in, true, slot);
    const struct tts_recdec *dec = in->dec;
    if (TTS_UNLIKELY(in->at == dec->end))
        return false;
    *slot = *in->at++;
    return dec->has_shape[*slot] && dec->shapes[*slot].event.kind == TTS_EVENT_ALLOC;
}

/* Fills the fields of an item that all events have. */
static TTS_FORCE_INLINE void make_event(struct tts_recdec *dec, struct tts_item *out)
{
    out->kind = TTS_ITEM_EVENT;
    out->seq = ++dec->seq;
    out->has_time = false;
    out->thread = 0;
}

/* Explains why read_alloc() refuses a buffer. */
TTS_COLD static bool refuse_buffer(struct tts_recdec_in *in, const unsigned char *begin,
                                   uint64_t size_bytes, uint64_t address)
{
    if (size_bytes == 0)
        return tts_recdec_refuse(in->dec, begin, in->err,
                                 "damaged record: the size of a buffer is 0 bytes");
    return tts_recdec_refuse(in->dec, begin, in->err,
                             "damaged record: a buffer has the address %" PRIu64
                             ", but the maximum is 2^62",
                             address);
}

static TTS_FORCE_INLINE bool read_alloc(struct tts_recdec_in *in, bool has_id,
                                        struct tts_item *out, bool is_quick)
{
    struct tts_recdec *dec = in->dec;
    const unsigned char *begin = in->at;
    unsigned slot;
    uint64_t step = tts_zigzag(1), away = 0;
    if (!read_buffer(in, &slot, is_quick) || (has_id && !read_varint(in, &step, is_quick)))
        return false;
    const struct tts_recdec_shape *shape = &dec->shapes[slot];
    bool has_address = shape->event.has_address;
    if (has_address && !read_varint(in, &away, is_quick))
        return false;
    uint64_t address = dec->address + tts_unzigzag(away);
    if (TTS_UNLIKELY(shape->event.size_bytes == 0 || address > TTS_EVENT_BYTES_MAX))
        return is_quick ? false : refuse_buffer(in, begin, shape->event.size_bytes, address);
    dec->id += tts_unzigzag(step);
    dec->address = address;
    make_event(dec, out);
    out->event = shape->event;
    out->event.device = dec->device;
    out->event.id = dec->id;
    out->event.address = has_address ? address : 0;
    out->op = shape->op;
    return true;
}

static TTS_FORCE_INLINE bool read_free(struct tts_recdec_in *in, struct tts_item *out,
                                       bool is_quick)
{
    struct tts_recdec *dec = in->dec;
    uint64_t back;
    if (!read_varint(in, &back, is_quick))
        return false;
    make_event(dec, out);
    out->event = tts_event_of(TTS_EVENT_FREE, dec->device);
    out->event.id = dec->id - back;
    out->op = (struct tts_item_op){.hash = 0};
    return true;
}

static TTS_FORCE_INLINE bool read_event(struct tts_recdec_in *in, unsigned code,
                                        struct tts_item *out, bool is_quick)
{
    if (TTS_UNLIKELY(in->dec->in_keyframe))
        return is_quick ? false
                        : tts_recdec_refuse(in->dec, in->dec->at, in->err,
                                            "damaged record: an event is inside a keyframe");
    if (code == TTS_RECORD_FREE)
        return read_free(in, out, is_quick);
    return read_alloc(in, code == TTS_RECORD_ALLOC_ID, out, is_quick);
}

/* --- records ---------------------------------------------------------------------------- */

static void finish(struct tts_recdec *dec, const struct tts_recdec_in *in, uint64_t *tick)
{
    assert(in->at > dec->at && in->at <= dec->end);
    dec->at = in->at;
    *tick = dec->tick = in->tick;
}

/* Reads one record. Sets *is_item if the record produced an item. */
static bool read_record(struct tts_recdec_in *in, struct tts_item *out, bool *is_item)
{
    struct tts_recdec *dec = in->dec;
    unsigned head = *in->at++, code = head & 15, slot = 0;
    *is_item = true;
    if (!read_time(in, head >> 4, false))
        return false;
    if (code >= TTS_RECORD_ALLOC && code <= TTS_RECORD_FREE)
        return read_event(in, code, out, false);
    if (code != TTS_RECORD_DEFINE)
        return tts_recdec_rare(in, code, out);
    if (!tts_recdec_define(in, is_item, &slot))
        return false;
    if (*is_item)
        *out =
            (struct tts_item){.kind = TTS_ITEM_NAME, .seq = dec->seq, .op = dec->names[slot]};
    return true;
}

static TTS_NOINLINE enum tts_status next_of_any(struct tts_recdec *dec, struct tts_item *out,
                                                uint64_t *tick, struct tts_error *err)
{
    for (bool is_item = false; !is_item;) {
        if (dec->at == dec->end)
            return TTS_E_NOT_FOUND;
        struct tts_recdec_in in = {dec, dec->at, 0, err};
        if (!read_record(&in, out, &is_item))
            return TTS_E_SYNTAX;
        finish(dec, &in, tick);
    }
    return TTS_OK;
}

enum tts_status tts_recdec_next(struct tts_recdec *dec, struct tts_item *out, uint64_t *tick,
                                struct tts_error *err)
{
    if (TTS_UNLIKELY(dec->at == dec->end))
        return TTS_E_NOT_FOUND;
    struct tts_recdec_in in = {dec, dec->at + 1, 0, err};
    unsigned head = *dec->at, code = head & 15;
    bool is_common = code >= TTS_RECORD_ALLOC && code <= TTS_RECORD_FREE;
    if (TTS_UNLIKELY(!is_common || !read_time(&in, head >> 4, true) ||
                     !read_event(&in, code, out, true)))
        return next_of_any(dec, out, tick, err);
    finish(dec, &in, tick);
    return TTS_OK;
}
