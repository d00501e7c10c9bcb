/* textwidth.h: estimates the width of a text without a font. The estimate is an upper bound
 * from the advance widths of DejaVu Sans, so that one layout serves all writers of a drawing.
 * Texts are foreign bytes; lengths are in hundredths of a pixel. Allocates nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tts_font {
    int64_t size; /* size of an em */
    bool bold;
};

/* Returns what is shown for a code point: a blank for tabs and line ends; U+FFFD for other
 * control characters, characters without width, and characters that change the text direction;
 * otherwise the code point itself. */
uint32_t tts_text_shown(uint32_t code);

int64_t tts_text_width(const char *text, size_t len, struct tts_font font);

/* A line of a wrapped text: text[start, start + len), followed by "..." if it was cut. */
struct tts_text_line {
    size_t start, len;
    bool is_cut;
    int64_t width; /* including the dots */
};

/* Wraps a text into at most `max` lines of at most `width`, and cuts the rest. Breaks at blanks
 * and after underscores, dashes, slashes and dots, otherwise anywhere. Returns the number of
 * lines, 0 for an empty text. If no letter fits into the width, the lines are empty. */
size_t tts_text_wrap(const char *text, struct tts_font font, int64_t width,
                     struct tts_text_line *lines, size_t max);

enum { TTS_TEXT_SQUEEZED_MAX = 256 };

/* Writes the text if it fits into `width` and the buffer, otherwise its beginning and its end
 * with "..." between. The result is terminated. Returns `out`. */
const char *tts_text_squeeze(char out[TTS_TEXT_SQUEEZED_MAX], const char *text,
                             struct tts_font font, int64_t width);
