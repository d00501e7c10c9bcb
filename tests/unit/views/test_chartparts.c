#include "harness/t.h"
#include "views/chart/chartparts.h"

#include <string.h>

enum { MB = 1048576 };

enum { WHOLE = false, FINE = true };

static const char *mb(bool has_decimals, int64_t bytes)
{
    static char out[TTS_CHART_MB_MAX];
    return tts_chart_mb(out, has_decimals, bytes);
}

T_TEST(sizes_are_rounded_as_printf_does_it)
{
    T_STR_EQ(mb(WHOLE, 0), "0 MB");
    T_STR_EQ(mb(WHOLE, MB / 2), "0 MB"); /* a half is rounded to an even number */
    T_STR_EQ(mb(WHOLE, MB / 2 + 1), "1 MB");
    T_STR_EQ(mb(WHOLE, MB + MB / 2), "2 MB");
    T_STR_EQ(mb(WHOLE, INT64_C(8278) * MB + 681574), "8279 MB");
    T_STR_EQ(mb(WHOLE, -MB - MB / 2), "-2 MB");
    T_STR_EQ(mb(WHOLE, -MB / 4), "0 MB");
    T_STR_EQ(mb(FINE, MB / 4), "0.25 MB");
    T_STR_EQ(mb(WHOLE, INT64_MAX), "8796093022208 MB");
}

T_TEST(what_is_below_a_hundred_has_decimals)
{
    char out[TTS_CHART_MB_MAX];
    T_STR_EQ(tts_chart_own_mb(out, INT64_C(100) * MB), "100 MB");
    T_STR_EQ(tts_chart_own_mb(out, INT64_C(100) * MB - MB / 2), "99.50 MB");
    T_STR_EQ(tts_chart_own_mb(out, -INT64_C(100) * MB), "-100 MB");
    T_STR_EQ(tts_chart_own_mb(out, -INT64_C(100) * MB + MB), "-99.00 MB");
    T_TRUE(tts_chart_is_small(0) && !tts_chart_is_small(INT64_MIN));
}

T_TEST(ticks_are_round_and_few)
{
    static const int64_t steps[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
    for (int64_t high = 1; high < INT64_MAX / 20; high = high * 13 / 9 + 1) {
        struct tts_chart_scale scale = tts_chart_scale_of(0, high, 9);
        int64_t step = scale.step;
        while (step > 500)
            step /= 10;
        bool is_round = false;
        for (int i = 0; i < 9; i++)
            is_round |= steps[i] == step;
        T_TRUE(is_round);
        T_TRUE(scale.low == 0 && scale.high > high);
        T_TRUE(scale.high - high <= high / 10 + 1);
        /* There are at most ten ticks, and at least three if a step of 0.01 MB allows that. */
        T_TRUE(scale.high / MB * 100 / scale.step <= 9);
        T_TRUE(scale.step == 1 || scale.high / scale.step >= 3 * (MB / 100));
    }
}

T_TEST(a_scale_of_nothing_and_one_below_zero_are_scales)
{
    struct tts_chart_scale none = tts_chart_scale_of(0, 0, 9);
    T_TRUE(none.low == 0 && none.high > 0);
    struct tts_chart_scale below = tts_chart_scale_of(-1000 * (int64_t)MB, 0, 9);
    T_TRUE(below.low < -1000 * (int64_t)MB && below.high > 0);
    struct tts_chart_scale huge = tts_chart_scale_of(INT64_MIN, INT64_MAX, 9);
    T_TRUE(huge.low < 0 && huge.high > 0);
    T_EQ(tts_chart_height(&huge, INT64_MIN, 1000) < 100, 1);
    T_EQ(tts_chart_height(&huge, INT64_MAX, 1000) > 900, 1);
    T_EQ(tts_chart_height(&huge, 0, 1000), 500);
}

T_TEST(heights_are_in_proportion_and_inside)
{
    struct tts_chart_scale scale = {.low = -100, .high = 300, .step = 1};
    T_EQ(tts_chart_height(&scale, -100, 4000), 0);
    T_EQ(tts_chart_height(&scale, 0, 4000), 1000);
    T_EQ(tts_chart_height(&scale, 300, 4000), 4000);
    T_EQ(tts_chart_height(&scale, 301, 4000), 4000);
    T_EQ(tts_chart_height(&scale, -500, 4000), 0);
}

T_TEST(usage_is_in_tenths_of_a_percent)
{
    char out[TTS_CHART_USAGE_MAX];
    int64_t device = INT64_C(12288) * MB;
    T_STR_EQ(tts_chart_usage(out, device, device), "100.0 % of 12288 MB");
    T_STR_EQ(tts_chart_usage(out, 0, device), "0.0 % of 12288 MB");
    T_STR_EQ(tts_chart_usage(out, 1, device), "< 0.1 % of 12288 MB");
    T_STR_EQ(tts_chart_usage(out, device / 2000 + 1, device), "0.1 % of 12288 MB");
    T_STR_EQ(tts_chart_usage(out, device * 3 / 2, device), "150.0 % of 12288 MB");
    T_STR_EQ(tts_chart_usage(out, device / 3, device), "33.3 % of 12288 MB");
    T_STR_EQ(tts_chart_usage(out, device - 1, device), "100.0 % of 12288 MB");
    T_STR_EQ(tts_chart_usage(out, -5, device), "0.0 % of 12288 MB");
    T_STR_EQ(tts_chart_usage(out, INT64_MAX, INT64_MAX), "100.0 % of 8796093022208 MB");
    T_STR_EQ(tts_chart_usage(out, INT64_MAX, 1), "far above 0.00 MB");
}

T_TEST(a_legend_too_long_for_a_row_has_three_columns)
{
    struct tts_chart_legend legends[6];
    for (int i = 0; i < 6; i++)
        legends[i] = (struct tts_chart_legend){.text = "an entry", .paint = TTS_INK};
    struct tts_drawing d;
    tts_drawing_init(&d, NULL);
    d.width = 100000;
    int64_t one = tts_chart_draw_head(&d, NULL, legends, 6);
    d.width = tts_chart_head_width(legends, 6);
    T_EQ(tts_chart_draw_head(&d, NULL, legends, 6), one + 2000);
    T_EQ(d.shape_count, 24);
    T_EQ(d.shapes[12].box.y, d.shapes[16].box.y);
    tts_drawing_release(&d);
}
