#include "harness/liveview_rig.h"
#include "torture/heap.h"

static void make_frame(struct tts_liveframe *frame)
{
    live_init(frame, LIVE_TABLE_NS);
    struct tts_livedevice *device = live_add_counted(frame, 7, 0);
    struct tts_liveprocess *process = live_add_process(frame, device, 5675);
    process->container_pid_known = process->buffers_known = true;
    process->container_pid = 4;
    process->buffers = 346;
    process = live_add_process(frame, device, 0);
    process->pid_known = process->start_known = false;
    process->state = TTS_LIVEPROCESS_NOT_VISIBLE;
    process->reason = TTS_LIVEREASON_HIDDEN;
    process->counters.known = 0;
    process->user[0] = process->name[0] = process->command[0] = '\0';
    process = live_add_process(frame, NULL, 99);
    process->state = TTS_LIVEPROCESS_DEAD;
    strcpy(process->command, "evil\033[2J\nname");
}

T_TEST(each_process_has_a_row_and_unknown_cells_have_no_number)
{
    struct tts_liveframe frame;
    make_frame(&frame);
    struct tts_liveview view = live_view(&frame);
    view.columns = 80;
    view.has_tips = false;
    T_STR_EQ(
        live_written(&view, 'p'),
        "Memory by Process (Update #0)\n"
        "   Timestamp: 2025-10-22 14:30:45\n"
        "\n"
        "dev  pid nspid user  state   DRAM    L1 L1_SMALL TRACE CB bufs age cmd\n"
        "  0 5675     4 alice live   1.50G 52.3M        -     -  -  346  2h\n"
        "        python3 serve.py\n"
        "  0    ?     - ?     hidden     -     -        -     -  -    -   - ?\n"
        "  ?   99     - alice dead   1.50G 52.3M        -     -  -    -  2h evil?[2J?name\n"
        "\n"
        "Device 0, Id: 7\n"
        "\n"
        "hidden: the process is alive, but ttscope cannot see the process\n"
        "   - a process outside this container has the chip open; ttscope cannot see this\n"
        "     process from inside the container\n");
    tts_liveframe_release(&frame);
}

T_TEST(a_device_of_a_program_has_the_number_that_the_program_gives_it)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_TABLE_NS);
    live_add_process(&frame, live_add_counted(&frame, 7, 3), 100);
    for (uint32_t i = 0; i < 2; i++) {
        struct tts_livedevice *device = live_add_counted(&frame, 8 + i, i);
        device->source = TTS_LIVESOURCE_CLIENT;
        device->unique_id_known = i == 1;
        live_add_process(&frame, device, 200);
    }
    struct tts_liveview view = live_view(&frame);
    T_TRUE(live_has(live_written(&view, 'p'),
                    "\n\nDevice 0, Id: 7\nDevice 1 (ID: 0)\nDevice 2 (ID: 1), Id: 9\n"));
    tts_liveframe_release(&frame);
}

T_TEST(a_wide_terminal_gets_sizes_with_two_decimals)
{
    struct tts_liveframe frame;
    make_frame(&frame);
    struct tts_liveview view = live_view(&frame);
    view.columns = 160;
    const char *text = live_written(&view, 'p');
    T_TRUE(live_has(text, "  5675      4  alice  live    1.50 GB  52.31 MB "));
    T_TRUE(live_has(text, "\n   - Device 0: only the thread that opened"));
    tts_liveframe_release(&frame);
}

T_TEST(the_widest_rows_fit_80_columns)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_TABLE_NS);
    struct tts_livedevice *device = live_add_counted(&frame, 7, 0);
    struct tts_liveprocess *process = live_add_process(&frame, device, 4194304);
    process->container_pid_known = process->buffers_known = true;
    process->container_pid = 32767;
    process->buffers = 9999;
    process->state = TTS_LIVEPROCESS_NOT_VISIBLE;
    memset(process->user, 'u', sizeof process->user - 1);
    memset(process->command, 'c', sizeof process->command - 1);
    process->start_ns = frame.time_ns - UINT64_C(99) * 86400 * 1000000000;
    process->counters.known = (1u << TTS_COUNTERS) - 1;
    for (size_t j = 0; j < TTS_COUNTERS; j++)
        process->counters.bytes[j] = (UINT64_C(1) << 40) - 1;
    struct tts_liveview view = live_view(&frame);
    view.columns = 80;
    T_TRUE(live_width(live_written(&view, 'p')) <= 80);
    tts_liveframe_release(&frame);
}

T_TEST(a_process_that_has_ended_keeps_its_number)
{
    struct tts_liveframe frame;
    char name[TTS_LIVENAME_MAX];
    live_init(&frame, LIVE_TABLE_NS);
    struct tts_livedevice *device = live_add_counted(&frame, 7, 0);
    struct tts_liveprocess *process = live_add_process(&frame, device, 0);
    process->pid_known = false;
    process->container_pid_known = true;
    process->container_pid = 4242;
    T_STR_EQ(tts_liveprocess_name(name, process),
             "unknown (4242 in its container) python3, alice");
    process->state = TTS_LIVEPROCESS_DEAD;
    T_STR_EQ(tts_liveprocess_name(name, process), "4242 (ended) python3, alice");
    struct tts_liveview view = live_view(&frame);
    view.columns = 80;
    T_TRUE(live_has(live_written(&view, 'p'), "\n  0 4242     - alice dead  1.50G"));
    tts_liveframe_release(&frame);
}

T_TEST(no_process_is_said_in_words)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_TABLE_NS);
    struct tts_liveview view = live_view(&frame);
    T_TRUE(live_has(live_written(&view, 'p'), "\nno process holds a device\n"));
    tts_liveframe_release(&frame);
}

T_TEST(without_memory_nothing_is_written)
{
    struct tts_liveframe frame;
    struct heap heap;
    enum tts_status status = TTS_E_NOMEM;
    make_frame(&frame);
    const struct tts_alloc *alloc = frame.alloc;
    struct tts_liveview view = live_view(&frame);
    for (uint64_t at = 1; status != TTS_OK; at++) {
        char text[4096] = "";
        heap_init(&heap);
        heap.fail_at = at;
        frame.alloc = &heap.alloc;
        FILE *out = fmemopen(text, sizeof text, "w");
        status = tts_liveview_processes(&view, out);
        fclose(out);
        T_TRUE(status == TTS_OK || (status == TTS_E_NOMEM && text[0] == '\0'));
        T_TRUE(heap_is_settled(&heap) && heap.live_blocks == 0 && at < 200);
    }
    T_TRUE(heap.calls > 5);
    frame.alloc = alloc;
    tts_liveframe_release(&frame);
}

T_TEST(kernel_binaries_and_changed_names_are_below_the_rows)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = live_add_counted(&frame, 7, 0);
    struct tts_liveprocess *process = live_add_process(&frame, device, 4242);
    struct tts_liveview view = live_view(&frame);
    process->counters.known |= 1u << TTS_COUNTER_KERNEL;
    const char *text = live_written(&view, 'p');
    T_TRUE(!strstr(text, "Kernel binaries") && !strstr(text, "renamed"));
    process->counters.bytes[TTS_COUNTER_KERNEL] = LIVE_MB(6);
    process->is_name_changed = true;
    text = live_written(&view, 'p');
    T_TRUE(live_has(text, "\n\nKernel binaries:\n"
                          "   - Device 0, process 4242 python3, alice: 6.00 MB\n"));
    T_TRUE(live_has(text, "\nrenamed: the process has another name than when it registered\n"
                          "   - Device 0, process 4242 python3, alice\n"));
    tts_liveframe_release(&frame);
}
