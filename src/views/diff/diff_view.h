/* diff_view.h: the answer of the command `diff` as text and as JSON (docs/design/diff-json.md).
 * The functions only read the answer and keep nothing. */
#pragma once

#include "analysis/run/rundiff.h"
#include "analysis/run/runpairs.h"
#include "model/run_list.h"
#include "views/json.h"

#include <stdio.h>

enum { TTS_DIFF_A, TTS_DIFF_B, TTS_DIFF_SIDES };

/* A file that is compared. */
struct tts_diff_input {
    const char *path; /* as given; borrowed */
    struct tts_runs runs;
    bool is_paired[TTS_RUNS_MAX];
};

/* Two runs that are compared. Do not copy the struct: `runs` points into it. */
struct tts_diff_pair {
    struct tts_named_run runs[TTS_DIFF_SIDES]; /* `name` is NULL */
    size_t numbers[TTS_DIFF_SIDES];            /* number of the run in its file, from 1 */
    enum tts_runpair_by by;                    /* NONE if options chose the runs */
    struct tts_trainmem mem[TTS_DIFF_SIDES];   /* the analyses of `runs` */
    struct tts_rundiff diff;
};

/* The two files and the comparisons of their runs. */
struct tts_diff_answer {
    struct tts_diff_input inputs[TTS_DIFF_SIDES];
    struct tts_diff_pair pairs[TTS_RUNS_MAX];
    size_t pair_count;
    bool is_chosen; /* options chose the runs: other runs are not listed */
};

/* Writes the answer for people. With `all`, phases without a difference are written too. */
void tts_diff_text(const struct tts_diff_answer *answer, bool all, FILE *out);
void tts_diff_json(const struct tts_diff_answer *answer, struct tts_json *json);
