/* drawing.h: a picture as a list of shapes. A layout makes the list once; each writer
 * (drawing_svg.h, drawing_cairo.h) writes the same picture. The ground is white. Lengths are in
 * hundredths of a pixel (svg.h), colours are 0xRRGGBB. Adding returns no error: if memory runs
 * out, `is_short` is set and the shape is missing. The caller owns the struct. One thread at a
 * time. */
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
    /* BOX: the box. LINE: x and y of its start. TEXT: x and y of its anchor, y on the baseline,
     * and its estimated width (textwidth.h), which no writer exceeds. */
    struct tts_svg_box box;
    /* Fill of a BOX, of a TEXT, or of the area that the points of STEPS enclose. */
    struct tts_paint fill;
    struct tts_paint stroke; /* stroke of a BOX, LINE or STEPS */
    int64_t stroke_width;    /* 0: none */
    int64_t dash;            /* length of a dash and of a gap; 0: solid */
    int64_t radius;          /* radius of the corners of a BOX */
    struct tts_svg_point to; /* end of a LINE */
    /* STEPS: range in the points of the drawing, joined by straight lines. */
    size_t points, point_count;
    enum tts_anchor anchor; /* anchor of a TEXT */
    struct tts_font font;   /* font of a TEXT */
    int rotate;             /* rotation of a TEXT around its anchor, in degrees */
    size_t text;            /* offset of a TEXT in the texts of the drawing */
    const char *name;       /* BOX, STEPS: static word for the class in the SVG, or NULL */
    size_t hint;            /* BOX: text of a <title>, which a pointer shows; 0: none */
};

struct tts_drawing {
    int64_t width, height;
    struct tts_drawn *shapes;
    size_t shape_count, shape_capacity;
    struct tts_svg_point *points;
    size_t point_count, point_capacity;
    /* Terminated texts, each valid UTF-8 without control characters. Text 0 is "". */
    char *text;
    size_t text_len, text_capacity;
    size_t title, description; /* texts about the whole picture */
    const struct tts_alloc *alloc;
    bool is_short; /* out of memory: something is missing */
};

/* Makes an empty drawing. If `alloc` is NULL, the C library allocates. */
void tts_drawing_init(struct tts_drawing *d, const struct tts_alloc *alloc);
/* Frees the drawing, which may be all zero. */
void tts_drawing_release(struct tts_drawing *d);

/* Returns the text of a number; "" for 0, even if no text was ever kept. */
const char *tts_drawing_text(const struct tts_drawing *d, size_t text);

/* Copies foreign bytes, replacing what cannot be shown (tts_text_shown), and returns the number
 * of the text. Returns 0 for an empty text and if memory runs out. Formatted texts are cut at
 * 255 bytes, here and below. */
size_t tts_drawing_keep(struct tts_drawing *d, const char *text, size_t len);
size_t tts_drawing_keep_format(struct tts_drawing *d, const char *format, ...) TTS_PRINTF(2, 3);

/* Appends to the text that was kept last. */
void tts_drawing_extend(struct tts_drawing *d, const char *text, size_t len);
void tts_drawing_extend_format(struct tts_drawing *d, const char *format, ...) TTS_PRINTF(2, 3);

void tts_drawing_add(struct tts_drawing *d, const struct tts_drawn *shape);

/* Adds a point. The first point of a STEPS shape has the number `points`. */
void tts_drawing_point(struct tts_drawing *d, int64_t x, int64_t y);

/* Place and style of a text. */
struct tts_text_at {
    int64_t x, y;
    enum tts_anchor anchor;
    struct tts_font font;
    struct tts_paint paint;
    int rotate;
};

/* Adds a text. Ignores an empty text. */
void tts_drawing_put(struct tts_drawing *d, const struct tts_text_at *at, const char *text);
void tts_drawing_put_format(struct tts_drawing *d, const struct tts_text_at *at,
                            const char *format, ...) TTS_PRINTF(3, 4);
/* Adds one of the lines of a wrapped text. */
void tts_drawing_put_line(struct tts_drawing *d, const struct tts_text_at *at, const char *text,
                          const struct tts_text_line *line);
