/* Tests the exact bytes that the encoder writes. */
#include "harness/rec_rig.h"
#include "harness/t.h"

#define WROTE(...)                                                                             \
    do {                                                                                       \
        static const unsigned char want_[] = {__VA_ARGS__};                                    \
        T_EQ(tts_recenc_used(&rig.enc), sizeof want_);                                         \
        T_MEM_EQ(rig.payload, want_, sizeof want_);                                            \
        commit_holds();                                                                        \
    } while (0)

/* --- bytes ------------------------------------------------------------------------------ */

T_TEST(an_empty_block_is_committed_and_not_as_zeros)
{
    begin_plain();
    T_EQ(tts_recenc_used(&rig.enc), 0);
    T_TRUE(rig.commit != 0);
    commit_holds();
}

T_TEST(an_alloc_of_a_known_shape_and_a_free_take_two_bytes)
{
    begin_plain();
    T_TRUE(tts_recenc_alloc(&rig.enc, 0, TTS_POOL_DRAM, 1, 4096, 0, BEGIN));
    /* Defines shape 0: 4096 bytes of DRAM, and nothing else. */
    WROTE(0x09, 1, 0, 0, 0, 0x80, 0x20, 0x01, 0);
    T_TRUE(tts_recenc_alloc(&rig.enc, 0, TTS_POOL_DRAM, 2, 4096, 0, BEGIN + 12));
    T_TRUE(tts_recenc_free(&rig.enc, 0, 1, BEGIN + 12));
    T_TRUE(tts_recenc_free(&rig.enc, 0, 2, BEGIN));
    WROTE(0x09, 1, 0, 0, 0, 0x80, 0x20, 0x01, 0, 0xc1, 0, 0x03, 1, 0x03, 0);
}

T_TEST(both_ways_to_tell_of_a_buffer_write_the_same)
{
    begin_plain();
    T_TRUE(tts_recenc_alloc(&rig.enc, 0, TTS_POOL_TRACE, 1, 64, 0, BEGIN));
    size_t used = tts_recenc_used(&rig.enc);
    struct tts_item item = event_item(TTS_EVENT_ALLOC);
    item.event.pool = TTS_POOL_TRACE;
    item.event.size_bytes = 64;
    item.event.id = 2;
    put(item, BEGIN);
    T_EQ(tts_recenc_used(&rig.enc), used + 2);
    T_TRUE(tts_recenc_alloc(&rig.enc, 0, TTS_POOL_TRACE, 3, 64, 0, BEGIN));
    T_EQ(tts_recenc_used(&rig.enc), used + 4);
    T_MEM_EQ(rig.payload + used, rig.payload + used + 2, 2);
    commit_holds();
}

T_TEST(time_takes_as_many_bytes_as_it_needs)
{
    static const uint64_t steps[] = {12, 13, 268, 269, 65804, 65805};
    uint64_t tick = BEGIN;
    begin_plain();
    T_TRUE(tts_recenc_alloc(&rig.enc, 0, TTS_POOL_DRAM, 9, 1, 0, tick));
    size_t used = tts_recenc_used(&rig.enc);
    for (size_t i = 0; i < 6; i++)
        T_TRUE(tts_recenc_free(&rig.enc, 0, 9, tick += steps[i]));
    static const unsigned char want[] = {0xc3, 0,    0xd3, 0,    0,    0xd3, 255,
                                         0,    0xe3, 0,    0,    0,    0xe3, 0xff,
                                         0xff, 0,    0xf3, 0x8d, 0x82, 4,    0};
    T_MEM_EQ(rig.payload + used, want, sizeof want);
    T_EQ(tts_recenc_used(&rig.enc), used + sizeof want);
    commit_holds();
}

T_TEST(ids_and_addresses_are_steps)
{
    begin_plain();
    struct tts_item item = event_item(TTS_EVENT_ALLOC);
    item.event.size_bytes = 1;
    item.event.has_address = true;
    item.event.address = 64;
    item.event.id = 100;
    put(item, BEGIN);
    item.event.address = 32;
    item.event.id = 99;
    put(item, BEGIN);
    struct tts_item gone = event_item(TTS_EVENT_FREE);
    gone.event.id = 100;
    put(gone, BEGIN); /* writes the difference to the last alloc */
    WROTE(0x09, 1, 0, 1, 0, 1, 0x02, 0, 0xc8, 1, 0x80, 1, 0x02, 0, 1, 63, 0x0a, 14, 1);
}

T_TEST(a_shape_says_what_it_has)
{
    static const struct tts_core_range cores[] = {{0, 1, 2, 3}, {4, 5, 6, 63}};
    begin_plain();
    struct tts_item item = event_item(TTS_EVENT_ALLOC);
    item.event.pool = TTS_POOL_L1;
    item.event.id = 1;
    item.event.size_bytes = 2;
    item.event.bytes_per_bank = 3;
    item.event.block_bytes = 4;
    item.event.page_bytes = 5;
    item.event.cores = 6;
    item.event.placement = TTS_PLACE_DOWN;
    item.event.ranges = cores;
    item.event.range_count = 2;
    item.op = (struct tts_item_op){0x105, "add", 3};
    put(item, BEGIN);
    WROTE(0x09, 3, /* ranges */ 0x30, 2, 0, 1, 2, 3, 4, 5, 6, 63,                /**/
          0x09, 2, /* name */ 5, 3, 'a', 'd', 'd',                               /**/
          0x09, 1, /* shape */ 0, 4 | 8 | 16 | 32, 0x21, 2, 3, 4, 5, 6, 0x30, 5, /**/
          0x01, 0);
}

T_TEST(the_rest_is_as_the_page_says)
{
    begin_plain();
    struct tts_item item = event_item(TTS_EVENT_PROGRAM);
    item.event.device = 300;
    put(item, BEGIN);
    item = event_item(TTS_EVENT_OP_BEGIN);
    item.event.name = "mul";
    item.event.name_len = 3;
    item.thread = 2;
    put(item, BEGIN + 1);
    unsigned slot = tts_opnames_hash("mul", 3) & 0xff;
    T_EQ(rig.payload[7], slot);
    T_EQ(rig.payload[13], slot);
    rig.payload[7] = rig.payload[13] = 0;
    static const unsigned char op[] = {0x09, 4,   0xac, 2,   0x05, 0x09, 2, 0,
                                       3,    'm', 'u',  'l', 0x17, 0,    2};
    T_EQ(tts_recenc_used(&rig.enc), sizeof op);
    T_MEM_EQ(rig.payload, op, sizeof op);

    begin_plain();
    item = event_item(TTS_EVENT_OP_END);
    item.thread = 2;
    put(item, BEGIN);
    put(event_item(TTS_EVENT_TRACE_BEGIN), BEGIN);
    put(event_item(TTS_EVENT_TRACE_END), BEGIN);
    put(event_item(TTS_EVENT_ALLOC), BEGIN); /* an allocation without bytes */
    T_TRUE(tts_recenc_alloc(&rig.enc, 0, TTS_POOL_DRAM, 7, 0, 0, BEGIN));
    put((struct tts_item){.kind = TTS_ITEM_BEGIN, .capture = 1}, BEGIN);
    put((struct tts_item){.kind = TTS_ITEM_CUT, .capture = 1, .name = "a", .name_len = 1},
        BEGIN);
    put((struct tts_item){.kind = TTS_ITEM_END, .capture = 1}, BEGIN);
    put((struct tts_item){.kind = TTS_ITEM_CHIP, .device = 4, .mesh = 5}, BEGIN);
    put((struct tts_item){.kind = TTS_ITEM_MISSED, .count = 128}, BEGIN);
    WROTE(0x08, 2, 0x0a, 6, 0x0a, 7, 0x0a, 13, 0x0a, 13, 0x0a, 1, 1, 0x0a, 2, 1, 1, 'a', 0x0a,
          3, 1, 0x0a, 4, 4, 5, 0x0a, 5, 0x80, 1);
}

T_TEST(a_sample_has_its_known_values_in_their_order)
{
    struct tts_sample sample = {.period_ns = 500};
    begin_plain();
    tts_sample_set(&sample, TTS_SAMPLE_CB, 7);
    tts_sample_set(&sample, tts_sample_number(TTS_SAMPLE_ALLOCATED, TTS_POOL_DRAM), 4096);
    put((struct tts_item){.kind = TTS_ITEM_SAMPLE, .device = 2, .sample = &sample}, BEGIN);
    WROTE(0x09, 4, 2, 0x0a, 16, 0xf4, 3, 0x81, 0x80, 0x40, 0x80, 0x20, 7);
}

T_TEST(the_largest_sample_fits)
{
    struct tts_sample sample = {.period_ns = UINT64_MAX};
    draw_init(&rig.draw, 1);
    begin(0, 0, false);
    for (unsigned i = 0; i < TTS_SAMPLE_VALUES; i++)
        tts_sample_set(&sample, i, UINT64_MAX);
    struct tts_item item = {.kind = TTS_ITEM_SAMPLE, .device = UINT32_MAX, .sample = &sample};
    size_t last = 0;
    while (tts_recenc_item(&rig.enc, &item, false, UINT64_MAX / 2 + last)) {
        T_TRUE(tts_recenc_used(&rig.enc) - last < 300);
        last = tts_recenc_used(&rig.enc);
    }
    T_TRUE(last > CAPACITY - TTS_RECENC_ITEM_MAX && last <= CAPACITY);
}

T_TEST(a_name_may_be_nothing_at_all)
{
    begin_plain();
    put((struct tts_item){.kind = TTS_ITEM_CUT, .capture = 1}, BEGIN);
    put(event_item(TTS_EVENT_OP_BEGIN), BEGIN);
    unsigned slot = tts_opnames_hash("", 0) & 0xff;
    T_EQ(rig.payload[6], slot);
    T_EQ(rig.payload[9], slot);
    static const unsigned char cut[] = {0x0a, 2, 1, 0, 0x09, 2};
    T_MEM_EQ(rig.payload, cut, sizeof cut);
    T_EQ(tts_recenc_used(&rig.enc), 11);
    commit_holds();
}

T_TEST(a_keyframe_is_as_the_page_says)
{
    begin_plain();
    put((struct tts_item){.kind = TTS_ITEM_KEYFRAME, .count = 1}, BEGIN);
    struct tts_item item = {.kind = TTS_ITEM_LIVE};
    item.live = (struct tts_live){.id = 8, .size_bytes = 16, .seq = 3, .pool = TTS_POOL_TRACE};
    put(item, BEGIN);
    item = (struct tts_item){.kind = TTS_ITEM_PART};
    static const struct tts_core_range core = {1, 1, 1, 1};
    item.event = tts_event_of(TTS_EVENT_DFB, 0);
    item.event.borrowed = true;
    item.event.size_bytes = 9;
    item.event.ranges = &core;
    item.event.range_count = 1;
    item.live.seq = 2;
    put(item, BEGIN);
    put((struct tts_item){.kind = TTS_ITEM_TRACING, .count = 2}, BEGIN);
    put((struct tts_item){.kind = TTS_ITEM_ACTIVE, .capture = 3}, BEGIN);
    put((struct tts_item){.kind = TTS_ITEM_KEYFRAME_END}, BEGIN);
    WROTE(0x0a, 8, 1, 0x09, 1, 0, 0, 3, 16, 0x0c, 0, 16, 6, /**/
          0x09, 3, 0x1b, 1, 1, 1, 1, 1, 0x09, 1, 1, 0x80 | 32 | 2, 0, 9, 0x1b, 0x0a, 10, 1,
          1, /**/
          0x0a, 11, 2, 0x0a, 12, 3, 0x0a, 9);
}

T_TEST(a_failure_has_all_its_fields_in_their_order)
{
    begin_plain();
    struct tts_failure f = {.kind = TTS_FAILURE_CB_CLASH, .pool = TTS_POOL_L1};
    f.requested_bytes = 1, f.need_bytes = 2, f.block_bytes = 3, f.banks = 4, f.bank_bytes = 5;
    f.taken_bytes = 6, f.free_bytes = 7, f.largest_free_bytes = 8, f.address = 9, f.limit = 10;
    f.program_id = 11, f.region_end = 12, f.l1_bytes = 13, f.l1_address = 14;
    f.range = (struct tts_core_range){15, 16, 17, 18};
    f.mesh_id = 19, f.trace_bytes = 20, f.taken_end = 21, f.given_end = 22;
    struct tts_item item = event_item(TTS_EVENT_FAILURE);
    item.event.failure = &f;
    put(item, BEGIN);
    WROTE(0x0b, 0, 5, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
          21, 22);
    item.op = (struct tts_item_op){0xff, "", 0};
    put(item, BEGIN);
    static const unsigned char want[] = {0x09, 2, 0xff, 0, 0x0b, 0x80, 2, 5};
    T_MEM_EQ(rig.payload + 26, want, sizeof want);
}

/* --- room and slots --------------------------------------------------------------------- */

T_TEST(nothing_is_written_where_there_may_be_no_room)
{
    begin_plain();
    uint64_t id = 1;
    while (tts_recenc_alloc(&rig.enc, 0, TTS_POOL_DRAM, id, 4096, 0, BEGIN))
        id++;
    size_t used = tts_recenc_used(&rig.enc);
    uint64_t commit = rig.commit;
    struct tts_item item = event_item(TTS_EVENT_PROGRAM);
    T_EQ(used, CAPACITY - TTS_RECENC_ITEM_MAX + 1);
    T_TRUE(!tts_recenc_item(&rig.enc, &item, false, BEGIN));
    T_TRUE(!tts_recenc_free(&rig.enc, 0, 1, BEGIN));
    T_TRUE(!tts_recenc_free(&rig.enc, 1, 1, BEGIN));
    T_TRUE(!tts_recenc_alloc(&rig.enc, 1, TTS_POOL_DRAM, 1, 1, 1, UINT64_MAX));
    T_EQ(tts_recenc_used(&rig.enc), used);
    T_EQ(rig.commit, commit);
}

T_TEST(the_largest_items_fit_behind_the_last_place_to_begin_one)
{
    draw_init(&rig.draw, 3);
    unsigned char *payload = malloc(TTS_RECENC_ITEM_MAX); /* has room for exactly one item */
    struct tts_item large[3] = {event_item(TTS_EVENT_ALLOC),
                                event_item(TTS_EVENT_FAILURE),
                                {.kind = TTS_ITEM_CUT, .capture = UINT32_MAX}};
    struct tts_event *event = &large[0].event;
    event->pool = TTS_POOL_L1;
    event->size_bytes = event->page_bytes = TTS_EVENT_SIZE_MAX;
    event->bytes_per_bank = event->block_bytes = TTS_EVENT_BYTES_MAX;
    event->has_address = true;
    event->address = TTS_EVENT_BYTES_MAX;
    event->cores = TTS_CORES_MAX;
    event->id = UINT64_C(1) << 63;
    event->ranges = rig.draw.ranges[0];
    event->range_count = TTS_RANGES_MAX;
    struct tts_failure failure;
    memset(&failure, 0xff, sizeof failure);
    large[1].event.failure = &failure;
    char name[1000];
    memset(name, 'x', sizeof name);
    large[2].name = name;
    large[2].name_len = sizeof name;
    for (size_t i = 0; i < 3; i++) {
        uint64_t commit;
        large[i].event.device = UINT32_MAX;
        large[i].op = (struct tts_item_op){UINT64_MAX, name, sizeof name};
        tts_recenc_begin(&rig.enc, payload, TTS_RECENC_ITEM_MAX, &commit, 0, 0);
        T_TRUE(tts_recenc_item(&rig.enc, &large[i], false, UINT64_MAX));
        T_TRUE(tts_recenc_used(&rig.enc) < 500);
        T_TRUE(!tts_recenc_item(&rig.enc, &large[i], false, UINT64_MAX));
    }
    T_EQ(payload[0] & 15, 10); /* the record of the phase, whose name was cut */
    T_EQ(payload[17], 255);
    free(payload);
}

T_TEST(a_block_does_not_lean_on_the_one_before)
{
    begin_plain();
    T_TRUE(tts_recenc_alloc(&rig.enc, 3, TTS_POOL_DRAM, 1, 4096, rig.draw.ops[2].hash, BEGIN));
    size_t used = tts_recenc_used(&rig.enc);
    begin(1, BEGIN, false);
    T_TRUE(tts_recenc_alloc(&rig.enc, 3, TTS_POOL_DRAM, 1, 4096, rig.draw.ops[2].hash, BEGIN));
    T_EQ(tts_recenc_used(&rig.enc), used);
    commit_holds();
}

T_TEST(a_name_that_the_block_has_is_not_written_again)
{
    begin_plain();
    struct tts_item item = event_item(TTS_EVENT_OP_BEGIN);
    for (size_t round = 0, used = 0; round < 2; round++) {
        for (size_t i = 0; i < 40; i++) {
            item.op = rig.draw.ops[i];
            put(item, BEGIN);
        }
        T_TRUE(round == 0 || tts_recenc_used(&rig.enc) - used < 40 * 3 + 40);
        used = tts_recenc_used(&rig.enc);
    }
    item = (struct tts_item){.kind = TTS_ITEM_NAME, .op = rig.draw.ops[39]};
    size_t used = tts_recenc_used(&rig.enc);
    put(item, BEGIN);
    T_EQ(tts_recenc_used(&rig.enc), used);
    commit_holds();
}

/* Such names are one operation: every reader finds the same name, whichever was written
 * first. */
T_TEST(names_that_differ_in_control_characters_are_written_as_they_are_kept)
{
    static const char *const names[] = {"add\n", "add\x7f", "add?"};
    for (size_t i = 0; i < 3; i++) {
        begin_plain();
        struct tts_item item = event_item(TTS_EVENT_OP_BEGIN);
        item.op = (struct tts_item_op){tts_opnames_hash(names[i], 4), names[i], 4};
        put(item, BEGIN);
        T_MEM_EQ(rig.payload + 4, "add?", 4);
        size_t used = tts_recenc_used(&rig.enc);
        item.op.name = names[(i + 1) % 3];
        put(item, BEGIN);
        T_EQ(rig.payload[used], rig.payload[8]); /* no second name is defined */
    }
}

/* Returns the number of bytes that an allocation adds. Each call uses the next id. */
static size_t cost_of(uint64_t size_bytes)
{
    size_t used = tts_recenc_used(&rig.enc);
    T_TRUE(tts_recenc_alloc(&rig.enc, 0, TTS_POOL_DRAM, rig.enc.id + 1, size_bytes, 0, BEGIN));
    return tts_recenc_used(&rig.enc) - used;
}

T_TEST(two_shapes_that_fight_for_a_place_leave_the_others_theirs)
{
    uint64_t rival = 1000000;
    draw_init(&rig.draw, 1);
    do {
        begin(0, BEGIN, false);
        cost_of(1);
        cost_of(++rival);
    } while (cost_of(1) == 2);
    begin_plain();
    for (uint64_t size = 1; size <= 200; size++)
        cost_of(size);
    for (int i = 0; i < 200; i++)
        T_TRUE(cost_of(rival) > 2 && cost_of(1) > 2);
    size_t total = 0;
    for (uint64_t size = 1; size <= 200; size++)
        total += cost_of(size);
    T_TRUE(total >= 400 && total < 400 + 20 * 10);
}

/* There are more shapes, names and ranges than slots. The common ones must stay defined. */
T_TEST(a_hundred_shapes_do_not_fight_for_slots)
{
    begin_plain();
    uint64_t id = 0;
    size_t first = 0;
    for (int round = 0; round < 20; round++) {
        for (uint64_t shape = 0; shape < 100; shape++)
            T_TRUE(tts_recenc_alloc(&rig.enc, 0, TTS_POOL_DRAM, ++id, 32 * (1 + shape),
                                    rig.draw.ops[shape % 10].hash, BEGIN));
        first = round == 0 ? tts_recenc_used(&rig.enc) : first;
    }
    size_t more = tts_recenc_used(&rig.enc) - first;
    T_TRUE(more >= 2 * 19 * 100 && more < 2 * 19 * 100 + 19 * 10 * 10);
}
