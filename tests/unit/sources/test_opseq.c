#include "device/space.h"
#include "harness/same_line.h"
#include "harness/t.h"
#include "sources/seq/opseq.h"

#include <stdio.h>
#include <string.h>

#define POOL "P size=1024 offset=64 min_allocation_size=32 alignment=16 policy=BEST"

#define MOST "18446744073709551615"
#define LARGEST_POOL                                                                           \
    "P size=" MOST " offset=" MOST " min_allocation_size=" MOST " alignment=" MOST             \
    " policy=FIRST"

static enum tts_status parse(const char *text, struct tts_opseq_line *out,
                             struct tts_error *err)
{
    /* The copy has the exact length and no terminator, so that a sanitizer detects a read after
     * its end. */
    char bytes[256];
    size_t len = strlen(text);
    memcpy(bytes + sizeof bytes - len, text, len);
    return tts_opseq_parse(bytes + sizeof bytes - len, len, out, err);
}

static void expect_text(const char *text, const char *canonical)
{
    struct tts_opseq_line line;
    struct tts_error err = {0};
    char out[TTS_OPSEQ_TEXT_MAX];
    if (parse(text, &line, &err) != TTS_OK)
        print_error("%s: %s\n", text, err.text);
    T_EQ(parse(text, &line, &err), TTS_OK);
    T_EQ(tts_opseq_format(&line, out), strlen(canonical));
    T_STR_EQ(out, canonical);
}

T_TEST(canonical_lines_come_back_as_they_were)
{
    static const char *const lines[] = {
        POOL,
        LARGEST_POOL,
        "a 2048 1 0",
        "a 2048 0 105664 = 77",
        "a 0 1 0 = F",
        "a 18446744073709551615 0 18446744073709551615 = T 18446744073709551615",
        "x 10 20",
        "x 10 20 = 10",
        "x 10 20 = F",
        "d 105664",
        "k 64",
        "k 64 = ok",
        "k 64 = E",
        "r",
        "c",
        "s",
        "s = 1 2 3 18446744073709551615",
        "l",
        "l = 0",
        "l = none",
        "q",
        "q = 1 2",
        "q = none 2",
        "q = 1 none",
        "q = none none",
        "v 6144",
        "v 6144 = 9 e2f377f84b81c483",
        "m = 231 000000000000000f",
        "t",
        "t = 0 cbf29ce484222325",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        expect_text(lines[i], lines[i]);
}

T_TEST(blanks_order_and_zeros_do_not_matter)
{
    expect_text("", "");
    expect_text(" \t ", "");
    expect_text("# a 1 1 0", "");
    expect_text("  #x", "");
    expect_text("\ta  0002048\t1 0   =  007 ", "a 2048 1 0 = 7");
    expect_text("P policy=BEST alignment=16 min_allocation_size=32 offset=64 size=1024", POOL);
    expect_text("t = 1 CBF29CE484222325", "t = 1 cbf29ce484222325");
}

T_TEST(operands_and_results_land_in_their_fields)
{
    struct tts_opseq_line line;
    T_EQ(parse("a 1 0 3 = T 4", &line, NULL), TTS_OK);
    T_TRUE(line.kind == TTS_OPSEQ_TAKE && line.bytes == 1 && line.limit == 3);
    T_TRUE(line.direction == TTS_DIRECTION_DOWN && line.has_result);
    T_TRUE(line.result.outcome == TTS_OPSEQ_BELOW_LIMIT && line.result.value[0] == 4);
    T_EQ(parse("a 1 1 3", &line, NULL), TTS_OK);
    T_TRUE(line.direction == TTS_DIRECTION_UP && !line.has_result);
    T_EQ(parse("x 5 6 = F", &line, NULL), TTS_OK);
    T_TRUE(line.address == 5 && line.bytes == 6 && line.result.outcome == TTS_OPSEQ_FAILED);
    T_EQ(parse("l = 9", &line, NULL), TTS_OK);
    T_TRUE(line.result.value[0] == 9 && line.result.value[1] == 9);
    T_EQ(parse("l = none", &line, NULL), TTS_OK);
    T_TRUE(line.result.none[0] && line.result.none[1]);
    T_EQ(parse("s = 1 2 3 4", &line, NULL), TTS_OK);
    T_TRUE(line.result.value[0] == 1 && line.result.value[3] == 4);
    T_EQ(parse("v 7 = 2 00000000000000ff", &line, NULL), TTS_OK);
    T_TRUE(line.bytes == 7 && line.result.value[0] == 2 && line.result.value[1] == 255);
    T_EQ(parse(POOL, &line, NULL), TTS_OK);
    T_TRUE(line.pool.size_bytes == 1024 && line.pool.offset_bytes == 64);
    T_TRUE(line.pool.min_bytes == 32 && line.pool.alignment_bytes == 16);
    T_TRUE(line.pool.policy == TTS_POLICY_BEST);
}

static void expect_error(const char *text, enum tts_status status, uint64_t offset,
                         const char *message)
{
    struct tts_opseq_line line;
    struct tts_error err = {0};
    memset(&line, 0x5a, sizeof line);
    struct tts_opseq_line before = line;
    T_EQ(parse(text, &line, &err), status);
    T_STR_EQ(err.text, message);
    T_EQ(err.offset, offset);
    T_EQ(err.status, status);
    T_MEM_EQ(&line, &before, sizeof line);
    T_EQ(parse(text, &line, NULL), status);
}

T_TEST(an_unknown_operation_is_told_the_known_ones)
{
    static const char known[] = ", expected one of P a x d k r c s l q v m t";
    static const char *const words[] = {"z", "A", "aA", "p", "=", "\xff\x1b[2J", "0"};
    static const char *const shown[] = {"z", "A", "aA", "p", "=", "??[2J", "0"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char message[160];
        snprintf(message, sizeof message, "unknown operation '%s'%s", shown[i], known);
        expect_error(words[i], TTS_E_SYNTAX, 0, message);
    }
    expect_error(
        "  Abcdefghijklmnopqrstuvwxyz 1", TTS_E_SYNTAX, 2,
        "unknown operation 'Abcdefghijklmnopqrstuvwx...', expected one of P a x d k r c "
        "s l q v m t");
    expect_error("buffer dram", TTS_E_SYNTAX, 0,
                 "unknown operation 'buffer', expected one of P a x d k r c s l q v m t; for a "
                 "whole device add --device NAME");
}

T_TEST(too_few_and_too_many_operands_are_counted)
{
    expect_error("a 1 1", TTS_E_SYNTAX, 5, "expected 'a SIZE UP LIMIT', got 2 operands");
    expect_error("a", TTS_E_SYNTAX, 1, "expected 'a SIZE UP LIMIT', got 0 operands");
    expect_error("a 1 1 0 5 6 = 2", TTS_E_SYNTAX, 8,
                 "expected 'a SIZE UP LIMIT', got 5 operands");
    expect_error("a 1 = 2", TTS_E_SYNTAX, 4, "expected 'a SIZE UP LIMIT', got 1 operand");
    expect_error("d", TTS_E_SYNTAX, 1, "expected 'd ADDR', got 0 operands");
    expect_error("r 1", TTS_E_SYNTAX, 2, "expected 'r', got 1 operand");
    expect_error("d 1 # done", TTS_E_SYNTAX, 4,
                 "expected 'd ADDR', got 3 operands; write a comment on its own line");
}

T_TEST(a_bad_number_is_shown_with_its_name)
{
    expect_error("a x 1 0", TTS_E_SYNTAX, 2, "expected a decimal number for SIZE, got 'x'");
    expect_error("a 1 1 -1", TTS_E_SYNTAX, 6, "expected a decimal number for LIMIT, got '-1'");
    expect_error("d 0x10", TTS_E_SYNTAX, 2, "expected a decimal number for ADDR, got '0x10'");
    expect_error("k 1=ok", TTS_E_SYNTAX, 2,
                 "expected a decimal number for BYTES, got '1=ok'; put spaces around '='");
    expect_error("a 1 1 0= 5", TTS_E_SYNTAX, 6,
                 "expected a decimal number for LIMIT, got '0='; put spaces around '='");
    expect_error("a 100 1 0 =5", TTS_E_SYNTAX, 10,
                 "expected 'a SIZE UP LIMIT', got 4 operands; put spaces around '='");
    expect_error("d 18446744073709551616", TTS_E_RANGE, 2,
                 "ADDR '18446744073709551616' is too large: at most "
                 "18446744073709551615");
    expect_error("a 1 2 0", TTS_E_SYNTAX, 4,
                 "UP must be 0 (from the top) or 1 (from the bottom), got '2'");
}

T_TEST(a_bad_result_is_told_the_shape)
{
    expect_error("a 1 1 0 = f", TTS_E_SYNTAX, 10,
                 "expected 'ADDR', 'F' or 'T ADDR' after 'a ... =', got 'f'");
    expect_error("a 1 1 0 = T", TTS_E_SYNTAX, 11,
                 "expected 'ADDR', 'F' or 'T ADDR' after 'a ... =', got only 1 word");
    expect_error("x 1 1 = T 5", TTS_E_SYNTAX, 8,
                 "expected 'ADDR' or 'F' after 'x ... =', got 'T'");
    expect_error("k 1 =", TTS_E_SYNTAX, 5, "expected 'ok' or 'E' after 'k ... =', got nothing");
    expect_error("s = 1 2 3", TTS_E_SYNTAX, 9,
                 "expected 'TOTAL ALLOCATED FREE LARGEST' after 's ... =', got only 3 words");
    expect_error("s = 1 2", TTS_E_SYNTAX, 7,
                 "expected 'TOTAL ALLOCATED FREE LARGEST' after 's ... =', got only 2 words");
    expect_error("s =", TTS_E_SYNTAX, 3,
                 "expected 'TOTAL ALLOCATED FREE LARGEST' after 's ... =', got nothing");
    expect_error("m = 1", TTS_E_SYNTAX, 5,
                 "expected 'N HASH' (HASH has 16 hex digits) after 'm ... =', got only 1 word");
    expect_error("l = nobody", TTS_E_SYNTAX, 4,
                 "expected 'ADDR' or 'none' after 'l ... =', got 'nobody'");
    expect_error("q = 1", TTS_E_SYNTAX, 5,
                 "expected 'REPORTED TRUE' (each is an address or 'none') after 'q ... =', got "
                 "only 1 word");
    expect_error("m = 1 12345", TTS_E_SYNTAX, 6,
                 "expected 'N HASH' (HASH has 16 hex digits) after 'm ... =', got '12345'");
    expect_error(
        "m = 1 g000000000000000", TTS_E_SYNTAX, 6,
        "expected 'N HASH' (HASH has 16 hex digits) after 'm ... =', got 'g000000000000000'");
    expect_error("d 1 = 5", TTS_E_SYNTAX, 0,
                 "operation 'd ADDR' has no result, but the line has a '='");
    expect_error("a 1 1 0 = 99999999999999999999", TTS_E_RANGE, 10,
                 "result '99999999999999999999' is too large: at most "
                 "18446744073709551615");
    expect_error("x 1 2 = 1 2", TTS_E_SYNTAX, 10,
                 "expected the line to end after 'ADDR' or 'F', got '2'");
    expect_error("c = #", TTS_E_SYNTAX, 0,
                 "operation 'c' has no result, but the line has a '='");
    expect_error("l = 1 #", TTS_E_SYNTAX, 6,
                 "expected the line to end after 'ADDR' or 'none', got '#'; write a comment on "
                 "its own line");
}

#define USAGE "'P size=N offset=N min_allocation_size=N alignment=N policy=FIRST|BEST'"

T_TEST(a_pool_has_each_field_once)
{
    expect_error("P", TTS_E_SYNTAX, 0, "field 'size' is missing, expected " USAGE);
    expect_error("P size=1 offset=2 min_allocation_size=3 policy=FIRST", TTS_E_SYNTAX, 0,
                 "field 'alignment' is missing, expected " USAGE);
    expect_error("P size=1 banks=2", TTS_E_SYNTAX, 9,
                 "unknown field 'banks=2', expected " USAGE);
    expect_error("P 1024", TTS_E_SYNTAX, 2, "unknown field '1024', expected " USAGE);
    expect_error("P size=1 offset=1 size=1", TTS_E_SYNTAX, 18, "field 'size' is given twice");
    expect_error("P size=", TTS_E_SYNTAX, 7, "expected a decimal number for size, got nothing");
    expect_error("P offset=1k", TTS_E_SYNTAX, 9,
                 "expected a decimal number for offset, got '1k'");
    expect_error("P alignment=18446744073709551616", TTS_E_RANGE, 12,
                 "alignment '18446744073709551616' is too large: at most "
                 "18446744073709551615");
    expect_error("P policy=first", TTS_E_SYNTAX, 9,
                 "expected policy=FIRST or policy=BEST, got 'first'");
}

/* --- any line --------------------------------------------------------------------------- */

static uint64_t any_number(uint64_t *rng)
{
    return t_random(rng) >> t_random(rng) % 64;
}

static void any_result(uint64_t *rng, struct tts_opseq_line *line)
{
    struct tts_opseq_result *result = &line->result;
    enum tts_opseq_kind kind = line->kind;
    unsigned pick = (unsigned)(t_random(rng) % 3);
    line->has_result = true;
    if (kind == TTS_OPSEQ_TAKE)
        result->outcome = (enum tts_opseq_outcome)pick;
    else if (kind == TTS_OPSEQ_TAKE_AT || kind == TTS_OPSEQ_SHRINK)
        result->outcome = pick ? TTS_OPSEQ_FAILED : TTS_OPSEQ_DONE;
    bool failed = result->outcome == TTS_OPSEQ_FAILED;
    size_t values = kind == TTS_OPSEQ_SHRINK || failed                    ? 0
                    : kind == TTS_OPSEQ_TAKE || kind == TTS_OPSEQ_TAKE_AT ? 1
                    : kind == TTS_OPSEQ_STATS                             ? 4
                                                                          : 2;
    for (size_t i = 0; i < values; i++)
        result->value[i] = any_number(rng);
    if (kind == TTS_OPSEQ_STALE) {
        for (int i = 0; i < 2; i++) {
            result->none[i] = t_random(rng) % 2;
            result->value[i] = result->none[i] ? 0 : result->value[i];
        }
    } else if (kind == TTS_OPSEQ_LOWEST) {
        result->none[0] = result->none[1] = pick == 0;
        result->value[1] = result->value[0] = pick == 0 ? 0 : result->value[0];
    }
}

static struct tts_opseq_line any_line(uint64_t *rng)
{
    struct tts_opseq_line line = {.kind = t_random(rng) % TTS_OPSEQ_KINDS};
    if (strchr("axkv", tts_opseq_letter(line.kind)))
        line.bytes = any_number(rng);
    if (strchr("xd", tts_opseq_letter(line.kind)))
        line.address = any_number(rng);
    if (line.kind == TTS_OPSEQ_TAKE) {
        line.limit = any_number(rng);
        line.direction = t_random(rng) % 2 ? TTS_DIRECTION_UP : TTS_DIRECTION_DOWN;
    }
    if (line.kind == TTS_OPSEQ_POOL)
        line.pool = (struct tts_space_config){any_number(rng), any_number(rng), any_number(rng),
                                              any_number(rng), t_random(rng) % 2};
    if (tts_opseq_kind_has_result(line.kind) && t_random(rng) % 4)
        any_result(rng, &line);
    return line;
}

T_TEST(what_is_written_is_read_back_the_same)
{
    uint64_t rng = 7;
    for (int i = 0; i < 100000; i++) {
        struct tts_opseq_line line = any_line(&rng), back;
        char text[TTS_OPSEQ_TEXT_MAX];
        struct tts_error err = {0};
        size_t len = tts_opseq_format(&line, text);
        T_TRUE(len < TTS_OPSEQ_TEXT_MAX && text[len] == '\0');
        if (tts_opseq_parse(text, len, &back, &err) != TTS_OK || !same_line(&line, &back))
            fail_msg("%s: %s", text, err.text);
    }
}

T_TEST(results_are_equal_when_every_word_is)
{
    struct tts_opseq_result a = {TTS_OPSEQ_DONE, {false, false}, {1, 2, 3, 4}}, b = a;
    T_TRUE(tts_opseq_result_equal(&a, &b));
    for (int i = 0; i < TTS_OPSEQ_VALUES; i++) {
        b = a;
        b.value[i]++;
        T_TRUE(!tts_opseq_result_equal(&a, &b));
    }
    for (int i = 0; i < 2; i++) {
        b = a;
        b.none[i] = true;
        T_TRUE(!tts_opseq_result_equal(&a, &b));
    }
    b = a;
    b.outcome = TTS_OPSEQ_BELOW_LIMIT;
    T_TRUE(!tts_opseq_result_equal(&a, &b));
}

T_TEST(only_questions_and_requests_have_results)
{
    static const char with[] = "axkslqvmt", without[] = " Pdrc";
    size_t seen = 0;
    for (enum tts_opseq_kind kind = TTS_OPSEQ_BLANK; kind < TTS_OPSEQ_KINDS; kind++) {
        bool has = tts_opseq_kind_has_result(kind);
        T_TRUE(strchr(has ? with : without, tts_opseq_letter(kind)) != NULL);
        seen++;
    }
    T_EQ(seen, strlen(with) + strlen(without));
    T_STR_EQ(tts_opseq_policy_name(TTS_POLICY_FIRST), "FIRST");
    T_STR_EQ(tts_opseq_policy_name(TTS_POLICY_BEST), "BEST");
}
