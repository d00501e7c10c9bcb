#include "harness/t.h"
#include "views/trace/itemcheck.h"

static struct tts_error err;

static const struct tts_core_range range[] = {{0, 0, 1, 1}};

/* Returns a valid item that can follow the items checked so far. */
static struct tts_item item_of(const struct tts_itemcheck *check, enum tts_item_kind kind)
{
    struct tts_item item = {.kind = kind, .seq = check->seq, .capture = 1, .device = 1};
    item.event = tts_event_of(kind == TTS_ITEM_PART ? TTS_EVENT_CB : TTS_EVENT_PROGRAM, 0);
    item.event.ranges = range;
    item.event.range_count = kind == TTS_ITEM_PART;
    item.live = (struct tts_live){.size_bytes = 64};
    item.seq += kind == TTS_ITEM_EVENT;
    return item;
}

static bool passes(struct tts_itemcheck *check, enum tts_item_kind kind)
{
    struct tts_item item = item_of(check, kind);
    return tts_itemcheck_pass(check, &item, &err) == TTS_OK;
}

static void refuses(struct tts_itemcheck *check, struct tts_item item, const char *text)
{
    struct tts_itemcheck before = *check;
    T_EQ(tts_itemcheck_pass(check, &item, &err), TTS_E_INVALID);
    T_STR_EQ(err.text, text);
    T_MEM_EQ(&before, check, sizeof before);
}

T_TEST(events_have_the_next_number)
{
    struct tts_itemcheck check = {0};
    struct tts_item item = item_of(&check, TTS_ITEM_EVENT);
    item.seq = 0;
    refuses(&check, item,
            "the events are out of order: event 0 comes directly "
            "after event 0");
    item.seq = UINT64_C(1) << 47;
    refuses(&check, item,
            "the events are out of order: event 140737488355328 "
            "comes directly after event 0");
    check.seq = 1000;
    T_TRUE(passes(&check, TTS_ITEM_EVENT));
    item.seq = 1001;
    refuses(&check, item,
            "the events are out of order: event 1001 comes "
            "directly after event 1001");
    item.seq = 1003;
    refuses(&check, item,
            "the events are out of order: event 1003 comes "
            "directly after event 1001");
}

T_TEST(what_cannot_be_is_refused)
{
    struct tts_itemcheck check = {0};
    struct tts_item item = item_of(&check, TTS_ITEM_EVENT);
    item.event.kind = TTS_EVENT_OP_BEGIN;
    item.event.name = "x";
    item.event.name_len = 1;
    refuses(&check, item, "an operation begins without a name");
    item = item_of(&check, TTS_ITEM_CHIP);
    item.mesh = item.device;
    refuses(&check, item, "device 1 cannot be its own mesh");
    item = item_of(&check, TTS_ITEM_CUT);
    item.capture = 0;
    refuses(&check, item,
            "a capture has number 0, or a phase of a capture has a name that is too long");
    item = item_of(&check, TTS_ITEM_CUT);
    item.name_len = TTS_PHASE_NAME_MAX + 1;
    refuses(&check, item,
            "a capture has number 0, or a phase of a capture has a name that is too long");
    item.kind = (enum tts_item_kind)TTS_ITEM_KINDS;
    check.in_keyframe = true; /* so that the item is allowed at this place */
    refuses(&check, item, "the recording has an item of the unknown kind 14");
}

T_TEST(events_and_what_lived_are_checked_like_any)
{
    struct tts_itemcheck check = {0};
    struct tts_item item = item_of(&check, TTS_ITEM_EVENT);
    item.event = tts_event_of(TTS_EVENT_ALLOC, 0);
    item.event.size_bytes = UINT64_MAX;
    T_TRUE(tts_itemcheck_pass(&check, &item, &err) != TTS_OK);
    T_TRUE(passes(&check, TTS_ITEM_KEYFRAME));
    item = item_of(&check, TTS_ITEM_LIVE);
    item.live.size_bytes = UINT64_MAX;
    T_TRUE(tts_itemcheck_pass(&check, &item, &err) != TTS_OK);
    item = item_of(&check, TTS_ITEM_LIVE);
    item.live.pool = TTS_POOLS;
    T_TRUE(tts_itemcheck_pass(&check, &item, &err) != TTS_OK);
    item = item_of(&check, TTS_ITEM_PART);
    item.event.range_count = 0;
    T_TRUE(tts_itemcheck_pass(&check, &item, &err) != TTS_OK);
    item = item_of(&check, TTS_ITEM_PART);
    item.event.kind = TTS_EVENT_ALLOC;
    refuses(&check, item, "an entry of a list of live buffers has an impossible kind");
}

T_TEST(parts_of_keyframes_have_their_place)
{
    struct tts_itemcheck check = {0};
    for (int kind = TTS_ITEM_LIVE; kind < TTS_ITEM_KINDS; kind++)
        refuses(&check, item_of(&check, (enum tts_item_kind)kind),
                "an entry of a list of live buffers is outside such a list");
    T_TRUE(passes(&check, TTS_ITEM_KEYFRAME));
    static const enum tts_item_kind outside[] = {TTS_ITEM_EVENT,    TTS_ITEM_BEGIN,
                                                 TTS_ITEM_CUT,      TTS_ITEM_END,
                                                 TTS_ITEM_KEYFRAME, TTS_ITEM_SAMPLE};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        refuses(&check, item_of(&check, outside[i]),
                "an event, a phase or another list is inside a list of live buffers");
    T_TRUE(passes(&check, TTS_ITEM_NAME));
    T_TRUE(passes(&check, TTS_ITEM_KEYFRAME_END));
    T_TRUE(passes(&check, TTS_ITEM_EVENT));
}
