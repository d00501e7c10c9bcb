#include "device/devicepools.h"
#include "sources/seq/devseq_run.h"

#include "harness/devseq_rig.h"
#include "torture/heap.h"

#include <stdio.h>

/* Most tests use an n150: 12 DRAM banks with addresses from 2968640 to 1073741824, and 64 cores
 * whose L1 has addresses from 105664 to 1499136. */

/* --- the page --------------------------------------------------------------------------- */

T_TEST(the_example_of_the_page_holds)
{
    struct rig *rig = rig_of("n150");
    char line[256];
    bool inside = false;
    FILE *page = fopen(TTS_LANGUAGE_PAGE, "r");
    T_TRUE(page != NULL);
    while (fgets(line, sizeof line, page)) {
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "```") == 0) {
            if (inside)
                break;
            inside = true;
        } else if (inside && line[0] != '#') {
            expect(rig, line);
        }
    }
    fclose(page);
    T_TRUE(rig->run.counts.operations >= 11);
    T_EQ(rig->run.counts.first_failure_line, 0);
    rig_end(rig);
}

/* --- buffers ---------------------------------------------------------------------------- */

T_TEST(buffers_lie_where_their_pool_and_their_line_say)
{
    static const char *const lines[] = {
        "buffer dram interleaved 24576 2048 = 2968640",
        "buffer dram interleaved 2048 2048 = 2970688",
        "buffer dram interleaved 26624 2048 from=top = 1073737728",
        "buffer l1 interleaved 131072 2048 = 1497088",
        "buffer l1 interleaved 2048 2048 from=bottom = 105664",
        "buffer l1 interleaved 4096 16 = 1497024",
        "buffer l1 interleaved 0 0 = -",
        "buffer l1 interleaved 2048 2048 at=7 = 7",
        "buffer l1 interleaved 2048 2048 at=0 = 0",
        "shard l1 classic 8192 2048 shard=2x1 cores=0-0+3-3 = 1492928",
        "shard l1 nd 12288 2048 tensor=6 shard=1 cores=0-0..1-0 = 1486784",
        "shard l1 grid 8192 2048 tensor=2x2 shard=1x1 cores=0-0..7-7 = 1484736",
        "shard dram classic 4096 2048 shard=1x1 cores=0-0+11-0 = 2972736",
        "kernel 24577 = 1073733632",
        "stats l1 = 1393472 16448 1377024 1377024",
        "stats dram = 1070773184 14336 1070758848 1070758848",
    };
    struct rig *rig = rig_of("n150");
    EXPECT_ALL(rig, lines);
    rig_end(rig);
}

T_TEST(a_step_tells_which_buffer_it_moved)
{
    struct rig *rig = rig_of("n150");
    const struct tts_devseq_step *step = &rig->step;
    expect(rig, "buffer l1 interleaved 100 50 as=a = 1499072");
    T_TRUE(step->has_buffer && step->buffer.placed && step->buffer.address == 1499072 &&
           step->buffer.size_bytes == 100 && step->buffer.bytes_per_bank == 64 &&
           step->buffer.block_bytes == 64 && !step->failed);
    expect(rig, "stats l1 = 1393472 64 1393408 1393408");
    T_TRUE(!step->has_buffer);
    expect(rig, "free a");
    T_TRUE(step->has_buffer && step->buffer.address == 1499072 &&
           step->buffer.size_bytes == 100);
    expect(rig, "free l1 1499072");
    T_TRUE(!step->has_buffer && !step->failed);
    expect(rig, "buffer l1 interleaved 100 50 = 1499072");
    expect(rig, "free l1 1499072");
    T_TRUE(step->has_buffer && step->buffer.pool == TTS_POOL_L1 &&
           step->buffer.block_bytes == 64);
    expect(rig, "stats l1 = 1393472 0 1393472 1393472");
    rig_end(rig);
}

T_TEST(a_buffer_that_does_not_fit_fails_as_in_the_runtime)
{
    struct rig *rig = rig_of("n150");
    char text[TTS_FAILURE_TEXT_MAX];
    expect(rig, "buffer l1 interleaved 65536000 2048 from=bottom as=low = 105664");
    expect(rig, "buffer l1 interleaved 2048 2048 from=bottom as=mid = 1129664");
    expect(rig, "free low");
    expect(rig, "buffer l1 interleaved 83886080 2048 as=x = F");
    T_TRUE(rig->step.failed && !rig->step.has_buffer);
    T_STR_EQ(
        tts_failure_text(&rig->step.failure, text),
        "Out of Memory: Not enough space to allocate 83886080 B L1 buffer across 64 banks, "
        "where each bank needs to store 1310720 B, but bank size is 1393472 B (allocated: "
        "2048 B, free: 1391424 B, largest free block: 1024000 B)");
    T_EQ(rig->run.counts.fragmented, 1);
    expect(rig, "shard l1 classic 2048 2048 shard=1000x1 cores=0-0 = F");
    /* This request failed because too few bytes are free. */
    T_EQ(rig->run.counts.fragmented, 1);
    expect(rig, "kernel 100000000000 as=y = F");
    T_EQ(rig->run.counts.buffers_failed, 3);
    T_EQ(rig->run.counts.first_failure_line, 4);
    expect(rig, "free x");
    expect(rig, "free y");
    T_EQ(rig->run.counts.frees_ignored, 2);
    T_EQ(rig->run.counts.frees_ok, 1);
    rig_end(rig);
}

T_TEST(what_the_device_cannot_take_ends_the_run)
{
    struct rig *rig = rig_of("n150");
    expect_refusal(rig, "buffer l1 interleaved 7 2", TTS_E_INVALID,
                   "the size of 7 B is not a multiple of the page size, 2 B");
    expect_refusal(rig, "buffer trace interleaved 8 8", TTS_E_NOT_FOUND,
                   "'n150' has no TRACE: set 'trace_region' to more than 0");
    expect_refusal(rig, "shard l1 classic 8 8 shard=1x1 cores=8-0", TTS_E_INVALID,
                   "core range 8-0..8-0 is outside the grid of 8x8");
    expect_refusal(rig, "shard dram classic 8 8 shard=1x1 cores=0-1", TTS_E_INVALID,
                   "core range 0-1..0-1 is outside the banks of 12x1");
    expect_refusal(rig, "stats l1_small", TTS_E_NOT_FOUND, "'n150' has no L1_SMALL");
    expect_refusal(rig, "free trace 0", TTS_E_NOT_FOUND, "'n150' has no TRACE");
    expect_refusal(rig, "room 8-0", TTS_E_INVALID, "core 8-0 is outside the grid of 'n150'");
    expect_refusal(rig, "cb 8 cores=0-8", TTS_E_INVALID,
                   "core range 0-8..0-8 is not inside the compute grid (grid 8x8)");
    expect_refusal(rig, "cb 8 cores=0-0 offset=1", TTS_E_SYNTAX, "'offset=' needs 'on='");
    expect_refusal(rig, "kernel 18446744073709551615", TTS_E_RANGE,
                   "the size of the kernel binary does not fit in 64 bits");
    rig_end(rig);
}

/* --- names ------------------------------------------------------------------------------ */

T_TEST(a_name_is_given_once_at_a_time)
{
    struct rig *rig = rig_of("n150");
    expect(rig, "buffer l1 interleaved 65536 2048 as=a = 1497088");
    expect_refusal(rig, "kernel 1 as=a", TTS_E_SYNTAX,
                   "the name 'a' belongs to a live buffer: free that buffer first");
    /* The buffer whose name was in use was not allocated. */
    expect(rig, "stats dram = 1070773184 0 1070773184 1070773184");
    expect(rig, "free a");
    expect(rig, "buffer l1 interleaved 4096 4096 as=a = 1495040");
    expect(rig, "free a");
    expect_refusal(rig, "free a", TTS_E_NOT_FOUND, "no buffer is named 'a'");
    expect_refusal(rig, "page a 0", TTS_E_NOT_FOUND, "no buffer is named 'a'");
    expect_refusal(rig, "cb 8 cores=0-0 on=a", TTS_E_NOT_FOUND, "no buffer is named 'a'");
    rig_end(rig);
}

T_TEST(a_name_whose_buffer_failed_is_given_again)
{
    struct rig *rig = rig_of("n150");
    expect(rig, "shard l1 classic 8192 2048 tensor=4x1 shard=1000x1 cores=0-0 as=a = F");
    expect(rig, "page a 3 = -");
    expect_refusal(
        rig, "cb 8 cores=0-0 on=a", TTS_E_INVALID,
        "'a' is not an allocated L1 buffer, so a circular buffer cannot use its memory");
    expect(rig, "buffer l1 interleaved 999999999 3 as=a = F");
    expect(rig, "shard dram classic 8192 2048 tensor=4x1 shard=4x1 cores=5-0 as=a = 2968640");
    expect(rig, "page a 3 = 5 - 1076716608");
    expect(rig, "free a");
    expect(rig, "shard l1 classic 8192 2048 shard=4x1 cores=0-0 as=a = 1490944");
    expect(rig, "free a");
    expect(rig, "buffer l1 interleaved 8192 2048 as=a = 1497088");
    expect(rig, "shard l1 classic 8192 2048 tensor=4x1 shard=1000x1 cores=0-0 as=b = F");
    expect(rig, "buffer l1 interleaved 8192 2048 as=b = 1495040");
    /* The buffer is interleaved; the line that failed did not change it. */
    expect(rig, "page b 0 = 0 1-4 1495040");
    rig_end(rig);
}

T_TEST(a_name_goes_with_its_buffer_when_that_is_freed_by_address)
{
    struct rig *rig = rig_of("n150");
    struct tts_pool_stats stats;
    expect(rig, "buffer l1 interleaved 2048 2048 as=a = 1497088");
    expect(rig, "free l1 1497088");
    T_TRUE(rig->step.has_buffer && rig->step.buffer.size_bytes == 2048);
    expect(rig, "buffer l1 interleaved 4096 4096 as=b = 1495040");
    expect(rig, "buffer l1 interleaved 2048 2048 as=a = 1492992");
    expect(rig, "free l1 1495040");
    expect(rig, "buffer l1 interleaved 4096 1024 as=c = 1498112");
    expect_refusal(rig, "free b", TTS_E_NOT_FOUND, "no buffer is named 'b'");
    expect(rig, "free a");
    expect(rig, "free c");
    T_TRUE(tts_device_stats(rig->device, TTS_POOL_L1, &stats));
    T_TRUE(stats.buffers == 0 && stats.space.taken_bytes == 0 && stats.peak_bytes == 6144);
    rig_end(rig);
}

T_TEST(another_buffer_at_the_old_place_is_not_freed_by_the_old_name)
{
    struct rig *rig = rig_of("n150");
    expect(rig, "buffer l1 interleaved 2048 2048 as=a = 1497088");
    expect(rig, "free l1 1497088");
    expect(rig, "buffer l1 interleaved 2048 2048 = 1497088");
    expect_refusal(rig, "free a", TTS_E_NOT_FOUND, "no buffer is named 'a'");
    expect(rig, "stats l1 = 1393472 2048 1391424 1391424");
    rig_end(rig);
}

T_TEST(nothing_is_freed_where_nothing_begins)
{
    struct rig *rig = rig_of("n150");
    expect(rig, "buffer l1 interleaved 131072 2048 = 1497088");
    expect(rig, "free l1 1497089");
    expect(rig, "free l1 1495040");
    expect(rig, "free l1 18446744073709551615");
    expect(rig, "free dram 1497088");
    T_EQ(rig->run.counts.frees_ignored, 4);
    expect(rig, "stats l1 = 1393472 2048 1391424 1391424");
    expect(rig, "buffer l1 interleaved 2048 2048 at=1497088 as=at = 1497088");
    expect(rig, "free at"); /* a buffer that was placed with at= has no block */
    expect(rig, "buffer l1 interleaved 0 2048 as=empty = -");
    expect(rig, "free empty");
    T_EQ(rig->run.counts.frees_ok, 2);
    expect(rig, "stats l1 = 1393472 2048 1391424 1391424");
    rig_end(rig);
}

/* --- pages ------------------------------------------------------------------------------ */

T_TEST(pages_are_found_in_every_layout)
{
    static const char *const lines[] = {
        "buffer dram interleaved 65536 2048 as=d = 2968640",
        "page d 0 = 0 - 2968640",
        "page d 12 = 0 - 2970688",
        "page d 13 = 1 - 1076712512", /* this is the second bank of its channel */
        "buffer l1 interleaved 8192 2048 at=0 as=zero = 0",
        "page zero 0 = 0 1-4 0",
        "shard l1 classic 16384 2048 tensor=4x2 shard=2x1 cores=2-3..3-4 as=c = 1495040",
        "shard l1 nd 16384 2048 tensor=8 shard=1 cores=2-3..3-4 as=n = 1490944",
        "shard dram nd 16384 2048 tensor=8 shard=1 cores=0-0+2-0 as=s = 2974784",
        "page s 7 = 2 - 2980928",
    };
    struct rig *rig = rig_of("n150");
    const struct tts_devseq_result *result = &rig->step.line.result;
    EXPECT_ALL(rig, lines);
    expect(rig, "shard l1 grid 8192 2048 tensor=2x2 shard=1x1 cores=2-3..7-7 order=column as=g "
                "= 1488896");
    static const struct {
        const char *line;
        uint16_t x, y;
        uint64_t address;
    } pages[] = {
        /* Pages follow the rows of the tensor. Shards follow the rows of the cores. */
        {"page c 0", 2, 3, 1495040}, {"page c 1", 3, 3, 1495040}, {"page c 2", 2, 3, 1497088},
        {"page c 4", 2, 4, 1495040}, {"page c 7", 3, 4, 1497088}, {"page n 0", 2, 3, 1490944},
        {"page n 1", 3, 3, 1490944}, {"page n 6", 2, 4, 1492992}, {"page g 1", 2, 4, 1488896},
        {"page g 2", 3, 3, 1488896},
    };
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        T_EQ(run_text(rig, pages[i].line), TTS_OK);
        T_TRUE(result->has_core && result->outcome == TTS_DEVSEQ_DONE);
        T_TRUE(result->core.x == pages[i].x && result->core.y == pages[i].y);
        T_EQ(result->value[1], pages[i].address);
        T_EQ(result->value[0],
             tts_device_map(rig->device)->bank_of_core[pages[i].y * 8 + pages[i].x]);
    }
    rig_end(rig);
}

T_TEST(pages_that_cannot_be_told_are_said_to_be)
{
    struct rig *rig = rig_of("n150");
    expect(rig, "buffer l1 interleaved 8192 2048 as=a = 1497088");
    expect_refusal(rig, "page a 4", TTS_E_RANGE, "'a' has 4 pages: there is no page 4");
    expect(rig, "kernel 2048 as=k = 1073739776");
    expect_refusal(rig, "page k 0", TTS_E_INVALID,
                   "'k' has no page size, so its pages have no addresses");
    expect(rig, "shard l1 classic 8192 2048 shard=4x1 cores=0-0 as=s = 1488896");
    expect_refusal(rig, "page s 0", TTS_E_NOT_FOUND,
                   "the pages of buffer 's' are unknown: give 'tensor='");
    /* A tensor of 3x3 pages needs four shards, but only three cores are given. */
    expect_refusal(rig, "shard l1 classic 18432 2048 tensor=3x3 shard=2x2 cores=0-0..2-0 as=t",
                   TTS_E_INVALID, "the buffer has 4 shards, but only 3 cores");
    rig_end(rig);
}

/* --- circular buffers ------------------------------------------------------------------- */

T_TEST(circular_buffers_are_laid_out_by_program)
{
    static const char *const lines[] = {
        "program 1",
        "cb 1000 cores=0-0..3-3 index=0,5 page=500 = 105664",
        "cb 1000 cores=0-0..3-3 = 106688",
        "cb 8 cores=7-7 index=0 = 105664",
        "room 0-0 = 107688 1499136 1391448",
        "room 7-7 = 105672 1499136 1393464",
        "room 6-6 = 105664 1499136 1393472",
        "run = ok",
        "buffer l1 interleaved 2048 2048 as=a = 1497088",
        "room 0-0 = 107688 1497088 1389400",
        "program 2",
        "room 0-0 = 105664 1497088 1391424",
        "cb 1391424 cores=0-0 = 105664",
        "run = ok",
        "cb 1 cores=0-0 = 1497088",
        "run = F",
        "room 0-0 = 1497089 1497088 0",
        "free a",
        "run = ok",
        "cb 4096 cores=0-0 = 1497120",
        "run = F",
    };
    struct rig *rig = rig_of("n150");
    EXPECT_ALL(rig, lines);
    T_TRUE(rig->step.failed && rig->step.failure.kind == TTS_FAILURE_CB_BEYOND);
    const struct tts_devseq_counts *counts = &rig->run.counts;
    T_TRUE(counts->programs == 2 && counts->cbs == 6 && counts->runs_ok == 3 &&
           counts->runs_failed == 2 && counts->queries == 6);
    T_EQ(counts->first_failure_line, 16);
    T_EQ(tts_device_first_failure(rig->device)->kind, TTS_FAILURE_CB_CLASH);
    T_EQ(tts_device_first_failure(rig->device)->program_id, 2);
    expect_refusal(rig, "cb 8 cores=0-0 index=3,3", TTS_E_INVALID,
                   "buffer index 3 is named twice");
    T_EQ(counts->cbs, 6);
    rig_end(rig);
}

T_TEST(a_circular_buffer_can_lie_on_an_l1_buffer)
{
    struct rig *rig = rig_of("n150");
    expect(rig, "buffer l1 interleaved 262144 2048 as=a = 1495040");
    expect(rig, "buffer dram interleaved 2048 2048 as=d = 2968640");
    expect(rig, "cb 1024 cores=0-0 index=3 on=a offset=3072 = 1498112");
    expect(rig, "cb 4096 cores=0-0 index=4 on=a = 1495040");
    /* The circular buffer lies in a buffer, so it needs no room of its own. */
    expect(rig, "room 0-0 = 105664 1495040 1389376");
    expect_refusal(rig, "cb 1025 cores=0-0 on=a offset=3072", TTS_E_INVALID,
                   "the circular buffer is larger than the part of 'a' in a bank");
    expect_refusal(rig, "cb 1 cores=0-0 on=a offset=4097", TTS_E_INVALID,
                   "the circular buffer is larger than the part of 'a' in a bank");
    expect_refusal(
        rig, "cb 8 cores=0-0 on=d", TTS_E_INVALID,
        "'d' is not an allocated L1 buffer, so a circular buffer cannot use its memory");
    expect(rig, "buffer l1 interleaved 2048 2048 at=18446744073709551615 as=top = "
                "18446744073709551615");
    expect_refusal(rig, "cb 8 cores=0-0 on=top offset=8", TTS_E_RANGE,
                   "the end of the circular buffer does not fit in 64 bits");
    T_EQ(rig->run.counts.cbs, 2);
    rig_end(rig);
}

/* --- regions and traces ----------------------------------------------------------------- */

T_TEST(l1_small_is_at_the_top_of_l1_and_for_shards)
{
    struct rig *rig = rig_with_regions(TTS_MODE_PLACE);
    expect(rig, "stats l1_small = 32768 0 32768 32768");
    expect(rig, "room 0-0 = 105664 1466368 1360704");
    expect(rig, "shard l1_small classic 2048 2048 shard=1x1 cores=0-0 as=a = 1497088");
    expect(rig, "buffer l1 interleaved 2048 2048 = 1464320");
    expect(rig, "room 0-0 = 105664 1464320 1358656");
    expect_refusal(rig, "buffer l1_small interleaved 2048 2048", TTS_E_INVALID,
                   "L1_SMALL accepts only sharded buffers: shard the buffer");
    expect(rig, "free l1_small 1497088");
    expect(rig, "stats l1_small = 32768 0 32768 32768");
    rig_end(rig);
}

T_TEST(a_trace_goes_to_its_region_and_what_is_freed_is_free_again)
{
    struct rig *rig = rig_with_regions(TTS_MODE_PLACE);
    expect(rig, "stats trace = 90112 0 90112 90112");
    expect(rig, "capture");
    expect(rig, "trace 589824 as=t = 1073651712");
    expect(rig, "stats trace = 90112 49152 40960 40960");
    expect(rig, "trace 589824 as=u = F");
    T_EQ(rig->step.failure.kind, TTS_FAILURE_TRACE);
    expect(rig, "free trace 1073651712");
    expect(rig, "trace 589824 as=u = 1073651712");
    /* A buffer in the pool TRACE is not a trace, so freeing it leaves the room for traces
     * unchanged. */
    expect(rig, "buffer trace interleaved 24576 2048 as=b = 1073700864");
    expect(rig, "free b");
    expect(rig, "trace 589824 as=v = F");
    expect(rig, "free u");
    expect(rig, "trace 589824 as=v = 1073651712");
    T_EQ(rig->run.counts.captures, 1);
    rig_end(rig);
}

T_TEST(without_a_region_a_trace_lies_above_what_its_capture_used)
{
    struct rig *rig = rig_of("n150");
    expect(rig, "buffer dram interleaved 24576 2048 as=w = 2968640");
    expect(rig, "capture");
    expect(rig, "buffer dram interleaved 24576 2048 = 2970688");
    expect(rig, "trace 98304 as=t = 1073733632");
    expect(rig, "capture");
    expect(rig, "buffer dram interleaved 24576 2048 from=top as=high = 1073731584");
    expect(rig, "trace 98304 as=u = F");
    expect(
        rig,
        "stats dram = 1070773184 14336 1070758848 1070758848"); /* no memory stayed allocated */
    rig_end(rig);
}

/* --- modes ------------------------------------------------------------------------------ */

T_TEST(without_dispatch_all_is_counted_and_nothing_fails)
{
    struct tts_chip chip = chip_of("n150");
    struct rig *rig = rig_on(&chip, TTS_MODE_NO_DISPATCH);
    expect(rig, "buffer l1 interleaved 83886080 2048 as=a = -");
    T_TRUE(rig->step.has_buffer && !rig->step.buffer.placed);
    expect(rig, "buffer l1 interleaved 83886080 2048 as=b = -");
    expect(rig, "buffer l1 interleaved 2048 2048 at=5 as=c = 5");
    expect(rig, "page a 0 = -");
    expect(rig, "stats l1 = 1393472 0 1393472 1393472");
    expect(rig, "free a");
    expect(rig, "cb 9999999 cores=0-0 = 105664");
    expect(rig, "run = ok");
    const struct tts_devseq_counts *counts = &rig->run.counts;
    T_TRUE(counts->buffers_not_placed == 2 && counts->buffers_ok == 1 &&
           counts->buffers_failed == 0 && counts->frees_ok == 1);
    T_TRUE(counts->peak_bytes[TTS_POOL_L1] == 2621440 && counts->peak_line[TTS_POOL_L1] == 2);
    rig_end(rig);
}

T_TEST(overcommitted_what_does_not_fit_is_counted_and_said)
{
    struct tts_chip chip = chip_of("n150");
    struct rig *rig = rig_on(&chip, TTS_MODE_OVERCOMMIT);
    expect(rig, "buffer l1 interleaved 83886080 2048 as=a = 188416");
    expect(rig, "buffer l1 interleaved 83886080 2048 as=b = -");
    T_TRUE(rig->step.failed && rig->step.has_buffer &&
           rig->step.failure.kind == TTS_FAILURE_SPACE);
    expect(rig, "stats l1 = 1393472 1310720 82752 82752");
    expect(rig, "cb 200000 cores=0-0 = 105664");
    expect(rig, "run = F");
    expect(rig, "free b");
    expect(rig, "free a");
    const struct tts_devseq_counts *counts = &rig->run.counts;
    T_TRUE(counts->buffers_ok == 1 && counts->buffers_not_placed == 1 &&
           counts->buffers_failed == 0 && counts->runs_failed == 1 && counts->frees_ok == 2);
    T_EQ(counts->first_failure_line, 2);
    T_TRUE(counts->peak_bytes[TTS_POOL_L1] == 2621440 && counts->peak_line[TTS_POOL_L1] == 2);
    rig_end(rig);
}

/* --- counts ----------------------------------------------------------------------------- */

T_TEST(what_happened_is_counted_once)
{
    static const char *const lines[] = {
        "buffer l1 interleaved 131072 2048 as=a = 1497088",
        "buffer l1 interleaved 262144 2048 as=b = 1492992",
        "free a",
        "buffer l1 interleaved 131072 2048 = 1497088", /* this reaches the same peak again */
        "buffer dram interleaved 2048 2048 = 2968640",
        "kernel 4096 = 1073739776",
        "buffer l1 interleaved 0 0 = -",
        "buffer l1 interleaved 131072 2048 at=4 = 4",
        "free b",
        "free l1 1",
        "capture",
        "idle 200",
        "program 3",
        "cb 8 cores=0-0 = 105664",
        "run = ok",
        "stats l1 = 1393472 2048 1391424 1391424",
        "room 0-0 = 105672 1497088 1391416",
        "buffer l1 interleaved 1000000000 8 = F",
    };
    struct rig *rig = rig_of("n150");
    EXPECT_ALL(rig, lines);
    const struct tts_devseq_counts *counts = &rig->run.counts;
    T_EQ(counts->operations, sizeof lines / sizeof lines[0]);
    T_EQ(counts->buffers_ok, 6);
    T_EQ(counts->buffers_not_placed, 1);
    T_EQ(counts->buffers_failed, 1);
    T_EQ(counts->buffers_below_limit, 0);
    T_EQ(counts->fragmented, 0);
    T_EQ(counts->frees_ok, 2);
    T_EQ(counts->frees_ignored, 1);
    T_TRUE(counts->programs == 1 && counts->cbs == 1 && counts->runs_ok == 1 &&
           counts->runs_failed == 0 && counts->captures == 1 && counts->idles == 1 &&
           counts->queries == 2);
    T_EQ(counts->first_failure_line, 18);
    T_EQ(counts->peak_bytes[TTS_POOL_L1], 6144);
    T_EQ(counts->peak_line[TTS_POOL_L1], 2); /* the first line that reached the peak */
    T_EQ(counts->peak_bytes[TTS_POOL_DRAM], 4096);
    T_EQ(counts->peak_line[TTS_POOL_DRAM], 6);
    T_EQ(counts->peak_line[TTS_POOL_TRACE], 0);
    rig_end(rig);
}

T_TEST(a_stated_result_is_not_looked_at)
{
    struct rig *rig = rig_of("n150");
    T_EQ(run_text(rig, "buffer l1 interleaved 2048 2048 = F"), TTS_OK);
    T_TRUE(rig->step.line.result.outcome == TTS_DEVSEQ_DONE &&
           rig->step.line.result.value[0] == 1497088);
    T_EQ(run_text(rig, "run = F"), TTS_OK);
    T_EQ(rig->step.line.result.outcome, TTS_DEVSEQ_DONE);
    T_EQ(run_text(rig, "run"), TTS_OK);
    T_TRUE(rig->step.line.has_result);
    T_EQ(run_text(rig, "program 1"), TTS_OK);
    T_TRUE(!rig->step.line.has_result);
    rig_end(rig);
}

T_TEST(the_same_sequence_runs_on_other_chips)
{
    struct rig *rig = rig_of("p150");
    T_EQ(run_text(rig, "buffer dram interleaved 2097152 2048 as=w"), TTS_OK);
    uint64_t address = rig->step.line.result.value[0];
    T_EQ(address, tts_device_layout(rig->device, TTS_POOL_DRAM)->offset_bytes);
    T_EQ(run_text(rig, "buffer l1 interleaved 266240 2048 as=h"), TTS_OK);
    const struct tts_pool_layout *l1 = tts_device_layout(rig->device, TTS_POOL_L1);
    T_EQ(rig->step.line.result.value[0],
         l1->offset_bytes + l1->bank_bytes - (130 + l1->banks - 1) / l1->banks * 2048);
    rig_end(rig);
}

T_TEST(without_a_known_grid_there_is_only_dram)
{
    struct rig *rig = rig_of("galaxy-blackhole");
    static const char message[] = "the grid of 'galaxy-blackhole' is unknown: set 'grid'";
    T_EQ(run_text(rig, "buffer dram interleaved 2097152 2048 as=w"), TTS_OK);
    expect_refusal(rig, "page w 0", TTS_E_NOT_FOUND, message);
    expect_refusal(rig, "room 0-0", TTS_E_NOT_FOUND, message);
    T_TRUE(run_text(rig, "cb 8 cores=0-0") != TTS_OK);
    T_TRUE(run_text(rig, "run") != TTS_OK);
    T_TRUE(run_text(rig, "buffer l1 interleaved 2048 2048") != TTS_OK);
    rig_end(rig);
}

/* --- memory ----------------------------------------------------------------------------- */

/* Runs a sequence with every kind of allocation. Returns the status of the last line that was
 * run. */
static enum tts_status run_all(const struct heap *heap)
{
    static const char *const lines[] = {
        "buffer dram interleaved 2097152 2048 as=weight",
        "buffer l1 interleaved 65536 2048 as=hidden",
        "shard l1 classic 262144 2048 tensor=128x1 shard=2x1 cores=0-0..7-7 as=scores",
        "shard l1 classic 262144 2048 shard=9999x1 cores=0-0..7-7 as=failed",
        "buffer l1 interleaved 65536 2048 as=failed",
        "program 7",
        "cb 8192 cores=0-0..7-7 index=0 page=2048",
        "cb 2048 cores=0-0..3-3 index=1 page=2048 on=hidden",
        "run",
        "kernel 100000 as=kernel",
        "capture",
        "trace 100000 as=trace",
        "idle 3",
        "page scores 3",
        "free hidden",
        "free dram 2968640",
        "free trace",
    };
    struct tts_chip chip = chip_of("n150");
    struct tts_device *device;
    struct tts_devseq_run run;
    struct tts_error err = {0};
    enum tts_status status = tts_device_new(&chip, NULL, &heap->alloc, &device, &err);
    if (status != TTS_OK)
        return status;
    tts_devseq_run_init(&run, device, &heap->alloc);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0] && status == TTS_OK; i++) {
        struct tts_devseq_line line;
        struct tts_devseq_step step;
        T_EQ(tts_devseq_parse(lines[i], strlen(lines[i]), &line, &err), TTS_OK);
        status = tts_devseq_run_line(&run, &line, i + 1, &step, &err);
    }
    for (unsigned i = 0; status == TTS_OK && i < 20; i++) { /* makes the table of names grow */
        struct tts_devseq_line line = {.kind = TTS_DEVSEQ_KERNEL, .bytes = 8};
        struct tts_devseq_step step;
        snprintf(line.name.text, sizeof line.name.text, "k%u", i);
        status = tts_devseq_run_line(&run, &line, 100 + i, &step, &err);
    }
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        const struct tts_banks *banks = tts_device_pool(device, (enum tts_pool)pool);
        T_TRUE(!banks || tts_banks_is_valid(banks));
    }
    tts_devseq_run_release(&run);
    tts_devseq_run_release(&run); /* a second release is allowed */
    tts_device_free(device);
    return status;
}

T_TEST(memory_that_runs_out_anywhere_ends_the_run_cleanly)
{
    struct heap heap;
    heap_init(&heap);
    T_EQ(run_all(&heap), TTS_OK);
    T_TRUE(heap_is_settled(&heap));
    uint64_t calls = heap.calls;
    T_TRUE(calls >= 10);
    for (uint64_t n = 1; n <= calls; n++) {
        heap_init(&heap);
        heap.fail_at = n;
        enum tts_status status = run_all(&heap);
        T_TRUE(status == TTS_E_NOMEM || (status == TTS_OK && heap.failed == 1));
        T_TRUE(heap_is_settled(&heap));
    }
}
