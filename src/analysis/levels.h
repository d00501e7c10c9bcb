/* levels.h: how much of each pool is in use now, over devices as docs/design/phases.md counts:
 * DRAM and TRACE are sums in which a mesh counts once, L1 and L1_SMALL are those of the device
 * that has the most.
 * Plain data, some 30 KiB; starts as all zeros. One thread. */
#pragma once

#include "model/fold.h"

struct tts_pool_level {
    uint64_t listed_bytes; /* of buffers that are known, and how many they are */
    uint64_t buffers;
    /* What counts beside them: buffers that were not listed, less what was freed unseen. Below
     * 0 (modulo 2^64) when buffers were freed that were there before the file. */
    uint64_t loose_bytes;
};

struct tts_device_level {
    uint32_t id;
    uint16_t mesh;                          /* index + 1; 0: it is in none */
    struct tts_pool_level pools[TTS_POOLS]; /* its own; what its mesh has is not among them */
};

struct tts_levels {
    struct tts_device_level devices[TTS_FOLD_DEVICES_MAX];
    uint32_t device_count, last;
    struct tts_pool_level total[TTS_POOLS]; /* of all devices, a mesh counted once */
};

/* Never fails: there are no more devices than a fold has. */
void tts_levels_change(struct tts_levels *levels, const struct tts_change *change);

struct tts_level {
    int64_t bytes; /* listed + loose */
    int64_t loose_bytes;
    uint64_t buffers;
    /* L1, L1_SMALL: whose it is, and of which mesh: whose buffers lie on it too. */
    bool has_device, has_mesh;
    uint32_t device, mesh;
};
/* Of equal devices a mesh before its chips, then that with the smallest id. */
struct tts_level tts_levels_of(const struct tts_levels *levels, enum tts_pool pool);
/* Of one device alone, in any pool. */
struct tts_level tts_levels_of_device(const struct tts_levels *levels, uint32_t device,
                                      enum tts_pool pool);

/* The buffers alone: its loose bytes depend on where one began to count. */
struct tts_level tts_level_listed(struct tts_level level);

/* Whether a buffer is part of that level, of the same pool. */
bool tts_level_has(const struct tts_level *level, const struct tts_live *live);
