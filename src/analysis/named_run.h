/* named_run.h: a run as charts, tables and documents show it: with its name, its file and what
 * its summary says about memory. Plain value; everything is borrowed. */
#pragma once

#include "analysis/trainmem.h"

struct tts_named_run {
    const char *name, *path; /* foreign bytes; path: the file, as given */
    const struct tts_run *run;
    const struct tts_trainmem *mem;
};

/* Whether a run fits its device, or stays below a limit. */
enum tts_verdict { TTS_VERDICT_GOOD, TTS_VERDICT_BAD, TTS_VERDICT_UNKNOWN, TTS_VERDICTS };

/* Compares the peak with `limit`, a share of the device memory in hundredths of a percent. 0:
 * no limit; the verdict is whether the run fits. */
enum tts_verdict tts_named_run_judge(const struct tts_named_run *run, uint32_t limit);

/* Returns whether peak and device memory are known, so that their ratio is. */
bool tts_named_run_has_usage(const struct tts_named_run *run);

/* Returns the name of the phase of the peak, also of one in a later iteration. Borrowed from
 * the run. NULL: not known. */
const char *tts_named_run_peak_phase(const struct tts_named_run *run);
