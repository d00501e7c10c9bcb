#include "views/rowout.h"

#include "base/compiler.h"
#include "base/number.h"
#include "views/utf8.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

void tts_rowout_init(struct tts_rowout *rows, FILE *out)
{
    rows->out = out;
    rows->used = 0;
}

void tts_rowout_flush(struct tts_rowout *rows)
{
    fwrite(rows->buffer, 1, rows->used, rows->out);
    rows->used = 0;
}

void tts_rowout_put(struct tts_rowout *rows, const char *bytes, size_t len)
{
    assert(rows->used <= TTS_ROWOUT_BUFFER);
    if (TTS_UNLIKELY(len > TTS_ROWOUT_BUFFER - rows->used)) {
        tts_rowout_flush(rows);
        if (len > TTS_ROWOUT_BUFFER) {
            fwrite(bytes, 1, len, rows->out);
            return;
        }
    }
    memcpy(rows->buffer + rows->used, bytes, len);
    rows->used += len;
}

void tts_rowout_text(struct tts_rowout *rows, const char *text)
{
    tts_rowout_put(rows, text, strlen(text));
}

void tts_rowout_number(struct tts_rowout *rows, uint64_t value)
{
    char digits[TTS_NUMBER_MAX];
    tts_rowout_put(rows, digits, tts_number_format(digits, value));
}

void tts_rowout_hex(struct tts_rowout *rows, uint64_t value)
{
    char text[2 + 16] = "0x";
    int digits = value == 0 ? 1 : (67 - __builtin_clzll(value)) / 4;
    assert(digits >= 1 && digits <= 16);
    tts_number_format_hex(text + 2, value, digits);
    tts_rowout_put(rows, text, 2 + (size_t)digits);
}

void tts_rowout_micros(struct tts_rowout *rows, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);
    char decimals[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                        (char)('0' + rest % 10)};
    tts_rowout_number(rows, ns / 1000);
    tts_rowout_put(rows, decimals, sizeof decimals);
}

static const char replacement[] = "\xef\xbf\xbd";

/* Returns how many bytes at the start need no escape in any format. */
static size_t plain_length(const char *text, size_t len)
{
    size_t i = 0;
    while (i < len && text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' && text[i] != '\\' &&
           text[i] != ',')
        i++;
    return i;
}

static void put_json_code(struct tts_rowout *rows, const char *text, size_t used, uint32_t code)
{
    char escape[6] = {'\\', 'u'};
    if (code == '"' || code == '\\') {
        escape[1] = (char)code;
        tts_rowout_put(rows, escape, 2);
    } else if (code < 0x20 || code == 0x7f || code == TTS_UTF8_REPLACEMENT) {
        tts_number_format_hex(escape + 2, code, 4);
        tts_rowout_put(rows, escape, sizeof escape);
    } else {
        tts_rowout_put(rows, text, used);
    }
}

void tts_rowout_json(struct tts_rowout *rows, const char *text, size_t len)
{
    tts_rowout_put(rows, "\"", 1);
    for (size_t i = 0; i < len;) {
        size_t plain = plain_length(text + i, len - i);
        tts_rowout_put(rows, text + i, plain);
        i += plain;
        if (i == len)
            break;
        uint32_t code;
        size_t used = tts_utf8_next(text + i, len - i, &code);
        put_json_code(rows, text + i, used, code);
        i += used;
    }
    tts_rowout_put(rows, "\"", 1);
}

static void put_csv_code(struct tts_rowout *rows, const char *text, size_t used, uint32_t code)
{
    bool is_control = (code < 0x20 && code != '\t' && code != '\n' && code != '\r') ||
                      (code >= 0x7f && code < 0xa0);
    if (code == '"')
        tts_rowout_put(rows, "\"\"", 2);
    else if (is_control || code == TTS_UTF8_REPLACEMENT)
        tts_rowout_put(rows, replacement, sizeof replacement - 1);
    else
        tts_rowout_put(rows, text, used);
}

void tts_rowout_csv(struct tts_rowout *rows, const char *text, size_t len)
{
    if (len == 0)
        return;
    bool is_plain = plain_length(text, len) == len;
    bool is_formula = memchr("=+-@\t\r", text[0], 6) != NULL;
    tts_rowout_text(rows, is_plain ? "" : "\"");
    tts_rowout_text(rows, is_formula ? "'" : "");
    for (size_t i = 0; i < len;) {
        size_t plain = plain_length(text + i, len - i);
        tts_rowout_put(rows, text + i, plain);
        i += plain;
        if (i == len)
            break;
        uint32_t code;
        size_t used = tts_utf8_next(text + i, len - i, &code);
        put_csv_code(rows, text + i, used, code);
        i += used;
    }
    tts_rowout_text(rows, is_plain ? "" : "\"");
}
