#include "views/trace/timeline.h"

#include "harness/item_rig.h"
#include "harness/mark_rig.h"
#include "torture/heap.h"

static struct item_rig rig;
static struct mark_rig marks;
static struct tts_timeline *timeline;

static void begin(struct tts_timeline_config config)
{
    struct tts_error err;
    rig = (struct item_rig){.has_time = true};
    mark_begin(&marks);
    config.put = mark_put;
    config.ctx = &marks;
    T_EQ(tts_timeline_new(&config, NULL, &timeline, &err), TTS_OK);
}

static void put(struct tts_item item)
{
    struct tts_error err;
    T_EQ(tts_timeline_item(timeline, &item, &err), TTS_OK);
}

static struct tts_timeline_counts expect(const char *wanted)
{
    tts_timeline_end(timeline);
    struct tts_timeline_counts counts = tts_timeline_counts(timeline);
    tts_timeline_free(timeline);
    mark_expect(&marks, wanted);
    return counts;
}

static const struct tts_timeline_config plain = {.slots_max = TTS_TIMELINE_SLOTS};

/* ---- buffers ---- */

T_TEST(a_buffer_is_a_slice_and_bytes_of_its_pool)
{
    begin(plain);
    struct tts_item item = item_alloc(&rig, 0, TTS_POOL_DRAM, 5, 4096);
    item_set_op(&item, "load");
    put(item);
    put(item_free(&rig, 0, TTS_POOL_DRAM, 5));
    expect("1000 track 1\n"
           "1000 track 2 < 0 device 0\n"
           "1000 track 3 < 2 device 0 DRAM buffers\n"
           "1000 track 4 < 3 device 0 DRAM buffers\n"
           "1000 + 4 load 4.00 KiB #1\n"
           "1000 track 5 < 2 device 0 DRAM\n"
           "1000 = 5 4096\n"
           "2000 - 4 load 4.00 KiB #1\n"
           "2000 = 5 0\n"
           "1000 ! 2 peak of DRAM 4.00 KiB\n");
}

T_TEST(buffers_take_the_smallest_slot_that_is_free)
{
    begin(plain);
    for (uint64_t id = 1; id <= 3; id++)
        put(item_alloc(&rig, 0, TTS_POOL_TRACE, id, 10));
    put(item_free(&rig, 0, TTS_POOL_TRACE, 2));
    put(item_free(&rig, 0, TTS_POOL_TRACE, 1));
    put(item_alloc(&rig, 0, TTS_POOL_TRACE, 4, 10));
    put(item_alloc(&rig, 0, TTS_POOL_TRACE, 5, 10));
    put(item_alloc(&rig, 0, TTS_POOL_TRACE, 6, 10));
    expect("1000 track 1\n"
           "1000 track 2 < 0 device 0\n"
           "1000 track 3 < 2 device 0 TRACE buffers\n"
           "1000 track 4 < 3 device 0 TRACE buffers\n"
           "1000 + 4 buffer 10 B #1\n"
           "1000 track 5 < 2 device 0 TRACE\n"
           "1000 = 5 10\n"
           "2000 track 6 < 3 device 0 TRACE buffers\n"
           "2000 + 6 buffer 10 B #2\n"
           "2000 = 5 20\n"
           "3000 track 7 < 3 device 0 TRACE buffers\n"
           "3000 + 7 buffer 10 B #3\n"
           "3000 = 5 30\n"
           "4000 - 6 buffer 10 B #2\n"
           "4000 = 5 20\n"
           "5000 - 4 buffer 10 B #1\n"
           "5000 = 5 10\n"
           "6000 + 4 buffer 10 B #4\n"
           "6000 = 5 20\n"
           "7000 + 6 buffer 10 B #5\n"
           "7000 = 5 30\n"
           "8000 track 8 < 3 device 0 TRACE buffers\n"
           "8000 + 8 buffer 10 B #6\n"
           "8000 = 5 40\n"
           "8000 ! 2 peak of TRACE 40 B\n");
}

static void note_slot(void *ctx, const struct tts_mark *mark)
{
    uint32_t *slot = ctx;
    if (mark->kind == TTS_MARK_BEGIN)
        *slot = mark->track.index;
}

T_TEST(the_smallest_of_many_slots_is_taken_again)
{
    enum { COUNT = 200 };
    uint32_t slot = UINT32_MAX;
    struct tts_timeline_config config = {.slots_max = COUNT, .put = note_slot, .ctx = &slot};
    static const uint64_t holes[] = {150, 70, 3, 64, 63, 199};
    static const uint32_t wanted[] = {3, 63, 64, 70, 150, 199};
    struct tts_error err;
    rig = (struct item_rig){.has_time = true};
    T_EQ(tts_timeline_new(&config, NULL, &timeline, &err), TTS_OK);
    for (uint64_t id = 0; id < COUNT; id++) {
        put(item_alloc(&rig, 0, TTS_POOL_DRAM, id, 1));
        T_EQ(slot, id);
    }
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, COUNT, 1));
    T_EQ(tts_timeline_counts(timeline).undrawn, 1);
    for (size_t i = 0; i < sizeof holes / sizeof *holes; i++)
        put(item_free(&rig, 0, TTS_POOL_DRAM, holes[i]));
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        put(item_alloc(&rig, 0, TTS_POOL_DRAM, 1000 + i, 1));
        T_EQ(slot, wanted[i]);
    }
    tts_timeline_free(timeline);
}

T_TEST(beyond_the_slots_a_buffer_is_counted_and_not_drawn)
{
    begin((struct tts_timeline_config){.slots_max = 1});
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 10));
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 2, 20));
    put(item_free(&rig, 0, TTS_POOL_DRAM, 1));
    put(item_free(&rig, 0, TTS_POOL_DRAM, 2));
    struct tts_timeline_counts counts = expect("1000 track 1\n"
                                               "1000 track 2 < 0 device 0\n"
                                               "1000 track 3 < 2 device 0 DRAM buffers\n"
                                               "1000 track 4 < 3 device 0 DRAM buffers\n"
                                               "1000 + 4 buffer 10 B #1\n"
                                               "1000 track 5 < 2 device 0 DRAM\n"
                                               "1000 = 5 10\n"
                                               "2000 = 5 30\n"
                                               "3000 - 4 buffer 10 B #1\n"
                                               "3000 = 5 20\n"
                                               "4000 = 5 0\n"
                                               "2000 ! 2 peak of DRAM 30 B\n");
    T_EQ(counts.undrawn, 1);
    begin((struct tts_timeline_config){.slots_max = 0});
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 10));
    T_EQ(expect("1000 track 1\n"
                "1000 track 2 < 0 device 0\n"
                "1000 track 3 < 2 device 0 DRAM\n"
                "1000 = 3 10\n"
                "1000 ! 2 peak of DRAM 10 B\n")
             .undrawn,
         1);
}

T_TEST(l1_counts_what_the_fullest_bank_holds)
{
    begin((struct tts_timeline_config){.slots_max = 0});
    struct tts_item item = item_alloc(&rig, 0, TTS_POOL_L1, 1, 64000);
    item.event.bytes_per_bank = 1000;
    item.event.block_bytes = 1024;
    put(item);
    item = item_alloc(&rig, 0, TTS_POOL_L1_SMALL, 2, 640);
    item.event.bytes_per_bank = 10;
    put(item);
    put(item_alloc(&rig, 0, TTS_POOL_TRACE, 3, 7));
    expect("1000 track 1\n"
           "1000 track 2 < 0 device 0\n"
           "1000 track 3 < 2 device 0 L1\n"
           "1000 = 3 1000\n"
           "2000 track 4 < 2 device 0 L1_SMALL\n"
           "2000 = 4 10\n"
           "3000 track 5 < 2 device 0 TRACE\n"
           "3000 = 5 7\n"
           "1000 ! 2 peak of L1 1000 B per bank\n"
           "2000 ! 2 peak of L1_SMALL 10 B per bank\n"
           "3000 ! 2 peak of TRACE 7 B\n");
}

T_TEST(a_pool_whose_capacity_is_known_has_a_line_from_its_first_byte_to_the_end)
{
    begin((struct tts_timeline_config){.capacity_bytes = {[TTS_POOL_DRAM] = 999}});
    put(item_event(&rig, TTS_EVENT_PROGRAM, 0));
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 10));
    put(item_alloc(&rig, 0, TTS_POOL_TRACE, 2, 10));
    put(item_event(&rig, TTS_EVENT_PROGRAM, 0));
    expect("1000 track 1\n"
           "2000 track 2 < 0 device 0\n"
           "2000 track 3 < 2 device 0 DRAM capacity\n"
           "2000 = 3 999\n"
           "2000 track 4 < 2 device 0 DRAM\n"
           "2000 = 4 10\n"
           "3000 track 5 < 2 device 0 TRACE\n"
           "3000 = 5 10\n"
           "4000 = 3 999\n"
           "2000 ! 2 peak of DRAM 10 B\n"
           "3000 ! 2 peak of TRACE 10 B\n");
}

T_TEST(an_id_that_lives_and_comes_again_ends_the_one_before)
{
    begin((struct tts_timeline_config){.slots_max = 8});
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 10));
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 15));
    expect("1000 track 1\n"
           "1000 track 2 < 0 device 0\n"
           "1000 track 3 < 2 device 0 DRAM buffers\n"
           "1000 track 4 < 3 device 0 DRAM buffers\n"
           "1000 + 4 buffer 10 B #1\n"
           "1000 track 5 < 2 device 0 DRAM\n"
           "1000 = 5 10\n"
           "2000 - 4 buffer 10 B #1\n"
           "2000 = 5 0\n"
           "2000 + 4 buffer 15 B #2\n"
           "2000 = 5 15\n"
           "2000 ! 2 peak of DRAM 15 B\n");
}

T_TEST(a_buffer_is_freed_as_it_was_allocated)
{
    begin((struct tts_timeline_config){.slots_max = 0});
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 10));
    put(item_alloc(&rig, 1, TTS_POOL_DRAM, 1, 70));
    struct tts_item item = item_free(&rig, 0, TTS_POOL_TRACE, 1);
    item.event.size_bytes = 99;
    put(item);
    expect("1000 track 1\n"
           "1000 track 2 < 0 device 0\n"
           "1000 track 3 < 2 device 0 DRAM\n"
           "1000 = 3 10\n"
           "2000 track 4 < 0 device 1\n"
           "2000 track 5 < 4 device 1 DRAM\n"
           "2000 = 5 70\n"
           "3000 = 3 0\n"
           "1000 ! 2 peak of DRAM 10 B\n"
           "2000 ! 4 peak of DRAM 70 B\n");
}

T_TEST(what_is_not_known_or_has_no_bytes_counts_nowhere)
{
    begin(plain);
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 0));
    put(item_free(&rig, 0, TTS_POOL_DRAM, 1));
    struct tts_item item = item_free(&rig, 9, TTS_POOL_DRAM, 1);
    item.event.size_bytes = 4096;
    put(item);
    T_EQ(expect("1000 track 1\n").unseen_frees, 2);
}

T_TEST(what_a_mesh_holds_is_on_the_chips_that_hold_something)
{
    begin((struct tts_timeline_config){.slots_max = 0});
    for (uint32_t chip = 0; chip < 3; chip++) {
        struct tts_item item = item_mark(&rig, TTS_ITEM_CHIP);
        item.device = chip;
        item.mesh = 8;
        put(item);
    }
    put(item_alloc(&rig, 8, TTS_POOL_DRAM, 1, 100));
    put(item_alloc(&rig, 1, TTS_POOL_DRAM, 1, 5));
    put(item_alloc(&rig, 8, TTS_POOL_DRAM, 2, 1000));
    put(item_free(&rig, 1, TTS_POOL_DRAM, 1));
    expect("0 track 1\n"
           "1000 track 2 < 0 device 8\n"
           "1000 track 3 < 2 device 8 DRAM\n"
           "1000 = 3 100\n"
           "2000 track 4 < 0 device 1\n"
           "2000 track 5 < 4 device 1 DRAM\n"
           "2000 = 5 105\n"
           "3000 = 3 1100\n"
           "3000 = 5 1105\n"
           "4000 = 5 1100\n"
           "3000 ! 2 peak of DRAM 1.07 KiB\n"
           "3000 ! 4 peak of DRAM 1.08 KiB\n");
}

T_TEST(a_chip_that_moves_has_what_its_new_mesh_holds)
{
    begin((struct tts_timeline_config){.slots_max = 0});
    struct tts_item item = item_mark(&rig, TTS_ITEM_CHIP);
    item.mesh = 8;
    put(item);
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 1));
    item = item_mark(&rig, TTS_ITEM_CHIP);
    item.mesh = 9;
    put(item);
    put(item_alloc(&rig, 8, TTS_POOL_DRAM, 1, 10));
    put(item_alloc(&rig, 9, TTS_POOL_DRAM, 1, 100));
    expect("0 track 1\n"
           "1000 track 2 < 0 device 0\n"
           "1000 track 3 < 2 device 0 DRAM\n"
           "1000 = 3 1\n"
           "2000 track 4 < 0 device 8\n"
           "2000 track 5 < 4 device 8 DRAM\n"
           "2000 = 5 10\n"
           "3000 track 6 < 0 device 9\n"
           "3000 track 7 < 6 device 9 DRAM\n"
           "3000 = 7 100\n"
           "3000 = 3 101\n"
           "2000 ! 4 peak of DRAM 10 B\n"
           "3000 ! 2 peak of DRAM 101 B\n"
           "3000 ! 6 peak of DRAM 100 B\n");
}

T_TEST(what_lived_before_the_file_begins_with_it)
{
    begin(plain);
    rig.seq = 70;
    rig.time_ns = 5000;
    struct tts_item item = item_mark(&rig, TTS_ITEM_KEYFRAME);
    item.count = 1;
    put(item);
    item = item_live(&rig, 0, TTS_POOL_DRAM, 3, 300);
    item_set_op(&item, "old");
    put(item);
    put(item_mark(&rig, TTS_ITEM_KEYFRAME_END));
    put(item_free(&rig, 0, TTS_POOL_DRAM, 3));
    expect("5000 track 1\n"
           "5000 track 2 < 0 device 0\n"
           "5000 track 3 < 2 device 0 DRAM buffers\n"
           "5000 track 4 < 3 device 0 DRAM buffers\n"
           "5000 + 4 old 300 B #1\n"
           "5000 track 5 < 2 device 0 DRAM\n"
           "5000 = 5 300\n"
           "6000 - 4 old 300 B #1\n"
           "6000 = 5 0\n"
           "5000 ! 2 peak of DRAM 300 B\n");
}

/* ---- cores ---- */

T_TEST(circular_buffers_count_on_the_fullest_core_of_the_program)
{
    static const struct tts_core_range left[] = {{0, 0, 0, 7}}, row[] = {{0, 7, 7, 7}},
                                       two[] = {{1, 0, 1, 0}, {63, 63, 63, 63}};
    begin(plain);
    put(item_part(&rig, TTS_EVENT_CB, 100, left, 1));
    put(item_part(&rig, TTS_EVENT_SCRATCHPAD, 20, row, 1));
    put(item_part(&rig, TTS_EVENT_DFB, 110, two, 2));
    struct tts_item item = item_part(&rig, TTS_EVENT_CB, 5000, row, 1);
    item.event.borrowed = true;
    put(item);
    put(item_event(&rig, TTS_EVENT_PROGRAM, 0));
    put(item_event(&rig, TTS_EVENT_PROGRAM, 0));
    put(item_part(&rig, TTS_EVENT_CB, 7, left, 1));
    put(item_part(&rig, TTS_EVENT_CB, 8, two, 2));
    expect("1000 track 1\n"
           "1000 track 2 < 0 device 0\n"
           "1000 track 3 < 2 device 0 CBs on the fullest core\n"
           "1000 = 3 100\n"
           "2000 = 3 120\n"
           "3000 = 3 120\n"
           "5000 = 3 0\n"
           "7000 = 3 7\n"
           "8000 = 3 8\n");
}

T_TEST(a_program_of_a_mesh_ends_those_of_its_chips)
{
    static const struct tts_core_range core[] = {{0, 0, 0, 0}};
    begin(plain);
    struct tts_item item = item_mark(&rig, TTS_ITEM_CHIP);
    item.mesh = 8;
    put(item);
    put(item_part(&rig, TTS_EVENT_CB, 100, core, 1));
    put(item_event(&rig, TTS_EVENT_PROGRAM, 8));
    put(item_part(&rig, TTS_EVENT_CB, 100, core, 1));
    expect("0 track 1\n"
           "1000 track 2 < 0 device 0\n"
           "1000 track 3 < 2 device 0 CBs on the fullest core\n"
           "1000 = 3 100\n"
           "2000 = 3 0\n"
           "3000 = 3 100\n");
}

/* ---- operations, traces, failures ---- */

T_TEST(operations_nest_on_their_threads)
{
    begin(plain);
    put(item_op(&rig, 1, "outer"));
    put(item_op(&rig, 2, "other"));
    put(item_op(&rig, 1, "inner"));
    put(item_op(&rig, 1, NULL));
    put(item_op(&rig, 2, NULL));
    put(item_op(&rig, 1, NULL));
    put(item_op(&rig, 1, NULL));
    put(item_op(&rig, 0, "somewhere"));
    struct tts_timeline_counts counts = expect("1000 track 1\n"
                                               "4000 track 2 < 1 thread 1\n"
                                               "3000..4000 2 inner\n"
                                               "5000 track 3 < 1 thread 2\n"
                                               "2000..5000 3 other\n"
                                               "1000..6000 2 outer\n"
                                               "8000 track 4 < 1 operations\n"
                                               "8000..? 4 somewhere\n");
    T_EQ(counts.unseen_ends, 1);
}

static void alloc_in_op(uint64_t id, uint64_t bytes, const char *op)
{
    struct tts_item item = item_alloc(&rig, 0, TTS_POOL_DRAM, id, bytes);
    item_set_op(&item, op);
    put(item);
}

T_TEST(an_operation_has_the_bytes_that_it_and_those_in_it_allocated)
{
    begin((struct tts_timeline_config){.slots_max = 0});
    put(item_op(&rig, 1, "outer"));
    alloc_in_op(1, 1 << 20, "outer");
    put(item_op(&rig, 1, "inner"));
    alloc_in_op(2, 2 << 20, "inner");
    put(item_free(&rig, 0, TTS_POOL_DRAM, 2));
    put(item_op(&rig, 1, NULL));
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 3, 4096)); /* no operation is open */
    put(item_op(&rig, 1, NULL));
    expect("1000 track 1\n"
           "2000 track 2 < 0 device 0\n"
           "2000 track 3 < 2 device 0 DRAM\n"
           "2000 = 3 1048576\n"
           "4000 = 3 3145728\n"
           "5000 = 3 1048576\n"
           "6000 track 4 < 1 thread 1\n"
           "3000..6000 4 inner 2.00 MiB\n"
           "7000 = 3 1052672\n"
           "1000..8000 4 outer 3.00 MiB\n"
           "4000 ! 2 peak of DRAM 3.00 MiB\n");
}

T_TEST(with_several_threads_an_allocation_belongs_to_the_one_in_its_operation)
{
    begin((struct tts_timeline_config){.slots_max = 0});
    put(item_op(&rig, 1, "a"));
    put(item_op(&rig, 2, "b"));
    alloc_in_op(1, 10, "a");
    alloc_in_op(2, 20, "b");
    alloc_in_op(3, 40, "of none");
    put(item_op(&rig, 2, "c"));
    alloc_in_op(4, 80, "b"); /* has the name of the outer operation */
    expect("1000 track 1\n"
           "3000 track 2 < 0 device 0\n"
           "3000 track 3 < 2 device 0 DRAM\n"
           "3000 = 3 10\n"
           "4000 = 3 30\n"
           "5000 = 3 70\n"
           "7000 = 3 150\n"
           "7000 ! 2 peak of DRAM 150 B\n"
           "7000 track 4 < 1 thread 1\n"
           "1000..? 4 a 10 B\n"
           "7000 track 5 < 1 thread 2\n"
           "2000..? 5 b 100 B\n"
           "6000..? 5 c 80 B\n");
}

static void put_at(uint64_t time_ns, struct tts_item item)
{
    item.time_ns = time_ns;
    put(item);
}

/* Operations can begin at the same time. If the outer one were not first, a reader that sorts
 * by time would swap them. */
T_TEST(of_two_operations_that_begin_at_one_time_the_outer_one_is_told_first)
{
    begin((struct tts_timeline_config){.slots_max = 0});
    put_at(5, item_op(&rig, 1, "outer"));
    put_at(5, item_op(&rig, 1, "middle"));
    put_at(5, item_op(&rig, 1, "inner"));
    put_at(6, item_op(&rig, 1, NULL));
    put_at(7, item_op(&rig, 1, NULL));
    put_at(7, item_op(&rig, 1, "next"));
    put_at(7, item_op(&rig, 1, NULL));
    put_at(8, item_op(&rig, 1, NULL));
    expect("5 track 1\n5 track 2 < 1 thread 1\n5 + 2 outer\n5 + 2 middle\n5..6 2 inner\n"
           "7 - 2\n7..7 2 next\n8 - 2\n");
}

T_TEST(operations_that_nest_deeper_are_told_at_once)
{
    enum { DEPTH = TTS_TIMELINE_OPS_MAX + 2 };
    begin((struct tts_timeline_config){.slots_max = 0});
    for (int i = 0; i < DEPTH; i++)
        put(item_op(&rig, 1, "x"));
    alloc_in_op(1, 10, "x");
    for (int i = 0; i < DEPTH + 1; i++)
        put(item_op(&rig, 1, NULL));
    T_EQ(tts_timeline_counts(timeline).unseen_ends, 1);
    tts_timeline_end(timeline);
    tts_timeline_free(timeline);
    fclose(marks.out);
    size_t begins = 0, spans = 0;
    for (const char *at = marks.text; (at = strstr(at, " + 2 x\n")); at++)
        begins++;
    for (const char *at = marks.text; (at = strstr(at, " 2 x 10 B\n")); at++)
        spans++;
    T_EQ(begins, 2);
    T_EQ(spans, TTS_TIMELINE_OPS_MAX);
    T_TRUE(strstr(marks.text, "\n1000..517000 2 x 10 B\n") != NULL);
    free(marks.text);
}

T_TEST(names_beyond_those_that_are_kept_are_counted)
{
    char name[16];
    begin(plain);
    for (int i = 0; i <= TTS_TIMELINE_NAMES_MAX; i++) {
        snprintf(name, sizeof name, "op%d", i);
        put(item_op(&rig, 1, name));
        put(item_op(&rig, 1, NULL));
        T_EQ(tts_timeline_counts(timeline).unnamed, i == TTS_TIMELINE_NAMES_MAX);
    }
    put(item_op(&rig, 1, "op0"));
    struct tts_item item = item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 64);
    item_set_op(&item, name);
    put(item);
    T_EQ(tts_timeline_counts(timeline).unnamed, 2);
    tts_timeline_end(timeline);
    tts_timeline_free(timeline);
    fclose(marks.out);
    T_TRUE(strstr(marks.text, " op64999\n") && strstr(marks.text, " (other)\n"));
    T_TRUE(strstr(marks.text, " (other) 64 B #1\n") != NULL);
    T_TRUE(strstr(marks.text, " op65000\n") == NULL);
    free(marks.text);
}

T_TEST(threads_beyond_those_that_are_kept_are_counted)
{
    begin(plain);
    for (uint32_t thread = 1; thread <= TTS_TIMELINE_THREADS_MAX; thread++)
        put(item_op(&rig, thread, "x"));
    put(item_op(&rig, TTS_TIMELINE_THREADS_MAX + 1, "y"));
    put(item_op(&rig, TTS_TIMELINE_THREADS_MAX, NULL));
    tts_timeline_end(timeline);
    T_EQ(tts_timeline_counts(timeline).other_ops, 1);
    T_EQ(tts_timeline_counts(timeline).unseen_ends, 0);
    tts_timeline_free(timeline);
    fclose(marks.out);
    T_TRUE(strstr(marks.text, " y\n") == NULL);
    free(marks.text);
}

T_TEST(traces_are_slices_of_their_device)
{
    begin(plain);
    put(item_event(&rig, TTS_EVENT_TRACE_BEGIN, 4));
    put(item_event(&rig, TTS_EVENT_TRACE_END, 4));
    put(item_event(&rig, TTS_EVENT_TRACE_END, 4));
    T_EQ(expect("1000 track 1\n"
                "1000 track 2 < 0 device 4\n"
                "1000 track 3 < 2 device 4 traces\n"
                "1000 + 3 trace capture\n"
                "2000 - 3\n")
             .unseen_ends,
         1);
}

T_TEST(a_failure_is_an_instant_with_its_sentence)
{
    struct tts_failure failure = {.kind = TTS_FAILURE_BELOW_LIMIT, .limit = 100, .address = 50};
    begin(plain);
    struct tts_item item = item_event(&rig, TTS_EVENT_FAILURE, 2);
    item.event.failure = &failure;
    put(item);
    expect(
        "1000 track 1\n"
        "1000 track 2 < 0 device 2\n"
        "1000 track 3 < 2 device 2 refused\n"
        "1000 ! 3 Out of Memory: Cannot allocate at an address below 100. Allocation at 50\n");
}

T_TEST(what_is_missing_is_said_where_it_is_missing)
{
    begin(plain);
    struct tts_item item = item_mark(&rig, TTS_ITEM_MISSED);
    put(item);
    item.count = 12;
    put(item);
    tts_timeline_note(timeline, "and more");
    expect("0 track 1\n0 ! 1 12 events were not recorded here\n0 ! 1 and more\n");
}

/* ---- captures ---- */

T_TEST(a_phase_is_told_when_it_is_over)
{
    begin(plain);
    put(item_capture(&rig, TTS_ITEM_BEGIN, 1, NULL));
    put(item_op(&rig, 1, "a"));
    put(item_capture(&rig, TTS_ITEM_BEGIN, 2, NULL));
    put(item_capture(&rig, TTS_ITEM_CUT, 1, "first"));
    put(item_op(&rig, 1, NULL));
    put(item_capture(&rig, TTS_ITEM_CUT, 1, "second"));
    put(item_capture(&rig, TTS_ITEM_END, 1, NULL));
    put(item_capture(&rig, TTS_ITEM_CUT, 2, "all"));
    put(item_event(&rig, TTS_EVENT_PROGRAM, 0));
    expect("0 track 1\n"
           "1000 track 2 < 1 capture 1\n"
           "0..1000 2 first\n"
           "2000 track 3 < 1 thread 1\n"
           "1000..2000 3 a\n"
           "1000..2000 2 second\n"
           "2000 track 4 < 1 capture 2\n"
           "1000..2000 4 all\n"
           "2000..? 4 (unfinished)\n");
}

T_TEST(a_capture_that_begins_again_has_its_track)
{
    begin(plain);
    put(item_capture(&rig, TTS_ITEM_ACTIVE, 7, NULL));
    put(item_capture(&rig, TTS_ITEM_CUT, 7, "a"));
    put(item_capture(&rig, TTS_ITEM_END, 7, NULL));
    put(item_capture(&rig, TTS_ITEM_BEGIN, 7, NULL));
    put(item_capture(&rig, TTS_ITEM_CUT, 7, "b"));
    put(item_capture(&rig, TTS_ITEM_END, 7, NULL));
    put(item_capture(&rig, TTS_ITEM_BEGIN, 8, NULL));
    put(item_capture(&rig, TTS_ITEM_CUT, 8, "c"));
    put(item_capture(&rig, TTS_ITEM_END, 8, NULL));
    put(item_capture(&rig, TTS_ITEM_CUT, 99, "of none"));
    expect("0 track 1\n0 track 2 < 1 capture 7\n0..0 2 a\n0..0 2 b\n"
           "0 track 3 < 1 capture 8\n0..0 3 c\n");
}

T_TEST(it_has_it_also_when_another_lane_is_free)
{
    begin(plain);
    for (uint32_t capture = 1; capture <= 2; capture++) {
        put(item_capture(&rig, TTS_ITEM_BEGIN, capture, NULL));
        put(item_capture(&rig, TTS_ITEM_CUT, capture, "a"));
    }
    put(item_capture(&rig, TTS_ITEM_END, 1, NULL));
    put(item_capture(&rig, TTS_ITEM_END, 2, NULL));
    put(item_capture(&rig, TTS_ITEM_BEGIN, 2, NULL));
    put(item_capture(&rig, TTS_ITEM_CUT, 2, "b"));
    put(item_capture(&rig, TTS_ITEM_END, 2, NULL));
    expect("0 track 1\n0 track 2 < 1 capture 1\n0..0 2 a\n"
           "0 track 3 < 1 capture 2\n0..0 3 a\n0..0 3 b\n");
}

T_TEST(more_captures_than_lanes_are_refused)
{
    struct tts_error err;
    begin(plain);
    for (uint32_t i = 1; i <= TTS_TIMELINE_LANES; i++)
        put(item_capture(&rig, TTS_ITEM_BEGIN, i, NULL));
    struct tts_item item = item_capture(&rig, TTS_ITEM_BEGIN, 1000, NULL);
    T_EQ(tts_timeline_item(timeline, &item, &err), TTS_E_RANGE);
    tts_timeline_free(timeline);
    fclose(marks.out);
    free(marks.text);
}

/* ---- time and the end ---- */

T_TEST(without_times_every_event_takes_a_microsecond)
{
    begin((struct tts_timeline_config){.slots_max = 0});
    rig.has_time = false;
    put(item_capture(&rig, TTS_ITEM_BEGIN, 1, NULL));
    for (int i = 0; i < 4; i++)
        put(item_event(&rig, TTS_EVENT_PROGRAM, 0));
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 10));
    put(item_capture(&rig, TTS_ITEM_CUT, 1, "x"));
    put(item_capture(&rig, TTS_ITEM_END, 1, NULL));
    expect("0 track 1\n"
           "5000 track 2 < 0 device 0\n"
           "5000 track 3 < 2 device 0 DRAM\n"
           "5000 = 3 10\n"
           "5000 track 4 < 1 capture 1\n"
           "0..5000 4 x\n"
           "5000 ! 2 peak of DRAM 10 B\n");
}

T_TEST(time_never_falls)
{
    begin((struct tts_timeline_config){.slots_max = 0});
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 10));
    rig.time_ns = 200;
    struct tts_item item = item_alloc(&rig, 0, TTS_POOL_DRAM, 2, 10);
    item.time_ns = 900;
    put(item);
    expect("1000 track 1\n"
           "1000 track 2 < 0 device 0\n"
           "1000 track 3 < 2 device 0 DRAM\n"
           "1000 = 3 10\n"
           "1000 = 3 20\n"
           "1000 ! 2 peak of DRAM 20 B\n");
}

T_TEST(what_lives_is_closed_for_those_who_want_it)
{
    begin((struct tts_timeline_config){.slots_max = 8, .closes_at_end = true});
    struct tts_item item = item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 10);
    item_set_op(&item, "op");
    put(item);
    put(item_op(&rig, 1, "a"));
    put(item_op(&rig, 1, "b"));
    put(item_event(&rig, TTS_EVENT_TRACE_BEGIN, 0));
    expect("1000 track 1\n"
           "1000 track 2 < 0 device 0\n"
           "1000 track 3 < 2 device 0 DRAM buffers\n"
           "1000 track 4 < 3 device 0 DRAM buffers\n"
           "1000 + 4 op 10 B #1\n"
           "1000 track 5 < 2 device 0 DRAM\n"
           "1000 = 5 10\n"
           "4000 track 6 < 2 device 0 traces\n"
           "4000 + 6 trace capture\n"
           "1000 ! 2 peak of DRAM 10 B\n"
           "4000 - 4 op 10 B #1\n"
           "4000 track 7 < 1 thread 1\n"
           "3000..4000 7 b\n"
           "2000..4000 7 a\n"
           "4000 - 6\n");
}

T_TEST(a_file_of_nothing_has_a_process)
{
    begin(plain);
    expect("0 track 1\n");
}

/* ---- limits ---- */

T_TEST(one_device_too_many_is_refused)
{
    struct tts_error err;
    begin((struct tts_timeline_config){.slots_max = 0});
    for (uint32_t i = 0; i < TTS_TIMELINE_DEVICES_MAX; i++)
        put(item_alloc(&rig, i, TTS_POOL_DRAM, 1, 1));
    struct tts_item item = item_alloc(&rig, 1u << 31, TTS_POOL_DRAM, 1, 1);
    T_EQ(tts_timeline_item(timeline, &item, &err), TTS_E_RANGE);
    T_STR_EQ(
        err.text,
        "event 257: the file has more buffers or operations at once than ttscope can draw");
    tts_timeline_free(timeline);
    fclose(marks.out);
    free(marks.text);
}

static void ignore(void *ctx, const struct tts_mark *mark)
{
    (void)ctx;
    (void)mark;
}

static enum tts_status run_all(const struct tts_alloc *alloc)
{
    static const struct tts_core_range range[] = {{0, 0, 3, 3}};
    static const struct tts_timeline_config config = {.slots_max = 100, .put = ignore};
    struct tts_timeline *t;
    struct tts_error err;
    struct item_rig items = {.has_time = true};
    enum tts_status status = tts_timeline_new(&config, alloc, &t, &err);
    if (status != TTS_OK)
        return status;
    for (uint64_t i = 0; status == TTS_OK && i < 1200; i++) {
        struct tts_item item =
            i % 100 == 98   ? item_part(&items, TTS_EVENT_CB, 10, range, 1)
            : i % 100 == 99 ? item_op(&items, (uint32_t)i, "x")
                            : item_alloc(&items, (uint32_t)(i % 5), TTS_POOL_DRAM, i, 10);
        status = tts_timeline_item(t, &item, &err);
    }
    tts_timeline_end(t);
    tts_timeline_free(t);
    return status;
}

T_TEST(without_memory_it_says_so_and_loses_nothing)
{
    struct heap heap;
    heap_init(&heap);
    T_EQ(run_all(&heap.alloc), TTS_OK);
    uint64_t calls = heap.calls;
    T_TRUE(calls > 10 && heap_is_settled(&heap));
    for (uint64_t i = 1; i <= calls; i++) {
        heap_init(&heap);
        heap.fail_at = i;
        T_EQ(run_all(&heap.alloc), TTS_E_NOMEM);
        T_TRUE(heap_is_settled(&heap));
    }
}

/* ---- samples ---- */

T_TEST(each_known_value_of_a_sample_is_a_counter)
{
    struct tts_sample sample = {0};
    begin(plain);
    tts_sample_set(&sample, tts_sample_number(TTS_SAMPLE_ALLOCATED, TTS_POOL_L1), 7);
    tts_sample_set(&sample, TTS_SAMPLE_CB, 9);
    struct tts_item item = {
        .kind = TTS_ITEM_SAMPLE, .device = 2, .sample = &sample, .has_time = true};
    item.time_ns = 1000;
    put(item);
    tts_sample_set(&sample, TTS_SAMPLE_CB, 8);
    item.time_ns = 2000;
    put(item);
    expect("1000 track 1\n"
           "1000 track 2 < 0 device 2\n"
           "1000 track 3 < 2 device 2 L1 allocated (sampled)\n"
           "1000 = 3 7\n"
           "1000 track 4 < 2 device 2 circular buffers (sampled)\n"
           "1000 = 4 9\n"
           "2000 = 3 7\n"
           "2000 = 4 8\n");
}

T_TEST(requested_bytes_of_l1_are_those_of_the_device)
{
    struct tts_timeline_config config = plain;
    config.l1_is_requested = true;
    begin(config);
    struct tts_item item = item_alloc(&rig, 0, TTS_POOL_L1, 5, 4096);
    item.event.bytes_per_bank = 4096; /* has no meaning here */
    put(item);
    put(item_free(&rig, 0, TTS_POOL_L1, 5));
    expect("1000 track 1\n"
           "1000 track 2 < 0 device 0\n"
           "1000 track 3 < 2 device 0 L1 buffers\n"
           "1000 track 4 < 3 device 0 L1 buffers\n"
           "1000 + 4 buffer 4.00 KiB #1\n"
           "1000 track 5 < 2 device 0 L1\n"
           "1000 = 5 4096\n"
           "2000 - 4 buffer 4.00 KiB #1\n"
           "2000 = 5 0\n"
           "1000 ! 2 peak of L1 4.00 KiB\n");
}
