/* safe_text.h: prepares foreign text for a terminal. Bytes that a terminal would obey or cannot
 * show become '?'. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { TTS_SAFE_COLUMN_BYTES = 4 }; /* maximum for one column */

/* Copies at most `columns` code points; a longer text ends in three dots. The result is always
 * terminated. If `capacity` is less than columns * TTS_SAFE_COLUMN_BYTES + 1, fewer may be
 * copied. Returns the number of columns of the result. */
size_t tts_safe_text(char *out, size_t capacity, const char *text, size_t columns);

/* Like tts_safe_text(), but keeps the end of a long text, after an ellipsis (three dots if the
 * output is not UTF-8). */
size_t tts_safe_text_end(char *out, size_t capacity, const char *text, size_t columns);

/* Like tts_safe_text(), but also replaces "##[" by "##?", because a build server takes
 * "##[...]" for a command anywhere in a line. */
void tts_safe_text_build(char *out, size_t capacity, const char *text, size_t columns);

/* Returns the path as shown to people: "<stdin>" for "-", or else the path itself. */
static inline const char *tts_shown_path(const char *path)
{
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

/* Returns true if output may be UTF-8: LC_ALL, LC_CTYPE or LANG says so, the first of them that
 * is set and not empty. */
bool tts_charset_is_utf8(void);
