/* workload.h: a training run: the model, the loop, and a function that runs them on a device.
 *
 * Plain values. All figures of a run follow from the rules of docs/design/runtime.md; no rule
 * is for one model only. A run makes the same allocations as the real program, in the same
 * order. It does not compute values. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/device.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_family { TTS_FAMILY_GPT2, TTS_FAMILY_LLAMA };

/* The training program that is modelled: a state of its source code, and the loop in C++ or in
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
    TTS_OPTIMIZER_ADAMW,       /* August: fused kernel, m and v in bf16; January: composite */
    TTS_OPTIMIZER_MOREH_ADAMW, /* needs the same memory as ADAMW */
    TTS_OPTIMIZER_ADAMW_COMPOSITE,      /* made of single operations */
    TTS_OPTIMIZER_ADAMW_FULL_PRECISION, /* master weights, m and v in fp32 */
    TTS_OPTIMIZER_SGD,
    TTS_OPTIMIZER_NONE, /* NoOp: keeps no state and makes no step */
    TTS_OPTIMIZERS,
};

struct tts_optimizer_config {
    enum tts_optimizer_kind kind;
    bool momentum; /* SGD: the momentum is above 0 */
    bool amsgrad;  /* for all AdamW optimizers */
    bool kahan;    /* for the composite AdamW only */
};

struct tts_model_config {
    enum tts_family family;
    uint64_t blocks;
    uint64_t width; /* embedding_dim */
    uint64_t heads;
    uint64_t groups;      /* Llama: number of heads of k and v; GPT2: equal to heads */
    uint64_t mlp_width;   /* 0: computed by the rule of the family (tts_model_mlp_width) */
    uint64_t sequence;    /* tokens */
    uint64_t vocabulary;  /* vocabulary of the tokenizer, before padding */
    bool tied;            /* embedding and head use the same weights */
    bool dropout;         /* the dropout probability is not 0 */
    bool fixed_positions; /* GPT2: the position table is not trainable */
};

struct tts_workload {
    struct tts_model_config model;
    enum tts_recipe recipe;
    enum tts_runner runner;
    struct tts_optimizer_config optimizer;
    uint64_t batch;      /* samples of one micro step, on all chips together */
    uint64_t accumulate; /* micro steps of one iteration */
    bool clip;           /* gradients are clipped by their norm */
    uint64_t tensor_parallel, data_parallel; /* number of chips; 1: not parallel */
    bool kernel_binaries; /* count binaries, TTS_KERNEL_BINARY_BYTES (an estimate) for each
                             distinct program */
};

enum { TTS_KERNEL_BINARY_BYTES = 14 * 1024 };

/* The fields of a workload that a configuration can set. plan/settings.h has a row for each of
 * them. */
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

/* Checks whether a workload can be run. After a failure err states the rule without the name of
 * the field ("must be a multiple of 32, but is 100"), and *field is the field. TTS_E_INVALID: a
 * value is not allowed. TTS_E_RANGE: the run would need 2^63 bytes or more. */
TTS_NODISCARD enum tts_status tts_workload_check(const struct tts_workload *workload,
                                                 enum tts_workload_field *field,
                                                 struct tts_error *err);

/* The following functions require a workload that tts_workload_check() accepts. */

/* Returns mlp_width. If it is 0, returns the width by the rule of the family: 4E for GPT2, and
 * 4E * 2/3 rounded up to a multiple of 256 for Llama. */
uint64_t tts_model_mlp_width(const struct tts_model_config *model);
/* Returns the number of elements in all parameters of the whole model, including the padding of
 * the vocabulary. */
uint64_t tts_workload_parameters(const struct tts_workload *workload);
/* Returns the bytes of all parameters on one chip, in bf16 and padded to tiles. */
uint64_t tts_workload_parameter_bytes(const struct tts_workload *workload);
/* Returns the padded vocabulary: a multiple of 32, and with tensor parallelism a multiple of 32
 * * chips. */
uint64_t tts_workload_vocabulary(const struct tts_workload *workload);

/* Return true if the recipe is of January 2026, if it is of May 2026, and if its loop is in
 * C++. */
bool tts_recipe_is_v1(enum tts_recipe recipe);
bool tts_recipe_is_may(enum tts_recipe recipe);
bool tts_recipe_is_cpp(enum tts_recipe recipe);

/* Return names: "v1", "v1-python", "head", "head-c++", "may" or "may-c++" for a recipe,
 * "default" or "memory_efficient" for a runner, and for an optimizer its name in configuration
 * files ("AdamW", "MorehAdamW", "AdamWComposite", "AdamWFullPrecision", "SGD" or "NoOp"). */
const char *tts_recipe_name(enum tts_recipe recipe);
const char *tts_runner_name(enum tts_runner runner);
const char *tts_optimizer_name(enum tts_optimizer_kind kind);

/* ---- running ---- */

/* The purpose of a buffer. It may change while the buffer lives. */
enum tts_tensor_part {
    TTS_PART_PARAMETERS,
    TTS_PART_OPTIMIZER,
    TTS_PART_GRADIENTS,   /* gradients of parameters */
    TTS_PART_ACTIVATIONS, /* tensors that the forward pass keeps for the backward pass */
    TTS_PART_TEMPORARIES, /* buffers inside an operation, or gradients of activations */
    TTS_PART_INPUTS,      /* token ids and targets */
    TTS_PART_CONSTANTS,   /* mask, rope tables, fixed positions */
    TTS_PART_KERNELS,     /* kernel binaries */
    TTS_PARTS,
};

/* Returns the name of a purpose: "parameters", "optimizer_state", "gradients", "activations",
 * "temporaries", "inputs", "constants" or "kernel_binaries". */
const char *tts_part_name(enum tts_tensor_part part);

enum { TTS_LAYER_NONE = -1 };

struct tts_part_buffer {
    uint64_t id; /* the id in struct tts_buffer */
    uint64_t size_bytes;
    enum tts_tensor_part part;
    int32_t layer;  /* number of the layer, from 0, or TTS_LAYER_NONE */
    const char *op; /* operation that allocated the buffer; constant text */
};

/* Functions that are called during a run. Each may be NULL. They must not call the device. */
struct tts_workload_watch {
    void *ctx;
    /* Called at the end of a phase. First come the phases of the published summary, in their
     * order; the last of them is TTS_PHASE_FIRST_ITERATION. Then each later iteration is one
     * phase, named TTS_PHASE_LATER_ITERATION and its number. `name` is valid during the
     * call. */
    void (*phase)(void *ctx, const char *name);
    /* Called when an operation begins and ends. Operations do not nest. `layer` is a layer,
     * from 0, or TTS_LAYER_NONE. */
    void (*op_begin)(void *ctx, const char *op, int32_t layer);
    void (*op_end)(void *ctx);
    /* Called when all buffers have the same addresses as at the end of an earlier iteration.
     * Later iterations would repeat. */
    void (*settled)(void *ctx);
    /* After allocation number look_at of the run (counted from 1; 0: never), `look` is called
     * for each live buffer, the oldest first, and then the run ends. */
    uint64_t look_at;
    void (*look)(void *ctx, const struct tts_part_buffer *buffer);
};

#define TTS_PHASE_FIRST_ITERATION "FIRST_ITERATION_COMPLETE"
#define TTS_PHASE_LATER_ITERATION "ITERATION_"
enum { TTS_ITERATIONS_MAX = 16, TTS_LATER_DIGITS = 20 };

/* Runs the workload: at least two iterations and at most TTS_ITERATIONS_MAX, until the
 * iterations repeat or the device refuses a request. Iterations differ, because some optimizers
 * zero the gradients and keep their buffers, and because a buffer that is replaced gets a new
 * address. The device must be empty, and is empty again at the end (except after TTS_E_NOMEM,
 * because releasing may need memory). `watch` and `alloc` may be NULL; without `alloc` the C
 * library allocates.
 *
 * TTS_E_FULL: a device in TTS_MODE_PLACE refused a request, and the run ended there.
 * TTS_E_INVALID, TTS_E_RANGE: tts_workload_check() refuses the workload. TTS_E_NOMEM: memory
 * ran out. */
TTS_NODISCARD enum tts_status tts_workload_run(const struct tts_workload *workload,
                                               struct tts_device *device,
                                               const struct tts_workload_watch *watch,
                                               const struct tts_alloc *alloc,
                                               struct tts_error *err);
