#include "harness/t.h"
#include "views/run/grouped.h"

T_TEST(numbers_have_commas)
{
    char text[TTS_GROUPED_MAX];
    T_STR_EQ(tts_grouped_count(text, 0), "0");
    T_STR_EQ(tts_grouped_count(text, 999), "999");
    T_STR_EQ(tts_grouped_count(text, 1000), "1,000");
    T_STR_EQ(tts_grouped_count(text, 969369600), "969,369,600");
    T_STR_EQ(tts_grouped_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
    T_STR_EQ(tts_grouped_mb(text, 0), "0.00");
    T_STR_EQ(tts_grouped_mb(text, INT64_C(12884901888)), "12,288.00");
    T_STR_EQ(tts_grouped_mb(text, -INT64_C(1048576000)), "-1,000.00");
    T_STR_EQ(tts_grouped_mb(text, -INT64_C(104857600)), "-100.00");
    T_STR_EQ(tts_grouped_mb(text, INT64_MIN), "-8,796,093,022,208.00");
    T_STR_EQ(tts_grouped_percent(text, 8278, 12288), "67.37");
}
