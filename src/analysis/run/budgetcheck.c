#include "analysis/run/budgetcheck.h"

#include "analysis/run/phasepairs.h"
#include "base/share.h"

#include <assert.h>

/* A figure of a run. */
struct measure {
    struct tts_amount amount;
    enum tts_budget_reason reason; /* NONE: the amount is known */
    enum tts_budget_figure figure;
    bool at_least, has_phase;
    size_t phase;
};

/* Selects the figure to measure. `l1` is the figure that rules for the L1 of a core use. */
struct wanted {
    enum tts_budget_rule rule;
    enum tts_budget_figure l1;
};

bool tts_budget_is_l1(enum tts_budget_rule rule)
{
    return rule == TTS_BUDGET_L1_CORE || rule == TTS_BUDGET_CB ||
           rule == TTS_BUDGET_PHASE_L1_CORE || rule == TTS_BUDGET_PHASE_CB;
}

/* Returns true if an L1 figure is not 0 or the run has figures per core. */
static bool states_l1(const struct tts_run *run)
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
    return !any; /* If no L1 figure is known, the reason is NO_FIGURE, not NO_L1. */
}

static struct measure unknown_measure(enum tts_budget_reason reason)
{
    return (struct measure){.reason = reason};
}

static struct measure measure_amount(struct tts_amount amount)
{
    return (struct measure){.amount = amount,
                            .reason = amount.is_known ? TTS_BUDGET_NONE : TTS_BUDGET_NO_FIGURE};
}

/* ---- the choice of the L1 figure ---- */

/* Returns true if all phases have the figure. */
static bool has_figure_everywhere(const struct tts_run *run, enum tts_run_figure figure)
{
    size_t i = 0;
    while (i < run->phase_count && run->phases[i].figures[figure].is_known)
        i++;
    return i == run->phase_count;
}

/* Returns the L1 figure to report and compare: the figure of one core if both runs (or phases)
 * have it, or else the total. `b` may be NULL. */
static enum tts_budget_figure l1_figure_of_runs(const struct tts_run *a,
                                                const struct tts_run *b)
{
    bool has_core = has_figure_everywhere(a, TTS_RUN_L1_CORE) &&
                    (!b || has_figure_everywhere(b, TTS_RUN_L1_CORE));
    return has_core ? TTS_BUDGET_OF_CORE : TTS_BUDGET_OF_TOTAL;
}

static enum tts_budget_figure l1_figure_of_phases(const struct tts_run_phase *a,
                                                  const struct tts_run_phase *b)
{
    bool has_core =
        a->figures[TTS_RUN_L1_CORE].is_known && (!b || b->figures[TTS_RUN_L1_CORE].is_known);
    return has_core ? TTS_BUDGET_OF_CORE : TTS_BUDGET_OF_TOTAL;
}

/* ---- a phase ---- */

static struct measure measure_l1(struct wanted wanted, const struct tts_run_phase *phase)
{
    static const enum tts_run_figure figures[] = {[TTS_BUDGET_OF_CORE] = TTS_RUN_L1_CORE,
                                                  [TTS_BUDGET_OF_TOTAL] = TTS_RUN_L1_TOTAL,
                                                  [TTS_BUDGET_OF_CB] = TTS_RUN_L1_CB};
    bool is_cb = wanted.rule == TTS_BUDGET_CB || wanted.rule == TTS_BUDGET_PHASE_CB;
    enum tts_budget_figure figure = is_cb ? TTS_BUDGET_OF_CB : wanted.l1;
    assert(figure != TTS_BUDGET_OF_DRAM);
    struct measure measure = measure_amount(phase->figures[figures[figure]]);
    measure.figure = figure;
    return measure;
}

/* Marks the measure of an incomplete run. The real peak may be larger. A real balance may be
 * larger or smaller, so a balance becomes unknown. */
static void weaken_measure(struct measure *measure, bool is_balance)
{
    if (measure->reason != TTS_BUDGET_NONE)
        return;
    measure->at_least = !is_balance;
    measure->reason = is_balance ? TTS_BUDGET_IN_PART : TTS_BUDGET_NONE;
}

/* Returns true if the phase may be incomplete. In a log, the last printed phase is complete; a
 * recording can end inside a phase. */
static bool is_phase_in_part(const struct tts_run *run, size_t phase)
{
    return run->is_at_least || (run->is_cut && run->is_exact && phase + 1 == run->phase_count);
}

static struct measure measure_phase(struct wanted wanted, const struct tts_run *run,
                                    size_t phase, bool tracks_l1)
{
    static const enum tts_run_figure figures[TTS_BUDGET_RULES] = {
        [TTS_BUDGET_PHASE_SEGMENT_PEAK] = TTS_RUN_SEGMENT_PEAK,
        [TTS_BUDGET_PHASE_CHANGE] = TTS_RUN_CHANGE,
        [TTS_BUDGET_PHASE_CUMULATIVE_PEAK] = TTS_RUN_CUMULATIVE_PEAK,
    };
    assert(phase < run->phase_count && wanted.rule < TTS_BUDGET_RULES);
    const struct tts_run_phase *what = &run->phases[phase];
    struct measure measure;
    if (!tts_budget_is_l1(wanted.rule))
        measure = measure_amount(what->figures[figures[wanted.rule]]);
    else
        measure = tracks_l1 ? measure_l1(wanted, what) : unknown_measure(TTS_BUDGET_NO_L1);
    if (is_phase_in_part(run, phase))
        weaken_measure(&measure, wanted.rule == TTS_BUDGET_PHASE_CHANGE);
    measure.has_phase = true;
    measure.phase = phase;
    return measure;
}

/* ---- a run ---- */

/* Returns the largest figure of any phase. The result is a lower bound if phases are missing or
 * do not state the figure. */
static struct measure measure_most_l1(struct wanted wanted, const struct tts_run *run)
{
    struct measure most = unknown_measure(TTS_BUDGET_NO_FIGURE);
    bool at_least = run->is_cut || run->is_at_least;
    if (!states_l1(run))
        return unknown_measure(TTS_BUDGET_NO_L1);
    for (size_t i = 0; i < run->phase_count; i++) {
        struct measure one = measure_l1(wanted, &run->phases[i]);
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

static struct measure measure_peak(const struct tts_trainmem *mem)
{
    struct measure measure = measure_amount(mem->peak);
    measure.at_least = mem->peak_at_least;
    measure.has_phase = mem->has_peak_phase;
    measure.phase = mem->peak_phase;
    return measure;
}

static struct measure measure_headroom(const struct tts_trainmem *mem)
{
    struct measure measure = measure_peak(mem);
    if (measure.reason != TTS_BUDGET_NONE)
        return measure;
    if (!mem->device_memory.is_known)
        return unknown_measure(TTS_BUDGET_NO_DEVICE);
    if (__builtin_sub_overflow(mem->device_memory.bytes, mem->peak.bytes,
                               &measure.amount.bytes))
        measure.amount.bytes = mem->peak.bytes > 0 ? INT64_MIN : INT64_MAX;
    return measure;
}

/* Measures the memory at the end. In a run that is cut off, the real value may be larger or
 * smaller. */
static struct measure measure_final(const struct tts_run *run, const struct tts_trainmem *mem)
{
    struct measure measure = measure_amount(mem->final);
    if (run->is_cut || run->is_at_least)
        weaken_measure(&measure, true);
    measure.has_phase = run->phase_count > 0;
    measure.phase = measure.has_phase ? run->phase_count - 1 : 0;
    return measure;
}

static struct measure measure_overall(struct wanted wanted, const struct tts_run *run,
                                      const struct tts_trainmem *mem)
{
    if (tts_budget_is_l1(wanted.rule))
        return measure_most_l1(wanted, run);
    if (wanted.rule == TTS_BUDGET_DRAM_PEAK)
        return measure_peak(mem);
    if (wanted.rule == TTS_BUDGET_DRAM_HEADROOM)
        return measure_headroom(mem);
    assert(wanted.rule == TTS_BUDGET_DRAM_FINAL);
    return measure_final(run, mem);
}

const char *tts_budget_reason_text(enum tts_budget_reason reason)
{
    static const char *const texts[TTS_BUDGET_REASONS] = {
#define X(name, text) [TTS_BUDGET_##name] = text,
        TTS_BUDGET_REASON_MAP(X)
#undef X
    };
    assert(reason < TTS_BUDGET_REASONS);
    return texts[reason];
}

static bool is_growth_limit(const struct tts_budget_limit *limit)
{
    return limit->unit == TTS_BUDGET_GROWTH_BYTES || limit->unit == TTS_BUDGET_GROWTH_SHARE;
}

size_t tts_budget_first_growth(const struct tts_budget *budget)
{
    size_t i = 0;
    while (i < budget->limit_count && !is_growth_limit(&budget->limits[i]))
        i++;
    return i;
}

bool tts_budget_needs_device(const struct tts_budget *budget)
{
    for (size_t i = 0; i < budget->limit_count; i++) {
        const struct tts_budget_limit *limit = &budget->limits[i];
        if (limit->rule == TTS_BUDGET_DRAM_HEADROOM ||
            (limit->unit == TTS_BUDGET_SHARE && !tts_budget_is_l1(limit->rule)))
            return true;
    }
    return false;
}

/* ---- patterns ---- */

/* Returns the position after the UTF-8 character that begins at `text`. */
static const char *skip_character(const char *text)
{
    text++;
    while (((unsigned char)*text & 0xc0) == 0x80)
        text++;
    return text;
}

bool tts_budget_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *resume = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            resume = name;
        } else if (*pattern == '?') {
            pattern++;
            name = skip_character(name);
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) { /* let the last star match one more byte */
            pattern = star;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* ---- limits in bytes ---- */

static int64_t grown_base(int64_t base, const struct tts_budget_limit *limit)
{
    int64_t size = base < 0 ? (base == INT64_MIN ? INT64_MAX : -base) : base, out;
    int64_t growth = limit->unit == TTS_BUDGET_GROWTH_SHARE
                         ? tts_share_of(size, limit->amount, false)
                         : (int64_t)limit->amount;
    return __builtin_add_overflow(base, growth, &out) ? INT64_MAX : out;
}

/* A measured figure and the figure of the baseline. */
struct pair {
    struct measure measure, base; /* base is set for growth limits only */
};

/* Converts a limit to bytes. Returns NONE, or why the limit is unknown. */
static enum tts_budget_reason limit_bytes_of(const struct tts_budget_input *input,
                                             const struct tts_budget_limit *limit,
                                             const struct pair *pair, int64_t *out)
{
    bool is_l1 = tts_budget_is_l1(limit->rule);
    if (is_growth_limit(limit)) {
        if (pair->base.reason != TTS_BUDGET_NONE)
            return pair->base.reason;
        *out = grown_base(pair->base.amount.bytes, limit);
        return TTS_BUDGET_NONE;
    }
    if (limit->unit == TTS_BUDGET_BYTES) {
        *out = (int64_t)limit->amount;
        return TTS_BUDGET_NONE;
    }
    struct tts_amount whole = is_l1 ? input->core_bytes : input->run.mem->device_memory;
    if (!whole.is_known || whole.bytes <= 0)
        return is_l1 ? TTS_BUDGET_NO_CORE : TTS_BUDGET_NO_DEVICE;
    *out = tts_share_of(whole.bytes, limit->amount, limit->rule == TTS_BUDGET_DRAM_HEADROOM);
    return TTS_BUDGET_NONE;
}

/* ---- one finding ---- */

/* Returns the bytes beyond the limit. A positive value is over the limit. */
static int64_t excess_of(enum tts_budget_rule rule, int64_t measured, int64_t limit)
{
    bool is_least = rule == TTS_BUDGET_DRAM_HEADROOM;
    int64_t more = is_least ? limit : measured, less = is_least ? measured : limit, out;
    if (__builtin_sub_overflow(more, less, &out))
        return more > less ? INT64_MAX : INT64_MIN;
    return out;
}

static void set_finding(struct tts_budget_finding *finding, enum tts_budget_status status,
                        enum tts_budget_reason reason)
{
    finding->status = status;
    finding->reason = reason;
}

/* Returns true if the limit depends on the free memory of the device. */
static bool is_device_limit(const struct tts_budget_limit *limit)
{
    return limit->rule == TTS_BUDGET_DRAM_HEADROOM ||
           (limit->rule == TTS_BUDGET_DRAM_PEAK && limit->unit == TTS_BUDGET_SHARE);
}

/* Returns true if later iterations may exceed a limit that the first iteration keeps. */
static bool may_exceed_later(const struct tts_budget_input *input,
                             const struct tts_budget_limit *limit, int64_t limit_bytes)
{
    if (limit->rule == TTS_BUDGET_DRAM_PEAK)
        return tts_trainmem_may_exceed(input->run.mem, limit_bytes);
    return tts_trainmem_may_exceed(input->run.mem,
                                   input->run.mem->device_memory.bytes - limit_bytes);
}

/* Compares a measured figure with its limit. Sets *distance to the bytes beyond the limit; a
 * figure that passes has a negative distance. */
static struct tts_budget_finding find_against_limit(const struct tts_budget_input *input,
                                                    size_t limit_idx, const struct pair *pair,
                                                    int64_t *distance)
{
    const struct tts_budget_limit *limit = &input->budget->limits[limit_idx];
    const struct measure *measure = &pair->measure;
    struct tts_budget_finding finding = {.limit_idx = limit_idx,
                                         .figure = measure->figure,
                                         .measured = measure->amount,
                                         .baseline = pair->base.amount,
                                         .at_least = measure->at_least,
                                         .has_phase = measure->has_phase,
                                         .phase = measure->phase};
    enum tts_budget_reason reason = limit_bytes_of(input, limit, pair, &finding.limit.bytes);
    finding.limit.is_known = reason == TTS_BUDGET_NONE;
    *distance = 0;
    if (measure->reason != TTS_BUDGET_NONE || reason != TTS_BUDGET_NONE) {
        set_finding(&finding, TTS_BUDGET_UNKNOWN,
                    measure->reason != TTS_BUDGET_NONE ? measure->reason : reason);
        return finding;
    }
    *distance = excess_of(limit->rule, finding.measured.bytes, finding.limit.bytes);
    if (*distance > (is_growth_limit(limit) ? input->rounding_bytes : 0)) {
        if (pair->base.at_least) {
            set_finding(&finding, TTS_BUDGET_UNKNOWN, TTS_BUDGET_BASELINE_AT_LEAST);
            return finding;
        }
        set_finding(&finding, TTS_BUDGET_OVER, TTS_BUDGET_NONE);
        finding.excess = *distance;
    } else if (is_device_limit(limit) && input->run.mem->is_refused) {
        set_finding(&finding, TTS_BUDGET_OVER, TTS_BUDGET_REFUSED);
    } else if (measure->at_least) {
        set_finding(&finding, TTS_BUDGET_UNKNOWN,
                    limit->rule == TTS_BUDGET_DRAM_HEADROOM ? TTS_BUDGET_AT_MOST
                                                            : TTS_BUDGET_AT_LEAST);
    } else if ((limit->rule == TTS_BUDGET_DRAM_PEAK || is_device_limit(limit)) &&
               !is_growth_limit(limit) && may_exceed_later(input, limit, finding.limit.bytes)) {
        set_finding(&finding, TTS_BUDGET_UNKNOWN, TTS_BUDGET_FIRST_ITERATION);
    }
    return finding;
}

/* ---- the measures of a limit ---- */

/* Replaces the reason of a measure by the corresponding reason for a baseline. */
static struct measure baseline_measure(struct measure measure)
{
    if (measure.reason == TTS_BUDGET_IN_PART)
        measure.reason = TTS_BUDGET_BASELINE_IN_PART;
    else if (measure.reason != TTS_BUDGET_NONE)
        measure.reason = TTS_BUDGET_NO_BASELINE_FIGURE;
    return measure;
}

static struct pair overall_measures(const struct tts_budget_input *input,
                                    const struct tts_budget_limit *limit)
{
    const struct tts_run *base = is_growth_limit(limit) ? input->baseline.run : NULL;
    const struct wanted wanted = {limit->rule, l1_figure_of_runs(input->run.run, base)};
    struct pair pair = {.measure = measure_overall(wanted, input->run.run, input->run.mem)};
    if (base)
        pair.base = baseline_measure(measure_overall(wanted, base, input->baseline.mem));
    else if (is_growth_limit(limit))
        pair.base = unknown_measure(TTS_BUDGET_NO_BASELINE);
    return pair;
}

/* Says which of the two runs tracks L1. */
struct tracking {
    bool run, baseline;
};

static struct pair phase_measures(const struct tts_budget_input *input,
                                  const struct tts_budget_limit *limit, size_t phase,
                                  struct tracking tracking)
{
    const struct tts_run *base = is_growth_limit(limit) ? input->baseline.run : NULL;
    uint32_t other = base ? input->pairs[phase] : TTS_PHASEPAIR_NONE;
    const struct wanted wanted = {
        limit->rule,
        l1_figure_of_phases(&input->run.run->phases[phase],
                            other == TTS_PHASEPAIR_NONE ? NULL : &base->phases[other])};
    struct pair pair = {.measure = measure_phase(wanted, input->run.run, phase, tracking.run)};
    if (other != TTS_PHASEPAIR_NONE)
        pair.base = baseline_measure(measure_phase(wanted, base, other, tracking.baseline));
    else if (is_growth_limit(limit))
        pair.base =
            unknown_measure(base ? TTS_BUDGET_NO_BASELINE_PHASE : TTS_BUDGET_NO_BASELINE);
    return pair;
}

/* ---- the verdict on a limit ---- */

struct judge {
    tts_budget_each *each;
    void *ctx;
    struct tts_budget_verdict verdict;
    int64_t worst_distance;
    struct tts_budget_finding nearest; /* the passing finding nearest to its limit */
    int64_t nearest_distance;
    /* Collects the phases that are unknown for a reason that applies to the whole run. */
    struct tts_budget_finding common;
};

/* Returns true if the reason is the same for every phase of a run. */
static bool is_reason_of_run(enum tts_budget_reason reason)
{
    return reason == TTS_BUDGET_NO_L1 || reason == TTS_BUDGET_NO_DEVICE ||
           reason == TTS_BUDGET_NO_CORE || reason == TTS_BUDGET_NO_BASELINE;
}

/* Adds a phase to the common finding. The reason of the first phase is kept. */
static void take_common_finding(struct judge *judge, const struct tts_budget_finding *finding)
{
    size_t before = judge->common.phases;
    if (before == 0)
        judge->common = *finding;
    judge->common.phases = before + 1;
    if (before == 0)
        return;
    /* A finding about several phases does not have the figures of one phase. */
    judge->common.has_phase = false;
    judge->common.phase = 0;
    judge->common.measured = judge->common.baseline = (struct tts_amount){0};
}

static void take_finding(struct judge *judge, const struct tts_budget_finding *finding,
                         int64_t distance)
{
    struct tts_budget_verdict *verdict = &judge->verdict;
    if (finding->status == TTS_BUDGET_PASS) {
        if (verdict->passed++ == 0 || distance > judge->nearest_distance) {
            judge->nearest = *finding;
            judge->nearest_distance = distance;
        }
        return;
    }
    bool is_over = finding->status == TTS_BUDGET_OVER;
    verdict->over += is_over;
    verdict->unknown += !is_over;
    /* Of several unknown findings, the first is kept. */
    if (finding->status > verdict->status || (is_over && distance > judge->worst_distance)) {
        verdict->status = finding->status;
        verdict->worst = *finding;
        judge->worst_distance = distance;
    }
    if (finding->phases > 0 && is_reason_of_run(finding->reason))
        take_common_finding(judge, finding);
    else if (judge->each)
        judge->each(judge->ctx, finding);
}

static void finish_verdict(struct judge *judge)
{
    struct tts_budget_verdict *verdict = &judge->verdict;
    if (judge->common.phases > 0) {
        if (is_reason_of_run(verdict->worst.reason))
            verdict->worst = judge->common;
        if (judge->each)
            judge->each(judge->ctx, &judge->common);
    }
    if (verdict->passed == 0)
        return;
    if (judge->nearest.phases > 0)
        judge->nearest.phases = verdict->passed;
    if (verdict->status == TTS_BUDGET_PASS)
        verdict->worst = judge->nearest;
    if (judge->each)
        judge->each(judge->ctx, &judge->nearest);
}

static void judge_phases(struct judge *judge, const struct tts_budget_input *input,
                         size_t limit_idx)
{
    const struct tts_budget_limit *limit = &input->budget->limits[limit_idx];
    const char *pattern = input->budget->patterns[limit->pattern].text;
    bool is_l1 = tts_budget_is_l1(limit->rule);
    const struct tracking tracking = {.run = is_l1 && states_l1(input->run.run),
                                      .baseline = is_l1 && input->baseline.run &&
                                                  states_l1(input->baseline.run)};
    assert(limit->pattern < input->budget->pattern_count);
    bool any = false;
    for (size_t i = 0; i < input->run.run->phase_count; i++) {
        int64_t distance;
        if (!tts_budget_matches(pattern, input->run.run->phases[i].name))
            continue;
        struct pair pair = phase_measures(input, limit, i, tracking);
        struct tts_budget_finding finding =
            find_against_limit(input, limit_idx, &pair, &distance);
        finding.phases = 1;
        take_finding(judge, &finding, distance);
        any = true;
    }
    if (!any) {
        struct tts_budget_finding none = {.limit_idx = limit_idx,
                                          .status = TTS_BUDGET_UNKNOWN,
                                          .reason = TTS_BUDGET_NO_PHASE};
        take_finding(judge, &none, 0);
    }
}

void tts_budget_judge(const struct tts_budget_input *input, size_t limit_idx,
                      tts_budget_each *each, void *ctx, struct tts_budget_verdict *out)
{
    assert(limit_idx < input->budget->limit_count);
    assert(!input->baseline.run || (input->baseline.mem && input->pairs));
    const struct tts_budget_limit *limit = &input->budget->limits[limit_idx];
    struct judge judge = {.each = each, .ctx = ctx};
    if (tts_budget_rule_place(limit->rule) == TTS_BUDGET_PHASE) {
        judge_phases(&judge, input, limit_idx);
    } else {
        int64_t distance;
        struct pair pair = overall_measures(input, limit);
        struct tts_budget_finding finding =
            find_against_limit(input, limit_idx, &pair, &distance);
        take_finding(&judge, &finding, distance);
    }
    finish_verdict(&judge);
    *out = judge.verdict;
    assert(out->over + out->unknown + out->passed > 0);
}

enum tts_budget_status tts_budget_status_of(const struct tts_budget_counts *counts)
{
    if (counts->over > 0)
        return TTS_BUDGET_OVER;
    return counts->unknown > 0 || counts->is_partial ? TTS_BUDGET_UNKNOWN : TTS_BUDGET_PASS;
}
