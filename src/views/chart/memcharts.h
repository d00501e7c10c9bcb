/* memcharts.h: lays out pictures of the memory of training runs. The rules are in
 * docs/design/charts.md. */
#pragma once

#include "analysis/run/named_run.h"
#include "views/chart/drawing.h"

enum { TTS_CHART_RUNS_MAX = 48, TTS_CHART_PHASE_RUNS_MAX = 12 };

/* Draws one stacked bar for each run, side by side, with the limit of its device. `title` and
 * `alloc` may be NULL. On success the caller releases *out; otherwise *out is unchanged.
 * TTS_E_NOMEM: memory ran out. TTS_E_RANGE: no run, or more than TTS_CHART_RUNS_MAX. */
TTS_NODISCARD enum tts_status tts_peakchart(const struct tts_named_run *runs, size_t count,
                                            const char *title, const struct tts_alloc *alloc,
                                            struct tts_drawing *out);

/* Draws for each run the current memory, the peak and the segment peak over its phases, as
 * stepped lines. Fails as above; the maximum is TTS_CHART_PHASE_RUNS_MAX. */
TTS_NODISCARD enum tts_status tts_phasechart(const struct tts_named_run *runs, size_t count,
                                             const char *title, const struct tts_alloc *alloc,
                                             struct tts_drawing *out);
