#include "harness/t.h"
#include "views/json.h"

#include <stdlib.h>
#include <string.h>

static char *text;
static size_t text_len;

static struct tts_json *begin(void)
{
    static struct tts_json json;
    tts_json_init(&json, open_memstream(&text, &text_len));
    T_TRUE(json.out != NULL);
    return &json;
}

static void expect(struct tts_json *json, const char *wanted)
{
    T_EQ(fclose(json->out), 0);
    T_STR_EQ(text, wanted);
    free(text);
}

T_TEST(elements_have_lines_down_to_the_second_depth)
{
    struct tts_json *json = begin();
    tts_json_object(json, NULL);
    tts_json_number(json, "one", 1);
    tts_json_array(json, "rows");
    for (uint64_t i = 0; i < 2; i++) {
        tts_json_object(json, NULL);
        tts_json_number(json, "i", i);
        tts_json_array(json, "deep");
        tts_json_bool(json, NULL, true);
        tts_json_null(json, NULL);
        tts_json_array_end(json);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
    tts_json_array(json, "none");
    tts_json_array_end(json);
    tts_json_object(json, "empty");
    tts_json_object_end(json);
    tts_json_bool(json, "last", false);
    tts_json_object_end(json);
    expect(json, "{\n  \"one\": 1,\n  \"rows\": [\n    {\"i\": 0, \"deep\": [true, null]},\n"
                 "    {\"i\": 1, \"deep\": [true, null]}\n  ],\n  \"none\": [],\n"
                 "  \"empty\": {},\n  \"last\": false\n}\n");
}

T_TEST(numbers_are_exact)
{
    struct tts_json *json = begin();
    tts_json_array(json, NULL);
    tts_json_number(json, NULL, 0);
    tts_json_number(json, NULL, UINT64_MAX);
    tts_json_hex(json, NULL, 0xab);
    tts_json_ratio(json, NULL, 1, 3);
    tts_json_ratio(json, NULL, 2, 3);
    tts_json_ratio(json, NULL, 0, 7);
    tts_json_ratio(json, NULL, 7, 7);
    tts_json_ratio(json, NULL, 5, 2);
    tts_json_ratio(json, NULL, UINT64_MAX / 10 - 1, UINT64_MAX / 10);
    tts_json_ratio(json, NULL, 1, 0);
    tts_json_array_end(json);
    expect(json,
           "[\n  0,\n  18446744073709551615,\n  \"00000000000000ab\",\n  0.333333,\n"
           "  0.666666,\n  0.000000,\n  1.000000,\n  2.500000,\n  0.999999,\n  null\n]\n");
}

T_TEST(ratios_may_be_below_zero)
{
    struct tts_json *json = begin();
    tts_json_array(json, NULL);
    tts_json_signed_ratio(json, NULL, -1, 8);
    tts_json_signed_ratio(json, NULL, 1, 8);
    tts_json_signed_ratio(json, NULL, 0, 8);
    tts_json_signed_ratio(json, NULL, INT64_MIN, UINT64_MAX / 10);
    tts_json_signed_ratio(json, NULL, -1, 0);
    tts_json_array_end(json);
    expect(json, "[\n  -0.125000,\n  0.125000,\n  0.000000,\n  -5.000000,\n  null\n]\n");
}

T_TEST(any_bytes_become_valid_text)
{
    struct tts_json *json = begin();
    tts_json_array(json, NULL);
    tts_json_text(json, NULL, "a\"b\\c/\t\n\x01\x7f");
    tts_json_text(json, NULL, "gr\xc3\xbc\xc3\x9f \xf0\x9f\x94\xad");
    tts_json_text(json, NULL, "\xff|\xc3|\xed\xa0\x80");
    tts_json_text(json, NULL, "");
    tts_json_array_end(json);
    expect(json, "[\n  \"a\\\"b\\\\c/\\u0009\\u000a\\u0001\\u007f\",\n"
                 "  \"gr\xc3\xbc\xc3\x9f \xf0\x9f\x94\xad\",\n"
                 "  \"\\ufffd|\\ufffd|\\ufffd\\ufffd\\ufffd\",\n  \"\"\n]\n");
}

T_TEST(a_document_may_be_longer_than_the_buffer)
{
    enum { COUNT = 5000, LONG = 3 * TTS_JSON_BUFFER };
    static char word[LONG + 1];
    struct tts_json *json = begin();
    memset(word, 'w', LONG);
    tts_json_array(json, NULL);
    for (uint64_t i = 0; i < COUNT; i++)
        tts_json_number(json, NULL, i);
    tts_json_text(json, NULL, word);
    tts_json_array_end(json);
    T_EQ(fclose(json->out), 0);
    const char *at = text + 1;
    for (unsigned i = 0; i < COUNT; i++) {
        char *end;
        T_EQ(strtoul(at, &end, 10), i);
        T_EQ(*end, ',');
        at = end + 1;
    }
    T_EQ(strlen(at), strlen("\n  \"") + LONG + strlen("\"\n]\n"));
    T_EQ(strspn(at + 4, "w"), LONG);
    free(text);
}

T_TEST(signed_numbers_reach_both_ends)
{
    struct tts_json *json = begin();
    tts_json_array(json, NULL);
    tts_json_signed(json, NULL, 0);
    tts_json_signed(json, NULL, INT64_MAX);
    tts_json_signed(json, NULL, -1);
    tts_json_signed(json, NULL, INT64_MIN);
    tts_json_array_end(json);
    expect(json, "[\n  0,\n  9223372036854775807,\n  -1,\n  -9223372036854775808\n]\n");
}

T_TEST(a_ratio_as_text_is_what_json_has)
{
    char out[TTS_JSON_RATIO_MAX];
    T_STR_EQ(tts_json_ratio_text(out, 999999999, 1000000000), "0.999999");
    T_STR_EQ(tts_json_ratio_text(out, -5, 4), "-1.250000");
    T_STR_EQ(tts_json_ratio_text(out, 0, 7), "0.000000");
    T_STR_EQ(tts_json_ratio_text(out, INT64_MIN, 1), "-9223372036854775808.000000");
}
