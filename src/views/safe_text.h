/* safe_text.h: foreign text for a terminal: bytes that it would obey, or cannot show, become
 * '?'. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { TTS_SAFE_COLUMN_BYTES = 4 }; /* the most that a column takes */

/* At most `columns` code points of `text`, the last three dots where there are more; always
 * terminated. `capacity` is columns * TTS_SAFE_COLUMN_BYTES + 1 at least, or less is written.
 * Returns how many columns it takes. */
size_t tts_safe_text(char *out, size_t capacity, const char *text, size_t columns);

/* The same, but of a text that is too long its end is kept, after one ellipsis, or three dots
 * if output is not UTF-8. */
size_t tts_safe_text_end(char *out, size_t capacity, const char *text, size_t columns);

/* Like tts_safe_text(); besides, "##[" becomes "##?", because a build server takes "##[...]"
 * for a command anywhere in a line. */
void tts_safe_text_build(char *out, size_t capacity, const char *text, size_t columns);

/* May output have more than ASCII? As LC_ALL, LC_CTYPE or LANG say, the first of them that is
 * set and not empty. */
bool tts_charset_is_utf8(void);
