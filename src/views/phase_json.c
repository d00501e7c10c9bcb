#include "views/phase_json.h"

static void put_figures(struct tts_json *json, const char *key,
                        const struct tts_amount figures[TTS_RUN_FIGURES], int begin, int end)
{
    static const char *const names[] = {
#define X(name, key) key "_bytes",
        TTS_RUN_FIGURE_MAP(X)
#undef X
    };
    tts_json_object(json, key);
    for (int i = begin; i < end; i++)
        tts_json_amount(json, names[i], figures[i]);
    tts_json_object_end(json);
}

void tts_phase_json_dram(struct tts_json *json, const struct tts_pool_usage *dram)
{
    uint64_t change = (uint64_t)dram->allocated_bytes - (uint64_t)dram->freed_bytes;
    const struct tts_amount figures[TTS_RUN_FIGURES] = {
        [TTS_RUN_SEGMENT_PEAK] = tts_amount_of(dram->peak_bytes),
        [TTS_RUN_ALLOCATIONS] = tts_amount_of(dram->allocated_bytes),
        [TTS_RUN_DEALLOCATIONS] = tts_amount_of(dram->freed_bytes),
        [TTS_RUN_CHANGE] = tts_amount_of((int64_t)change),
        [TTS_RUN_CUMULATIVE_PEAK] = tts_amount_of(dram->cumulative_peak_bytes),
        [TTS_RUN_CUMULATIVE_CURRENT] = tts_amount_of(dram->cumulative_current_bytes),
    };
    put_figures(json, "dram", figures, 0, TTS_RUN_L1_CB);
}

void tts_phase_json(struct tts_json *json, const struct tts_run_phase *phase, bool tracks_l1)
{
    static const struct tts_amount unknown[TTS_RUN_FIGURES];
    tts_json_object(json, NULL);
    tts_json_text(json, "name", phase->name);
    if (phase->line > 0)
        tts_json_number(json, "line", phase->line);
    else
        tts_json_null(json, "line");
    put_figures(json, "dram", phase->figures, 0, TTS_RUN_L1_CB);
    put_figures(json, "l1", tracks_l1 ? phase->figures : unknown, TTS_RUN_L1_CB,
                TTS_RUN_FIGURES);
    tts_json_object_end(json);
}

void tts_json_amount(struct tts_json *json, const char *key, struct tts_amount amount)
{
    if (amount.is_known)
        tts_json_signed(json, key, amount.bytes);
    else
        tts_json_null(json, key);
}
