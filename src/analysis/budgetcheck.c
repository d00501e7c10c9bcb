#include "analysis/budgetcheck.h"

#include "analysis/budget_inside.h"
#include "base/share.h"

#include <assert.h>

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

static bool is_growth(const struct tts_budget_limit *limit)
{
    return limit->unit == TTS_BUDGET_GROWTH_BYTES || limit->unit == TTS_BUDGET_GROWTH_SHARE;
}

size_t tts_budget_first_growth(const struct tts_budget *budget)
{
    size_t i = 0;
    while (i < budget->limit_count && !is_growth(&budget->limits[i]))
        i++;
    return i;
}

/* ---- patterns ---- */

/* Behind the character that begins at `text`. */
static const char *behind_character(const char *text)
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
            name = behind_character(name);
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) { /* the last star takes one more */
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

static int64_t grown(int64_t base, const struct tts_budget_limit *limit)
{
    int64_t size = base < 0 ? (base == INT64_MIN ? INT64_MAX : -base) : base, out;
    int64_t growth = limit->unit == TTS_BUDGET_GROWTH_SHARE
                         ? tts_share_of(size, limit->amount, false)
                         : (int64_t)limit->amount;
    return __builtin_add_overflow(base, growth, &out) ? INT64_MAX : out;
}

/* What is measured, and what it is held against. */
struct pair {
    struct tts_budget_measure measure, base; /* base: of growth only */
};

/* NONE, or why it is not known. */
static enum tts_budget_reason limit_of(const struct tts_budget_input *input,
                                       const struct tts_budget_limit *limit,
                                       const struct pair *pair, int64_t *out)
{
    bool is_l1 = tts_budget_is_l1(limit->rule);
    if (is_growth(limit)) {
        if (pair->base.reason != TTS_BUDGET_NONE)
            return pair->base.reason;
        *out = grown(pair->base.amount.bytes, limit);
        return TTS_BUDGET_NONE;
    }
    if (limit->unit == TTS_BUDGET_BYTES) {
        *out = (int64_t)limit->amount;
        return TTS_BUDGET_NONE;
    }
    struct tts_amount whole = is_l1 ? input->core_bytes : input->mem->device_memory;
    if (!whole.is_known || whole.bytes <= 0)
        return is_l1 ? TTS_BUDGET_NO_CORE : TTS_BUDGET_NO_DEVICE;
    *out = tts_share_of(whole.bytes, limit->amount, limit->rule == TTS_BUDGET_DRAM_HEADROOM);
    return TTS_BUDGET_NONE;
}

/* ---- one finding ---- */

/* Above 0: over. */
static int64_t excess_of(enum tts_budget_rule rule, int64_t measured, int64_t limit)
{
    bool is_least = rule == TTS_BUDGET_DRAM_HEADROOM;
    int64_t more = is_least ? limit : measured, less = is_least ? measured : limit, out;
    if (__builtin_sub_overflow(more, less, &out))
        return more > less ? INT64_MAX : INT64_MIN;
    return out;
}

static void settle(struct tts_budget_finding *finding, enum tts_budget_status status,
                   enum tts_budget_reason reason)
{
    finding->status = status;
    finding->reason = reason;
}

/* Whether a limit is about the room that the device has. */
static bool is_of_device(const struct tts_budget_limit *limit)
{
    return limit->rule == TTS_BUDGET_DRAM_HEADROOM ||
           (limit->rule == TTS_BUDGET_DRAM_PEAK && limit->unit == TTS_BUDGET_SHARE);
}

/* Whether later iterations may be beyond a limit that the first one keeps. */
static bool may_be_over_later(const struct tts_budget_input *input,
                              const struct tts_budget_limit *limit, int64_t limit_bytes)
{
    if (limit->rule == TTS_BUDGET_DRAM_PEAK)
        return tts_trainmem_may_exceed(input->mem, limit_bytes);
    return tts_trainmem_may_exceed(input->mem, input->mem->device_memory.bytes - limit_bytes);
}

/* *distance: how far beyond its limit, below 0 of one that passes. */
static struct tts_budget_finding find(const struct tts_budget_input *input, size_t limit_idx,
                                      const struct pair *pair, int64_t *distance)
{
    const struct tts_budget_limit *limit = &input->budget->limits[limit_idx];
    const struct tts_budget_measure *measure = &pair->measure;
    struct tts_budget_finding finding = {.limit_idx = limit_idx,
                                         .figure = measure->figure,
                                         .measured = measure->amount,
                                         .baseline = pair->base.amount,
                                         .at_least = measure->at_least,
                                         .has_phase = measure->has_phase,
                                         .phase = measure->phase};
    enum tts_budget_reason reason = limit_of(input, limit, pair, &finding.limit.bytes);
    finding.limit.is_known = reason == TTS_BUDGET_NONE;
    *distance = 0;
    if (measure->reason != TTS_BUDGET_NONE || reason != TTS_BUDGET_NONE) {
        settle(&finding, TTS_BUDGET_UNKNOWN,
               measure->reason != TTS_BUDGET_NONE ? measure->reason : reason);
        return finding;
    }
    *distance = excess_of(limit->rule, finding.measured.bytes, finding.limit.bytes);
    if (*distance > (is_growth(limit) ? input->rounding_bytes : 0)) {
        if (pair->base.at_least) {
            settle(&finding, TTS_BUDGET_UNKNOWN, TTS_BUDGET_BASELINE_AT_LEAST);
            return finding;
        }
        settle(&finding, TTS_BUDGET_OVER, TTS_BUDGET_NONE);
        finding.excess = *distance;
    } else if (is_of_device(limit) && input->mem->is_refused) {
        settle(&finding, TTS_BUDGET_OVER, TTS_BUDGET_REFUSED);
    } else if (measure->at_least) {
        settle(&finding, TTS_BUDGET_UNKNOWN,
               limit->rule == TTS_BUDGET_DRAM_HEADROOM ? TTS_BUDGET_AT_MOST
                                                       : TTS_BUDGET_AT_LEAST);
    } else if ((limit->rule == TTS_BUDGET_DRAM_PEAK || is_of_device(limit)) &&
               !is_growth(limit) && may_be_over_later(input, limit, finding.limit.bytes)) {
        settle(&finding, TTS_BUDGET_UNKNOWN, TTS_BUDGET_FIRST_ITERATION);
    }
    return finding;
}

/* ---- what a limit is about ---- */

static struct tts_budget_measure base_unknown(enum tts_budget_reason reason)
{
    return (struct tts_budget_measure){.reason = reason};
}

/* The reasons of a baseline are told as its own. */
static struct tts_budget_measure as_base(struct tts_budget_measure measure)
{
    if (measure.reason == TTS_BUDGET_IN_PART)
        measure.reason = TTS_BUDGET_BASELINE_IN_PART;
    else if (measure.reason != TTS_BUDGET_NONE)
        measure.reason = TTS_BUDGET_NO_BASELINE_FIGURE;
    return measure;
}

static struct pair overall_pair(const struct tts_budget_input *input,
                                const struct tts_budget_limit *limit)
{
    const struct tts_run *base = is_growth(limit) ? input->baseline : NULL;
    const struct tts_budget_wanted wanted = {limit->rule,
                                             tts_budget_l1_of_runs(input->run, base)};
    struct pair pair = {.measure = tts_budget_measure_overall(wanted, input->run, input->mem)};
    if (base)
        pair.base = as_base(tts_budget_measure_overall(wanted, base, input->baseline_mem));
    else if (is_growth(limit))
        pair.base = base_unknown(TTS_BUDGET_NO_BASELINE);
    return pair;
}

/* Which runs track L1. */
struct tracking {
    bool run, baseline;
};

static struct pair phase_pair(const struct tts_budget_input *input,
                              const struct tts_budget_limit *limit, size_t phase,
                              struct tracking tracking)
{
    const struct tts_run *base = is_growth(limit) ? input->baseline : NULL;
    uint32_t other = base ? input->pairs[phase] : TTS_BUDGET_NO_PAIR;
    const struct tts_budget_wanted wanted = {
        limit->rule,
        tts_budget_l1_of_phases(&input->run->phases[phase],
                                other == TTS_BUDGET_NO_PAIR ? NULL : &base->phases[other])};
    struct pair pair = {.measure =
                            tts_budget_measure_phase(wanted, input->run, phase, tracking.run)};
    if (other != TTS_BUDGET_NO_PAIR)
        pair.base = as_base(tts_budget_measure_phase(wanted, base, other, tracking.baseline));
    else if (is_growth(limit))
        pair.base = base_unknown(base ? TTS_BUDGET_NO_BASELINE_PHASE : TTS_BUDGET_NO_BASELINE);
    return pair;
}

/* ---- all of a limit ---- */

struct judge {
    tts_budget_each *each;
    void *ctx;
    struct tts_budget_verdict verdict;
    int64_t worst_distance;
    struct tts_budget_finding nearest; /* of those that pass */
    int64_t nearest_distance;
    struct tts_budget_finding common; /* of those unknown for a reason of the whole run */
};

/* Is it the same for every phase? */
static bool is_of_run(enum tts_budget_reason reason)
{
    return reason == TTS_BUDGET_NO_L1 || reason == TTS_BUDGET_NO_DEVICE ||
           reason == TTS_BUDGET_NO_CORE || reason == TTS_BUDGET_NO_BASELINE;
}

/* The first says the reason for all. */
static void take_common(struct judge *judge, const struct tts_budget_finding *finding)
{
    size_t before = judge->common.phases;
    if (before == 0)
        judge->common = *finding;
    judge->common.phases = before + 1;
    if (before == 0)
        return;
    judge->common.has_phase = false; /* of several it is no figure of one */
    judge->common.phase = 0;
    judge->common.measured = judge->common.baseline = (struct tts_amount){0};
}

static void take(struct judge *judge, const struct tts_budget_finding *finding,
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
    if (finding->status > verdict->status ||
        (is_over && distance > judge->worst_distance)) { /* the first of the unknown */
        verdict->status = finding->status;
        verdict->worst = *finding;
        judge->worst_distance = distance;
    }
    if (finding->phases > 0 && is_of_run(finding->reason))
        take_common(judge, finding);
    else if (judge->each)
        judge->each(judge->ctx, finding);
}

static void finish(struct judge *judge)
{
    struct tts_budget_verdict *verdict = &judge->verdict;
    if (judge->common.phases > 0) {
        if (is_of_run(verdict->worst.reason))
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
    const struct tracking tracking = {.run = is_l1 && tts_budget_tracks_l1(input->run),
                                      .baseline = is_l1 && input->baseline &&
                                                  tts_budget_tracks_l1(input->baseline)};
    assert(limit->pattern < input->budget->pattern_count);
    bool any = false;
    for (size_t i = 0; i < input->run->phase_count; i++) {
        int64_t distance;
        if (!tts_budget_matches(pattern, input->run->phases[i].name))
            continue;
        struct pair pair = phase_pair(input, limit, i, tracking);
        struct tts_budget_finding finding = find(input, limit_idx, &pair, &distance);
        finding.phases = 1;
        take(judge, &finding, distance);
        any = true;
    }
    if (!any) {
        struct tts_budget_finding none = {.limit_idx = limit_idx,
                                          .status = TTS_BUDGET_UNKNOWN,
                                          .reason = TTS_BUDGET_NO_PHASE};
        take(judge, &none, 0);
    }
}

void tts_budget_judge(const struct tts_budget_input *input, size_t limit_idx,
                      tts_budget_each *each, void *ctx, struct tts_budget_verdict *out)
{
    assert(limit_idx < input->budget->limit_count);
    assert(!input->baseline || (input->baseline_mem && input->pairs));
    const struct tts_budget_limit *limit = &input->budget->limits[limit_idx];
    struct judge judge = {.each = each, .ctx = ctx};
    if (tts_budget_rule_place(limit->rule) == TTS_BUDGET_PHASE) {
        judge_phases(&judge, input, limit_idx);
    } else {
        int64_t distance;
        struct pair pair = overall_pair(input, limit);
        struct tts_budget_finding finding = find(input, limit_idx, &pair, &distance);
        take(&judge, &finding, distance);
    }
    finish(&judge);
    *out = judge.verdict;
    assert(out->over + out->unknown + out->passed > 0);
}
