/* The cases of the runtime's own graph tests that allocate, with the same names, on a modelled
 * n150. The older L1 measure of the runtime (whole buffers, and circular buffers including
 * global ones) is not one of our figures; these tests compute it from the live buffers and the
 * program. Cases that only test the nodes of a trace have no counterpart here. */
#include "device/devicepools.h"
#include "harness/capture_rig.h"
#include "harness/chip_tools.h"

enum { TILE = 2048, CORES = 64 };

static const struct tts_core_range every_core = {0, 0, 7, 7}, first_rows = {0, 0, 7, 1};

struct vector {
    struct tts_tracker *tracker;
    struct tts_device *device;
    struct tts_capture *capture;
};

static struct vector vector(void)
{
    struct vector v = {.tracker = tracker_on(NULL)};
    struct tts_chip chip = chip_of("n150");
    T_EQ(tts_device_new(&chip, NULL, NULL, &v.device, NULL), TTS_OK);
    T_EQ(tts_tracker_attach(v.tracker, v.device, 0, NULL), TTS_OK);
    v.capture = capture_of(v.tracker);
    return v;
}

static void begin(struct vector *v, enum tts_capture_mode mode)
{
    T_EQ(tts_capture_begin(v->capture, mode, NULL), TTS_OK);
}

static void finish(struct vector *v)
{
    done(v->capture, v->tracker);
    tts_device_free(v->device);
}

/* Allocates an interleaved bf16 tensor in tiles. */
static struct tts_buffer tensor(struct vector *v, uint64_t volume)
{
    struct tts_request request = {
        .pool = TTS_POOL_L1, .size_bytes = volume * 2, .page_bytes = TILE};
    struct tts_buffer buffer;
    T_EQ(tts_device_alloc(v->device, &request, &buffer, NULL), TTS_OK);
    return buffer;
}

static void add_cbs(struct vector *v, const struct tts_core_range *cores, uint64_t bytes,
                    bool global)
{
    tts_device_program(v->device, 1);
    for (int i = 0; i < 3; i++) {
        struct tts_cb cb = {
            .ranges = cores, .range_count = 1, .total_bytes = bytes, .global = global};
        uint64_t address;
        T_EQ(tts_device_add_cb(v->device, &cb, &address, NULL), TTS_OK);
    }
    T_EQ(tts_device_run_program(v->device, NULL), TTS_OK);
}

/* Computes the older L1 measure. */
static uint64_t older_bytes(const struct vector *v)
{
    struct tts_live live[8];
    size_t count = tts_tracker_live(v->tracker, live, 8);
    uint64_t bytes = 0;
    T_TRUE(count <= 8);
    for (size_t i = 0; i < count; i++)
        bytes += live[i].size_bytes;
    const struct tts_cbs *cbs = tts_device_cbs(v->device);
    for (size_t i = 0; i < tts_cbs_count(cbs); i++)
        bytes += tts_cbs_at(cbs, i)->total_bytes;
    return bytes;
}

static void is_l1(const struct vector *v, int64_t cb, int64_t l1, int64_t total, uint64_t core)
{
    const struct tts_usage *usage = &phase(v->capture, 0)->usage;
    T_EQ(usage->peak_cb_bytes, cb);
    T_EQ(usage->pools[TTS_POOL_L1].peak_bytes, l1);
    T_EQ(usage->peak_total_bytes, total);
    T_EQ(usage->core.bytes, core); /* the use of the fullest core includes the inputs */
}

/* ---- test_graph_basic ---- */

static void test_buffers(enum tts_capture_mode mode)
{
    struct vector v = vector();
    begin(&v, mode);
    struct tts_buffer first = tensor(&v, 1 * 1 * 32 * 32);
    T_EQ(first.size_bytes, 2048);
    T_EQ(tts_device_release(v.device, &first), TTS_OK);
    struct tts_buffer second = tensor(&v, 1 * 1 * 32 * 32);
    struct tts_buffer third = tensor(&v, 32 * 1 * 32 * 32);
    T_EQ(third.size_bytes, 65536);
    T_TRUE(first.id != second.id && second.id != third.id && first.id != third.id);
    struct tts_live live[3];
    T_EQ(tts_tracker_live(v.tracker, live, 3), 2);
    T_TRUE(live[0].size_bytes == 2048 && live[1].size_bytes == 65536);
    end(v.capture, NULL);
    const struct tts_pool_usage *l1 = &phase(v.capture, 0)->usage.pools[TTS_POOL_L1];
    T_TRUE(l1->allocations == 3 && l1->frees == 1);
    T_EQ(l1->peak_bytes, 2 * TILE); /* each tensor has at most one tile on a core */
    finish(&v);
}

T_TEST(graph_basic_BufferTest_normal)
{
    test_buffers(TTS_CAPTURE_NORMAL);
}

T_TEST(graph_basic_BufferTest_no_dispatch)
{
    test_buffers(TTS_CAPTURE_NO_DISPATCH);
}

/* An inner capture is abandoned in the middle, as by an exception. The outer capture is
 * complete. */
T_TEST(graph_basic_ScopedGraphCapture)
{
    struct vector v = vector();
    begin(&v, TTS_CAPTURE_NORMAL);
    struct tts_capture *inner = begun(v.tracker);
    op_begin(v.tracker, "tt::tt_metal::create_device_tensor");
    struct tts_buffer input = tensor(&v, 32 * 32);
    op_end(v.tracker);
    op_begin(v.tracker, "SoftmaxDeviceOperation");
    struct tts_buffer output = tensor(&v, 32 * 32);
    tts_capture_free(inner); /* the operation has not ended */
    T_EQ(tts_device_release(v.device, &output), TTS_OK);
    T_EQ(tts_device_release(v.device, &input), TTS_OK);
    end(v.capture, NULL);
    const struct tts_usage *usage = &phase(v.capture, 0)->usage;
    T_EQ(usage->ops, 2);
    T_EQ(usage->pools[TTS_POOL_L1].allocated_bytes, 2 * TILE);
    T_EQ(usage->pools[TTS_POOL_L1].freed_bytes, 2 * TILE);
    T_STR_EQ(usage->core.op, "SoftmaxDeviceOperation");
    finish(&v);
}

/* ---- test_graph_add: the inputs exist before; the sum is allocated in the capture ---- */

static void test_add(uint64_t a, uint64_t b, uint64_t sum, uint64_t older)
{
    struct vector v = vector();
    struct tts_capture *outer = begun(v.tracker);
    tensor(&v, a);
    tensor(&v, b);
    begin(&v, TTS_CAPTURE_NO_DISPATCH);
    tensor(&v, sum);
    add_cbs(&v, &every_core, 2 * TILE, false);
    T_EQ(older_bytes(&v), older);
    end(v.capture, NULL);
    is_l1(&v, 12288, 2048, 14336, 14336 + 2 * TILE);
    tts_capture_free(outer);
    finish(&v);
}

T_TEST(graph_add_0_l1_interleaved_3_tiles)
{
    test_add(1 * 3 * 32 * 32, 1 * 3 * 32 * 32, 1 * 3 * 32 * 32, 30720);
}

T_TEST(graph_add_1_l1_interleaved_12_and_3_tiles)
{
    test_add(4 * 3 * 32 * 32, 1 * 3 * 32 * 32, 4 * 3 * 32 * 32, 67584);
}

T_TEST(graph_add_2_height_sharded_on_16_cores)
{
    struct vector v = vector();
    struct tts_shard shard = {.shard_height = 192,
                              .shard_width = 1024,
                              .page_height = 32,
                              .page_width = 32,
                              .cores = {.ranges = &first_rows, .count = 1}};
    struct tts_request request = {.pool = TTS_POOL_L1,
                                  .size_bytes = 3 * 1024 * 1024 * 2,
                                  .page_bytes = TILE,
                                  .shard = &shard};
    struct tts_buffer buffer;
    T_EQ(request.size_bytes, 6291456);
    struct tts_capture *outer = begun(v.tracker);
    for (int i = 0; i < 3; i++) {
        if (i == 2)
            begin(&v, TTS_CAPTURE_NO_DISPATCH);
        T_EQ(tts_device_alloc(v.device, &request, &buffer, NULL), TTS_OK);
    }
    /* The circular buffers use the memory of the shards. */
    add_cbs(&v, &first_rows, 393216, true);
    T_EQ(older_bytes(&v), 20054016);
    end(v.capture, NULL);
    is_l1(&v, 0, 393216, 393216, 3 * 393216);
    tts_capture_free(outer);
    finish(&v);
}
