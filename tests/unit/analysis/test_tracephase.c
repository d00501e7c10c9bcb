#include "analysis/questions/tracephase.h"
#include "harness/t.h"

#include <string.h>

#define MB UINT64_C(1048576)
#define SECOND UINT64_C(1000000000)

/* The published phases: megabytes of TRACE, data and code, and what the program says. */
static struct tts_tracesample sample_of(int second, uint64_t trace, uint64_t data,
                                        uint64_t code)
{
    return (struct tts_tracesample){.time_ns = (uint64_t)second * SECOND,
                                    .trace_known = true,
                                    .code_known = true,
                                    .trace_bytes = trace * MB,
                                    .data_bytes = data * MB,
                                    .code_bytes = code * MB};
}

static enum tts_tracephase feed(struct tts_tracephases *phases, struct tts_tracesample sample,
                                uint32_t depth, uint64_t traces)
{
    sample.depth = depth;
    sample.traces = traces;
    (void)tts_tracephases_feed(phases, &sample);
    return tts_livephases_now(&phases->answer);
}

static void check_row(const struct tts_tracerow *row, uint64_t total, int64_t change)
{
    T_EQ((row->trace_bytes + row->data_bytes + row->code_bytes) / MB, total);
    T_EQ(row->change_bytes / (int64_t)MB, change);
}

T_TEST(the_published_phases_have_their_numbers)
{
    struct tts_tracephases phases = {0};
    T_EQ(feed(&phases, sample_of(0, 0, 0, 0), 0, 0), TTS_TRACEPHASE_INIT);
    T_EQ(feed(&phases, sample_of(1, 128, 0, 5), 1, 0), TTS_TRACEPHASE_CAPTURE_START);
    T_EQ(feed(&phases, sample_of(2, 128, 30, 5), 1, 0), TTS_TRACEPHASE_CAPTURE_DATA);
    T_EQ(feed(&phases, sample_of(3, 128, 80, 5), 1, 0), TTS_TRACEPHASE_CAPTURE_DATA);
    T_EQ(feed(&phases, sample_of(4, 128, 80, 12), 1, 0), TTS_TRACEPHASE_CAPTURE_KERNELS);
    T_EQ(feed(&phases, sample_of(5, 128, 80, 12), 0, 1), TTS_TRACEPHASE_EXECUTION);
    T_TRUE(phases.answer.is_new);
    T_EQ(feed(&phases, sample_of(6, 128, 80, 12), 0, 1), TTS_TRACEPHASE_EXECUTION);
    T_TRUE(!phases.answer.is_new);
    T_EQ(phases.answer.row_count, 5);
    const struct tts_tracerow *rows = phases.answer.rows;
    T_TRUE(!rows[0].change_known && rows[1].change_known);
    check_row(&rows[0], 0, 0);
    check_row(&rows[1], 133, 133);
    check_row(&rows[2], 213, 80);
    check_row(&rows[3], 220, 7);
    check_row(&rows[4], 220, 0);
    T_TRUE(phases.answer.is_replay_seen);
    T_EQ(phases.answer.steady_ns, SECOND);
}

T_TEST(a_trace_buffer_at_the_end_ends_the_capture)
{
    struct tts_tracephases phases = {0};
    T_EQ(feed(&phases, sample_of(0, 0, 10, 5), 0, 0), TTS_TRACEPHASE_INIT);
    T_EQ(feed(&phases, sample_of(1, 0, 20, 5), 1, 0), TTS_TRACEPHASE_CAPTURE_START);
    T_EQ(feed(&phases, sample_of(2, 128, 20, 5), 0, 1), TTS_TRACEPHASE_CAPTURE_END);
    T_EQ(feed(&phases, sample_of(3, 128, 21, 5), 0, 1), TTS_TRACEPHASE_CAPTURE_END);
    T_EQ(feed(&phases, sample_of(4, 128, 21, 5), 0, 1), TTS_TRACEPHASE_EXECUTION);
    T_EQ(feed(&phases, sample_of(5, 128, 25, 5), 0, 1), TTS_TRACEPHASE_EXECUTION);
    T_EQ(feed(&phases, sample_of(6, 0, 0, 0), 0, 1), TTS_TRACEPHASE_IDLE);
    T_EQ(feed(&phases, sample_of(7, 0, 0, 0), 1, 1), TTS_TRACEPHASE_CAPTURE_START);
}

T_TEST(l1_that_grows_by_small_buffers_only_is_taken_for_kernels)
{
    struct tts_tracephases phases = {0};
    struct tts_tracesample sample = sample_of(0, 128, 5, 0);
    sample.large_known = true;
    sample.large_buffers = 1;
    T_EQ(feed(&phases, sample, 1, 0), TTS_TRACEPHASE_CAPTURE_START);
    sample.data_bytes += MB;
    sample.large_buffers = 2;
    T_EQ(feed(&phases, sample, 1, 0), TTS_TRACEPHASE_CAPTURE_DATA);
    sample.data_bytes += MB;
    T_EQ(feed(&phases, sample, 1, 0), TTS_TRACEPHASE_CAPTURE_KERNELS);
    sample.data_bytes += MB;
    sample.large_known = false; /* the sizes are unknown: not taken for kernels */
    T_EQ(feed(&phases, sample, 1, 0), TTS_TRACEPHASE_CAPTURE_DATA);
}

T_TEST(a_capture_between_two_samples_is_seen)
{
    struct tts_tracephases phases = {0};
    T_EQ(feed(&phases, sample_of(0, 0, 10, 5), 0, 0), TTS_TRACEPHASE_INIT);
    T_EQ(feed(&phases, sample_of(1, 128, 20, 5), 0, 1), TTS_TRACEPHASE_CAPTURE_END);
    T_EQ(feed(&phases, sample_of(2, 128, 20, 5), 0, 1), TTS_TRACEPHASE_EXECUTION);
}

T_TEST(a_reader_that_comes_later_sees_the_execution)
{
    struct tts_tracephases phases = {0};
    T_EQ(feed(&phases, sample_of(0, 128, 48, 0), 0, 1), TTS_TRACEPHASE_EXECUTION);
    T_EQ(feed(&phases, sample_of(1, 128, 48, 0), 0, 1), TTS_TRACEPHASE_EXECUTION);
    T_EQ(phases.answer.row_count, 1);
}

T_TEST(counters_alone_say_capture_at_a_step_in_trace_only)
{
    struct tts_tracephases phases = {0};
    struct tts_tracesample sample = {.time_ns = SECOND, .other_bytes = 5};
    T_TRUE(tts_tracephases_feed(&phases, &sample));
    T_EQ(tts_livephases_now(&phases.answer), TTS_TRACEPHASE_UNKNOWN);
    sample.data_bytes = 80 * MB;
    T_TRUE(!tts_tracephases_feed(&phases, &sample));
    sample.trace_bytes = 128 * MB;
    sample.time_ns = 2 * SECOND;
    T_TRUE(tts_tracephases_feed(&phases, &sample));
    T_EQ(tts_livephases_now(&phases.answer), TTS_TRACEPHASE_CAPTURE_START);
    sample.time_ns = 12 * SECOND;
    T_TRUE(tts_tracephases_feed(&phases, &sample));
    T_EQ(tts_livephases_now(&phases.answer), TTS_TRACEPHASE_UNKNOWN);
    T_EQ(phases.answer.steady_ns, 10 * SECOND);
    T_TRUE(phases.answer.is_replay_seen);
    sample = (struct tts_tracesample){.time_ns = 13 * SECOND};
    T_TRUE(tts_tracephases_feed(&phases, &sample));
    T_EQ(tts_livephases_now(&phases.answer), TTS_TRACEPHASE_IDLE);
}

T_TEST(a_change_of_counts_is_a_change)
{
    struct tts_tracephases phases = {0};
    struct tts_tracesample sample = sample_of(1, 128, 80, 5);
    sample.traces = 1;
    (void)tts_tracephases_feed(&phases, &sample);
    sample.time_ns = 5 * SECOND;
    sample.changes = 2; /* allocated and freed in between */
    (void)tts_tracephases_feed(&phases, &sample);
    T_EQ(phases.answer.steady_ns, 0);
}

T_TEST(many_phases_keep_the_first_and_the_last)
{
    struct tts_tracephases phases = {0};
    T_EQ(feed(&phases, sample_of(0, 0, 0, 1), 0, 0), TTS_TRACEPHASE_INIT);
    for (int i = 0; i < 40; i++) {
        (void)feed(&phases, sample_of(3 * i + 1, 1, (uint64_t)i, 1), 1, (uint64_t)i);
        (void)feed(&phases, sample_of(3 * i + 2, 1, (uint64_t)i, 1), 0, (uint64_t)i + 1);
    }
    T_EQ(phases.answer.row_count, TTS_LIVEPHASE_ROWS);
    T_EQ(phases.answer.rows_left_out, 81 - TTS_LIVEPHASE_ROWS);
    T_EQ(phases.answer.rows[0].phase, TTS_TRACEPHASE_INIT);
    T_EQ(phases.answer.rows[0].begin_ns, 0);
    T_EQ(phases.answer.rows[TTS_LIVEPHASE_ROWS - 1].begin_ns, 119 * SECOND);
    for (size_t i = 1; i < TTS_LIVEPHASE_ROWS; i++)
        T_TRUE(phases.answer.rows[i].begin_ns > phases.answer.rows[i - 1].begin_ns);
}

T_TEST(foreign_numbers_do_not_wrap)
{
    struct tts_tracephases phases = {0};
    struct tts_tracesample sample = {.trace_known = true, .code_known = true};
    (void)tts_tracephases_feed(&phases, &sample);
    sample.trace_bytes = sample.data_bytes = sample.code_bytes = UINT64_MAX;
    sample.depth = 1;
    (void)tts_tracephases_feed(&phases, &sample);
    T_EQ(phases.answer.row_count, 2);
    T_TRUE(!phases.answer.rows[1].change_known);
}

T_TEST(each_phase_has_a_word_and_a_name)
{
    T_TRUE(tts_tracephase_word(TTS_TRACEPHASE_UNKNOWN) == NULL);
    for (int i = 1; i < TTS_TRACEPHASES; i++)
        T_TRUE(tts_tracephase_word((enum tts_tracephase)i)[0] != '\0');
    T_STR_EQ(tts_tracephase_name(TTS_TRACEPHASE_CAPTURE_DATA), "Capture (Data)");
    T_STR_EQ(tts_tracephase_word(TTS_TRACEPHASE_CAPTURE_KERNELS), "capture_kernels");
    T_STR_EQ(tts_tracephase_name(TTS_TRACEPHASE_UNKNOWN), "unknown");
}
