/* chip_regions.h: sizes of regions as the runtime rounds them. The chip must have passed
 * tts_chip_check() as far as alignments and bank counts go, and know the facts. */
#pragma once

#include "device/chip_facts.h"

/* Both budgets count in whole units of the DRAM alignment. */
static inline uint64_t tts_chip_l1_small(const struct tts_chip *chip)
{
    return tts_chip_round_up(tts_chip_value(chip, TTS_FACT_L1_SMALL),
                             tts_chip_value(chip, TTS_FACT_DRAM_ALIGNMENT));
}

/* A bank's share of the trace region, in the largest pages that a trace may have. */
static inline uint64_t tts_chip_trace_of_bank(const struct tts_chip *chip)
{
    uint64_t budget = tts_chip_round_up(tts_chip_value(chip, TTS_FACT_TRACE_REGION),
                                        tts_chip_value(chip, TTS_FACT_DRAM_ALIGNMENT));
    uint64_t banks = tts_chip_value(chip, TTS_FACT_DRAM_BANKS);
    assert(banks > 0);
    return tts_chip_round_up(budget / banks + (budget % banks != 0), 8192);
}
