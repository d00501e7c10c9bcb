#include "model/recording/recdec_inside.h"

#include "base/error.h"
#include "model/fold.h"
#include "model/opnames.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* --- errors ----------------------------------------------------------------------------- */

TTS_COLD bool tts_recdec_refuse(const struct tts_recdec *dec, const unsigned char *at,
                                struct tts_error *err, const char *format, ...)
{
    assert(at >= dec->payload && at <= dec->end);
    if (!err)
        return false;
    va_list args;
    va_start(args, format);
    char text[sizeof err->text];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tts_error_set(err, TTS_E_SYNTAX, "%s", text);
    err->offset = (uint64_t)(at - dec->payload);
    return false;
}

TTS_COLD bool tts_recdec_refuse_end(const struct tts_recdec *dec, const unsigned char *at,
                                    struct tts_error *err)
{
    return tts_recdec_refuse(dec, at, err,
                             "damaged record: the record is longer than the rest of the block");
}

TTS_COLD bool tts_recdec_refuse_varint(const struct tts_recdec *dec, const unsigned char *at,
                                       struct tts_error *err)
{
    const unsigned char *last = at;
    while (last < dec->end && *last >= 0x80 && last - at < TTS_VARINT_MAX)
        last++;
    if (last == dec->end)
        return tts_recdec_refuse_end(dec, last, err);
    return tts_recdec_refuse(dec, at, err, "damaged record: a number does not fit in 64 bits");
}

/* --- fields ----------------------------------------------------------------------------- */

const unsigned char *tts_varint_get(const unsigned char *at, const unsigned char *end,
                                    uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; at < end && shift < 7 * TTS_VARINT_MAX; shift += 7) {
        uint64_t byte = *at++;
        if (shift == 63 && byte > 1)
            return NULL;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = value;
            return at;
        }
    }
    return NULL;
}

bool tts_recdec_byte(struct tts_recdec_in *in, unsigned *out)
{
    if (in->at == in->dec->end)
        return tts_recdec_refuse_end(in->dec, in->at, in->err);
    *out = *in->at++;
    return true;
}

bool tts_recdec_varint(struct tts_recdec_in *in, uint64_t *out)
{
    const unsigned char *at = tts_varint_get(in->at, in->dec->end, out);
    if (!at)
        return tts_recdec_refuse_varint(in->dec, in->at, in->err);
    in->at = at;
    return true;
}

bool tts_recdec_bounded(struct tts_recdec_in *in, uint64_t max, const char *what, uint64_t *out)
{
    const unsigned char *begin = in->at;
    if (!tts_recdec_varint(in, out))
        return false;
    if (*out > max)
        return tts_recdec_refuse(
            in->dec, begin, in->err,
            "damaged record: %s is %" PRIu64 ", but the maximum is %" PRIu64, what, *out, max);
    return true;
}

bool tts_recdec_bytes(struct tts_recdec_in *in, size_t count, const unsigned char **out)
{
    if ((size_t)(in->dec->end - in->at) < count)
        return tts_recdec_refuse_end(in->dec, in->at, in->err);
    *out = in->at;
    in->at += count;
    return true;
}

/* Reads the number of a defined slot of a table with `count` slots. */
static bool read_slot(struct tts_recdec_in *in, const bool *has, unsigned count,
                      const char *what, unsigned *out)
{
    const unsigned char *begin = in->at;
    if (!tts_recdec_byte(in, out))
        return false;
    if (*out >= count || !has[*out])
        return tts_recdec_refuse(in->dec, begin, in->err,
                                 "damaged record: %s %u is used but not defined", what, *out);
    return true;
}

bool tts_recdec_shape(struct tts_recdec_in *in, bool is_buffer, unsigned *out)
{
    const unsigned char *begin = in->at;
    if (!read_slot(in, in->dec->has_shape, TTS_REC_SHAPES, "event shape", out))
        return false;
    if ((in->dec->shapes[*out].event.kind == TTS_EVENT_ALLOC) != is_buffer)
        return tts_recdec_refuse(in->dec, begin, in->err,
                                 is_buffer
                                     ? "damaged record: an allocation or a live buffer uses "
                                       "event shape %u, which is not for buffers"
                                     : "damaged record: an event without a buffer uses event "
                                       "shape %u, which is for buffers",
                                 *out);
    return true;
}

bool tts_recdec_name(struct tts_recdec_in *in, unsigned *out)
{
    return read_slot(in, in->dec->has_name, TTS_REC_NAMES, "name", out);
}

/* --- definitions ------------------------------------------------------------------------ */

static bool define_name(struct tts_recdec_in *in, unsigned *slot)
{
    unsigned len;
    const unsigned char *begin, *text;
    if (!tts_recdec_byte(in, slot))
        return false;
    begin = in->at;
    if (!tts_recdec_byte(in, &len))
        return false;
    if (len > TTS_OP_NAME_MAX)
        return tts_recdec_refuse(in->dec, begin, in->err,
                                 "damaged record: a name has %u bytes, but the maximum is %d",
                                 len, TTS_OP_NAME_MAX);
    if (!tts_recdec_bytes(in, len, &text))
        return false;
    in->dec->names[*slot] = (struct tts_item_op){
        .hash = tts_opnames_hash((const char *)text, len),
        .name = (const char *)text,
        .name_len = len,
    };
    in->dec->has_name[*slot] = true;
    return true;
}

static bool define_ranges(struct tts_recdec_in *in)
{
    const unsigned char *begin = in->at, *bytes;
    unsigned slot, count;
    if (!tts_recdec_byte(in, &slot) || !tts_recdec_byte(in, &count))
        return false;
    if (slot >= TTS_REC_RANGES || count == 0 || count > TTS_RANGES_MAX)
        return tts_recdec_refuse(
            in->dec, begin, in->err,
            "damaged record: core-range set %u has %u ranges, expected a set "
            "number below %d and 1 to %d ranges",
            slot, count, TTS_REC_RANGES, TTS_RANGES_MAX);
    if (!tts_recdec_bytes(in, 4 * (size_t)count, &bytes))
        return false;
    in->dec->ranges[slot] = (struct tts_recdec_ranges){count, bytes};
    in->dec->has_ranges[slot] = true;
    return true;
}

/* A shape that has not been checked yet. */
struct draft {
    struct tts_event event;
    struct tts_item_op op;
    struct tts_core_range ranges[TTS_RANGES_MAX];
};

static bool read_sizes(struct tts_recdec_in *in, unsigned flags, struct tts_event *event)
{
    uint64_t cores = 0;
    if (!tts_recdec_varint(in, &event->size_bytes))
        return false;
    if (flags & TTS_SHAPE_BANKS && (!tts_recdec_varint(in, &event->bytes_per_bank) ||
                                    !tts_recdec_varint(in, &event->block_bytes)))
        return false;
    if (flags & TTS_SHAPE_REQUEST &&
        (!tts_recdec_varint(in, &event->page_bytes) ||
         !tts_recdec_bounded(in, TTS_CORES_MAX, "number of cores", &cores)))
        return false;
    event->cores = (uint32_t)cores;
    return true;
}

static bool read_ranges(struct tts_recdec_in *in, struct draft *draft)
{
    unsigned slot;
    if (!read_slot(in, in->dec->has_ranges, TTS_REC_RANGES, "ranges", &slot))
        return false;
    const struct tts_recdec_ranges *ranges = &in->dec->ranges[slot];
    const unsigned char *at = ranges->bytes;
    for (size_t i = 0; i < ranges->count; i++, at += 4)
        draft->ranges[i] = (struct tts_core_range){at[0], at[1], at[2], at[3]};
    draft->event.ranges = draft->ranges;
    draft->event.range_count = ranges->count;
    return true;
}

static bool read_draft(struct tts_recdec_in *in, struct draft *draft)
{
    unsigned flags, pool, name;
    if (!tts_recdec_byte(in, &flags) || !tts_recdec_byte(in, &pool))
        return false;
    unsigned kind = flags >> TTS_SHAPE_KIND;
    draft->event.kind =
        kind == 0 ? TTS_EVENT_ALLOC : (enum tts_event_kind)(TTS_EVENT_CB + kind - 1);
    draft->event.pool = (enum tts_pool)(pool & 15);
    draft->event.placement = (enum tts_placement)(pool >> 4);
    draft->event.has_address = flags & TTS_SHAPE_ADDRESS;
    draft->event.borrowed = flags & TTS_SHAPE_BORROWED;
    if (!read_sizes(in, flags, &draft->event))
        return false;
    if (flags & TTS_SHAPE_RANGES && !read_ranges(in, draft))
        return false;
    if (flags & TTS_SHAPE_OP) {
        if (!tts_recdec_name(in, &name))
            return false;
        draft->op = in->dec->names[name];
    }
    return true;
}

/* Returns whether the event has a field that no event of its kind can have. */
static bool is_odd(const struct tts_event *event)
{
    bool has_request = event->placement != TTS_PLACE_DEFAULT || event->cores != 0;
    if (event->kind == TTS_EVENT_ALLOC)
        return event->borrowed || (has_request && event->page_bytes == 0);
    return event->pool != 0 || event->bytes_per_bank || event->block_bytes ||
           event->page_bytes || has_request || event->has_address ||
           (event->borrowed && event->kind == TTS_EVENT_SCRATCHPAD);
}

/* Reads the definition of a shape. Checks its event here, once for all events with this
 * shape. */
static bool define_shape(struct tts_recdec_in *in)
{
    struct tts_recdec *dec = in->dec;
    const unsigned char *begin = in->at;
    struct draft draft;
    struct tts_error why;
    unsigned slot;
    draft.event = tts_event_of(TTS_EVENT_ALLOC, 0);
    draft.op = (struct tts_item_op){.hash = 0};
    if (!tts_recdec_byte(in, &slot) || !read_draft(in, &draft))
        return false;
    if (is_odd(&draft.event))
        return tts_recdec_refuse(
            dec, begin, in->err,
            "damaged record: event shape %u has a field that this kind of event does not have",
            slot);
    if (tts_event_check(&draft.event, &why) != TTS_OK)
        return tts_recdec_refuse(dec, begin, in->err, "damaged record: %s", why.text);
    struct tts_recdec_shape *shape = &dec->shapes[slot];
    *shape = (struct tts_recdec_shape){draft.event, draft.op};
    memcpy(dec->shape_ranges[slot], draft.ranges,
           draft.event.range_count * sizeof draft.ranges[0]);
    if (draft.event.range_count > 0)
        shape->event.ranges = dec->shape_ranges[slot];
    dec->has_shape[slot] = true;
    return true;
}

bool tts_recdec_define(struct tts_recdec_in *in, bool *is_name, unsigned *slot)
{
    const unsigned char *begin = in->at;
    unsigned what;
    uint64_t device;
    *is_name = false;
    if (!tts_recdec_byte(in, &what))
        return false;
    switch (what) {
    case TTS_DEFINE_SHAPE:
        return define_shape(in);
    case TTS_DEFINE_NAME:
        *is_name = true;
        return define_name(in, slot);
    case TTS_DEFINE_RANGES:
        return define_ranges(in);
    case TTS_DEFINE_DEVICE:
        if (!tts_recdec_bounded(in, UINT32_MAX, "device number", &device))
            return false;
        in->dec->device = (uint32_t)device;
        return true;
    default:
        return tts_recdec_refuse(in->dec, begin, in->err,
                                 "damaged record: unknown kind of definition %u", what);
    }
}
