#include "base/span.h"

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
