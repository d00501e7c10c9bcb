/* Tests modelled devices as sources of events, and the effect of NO_DISPATCH on them. */
#include "harness/capture_rig.h"
#include "harness/chip_tools.h"

static struct tts_device *n150(void)
{
    struct tts_chip chip = chip_of("n150");
    struct tts_device *device = NULL;
    set(&chip, "l1_small", "32768");
    set(&chip, "trace_region", "1M");
    T_EQ(tts_device_new(&chip, NULL, NULL, &device, NULL), TTS_OK);
    return device;
}

static struct tts_buffer pages(struct tts_device *device, enum tts_pool pool, uint64_t count)
{
    struct tts_request request = {.pool = pool, .size_bytes = count * 2048, .page_bytes = 2048};
    struct tts_buffer buffer;
    T_EQ(tts_device_alloc(device, &request, &buffer, NULL), TTS_OK);
    return buffer;
}

static void attach(struct tts_tracker *tracker, struct tts_device *device, uint32_t id)
{
    T_EQ(tts_tracker_attach(tracker, device, id, NULL), TTS_OK);
}

static void detach(struct tts_tracker *tracker, struct tts_device *device)
{
    T_EQ(tts_tracker_detach(tracker, device, NULL), TTS_OK);
    tts_device_free(device);
}

/* Allocates weights and an activation in L1, and runs a program with circular buffers. One of
 * them uses the memory of the activation. */
static void work(struct tts_device *device)
{
    static const struct tts_core_range some = {0, 0, 3, 0}, more = {2, 0, 7, 1};
    struct tts_buffer weights = pages(device, TTS_POOL_DRAM, 1000);
    struct tts_buffer activation = pages(device, TTS_POOL_L1, 130);
    struct tts_cb cbs[] = {
        {.ranges = &some, .range_count = 1, .total_bytes = 4096},
        {.ranges = &more, .range_count = 1, .total_bytes = 8192},
        {.ranges = &some, .range_count = 1, .total_bytes = 6144, .global = true},
    };
    uint64_t address;
    tts_device_program(device, 1);
    for (size_t i = 0; i < 3; i++) {
        cbs[i].global_address = activation.address;
        T_EQ(tts_device_add_cb(device, &cbs[i], &address, NULL), TTS_OK);
    }
    T_EQ(tts_device_run_program(device, NULL), TTS_OK);
    T_EQ(tts_device_release(device, &weights), TTS_OK);
    T_EQ(tts_device_release(device, &activation), TTS_OK);
}

static void is_work(const struct tts_phase *done_phase)
{
    const struct tts_usage *usage = &done_phase->usage;
    T_EQ(usage->pools[TTS_POOL_DRAM].peak_bytes, 1000 * 2048);
    T_EQ(usage->pools[TTS_POOL_DRAM].freed_bytes, 1000 * 2048);
    /* 130 pages on 64 banks: at most 3 pages in a bank. */
    T_EQ(usage->pools[TTS_POOL_L1].peak_bytes, 3 * 2048);
    /* The sum as if all were on one core, without the global circular buffer. */
    T_EQ(usage->peak_cb_bytes, 4096 + 8192);
    T_EQ(usage->peak_total_bytes, 3 * 2048 + 4096 + 8192);
    /* Core (2, 0) has the L1 buffer and both circular buffers. */
    T_EQ(usage->core.bytes, 3 * 2048 + 4096 + 8192);
    T_TRUE(usage->core.core.x == 2 && usage->core.core.y == 0);
    T_EQ(usage->core.part_count, 3);
    T_EQ(usage->core.parts[0].bytes, 8192);
}

T_TEST(an_attached_device_tells_of_what_it_does)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = capture_of(tracker);
    struct tts_device *device = n150();
    attach(tracker, device, 7);
    struct tts_buffer before = pages(device, TTS_POOL_DRAM, 3);
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    work(device);
    snapshot(capture, "work");
    T_EQ(tts_device_release(device, &before), TTS_OK);
    end(capture, NULL);
    is_work(phase(capture, 0));
    T_TRUE(phase(capture, 0)->device_count == 1 && phase(capture, 0)->devices[0].device == 7);
    /* The buffer was allocated before the capture; its free still counts. */
    is_dram(capture, 1, 0, 0, 3 * 2048);
    detach(tracker, device);
    done(capture, tracker);
}

T_TEST(without_dispatch_the_figures_are_the_same_and_nothing_is_placed)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = capture_of(tracker);
    struct tts_device *device = n150();
    struct tts_pool_stats stats;
    attach(tracker, device, 0);
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NO_DISPATCH, NULL), TTS_OK);
    work(device);
    snapshot(capture, "work");
    /* A buffer of 2 TiB */
    struct tts_buffer huge = pages(device, TTS_POOL_DRAM, UINT64_C(1) << 30);
    T_TRUE(!huge.placed && huge.address == 0);
    T_TRUE(tts_device_stats(device, TTS_POOL_DRAM, &stats));
    T_EQ(stats.space.taken_bytes, 0);
    T_EQ(tts_device_release(device, &huge), TTS_OK);
    end(capture, NULL);
    is_work(phase(capture, 0));
    is_dram(capture, 1, INT64_C(1) << 41, INT64_C(1) << 41, INT64_C(1) << 41);
    T_EQ(tts_device_failures(device), 0);
    detach(tracker, device);
    done(capture, tracker);
}

T_TEST(a_device_may_tell_of_what_cannot_be_counted_and_it_is_said)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = capture_of(tracker);
    struct tts_device *device = n150();
    attach(tracker, device, 0);
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NO_DISPATCH, NULL), TTS_OK);
    pages(device, TTS_POOL_DRAM, UINT64_C(1) << 42); /* 2^53 bytes */
    T_TRUE(health_of(tracker).events == 0 && health_of(tracker).refused == 1);
    detach(tracker, device);
    done(capture, tracker);
}

/* In tt-train's tracker the device stays blocked after an even number of snapshots until
 * clear(). */
T_TEST(after_any_number_of_snapshots_the_device_places_again)
{
    for (int snapshots = 0; snapshots < 6; snapshots++) {
        struct tts_tracker *tracker = tracker_on(NULL);
        struct tts_capture *capture = capture_of(tracker);
        struct tts_device *device = n150();
        attach(tracker, device, 0);
        T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NO_DISPATCH, NULL), TTS_OK);
        for (int i = 0; i < snapshots; i++) {
            T_TRUE(!pages(device, TTS_POOL_DRAM, 1).placed);
            snapshot(capture, "x");
        }
        T_TRUE(!pages(device, TTS_POOL_DRAM, 1).placed);
        end(capture, NULL);
        T_TRUE(pages(device, TTS_POOL_DRAM, 1).placed);
        detach(tracker, device);
        done(capture, tracker);
    }
}

T_TEST(nothing_is_placed_while_any_capture_is_without_dispatch)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *outer = capture_of(tracker), *inner = capture_of(tracker);
    struct tts_device *device = n150(), *late = n150();
    attach(tracker, device, 0);
    T_EQ(tts_capture_begin(outer, TTS_CAPTURE_NO_DISPATCH, NULL), TTS_OK);
    T_EQ(tts_capture_begin(inner, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    T_TRUE(!pages(device, TTS_POOL_DRAM, 1).placed);
    attach(tracker, late, 1); /* the mode also applies to a device that is attached later */
    T_TRUE(!pages(late, TTS_POOL_DRAM, 1).placed);
    end(inner, NULL);
    T_TRUE(!pages(device, TTS_POOL_DRAM, 1).placed);
    T_EQ(tts_capture_begin(inner, TTS_CAPTURE_NO_DISPATCH, NULL), TTS_OK);
    tts_capture_clear(outer);
    T_TRUE(!pages(device, TTS_POOL_DRAM, 1).placed);
    tts_capture_free(inner); /* the capture is still active when it is freed */
    T_TRUE(pages(device, TTS_POOL_DRAM, 1).placed);
    T_TRUE(pages(late, TTS_POOL_DRAM, 1).placed);
    detach(tracker, late);
    detach(tracker, device);
    done(outer, tracker);
}

T_TEST(a_capture_can_tell_whether_it_held_a_device_back)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *first = capture_of(tracker), *second = capture_of(tracker);
    struct tts_device *device = n150();
    T_EQ(tts_tracker_get_held(NULL), 0);
    T_EQ(tts_capture_begin(first, TTS_CAPTURE_NO_DISPATCH, NULL), TTS_OK);
    T_EQ(tts_tracker_get_held(tracker), 0);
    attach(tracker, device, 0); /* attaches the device while the capture is active */
    T_EQ(tts_tracker_get_held(tracker), 1);
    /* The second capture begins while the first is active. */
    T_EQ(tts_capture_begin(second, TTS_CAPTURE_NO_DISPATCH, NULL), TTS_OK);
    T_EQ(tts_tracker_get_held(tracker), 2);
    T_EQ(tts_capture_end(first, NULL, NULL), TTS_OK);
    T_EQ(tts_capture_end(second, NULL, NULL), TTS_OK);
    T_EQ(tts_capture_begin(first, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    T_EQ(tts_tracker_get_held(tracker), 2);
    detach(tracker, device);
    tts_capture_free(second);
    done(first, tracker);
}

T_TEST(what_was_placed_is_really_freed_without_dispatch)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = capture_of(tracker);
    struct tts_device *device = n150();
    struct tts_pool_stats stats;
    attach(tracker, device, 0);
    struct tts_buffer placed = pages(device, TTS_POOL_DRAM, 12);
    T_EQ(tts_capture_begin(capture, TTS_CAPTURE_NO_DISPATCH, NULL), TTS_OK);
    T_EQ(tts_device_release(device, &placed), TTS_OK);
    struct tts_buffer counted = pages(device, TTS_POOL_DRAM, 12);
    end(capture, NULL);
    /* A buffer that was only counted can be released after the capture. */
    T_EQ(tts_device_release(device, &counted), TTS_OK);
    T_TRUE(tts_device_stats(device, TTS_POOL_DRAM, &stats));
    T_TRUE(stats.buffers == 0 && stats.space.taken_bytes == 0);
    detach(tracker, device);
    done(capture, tracker);
}

T_TEST(traces_and_small_buffers_are_pools_of_their_own)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    struct tts_device *device = n150();
    static const struct tts_core_range core = {1, 1, 1, 1};
    struct tts_shard shard = {.shard_height = 32,
                              .shard_width = 32,
                              .page_height = 32,
                              .page_width = 32,
                              .cores = {.ranges = &core, .count = 1}};
    struct tts_request small = {
        .pool = TTS_POOL_L1_SMALL, .size_bytes = 2048, .page_bytes = 2048, .shard = &shard};
    struct tts_buffer buffer;
    attach(tracker, device, 0);
    T_EQ(tts_device_alloc(device, &small, &buffer, NULL), TTS_OK);
    tts_device_trace_begin(device);
    pages(device, TTS_POOL_DRAM, 1);
    T_EQ(tts_device_alloc_trace(device, 100000, &buffer, NULL), TTS_OK);
    pages(device, TTS_POOL_DRAM, 2);
    end(capture, NULL);
    const struct tts_usage *usage = &phase(capture, 0)->usage;
    is_dram(capture, 0, 3 * 2048, 3 * 2048, 0);
    T_EQ(usage->pools[TTS_POOL_TRACE].peak_bytes, (int64_t)buffer.size_bytes);
    T_TRUE(buffer.pool == TTS_POOL_TRACE && buffer.size_bytes >= 100000);
    T_EQ(usage->pools[TTS_POOL_L1_SMALL].peak_bytes, 2048);
    T_EQ(usage->pools[TTS_POOL_L1].peak_bytes, 0);
    T_EQ(usage->peak_total_bytes, 2048);
    T_EQ(usage->core.l1_small_bytes, 2048);
    T_EQ(usage->traces, 1);
    T_EQ(usage->traced_bytes, 2048);
    detach(tracker, device);
    done(capture, tracker);
}

T_TEST(a_device_has_one_watcher_and_an_id_one_device)
{
    struct tts_tracker *tracker = tracker_on(NULL), *other = tracker_on(NULL);
    struct tts_device *device = n150(), *second = n150();
    struct tts_error err;
    attach(tracker, device, 3);
    T_EQ(tts_tracker_attach(other, device, 0, &err), TTS_E_BUSY);
    T_STR_EQ(err.text, "the device is already attached to a tracker: detach the device first");
    T_EQ(tts_tracker_attach(tracker, second, 3, &err), TTS_E_BUSY);
    T_STR_EQ(err.text, "device id 3 is in use: give another id");
    T_EQ(tts_tracker_detach(tracker, second, &err), TTS_E_NOT_FOUND);
    T_STR_EQ(err.text, "the device is not attached to this tracker");
    T_EQ(tts_tracker_detach(tracker, device, NULL), TTS_OK);
    attach(other, device, 0);
    tts_tracker_free(other); /* detaches the device */
    T_TRUE(!tts_device_is_observed(device));
    attach(tracker, device, 3);
    tts_tracker_free(tracker);
    tts_device_free(device);
    tts_device_free(second);
}

T_TEST(no_more_than_devices_max_attach)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_device *devices[5];
    struct tts_error err;
    for (uint32_t i = 0; i < 5; i++)
        devices[i] = n150();
    for (uint32_t i = 0; i < 4; i++)
        attach(tracker, devices[i], i);
    T_EQ(tts_tracker_attach(tracker, devices[4], 4, &err), TTS_E_RANGE);
    T_STR_EQ(err.text, "the tracker already knows 4 devices, which is the maximum: raise "
                       "devices_max, or give the id of a detached device");
    T_EQ(tts_tracker_detach(tracker, devices[2], NULL), TTS_OK);
    attach(tracker, devices[4], 2); /* reuses the id of a detached device */
    tts_tracker_free(tracker);
    for (uint32_t i = 0; i < 5; i++)
        tts_device_free(devices[i]);
}
