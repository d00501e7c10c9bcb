/* trainfile.h: reads the training and model configurations of tt-train
 * (docs/design/train-config.md). Each value keeps its file and line. Absent values stay absent:
 * defaults are filled in elsewhere. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The keys whose values are kept. X(field of struct tts_trainfile, section, "key", type) */
#define TTS_TRAINFILE_KEYS(X)                                                                  \
    X(batch_size, TRAINING, "batch_size", NUMBER)                                              \
    X(accumulation, TRAINING, "gradient_accumulation_steps", NUMBER)                           \
    X(clip, TRAINING, "use_clip_grad_norm", BOOL)                                              \
    X(model_config, TRAINING, "model_config", TEXT)                                            \
    X(tokenizer, TRAINING, "tokenizer_type", TEXT)                                             \
    X(data_path, TRAINING, "data_path", TEXT)                                                  \
    X(moreh_adamw, TRAINING, "use_moreh_adamw", BOOL)                                          \
    X(kahan, TRAINING, "use_kahan_summation", BOOL)                                            \
    X(no_op, TRAINING, "use_no_op", BOOL)                                                      \
    X(optimizer_type, OPTIMIZER, "type", TEXT)                                                 \
    X(amsgrad, OPTIMIZER, "amsgrad", BOOL)                                                     \
    X(momentum, OPTIMIZER, "momentum", REAL)                                                   \
    X(optimizer_kahan, OPTIMIZER, "kahan_summation", BOOL)                                     \
    X(enable_ddp, DEVICE, "enable_ddp", BOOL)                                                  \
    X(enable_tp, DEVICE, "enable_tp", BOOL)                                                    \
    X(enable_cp, DEVICE, "enable_cp", BOOL)                                                    \
    X(enable_fsdp, DEVICE, "enable_fsdp", BOOL)                                                \
    X(multihost, MULTIHOST, "enabled", BOOL)                                                   \
    X(model_type, MODEL, "model_type", TEXT)                                                   \
    X(runner, MODEL, "runner_type", TEXT)                                                      \
    X(num_heads, MODEL, "num_heads", NUMBER)                                                   \
    X(num_groups, MODEL, "num_groups", NUMBER)                                                 \
    X(embedding_dim, MODEL, "embedding_dim", NUMBER)                                           \
    X(intermediate_dim, MODEL, "intermediate_dim", NUMBER)                                     \
    X(head_dim, MODEL, "head_dim", NUMBER)                                                     \
    X(dropout, MODEL, "dropout_prob", REAL)                                                    \
    X(num_blocks, MODEL, "num_blocks", NUMBER)                                                 \
    X(vocab_size, MODEL, "vocab_size", NUMBER)                                                 \
    X(max_sequence, MODEL, "max_sequence_length", NUMBER)                                      \
    X(weight_tying, MODEL, "weight_tying", TEXT)                                               \
    X(positions, MODEL, "positional_embedding_type", TEXT)                                     \
    X(bias, MODEL, "bias", BOOL)                                                               \
    X(embedding_placement, MODEL, "embedding_placement", TEXT)                                 \
    X(composite_layernorm, EXPERIMENTAL, "use_composite_layernorm", BOOL)

enum {
    TTS_TRAINFILE_TEXT_MAX = 512,
    TTS_TRAINFILE_MAX_BYTES = 1 << 20,
    TTS_TRAINFILE_UNKNOWN = 3, /* number of unknown keys whose names are kept */
};

struct tts_textfile;

struct tts_trainfile_value {
    bool is_set;
    const char *key; /* name of the key in the file; NULL if the value is not set */
    uint8_t file;    /* index in tts_trainfile.paths */
    uint32_t line;   /* line of the value */
    uint64_t number; /* NUMBER; BOOL: 0 or 1; REAL: 0 if the value is 0, else 1 */
    char text[TTS_TRAINFILE_TEXT_MAX]; /* TEXT, terminated, as in the file */
};

enum { TTS_TRAINFILE_TRAINING, TTS_TRAINFILE_MODEL, TTS_TRAINFILE_FILES };

struct tts_trainfile {
#define TTS_TRAINFILE_FIELD(field, section, name, type) struct tts_trainfile_value field;
    TTS_TRAINFILE_KEYS(TTS_TRAINFILE_FIELD)
#undef TTS_TRAINFILE_FIELD
    uint64_t mesh_shape[2]; /* mesh_shape of device_config; 0 0 if absent */
    uint32_t mesh_line;
    /* Lines of sections that show a kind of run that is not supported; 0 if absent. */
    uint32_t lora_line, pipeline_line, moe_line, grpo_line, mlp_line;
    uint8_t lora_file, pipeline_file, moe_file, grpo_file, mlp_file;
    /* Keys that are skipped and reported, because they resemble no known key: their number, the
     * names of the first ones, and the place of the first one. */
    uint64_t unknown_keys;
    char unknown_names[TTS_TRAINFILE_UNKNOWN][64];
    uint32_t unknown_line;
    uint8_t unknown_file;
    /* The paths of the two files, for messages. A path is "" if there is no such file: for
     * example, if a model file is loaded alone, there is no training file. */
    char paths[TTS_TRAINFILE_FILES][TTS_TRAINFILE_TEXT_MAX];
    /* After a failure: the path of the model file that does not exist, with its variables
     * replaced; "" if the failure has another cause. */
    char missing_model[TTS_TRAINFILE_TEXT_MAX];
};

/* Loads a training file and the model file that it names, or a model file alone. A model file
 * has `transformer_config` and no `training_config`. A training file without the name of a
 * model file must have `transformer_config` itself. If it has both, the model file takes
 * precedence. A run of a kind that is not supported (see the lines above) may have no model;
 * then the path of the model is "".
 * The path "-" means standard input. `text` is the content of `path` if the caller has already
 * read it, otherwise NULL. *out needs about 20 KB of the caller's memory.
 * TTS_E_SYNTAX: not YAML, or a value of a wrong type. TTS_E_RANGE: a value above a limit.
 * TTS_E_NOT_FOUND: an unknown key (err names the nearest known key), a model file that does not
 * exist, or none of the expected sections. These set err->line, and *bad_file to the index of
 * the file in `paths`. TTS_E_IO, TTS_E_NOMEM: there is no line. After a failure only `paths`
 * and `missing_model` of *out are written. */
TTS_NODISCARD enum tts_status tts_trainfile_load(const char *path,
                                                 const struct tts_textfile *text,
                                                 struct tts_trainfile *out, unsigned *bad_file,
                                                 struct tts_error *err);

/* Parses one file from memory and adds its values to *out. `file` is the index of the file in
 * `paths`. Does not change `paths`. After a failure *out is unchanged. */
TTS_NODISCARD enum tts_status tts_trainfile_parse(const char *text, size_t len, unsigned file,
                                                  struct tts_trainfile *out,
                                                  struct tts_error *err);
