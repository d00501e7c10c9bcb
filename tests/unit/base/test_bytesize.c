#include "base/bytesize.h"
#include "harness/t.h"

#define MB (UINT64_C(1) << 20)
#define GB (UINT64_C(1) << 30)

static uint64_t of(const char *text)
{
    uint64_t value = 7777;
    T_EQ(tts_bytesize_parse(text, &value), TTS_OK);
    return value;
}

static enum tts_status refusal(const char *text)
{
    uint64_t value = 7777;
    enum tts_status status = tts_bytesize_parse(text, &value);
    T_EQ(value, 7777);
    return status;
}

T_TEST(whole_numbers_and_floats_are_bytes)
{
    T_EQ(of("0"), 0);
    T_EQ(of("12884901888"), 12884901888);
    T_EQ(of("1938739200.0"), 1938739200);
    T_EQ(of("1.2e9"), 1200000000);
    T_EQ(of("1.2E+9"), 1200000000);
    T_EQ(of(".5e1"), 5);
    T_EQ(of("5."), 5);
    T_EQ(of("12e-1"), 1);
    T_EQ(of("+3"), 3);
    T_EQ(of("-0"), 0);
    T_EQ(of("-0.0"), 0);
    T_EQ(of("000000000000000000000000000012"), 12);
    T_EQ(of("0.000000000000000000000001e24"), 1);
    T_EQ(of("0e99999999999"), 0);
}

T_TEST(suffixes_are_powers_of_1024)
{
    T_EQ(of("1K"), 1024);
    T_EQ(of("1k"), 1024);
    T_EQ(of("12G"), 12 * GB);
    T_EQ(of("12GB"), 12 * GB);
    T_EQ(of("12GiB"), 12 * GB);
    T_EQ(of("12 GiB"), 12 * GB);
    T_EQ(of("1.5M"), MB + MB / 2);
    T_EQ(of("2T"), 2048 * GB);
    T_EQ(of("42B"), 42);
    T_EQ(of("1e3K"), 1024000);
    T_EQ(of("28520.96M"), 29906394153);
}

T_TEST(parts_of_a_byte_are_rounded)
{
    T_EQ(of("0.4"), 0);
    T_EQ(of("0.5"), 1);
    T_EQ(of("1.49"), 1);
    T_EQ(of("1e-40"), 0);
    T_EQ(of("0.0004883K"), 1);
    T_EQ(of("0.0004882K"), 0);
}

T_TEST(the_largest_is_two_to_the_sixtieth)
{
    T_EQ(of("1152921504606846976"), TTS_BYTESIZE_MAX);
    T_EQ(of("1048576T"), TTS_BYTESIZE_MAX);
    T_EQ(refusal("1152921504606847976"), TTS_E_RANGE);
    T_EQ(refusal("1048577T"), TTS_E_RANGE);
    T_EQ(refusal("2e18"), TTS_E_RANGE);
    T_EQ(refusal("1e400"), TTS_E_RANGE);
    T_EQ(refusal("1e99999999999999999999"), TTS_E_RANGE);
    T_EQ(refusal("99999999999999999999999999999999999999999"), TTS_E_RANGE);
    T_EQ(refusal("999999999999999999T"), TTS_E_RANGE);
}

T_TEST(below_zero_is_told_apart_from_what_is_no_number)
{
    static const char *const bad[] = {
        "",       " ",     "-",     "+",     ".",     "e9",  "1e",    "1e+", "nan",  "inf",
        "NaN",    "-inf",  "0x10",  "1,024", "1_000", "12 ", "12  G", " 12", "12Gi", "12iB",
        "12GiBs", "12gib", "1.2.3", "--1",   "12P",   "12%", "G",     "1 2", "12KM"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        T_EQ(refusal(bad[i]), TTS_E_SYNTAX);
    T_EQ(refusal("-1"), TTS_E_INVALID);
    T_EQ(refusal("-1e9"), TTS_E_INVALID);
    T_EQ(refusal("-12G"), TTS_E_INVALID);
    T_EQ(refusal("-12x"), TTS_E_SYNTAX);
}
