#include "harness/t.h"

#include "analysis/failure/failadvice.h"
#include "analysis/failure/failholders.h"
#include "harness/item_rig.h"
#include "torture/heap.h"

enum { BANKS = 12, PAGE = 32 };
#define MESH UINT32_C(0x80000000)

/* A file of events and the search in it. */
struct scene {
    struct item_rig rig;
    struct tts_failholders *holders;
    enum tts_status status;
};

static void set_number(struct tts_failmsg *msg, enum tts_failmsg_field field, uint64_t value)
{
    msg->known |= UINT32_C(1) << field;
    msg->value[field] = value;
}

/* The numbers of a full bank of an n150: from address 2968640 to 1073741824. */
static struct tts_failmsg dram_message(void)
{
    struct tts_failmsg msg = {
        .family = TTS_FAILMSG_V3, .has_pool = true, .pool = TTS_POOL_DRAM, .line = 1};
    set_number(&msg, TTS_FAILMSG_REQUESTED, 503316480);
    set_number(&msg, TTS_FAILMSG_BANKS, BANKS);
    set_number(&msg, TTS_FAILMSG_NEED, 41943040);
    set_number(&msg, TTS_FAILMSG_BANK, 1070773184);
    set_number(&msg, TTS_FAILMSG_ALLOCATED, 994357248);
    set_number(&msg, TTS_FAILMSG_FREE, 76415936);
    set_number(&msg, TTS_FAILMSG_LARGEST, 37030336);
    return msg;
}

static struct tts_failure dram_refusal(void)
{
    return (struct tts_failure){.kind = TTS_FAILURE_SPACE,
                                .pool = TTS_POOL_DRAM,
                                .requested_bytes = 503316480,
                                .need_bytes = 41943040,
                                .block_bytes = 41943040,
                                .banks = BANKS,
                                .bank_bytes = 1070773184,
                                .taken_bytes = 994357248,
                                .free_bytes = 76415936,
                                .largest_free_bytes = 37030336};
}

static struct scene begin_scene(const struct tts_failmsg *msg)
{
    struct scene scene = {0};
    T_EQ(tts_failholders_new(msg, NULL, &scene.holders, NULL), TTS_OK);
    return scene;
}

static void take(struct scene *scene, struct tts_item item)
{
    if (scene->status == TTS_OK)
        scene->status = tts_failholders_item(scene->holders, &item, NULL);
}

/* Returns an allocation by the operation `op`, whose name it puts into the file. */
static struct tts_item place(struct scene *scene, const char *op, uint64_t id, uint64_t address,
                             uint64_t block)
{
    struct tts_item name = item_mark(&scene->rig, TTS_ITEM_NAME);
    item_set_op(&name, op);
    take(scene, name);
    struct tts_item item = item_alloc(&scene->rig, 0, TTS_POOL_DRAM, id, block * BANKS);
    item.event.page_bytes = PAGE;
    item.event.has_address = true;
    item.event.address = address;
    item_set_op(&item, op);
    return item;
}

/* Four buffers: matmul, a hole of 37030336 bytes, norm, a hole of 20000000 bytes, two of full,
 * and 19385600 bytes at the end of the bank. */
static void fill_bank(struct scene *scene)
{
    take(scene, place(scene, "matmul", 1, 2968640, 500000000));
    take(scene, place(scene, "norm", 2, 539998976, 4194304));
    take(scene, place(scene, "full", 3, 564193280, 480000000));
    take(scene, place(scene, "full", 4, 1044193280, 10162944));
}

static void refuse(struct scene *scene, struct tts_failure failure)
{
    struct tts_item item = item_event(&scene->rig, TTS_EVENT_FAILURE, 0);
    item.event.failure = &failure;
    take(scene, item);
}

static const struct tts_failholders *end_scene(struct scene *scene)
{
    T_EQ(scene->status, TTS_OK);
    T_EQ(tts_failholders_finish(scene->holders, NULL), TTS_OK);
    return scene->holders;
}

static const struct tts_failholder_op *op_of(const struct tts_failholders *holders, size_t idx)
{
    T_TRUE(idx < holders->ops.count);
    return &((const struct tts_failholder_op *)holders->ops.items)[idx];
}

static void check_full_bank(const struct tts_failholders *h)
{
    T_EQ(h->count, 4);
    T_EQ(h->block_bytes, 994357248);
    T_EQ(h->bytes, UINT64_C(994357248) * BANKS);
    T_TRUE(h->is_same_run && h->is_complete && h->has_bank && !h->has_estimate);
    T_TRUE(h->has_hole);
    T_EQ(h->hole_bytes, 37030336);
    T_EQ(h->hole_address, 502968640);
    T_EQ(h->items[h->hole_below].id, 1);
    T_EQ(h->items[h->hole_above].id, 2);
    T_EQ(h->items[0].room_bytes, 537030336);
    T_EQ(h->items[1].room_bytes, 61224640);
    T_EQ(h->items[2].room_bytes, 500000000);
    T_EQ(h->items[3].room_bytes, 29548544);
    T_TRUE(h->items[1].is_enough && !h->items[3].is_enough);
    T_EQ(h->enough_count, 3);
    T_EQ(h->items[h->enough].id, 2);
}

static void check_ops(const struct tts_failholders *h)
{
    T_EQ(h->op_count, 3);
    T_STR_EQ(op_of(h, 0)->op, "matmul");
    T_STR_EQ(op_of(h, 1)->op, "full");
    T_EQ(op_of(h, 1)->buffers, 2);
    T_EQ(op_of(h, 1)->block_bytes, 490162944);
    T_EQ(op_of(h, 1)->room_bytes, 529548544);
    T_TRUE(op_of(h, 1)->is_enough);
    T_STR_EQ(op_of(h, 2)->op, "norm");
    T_EQ(op_of(h, 2)->room_bytes, 61224640);
}

T_TEST(the_refusal_with_the_numbers_of_the_message_is_the_moment)
{
    struct tts_failmsg msg = dram_message();
    struct scene scene = begin_scene(&msg);
    struct tts_failure other = dram_refusal();
    fill_bank(&scene);
    other.free_bytes++;
    refuse(&scene, other);
    refuse(&scene, dram_refusal());
    /* Items after the moment are ignored, also the same refusal of a second attempt. */
    take(&scene, item_free(&scene.rig, 0, TTS_POOL_DRAM, 1));
    refuse(&scene, dram_refusal());
    const struct tts_failholders *h = end_scene(&scene);
    T_EQ(h->moment, TTS_FAILMOMENT_REFUSAL);
    T_EQ(h->seq, 6);
    T_EQ(h->other_refusals, 1);
    T_EQ(h->other_refusal_seq, 5);
    check_full_bank(h);
    check_ops(h);
    tts_failholders_free(scene.holders);
}

T_TEST(without_a_refusal_the_allocated_bytes_tell_the_moment)
{
    struct tts_failmsg msg = dram_message();
    struct scene scene = begin_scene(&msg);
    fill_bank(&scene);
    take(&scene, place(&scene, "late", 5, 502968640, 64));
    take(&scene, item_free(&scene.rig, 0, TTS_POOL_DRAM, 5)); /* the same bytes again */
    take(&scene, item_free(&scene.rig, 0, TTS_POOL_DRAM, 2));
    take(&scene, place(&scene, "late", 6, 502968640, 64));
    take(&scene, item_free(&scene.rig, 0, TTS_POOL_DRAM, 4));
    const struct tts_failholders *h = end_scene(&scene);
    T_EQ(h->moment, TTS_FAILMOMENT_SAME_BYTES);
    T_EQ(h->seq, 6);
    check_full_bank(h);
    check_ops(h);
    tts_failholders_free(scene.holders);
}

T_TEST(a_file_of_another_run_shows_its_last_allocation_and_judges_nothing)
{
    struct tts_failmsg msg = dram_message();
    struct tts_failverdict verdict;
    struct tts_failadvice advice;
    struct scene scene = begin_scene(&msg);
    take(&scene, place(&scene, "matmul", 1, 2968640, 64));
    take(&scene, place(&scene, "norm", 2, 539998976, 64));
    take(&scene, item_free(&scene.rig, 0, TTS_POOL_DRAM, 1));
    take(&scene, item_free(&scene.rig, 0, TTS_POOL_DRAM, 2));
    const struct tts_failholders *h = end_scene(&scene);
    T_EQ(h->moment, TTS_FAILMOMENT_LAST);
    T_EQ(h->seq, 2);
    T_EQ(h->count, 2);
    T_TRUE(!h->is_same_run && !h->is_complete && !h->has_need && h->enough_count == 0);
    tts_failverdict_make(&msg, &verdict);
    tts_failadvice_make(&msg, &verdict, &advice);
    enum tts_failadvice_kind kind = advice.items[0].kind;
    tts_failadvice_add_holders(&advice, h);
    T_EQ(advice.items[0].kind, kind);
    tts_failholders_free(scene.holders);
}

T_TEST(a_refusal_adds_the_numbers_that_an_old_message_lacks)
{
    struct tts_failmsg msg = dram_message();
    struct tts_failverdict verdict;
    msg.family = TTS_FAILMSG_V1;
    msg.known &= (UINT32_C(1) << TTS_FAILMSG_BANK) - 1;
    struct scene scene = begin_scene(&msg);
    fill_bank(&scene);
    refuse(&scene, dram_refusal());
    const struct tts_failholders *h = end_scene(&scene);
    T_TRUE(h->has_added);
    check_full_bank(h);
    T_EQ(h->msg.value[TTS_FAILMSG_LARGEST], 37030336);
    tts_failverdict_make(&h->msg, &verdict);
    T_EQ(verdict.cause, TTS_FAILCAUSE_FRAGMENTATION);
    tts_failholders_free(scene.holders);
}

T_TEST(the_first_advice_is_the_smallest_buffer_that_is_enough)
{
    struct tts_failmsg msg = dram_message();
    struct tts_failverdict verdict;
    struct tts_failadvice advice, before;
    struct scene scene = begin_scene(&msg);
    fill_bank(&scene);
    const struct tts_failholders *h = end_scene(&scene);
    tts_failverdict_make(&msg, &verdict);
    tts_failadvice_make(&msg, &verdict, &before);
    advice = before;
    tts_failadvice_add_holders(&advice, h);
    T_EQ(before.items[0].kind, TTS_FAILADVICE_NEIGHBOUR);
    T_EQ(advice.items[0].kind, TTS_FAILADVICE_HOLDER);
    T_EQ(advice.items[0].holder->id, 2);
    T_EQ(advice.items[0].saves_bytes, 4194304);
    T_EQ(advice.count, before.count);
    tts_failholders_free(scene.holders);
}

T_TEST(an_operation_is_the_advice_if_no_single_buffer_is_enough)
{
    struct tts_failmsg msg = dram_message();
    struct tts_failverdict verdict;
    struct tts_failadvice advice;
    struct scene scene = begin_scene(&msg);
    uint64_t block = 994357248 / 48; /* 20715776: two of them are smaller than the need */
    for (uint64_t i = 0; i < 48; i++)
        take(&scene, place(&scene,
                           i >= 20 && i < 23 ? "three"
                           : i % 2           ? "odd"
                                             : "even",
                           i, 2968640 + i * block, block));
    const struct tts_failholders *h = end_scene(&scene);
    T_EQ(h->enough_count, 1); /* the last one, beside the free end of the bank */
    tts_failholders_free(scene.holders);

    scene = begin_scene(&msg);
    for (uint64_t i = 0; i < 48; i++)
        take(&scene, place(&scene,
                           i >= 20 && i < 23 ? "three"
                           : i % 2           ? "odd"
                                             : "even",
                           i, 2968640 + i * (block + 1591808), block));
    h = end_scene(&scene);
    T_EQ(h->enough_count, 0);
    T_TRUE(h->is_complete);
    tts_failverdict_make(&msg, &verdict);
    tts_failadvice_make(&msg, &verdict, &advice);
    tts_failadvice_add_holders(&advice, h);
    T_EQ(advice.items[0].kind, TTS_FAILADVICE_HOLDER_OP);
    T_STR_EQ(advice.items[0].holder_op->op, "three");
    T_EQ(advice.items[0].saves_bytes, 3 * block);
    tts_failholders_free(scene.holders);
}

static struct tts_item place_l1(struct scene *scene, uint64_t id, uint64_t address,
                                uint64_t block)
{
    struct tts_item item = item_alloc(&scene->rig, 0, TTS_POOL_L1, id, block * 64);
    item.event.bytes_per_bank = item.event.block_bytes = block;
    item.event.has_address = true;
    item.event.address = address;
    return item;
}

T_TEST(a_clash_lists_the_buffers_below_the_circular_buffers)
{
    struct tts_failmsg msg = {.family = TTS_FAILMSG_CB, .line = 1};
    struct tts_failverdict verdict;
    struct tts_failadvice advice;
    set_number(&msg, TTS_FAILMSG_ADDRESS, 819200);
    set_number(&msg, TTS_FAILMSG_END, 891680);
    struct scene scene = begin_scene(&msg);
    take(&scene, place_l1(&scene, 3, 1048576, 32768));
    take(&scene, place_l1(&scene, 2, 884736, 16384));
    take(&scene, place_l1(&scene, 1, 819200, 65536));
    take(&scene, place(&scene, "dram", 9, 1024, 64));
    const struct tts_failholders *h = end_scene(&scene);
    T_TRUE(h->is_clash && h->is_same_run && h->is_complete && h->has_need);
    T_EQ(h->count, 3);
    T_EQ(h->below_count, 2);
    T_EQ(h->items[0].room_bytes, 884736);
    T_EQ(h->items[1].room_bytes, 1048576);
    T_TRUE(!h->items[0].is_enough && h->items[1].is_enough && h->items[2].is_enough);
    T_TRUE(!h->items[2].has_room);
    tts_failverdict_make(&msg, &verdict);
    tts_failadvice_make(&msg, &verdict, &advice);
    tts_failadvice_add_holders(&advice, h);
    T_EQ(advice.items[0].kind, TTS_FAILADVICE_HOLDER_LOWEST);
    T_EQ(advice.items[0].count, 2);
    T_EQ(advice.items[0].saves_bytes, 81920);
    tts_failholders_free(scene.holders);
}

T_TEST(only_the_device_of_the_moment_and_its_mesh_are_listed)
{
    struct tts_failmsg msg = dram_message();
    struct scene scene = begin_scene(&msg);
    struct tts_item chip = item_mark(&scene.rig, TTS_ITEM_CHIP);
    chip.device = 0;
    chip.mesh = MESH;
    take(&scene, chip);
    struct tts_item item = place(&scene, "mesh", 1, 2968640, 64);
    item.event.device = MESH;
    take(&scene, item);
    item = place(&scene, "other chip", 1, 2968640, 128);
    item.event.device = 1;
    take(&scene, item);
    take(&scene, place(&scene, "chip", 7, 4000000, 256));
    refuse(&scene, dram_refusal());
    const struct tts_failholders *h = end_scene(&scene);
    T_EQ(h->count, 2);
    T_EQ(h->block_bytes, 64 + 256);
    tts_failholders_free(scene.holders);
}

T_TEST(a_buffer_without_an_address_makes_the_free_pieces_unknown)
{
    struct tts_failmsg msg = dram_message();
    struct scene scene = begin_scene(&msg);
    fill_bank(&scene);
    struct tts_item item = place(&scene, "lost", 5, 0, 64);
    item.event.has_address = false;
    take(&scene, item);
    refuse(&scene, dram_refusal());
    const struct tts_failholders *h = end_scene(&scene);
    T_EQ(h->without_address, 1);
    T_TRUE(!h->has_hole && !h->has_need && !h->items[0].has_room && !op_of(h, 0)->has_room);
    tts_failholders_free(scene.holders);
}

T_TEST(a_program_without_a_device_has_no_addresses)
{
    struct tts_failmsg msg = dram_message();
    struct scene scene = begin_scene(&msg);
    for (uint64_t id = 1; id <= 3; id++)
        take(&scene, place(&scene, "add", id, 0, 64));
    const struct tts_failholders *h = end_scene(&scene);
    T_EQ(h->without_address, 3);
    T_TRUE(!h->has_hole);
    tts_failholders_free(scene.holders);
}

T_TEST(an_id_that_is_allocated_again_counts_once)
{
    struct tts_failmsg msg = dram_message();
    struct scene scene = begin_scene(&msg);
    take(&scene, place(&scene, "old", 1, 4000000, 64));
    fill_bank(&scene);
    const struct tts_failholders *h = end_scene(&scene);
    T_EQ(h->moment, TTS_FAILMOMENT_SAME_BYTES);
    check_full_bank(h);
    tts_failholders_free(scene.holders);
}

T_TEST(buffers_that_were_freed_before_the_moment_do_not_count)
{
    struct tts_failmsg msg = dram_message();
    struct scene scene = begin_scene(&msg);
    for (uint64_t id = 11; id <= 14; id++)
        take(&scene, place(&scene, "early", id, id * 4096, 64));
    /* The last entry takes the place of the first, and is found there. */
    take(&scene, item_free(&scene.rig, 0, TTS_POOL_DRAM, 11));
    take(&scene, item_free(&scene.rig, 0, TTS_POOL_DRAM, 14));
    T_EQ(scene.holders->count, 2);
    T_EQ(scene.holders->items[0].id + scene.holders->items[1].id, 12 + 13);
    take(&scene, item_free(&scene.rig, 0, TTS_POOL_DRAM, 12));
    take(&scene, item_free(&scene.rig, 0, TTS_POOL_DRAM, 13));
    fill_bank(&scene);
    refuse(&scene, dram_refusal());
    check_full_bank(end_scene(&scene));
    tts_failholders_free(scene.holders);
}

T_TEST(memory_does_not_grow_with_the_events_after_the_moment)
{
    struct tts_failmsg msg = dram_message();
    struct scene scene = begin_scene(&msg);
    fill_bank(&scene);
    take(&scene, item_free(&scene.rig, 0, TTS_POOL_DRAM, 4));
    for (uint64_t id = 100; id < 400; id++) {
        take(&scene, place(&scene, "late", id, 1044193280, 64));
        take(&scene, item_free(&scene.rig, 0, TTS_POOL_DRAM, id));
    }
    T_EQ(scene.holders->gone_count, 1);
    check_full_bank(end_scene(&scene));
    tts_failholders_free(scene.holders);
}

T_TEST(a_buffer_inside_another_does_not_end_it)
{
    struct tts_failmsg msg = dram_message();
    struct scene scene = begin_scene(&msg);
    take(&scene, place(&scene, "outer", 1, 4000000, 9600));
    take(&scene, place(&scene, "inner", 2, 4000032, 64));
    take(&scene, place(&scene, "last", 3, 4019200, 1069722624));
    const struct tts_failholders *h = end_scene(&scene);
    T_TRUE(h->has_bank);
    T_EQ(h->hole_bytes, 4000000 - 2968640);
    T_EQ(h->items[1].room_bytes, 4019200 - 4009600);
    T_EQ(h->items[2].room_bytes, 1073741824 - 4009600);
    tts_failholders_free(scene.holders);
}

T_TEST(a_size_without_a_page_is_an_estimate)
{
    struct tts_failmsg msg = dram_message();
    struct scene scene = begin_scene(&msg);
    struct tts_item item = place(&scene, "add", 1, 4000000, 64);
    item.event.page_bytes = 0;
    take(&scene, item);
    const struct tts_failholders *h = end_scene(&scene);
    T_TRUE(h->has_estimate);
    T_EQ(h->block_bytes, 64);
    tts_failholders_free(scene.holders);
}

T_TEST(messages_without_buffers_are_refused)
{
    struct tts_failholders *holders = NULL;
    struct tts_failmsg msg = {.family = TTS_FAILMSG_TRACE};
    T_EQ(tts_failholders_new(&msg, NULL, &holders, NULL), TTS_E_NOT_FOUND);
    msg.family = TTS_FAILMSG_V3; /* the pool is cut off */
    T_EQ(tts_failholders_new(&msg, NULL, &holders, NULL), TTS_E_NOT_FOUND);
    T_TRUE(holders == NULL);
}

/* ---- a slow model ---- */

enum { UNIT = 32, UNITS = 96, OPS = 4 };

/* The model: the buffer of each unit of a bank, 0 if free. */
struct picture {
    uint64_t owner[UNITS];
    int op[UNITS + 1]; /* of each buffer */
};

static uint64_t longest_run(const struct picture *p, uint64_t without, int without_op)
{
    size_t low = 0, high = UNITS;
    uint64_t best = 0, run = 0;
    while (low < UNITS && p->owner[low] == 0)
        low++;
    while (high > low && p->owner[high - 1] == 0)
        high--;
    for (size_t i = low; i < high; i++) {
        uint64_t owner = p->owner[i];
        bool is_free = owner == 0 || owner == without || p->op[owner] == without_op;
        run = is_free ? run + 1 : 0;
        best = run > best ? run : best;
    }
    return best * UNIT;
}

static void paint(struct scene *scene, struct picture *p, uint64_t *rng)
{
    static const char *const names[OPS] = {"a", "b", "c", "d"};
    uint64_t id = 0;
    for (size_t at = 0; at < UNITS;) {
        size_t units = 1 + t_random(rng) % 6;
        units = units < UNITS - at ? units : UNITS - at;
        if (t_random(rng) % 3 > 0) {
            p->op[++id] = (int)(t_random(rng) % OPS);
            for (size_t i = at; i < at + units; i++)
                p->owner[i] = id;
            take(scene, place(scene, names[p->op[id]], id, 4096 + at * UNIT, units * UNIT));
        }
        at += units;
    }
}

T_TEST(free_pieces_agree_with_a_picture_of_the_bank)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t rng = seed;
        struct picture picture = {.op = {-2}};
        struct tts_failmsg msg = {
            .family = TTS_FAILMSG_V1, .has_pool = true, .pool = TTS_POOL_DRAM, .line = 1};
        set_number(&msg, TTS_FAILMSG_BANKS, BANKS);
        set_number(&msg, TTS_FAILMSG_NEED, UINT64_C(8) * UNIT);
        struct scene scene = begin_scene(&msg);
        paint(&scene, &picture, &rng);
        const struct tts_failholders *h = end_scene(&scene);
        uint64_t hole = longest_run(&picture, UINT64_MAX, -1);
        T_EQ(h->hole_bytes, hole);
        for (size_t i = 0; i < h->count; i++) {
            uint64_t room = h->items[i].room_bytes;
            T_EQ(room > hole ? room : hole, longest_run(&picture, h->items[i].id, -1));
            T_EQ(h->items[i].is_enough, room >= UINT64_C(8) * UNIT);
        }
        for (size_t i = 0; i < h->ops.count; i++)
            T_EQ(op_of(h, i)->room_bytes,
                 longest_run(&picture, UINT64_MAX, op_of(h, i)->op[0] - 'a'));
        tts_failholders_free(scene.holders);
    }
}

/* ---- hostile files ---- */

T_TEST(overlapping_and_distant_buffers_do_not_wrap)
{
    struct tts_failmsg msg = dram_message();
    struct scene scene = begin_scene(&msg);
    const uint64_t far = UINT64_C(1) << 61, wide = UINT64_C(1) << 48;
    take(&scene, place(&scene, "a", 1, 4000000, wide / BANKS));
    take(&scene, place(&scene, "b", 2, 4000032, 64));
    take(&scene, place(&scene, "c", 3, far, wide / BANKS));
    take(&scene, place(&scene, "d", 4, far, wide / BANKS));
    const struct tts_failholders *h = end_scene(&scene);
    T_EQ(h->count, 4);
    T_TRUE(!h->has_bank && h->has_hole);
    T_TRUE(h->hole_bytes < far);
    for (size_t i = 0; i < h->count; i++)
        T_TRUE(h->items[i].room_bytes <= far + wide);
    tts_failholders_free(scene.holders);
}

static enum tts_status run_scene(struct heap *heap)
{
    struct tts_failmsg msg = dram_message();
    struct scene scene = {0};
    scene.status = tts_failholders_new(&msg, &heap->alloc, &scene.holders, NULL);
    if (scene.status != TTS_OK)
        return scene.status;
    fill_bank(&scene);
    for (uint64_t id = 10; id < 40; id++)
        take(&scene, place(&scene, "late", id, id * 4096, 64));
    for (uint64_t id = 10; id < 40; id++)
        take(&scene, item_free(&scene.rig, 0, TTS_POOL_DRAM, id));
    take(&scene, item_free(&scene.rig, 0, TTS_POOL_DRAM, 2));
    if (scene.status == TTS_OK)
        scene.status = tts_failholders_finish(scene.holders, NULL);
    if (scene.status == TTS_OK)
        check_full_bank(scene.holders);
    tts_failholders_free(scene.holders);
    return scene.status;
}

T_TEST(any_allocation_may_fail)
{
    struct heap heap;
    enum tts_status status = TTS_E_NOMEM;
    for (uint64_t fail_at = 1; status != TTS_OK; fail_at++) {
        heap_init(&heap);
        heap.fail_at = fail_at;
        status = run_scene(&heap);
        T_TRUE(status == TTS_OK || status == TTS_E_NOMEM);
        T_TRUE(heap.failed == 0 || status == TTS_E_NOMEM);
        T_TRUE(heap_is_settled(&heap));
    }
}
