#include "views/phasechart_inside.h"

#include <string.h>

enum {
    TICKS = 8,
    LIMIT_SHOWN = 5, /* halves of what there is to see: a limit above squeezes the lines */
    SCALES_ALIKE = 4,
    LEFT = 28 * TTS_PX, /* for "Memory (MB)" */
    PANEL_GAP = 22 * TTS_PX,
    NOTE_ROW = 26 * TTS_PX,
};

struct chart {
    struct tts_phasepanel panels[TTS_CHART_PHASE_RUNS_MAX];
    size_t count, columns, rows;
    struct tts_phaselabels labels;
    bool has_own_scales;
    int64_t left, plot_width, plot_height;
};

/* --- scales ------------------------------------------------------------------------------- */

static void range_of(const struct tts_chart_run *run, int64_t *low, int64_t *high)
{
    *low = 0;
    *high = run->mem->peak.bytes;
    for (size_t i = 0; i < run->run->phase_count; i++)
        for (int series = 0; series < TTS_PHASE_SERIES; series++) {
            int64_t bytes = run->run->phases[i].figures[tts_phase_series[series].figure].bytes;
            *low = bytes < *low ? bytes : *low;
            *high = tts_chart_larger(*high, bytes);
        }
    *high = tts_chart_clamp(*high);
    int64_t limit = run->mem->device_memory.bytes;
    if (limit > *high && limit <= *high / 2 * LIMIT_SHOWN)
        *high = limit;
}

/* One scale for all, unless some would be too small to see. */
static void choose_scales(struct chart *chart, const struct tts_chart_run *runs)
{
    struct tts_chartnames names = {runs, chart->count};
    int64_t low = 0, high = 0, least = INT64_MAX;
    for (size_t i = 0; i < chart->count; i++) {
        int64_t run_low, run_high;
        range_of(&runs[i], &run_low, &run_high);
        chart->panels[i] =
            (struct tts_phasepanel){.run = &runs[i],
                                    .names = names,
                                    .scale = tts_chart_scale_of(run_low, run_high, TICKS)};
        low = run_low < low ? run_low : low;
        high = tts_chart_larger(high, run_high);
        least = run_high < least ? run_high : least;
    }
    chart->has_own_scales = high / SCALES_ALIKE > least;
    for (size_t i = 0; i < chart->count && !chart->has_own_scales; i++)
        chart->panels[i].scale = tts_chart_scale_of(low, high, TICKS);
}

/* --- measures ------------------------------------------------------------------------------
 */

static void choose_grid(struct chart *chart)
{
    static const struct {
        uint8_t columns;
        int16_t width, height;
    } grids[TTS_CHART_PHASE_RUNS_MAX] = {
        {1, 820, 380}, {2, 470, 340}, {3, 400, 320}, {2, 470, 260},
        {3, 400, 260}, {3, 400, 260}, {3, 380, 220}, {3, 380, 220},
        {3, 380, 220}, {4, 320, 220}, {4, 320, 220}, {4, 320, 220},
    };
    chart->columns = grids[chart->count - 1].columns;
    chart->rows = (chart->count + chart->columns - 1) / chart->columns;
    chart->plot_width = grids[chart->count - 1].width * TTS_PX;
    chart->plot_height = grids[chart->count - 1].height * TTS_PX;
    chart->labels.font =
        (struct tts_font){chart->count <= 2 ? 11 * TTS_PX : 10 * TTS_PX, false};
    for (size_t i = 0; i < chart->count; i++) {
        int64_t ticks = tts_chart_ticks_width(&chart->panels[i].scale, chart->labels.font);
        chart->left = tts_chart_larger(chart->left, LEFT + ticks);
    }
}

/* Rising names reach left of the first phase: there is room for that. */
static void measure_labels(struct chart *chart)
{
    struct tts_phaselabels *labels = &chart->labels;
    labels->is_level = true;
    for (size_t i = 0; i < chart->count; i++) {
        const struct tts_run *run = chart->panels[i].run->run;
        labels->is_level &=
            tts_phase_is_level(run, labels->font, chart->plot_width, &labels->lines);
        labels->longest =
            tts_chart_larger(labels->longest, tts_phase_longest(run, labels->font));
    }
    for (size_t i = 0; i < chart->count && !labels->is_level; i++)
        chart->left = tts_chart_larger(
            chart->left, tts_phase_reach(chart->panels[i].run->run, labels, chart->plot_width));
    if (labels->is_level)
        labels->height =
            7 * TTS_PX + (int64_t)labels->lines * labels->font.size * TTS_CHART_LINE / 100;
    else
        labels->height = 7 * TTS_PX + (labels->longest + labels->font.size * 110 / 100) *
                                          TTS_PHASE_HALF_ROOT / 10000;
}

static int64_t cell_height(const struct chart *chart)
{
    return TTS_PHASE_HEAD + chart->plot_height + chart->labels.height;
}

/* --- drawing ------------------------------------------------------------------------------ */

static size_t make_legend(const struct chart *chart,
                          struct tts_chart_legend out[TTS_CHART_LEGEND_MAX])
{
    size_t count = 0;
    bool has_limit = false;
    for (int i = 0; i < TTS_PHASE_SERIES; i++) {
        const struct tts_phaseseries *series = &tts_phase_series[i];
        out[count++] = (struct tts_chart_legend){.text = series->label,
                                                 .paint = series->paint,
                                                 .is_line = true,
                                                 .stroke_width = series->stroke_width,
                                                 .dash = series->dash,
                                                 .area_alpha = series->area_alpha};
    }
    for (size_t i = 0; i < chart->count; i++) {
        struct tts_amount limit = chart->panels[i].run->mem->device_memory;
        has_limit |=
            limit.is_known && limit.bytes > 0 && limit.bytes <= chart->panels[i].scale.high;
    }
    if (has_limit)
        out[count++] = tts_chart_limit_legend(TTS_PHASE_LIMIT_WIDTH, TTS_PHASE_LIMIT_DASH);
    return count;
}

static int64_t draw_note(struct tts_drawing *d, const struct chart *chart, int64_t y)
{
    if (!chart->has_own_scales)
        return y;
    struct tts_text_at at = {.x = d->width / 2,
                             .y = y + 13 * TTS_PX,
                             .anchor = TTS_ANCHOR_MIDDLE,
                             .font = {TTS_PHASE_INFO, false},
                             .paint = TTS_INK_SOFT};
    tts_drawing_put(d, &at, "each run has a scale of its own");
    return y + NOTE_ROW;
}

static void draw_panels(struct tts_drawing *d, struct chart *chart, int64_t top)
{
    for (size_t i = 0; i < chart->count; i++) {
        struct tts_phasepanel *panel = &chart->panels[i];
        int64_t column = (int64_t)(i % chart->columns), row = (int64_t)(i / chart->columns);
        panel->has_unit = column == 0;
        panel->plot =
            (struct tts_svg_box){chart->left + column * (chart->left + chart->plot_width),
                                 top + TTS_PHASE_HEAD + row * (cell_height(chart) + PANEL_GAP),
                                 chart->plot_width, chart->plot_height};
        tts_phase_draw_panel(d, panel, &chart->labels);
    }
}

static void describe(struct tts_drawing *d, const struct chart *chart, const char *title)
{
    const char *name = title && title[0] ? title : "Memory over the phases of training runs";
    d->title = tts_drawing_keep(d, name, strlen(name));
    d->description = tts_drawing_keep_format(
        d, "Cumulative current, cumulative peak and segment peak of %zu runs.", chart->count);
    for (size_t i = 0; i < chart->count; i++) {
        const struct tts_phasepanel *panel = &chart->panels[i];
        char size[TTS_CHART_MB_MAX];
        const struct tts_trainmem *mem = panel->run->mem;
        tts_drawing_extend(d, " ", 1);
        tts_drawing_extend(d, panel->run->name, strlen(panel->run->name));
        tts_drawing_extend_format(d, ": %zu phases, peak %s.", panel->run->run->phase_count,
                                  mem->peak.is_known ? tts_chart_own_mb(size, mem->peak.bytes)
                                                     : "not known");
    }
}

enum tts_status tts_phasechart(const struct tts_chart_run *runs, size_t count,
                               const char *title, const struct tts_alloc *alloc,
                               struct tts_drawing *out)
{
    if (count == 0 || count > TTS_CHART_PHASE_RUNS_MAX)
        return TTS_E_RANGE;
    struct tts_drawing d;
    struct tts_chart_legend legends[TTS_CHART_LEGEND_MAX];
    struct chart chart = {.count = count};
    tts_drawing_init(&d, alloc);
    choose_scales(&chart, runs);
    choose_grid(&chart);
    measure_labels(&chart);
    d.width = (int64_t)chart.columns * (chart.left + chart.plot_width) + TTS_CHART_MARGIN;
    d.width = (d.width + TTS_PX - 1) / TTS_PX * TTS_PX;
    int64_t top =
        tts_chart_draw_head(&d, title, legends, make_legend(&chart, legends)) + 10 * TTS_PX;
    top = draw_note(&d, &chart, top);
    int64_t rows = (int64_t)chart.rows;
    d.height = top + rows * cell_height(&chart) + (rows - 1) * PANEL_GAP + 14 * TTS_PX;
    d.height = (d.height + TTS_PX - 1) / TTS_PX * TTS_PX;
    draw_panels(&d, &chart, top);
    describe(&d, &chart, title);
    if (d.is_short) {
        tts_drawing_release(&d);
        return TTS_E_NOMEM;
    }
    *out = d;
    return TTS_OK;
}
