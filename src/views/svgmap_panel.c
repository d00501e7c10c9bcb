#include "views/svgmap_plot.h"

#include "base/number.h"

#include <inttypes.h>

enum { MARK_R = 4 * TTS_SVG_PX };

/* --- failed requests -------------------------------------------------------------------- */

enum bars_kind { BARS_BLOCKED, BARS_EXHAUSTED, BARS_FRAGMENTED };

struct bars {
    const char *color;
    uint64_t failed; /* of this kind */
    uint64_t shown;  /* and of the kinds drawn over it */
};

static struct bars bars_of(const struct tts_addrmap_column *column, enum bars_kind kind)
{
    uint64_t some = column->fragmented, more = some + column->exhausted;
    if (kind == BARS_BLOCKED)
        return (struct bars){TTS_COLOR_REFUSED, column->blocked, more + column->blocked};
    if (kind == BARS_EXHAUSTED)
        return (struct bars){TTS_COLOR_EXHAUSTED, column->exhausted, more};
    return (struct bars){TTS_COLOR_FRAGMENTED, column->fragmented, some};
}

/* A bar for each column with failures: high where many of its operations failed, never too low
 * to be seen. Kinds share it by their numbers and are stacked: each is drawn as high as it and
 * those drawn after it. */
static void draw_bars(const struct tts_addrmap *map, enum bars_kind kind, FILE *out)
{
    fprintf(out, "<path fill=\"%s\" d=\"", bars_of(&map->columns[0], kind).color);
    for (size_t i = 0; i < map->column_count; i++) {
        struct bars bars = bars_of(&map->columns[i], kind);
        uint64_t of = tts_svgmap_column_end(map, i) - i * map->span;
        if (bars.failed == 0)
            continue;
        int64_t left = tts_svgmap_x(map, i * map->span);
        int64_t width = tts_svgmap_x(map, tts_svgmap_column_end(map, i)) - left;
        uint64_t all = bars_of(&map->columns[i], BARS_BLOCKED).shown;
        int64_t bar = 8 * TTS_SVG_PX;
        bar += (TTS_LANE_H - bar) * (int64_t)all / (int64_t)of;
        int64_t height = bar * (int64_t)bars.shown / (int64_t)all;
        fputc('M', out);
        tts_svg_length(out, left);
        fputc(' ', out);
        tts_svg_length(out, TTS_LANE_Y + TTS_LANE_H);
        fputc('v', out);
        tts_svg_length(out, -height);
        fputc('h', out);
        tts_svg_length(out, width > TTS_SVG_PX ? width : TTS_SVG_PX);
        fputc('v', out);
        tts_svg_length(out, height);
        fputc('z', out);
    }
    fputs("\"/>\n", out);
}

void tts_svgmap_draw_lane(const struct tts_addrmap *map, FILE *out)
{
    fputs("<g clip-path=\"url(#lane)\">\n", out);
    if (map->counts.refused + map->counts.not_cut > 0)
        draw_bars(map, BARS_BLOCKED, out);
    if (map->counts.exhausted > 0)
        draw_bars(map, BARS_EXHAUSTED, out);
    if (map->counts.fragmented > 0)
        draw_bars(map, BARS_FRAGMENTED, out);
    fputs("</g>\n", out);
}

/* --- free memory ------------------------------------------------------------------------ */

static int64_t panel_y(const struct tts_addrmap *map, uint64_t bytes)
{
    return TTS_PANEL_Y + TTS_PANEL_H - tts_svgmap_height(map, bytes, TTS_PANEL_H);
}

static uint64_t series(const struct tts_addrmap *map, size_t column, bool largest)
{
    const struct tts_addrmap_column *from = &map->columns[column];
    return largest ? from->largest_bytes : from->free_bytes;
}

static void put_steps(const struct tts_addrmap *map, bool largest, FILE *out)
{
    for (size_t i = 0; i < map->column_count; i++) {
        fputs(i == 0 ? "M" : "V", out);
        if (i == 0) {
            tts_svg_length(out, TTS_PLOT_X);
            fputc(' ', out);
        }
        tts_svg_length(out, panel_y(map, series(map, i, largest)));
        fputc('H', out);
        tts_svg_length(out, tts_svgmap_x(map, tts_svgmap_column_end(map, i)));
    }
}

static void draw_area(const struct tts_addrmap *map, bool largest, const char *color, FILE *out)
{
    fprintf(out, "<path fill=\"%s\" d=\"", color);
    put_steps(map, largest, out);
    fputc('V', out);
    tts_svg_length(out, TTS_PANEL_Y + TTS_PANEL_H);
    fputc('H', out);
    tts_svg_length(out, TTS_PLOT_X);
    fputs("Z\"/>\n", out);
}

/* Failed requests of a merged column: each step of size once, neighbours as one stroke. */
static void put_size_runs(const struct tts_addrmap *map, size_t column, uint64_t bits,
                          FILE *out)
{
    uint64_t step = map->config.size_bytes / TTS_ADDRMAP_SIZES + 1;
    for (unsigned i = 0; i < TTS_ADDRMAP_SIZES; i++) {
        unsigned first = i;
        while (i < TTS_ADDRMAP_SIZES && bits >> i & 1)
            i++;
        if (i == first)
            continue;
        fputc('M', out);
        tts_svg_length(out, tts_svgmap_column_middle(map, column));
        fputc(' ', out);
        tts_svg_length(out, panel_y(map, first * step));
        fputc('V', out);
        tts_svg_length(out, panel_y(map, i * step));
    }
}

static void draw_size_runs(const struct tts_addrmap *map, bool fragmented, FILE *out)
{
    fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"3\" d=\"",
            fragmented ? TTS_COLOR_FRAGMENTED : TTS_COLOR_EXHAUSTED);
    for (size_t i = 0; i < map->column_count; i++)
        put_size_runs(map, i,
                      fragmented ? map->columns[i].fragmented_sizes
                                 : map->columns[i].exhausted_sizes,
                      out);
    fputs("\"/>\n", out);
}

/* What is larger than the scale: at its top, pointing up. */
static void put_triangle(int64_t x, FILE *out)
{
    fputs("<path d=\"M", out);
    tts_svg_length(out, x);
    fputc(' ', out);
    tts_svg_length(out, TTS_PANEL_Y + TTS_SVG_PX);
    fputs("l5 8h-10z", out);
}

static void draw_mark(const struct tts_addrmap *map, const struct tts_addrmap_mark *mark,
                      FILE *out)
{
    char human[TTS_NUMBER_BYTES_MAX];
    int64_t x = tts_svgmap_column_middle(map, (size_t)mark->seq - 1);
    bool beyond = mark->size_bytes > map->config.size_bytes;
    if (beyond) {
        put_triangle(x, out);
    } else {
        fputs("<circle cx=\"", out);
        tts_svg_length(out, x);
        fputs("\" cy=\"", out);
        tts_svg_length(out, panel_y(map, mark->size_bytes));
        fputs("\" r=\"", out);
        tts_svg_length(out, MARK_R);
    }
    fprintf(out,
            "\" fill=\"%s\"><title>operation %" PRIu64 ", line %" PRIu64
            ": %s found no room: %s</title></%s>\n",
            mark->fragmented ? TTS_COLOR_FRAGMENTED : TTS_COLOR_EXHAUSTED, mark->seq,
            map->lines[mark->seq - 1], tts_number_format_bytes(human, mark->size_bytes),
            mark->fragmented ? "enough was free, but in pieces" : "too little was free",
            beyond ? "path" : "circle");
}

static void draw_marks(const struct tts_addrmap *map, FILE *out)
{
    fputs("<g stroke=\"#fff\" stroke-width=\".8\">\n", out);
    for (size_t i = 0; i < map->mark_count; i++)
        draw_mark(map, &map->marks[i], out);
    fputs("</g>\n", out);
}

void tts_svgmap_draw_panel(const struct tts_addrmap *map, FILE *out)
{
    if (map->column_count == 0)
        return;
    fputs("<g clip-path=\"url(#panel)\">\n", out);
    draw_area(map, false, TTS_COLOR_PIECES, out);
    draw_area(map, true, TTS_COLOR_USABLE, out);
    fputs("<path fill=\"none\" stroke=\"" TTS_COLOR_LINE "\" stroke-width=\"1.2\" d=\"", out);
    put_steps(map, false, out);
    fputs("\"/>\n", out);
    if (!map->has_detail) {
        draw_size_runs(map, false, out);
        draw_size_runs(map, true, out);
    }
    fputs("</g>\n", out);
    if (map->has_detail)
        draw_marks(map, out);
}
