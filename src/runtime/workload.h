/* workload.h: a training run: which model, which loop, and what runs it on a device.
 *
 * Plain values. Everything a run takes follows from the rules of docs/design/runtime.md: no
 * figure belongs to one model. A run allocates on the device what the real program would, in
 * its order; it computes nothing. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/device.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_family { TTS_FAMILY_GPT2, TTS_FAMILY_LLAMA };

/* The training program that is modelled: a generation of the code, and the loop in C++ or in
 * Python. */
enum tts_recipe {
    TTS_RECIPE_V1,        /* January 2026, the C++ loop */
    TTS_RECIPE_V1_PYTHON, /* January 2026, the Python loop */
    TTS_RECIPE_HEAD,      /* August 2026, the Python loop */
    TTS_RECIPE_HEAD_CPP,  /* August 2026, the C++ loop */
    TTS_RECIPE_MAY,       /* parallel runs of May 2026, the Python loop */
    TTS_RECIPE_MAY_CPP,   /* parallel runs of May 2026, the C++ loop */
    TTS_RECIPES,
};

enum tts_runner { TTS_RUNNER_DEFAULT, TTS_RUNNER_MEMORY_EFFICIENT };

enum tts_optimizer_kind {
    TTS_OPTIMIZER_ADAMW,                /* head: fused, bf16 m and v; v1: composite */
    TTS_OPTIMIZER_MOREH_ADAMW,          /* the same memory */
    TTS_OPTIMIZER_ADAMW_COMPOSITE,      /* of single operations */
    TTS_OPTIMIZER_ADAMW_FULL_PRECISION, /* fp32 master weights, m and v */
    TTS_OPTIMIZER_SGD,
    TTS_OPTIMIZER_NONE, /* NoOp: no state, no step */
    TTS_OPTIMIZERS,
};

struct tts_optimizer_config {
    enum tts_optimizer_kind kind;
    bool momentum; /* SGD: > 0 */
    bool amsgrad;  /* AdamW, all of them */
    bool kahan;    /* AdamW composite */
};

struct tts_model_config {
    enum tts_family family;
    uint64_t blocks;
    uint64_t width; /* embedding_dim */
    uint64_t heads;
    uint64_t groups;      /* Llama: heads of k and v; GPT2: = heads */
    uint64_t mlp_width;   /* 0: by the rule of the family (tts_model_mlp_width) */
    uint64_t sequence;    /* tokens */
    uint64_t vocabulary;  /* as the tokenizer has it; it is padded here */
    bool tied;            /* embedding and head share their weights */
    bool dropout;         /* its probability is not 0 */
    bool fixed_positions; /* GPT2: not trainable */
};

struct tts_workload {
    struct tts_model_config model;
    enum tts_recipe recipe;
    enum tts_runner runner;
    struct tts_optimizer_config optimizer;
    uint64_t batch;      /* samples of a micro step, of all chips together */
    uint64_t accumulate; /* micro steps of an iteration */
    bool clip;           /* gradients are clipped by their norm */
    uint64_t tensor_parallel, data_parallel; /* chips; 1: not */
    bool kernel_binaries; /* estimated: TTS_KERNEL_BINARY_BYTES for each distinct program */
};

enum { TTS_KERNEL_BINARY_BYTES = 14 * 1024 };

/* The fields of a workload that a configuration sets. plan/settings.h has a row for each. */
enum tts_workload_field {
    TTS_FIELD_FAMILY,
    TTS_FIELD_BLOCKS,
    TTS_FIELD_WIDTH,
    TTS_FIELD_HEADS,
    TTS_FIELD_GROUPS,
    TTS_FIELD_MLP_WIDTH,
    TTS_FIELD_SEQUENCE,
    TTS_FIELD_VOCABULARY,
    TTS_FIELD_TIED,
    TTS_FIELD_DROPOUT,
    TTS_FIELD_POSITIONS,
    TTS_FIELD_RUNNER,
    TTS_FIELD_OPTIMIZER,
    TTS_FIELD_MOMENTUM,
    TTS_FIELD_AMSGRAD,
    TTS_FIELD_KAHAN,
    TTS_FIELD_BATCH,
    TTS_FIELD_ACCUMULATE,
    TTS_FIELD_CLIP,
    TTS_FIELD_TENSOR_PARALLEL,
    TTS_FIELD_DATA_PARALLEL,
    TTS_FIELD_NONE, /* also the number of fields */
};

/* Can it be run? TTS_E_INVALID, TTS_E_RANGE (a size past 2^63 bytes): err has what is allowed,
 * without the name of the field ("must be a multiple of 32, and is 100"), *field is what is
 * wrong. */
TTS_NODISCARD enum tts_status tts_workload_check(const struct tts_workload *workload,
                                                 enum tts_workload_field *field,
                                                 struct tts_error *err);

/* The rest is for workloads that pass the check. */

/* mlp_width, or what the family has for 0: Llama 4E * 2/3 rounded up to 256, GPT2 4E. */
uint64_t tts_model_mlp_width(const struct tts_model_config *model);
/* Elements of all parameters, padded vocabulary, of the whole model (not of a chip). */
uint64_t tts_workload_parameters(const struct tts_workload *workload);
/* Bytes of all parameters as they lie on one chip: bf16, padded to tiles. */
uint64_t tts_workload_parameter_bytes(const struct tts_workload *workload);
/* The vocabulary as it is allocated: rounded up to 32, with tensor parallel to 32 x chips. */
uint64_t tts_workload_vocabulary(const struct tts_workload *workload);

/* Returns whether the recipe is of January or of May 2026, and whether its loop is in C++. */
bool tts_recipe_is_v1(enum tts_recipe recipe);
bool tts_recipe_is_may(enum tts_recipe recipe);
bool tts_recipe_is_cpp(enum tts_recipe recipe);

/* "v1", "v1-python", "head", "head-c++", "may", "may-c++"; "default", "memory_efficient"; the
 * names in the configuration files: "AdamW", "MorehAdamW", "AdamWComposite",
 * "AdamWFullPrecision", "SGD", "NoOp". */
const char *tts_recipe_name(enum tts_recipe recipe);
const char *tts_runner_name(enum tts_runner runner);
const char *tts_optimizer_name(enum tts_optimizer_kind kind);

/* ---- running ---- */

/* What a buffer is for, at the moment it is asked. */
enum tts_tensor_part {
    TTS_PART_PARAMETERS,
    TTS_PART_OPTIMIZER,
    TTS_PART_GRADIENTS,   /* of parameters */
    TTS_PART_ACTIVATIONS, /* kept from the forward pass for the backward pass */
    TTS_PART_TEMPORARIES, /* inside an operation, or gradients of activations */
    TTS_PART_INPUTS,      /* token ids and targets */
    TTS_PART_CONSTANTS,   /* mask, tables of rope, fixed positions */
    TTS_PART_KERNELS,     /* kernel binaries */
    TTS_PARTS,
};

/* "parameters", "optimizer_state", "gradients", "activations", "temporaries", "inputs",
 * "constants", "kernel_binaries". */
const char *tts_part_name(enum tts_tensor_part part);

enum { TTS_LAYER_NONE = -1 };

struct tts_part_buffer {
    uint64_t id; /* of struct tts_buffer */
    uint64_t size_bytes;
    enum tts_tensor_part part;
    int32_t layer;  /* the block, from 0, or TTS_LAYER_NONE */
    const char *op; /* that allocated it; constant text */
};

/* Told while it runs; any function may be NULL. Nobody may call the device in them. */
struct tts_workload_watch {
    void *ctx;
    /* A phase is over. Those of the published summary come in their order and end with
     * TTS_PHASE_FIRST_ITERATION; each later iteration is one phase,
     * TTS_PHASE_LATER_ITERATION and its number. Borrowed for the call. */
    void (*phase)(void *ctx, const char *name);
    /* Operations do not nest. `layer` as above. */
    void (*op_begin)(void *ctx, const char *op, int32_t layer);
    void (*op_end)(void *ctx);
    /* Buffers lie as they lay at the end of an earlier iteration: all that would follow has
     * been seen. */
    void (*settled)(void *ctx);
    /* Right after the look_at-th allocation of the run (from 1; 0: never) `look` is told of
     * every buffer that lives, the oldest first, and the run ends. */
    uint64_t look_at;
    void (*look)(void *ctx, const struct tts_part_buffer *buffer);
};

#define TTS_PHASE_FIRST_ITERATION "FIRST_ITERATION_COMPLETE"
#define TTS_PHASE_LATER_ITERATION "ITERATION_"
enum { TTS_ITERATIONS_MAX = 16, TTS_LATER_DIGITS = 20 };

/* Runs it, two iterations at least and TTS_ITERATIONS_MAX at most, until they repeat or one was
 * refused something: zeroed
 * gradients of some optimizers stay, and buffers that are replaced move. On a device that holds
 * nothing; at the end the device holds nothing again (after TTS_E_NOMEM it may, as giving back
 * may take memory). `watch` may be NULL, `alloc` NULL is the C library's. A device in
 * TTS_MODE_PLACE may refuse: then the run ends there, TTS_E_FULL. TTS_E_INVALID, TTS_E_RANGE
 * (as tts_workload_check()), TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_workload_run(const struct tts_workload *workload,
                                               struct tts_device *device,
                                               const struct tts_workload_watch *watch,
                                               const struct tts_alloc *alloc,
                                               struct tts_error *err);
