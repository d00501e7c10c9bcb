/* whatif_search.h: searches the smallest size of a bank or a region with which a run passes. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Runs with banks of the given size and sets *passes. Any status but TTS_OK ends the search. */
typedef enum tts_status (*tts_whatif_try_fn)(void *ctx, uint64_t bank_bytes, bool *passes,
                                             struct tts_error *err);

struct tts_whatif_search {
    uint64_t low_bytes;  /* smaller sizes cannot pass: the peak of all blocks */
    uint64_t high_bytes; /* known to pass; 0: no such size is known */
    uint64_t step_bytes; /* sizes are multiples of this */
    tts_whatif_try_fn run;
    void *ctx;
};
struct tts_whatif_found {
    bool found;          /* false: no possible size passes */
    uint64_t bank_bytes; /* passed in a run */
    bool is_least;       /* bank_bytes is the lower bound */
    unsigned runs;
};
/* Finds a small size that passes: the lower bound, or by growing steps from the lower bound and
 * then halving the last step. The place of a block depends on all blocks before it, so a larger
 * bank may fail where a smaller one passes. A still smaller size may therefore pass too. */
TTS_NODISCARD enum tts_status tts_whatif_smallest(const struct tts_whatif_search *search,
                                                  struct tts_whatif_found *out,
                                                  struct tts_error *err);
