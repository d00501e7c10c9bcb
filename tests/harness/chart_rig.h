/* chart_rig.h: training runs with figures that a test sets, for tests of charts. */
#pragma once

#include "views/chart/memcharts.h"

#include <stdio.h>
#include <string.h>

enum { CHART_PHASES_MAX = 4096 };

/* Converts hundredths of a MB, as logs print them, to the nearest number of bytes. */
static inline int64_t chart_mb(int64_t hundredths)
{
    int64_t scaled = hundredths * 1048576;
    return (scaled + (scaled < 0 ? -50 : 50)) / 100;
}

struct chart_run {
    struct tts_run run;
    struct tts_trainmem mem;
    struct tts_run_phase phases[8];
};

/* Sets the parts of the peak, in the order of enum tts_run_part, and the peak to their sum. */
static inline void chart_parts(struct tts_trainmem *mem, const int64_t parts[TTS_RUN_PARTS])
{
    mem->has_parts = true;
    mem->peak = tts_amount_of(0);
    for (int i = 0; i < TTS_RUN_PARTS; i++) {
        mem->parts[i] = chart_mb(parts[i]);
        mem->peak.bytes += mem->parts[i];
    }
}

static inline void chart_limit(struct tts_trainmem *mem, int64_t hundredths)
{
    mem->device_memory = tts_amount_of(chart_mb(hundredths));
    mem->has_verdict = mem->peak.is_known;
    mem->fits = mem->peak.bytes <= mem->device_memory.bytes;
}

static inline void chart_phase(struct tts_run_phase *phase, const char *name, int64_t segment,
                               int64_t peak, int64_t current)
{
    memset(phase, 0, sizeof *phase);
    snprintf(phase->name, sizeof phase->name, "%s", name);
    phase->figures[TTS_RUN_SEGMENT_PEAK] = tts_amount_of(chart_mb(segment));
    phase->figures[TTS_RUN_CUMULATIVE_PEAK] = tts_amount_of(chart_mb(peak));
    phase->figures[TTS_RUN_CUMULATIVE_CURRENT] = tts_amount_of(chart_mb(current));
}

/* Fills *out with one of the two published runs of TinyLlama. */
static inline void chart_tinyllama(struct chart_run *out, bool is_efficient)
{
    static const int64_t parts[2][TTS_RUN_PARTS] = {{2510, 184893, 45875, 369785, 963602},
                                                    {2523, 184893, 251369, 369785, 19295}};
    static const char *const names[] = {"MODEL_CREATION", "OPTIMIZER_CREATION", "FORWARD_PASS",
                                        "BACKWARD_PASS"};
    static const int64_t figures[2][4][3] = {{{190713, 190713, 186313},
                                              {370875, 557188, 557188},
                                              {1001939, 1559127, 1520789},
                                              {45875, 1566665, 742702}},
                                             {{190725, 190725, 186325},
                                              {370876, 557201, 557201},
                                              {99635, 656836, 576496},
                                              {251369, 827865, 742804}}};
    *out = (struct chart_run){.run = {.phase_count = 4}};
    out->run.phases = out->phases;
    chart_parts(&out->mem, parts[is_efficient]);
    chart_limit(&out->mem, 1228800);
    out->mem.has_peak_phase = true;
    out->mem.peak_phase = 3;
    for (int i = 0; i < 4; i++)
        chart_phase(&out->phases[i], names[i], figures[is_efficient][i][0],
                    figures[is_efficient][i][1], figures[is_efficient][i][2]);
}
