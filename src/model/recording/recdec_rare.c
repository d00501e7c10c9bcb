#include "model/fold.h"
#include "model/recording/recdec_inside.h"

#include <assert.h>

void tts_recdec_make_item(const struct tts_recdec *dec, enum tts_item_kind kind,
                          struct tts_item *out)
{
    *out = (struct tts_item){.kind = kind, .seq = dec->seq};
}

void tts_recdec_make_event(struct tts_recdec *dec, enum tts_event_kind kind,
                           struct tts_item *out)
{
    dec->seq++;
    tts_recdec_make_item(dec, TTS_ITEM_EVENT, out);
    out->event = tts_event_of(kind, dec->device);
}

bool tts_recdec_bare(struct tts_recdec_in *in, enum tts_event_kind kind, struct tts_item *out)
{
    tts_recdec_make_event(in->dec, kind, out);
    return true;
}

bool tts_recdec_check_place(const struct tts_recdec_in *in, bool is_inside, const char *what)
{
    if (in->dec->in_keyframe == is_inside)
        return true;
    return tts_recdec_refuse(in->dec, in->dec->at, in->err,
                             "damaged record: %s is %s a keyframe", what,
                             is_inside ? "outside" : "inside");
}

/* --- events ----------------------------------------------------------------------------- */

static bool read_free_unseen(struct tts_recdec_in *in, struct tts_item *out)
{
    struct tts_recdec *dec = in->dec;
    unsigned slot;
    uint64_t step;
    if (!tts_recdec_shape(in, true, &slot) || !tts_recdec_varint(in, &step))
        return false;
    const struct tts_event *shape = &dec->shapes[slot].event;
    tts_recdec_make_event(dec, TTS_EVENT_FREE, out);
    out->event.pool = shape->pool;
    out->event.id = dec->id + tts_unzigzag(step);
    out->event.size_bytes = shape->size_bytes;
    out->event.bytes_per_bank = shape->bytes_per_bank;
    out->event.block_bytes = shape->block_bytes;
    return true;
}

static bool read_part(struct tts_recdec_in *in, struct tts_item *out)
{
    struct tts_recdec *dec = in->dec;
    unsigned slot;
    if (!tts_recdec_shape(in, false, &slot))
        return false;
    tts_recdec_make_event(dec, TTS_EVENT_CB, out);
    out->event = dec->shapes[slot].event;
    out->event.device = dec->device;
    out->op = dec->shapes[slot].op;
    return true;
}

static bool read_op_begin(struct tts_recdec_in *in, struct tts_item *out)
{
    struct tts_recdec *dec = in->dec;
    unsigned slot;
    uint64_t thread;
    if (!tts_recdec_name(in, &slot) ||
        !tts_recdec_bounded(in, UINT32_MAX, "thread number", &thread))
        return false;
    tts_recdec_make_event(dec, TTS_EVENT_OP_BEGIN, out);
    out->event.device = 0;
    out->event.name = dec->names[slot].name;
    out->event.name_len = dec->names[slot].name_len;
    out->op = dec->names[slot];
    out->thread = (uint32_t)thread;
    return true;
}

static bool read_op_end(struct tts_recdec_in *in, struct tts_item *out)
{
    uint64_t thread;
    if (!tts_recdec_bounded(in, UINT32_MAX, "thread number", &thread))
        return false;
    tts_recdec_make_event(in->dec, TTS_EVENT_OP_END, out);
    out->event.device = 0;
    out->thread = (uint32_t)thread;
    return true;
}

static bool read_failure_fields(struct tts_recdec_in *in, struct tts_failure *out)
{
    uint64_t kind, pool, banks, corner[4];
    uint64_t *const fields[TTS_REC_FAILURE_FIELDS] = {
        &kind,
        &pool,
        &out->requested_bytes,
        &out->need_bytes,
        &out->block_bytes,
        &banks,
        &out->bank_bytes,
        &out->taken_bytes,
        &out->free_bytes,
        &out->largest_free_bytes,
        &out->address,
        &out->limit,
        &out->program_id,
        &out->region_end,
        &out->l1_bytes,
        &out->l1_address,
        &corner[0],
        &corner[1],
        &corner[2],
        &corner[3],
        &out->mesh_id,
        &out->trace_bytes,
        &out->taken_end,
        &out->given_end,
    };
    for (size_t i = 0; i < TTS_REC_FAILURE_FIELDS; i++) {
        bool is_corner = fields[i] >= corner && fields[i] < corner + 4;
        bool is_number = fields[i] == &kind || fields[i] == &pool || fields[i] == &banks;
        uint64_t max = is_corner ? UINT16_MAX : is_number ? UINT32_MAX : UINT64_MAX;
        if (!tts_recdec_bounded(in, max, "a field of a failure", fields[i]))
            return false;
    }
    out->kind = (enum tts_failure_kind)kind;
    out->pool = (enum tts_pool)pool;
    out->banks = (uint32_t)banks;
    out->range = (struct tts_core_range){(uint16_t)corner[0], (uint16_t)corner[1],
                                         (uint16_t)corner[2], (uint16_t)corner[3]};
    return true;
}

static bool read_failure(struct tts_recdec_in *in, struct tts_item *out)
{
    struct tts_recdec *dec = in->dec;
    const unsigned char *begin = in->at;
    struct tts_failure failure = {.kind = TTS_FAILURE_NONE};
    struct tts_error why;
    uint64_t name;
    if (!tts_recdec_bounded(in, TTS_REC_NAMES, "name number", &name))
        return false;
    if (name > 0 && !dec->has_name[name - 1])
        return tts_recdec_refuse(dec, begin, in->err,
                                 "damaged record: name %u is used but not defined",
                                 (unsigned)name - 1);
    if (!read_failure_fields(in, &failure))
        return false;
    struct tts_event event = tts_event_of(TTS_EVENT_FAILURE, dec->device);
    event.failure = &failure;
    if (tts_event_check(&event, &why) != TTS_OK)
        return tts_recdec_refuse(dec, begin, in->err, "damaged record: %s", why.text);
    dec->failure = failure;
    tts_recdec_make_event(dec, TTS_EVENT_FAILURE, out);
    out->event.failure = &dec->failure;
    if (name > 0)
        out->op = dec->names[name - 1];
    return true;
}

/* --- all kinds --------------------------------------------------------------------------- */

bool tts_recdec_rare(struct tts_recdec_in *in, unsigned code, struct tts_item *out)
{
    if (code == TTS_RECORD_MARK)
        return tts_recdec_mark(in, out);
    if (code == TTS_RECORD_LIVE)
        return tts_recdec_check_place(in, true, "a live buffer") && tts_recdec_live(in, out);
    if (code < TTS_RECORD_ALLOC || code > TTS_RECORD_LIVE)
        return tts_recdec_refuse(in->dec, in->dec->at, in->err,
                                 "damaged record: unknown kind of record %u", code);
    if (!tts_recdec_check_place(in, false, "an event"))
        return false;
    switch (code) {
    case TTS_RECORD_FREE_UNSEEN:
        return read_free_unseen(in, out);
    case TTS_RECORD_PROGRAM:
        return tts_recdec_bare(in, TTS_EVENT_PROGRAM, out);
    case TTS_RECORD_PART:
        return read_part(in, out);
    case TTS_RECORD_OP_BEGIN:
        return read_op_begin(in, out);
    case TTS_RECORD_OP_END:
        return read_op_end(in, out);
    default:
        assert(code == TTS_RECORD_FAILURE);
        return read_failure(in, out);
    }
}
