#include "harness/t.h"
#include "views/safe_text.h"

#include <stdlib.h>
#include <string.h>

static char text[256];

static const char *safe(const char *name, size_t columns)
{
    memset(text, 'x', sizeof text);
    size_t taken = tts_safe_text(text, sizeof text, name, columns);
    T_TRUE(taken <= columns);
    return text;
}

T_TEST(what_a_terminal_obeys_is_a_question_mark)
{
    T_STR_EQ(safe("plain", 20), "plain");
    T_STR_EQ(safe("a\x1b[31mb\n\t\x7f", 20), "a?[31mb???");
    T_STR_EQ(safe("\xc2\x9b", 20), "?");    /* U+009B is a control character */
    T_STR_EQ(safe("\xff\xc3+", 20), "??+"); /* these bytes are not UTF-8 */
    T_STR_EQ(safe("a\xe2\x80\xae"
                  "b",
                  20),
             "a?b"); /* this character changes the direction of the text */
    T_STR_EQ(safe("\xef\xbb\xbf"
                  "x",
                  20),
             "?x"); /* this character has no width */
    T_STR_EQ(safe("m\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 20),
             "m\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
}

T_TEST(what_is_too_long_ends_in_dots)
{
    T_STR_EQ(safe("0123456789", 10), "0123456789");
    T_STR_EQ(safe("0123456789", 9), "012345...");
    T_STR_EQ(safe("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 4), "\xc3\xa4...");
    T_STR_EQ(safe("0123456789", 2), "..");
    T_STR_EQ(safe("0123456789", 0), "");
    T_STR_EQ(safe("", 5), "");
}

T_TEST(what_has_no_room_is_not_written)
{
    memset(text, 'x', sizeof text);
    for (size_t capacity = 1; capacity < 12; capacity++) {
        tts_safe_text(text, capacity, "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 40);
        T_TRUE(strlen(text) < capacity);
        T_EQ(strlen(text) % 3, 0);
        T_EQ(text[capacity], 'x');
    }
}

static const char *safe_end(const char *name, size_t columns)
{
    memset(text, 'x', sizeof text);
    size_t taken = tts_safe_text_end(text, sizeof text, name, columns);
    T_TRUE(taken <= columns);
    return text;
}

T_TEST(of_a_path_that_is_too_long_the_end_is_kept)
{
    T_EQ(setenv("LC_ALL", "C", 1), 0);
    T_STR_EQ(safe_end("ttnn::prim::binary", 18), "ttnn::prim::binary");
    T_STR_EQ(safe_end("ttnn::prim::binary", 17), "...::prim::binary");
    T_STR_EQ(safe_end("a\nb\nc", 4), "...c");
    T_STR_EQ(safe_end("0123456789", 3), "...");
    T_EQ(setenv("LC_ALL", "C.UTF-8", 1), 0);
    T_STR_EQ(safe_end("ttnn::prim::binary", 15), "\xe2\x80\xa6::prim::binary");
    T_STR_EQ(safe_end("\xc3\xa4\xc3\xa4\xc3\xa4", 2), "\xe2\x80\xa6\xc3\xa4");
}
