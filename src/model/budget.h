/* budget.h: the memory that a run may use, as a list of limits from a budget file. A rule is a
 * kind of limit, for example "dram-peak". A reader (sources) makes these plain values.
 * docs/design/budget.md explains the rules. */
#pragma once

#include "model/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each row is X(NAME, id, place, key, measured quantity) of a rule. The ids never change,
 * because users keep lists of them. Rules for phases come after all other rules. */
#define TTS_BUDGET_RULE_MAP(X)                                                                 \
    X(DRAM_PEAK, "dram-peak", OVERALL, "dram_peak", "peak of DRAM in the run")                 \
    X(DRAM_HEADROOM, "dram-headroom", OVERALL, "headroom", "DRAM that is free at the peak")    \
    X(DRAM_FINAL, "dram-final", OVERALL, "final_dram", "DRAM in use at the end of the run")    \
    X(L1_CORE, "l1-core", OVERALL, "l1_core", "L1 of the fullest core in the run")             \
    X(CB, "cb", OVERALL, "cb", "Peak CB of the run: all circular buffers of a device, added")  \
    X(PHASE_SEGMENT_PEAK, "phase-segment-peak", PHASE, "segment_peak",                         \
      "peak of DRAM in the phase, above the level when the phase began")                       \
    X(PHASE_CHANGE, "phase-change", PHASE, "change",                                           \
      "DRAM in use after the phase, minus DRAM in use before it")                              \
    X(PHASE_CUMULATIVE_PEAK, "phase-cumulative-peak", PHASE, "cumulative_peak",                \
      "peak of DRAM up to the end of the phase")                                               \
    X(PHASE_L1_CORE, "phase-l1-core", PHASE, "l1_core", "L1 of the fullest core in the phase") \
    X(PHASE_CB, "phase-cb", PHASE, "cb",                                                       \
      "Peak CB of the phase: all circular buffers of a device, added")

enum tts_budget_rule {
#define X(name, id, place, key, what) TTS_BUDGET_##name,
    TTS_BUDGET_RULE_MAP(X)
#undef X
        TTS_BUDGET_RULES
};

enum tts_budget_place { TTS_BUDGET_OVERALL, TTS_BUDGET_PHASE };

const char *tts_budget_rule_id(enum tts_budget_rule rule);
const char *
tts_budget_rule_key(enum tts_budget_rule rule); /* returns the key of the rule in the file */
const char *tts_budget_rule_what(
    enum tts_budget_rule rule); /* returns the name of the quantity that the rule measures */
enum tts_budget_place tts_budget_rule_place(enum tts_budget_rule rule);

/* The unit of a limit. A share is relative to the memory of the device. Growth is relative to
 * an earlier run, the baseline. */
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
    /* each rule can occur once for each unit; a rule for phases, once for each unit and
     * pattern */
    TTS_BUDGET_LIMITS_MAX =
        TTS_BUDGET_UNITS *
        (TTS_BUDGET_OVERALL_RULES +
         TTS_BUDGET_PATTERNS_MAX * (TTS_BUDGET_RULES - TTS_BUDGET_OVERALL_RULES)),
    TTS_BUDGET_PATH_MAX = 512,
    TTS_BUDGET_SHARE_MAX = 1000 * 100, /* 1000 %, in hundredths of a percent */
};

struct tts_budget_limit {
    enum tts_budget_rule rule;
    enum tts_budget_unit unit;
    uint64_t amount;  /* bytes, or hundredths of a percent */
    uint32_t line;    /* line of the limit in the file */
    uint32_t pattern; /* index of the pattern, for rules for phases */
    bool is_bare;     /* the file gives a number of bytes without a unit */
};

/* A pattern for the labels of phases. '*' matches any text, '?' any character. */
struct tts_budget_pattern {
    uint32_t line;
    char text[TTS_RUN_NAME_MAX];
};

struct tts_budget {
    /* Paths in the file. A path is "" if the file does not give it. */
    char device[TTS_BUDGET_PATH_MAX], baseline[TTS_BUDGET_PATH_MAX];
    struct tts_amount device_memory;
    /* Lines of these values, 0 if not given. device_memory sets device_line too. */
    uint32_t device_line, baseline_line;
    size_t limit_count, pattern_count;
    struct tts_budget_limit limits[TTS_BUDGET_LIMITS_MAX]; /* limits in the order of the file */
    struct tts_budget_pattern patterns[TTS_BUDGET_PATTERNS_MAX];
};
