#include "harness/t.h"
#include "model/item.h"

static bool takes(struct tts_itemgate *gate, enum tts_item_kind kind)
{
    return tts_itemgate_takes(gate, kind);
}

/* Returns true if the gate lets all items of a keyframe pass, false if only names pass. */
static bool takes_keyframe(struct tts_itemgate *gate)
{
    bool taken = takes(gate, TTS_ITEM_KEYFRAME);
    static const enum tts_item_kind inside[] = {TTS_ITEM_CHIP,    TTS_ITEM_MISSED,
                                                TTS_ITEM_LIVE,    TTS_ITEM_PART,
                                                TTS_ITEM_TRACING, TTS_ITEM_ACTIVE};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        T_TRUE(gate->in_keyframe);
        T_EQ(takes(gate, inside[i]), taken);
        T_TRUE(takes(gate, TTS_ITEM_NAME));
    }
    /* An item in the wrong place changes nothing. */
    T_EQ(takes(gate, TTS_ITEM_KEYFRAME), taken);
    T_EQ(takes(gate, TTS_ITEM_LIVE), taken);
    T_EQ(takes(gate, TTS_ITEM_KEYFRAME_END), taken);
    T_TRUE(!gate->in_keyframe);
    return taken;
}

T_TEST(only_a_keyframe_that_a_file_starts_with_is_taken)
{
    struct tts_itemgate gate = {0};
    T_TRUE(takes_keyframe(&gate));
    T_TRUE(takes(&gate, TTS_ITEM_EVENT));
    T_TRUE(!takes_keyframe(&gate));
    T_TRUE(takes(&gate, TTS_ITEM_EVENT));
    T_TRUE(takes(&gate, TTS_ITEM_CHIP));
    T_TRUE(takes(&gate, TTS_ITEM_NAME));
}

T_TEST(a_second_keyframe_before_any_event_is_passed_over)
{
    struct tts_itemgate gate = {0};
    T_TRUE(takes(&gate, TTS_ITEM_KEYFRAME));
    T_TRUE(takes(&gate, TTS_ITEM_KEYFRAME_END));
    T_TRUE(!takes_keyframe(&gate));
}

T_TEST(any_item_before_a_keyframe_is_the_start_of_the_file)
{
    for (int kind = 0; kind < TTS_ITEM_KINDS; kind++) {
        struct tts_itemgate gate = {0};
        if (kind == TTS_ITEM_KEYFRAME)
            continue;
        T_TRUE(takes(&gate, (enum tts_item_kind)kind));
        T_TRUE(!takes_keyframe(&gate));
    }
}
