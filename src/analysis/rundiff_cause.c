/* Which phase the change of the peak comes from. */
#include "analysis/rundiff_inside.h"
#include "analysis/trainmem_inside.h"

#include <assert.h>

/* A run up to its peak, or up to the same phase in the other one. */
struct way {
    size_t phase; /* of its run */
    struct tts_amount level;
};

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

/* The Segment Peak of the phase of the peak; of a run that does not have it nothing. */
static struct tts_amount reached(const struct tts_rundiff *diff, const struct tts_delta *top,
                                 bool of_b)
{
    enum tts_rundiff_where where = diff->phases[diff->cause.peak_phase].where;
    if (where == (of_b ? TTS_ONLY_A : TTS_ONLY_B))
        return tts_amount_of(0);
    return of_b ? top->b : top->a;
}

/* What each phase put into both ways, B less A; and how high they are. False: not known. */
static bool walk(struct tts_rundiff *diff, struct way *a, struct way *b)
{
    const struct tts_delta *top =
        &diff->phases[diff->cause.peak_phase].figures[TTS_RUN_SEGMENT_PEAK];
    a->level = reached(diff, top, false);
    b->level = reached(diff, top, true);
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

/* The phase in which a run has its peak; phase_count: none. */
static size_t find(const struct tts_rundiff *diff, bool of_b, size_t phase)
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

/* The printed figures may be off, each by a half step; bytes may not. */
static bool is_near(const struct tts_rundiff *diff, int64_t away)
{
    int64_t slack =
        diff->is_rounded ? (int64_t)(diff->phase_count + 4) * TTS_RUN_HALF_STEP_BYTES : 0;
    return away <= slack && away >= -slack;
}

/* What is left of the change behind the contributions. False: the figures contradict. */
static bool settle(struct tts_rundiff *diff, bool grew, const struct way *larger,
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
    /* No phase is above the peak of its run, but by rounding. */
    if (!is_near(diff, off) || (below > 0 && !is_near(diff, below)))
        return false;
    int64_t rest = below < 0 ? below : 0;
    off += below - rest;
    diff->cause.not_peak = grew ? rest : -rest;
    diff->cause.rounding = grew ? off : -off;
    return true;
}

/* How many phases of the run that does not have `phase` are before it: up to the nearest that
 * the other has before it too. */
static size_t place_of(const struct tts_rundiff *diff, size_t phase)
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

/* Does the smaller run have phases, and only such as the larger has? */
static bool is_within(const struct tts_rundiff *diff, bool grew)
{
    size_t only_smaller = grew ? diff->only_a : diff->only_b;
    size_t only_larger = grew ? diff->only_b : diff->only_a;
    return only_smaller == 0 && only_larger < diff->phase_count;
}

static void find_part(struct tts_rundiff *diff)
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

/* False: none goes in the direction of the change, which is less than the rounding. */
static bool choose(struct tts_rundiff *diff, bool grew)
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

static enum tts_rundiff_reason explain(const struct tts_rundiff_side *a,
                                       const struct tts_rundiff_side *b,
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
    diff->cause.peak_phase = find(diff, grew, larger->peak_phase);
    assert(diff->cause.peak_phase < diff->phase_count);
    const struct tts_rundiff_phase *top = &diff->phases[diff->cause.peak_phase];
    if (top->where != TTS_IN_BOTH && !is_within(diff, grew))
        return TTS_RUNDIFF_NO_PHASE; /* it may have another name there */
    size_t place = top->where == TTS_IN_BOTH ? 0 : place_of(diff, diff->cause.peak_phase);
    struct way in_a = {.phase = top->where == TTS_ONLY_B ? place : top->a};
    struct way in_b = {.phase = top->where == TTS_ONLY_A ? place : top->b};
    if (!walk(diff, &in_a, &in_b))
        return TTS_RUNDIFF_UNKNOWN;
    if (!settle(diff, grew, grew ? &in_b : &in_a, grew ? &in_a : &in_b) || !choose(diff, grew))
        return TTS_RUNDIFF_CONTRADICTION;
    const struct tts_trainmem *smaller = grew ? a->mem : b->mem;
    diff->cause.has_other = smaller->has_peak_phase;
    if (smaller->has_peak_phase)
        diff->cause.other_phase = find(diff, !grew, smaller->peak_phase);
    return TTS_RUNDIFF_TOLD;
}

void tts_rundiff_explain(const struct tts_rundiff_side *a, const struct tts_rundiff_side *b,
                         struct tts_rundiff *diff)
{
    diff->cause.reason = explain(a, b, diff);
    if (diff->peak.differs && diff->cause.reason != TTS_RUNDIFF_CUT)
        find_part(diff);
    if (diff->cause.reason != TTS_RUNDIFF_TOLD)
        forget_contributions(diff);
}
