#include "views/json.h"

#include "base/number.h"
#include "views/utf8.h"

#include <assert.h>
#include <string.h>

void tts_json_init(struct tts_json *json, FILE *out)
{
    json->out = out;
    json->depth = 0;
    json->is_one_line = false;
    json->used = 0;
}

static void flush_json(struct tts_json *json)
{
    fwrite(json->buffer, 1, json->used, json->out);
    json->used = 0;
}

static void put_json_bytes(struct tts_json *json, const char *bytes, size_t len)
{
    while (len > 0) {
        size_t room = sizeof json->buffer - json->used;
        size_t part = len < room ? len : room;
        memcpy(json->buffer + json->used, bytes, part);
        json->used += part;
        if (json->used == sizeof json->buffer)
            flush_json(json);
        bytes += part;
        len -= part;
    }
}

static void put_json_char(struct tts_json *json, char c)
{
    put_json_bytes(json, &c, 1);
}

static void put_json_literal(struct tts_json *json, const char *text)
{
    put_json_bytes(json, text, strlen(text));
}

static void put_json_number(struct tts_json *json, uint64_t value)
{
    char digits[TTS_NUMBER_MAX];
    put_json_bytes(json, digits, tts_number_format(digits, value));
}

/* Writes the last `digits` hexadecimal digits. */
static void put_json_hex(struct tts_json *json, uint64_t value, int digits)
{
    char text[16];
    tts_number_format_hex(text, value, digits);
    put_json_bytes(json, text, (size_t)digits);
}

static void put_json_string(struct tts_json *json, const char *text)
{
    size_t len = strlen(text);
    put_json_char(json, '"');
    for (size_t i = 0; i < len;) {
        uint32_t code;
        size_t used = tts_utf8_next(text + i, len - i, &code);
        if (code == '"' || code == '\\') {
            put_json_char(json, '\\');
            put_json_char(json, (char)code);
        } else if (code < 0x20 || code == 0x7f || code == TTS_UTF8_REPLACEMENT) {
            put_json_literal(json, "\\u");
            put_json_hex(json, code, 4);
        } else {
            put_json_bytes(json, text + i, used);
        }
        i += used;
    }
    put_json_char(json, '"');
}

static void put_json_line_break(struct tts_json *json)
{
    put_json_char(json, '\n');
    for (unsigned i = 0; i < json->depth; i++)
        put_json_bytes(json, "  ", 2);
}

/* Writes the text before every element: comma, line break, key. */
static void begin_json_element(struct tts_json *json, const char *key)
{
    if (json->depth > 0) {
        bool *filled = &json->filled[json->depth - 1];
        if (*filled)
            put_json_char(json, ',');
        if (json->depth <= TTS_JSON_DEPTH_LINES && !json->is_one_line)
            put_json_line_break(json);
        else if (*filled)
            put_json_char(json, ' ');
        *filled = true;
    }
    if (key) {
        put_json_char(json, '"');
        put_json_literal(json, key);
        put_json_bytes(json, "\": ", 3);
    }
}

static void begin_json_container(struct tts_json *json, const char *key, char bracket)
{
    begin_json_element(json, key);
    put_json_char(json, bracket);
    assert(json->depth < TTS_JSON_DEPTH_MAX);
    json->filled[json->depth++] = false;
}

static void end_json_container(struct tts_json *json, char bracket)
{
    assert(json->depth > 0);
    bool filled = json->filled[--json->depth];
    if (filled && json->depth < TTS_JSON_DEPTH_LINES && !json->is_one_line)
        put_json_line_break(json);
    put_json_char(json, bracket);
    if (json->depth == 0) {
        put_json_char(json, '\n');
        flush_json(json);
    }
}

void tts_json_object(struct tts_json *json, const char *key)
{
    begin_json_container(json, key, '{');
}

void tts_json_array(struct tts_json *json, const char *key)
{
    begin_json_container(json, key, '[');
}

void tts_json_object_end(struct tts_json *json)
{
    end_json_container(json, '}');
}

void tts_json_array_end(struct tts_json *json)
{
    end_json_container(json, ']');
}

void tts_json_text(struct tts_json *json, const char *key, const char *text)
{
    begin_json_element(json, key);
    put_json_string(json, text);
}

void tts_json_text_or_null(struct tts_json *json, const char *key, const char *text)
{
    if (text && text[0] != '\0')
        tts_json_text(json, key, text);
    else
        tts_json_null(json, key);
}

void tts_json_number(struct tts_json *json, const char *key, uint64_t value)
{
    begin_json_element(json, key);
    put_json_number(json, value);
}

void tts_json_number_or_null(struct tts_json *json, const char *key, bool is_known,
                             uint64_t value)
{
    if (is_known)
        tts_json_number(json, key, value);
    else
        tts_json_null(json, key);
}

void tts_json_signed(struct tts_json *json, const char *key, int64_t value)
{
    begin_json_element(json, key);
    if (value < 0)
        put_json_char(json, '-');
    put_json_number(json, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void tts_json_hex(struct tts_json *json, const char *key, uint64_t value)
{
    begin_json_element(json, key);
    put_json_char(json, '"');
    put_json_hex(json, value, 16);
    put_json_char(json, '"');
}

/* Formats digit by digit, so that the result does not depend on a rounding mode or locale. */
/* Returns the length. */
static size_t format_ratio(char *out, uint64_t part, uint64_t whole)
{
    assert(whole > 0 && whole <= UINT64_MAX / 10);
    size_t len = tts_number_format(out, part / whole);
    out[len++] = '.';
    uint64_t rest = part % whole;
    for (int i = 0; i < 6; i++) {
        rest *= 10;
        out[len++] = (char)('0' + rest / whole);
        rest %= whole;
    }
    return len;
}

const char *tts_json_ratio_text(char out[TTS_JSON_RATIO_MAX], int64_t part, uint64_t whole)
{
    static_assert(TTS_JSON_RATIO_MAX >= TTS_NUMBER_MAX + 9, "sign, point, decimals, end");
    size_t len = 0;
    if (part < 0)
        out[len++] = '-';
    len += format_ratio(out + len, part < 0 ? 0 - (uint64_t)part : (uint64_t)part, whole);
    out[len] = '\0';
    return out;
}

void tts_json_ratio(struct tts_json *json, const char *key, uint64_t part, uint64_t whole)
{
    char text[TTS_JSON_RATIO_MAX];
    if (whole == 0) {
        tts_json_null(json, key);
        return;
    }
    begin_json_element(json, key);
    put_json_bytes(json, text, format_ratio(text, part, whole));
}

void tts_json_signed_ratio(struct tts_json *json, const char *key, int64_t part, uint64_t whole)
{
    char text[TTS_JSON_RATIO_MAX];
    if (whole == 0) {
        tts_json_null(json, key);
        return;
    }
    begin_json_element(json, key);
    put_json_bytes(json, text, strlen(tts_json_ratio_text(text, part, whole)));
}

void tts_json_bool(struct tts_json *json, const char *key, bool value)
{
    begin_json_element(json, key);
    put_json_literal(json, value ? "true" : "false");
}

void tts_json_null(struct tts_json *json, const char *key)
{
    begin_json_element(json, key);
    put_json_literal(json, "null");
}
