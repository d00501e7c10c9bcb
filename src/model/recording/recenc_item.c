#include "model/ledger.h"
#include "model/opnames.h"
#include "model/recording/recenc_inside.h"

#include <assert.h>

/* Writes the first byte of a record with its time, and at most one byte of its fields. */
static void put_begin(struct tts_recenc *enc, enum tts_rec_code code, unsigned byte,
                      unsigned bytes, uint64_t tick)
{
    assert(byte <= UINT8_MAX && bytes <= 1);
    uint64_t since = tts_recenc_since(enc, tick);
    enc->tick += since;
    if (TTS_LIKELY(since < TTS_TIME_VARINT_FROM)) {
        unsigned count;
        uint64_t word = tts_recenc_head_word(code, since, &count);
        tts_recenc_push(enc, word | (uint64_t)byte << 8 * count, count + bytes);
        return;
    }
    tts_recenc_byte(enc, code | TTS_TIME_VARINT << 4);
    tts_recenc_varint(enc, since);
    if (bytes)
        tts_recenc_byte(enc, byte);
}

static void put_head(struct tts_recenc *enc, enum tts_rec_code code, uint64_t tick)
{
    put_begin(enc, code, 0, 0, tick);
}

static void put_head_and(struct tts_recenc *enc, enum tts_rec_code code, unsigned byte,
                         uint64_t tick)
{
    put_begin(enc, code, byte, 1, tick);
}

static void put_mark(struct tts_recenc *enc, enum tts_rec_mark mark, uint64_t tick)
{
    put_head_and(enc, TTS_RECORD_MARK, mark, tick);
}

/* --- shapes of items -------------------------------------------------------------------- */

static void set_plain(struct tts_recenc_shape *shape)
{
    if (shape->size_bytes && !shape->bytes_per_bank && !shape->block_bytes &&
        !shape->page_bytes && !shape->ranges)
        shape->tag |= TTS_TAG_PLAIN;
}

/* Returns the slot of a shape. Fills the ranges and the operation of the shape; the caller has
 * filled the other fields. */
static unsigned use_shape(struct tts_recenc *enc, struct tts_recenc_shape *shape,
                          const struct tts_event *on, struct tts_item_op op)
{
    unsigned ranges_slot = 0;
    if (on && on->range_count > 0) {
        ranges_slot = tts_recenc_use_ranges(enc, on->ranges, on->range_count);
        shape->ranges = enc->ranges[ranges_slot].serial;
    }
    shape->op_hash = op.hash;
    set_plain(shape);
    return tts_recenc_use_shape(enc, shape, ranges_slot, op);
}

static uint64_t tag_of(enum tts_event_kind kind, enum tts_pool pool)
{
    return TTS_TAG_VALID | (uint64_t)tts_recenc_shape_kind(kind) << TTS_TAG_KIND |
           (uint64_t)pool << TTS_TAG_POOL;
}

static unsigned use_alloc(struct tts_recenc *enc, const struct tts_event *event,
                          struct tts_item_op op)
{
    struct tts_recenc_shape shape = {
        .tag = tag_of(TTS_EVENT_ALLOC, event->pool),
        .size_bytes = event->size_bytes,
        .bytes_per_bank = event->bytes_per_bank,
        .block_bytes = event->block_bytes,
        .page_bytes = event->page_bytes,
    };
    if (event->page_bytes) {
        shape.cores = event->cores;
        shape.tag |= (uint64_t)event->placement << TTS_TAG_PLACEMENT;
    }
    if (event->has_address)
        shape.tag |= TTS_TAG_ADDRESS;
    return use_shape(enc, &shape, event, op);
}

/* Returns the slot of the shape of a buffer that the record does not allocate. This shape has
 * only a pool and sizes. */
static unsigned use_buffer(struct tts_recenc *enc, const struct tts_live *live,
                           const struct tts_event *on, struct tts_item_op op)
{
    struct tts_recenc_shape shape = {
        .tag = tag_of(TTS_EVENT_ALLOC, live->pool),
        .size_bytes = live->size_bytes,
        .bytes_per_bank = live->bytes_per_bank,
        .block_bytes = live->block_bytes,
    };
    return use_shape(enc, &shape, on, op);
}

static unsigned use_part(struct tts_recenc *enc, const struct tts_event *event,
                         struct tts_item_op op)
{
    assert(event->kind >= TTS_EVENT_CB && event->kind <= TTS_EVENT_SCRATCHPAD);
    assert(event->range_count > 0);
    struct tts_recenc_shape shape = {
        .tag = tag_of(event->kind, TTS_POOL_DRAM),
        .size_bytes = event->size_bytes,
    };
    if (event->borrowed && event->kind != TTS_EVENT_SCRATCHPAD)
        shape.tag |= TTS_TAG_BORROWED;
    return use_shape(enc, &shape, event, op);
}

/* --- events ----------------------------------------------------------------------------- */

static void put_alloc(struct tts_recenc *enc, const struct tts_event *event,
                      struct tts_item_op op, uint64_t tick)
{
    assert((unsigned)event->pool < TTS_POOLS);
    if (event->size_bytes == 0) {
        put_mark(enc, TTS_REC_MARK_ZERO, tick);
        return;
    }
    unsigned slot = use_alloc(enc, event, op);
    bool is_next = event->id - enc->id == 1;
    put_head_and(enc, is_next ? TTS_RECORD_ALLOC : TTS_RECORD_ALLOC_ID, slot, tick);
    if (is_next)
        enc->id = event->id;
    else
        tts_recenc_step(enc, event->id, &enc->id);
    if (event->has_address)
        tts_recenc_step(enc, event->address, &enc->address);
}

static void put_free(struct tts_recenc *enc, const struct tts_event *event, bool is_unseen,
                     uint64_t tick)
{
    uint64_t back = enc->id - event->id;
    if (is_unseen) {
        struct tts_live gone = {
            .pool = event->pool,
            .size_bytes = event->size_bytes,
            .bytes_per_bank = event->bytes_per_bank,
            .block_bytes = event->block_bytes,
        };
        unsigned slot = use_buffer(enc, &gone, NULL, (struct tts_item_op){.hash = 0});
        put_head_and(enc, TTS_RECORD_FREE_UNSEEN, slot, tick);
        tts_recenc_varint(enc, tts_zigzag(0 - back));
    } else if (back >> 63) {
        put_mark(enc, TTS_REC_MARK_FREE_AHEAD, tick);
        tts_recenc_varint(enc, 0 - back);
    } else {
        put_head(enc, TTS_RECORD_FREE, tick);
        tts_recenc_varint(enc, back);
    }
}

static void put_failure(struct tts_recenc *enc, const struct tts_failure *f,
                        struct tts_item_op op, uint64_t tick)
{
    const uint64_t fields[] = {
        f->kind,       f->pool,        f->requested_bytes, f->need_bytes, f->block_bytes,
        f->banks,      f->bank_bytes,  f->taken_bytes,     f->free_bytes, f->largest_free_bytes,
        f->address,    f->limit,       f->program_id,      f->region_end, f->l1_bytes,
        f->l1_address, f->range.x0,    f->range.y0,        f->range.x1,   f->range.y1,
        f->mesh_id,    f->trace_bytes, f->taken_end,       f->given_end,
    };
    _Static_assert(sizeof fields / sizeof fields[0] == TTS_REC_FAILURE_FIELDS, "all of them");
    unsigned name = op.hash ? tts_recenc_use_name(enc, op) + 1 : 0;
    put_head(enc, TTS_RECORD_FAILURE, tick);
    tts_recenc_varint(enc, name);
    for (size_t i = 0; i < TTS_REC_FAILURE_FIELDS; i++)
        tts_recenc_varint(enc, fields[i]);
}

/* Returns the operation that an OP_BEGIN begins: item->op, with the name from item->event if
 * item->op has none, and with the hash of the name if item->op has no hash. */
static struct tts_item_op op_begun(const struct tts_item *item)
{
    struct tts_item_op op = item->op;
    if (!op.name && (item->event.name || !op.hash)) {
        op.name = item->event.name ? item->event.name : "";
        op.name_len = item->event.name ? item->event.name_len : 0;
    }
    if (!op.hash)
        op.hash = tts_opnames_hash(op.name, op.name_len);
    return op;
}

static void put_op_begin(struct tts_recenc *enc, const struct tts_item *item, uint64_t tick)
{
    unsigned slot = tts_recenc_use_name(enc, op_begun(item));
    put_head_and(enc, TTS_RECORD_OP_BEGIN, slot, tick);
    tts_recenc_varint(enc, item->thread);
}

static void put_event(struct tts_recenc *enc, const struct tts_item *item, bool is_unseen,
                      uint64_t tick)
{
    const struct tts_event *event = &item->event;
    if (event->kind != TTS_EVENT_OP_BEGIN && event->kind != TTS_EVENT_OP_END)
        tts_recenc_use_device(enc, event->device);
    unsigned slot;
    switch (event->kind) {
    case TTS_EVENT_ALLOC:
        put_alloc(enc, event, item->op, tick);
        break;
    case TTS_EVENT_FREE:
        put_free(enc, event, is_unseen, tick);
        break;
    case TTS_EVENT_PROGRAM:
        put_head(enc, TTS_RECORD_PROGRAM, tick);
        break;
    case TTS_EVENT_CB:
    case TTS_EVENT_DFB:
    case TTS_EVENT_SCRATCHPAD:
        slot = use_part(enc, event, item->op);
        put_head_and(enc, TTS_RECORD_PART, slot, tick);
        break;
    case TTS_EVENT_OP_BEGIN:
        put_op_begin(enc, item, tick);
        break;
    case TTS_EVENT_OP_END:
        put_head(enc, TTS_RECORD_OP_END, tick);
        tts_recenc_varint(enc, item->thread);
        break;
    case TTS_EVENT_TRACE_BEGIN:
        put_mark(enc, TTS_REC_MARK_TRACE_BEGIN, tick);
        break;
    case TTS_EVENT_TRACE_END:
        put_mark(enc, TTS_REC_MARK_TRACE_END, tick);
        break;
    case TTS_EVENT_FAILURE:
        put_failure(enc, event->failure, item->op, tick);
        break;
    }
}

/* --- items ------------------------------------------------------------------------------ */

static void put_live(struct tts_recenc *enc, const struct tts_item *item, uint64_t tick)
{
    const struct tts_live *live = &item->live;
    assert(live->size_bytes > 0);
    tts_recenc_use_device(enc, live->device);
    unsigned slot = use_buffer(enc, live, &item->event, item->op);
    put_head_and(enc, TTS_RECORD_LIVE, slot, tick);
    tts_recenc_step(enc, live->id, &enc->live_id);
    tts_recenc_step(enc, live->seq, &enc->live_seq);
}

static void put_part(struct tts_recenc *enc, const struct tts_item *item, uint64_t tick)
{
    tts_recenc_use_device(enc, item->event.device);
    unsigned slot = use_part(enc, &item->event, item->op);
    put_mark(enc, TTS_REC_MARK_KEYFRAME_PART, tick);
    tts_recenc_byte(enc, slot);
    tts_recenc_step(enc, item->live.seq, &enc->live_seq);
}

static void put_cut(struct tts_recenc *enc, const struct tts_item *item, uint64_t tick)
{
    size_t len = item->name_len < TTS_PHASE_NAME_MAX ? item->name_len : TTS_PHASE_NAME_MAX;
    put_mark(enc, TTS_REC_MARK_CUT, tick);
    tts_recenc_varint(enc, item->capture);
    tts_recenc_byte(enc, (unsigned)len);
    tts_recenc_bytes(enc, item->name, len);
}

/* Writes an item whose only field is a number, as a mark. */
static void put_number(struct tts_recenc *enc, enum tts_rec_mark mark, uint64_t number,
                       uint64_t tick)
{
    put_mark(enc, mark, tick);
    tts_recenc_varint(enc, number);
}

static void put_missed(struct tts_recenc *enc, const struct tts_item *item, uint64_t tick)
{
    if (item->left_buffers == 0 && item->left_bytes == 0) {
        put_number(enc, TTS_REC_MARK_MISSED, item->count, tick);
        return;
    }
    put_number(enc, TTS_REC_MARK_LEFT_OUT, item->left_buffers, tick);
    tts_recenc_varint(enc, item->left_bytes);
}

static void put_sample(struct tts_recenc *enc, const struct tts_item *item, uint64_t tick)
{
    const struct tts_sample *sample = item->sample;
    assert(sample->known >> TTS_SAMPLE_VALUES == 0);
    tts_recenc_use_device(enc, item->device);
    put_number(enc, TTS_REC_MARK_SAMPLE, sample->period_ns, tick);
    tts_recenc_varint(enc, sample->known);
    for (unsigned i = 0; i < TTS_SAMPLE_VALUES; i++)
        if (tts_sample_has(sample, i))
            tts_recenc_varint(enc, sample->values[i]);
}

static void put_item(struct tts_recenc *enc, const struct tts_item *item, uint64_t tick)
{
    switch (item->kind) {
    case TTS_ITEM_EVENT:
        break;
    case TTS_ITEM_NAME:
        tts_recenc_use_name(enc, item->op);
        break;
    case TTS_ITEM_CHIP:
        put_number(enc, TTS_REC_MARK_CHIP, item->device, tick);
        tts_recenc_varint(enc, item->mesh);
        break;
    case TTS_ITEM_BEGIN:
        put_number(enc, TTS_REC_MARK_BEGIN, item->capture, tick);
        break;
    case TTS_ITEM_CUT:
        put_cut(enc, item, tick);
        break;
    case TTS_ITEM_END:
        put_number(enc, TTS_REC_MARK_END, item->capture, tick);
        break;
    case TTS_ITEM_MISSED:
        put_missed(enc, item, tick);
        break;
    case TTS_ITEM_SAMPLE:
        put_sample(enc, item, tick);
        break;
    case TTS_ITEM_KEYFRAME:
        put_number(enc, TTS_REC_MARK_KEYFRAME, item->count, tick);
        break;
    case TTS_ITEM_LIVE:
        put_live(enc, item, tick);
        break;
    case TTS_ITEM_PART:
        put_part(enc, item, tick);
        break;
    case TTS_ITEM_TRACING:
        tts_recenc_use_device(enc, item->device);
        put_number(enc, TTS_REC_MARK_TRACING, item->count, tick);
        break;
    case TTS_ITEM_ACTIVE:
        put_number(enc, TTS_REC_MARK_ACTIVE, item->capture, tick);
        break;
    case TTS_ITEM_KEYFRAME_END:
        put_mark(enc, TTS_REC_MARK_KEYFRAME_END, tick);
        break;
    }
}

bool tts_recenc_item(struct tts_recenc *enc, const struct tts_item *item, bool is_unseen,
                     uint64_t tick)
{
    if (enc->at > enc->end)
        return false;
    if (item->kind == TTS_ITEM_EVENT)
        put_event(enc, item, is_unseen, tick);
    else
        put_item(enc, item, tick);
    tts_recenc_tell(enc);
    return true;
}
