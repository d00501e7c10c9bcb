/* Tests with more parts on a core than can be listed, kept or counted. */
#include "harness/core_rig.h"
#include "model/cores.h"

static const struct tts_core_range one = {0, 0, 0, 0};

/* --- long lists ------------------------------------------------------------------------- */

T_TEST(of_more_than_64_parts_the_largest_are_listed_gone_or_not)
{
    enum { COUNT = 150 };
    struct rig rig = rig_new();
    struct cut phase;
    for (uint64_t id = 1; id <= COUNT; id++)
        l1(&rig, 0, id, (id * 37) % COUNT + 1); /* the numbers 1 to COUNT in a mixed order */
    for (uint64_t id = 1; id <= COUNT; id += 2)
        drop(&rig, 0, id);
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, COUNT * (COUNT + 1) / 2, 0, 0);
    T_EQ(core->part_count, TTS_CORE_PARTS_MAX);
    T_EQ(core->unlisted, COUNT - TTS_CORE_PARTS_MAX);
    for (uint64_t i = 0; i < core->part_count; i++)
        T_EQ(core->parts[i].bytes, COUNT - i);
    uint64_t rest = COUNT - TTS_CORE_PARTS_MAX;
    T_EQ(core->unlisted_bytes, rest * (rest + 1) / 2);
    rig_done(&rig);
}

T_TEST(of_equal_parts_the_oldest_64_are_listed)
{
    struct rig rig = rig_new();
    struct cut phase;
    for (uint64_t id = 1; id <= 100; id++)
        l1(&rig, 0, id, 8);
    for (uint64_t id = 100; id > 1; id -= 3)
        drop(&rig, 0, id);
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, 800, 0, 0);
    T_EQ(core->part_count, TTS_CORE_PARTS_MAX);
    for (uint64_t i = 0; i < TTS_CORE_PARTS_MAX; i++)
        check_part(core, i, TTS_EVENT_ALLOC, i + 1, 8);
    rig_done(&rig);
}

T_TEST(a_program_of_more_parts_than_are_listed_counts_all_bytes)
{
    struct rig rig = rig_new();
    struct cut phase;
    for (int i = 0; i < TTS_PROGRAM_PARTS_MAX; i++)
        part(&rig, 0, TTS_EVENT_CB, (struct tts_core_range){1, 1, 1, 1}, 1);
    for (int i = 0; i < 5; i++)
        part(&rig, 0, TTS_EVENT_DFB, (struct tts_core_range){1, 1, 1, 1}, 1000);
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, TTS_PROGRAM_PARTS_MAX + 5000, 1, 1);
    T_EQ(core->dfb_bytes, 5000);
    T_EQ(core->part_count, TTS_CORE_PARTS_MAX);
    T_EQ(core->unlisted, TTS_PROGRAM_PARTS_MAX + 5 - TTS_CORE_PARTS_MAX);
    T_TRUE(!core->at_least);
    program(&rig, 0);
    core = peak(&rig, &phase);
    check_core(core, TTS_PROGRAM_PARTS_MAX + 5000, 1, 1);
    core = peak(&rig, &phase);
    T_TRUE(!core->known);
    rig_done(&rig);
}

/* Returns range number `n` of many different ranges. */
static struct tts_core_range range_at(uint32_t n)
{
    uint16_t x0 = (uint16_t)(n % 64), y0 = (uint16_t)(n / 64 % 64);
    return (struct tts_core_range){x0, y0, x0, n < 4096 ? y0 : 63};
}

T_TEST(more_sets_of_cores_than_can_be_kept_are_at_least)
{
    struct rig rig =
        rig_with((struct tts_tracker_config){.live_max = 8192, .devices_max = 1, .ops_max = 1});
    struct cut phase;
    for (uint32_t n = 0; n < TTS_CORESETS_MAX; n++) {
        struct tts_core_range range = range_at(n);
        percore(&rig, n, &range, 1, 1);
    }
    check_core(peak(&rig, &phase), 1, 0, 0);
    T_TRUE(!phase.phase.usage.core.at_least);
    struct tts_core_range more = range_at(TTS_CORESETS_MAX);
    part(&rig, 0, TTS_EVENT_CB, more, 5); /* this part is counted but not listed */
    const struct tts_core_peak *core = peak(&rig, &phase);
    check_core(core, 6, 0, 0);
    T_EQ(core->unlisted, 1);
    T_EQ(core->unlisted_bytes, 5);
    T_TRUE(!core->at_least);
    percore(&rig, 9999, &more, 1, 100); /* there is no set left, so the buffer is on no core */
    core = peak(&rig, &phase);
    check_core(core, 6, 0, 0);
    T_TRUE(core->at_least);
    drop(&rig, 0, 9999);
    drop(&rig, 0, 0); /* a set of cores becomes free again */
    percore(&rig, 9999, &more, 1, 100);
    core = peak(&rig, &phase);
    check_core(core, 106, 0, 1); /* another part is on the core too */
    T_TRUE(core->at_least);      /* stays true until the fold is reset */
    tts_watch_detach(rig.fold, rig.watch);
    tts_fold_reset(rig.fold);
    tts_watch_attach(rig.fold, rig.watch);
    for (uint32_t n = 0; n < TTS_CORESETS_MAX; n++) {
        struct tts_core_range range = range_at(n);
        range.y1 = 63;
        percore(&rig, n, &range, 1, 1);
    }
    T_TRUE(!peak(&rig, &phase)->at_least);
    rig_done(&rig);
}

/* --- extremes --------------------------------------------------------------------------- */

T_TEST(more_than_a_core_can_count_is_left_out_and_said)
{
    struct rig rig = rig_new();
    struct cut phase;
    const uint64_t most = UINT64_C(1) << 62;
    part(&rig, 0, TTS_EVENT_CB, one, most);
    post(&rig, (struct tts_event){.kind = TTS_EVENT_ALLOC,
                                  .pool = TTS_POOL_L1,
                                  .id = 1,
                                  .size_bytes = 1,
                                  .bytes_per_bank = most});
    check_core(peak(&rig, &phase), UINT64_C(1) << 63, 0, 0);
    T_TRUE(!phase.phase.usage.core.at_least);
    part(&rig, 0, TTS_EVENT_CB, (struct tts_core_range){5, 5, 5, 5}, 1);
    check_core(peak(&rig, &phase), UINT64_C(1) << 63, 0, 0);
    T_TRUE(phase.phase.usage.core.at_least);
    l1(&rig, 0, 2, 1);
    percore(&rig, 3, &one, 1, 1);
    check_core(peak(&rig, &phase), UINT64_C(1) << 63, 0, 0);
    drop(&rig, 0, 3);
    drop(&rig, 0, 2);
    drop(&rig, 0, 1);
    program(&rig, 0);
    peak(&rig, &phase);
    T_TRUE(!peak(&rig, &phase)->known);
    rig_done(&rig);
}
