#include "sources/json_inside.h"

#include "base/error.h"
#include "base/number.h"

#include <string.h>

/* ---- what is wrong ---- */

const char *tts_jsonpull_expected(const struct tts_jsonpull *json)
{
    switch (json->expect) {
    case TTS_JSONPULL_VALUE:
        return "a value";
    case TTS_JSONPULL_FIRST:
        return "a value or ']'";
    case TTS_JSONPULL_FIRST_KEY:
        return "a key or '}'";
    case TTS_JSONPULL_NEXT_KEY:
        return "a key";
    case TTS_JSONPULL_COMMA:
        break;
    }
    if (json->depth == 0)
        return "the end of the file";
    uint32_t top = json->depth - 1;
    return json->is_object[top / 64] >> top % 64 & 1 ? "',' or '}'" : "',' or ']'";
}

enum tts_status tts_jsonpull_unexpected(struct tts_jsonpull *json, const unsigned char *p,
                                        const char *wanted, struct tts_error *err)
{
    if (p == json->end)
        tts_error_set(err, TTS_E_SYNTAX, "JSON is cut off: expected %s", wanted);
    else if (*p > ' ' && *p <= '~')
        tts_error_set(err, TTS_E_SYNTAX, "not JSON: expected %s, got '%c'", wanted, *p);
    else
        tts_error_set(err, TTS_E_SYNTAX, "not JSON: expected %s, got byte %02x", wanted, *p);
    return tts_jsonpull_fail(json, p, err, TTS_E_SYNTAX);
}

/* ---- numbers and words ---- */

static const unsigned char *pass_digits(const unsigned char *p)
{
    while (tts_jsonpull_is_digit(*p))
        p++;
    return p;
}

/* From the first byte to behind the last of what can be a number; NULL: it cannot. */
static const unsigned char *number_end(const unsigned char *p)
{
    p += *p == '-';
    const unsigned char *digits = p;
    p = pass_digits(p);
    if (p == digits || (*digits == '0' && p > digits + 1))
        return NULL;
    if (*p == '.') {
        digits = ++p;
        p = pass_digits(p);
        if (p == digits)
            return NULL;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '+' || *p == '-';
        digits = p;
        p = pass_digits(p);
        if (p == digits)
            return NULL;
    }
    return p;
}

enum tts_status tts_jsonpull_read_number(struct tts_jsonpull *json,
                                         struct tts_jsonpull_token *out, struct tts_error *err)
{
    const unsigned char *p = json->token;
    while (tts_jsonpull_is_digit(*p) || *p == '-' || *p == '+' || *p == '.' || *p == 'e' ||
           *p == 'E')
        p++;
    while (p == json->end && !json->at_eof && p - json->token <= TTS_JSONPULL_TEXT_MAX) {
        enum tts_status status = tts_jsonpull_fill(json, &p, err);
        if (status != TTS_OK)
            return status;
        while (tts_jsonpull_is_digit(*p) || *p == '-' || *p == '+' || *p == '.' || *p == 'e' ||
               *p == 'E')
            p++;
    }
    const unsigned char *end = number_end(json->token);
    if (!end || p - json->token > TTS_JSONPULL_TEXT_MAX) {
        tts_error_set(err, TTS_E_SYNTAX, "not JSON: a number that cannot be");
        return tts_jsonpull_fail(json, json->token, err, TTS_E_SYNTAX);
    }
    out->text = (const char *)json->token;
    out->len = (size_t)(end - json->token);
    out->is_whole = tts_number_parse(out->text, out->len, &out->value) == TTS_OK;
    json->at = end;
    return TTS_OK;
}

enum tts_status tts_jsonpull_read_word(struct tts_jsonpull *json,
                                       struct tts_jsonpull_token *out, struct tts_error *err)
{
    static const struct {
        const char *text;
        enum tts_jsonpull_kind kind;
    } words[] = {{"true", TTS_JSONPULL_TRUE},
                 {"false", TTS_JSONPULL_FALSE},
                 {"null", TTS_JSONPULL_NULL}};
    const unsigned char *p = json->token;
    while (json->end - json->token < 5 && !json->at_eof) {
        enum tts_status status = tts_jsonpull_fill(json, &p, err);
        if (status != TTS_OK)
            return status;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t len = strlen(words[i].text);
        size_t there = (size_t)(json->end - json->token);
        if (there >= len && memcmp(json->token, words[i].text, len) == 0) {
            out->kind = words[i].kind;
            json->at = json->token + len;
            json->expect = TTS_JSONPULL_COMMA;
            return TTS_OK;
        }
        if (there > 0 && there < len && memcmp(json->token, words[i].text, there) == 0)
            return tts_jsonpull_unexpected(json, json->end, tts_jsonpull_expected(json), err);
    }
    return tts_jsonpull_unexpected(json, json->token, tts_jsonpull_expected(json), err);
}
