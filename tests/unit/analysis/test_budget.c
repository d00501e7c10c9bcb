#include "harness/budget_rig.h"

/* ---- patterns ---- */

T_TEST(patterns_match_as_a_shell_does)
{
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        {"FORWARD_PASS", "FORWARD_PASS", true},
        {"FORWARD_PASS", "FORWARD_PASS_micro_0", false},
        {"FORWARD_PASS", "FORWARD_PAS", false},
        {"FORWARD_PASS", "forward_pass", false},
        {"FORWARD_PASS*", "FORWARD_PASS", true},
        {"FORWARD_PASS*", "FORWARD_PASS_micro_12", true},
        {"FORWARD_PASS_micro_*", "FORWARD_PASS", false},
        {"*_PASS", "BACKWARD_PASS", true},
        {"*_PASS", "BACKWARD_PASS_", false},
        {"*", "", true},
        {"*", "anything", true},
        {"**", "a", true},
        {"", "", true},
        {"", "a", false},
        {"?", "", false},
        {"?", "a", true},
        {"?", "ab", false},
        {"?", "\xc3\xa4", true}, /* "?" matches one character, which has two bytes here */
        {"a?c",
         "a\xe2\x82\xac"
         "c",
         true},
        {"*a*b*c", "xxaxxbxxaxxbxxc", true},
        {"*a*b*c", "xxaxxbxxaxxbxx", false},
        {"a*?", "a", false},
        {"*_L?_*", "QWEN_L7_MLP_FWD__000042", true},
        {"[A]", "A", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (tts_budget_matches(cases[i].pattern, cases[i].name) != cases[i].matches)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].name);
}

/* ---- several limits ---- */

T_TEST(missing_data_and_unknown_limits_are_never_a_pass)
{
    struct tts_budget_counts counts = {.passed = 3, .runs = 1};
    T_EQ(tts_budget_status_of(&counts), TTS_BUDGET_PASS);
    counts.is_partial = true;
    T_EQ(tts_budget_status_of(&counts), TTS_BUDGET_UNKNOWN);
    counts = (struct tts_budget_counts){.passed = 3, .unknown = 1, .runs = 1};
    T_EQ(tts_budget_status_of(&counts), TTS_BUDGET_UNKNOWN);
    counts.over = 1;
    T_EQ(tts_budget_status_of(&counts), TTS_BUDGET_OVER);
}

/* ---- bytes and shares ---- */

T_TEST(a_run_that_states_it_does_not_fit_keeps_no_limit_of_the_device)
{
    begin();
    rig.run.whole = (struct tts_run_whole){.peak = tts_amount_of(1000 * MB), .has_fits = true};
    rig.run.device_memory = tts_amount_of(2000 * MB);
    rig.run.device_memory_is_one = true;
    size_t share = add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_SHARE, 10000);
    size_t headroom = add_limit(TTS_BUDGET_DRAM_HEADROOM, TTS_BUDGET_BYTES, 100 * MB);
    size_t bytes = add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_BYTES, 1000 * MB);
    tts_trainmem_of(&rig.run, &(struct tts_trainmem_options){0}, &rig.mem);
    rig.input.run.mem = &rig.mem;
    struct tts_budget_verdict verdict;
    tts_budget_judge(&rig.input, share, NULL, NULL, &verdict);
    T_EQ(verdict.status, TTS_BUDGET_OVER);
    T_EQ(verdict.worst.reason, TTS_BUDGET_REFUSED);
    tts_budget_judge(&rig.input, headroom, NULL, NULL, &verdict);
    T_EQ(verdict.status, TTS_BUDGET_OVER);
    tts_budget_judge(&rig.input, bytes, NULL, NULL, &verdict);
    T_EQ(verdict.status, TTS_BUDGET_PASS);
}

T_TEST(exactly_at_the_limit_passes_and_a_byte_more_is_over)
{
    begin();
    expect(add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_BYTES, 1000 * MB), TTS_BUDGET_PASS,
           1000 * MB, 0);
    expect(add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_BYTES, 1000 * MB - 1), TTS_BUDGET_OVER,
           1000 * MB - 1, 1);
    expect(add_limit(TTS_BUDGET_DRAM_FINAL, TTS_BUDGET_BYTES, 400 * MB), TTS_BUDGET_PASS,
           400 * MB, 0);
    expect(add_limit(TTS_BUDGET_DRAM_FINAL, TTS_BUDGET_BYTES, 300 * MB), TTS_BUDGET_OVER,
           300 * MB, 100 * MB);
    /* Headroom is the device memory minus the peak: 2000 - 1000 MB. */
    expect(add_limit(TTS_BUDGET_DRAM_HEADROOM, TTS_BUDGET_BYTES, 1000 * MB), TTS_BUDGET_PASS,
           1000 * MB, 0);
    expect(add_limit(TTS_BUDGET_DRAM_HEADROOM, TTS_BUDGET_BYTES, 1000 * MB + 3),
           TTS_BUDGET_OVER, 1000 * MB + 3, 3);
}

T_TEST(shares_are_of_the_device_and_rounded_against_the_run)
{
    begin();
    expect(add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_SHARE, 5000), TTS_BUDGET_PASS, 1000 * MB,
           0);
    expect(add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_SHARE, 4999), TTS_BUDGET_OVER,
           1048366284, /* 1048366284.8, rounded down */
           1000 * MB - 1048366284);
    expect(add_limit(TTS_BUDGET_DRAM_HEADROOM, TTS_BUDGET_SHARE, 1), TTS_BUDGET_PASS,
           209716, /* 209715.2, rounded up */
           0);
    expect(add_limit(TTS_BUDGET_DRAM_HEADROOM, TTS_BUDGET_SHARE, 5000), TTS_BUDGET_PASS,
           1000 * MB, 0);
    expect(add_limit(TTS_BUDGET_DRAM_HEADROOM, TTS_BUDGET_SHARE, 5001), TTS_BUDGET_OVER,
           1048785716, 1048785716 - 1000 * MB);
}

T_TEST(a_share_of_a_core_needs_to_know_the_core)
{
    begin();
    put(add_phase(&rig.run, "A"), TTS_RUN_L1_CB, 1000);
    size_t limit = add_limit(TTS_BUDGET_CB, TTS_BUDGET_SHARE, 5000);
    expect_unknown(limit, TTS_BUDGET_NO_CORE);
    rig.input.core_bytes = tts_amount_of(1999);
    expect(limit, TTS_BUDGET_OVER, 999, 1);
    rig.input.core_bytes = tts_amount_of(2000);
    expect(limit, TTS_BUDGET_PASS, 1000, 0);
}

/* ---- what is not known ---- */

T_TEST(a_figure_that_is_not_there_is_no_pass)
{
    begin();
    rig.run.overall_peak = rig.run.final = (struct tts_amount){0};
    add_phase(&rig.run, "A");
    for (int rule = 0; rule < TTS_BUDGET_RULES; rule++) {
        size_t limit =
            rule < TTS_BUDGET_OVERALL_RULES
                ? add_limit((enum tts_budget_rule)rule, TTS_BUDGET_BYTES,
                            rule == TTS_BUDGET_DRAM_HEADROOM ? 0 : 1 << 30)
                : add_phase_limit("A", (enum tts_budget_rule)rule, TTS_BUDGET_BYTES, 1 << 30);
        expect_unknown(limit, TTS_BUDGET_NO_FIGURE);
    }
}

T_TEST(a_pattern_without_a_phase_is_no_pass)
{
    begin();
    put(add_phase(&rig.run, "A"), TTS_RUN_CHANGE, 0);
    size_t limit = add_phase_limit("B*", TTS_BUDGET_PHASE_CHANGE, TTS_BUDGET_BYTES, 1000 * MB);
    expect_unknown(limit, TTS_BUDGET_NO_PHASE);
    T_TRUE(!judged(limit).has_phase);
    T_EQ(judged(limit).phases, 0);
}

T_TEST(a_run_whose_l1_is_all_zero_did_not_track_it)
{
    begin();
    struct tts_run_phase *one = add_phase(&rig.run, "A"), *two = add_phase(&rig.run, "B");
    for (int f = TTS_RUN_L1_CB; f <= TTS_RUN_L1_TOTAL; f++) {
        put(one, (enum tts_run_figure)f, 0);
        put(two, (enum tts_run_figure)f, 0);
    }
    size_t all = add_limit(TTS_BUDGET_CB, TTS_BUDGET_BYTES, 1000);
    size_t phase = add_phase_limit("A", TTS_BUDGET_PHASE_L1_CORE, TTS_BUDGET_BYTES, 1000);
    expect_unknown(all, TTS_BUDGET_NO_L1);
    expect_unknown(phase, TTS_BUDGET_NO_L1);
    put(two, TTS_RUN_L1_BUFFER, 8); /* if one L1 figure is not 0, figures of 0 are really 0 */
    expect(all, TTS_BUDGET_PASS, 1000, 0);
    expect(phase, TTS_BUDGET_PASS, 1000, 0);
    put(two, TTS_RUN_L1_BUFFER, 0);
    put(one, TTS_RUN_L1_CORE, 0); /* a run with figures per core did track L1 */
    expect(phase, TTS_BUDGET_PASS, 1000, 0);
}

T_TEST(a_summary_that_is_cut_off_is_over_or_unknown)
{
    begin();
    put(add_phase(&rig.run, "A"), TTS_RUN_CUMULATIVE_PEAK, 500 * MB);
    rig.run.is_cut = true;
    rig.run.overall_peak = rig.run.final = (struct tts_amount){0};
    expect_unknown(add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_BYTES, 500 * MB),
                   TTS_BUDGET_AT_LEAST);
    expect(add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_BYTES, 499 * MB), TTS_BUDGET_OVER,
           499 * MB, MB);
    expect_unknown(add_limit(TTS_BUDGET_DRAM_HEADROOM, TTS_BUDGET_BYTES, 1500 * MB),
                   TTS_BUDGET_AT_MOST);
    expect(add_limit(TTS_BUDGET_DRAM_HEADROOM, TTS_BUDGET_BYTES, 1501 * MB), TTS_BUDGET_OVER,
           1501 * MB, MB);
    expect_unknown(add_limit(TTS_BUDGET_DRAM_FINAL, TTS_BUDGET_BYTES, 500 * MB),
                   TTS_BUDGET_NO_FIGURE);
    T_TRUE(judged(0).at_least);
}

T_TEST(peaks_of_a_run_with_missing_events_are_over_or_unknown_and_balances_unknown)
{
    static const enum tts_budget_rule peaks[] = {TTS_BUDGET_PHASE_SEGMENT_PEAK,
                                                 TTS_BUDGET_PHASE_CUMULATIVE_PEAK,
                                                 TTS_BUDGET_PHASE_L1_CORE, TTS_BUDGET_PHASE_CB};
    begin();
    struct tts_run_phase *phase = add_phase(&rig.run, "A");
    for (int f = 0; f < TTS_RUN_FIGURES; f++)
        put(phase, (enum tts_run_figure)f, 500);
    rig.run.is_at_least = true;
    for (size_t i = 0; i < sizeof peaks / sizeof peaks[0]; i++) {
        expect_unknown(add_phase_limit("A", peaks[i], TTS_BUDGET_BYTES, 500),
                       TTS_BUDGET_AT_LEAST);
        expect(add_phase_limit("A", peaks[i], TTS_BUDGET_BYTES, 499), TTS_BUDGET_OVER, 499, 1);
    }
    expect_unknown(add_limit(TTS_BUDGET_DRAM_PEAK, TTS_BUDGET_BYTES, 1000 * MB),
                   TTS_BUDGET_AT_LEAST);
    expect_unknown(add_limit(TTS_BUDGET_CB, TTS_BUDGET_BYTES, 500), TTS_BUDGET_AT_LEAST);
    for (uint64_t limit = 100; limit <= 900;
         limit += 800) { /* a limit below and one above the figure */
        expect_unknown(add_limit(TTS_BUDGET_DRAM_FINAL, TTS_BUDGET_BYTES, limit * MB),
                       TTS_BUDGET_IN_PART);
        expect_unknown(add_phase_limit("A", TTS_BUDGET_PHASE_CHANGE, TTS_BUDGET_BYTES, limit),
                       TTS_BUDGET_IN_PART);
    }
    T_EQ(judged(rig.budget.limit_count - 1).measured.bytes, 500);
}

T_TEST(of_a_recording_that_ends_within_a_phase_that_phase_is_not_all)
{
    begin();
    for (int i = 0; i < 2; i++)
        put(add_phase(&rig.run, i == 0 ? "A" : "B"), TTS_RUN_SEGMENT_PEAK, 100);
    size_t first = add_phase_limit("A", TTS_BUDGET_PHASE_SEGMENT_PEAK, TTS_BUDGET_BYTES, 100);
    size_t last = add_phase_limit("B", TTS_BUDGET_PHASE_SEGMENT_PEAK, TTS_BUDGET_BYTES, 100);
    rig.run.is_cut = true;
    expect(last, TTS_BUDGET_PASS, 100,
           0); /* a log prints a phase only when the phase is over */
    rig.run.is_exact = true;
    expect(first, TTS_BUDGET_PASS, 100, 0);
    expect_unknown(last, TTS_BUDGET_AT_LEAST);
    expect_unknown(add_limit(TTS_BUDGET_DRAM_FINAL, TTS_BUDGET_BYTES, 400 * MB),
                   TTS_BUDGET_IN_PART);
}

T_TEST(the_end_is_the_last_that_is_known_where_it_is_not_printed)
{
    begin();
    rig.run.final = (struct tts_amount){0};
    put(add_phase(&rig.run, "A"), TTS_RUN_CUMULATIVE_CURRENT, 300 * MB);
    expect(add_limit(TTS_BUDGET_DRAM_FINAL, TTS_BUDGET_BYTES, 300 * MB), TTS_BUDGET_PASS,
           300 * MB, 0);
}

T_TEST(what_is_unknown_for_a_reason_of_the_run_is_told_once)
{
    struct seen seen;
    begin();
    for (int i = 0; i < 3; i++)
        put(add_phase(&rig.run, i == 1 ? "B" : "A"), TTS_RUN_L1_CB, 10);
    size_t limit = add_phase_limit("A", TTS_BUDGET_PHASE_CB, TTS_BUDGET_SHARE, 5000);
    struct tts_budget_verdict verdict = judge_seen(limit, &seen);
    T_EQ(seen.count, 1);
    T_EQ(seen.findings[0].reason, TTS_BUDGET_NO_CORE);
    T_EQ(seen.findings[0].phases, 2);
    T_TRUE(!seen.findings[0].has_phase && !seen.findings[0].measured.is_known);
    T_TRUE(verdict.status == TTS_BUDGET_UNKNOWN && verdict.unknown == 2);
    T_EQ(verdict.worst.phases, 2);
    limit = add_phase_limit("B", TTS_BUDGET_PHASE_CB, TTS_BUDGET_SHARE, 5000);
    judge_seen(limit, &seen); /* with only one phase, the finding of the run names the phase */
    T_TRUE(seen.findings[0].has_phase && seen.findings[0].phase == 1);
    T_EQ(seen.findings[0].measured.bytes, 10);
}

/* ---- phases ---- */

T_TEST(each_rule_of_a_phase_has_its_figure)
{
    static const struct {
        enum tts_budget_rule rule;
        enum tts_run_figure figure;
    } cases[] = {
        {TTS_BUDGET_PHASE_SEGMENT_PEAK, TTS_RUN_SEGMENT_PEAK},
        {TTS_BUDGET_PHASE_CHANGE, TTS_RUN_CHANGE},
        {TTS_BUDGET_PHASE_CUMULATIVE_PEAK, TTS_RUN_CUMULATIVE_PEAK},
        {TTS_BUDGET_PHASE_L1_CORE, TTS_RUN_L1_TOTAL},
        {TTS_BUDGET_PHASE_CB, TTS_RUN_L1_CB},
    };
    begin();
    struct tts_run_phase *phase = add_phase(&rig.run, "A");
    for (int f = 0; f < TTS_RUN_L1_CORE; f++)
        put(phase, (enum tts_run_figure)f, 100 + f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t limit = add_phase_limit("A", cases[i].rule, TTS_BUDGET_BYTES, 50);
        T_EQ(judged(limit).measured.bytes, 100 + (int)cases[i].figure);
        T_EQ(judged(limit).status, TTS_BUDGET_OVER);
        T_TRUE(judged(limit).has_phase);
    }
}

T_TEST(phases_that_are_over_or_unknown_come_each_those_that_pass_as_one)
{
    static const int64_t peaks[] = {5, 30, -1, 9, 20, 7};
    struct seen seen;
    begin();
    for (size_t i = 0; i < sizeof peaks / sizeof peaks[0]; i++) {
        char name[16];
        snprintf(name, sizeof name, "P%zu", i);
        struct tts_run_phase *phase = add_phase(&rig.run, name);
        if (peaks[i] >= 0)
            put(phase, TTS_RUN_SEGMENT_PEAK, peaks[i]);
    }
    size_t limit = add_phase_limit("P*", TTS_BUDGET_PHASE_SEGMENT_PEAK, TTS_BUDGET_BYTES, 10);
    struct tts_budget_verdict verdict = judge_seen(limit, &seen);
    T_EQ(verdict.status, TTS_BUDGET_OVER);
    T_TRUE(verdict.over == 2 && verdict.unknown == 1 && verdict.passed == 3);
    /* Phase 1 is 20 bytes over its limit; the other phase is 10 bytes over. */
    T_EQ(verdict.worst.phase, 1);
    T_EQ(verdict.worst.excess, 20);
    T_EQ(seen.count, 4);
    T_TRUE(seen.findings[0].phase == 1 && seen.findings[0].excess == 20);
    T_TRUE(seen.findings[1].phase == 2 && seen.findings[1].status == TTS_BUDGET_UNKNOWN);
    T_TRUE(seen.findings[2].phase == 4 && seen.findings[2].excess == 10);
    T_EQ(seen.findings[0].phases, 1);
    T_EQ(seen.findings[3].status, TTS_BUDGET_PASS);
    T_EQ(seen.findings[3].phase, 3); /* of all figures, 9 is nearest to the limit of 10 */
    T_EQ(seen.findings[3].phases, 3);
    put(&rig.phases[1], TTS_RUN_SEGMENT_PEAK, 1);
    put(&rig.phases[4], TTS_RUN_SEGMENT_PEAK, 1);
    verdict = judge_seen(limit, &seen);
    T_EQ(verdict.status, TTS_BUDGET_UNKNOWN);
    T_EQ(verdict.worst.phase, 2);
    put(&rig.phases[2], TTS_RUN_SEGMENT_PEAK, 10);
    verdict = judge_seen(limit, &seen);
    T_EQ(verdict.status, TTS_BUDGET_PASS);
    T_TRUE(verdict.worst.phase == 2 && verdict.worst.phases == 6 && seen.count == 1);
}

T_TEST(an_unknown_phase_behind_one_that_is_over_does_not_hide_it)
{
    struct seen seen;
    begin();
    put(add_phase(&rig.run, "A"), TTS_RUN_SEGMENT_PEAK, 11);
    add_phase(&rig.run, "B");
    size_t limit = add_phase_limit("?", TTS_BUDGET_PHASE_SEGMENT_PEAK, TTS_BUDGET_BYTES, 10);
    T_EQ(judge_seen(limit, &seen).status, TTS_BUDGET_OVER);
    T_EQ(judge_seen(limit, &seen).worst.phase, 0);
}

/* ---- rules ---- */

T_TEST(ids_never_change)
{
    static const char *const ids[] = {"dram-peak",
                                      "dram-headroom",
                                      "dram-final",
                                      "l1-core",
                                      "cb",
                                      "phase-segment-peak",
                                      "phase-change",
                                      "phase-cumulative-peak",
                                      "phase-l1-core",
                                      "phase-cb"};
    T_EQ(sizeof ids / sizeof ids[0], TTS_BUDGET_RULES);
    for (int i = 0; i < TTS_BUDGET_RULES; i++) {
        enum tts_budget_rule rule = (enum tts_budget_rule)i;
        T_STR_EQ(tts_budget_rule_id(rule), ids[i]);
        T_EQ(tts_budget_rule_place(rule),
             i < TTS_BUDGET_OVERALL_RULES ? TTS_BUDGET_OVERALL : TTS_BUDGET_PHASE);
        T_TRUE(strlen(tts_budget_rule_what(rule)) > 10);
    }
}
