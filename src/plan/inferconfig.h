/* inferconfig.h: the inference plan of a model configuration: a config.json of Hugging Face or
 * a YAML file of tt-train, plus what a caller overrides, with the origin of each value; and
 * remedies for a plan that does not fit.
 *
 * Nothing here prints. Errors and notes are in tts_inferconfig.train.notes. */
#pragma once

#include "plan/configpath.h"
#include "plan/inference.h"
#include "plan/trainconfig.h"

#include <stdbool.h>
#include <stdint.h>

enum { TTS_INFERCONFIG_TYPE_MAX = 64 };

/* Where a value comes from: an option ("--batch"), or a key of a file. */
struct tts_inference_origin {
    const char *option;
    const char *key, *path; /* option NULL; path NULL: tts_inferconfig.path */
    uint32_t line;          /* 0: not known, or a default */
};

/* The caller fills the first part and zeroes the rest. Some 50 KB. Do not copy after the load:
 * notes and origins point into it. */
struct tts_inferconfig {
    const char *path;      /* borrowed; a folder is replaced by its config.json */
    bool has_length;       /* config.length is given; else it is that of the model */
    uint64_t vocabulary;   /* 0: the file's */
    bool has_part_weights; /* the caller names the dtype of one part */
    struct tts_inference_config config; /* all but the model */
    struct tts_inference_origin origins[TTS_INFERENCE_FIELDS];

    char folder_path[TTS_CONFIG_PATH_MAX]; /* what `path` is, if a folder was given */
    char model_type[TTS_INFERCONFIG_TYPE_MAX];
    bool type_is_assumed;       /* the file does not say */
    const char *vocabulary_why; /* NULL: the file says it, or an option */
    /* Keys of a config.json that the plan does not use. */
    uint64_t window; /* sliding_window; 0: none */
    bool is_quantized;
    char quantization[TTS_INFERCONFIG_TYPE_MAX]; /* quant_method; "": the file does not say */
    struct tts_overrides overrides;              /* of `train` */
    struct tts_trainconfig train;                /* of a YAML file; its notes are for both */
};

/* Reads the file, fills the model and the origins of its values, and checks the whole.
 * TTS_E_INVALID: an option is wrong, or the model is not modelled; the error names the nearest
 * that is. TTS_E_SYNTAX, TTS_E_RANGE, TTS_E_NOT_FOUND, TTS_E_IO, TTS_E_NOMEM: the file is
 * wrong or cannot be read. After a failure train.notes.error says why. */
TTS_NODISCARD enum tts_status tts_inferconfig_load(struct tts_inferconfig *config);

/* Returns true if the sliding window is shorter than the context: then less cache would do. */
bool tts_inferconfig_has_window(const struct tts_inferconfig *config);

/* Remedies for a plan that does not fit: a shorter chunk of prefill, then lighter dtypes. */
enum { TTS_INFERENCE_LIGHTER_MAX = 4, TTS_INFERENCE_OPTIONS_MAX = 128 };

struct tts_inference_lighter {
    char options[TTS_INFERENCE_OPTIONS_MAX]; /* to type, besides those that were given */
    uint64_t total_bytes;
    bool fits;
};

/* Finds the remedies for `plan`, which does not fit: those that are enough alone, then the
 * others. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status
tts_inferconfig_lighten(const struct tts_inferconfig *config, const struct tts_chip *chip,
                        const struct tts_inference *plan,
                        struct tts_inference_lighter out[TTS_INFERENCE_LIGHTER_MAX],
                        size_t *count, struct tts_error *err);
