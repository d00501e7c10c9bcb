/* chartparts.h: parts that all memory charts share: colours, fonts, a scale with round ticks, a
 * legend, a heading. Lengths are as in drawing.h, sizes in bytes. */
#pragma once

#include "views/chart/drawing.h"

enum {
    TTS_PX = TTS_SVG_PX,
    TTS_CHART_MARGIN = 24 * TTS_PX,
    TTS_CHART_LINE = 118, /* distance between lines of text, in percent of the font size */
    TTS_CHART_LEGEND_MAX = 8,
    TTS_CHART_PHASE_EMS = 18, /* the longest phase name of a training program fits */
};

#define TTS_INK ((struct tts_paint){0x1b2733, 255})
#define TTS_INK_SOFT ((struct tts_paint){0x5a6673, 255})
#define TTS_INK_FRAME ((struct tts_paint){0x9aa5b1, 255})
#define TTS_INK_GRID ((struct tts_paint){0xd5dbe1, 255})
#define TTS_INK_LIMIT ((struct tts_paint){0xff0000, 255})
#define TTS_INK_WARNING ((struct tts_paint){0xc80000, 255}) /* red letters on white */
#define TTS_INK_GOOD ((struct tts_paint){0x1d6b3a, 255})
#define TTS_INK_WHITE ((struct tts_paint){0xffffff, 255})
#define TTS_INK_VEIL ((struct tts_paint){0xffffff, 235}) /* ground of text over lines */

/* The largest size that a chart can show. Larger sizes are drawn as this size. */
#define TTS_CHART_BYTES_MAX (INT64_MAX / 4)

/* The vertical scale of a plot: `low` bytes at the bottom, `high` bytes at the top, ticks at
 * multiples of `step`, in hundredths of a MB. */
struct tts_chart_scale {
    int64_t low, high; /* low <= 0 < high */
    int64_t step;
};

/* Makes a scale that shows `low` and `high`, with a tenth of space above, and below if low <
 * 0. */
struct tts_chart_scale tts_chart_scale_of(int64_t low, int64_t high, int64_t ticks);

/* Returns the height of `bytes` above the bottom of a plot of this height. */
int64_t tts_chart_height(const struct tts_chart_scale *scale, int64_t bytes, int64_t height);

enum { TTS_CHART_MB_MAX = 32 };

/* Returns true below 100 MB, where whole MB are too coarse. The figures of a run have decimals
 * if its peak is small; a limit has decimals if the limit is small. */
bool tts_chart_is_small(int64_t bytes);

/* Writes "8279 MB", rounded as "%.0f" does, or "0.42 MB" with decimals. Returns `out`. */
const char *tts_chart_mb(char out[TTS_CHART_MB_MAX], bool has_decimals, int64_t bytes);
/* Like tts_chart_mb(), with decimals if `bytes` is small. For limits and other single
 * figures. */
const char *tts_chart_own_mb(char out[TTS_CHART_MB_MAX], int64_t bytes);

/* Returns the width of the widest number at a tick. */
int64_t tts_chart_ticks_width(const struct tts_chart_scale *scale, struct tts_font font);

/* Draws the grid, the ticks and their numbers, which are left of the plot. */
void tts_chart_draw_ticks(struct tts_drawing *d, const struct tts_chart_scale *scale,
                          struct tts_svg_box plot, struct tts_font font);
/* Draws the axis title "Memory (MB)", rotated to be read upwards, at the middle of the plot. */
void tts_chart_draw_unit(struct tts_drawing *d, struct tts_svg_box plot, int64_t x);

struct tts_chart_legend {
    const char *text;
    struct tts_paint paint;
    bool is_line;
    int64_t stroke_width, dash; /* used if the entry is a line */
    uint8_t area_alpha;         /* opacity of the area below the line */
};

/* Returns the legend entry of the limits. */
struct tts_chart_legend tts_chart_limit_legend(int64_t stroke_width, int64_t dash);

/* Draws the title and the legend, centred. Returns where the plot may begin. The title may be
 * NULL. */
int64_t tts_chart_draw_head(struct tts_drawing *d, const char *title,
                            const struct tts_chart_legend *legends, size_t count);
/* Returns the smallest width of a drawing that shows this legend in rows of three. */
int64_t tts_chart_head_width(const struct tts_chart_legend *legends, size_t count);

/* Adds a line of text below a finished chart, and to the description, which must be the text
 * kept last. The drawing grows by that line. */
void tts_chart_draw_foot(struct tts_drawing *d, const char *text);

/* Draws a straight line. */
void tts_chart_line(struct tts_drawing *d, struct tts_svg_point from, struct tts_svg_point to,
                    struct tts_paint paint, int64_t width, int64_t dash);
/* The line of a limit. tts_chart_draw_limit() draws it dashed from line.x to line.x +
 * line.width at line.y, with a gap at each text ground among the shapes from number `first`
 * on. */
struct tts_chart_stroke {
    int64_t width, dash;
};
void tts_chart_draw_limit(struct tts_drawing *d, size_t first, struct tts_svg_box line,
                          struct tts_chart_stroke stroke);
/* Draws a white, nearly opaque ground for the text that is put next. */
void tts_chart_veil(struct tts_drawing *d, const struct tts_text_at *at, int64_t width);

/* Writes "67.4 % of 12288 MB" or "< 0.1 % of 12288 MB". Returns `out`. */
enum { TTS_CHART_USAGE_MAX = 64 };
const char *tts_chart_usage(char out[TTS_CHART_USAGE_MAX], int64_t bytes, int64_t device);

static inline int64_t tts_chart_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t tts_chart_clamp(int64_t bytes)
{
    return bytes > TTS_CHART_BYTES_MAX    ? TTS_CHART_BYTES_MAX
           : bytes < -TTS_CHART_BYTES_MAX ? -TTS_CHART_BYTES_MAX
                                          : bytes;
}
