/* peakchart.c: draws the peak of training runs as stacked bars, one for each run. */
#include "base/number.h"
#include "views/chart/chartnames.h"
#include "views/chart/chartparts.h"
#include "views/chart/memcharts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Layout of the chart. Lengths are in hundredths of a pixel. All rows of bars share it. */
struct peakchart {
    const struct tts_named_run *runs;
    struct tts_chartnames names;
    size_t count, per_row, rows;
    struct tts_chart_scale scale;
    bool has_one_limit; /* all runs have the same limit */
    int64_t bar, slot;
    int64_t side;        /* width for the labels beside a bar; 0: there are none */
    int64_t spare;       /* space right of the last slot, for labels beside its bar */
    int64_t left, right; /* margins of the plot */
    int64_t plot_height;
    int64_t top; /* top of the first plot */
    size_t name_lines, info_lines;
    struct tts_font inside, beside, total, name, info;
};

enum {
    LEADER = 13 * TTS_PX, /* length of a leader, including the colour box at its end */
    SWATCH = 6 * TTS_PX,
    BESIDE_PITCH = 125, /* distance of labels beside a bar, in percent of the font size */
    PAD = 4 * TTS_PX,
    NAME_LINES = 3,
    INFO_LINES = 6,
    CLEAR = 5 * TTS_PX, /* distance between the line of a limit and a label */
    ROW_MAX = 12,
    LIMIT_WIDTH = 2 * TTS_PX,
    LIMIT_DASH = 7 * TTS_PX,
    TICKS = 9,
    UNIT_WIDTH = 24 * TTS_PX, /* width of the vertical text "Memory (MB)" */
    AXIS_GAP = 8 * TTS_PX,
    TEXT_GAP = 10 * TTS_PX, /* distance between the texts of neighbouring bars */
    ROW_GAP = 26 * TTS_PX,
};

static const struct tts_font tick_font = {11 * TTS_PX, false};
static const struct tts_font limit_font = {10 * TTS_PX, true};

/* Texts and colour of a part. */
struct peakchart_part {
    const char *label, *word;
    uint32_t rgb;
};

/* A line below the name of a run. */
struct info_line {
    char text[TTS_TEXT_SQUEEZED_MAX];
    struct tts_paint paint;
    bool bold;
};

static const struct peakchart_part parts_shown[TTS_RUN_PARTS] = {
    [TTS_RUN_PART_OTHER] = {"Other", "other", 0xcccccc},
    [TTS_RUN_PART_MODEL] = {"Model Parameters", "model", 0x4da6b8},
    [TTS_RUN_PART_GRADIENTS] = {"Gradients Overhead", "gradients", 0xe789ab},
    [TTS_RUN_PART_OPTIMIZER] = {"Optimizer State", "optimizer", 0xcec0fa},
    [TTS_RUN_PART_ACTIVATIONS] = {"Activations", "activations", 0xe38a42},
};

/* ---- texts ---- */

/* Writes "Total: 8279 MB". Returns `out`. */
static const char *total_text(char out[TTS_CHART_USAGE_MAX], const struct tts_trainmem *mem)
{
    char size[TTS_CHART_MB_MAX];
    snprintf(out, TTS_CHART_USAGE_MAX, "Total: %s%s", mem->peak_at_least ? "\xe2\x89\xa5 " : "",
             tts_chart_own_mb(size, mem->peak.bytes));
    return out;
}

/* Writes the size of a part: "193 MB". Returns `out`. */
static const char *part_size_text(char out[TTS_CHART_MB_MAX], const struct tts_trainmem *mem,
                                  enum tts_run_part part)
{
    return tts_chart_mb(out, tts_chart_is_small(mem->peak.bytes), mem->parts[part]);
}

/* Writes "limit 12288 MB". Returns `out`. */
static const char *run_limit_text(char out[TTS_CHART_USAGE_MAX], const struct tts_trainmem *mem)
{
    char size[TTS_CHART_MB_MAX];
    snprintf(out, TTS_CHART_USAGE_MAX, "limit %s",
             tts_chart_own_mb(size, mem->device_memory.bytes));
    return out;
}

static bool has_limit(const struct tts_trainmem *mem)
{
    return mem->device_memory.is_known && mem->device_memory.bytes > 0;
}

static void set_info(struct info_line *info, struct tts_paint paint, bool bold,
                     const char *text)
{
    *info = (struct info_line){.paint = paint, .bold = bold};
    snprintf(info->text, sizeof info->text, "%s", text);
}

/* Writes the phase of the peak in one line, or in two if slots are narrow. Returns the number
 * of lines. */
static size_t say_peak_phase(const struct peakchart *chart, const struct tts_named_run *run,
                             struct info_line *out)
{
    enum { ROOMY = 4 };
    const struct tts_trainmem *mem = run->mem;
    char name[TTS_TEXT_SQUEEZED_MAX];
    if (!mem->has_peak_phase || mem->peak_phase >= run->run->phase_count) {
        set_info(&out[0], TTS_INK_SOFT, false, "phase: unknown");
        return 1;
    }
    tts_text_squeeze(name, run->run->phases[mem->peak_phase].name, chart->info,
                     TTS_CHART_PHASE_EMS * chart->info.size);
    if (chart->per_row > ROOMY) {
        set_info(&out[0], TTS_INK_SOFT, false, "peak in");
        set_info(&out[1], TTS_INK_SOFT, false, name);
        return 2;
    }
    *out = (struct info_line){.paint = TTS_INK_SOFT};
    snprintf(out->text, sizeof out->text, "peak in %.*s", TTS_RUN_NAME_MAX, name);
    return 1;
}

/* Writes the lines below a name: usage, verdict, phase of the peak, and whether the sizes are
 * expected, measured or predicted. Returns the number of lines. */
static size_t info_lines(const struct peakchart *chart, const struct tts_named_run *run,
                         struct info_line out[INFO_LINES])
{
    const struct tts_trainmem *mem = run->mem;
    size_t count = 0;
    char usage[TTS_CHART_USAGE_MAX];
    if (!has_limit(mem)) {
        set_info(&out[count++], TTS_INK_SOFT, false, "device: unknown");
    } else if (mem->peak.is_known) {
        tts_chart_usage(usage, mem->peak.bytes, mem->device_memory.bytes);
        set_info(&out[count++], TTS_INK_SOFT, false, usage);
    }
    if (mem->has_verdict)
        set_info(&out[count++], mem->fits ? TTS_INK_GOOD : TTS_INK_WARNING, true,
                 mem->fits ? "fits" : "does not fit");
    else if (has_limit(mem) && mem->peak.is_known)
        set_info(&out[count++], TTS_INK_SOFT, false, "fits: unknown");
    if (mem->peak.is_known)
        count += say_peak_phase(chart, run, &out[count]);
    if (mem->has_parts)
        set_info(&out[count++], TTS_INK_SOFT, false,
                 mem->parts_are_stated   ? "sizes: predicted"
                 : mem->parts_are_actual ? "sizes: measured"
                                         : "sizes: expected");
    else if (mem->peak.is_known)
        set_info(&out[count++], TTS_INK_SOFT, false, "parts: unknown");
    assert(count <= INFO_LINES);
    return count;
}

/* Sets title and description of the picture. */
static void describe_peakchart(struct tts_drawing *d, const struct peakchart *chart,
                               const char *title)
{
    const char *name = title && title[0] ? title : "Peak memory of training runs";
    d->title = tts_drawing_keep(d, name, strlen(name));
    d->description =
        tts_drawing_keep_format(d, "One stacked bar for each of %zu runs.", chart->count);
    for (size_t i = 0; i < chart->count; i++) {
        const struct tts_trainmem *mem = chart->runs[i].mem;
        char text[TTS_CHART_USAGE_MAX];
        struct info_line info[INFO_LINES];
        size_t lines = info_lines(chart, &chart->runs[i], info);
        tts_drawing_extend(d, " ", 1);
        tts_drawing_extend(d, chart->runs[i].name, strlen(chart->runs[i].name));
        tts_drawing_extend_format(d, ". %s",
                                  mem->peak.is_known ? total_text(text, mem) : "peak: unknown");
        for (int part = 0; mem->has_parts && part < TTS_RUN_PARTS; part++)
            tts_drawing_extend_format(d, ", %s %s", parts_shown[part].label,
                                      part_size_text(text, mem, (enum tts_run_part)part));
        for (size_t line = 0; line < lines; line++)
            tts_drawing_extend_format(d, ", %s", info[line].text);
        tts_drawing_extend(d, ".", 1);
    }
}

/* ---- bars ---- */

static int64_t text_width(const char *text, struct tts_font font)
{
    return tts_text_width(text, strlen(text), font);
}

/* A label beside a bar. Its leader goes from `from` at the bar to `y`. */
struct beside {
    enum tts_run_part part;
    int64_t from, y;
};

static int64_t bar_height(const struct peakchart *chart, int64_t bytes)
{
    return tts_chart_height(&chart->scale, bytes, chart->plot_height);
}

/* Returns the box of a part in a bar. `corner` is the bottom left corner of the bar. The height
 * is 0 if the part is empty. */
static struct tts_svg_box part_box(const struct peakchart *chart,
                                   const struct tts_trainmem *mem, enum tts_run_part part,
                                   struct tts_svg_point corner)
{
    int64_t below = 0;
    for (int i = 0; i < (int)part; i++)
        below = tts_chart_clamp(below + tts_chart_clamp(mem->parts[i]));
    int64_t above = tts_chart_clamp(below + tts_chart_clamp(mem->parts[part]));
    int64_t low = bar_height(chart, below), high = bar_height(chart, above);
    assert(high >= low);
    return (struct tts_svg_box){corner.x, corner.y - high, chart->bar, high - low};
}

/* Returns true if the label of a part fits inside it; otherwise the label is beside the bar. */
static bool is_label_inside(const struct peakchart *chart, const struct tts_trainmem *mem,
                            enum tts_run_part part)
{
    char text[TTS_CHART_MB_MAX];
    struct tts_svg_box box = part_box(chart, mem, part, (struct tts_svg_point){0});
    part_size_text(text, mem, part);
    return box.height >= chart->inside.size * 160 / 100 &&
           text_width(text, chart->inside) + 3 * PAD <= chart->bar;
}

static size_t part_hint(struct tts_drawing *d, const struct tts_trainmem *mem,
                        enum tts_run_part part)
{
    char size[TTS_NUMBER_MB_MAX], peak[TTS_NUMBER_MB_MAX];
    return tts_drawing_keep_format(d, "%s: %s MB of %s MB", parts_shown[part].label,
                                   tts_number_format_mb(size, mem->parts[part], false),
                                   tts_number_format_mb(peak, mem->peak.bytes, false));
}

static void draw_bar_part(struct tts_drawing *d, const struct tts_trainmem *mem,
                          enum tts_run_part part, struct tts_svg_box box)
{
    struct tts_drawn shape = {.kind = TTS_SHAPE_BOX,
                              .box = box,
                              .fill = {parts_shown[part].rgb, 255},
                              .name = parts_shown[part].word,
                              .hint = part_hint(d, mem, part)};
    tts_drawing_add(d, &shape);
}

/* Draws a white edge below a box. The edge takes a pixel of the box, so boxes of less than
 * three pixels have none. */
static void draw_part_edge(struct tts_drawing *d, struct tts_svg_box box, int64_t bottom)
{
    int64_t y = box.y + box.height;
    if (box.height >= 3 * TTS_PX && y < bottom)
        tts_chart_line(d, (struct tts_svg_point){box.x, y},
                       (struct tts_svg_point){box.x + box.width, y}, TTS_INK_WHITE, TTS_PX, 0);
}

/* Draws the outline of a bar whose parts are not known. */
static void draw_bar_outline(struct tts_drawing *d, const struct peakchart *chart,
                             const struct tts_trainmem *mem, struct tts_svg_point corner)
{
    int64_t height = bar_height(chart, mem->peak.bytes);
    struct tts_drawn shape = {.kind = TTS_SHAPE_BOX,
                              .box = {corner.x, corner.y - height, chart->bar, height},
                              .fill = {0xf3f5f7, 255},
                              .stroke = TTS_INK_FRAME,
                              .stroke_width = TTS_PX * 3 / 2,
                              .name = "whole"};
    tts_drawing_add(d, &shape);
}

/* Draws a bar without its labels. The grounds of the labels follow; the labels are drawn last,
 * above the lines of the limits. */
static void draw_bar(struct tts_drawing *d, const struct peakchart *chart,
                     const struct tts_named_run *run, struct tts_svg_point corner)
{
    const struct tts_trainmem *mem = run->mem;
    if (!mem->has_parts) {
        if (mem->peak.is_known)
            draw_bar_outline(d, chart, mem, corner);
        return;
    }
    for (int part = 0; part < TTS_RUN_PARTS; part++) {
        struct tts_svg_box box = part_box(chart, mem, (enum tts_run_part)part, corner);
        if (box.height > 0)
            draw_bar_part(d, mem, (enum tts_run_part)part, box);
    }
    for (int part = 0; part < TTS_RUN_PARTS; part++)
        draw_part_edge(d, part_box(chart, mem, (enum tts_run_part)part, corner), corner.y);
}

/* Returns the y of a run's limit, or a y far from all labels if there is no limit. */
static int64_t limit_line_y(const struct peakchart *chart, const struct tts_trainmem *mem,
                            int64_t bottom)
{
    return has_limit(mem) ? bottom - bar_height(chart, mem->device_memory.bytes)
                          : INT64_MAX / 2;
}

/* ---- labels ---- */

/* Places a label inside a part: in the middle, or above or below the line of the limit. If the
 * part is too small for that, the line gets a gap. */
static struct tts_svg_box place_label_inside(const struct peakchart *chart,
                                             struct tts_svg_box part, int64_t limit)
{
    int64_t height = chart->inside.size * 140 / 100, half = height / 2 + CLEAR;
    int64_t y = part.y + part.height / 2;
    if (limit > y - half && limit < y + half) {
        bool has_room_above = limit - 2 * half >= part.y;
        bool has_room_below = limit + 2 * half <= part.y + part.height;
        if (has_room_above && (limit >= y || !has_room_below))
            y = limit - half;
        else if (has_room_below)
            y = limit + half;
    }
    return (struct tts_svg_box){part.x, y - height / 2, part.width, height};
}

static void draw_label_inside(struct tts_drawing *d, const struct peakchart *chart,
                              struct tts_svg_box box, const char *text, bool is_ground)
{
    int64_t width = text_width(text, chart->inside) + 2 * PAD;
    int64_t middle = box.x + box.width / 2, y = box.y + box.height / 2;
    struct tts_drawn ground = {.kind = TTS_SHAPE_BOX,
                               .box = {middle - width / 2, box.y, width, box.height},
                               .fill = {0x000000, 128},
                               .radius = 3 * TTS_PX};
    if (is_ground)
        tts_drawing_add(d, &ground);
    struct tts_text_at at = {.x = middle,
                             .y = y + chart->inside.size * 36 / 100,
                             .anchor = TTS_ANCHOR_MIDDLE,
                             .font = chart->inside,
                             .paint = TTS_INK_WHITE};
    if (!is_ground)
        tts_drawing_put(d, &at, text);
}

/* Moves labels apart. They are ordered from bottom to top. First none may be above `top`, then
 * none below `bottom`. */
static void spread_labels(struct beside *labels, size_t count, int64_t top, int64_t bottom,
                          int64_t pitch)
{
    int64_t limit = top;
    for (size_t i = count; i-- > 0; limit = labels[i].y + pitch)
        labels[i].y = labels[i].y < limit ? limit : labels[i].y;
    limit = bottom;
    for (size_t i = 0; i < count; i++, limit -= pitch) {
        labels[i].y = labels[i].y > limit ? limit : labels[i].y;
        limit = labels[i].y;
    }
}

/* Lists the labels of the parts that are too thin, from bottom to top. */
static size_t find_labels_beside(const struct peakchart *chart, const struct tts_trainmem *mem,
                                 struct tts_svg_point corner,
                                 struct beside labels[TTS_RUN_PARTS])
{
    size_t count = 0;
    for (int i = 0; i < TTS_RUN_PARTS; i++) {
        enum tts_run_part part = (enum tts_run_part)i;
        if (mem->parts[i] <= 0 || is_label_inside(chart, mem, part))
            continue;
        struct tts_svg_box box = part_box(chart, mem, part, corner);
        int64_t y = box.y + box.height / 2;
        labels[count++] = (struct beside){part, y, y};
    }
    return count;
}

/* Draws a small box in the colour of a part that is too thin to show its colour. */
static void draw_part_key(struct tts_drawing *d, struct tts_svg_point at,
                          enum tts_run_part part)
{
    struct tts_drawn key = {.kind = TTS_SHAPE_BOX,
                            .box = {at.x, at.y - SWATCH / 2, SWATCH, SWATCH},
                            .fill = {parts_shown[part].rgb, 255},
                            .name = "key"};
    tts_drawing_add(d, &key);
}

/* Draws the labels beside a bar. Returns the y of their top. */
static int64_t draw_labels_beside(struct tts_drawing *d, const struct peakchart *chart,
                                  const struct tts_trainmem *mem, struct tts_svg_point corner,
                                  bool is_ground)
{
    struct beside labels[TTS_RUN_PARTS];
    size_t count = find_labels_beside(chart, mem, corner, labels);
    int64_t pitch = chart->beside.size * BESIDE_PITCH / 100;
    int64_t bar_top = corner.y - bar_height(chart, mem->peak.bytes);
    int64_t lowest = corner.y - pitch * 55 / 100;
    int64_t highest = lowest - ((int64_t)count - 1) * pitch;
    int64_t top = bar_top + pitch * 45 / 100;
    top = top > highest ? highest : top;
    if (count == 0)
        return bar_top;
    spread_labels(labels, count, top, lowest, pitch);
    int64_t edge = corner.x + chart->bar, x = edge + LEADER - SWATCH;
    for (size_t i = 0; i < count; i++) {
        char text[TTS_CHART_MB_MAX];
        part_size_text(text, mem, labels[i].part);
        struct tts_text_at at = {.x = edge + LEADER + 3 * TTS_PX,
                                 .y = labels[i].y + chart->beside.size * 36 / 100,
                                 .font = chart->beside,
                                 .paint = TTS_INK};
        if (is_ground) {
            tts_chart_veil(d, &at, text_width(text, at.font));
            continue;
        }
        tts_chart_line(d, (struct tts_svg_point){edge, labels[i].from},
                       (struct tts_svg_point){x, labels[i].y}, TTS_INK_SOFT, TTS_PX * 3 / 4, 0);
        draw_part_key(d, (struct tts_svg_point){x, labels[i].y}, labels[i].part);
        tts_drawing_put(d, &at, text);
    }
    int64_t reach = labels[count - 1].y - pitch / 2;
    return reach < bar_top ? reach : bar_top;
}

/* Places a text above an edge, and above the line of the limit if the line would cross it. */
static struct tts_text_at place_label_above(struct tts_svg_point edge, int64_t limit,
                                            struct tts_font font, struct tts_paint paint)
{
    struct tts_text_at at = {.x = edge.x,
                             .y = edge.y - 6 * TTS_PX,
                             .anchor = TTS_ANCHOR_MIDDLE,
                             .font = font,
                             .paint = paint};
    int64_t below = font.size * 26 / 100 + CLEAR;
    if (limit > at.y - font.size * 84 / 100 - CLEAR && limit < at.y + below)
        at.y = limit - below;
    return at;
}

/* Draws a text or its ground. Returns the y of its top. */
static int64_t put_label_above(struct tts_drawing *d, struct tts_text_at at, const char *text,
                               bool is_ground)
{
    if (is_ground)
        tts_chart_veil(d, &at, text_width(text, at.font));
    else
        tts_drawing_put(d, &at, text);
    return at.y - at.font.size * 84 / 100;
}

/* Draws all labels of a bar, or their grounds. Returns the y of their top. */
static int64_t draw_bar_labels(struct tts_drawing *d, const struct peakchart *chart,
                               const struct tts_named_run *run, struct tts_svg_point corner,
                               bool is_ground)
{
    const struct tts_trainmem *mem = run->mem;
    struct tts_svg_point above = {corner.x + chart->bar / 2, corner.y};
    int64_t limit = limit_line_y(chart, mem, corner.y);
    if (!mem->peak.is_known)
        return put_label_above(d, place_label_above(above, limit, chart->info, TTS_INK_SOFT),
                               "peak: unknown", is_ground);
    above.y -= bar_height(chart, mem->peak.bytes);
    for (int i = 0; mem->has_parts && i < TTS_RUN_PARTS; i++) {
        enum tts_run_part part = (enum tts_run_part)i;
        char text[TTS_CHART_MB_MAX];
        if (mem->parts[i] <= 0 || !is_label_inside(chart, mem, part))
            continue;
        struct tts_svg_box box = part_box(chart, mem, part, corner);
        draw_label_inside(d, chart, place_label_inside(chart, box, limit),
                          part_size_text(text, mem, part), is_ground);
    }
    if (mem->has_parts)
        above.y = draw_labels_beside(d, chart, mem, corner, is_ground);
    char total[TTS_CHART_USAGE_MAX];
    return put_label_above(d, place_label_above(above, limit, chart->total, TTS_INK),
                           total_text(total, mem), is_ground);
}

/* ---- measures ---- */

static void measure_bar_scale(struct peakchart *chart)
{
    int64_t high = 0;
    const struct tts_trainmem *first = chart->runs[0].mem;
    chart->has_one_limit = has_limit(first);
    for (size_t i = 0; i < chart->count; i++) {
        const struct tts_trainmem *mem = chart->runs[i].mem;
        high = tts_chart_larger(high, mem->peak.bytes);
        high = tts_chart_larger(high, mem->device_memory.bytes);
        chart->has_one_limit &=
            has_limit(mem) && mem->device_memory.bytes == first->device_memory.bytes;
    }
    chart->scale = tts_chart_scale_of(0, high, TICKS);
}

/* Chooses sizes by the number of bars: fewer bars are larger. */
static void choose_bar_sizes(struct peakchart *chart)
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

/* Returns the width of the widest line of text above or below a bar. */
static int64_t widest_text(const struct peakchart *chart)
{
    int64_t width = text_width("peak: unknown", chart->info);
    for (size_t i = 0; i < chart->count; i++) {
        const struct tts_trainmem *mem = chart->runs[i].mem;
        char total[TTS_CHART_USAGE_MAX];
        struct info_line info[INFO_LINES];
        size_t lines = info_lines(chart, &chart->runs[i], info);
        if (has_limit(mem))
            width = tts_chart_larger(width, text_width(run_limit_text(total, mem), limit_font));
        if (mem->peak.is_known)
            width = tts_chart_larger(width, text_width(total_text(total, mem), chart->total));
        for (size_t line = 0; line < lines; line++)
            width = tts_chart_larger(
                width, text_width(info[line].text,
                                  (struct tts_font){chart->info.size, info[line].bold}));
    }
    return width;
}

static int64_t widest_beside(const struct peakchart *chart)
{
    int64_t width = 0;
    for (size_t i = 0; i < chart->count; i++) {
        const struct tts_trainmem *mem = chart->runs[i].mem;
        for (int part = 0; mem->has_parts && part < TTS_RUN_PARTS; part++) {
            char text[TTS_CHART_MB_MAX];
            if (mem->parts[part] > 0 && !is_label_inside(chart, mem, (enum tts_run_part)part))
                width = tts_chart_larger(
                    width, text_width(part_size_text(text, mem, (enum tts_run_part)part),
                                      chart->beside));
        }
    }
    return width;
}

/* Sets the width of a slot. Labels beside a bar may reach to the texts of the next bar. */
static void measure_bar_slot(struct peakchart *chart)
{
    int64_t text = widest_text(chart), side = widest_beside(chart);
    int64_t overhang = tts_chart_larger(0, (text - chart->bar) / 2);
    chart->side = side > 0 ? LEADER + side + 5 * TTS_PX : 0;
    chart->slot = tts_chart_larger(chart->bar * 17 / 10, text + TEXT_GAP);
    chart->slot = tts_chart_larger(chart->slot, chart->bar + chart->side + overhang);
}

/* The name of a run as shown, broken into lines. */
struct shown_name {
    char text[TTS_TEXT_SQUEEZED_MAX];
    struct tts_text_line lines[NAME_LINES];
    size_t count;
};

static void wrap_run_name(const struct peakchart *chart, const char *name,
                          struct shown_name *out)
{
    struct tts_chartname_space space = {chart->name, chart->slot - TEXT_GAP, NAME_LINES};
    tts_chartnames_fit(&chart->names, name, &space, out->text);
    out->count = tts_text_wrap(out->text, space.font, space.width, out->lines, NAME_LINES);
}

static void measure_text_lines(struct peakchart *chart)
{
    for (size_t i = 0; i < chart->count; i++) {
        struct shown_name name;
        struct info_line info[INFO_LINES];
        wrap_run_name(chart, chart->runs[i].name, &name);
        size_t infos = info_lines(chart, &chart->runs[i], info);
        chart->name_lines = name.count > chart->name_lines ? name.count : chart->name_lines;
        chart->info_lines = infos > chart->info_lines ? infos : chart->info_lines;
    }
}

static size_t make_bar_legend(const struct peakchart *chart,
                              struct tts_chart_legend out[TTS_CHART_LEGEND_MAX])
{
    size_t count = 0;
    bool has_limits = false, has[TTS_RUN_PARTS] = {false};
    for (size_t i = 0; i < chart->count; i++) {
        has_limits |= has_limit(chart->runs[i].mem);
        for (int part = 0; chart->runs[i].mem->has_parts && part < TTS_RUN_PARTS; part++)
            has[part] |= chart->runs[i].mem->parts[part] > 0;
    }
    for (int part = 0; part < TTS_RUN_PARTS; part++)
        if (has[part])
            out[count++] = (struct tts_chart_legend){.text = parts_shown[part].label,
                                                     .paint = {parts_shown[part].rgb, 255}};
    if (has_limits)
        out[count++] = tts_chart_limit_legend(LIMIT_WIDTH, LIMIT_DASH);
    return count;
}

static int64_t text_lines_height(size_t lines, struct tts_font font)
{
    return (int64_t)lines * (font.size * TTS_CHART_LINE / 100);
}

static int64_t bar_row_height(const struct peakchart *chart)
{
    return chart->plot_height + AXIS_GAP + text_lines_height(chart->name_lines, chart->name) +
           4 * TTS_PX + text_lines_height(chart->info_lines, chart->info);
}

/* Sets the width of the drawing. Slots share the space up to `least`. */
static void measure_chart_width(struct peakchart *chart, struct tts_drawing *d, int64_t least)
{
    char limit[TTS_CHART_MB_MAX];
    int64_t label = text_width(tts_chart_own_mb(limit, chart->runs[0].mem->device_memory.bytes),
                               limit_font);
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
    /* A picture has whole pixels. */
    d->width = (d->width + TTS_PX - 1) / TTS_PX * TTS_PX;
}

static const struct tts_chart_stroke limit_stroke = {LIMIT_WIDTH, LIMIT_DASH};

/* ---- drawing ---- */

static void draw_one_limit(struct tts_drawing *d, const struct peakchart *chart,
                           struct tts_svg_box plot, size_t first)
{
    char text[TTS_CHART_MB_MAX];
    int64_t limit = chart->runs[0].mem->device_memory.bytes;
    int64_t y = limit_line_y(chart, chart->runs[0].mem, plot.y + plot.height);
    tts_chart_draw_limit(d, first, (struct tts_svg_box){plot.x, y, plot.width, 0},
                         limit_stroke);
    struct tts_text_at at = {.x = plot.x + plot.width + 5 * TTS_PX,
                             .y = y + limit_font.size * 36 / 100,
                             .font = limit_font,
                             .paint = TTS_INK_WARNING};
    tts_drawing_put(d, &at, tts_chart_own_mb(text, limit));
}

/* Draws the value of a run's own limit, above its line and above the labels of the bar. */
static void put_own_limit(struct tts_drawing *d, const struct tts_trainmem *mem,
                          struct tts_svg_point above)
{
    char text[TTS_CHART_USAGE_MAX];
    struct tts_text_at at = {.x = above.x,
                             .y = above.y - 4 * TTS_PX,
                             .anchor = TTS_ANCHOR_MIDDLE,
                             .font = limit_font,
                             .paint = TTS_INK_WARNING};
    tts_drawing_put(d, &at, run_limit_text(text, mem));
}

static void draw_run_below(struct tts_drawing *d, const struct peakchart *chart,
                           const struct tts_named_run *run, struct tts_svg_point top)
{
    struct shown_name name;
    struct info_line info[INFO_LINES];
    wrap_run_name(chart, run->name, &name);
    size_t infos = info_lines(chart, run, info);
    struct tts_text_at at = {.x = top.x,
                             .y = top.y + AXIS_GAP + chart->name.size * 85 / 100,
                             .anchor = TTS_ANCHOR_MIDDLE,
                             .font = chart->name,
                             .paint = TTS_INK};
    for (size_t i = 0; i < name.count; i++) {
        tts_drawing_put_line(d, &at, name.text, &name.lines[i]);
        at.y += text_lines_height(1, chart->name);
    }
    at.y = top.y + AXIS_GAP + text_lines_height(chart->name_lines, chart->name) + 4 * TTS_PX +
           chart->info.size * 85 / 100;
    for (size_t i = 0; i < infos; i++) {
        at.font = (struct tts_font){chart->info.size, info[i].bold};
        at.paint = info[i].paint;
        tts_drawing_put(d, &at, info[i].text);
        at.y += text_lines_height(1, chart->info);
    }
}

static bool has_own_limit(const struct peakchart *chart, const struct tts_named_run *run)
{
    return !chart->has_one_limit && has_limit(run->mem);
}

/* Draws the texts of a run in the slot that begins at `at`: everything except the bar and the
 * line of the limit. */
static void draw_bar_run(struct tts_drawing *d, const struct peakchart *chart,
                         const struct tts_named_run *run, struct tts_svg_point at)
{
    bool has_own = has_own_limit(chart, run);
    int64_t limit = has_own ? limit_line_y(chart, run->mem, at.y) : 0;
    struct tts_svg_point corner = {at.x + (chart->slot - chart->bar) / 2, at.y};
    int64_t top = draw_bar_labels(d, chart, run, corner, false);
    at.x += chart->slot / 2;
    if (has_own)
        put_own_limit(d, run->mem, (struct tts_svg_point){at.x, top < limit ? top : limit});
    draw_run_below(d, chart, run, at);
}

/* Draws the runs [from, to) in one plot. */
static void draw_bar_row(struct tts_drawing *d, const struct peakchart *chart, size_t from,
                         size_t to, struct tts_svg_box plot)
{
    int64_t bottom = plot.y + plot.height;
    size_t shapes = d->shape_count;
    tts_chart_draw_ticks(d, &chart->scale, plot, tick_font);
    tts_chart_draw_unit(d, plot, UNIT_WIDTH);
    struct tts_svg_point first = {plot.x + (chart->slot - chart->bar) / 2, bottom};
    for (size_t i = from; i < to; i++) {
        struct tts_svg_point corner = {first.x + (int64_t)(i - from) * chart->slot, bottom};
        draw_bar(d, chart, &chart->runs[i], corner);
    }
    tts_chart_line(d, (struct tts_svg_point){plot.x, bottom},
                   (struct tts_svg_point){plot.x + plot.width, bottom}, TTS_INK_FRAME, TTS_PX,
                   0);
    for (size_t i = from; i < to; i++) {
        struct tts_svg_point corner = {first.x + (int64_t)(i - from) * chart->slot, bottom};
        draw_bar_labels(d, chart, &chart->runs[i], corner, true);
    }
    if (chart->has_one_limit)
        draw_one_limit(d, chart, plot, shapes);
    for (size_t i = from; i < to; i++) {
        int64_t x = plot.x + (int64_t)(i - from) * chart->slot + 4 * TTS_PX;
        int64_t y = limit_line_y(chart, chart->runs[i].mem, bottom);
        if (has_own_limit(chart, &chart->runs[i]))
            tts_chart_draw_limit(d, shapes,
                                 (struct tts_svg_box){x, y, chart->slot - 8 * TTS_PX, 0},
                                 limit_stroke);
    }
    for (size_t i = from; i < to; i++) {
        int64_t x = plot.x + (int64_t)(i - from) * chart->slot;
        draw_bar_run(d, chart, &chart->runs[i], (struct tts_svg_point){x, bottom});
    }
}

static void draw_bar_rows(struct tts_drawing *d, const struct peakchart *chart)
{
    int64_t y = chart->top;
    for (size_t from = 0; from < chart->count; from += chart->per_row) {
        size_t to = from + chart->per_row;
        to = to > chart->count ? chart->count : to;
        struct tts_svg_box plot = {chart->left, y,
                                   (int64_t)chart->per_row * chart->slot + chart->spare,
                                   chart->plot_height};
        draw_bar_row(d, chart, from, to, plot);
        y += bar_row_height(chart) + ROW_GAP;
    }
}

enum tts_status tts_peakchart(const struct tts_named_run *runs, size_t count, const char *title,
                              const struct tts_alloc *alloc, struct tts_drawing *out)
{
    if (count == 0 || count > TTS_CHART_RUNS_MAX)
        return TTS_E_RANGE;
    struct tts_drawing d;
    struct tts_chart_legend legends[TTS_CHART_LEGEND_MAX];
    struct peakchart chart = {.runs = runs, .count = count, .names = {runs, count}};
    chart.rows = (count + ROW_MAX - 1) / ROW_MAX;
    chart.per_row = (count + chart.rows - 1) / chart.rows;
    tts_drawing_init(&d, alloc);
    measure_bar_scale(&chart);
    choose_bar_sizes(&chart);
    measure_bar_slot(&chart);
    size_t legend_count = make_bar_legend(&chart, legends);
    measure_chart_width(
        &chart, &d,
        tts_chart_larger(tts_chart_head_width(legends, legend_count), 560 * TTS_PX));
    measure_text_lines(&chart);
    chart.top = tts_chart_draw_head(&d, title, legends, legend_count) + 14 * TTS_PX;
    int64_t rows = (int64_t)chart.rows;
    d.height = chart.top + rows * bar_row_height(&chart) + (rows - 1) * ROW_GAP + 16 * TTS_PX;
    d.height = (d.height + TTS_PX - 1) / TTS_PX * TTS_PX;
    draw_bar_rows(&d, &chart);
    describe_peakchart(&d, &chart, title);
    if (d.is_short) {
        tts_drawing_release(&d);
        return TTS_E_NOMEM;
    }
    *out = d;
    return TTS_OK;
}
