#include "views/percent.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

const char *tts_percent_format(char out[TTS_PERCENT_MAX], uint64_t part, uint64_t whole)
{
    assert(part <= whole && whole < UINT64_C(1) << 53);
    uint64_t permille = whole > 0 ? (part * 1000 + whole / 2) / whole : 0;
    if (permille == 0 && part > 0)
        snprintf(out, TTS_PERCENT_MAX, "less than 0.1 %%");
    else if (permille == 1000 && part < whole)
        snprintf(out, TTS_PERCENT_MAX, "more than 99.9 %%");
    else
        snprintf(out, TTS_PERCENT_MAX, "%" PRIu64 ".%" PRIu64 " %%", permille / 10,
                 permille % 10);
    return out;
}
