#include "harness/server_rig.h"
#include "views/serve/server_lines.h"

#include <regex.h>

static const char *line_of(const struct tts_serverevent *event, bool is_utf8)
{
    static char text[TTS_SERVERLINES_MAX];
    memset(text, '#', sizeof text);
    size_t len = tts_serverlines_write(text, event, is_utf8);
    T_TRUE(len > 0 && len < sizeof text && strlen(text) == len && text[len - 1] == '\n');
    return text;
}

T_TEST(allocations_have_the_published_text)
{
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_ALLOC);
    T_STR_EQ(line_of(&event, true), "✓ [PID 12345] Allocated 16777216 bytes of L1 on device 0 "
                                    "(buffer_id=0x18b00)\n");
    event.pool = TTS_POOL_TRACE;
    event.size_bytes = 134217728;
    event.device = 31;
    event.references = 3;
    T_STR_EQ(line_of(&event, true),
             "✓ [PID 12345] Allocated 134217728 bytes of TRACE on device 31 "
             "(buffer_id=0x18b00, ref_count=3)\n");
}

T_TEST(frees_have_the_published_text)
{
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_FREE);
    event.references = 0;
    T_STR_EQ(line_of(&event, true),
             "✗ [PID 12345] Freed buffer 0x18b00 on device 0 (16777216 bytes, FINAL)\n");
    event.references = 2;
    T_STR_EQ(line_of(&event, true), "✗ [PID 12345] Freed buffer 0x18b00 on device 0 (16777216 "
                                    "bytes, ref_count=2 remaining)\n");
    event.kind = TTS_SERVEREVENT_UNKNOWN_FREE;
    T_STR_EQ(line_of(&event, true), "⚠ [PID 12345] Deallocation for unknown buffer 0x18b00 on "
                                    "device 0 (allocated before tracking started)\n");
}

T_TEST(sums_of_a_device_have_the_published_text)
{
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_CB_ALLOC);
    event.device = 1;
    event.live_bytes = 17825792;
    T_STR_EQ(line_of(&event, true), "✓ [CB_ALLOC] Device 1: +16 MB (Total: 17 MB)\n");
    event.kind = TTS_SERVEREVENT_CB_FREE;
    event.live_bytes = 1572864;
    T_STR_EQ(line_of(&event, true), "✗ [CB_FREE] Device 1: -16 MB (Total: 1.50 MB)\n");
    event.live_bytes = 1153434;
    T_TRUE(strstr(line_of(&event, true), "(Total: 1.10 MB)"));
    event.live_bytes = 1153433;
    T_TRUE(strstr(line_of(&event, true), "(Total: 1.09 MB)"));
    event.kind = TTS_SERVEREVENT_KERNEL_LOAD;
    event.size_bytes = 24576;
    event.live_bytes = 25600;
    T_STR_EQ(line_of(&event, true), "✓ [KERNEL_LOAD] Application kernel on Device 1: "
                                    "+0.023437 MB (Total: 0.024414 MB)\n");
    event.kind = TTS_SERVEREVENT_KERNEL_UNLOAD;
    event.kernel_type = 1;
    event.live_bytes = 0;
    T_STR_EQ(line_of(&event, true),
             "✗ [KERNEL_UNLOAD] Fabric kernel on Device 1: -0.023437 MB (Total: 0 MB)\n");
    event.kernel_type = 2;
    T_TRUE(strstr(line_of(&event, true), "] Dispatch kernel on "));
    event.kernel_type = 200;
    T_TRUE(strstr(line_of(&event, true), "] Unknown kernel on "));
}

T_TEST(a_process_that_left_buffers_has_the_published_lines)
{
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_DEATH);
    event.buffers = 4;
    event.size_bytes = 8388608;
    T_STR_EQ(line_of(&event, true),
             "⚠️  Detected dead processes, cleaning up orphaned buffers...\n"
             "   PID 12345 is dead, removing its buffers...\n"
             "   ✓ Removed 4 buffers (8 MB) from PID 12345\n");
    event.buffers = event.size_bytes = 0;
    T_STR_EQ(line_of(&event, true), "■ [PID 12345] Process python3 ended\n");
}

T_TEST(other_events_have_lines_in_the_same_style)
{
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_TRACE_BEGIN);
    T_STR_EQ(line_of(&event, true), "▶ [PID 12345] Trace capture begins on device 0\n");
    event.kind = TTS_SERVEREVENT_TRACE_END;
    T_STR_EQ(line_of(&event, true), "■ [PID 12345] Trace capture ends on device 0\n");
    event.kind = TTS_SERVEREVENT_REFUSED;
    T_STR_EQ(line_of(&event, true), "⚠ [PID 12345] Refused 16777216 bytes of L1 on device 0\n");
    event.kind = TTS_SERVEREVENT_PHASE;
    event.phase = TTS_TRACEPHASE_CAPTURE_DATA;
    event.trace_bytes = 128 << 20;
    event.l1_bytes = 45 << 20;
    T_STR_EQ(line_of(&event, true), "▶ [PID 12345] Phase: Capture (Data) on device 0 "
                                    "(TRACE: 128 MB, L1: 45 MB)\n");
    event.kind = TTS_SERVEREVENT_LOST;
    event.buffers = 1;
    T_STR_EQ(line_of(&event, true), "⚠ [PID 12345] Lost 1 event\n");
    event.kind = TTS_SERVEREVENT_BEGIN;
    event.source = TTS_SERVERSOURCE_RING;
    T_STR_EQ(line_of(&event, true), "▶ [PID 12345] Process python3 publishes its buffers\n");
}

T_TEST(an_unknown_id_is_not_shown_as_a_number)
{
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_ALLOC);
    event.source = TTS_SERVERSOURCE_COUNTERS;
    event.id_known = false;
    T_STR_EQ(line_of(&event, true), "✓ [PID 12345] Allocated 16777216 bytes of L1 on device 0 "
                                    "(buffer_id=unknown)\n");
    event.kind = TTS_SERVEREVENT_FREE;
    T_STR_EQ(line_of(&event, true), "✗ [PID 12345] Freed 16777216 bytes of L1 on device 0 "
                                    "(buffer_id=unknown)\n");
}

T_TEST(an_unknown_process_is_not_process_0)
{
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_LOST);
    event.process = NULL;
    event.buffers = 2;
    T_STR_EQ(line_of(&event, true), "⚠ [PID ?] Lost 2 events\n");
    struct tts_serverprocess hidden = {.instance = 1, .pid_inside = 4};
    event.process = &hidden;
    T_STR_EQ(line_of(&event, false), "! [PID 4] Lost 2 events\n");
}

T_TEST(every_line_is_ascii_without_utf8)
{
    for (int kind = 0; kind < TTS_SERVEREVENTS; kind++) {
        struct tts_serverevent event = server_event((enum tts_serverevent_kind)kind);
        for (event.buffers = 0; event.buffers < 3; event.buffers++)
            for (const char *at = line_of(&event, false); *at; at++)
                T_TRUE((*at >= ' ' && *at <= '~') || *at == '\n');
    }
}

T_TEST(a_hostile_name_and_the_largest_numbers_stay_in_their_line)
{
    struct tts_serverprocess process = {.instance = 1, .pid = UINT32_MAX, .start_ticks = 1};
    memset(process.name, '\n', sizeof process.name - 1);
    memcpy(process.name, "\033]0;evil\007", 10);
    for (int kind = 0; kind < TTS_SERVEREVENTS; kind++) {
        struct tts_serverevent event = server_event((enum tts_serverevent_kind)kind);
        event.process = &process;
        event.device = event.references = UINT32_MAX;
        event.id = event.size_bytes = event.live_bytes = event.buffers = UINT64_MAX;
        const char *text = line_of(&event, true);
        size_t lines = 0;
        for (const char *at = text; *at; at++)
            lines += *at == '\n';
        T_EQ(lines, kind == TTS_SERVEREVENT_DEATH ? 3 : 1);
        T_TRUE(!strchr(text, '\033') && !strchr(text, '\007'));
    }
}

/* Checks that a pattern matches and that its groups are the expected texts. */
static void check_match(const char *text, const char *pattern, const char *const *groups)
{
    regex_t regex;
    regmatch_t found[8];
    T_EQ(regcomp(&regex, pattern, REG_EXTENDED), 0);
    T_EQ(regexec(&regex, text, 8, found, 0), 0);
    for (size_t i = 0; groups[i]; i++) {
        size_t len = (size_t)(found[i + 1].rm_eo - found[i + 1].rm_so);
        T_EQ(len, strlen(groups[i]));
        T_MEM_EQ(text + found[i + 1].rm_so, groups[i], len);
    }
    regfree(&regex);
}

T_TEST(the_patterns_of_the_published_scripts_match)
{
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_ALLOC);
    check_match(
        line_of(&event, true),
        "\\[PID ([0-9]+)\\] Allocated ([0-9]+) bytes of ([A-Z0-9_]+) on device ([0-9]+) "
        "\\(buffer_id=(0x[0-9a-f]+|[0-9]+)",
        (const char *const[]){"12345", "16777216", "L1", "0", "0x18b00", NULL});
    event.kind = TTS_SERVEREVENT_FREE;
    event.references = 0;
    check_match(line_of(&event, true),
                "\\[PID ([0-9]+)\\] Freed buffer (0x[0-9a-f]+|[0-9]+) on device ([0-9]+) "
                "\\(([0-9]+) bytes, (FINAL)\\)",
                (const char *const[]){"12345", "0x18b00", "0", "16777216", "FINAL", NULL});
    event.references = 2;
    check_match(line_of(&event, true),
                "Freed buffer (0x[0-9a-f]+).*ref_count=([0-9]+) remaining",
                (const char *const[]){"0x18b00", "2", NULL});
    event.kind = TTS_SERVEREVENT_UNKNOWN_FREE;
    check_match(line_of(&event, true),
                "Deallocation for unknown buffer (0x[0-9a-f]+|[0-9]+) on device ([0-9]+)",
                (const char *const[]){"0x18b00", "0", NULL});
}
