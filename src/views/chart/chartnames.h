/* chartnames.h: the names of the runs of one picture, shortened so that they still differ.
 * Names are foreign bytes. No memory is allocated. */
#pragma once

#include "views/chart/memcharts.h"

/* All runs of the picture. Borrowed. */
struct tts_chartnames {
    const struct tts_chart_run *runs;
    size_t count;
};

enum { TTS_CHARTNAME_LINES_MAX = 4 };

/* The space for one name: lines of this width, TTS_CHARTNAME_LINES_MAX at most. */
struct tts_chartname_space {
    struct tts_font font;
    int64_t width;
    size_t lines;
};

/* Writes the name to `out` if it fits the space. Otherwise cuts what it has in common with
 * other names, in whole words: first the end, then the beginning. If that is not enough, cuts
 * the middle of what is left. "..." marks a cut. Terminated; returns `out`. Takes time in
 * proportion to the number of names. */
const char *tts_chartnames_fit(const struct tts_chartnames *names, const char *name,
                               const struct tts_chartname_space *space,
                               char out[TTS_TEXT_SQUEEZED_MAX]);
