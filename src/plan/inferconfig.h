/* inferconfig.h: reads a model configuration for an inference plan: a config.json of Hugging
 * Face or a YAML file of tt-train, plus the settings that a caller overrides, with the origin
 * of each value. Also finds remedies for a plan that does not fit.
 *
 * Nothing here prints. Errors and notes are in tts_inferconfig.train.notes. */
#pragma once

#include "plan/configpath.h"
#include "plan/inference.h"
#include "plan/trainconfig.h"

#include <stdbool.h>
#include <stdint.h>

enum { TTS_INFERCONFIG_TYPE_MAX = 64 };

/* The origin of a value: an option ("--batch"), or a key of a file. */
struct tts_inference_origin {
    const char *option;
    /* key: set if `option` is NULL. path: NULL means tts_inferconfig.path. */
    const char *key, *path;
    uint32_t line; /* 0: unknown, or a default */
};

/* The caller fills the first part and zeroes the rest. About 50 KB. Must not be copied after
 * the load: notes and origins point into it. */
struct tts_inferconfig {
    const char *path;    /* borrowed; a folder is replaced by its config.json */
    bool has_length;     /* config.length is given; otherwise the length comes from the model */
    uint64_t vocabulary; /* 0: use the vocabulary of the file */
    bool has_part_weights;              /* the caller gave the dtype of a single part */
    struct tts_inference_config config; /* everything except the model */
    struct tts_inference_origin origins[TTS_INFERENCE_FIELDS];

    char folder_path[TTS_CONFIG_PATH_MAX]; /* holds `path` if the caller gave a folder */
    char model_type[TTS_INFERCONFIG_TYPE_MAX];
    bool type_is_assumed;       /* the file does not name the type */
    const char *vocabulary_why; /* why this vocabulary was chosen. NULL: the file or an option
                                   gives it */
    /* Keys of a config.json that the plan does not use. */
    uint64_t window; /* sliding_window; 0: none */
    bool is_quantized;
    char quantization[TTS_INFERCONFIG_TYPE_MAX]; /* quant_method. "": no such key */
    struct tts_overrides overrides;              /* used by `train` */
    struct tts_trainconfig train; /* of a YAML file. Its notes serve both formats */
};

/* Reads the file, fills the model and the origins of its values, and checks the result.
 *
 * TTS_E_INVALID: an option is wrong, or the model is not modelled; the error names the nearest
 * modelled one. TTS_E_SYNTAX, TTS_E_RANGE, TTS_E_NOT_FOUND, TTS_E_IO, TTS_E_NOMEM: the file is
 * wrong or cannot be read. After a failure train.notes.error holds the reason. */
TTS_NODISCARD enum tts_status tts_inferconfig_load(struct tts_inferconfig *config);

/* Returns true if the sliding window is shorter than the context. The plan then reserves more
 * cache than the model needs. */
bool tts_inferconfig_has_window(const struct tts_inferconfig *config);

/* Remedies for a plan that does not fit: a shorter chunk of prefill, then lighter dtypes. */
enum { TTS_INFERENCE_LIGHTER_MAX = 4, TTS_INFERENCE_OPTIONS_MAX = 128 };

struct tts_inference_lighter {
    char options[TTS_INFERENCE_OPTIONS_MAX]; /* options to add to the command line */
    uint64_t total_bytes;
    bool fits;
};

/* Finds the remedies for `plan`, which does not fit. Remedies that are enough alone come first.
 * Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status
tts_inferconfig_lighten(const struct tts_inferconfig *config, const struct tts_chip *chip,
                        const struct tts_inference *plan,
                        struct tts_inference_lighter out[TTS_INFERENCE_LIGHTER_MAX],
                        size_t *count, struct tts_error *err);
