#include "views/safe_text.h"

#include "views/utf8.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool tts_charset_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *value = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !(value && value[0]); i++)
        value = getenv(names[i]);
    /* "de_DE.UTF-8@euro" */
    const char *charset = value ? strchr(value, '.') : NULL;
    if (!charset)
        return false;
    return strncasecmp(charset, ".UTF-8", 6) == 0 || strncasecmp(charset, ".utf8", 5) == 0;
}

static bool is_safe_code(uint32_t code)
{
    bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    /* Characters that change the direction, or have no width, can disguise a name. */
    bool is_hidden = (code >= 0x200b && code < 0x2010) || (code >= 0x2028 && code < 0x202f) ||
                     (code >= 0x2060 && code < 0x2070) || code == 0xfeff;
    return !is_control && !is_hidden && code != TTS_UTF8_REPLACEMENT;
}

static size_t count_text_columns(const char *text, size_t len)
{
    size_t count = 0;
    uint32_t code;
    for (size_t at = 0; at < len; count++)
        at += tts_utf8_next(text + at, len - at, &code);
    return count;
}

/* Returns the length of a text of printable ASCII, or SIZE_MAX if the text has other bytes or
 * is longer than `max`. Nearly every text is such a text. */
static size_t measure_plain(const char *text, size_t max)
{
    size_t len = 0;
    while (len <= max && text[len] >= ' ' && text[len] <= '~')
        len++;
    return len <= max && text[len] == '\0' ? len : SIZE_MAX;
}

/* Copies a text of printable ASCII that fits. Returns its columns, or SIZE_MAX. */
static size_t copy_plain(char *out, size_t capacity, const char *text, size_t columns)
{
    size_t plain = measure_plain(text, columns < capacity ? columns : capacity - 1);
    if (plain != SIZE_MAX)
        memcpy(out, text, plain + 1);
    return plain;
}

size_t tts_safe_text(char *out, size_t capacity, const char *text, size_t columns)
{
    assert(capacity > 0);
    size_t plain = copy_plain(out, capacity, text, columns);
    if (plain != SIZE_MAX)
        return plain;
    size_t len = strlen(text), to = 0, column = 0;
    bool is_cut = count_text_columns(text, len) > columns;
    size_t dots = is_cut ? (columns < 3 ? columns : 3) : 0;
    for (size_t from = 0; from < len && column < columns - dots; column++) {
        uint32_t code;
        size_t used = tts_utf8_next(text + from, len - from, &code);
        bool safe = is_safe_code(code);
        size_t bytes = safe ? used : 1;
        if (bytes + dots >= capacity - to)
            break;
        memcpy(out + to, safe ? text + from : "?", bytes);
        to += bytes;
        from += used;
    }
    for (; dots > 0 && capacity - to > 1; dots--, column++)
        out[to++] = '.';
    out[to] = '\0';
    return column;
}

size_t tts_safe_text_end(char *out, size_t capacity, const char *text, size_t columns)
{
    size_t plain = copy_plain(out, capacity, text, columns);
    if (plain != SIZE_MAX)
        return plain;
    size_t len = strlen(text), all = count_text_columns(text, len);
    if (all <= columns)
        return tts_safe_text(out, capacity, text, columns);
    bool is_utf8 = tts_charset_is_utf8();
    const char *dots = is_utf8 ? "\u2026" : "...";
    size_t dots_columns = is_utf8 ? 1 : 3;
    size_t dots_bytes = strlen(dots);
    if (columns <= dots_columns || capacity <= dots_bytes)
        return tts_safe_text(out, capacity, text, columns);
    for (size_t gone = all - (columns - dots_columns); gone > 0; gone--) {
        uint32_t code;
        size_t used = tts_utf8_next(text, len, &code);
        text += used;
        len -= used;
    }
    memcpy(out, dots, dots_bytes);
    return dots_columns +
           tts_safe_text(out + dots_bytes, capacity - dots_bytes, text, columns - dots_columns);
}

void tts_safe_text_build(char *out, size_t capacity, const char *text, size_t columns)
{
    tts_safe_text(out, capacity, text, columns);
    for (char *at = out; (at = strstr(at, "##["));)
        at[2] = '?';
}
