#include "views/svgmap.h"

#include "base/number.h"
#include "views/svgmap_plot.h"

#include <inttypes.h>
#include <string.h>

enum { TICKS_APART = 15 * TTS_SVG_PX };

#define COLOR_INK "#1b2733"
#define COLOR_FRAME "#c3ccd6"

/* --- legends ---------------------------------------------------------------------------- */

static void swatch(FILE *out, struct tts_svg_point at, const char *style)
{
    struct tts_svg_box box = {at.x, at.y - 10 * TTS_SVG_PX, 14 * TTS_SVG_PX, 11 * TTS_SVG_PX};
    tts_svg_rect(out, box, style);
}

/* One entry; returns where the next begins. Text is taken as 6.6 pixels a letter. */
static int64_t legend(FILE *out, struct tts_svg_point at, const char *style, const char *text)
{
    swatch(out, at, style);
    tts_svg_text(out, (struct tts_svg_point){at.x + 20 * TTS_SVG_PX, at.y}, "", "%s", text);
    return at.x + 20 * TTS_SVG_PX + (int64_t)strlen(text) * 660 + 18 * TTS_SVG_PX;
}

static int64_t legend_levels(FILE *out, struct tts_svg_point at)
{
    char style[32];
    for (unsigned level = 1; level < TTS_MAP_LEVELS; level++) {
        snprintf(style, sizeof style, "fill=\"%s\"", tts_svgmap_colors[level]);
        swatch(out, at, style);
        at.x += 14 * TTS_SVG_PX;
    }
    at.x += 6 * TTS_SVG_PX;
    tts_svg_text(out, at, "", "taken, partly to wholly");
    return at.x + 170 * TTS_SVG_PX;
}

static void draw_map_legend(const struct tts_addrmap *map, FILE *out)
{
    struct tts_svg_point at = {TTS_PLOT_X, TTS_MAP_Y - 14 * TTS_SVG_PX};
    at.x = legend(out, at, "fill=\"" TTS_COLOR_FREE "\" stroke=\"" COLOR_FRAME "\"", "free");
    if (map->has_detail)
        at.x = legend(out, at, "fill=\"" TTS_COLOR_BLOCK "\"", "taken, each block");
    else
        at.x = legend_levels(out, at);
    if (map->counts.fragmented > 0)
        at.x = legend(out, at, "fill=\"" TTS_COLOR_FRAGMENTED "\"",
                      "failed: enough, but in pieces");
    if (map->counts.exhausted > 0)
        at.x = legend(out, at, "fill=\"" TTS_COLOR_EXHAUSTED "\"", "failed: too little free");
    if (map->counts.refused + map->counts.not_cut > 0)
        at.x = legend(out, at, "fill=\"" TTS_COLOR_REFUSED "\"", "range not free");
    if (map->counts.leaked > 0 && map->has_detail)
        at.x = legend(out, at, "fill=\"" TTS_COLOR_LEAKED "\"", "below the limit");
    if (tts_svgmap_has_cut(map))
        legend(out, at, "fill=\"url(#cut)\" stroke=\"" COLOR_FRAME "\"", "cut off");
}

static void draw_panel_legend(const struct tts_addrmap *map, FILE *out)
{
    struct tts_svg_point at = {TTS_PLOT_X, TTS_PANEL_Y - 9 * TTS_SVG_PX};
    at.x = legend(out, at, "fill=\"" TTS_COLOR_USABLE "\"", "largest free piece");
    at.x = legend(out, at, "fill=\"" TTS_COLOR_PIECES "\"", "free in other pieces");
    if (map->counts.fragmented + map->counts.exhausted == 0)
        return;
    if (map->counts.fragmented > 0 && map->counts.exhausted > 0) {
        swatch(out, at, "fill=\"" TTS_COLOR_EXHAUSTED "\"");
        at.x += 16 * TTS_SVG_PX;
    }
    legend(out, at,
           map->counts.fragmented > 0 ? "fill=\"" TTS_COLOR_FRAGMENTED "\""
                                      : "fill=\"" TTS_COLOR_EXHAUSTED "\"",
           "failed requests, at the size they asked for");
}

/* --- axes ------------------------------------------------------------------------------- */

static void draw_tick_line(FILE *out, struct tts_svg_box box)
{
    tts_svg_rect(out, box, "fill=\"" TTS_COLOR_SOFT "\"");
}

static void draw_address(FILE *out, int64_t y, uint64_t address, bool exact)
{
    char human[TTS_NUMBER_BYTES_MAX];
    struct tts_svg_point at = {TTS_PLOT_X - 9 * TTS_SVG_PX, y + 4 * TTS_SVG_PX};
    draw_tick_line(out, (struct tts_svg_box){TTS_PLOT_X - 5 * TTS_SVG_PX, y - TTS_SVG_PX / 2,
                                             5 * TTS_SVG_PX, TTS_SVG_PX});
    if (exact && address < UINT64_C(10000000000))
        tts_svg_text(out, at, "text-anchor=\"end\" font-weight=\"600\"", "%" PRIu64, address);
    else
        tts_svg_text(out, at, "text-anchor=\"end\"", "%s",
                     tts_number_format_bytes(human, address));
}

/* The power of two that makes at most eight ticks of a space. */
static uint64_t address_step(uint64_t size)
{
    uint64_t step = 1;
    while (size / step >= 8)
        step *= 2;
    return step;
}

/* Round addresses between, and the exact ones at both ends. */
static void draw_address_axis(const struct tts_addrmap *map, FILE *out)
{
    uint64_t size = map->config.size_bytes, offset = map->config.offset_bytes;
    uint64_t step = address_step(size), first = step - offset % step;
    for (uint64_t at = first; at < size; at += step) {
        int64_t height = tts_svgmap_height(map, at, TTS_MAP_H);
        if (height > TICKS_APART && height < TTS_MAP_H - TICKS_APART)
            draw_address(out, TTS_MAP_Y + TTS_MAP_H - height, offset + at, false);
    }
    draw_address(out, TTS_MAP_Y + TTS_MAP_H, offset, true);
    draw_address(out, TTS_MAP_Y, offset + size, true);
    fprintf(out,
            "<text transform=\"translate(20 %d) rotate(-90)\" text-anchor=\"middle\">"
            "address in every bank</text>\n",
            (TTS_MAP_Y + TTS_MAP_H / 2) / TTS_SVG_PX);
}

static void draw_size_axis(const struct tts_addrmap *map, FILE *out)
{
    char human[TTS_NUMBER_BYTES_MAX];
    uint64_t size = map->config.size_bytes, step = address_step(size);
    for (uint64_t at = 0; at < size; at += step) {
        int64_t y = TTS_PANEL_Y + TTS_PANEL_H - tts_svgmap_height(map, at, TTS_PANEL_H);
        draw_tick_line(out,
                       (struct tts_svg_box){TTS_PLOT_X - 5 * TTS_SVG_PX, y - TTS_SVG_PX / 2,
                                            5 * TTS_SVG_PX, TTS_SVG_PX});
        tts_svg_text(out,
                     (struct tts_svg_point){TTS_PLOT_X - 9 * TTS_SVG_PX, y + 4 * TTS_SVG_PX},
                     "text-anchor=\"end\"", "%s", tts_number_format_bytes(human, at));
    }
    fprintf(out,
            "<text transform=\"translate(20 %d) rotate(-90)\" text-anchor=\"middle\">"
            "free bytes</text>\n",
            (TTS_PANEL_Y + TTS_PANEL_H / 2) / TTS_SVG_PX);
}

/* 1, 2 or 5 times a power of ten, for at most ten ticks. */
static uint64_t count_step(uint64_t count)
{
    uint64_t step = 1;
    for (;;) {
        for (int i = 0; i < 3; i++) {
            uint64_t candidate = step * (i == 0 ? 1 : i == 1 ? 2 : 5);
            if (count / candidate <= 10)
                return candidate;
        }
        step *= 10;
    }
}

static void draw_operation_axis(const struct tts_addrmap *map, FILE *out)
{
    char count[TTS_COUNT_MAX];
    uint64_t step = count_step(map->operations);
    int64_t y = TTS_PANEL_Y + TTS_PANEL_H;
    for (uint64_t seq = step; seq <= map->operations && seq >= step; seq += step) {
        int64_t x = (tts_svgmap_x(map, seq - 1) + tts_svgmap_x(map, seq)) / 2;
        draw_tick_line(out,
                       (struct tts_svg_box){x - TTS_SVG_PX / 2, y, TTS_SVG_PX, 5 * TTS_SVG_PX});
        tts_svg_text(out, (struct tts_svg_point){x, y + 18 * TTS_SVG_PX},
                     "text-anchor=\"middle\"", "%s", tts_svgmap_format_count(count, seq));
    }
    tts_svg_text(out, (struct tts_svg_point){TTS_PLOT_X + TTS_PLOT_W / 2, y + 37 * TTS_SVG_PX},
                 "text-anchor=\"middle\"", "operation");
    tts_svg_text(
        out, (struct tts_svg_point){TTS_PLOT_X - 9 * TTS_SVG_PX, TTS_LANE_Y + TTS_LANE_H - 300},
        "text-anchor=\"end\"", "failed");
    tts_svg_text(
        out, (struct tts_svg_point){TTS_END_X + TTS_END_W / 2, TTS_LANE_Y + TTS_LANE_H - 300},
        "text-anchor=\"middle\"", "end");
}

/* --- the page --------------------------------------------------------------------------- */

static void put_clip(FILE *out, const char *id, struct tts_svg_box box)
{
    fprintf(out, "<clipPath id=\"%s\">", id);
    tts_svg_rect(out, box, "");
    fputs("</clipPath>\n", out);
}

static const struct tts_svg_box map_box = {TTS_PLOT_X, TTS_MAP_Y, TTS_PLOT_W, TTS_MAP_H};
static const struct tts_svg_box end_box = {TTS_END_X, TTS_MAP_Y, TTS_END_W, TTS_MAP_H};
static const struct tts_svg_box lane_box = {TTS_PLOT_X, TTS_LANE_Y, TTS_PLOT_W, TTS_LANE_H};
static const struct tts_svg_box panel_box = {TTS_PLOT_X, TTS_PANEL_Y, TTS_PLOT_W, TTS_PANEL_H};

static void open_page(const char *name, FILE *out)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" style=\"max-width:100%%;height:auto\" role=\"img\" "
            "font-size=\"12.5\" fill=\"" COLOR_INK "\" "
            "font-family=\"system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu "
            "Sans',sans-serif\">\n<title>Memory map of ",
            TTS_PAGE_W / TTS_SVG_PX, TTS_PAGE_H / TTS_SVG_PX, TTS_PAGE_W / TTS_SVG_PX,
            TTS_PAGE_H / TTS_SVG_PX);
    tts_svg_escape(out, tts_svgmap_name(name));
    fputs("</title>\n<defs>\n"
          "<pattern id=\"cut\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
          "patternTransform=\"rotate(45)\"><path fill=\"#dfe3e8\" d=\"M0 0h6v6h-6z\"/>"
          "<path fill=\"#a9b2bc\" d=\"M0 0h2v6h-2z\"/></pattern>\n",
          out);
    put_clip(out, "map", map_box);
    put_clip(out, "lane", lane_box);
    put_clip(out, "panel", panel_box);
    fputs("</defs>\n", out);
    struct tts_svg_box card = {TTS_SVG_PX / 2, TTS_SVG_PX / 2, TTS_PAGE_W - TTS_SVG_PX,
                               TTS_PAGE_H - TTS_SVG_PX};
    tts_svg_rect(out, card, "rx=\"10\" fill=\"#fff\" stroke=\"" COLOR_FRAME "\"");
}

void tts_svgmap_write(const struct tts_addrmap *map, const char *name, FILE *out)
{
    const char *frame = "fill=\"none\" stroke=\"" COLOR_FRAME "\"";
    open_page(name, out);
    tts_svgmap_draw_words(map, name, out);
    draw_map_legend(map, out);
    tts_svg_rect(out, map_box, "fill=\"" TTS_COLOR_FREE "\"");
    tts_svgmap_draw_map(map, out);
    tts_svg_rect(out, map_box, frame);
    tts_svg_rect(out, end_box, "fill=\"" TTS_COLOR_FREE "\"");
    tts_svgmap_draw_end(map, out);
    tts_svg_rect(out, end_box, frame);
    tts_svg_rect(out, lane_box, "fill=\"#f6f8fa\"");
    tts_svgmap_draw_lane(map, out);
    draw_panel_legend(map, out);
    tts_svg_rect(out, panel_box, "fill=\"#f6f8fa\"");
    tts_svgmap_draw_panel(map, out);
    tts_svg_rect(out, panel_box, frame);
    fputs("<g font-size=\"11.5\" fill=\"" TTS_COLOR_SOFT "\">\n", out);
    draw_address_axis(map, out);
    draw_size_axis(map, out);
    draw_operation_axis(map, out);
    fputs("</g>\n</svg>\n", out);
}
