/* whatif_search.h: searches a small size of a bank or a region with which a replay passes (no
 * request fails), and the whole answer of a replay. */
#pragma once

#include "analysis/whatif.h"
#include "model/partialnotes.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Replays with banks of the given size and sets *passes. Another status than TTS_OK ends the
 * search. */
typedef enum tts_status (*tts_whatif_try_fn)(void *ctx, uint64_t bank_bytes, bool *passes,
                                             struct tts_error *err);

struct tts_whatif_search {
    uint64_t low_bytes;  /* lower bound: the peak of all blocks; a smaller size cannot pass */
    uint64_t high_bytes; /* a size that is known to pass; 0 if no such size is known */
    uint64_t step_bytes; /* all sizes are multiples of this number */
    tts_whatif_try_fn run;
    void *ctx;
};
struct tts_whatif_found {
    bool found;          /* false if no possible size passes */
    uint64_t bank_bytes; /* size that passed in a replay */
    bool is_least;       /* bank_bytes is the lower bound, so no smaller size passes */
    unsigned runs;
};
/* Finds a small size that passes. Tries the lower bound first. If it fails, goes up from the
 * lower bound in growing steps until a size passes, then halves the last step again and again.
 * The result is not always the smallest size: the address of a block depends on all earlier
 * blocks, so a larger bank may fail although a smaller bank passes. */
TTS_NODISCARD enum tts_status tts_whatif_smallest(const struct tts_whatif_search *search,
                                                  struct tts_whatif_found *out,
                                                  struct tts_error *err);

/* A pool that must be larger, with the value for `--set`. */
struct tts_whatif_need {
    enum tts_pool pool; /* L1_SMALL: per core. TRACE: per chip. DRAM: per bank. */
    const char *key;
    uint64_t bytes, own_bytes; /* the size that suffices, and the size that the device has */
};

/* The pools that must be larger. L1_SMALL and TRACE if requests failed there, then DRAM if the
 * larger regions leave too little of it. */
struct tts_whatif_regions {
    struct tts_whatif_need need[3];
    size_t count;
    bool are_run;      /* the recording ran again with all of these sizes */
    uint64_t failures; /* number of failures of that run */
    /* Says why no device can have these sizes, which were then not run; or empty. */
    char impossible[160];
};

/* Adds L1_SMALL and TRACE if larger regions would serve the requests that failed. */
TTS_NODISCARD enum tts_status tts_whatif_find_regions(const struct tts_whatif *whatif,
                                                      const struct tts_chip *chip,
                                                      struct tts_whatif_regions *regions,
                                                      struct tts_error *err);

/* Runs the whole recording on `chip`, with kept steps. The caller frees *out. TTS_E_NOMEM and
 * TTS_E_IO end the search. */
typedef enum tts_status (*tts_whatif_rerun_fn)(void *ctx, const struct tts_chip *chip,
                                               struct tts_whatif **out, struct tts_error *err);

/* Runs the recording with the larger regions, which take their memory from L1 or DRAM. If DRAM
 * is then too small, adds the DRAM that is missing and runs the recording once more, with all
 * sizes together. `rerun` is NULL if the recording cannot be read again: then only
 * regions->impossible is set. */
TTS_NODISCARD enum tts_status tts_whatif_run_regions(struct tts_whatif_regions *regions,
                                                     const struct tts_chip *chip,
                                                     tts_whatif_rerun_fn rerun, void *ctx,
                                                     struct tts_error *err);

/* The answer to the question whether the allocations of a recording fit another device. All
 * pointers are borrowed. */
struct tts_whatif_answer {
    const char *path; /* the recording; "-": standard input */
    const struct tts_chip *chip;
    const struct tts_whatif *whatif;
    struct tts_partial_notes missing;
    uint64_t start_ns; /* start of the recording, on the clock of its items */
    uint64_t before;   /* events before the first item; only a black box has them */
    bool is_dram_only; /* the recording states nothing about L1 */
    bool has_search;   /* the smallest DRAM was searched: the next three fields are set */
    uint64_t low_bytes;
    struct tts_whatif_found found;
    uint64_t bank_size; /* the value of `--set dram_bank_size=` for `found` */
    struct tts_whatif_regions regions;
};
/* Returns true if nothing failed and no data is missing that could have failed. */
bool tts_whatif_answer_fits(const struct tts_whatif_answer *answer);
