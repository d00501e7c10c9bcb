#include "views/svgmap_plot.h"

#include "base/number.h"

#include <inttypes.h>

enum {
    LINES_FEW = 72,               /* as many failed columns, or dots, are drawn strong, */
    LINES_MAX = 200,              /* and more than this would hide the map */
    BLOCK_H_MIN = 60,             /* a block is never thinner: it is there */
    OUTLINE_MIN = 3 * TTS_SVG_PX, /* smaller blocks have no outline */
};

const char *const tts_svgmap_colors[TTS_MAP_LEVELS] = {TTS_COLOR_FREE, "#d3e3f3", "#a5c8e6",
                                                       "#6da6d6",      "#3c80bd", "#1b5a98"};

int64_t tts_svgmap_x(const struct tts_addrmap *map, uint64_t seq)
{
    uint64_t all = map->operations > 0 ? map->operations : 1;
    /* The product fits up to 2^47 operations; beyond, the last bits do not show. */
    while (seq > UINT64_C(1) << 47) {
        seq /= 2;
        all /= 2;
    }
    return TTS_PLOT_X + (int64_t)(TTS_PLOT_W * seq / all);
}

int64_t tts_svgmap_height(const struct tts_addrmap *map, uint64_t bytes, int64_t all)
{
    uint64_t size = map->config.size_bytes; /* at most 2^46, and `all` less than 2^16 */
    if (bytes >= size)
        return all;
    return (int64_t)(bytes * (uint64_t)all / size);
}

uint64_t tts_svgmap_column_end(const struct tts_addrmap *map, size_t column)
{
    return column + 1 < map->column_count ? (column + 1) * map->span : map->operations;
}

int64_t tts_svgmap_column_middle(const struct tts_addrmap *map, size_t column)
{
    int64_t left = tts_svgmap_x(map, column * map->span);
    return (left + tts_svgmap_x(map, tts_svgmap_column_end(map, column))) / 2;
}

bool tts_svgmap_has_cut(const struct tts_addrmap *map)
{
    for (size_t i = 0; i < map->column_count; i++)
        if (map->columns[i].cut_bytes > 0)
            return true;
    return false;
}

/* --- the map ---------------------------------------------------------------------------- */

static unsigned cover_level(uint16_t cover)
{
    if (cover == 0 || cover == TTS_ADDRMAP_FULL)
        return cover == 0 ? 0 : TTS_MAP_LEVELS - 1;
    return 1 + cover * (TTS_MAP_LEVELS - 2u) / TTS_ADDRMAP_FULL;
}

/* "0.123456": how many pixels one unit of `part` out of `whole` is, for a scale(). */
static void put_scale(FILE *out, uint64_t pixels, uint64_t part, uint64_t whole)
{
    while (part > UINT64_C(1) << 32) {
        part /= 2;
        whole /= 2;
    }
    uint64_t millionths =
        pixels * part / whole * 1000000 + pixels * part % whole * 1000000 / whole;
    fprintf(out, "%" PRIu64 ".%06" PRIu64, millionths / 1000000, millionths % 1000000);
}

/* One row of one level as horizontal strokes: "M" to the first, "m" over each gap. */
static void put_row(const struct tts_addrmap *map, size_t row, unsigned level, FILE *out)
{
    size_t drawn = 0;
    bool any = false;
    for (size_t i = 0; i < map->column_count;) {
        size_t start = i;
        while (i < map->column_count && cover_level(map->columns[i].cover[row]) == level)
            i++;
        if (i == start) {
            i++;
            continue;
        }
        if (any)
            fprintf(out, "m%zu 0h%zu", start - drawn, i - start);
        else
            fprintf(out, "M%zu %zuh%zu", start, row, i - start);
        any = true;
        drawn = i;
    }
}

/* In units of columns and rows, scaled as a whole: short numbers, and few of them. */
static void open_cells(const struct tts_addrmap *map, FILE *out)
{
    uint64_t operations = map->operations > 0 ? map->operations : 1;
    fprintf(out, "<g transform=\"translate(%d %d) scale(", TTS_PLOT_X / TTS_SVG_PX,
            (TTS_MAP_Y + TTS_MAP_H) / TTS_SVG_PX);
    put_scale(out, TTS_PLOT_W / TTS_SVG_PX, map->span, operations);
    fputs(" -", out);
    put_scale(out, TTS_MAP_H / TTS_SVG_PX, map->row_bytes, map->config.size_bytes);
    fputs(") translate(0 .5)\" fill=\"none\" shape-rendering=\"crispEdges\">\n", out);
}

static void draw_cells(const struct tts_addrmap *map, FILE *out)
{
    open_cells(map, out);
    for (unsigned level = 1; level < TTS_MAP_LEVELS; level++) {
        fprintf(out, "<path stroke=\"%s\" d=\"", tts_svgmap_colors[level]);
        for (size_t row = 0; row < map->row_count; row++)
            put_row(map, row, level, out);
        fputs("\"/>\n", out);
    }
    fputs("</g>\n", out);
}

static struct tts_svg_box block_box(const struct tts_addrmap *map,
                                    const struct tts_addrmap_block *block)
{
    uint64_t last = block->end_seq <= map->operations ? block->end_seq - 1 : map->operations;
    int64_t x = tts_svgmap_x(map, block->first_seq - 1);
    int64_t top = tts_svgmap_height(map, block->start + block->size_bytes, TTS_MAP_H);
    int64_t bottom = tts_svgmap_height(map, block->start, TTS_MAP_H);
    int64_t height = top - bottom > BLOCK_H_MIN ? top - bottom : BLOCK_H_MIN;
    return (struct tts_svg_box){x, TTS_MAP_Y + TTS_MAP_H - bottom - height,
                                tts_svgmap_x(map, last) - x, height};
}

static void draw_block(const struct tts_addrmap *map, const struct tts_addrmap_block *block,
                       FILE *out)
{
    char human[TTS_NUMBER_BYTES_MAX];
    struct tts_svg_box box = block_box(map, block);
    bool outlined = box.height >= OUTLINE_MIN && box.width >= OUTLINE_MIN;
    tts_svg_rect_begin(out, box);
    fprintf(out, "%s%s><title>%" PRIu64 ": %s, from operation %" PRIu64 " (line %" PRIu64 ")",
            block->leaked ? " fill=\"" TTS_COLOR_LEAKED "\"" : "",
            outlined ? " stroke=\"#fff\"" : "", map->config.offset_bytes + block->start,
            tts_number_format_bytes(human, block->size_bytes), block->first_seq,
            map->lines[block->first_seq - 1]);
    if (block->end_seq <= map->operations)
        fprintf(out, " to %" PRIu64 " (line %" PRIu64 ")", block->end_seq,
                map->lines[block->end_seq - 1]);
    fputs("</title></rect>\n", out);
}

static void draw_blocks(const struct tts_addrmap *map, FILE *out)
{
    fputs("<g fill=\"" TTS_COLOR_BLOCK "\" stroke-width=\".8\">\n", out);
    for (size_t i = 0; i < map->block_count; i++)
        draw_block(map, &map->blocks[i], out);
    fputs("</g>\n", out);
}

/* What shrink cut off, as an area that stands on the bottom of the map. */
static void draw_cut(const struct tts_addrmap *map, FILE *out)
{
    fputs("<path fill=\"url(#cut)\" stroke=\"#8b95a1\" stroke-width=\".8\" d=\"M", out);
    tts_svg_length(out, TTS_PLOT_X);
    fputc(' ', out);
    tts_svg_length(out, TTS_MAP_Y + TTS_MAP_H);
    for (size_t i = 0; i < map->column_count; i++) {
        int64_t height = tts_svgmap_height(map, map->columns[i].cut_bytes, TTS_MAP_H);
        fputc('V', out);
        tts_svg_length(out, TTS_MAP_Y + TTS_MAP_H - height);
        fputc('H', out);
        tts_svg_length(out, tts_svgmap_x(map, tts_svgmap_column_end(map, i)));
    }
    fputc('V', out);
    tts_svg_length(out, TTS_MAP_Y + TTS_MAP_H);
    fputs("Z\"/>\n", out);
}

static bool is_blocked(const struct tts_addrmap *map, size_t column, size_t row)
{
    return map->columns[column].blocked_rows[row / 64] >> (row % 64) & 1;
}

static size_t blocked_cells(const struct tts_addrmap *map)
{
    size_t count = 0;
    for (size_t i = 0; i < map->column_count; i++)
        for (size_t row = 0; row < map->row_count; row++)
            count += is_blocked(map, i, row);
    return count;
}

static void put_dot(const struct tts_addrmap *map, size_t column, size_t row, FILE *out)
{
    uint64_t start = row * map->row_bytes + tts_addrmap_row_size(map, row) / 2;
    fputs("<path d=\"M", out);
    tts_svg_length(out, tts_svgmap_column_middle(map, column));
    fputc(' ', out);
    tts_svg_length(out, TTS_MAP_Y + TTS_MAP_H - tts_svgmap_height(map, start, TTS_MAP_H));
    fputs("h0\"", out);
    if (!map->has_detail) {
        fputs("/>\n", out);
        return;
    }
    fprintf(out,
            "><title>operation %zu, line %" PRIu64 ": the range was not free</title></path>\n",
            column + 1, map->lines[column]);
}

/* Where an exact range was not free: a dot at the address. */
static void draw_blocked(const struct tts_addrmap *map, FILE *out)
{
    size_t count = blocked_cells(map);
    if (count > LINES_MAX)
        return;
    fprintf(out,
            "<g stroke=\"" TTS_COLOR_REFUSED "\" stroke-width=\"5\" "
            "stroke-linecap=\"round\" stroke-opacity=\"%s\" fill=\"none\">\n",
            count > LINES_FEW ? ".4" : "1");
    for (size_t i = 0; i < map->column_count; i++) {
        for (size_t row = 0; row < map->row_count; row++) {
            if (is_blocked(map, i, row))
                put_dot(map, i, row, out);
        }
    }
    fputs("</g>\n", out);
}

static size_t failed_columns(const struct tts_addrmap *map)
{
    size_t count = 0;
    for (size_t i = 0; i < map->column_count; i++)
        count += map->columns[i].fragmented > 0 || map->columns[i].exhausted > 0;
    return count;
}

/* A line through the whole map where a request failed; of both kinds, fragmentation shows. */
static void draw_failed_lines(const struct tts_addrmap *map, bool fragmented, FILE *out)
{
    size_t count = failed_columns(map);
    if (count > LINES_MAX)
        return;
    fprintf(out, "<path stroke=\"%s\" stroke-opacity=\"%s\" fill=\"none\" d=\"",
            fragmented ? TTS_COLOR_FRAGMENTED : TTS_COLOR_EXHAUSTED,
            count > LINES_FEW ? ".4" : ".8");
    for (size_t i = 0; i < map->column_count; i++) {
        const struct tts_addrmap_column *column = &map->columns[i];
        bool drawn = fragmented ? column->fragmented > 0
                                : column->fragmented == 0 && column->exhausted > 0;
        if (!drawn)
            continue;
        fputc('M', out);
        tts_svg_length(out, tts_svgmap_column_middle(map, i));
        fputc(' ', out);
        tts_svg_length(out, TTS_MAP_Y);
        fputc('v', out);
        tts_svg_length(out, TTS_MAP_H);
    }
    fputs("\"/>\n", out);
}

void tts_svgmap_draw_map(const struct tts_addrmap *map, FILE *out)
{
    fputs("<g clip-path=\"url(#map)\">\n", out);
    if (map->has_detail)
        draw_blocks(map, out);
    else
        draw_cells(map, out);
    if (tts_svgmap_has_cut(map))
        draw_cut(map, out);
    if (map->counts.refused + map->counts.not_cut > 0)
        draw_blocked(map, out);
    if (map->counts.exhausted > 0)
        draw_failed_lines(map, false, out);
    if (map->counts.fragmented > 0)
        draw_failed_lines(map, true, out);
    fputs("</g>\n", out);
}

/* --- the end ---------------------------------------------------------------------------- */

static void draw_end_row(const struct tts_addrmap *map, size_t row, FILE *out)
{
    uint64_t all = tts_addrmap_row_size(map, row), held = map->row_taken_bytes[row];
    if (held == 0)
        return;
    unsigned level =
        held == all ? TTS_MAP_LEVELS - 1 : 1 + (unsigned)(held * (TTS_MAP_LEVELS - 2) / all);
    char style[48];
    snprintf(style, sizeof style, "fill=\"%s\"", tts_svgmap_colors[level]);
    int64_t bottom = tts_svgmap_height(map, row * map->row_bytes, TTS_MAP_H);
    int64_t top = tts_svgmap_height(map, row * map->row_bytes + all, TTS_MAP_H);
    tts_svg_rect(
        out,
        (struct tts_svg_box){TTS_END_X, TTS_MAP_Y + TTS_MAP_H - top, TTS_END_W, top - bottom},
        style);
}

void tts_svgmap_draw_end(const struct tts_addrmap *map, FILE *out)
{
    fputs("<g shape-rendering=\"crispEdges\">\n", out);
    for (size_t row = 0; row < map->row_count; row++)
        draw_end_row(map, row, out);
    uint64_t cut = map->config.size_bytes - map->last.total_bytes;
    int64_t height = tts_svgmap_height(map, cut, TTS_MAP_H);
    if (height > 0)
        tts_svg_rect(
            out,
            (struct tts_svg_box){TTS_END_X, TTS_MAP_Y + TTS_MAP_H - height, TTS_END_W, height},
            "fill=\"url(#cut)\"");
    fputs("</g>\n", out);
}
