#include "harness/t.h"
#include "sources/live/bufferlog.h"
#include "sources/live/meshlog.h"
#include "torture/heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct tts_bufferlog *log_;
static struct tts_seenbuffers seen;

static void begin(void)
{
    T_EQ(tts_bufferlog_new(NULL, &log_, NULL), TTS_OK);
}

static void end(void)
{
    tts_bufferlog_free(log_);
}

static void feed(const char *text)
{
    tts_bufferlog_feed(log_, text, strlen(text));
    seen = (struct tts_seenbuffers){.pid = 7};
    tts_bufferlog_fill(log_, &seen);
    T_EQ(seen.pid, 7);
}

static void alloc(uint64_t id, uint64_t address, uint64_t bytes, const char *type)
{
    char text[400];
    snprintf(text, sizeof text,
             "- mesh_buffer_allocated:\n    id: %" PRIu64 "\n    address: %" PRIu64
             "\n    size: %" PRIu64 "\n    device_local_size: %" PRIu64
             "\n    buffer_type: %s\n    timestamp_ns: 17\n",
             id, address, 8 * bytes, bytes, type);
    feed(text);
}

static void release(uint64_t id, uint64_t address)
{
    char text[200];
    snprintf(text, sizeof text,
             "- mesh_buffer_deallocated:\n    id: %" PRIu64 "\n    address: %" PRIu64
             "\n    timestamp_ns: 18\n",
             id, address);
    feed(text);
}

/* Checks what is live in one pool. */
static void expect(enum tts_pool pool, uint64_t bytes, uint64_t buffers, uint64_t largest)
{
    T_EQ(seen.bytes[pool], bytes);
    T_EQ(seen.buffers[pool], buffers);
    T_EQ(seen.largest_bytes[pool], largest);
}

T_TEST(thousands_of_buffers_keep_their_addresses)
{
    enum { COUNT = 2000, STEP = 4096 };
    begin();
    for (uint64_t i = 0; i < COUNT; i++) /* in no order of addresses */
        alloc(1 + i, (1 + i * 777 % COUNT) * STEP, 64, "L1");
    expect(TTS_POOL_L1, COUNT * 64, COUNT, 64);
    for (uint64_t at = 300; at < 1700; at++) { /* empties whole ranges of addresses */
        uint64_t i = 0;
        while (i * 777 % COUNT != at)
            i++;
        release(1 + i, (1 + at) * STEP);
    }
    expect(TTS_POOL_L1, (COUNT - 1400) * 64, COUNT - 1400, 64);
    T_TRUE(seen.is_complete);
    uint64_t owners = COUNT - 1400;
    for (uint64_t at = 0; at < COUNT; at += 10) { /* a view of a live buffer, or a buffer */
        alloc(10000 + at, (1 + at) * STEP, 64, "L1");
        owners += at >= 300 && at < 1700;
        T_EQ(seen.buffers[TTS_POOL_L1], owners);
    }
    end();
}

T_TEST(each_pool_has_its_live_buffers)
{
    begin();
    feed("");
    expect(TTS_POOL_DRAM, 0, 0, 0);
    T_TRUE(seen.is_complete);
    alloc(1, 1000, 4096, "DRAM");
    alloc(2, 9000, 100, "DRAM");
    alloc(3, 1000, 512, "L1");
    alloc(4, 1000, 64, "L1_SMALL");
    alloc(5, 1000, 32, "TRACE");
    expect(TTS_POOL_DRAM, 4196, 2, 4096);
    expect(TTS_POOL_L1, 512, 1, 512);
    expect(TTS_POOL_L1_SMALL, 64, 1, 64);
    expect(TTS_POOL_TRACE, 32, 1, 32);
    release(1, 1000);
    expect(TTS_POOL_DRAM, 100, 1, 100);
    release(3, 1000);
    expect(TTS_POOL_L1, 0, 0, 0);
    T_TRUE(seen.is_complete && seen.events == 7 && seen.bad_lines == 0);
    uint64_t time;
    T_TRUE(tts_bufferlog_last_event(log_, &time) && time == 18);
    tts_bufferlog_reset(log_);
    T_TRUE(!tts_bufferlog_last_event(log_, &time));
    feed("");
    expect(TTS_POOL_DRAM, 0, 0, 0);
    T_TRUE(seen.is_complete && seen.events == 0);
    end();
}

T_TEST(a_view_counts_nothing_and_its_free_keeps_the_owner)
{
    begin();
    alloc(1, 1000, 4096, "DRAM");
    alloc(2, 1000, 4096, "DRAM");     /* the whole buffer */
    alloc(3, 1000 + 127, 64, "DRAM"); /* 4096 / 32 banks: surely inside */
    alloc(4, 1000 + 128, 64, "DRAM"); /* may be the next buffer */
    alloc(5, 1000, 4096, "L1");       /* another pool */
    expect(TTS_POOL_DRAM, 4096 + 64, 2, 4096);
    expect(TTS_POOL_L1, 4096, 1, 4096);
    release(2, 1000);
    release(3, 1127);
    expect(TTS_POOL_DRAM, 4096 + 64, 2, 4096);
    T_EQ(seen.unknown_frees, 0);
    alloc(6, 1000, 10, "DRAM");
    release(1, 1000); /* the owner goes before its view */
    expect(TTS_POOL_DRAM, 64, 1, 64);
    alloc(7, 1000, 20, "DRAM"); /* a view owns nothing */
    expect(TTS_POOL_DRAM, 84, 2, 64);
    release(6, 1000);
    expect(TTS_POOL_DRAM, 84, 2, 64);
    T_TRUE(seen.is_complete);
    end();
}

T_TEST(neighbours_are_no_views_of_each_other)
{
    begin();
    /* 12 banks: a buffer of 12 MiB takes 1 MiB of addresses. */
    for (uint64_t i = 0; i < 100; i++)
        alloc(i, (i + 1) << 20, UINT64_C(12) << 20, "DRAM");
    expect(TTS_POOL_DRAM, UINT64_C(1200) << 20, 100, UINT64_C(12) << 20);
    end();
}

T_TEST(ids_come_back_after_a_free)
{
    begin();
    for (int i = 0; i < 1000; i++) {
        alloc(1, 1000, 64, "L1");
        expect(TTS_POOL_L1, 64, 1, 64);
        release(1, 1000);
    }
    expect(TTS_POOL_L1, 0, 0, 0);
    T_TRUE(seen.is_complete);
    alloc(1, 1000, 64, "L1");
    alloc(1, 5000, 32, "L1"); /* the free between is missing */
    expect(TTS_POOL_L1, 32, 1, 32);
    T_TRUE(!seen.is_complete);
    end();
}

T_TEST(a_move_is_a_free_and_an_allocation_at_the_same_address)
{
    begin();
    alloc(1, 1000, 64, "L1");
    release(1, 1000);
    alloc(2, 1000, 64, "L1");
    expect(TTS_POOL_L1, 64, 1, 64);
    T_TRUE(seen.is_complete);
    end();
}

T_TEST(memory_of_the_host_is_ignored)
{
    begin();
    alloc(1, 1000, 64, "SYSTEM_MEMORY");
    for (int i = 0; i < TTS_POOLS; i++)
        expect((enum tts_pool)i, 0, 0, 0);
    release(1, 1000);
    T_TRUE(seen.is_complete && seen.unknown_frees == 0);
    end();
}

T_TEST(address_0_is_a_buffer_without_an_address_or_without_memory_here)
{
    begin();
    alloc(1, 0, 0, "L1");
    expect(TTS_POOL_L1, 0, 0, 0);
    alloc(2, 0, 64, "L1");
    alloc(3, 0, 32, "L1");
    expect(TTS_POOL_L1, 96, 2, 64);
    alloc(4, 10, 16, "L1");
    expect(TTS_POOL_L1, 112, 3, 64);
    release(2, 0);
    release(1, 0);
    release(4, 10);
    expect(TTS_POOL_L1, 32, 1, 32);
    T_TRUE(seen.is_complete);
    end();
}

T_TEST(a_free_of_an_unknown_buffer_is_counted_and_subtracts_nothing)
{
    begin();
    alloc(1, 1000, 64, "L1");
    release(2, 1000);
    expect(TTS_POOL_L1, 64, 1, 64);
    T_TRUE(seen.unknown_frees == 1 && !seen.is_complete);
    end();
}

T_TEST(lines_of_two_threads_do_not_make_a_wrong_buffer)
{
    begin();
    feed("- mesh_buffer_allocated:\n- mesh_buffer_allocated:\n    id: 1\n    id: 2\n"
         "    address: 10\n    address: 20\n    device_local_size: 5\n"
         "    device_local_size: 5\n    buffer_type: L1\n    buffer_type: L1\n"
         "    timestamp_ns: 1\n    timestamp_ns: 1\n");
    expect(TTS_POOL_L1, 0, 0, 0);
    T_TRUE(seen.bad_lines > 0 && !seen.is_complete);
    alloc(3, 1000, 64, "L1");
    expect(TTS_POOL_L1, 64, 1, 64);
    end();
}

T_TEST(damaged_lines_are_counted_and_the_rest_is_read)
{
    static const char *const lines[] = {
        "    id: 5\n", /* in front of the first event */
        "text\n",
        "- text\n",
        "- mesh_buffer_allocated: 5\n",
        "-mesh_buffer_allocated:\n",
        "    no colon\n",
        "    : 5\n",
        "    two words: 5\n",
        "    id\0: 5\n",
        "\x1b[31m\n",
    };
    begin();
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        feed(lines[i]);
        if (strlen(lines[i]) < 7)
            feed("\n");
    }
    T_EQ(seen.bad_lines, sizeof lines / sizeof lines[0]);
    T_EQ(seen.events, 0);
    alloc(3, 1000, 64, "L1");
    expect(TTS_POOL_L1, 64, 1, 64);
    T_TRUE(!seen.is_complete);
    end();
}

T_TEST(values_that_no_buffer_has_make_no_buffer)
{
    static const char *const values[] = {
        "", "-1", "x", "1.5", "0x10", "18446744073709551616", "70368744177665", "1 2"};
    begin();
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "- mesh_buffer_allocated:\n    id: 1\n    address: 5\n"
                 "    device_local_size: %s\n    buffer_type: L1\n",
                 values[i]);
        feed(text);
        T_EQ(seen.bad_lines, i + 1);
    }
    feed("- mesh_buffer_allocated:\n    id: 1\n    address: 5\n    device_local_size: 7\n"
         "    buffer_type: L2\n");
    T_TRUE(seen.events == 0 && seen.bytes[TTS_POOL_L1] == 0);
    tts_bufferlog_reset(log_);
    alloc(1, 5, UINT64_C(1) << 46, "L1");
    expect(TTS_POOL_L1, UINT64_C(1) << 46, 1, UINT64_C(1) << 46);
    T_TRUE(seen.is_complete);
    end();
}

T_TEST(events_and_fields_of_later_versions_are_passed_over)
{
    begin();
    feed("# a comment\n---\n\n- mesh_buffer_renamed:\n    id: 1\n    id: 2\n    other: [1]\r\n"
         "- mesh_buffer_allocated:\r\n    name: weights\n    id: 1\n\taddress: 5\n"
         "    device_local_size:    7\n    buffer_type: L1   \n");
    expect(TTS_POOL_L1, 7, 1, 7);
    T_TRUE(seen.is_complete && seen.events == 1);
    end();
}

T_TEST(an_event_counts_when_its_numbers_are_complete)
{
    begin();
    feed("- mesh_buffer_allocated:\n    id: 1\n    address: 5\n    device_local_size: 7\n"
         "    buffer_type: L1");
    expect(TTS_POOL_L1, 0, 0, 0);
    feed("\n");
    expect(TTS_POOL_L1, 7, 1, 7);
    feed("- mesh_buffer_deallocated:\n    id: 1\n    addr");
    expect(TTS_POOL_L1, 7, 1, 7);
    feed("ess: 5\n");
    expect(TTS_POOL_L1, 0, 0, 0);
    T_TRUE(seen.is_complete);
    end();
}

T_TEST(a_line_without_end_is_one_bad_line)
{
    static char text[3 * TTS_INSPECTTEXT_LINE_MAX];
    begin();
    memset(text, 'x', sizeof text - 1);
    feed(text);
    feed(text);
    feed("\n");
    T_EQ(seen.bad_lines, 1);
    memset(text, ' ', TTS_INSPECTTEXT_LINE_MAX);
    text[TTS_INSPECTTEXT_LINE_MAX] = '\n';
    text[TTS_INSPECTTEXT_LINE_MAX + 1] = '\0';
    feed(text);
    T_EQ(seen.bad_lines, 1);
    feed(" ");
    feed(text);
    T_EQ(seen.bad_lines, 2);
    alloc(1, 5, 7, "L1");
    expect(TTS_POOL_L1, 7, 1, 7);
    end();
}

T_TEST(buffers_beyond_the_maximum_are_counted)
{
    begin();
    for (uint64_t i = 1; i <= TTS_BUFFERLOG_LIVE_MAX + 5; i++)
        alloc(i, i * 1000, 1, i % 2 ? "L1" : "DRAM");
    T_EQ(seen.left_out, 5);
    T_EQ(seen.buffers[TTS_POOL_L1] + seen.buffers[TTS_POOL_DRAM], TTS_BUFFERLOG_LIVE_MAX);
    T_TRUE(!seen.is_complete);
    release(TTS_BUFFERLOG_LIVE_MAX + 1, 0);
    T_EQ(seen.unknown_frees, 1);
    release(1, 1000);
    alloc(1, 1000, 1, "L1");
    T_EQ(seen.left_out, 5);
    end();
}

T_TEST(without_memory_buffers_are_left_out_and_counted)
{
    struct heap heap;
    uint64_t calls = 0;
    for (uint64_t fail_at = 0; fail_at <= calls; fail_at++) {
        heap_init(&heap);
        heap.fail_at = fail_at;
        enum tts_status status = tts_bufferlog_new(&heap.alloc, &log_, NULL);
        T_EQ(status, fail_at == 1 ? TTS_E_NOMEM : TTS_OK);
        if (status != TTS_OK)
            continue;
        for (uint64_t i = 1; i <= 200; i++)
            alloc(i, i * 1000, 1, "L1");
        calls = fail_at ? calls : heap.calls;
        T_EQ(seen.left_out, heap.failed);
        T_EQ(seen.buffers[TTS_POOL_L1] + seen.left_out, 200);
        T_EQ(seen.is_complete, heap.failed == 0);
        for (uint64_t i = 1; i <= 200; i++)
            release(i, i * 1000);
        expect(TTS_POOL_L1, 0, 0, 0);
        end();
        T_TRUE(heap_is_settled(&heap));
    }
    T_TRUE(calls > 4);
}

/* --- meshes ----------------------------------------------------------------------------- */

static struct tts_meshlog meshes;

static void feed_mesh(const char *text)
{
    tts_meshlog_feed(&meshes, text, strlen(text));
    seen = (struct tts_seenbuffers){.events = 3};
    tts_meshlog_fill(&meshes, &seen);
    T_EQ(seen.events, 3);
}

#define MESH(id, devices)                                                                      \
    "- mesh_device_created:\n    mesh_id: " id "\n    timestamp_ns: 1\n    devices: " devices  \
    "\n    shape: [1, 1]\n"
#define INITIALIZED(id) "- mesh_device_initialized:\n    mesh_id: " id "\n    timestamp_ns: 1\n"
#define GONE(id) "- mesh_device_destroyed:\n    mesh_id: " id "\n    timestamp_ns: 1\n"

T_TEST(the_devices_are_those_of_the_only_live_mesh)
{
    meshes = (struct tts_meshlog){0};
    feed_mesh("");
    T_TRUE(!seen.devices_known);
    feed_mesh(MESH("1", "[4, 5,6]"));
    T_TRUE(seen.devices_known && seen.device_count == 3);
    T_TRUE(seen.devices[0] == 4 && seen.devices[1] == 5 && seen.devices[2] == 6);
    feed_mesh(INITIALIZED("1"));
    T_TRUE(seen.devices_known);
    feed_mesh("- mesh_device_created:\n    mesh_id: 2\n    parent_mesh_id: 1\n"
              "    devices: [4]\n");
    T_TRUE(!seen.devices_known && seen.device_count == 0);
    feed_mesh(GONE("1"));
    T_TRUE(seen.devices_known && seen.device_count == 1 && seen.devices[0] == 4);
    feed_mesh(GONE("2"));
    T_TRUE(!seen.devices_known);
    feed_mesh(GONE("2") MESH("2", "[0]"));
    T_TRUE(seen.devices_known && seen.devices[0] == 0);
}

T_TEST(a_mesh_whose_line_of_devices_is_missing_or_malformed_has_no_known_devices)
{
    static const char *const bad[] = {"",      "4",   "[",   "]",    "[4",           "4]",
                                      "[4,]x", "[,]", "[x]", "[-1]", "[4294967296]", "[1 2]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[200];
        meshes = (struct tts_meshlog){0};
        snprintf(text, sizeof text, "- mesh_device_created:\n  mesh_id: 1\n  devices: %s\n",
                 bad[i]);
        feed_mesh(text);
        T_TRUE(!seen.devices_known);
    }
    meshes = (struct tts_meshlog){0};
    feed_mesh("- mesh_device_created:\n  mesh_id: 1\n");
    T_TRUE(!seen.devices_known);
    meshes = (struct tts_meshlog){0};
    feed_mesh(MESH("1", "[]"));
    T_TRUE(!seen.devices_known);
    meshes = (struct tts_meshlog){0};
    feed_mesh("- mesh_device_created:\n" MESH("1", "[0]"));
    T_TRUE(!seen.devices_known);
    meshes = (struct tts_meshlog){0};
    feed_mesh("damaged\n" MESH("1", "[0]"));
    T_TRUE(!seen.devices_known);
}

T_TEST(too_many_meshes_or_devices_are_unknown)
{
    char text[4096] = "- mesh_device_created:\n  mesh_id: 1\n  devices: [";
    meshes = (struct tts_meshlog){0};
    for (int i = 0; i < TTS_HOSTVIEW_MESH_DEVICES_MAX; i++) {
        char item[20];
        snprintf(item, sizeof item, "%s%d", i ? ", " : "", i);
        strcat(text, item);
    }
    strcat(text, "]\n");
    feed_mesh(text);
    T_TRUE(seen.devices_known && seen.device_count == TTS_HOSTVIEW_MESH_DEVICES_MAX);
    strcpy(strchr(text, ']'), ", 7]\n");
    meshes = (struct tts_meshlog){0};
    feed_mesh(text);
    T_TRUE(!seen.devices_known);
    meshes = (struct tts_meshlog){0};
    for (int i = 0; i <= TTS_MESHLOG_LIVE_MAX; i++) {
        snprintf(text, sizeof text, "- mesh_device_created:\n  mesh_id: %d\n", i);
        feed_mesh(text);
    }
    for (int i = 1; i <= TTS_MESHLOG_LIVE_MAX; i++) {
        snprintf(text, sizeof text, "- mesh_device_destroyed:\n  mesh_id: %d\n", i);
        feed_mesh(text);
    }
    T_TRUE(meshes.count == 1 && !seen.devices_known);
}
