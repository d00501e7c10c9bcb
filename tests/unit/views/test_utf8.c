#include "harness/t.h"
#include "views/utf8.h"

#include <string.h>

static void expect(const char *bytes, size_t len, size_t used, uint32_t code)
{
    /* The bytes are at the end of their array, so that a sanitizer detects a read after
     * them. */
    char memory[8];
    uint32_t got = 0;
    char *at = memory + sizeof memory - len;
    memcpy(at, bytes, len);
    T_EQ(tts_utf8_next(at, len, &got), used);
    T_EQ(got, code);
}

T_TEST(whole_sequences_are_decoded)
{
    expect("A", 1, 1, 'A');
    expect("\x7f", 1, 1, 0x7f);
    expect("\xc2\x80", 2, 2, 0x80);
    expect("\xdf\xbf", 2, 2, 0x7ff);
    expect("\xe0\xa0\x80", 3, 3, 0x800);
    expect("\xed\x9f\xbf", 3, 3, 0xd7ff);
    expect("\xee\x80\x80", 3, 3, 0xe000);
    expect("\xef\xbf\xbf", 3, 3, 0xffff);
    expect("\xf0\x90\x80\x80", 4, 4, 0x10000);
    expect("\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff);
    expect("\xc3\xa4\xc3", 3, 2, 0xe4);
}

T_TEST(what_is_not_utf8_is_replaced_byte_by_byte)
{
    static const char *const bad[] = {"\x80",
                                      "\xbf",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xed\xbf\xbf",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xc2",
                                      "\xe2\x82",
                                      "\xf0\x9f\x92",
                                      "\xc2\x41",
                                      "\xe2\x82\x41",
                                      "\xf0\x9f\x92\x41"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect(bad[i], strlen(bad[i]), 1, TTS_UTF8_REPLACEMENT);
}
