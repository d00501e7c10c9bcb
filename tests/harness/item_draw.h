/* item_draw.h: draws random items of every kind, in an order that a recording can have. Some
 * values repeat often, others are at the limits of their range. The draw owns everything that
 * its items point to. */
#pragma once

#include "harness/t.h"
#include "model/fold.h"
#include "model/item.h"
#include "model/opnames.h"

#include <string.h>

enum { DRAW_OPS = 300, DRAW_SETS = 90, DRAW_ITEMS = 3000 };

struct item_draw {
    uint64_t rng;
    uint64_t seq, last_id;
    bool in_keyframe;
    struct tts_item_op ops[DRAW_OPS];
    /* The names, as a recording stores them. */
    char texts[DRAW_OPS][TTS_OP_NAME_MAX + 1];
    struct tts_core_range ranges[DRAW_SETS][TTS_RANGES_MAX];
    size_t range_counts[DRAW_SETS];
    struct tts_failure failures[DRAW_ITEMS];
    size_t failure_count;
    struct tts_sample samples[DRAW_ITEMS];
    size_t sample_count;
};

static inline uint64_t draw_below(struct item_draw *draw, uint64_t n)
{
    return (t_random(&draw->rng) >> 16) % n;
}

static inline bool draw_chance(struct item_draw *draw, uint64_t one_in)
{
    return draw_below(draw, one_in) == 0;
}

/* Returns a random number. Its length in bits is random too, at most 64. */
static inline uint64_t draw_number(struct item_draw *draw)
{
    return t_random(&draw->rng) >> draw_below(draw, 64);
}

static inline uint64_t draw_size(struct item_draw *draw, uint64_t most)
{
    if (draw_chance(draw, 40))
        return most;
    uint64_t size =
        draw_chance(draw, 6) ? draw_number(draw) : UINT64_C(2048) << draw_below(draw, 6);
    return 1 + size % most;
}

static inline uint32_t draw_device(struct item_draw *draw)
{
    static const uint32_t odd[] = {1, UINT32_MAX, 127, 128};
    return draw_chance(draw, 4) ? odd[draw_below(draw, 4)] : 0;
}

/* Draws a set of ranges. Each range is in another square of a grid, so the ranges do not
 * overlap. */
static inline void draw_set(struct item_draw *draw, size_t set)
{
    size_t count =
        set == 0 ? TTS_RANGES_MAX : 1 + draw_below(draw, draw_chance(draw, 4) ? 64 : 3);
    uint64_t first = draw_below(draw, 64);
    for (size_t i = 0; i < count; i++) {
        uint64_t square = (first + i) % 64, x = square % 8 * 8, y = square / 8 * 8;
        draw->ranges[set][i] = (struct tts_core_range){
            (uint16_t)x, (uint16_t)(y + draw_below(draw, 4)),
            (uint16_t)(x + draw_below(draw, 8)), (uint16_t)(y + 4 + draw_below(draw, 4))};
    }
    draw->range_counts[set] = count;
}

static inline void draw_init(struct item_draw *draw, uint64_t seed)
{
    memset(draw, 0, sizeof *draw);
    draw->rng = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (size_t i = 0; i < DRAW_OPS; i++) {
        size_t len = i == 0 ? 0 : i == 1 ? TTS_OP_NAME_MAX : 1 + draw_below(draw, 30);
        for (size_t k = 0; k < len; k++) {
            /* Uses no control characters, because a recording stores all of them as the same
             * character. */
            uint64_t byte = ' ' + draw_below(draw, 223);
            draw->texts[i][k] = (char)(byte < 0x7f ? byte : byte + 1);
        }
        draw->ops[i] =
            (struct tts_item_op){tts_opnames_hash(draw->texts[i], len), draw->texts[i], len};
    }
    for (size_t i = 0; i < DRAW_SETS; i++)
        draw_set(draw, i);
}

/* Returns a random index below `count`. The first four are the most likely. */
static inline size_t draw_skewed(struct item_draw *draw, size_t count)
{
    return draw_below(draw, draw_chance(draw, 5) ? count : 4);
}

static inline struct tts_item_op draw_op(struct item_draw *draw)
{
    if (draw_chance(draw, 3))
        return (struct tts_item_op){.hash = 0};
    return draw->ops[draw_skewed(draw, DRAW_OPS)];
}

static inline void draw_cores(struct item_draw *draw, struct tts_event *event)
{
    size_t set = draw_skewed(draw, DRAW_SETS);
    event->ranges = draw->ranges[set];
    event->range_count = draw->range_counts[set];
}

static inline uint64_t draw_id(struct item_draw *draw)
{
    switch (draw_below(draw, 8)) {
    case 0:
        return draw_number(draw);
    case 1:
        return draw->last_id + draw_below(draw, 1000) - 500;
    case 2:
        return UINT64_MAX - draw_below(draw, 3);
    default:
        return draw->last_id + 1;
    }
}

static inline void draw_buffer(struct item_draw *draw, struct tts_event *event)
{
    event->pool = (enum tts_pool)draw_below(draw, TTS_POOLS);
    event->size_bytes = draw_size(draw, TTS_EVENT_SIZE_MAX);
    if (tts_pool_is_l1(event->pool) || draw_chance(draw, 8)) {
        event->bytes_per_bank = draw_size(draw, TTS_EVENT_BYTES_MAX);
        if (draw_chance(draw, 2))
            event->block_bytes =
                event->bytes_per_bank +
                draw_below(draw, TTS_EVENT_BYTES_MAX - event->bytes_per_bank + 1);
    }
    if (tts_pool_is_l1(event->pool) && draw_chance(draw, 3))
        draw_cores(draw, event);
}

static inline void draw_alloc(struct item_draw *draw, struct tts_event *event)
{
    if (draw_chance(draw, 30))
        return; /* an allocation of 0 bytes makes no buffer */
    draw_buffer(draw, event);
    event->id = draw->last_id = draw_id(draw);
    event->has_address = draw_chance(draw, 3);
    if (event->has_address)
        event->address = draw_chance(draw, 10) ? TTS_EVENT_BYTES_MAX
                                               : draw_number(draw) % TTS_EVENT_BYTES_MAX;
    if (draw_chance(draw, 3)) {
        event->page_bytes = draw_size(draw, TTS_EVENT_SIZE_MAX);
        event->cores = (uint32_t)draw_below(draw, TTS_CORES_MAX + 1);
        event->placement = (enum tts_placement)draw_below(draw, 3);
    }
}

static inline void draw_failure(struct item_draw *draw, struct tts_event *event)
{
    struct tts_failure *f = &draw->failures[draw->failure_count++ % DRAW_ITEMS];
    uint64_t *const numbers[] = {&f->requested_bytes,    &f->need_bytes,  &f->block_bytes,
                                 &f->bank_bytes,         &f->taken_bytes, &f->free_bytes,
                                 &f->largest_free_bytes, &f->address,     &f->limit,
                                 &f->program_id,         &f->region_end,  &f->l1_bytes,
                                 &f->l1_address,         &f->mesh_id,     &f->trace_bytes,
                                 &f->taken_end,          &f->given_end};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        *numbers[i] = draw_chance(draw, 3) ? UINT64_MAX : draw_number(draw);
    f->kind = (enum tts_failure_kind)(1 + draw_below(draw, TTS_FAILURE_TRACE_OVERLAP));
    f->pool = (enum tts_pool)draw_below(draw, TTS_POOLS);
    f->banks = (uint32_t)draw_number(draw);
    f->range = (struct tts_core_range){1, UINT16_MAX, (uint16_t)draw_number(draw), 128};
    event->failure = f;
}

/* Draws the fields that the kind of the event has. Sets *is_unseen if the event is a FREE of a
 * buffer whose allocation was not seen. */
static inline void draw_fields(struct item_draw *draw, struct tts_item *item, bool *is_unseen)
{
    struct tts_event *event = &item->event;
    switch (event->kind) {
    case TTS_EVENT_ALLOC:
        draw_alloc(draw, event);
        break;
    case TTS_EVENT_FREE:
        *is_unseen = draw_chance(draw, 4);
        if (*is_unseen && !draw_chance(draw, 3))
            draw_buffer(draw, event);
        event->ranges = NULL;
        event->range_count = 0;
        event->id =
            draw_chance(draw, 2) ? draw->last_id - draw_below(draw, 100) : draw_id(draw);
        break;
    case TTS_EVENT_CB:
    case TTS_EVENT_DFB:
    case TTS_EVENT_SCRATCHPAD:
        event->size_bytes = draw_chance(draw, 10) ? 0 : draw_size(draw, TTS_EVENT_BYTES_MAX);
        event->borrowed = event->kind != TTS_EVENT_SCRATCHPAD && draw_chance(draw, 4);
        draw_cores(draw, event);
        break;
    case TTS_EVENT_OP_BEGIN:
        item->op = draw->ops[draw_skewed(draw, DRAW_OPS)];
        event->name = item->op.name;
        event->name_len = item->op.name_len;
        event->device = 0;
        item->thread = draw_chance(draw, 5) ? UINT32_MAX : (uint32_t)draw_below(draw, 200);
        break;
    case TTS_EVENT_OP_END:
        event->device = 0;
        item->thread = (uint32_t)draw_below(draw, 200);
        break;
    case TTS_EVENT_FAILURE:
        draw_failure(draw, event);
        break;
    case TTS_EVENT_PROGRAM:
    case TTS_EVENT_TRACE_BEGIN:
    case TTS_EVENT_TRACE_END:
        break;
    }
}

static inline void draw_event(struct item_draw *draw, struct tts_item *item, bool *is_unseen)
{
    static const uint8_t usual[] = {TTS_EVENT_ALLOC, TTS_EVENT_ALLOC, TTS_EVENT_ALLOC,
                                    TTS_EVENT_FREE,  TTS_EVENT_FREE,  TTS_EVENT_CB};
    uint64_t kind = draw_chance(draw, 2) ? usual[draw_below(draw, sizeof usual)]
                                         : draw_below(draw, TTS_EVENT_KINDS);
    item->event = tts_event_of((enum tts_event_kind)kind, draw_device(draw));
    item->op = draw_op(draw);
    item->seq = ++draw->seq;
    draw_fields(draw, item, is_unseen);
}

static inline void draw_live(struct item_draw *draw, struct tts_item *item)
{
    struct tts_event buffer = tts_event_of(TTS_EVENT_ALLOC, 0);
    draw_buffer(draw, &buffer);
    item->live = (struct tts_live){
        .id = draw_number(draw),
        .size_bytes = buffer.size_bytes,
        .bytes_per_bank = buffer.bytes_per_bank,
        .block_bytes = buffer.block_bytes,
        .seq = draw_below(draw, draw->seq + 1),
        .device = draw_device(draw),
        .pool = buffer.pool,
    };
    item->event.ranges = buffer.ranges;
    item->event.range_count = buffer.range_count;
    item->op = draw_op(draw);
}

static inline void draw_moment(struct item_draw *draw, struct tts_item *item)
{
    bool is_unseen;
    switch (draw_below(draw, 8)) {
    case 0:
        item->kind = TTS_ITEM_PART;
        item->event = tts_event_of((enum tts_event_kind)(TTS_EVENT_CB + draw_below(draw, 3)),
                                   draw_device(draw));
        item->op = draw_op(draw);
        draw_fields(draw, item, &is_unseen);
        item->live.seq = draw_below(draw, draw->seq + 1);
        break;
    case 1:
        item->kind = TTS_ITEM_TRACING;
        item->device = draw_device(draw);
        item->count = draw_number(draw);
        break;
    case 2:
        item->kind = TTS_ITEM_ACTIVE;
        item->capture = (uint32_t)draw_number(draw);
        break;
    case 4:
        item->kind = TTS_ITEM_MISSED;
        item->count = draw_number(draw);
        if (item->count % 2 == 1) {
            item->left_buffers = item->count;
            item->left_bytes = draw_number(draw);
            item->count = 0;
        }
        break;
    case 3:
        item->kind = TTS_ITEM_KEYFRAME_END;
        draw->in_keyframe = false;
        break;
    default:
        item->kind = TTS_ITEM_LIVE;
        draw_live(draw, item);
        break;
    }
}

/* Draws counters of a device: none, some or all of them. */
static inline const struct tts_sample *draw_sample(struct item_draw *draw)
{
    struct tts_sample *sample = &draw->samples[draw->sample_count++ % DRAW_ITEMS];
    uint64_t odds = draw_below(draw, 3);
    *sample = (struct tts_sample){.period_ns = draw_number(draw)};
    for (unsigned i = 0; i < TTS_SAMPLE_VALUES; i++)
        if (odds == 2 || (odds == 1 && draw_chance(draw, 3)))
            tts_sample_set(sample, i, draw_number(draw));
    return sample;
}

static inline void draw_other(struct item_draw *draw, struct tts_item *item)
{
    static const char name[300] = "step\n\377\0 7";
    static const enum tts_item_kind kinds[] = {
        TTS_ITEM_NAME, TTS_ITEM_CHIP,   TTS_ITEM_BEGIN,  TTS_ITEM_CUT,
        TTS_ITEM_END,  TTS_ITEM_MISSED, TTS_ITEM_SAMPLE, TTS_ITEM_KEYFRAME};
    item->kind = kinds[draw_below(draw, 8)];
    item->device = draw_device(draw);
    item->mesh = (uint32_t)draw_number(draw);
    item->capture = (uint32_t)draw_number(draw);
    item->count = draw_number(draw);
    item->name = name;
    item->name_len = draw_below(draw, 2) ? draw_below(draw, 12) : draw_below(draw, 256);
    item->op = draw->ops[draw_skewed(draw, DRAW_OPS)];
    if (item->kind == TTS_ITEM_SAMPLE)
        item->sample = draw_sample(draw);
    if (item->kind == TTS_ITEM_KEYFRAME)
        draw->in_keyframe = true;
}

static inline struct tts_item draw_item(struct item_draw *draw, bool *is_unseen)
{
    struct tts_item item = {.seq = draw->seq};
    *is_unseen = false;
    if (draw->in_keyframe)
        draw_moment(draw, &item);
    else if (draw_chance(draw, 12))
        draw_other(draw, &item);
    else
        draw_event(draw, &item, is_unseen);
    return item;
}
