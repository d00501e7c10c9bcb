/* workload.h: a training run: the model, the loop, and a function that runs it on a device.
 *
 * Plain values. All figures of a run follow from the rules of docs/design/runtime.md; no figure
 * is special to a model. A run makes the allocations of the real program in the same order. It
 * computes nothing. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/device.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_family { TTS_FAMILY_GPT2, TTS_FAMILY_LLAMA };

/* The modelled training program: a generation of the code, with the loop in C++ or in
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
    TTS_OPTIMIZER_MOREH_ADAMW,          /* same memory as ADAMW */
    TTS_OPTIMIZER_ADAMW_COMPOSITE,      /* made of single operations */
    TTS_OPTIMIZER_ADAMW_FULL_PRECISION, /* fp32 master weights, m and v */
    TTS_OPTIMIZER_SGD,
    TTS_OPTIMIZER_NONE, /* NoOp: no state, no step */
    TTS_OPTIMIZERS,
};

struct tts_optimizer_config {
    enum tts_optimizer_kind kind;
    bool momentum; /* SGD: the momentum is above 0 */
    bool amsgrad;  /* all AdamW optimizers */
    bool kahan;    /* AdamW composite only */
};

struct tts_model_config {
    enum tts_family family;
    uint64_t blocks;
    uint64_t width; /* embedding_dim */
    uint64_t heads;
    uint64_t groups;      /* Llama: heads of k and v. GPT2: same as heads */
    uint64_t mlp_width;   /* 0: the rule of the family (tts_model_mlp_width) */
    uint64_t sequence;    /* tokens */
    uint64_t vocabulary;  /* vocabulary of the tokenizer; padded here */
    bool tied;            /* embedding and head share their weights */
    bool dropout;         /* the dropout probability is not 0 */
    bool fixed_positions; /* GPT2: the position table is not trainable */
};

struct tts_workload {
    struct tts_model_config model;
    enum tts_recipe recipe;
    enum tts_runner runner;
    struct tts_optimizer_config optimizer;
    uint64_t batch;                          /* samples in a micro step, over all chips */
    uint64_t accumulate;                     /* micro steps in an iteration */
    bool clip;                               /* gradients are clipped by their norm */
    uint64_t tensor_parallel, data_parallel; /* number of chips. 1: not parallel */
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

/* Checks whether a workload can be run. After a failure err states what is allowed, without the
 * name of the field ("must be a multiple of 32, but is 100"), and *field is the wrong field.
 * TTS_E_INVALID: a value is not allowed. TTS_E_RANGE: a size of 2^63 bytes or more. */
TTS_NODISCARD enum tts_status tts_workload_check(const struct tts_workload *workload,
                                                 enum tts_workload_field *field,
                                                 struct tts_error *err);

/* The functions below require a workload that passes the check. */

/* Returns mlp_width, or the rule of the family if it is 0: Llama 4E * 2/3 rounded up to 256,
 * GPT2 4E. */
uint64_t tts_model_mlp_width(const struct tts_model_config *model);
/* Returns the number of elements of all parameters of the whole model, with the padded
 * vocabulary. */
uint64_t tts_workload_parameters(const struct tts_workload *workload);
/* Returns the bytes of all parameters on one chip: bf16, padded to tiles. */
uint64_t tts_workload_parameter_bytes(const struct tts_workload *workload);
/* Returns the allocated size of the vocabulary: rounded up to a multiple of 32, or of 32 x
 * chips with tensor parallelism. */
uint64_t tts_workload_vocabulary(const struct tts_workload *workload);

/* Returns whether the recipe is of January or of May 2026, and whether its loop is in C++. */
bool tts_recipe_is_v1(enum tts_recipe recipe);
bool tts_recipe_is_may(enum tts_recipe recipe);
bool tts_recipe_is_cpp(enum tts_recipe recipe);

/* Return "v1", "v1-python", "head", "head-c++", "may" or "may-c++"; "default" or
 * "memory_efficient"; and the names in the configuration files: "AdamW", "MorehAdamW",
 * "AdamWComposite", "AdamWFullPrecision", "SGD" or "NoOp". */
const char *tts_recipe_name(enum tts_recipe recipe);
const char *tts_runner_name(enum tts_runner runner);
const char *tts_optimizer_name(enum tts_optimizer_kind kind);

/* ---- running ---- */

/* The current purpose of a buffer. */
enum tts_tensor_part {
    TTS_PART_PARAMETERS,
    TTS_PART_OPTIMIZER,
    TTS_PART_GRADIENTS,   /* gradients of parameters */
    TTS_PART_ACTIVATIONS, /* kept from the forward pass for the backward pass */
    TTS_PART_TEMPORARIES, /* buffers inside an operation, or gradients of activations */
    TTS_PART_INPUTS,      /* token ids and targets */
    TTS_PART_CONSTANTS,   /* mask, rope tables, fixed positions */
    TTS_PART_KERNELS,     /* kernel binaries */
    TTS_PARTS,
};

/* Returns "parameters", "optimizer_state", "gradients", "activations", "temporaries", "inputs",
 * "constants" or "kernel_binaries". */
const char *tts_part_name(enum tts_tensor_part part);

enum { TTS_LAYER_NONE = -1 };

struct tts_part_buffer {
    uint64_t id; /* id of struct tts_buffer */
    uint64_t size_bytes;
    enum tts_tensor_part part;
    int32_t layer;  /* layer, from 0, or TTS_LAYER_NONE */
    const char *op; /* operation that allocated the buffer; constant text */
};

/* Callbacks during a run. Each may be NULL. They must not call the device. */
struct tts_workload_watch {
    void *ctx;
    /* Called at the end of a phase. The phases of the published summary come in their order and
     * end with TTS_PHASE_FIRST_ITERATION. Each later iteration is one phase, named
     * TTS_PHASE_LATER_ITERATION and its number. `name` is borrowed for the call. */
    void (*phase)(void *ctx, const char *name);
    /* Operations do not nest. `layer` is a layer from 0, or TTS_LAYER_NONE. */
    void (*op_begin)(void *ctx, const char *op, int32_t layer);
    void (*op_end)(void *ctx);
    /* Called when all buffers have the addresses that they had at the end of an earlier
     * iteration. Further iterations would repeat. */
    void (*settled)(void *ctx);
    /* After allocation number look_at of the run (from 1; 0: never), `look` is called for each
     * live buffer, the oldest first, and the run ends. */
    uint64_t look_at;
    void (*look)(void *ctx, const struct tts_part_buffer *buffer);
};

#define TTS_PHASE_FIRST_ITERATION "FIRST_ITERATION_COMPLETE"
#define TTS_PHASE_LATER_ITERATION "ITERATION_"
enum { TTS_ITERATIONS_MAX = 16, TTS_LATER_DIGITS = 20 };

/* Runs the workload: at least two iterations and at most TTS_ITERATIONS_MAX, until they repeat
 * or a request is refused. Iterations differ because the zeroed gradients of some optimizers
 * stay and replaced buffers move. The device must be empty, and is empty again at the end
 * (except after TTS_E_NOMEM, because releasing may need memory). `watch` may be NULL. `alloc`
 * may be NULL: the C library is used.
 *
 * TTS_E_FULL: a device in TTS_MODE_PLACE refused a request; the run ends there. TTS_E_INVALID,
 * TTS_E_RANGE: see tts_workload_check(). TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_workload_run(const struct tts_workload *workload,
                                               struct tts_device *device,
                                               const struct tts_workload_watch *watch,
                                               const struct tts_alloc *alloc,
                                               struct tts_error *err);
