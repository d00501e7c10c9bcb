/* fit_parts.h: the two forms of the answer of `ttscope fit`. */
#pragma once

#include "plan/change.h"
#include "plan/configpath.h"
#include "plan/trainconfig.h"
#include "views/json.h"

#include <stdio.h>

/* ---- the answer (fit_text.c, fit_text_peak.c, fit_json.c) ---- */

struct tts_fit_answer {
    const char *path; /* the file that was asked for */
    const struct tts_trainconfig *setup;
    const struct tts_fit *fit;
    struct tts_fit_change changes[TTS_FIT_CHANGES];
    size_t change_count;
    bool has_max;
    enum tts_largest_kind max;  /* with has_max */
    struct tts_largest largest; /* with has_max */
};

#define TTS_FIT_L1_REASON                                                                      \
    "the sizes of the circular buffers of each operation are not known here"

/* TTS_E_IO, TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_fit_text(const struct tts_fit_answer *answer, FILE *out,
                                           struct tts_error *err);
TTS_NODISCARD enum tts_status tts_fit_text_peak(const struct tts_fit *fit, FILE *out,
                                                struct tts_error *err);
void tts_fit_text_head(const struct tts_fit_answer *answer, FILE *out);
void tts_fit_text_verdict(const struct tts_fit_answer *answer, FILE *out);
/* "FORWARD_PASS, in sdpa of block 3". An op of NULL is none. */
void tts_fit_text_place(FILE *out, const char *phase, const char *op, int32_t layer);
void tts_fit_json(const struct tts_fit_answer *answer, struct tts_json *json);

/* One of the figures of a bank that is missing or free: 0 where there is none. */
uint64_t tts_fit_missing_bank_bytes(const struct tts_fit *fit);
/* Why a run does not fit: "refused" (by the training program), "chips", "memory" (the banks
 * have too little) or "fragmentation" (free memory is in pieces). NULL if it fits. */
const char *tts_fit_reason(const struct tts_fit_answer *answer);
