#include "sources/json_pull.h"

#include "harness/t.h"
#include "torture/heap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const size_t pieces[] = {1, 2, 3, 5, 16, 63, 64, 65, 0};
enum { PIECES = sizeof pieces / sizeof pieces[0] };

static struct tts_jsonpull *json_of(const char *text, size_t len, size_t piece)
{
    struct tts_jsonpull *json = NULL;
    struct tts_jsonpull_source source = {.before = (const unsigned char *)text,
                                         .before_len = len,
                                         .fd = -1,
                                         .window_bytes = TTS_JSONPULL_WINDOW_MIN,
                                         .piece_bytes = piece};
    T_EQ(tts_jsonpull_new(&source, NULL, &json, NULL), TTS_OK);
    return json;
}

static char letter_of(enum tts_jsonpull_kind kind)
{
    switch (kind) {
    case TTS_JSONPULL_OBJECT:
        return '{';
    case TTS_JSONPULL_OBJECT_END:
        return '}';
    case TTS_JSONPULL_ARRAY:
        return '[';
    case TTS_JSONPULL_ARRAY_END:
        return ']';
    case TTS_JSONPULL_KEY:
        return 'k';
    case TTS_JSONPULL_STRING:
        return 's';
    case TTS_JSONPULL_NUMBER:
        return 'n';
    case TTS_JSONPULL_TRUE:
        return 't';
    case TTS_JSONPULL_FALSE:
        return 'f';
    case TTS_JSONPULL_NULL:
        return '0';
    case TTS_JSONPULL_END:
        break;
    }
    return '$';
}

/* Writes all tokens of a text to `out`, each as a letter and its text. Returns the final
 * status. */
static enum tts_status walk(const char *text, size_t len, size_t piece, char *out, size_t room,
                            struct tts_error *err)
{
    struct tts_jsonpull *json = json_of(text, len, piece);
    struct tts_jsonpull_token token;
    enum tts_status status;
    size_t at = 0;
    while ((status = tts_jsonpull_next(json, &token, err)) == TTS_OK) {
        T_TRUE(at + 2 < room);
        out[at++] = letter_of(token.kind);
        if (token.kind == TTS_JSONPULL_END)
            break;
        if (token.kind == TTS_JSONPULL_KEY || token.kind == TTS_JSONPULL_STRING ||
            token.kind == TTS_JSONPULL_NUMBER) {
            T_TRUE(at + token.len + 1 < room);
            memcpy(out + at, token.text, token.len);
            at += token.len;
        }
    }
    out[at] = '\0';
    tts_jsonpull_free(json);
    return status;
}

static void tells(const char *text, const char *tokens)
{
    char out[4096];
    for (size_t i = 0; i < PIECES; i++) {
        struct tts_error err = {0};
        enum tts_status status = walk(text, strlen(text), pieces[i], out, sizeof out, &err);
        if (status != TTS_OK)
            fail_msg("%s: %s", text, err.text);
        T_STR_EQ(out, tokens);
    }
}

T_TEST(every_kind_of_value_is_a_token)
{
    tells("[]", "[]$");
    tells(" {\t}\r\n", "{}$");
    tells("null", "0$");
    tells("[true,false,null]", "[tf0]$");
    tells("[1, -2.5e+3,0,0.0,1E9]", "[n1n-2.5e+3n0n0.0n1E9]$");
    tells("18446744073709551616", "n18446744073709551616$");
    tells("{\"a\" : \"b\" , \"c\":[{}, \"\\\"\\\\\"]}", "{kasbkc[{}s\\\"\\\\]}$");
    tells("{\"\":\"\"}", "{ks}$");
    tells("\"a\x01\xff\n\"", "sa\x01\xff\n$");
    tells("[[],[[]],{\"x\":{\"y\":[]}}]", "[[][[]]{kx{ky[]}}]$");
}

T_TEST(whole_numbers_have_their_value)
{
    static const struct {
        const char *text;
        bool is_whole;
        uint64_t value;
    } cases[] = {
        {"0", true, 0},
        {"7 ", true, 7},
        {"9999999999999999999", true, UINT64_C(9999999999999999999)},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"-1", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tts_jsonpull *json = json_of(cases[i].text, strlen(cases[i].text), 1);
        struct tts_jsonpull_token token;
        T_EQ(tts_jsonpull_next(json, &token, NULL), TTS_OK);
        T_EQ(token.kind, TTS_JSONPULL_NUMBER);
        T_EQ(token.is_whole, cases[i].is_whole);
        T_TRUE(!token.is_whole || token.value == cases[i].value);
        tts_jsonpull_free(json);
    }
}

/* ---- errors ---- */

T_TEST(what_is_not_json_is_refused_where_it_is)
{
    static const struct {
        const char *text;
        uint64_t offset;
        uint32_t line;
        const char *says;
    } cases[] = {
        {"", 0, 1, "ends too early: expected a value"},
        {" \n ", 3, 2, "ends too early"},
        {"hello", 0, 1, "expected a value, got 'h'"},
        {"[", 1, 1, "ends too early: expected a value or ']'"},
        {"[1", 2, 1, "ends too early: expected ',' or ']'"},
        {"[1\n,\n", 5, 3, "ends too early: expected a value"},
        {"[1 2]", 3, 1, "expected ',' or ']', got '2'"},
        {"[1,]", 3, 1, "expected a value, got ']'"},
        {"{\"a\"}", 4, 1, "expected ':' after a key, got '}'"},
        {"{\"a\"  ", 6, 1, "ends too early: expected ':'"},
        {"{\"a\":}", 5, 1, "expected a value, got '}'"},
        {"{\"a\":1,}", 7, 1, "expected a key, got '}'"},
        {"{1:2}", 1, 1, "expected a key or '}', got '1'"},
        {"[1}", 2, 1, "expected ',' or ']', got '}'"},
        {"{\"a\":1]", 6, 1, "expected ',' or '}', got ']'"},
        {"[]]", 2, 1, "expected the end of the file, got ']'"},
        {"[] x", 3, 1, "expected the end of the file, got 'x'"},
        {"[\"abc", 5, 1, "ends in the middle of a string"},
        {"[\"abc\\", 6, 1, "ends in the middle of a string"},
        {"[\"abc\\\"", 7, 1, "ends in the middle of a string"},
        {"[tru]", 1, 1, "got 't'"},
        {"[tru", 4, 1, "ends too early"},
        {"nul", 3, 1, "ends too early"},
        {"[01]", 1, 1, "invalid number"},
        {"[-]", 1, 1, "invalid number"},
        {"[1.]", 1, 1, "invalid number"},
        {"[.5]", 1, 1, "got '.'"},
        {"[1e]", 1, 1, "invalid number"},
        {"\n\n[\x01]", 3, 3, "got byte 01"},
        {"[\xff]", 1, 1, "got byte ff"},
        {"[1-2]", 2, 1, "got '-'"},
    };
    char out[4096];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t k = 0; k < PIECES; k++) {
            struct tts_error err = {0};
            T_EQ(walk(cases[i].text, strlen(cases[i].text), pieces[k], out, sizeof out, &err),
                 TTS_E_SYNTAX);
            if (!strstr(err.text, cases[i].says))
                fail_msg("'%s': %s", cases[i].text, err.text);
            T_EQ(err.offset, cases[i].offset);
            T_EQ(err.line, cases[i].line);
        }
    }
}

T_TEST(a_nul_byte_is_no_json)
{
    char out[64];
    struct tts_error err = {0};
    T_EQ(walk("[1,\0]", 5, 0, out, sizeof out, &err), TTS_E_SYNTAX);
    T_EQ(err.offset, 3);
    T_EQ(walk("[]\0", 3, 1, out, sizeof out, &err), TTS_E_SYNTAX);
    T_EQ(err.offset, 2);
    T_EQ(walk("[\"a\0b\"]", 7, 1, out, sizeof out, &err), TTS_OK);
}

T_TEST(nesting_ends_at_its_bound_without_recursion)
{
    enum { DEEP = TTS_JSONPULL_DEPTH_MAX };
    static char text[2 * DEEP + 3], out[4 * DEEP];
    struct tts_error err = {0};
    memset(text, '[', DEEP);
    memset(text + DEEP, ']', DEEP);
    T_EQ(walk(text, 2 * DEEP, 0, out, sizeof out, &err), TTS_OK);
    memset(text, '[', DEEP + 1);
    T_EQ(walk(text, DEEP + 1, 7, out, sizeof out, &err), TTS_E_RANGE);
    T_EQ(err.offset, DEEP);
    struct tts_jsonpull *json = json_of(text, DEEP + 1, 0);
    T_EQ(tts_jsonpull_skip(json, &err), TTS_E_RANGE);
    T_EQ(err.offset, DEEP);
    tts_jsonpull_free(json);
}

T_TEST(a_file_that_cannot_be_read_is_told)
{
    struct tts_jsonpull *json = NULL;
    struct tts_error err = {0};
    struct tts_jsonpull_token token;
    int fd = open("/", O_RDONLY | O_CLOEXEC);
    T_EQ(tts_jsonpull_new(&(struct tts_jsonpull_source){.fd = fd}, NULL, &json, &err), TTS_OK);
    T_EQ(tts_jsonpull_next(json, &token, &err), TTS_E_IO);
    T_TRUE(err.sys_errno != 0);
    tts_jsonpull_free(json);
    close(fd);
}

/* ---- long strings ---- */

static char *long_string(size_t len, const char *behind)
{
    char *text = malloc(len + 2 + strlen(behind) + 1);
    T_TRUE(text != NULL);
    text[0] = '"';
    for (size_t i = 0; i < len; i++)
        text[1 + i] = (char)('a' + i % 26);
    text[1 + len] = '"';
    memcpy(text + len + 2, behind, strlen(behind) + 1);
    return text;
}

T_TEST(a_string_longer_than_the_window_is_told_by_its_beginning)
{
    static const size_t lengths[] = {
        TTS_JSONPULL_TEXT_MAX - 1,       TTS_JSONPULL_TEXT_MAX,
        TTS_JSONPULL_TEXT_MAX + 1,       TTS_JSONPULL_WINDOW_MIN - 2,
        TTS_JSONPULL_WINDOW_MIN - 1,     TTS_JSONPULL_WINDOW_MIN,
        TTS_JSONPULL_WINDOW_MIN * 3 + 5, 100000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        char *text = long_string(lengths[i], "x");
        for (size_t k = 0; k < PIECES; k++) {
            struct tts_jsonpull *json = json_of(text, strlen(text), pieces[k]);
            struct tts_jsonpull_token token;
            struct tts_error err = {0};
            T_EQ(tts_jsonpull_next(json, &token, &err), TTS_OK);
            T_EQ(token.is_cut, lengths[i] > TTS_JSONPULL_TEXT_MAX);
            T_EQ(token.len, token.is_cut ? TTS_JSONPULL_TEXT_MAX : lengths[i]);
            T_MEM_EQ(token.text, text + 1, token.len);
            T_EQ(tts_jsonpull_at(json, &err, TTS_E_SYNTAX), TTS_E_SYNTAX);
            T_EQ(err.offset, 0);
            T_EQ(tts_jsonpull_next(json, &token, &err), TTS_E_SYNTAX);
            T_EQ(err.offset, lengths[i] + 2);
            tts_jsonpull_free(json);
        }
        free(text);
    }
}

T_TEST(a_long_key_and_blanks_without_end_do_not_fill_the_window)
{
    enum { KEY = 3 * TTS_JSONPULL_TEXT_MAX, BLANKS = 2 * TTS_JSONPULL_WINDOW_MIN };
    static char text[KEY + BLANKS + 16];
    size_t lengths[] = {3, KEY};
    for (size_t i = 0; i < 2; i++) {
        size_t len = lengths[i];
        text[0] = '{';
        text[1] = '"';
        memset(text + 2, 'k', len);
        text[2 + len] = '"';
        memset(text + 3 + len, '\n', BLANKS);
        memcpy(text + 3 + len + BLANKS, ": 1 }", 5);
        struct tts_jsonpull *json = json_of(text, len + BLANKS + 8, 1000);
        struct tts_jsonpull_token token;
        T_EQ(tts_jsonpull_next(json, &token, NULL), TTS_OK);
        T_EQ(tts_jsonpull_next(json, &token, NULL), TTS_OK);
        T_EQ(token.kind, TTS_JSONPULL_KEY);
        T_EQ(token.len, len > TTS_JSONPULL_TEXT_MAX ? TTS_JSONPULL_TEXT_MAX : len);
        T_MEM_EQ(token.text, text + 2, token.len);
        T_EQ(tts_jsonpull_next(json, &token, NULL), TTS_OK);
        T_EQ(token.value, 1);
        tts_jsonpull_mark(json);
        T_EQ(tts_jsonpull_marked_line(json), BLANKS + 1);
        T_EQ(tts_jsonpull_marked_offset(json), len + BLANKS + 5);
        tts_jsonpull_free(json);
    }
}

T_TEST(a_number_has_an_end)
{
    static char text[TTS_JSONPULL_TEXT_MAX + 2], out[8192];
    struct tts_error err = {0};
    memset(text, '1', sizeof text);
    for (size_t k = 0; k < PIECES; k++) {
        T_EQ(walk(text, TTS_JSONPULL_TEXT_MAX, pieces[k], out, sizeof out, &err), TTS_OK);
        T_EQ(walk(text, TTS_JSONPULL_TEXT_MAX + 1, pieces[k], out, sizeof out, &err),
             TTS_E_SYNTAX);
    }
}

/* ---- escapes ---- */

static void resolves(const char *text, const char *bytes, size_t len)
{
    char out[64];
    struct tts_jsonpull_token token = {
        .kind = TTS_JSONPULL_STRING, .text = text, .len = strlen(text)};
    T_EQ(tts_jsonpull_text(&token, out, sizeof out), len);
    T_MEM_EQ(out, bytes, len);
    for (size_t room = 0; room < len; room++) {
        T_EQ(tts_jsonpull_text(&token, out, room), room);
        T_MEM_EQ(out, bytes, room);
    }
}

T_TEST(escapes_are_resolved_and_all_else_is_passed_on)
{
    resolves("", "", 0);
    resolves("plain", "plain", 5);
    resolves("a\\\"b\\\\c\\/d", "a\"b\\c/d", 7);
    resolves("\\b\\f\\n\\r\\t", "\b\f\n\r\t", 5);
    resolves("\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac", 6);
    resolves("\\ud83d\\ude00", "\xf0\x9f\x98\x80", 4);
    resolves("\\u0000x", "\0x", 2);
    resolves("\\ud83dx", "\xef\xbf\xbdx", 4);
    resolves("\\ude00\\ud83d", "\xef\xbf\xbd\xef\xbf\xbd", 6);
    resolves("\\ud83d\\u0041",
             "\xef\xbf\xbd"
             "A",
             4);
    resolves("\\ud83d\\uf000", "\xef\xbf\xbd\xef\x80\x80", 6);
    resolves("\\x\\u12\\", "\\x\\u12\\", 7);
    resolves("\xff\xc3", "\xff\xc3", 2);
}

/* ---- skipping ---- */

struct maker {
    char *text;
    size_t len, room;
    uint64_t rng;
};

static void put(struct maker *maker, const char *text)
{
    size_t len = strlen(text);
    if (maker->len + len <= maker->room) {
        memcpy(maker->text + maker->len, text, len);
        maker->len += len;
    }
}

static void put_blanks(struct maker *maker)
{
    static const char *const blanks[] = {
        "", "", "", " ", "\n", "\r\n\t  ", "                  "};
    put(maker, blanks[t_random(&maker->rng) % 7]);
}

static void put_string(struct maker *maker)
{
    static const char *const parts[] = {
        "a", "\\\"",    "\\\\",           "]",   "{", "[[[", "}}}", ",", ":",
        " ", "\\u0041", "memory_config=", "\xc3"};
    put(maker, "\"");
    for (uint64_t i = t_random(&maker->rng) % 30; i > 0; i--)
        put(maker, parts[t_random(&maker->rng) % 13]);
    put(maker, "\"");
}

static void put_value(struct maker *maker, int depth)
{
    static const char *const scalars[] = {"0",    "1",     "123456", "-5",  "1.5e3",
                                          "true", "false", "null",   "\"\""};
    uint64_t what = t_random(&maker->rng) % (depth > 0 ? 8 : 4);
    put_blanks(maker);
    if (what < 2) {
        put(maker, scalars[t_random(&maker->rng) % 9]);
    } else if (what < 4) {
        put_string(maker);
    } else {
        bool is_object = what % 2;
        put(maker, is_object ? "{" : "[");
        for (uint64_t i = 0, count = t_random(&maker->rng) % 6; i < count; i++) {
            put(maker, i > 0 ? "," : "");
            put_blanks(maker);
            if (is_object) {
                put_string(maker);
                put_blanks(maker);
                put(maker, ":");
            }
            put_value(maker, depth - 1);
        }
        put_blanks(maker);
        put(maker, is_object ? "}" : "]");
    }
    put_blanks(maker);
}

/* Alternates between reading and skipping. At every skip a second reader reads the same value
 * token by token. Both must arrive at the same place. */
static void walk_in_turns(const char *text, size_t len, size_t piece, uint64_t rng)
{
    struct tts_jsonpull *quick = json_of(text, len, piece), *slow = json_of(text, len, 0);
    struct tts_jsonpull_token a = {0}, b = {0};
    struct tts_error err = {0};
    uint64_t depth = 0;
    bool skips_next = false;
    do {
        if (skips_next) {
            uint64_t open = 0;
            if (tts_jsonpull_skip(quick, &err) != TTS_OK)
                fail_msg("%.*s: %s", (int)len, text, err.text);
            do {
                T_EQ(tts_jsonpull_next(slow, &b, &err), TTS_OK);
                open += b.kind == TTS_JSONPULL_OBJECT || b.kind == TTS_JSONPULL_ARRAY;
                open -= b.kind == TTS_JSONPULL_OBJECT_END || b.kind == TTS_JSONPULL_ARRAY_END;
            } while (open > 0);
            skips_next = false;
        } else {
            bool leaves = depth > 0 && t_random(&rng) % 8 == 0;
            if (leaves && b.kind != TTS_JSONPULL_KEY) {
                uint64_t open = 1;
                T_EQ(tts_jsonpull_leave(quick, &err), TTS_OK);
                while (open > 0) {
                    T_EQ(tts_jsonpull_next(slow, &b, &err), TTS_OK);
                    open += b.kind == TTS_JSONPULL_OBJECT || b.kind == TTS_JSONPULL_ARRAY;
                    open -=
                        b.kind == TTS_JSONPULL_OBJECT_END || b.kind == TTS_JSONPULL_ARRAY_END;
                }
                depth--;
            } else {
                bool in_object = b.kind == TTS_JSONPULL_OBJECT;
                T_EQ(in_object ? tts_jsonpull_key(quick, &a, &err)
                               : tts_jsonpull_next(quick, &a, &err),
                     TTS_OK);
                T_EQ(tts_jsonpull_next(slow, &b, &err), TTS_OK);
                T_EQ(a.kind, b.kind);
                depth += b.kind == TTS_JSONPULL_OBJECT || b.kind == TTS_JSONPULL_ARRAY;
                depth -= b.kind == TTS_JSONPULL_OBJECT_END || b.kind == TTS_JSONPULL_ARRAY_END;
                if (b.kind == TTS_JSONPULL_KEY || b.kind == TTS_JSONPULL_STRING ||
                    b.kind == TTS_JSONPULL_NUMBER) {
                    T_EQ(a.len, b.len);
                    T_MEM_EQ(a.text, b.text, a.len);
                }
                skips_next = b.kind == TTS_JSONPULL_KEY && t_random(&rng) % 2;
            }
        }
        T_EQ(tts_jsonpull_offset(quick), tts_jsonpull_offset(slow));
    } while (b.kind != TTS_JSONPULL_END);
    tts_jsonpull_free(quick);
    tts_jsonpull_free(slow);
}

T_TEST(skipping_comes_to_where_reading_does)
{
    static char text[64 * 1024];
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct maker maker = {.text = text, .room = sizeof text, .rng = seed * 77};
        put_value(&maker, 5);
        T_TRUE(maker.len < sizeof text);
        for (size_t i = 0; i < PIECES; i++)
            walk_in_turns(text, maker.len, pieces[i], seed);
    }
}

T_TEST(a_number_that_is_skipped_is_one)
{
    static const struct {
        const char *text;
        bool is_number;
    } cases[] = {{"{\"a\":0,", true},   {"{\"a\":10}", true},  {"{\"a\":-1.5,", true},
                 {"{\"a\": 7 }", true}, {"{\"a\":01,", false}, {"{\"a\":1.,", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tts_jsonpull *json = json_of(cases[i].text, strlen(cases[i].text), 0);
        struct tts_jsonpull_token token;
        T_EQ(tts_jsonpull_next(json, &token, NULL), TTS_OK);
        T_EQ(tts_jsonpull_key(json, &token, NULL), TTS_OK);
        T_EQ(tts_jsonpull_skip(json, NULL), cases[i].is_number ? TTS_OK : TTS_E_SYNTAX);
        tts_jsonpull_free(json);
    }
}

T_TEST(what_is_cut_off_anywhere_is_refused_by_skipping_too)
{
    static const char text[] =
        "{\"a\":[1,{\"b\":\"]}\\\"\"},[\"c\",[\"" /* this value is longer than 64 bytes */
        "0123456789012345678901234567890123456789012345678901234567890\"]"
        "]],\"d\":null}";
    for (size_t len = 0; len < sizeof text - 1; len++) {
        for (size_t i = 0; i < PIECES; i++) {
            struct tts_jsonpull *json = json_of(text, len, pieces[i]);
            struct tts_error err = {0};
            T_EQ(tts_jsonpull_skip(json, &err), TTS_E_SYNTAX);
            T_EQ(err.offset, len);
            tts_jsonpull_free(json);
        }
    }
}

T_TEST(an_escape_outside_of_a_string_is_seen_wherever_the_window_ends)
{
    static const char text[] =
        "[\"a\", \\\"b\", \"0123456789012345678901234567890123456789012345"
        "678901234567890123456789012345678901234567890123456789\"]";
    for (size_t i = 0; i < PIECES; i++) {
        struct tts_jsonpull *json = json_of(text, sizeof text - 1, pieces[i]);
        struct tts_error err = {0};
        T_EQ(tts_jsonpull_skip(json, &err), TTS_E_SYNTAX);
        T_EQ(err.offset, 6);
        tts_jsonpull_free(json);
    }
}

T_TEST(skipping_sees_brackets_that_do_not_match)
{
    static const char *const texts[] = {
        "[1}",
        "{\"a\":[}",
        "[\\]",
        "[\"x\"|]",
        "[\"x\"}",
        "[[]",
        ("[\"012345678901234567890123456789012345678901234567890123456789"
         "01234567890123456789\",1}")};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct tts_jsonpull *json = json_of(texts[i], strlen(texts[i]), 0);
        struct tts_error err = {0};
        T_EQ(tts_jsonpull_skip(json, &err), TTS_E_SYNTAX);
        tts_jsonpull_free(json);
    }
}

/* ---- lines ---- */

T_TEST(lines_are_counted_wherever_they_are)
{
    enum { LINES = 20000 };
    static char text[3 * LINES + 8];
    size_t len = 0;
    text[len++] = '[';
    for (int i = 0; i < LINES; i++) {
        if (i > 0)
            text[len++] = ',';
        text[len++] = '\n';
        text[len++] = '1';
    }
    text[len++] = ']';
    struct tts_jsonpull *json = json_of(text, len, 0);
    struct tts_jsonpull_token token;
    T_EQ(tts_jsonpull_next(json, &token, NULL), TTS_OK);
    for (uint64_t i = 0; i < LINES; i++) {
        T_EQ(tts_jsonpull_next(json, &token, NULL), TTS_OK);
        tts_jsonpull_mark(json);
        if (i % 777 == 0)
            T_EQ(tts_jsonpull_marked_line(json), i + 2);
    }
    T_EQ(tts_jsonpull_marked_line(json), LINES + 1);
    T_EQ(tts_jsonpull_marked_line(json), LINES + 1);
    tts_jsonpull_free(json);
}

T_TEST(a_file_is_read_behind_what_was_read_before)
{
    const char *path = t_scratch("file.json");
    FILE *file = fopen(path, "w");
    T_TRUE(file != NULL);
    fputs("2, 3]", file);
    fclose(file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct tts_jsonpull *json = NULL;
    struct tts_jsonpull_source source = {
        .before = (const unsigned char *)"[1,", .before_len = 3, .fd = fd};
    T_EQ(tts_jsonpull_new(&source, NULL, &json, NULL), TTS_OK);
    struct tts_jsonpull_token token;
    T_EQ(tts_jsonpull_next(json, &token, NULL), TTS_OK);
    for (uint64_t i = 1; i <= 3; i++) {
        T_EQ(tts_jsonpull_next(json, &token, NULL), TTS_OK);
        T_EQ(token.value, i);
    }
    T_EQ(tts_jsonpull_next(json, &token, NULL), TTS_OK);
    T_EQ(tts_jsonpull_next(json, &token, NULL), TTS_OK);
    T_EQ(token.kind, TTS_JSONPULL_END);
    T_EQ(tts_jsonpull_offset(json), 8);
    tts_jsonpull_free(json);
    close(fd);
}

T_TEST(without_memory_there_is_no_reader)
{
    struct heap heap;
    struct tts_jsonpull *json = NULL;
    struct tts_jsonpull_source source = {.fd = -1};
    heap_init(&heap);
    for (heap.fail_at = 1; heap.fail_at <= 2; heap.fail_at++) {
        heap.calls = 0;
        T_EQ(tts_jsonpull_new(&source, &heap.alloc, &json, NULL), TTS_E_NOMEM);
        T_TRUE(json == NULL);
    }
    heap.calls = 0;
    T_EQ(tts_jsonpull_new(&source, &heap.alloc, &json, NULL), TTS_OK);
    tts_jsonpull_free(json);
    tts_jsonpull_free(NULL);
    T_TRUE(heap_is_settled(&heap));
}
