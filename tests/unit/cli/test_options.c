#include "cli/command.h"
#include "cli/options.h"
#include "harness/t.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAP, STATS, MAX_DEPTH };
static const struct tts_option table[] = {
    {"map", 'm', true}, {"stats", 's', false}, {"max-depth", 0, true}, {0}};

enum { ARGS_MAX = 12 };

/* Parses `line`, split at blanks, and writes what came out as one text: "m=x s | a b", or the
 * message and the exit code when it stopped. */
static const char *parse(const char *line)
{
    static char out[512];
    char copy[256], command[] = "replay", *argv[ARGS_MAX + 2] = {command}, *rest = copy;
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word; (word = strsep(&rest, " ")) && argc <= ARGS_MAX;)
        if (*word)
            argv[argc++] = word;

    fflush(stderr);
    int keep = dup(STDERR_FILENO),
        said = open(t_scratch("err"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(said, STDERR_FILENO);
    struct tts_options options = tts_options_begin("replay", table, argv);
    size_t len = 0;
    int option;
    while ((option = tts_options_next(&options)) >= 0) {
        T_EQ(options.value != NULL, table[option].takes_value);
        len += (size_t)snprintf(out + len, sizeof out - len, "%s%s%s ", table[option].name,
                                options.value ? "=" : "", options.value ? options.value : "");
    }
    dup2(keep, STDERR_FILENO);
    close(keep);
    if (option == TTS_OPTIONS_STOP) {
        lseek(said, 0, SEEK_SET);
        ssize_t got = read(said, out, sizeof out - 8);
        T_TRUE(got > 0);
        snprintf(out + got - 1, 8, " %d", options.exit_code);
    } else {
        T_EQ(option, TTS_OPTIONS_END);
        T_EQ(tts_options_next(&options), TTS_OPTIONS_END);
        len += (size_t)snprintf(out + len, sizeof out - len, "|");
        for (int i = 0; i < options.operand_count; i++)
            len += (size_t)snprintf(out + len, sizeof out - len, " %s", options.operands[i]);
    }
    close(said);
    return out;
}

T_TEST(nothing_is_nothing)
{
    T_STR_EQ(parse(""), "|");
}

T_TEST(values_come_in_four_forms)
{
    T_STR_EQ(parse("--map x"), "map=x |");
    T_STR_EQ(parse("--map=x a"), "map=x | a");
    T_STR_EQ(parse("-m x"), "map=x |");
    T_STR_EQ(parse("-mx -s"), "map=x stats |");
    T_STR_EQ(parse("--map="), "map= |");
    T_STR_EQ(parse("--map=a=b"), "map=a=b |");
    T_STR_EQ(parse("-m=x"), "map==x |");
}

T_TEST(a_value_may_look_like_an_option)
{
    T_STR_EQ(parse("--map --stats"), "map=--stats |");
    T_STR_EQ(parse("-m -- a"), "map=-- | a");
    T_STR_EQ(parse("--map - a"), "map=- | a");
}

T_TEST(letters_come_together)
{
    T_STR_EQ(parse("-ss"), "stats stats |");
    T_STR_EQ(parse("-smx a"), "stats map=x | a");
    T_STR_EQ(parse("-sm x a"), "stats map=x | a");
}

T_TEST(operands_may_stand_anywhere)
{
    T_STR_EQ(parse("a -s b --map x c"), "stats map=x | a b c");
    T_STR_EQ(parse("- -s"), "stats | -");
}

T_TEST(two_dashes_end_the_options)
{
    T_STR_EQ(parse("-s -- -s --map -- a"), "stats | -s --map -- a");
    T_STR_EQ(parse("--"), "|");
}

T_TEST(dashes_and_underscores_are_the_same)
{
    T_STR_EQ(parse("--max_depth 1 --max-depth=2"), "max-depth=1 max-depth=2 |");
    T_STR_EQ(parse("--max_depth=a_b"), "max-depth=a_b |");
}

T_TEST(a_wrong_option_is_named_with_the_nearest_right_one)
{
    T_STR_EQ(parse("--stast"), "ttscope replay: unknown option '--stast', did you mean "
                               "'--stats'? (see 'ttscope help replay') 2");
    T_STR_EQ(parse("--ma_dpth=3"), "ttscope replay: unknown option '--ma_dpth', did you mean "
                                   "'--max-depth'? (see 'ttscope help replay') 2");
    T_STR_EQ(parse("--zzz"),
             "ttscope replay: unknown option '--zzz' (see 'ttscope help replay') 2");
    T_STR_EQ(parse("--sta"), "ttscope replay: unknown option '--sta', did you mean "
                             "'--stats'? (see 'ttscope help replay') 2");
    T_STR_EQ(parse("--statsx=1"), "ttscope replay: unknown option '--statsx', did you mean "
                                  "'--stats'? (see 'ttscope help replay') 2");
    T_STR_EQ(parse("-sx"), "ttscope replay: unknown option '-x' (see 'ttscope help replay') 2");
}

T_TEST(a_missing_or_unwanted_value_is_said)
{
    T_STR_EQ(parse("a --map"),
             "ttscope replay: option '--map' needs a value (see 'ttscope help replay') 2");
    T_STR_EQ(parse("-sm"),
             "ttscope replay: option '-m' needs a value (see 'ttscope help replay') 2");
    T_STR_EQ(parse("--stats=1"),
             "ttscope replay: option '--stats' takes no value (see 'ttscope help replay') 2");
}
