/* trainfile.h: the training and model configurations of tt-train, as they stand in their YAML
 * files (docs/design/train-config.md). Values keep the file and the line they come from;
 * nothing is defaulted here. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What this project asks of the files. X(KEY, section, "key", type) */
#define TTS_TRAINFILE_KEYS(X)                                                                  \
    X(BATCH_SIZE, TRAINING, "batch_size", NUMBER)                                              \
    X(ACCUMULATION, TRAINING, "gradient_accumulation_steps", NUMBER)                           \
    X(CLIP, TRAINING, "use_clip_grad_norm", BOOL)                                              \
    X(MODEL_CONFIG, TRAINING, "model_config", TEXT)                                            \
    X(TOKENIZER, TRAINING, "tokenizer_type", TEXT)                                             \
    X(DATA_PATH, TRAINING, "data_path", TEXT)                                                  \
    X(MOREH_ADAMW, TRAINING, "use_moreh_adamw", BOOL)                                          \
    X(KAHAN, TRAINING, "use_kahan_summation", BOOL)                                            \
    X(NO_OP, TRAINING, "use_no_op", BOOL)                                                      \
    X(OPTIMIZER_TYPE, OPTIMIZER, "type", TEXT)                                                 \
    X(AMSGRAD, OPTIMIZER, "amsgrad", BOOL)                                                     \
    X(MOMENTUM, OPTIMIZER, "momentum", REAL)                                                   \
    X(OPTIMIZER_KAHAN, OPTIMIZER, "kahan_summation", BOOL)                                     \
    X(ENABLE_DDP, DEVICE, "enable_ddp", BOOL)                                                  \
    X(ENABLE_TP, DEVICE, "enable_tp", BOOL)                                                    \
    X(ENABLE_CP, DEVICE, "enable_cp", BOOL)                                                    \
    X(ENABLE_FSDP, DEVICE, "enable_fsdp", BOOL)                                                \
    X(MULTIHOST, MULTIHOST, "enabled", BOOL)                                                   \
    X(MODEL_TYPE, MODEL, "model_type", TEXT)                                                   \
    X(RUNNER, MODEL, "runner_type", TEXT)                                                      \
    X(NUM_HEADS, MODEL, "num_heads", NUMBER)                                                   \
    X(NUM_GROUPS, MODEL, "num_groups", NUMBER)                                                 \
    X(EMBEDDING_DIM, MODEL, "embedding_dim", NUMBER)                                           \
    X(INTERMEDIATE_DIM, MODEL, "intermediate_dim", NUMBER)                                     \
    X(HEAD_DIM, MODEL, "head_dim", NUMBER)                                                     \
    X(DROPOUT, MODEL, "dropout_prob", REAL)                                                    \
    X(NUM_BLOCKS, MODEL, "num_blocks", NUMBER)                                                 \
    X(VOCAB_SIZE, MODEL, "vocab_size", NUMBER)                                                 \
    X(MAX_SEQUENCE, MODEL, "max_sequence_length", NUMBER)                                      \
    X(WEIGHT_TYING, MODEL, "weight_tying", TEXT)                                               \
    X(POSITIONS, MODEL, "positional_embedding_type", TEXT)                                     \
    X(BIAS, MODEL, "bias", BOOL)                                                               \
    X(EMBEDDING_PLACEMENT, MODEL, "embedding_placement", TEXT)                                 \
    X(COMPOSITE_LAYERNORM, EXPERIMENTAL, "use_composite_layernorm", BOOL)

#define TTS_TRAINFILE_ENUM(key, section, name, type) TTS_TRAINFILE_##key,
enum tts_trainfile_key { TTS_TRAINFILE_KEYS(TTS_TRAINFILE_ENUM) TTS_TRAINFILE_KEY_COUNT };
#undef TTS_TRAINFILE_ENUM

enum {
    TTS_TRAINFILE_TEXT_MAX = 512,
    TTS_TRAINFILE_MAX_BYTES = 1 << 20,
    TTS_TRAINFILE_UNKNOWN = 3, /* keys that are not known: as many are named */
};

struct tts_textfile;

struct tts_trainfile_value {
    bool is_set;
    uint8_t file;                      /* index in tts_trainfile.paths */
    uint32_t line;                     /* of the value */
    uint64_t number;                   /* NUMBER; BOOL: 0 or 1; REAL: whether it is not 0 */
    char text[TTS_TRAINFILE_TEXT_MAX]; /* TEXT, terminated, as it stands */
};

enum { TTS_TRAINFILE_TRAINING, TTS_TRAINFILE_MODEL, TTS_TRAINFILE_FILES };

struct tts_trainfile {
    struct tts_trainfile_value values[TTS_TRAINFILE_KEY_COUNT];
    uint64_t mesh_shape[2]; /* device_config; 0 0: not there */
    uint32_t mesh_line;
    /* Sections that are there and say that the run is of a kind not modelled: lines, 0: no. */
    uint32_t lora_line, pipeline_line, moe_line, grpo_line, mlp_line;
    uint8_t lora_file, pipeline_file, moe_file, grpo_file, mlp_file;
    /* Keys that nothing known is near to: passed over, to be told. The first of them, and
     * where the very first stands. */
    uint64_t unknown_keys;
    char unknown_names[TTS_TRAINFILE_UNKNOWN][64];
    uint32_t unknown_line;
    uint8_t unknown_file;
    /* "" where there is none: a model file alone has no training file. What messages name. */
    char paths[TTS_TRAINFILE_FILES][TTS_TRAINFILE_TEXT_MAX];
    /* After a failure: the model file that is nowhere, with its variables replaced; "": another
     * reason. */
    char missing_model[TTS_TRAINFILE_TEXT_MAX];
};

/* Reads a training file and the model file that it names, or a model file alone (one with
 * `transformer_config`, without `training_config`). A training file that has its own
 * `transformer_config` and names no file is both; where it names one, the file counts. A run of
 * a kind not modelled (below) may have no model at all: its path is then "". "-" is standard
 * input; `text` is that of `path` where somebody has read it already, NULL: nobody. Some 20 KB;
 * caller's memory. TTS_E_SYNTAX, TTS_E_NOT_FOUND (an unknown key:
 * err names the nearest; a model file that is nowhere; no section of either kind), TTS_E_RANGE:
 * err->line is where, *bad_file the file: an index of paths, which alone are written in *out
 * when it fails, with missing_model, as far as known. TTS_E_IO, TTS_E_NOMEM: there is no line.
 */
TTS_NODISCARD enum tts_status tts_trainfile_load(const char *path,
                                                 const struct tts_textfile *text,
                                                 struct tts_trainfile *out, unsigned *bad_file,
                                                 struct tts_error *err);

/* One file from memory, into what is there; `file` is its index. Paths stay as they are. */
TTS_NODISCARD enum tts_status tts_trainfile_parse(const char *text, size_t len, unsigned file,
                                                  struct tts_trainfile *out,
                                                  struct tts_error *err);

const char *tts_trainfile_key_name(enum tts_trainfile_key key);
