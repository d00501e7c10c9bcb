/* run_name.h: the names of runs and of their files, the same in every command. */
#pragma once

#include "model/run.h"

enum { TTS_RUN_LABEL_MAX = 576 };

/* Returns the name of a file: the shortest end of its path that differs from the other paths.
 * Borrowed from `paths`. */
const char *tts_run_label(const char *const *paths, size_t count, size_t idx);

/* Writes the name of a run: its title or the label of its file, ` (number)` if number > 1, its
 * rank. The parts may be any bytes. Returns `out`. */
const char *tts_run_name(char out[TTS_RUN_LABEL_MAX], const struct tts_run *run,
                         const char *label, uint64_t number);
