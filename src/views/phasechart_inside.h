/* phasechart_inside.h: what the files of the phase chart share. */
#pragma once

#include "views/chartnames.h"
#include "views/chartparts.h"
#include "views/memcharts.h"

/* One run: its scale, and where it is drawn. */
struct tts_phasepanel {
    const struct tts_chart_run *run;
    struct tts_chartnames names; /* of all panels */
    struct tts_chart_scale scale;
    struct tts_svg_box plot;
    bool has_unit; /* "Memory (MB)" stands beside it */
};

/* How the names of phases stand below a plot; the same for all panels. */
struct tts_phaselabels {
    struct tts_font font;
    bool is_level;   /* else they rise */
    size_t lines;    /* level: of the tallest */
    int64_t longest; /* rising: the most that one may be long */
    int64_t height;
};

struct tts_phaseseries {
    const char *label, *word;
    enum tts_run_figure figure;
    struct tts_paint paint;
    int64_t stroke_width, dash;
    uint8_t area_alpha;
};

enum { TTS_PHASE_SERIES = 3, TTS_PHASE_LABEL_LINES = 2 };
/* In the order they are drawn. */
extern const struct tts_phaseseries tts_phase_series[TTS_PHASE_SERIES];

enum {
    TTS_PHASE_LIMIT_WIDTH = 3 * TTS_PX / 2,
    TTS_PHASE_LIMIT_DASH = 8 * TTS_PX,
    TTS_PHASE_NAME = 13 * TTS_PX, /* font sizes of a panel's head */
    TTS_PHASE_INFO = 11 * TTS_PX,
    TTS_PHASE_HEAD = 58 * TTS_PX, /* its height: three lines */
    TTS_PHASE_HALF_ROOT = 7071,   /* sine of 45 degrees, in ten thousandths */
};

/* Do the names stand level, in slots as wide as those of a plot of this width? */
bool tts_phase_is_level(const struct tts_run *run, struct tts_font font, int64_t width,
                        size_t *lines);
/* The longest of the names, but no longer than TTS_CHART_PHASE_EMS. */
int64_t tts_phase_longest(const struct tts_run *run, struct tts_font font);
/* How far rising names reach left of a plot of this width. */
int64_t tts_phase_reach(const struct tts_run *run, const struct tts_phaselabels *labels,
                        int64_t width);

void tts_phase_draw_panel(struct tts_drawing *d, const struct tts_phasepanel *panel,
                          const struct tts_phaselabels *labels);
