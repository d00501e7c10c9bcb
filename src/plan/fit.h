/* fit.h: does a training run fit a chip? Finds the memory of each phase, the parts of the peak,
 * and whether every buffer finds a place.
 *
 * The workload runs once on a device in TTS_MODE_OVERCOMMIT under a capture. If the caller asks
 * for the parts of the peak, the workload runs once more, up to the peak. All sizes are sizes
 * on one chip. docs/design/fit.md has the rules and lists what is not modelled. */
#pragma once

#include "runtime/workload.h"
#include "ttscope/capture.h"
#include "ttscope/chip.h"
#include "ttscope/failure.h"

struct tts_fit_config {
    const struct tts_chip *chip; /* borrowed for the life of the result */
    const char *record_path; /* path of a recording to write (recorder.h). NULL: no recording */
    bool parts;              /* find the parts of the peak, which takes a second run */
};

/* Buffers that live at the peak: one entry for each part, layer and operation. The largest
 * entry comes first. */
struct tts_fit_part {
    enum tts_tensor_part part;
    int32_t layer;  /* TTS_LAYER_NONE: outside the layers */
    const char *op; /* operation that allocated the buffers */
    uint64_t bytes, buffers;
};

struct tts_fit_peak {
    uint64_t bytes; /* logical bytes, as in the published summary */
    char phase[32];
    const char *op; /* operation in progress at the peak. NULL: none */
    int32_t layer;
    uint64_t allocation; /* number of allocations up to the peak, including the last one */
    /* Bytes of each part; they add up to `bytes`. Set if config.parts. */
    uint64_t part_bytes[TTS_PARTS];
    const struct tts_fit_part *parts; /* the largest groups of buffers. Set if config.parts */
    size_t part_count;
};

struct tts_fit_failure {
    struct tts_failure failure;
    char phase[32];
    const char *op;
    int32_t layer;
};

struct tts_fit_placement {
    uint64_t failures;            /* requests that found no place. 0: the workload fits */
    struct tts_fit_failure first; /* valid if failures > 0 */
    uint32_t banks;
    uint64_t bank_bytes;      /* bytes of the DRAM pool in each bank, without reserved memory */
    uint64_t peak_bank_bytes; /* peak of the rounded blocks in each bank, placed or not. More
                                 than bank_bytes: the workload does not fit. Less, with failures
                                 > 0: memory is fragmented */
    /* Free bytes of one bank at the first failure, or at the peak if there was no failure. */
    uint64_t free_bytes, largest_free_bytes;
};

/* A result. Heap object. The caller only reads it. */
struct tts_fit {
    struct tts_workload workload;
    const struct tts_chip *chip;
    struct tts_capture *capture; /* phases of the published summary; owned */
    uint64_t parameters, parameter_bytes;
    uint64_t peak_bytes;       /* peak of all iterations that were run; decides the verdict */
    uint64_t first_peak_bytes; /* peak of the first iteration, as in the summary */
    uint64_t later_peak_bytes; /* peak of the later iterations. Larger than the first peak if
                                  zeroed gradients stay */
    uint64_t final_bytes;      /* live bytes after the first iteration */
    uint64_t kept_bytes;     /* bytes that the first forward pass leaves allocated: activations,
                                token ids */
    uint64_t capacity_bytes; /* bank_bytes x banks */
    struct tts_fit_peak peak;
    struct tts_fit_placement placement;
    uint64_t events;     /* allocations and frees of all iterations */
    uint64_t iterations; /* iterations that were run, at most TTS_ITERATIONS_MAX */
    bool is_settled; /* further iterations would repeat the last one. Otherwise their memory is
                        unknown */
    /* The result is not verified to the byte: tensor or data parallel, kernel binaries,
     * clipping, or a composite optimizer. */
    bool is_estimated;
    /* private data; owned */
    void *inside;
};

/* Runs the workload and creates a result. The caller frees *out with tts_fit_free().
 *
 * TTS_E_INVALID, TTS_E_RANGE: see tts_workload_check(). TTS_E_NOT_FOUND: the DRAM of the chip
 * is unknown. TTS_E_IO: the recording cannot be written. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_fit_new(const struct tts_workload *workload,
                                          const struct tts_fit_config *config,
                                          const struct tts_alloc *alloc, struct tts_fit **out,
                                          struct tts_error *err);
void tts_fit_free(struct tts_fit *fit); /* `fit` may be NULL */

/* Returns true if the device has the chips of the run and every buffer found a place. */
bool tts_fit_fits(const struct tts_fit *fit);

/* Returns the number of chips that a run needs: tensor parallel x data parallel. Returns
 * UINT64_MAX if the product does not fit in 64 bits. */
uint64_t tts_fit_chips(const struct tts_workload *workload);
bool tts_fit_has_chips(const struct tts_workload *workload, const struct tts_chip *chip);

/* Returns whether the step of the optimizer runs as single operations, not as one kernel. */
bool tts_fit_steps_in_parts(const struct tts_workload *workload);

/* Returns the DRAM pool of a chip. TTS_E_NOT_FOUND: the chip has no DRAM, or a fact of its DRAM
 * is unknown. */
TTS_NODISCARD enum tts_status tts_fit_dram(const struct tts_chip *chip,
                                           struct tts_pool_layout *out, struct tts_error *err);
