/* fit_parts.h: what the files of `ttscope fit` share: what was asked for, the workload that
 * makes of it with the origin of each value, and the two forms of the answer. For fit*.c only.
 */
#pragma once

#include "cli/device_arg.h"
#include "cli/fit_beside.h"
#include "plan/change.h"
#include "sources/textfile.h"
#include "sources/trainfile.h"
#include "views/json.h"

#include <stdio.h>

#define TTS_FIT_COMMAND "fit"

/* ---- settings (fit_settings.c) ---- */

enum tts_fit_kind { TTS_FIT_NUMBER, TTS_FIT_WORD, TTS_FIT_BOOL };

/* Values of a workload, as the files have them. X(NAME, "name", "option", kind, field); an
 * option of NULL: there is none. */
#define TTS_FIT_SETTINGS(X)                                                                    \
    X(FAMILY, "model_type", NULL, WORD, NONE)                                                  \
    X(BLOCKS, "num_blocks", "--blocks", NUMBER, BLOCKS)                                        \
    X(WIDTH, "embedding_dim", "--width", NUMBER, WIDTH)                                        \
    X(HEADS, "num_heads", "--heads", NUMBER, HEADS)                                            \
    X(GROUPS, "num_groups", "--groups", NUMBER, GROUPS)                                        \
    X(MLP, "intermediate_dim", "--mlp", NUMBER, MLP_WIDTH)                                     \
    X(SEQUENCE, "max_sequence_length", "--seq", NUMBER, SEQUENCE)                              \
    X(VOCABULARY, "vocab_size", "--vocab", NUMBER, VOCABULARY)                                 \
    X(TIED, "weight_tying", "--weight-tying", WORD, TIED)                                      \
    X(DROPOUT, "dropout_prob", "--dropout", BOOL, NONE)                                        \
    X(POSITIONS, "positional_embedding_type", NULL, WORD, NONE)                                \
    X(RUNNER, "runner_type", "--runner", WORD, RUNNER)                                         \
    X(OPTIMIZER, "optimizer", "--optimizer", WORD, OPTIMIZER)                                  \
    X(MOMENTUM, "momentum", "--momentum", BOOL, NONE)                                          \
    X(AMSGRAD, "amsgrad", NULL, BOOL, NONE)                                                    \
    X(KAHAN, "kahan_summation", NULL, BOOL, NONE)                                              \
    X(BATCH, "batch_size", "--batch", NUMBER, BATCH)                                           \
    X(ACCUMULATE, "gradient_accumulation_steps", "--accumulate", NUMBER, ACCUMULATE)           \
    X(CLIP, "use_clip_grad_norm", "--clip", BOOL, CLIP)                                        \
    X(TENSOR_PARALLEL, "tensor_parallel", "--tensor-parallel", NUMBER, TENSOR_PARALLEL)        \
    X(DATA_PARALLEL, "data_parallel", "--data-parallel", NUMBER, DATA_PARALLEL)

#define TTS_FIT_ENUM(name, text, option, kind, field) TTS_FIT_##name,
enum tts_fit_setting { TTS_FIT_SETTINGS(TTS_FIT_ENUM) TTS_FIT_SETTING_COUNT };
#undef TTS_FIT_ENUM

struct tts_fit_setting_info {
    const char *name, *option;
    enum tts_fit_kind kind;
    enum tts_workload_field field;
};
const struct tts_fit_setting_info *tts_fit_setting(enum tts_fit_setting setting);
/* The setting whose value is wrong; FAMILY for TTS_FIELD_NONE. */
enum tts_fit_setting tts_fit_setting_of(enum tts_workload_field field);

/* Words that stand for the numbers from 0 on. */
struct tts_fit_words {
    const char *what; /* "runner" */
    const char *const *names;
    size_t count;
};
extern const struct tts_fit_words tts_fit_families, tts_fit_tying, tts_fit_positions,
    tts_fit_runners, tts_fit_optimizers, tts_fit_recipes;

/* In any case, dashes and underscores count for nothing. False: there is none of that name. */
bool tts_fit_word_find(const struct tts_fit_words *words, const char *text, uint64_t *out);
/* As the program takes it from a file. */
bool tts_fit_word_find_exact(const struct tts_fit_words *words, const char *text,
                             uint64_t *out);

enum { TTS_FIT_WORD_ERROR_MAX = 240 };
/* "unknown runner 'x', nearest is 'y'", or what is expected where nothing is near. Returns
 * `out`. */
const char *tts_fit_word_error(const struct tts_fit_words *words, const char *text,
                               char out[TTS_FIT_WORD_ERROR_MAX]);

/* ---- what was asked for (fit_options.c) ---- */

/* Strings are borrowed from argv. */
struct tts_fit_options {
    const char *path, *record_path;
    char folder_path[TTS_FIT_PATH_MAX]; /* what `path` is, if a folder was given */
    bool is_given[TTS_FIT_SETTING_COUNT];
    uint64_t given[TTS_FIT_SETTING_COUNT];
    enum tts_recipe recipe;
    struct tts_device_arg device;
    bool kernel_binaries, json, has_max, has_recipe;
    enum tts_largest_kind max;
};

/* TTS_OPTIONS_END, or TTS_OPTIONS_STOP and the exit code; what is wrong has been said. */
int tts_fit_options_read(struct tts_fit_options *options, char **argv, int *exit_code);

/* ---- the workload (fit_workload.c) ---- */

enum tts_fit_origin {
    TTS_FIT_UNUSED, /* not a part of this workload */
    TTS_FIT_OPTION,
    TTS_FIT_FILE,
    TTS_FIT_DEFAULT, /* of the program */
    TTS_FIT_RULE,    /* of the program, from other values: `why` */
};

struct tts_fit_value {
    uint64_t number;
    enum tts_fit_origin origin;
    uint8_t file;    /* FILE: index in tts_trainfile.paths */
    uint32_t line;   /* FILE; 0: not known */
    const char *why; /* FILE, DEFAULT, RULE: constant text, or NULL */
};

enum {
    TTS_FIT_CHARACTERS = 65, /* of the Shakespeare text: the vocabulary of its tokenizer */
    TTS_FIT_STOPS_MAX = 4,
    TTS_FIT_STOP_TEXT_MAX = 240,
};

/* A reason why the training program refuses the run. */
struct tts_fit_stop {
    uint8_t file;
    uint32_t line; /* 0: an option */
    char reason[TTS_FIT_STOP_TEXT_MAX];
    char figures[TTS_FIT_STOP_TEXT_MAX]; /* the run that the figures are for instead */
};

/* Some 20 KB. */
struct tts_fit_setup {
    const struct tts_fit_options *options;
    struct tts_trainfile file;
    struct tts_fit_value values[TTS_FIT_SETTING_COUNT];
    struct tts_workload workload;
    struct tts_fit_stop stops[TTS_FIT_STOPS_MAX];
    size_t stop_count;
};

/* Reads the files and makes the workload. Like all below that return an int: the exit code;
 * what is wrong has been said. */
int tts_fit_setup_load(struct tts_fit_setup *setup, const struct tts_fit_options *options);
/* The model alone, of a file that was read already: fills setup->workload.model, which is not
 * checked. What training asks for besides is passed over. */
int tts_fit_setup_model(struct tts_fit_setup *setup, const struct tts_fit_options *options,
                        const struct tts_textfile *text);

/* Its steps. fit_refuse.c: runs that are not modelled are TTS_EXIT_USAGE, and the nearest that
 * is modelled is named. */
int tts_fit_refuse(struct tts_fit_setup *setup);
int tts_fit_refuse_model(struct tts_fit_setup *setup);
int tts_fit_model(struct tts_fit_setup *setup); /* fit_model.c */
int tts_fit_loop(struct tts_fit_setup *setup);  /* fit_loop.c */
int tts_fit_mesh(struct tts_fit_setup *setup);  /* fit_mesh.c: chips by parallelism */

/* Finds the reasons why the training program refuses the run, and changes the values to the run
 * that is probably meant (fit_stop.c). */
void tts_fit_stops(struct tts_fit_setup *setup);
/* Does the program refuse Kahan summation with the optimizer, which has been taken? */
bool tts_fit_stops_at_kahan(const struct tts_fit_setup *setup);

/* An optimizer that is known and not modelled; *nearest is a sentence. */
bool tts_fit_refuse_optimizer(const char *name, const char **nearest);

/* What else is to be told of the files, on stderr (fit_notes.c); and of that the keys alone
 * that are not known. */
void tts_fit_notes(const struct tts_fit_setup *setup);
void tts_fit_note_unknown(const struct tts_fit_setup *setup);

/* fit_take.c: one value, out of the options, then the files. */

/* False: neither has it. */
bool tts_fit_take(struct tts_fit_setup *setup, enum tts_fit_setting setting,
                  enum tts_trainfile_key key);
/* Then it is `number`, by default. */
void tts_fit_take_or(struct tts_fit_setup *setup, enum tts_fit_setting setting,
                     enum tts_trainfile_key key, uint64_t number);
/* The first of the words by default. */
int tts_fit_take_word(struct tts_fit_setup *setup, enum tts_fit_setting setting,
                      enum tts_trainfile_key key, const struct tts_fit_words *words);
void tts_fit_put_rule(struct tts_fit_setup *setup, enum tts_fit_setting setting,
                      uint64_t number, const char *why);
/* Says that a key must be there; `why` ends the sentence. */
int tts_fit_missing(const struct tts_fit_setup *setup, unsigned file,
                    enum tts_trainfile_key key, const char *why);

bool tts_fit_is_v1(const struct tts_fit_setup *setup);
/* The program is Python's: v1-python, head. It has a default for everything. */
bool tts_fit_is_python(const struct tts_fit_setup *setup);
bool tts_fit_is_llama(const struct tts_fit_setup *setup);
/* The word of a setting of this kind. */
const char *tts_fit_value_word(const struct tts_fit_setup *setup, enum tts_fit_setting setting);
/* As messages name a file of the two. */
const char *tts_fit_path(const struct tts_fit_setup *setup, unsigned file);
bool tts_fit_ends_in(const char *text, const char *end);

/* ---- the answer (fit_text.c, fit_text_peak.c, fit_json.c) ---- */

struct tts_fit_answer {
    const struct tts_fit_options *options;
    const struct tts_fit_setup *setup;
    const struct tts_fit *fit;
    struct tts_fit_change changes[TTS_FIT_CHANGES];
    size_t change_count;
    struct tts_largest largest; /* with options->has_max */
};

#define TTS_FIT_L1_REASON                                                                      \
    "the sizes of the circular buffers of each operation are not known here"

/* TTS_E_IO, TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_fit_text(const struct tts_fit_answer *answer, FILE *out,
                                           struct tts_error *err);
TTS_NODISCARD enum tts_status tts_fit_text_peak(const struct tts_fit *fit, FILE *out,
                                                struct tts_error *err);
void tts_fit_text_head(const struct tts_fit_answer *answer, FILE *out);
void tts_fit_text_verdict(const struct tts_fit_answer *answer, FILE *out);
/* "FORWARD_PASS, in sdpa of block 3". An op of NULL is none. */
void tts_fit_text_place(FILE *out, const char *phase, const char *op, int32_t layer);
void tts_fit_json(const struct tts_fit_answer *answer, struct tts_json *json);

/* One of the figures of a bank that is missing or free: 0 where there is none. */
uint64_t tts_fit_missing_bank_bytes(const struct tts_fit *fit);
/* Why a run does not fit: "refused" (by the training program), "chips", "memory" (the banks
 * have too little) or "fragmentation" (free memory is in pieces). NULL if it fits. */
const char *tts_fit_reason(const struct tts_fit_answer *answer);
