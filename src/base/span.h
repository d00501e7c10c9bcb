/* span.h: a borrowed piece of text: its start and its length. A span has no terminator and may
 * contain any byte. Spans are plain values. A span is valid as long as its text. Each call
 * takes linear time and allocates nothing. Any thread. */
#pragma once

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct tts_span {
    const char *at;
    size_t len;
};

static inline bool tts_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline bool tts_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool tts_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns the span without blanks at both ends. */
struct tts_span tts_span_trim(struct tts_span text);

/* tts_span_is() returns whether `text` equals the string, tts_span_begins() whether it begins
 * with the string, tts_span_ends() whether it ends with the string. All three are inline: the
 * string is usually a constant. */
static TTS_FORCE_INLINE bool tts_span_is(struct tts_span text, const char *string)
{
    size_t len = strlen(string);
    return text.len == len && memcmp(text.at, string, len) == 0;
}

static TTS_FORCE_INLINE bool tts_span_begins(struct tts_span text, const char *with)
{
    size_t len = strlen(with);
    return text.len >= len && memcmp(text.at, with, len) == 0;
}

static TTS_FORCE_INLINE bool tts_span_ends(struct tts_span text, const char *with)
{
    size_t len = strlen(with);
    return text.len >= len && memcmp(text.at + text.len - len, with, len) == 0;
}

/* Returns the start of `what` in the text, or NULL if the text does not contain it. */
const char *tts_span_find(struct tts_span text, const char *what);

/* Copies as much as fits into `out` and terminates it. Copies only whole UTF-8 characters, and
 * appends "..." if something is left out. A NUL byte becomes '?'. `capacity` is at least 4. */
void tts_span_copy(char *out, size_t capacity, struct tts_span text);
