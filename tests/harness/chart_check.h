/* chart_check.h: checks for every picture: its texts stay inside the picture and do not
 * overlap. */
#pragma once

#include "harness/t.h"
#include "views/chart/drawing.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct chart_quad {
    double x[4], y[4];
};

/* Returns the corners of a text. Its width is the width that the layout assumed. */
static inline struct chart_quad chart_text_quad(const struct tts_drawn *shape)
{
    double size = (double)shape->font.size, width = (double)shape->box.width;
    double left = shape->anchor == TTS_ANCHOR_START    ? 0
                  : shape->anchor == TTS_ANCHOR_MIDDLE ? -width / 2
                                                       : -width;
    double xs[] = {left, left + width, left + width, left};
    double ys[] = {-0.80 * size, -0.80 * size, 0.22 * size, 0.22 * size};
    double angle = shape->rotate * 3.14159265358979 / 180, c = cos(angle), s = sin(angle);
    struct chart_quad quad;
    for (int i = 0; i < 4; i++) {
        quad.x[i] = (double)shape->box.x + xs[i] * c - ys[i] * s;
        quad.y[i] = (double)shape->box.y + xs[i] * s + ys[i] * c;
    }
    return quad;
}

static inline struct chart_quad chart_box_quad(struct tts_svg_box box)
{
    double l = (double)box.x, t = (double)box.y;
    double r = l + (double)box.width, b = t + (double)box.height;
    return (struct chart_quad){{l, r, r, l}, {t, t, b, b}};
}

/* Returns true if `a` and `b` do not overlap when they are projected onto one of the sides of
 * `a`. */
static inline bool chart_is_apart(const struct chart_quad *a, const struct chart_quad *b)
{
    for (int side = 0; side < 2; side++) {
        double dx = a->x[side + 1] - a->x[side], dy = a->y[side + 1] - a->y[side];
        double low[2] = {1e300, 1e300}, high[2] = {-1e300, -1e300};
        for (int i = 0; i < 4; i++) {
            double along[2] = {a->x[i] * dx + a->y[i] * dy, b->x[i] * dx + b->y[i] * dy};
            for (int k = 0; k < 2; k++) {
                low[k] = along[k] < low[k] ? along[k] : low[k];
                high[k] = along[k] > high[k] ? along[k] : high[k];
            }
        }
        if (low[0] >= high[1] || low[1] >= high[0])
            return true;
    }
    return false;
}

static inline bool chart_overlap(const struct chart_quad *a, const struct chart_quad *b)
{
    return !chart_is_apart(a, b) && !chart_is_apart(b, a);
}

static inline void chart_is_on_canvas(const struct tts_drawing *d,
                                      const struct chart_quad *quad, const char *what)
{
    for (int i = 0; i < 4; i++)
        if (quad->x[i] < 0 || quad->y[i] < 0 || quad->x[i] > (double)d->width ||
            quad->y[i] > (double)d->height)
            fail_msg("'%s' leaves the picture", what);
}

/* Returns true for a box with a name that is neither a key of the legend nor the mark of the
 * peak. */
static inline bool chart_is_solid(const struct tts_drawn *shape)
{
    return shape->kind == TTS_SHAPE_BOX && shape->name && strcmp(shape->name, "key") != 0 &&
           strcmp(shape->name, "peak-mark") != 0;
}

/* Returns true if the text lies on a part of a bar, as white text must. */
static inline bool chart_is_on_solid(const struct tts_drawing *d, const struct chart_quad *quad)
{
    for (size_t i = 0; i < d->shape_count; i++) {
        struct tts_svg_box box = d->shapes[i].box;
        if (chart_is_solid(&d->shapes[i]) && quad->x[0] >= (double)box.x &&
            quad->x[1] <= (double)(box.x + box.width) && quad->y[0] >= (double)box.y &&
            quad->y[2] <= (double)(box.y + box.height))
            return true;
    }
    return false;
}

/* Checks that no limit line crosses the text. */
static inline void chart_check_limits(const struct tts_drawing *d,
                                      const struct chart_quad *text, const char *what)
{
    for (size_t i = 0; i < d->shape_count; i++) {
        const struct tts_drawn *line = &d->shapes[i];
        if (line->kind != TTS_SHAPE_LINE || line->stroke.rgb != 0xff0000)
            continue;
        struct chart_quad quad = chart_box_quad(
            (struct tts_svg_box){line->box.x, line->box.y - line->stroke_width / 2,
                                 line->to.x - line->box.x, line->stroke_width});
        if (chart_overlap(text, &quad))
            fail_msg("a limit crosses '%s'", what);
    }
}

static inline void chart_check_text(const struct tts_drawing *d, size_t at)
{
    const struct tts_drawn *shape = &d->shapes[at];
    const char *text = tts_drawing_text(d, shape->text);
    struct chart_quad quad = chart_text_quad(shape);
    T_TRUE(text[0] != '\0');
    /* The text must not be wider than the room that the layout gave to the text. */
    if (tts_text_width(text, strlen(text), shape->font) > shape->box.width)
        fail_msg("'%s' is wider than its box", text);
    chart_is_on_canvas(d, &quad, text);
    chart_check_limits(d, &quad, text);
    if (shape->fill.rgb == 0xffffff && !chart_is_on_solid(d, &quad))
        fail_msg("'%s' is not on its part", text);
    for (size_t i = 0; i < d->shape_count; i++) {
        const struct tts_drawn *other = &d->shapes[i];
        struct chart_quad place;
        if (other->kind == TTS_SHAPE_TEXT && i > at)
            place = chart_text_quad(other);
        else if (chart_is_solid(other) && shape->fill.rgb != 0xffffff)
            place = chart_box_quad(other->box);
        else
            continue;
        if (chart_overlap(&quad, &place))
            fail_msg("'%s' overlaps '%s'", text,
                     other->kind == TTS_SHAPE_TEXT ? tts_drawing_text(d, other->text)
                                                   : other->name);
    }
}

static inline void chart_check(const struct tts_drawing *d)
{
    T_TRUE(!d->is_short && d->width > 0 && d->height > 0);
    T_TRUE(tts_drawing_text(d, d->title)[0] && tts_drawing_text(d, d->description)[0]);
    for (size_t i = 0; i < d->shape_count; i++) {
        const struct tts_drawn *shape = &d->shapes[i];
        if (shape->kind == TTS_SHAPE_TEXT) {
            chart_check_text(d, i);
        } else if (shape->kind == TTS_SHAPE_BOX) {
            struct chart_quad quad = chart_box_quad(shape->box);
            chart_is_on_canvas(d, &quad, "a box");
        }
    }
    for (size_t i = 0; i < d->point_count; i++)
        T_TRUE(d->points[i].x >= 0 && d->points[i].x <= d->width && d->points[i].y >= 0 &&
               d->points[i].y <= d->height);
}

/* Returns the number of texts that are equal to `text`. */
static inline size_t chart_count_text(const struct tts_drawing *d, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < d->shape_count; i++)
        count += d->shapes[i].kind == TTS_SHAPE_TEXT &&
                 strcmp(tts_drawing_text(d, d->shapes[i].text), text) == 0;
    return count;
}

static inline size_t chart_count_boxes(const struct tts_drawing *d, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < d->shape_count; i++)
        count += d->shapes[i].kind == TTS_SHAPE_BOX && d->shapes[i].name &&
                 strcmp(d->shapes[i].name, name) == 0;
    return count;
}

/* Returns the first box with this name. Fails the test if there is none. */
static inline const struct tts_drawn *chart_find_box(const struct tts_drawing *d,
                                                     const char *name)
{
    for (size_t i = 0; i < d->shape_count; i++)
        if (d->shapes[i].kind == TTS_SHAPE_BOX && d->shapes[i].name &&
            strcmp(d->shapes[i].name, name) == 0)
            return &d->shapes[i];
    fail_msg("no box '%s'", name);
    return NULL;
}

static inline const struct tts_drawn *chart_find_text(const struct tts_drawing *d,
                                                      const char *text)
{
    for (size_t i = 0; i < d->shape_count; i++)
        if (d->shapes[i].kind == TTS_SHAPE_TEXT &&
            strcmp(tts_drawing_text(d, d->shapes[i].text), text) == 0)
            return &d->shapes[i];
    fail_msg("no text '%s'", text);
    return NULL;
}
