#include "model/recording/recdec_inside.h"

#include <assert.h>

/* --- keyframes -------------------------------------------------------------------------- */

/* Reads the number of the event that made a live buffer or part. */
static bool read_live_seq(struct tts_recdec_in *in, uint64_t *out)
{
    const unsigned char *begin = in->at;
    uint64_t step;
    if (!tts_recdec_varint(in, &step))
        return false;
    *out = in->dec->live_seq + tts_unzigzag(step);
    if (*out > in->dec->seq)
        return tts_recdec_refuse(
            in->dec, begin, in->err,
            "damaged record: a list of live buffers has a buffer of a later event");
    return true;
}

bool tts_recdec_live(struct tts_recdec_in *in, struct tts_item *out)
{
    struct tts_recdec *dec = in->dec;
    const unsigned char *begin = in->at;
    unsigned slot;
    uint64_t step, seq;
    if (!tts_recdec_shape(in, true, &slot) || !tts_recdec_varint(in, &step) ||
        !read_live_seq(in, &seq))
        return false;
    const struct tts_recdec_shape *shape = &dec->shapes[slot];
    if (shape->event.size_bytes == 0)
        return tts_recdec_refuse(dec, begin, in->err,
                                 "damaged record: the size of a buffer is 0 bytes");
    dec->live_id += tts_unzigzag(step);
    dec->live_seq = seq;
    tts_recdec_make_item(dec, TTS_ITEM_LIVE, out);
    out->live = (struct tts_live){
        .id = dec->live_id,
        .size_bytes = shape->event.size_bytes,
        .bytes_per_bank = shape->event.bytes_per_bank,
        .block_bytes = shape->event.block_bytes,
        .seq = seq,
        .device = dec->device,
        .pool = shape->event.pool,
    };
    out->op = shape->op;
    out->event.ranges = shape->event.ranges;
    out->event.range_count = shape->event.range_count;
    return true;
}

static bool read_keyframe_part(struct tts_recdec_in *in, struct tts_item *out)
{
    struct tts_recdec *dec = in->dec;
    unsigned slot;
    uint64_t seq;
    if (!tts_recdec_shape(in, false, &slot) || !read_live_seq(in, &seq))
        return false;
    dec->live_seq = seq;
    tts_recdec_make_item(dec, TTS_ITEM_PART, out);
    out->event = dec->shapes[slot].event;
    out->event.device = dec->device;
    out->op = dec->shapes[slot].op;
    out->live.seq = seq;
    return true;
}

/* --- marks ------------------------------------------------------------------------------ */

/* Reads a mark whose only field is the number of a capture. */
static bool read_capture(struct tts_recdec_in *in, enum tts_item_kind kind,
                         struct tts_item *out)
{
    uint64_t capture;
    if (!tts_recdec_bounded(in, UINT32_MAX, "capture number", &capture))
        return false;
    tts_recdec_make_item(in->dec, kind, out);
    out->capture = (uint32_t)capture;
    return true;
}

static bool read_cut(struct tts_recdec_in *in, struct tts_item *out)
{
    uint64_t capture;
    unsigned len;
    const unsigned char *name;
    if (!tts_recdec_bounded(in, UINT32_MAX, "capture number", &capture) ||
        !tts_recdec_byte(in, &len) || !tts_recdec_bytes(in, len, &name))
        return false;
    _Static_assert(TTS_PHASE_NAME_MAX == UINT8_MAX, "its length is a byte");
    tts_recdec_make_item(in->dec, TTS_ITEM_CUT, out);
    out->capture = (uint32_t)capture;
    out->name = (const char *)name;
    out->name_len = len;
    return true;
}

static bool read_chip(struct tts_recdec_in *in, struct tts_item *out)
{
    uint64_t chip, mesh;
    if (!tts_recdec_bounded(in, UINT32_MAX, "chip number", &chip) ||
        !tts_recdec_bounded(in, UINT32_MAX, "mesh number", &mesh))
        return false;
    tts_recdec_make_item(in->dec, TTS_ITEM_CHIP, out);
    out->device = (uint32_t)chip;
    out->mesh = (uint32_t)mesh;
    return true;
}

static bool read_count(struct tts_recdec_in *in, enum tts_item_kind kind, struct tts_item *out)
{
    uint64_t count;
    if (!tts_recdec_varint(in, &count))
        return false;
    tts_recdec_make_item(in->dec, kind, out);
    out->count = count;
    if (kind == TTS_ITEM_TRACING)
        out->device = in->dec->device;
    if (kind == TTS_ITEM_KEYFRAME)
        in->dec->in_keyframe = true;
    return true;
}

static bool read_free_ahead(struct tts_recdec_in *in, struct tts_item *out)
{
    uint64_t step;
    if (!tts_recdec_varint(in, &step))
        return false;
    tts_recdec_make_event(in->dec, TTS_EVENT_FREE, out);
    out->event.id = in->dec->id + step;
    return true;
}

/* Reads the number and the total size of the buffers that a keyframe leaves out. */
static bool read_left_out(struct tts_recdec_in *in, struct tts_item *out)
{
    uint64_t buffers, bytes;
    if (!tts_recdec_varint(in, &buffers) || !tts_recdec_varint(in, &bytes))
        return false;
    tts_recdec_make_item(in->dec, TTS_ITEM_MISSED, out);
    out->left_buffers = buffers;
    out->left_bytes = bytes;
    return true;
}

static bool read_sample(struct tts_recdec_in *in, struct tts_item *out)
{
    struct tts_sample sample = {0};
    const uint64_t all = (UINT64_C(1) << TTS_SAMPLE_VALUES) - 1;
    uint64_t known;
    if (!tts_recdec_varint(in, &sample.period_ns) ||
        !tts_recdec_bounded(in, all, "set of known values", &known))
        return false;
    for (unsigned i = 0; i < TTS_SAMPLE_VALUES; i++)
        if (known >> i & 1 && !tts_recdec_bounded(in, TTS_SAMPLE_VALUE_MAX, "value of a sample",
                                                  &sample.values[i]))
            return false;
    sample.known = (uint32_t)known;
    in->dec->sample = sample;
    tts_recdec_make_item(in->dec, TTS_ITEM_SAMPLE, out);
    out->device = in->dec->device;
    out->sample = &in->dec->sample;
    return true;
}

/* Reads a mark that begins a keyframe or belongs inside one. */
static bool read_moment(struct tts_recdec_in *in, unsigned mark, struct tts_item *out)
{
    switch (mark) {
    case TTS_REC_MARK_KEYFRAME:
        return tts_recdec_check_place(in, false, "a list of live buffers") &&
               read_count(in, TTS_ITEM_KEYFRAME, out);
    case TTS_REC_MARK_KEYFRAME_PART:
        return tts_recdec_check_place(in, true, "an entry of a list of live buffers") &&
               read_keyframe_part(in, out);
    case TTS_REC_MARK_TRACING:
        return tts_recdec_check_place(in, true, "a trace count of a list of live buffers") &&
               read_count(in, TTS_ITEM_TRACING, out);
    case TTS_REC_MARK_ACTIVE:
        return tts_recdec_check_place(in, true,
                                      "an active capture of a list of live buffers") &&
               read_capture(in, TTS_ITEM_ACTIVE, out);
    case TTS_REC_MARK_LEFT_OUT:
        return tts_recdec_check_place(in, true, "a count of omitted buffers") &&
               read_left_out(in, out);
    default:
        assert(mark == TTS_REC_MARK_KEYFRAME_END);
        if (!tts_recdec_check_place(in, true, "the end of a list of live buffers"))
            return false;
        in->dec->in_keyframe = false;
        tts_recdec_make_item(in->dec, TTS_ITEM_KEYFRAME_END, out);
        return true;
    }
}

bool tts_recdec_mark(struct tts_recdec_in *in, struct tts_item *out)
{
    const unsigned char *begin = in->at;
    unsigned mark;
    if (!tts_recdec_byte(in, &mark))
        return false;
    switch (mark) {
    case TTS_REC_MARK_CHIP:
        return read_chip(in, out);
    case TTS_REC_MARK_MISSED: /* inside a keyframe, this means that the keyframe is incomplete
                               */
        return read_count(in, TTS_ITEM_MISSED, out);
    case TTS_REC_MARK_KEYFRAME:
    case TTS_REC_MARK_KEYFRAME_END:
    case TTS_REC_MARK_KEYFRAME_PART:
    case TTS_REC_MARK_TRACING:
    case TTS_REC_MARK_ACTIVE:
    case TTS_REC_MARK_LEFT_OUT:
        return read_moment(in, mark, out);
    }
    if (mark == 0 || mark > TTS_REC_MARK_SAMPLE)
        return tts_recdec_refuse(in->dec, begin, in->err,
                                 "damaged record: unknown kind of mark %u", mark);
    if (!tts_recdec_check_place(in, false, "an event or a phase"))
        return false;
    switch (mark) {
    case TTS_REC_MARK_BEGIN:
        return read_capture(in, TTS_ITEM_BEGIN, out);
    case TTS_REC_MARK_CUT:
        return read_cut(in, out);
    case TTS_REC_MARK_END:
        return read_capture(in, TTS_ITEM_END, out);
    case TTS_REC_MARK_TRACE_BEGIN:
        return tts_recdec_bare(in, TTS_EVENT_TRACE_BEGIN, out);
    case TTS_REC_MARK_TRACE_END:
        return tts_recdec_bare(in, TTS_EVENT_TRACE_END, out);
    case TTS_REC_MARK_SAMPLE:
        return read_sample(in, out);
    case TTS_REC_MARK_ZERO:
        return tts_recdec_bare(in, TTS_EVENT_ALLOC, out);
    default:
        assert(mark == TTS_REC_MARK_FREE_AHEAD);
        return read_free_ahead(in, out);
    }
}
