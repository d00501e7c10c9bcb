#include "harness/server_rig.h"
#include "views/serve/server_json.h"

static const char *json_of(const struct tts_serverevent *event)
{
    static char text[TTS_SERVERJSON_MAX];
    size_t len = tts_serverjson_event(text, event);
    T_TRUE(len > 0 && len < sizeof text && strlen(text) == len);
    T_TRUE(strchr(text, '\n') == text + len - 1);
    return text;
}

#define BEGIN_OF(kind)                                                                         \
    "{\"schema\":{\"name\":\"ttscope.serve\",\"version\":1},\"kind\":\"event\","               \
    "\"event\":\"" kind "\",\"time\":1761143445.250000,"
#define OWNER                                                                                  \
    "\"process\":{\"instance\":7,\"pid\":12345,\"container_pid\":null,\"name\":\"python3\"}"

T_TEST(an_allocation_is_one_line)
{
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_ALLOC);
    T_STR_EQ(json_of(&event),
             BEGIN_OF("alloc") "\"source\":\"client\"," OWNER
                               ",\"device\":0,\"pool\":\"L1\",\"id\":\"0x18b00\","
                               "\"size_bytes\":16777216,\"references\":1}\n");
}

T_TEST(what_is_unknown_is_null)
{
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_FREE);
    event.source = TTS_SERVERSOURCE_COUNTERS;
    event.process = NULL;
    event.id_known = false;
    T_STR_EQ(json_of(&event),
             BEGIN_OF("free") "\"source\":\"counters\",\"process\":null,"
                              "\"device\":0,\"pool\":\"L1\",\"id\":null,"
                              "\"size_bytes\":16777216,\"references\":null}\n");
}

T_TEST(other_events_have_their_own_fields)
{
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_KERNEL_LOAD);
    event.live_bytes = 5;
    event.kernel_type = 2;
    T_TRUE(strstr(json_of(&event),
                  "\"device\":0,\"kernel_type\":\"dispatch\",\"id\":\"0x18b00\","
                  "\"size_bytes\":16777216,\"live_bytes\":5}\n"));
    event.kind = TTS_SERVEREVENT_DEATH;
    event.buffers = 3;
    T_TRUE(strstr(json_of(&event), OWNER ",\"size_bytes\":16777216,\"buffers\":3}\n"));
    event.kind = TTS_SERVEREVENT_LOST;
    T_TRUE(strstr(json_of(&event), OWNER ",\"events\":3}\n"));
    event.kind = TTS_SERVEREVENT_TRACE_BEGIN;
    T_TRUE(strstr(json_of(&event), OWNER ",\"device\":0}\n"));
    event.kind = TTS_SERVEREVENT_PHASE;
    event.phase = TTS_TRACEPHASE_CAPTURE_DATA;
    event.trace_bytes = 7;
    event.l1_bytes = 8;
    T_TRUE(strstr(json_of(&event), OWNER ",\"device\":0,\"phase\":\"capture_data\","
                                         "\"trace_bytes\":7,\"l1_bytes\":8}\n"));
}

T_TEST(the_worst_event_fits_and_is_escaped)
{
    struct tts_serverprocess process = {
        .instance = UINT64_MAX, .pid = UINT32_MAX, .pid_inside = UINT32_MAX - 1};
    memset(process.name, 1, sizeof process.name - 1);
    for (int kind = 0; kind < TTS_SERVEREVENTS; kind++) {
        struct tts_serverevent event = server_event((enum tts_serverevent_kind)kind);
        event.process = &process;
        event.device = event.references = UINT32_MAX;
        event.kernel_type = 255;
        event.time_ns = event.id = event.size_bytes = event.live_bytes = event.buffers =
            UINT64_MAX;
        T_TRUE(strstr(json_of(&event), "\"name\":\"\\u0001\\u0001"));
    }
}

static const char *state_json(enum tts_serverjson_kind kind)
{
    struct server_output output;
    struct tts_serverstate all = server_state();
    FILE *out = server_output_begin(&output);
    tts_serverjson_state(&all, kind, "/tmp/a.sock", out);
    const char *text = server_output_end(&output);
    T_TRUE(strchr(text, '\n') == text + strlen(text) - 1);
    return text;
}

T_TEST(statistics_are_one_line_with_the_shared_names)
{
    const char *text = state_json(TTS_SERVERJSON_STATISTICS);
    T_TRUE(strstr(text, "{\"schema\": {\"name\": \"ttscope.serve\", \"version\": 1}, \"kind\": "
                        "\"statistics\", \"time\": 1761143445.250000, \"devices\": [{"
                        "\"device\": 0, \"arch\": \"wormhole\", \"dram_total_bytes\": "
                        "12884901888, \"l1_total_bytes\": 79691776, \"is_remote\": false, "
                        "\"pools\": [{\"pool\": \"DRAM\", \"allocated_bytes\": 1048576, "
                        "\"buffers\": 1}"));
    T_TRUE(strstr(text, "{\"device\": 3, \"arch\": null, \"dram_total_bytes\": null, "));
    T_TRUE(
        strstr(text, "\"live_buffers\": 3, \"clients\": 1, \"processes\": 1, \"events\": 4"));
    T_TRUE(!strstr(text, "\"buffers\": [") && !strstr(text, "socket"));
}

T_TEST(reports_add_their_rows)
{
    T_TRUE(strstr(state_json(TTS_SERVERJSON_START), "\"socket\": \"/tmp/a.sock\""));
    T_TRUE(strstr(state_json(TTS_SERVERJSON_BUFFERS),
                  "\"buffers\": [{\"instance\": 7, \"pid\": 12345, \"device\": 0, \"pool\": "
                  "\"DRAM\", \"id\": \"0x20\", \"size_bytes\": 1048576, \"references\": 1, "
                  "\"time\": 1761143445.250000}"));
    T_TRUE(
        strstr(state_json(TTS_SERVERJSON_KERNELS),
               "\"kernels\": [{\"instance\": 7, \"pid\": 12345, \"device\": 0, "
               "\"kernel_type\": \"application\", \"id\": \"0x7f00aa\", \"size_bytes\": 24576, "
               "\"time\": "));
}
