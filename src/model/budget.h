/* budget.h: how much memory a run may take: limits that were written into a file, each of one
 * rule. Plain values, made by a reader; docs/design/budget.md has the rules. */
#pragma once

#include "model/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(NAME, id, place, key, what is measured). The ids are for ever: others keep lists of them.
 * Those of a phase stand behind all others. */
#define TTS_BUDGET_RULE_MAP(X)                                                                 \
    X(DRAM_PEAK, "dram-peak", OVERALL, "dram_peak", "peak of DRAM in the run")                 \
    X(DRAM_HEADROOM, "dram-headroom", OVERALL, "headroom", "DRAM that is free at the peak")    \
    X(DRAM_FINAL, "dram-final", OVERALL, "final_dram", "DRAM in use at the end of the run")    \
    X(L1_CORE, "l1-core", OVERALL, "l1_core", "L1 of the fullest core in the run")             \
    X(CB, "cb", OVERALL, "cb", "circular buffers of the fullest core in the run")              \
    X(PHASE_SEGMENT_PEAK, "phase-segment-peak", PHASE, "segment_peak",                         \
      "peak of DRAM above what was there when the phase began")                                \
    X(PHASE_CHANGE, "phase-change", PHASE, "change", "DRAM that the phase left behind")        \
    X(PHASE_CUMULATIVE_PEAK, "phase-cumulative-peak", PHASE, "cumulative_peak",                \
      "peak of DRAM up to the end of the phase")                                               \
    X(PHASE_L1_CORE, "phase-l1-core", PHASE, "l1_core", "L1 of the fullest core in the phase") \
    X(PHASE_CB, "phase-cb", PHASE, "cb", "circular buffers of the fullest core in the phase")

enum tts_budget_rule {
#define X(name, id, place, key, what) TTS_BUDGET_##name,
    TTS_BUDGET_RULE_MAP(X)
#undef X
        TTS_BUDGET_RULES
};

enum tts_budget_place { TTS_BUDGET_OVERALL, TTS_BUDGET_PHASE };

const char *tts_budget_rule_id(enum tts_budget_rule rule);
const char *tts_budget_rule_key(enum tts_budget_rule rule);  /* in the file */
const char *tts_budget_rule_what(enum tts_budget_rule rule); /* is measured */
enum tts_budget_place tts_budget_rule_place(enum tts_budget_rule rule);

/* What a limit is. A share is one of the device; growth is against a baseline. */
enum tts_budget_unit {
    TTS_BUDGET_BYTES,
    TTS_BUDGET_SHARE,
    TTS_BUDGET_GROWTH_BYTES,
    TTS_BUDGET_GROWTH_SHARE,
    TTS_BUDGET_UNITS
};

enum {
    TTS_BUDGET_OVERALL_RULES = TTS_BUDGET_PHASE_SEGMENT_PEAK,
    TTS_BUDGET_PATTERNS_MAX = 64,
    /* each rule once a unit, those of a phase also once a pattern */
    TTS_BUDGET_LIMITS_MAX =
        TTS_BUDGET_UNITS *
        (TTS_BUDGET_OVERALL_RULES +
         TTS_BUDGET_PATTERNS_MAX * (TTS_BUDGET_RULES - TTS_BUDGET_OVERALL_RULES)),
    TTS_BUDGET_PATH_MAX = 512,
    TTS_BUDGET_SHARE_MAX = 1000 * 100, /* 1000 % */
};

struct tts_budget_limit {
    enum tts_budget_rule rule;
    enum tts_budget_unit unit;
    uint64_t amount;  /* bytes, or hundredths of a percent */
    uint32_t line;    /* in the file */
    uint32_t pattern; /* of a phase: which */
    bool is_bare;     /* bytes, without a unit behind them */
};

/* A label of phases; '*' is any text in it, '?' any character. */
struct tts_budget_pattern {
    uint32_t line;
    char text[TTS_RUN_NAME_MAX];
};

struct tts_budget {
    /* "": not said */
    char device[TTS_BUDGET_PATH_MAX], baseline[TTS_BUDGET_PATH_MAX];
    struct tts_amount device_memory;
    uint32_t device_line, baseline_line; /* of the value, also of device_memory; 0: not said */
    size_t limit_count, pattern_count;
    struct tts_budget_limit limits[TTS_BUDGET_LIMITS_MAX]; /* in the order of the file */
    struct tts_budget_pattern patterns[TTS_BUDGET_PATTERNS_MAX];
};
