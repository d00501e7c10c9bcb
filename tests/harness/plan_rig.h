/* plan_rig.h: small models and small devices for tests of planning. */
#pragma once

#include "analysis/whatif.h"
#include "analysis/whatif_search.h"
#include "harness/chip_tools.h"
#include "harness/t.h"
#include "plan/fit.h"

/* Returns a Llama model whose activations are larger than its parameters at a batch of 8. */
static inline struct tts_workload small_llama(void)
{
    return (struct tts_workload){
        .model = {.family = TTS_FAMILY_LLAMA,
                  .blocks = 3,
                  .width = 256,
                  .heads = 4,
                  .groups = 2,
                  .mlp_width = 768,
                  .sequence = 256,
                  .vocabulary = 96},
        .recipe = TTS_RECIPE_V1,
        .optimizer = {.kind = TTS_OPTIMIZER_ADAMW},
        .batch = 8,
        .accumulate = 1,
        .tensor_parallel = 1,
        .data_parallel = 1,
    };
}

/* Returns a Llama model with hardly any activations, so that almost all memory depends on the
 * parameters. */
static inline struct tts_workload wide_llama(void)
{
    struct tts_workload workload = small_llama();
    workload.model.width = 512;
    workload.model.mlp_width = 2048;
    workload.model.sequence = 64;
    workload.batch = 4;
    return workload;
}

/* Returns an n150 whose DRAM banks have `bank_bytes` bytes, rounded up to a valid bank size. */
static inline struct tts_chip chip_with(uint64_t bank_bytes)
{
    struct tts_chip chip = chip_of("n150"), out;
    T_EQ(tts_whatif_resize(&chip, (bank_bytes + 63) / 64 * 64, &out, NULL), TTS_OK);
    return out;
}

static inline struct tts_fit *fit_of(const struct tts_workload *workload,
                                     const struct tts_chip *chip)
{
    struct tts_fit *fit;
    struct tts_error err;
    const struct tts_fit_config config = {.chip = chip, .parts = true};
    if (tts_fit_new(workload, &config, NULL, &fit, &err) != TTS_OK)
        fail_msg("no fit: %s", err.text);
    return fit;
}

/* Returns the peak in each bank if memory has no limit, on a device that has as many chips as
 * `board`. */
static inline uint64_t bank_peak_on(const struct tts_workload *workload, const char *board)
{
    struct tts_chip chip = chip_of("p150");
    chip.fact[TTS_FACT_CHIPS] = chip_of(board).fact[TTS_FACT_CHIPS];
    set(&chip, "dram_banks", "12");
    set(&chip, "dram_alignment", "32");
    struct tts_fit *fit = fit_of(workload, &chip);
    T_TRUE(tts_fit_fits(fit));
    uint64_t bytes = fit->placement.peak_bank_bytes;
    tts_fit_free(fit);
    return bytes;
}

static inline uint64_t bank_peak(const struct tts_workload *workload)
{
    return bank_peak_on(workload, "n150");
}
