/* coresets.h: sets of cores. Equal sets are stored once, with the number of their holders. A
 * set is freed when its last holder drops the set. There is room for TTS_CORESETS_MAX different
 * sets. tts_coresets_new() allocates all memory, but memory is touched only when it is used.
 * One thread at a time. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/buffer.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTS_CORESETS_MAX = 4096 };

/* Special values instead of a set: every core, and no core. They have no holders. */
#define TTS_CORESETS_EVERY UINT32_MAX
#define TTS_CORESETS_NOWHERE (UINT32_MAX - 1)

/* Cores [x0, x1] x [y0, y1], both ends included, each below TTS_GRID_SIDE_MAX. */
struct tts_box {
    uint8_t x0, y0, x1, y1;
};

/* A list of boxes that do not overlap. */
struct tts_boxes {
    size_t count;
    struct tts_box box[TTS_RANGES_MAX];
};

/* Returns the index of a core, in row-major order. */
static inline uint16_t tts_core_idx(uint32_t x, uint32_t y)
{
    return (uint16_t)(y * TTS_GRID_SIDE_MAX + x);
}

static inline struct tts_core tts_core_at(uint16_t idx)
{
    return (struct tts_core){idx % TTS_GRID_SIDE_MAX, idx / TTS_GRID_SIDE_MAX};
}

/* Copies the core ranges of an event to *out. tts_event_check() has accepted the event. */
void tts_boxes_pack(struct tts_boxes *out, const struct tts_core_range *ranges, size_t count);
bool tts_boxes_have(const struct tts_box *box, size_t count, uint16_t core);

struct tts_coresets;

TTS_NODISCARD enum tts_status tts_coresets_new(const struct tts_alloc *alloc,
                                               struct tts_coresets **out);
void tts_coresets_free(struct tts_coresets *sets); /* `sets` may be NULL */
void tts_coresets_reset(struct tts_coresets *sets);

/* Returns the set of these boxes and adds a holder. Returns TTS_CORESETS_NOWHERE if there is no
 * room for another set. */
uint32_t tts_coresets_hold(struct tts_coresets *sets, const struct tts_boxes *boxes);
void tts_coresets_hold_again(struct tts_coresets *sets, uint32_t set);
void tts_coresets_drop(struct tts_coresets *sets, uint32_t set);

/* Returns the boxes of a set. They stay valid until the set is dropped. */
const struct tts_box *tts_coresets_boxes(const struct tts_coresets *sets, uint32_t set,
                                         size_t *count);
/* Returns whether a set contains a core. TTS_CORESETS_EVERY contains every core,
 * TTS_CORESETS_NOWHERE contains none. */
bool tts_coresets_have(const struct tts_coresets *sets, uint32_t set, uint16_t core);
/* Returns the number of different sets that have a holder. */
uint32_t tts_coresets_count(const struct tts_coresets *sets);
