/* budget.h: the memory that a run may take: limits from a file, one rule each. Plain values,
 * made by a reader. docs/design/budget.md has the rules. */
#pragma once

#include "model/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(NAME, id, place, key, measured quantity). The ids never change: users keep lists of them.
 * Rules for phases come after all other rules. */
#define TTS_BUDGET_RULE_MAP(X)                                                                 \
    X(DRAM_PEAK, "dram-peak", OVERALL, "dram_peak", "peak of DRAM in the run")                 \
    X(DRAM_HEADROOM, "dram-headroom", OVERALL, "headroom", "DRAM that is free at the peak")    \
    X(DRAM_FINAL, "dram-final", OVERALL, "final_dram", "DRAM in use at the end of the run")    \
    X(L1_CORE, "l1-core", OVERALL, "l1_core", "L1 of the fullest core in the run")             \
    X(CB, "cb", OVERALL, "cb", "circular buffers of the fullest core in the run")              \
    X(PHASE_SEGMENT_PEAK, "phase-segment-peak", PHASE, "segment_peak",                         \
      "peak of DRAM in the phase, above the level when the phase began")                       \
    X(PHASE_CHANGE, "phase-change", PHASE, "change",                                           \
      "DRAM in use after the phase, minus DRAM in use before it")                              \
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
const char *tts_budget_rule_key(enum tts_budget_rule rule); /* key of the rule in the file */
const char *
tts_budget_rule_what(enum tts_budget_rule rule); /* quantity that the rule measures */
enum tts_budget_place tts_budget_rule_place(enum tts_budget_rule rule);

/* The unit of a limit. A share is a share of the device. Growth is relative to a baseline. */
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
    /* each rule once per unit; rules for phases also once per pattern */
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
    uint32_t line;    /* line in the file */
    uint32_t pattern; /* rules for phases: index of the pattern */
    bool is_bare;     /* bytes given without a unit */
};

/* A pattern for the labels of phases. '*' matches any text, '?' any character. */
struct tts_budget_pattern {
    uint32_t line;
    char text[TTS_RUN_NAME_MAX];
};

struct tts_budget {
    /* "": not given */
    char device[TTS_BUDGET_PATH_MAX], baseline[TTS_BUDGET_PATH_MAX];
    struct tts_amount device_memory;
    uint32_t device_line, baseline_line; /* line of the value; device_line is also set by
                                            device_memory. 0: not given */
    size_t limit_count, pattern_count;
    struct tts_budget_limit limits[TTS_BUDGET_LIMITS_MAX]; /* limits in the order of the file */
    struct tts_budget_pattern patterns[TTS_BUDGET_PATTERNS_MAX];
};
