/* coresets.h: sets of cores, each kept once and given up when nobody holds it any more.
 * Room for TTS_CORESETS_MAX different ones, taken at birth and touched as it is used. One
 * thread at a time. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/buffer.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTS_CORESETS_MAX = 4096 };

/* In the place of a set; never held. */
#define TTS_CORESETS_EVERY UINT32_MAX
#define TTS_CORESETS_NOWHERE (UINT32_MAX - 1)

/* Cores [x0, x1] x [y0, y1], both ends included, each below TTS_GRID_SIDE_MAX. */
struct tts_box {
    uint8_t x0, y0, x1, y1;
};

/* Boxes that do not overlap. */
struct tts_boxes {
    size_t count;
    struct tts_box box[TTS_RANGES_MAX];
};

/* A core as one number, in row-major order. */
static inline uint16_t tts_core_idx(uint32_t x, uint32_t y)
{
    return (uint16_t)(y * TTS_GRID_SIDE_MAX + x);
}

static inline struct tts_core tts_core_at(uint16_t idx)
{
    return (struct tts_core){idx % TTS_GRID_SIDE_MAX, idx / TTS_GRID_SIDE_MAX};
}

/* The ranges of an event that tts_event_check() passes. */
void tts_boxes_pack(struct tts_boxes *out, const struct tts_core_range *ranges, size_t count);
bool tts_boxes_have(const struct tts_box *box, size_t count, uint16_t core);

struct tts_coresets;

TTS_NODISCARD enum tts_status tts_coresets_new(const struct tts_alloc *alloc,
                                               struct tts_coresets **out);
void tts_coresets_free(struct tts_coresets *sets); /* NULL is fine */
void tts_coresets_reset(struct tts_coresets *sets);

/* The set of these boxes, held once more; NOWHERE: there is no room for another. */
uint32_t tts_coresets_hold(struct tts_coresets *sets, const struct tts_boxes *boxes);
void tts_coresets_hold_again(struct tts_coresets *sets, uint32_t set);
void tts_coresets_drop(struct tts_coresets *sets, uint32_t set);

/* Its boxes, until it is dropped. */
const struct tts_box *tts_coresets_boxes(const struct tts_coresets *sets, uint32_t set,
                                         size_t *count);
/* EVERY has every core, NOWHERE has none. */
bool tts_coresets_have(const struct tts_coresets *sets, uint32_t set, uint16_t core);
/* How many different ones are held. */
uint32_t tts_coresets_count(const struct tts_coresets *sets);
