/* cbs_rig.h: short functions for tests that place circular buffers. */
#pragma once

#include "device/cbs.h"
#include "harness/t.h"
#include "torture/heap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { BASE = 105664, L1 = 1499136, TILE = 2048 };

static const struct tts_cbs_config wormhole = {.base = BASE,
                                               .l1_bytes = L1,
                                               .alignment_bytes = 32,
                                               .columns = 8,
                                               .rows = 8,
                                               .max_indices = 32};
static const struct tts_core_range all = {0, 0, 7, 7};
static const struct tts_cbs_floor no_buffers = {0};

static inline struct tts_cbs *cbs_on(struct tts_cbs_config config, const struct heap *heap)
{
    struct tts_cbs *cbs = NULL;
    struct tts_error err;
    T_EQ(tts_cbs_new(&config, heap ? &heap->alloc : NULL, &cbs, &err), TTS_OK);
    return cbs;
}

static inline struct tts_cbs *cbs_of(struct tts_cbs_config config)
{
    return cbs_on(config, NULL);
}

static inline uint64_t added(struct tts_cbs *cbs, const struct tts_cb *cb)
{
    uint64_t address = 77;
    struct tts_error err = {0};
    if (tts_cbs_add(cbs, cb, &address, &err) != TTS_OK)
        fail_msg("refused: %s", err.text);
    return address;
}

static inline uint64_t on(struct tts_cbs *cbs, struct tts_core_range range, uint64_t bytes)
{
    return added(cbs,
                 &(struct tts_cb){.ranges = &range, .range_count = 1, .total_bytes = bytes});
}

static inline uint64_t on_both(struct tts_cbs *cbs, struct tts_core_range a,
                               struct tts_core_range b, uint64_t bytes)
{
    struct tts_core_range ranges[] = {a, b};
    return added(cbs,
                 &(struct tts_cb){.ranges = ranges, .range_count = 2, .total_bytes = bytes});
}

static inline uint64_t global_on(struct tts_cbs *cbs, struct tts_core_range range,
                                 uint64_t address)
{
    return added(cbs, &(struct tts_cb){.ranges = &range,
                                       .range_count = 1,
                                       .total_bytes = TILE,
                                       .global = true,
                                       .global_address = address});
}

static inline struct tts_core_room
room_of(const struct tts_cbs *cbs, const struct tts_cbs_floor *floor, uint16_t x, uint16_t y)
{
    struct tts_core_room room = {0};
    T_EQ(tts_cbs_core(cbs, floor, (struct tts_core){x, y}, &room), TTS_OK);
    return room;
}

static inline void room_is(const struct tts_cbs *cbs, uint16_t x, uint64_t cb_bytes,
                           uint64_t end)
{
    struct tts_core_room room = room_of(cbs, &no_buffers, x, 0);
    T_EQ(room.cb_bytes, cb_bytes);
    T_EQ(room.region_end, end);
}
