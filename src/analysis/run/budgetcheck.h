/* budgetcheck.h: compares a run with a budget. Each limit passes, is exceeded, or is unknown;
 * unknown is not a pass. Pure functions. The rules are in docs/design/budget.md. */
#pragma once

#include "analysis/run/named_run.h"
#include "model/budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_budget_status { TTS_BUDGET_PASS, TTS_BUDGET_UNKNOWN, TTS_BUDGET_OVER };

/* X(NAME, text): a reason why a result is unknown. */
#define TTS_BUDGET_REASON_MAP(X)                                                               \
    X(NONE, "")                                                                                \
    X(NO_PHASE, "no phase matches the label")                                                  \
    X(NO_FIGURE, "the run does not contain this figure")                                       \
    X(NO_L1, "the L1 use of this run is unknown: all its L1 figures are 0, as in results of "  \
             "ttscope fit")                                                                    \
    X(AT_LEAST, "part of the run is missing, so the real value may be higher")                 \
    X(AT_MOST, "part of the run is missing, so the real value may be lower")                   \
    X(IN_PART, "part of the run is missing, so the real value may be higher or lower")         \
    X(REFUSED, "ttscope fit predicts that the run does not fit the device")                    \
    X(FIRST_ITERATION, "the log covers only the first iteration; later iterations need more "  \
                       "memory and may exceed the limit")                                      \
    X(NO_DEVICE, "the memory of the device is unknown")                                        \
    X(NO_CORE, "the L1 size of a core is unknown: name a device")                              \
    X(NO_BASELINE, "no run of the baseline matches this run")                                  \
    X(NO_BASELINE_PHASE, "the run of the baseline has no phase with this label")               \
    X(NO_BASELINE_FIGURE, "the baseline does not contain this figure")                         \
    X(BASELINE_AT_LEAST, "part of the baseline is missing, so its real value may be higher")   \
    X(BASELINE_IN_PART,                                                                        \
      "part of the baseline is missing, so its real value may be higher or lower")

enum tts_budget_reason {
#define X(name, text) TTS_BUDGET_##name,
    TTS_BUDGET_REASON_MAP(X)
#undef X
        TTS_BUDGET_REASONS
};
const char *tts_budget_reason_text(enum tts_budget_reason reason);

/* The figure of the run that is compared. Growth limits use the same figure on both sides. */
enum tts_budget_figure {
    TTS_BUDGET_OF_DRAM,
    TTS_BUDGET_OF_CORE,  /* use of the fullest core at one instant */
    TTS_BUDGET_OF_TOTAL, /* "Peak Total"; used if OF_CORE is not known on both sides */
    TTS_BUDGET_OF_CB,
};
bool tts_budget_is_l1(enum tts_budget_rule rule);

struct tts_budget_finding {
    size_t limit_idx; /* index in the budget */
    enum tts_budget_status status;
    /* Says why the result is unknown. REFUSED is also set for a limit that is exceeded. */
    enum tts_budget_reason reason;
    enum tts_budget_figure figure;
    struct tts_amount measured, limit, baseline;
    bool at_least;  /* the real value is `measured` or more (for headroom: or less) */
    int64_t excess; /* bytes beyond the limit if exceeded, else 0; REFUSED: 0 */
    bool has_phase; /* there is a phase in which the figure was measured */
    size_t phase;   /* index in the run */
    /* Number of phases that the finding covers. 0: the finding is about the whole run. All
     * phases that pass share one finding. All phases that are unknown for a reason that applies
     * to the whole run share one finding without a phase. */
    size_t phases;
};

/* A run and the budget that the run is compared with. All pointers are borrowed. */
struct tts_budget_input {
    const struct tts_budget *budget;
    struct tts_named_run run;      /* shares are parts of its device memory */
    struct tts_named_run baseline; /* all NULL if there is none */
    struct tts_amount core_bytes;  /* L1 of a core; shares of L1 are parts of it */
    const uint32_t *pairs;         /* of the run with the baseline, from tts_phasepairs_new() */
    int64_t rounding_bytes; /* growth up to this size may be a rounding error of the figures */
};

/* The result of one limit. A limit for phases can have many findings. */
struct tts_budget_verdict {
    enum tts_budget_status status; /* the worst of all findings */
    size_t over, unknown, passed;  /* number of phases; 1 for a limit of the whole run */
    struct tts_budget_finding worst;
};

/* Receives one finding. tts_budget_judge() calls the function in this order: for each phase
 * that is over or unknown; once for all phases that are unknown for a reason that applies to
 * the whole run; once for all phases that pass, with the phase nearest to its limit. */
typedef void tts_budget_each(void *ctx, const struct tts_budget_finding *finding);

/* Compares the run with one limit. `each` may be NULL. */
void tts_budget_judge(const struct tts_budget_input *input, size_t limit_idx,
                      tts_budget_each *each, void *ctx, struct tts_budget_verdict *out);

/* The results of several limits, in one or several runs. */
struct tts_budget_counts {
    uint64_t over, unknown, passed; /* numbers of limits */
    uint64_t runs;
    bool is_partial; /* some data could not be read, or a run has no match */
};
/* Returns the status of all limits together. The status is never a pass if data is missing. */
enum tts_budget_status tts_budget_status_of(const struct tts_budget_counts *counts);

/* Returns the index of the first growth limit, or limit_count if there is none. */
size_t tts_budget_first_growth(const struct tts_budget *budget);

/* Returns true if a limit depends on the memory size of the device. */
bool tts_budget_needs_device(const struct tts_budget *budget);

/* Matches a name with a pattern: '*' matches any text, '?' any character. */
bool tts_budget_matches(const char *pattern, const char *name);
