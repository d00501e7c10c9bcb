/* phasechart.c: draws memory over the phases of training runs, with one panel for each run. */
#include "views/chart/chartnames.h"
#include "views/chart/linechart.h"
#include "views/chart/memcharts.h"

#include <stdio.h>
#include <string.h>

enum {
    TICKS = 8,
    /* A limit is shown up to 5/2 of the largest figure. A higher limit would squeeze the lines.
     */
    LIMIT_SHOWN = 5,
    SCALES_ALIKE = 4,
    LEFT = 28 * TTS_PX, /* width for the text "Memory (MB)" */
    PANEL_GAP = 22 * TTS_PX,
    NOTE_ROW = 26 * TTS_PX,
    LABEL_LINES = 2,
    LABEL_GAP = 7 * TTS_PX,
    PHASE_NAME = 13 * TTS_PX, /* font sizes in the head of a panel */
    PHASE_INFO = 11 * TTS_PX,
    PHASE_HEAD = 58 * TTS_PX, /* height of the head: three lines */
    HALF_ROOT = 7071,         /* sine of 45 degrees, in ten thousandths */
};

/* The series, in drawing order: dark and broad, light and narrow, dashed. They can be told
 * apart without colour. */
enum { PHASE_SERIES = 3 };
static const struct tts_lineseries phase_series[PHASE_SERIES] = {
    {"Cumulative Peak", "peak", {0x1b2733, 255}, 3 * TTS_PX, 0, 0},
    {"Cumulative Current", "current", {0x3f97ab, 255}, TTS_PX * 7 / 4, 0, 60},
    {"Segment Peak", "segment", {0xc4631a, 255}, 2 * TTS_PX, 3 * TTS_PX, 0},
};
static const enum tts_run_figure phase_figures[PHASE_SERIES] = {
    TTS_RUN_CUMULATIVE_PEAK, TTS_RUN_CUMULATIVE_CURRENT, TTS_RUN_SEGMENT_PEAK};

static const struct tts_chart_stroke limit_stroke = {3 * TTS_PX / 2, 8 * TTS_PX};

/* One run with its scale and place. */
struct phasepanel {
    const struct tts_named_run *run;
    struct tts_chartnames names; /* of all panels */
    struct tts_linechart chart;
};

/* Layout of the phase names below the plots. All panels share it. */
struct phaselabels {
    struct tts_font font;
    bool is_level;   /* false: the names are slanted */
    size_t lines;    /* level names: lines of the tallest name */
    int64_t longest; /* slanted names: maximum length */
    int64_t height;
};

struct chart {
    struct phasepanel panels[TTS_CHART_PHASE_RUNS_MAX];
    size_t count, columns, rows;
    struct phaselabels labels;
    bool has_own_scales;
    int64_t left, plot_width, plot_height;
};

static struct tts_amount phase_value(const void *ctx, size_t series, size_t point)
{
    const struct tts_run *run = ctx;
    return run->phases[point].figures[phase_figures[series]];
}

static struct tts_linechart linechart_of_run(const struct tts_named_run *run, int64_t low,
                                             int64_t high)
{
    const struct tts_trainmem *mem = run->mem;
    bool has_mark = mem->has_peak_phase && mem->peak_phase < run->run->phase_count;
    return (struct tts_linechart){.scale = tts_chart_scale_of(low, high, TICKS),
                                  .point_count = run->run->phase_count,
                                  .series = phase_series,
                                  .series_count = PHASE_SERIES,
                                  .value = phase_value,
                                  .ctx = run->run,
                                  .limit = mem->device_memory,
                                  .limit_stroke = limit_stroke,
                                  .mark = has_mark ? mem->peak : (struct tts_amount){0},
                                  .mark_point = mem->peak_phase};
}

/* ---- names of phases ---- */

/* Returns true if no line is cut or broken inside a word. */
static bool is_wrapped_whole(const char *text, const struct tts_text_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t end = lines[i].start + lines[i].len;
        if (lines[i].is_cut || lines[i].len == 0)
            return false;
        if (i + 1 < count && lines[i + 1].start == end && !strchr("_-/.", text[end - 1]))
            return false;
    }
    return true;
}

static bool fits_level(const struct tts_run *run, struct tts_font font, int64_t width,
                       size_t *lines)
{
    for (size_t i = 0; i < run->phase_count; i++) {
        struct tts_text_line wrapped[LABEL_LINES];
        int64_t slot = width / (int64_t)run->phase_count - 8 * TTS_PX;
        size_t count = tts_text_wrap(run->phases[i].name, font, slot, wrapped, LABEL_LINES);
        if (!is_wrapped_whole(run->phases[i].name, wrapped, count))
            return false;
        *lines = count > *lines ? count : *lines;
    }
    return true;
}

static int64_t longest_name(const struct tts_run *run, struct tts_font font)
{
    int64_t longest = 0, most = TTS_CHART_PHASE_EMS * font.size;
    for (size_t i = 0; i < run->phase_count && longest < most; i++) {
        const char *name = run->phases[i].name;
        int64_t width = tts_text_width(name, strlen(name), font);
        longest = width > longest ? width : longest;
    }
    return longest < most ? longest : most;
}

static int64_t reach_of_names(const struct tts_run *run, const struct phaselabels *labels,
                              int64_t width)
{
    int64_t reach = 0;
    for (size_t i = 0; i < run->phase_count; i++) {
        const char *name = run->phases[i].name;
        int64_t length = tts_text_width(name, strlen(name), labels->font);
        length = length < labels->longest ? length : labels->longest;
        int64_t middle = width * (2 * (int64_t)i + 1) / (2 * (int64_t)run->phase_count);
        int64_t left = (length + labels->font.size) * HALF_ROOT / 10000 - middle;
        reach = tts_chart_larger(reach, left);
    }
    return reach;
}

static void draw_level_names(struct tts_drawing *d, const struct phasepanel *panel,
                             const struct phaselabels *labels)
{
    const struct tts_run *run = panel->run->run;
    int64_t slot = panel->chart.plot.width / (int64_t)run->phase_count - 8 * TTS_PX;
    for (size_t i = 0; i < run->phase_count; i++) {
        struct tts_text_line lines[LABEL_LINES];
        size_t count =
            tts_text_wrap(run->phases[i].name, labels->font, slot, lines, LABEL_LINES);
        struct tts_text_at at = {.x = tts_linechart_sample(&panel->chart, i).x,
                                 .y = panel->chart.plot.y + panel->chart.plot.height +
                                      LABEL_GAP + labels->font.size * 85 / 100,
                                 .anchor = TTS_ANCHOR_MIDDLE,
                                 .font = labels->font,
                                 .paint = TTS_INK};
        for (size_t line = 0; line < count; line++) {
            tts_drawing_put_line(d, &at, run->phases[i].name, &lines[line]);
            at.y += labels->font.size * TTS_CHART_LINE / 100;
        }
    }
}

/* Returns the distance of named samples: 1, 2, 5, 10, ... */
static size_t label_step(const struct phasepanel *panel, struct tts_font font)
{
    int64_t apart = font.size * 120 / 100 * 10000 / HALF_ROOT;
    int64_t samples = (int64_t)tts_linechart_samples(&panel->chart);
    for (int64_t power = 1;; power *= 10)
        for (int i = 0; i < 3; i++) {
            int64_t step = power * (i == 0 ? 1 : i == 1 ? 2 : 5);
            if (step >= samples || panel->chart.plot.width * step / samples >= apart)
                return (size_t)step;
        }
}

static void draw_rising_names(struct tts_drawing *d, const struct phasepanel *panel,
                              const struct phaselabels *labels)
{
    size_t samples = tts_linechart_samples(&panel->chart),
           step = label_step(panel, labels->font);
    int64_t bottom = panel->chart.plot.y + panel->chart.plot.height;
    for (size_t i = 0; i < samples; i += step) {
        char text[TTS_TEXT_SQUEEZED_MAX];
        struct tts_linesample sample = tts_linechart_sample(&panel->chart, i);
        const char *name = panel->run->run->phases[sample.point].name;
        int64_t x = sample.x;
        struct tts_text_at at = {.x = x + labels->font.size * 30 / 100,
                                 .y = bottom + 5 * TTS_PX +
                                      labels->font.size * 85 / 100 * HALF_ROOT / 10000,
                                 .anchor = TTS_ANCHOR_END,
                                 .font = labels->font,
                                 .paint = TTS_INK,
                                 .rotate = -45};
        tts_chart_line(d, (struct tts_svg_point){x, bottom},
                       (struct tts_svg_point){x, bottom + 4 * TTS_PX}, TTS_INK_FRAME, TTS_PX,
                       0);
        tts_drawing_put(d, &at, tts_text_squeeze(text, name, labels->font, labels->longest));
    }
}

/* ---- the head of a panel ---- */

static struct tts_text_at place_panel_head(const struct phasepanel *panel, int64_t y,
                                           struct tts_font font, struct tts_paint paint)
{
    return (struct tts_text_at){.x = panel->chart.plot.x,
                                .y = panel->chart.plot.y - PHASE_HEAD + y,
                                .font = font,
                                .paint = paint};
}

static void draw_panel_name(struct tts_drawing *d, const struct phasepanel *panel)
{
    char text[TTS_TEXT_SQUEEZED_MAX];
    struct tts_text_at at =
        place_panel_head(panel, 15 * TTS_PX, (struct tts_font){PHASE_NAME, true}, TTS_INK);
    struct tts_chartname_space space = {at.font, panel->chart.plot.width, 1};
    tts_drawing_put(d, &at, tts_chartnames_fit(&panel->names, panel->run->name, &space, text));
}

static void draw_panel_peak(struct tts_drawing *d, const struct phasepanel *panel)
{
    const struct tts_trainmem *mem = panel->run->mem;
    const struct tts_run *run = panel->run->run;
    char size[TTS_CHART_MB_MAX], text[TTS_RUN_NAME_MAX + TTS_CHART_USAGE_MAX];
    char squeezed[TTS_TEXT_SQUEEZED_MAX];
    if (!mem->peak.is_known)
        snprintf(text, sizeof text, "peak: unknown");
    else
        snprintf(text, sizeof text, "peak %s%s%s%s", mem->peak_at_least ? "\xe2\x89\xa5 " : "",
                 tts_chart_own_mb(size, mem->peak.bytes), mem->has_peak_phase ? " in " : "",
                 mem->has_peak_phase && mem->peak_phase < run->phase_count
                     ? run->phases[mem->peak_phase].name
                     : "");
    struct tts_text_at at = place_panel_head(
        panel, 31 * TTS_PX, (struct tts_font){PHASE_INFO, false}, TTS_INK_SOFT);
    tts_drawing_put(d, &at, tts_text_squeeze(squeezed, text, at.font, panel->chart.plot.width));
}

/* Draws the limit on the left and the verdict on the right. */
static void draw_panel_verdict(struct tts_drawing *d, const struct phasepanel *panel)
{
    const struct tts_trainmem *mem = panel->run->mem;
    char size[TTS_CHART_MB_MAX];
    int64_t bytes = mem->device_memory.bytes;
    bool has_limit = mem->device_memory.is_known && bytes > 0;
    struct tts_font bold = {PHASE_INFO, true};
    struct tts_text_at left =
        place_panel_head(panel, 46 * TTS_PX, bold, has_limit ? TTS_INK_WARNING : TTS_INK_SOFT);
    struct tts_text_at right = place_panel_head(panel, 46 * TTS_PX, bold, TTS_INK_SOFT);
    if (has_limit)
        tts_drawing_put_format(d, &left, "limit %s%s", tts_chart_own_mb(size, bytes),
                               bytes > panel->chart.scale.high ? ", not shown" : "");
    else
        tts_drawing_put(d, &left, "limit: unknown");
    right.x += panel->chart.plot.width;
    right.anchor = TTS_ANCHOR_END;
    if (mem->has_verdict)
        right.paint = mem->fits ? TTS_INK_GOOD : TTS_INK_WARNING;
    if (mem->has_verdict)
        tts_drawing_put(d, &right, mem->fits ? "fits" : "does not fit");
    else if (mem->peak.is_known && has_limit)
        tts_drawing_put(d, &right, "fits: unknown");
}

static void draw_phase_panel(struct tts_drawing *d, const struct phasepanel *panel,
                             const struct phaselabels *labels)
{
    draw_panel_name(d, panel);
    draw_panel_peak(d, panel);
    draw_panel_verdict(d, panel);
    tts_linechart_draw(d, &panel->chart);
    if (panel->run->run->phase_count == 0) {
        struct tts_text_at at = {.x = panel->chart.plot.x + panel->chart.plot.width / 2,
                                 .y = panel->chart.plot.y + panel->chart.plot.height / 2,
                                 .anchor = TTS_ANCHOR_MIDDLE,
                                 .font = {PHASE_INFO, false},
                                 .paint = TTS_INK_SOFT};
        tts_drawing_put(d, &at, "no phases");
        return;
    }
    if (labels->is_level)
        draw_level_names(d, panel, labels);
    else
        draw_rising_names(d, panel, labels);
}

/* ---- scales ---- */

static void range_of_run(const struct tts_named_run *run, int64_t *low, int64_t *high)
{
    *low = 0;
    *high = run->mem->peak.bytes;
    for (size_t i = 0; i < run->run->phase_count; i++)
        for (int series = 0; series < PHASE_SERIES; series++) {
            int64_t bytes = run->run->phases[i].figures[phase_figures[series]].bytes;
            *low = bytes < *low ? bytes : *low;
            *high = tts_chart_larger(*high, bytes);
        }
    *high = tts_chart_clamp(*high);
    int64_t limit = run->mem->device_memory.bytes;
    if (limit > *high && limit <= *high / 2 * LIMIT_SHOWN)
        *high = limit;
}

/* Chooses one scale for all panels, unless some runs would be too small to see. */
static void choose_panel_scales(struct chart *chart, const struct tts_named_run *runs)
{
    struct tts_chartnames names = {runs, chart->count};
    int64_t low = 0, high = 0, least = INT64_MAX;
    for (size_t i = 0; i < chart->count; i++) {
        int64_t run_low, run_high;
        range_of_run(&runs[i], &run_low, &run_high);
        chart->panels[i] =
            (struct phasepanel){.run = &runs[i],
                                .names = names,
                                .chart = linechart_of_run(&runs[i], run_low, run_high)};
        low = run_low < low ? run_low : low;
        high = tts_chart_larger(high, run_high);
        least = run_high < least ? run_high : least;
    }
    chart->has_own_scales = high / SCALES_ALIKE > least;
    for (size_t i = 0; i < chart->count && !chart->has_own_scales; i++)
        chart->panels[i].chart.scale = tts_chart_scale_of(low, high, TICKS);
}

/* ---- measures ---- */

static void choose_panel_grid(struct chart *chart)
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
        int64_t ticks =
            tts_chart_ticks_width(&chart->panels[i].chart.scale, chart->labels.font);
        chart->left = tts_chart_larger(chart->left, LEFT + ticks);
    }
}

/* Measures the names below the plots. Slanted names reach left of the first phase, so space is
 * added there. */
static void measure_phase_labels(struct chart *chart)
{
    struct phaselabels *labels = &chart->labels;
    labels->is_level = true;
    for (size_t i = 0; i < chart->count; i++) {
        const struct tts_run *run = chart->panels[i].run->run;
        labels->is_level &= fits_level(run, labels->font, chart->plot_width, &labels->lines);
        labels->longest = tts_chart_larger(labels->longest, longest_name(run, labels->font));
    }
    for (size_t i = 0; i < chart->count && !labels->is_level; i++)
        chart->left = tts_chart_larger(
            chart->left, reach_of_names(chart->panels[i].run->run, labels, chart->plot_width));
    if (labels->is_level)
        labels->height =
            7 * TTS_PX + (int64_t)labels->lines * labels->font.size * TTS_CHART_LINE / 100;
    else
        labels->height =
            7 * TTS_PX + (labels->longest + labels->font.size * 110 / 100) * HALF_ROOT / 10000;
}

static int64_t panel_cell_height(const struct chart *chart)
{
    return PHASE_HEAD + chart->plot_height + chart->labels.height;
}

/* ---- drawing ---- */

static size_t make_phase_legend(const struct chart *chart,
                                struct tts_chart_legend out[TTS_CHART_LEGEND_MAX])
{
    size_t count = 0;
    bool has_limit = false;
    for (int i = 0; i < PHASE_SERIES; i++) {
        const struct tts_lineseries *series = &phase_series[i];
        out[count++] = (struct tts_chart_legend){.text = series->label,
                                                 .paint = series->paint,
                                                 .is_line = true,
                                                 .stroke_width = series->stroke_width,
                                                 .dash = series->dash,
                                                 .area_alpha = series->area_alpha};
    }
    for (size_t i = 0; i < chart->count; i++) {
        struct tts_amount limit = chart->panels[i].run->mem->device_memory;
        has_limit |= limit.is_known && limit.bytes > 0 &&
                     limit.bytes <= chart->panels[i].chart.scale.high;
    }
    if (has_limit)
        out[count++] = tts_chart_limit_legend(limit_stroke.width, limit_stroke.dash);
    return count;
}

static int64_t draw_scale_note(struct tts_drawing *d, const struct chart *chart, int64_t y)
{
    if (!chart->has_own_scales)
        return y;
    struct tts_text_at at = {.x = d->width / 2,
                             .y = y + 13 * TTS_PX,
                             .anchor = TTS_ANCHOR_MIDDLE,
                             .font = {PHASE_INFO, false},
                             .paint = TTS_INK_SOFT};
    tts_drawing_put(d, &at, "each run has its own scale");
    return y + NOTE_ROW;
}

static void draw_phase_panels(struct tts_drawing *d, struct chart *chart, int64_t top)
{
    for (size_t i = 0; i < chart->count; i++) {
        struct phasepanel *panel = &chart->panels[i];
        int64_t column = (int64_t)(i % chart->columns), row = (int64_t)(i / chart->columns);
        panel->chart.has_unit = column == 0;
        panel->chart.font = chart->labels.font;
        panel->chart.plot = (struct tts_svg_box){
            chart->left + column * (chart->left + chart->plot_width),
            top + PHASE_HEAD + row * (panel_cell_height(chart) + PANEL_GAP), chart->plot_width,
            chart->plot_height};
        draw_phase_panel(d, panel, &chart->labels);
    }
}

static void describe_phasechart(struct tts_drawing *d, const struct chart *chart,
                                const char *title)
{
    const char *name = title && title[0] ? title : "Memory over the phases of training runs";
    d->title = tts_drawing_keep(d, name, strlen(name));
    d->description = tts_drawing_keep_format(
        d, "Cumulative current, cumulative peak and segment peak of %zu runs.", chart->count);
    for (size_t i = 0; i < chart->count; i++) {
        const struct phasepanel *panel = &chart->panels[i];
        char size[TTS_CHART_MB_MAX];
        const struct tts_trainmem *mem = panel->run->mem;
        tts_drawing_extend(d, " ", 1);
        tts_drawing_extend(d, panel->run->name, strlen(panel->run->name));
        tts_drawing_extend_format(d, ": %zu phases, peak %s.", panel->run->run->phase_count,
                                  mem->peak.is_known ? tts_chart_own_mb(size, mem->peak.bytes)
                                                     : "unknown");
    }
}

enum tts_status tts_phasechart(const struct tts_named_run *runs, size_t count,
                               const char *title, const struct tts_alloc *alloc,
                               struct tts_drawing *out)
{
    if (count == 0 || count > TTS_CHART_PHASE_RUNS_MAX)
        return TTS_E_RANGE;
    struct tts_drawing d;
    struct tts_chart_legend legends[TTS_CHART_LEGEND_MAX];
    struct chart chart = {.count = count};
    tts_drawing_init(&d, alloc);
    choose_panel_scales(&chart, runs);
    choose_panel_grid(&chart);
    measure_phase_labels(&chart);
    d.width = (int64_t)chart.columns * (chart.left + chart.plot_width) + TTS_CHART_MARGIN;
    d.width = (d.width + TTS_PX - 1) / TTS_PX * TTS_PX;
    int64_t top = tts_chart_draw_head(&d, title, legends, make_phase_legend(&chart, legends)) +
                  10 * TTS_PX;
    top = draw_scale_note(&d, &chart, top);
    int64_t rows = (int64_t)chart.rows;
    d.height = top + rows * panel_cell_height(&chart) + (rows - 1) * PANEL_GAP + 14 * TTS_PX;
    d.height = (d.height + TTS_PX - 1) / TTS_PX * TTS_PX;
    draw_phase_panels(&d, &chart, top);
    describe_phasechart(&d, &chart, title);
    if (d.is_short) {
        tts_drawing_release(&d);
        return TTS_E_NOMEM;
    }
    *out = d;
    return TTS_OK;
}
