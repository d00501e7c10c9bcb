/* same_item.h: compares two items in a slow and obvious way: all fields that items of their
 * kind have. */
#pragma once

#include "model/item.h"
#include "model/opnames.h"

#include <string.h>

static inline bool same_text(const char *a, size_t a_len, const char *b, size_t b_len)
{
    return a_len == b_len && (a_len == 0 || memcmp(a, b, a_len) == 0);
}

/* Returns true if a recording stores both names as the same name (opnames.h). */
static inline bool same_op_name(const char *a, size_t a_len, const char *b, size_t b_len)
{
    char a_kept[TTS_OP_NAME_MAX], b_kept[TTS_OP_NAME_MAX];
    size_t a_kept_len = tts_opnames_copy(a_kept, a, a_len);
    return same_text(a_kept, a_kept_len, b_kept, tts_opnames_copy(b_kept, b, b_len));
}

static inline bool same_op(const struct tts_item_op *a, const struct tts_item_op *b)
{
    return a->hash == b->hash &&
           (a->hash == 0 || same_op_name(a->name, a->name_len, b->name, b->name_len));
}

static inline bool same_ranges(const struct tts_event *a, const struct tts_event *b)
{
    if (a->range_count != b->range_count)
        return false;
    for (size_t i = 0; i < a->range_count; i++)
        if (a->ranges[i].x0 != b->ranges[i].x0 || a->ranges[i].y0 != b->ranges[i].y0 ||
            a->ranges[i].x1 != b->ranges[i].x1 || a->ranges[i].y1 != b->ranges[i].y1)
            return false;
    return true;
}

static inline bool same_failure(const struct tts_failure *a, const struct tts_failure *b)
{
    return a->kind == b->kind && a->pool == b->pool &&
           a->requested_bytes == b->requested_bytes && a->need_bytes == b->need_bytes &&
           a->block_bytes == b->block_bytes && a->banks == b->banks &&
           a->bank_bytes == b->bank_bytes && a->taken_bytes == b->taken_bytes &&
           a->free_bytes == b->free_bytes && a->largest_free_bytes == b->largest_free_bytes &&
           a->address == b->address && a->limit == b->limit && a->program_id == b->program_id &&
           a->region_end == b->region_end && a->l1_bytes == b->l1_bytes &&
           a->l1_address == b->l1_address && a->range.x0 == b->range.x0 &&
           a->range.y0 == b->range.y0 && a->range.x1 == b->range.x1 &&
           a->range.y1 == b->range.y1 && a->mesh_id == b->mesh_id &&
           a->trace_bytes == b->trace_bytes && a->taken_end == b->taken_end &&
           a->given_end == b->given_end;
}

static inline bool same_alloc(const struct tts_event *a, const struct tts_event *b)
{
    return a->pool == b->pool && a->id == b->id && a->size_bytes == b->size_bytes &&
           a->bytes_per_bank == b->bytes_per_bank && a->block_bytes == b->block_bytes &&
           same_ranges(a, b) && a->has_address == b->has_address &&
           (!a->has_address || a->address == b->address) && a->page_bytes == b->page_bytes &&
           (a->page_bytes == 0 || (a->cores == b->cores && a->placement == b->placement));
}

/* Compares two events without the operation in which they happened; the caller compares
 * that. */
static inline bool same_event(const struct tts_event *a, const struct tts_event *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case TTS_EVENT_ALLOC: /* an allocation of 0 bytes stores only its device */
        return a->device == b->device && a->size_bytes == b->size_bytes &&
               (a->size_bytes == 0 || same_alloc(a, b));
    case TTS_EVENT_FREE:
        return a->device == b->device && a->pool == b->pool && a->id == b->id &&
               a->size_bytes == b->size_bytes && a->bytes_per_bank == b->bytes_per_bank &&
               a->block_bytes == b->block_bytes;
    case TTS_EVENT_CB:
    case TTS_EVENT_DFB:
    case TTS_EVENT_SCRATCHPAD:
        return a->device == b->device && a->size_bytes == b->size_bytes && same_ranges(a, b) &&
               (a->kind == TTS_EVENT_SCRATCHPAD || a->borrowed == b->borrowed);
    case TTS_EVENT_OP_BEGIN:
        return same_op_name(a->name, a->name_len, b->name, b->name_len);
    case TTS_EVENT_OP_END:
        return true;
    case TTS_EVENT_PROGRAM:
    case TTS_EVENT_TRACE_BEGIN:
    case TTS_EVENT_TRACE_END:
        return a->device == b->device;
    case TTS_EVENT_FAILURE:
        return a->device == b->device && same_failure(a->failure, b->failure);
    }
    return false;
}

/* Returns true if a recording stores the operation in which the event happened. */
static inline bool keeps_op(const struct tts_event *event)
{
    switch (event->kind) {
    case TTS_EVENT_ALLOC:
        return event->size_bytes > 0;
    case TTS_EVENT_CB:
    case TTS_EVENT_DFB:
    case TTS_EVENT_SCRATCHPAD:
    case TTS_EVENT_OP_BEGIN:
    case TTS_EVENT_FAILURE:
        return true;
    case TTS_EVENT_FREE:
    case TTS_EVENT_PROGRAM:
    case TTS_EVENT_OP_END:
    case TTS_EVENT_TRACE_BEGIN:
    case TTS_EVENT_TRACE_END:
        return false;
    }
    return false;
}

static inline bool same_live(const struct tts_live *a, const struct tts_live *b)
{
    return a->id == b->id && a->size_bytes == b->size_bytes &&
           a->bytes_per_bank == b->bytes_per_bank && a->block_bytes == b->block_bytes &&
           a->seq == b->seq && a->device == b->device && a->pool == b->pool;
}

static inline bool same_sample(const struct tts_sample *a, const struct tts_sample *b)
{
    bool is_same = a->period_ns == b->period_ns && a->known == b->known;
    for (unsigned i = 0; i < TTS_SAMPLE_VALUES; i++)
        is_same &= !tts_sample_has(a, i) || a->values[i] == b->values[i];
    return is_same;
}

/* Compares two items without their times. */
static inline bool same_item(const struct tts_item *a, const struct tts_item *b)
{
    if (a->kind != b->kind || a->seq != b->seq)
        return false;
    bool has_thread = a->event.kind == TTS_EVENT_OP_BEGIN || a->event.kind == TTS_EVENT_OP_END;
    switch (a->kind) {
    case TTS_ITEM_EVENT:
        return same_event(&a->event, &b->event) &&
               (!keeps_op(&a->event) || same_op(&a->op, &b->op)) &&
               (!has_thread || a->thread == b->thread);
    case TTS_ITEM_NAME:
        return same_op(&a->op, &b->op);
    case TTS_ITEM_SAMPLE:
        return a->device == b->device && same_sample(a->sample, b->sample);
    case TTS_ITEM_CHIP:
        return a->device == b->device && a->mesh == b->mesh;
    case TTS_ITEM_BEGIN:
    case TTS_ITEM_END:
    case TTS_ITEM_ACTIVE:
        return a->capture == b->capture;
    case TTS_ITEM_CUT:
        return a->capture == b->capture &&
               same_text(a->name, a->name_len, b->name, b->name_len);
    case TTS_ITEM_MISSED:
        return a->count == b->count && a->left_buffers == b->left_buffers &&
               a->left_bytes == b->left_bytes;
    case TTS_ITEM_KEYFRAME:
        return a->count == b->count;
    case TTS_ITEM_LIVE:
        return same_live(&a->live, &b->live) && same_ranges(&a->event, &b->event) &&
               same_op(&a->op, &b->op);
    case TTS_ITEM_PART:
        return same_event(&a->event, &b->event) && same_op(&a->op, &b->op) &&
               a->live.seq == b->live.seq;
    case TTS_ITEM_TRACING:
        return a->device == b->device && a->count == b->count;
    case TTS_ITEM_KEYFRAME_END:
        return true;
    }
    return false;
}
