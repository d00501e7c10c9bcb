/* Tests growth against a baseline, and how phases are paired. */
#include "harness/budget_rig.h"
#include "torture/heap.h"

/* ---- growth ---- */

T_TEST(growth_is_against_the_same_figure_of_the_baseline)
{
    begin();
    rig.base.overall_peak = tts_amount_of(900 * MB);
    size_t share = add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_GROWTH_SHARE, 1000);
    size_t bytes = add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_GROWTH_BYTES, 100 * MB);
    expect_unknown(share, TTS_BUDGET_NO_BASELINE);
    use_baseline();
    expect(share, TTS_BUDGET_OVER, 990 * MB, 10 * MB);
    T_EQ(judged(share).baseline.bytes, 900 * MB);
    expect(bytes, TTS_BUDGET_PASS, 1000 * MB, 0);
    rig.base.overall_peak = tts_amount_of(900 * MB - 1);
    expect(bytes, TTS_BUDGET_OVER, 1000 * MB - 1, 1);
    rig.base.overall_peak = (struct tts_amount){0};
    expect_unknown(bytes, TTS_BUDGET_NO_BASELINE_FIGURE);
    T_EQ(tts_budget_first_growth(&rig.budget), 0);
    rig.budget.limits[0].unit = TTS_BUDGET_BYTES;
    T_EQ(tts_budget_first_growth(&rig.budget), 1);
    rig.budget.limits[1].unit = TTS_BUDGET_SHARE;
    T_EQ(tts_budget_first_growth(&rig.budget), 2);
}

T_TEST(a_change_below_zero_grows_upwards)
{
    begin();
    put(add_phase(&rig.run, "A"), TTS_RUN_CHANGE, -98 * MB);
    put(add_phase(&rig.base, "A"), TTS_RUN_CHANGE, -100 * MB);
    use_baseline();
    size_t limit = add_phase_limit("A", TTS_BUDGET_PHASE_CHANGE, TTS_BUDGET_GROWTH_SHARE, 200);
    expect(limit, TTS_BUDGET_PASS, -98 * MB, 0);
    put(&rig.phases[0], TTS_RUN_CHANGE, -97 * MB);
    expect(limit, TTS_BUDGET_OVER, -98 * MB, MB);
}

T_TEST(growth_within_the_rounding_of_figures_passes_but_no_other_limit)
{
    begin();
    rig.run.overall_peak = tts_amount_of(1000 * MB + 5243);
    use_baseline();
    size_t growth = add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_GROWTH_SHARE, 0);
    size_t plain = add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_BYTES, 1000 * MB);
    expect(growth, TTS_BUDGET_OVER, 1000 * MB, 5243);
    rig.input.rounding_bytes = 5243;
    expect(growth, TTS_BUDGET_PASS, 1000 * MB, 0);
    expect(plain, TTS_BUDGET_OVER, 1000 * MB, 5243);
    rig.run.overall_peak = tts_amount_of(1000 * MB + 5244);
    expect(growth, TTS_BUDGET_OVER, 1000 * MB, 5244);
}

T_TEST(phases_are_held_against_those_of_the_same_name_in_order)
{
    struct seen seen;
    begin();
    for (int i = 0; i < 3; i++)
        put(add_phase(&rig.run, i == 1 ? "B" : "A"), TTS_RUN_SEGMENT_PEAK, 100);
    put(add_phase(&rig.base, "C"), TTS_RUN_SEGMENT_PEAK, 1);
    put(add_phase(&rig.base, "A"), TTS_RUN_SEGMENT_PEAK, 100);
    put(add_phase(&rig.base, "A"), TTS_RUN_SEGMENT_PEAK, 40);
    use_baseline();
    T_TRUE(rig.pairs[0] == 1 && rig.pairs[1] == TTS_PHASEPAIR_NONE && rig.pairs[2] == 2);
    size_t limit =
        add_phase_limit("*", TTS_BUDGET_PHASE_SEGMENT_PEAK, TTS_BUDGET_GROWTH_BYTES, 50);
    struct tts_budget_verdict verdict = judge_seen(limit, &seen);
    T_TRUE(verdict.over == 1 && verdict.unknown == 1 && verdict.passed == 1);
    T_EQ(seen.findings[0].reason, TTS_BUDGET_NO_BASELINE_PHASE);
    T_TRUE(seen.findings[1].phase == 2 && seen.findings[1].excess == 10);
    rig.base_phases[2].figures[TTS_RUN_SEGMENT_PEAK] = (struct tts_amount){0};
    judge_seen(limit, &seen);
    T_EQ(seen.findings[1].reason, TTS_BUDGET_NO_BASELINE_FIGURE);
}

T_TEST(growth_on_a_baseline_that_is_cut_off_is_never_called_over)
{
    begin();
    put(add_phase(&rig.base, "A"), TTS_RUN_CUMULATIVE_PEAK, 900 * MB);
    rig.base.is_cut = true;
    rig.base.overall_peak = (struct tts_amount){0};
    use_baseline();
    expect_unknown(add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_GROWTH_BYTES, 1),
                   TTS_BUDGET_BASELINE_AT_LEAST);
    expect(add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_GROWTH_BYTES, 100 * MB), TTS_BUDGET_PASS,
           1000 * MB, 0);
}

T_TEST(growth_on_a_balance_of_a_baseline_that_is_not_all_there_is_unknown)
{
    begin();
    put(add_phase(&rig.run, "A"), TTS_RUN_CHANGE, 100);
    put(add_phase(&rig.base, "A"), TTS_RUN_CHANGE, 100);
    use_baseline();
    rig.base.is_at_least = true;
    expect_unknown(add_limit(TTS_BUDGET_DRAM_FINAL, TTS_BUDGET_GROWTH_BYTES, 1),
                   TTS_BUDGET_BASELINE_IN_PART);
    expect_unknown(add_phase_limit("A", TTS_BUDGET_PHASE_CHANGE, TTS_BUDGET_GROWTH_BYTES, 1),
                   TTS_BUDGET_BASELINE_IN_PART);
}

T_TEST(sizes_at_the_ends_of_the_range_do_not_wrap)
{
    begin();
    rig.run.overall_peak = tts_amount_of(INT64_MAX);
    rig.base.overall_peak = tts_amount_of(INT64_MAX);
    put(add_phase(&rig.run, "A"), TTS_RUN_CHANGE, INT64_MAX);
    put(add_phase(&rig.base, "A"), TTS_RUN_CHANGE, INT64_MIN);
    use_baseline();
    expect(add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_GROWTH_SHARE, TTS_BUDGET_SHARE_MAX),
           TTS_BUDGET_PASS, INT64_MAX, 0);
    expect(add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_GROWTH_BYTES, 1), TTS_BUDGET_PASS,
           INT64_MAX, 0);
    expect(add_phase_limit("A", TTS_BUDGET_PHASE_CHANGE, TTS_BUDGET_GROWTH_SHARE, 0),
           TTS_BUDGET_OVER, INT64_MIN, INT64_MAX);
    put(&rig.phases[0], TTS_RUN_CHANGE, INT64_MIN);
    rig.base_phases[0].figures[TTS_RUN_CHANGE].bytes = INT64_MAX;
    expect(2, TTS_BUDGET_PASS, INT64_MAX, 0);
}

/* ---- pairs ---- */

T_TEST(pairs_without_memory_leave_nothing)
{
    begin();
    add_phase(&rig.run, "A");
    for (uint64_t at = 1;; at++) {
        struct heap heap;
        uint32_t *pairs = rig.pairs;
        heap_init(&heap);
        heap.fail_at = at;
        enum tts_status status = tts_phasepairs_new(&rig.run, &rig.base, &heap.alloc, &pairs);
        if (status == TTS_OK) {
            T_EQ(at, 3);
            T_EQ(pairs[0], TTS_PHASEPAIR_NONE);
            tts_phasepairs_free(pairs, &rig.run, &heap.alloc);
            T_TRUE(heap_is_settled(&heap));
            return;
        }
        T_EQ(status, TTS_E_NOMEM);
        T_TRUE(pairs == rig.pairs);
        T_TRUE(heap_is_settled(&heap));
    }
}

T_TEST(pairs_agree_with_a_slow_and_obvious_search)
{
    uint64_t rng = 7;
    for (int round = 0; round < 500; round++) {
        begin();
        size_t runs = t_random(&rng) % (PHASES + 1), bases = t_random(&rng) % (PHASES + 1);
        for (size_t i = 0; i < runs; i++)
            add_phase(&rig.run, t_random(&rng) % 2 ? "A" : t_random(&rng) % 2 ? "B" : "");
        for (size_t i = 0; i < bases; i++)
            add_phase(&rig.base, t_random(&rng) % 2 ? "A" : t_random(&rng) % 2 ? "B" : "C");
        use_baseline();
        bool used[PHASES] = {false};
        for (size_t i = 0; i < runs; i++) {
            uint32_t wanted = TTS_PHASEPAIR_NONE;
            for (size_t j = bases; j-- > 0;)
                if (!used[j] && strcmp(rig.phases[i].name, rig.base_phases[j].name) == 0)
                    wanted = (uint32_t)j;
            if (wanted != TTS_PHASEPAIR_NONE)
                used[wanted] = true;
            T_EQ(rig.pairs[i], wanted);
        }
    }
}
