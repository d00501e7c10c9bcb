#include "base/number.h"
#include "harness/t.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum tts_status parse(const char *text, uint64_t *out)
{
    return tts_number_parse(text, strlen(text), out);
}

static enum tts_status parse_hex(const char *text, uint64_t *out)
{
    return tts_number_parse_hex(text, strlen(text), out);
}

T_TEST(decimal_reads_all_64_bits_and_no_more)
{
    uint64_t value = 1;
    T_TRUE(parse("0", &value) == TTS_OK && value == 0);
    T_TRUE(parse("00000000000000000000000042", &value) == TTS_OK && value == 42);
    T_TRUE(parse("18446744073709551615", &value) == TTS_OK && value == UINT64_MAX);
    T_EQ(parse("18446744073709551616", &value), TTS_E_RANGE);
    T_EQ(parse("18446744073709551620", &value), TTS_E_RANGE);
    T_EQ(parse("184467440737095516150", &value), TTS_E_RANGE);
    T_EQ(parse("99999999999999999999999999999999", &value), TTS_E_RANGE);
    T_EQ(value, UINT64_MAX);
}

T_TEST(decimal_takes_digits_only)
{
    static const char *const bad[] = {"",   " ",  "-1",   "+1",
                                      "1 ", " 1", "0x10", "1.0",
                                      "a",  "1/", "1:",   "99999999999999999999999x"};
    uint64_t value = 7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        T_EQ(parse(bad[i], &value), TTS_E_SYNTAX);
    T_EQ(tts_number_parse("12\0", 3, &value), TTS_E_SYNTAX);
    T_EQ(value, 7);
}

T_TEST(a_number_ends_where_its_length_says)
{
    uint64_t value = 0;
    T_TRUE(tts_number_parse("1234", 2, &value) == TTS_OK && value == 12);
    T_TRUE(tts_number_parse_hex("ffgg", 2, &value) == TTS_OK && value == 255);
}

T_TEST(hex_takes_both_cases_and_no_prefix)
{
    uint64_t value = 0;
    T_TRUE(parse_hex("aBcDeF09", &value) == TTS_OK && value == 0xabcdef09);
    T_TRUE(parse_hex("ffffffffffffffff", &value) == TTS_OK && value == UINT64_MAX);
    T_EQ(parse_hex("10000000000000000", &value), TTS_E_RANGE);
    T_EQ(parse_hex("0x1", &value), TTS_E_SYNTAX);
    T_EQ(parse_hex("", &value), TTS_E_SYNTAX);
    T_EQ(parse_hex("g", &value), TTS_E_SYNTAX);
    T_EQ(parse_hex("G", &value), TTS_E_SYNTAX);
    T_EQ(parse_hex(":", &value), TTS_E_SYNTAX);
    T_EQ(parse_hex("@", &value), TTS_E_SYNTAX);
    T_EQ(parse_hex("`", &value), TTS_E_SYNTAX);
    T_EQ(value, UINT64_MAX);
}

T_TEST(what_the_c_library_prints_is_read_back)
{
    uint64_t rng = 3;
    for (int i = 0; i < 10000; i++) {
        uint64_t wanted = t_random(&rng) >> (t_random(&rng) % 64), value = ~wanted;
        char text[32];
        snprintf(text, sizeof text, "%" PRIu64, wanted);
        T_TRUE(parse(text, &value) == TTS_OK && value == wanted);
        snprintf(text, sizeof text, "%" PRIX64, wanted);
        T_TRUE(parse_hex(text, &value) == TTS_OK && value == wanted);
    }
}

T_TEST(bytes_have_three_digits_at_least)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"},
        {1, "1 B"},
        {1023, "1023 B"},
        {1024, "1.00 KiB"},
        {1536, "1.50 KiB"},
        {10234, "9.99 KiB"},   /* the exact value is 9.9941 */
        {10235, "10.0 KiB"},   /* the exact value is 9.9951; rounding removes a digit */
        {102348, "99.9 KiB"},  /* the exact value is 99.949 */
        {102349, "100 KiB"},   /* the exact value is 99.950 */
        {1048063, "1023 KiB"}, /* the exact value is 1023.499 */
        {1048064, "1.00 MiB"}, /* the exact value is 1023.5; rounding moves to the next unit */
        {1048576, "1.00 MiB"},
        {UINT64_C(1) << 30, "1.00 GiB"},
        {UINT64_C(13743895347), "12.8 GiB"},
        {UINT64_C(1) << 40, "1.00 TiB"},
        {UINT64_C(1) << 50, "1.00 PiB"},
        {UINT64_C(1) << 60, "1.00 EiB"},
        {UINT64_C(1023) << 50, "1023 PiB"},
        {UINT64_MAX, "16.0 EiB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[TTS_NUMBER_BYTES_MAX];
        T_STR_EQ(tts_number_format_bytes(text, cases[i].bytes), cases[i].text);
    }
}

T_TEST(bytes_agree_with_floating_point)
{
    uint64_t rng = 5;
    for (int i = 0; i < 10000; i++) {
        uint64_t bytes = t_random(&rng) >> (t_random(&rng) % 64);
        char text[TTS_NUMBER_BYTES_MAX], unit = 0;
        double value;
        tts_number_format_bytes(text, bytes);
        T_EQ(sscanf(text, "%lf %c", &value, &unit), 2);
        for (const char *u = "BKMGTPE"; *u != unit; u++)
            value *= 1024;
        double wanted = (double)bytes;
        T_TRUE(value >= wanted * 0.995 && value <= wanted * 1.005);
    }
}

T_TEST(digits_are_those_of_printf)
{
    uint64_t rng = 9, value = 0;
    for (int i = 0; i < 10000; i++) {
        char digits[TTS_NUMBER_MAX + 1], hex[17], expected[32];
        size_t len = tts_number_format(digits, value);
        digits[len] = 0;
        snprintf(expected, sizeof expected, "%" PRIu64, value);
        T_STR_EQ(digits, expected);
        int count = 1 + i % 16;
        tts_number_format_hex(hex, value, count);
        hex[count] = 0;
        snprintf(expected, sizeof expected, "%016" PRIx64, value);
        T_STR_EQ(hex, expected + 16 - count);
        value = i == 0 ? UINT64_MAX : t_random(&rng) >> t_random(&rng) % 64;
    }
}

static void is_mb(int64_t bytes, bool plus, const char *want)
{
    char text[TTS_NUMBER_MB_MAX];
    T_STR_EQ(tts_number_format_mb(text, bytes, plus), want);
}

T_TEST(mebibytes_are_rounded_half_to_even)
{
    is_mb(0, false, "0.00");
    is_mb(0, true, "+0.00");
    is_mb(131072, false, "0.12"); /* the exact value is 0.125 */
    is_mb(393216, false, "0.38"); /* the exact value is 0.375 */
    is_mb(-131072, false, "-0.12");
    is_mb(-1, false, "-0.00");
    is_mb(-1, true, "-0.00");
    is_mb(5242, true, "+0.00");
    is_mb(5243, true, "+0.01");
    is_mb(1048575, false, "1.00");
    is_mb(INT64_MAX, false, "8796093022208.00");
    is_mb(INT64_MIN, true, "-8796093022208.00");
}

T_TEST(mebibytes_are_as_printf_has_them)
{
    uint64_t seed = 5;
    for (int i = 0; i < 200000; i++) {
        char want[64];
        int64_t bytes = (int64_t)(t_random(&seed) >> (11 + t_random(&seed) % 50));
        if (i % 3 == 0)
            bytes = bytes / 2621 * 2621; /* ties and values near them */
        if (i % 2)
            bytes = -bytes;
        snprintf(want, sizeof want, i % 5 ? "%.2f" : "%+.2f", (double)bytes / 1048576);
        is_mb(bytes, i % 5 == 0, want[0] == '-' && bytes == 0 ? want + 1 : want);
    }
}

T_TEST(hundredths_of_a_mebibyte_are_the_printed_ones)
{
    T_EQ(tts_number_mb_hundredths(0), 0);
    T_EQ(tts_number_mb_hundredths(131072), 12); /* 0.125 */
    T_EQ(tts_number_mb_hundredths(393216), 38); /* 0.375 */
    T_EQ(tts_number_mb_hundredths(1048575), 100);
    T_EQ(tts_number_mb_hundredths(UINT64_MAX), UINT64_C(1759218604441600));
}

T_TEST(decimal_numbers_are_read_in_millionths)
{
    uint64_t out = 7;
    T_TRUE(tts_number_parse_millionths("0.5", 3, 10, &out) && out == 500000);
    T_TRUE(tts_number_parse_millionths(".25", 3, 10, &out) && out == 250000);
    T_TRUE(tts_number_parse_millionths("3.", 2, 10, &out) && out == 3000000);
    T_TRUE(tts_number_parse_millionths("0.12345678", 10, 10, &out) && out == 123456);
    T_TRUE(tts_number_parse_millionths("10", 2, 10, &out) && out == 10000000);
    out = 7;
    static const char *const bad[] = {"",   ".",  "1e3",   "1,5",   "-1", "+1",
                                      " 1", "11", "10.01", "1.2.3", "0x1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        T_TRUE(!tts_number_parse_millionths(bad[i], strlen(bad[i]), 10, &out) && out == 7);
}
