/* trainmem_rig.h: makes training runs with the figures that a log prints, and checks their
 * analysis. */
#pragma once

#include "analysis/run/trainmem.h"
#include "harness/t.h"

#include <string.h>

/* ---- runs as they are printed ---- */

enum { PHASES = 12 };

struct built {
    struct tts_run run;
    struct tts_run_phase phases[PHASES];
};

/* Converts a number of MB, as a log prints it, to bytes. */
static inline int64_t mb(double value)
{
    double bytes = value * 1048576;
    return (int64_t)(bytes < 0 ? bytes - 0.5 : bytes + 0.5);
}

static inline struct tts_run_phase *add_phase(struct built *built, const char *name,
                                              double peak, double change)
{
    T_TRUE(built->run.phase_count < PHASES);
    struct tts_run_phase *phase = &built->phases[built->run.phase_count];
    const struct tts_run_phase *before = built->run.phase_count ? phase - 1 : NULL;
    int64_t current = before ? before->figures[TTS_RUN_CUMULATIVE_CURRENT].bytes : 0;
    int64_t most = before ? before->figures[TTS_RUN_CUMULATIVE_PEAK].bytes : 0;
    int64_t reached = current + mb(peak);
    *phase = (struct tts_run_phase){.line = built->run.phase_count + 1};
    strncpy(phase->name, name, sizeof phase->name - 1);
    phase->figures[TTS_RUN_SEGMENT_PEAK] = tts_amount_of(mb(peak));
    phase->figures[TTS_RUN_CHANGE] = tts_amount_of(mb(change));
    phase->figures[TTS_RUN_CUMULATIVE_PEAK] = tts_amount_of(most > reached ? most : reached);
    phase->figures[TTS_RUN_CUMULATIVE_CURRENT] = tts_amount_of(current + mb(change));
    built->run.phase_count++;
    built->run.phases = built->phases;
    built->run.overall_peak = phase->figures[TTS_RUN_CUMULATIVE_PEAK];
    built->run.final = phase->figures[TTS_RUN_CUMULATIVE_CURRENT];
    return phase;
}

/* Sets the cumulative figures of a phase if they do not follow from its other figures. */
static inline void print_cumulative(struct built *built, double peak, double current)
{
    struct tts_run_phase *phase = &built->phases[built->run.phase_count - 1];
    phase->figures[TTS_RUN_CUMULATIVE_PEAK] = tts_amount_of(mb(peak));
    phase->figures[TTS_RUN_CUMULATIVE_CURRENT] = tts_amount_of(mb(current));
    built->run.overall_peak = tts_amount_of(mb(peak));
}

static inline void tinyllama(struct built *out, bool is_efficient)
{
    *out = (struct built){.run = {.has_parameters = true, .parameters = 969369600}};
    if (is_efficient) {
        add_phase(out, "MODEL_CREATION", 1907.25, 1863.25);
        add_phase(out, "OPTIMIZER_CREATION", 3708.76, 3708.76);
        add_phase(out, "FORWARD_PASS", 996.35, 192.95);
        add_phase(out, "BACKWARD_PASS", 2513.69, 1663.07);
        print_cumulative(out, 8278.65, 7428.04);
    } else {
        add_phase(out, "MODEL_CREATION", 1907.13, 1863.13);
        add_phase(out, "OPTIMIZER_CREATION", 3708.75, 3708.75);
        add_phase(out, "FORWARD_PASS", 10019.39, 9636.02);
        print_cumulative(out, 15591.27, 15207.89);
        add_phase(out, "BACKWARD_PASS", 458.75, -7780.87);
        print_cumulative(out, 15666.65, 7427.02);
    }
}

static const struct tts_trainmem_options nothing_asked;

static inline struct tts_trainmem analyse(const struct built *built)
{
    struct tts_trainmem mem;
    tts_trainmem_of(&built->run, &nothing_asked, &mem);
    return mem;
}

/* Checks that the size differs by at most 0.005 MB, which is the precision of a printed
 * value. */
static inline void assert_mb(int64_t bytes, double expected)
{
    int64_t away = bytes - mb(expected);
    if (away < -5243 || away > 5243)
        fail_msg("%.3f MB is not %.2f MB", (double)bytes / 1048576, expected);
}

static inline void assert_amount(struct tts_amount amount, double expected)
{
    T_TRUE(amount.is_known);
    assert_mb(amount.bytes, expected);
}

static inline void assert_difference(const struct tts_train_size *size, int64_t expected)
{
    int64_t difference;
    T_TRUE(tts_train_difference(size, &difference));
    T_EQ(difference, expected);
}

/* Checks the parts of the peak, in the order in which the chart stacks them. */
static inline void assert_parts(const struct tts_trainmem *mem,
                                const double expected[TTS_RUN_PARTS])
{
    int64_t sum = 0;
    T_TRUE(mem->has_parts);
    for (int part = 0; part < TTS_RUN_PARTS; part++) {
        assert_mb(mem->parts[part], expected[part]);
        T_TRUE(mem->parts[part] >= 0);
        sum += mem->parts[part];
    }
    T_EQ(sum, mem->peak.bytes);
}
