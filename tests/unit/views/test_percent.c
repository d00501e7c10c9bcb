#include "harness/t.h"
#include "views/percent.h"

static void expect(uint64_t part, uint64_t whole, const char *wanted)
{
    char text[TTS_PERCENT_MAX];
    T_STR_EQ(tts_percent_format(text, part, whole), wanted);
}

T_TEST(a_share_is_rounded_to_a_tenth)
{
    expect(713536, 779072, "91.6 %"); /* the exact value is 91.588 */
    expect(1, 3, "33.3 %");
    expect(2, 3, "66.7 %");
    expect(1, 400, "0.3 %"); /* a half is rounded up */
    expect(1, 2, "50.0 %");
    expect(UINT64_C(1) << 45, UINT64_C(1) << 46, "50.0 %");
}

T_TEST(only_nothing_is_0_and_only_all_is_100)
{
    expect(0, 7, "0.0 %");
    expect(0, 0, "0.0 %");
    expect(7, 7, "100.0 %");
    expect(1, 1001, "0.1 %");
    expect(1, 100000, "less than 0.1 %");
    expect(6, 10000, "0.1 %");
    expect(4, 10000, "less than 0.1 %");
    expect(999, 1000, "99.9 %");
    expect(9996, 10000, "more than 99.9 %");
    expect((UINT64_C(1) << 46) - 1, UINT64_C(1) << 46, "more than 99.9 %");
}
