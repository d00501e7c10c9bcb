/* change_ladder.h: a row of workloads, each larger than the one before: which is the last that
 * fits? For change*.c and largest.c. Plain data. */
#pragma once

#include "plan/fit_follow.h"

/* Makes rung `idx` of the base. */
typedef void (*tts_ladder_step_fn)(const void *ctx, uint64_t idx,
                                   struct tts_workload *workload);

struct tts_ladder {
    /* Given before. */
    struct tts_workload base;
    const struct tts_chip *chip;
    const struct tts_alloc *alloc;
    tts_ladder_step_fn step;
    const void *ctx;
    uint64_t count; /* rungs */
    uint64_t tries; /* how many below the first that is too large are tried one by one */
    bool is_far;    /* its end is: search by doubles from the bottom, not by halves */
    /* Found: the one below this is the highest known to fit; 0: none is. */
    uint64_t fits;
    struct tts_trial last; /* of that one */
};

/* Finds the highest rung that fits. What a bank has to give grows from rung to rung, so the
 * highest that has room is found by halves. Where it finds no place, because memory is in
 * pieces, those below are tried one by one, and behind `tries` of them by halves: then a higher
 * one may fit. Errors of tts_trial_run(). */
TTS_NODISCARD enum tts_status tts_ladder_search(struct tts_ladder *ladder,
                                                struct tts_error *err);

/* A whole run of one rung. */
TTS_NODISCARD enum tts_status tts_ladder_run(const struct tts_ladder *ladder, uint64_t idx,
                                             struct tts_trial *out, struct tts_error *err);

/* A step: sequences of one tile more each. */
void tts_ladder_sequence(const void *ctx, uint64_t idx, struct tts_workload *workload);

struct tts_workload tts_ladder_rung(const struct tts_ladder *ladder, uint64_t idx);
