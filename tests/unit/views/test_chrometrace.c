#include "views/trace/chrometrace.h"

#include "harness/item_rig.h"
#include "harness/t.h"

#include <stdlib.h>
#include <string.h>

static struct item_rig rig;
static struct tts_timeline *timeline;
static struct tts_chrometrace trace;
static char *text;
static size_t text_len;

static void begin(const struct tts_tracefile *file)
{
    static const struct tts_timeline_config config = {
        .slots_max = 4, .closes_at_end = true, .put = tts_chrometrace_put, .ctx = &trace};
    struct tts_error err;
    FILE *out = open_memstream(&text, &text_len);
    T_TRUE(out != NULL);
    rig = (struct item_rig){.has_time = true};
    tts_chrometrace_begin(&trace, file, out);
    T_EQ(tts_timeline_new(&config, NULL, &timeline, &err), TTS_OK);
}

static void put(struct tts_item item)
{
    struct tts_error err;
    T_EQ(tts_timeline_item(timeline, &item, &err), TTS_OK);
}

static void expect(const char *problem, const char *wanted)
{
    tts_timeline_end(timeline);
    tts_timeline_free(timeline);
    const char *missing[] = {"5 events", problem};
    tts_chrometrace_end(&trace, missing, problem ? 2 : 0);
    T_EQ(fclose(trace.rows.out), 0);
    T_STR_EQ(text, wanted);
    free(text);
}

static const struct tts_tracefile recording = {.path = "x.tts",
                                               .program = "pro\"gram",
                                               .pid = 321,
                                               .is_recording = true,
                                               .has_times = true};

#define HEAD                                                                                   \
    "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"                                          \
    "{\"ph\":\"M\",\"pid\":321,\"tid\":1,\"ts\":1.000,\"name\":\"process_name\","              \
    "\"args\":{\"name\":\"pro\\\"gram\"}},\n"                                                  \
    "{\"ph\":\"M\",\"pid\":321,\"tid\":1,\"ts\":1.000,\"name\":\"thread_name\","               \
    "\"args\":{\"name\":\"memory\"}},\n"
/* The items that name a device. They have the time of the first event of the device, in
 * microseconds. */
#define PID "\"pid\":1073741826,"
#define DEVICE_AT(number, ts)                                                                  \
    "{\"ph\":\"M\"," PID "\"tid\":2,\"ts\":" ts ",\"name\":\"process_name\","                  \
    "\"args\":{\"name\":\"device " number "\"}},\n"                                            \
    "{\"ph\":\"M\"," PID "\"tid\":2,\"ts\":" ts ",\"name\":\"thread_name\","                   \
    "\"args\":{\"name\":\"peaks\"}},\n"
#define DEVICE(number) DEVICE_AT(number, "1.000")
#define TAIL                                                                                   \
    "\n],\"otherData\":{\"file\":\"x.tts\",\"times\":\"the recorder's monotonic clock\","      \
    "\"complete\":true}}\n"

T_TEST(a_buffer_is_an_async_slice_and_a_counter)
{
    begin(&recording);
    struct tts_item item = item_alloc(&rig, 2, TTS_POOL_L1, 7, 4096);
    item.event.bytes_per_bank = 64;
    item.event.block_bytes = 96;
    item.event.has_address = true;
    item.event.address = 1048576;
    item_set_op(&item, "a\"b");
    put(item);
    put(item_free(&rig, 2, TTS_POOL_L1, 7));
    expect(NULL,
           HEAD DEVICE(
               "2") "{\"ph\":\"M\"," PID "\"tid\":4,\"ts\":1.000,\"name\":\"thread_name\","
                    "\"args\":{\"name\":\"device 2 L1 buffers 0\"}},\n"
                    "{\"ph\":\"b\"," PID "\"tid\":4,\"ts\":1.000,\"cat\":\"buffer\","
                    "\"id\":\"0x1\",\"name\":\"a\\\"b 4.00 KiB\",\"args\":{\"id\":7,"
                    "\"bytes\":4096,\"bytes_per_bank\":64,\"block_bytes\":96,"
                    "\"address\":1048576,\"op\":\"a\\\"b\",\"seq\":1}},\n"
                    "{\"ph\":\"C\"," PID "\"tid\":2,\"ts\":1.000,\"name\":\"device 2 L1\","
                    "\"args\":{\"d2_L1_bytes\":64}},\n"
                    "{\"ph\":\"e\"," PID "\"tid\":4,\"ts\":2.000,\"cat\":\"buffer\","
                    "\"id\":\"0x1\",\"name\":\"a\\\"b 4.00 KiB\"},\n"
                    "{\"ph\":\"C\"," PID "\"tid\":2,\"ts\":2.000,\"name\":\"device 2 L1\","
                    "\"args\":{\"d2_L1_bytes\":0}},\n"
                    "{\"ph\":\"i\"," PID "\"tid\":2,\"ts\":1.000,\"cat\":\"peak\",\"s\":\"p\","
                    "\"name\":\"peak of L1 64 B per bank\",\"args\":{\"bytes\":64}}" TAIL);
}

T_TEST(operations_failures_and_phases)
{
    struct tts_failure failure = {.kind = TTS_FAILURE_BELOW_LIMIT, .limit = 100, .address = 50};
    static const struct tts_core_range range[] = {{0, 0, 0, 0}};
    begin(&recording);
    put(item_op(&rig, 1, "op"));
    put(item_capture(&rig, TTS_ITEM_BEGIN, 1, NULL));
    struct tts_item item = item_event(&rig, TTS_EVENT_FAILURE, 0);
    item.event.failure = &failure;
    put(item);
    put(item_part(&rig, TTS_EVENT_CB, 5, range, 1));
    put(item_capture(&rig, TTS_ITEM_CUT, 1, "phase"));
    expect(
        NULL,
        HEAD DEVICE_AT(
            "0",
            "2.000") "{\"ph\":\"M\"," PID "\"tid\":3,\"ts\":2.000,\"name\":\"thread_name\","
                     "\"args\":{\"name\":\"device 0 refused\"}},\n"
                     "{\"ph\":\"i\"," PID "\"tid\":3,\"ts\":2.000,\"cat\":\"oom\",\"s\":\"p\","
                     "\"name\":\"Out of Memory: Cannot allocate at an address below 100. "
                     "Allocation "
                     "at 50\",\"args\":{\"pool\":\"DRAM\",\"missing_bytes\":50,\"seq\":2}},\n"
                     "{\"ph\":\"C\"," PID "\"tid\":2,\"ts\":3.000,"
                     "\"name\":\"device 0 CBs on the fullest "
                     "core\",\"args\":{\"d0_CB_bytes\":5}},\n"
                     "{\"ph\":\"M\",\"pid\":321,\"tid\":5,\"ts\":3.000,\"name\":\"thread_"
                     "name\","
                     "\"args\":{\"name\":\"capture 1\"}},\n"
                     "{\"ph\":\"X\",\"pid\":321,\"tid\":5,\"ts\":1.000,\"dur\":2.000,"
                     "\"cat\":\"phase\",\"name\":\"phase\"},\n"
                     "{\"ph\":\"X\",\"pid\":321,\"tid\":5,\"ts\":3.000,\"dur\":0.000,"
                     "\"cat\":\"phase\",\"name\":\"(unfinished)\"},\n"
                     "{\"ph\":\"M\",\"pid\":321,\"tid\":6,\"ts\":3.000,\"name\":\"thread_"
                     "name\","
                     "\"args\":{\"name\":\"thread 1\"}},\n"
                     "{\"ph\":\"X\",\"pid\":321,\"tid\":6,\"ts\":1.000,\"dur\":2.000,"
                     "\"cat\":\"op\",\"name\":\"op\",\"args\":{\"seq\":1}}" TAIL);
}

T_TEST(it_is_whole_json_whatever_happened)
{
    begin(&(struct tts_tracefile){.path = "-"});
    expect("line 2: cut \"off\"",
           "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
           "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"ts\":0.000,\"name\":\"process_name\","
           "\"args\":{\"name\":\"(graph trace)\"}},\n"
           "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"ts\":0.000,\"name\":\"thread_name\","
           "\"args\":{\"name\":\"memory\"}}\n"
           "],\"otherData\":{\"file\":\"-\",\"times\":\"" TTS_TRACEFILE_NO_TIMES
           "\",\"complete\":false,\"missing\":[\"5 events\",\"line 2: cut \\\"off\\\"\"]}}\n");
}

T_TEST(a_sampled_counter_has_a_key_of_its_own)
{
    static const struct tts_tracefile file = {.path = "a.tts", .is_recording = true, .pid = 7};
    struct tts_sample sample = {0};
    struct tts_item item = {.kind = TTS_ITEM_SAMPLE, .device = 1, .sample = &sample};
    begin(&file);
    tts_sample_set(&sample, tts_sample_number(TTS_SAMPLE_BUFFERS, TTS_POOL_DRAM), 3);
    tts_sample_set(&sample, TTS_SAMPLE_CB, 9);
    put(item);
    tts_timeline_end(timeline);
    tts_timeline_free(timeline);
    tts_chrometrace_end(&trace, NULL, 0);
    T_EQ(fclose(trace.rows.out), 0);
    T_TRUE(strstr(text, "\"name\":\"device 1 DRAM buffers (sampled)\",\"args\":{"
                        "\"d1_DRAM_sampled_buffers\":3}}"));
    T_TRUE(strstr(text, "\"args\":{\"d1_sampled_cb_bytes\":9}}"));
    free(text);
}
