/* fold_rig.h: a fold with one watch, functions that make one event each, and room for the
 * phases that the fold cuts. */
#pragma once

#include "harness/once.h"
#include "harness/t.h"
#include "model/fold.h"
#include "model/opnames.h"

#include <string.h>

enum { RIG_DEVICES = 8, RIG_PARTS = 1024 };

struct rig {
    struct tts_fold *fold;
    struct tts_watch *watch;
    uint64_t op; /* hash of the current operation; 0 if there is none */
};

/* A phase that was cut, with the memory for everything it points to. */
struct cut {
    struct tts_phase phase;
    struct tts_device_usage devices[RIG_DEVICES];
    struct tts_core_part parts[RIG_PARTS];
};

static inline struct tts_watch *rig_watch(struct rig *rig)
{
    struct tts_watch *watch = NULL;
    T_EQ(tts_watch_new(rig->fold, NULL, &watch), TTS_OK);
    tts_watch_attach(rig->fold, watch);
    return watch;
}

static inline struct rig rig_with(struct tts_tracker_config limits)
{
    struct rig rig = {0};
    T_EQ(tts_fold_new(&limits, NULL, &rig.fold), TTS_OK);
    rig.watch = rig_watch(&rig);
    return rig;
}

/* Makes a rig whose ledger has room for live_max buffers and cannot grow. */
static inline struct rig rig_that_does_not_grow(struct tts_tracker_config limits,
                                                struct once *memory)
{
    struct rig rig = {0};
    once_init(memory);
    T_EQ(tts_fold_new(&limits, &memory->alloc, &rig.fold), TTS_OK);
    memory->is_refused = true;
    rig.watch = rig_watch(&rig);
    return rig;
}

static inline struct rig rig_new(void)
{
    return rig_with((struct tts_tracker_config){
        .live_max = 256, .devices_max = RIG_DEVICES, .ops_max = 16});
}

static inline void rig_unwatch(struct rig *rig, struct tts_watch *watch)
{
    T_TRUE(tts_fold_is_valid(rig->fold));
    tts_watch_detach(rig->fold, watch);
    tts_watch_free(watch);
}

static inline void rig_done(struct rig *rig)
{
    rig_unwatch(rig, rig->watch);
    tts_fold_free(rig->fold);
}

static inline void post(struct rig *rig, struct tts_event event)
{
    struct tts_error err = {0};
    T_EQ(tts_event_check(&event, &err), TTS_OK);
    tts_fold_event(rig->fold, &event, rig->op);
}

static inline void dram(struct rig *rig, uint32_t device, uint64_t id, uint64_t bytes)
{
    post(rig, (struct tts_event){.kind = TTS_EVENT_ALLOC,
                                 .device = device,
                                 .pool = TTS_POOL_DRAM,
                                 .id = id,
                                 .size_bytes = bytes});
}

static inline void l1(struct rig *rig, uint32_t device, uint64_t id, uint64_t bank)
{
    post(rig, (struct tts_event){.kind = TTS_EVENT_ALLOC,
                                 .device = device,
                                 .pool = TTS_POOL_L1,
                                 .id = id,
                                 .size_bytes = bank * 64,
                                 .bytes_per_bank = bank});
}

static inline void small(struct rig *rig, uint32_t device, uint64_t id, uint64_t bank)
{
    post(rig, (struct tts_event){.kind = TTS_EVENT_ALLOC,
                                 .device = device,
                                 .pool = TTS_POOL_L1_SMALL,
                                 .id = id,
                                 .size_bytes = bank * 64,
                                 .bytes_per_bank = bank});
}

/* Frees a buffer that the fold knows. */
static inline void drop(struct rig *rig, uint32_t device, uint64_t id)
{
    post(rig, (struct tts_event){.kind = TTS_EVENT_FREE, .device = device, .id = id});
}

/* Frees a buffer that the fold may not know, so the event states its pool and size. */
static inline void drop_sized(struct rig *rig, uint32_t device, enum tts_pool pool, uint64_t id,
                              uint64_t bytes)
{
    post(rig, (struct tts_event){.kind = TTS_EVENT_FREE,
                                 .device = device,
                                 .pool = pool,
                                 .id = id,
                                 .size_bytes = bytes,
                                 .bytes_per_bank = bytes});
}

static inline void program(struct rig *rig, uint32_t device)
{
    post(rig, (struct tts_event){.kind = TTS_EVENT_PROGRAM, .device = device});
}

static inline void trace(struct rig *rig, uint32_t device, bool begin)
{
    enum tts_event_kind kind = begin ? TTS_EVENT_TRACE_BEGIN : TTS_EVENT_TRACE_END;
    post(rig, (struct tts_event){.kind = kind, .device = device});
}

/* Adds a circular buffer, dataflow buffer or scratchpad on the cores of one range. */
static inline void part(struct rig *rig, uint32_t device, enum tts_event_kind kind,
                        struct tts_core_range range, uint64_t bytes)
{
    post(rig, (struct tts_event){.kind = kind,
                                 .device = device,
                                 .size_bytes = bytes,
                                 .ranges = &range,
                                 .range_count = 1});
}

static const struct tts_core_range grid8 = {0, 0, 7, 7};

static inline void cb(struct rig *rig, uint32_t device, uint64_t bytes)
{
    part(rig, device, TTS_EVENT_CB, grid8, bytes);
}

static inline void op_begin(struct rig *rig, const char *name)
{
    rig->op = tts_opnames_hash(name, strlen(name));
    post(rig, (struct tts_event){
                  .kind = TTS_EVENT_OP_BEGIN, .name = name, .name_len = strlen(name)});
}

static inline void op_end(struct rig *rig)
{
    post(rig, (struct tts_event){.kind = TTS_EVENT_OP_END});
    rig->op = 0;
}

static inline void cut_of(struct rig *rig, struct tts_watch *watch, struct cut *out)
{
    T_TRUE(tts_fold_is_valid(rig->fold));
    struct tts_watch_size size = tts_watch_measure(rig->fold, watch);
    T_TRUE(size.devices <= RIG_DEVICES && size.parts <= RIG_PARTS);
    /* A cut must not write more memory than was measured before. */
    memset(out, 0x5a, sizeof *out);
    tts_watch_cut(rig->fold, watch, &out->phase, out->devices, out->parts);
    T_EQ(out->phase.device_count, size.devices);
    const unsigned char *rest = (const unsigned char *)&out->parts[size.parts];
    for (size_t i = 0; i < (RIG_PARTS - size.parts) * sizeof out->parts[0]; i++)
        T_EQ(rest[i], 0x5a);
    T_TRUE(tts_fold_is_valid(rig->fold));
}

/* Cuts the phase. Returns its usage, summed over all devices. */
static inline const struct tts_usage *cut(struct rig *rig, struct cut *out)
{
    cut_of(rig, rig->watch, out);
    return &out->phase.usage;
}

static inline const struct tts_usage *usage_of(const struct cut *cut, uint32_t device)
{
    for (size_t i = 0; i < cut->phase.device_count; i++)
        if (cut->devices[i].device == device)
            return &cut->devices[i].usage;
    fail_msg("device %u is not listed", device);
    return NULL;
}

static inline struct tts_tracker_health health(const struct rig *rig)
{
    struct tts_tracker_health out;
    tts_fold_health(rig->fold, &out);
    return out;
}

/* --- figures of a phase ------------------------------------------------------------------ */

static inline const struct tts_pool_usage *dram_of(const struct tts_usage *usage)
{
    return &usage->pools[TTS_POOL_DRAM];
}

static inline const struct tts_pool_usage *l1_of(const struct tts_usage *usage)
{
    return &usage->pools[TTS_POOL_L1];
}

static inline void check_pool(const struct tts_pool_usage *usage, int64_t peak,
                              int64_t allocated, int64_t freed)
{
    T_EQ(usage->peak_bytes, peak);
    T_EQ(usage->allocated_bytes, allocated);
    T_EQ(usage->freed_bytes, freed);
}

static inline void check_total(const struct tts_pool_usage *usage, int64_t peak,
                               int64_t current)
{
    T_EQ(usage->cumulative_peak_bytes, peak);
    T_EQ(usage->cumulative_current_bytes, current);
}

/* Copies the live buffers to `out`, the oldest first. Returns the number of live buffers. */
static inline size_t live_of(const struct tts_fold *fold, struct tts_live *out, size_t capacity)
{
    size_t total = tts_fold_collect(fold, out, capacity);
    tts_fold_sort(out, total < capacity ? total : capacity);
    return total;
}
