#include "views/phasechart_inside.h"

#include <stdio.h>
#include <string.h>

enum {
    SEPARATED = 24 * TTS_PX, /* the least width of a phase that gets edges */
    MARK = 7 * TTS_PX,
    LABEL_GAP = 7 * TTS_PX,
};

/* Dark and broad below, light and narrow above, dashed on top: told apart without colour. */
const struct tts_phaseseries tts_phase_series[TTS_PHASE_SERIES] = {
    {"Cumulative Peak", "peak", TTS_RUN_CUMULATIVE_PEAK, {0x1b2733, 255}, 3 * TTS_PX, 0, 0},
    {"Cumulative Current",
     "current",
     TTS_RUN_CUMULATIVE_CURRENT,
     {0x3f97ab, 255},
     TTS_PX * 7 / 4,
     0,
     60},
    {"Segment Peak",
     "segment",
     TTS_RUN_SEGMENT_PEAK,
     {0xc4631a, 255},
     2 * TTS_PX,
     3 * TTS_PX,
     0},
};

static int64_t y_of(const struct tts_phasepanel *panel, int64_t bytes)
{
    return panel->plot.y + panel->plot.height -
           tts_chart_height(&panel->scale, bytes, panel->plot.height);
}

/* --- samples: a phase each, or as many as there are pixels ---------------------------------
 */

static size_t sample_count(const struct tts_phasepanel *panel)
{
    size_t phases = panel->run->run->phase_count;
    size_t pixels = (size_t)(panel->plot.width / TTS_PX);
    return phases < pixels ? phases : pixels;
}

/* The first phase of a sample. */
static size_t phase_of(const struct tts_phasepanel *panel, size_t sample)
{
    size_t phases = panel->run->run->phase_count, samples = sample_count(panel);
    size_t whole = phases / samples, rest = phases % samples;
    return sample * whole + sample * rest / samples;
}

static size_t sample_of(const struct tts_phasepanel *panel, size_t phase)
{
    size_t sample = 0, samples = sample_count(panel);
    while (sample + 1 < samples && phase_of(panel, sample + 1) <= phase)
        sample++;
    return sample;
}

/* The most of what its phases say. */
static struct tts_amount value_of(const struct tts_phasepanel *panel, size_t sample,
                                  enum tts_run_figure figure)
{
    struct tts_amount most = {0};
    size_t to = phase_of(panel, sample + 1);
    for (size_t i = phase_of(panel, sample); i < to; i++) {
        struct tts_amount amount = panel->run->run->phases[i].figures[figure];
        if (amount.is_known && (!most.is_known || amount.bytes > most.bytes))
            most = amount;
    }
    return most;
}

static int64_t x_of(const struct tts_phasepanel *panel, size_t sample)
{
    return panel->plot.x + panel->plot.width * (int64_t)sample / (int64_t)sample_count(panel);
}

static int64_t middle_of(const struct tts_phasepanel *panel, size_t sample)
{
    return (x_of(panel, sample) + x_of(panel, sample + 1)) / 2;
}

/* --- lines -------------------------------------------------------------------------------- */

/* The samples [from, to), all of them known. */
static void draw_piece(struct tts_drawing *d, const struct tts_phasepanel *panel,
                       const struct tts_phaseseries *series, size_t from, size_t to, bool area)
{
    struct tts_drawn shape = {.kind = TTS_SHAPE_STEPS, .points = d->point_count};
    for (size_t i = from; i < to; i++) {
        int64_t y = y_of(panel, value_of(panel, i, series->figure).bytes);
        tts_drawing_point(d, x_of(panel, i), y);
        tts_drawing_point(d, x_of(panel, i + 1), y);
    }
    if (area) {
        tts_drawing_point(d, x_of(panel, to), y_of(panel, 0));
        tts_drawing_point(d, x_of(panel, from), y_of(panel, 0));
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

static void draw_series(struct tts_drawing *d, const struct tts_phasepanel *panel,
                        const struct tts_phaseseries *series, bool area)
{
    size_t samples = sample_count(panel), from = 0;
    for (size_t i = 0; i <= samples; i++) {
        bool is_known = i < samples && value_of(panel, i, series->figure).is_known;
        if (is_known)
            continue;
        if (i > from)
            draw_piece(d, panel, series, from, i, area);
        from = i + 1;
    }
}

static void draw_ground(struct tts_drawing *d, const struct tts_phasepanel *panel,
                        struct tts_font font)
{
    struct tts_svg_box plot = panel->plot;
    int64_t bottom = plot.y + plot.height, zero = y_of(panel, 0);
    size_t samples = sample_count(panel);
    tts_chart_draw_ticks(d, &panel->scale, plot, font);
    if (panel->has_unit)
        tts_chart_draw_unit(d, plot,
                            plot.x - tts_chart_ticks_width(&panel->scale, font) - 6 * TTS_PX);
    for (size_t i = 1; i < samples && plot.width / (int64_t)samples >= SEPARATED; i++)
        tts_chart_line(d, (struct tts_svg_point){x_of(panel, i), plot.y},
                       (struct tts_svg_point){x_of(panel, i), bottom},
                       (struct tts_paint){0xe9edf1, 255}, TTS_PX, 0);
    tts_chart_line(d, (struct tts_svg_point){plot.x, zero},
                   (struct tts_svg_point){plot.x + plot.width, zero}, TTS_INK_FRAME, TTS_PX, 0);
}

static void draw_limit(struct tts_drawing *d, const struct tts_phasepanel *panel, size_t first)
{
    struct tts_amount limit = panel->run->mem->device_memory;
    if (!limit.is_known || limit.bytes <= 0 || limit.bytes > panel->scale.high)
        return;
    struct tts_svg_box line = {panel->plot.x, y_of(panel, limit.bytes), panel->plot.width, 0};
    tts_chart_draw_limit(
        d, first, line, (struct tts_chart_stroke){TTS_PHASE_LIMIT_WIDTH, TTS_PHASE_LIMIT_DASH});
}

/* The limit, and the peak with its value, where the limit has a gap. */
static void draw_mark(struct tts_drawing *d, const struct tts_phasepanel *panel,
                      struct tts_font font)
{
    const struct tts_trainmem *mem = panel->run->mem;
    if (!mem->peak.is_known || !mem->has_peak_phase ||
        mem->peak_phase >= panel->run->run->phase_count) {
        draw_limit(d, panel, d->shape_count);
        return;
    }
    char text[TTS_CHART_MB_MAX];
    int64_t x = middle_of(panel, sample_of(panel, mem->peak_phase));
    int64_t y = y_of(panel, mem->peak.bytes);
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
                             .font = {font.size, true},
                             .paint = TTS_INK};
    tts_chart_own_mb(text, mem->peak.bytes);
    int64_t width = tts_text_width(text, strlen(text), at.font), half = width / 2 + 3 * TTS_PX;
    int64_t right = panel->plot.x + panel->plot.width;
    at.x = at.x - half < panel->plot.x ? panel->plot.x + half : at.x;
    at.x = at.x + half > right ? right - half : at.x;
    size_t veil = d->shape_count;
    tts_chart_veil(d, &at, width);
    draw_limit(d, panel, veil);
    tts_drawing_add(d, &mark);
    tts_drawing_put(d, &at, text);
}

/* --- names of phases ------------------------------------------------------------------------
 */

/* No line was cut, and none broken within a word. */
static bool is_whole(const char *text, const struct tts_text_line *lines, size_t count)
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

bool tts_phase_is_level(const struct tts_run *run, struct tts_font font, int64_t width,
                        size_t *lines)
{
    for (size_t i = 0; i < run->phase_count; i++) {
        struct tts_text_line wrapped[TTS_PHASE_LABEL_LINES];
        int64_t slot = width / (int64_t)run->phase_count - 8 * TTS_PX;
        size_t count =
            tts_text_wrap(run->phases[i].name, font, slot, wrapped, TTS_PHASE_LABEL_LINES);
        if (!is_whole(run->phases[i].name, wrapped, count))
            return false;
        *lines = count > *lines ? count : *lines;
    }
    return true;
}

int64_t tts_phase_longest(const struct tts_run *run, struct tts_font font)
{
    int64_t longest = 0, most = TTS_CHART_PHASE_EMS * font.size;
    for (size_t i = 0; i < run->phase_count && longest < most; i++) {
        const char *name = run->phases[i].name;
        int64_t width = tts_text_width(name, strlen(name), font);
        longest = width > longest ? width : longest;
    }
    return longest < most ? longest : most;
}

int64_t tts_phase_reach(const struct tts_run *run, const struct tts_phaselabels *labels,
                        int64_t width)
{
    int64_t reach = 0;
    for (size_t i = 0; i < run->phase_count; i++) {
        const char *name = run->phases[i].name;
        int64_t length = tts_text_width(name, strlen(name), labels->font);
        length = length < labels->longest ? length : labels->longest;
        int64_t middle = width * (2 * (int64_t)i + 1) / (2 * (int64_t)run->phase_count);
        int64_t left = (length + labels->font.size) * TTS_PHASE_HALF_ROOT / 10000 - middle;
        reach = tts_chart_larger(reach, left);
    }
    return reach;
}

static void draw_level(struct tts_drawing *d, const struct tts_phasepanel *panel,
                       const struct tts_phaselabels *labels)
{
    const struct tts_run *run = panel->run->run;
    int64_t slot = panel->plot.width / (int64_t)run->phase_count - 8 * TTS_PX;
    for (size_t i = 0; i < run->phase_count; i++) {
        struct tts_text_line lines[TTS_PHASE_LABEL_LINES];
        size_t count = tts_text_wrap(run->phases[i].name, labels->font, slot, lines,
                                     TTS_PHASE_LABEL_LINES);
        struct tts_text_at at = {.x = middle_of(panel, i),
                                 .y = panel->plot.y + panel->plot.height + LABEL_GAP +
                                      labels->font.size * 85 / 100,
                                 .anchor = TTS_ANCHOR_MIDDLE,
                                 .font = labels->font,
                                 .paint = TTS_INK};
        for (size_t line = 0; line < count; line++) {
            tts_drawing_put_line(d, &at, run->phases[i].name, &lines[line]);
            at.y += labels->font.size * TTS_CHART_LINE / 100;
        }
    }
}

/* Every how many samples a name stands: 1, 2, 5, 10, ... */
static size_t label_step(const struct tts_phasepanel *panel, struct tts_font font)
{
    int64_t apart = font.size * 120 / 100 * 10000 / TTS_PHASE_HALF_ROOT;
    int64_t samples = (int64_t)sample_count(panel);
    for (int64_t power = 1;; power *= 10)
        for (int i = 0; i < 3; i++) {
            int64_t step = power * (i == 0 ? 1 : i == 1 ? 2 : 5);
            if (step >= samples || panel->plot.width * step / samples >= apart)
                return (size_t)step;
        }
}

static void draw_rising(struct tts_drawing *d, const struct tts_phasepanel *panel,
                        const struct tts_phaselabels *labels)
{
    size_t samples = sample_count(panel), step = label_step(panel, labels->font);
    int64_t bottom = panel->plot.y + panel->plot.height;
    for (size_t i = 0; i < samples; i += step) {
        char text[TTS_TEXT_SQUEEZED_MAX];
        const char *name = panel->run->run->phases[phase_of(panel, i)].name;
        int64_t x = middle_of(panel, i);
        struct tts_text_at at = {.x = x + labels->font.size * 30 / 100,
                                 .y =
                                     bottom + 5 * TTS_PX +
                                     labels->font.size * 85 / 100 * TTS_PHASE_HALF_ROOT / 10000,
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

/* --- the head of a panel ---------------------------------------------------------------------
 */

static struct tts_text_at place_head(const struct tts_phasepanel *panel, int64_t y,
                                     struct tts_font font, struct tts_paint paint)
{
    return (struct tts_text_at){.x = panel->plot.x,
                                .y = panel->plot.y - TTS_PHASE_HEAD + y,
                                .font = font,
                                .paint = paint};
}

static void draw_name(struct tts_drawing *d, const struct tts_phasepanel *panel)
{
    char text[TTS_TEXT_SQUEEZED_MAX];
    struct tts_text_at at =
        place_head(panel, 15 * TTS_PX, (struct tts_font){TTS_PHASE_NAME, true}, TTS_INK);
    struct tts_chartname_space space = {at.font, panel->plot.width, 1};
    tts_drawing_put(d, &at, tts_chartnames_fit(&panel->names, panel->run->name, &space, text));
}

static void draw_peak(struct tts_drawing *d, const struct tts_phasepanel *panel)
{
    const struct tts_trainmem *mem = panel->run->mem;
    const struct tts_run *run = panel->run->run;
    char size[TTS_CHART_MB_MAX], text[TTS_RUN_NAME_MAX + TTS_CHART_USAGE_MAX];
    char squeezed[TTS_TEXT_SQUEEZED_MAX];
    if (!mem->peak.is_known)
        snprintf(text, sizeof text, "peak not known");
    else
        snprintf(text, sizeof text, "peak %s%s%s%s", mem->peak_at_least ? "\xe2\x89\xa5 " : "",
                 tts_chart_own_mb(size, mem->peak.bytes), mem->has_peak_phase ? " in " : "",
                 mem->has_peak_phase && mem->peak_phase < run->phase_count
                     ? run->phases[mem->peak_phase].name
                     : "");
    struct tts_text_at at =
        place_head(panel, 31 * TTS_PX, (struct tts_font){TTS_PHASE_INFO, false}, TTS_INK_SOFT);
    tts_drawing_put(d, &at, tts_text_squeeze(squeezed, text, at.font, panel->plot.width));
}

/* The limit on the left, the verdict on the right. */
static void draw_verdict(struct tts_drawing *d, const struct tts_phasepanel *panel)
{
    const struct tts_trainmem *mem = panel->run->mem;
    char size[TTS_CHART_MB_MAX];
    int64_t bytes = mem->device_memory.bytes;
    bool has_limit = mem->device_memory.is_known && bytes > 0;
    struct tts_font bold = {TTS_PHASE_INFO, true};
    struct tts_text_at left =
        place_head(panel, 46 * TTS_PX, bold, has_limit ? TTS_INK_WARNING : TTS_INK_SOFT);
    struct tts_text_at right = place_head(panel, 46 * TTS_PX, bold, TTS_INK_SOFT);
    if (has_limit)
        tts_drawing_put_format(d, &left, "limit %s%s", tts_chart_own_mb(size, bytes),
                               bytes > panel->scale.high ? ", not shown" : "");
    else
        tts_drawing_put(d, &left, "limit not known");
    right.x += panel->plot.width;
    right.anchor = TTS_ANCHOR_END;
    if (mem->has_verdict)
        right.paint = mem->fits ? TTS_INK_GOOD : TTS_INK_WARNING;
    if (mem->has_verdict)
        tts_drawing_put(d, &right, mem->fits ? "fits" : "does not fit");
    else if (mem->peak.is_known && has_limit)
        tts_drawing_put(d, &right, "verdict not known");
}

void tts_phase_draw_panel(struct tts_drawing *d, const struct tts_phasepanel *panel,
                          const struct tts_phaselabels *labels)
{
    draw_name(d, panel);
    draw_peak(d, panel);
    draw_verdict(d, panel);
    draw_ground(d, panel, labels->font);
    if (panel->run->run->phase_count == 0) {
        struct tts_text_at at = {.x = panel->plot.x + panel->plot.width / 2,
                                 .y = panel->plot.y + panel->plot.height / 2,
                                 .anchor = TTS_ANCHOR_MIDDLE,
                                 .font = {TTS_PHASE_INFO, false},
                                 .paint = TTS_INK_SOFT};
        tts_drawing_put(d, &at, "no phases");
        return;
    }
    for (int i = 0; i < TTS_PHASE_SERIES; i++)
        if (tts_phase_series[i].area_alpha > 0)
            draw_series(d, panel, &tts_phase_series[i], true);
    for (int i = 0; i < TTS_PHASE_SERIES; i++)
        draw_series(d, panel, &tts_phase_series[i], false);
    draw_mark(d, panel, labels->font);
    if (labels->is_level)
        draw_level(d, panel, labels);
    else
        draw_rising(d, panel, labels);
}
