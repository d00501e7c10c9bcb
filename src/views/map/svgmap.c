#include "views/map/svgmap.h"

#include "base/compiler.h"
#include "base/number.h"
#include "device/space.h"
#include "views/map/addrmap.h"
#include "views/percent.h"
#include "views/svg.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    PAGE_W = 1120 * TTS_SVG_PX,
    PAGE_H = 880 * TTS_SVG_PX,
    PLOT_X = 98 * TTS_SVG_PX,
    PLOT_W = 930 * TTS_SVG_PX,
    MAP_Y = 180 * TTS_SVG_PX,
    MAP_H = 400 * TTS_SVG_PX,
    END_X = PLOT_X + PLOT_W + 12 * TTS_SVG_PX, /* strip with the state at the end */
    END_W = 28 * TTS_SVG_PX,
    LANE_Y = MAP_Y + MAP_H + 8 * TTS_SVG_PX, /* lane of failed requests */
    LANE_H = 16 * TTS_SVG_PX,
    PANEL_Y = LANE_Y + LANE_H + 34 * TTS_SVG_PX,
    PANEL_H = 180 * TTS_SVG_PX,
};

/* Levels of a cell: 0 is free, then quarters; the last level is taken all the time. */
enum { MAP_LEVELS = 6 };

#define COLOR_FREE "#edf1f5"  /* level 0 */
#define COLOR_BLOCK "#3c80bd" /* a block drawn by itself */
#define COLOR_FRAGMENTED "#e0243c"
#define COLOR_EXHAUSTED "#7a0f3c"
#define COLOR_REFUSED "#e08a00"
#define COLOR_LEAKED "#8e5bb5"
#define COLOR_USABLE "#58a182"
#define COLOR_PIECES "#f3cf8e"
#define COLOR_SOFT "#5a6673" /* for text */
#define COLOR_LINE "#8a5a00"
#define COLOR_INK "#1b2733"
#define COLOR_FRAME "#c3ccd6"

enum {
    LINES_FEW = 72, /* up to this number, failed columns and dots are drawn opaque */
    LINES_MAX =
        200, /* if there are more lines than this, none is drawn: they would hide the map */
    BLOCK_H_MIN = 60,             /* minimum height, so that every block is visible */
    OUTLINE_MIN = 3 * TTS_SVG_PX, /* smaller blocks have no outline */
    MARK_R = 4 * TTS_SVG_PX,
    TICKS_APART = 15 * TTS_SVG_PX,
    COUNT_MAX = 28,
    NAME_MAX_BYTES = 80,
    SENTENCE_MAX = 250,
};

static const char *const level_colors[MAP_LEVELS] = {COLOR_FREE, "#d3e3f3", "#a5c8e6",
                                                     "#6da6d6",  "#3c80bd", "#1b5a98"};

/* Returns the right edge of operation `seq`. For 0, returns the left edge of the plot. */
static int64_t operation_x(const struct tts_addrmap *map, uint64_t seq)
{
    uint64_t all = map->operations > 0 ? map->operations : 1;
    /* The product fits up to 2^47 operations. Above that, the lost bits are not visible. */
    while (seq > UINT64_C(1) << 47) {
        seq /= 2;
        all /= 2;
    }
    return PLOT_X + (int64_t)(PLOT_W * seq / all);
}

/* Returns the height of `bytes` in a plot where the whole space has the height `all`. */
static int64_t bytes_height(const struct tts_addrmap *map, uint64_t bytes, int64_t all)
{
    uint64_t size = map->config.size_bytes; /* at most 2^46; `all` is less than 2^16 */
    if (bytes >= size)
        return all;
    return (int64_t)(bytes * (uint64_t)all / size);
}

/* Return the last operation of a column, and the x of its middle. */
static uint64_t column_end(const struct tts_addrmap *map, size_t column)
{
    return column + 1 < map->column_count ? (column + 1) * map->span : map->operations;
}

static int64_t column_middle(const struct tts_addrmap *map, size_t column)
{
    int64_t left = operation_x(map, column * map->span);
    return (left + operation_x(map, column_end(map, column))) / 2;
}

/* Returns true if a part of the space was cut off at any time. */
static bool has_cut(const struct tts_addrmap *map)
{
    for (size_t i = 0; i < map->column_count; i++)
        if (map->columns[i].cut_bytes > 0)
            return true;
    return false;
}

/* ---- the map ---- */

static unsigned cover_level(uint16_t cover)
{
    if (cover == 0 || cover == TTS_ADDRMAP_FULL)
        return cover == 0 ? 0 : MAP_LEVELS - 1;
    return 1 + cover * (MAP_LEVELS - 2u) / TTS_ADDRMAP_FULL;
}

/* Writes a factor for scale(), such as "0.123456": the pixels of `part` units if `whole` units
 * have `pixels` pixels. */
static void put_svg_scale(FILE *out, uint64_t pixels, uint64_t part, uint64_t whole)
{
    while (part > UINT64_C(1) << 32) {
        part /= 2;
        whole /= 2;
    }
    uint64_t millionths =
        pixels * part / whole * 1000000 + pixels * part % whole * 1000000 / whole;
    fprintf(out, "%" PRIu64 ".%06" PRIu64, millionths / 1000000, millionths % 1000000);
}

/* Writes the cells of one row and one level as horizontal strokes: "M" to the first stroke, "m"
 * over each gap. */
static void put_cell_row(const struct tts_addrmap *map, size_t row, unsigned level, FILE *out)
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

/* Opens a group whose units are columns and rows, so that the numbers in it are short. */
static void open_cell_group(const struct tts_addrmap *map, FILE *out)
{
    uint64_t operations = map->operations > 0 ? map->operations : 1;
    fprintf(out, "<g transform=\"translate(%d %d) scale(", PLOT_X / TTS_SVG_PX,
            (MAP_Y + MAP_H) / TTS_SVG_PX);
    put_svg_scale(out, PLOT_W / TTS_SVG_PX, map->span, operations);
    fputs(" -", out);
    put_svg_scale(out, MAP_H / TTS_SVG_PX, map->row_bytes, map->config.size_bytes);
    fputs(") translate(0 .5)\" fill=\"none\" shape-rendering=\"crispEdges\">\n", out);
}

static void draw_cell_map(const struct tts_addrmap *map, FILE *out)
{
    open_cell_group(map, out);
    for (unsigned level = 1; level < MAP_LEVELS; level++) {
        fprintf(out, "<path stroke=\"%s\" d=\"", level_colors[level]);
        for (size_t row = 0; row < map->row_count; row++)
            put_cell_row(map, row, level, out);
        fputs("\"/>\n", out);
    }
    fputs("</g>\n", out);
}

static struct tts_svg_box block_box(const struct tts_addrmap *map,
                                    const struct tts_addrmap_block *block)
{
    uint64_t last = block->end_seq <= map->operations ? block->end_seq - 1 : map->operations;
    int64_t x = operation_x(map, block->first_seq - 1);
    int64_t top = bytes_height(map, block->start + block->size_bytes, MAP_H);
    int64_t bottom = bytes_height(map, block->start, MAP_H);
    int64_t height = top - bottom > BLOCK_H_MIN ? top - bottom : BLOCK_H_MIN;
    return (struct tts_svg_box){x, MAP_Y + MAP_H - bottom - height, operation_x(map, last) - x,
                                height};
}

static void draw_map_block(const struct tts_addrmap *map, const struct tts_addrmap_block *block,
                           FILE *out)
{
    char human[TTS_NUMBER_BYTES_MAX];
    struct tts_svg_box box = block_box(map, block);
    bool outlined = box.height >= OUTLINE_MIN && box.width >= OUTLINE_MIN;
    tts_svg_rect_begin(out, box);
    fprintf(out, "%s%s><title>%" PRIu64 ": %s, from operation %" PRIu64 " (line %" PRIu64 ")",
            block->leaked ? " fill=\"" COLOR_LEAKED "\"" : "",
            outlined ? " stroke=\"#fff\"" : "", map->config.offset_bytes + block->start,
            tts_number_format_bytes(human, block->size_bytes), block->first_seq,
            map->lines[block->first_seq - 1]);
    if (block->end_seq <= map->operations)
        fprintf(out, " to %" PRIu64 " (line %" PRIu64 ")", block->end_seq,
                map->lines[block->end_seq - 1]);
    fputs("</title></rect>\n", out);
}

static void draw_map_blocks(const struct tts_addrmap *map, FILE *out)
{
    fputs("<g fill=\"" COLOR_BLOCK "\" stroke-width=\".8\">\n", out);
    for (size_t i = 0; i < map->block_count; i++)
        draw_map_block(map, &map->blocks[i], out);
    fputs("</g>\n", out);
}

/* Draws the part of the space that a shrink cut off, as an area at the bottom of the map. */
static void draw_cut_area(const struct tts_addrmap *map, FILE *out)
{
    fputs("<path fill=\"url(#cut)\" stroke=\"#8b95a1\" stroke-width=\".8\" d=\"M", out);
    tts_svg_length(out, PLOT_X);
    fputc(' ', out);
    tts_svg_length(out, MAP_Y + MAP_H);
    for (size_t i = 0; i < map->column_count; i++) {
        int64_t height = bytes_height(map, map->columns[i].cut_bytes, MAP_H);
        fputc('V', out);
        tts_svg_length(out, MAP_Y + MAP_H - height);
        fputc('H', out);
        tts_svg_length(out, operation_x(map, column_end(map, i)));
    }
    fputc('V', out);
    tts_svg_length(out, MAP_Y + MAP_H);
    fputs("Z\"/>\n", out);
}

static bool is_cell_blocked(const struct tts_addrmap *map, size_t column, size_t row)
{
    return map->columns[column].blocked_rows[row / 64] >> (row % 64) & 1;
}

static size_t blocked_cells(const struct tts_addrmap *map)
{
    size_t count = 0;
    for (size_t i = 0; i < map->column_count; i++)
        for (size_t row = 0; row < map->row_count; row++)
            count += is_cell_blocked(map, i, row);
    return count;
}

static void put_blocked_dot(const struct tts_addrmap *map, size_t column, size_t row, FILE *out)
{
    uint64_t start = row * map->row_bytes + tts_addrmap_row_size(map, row) / 2;
    fputs("<path d=\"M", out);
    tts_svg_length(out, column_middle(map, column));
    fputc(' ', out);
    tts_svg_length(out, MAP_Y + MAP_H - bytes_height(map, start, MAP_H));
    fputs("h0\"", out);
    if (!map->has_detail) {
        fputs("/>\n", out);
        return;
    }
    fprintf(out,
            "><title>operation %zu, line %" PRIu64 ": the range was not free</title></path>\n",
            column + 1, map->lines[column]);
}

/* Draws a dot at each address where an exact range was not free. */
static void draw_blocked_dots(const struct tts_addrmap *map, FILE *out)
{
    size_t count = blocked_cells(map);
    if (count > LINES_MAX)
        return;
    fprintf(out,
            "<g stroke=\"" COLOR_REFUSED "\" stroke-width=\"5\" "
            "stroke-linecap=\"round\" stroke-opacity=\"%s\" fill=\"none\">\n",
            count > LINES_FEW ? ".4" : "1");
    for (size_t i = 0; i < map->column_count; i++) {
        for (size_t row = 0; row < map->row_count; row++) {
            if (is_cell_blocked(map, i, row))
                put_blocked_dot(map, i, row, out);
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

/* Draws a line through the map at each failed request. If a column has both kinds, only
 * fragmentation is drawn. */
static void draw_failed_lines(const struct tts_addrmap *map, bool fragmented, FILE *out)
{
    size_t count = failed_columns(map);
    if (count > LINES_MAX)
        return;
    fprintf(out, "<path stroke=\"%s\" stroke-opacity=\"%s\" fill=\"none\" d=\"",
            fragmented ? COLOR_FRAGMENTED : COLOR_EXHAUSTED, count > LINES_FEW ? ".4" : ".8");
    for (size_t i = 0; i < map->column_count; i++) {
        const struct tts_addrmap_column *column = &map->columns[i];
        bool drawn = fragmented ? column->fragmented > 0
                                : column->fragmented == 0 && column->exhausted > 0;
        if (!drawn)
            continue;
        fputc('M', out);
        tts_svg_length(out, column_middle(map, i));
        fputc(' ', out);
        tts_svg_length(out, MAP_Y);
        fputc('v', out);
        tts_svg_length(out, MAP_H);
    }
    fputs("\"/>\n", out);
}

static void draw_map(const struct tts_addrmap *map, FILE *out)
{
    fputs("<g clip-path=\"url(#map)\">\n", out);
    if (map->has_detail)
        draw_map_blocks(map, out);
    else
        draw_cell_map(map, out);
    if (has_cut(map))
        draw_cut_area(map, out);
    if (map->counts.refused + map->counts.not_cut > 0)
        draw_blocked_dots(map, out);
    if (map->counts.exhausted > 0)
        draw_failed_lines(map, false, out);
    if (map->counts.fragmented > 0)
        draw_failed_lines(map, true, out);
    fputs("</g>\n", out);
}

/* ---- the end ---- */

static void draw_end_row(const struct tts_addrmap *map, size_t row, FILE *out)
{
    uint64_t all = tts_addrmap_row_size(map, row), held = map->row_taken_bytes[row];
    if (held == 0)
        return;
    unsigned level =
        held == all ? MAP_LEVELS - 1 : 1 + (unsigned)(held * (MAP_LEVELS - 2) / all);
    char style[48];
    snprintf(style, sizeof style, "fill=\"%s\"", level_colors[level]);
    int64_t bottom = bytes_height(map, row * map->row_bytes, MAP_H);
    int64_t top = bytes_height(map, row * map->row_bytes + all, MAP_H);
    tts_svg_rect(out, (struct tts_svg_box){END_X, MAP_Y + MAP_H - top, END_W, top - bottom},
                 style);
}

static void draw_end(const struct tts_addrmap *map, FILE *out)
{
    fputs("<g shape-rendering=\"crispEdges\">\n", out);
    for (size_t row = 0; row < map->row_count; row++)
        draw_end_row(map, row, out);
    uint64_t cut = map->config.size_bytes - map->last.total_bytes;
    int64_t height = bytes_height(map, cut, MAP_H);
    if (height > 0)
        tts_svg_rect(out, (struct tts_svg_box){END_X, MAP_Y + MAP_H - height, END_W, height},
                     "fill=\"url(#cut)\"");
    fputs("</g>\n", out);
}

/* Writes "1,234,567". Returns `out`. */
static const char *format_count(char out[COUNT_MAX], uint64_t count)
{
    char digits[COUNT_MAX];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *at = out;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    *at = '\0';
    return out;
}

/* ---- words ---- */

/* Returns the last component of the path, which names the sequence on the page. */
static const char *sequence_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static struct tts_svg_point pixel_point(int x, int y)
{
    return (struct tts_svg_point){x * TTS_SVG_PX, y * TTS_SVG_PX};
}

static void draw_map_title(const struct tts_addrmap *map, const char *name, FILE *out)
{
    char size[TTS_NUMBER_BYTES_MAX], block[TTS_NUMBER_BYTES_MAX], count[COUNT_MAX];
    const struct tts_space_config *config = &map->config;
    const char *policy = config->policy == TTS_POLICY_FIRST
                             ? "FIRST (first fit by address)"
                             : "BEST (lowest size class that fits)";
    tts_svg_text(out, pixel_point(24, 40), "font-size=\"21\" font-weight=\"600\"",
                 "Memory map of %.*s", NAME_MAX_BYTES, sequence_name(name));
    tts_svg_text(out, pixel_point(24, 63), "fill=\"" COLOR_SOFT "\"",
                 "%s per bank (%" PRIu64 " bytes from address %" PRIu64
                 ")  ·  policy %s  ·  sizes rounded to %s  ·  %s operation%s",
                 tts_number_format_bytes(size, config->size_bytes), config->size_bytes,
                 config->offset_bytes, policy,
                 tts_number_format_bytes(block, config->alignment_bytes),
                 format_count(count, map->operations), map->operations == 1 ? "" : "s");
}

/* A sentence that grows. Text that does not fit is cut. */
struct sentence {
    char text[SENTENCE_MAX];
    size_t len;
};

TTS_PRINTF(2, 3)
static void say_more(struct sentence *sentence, const char *format, ...)
{
    size_t room = sizeof sentence->text - sentence->len;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(sentence->text + sentence->len, room, format, args);
    va_end(args);
    if (len > 0)
        sentence->len += (size_t)len < room ? (size_t)len : room - 1;
}

static void say_count(struct sentence *sentence, uint64_t count, const char *what)
{
    char text[COUNT_MAX];
    say_more(sentence, "%s%s", format_count(text, count), what);
}

static uint64_t failed_requests(const struct tts_addrmap_counts *counts)
{
    return counts->fragmented + counts->exhausted + counts->refused;
}

/* Adds the reasons why requests failed: one reason in words, several reasons with numbers. */
static void say_failure_reasons(struct sentence *sentence,
                                const struct tts_addrmap_counts *counts)
{
    int kinds = (counts->fragmented > 0) + (counts->exhausted > 0) + (counts->refused > 0);
    /* The legend explains fragmentation too, so a long sentence does not. */
    const char *why =
        kinds + (counts->leaked > 0) > 2 ? "" : " (enough was free, but in pieces)";
    if (kinds == 1) {
        say_more(sentence, "%s",
                 counts->fragmented  ? " by fragmentation: enough was free, but in pieces"
                 : counts->exhausted ? ": too little was free"
                                     : ": the exact range was not free");
        return;
    }
    const char *between = ": ";
    if (counts->fragmented > 0) {
        say_more(sentence, "%s", between);
        say_count(sentence, counts->fragmented, " by fragmentation");
        say_more(sentence, "%s", why);
        between = ", ";
    }
    if (counts->exhausted > 0) {
        say_more(sentence, "%s", between);
        say_count(sentence, counts->exhausted, " too little free");
        between = ", ";
    }
    if (counts->refused > 0) {
        say_more(sentence, "%s", between);
        say_count(sentence, counts->refused, " range not free");
    }
}

static void draw_map_verdict(const struct tts_addrmap *map, FILE *out)
{
    const struct tts_addrmap_counts *counts = &map->counts;
    uint64_t failed = failed_requests(counts), all = counts->taken + failed;
    struct sentence sentence = {0};
    if (failed == 0) {
        say_more(&sentence, "No request failed (");
        say_count(&sentence, all, all == 1 ? " request)" : " requests)");
    } else {
        say_count(&sentence, failed, " of ");
        say_count(&sentence, all, " requests failed");
        say_failure_reasons(&sentence, counts);
    }
    if (counts->leaked > 0) {
        say_more(&sentence, "%s", failed > 0 ? "; " : ", but ");
        say_count(&sentence, counts->leaked,
                  failed > 0            ? " taken below the limit"
                  : counts->leaked == 1 ? " was taken below the limit"
                                        : " were taken below the limit");
    }
    tts_svg_text(out, pixel_point(24, 92),
                 failed + counts->leaked > 0
                     ? "font-size=\"15\" font-weight=\"600\" fill=\"" COLOR_FRAGMENTED "\""
                     : "font-size=\"15\" font-weight=\"600\"",
                 "%s.", sentence.text);
}

/* Writes the clearest case of fragmentation in numbers. Returns the y of the next line. */
static int draw_worst_failure(const struct tts_addrmap *map, int y, FILE *out)
{
    char seq[COUNT_MAX], need[TTS_NUMBER_BYTES_MAX], free_text[TTS_NUMBER_BYTES_MAX];
    char largest[TTS_NUMBER_BYTES_MAX];
    if (map->worst.seq == 0)
        return y;
    tts_svg_text(out, pixel_point(24, y), "",
                 "Worst failure: operation %s (line %" PRIu64
                 ") needed %s; %s were free, and the largest piece was %s.",
                 format_count(seq, map->worst.seq), map->worst.line,
                 tts_number_format_bytes(need, map->worst.need_bytes),
                 tts_number_format_bytes(free_text, map->worst.free_bytes),
                 tts_number_format_bytes(largest, map->worst.largest_bytes));
    return y + 20;
}

static void draw_ending(const struct tts_addrmap *map, int y, FILE *out)
{
    char share[TTS_PERCENT_MAX], lost[TTS_PERCENT_MAX];
    char free_text[TTS_NUMBER_BYTES_MAX], largest[TTS_NUMBER_BYTES_MAX];
    const struct tts_space_stats *last = &map->last;
    struct tts_svg_point at = pixel_point(24, y);
    if (last->free_bytes == 0) {
        tts_svg_text(out, at, "", "At the end nothing is free.");
        return;
    }
    tts_percent_format(share, last->free_bytes, last->total_bytes);
    tts_number_format_bytes(free_text, last->free_bytes);
    if (last->largest_free_bytes == last->free_bytes) {
        tts_svg_text(out, at, "", "At the end %s is free (%s), all of it in one piece.", share,
                     free_text);
        return;
    }
    tts_svg_text(
        out, at, "",
        "At the end %s is free (%s). The largest piece is %s, so a single request cannot use "
        "%s of the free memory.",
        share, free_text, tts_number_format_bytes(largest, last->largest_free_bytes),
        tts_percent_format(lost, last->free_bytes - last->largest_free_bytes,
                           last->free_bytes));
}

static void draw_map_words(const struct tts_addrmap *map, const char *name, FILE *out)
{
    draw_map_title(map, name, out);
    draw_map_verdict(map, out);
    draw_ending(map, draw_worst_failure(map, 114, out), out);
}

enum bars_kind { BARS_BLOCKED, BARS_EXHAUSTED, BARS_FRAGMENTED };

/* ---- failed requests ---- */

struct bars {
    const char *color;
    uint64_t failed; /* failures of this kind */
    uint64_t shown;  /* failures of this kind and of the kinds drawn over it */
};

static struct bars bars_of_column(const struct tts_addrmap_column *column, enum bars_kind kind)
{
    uint64_t some = column->fragmented, more = some + column->exhausted;
    if (kind == BARS_BLOCKED)
        return (struct bars){COLOR_REFUSED, column->blocked, more + column->blocked};
    if (kind == BARS_EXHAUSTED)
        return (struct bars){COLOR_EXHAUSTED, column->exhausted, more};
    return (struct bars){COLOR_FRAGMENTED, column->fragmented, some};
}

/* Draws a bar for each column with failures. Its height grows with the share of failed
 * operations and has a visible minimum. The kinds of failure are stacked: each is drawn as high
 * as itself plus the kinds drawn after it. */
static void draw_lane_bars(const struct tts_addrmap *map, enum bars_kind kind, FILE *out)
{
    fprintf(out, "<path fill=\"%s\" d=\"", bars_of_column(&map->columns[0], kind).color);
    for (size_t i = 0; i < map->column_count; i++) {
        struct bars bars = bars_of_column(&map->columns[i], kind);
        uint64_t of = column_end(map, i) - i * map->span;
        if (bars.failed == 0)
            continue;
        int64_t left = operation_x(map, i * map->span);
        int64_t width = operation_x(map, column_end(map, i)) - left;
        uint64_t all = bars_of_column(&map->columns[i], BARS_BLOCKED).shown;
        int64_t bar = 8 * TTS_SVG_PX;
        bar += (LANE_H - bar) * (int64_t)all / (int64_t)of;
        int64_t height = bar * (int64_t)bars.shown / (int64_t)all;
        fputc('M', out);
        tts_svg_length(out, left);
        fputc(' ', out);
        tts_svg_length(out, LANE_Y + LANE_H);
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

static void draw_lane(const struct tts_addrmap *map, FILE *out)
{
    fputs("<g clip-path=\"url(#lane)\">\n", out);
    if (map->counts.refused + map->counts.not_cut > 0)
        draw_lane_bars(map, BARS_BLOCKED, out);
    if (map->counts.exhausted > 0)
        draw_lane_bars(map, BARS_EXHAUSTED, out);
    if (map->counts.fragmented > 0)
        draw_lane_bars(map, BARS_FRAGMENTED, out);
    fputs("</g>\n", out);
}

/* ---- free memory ---- */

static int64_t panel_y(const struct tts_addrmap *map, uint64_t bytes)
{
    return PANEL_Y + PANEL_H - bytes_height(map, bytes, PANEL_H);
}

static uint64_t free_series(const struct tts_addrmap *map, size_t column, bool largest)
{
    const struct tts_addrmap_column *from = &map->columns[column];
    return largest ? from->largest_bytes : from->free_bytes;
}

static void put_free_steps(const struct tts_addrmap *map, bool largest, FILE *out)
{
    for (size_t i = 0; i < map->column_count; i++) {
        fputs(i == 0 ? "M" : "V", out);
        if (i == 0) {
            tts_svg_length(out, PLOT_X);
            fputc(' ', out);
        }
        tts_svg_length(out, panel_y(map, free_series(map, i, largest)));
        fputc('H', out);
        tts_svg_length(out, operation_x(map, column_end(map, i)));
    }
}

static void draw_free_area(const struct tts_addrmap *map, bool largest, const char *color,
                           FILE *out)
{
    fprintf(out, "<path fill=\"%s\" d=\"", color);
    put_free_steps(map, largest, out);
    fputc('V', out);
    tts_svg_length(out, PANEL_Y + PANEL_H);
    fputc('H', out);
    tts_svg_length(out, PLOT_X);
    fputs("Z\"/>\n", out);
}

/* Draws the failed requests of a merged column: each size step once, adjacent steps as one
 * stroke. */
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
        tts_svg_length(out, column_middle(map, column));
        fputc(' ', out);
        tts_svg_length(out, panel_y(map, first * step));
        fputc('V', out);
        tts_svg_length(out, panel_y(map, i * step));
    }
}

static void draw_size_runs(const struct tts_addrmap *map, bool fragmented, FILE *out)
{
    fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"3\" d=\"",
            fragmented ? COLOR_FRAGMENTED : COLOR_EXHAUSTED);
    for (size_t i = 0; i < map->column_count; i++)
        put_size_runs(map, i,
                      fragmented ? map->columns[i].fragmented_sizes
                                 : map->columns[i].exhausted_sizes,
                      out);
    fputs("\"/>\n", out);
}

/* Draws a request above the scale as a triangle at the top. */
static void put_triangle(int64_t x, FILE *out)
{
    fputs("<path d=\"M", out);
    tts_svg_length(out, x);
    fputc(' ', out);
    tts_svg_length(out, PANEL_Y + TTS_SVG_PX);
    fputs("l5 8h-10z", out);
}

static void draw_failure_mark(const struct tts_addrmap *map,
                              const struct tts_addrmap_mark *mark, FILE *out)
{
    char human[TTS_NUMBER_BYTES_MAX];
    int64_t x = column_middle(map, (size_t)mark->seq - 1);
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
            mark->fragmented ? COLOR_FRAGMENTED : COLOR_EXHAUSTED, mark->seq,
            map->lines[mark->seq - 1], tts_number_format_bytes(human, mark->size_bytes),
            mark->fragmented ? "enough was free, but in pieces" : "too little was free",
            beyond ? "path" : "circle");
}

static void draw_failure_marks(const struct tts_addrmap *map, FILE *out)
{
    fputs("<g stroke=\"#fff\" stroke-width=\".8\">\n", out);
    for (size_t i = 0; i < map->mark_count; i++)
        draw_failure_mark(map, &map->marks[i], out);
    fputs("</g>\n", out);
}

static void draw_free_panel(const struct tts_addrmap *map, FILE *out)
{
    if (map->column_count == 0)
        return;
    fputs("<g clip-path=\"url(#panel)\">\n", out);
    draw_free_area(map, false, COLOR_PIECES, out);
    draw_free_area(map, true, COLOR_USABLE, out);
    fputs("<path fill=\"none\" stroke=\"" COLOR_LINE "\" stroke-width=\"1.2\" d=\"", out);
    put_free_steps(map, false, out);
    fputs("\"/>\n", out);
    if (!map->has_detail) {
        draw_size_runs(map, false, out);
        draw_size_runs(map, true, out);
    }
    fputs("</g>\n", out);
    if (map->has_detail)
        draw_failure_marks(map, out);
}

/* ---- legends ---- */

static void draw_map_swatch(FILE *out, struct tts_svg_point at, const char *style)
{
    struct tts_svg_box box = {at.x, at.y - 10 * TTS_SVG_PX, 14 * TTS_SVG_PX, 11 * TTS_SVG_PX};
    tts_svg_rect(out, box, style);
}

/* Draws one entry. Returns the x of the next entry. Assumes 6.6 pixels per letter. */
static int64_t draw_map_legend_entry(FILE *out, struct tts_svg_point at, const char *style,
                                     const char *text)
{
    draw_map_swatch(out, at, style);
    tts_svg_text(out, (struct tts_svg_point){at.x + 20 * TTS_SVG_PX, at.y}, "", "%s", text);
    return at.x + 20 * TTS_SVG_PX + (int64_t)strlen(text) * 660 + 18 * TTS_SVG_PX;
}

static int64_t draw_level_legend(FILE *out, struct tts_svg_point at)
{
    char style[32];
    for (unsigned level = 1; level < MAP_LEVELS; level++) {
        snprintf(style, sizeof style, "fill=\"%s\"", level_colors[level]);
        draw_map_swatch(out, at, style);
        at.x += 14 * TTS_SVG_PX;
    }
    at.x += 6 * TTS_SVG_PX;
    tts_svg_text(out, at, "", "taken; darker: more is taken");
    return at.x + 170 * TTS_SVG_PX;
}

static void draw_map_legend(const struct tts_addrmap *map, FILE *out)
{
    struct tts_svg_point at = {PLOT_X, MAP_Y - 14 * TTS_SVG_PX};
    at.x = draw_map_legend_entry(out, at, "fill=\"" COLOR_FREE "\" stroke=\"" COLOR_FRAME "\"",
                                 "free");
    if (map->has_detail)
        at.x = draw_map_legend_entry(out, at, "fill=\"" COLOR_BLOCK "\"", "taken block");
    else
        at.x = draw_level_legend(out, at);
    if (map->counts.fragmented > 0)
        at.x = draw_map_legend_entry(out, at, "fill=\"" COLOR_FRAGMENTED "\"",
                                     "failed: enough free, in pieces");
    if (map->counts.exhausted > 0)
        at.x = draw_map_legend_entry(out, at, "fill=\"" COLOR_EXHAUSTED "\"",
                                     "failed: too little free");
    if (map->counts.refused + map->counts.not_cut > 0)
        at.x = draw_map_legend_entry(out, at, "fill=\"" COLOR_REFUSED "\"", "range not free");
    if (map->counts.leaked > 0 && map->has_detail)
        at.x = draw_map_legend_entry(out, at, "fill=\"" COLOR_LEAKED "\"", "below the limit");
    if (has_cut(map))
        draw_map_legend_entry(out, at, "fill=\"url(#cut)\" stroke=\"" COLOR_FRAME "\"",
                              "cut off");
}

static void draw_panel_legend(const struct tts_addrmap *map, FILE *out)
{
    struct tts_svg_point at = {PLOT_X, PANEL_Y - 9 * TTS_SVG_PX};
    at.x = draw_map_legend_entry(out, at, "fill=\"" COLOR_USABLE "\"", "largest free piece");
    at.x = draw_map_legend_entry(out, at, "fill=\"" COLOR_PIECES "\"", "other free pieces");
    if (map->counts.fragmented + map->counts.exhausted == 0)
        return;
    if (map->counts.fragmented > 0 && map->counts.exhausted > 0) {
        draw_map_swatch(out, at, "fill=\"" COLOR_EXHAUSTED "\"");
        at.x += 16 * TTS_SVG_PX;
    }
    draw_map_legend_entry(out, at,
                          map->counts.fragmented > 0 ? "fill=\"" COLOR_FRAGMENTED "\""
                                                     : "fill=\"" COLOR_EXHAUSTED "\"",
                          "failed requests, at the height of their size");
}

/* ---- axes ---- */

static void draw_tick_line(FILE *out, struct tts_svg_box box)
{
    tts_svg_rect(out, box, "fill=\"" COLOR_SOFT "\"");
}

static void draw_address(FILE *out, int64_t y, uint64_t address, bool exact)
{
    char human[TTS_NUMBER_BYTES_MAX];
    struct tts_svg_point at = {PLOT_X - 9 * TTS_SVG_PX, y + 4 * TTS_SVG_PX};
    draw_tick_line(out, (struct tts_svg_box){PLOT_X - 5 * TTS_SVG_PX, y - TTS_SVG_PX / 2,
                                             5 * TTS_SVG_PX, TTS_SVG_PX});
    if (exact && address < UINT64_C(10000000000))
        tts_svg_text(out, at, "text-anchor=\"end\" font-weight=\"600\"", "%" PRIu64, address);
    else
        tts_svg_text(out, at, "text-anchor=\"end\"", "%s",
                     tts_number_format_bytes(human, address));
}

/* Returns the power of two that divides a space into at most eight steps. */
static uint64_t address_step(uint64_t size)
{
    uint64_t step = 1;
    while (size / step >= 8)
        step *= 2;
    return step;
}

/* Draws round addresses, and the exact addresses at both ends. */
static void draw_address_axis(const struct tts_addrmap *map, FILE *out)
{
    uint64_t size = map->config.size_bytes, offset = map->config.offset_bytes;
    uint64_t step = address_step(size), first = step - offset % step;
    for (uint64_t at = first; at < size; at += step) {
        int64_t height = bytes_height(map, at, MAP_H);
        if (height > TICKS_APART && height < MAP_H - TICKS_APART)
            draw_address(out, MAP_Y + MAP_H - height, offset + at, false);
    }
    draw_address(out, MAP_Y + MAP_H, offset, true);
    draw_address(out, MAP_Y, offset + size, true);
    fprintf(out,
            "<text transform=\"translate(20 %d) rotate(-90)\" text-anchor=\"middle\">"
            "address in every bank</text>\n",
            (MAP_Y + MAP_H / 2) / TTS_SVG_PX);
}

static void draw_size_axis(const struct tts_addrmap *map, FILE *out)
{
    char human[TTS_NUMBER_BYTES_MAX];
    uint64_t size = map->config.size_bytes, step = address_step(size);
    for (uint64_t at = 0; at < size; at += step) {
        int64_t y = PANEL_Y + PANEL_H - bytes_height(map, at, PANEL_H);
        draw_tick_line(out, (struct tts_svg_box){PLOT_X - 5 * TTS_SVG_PX, y - TTS_SVG_PX / 2,
                                                 5 * TTS_SVG_PX, TTS_SVG_PX});
        tts_svg_text(out, (struct tts_svg_point){PLOT_X - 9 * TTS_SVG_PX, y + 4 * TTS_SVG_PX},
                     "text-anchor=\"end\"", "%s", tts_number_format_bytes(human, at));
    }
    fprintf(out,
            "<text transform=\"translate(20 %d) rotate(-90)\" text-anchor=\"middle\">"
            "free bytes</text>\n",
            (PANEL_Y + PANEL_H / 2) / TTS_SVG_PX);
}

/* Returns 1, 2 or 5 times a power of ten, for at most ten ticks. */
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
    char count[COUNT_MAX];
    uint64_t step = count_step(map->operations);
    int64_t y = PANEL_Y + PANEL_H;
    for (uint64_t seq = step; seq <= map->operations && seq >= step; seq += step) {
        int64_t x = (operation_x(map, seq - 1) + operation_x(map, seq)) / 2;
        draw_tick_line(out,
                       (struct tts_svg_box){x - TTS_SVG_PX / 2, y, TTS_SVG_PX, 5 * TTS_SVG_PX});
        tts_svg_text(out, (struct tts_svg_point){x, y + 18 * TTS_SVG_PX},
                     "text-anchor=\"middle\"", "%s", format_count(count, seq));
    }
    tts_svg_text(out, (struct tts_svg_point){PLOT_X + PLOT_W / 2, y + 37 * TTS_SVG_PX},
                 "text-anchor=\"middle\"", "operation");
    tts_svg_text(out, (struct tts_svg_point){PLOT_X - 9 * TTS_SVG_PX, LANE_Y + LANE_H - 300},
                 "text-anchor=\"end\"", "failed");
    tts_svg_text(out, (struct tts_svg_point){END_X + END_W / 2, LANE_Y + LANE_H - 300},
                 "text-anchor=\"middle\"", "end");
}

/* ---- the page ---- */

static void put_clip(FILE *out, const char *id, struct tts_svg_box box)
{
    fprintf(out, "<clipPath id=\"%s\">", id);
    tts_svg_rect(out, box, "");
    fputs("</clipPath>\n", out);
}

static const struct tts_svg_box map_box = {PLOT_X, MAP_Y, PLOT_W, MAP_H};

static const struct tts_svg_box end_box = {END_X, MAP_Y, END_W, MAP_H};

static const struct tts_svg_box lane_box = {PLOT_X, LANE_Y, PLOT_W, LANE_H};

static const struct tts_svg_box panel_box = {PLOT_X, PANEL_Y, PLOT_W, PANEL_H};

static void open_map_page(const char *name, FILE *out)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" style=\"max-width:100%%;height:auto\" role=\"img\" "
            "font-size=\"12.5\" fill=\"" COLOR_INK "\" "
            "font-family=\"system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu "
            "Sans',sans-serif\">\n<title>Memory map of ",
            PAGE_W / TTS_SVG_PX, PAGE_H / TTS_SVG_PX, PAGE_W / TTS_SVG_PX, PAGE_H / TTS_SVG_PX);
    tts_svg_escape(out, sequence_name(name));
    fputs("</title>\n<defs>\n"
          "<pattern id=\"cut\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
          "patternTransform=\"rotate(45)\"><path fill=\"#dfe3e8\" d=\"M0 0h6v6h-6z\"/>"
          "<path fill=\"#a9b2bc\" d=\"M0 0h2v6h-2z\"/></pattern>\n",
          out);
    put_clip(out, "map", map_box);
    put_clip(out, "lane", lane_box);
    put_clip(out, "panel", panel_box);
    fputs("</defs>\n", out);
    struct tts_svg_box card = {TTS_SVG_PX / 2, TTS_SVG_PX / 2, PAGE_W - TTS_SVG_PX,
                               PAGE_H - TTS_SVG_PX};
    tts_svg_rect(out, card, "rx=\"10\" fill=\"#fff\" stroke=\"" COLOR_FRAME "\"");
}

void tts_svgmap_write(const struct tts_addrmap *map, const char *name, FILE *out)
{
    const char *frame = "fill=\"none\" stroke=\"" COLOR_FRAME "\"";
    open_map_page(name, out);
    draw_map_words(map, name, out);
    draw_map_legend(map, out);
    tts_svg_rect(out, map_box, "fill=\"" COLOR_FREE "\"");
    draw_map(map, out);
    tts_svg_rect(out, map_box, frame);
    tts_svg_rect(out, end_box, "fill=\"" COLOR_FREE "\"");
    draw_end(map, out);
    tts_svg_rect(out, end_box, frame);
    tts_svg_rect(out, lane_box, "fill=\"#f6f8fa\"");
    draw_lane(map, out);
    draw_panel_legend(map, out);
    tts_svg_rect(out, panel_box, "fill=\"#f6f8fa\"");
    draw_free_panel(map, out);
    tts_svg_rect(out, panel_box, frame);
    fputs("<g font-size=\"11.5\" fill=\"" COLOR_SOFT "\">\n", out);
    draw_address_axis(map, out);
    draw_size_axis(map, out);
    draw_operation_axis(map, out);
    fputs("</g>\n</svg>\n", out);
}
