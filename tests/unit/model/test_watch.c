/* Tests the counts of a phase, and phases that follow each other, are nested, or overlap.
 * test_cores.c tests the cores. */
#include "harness/fold_rig.h"

/* --- one phase -------------------------------------------------------------------------- */

T_TEST(the_peak_is_the_most_at_once_and_not_the_sum)
{
    struct rig rig = rig_new();
    struct cut phase;
    dram(&rig, 0, 1, 8192);
    dram(&rig, 0, 2, 10240);
    drop(&rig, 0, 1);
    dram(&rig, 0, 3, 8191);
    const struct tts_usage *usage = cut(&rig, &phase);
    check_pool(dram_of(usage), 18432, 26623, 8192);
    T_EQ(dram_of(usage)->allocations, 3);
    T_EQ(dram_of(usage)->frees, 1);
    T_MEM_EQ(dram_of(usage_of(&phase, 0)), dram_of(usage), sizeof *dram_of(usage));
    rig_done(&rig);
}

T_TEST(each_pool_has_its_own_measure)
{
    struct rig rig = rig_new();
    struct cut phase;
    for (int pool = 0; pool < TTS_POOLS; pool++)
        post(&rig, (struct tts_event){.kind = TTS_EVENT_ALLOC,
                                      .pool = (enum tts_pool)pool,
                                      .id = (uint64_t)pool,
                                      .size_bytes = 1000,
                                      .bytes_per_bank = 10,
                                      .block_bytes = 16});
    const struct tts_usage *usage = cut(&rig, &phase);
    check_pool(&usage->pools[TTS_POOL_DRAM], 1000, 1000, 0);
    check_pool(&usage->pools[TTS_POOL_TRACE], 1000, 1000, 0);
    check_pool(&usage->pools[TTS_POOL_L1], 10, 10, 0);
    check_pool(&usage->pools[TTS_POOL_L1_SMALL], 10, 10, 0);
    check_pool(&usage->dram_with_trace, 2000, 2000, 0);
    check_pool(&usage->l1_with_small, 20, 20, 0);
    T_EQ(usage->peak_total_bytes, 20);
    T_EQ(usage->core.bytes, 32);
    rig_done(&rig);
}

T_TEST(the_total_peaks_at_one_instant)
{
    struct rig rig = rig_new();
    struct cut phase;
    cb(&rig, 0, 100);
    program(&rig, 0);
    l1(&rig, 0, 1, 60);
    part(&rig, 0, TTS_EVENT_DFB, grid8, 30);
    drop(&rig, 0, 1);
    part(&rig, 0, TTS_EVENT_SCRATCHPAD, grid8, 50);
    const struct tts_usage *usage = cut(&rig, &phase);
    T_EQ(usage->peak_cb_bytes, 100);
    T_EQ(usage->peak_dfb_bytes, 30);
    T_EQ(usage->peak_scratchpad_bytes, 50);
    T_EQ(l1_of(usage)->peak_bytes, 60);
    T_EQ(usage->peak_total_bytes, 100);
    rig_done(&rig);
}

T_TEST(a_cb_on_one_core_is_printed_like_one_on_many)
{
    struct rig rig = rig_new();
    struct cut phase;
    part(&rig, 0, TTS_EVENT_CB, (struct tts_core_range){3, 4, 3, 4}, 100);
    part(&rig, 0, TTS_EVENT_CB, (struct tts_core_range){0, 0, 0, 0}, 100);
    T_EQ(cut(&rig, &phase)->peak_cb_bytes, 200);
    T_EQ(phase.phase.usage.core.bytes, 100);
    rig_done(&rig);
}

T_TEST(only_what_is_said_to_borrow_borrows)
{
    struct rig rig = rig_new();
    struct cut phase;
    for (int kind = TTS_EVENT_CB; kind <= TTS_EVENT_SCRATCHPAD; kind++)
        post(&rig, (struct tts_event){.kind = (enum tts_event_kind)kind,
                                      .borrowed = true, /* a scratchpad ignores this flag */
                                      .size_bytes = 8,
                                      .ranges = &grid8,
                                      .range_count = 1});
    const struct tts_usage *usage = cut(&rig, &phase);
    T_EQ(usage->peak_total_bytes, 8);
    T_EQ(usage->peak_scratchpad_bytes, 8);
    T_EQ(usage->core.part_count, 1);
    rig_done(&rig);
}

/* --- phases ----------------------------------------------------------------------------- */

T_TEST(cumulative_figures_follow_the_published_relations)
{
    struct rig rig = rig_new();
    struct cut phase;
    dram(&rig, 0, 1, 100);
    dram(&rig, 0, 2, 50);
    drop(&rig, 0, 2);
    check_total(dram_of(cut(&rig, &phase)), 150, 100);
    drop(&rig, 0, 1);
    dram(&rig, 0, 3, 120); /* the phase has at most 20 above its start, in total 120 */
    const struct tts_usage *usage = cut(&rig, &phase);
    check_pool(dram_of(usage), 20, 120, 100);
    check_total(dram_of(usage), 150, 120);
    usage = cut(&rig, &phase);
    check_pool(dram_of(usage), 0, 0, 0);
    check_total(dram_of(usage), 150, 120);
    dram(&rig, 0, 4, 31);
    check_total(dram_of(cut(&rig, &phase)), 151, 151);
    check_total(dram_of(usage_of(&phase, 0)), 151, 151);
    rig_done(&rig);
}

T_TEST(relations_hold_over_any_history)
{
    struct rig rig =
        rig_with((struct tts_tracker_config){.live_max = 128, .devices_max = 3, .ops_max = 1});
    struct cut phase;
    uint64_t rng = 11;
    int64_t live[3][40] = {{0}}, current = 0, cumulative_peak = 0, cumulative = 0;
    for (int round = 0; round < 100; round++) {
        int64_t start = current, peak = 0, allocated = 0, freed = 0;
        for (int i = 0; i < 50; i++) {
            uint64_t random = t_random(&rng);
            uint32_t device = (uint32_t)(random % 3);
            uint64_t id = random / 3 % 40;
            if (live[device][id]) {
                drop(&rig, device, id);
                freed += live[device][id];
                current -= live[device][id];
                live[device][id] = 0;
            } else {
                int64_t bytes = (int64_t)(random / 120 % 1000 + 1);
                dram(&rig, device, id, (uint64_t)bytes);
                allocated += live[device][id] = bytes;
                current += bytes;
            }
            peak = current - start > peak ? current - start : peak;
        }
        const struct tts_usage *usage = cut(&rig, &phase);
        check_pool(dram_of(usage), peak, allocated, freed);
        int64_t reached = cumulative + peak;
        cumulative_peak = reached > cumulative_peak ? reached : cumulative_peak;
        cumulative += allocated - freed;
        check_total(dram_of(usage), cumulative_peak, cumulative);
    }
    rig_done(&rig);
}

T_TEST(a_free_of_an_earlier_phase_goes_below_zero_and_lifts_no_peak)
{
    struct rig rig = rig_new();
    struct cut phase;
    l1(&rig, 0, 1, 100);
    cut(&rig, &phase);
    drop(&rig, 0, 1);
    l1(&rig, 0, 2, 40);
    cb(&rig, 0, 50);
    const struct tts_usage *usage = cut(&rig, &phase);
    check_pool(l1_of(usage), 0, 40, 100);
    T_EQ(usage->peak_cb_bytes, 50);
    T_EQ(usage->peak_total_bytes, 0); /* 100 bytes were freed before 40 and 50 were allocated */
    cb(&rig, 0, 11);
    T_EQ(cut(&rig, &phase)->peak_total_bytes, 11);
    rig_done(&rig);
}

T_TEST(a_phase_counts_of_a_program_under_way_only_what_it_adds)
{
    struct rig rig = rig_new();
    struct cut phase;
    program(&rig, 0);
    cb(&rig, 0, 1000);
    cut(&rig, &phase);
    cb(&rig, 0, 10);
    program(&rig, 0); /* frees 10 bytes, not 1010 */
    cb(&rig, 0, 30);
    const struct tts_usage *usage = cut(&rig, &phase);
    T_EQ(usage->peak_cb_bytes, 30);
    T_EQ(usage->peak_total_bytes, 30);
    T_EQ(usage->programs, 1);
    T_EQ(usage->core.bytes, 1010); /* the core has the true number of bytes */
    rig_done(&rig);
}

T_TEST(a_capture_that_begins_again_goes_on)
{
    struct rig rig = rig_new();
    struct cut phase;
    dram(&rig, 3, 1, 100);
    dram(&rig, 4, 2, 10);
    cut(&rig, &phase);
    tts_watch_detach(rig.fold, rig.watch);
    tts_fold_reset(rig.fold);
    tts_watch_attach(rig.fold, rig.watch);
    dram(&rig, 5, 1, 7);
    check_total(dram_of(cut(&rig, &phase)), 117, 117);
    T_EQ(phase.phase.device_count, 3);
    T_EQ(phase.devices[0].device, 3);
    T_EQ(phase.devices[2].device, 5);
    check_total(dram_of(usage_of(&phase, 3)), 100, 100);
    check_total(dram_of(usage_of(&phase, 5)), 7, 7);
    tts_watch_detach(rig.fold, rig.watch);
    tts_watch_reset(rig.watch);
    tts_watch_attach(rig.fold, rig.watch);
    dram(&rig, 5, 2, 7);
    check_total(dram_of(cut(&rig, &phase)), 7, 7);
    T_EQ(phase.phase.device_count, 1);
    rig_done(&rig);
}

T_TEST(what_happens_between_captures_is_in_none)
{
    struct rig rig = rig_new();
    struct cut phase;
    struct tts_watch *other = rig_watch(&rig); /* keeps the fold active */
    dram(&rig, 0, 1, 100);
    cut(&rig, &phase);
    tts_watch_detach(rig.fold, rig.watch);
    dram(&rig, 0, 2, 1000);
    dram(&rig, 9, 2, 1000);
    drop(&rig, 0, 1);
    tts_watch_attach(rig.fold, rig.watch);
    dram(&rig, 0, 3, 1);
    const struct tts_usage *usage = cut(&rig, &phase);
    check_pool(dram_of(usage), 1, 1, 0);
    check_total(dram_of(usage), 101, 101);
    T_EQ(phase.phase.device_count, 1);
    rig_unwatch(&rig, other);
    rig_done(&rig);
}

/* --- several watches -------------------------------------------------------------------- */

T_TEST(a_capture_inside_another_has_phases_of_its_own)
{
    struct rig rig = rig_new();
    struct cut outer, inner;
    dram(&rig, 0, 1, 100);
    struct tts_watch *watch = rig_watch(&rig);
    dram(&rig, 0, 2, 10);
    /* The buffer is older than the inner phase, where its free counts as any other. */
    drop(&rig, 0, 1);
    cut_of(&rig, watch, &inner);
    check_pool(dram_of(&inner.phase.usage), 10, 10, 100);
    check_total(dram_of(&inner.phase.usage), 10, -90);
    T_EQ(inner.phase.events, 2);
    dram(&rig, 0, 3, 5);
    cut_of(&rig, watch, &inner);
    check_pool(dram_of(&inner.phase.usage), 5, 5, 0);
    rig_unwatch(&rig, watch);
    const struct tts_usage *usage = cut(&rig, &outer);
    check_pool(dram_of(usage), 110, 115, 100);
    T_EQ(outer.phase.events, 4);
    rig_done(&rig);
}

T_TEST(watches_end_in_any_order)
{
    struct rig rig = rig_new();
    struct cut phase;
    struct tts_watch *a = rig_watch(&rig), *b = rig_watch(&rig);
    dram(&rig, 0, 1, 1);
    rig_unwatch(&rig, a); /* removes the watch in the middle of the list */
    dram(&rig, 0, 2, 2);
    cut_of(&rig, b, &phase);
    check_pool(dram_of(&phase.phase.usage), 3, 3, 0);
    rig_unwatch(&rig, b);
    check_pool(dram_of(cut(&rig, &phase)), 3, 3, 0);
    rig_done(&rig);
}

/* --- operations and traces -------------------------------------------------------------- */

T_TEST(operations_are_counted_for_all_devices_together)
{
    struct rig rig = rig_new();
    struct cut phase;
    dram(&rig, 0, 1, 1);
    op_begin(&rig, "a");
    op_begin(&rig, "b");
    op_end(&rig);
    op_end(&rig);
    const struct tts_usage *usage = cut(&rig, &phase);
    T_EQ(usage->ops, 2);
    T_EQ(usage_of(&phase, 0)->ops, 0);
    T_EQ(phase.phase.events, 5);
    T_EQ(cut(&rig, &phase)->ops, 0);
    rig_done(&rig);
}

T_TEST(traces_nest_and_an_end_without_a_begin_is_none)
{
    struct rig rig = rig_new();
    struct cut phase;
    trace(&rig, 0, false);
    dram(&rig, 0, 1, 1);
    trace(&rig, 0, true);
    dram(&rig, 0, 2, 10);
    dram(&rig, 1, 2, 5000); /* no trace is active on this device */
    trace(&rig, 0, true);
    l1(&rig, 0, 3, 100);
    small(&rig, 0, 4, 10000);
    trace(&rig, 0, false);
    dram(&rig, 0, 5, 1000);
    cut(&rig, &phase);
    T_EQ(phase.phase.usage.traces, 1);
    T_EQ(phase.phase.usage.traced_bytes, 1110);
    T_EQ(usage_of(&phase, 0)->traced_bytes, 1110);
    T_EQ(usage_of(&phase, 1)->traced_bytes, 0);
    T_EQ(usage_of(&phase, 1)->traces, 0);
    dram(&rig, 0, 6, 1); /* the trace is still active */
    trace(&rig, 0, false);
    dram(&rig, 0, 7, 10);
    trace(&rig, 0, false);
    const struct tts_usage *usage = cut(&rig, &phase);
    T_EQ(usage->traced_bytes, 1);
    T_EQ(usage->traces, 1);
    T_EQ(usage_of(&phase, 0)->traces, 1);
    rig_done(&rig);
}

/* --- extremes --------------------------------------------------------------------------- */

T_TEST(the_largest_sizes_come_and_go_without_a_trace)
{
    struct rig rig = rig_new();
    struct cut phase;
    const uint64_t most = UINT64_C(1) << 52;
    dram(&rig, 0, 1, most);
    T_EQ(dram_of(cut(&rig, &phase))->peak_bytes, INT64_C(1) << 52);
    for (uint64_t id = 2; id < 10; id++)
        dram(&rig, 0, id, most);
    for (uint64_t id = 1; id < 10; id++)
        drop(&rig, 0, id);
    cut(&rig, &phase);
    dram(&rig, 0, 1, 3);
    const struct tts_usage *usage = cut(&rig, &phase);
    check_pool(dram_of(usage), 3, 3, 0);
    T_EQ(dram_of(usage)->cumulative_current_bytes, 3);
    rig_done(&rig);
}

T_TEST(frees_of_the_largest_sizes_go_far_below_zero)
{
    struct rig rig = rig_new();
    struct cut phase;
    drop_sized(&rig, 0, TTS_POOL_DRAM, 1, UINT64_C(1) << 52);
    drop_sized(&rig, 0, TTS_POOL_L1, 2, UINT64_C(1) << 52);
    dram(&rig, 0, 3, 5);
    const struct tts_usage *usage = cut(&rig, &phase);
    check_pool(dram_of(usage), 0, 5, INT64_C(1) << 52);
    T_EQ(dram_of(usage)->cumulative_current_bytes, 5 - (INT64_C(1) << 52));
    T_EQ(usage->peak_total_bytes, 0);
    rig_done(&rig);
}
