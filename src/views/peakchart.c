#include "views/peakchart_inside.h"

#include <string.h>

enum {
    ROW_MAX = 12,
    LIMIT_WIDTH = 2 * TTS_PX,
    LIMIT_DASH = 7 * TTS_PX,
    TICKS = 9,
    UNIT_WIDTH = 24 * TTS_PX, /* of "Memory (MB)", upwards */
    AXIS_GAP = 8 * TTS_PX,
    TEXT_GAP = 10 * TTS_PX, /* between texts of neighbours */
    ROW_GAP = 26 * TTS_PX,
};

static const struct tts_font tick_font = {11 * TTS_PX, false};
static const struct tts_font limit_font = {10 * TTS_PX, true};

static int64_t width_of(const char *text, struct tts_font font)
{
    return tts_text_width(text, strlen(text), font);
}

/* --- measures ------------------------------------------------------------------------------
 */

static void measure_scale(struct tts_peakchart *chart)
{
    int64_t high = 0;
    const struct tts_trainmem *first = chart->runs[0].mem;
    chart->has_one_limit = tts_peakchart_has_limit(first);
    for (size_t i = 0; i < chart->count; i++) {
        const struct tts_trainmem *mem = chart->runs[i].mem;
        high = tts_chart_larger(high, mem->peak.bytes);
        high = tts_chart_larger(high, mem->device_memory.bytes);
        chart->has_one_limit &= tts_peakchart_has_limit(mem) &&
                                mem->device_memory.bytes == first->device_memory.bytes;
    }
    chart->scale = tts_chart_scale_of(0, high, TICKS);
}

/* The fewer, the larger. */
static void choose_sizes(struct tts_peakchart *chart)
{
    static const int16_t bars[ROW_MAX] = {150, 124, 112, 104, 96, 90, 84, 80, 72, 68, 66, 66};
    size_t n = chart->per_row;
    int64_t letter = n <= 4 ? 12 * TTS_PX : n <= 8 ? 11 * TTS_PX : 10 * TTS_PX;
    chart->bar = bars[n - 1] * TTS_PX;
    chart->plot_height = (chart->rows > 1 ? 360 : n <= 4 ? 420 : n <= 8 ? 500 : 660) * TTS_PX;
    chart->inside = (struct tts_font){letter - TTS_PX / 2, true};
    chart->beside = (struct tts_font){letter - TTS_PX / 2, false};
    chart->total = (struct tts_font){letter + TTS_PX / 2, true};
    chart->name = (struct tts_font){letter + TTS_PX / 2, false};
    chart->info = (struct tts_font){letter - TTS_PX / 2, false};
}

/* The widest of all that stands above or below one bar, in a line of its own. */
static int64_t widest_text(const struct tts_peakchart *chart)
{
    int64_t width = width_of("peak not known", chart->info);
    for (size_t i = 0; i < chart->count; i++) {
        const struct tts_trainmem *mem = chart->runs[i].mem;
        char total[TTS_CHART_USAGE_MAX];
        struct tts_peakchart_info info[TTS_PEAKCHART_INFO_LINES];
        size_t lines = tts_peakchart_info(chart, &chart->runs[i], info);
        if (tts_peakchart_has_limit(mem))
            width =
                tts_chart_larger(width, width_of(tts_peakchart_limit(total, mem), limit_font));
        if (mem->peak.is_known)
            width = tts_chart_larger(width,
                                     width_of(tts_peakchart_total(total, mem), chart->total));
        for (size_t line = 0; line < lines; line++)
            width = tts_chart_larger(
                width, width_of(info[line].text,
                                (struct tts_font){chart->info.size, info[line].bold}));
    }
    return width;
}

static int64_t widest_beside(const struct tts_peakchart *chart)
{
    int64_t width = 0;
    for (size_t i = 0; i < chart->count; i++) {
        const struct tts_trainmem *mem = chart->runs[i].mem;
        for (int part = 0; mem->has_parts && part < TTS_RUN_PARTS; part++) {
            char text[TTS_CHART_MB_MAX];
            if (mem->parts[part] > 0 &&
                !tts_peakchart_is_inside(chart, mem, (enum tts_run_part)part))
                width = tts_chart_larger(
                    width, width_of(tts_peakchart_size(text, mem, (enum tts_run_part)part),
                                    chart->beside));
        }
    }
    return width;
}

/* Labels beside a bar reach as far as the texts around the next one. */
static void measure_slot(struct tts_peakchart *chart)
{
    int64_t text = widest_text(chart), side = widest_beside(chart);
    int64_t overhang = tts_chart_larger(0, (text - chart->bar) / 2);
    chart->side = side > 0 ? TTS_PEAKCHART_LEADER + side + 5 * TTS_PX : 0;
    chart->slot = tts_chart_larger(chart->bar * 17 / 10, text + TEXT_GAP);
    chart->slot = tts_chart_larger(chart->slot, chart->bar + chart->side + overhang);
}

/* The name of a run as it is shown, in lines. */
struct shown_name {
    char text[TTS_TEXT_SQUEEZED_MAX];
    struct tts_text_line lines[TTS_PEAKCHART_NAME_LINES];
    size_t count;
};

static void wrap_name(const struct tts_peakchart *chart, const char *name,
                      struct shown_name *out)
{
    struct tts_chartname_space space = {chart->name, chart->slot - TEXT_GAP,
                                        TTS_PEAKCHART_NAME_LINES};
    tts_chartnames_fit(&chart->names, name, &space, out->text);
    out->count =
        tts_text_wrap(out->text, space.font, space.width, out->lines, TTS_PEAKCHART_NAME_LINES);
}

static void measure_lines(struct tts_peakchart *chart)
{
    for (size_t i = 0; i < chart->count; i++) {
        struct shown_name name;
        struct tts_peakchart_info info[TTS_PEAKCHART_INFO_LINES];
        wrap_name(chart, chart->runs[i].name, &name);
        size_t infos = tts_peakchart_info(chart, &chart->runs[i], info);
        chart->name_lines = name.count > chart->name_lines ? name.count : chart->name_lines;
        chart->info_lines = infos > chart->info_lines ? infos : chart->info_lines;
    }
}

static size_t make_legend(const struct tts_peakchart *chart,
                          struct tts_chart_legend out[TTS_CHART_LEGEND_MAX])
{
    size_t count = 0;
    bool has_limits = false, has[TTS_RUN_PARTS] = {false};
    for (size_t i = 0; i < chart->count; i++) {
        has_limits |= tts_peakchart_has_limit(chart->runs[i].mem);
        for (int part = 0; chart->runs[i].mem->has_parts && part < TTS_RUN_PARTS; part++)
            has[part] |= chart->runs[i].mem->parts[part] > 0;
    }
    for (int part = 0; part < TTS_RUN_PARTS; part++)
        if (has[part])
            out[count++] =
                (struct tts_chart_legend){.text = tts_peakchart_parts[part].label,
                                          .paint = {tts_peakchart_parts[part].rgb, 255}};
    if (has_limits)
        out[count++] = tts_chart_limit_legend(LIMIT_WIDTH, LIMIT_DASH);
    return count;
}

static int64_t text_height(size_t lines, struct tts_font font)
{
    return (int64_t)lines * (font.size * TTS_CHART_LINE / 100);
}

static int64_t row_height(const struct tts_peakchart *chart)
{
    return chart->plot_height + AXIS_GAP + text_height(chart->name_lines, chart->name) +
           4 * TTS_PX + text_height(chart->info_lines, chart->info);
}

/* What the width allows goes to the slots. */
static void measure_width(struct tts_peakchart *chart, struct tts_drawing *d, int64_t least)
{
    char limit[TTS_CHART_MB_MAX];
    int64_t label =
        width_of(tts_chart_own_mb(limit, chart->runs[0].mem->device_memory.bytes), limit_font);
    int64_t columns = (int64_t)chart->per_row;
    chart->left =
        UNIT_WIDTH + TTS_CHART_MARGIN / 2 + tts_chart_ticks_width(&chart->scale, tick_font);
    chart->right =
        chart->has_one_limit ? 5 * TTS_PX + label + TTS_CHART_MARGIN * 2 / 3 : TTS_CHART_MARGIN;
    chart->spare = tts_chart_larger(0, chart->side - (chart->slot - chart->bar) / 2);
    d->width = chart->left + columns * chart->slot + chart->spare + chart->right;
    if (d->width < least) {
        chart->slot += (least - d->width) / columns;
        chart->spare = tts_chart_larger(0, chart->side - (chart->slot - chart->bar) / 2);
        d->width = chart->left + columns * chart->slot + chart->spare + chart->right;
    }
    /* Whole pixels: a picture has no others. */
    d->width = (d->width + TTS_PX - 1) / TTS_PX * TTS_PX;
}

/* --- drawing ------------------------------------------------------------------------------ */

static const struct tts_chart_stroke limit_stroke = {LIMIT_WIDTH, LIMIT_DASH};

static void draw_one_limit(struct tts_drawing *d, const struct tts_peakchart *chart,
                           struct tts_svg_box plot, size_t first)
{
    char text[TTS_CHART_MB_MAX];
    int64_t limit = chart->runs[0].mem->device_memory.bytes;
    int64_t y = plot.y + plot.height - tts_chart_height(&chart->scale, limit, plot.height);
    tts_chart_draw_limit(d, first, (struct tts_svg_box){plot.x, y, plot.width, 0},
                         limit_stroke);
    struct tts_text_at at = {.x = plot.x + plot.width + 5 * TTS_PX,
                             .y = y + limit_font.size * 36 / 100,
                             .font = limit_font,
                             .paint = TTS_INK_WARNING};
    tts_drawing_put(d, &at, tts_chart_own_mb(text, limit));
}

static int64_t limit_y(const struct tts_peakchart *chart, const struct tts_trainmem *mem,
                       int64_t bottom)
{
    return bottom -
           tts_chart_height(&chart->scale, mem->device_memory.bytes, chart->plot_height);
}

/* The value of a run's own limit: above its line, and above what stands on the bar. */
static void put_own_limit(struct tts_drawing *d, const struct tts_trainmem *mem,
                          struct tts_svg_point above)
{
    char text[TTS_CHART_USAGE_MAX];
    struct tts_text_at at = {.x = above.x,
                             .y = above.y - 4 * TTS_PX,
                             .anchor = TTS_ANCHOR_MIDDLE,
                             .font = limit_font,
                             .paint = TTS_INK_WARNING};
    tts_drawing_put(d, &at, tts_peakchart_limit(text, mem));
}

static void draw_below(struct tts_drawing *d, const struct tts_peakchart *chart,
                       const struct tts_named_run *run, struct tts_svg_point top)
{
    struct shown_name name;
    struct tts_peakchart_info info[TTS_PEAKCHART_INFO_LINES];
    wrap_name(chart, run->name, &name);
    size_t infos = tts_peakchart_info(chart, run, info);
    struct tts_text_at at = {.x = top.x,
                             .y = top.y + AXIS_GAP + chart->name.size * 85 / 100,
                             .anchor = TTS_ANCHOR_MIDDLE,
                             .font = chart->name,
                             .paint = TTS_INK};
    for (size_t i = 0; i < name.count; i++) {
        tts_drawing_put_line(d, &at, name.text, &name.lines[i]);
        at.y += text_height(1, chart->name);
    }
    at.y = top.y + AXIS_GAP + text_height(chart->name_lines, chart->name) + 4 * TTS_PX +
           chart->info.size * 85 / 100;
    for (size_t i = 0; i < infos; i++) {
        at.font = (struct tts_font){chart->info.size, info[i].bold};
        at.paint = info[i].paint;
        tts_drawing_put(d, &at, info[i].text);
        at.y += text_height(1, chart->info);
    }
}

static bool has_own_limit(const struct tts_peakchart *chart, const struct tts_named_run *run)
{
    return !chart->has_one_limit && tts_peakchart_has_limit(run->mem);
}

/* All of a run but its bar and the line of its limit, in the slot that begins there. */
static void draw_run(struct tts_drawing *d, const struct tts_peakchart *chart,
                     const struct tts_named_run *run, struct tts_svg_point at)
{
    bool has_own = has_own_limit(chart, run);
    int64_t limit = has_own ? limit_y(chart, run->mem, at.y) : 0;
    struct tts_svg_point corner = {at.x + (chart->slot - chart->bar) / 2, at.y};
    int64_t top = tts_peakchart_draw_labels(d, chart, run, corner, false);
    at.x += chart->slot / 2;
    if (has_own)
        put_own_limit(d, run->mem, (struct tts_svg_point){at.x, top < limit ? top : limit});
    draw_below(d, chart, run, at);
}

/* Runs [from, to) in one plot. */
static void draw_row(struct tts_drawing *d, const struct tts_peakchart *chart, size_t from,
                     size_t to, struct tts_svg_box plot)
{
    int64_t bottom = plot.y + plot.height;
    size_t shapes = d->shape_count;
    tts_chart_draw_ticks(d, &chart->scale, plot, tick_font);
    tts_chart_draw_unit(d, plot, UNIT_WIDTH);
    struct tts_svg_point first = {plot.x + (chart->slot - chart->bar) / 2, bottom};
    for (size_t i = from; i < to; i++) {
        struct tts_svg_point corner = {first.x + (int64_t)(i - from) * chart->slot, bottom};
        tts_peakchart_draw_bar(d, chart, &chart->runs[i], corner);
    }
    tts_chart_line(d, (struct tts_svg_point){plot.x, bottom},
                   (struct tts_svg_point){plot.x + plot.width, bottom}, TTS_INK_FRAME, TTS_PX,
                   0);
    for (size_t i = from; i < to; i++) {
        struct tts_svg_point corner = {first.x + (int64_t)(i - from) * chart->slot, bottom};
        tts_peakchart_draw_labels(d, chart, &chart->runs[i], corner, true);
    }
    if (chart->has_one_limit)
        draw_one_limit(d, chart, plot, shapes);
    for (size_t i = from; i < to; i++) {
        int64_t x = plot.x + (int64_t)(i - from) * chart->slot + 4 * TTS_PX;
        int64_t y = limit_y(chart, chart->runs[i].mem, bottom);
        if (has_own_limit(chart, &chart->runs[i]))
            tts_chart_draw_limit(d, shapes,
                                 (struct tts_svg_box){x, y, chart->slot - 8 * TTS_PX, 0},
                                 limit_stroke);
    }
    for (size_t i = from; i < to; i++) {
        int64_t x = plot.x + (int64_t)(i - from) * chart->slot;
        draw_run(d, chart, &chart->runs[i], (struct tts_svg_point){x, bottom});
    }
}

static void draw_rows(struct tts_drawing *d, const struct tts_peakchart *chart)
{
    int64_t y = chart->top;
    for (size_t from = 0; from < chart->count; from += chart->per_row) {
        size_t to = from + chart->per_row;
        to = to > chart->count ? chart->count : to;
        struct tts_svg_box plot = {chart->left, y,
                                   (int64_t)chart->per_row * chart->slot + chart->spare,
                                   chart->plot_height};
        draw_row(d, chart, from, to, plot);
        y += row_height(chart) + ROW_GAP;
    }
}

enum tts_status tts_peakchart(const struct tts_named_run *runs, size_t count, const char *title,
                              const struct tts_alloc *alloc, struct tts_drawing *out)
{
    if (count == 0 || count > TTS_CHART_RUNS_MAX)
        return TTS_E_RANGE;
    struct tts_drawing d;
    struct tts_chart_legend legends[TTS_CHART_LEGEND_MAX];
    struct tts_peakchart chart = {.runs = runs, .count = count, .names = {runs, count}};
    chart.rows = (count + ROW_MAX - 1) / ROW_MAX;
    chart.per_row = (count + chart.rows - 1) / chart.rows;
    tts_drawing_init(&d, alloc);
    measure_scale(&chart);
    choose_sizes(&chart);
    measure_slot(&chart);
    size_t legend_count = make_legend(&chart, legends);
    measure_width(&chart, &d,
                  tts_chart_larger(tts_chart_head_width(legends, legend_count), 560 * TTS_PX));
    measure_lines(&chart);
    chart.top = tts_chart_draw_head(&d, title, legends, legend_count) + 14 * TTS_PX;
    int64_t rows = (int64_t)chart.rows;
    d.height = chart.top + rows * row_height(&chart) + (rows - 1) * ROW_GAP + 16 * TTS_PX;
    d.height = (d.height + TTS_PX - 1) / TTS_PX * TTS_PX;
    draw_rows(&d, &chart);
    tts_peakchart_describe(&d, &chart, title);
    if (d.is_short) {
        tts_drawing_release(&d);
        return TTS_E_NOMEM;
    }
    *out = d;
    return TTS_OK;
}
