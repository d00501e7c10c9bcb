#include "harness/liveview_rig.h"

T_TEST(a_frame_is_one_line_with_the_shared_names)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS + 250000000);
    struct tts_livedevice *device = live_add_counted(&frame, 141176416515936, 2);
    device->arch_known = device->node_known = device->update_known = true;
    device->arch = TTS_ARCH_BLACKHOLE;
    device->node = 1;
    device->update_ns = LIVE_BLOCK_NS;
    device->cb_known = true;
    device->cb_bytes = 4096;
    struct tts_liveprocess *process = live_add_process(&frame, device, 5675);
    process->container_pid_known = true;
    process->container_pid = 4;
    struct tts_liveview view = live_view(&frame);
    view.update = 7;
    const char *text = live_written(&view, 'j');
    T_TRUE(strchr(text, '\n') == text + strlen(text) - 1);
    T_TRUE(live_has(text, "{\"schema\": {\"name\": \"ttscope.top\", \"version\": 1}, "
                          "\"update\": 7, \"time\": 1759761045.25"));
    T_TRUE(live_has(text, "\"index\": 0, \"id\": 2, \"node\": 1, \"unique_id\": "
                          "141176416515936, \"unique_id_hex\": \"0000806632283760\", "
                          "\"arch\": \"blackhole\""));
    T_TRUE(live_has(text, "\"state\": \"live\", \"reason\": null, \"source\": \"region\", "
                          "\"layout\": \"v3\", \"caveats\": [\"one_thread\", \"nominal\"], "
                          "\"caveat_texts\": [\"only the thread"));
    T_TRUE(live_has(text, "{\"pool\": \"L1\", \"banks\": null, \"total_bytes\": 79691776, "
                          "\"total_source\": \"nominal\", \"allocated_bytes\": 67433922, "
                          "\"change_bytes\": null, \"free_bytes\": 12257854, "
                          "\"free_is_limit\": true, \"largest_free_bytes\": null, "
                          "\"cb_bytes\": 4096, \"buffers\": null}"));
    T_TRUE(live_has(text, "{\"pid\": 5675, \"container_pid\": 4, \"name\": \"python3\", "
                          "\"command\": \"python3 serve.py\", \"user\": \"alice\", \"uid\": "
                          "null, \"state\": \"live\", \"alive\": true, \"reason\": null, "
                          "\"started\": 1759753665.25"));
    T_TRUE(live_has(text, "\"pools\": {\"DRAM\": 1610612736, \"L1\": 54851010, \"L1_SMALL\": "
                          "null, \"TRACE\": null, \"CB\": null, \"KERNEL\": null}, "
                          "\"buffers\": null"));
    T_TRUE(live_has(text, "\"phase\": null, \"steady_seconds\": null, \"phases\": null, "
                          "\"growing\": null, \"leak\": null, \"pressure\": null}]"));
    tts_liveframe_release(&frame);
}

T_TEST(what_is_not_known_is_null_and_never_a_number)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    live_add_unknown(&frame);
    struct tts_liveprocess *process = live_add_process(&frame, NULL, 1);
    process->pid_known = process->start_known = false;
    process->state = TTS_LIVEPROCESS_NOT_VISIBLE;
    process->reason = TTS_LIVEREASON_NAMESPACE;
    process->counters.known = 0;
    struct tts_liveview view = live_view(&frame);
    const char *text = live_written(&view, 'j');
    T_TRUE(live_has(text, "{\"index\": 0, \"id\": null, \"node\": null, \"unique_id\": null, "
                          "\"unique_id_hex\": null, \"arch\": null, \"card_type\": null, "
                          "\"state\": \"idle\", \"reason\": null, \"source\": null"));
    T_TRUE(live_has(text, "{\"pool\": \"L1\", \"banks\": null, \"total_bytes\": null, "
                          "\"total_source\": null, \"allocated_bytes\": null, "
                          "\"change_bytes\": null, \"free_bytes\": null, \"free_is_limit\": "
                          "false, \"largest_free_bytes\": null, \"cb_bytes\": null, "
                          "\"buffers\": null}"));
    T_TRUE(
        live_has(text, "\"hardware_queues\": null, \"dram_channels\": null, \"grid\": null"));
    T_TRUE(live_has(text, "\"processes_without_device\": [{\"pid\": null"));
    T_TRUE(live_has(text, "\"state\": \"not_visible\", \"alive\": true, \"reason\": "
                          "\"namespace\", \"started\": null"));
    T_TRUE(live_has(text, "\"pools\": {\"DRAM\": null, \"L1\": null,"));
    tts_liveframe_release(&frame);
}

T_TEST(changes_have_a_sign)
{
    struct tts_liveframe frame, before;
    live_init(&frame, LIVE_BLOCK_NS);
    live_init(&before, LIVE_BLOCK_NS);
    live_add_counted(&frame, 7, 0);
    live_add_counted(&before, 7, 0)->pools[TTS_POOL_DRAM].allocated_bytes = 4096;
    struct tts_liveview view = live_view(&frame);
    view.before = &before;
    const char *text = live_written(&view, 'j');
    T_TRUE(live_has(text, "\"allocated_bytes\": 0, \"change_bytes\": -4096"));
    T_TRUE(live_has(text, "\"change_bytes\": 0"));
    tts_liveframe_release(&frame);
    tts_liveframe_release(&before);
}

T_TEST(foreign_names_are_escaped)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    struct tts_livedevice *device = live_add_counted(&frame, 7, 0);
    strcpy(live_add_process(&frame, device, 1)->name, "a\"b\n\xff");
    struct tts_liveview view = live_view(&frame);
    T_TRUE(live_has(live_written(&view, 'j'), "\"name\": \"a\\\"b\\u000a\\ufffd\""));
    tts_liveframe_release(&frame);
}
