/* whatif_rig.h: short functions for tests that run items on another device. */
#pragma once

#include "analysis/whatif.h"
#include "analysis/whatif_search.h"
#include "harness/chip_tools.h"
#include "model/opnames.h"
#include "torture/heap.h"

struct rig {
    struct tts_whatif *whatif;
    struct tts_item item;
    uint64_t seq;
    struct tts_error err;
    struct tts_whatif_counts counts;
};

static inline struct rig rig_with(const struct tts_chip *chip, bool keeps_steps)
{
    struct rig rig = {0};
    struct tts_whatif_config config = {.chip = chip, .keeps_steps = keeps_steps};
    if (tts_whatif_new(&config, NULL, &rig.whatif, &rig.err) != TTS_OK)
        fail_msg("no run: %s", rig.err.text);
    return rig;
}

static inline struct rig rig_on(const char *preset)
{
    struct tts_chip chip = chip_of(preset);
    return rig_with(&chip, true);
}

/* Returns an n150 whose DRAM banks have `bank_bytes` bytes. */
static inline struct tts_chip small_chip(uint64_t bank_bytes)
{
    struct tts_chip chip = chip_of("n150"), out;
    T_EQ(tts_whatif_resize(&chip, bank_bytes, &out, NULL), TTS_OK);
    return out;
}

static inline struct tts_item *event_item(struct rig *rig, enum tts_event_kind kind,
                                          uint32_t device)
{
    rig->item = (struct tts_item){.kind = TTS_ITEM_EVENT, .seq = ++rig->seq};
    rig->item.event = tts_event_of(kind, device);
    return &rig->item;
}

static inline void feed(struct rig *rig)
{
    if (tts_whatif_item(rig->whatif, &rig->item, &rig->err) != TTS_OK)
        fail_msg("event %llu: %s", (unsigned long long)rig->seq, rig->err.text);
}

static inline struct tts_event *alloc_event(struct rig *rig, enum tts_pool pool, uint64_t id,
                                            uint64_t size_bytes, uint64_t page_bytes)
{
    struct tts_event *event = &event_item(rig, TTS_EVENT_ALLOC, 0)->event;
    event->pool = pool;
    event->id = id;
    event->size_bytes = size_bytes;
    event->page_bytes = page_bytes;
    if (pool == TTS_POOL_L1 || pool == TTS_POOL_L1_SMALL)
        /* an event in L1 must have a value; any value will do */
        event->bytes_per_bank = page_bytes;
    return event;
}

static inline void alloc_in(struct rig *rig, enum tts_pool pool, uint64_t id,
                            uint64_t size_bytes, uint64_t page_bytes)
{
    alloc_event(rig, pool, id, size_bytes, page_bytes);
    feed(rig);
}

/* Allocates `pages` pages of 2048 bytes in each of the 12 DRAM banks of an n150. */
static inline void rows(struct rig *rig, uint64_t id, uint64_t pages)
{
    alloc_in(rig, TTS_POOL_DRAM, id, pages * 2048 * 12, 2048);
}

static inline void free_in(struct rig *rig, enum tts_pool pool, uint64_t id)
{
    struct tts_event *event = &event_item(rig, TTS_EVENT_FREE, 0)->event;
    event->pool = pool;
    event->id = id;
    feed(rig);
}

static inline void free_row(struct rig *rig, uint64_t id)
{
    free_in(rig, TTS_POOL_DRAM, id);
}

static inline void cb_on(struct rig *rig, uint32_t device, struct tts_core_range range,
                         uint64_t bytes)
{
    struct tts_event *event = &event_item(rig, TTS_EVENT_CB, device)->event;
    event->size_bytes = bytes;
    event->ranges = &range;
    event->range_count = 1;
    feed(rig);
}

static inline void just(struct rig *rig, enum tts_event_kind kind, uint32_t device)
{
    event_item(rig, kind, device);
    feed(rig);
}

static inline void chip_of_mesh(struct rig *rig, uint32_t chip, uint32_t mesh)
{
    rig->item =
        (struct tts_item){.kind = TTS_ITEM_CHIP, .seq = rig->seq, .device = chip, .mesh = mesh};
    feed(rig);
}

static inline const struct tts_whatif_counts *counts_of(struct rig *rig)
{
    tts_whatif_get_counts(rig->whatif, &rig->counts);
    return &rig->counts;
}

static inline struct tts_whatif_pool pool_of(const struct rig *rig, enum tts_pool pool)
{
    struct tts_whatif_pool out;
    T_TRUE(tts_whatif_get_worst(rig->whatif, pool, &out));
    return out;
}

static inline void says_first(const struct rig *rig, const char *text)
{
    char out[TTS_FAILURE_TEXT_MAX];
    const struct tts_whatif_failure *first = tts_whatif_first(rig->whatif);
    T_TRUE(first != NULL);
    T_STR_EQ(tts_whatif_failure_text(first, out), text);
}

static inline enum tts_status try_kept(void *ctx, uint64_t bank_bytes, bool *passes,
                                       struct tts_error *err)
{
    return tts_whatif_try(ctx, bank_bytes, passes, err);
}

/* Returns the smallest size of a bank with which the stored steps succeed. */
static inline struct tts_whatif_found smallest(struct rig *rig)
{
    struct tts_whatif_pool dram = pool_of(rig, TTS_POOL_DRAM);
    bool fits = dram.failures == 0;
    struct tts_whatif_search search = {.low_bytes = dram.stats.peak_bytes,
                                       .high_bytes = fits ? dram.layout.bank_bytes : 0,
                                       .step_bytes = dram.layout.block_alignment_bytes,
                                       .run = try_kept,
                                       .ctx = rig->whatif};
    struct tts_whatif_found found = {0};
    T_TRUE(tts_whatif_has_steps(rig->whatif));
    T_EQ(tts_whatif_smallest(&search, &found, &rig->err), TTS_OK);
    return found;
}
