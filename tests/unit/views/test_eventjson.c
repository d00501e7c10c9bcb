#include "views/trace/eventjson.h"

#include "harness/item_rig.h"
#include "harness/rows_rig.h"

static struct rows_rig out;
static struct item_rig rig;

static void begin(bool has_time)
{
    rows_begin(&out);
    rig = (struct item_rig){.has_time = has_time};
}

static void put(struct tts_item item)
{
    static struct tts_eventrow row;
    tts_eventrow_of(&row, &item);
    tts_eventjson_row(&out.rows, &row);
}

T_TEST(the_header_has_the_schema_and_what_is_known)
{
    begin(true);
    struct tts_tracefile file = {.path = "a\"b\xff",
                                 .program = "train",
                                 .pid = 77,
                                 .is_recording = true,
                                 .has_times = true,
                                 .start_ns = 5,
                                 .start_realtime_ns = UINT64_MAX};
    tts_eventjson_begin(&out.rows, &file);
    tts_eventjson_begin(&out.rows, &(struct tts_tracefile){.path = "-"});
    rows_expect(
        &out,
        "{\"schema\":{\"name\":\"ttscope.events\",\"version\":1},\"file\":\"a\\\"b\\ufffd\","
        "\"source\":\"recording\",\"program\":\"train\",\"pid\":77,\"start_ns\":5,"
        "\"start_realtime_ns\":18446744073709551615,\"has_times\":true}\n"
        "{\"schema\":{\"name\":\"ttscope.events\",\"version\":1},\"file\":\"-\","
        "\"source\":\"graph\",\"has_times\":false}\n");
}

T_TEST(what_is_not_known_is_left_out)
{
    begin(false);
    put(item_alloc(&rig, 3, TTS_POOL_DRAM, UINT64_MAX, 4096));
    put(item_op(&rig, 0, NULL));
    rows_expect(&out, "{\"seq\":1,\"kind\":\"alloc\",\"device\":3,\"pool\":\"DRAM\","
                      "\"id\":18446744073709551615,\"size_bytes\":4096,"
                      "\"device_name\":\"device 3\"}\n"
                      "{\"seq\":2,\"kind\":\"op_end\"}\n");
}

T_TEST(names_are_as_they_are)
{
    begin(true);
    put(item_op(&rig, 2, "=evil,\"op\"\n"));
    struct tts_item item = item_capture(&rig, TTS_ITEM_CUT, 1, "a\0b");
    item.name_len = 3;
    put(item);
    rows_expect(&out, "{\"seq\":1,\"time_ns\":1000,\"kind\":\"op_begin\","
                      "\"op\":\"=evil,\\\"op\\\"\\u000a\",\"thread\":2}\n"
                      "{\"seq\":1,\"time_ns\":1000,\"kind\":\"phase_end\",\"capture\":1,"
                      "\"name\":\"a\\u0000b\"}\n");
}

T_TEST(ranges_are_four_numbers_each)
{
    static const struct tts_core_range ranges[] = {{0, 1, 7, 2}, {3, 3, 3, 3}};
    begin(true);
    struct tts_item item = item_part(&rig, TTS_EVENT_CB, 64, ranges, 2);
    item.event.borrowed = true;
    put(item);
    rows_expect(&out, "{\"seq\":1,\"time_ns\":1000,\"kind\":\"cb\",\"device\":0,"
                      "\"size_bytes\":64,\"borrowed\":true,"
                      "\"ranges\":[[0,1,7,2],[3,3,3,3]],"
                      "\"device_name\":\"device 0\"}\n");
}
