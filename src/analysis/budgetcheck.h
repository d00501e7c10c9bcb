/* budgetcheck.h: holds a run against a budget: each limit passes, is over, or cannot be told,
 * which is no pass. Pure functions; the rules are in docs/design/budget.md. */
#pragma once

#include "analysis/trainmem.h"
#include "model/budget.h"
#include "model/run.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_budget_status { TTS_BUDGET_PASS, TTS_BUDGET_UNKNOWN, TTS_BUDGET_OVER };

/* X(NAME, text): why it cannot be told. */
#define TTS_BUDGET_REASON_MAP(X)                                                               \
    X(NONE, "")                                                                                \
    X(NO_PHASE, "no phase matches")                                                            \
    X(NO_FIGURE, "the figure is not in the run")                                               \
    X(NO_L1, "L1 is not in this run: all its L1 figures are 0, as ttscope fit prints them")    \
    X(AT_LEAST, "not all of the run is known, so it may be more")                              \
    X(AT_MOST, "not all of the run is known, so it may be less")                               \
    X(IN_PART, "not all of the run is known, so it may be more or less")                       \
    X(REFUSED, "the run does not fit the device, as ttscope fit says")                         \
    X(FIRST_ITERATION, "the log covers the first iteration, and later ones need more")         \
    X(NO_DEVICE, "the memory of the device is not known")                                      \
    X(NO_CORE, "the L1 of a core is not known, name a device")                                 \
    X(NO_BASELINE, "the baseline has no such run")                                             \
    X(NO_BASELINE_PHASE, "the baseline has no such phase")                                     \
    X(NO_BASELINE_FIGURE, "the figure is not in the baseline")                                 \
    X(BASELINE_AT_LEAST, "not all of the baseline is known, it may have been more")            \
    X(BASELINE_IN_PART, "not all of the baseline is known, it may have been more or less")

enum tts_budget_reason {
#define X(name, text) TTS_BUDGET_##name,
    TTS_BUDGET_REASON_MAP(X)
#undef X
        TTS_BUDGET_REASONS
};
const char *tts_budget_reason_text(enum tts_budget_reason reason);

/* Which figure of the run it is; of growth the same on both sides. */
enum tts_budget_figure {
    TTS_BUDGET_OF_DRAM,
    TTS_BUDGET_OF_CORE,  /* what the fullest core had at one instant */
    TTS_BUDGET_OF_TOTAL, /* "Peak Total": where the first is not known of all that is compared
                          */
    TTS_BUDGET_OF_CB,
};
bool tts_budget_is_l1(enum tts_budget_rule rule);

struct tts_budget_finding {
    size_t limit_idx; /* of the budget */
    enum tts_budget_status status;
    enum tts_budget_reason reason; /* NONE unless it is unknown, or over and REFUSED */
    enum tts_budget_figure figure;
    struct tts_amount measured, limit, baseline;
    bool at_least;  /* measured is that or more; of headroom: or less */
    int64_t excess; /* over: beyond the limit, or missing from it; else 0. REFUSED: 0 */
    bool has_phase; /* where it was measured */
    size_t phase;   /* of the run */
    /* For how many it stands; 0: overall. Those that pass are one finding, and so are those
     * that are unknown for the same reason of the whole run, which have no phase. */
    size_t phases;
};

#define TTS_BUDGET_NO_PAIR UINT32_MAX

struct tts_budget_input {
    const struct tts_budget *budget;
    const struct tts_run *run;
    const struct tts_trainmem *mem; /* its device memory is what shares are of */
    struct tts_amount core_bytes;   /* L1 of a core, for shares of it */
    const struct tts_run *baseline; /* NULL: none; then the next two fields are unused */
    const struct tts_trainmem *baseline_mem;
    const uint32_t *pairs;  /* of tts_budget_pairs_new */
    int64_t rounding_bytes; /* what growth may be because figures are rounded */
};

/* What became of a limit: of a phase that can be many findings. */
struct tts_budget_verdict {
    enum tts_budget_status status; /* the worst */
    size_t over, unknown, passed;  /* phases, or 1 */
    struct tts_budget_finding worst;
};

/* Called for each phase that is over or unknown, in their order; then once for all that are
 * unknown for a reason of the whole run; then once for all that pass, with that nearest to its
 * limit. */
typedef void tts_budget_each(void *ctx, const struct tts_budget_finding *finding);

/* `each` may be NULL. */
void tts_budget_judge(const struct tts_budget_input *input, size_t limit_idx,
                      tts_budget_each *each, void *ctx, struct tts_budget_verdict *out);

/* Is there a limit against a baseline? The first of them; limit_count: none. */
size_t tts_budget_first_growth(const struct tts_budget *budget);

/* '*' is any text, '?' any character. */
bool tts_budget_matches(const char *pattern, const char *name);

/* For each phase of the run that of the baseline with the same name: the first for the first,
 * the second for the second. run->phase_count of them, at least one; heap. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_budget_pairs_new(const struct tts_run *run,
                                                   const struct tts_run *baseline,
                                                   const struct tts_alloc *alloc,
                                                   uint32_t **out, struct tts_error *err);
/* NULL is fine. */
void tts_budget_pairs_free(uint32_t *pairs, const struct tts_run *run,
                           const struct tts_alloc *alloc);
