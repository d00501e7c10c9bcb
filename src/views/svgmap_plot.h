/* svgmap_plot.h: where things stand on the page of svgmap.h, and the parts it is made of.
 * For svgmap*.c only. Lengths as in svg.h. */
#pragma once

#include "views/addrmap.h"
#include "views/svg.h"

#include <stdio.h>

enum {
    TTS_PAGE_W = 1120 * TTS_SVG_PX,
    TTS_PAGE_H = 880 * TTS_SVG_PX,
    TTS_PLOT_X = 98 * TTS_SVG_PX,
    TTS_PLOT_W = 930 * TTS_SVG_PX,
    TTS_MAP_Y = 180 * TTS_SVG_PX,
    TTS_MAP_H = 400 * TTS_SVG_PX,
    TTS_END_X = TTS_PLOT_X + TTS_PLOT_W + 12 * TTS_SVG_PX, /* the strip of the end alone */
    TTS_END_W = 28 * TTS_SVG_PX,
    TTS_LANE_Y = TTS_MAP_Y + TTS_MAP_H + 8 * TTS_SVG_PX, /* the lane of failed requests */
    TTS_LANE_H = 16 * TTS_SVG_PX,
    TTS_PANEL_Y = TTS_LANE_Y + TTS_LANE_H + 34 * TTS_SVG_PX,
    TTS_PANEL_H = 180 * TTS_SVG_PX,
};

/* The levels of a cell: 0 free, then by quarters, the last one taken all the time. */
enum { TTS_MAP_LEVELS = 6 };
extern const char *const tts_svgmap_colors[TTS_MAP_LEVELS];

#define TTS_COLOR_FREE "#edf1f5"  /* level 0 */
#define TTS_COLOR_BLOCK "#3c80bd" /* a block drawn by itself */
#define TTS_COLOR_FRAGMENTED "#e0243c"
#define TTS_COLOR_EXHAUSTED "#7a0f3c"
#define TTS_COLOR_REFUSED "#e08a00"
#define TTS_COLOR_LEAKED "#8e5bb5"
#define TTS_COLOR_USABLE "#58a182"
#define TTS_COLOR_PIECES "#f3cf8e"
#define TTS_COLOR_SOFT "#5a6673" /* of text */
#define TTS_COLOR_LINE "#8a5a00"

/* The right edge of operation `seq`; 0 is the left edge of the plot. */
int64_t tts_svgmap_x(const struct tts_addrmap *map, uint64_t seq);
/* The height of `bytes` in a plot where the whole space has the height `all`. */
int64_t tts_svgmap_height(const struct tts_addrmap *map, uint64_t bytes, int64_t all);

/* The last operation of a column, and where its middle is. */
uint64_t tts_svgmap_column_end(const struct tts_addrmap *map, size_t column);
int64_t tts_svgmap_column_middle(const struct tts_addrmap *map, size_t column);

/* Has any part been cut off at any time? */
bool tts_svgmap_has_cut(const struct tts_addrmap *map);

enum { TTS_COUNT_MAX = 28 };

/* "1,234,567"; returns `out`. */
const char *tts_svgmap_format_count(char out[TTS_COUNT_MAX], uint64_t count);

/* What a sequence is called on the page: the last component of its path. */
const char *tts_svgmap_name(const char *path);

void tts_svgmap_draw_words(const struct tts_addrmap *map, const char *name, FILE *out);
void tts_svgmap_draw_map(const struct tts_addrmap *map, FILE *out);
void tts_svgmap_draw_end(const struct tts_addrmap *map, FILE *out);
void tts_svgmap_draw_lane(const struct tts_addrmap *map, FILE *out);
void tts_svgmap_draw_panel(const struct tts_addrmap *map, FILE *out);
