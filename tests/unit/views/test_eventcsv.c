#include "views/trace/eventcsv.h"

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
    tts_eventcsv_row(&out.rows, &row);
}

T_TEST(the_first_line_names_the_columns)
{
    begin(true);
    tts_eventcsv_begin(&out.rows);
    rows_expect(&out, "seq,time_ns,kind,device,pool,id,size_bytes,bytes_per_bank,block_bytes,"
                      "address,page_bytes,cores,placement,borrowed,ranges,op,thread,capture,"
                      "mesh,count,name,failure,missing_bytes,message,device_name\n");
}

T_TEST(what_is_not_known_is_empty)
{
    begin(false);
    put(item_alloc(&rig, 3, TTS_POOL_DRAM, 0, 4096));
    put(item_free(&rig, 3, TTS_POOL_DRAM, 0));
    put(item_event(&rig, TTS_EVENT_PROGRAM, 0));
    put(item_op(&rig, 0, NULL));
    rows_expect(&out, "1,,alloc,3,DRAM,0,4096,,,,,,,,,,,,,,,,,,device 3\n"
                      "2,,free,3,DRAM,0,,,,,,,,,,,,,,,,,,,device 3\n"
                      "3,,program,0,,,,,,,,,,,,,,,,,,,,,device 0\n"
                      "4,,op_end,,,,,,,,,,,,,,,,,,,,,,\n");
}

T_TEST(what_is_known_of_a_buffer_is_there)
{
    static const struct tts_core_range ranges[] = {{0, 1, 7, 2}, {3, 3, 3, 3}};
    begin(true);
    struct tts_item item = item_alloc(&rig, 1, TTS_POOL_L1, UINT64_MAX, 65536);
    item.event.bytes_per_bank = 1024;
    item.event.block_bytes = 1056;
    item.event.has_address = true;
    item.event.address = 0;
    item.event.page_bytes = 32;
    item.event.cores = 17;
    item.event.placement = TTS_PLACE_DOWN;
    item.event.ranges = ranges;
    item.event.range_count = 2;
    item_set_op(&item, "ttnn::add");
    put(item);
    item = item_free(&rig, 1, TTS_POOL_L1, 5);
    item.event.size_bytes = 65536;
    item.event.bytes_per_bank = 1024;
    put(item);
    rows_expect(&out, "1,1000,alloc,1,L1,18446744073709551615,65536,1024,1056,0,32,17,down,,"
                      "0-1..7-2+3-3..3-3,ttnn::add,,,,,,,,,device 1\n"
                      "2,2000,free,1,L1,5,65536,1024,,,,,,,,,,,,,,,,,device 1\n");
}

T_TEST(parts_of_a_program_say_what_they_borrow)
{
    static const struct tts_core_range ranges[] = {{0, 0, 7, 7}};
    begin(true);
    put(item_part(&rig, TTS_EVENT_CB, 2048, ranges, 1));
    struct tts_item item = item_part(&rig, TTS_EVENT_DFB, 64, ranges, 1);
    item.event.borrowed = true;
    put(item);
    rows_expect(&out, "1,1000,cb,0,,,2048,,,,,,,,0-0..7-7,,,,,,,,,,device 0\n"
                      "2,2000,dfb,0,,,64,,,,,,,true,0-0..7-7,,,,,,,,,,device 0\n");
}

T_TEST(a_failure_has_the_sentence_of_the_runtime)
{
    struct tts_failure failure = {.kind = TTS_FAILURE_TRACE,
                                  .pool = TTS_POOL_TRACE,
                                  .requested_bytes = 300,
                                  .mesh_id = 1,
                                  .trace_bytes = 100};
    begin(true);
    struct tts_item item = item_event(&rig, TTS_EVENT_FAILURE, 2);
    item.event.failure = &failure;
    put(item);
    failure = (struct tts_failure){.kind = TTS_FAILURE_DEPENDENCY, .pool = TTS_POOL_L1};
    item = item_event(&rig, TTS_EVENT_FAILURE, 2);
    item.event.failure = &failure;
    put(item);
    char sentence[TTS_FAILURE_TEXT_MAX], wanted[1024];
    tts_failure_text(&failure, sentence);
    snprintf(
        wanted, sizeof wanted,
        "1,1000,failure,2,TRACE,,300,,,,,,,,,,,,,,,trace_region,200,\"Creating trace "
        "buffers of size 300B on MeshDevice 1, but only 100B is allocated for trace "
        "region.\",device 2\n2,2000,failure,2,L1,,,,,,,,,,,,,,,,,dependency,,\"%s\",device 2\n",
        sentence);
    rows_expect(&out, wanted);
}

T_TEST(operations_and_their_threads)
{
    begin(true);
    put(item_op(&rig, 2, "=evil,\"op\""));
    put(item_op(&rig, 2, NULL));
    rows_expect(&out, "1,1000,op_begin,,,,,,,,,,,,,\"'=evil,\"\"op\"\"\",2,,,,,,,,\n"
                      "2,2000,op_end,,,,,,,,,,,,,,2,,,,,,,,\n");
}

T_TEST(what_is_no_event_has_a_row_too)
{
    begin(true);
    rig.seq = 9;
    struct tts_item item = item_mark(&rig, TTS_ITEM_CHIP);
    item.device = 4;
    item.mesh = 8;
    put(item);
    put(item_capture(&rig, TTS_ITEM_BEGIN, 1, NULL));
    put(item_capture(&rig, TTS_ITEM_CUT, 1, "step 1"));
    put(item_capture(&rig, TTS_ITEM_END, 1, NULL));
    item = item_mark(&rig, TTS_ITEM_MISSED);
    item.count = 12;
    put(item);
    rows_expect(&out, "9,0,chip,4,,,,,,,,,,,,,,,8,,,,,,device 4\n"
                      "9,0,capture_begin,,,,,,,,,,,,,,,1,,,,,,,\n"
                      "9,0,phase_end,,,,,,,,,,,,,,,1,,,step 1,,,,\n"
                      "9,0,capture_end,,,,,,,,,,,,,,,1,,,,,,,\n"
                      "9,0,missed,,,,,,,,,,,,,,,,,12,,,,,\n");
}

T_TEST(what_was_there_before_the_file_has_the_number_of_its_own_event)
{
    static const struct tts_core_range ranges[] = {{0, 0, 1, 1}};
    begin(true);
    rig.seq = 500;
    struct tts_item item = item_mark(&rig, TTS_ITEM_KEYFRAME);
    item.count = 1;
    put(item);
    item = item_live(&rig, 2, TTS_POOL_L1, 7, 640);
    item.live.seq = 41;
    item.live.bytes_per_bank = 64;
    item_set_op(&item, "op");
    put(item);
    item = item_mark(&rig, TTS_ITEM_PART);
    item.event = tts_event_of(TTS_EVENT_SCRATCHPAD, 3);
    item.event.size_bytes = 5;
    item.event.ranges = ranges;
    item.event.range_count = 1;
    item.live.seq = 499;
    put(item);
    item = item_mark(&rig, TTS_ITEM_TRACING);
    item.device = 3;
    item.count = 2;
    put(item);
    put(item_capture(&rig, TTS_ITEM_ACTIVE, 6, NULL));
    put(item_mark(&rig, TTS_ITEM_KEYFRAME_END));
    rows_expect(&out, "500,0,keyframe,,,,,,,,,,,,,,,,,1,,,,,\n"
                      "41,0,live,2,L1,7,640,64,,,,,,,,op,,,,,,,,,device 2\n"
                      "499,0,live_scratchpad,3,,,5,,,,,,,,0-0..1-1,,,,,,,,,,device 3\n"
                      "500,0,live_traces,3,,,,,,,,,,,,,,,,2,,,,,device 3\n"
                      "500,0,capture_active,,,,,,,,,,,,,,,6,,,,,,,\n"
                      "500,0,keyframe_end,,,,,,,,,,,,,,,,,,,,,,\n");
}

T_TEST(the_last_row_says_why_there_are_no_more)
{
    static struct tts_eventrow row;
    begin(true);
    tts_eventrow_note(&row, "damage", "line 3: cut off");
    tts_eventcsv_row(&out.rows, &row);
    rows_expect(&out, ",,damage,,,,,,,,,,,,,,,,,,,,,line 3: cut off,\n");
}
