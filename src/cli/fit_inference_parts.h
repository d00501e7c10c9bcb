/* fit_inference_parts.h: what the files of `ttscope fit --inference` share. */
#pragma once

#include "cli/device_arg.h"
#include "cli/fit_parts.h"
#include "plan/inference.h"
#include "views/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TTS_INFERENCE_COMMAND TTS_FIT_COMMAND

enum { TTS_INFERENCE_TYPE_MAX = 64, TTS_INFERENCE_PATH_MAX = 512 };

/* Where a value is from: an option ("--batch"), or a key of a file. */
struct tts_inference_origin {
    const char *option;
    const char *key, *path; /* option NULL; the path is the ask's */
    uint32_t line;          /* 0: not known, or a default */
};

/* Strings are borrowed from argv, but for its own. */
struct tts_inference_ask {
    const char *path;
    char folder_path[TTS_FIT_PATH_MAX]; /* what `path` is, if a folder was given */
    struct tts_device_arg device;
    const char *trace_region; /* NULL: as the device has it */
    bool json;
    bool has_length;
    uint64_t vocabulary; /* 0: the file's */
    struct tts_inference_config config;
    struct tts_inference_origin origins[TTS_INFERENCE_FIELDS];
    char model_type[TTS_INFERENCE_TYPE_MAX];
    bool type_is_assumed;                    /* the file does not say */
    bool has_part_weights;                   /* an option names the dtype of one part */
    const char *vocabulary_why;              /* NULL: the file says it, or an option */
    char model_path[TTS_INFERENCE_PATH_MAX]; /* of a model file beside a training file */
    /* Keys of a config.json that the plan does not use. */
    uint64_t window; /* sliding_window; 0: none */
    bool is_quantized;
    char quantization[TTS_INFERENCE_TYPE_MAX]; /* quant_method; "": the file does not say */
};

/* Returns true if the sliding window is shorter than the context: then less cache would do. */
bool tts_inference_has_window(const struct tts_inference_ask *ask);

#define TTS_INFERENCE_WINDOW_REASON "the cache is counted for the whole context"
#define TTS_INFERENCE_QUANTIZATION_REASON                                                      \
    "weights are counted in the dtypes above, which '--weights' changes"

/* Fills the model and the origins of what is the file's. The exit code; what is wrong has been
 * said. A length that was not given is that of the model. */
int tts_inference_model_load(struct tts_inference_ask *ask);
/* A tt-train configuration, as recipe head has it; the width of a head is left to the above. */
int tts_inference_model_yaml(struct tts_inference_ask *ask, const struct tts_textfile *text);

/* Remedies for a plan that does not fit: a shorter chunk of prefill, then lighter dtypes
 * (fit_inference_lighter.c). */
enum { TTS_INFERENCE_LIGHTER_MAX = 4, TTS_INFERENCE_OPTIONS_MAX = 128 };

struct tts_inference_lighter {
    char options[TTS_INFERENCE_OPTIONS_MAX]; /* to type, besides those that were given */
    uint64_t total_bytes;
    bool fits;
};

struct tts_inference_answer {
    const struct tts_inference_ask *ask;
    const struct tts_chip *chip;
    struct tts_inference plan;
    struct tts_inference_lighter
        lighter[TTS_INFERENCE_LIGHTER_MAX]; /* enough alone, then not */
    size_t lighter_count;
};

/* Returns true if the device has the chips of the plan. */
bool tts_inference_has_chips(const struct tts_inference_answer *answer);
/* Returns true if the device has the chips and every buffer found a place. */
bool tts_inference_fits(const struct tts_inference_answer *answer);

/* Fills `lighter` of an answer whose plan does not fit. */
TTS_NODISCARD enum tts_status tts_inference_lighter_find(struct tts_inference_answer *answer,
                                                         struct tts_error *err);

void tts_inference_text(const struct tts_inference_answer *answer, FILE *out);
void tts_inference_json(const struct tts_inference_answer *answer, struct tts_json *json);
