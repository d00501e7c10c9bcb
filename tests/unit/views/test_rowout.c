#include "harness/t.h"
#include "views/rowout.h"

#include <stdlib.h>
#include <string.h>

static char *text;
static size_t text_len;

static struct tts_rowout *begin(void)
{
    static struct tts_rowout rows;
    tts_rowout_init(&rows, open_memstream(&text, &text_len));
    T_TRUE(rows.out != NULL);
    return &rows;
}

static void expect(struct tts_rowout *rows, const char *wanted)
{
    tts_rowout_flush(rows);
    T_EQ(fclose(rows->out), 0);
    T_STR_EQ(text, wanted);
    free(text);
}

#define JSON(rows, bytes) tts_rowout_json(rows, bytes, sizeof(bytes) - 1)
#define CSV(rows, bytes) tts_rowout_csv(rows, bytes, sizeof(bytes) - 1)

T_TEST(numbers_are_exact)
{
    struct tts_rowout *rows = begin();
    tts_rowout_number(rows, UINT64_MAX);
    tts_rowout_put(rows, " ", 1);
    tts_rowout_hex(rows, 0);
    tts_rowout_put(rows, " ", 1);
    tts_rowout_hex(rows, 0xf);
    tts_rowout_put(rows, " ", 1);
    tts_rowout_hex(rows, 0x10);
    tts_rowout_put(rows, " ", 1);
    tts_rowout_hex(rows, UINT64_MAX);
    expect(rows, "18446744073709551615 0x0 0xf 0x10 0xffffffffffffffff");
}

T_TEST(microseconds_keep_every_nanosecond)
{
    struct tts_rowout *rows = begin();
    static const uint64_t times[] = {0, 1, 10, 100, 999, 1000, 1001, 1234567, UINT64_MAX};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        tts_rowout_micros(rows, times[i]);
        tts_rowout_put(rows, " ", 1);
    }
    expect(rows, "0.000 0.001 0.010 0.100 0.999 1.000 1.001 1234.567 18446744073709551.615 ");
}

T_TEST(any_bytes_are_a_json_string)
{
    struct tts_rowout *rows = begin();
    JSON(rows, "a, \"b\" \\ \n\x7f\x01");
    JSON(rows, "gr\xc3\xbc\xc3\x9f\xff\0end");
    JSON(rows, "");
    expect(rows, "\"a, \\\"b\\\" \\\\ \\u000a\\u007f\\u0001\""
                 "\"gr\xc3\xbc\xc3\x9f\\ufffd\\u0000end\"\"\"");
}

T_TEST(a_csv_field_has_quotes_where_it_must)
{
    struct tts_rowout *rows = begin();
    CSV(rows, "plain text");
    CSV(rows, "|a,b");
    CSV(rows, "|say \"x\"");
    CSV(rows, "|two\nlines\r");
    CSV(rows, "");
    CSV(rows, "|\x1b[31m\xff\0\xc2\x85");
    expect(rows, "plain text\"|a,b\"\"|say \"\"x\"\"\"\"|two\nlines\r\""
                 "\"|\xef\xbf\xbd[31m\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

T_TEST(what_a_spreadsheet_would_run_has_an_apostrophe)
{
    struct tts_rowout *rows = begin();
    CSV(rows, "=1+1");
    CSV(rows, "+1");
    CSV(rows, "-1");
    CSV(rows, "@x");
    CSV(rows, "\t=1");
    CSV(rows, "\r=1");
    CSV(rows, "=HYPERLINK(\"x\",1)");
    CSV(rows, "a=1");
    expect(rows, "'=1+1'+1'-1'@x\"'\t=1\"\"'\r=1\"\"'=HYPERLINK(\"\"x\"\",1)\"a=1");
}

static void put_long(size_t len)
{
    static char word[3 * TTS_ROWOUT_BUFFER];
    struct tts_rowout *rows = begin();
    memset(word, 'w', len);
    tts_rowout_text(rows, "a");
    tts_rowout_put(rows, word, len);
    tts_rowout_text(rows, "z");
    tts_rowout_flush(rows);
    T_EQ(fclose(rows->out), 0);
    T_EQ(text_len, len + 2);
    T_TRUE(text[0] == 'a' && text[len + 1] == 'z');
    T_EQ(strspn(text + 1, "w"), len);
    free(text);
}

T_TEST(a_piece_may_be_longer_than_the_buffer)
{
    for (size_t len = TTS_ROWOUT_BUFFER - 2; len <= TTS_ROWOUT_BUFFER + 2; len++)
        put_long(len);
    put_long(3 * TTS_ROWOUT_BUFFER);
}

T_TEST(what_is_put_in_pieces_comes_out_in_order)
{
    enum { COUNT = 20000 };
    struct tts_rowout *rows = begin();
    for (uint64_t i = 0; i < COUNT; i++) {
        tts_rowout_number(rows, i);
        tts_rowout_put(rows, ",", 1);
    }
    tts_rowout_flush(rows);
    T_EQ(fclose(rows->out), 0);
    const char *at = text;
    for (unsigned i = 0; i < COUNT; i++) {
        char *end;
        T_EQ(strtoul(at, &end, 10), i);
        T_EQ(*end, ',');
        at = end + 1;
    }
    T_EQ(*at, '\0');
    free(text);
}
