/* Tests the printed L1 figures with the cases of the runtime's own graph tests. */
#include "harness/fold_rig.h"

static void check_l1(const struct tts_usage *usage, int64_t peak_cb, int64_t peak_dfb,
                     int64_t peak_scratchpad, int64_t peak_total)
{
    T_EQ(usage->peak_cb_bytes, peak_cb);
    T_EQ(usage->peak_dfb_bytes, peak_dfb);
    T_EQ(usage->peak_scratchpad_bytes, peak_scratchpad);
    T_EQ(usage->peak_total_bytes, peak_total);
}

T_TEST(graph_trace_utils_cb_1024_dfb_2048_scratch_512)
{
    struct rig rig = rig_new();
    struct cut phase;
    cb(&rig, 0, 1024);
    part(&rig, 0, TTS_EVENT_DFB, grid8, 2048);
    part(&rig, 0, TTS_EVENT_SCRATCHPAD, grid8, 512);
    check_l1(cut(&rig, &phase), 1024, 2048, 512, 3584);
    rig_done(&rig);
}

T_TEST(graph_trace_utils_dfb_4096_borrowed_dfb_256)
{
    struct rig rig = rig_new();
    struct cut phase;
    post(&rig, (struct tts_event){.kind = TTS_EVENT_DFB,
                                  .size_bytes = 4096,
                                  .borrowed = true,
                                  .ranges = &grid8,
                                  .range_count = 1});
    part(&rig, 0, TTS_EVENT_DFB, grid8, 256);
    check_l1(cut(&rig, &phase), 0, 256, 0, 256);
    T_EQ(phase.phase.usage.core.bytes, 256);
    rig_done(&rig);
}

T_TEST(graph_trace_utils_program_deallocate_all_same_program_do_not_stack)
{
    struct rig rig = rig_new();
    struct cut phase;
    for (int i = 0; i < 2; i++) {
        program(&rig, 0);
        cb(&rig, 0, 1024);
        part(&rig, 0, TTS_EVENT_DFB, grid8, 2048);
        part(&rig, 0, TTS_EVENT_SCRATCHPAD, grid8, 512);
    }
    check_l1(cut(&rig, &phase), 1024, 2048, 512, 3584);
    T_EQ(phase.phase.usage.core.bytes, 3584);
    T_EQ(phase.phase.usage.programs, 2);
    rig_done(&rig);
}

/* The older measure is the sum of all parts of a program. */
T_TEST(graph_trace_utils_legacy_on_dfb_2048_scratch_512)
{
    struct rig rig = rig_new();
    struct cut phase;
    part(&rig, 0, TTS_EVENT_DFB, grid8, 2048);
    part(&rig, 0, TTS_EVENT_SCRATCHPAD, grid8, 512);
    T_EQ(cut(&rig, &phase)->peak_total_bytes, 2560);
    rig_done(&rig);
}

T_TEST(graph_trace_utils_empty_capture)
{
    struct rig rig = rig_new();
    struct cut phase;
    const struct tts_usage *usage = cut(&rig, &phase);
    struct tts_usage zero = {0};
    zero.core.parts = usage->core.parts;
    T_EQ(usage->core.part_count, 0);
    T_MEM_EQ(usage, &zero, sizeof zero);
    T_EQ(phase.phase.events, 0);
    T_EQ(phase.phase.device_count, 0);
    rig_done(&rig);
}

T_TEST(graph_trace_utils_repeat_row_major_two_dfb_of_384)
{
    struct rig rig = rig_new();
    struct cut phase;
    program(&rig, 0);
    part(&rig, 0, TTS_EVENT_DFB, grid8, 384);
    part(&rig, 0, TTS_EVENT_DFB, grid8, 384);
    check_l1(cut(&rig, &phase), 0, 768, 0, 768);
    rig_done(&rig);
}
