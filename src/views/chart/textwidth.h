/* textwidth.h: how wide a text is, before any font is at hand: an upper estimate from the
 * advance widths of DejaVu Sans, so that one layout serves all writers of a drawing. Texts are
 * foreign bytes; lengths are in hundredths of a pixel. No memory is taken. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tts_font {
    int64_t size; /* of an em */
    bool bold;
};

/* What is shown for a code point: itself, a blank for tabs and ends of lines, U+FFFD for other
 * control characters and for what has no width or turns the direction of text around. */
uint32_t tts_text_shown(uint32_t code);

int64_t tts_text_width(const char *text, size_t len, struct tts_font font);

/* A line of a wrapped text: text[start, start + len), and "..." behind it if it was cut. */
struct tts_text_line {
    size_t start, len;
    bool is_cut;
    int64_t width; /* with the dots */
};

/* Breaks at blanks and behind underscores, dashes, slashes and dots, else anywhere, into at
 * most `max` lines that are no wider than `width`; what is left is cut off. Returns how many
 * lines there are, 0 for an empty text. A width that no letter fits into makes empty lines. */
size_t tts_text_wrap(const char *text, struct tts_font font, int64_t width,
                     struct tts_text_line *lines, size_t max);

enum { TTS_TEXT_SQUEEZED_MAX = 256 };

/* The text itself where it fits into `width` and the bytes, else its head and its tail with
 * "..." between. Terminated; returns `out`. */
const char *tts_text_squeeze(char out[TTS_TEXT_SQUEEZED_MAX], const char *text,
                             struct tts_font font, int64_t width);
