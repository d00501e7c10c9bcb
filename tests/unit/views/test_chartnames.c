#include "harness/t.h"
#include "views/chart/chartnames.h"

#include <string.h>

static const struct tts_font font = {1000, false};

/* Returns the first of two names as the chart shows it. `letters` letters "n" fit on a line. */
static const char *shown_lines(const char *name, const char *other, size_t letters,
                               size_t lines)
{
    static char out[TTS_TEXT_SQUEEZED_MAX];
    const struct tts_named_run runs[] = {{.name = name}, {.name = other}};
    struct tts_chartnames names = {runs, 2};
    struct tts_chartname_space space = {font, (int64_t)letters * tts_text_width("n", 1, font),
                                        lines};
    return tts_chartnames_fit(&names, name, &space, out);
}

static const char *shown(const char *name, const char *other, size_t letters)
{
    return shown_lines(name, other, letters, 1);
}

T_TEST(a_name_that_fits_is_whole)
{
    T_STR_EQ(shown("nnn nnn", "nnn uuu", 8), "nnn nnn");
    T_STR_EQ(shown("", "nnn", 8), "");
    T_STR_EQ(shown_lines("nnnnnnn nnnnnnn", "u", 8, 2), "nnnnnnn nnnnnnn");
}

T_TEST(the_common_end_is_cut_first_then_the_common_beginning)
{
    const char *name = "nnnnnnnnnn own uuuuuuuuuu", *other = "nnnnnnnnnn two uuuuuuuuuu";
    T_STR_EQ(shown(name, other, 17), "nnnnnnnnnn own...");
    T_STR_EQ(shown(name, other, 11), "nnnn...own...");
    T_STR_EQ(shown(name, other, 7), "...own...");
}

T_TEST(differing_words_are_kept_whole)
{
    T_STR_EQ(shown("nnnnnnnnnn-seed10", "nnnnnnnnnn-seed11", 11), "nnn...seed10");
    T_STR_EQ(shown("a10 nnnnnnnnnnnnnnn", "a20 nnnnnnnnnnnnnnn", 9), "a10...");
}

T_TEST(a_name_of_another_kind_changes_nothing)
{
    char out[TTS_TEXT_SQUEEZED_MAX];
    const struct tts_named_run runs[] = {{.name = "nnnnnnnnnn own uuuuuuuuuu"},
                                         {.name = "nnnnnnnnnn two uuuuuuuuuu"},
                                         {.name = "nnnnnnnnnn two uuuuuuuuuu"},
                                         {.name = "a.log"}};
    struct tts_chartnames names = {runs, 4};
    struct tts_chartname_space space = {font, 11 * tts_text_width("n", 1, font), 1};
    T_STR_EQ(tts_chartnames_fit(&names, runs[0].name, &space, out), "nnnn...own...");
    T_STR_EQ(tts_chartnames_fit(&names, runs[3].name, &space, out), "a.log");
}

T_TEST(without_anything_in_common_the_middle_is_cut)
{
    T_STR_EQ(shown("nnnnnnnnnnuuuuuuuuuu", "o", 10), "nnnn...uuuu");
    T_STR_EQ(shown("nnnnnnnnnnuuuuuuuuuu", "nnnnnnnnnnuuuuuuuuuu", 10), "nnnn...uuuu");
}

T_TEST(dots_are_not_broken_over_two_lines)
{
    for (size_t letters = 3; letters < 24; letters++) {
        const char *text =
            shown_lines("nightly run of a small model, fused, seed 1",
                        "nightly run of a small model, composite, seed 1", letters, 3);
        struct tts_text_line lines[3];
        int64_t width = (int64_t)letters * tts_text_width("n", 1, font);
        size_t count = tts_text_wrap(text, font, width, lines, 3);
        for (size_t i = 1; i < count; i++)
            T_TRUE(text[lines[i].start] != '.');
        T_TRUE(letters < 10 || strstr(text, "fused"));
    }
}

T_TEST(letters_of_several_bytes_stay_whole)
{
    const char *name = "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 nn", *other = "\xc3\xa4 uu";
    for (size_t letters = 0; letters < 12; letters++) {
        const char *text = shown(name, other, letters);
        for (size_t i = 0; text[i]; i++)
            T_TRUE((unsigned char)text[i] != 0xc3 || (unsigned char)text[i + 1] == 0xa4);
    }
}

T_TEST(a_name_past_any_length_is_cut_and_foreign_bytes_are_kept)
{
    static char name[4096];
    memset(name, 'M', sizeof name - 1);
    T_TRUE(strlen(shown(name, "u", 1000000)) < TTS_TEXT_SQUEEZED_MAX);
    T_STR_EQ(shown(name, "u", 0), "...");
    T_STR_EQ(shown("\xff\x80\x80", "\x80", 9), "\xff\x80\x80");
}
