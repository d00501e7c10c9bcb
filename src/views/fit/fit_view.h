/* fit_view.h: the answer to the question whether a training run fits a device, as text and as
 * JSON (docs/design/fit-json.md).
 *
 * The functions only read the answer, keep nothing and may run at the same time for different
 * streams. */
#pragma once

#include "plan/change.h"
#include "plan/trainconfig.h"
#include "views/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* An answer of plan. All pointers are borrowed. */
struct tts_fit_answer {
    const char *path; /* the configuration that was asked for; "-": standard input */
    const struct tts_trainconfig *setup;
    const struct tts_fit *fit;
    struct tts_fit_change changes[TTS_FIT_CHANGES];
    size_t change_count;
    bool has_max;               /* the question is the largest batch or sequence that fits */
    enum tts_largest_kind max;  /* with has_max */
    struct tts_largest largest; /* with has_max */
};

/* Why L1 is unknown, in JSON and in text. */
#define TTS_FIT_L1_REASON                                                                      \
    "L1 is unknown: ttscope fit does not model the circular buffers of the operations"
#define TTS_FIT_L1_UNKNOWN "L1: unknown (circular-buffer sizes are not modelled)"

/* Returns why a run does not fit: "refused" (by the training program), "chips", "memory" (the
 * banks have too little) or "fragmentation" (free memory is in pieces). NULL if it fits. */
const char *tts_fit_reason(const struct tts_fit_answer *answer);

/* Writes the answer for people. TTS_E_IO: the summary cannot be written. TTS_E_NOMEM: memory
 * ran out. After a failure, part of the text may have been written. */
TTS_NODISCARD enum tts_status tts_fit_text(const struct tts_fit_answer *answer, FILE *out,
                                           struct tts_error *err);
/* Writes the answer as one JSON object. */
void tts_fit_json(const struct tts_fit_answer *answer, struct tts_json *json);
