/* device_inside.h: what a device is made of. For device*.c only. */
#pragma once

#include "base/compiler.h"
#include "device/devicepools.h"
#include "device/need.h"
#include "ttscope/device.h"

struct tts_device_pool {
    struct tts_banks *banks; /* NULL: there is none */
    bool is_quick;           /* interleaved buffers are placed the short way, while any are */
    struct tts_need_pool need;
    struct tts_pool_layout layout;
    uint64_t placed_bytes, unplaced_bytes, peak_bytes; /* of a bank */
    uint64_t buffers, unplaced_buffers, failures;
    uint64_t own_buffers; /* of `buffers`: those of single cores */
    bool uneven;          /* a bank does not hold the sum of the buffers: HYBRID, or fused */
    bool fused; /* after an override a block may be larger than the buffer that names it */
};

/* A live trace: in TRACE, or without a trace region in DRAM. */
struct tts_device_trace {
    uint64_t address;
    uint64_t bytes; /* of the budget */
    uint64_t water; /* how far DRAM was in use during its capture */
};

struct tts_device {
    struct tts_device_pool pools[TTS_POOLS];
    uint64_t grid;    /* 0: not known */
    uint64_t last_id; /* of the buffers so far */
    struct tts_observer observer;
    bool is_placing; /* tts_device_is_placing() */
    /* Its observer goes on to the parts of the mesh, until another takes its place. */
    struct tts_device_config config;
    const struct tts_alloc *alloc;
    struct tts_chip chip;
    struct tts_cbs *cbs;       /* NULL: facts are missing */
    struct tts_banks_map *map; /* NULL: likewise */
    uint64_t *floor;           /* [cores] in HYBRID mode, else NULL */
    struct tts_failure first, last;
    uint64_t failures;
    bool capturing;
    struct tts_device_trace *traces; /* all in the same pool */
    size_t trace_count, trace_capacity;
};

/* The pool of traces. */
static inline enum tts_pool tts_device_trace_pool(const struct tts_device *device)
{
    return device->pools[TTS_POOL_TRACE].banks ? TTS_POOL_TRACE : TTS_POOL_DRAM;
}

/* To be asked once a request, when it begins: any thread may change the answer. While it is yes
 * the mode is PLACE or OVERCOMMIT, as config.mode says. */
static inline bool tts_device_is_placing(const struct tts_device *device)
{
    return __atomic_load_n(&device->is_placing, __ATOMIC_RELAXED);
}

void tts_device_tell(struct tts_device *device, const struct tts_device_event *event);

/* Notes a refusal and tells of it. */
void tts_device_refuse(struct tts_device *device, const struct tts_failure *failure);

/* The circumstances of a refused take of `bytes` by `allocator`. */
struct tts_failure tts_device_circumstances(const struct tts_device *device, enum tts_pool pool,
                                            const struct tts_need *need, uint32_t allocator);

/* tts_device_alloc(); what is not to be placed is counted only. */
TTS_NODISCARD enum tts_status tts_device_alloc_as(struct tts_device *device,
                                                  const struct tts_request *request, bool place,
                                                  struct tts_buffer *out,
                                                  struct tts_error *err);

/* Fills in the error of a take that failed. */
enum tts_status tts_device_take_error(enum tts_status status, enum tts_pool pool,
                                      struct tts_error *err);

/* TTS_E_RANGE: a buffer of `bytes` more cannot be counted. */
TTS_NODISCARD enum tts_status tts_device_countable(const struct tts_device_pool *pool,
                                                   uint64_t bytes, struct tts_error *err);

/* Counts what is in an uneven pool. */
void tts_device_recount(struct tts_device_pool *pool);

/* Counts a block that was placed, or one that was not. */
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

/* The same backwards, for one that was not placed. TTS_E_NOT_FOUND: it cannot be there. */
TTS_NODISCARD enum tts_status tts_device_uncount(struct tts_device_pool *pool,
                                                 const struct tts_buffer *buffer);

static inline bool tts_device_watched(const struct tts_device *device)
{
    return TTS_UNLIKELY(device->observer.event != NULL);
}
