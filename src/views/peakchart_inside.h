/* peakchart_inside.h: what the files of the peak chart share. */
#pragma once

#include "views/chartnames.h"
#include "views/chartparts.h"
#include "views/memcharts.h"

/* In hundredths of a pixel but for the counts; the same for every row of bars. */
struct tts_peakchart {
    const struct tts_named_run *runs;
    struct tts_chartnames names;
    size_t count, per_row, rows;
    struct tts_chart_scale scale;
    bool has_one_limit; /* all have the same */
    int64_t bar, slot;
    int64_t side;        /* the widest label beside a bar; 0: none is */
    int64_t spare;       /* right of the last slot, for its labels beside the bar */
    int64_t left, right; /* of the plot */
    int64_t plot_height;
    int64_t top; /* of the first plot */
    size_t name_lines, info_lines;
    struct tts_font inside, beside, total, name, info;
};

enum {
    TTS_PEAKCHART_LEADER = 13 * TTS_PX, /* with the key at its end */
    TTS_PEAKCHART_SWATCH = 6 * TTS_PX,
    TTS_PEAKCHART_BESIDE_PITCH = 125, /* percent of the font's size */
    TTS_PEAKCHART_PAD = 4 * TTS_PX,
    TTS_PEAKCHART_NAME_LINES = 3,
    TTS_PEAKCHART_INFO_LINES = 6,
    TTS_PEAKCHART_CLEAR = 5 * TTS_PX, /* between the line of a limit and a label */
};

/* A part as one reads it, and its colour. */
struct tts_peakchart_part {
    const char *label, *word;
    uint32_t rgb;
};
extern const struct tts_peakchart_part tts_peakchart_parts[TTS_RUN_PARTS];

bool tts_peakchart_has_limit(const struct tts_trainmem *mem);

/* A line below the name of a run. */
struct tts_peakchart_info {
    char text[TTS_TEXT_SQUEEZED_MAX];
    struct tts_paint paint;
    bool bold;
};
/* Usage, verdict, the phase of the peak, and whether the sizes are theory or measured. */
size_t tts_peakchart_info(const struct tts_peakchart *chart, const struct tts_named_run *run,
                          struct tts_peakchart_info out[TTS_PEAKCHART_INFO_LINES]);

/* "Total: 8279 MB". Terminated; returns `out`. */
const char *tts_peakchart_total(char out[TTS_CHART_USAGE_MAX], const struct tts_trainmem *mem);

/* "193 MB": a part's, in the same way. */
const char *tts_peakchart_size(char out[TTS_CHART_MB_MAX], const struct tts_trainmem *mem,
                               enum tts_run_part part);

/* "limit 12288 MB", in the same way. */
const char *tts_peakchart_limit(char out[TTS_CHART_USAGE_MAX], const struct tts_trainmem *mem);

/* Title and description of the whole. */
void tts_peakchart_describe(struct tts_drawing *d, const struct tts_peakchart *chart,
                            const char *title);

/* Does the label of a part stand in it, and not beside the bar? */
bool tts_peakchart_is_inside(const struct tts_peakchart *chart, const struct tts_trainmem *mem,
                             enum tts_run_part part);

/* The box of a part in the bar whose left bottom corner this is; of no height where there is
 * nothing of it. */
struct tts_svg_box tts_peakchart_part_box(const struct tts_peakchart *chart,
                                          const struct tts_trainmem *mem,
                                          enum tts_run_part part, struct tts_svg_point corner);

/* Boxes first, then the grounds of their labels, and, above the lines of the limits, those. */
void tts_peakchart_draw_bar(struct tts_drawing *d, const struct tts_peakchart *chart,
                            const struct tts_named_run *run, struct tts_svg_point corner);
/* Returns how high they reach. */
int64_t tts_peakchart_draw_labels(struct tts_drawing *d, const struct tts_peakchart *chart,
                                  const struct tts_named_run *run, struct tts_svg_point corner,
                                  bool is_ground);
