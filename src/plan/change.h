/* change.h: what to change so that a training run fits: first the changes that make it fit,
 * then those that are not enough alone, each group the cheapest first; and the largest batch or
 * sequence that fits. Each answer comes from runs on the device, not from a formula. */
#pragma once

#include "plan/fit.h"

/* In this order of cost, but for the last. */
enum tts_fit_change_kind {
    TTS_FIT_CHANGE_ACCUMULATE, /* a smaller batch, more micro steps: the same samples per step
                                */
    TTS_FIT_CHANGE_RECOMPUTE,  /* the memory_efficient runner */
    TTS_FIT_CHANGE_TENSOR_PARALLEL, /* more chips of the device share the model, or fewer if it
                                       does not have as many */
    TTS_FIT_CHANGE_SEQUENCE,        /* a shorter one */
    TTS_FIT_CHANGE_OPTIMIZER,       /* with less state */
    TTS_FIT_CHANGE_DEVICE,          /* with more memory */
    TTS_FIT_CHANGE_TOGETHER, /* a smaller batch, recompute, more chips, less state: two or more
                              */
    TTS_FIT_CHANGES,
};

/* "accumulate", "recompute", "tensor_parallel", "sequence", "optimizer", "device", "together".
 */
const char *tts_fit_change_name(enum tts_fit_change_kind kind);

enum { TTS_FIT_CHANGE_TEXT_MAX = 256 };

struct tts_fit_change {
    enum tts_fit_change_kind kind;
    struct tts_workload workload; /* with the change */
    const char *device;           /* TTS_FIT_CHANGE_DEVICE: the preset; else NULL */
    uint64_t peak_bytes;
    int64_t saves_bytes;            /* of the peak */
    int64_t saves_activation_bytes; /* of what a forward pass keeps */
    bool fits;
    /* Of `ttscope fit`: "--batch 2 --accumulate 4". amsgrad and kahan_summation have none: the
     * configuration says them, and the cost names them. */
    char options[TTS_FIT_CHANGE_TEXT_MAX];
    char cost[TTS_FIT_CHANGE_TEXT_MAX]; /* "one more forward pass in every step" */
};

/* Finds the changes for a run that does not fit; none for a run that does. Changes that fit
 * come first. ACCUMULATE and SEQUENCE are the largest that was found to fit, or the smallest
 * there is with fits = false; TENSOR_PARALLEL is the fewest chips that fit, or the most the
 * device has; OPTIMIZER is the one of the least loss that fits, or the one with the least
 * state; DEVICE is the smallest preset that fits. A change that changes nothing (batch 1, the
 * runner is memory_efficient) is left out, and so is one that neither fits nor lowers the peak
 * by 1 %. TOGETHER always fits, and there is at most one: a smaller batch and recompute if
 * neither is enough; else these with all chips of the device; else these with a lighter
 * optimizer. *count is at most TTS_FIT_CHANGES. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_fit_change_find(const struct tts_fit *fit,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_fit_change out[TTS_FIT_CHANGES],
                                                  size_t *count, struct tts_error *err);

enum { TTS_BATCHES_MAX = 256 };

/* The batches that divide the batch of a workload. The smallest is first, the batch of the
 * workload is last. */
struct tts_batches {
    uint64_t batch[TTS_BATCHES_MAX];
    size_t count;
};
void tts_batches_init(struct tts_batches *batches, const struct tts_workload *workload);

enum { TTS_LIGHTER_MAX = 5 };

/* Fills `out` with the optimizers that have less state than `from`, the least loss first.
 * Returns their number. */
size_t tts_optimizer_lighter(struct tts_optimizer_config from,
                             struct tts_optimizer_config out[TTS_LIGHTER_MAX]);

/* Fills the options and the cost of a change: the differences between `from` and
 * change->workload, and change->device. */
void tts_fit_change_describe(const struct tts_workload *from, struct tts_fit_change *change);

enum tts_largest_kind { TTS_LARGEST_BATCH, TTS_LARGEST_SEQUENCE };

struct tts_largest {
    uint64_t value;      /* 0: none was found that fits */
    uint64_t peak_bytes; /* with it; with the smallest when value is 0 */
    /* The next larger one, which does not fit; 0: there is none below TTS_LARGEST_MAX.
     * UINT64_MAX bytes: past 2^63. */
    uint64_t next, next_peak_bytes;
};
enum { TTS_LARGEST_MAX = 1 << 20 };

/* Sequences go in steps of 32, batches in steps of data_parallel; what the workload has there
 * does not count. TTS_E_INVALID: as tts_workload_check(). TTS_E_RANGE: the smallest is past
 * 2^63 bytes. TTS_E_NOT_FOUND: the chip has no DRAM that is known. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_largest_find(const struct tts_workload *workload,
                                               const struct tts_chip *chip,
                                               enum tts_largest_kind kind,
                                               const struct tts_alloc *alloc,
                                               struct tts_largest *out, struct tts_error *err);
