/* worst_runs.h: chooses the runs that a table or a chart shows if there are too many runs, and
 * counts the runs by verdict. Runs that do not fit are worst, then runs with higher usage,
 * then runs with unknown usage. Equal runs stay in the order in which they were added.
 *
 * The caller owns the struct; {0} is empty. One thread at a time. */
#pragma once

#include "analysis/run/named_run.h"
#include "ttscope/alloc.h"

enum { TTS_WORST_RUNS_MAX = 48 };

/* The number of all runs, and of the runs with each verdict. */
struct tts_run_tally {
    uint64_t runs, by_verdict[TTS_VERDICTS];
};

struct tts_worst_runs {
    /* Copies of the worst runs, allocated with malloc(). */
    struct tts_kept_run *kept[TTS_WORST_RUNS_MAX];
    size_t count;
    struct tts_run_tally all; /* counts of all runs, including the runs that are not kept */
};

/* Copies a run if the run is among the worst. The time grows with the number of kept runs and
 * the phases of the run. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_worst_runs_add(struct tts_worst_runs *worst,
                                                 const struct tts_named_run *run);

/* Chooses at most `max` runs; `max` is at most TTS_WORST_RUNS_MAX. If there are no more runs
 * than `max`, chooses all runs, in the order in which they were added. Otherwise chooses the
 * worst runs, the worst first. Returns the number of runs in `out`, which are valid until
 * release. Sets *rest to the counts of the runs that were not chosen. */
size_t tts_worst_runs_choose(const struct tts_worst_runs *worst, size_t max,
                             struct tts_named_run out[TTS_WORST_RUNS_MAX],
                             struct tts_run_tally *rest);

void tts_worst_runs_release(struct tts_worst_runs *worst);
