/* budget_measure.c: the figure of a run that a limit is held against. */
#include "analysis/budget_inside.h"

#include <assert.h>

bool tts_budget_is_l1(enum tts_budget_rule rule)
{
    return rule == TTS_BUDGET_L1_CORE || rule == TTS_BUDGET_CB ||
           rule == TTS_BUDGET_PHASE_L1_CORE || rule == TTS_BUDGET_PHASE_CB;
}

bool tts_budget_tracks_l1(const struct tts_run *run)
{
    bool any = false;
    for (size_t i = 0; i < run->phase_count; i++) {
        const struct tts_amount *figures = run->phases[i].figures;
        if (figures[TTS_RUN_L1_CORE].is_known)
            return true;
        for (int f = TTS_RUN_L1_CB; f <= TTS_RUN_L1_TOTAL; f++) {
            any |= figures[f].is_known;
            if (figures[f].is_known && figures[f].bytes != 0)
                return true;
        }
    }
    return !any; /* then the figures are missing, which is another reason */
}

static struct tts_budget_measure unknown(enum tts_budget_reason reason)
{
    return (struct tts_budget_measure){.reason = reason};
}

static struct tts_budget_measure known_if(struct tts_amount amount)
{
    return (struct tts_budget_measure){
        .amount = amount, .reason = amount.is_known ? TTS_BUDGET_NONE : TTS_BUDGET_NO_FIGURE};
}

/* ---- which figure of L1 ---- */

/* Do all phases know it? */
static bool has_all(const struct tts_run *run, enum tts_run_figure figure)
{
    size_t i = 0;
    while (i < run->phase_count && run->phases[i].figures[figure].is_known)
        i++;
    return i == run->phase_count;
}

enum tts_budget_figure tts_budget_l1_of_runs(const struct tts_run *a, const struct tts_run *b)
{
    bool has_core = has_all(a, TTS_RUN_L1_CORE) && (!b || has_all(b, TTS_RUN_L1_CORE));
    return has_core ? TTS_BUDGET_OF_CORE : TTS_BUDGET_OF_TOTAL;
}

enum tts_budget_figure tts_budget_l1_of_phases(const struct tts_run_phase *a,
                                               const struct tts_run_phase *b)
{
    bool has_core =
        a->figures[TTS_RUN_L1_CORE].is_known && (!b || b->figures[TTS_RUN_L1_CORE].is_known);
    return has_core ? TTS_BUDGET_OF_CORE : TTS_BUDGET_OF_TOTAL;
}

/* ---- a phase ---- */

static struct tts_budget_measure measure_l1(struct tts_budget_wanted wanted,
                                            const struct tts_run_phase *phase)
{
    static const enum tts_run_figure figures[] = {[TTS_BUDGET_OF_CORE] = TTS_RUN_L1_CORE,
                                                  [TTS_BUDGET_OF_TOTAL] = TTS_RUN_L1_TOTAL,
                                                  [TTS_BUDGET_OF_CB] = TTS_RUN_L1_CB};
    bool is_cb = wanted.rule == TTS_BUDGET_CB || wanted.rule == TTS_BUDGET_PHASE_CB;
    enum tts_budget_figure figure = is_cb ? TTS_BUDGET_OF_CB : wanted.l1;
    assert(figure != TTS_BUDGET_OF_DRAM);
    struct tts_budget_measure measure = known_if(phase->figures[figures[figure]]);
    measure.figure = figure;
    return measure;
}

/* What is known in part only: a peak may be more, a balance more or less. */
static void weaken(struct tts_budget_measure *measure, bool is_balance)
{
    if (measure->reason != TTS_BUDGET_NONE)
        return;
    measure->at_least = !is_balance;
    measure->reason = is_balance ? TTS_BUDGET_IN_PART : TTS_BUDGET_NONE;
}

/* Of a log the phase that was printed last is complete; a recording can end within one. */
static bool is_in_part(const struct tts_run *run, size_t phase)
{
    return run->is_at_least || (run->is_cut && run->is_exact && phase + 1 == run->phase_count);
}

struct tts_budget_measure tts_budget_measure_phase(struct tts_budget_wanted wanted,
                                                   const struct tts_run *run, size_t phase,
                                                   bool tracks_l1)
{
    static const enum tts_run_figure figures[TTS_BUDGET_RULES] = {
        [TTS_BUDGET_PHASE_SEGMENT_PEAK] = TTS_RUN_SEGMENT_PEAK,
        [TTS_BUDGET_PHASE_CHANGE] = TTS_RUN_CHANGE,
        [TTS_BUDGET_PHASE_CUMULATIVE_PEAK] = TTS_RUN_CUMULATIVE_PEAK,
    };
    assert(phase < run->phase_count && wanted.rule < TTS_BUDGET_RULES);
    const struct tts_run_phase *what = &run->phases[phase];
    struct tts_budget_measure measure;
    if (!tts_budget_is_l1(wanted.rule))
        measure = known_if(what->figures[figures[wanted.rule]]);
    else
        measure = tracks_l1 ? measure_l1(wanted, what) : unknown(TTS_BUDGET_NO_L1);
    if (is_in_part(run, phase))
        weaken(&measure, wanted.rule == TTS_BUDGET_PHASE_CHANGE);
    measure.has_phase = true;
    measure.phase = phase;
    return measure;
}

/* ---- a run ---- */

/* The most of any phase. One that does not say could have more, and so could what is missing.
 */
static struct tts_budget_measure most_l1(struct tts_budget_wanted wanted,
                                         const struct tts_run *run)
{
    struct tts_budget_measure most = unknown(TTS_BUDGET_NO_FIGURE);
    bool at_least = run->is_cut || run->is_at_least;
    if (!tts_budget_tracks_l1(run))
        return unknown(TTS_BUDGET_NO_L1);
    for (size_t i = 0; i < run->phase_count; i++) {
        struct tts_budget_measure one = measure_l1(wanted, &run->phases[i]);
        at_least |= !one.amount.is_known;
        if (!one.amount.is_known ||
            (most.amount.is_known && one.amount.bytes <= most.amount.bytes))
            continue;
        most = one;
        most.has_phase = true;
        most.phase = i;
    }
    most.at_least = at_least && most.amount.is_known;
    return most;
}

static struct tts_budget_measure measure_peak(const struct tts_trainmem *mem)
{
    struct tts_budget_measure measure = known_if(mem->peak);
    measure.at_least = mem->peak_at_least;
    measure.has_phase = mem->has_peak_phase;
    measure.phase = mem->peak_phase;
    return measure;
}

static struct tts_budget_measure measure_headroom(const struct tts_trainmem *mem)
{
    struct tts_budget_measure measure = measure_peak(mem);
    if (measure.reason != TTS_BUDGET_NONE)
        return measure;
    if (!mem->device_memory.is_known)
        return unknown(TTS_BUDGET_NO_DEVICE);
    if (__builtin_sub_overflow(mem->device_memory.bytes, mem->peak.bytes,
                               &measure.amount.bytes))
        measure.amount.bytes = mem->peak.bytes > 0 ? INT64_MIN : INT64_MAX;
    return measure;
}

/* What a run that did not come to its end had there may have been more or less. */
static struct tts_budget_measure measure_final(const struct tts_run *run,
                                               const struct tts_trainmem *mem)
{
    struct tts_budget_measure measure = known_if(mem->final);
    if (run->is_cut || run->is_at_least)
        weaken(&measure, true);
    measure.has_phase = run->phase_count > 0;
    measure.phase = measure.has_phase ? run->phase_count - 1 : 0;
    return measure;
}

struct tts_budget_measure tts_budget_measure_overall(struct tts_budget_wanted wanted,
                                                     const struct tts_run *run,
                                                     const struct tts_trainmem *mem)
{
    if (tts_budget_is_l1(wanted.rule))
        return most_l1(wanted, run);
    if (wanted.rule == TTS_BUDGET_DRAM_PEAK)
        return measure_peak(mem);
    if (wanted.rule == TTS_BUDGET_DRAM_HEADROOM)
        return measure_headroom(mem);
    assert(wanted.rule == TTS_BUDGET_DRAM_FINAL);
    return measure_final(run, mem);
}
