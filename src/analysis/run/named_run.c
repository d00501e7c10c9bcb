#include "analysis/run/named_run.h"

#include "base/share.h"

enum tts_verdict tts_named_run_judge(const struct tts_named_run *run, uint32_t limit)
{
    const struct tts_trainmem *mem = run->mem;
    if (limit == 0) {
        if (!mem->has_verdict)
            return TTS_VERDICT_UNKNOWN;
        return mem->fits ? TTS_VERDICT_GOOD : TTS_VERDICT_BAD;
    }
    if (!mem->peak.is_known || !mem->device_memory.is_known || mem->device_memory.bytes <= 0)
        return TTS_VERDICT_UNKNOWN;
    int64_t most_bytes = tts_share_of(mem->device_memory.bytes, limit, false);
    if (mem->is_refused || mem->peak.bytes > most_bytes)
        return TTS_VERDICT_BAD;
    return mem->peak_at_least || tts_trainmem_may_exceed(mem, most_bytes) ? TTS_VERDICT_UNKNOWN
                                                                          : TTS_VERDICT_GOOD;
}

bool tts_named_run_has_usage(const struct tts_named_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    /* The ratio is written by long division, which multiplies a remainder below the device
     * memory by 10. The product must fit in 64 bits. */
    return mem->peak.is_known && mem->device_memory.is_known && mem->device_memory.bytes > 0 &&
           (uint64_t)mem->device_memory.bytes <= UINT64_MAX / 10;
}

const char *tts_named_run_peak_phase(const struct tts_named_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    if (mem->peak_is_later)
        return run->run->whole.phase;
    return mem->has_peak_phase ? run->run->phases[mem->peak_phase].name : NULL;
}
