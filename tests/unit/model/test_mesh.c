/* Tests of the figures of several devices, and of the chips of a mesh. */
#include "harness/fold_rig.h"

/* --- devices and meshes ----------------------------------------------------------------- */

T_TEST(devices_are_listed_by_their_first_event_whatever_it_is)
{
    struct rig rig = rig_new();
    struct cut phase;
    drop(&rig, 40, 1);
    post(&rig, (struct tts_event){.kind = TTS_EVENT_CB,
                                  .device = 7,
                                  .borrowed = true,
                                  .size_bytes = 1,
                                  .ranges = &grid8,
                                  .range_count = 1});
    trace(&rig, 30, false);
    program(&rig, UINT32_MAX);
    dram(&rig, 0, 1, 1);
    dram(&rig, 40, 1, 1);
    static const uint32_t order[] = {40, 7, 30, UINT32_MAX, 0};
    for (int round = 0; round < 2; round++) {
        cut(&rig, &phase);
        T_EQ(phase.phase.device_count, 5);
        for (int i = 0; i < 5; i++)
            T_EQ(phase.devices[i].device, order[i]);
    }
    rig_done(&rig);
}

T_TEST(of_all_devices_dram_is_the_sum_and_l1_is_that_of_the_fullest)
{
    struct rig rig = rig_new();
    struct cut phase;
    dram(&rig, 0, 1, 100);
    l1(&rig, 0, 2, 10);
    cb(&rig, 0, 7);
    drop(&rig, 0, 1);
    dram(&rig, 1, 1, 40);
    l1(&rig, 1, 2, 11);
    drop(&rig, 1, 2);
    part(&rig, 1, TTS_EVENT_DFB, grid8, 2);
    const struct tts_usage *usage = cut(&rig, &phase);
    check_pool(dram_of(usage), 100, 140, 100);
    check_pool(l1_of(usage), 11, 11, 11);
    check_total(l1_of(usage), 11, 0);
    T_EQ(usage->peak_cb_bytes, 7);
    T_EQ(usage->peak_dfb_bytes, 2);
    T_EQ(usage->peak_total_bytes, 17);
    T_EQ(usage->core.device, 0);
    T_EQ(usage->core.bytes, 17);
    l1(&rig, 0, 3, 5); /* device 0 now has the highest peak of one device, and 15 in total */
    usage = cut(&rig, &phase);
    check_pool(l1_of(usage), 5, 5, 0);
    check_total(l1_of(usage), 15, 15);
    drop(&rig, 0, 2); /* no device has a peak, so the one with the largest changes counts */
    usage = cut(&rig, &phase);
    check_pool(l1_of(usage), 0, 0, 10);
    check_total(l1_of(usage), 15, 5);
    rig_done(&rig);
}

T_TEST(without_a_peak_the_device_that_did_most_is_told)
{
    struct rig rig = rig_new();
    struct cut phase;
    dram(&rig, 0, 1, 1);
    l1(&rig, 1, 1, 10);
    l1(&rig, 2, 1, 30);
    cut(&rig, &phase);
    drop(&rig, 1, 1);
    check_pool(l1_of(cut(&rig, &phase)), 0, 0, 10);
    drop(&rig, 2, 1);
    l1(&rig, 2, 2, 5); /* allocates many bytes, but makes no peak */
    l1(&rig, 1, 2, 1);
    drop(&rig, 1, 2);
    check_pool(l1_of(cut(&rig, &phase)), 1, 1, 1);
    drop(&rig, 2, 2);
    l1(&rig, 2, 3, 2);
    drop_sized(&rig, 1, TTS_POOL_L1, 99, 70);
    /* Allocated bytes are compared before freed bytes. */
    check_pool(l1_of(cut(&rig, &phase)), 0, 2, 5);
    rig_done(&rig);
}

T_TEST(cumulative_l1_is_that_of_the_device_that_ever_had_most)
{
    struct rig rig = rig_new();
    struct cut phase;
    l1(&rig, 0, 1, 100);
    cut(&rig, &phase);
    l1(&rig, 1, 1, 40);
    drop(&rig, 0, 1);
    const struct tts_usage *usage = cut(&rig, &phase);
    check_pool(l1_of(usage), 40, 40, 0);
    check_total(l1_of(usage), 100, 0);
    check_total(l1_of(usage_of(&phase, 1)), 40, 40);
    rig_done(&rig);
}

T_TEST(of_devices_with_equal_cores_the_first_listed_is_told)
{
    struct rig rig = rig_new();
    struct cut phase;
    dram(&rig, 5, 1, 1);
    dram(&rig, 6, 1, 1);
    cut(&rig, &phase);
    T_TRUE(!phase.phase.usage.core.known);
    T_EQ(phase.phase.usage.core.device, 0); /* no core is known, so the device is 0 */
    l1(&rig, 6, 2, 10);
    l1(&rig, 5, 2, 10);
    T_EQ(cut(&rig, &phase)->core.device, 5);
    l1(&rig, 6, 3, 1);
    T_EQ(cut(&rig, &phase)->core.device, 6);
    rig_done(&rig);
}

T_TEST(the_end_of_a_mesh_ends_the_trace_of_a_chip_but_counts_for_none_of_its_own)
{
    struct rig rig = rig_new();
    struct cut phase;
    T_EQ(tts_fold_chip(rig.fold, 0, 9, NULL), TTS_OK);
    T_EQ(tts_fold_chip(rig.fold, 1, 9, NULL), TTS_OK);
    trace(&rig, 1, true);
    dram(&rig, 9, 1, 10);
    trace(&rig, 9, false);
    dram(&rig, 1, 2, 5);
    cut(&rig, &phase);
    T_EQ(phase.phase.usage.traces, 0);
    T_EQ(phase.phase.usage.traced_bytes, 0); /* no trace was active on the mesh */
    T_EQ(usage_of(&phase, 9)->traces, 0);
    T_EQ(usage_of(&phase, 0)->traces, 0);
    T_EQ(usage_of(&phase, 1)->traces, 1);
    T_EQ(usage_of(&phase, 1)->traced_bytes, 10);
    rig_done(&rig);
}

T_TEST(the_event_of_a_mesh_is_one_of_each_chip_and_counts_once)
{
    struct rig rig = rig_new();
    struct cut phase;
    T_EQ(tts_fold_chip(rig.fold, 0, 9, NULL), TTS_OK);
    T_EQ(tts_fold_chip(rig.fold, 1, 9, NULL), TTS_OK);
    dram(&rig, 9, 1, 100);
    l1(&rig, 9, 2, 10);
    program(&rig, 0);
    cb(&rig, 0, 5);
    dram(&rig, 1, 3, 7);
    trace(&rig, 9, true);
    dram(&rig, 9, 4, 3);
    trace(&rig, 9, false);
    const struct tts_usage *usage = cut(&rig, &phase);
    check_pool(dram_of(usage), 110, 110, 0);
    T_EQ(usage->traces, 1);
    T_EQ(usage->traced_bytes, 3);
    T_EQ(usage->programs, 1);
    T_EQ(usage->peak_cb_bytes, 5);
    T_EQ(usage->peak_total_bytes, 15);
    static const uint32_t order[] = {9, 0, 1};
    static const int64_t peaks[] = {103, 103, 110}, totals[] = {10, 15, 10};
    for (int i = 0; i < 3; i++) {
        T_EQ(phase.devices[i].device, order[i]);
        usage = &phase.devices[i].usage;
        T_EQ(dram_of(usage)->peak_bytes, peaks[i]);
        T_EQ(usage->peak_total_bytes, totals[i]);
        T_EQ(usage->traced_bytes, 3);
        T_EQ(usage->traces, 1);
    }
    T_EQ(phase.phase.usage.core.device, 0);
    T_EQ(phase.phase.usage.core.bytes, 15);
    drop(&rig, 9, 2);
    drop(&rig, 9, 1);
    cut(&rig, &phase);
    check_pool(dram_of(usage_of(&phase, 1)), 0, 0, 100);
    check_pool(l1_of(usage_of(&phase, 0)), 0, 0, 10);
    rig_done(&rig);
}

T_TEST(the_program_of_a_mesh_is_one_of_each_chip)
{
    struct rig rig = rig_new();
    struct cut phase;
    T_EQ(tts_fold_chip(rig.fold, 0, 9, NULL), TTS_OK);
    cb(&rig, 9, 100);
    cb(&rig, 0, 10);
    program(&rig, 0); /* the program of this chip ends */
    cb(&rig, 9, 20);
    cut(&rig, &phase);
    T_EQ(usage_of(&phase, 9)->peak_cb_bytes, 120);
    T_EQ(usage_of(&phase, 0)->peak_cb_bytes, 110);
    program(&rig, 9);
    cut(&rig, &phase);
    T_EQ(usage_of(&phase, 0)->programs, 1);
    T_EQ(phase.phase.usage.programs, 1);
    cut(&rig, &phase);
    T_TRUE(!phase.phase.usage.core.known);
    rig_done(&rig);
}

T_TEST(a_chip_that_is_told_of_late_has_the_past_of_its_mesh)
{
    struct rig rig = rig_new();
    struct cut phase;
    dram(&rig, 9, 1, 100);
    cut(&rig, &phase);
    l1(&rig, 9, 2, 10);
    l1(&rig, 9, 3, 20);
    cb(&rig, 9, 50);
    program(&rig, 9);
    cb(&rig, 9, 4);
    drop(&rig, 9, 3);
    trace(&rig, 9, true);
    T_EQ(tts_fold_chip(rig.fold, 0, 9, NULL), TTS_OK);
    /* The chip is already known, so the call has no effect. */
    T_EQ(tts_fold_chip(rig.fold, 0, 9, NULL), TTS_OK);
    dram(&rig, 9, 5, 1);
    trace(&rig, 9, false);
    cut(&rig, &phase);
    const struct tts_usage *chip = usage_of(&phase, 0), *mesh = usage_of(&phase, 9);
    T_MEM_EQ(chip->pools, mesh->pools, sizeof chip->pools);
    check_total(dram_of(chip), 101, 101);
    T_EQ(chip->peak_cb_bytes, 50);
    T_EQ(chip->peak_total_bytes, 80);
    T_EQ(chip->programs, 1);
    T_EQ(chip->traced_bytes, 1);
    T_EQ(chip->core.bytes, 80);
    T_EQ(chip->core.part_count, 3);
    for (int i = 0; i < 3; i++)
        T_MEM_EQ(&chip->core.parts[i], &mesh->core.parts[i], sizeof chip->core.parts[i]);
    T_TRUE(!chip->core.at_least);
    drop(&rig, 9, 2);
    program(&rig, 0);
    cut(&rig, &phase);
    T_EQ(usage_of(&phase, 0)->core.bytes, 14);
    cut(&rig, &phase);
    T_TRUE(!usage_of(&phase, 0)->core.known);
    T_EQ(usage_of(&phase, 9)->core.bytes, 4); /* the program of the mesh continues */
    rig_done(&rig);
}

T_TEST(a_chip_with_a_past_of_its_own_gets_the_sums_of_its_mesh)
{
    struct rig rig = rig_new();
    struct cut phase;
    dram(&rig, 0, 1, 5);
    program(&rig, 0);
    cb(&rig, 0, 7);
    dram(&rig, 9, 1, 100);
    T_EQ(tts_fold_chip(rig.fold, 0, 9, NULL), TTS_OK);
    cut(&rig, &phase);
    check_pool(dram_of(usage_of(&phase, 0)), 105, 105, 0);
    T_EQ(usage_of(&phase, 0)->core.bytes, 7);
    T_TRUE(!usage_of(&phase, 0)->core.at_least); /* the mesh had no parts on its cores */
    rig_done(&rig);
}

T_TEST(a_chip_that_is_told_of_late_is_as_uncertain_as_its_mesh)
{
    struct once memory;
    struct rig rig = rig_that_does_not_grow(
        (struct tts_tracker_config){.live_max = 1, .devices_max = 4, .ops_max = 1}, &memory);
    struct cut phase;
    l1(&rig, 9, 1, 10);
    l1(&rig, 9, 2, 10); /* there is no memory for this buffer */
    T_EQ(tts_fold_chip(rig.fold, 0, 9, NULL), TTS_OK);
    cut(&rig, &phase);
    T_EQ(usage_of(&phase, 0)->core.bytes, 10);
    T_TRUE(usage_of(&phase, 0)->core.at_least);
    rig_done(&rig);
}

T_TEST(a_chip_sees_what_its_mesh_had_before_the_capture)
{
    struct rig rig = rig_new();
    struct cut phase;
    l1(&rig, 9, 1, 10);
    struct tts_watch *inner = rig_watch(&rig);
    dram(&rig, 0, 1, 1);
    T_EQ(tts_fold_chip(rig.fold, 0, 9, NULL), TTS_OK);
    drop(&rig, 9, 1);
    cut_of(&rig, inner, &phase);
    const struct tts_core_peak *core = &usage_of(&phase, 0)->core;
    T_EQ(core->bytes, 10);
    T_EQ(core->seq, 1);
    T_EQ(core->part_count, 1);
    T_TRUE(!core->at_least);
    rig_unwatch(&rig, inner);
    rig_done(&rig);
}

T_TEST(two_pasts_on_the_cores_begin_anew_and_are_at_least)
{
    struct rig rig = rig_new();
    struct cut phase;
    cb(&rig, 0, 7);
    l1(&rig, 9, 1, 100);
    T_EQ(tts_fold_chip(rig.fold, 0, 9, NULL), TTS_OK);
    cut(&rig, &phase);
    const struct tts_core_peak *core = &usage_of(&phase, 0)->core;
    T_EQ(core->bytes, 107);
    T_EQ(core->part_count, 2);
    T_EQ(core->unlisted, 0);
    T_TRUE(core->at_least && phase.phase.usage.core.at_least);
    T_TRUE(!usage_of(&phase, 9)->core.at_least);
    drop(&rig, 9, 1);
    program(&rig, 0);
    cut(&rig, &phase);
    T_EQ(usage_of(&phase, 0)->core.bytes, 107);
    rig_done(&rig);
}

static void refused(struct rig *rig, uint32_t chip, uint32_t mesh, enum tts_status status)
{
    struct tts_error err = {0};
    T_EQ(tts_fold_chip(rig->fold, chip, mesh, &err), status);
    T_EQ(err.status, status);
    T_TRUE(strlen(err.text) > 20);
    T_EQ(tts_fold_chip(rig->fold, chip, mesh, NULL), status);
}

T_TEST(meshes_that_cannot_be_are_refused)
{
    struct rig rig =
        rig_with((struct tts_tracker_config){.live_max = 4, .devices_max = 4, .ops_max = 1});
    T_EQ(tts_fold_chip(rig.fold, 0, 9, NULL), TTS_OK);
    refused(&rig, 5, 5, TTS_E_INVALID);
    refused(&rig, 9, 8, TTS_E_INVALID); /* this device is a mesh itself */
    refused(&rig, 8, 0, TTS_E_INVALID); /* a chip cannot be a mesh */
    T_EQ(tts_fold_chip(rig.fold, 1, 9, NULL), TTS_OK);
    /* There is room for one more device, but two are needed. */
    refused(&rig, 2, 3, TTS_E_RANGE);
    T_EQ(tts_fold_chip(rig.fold, 2, 9, NULL), TTS_OK);
    refused(&rig, 3, 9, TTS_E_RANGE);
    rig_done(&rig);
}

T_TEST(a_chip_and_a_mesh_of_too_many_bytes_stay_apart)
{
    struct rig rig = rig_new();
    post(&rig, (struct tts_event){.kind = TTS_EVENT_ALLOC,
                                  .device = 9,
                                  .pool = TTS_POOL_L1,
                                  .size_bytes = 1,
                                  .bytes_per_bank = UINT64_C(1) << 62});
    l1(&rig, 0, 1, 1);
    refused(&rig, 0, 9, TTS_E_RANGE);
    drop(&rig, 0, 1);
    T_EQ(tts_fold_chip(rig.fold, 0, 9, NULL), TTS_OK);
    rig_done(&rig);
}

/* --- meshes that come and go ------------------------------------------------------------ */

T_TEST(a_chip_moves_to_the_mesh_that_is_opened_next)
{
    struct rig rig = rig_new();
    struct cut phase;
    T_EQ(tts_fold_chip(rig.fold, 0, 9, NULL), TTS_OK);
    T_EQ(tts_fold_chip(rig.fold, 1, 9, NULL), TTS_OK);
    T_EQ(tts_fold_chip(rig.fold, 2, 9, NULL), TTS_OK);
    l1(&rig, 9, 1, 100);
    refused(&rig, 1, 8, TTS_E_BUSY); /* mesh 9 has a buffer on its chips */
    drop(&rig, 9, 1);
    /* The chip is in the middle of the list of its mesh. */
    T_EQ(tts_fold_chip(rig.fold, 1, 8, NULL), TTS_OK);
    /* The chip is the last one in the list of its mesh. */
    T_EQ(tts_fold_chip(rig.fold, 2, 8, NULL), TTS_OK);
    cut(&rig, &phase);
    l1(&rig, 8, 2, 50);
    l1(&rig, 9, 3, 7);
    for (int i = 0; i < 5; i++) {
        program(&rig, 8); /* ends the circular buffers of chip 1 each time */
        cb(&rig, 1, 1000);
    }
    const struct tts_usage *usage = cut(&rig, &phase);
    T_EQ(usage->peak_cb_bytes, 1000);
    T_EQ(usage->core.bytes, 1050);
    T_EQ(usage->core.device, 1);
    T_TRUE(tts_fold_is_valid(rig.fold));
    for (size_t i = 0; i < phase.phase.device_count; i++) {
        const struct tts_device_usage *of = &phase.devices[i];
        bool is_old = of->device == 9 || of->device == 0;
        T_EQ(of->usage.pools[TTS_POOL_L1].peak_bytes, is_old ? 7 : 50);
    }
    T_EQ(tts_fold_chip(rig.fold, 3, 9, NULL), TTS_OK); /* the list of mesh 9 is still correct */
    l1(&rig, 9, 4, 5);
    T_TRUE(tts_fold_is_valid(rig.fold));
    rig_done(&rig);
}
