/* budget_rig.h: a run, a baseline and a budget with figures that a test sets. */
#pragma once

#include "analysis/run/budgetcheck.h"
#include "analysis/run/phasepairs.h"
#include "harness/t.h"

#include <stdio.h>
#include <string.h>

#define MB ((int64_t)1 << 20)

enum { PHASES = 8 };

/* A run and its baseline. The peak of the run is its overall peak. */
struct rig {
    struct tts_budget budget;
    struct tts_run_phase phases[PHASES], base_phases[PHASES];
    struct tts_run run, base;
    struct tts_trainmem mem, base_mem;
    uint32_t pairs[PHASES];
    struct tts_budget_input input;
};

static struct rig rig;

static inline void begin(void)
{
    memset(&rig, 0, sizeof rig);
    rig.run.phases = rig.phases;
    rig.base.phases = rig.base_phases;
    rig.run.overall_peak = rig.base.overall_peak = tts_amount_of(1000 * MB);
    rig.run.final = rig.base.final = tts_amount_of(400 * MB);
    rig.input = (struct tts_budget_input){.budget = &rig.budget, .run = {.run = &rig.run}};
}

static inline struct tts_run_phase *add_phase(struct tts_run *run, const char *name)
{
    struct tts_run_phase *phases = run == &rig.run ? rig.phases : rig.base_phases;
    struct tts_run_phase *phase = &phases[run->phase_count++];
    T_TRUE(run->phase_count <= PHASES);
    snprintf(phase->name, sizeof phase->name, "%s", name);
    phase->line = 10 * run->phase_count;
    return phase;
}

static inline void put(struct tts_run_phase *phase, enum tts_run_figure figure, int64_t bytes)
{
    phase->figures[figure] = tts_amount_of(bytes);
}

static inline size_t add_limit(enum tts_budget_rule rule, enum tts_budget_unit unit,
                               uint64_t amount)
{
    size_t idx = rig.budget.limit_count++;
    rig.budget.limits[idx] =
        (struct tts_budget_limit){.rule = rule, .unit = unit, .amount = amount};
    return idx;
}

static inline size_t add_phase_limit(const char *pattern, enum tts_budget_rule rule,
                                     enum tts_budget_unit unit, uint64_t amount)
{
    size_t idx = add_limit(rule, unit, amount);
    struct tts_budget_pattern *to = &rig.budget.patterns[rig.budget.pattern_count];
    snprintf(to->text, sizeof to->text, "%s", pattern);
    rig.budget.limits[idx].pattern = (uint32_t)rig.budget.pattern_count++;
    return idx;
}

static inline void use_baseline(void)
{
    uint32_t *pairs;
    T_EQ(tts_phasepairs_new(&rig.run, &rig.base, NULL, &pairs), TTS_OK);
    memcpy(rig.pairs, pairs, rig.run.phase_count * sizeof *pairs);
    tts_phasepairs_free(pairs, &rig.run, NULL);
    rig.input.baseline.run = &rig.base;
    rig.input.baseline.mem = &rig.base_mem;
    rig.input.pairs = rig.pairs;
}

struct seen {
    size_t count;
    struct tts_budget_finding findings[2 * PHASES];
};

static inline void see(void *ctx, const struct tts_budget_finding *finding)
{
    struct seen *seen = ctx;
    T_TRUE(seen->count < 2 * PHASES);
    seen->findings[seen->count++] = *finding;
}

static inline struct tts_budget_verdict judge_seen(size_t limit, struct seen *seen)
{
    static const struct tts_trainmem_options device = {
        .device_memory = {true, 2000 * MB}, .device_memory_source = TTS_TRAIN_FROM_OPTION};
    struct tts_budget_verdict verdict;
    *seen = (struct seen){0};
    tts_trainmem_of(&rig.run, &device, &rig.mem);
    tts_trainmem_of(&rig.base, &device, &rig.base_mem);
    rig.input.run.mem = &rig.mem;
    tts_budget_judge(&rig.input, limit, see, seen, &verdict);
    return verdict;
}

static inline struct tts_budget_finding judged(size_t limit)
{
    struct seen seen;
    struct tts_budget_verdict verdict = judge_seen(limit, &seen), again;
    T_EQ(seen.count, 1);
    T_EQ(verdict.status, seen.findings[0].status);
    T_EQ(verdict.worst.status, verdict.status);
    T_EQ(verdict.over + verdict.unknown + verdict.passed, 1);
    tts_budget_judge(&rig.input, limit, NULL, NULL, &again);
    T_EQ(again.status, verdict.status);
    return seen.findings[0];
}

static inline void expect(size_t limit, enum tts_budget_status status, int64_t limit_bytes,
                          int64_t excess)
{
    struct tts_budget_finding finding = judged(limit);
    T_EQ(finding.status, status);
    T_EQ(finding.reason, TTS_BUDGET_NONE);
    T_TRUE(finding.limit.is_known && finding.measured.is_known);
    T_EQ(finding.limit.bytes, limit_bytes);
    T_EQ(finding.excess, excess);
    T_EQ(finding.limit_idx, limit);
}

static inline void expect_unknown(size_t limit, enum tts_budget_reason reason)
{
    struct tts_budget_finding finding = judged(limit);
    T_EQ(finding.status, TTS_BUDGET_UNKNOWN);
    T_EQ(finding.reason, reason);
    T_EQ(finding.excess, 0);
    T_TRUE(strlen(tts_budget_reason_text(reason)) > 5);
}
