/* rundiff.h: compares two runs, A and B: phase by phase and part by part, and finds the phase
 * that explains the change of the peak. A pure function. The rules are in docs/design/diff.md.
 * Heap object. The names of the phases are borrowed from the runs. */
#pragma once

#include "analysis/run/named_run.h"
#include "ttscope/alloc.h"

/* A figure of both runs. `change` is B - A, and is known if both figures are known. `differs`
 * is true if the change is known and larger than the rounding. */
struct tts_delta {
    struct tts_amount a, b, change;
    bool differs;
};

/* Returns true if the change can be stated as a share of A. Such a share has no meaning if A is
 * below 0.01 MB or if B has the other sign. */
bool tts_delta_has_share(const struct tts_delta *delta);
/* Sets *out to change / |A| in hundredths of a percent, rounded. Returns false if the share has
 * no meaning. */
bool tts_delta_share(const struct tts_delta *delta, int64_t *out);

/* Returns true if the change is less than 0.1 % of A. The delta is known. */
bool tts_delta_is_slight(const struct tts_delta *delta);

enum tts_rundiff_where { TTS_IN_BOTH, TTS_ONLY_A, TTS_ONLY_B };

/* A phase of either run. Phases of A and B are the same if both have the same name and are the
 * n-th of that name. */
struct tts_rundiff_phase {
    enum tts_rundiff_where where;
    const char *name;    /* borrowed from the run */
    size_t a, b;         /* index in each run; 0 if the run does not have the phase */
    bool differs;        /* a figure differs, or only one run has the phase */
    bool differs_itself; /* a figure differs that is not cumulative, or only one run has the
                            phase */
    struct tts_delta figures[TTS_RUN_FIGURES];
    /* Contribution to the change of the peak. Known if cause.reason is TOLD. */
    struct tts_amount contribution;
};

/* Says whether a phase explains the change of the peak, or why no phase does. */
enum tts_rundiff_reason {
    TTS_RUNDIFF_TOLD,     /* a phase explains the change */
    TTS_RUNDIFF_SAME,     /* the peak did not change */
    TTS_RUNDIFF_NO_PEAK,  /* a peak or the phase of a peak is unknown */
    TTS_RUNDIFF_LATER,    /* a peak is in a later iteration, which has no phase here */
    TTS_RUNDIFF_CUT,      /* a run is cut off: its peak may be larger */
    TTS_RUNDIFF_NO_PHASE, /* the smaller run lacks the phase of the peak and has other phases */
    TTS_RUNDIFF_UNKNOWN,  /* a Segment Change or Segment Peak up to the peak is unknown */
    TTS_RUNDIFF_CONTRADICTION, /* the figures do not add up to the peak */
};

/* The cause of the change of the peak. The reference is the phase in which the larger run has
 * its peak. This equation is exact:
 *     peak change = sum of all contributions + not_peak + rounding
 * An earlier phase contributes the difference of its Segment Change. The reference phase
 * contributes the difference of its Segment Peak. If the smaller run lacks the reference phase,
 * and has no phase that the larger run lacks, its Segment Peak counts as 0. */
struct tts_rundiff_cause {
    enum tts_rundiff_reason reason;
    size_t peak_phase; /* index in `phases`; set if the reason is TOLD or NO_PHASE */
    /* Set if the reason is TOLD: index of the phase that contributes most to the change, in the
     * direction of the change. */
    size_t phase;
    bool is_peak; /* if TOLD: `phase` contributes its Segment Peak, not its Segment Change */
    /* The peak of the smaller run minus its level in the reference phase, with the sign that
     * works against the change; or 0. */
    int64_t not_peak;
    bool has_other; /* if TOLD: the smaller run has its peak in phases[other_phase] */
    size_t other_phase;
    int64_t rounding; /* the rest of the change, an effect of rounded figures */
    /* The part of the memory that changed most in the direction of the peak. */
    bool has_part;
    enum tts_run_part part;
};

struct tts_rundiff {
    /* In the order of A. Phases that only B has are inserted at their place in B. */
    struct tts_rundiff_phase *phases;
    size_t phase_count;
    size_t only_a, only_b, differing, differing_itself; /* numbers of phases */
    /* Number of phases that do not differ themselves, but have a figure that is equal only
     * within the rounding. */
    size_t within_rounding;
    size_t compared; /* number of figures known in both runs; 0: nothing can be compared */
    struct tts_delta peak, final;
    struct tts_delta sizes[TTS_RUN_PARTS]; /* measured; activations: the maximum at one time */
    struct tts_delta activations_sum;      /* sum over all forward passes */
    /* Parts of the peak, by measured sizes. The changes are unknown if only one run states its
     * parts. */
    struct tts_delta parts[TTS_RUN_PARTS];
    struct tts_rundiff_cause cause;
    bool differs;          /* something differs */
    bool is_equal;         /* all figures known in both runs are equal to the byte */
    bool no_l1_a, no_l1_b; /* the run did not track L1, so its L1 figures are unknown */
    bool is_rounded;       /* a run has printed figures: changes up to 0.01 MB are ignored */
    const struct tts_alloc *alloc;
};

/* Compares two runs. Their `mem` was computed with use_actual_sizes. If `alloc` is NULL, the C
 * library allocates. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_rundiff_new(const struct tts_named_run *a,
                                              const struct tts_named_run *b,
                                              const struct tts_alloc *alloc,
                                              struct tts_rundiff *out);
void tts_rundiff_release(struct tts_rundiff *diff); /* a zeroed struct is fine */
