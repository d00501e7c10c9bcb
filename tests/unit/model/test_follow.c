#include "harness/fold_rig.h"
#include "model/follow.h"
#include "torture/heap.h"

#include <stdlib.h>

/* --- items in one line ------------------------------------------------------------------- */

enum { NAME_MAX = 300, PHASES = 64 };

struct seen {
    uint32_t capture;
    char name[NAME_MAX];
    bool is_partial;
    struct tts_usage usage; /* the pointers in it are no longer valid */
};

struct tale {
    struct tts_follow *follow;
    uint64_t seq;
    struct seen phases[PHASES];
    size_t count;
};

static void on_phase(void *ctx, uint32_t capture, const struct tts_phase *phase,
                     bool is_partial)
{
    struct tale *tale = ctx;
    T_TRUE(tale->count < PHASES);
    struct seen *seen = &tale->phases[tale->count++];
    *seen = (struct seen){.capture = capture, .is_partial = is_partial, .usage = phase->usage};
    snprintf(seen->name, sizeof seen->name, "%s", phase->name);
}

static struct tale *tale_new(const struct tts_alloc *alloc)
{
    struct tale *tale = calloc(1, sizeof *tale);
    struct tts_follow_config config = {
        .limits = {.live_max = 256, .devices_max = RIG_DEVICES, .ops_max = 16},
        .on_phase = on_phase,
        .ctx = tale};
    T_EQ(tts_follow_new(&config, alloc, &tale->follow, NULL), TTS_OK);
    return tale;
}

static void tale_free(struct tale *tale)
{
    tts_follow_free(tale->follow);
    free(tale);
}

static enum tts_status tell(struct tale *tale, struct tts_item item)
{
    struct tts_error err = {0};
    if (item.kind == TTS_ITEM_EVENT && item.seq == 0)
        item.seq = tale->seq + 1;
    enum tts_status status = tts_follow_item(tale->follow, &item, &err);
    if (status == TTS_OK && item.kind == TTS_ITEM_EVENT)
        tale->seq = item.seq;
    T_EQ(status == TTS_OK, err.text[0] == '\0');
    return status;
}

static void alloc(struct tale *tale, uint64_t id, uint64_t bytes)
{
    struct tts_item item = {.kind = TTS_ITEM_EVENT};
    item.event = tts_event_of(TTS_EVENT_ALLOC, 1);
    item.event.id = id;
    item.event.size_bytes = bytes;
    T_EQ(tell(tale, item), TTS_OK);
}

static void release(struct tale *tale, uint64_t id)
{
    struct tts_item item = {.kind = TTS_ITEM_EVENT};
    item.event = tts_event_of(TTS_EVENT_FREE, 1);
    item.event.id = id;
    T_EQ(tell(tale, item), TTS_OK);
}

static enum tts_status mark(struct tale *tale, enum tts_item_kind kind, uint32_t capture,
                            const char *name)
{
    return tell(tale, (struct tts_item){.kind = kind,
                                        .seq = tale->seq,
                                        .capture = capture,
                                        .name = name,
                                        .name_len = name ? strlen(name) : 0});
}

static const struct tts_phase *end(struct tale *tale)
{
    const struct tts_phase *whole = NULL;
    T_EQ(tts_follow_end(tale->follow, &whole, NULL), TTS_OK);
    T_STR_EQ(whole->name, TTS_FOLLOW_WHOLE);
    return whole;
}

/* --- phases ------------------------------------------------------------------------------ */

T_TEST(the_phases_of_each_capture_are_told_and_one_for_the_whole)
{
    struct tale *tale = tale_new(NULL);
    alloc(tale, 1, 100);
    T_EQ(mark(tale, TTS_ITEM_BEGIN, 1, NULL), TTS_OK);
    alloc(tale, 2, 50);
    T_EQ(mark(tale, TTS_ITEM_BEGIN, 2, NULL), TTS_OK);
    release(tale, 1);
    T_EQ(mark(tale, TTS_ITEM_CUT, 1, "first"), TTS_OK);
    alloc(tale, 3, 7);
    T_EQ(mark(tale, TTS_ITEM_CUT, 2, "other"), TTS_OK);
    T_EQ(mark(tale, TTS_ITEM_END, 2, NULL), TTS_OK);
    T_EQ(mark(tale, TTS_ITEM_CUT, 1, "second"), TTS_OK);
    T_EQ(mark(tale, TTS_ITEM_END, 1, NULL), TTS_OK);
    const struct tts_phase *whole = end(tale);
    check_pool(dram_of(&whole->usage), 150, 157, 100);
    T_EQ(whole->events, 4);
    T_EQ(tale->count, 3);
    T_STR_EQ(tale->phases[0].name, "first");
    check_pool(dram_of(&tale->phases[0].usage), 50, 50, 100);
    T_STR_EQ(tale->phases[1].name, "other");
    T_EQ(tale->phases[1].capture, 2);
    check_pool(dram_of(&tale->phases[1].usage), 0, 7, 100);
    T_STR_EQ(tale->phases[2].name, "second");
    check_pool(dram_of(&tale->phases[2].usage), 7, 7, 0);
    check_total(dram_of(&tale->phases[2].usage), 50, -43);
    for (size_t i = 0; i < tale->count; i++)
        T_TRUE(!tale->phases[i].is_partial);
    T_TRUE(!tts_follow_is_partial(tale->follow));
    tale_free(tale);
}

T_TEST(a_capture_that_begins_again_goes_on_with_its_cumulative_figures)
{
    struct tale *tale = tale_new(NULL);
    for (int i = 0; i < 2; i++) {
        T_EQ(mark(tale, TTS_ITEM_BEGIN, 1, NULL), TTS_OK);
        alloc(tale, 1 + (uint64_t)i, 10);
        T_EQ(mark(tale, TTS_ITEM_CUT, 1, "p"), TTS_OK);
        T_EQ(mark(tale, TTS_ITEM_END, 1, NULL), TTS_OK);
    }
    end(tale);
    check_total(dram_of(&tale->phases[1].usage), 20, 20);
    tale_free(tale);
}

T_TEST(what_is_under_way_at_the_end_is_told_as_unfinished)
{
    struct tale *tale = tale_new(NULL);
    T_EQ(mark(tale, TTS_ITEM_BEGIN, 7, NULL), TTS_OK);
    alloc(tale, 1, 10);
    end(tale);
    T_EQ(tale->count, 1);
    T_STR_EQ(tale->phases[0].name, TTS_FOLLOW_UNFINISHED);
    T_TRUE(tale->phases[0].is_partial);
    check_pool(dram_of(&tale->phases[0].usage), 10, 10, 0);
    tale_free(tale);
}

T_TEST(any_number_of_captures_may_come_one_after_the_other)
{
    struct tale *tale = tale_new(NULL);
    for (uint32_t i = 1; i <= 3 * TTS_FOLLOW_CAPTURES_MAX; i++) {
        T_EQ(mark(tale, TTS_ITEM_BEGIN, i, NULL), TTS_OK);
        alloc(tale, i, 1);
        T_EQ(mark(tale, TTS_ITEM_CUT, i, "p"), TTS_OK);
        check_total(dram_of(&tale->phases[0].usage), 1, 1);
        tale->count = 0;
        T_EQ(mark(tale, TTS_ITEM_END, i, NULL), TTS_OK);
    }
    tale_free(tale);
}

T_TEST(only_so_many_can_be_active_at_once)
{
    struct tale *tale = tale_new(NULL);
    for (uint32_t i = 1; i <= TTS_FOLLOW_CAPTURES_MAX; i++)
        T_EQ(mark(tale, TTS_ITEM_BEGIN, i, NULL), TTS_OK);
    T_EQ(mark(tale, TTS_ITEM_BEGIN, TTS_FOLLOW_CAPTURES_MAX + 1, NULL), TTS_E_RANGE);
    /* The current use of the cores is known without a capture. */
    struct tts_core_part parts[TTS_CORE_PARTS_MAX];
    struct tts_core_peak core;
    struct tts_item item = {.kind = TTS_ITEM_EVENT};
    item.event = tts_event_of(TTS_EVENT_ALLOC, 1);
    item.event.pool = TTS_POOL_L1;
    item.event.size_bytes = item.event.bytes_per_bank = 8;
    T_EQ(tell(tale, item), TTS_OK);
    tts_fold_fullest_core(tts_follow_fold(tale->follow), &core, parts);
    T_TRUE(core.known && core.bytes == 8 && core.part_count == 1);
    T_EQ(mark(tale, TTS_ITEM_END, 5, NULL), TTS_OK);
    T_EQ(mark(tale, TTS_ITEM_BEGIN, TTS_FOLLOW_CAPTURES_MAX + 1, NULL), TTS_OK);
    tale_free(tale);
}

/* --- what cannot be ---------------------------------------------------------------------- */

T_TEST(items_that_cannot_be_are_refused_and_change_nothing)
{
    struct tale *tale = tale_new(NULL);
    alloc(tale, 1, 10);
    T_EQ(mark(tale, TTS_ITEM_CUT, 1, "p"), TTS_E_INVALID);
    T_EQ(mark(tale, TTS_ITEM_END, 1, NULL), TTS_E_INVALID);
    T_EQ(mark(tale, TTS_ITEM_BEGIN, 0, NULL), TTS_E_INVALID);
    T_EQ(mark(tale, TTS_ITEM_CUT, 0, NULL), TTS_E_INVALID);
    T_EQ(mark(tale, TTS_ITEM_BEGIN, 1, NULL), TTS_OK);
    T_EQ(mark(tale, TTS_ITEM_BEGIN, 1, NULL), TTS_E_INVALID);
    char name[TTS_PHASE_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    T_EQ(mark(tale, TTS_ITEM_CUT, 1, name), TTS_E_RANGE);
    T_EQ(tell(tale, (struct tts_item){.kind = TTS_ITEM_LIVE}), TTS_E_INVALID);
    T_EQ(tell(tale, (struct tts_item){.kind = TTS_ITEM_KEYFRAME_END}), TTS_E_INVALID);
    T_EQ(tell(tale, (struct tts_item){.kind = (enum tts_item_kind)TTS_ITEM_KINDS}),
         TTS_E_INVALID);
    struct tts_item item = {.kind = TTS_ITEM_EVENT, .seq = 5};
    item.event = tts_event_of(TTS_EVENT_PROGRAM, 1);
    /* The event has number 5, but it is the second one. */
    T_EQ(tell(tale, item), TTS_E_INVALID);
    item.seq = 1;
    T_EQ(tell(tale, item), TTS_E_INVALID);
    item.seq = 0;
    item.event.kind = TTS_EVENT_CB;
    T_EQ(tell(tale, item), TTS_E_INVALID); /* the event has no cores */
    item.event.kind = TTS_EVENT_OP_BEGIN;
    T_EQ(tell(tale, item), TTS_E_INVALID); /* the operation has no hash */
    item.kind = TTS_ITEM_CHIP;
    T_EQ(tell(tale, item), TTS_E_INVALID); /* a device cannot be its own chip */
    check_pool(dram_of(&end(tale)->usage), 10, 10, 0);
    tale_free(tale);
}

T_TEST(a_file_that_begins_later_is_partial)
{
    struct tale *tale = tale_new(NULL);
    tale->seq = 41;
    alloc(tale, 1, 10);
    T_TRUE(tts_follow_is_partial(tale->follow));
    T_EQ(tts_fold_seq(tts_follow_fold(tale->follow)), 42);
    T_EQ(end(tale)->events, 1);
    tale_free(tale);
}

T_TEST(a_buffer_is_found_while_it_lives)
{
    struct tale *tale = tale_new(NULL);
    struct tts_live live;
    T_TRUE(!tts_follow_find(tale->follow, 1, 9, &live));
    alloc(tale, 9, 10);
    T_TRUE(tts_follow_find(tale->follow, 1, 9, &live));
    T_TRUE(live.id == 9 && live.size_bytes == 10 && live.seq == 1 && live.device == 1);
    T_TRUE(!tts_follow_find(tale->follow, 2, 9, &live));
    release(tale, 9);
    T_TRUE(!tts_follow_find(tale->follow, 1, 9, &live));
    tale_free(tale);
}

/* --- keyframes --------------------------------------------------------------------------- */

enum { DEVICES = 3, IDS = 40, STEPS = 600 };

/* Draws a random event. If `mesh` is true, device 0 is a mesh of the chips 1 and 2. */
static struct tts_event draw(uint64_t *rng, struct tts_core_range *range)
{
    uint32_t device = (uint32_t)(t_random(rng) % DEVICES);
    uint64_t what = t_random(rng) % 16;
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, device);
    event.id = t_random(rng) % IDS;
    event.pool = (enum tts_pool)(t_random(rng) % TTS_POOLS);
    event.size_bytes = 1 + t_random(rng) % 1000;
    event.bytes_per_bank = 1 + t_random(rng) % 100;
    uint16_t x = (uint16_t)(t_random(rng) % 4), y = (uint16_t)(t_random(rng) % 4);
    *range = (struct tts_core_range){x, y, (uint16_t)(x + t_random(rng) % 3), y};
    if (what < 6) {
        bool is_l1 = event.pool == TTS_POOL_L1 || event.pool == TTS_POOL_L1_SMALL;
        event.range_count = is_l1 ? t_random(rng) % 2 : 0;
        event.block_bytes = t_random(rng) % 2 ? event.bytes_per_bank + 3 : 0;
    } else if (what < 10) {
        event.kind = TTS_EVENT_FREE;
        event.size_bytes = t_random(rng) % 2 * event.size_bytes;
    } else if (what < 14) {
        event.kind = (enum tts_event_kind)(TTS_EVENT_CB + t_random(rng) % 3);
        event.borrowed = t_random(rng) % 4 == 0;
        event.range_count = 1;
    } else if (what == 14) {
        event.kind = TTS_EVENT_PROGRAM;
    } else {
        event.kind = t_random(rng) % 2 ? TTS_EVENT_TRACE_BEGIN : TTS_EVENT_TRACE_END;
    }
    event.ranges = event.range_count ? range : NULL;
    return event;
}

static bool pass_on(void *ctx, const struct tts_item *item)
{
    struct tts_fold *fold = ctx;
    struct tts_error err = {0};
    T_EQ(tts_fold_restore(fold, item, NULL, &err), TTS_OK);
    return true;
}

static struct tts_fold *copy_of(const struct tts_fold *fold)
{
    struct tts_fold *copy = NULL;
    T_EQ(tts_fold_new(&(struct tts_tracker_config){.live_max = 256,
                                                   .devices_max = RIG_DEVICES,
                                                   .ops_max = 16},
                      NULL, &copy),
         TTS_OK);
    T_TRUE(tts_fold_tell(fold, pass_on, copy));
    T_TRUE(tts_fold_is_valid(copy));
    return copy;
}

static void same_live(const struct tts_fold *a, const struct tts_fold *b)
{
    static struct tts_live x[IDS * DEVICES], y[IDS * DEVICES];
    size_t count = live_of(a, x, IDS * DEVICES);
    T_EQ(live_of(b, y, IDS * DEVICES), count);
    for (size_t i = 0; i < count; i++) {
        T_TRUE(x[i].id == y[i].id && x[i].device == y[i].device && x[i].seq == y[i].seq);
        T_TRUE(x[i].size_bytes == y[i].size_bytes && x[i].pool == y[i].pool);
        T_TRUE(x[i].bytes_per_bank == y[i].bytes_per_bank);
        T_TRUE(x[i].block_bytes == y[i].block_bytes);
        T_STR_EQ(x[i].op ? x[i].op : "-", y[i].op ? y[i].op : "-");
    }
}

static void same_peak(const struct tts_core_peak *a, const struct tts_core_peak *b)
{
    T_EQ(a->known, b->known);
    T_TRUE(a->bytes == b->bytes && a->seq == b->seq && a->part_count == b->part_count);
    T_TRUE(a->core.x == b->core.x && a->core.y == b->core.y && a->device == b->device);
    T_TRUE(a->cb_bytes == b->cb_bytes && a->l1_bytes == b->l1_bytes);
    for (size_t i = 0; i < a->part_count; i++) {
        T_TRUE(a->parts[i].bytes == b->parts[i].bytes && a->parts[i].kind == b->parts[i].kind);
        T_STR_EQ(a->parts[i].op ? a->parts[i].op : "-", b->parts[i].op ? b->parts[i].op : "-");
    }
}

T_TEST(a_fold_made_from_a_keyframe_goes_on_as_the_one_it_is_of)
{
    static struct cut first, second;
    uint64_t rng = 5;
    for (int round = 0; round < 40; round++) {
        struct rig rig = rig_new();
        if (round % 2) {
            T_EQ(tts_fold_chip(rig.fold, 1, 0, NULL), TTS_OK);
            T_EQ(tts_fold_chip(rig.fold, 2, 0, NULL), TTS_OK);
        }
        struct tts_core_range range;
        uint64_t steps = t_random(&rng) % STEPS;
        for (uint64_t i = 0; i < steps; i++) {
            if (i % 50 == 0)
                op_begin(&rig, i % 100 ? "matmul" : "softmax");
            post(&rig, draw(&rng, &range));
        }
        struct rig twin = {.fold = copy_of(rig.fold), .op = rig.op};
        same_live(rig.fold, twin.fold);
        twin.watch = rig_watch(&twin);
        cut(&rig, &first); /* both folds begin a phase here */
        for (int i = 0; i < 50; i++) {
            struct tts_event event = draw(&rng, &range);
            post(&rig, event);
            post(&twin, event);
        }
        same_live(rig.fold, twin.fold);
        const struct tts_usage *a = cut(&rig, &first), *b = cut(&twin, &second);
        for (int pool = 0; pool < TTS_POOLS; pool++)
            check_pool(&b->pools[pool], a->pools[pool].peak_bytes,
                       a->pools[pool].allocated_bytes, a->pools[pool].freed_bytes);
        T_TRUE(a->traces == b->traces && a->traced_bytes == b->traced_bytes);
        same_peak(&a->core, &b->core);
        rig_done(&twin);
        rig_done(&rig);
    }
}

static bool note_missed(void *ctx, const struct tts_item *item)
{
    T_TRUE(item->kind != TTS_ITEM_MISSED || item->count == 0);
    *(bool *)ctx |= item->kind == TTS_ITEM_MISSED;
    return true;
}

/* Returns true if a keyframe of the fold says that it does not list all buffers. */
static bool is_told_short(const struct tts_fold *fold)
{
    bool is_short = false;
    T_TRUE(tts_fold_tell(fold, note_missed, &is_short));
    return is_short;
}

T_TEST(a_fold_made_from_a_keyframe_that_is_not_all_knows_so)
{
    static struct cut all;
    struct once memory;
    struct rig rig = rig_that_does_not_grow(
        (struct tts_tracker_config){.live_max = 2, .devices_max = RIG_DEVICES, .ops_max = 16},
        &memory);
    dram(&rig, 1, 1, 10);
    l1(&rig, 1, 2, 10);
    T_TRUE(!is_told_short(rig.fold));
    dram(&rig, 1, 3, 30); /* there is no memory for this buffer */
    T_TRUE(is_told_short(rig.fold));
    struct rig twin = {.fold = copy_of(rig.fold)};
    twin.watch = rig_watch(&twin);
    T_TRUE(is_told_short(twin.fold)); /* a keyframe tells that a buffer is missing */
    const struct tts_usage *usage = cut(&twin, &all);
    T_TRUE(usage->core.known && usage->core.at_least);
    l1(&twin, 1, 4, 10);
    cut(&twin, &all);
    T_EQ(all.phase.device_count, 1);
    T_TRUE(all.phase.devices[0].usage.core.at_least);
    rig_done(&twin);
    rig_done(&rig);
}

static bool stop_at(void *ctx, const struct tts_item *item)
{
    int *left = ctx;
    (void)item;
    return --*left > 0;
}

T_TEST(telling_a_keyframe_stops_where_it_is_told_to)
{
    struct rig rig = rig_new();
    dram(&rig, 0, 1, 10);
    l1(&rig, 0, 2, 10);
    cb(&rig, 0, 5);
    trace(&rig, 0, true);
    T_EQ(tts_fold_chip(rig.fold, 1, 0, NULL), TTS_OK);
    int items = 1000;
    T_TRUE(tts_fold_tell(rig.fold, stop_at, &items));
    items = 1000 - items;
    for (int i = 1; i <= items; i++) {
        int left = i;
        T_TRUE(!tts_fold_tell(rig.fold, stop_at, &left));
        T_EQ(left, 0);
    }
    rig_done(&rig);
}

static bool to_tale(void *ctx, const struct tts_item *item)
{
    struct tale *tale = ctx;
    if (item->kind == TTS_ITEM_KEYFRAME_END) {
        T_EQ(mark(tale, TTS_ITEM_ACTIVE, 3, NULL), TTS_OK);
        T_EQ(mark(tale, TTS_ITEM_ACTIVE, 4, NULL), TTS_OK);
    }
    T_EQ(tell(tale, *item), TTS_OK);
    if (item->kind == TTS_ITEM_KEYFRAME)
        tale->seq = item->seq;
    return true;
}

T_TEST(a_file_that_begins_with_a_keyframe_knows_what_lived)
{
    struct rig rig = rig_new();
    dram(&rig, 1, 1, 10);
    dram(&rig, 1, 2, 20);
    struct tale *tale = tale_new(NULL);
    T_TRUE(tts_fold_tell(rig.fold, to_tale, tale));
    T_TRUE(tts_follow_is_partial(tale->follow));
    release(tale, 1);
    T_EQ(mark(tale, TTS_ITEM_CUT, 4, "p"), TTS_OK);
    T_TRUE(tale->phases[0].is_partial);
    check_pool(dram_of(&tale->phases[0].usage), 0, 0, 10);
    struct tts_tracker_health health;
    tts_fold_health(tts_follow_fold(tale->follow), &health);
    T_TRUE(health.unseen_frees == 0 && health.unknown_frees == 0 && health.events == 3);
    /* A keyframe after the first event is ignored. */
    uint64_t seq = tale->seq;
    T_EQ(tell(tale, (struct tts_item){.kind = TTS_ITEM_KEYFRAME, .seq = seq}), TTS_OK);
    T_EQ(tell(tale, (struct tts_item){.kind = TTS_ITEM_KEYFRAME}), TTS_E_INVALID);
    struct tts_item live = {.kind = TTS_ITEM_LIVE};
    live.live = (struct tts_live){.id = 77, .size_bytes = 1, .device = 1};
    T_EQ(tell(tale, live), TTS_OK);
    T_EQ(tell(tale, (struct tts_item){.kind = TTS_ITEM_KEYFRAME_END}), TTS_OK);
    T_TRUE(!tts_follow_find(tale->follow, 1, 77, &live.live));
    T_EQ(end(tale)->events, 1);
    T_EQ(tale->count, 3); /* two captures were active */
    tale_free(tale);
    rig_done(&rig);
}

T_TEST(a_follower_tells_what_came_with_the_first_keyframe_and_nothing_of_later_ones)
{
    struct tale *tale = tale_new(NULL);
    struct tts_item item = {.kind = TTS_ITEM_LIVE, .seq = 5};
    item.live = (struct tts_live){.id = 8, .size_bytes = 30, .device = 1, .seq = 4};
    struct tts_change change;
    for (int i = 0; i < 2; i++) {
        T_EQ(tell(tale, (struct tts_item){.kind = TTS_ITEM_KEYFRAME, .seq = 5}), TTS_OK);
        T_EQ(tts_follow_change(tale->follow, &item, &change, NULL), TTS_OK);
        T_TRUE(change.has_come == (i == 0) && change.is_restored == (i == 0));
        T_TRUE(!change.has_left && !change.has_unseen && !change.has_chip);
        T_TRUE(i > 0 || (change.came.id == 8 && change.came.size_bytes == 30));
        T_TRUE(i > 0 || (change.came.seq == 4 && change.seq == 5));
        struct tts_item chip = {.kind = TTS_ITEM_CHIP, .seq = 5, .device = 1, .mesh = 2};
        T_EQ(tts_follow_change(tale->follow, &chip, &change, NULL), TTS_OK);
        T_TRUE(change.has_chip == (i == 0) && !change.has_come);
        T_TRUE(i > 0 || (change.chip == 1 && change.mesh == 2));
        struct tts_item stray = {.kind = TTS_ITEM_EVENT, .seq = 6};
        T_EQ(tts_follow_change(tale->follow, &stray, &change, NULL), TTS_OK);
        T_TRUE(!change.has_come && !change.has_left);
        T_EQ(tell(tale, (struct tts_item){.kind = TTS_ITEM_KEYFRAME_END, .seq = 5}), TTS_OK);
    }
    item = (struct tts_item){.kind = TTS_ITEM_EVENT, .seq = 6};
    item.event = tts_event_of(TTS_EVENT_FREE, 1);
    item.event.id = 8;
    T_EQ(tts_follow_change(tale->follow, &item, &change, NULL), TTS_OK);
    T_TRUE(change.has_left && change.left.size_bytes == 30 && change.seq == 6);
    tale_free(tale);
}

T_TEST(a_keyframe_after_an_event_or_a_gap_is_passed_over)
{
    for (int i = 0; i < 2; i++) {
        struct tale *tale = tale_new(NULL);
        struct tts_live found;
        if (i == 0)
            alloc(tale, 1, 10);
        else
            tts_follow_skip(tale->follow, 1);
        T_EQ(tell(tale, (struct tts_item){.kind = TTS_ITEM_KEYFRAME, .seq = 1}), TTS_OK);
        struct tts_item live = {.kind = TTS_ITEM_LIVE, .seq = 1};
        live.live = (struct tts_live){.id = 8, .size_bytes = 30, .device = 1, .seq = 1};
        T_EQ(tell(tale, live), TTS_OK);
        T_EQ(tell(tale, (struct tts_item){.kind = TTS_ITEM_KEYFRAME_END, .seq = 1}), TTS_OK);
        T_TRUE(!tts_follow_find(tale->follow, 1, 8, &found));
        tale_free(tale);
    }
}

T_TEST(a_keyframe_that_cannot_be_is_refused)
{
    struct tale *tale = tale_new(NULL);
    T_EQ(tell(tale, (struct tts_item){.kind = TTS_ITEM_KEYFRAME, .seq = UINT64_MAX}),
         TTS_E_RANGE);
    T_EQ(tell(tale, (struct tts_item){.kind = TTS_ITEM_KEYFRAME, .seq = 5, .count = 9}),
         TTS_OK);
    struct tts_item live = {.kind = TTS_ITEM_LIVE};
    live.live = (struct tts_live){.id = 1, .size_bytes = 0, .device = 1, .seq = 1};
    T_EQ(tell(tale, live), TTS_E_INVALID); /* the buffer has no bytes */
    live.live.size_bytes = 1;
    live.live.seq = 6;
    T_EQ(tell(tale, live), TTS_E_INVALID); /* the buffer is younger than the keyframe */
    live.live.seq = 5;
    T_EQ(tell(tale, live), TTS_OK);
    T_EQ(tell(tale, live), TTS_E_INVALID); /* the keyframe lists the same buffer twice */
    live.live.pool = TTS_POOL_L1;
    live.live.id = 2;
    T_EQ(tell(tale, live), TTS_E_INVALID); /* the buffer has no bytes in a bank */
    struct tts_item part = {.kind = TTS_ITEM_PART, .device = 1};
    part.event = tts_event_of(TTS_EVENT_PROGRAM, 1);
    T_EQ(tell(tale, part), TTS_E_INVALID);
    T_EQ(tell(tale, (struct tts_item){.kind = TTS_ITEM_TRACING, .count = UINT64_MAX}),
         TTS_E_INVALID);
    T_EQ(mark(tale, TTS_ITEM_ACTIVE, 1, NULL), TTS_OK);
    live.live.bytes_per_bank = 1;
    T_EQ(tell(tale, live), TTS_E_INVALID); /* a buffer comes after the captures */
    tale_free(tale);
}

T_TEST(without_memory_nothing_is_made)
{
    for (size_t n = 0; n < 20; n++) {
        struct tts_follow *follow = NULL;
        struct heap heap;
        heap_init(&heap);
        heap.fail_at = n + 1;
        struct tts_error err = {0};
        struct tts_follow_config config = {
            .limits = {.live_max = 16, .devices_max = 2, .ops_max = 4}};
        enum tts_status status = tts_follow_new(&config, &heap.alloc, &follow, &err);
        T_TRUE(status == TTS_OK || (status == TTS_E_NOMEM && !follow));
        tts_follow_free(follow);
        T_TRUE(heap_is_settled(&heap));
    }
}
