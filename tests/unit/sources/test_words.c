#include "harness/t.h"
#include "sources/seq/words.h"

#include <string.h>

static struct tts_scan scan_of(const char *line, struct tts_error *err)
{
    return (struct tts_scan){line, line, line + strlen(line), err};
}

static struct tts_word word_of(const char *text)
{
    return (struct tts_word){text, strlen(text)};
}

T_TEST(words_stand_between_blanks_and_tabs)
{
    struct tts_scan scan = scan_of(" \tone  =\ttwo=3 ", NULL);
    T_TRUE(tts_word_is(tts_scan_word(&scan), "one"));
    T_TRUE(tts_word_is(tts_scan_word(&scan), "="));
    T_TRUE(tts_word_is(tts_scan_word(&scan), "two=3"));
    for (int i = 0; i < 2; i++) {
        struct tts_word none = tts_scan_word(&scan);
        T_TRUE(none.len == 0 && none.text == scan.end);
    }
    scan = (struct tts_scan){scan.begin, scan.begin, scan.begin, NULL};
    T_EQ(tts_scan_word(&scan).len, 0);
    /* Only blanks and tabs separate words; other white space does not. */
    scan = scan_of("a\rb\v", NULL);
    T_TRUE(tts_word_is(tts_scan_word(&scan), "a\rb\v"));
}

T_TEST(a_word_is_itself_and_not_its_beginning)
{
    T_TRUE(tts_word_is(word_of("run"), "run"));
    T_TRUE(!tts_word_is(word_of("run"), "ru"));
    T_TRUE(!tts_word_is(word_of("run"), "runs"));
    T_TRUE(!tts_word_is(word_of("run"), "rum"));
    T_TRUE(tts_word_is(word_of(""), ""));
}

T_TEST(a_word_is_split_at_its_first_equals_sign)
{
    struct tts_word name = word_of("before"), value = name;
    T_TRUE(!tts_word_split(word_of("plain"), &name, &value));
    T_TRUE(!tts_word_split(word_of(""), &name, &value));
    T_TRUE(tts_word_is(name, "before") && tts_word_is(value, "before"));
    T_TRUE(tts_word_split(word_of("as=b=c"), &name, &value));
    T_TRUE(tts_word_is(name, "as") && tts_word_is(value, "b=c"));
    T_TRUE(tts_word_split(word_of("="), &name, &value));
    T_TRUE(name.len == 0 && value.len == 0);
}

T_TEST(a_quote_is_short_and_a_terminal_can_take_it)
{
    T_STR_EQ(tts_word_quote(word_of("")).text, "");
    T_STR_EQ(tts_word_quote(word_of("a\x1b[31m\x7f\xc3\xa9~ ")).text, "a?[31m???~ ");
    T_STR_EQ(tts_word_quote(word_of("123456789012345678901234")).text,
             "123456789012345678901234");
    T_STR_EQ(tts_word_quote(word_of("1234567890123456789012345")).text,
             "123456789012345678901234...");
}

T_TEST(numbers_are_decimal_and_below_2_to_the_64)
{
    struct tts_error err = {0};
    struct tts_scan scan = scan_of("  18446744073709551615 18446744073709551616 0x10", &err);
    uint64_t value = 7;
    T_EQ(tts_scan_number(&scan, tts_scan_word(&scan), "SIZE", &value), TTS_OK);
    T_TRUE(value == UINT64_MAX);
    value = 7;
    T_EQ(tts_scan_number(&scan, tts_scan_word(&scan), "SIZE", &value), TTS_E_RANGE);
    T_EQ(err.status, TTS_E_RANGE);
    T_EQ(err.offset, 23);
    T_STR_EQ(err.text, "SIZE '18446744073709551616' is too large: at most "
                       "18446744073709551615");
    T_EQ(tts_scan_number(&scan, tts_scan_word(&scan), "SIZE", &value), TTS_E_SYNTAX);
    T_EQ(err.offset, 44);
    T_STR_EQ(err.text, "expected a decimal number for SIZE, got '0x10'");
    T_EQ(tts_scan_number(&scan, tts_scan_word(&scan), "SIZE", &value), TTS_E_SYNTAX);
    T_EQ(err.offset, 48);
    T_STR_EQ(err.text, "expected a decimal number for SIZE, got nothing");
    T_EQ(value, 7);
    scan.err = NULL;
    T_EQ(tts_scan_number(&scan, word_of("x"), "SIZE", &value), TTS_E_SYNTAX);
}
