/* budget_inside.h: what the parts of the budget check share. For budget*.c only. */
#pragma once

#include "analysis/budgetcheck.h"

/* A figure of a run. */
struct tts_budget_measure {
    struct tts_amount amount;
    enum tts_budget_reason reason; /* NONE: it is known */
    enum tts_budget_figure figure;
    bool at_least, has_phase;
    size_t phase;
};

/* Some figure of L1 is not 0, or the run knows its cores. */
bool tts_budget_tracks_l1(const struct tts_run *run);

/* The figure by which the L1 of runs, or of phases, is told and compared: the core's if all of
 * them know it, else the total. `b` may be NULL. */
enum tts_budget_figure tts_budget_l1_of_runs(const struct tts_run *a, const struct tts_run *b);
enum tts_budget_figure tts_budget_l1_of_phases(const struct tts_run_phase *a,
                                               const struct tts_run_phase *b);

/* What is measured of a run; `l1` is the figure that rules of a core's L1 use. */
struct tts_budget_wanted {
    enum tts_budget_rule rule;
    enum tts_budget_figure l1;
};

struct tts_budget_measure tts_budget_measure_overall(struct tts_budget_wanted wanted,
                                                     const struct tts_run *run,
                                                     const struct tts_trainmem *mem);
struct tts_budget_measure tts_budget_measure_phase(struct tts_budget_wanted wanted,
                                                   const struct tts_run *run, size_t phase,
                                                   bool tracks_l1);
