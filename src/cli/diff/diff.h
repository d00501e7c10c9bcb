/* diff.h: the types and functions that the files of the command `diff` share. */
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

/* The values of the options. Strings are borrowed from argv. */
struct tts_diff_options {
    const char *paths[TTS_DIFF_SIDES];
    const char *run[TTS_DIFF_SIDES]; /* number or title; both NULL: compare all runs */
    bool all, json;
};

struct tts_diff_input {
    const char *path;
    struct tts_runs runs;
    bool is_paired[TTS_RUNS_MAX];
};

/* Two runs that are compared. */
struct tts_diff_pair {
    size_t runs[TTS_DIFF_SIDES];
    enum tts_runpair_by by; /* NONE if options chose the runs */
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

static inline const struct tts_run *tts_diff_run(const struct tts_diff_job *job,
                                                 const struct tts_diff_pair *pair, int side)
{
    return &job->inputs[side].runs.runs[pair->runs[side]];
}

bool tts_diff_differs(const struct tts_diff_job *job); /* true if any pair differs */

/* ---- output ---- */

void tts_diff_text(const struct tts_diff_job *job, FILE *out);
void tts_diff_json(const struct tts_diff_job *job, struct tts_json *json);
