/* whatif_search.h: the smallest size of a bank or a region that passes, as far as runs can
 * tell. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stdint.h>

/* One run with banks of that size. Any status but TTS_OK ends the search. */
typedef enum tts_status (*tts_whatif_try_fn)(void *ctx, uint64_t bank_bytes, bool *passes,
                                             struct tts_error *err);

struct tts_whatif_search {
    uint64_t low_bytes;  /* less cannot do: the peak of all blocks */
    uint64_t high_bytes; /* is known to pass; 0: not known */
    uint64_t step_bytes; /* sizes are multiples of it */
    tts_whatif_try_fn run;
    void *ctx;
};
struct tts_whatif_found {
    bool found;          /* else nothing passes that a bank can be */
    uint64_t bank_bytes; /* passed in a run */
    bool is_least;       /* it is the lower bound itself */
    unsigned runs;
};
/* The smallest that could be found: the lower bound, or by going up from it in wider and wider
 * steps and halving the last one. Where a block goes depends on all before it, so a larger bank
 * may fail where a smaller one passed: there may be a smaller one still. */
TTS_NODISCARD enum tts_status tts_whatif_smallest(const struct tts_whatif_search *search,
                                                  struct tts_whatif_found *out,
                                                  struct tts_error *err);
