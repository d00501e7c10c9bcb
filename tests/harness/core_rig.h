/* core_rig.h: queries and checks for tests of core peaks. */
#pragma once

#include "harness/fold_rig.h"

static inline const struct tts_core_peak *peak(struct rig *rig, struct cut *out)
{
    return &cut(rig, out)->core;
}

static inline void check_core(const struct tts_core_peak *core, uint64_t bytes, uint16_t x,
                              uint16_t y)
{
    T_TRUE(core->known);
    T_EQ(core->bytes, bytes);
    T_EQ(core->core.x, x);
    T_EQ(core->core.y, y);
    T_EQ(core->cb_bytes + core->dfb_bytes + core->scratchpad_bytes + core->l1_bytes +
             core->l1_small_bytes,
         bytes);
    uint64_t listed = core->unlisted_bytes;
    for (size_t i = 0; i < core->part_count; i++)
        listed += core->parts[i].bytes;
    T_EQ(listed, bytes);
}

static inline void check_part(const struct tts_core_peak *core, size_t idx,
                              enum tts_event_kind kind, uint64_t id, uint64_t bytes)
{
    T_TRUE(idx < core->part_count);
    T_EQ(core->parts[idx].kind, kind);
    T_EQ(core->parts[idx].id, id);
    T_EQ(core->parts[idx].bytes, bytes);
}

static inline void percore(struct rig *rig, uint64_t id, const struct tts_core_range *ranges,
                           size_t count, uint64_t bytes)
{
    post(rig, (struct tts_event){.kind = TTS_EVENT_ALLOC,
                                 .pool = TTS_POOL_L1,
                                 .id = id,
                                 .size_bytes = bytes,
                                 .bytes_per_bank = bytes,
                                 .ranges = ranges,
                                 .range_count = count});
}
