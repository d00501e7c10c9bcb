/* Tests that the decoder returns what the encoder wrote. */
#include "harness/rec_rig.h"
#include "harness/t.h"

/* Returns the item as a recording keeps it. */
static struct tts_item kept_of(struct tts_item item, bool is_unseen)
{
    if (item.kind == TTS_ITEM_EVENT && item.event.kind == TTS_EVENT_FREE && !is_unseen) {
        item.event.pool = TTS_POOL_DRAM;
        item.event.size_bytes = item.event.bytes_per_bank = item.event.block_bytes = 0;
    }
    return item;
}

/* Writes an item, in the short form if it has one. */
static bool write_item(struct tts_item item, bool is_unseen, uint64_t tick)
{
    const struct tts_event *event = &item.event;
    bool is_event = item.kind == TTS_ITEM_EVENT;
    bool is_short = is_event && draw_chance(&rig.draw, 2) && event->bytes_per_bank == 0 &&
                    (event->pool == TTS_POOL_DRAM || event->pool == TTS_POOL_TRACE);
    if (is_short && event->kind == TTS_EVENT_ALLOC && !event->has_address &&
        event->page_bytes == 0)
        return tts_recenc_alloc(&rig.enc, event->device, event->pool, event->id,
                                event->size_bytes, item.op.hash, tick);
    if (is_short && event->kind == TTS_EVENT_FREE && !is_unseen)
        return tts_recenc_free(&rig.enc, event->device, event->id, tick);
    if (item.kind != TTS_ITEM_NAME && draw_chance(&rig.draw, 2))
        item.op.name = NULL; /* a recording needs the hash only */
    return tts_recenc_item(&rig.enc, &item, is_unseen, tick);
}

static uint64_t draw_tick(uint64_t last)
{
    switch (draw_below(&rig.draw, 30)) {
    case 0:
        return last + draw_number(&rig.draw) / 1000;
    case 1:
        /* An earlier time is stored as the last time. */
        return last - draw_below(&rig.draw, 100);
    default:
        return last + draw_number(&rig.draw) % (UINT64_C(1) << draw_below(&rig.draw, 18));
    }
}

T_TEST(what_goes_in_comes_out)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        size_t blocks = 0;
        uint64_t last = seed == 1 ? 0 : BEGIN;
        draw_init(&rig.draw, seed);
        begin(0, last, false);
        while (blocks < 20) {
            bool is_unseen, in_keyframe = rig.draw.in_keyframe;
            uint64_t seq = rig.draw.seq, tick = draw_tick(last);
            struct tts_item item = draw_item(&rig.draw, &is_unseen);
            bool is_written = write_item(item, is_unseen, tick);
            if (!is_written) {
                T_TRUE(tts_recenc_used(&rig.enc) > CAPACITY - TTS_RECENC_ITEM_MAX);
                block_holds();
                begin(seq, last, in_keyframe);
                T_TRUE(write_item(item, is_unseen, tick));
                blocks++;
            }
            if (tick > last && item.kind != TTS_ITEM_NAME) /* a NAME has no time */
                last = tick;
            rig.items[rig.count] = kept_of(item, is_unseen);
            rig.ticks[rig.count++] = last;
        }
        block_holds();
    }
}

/* After each call the commit includes the item. */
T_TEST(every_item_is_committed_when_the_call_returns)
{
    uint64_t last = BEGIN;
    draw_init(&rig.draw, 77);
    begin(0, last, false);
    for (int i = 0; i < 300; i++) {
        bool is_unseen;
        struct tts_item item = draw_item(&rig.draw, &is_unseen);
        if (!write_item(item, is_unseen, last))
            break;
        commit_holds();
        rig.items[rig.count] = kept_of(item, is_unseen);
        rig.ticks[rig.count++] = last;
        if (i % 10 == 0)
            block_holds();
    }
}

/* Writes an item. Begins a new block if there is no room. */
static void append(struct tts_item item)
{
    if (!tts_recenc_item(&rig.enc, &item, false, BEGIN)) {
        block_holds();
        begin(item.seq - 1, BEGIN, false);
        put(item, BEGIN);
    }
    T_TRUE(rig.count < DRAW_ITEMS);
    rig.items[rig.count] = item;
    rig.ticks[rig.count++] = BEGIN;
}

/* There are thousands of shapes, more than slots and hash values, so some of them collide. */
T_TEST(shapes_that_differ_in_one_field_are_told_apart)
{
    enum { FIELDS = 7, TURNS = 5000 };
    draw_init(&rig.draw, 9);
    for (int field = 0; field < FIELDS; field++) {
        begin(0, BEGIN, false);
        for (uint64_t i = 1; i <= TURNS; i++) {
            struct tts_item item = event_item(TTS_EVENT_ALLOC);
            struct tts_event *event = &item.event;
            event->pool = field == 6 ? TTS_POOL_L1 : TTS_POOL_DRAM;
            event->id = item.seq = i;
            event->size_bytes = field == 0 ? i : 1;
            event->bytes_per_bank = field == 1 ? i : 1;
            event->block_bytes = field == 2 ? i : field == 1 ? TTS_EVENT_BYTES_MAX : 1;
            event->page_bytes = field == 3 ? i : 1;
            event->cores = field == 4 ? (uint32_t)i % (TTS_CORES_MAX + 1) : 1;
            item.op = field == 5 ? rig.draw.ops[draw_below(&rig.draw, DRAW_OPS)] : item.op;
            if (field == 6) {
                size_t set = draw_below(&rig.draw, DRAW_SETS);
                event->ranges = rig.draw.ranges[set];
                event->range_count = rig.draw.range_counts[set];
            }
            append(item);
        }
        block_holds();
    }
}
