/* chip_regions.h: sizes of regions as the runtime rounds them. The chip must have known facts,
 * and alignments and bank counts that pass tts_chip_check(). */
#pragma once

#include "device/chip_facts.h"

/* Both sizes are rounded up to the DRAM alignment. */
static inline uint64_t tts_chip_l1_small(const struct tts_chip *chip)
{
    return tts_chip_round_up(tts_chip_value(chip, TTS_FACT_L1_SMALL),
                             tts_chip_value(chip, TTS_FACT_DRAM_ALIGNMENT));
}

/* Returns the share of one bank in the trace region, in the largest pages that a trace may
 * have. */
static inline uint64_t tts_chip_trace_of_bank(const struct tts_chip *chip)
{
    uint64_t budget = tts_chip_round_up(tts_chip_value(chip, TTS_FACT_TRACE_REGION),
                                        tts_chip_value(chip, TTS_FACT_DRAM_ALIGNMENT));
    uint64_t banks = tts_chip_value(chip, TTS_FACT_DRAM_BANKS);
    assert(banks > 0);
    return tts_chip_round_up(budget / banks + (budget % banks != 0), 8192);
}
