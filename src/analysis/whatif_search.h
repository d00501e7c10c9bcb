/* whatif_search.h: searches a small size of a bank or a region with which a replay passes (no
 * request fails). */
#pragma once

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
