#include "views/chart/chartparts.h"

#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    MB = 1048576,
    TICK_GAP = 7 * TTS_PX,
    SWATCH = 13 * TTS_PX,
    SWATCH_LINE = 30 * TTS_PX,
    SWATCH_GAP = 6 * TTS_PX,
    ENTRY_GAP = 22 * TTS_PX,
    LEGEND_ROW = 20 * TTS_PX,
    TITLE_LINES = 2,
};

static const struct tts_font title_font = {16 * TTS_PX, true};
static const struct tts_font legend_font = {12 * TTS_PX, false};
static const struct tts_font unit_font = {12 * TTS_PX, false};
static const struct tts_font foot_font = {13 * TTS_PX, true};

/* ---- the scale ---- */

/* Returns a step of 1, 2 or 5 times a power of ten, in hundredths of a MB, that makes at most
 * `ticks` steps. */
static int64_t round_step(int64_t bytes, int64_t ticks)
{
    int64_t hundredths = bytes / MB * 100 + bytes % MB * 100 / MB, step = 1;
    for (int64_t power = 1;; power *= 10)
        for (int i = 0; i < 3; i++) {
            step = power * (i == 0 ? 1 : i == 1 ? 2 : 5);
            if (hundredths / step <= ticks)
                return step;
        }
}

struct tts_chart_scale tts_chart_scale_of(int64_t low, int64_t high, int64_t ticks)
{
    assert(ticks > 0);
    low = tts_chart_clamp(low < 0 ? low : 0);
    high = tts_chart_clamp(high > 0 ? high : 0);
    if (low == 0 && high == 0)
        high = MB;
    int64_t spare = (high - low) / 10 + 1;
    struct tts_chart_scale scale = {.low = low < 0 ? low - spare : 0, .high = high + spare};
    scale.step = round_step(scale.high - scale.low, ticks);
    return scale;
}

int64_t tts_chart_height(const struct tts_chart_scale *scale, int64_t bytes, int64_t height)
{
    int64_t range = scale->high - scale->low, over = tts_chart_clamp(bytes) - scale->low;
    assert(range > 0 && height >= 0 && height < INT64_C(1) << 22);
    /* Reduce both values so that the product fits; the result is slightly less exact. */
    for (; range >= INT64_C(1) << 40; range /= 2)
        over /= 2;
    over = over < 0 ? 0 : over > range ? range : over;
    return (over * height + range / 2) / range;
}

static int64_t tick_bytes(int64_t hundredths)
{
    return hundredths / 100 * MB + hundredths % 100 * MB / 100;
}

/* Writes the number at a tick, from hundredths of a MB. */
static const char *tick_text(char out[TTS_CHART_MB_MAX], int64_t hundredths, int64_t step)
{
    uint64_t size = hundredths < 0 ? -(uint64_t)hundredths : (uint64_t)hundredths;
    const char *sign = hundredths < 0 ? "-" : "";
    if (step >= 100)
        snprintf(out, TTS_CHART_MB_MAX, "%s%" PRIu64, sign, size / 100);
    else if (step >= 10)
        snprintf(out, TTS_CHART_MB_MAX, "%s%" PRIu64 ".%" PRIu64, sign, size / 100,
                 size / 10 % 10);
    else
        snprintf(out, TTS_CHART_MB_MAX, "%s%" PRIu64 ".%02" PRIu64, sign, size / 100,
                 size % 100);
    return out;
}

/* Returns the lowest tick. */
static int64_t first_tick(const struct tts_chart_scale *scale)
{
    int64_t low = scale->low / MB * 100 + scale->low % MB * 100 / MB;
    return low / scale->step * scale->step;
}

static bool tick_is_inside(const struct tts_chart_scale *scale, int64_t tick)
{
    return tick_bytes(tick) <= scale->high;
}

int64_t tts_chart_ticks_width(const struct tts_chart_scale *scale, struct tts_font font)
{
    int64_t width = 0;
    for (int64_t at = first_tick(scale); tick_is_inside(scale, at); at += scale->step) {
        char text[TTS_CHART_MB_MAX];
        tick_text(text, at, scale->step);
        int64_t wide = tts_text_width(text, strlen(text), font);
        width = tts_chart_larger(width, wide);
    }
    return width + TICK_GAP;
}

void tts_chart_draw_ticks(struct tts_drawing *d, const struct tts_chart_scale *scale,
                          struct tts_svg_box plot, struct tts_font font)
{
    int64_t bottom = plot.y + plot.height, right = plot.x + plot.width;
    for (int64_t at = first_tick(scale); tick_is_inside(scale, at); at += scale->step) {
        char text[TTS_CHART_MB_MAX];
        int64_t y = bottom - tts_chart_height(scale, tick_bytes(at), plot.height);
        if (at != 0)
            tts_chart_line(d, (struct tts_svg_point){plot.x, y},
                           (struct tts_svg_point){right, y}, TTS_INK_GRID, TTS_PX, 4 * TTS_PX);
        struct tts_text_at place = {.x = plot.x - TICK_GAP,
                                    .y = y + font.size * 36 / 100,
                                    .anchor = TTS_ANCHOR_END,
                                    .font = font,
                                    .paint = TTS_INK_SOFT};
        tts_drawing_put(d, &place, tick_text(text, at, scale->step));
    }
}

void tts_chart_draw_unit(struct tts_drawing *d, struct tts_svg_box plot, int64_t x)
{
    struct tts_text_at place = {.x = x,
                                .y = plot.y + plot.height / 2,
                                .anchor = TTS_ANCHOR_MIDDLE,
                                .font = unit_font,
                                .paint = TTS_INK,
                                .rotate = -90};
    tts_drawing_put(d, &place, "Memory (MB)");
}

/* ---- numbers ---- */

bool tts_chart_is_small(int64_t bytes)
{
    return bytes < INT64_C(100) * MB && bytes > INT64_C(-100) * MB;
}

const char *tts_chart_own_mb(char out[TTS_CHART_MB_MAX], int64_t bytes)
{
    return tts_chart_mb(out, tts_chart_is_small(bytes), bytes);
}

const char *tts_chart_mb(char out[TTS_CHART_MB_MAX], bool has_decimals, int64_t bytes)
{
    char number[TTS_NUMBER_MB_MAX];
    if (has_decimals) {
        snprintf(out, TTS_CHART_MB_MAX, "%s MB", tts_number_format_mb(number, bytes, false));
        return out;
    }
    int64_t whole = bytes / MB, rest = bytes % MB;
    int64_t size = rest < 0 ? -rest : rest;
    if (size > MB / 2 || (size == MB / 2 && whole % 2 != 0))
        whole += rest < 0 ? -1 : 1;
    snprintf(out, TTS_CHART_MB_MAX, "%" PRId64 " MB", whole);
    return out;
}

const char *tts_chart_usage(char out[TTS_CHART_USAGE_MAX], int64_t bytes, int64_t device)
{
    assert(device > 0);
    char limit[TTS_CHART_MB_MAX];
    tts_chart_own_mb(limit, device);
    /* The share is computed in tenths of a percent. */
    bytes = bytes < 0 ? 0 : bytes;
    int64_t whole = bytes / device, rest = bytes % device;
    bool is_something = bytes > 0;
    for (; device > INT64_MAX / 2000; device /= 2)
        rest /= 2;
    int64_t tenths = (rest * 1000 + device / 2) / device;
    if (whole > INT64_C(1000000))
        snprintf(out, TTS_CHART_USAGE_MAX, "far above %s", limit);
    else if (is_something && whole == 0 && tenths == 0)
        snprintf(out, TTS_CHART_USAGE_MAX, "< 0.1 %% of %s", limit);
    else
        snprintf(out, TTS_CHART_USAGE_MAX, "%" PRId64 ".%" PRId64 " %% of %s",
                 whole * 100 + tenths / 10, tenths % 10, limit);
    return out;
}

/* ---- title and legend ---- */

struct tts_chart_legend tts_chart_limit_legend(int64_t stroke_width, int64_t dash)
{
    return (struct tts_chart_legend){.text = "Device Memory Limit",
                                     .paint = TTS_INK_LIMIT,
                                     .is_line = true,
                                     .stroke_width = stroke_width,
                                     .dash = dash};
}

static int64_t legend_entry_width(const struct tts_chart_legend *legend)
{
    return (legend->is_line ? SWATCH_LINE : SWATCH) + SWATCH_GAP +
           tts_text_width(legend->text, strlen(legend->text), legend_font);
}

/* Returns the width of column `at` if the legend has `columns` columns. */
static int64_t legend_column_width(const struct tts_chart_legend *legends, size_t count,
                                   size_t columns, size_t at)
{
    int64_t width = 0;
    for (size_t i = at; i < count; i += columns) {
        int64_t wide = legend_entry_width(&legends[i]);
        width = tts_chart_larger(width, wide);
    }
    return width;
}

static int64_t legend_width(const struct tts_chart_legend *legends, size_t count,
                            size_t columns)
{
    int64_t width = 0;
    for (size_t i = 0; i < columns && i < count; i++)
        width += legend_column_width(legends, count, columns, i) + (i > 0 ? ENTRY_GAP : 0);
    return width;
}

int64_t tts_chart_head_width(const struct tts_chart_legend *legends, size_t count)
{
    return legend_width(legends, count, count < 3 ? count : 3) + 2 * TTS_CHART_MARGIN;
}

static void draw_legend_swatch(struct tts_drawing *d, const struct tts_chart_legend *legend,
                               int64_t x, int64_t middle)
{
    struct tts_drawn box = {.kind = TTS_SHAPE_BOX,
                            .box = {x, middle - SWATCH / 2, SWATCH, SWATCH},
                            .fill = legend->paint};
    if (!legend->is_line) {
        tts_drawing_add(d, &box);
        return;
    }
    if (legend->area_alpha > 0) {
        box.box = (struct tts_svg_box){x, middle, SWATCH_LINE, SWATCH / 2};
        box.fill.alpha = legend->area_alpha;
        tts_drawing_add(d, &box);
    }
    tts_chart_line(d, (struct tts_svg_point){x, middle},
                   (struct tts_svg_point){x + SWATCH_LINE, middle}, legend->paint,
                   legend->stroke_width, legend->dash);
}

static int64_t draw_legend_entry(struct tts_drawing *d, int64_t y,
                                 const struct tts_chart_legend *legends, size_t count)
{
    size_t columns = count;
    while (columns > 1 &&
           legend_width(legends, count, columns) > d->width - 2 * TTS_CHART_MARGIN)
        columns = columns > 3 ? 3 : columns - 1;
    int64_t x = (d->width - legend_width(legends, count, columns)) / 2;
    for (size_t column = 0; column < columns; column++) {
        for (size_t i = column; i < count; i += columns) {
            const struct tts_chart_legend *legend = &legends[i];
            int64_t middle = y + (int64_t)(i / columns) * LEGEND_ROW + LEGEND_ROW / 2;
            draw_legend_swatch(d, legend, x, middle);
            struct tts_text_at place = {.x = x + (legend->is_line ? SWATCH_LINE : SWATCH) +
                                             SWATCH_GAP,
                                        .y = middle + legend_font.size * 36 / 100,
                                        .font = legend_font,
                                        .paint = TTS_INK};
            tts_drawing_put(d, &place, legend->text);
        }
        x += legend_column_width(legends, count, columns, column) + ENTRY_GAP;
    }
    return y + (int64_t)((count + columns - 1) / columns) * LEGEND_ROW;
}

int64_t tts_chart_draw_head(struct tts_drawing *d, const char *title,
                            const struct tts_chart_legend *legends, size_t count)
{
    int64_t y = 18 * TTS_PX;
    struct tts_text_line lines[TITLE_LINES];
    size_t line_count = title
                            ? tts_text_wrap(title, title_font, d->width - 2 * TTS_CHART_MARGIN,
                                            lines, TITLE_LINES)
                            : 0;
    for (size_t i = 0; i < line_count; i++) {
        struct tts_text_at place = {.x = d->width / 2,
                                    .y = y + title_font.size * 9 / 10,
                                    .anchor = TTS_ANCHOR_MIDDLE,
                                    .font = title_font,
                                    .paint = TTS_INK};
        tts_drawing_put_line(d, &place, title, &lines[i]);
        y += title_font.size * TTS_CHART_LINE / 100;
    }
    if (line_count > 0)
        y += 8 * TTS_PX;
    return count > 0 ? draw_legend_entry(d, y, legends, count) : y;
}

void tts_chart_draw_foot(struct tts_drawing *d, const char *text)
{
    struct tts_text_at at = {.x = d->width / 2,
                             .y = d->height + foot_font.size * 85 / 100,
                             .anchor = TTS_ANCHOR_MIDDLE,
                             .font = foot_font,
                             .paint = TTS_INK};
    tts_drawing_extend_format(d, " %s.", text);
    tts_drawing_put(d, &at, text);
    d->height += foot_font.size + 12 * TTS_PX;
}

/* ---- shapes ---- */

void tts_chart_line(struct tts_drawing *d, struct tts_svg_point from, struct tts_svg_point to,
                    struct tts_paint paint, int64_t width, int64_t dash)
{
    struct tts_drawn line = {.kind = TTS_SHAPE_LINE,
                             .box = {from.x, from.y, 0, 0},
                             .to = to,
                             .stroke = paint,
                             .stroke_width = width,
                             .dash = dash};
    tts_drawing_add(d, &line);
}

/* Returns true if the shape is the ground of a text: only such boxes are translucent and have
 * no name. */
static bool is_label_ground(const struct tts_drawn *shape)
{
    return shape->kind == TTS_SHAPE_BOX && !shape->name && shape->fill.alpha < 255;
}

/* Returns the leftmost text ground right of `x` that the line at `y` crosses, or NULL. */
static const struct tts_svg_box *next_label_ground(const struct tts_drawing *d, size_t first,
                                                   struct tts_svg_point at, int64_t reach)
{
    const struct tts_svg_box *next = NULL;
    for (size_t i = first; i < d->shape_count; i++) {
        const struct tts_svg_box *box = &d->shapes[i].box;
        if (is_label_ground(&d->shapes[i]) && box->x + box->width > at.x &&
            box->y < at.y + reach && box->y + box->height > at.y - reach &&
            (!next || box->x < next->x))
            next = box;
    }
    return next;
}

void tts_chart_draw_limit(struct tts_drawing *d, size_t first, struct tts_svg_box line,
                          struct tts_chart_stroke stroke)
{
    struct tts_svg_point at = {line.x, line.y};
    int64_t end = line.x + line.width;
    while (at.x < end) {
        const struct tts_svg_box *ground = next_label_ground(d, first, at, stroke.width / 2);
        struct tts_svg_point to = {ground && ground->x < end ? ground->x : end, line.y};
        int64_t next = ground && ground->x < end ? ground->x + ground->width : end;
        if (to.x > at.x)
            tts_chart_line(d, at, to, TTS_INK_LIMIT, stroke.width, stroke.dash);
        at.x = next;
    }
}

void tts_chart_veil(struct tts_drawing *d, const struct tts_text_at *at, int64_t width)
{
    int64_t x = at->x - (at->anchor == TTS_ANCHOR_START    ? 0
                         : at->anchor == TTS_ANCHOR_MIDDLE ? width / 2
                                                           : width);
    struct tts_drawn box = {.kind = TTS_SHAPE_BOX,
                            .box = {x - 2 * TTS_PX, at->y - at->font.size * 84 / 100,
                                    width + 4 * TTS_PX, at->font.size * 110 / 100},
                            .fill = TTS_INK_VEIL,
                            .radius = 2 * TTS_PX};
    tts_drawing_add(d, &box);
}
