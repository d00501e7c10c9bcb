/* trainmem.h: analyses the printed summary of a training run: sizes compared with theory, the
 * parts of the peak, and whether the run fits. The result depends only on the run and the
 * options. The rules are in docs/design/analyze.md. All sizes are sizes of one device. */
#pragma once

#include "model/run.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types of parameters: X(NAME, name, bytes of one parameter). */
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
    TTS_TRAIN_ADAMW_KAHAN, /* named AdamWComposite, with Kahan summation */
    TTS_TRAIN_ADAMW_FULL_PRECISION,
    TTS_TRAIN_SGD, /* SGD without momentum, which has no state */
    TTS_TRAIN_SGD_MOMENTUM,
    TTS_TRAIN_SGD_COMPOSITE,
    TTS_TRAIN_MUON,
    TTS_TRAIN_NO_OP,
    TTS_TRAIN_OPTIMIZERS
};

const char *tts_train_dtype_name(enum tts_train_dtype dtype);
/* tts_train_optimizer_name() returns the name as the program prints it, such as "AdamW".
 * tts_train_optimizer_find() finds the optimizer with a name. It ignores case, dashes and
 * underscores, and returns false if the name is unknown. */
const char *tts_train_optimizer_name(enum tts_train_optimizer optimizer);
bool tts_train_optimizer_find(const char *text, enum tts_train_optimizer *out);

/* Returns the part of the memory that a phase changes. Ignores suffixes such as "_micro_3" and
 * "__000042" of the name. */
enum tts_run_part tts_train_part_of(const char *phase_name);

/* The origin of a number in the analysis. */
enum tts_train_source {
    TTS_TRAIN_FROM_NOWHERE, /* the number is unknown */
    TTS_TRAIN_FROM_OPTION,
    TTS_TRAIN_FROM_DEVICE, /* from the catalogue of chips, for the device that the user named */
    TTS_TRAIN_FROM_LOG,
    TTS_TRAIN_ASSUMED, /* the default of the published script */
};

/* Returns the word for an origin in JSON and CSV; NULL for TTS_TRAIN_FROM_NOWHERE. */
const char *tts_train_source_name(enum tts_train_source source);

/* Why measured sizes are used although expected sizes were asked for. */
enum tts_train_force {
    TTS_TRAIN_FORCE_NONE,
    TTS_TRAIN_FORCE_UNKNOWN, /* an expected size is unknown */
    /* The peak is in the phase that creates the model or the optimizer. */
    TTS_TRAIN_FORCE_MAKING,
    TTS_TRAIN_FORCE_TOO_MUCH, /* the sum of the expected sizes exceeds the peak */
};

/* Options of the user. A struct of zeros means that there are none. */
struct tts_trainmem_options {
    struct tts_amount device_memory; /* memory of one device */
    /* TTS_TRAIN_FROM_OPTION or TTS_TRAIN_FROM_DEVICE. */
    enum tts_train_source device_memory_source;
    /* Name of the preset, for TTS_TRAIN_FROM_DEVICE. */
    char device[TTS_RUN_WORD_MAX];
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
    /* Type of the parameters, for the expected sizes. */
    enum tts_train_dtype dtype;
    enum tts_train_optimizer optimizer_kind; /* optimizer, for the expected sizes */
    enum tts_train_source dtype_source, optimizer_source;
    /* The memory that forward passes leave in use. `activations` is the maximum at one time: a
     * backward pass frees the activations. `activations_sum` is the sum over all forward
     * passes. If there are several, the sum was never in use at one time. */
    struct tts_amount activations, activations_sum;
    uint32_t forward_passes, backward_passes;
    /* The peak: the peak that the log prints at the end, or the peak of a phase if it is
     * larger. */
    struct tts_amount peak;
    bool peak_at_least; /* the run is incomplete: the real peak may be larger */
    bool peak_is_whole; /* the peak is the peak over all iterations, from run->whole */
    /* No phase of the log reaches the peak; run->whole.phase names its phase. */
    bool peak_is_later;
    /* The log covers only the first iteration, and the optimizer needs more memory in later
     * iterations. */
    bool covers_first;
    /* Upper bound of the additional memory of later iterations; may be unknown. */
    struct tts_amount later_more;
    bool has_peak_phase; /* peak_phase is the first phase that reached the peak */
    size_t peak_phase;
    /* Memory at the end as the log prints it; otherwise the last "Cumulative Current" of a
     * phase. */
    struct tts_amount final;
    /* Memory of one device. */
    struct tts_amount device_memory;
    enum tts_train_source device_memory_source;
    /* For TTS_TRAIN_FROM_LOG: number of devices that the printed memory belongs to. Otherwise
     * 0. */
    uint32_t log_devices;
    /* Whether there is a verdict, and whether the run fits. If run->whole states whether the
     * run fits this memory, that is the verdict. Otherwise the run fits if peak <=
     * device_memory. There is no verdict if the peak fits but is a lower bound, or if later
     * iterations may need more than is left. */
    bool has_verdict, fits;
    bool is_refused; /* the run states that it does not fit, although its peak fits */
    /* Parts of the peak. Their sum is exactly the peak, and no part is negative. */
    bool has_parts;
    bool parts_are_stated; /* run->whole states the parts; parts_are_actual is also set */
    bool parts_are_actual; /* the parts are measured sizes, not expected sizes */
    /* Why the parts are not expected sizes, although the user asked for expected sizes. */
    enum tts_train_force parts_forced;
    int64_t parts[TTS_RUN_PARTS];
};
/* Returns the origin of the parts of the peak: "predicted", "actual" or "expected". */
const char *tts_train_sizes_name(const struct tts_trainmem *mem);

void tts_trainmem_of(const struct tts_run *run, const struct tts_trainmem_options *options,
                     struct tts_trainmem *out);

/* Returns true if the log does not cover later iterations and their peak may exceed `bytes`. */
bool tts_trainmem_may_exceed(const struct tts_trainmem *mem, int64_t bytes);

/* Sets *out to (actual - expected) / expected in hundredths of a percent, rounded. Sets *out to
 * 0 if the expected size is 0. Returns false if one of the sizes is unknown. */
bool tts_train_difference(const struct tts_train_size *size, int64_t *out);
