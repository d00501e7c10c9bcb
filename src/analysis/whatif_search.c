#include "analysis/whatif_search.h"

#include "device/space.h"

#include <assert.h>

/* The largest bank that is tried: 32 GiB. The allocator can have twice as many bytes with an
 * alignment of 16 bytes, which is the smallest alignment of DRAM on any chip. */
#define MOST_BYTES (TTS_SPACE_MAX_UNITS / 2 * 16)
enum { FIRST_PART = 4096 }; /* the first step up is 1/4096 of the lower bound */

struct search {
    const struct tts_whatif_search *asked;
    struct tts_whatif_found *out;
    uint64_t low, high; /* sizes in steps: `low` has failed and `high` has passed */
};

static enum tts_status run_size(struct search *search, uint64_t steps, bool *passes,
                                struct tts_error *err)
{
    const struct tts_whatif_search *asked = search->asked;
    search->out->runs++;
    return asked->run(asked->ctx, steps * asked->step_bytes, passes, err);
}

/* Goes up from the lower bound until a size passes. */
static enum tts_status search_up(struct search *search, struct tts_error *err)
{
    const uint64_t most = MOST_BYTES / search->asked->step_bytes;
    uint64_t stride = search->low / FIRST_PART + 1;
    uint64_t known = search->asked->high_bytes / search->asked->step_bytes;
    known = known > search->low && search->asked->high_bytes % search->asked->step_bytes == 0
                ? known
                : 0;
    for (bool passes = false; !passes; stride *= 2) {
        uint64_t next = stride < most - search->low ? search->low + stride : most;
        bool is_known = known > 0 && next >= known;
        if (is_known)
            next = known;
        enum tts_status status = TTS_OK;
        passes = is_known;
        if (!is_known)
            status = run_size(search, next, &passes, err);
        if (status != TTS_OK)
            return status;
        if (passes)
            search->high = next;
        else if (next == most)
            return TTS_OK; /* no size passes */
        else
            search->low = next;
    }
    return TTS_OK;
}

static enum tts_status search_between(struct search *search, struct tts_error *err)
{
    while (search->high - search->low > 1) {
        uint64_t middle = search->low + (search->high - search->low) / 2;
        bool passes;
        enum tts_status status = run_size(search, middle, &passes, err);
        if (status != TTS_OK)
            return status;
        if (passes)
            search->high = middle;
        else
            search->low = middle;
    }
    return TTS_OK;
}

enum tts_status tts_whatif_smallest(const struct tts_whatif_search *asked,
                                    struct tts_whatif_found *out, struct tts_error *err)
{
    struct tts_whatif_found found = {0};
    uint64_t step = asked->step_bytes;
    struct search search = {.asked = asked, .out = &found};
    bool passes;
    assert(step > 0);
    search.low = asked->low_bytes / step + (asked->low_bytes % step > 0);
    search.low += search.low == 0;
    if (search.low > MOST_BYTES / step) {
        *out = found;
        return TTS_OK;
    }
    enum tts_status status = run_size(&search, search.low, &passes, err);
    if (status != TTS_OK)
        return status;
    found.is_least = passes;
    if (passes) {
        search.high = search.low;
    } else {
        status = search_up(&search, err);
        if (status == TTS_OK && search.high > 0)
            status = search_between(&search, err);
    }
    if (status != TTS_OK)
        return status;
    found.found = search.high > 0;
    found.bank_bytes = search.high * step;
    *out = found;
    return TTS_OK;
}
