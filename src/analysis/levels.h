/* levels.h: how much of each pool is in use now, over all devices. docs/design/phases.md has
 * the rules: DRAM and TRACE are sums in which a mesh counts once; L1 and L1_SMALL are those of
 * the device that uses most. Plain data of about 30 KiB; starts as all zeros. One thread. */
#pragma once

#include "model/fold.h"

struct tts_pool_level {
    uint64_t listed_bytes; /* bytes of known buffers; `buffers` is their number */
    uint64_t buffers;
    /* Bytes that count although no known buffer has them: buffers that were not listed, minus
     * buffers freed without a known allocation. Negative (modulo 2^64) if buffers were freed
     * that existed before the file. */
    uint64_t loose_bytes;
};

struct tts_device_level {
    uint32_t id;
    uint16_t mesh;                          /* index + 1; 0: the device is in no mesh */
    struct tts_pool_level pools[TTS_POOLS]; /* its own; without the buffers of its mesh */
};

struct tts_levels {
    struct tts_device_level devices[TTS_FOLD_DEVICES_MAX];
    uint32_t device_count, last;
    struct tts_pool_level total[TTS_POOLS]; /* sum over all devices; a mesh counts once */
};

/* Applies a change. Cannot fail: there is room for all devices that a fold can have. */
void tts_levels_change(struct tts_levels *levels, const struct tts_change *change);

struct tts_level {
    int64_t bytes; /* listed plus loose bytes */
    int64_t loose_bytes;
    uint64_t buffers;
    /* L1 and L1_SMALL only: the device, and its mesh, whose buffers are on the device too. */
    bool has_device, has_mesh;
    uint32_t device, mesh;
};
/* Returns the level of a pool. Of devices with equal bytes, a mesh precedes its chips, then the
 * smallest id wins. */
struct tts_level tts_levels_of(const struct tts_levels *levels, enum tts_pool pool);
/* Returns the level of one device in any pool. */
struct tts_level tts_levels_of_device(const struct tts_levels *levels, uint32_t device,
                                      enum tts_pool pool);

/* Returns the level without its loose bytes, which depend on where counting began. */
struct tts_level tts_level_listed(struct tts_level level);

/* Returns true if the buffer counts in the level. Both are of the same pool. */
bool tts_level_has(const struct tts_level *level, const struct tts_live *live);
