#include "base/error.h"
#include "cli/command.h"
#include "cli/job.h"
#include "cli/options.h"
#include "harness/t.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct parsed {
    const char *map, *max_depth;
    bool stats;
};
static const struct tts_option table[] = {
    {"map", 'm', .type = TTS_OPTION_TEXT, .at = offsetof(struct parsed, map)},
    {"stats", 's', .type = TTS_OPTION_FLAG, .at = offsetof(struct parsed, stats)},
    {"max-depth", 0, .type = TTS_OPTION_TEXT, .at = offsetof(struct parsed, max_depth)},
    {0},
};

enum { ARGS_MAX = 12 };

/* Parses `line`, split at blanks. Returns the values in the order of the table and then the
 * operands as one text, such as "map=x stats | a b". After a failure returns the message and
 * the exit code. */
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
    struct parsed parsed = {0};
    int option = tts_options_read(&options, &parsed);
    dup2(keep, STDERR_FILENO);
    close(keep);
    if (option == TTS_OPTIONS_STOP) {
        lseek(said, 0, SEEK_SET);
        ssize_t got = read(said, out, sizeof out - 8);
        T_TRUE(got > 0);
        snprintf(out + got - 1, 8, " %d", options.exit_code);
    } else {
        T_EQ(option, TTS_OPTIONS_END);
        const char *map = parsed.map, *depth = parsed.max_depth;
        T_EQ(tts_options_has(&options, "map"), map != NULL);
        T_EQ(tts_options_has(&options, "stats"), parsed.stats);
        size_t len =
            (size_t)snprintf(out, sizeof out, "%s%s%s%s%s%s%s|", map ? "map=" : "",
                             map ? map : "", map ? " " : "", parsed.stats ? "stats " : "",
                             depth ? "max-depth=" : "", depth ? depth : "", depth ? " " : "");
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
    T_STR_EQ(parse("-ss"), "stats |");
    T_STR_EQ(parse("-smx a"), "map=x stats | a");
    T_STR_EQ(parse("-sm x a"), "map=x stats | a");
}

T_TEST(operands_may_stand_anywhere)
{
    T_STR_EQ(parse("a -s b --map x c"), "map=x stats | a b c");
    T_STR_EQ(parse("- -s"), "stats | -");
}

T_TEST(two_dashes_end_the_options)
{
    T_STR_EQ(parse("-s -- -s --map -- a"), "stats | -s --map -- a");
    T_STR_EQ(parse("--"), "|");
}

T_TEST(dashes_and_underscores_are_the_same)
{
    T_STR_EQ(parse("--max_depth 1 --max-depth=2"), "max-depth=2 |");
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

/* ---- values that are stored ---- */

struct values {
    bool all;
    const char *path;
    uint64_t top;
    int pool;
    unsigned even;
};

static enum tts_status take_even(void *target, const char *text, struct tts_error *err)
{
    if (strlen(text) % 2 != 0)
        return tts_error_set(err, TTS_E_SYNTAX, "expected an even number of letters");
    *(unsigned *)target += (unsigned)strlen(text);
    return TTS_OK;
}

static const char *const pools[] = {"dram", "l1", "trace", NULL};
static const struct tts_option typed[] = {
    {"all", 'a', TTS_OPTION_FLAG, offsetof(struct values, all), .help = "all of them",
     .excludes = "top"},
    {"some", 0, TTS_OPTION_FLAG, offsetof(struct values, all), .help = "some", .is_off = true},
    {"out", 'o', TTS_OPTION_TEXT, offsetof(struct values, path), "FILE", .help = "write there"},
    {"top", 'n', TTS_OPTION_NUMBER, offsetof(struct values, top), "N", "how many", .min = 1,
     .max = 100},
    {"pool", 0, TTS_OPTION_WORD, offsetof(struct values, pool), .help = "of which pool",
     .words = pools},
    {"even", 0, TTS_OPTION_OTHER, offsetof(struct values, even), "TEXT", "even, a long word",
     .needs = "out", .take = take_even},
    {0},
};

/* Reads `line` into *values. Returns the text that was printed on stderr, or "". */
static const char *read_typed(const char *line, struct values *values, struct tts_options *out)
{
    static char said[512];
    char copy[256], command[] = "show", *argv[ARGS_MAX + 2] = {command}, *rest = copy;
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word; (word = strsep(&rest, " ")) && argc <= ARGS_MAX;)
        argv[argc++] = word;
    fflush(stderr);
    int keep = dup(STDERR_FILENO),
        file = open(t_scratch("err"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDERR_FILENO);
    *out = tts_options_begin("show", typed, argv);
    int end = tts_options_read(out, values);
    dup2(keep, STDERR_FILENO);
    close(keep);
    lseek(file, 0, SEEK_SET);
    ssize_t got = read(file, said, sizeof said - 1);
    T_TRUE(got >= 0);
    said[got] = '\0';
    close(file);
    T_EQ(end, got > 0 ? TTS_OPTIONS_STOP : TTS_OPTIONS_END);
    return said;
}

T_TEST(rows_store_their_values)
{
    struct values values = {.top = 10};
    struct tts_options options;
    T_STR_EQ(read_typed("--pool trace -o x --even ab --even=cdef", &values, &options), "");
    T_TRUE(!values.all);
    T_EQ(values.top, 10);
    T_EQ(values.pool, 2);
    T_EQ(values.even, 6);
    T_TRUE(tts_options_has(&options, "out") && !tts_options_has(&options, "top"));
    T_STR_EQ(read_typed("-n 100", &values, &options), "");
    T_EQ(values.top, 100);
    T_STR_EQ(read_typed("-a", &values, &options), "");
    T_TRUE(values.all);
    T_STR_EQ(read_typed("-a --some", &values, &options), "");
    T_TRUE(!values.all);
    T_STR_EQ(read_typed("--some -a", &values, &options), "");
    T_TRUE(values.all);
}

T_TEST(a_wrong_value_is_named_with_the_values_that_are_right)
{
    struct values values = {0};
    struct tts_options options;
    T_STR_EQ(read_typed("--top 0", &values, &options),
             "ttscope show: invalid value '0' for '--top': expected a whole number from 1 to "
             "100\n");
    T_STR_EQ(read_typed("--top 101", &values, &options),
             "ttscope show: invalid value '101' for '--top': expected a whole number from 1 to "
             "100\n");
    T_STR_EQ(read_typed("--pool l2", &values, &options),
             "ttscope show: invalid value 'l2' for '--pool': expected dram, l1 or trace\n");
    T_STR_EQ(read_typed("-o x --even abc", &values, &options),
             "ttscope show: invalid value 'abc' for '--even': expected an even number of "
             "letters\n");
    T_EQ(values.top, 0);
}

T_TEST(options_that_need_or_exclude_others_say_so)
{
    struct values values = {0};
    struct tts_options options;
    T_STR_EQ(read_typed("--even ab", &values, &options),
             "ttscope show: '--even' needs '--out FILE' (see 'ttscope help show')\n");
    T_STR_EQ(
        read_typed("--top 3 --all", &values, &options),
        "ttscope show: '--all' and '--top' cannot be combined (see 'ttscope help show')\n");
}

T_TEST(an_option_can_be_one_more_operand)
{
    static const struct tts_option rows[] = {
        {"log", 'l', .type = TTS_OPTION_OPERAND}, {"json", 'j', .type = TTS_OPTION_FLAG}, {0}};
    char words[][8] = {"x", "a", "--log", "-b", "c", "-jld", "--log=e", "--", "-f"};
    enum { COUNT = sizeof words / sizeof words[0] };
    static const char *const wanted[] = {"a", "-b", "c", "d", "e", "-f"};
    char *argv[COUNT + 1] = {NULL};
    bool json = false;
    for (int i = 0; i < COUNT; i++)
        argv[i] = words[i];
    struct tts_options options = tts_options_begin("x", rows, argv);
    T_EQ(tts_options_read(&options, &json), TTS_OPTIONS_END);
    T_TRUE(json && tts_options_has(&options, "log"));
    T_EQ(options.operand_count, 6);
    for (int i = 0; i < 6; i++)
        T_STR_EQ(options.operands[i], wanted[i]);
}

T_TEST(the_list_has_a_line_for_each_row)
{
    char text[1024] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    tts_options_list(typed, out);
    fclose(out);
    T_STR_EQ(text, "  -a, --all                 all of them\n"
                   "      --some                some\n"
                   "  -o, --out FILE            write there\n"
                   "  -n, --top N               how many\n"
                   "      --pool dram|l1|trace  of which pool\n"
                   "      --even TEXT           even, a long word\n");
}

/* ---- modes ---- */

struct mode_values {
    bool is_serving;
    uint64_t batch;
};

static int serve(struct tts_job *job, void *values)
{
    const struct mode_values *given = values;
    T_TRUE(given->is_serving);
    return 100 + job->operand_count * 10 + (int)given->batch;
}

static int train(struct tts_job *job, void *values)
{
    const struct mode_values *given = values;
    return job->operand_count * 10 + (int)given->batch;
}

T_TEST(a_flag_chooses_another_command_wherever_it_stands)
{
    static const struct tts_command serving = {
        .name = "fit", .operands = "A", .work = serve, .operands_max = 2};
    static const struct tts_option rows[] = {
        {"batch", 'b', TTS_OPTION_NUMBER, offsetof(struct mode_values, batch), "N",
         .help = "batch"},
        {"serve", 0, TTS_OPTION_FLAG, offsetof(struct mode_values, is_serving),
         .mode = &serving},
        {0},
    };
    static const struct tts_command training = {.name = "fit",
                                                .operands = "A",
                                                .work = train,
                                                .options = rows,
                                                .values_bytes = sizeof(struct mode_values),
                                                .operands_max = 1};
    char fit[] = "fit", batch[] = "-b3", flag[] = "--serve", ended[] = "--", a[] = "a";
    T_EQ(tts_job_main(&training, (char *[]){fit, batch, a, NULL}), 13);
    T_EQ(tts_job_main(&training, (char *[]){fit, batch, a, flag, a, NULL}), 123);
    T_EQ(tts_job_main(&training, (char *[]){fit, flag, batch, NULL}), 103);
    T_EQ(tts_job_main(&training, (char *[]){fit, ended, flag, NULL}), 10);
}
