#include "sources/trainfile_inside.h"

#include "base/error.h"
#include "base/number.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

enum { DIGITS_MAX = 64 };

static bool is_any_of(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

static bool is_true(const char *text)
{
    static const char *const words[] = {"true", "yes", "on"};
    return is_any_of(text, words, sizeof words / sizeof words[0]);
}

static bool is_false(const char *text)
{
    static const char *const words[] = {"false", "no", "off"};
    return is_any_of(text, words, sizeof words / sizeof words[0]);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool tts_train_is_null(const struct tts_yaml_token *token)
{
    static const char *const words[] = {"null", "~"};
    return token->kind == TTS_YAML_SCALAR && !token->quoted &&
           is_any_of(token->text, words, sizeof words / sizeof words[0]);
}

bool tts_train_is_meant(const struct tts_yaml_token *token)
{
    if (token->kind != TTS_YAML_SCALAR)
        return true;
    return !tts_train_is_null(token) && !is_false(token->text) && token->text[0] != '\0' &&
           strcmp(token->text, "0") != 0;
}

enum tts_status tts_train_refuse(struct tts_error *err, enum tts_status status,
                                 const char *name, const char *what,
                                 const struct tts_yaml_token *token)
{
    assert(status != TTS_OK);
    const char *is = token->kind == TTS_YAML_LIST ? "a list" : "a map";
    bool cut = strlen(token->text) > TTS_TRAINFILE_QUOTE_MAX;
    if (token->kind == TTS_YAML_SCALAR)
        tts_error_set(err, status, "'%s' must be %s, and is '%.*s%s'", name, what,
                      TTS_TRAINFILE_QUOTE_MAX, token->text, cut ? "..." : "");
    else
        tts_error_set(err, status, "'%s' must be %s, and is %s", name, what, is);
    return tts_yaml_at_line(err, token->line, status);
}

/* YAML lets an underscore stand between digits. False: not digits, or more than 64 bits have.
 */
static bool without_underscores(const char *text, char out[DIGITS_MAX + 1])
{
    size_t len = 0;
    for (const char *c = text; *c; c++) {
        if (*c == '_' && c > text && is_digit(c[-1]) && is_digit(c[1]))
            continue;
        if (len == DIGITS_MAX)
            return false;
        out[len++] = *c;
    }
    out[len] = '\0';
    return true;
}

/* "010" is 8 to programs that read YAML 1.1, and 10 to those who write it. */
static enum tts_status parse_number(const char *text, uint64_t *out)
{
    char digits[DIGITS_MAX + 1];
    uint64_t ignored;
    if (!without_underscores(text, digits))
        return TTS_E_SYNTAX;
    size_t len = strlen(digits);
    if (digits[0] == '-' && tts_number_parse(digits + 1, len - 1, &ignored) != TTS_E_SYNTAX)
        return TTS_E_RANGE;
    if (digits[0] == '0' && len > 1)
        return TTS_E_SYNTAX;
    return tts_number_parse(digits, len, out);
}

enum tts_status tts_train_number(const struct tts_yaml_token *token, const char *name,
                                 uint64_t *out, struct tts_error *err)
{
    enum tts_status status = token->kind != TTS_YAML_SCALAR || token->too_long
                                 ? TTS_E_SYNTAX
                                 : parse_number(token->text, out);
    if (status == TTS_OK)
        return TTS_OK;
    return tts_train_refuse(err, status, name, "a whole number below 2^64, in decimal digits",
                            token);
}

enum { EXPONENT_MAX = 1000 }; /* more than the digits of any scalar */

/* How many; *first is where the first is that is not 0, and stays where there is none. */
static size_t count_digits(const char *text, size_t *first)
{
    size_t count = 0;
    bool is_found = false;
    for (; is_digit(text[count]); count++)
        if (text[count] != '0' && !is_found) {
            *first = count;
            is_found = true;
        }
    return count;
}

/* Reads past "e-3"; what is too large to matter is cut. */
static enum tts_status parse_exponent(const char **text, int *out)
{
    const char *at = *text;
    *out = 0;
    if (*at != 'e' && *at != 'E')
        return TTS_OK;
    bool is_negative = at[1] == '-';
    at += at[1] == '+' || is_negative ? 2 : 1;
    if (!is_digit(*at))
        return TTS_E_SYNTAX;
    for (; is_digit(*at); at++)
        *out = *out < EXPONENT_MAX ? *out * 10 + (*at - '0') : *out;
    *out = is_negative ? -*out : *out;
    *text = at;
    return TTS_OK;
}

/* Digits with a point among or around them, then perhaps an exponent; below 1. */
static enum tts_status parse_real(const char *text, uint64_t *out)
{
    bool is_negative = text[0] == '-';
    size_t first = SIZE_MAX, first_part = SIZE_MAX, part = 0;
    int exponent;
    text += is_negative;
    size_t whole = count_digits(text, &first);
    text += whole;
    if (*text == '.') {
        part = count_digits(text + 1, &first_part);
        text += 1 + part;
    }
    if (whole + part == 0 || parse_exponent(&text, &exponent) != TTS_OK || *text != '\0')
        return TTS_E_SYNTAX;
    bool is_any = first != SIZE_MAX || first_part != SIZE_MAX;
    /* As 0.d... times ten to this. */
    int power = exponent + (first != SIZE_MAX        ? (int)(whole - first)
                            : first_part != SIZE_MAX ? -(int)first_part
                                                     : 0);
    if (is_negative || (is_any && power > 0))
        return TTS_E_RANGE;
    *out = is_any;
    return TTS_OK;
}

static enum tts_status read_bool(const struct tts_yaml_token *token, const char *name,
                                 uint64_t *out, struct tts_error *err)
{
    bool is_set = token->kind == TTS_YAML_SCALAR && is_true(token->text);
    if (!is_set && (token->kind != TTS_YAML_SCALAR || !is_false(token->text)))
        return tts_train_refuse(err, TTS_E_SYNTAX, name, "true or false", token);
    *out = is_set;
    return TTS_OK;
}

static enum tts_status read_real(const struct tts_yaml_token *token, const char *name,
                                 uint64_t *out, struct tts_error *err)
{
    enum tts_status status = token->kind != TTS_YAML_SCALAR || token->too_long
                                 ? TTS_E_SYNTAX
                                 : parse_real(token->text, out);
    if (status != TTS_OK)
        return tts_train_refuse(err, status, name, "a decimal number from 0 to below 1", token);
    return TTS_OK;
}

static enum tts_status read_text(const struct tts_yaml_token *token, const char *name,
                                 char out[TTS_TRAINFILE_TEXT_MAX], struct tts_error *err)
{
    static_assert(TTS_YAML_SCALAR_MAX + 1 == TTS_TRAINFILE_TEXT_MAX, "one holds the other");
    if (token->kind != TTS_YAML_SCALAR || token->control)
        return tts_train_refuse(err, TTS_E_SYNTAX, name, "one line of text", token);
    if (token->too_long)
        return tts_train_refuse(err, TTS_E_RANGE, name, "text of at most 511 bytes", token);
    memcpy(out, token->bytes, TTS_TRAINFILE_TEXT_MAX);
    return TTS_OK;
}

/* A text that is not there is as null: it has no length that could be wrong. */
static bool is_absent(const struct tts_train_known *known, const struct tts_yaml_token *token)
{
    return tts_train_is_null(token) || (known->target == TTS_TYPE_TEXT && !token->control &&
                                        token->kind == TTS_YAML_SCALAR && !token->text[0]);
}

enum tts_status tts_train_value(const struct tts_train_known *known,
                                const struct tts_yaml_token *token,
                                struct tts_trainfile_value *out, struct tts_error *err)
{
    assert(known->action == TTS_ACT_VALUE);
    if (is_absent(known, token))
        return TTS_OK;
    struct tts_trainfile_value value = {
        .is_set = true, .key = known->name, .file = out->file, .line = token->line};
    enum tts_status status = TTS_OK;
    switch ((enum tts_train_type)known->target) {
    case TTS_TYPE_NUMBER:
        status = tts_train_number(token, known->name, &value.number, err);
        break;
    case TTS_TYPE_BOOL:
        status = read_bool(token, known->name, &value.number, err);
        break;
    case TTS_TYPE_REAL:
        status = read_real(token, known->name, &value.number, err);
        break;
    case TTS_TYPE_TEXT:
        status = read_text(token, known->name, value.text, err);
        break;
    }
    if (status == TTS_OK)
        *out = value;
    return status;
}
