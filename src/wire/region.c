#include "wire/region.h"

enum { UNUSED_CHIP_V1 = 0 };

/* The parts that versions 1 to 4 have in common. */
#define LAYOUT_8576                                                                            \
    .bytes = sizeof(struct tts_region_v4), .counters = 5,                                      \
    .totals_off = offsetof(struct tts_region_v4, total_bytes),                                 \
    .chips_off = offsetof(struct tts_region_v4, chips),                                        \
    .chip_bytes = sizeof(struct tts_region_chip),                                              \
    .chip_counters_off = offsetof(struct tts_region_chip, bytes),                              \
    .slots_off = offsetof(struct tts_region_v4, slots),                                        \
    .slot_bytes = sizeof(struct tts_region_slot),                                              \
    .slot_counters_off = offsetof(struct tts_region_slot, bytes),                              \
    .slot_time_off = offsetof(struct tts_region_slot, last_update_ns),                         \
    .slot_name_off = offsetof(struct tts_region_slot, name)

static const struct tts_region_layout region_layouts[] = {
    {.name = "v1k",
     .version = 1,
     .bytes = sizeof(struct tts_region_v1k),
     .counters = TTS_REGION_COUNTERS,
     .totals_off = offsetof(struct tts_region_v1k, total_bytes),
     .chips_off = offsetof(struct tts_region_v1k, chips),
     .chip_bytes = sizeof(struct tts_region_chip_v1k),
     .chip_counters_off = offsetof(struct tts_region_chip_v1k, bytes),
     .slots_off = offsetof(struct tts_region_v1k, slots),
     .slot_bytes = sizeof(struct tts_region_slot_v1k),
     .slot_counters_off = offsetof(struct tts_region_slot_v1k, bytes),
     .slot_time_off = offsetof(struct tts_region_slot_v1k, last_update_ns),
     .slot_name_off = offsetof(struct tts_region_slot_v1k, name),
     .free_chip_id = UNUSED_CHIP_V1},
    {.name = "v1", .version = 1, LAYOUT_8576, .free_chip_id = UNUSED_CHIP_V1},
    {.name = "v2",
     .version = 2,
     LAYOUT_8576,
     .free_chip_id = TTS_REGION_NO_CHIP,
     .is_unix_time = 1,
     .has_asic_id = 1},
    {.name = "v3",
     .version = 3,
     LAYOUT_8576,
     .free_chip_id = TTS_REGION_NO_CHIP,
     .is_unix_time = 1,
     .has_asic_id = 1},
    {.name = "v4",
     .version = 4,
     LAYOUT_8576,
     .init_state_off = offsetof(struct tts_region_v4, init_state),
     .free_chip_id = TTS_REGION_NO_CHIP,
     .is_unix_time = 1,
     .has_asic_id = 1},
};

enum { REGION_LAYOUTS = sizeof region_layouts / sizeof region_layouts[0] };

const struct tts_region_layout *tts_region_layout(uint32_t version, uint64_t bytes)
{
    for (size_t i = 0; i < REGION_LAYOUTS; i++)
        if (region_layouts[i].version == version && region_layouts[i].bytes == bytes)
            return &region_layouts[i];
    return NULL;
}

const struct tts_region_layout *tts_region_layout_at(size_t idx)
{
    return idx < REGION_LAYOUTS ? &region_layouts[idx] : NULL;
}
