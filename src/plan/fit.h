/* fit.h: does a training run fit a chip: what every phase takes, what the peak is made of, and
 * whether every buffer finds a place.
 *
 * The workload runs once on a device in TTS_MODE_OVERCOMMIT under a capture, and, when asked
 * for, once more up to the peak, to see what lives there. All sizes are of one chip. The rules
 * and what is left out are in docs/design/fit.md. */
#pragma once

#include "runtime/workload.h"
#include "ttscope/capture.h"
#include "ttscope/chip.h"
#include "ttscope/failure.h"

struct tts_fit_config {
    const struct tts_chip *chip; /* borrowed for the life of the result */
    const char *record_path;     /* NULL: no recording; a file of events (recorder.h) */
    bool parts;                  /* what the peak is made of: a second run */
};

/* What lives at the peak, one entry for each part, layer and operation; the largest first. */
struct tts_fit_part {
    enum tts_tensor_part part;
    int32_t layer;  /* TTS_LAYER_NONE: outside the blocks */
    const char *op; /* that allocated it */
    uint64_t bytes, buffers;
};

struct tts_fit_peak {
    uint64_t bytes; /* logical, as the published summary counts */
    char phase[32];
    const char *op; /* under way then; NULL: none */
    int32_t layer;
    uint64_t allocation;              /* how many there had been, this one included */
    uint64_t part_bytes[TTS_PARTS];   /* add up to bytes; with config.parts */
    const struct tts_fit_part *parts; /* with config.parts */
    size_t part_count;
};

struct tts_fit_failure {
    struct tts_failure failure;
    char phase[32];
    const char *op;
    int32_t layer;
};

struct tts_fit_placement {
    uint64_t failures;            /* requests that found no place; 0: it fits */
    struct tts_fit_failure first; /* failures > 0 */
    uint32_t banks;
    uint64_t bank_bytes;      /* of the DRAM pool, in every bank: what is reserved is off */
    uint64_t peak_bank_bytes; /* the most that every bank had to give, rounded blocks, placed
                               * and not: over bank_bytes when it does not fit, or under it
                               * with failures > 0: then it is fragmentation */
    /* At the first failure, or at the peak: of one bank. */
    uint64_t free_bytes, largest_free_bytes;
};

/* A result. Heap object; read only. */
struct tts_fit {
    struct tts_workload workload;
    const struct tts_chip *chip;
    struct tts_capture *capture; /* the phases of the published summary; owned */
    uint64_t parameters, parameter_bytes;
    uint64_t peak_bytes;       /* of all that was run: the verdict's */
    uint64_t first_peak_bytes; /* of the first iteration: as the summary has it */
    uint64_t later_peak_bytes; /* of later ones: more where zeroed gradients stay */
    uint64_t final_bytes;      /* after the first iteration */
    uint64_t kept_bytes;     /* that the first forward pass adds and leaves: activations, ids */
    uint64_t capacity_bytes; /* bank_bytes x banks */
    struct tts_fit_peak peak;
    struct tts_fit_placement placement;
    uint64_t events;     /* allocations and frees of all iterations */
    uint64_t iterations; /* that were run, TTS_ITERATIONS_MAX at most */
    bool is_settled;     /* those behind would do the same; else nothing is known of them */
    /* Not checked to the byte: tensor or data parallel, kernel binaries, clipping, a composite
     * optimizer. */
    bool is_estimated;
    /* owned */
    void *inside;
};

/* TTS_E_INVALID, TTS_E_RANGE: as tts_workload_check(). TTS_E_NOT_FOUND: the chip has no DRAM
 * that is known. TTS_E_IO: the recording. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_fit_new(const struct tts_workload *workload,
                                          const struct tts_fit_config *config,
                                          const struct tts_alloc *alloc, struct tts_fit **out,
                                          struct tts_error *err);
void tts_fit_free(struct tts_fit *fit); /* NULL is fine */

/* Returns true if the device has the chips of the run and every buffer found a place. */
bool tts_fit_fits(const struct tts_fit *fit);

/* Returns the number of chips that a run needs, tensor parallel x data parallel; UINT64_MAX if
 * the product passes 64 bits. */
uint64_t tts_fit_chips(const struct tts_workload *workload);
bool tts_fit_has_chips(const struct tts_workload *workload, const struct tts_chip *chip);

/* Is its optimizer one of single operations? */
bool tts_fit_steps_in_parts(const struct tts_workload *workload);

/* Returns the DRAM pool of a chip. TTS_E_NOT_FOUND: the chip has no DRAM, or a fact of its DRAM
 * is unknown. */
TTS_NODISCARD enum tts_status tts_fit_dram(const struct tts_chip *chip,
                                           struct tts_pool_layout *out, struct tts_error *err);
