#include "harness/device_rig.h"

enum { TILE = 2048 };

static const struct tts_core_range all = {0, 0, 7, 7};

static void counts_are(const struct tts_device *device, enum tts_pool pool, uint64_t buffers,
                       uint64_t unplaced, uint64_t failures)
{
    struct tts_pool_stats stats = stats_of(device, pool);
    T_EQ(stats.buffers, buffers);
    T_EQ(stats.unplaced_buffers, unplaced);
    T_EQ(stats.failures, failures);
}

static void bytes_are(const struct tts_device *device, enum tts_pool pool, uint64_t placed,
                      uint64_t unplaced, uint64_t peak)
{
    struct tts_pool_stats stats = stats_of(device, pool);
    T_EQ(stats.space.taken_bytes, placed);
    T_EQ(stats.unplaced_bytes, unplaced);
    T_EQ(stats.peak_bytes, peak);
}

T_TEST(placing_counts_blocks_and_keeps_the_peak)
{
    struct tts_device *device = device_of("n150");
    /* Gets a block of 128 bytes. */
    struct tts_buffer a = taken(device, pages_in(TTS_POOL_L1, 1, 100));
    struct tts_buffer b = taken(device, pages_in(TTS_POOL_L1, 64, TILE));
    bytes_are(device, TTS_POOL_L1, 128 + TILE, 0, 128 + TILE);
    counts_are(device, TTS_POOL_L1, 2, 0, 0);
    bytes_are(device, TTS_POOL_DRAM, 0, 0, 0);
    given(device, a);
    struct tts_buffer c = taken(device, pages_in(TTS_POOL_L1, 1, 64));
    bytes_are(device, TTS_POOL_L1, 64 + TILE, 0, 128 + TILE);
    refused(device, pages_in(TTS_POOL_L1, 1, L1_BYTES), TTS_E_FULL);
    bytes_are(device, TTS_POOL_L1, 64 + TILE, 0, 128 + TILE);
    counts_are(device, TTS_POOL_L1, 2, 0, 1);
    taken(device, pages_in(TTS_POOL_L1, 1, 96));
    bytes_are(device, TTS_POOL_L1, 160 + TILE, 0, 160 + TILE);
    given(device, b);
    given(device, c);
    bytes_are(device, TTS_POOL_L1, 96, 0, 160 + TILE);
    counts_are(device, TTS_POOL_L1, 1, 0, 1);
    tts_device_free(device);
}

T_TEST(without_dispatch_nothing_is_placed_nothing_fails_and_all_is_counted)
{
    struct tts_device *device =
        device_in(TTS_MODE_NO_DISPATCH, chip_with("n150", "32768", "1M"));
    struct tts_shard shard;
    struct tts_buffer a = taken(device, pages_in(TTS_POOL_L1, 1, 100));
    T_TRUE(!a.placed && a.address == 0 && a.block_bytes == 128 && a.bytes_per_bank == 112);
    struct tts_buffer b = taken(device, pages_in(TTS_POOL_L1, 65, L1_BYTES));
    T_TRUE(!b.placed && b.address == 0 && b.block_bytes == 2 * L1_BYTES);
    struct tts_request small = sharded_in(TTS_POOL_L1_SMALL, 1, 65536, &all, &shard);
    T_TRUE(!taken(device, small).placed);
    T_TRUE(!taken(device, pages_in(TTS_POOL_TRACE, 1, 4194304)).placed);
    T_TRUE(!taken(device, pages_in(TTS_POOL_DRAM, 12, DRAM_TOP)).placed);
    bytes_are(device, TTS_POOL_L1, 0, 128 + 2 * L1_BYTES, 128 + 2 * L1_BYTES);
    counts_are(device, TTS_POOL_L1, 2, 2, 0);
    bytes_are(device, TTS_POOL_L1_SMALL, 0, 65536, 65536);
    bytes_are(device, TTS_POOL_TRACE, 0, 4194304, 4194304);
    bytes_are(device, TTS_POOL_DRAM, 0, DRAM_TOP, DRAM_TOP);
    given(device, b);
    bytes_are(device, TTS_POOL_L1, 0, 128, 128 + 2 * L1_BYTES);
    counts_are(device, TTS_POOL_L1, 1, 1, 0);
    given(device, a);
    T_EQ(tts_device_release(device, &a), TTS_E_NOT_FOUND);
    counts_are(device, TTS_POOL_L1, 0, 0, 0);
    T_EQ(tts_device_failures(device), 0);
    refused(device, pages_in(TTS_POOL_L1_SMALL, 1, 32), TTS_E_INVALID);
    tts_device_free(device);
}

T_TEST(overcommitted_what_does_not_fit_is_counted_and_what_does_is_placed)
{
    struct tts_device *device = device_in(TTS_MODE_OVERCOMMIT, chip_of("n150"));
    struct tts_buffer a = taken(device, pages_in(TTS_POOL_L1, 1, 1000000));
    struct tts_buffer b = taken(device, pages_in(TTS_POOL_L1, 1, 500000));
    T_TRUE(a.placed && a.address == L1_TOP - 1000000);
    T_TRUE(!b.placed && b.address == 0 && b.block_bytes == 500000);
    bytes_are(device, TTS_POOL_L1, 1000000, 500000, 1500000);
    counts_are(device, TTS_POOL_L1, 2, 1, 1);
    struct tts_failure first = *tts_device_first_failure(device);
    T_TRUE(first.kind == TTS_FAILURE_SPACE && first.requested_bytes == 500000);
    T_EQ(first.taken_bytes, 1000000);
    struct tts_buffer c = taken(device, pages_in(TTS_POOL_L1, 1, 300000));
    T_TRUE(c.placed && c.address == L1_TOP - 1300000);
    struct tts_buffer e = taken(device, pages_in(TTS_POOL_L1, 1, 400000));
    T_TRUE(!e.placed);
    same_failure(tts_device_first_failure(device), &first);
    T_EQ(tts_device_failure(device)->requested_bytes, 400000);
    T_EQ(tts_device_failures(device), 2);
    bytes_are(device, TTS_POOL_L1, 1300000, 900000, 2200000);
    given(device, a); /* freeing a buffer does not place the others */
    bytes_are(device, TTS_POOL_L1, 300000, 900000, 2200000);
    given(device, b);
    given(device, e);
    T_EQ(tts_device_release(device, &e), TTS_E_NOT_FOUND);
    bytes_are(device, TTS_POOL_L1, 300000, 0, 2200000);
    counts_are(device, TTS_POOL_L1, 1, 0, 2);
    tts_device_free(device);
}

T_TEST(a_buffer_that_was_not_placed_cannot_be_given_back_for_a_larger_one)
{
    struct tts_device *device = device_in(TTS_MODE_NO_DISPATCH, chip_of("n150"));
    struct tts_buffer a = taken(device, pages_in(TTS_POOL_L1, 64, TILE));
    struct snapshot was = snapshot_of(device);
    struct tts_buffer larger = a;
    larger.block_bytes++;
    T_EQ(tts_device_release(device, &larger), TTS_E_NOT_FOUND);
    is_as_it_was(device, &was);
    given(device, a);
    tts_device_free(device);
}

T_TEST(counts_do_not_go_past_64_bits)
{
    for (int mode = TTS_MODE_NO_DISPATCH; mode <= TTS_MODE_OVERCOMMIT; mode++) {
        struct tts_device *device = device_in((enum tts_mode)mode, chip_of("n150"));
        struct tts_error err;
        struct tts_buffer buffer = {0};
        struct tts_request huge = pages_in(TTS_POOL_L1, 1, UINT64_C(1) << 62);
        taken(device, pages_in(TTS_POOL_L1, 1, 64));
        taken(device, huge);
        struct snapshot was = snapshot_of(device);
        T_EQ(tts_device_alloc(device, &huge, &buffer, &err), TTS_E_RANGE);
        T_STR_EQ(err.text, "the size of all buffers together does not fit in 64 bits");
        is_as_it_was(device, &was);
        taken(device, pages_in(TTS_POOL_L1, 1, (UINT64_C(1) << 62) - 4096));
        T_TRUE(stats_of(device, TTS_POOL_L1).peak_bytes >= (UINT64_C(1) << 63) - 4096);
        tts_device_free(device);
    }
}
