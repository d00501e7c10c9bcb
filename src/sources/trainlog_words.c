#include "sources/trainlog_inside.h"

#include <assert.h>
#include <string.h>

struct tts_span tts_span_trim(struct tts_span text)
{
    while (text.len > 0 && tts_is_blank(text.at[text.len - 1]))
        text.len--;
    while (text.len > 0 && tts_is_blank(text.at[0])) {
        text.at++;
        text.len--;
    }
    return text;
}

const char *tts_span_find(struct tts_span text, const char *what)
{
    while (text.len > 0) {
        const char *at = memchr(text.at, what[0], text.len);
        if (!at)
            return NULL;
        text.len -= (size_t)(at - text.at);
        text.at = at;
        if (tts_span_begins(text, what))
            return at;
        text.at++;
        text.len--;
    }
    return NULL;
}

void tts_span_copy(char *out, size_t capacity, struct tts_span text)
{
    assert(capacity >= sizeof "...");
    const char *more = text.len < capacity ? "" : "...";
    size_t len = text.len < capacity ? text.len : capacity - sizeof "...";
    if (len < text.len)
        while (len > 0 && ((unsigned char)text.at[len] & 0xc0) == 0x80)
            len--;
    for (size_t i = 0; i < len; i++)
        out[i] = text.at[i] == '\0' ? '?' : text.at[i];
    memcpy(out + len, more, strlen(more) + 1);
}

/* ---- escape sequences ---- */

static bool is_between(char c, int low, int high)
{
    unsigned char byte = (unsigned char)c;
    return byte >= low && byte <= high;
}

static size_t skip_range(struct tts_span line, size_t at, int low, int high)
{
    while (at < line.len && is_between(line.at[at], low, high))
        at++;
    return at;
}

/* Behind a title or link, up to BEL or ESC '\'. One that does not end is only its beginning. */
static size_t skip_command(struct tts_span line, size_t begin)
{
    for (size_t at = begin; at < line.len; at++) {
        if (line.at[at] == '\a')
            return at + 1;
        if (line.at[at] == 0x1b)
            return at + 1 < line.len && line.at[at + 1] == '\\' ? at + 2 : begin;
    }
    return begin;
}

/* Behind the sequence whose ESC is before `at`. */
static size_t skip_sequence(struct tts_span line, size_t at)
{
    if (at < line.len && line.at[at] == ']')
        return skip_command(line, at + 1);
    bool is_control = at < line.len && line.at[at] == '[';
    if (is_control)
        at = skip_range(line, at + 1, 0x30, 0x3f);
    at = skip_range(line, at, is_control ? 0x20 : 0x21, 0x2f);
    return at < line.len && is_between(line.at[at], 0x30, 0x7e) ? at + 1 : at;
}

struct tts_span tts_logline_clean(struct tts_span line, char out[TTS_LOGLINE_MAX])
{
    if (tts_span_begins(line, "\xef\xbb\xbf"))
        line = (struct tts_span){line.at + 3, line.len - 3};
    assert(line.len <= TTS_LOGLINE_MAX);
    if (!memchr(line.at, 0x1b, line.len))
        return line;
    size_t len = 0;
    for (size_t at = 0; at < line.len;) {
        if (line.at[at] == 0x1b)
            at = skip_sequence(line, at + 1);
        else
            out[len++] = line.at[at++];
    }
    return (struct tts_span){out, len};
}
