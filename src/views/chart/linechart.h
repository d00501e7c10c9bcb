/* linechart.h: draws figures over an ordered axis (phases, operations, time) as lines: the
 * ground with its ticks, filled areas, stepped lines with gaps where a figure is not known, and
 * a limit. If there are more points than pixels, a pixel shows the largest of its points.
 *
 * Plain data of the caller. One thread. If memory runs out, the drawing notes it. */
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
    size_t point_count; /* at least 1 when points are drawn or placed */
    const struct tts_lineseries *series;
    size_t series_count;
    /* Returns the figure of a series at a point. It may be unknown. */
    struct tts_amount (*value)(const void *ctx, size_t series, size_t point);
    const void *ctx;
};

/* Returns the number of samples drawn: one for each point, at most one for each pixel. */
size_t tts_linechart_samples(const struct tts_linechart *chart);
/* Return the first point of a sample, and the sample of a point. */
size_t tts_linechart_point(const struct tts_linechart *chart, size_t sample);
size_t tts_linechart_sample(const struct tts_linechart *chart, size_t point);
/* Return the x of the middle of a sample, and the y of a figure. */
int64_t tts_linechart_middle(const struct tts_linechart *chart, size_t sample);
int64_t tts_linechart_y(const struct tts_linechart *chart, int64_t bytes);

/* Draws ticks, edges of wide samples and the zero line, and the unit if `has_unit`. */
void tts_linechart_draw_ground(struct tts_drawing *d, const struct tts_linechart *chart,
                               struct tts_font font, bool has_unit);
/* Draws all areas, then all lines. */
void tts_linechart_draw_series(struct tts_drawing *d, const struct tts_linechart *chart);
/* Draws a limit if the scale shows it, with gaps at text grounds among the shapes from `first`
 * on. */
void tts_linechart_draw_limit(struct tts_drawing *d, const struct tts_linechart *chart,
                              struct tts_amount limit, size_t first,
                              struct tts_chart_stroke stroke);
