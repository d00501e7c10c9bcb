#include "views/chart/linechart.h"

#include <string.h>

enum {
    SEPARATED = 24 * TTS_PX, /* minimum width of a sample that gets edges */
    MARK = 7 * TTS_PX,
};

static int64_t y_of_bytes(const struct tts_linechart *chart, int64_t bytes)
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

static size_t first_point(const struct tts_linechart *chart, size_t sample)
{
    size_t points = chart->point_count, samples = tts_linechart_samples(chart);
    size_t whole = points / samples, rest = points % samples;
    return sample * whole + sample * rest / samples;
}

static size_t sample_of_point(const struct tts_linechart *chart, size_t point)
{
    size_t sample = 0, samples = tts_linechart_samples(chart);
    while (sample + 1 < samples && first_point(chart, sample + 1) <= point)
        sample++;
    return sample;
}

/* Returns the largest known figure of the points of a sample. */
static struct tts_amount value_of_sample(const struct tts_linechart *chart, size_t series,
                                         size_t sample)
{
    struct tts_amount most = {0};
    size_t to = first_point(chart, sample + 1);
    for (size_t i = first_point(chart, sample); i < to; i++) {
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

struct tts_linesample tts_linechart_sample(const struct tts_linechart *chart, size_t sample)
{
    return (struct tts_linesample){
        first_point(chart, sample),
        (x_of_sample(chart, sample) + x_of_sample(chart, sample + 1)) / 2};
}

/* ---- lines ---- */

/* Draws the samples [from, to). All of them are known. */
static void draw_piece(struct tts_drawing *d, const struct tts_linechart *chart, size_t idx,
                       size_t from, size_t to, bool area)
{
    const struct tts_lineseries *series = &chart->series[idx];
    struct tts_drawn shape = {.kind = TTS_SHAPE_STEPS, .points = d->point_count};
    for (size_t i = from; i < to; i++) {
        int64_t y = y_of_bytes(chart, value_of_sample(chart, idx, i).bytes);
        tts_drawing_point(d, x_of_sample(chart, i), y);
        tts_drawing_point(d, x_of_sample(chart, i + 1), y);
    }
    if (area) {
        tts_drawing_point(d, x_of_sample(chart, to), y_of_bytes(chart, 0));
        tts_drawing_point(d, x_of_sample(chart, from), y_of_bytes(chart, 0));
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

static void draw_all_series(struct tts_drawing *d, const struct tts_linechart *chart)
{
    for (size_t i = 0; i < chart->series_count; i++)
        if (chart->series[i].area_alpha > 0)
            draw_one_series(d, chart, i, true);
    for (size_t i = 0; i < chart->series_count; i++)
        draw_one_series(d, chart, i, false);
}

/* Draws ticks, edges of wide samples and the zero line, and the unit if there is one. */
static void draw_ground(struct tts_drawing *d, const struct tts_linechart *chart)
{
    struct tts_svg_box plot = chart->plot;
    int64_t bottom = plot.y + plot.height, zero = y_of_bytes(chart, 0);
    size_t samples = tts_linechart_samples(chart);
    tts_chart_draw_ticks(d, &chart->scale, plot, chart->font);
    if (chart->has_unit)
        tts_chart_draw_unit(
            d, plot, plot.x - tts_chart_ticks_width(&chart->scale, chart->font) - 6 * TTS_PX);
    for (size_t i = 1; i < samples && plot.width / (int64_t)samples >= SEPARATED; i++)
        tts_chart_line(d, (struct tts_svg_point){x_of_sample(chart, i), plot.y},
                       (struct tts_svg_point){x_of_sample(chart, i), bottom},
                       (struct tts_paint){0xe9edf1, 255}, TTS_PX, 0);
    tts_chart_line(d, (struct tts_svg_point){plot.x, zero},
                   (struct tts_svg_point){plot.x + plot.width, zero}, TTS_INK_FRAME, TTS_PX, 0);
}

/* Draws the limit if the scale shows it, with gaps at text grounds among the shapes from
 * `first` on. */
static void draw_limit(struct tts_drawing *d, const struct tts_linechart *chart, size_t first)
{
    struct tts_amount limit = chart->limit;
    if (!limit.is_known || limit.bytes <= 0 || limit.bytes > chart->scale.high)
        return;
    struct tts_svg_box line = {chart->plot.x, y_of_bytes(chart, limit.bytes), chart->plot.width,
                               0};
    tts_chart_draw_limit(d, first, line, chart->limit_stroke);
}

/* Draws the limit and the mark with its value. */
static void draw_mark(struct tts_drawing *d, const struct tts_linechart *chart)
{
    char text[TTS_CHART_MB_MAX];
    int64_t x = tts_linechart_sample(chart, sample_of_point(chart, chart->mark_point)).x;
    int64_t y = y_of_bytes(chart, chart->mark.bytes);
    struct tts_drawn mark = {.kind = TTS_SHAPE_BOX,
                             .box = {x - MARK / 2, y - MARK / 2, MARK, MARK},
                             .fill = TTS_INK_WHITE,
                             .stroke = TTS_INK,
                             .stroke_width = 2 * TTS_PX,
                             .radius = MARK / 2,
                             .name = "peak-mark"};
    struct tts_text_at at = {.x = x,
                             .y = y - MARK,
                             .anchor = TTS_ANCHOR_MIDDLE,
                             .font = {chart->font.size, true},
                             .paint = TTS_INK};
    tts_chart_own_mb(text, chart->mark.bytes);
    int64_t width = tts_text_width(text, strlen(text), at.font), half = width / 2 + 3 * TTS_PX;
    int64_t right = chart->plot.x + chart->plot.width;
    at.x = at.x - half < chart->plot.x ? chart->plot.x + half : at.x;
    at.x = at.x + half > right ? right - half : at.x;
    size_t veil = d->shape_count;
    tts_chart_veil(d, &at, width);
    draw_limit(d, chart, veil);
    tts_drawing_add(d, &mark);
    tts_drawing_put(d, &at, text);
}

void tts_linechart_draw(struct tts_drawing *d, const struct tts_linechart *chart)
{
    draw_ground(d, chart);
    if (chart->point_count == 0)
        return;
    draw_all_series(d, chart);
    if (chart->mark.is_known)
        draw_mark(d, chart);
    else
        draw_limit(d, chart, d->shape_count);
}
