/* Tests a follower on a device whose buffers the test allocates itself. */
#include "harness/t.h"
#include "harness/whatif_rig.h"
#include "plan/fit_follow.h"

#define PAGE UINT64_C(2048)
#define BANKS 12
#define ROW (PAGE * BANKS) /* the bytes of one page in each bank */

struct drive {
    struct tts_device *device;
    struct tts_fit_follow follow;
    struct tts_workload_watch watch;
    struct tts_buffer buffers[16];
};

/* Creates a device with `pages` pages in each bank. */
static struct drive *drive_on(struct drive *d, uint64_t pages)
{
    struct tts_chip chip = small_chip(pages * PAGE);
    *d = (struct drive){.device = NULL};
    T_EQ(tts_device_new(&chip, &(struct tts_device_config){.mode = TTS_MODE_OVERCOMMIT}, NULL,
                        &d->device, NULL),
         TTS_OK);
    tts_fit_follow_begin(&d->follow, d->device);
    d->watch = tts_fit_follow_watch(&d->follow);
    return d;
}

static void take(struct drive *d, int buffer, uint64_t bytes)
{
    struct tts_request request = {
        .pool = TTS_POOL_DRAM, .size_bytes = bytes, .page_bytes = PAGE};
    T_EQ(tts_device_alloc(d->device, &request, &d->buffers[buffer], NULL), TTS_OK);
}

static void give(struct drive *d, int buffer)
{
    T_EQ(tts_device_release(d->device, &d->buffers[buffer]), TTS_OK);
}

static void op(struct drive *d, const char *name, int32_t layer)
{
    d->watch.op_begin(d->watch.ctx, name, layer);
}

static void op_end(struct drive *d)
{
    d->watch.op_end(d->watch.ctx);
}

static void phase(struct drive *d, const char *name)
{
    d->watch.phase(d->watch.ctx, name);
}

static void stop(struct drive *d)
{
    T_EQ(tts_fit_follow_end(&d->follow, d->device, NULL), TTS_OK);
    T_TRUE(!tts_device_is_observed(d->device));
    tts_device_free(d->device);
}

T_TEST(the_peak_is_when_the_most_was_first_reached_with_what_was_under_way)
{
    struct drive d;
    drive_on(&d, 100);
    take(&d, 0, 2 * ROW);
    phase(&d, "MODEL_CREATION");
    op(&d, "matmul", 3);
    take(&d, 1, 3 * ROW);
    op_end(&d);
    give(&d, 1);
    op(&d, "add", 4);
    take(&d, 2, 3 * ROW); /* this reaches the same peak again */
    op_end(&d);
    phase(&d, "FORWARD_PASS");
    T_EQ(d.follow.peak.bytes, 5 * ROW);
    T_EQ(d.follow.peak.allocation, 2);
    T_STR_EQ(d.follow.peak.op, "matmul");
    T_EQ(d.follow.peak.layer, 3);
    T_STR_EQ(d.follow.peak.phase, "FORWARD_PASS");
    take(&d, 3, PAGE);
    phase(&d, "BACKWARD_PASS");
    T_EQ(d.follow.peak.bytes, 5 * ROW + PAGE);
    T_TRUE(d.follow.peak.op == NULL && d.follow.peak.layer == TTS_LAYER_NONE);
    T_STR_EQ(d.follow.peak.phase, "BACKWARD_PASS");
    T_EQ(d.follow.events, 5);
    stop(&d);
    T_TRUE(d.follow.placement.banks == BANKS && d.follow.placement.bank_bytes == 100 * PAGE);
    T_EQ(d.follow.placement.peak_bank_bytes, 6 * PAGE);
    T_EQ(d.follow.placement.failures, 0);
    T_EQ(d.follow.placement.free_bytes, 94 * PAGE);
}

T_TEST(the_second_iteration_has_a_peak_of_its_own_from_what_the_first_leaves)
{
    struct drive d;
    drive_on(&d, 100);
    take(&d, 0, 5 * ROW);
    give(&d, 0);
    take(&d, 1, 2 * ROW);
    phase(&d, TTS_PHASE_FIRST_ITERATION);
    T_TRUE(d.follow.first_peak_bytes == 5 * ROW && d.follow.final_bytes == 2 * ROW);
    T_EQ(d.follow.later_peak_bytes, 2 * ROW);
    take(&d, 2, ROW);
    T_EQ(d.follow.later_peak_bytes, 3 * ROW);
    phase(&d, TTS_PHASE_LATER_ITERATION "2");
    T_STR_EQ(d.follow.peak.phase, TTS_PHASE_FIRST_ITERATION);
    T_EQ(d.follow.peak.bytes, 5 * ROW);
    take(&d, 3, 4 * ROW);
    phase(&d, TTS_PHASE_LATER_ITERATION "2");
    T_TRUE(d.follow.peak.bytes == 7 * ROW && d.follow.later_peak_bytes == 7 * ROW);
    T_EQ(d.follow.first_peak_bytes, 5 * ROW);
    T_STR_EQ(d.follow.peak.phase, TTS_PHASE_LATER_ITERATION "2");
    stop(&d);
}

T_TEST(what_the_first_forward_pass_adds_is_what_it_keeps)
{
    struct drive d;
    drive_on(&d, 100);
    take(&d, 0, 5 * ROW);
    phase(&d, "MODEL_CREATION");
    take(&d, 1, 3 * ROW);
    take(&d, 2, ROW);
    give(&d, 2);
    phase(&d, "FORWARD_PASS_micro_0");
    T_EQ(d.follow.kept_bytes, 3 * ROW);
    take(&d, 2, 9 * ROW);
    phase(&d, "FORWARD_PASS_micro_1");
    T_EQ(d.follow.kept_bytes, 3 * ROW);
    stop(&d);
}

T_TEST(a_forward_pass_that_only_frees_keeps_nothing)
{
    struct drive d;
    drive_on(&d, 100);
    take(&d, 0, 5 * ROW);
    phase(&d, "MODEL_CREATION");
    give(&d, 0);
    phase(&d, "FORWARD_PASS");
    take(&d, 0, 5 * ROW);
    phase(&d, "FORWARD_PASS");
    T_EQ(d.follow.kept_bytes, 0);
    stop(&d);
}

T_TEST(the_first_refusal_is_the_one_that_is_told)
{
    struct drive d;
    drive_on(&d, 10);
    take(&d, 0, 4 * ROW);
    phase(&d, "MODEL_CREATION");
    op(&d, "softmax", 7);
    take(&d, 1, 8 * ROW);
    op_end(&d);
    op(&d, "add", 8);
    take(&d, 2, 9 * ROW);
    op_end(&d);
    phase(&d, "FORWARD_PASS");
    op(&d, "mul", 9);
    take(&d, 3, 9 * ROW);
    op_end(&d);
    phase(&d, "BACKWARD_PASS");
    take(&d, 4, ROW); /* this fits and stays below the peak */
    stop(&d);
    const struct tts_fit_placement *placement = &d.follow.placement;
    T_EQ(placement->failures, 3);
    T_STR_EQ(placement->first.op, "softmax");
    T_EQ(placement->first.layer, 7);
    T_STR_EQ(placement->first.phase, "FORWARD_PASS");
    T_EQ(placement->first.failure.requested_bytes, 8 * ROW);
    T_EQ(placement->first.failure.free_bytes, 6 * PAGE);
    T_TRUE(placement->free_bytes == 6 * PAGE && placement->largest_free_bytes == 6 * PAGE);
    T_EQ(placement->peak_bank_bytes, 31 * PAGE);
    T_EQ(d.follow.peak.bytes, 31 * ROW);
}

T_TEST(holes_are_seen_at_the_peak_and_at_a_refusal)
{
    struct drive d;
    drive_on(&d, 10);
    for (int i = 0; i < 5; i++)
        take(&d, i, 2 * ROW);
    T_TRUE(d.follow.placement.free_bytes == 0 && d.follow.peak.bytes == 10 * ROW);
    give(&d, 0);
    give(&d, 2);
    T_EQ(d.follow.placement.free_bytes, 0); /* the free bytes at the time of the peak */
    take(&d, 5, 3 * ROW);                   /* there are enough free bytes, but in two ranges */
    stop(&d);
    const struct tts_fit_placement *placement = &d.follow.placement;
    T_TRUE(placement->failures == 1 && placement->peak_bank_bytes <= placement->bank_bytes);
    T_EQ(placement->free_bytes, 4 * PAGE);
    T_EQ(placement->largest_free_bytes, 2 * PAGE);
}

T_TEST(a_page_too_few_for_all_banks_takes_one_of_each_and_counts_as_it_is)
{
    struct drive d;
    drive_on(&d, 10);
    take(&d, 0, PAGE);
    stop(&d);
    T_EQ(d.follow.peak.bytes, PAGE);
    T_EQ(d.follow.placement.peak_bank_bytes, PAGE);
}

static struct tts_tracker *tracker_of(struct drive *d)
{
    struct tts_tracker *tracker;
    T_EQ(tts_tracker_new(&(struct tts_tracker_config){.live_max = 64, .devices_max = 2}, NULL,
                         &tracker, NULL),
         TTS_OK);
    d->follow.tracker = tracker;
    T_EQ(tts_capture_new(tracker, &d->follow.capture, NULL), TTS_OK);
    T_EQ(tts_capture_begin(d->follow.capture, TTS_CAPTURE_NORMAL, NULL), TTS_OK);
    return tracker;
}

T_TEST(a_capture_has_the_phases_of_the_first_iteration_and_no_more)
{
    struct drive d;
    drive_on(&d, 4);
    struct tts_tracker *tracker = tracker_of(&d);
    op(&d, "full", TTS_LAYER_NONE);
    take(&d, 0, 3 * ROW);
    op_end(&d);
    phase(&d, "MODEL_CREATION");
    take(&d, 1, 2 * ROW); /* this finds no place, but it is counted */
    give(&d, 1);
    phase(&d, TTS_PHASE_FIRST_ITERATION);
    T_TRUE(!tts_capture_is_active(d.follow.capture));
    take(&d, 2, 20 * ROW);
    phase(&d, TTS_PHASE_LATER_ITERATION "2");
    stop(&d);
    const struct tts_capture *capture = d.follow.capture;
    T_EQ(tts_capture_count(capture), 2);
    const struct tts_phase *model = tts_capture_at(capture, 0);
    const struct tts_phase *first = tts_capture_at(capture, 1);
    T_STR_EQ(model->name, "MODEL_CREATION");
    T_STR_EQ(first->name, TTS_PHASE_FIRST_ITERATION);
    T_TRUE(model->usage.ops == 1 && first->usage.ops == 0);
    const struct tts_pool_usage *dram = &first->usage.pools[TTS_POOL_DRAM];
    T_TRUE(dram->cumulative_peak_bytes == (int64_t)(5 * ROW) && dram->frees == 1);
    T_EQ(dram->cumulative_current_bytes, 3 * ROW);
    tts_capture_free(d.follow.capture);
    tts_tracker_free(tracker);
}

T_TEST(what_cannot_be_passed_on_fails_the_run)
{
    struct drive d;
    struct tts_error err;
    drive_on(&d, 4);
    struct tts_tracker *tracker = tracker_of(&d);
    take(&d, 0, UINT64_C(1) << 53); /* this is larger than an event allows */
    take(&d, 1, ROW);
    T_EQ(tts_fit_follow_end(&d.follow, d.device, &err), TTS_E_RANGE);
    T_TRUE(err.text[0] != '\0' && !tts_device_is_observed(d.device));
    tts_device_free(d.device);
    tts_capture_free(d.follow.capture);
    tts_tracker_free(tracker);
}
