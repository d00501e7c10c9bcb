/* device_inside.h: the fields of a device and functions that its files share. Only for
 * device*.c. */
#pragma once

#include "base/compiler.h"
#include "device/devicepools.h"
#include "device/need.h"
#include "ttscope/device.h"

struct tts_device_pool {
    struct tts_banks *banks; /* NULL: the pool does not exist */
    bool is_quick;           /* interleaved buffers may use the fast path */
    struct tts_need_pool need;
    struct tts_pool_layout layout;
    /* Bytes in one bank, in the fullest one if the banks differ. */
    uint64_t placed_bytes, unplaced_bytes, peak_bytes;
    uint64_t buffers, unplaced_buffers, failures;
    uint64_t own_buffers; /* number of buffers, among `buffers`, with a separate block in each
                             core */
    bool uneven; /* a bank may hold less than the sum of the buffers: in HYBRID mode, or after
                    tts_banks_override() */
    bool fused;  /* tts_banks_override() ran, so a block may be larger than its buffer */
};

/* A live trace. It is in TRACE, or in DRAM if the device has no trace region. */
struct tts_device_trace {
    uint64_t address;
    uint64_t bytes; /* bytes that count against the size of the trace region */
    uint64_t water; /* highest DRAM address that was in use during its capture */
};

struct tts_device {
    struct tts_device_pool pools[TTS_POOLS];
    uint64_t grid;    /* compute grid; 0 if unknown */
    uint64_t last_id; /* id of the last buffer */
    struct tts_observer observer;
    bool is_placing; /* read and set atomically; use tts_device_is_placing() */
    /* A submesh inherits config.observer, unless tts_device_observe() replaced it. */
    struct tts_device_config config;
    const struct tts_alloc *alloc;
    struct tts_chip chip;
    struct tts_cbs *cbs;       /* NULL if a fact it needs is unknown */
    struct tts_banks_map *map; /* NULL if a fact it needs is unknown */
    uint64_t *floor;           /* HYBRID mode: one address for each core; NULL in other modes */
    struct tts_failure first, last;
    uint64_t failures;
    bool capturing;
    struct tts_device_trace *traces; /* the live traces, which are all in the same pool */
    size_t trace_count, trace_capacity;
};

/* Returns the pool where traces are allocated. */
static inline enum tts_pool tts_device_trace_pool(const struct tts_device *device)
{
    return device->pools[TTS_POOL_TRACE].banks ? TTS_POOL_TRACE : TTS_POOL_DRAM;
}

/* Returns true if requests are placed now. Call this once for each request, at its beginning,
 * because another thread may change the answer. If the result is true, the mode is PLACE or
 * OVERCOMMIT. */
static inline bool tts_device_is_placing(const struct tts_device *device)
{
    return __atomic_load_n(&device->is_placing, __ATOMIC_RELAXED);
}

void tts_device_tell(struct tts_device *device, const struct tts_device_event *event);

/* Records a refusal and calls the observer. */
void tts_device_refuse(struct tts_device *device, const struct tts_failure *failure);

/* Returns the description of a request that was refused to `allocator`. */
struct tts_failure tts_device_circumstances(const struct tts_device *device, enum tts_pool pool,
                                            const struct tts_need *need, uint32_t allocator);

/* Like tts_device_alloc(), but if `place` is false, the buffer is only counted. */
TTS_NODISCARD enum tts_status tts_device_alloc_as(struct tts_device *device,
                                                  const struct tts_request *request, bool place,
                                                  struct tts_buffer *out,
                                                  struct tts_error *err);

/* Sets `err` to the reason why a block could not be taken. Returns `status`. */
enum tts_status tts_device_take_error(enum tts_status status, enum tts_pool pool,
                                      struct tts_error *err);

/* Checks whether `bytes` more can be counted. TTS_E_RANGE: the sum would be too large. */
TTS_NODISCARD enum tts_status tts_device_countable(const struct tts_device_pool *pool,
                                                   uint64_t bytes, struct tts_error *err);

/* Computes the counts of an uneven pool again. */
void tts_device_recount(struct tts_device_pool *pool);

/* Counts one block, which was placed or only counted. */
static inline void tts_device_count(struct tts_device_pool *pool, uint64_t bytes, bool placed)
{
    pool->buffers++;
    pool->unplaced_buffers += !placed;
    pool->placed_bytes += placed ? bytes : 0;
    pool->unplaced_bytes += placed ? 0 : bytes;
    if (TTS_UNLIKELY(pool->uneven)) {
        tts_device_recount(pool);
        return;
    }
    uint64_t now = pool->placed_bytes + pool->unplaced_bytes;
    pool->peak_bytes = now > pool->peak_bytes ? now : pool->peak_bytes;
}

/* Removes a buffer that was only counted from the counts. TTS_E_NOT_FOUND: the pool has no such
 * buffer. */
TTS_NODISCARD enum tts_status tts_device_uncount(struct tts_device_pool *pool,
                                                 const struct tts_buffer *buffer);

static inline bool tts_device_watched(const struct tts_device *device)
{
    return TTS_UNLIKELY(device->observer.event != NULL);
}
