/* chartparts.h: what the charts of memory have in common: colours, letters, a scale with round
 * ticks, a legend, a heading. Lengths as in drawing.h, sizes in bytes. */
#pragma once

#include "views/chart/drawing.h"

enum {
    TTS_PX = TTS_SVG_PX,
    TTS_CHART_MARGIN = 24 * TTS_PX,
    TTS_CHART_LINE = 118, /* percent of a font's size from a line of text to the next */
    TTS_CHART_LEGEND_MAX = 8,
    TTS_CHART_PHASE_EMS = 18, /* no phase of a training program has a longer name */
};

#define TTS_INK ((struct tts_paint){0x1b2733, 255})
#define TTS_INK_SOFT ((struct tts_paint){0x5a6673, 255})
#define TTS_INK_FRAME ((struct tts_paint){0x9aa5b1, 255})
#define TTS_INK_GRID ((struct tts_paint){0xd5dbe1, 255})
#define TTS_INK_LIMIT ((struct tts_paint){0xff0000, 255})
#define TTS_INK_WARNING ((struct tts_paint){0xc80000, 255}) /* red letters on white */
#define TTS_INK_GOOD ((struct tts_paint){0x1d6b3a, 255})
#define TTS_INK_WHITE ((struct tts_paint){0xffffff, 255})
#define TTS_INK_VEIL ((struct tts_paint){0xffffff, 235}) /* behind letters that cross lines */

/* The most that a chart can tell apart; what is more is drawn as this much. */
#define TTS_CHART_BYTES_MAX (INT64_MAX / 4)

/* From `low` bytes at the bottom to `high` at the top of a plot, with ticks at multiples of
 * `step`, in hundredths of a MB. */
struct tts_chart_scale {
    int64_t low, high; /* low <= 0 < high */
    int64_t step;
};

/* `low` and `high` are what has to be seen; a tenth is left above, and below where low < 0. */
struct tts_chart_scale tts_chart_scale_of(int64_t low, int64_t high, int64_t ticks);

/* Where `bytes` lies over the bottom of a plot of this height. */
int64_t tts_chart_height(const struct tts_chart_scale *scale, int64_t bytes, int64_t height);

enum { TTS_CHART_MB_MAX = 32 };

/* So little that whole MB say nothing: below 100 MB. What is said of a run has decimals where
 * its peak is small, a limit where it is. */
bool tts_chart_is_small(int64_t bytes);

/* "8279 MB", rounded as "%.0f" does it; "0.42 MB" with decimals. Terminated; returns `out`. */
const char *tts_chart_mb(char out[TTS_CHART_MB_MAX], bool has_decimals, int64_t bytes);
/* Of a limit, and of whatever else stands for itself. */
const char *tts_chart_own_mb(char out[TTS_CHART_MB_MAX], int64_t bytes);

/* The width of the widest number at a tick. */
int64_t tts_chart_ticks_width(const struct tts_chart_scale *scale, struct tts_font font);

/* Grid, ticks and their numbers, which end left of the plot. */
void tts_chart_draw_ticks(struct tts_drawing *d, const struct tts_chart_scale *scale,
                          struct tts_svg_box plot, struct tts_font font);
/* "Memory (MB)", upwards, in the middle of the plot. */
void tts_chart_draw_unit(struct tts_drawing *d, struct tts_svg_box plot, int64_t x);

struct tts_chart_legend {
    const char *text;
    struct tts_paint paint;
    bool is_line;
    int64_t stroke_width, dash; /* of a line */
    uint8_t area_alpha;         /* of a line: what is below it is filled */
};

/* That of the limits. */
struct tts_chart_legend tts_chart_limit_legend(int64_t stroke_width, int64_t dash);

/* Title and legend in the middle of the width; returns where the plot may begin. The title may
 * be NULL. */
int64_t tts_chart_draw_head(struct tts_drawing *d, const char *title,
                            const struct tts_chart_legend *legends, size_t count);
/* The least width of a drawing that has this legend in rows of three. */
int64_t tts_chart_head_width(const struct tts_chart_legend *legends, size_t count);

/* Adds a line of text below a finished chart, and to its description, which is the text kept
 * last. The drawing grows by that line. */
void tts_chart_draw_foot(struct tts_drawing *d, const char *text);

/* Shapes, in short. */
void tts_chart_line(struct tts_drawing *d, struct tts_svg_point from, struct tts_svg_point to,
                    struct tts_paint paint, int64_t width, int64_t dash);
/* Draws the dashed line of a limit from line.x to line.x + line.width at line.y. The line has a
 * gap at every ground of a text, among the shapes from number `first` on. */
struct tts_chart_stroke {
    int64_t width, dash;
};
void tts_chart_draw_limit(struct tts_drawing *d, size_t first, struct tts_svg_box line,
                          struct tts_chart_stroke stroke);
/* A white, nearly opaque ground for a text that is put next. */
void tts_chart_veil(struct tts_drawing *d, const struct tts_text_at *at, int64_t width);

/* "67.4 % of 12288 MB", "< 0.1 % of 12288 MB". Terminated; returns `out`. */
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
