/* Tests the region that a tracker publishes: counters, table, ring, views, faults, forks. */
#include "harness/chip_tools.h"
#include "harness/publish_rig.h"
#include "ttscope/recorder.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { FEW = 16, RING = 8 };

static struct tts_tracker *published(uint32_t buffers, uint32_t events)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    publish(tracker, buffers, events);
    return tracker;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- events ----------------------------------------------------------------------------- */

T_TEST(an_allocation_is_in_the_counters_the_table_and_the_ring)
{
    uint64_t start = now_ns();
    struct tts_tracker *tracker = published(FEW, RING);
    alloc_dram(tracker, 7, 4096);
    struct tts_clientregion_pool pool = pool_in(tracker, 0, TTS_POOL_DRAM);
    T_TRUE(pool.allocated_bytes == 4096 && pool.buffers == 1 && pool.peak_bytes == 4096);
    T_TRUE(pool.allocs == 1 && pool.frees == 0 && pool.view_ns == 0);
    struct tts_clientregion_buffer buffer = buffer_of(tracker, 7);
    T_TRUE(buffer.stamp == 1 && buffer.size_bytes == 4096 && buffer.bank_bytes == 0);
    T_TRUE(buffer.address == UINT64_MAX && buffer.pool == TTS_POOL_DRAM && buffer.op == 0);
    T_TRUE(buffer.time_ns + 10 * 1000 * 1000 > start && buffer.time_ns < now_ns() + 10000000);
    struct tts_clientregion_event event = event_in(tracker, 0);
    T_EQ(event.kind, TTS_CLIENTEVENT_ALLOC);
    T_TRUE(event.stamp == 1 && event.id == 7 && event.live_bytes == 4096);
    T_EQ(event.time_ns, buffer.time_ns);
    T_EQ(header_in(tracker).update_ns, event.time_ns);
    free_dram(tracker, 7);
    pool = pool_in(tracker, 0, TTS_POOL_DRAM);
    T_TRUE(pool.allocated_bytes == 0 && pool.buffers == 0 && pool.peak_bytes == 4096);
    T_EQ(pool.frees, 1);
    event = event_in(tracker, 0);
    T_EQ(event.kind, TTS_CLIENTEVENT_FREE);
    T_TRUE(event.size_bytes == 4096 && event.live_bytes == 0 && event.id == 7);
    struct seen_region seen = see_tracker(tracker);
    T_EQ(seen.header.buffer_high, 1);
    T_TRUE(!see_buffer(&seen, 0, &buffer));
    close(seen.fd);
    tts_tracker_free(tracker);
}

T_TEST(details_of_an_event_are_published)
{
    struct tts_tracker *tracker = published(FEW, RING);
    static const struct tts_core_range some = {0, 0, 3, 1};
    op_begin(tracker, "ttnn::matmul");
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, 0);
    event.pool = TTS_POOL_L1;
    event.id = 3;
    event.size_bytes = 8192;
    event.bytes_per_bank = 1024;
    event.has_address = true;
    event.address = 0x1234;
    event.ranges = &some;
    event.range_count = 1;
    T_EQ(tts_tracker_post(tracker, &event, NULL), TTS_OK);
    op_end(tracker);
    alloc_l1(tracker, 4, 512);
    struct tts_clientregion_buffer buffer = buffer_of(tracker, 3);
    T_TRUE(buffer.address == 0x1234 && buffer.bank_bytes == 1024);
    T_EQ(buffer.flags, TTS_CLIENTBUFFER_SHARDED);
    T_EQ(buffer.op, 1);
    T_EQ(buffer_of(tracker, 4).flags, 0);
    T_EQ(buffer_of(tracker, 4).op, 0);
    T_EQ(pool_in(tracker, 0, TTS_POOL_L1).allocated_bytes, 8192 + 64 * 512);
    struct seen_region seen = see_tracker(tracker);
    char name[TTS_CLIENTREGION_NAME_BYTES];
    T_EQ(seen.header.op_count, 1);
    T_TRUE(read_part(seen.fd, name, sizeof name, seen.header.ops_off));
    T_STR_EQ(name, "ttnn::matmul");
    T_EQ(seen.header.events, 2); /* operations are not events of the ring */
    close(seen.fd);
    free_l1(tracker, 3);
    T_EQ(event_in(tracker, 0).address, 0x1234);
    T_EQ(event_in(tracker, 0).bank_bytes, 1024);
    tts_tracker_free(tracker);
}

T_TEST(operations_without_room_have_one_common_name)
{
    struct tts_tracker *tracker = published(FEW, 64);
    for (int i = 0; i < 30; i++) { /* the tracker keeps 16 names */
        char name[16];
        snprintf(name, sizeof name, "op%d", i);
        op_begin(tracker, name);
        alloc_dram(tracker, 1, 8);
        free_dram(tracker, 1);
        op_end(tracker);
    }
    struct seen_region seen = see_tracker(tracker);
    struct tts_clientregion_event event;
    char name[TTS_CLIENTREGION_NAME_BYTES];
    T_EQ(seen.header.op_count, 17);
    T_TRUE(see_event(&seen, 59, &event));
    T_TRUE(read_part(seen.fd, name, sizeof name,
                     seen.header.ops_off + (event.op - 1u) * sizeof name));
    T_STR_EQ(name, "(other)");
    T_TRUE(see_event(&seen, 8, &event));
    T_EQ(event.op, 5);
    close(seen.fd);
    tts_tracker_free(tracker);
}

T_TEST(circular_buffers_traces_and_refusals_are_published)
{
    struct tts_tracker *tracker = published(FEW, RING);
    struct tts_failure failure = {.kind = TTS_FAILURE_SPACE, .pool = TTS_POOL_L1};
    failure.requested_bytes = 555;
    program(tracker);
    add_cb(tracker, (struct tts_core_range){0, 0, 3, 1}, 1000);
    add_cb(tracker, (struct tts_core_range){2, 2, 2, 2}, 50);
    struct tts_event borrowed = tts_event_of(TTS_EVENT_CB, 0);
    static const struct tts_core_range one = {0, 0, 0, 0};
    borrowed.borrowed = true;
    borrowed.size_bytes = 777;
    borrowed.ranges = &one;
    borrowed.range_count = 1;
    T_EQ(tts_tracker_post(tracker, &borrowed, NULL), TTS_OK);
    struct tts_clientregion_device device = device_in(tracker, 0);
    T_TRUE(device.known & TTS_CLIENTDEVICE_CB);
    T_EQ(device.cb_bytes, 8 * 1000 + 50);
    T_EQ(event_in(tracker, 0).live_bytes, 8 * 1000 + 50);
    program(tracker);
    T_EQ(device_in(tracker, 0).cb_bytes, 0);
    T_EQ(tts_track_trace_begin(tracker, 0, NULL), TTS_OK);
    T_EQ(device_in(tracker, 0).trace_depth, 1);
    T_EQ(tts_track_trace_end(tracker, 0, NULL), TTS_OK);
    T_EQ(tts_track_trace_end(tracker, 0, NULL), TTS_OK);
    T_EQ(device_in(tracker, 0).trace_depth, 0);
    T_EQ(device_in(tracker, 0).traces, 1);
    T_EQ(tts_track_failure(tracker, 0, &failure, NULL), TTS_OK);
    T_EQ(event_in(tracker, 0).kind, TTS_CLIENTEVENT_REFUSED);
    T_EQ(event_in(tracker, 0).size_bytes, 555);
    T_EQ(event_in(tracker, 0).pool, TTS_POOL_L1);
    T_EQ(event_in(tracker, 1).kind, TTS_CLIENTEVENT_TRACE_END);
    T_EQ(event_in(tracker, 4).kind, TTS_CLIENTEVENT_PROGRAM);
    T_EQ(event_in(tracker, 5).kind, TTS_CLIENTEVENT_CB);
    tts_tracker_free(tracker);
}

static void alloc_l1_at(struct tts_tracker *tracker, uint32_t device, uint64_t id,
                        uint64_t address)
{
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, device);
    event.pool = TTS_POOL_L1;
    event.id = id;
    event.size_bytes = 64 * 1024;
    event.bytes_per_bank = 1024;
    event.has_address = true;
    event.address = address;
    T_EQ(tts_tracker_post(tracker, &event, NULL), TTS_OK);
}

static void begin_borrowed_at(struct tts_tracker *tracker, uint32_t device, uint64_t address)
{
    static const struct tts_core_range one = {0, 0, 0, 0};
    struct tts_event event = tts_event_of(TTS_EVENT_CB, device);
    event.borrowed = true;
    event.size_bytes = 64;
    event.ranges = &one;
    event.range_count = 1;
    event.has_address = true;
    event.address = address;
    T_EQ(tts_tracker_post(tracker, &event, NULL), TTS_OK);
}

static bool has_cb_in(struct tts_tracker *tracker, uint64_t id)
{
    return buffer_of(tracker, id).flags == TTS_CLIENTBUFFER_HAS_CB;
}

T_TEST(a_buffer_has_a_flag_while_a_circular_buffer_lies_in_its_memory)
{
    struct tts_tracker *tracker = published(FEW, RING);
    alloc_l1(tracker, 1, 512); /* without an address */
    alloc_l1_at(tracker, 0, 2, 0x10000);
    alloc_l1_at(tracker, 0, 3, 0x10400);
    alloc_dram(tracker, 4, 4096);
    begin_borrowed_at(tracker, 0, 0x10800); /* in no buffer */
    T_TRUE(!has_cb_in(tracker, 2) && !has_cb_in(tracker, 3));
    uint64_t events = header_in(tracker).events;
    begin_borrowed_at(tracker, 0, 0x103ff);
    T_TRUE(has_cb_in(tracker, 2) && !has_cb_in(tracker, 1) && !has_cb_in(tracker, 3));
    T_EQ(header_in(tracker).events, events);
    begin_borrowed_at(tracker, 0, 0x10000);
    begin_borrowed_at(tracker, 0, 0x10400);
    T_TRUE(has_cb_in(tracker, 2) && has_cb_in(tracker, 3));
    free_l1(tracker, 2);
    alloc_l1_at(tracker, 0, 5, 0x10000); /* in the slot of the last one */
    T_TRUE(!has_cb_in(tracker, 5) && has_cb_in(tracker, 3));
    program(tracker);
    T_TRUE(!has_cb_in(tracker, 3) && !has_cb_in(tracker, 5));
    begin_borrowed_at(tracker, 0, 0x10000);
    T_TRUE(has_cb_in(tracker, 5));
    tts_tracker_free(tracker);
}

T_TEST(a_circular_buffer_on_a_chip_marks_a_buffer_of_its_mesh)
{
    enum { MESH = 0, CHIP = 1, OTHER_CHIP = 2, STRANGER = 3 };
    struct tts_tracker *tracker = published(FEW, RING);
    T_EQ(tts_tracker_chip(tracker, CHIP, MESH, NULL), TTS_OK);
    T_EQ(tts_tracker_chip(tracker, OTHER_CHIP, MESH, NULL), TTS_OK);
    alloc_l1_at(tracker, MESH, 1, 0x10000);
    begin_borrowed_at(tracker, STRANGER, 0x10000);
    T_TRUE(!has_cb_in(tracker, 1));
    begin_borrowed_at(tracker, CHIP, 0x10000);
    begin_borrowed_at(tracker, OTHER_CHIP, 0x10000);
    T_TRUE(has_cb_in(tracker, 1));
    T_EQ(tts_track_program(tracker, CHIP, NULL), TTS_OK);
    T_TRUE(has_cb_in(tracker, 1));
    T_EQ(tts_track_program(tracker, OTHER_CHIP, NULL), TTS_OK);
    T_TRUE(!has_cb_in(tracker, 1));
    begin_borrowed_at(tracker, CHIP, 0x10000);
    T_EQ(tts_track_program(tracker, MESH, NULL), TTS_OK);
    T_TRUE(!has_cb_in(tracker, 1));
    tts_tracker_free(tracker);
}

T_TEST(the_ring_keeps_the_last_events_and_rounds_its_size_up)
{
    struct tts_tracker *tracker = published(FEW, 5);
    T_EQ(header_in(tracker).event_slots, 8);
    for (uint64_t i = 0; i < 20; i++)
        alloc_dram(tracker, 1000 + i % 4, 16);
    struct seen_region seen = see_tracker(tracker);
    struct tts_clientregion_event event;
    for (uint64_t i = 0; i < 20; i++)
        T_EQ(see_event(&seen, i, &event), i >= 12);
    T_EQ(seen.header.events, 20);
    close(seen.fd);
    tts_tracker_free(tracker);
}

T_TEST(an_id_that_is_allocated_twice_counts_once)
{
    struct tts_tracker *tracker = published(FEW, RING);
    alloc_dram(tracker, 1, 100);
    alloc_dram(tracker, 1, 30);
    struct tts_clientregion_pool pool = pool_in(tracker, 0, TTS_POOL_DRAM);
    T_TRUE(pool.allocated_bytes == 30 && pool.buffers == 1);
    T_TRUE(pool.allocs == 2 && pool.frees == 1 && pool.peak_bytes == 100);
    T_EQ(buffer_of(tracker, 1).size_bytes, 30);
    T_EQ(buffer_of(tracker, 1).stamp, 2);
    T_EQ(header_in(tracker).buffer_high, 1);
    T_EQ(tts_track_alloc(tracker, 0, TTS_POOL_TRACE, 1, 9, 0, NULL), TTS_OK);
    T_EQ(pool_in(tracker, 0, TTS_POOL_DRAM).buffers, 0);
    T_EQ(pool_in(tracker, 0, TTS_POOL_TRACE).allocated_bytes, 9);
    tts_tracker_free(tracker);
}

T_TEST(a_free_of_an_unknown_buffer_changes_no_counter_of_bytes)
{
    struct tts_tracker *tracker = published(FEW, RING);
    alloc_dram(tracker, 1, 100);
    T_EQ(tts_track_free(tracker, 0, TTS_POOL_DRAM, 99, 5000, 0, NULL), TTS_OK);
    struct tts_clientregion_pool pool = pool_in(tracker, 0, TTS_POOL_DRAM);
    T_TRUE(pool.allocated_bytes == 100 && pool.buffers == 1 && pool.frees == 0);
    T_EQ(header_in(tracker).unknown_frees, 1);
    T_EQ(event_in(tracker, 0).kind, TTS_CLIENTEVENT_FREE);
    T_EQ(event_in(tracker, 0).size_bytes, 0);
    tts_tracker_free(tracker);
}

T_TEST(buffers_beyond_the_table_are_counted_and_their_frees_are_exact)
{
    struct tts_tracker *tracker = published(2, RING);
    for (uint64_t id = 1; id <= 5; id++)
        alloc_dram(tracker, id, id * 100);
    struct tts_publish_state at;
    tts_publish_get_state(tracker, &at);
    T_EQ(at.unlisted, 3);
    T_EQ(at.events, 5);
    T_EQ(header_in(tracker).unlisted, 3);
    T_EQ(pool_in(tracker, 0, TTS_POOL_DRAM).allocated_bytes, 1500);
    free_dram(tracker, 4); /* not listed */
    T_EQ(header_in(tracker).unlisted, 2);
    T_EQ(event_in(tracker, 0).size_bytes, 400);
    T_EQ(pool_in(tracker, 0, TTS_POOL_DRAM).allocated_bytes, 1100);
    alloc_dram(tracker, 5, 1); /* not listed, allocated again */
    T_EQ(header_in(tracker).unlisted, 2);
    T_EQ(pool_in(tracker, 0, TTS_POOL_DRAM).allocated_bytes, 601);
    free_dram(tracker, 1); /* listed */
    alloc_dram(tracker, 3, 7);
    T_EQ(header_in(tracker).unlisted, 1);
    T_EQ(buffer_of(tracker, 3).size_bytes, 7);
    free_dram(tracker, 2);
    free_dram(tracker, 3);
    free_dram(tracker, 5);
    struct tts_clientregion_pool pool = pool_in(tracker, 0, TTS_POOL_DRAM);
    T_TRUE(pool.allocated_bytes == 0 && pool.buffers == 0 && pool.allocs == pool.frees);
    T_EQ(header_in(tracker).unlisted, 0);
    T_EQ(header_in(tracker).unknown_frees, 0);
    tts_tracker_free(tracker);
}

/* --- any history ------------------------------------------------------------------------ */

enum { IDS = 40, SLOTS = 24, DEVICES = 3, STEPS = 20000 };

struct expected_buffer {
    uint64_t size;
    enum tts_pool pool;
};

static void compare_region(struct tts_tracker *tracker,
                           struct expected_buffer wanted[DEVICES][IDS], uint64_t unlisted)
{
    struct seen_region seen = see_tracker(tracker);
    struct tts_clientregion_buffer buffer;
    uint64_t live = 0, listed = 0;
    for (uint32_t d = 0; d < DEVICES; d++) {
        struct tts_clientregion_device device = device_in(tracker, d);
        for (int pool = 0; pool < TTS_POOLS; pool++) {
            uint64_t bytes = 0, count = 0;
            for (int id = 0; id < IDS; id++) {
                if (wanted[d][id].size == 0 || (int)wanted[d][id].pool != pool)
                    continue;
                bytes += wanted[d][id].size;
                count++;
            }
            T_EQ(device.pools[pool].allocated_bytes, bytes);
            T_EQ(device.pools[pool].buffers, count);
            T_EQ(device.pools[pool].allocs - device.pools[pool].frees, count);
            live += count;
        }
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (!see_buffer(&seen, slot, &buffer))
            continue;
        listed++;
        T_EQ(wanted[buffer.device][buffer.id].size, buffer.size_bytes);
        T_EQ(wanted[buffer.device][buffer.id].pool, buffer.pool);
    }
    T_EQ(seen.header.unlisted, unlisted);
    T_EQ(listed + unlisted, live);
    T_EQ(seen.header.dropped, 0);
    close(seen.fd);
}

T_TEST(any_history_gives_exact_counters_and_an_exact_table)
{
    static struct expected_buffer wanted[DEVICES][IDS];
    struct tts_tracker *tracker = published(SLOTS, 64);
    struct tts_publish_state at;
    uint64_t random = 7;
    for (uint32_t d = 0; d < DEVICES; d++) {
        T_EQ(tts_track_alloc(tracker, d, TTS_POOL_DRAM, 0, 1, 0, NULL), TTS_OK);
        wanted[d][0] = (struct expected_buffer){1, TTS_POOL_DRAM};
    }
    for (int i = 1; i <= STEPS; i++) {
        uint32_t d = (uint32_t)(t_random(&random) % DEVICES);
        uint64_t id = t_random(&random) % IDS, size = 1 + t_random(&random) % 5000;
        enum tts_pool pool = (enum tts_pool)(t_random(&random) % TTS_POOLS);
        if (t_random(&random) % 5 < 2) {
            T_EQ(tts_track_alloc(tracker, d, pool, id, size, size, NULL), TTS_OK);
            wanted[d][id] = (struct expected_buffer){size, pool};
        } else {
            T_EQ(tts_track_free(tracker, d, pool, id, 0, 0, NULL), TTS_OK);
            wanted[d][id].size = 0;
        }
        if (i % 500 != 0)
            continue;
        tts_publish_get_state(tracker, &at);
        compare_region(tracker, wanted, at.unlisted);
    }
    tts_tracker_free(tracker);
}

/* --- begin and end ---------------------------------------------------------------------- */

T_TEST(buffers_that_are_live_at_the_beginning_are_published)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_capture *capture = begun(tracker);
    alloc_dram(tracker, 1, 100);
    op_begin(tracker, "early");
    alloc_l1(tracker, 2, 64);
    op_end(tracker);
    T_EQ(tts_tracker_chip(tracker, 1, 0, NULL), TTS_OK);
    program(tracker);
    add_cb(tracker, (struct tts_core_range){0, 0, 1, 0}, 10);
    T_EQ(tts_track_trace_begin(tracker, 0, NULL), TTS_OK);
    publish(tracker, FEW, RING);
    T_EQ(buffer_of(tracker, 1).size_bytes, 100);
    T_EQ(buffer_of(tracker, 2).bank_bytes, 64);
    T_EQ(buffer_of(tracker, 2).op, 1);
    struct tts_clientregion_device mesh = device_in(tracker, 0), chip = device_in(tracker, 1);
    T_EQ(mesh.pools[TTS_POOL_DRAM].allocated_bytes, 100);
    T_TRUE(mesh.cb_bytes == 20 && mesh.trace_depth == 1);
    T_TRUE(chip.cb_bytes == 0 && chip.trace_depth == 0);
    T_TRUE((chip.known & TTS_CLIENTDEVICE_MESH) && chip.mesh == 0);
    free_dram(tracker, 1);
    T_EQ(pool_in(tracker, 0, TTS_POOL_DRAM).buffers, 0);
    T_EQ(tts_tracker_chip(tracker, 2, 0, NULL), TTS_OK);
    T_TRUE(device_in(tracker, 2).known & TTS_CLIENTDEVICE_MESH);
    tts_publish_end(tracker);
    T_TRUE(tts_tracker_is_on(tracker));
    tts_capture_free(capture);
    T_TRUE(!tts_tracker_is_on(tracker));
    tts_tracker_free(tracker);
}

T_TEST(a_tracker_publishes_and_records_at_the_same_time)
{
    struct tts_tracker *tracker = published(FEW, RING);
    struct tts_recorder *recorder = NULL;
    struct tts_recorder_config config = {.path = t_scratch("both.tts")};
    struct tts_recorder_state at;
    T_EQ(tts_recorder_begin(tracker, &config, &recorder, NULL), TTS_OK);
    alloc_dram(tracker, 1, 100);
    alloc_l1(tracker, 2, 100);
    free_dram(tracker, 1);
    T_EQ(tts_recorder_end(recorder, &at, NULL), TTS_OK);
    T_EQ(at.events, 3);
    T_EQ(header_in(tracker).events, 3);
    free_l1(tracker, 2);
    T_EQ(header_in(tracker).events, 4);
    tts_tracker_free(tracker);
}

T_TEST(it_begins_once_and_its_end_removes_the_file)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_tracker *tracker = tracker_on(&heap);
    struct tts_error err;
    struct tts_publish_config config = {.directory = publish_directory(), .buffers_max = 4};
    T_TRUE(!tts_publish_is_on(tracker) && !tts_publish_is_on(NULL));
    tts_publish_end(tracker);
    tts_publish_end(NULL);
    T_EQ(tts_publish_begin(tracker, &config, &err), TTS_OK);
    T_TRUE(tts_tracker_is_on(tracker) && tts_publish_is_on(tracker));
    T_EQ(tts_publish_begin(tracker, &config, &err), TTS_E_BUSY);
    T_STR_EQ(err.text,
             "the tracker already publishes its memory: end the earlier publication first");
    struct tts_publish_state at;
    tts_publish_get_state(tracker, &at);
    T_EQ(access(at.path, F_OK), 0);
    T_EQ(header_in(tracker).event_slots, 16384);
    uint64_t calls = heap.calls;
    for (uint64_t i = 0; i < 100; i++)
        alloc_dram(tracker, i, 8);
    T_EQ(heap.calls, calls); /* events allocate nothing */
    tts_publish_end(tracker);
    T_TRUE(access(at.path, F_OK) != 0);
    T_TRUE(!tts_tracker_is_on(tracker) && !tts_publish_is_on(tracker));
    tts_publish_get_state(tracker, &at);
    T_STR_EQ(at.path, "");
    tts_publish_get_state(NULL, &at);
    tts_publish_get_state(tracker, NULL);
    T_EQ(tts_publish_begin(tracker, &config, &err), TTS_OK);
    tts_publish_get_state(tracker, &at);
    tts_tracker_free(tracker); /* ends the publisher */
    T_TRUE(access(at.path, F_OK) != 0);
    T_TRUE(heap_is_settled(&heap));
}

T_TEST(without_memory_it_does_not_begin_and_nothing_is_left)
{
    struct heap heap;
    heap_init(&heap);
    struct tts_tracker *tracker = tracker_on(&heap);
    struct tts_publish_config config = {.directory = publish_directory(), .buffers_max = 4};
    enum tts_status status = TTS_E_NOMEM;
    int failures = 0;
    for (uint64_t at = 1; status != TTS_OK; at++, failures++) {
        heap.fail_at = heap.calls + 1 + (at - 1);
        status = tts_publish_begin(tracker, &config, NULL);
        T_TRUE(status == TTS_OK || status == TTS_E_NOMEM);
        T_EQ(tts_tracker_is_on(tracker), status == TTS_OK);
    }
    T_TRUE(failures > 3);
    tts_tracker_free(tracker);
    T_TRUE(heap_is_settled(&heap));
    T_EQ(rmdir(config.directory), 0);
}

T_TEST(bad_arguments_are_refused)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_error err;
    struct tts_publish_config config = {.reserved = {[5] = 1}};
    T_EQ(tts_publish_begin(NULL, NULL, &err), TTS_E_INVALID);
    T_EQ(tts_publish_begin(tracker, &config, &err), TTS_E_INVALID);
    T_STR_EQ(err.text,
             "a reserved field of the configuration is not 0: set all reserved fields to 0");
    config = (struct tts_publish_config){.buffers_max = (1 << 24) + 1};
    T_EQ(tts_publish_begin(tracker, &config, &err), TTS_E_RANGE);
    T_STR_EQ(err.text, "buffers_max is 16777217, but the maximum is 16777216");
    config = (struct tts_publish_config){.events_max = (1 << 24) + 1};
    T_EQ(tts_publish_begin(tracker, &config, &err), TTS_E_RANGE);
    struct tts_publish_report report = {.banks = 1};
    struct tts_publish_facts facts = {0};
    T_EQ(tts_publish_pool(NULL, 0, TTS_POOL_L1, &report, 0, &err), TTS_E_INVALID);
    T_EQ(tts_publish_pool(tracker, 0, TTS_POOL_L1, NULL, 0, &err), TTS_E_INVALID);
    T_EQ(tts_publish_pool(tracker, 0, TTS_POOLS, &report, 0, &err), TTS_E_INVALID);
    T_EQ(tts_publish_device(tracker, 0, NULL, &err), TTS_E_INVALID);
    T_EQ(tts_publish_device(NULL, 0, &facts, &err), TTS_E_INVALID);
    T_EQ(tts_publish_pool(tracker, 0, TTS_POOL_L1, &report, 0, &err), TTS_OK); /* is off */
    T_EQ(tts_publish_device(tracker, 0, &facts, &err), TTS_OK);
    publish(tracker, 4, 4);
    for (uint32_t d = 0; d < 4; d++)
        T_EQ(tts_publish_pool(tracker, d, TTS_POOL_L1, &report, 0, &err), TTS_OK);
    T_EQ(tts_publish_pool(tracker, 9, TTS_POOL_L1, &report, 0, &err), TTS_E_RANGE);
    T_EQ(tts_publish_device(tracker, 9, &facts, &err), TTS_E_RANGE);
    T_EQ(tts_track_alloc(tracker, 9, TTS_POOL_DRAM, 1, 1, 0, NULL), TTS_OK);
    T_EQ(header_in(tracker).dropped, 1);
    T_EQ(header_in(tracker).events, 0);
    tts_tracker_free(tracker);
}

T_TEST(a_directory_without_room_is_refused_and_the_program_goes_on)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_error err;
    struct tts_publish_config config = {.directory = publish_directory()};
    struct rlimit limit;
    T_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    T_EQ(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 16, limit.rlim_max}), 0);
    T_EQ(tts_publish_begin(tracker, &config, &err), TTS_E_IO);
    T_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    T_EQ(err.sys_errno, EFBIG);
    T_TRUE(strstr(err.text, "cannot publish in '") && strstr(err.text, "ttscope_"));
    T_TRUE(!tts_tracker_is_on(tracker) && !tts_publish_is_on(tracker));
    alloc_dram(tracker, 1, 1);
    T_EQ(rmdir(config.directory), 0); /* no file is left */
    publish(tracker, 4, 4);           /* publishes as soon as there is room */
    tts_tracker_free(tracker);
}

/* Mounts a file system of 64 KiB on the directory, for this process only. */
static bool mount_small(const char *directory)
{
    return (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", directory, "tmpfs", 0, "size=64k") == 0;
}

T_TEST(a_full_file_system_is_refused_with_advice)
{
    const char *directory = publish_directory();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct tts_tracker *tracker = tracker_on(NULL);
        struct tts_publish_config config = {.directory = directory};
        struct tts_error err = {0};
        if (!mount_small(directory))
            _exit(77);
        bool is_refused = tts_publish_begin(tracker, &config, &err) == TTS_E_IO &&
                          err.sys_errno == ENOSPC && strstr(err.text, "free some space") &&
                          strstr(err.text, "ttscope_");
        config.buffers_max = config.events_max = 16; /* this fits */
        _exit(is_refused && tts_publish_begin(tracker, &config, &err) == TTS_OK ? 0 : 1);
    }
    int status;
    T_EQ(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("skipped: the system does not allow a mount\n");
        return;
    }
    T_EQ(status, 0);
}

/* --- views ------------------------------------------------------------------------------ */

T_TEST(reports_of_an_allocator_and_facts_are_published)
{
    struct tts_tracker *tracker = published(FEW, RING);
    struct tts_publish_report report = {.banks = 12,
                                        .total_bytes = 1200,
                                        .allocated_bytes = 240,
                                        .free_bytes = 960,
                                        .largest_free_bytes = 600};
    struct tts_publish_facts facts = {.unique_id_known = true,
                                      .unique_id = 0,
                                      .arch_known = true,
                                      .arch = TTS_ARCH_WORMHOLE,
                                      .grid_columns = 8,
                                      .grid_rows = 7};
    T_EQ(tts_publish_pool(tracker, 5, TTS_POOL_DRAM, &report, 1000, NULL), TTS_OK);
    T_EQ(tts_publish_device(tracker, 5, &facts, NULL), TTS_OK);
    struct tts_clientregion_device device = device_in(tracker, 5);
    const struct tts_clientregion_pool *dram = &device.pools[TTS_POOL_DRAM];
    T_TRUE(dram->view_ns > 0 && device.pools[TTS_POOL_L1].view_ns == 0);
    T_TRUE(dram->banks == 12 && dram->total_bytes == 1200 && dram->taken_bytes == 240);
    T_TRUE(dram->free_bytes == 960 && dram->largest_free_bytes == 600);
    T_EQ(device.period_ns, 1000);
    T_EQ(device.known,
         TTS_CLIENTDEVICE_UNIQUE_ID | TTS_CLIENTDEVICE_ARCH | TTS_CLIENTDEVICE_GRID);
    T_TRUE(device.grid_columns == 8 && device.grid_rows == 7 && device.arch == 1);
    T_EQ(header_in(tracker).events, 0);
    tts_tracker_free(tracker);
}

T_TEST(a_global_circular_buffer_of_an_attached_device_marks_its_buffer)
{
    static const struct tts_core_range one = {0, 0, 0, 0};
    struct tts_tracker *tracker = published(FEW, RING);
    struct tts_chip chip = chip_of("n150");
    struct tts_device *device;
    struct tts_buffer buffer;
    struct tts_request request = {
        .pool = TTS_POOL_L1, .size_bytes = 100 * 2048, .page_bytes = 2048};
    T_EQ(tts_device_new(&chip, NULL, NULL, &device, NULL), TTS_OK);
    T_EQ(tts_tracker_attach(tracker, device, 0, NULL), TTS_OK);
    T_EQ(tts_device_alloc(device, &request, &buffer, NULL), TTS_OK);
    struct tts_cb cb = {.ranges = &one,
                        .range_count = 1,
                        .total_bytes = 2048,
                        .global = true,
                        .global_address = buffer.address};
    uint64_t address;
    tts_device_program(device, 1);
    T_EQ(tts_device_add_cb(device, &cb, &address, NULL), TTS_OK);
    T_TRUE(has_cb_in(tracker, buffer.id));
    tts_device_program(device, 2);
    T_TRUE(!has_cb_in(tracker, buffer.id));
    tts_tracker_free(tracker);
    tts_device_free(device);
}

T_TEST(attached_devices_publish_their_pools_after_each_event)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_chip chip = chip_of("n150");
    struct tts_device *early, *late;
    struct tts_pool_stats stats;
    T_EQ(tts_device_new(&chip, NULL, NULL, &early, NULL), TTS_OK);
    T_EQ(tts_device_new(&chip, NULL, NULL, &late, NULL), TTS_OK);
    T_EQ(tts_tracker_attach(tracker, early, 0, NULL), TTS_OK);
    publish(tracker, FEW, RING);
    T_EQ(tts_tracker_attach(tracker, late, 1, NULL), TTS_OK);
    struct tts_clientregion_device seen = device_in(tracker, 1);
    T_TRUE(seen.known & TTS_CLIENTDEVICE_ARCH);
    uint64_t grid = chip.fact[TTS_FACT_GRID].value;
    T_TRUE(seen.arch == TTS_ARCH_WORMHOLE && seen.grid_columns == TTS_GRID_COLUMNS(grid));
    T_TRUE(seen.grid_rows == TTS_GRID_ROWS(grid) && seen.grid_rows > 0);
    T_TRUE(seen.dram_channels == 6 && seen.period_ns == 0);
    T_EQ(device_in(tracker, 0).grid_rows, seen.grid_rows);
    struct tts_request request = {
        .pool = TTS_POOL_DRAM, .size_bytes = 100 * 2048, .page_bytes = 2048};
    struct tts_buffer buffer;
    for (int i = 0; i < 2; i++) {
        struct tts_device *device = i ? late : early;
        T_EQ(tts_device_alloc(device, &request, &buffer, NULL), TTS_OK);
        T_TRUE(tts_device_stats(device, TTS_POOL_DRAM, &stats));
        struct tts_clientregion_pool pool = pool_in(tracker, (uint32_t)i, TTS_POOL_DRAM);
        T_EQ(pool.banks, 12);
        T_EQ(pool.total_bytes, 12 * stats.space.total_bytes);
        T_EQ(pool.taken_bytes, 12 * stats.space.taken_bytes);
        T_EQ(pool.free_bytes, 12 * stats.space.free_bytes);
        T_EQ(pool.largest_free_bytes, 12 * stats.space.largest_free_bytes);
        T_EQ(pool.allocated_bytes, 100 * 2048);
        T_TRUE(pool.taken_bytes > 0 && pool.view_ns > 0);
    }
    T_EQ(tts_device_release(late, &buffer), TTS_OK);
    T_EQ(pool_in(tracker, 1, TTS_POOL_DRAM).taken_bytes, 0);
    tts_tracker_free(tracker);
    tts_device_free(early);
    tts_device_free(late);
}

/* --- system calls, kills, forks --------------------------------------------------------- */

/* Ends the process at any system call except write() and exit. Returns false if the system does
 * not allow the filter. */
static bool forbid_system_calls(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof code / sizeof *code, .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static void post_all_kinds(struct tts_tracker *tracker, uint64_t id)
{
    op_begin(tracker, id % 2 ? "odd" : "even");
    alloc_dram(tracker, id, 100);
    alloc_l1(tracker, id + 1, 64);
    program(tracker);
    add_cb(tracker, (struct tts_core_range){0, 0, 1, 1}, 32);
    T_EQ(tts_track_trace_begin(tracker, 0, NULL), TTS_OK);
    T_EQ(tts_track_trace_end(tracker, 0, NULL), TTS_OK);
    op_end(tracker);
    if (id % 3 == 0)
        free_dram(tracker, id);
    free_l1(tracker, id + 1);
}

T_TEST(events_make_no_system_call)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct tts_tracker *tracker = published(FEW, RING); /* the table gets full */
        post_all_kinds(tracker, 0); /* touches the memory of the thread */
        if (!forbid_system_calls())
            syscall(SYS_exit_group, 77);
        for (uint64_t i = 1; i < 200; i++)
            post_all_kinds(tracker, 2 * i);
        syscall(SYS_exit_group, 0);
    }
    int status;
    T_EQ(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("skipped: the system does not allow a filter of system calls\n");
        return;
    }
    T_EQ(status, 0);
}

T_TEST(a_killed_program_leaves_a_readable_file)
{
    int pipes[2], status;
    struct seen_region seen;
    struct tts_clientregion_device device;
    char path[256];
    T_EQ(pipe(pipes), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct tts_tracker *tracker = published(FEW, RING);
        struct tts_publish_state at;
        for (uint64_t i = 0; i < 10; i++)
            alloc_dram(tracker, i, 1000);
        tts_publish_get_state(tracker, &at);
        if (write(pipes[1], at.path, sizeof at.path) != sizeof at.path)
            _exit(1);
        for (;;)
            pause();
    }
    T_EQ(read(pipes[0], path, sizeof path), sizeof path);
    T_EQ(kill(pid, SIGKILL), 0);
    T_EQ(waitpid(pid, &status, 0), pid);
    T_TRUE(see_region(path, &seen));
    T_EQ(seen.header.pid, pid);
    T_EQ(seen.header.state, TTS_CLIENTREGION_LIVE);
    T_EQ(seen.header.events, 10);
    T_TRUE(see_device(&seen, 0, &device));
    T_EQ(device.pools[TTS_POOL_DRAM].allocated_bytes, 10000);
    close(seen.fd);
    T_EQ(unlink(path), 0);
    close(pipes[0]);
    close(pipes[1]);
}

T_TEST(a_child_never_writes_the_file_of_its_parent)
{
    int status;
    struct tts_tracker *tracker = published(FEW, RING);
    alloc_dram(tracker, 1, 100);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct tts_publish_state at;
        alloc_dram(tracker, 2, 100);
        if (tts_publish_is_on(tracker) || tts_tracker_is_on(tracker))
            _exit(1);
        tts_publish_get_state(tracker, &at);
        publish(tracker, 4, 4); /* the child may begin again, with a file of its own */
        alloc_dram(tracker, 3, 7);
        if (pool_in(tracker, 0, TTS_POOL_DRAM).allocated_bytes != 7 || at.path[0])
            _exit(2);
        tts_publish_end(tracker);
        _exit(0);
    }
    T_EQ(waitpid(pid, &status, 0), pid);
    T_EQ(status, 0);
    pid = fork();
    if (pid == 0) { /* ends without an event */
        tts_publish_end(tracker);
        _exit(0);
    }
    T_EQ(waitpid(pid, &status, 0), pid);
    T_EQ(status, 0);
    T_EQ(header_in(tracker).state, TTS_CLIENTREGION_LIVE);
    T_EQ(header_in(tracker).events, 1);
    alloc_dram(tracker, 2, 100);
    T_EQ(pool_in(tracker, 0, TTS_POOL_DRAM).allocated_bytes, 200);
    tts_tracker_free(tracker);
}

/* The program of the next tests: the tracker of a process whose environment asks for a file in
 * /dev/shm. Writes the path of the file to `fd`, then again as the child of a fork. Exits
 * normally. */
static void run_by_environment(int fd)
{
    struct tts_tracker *tracker = tts_tracker_process();
    struct tts_publish_state at;
    if (!tts_tracker_is_on(tracker))
        _exit(3);
    alloc_dram(tracker, 1, 100);
    tts_publish_get_state(tracker, &at);
    ssize_t sent = write(fd, at.path, sizeof at.path);
    int status = 1;
    pid_t pid = fork();
    if (pid == 0) {
        free_dram(tracker, 1); /* of the parent */
        alloc_dram(tracker, 2, 20);
        tts_publish_get_state(tracker, &at);
        struct tts_clientregion_pool pool = pool_in(tracker, 0, TTS_POOL_DRAM);
        if (header_in(tracker).pid != (uint32_t)getpid() || pool.allocated_bytes != 20)
            _exit(1);
        sent = write(fd, at.path, sizeof at.path);
        exit(sent == sizeof at.path ? 0 : 2);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0 || sent != sizeof at.path)
        _exit(4);
    if (pool_in(tracker, 0, TTS_POOL_DRAM).allocated_bytes != 100)
        _exit(5);
    pid = fork();
    if (pid == 0)
        exit(0); /* without an event: the file of the parent stays */
    if (waitpid(pid, &status, 0) != pid || header_in(tracker).state != TTS_CLIENTREGION_LIVE)
        _exit(6);
    exit(0);
}

static void is_started_by(const char *name, const char *value, bool starts)
{
    int pipes[2], status;
    char parent[256] = "", child[256] = "";
    T_EQ(pipe(pipes), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setenv(name, value, 1);
        if (!starts)
            _exit(tts_tracker_is_on(tts_tracker_process()));
        run_by_environment(pipes[1]);
    }
    close(pipes[1]);
    if (starts) {
        T_EQ(read(pipes[0], parent, sizeof parent), sizeof parent);
        T_EQ(read(pipes[0], child, sizeof child), sizeof child);
    }
    T_EQ(waitpid(pid, &status, 0), pid);
    T_EQ(status, 0);
    close(pipes[0]);
    if (!starts)
        return;
    T_TRUE(strstr(parent, "/dev/shm/ttscope_") == parent && strcmp(parent, child) != 0);
    T_TRUE(access(parent, F_OK) != 0 && access(child, F_OK) != 0); /* both exited normally */
}

T_TEST(the_environment_starts_it_and_a_normal_exit_removes_the_file)
{
    if (access("/dev/shm", W_OK) != 0) {
        print_message("skipped: /dev/shm may not be written\n");
        return;
    }
    is_started_by("TTSCOPE", "1", true);
    is_started_by("TT_ALLOC_TRACKING_ENABLED", "1", true);
    is_started_by("TTSCOPE", "yes", false);
    is_started_by("TTSCOPE", "", false);
    is_started_by("TT_ALLOC_TRACKING_ENABLED", "11", false);
}

T_TEST(the_environment_never_stops_a_program)
{
    int pipes[2], status;
    char said[300] = "";
    T_EQ(pipe(pipes), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("TTSCOPE", "1", 1);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 12, 1 << 12});
        dup2(pipes[1], STDERR_FILENO);
        struct tts_tracker *tracker = tts_tracker_process();
        alloc_dram(tracker, 1, 8);
        _exit(!tracker || tts_tracker_is_on(tracker));
    }
    T_EQ(waitpid(pid, &status, 0), pid);
    T_EQ(status, 0);
    T_TRUE(read(pipes[0], said, sizeof said - 1) > 0);
    T_TRUE(strstr(
        said,
        "ttscope: 'ttscope top' does not show this program: cannot publish in '/dev/shm/"));
    T_TRUE(strchr(said, '\n') == said + strlen(said) - 1);
    close(pipes[0]);
    close(pipes[1]);
}
