#include "device/devicepools.h"
#include "device/space.h"
#include "harness/device_rig.h"

#include <string.h>

enum { K = 1024, CORES = 64 };

static const struct tts_core_range all = {0, 0, 7, 7}, first = {0, 0, 0, 0},
                                   second = {1, 0, 1, 0}, row = {0, 0, 3, 0};

static struct tts_device *hybrid_in(enum tts_mode mode)
{
    return device_on(chip_of("n150"), (struct tts_device_config){.mode = mode, .hybrid = true},
                     NULL);
}

/* A buffer with a block in each core, and everything that is needed to free it. */
struct own {
    struct tts_shard shard;
    struct tts_request request;
    struct tts_buffer buffer;
    uint64_t at[CORES];
};

static void own_init(struct own *own, const struct tts_core_range *range, uint64_t bytes,
                     enum tts_placement placement)
{
    memset(own, 0, sizeof *own);
    own->request = sharded_in(TTS_POOL_L1, 1, bytes, range, &own->shard);
    own->request.placement = placement;
}

static enum tts_status own_try(struct tts_device *device, struct own *own)
{
    return tts_device_alloc_per_core(device, &own->request, own->at, CORES, &own->buffer, NULL);
}

static void own_take(struct tts_device *device, struct own *own,
                     const struct tts_core_range *range, uint64_t bytes,
                     enum tts_placement placement)
{
    own_init(own, range, bytes, placement);
    T_EQ(own_try(device, own), TTS_OK);
}

static enum tts_status own_give(struct tts_device *device, const struct own *own)
{
    return tts_device_release_per_core(device, &own->request, own->at, &own->buffer);
}

/* Returns the statistics of the allocator of one core. */
static struct tts_space_stats core_stats(const struct tts_device *device, uint32_t x,
                                         uint32_t y)
{
    struct tts_space_stats stats;
    uint32_t bank = tts_device_map(device)->bank_of_core[y * 8 + x];
    tts_space_get_stats(tts_banks_space(tts_device_pool(device, TTS_POOL_L1), 1 + bank),
                        &stats);
    return stats;
}

T_TEST(hybrid_l1_has_an_allocator_for_each_core_and_banks_that_round_like_dram)
{
    struct tts_device *device = hybrid_in(TTS_MODE_PLACE);
    T_EQ(tts_banks_allocators(tts_device_pool(device, TTS_POOL_L1)), 1 + CORES);
    T_EQ(tts_banks_allocators(tts_device_pool(device, TTS_POOL_DRAM)), 1);
    const struct tts_pool_layout *layout = tts_device_layout(device, TTS_POOL_L1);
    T_EQ(layout->page_alignment_bytes, 16);
    T_EQ(layout->bank_page_alignment_bytes, 32);
    struct tts_request request = pages_in(TTS_POOL_L1, 128, 100);
    struct tts_need need;
    T_EQ(taken(device, request).bytes_per_bank, 256);
    T_EQ(tts_request_need(&request, layout, TTS_GRID(8, 8), &need, NULL), TTS_OK);
    T_TRUE(need.page_bytes == 112 && need.total_bytes == UINT64_C(128) * 112);
    T_EQ(need.bytes_per_bank, 256);
    size_t count;
    const uint32_t *on = tts_banks_neighbours(tts_device_pool(device, TTS_POOL_L1), 7, &count);
    T_TRUE(count == 1 && on[0] == 0);
    tts_banks_neighbours(tts_device_pool(device, TTS_POOL_L1), 0, &count);
    T_EQ(count, CORES);
    tts_device_free(device);
}

T_TEST(cores_are_apart_and_lockstep_buffers_keep_clear_of_all_of_them)
{
    struct tts_device *device = hybrid_in(TTS_MODE_PLACE);
    struct tts_request up = pages_in(TTS_POOL_L1, 64, K);
    up.placement = TTS_PLACE_UP;
    struct own a, b, c;
    own_take(device, &a, &first, 4 * K, TTS_PLACE_UP);
    own_take(device, &b, &second, 2 * K, TTS_PLACE_UP);
    T_TRUE(a.at[0] == L1_BASE && b.at[0] == L1_BASE && b.buffer.address == L1_BASE);
    T_EQ(taken(device, up).address, L1_BASE + 4 * K);
    /* The blocks go into the first gap of each core. */
    own_take(device, &c, &row, 2 * K, TTS_PLACE_UP);
    T_EQ(c.at[0], L1_BASE + 5 * K);
    T_EQ(c.at[1], L1_BASE + 2 * K);
    T_TRUE(c.at[2] == L1_BASE && c.at[3] == L1_BASE);
    T_TRUE(c.buffer.banks == 4 && c.buffer.address == c.at[0] && c.buffer.placed);
    T_TRUE(c.buffer.block_bytes == 2 * K && c.buffer.bytes_per_bank == 2 * K);
    T_EQ(own_give(device, &a), TTS_OK);
    T_EQ(own_give(device, &b), TTS_OK);
    T_EQ(own_give(device, &c), TTS_OK);
    T_EQ(own_give(device, &c), TTS_E_NOT_FOUND);
    T_EQ(taken(device, up).address, L1_BASE);
    own_take(device, &a, &first, 4 * K, TTS_PLACE_DEFAULT);
    T_EQ(a.at[0], L1_TOP - 4 * K);
    T_EQ(taken(device, pages_in(TTS_POOL_L1, 64, K)).address, L1_TOP - 5 * K);
    own_take(device, &b, &first, K, TTS_PLACE_DOWN);
    T_EQ(b.at[0], L1_TOP - 6 * K);
    tts_device_free(device);
}

static void takes_of_core(const struct tts_device *device, uint32_t x, uint32_t y,
                          uint64_t bytes)
{
    T_EQ(core_stats(device, x, y).taken_bytes, bytes);
}

T_TEST(cores_are_in_the_order_of_the_sharding)
{
    struct tts_device *device = hybrid_in(TTS_MODE_PLACE);
    static const struct tts_core_range two[] = {{2, 1, 3, 2}, {6, 6, 6, 6}};
    struct own before[4], a;
    /* Takes 1 KiB on core (2,1), 2 KiB on (3,1), 3 KiB on (2,2) and 4 KiB on (3,2). */
    for (uint16_t i = 0; i < 4; i++) {
        uint16_t x = (uint16_t)(2 + i % 2), y = (uint16_t)(1 + i / 2);
        struct tts_core_range core = {x, y, x, y};
        own_take(device, &before[i], &core, (i + 1u) * K, TTS_PLACE_UP);
        takes_of_core(device, x, y, (i + 1u) * K);
    }
    for (int column_major = 0; column_major < 2; column_major++) {
        own_init(&a, &two[0], 64, TTS_PLACE_UP);
        a.shard.cores = (struct tts_shard_cores){two, 2, column_major};
        a.request.size_bytes = UINT64_C(5) * 64;
        T_EQ(own_try(device, &a), TTS_OK);
        static const uint64_t want[2][4] = {{1, 2, 3, 4}, {1, 3, 2, 4}};
        for (int i = 0; i < 4; i++)
            T_EQ(a.at[i], L1_BASE + want[column_major][i] * K);
        T_EQ(a.at[4], L1_BASE);
        takes_of_core(device, 6, 6, 64);
        T_EQ(own_give(device, &a), TTS_OK);
    }
    tts_device_free(device);
}

T_TEST(all_cores_of_the_classic_sharding_have_a_block_whatever_else_deals)
{
    struct tts_device *device = hybrid_in(TTS_MODE_PLACE);
    struct own a;
    own_init(&a, &row, K, TTS_PLACE_DEFAULT);
    struct tts_distribution spread = {.rank = 1,
                                      .tensor = {a.request.size_bytes / a.request.page_bytes},
                                      .shard = {a.request.size_bytes / a.request.page_bytes},
                                      .cores = a.request.shard->cores};
    uint32_t cores = own_try(device, &a) == TTS_OK ? a.buffer.banks : 0;
    T_EQ(own_give(device, &a), TTS_OK);
    a.request.distribution = &spread; /* a distribution that puts one shard on one core */
    T_EQ(own_try(device, &a), TTS_OK);
    T_TRUE(cores > 1 && a.buffer.banks == cores);
    T_EQ(own_give(device, &a), TTS_OK);
    tts_device_free(device);
}

T_TEST(a_core_that_is_full_refuses_for_all_and_leaves_nothing_taken)
{
    struct tts_device *device = hybrid_in(TTS_MODE_PLACE);
    static const struct tts_core_range third = {2, 0, 2, 0};
    struct own full, a;
    char text[TTS_FAILURE_TEXT_MAX];
    taken(device, pages_in(TTS_POOL_L1, 64, 32));
    own_take(device, &full, &third, L1_BYTES - 1000 * K, TTS_PLACE_UP);
    own_init(&a, &row, 1000 * K, TTS_PLACE_DEFAULT);
    memset(a.at, 0x55, sizeof a.at);
    struct own same;
    memcpy(&same, &a, sizeof same);
    struct snapshot was = snapshot_of(device);
    T_EQ(own_try(device, &a), TTS_E_FULL);
    T_MEM_EQ(&a, &same, sizeof a);
    was.failures++;
    was.stats[TTS_POOL_L1].failures++;
    is_as_it_was(device, &was);
    const struct tts_failure *failure = tts_device_failure(device);
    T_TRUE(failure->kind == TTS_FAILURE_DEPENDENCY && failure->banks == 1);
    T_EQ(failure->taken_bytes, L1_BYTES - 1000 * K);
    T_STR_EQ(tts_failure_text(failure, text),
             "Out of Memory: Not enough space after considering dependencies to allocate "
             "1024000 B L1 across 1 banks (1024000 B per bank), bank size is 1393472 B "
             "(allocated: 369472 B, free: 1024000 B, largest free block: 1024000 B)");
    refused(device, pages_in(TTS_POOL_L1, 64, 1000 * K), TTS_E_FULL);
    failure = tts_device_failure(device); /* this is the failure of the lockstep allocator */
    T_TRUE(failure->kind == TTS_FAILURE_DEPENDENCY && failure->taken_bytes == 32);
    T_EQ(failure->free_bytes, L1_BYTES - 32);
    tts_device_free(device);
}

T_TEST(circular_buffers_clash_on_the_cores_where_they_do)
{
    struct tts_device *device = hybrid_in(TTS_MODE_PLACE);
    uint64_t address;
    struct own a;
    struct tts_cbs_floor floor = tts_device_floor(device);
    T_TRUE(!floor.known && floor.by_core[0] == UINT64_MAX);
    own_take(device, &a, &second, K, TTS_PLACE_UP);
    floor = tts_device_floor(device);
    T_TRUE(floor.known && floor.address == L1_BASE);
    T_TRUE(floor.by_core[1] == L1_BASE && floor.by_core[0] == UINT64_MAX);
    struct tts_cb cb = {.ranges = &first, .range_count = 1, .total_bytes = 64};
    T_EQ(tts_device_add_cb(device, &cb, &address, NULL), TTS_OK);
    T_EQ(tts_device_run_program(device, NULL), TTS_OK);
    struct tts_buffer lockstep = taken(device, pages_in(TTS_POOL_L1, 64, K));
    floor = tts_device_floor(device);
    T_TRUE(floor.by_core[1] == L1_BASE && floor.by_core[0] == L1_TOP - K);
    T_TRUE(floor.by_core[63] == L1_TOP - K && floor.address == L1_BASE);
    cb.ranges = &row;
    T_EQ(tts_device_add_cb(device, &cb, &address, NULL), TTS_OK);
    T_EQ(tts_device_run_program(device, NULL), TTS_E_FULL);
    T_EQ(tts_device_failure(device)->l1_address, L1_BASE);
    T_EQ(tts_device_failure(device)->range.x1, 3);
    T_EQ(own_give(device, &a), TTS_OK);
    T_EQ(tts_device_run_program(device, NULL), TTS_OK);
    T_EQ(tts_device_floor(device).address, L1_TOP - K);
    given(device, lockstep);
    tts_device_free(device);
}

T_TEST(the_peak_is_that_of_the_fullest_bank)
{
    struct tts_device *device = hybrid_in(TTS_MODE_PLACE);
    struct own a, b;
    own_take(device, &a, &first, 1000 * K, TTS_PLACE_DEFAULT);
    own_take(device, &b, &second, 1200 * K, TTS_PLACE_DEFAULT);
    T_EQ(stats_of(device, TTS_POOL_L1).peak_bytes, 1200 * K);
    struct tts_buffer lockstep = taken(device, pages_in(TTS_POOL_L1, 64, 100 * K));
    T_EQ(stats_of(device, TTS_POOL_L1).peak_bytes, 1300 * K);
    T_EQ(stats_of(device, TTS_POOL_L1).buffers, 3);
    T_EQ(own_give(device, &b), TTS_OK);
    own_take(device, &b, &first, 190 * K, TTS_PLACE_DEFAULT);
    T_EQ(stats_of(device, TTS_POOL_L1).peak_bytes, 1300 * K);
    taken(device, pages_in(TTS_POOL_L1, 64, 20 * K));
    T_EQ(stats_of(device, TTS_POOL_L1).peak_bytes, 1310 * K);
    given(device, lockstep);
    T_EQ(own_give(device, &a), TTS_OK);
    T_EQ(own_give(device, &b), TTS_OK);
    T_EQ(stats_of(device, TTS_POOL_L1).buffers, 1);
    tts_device_free(device);
}

T_TEST(where_nothing_is_refused_buffers_of_single_cores_are_counted)
{
    for (int mode = TTS_MODE_NO_DISPATCH; mode <= TTS_MODE_OVERCOMMIT; mode++) {
        struct tts_device *device = hybrid_in((enum tts_mode)mode);
        bool counts = mode == TTS_MODE_OVERCOMMIT;
        struct own a, b;
        own_take(device, &b, &second, 64, TTS_PLACE_DEFAULT);
        T_EQ(b.buffer.placed, counts);
        own_init(&a, &row, L1_BYTES, TTS_PLACE_DEFAULT);
        memset(a.at, 0x55, sizeof a.at);
        T_EQ(own_try(device, &a), TTS_OK);
        T_TRUE(!a.buffer.placed && a.buffer.address == 0 && a.at[0] == 0 && a.at[3] == 0);
        T_EQ(a.at[4], UINT64_C(0x5555555555555555));
        struct tts_pool_stats stats = stats_of(device, TTS_POOL_L1);
        T_TRUE(stats.buffers == 2 && stats.unplaced_buffers == (counts ? 1 : 2));
        T_TRUE(stats.peak_bytes == L1_BYTES + 64 && stats.failures == counts);
        takes_of_core(device, 0, 0, 0);
        struct own huge;
        own_init(&huge, &first, UINT64_C(1) << 63, TTS_PLACE_DEFAULT);
        T_EQ(own_try(device, &huge), TTS_E_RANGE);
        T_EQ(tts_device_failures(device), counts);
        T_EQ(own_give(device, &a), TTS_OK);
        T_EQ(own_give(device, &b), TTS_OK);
        T_EQ(stats_of(device, TTS_POOL_L1).buffers, 0);
        tts_device_free(device);
    }
}

static void invalid(struct tts_device *device, const struct tts_request *request,
                    const char *why)
{
    uint64_t at[CORES];
    struct tts_buffer buffer = {.address = 7};
    struct tts_error err = {0};
    T_EQ(tts_device_alloc_per_core(device, request, at, CORES, &buffer, &err), TTS_E_INVALID);
    T_STR_EQ(err.text, why);
    T_EQ(buffer.address, 7);
}

T_TEST(only_sharded_l1_buffers_of_a_hybrid_device_can_be_of_single_cores)
{
    struct tts_device *device = device_of("n150");
    struct own a;
    own_init(&a, &row, K, TTS_PLACE_DEFAULT);
    invalid(device, &a.request, "buffers on single cores need the HYBRID mode");
    tts_device_free(device);
    struct tts_chip chip = chip_of("grayskull");
    set(&chip, "grid", "8x8");
    device = device_on(chip, (struct tts_device_config){.hybrid = true}, NULL);
    invalid(device, &a.request,
            "buffers on single cores need the HYBRID mode and a device whose DRAM properties "
            "are known");
    tts_device_free(device);
    device = hybrid_in(TTS_MODE_PLACE);
    struct tts_request request = pages_in(TTS_POOL_L1, 64, K);
    invalid(device, &request,
            "a buffer on one core must be in L1 and have a 'classic' sharding");
    request = a.request;
    request.pool = TTS_POOL_DRAM;
    invalid(device, &request,
            "a buffer on one core must be in L1 and have a 'classic' sharding");
    request = a.request;
    request.size_bytes = 0;
    invalid(device, &request,
            "a buffer on one core must have a size and must not have a given address");
    request = a.request;
    request.placement = TTS_PLACE_AT;
    invalid(device, &request,
            "a buffer on one core must have a size and must not have a given address");
    request = a.request;
    request.size_bytes += K;
    invalid(device, &request, "the buffer has 5 pages, but the shards hold 4 pages");
    struct tts_error err;
    T_EQ(tts_device_alloc_per_core(device, &a.request, a.at, 3, &a.buffer, &err), TTS_E_RANGE);
    T_STR_EQ(err.text, "the buffer has 4 cores, but there is room for 3 addresses");
    T_EQ(own_try(device, &a), TTS_OK);
    struct own other = a;
    own_init(&other, &first, K, TTS_PLACE_DEFAULT);
    T_EQ(tts_device_release_per_core(device, &other.request, a.at, &a.buffer), TTS_E_INVALID);
    T_EQ(own_give(device, &a), TTS_OK);
    tts_device_free(device);
}

T_TEST(a_release_that_does_not_fit_the_buffer_leaves_it_placed_or_not)
{
    for (int mode = TTS_MODE_PLACE; mode <= TTS_MODE_NO_DISPATCH; mode++) {
        struct tts_device *device = hybrid_in((enum tts_mode)mode);
        struct own a, other;
        own_take(device, &a, &row, K, TTS_PLACE_DEFAULT);
        own_init(&other, &first, K, TTS_PLACE_DEFAULT);
        struct snapshot was = snapshot_of(device);
        T_EQ(tts_device_release_per_core(device, &other.request, a.at, &a.buffer),
             TTS_E_INVALID);
        struct own elsewhere = a;
        elsewhere.request.shard = &elsewhere.shard;
        elsewhere.buffer.pool = TTS_POOL_DRAM;
        T_EQ(own_give(device, &elsewhere), TTS_E_INVALID);
        is_as_it_was(device, &was);
        T_EQ(own_give(device, &a), TTS_OK);
        T_EQ(own_give(device, &a), TTS_E_NOT_FOUND);
        tts_device_free(device);
    }
}

T_TEST(a_place_that_is_not_aligned_is_said_to_be)
{
    struct tts_chip chip = chip_of("n150");
    set(&chip, "l1_size", "1499152");
    set(&chip, "l1_base", "105664");
    struct tts_device *device =
        device_on(chip, (struct tts_device_config){.hybrid = true}, NULL);
    struct tts_error err = {0};
    struct tts_request request = pages_in(TTS_POOL_L1, 1, 64);
    struct tts_buffer buffer;
    struct own a;
    struct snapshot was = snapshot_of(device);
    T_EQ(tts_device_alloc(device, &request, &buffer, &err), TTS_E_INVALID);
    T_STR_EQ(err.text, "the address in L1 is not aligned, and the runtime refuses such an "
                       "address: give a multiple of the alignment of the pool");
    err = (struct tts_error){0};
    own_init(&a, &row, 64, TTS_PLACE_DEFAULT);
    T_EQ(tts_device_alloc_per_core(device, &a.request, a.at, CORES, &buffer, &err),
         TTS_E_INVALID);
    T_TRUE(says(&err, "the address in L1 is not aligned"));
    is_as_it_was(device, &was);
    own_take(device, &a, &all, 64, TTS_PLACE_UP);
    T_EQ(a.at[63], L1_BASE);
    tts_device_free(device);
}
