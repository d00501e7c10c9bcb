/* chartnames.h: shortens the names of the runs in one picture so that they still differ. Names
 * are foreign bytes. Allocates nothing. */
#pragma once

#include "views/chart/memcharts.h"

/* All runs of the picture. Borrowed. */
struct tts_chartnames {
    const struct tts_named_run *runs;
    size_t count;
};

enum { TTS_CHARTNAME_LINES_MAX = 4 };

/* The space for one name: at most TTS_CHARTNAME_LINES_MAX lines of this width. */
struct tts_chartname_space {
    struct tts_font font;
    int64_t width;
    size_t lines;
};

/* Writes the name to `out` if it fits the space. Otherwise cuts the words that it shares with
 * other names, first at the end, then at the beginning. If that is not enough, cuts the middle
 * of the rest. "..." marks a cut. The text is terminated. Returns `out`. The time grows with
 * the number of names. */
const char *tts_chartnames_fit(const struct tts_chartnames *names, const char *name,
                               const struct tts_chartname_space *space,
                               char out[TTS_TEXT_SQUEEZED_MAX]);
