/* settings.h: the settings of a training run. The table has one row for each field of a
 * workload: the key in the YAML files, the option, the type, the allowed words, and the place
 * in struct tts_workload. This header also has the values that a caller sets to replace values
 * of the files. Plain data, no allocation. */
#pragma once

#include "runtime/workload.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tts_trainfile;
struct tts_trainfile_value;

/* Words for the numbers 0, 1, 2 and so on. */
struct tts_words {
    const char *what; /* kind of word: "runner" */
    const char *const *names;
    size_t count;
};
extern const struct tts_words tts_words_recipes;

/* Finds a word. Case, dashes and underscores do not count. TTS_E_NOT_FOUND: err names the
 * nearest word ("did you mean 'y'?"), or all of them ("expected y or z"). */
TTS_NODISCARD enum tts_status tts_words_find(const struct tts_words *words, const char *text,
                                             uint64_t *out, struct tts_error *err);
/* Like tts_words_find(), but for words of configuration files: case, dashes and underscores
 * count, and err is a whole message: "unknown runner 'x', did you mean 'y'?". */
TTS_NODISCARD enum tts_status tts_words_find_exact(const struct tts_words *words,
                                                   const char *text, uint64_t *out,
                                                   struct tts_error *err);

enum tts_setting_kind { TTS_SETTING_NUMBER, TTS_SETTING_WORD, TTS_SETTING_BOOL };

struct tts_setting {
    const char *key;    /* name in the files, in messages and in JSON */
    const char *option; /* "--heads". NULL: no option */
    enum tts_setting_kind kind;
    const struct tts_words *words; /* words of a setting of kind WORD */
    size_t file_field;             /* offset of the value in struct tts_trainfile */
    size_t workload_field, workload_size;
};

const struct tts_setting *tts_setting_of(enum tts_workload_field field);
/* Returns the value of a field in a file. The value may be unset. */
const struct tts_trainfile_value *tts_setting_in_file(enum tts_workload_field field,
                                                      const struct tts_trainfile *file);
/* Stores a number in the field of a workload. */
void tts_setting_store(enum tts_workload_field field, uint64_t number,
                       struct tts_workload *workload);

/* The origin of a value. */
enum tts_setting_origin {
    TTS_ORIGIN_UNUSED, /* the workload does not use the field */
    TTS_ORIGIN_OPTION,
    TTS_ORIGIN_FILE,
    TTS_ORIGIN_DEFAULT, /* default of the training program */
    TTS_ORIGIN_RULE, /* computed from other values by a rule of the training program; see `why`
                      */
};

struct tts_setting_value {
    uint64_t number;
    enum tts_setting_origin origin;
    uint8_t file;    /* FILE: index in tts_trainfile.paths */
    uint32_t line;   /* FILE: 0 if unknown */
    const char *why; /* FILE, DEFAULT, RULE: constant text, or NULL */
};

/* Settings that override the files, and settings that the files cannot contain. */
struct tts_overrides {
    bool is_given[TTS_FIELD_NONE];
    uint64_t given[TTS_FIELD_NONE];
    enum tts_recipe recipe;
    bool has_recipe; /* the caller chose the recipe */
    bool kernel_binaries;
};

void tts_overrides_give(struct tts_overrides *overrides, enum tts_workload_field field,
                        uint64_t number);
/* Reads the value of an option. A BOOL is read as a probability, and only 0 or not 0 is stored.
 * TTS_E_SYNTAX, TTS_E_NOT_FOUND (a word), TTS_E_INVALID (an optimizer that is not modelled):
 * err->text continues the sentence "invalid value 'x' for '--name': ". */
TTS_NODISCARD enum tts_status tts_overrides_set(struct tts_overrides *overrides,
                                                enum tts_workload_field field, const char *text,
                                                struct tts_error *err);

/* Returns a sentence that names the modelled optimizer nearest to `name`, or NULL if `name` is
 * not a known optimizer without a model. */
const char *tts_optimizer_nearest(const char *name);
