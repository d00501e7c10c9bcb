#include "harness/device_rig.h"

#include <string.h>

enum { TILE = 2048 };

/* --- kernels ---------------------------------------------------------------------------- */

static struct tts_buffer kernel(struct tts_device *device, uint64_t bytes)
{
    struct tts_buffer buffer = {0};
    T_EQ(tts_device_alloc_kernel(device, bytes, &buffer, NULL), TTS_OK);
    return buffer;
}

T_TEST(a_kernel_binary_is_in_dram_from_the_top_in_pages_of_2048)
{
    struct tts_device *device = device_of("n150");
    struct tts_buffer one = kernel(device, 1);
    T_TRUE(one.pool == TTS_POOL_DRAM && one.placed && one.banks == 12);
    T_TRUE(one.address == DRAM_TOP - 2048 && one.block_bytes == 2048);
    T_EQ(kernel(device, 12 * 2048).address, DRAM_TOP - UINT64_C(2) * 2048);
    T_EQ(kernel(device, 12 * 2048 + 1).address, DRAM_TOP - UINT64_C(4) * 2048);
    T_EQ(kernel(device, 0).block_bytes, 0);
    struct tts_error err;
    struct tts_buffer buffer = {.address = 7};
    T_EQ(tts_device_alloc_kernel(device, UINT64_MAX, &buffer, &err), TTS_E_RANGE);
    T_TRUE(says(&err, "the size of the kernel binary does not fit in 64 bits") &&
           buffer.address == 7);
    T_EQ(tts_device_alloc_kernel(device, DRAM_TOP * 12, &buffer, &err), TTS_E_FULL);
    T_EQ(tts_device_failure(device)->requested_bytes, DRAM_TOP * 12);
    T_EQ(stats_of(device, TTS_POOL_DRAM).buffers, 3);
    tts_device_free(device);
}

/* --- pages of traces -------------------------------------------------------------------- */

/* Computes the page size in a slow and simple way, by counting pages. */
static uint64_t naive_page(uint64_t bytes, uint64_t banks)
{
    static const uint64_t candidates[] = {1024, 2048, 4096, 8192};
    uint64_t pick = 0, best = 0;
    for (size_t i = 0; i < 4; i++) {
        uint64_t whole_rows = 0, row = banks * candidates[i], padded = 0;
        while (padded < bytes)
            padded += row;
        while ((whole_rows + 1) * row <= bytes)
            whole_rows++;
        uint64_t waste = padded - bytes;
        if (i == 0 || waste <= best || whole_rows >= 2) {
            pick = candidates[i];
            best = waste; /* even if the waste has grown */
        }
    }
    return pick;
}

T_TEST(a_trace_gets_the_page_that_the_rule_gives)
{
    static const uint32_t banks[] = {1, 7, 8, 12};
    uint64_t seen = 0;
    for (size_t i = 0; i < 4; i++) {
        for (uint64_t bytes = 0; bytes < UINT64_C(5) * 8192 * banks[i]; bytes += 61) {
            uint64_t page = tts_trace_page(bytes, banks[i]);
            T_EQ(page, naive_page(bytes, banks[i]));
            seen |= page;
        }
        /* Sizes of one to forty whole rows, and near them. */
        for (uint64_t row = 1; row <= 40; row++) {
            for (uint64_t off = 0; off < 3; off++) {
                uint64_t bytes = row * 1024 * banks[i] + off - 1;
                T_EQ(tts_trace_page(bytes, banks[i]), naive_page(bytes, banks[i]));
            }
        }
    }
    T_EQ(seen, 1024 | 2048 | 4096 | 8192);
    T_EQ(tts_trace_page(1, 12), 1024);
    /* Two whole rows of pages of 1024, one row of pages of 2048. */
    T_EQ(tts_trace_page(24577, 12), 1024);
    T_EQ(tts_trace_page(24576, 12), 2048); /* both page sizes have no waste */
    T_EQ(tts_trace_page(49153, 12), 2048);
    T_EQ(tts_trace_page(UINT64_MAX, 12), 8192);
}

/* --- traces ----------------------------------------------------------------------------- */

static struct tts_buffer trace(struct tts_device *device, uint64_t bytes)
{
    struct tts_buffer buffer = {0};
    struct tts_error err = {0};
    if (tts_device_alloc_trace(device, bytes, &buffer, &err) != TTS_OK)
        fail_msg("no trace: %s", err.text);
    return buffer;
}

static struct tts_device *with_region(enum tts_mode mode, const char *bytes)
{
    return device_on(chip_with("n150", "0", bytes),
                     (struct tts_device_config){.mode = mode, .mesh_id = 5}, NULL);
}

static void over_budget(struct tts_device *device, uint64_t bytes, uint64_t sum,
                        uint64_t budget)
{
    struct tts_buffer buffer = {.address = 7};
    struct snapshot was = snapshot_of(device);
    T_EQ(tts_device_alloc_trace(device, bytes, &buffer, NULL), TTS_E_FULL);
    T_EQ(buffer.address, 7);
    const struct tts_failure *failure = tts_device_failure(device);
    T_TRUE(failure->kind == TTS_FAILURE_TRACE && failure->pool == TTS_POOL_TRACE);
    T_TRUE(failure->mesh_id == 5 && failure->trace_bytes == budget);
    T_EQ(failure->requested_bytes, sum);
    was.failures++;
    was.stats[TTS_POOL_TRACE].failures++;
    is_as_it_was(device, &was);
}

/* Allocates a trace of 51200 bytes on 12 banks, which has 25 pages of 2048. The trace region of
 * the tests below has room for two such traces: 16 KiB in each bank. */
static struct tts_buffer half_trace(struct tts_device *device)
{
    struct tts_buffer buffer = trace(device, 51200 - 2047);
    T_TRUE(buffer.size_bytes == 51200 && buffer.bytes_per_bank == UINT64_C(3) * 2048);
    T_EQ(buffer.block_bytes, UINT64_C(3) * 2048);
    return buffer;
}

T_TEST(traces_fill_the_budget_of_their_region_and_give_it_back)
{
    /* The size of the trace region is rounded up to 102400. */
    struct tts_device *device = with_region(TTS_MODE_PLACE, "102370");
    const uint64_t start = DRAM_TOP - 16384;
    struct tts_buffer a = half_trace(device), b = half_trace(device);
    T_TRUE(a.pool == TTS_POOL_TRACE && a.placed && a.address == start);
    T_EQ(b.address, start + 6144);
    /* Exceeds the trace region, although the banks have room. */
    over_budget(device, 1, 102400 + 1024, 102400);
    char text[TTS_FAILURE_TEXT_MAX];
    T_STR_EQ(tts_failure_text(tts_device_failure(device), text),
             "Creating trace buffers of size 103424B on MeshDevice 5, but only 102400B is "
             "allocated for trace region.");
    given(device, a);
    T_EQ(tts_device_release(device, &a), TTS_E_NOT_FOUND);
    over_budget(device, 51200 + 1, UINT64_C(2) * 51200 + 2048, 102400);
    T_EQ(half_trace(device).address, start);
    over_budget(device, 1, 102400 + 1024, 102400);
    struct tts_buffer by_address = {
        .pool = TTS_POOL_TRACE, .placed = true, .address = b.address, .block_bytes = 6144};
    given(device, by_address);
    T_EQ(half_trace(device).address, b.address);
    struct tts_error err;
    T_EQ(tts_device_alloc_trace(device, UINT64_MAX - 8192, &a, &err), TTS_E_RANGE);
    T_TRUE(says(&err, "the size of all traces together does not fit in 64 bits"));
    tts_device_free(device);
    device = with_region(TTS_MODE_PLACE, "102400");
    trace(device, 1);
    half_trace(device);
    over_budget(device, 50176 + 1, 1024 + 51200 + 51200, 102400);
    tts_device_free(device);
}

T_TEST(a_buffer_in_the_trace_region_is_not_of_the_budget)
{
    struct tts_device *device = with_region(TTS_MODE_PLACE, "102400");
    half_trace(device);
    struct tts_buffer plain = taken(device, pages_in(TTS_POOL_TRACE, 12, 8192));
    given(device, plain);
    over_budget(device, 51200 + 1, UINT64_C(2) * 51200 + 2048, 102400);
    half_trace(device);
    T_EQ(stats_of(device, TTS_POOL_TRACE).buffers, 2);
    tts_device_free(device);
}

T_TEST(many_traces_are_kept_apart)
{
    enum { BYTES = 49152, COUNT = 21 }; /* each trace has 4096 bytes in every bank */
    struct tts_device *device = with_region(TTS_MODE_PLACE, "1M");
    struct tts_buffer traces[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        traces[i] = trace(device, BYTES);
    over_budget(device, BYTES, UINT64_C(22) * BYTES, 1048576);
    for (size_t i = 0; i < COUNT; i += 3)
        given(device, traces[i]);
    for (size_t i = 0; i < COUNT; i += 3)
        T_EQ(trace(device, BYTES).address, traces[i].address);
    over_budget(device, BYTES, UINT64_C(22) * BYTES, 1048576);
    tts_device_free(device);
}

T_TEST(the_banks_of_a_region_may_be_full_before_its_budget_is)
{
    /* The region has 90112 bytes in each bank. */
    struct tts_device *device = with_region(TTS_MODE_PLACE, "1M");
    struct tts_buffer buffer;
    for (int i = 0; i < 14; i++)
        half_trace(device);
    T_EQ(tts_device_alloc_trace(device, 51200, &buffer, NULL), TTS_E_FULL);
    T_EQ(tts_device_failure(device)->kind, TTS_FAILURE_SPACE);
    T_EQ(tts_device_failure(device)->requested_bytes, 51200);
    T_EQ(tts_device_failure(device)->free_bytes, 90112 - 14 * 6144);
    T_TRUE(trace(device, 1).placed); /* the refused trace does not count */
    tts_device_free(device);
}

T_TEST(a_trace_over_the_budget_is_counted_once_where_nothing_is_refused)
{
    struct tts_device *device = with_region(TTS_MODE_OVERCOMMIT, "102400");
    half_trace(device);
    struct tts_buffer small = trace(device, 51200 + 1), huge = trace(device, 10 << 20);
    T_TRUE(!small.placed && small.address == 0 && small.block_bytes > 0 && !huge.placed);
    T_EQ(tts_device_failures(device), 2);
    T_EQ(tts_device_failure(device)->kind, TTS_FAILURE_TRACE);
    T_TRUE(half_trace(device).placed); /* neither buffer counts against the trace region */
    T_EQ(stats_of(device, TTS_POOL_TRACE).unplaced_bytes, small.block_bytes + huge.block_bytes);
    given(device, small);
    given(device, huge);
    T_EQ(stats_of(device, TTS_POOL_TRACE).buffers, 2);
    tts_device_free(device);
    device = with_region(TTS_MODE_NO_DISPATCH, "102400");
    for (int i = 0; i < 3; i++)
        T_TRUE(!trace(device, 51200).placed);
    T_EQ(stats_of(device, TTS_POOL_TRACE).unplaced_bytes, UINT64_C(3) * 6144);
    T_TRUE(!trace(device, 10 << 20).placed); /* the trace exceeds the trace region */
    T_EQ(tts_device_failures(device), 0);
    tts_device_free(device);
}

T_TEST(a_trace_without_a_region_is_in_dram_from_the_top)
{
    struct tts_device *device = device_of("n150");
    struct tts_buffer a = trace(device, 100);
    T_TRUE(a.pool == TTS_POOL_DRAM && a.placed && a.address == DRAM_TOP - 1024);
    T_EQ(trace(device, 0).block_bytes, 0);
    struct tts_buffer b = trace(device, 12 * 8192 * 3);
    T_EQ(b.address, DRAM_TOP - 1024 - UINT64_C(3) * 8192);
    given(device, a);
    given(device, b);
    T_EQ(stats_of(device, TTS_POOL_DRAM).buffers, 0);
    struct tts_error err;
    T_EQ(tts_device_alloc_trace(device, UINT64_MAX, &a, &err), TTS_E_RANGE);
    T_TRUE(says(&err, "the size of the trace does not fit in 64 bits"));
    T_EQ(tts_device_alloc_trace(device, DRAM_TOP * 12, &a, &err), TTS_E_FULL);
    T_EQ(tts_device_failure(device)->kind, TTS_FAILURE_SPACE);
    tts_device_free(device);
    struct tts_chip chip = chip_of("grayskull");
    set(&chip, "grid", "8x8");
    device = device_in(TTS_MODE_PLACE, chip);
    tts_device_trace_begin(device);
    T_EQ(tts_device_alloc_trace(device, 100, &a, &err), TTS_E_NOT_FOUND);
    T_TRUE(says(&err, "DRAM of 'grayskull' needs"));
    tts_device_free(device);
}

/* --- high-water marks ------------------------------------------------------------------- */

static void below(struct tts_device *device, uint64_t bytes, const char *sentence)
{
    struct tts_buffer buffer = {.address = 7};
    char text[TTS_FAILURE_TEXT_MAX];
    struct snapshot was = snapshot_of(device);
    T_EQ(tts_device_alloc_trace(device, bytes, &buffer, NULL), TTS_E_FULL);
    T_EQ(tts_device_failure(device)->kind, TTS_FAILURE_TRACE_OVERLAP);
    T_STR_EQ(tts_failure_text(tts_device_failure(device), text), sentence);
    T_EQ(buffer.address, 7);
    was.failures++;
    was.stats[TTS_POOL_DRAM].failures++;
    is_as_it_was(device, &was);
}

T_TEST(a_trace_below_what_its_capture_used_is_refused_and_leaves_nothing)
{
    struct tts_device *device = device_of("n150");
    tts_device_trace_begin(device);
    /* The block ends at the top of DRAM. */
    struct tts_buffer top = kernel(device, 12 * 2048 - 2000);
    below(device, 1,
          "Trace buffer at address 1073738752 overlaps with buffers allocated during trace "
          "capture (allocation high water mark: 1073741824). Reduce allocations during trace "
          "capture or set a non-zero trace_region_size.");
    /* The capture has ended, so later buffers do not raise the high-water mark. */
    struct tts_buffer after = trace(device, 1);
    T_EQ(after.address, DRAM_TOP - 2048 - 1024);
    given(device, after);
    tts_device_trace_begin(device);
    given(device, top); /* the block that is given back ends at the top */
    below(device, 1,
          "Trace buffer at address 1073740800 overlaps with buffers deallocated during trace "
          "capture (deletion high water mark: 1073741824). Avoid deallocating DRAM buffers "
          "during "
          "trace capture or set a non-zero trace_region_size.");
    tts_device_trace_begin(device);
    given(device, taken(device, pages_in(TTS_POOL_DRAM, 12, TILE)));
    T_EQ(trace(device, 1).address, DRAM_TOP - 1024);
    tts_device_free(device);
}

/* Returns a request for all of DRAM except `bytes` at the bottom. The block is placed from the
 * top. */
static struct tts_request all_but(uint64_t bytes)
{
    struct tts_request rest = pages_in(TTS_POOL_DRAM, 12, DRAM_TOP - DRAM_BASE - bytes);
    rest.placement = TTS_PLACE_DOWN;
    return rest;
}

T_TEST(a_trace_must_not_lie_below_what_live_traces_were_captured_with)
{
    struct tts_device *device = device_of("n150");
    tts_device_trace_begin(device);
    struct tts_buffer low = taken(device, pages_in(TTS_POOL_DRAM, 12, 65536));
    struct tts_buffer first = trace(device, 1), second = trace(device, 1);
    T_EQ(second.address, DRAM_TOP - 2048);
    given(device, low);
    taken(device, all_but(65536 + 2048));
    /* The free range ends at base + 65536, which is the high-water mark of the first
     * capture. */
    below(
        device, 4096 * 12,
        "Trace buffer at address 3030080 overlaps with DRAM activity captured by another live "
        "trace (maximum live trace high water mark: 3034176). Release the existing trace "
        "before "
        "capturing this trace or set a non-zero trace_region_size.");
    given(device, second); /* no memory was in use during the capture of `second` */
    below(
        device, 4096 * 12,
        "Trace buffer at address 3030080 overlaps with DRAM activity captured by another live "
        "trace (maximum live trace high water mark: 3034176). Release the existing trace "
        "before "
        "capturing this trace or set a non-zero trace_region_size.");
    given(device, first);
    T_EQ(trace(device, 4096 * 12).address, 3030080);
    tts_device_free(device);
}

T_TEST(a_trace_exactly_above_what_was_used_is_taken)
{
    struct tts_device *device = device_of("n150");
    taken(device, all_but(65536 + 1024));
    tts_device_trace_begin(device);
    taken(device, pages_in(TTS_POOL_DRAM, 12, 65536));
    T_EQ(trace(device, 1).address, DRAM_BASE + 65536);
    tts_device_free(device);
    device = device_of("n150");
    taken(device, all_but(65536 + 1024 - 32));
    tts_device_trace_begin(device);
    given(device, taken(device, pages_in(TTS_POOL_DRAM, 12, 65536)));
    below(device, 1,
          "Trace buffer at address 3034144 overlaps with DRAM activity during trace capture. "
          "Allocation high water mark: 3034176, Deletion high water mark: 3034176. Reduce "
          "allocations during trace capture or set a non-zero trace_region_size.");
    tts_device_free(device);
}

T_TEST(a_trace_below_the_mark_is_counted_where_nothing_is_refused)
{
    struct tts_device *device = device_in(TTS_MODE_OVERCOMMIT, chip_of("n150"));
    tts_device_trace_begin(device);
    kernel(device, 12 * 2048);
    struct tts_buffer refused = trace(device, 1);
    T_TRUE(!refused.placed && refused.block_bytes == 1024);
    T_EQ(tts_device_failure(device)->kind, TTS_FAILURE_TRACE_OVERLAP);
    T_EQ(stats_of(device, TTS_POOL_DRAM).unplaced_buffers, 1);
    tts_device_free(device);
}

T_TEST(a_capture_goes_on_when_its_trace_cannot_be)
{
    struct tts_device *device = device_of("n150");
    struct tts_buffer buffer;
    tts_device_trace_begin(device);
    kernel(device, 12 * 2048);
    T_EQ(tts_device_alloc_trace(device, UINT64_MAX, &buffer, NULL), TTS_E_RANGE);
    /* The trace would still be below the kernel binary. */
    T_EQ(tts_device_alloc_trace(device, 1, &buffer, NULL), TTS_E_FULL);
    T_TRUE(trace(device, 1).placed); /* the failure has ended the capture */
    tts_device_free(device);
}

T_TEST(a_place_that_fits_exactly_is_looked_at_too)
{
    struct tts_device *device = device_of("n150");
    taken(device, all_but(1024));
    tts_device_trace_begin(device);
    given(device, taken(device, pages_in(TTS_POOL_DRAM, 12, 1024)));
    below(device, 1,
          "Trace buffer at address 2968640 overlaps with DRAM activity during trace capture. "
          "Allocation high water mark: 2969664, Deletion high water mark: 2969664. Reduce "
          "allocations during trace capture or set a non-zero trace_region_size.");
    tts_device_free(device);
}

T_TEST(a_buffer_at_the_address_of_a_trace_in_another_pool_is_another_one)
{
    struct tts_chip chip = chip_of("n150");
    set(&chip, "dram_base", "105664"); /* gives DRAM the addresses of L1 */
    set(&chip, "dram_bank_size", "1499136");
    struct tts_device *device = device_in(TTS_MODE_PLACE, chip);
    tts_device_trace_begin(device);
    taken(device, pages_in(TTS_POOL_DRAM, 12, L1_BYTES - 4096));
    struct tts_buffer first = trace(device, 1);
    struct tts_buffer other = taken(device, pages_in(TTS_POOL_L1, 64, 1024));
    T_EQ(other.address, first.address);
    given(device, other);
    struct tts_buffer gap = taken(device, pages_in(TTS_POOL_DRAM, 12, 3072));
    given(device, (struct tts_buffer){.pool = TTS_POOL_DRAM,
                                      .placed = true,
                                      .address = L1_BASE,
                                      .block_bytes = L1_BYTES - 4096});
    below(
        device, 1,
        "Trace buffer at address 1494016 overlaps with DRAM activity captured by another live "
        "trace (maximum live trace high water mark: 1495040). Release the existing trace "
        "before "
        "capturing this trace or set a non-zero trace_region_size.");
    given(device, gap);
    tts_device_free(device);
}

T_TEST(a_capture_that_nothing_is_placed_in_has_no_mark)
{
    struct tts_device *device = device_in(TTS_MODE_NO_DISPATCH, chip_of("n150"));
    tts_device_trace_begin(device);
    kernel(device, 2048);
    T_TRUE(!trace(device, 1).placed);
    T_EQ(stats_of(device, TTS_POOL_DRAM).unplaced_buffers, 2);
    tts_device_free(device);
    device = device_in(TTS_MODE_OVERCOMMIT, chip_of("n150"));
    taken(device, all_but(1024));
    tts_device_trace_begin(device);
    T_TRUE(!trace(device, 12 * 8192).placed);
    T_EQ(tts_device_failure(device)->kind, TTS_FAILURE_SPACE);
    tts_device_free(device);
}
