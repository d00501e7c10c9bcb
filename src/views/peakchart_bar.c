#include "views/peakchart_inside.h"

#include "base/number.h"

#include <assert.h>
#include <string.h>

/* Where a leader ends, and where one begins. */
struct beside {
    enum tts_run_part part;
    int64_t from, y;
};

static int64_t height_of(const struct tts_peakchart *chart, int64_t bytes)
{
    return tts_chart_height(&chart->scale, bytes, chart->plot_height);
}

struct tts_svg_box tts_peakchart_part_box(const struct tts_peakchart *chart,
                                          const struct tts_trainmem *mem,
                                          enum tts_run_part part, struct tts_svg_point corner)
{
    int64_t below = 0;
    for (int i = 0; i < (int)part; i++)
        below = tts_chart_clamp(below + tts_chart_clamp(mem->parts[i]));
    int64_t above = tts_chart_clamp(below + tts_chart_clamp(mem->parts[part]));
    int64_t low = height_of(chart, below), high = height_of(chart, above);
    assert(high >= low);
    return (struct tts_svg_box){corner.x, corner.y - high, chart->bar, high - low};
}

bool tts_peakchart_is_inside(const struct tts_peakchart *chart, const struct tts_trainmem *mem,
                             enum tts_run_part part)
{
    char text[TTS_CHART_MB_MAX];
    struct tts_svg_box box =
        tts_peakchart_part_box(chart, mem, part, (struct tts_svg_point){0});
    tts_peakchart_size(text, mem, part);
    return box.height >= chart->inside.size * 160 / 100 &&
           tts_text_width(text, strlen(text), chart->inside) + 3 * TTS_PEAKCHART_PAD <=
               chart->bar;
}

/* --- boxes -------------------------------------------------------------------------------- */

static size_t hint_of(struct tts_drawing *d, const struct tts_trainmem *mem,
                      enum tts_run_part part)
{
    char size[TTS_NUMBER_MB_MAX], peak[TTS_NUMBER_MB_MAX];
    return tts_drawing_keep_format(d, "%s: %s MB of %s MB", tts_peakchart_parts[part].label,
                                   tts_number_format_mb(size, mem->parts[part], false),
                                   tts_number_format_mb(peak, mem->peak.bytes, false));
}

static void draw_part(struct tts_drawing *d, const struct tts_trainmem *mem,
                      enum tts_run_part part, struct tts_svg_box box)
{
    struct tts_drawn shape = {.kind = TTS_SHAPE_BOX,
                              .box = box,
                              .fill = {tts_peakchart_parts[part].rgb, 255},
                              .name = tts_peakchart_parts[part].word,
                              .hint = hint_of(d, mem, part)};
    tts_drawing_add(d, &shape);
}

/* A white edge takes a pixel of the box above it: not of one that is hardly more. */
static void draw_edge(struct tts_drawing *d, struct tts_svg_box box, int64_t bottom)
{
    int64_t y = box.y + box.height;
    if (box.height >= 3 * TTS_PX && y < bottom)
        tts_chart_line(d, (struct tts_svg_point){box.x, y},
                       (struct tts_svg_point){box.x + box.width, y}, TTS_INK_WHITE, TTS_PX, 0);
}

/* Of a run whose parts are not known: its outline. */
static void draw_outline(struct tts_drawing *d, const struct tts_peakchart *chart,
                         const struct tts_trainmem *mem, struct tts_svg_point corner)
{
    int64_t height = height_of(chart, mem->peak.bytes);
    struct tts_drawn shape = {.kind = TTS_SHAPE_BOX,
                              .box = {corner.x, corner.y - height, chart->bar, height},
                              .fill = {0xf3f5f7, 255},
                              .stroke = TTS_INK_FRAME,
                              .stroke_width = TTS_PX * 3 / 2,
                              .name = "whole"};
    tts_drawing_add(d, &shape);
}

void tts_peakchart_draw_bar(struct tts_drawing *d, const struct tts_peakchart *chart,
                            const struct tts_named_run *run, struct tts_svg_point corner)
{
    const struct tts_trainmem *mem = run->mem;
    if (!mem->has_parts) {
        if (mem->peak.is_known)
            draw_outline(d, chart, mem, corner);
        return;
    }
    for (int part = 0; part < TTS_RUN_PARTS; part++) {
        struct tts_svg_box box =
            tts_peakchart_part_box(chart, mem, (enum tts_run_part)part, corner);
        if (box.height > 0)
            draw_part(d, mem, (enum tts_run_part)part, box);
    }
    for (int part = 0; part < TTS_RUN_PARTS; part++)
        draw_edge(d, tts_peakchart_part_box(chart, mem, (enum tts_run_part)part, corner),
                  corner.y);
}

/* The line of a run's limit, or a place where no label is. */
static int64_t limit_y(const struct tts_peakchart *chart, const struct tts_trainmem *mem,
                       int64_t bottom)
{
    return tts_peakchart_has_limit(mem) ? bottom - height_of(chart, mem->device_memory.bytes)
                                        : INT64_MAX / 2;
}

/* --- labels ------------------------------------------------------------------------------- */

/* The place of a label in a part: the middle, or above or below the line of the limit. If the
 * part is too small for this, the line has a gap there. */
static struct tts_svg_box place_inside(const struct tts_peakchart *chart,
                                       struct tts_svg_box part, int64_t limit)
{
    int64_t height = chart->inside.size * 140 / 100, half = height / 2 + TTS_PEAKCHART_CLEAR;
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

static void draw_inside(struct tts_drawing *d, const struct tts_peakchart *chart,
                        struct tts_svg_box box, const char *text, bool is_ground)
{
    int64_t width = tts_text_width(text, strlen(text), chart->inside) + 2 * TTS_PEAKCHART_PAD;
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

/* Moves labels, ordered upwards, apart: none above `top`, then none below `bottom`. */
static void spread(struct beside *labels, size_t count, int64_t top, int64_t bottom,
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

/* Of the thin parts that there are, upwards. */
static size_t find_beside(const struct tts_peakchart *chart, const struct tts_trainmem *mem,
                          struct tts_svg_point corner, struct beside labels[TTS_RUN_PARTS])
{
    size_t count = 0;
    for (int i = 0; i < TTS_RUN_PARTS; i++) {
        enum tts_run_part part = (enum tts_run_part)i;
        if (mem->parts[i] <= 0 || tts_peakchart_is_inside(chart, mem, part))
            continue;
        struct tts_svg_box box = tts_peakchart_part_box(chart, mem, part, corner);
        int64_t y = box.y + box.height / 2;
        labels[count++] = (struct beside){part, y, y};
    }
    return count;
}

/* The colour of a part too thin to show it. */
static void draw_key(struct tts_drawing *d, struct tts_svg_point at, enum tts_run_part part)
{
    struct tts_drawn key = {.kind = TTS_SHAPE_BOX,
                            .box = {at.x, at.y - TTS_PEAKCHART_SWATCH / 2, TTS_PEAKCHART_SWATCH,
                                    TTS_PEAKCHART_SWATCH},
                            .fill = {tts_peakchart_parts[part].rgb, 255},
                            .name = "key"};
    tts_drawing_add(d, &key);
}

/* Returns how high they reach. */
static int64_t draw_beside(struct tts_drawing *d, const struct tts_peakchart *chart,
                           const struct tts_trainmem *mem, struct tts_svg_point corner,
                           bool is_ground)
{
    struct beside labels[TTS_RUN_PARTS];
    size_t count = find_beside(chart, mem, corner, labels);
    int64_t pitch = chart->beside.size * TTS_PEAKCHART_BESIDE_PITCH / 100;
    int64_t bar_top = corner.y - height_of(chart, mem->peak.bytes);
    int64_t lowest = corner.y - pitch * 55 / 100;
    int64_t highest = lowest - ((int64_t)count - 1) * pitch;
    int64_t top = bar_top + pitch * 45 / 100;
    top = top > highest ? highest : top;
    if (count == 0)
        return bar_top;
    spread(labels, count, top, lowest, pitch);
    int64_t edge = corner.x + chart->bar,
            x = edge + TTS_PEAKCHART_LEADER - TTS_PEAKCHART_SWATCH;
    for (size_t i = 0; i < count; i++) {
        char text[TTS_CHART_MB_MAX];
        tts_peakchart_size(text, mem, labels[i].part);
        struct tts_text_at at = {.x = edge + TTS_PEAKCHART_LEADER + 3 * TTS_PX,
                                 .y = labels[i].y + chart->beside.size * 36 / 100,
                                 .font = chart->beside,
                                 .paint = TTS_INK};
        if (is_ground) {
            tts_chart_veil(d, &at, tts_text_width(text, strlen(text), at.font));
            continue;
        }
        tts_chart_line(d, (struct tts_svg_point){edge, labels[i].from},
                       (struct tts_svg_point){x, labels[i].y}, TTS_INK_SOFT, TTS_PX * 3 / 4, 0);
        draw_key(d, (struct tts_svg_point){x, labels[i].y}, labels[i].part);
        tts_drawing_put(d, &at, text);
    }
    int64_t reach = labels[count - 1].y - pitch / 2;
    return reach < bar_top ? reach : bar_top;
}

/* Where a text stands above an edge, and above the line of the limit if that would cross it. */
static struct tts_text_at place_above(struct tts_svg_point edge, int64_t limit,
                                      struct tts_font font, struct tts_paint paint)
{
    struct tts_text_at at = {.x = edge.x,
                             .y = edge.y - 6 * TTS_PX,
                             .anchor = TTS_ANCHOR_MIDDLE,
                             .font = font,
                             .paint = paint};
    int64_t below = font.size * 26 / 100 + TTS_PEAKCHART_CLEAR;
    if (limit > at.y - font.size * 84 / 100 - TTS_PEAKCHART_CLEAR && limit < at.y + below)
        at.y = limit - below;
    return at;
}

/* Returns how high it reaches. */
static int64_t put_above(struct tts_drawing *d, struct tts_text_at at, const char *text,
                         bool is_ground)
{
    if (is_ground)
        tts_chart_veil(d, &at, tts_text_width(text, strlen(text), at.font));
    else
        tts_drawing_put(d, &at, text);
    return at.y - at.font.size * 84 / 100;
}

int64_t tts_peakchart_draw_labels(struct tts_drawing *d, const struct tts_peakchart *chart,
                                  const struct tts_named_run *run, struct tts_svg_point corner,
                                  bool is_ground)
{
    const struct tts_trainmem *mem = run->mem;
    struct tts_svg_point above = {corner.x + chart->bar / 2, corner.y};
    int64_t limit = limit_y(chart, mem, corner.y);
    if (!mem->peak.is_known)
        return put_above(d, place_above(above, limit, chart->info, TTS_INK_SOFT),
                         "peak not known", is_ground);
    above.y -= height_of(chart, mem->peak.bytes);
    for (int i = 0; mem->has_parts && i < TTS_RUN_PARTS; i++) {
        enum tts_run_part part = (enum tts_run_part)i;
        char text[TTS_CHART_MB_MAX];
        if (mem->parts[i] <= 0 || !tts_peakchart_is_inside(chart, mem, part))
            continue;
        struct tts_svg_box box = tts_peakchart_part_box(chart, mem, part, corner);
        draw_inside(d, chart, place_inside(chart, box, limit),
                    tts_peakchart_size(text, mem, part), is_ground);
    }
    if (mem->has_parts)
        above.y = draw_beside(d, chart, mem, corner, is_ground);
    char total[TTS_CHART_USAGE_MAX];
    return put_above(d, place_above(above, limit, chart->total, TTS_INK),
                     tts_peakchart_total(total, mem), is_ground);
}
