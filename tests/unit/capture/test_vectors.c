/* The cases of tt-train's own test of its tracker, with the same names. Each case posts the
 * allocations and frees of the runtime. Kernel binaries exist only on a real device. The cases
 * first run without them, then with them as plain buffers, as in the published figures. */
#include "harness/capture_rig.h"

enum { TILE = 2048, BANKS = 64 };

/* Returns the size of a bf16 tensor in tiles. */
static uint64_t bf16(uint64_t rows, uint64_t columns)
{
    return rows * columns * 2;
}

/* Returns the bytes in a bank: the number of its pages times the page size. A page is a
 * tile. */
static uint64_t per_bank(uint64_t size_bytes, uint64_t banks)
{
    uint64_t pages = size_bytes / TILE;
    return (pages + banks - 1) / banks * TILE;
}

struct vector {
    struct tts_tracker *tracker;
    struct tts_capture *capture;
    uint64_t next_id;
    bool has_binaries; /* run with kernel binaries, as on a real device */
    bool is_v1; /* an L1 buffer counts with its whole size, not with its bytes in a bank */
};

static struct vector vector(bool has_binaries, bool is_v1)
{
    struct vector v = {.next_id = 1, .has_binaries = has_binaries, .is_v1 = is_v1};
    v.tracker = tracker_on(NULL);
    v.capture = begun(v.tracker);
    return v;
}

static uint64_t in_dram(struct vector *v, uint64_t bytes)
{
    alloc_dram(v->tracker, v->next_id, bytes);
    return v->next_id++;
}

static void in_l1(struct vector *v, uint64_t bytes, uint64_t banks)
{
    uint64_t counted = v->is_v1 && banks == BANKS ? bytes : per_bank(bytes, banks);
    T_EQ(tts_track_alloc(v->tracker, 0, TTS_POOL_L1, v->next_id++, bytes, counted, NULL),
         TTS_OK);
}

/* Runs a program. Returns the id of its binary, 0 if it has none here. */
static uint64_t binary(struct vector *v, uint64_t bytes)
{
    program(v->tracker);
    return v->has_binaries ? in_dram(v, bytes) : 0;
}

static void drop(struct vector *v, uint64_t id)
{
    if (id != 0)
        free_dram(v->tracker, id);
}

static const struct tts_usage *usage(const struct vector *v, size_t idx)
{
    return &phase(v->capture, idx)->usage;
}

static void is_l1(const struct vector *v, size_t idx, int64_t cb, int64_t l1, int64_t total)
{
    T_EQ(usage(v, idx)->peak_cb_bytes, cb);
    T_EQ(usage(v, idx)->pools[TTS_POOL_L1].peak_bytes, l1);
    T_EQ(usage(v, idx)->peak_total_bytes, total);
}

static void finish(struct vector *v)
{
    done(v->capture, v->tracker);
}

/* ---- DRAMUsageMatmulInScope ---- */

static void matmul_in_scope(struct vector *v, bool has_cache)
{
    uint64_t ids[] = {in_dram(v, bf16(64, 128)), in_dram(v, bf16(128, 64)),
                      in_dram(v, bf16(64, 64))};
    uint64_t kernel = binary(v, 16384);
    for (int i = 2; i >= 0; i--)
        drop(v, ids[i]);
    if (!has_cache)
        drop(v, kernel);
    end(v->capture, NULL);
}

static void test_matmul_in_scope(bool has_binaries, bool has_cache, int64_t peak, int64_t net)
{
    struct vector v = vector(has_binaries, false);
    matmul_in_scope(&v, has_cache);
    is_dram(v.capture, 0, peak, peak, peak - net);
    finish(&v);
}

T_TEST(DRAMUsageMatmulInScope_cache_on)
{
    test_matmul_in_scope(false, true, 40960, 0);
    test_matmul_in_scope(true, true, 57344, 16384);
}

T_TEST(DRAMUsageMatmulInScope_cache_off)
{
    test_matmul_in_scope(false, false, 40960, 0);
    test_matmul_in_scope(true, false, 57344, 0);
}

/* ---- DRAMUsageMultipleOperations ---- */

enum { BHSD = 1 * 6 * 256 * 64, BHSS = 1 * 6 * 256 * 256 };

/* Runs an add, a multiply and a matmul. All results are kept. */
static void three_operations(struct vector *v, uint64_t add_binary)
{
    in_dram(v, bf16(128, 32));
    binary(v, add_binary);
    in_dram(v, bf16(128, 32));
    binary(v, 10240);
    in_dram(v, bf16(128, 128));
    binary(v, 18432);
}

/* Runs attention in separate steps. The scaled queries and the scores are freed at the end. */
static void composite_attention(struct vector *v)
{
    uint64_t scaled = in_dram(v, 2 * BHSD);
    uint64_t scores = in_dram(v, 2 * BHSS);
    in_dram(v, 2 * BHSS); /* softmax, kept for the backward pass */
    binary(v, 59392);
    in_dram(v, 2 * BHSD);
    drop(v, scores);
    drop(v, scaled);
}

/* Runs attention in one kernel, which keeps the result and a row of sums. */
static void fused_attention(struct vector *v)
{
    in_dram(v, 2 * BHSD);
    in_dram(v, 4 * 6 * 256 * 32);
    binary(v, 43008);
}

static void test_multiple_operations(bool has_binaries, bool is_v1, int64_t peak, int64_t freed)
{
    struct vector v = vector(has_binaries, is_v1);
    three_operations(&v, is_v1 ? 8192 + 4096 : 8192 + 2048);
    if (is_v1)
        composite_attention(&v);
    else
        fused_attention(&v);
    end(v.capture, NULL);
    is_dram(v.capture, 0, peak, peak, freed);
    T_EQ(usage(&v, 0)->pools[TTS_POOL_L1].peak_bytes, 0);
    finish(&v);
}

T_TEST(DRAMUsageMultipleOperations_V1)
{
    int64_t published =
        8192 + (8192 + 4096) + (8192 + 10240) + (32768 + 18432) + (196608 + 1828864);
    test_multiple_operations(false, true, 2015232, 983040);
    test_multiple_operations(true, true, published, 983040);
}

T_TEST(DRAMUsageMultipleOperations_HEAD)
{
    int64_t published =
        8192 + (8192 + 2048) + (8192 + 10240) + (32768 + 18432) + (196608 + 239616);
    test_multiple_operations(false, false, 442368, 0);
    test_multiple_operations(true, false, published, 0);
}

/* ---- L1Usage ---- */

static const struct tts_core_range grid = {0, 0, 7, 7};

/* The inputs exist before the capture. The result is one tile in each of 64 banks. */
static void test_l1_usage_a(bool has_binaries, bool is_v1, int64_t dram_bytes, int64_t l1)
{
    struct vector v = vector(has_binaries, is_v1);
    in_l1(&v, bf16(256, 256), BANKS);
    binary(&v, 10240);
    for (int i = 0; i < 3; i++)
        add_cb(v.tracker, grid, 2 * TILE);
    end(v.capture, NULL);
    is_dram(v.capture, 0, dram_bytes, dram_bytes, 0);
    is_l1(&v, 0, 12288, l1, l1 + 12288);
    finish(&v);
}

T_TEST(L1Usage_a)
{
    test_l1_usage_a(false, false, 0, 2048);
    test_l1_usage_a(true, false, 10240, 2048);
    /* The first release counted all banks of a buffer together. */
    test_l1_usage_a(false, true, 0, 131072);
}

/* Sharded by width: four cores hold a column of four tiles each. The circular buffers use the
 * memory of the shards. */
static void test_l1_usage_b(bool has_binaries, bool is_v1, int64_t dram_bytes)
{
    struct vector v = vector(has_binaries, is_v1);
    struct tts_core_range four = {0, 0, 3, 0};
    in_l1(&v, bf16(128, 128), 4);
    binary(&v, 10240);
    for (int i = 0; i < 3; i++) {
        struct tts_event cb = {.kind = TTS_EVENT_CB,
                               .borrowed = true,
                               .size_bytes = 8192,
                               .ranges = &four,
                               .range_count = 1};
        T_EQ(tts_tracker_post(v.tracker, &cb, NULL), TTS_OK);
    }
    end(v.capture, NULL);
    is_dram(v.capture, 0, dram_bytes, dram_bytes, 0);
    is_l1(&v, 0, 0, 8192, 8192);
    finish(&v);
}

T_TEST(L1Usage_b)
{
    test_l1_usage_b(false, false, 0);
    test_l1_usage_b(true, false, 10240);
    test_l1_usage_b(false, true, 0);
}

/* ---- SnapshotFeature: no program cache, so a binary is freed with its program ---- */

static void three_segments(struct vector *v)
{
    in_dram(v, bf16(64, 64));
    in_dram(v, bf16(64, 64));
    in_dram(v, bf16(64, 64));
    drop(v, binary(v, 10240));
    snapshot(v->capture, "add_operation");
    in_dram(v, bf16(128, 64));
    in_dram(v, bf16(64, 128));
    in_dram(v, bf16(128, 128));
    drop(v, binary(v, 18432));
    snapshot(v->capture, "matmul_operation");
    in_dram(v, bf16(256, 256));
    in_dram(v, bf16(256, 256));
    for (int i = 0; i < 2; i++) { /* copy the inputs to L1 */
        in_l1(v, bf16(256, 256), BANKS);
        drop(v, binary(v, 4096));
    }
    in_l1(v, bf16(256, 256), BANKS);
    drop(v, binary(v, 10240));
    end(v->capture, "multiply_l1_operation");
}

T_TEST(SnapshotFeature)
{
    struct vector v = vector(false, false);
    three_segments(&v);
    T_EQ(tts_capture_count(v.capture), 3);
    T_STR_EQ(phase(v.capture, 0)->name, "add_operation");
    T_STR_EQ(phase(v.capture, 1)->name, "matmul_operation");
    T_STR_EQ(phase(v.capture, 2)->name, "multiply_l1_operation");
    is_dram(v.capture, 0, 24576, 24576, 0);
    is_dram(v.capture, 1, 65536, 65536, 0);
    is_dram(v.capture, 2, 262144, 262144, 0);
    T_EQ(usage(&v, 2)->pools[TTS_POOL_L1].peak_bytes, 3 * TILE);
    T_EQ(dram(v.capture, 2)->cumulative_peak_bytes, 24576 + 65536 + 262144);
    finish(&v);
}

T_TEST(SnapshotFeature_with_its_binaries)
{
    struct vector v = vector(true, true);
    three_segments(&v);
    is_dram(v.capture, 0, 34816, 34816, 10240);
    is_dram(v.capture, 1, 83968, 83968, 18432);
    is_dram(v.capture, 2, 272384, 280576, 18432);
    T_EQ(usage(&v, 2)->pools[TTS_POOL_L1].peak_bytes, 393216);
    finish(&v);
}

/* ---- names ---- */

/* Uploads a tensor, in rows and then in tiles, and frees it. */
static void upload(struct vector *v, uint64_t side)
{
    uint64_t rows = in_dram(v, bf16(side, side));
    uint64_t tiles = in_dram(v, bf16(side, side));
    drop(v, rows);
    drop(v, tiles);
}

T_TEST(DuplicateSnapshotNamesRecordSeparateSegments)
{
    struct vector v = vector(false, false);
    upload(&v, 64);
    snapshot(v.capture, "repeated");
    upload(&v, 512);
    snapshot(v.capture, "repeated");
    end(v.capture, "unique");
    T_EQ(tts_capture_count(v.capture), 3);
    T_STR_EQ(phase(v.capture, 0)->name, "repeated");
    T_STR_EQ(phase(v.capture, 1)->name, "repeated");
    T_STR_EQ(phase(v.capture, 2)->name, "unique");
    T_TRUE(dram(v.capture, 0)->allocated_bytes >= 8192);
    T_TRUE(dram(v.capture, 0)->allocated_bytes < 524288);
    T_TRUE(dram(v.capture, 1)->allocated_bytes >= 524288);
    T_TRUE(dram(v.capture, 0)->peak_bytes < dram(v.capture, 1)->peak_bytes);
    is_dram(v.capture, 2, 0, 0, 0);
    finish(&v);
}

T_TEST(SingularLookupRejectsDuplicateName)
{
    struct vector v = vector(false, false);
    const struct tts_phase *found = NULL;
    struct tts_error err = {0};
    snapshot(v.capture, "repeated");
    snapshot(v.capture, "repeated");
    end(v.capture, "unique");
    T_EQ(tts_capture_get(v.capture, "repeated", &found, &err), TTS_E_AMBIGUOUS);
    T_TRUE(found == NULL && strstr(err.text, "called 'repeated'") != NULL);
    T_EQ(tts_capture_get(v.capture, "no_such_trace", &found, &err), TTS_E_NOT_FOUND);
    T_TRUE(found == NULL && strstr(err.text, "no phase 'no_such_trace'") != NULL);
    T_EQ(tts_capture_get(v.capture, "unique", &found, NULL), TTS_OK);
    T_TRUE(found == phase(v.capture, 2));
    finish(&v);
}
