/* memcharts.h: pictures of training runs' memory, laid out. The rules are in
 * docs/design/charts.md. */
#pragma once

#include "analysis/trainmem.h"
#include "views/chart/drawing.h"

/* One run, as a picture needs it. Borrowed. */
struct tts_chart_run {
    const char *name; /* foreign bytes */
    const struct tts_run *run;
    const struct tts_trainmem *mem;
};

enum { TTS_CHART_RUNS_MAX = 48, TTS_CHART_PHASE_RUNS_MAX = 12 };

/* One stacked bar for each run, beside each other, with the limit of its device. `title` may be
 * NULL, and so may `alloc`. The drawing is the caller's to release; it is written on success
 * only. TTS_E_NOMEM; TTS_E_RANGE: no run, or more than the maximum. */
TTS_NODISCARD enum tts_status tts_peakchart(const struct tts_chart_run *runs, size_t count,
                                            const char *title, const struct tts_alloc *alloc,
                                            struct tts_drawing *out);

/* For each run current, peak and segment peak over its phases, as step lines. Fails as above,
 * the maximum being TTS_CHART_PHASE_RUNS_MAX. */
TTS_NODISCARD enum tts_status tts_phasechart(const struct tts_chart_run *runs, size_t count,
                                             const char *title, const struct tts_alloc *alloc,
                                             struct tts_drawing *out);
