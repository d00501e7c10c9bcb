#include "harness/t.h"
#include "views/chart/textwidth.h"

#include <stdio.h>
#include <string.h>

static const struct tts_font plain = {1000, false}, heavy = {1000, true};

static int64_t width(const char *text)
{
    return tts_text_width(text, strlen(text), plain);
}

static const char *line_text(const char *text, const struct tts_text_line *line)
{
    static char out[256];
    snprintf(out, sizeof out, "%.*s%s", (int)line->len, text + line->start,
             line->is_cut ? "..." : "");
    return out;
}

T_TEST(a_width_is_the_sum_of_its_letters_and_a_margin)
{
    T_EQ(width(""), 0);
    T_EQ(width("0"), 657); /* 637 thousandths of an em, and 3 percent more */
    T_EQ(width("00"), 2 * 657);
    T_EQ(tts_text_width("0", 1, heavy), 717);
    T_EQ(tts_text_width("0", 1, (struct tts_font){2000, false}), 2 * 657 - 1);
    T_TRUE(width("i") < width("W") && width("~") > 0 && width(" ") > 0);
}

T_TEST(other_letters_count_by_code_point_and_bad_bytes_one_by_one)
{
    T_EQ(width("\xc3\xa9"), 1133);
    T_EQ(width("\xe6\xbc\xa2\xe5\xad\x97"), 2 * 1133);
    T_EQ(width("\xff\xfe"), 2 * 1133);
    T_EQ(width("\x01"), 1133);
    T_EQ(width("\t"), width(" "));
}

T_TEST(what_cannot_be_seen_is_shown_as_such)
{
    T_EQ(tts_text_shown('a'), 'a');
    T_EQ(tts_text_shown('\n'), ' ');
    T_EQ(tts_text_shown(0x2028), ' ');
    T_EQ(tts_text_shown(0x1b), 0xfffd);
    T_EQ(tts_text_shown(0x7f), 0xfffd);
    T_EQ(tts_text_shown(0x202e), 0xfffd);
    T_EQ(tts_text_shown(0x200b), 0xfffd);
    T_EQ(tts_text_shown(0xfeff), 0xfffd);
    T_EQ(tts_text_shown(0x1ffff), 0xfffd);
    T_EQ(tts_text_shown(0x4e00), 0x4e00);
}

T_TEST(lines_break_at_blanks_and_behind_joints)
{
    struct tts_text_line lines[3];
    const char *text = "one two_three-four";
    T_EQ(tts_text_wrap(text, plain, width("three-four"), lines, 3), 2);
    T_STR_EQ(line_text(text, &lines[0]), "one two_");
    T_STR_EQ(line_text(text, &lines[1]), "three-four");
    T_EQ(lines[1].width, width("three-four"));
    T_EQ(tts_text_wrap(text, plain, width("one tw"), lines, 3), 3);
    T_STR_EQ(line_text(text, &lines[0]), "one");
    T_STR_EQ(line_text(text, &lines[1]), "two_");
    T_STR_EQ(line_text(text, &lines[2]), "thre...");
    T_EQ(tts_text_wrap(text, plain, width(text), lines, 3), 1);
    T_EQ(tts_text_wrap("  \t ", plain, 1000, lines, 3), 0);
    T_EQ(tts_text_wrap("", plain, 1000, lines, 3), 0);
}

T_TEST(a_word_that_is_too_long_is_broken_anywhere_and_the_rest_is_cut)
{
    struct tts_text_line lines[2];
    const char *text = "aaaaaaaaaaaaaaaaaaaa";
    T_EQ(tts_text_wrap(text, plain, width("aaaaa"), lines, 2), 2);
    T_STR_EQ(line_text(text, &lines[0]), "aaaaa");
    T_STR_EQ(line_text(text, &lines[1]), "aaa...");
    T_TRUE(lines[1].width <= width("aaaaa"));
}

T_TEST(no_line_is_wider_than_asked_for_and_no_letter_is_torn)
{
    const char *text = "\xd0\xbc\xd0\xbe\xd0\xb4\xd0\xb5\xd0\xbb\xd1\x8c b_\xff"
                       "c/dd.e--f gggggg";
    for (int64_t room = 0; room < width(text) + 100; room += 37) {
        struct tts_text_line lines[3];
        size_t count = tts_text_wrap(text, plain, room, lines, 3);
        for (size_t i = 0; i < count; i++) {
            T_TRUE(lines[i].width <= room);
            T_TRUE(((unsigned char)text[lines[i].start] & 0xc0) != 0x80);
            T_TRUE(lines[i].start + lines[i].len <= strlen(text));
        }
    }
}

T_TEST(squeezing_keeps_both_ends)
{
    char out[TTS_TEXT_SQUEEZED_MAX], longer[600];
    T_STR_EQ(tts_text_squeeze(out, "short", plain, width("short")), "short");
    const char *text = "FORWARD_PASS_micro_12";
    for (int64_t room = 0; room < width(text); room += 50) {
        tts_text_squeeze(out, text, plain, room);
        T_TRUE(strstr(out, "...") != NULL);
        T_TRUE(width(out) <= room || strcmp(out, "...") == 0);
    }
    tts_text_squeeze(out, text, plain, width(text) * 2 / 3);
    T_TRUE(strncmp(out, "FORW", 4) == 0 && strcmp(out + strlen(out) - 2, "12") == 0);
    memset(longer, 'i', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    T_TRUE(strlen(tts_text_squeeze(out, longer, plain, INT64_MAX / 2)) < sizeof out);
    T_TRUE(strlen(tts_text_squeeze(out, longer, plain, width(longer) - 1)) < sizeof out);
}
