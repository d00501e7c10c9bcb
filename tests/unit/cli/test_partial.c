#include "harness/item_rig.h"
#include "harness/t.h"
#include "sources/partial.h"

static struct item_rig rig;
static struct tts_partial partial;

static void begin(uint64_t seq)
{
    rig = (struct item_rig){.seq = seq};
    partial = (struct tts_partial){0};
}

static void put(struct tts_item item)
{
    tts_partial_item(&partial, &item);
}

static void put_event(void)
{
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, rig.seq + 1, 64));
}

static void put_missed(uint64_t count)
{
    struct tts_item item = item_mark(&rig, TTS_ITEM_MISSED);
    item.count = count;
    put(item);
}

T_TEST(a_file_that_begins_with_its_first_event_has_its_start)
{
    begin(0);
    T_TRUE(!partial.has_items);
    put_event();
    put_event();
    T_TRUE(partial.has_items && !partial.lacks_start);
    T_EQ(partial.missed, 0);
}

T_TEST(one_that_begins_later_has_it_only_with_a_keyframe)
{
    begin(5);
    put(item_mark(&rig, TTS_ITEM_KEYFRAME));
    put(item_mark(&rig, TTS_ITEM_NAME));
    put(item_live(&rig, 0, TTS_POOL_DRAM, 1, 64));
    put(item_mark(&rig, TTS_ITEM_KEYFRAME_END));
    put_event();
    T_TRUE(!partial.lacks_start);
    begin(5);
    put_event();
    T_TRUE(partial.lacks_start);
}

T_TEST(what_a_keyframe_does_not_have_is_not_missed_later)
{
    begin(0);
    put(item_mark(&rig, TTS_ITEM_KEYFRAME));
    put_missed(7);
    put(item_mark(&rig, TTS_ITEM_KEYFRAME_END));
    T_TRUE(partial.lacks_start);
    T_EQ(partial.missed, 0);
    put_missed(3);
    put_missed(4);
    T_EQ(partial.missed, 7);
}

T_TEST(why_a_recording_stopped)
{
    char text[TTS_PARTIAL_REASON_MAX];
    struct tts_rec_state stopped = {.kind = TTS_REC_STOPPED, .sys_errno = 28};
    T_STR_EQ(tts_partial_stop_text(&stopped, text), "stopped because the disk was full");
    stopped.sys_errno = 0;
    T_STR_EQ(tts_partial_stop_text(&stopped, text), "stopped before the program ended");
}
