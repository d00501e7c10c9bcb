/* run_name.h: what runs, and the files that they are from, are called in every command. */
#pragma once

#include "model/run.h"

enum { TTS_RUN_LABEL_MAX = 576 };

/* A file: the end of its path, as much of it as tells it from the others of the list. Borrowed
 * from it. */
const char *tts_run_label(const char *const *paths, size_t count, size_t idx);

/* A run: its title or the label of its file, ` (number)` unless that is 1, its rank. Any bytes.
 * Returns `out`. */
const char *tts_run_name(char out[TTS_RUN_LABEL_MAX], const struct tts_run *run,
                         const char *label, uint64_t number);
