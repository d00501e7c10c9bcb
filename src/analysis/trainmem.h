/* trainmem.h: what a training run's printed summary says: sizes against theory, where the peak
 * went, and whether it fits. A pure function of a run; the rules are in docs/design/analyze.md.
 * All sizes are of one device. */
#pragma once

#include "model/run.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(NAME, name, bytes): what a parameter takes. */
#define TTS_TRAIN_DTYPE_MAP(X) X(BF16, "bf16", 2) X(FP32, "fp32", 4)

enum tts_train_dtype {
#define X(name, text, bytes) TTS_TRAIN_DTYPE_##name,
    TTS_TRAIN_DTYPE_MAP(X)
#undef X
        TTS_TRAIN_DTYPES
};

/* What an optimizer keeps for a parameter, as the training program names it. The state of
 * AdamWFullPrecision is in fp32 whatever the parameters are; all others' is as wide as them. */
enum tts_train_optimizer {
    TTS_TRAIN_ADAMW,
    TTS_TRAIN_MOREH_ADAMW,
    TTS_TRAIN_ADAMW_COMPOSITE,
    TTS_TRAIN_ADAMW_KAHAN, /* the composite one with Kahan summation */
    TTS_TRAIN_ADAMW_FULL_PRECISION,
    TTS_TRAIN_SGD, /* without momentum: nothing */
    TTS_TRAIN_SGD_MOMENTUM,
    TTS_TRAIN_SGD_COMPOSITE,
    TTS_TRAIN_MUON,
    TTS_TRAIN_NO_OP,
    TTS_TRAIN_OPTIMIZERS
};

const char *tts_train_dtype_name(enum tts_train_dtype dtype);
/* As the program prints it: "AdamW", "SGD". `find` takes it in any case, with dashes,
 * underscores or neither. False: not known. */
const char *tts_train_optimizer_name(enum tts_train_optimizer optimizer);
bool tts_train_optimizer_find(const char *text, enum tts_train_optimizer *out);

/* Returns the part of the memory that a phase is about, by its label without "_micro_3" and
 * "__000042". */
enum tts_run_part tts_train_part_of(const char *phase_name);

/* Where a number comes from. */
enum tts_train_source {
    TTS_TRAIN_FROM_NOWHERE, /* it is not known */
    TTS_TRAIN_FROM_OPTION,
    TTS_TRAIN_FROM_DEVICE, /* --device: the catalogue */
    TTS_TRAIN_FROM_LOG,
    TTS_TRAIN_ASSUMED, /* the published default */
};

/* Why measured sizes stand where those expected were asked for. */
enum tts_train_force {
    TTS_TRAIN_FORCE_NONE,
    TTS_TRAIN_FORCE_UNKNOWN,  /* one that is expected is not known */
    TTS_TRAIN_FORCE_MAKING,   /* the peak lies in the phase that makes it */
    TTS_TRAIN_FORCE_TOO_MUCH, /* they would be more than the peak */
};

/* What was asked for; all zero is nothing. */
struct tts_trainmem_options {
    struct tts_amount device_memory;            /* of one device */
    enum tts_train_source device_memory_source; /* FROM_OPTION or FROM_DEVICE */
    char device[TTS_RUN_WORD_MAX];              /* FROM_DEVICE: the name of the preset */
    struct tts_amount model, optimizer, gradients;
    bool has_dtype, has_optimizer, use_actual_sizes;
    enum tts_train_dtype dtype;
    enum tts_train_optimizer optimizer_kind;
};

struct tts_train_size {
    struct tts_amount actual;
    struct tts_amount expected;
    enum tts_train_source source; /* of what is expected */
};

struct tts_trainmem {
    struct tts_train_size model, optimizer, gradients;
    enum tts_train_dtype dtype;              /* the parameters', as expected */
    enum tts_train_optimizer optimizer_kind; /* as expected */
    enum tts_train_source dtype_source, optimizer_source;
    /* What the forward passes kept: the most that was there at once, as a backward pass frees
     * what its forward pass kept; and added up over all of them, which was never there at once
     * if there are several. */
    struct tts_amount activations, activations_sum;
    uint32_t forward_passes, backward_passes;
    /* The peak: as printed at the end, or what a phase reached, if that is more. */
    struct tts_amount peak;
    bool peak_at_least; /* something is missing of the run: there may have been more */
    bool peak_is_whole; /* run->whole states the peak, over all iterations */
    bool peak_is_later; /* and no phase reached it: it is in run->whole.phase */
    /* The log covers the first iteration, and the optimizer is known to need more later. */
    bool covers_first;
    struct tts_amount later_more; /* then: how much more, at most; may be unknown */
    bool has_peak_phase;          /* the first phase that reached it */
    size_t peak_phase;
    struct tts_amount final; /* as printed at the end, else the last cumulative current */
    /* Of one device. */
    struct tts_amount device_memory;
    enum tts_train_source device_memory_source;
    uint32_t log_devices; /* FROM_LOG: the printed size was divided by so many; else 0 */
    /* Fits: as run->whole states for this much memory, else peak <= device_memory. Not known
     * where the peak is at least so much, and below, nor where later iterations may need more
     * than is left. */
    bool has_verdict, fits;
    bool is_refused; /* the run states that it does not fit, although the peak would */
    /* What the peak is made of: adds up to it exactly, and no part is negative. */
    bool has_parts;
    bool parts_are_stated;             /* run->whole states them; then they are also actual */
    bool parts_are_actual;             /* the sizes measured, not those expected */
    enum tts_train_force parts_forced; /* and that was not asked for */
    int64_t parts[TTS_RUN_PARTS];
};

void tts_trainmem_of(const struct tts_run *run, const struct tts_trainmem_options *options,
                     struct tts_trainmem *out);

/* Returns whether the peak of later iterations, which the log does not cover, may be above
 * `bytes`. */
bool tts_trainmem_may_exceed(const struct tts_trainmem *mem, int64_t bytes);

/* (actual - expected) / expected in hundredths of a percent, rounded; 0 where nothing is
 * expected. False: one of them is not known. */
bool tts_train_difference(const struct tts_train_size *size, int64_t *out);
