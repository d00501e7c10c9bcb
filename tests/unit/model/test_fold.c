/* Tests the fold: it gets events, and returns its health and the live buffers. */
#include "harness/fold_rig.h"
#include "torture/heap.h"

/* --- effects of events for a reader ------------------------------------------------------ */

static struct tts_change change_by(struct rig *rig, struct tts_event event)
{
    struct tts_change change;
    memset(&change, 0xff, sizeof change); /* the function must set all fields */
    T_TRUE(tts_fold_change(rig->fold, &event, rig->op, &change) != TTS_FOLD_DROPPED);
    return change;
}

static struct tts_event buffer_event(enum tts_event_kind kind, enum tts_pool pool, uint64_t id,
                                     uint64_t bytes)
{
    struct tts_event event = tts_event_of(kind, 3);
    event.pool = pool;
    event.id = id;
    event.size_bytes = bytes;
    if (tts_pool_is_l1(pool))
        event.bytes_per_bank = bytes / 8;
    return event;
}

static bool has_nothing(const struct tts_change *change)
{
    return !change->has_come && !change->has_left && !change->has_unseen && !change->has_chip &&
           !change->is_restored && !change->is_unlisted;
}

T_TEST(an_event_tells_which_buffer_came_and_which_left)
{
    struct rig rig = rig_new();
    for (enum tts_pool pool = 0; pool < TTS_POOLS; pool++) {
        uint64_t seq = tts_fold_seq(rig.fold);
        struct tts_change change = change_by(&rig, buffer_event(TTS_EVENT_ALLOC, pool, 7, 800));
        T_TRUE(change.has_come && !change.has_left && !change.has_unseen && !change.has_chip);
        T_TRUE(!change.is_restored && !change.is_unlisted && change.seq == seq + 1);
        T_TRUE(change.came.id == 7 && change.came.device == 3 && change.came.pool == pool);
        T_TRUE(change.came.size_bytes == 800 && change.came.seq == seq + 1);
        T_EQ(tts_live_bytes(&change.came), tts_pool_is_l1(pool) ? 100 : 800);
        T_EQ(change.came.block_bytes, tts_pool_is_l1(pool) ? 100 : 0);
        /* The sizes of a free are ignored, because the ledger has the size of the buffer. */
        change = change_by(&rig, buffer_event(TTS_EVENT_FREE, TTS_POOL_DRAM, 7, 1));
        T_TRUE(change.has_left && !change.has_come && !change.has_unseen);
        T_TRUE(change.left.id == 7 && change.left.pool == pool && change.left.seq == seq + 1);
        T_TRUE(change.left.size_bytes == 800 && change.seq == seq + 2);
    }
    rig_done(&rig);
}

T_TEST(an_id_that_is_given_again_makes_one_leave_and_one_come)
{
    struct rig rig = rig_new();
    for (enum tts_pool pool = 0; pool < TTS_POOLS; pool++) {
        change_by(&rig, buffer_event(TTS_EVENT_ALLOC, TTS_POOL_L1, 7, 64));
        struct tts_change change = change_by(&rig, buffer_event(TTS_EVENT_ALLOC, pool, 7, 800));
        T_TRUE(change.has_left && change.left.pool == TTS_POOL_L1);
        T_TRUE(change.left.size_bytes == 64 && change.left.bytes_per_bank == 8);
        T_EQ(change.left.seq + 1, change.came.seq);
        T_TRUE(change.has_come && change.came.pool == pool && change.came.size_bytes == 800);
        change_by(&rig, buffer_event(TTS_EVENT_FREE, TTS_POOL_DRAM, 7, 0));
    }
    rig_done(&rig);
}

T_TEST(a_free_of_what_was_never_seen_is_told_with_its_size)
{
    struct rig rig = rig_new();
    for (enum tts_pool pool = 0; pool < TTS_POOLS; pool++) {
        struct tts_change change = change_by(&rig, buffer_event(TTS_EVENT_FREE, pool, 9, 80));
        T_TRUE(change.has_unseen && !change.has_left && !change.has_come);
        T_TRUE(change.left.id == 9 && change.left.device == 3 && change.left.pool == pool);
        T_EQ(tts_live_bytes(&change.left), tts_pool_is_l1(pool) ? 10 : 80);
        change = change_by(&rig, buffer_event(TTS_EVENT_FREE, pool, 9, 0));
        T_TRUE(has_nothing(&change)); /* the size of the buffer is unknown */
    }
    rig_done(&rig);
}

T_TEST(events_that_move_no_buffer_tell_of_none)
{
    struct rig rig = rig_new();
    struct tts_change change =
        change_by(&rig, buffer_event(TTS_EVENT_ALLOC, TTS_POOL_DRAM, 1, 0));
    T_TRUE(has_nothing(&change) && change.seq == 1);
    change = change_by(&rig, tts_event_of(TTS_EVENT_PROGRAM, 3));
    T_TRUE(has_nothing(&change) && change.seq == 2);
    change = change_by(&rig, tts_event_of(TTS_EVENT_TRACE_BEGIN, 3));
    T_TRUE(has_nothing(&change) && change.seq == 3);
    rig_done(&rig);
}

T_TEST(a_buffer_that_there_is_no_memory_for_comes_unlisted_and_leaves_unseen)
{
    struct once memory;
    struct rig rig = rig_that_does_not_grow(
        (struct tts_tracker_config){.live_max = 1, .devices_max = 4, .ops_max = 4}, &memory);
    struct tts_change change =
        change_by(&rig, buffer_event(TTS_EVENT_ALLOC, TTS_POOL_DRAM, 1, 8));
    T_TRUE(change.has_come && !change.is_unlisted);
    for (enum tts_pool pool = 0; pool < TTS_POOLS; pool++) {
        change = change_by(&rig, buffer_event(TTS_EVENT_ALLOC, pool, 2, 80));
        T_TRUE(change.has_come && change.is_unlisted && !change.has_left);
        T_TRUE(change.came.id == 2 && change.came.pool == pool && change.came.device == 3);
        T_EQ(tts_live_bytes(&change.came), tts_pool_is_l1(pool) ? 10 : 80);
        T_EQ(change.came.seq, tts_fold_seq(rig.fold));
        change = change_by(&rig, buffer_event(TTS_EVENT_FREE, pool, 2, 80));
        T_TRUE(change.has_unseen && change.left.pool == pool);
    }
    rig_done(&rig);
}

/* --- now ---------------------------------------------------------------------------------- */

static void check_now(const struct tts_pool_now *now, uint64_t buffers, uint64_t bytes)
{
    T_EQ(now->buffers, buffers);
    T_EQ(now->bytes, bytes);
}

T_TEST(each_live_buffer_is_told_once)
{
    struct rig rig = rig_new();
    struct tts_live live;
    uint32_t cursor = 0;
    T_TRUE(!tts_fold_next_live(rig.fold, &cursor, &live));
    dram(&rig, 0, 1, 10);
    dram(&rig, 0, 2, 20);
    l1(&rig, 1, 3, 30);
    drop(&rig, 0, 1);
    uint64_t ids = 0;
    cursor = 0;
    for (int i = 0; i < 2; i++) {
        T_TRUE(tts_fold_next_live(rig.fold, &cursor, &live));
        ids += live.id;
        T_EQ(tts_live_bytes(&live), live.id * 10);
    }
    T_EQ(ids, 2 + 3);
    T_TRUE(!tts_fold_next_live(rig.fold, &cursor, &live));
    rig_done(&rig);
}

T_TEST(pools_now_are_sums_of_dram_and_the_l1_of_the_fullest_device)
{
    struct rig rig = rig_new();
    struct tts_pool_now now[TTS_POOLS];
    T_EQ(tts_fold_chip(rig.fold, 1, 9, NULL), TTS_OK);
    T_EQ(tts_fold_chip(rig.fold, 2, 9, NULL), TTS_OK);
    dram(&rig, 9, 1, 100); /* a buffer of a mesh counts once for all its chips */
    dram(&rig, 1, 2, 30);
    dram(&rig, 5, 3, 7);
    l1(&rig, 9, 4, 50);
    l1(&rig, 2, 5, 8);
    small(&rig, 5, 6, 4);
    l1(&rig, 5, 7, 58); /* has as many bytes as device 2, which came first */
    tts_fold_pools(rig.fold, now);
    check_now(&now[TTS_POOL_DRAM], 3, 137);
    check_now(&now[TTS_POOL_L1], 2, 58);
    check_now(&now[TTS_POOL_L1_SMALL], 1, 4);
    check_now(&now[TTS_POOL_TRACE], 0, 0);
    /* The pools of a chip include the buffers of its mesh. */
    tts_fold_pools_of(rig.fold, 1, now);
    check_now(&now[TTS_POOL_DRAM], 2, 130);
    check_now(&now[TTS_POOL_L1], 1, 50);
    tts_fold_pools_of(rig.fold, 9, now);
    check_now(&now[TTS_POOL_DRAM], 1, 100);
    tts_fold_pools_of(rig.fold, 77, now);
    check_now(&now[TTS_POOL_DRAM], 0, 0);
    rig_done(&rig);
}

T_TEST(a_core_has_its_buffers_and_its_program_now_and_no_watch_is_needed)
{
    struct rig rig = rig_new();
    struct tts_core_part parts[TTS_CORE_PARTS_MAX];
    struct tts_core_peak core;
    tts_fold_fullest_core(rig.fold, &core, parts);
    T_TRUE(!core.known && core.bytes == 0 && core.part_count == 0 && core.parts == parts);
    struct tts_core_range one = {2, 1, 2, 1};
    struct tts_event event = {.kind = TTS_EVENT_CB, .device = 4, .size_bytes = 40};
    event.ranges = &one;
    event.range_count = 1;
    l1(&rig, 4, 1, 1000);
    l1(&rig, 4, 2, 60);
    drop(&rig, 4, 1); /* frees the buffer that made the peak of the phase */
    post(&rig, event);
    tts_fold_fullest_core(rig.fold, &core, parts);
    T_TRUE(core.known && !core.at_least && core.device == 4 && core.bytes == 100);
    T_TRUE(core.core.x == 2 && core.core.y == 1 && core.seq == 4 && !core.op);
    T_TRUE(core.cb_bytes == 40 && core.l1_bytes == 60 && core.part_count == 2);
    T_TRUE(parts[0].kind == TTS_EVENT_ALLOC && parts[0].id == 2 && parts[0].bytes == 60);
    T_TRUE(parts[1].kind == TTS_EVENT_CB && parts[1].bytes == 40);
    tts_fold_core(rig.fold, 4, (struct tts_core){0, 0}, &core, parts);
    T_TRUE(core.known && core.bytes == 60 && core.cb_bytes == 0 && core.part_count == 1);
    tts_fold_core(rig.fold, 4, (struct tts_core){TTS_GRID_SIDE_MAX, 0}, &core, parts);
    T_TRUE(!core.known && core.part_count == 0);
    tts_fold_core(rig.fold, 5, (struct tts_core){0, 0}, &core, parts);
    T_TRUE(!core.known && core.device == 5);
    rig_done(&rig);
}

T_TEST(more_parts_than_are_listed_are_counted)
{
    struct rig rig = rig_new();
    struct tts_core_part parts[TTS_CORE_PARTS_MAX];
    struct tts_core_peak core;
    for (uint64_t i = 1; i <= TTS_CORE_PARTS_MAX + 2; i++)
        l1(&rig, 0, i, 10 * i);
    tts_fold_core(rig.fold, 0, (struct tts_core){3, 3}, &core, parts);
    T_EQ(core.part_count, TTS_CORE_PARTS_MAX);
    T_EQ(parts[0].id, TTS_CORE_PARTS_MAX + 2);
    T_TRUE(core.unlisted == 2 && core.unlisted_bytes == 30);
    rig_done(&rig);
}

/* --- health ----------------------------------------------------------------------------- */

T_TEST(an_allocation_of_nothing_is_an_event_and_nothing_else)
{
    struct rig rig =
        rig_with((struct tts_tracker_config){.live_max = 4, .devices_max = 1, .ops_max = 1});
    struct cut phase;
    dram(&rig, 0, 1, 100);
    dram(&rig, 0, 1, 0);
    dram(&rig, 5, 2, 0); /* there is no room for another device */
    const struct tts_usage *usage = cut(&rig, &phase);
    T_EQ(phase.phase.events, 3);
    T_EQ(phase.phase.device_count, 1);
    T_EQ(usage->pools[TTS_POOL_DRAM].allocations, 1);
    T_EQ(usage->pools[TTS_POOL_DRAM].frees, 0);
    T_EQ(health(&rig).events, 3);
    T_EQ(health(&rig).dropped + health(&rig).doubled, 0);
    rig_done(&rig);
}

T_TEST(an_id_that_lives_is_freed_before_it_is_allocated_again)
{
    struct rig rig = rig_new();
    struct cut phase;
    dram(&rig, 0, 7, 1000);
    dram(&rig, 0, 7, 300);
    const struct tts_usage *usage = cut(&rig, &phase);
    T_EQ(usage->pools[TTS_POOL_DRAM].peak_bytes, 1000);
    T_EQ(usage->pools[TTS_POOL_DRAM].allocated_bytes, 1300);
    T_EQ(usage->pools[TTS_POOL_DRAM].freed_bytes, 1000);
    T_EQ(usage->pools[TTS_POOL_DRAM].allocations, 2);
    T_EQ(usage->pools[TTS_POOL_DRAM].frees, 1);
    T_EQ(health(&rig).doubled, 1);
    T_EQ(live_of(rig.fold, NULL, 0), 1);
    rig_done(&rig);
}

T_TEST(a_doubled_id_may_change_its_pool)
{
    struct rig rig = rig_new();
    struct cut phase;
    l1(&rig, 0, 7, 1000);
    dram(&rig, 0, 7, 300);
    const struct tts_usage *usage = cut(&rig, &phase);
    T_EQ(usage->pools[TTS_POOL_L1].freed_bytes, 1000);
    T_EQ(usage->pools[TTS_POOL_DRAM].allocated_bytes, 300);
    T_EQ(usage->core.bytes, 1000);
    cut(&rig, &phase);
    T_TRUE(!phase.phase.usage.core.known);
    rig_done(&rig);
}

T_TEST(the_ledger_knows_better_than_a_free_what_is_freed)
{
    struct rig rig = rig_new();
    struct cut phase;
    dram(&rig, 0, 7, 1000);
    drop_sized(&rig, 0, TTS_POOL_L1, 7, 5);
    const struct tts_usage *usage = cut(&rig, &phase);
    T_EQ(usage->pools[TTS_POOL_DRAM].freed_bytes, 1000);
    T_EQ(usage->pools[TTS_POOL_L1].frees, 0);
    T_EQ(health(&rig).unseen_frees, 0);
    rig_done(&rig);
}

T_TEST(frees_of_what_was_not_seen_count_when_they_have_a_size)
{
    struct rig rig = rig_new();
    struct cut phase;
    drop_sized(&rig, 0, TTS_POOL_DRAM, 1, 500);
    drop_sized(&rig, 0, TTS_POOL_L1, 2, 30);
    drop(&rig, 0, 3);
    const struct tts_usage *usage = cut(&rig, &phase);
    T_EQ(usage->pools[TTS_POOL_DRAM].freed_bytes, 500);
    T_EQ(usage->pools[TTS_POOL_DRAM].cumulative_current_bytes, -500);
    T_EQ(usage->pools[TTS_POOL_DRAM].cumulative_peak_bytes, 0);
    T_EQ(usage->pools[TTS_POOL_L1].freed_bytes, 30);
    T_EQ(usage->pools[TTS_POOL_L1].frees, 1);
    T_TRUE(!usage->core.known && !usage->core.at_least);
    T_EQ(health(&rig).unseen_frees, 2);
    T_EQ(health(&rig).unknown_frees, 1);
    T_EQ(phase.phase.events, 3);
    rig_done(&rig);
}

T_TEST(one_id_on_two_devices_is_two_buffers)
{
    struct rig rig = rig_new();
    struct cut phase;
    dram(&rig, 0, 7, 1000);
    dram(&rig, 1, 7, 10);
    drop(&rig, 0, 7);
    cut(&rig, &phase);
    T_EQ(usage_of(&phase, 0)->pools[TTS_POOL_DRAM].freed_bytes, 1000);
    T_EQ(usage_of(&phase, 1)->pools[TTS_POOL_DRAM].freed_bytes, 0);
    T_EQ(health(&rig).doubled, 0);
    rig_done(&rig);
}

/* live_max is 2, so the ledger must grow several times. Its growth must not change any
 * figure. */
T_TEST(more_live_buffers_than_live_max_change_no_figure)
{
    enum { MANY = 5000 };
    struct rig small = rig_with(
        (struct tts_tracker_config){.live_max = 2, .devices_max = RIG_DEVICES, .ops_max = 16});
    struct rig large = rig_with((struct tts_tracker_config){
        .live_max = MANY, .devices_max = RIG_DEVICES, .ops_max = 16});
    struct rig *rigs[] = {&small, &large};
    static struct cut cuts[2];
    for (int r = 0; r < 2; r++) {
        for (uint64_t id = 0; id < MANY; id++)
            if (id % 5 == 0)
                l1(rigs[r], 1, id, 32 + id);
            else
                dram(rigs[r], (uint32_t)id % 2, id, 100 + id);
        /* A free that states no size. */
        for (uint64_t id = 0; id < MANY; id += 2)
            drop(rigs[r], id % 5 == 0 ? 1 : (uint32_t)id % 2, id);
        T_EQ(health(rigs[r]).unlisted + health(rigs[r]).unknown_frees, 0);
        T_EQ(live_of(rigs[r]->fold, NULL, 0), MANY / 2);
        cut(rigs[r], &cuts[r]);
        T_EQ(cuts[r].phase.usage.pools[TTS_POOL_DRAM].frees, MANY / 2 - MANY / 10);
        T_TRUE(!cuts[r].phase.usage.core.at_least);
    }
    for (int pool = 0; pool < TTS_POOLS; pool++)
        T_TRUE(memcmp(&cuts[0].phase.usage.pools[pool], &cuts[1].phase.usage.pools[pool],
                      sizeof cuts[0].phase.usage.pools[pool]) == 0);
    T_EQ(cuts[0].phase.usage.core.bytes, cuts[1].phase.usage.core.bytes);
    T_EQ(cuts[0].phase.usage.core.unlisted_bytes, cuts[1].phase.usage.core.unlisted_bytes);
    rig_done(&small);
    rig_done(&large);
}

T_TEST(without_memory_for_more_buffers_their_sums_still_count)
{
    struct once memory;
    struct rig rig = rig_that_does_not_grow(
        (struct tts_tracker_config){.live_max = 2, .devices_max = 2, .ops_max = 1}, &memory);
    struct cut phase;
    dram(&rig, 0, 1, 100);
    dram(&rig, 0, 2, 200);
    dram(&rig, 0, 3, 400);
    drop_sized(&rig, 0, TTS_POOL_DRAM, 3, 400);
    const struct tts_usage *usage = cut(&rig, &phase);
    T_EQ(usage->pools[TTS_POOL_DRAM].peak_bytes, 700);
    T_EQ(usage->pools[TTS_POOL_DRAM].freed_bytes, 400);
    T_EQ(health(&rig).unlisted, 1);
    T_EQ(health(&rig).unseen_frees, 1);
    T_TRUE(!usage->core.at_least); /* the L1 parts are complete */
    l1(&rig, 0, 4, 64);
    usage = cut(&rig, &phase);
    T_EQ(usage->pools[TTS_POOL_L1].peak_bytes, 64);
    T_TRUE(usage->core.at_least && !usage->core.known);
    T_TRUE(usage_of(&phase, 0)->core.at_least);
    rig_done(&rig);
}

T_TEST(one_device_too_many_is_dropped_and_said)
{
    struct rig rig =
        rig_with((struct tts_tracker_config){.live_max = 8, .devices_max = 2, .ops_max = 1});
    struct cut phase;
    dram(&rig, 10, 1, 100);
    dram(&rig, 11, 1, 100);
    dram(&rig, 12, 1, 100);
    program(&rig, 12);
    dram(&rig, 10, 2, 100);
    const struct tts_usage *usage = cut(&rig, &phase);
    T_EQ(usage->pools[TTS_POOL_DRAM].peak_bytes, 300);
    T_EQ(phase.phase.events, 3);
    T_EQ(phase.phase.device_count, 2);
    T_EQ(health(&rig).dropped, 2);
    T_EQ(health(&rig).events, 3);
    T_TRUE(usage->core.at_least && !usage_of(&phase, 10)->core.at_least);
    rig_done(&rig);
}

T_TEST(reset_forgets_what_lived_and_what_was_counted)
{
    struct once memory;
    struct rig rig = rig_that_does_not_grow(
        (struct tts_tracker_config){.live_max = 2, .devices_max = 2, .ops_max = 4}, &memory);
    struct cut phase;
    T_EQ(tts_fold_chip(rig.fold, 0, 1, NULL), TTS_OK);
    l1(&rig, 1, 1, 100);
    cb(&rig, 0, 50);
    trace(&rig, 0, true);
    l1(&rig, 1, 2, 100);
    l1(&rig, 1, 3, 100);
    T_EQ(health(&rig).unlisted, 1);
    tts_watch_detach(rig.fold, rig.watch);
    tts_watch_reset(rig.watch);
    tts_fold_reset(rig.fold);
    tts_watch_attach(rig.fold, rig.watch);
    T_EQ(health(&rig).events + health(&rig).unlisted, 0);
    T_EQ(live_of(rig.fold, NULL, 0), 0);
    cut(&rig, &phase);
    T_EQ(phase.phase.device_count, 0);
    T_TRUE(!phase.phase.usage.core.known && !phase.phase.usage.core.at_least);
    dram(&rig, 1, 1, 100); /* the mesh still exists, and no trace is active any more */
    cb(&rig, 0, 7);
    const struct tts_usage *usage = cut(&rig, &phase);
    T_EQ(usage->traced_bytes, 0);
    T_EQ(usage->core.bytes, 7);
    T_EQ(usage_of(&phase, 0)->pools[TTS_POOL_DRAM].peak_bytes, 100);
    rig_done(&rig);
}

/* --- live buffers ----------------------------------------------------------------------- */

T_TEST(live_buffers_are_told_oldest_first_as_many_as_there_is_room_for)
{
    enum { COUNT = 200 };
    struct rig rig = rig_new();
    uint64_t rng = 3;
    struct tts_live live[COUNT + 1];
    T_EQ(live_of(rig.fold, live, COUNT), 0);
    for (uint64_t id = 0; id < COUNT; id++)
        dram(&rig, (uint32_t)(id % 3), id, id + 1);
    for (int i = 0; i < 100; i++) { /* new buffers get the slots of freed ones */
        uint64_t id = t_random(&rng) % COUNT;
        drop(&rig, (uint32_t)(id % 3), id);
        dram(&rig, (uint32_t)(id % 3), id, id + 1);
    }
    memset(live, 0x5a, sizeof live);
    T_EQ(live_of(rig.fold, live, COUNT + 1), COUNT);
    struct tts_live few[COUNT];
    for (size_t capacity = 0; capacity < COUNT; capacity += 13) {
        T_EQ(live_of(rig.fold, few, capacity), COUNT);
        for (size_t i = 0; i < capacity; i++)
            T_MEM_EQ(&few[i], &live[i], sizeof few[i]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        T_TRUE(i == 0 || live[i].seq > live[i - 1].seq);
        T_EQ(live[i].size_bytes, live[i].id + 1);
        T_EQ(live[i].device, live[i].id % 3);
    }
    T_EQ(live[COUNT].seq, UINT64_C(0x5a5a5a5a5a5a5a5a));
    rig_done(&rig);
}

T_TEST(a_live_buffer_is_told_with_all_that_is_known_of_it)
{
    struct rig rig = rig_new();
    struct tts_live live[2];
    op_begin(&rig, "matmul");
    post(&rig, (struct tts_event){.kind = TTS_EVENT_ALLOC,
                                  .device = 4,
                                  .pool = TTS_POOL_L1_SMALL,
                                  .id = 77,
                                  .size_bytes = 1000,
                                  .bytes_per_bank = 100,
                                  .block_bytes = 128});
    op_end(&rig);
    l1(&rig, 9, 1, 64);
    T_EQ(live_of(rig.fold, live, 2), 2);
    T_EQ(live[0].id, 77);
    T_EQ(live[0].size_bytes, 1000);
    T_EQ(live[0].bytes_per_bank, 100);
    T_EQ(live[0].block_bytes, 128);
    T_EQ(live[0].seq, 2);
    T_EQ(live[0].device, 4);
    T_EQ(live[0].pool, TTS_POOL_L1_SMALL);
    T_STR_EQ(live[0].op, "matmul");
    T_EQ(live[1].block_bytes, 64); /* an event without block_bytes gets bytes_per_bank */
    T_TRUE(live[1].op == NULL);
    rig_done(&rig);
}

/* --- memory ----------------------------------------------------------------------------- */

T_TEST(limits_that_cannot_be_are_invalid)
{
    static const struct tts_tracker_config bad[] = {
        {.live_max = 0, .devices_max = 1, .ops_max = 1},
        {.live_max = 1, .devices_max = 0, .ops_max = 1},
        {.live_max = 1, .devices_max = 1, .ops_max = 0},
        {.live_max = (UINT32_C(1) << 26) + 1, .devices_max = 1, .ops_max = 1},
        {.live_max = 1, .devices_max = 257, .ops_max = 1},
        {.live_max = 1, .devices_max = 1, .ops_max = 65001}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tts_fold *fold = NULL;
        T_EQ(tts_fold_new(&bad[i], NULL, &fold), TTS_E_INVALID);
        T_TRUE(fold == NULL);
    }
    tts_fold_free(NULL);
    tts_watch_free(NULL);
}

T_TEST(every_allocation_may_fail_and_nothing_is_left)
{
    struct heap heap;
    heap_init(&heap);
    const struct tts_tracker_config limits = {.live_max = 16, .devices_max = 4, .ops_max = 4};
    bool fold_made = false, watch_made = false;
    for (uint64_t n = 1; !watch_made; n++) {
        T_TRUE(n < 50);
        struct tts_fold *fold = NULL;
        struct tts_watch *watch = NULL;
        heap.calls = heap.failed = 0;
        heap.fail_at = n;
        enum tts_status status = tts_fold_new(&limits, &heap.alloc, &fold);
        if (status == TTS_OK) {
            fold_made = true;
            status = tts_watch_new(fold, &heap.alloc, &watch);
        }
        T_EQ(status, heap.failed > 0 ? TTS_E_NOMEM : TTS_OK);
        T_TRUE((status == TTS_OK) == (watch != NULL));
        watch_made = status == TTS_OK;
        tts_watch_free(watch);
        tts_fold_free(fold);
        T_TRUE(heap_is_settled(&heap));
    }
    T_TRUE(fold_made);
}

T_TEST(no_event_and_no_cut_allocates)
{
    struct heap heap;
    heap_init(&heap);
    struct rig rig = {0};
    T_EQ(tts_fold_new(
             &(struct tts_tracker_config){.live_max = 200, .devices_max = 4, .ops_max = 4},
             &heap.alloc, &rig.fold),
         TTS_OK);
    T_EQ(tts_watch_new(rig.fold, &heap.alloc, &rig.watch), TTS_OK);
    tts_watch_attach(rig.fold, rig.watch);
    uint64_t calls = heap.calls;
    struct cut phase;
    T_EQ(tts_fold_chip(rig.fold, 0, 1, NULL), TTS_OK);
    for (uint64_t i = 0; i < 100; i++) {
        op_begin(&rig, i % 2 ? "add" : "relu");
        dram(&rig, 1, i, 32);
        l1(&rig, 1, i + 1000, 32);
        program(&rig, 1);
        cb(&rig, 1, i + 1);
        op_end(&rig);
    }
    cut(&rig, &phase);
    T_EQ(heap.calls, calls);
    rig_done(&rig);
    T_TRUE(heap_is_settled(&heap));
}
