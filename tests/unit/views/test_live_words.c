#include "harness/live_rig.h"
#include "views/live/live_words.h"

#include <ctype.h>

T_TEST(every_caveat_has_a_word_of_its_own_and_a_sentence)
{
    for (unsigned i = 0; i < TTS_CAVEATS; i++) {
        enum tts_livecaveat caveat = (enum tts_livecaveat)(1u << i);
        const char *word = tts_livecaveat_word(caveat), *text = tts_livecaveat_text(caveat);
        T_TRUE(strlen(word) > 3 && strlen(text) > 20);
        T_TRUE(text[strlen(text) - 1] != '.' && islower((unsigned char)text[0]));
        for (unsigned j = 0; j < i; j++)
            T_TRUE(strcmp(word, tts_livecaveat_word((enum tts_livecaveat)(1u << j))) != 0);
    }
    T_STR_EQ(tts_livecaveat_word(TTS_CAVEAT_ONE_THREAD), "one_thread");
    T_STR_EQ(tts_livecaveat_word(TTS_CAVEAT_NOT_TRACKED), "not_tracked");
    T_STR_EQ(tts_livecaveat_word(TTS_CAVEAT_OVER_NOMINAL), "over_nominal");
}

T_TEST(sizes_have_two_decimals_and_powers_of_1024)
{
    static const struct {
        uint64_t bytes;
        const char *text, *shortened;
    } cases[] = {
        {0, "0.00 B", "0"},
        {1, "1.00 B", "1B"},
        {1023, "1023.00 B", "1023B"},
        {1024, "1.00 KB", "1.00K"},
        {512 << 10, "512.00 KB", "512K"},
        {LIVE_MB(52.31), "52.31 MB", "52.3M"},
        {LIVE_MB(1023.996), "1024.00 MB", "1024M"},
        {LIVE_MB(2304), "2.25 GB", "2.25G"},
        {UINT64_C(3) << 40, "3.00 TB", "3.00T"},
        {UINT64_MAX, "16777216.00 TB", "16777216T"},
    };
    char text[TTS_LIVETEXT_SIZE_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        T_STR_EQ(tts_livesize_text(text, cases[i].bytes), cases[i].text);
        T_STR_EQ(tts_livesize_short(text, cases[i].bytes), cases[i].shortened);
    }
}

T_TEST(percents_are_rounded_to_one_decimal)
{
    char text[TTS_LIVETEXT_PERCENT_MAX];
    T_STR_EQ(tts_livepercent_text(text, 0), "0.0%");
    T_STR_EQ(tts_livepercent_text(text, 688289), "68.8%");
    T_STR_EQ(tts_livepercent_text(text, 688500), "68.9%");
    T_STR_EQ(tts_livepercent_text(text, 1000000), "100.0%");
    T_STR_EQ(tts_livepercent_text(text, UINT32_MAX), "429496.7%");
}

T_TEST(ages_have_at_most_two_units)
{
    static const struct {
        uint64_t seconds;
        const char *text;
    } cases[] = {{0, "0s"},        {59, "59s"},        {60, "1m00s"},
                 {3599, "59m59s"}, {3600, "1h00m"},    {86399, "23h59m"},
                 {86400, "1d00h"}, {864000, "10d00h"}, {86400 * 365, "365d00h"}};
    char text[TTS_LIVETEXT_AGE_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        T_STR_EQ(tts_liveage_text(text, cases[i].seconds * 1000000000 + 999), cases[i].text);
}

T_TEST(a_device_without_known_bytes_is_not_a_screen_of_zeros)
{
    struct tts_liveframe frame;
    live_init(&frame, LIVE_BLOCK_NS);
    T_TRUE(!tts_livezero_is(&frame));
    struct tts_livedevice *device = live_add_counted(&frame, 7, 0);
    T_TRUE(!tts_livezero_is(&frame));
    device->pools[TTS_POOL_L1].allocated_bytes = 0;
    T_TRUE(tts_livezero_is(&frame));
    live_add_unknown(&frame);
    T_TRUE(!tts_livezero_is(&frame));
    tts_liveframe_release(&frame);
}
