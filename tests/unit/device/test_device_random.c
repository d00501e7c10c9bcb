/* Compares a device with spaces that a test drives directly: every address and every number
 * must be equal. The test computes the bytes of each request in a bank without the code of the
 * device, in a simple way. */
#include "device/space.h"
#include "harness/device_rig.h"

#include <string.h>

enum { LIVE_MAX = 400, OPS = 30000 };

struct twin {
    struct tts_device *device;
    struct tts_space *spaces[TTS_POOLS];
    struct tts_pool_layout layouts[TTS_POOLS];
    uint64_t peaks[TTS_POOLS], failures[TTS_POOLS], live[TTS_POOLS];
    uint32_t columns, rows;
    size_t count;
    struct tts_buffer buffers[LIVE_MAX];
    uint64_t rng;
};

static uint64_t below(struct twin *twin, uint64_t n)
{
    return t_random(&twin->rng) % n;
}

static void twin_init(struct twin *twin, struct tts_chip chip, uint64_t seed)
{
    memset(twin, 0, sizeof *twin);
    twin->rng = seed;
    twin->device = device_in(TTS_MODE_PLACE, chip);
    twin->columns = TTS_GRID_COLUMNS(value_of(&chip, TTS_FACT_GRID));
    twin->rows = TTS_GRID_ROWS(value_of(&chip, TTS_FACT_GRID));
    for (int i = 0; i < TTS_POOLS; i++) {
        struct tts_pool_layout *layout = &twin->layouts[i];
        T_EQ(tts_chip_pool(&chip, (enum tts_pool)i, layout, NULL), TTS_OK);
        if (layout->bank_bytes == 0)
            continue;
        struct tts_space_config config = {.size_bytes = layout->bank_bytes,
                                          .offset_bytes = layout->offset_bytes,
                                          .min_bytes = layout->block_alignment_bytes,
                                          .alignment_bytes = layout->block_alignment_bytes,
                                          .policy = TTS_POLICY_FIRST};
        T_EQ(tts_space_new(&config, NULL, &twin->spaces[i], NULL), TTS_OK);
    }
}

static void twin_release(struct twin *twin)
{
    tts_device_free(twin->device);
    for (int i = 0; i < TTS_POOLS; i++)
        tts_space_free(twin->spaces[i]);
}

/* Returns a random page size: usually a few tiles, sometimes an odd size, rarely a large part
 * of a bank. */
static uint64_t some_page(struct twin *twin)
{
    static const uint64_t tiles[] = {576, 1088, 2048, 4096, 32, 64};
    return below(twin, 4) ? tiles[below(twin, 6)] : 1 + below(twin, 5000);
}

static uint64_t some_pages(struct twin *twin, uint64_t bank_bytes, uint64_t page)
{
    uint64_t most = bank_bytes / page / (below(twin, 8) ? 40 : 2);
    return 1 + below(twin, most + 1);
}

/* Makes a random request and computes its bytes in a bank without the code of the device. */
static struct tts_request some_request(struct twin *twin, enum tts_pool pool,
                                       struct tts_shard *shard, struct tts_core_range *range,
                                       uint64_t *bytes_per_bank)
{
    const struct tts_pool_layout *layout = &twin->layouts[pool];
    bool in_dram = pool == TTS_POOL_DRAM || pool == TTS_POOL_TRACE;
    uint64_t page = some_page(twin), pages = some_pages(twin, layout->bank_bytes, page);
    uint64_t aligned = page;
    while (aligned % layout->page_alignment_bytes != 0)
        aligned++;
    *bytes_per_bank = pages * aligned;
    struct tts_request request;
    if (pool == TTS_POOL_L1_SMALL || below(twin, 3) == 0) {
        uint32_t columns = in_dram ? layout->banks : twin->columns;
        *range = (struct tts_core_range){.x1 = (uint16_t)below(twin, columns),
                                         .y1 = in_dram ? 0 : (uint16_t)below(twin, twin->rows)};
        request = sharded_in(pool, pages, page, range, shard);
    } else {
        request = pages_in(pool, pages * layout->banks - below(twin, layout->banks), page);
    }
    request.placement = (enum tts_placement)below(twin, 3);
    return request;
}

static void same_stats(const struct twin *twin, enum tts_pool pool)
{
    struct tts_space_stats want;
    struct tts_pool_stats got = stats_of(twin->device, pool);
    tts_space_get_stats(twin->spaces[pool], &want);
    T_MEM_EQ(&got.space, &want, sizeof want);
    T_TRUE(got.unplaced_bytes == 0 && got.unplaced_buffers == 0);
    T_TRUE(got.buffers == twin->live[pool] && got.peak_bytes == twin->peaks[pool]);
    T_EQ(got.failures, twin->failures[pool]);
}

static void same_refusal(const struct twin *twin, enum tts_pool pool, uint64_t bytes)
{
    struct tts_space_stats stats;
    const struct tts_failure *failure = tts_device_failure(twin->device);
    tts_space_get_stats(twin->spaces[pool], &stats);
    T_TRUE(failure->kind == TTS_FAILURE_SPACE && failure->pool == pool);
    T_TRUE(failure->need_bytes == bytes && failure->bank_bytes == stats.total_bytes);
    T_TRUE(failure->taken_bytes == stats.taken_bytes);
    T_TRUE(failure->free_bytes == stats.free_bytes);
    T_EQ(failure->largest_free_bytes, stats.largest_free_bytes);
    T_EQ(failure->taken_bytes + failure->free_bytes, failure->bank_bytes);
}

static void take_both(struct twin *twin, enum tts_pool pool)
{
    struct tts_shard shard;
    struct tts_core_range range;
    uint64_t bytes, address = 0;
    struct tts_request request = some_request(twin, pool, &shard, &range, &bytes);
    bool up = request.placement == TTS_PLACE_UP ||
              (request.placement == TTS_PLACE_DEFAULT &&
               (pool == TTS_POOL_DRAM || pool == TTS_POOL_TRACE));
    enum tts_status want = tts_space_take(
        twin->spaces[pool], bytes, up ? TTS_DIRECTION_UP : TTS_DIRECTION_DOWN, 0, &address);
    struct tts_buffer *buffer = &twin->buffers[twin->count];
    T_EQ(tts_device_alloc(twin->device, &request, buffer, NULL), want);
    if (want != TTS_OK) {
        twin->failures[pool]++;
        same_refusal(twin, pool, bytes);
        return;
    }
    T_TRUE(buffer->address == address && buffer->placed && buffer->bytes_per_bank == bytes);
    uint64_t size = 0;
    T_EQ(tts_space_size_at(twin->spaces[pool], address, &size), TTS_OK);
    T_EQ(buffer->block_bytes, size);
    struct tts_space_stats stats;
    tts_space_get_stats(twin->spaces[pool], &stats);
    if (stats.taken_bytes > twin->peaks[pool])
        twin->peaks[pool] = stats.taken_bytes;
    twin->live[pool]++;
    twin->count++;
}

static void give_both(struct twin *twin, size_t idx)
{
    struct tts_buffer buffer = twin->buffers[idx];
    T_EQ(tts_device_release(twin->device, &buffer), TTS_OK);
    T_EQ(tts_space_give(twin->spaces[buffer.pool], buffer.address), TTS_OK);
    twin->live[buffer.pool]--;
    twin->buffers[idx] = twin->buffers[--twin->count];
}

static void run(struct tts_chip chip, uint64_t seed)
{
    static struct twin twin;
    twin_init(&twin, chip, seed);
    for (int i = 0; i < OPS; i++) {
        enum tts_pool pool;
        do
            pool = (enum tts_pool)below(&twin, TTS_POOLS);
        while (!twin.spaces[pool]);
        size_t idx = below(&twin, LIVE_MAX);
        if (idx < twin.count)
            give_both(&twin, idx);
        else
            take_both(&twin, pool);
        for (int k = 0; k < TTS_POOLS; k++)
            if (twin.spaces[k])
                same_stats(&twin, (enum tts_pool)k);
    }
    for (int k = 0; k < TTS_POOLS; k++) {
        if (!twin.spaces[k])
            continue;
        /* The run had enough buffers and failures. */
        T_TRUE(twin.live[k] > 10 && twin.failures[k] > 10);
        T_TRUE(tts_space_equal(twin.spaces[k], space_of(twin.device, (enum tts_pool)k)));
    }
    twin_release(&twin);
}

T_TEST(an_n150_places_as_bare_spaces_do)
{
    run(chip_of("n150"), 1);
}

T_TEST(a_p150_places_as_bare_spaces_do)
{
    run(chip_of("p150"), 2);
}

T_TEST(with_l1_small_and_a_trace_region_all_four_pools_do)
{
    run(chip_with("n150", "30800", "95693824"), 3);
    run(chip_with("p150", "65536", "1000000"), 4);
}
