/* rundiff.h: what changed between two runs, A and B: phase by phase, part by part, and which
 * phase explains the change of the peak. A pure function; the rules are in
 * docs/design/diff.md. Heap object; what it was made of is borrowed while it is made. */
#pragma once

#include "analysis/trainmem.h"
#include "ttscope/alloc.h"

/* A figure of both. `change` is B - A, known if both are. `differs`: it is known and more than
 * the figures may be off by themselves. */
struct tts_delta {
    struct tts_amount a, b, change;
    bool differs;
};

/* Does a share of A mean something? Not if A is below 0.01 MB, or B has the other sign. */
bool tts_delta_has_share(const struct tts_delta *delta);
/* change / |A| in hundredths of a percent, rounded. False: it has none. */
bool tts_delta_share(const struct tts_delta *delta, int64_t *out);

enum tts_rundiff_where { TTS_IN_BOTH, TTS_ONLY_A, TTS_ONLY_B };

/* Phases are the same if they have the same name, and are the n-th of it in their run. */
struct tts_rundiff_phase {
    enum tts_rundiff_where where;
    size_t a, b;         /* its number in each; 0 where it is not */
    bool differs;        /* a figure does, or it is only in one of them */
    bool differs_itself; /* not only what is carried on from before: a cumulative figure */
    struct tts_delta figures[TTS_RUN_FIGURES];
    /* To the change of the peak; known where that can be told (cause). */
    struct tts_amount contribution;
};

/* Why it cannot be told which phase explains the change of the peak. */
enum tts_rundiff_reason {
    TTS_RUNDIFF_TOLD,          /* it can */
    TTS_RUNDIFF_SAME,          /* there is no change */
    TTS_RUNDIFF_NO_PEAK,       /* the peak of one is not known, or in which phase it is */
    TTS_RUNDIFF_LATER,         /* a peak is in a later iteration, which has no phase here */
    TTS_RUNDIFF_CUT,           /* one is cut off: its peak may be more */
    TTS_RUNDIFF_NO_PHASE,      /* only the larger has the phase of the peak, the other others */
    TTS_RUNDIFF_UNKNOWN,       /* a Segment Change or Segment Peak before is not known */
    TTS_RUNDIFF_CONTRADICTION, /* they do not add up to the peak */
};

/* Where the change of the peak comes from. Taken is the phase in which the larger run has its
 * peak. Then exactly
 *     peak change = sum of all contributions + not_peak + rounding
 * A contribution is the difference of Segment Change of a phase before it, or that of Segment
 * Peak of the phase itself. If the smaller run does not have it, nor any that the larger has
 * not, its Segment Peak there is 0. */
struct tts_rundiff_cause {
    enum tts_rundiff_reason reason;
    size_t peak_phase; /* TOLD: of `phases`; NO_PHASE too */
    size_t phase;      /* TOLD: the largest contribution in the direction of the change */
    bool is_peak;      /* TOLD: it is by its Segment Peak, not by its Segment Change */
    /* What the smaller run had more elsewhere: it goes against the change, or is 0. */
    int64_t not_peak;
    bool has_other; /* TOLD: where the smaller run has its peak, of `phases` */
    size_t other_phase;
    int64_t rounding; /* by as much the printed figures do not add up */
    /* The part of the peak that grew or shrank most with it; no matter in which phase. */
    bool has_part;
    enum tts_run_part part;
};

struct tts_rundiff {
    struct tts_rundiff_phase *phases; /* in the order of A, those only in B in between */
    size_t phase_count;
    size_t only_a, only_b, differing, differing_itself; /* phases */
    size_t compared; /* figures that are known in both; 0: nothing can be told */
    struct tts_delta peak, final;
    struct tts_delta sizes[TTS_RUN_PARTS]; /* measured; activations: the most at once */
    struct tts_delta activations_sum;      /* added up over all forward passes */
    /* Of the peak, by sizes measured. The changes are not known if only one run states them. */
    struct tts_delta parts[TTS_RUN_PARTS];
    struct tts_rundiff_cause cause;
    bool differs;          /* anything */
    bool is_equal;         /* and what is known of both is the same to the byte */
    bool no_l1_a, no_l1_b; /* it did not track L1, which is not known then */
    bool is_rounded;       /* one of them is as printed: up to 0.01 MB is no difference */
    const struct tts_alloc *alloc;
};

/* `mem` is made with use_actual_sizes. */
struct tts_rundiff_side {
    const struct tts_run *run;
    const struct tts_trainmem *mem;
};

/* TTS_E_NOMEM. `alloc` NULL is the C library's. */
TTS_NODISCARD enum tts_status tts_rundiff_new(const struct tts_rundiff_side *a,
                                              const struct tts_rundiff_side *b,
                                              const struct tts_alloc *alloc,
                                              struct tts_rundiff *out);
void tts_rundiff_release(struct tts_rundiff *diff); /* a zeroed one is fine */
