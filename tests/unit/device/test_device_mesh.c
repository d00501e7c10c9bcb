#include "device/devicepools.h"
#include "device/space.h"
#include "harness/device_rig.h"

#include <string.h>

enum { TILE = 2048 };

static const struct tts_core_range first = {0, 0, 0, 0};

static struct tts_device *part(const struct tts_device *device, uint32_t chips)
{
    struct tts_device *out = NULL;
    T_EQ(tts_device_submesh(device, chips, &out, NULL), TTS_OK);
    return out;
}

static void synchronized(struct tts_device *device, const struct tts_device *a,
                         const struct tts_device *b)
{
    const struct tts_device *others[] = {a, b};
    struct tts_error err = {.text = "untouched"};
    T_EQ(tts_device_synchronize(device, others, b ? 2 : 1, &err), TTS_OK);
    T_STR_EQ(err.text, "untouched");
}

/* Checks that the taken ranges of a pool are exactly these. */
static void holds(const struct tts_device *device, enum tts_pool pool,
                  const struct tts_range *want, size_t count)
{
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    size_t seen = 0;
    while (tts_space_next(space_of(device, pool), &cursor, &block)) {
        if (!block.taken)
            continue;
        T_TRUE(seen < count && block.address == want[seen].start);
        T_EQ(block.address + block.size_bytes, want[seen].end);
        seen++;
    }
    T_EQ(seen, count);
}

T_TEST(a_part_of_a_mesh_is_fresh_and_independent)
{
    struct tts_device *mesh = device_on(
        chip_with("t3k", "32768", "1M"),
        (struct tts_device_config){.mode = TTS_MODE_OVERCOMMIT, .hybrid = true}, NULL);
    taken(mesh, pages_in(TTS_POOL_DRAM, 12, TILE));
    struct tts_device *half = part(mesh, 4), *other = part(mesh, 4);
    const struct tts_chip *chip = tts_device_chip(half);
    T_TRUE(chip->fact[TTS_FACT_CHIPS].value == 4);
    T_EQ(chip->fact[TTS_FACT_CHIPS].origin, TTS_ORIGIN_SET);
    T_EQ(stats_of(half, TTS_POOL_DRAM).buffers, 0);
    T_EQ(taken(half, pages_in(TTS_POOL_DRAM, 12, TILE)).address, DRAM_BASE);
    T_EQ(taken(other, pages_in(TTS_POOL_DRAM, 24, TILE)).address, DRAM_BASE);
    T_EQ(stats_of(mesh, TTS_POOL_DRAM).space.taken_bytes, TILE);
    T_EQ(tts_banks_allocators(tts_device_pool(half, TTS_POOL_L1)), 57);
    /* The device is in OVERCOMMIT mode, and the buffer is too large. */
    T_TRUE(!taken(half, pages_in(TTS_POOL_L1, 1, L1_BYTES)).placed);
    for (int i = 0; i < TTS_POOLS; i++)
        same_layout(tts_device_layout(half, (enum tts_pool)i),
                    tts_device_layout(mesh, (enum tts_pool)i));
    tts_device_free(mesh);
    T_EQ(taken(half, pages_in(TTS_POOL_DRAM, 12, TILE)).address, DRAM_BASE + TILE);
    tts_device_free(half);
    tts_device_free(other);
}

T_TEST(a_part_has_between_one_and_all_chips)
{
    struct tts_device *mesh = device_of("n300"), *out = NULL;
    struct tts_error err;
    T_EQ(tts_device_submesh(mesh, 0, &out, &err), TTS_E_RANGE);
    T_EQ(tts_device_submesh(mesh, 3, &out, &err), TTS_E_RANGE);
    T_STR_EQ(err.text, "a part of the mesh cannot have 3 chips: the mesh has 2 chips");
    T_TRUE(out == NULL);
    struct tts_device *whole = part(mesh, 2), *one = part(whole, 1);
    T_EQ(tts_device_submesh(one, 2, &out, &err), TTS_E_RANGE);
    tts_device_free(one);
    tts_device_free(whole);
    tts_device_free(mesh);
}

T_TEST(to_synchronize_is_to_hold_what_the_others_hold_together)
{
    struct tts_device *mesh = device_of("n300"), *a = part(mesh, 1), *b = part(mesh, 1);
    struct tts_buffer own = taken(mesh, pages_in(TTS_POOL_DRAM, 12, 65536));
    taken(mesh, pages_in(TTS_POOL_L1, 1, 64));
    struct tts_buffer hole = taken(a, pages_in(TTS_POOL_DRAM, 12, TILE));
    struct tts_buffer second = taken(a, pages_in(TTS_POOL_DRAM, 12, TILE));
    struct tts_buffer third = taken(a, pages_in(TTS_POOL_DRAM, 12, TILE));
    given(a, hole);
    struct tts_request top = pages_in(TTS_POOL_DRAM, 12, TILE);
    top.placement = TTS_PLACE_DOWN;
    taken(b, top);
    taken(b, pages_in(TTS_POOL_L1, 56, TILE));
    taken(a, pages_in(TTS_POOL_L1, 56, 64)); /* this buffer overlaps the range of b */
    struct tts_device *as_it_was = part(mesh, 1);
    synchronized(as_it_was, a, NULL);
    synchronized(mesh, a, b);
    struct tts_range dram[] = {{DRAM_BASE + TILE, DRAM_BASE + UINT64_C(3) * TILE},
                               {DRAM_TOP - TILE, DRAM_TOP}};
    struct tts_range l1 = {L1_TOP - TILE, L1_TOP};
    holds(mesh, TTS_POOL_DRAM, dram, 2);
    holds(mesh, TTS_POOL_L1, &l1, 1);
    T_TRUE(stats_of(mesh, TTS_POOL_DRAM).buffers == 2);
    /* The peaks from before the synchronization stay. */
    T_TRUE(stats_of(mesh, TTS_POOL_DRAM).peak_bytes == 65536);
    T_TRUE(stats_of(mesh, TTS_POOL_L1).peak_bytes == TILE);
    T_EQ(tts_device_release(mesh, &own), TTS_E_NOT_FOUND);
    /* The synchronization made one block of two buffers. Only the first buffer has the address
     * of the block. */
    T_EQ(tts_device_release(mesh, &third), TTS_E_NOT_FOUND);
    given(mesh, second);
    holds(mesh, TTS_POOL_DRAM, &dram[1], 1);
    T_EQ(stats_of(mesh, TTS_POOL_DRAM).buffers, 1);
    struct tts_buffer next = taken(mesh, pages_in(TTS_POOL_DRAM, 12, 131072));
    T_EQ(next.address, DRAM_BASE);
    T_EQ(stats_of(mesh, TTS_POOL_DRAM).buffers, 2);
    T_EQ(stats_of(mesh, TTS_POOL_DRAM).peak_bytes, 131072 + TILE);
    given(mesh, next);
    T_EQ(stats_of(mesh, TTS_POOL_DRAM).buffers, 1);
    T_EQ(stats_of(a, TTS_POOL_DRAM).buffers, 2); /* the other devices are unchanged */
    holds(as_it_was, TTS_POOL_DRAM, dram, 1);
    tts_device_free(as_it_was);
    tts_device_free(a);
    tts_device_free(b);
    tts_device_free(mesh);
}

T_TEST(what_is_not_placed_stays_counted_and_all_pools_are_synchronized)
{
    struct tts_chip chip = chip_with("n150", "32768", "1M");
    struct tts_device *device = device_in(TTS_MODE_OVERCOMMIT, chip);
    struct tts_device *other = device_in(TTS_MODE_PLACE, chip);
    struct tts_shard shard;
    struct tts_buffer counted = taken(device, pages_in(TTS_POOL_L1, 1, L1_BYTES));
    taken(other, sharded_in(TTS_POOL_L1_SMALL, 1, 64, &first, &shard));
    taken(other, pages_in(TTS_POOL_TRACE, 12, TILE));
    synchronized(device, other, NULL);
    synchronized(device, device, other);
    struct tts_range small = {L1_TOP - 64, L1_TOP};
    struct tts_range trace = {DRAM_TOP - 90112, DRAM_TOP - 90112 + TILE};
    holds(device, TTS_POOL_L1_SMALL, &small, 1);
    holds(device, TTS_POOL_TRACE, &trace, 1);
    holds(device, TTS_POOL_DRAM, NULL, 0);
    T_EQ(stats_of(device, TTS_POOL_L1).buffers, 1);
    given(device, counted);
    T_EQ(stats_of(device, TTS_POOL_L1).buffers, 0);
    tts_device_free(device);
    tts_device_free(other);
}

T_TEST(others_of_another_chip_are_refused_and_nothing_changes)
{
    static const char *const unlike[][3] = {{"n150", "0", "0"},
                                            {"n150", "32768", "2M"},
                                            {"n300", "32768", "1M"},
                                            {"p150", "32768", "1M"},
                                            {"n150", "32768", "0"}};
    struct tts_chip chip = chip_with("n150", "32768", "1M");
    struct tts_device *device = device_in(TTS_MODE_PLACE, chip);
    struct tts_device *like = device_in(TTS_MODE_PLACE, chip);
    struct tts_buffer own = taken(device, pages_in(TTS_POOL_DRAM, 12, TILE));
    struct tts_error err;
    for (size_t i = 0; i < sizeof unlike / sizeof unlike[0]; i++) {
        struct tts_device *other =
            device_in(TTS_MODE_PLACE, chip_with(unlike[i][0], unlike[i][1], unlike[i][2]));
        const struct tts_device *others[] = {like, other};
        struct snapshot was = snapshot_of(device);
        T_EQ(tts_device_synchronize(device, others, 2, &err), TTS_E_INVALID);
        T_TRUE(says(&err, "cannot copy the "));
        T_EQ(tts_device_synchronize(device, &others[1], 1, &err), TTS_E_INVALID);
        is_as_it_was(device, &was);
        tts_device_free(other);
    }
    chip.fact[TTS_FACT_DRAM_BANKS] = (struct tts_fact){.source = ""};
    struct tts_device *lacking = device_in(TTS_MODE_PLACE, chip);
    const struct tts_device *others[] = {like, lacking};
    struct snapshot was = snapshot_of(device);
    T_EQ(tts_device_synchronize(device, others, 2, &err), TTS_E_INVALID);
    T_STR_EQ(err.text, "cannot copy the DRAM state of the other devices: invalid argument");
    tts_device_free(lacking);
    T_EQ(tts_device_synchronize(device, NULL, 0, &err), TTS_E_INVALID);
    T_STR_EQ(err.text, "cannot copy a device state: no source device is given");
    is_as_it_was(device, &was);
    given(device, own);
    T_EQ(stats_of(device, TTS_POOL_DRAM).buffers, 0);
    tts_device_free(device);
    tts_device_free(like);
}

T_TEST(pools_are_changed_all_or_none)
{
    /* The chips have the same DRAM but different L1. DRAM is changed before L1. */
    struct tts_chip chip = chip_of("n150"), other_chip = chip_with("n150", "64", "0");
    struct tts_device *device = device_in(TTS_MODE_PLACE, chip);
    const struct tts_device *other = device_in(TTS_MODE_PLACE, other_chip);
    struct tts_buffer own = taken(device, pages_in(TTS_POOL_DRAM, 12, TILE));
    struct tts_error err;
    struct snapshot was = snapshot_of(device);
    T_EQ(tts_device_synchronize(device, &other, 1, &err), TTS_E_INVALID);
    T_STR_EQ(err.text, "cannot copy the L1 state of the other devices: invalid argument");
    is_as_it_was(device, &was);
    given(device, own);
    tts_device_free(device);
    tts_device_free((struct tts_device *)other);
}

T_TEST(beside_buffers_of_single_cores_there_is_none)
{
    struct tts_device_config config = {.hybrid = true};
    struct tts_device *device = device_on(chip_of("n150"), config, NULL);
    struct tts_device *other = device_on(chip_of("n150"), config, NULL);
    const struct tts_device *others[] = {other}, *itself[] = {device};
    struct tts_shard shard;
    struct tts_request request = sharded_in(TTS_POOL_L1, 1, 4096, &first, &shard);
    struct tts_buffer own;
    struct tts_error err = {0};
    uint64_t at;
    T_EQ(tts_device_alloc_per_core(device, &request, &at, 1, &own, NULL), TTS_OK);
    taken(other, pages_in(TTS_POOL_L1, 64, 64));
    struct snapshot was = snapshot_of(device);
    T_EQ(tts_device_synchronize(device, others, 1, &err), TTS_E_INVALID);
    T_STR_EQ(err.text, "cannot copy the state of a device that has buffers with a separate "
                       "address on each core");
    is_as_it_was(device, &was);
    T_EQ(tts_device_synchronize(other, itself, 1, NULL), TTS_E_INVALID);
    T_EQ(tts_device_release_per_core(device, &request, &at, &own), TTS_OK);
    synchronized(device, other, NULL);
    T_EQ(stats_of(device, TTS_POOL_L1).buffers, 1);
    tts_device_free(device);
    tts_device_free(other);
}

T_TEST(a_trace_outlives_it_and_gives_its_budget_back)
{
    struct tts_chip chip = chip_with("n150", "0", "98304");
    struct tts_device *device = device_in(TTS_MODE_PLACE, chip);
    struct tts_device *empty = device_in(TTS_MODE_PLACE, chip);
    struct tts_buffer trace, again;
    T_EQ(tts_device_alloc_trace(device, 98304, &trace, NULL), TTS_OK);
    synchronized(device, empty, NULL);
    holds(device, TTS_POOL_TRACE, NULL, 0);
    T_EQ(tts_device_alloc_trace(device, 1, &again, NULL), TTS_E_FULL);
    T_EQ(tts_device_release(device, &trace), TTS_E_NOT_FOUND);
    T_EQ(tts_device_alloc_trace(device, 98304, &again, NULL), TTS_OK);
    tts_device_free(device);
    tts_device_free(empty);
}
