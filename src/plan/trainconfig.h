/* trainconfig.h: the workload of a training configuration: the YAML files of tt-train plus the
 * settings that a caller overrides, with the origin of each value. Defaults and rules are the
 * same as in the training programs (docs/design/fit-json.md, docs/design/train-config.md).
 *
 * Nothing here prints. Errors and notes are in tts_trainconfig.notes. */
#pragma once

#include "plan/note.h"
#include "plan/settings.h"
#include "sources/config/trainfile.h"
#include "sources/textfile.h"

enum {
    TTS_TRAIN_CHARACTERS = 65, /* vocabulary of the tokenizer for the Shakespeare text */
    TTS_TRAIN_STOPS_MAX = 4,
    TTS_TRAIN_STOP_TEXT_MAX = 240,
};

/* A reason why the training program refuses the run. */
struct tts_train_stop {
    uint8_t file;
    uint32_t line; /* 0: an option */
    char reason[TTS_TRAIN_STOP_TEXT_MAX];
    char figures[TTS_TRAIN_STOP_TEXT_MAX]; /* the run that is modelled instead */
};

/* About 45 KB. Must not be copied: notes point into it. */
struct tts_trainconfig {
    const char *path;                      /* path that the caller asked for; borrowed */
    const struct tts_overrides *overrides; /* borrowed */
    struct tts_trainfile file;
    struct tts_setting_value values[TTS_FIELD_NONE];
    struct tts_workload workload;
    struct tts_train_stop stops[TTS_TRAIN_STOPS_MAX];
    size_t stop_count;
    struct tts_notes notes;
};

/* Reads the training file `path` with its model file, or a model file alone, and makes the
 * workload. A run that the training program refuses is changed to the run that the user
 * probably means, and `stops` explains the change. `path` "-" is standard input. *config is in
 * the caller's memory and needs no initialization.
 *
 * TTS_E_INVALID: an option does not match the configuration, or the run is not modelled; the
 * error names the nearest modelled one. TTS_E_SYNTAX, TTS_E_RANGE, TTS_E_NOT_FOUND, TTS_E_IO,
 * TTS_E_NOMEM: a file is wrong or cannot be read. After a failure notes.error holds the reason,
 * and the workload is undefined. */
TTS_NODISCARD enum tts_status tts_trainconfig_load(struct tts_trainconfig *config,
                                                   const char *path,
                                                   const struct tts_overrides *overrides);

/* Makes only the model, from a file that the caller has read. Fills workload.model without
 * checking it. Ignores the settings of the training loop. Fails like tts_trainconfig_load(). */
TTS_NODISCARD enum tts_status tts_trainconfig_model(struct tts_trainconfig *config,
                                                    const char *path,
                                                    const struct tts_overrides *overrides,
                                                    const struct tts_textfile *text);

bool tts_trainconfig_is_llama(const struct tts_trainconfig *config);
/* Returns the word of a setting of kind WORD. */
const char *tts_trainconfig_word(const struct tts_trainconfig *config,
                                 enum tts_workload_field field);
/* Returns the path of one of the two files, for messages. Valid as long as *config. */
const char *tts_trainconfig_path(const struct tts_trainconfig *config, unsigned file);
