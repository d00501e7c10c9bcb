/* diff_parts.h: what the files of `diff` share. */
#pragma once

#include "analysis/rundiff.h"
#include "analysis/runpairs.h"
#include "sources/runs/runs.h"
#include "views/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TTS_DIFF_COMMAND "diff"

enum { TTS_DIFF_A, TTS_DIFF_B, TTS_DIFF_SIDES };

/* Strings are borrowed from argv. */
struct tts_diff_options {
    const char *paths[TTS_DIFF_SIDES];
    const char *run[TTS_DIFF_SIDES]; /* number or title; NULL: all */
    bool all, json;
};

struct tts_diff_input {
    const char *path;
    struct tts_runs runs;
    bool is_paired[TTS_RUNS_MAX];
};

/* Two runs that are compared; numbers are those in their inputs. */
struct tts_diff_pair {
    size_t runs[TTS_DIFF_SIDES];
    enum tts_runpair_by by; /* NONE: the runs were chosen by option */
    struct tts_trainmem mem[TTS_DIFF_SIDES];
    struct tts_rundiff diff;
};

struct tts_diff_job {
    struct tts_diff_options options;
    struct tts_diff_input inputs[TTS_DIFF_SIDES];
    struct tts_diff_pair pairs[TTS_RUNS_MAX];
    size_t pair_count;
};

/* ---- pairs ---- */

/* Which runs go together is in analysis/runpairs.h. */
void tts_diff_pair_all(struct tts_diff_job *job);
/* Those that were asked for. False, and *missing is the side that has none, or several (then
 * *count is how many). */
bool tts_diff_pair_chosen(struct tts_diff_job *job, int *missing, size_t *count);

static inline const struct tts_run *tts_diff_run(const struct tts_diff_job *job,
                                                 const struct tts_diff_pair *pair, int side)
{
    return &job->inputs[side].runs.runs[pair->runs[side]];
}

/* The name of a phase of a pair, borrowed. */
const char *tts_diff_phase_name(const struct tts_diff_job *job,
                                const struct tts_diff_pair *pair, size_t phase);
bool tts_diff_differs(const struct tts_diff_job *job); /* any pair */

/* ---- what is printed ---- */

void tts_diff_text(const struct tts_diff_job *job, FILE *out);
enum { TTS_DIFF_PERCENT_MAX = 24 };
/* "+89.24 %"; "" where there is none, or it would be 0. Returns `out`. */
const char *tts_diff_percent(char out[TTS_DIFF_PERCENT_MAX], const struct tts_delta *delta);
/* What is less than half of 0.01 MB is told in bytes. */
static inline bool tts_diff_is_small(int64_t bytes)
{
    return bytes < TTS_RUN_HALF_STEP_BYTES && bytes > -TTS_RUN_HALF_STEP_BYTES;
}
/* "gradients overhead": of the peak. */
const char *tts_diff_part_label(enum tts_run_part part);
/* The sentence about the peak. */
void tts_diff_text_verdict(const struct tts_diff_job *job, const struct tts_diff_pair *pair,
                           FILE *out);
void tts_diff_json(const struct tts_diff_job *job, struct tts_json *json);
