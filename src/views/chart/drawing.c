#include "views/chart/drawing.h"

#include "base/heap.h"
#include "views/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FORMATTED_MAX = 256 };

void tts_drawing_init(struct tts_drawing *d, const struct tts_alloc *alloc)
{
    *d = (struct tts_drawing){.alloc = alloc ? alloc : tts_alloc_libc()};
}

static void release_array(const struct tts_alloc *alloc, void *items, size_t bytes)
{
    if (items)
        alloc->free(alloc->ctx, items, bytes);
}

void tts_drawing_release(struct tts_drawing *d)
{
    release_array(d->alloc, d->shapes, d->shape_capacity * sizeof *d->shapes);
    release_array(d->alloc, d->points, d->point_capacity * sizeof *d->points);
    release_array(d->alloc, d->text, d->text_capacity);
    *d = (struct tts_drawing){.alloc = d->alloc};
}

const char *tts_drawing_text(const struct tts_drawing *d, size_t text)
{
    assert(text == 0 || text < d->text_len);
    return text > 0 ? d->text + text : "";
}

/* ---- growing ---- */

static bool make_drawing_room(struct tts_drawing *d, size_t bytes)
{
    char *text = tts_alloc_grow(d->alloc, d->text, &d->text_capacity, d->text_len + bytes, 1);
    if (!text) {
        d->is_short = true;
        return false;
    }
    d->text = text;
    return true;
}

/* Appends a code point without a terminator; the caller adds one at the end of the text. */
static bool keep_code_point(struct tts_drawing *d, const char *bytes, size_t used,
                            uint32_t code)
{
    uint32_t shown = tts_text_shown(code);
    if (shown == ' ') {
        bytes = " ";
        used = 1;
    } else if (shown == TTS_UTF8_REPLACEMENT) {
        bytes = "\xef\xbf\xbd";
        used = 3;
    }
    if (!make_drawing_room(d, used + 1))
        return false;
    memcpy(d->text + d->text_len, bytes, used);
    d->text_len += used;
    return true;
}

/* Appends text[0, len) and a terminator. On failure the drawing is unchanged. */
static bool append_kept(struct tts_drawing *d, const char *text, size_t len)
{
    size_t start = d->text_len;
    for (size_t i = 0; i < len;) {
        uint32_t code;
        size_t used = tts_utf8_next(text + i, len - i, &code);
        if (!keep_code_point(d, text + i, used, code)) {
            d->text_len = start;
            return false;
        }
        i += used;
    }
    d->text[d->text_len++] = '\0';
    assert(d->text_len <= d->text_capacity);
    return true;
}

size_t tts_drawing_keep(struct tts_drawing *d, const char *text, size_t len)
{
    if (len == 0)
        return 0;
    if (d->text_len == 0) {
        if (!make_drawing_room(d, 1))
            return 0;
        d->text[d->text_len++] = '\0';
    }
    size_t start = d->text_len;
    return append_kept(d, text, len) ? start : 0;
}

void tts_drawing_extend(struct tts_drawing *d, const char *text, size_t len)
{
    if (len == 0 || d->text_len < 2)
        return;
    d->text_len--; /* overwrite the terminator */
    if (!append_kept(d, text, len))
        d->text[d->text_len++] = '\0';
}

size_t tts_drawing_keep_format(struct tts_drawing *d, const char *format, ...)
{
    char text[FORMATTED_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return tts_drawing_keep(d, text, strlen(text));
}

void tts_drawing_extend_format(struct tts_drawing *d, const char *format, ...)
{
    char text[FORMATTED_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tts_drawing_extend(d, text, strlen(text));
}

void tts_drawing_add(struct tts_drawing *d, const struct tts_drawn *shape)
{
    assert(shape->kind != TTS_SHAPE_BOX || (shape->box.width >= 0 && shape->box.height >= 0));
    assert(shape->kind != TTS_SHAPE_TEXT || shape->text < d->text_len);
    struct tts_drawn *shapes = tts_alloc_grow(d->alloc, d->shapes, &d->shape_capacity,
                                              d->shape_count + 1, sizeof *shapes);
    if (!shapes) {
        d->is_short = true;
        return;
    }
    d->shapes = shapes;
    d->shapes[d->shape_count++] = *shape;
}

void tts_drawing_point(struct tts_drawing *d, int64_t x, int64_t y)
{
    struct tts_svg_point *points = tts_alloc_grow(d->alloc, d->points, &d->point_capacity,
                                                  d->point_count + 1, sizeof *points);
    if (!points) {
        d->is_short = true;
        return;
    }
    d->points = points;
    d->points[d->point_count++] = (struct tts_svg_point){x, y};
}

/* ---- texts ---- */

static void put_kept_text(struct tts_drawing *d, const struct tts_text_at *at, size_t text,
                          int64_t width)
{
    if (text == 0)
        return;
    struct tts_drawn shape = {
        .kind = TTS_SHAPE_TEXT,
        .box = {at->x, at->y, width, 0},
        .fill = at->paint,
        .anchor = at->anchor,
        .font = at->font,
        .rotate = at->rotate,
        .text = text,
    };
    tts_drawing_add(d, &shape);
}

void tts_drawing_put(struct tts_drawing *d, const struct tts_text_at *at, const char *text)
{
    size_t len = strlen(text);
    put_kept_text(d, at, tts_drawing_keep(d, text, len), tts_text_width(text, len, at->font));
}

void tts_drawing_put_format(struct tts_drawing *d, const struct tts_text_at *at,
                            const char *format, ...)
{
    char text[FORMATTED_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tts_drawing_put(d, at, text);
}

void tts_drawing_put_line(struct tts_drawing *d, const struct tts_text_at *at, const char *text,
                          const struct tts_text_line *line)
{
    size_t kept = tts_drawing_keep(d, text + line->start, line->len);
    if (line->is_cut && line->len == 0) {
        kept = tts_drawing_keep(d, "...", 3);
    } else if (line->is_cut && kept > 0) {
        tts_drawing_extend(d, "...", 3);
    }
    put_kept_text(d, at, kept, line->width);
}
