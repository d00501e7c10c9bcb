#include "sources/json_pull.h"

#include "base/number.h"

#include <assert.h>
#include <string.h>

enum { REPLACEMENT = 0xfffd, UNIT_BYTES = 6 }; /* "\uXXXX" */

/* The number in "\uXXXX" at `at`; false: there is none. */
static bool read_unit(const char *at, const char *end, uint32_t *out)
{
    uint64_t value;
    if (end - at < UNIT_BYTES || at[0] != '\\' || at[1] != 'u' ||
        tts_number_parse_hex(at + 2, UNIT_BYTES - 2, &value) != TTS_OK)
        return false;
    *out = (uint32_t)value;
    return true;
}

static size_t write_utf8(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

static uint32_t join(uint32_t high, uint32_t low)
{
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/* The escape at *at, a backslash, in UTF-8; *at goes behind it. */
static size_t read_escape(const char **at, const char *end, char out[4])
{
    static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    uint32_t unit, low;
    if (read_unit(*at, end, &unit)) {
        *at += UNIT_BYTES;
        bool is_high = unit >= 0xd800 && unit < 0xdc00;
        if (is_high && read_unit(*at, end, &low) && low >= 0xdc00 && low < 0xe000) {
            *at += UNIT_BYTES;
            return write_utf8(join(unit, low), out);
        }
        return write_utf8(unit >= 0xd800 && unit < 0xe000 ? REPLACEMENT : unit, out);
    }
    const char *letter =
        end - *at > 1 && (*at)[1] ? memchr(letters, (*at)[1], sizeof letters - 1) : NULL;
    out[0] = letter ? means[letter - letters] : '\\';
    *at += letter ? 2 : 1;
    return 1;
}

size_t tts_jsonpull_text(const struct tts_jsonpull_token *token, char *out, size_t capacity)
{
    assert(token->kind == TTS_JSONPULL_KEY || token->kind == TTS_JSONPULL_STRING);
    const char *at = token->text, *end = at + token->len;
    size_t len = 0;
    while (at < end && len < capacity) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((escape ? escape : end) - at);
        size_t taken = plain < capacity - len ? plain : capacity - len;
        memcpy(out + len, at, taken);
        len += taken;
        at += plain;
        if (at == end || len == capacity)
            break;
        char bytes[4];
        size_t count = read_escape(&at, end, bytes);
        for (size_t i = 0; i < count && len < capacity; i++)
            out[len++] = bytes[i];
    }
    return len;
}
