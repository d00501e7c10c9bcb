#include "sources/config/yamlmap.h"

#include "harness/t.h"

#include <stdio.h>
#include <string.h>

/* A form with a number at the top level and a number in a section. Its functions write every
 * value to a text. */
enum { SECTION_INNER = 1 };
enum { TYPE_VALUE, TYPE_SECTION };

static const struct tts_yamlmap_row rows[] = {{"first_key", TTS_YAMLMAP_TOP, TYPE_VALUE, 1},
                                              {"second", TTS_YAMLMAP_TOP, TYPE_VALUE, 2},
                                              {"inner", TTS_YAMLMAP_TOP, TYPE_SECTION, 0},
                                              {"deep", SECTION_INNER, TYPE_VALUE, 3}};

static char held[1000];

static enum tts_status refuse(struct tts_yamlmap *map, const struct tts_yaml_token *token,
                              enum tts_yamlmap_place place)
{
    static const char *const places[] = {"empty", "document", "key"};
    return tts_yamlmap_fail(map, TTS_E_INVALID, place == TTS_YAMLMAP_EMPTY ? 1 : token->line,
                            "%s", places[place]);
}

static enum tts_status unknown(struct tts_yamlmap *map, const struct tts_yaml_token *key,
                               const char *best)
{
    return tts_yamlmap_fail(map, TTS_E_NOT_FOUND, key->line, "%s for %s",
                            best ? best : "nothing", key->text);
}

static enum tts_status value(struct tts_yamlmap *map, const struct tts_yamlmap_row *row,
                             const struct tts_yaml_token *token)
{
    size_t len = strlen(held);
    if (row->type == TYPE_SECTION && token->kind == TTS_YAML_MAP) {
        tts_yamlmap_enter(map, SECTION_INNER);
        return TTS_OK;
    }
    snprintf(held + len, sizeof held - len, "%d=%s@%u ", row->target, token->text,
             (unsigned)tts_yamlmap_line(map, row));
    return TTS_OK;
}

static enum tts_status end(struct tts_yamlmap *map, const struct tts_yaml_token *token)
{
    size_t len = strlen(held);
    snprintf(held + len, sizeof held - len, "end%d@%u ", tts_yamlmap_section(map),
             (unsigned)token->line);
    return TTS_OK;
}

static enum tts_status read_text(const char *text, bool has_refs, struct tts_error *err)
{
    const struct tts_yamlmap_form form = {.what = "a form",
                                          .max_bytes = 4096,
                                          .rows = rows,
                                          .row_count = sizeof rows / sizeof rows[0],
                                          .has_refs = has_refs,
                                          .refuse = refuse,
                                          .unknown = unknown,
                                          .value = value,
                                          .end = end};
    held[0] = '\0';
    return tts_yamlmap_read(&form, NULL, text, strlen(text), err);
}

static void expect_read(const char *text, bool has_refs, const char *log)
{
    struct tts_error err = {0};
    enum tts_status status = read_text(text, has_refs, &err);
    T_STR_EQ(err.text, "");
    T_EQ(status, TTS_OK);
    T_STR_EQ(held, log);
}

static void expect_refused(const char *text, bool has_refs, enum tts_status status,
                           uint32_t line, const char *words)
{
    struct tts_error err = {0};
    T_EQ(read_text(text, has_refs, &err), status);
    T_STR_EQ(err.text, words);
    T_EQ(err.line, line);
    T_EQ(read_text(text, has_refs, NULL), status);
}

T_TEST(values_come_in_the_order_of_the_file_with_the_lines_of_their_keys)
{
    expect_read("second: 5\ninner:\n  deep: x\nfirst_key: 6\n", false,
                "2=5@1 3=x@3 end1@4 1=6@4 ");
    expect_read("First-Key: 6\n", false, "1=6@1 ");
    expect_refused("First-Key: 6\n", true, TTS_E_NOT_FOUND, 1, "nothing for First-Key");
}

T_TEST(a_merged_map_fills_what_the_section_does_not_have)
{
    expect_read("inner: &a {deep: 1}\n<<: [{second: 2}, {second: 3, first_key: 4}]\n", true,
                "3=1@1 end1@1 2=2@2 1=4@2 ");
}

T_TEST(what_is_not_one_map_is_refused_in_the_words_of_the_form)
{
    expect_refused("", false, TTS_E_INVALID, 1, "empty");
    expect_refused("\n- a\n", false, TTS_E_INVALID, 2, "document");
    expect_refused("second: 1\n[a]: 1\n", false, TTS_E_INVALID, 2, "key");
    expect_refused("second: 1\n---\nsecond: 2\n", false, TTS_E_SYNTAX, 2,
                   "a second document begins: a form has only one");
}

T_TEST(a_key_that_is_unknown_or_stands_twice_is_located)
{
    expect_refused("inner: {\n dep: 1}\n", false, TTS_E_NOT_FOUND, 2, "deep for dep");
    expect_refused("zzzzzz: 1\n", false, TTS_E_NOT_FOUND, 1, "nothing for zzzzzz");
    expect_refused("second: 1\nsecond: 2\n", false, TTS_E_SYNTAX, 2,
                   "'second' appears twice, first in line 1");
    expect_refused("inner:\n  deep: 1\n  deep: 2\n", true, TTS_E_SYNTAX, 3,
                   "'deep' appears twice, first in line 2");
}

T_TEST(a_text_that_is_too_large_is_not_read)
{
    static char text[5000];
    memset(text, '\n', sizeof text - 1);
    expect_refused(text, false, TTS_E_SYNTAX, 4097,
                   "the file is larger than the limit for a form (4 KiB)");
}
