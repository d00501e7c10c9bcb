/* pressure.h: which pools of a device are nearly full (critical), who holds them, and what
 * could move from L1 to DRAM. A buffer can move if it is interleaved and no circular buffer
 * lies in its memory.
 *
 * Pure functions: no clock, no allocation. Threads: any. */
#pragma once

#include "model/live/liveframe.h"

/* A pool is critical from the first share on. DRAM has room below the second. */
enum { TTS_PRESSURE_PERCENT = 90, TTS_PRESSURE_DRAM_PERCENT = 75 };

/* A live buffer that a program lists. */
struct tts_pressurebuffer {
    enum tts_pool pool;
    bool address_known;
    uint64_t id, address, size_bytes;
    bool is_sharded; /* on some cores only */
    bool has_cb;     /* a circular buffer lies in its memory */
};

typedef void (*tts_pressure_visit_fn)(void *ctx, const struct tts_pressurebuffer *buffer);

/* The live buffers of a process on a device. `each` calls `visit` for each buffer and returns
 * false if the buffers cannot be read or are not listed. */
struct tts_pressuretable {
    bool (*each)(void *ctx, const struct tts_liveprocess *process, tts_pressure_visit_fn visit,
                 void *visit_ctx);
    void *ctx;
};

/* Returns whether `used` of `total` bytes are critical. An empty pool is not. */
bool tts_pressure_is_critical(uint64_t used, uint64_t total);

/* Fills the pressure of device->answers. `table` may be NULL. Bytes that dead processes left
 * behind do not count. */
void tts_pressure_judge(struct tts_livedevice *device, const struct tts_pressuretable *table);

/* Describes the process of an answer. */
void tts_liveowner_set(struct tts_liveowner *owner, const struct tts_liveprocess *process);
