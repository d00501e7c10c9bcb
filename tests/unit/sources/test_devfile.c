#include "harness/t.h"
#include "sources/config/devfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct tts_chip loaded_bytes(const char *text, size_t len)
{
    struct tts_chip chip;
    struct tts_error err = {0};
    enum tts_status status = tts_devfile_parse(text, len, &chip, &err);
    T_STR_EQ(err.text, "");
    T_EQ(status, TTS_OK);
    T_EQ(err.line, 0);
    T_EQ(tts_chip_check(&chip, NULL), TTS_OK);
    return chip;
}

static struct tts_chip loaded(const char *text)
{
    return loaded_bytes(text, strlen(text));
}

static void refused_bytes(const char *text, size_t len, struct tts_error wanted)
{
    struct tts_chip chip = {.name = "untouched", .arch = TTS_ARCH_QUASAR};
    struct tts_error err = {0};
    T_EQ(tts_devfile_parse(text, len, &chip, &err), wanted.status);
    T_EQ(err.status, wanted.status);
    T_STR_EQ(err.text, wanted.text);
    T_EQ(err.line, wanted.line);
    T_TRUE(strcmp(chip.name, "untouched") == 0 && chip.arch == TTS_ARCH_QUASAR);
    T_EQ(tts_devfile_parse(text, len, &chip, NULL), wanted.status);
}

static void refused(const char *text, enum tts_status status, uint32_t line, const char *words)
{
    struct tts_error wanted = {.status = status, .line = line};
    snprintf(wanted.text, sizeof wanted.text, "%s", words);
    refused_bytes(text, strlen(text), wanted);
}

static void expect_fact(const struct tts_chip *chip, enum tts_fact_key key, uint64_t value)
{
    T_EQ(chip->fact[key].value, value);
    T_EQ(chip->fact[key].origin, TTS_ORIGIN_SET);
}

/* --- accepted files --------------------------------------------------------------------- */

T_TEST(a_preset_alone_is_that_preset)
{
    struct tts_chip chip = loaded("preset: n150\n"), preset;
    T_EQ(tts_chip_preset("n150", &preset, NULL), TTS_OK);
    T_STR_EQ(chip.name, "n150");
    T_EQ(chip.arch, TTS_ARCH_WORMHOLE);
    for (size_t i = 0; i < TTS_FACTS; i++) {
        T_EQ(chip.fact[i].value, preset.fact[i].value);
        T_EQ(chip.fact[i].origin, preset.fact[i].origin);
    }
}

T_TEST(facts_are_set_on_top_of_the_preset)
{
    struct tts_chip chip = loaded("device: my-p150\n"
                                  "preset: p150\n"
                                  "grid: 13x10\n"
                                  "l1_small: 32768\n"
                                  "trace_region: 24MiB\n"
                                  "dispatch: column\n");
    T_STR_EQ(chip.name, "my-p150");
    T_EQ(chip.arch, TTS_ARCH_BLACKHOLE);
    expect_fact(&chip, TTS_FACT_GRID, TTS_GRID(13, 10));
    expect_fact(&chip, TTS_FACT_L1_SMALL, 32768);
    expect_fact(&chip, TTS_FACT_TRACE_REGION, 24 * 1024 * 1024);
    expect_fact(&chip, TTS_FACT_DISPATCH, TTS_DISPATCH_COLUMN);
    T_TRUE(chip.fact[TTS_FACT_DRAM_BANKS].origin != TTS_ORIGIN_SET);
}

T_TEST(the_preset_may_stand_anywhere)
{
    struct tts_chip chip = loaded("l1_small: 32768\npreset: n150\ndevice: late\n");
    T_STR_EQ(chip.name, "late");
    expect_fact(&chip, TTS_FACT_L1_SMALL, 32768);
}

T_TEST(keys_are_read_as_on_the_command_line)
{
    struct tts_chip chip = loaded("PRESET: N150\nl1-small: 32K\nTrace-Region: 1M\n");
    expect_fact(&chip, TTS_FACT_L1_SMALL, 32768);
    expect_fact(&chip, TTS_FACT_TRACE_REGION, 1024 * 1024);
}

T_TEST(comments_quotes_directives_and_flow_style_are_yaml_too)
{
    static const char *const texts[] = {
        "# first\n\n  # second\npreset: n150   # third\nl1_small: 32768 #fourth\n\n# last",
        "%YAML 1.1\n---\npreset: n150\nl1_small: 32768\n...\n",
        "--- # document\n\"preset\": 'n150'\n'l1_small': \"32768\"\n",
        "{preset: n150, l1_small: 32768}",
        "{\n  \"preset\": \"n150\",\n  \"l1_small\": 32768\n}\n",
        "preset:\n  n150\nl1_small:\n    32768\n",
        "? preset\n: n150\n? l1_small\n: 32768\n",
        "  preset: n150\n  l1_small: 32768",
        "preset: \"n\\x3150\"\nl1_small: 32768\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct tts_chip chip = loaded(texts[i]);
        T_STR_EQ(chip.name, "n150");
        expect_fact(&chip, TTS_FACT_L1_SMALL, 32768);
    }
}

T_TEST(crlf_lone_cr_and_a_byte_order_mark_are_read)
{
    struct tts_chip chip = loaded("\xef\xbb\xbfpreset: n150\r\nl1_small: 32768\r\n");
    expect_fact(&chip, TTS_FACT_L1_SMALL, 32768);
    chip = loaded("preset: n150\rl1_small: 32768\r");
    expect_fact(&chip, TTS_FACT_L1_SMALL, 32768);
    refused("preset: n150\r\nl1_small: 32768\r\nx: 1\r\n", TTS_E_NOT_FOUND, 3,
            "unknown key 'x', expected a key that 'ttscope devices NAME' lists");
    refused("\xef\xbb\xbf\r\n\r\nx: 1", TTS_E_NOT_FOUND, 3,
            "unknown key 'x', expected a key that 'ttscope devices NAME' lists");
}

T_TEST(a_name_may_have_31_characters_of_any_printable_kind)
{
    T_STR_EQ(loaded("preset: n150\ndevice: 1234567890123456789012345678901\n").name,
             "1234567890123456789012345678901");
    T_STR_EQ(loaded("preset: n150\ndevice: \"it's, 'my' {#1}: ~\"\n").name,
             "it's, 'my' {#1}: ~");
    T_STR_EQ(loaded("preset: tg-gateway\ndevice: a\n").name, "a");
}

T_TEST(every_fact_is_a_key)
{
    for (int key = 0; key < TTS_FACTS; key++) {
        struct tts_chip preset;
        char value[TTS_FACT_TEXT_MAX], text[200];
        T_EQ(tts_chip_preset("blackhole", &preset, NULL), TTS_OK);
        tts_fact_text((enum tts_fact_key)key, &preset.fact[key], value);
        snprintf(text, sizeof text, "preset: blackhole\n%s: %s\n",
                 tts_fact_name((enum tts_fact_key)key), value);
        struct tts_chip chip = loaded(text);
        expect_fact(&chip, (enum tts_fact_key)key, preset.fact[key].value);
    }
}

/* --- refused files ---------------------------------------------------------------------- */

T_TEST(a_file_without_a_word_says_how_to_begin)
{
    static const char *const texts[] = {
        "",           "\n", "# preset: n150\n", "\xef\xbb\xbf", "---",
        "---\n...\n", "''", "\n\n\n# nothing"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        refused(texts[i], TTS_E_SYNTAX, 1,
                "the file is empty: begin with a line 'preset: NAME'");
    struct tts_chip chip;
    T_EQ(tts_devfile_parse(NULL, 0, &chip, NULL), TTS_E_SYNTAX);
}

T_TEST(a_file_without_a_preset_says_so)
{
    refused("device: mine\nl1_small: 32768\n", TTS_E_SYNTAX, 1,
            "'preset' is missing: begin with a line 'preset: NAME'");
    refused("{}", TTS_E_SYNTAX, 1, "'preset' is missing: begin with a line 'preset: NAME'");
}

T_TEST(an_unknown_preset_names_the_nearest_and_its_line)
{
    refused("device: x\npreset: n15O\n", TTS_E_NOT_FOUND, 2,
            "no device is named 'n15O', did you mean 'n150'?");
    refused("preset:\n", TTS_E_NOT_FOUND, 1, "no device is named ''");
    refused("preset:\n\n  xyzzy\n", TTS_E_NOT_FOUND, 3, "no device is named 'xyzzy'");
}

T_TEST(an_unknown_key_names_the_nearest_and_its_line)
{
    refused("preset: n150\n\nl1_smal: 1\n", TTS_E_NOT_FOUND, 3,
            "unknown key 'l1_smal', did you mean 'l1_small'?");
    refused("presett: n150\n", TTS_E_NOT_FOUND, 1,
            "unknown key 'presett', did you mean 'preset'?");
    refused("preset: n150\nDevcie: x\n", TTS_E_NOT_FOUND, 2,
            "unknown key 'Devcie', did you mean 'device'?");
    refused("preset: n150\n<<: 1\n", TTS_E_NOT_FOUND, 2,
            "unknown key '<<', expected a key that 'ttscope devices NAME' lists");
    refused("preset: n150\n? \n: 1\n", TTS_E_NOT_FOUND, 2,
            "unknown key '', expected a key that 'ttscope devices NAME' lists");
    refused("preset: n150\n\"gri\\0d\": 1\n\n", TTS_E_NOT_FOUND, 2,
            "unknown key 'gri?d', did you mean 'grid'?");
    refused("preset: n150\n\"\\e[2J\": 1\n", TTS_E_NOT_FOUND, 2,
            "unknown key '?[2J', expected a key that 'ttscope devices NAME' lists");
    refused("preset: n150\n"
            "grid1234567890123456789012345678901234567890123456789012345678901234567890: 1\n",
            TTS_E_NOT_FOUND, 2,
            "unknown key 'grid123456789012345678901234567890123456', expected a key that "
            "'ttscope devices NAME' lists");
}

T_TEST(a_key_twice_is_refused_however_it_is_written)
{
    refused("preset: n150\nl1_small: 1\n\nl1_small: 2\n", TTS_E_SYNTAX, 4,
            "'l1_small' appears twice, first in line 2");
    refused("preset: n150\nl1_small: 1\nL1-SMALL: 1\n", TTS_E_SYNTAX, 3,
            "'l1_small' appears twice, first in line 2");
    refused("preset: n150\npreset: n150\n", TTS_E_SYNTAX, 2,
            "'preset' appears twice, first in line 1");
    refused("device: a\ndevice: a\n", TTS_E_SYNTAX, 2,
            "'device' appears twice, first in line 1");
}

T_TEST(a_value_that_does_not_fit_its_fact_has_its_line)
{
    refused("preset: n150\ngrid: 13\n", TTS_E_SYNTAX, 2,
            "invalid value '13' for 'grid': expected columns x rows such as 8x9, each 1 to 64");
    refused("preset: n150\ngrid: 8x\n  9\n", TTS_E_SYNTAX, 2,
            "invalid value '8x 9' for 'grid': expected columns x rows such as 8x9, each 1 to "
            "64");
    refused("l1_small:\n\npreset: n150\n", TTS_E_SYNTAX, 1,
            "invalid value '' for 'l1_small': expected bytes such as 32768 or 32KiB, up to "
            "2^46");
    refused("preset: n150\n\nchips:\n  4294967296\n", TTS_E_RANGE, 4,
            "invalid value '4294967296' for 'chips': expected a number up to 4294967295");
}

T_TEST(the_first_wrong_fact_of_the_file_is_the_one_reported)
{
    refused("chips: x\npreset: n150\ngrid: y\n", TTS_E_SYNTAX, 1,
            "invalid value 'x' for 'chips': expected a number up to 4294967295");
}

T_TEST(a_wrong_key_is_reported_before_a_wrong_value_above_it)
{
    refused("chips: x\nfoo: 1\npreset: n150\n", TTS_E_NOT_FOUND, 2,
            "unknown key 'foo', expected a key that 'ttscope devices NAME' lists");
}

T_TEST(a_chip_that_cannot_be_is_reported_at_the_last_line)
{
    refused("preset: n150\ndram_alignment: 33\nl1_small: 0\n# end\n", TTS_E_INVALID, 3,
            "'dram_alignment' is 33, expected a power of two");
}

T_TEST(a_name_that_is_empty_or_too_long_is_refused)
{
    refused("preset: n150\ndevice:\n", TTS_E_SYNTAX, 2, "the name of the device is empty");
    refused("device: 12345678901234567890123456789012\npreset: n150\n", TTS_E_RANGE, 1,
            "the name of the device is longer than 31 characters");
}

T_TEST(values_are_short_and_printable)
{
    static const char *const values[] = {
        "\"a\\0b\"",   "\"a\\nb\"",
        "\"\\e[31m\"", "b\xc3\xbcro",
        "|\n  a\n",    "1234567890123456789012345678901234567890123456789012345678901234",
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "preset: n150\ndevice: %s\n", values[i]);
        refused(
            text, TTS_E_SYNTAX, 2,
            "the value of 'device' is too long or has characters other than printable ASCII");
    }
}

T_TEST(nested_values_are_refused)
{
    refused("preset: n150\ngrid: [8, 8]\n", TTS_E_SYNTAX, 2,
            "the value of 'grid' is a list: write 'key: value' lines with plain values");
    refused("preset: n150\ngrid:\n  - 8\n", TTS_E_SYNTAX, 3,
            "the value of 'grid' is a list: write 'key: value' lines with plain values");
    refused("preset: n150\ngrid:\n  columns: 8\n", TTS_E_SYNTAX, 3,
            "the value of 'grid' is a map: write 'key: value' lines with plain values");
    refused("preset: n150\n? [grid]\n: 1\n", TTS_E_SYNTAX, 2,
            "a key is a list: write 'key: value' lines with plain values");
    refused("preset: n150\n? {grid: 1}\n: 1\n", TTS_E_SYNTAX, 2,
            "a key is a map: write 'key: value' lines with plain values");
}

T_TEST(a_document_that_is_no_map_is_refused)
{
    refused("n150\n", TTS_E_SYNTAX, 1,
            "the document is plain text: write 'key: value' lines with plain values");
    refused("\n- preset: n150\n", TTS_E_SYNTAX, 2,
            "the document is a list: write 'key: value' lines with plain values");
    refused("--- |\n  preset: n150\n", TTS_E_SYNTAX, 1,
            "the document is plain text: write 'key: value' lines with plain values");
}

T_TEST(anchors_aliases_and_tags_are_refused)
{
    refused("preset: &a n150\n", TTS_E_SYNTAX, 1,
            "the value of 'preset' is marked with '&' or '!': write 'key: value' lines with "
            "plain values");
    refused("preset: n150\nl1_small: !!int 5\n", TTS_E_SYNTAX, 2,
            "the value of 'l1_small' is marked with '&' or '!': write 'key: value' lines "
            "with plain values");
    refused("preset: n150\n&k grid: 8x8\n", TTS_E_SYNTAX, 2,
            "a key is marked with '&' or '!': write 'key: value' lines with plain values");
    refused("preset: n150\ngrid: &g [*g]\n", TTS_E_SYNTAX, 2,
            "the value of 'grid' is a list: write 'key: value' lines with plain values");
    refused("preset: n150\ngrid: &g {a: *g}\n", TTS_E_SYNTAX, 2,
            "the value of 'grid' is marked with '&' or '!': write 'key: value' lines with "
            "plain values");
    refused("preset: n150\ngrid: *g\n", TTS_E_SYNTAX, 2,
            "the value of 'grid' is an alias: write 'key: value' lines with plain values");
    refused("preset: n150\n*g : 1\n", TTS_E_SYNTAX, 2,
            "a key is an alias: write 'key: value' lines with plain values");
    refused(
        "--- !!map\npreset: n150\n", TTS_E_SYNTAX, 1,
        "the document is marked with '&' or '!': write 'key: value' lines with plain values");
    refused("*a\n", TTS_E_SYNTAX, 1,
            "the document is an alias: write 'key: value' lines with plain values");
}

T_TEST(a_second_document_is_refused)
{
    refused("preset: n150\n---\npreset: n300\n", TTS_E_SYNTAX, 2,
            "a second document begins: a device file has only one");
    refused("preset: n150\n...\n\n---\n", TTS_E_SYNTAX, 4,
            "a second document begins: a device file has only one");
}

/* Checks only the line of the error, because the words after "not YAML: " come from libyaml. */
static void not_yaml(const char *text, uint32_t line)
{
    struct tts_chip chip;
    struct tts_error err;
    T_EQ(tts_devfile_parse(text, strlen(text), &chip, &err), TTS_E_SYNTAX);
    T_TRUE(strncmp(err.text, "not YAML: ", 10) == 0 && strlen(err.text) > 20);
    T_EQ(err.line, line);
}

T_TEST(what_is_not_yaml_is_refused_with_its_line)
{
    not_yaml("preset: n150\ngrid: 8x8\n  l1_small: 3\n", 3);
    not_yaml("device: a\npreset: 'n150\n\n\n", 2);
    not_yaml("preset: n150\ngrid\nchips: 1\n", 2);
    not_yaml("preset: n150\ngrid", 2);
    not_yaml("device: a\npreset: n150\n...\nx", 4);
    not_yaml("preset: n150\n\tgrid: 8x8\n", 2);
    not_yaml("preset: n150\n@grid: 8x8\n", 2);
    not_yaml("preset: n150\n}\n", 2);
    not_yaml("{preset: n150", 1);
    not_yaml("preset: n150\n\xff\xfe\n", 2);
    not_yaml("preset: n150\r\rdevice: a\x01\n", 3);
    not_yaml("\xff\xfe\x41\x41\x41\x41", 1);
    not_yaml("%YAML 9.9\n---\npreset: n150\n", 1);
}

T_TEST(line_ends_that_no_editor_shows_are_refused)
{
    static const char *const ends[] = {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    for (size_t i = 0; i < 3; i++) {
        char text[80];
        int len =
            snprintf(text, sizeof text, "preset: n150\n# harmless%sl1_small: 1\n", ends[i]);
        refused_bytes(text, (size_t)len,
                      (struct tts_error){.status = TTS_E_SYNTAX,
                                         .line = 2,
                                         .text = "an invisible line break (U+0085, U+2028 or "
                                                 "U+2029): delete the line break"});
    }
}

T_TEST(nul_bytes_and_utf_16_are_refused_with_their_line)
{
    static const char nul[] = "preset: n150\ngrid: \0 8x8\n", utf16[] = "\xff\xfep\0r\0e\0";
    struct tts_error wanted = {
        .status = TTS_E_SYNTAX, .line = 2, .text = "not a text file: the file has a NUL byte"};
    refused_bytes(nul, sizeof nul - 1, wanted);
    wanted.line = 1;
    refused_bytes(utf16, sizeof utf16 - 1, wanted);
}

/* --- large files ------------------------------------------------------------------------ */

static char big[TTS_DEVFILE_MAX_BYTES + 2];

/* Writes `head`, and then `piece` as many times as it fits into `len` bytes. */
static size_t fill(const char *head, const char *piece, size_t len)
{
    size_t at = strlen(head), step = strlen(piece);
    memcpy(big, head, at);
    for (; step <= len - at; at += step)
        memcpy(big + at, piece, step);
    return at;
}

T_TEST(a_file_may_have_64_kib_and_not_a_byte_more)
{
    T_EQ(fill("preset: n150\n", "#", TTS_DEVFILE_MAX_BYTES), TTS_DEVFILE_MAX_BYTES);
    loaded_bytes(big, TTS_DEVFILE_MAX_BYTES);
    fill("preset: n150\n", "#", TTS_DEVFILE_MAX_BYTES + 1);
    struct tts_error wanted = {
        .status = TTS_E_SYNTAX,
        .line = 2,
        .text = "the file is larger than the limit for a device file (64 KiB)"};
    refused_bytes(big, TTS_DEVFILE_MAX_BYTES + 1, wanted);
}

T_TEST(deep_nesting_and_alias_bombs_end_at_their_first_step)
{
    static const struct {
        const char *head, *piece, *wanted;
        uint32_t line;
    } bombs[] = {
        {"", "[", "the document is a list: write 'key: value' lines with plain values", 1},
        {"", "[\n", "the document is a list: write 'key: value' lines with plain values", 1},
        {"", "- ", "the document is a list: write 'key: value' lines with plain values", 1},
        {"", "{", "a key is a map: write 'key: value' lines with plain values", 1},
        {"", "? ", "a key is a map: write 'key: value' lines with plain values", 1},
        {"preset: ", "[",
         "the value of 'preset' is a list: write 'key: value' lines with plain values", 1},
        {"preset: n150\ngrid:\n", "  - [",
         "the value of 'grid' is a list: write 'key: value' lines with plain values", 3},
        {"preset: n150\ngrid: &a [x, x]\nchips: ", "[*a, *a],",
         "the value of 'grid' is a list: write 'key: value' lines with plain values", 2},
        {"preset: n150\n", "x: 1\n",
         "unknown key 'x', expected a key that 'ttscope devices NAME' lists", 2},
        {"preset: n150\n", "grid: 8x8\n", "'grid' appears twice, first in line 2", 3},
        {"preset: n150\n", "--- ", "a second document begins: a device file has only one", 2},
    };
    for (size_t i = 0; i < sizeof bombs / sizeof bombs[0]; i++) {
        size_t len = fill(bombs[i].head, bombs[i].piece, TTS_DEVFILE_MAX_BYTES);
        struct tts_error wanted = {.status = TTS_E_SYNTAX, .line = bombs[i].line};
        if (strstr(bombs[i].wanted, "unknown key"))
            wanted.status = TTS_E_NOT_FOUND;
        snprintf(wanted.text, sizeof wanted.text, "%s", bombs[i].wanted);
        refused_bytes(big, len, wanted);
    }
}

static uint32_t newlines(const char *text, size_t len)
{
    uint32_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += text[i] == '\n' || (text[i] == '\r' && i + 1 == len);
    return count;
}

T_TEST(every_prefix_of_a_file_is_a_chip_or_an_error_with_a_line)
{
    static const char text[] =
        "# a\r\ndevice: \"d\\x41\"\npreset: 'p150'\n---\n{grid: &a [*a]}\n";
    struct tts_chip chip;
    for (size_t len = 0; len < sizeof text; len++) {
        struct tts_error err = {0};
        enum tts_status status = tts_devfile_parse(text, len, &chip, &err);
        T_EQ(err.status, status);
        T_EQ(status != TTS_OK, err.line > 0 && err.text[0] != '\0');
        T_TRUE(err.line <= 1 + newlines(text, len));
    }
}

/* --- files ------------------------------------------------------------------------------ */

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

T_TEST(a_file_is_loaded_from_its_path)
{
    static const char text[] = "preset: n300\n";
    struct tts_chip chip;
    struct tts_error err;
    int before = open_descriptors();
    T_EQ(tts_devfile_load(t_file("device.yaml", text, sizeof text - 1), &chip, &err), TTS_OK);
    T_STR_EQ(chip.name, "n300");
    T_EQ(open_descriptors(), before);
}

T_TEST(a_dash_is_standard_input_and_stays_open)
{
    static const char text[] = "preset: n300\ndevice: piped\n";
    int ends[2], kept = dup(STDIN_FILENO);
    T_TRUE(kept >= 0 && pipe(ends) == 0);
    T_EQ(write(ends[1], text, sizeof text - 1), sizeof text - 1);
    T_EQ(close(ends[1]), 0);
    T_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    struct tts_chip chip;
    T_EQ(tts_devfile_load("-", &chip, NULL), TTS_OK);
    T_TRUE(fcntl(STDIN_FILENO, F_GETFD) >= 0);
    T_EQ(dup2(kept, STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    close(kept);
    T_STR_EQ(chip.name, "piped");
}

T_TEST(a_file_that_cannot_be_read_is_named_with_the_reason)
{
    struct tts_chip chip = {.name = "untouched"};
    struct tts_error err;
    T_EQ(tts_devfile_load("no/such.yaml", &chip, &err), TTS_E_IO);
    T_STR_EQ(err.text, "cannot read 'no/such.yaml': no such file or directory");
    T_TRUE(err.sys_errno == ENOENT && err.line == 0);
    T_EQ(tts_devfile_load("/", &chip, &err), TTS_E_IO);
    T_STR_EQ(err.text, "cannot read '/': is a directory");
    T_TRUE(err.sys_errno == EISDIR && err.line == 0);
    T_STR_EQ(chip.name, "untouched");
}

T_TEST(a_file_past_64_kib_is_refused_and_an_endless_one_too)
{
    fill("preset: n150\n", "#", TTS_DEVFILE_MAX_BYTES + 1);
    struct tts_chip chip;
    struct tts_error err;
    T_EQ(tts_devfile_load(t_file("device.yaml", big, TTS_DEVFILE_MAX_BYTES + 1), &chip, &err),
         TTS_E_SYNTAX);
    T_STR_EQ(err.text, "the file is larger than the limit for a device file (64 KiB)");
    T_EQ(err.line, 2);
    T_EQ(tts_devfile_load("/dev/zero", &chip, &err), TTS_E_SYNTAX);
    T_EQ(tts_devfile_load(t_file("device.yaml", big, TTS_DEVFILE_MAX_BYTES), &chip, &err),
         TTS_OK);
}

T_TEST(the_example_is_a_p150_with_13_compute_columns)
{
    struct tts_chip chip, preset;
    struct tts_error err = {0};
    T_EQ(tts_devfile_load(TTS_EXAMPLE, &chip, &err), TTS_OK);
    T_STR_EQ(chip.name, "my-p150");
    T_EQ(tts_chip_preset("p150-13", &preset, NULL), TTS_OK);
    T_EQ(chip.fact[TTS_FACT_GRID].value, preset.fact[TTS_FACT_GRID].value);
    T_EQ(chip.fact[TTS_FACT_GRID].value, TTS_GRID(13, 10));
    expect_fact(&chip, TTS_FACT_TENSIX_GRID, TTS_GRID(14, 10));
    expect_fact(&chip, TTS_FACT_L1_SMALL, 32768);
    expect_fact(&chip, TTS_FACT_TRACE_REGION, 25165824);
}
