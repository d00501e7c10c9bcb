/* worst_runs.h: the runs that a table or a chart shows if there are too many to show all, and
 * how many there are of each verdict. Runs that do not fit come first, then higher usage, then
 * unknown usage; equal runs stay in the order in which they came.
 *
 * Caller's memory; {0} is empty. One thread. */
#pragma once

#include "analysis/named_run.h"
#include "ttscope/alloc.h"

enum { TTS_WORST_RUNS_MAX = 48 };

/* A number of runs, by verdict. */
struct tts_run_tally {
    uint64_t runs, by_verdict[TTS_VERDICTS];
};

struct tts_worst_runs {
    struct tts_kept_run *kept[TTS_WORST_RUNS_MAX]; /* copies, on the heap of the C library */
    size_t count;
    struct tts_run_tally all; /* every run, also those that are not kept */
};

/* Copies a run if it is among the worst. Takes time in proportion to the runs that are kept and
 * to the phases of the run. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_worst_runs_add(struct tts_worst_runs *worst,
                                                 const struct tts_named_run *run);

/* Chooses `max` runs at most, TTS_WORST_RUNS_MAX or less: all of them in the order in which
 * they came, or the worst first if there are more. Returns how many `out` has. They are
 * borrowed until release. `rest` gets the counts of the runs that were not chosen. */
size_t tts_worst_runs_choose(const struct tts_worst_runs *worst, size_t max,
                             struct tts_named_run out[TTS_WORST_RUNS_MAX],
                             struct tts_run_tally *rest);

void tts_worst_runs_release(struct tts_worst_runs *worst);
