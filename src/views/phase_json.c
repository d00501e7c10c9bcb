#include "views/phase_json.h"

static void put_phase_figures(struct tts_json *json, const struct tts_amount *figures,
                              int begin, int end)
{
    static const char *const names[] = {
#define X(name, key) key "_bytes",
        TTS_RUN_FIGURE_MAP(X)
#undef X
    };
    for (int i = begin; i < end; i++)
        tts_json_amount(json, names[i], figures[i]);
}

void tts_phase_json_dram(struct tts_json *json, const struct tts_pool_usage *dram)
{
    struct tts_amount figures[TTS_RUN_FIGURES] = {0};
    tts_run_figures_dram(figures, dram);
    tts_json_object(json, "dram");
    put_phase_figures(json, figures, 0, TTS_RUN_L1_CB);
    tts_json_object_end(json);
}

void tts_phase_json_l1_begin(struct tts_json *json,
                             const struct tts_amount figures[TTS_RUN_FIGURES])
{
    tts_json_object(json, "l1");
    put_phase_figures(json, figures, TTS_RUN_L1_CB, TTS_RUN_FIGURES);
}

void tts_phase_json(struct tts_json *json, const struct tts_run_phase *phase, bool tracks_l1)
{
    static const struct tts_amount unknown[TTS_RUN_FIGURES];
    tts_json_object(json, NULL);
    tts_json_text(json, "name", phase->name);
    tts_json_number_or_null(json, "line", phase->line > 0, phase->line);
    tts_json_object(json, "dram");
    put_phase_figures(json, phase->figures, 0, TTS_RUN_L1_CB);
    tts_json_object_end(json);
    tts_phase_json_l1_begin(json, tracks_l1 ? phase->figures : unknown);
    tts_json_object_end(json);
    tts_json_object_end(json);
}

void tts_json_amount(struct tts_json *json, const char *key, struct tts_amount amount)
{
    if (amount.is_known)
        tts_json_signed(json, key, amount.bytes);
    else
        tts_json_null(json, key);
}
