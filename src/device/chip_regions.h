/* chip_regions.h: sizes of memory regions, rounded as the runtime does. The facts that a
 * function reads must be known, and alignments and bank counts must pass tts_chip_check(). */
#pragma once

#include "device/chip_facts.h"

/* Returns the size of L1_SMALL, rounded up to the DRAM alignment. */
static inline uint64_t tts_chip_l1_small(const struct tts_chip *chip)
{
    return tts_chip_round_up(tts_chip_value(chip, TTS_FACT_L1_SMALL),
                             tts_chip_value(chip, TTS_FACT_DRAM_ALIGNMENT));
}

/* Returns the bytes of the trace region in one bank: the bank's share of the rounded region,
 * rounded up to the largest page that a trace may have. */
static inline uint64_t tts_chip_trace_of_bank(const struct tts_chip *chip)
{
    uint64_t budget = tts_chip_round_up(tts_chip_value(chip, TTS_FACT_TRACE_REGION),
                                        tts_chip_value(chip, TTS_FACT_DRAM_ALIGNMENT));
    uint64_t banks = tts_chip_value(chip, TTS_FACT_DRAM_BANKS);
    assert(banks > 0);
    return tts_chip_round_up(budget / banks + (budget % banks != 0), 8192);
}
