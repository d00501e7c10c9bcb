/* device_rig.h: short functions for tests of a device, its buffers and its state. */
#pragma once

#include "device/devicepools.h"
#include "device/space.h"
#include "harness/chip_tools.h"
#include "harness/t.h"
#include "torture/heap.h"
#include "ttscope/device.h"

#include <string.h>

enum { ALLOCATORS_MAX = 160 };

/* The addresses in the pools of a Wormhole n150. */
#define DRAM_BASE UINT64_C(2968640)
#define DRAM_TOP UINT64_C(1073741824)
#define L1_BASE UINT64_C(105664)
#define L1_TOP UINT64_C(1499136)
#define L1_BYTES (L1_TOP - L1_BASE)

static inline struct tts_chip chip_with(const char *preset, const char *l1_small,
                                        const char *trace_region)
{
    struct tts_chip chip = chip_of(preset);
    set(&chip, "l1_small", l1_small);
    set(&chip, "trace_region", trace_region);
    return chip;
}

static inline struct tts_device *
device_on(struct tts_chip chip, struct tts_device_config config, const struct heap *heap)
{
    struct tts_device *device = NULL;
    struct tts_error err = {0};
    if (tts_device_new(&chip, &config, heap ? &heap->alloc : NULL, &device, &err) != TTS_OK)
        fail_msg("no device: %s", err.text);
    return device;
}

static inline struct tts_device *device_in(enum tts_mode mode, struct tts_chip chip)
{
    return device_on(chip, (struct tts_device_config){.mode = mode}, NULL);
}

static inline struct tts_device *device_of(const char *preset)
{
    return device_in(TTS_MODE_PLACE, chip_of(preset));
}

static inline struct tts_request pages_in(enum tts_pool pool, uint64_t pages,
                                          uint64_t page_bytes)
{
    return (struct tts_request){
        .pool = pool, .size_bytes = pages * page_bytes, .page_bytes = page_bytes};
}

/* Returns a request for `pages` pages on every core of the range. The sharding is stored in
 * *shard, which must outlive the request. */
static inline struct tts_request sharded_in(enum tts_pool pool, uint64_t pages,
                                            uint64_t page_bytes,
                                            const struct tts_core_range *range,
                                            struct tts_shard *shard)
{
    uint64_t cores = (uint64_t)(range->x1 - range->x0 + 1) * (range->y1 - range->y0 + 1u);
    *shard = (struct tts_shard){.shard_height = pages,
                                .shard_width = 1,
                                .page_height = 1,
                                .page_width = 1,
                                .cores = {.ranges = range, .count = 1}};
    struct tts_request request = pages_in(pool, pages * cores, page_bytes);
    request.shard = shard;
    return request;
}

/* Compares two buffers field by field, because their padding bytes may differ. */
static inline void same_buffer(const struct tts_buffer *a, const struct tts_buffer *b)
{
    T_EQ(a->id, b->id);
    T_TRUE(a->pool == b->pool && a->placed == b->placed && a->banks == b->banks);
    T_TRUE(a->address == b->address && a->size_bytes == b->size_bytes);
    T_TRUE(a->bytes_per_bank == b->bytes_per_bank && a->block_bytes == b->block_bytes);
}

static inline void same_layout(const struct tts_pool_layout *a, const struct tts_pool_layout *b)
{
    T_TRUE(a->banks == b->banks && a->bank_bytes == b->bank_bytes);
    T_TRUE(a->offset_bytes == b->offset_bytes && a->nominal_bytes == b->nominal_bytes);
    T_TRUE(a->page_alignment_bytes == b->page_alignment_bytes);
    T_TRUE(a->block_alignment_bytes == b->block_alignment_bytes);
    T_TRUE(a->limit == b->limit && a->direction == b->direction);
}

static inline void same_failure(const struct tts_failure *a, const struct tts_failure *b)
{
    T_TRUE(a->kind == b->kind && a->pool == b->pool && a->banks == b->banks);
    T_EQ(a->requested_bytes, b->requested_bytes);
    T_TRUE(a->need_bytes == b->need_bytes && a->block_bytes == b->block_bytes);
    T_TRUE(a->bank_bytes == b->bank_bytes && a->taken_bytes == b->taken_bytes);
    T_EQ(a->free_bytes, b->free_bytes);
    T_EQ(a->largest_free_bytes, b->largest_free_bytes);
    T_TRUE(a->address == b->address && a->limit == b->limit);
    T_TRUE(a->program_id == b->program_id && a->region_end == b->region_end);
    T_TRUE(a->l1_bytes == b->l1_bytes && a->l1_address == b->l1_address);
    T_MEM_EQ(&a->range, &b->range, sizeof a->range);
    T_TRUE(a->mesh_id == b->mesh_id && a->trace_bytes == b->trace_bytes);
}

static inline struct tts_buffer taken(struct tts_device *device, struct tts_request request)
{
    struct tts_buffer buffer = {0};
    struct tts_error err = {0};
    enum tts_status status = tts_device_alloc(device, &request, &buffer, &err);
    if (status != TTS_OK)
        fail_msg("refused: %s, %s", tts_status_text(status), err.text);
    return buffer;
}

static inline void refused(struct tts_device *device, struct tts_request request,
                           enum tts_status status)
{
    struct tts_buffer buffer, same;
    memset(&buffer, 0x55, sizeof buffer);
    memcpy(&same, &buffer, sizeof same);
    T_EQ(tts_device_alloc(device, &request, &buffer, NULL), status);
    T_MEM_EQ(&buffer, &same, sizeof buffer);
}

static inline void given(struct tts_device *device, struct tts_buffer buffer)
{
    T_EQ(tts_device_release(device, &buffer), TTS_OK);
}

static inline struct tts_pool_stats stats_of(const struct tts_device *device,
                                             enum tts_pool pool)
{
    struct tts_pool_stats stats;
    T_TRUE(tts_device_stats(device, pool, &stats));
    return stats;
}

static inline const struct tts_space *space_of(const struct tts_device *device,
                                               enum tts_pool pool)
{
    return tts_banks_space(tts_device_pool(device, pool), 0);
}

/* The state that a failed call must not change. */
struct snapshot {
    struct tts_space *spaces[TTS_POOLS][ALLOCATORS_MAX];
    struct tts_pool_stats stats[TTS_POOLS];
    uint64_t failures;
    size_t cbs;
};

static inline uint32_t allocators_of(const struct tts_device *device, int pool)
{
    const struct tts_banks *banks = tts_device_pool(device, (enum tts_pool)pool);
    uint32_t count = banks ? tts_banks_allocators(banks) : 0;
    T_TRUE(count <= ALLOCATORS_MAX);
    return count;
}

static inline struct snapshot snapshot_of(const struct tts_device *device)
{
    struct snapshot was = {.failures = tts_device_failures(device)};
    was.cbs = tts_device_cbs(device) ? tts_cbs_count(tts_device_cbs(device)) : 0;
    for (int i = 0; i < TTS_POOLS; i++) {
        const struct tts_banks *banks = tts_device_pool(device, (enum tts_pool)i);
        for (uint32_t k = 0; k < allocators_of(device, i); k++)
            T_EQ(tts_space_copy(tts_banks_space(banks, k), &was.spaces[i][k]), TTS_OK);
        if (banks)
            was.stats[i] = stats_of(device, (enum tts_pool)i);
    }
    return was;
}

static inline void same_blocks(const struct tts_space *a, const struct tts_space *b)
{
    struct tts_space_cursor at = {0}, bt = {0};
    struct tts_block x, y;
    while (tts_space_next(a, &at, &x)) {
        T_TRUE(tts_space_next(b, &bt, &y));
        T_TRUE(x.address == y.address && x.size_bytes == y.size_bytes && x.taken == y.taken);
    }
    T_TRUE(!tts_space_next(b, &bt, &y));
}

/* Checks that the device has not changed since the snapshot, and frees the snapshot. The ids of
 * blocks in allocators of single cores are not compared. */
static inline void is_as_it_was(const struct tts_device *device, struct snapshot *was)
{
    T_EQ(tts_device_failures(device), was->failures);
    if (tts_device_cbs(device))
        T_EQ(tts_cbs_count(tts_device_cbs(device)), was->cbs);
    for (int i = 0; i < TTS_POOLS; i++) {
        const struct tts_banks *banks = tts_device_pool(device, (enum tts_pool)i);
        for (uint32_t k = 0; k < allocators_of(device, i); k++) {
            const struct tts_space *now = tts_banks_space(banks, k);
            same_blocks(now, was->spaces[i][k]);
            T_TRUE(k > 0 || tts_space_equal(now, was->spaces[i][k]));
            tts_space_free(was->spaces[i][k]);
        }
        if (!banks)
            continue;
        struct tts_pool_stats now = stats_of(device, (enum tts_pool)i);
        T_MEM_EQ(&now, &was->stats[i], sizeof now);
        T_TRUE(tts_banks_is_valid(banks));
    }
}
