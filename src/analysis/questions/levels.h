/* levels.h: the level of each pool, which is the number of bytes in use now. The level of DRAM
 * and TRACE is the sum of all devices, and a mesh counts once. The level of L1 and L1_SMALL is
 * the level of the device that uses most (docs/design/phases.md). struct tts_levels is plain
 * data of about 30 KiB. Initialize it with zeros. One thread at a time. */
#pragma once

#include "model/fold.h"

struct tts_pool_level {
    uint64_t listed_bytes; /* bytes of known buffers; `buffers` is their number */
    uint64_t buffers;
    /* Loose bytes: bytes that count although no known buffer has them. They are the bytes of
     * buffers for which the ledger had no memory, minus the bytes of buffers that were freed
     * but not known. Loose bytes are negative (modulo 2^64) if the program frees buffers that
     * are older than the file. */
    uint64_t loose_bytes;
};

struct tts_device_level {
    uint32_t id;
    /* Index of the mesh + 1; 0 if the device is in no mesh. */
    uint16_t mesh;
    /* Levels of the device itself, without the buffers of its mesh. */
    struct tts_pool_level pools[TTS_POOLS];
};

struct tts_levels {
    struct tts_device_level devices[TTS_FOLD_DEVICES_MAX];
    uint32_t device_count, last;
    struct tts_pool_level total[TTS_POOLS]; /* sum over all devices; a mesh counts once */
};

/* Applies a change (model/fold.h). There is room for all devices that a fold can have. */
void tts_levels_change(struct tts_levels *levels, const struct tts_change *change);

struct tts_level {
    int64_t bytes; /* listed plus loose bytes */
    int64_t loose_bytes;
    uint64_t buffers;
    /* For L1 and L1_SMALL only: the device whose level this is, and its mesh. The buffers of
     * the mesh are on the device too. */
    bool has_device, has_mesh;
    uint32_t device, mesh;
};
/* Returns the level of a pool. In L1 and L1_SMALL, if several devices have the most bytes,
 * chooses a mesh before its chips, then the smallest id. */
struct tts_level tts_levels_of(const struct tts_levels *levels, enum tts_pool pool);
/* Returns the level of one device in any pool. */
struct tts_level tts_levels_of_device(const struct tts_levels *levels, uint32_t device,
                                      enum tts_pool pool);

/* Returns the level without its loose bytes. Loose bytes depend on the event at which counting
 * began. */
struct tts_level tts_level_listed(struct tts_level level);

/* Returns true if the level includes the buffer. The buffer and the level are of the same
 * pool. */
bool tts_level_has(const struct tts_level *level, const struct tts_live *live);
