#include "views/phase_json.h"

void tts_phase_json_dram(struct tts_json *json, const struct tts_pool_usage *dram)
{
    uint64_t change = (uint64_t)dram->allocated_bytes - (uint64_t)dram->freed_bytes;
    tts_json_object(json, "dram");
    tts_json_signed(json, "segment_peak_bytes", dram->peak_bytes);
    tts_json_signed(json, "allocations_bytes", dram->allocated_bytes);
    tts_json_signed(json, "deallocations_bytes", dram->freed_bytes);
    tts_json_signed(json, "change_bytes", (int64_t)change);
    tts_json_signed(json, "cumulative_peak_bytes", dram->cumulative_peak_bytes);
    tts_json_signed(json, "cumulative_current_bytes", dram->cumulative_current_bytes);
    tts_json_object_end(json);
}

void tts_json_amount(struct tts_json *json, const char *key, struct tts_amount amount)
{
    if (amount.is_known)
        tts_json_signed(json, key, amount.bytes);
    else
        tts_json_null(json, key);
}
