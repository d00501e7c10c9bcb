/* inference_view.h: the memory that serving a model needs, as text and as JSON
 * (docs/design/inference.md).
 *
 * The functions only read the answer, keep nothing and may run at the same time for different
 * streams. */
#pragma once

#include "plan/inferconfig.h"
#include "views/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* An answer of plan. All pointers are borrowed. */
struct tts_inference_answer {
    const struct tts_inferconfig *ask;
    const struct tts_chip *chip;
    struct tts_inference plan;
    struct tts_inference_lighter
        lighter[TTS_INFERENCE_LIGHTER_MAX]; /* first the remedies that fit */
    size_t lighter_count;
};

/* Why keys of a config.json are not used. */
#define TTS_INFERENCE_WINDOW_REASON "the KV cache is counted for the whole context"
#define TTS_INFERENCE_QUANTIZATION_REASON                                                      \
    "weights are counted in the dtypes above, which '--weights' changes"

/* Returns true if the device has the chips of the plan. */
static inline bool tts_inference_has_chips(const struct tts_inference_answer *answer)
{
    return answer->ask->config.tensor_parallel <= answer->chip->fact[TTS_FACT_CHIPS].value;
}

/* Returns true if the device has the chips and every buffer found a place. */
static inline bool tts_inference_fits(const struct tts_inference_answer *answer)
{
    return answer->plan.fits && tts_inference_has_chips(answer);
}

/* Writes the answer for people. */
void tts_inference_text(const struct tts_inference_answer *answer, FILE *out);
/* Writes the answer as one JSON object. */
void tts_inference_json(const struct tts_inference_answer *answer, struct tts_json *json);
