/* Tests limits of the L1 of a core: which figure is used, and with which figure it is
 * compared. */
#include "harness/budget_rig.h"

/* ---- L1 ---- */

T_TEST(l1_is_the_fullest_core_where_known_else_the_total)
{
    begin();
    struct tts_run_phase *one = add_phase(&rig.run, "A"), *two = add_phase(&rig.run, "B");
    put(one, TTS_RUN_L1_TOTAL, 5000);
    put(one, TTS_RUN_L1_CB, 10);
    put(two, TTS_RUN_L1_TOTAL, 9000);
    put(two, TTS_RUN_L1_CB, 30);
    size_t all = add_limit(TTS_BUDGET_L1_CORE, TTS_BUDGET_BYTES, 8000);
    expect(all, TTS_BUDGET_OVER, 8000, 1000);
    T_EQ(judged(all).figure, TTS_BUDGET_OF_TOTAL);
    T_EQ(judged(all).phase, 1);
    /* Only one phase knows the figure, so it is unknown for the run. */
    put(two, TTS_RUN_L1_CORE, 4000);
    expect(all, TTS_BUDGET_OVER, 8000, 1000);
    T_EQ(judged(all).figure, TTS_BUDGET_OF_TOTAL);
    put(one, TTS_RUN_L1_CORE, 3000);
    T_EQ(judged(all).measured.bytes, 4000);
    T_EQ(judged(all).figure, TTS_BUDGET_OF_CORE);
    size_t cb = add_limit(TTS_BUDGET_CB, TTS_BUDGET_BYTES, 29);
    expect(cb, TTS_BUDGET_OVER, 29, 1);
    T_EQ(judged(cb).figure, TTS_BUDGET_OF_CB);
    expect(add_phase_limit("A", TTS_BUDGET_PHASE_CB, TTS_BUDGET_BYTES, 10), TTS_BUDGET_PASS, 10,
           0);
    expect(add_phase_limit("A", TTS_BUDGET_PHASE_L1_CORE, TTS_BUDGET_BYTES, 2999),
           TTS_BUDGET_OVER, 2999, 1);
}

T_TEST(l1_of_a_phase_that_is_missing_could_be_more)
{
    begin();
    put(add_phase(&rig.run, "A"), TTS_RUN_L1_CB, 100);
    add_phase(&rig.run, "B");
    expect_unknown(add_limit(TTS_BUDGET_CB, TTS_BUDGET_BYTES, 100), TTS_BUDGET_AT_LEAST);
    expect(add_limit(TTS_BUDGET_CB, TTS_BUDGET_BYTES, 99), TTS_BUDGET_OVER, 99, 1);
    put(&rig.phases[1], TTS_RUN_L1_CB, 0);
    expect(0, TTS_BUDGET_PASS, 100, 0);
    rig.run.is_cut = true;
    expect_unknown(0, TTS_BUDGET_AT_LEAST);
}

/* ---- growth ---- */

/* The run is a recording with figures per core; the baseline is a log without them. */
static void begin_unlike(int64_t run_total, int64_t base_total)
{
    begin();
    struct tts_run_phase *now = add_phase(&rig.run, "A"), *then = add_phase(&rig.base, "A");
    put(now, TTS_RUN_L1_CORE, 100);
    put(now, TTS_RUN_L1_TOTAL, run_total);
    put(then, TTS_RUN_L1_TOTAL, base_total);
    use_baseline();
}

T_TEST(growth_is_told_by_the_figure_that_both_have)
{
    begin_unlike(900, 600);
    size_t all = add_limit(TTS_BUDGET_L1_CORE, TTS_BUDGET_GROWTH_BYTES, 200);
    size_t phase = add_phase_limit("A", TTS_BUDGET_PHASE_L1_CORE, TTS_BUDGET_GROWTH_BYTES, 200);
    /* The totals are compared; by the figure of a core, the run would have shrunk. */
    expect(all, TTS_BUDGET_OVER, 800, 100);
    expect(phase, TTS_BUDGET_OVER, 800, 100);
    T_EQ(judged(all).figure, TTS_BUDGET_OF_TOTAL);
    T_EQ(judged(phase).figure, TTS_BUDGET_OF_TOTAL);
    put(&rig.base_phases[0], TTS_RUN_L1_CORE, 90);
    expect(all, TTS_BUDGET_PASS, 290, 0);
    expect(phase, TTS_BUDGET_PASS, 290, 0);
    T_EQ(judged(all).figure, TTS_BUDGET_OF_CORE);
    T_EQ(judged(phase).figure, TTS_BUDGET_OF_CORE);
    /* The run and the baseline are exchanged. */
    rig.phases[0].figures[TTS_RUN_L1_CORE].is_known = false;
    expect(all, TTS_BUDGET_OVER, 800, 100);
    expect(phase, TTS_BUDGET_OVER, 800, 100);
}

T_TEST(growth_without_a_figure_that_both_have_is_unknown)
{
    begin_unlike(900, 600);
    size_t all = add_limit(TTS_BUDGET_L1_CORE, TTS_BUDGET_GROWTH_BYTES, 200);
    size_t phase = add_phase_limit("A", TTS_BUDGET_PHASE_L1_CORE, TTS_BUDGET_GROWTH_BYTES, 200);
    rig.phases[0].figures[TTS_RUN_L1_TOTAL] = (struct tts_amount){0};
    expect_unknown(all, TTS_BUDGET_NO_FIGURE);
    expect_unknown(phase, TTS_BUDGET_NO_FIGURE);
    put(&rig.phases[0], TTS_RUN_L1_TOTAL, 900);
    put(&rig.base_phases[0], TTS_RUN_L1_CB, 5);
    rig.base_phases[0].figures[TTS_RUN_L1_TOTAL] = (struct tts_amount){0};
    expect_unknown(all, TTS_BUDGET_NO_BASELINE_FIGURE);
    expect_unknown(phase, TTS_BUDGET_NO_BASELINE_FIGURE);
    /* A limit in bytes does not need the baseline. */
    expect(add_limit(TTS_BUDGET_L1_CORE, TTS_BUDGET_BYTES, 100), TTS_BUDGET_PASS, 100, 0);
}
