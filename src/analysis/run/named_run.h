/* named_run.h: a run as comparisons, charts, tables and documents need it: with its name, its
 * file and its memory figures. Plain value. All pointers are borrowed. */
#pragma once

#include "analysis/run/trainmem.h"

struct tts_named_run {
    const char *name, *path; /* any bytes; `path` is the file as given */
    const struct tts_run *run;
    const struct tts_trainmem *mem;
};

/* Says whether a run fits its device, or stays below a limit. */
enum tts_verdict { TTS_VERDICT_GOOD, TTS_VERDICT_BAD, TTS_VERDICT_UNKNOWN, TTS_VERDICTS };

/* Compares the peak with `limit`, a share of the device memory in hundredths of a percent. If
 * `limit` is 0, the verdict says whether the run fits the device. */
enum tts_verdict tts_named_run_judge(const struct tts_named_run *run, uint32_t limit);

/* Returns true if the peak and the device memory are known, and their ratio can be written. */
bool tts_named_run_has_usage(const struct tts_named_run *run);

/* Returns the name of the phase that has the peak, also if the peak is in a later iteration.
 * Returns NULL if the phase is unknown. The name is borrowed from the run. */
const char *tts_named_run_peak_phase(const struct tts_named_run *run);
