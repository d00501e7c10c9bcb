#include "base/share.h"

#include "harness/t.h"

#include <string.h>

enum { MAX = 1000 * 100 };

static enum tts_status parse(const char *text, uint64_t *out)
{
    return tts_share_parse(text, strlen(text), MAX, out);
}

T_TEST(a_share_is_read_and_printed_in_hundredths_of_a_percent)
{
    static const struct {
        const char *text, *printed;
        uint64_t share;
    } good[] = {{"95", "95", 9500},    {"97.5", "97.5", 9750}, {"2.25", "2.25", 225},
                {"0", "0", 0},         {"0.01", "0.01", 1},    {"100.00", "100", 10000},
                {"1000", "1000", MAX}, {"007.50", "7.5", 750}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t share;
        char text[TTS_SHARE_TEXT_MAX];
        T_EQ(parse(good[i].text, &share), TTS_OK);
        T_EQ(share, good[i].share);
        T_STR_EQ(tts_share_format(text, share), good[i].printed);
    }
}

T_TEST(what_is_no_share_changes_nothing)
{
    static const char *const bad[] = {"", ".5", "5.", "1.234", "-1", "+1", "9 ", "9%", "1e1"};
    static const char *const large[] = {"1000.01", "1001", "99999999999999999999999"};
    uint64_t share = 7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        T_EQ(parse(bad[i], &share), TTS_E_SYNTAX);
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        T_EQ(parse(large[i], &share), TTS_E_RANGE);
    T_EQ(share, 7);
}

T_TEST(a_share_of_bytes_is_rounded_as_asked_and_never_wraps)
{
    T_EQ(tts_share_of(1000, 9500, false), 950);
    T_EQ(tts_share_of(999, 3333, false), 332);
    T_EQ(tts_share_of(999, 3333, true), 333);
    T_EQ(tts_share_of(10000, 1, true), 1);
    T_EQ(tts_share_of(0, 9500, true), 0);
    T_EQ(tts_share_of(INT64_MAX, TTS_SHARE_ALL, false), INT64_MAX);
    T_EQ(tts_share_of(INT64_MAX, TTS_SHARE_ALL + 1, false), INT64_MAX);
    T_EQ(tts_share_of(INT64_MAX / 2, 20001, false), INT64_MAX);
}
