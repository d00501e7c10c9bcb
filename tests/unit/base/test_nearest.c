#include "harness/t.h"
#include "base/nearest.h"

#include <string.h>

static const char *nearest(const char *word)
{
    static const char *const known[] = {"replay", "report", "help", "version", "run", "fit"};
    struct tts_nearest search = {.word = word};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        tts_nearest_offer(&search, known[i]);
    return search.best ? search.best : "nothing";
}

T_TEST(one_slip_is_understood)
{
    T_STR_EQ(nearest("relpay"), "replay");  /* two letters are swapped */
    T_STR_EQ(nearest("rplay"), "replay");   /* a letter is missing */
    T_STR_EQ(nearest("replaay"), "replay"); /* a letter is doubled */
    T_STR_EQ(nearest("repley"), "replay");  /* a letter is replaced */
    T_STR_EQ(nearest("erplay"), "replay");
    T_STR_EQ(nearest("versino"), "version");
}

T_TEST(two_slips_are_understood_and_three_are_not)
{
    T_STR_EQ(nearest("rpely"), "replay");
    T_STR_EQ(nearest("vrsoin"), "version");
    T_STR_EQ(nearest("vrsoinx"), "nothing");
}

T_TEST(a_beginning_is_understood)
{
    T_STR_EQ(nearest("vers"), "version");
    T_STR_EQ(nearest("he"), "help");
}

T_TEST(the_nearest_wins_and_the_first_of_equals)
{
    T_STR_EQ(nearest("repory"), "report");
    T_STR_EQ(nearest("rep"), "replay");
    T_STR_EQ(nearest("help"), "help");
}

T_TEST(what_is_far_is_not_guessed)
{
    T_STR_EQ(nearest("frobnicate"), "nothing");
    T_STR_EQ(nearest(""), "nothing");
    T_STR_EQ(nearest("x"), "nothing");
    T_STR_EQ(nearest("bad"), "nothing"); /* two of three letters differ from any known word */
    T_STR_EQ(nearest("fun"), "run");
    T_STR_EQ(nearest("fat"), "fit");
    T_STR_EQ(nearest("hill"), "nothing"); /* two of four letters differ from "help" */
    T_STR_EQ(nearest("hellx"), "help");
    struct tts_nearest search = {.word = "xy"};
    tts_nearest_offer(&search, "ab"); /* two errors, and no common letter */
    T_TRUE(search.best == NULL);
}

T_TEST(a_word_of_any_length_is_safe)
{
    char word[300];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    T_STR_EQ(nearest(word), "nothing");
    struct tts_nearest search = {.word = "ba"};
    tts_nearest_offer(&search, word);
    T_TRUE(search.best == NULL);
    word[40] = '\0';
    search.word = "baaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    tts_nearest_offer(&search, word);
    T_TRUE(search.best == word);
}
