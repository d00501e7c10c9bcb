/* drawing.h: a picture as a list of shapes: made once by a layout, written by any of the
 * writers (drawing_svg.h, drawing_cairo.h), so that all show the same. The ground is white.
 * Lengths are in hundredths of a pixel (svg.h), colours 0xRRGGBB.
 * Adding never fails aloud: out of memory sets `is_short`, and what was to be added is missing.
 * Caller's memory for the struct; one thread. */
#pragma once

#include "base/compiler.h"
#include "ttscope/alloc.h"
#include "views/chart/textwidth.h"
#include "views/svg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_drawn_kind { TTS_SHAPE_BOX, TTS_SHAPE_LINE, TTS_SHAPE_STEPS, TTS_SHAPE_TEXT };
enum tts_anchor { TTS_ANCHOR_START, TTS_ANCHOR_MIDDLE, TTS_ANCHOR_END };

struct tts_paint {
    uint32_t rgb;
    uint8_t alpha; /* 255: opaque; 0: none */
};

struct tts_drawn {
    enum tts_drawn_kind kind;
    /* BOX; LINE: x and y of its beginning; TEXT: x and y of its anchor, y on the baseline, and
     * its estimated width (textwidth.h), which no writer exceeds. */
    struct tts_svg_box box;
    struct tts_paint fill;      /* BOX, TEXT; STEPS: of what the points enclose */
    struct tts_paint stroke;    /* BOX, LINE, STEPS */
    int64_t stroke_width;       /* 0: none */
    int64_t dash;               /* length of a dash and of a gap; 0: solid */
    int64_t radius;             /* BOX: of its corners */
    struct tts_svg_point to;    /* LINE: its end */
    size_t points, point_count; /* STEPS: in the drawing's list of points; straight pieces */
    enum tts_anchor anchor;     /* TEXT */
    struct tts_font font;       /* TEXT */
    int rotate;                 /* TEXT: degrees, around its anchor */
    size_t text;                /* TEXT: in the drawing's bytes */
    const char *name; /* BOX, STEPS: what it is, a static word: the class in the SVG; or NULL */
    size_t hint;      /* BOX: a <title> for a pointer over it, as `text`; 0: none */
};

struct tts_drawing {
    int64_t width, height;
    struct tts_drawn *shapes;
    size_t shape_count, shape_capacity;
    struct tts_svg_point *points;
    size_t point_count, point_capacity;
    /* Terminated texts, each valid UTF-8 without control characters; text 0 is "". */
    char *text;
    size_t text_len, text_capacity;
    size_t title, description; /* of the whole, as texts */
    const struct tts_alloc *alloc;
    bool is_short; /* out of memory: something is missing */
};

/* Empty. `alloc` NULL is the C library's. */
void tts_drawing_init(struct tts_drawing *d, const struct tts_alloc *alloc);
/* Harmless on a zeroed struct. */
void tts_drawing_release(struct tts_drawing *d);

/* What a shape's number stands for; "" for 0, also where nothing was ever kept. */
const char *tts_drawing_text(const struct tts_drawing *d, size_t text);

/* A copy of foreign bytes, made showable (tts_text_shown). 0 for an empty text and when out of
 * memory. What is formatted is cut off at 255 bytes, here and below. */
size_t tts_drawing_keep(struct tts_drawing *d, const char *text, size_t len);
size_t tts_drawing_keep_format(struct tts_drawing *d, const char *format, ...) TTS_PRINTF(2, 3);

/* More of the text that was kept last. */
void tts_drawing_extend(struct tts_drawing *d, const char *text, size_t len);
void tts_drawing_extend_format(struct tts_drawing *d, const char *format, ...) TTS_PRINTF(2, 3);

void tts_drawing_add(struct tts_drawing *d, const struct tts_drawn *shape);

/* The next point; its number is what `points` of a STEPS shape counts from. */
void tts_drawing_point(struct tts_drawing *d, int64_t x, int64_t y);

/* Where and how a text stands. */
struct tts_text_at {
    int64_t x, y;
    enum tts_anchor anchor;
    struct tts_font font;
    struct tts_paint paint;
    int rotate;
};

/* Nothing is added for an empty text. */
void tts_drawing_put(struct tts_drawing *d, const struct tts_text_at *at, const char *text);
void tts_drawing_put_format(struct tts_drawing *d, const struct tts_text_at *at,
                            const char *format, ...) TTS_PRINTF(3, 4);
/* One of the lines that `text` was wrapped into. */
void tts_drawing_put_line(struct tts_drawing *d, const struct tts_text_at *at, const char *text,
                          const struct tts_text_line *line);
