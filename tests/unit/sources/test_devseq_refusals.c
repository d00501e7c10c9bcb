#include "harness/devseq_text.h"
#include "sources/seq/devseq.h"

#include <stdio.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A long line that a test builds. */
struct text {
    char text[8192];
    size_t len;
};

static void add(struct text *text, const char *more)
{
    size_t len = strlen(more);
    T_TRUE(text->len + len < sizeof text->text);
    memcpy(text->text + text->len, more, len + 1);
    text->len += len;
}

static void add_times(struct text *text, const char *more, int times)
{
    for (int i = 0; i < times; i++)
        add(text, more);
}

static void expect_error(const char *text, enum tts_status status, uint64_t offset,
                         const char *message)
{
    struct tts_devseq_line line, before;
    struct tts_error err = {.line = 77};
    memset(&line, 0x5a, sizeof line);
    before = line;
    T_EQ(tts_devseq_parse(text, strlen(text), &line, &err), status);
    T_STR_EQ(err.text, message);
    T_EQ(err.status, status);
    T_EQ(err.offset, offset);
    T_EQ(err.line, 0);
    T_MEM_EQ(&line, &before, sizeof line);
    T_EQ(tts_devseq_parse(text, strlen(text), &line, NULL), status);
}

/* --- bounds ----------------------------------------------------------------------------- */

T_TEST(there_are_at_most_64_core_ranges)
{
    struct text text = {0};
    add(&text, "cb 1 cores=63-63..63-63");
    add_times(&text, "+60-60..63-63", 63);
    T_EQ(parsed(text.text).range_count, TTS_RANGES_MAX);
    size_t len = text.len;
    add(&text, "+0-0");
    expect_error(text.text, TTS_E_SYNTAX, len + 1,
                 "expected at most 64 core ranges, got '0-0'");
}

T_TEST(there_are_at_most_8_dimensions)
{
    expect_canonical("shard l1 nd 1 1 tensor=1x1x1x1x1x1x1x1 shard=1x1x1x1x1x1x1x1 cores=0-0",
                     "shard l1 nd 1 1 tensor=1x1x1x1x1x1x1x1 shard=1x1x1x1x1x1x1x1 cores=0-0");
    expect_error("shard l1 nd 1 1 tensor=1x1x1x1x1x1x1x1x1 shard=1", TTS_E_SYNTAX, 23,
                 "expected at most 8 dimensions, got '1x1x1x1x1x1x1x1x1'");
}

T_TEST(there_are_at_most_64_indices)
{
    struct text text = {0};
    add(&text, "cb 1 cores=0-0 index=63");
    add_times(&text, ",63", 63);
    T_EQ(parsed(text.text).index_count, TTS_CB_INDICES_MAX);
    size_t len = text.len;
    add(&text, ",1");
    expect_error(text.text, TTS_E_SYNTAX, len + 1, "expected at most 64 indices, got '1'");
}

T_TEST(a_name_has_at_most_47_bytes)
{
    struct text text = {0};
    add(&text, "free a");
    add_times(&text, "9", 46);
    T_EQ(strlen(parsed(text.text).name.text), 47);
    expect_canonical(text.text, text.text);
    add(&text, "9");
    expect_error(text.text, TTS_E_SYNTAX, 5,
                 "expected a name: a letter, then up to 46 of A-Z a-z 0-9 _.:/-, got "
                 "'a99999999999999999999999...'");
}

T_TEST(the_longest_line_has_room)
{
    struct text text = {0};
    const char *most = "18446744073709551615";
    add(&text, "shard l1_small classic ");
    add(&text, most);
    add(&text, " ");
    add(&text, most);
    add(&text, " tensor=");
    add(&text, most);
    add_times(&text, "x18446744073709551615", 7);
    add(&text, " shard=");
    add(&text, most);
    add_times(&text, "x18446744073709551615", 7);
    add(&text, " cores=60-60..63-63");
    add_times(&text, "+60-60..63-63", 63);
    add(&text, " order=column at=");
    add(&text, most);
    add(&text, " as=");
    add_times(&text, "z", 47);
    add(&text, " = T ");
    add(&text, most);
    memcpy(text.text + strlen("shard l1_small "), "nd     ",
           7); /* a shard of the kind nd may have any number of dimensions */
    struct tts_devseq_line line = parsed(text.text);
    char out[TTS_DEVSEQ_TEXT_MAX];
    T_EQ(tts_devseq_format(&line, out), text.len - 5);
    expect_canonical(out, out);
}

T_TEST(a_line_of_4096_bytes_is_read)
{
    struct text text = {0};
    add(&text, "run");
    add_times(&text, " ", 4096 - 3 - 2);
    add(&text, "=F");
    T_EQ(text.len, 4096);
    expect_error(text.text, TTS_E_SYNTAX, 4094, "expected spaces around '=', got '=F'");
    memcpy(text.text + 4000, "= F", 3);
    memset(text.text + 4003, '\t', 93);
    expect_canonical(text.text, "run = F");
    text = (struct text){0};
    add(&text, "#");
    add_times(&text, "\xfe", 4095);
    expect_canonical(text.text, "");
    text = (struct text){0};
    add_times(&text, "x", 4096);
    expect_error(text.text, TTS_E_SYNTAX, 0, "unknown statement 'xxxxxxxxxxxxxxxxxxxxxxxx...'");
}

#define PAST "99999999999999999999"
#define PAST_TEXT(what) what " '" PAST "' is too large: at most 18446744073709551615"

T_TEST(numbers_past_64_bits_are_out_of_range)
{
    expect_error("program " PAST, TTS_E_RANGE, 8, PAST_TEXT("ID"));
    expect_error("kernel " PAST, TTS_E_RANGE, 7, PAST_TEXT("SIZE"));
    expect_error("buffer l1 interleaved 1 " PAST, TTS_E_RANGE, 24, PAST_TEXT("PAGE"));
    expect_error("buffer l1 interleaved 1 1 at=" PAST, TTS_E_RANGE, 29, PAST_TEXT("at"));
    expect_error("free dram " PAST, TTS_E_RANGE, 10, PAST_TEXT("ADDR"));
    expect_error("page a " PAST, TTS_E_RANGE, 7, PAST_TEXT("INDEX"));
    expect_error("room " PAST "-0", TTS_E_RANGE, 5, PAST_TEXT("the column of a core"));
    expect_error("room 0-" PAST, TTS_E_RANGE, 7, PAST_TEXT("the row of a core"));
    expect_error("cb 1 cores=0-0 index=" PAST, TTS_E_RANGE, 21, PAST_TEXT("the index"));
    expect_error("cb 1 cores=0-0 page=" PAST, TTS_E_RANGE, 20, PAST_TEXT("page"));
    expect_error("cb 1 cores=0-0 offset=" PAST, TTS_E_RANGE, 22, PAST_TEXT("offset"));
    expect_error("shard l1 nd 1 1 shard=1x" PAST, TTS_E_RANGE, 24, PAST_TEXT("a dimension"));
    expect_error("kernel 1 = T " PAST, TTS_E_RANGE, 13,
                 PAST_TEXT("the address (or 'F', 'T ADDR', '-')"));
    expect_error("stats l1 = 1 2 3 " PAST, TTS_E_RANGE, 17, PAST_TEXT("the result"));
}

T_TEST(cores_and_indices_are_below_64)
{
    expect_error("room 64-0", TTS_E_RANGE, 5,
                 "the column of a core '64' is too large: at most 63");
    expect_error("cb 1 cores=0-0..1-64", TTS_E_RANGE, 18,
                 "the row of a core '64' is too large: at most 63");
    expect_error("cb 1 cores=0-0 index=0,64", TTS_E_RANGE, 23,
                 "the index '64' is too large: at most 63");
}

/* --- refused lines ---------------------------------------------------------------------- */

T_TEST(an_unknown_statement_is_named_with_the_nearest)
{
    expect_error("  bufer l1", TTS_E_SYNTAX, 2,
                 "unknown statement 'bufer', did you mean 'buffer'?");
    expect_error("prog 1", TTS_E_SYNTAX, 0,
                 "unknown statement 'prog', did you mean 'program'?");
    expect_error("sahrd", TTS_E_SYNTAX, 0, "unknown statement 'sahrd', did you mean 'shard'?");
    expect_error("allocate 5", TTS_E_SYNTAX, 0, "unknown statement 'allocate'");
    expect_error("Run", TTS_E_SYNTAX, 0, "unknown statement 'Run', did you mean 'run'?");
    expect_error("\x1b[2J\xff", TTS_E_SYNTAX, 0, "unknown statement '?[2J?'");
    expect_error("=", TTS_E_SYNTAX, 0, "unknown statement '='");
}

T_TEST(the_language_for_one_pool_is_recognised)
{
    static const char *const letters = "Paxdkrcslqvmt";
    for (const char *letter = letters; *letter; letter++) {
        char line[] = {*letter, ' ', '1', '\0'}, message[80];
        snprintf(message, sizeof message,
                 "'%c' belongs to the language for one pool: omit --device", *letter);
        expect_error(line, TTS_E_SYNTAX, 0, message);
    }
    expect_error("z", TTS_E_SYNTAX, 0, "unknown statement 'z'");
}

#define SHARD "'shard POOL KIND SIZE PAGE shard=SHAPE cores=RANGES'"
#define BUFFER "'buffer POOL interleaved SIZE PAGE'"

T_TEST(an_unknown_option_is_named_with_the_nearest)
{
    expect_error("shard l1 nd 1 1 core=0-0", TTS_E_SYNTAX, 16,
                 "unknown option 'core' for 'shard', did you mean 'cores', expected " SHARD);
    expect_error("shard l1 nd 1 1 index=0", TTS_E_SYNTAX, 16,
                 "unknown option 'index' for 'shard', expected " SHARD);
    expect_error("buffer l1 interleaved 1 1 form=top", TTS_E_SYNTAX, 26,
                 "unknown option 'form' for 'buffer', did you mean 'from', expected " BUFFER);
    expect_error("buffer l1 interleaved 1 1 cores=0-0", TTS_E_SYNTAX, 26,
                 "unknown option 'cores' for 'buffer', expected " BUFFER);
    expect_error("kernel 1 at=5", TTS_E_SYNTAX, 9,
                 "unknown option 'at' for 'kernel', did you mean 'as', expected 'kernel SIZE'");
    expect_error("trace 1 from=top", TTS_E_SYNTAX, 8,
                 "unknown option 'from' for 'trace', expected 'trace SIZE'");
    expect_error("cb 1 as=x", TTS_E_SYNTAX, 5,
                 "unknown option 'as' for 'cb', expected 'cb SIZE cores=RANGES'");
    expect_error("run as=x", TTS_E_SYNTAX, 4, "unknown option 'as' for 'run', expected 'run'");
    expect_error("shard l1 nd 1 1 tensortensortensortensortensor=1", TTS_E_SYNTAX, 16,
                 "unknown option 'tensortensortensortensor...' for 'shard', expected " SHARD);
}

T_TEST(each_option_stands_once)
{
    expect_error("kernel 1 as=a as=a", TTS_E_SYNTAX, 14, "option 'as' is given twice");
    expect_error("cb 1 cores=0-0 cores=1-1", TTS_E_SYNTAX, 15, "option 'cores' is given twice");
    expect_error("buffer l1 interleaved 1 1 from=top at=5", TTS_E_SYNTAX, 39,
                 "'from=' and 'at=' cannot be combined");
    expect_error("buffer l1 interleaved 1 1 at=5 from=top = 5", TTS_E_SYNTAX, 40,
                 "'from=' and 'at=' cannot be combined");
}

T_TEST(a_page_is_that_of_an_index)
{
    expect_error("cb 2048 cores=0-0 page=2048", TTS_E_SYNTAX, 27, "'page=' needs 'index='");
}

T_TEST(a_missing_option_is_named)
{
    expect_error("cb 1", TTS_E_SYNTAX, 4,
                 "'cores=' is missing, expected 'cb SIZE cores=RANGES'");
    expect_error("shard l1 nd 1 1 cores=0-0 = 5", TTS_E_SYNTAX, 26,
                 "'shard=' is missing, expected " SHARD);
    expect_error("shard l1 nd 1 1 shard=1", TTS_E_SYNTAX, 23,
                 "'cores=' is missing, expected " SHARD);
    expect_error("shard l1 nd 1 1 shard=1 cores=0-0", TTS_E_SYNTAX, 33, "'nd' needs 'tensor='");
    expect_error("shard l1 grid 1 1 shard=1x1 cores=0-0 = 1", TTS_E_SYNTAX, 38,
                 "'grid' needs 'tensor='");
}

T_TEST(a_shape_fits_its_sharding)
{
    expect_error("shard l1 classic 1 1 shard=1 cores=0-0", TTS_E_SYNTAX, 38,
                 "a 'classic' sharding has two dimensions, got 1");
    expect_error("shard l1 grid 1 1 tensor=1x1x1 shard=1x1x1 cores=0-0", TTS_E_SYNTAX, 52,
                 "a 'grid' sharding has two dimensions, got 3");
    expect_error("shard l1 nd 1 1 tensor=1x1 shard=1", TTS_E_SYNTAX, 33,
                 "expected as many dimensions in 'tensor' as in 'shard', got '1'");
    expect_error("shard l1 nd 1 1 shard=2x0", TTS_E_SYNTAX, 22,
                 "expected dimensions of 1 and more, got '2x0'");
    expect_error("shard l1 nd 1 1 shard=2x", TTS_E_SYNTAX, 24,
                 "expected a decimal number for a dimension, got nothing");
    expect_error("shard l1 nd 1 1 shard=", TTS_E_SYNTAX, 22,
                 "expected a decimal number for a dimension, got nothing");
    expect_error("shard l1 nd 1 1 shard=2X2", TTS_E_SYNTAX, 22,
                 "expected a decimal number for a dimension, got '2X2'");
}

T_TEST(cores_are_pairs_and_ranges_go_up)
{
    expect_error("room 5", TTS_E_SYNTAX, 5, "expected a core like 3-4, got '5'");
    expect_error("room", TTS_E_SYNTAX, 4, "expected a core like 3-4, got nothing");
    expect_error("room -4", TTS_E_SYNTAX, 5,
                 "expected a decimal number for the column of a core, got nothing");
    expect_error("room 3-", TTS_E_SYNTAX, 7,
                 "expected a decimal number for the row of a core, got nothing");
    expect_error("room 3-4-5", TTS_E_SYNTAX, 7,
                 "expected a decimal number for the row of a core, got '4-5'");
    expect_error("cb 1 cores=", TTS_E_SYNTAX, 11, "expected a core like 3-4, got nothing");
    expect_error("cb 1 cores=0-0+", TTS_E_SYNTAX, 15, "expected a core like 3-4, got nothing");
    expect_error("cb 1 cores=0-0..", TTS_E_SYNTAX, 16, "expected a core like 3-4, got nothing");
    expect_error("cb 1 cores=0-0+3-3..2-9", TTS_E_SYNTAX, 15,
                 "expected a core range from its lowest core to its highest, got '3-3..2-9'");
    expect_error("cb 1 cores=3-3..9-2", TTS_E_SYNTAX, 11,
                 "expected a core range from its lowest core to its highest, got '3-3..9-2'");
    expect_error("cb 1 cores=0-0..1-1..2-2", TTS_E_SYNTAX, 18,
                 "expected a decimal number for the row of a core, got '1..2-2'");
    expect_error("cb 1 cores=0-0 index=1,,2", TTS_E_SYNTAX, 23,
                 "expected a decimal number for the index, got nothing");
}

T_TEST(operands_are_asked_for_by_name)
{
    expect_error("buffer", TTS_E_SYNTAX, 6,
                 "expected dram, l1, l1_small or trace, got nothing");
    expect_error("buffer L1 interleaved 1 1", TTS_E_SYNTAX, 7,
                 "expected dram, l1, l1_small or trace, got 'L1'");
    expect_error("buffer l1 sharded 1 1", TTS_E_SYNTAX, 10,
                 "expected interleaved (or 'shard' for the other layouts), got 'sharded'");
    expect_error("buffer l1 interleaved", TTS_E_SYNTAX, 21,
                 "expected a decimal number for SIZE, got nothing");
    expect_error("buffer l1 interleaved 1", TTS_E_SYNTAX, 23,
                 "expected a decimal number for PAGE, got nothing");
    expect_error("buffer l1 interleaved 1 -1", TTS_E_SYNTAX, 24,
                 "expected a decimal number for PAGE, got '-1'");
    expect_error("shard l1 height 1 1", TTS_E_SYNTAX, 9,
                 "expected classic, nd or grid, got 'height'");
    expect_error("stats", TTS_E_SYNTAX, 5, "expected dram, l1, l1_small or trace, got nothing");
    expect_error("program x", TTS_E_SYNTAX, 8, "expected a decimal number for ID, got 'x'");
    expect_error("page a", TTS_E_SYNTAX, 6, "expected a decimal number for INDEX, got nothing");
    expect_error("buffer l1 interleaved 1 1 from=up", TTS_E_SYNTAX, 31,
                 "expected from=top or from=bottom, got 'up'");
    expect_error("shard l1 nd 1 1 order=rows", TTS_E_SYNTAX, 22,
                 "expected order=row or order=column, got 'rows'");
}

#define NAME_TEXT "expected a name: a letter, then up to 46 of A-Z a-z 0-9 _.:/-, got "

T_TEST(names_begin_with_a_letter)
{
    expect_error("free", TTS_E_SYNTAX, 4, NAME_TEXT "nothing");
    expect_error("free 9a", TTS_E_SYNTAX, 5, NAME_TEXT "'9a'");
    expect_error("free -a", TTS_E_SYNTAX, 5, NAME_TEXT "'-a'");
    expect_error("page a+b 1", TTS_E_SYNTAX, 5, NAME_TEXT "'a+b'");
    expect_error("kernel 1 as=", TTS_E_SYNTAX, 12, NAME_TEXT "nothing");
    expect_error("kernel 1 as=\xc3z", TTS_E_SYNTAX, 12, NAME_TEXT "'?z'");
    expect_error("cb 1 cores=0-0 on=5", TTS_E_SYNTAX, 18, NAME_TEXT "'5'");
}

T_TEST(a_word_too_many_is_shown)
{
    expect_error("run now", TTS_E_SYNTAX, 4, "unexpected word 'now': expected 'run'");
    expect_error("stats l1 dram", TTS_E_SYNTAX, 9,
                 "unexpected word 'dram': expected 'stats POOL'");
    expect_error("free hidden 5", TTS_E_SYNTAX, 12,
                 "unexpected word '5': expected 'free NAME' or 'free POOL ADDR'");
    expect_error("free l1 5 6", TTS_E_SYNTAX, 10,
                 "unexpected word '6': expected 'free NAME' or 'free POOL ADDR'");
    expect_error("program 1 # first", TTS_E_SYNTAX, 10,
                 "unexpected word '#': expected 'program ID'; write a comment on its own line");
    expect_error("free a #x", TTS_E_SYNTAX, 7,
                 "unexpected word '#x': expected 'free NAME' or 'free POOL ADDR'; write a "
                 "comment on its own line");
}

T_TEST(a_result_has_its_shape)
{
    expect_error("run =", TTS_E_SYNTAX, 5, "expected 'ok' or 'F', got nothing");
    expect_error("run = OK", TTS_E_SYNTAX, 6, "expected 'ok' or 'F', got 'OK'");
    expect_error("run = ok ok", TTS_E_SYNTAX, 9, "expected nothing after the result, got 'ok'");
    expect_error("run = F # why", TTS_E_SYNTAX, 8,
                 "expected nothing after the result, got '#'");
    expect_error("kernel 1 =", TTS_E_SYNTAX, 10,
                 "expected a decimal number for the address (or 'F', 'T ADDR', '-'), got "
                 "nothing");
    expect_error("kernel 1 = T", TTS_E_SYNTAX, 12,
                 "expected a decimal number for the address (or 'F', 'T ADDR', '-'), got "
                 "nothing");
    expect_error("kernel 1 = ok", TTS_E_SYNTAX, 11,
                 "expected a decimal number for the address (or 'F', 'T ADDR', '-'), got 'ok'");
    expect_error("cb 1 cores=0-0 = F", TTS_E_SYNTAX, 17,
                 "expected a decimal number for the address, got 'F'");
    expect_error("stats l1 = 1 2 3", TTS_E_SYNTAX, 16,
                 "expected a decimal number for the result, got nothing");
    expect_error("stats l1 = 1 2 3 4 5", TTS_E_SYNTAX, 19,
                 "expected nothing after the result, got '5'");
    expect_error("room 0-0 = 1 2", TTS_E_SYNTAX, 14,
                 "expected a decimal number for the result, got nothing");
    expect_error("page a 1 = x", TTS_E_SYNTAX, 11,
                 "expected a decimal number for BANK (or '-'), got 'x'");
    expect_error("page a 1 = 1 2", TTS_E_SYNTAX, 13, "expected a core like 3-4, got '2'");
    expect_error("page a 1 = 1 2-2", TTS_E_SYNTAX, 16,
                 "expected a decimal number for the address, got nothing");
    expect_error("page a 1 = - 2-2", TTS_E_SYNTAX, 13,
                 "expected nothing after the result, got '2-2'");
    expect_error("kernel 1 =5", TTS_E_SYNTAX, 9, "expected spaces around '=', got '=5'");
}

#define NO_RESULT "remove '=' and the words after '='"

T_TEST(only_questions_and_requests_have_results)
{
    static const char *const without[] = {"", "free", "program", "capture", "idle"};
    expect_error("program 1 = 1", TTS_E_SYNTAX, 12,
                 "a statement 'program' has no result: " NO_RESULT);
    expect_error("capture = ok", TTS_E_SYNTAX, 10,
                 "a statement 'capture' has no result: " NO_RESULT);
    expect_error("idle 3 = ok", TTS_E_SYNTAX, 9,
                 "a statement 'idle' has no result: " NO_RESULT);
    expect_error("idle", TTS_E_SYNTAX, 4, "expected a decimal number for STEPS, got nothing");
    expect_error("free l1 5 = 1", TTS_E_SYNTAX, 12,
                 "a statement 'free' has no result: " NO_RESULT);
    expect_error("free hidden = ok", TTS_E_SYNTAX, 14,
                 "a statement 'free' has no result: " NO_RESULT);
    expect_error("free l1 =", TTS_E_SYNTAX, 9, "a statement 'free' has no result: " NO_RESULT);
    size_t none = 0;
    for (enum tts_devseq_kind kind = TTS_DEVSEQ_BLANK; kind < TTS_DEVSEQ_KINDS; kind++) {
        bool found = false;
        for (size_t i = 0; i < COUNT(without); i++)
            found = found || strcmp(tts_devseq_verb(kind), without[i]) == 0;
        T_EQ(tts_devseq_kind_has_result(kind), !found);
        none += found;
    }
    T_EQ(none, COUNT(without));
}
