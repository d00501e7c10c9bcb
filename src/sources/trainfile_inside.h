/* trainfile_inside.h: what the parts of the reader of training files share. For trainfile*.c
 * only. */
#pragma once

#include "sources/trainfile.h"
#include "sources/trainfile_keys.h"
#include "sources/yaml_refs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTS_TRAINFILE_QUOTE_MAX = 40 };

/* ---- a file, trainfile_parse.c ---- */

struct tts_trainfile_part {
    unsigned file;
    bool without_model; /* transformer_config is passed over */
    bool only_model;    /* the others are, but multihost_config */
};

struct tts_trainfile_seen {
    uint32_t training_line, model_line; /* of the section's name; 0: not there */
    uint32_t mlp_line;
};

/* As tts_trainfile_parse(); *out may be half written when it fails. */
TTS_NODISCARD enum tts_status tts_trainfile_read(const char *text, size_t len,
                                                 const struct tts_trainfile_part *part,
                                                 struct tts_trainfile *out,
                                                 struct tts_trainfile_seen *seen,
                                                 struct tts_error *err);

/* ---- tokens, and what is passed over, trainfile_skip.c ---- */

/* Passes over the rest of a value whose first token is known. *lora_line is where the first key
 * of adapters that is meant stands in it; 0: nowhere. An alias in it is not followed: its value
 * was looked at where its anchor stands. */
TTS_NODISCARD enum tts_status tts_train_skip(struct tts_yaml_refs *yaml,
                                             const struct tts_yaml_token *first,
                                             uint32_t *lora_line, struct tts_error *err);
/* Does a key speak of adapters: "lora_rank", "use_peft"? The ranks of DeepSeek's attention do
 * not. */
bool tts_train_is_lora(const char *name);

/* ---- a value, trainfile_value.c ---- */

/* Returns the value that a known key fills, or NULL if the key is none of a value. */
static inline struct tts_trainfile_value *tts_train_field(struct tts_trainfile *file,
                                                          const struct tts_train_known *known)
{
    if (known->action != TTS_ACT_VALUE)
        return NULL;
    return (struct tts_trainfile_value *)(void *)((char *)file + known->field);
}

/* Nobody said anything: `null`, `~`. */
bool tts_train_is_null(const struct tts_yaml_token *token);
/* Neither null nor false nor 0 nor nothing at all: it is meant to be there. */
bool tts_train_is_meant(const struct tts_yaml_token *token);

/* "'name' must be <what>, and is <the token>" with its line. */
enum tts_status tts_train_refuse(struct tts_error *err, enum tts_status status,
                                 const char *name, const char *what,
                                 const struct tts_yaml_token *token);

/* Of a plain scalar. TTS_E_SYNTAX, TTS_E_RANGE. */
TTS_NODISCARD enum tts_status tts_train_number(const struct tts_yaml_token *token,
                                               const char *name, uint64_t *out,
                                               struct tts_error *err);
/* Fills number or text of *out. A scalar that is null leaves it as it is. */
TTS_NODISCARD enum tts_status tts_train_value(const struct tts_train_known *known,
                                              const struct tts_yaml_token *token,
                                              struct tts_trainfile_value *out,
                                              struct tts_error *err);

/* ---- a path, trainfile_path.c ---- */

/* The model file: `named` as it stands in the file `beside` ("-": none). TTS_E_NOT_FOUND: it is
 * nowhere, and `missing` is its path; TTS_E_RANGE: too long. err has no line. */
TTS_NODISCARD enum tts_status tts_train_find(const char *named, const char *beside,
                                             char out[TTS_TRAINFILE_TEXT_MAX],
                                             char missing[TTS_TRAINFILE_TEXT_MAX],
                                             struct tts_error *err);
