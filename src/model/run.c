#include "model/run.h"

void tts_run_figures_dram(struct tts_amount figures[TTS_RUN_FIGURES],
                          const struct tts_pool_usage *dram)
{
    uint64_t change = (uint64_t)dram->allocated_bytes - (uint64_t)dram->freed_bytes;
    figures[TTS_RUN_SEGMENT_PEAK] = tts_amount_of(dram->peak_bytes);
    figures[TTS_RUN_ALLOCATIONS] = tts_amount_of(dram->allocated_bytes);
    figures[TTS_RUN_DEALLOCATIONS] = tts_amount_of(dram->freed_bytes);
    figures[TTS_RUN_CHANGE] = tts_amount_of((int64_t)change);
    figures[TTS_RUN_CUMULATIVE_PEAK] = tts_amount_of(dram->cumulative_peak_bytes);
    figures[TTS_RUN_CUMULATIVE_CURRENT] = tts_amount_of(dram->cumulative_current_bytes);
}
