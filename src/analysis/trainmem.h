/* trainmem.h: analyses the printed summary of a training run: sizes compared with theory, the
 * parts of the peak, and whether the run fits. A pure function of a run. The rules are in
 * docs/design/analyze.md. All sizes are of one device. */
#pragma once

#include "model/run.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(NAME, name, bytes): size of a parameter. */
#define TTS_TRAIN_DTYPE_MAP(X) X(BF16, "bf16", 2) X(FP32, "fp32", 4)

enum tts_train_dtype {
#define X(name, text, bytes) TTS_TRAIN_DTYPE_##name,
    TTS_TRAIN_DTYPE_MAP(X)
#undef X
        TTS_TRAIN_DTYPES
};

/* Optimizers by the name that the training program uses. The state of AdamWFullPrecision is
 * always fp32; the state of all others has the type of the parameters. */
enum tts_train_optimizer {
    TTS_TRAIN_ADAMW,
    TTS_TRAIN_MOREH_ADAMW,
    TTS_TRAIN_ADAMW_COMPOSITE,
    TTS_TRAIN_ADAMW_KAHAN, /* AdamWComposite with Kahan summation */
    TTS_TRAIN_ADAMW_FULL_PRECISION,
    TTS_TRAIN_SGD, /* without momentum: no state */
    TTS_TRAIN_SGD_MOMENTUM,
    TTS_TRAIN_SGD_COMPOSITE,
    TTS_TRAIN_MUON,
    TTS_TRAIN_NO_OP,
    TTS_TRAIN_OPTIMIZERS
};

const char *tts_train_dtype_name(enum tts_train_dtype dtype);
/* Return the name as the program prints it, such as "AdamW", and the optimizer of a name.
 * `find` ignores case, dashes and underscores, and returns false if the name is not known. */
const char *tts_train_optimizer_name(enum tts_train_optimizer optimizer);
bool tts_train_optimizer_find(const char *text, enum tts_train_optimizer *out);

/* Returns the part of the memory that a phase is about. Ignores "_micro_3" and "__000042" at
 * the end of its name. */
enum tts_run_part tts_train_part_of(const char *phase_name);

/* The origin of a number. */
enum tts_train_source {
    TTS_TRAIN_FROM_NOWHERE, /* not known */
    TTS_TRAIN_FROM_OPTION,
    TTS_TRAIN_FROM_DEVICE, /* from the catalogue, by --device */
    TTS_TRAIN_FROM_LOG,
    TTS_TRAIN_ASSUMED, /* the published default */
};

/* Why measured sizes are used although expected sizes were asked for. */
enum tts_train_force {
    TTS_TRAIN_FORCE_NONE,
    TTS_TRAIN_FORCE_UNKNOWN,  /* an expected size is not known */
    TTS_TRAIN_FORCE_MAKING,   /* the peak is in the phase that creates the part */
    TTS_TRAIN_FORCE_TOO_MUCH, /* the expected sizes exceed the peak */
};

/* Options of the user; all zero: none. */
struct tts_trainmem_options {
    struct tts_amount device_memory;            /* of one device */
    enum tts_train_source device_memory_source; /* FROM_OPTION or FROM_DEVICE */
    char device[TTS_RUN_WORD_MAX];              /* FROM_DEVICE: name of the preset */
    struct tts_amount model, optimizer, gradients;
    bool has_dtype, has_optimizer, use_actual_sizes;
    enum tts_train_dtype dtype;
    enum tts_train_optimizer optimizer_kind;
};

struct tts_train_size {
    struct tts_amount actual;
    struct tts_amount expected;
    enum tts_train_source source; /* origin of `expected` */
};

struct tts_trainmem {
    struct tts_train_size model, optimizer, gradients;
    enum tts_train_dtype dtype;              /* expected type of the parameters */
    enum tts_train_optimizer optimizer_kind; /* expected optimizer */
    enum tts_train_source dtype_source, optimizer_source;
    /* What the forward passes kept: the maximum at one time, as a backward pass frees it; and
     * the sum over all forward passes, which never existed at one time if there are several. */
    struct tts_amount activations, activations_sum;
    uint32_t forward_passes, backward_passes;
    /* The peak: as printed at the end, or a larger one that a phase reached. */
    struct tts_amount peak;
    bool peak_at_least; /* the run is incomplete: the real peak may be larger */
    bool peak_is_whole; /* the peak is the one of all iterations, from run->whole */
    bool peak_is_later; /* no phase reached the peak; it is in run->whole.phase */
    /* The log covers the first iteration only, and the optimizer needs more in later ones. */
    bool covers_first;
    struct tts_amount later_more; /* upper bound of the additional memory; may be unknown */
    bool has_peak_phase;          /* peak_phase is the first phase that reached the peak */
    size_t peak_phase;
    struct tts_amount final; /* as printed at the end, else the last Cumulative Current */
    /* Memory of one device. */
    struct tts_amount device_memory;
    enum tts_train_source device_memory_source;
    /* FROM_LOG: number of devices the printed size was divided by; else 0. */
    uint32_t log_devices;
    /* Whether the run fits: as run->whole states for this memory, else peak <= device_memory.
     * There is no verdict if the peak fits but is a lower bound, or if later iterations may
     * need more than is left. */
    bool has_verdict, fits;
    bool is_refused; /* the run states that it does not fit, although the peak does */
    /* Parts of the peak. They add up to the peak exactly; no part is negative. */
    bool has_parts;
    bool parts_are_stated; /* run->whole states the parts; parts_are_actual is also set */
    bool parts_are_actual; /* measured sizes, not expected ones */
    /* Why expected sizes, which were asked for, are not used. */
    enum tts_train_force parts_forced;
    int64_t parts[TTS_RUN_PARTS];
};

void tts_trainmem_of(const struct tts_run *run, const struct tts_trainmem_options *options,
                     struct tts_trainmem *out);

/* Returns true if the peak of later iterations, which the log does not cover, may exceed
 * `bytes`. */
bool tts_trainmem_may_exceed(const struct tts_trainmem *mem, int64_t bytes);

/* Sets *out to (actual - expected) / expected in hundredths of a percent, rounded; 0 if 0 is
 * expected. Returns false if a size is not known. */
bool tts_train_difference(const struct tts_train_size *size, int64_t *out);
