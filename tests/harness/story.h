/* story.h: random items as the recorder of a program would write them. They are events of every
 * kind on four devices, two of which are chips of a third device, in operations, phases and
 * traces. */
#pragma once

#include "harness/t.h"
#include "model/item.h"
#include "model/opnames.h"

#include <stdio.h>
#include <string.h>

enum { STORY_LIVE_MAX = 1 << 17, STORY_NAMES = 12, STORY_MESH = 100 };

struct story {
    uint64_t rng, seq, next_id, time_ns;
    size_t live_max, live_count;
    struct {
        uint64_t id;
        uint32_t device;
    } live[STORY_LIVE_MAX];
    uint32_t op;     /* number of the current operation + 1; 0: no operation */
    uint32_t told;   /* number of items made so far */
    bool active[4];  /* tells which captures are active; the first capture has number 1 */
    bool only_plain; /* makes only DRAM buffers and no refused requests, for long stories */
    char names[STORY_NAMES][32];
    struct tts_core_range ranges[2];
    struct tts_failure failure;
    char phase[24];
};

static inline void story_begin(struct story *story, uint64_t seed, size_t live_max)
{
    memset(story, 0, sizeof *story);
    story->rng = seed;
    story->next_id = 1000;
    story->time_ns = 5000000;
    story->live_max = live_max < STORY_LIVE_MAX ? live_max : STORY_LIVE_MAX;
    for (int i = 0; i < STORY_NAMES; i++)
        snprintf(story->names[i], sizeof story->names[i], "ttnn::operation_%d", i);
}

static inline uint64_t story_draw(struct story *story, uint64_t below)
{
    return t_random(&story->rng) % below;
}

static inline uint32_t story_device(struct story *story)
{
    static const uint32_t devices[] = {STORY_MESH, 0, 1, 7};
    return devices[story_draw(story, 4)];
}

static inline struct tts_item_op story_op(const struct story *story)
{
    if (story->op == 0)
        return (struct tts_item_op){0};
    const char *name = story->names[story->op - 1];
    return (struct tts_item_op){tts_opnames_hash(name, strlen(name)), name, strlen(name)};
}

static inline void story_ranges(struct story *story, struct tts_event *event)
{
    uint16_t x = (uint16_t)story_draw(story, 7), y = (uint16_t)story_draw(story, 8);
    story->ranges[0] = (struct tts_core_range){0, y, x, y};
    story->ranges[1] = (struct tts_core_range){(uint16_t)(x + 1), 0, 7, 3};
    event->ranges = story->ranges;
    event->range_count = 1 + story_draw(story, 2);
}

static inline void story_alloc(struct story *story, struct tts_item *item)
{
    struct tts_event *event = &item->event;
    *event = tts_event_of(TTS_EVENT_ALLOC, story_device(story));
    event->pool = story->only_plain ? TTS_POOL_DRAM : (enum tts_pool)story_draw(story, 4);
    event->id = story->next_id++;
    event->size_bytes = UINT64_C(2048) << story_draw(story, 6);
    if (event->pool == TTS_POOL_L1 || event->pool == TTS_POOL_L1_SMALL) {
        event->bytes_per_bank = UINT64_C(64) << story_draw(story, 4);
        event->block_bytes = story_draw(story, 2) ? event->bytes_per_bank + 32 : 0;
        if (story_draw(story, 3) == 0)
            story_ranges(story, event);
    }
    if (story_draw(story, 2)) {
        event->has_address = true;
        event->address = 32 * story_draw(story, 1 << 20);
        event->page_bytes = 2048;
        event->cores = (uint32_t)story_draw(story, 3) * 8;
        event->placement = (enum tts_placement)story_draw(story, 3);
    }
    item->op = story_op(story);
    story->live[story->live_count].id = event->id;
    story->live[story->live_count++].device = event->device;
}

static inline void story_free(struct story *story, struct tts_item *item)
{
    size_t idx = story_draw(story, story->live_count);
    item->event = tts_event_of(TTS_EVENT_FREE, story->live[idx].device);
    item->event.id = story->live[idx].id;
    story->live[idx] = story->live[--story->live_count];
}

static inline void story_free_unseen(struct story *story, struct tts_item *item)
{
    item->event = tts_event_of(TTS_EVENT_FREE, story_device(story));
    item->event.pool = story_draw(story, 2) ? TTS_POOL_L1 : TTS_POOL_DRAM;
    item->event.id = 1 + story_draw(story, 900);
    item->event.size_bytes = 4096;
    item->event.bytes_per_bank = item->event.pool == TTS_POOL_L1 ? 64 : 0;
}

static inline void story_part(struct story *story, struct tts_item *item)
{
    enum tts_event_kind kind = (enum tts_event_kind)((int)TTS_EVENT_CB + story_draw(story, 3));
    item->event = tts_event_of(kind, story_device(story));
    item->event.size_bytes = 1024 * (1 + story_draw(story, 8));
    item->event.borrowed = kind != TTS_EVENT_SCRATCHPAD && story_draw(story, 4) == 0;
    story_ranges(story, &item->event);
    item->op = story_op(story);
}

static inline void story_operation(struct story *story, struct tts_item *item)
{
    bool begins = story->op == 0;
    item->event = tts_event_of(begins ? TTS_EVENT_OP_BEGIN : TTS_EVENT_OP_END, 0);
    item->thread = 3;
    story->op = begins ? (uint32_t)story_draw(story, STORY_NAMES) + 1 : 0;
    if (!begins)
        return;
    item->op = story_op(story);
    item->event.name = item->op.name;
    item->event.name_len = item->op.name_len;
}

static inline void story_failure(struct story *story, struct tts_item *item)
{
    story->failure = (struct tts_failure){.kind = TTS_FAILURE_SPACE,
                                          .pool = TTS_POOL_DRAM,
                                          .requested_bytes = story_draw(story, UINT64_MAX),
                                          .need_bytes = 77,
                                          .banks = 12,
                                          .largest_free_bytes = story_draw(story, 1 << 20)};
    item->event = tts_event_of(TTS_EVENT_FAILURE, story_device(story));
    item->event.failure = &story->failure;
    item->op = story_op(story);
}

/* Makes an item that begins a capture, ends one, or cuts its phase. */
static inline void story_phase(struct story *story, struct tts_item *item)
{
    uint32_t capture = 1 + (uint32_t)story_draw(story, 3);
    item->capture = capture;
    item->kind = TTS_ITEM_CUT;
    snprintf(story->phase, sizeof story->phase, "phase %u", story->told);
    item->name = story->phase;
    item->name_len = strlen(story->phase);
    if (!story->active[capture])
        item->kind = TTS_ITEM_BEGIN;
    else if (story_draw(story, 3) == 0)
        item->kind = TTS_ITEM_END;
    if (item->kind != TTS_ITEM_CUT) {
        item->name = NULL;
        item->name_len = 0;
        story->active[capture] = item->kind == TTS_ITEM_BEGIN;
    }
}

static inline void story_event(struct story *story, struct tts_item *item)
{
    uint64_t choice = story->only_plain ? 0 : story_draw(story, 100);
    bool wants_free = story->live_count >= story->live_max ||
                      (story->live_count > 0 && story_draw(story, 1000) < 480);
    if (choice < 60)
        (wants_free ? story_free : story_alloc)(story, item);
    else if (choice < 65)
        story_free_unseen(story, item);
    else if (choice < 78)
        story_operation(story, item);
    else if (choice < 90)
        story_part(story, item);
    else if (choice < 94)
        item->event = tts_event_of(TTS_EVENT_PROGRAM, story_device(story));
    else if (choice < 96)
        item->event = tts_event_of(TTS_EVENT_TRACE_BEGIN, story_device(story));
    else if (choice < 98)
        item->event = tts_event_of(TTS_EVENT_TRACE_END, story_device(story));
    else
        story_failure(story, item);
    item->seq = ++story->seq;
}

/* Returns the next item, with its time. Its pointers are valid until the next call. */
static inline void story_next(struct story *story, struct tts_item *item)
{
    memset(item, 0, sizeof *item);
    uint32_t told = story->told++;
    story->time_ns += story_draw(story, 3) ? 100 : 10000 * story_draw(story, 100);
    item->seq = story->seq;
    if (told < 2) {
        item->kind = TTS_ITEM_CHIP;
        item->device = told;
        item->mesh = STORY_MESH;
    } else if (story_draw(story, story->only_plain ? 20000 : 40) == 0) {
        story_phase(story, item);
    } else if (story_draw(story, story->only_plain ? 50000 : 200) == 0) {
        item->kind = TTS_ITEM_MISSED;
        item->count = 3;
    } else {
        story_event(story, item);
    }
    item->has_time = true;
    item->time_ns = story->time_ns;
}
