/* item_rig.h: makes items in the order in which a reader of files would return them. */
#pragma once

#include "model/item.h"
#include "model/opnames.h"

#include <string.h>

struct item_rig {
    uint64_t seq, time_ns; /* sequence number and time of the last item */
    bool has_time;
};

/* Returns the next event, one microsecond after the last one. */
static inline struct tts_item item_event(struct item_rig *rig, enum tts_event_kind kind,
                                         uint32_t device)
{
    rig->time_ns += 1000;
    return (struct tts_item){.kind = TTS_ITEM_EVENT,
                             .seq = ++rig->seq,
                             .has_time = rig->has_time,
                             .time_ns = rig->time_ns,
                             .event = tts_event_of(kind, device)};
}

/* Returns an item that is not an event, with the number and time of the last event. */
static inline struct tts_item item_mark(const struct item_rig *rig, enum tts_item_kind kind)
{
    return (struct tts_item){
        .kind = kind, .seq = rig->seq, .has_time = rig->has_time, .time_ns = rig->time_ns};
}

static inline void item_set_op(struct tts_item *item, const char *name)
{
    item->op = (struct tts_item_op){tts_opnames_hash(name, strlen(name)), name, strlen(name)};
}

static inline struct tts_item item_alloc(struct item_rig *rig, uint32_t device,
                                         enum tts_pool pool, uint64_t id, uint64_t bytes)
{
    struct tts_item item = item_event(rig, TTS_EVENT_ALLOC, device);
    item.event.pool = pool;
    item.event.id = id;
    item.event.size_bytes = bytes;
    return item;
}

static inline struct tts_item item_free(struct item_rig *rig, uint32_t device,
                                        enum tts_pool pool, uint64_t id)
{
    struct tts_item item = item_event(rig, TTS_EVENT_FREE, device);
    item.event.pool = pool;
    item.event.id = id;
    return item;
}

/* Returns an event of a circular buffer, dataflow buffer or scratchpad. The event points to
 * `ranges`. */
static inline struct tts_item item_part(struct item_rig *rig, enum tts_event_kind kind,
                                        uint64_t bytes, const struct tts_core_range *ranges,
                                        size_t count)
{
    struct tts_item item = item_event(rig, kind, 0);
    item.event.size_bytes = bytes;
    item.event.ranges = ranges;
    item.event.range_count = count;
    return item;
}

static inline struct tts_item item_op(struct item_rig *rig, uint32_t thread, const char *name)
{
    struct tts_item item = item_event(rig, name ? TTS_EVENT_OP_BEGIN : TTS_EVENT_OP_END, 0);
    item.thread = thread;
    if (name)
        item_set_op(&item, name);
    return item;
}

static inline struct tts_item item_live(const struct item_rig *rig, uint32_t device,
                                        enum tts_pool pool, uint64_t id, uint64_t bytes)
{
    struct tts_item item = item_mark(rig, TTS_ITEM_LIVE);
    item.live = (struct tts_live){
        .id = id, .size_bytes = bytes, .device = device, .pool = pool, .seq = 1};
    return item;
}

static inline struct tts_item item_capture(const struct item_rig *rig, enum tts_item_kind kind,
                                           uint32_t capture, const char *name)
{
    struct tts_item item = item_mark(rig, kind);
    item.capture = capture;
    item.name = name;
    item.name_len = name ? strlen(name) : 0;
    return item;
}
