/* fit_view.h: whether a training run fits a device, as text and as JSON
 * (docs/design/fit-json.md); and what the text and the JSON share with inference_view.h.
 * Plain functions of an answer; one thread. */
#pragma once

#include "base/number.h"
#include "plan/change.h"
#include "plan/trainconfig.h"
#include "views/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct tts_fit_answer {
    const char *path; /* the file that was asked for */
    const struct tts_trainconfig *setup;
    const struct tts_fit *fit;
    struct tts_fit_change changes[TTS_FIT_CHANGES];
    size_t change_count;
    bool has_max;               /* the largest that fits was asked for, instead of changes */
    enum tts_largest_kind max;  /* with has_max */
    struct tts_largest largest; /* with has_max */
};

#define TTS_FIT_L1_REASON                                                                      \
    "the sizes of the circular buffers of each operation are not known here"

/* Returns why a run does not fit: "refused" (by the training program), "chips", "memory" (the
 * banks have too little) or "fragmentation" (free memory is in pieces). NULL if it fits. */
const char *tts_fit_reason(const struct tts_fit_answer *answer);

/* Writes the answer for people. TTS_E_IO, TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_fit_text(const struct tts_fit_answer *answer, FILE *out,
                                           struct tts_error *err);
void tts_fit_json(const struct tts_fit_answer *answer, struct tts_json *json);
/* Writes a number, or null if it is not known. */
void tts_fit_json_number(struct tts_json *json, const char *key, bool is_known, uint64_t value);

/* ---- sentences ---- */

/* Without a sign. Returns `out`. */
const char *tts_fit_mb(char out[TTS_NUMBER_MB_MAX], uint64_t bytes);

enum { TTS_FIT_SHARE_MAX = 24 };
/* "12.3 %", "< 0.1 %". Nothing is "0.0 %", also of nothing. Returns `out`. */
const char *tts_fit_share(char out[TTS_FIT_SHARE_MAX], uint64_t part, uint64_t whole);

/* What the banks would have to give, where that is more than they have. */
struct tts_fit_banks {
    uint32_t count;
    uint64_t bank_bytes, peak_bank_bytes;
    uint64_t beside_bytes; /* a trace region */
};
void tts_fit_say_missing(FILE *out, const struct tts_fit_banks *banks);

/* Warns if less than 5 % of a bank is left. */
void tts_fit_say_headroom(FILE *out, const struct tts_fit_banks *banks);

/* A run that needs more chips than the device has, and what one of them would hold. */
struct tts_fit_too_few {
    const struct tts_chip *chip;
    uint64_t needed;
    uint64_t peak_bytes, capacity_bytes; /* of one chip */
    bool is_estimated;
    bool is_too_much; /* the peak does not fit a chip either */
};
/* Prints the headline and the lines below it. */
void tts_fit_say_too_few(FILE *out, const struct tts_fit_too_few *few);
