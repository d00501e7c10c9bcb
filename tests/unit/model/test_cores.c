/* Tests of the use of each core: the bytes in use, the peak, and the parts at the peak. */
#include "harness/core_rig.h"

static const struct tts_core_range one = {0, 0, 0, 0};

/* --- which core ------------------------------------------------------------------------- */

T_TEST(a_core_has_what_lies_on_it_and_not_what_lies_beside)
{
    struct rig rig = rig_new();
    struct cut phase;
    part(&rig, 0, TTS_EVENT_CB, (struct tts_core_range){0, 0, 3, 3}, 100);
    part(&rig, 0, TTS_EVENT_DFB, (struct tts_core_range){3, 2, 9, 2}, 70);
    part(&rig, 0, TTS_EVENT_SCRATCHPAD, (struct tts_core_range){9, 2, 9, 9}, 60);
    l1(&rig, 0, 1, 1000);
    small(&rig, 0, 2, 10);
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, 1180, 3, 2);
    T_EQ(core->cb_bytes, 100);
    T_EQ(core->dfb_bytes, 70);
    T_EQ(core->scratchpad_bytes, 0);
    T_EQ(core->l1_bytes, 1000);
    T_EQ(core->l1_small_bytes, 10);
    T_EQ(core->part_count, 4);
    check_part(core, 0, TTS_EVENT_ALLOC, 1, 1000);
    check_part(core, 1, TTS_EVENT_CB, 0, 100);
    check_part(core, 2, TTS_EVENT_DFB, 0, 70);
    check_part(core, 3, TTS_EVENT_ALLOC, 2, 10);
    T_EQ(core->parts[3].pool, TTS_POOL_L1_SMALL);
    T_EQ(core->seq, 5);
    rig_done(&rig);
}

T_TEST(ranges_of_one_cb_are_one_part_on_each_of_its_cores)
{
    struct rig rig = rig_new();
    struct cut phase;
    const struct tts_core_range ranges[] = {{5, 5, 6, 6}, {1, 1, 1, 1}, {63, 63, 63, 63}};
    for (int i = 0; i < 2; i++)
        post(&rig,
             (struct tts_event){
                 .kind = TTS_EVENT_CB, .size_bytes = 8, .ranges = ranges, .range_count = 3});
    check_core(peak(&rig, &phase), 16, 1, 1);
    part(&rig, 0, TTS_EVENT_CB, (struct tts_core_range){63, 63, 63, 63}, 1);
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, 17, 63, 63);
    T_EQ(core->part_count, 3);
    rig_done(&rig);
}

T_TEST(of_equal_cores_the_first_row_by_row_is_told)
{
    struct rig rig = rig_new();
    struct cut phase;
    l1(&rig, 0, 1, 10);
    /* All cores have the same number of bytes, so the first one counts. */
    check_core(peak(&rig, &phase), 10, 0, 0);
    /* One event makes both cores reach 15. Core (7, 1) comes before (2, 3). */
    const struct tts_core_range ranges[] = {{2, 3, 2, 3}, {7, 1, 7, 1}};
    post(&rig, (struct tts_event){
                   .kind = TTS_EVENT_CB, .size_bytes = 5, .ranges = ranges, .range_count = 2});
    check_core(peak(&rig, &phase), 15, 7, 1);
    /* Core (0, 0) reaches 15 too, but later. It would be reported only in a phase that begins
     * later. */
    part(&rig, 0, TTS_EVENT_CB, one, 5);
    T_EQ(peak(&rig, &phase)->core.x, 7);
    check_core(peak(&rig, &phase), 15, 0, 0);
    rig_done(&rig);
}

T_TEST(what_reaches_the_same_later_is_not_the_peak)
{
    struct rig rig = rig_new();
    struct cut phase;
    op_begin(&rig, "first");
    part(&rig, 0, TTS_EVENT_CB, (struct tts_core_range){4, 4, 4, 4}, 50);
    op_begin(&rig, "second");
    program(&rig, 0);
    part(&rig, 0, TTS_EVENT_CB, one, 50);
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, 50, 4, 4);
    T_EQ(core->seq, 2);
    T_STR_EQ(core->op, "first");
    T_STR_EQ(core->parts[0].op, "first");
    rig_done(&rig);
}

/* --- which operation -------------------------------------------------------------------- */

T_TEST(the_peak_names_its_operation_and_each_part_its_own)
{
    struct rig rig = rig_new();
    struct cut phase;
    l1(&rig, 0, 1, 10);
    op_begin(&rig, "embedding");
    l1(&rig, 0, 2, 30);
    op_end(&rig);
    op_begin(&rig, "matmul");
    cb(&rig, 0, 20);
    op_end(&rig);
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, 60, 0, 0);
    T_STR_EQ(core->op, "matmul");
    T_STR_EQ(core->parts[0].op, "embedding");
    T_STR_EQ(core->parts[1].op, "matmul");
    T_TRUE(core->parts[2].op == NULL);
    core = peak(&rig, &phase); /* without an event the peak is the use at the start */
    check_core(core, 60, 0, 0);
    T_TRUE(core->op == NULL);
    T_EQ(core->seq, 7);
    T_STR_EQ(core->parts[0].op, "embedding");
    rig_done(&rig);
}

/* --- what was there --------------------------------------------------------------------- */

T_TEST(the_list_is_of_the_peak_and_not_of_the_end)
{
    struct rig rig = rig_new();
    struct cut phase;
    l1(&rig, 0, 1, 100);
    l1(&rig, 0, 2, 7); /* this buffer is freed before the peak */
    cb(&rig, 0, 30);
    drop(&rig, 0, 2);
    l1(&rig, 0, 3, 50);
    l1(&rig, 0, 4, 60); /* this makes the peak, 240 */
    drop(&rig, 0, 3);
    l1(&rig, 0, 5, 40); /* this comes after the peak */
    program(&rig, 0);
    cb(&rig, 0, 1);
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, 240, 0, 0);
    T_EQ(core->seq, 6);
    T_EQ(core->part_count, 4);
    check_part(core, 0, TTS_EVENT_ALLOC, 1, 100);
    check_part(core, 1, TTS_EVENT_ALLOC, 4, 60);
    check_part(core, 2, TTS_EVENT_ALLOC, 3, 50);
    check_part(core, 3, TTS_EVENT_CB, 0, 30);
    T_EQ(core->unlisted, 0);
    rig_done(&rig);
}

T_TEST(a_new_peak_forgets_what_had_left_the_one_before)
{
    struct rig rig = rig_new();
    struct cut phase;
    l1(&rig, 0, 1, 100);
    l1(&rig, 0, 2, 100);
    drop(&rig, 0, 1);
    l1(&rig, 0, 3, 100); /* the use is as high as before, which is no new peak */
    l1(&rig, 0, 4, 1);
    drop(&rig, 0, 2);
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, 201, 0, 0);
    T_EQ(core->part_count, 3);
    /* Of two equal parts the older one is listed. */
    check_part(core, 0, TTS_EVENT_ALLOC, 2, 100);
    check_part(core, 1, TTS_EVENT_ALLOC, 3, 100);
    check_part(core, 2, TTS_EVENT_ALLOC, 4, 1);
    rig_done(&rig);
}

T_TEST(an_id_that_is_used_again_is_not_taken_for_the_one_before)
{
    struct rig rig = rig_new();
    struct cut phase;
    l1(&rig, 0, 1, 100);
    l1(&rig, 0, 1, 60); /* the id is used again, so the 100 bytes are freed by this event */
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, 100, 0, 0);
    T_EQ(core->part_count, 1);
    check_part(core, 0, TTS_EVENT_ALLOC, 1, 100);
    l1(&rig, 0, 1, 200); /* the new buffer raises the peak */
    core = peak(&rig, &phase);
    check_core(core, 200, 0, 0);
    T_EQ(core->part_count, 1);
    rig_done(&rig);
}

T_TEST(parts_elsewhere_are_not_in_the_list)
{
    struct rig rig = rig_new();
    struct cut phase;
    part(&rig, 0, TTS_EVENT_CB, (struct tts_core_range){1, 0, 1, 0}, 5);
    part(&rig, 0, TTS_EVENT_CB, (struct tts_core_range){2, 0, 2, 0}, 6);
    percore(&rig, 1, &one, 1, 4);
    program(&rig, 0);
    drop(&rig, 0, 1);
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, 6, 2, 0);
    T_EQ(core->part_count, 1);
    rig_done(&rig);
}

T_TEST(a_phase_starts_with_what_is_there)
{
    struct rig rig = rig_new();
    struct cut phase;
    l1(&rig, 0, 1, 100);
    cb(&rig, 0, 30);
    peak(&rig, &phase);
    drop(&rig, 0, 1);
    program(&rig, 0);
    l1(&rig, 0, 2, 129); /* the sum is one byte less than before */
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, 130, 0, 0);
    T_EQ(core->seq, 2);
    T_TRUE(core->op == NULL);
    T_EQ(core->part_count, 2);
    check_part(core, 0, TTS_EVENT_ALLOC, 1, 100);
    check_part(core, 1, TTS_EVENT_CB, 0, 30);
    check_core(peak(&rig, &phase), 129, 0, 0);
    drop(&rig, 0, 2);
    check_core(peak(&rig, &phase), 129, 0, 0);
    core = peak(&rig, &phase);
    T_TRUE(!core->known && core->part_count == 0 && core->bytes == 0);
    rig_done(&rig);
}

T_TEST(a_capture_that_begins_later_sees_what_is_on_the_cores)
{
    struct rig rig = rig_new();
    struct cut phase;
    l1(&rig, 3, 1, 100);
    cb(&rig, 3, 20);
    struct tts_watch *inner = rig_watch(&rig);
    dram(&rig, 4, 1, 1); /* an event of another device */
    cut_of(&rig, inner, &phase);
    check_core(&phase.phase.usage.core, 120, 0, 0);
    T_EQ(phase.phase.usage.core.device, 3);
    T_EQ(phase.phase.usage.core.part_count, 2);
    T_EQ(phase.phase.device_count, 1);
    T_TRUE(!usage_of(&phase, 4)->core.known);
    program(&rig, 3);
    cut_of(&rig, inner, &phase);
    check_core(&usage_of(&phase, 3)->core, 120, 0, 0);
    rig_unwatch(&rig, inner);
    rig_done(&rig);
}

T_TEST(two_watches_have_peaks_of_their_own)
{
    struct rig rig = rig_new();
    struct cut phase;
    l1(&rig, 0, 1, 100);
    l1(&rig, 0, 2, 50);
    drop(&rig, 0, 1);
    struct tts_watch *inner = rig_watch(&rig);
    l1(&rig, 0, 3, 20);
    drop(&rig, 0, 2);
    drop(&rig, 0, 3);
    cut_of(&rig, inner, &phase);
    check_core(&phase.phase.usage.core, 70, 0, 0);
    check_part(&phase.phase.usage.core, 0, TTS_EVENT_ALLOC, 2, 50);
    check_part(&phase.phase.usage.core, 1, TTS_EVENT_ALLOC, 3, 20);
    rig_unwatch(&rig, inner);
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, 150, 0, 0);
    check_part(core, 0, TTS_EVENT_ALLOC, 1, 100);
    check_part(core, 1, TTS_EVENT_ALLOC, 2, 50);
    T_EQ(core->part_count, 2);
    rig_done(&rig);
}

/* --- buffers of some cores -------------------------------------------------------------- */

T_TEST(a_buffer_of_some_cores_is_on_those_alone)
{
    struct rig rig = rig_new();
    struct cut phase;
    const struct tts_core_range ranges[] = {{2, 2, 3, 3}, {6, 0, 6, 0}};
    percore(&rig, 1, ranges, 2, 100);
    percore(&rig, 2, &ranges[0], 1, 10);
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, 110, 2, 2);
    T_EQ(core->l1_bytes, 110);
    T_EQ(core->part_count, 2);
    drop(&rig, 0, 2);
    peak(&rig, &phase);
    core = peak(&rig, &phase);
    check_core(core, 100, 6, 0); /* the first of the cores with this use */
    part(&rig, 0, TTS_EVENT_CB, (struct tts_core_range){3, 3, 3, 3}, 1);
    check_core(peak(&rig, &phase), 101, 3, 3);
    program(&rig, 0); /* a new program does not free buffers */
    peak(&rig, &phase);
    check_core(peak(&rig, &phase), 100, 6, 0);
    drop(&rig, 0, 1);
    peak(&rig, &phase);
    T_TRUE(!peak(&rig, &phase)->known);
    rig_done(&rig);
}

T_TEST(a_buffer_of_some_cores_on_a_mesh_is_on_those_of_every_chip)
{
    struct rig rig = rig_new();
    struct cut phase;
    T_EQ(tts_fold_chip(rig.fold, 5, 0, NULL), TTS_OK);
    percore(&rig, 1, &one, 1, 100);
    part(&rig, 5, TTS_EVENT_CB, one, 20);
    drop(&rig, 0, 1);
    cut(&rig, &phase);
    check_core(&usage_of(&phase, 5)->core, 120, 0, 0);
    check_core(&usage_of(&phase, 0)->core, 100, 0, 0);
    cut(&rig, &phase);
    check_core(&usage_of(&phase, 5)->core, 20, 0, 0);
    rig_done(&rig);
}
