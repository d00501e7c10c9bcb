/* change.h: changes that make a training run fit, and the largest batch or sequence that fits.
 * Changes that make the run fit come first, then changes that help but are not enough alone.
 * Each group starts with the cheapest change. Each answer comes from runs on the device, not
 * from a formula. */
#pragma once

#include "plan/fit.h"

/* Kinds of changes, in the order of their cost. TOGETHER is outside this order. */
enum tts_fit_change_kind {
    /* Smaller batch, more micro steps: the same samples per optimizer step. */
    TTS_FIT_CHANGE_ACCUMULATE,
    TTS_FIT_CHANGE_RECOMPUTE, /* the memory_efficient runner */
    /* More chips of the device share the model, or fewer if the device has too few. */
    TTS_FIT_CHANGE_TENSOR_PARALLEL,
    TTS_FIT_CHANGE_SEQUENCE,  /* shorter sequence */
    TTS_FIT_CHANGE_OPTIMIZER, /* optimizer with less state */
    TTS_FIT_CHANGE_DEVICE,    /* device with more memory */
    TTS_FIT_CHANGE_TOGETHER,  /* two or more of: smaller batch, recompute, more chips, lighter
                                 optimizer */
    TTS_FIT_CHANGES,
};

/* Returns "accumulate", "recompute", "tensor_parallel", "sequence", "optimizer", "device" or
 * "together". */
const char *tts_fit_change_name(enum tts_fit_change_kind kind);

enum { TTS_FIT_CHANGE_TEXT_MAX = 256 };

struct tts_fit_change {
    enum tts_fit_change_kind kind;
    struct tts_workload workload; /* workload after the change */
    const char *device; /* TTS_FIT_CHANGE_DEVICE: name of the preset. Other kinds: NULL */
    uint64_t peak_bytes;
    int64_t saves_bytes;            /* reduction of the peak */
    int64_t saves_activation_bytes; /* reduction of the bytes that a forward pass keeps */
    bool fits;
    /* Options of `ttscope fit`: "--batch 2 --accumulate 4". amsgrad and kahan_summation have no
     * option: the configuration sets them, and `cost` names them. */
    char options[TTS_FIT_CHANGE_TEXT_MAX];
    char cost[TTS_FIT_CHANGE_TEXT_MAX]; /* what the change costs: "one more forward pass in
                                           every step" */
};

/* Finds changes for a run that does not fit. A run that fits gets no changes.
 *
 * ACCUMULATE and SEQUENCE hold the largest value that was found to fit, or the smallest value
 * with fits = false. TENSOR_PARALLEL holds the fewest chips that fit, or all chips of the
 * device. OPTIMIZER holds the optimizer with the least loss that fits, or the optimizer with
 * the least state. DEVICE holds the smallest preset that fits. TOGETHER always fits, and there
 * is at most one: a smaller batch with recompute, if neither is enough alone; else both with
 * all chips of the device; else both with a lighter optimizer.
 *
 * Leaves out changes without effect (the batch is 1, or the runner is memory_efficient
 * already), and changes that neither fit nor lower the peak by 1 %. *count is at most
 * TTS_FIT_CHANGES. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_fit_change_find(const struct tts_fit *fit,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_fit_change out[TTS_FIT_CHANGES],
                                                  size_t *count, struct tts_error *err);

enum { TTS_BATCHES_MAX = 256 };

/* The divisors of the batch of a workload, in ascending order. The last one is the batch
 * itself. */
struct tts_batches {
    uint64_t batch[TTS_BATCHES_MAX];
    size_t count;
};
void tts_batches_init(struct tts_batches *batches, const struct tts_workload *workload);

enum { TTS_LIGHTER_MAX = 5 };

/* Fills `out` with the optimizers that have less state than `from`. The optimizer with the
 * least loss comes first. Returns the number of optimizers. */
size_t tts_optimizer_lighter(struct tts_optimizer_config from,
                             struct tts_optimizer_config out[TTS_LIGHTER_MAX]);

/* Fills change->options and change->cost. They describe the differences between `from` and
 * change->workload, and change->device. */
void tts_fit_change_describe(const struct tts_workload *from, struct tts_fit_change *change);

enum tts_largest_kind { TTS_LARGEST_BATCH, TTS_LARGEST_SEQUENCE };

struct tts_largest {
    uint64_t value;      /* largest value that fits. 0: no value was found that fits */
    uint64_t peak_bytes; /* peak of `value`; peak of the smallest value if `value` is 0 */
    /* The next larger value, which does not fit. next = 0: every value up to TTS_LARGEST_MAX
     * fits. next_peak_bytes = UINT64_MAX: the peak is 2^63 bytes or more. */
    uint64_t next, next_peak_bytes;
};
enum { TTS_LARGEST_MAX = 1 << 20 };

/* Finds the largest batch or sequence that fits. Sequences go in steps of 32, batches in steps
 * of data_parallel. The batch or sequence of `workload` itself does not matter.
 *
 * TTS_E_INVALID: see tts_workload_check(). TTS_E_RANGE: the smallest value needs 2^63 bytes or
 * more. TTS_E_NOT_FOUND: the DRAM of the chip is unknown. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_largest_find(const struct tts_workload *workload,
                                               const struct tts_chip *chip,
                                               enum tts_largest_kind kind,
                                               const struct tts_alloc *alloc,
                                               struct tts_largest *out, struct tts_error *err);
