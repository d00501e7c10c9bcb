/* svg.h: the few things a drawing is made of, written to a stream.
 * Lengths are in hundredths of a pixel, so that no floating point, and no locale, decides about
 * the bytes. Errors are the stream's. */
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

/* "12.5": a length as a number. */
void tts_svg_length(FILE *out, int64_t length);

/* Foreign text as character data: markup is escaped, what XML cannot hold becomes U+FFFD. */
void tts_svg_escape(FILE *out, const char *text);

/* <rect with its box, not closed, and <rect ...>, closed; `style` is further attributes. */
void tts_svg_rect_begin(FILE *out, struct tts_svg_box box);
void tts_svg_rect(FILE *out, struct tts_svg_box box, const char *style);

/* A text element with `style` as further attributes. The formatted text is escaped, and cut off
 * at 255 bytes. */
void tts_svg_text(FILE *out, struct tts_svg_point at, const char *style, const char *format,
                  ...) TTS_PRINTF(4, 5);
