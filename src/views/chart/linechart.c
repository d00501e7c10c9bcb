#include "views/chart/linechart.h"

enum { SEPARATED = 24 * TTS_PX }; /* minimum width of a sample that gets edges */

int64_t tts_linechart_y(const struct tts_linechart *chart, int64_t bytes)
{
    return chart->plot.y + chart->plot.height -
           tts_chart_height(&chart->scale, bytes, chart->plot.height);
}

/* ---- samples: a point each, or as many as there are pixels ---- */

size_t tts_linechart_samples(const struct tts_linechart *chart)
{
    size_t pixels = (size_t)(chart->plot.width / TTS_PX);
    return chart->point_count < pixels ? chart->point_count : pixels;
}

size_t tts_linechart_point(const struct tts_linechart *chart, size_t sample)
{
    size_t points = chart->point_count, samples = tts_linechart_samples(chart);
    size_t whole = points / samples, rest = points % samples;
    return sample * whole + sample * rest / samples;
}

size_t tts_linechart_sample(const struct tts_linechart *chart, size_t point)
{
    size_t sample = 0, samples = tts_linechart_samples(chart);
    while (sample + 1 < samples && tts_linechart_point(chart, sample + 1) <= point)
        sample++;
    return sample;
}

/* Returns the largest known figure of the points of a sample. */
static struct tts_amount value_of_sample(const struct tts_linechart *chart, size_t series,
                                         size_t sample)
{
    struct tts_amount most = {0};
    size_t to = tts_linechart_point(chart, sample + 1);
    for (size_t i = tts_linechart_point(chart, sample); i < to; i++) {
        struct tts_amount amount = chart->value(chart->ctx, series, i);
        if (amount.is_known && (!most.is_known || amount.bytes > most.bytes))
            most = amount;
    }
    return most;
}

static int64_t x_of_sample(const struct tts_linechart *chart, size_t sample)
{
    return chart->plot.x +
           chart->plot.width * (int64_t)sample / (int64_t)tts_linechart_samples(chart);
}

int64_t tts_linechart_middle(const struct tts_linechart *chart, size_t sample)
{
    return (x_of_sample(chart, sample) + x_of_sample(chart, sample + 1)) / 2;
}

/* ---- lines ---- */

/* Draws the samples [from, to). All of them are known. */
static void draw_piece(struct tts_drawing *d, const struct tts_linechart *chart, size_t idx,
                       size_t from, size_t to, bool area)
{
    const struct tts_lineseries *series = &chart->series[idx];
    struct tts_drawn shape = {.kind = TTS_SHAPE_STEPS, .points = d->point_count};
    for (size_t i = from; i < to; i++) {
        int64_t y = tts_linechart_y(chart, value_of_sample(chart, idx, i).bytes);
        tts_drawing_point(d, x_of_sample(chart, i), y);
        tts_drawing_point(d, x_of_sample(chart, i + 1), y);
    }
    if (area) {
        tts_drawing_point(d, x_of_sample(chart, to), tts_linechart_y(chart, 0));
        tts_drawing_point(d, x_of_sample(chart, from), tts_linechart_y(chart, 0));
        shape.fill = series->paint;
        shape.fill.alpha = series->area_alpha;
    } else {
        shape.name = series->word;
        shape.stroke = series->paint;
        shape.stroke_width = series->stroke_width;
        shape.dash = series->dash;
    }
    shape.point_count = d->point_count - shape.points;
    tts_drawing_add(d, &shape);
}

static void draw_one_series(struct tts_drawing *d, const struct tts_linechart *chart,
                            size_t idx, bool area)
{
    size_t samples = tts_linechart_samples(chart), from = 0;
    for (size_t i = 0; i <= samples; i++) {
        if (i < samples && value_of_sample(chart, idx, i).is_known)
            continue;
        if (i > from)
            draw_piece(d, chart, idx, from, i, area);
        from = i + 1;
    }
}

void tts_linechart_draw_series(struct tts_drawing *d, const struct tts_linechart *chart)
{
    for (size_t i = 0; i < chart->series_count; i++)
        if (chart->series[i].area_alpha > 0)
            draw_one_series(d, chart, i, true);
    for (size_t i = 0; i < chart->series_count; i++)
        draw_one_series(d, chart, i, false);
}

void tts_linechart_draw_ground(struct tts_drawing *d, const struct tts_linechart *chart,
                               struct tts_font font, bool has_unit)
{
    struct tts_svg_box plot = chart->plot;
    int64_t bottom = plot.y + plot.height, zero = tts_linechart_y(chart, 0);
    size_t samples = tts_linechart_samples(chart);
    tts_chart_draw_ticks(d, &chart->scale, plot, font);
    if (has_unit)
        tts_chart_draw_unit(d, plot,
                            plot.x - tts_chart_ticks_width(&chart->scale, font) - 6 * TTS_PX);
    for (size_t i = 1; i < samples && plot.width / (int64_t)samples >= SEPARATED; i++)
        tts_chart_line(d, (struct tts_svg_point){x_of_sample(chart, i), plot.y},
                       (struct tts_svg_point){x_of_sample(chart, i), bottom},
                       (struct tts_paint){0xe9edf1, 255}, TTS_PX, 0);
    tts_chart_line(d, (struct tts_svg_point){plot.x, zero},
                   (struct tts_svg_point){plot.x + plot.width, zero}, TTS_INK_FRAME, TTS_PX, 0);
}

void tts_linechart_draw_limit(struct tts_drawing *d, const struct tts_linechart *chart,
                              struct tts_amount limit, size_t first,
                              struct tts_chart_stroke stroke)
{
    if (!limit.is_known || limit.bytes <= 0 || limit.bytes > chart->scale.high)
        return;
    struct tts_svg_box line = {chart->plot.x, tts_linechart_y(chart, limit.bytes),
                               chart->plot.width, 0};
    tts_chart_draw_limit(d, first, line, stroke);
}
