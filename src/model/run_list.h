/* run_list.h: all runs of a file. tts_runs_load() of sources/runs/runs.h makes the object, and
 * tts_runs_release() releases it. Plain data for every reader in between. */
#pragma once

#include "model/run.h"
#include "ttscope/alloc.h"

enum { TTS_RUNS_MAX = 256, TTS_RUNS_PHASES_MAX = 65536 };

enum tts_runs_kind { TTS_RUNS_LOG, TTS_RUNS_EVENTS, TTS_RUNS_RESULT };

struct tts_runs {
    enum tts_runs_kind kind;
    struct tts_run *runs; /* in the order of the file; the same memory holds their phases */
    size_t count;
    /* Number of runs and phases that were dropped, because the file has more than the limits
     * allow. */
    uint64_t unlisted;
    /* private */
    const struct tts_alloc *alloc;
    void *memory;
};
