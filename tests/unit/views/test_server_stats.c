#include "harness/server_rig.h"
#include "views/serve/server_stats.h"

/* Writes what `which` names: start, now, buffers, kernels. */
static const char *stats_of(const struct tts_serverstate *state, char which, bool is_utf8)
{
    struct server_output output;
    FILE *out = server_output_begin(&output);
    if (which == 's')
        tts_serverstats_start(state, "/tmp/tt_allocation_server.sock", is_utf8, out);
    else if (which == 'n')
        tts_serverstats_now(state, is_utf8, out);
    else if (which == 'b')
        tts_serverstats_buffers(state, is_utf8, out);
    else
        tts_serverstats_kernels(state, is_utf8, out);
    return server_output_end(&output);
}

T_TEST(the_start_has_the_published_lines)
{
    struct tts_serverstate all = server_state();
    T_STR_EQ(stats_of(&all, 's', true),
             "🚀 Allocation Server started\n"
             "   Listening on: /tmp/tt_allocation_server.sock\n"
             "   Press Ctrl+C to stop\n"
             "   Device 0: Wormhole_B0 (12GB DRAM, 76MB L1) [Local]\n"
             "   Device 3: Unknown [Remote]\n");
}

T_TEST(a_device_that_only_a_program_names_is_neither_local_nor_remote)
{
    struct tts_serverstate all = server_state();
    struct tts_serverdevice device = {.device = 5, .is_of_program = true};
    all.devices = &device;
    all.device_count = 1;
    T_TRUE(strstr(stats_of(&all, 's', true), "\n   Device 5: Unknown [of a program]\n"));
}

T_TEST(statistics_have_the_published_lines_for_busy_devices)
{
    struct tts_serverstate all = server_state();
    T_STR_EQ(stats_of(&all, 'n', true), "\n📊 Current Statistics:\n"
                                        "  Device 0:\n"
                                        "    Buffers: 3\n"
                                        "    DRAM: 1048576 bytes (1024 KB)\n"
                                        "    L1: 12800 bytes (12.50 KB)\n"
                                        "    CB: 4096 bytes (4 KB)\n"
                                        "    Total: 1061376 bytes\n"
                                        "  Active allocations: 3\n");
    all.lost_events = 5;
    all.device_count = 0;
    T_STR_EQ(stats_of(&all, 'n', false), "\nCurrent Statistics:\n"
                                         "  Active allocations: 3\n"
                                         "  Lost events: 5\n");
}

T_TEST(the_live_buffers_are_listed_by_device_and_pool)
{
    struct tts_serverstate all = server_state();
    const char *text = stats_of(&all, 'b', true);
    T_TRUE(strstr(text, "║                REMAINING ALLOCATED BUFFERS                 ║\n"));
    T_STR_EQ(strstr(text, "Total tracked"),
             "Total tracked allocations: 3\n"
             "\n"
             "Device 0:\n"
             "  DRAM: 1 buffers, 1 MB total\n"
             "    - Buffer 0x20: 1024 KB (PID 12345, ref_count=1)\n"
             "  L1: 2 buffers, 0.012207 MB total\n"
             "    - Buffer 0x18b00: 0.500000 KB (PID 12345, "
             "ref_count=2)\n"
             "    - Buffer 0x18d00: 12 KB (PID ?, ref_count=1)\n"
             "\n"
             "Total remaining buffers: 3\n");
}

T_TEST(more_than_ten_buffers_of_a_pool_are_a_sum)
{
    struct tts_serverbuffer rows[11];
    struct tts_serverdevice device = {.buffers = {11}, .bytes = {11 << 20}};
    struct tts_serverstate all = server_state();
    all.devices = &device;
    all.device_count = 1;
    for (size_t i = 0; i < 11; i++)
        rows[i] = (struct tts_serverbuffer){
            .pool = TTS_POOL_DRAM, .references = 1, .id = i, .size_bytes = 1048576};
    all.buffers = rows;
    all.buffer_count = all.live_buffers = 11;
    const char *text = stats_of(&all, 'b', false);
    T_TRUE(strstr(text, "  DRAM: 11 buffers, 11 MB total\n"));
    T_TRUE(!strstr(text, "- Buffer"));
    T_TRUE(strstr(text, "    (11 not listed: more than 10)\n"));
    /* The sums are those of the device, also if not all rows are there. */
    all.buffer_count = 4;
    T_TRUE(strstr(stats_of(&all, 'b', false), "  DRAM: 11 buffers, 11 MB total\n"));
    all.buffer_count = all.live_buffers = device.buffers[0] = 10;
    text = stats_of(&all, 'b', false);
    T_TRUE(strstr(text, "    - Buffer 0x9: 1024 KB (PID ?"));
    T_TRUE(!strstr(text, "not listed"));
}

T_TEST(buffers_that_are_in_no_list_are_counted)
{
    struct tts_serverstate all = server_state();
    struct tts_serverdevice device = all.devices[0];
    device.buffers[TTS_POOL_DRAM] = 4;
    device.buffers[TTS_POOL_TRACE] = 135;
    all.devices = &device;
    all.device_count = 1;
    const char *text = stats_of(&all, 'b', false);
    T_TRUE(strstr(text, "    - Buffer 0x20: 1024 KB (PID 12345, ref_count=1)\n"
                        "    (3 not listed: of programs that publish or have counters only, "
                        "or beyond the longest list)\n"
                        "  L1: 2 buffers"));
    T_TRUE(strstr(text, "    (135 not listed: of programs that publish"));
}

T_TEST(no_buffers_are_a_perfect_cleanup)
{
    struct tts_serverstate all = {0};
    T_TRUE(strstr(stats_of(&all, 'b', true), "✓ No buffers remaining - perfect cleanup!\n"));
}

T_TEST(kernels_are_listed_with_owner_and_age)
{
    struct tts_serverstate all = server_state();
    const char *text = stats_of(&all, 'k', false);
    T_STR_EQ(text, "\n+============================================================+\n"
                   "|                DETAILED KERNEL ALLOCATIONS                 |\n"
                   "+============================================================+\n"
                   "\n"
                   "Device 0:\n"
                   "  Kernel 0x7f00aa: 24 KB (PID 12345, age 90s)\n"
                   "\n"
                   "Total kernels: 1\n");
}

T_TEST(all_blocks_are_ascii_without_utf8)
{
    struct tts_serverstate all = server_state();
    for (const char *which = "snbk"; *which; which++)
        for (const char *at = stats_of(&all, *which, false); *at; at++)
            T_TRUE((*at >= ' ' && *at <= '~') || *at == '\n');
}
