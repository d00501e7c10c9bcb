/* run_names.h: names that tell the runs of one answer apart. Repeated names are counted for the
 * first TTS_RUN_NAMES_MAX different names, so memory does not grow with a log.
 *
 * Caller's memory; {0} is empty. One thread at a time. */
#pragma once

#include "views/run/run_name.h"

enum { TTS_RUN_NAMES_MAX = 256 };

struct tts_run_names {
    size_t count;
    uint64_t hashes[TTS_RUN_NAMES_MAX], seen[TTS_RUN_NAMES_MAX];
};

/* Names a run as tts_run_name() does, with a number that makes the name different from those
 * before. After TTS_RUN_NAMES_MAX names, only runs without a title are numbered: by `untitled`,
 * the number of untitled runs of their file so far, this one included. Returns `out`. */
const char *tts_run_names_next(struct tts_run_names *names, const struct tts_run *run,
                               const char *label, uint64_t untitled,
                               char out[TTS_RUN_LABEL_MAX]);
