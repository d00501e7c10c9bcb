#include "analysis/run/rundiff.h"

#include "analysis/run/phasepairs.h"
#include "base/heap.h"

#include <assert.h>

/* The two runs, and for each phase of a run its partner in the other run. */
struct links {
    uint32_t *of_a, *of_b;
    const struct tts_run *a, *b;
};

static void add_diff_phase(const struct links *links, enum tts_rundiff_where where, size_t a,
                           size_t b, struct tts_rundiff *out)
{
    out->phases[out->phase_count++] = (struct tts_rundiff_phase){
        .where = where,
        .name = where == TTS_ONLY_B ? links->b->phases[b].name : links->a->phases[a].name,
        .a = a,
        .b = b};
    out->only_a += where == TTS_ONLY_A;
    out->only_b += where == TTS_ONLY_B;
}

/* Adds the phases that only B has, from *next up to `end`, and advances *next. */
static void add_phases_only_b(const struct links *links, size_t *next, size_t end,
                              struct tts_rundiff *out)
{
    for (; *next < end; ++*next)
        if (links->of_b[*next] == TTS_PHASEPAIR_NONE)
            add_diff_phase(links, TTS_ONLY_B, 0, *next, out);
}

static void line_up_phases(const struct links *links, struct tts_rundiff *out)
{
    size_t next = 0;
    for (size_t i = 0; i < links->a->phase_count; i++) {
        uint32_t other = links->of_a[i];
        if (other == TTS_PHASEPAIR_NONE) {
            add_diff_phase(links, TTS_ONLY_A, i, 0, out);
            continue;
        }
        add_phases_only_b(links, &next, other, out);
        add_diff_phase(links, TTS_IN_BOTH, i, other, out);
    }
    add_phases_only_b(links, &next, links->b->phase_count, out);
}

/* Lists the phases of both runs side by side. The figures are filled in later. Returns TTS_OK
 * or TTS_E_NOMEM. */
static enum tts_status match_phases(const struct tts_run *a, const struct tts_run *b,
                                    const struct tts_alloc *alloc, struct tts_rundiff *out)
{
    size_t both = a->phase_count + b->phase_count;
    struct links links = {.a = a, .b = b};
    if (both == 0)
        return TTS_OK;
    enum tts_status status = tts_phasepairs_new(a, b, alloc, &links.of_a);
    if (status == TTS_OK)
        status = tts_phasepairs_new(b, a, alloc, &links.of_b);
    if (status == TTS_OK)
        out->phases = alloc->alloc(alloc->ctx, both * sizeof *out->phases);
    if (out->phases) {
        line_up_phases(&links, out);
        assert(out->phase_count <= both);
    }
    tts_phasepairs_free(links.of_a, a, alloc);
    tts_phasepairs_free(links.of_b, b, alloc);
    return out->phases ? TTS_OK : TTS_E_NOMEM;
}

/* The level of a run in the reference phase (struct tts_rundiff_cause). */
struct way {
    size_t phase; /* index of the reference phase in the run */
    struct tts_amount level;
};

/* Returns the Segment Change of a run in a phase before `end`. Returns 0 for other phases and
 * for phases that the run does not have. */
static struct tts_amount change_before(const struct tts_rundiff_phase *phase, bool of_b,
                                       size_t end)
{
    bool is_there = phase->where == TTS_IN_BOTH || (phase->where == TTS_ONLY_B) == of_b;
    size_t at = of_b ? phase->b : phase->a;
    const struct tts_delta *delta = &phase->figures[TTS_RUN_CHANGE];
    if (!is_there || at >= end)
        return tts_amount_of(0);
    return of_b ? delta->b : delta->a;
}

/* Returns the Segment Peak of a run in the reference phase, or 0 if the run does not have the
 * phase. */
static struct tts_amount level_at_peak(const struct tts_rundiff *diff,
                                       const struct tts_delta *top, bool of_b)
{
    enum tts_rundiff_where where = diff->phases[diff->cause.peak_phase].where;
    if (where == (of_b ? TTS_ONLY_A : TTS_ONLY_B))
        return tts_amount_of(0);
    return of_b ? top->b : top->a;
}

/* Fills in the contribution of each phase, B minus A, and the level that each run reaches.
 * Returns false if a figure is unknown. */
static bool walk_to_peak(struct tts_rundiff *diff, struct way *a, struct way *b)
{
    const struct tts_delta *top =
        &diff->phases[diff->cause.peak_phase].figures[TTS_RUN_SEGMENT_PEAK];
    a->level = level_at_peak(diff, top, false);
    b->level = level_at_peak(diff, top, true);
    struct tts_amount on_top = tts_amount_subtract(b->level, a->level);
    for (size_t i = 0; i < diff->phase_count; i++) {
        struct tts_rundiff_phase *phase = &diff->phases[i];
        struct tts_amount in_a = change_before(phase, false, a->phase);
        struct tts_amount in_b = change_before(phase, true, b->phase);
        a->level = tts_amount_add(a->level, in_a);
        b->level = tts_amount_add(b->level, in_b);
        phase->contribution =
            i == diff->cause.peak_phase ? on_top : tts_amount_subtract(in_b, in_a);
        if (!phase->contribution.is_known)
            return false;
    }
    return a->level.is_known && b->level.is_known;
}

/* Returns the index in diff->phases of a phase of one run, or phase_count if there is none. */
static size_t find_diff_phase(const struct tts_rundiff *diff, bool of_b, size_t phase)
{
    for (size_t i = 0; i < diff->phase_count; i++) {
        const struct tts_rundiff_phase *at = &diff->phases[i];
        if (at->where != (of_b ? TTS_ONLY_A : TTS_ONLY_B) && (of_b ? at->b : at->a) == phase)
            return i;
    }
    return diff->phase_count;
}

static void forget_contributions(struct tts_rundiff *diff)
{
    for (size_t i = 0; i < diff->phase_count; i++)
        diff->phases[i].contribution = (struct tts_amount){0};
}

/* Returns true if rounding explains a difference of `away` bytes. Each printed figure is off by
 * up to half a step. Figures in bytes are exact. */
static bool is_within_rounding(const struct tts_rundiff *diff, int64_t away)
{
    int64_t slack =
        diff->is_rounded ? (int64_t)(diff->phase_count + 4) * TTS_RUN_HALF_STEP_BYTES : 0;
    return away <= slack && away >= -slack;
}

/* Fills in not_peak and rounding, the part of the change that no phase contributes. Returns
 * false if the figures contradict each other. */
static bool settle_peak_change(struct tts_rundiff *diff, bool grew, const struct way *larger,
                               const struct way *smaller)
{
    const struct tts_delta *peak = &diff->peak;
    int64_t larger_peak = grew ? peak->b.bytes : peak->a.bytes;
    int64_t smaller_peak = grew ? peak->a.bytes : peak->b.bytes;
    int64_t off, below;
    if (__builtin_sub_overflow(larger_peak, larger->level.bytes, &off) ||
        __builtin_sub_overflow(smaller->level.bytes, smaller_peak, &below) ||
        below == INT64_MIN)
        return false;
    /* No phase is above the peak of its run, except by rounding. */
    if (!is_within_rounding(diff, off) || (below > 0 && !is_within_rounding(diff, below)))
        return false;
    int64_t rest = below < 0 ? below : 0;
    off += below - rest;
    diff->cause.not_peak = grew ? rest : -rest;
    diff->cause.rounding = grew ? off : -off;
    return true;
}

/* Returns how many phases of the other run belong before `phase`, which only one run has: all
 * phases up to the nearest earlier phase that both runs have. */
static size_t place_in_other_run(const struct tts_rundiff *diff, size_t phase)
{
    bool of_b = diff->phases[phase].where == TTS_ONLY_A;
    size_t own = of_b ? diff->phases[phase].a : diff->phases[phase].b, nearest = 0, place = 0;
    for (size_t i = 0; i < diff->phase_count; i++) {
        const struct tts_rundiff_phase *at = &diff->phases[i];
        size_t theirs = of_b ? at->a : at->b;
        if (at->where != TTS_IN_BOTH || theirs >= own || theirs + 1 < nearest)
            continue;
        nearest = theirs + 1;
        place = (of_b ? at->b : at->a) + 1;
    }
    return place;
}

/* Returns true if the smaller run has phases, and the larger run has all of them. */
static bool smaller_is_within(const struct tts_rundiff *diff, bool grew)
{
    size_t only_smaller = grew ? diff->only_a : diff->only_b;
    size_t only_larger = grew ? diff->only_b : diff->only_a;
    return only_smaller == 0 && only_larger < diff->phase_count;
}

static void find_cause_part(struct tts_rundiff *diff)
{
    int64_t most = 0;
    bool grew = diff->peak.change.bytes > 0;
    for (int part = 0; part < TTS_RUN_PARTS; part++) {
        int64_t bytes = diff->parts[part].change.bytes;
        if (!diff->parts[part].differs || (grew ? bytes <= most : bytes >= most))
            continue;
        most = bytes;
        diff->cause.has_part = true;
        diff->cause.part = (enum tts_run_part)part;
    }
}

/* Finds the phase with the largest contribution. Returns false if no phase changed in the
 * direction of the peak. The change is then smaller than the rounding. */
static bool choose_cause_phase(struct tts_rundiff *diff, bool grew)
{
    int64_t most = 0;
    struct tts_rundiff_cause *cause = &diff->cause;
    cause->phase = cause->peak_phase;
    for (size_t i = 0; i < diff->phase_count; i++) {
        int64_t bytes = diff->phases[i].contribution.bytes;
        if (grew ? bytes <= most : bytes >= most)
            continue;
        most = bytes;
        cause->phase = i;
    }
    cause->is_peak = cause->phase == cause->peak_phase;
    return most != 0;
}

static enum tts_rundiff_reason explain_peak(const struct tts_named_run *a,
                                            const struct tts_named_run *b,
                                            struct tts_rundiff *diff)
{
    if (!diff->peak.change.is_known)
        return TTS_RUNDIFF_NO_PEAK;
    if (a->mem->peak_at_least || b->mem->peak_at_least)
        return TTS_RUNDIFF_CUT;
    if (!diff->peak.differs)
        return TTS_RUNDIFF_SAME;
    if (a->mem->peak_is_later || b->mem->peak_is_later)
        return TTS_RUNDIFF_LATER;
    bool grew = diff->peak.change.bytes > 0;
    const struct tts_trainmem *larger = grew ? b->mem : a->mem;
    if (!larger->has_peak_phase)
        return TTS_RUNDIFF_NO_PEAK;
    diff->cause.peak_phase = find_diff_phase(diff, grew, larger->peak_phase);
    assert(diff->cause.peak_phase < diff->phase_count);
    const struct tts_rundiff_phase *top = &diff->phases[diff->cause.peak_phase];
    if (top->where != TTS_IN_BOTH && !smaller_is_within(diff, grew))
        return TTS_RUNDIFF_NO_PHASE; /* the other run may have the phase under another name */
    size_t place =
        top->where == TTS_IN_BOTH ? 0 : place_in_other_run(diff, diff->cause.peak_phase);
    struct way in_a = {.phase = top->where == TTS_ONLY_B ? place : top->a};
    struct way in_b = {.phase = top->where == TTS_ONLY_A ? place : top->b};
    if (!walk_to_peak(diff, &in_a, &in_b))
        return TTS_RUNDIFF_UNKNOWN;
    if (!settle_peak_change(diff, grew, grew ? &in_b : &in_a, grew ? &in_a : &in_b) ||
        !choose_cause_phase(diff, grew))
        return TTS_RUNDIFF_CONTRADICTION;
    const struct tts_trainmem *smaller = grew ? a->mem : b->mem;
    diff->cause.has_other = smaller->has_peak_phase;
    if (smaller->has_peak_phase)
        diff->cause.other_phase = find_diff_phase(diff, !grew, smaller->peak_phase);
    return TTS_RUNDIFF_TOLD;
}

/* Fills in the cause and the contributions. The phases and the peak must be complete. */
static void fill_cause(const struct tts_named_run *a, const struct tts_named_run *b,
                       struct tts_rundiff *diff)
{
    diff->cause.reason = explain_peak(a, b, diff);
    if (diff->peak.differs && diff->cause.reason != TTS_RUNDIFF_CUT)
        find_cause_part(diff);
    if (diff->cause.reason != TTS_RUNDIFF_TOLD)
        forget_contributions(diff);
}

bool tts_delta_has_share(const struct tts_delta *delta)
{
    int64_t a = delta->a.bytes, b = delta->b.bytes;
    return delta->change.is_known && (a >= TTS_RUN_STEP_BYTES || a <= -TTS_RUN_STEP_BYTES) &&
           (a > 0 ? b >= 0 : b <= 0);
}

bool tts_delta_share(const struct tts_delta *delta, int64_t *out)
{
    if (!tts_delta_has_share(delta))
        return false;
    double whole = (double)delta->a.bytes;
    double share = (double)delta->change.bytes / (whole < 0 ? -whole : whole) * 10000;
    share = share > 9e15 ? 9e15 : share < -9e15 ? -9e15 : share;
    *out = (int64_t)(share < 0 ? share - 0.5 : share + 0.5);
    return true;
}

bool tts_delta_is_slight(const struct tts_delta *delta)
{
    int64_t bytes = delta->change.bytes;
    return bytes > -(delta->a.bytes / 1000) && bytes < delta->a.bytes / 1000;
}

/* Returns true if the change is known and not 0, also if rounding explains the change. */
static bool delta_is_off(const struct tts_delta *delta)
{
    return delta->change.is_known && delta->change.bytes != 0;
}

/* Compares two amounts. Changes of up to `slack` bytes are not a difference. */
static struct tts_delta delta_of(struct tts_amount a, struct tts_amount b, int64_t slack)
{
    struct tts_delta delta = {.a = a, .b = b, .change = tts_amount_subtract(b, a)};
    delta.differs =
        delta.change.is_known && (delta.change.bytes > slack || delta.change.bytes < -slack);
    return delta;
}

/* ---- phases ---- */

/* Returns false for cumulative figures, which also differ because of earlier phases. */
static bool is_own_figure(int figure)
{
    return figure != TTS_RUN_CUMULATIVE_PEAK && figure != TTS_RUN_CUMULATIVE_CURRENT;
}

/* Returns a figure of a phase. The figure is unknown if `is_there` is false. */
static struct tts_amount figure_of(const struct tts_run *run, bool is_there, size_t at,
                                   int figure)
{
    assert(!is_there || at < run->phase_count);
    return is_there ? run->phases[at].figures[figure] : (struct tts_amount){0};
}

static void fill_diff_phase(const struct tts_run *a, const struct tts_run *b,
                            struct tts_rundiff *diff, struct tts_rundiff_phase *phase)
{
    bool in_a = phase->where != TTS_ONLY_B, in_b = phase->where != TTS_ONLY_A;
    int64_t slack = diff->is_rounded ? TTS_RUN_STEP_BYTES : 0;
    bool is_near = false;
    phase->differs = phase->differs_itself = phase->where != TTS_IN_BOTH;
    for (int k = 0; k < TTS_RUN_FIGURES; k++) {
        bool is_l1 = k >= TTS_RUN_L1_CB;
        phase->figures[k] =
            delta_of(figure_of(a, in_a && !(is_l1 && diff->no_l1_a), phase->a, k),
                     figure_of(b, in_b && !(is_l1 && diff->no_l1_b), phase->b, k), slack);
        phase->differs |= phase->figures[k].differs;
        phase->differs_itself |= phase->figures[k].differs && is_own_figure(k);
        is_near |= delta_is_off(&phase->figures[k]) && !phase->figures[k].differs;
        diff->compared += phase->figures[k].change.is_known;
    }
    diff->within_rounding += is_near && !phase->differs_itself;
    diff->differing += phase->differs;
    diff->differing_itself += phase->differs_itself;
}

static void fill_diff_phases(const struct tts_run *a, const struct tts_run *b,
                             struct tts_rundiff *diff)
{
    diff->no_l1_a = !tts_run_tracks_l1(a);
    diff->no_l1_b = !tts_run_tracks_l1(b);
    for (size_t i = 0; i < diff->phase_count; i++)
        fill_diff_phase(a, b, diff, &diff->phases[i]);
}

/* ---- parts ---- */

/* Returns the change of all phases that belong to no part. */
static struct tts_amount change_of_others(const struct tts_run *run)
{
    struct tts_amount sum = tts_amount_of(0);
    for (size_t i = 0; i < run->phase_count; i++)
        if (tts_train_part_of(run->phases[i].name) == TTS_RUN_PART_OTHER)
            sum = tts_amount_add(sum, run->phases[i].figures[TTS_RUN_CHANGE]);
    return sum;
}

static void measure_sides(const struct tts_named_run *side,
                          struct tts_amount out[TTS_RUN_PARTS])
{
    out[TTS_RUN_PART_OTHER] = change_of_others(side->run);
    out[TTS_RUN_PART_MODEL] = side->mem->model.actual;
    out[TTS_RUN_PART_GRADIENTS] = side->mem->gradients.actual;
    out[TTS_RUN_PART_OPTIMIZER] = side->mem->optimizer.actual;
    out[TTS_RUN_PART_ACTIVATIONS] = side->mem->activations;
}

static struct tts_amount part_of_peak(const struct tts_trainmem *mem, int part)
{
    assert(!mem->has_parts || mem->parts_are_actual);
    return mem->has_parts ? tts_amount_of(mem->parts[part]) : (struct tts_amount){0};
}

/* Returns the largest rounding error of a sum that has one figure of each phase. */
static int64_t slack_of_sums(const struct tts_rundiff *diff)
{
    return diff->is_rounded ? (int64_t)(diff->phase_count + 1) * TTS_RUN_STEP_BYTES : 0;
}

static void fill_diff_parts(const struct tts_named_run *a, const struct tts_named_run *b,
                            struct tts_rundiff *diff)
{
    struct tts_amount of_a[TTS_RUN_PARTS], of_b[TTS_RUN_PARTS];
    int64_t slack = slack_of_sums(diff);
    /* Parts that a run states cannot be compared with parts computed from phases. */
    bool is_alike = a->mem->parts_are_stated == b->mem->parts_are_stated;
    measure_sides(a, of_a);
    measure_sides(b, of_b);
    diff->activations_sum = delta_of(a->mem->activations_sum, b->mem->activations_sum, slack);
    for (int part = 0; part < TTS_RUN_PARTS; part++) {
        diff->sizes[part] = delta_of(of_a[part], of_b[part], slack);
        diff->parts[part] =
            delta_of(part_of_peak(a->mem, part), part_of_peak(b->mem, part), slack);
        if (!is_alike) {
            diff->parts[part].change = (struct tts_amount){0};
            diff->parts[part].differs = false;
        }
        diff->differs |= diff->sizes[part].differs || diff->parts[part].differs;
    }
}

/* ---- the whole comparison ---- */

static bool diff_is_equal(const struct tts_rundiff *diff)
{
    bool is_any = diff->differs || delta_is_off(&diff->peak) || delta_is_off(&diff->final);
    for (size_t i = 0; i < diff->phase_count && !is_any; i++)
        for (int k = 0; k < TTS_RUN_FIGURES; k++)
            is_any |= delta_is_off(&diff->phases[i].figures[k]);
    return !is_any;
}

enum tts_status tts_rundiff_new(const struct tts_named_run *a, const struct tts_named_run *b,
                                const struct tts_alloc *alloc, struct tts_rundiff *out)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_rundiff diff = {.alloc = alloc,
                               .is_rounded = !a->run->is_exact || !b->run->is_exact};
    int64_t slack = diff.is_rounded ? TTS_RUN_STEP_BYTES : 0;
    enum tts_status status = match_phases(a->run, b->run, alloc, &diff);
    if (status != TTS_OK)
        return status;
    fill_diff_phases(a->run, b->run, &diff);
    diff.peak = delta_of(a->mem->peak, b->mem->peak, slack);
    diff.final = delta_of(a->mem->final, b->mem->final, slack);
    diff.compared += diff.peak.change.is_known + diff.final.change.is_known;
    diff.differs = diff.differing > 0 || diff.peak.differs || diff.final.differs;
    fill_diff_parts(a, b, &diff);
    diff.is_equal = diff_is_equal(&diff);
    fill_cause(a, b, &diff);
    *out = diff;
    return TTS_OK;
}

void tts_rundiff_release(struct tts_rundiff *diff)
{
    /* tts_rundiff_new() allocates two entries for a phase that both runs have, but uses one. */
    size_t most = 0;
    for (size_t i = 0; i < diff->phase_count; i++)
        most += diff->phases[i].where == TTS_IN_BOTH ? 2 : 1;
    if (diff->phases)
        diff->alloc->free(diff->alloc->ctx, diff->phases, most * sizeof *diff->phases);
    *diff = (struct tts_rundiff){0};
}
