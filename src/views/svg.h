/* svg.h: writes the basic elements of a drawing to a stream. Lengths are integers in hundredths
 * of a pixel, so that the bytes depend neither on floating point nor on the locale. The caller
 * checks the stream for errors. */
#pragma once

#include "base/compiler.h"

#include <stdint.h>
#include <stdio.h>

enum { TTS_SVG_PX = 100 };

struct tts_svg_point {
    int64_t x, y;
};

struct tts_svg_box {
    int64_t x, y, width, height;
};

/* Writes a length in pixels, such as "12.5". */
void tts_svg_length(FILE *out, int64_t length);

/* Writes foreign text as character data. Markup is escaped, and characters that XML does not
 * allow become U+FFFD. */
void tts_svg_escape(FILE *out, const char *text);

/* Write a <rect>; the first leaves the tag open for more attributes. `style` has further
 * attributes. */
void tts_svg_rect_begin(FILE *out, struct tts_svg_box box);
void tts_svg_rect(FILE *out, struct tts_svg_box box, const char *style);

/* Writes a text element; `style` has further attributes. The formatted text is escaped and cut
 * at 255 bytes. */
void tts_svg_text(FILE *out, struct tts_svg_point at, const char *style, const char *format,
                  ...) TTS_PRINTF(4, 5);
