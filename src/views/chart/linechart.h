/* linechart.h: draws figures over an ordered axis (phases, operations, time) as lines: the
 * background with its ticks, filled areas, stepped lines with gaps where a figure is unknown, a
 * limit, and a mark at one figure. If there are more points than pixels, a pixel shows the
 * largest of its points. The caller owns all data. One thread at a time. If memory runs out,
 * the drawing notes it. */
#pragma once

#include "model/run.h"
#include "views/chart/chartparts.h"

#include <stdbool.h>
#include <stddef.h>

struct tts_lineseries {
    const char *label, *word; /* text in the legend; class in the SVG */
    struct tts_paint paint;
    int64_t stroke_width, dash;
    uint8_t area_alpha; /* opacity of the area below; 0: no area */
};

struct tts_linechart {
    struct tts_svg_box plot;
    struct tts_chart_scale scale;
    struct tts_font font; /* of the ticks and of the value of the mark */
    bool has_unit;        /* "Memory (MB)" is beside the ticks */
    size_t point_count;
    const struct tts_lineseries *series;
    size_t series_count;
    /* Returns the figure of a series at a point. It may be unknown. */
    struct tts_amount (*value)(const void *ctx, size_t series, size_t point);
    const void *ctx;
    struct tts_amount limit; /* drawn if the scale shows it */
    struct tts_chart_stroke limit_stroke;
    struct tts_amount mark; /* a figure drawn as a dot with its value. Unknown: no mark */
    size_t mark_point;      /* the point of the mark */
};

/* Returns the number of samples drawn: one for each point, at most one for each pixel. */
size_t tts_linechart_samples(const struct tts_linechart *chart);

struct tts_linesample {
    size_t point; /* the first point of the sample */
    int64_t x;    /* the middle of the sample */
};
struct tts_linesample tts_linechart_sample(const struct tts_linechart *chart, size_t sample);

/* Draws the ground with its ticks, then all areas, all lines, the limit and the mark. The line
 * of the limit has a gap at the value of the mark. Without points, draws only the ground. */
void tts_linechart_draw(struct tts_drawing *d, const struct tts_linechart *chart);
