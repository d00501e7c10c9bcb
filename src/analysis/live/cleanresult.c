#include "analysis/live/cleanresult.h"

#include <errno.h>

static const struct tts_cleandone *done_of(const struct tts_cleanresult *result, size_t region)
{
    return result->done && result->done[region].was_tried ? &result->done[region] : NULL;
}

enum tts_cleanstate tts_cleanresult_state(const struct tts_cleanresult *result, size_t region)
{
    const struct tts_cleandone *done = done_of(result, region);
    if (result->plan->regions[region].why != TTS_CLEANWHY_NONE)
        return TTS_CLEANSTATE_REFUSED;
    if (!done)
        return TTS_CLEANSTATE_WOULD_REMOVE;
    return done->err.status == TTS_OK ? TTS_CLEANSTATE_REMOVED : TTS_CLEANSTATE_FAILED;
}

/* Returns what remains in the totals if all entries are removed. */
static struct tts_counters rest_of_region(const struct tts_cleanregion *at)
{
    struct tts_counters rest = at->region->total;
    for (size_t i = 0; i < at->slot_count; i++) {
        const struct tts_counters *bytes = &at->region->slots[at->slots[i]].counters;
        for (int k = 0; k < TTS_COUNTERS; k++)
            rest.bytes[k] -= rest.bytes[k] < bytes->bytes[k] ? rest.bytes[k] : bytes->bytes[k];
    }
    return rest;
}

size_t tts_cleanresult_rows(const struct tts_cleanresult *result, size_t region)
{
    const struct tts_cleanregion *at = &result->plan->regions[region];
    return at->slot_count + (at->needs_reset ? 1 : 0);
}

struct tts_cleanrow tts_cleanresult_row(const struct tts_cleanresult *result, size_t region,
                                        size_t i)
{
    const struct tts_cleanregion *at = &result->plan->regions[region];
    const struct tts_cleandone *done = done_of(result, region);
    bool is_done = done && done->err.status == TTS_OK;
    struct tts_cleanrow row = {.region = at->region};
    if (i < at->slot_count) {
        row.slot = &at->region->slots[at->slots[i]];
        row.is_removed = is_done && done->is_removed[i];
        row.bytes = row.is_removed ? done->before[i] : row.slot->counters;
        return row;
    }
    row.is_removed = is_done && done->is_reset;
    row.bytes = row.is_removed ? done->reset : rest_of_region(at);
    return row;
}

enum tts_cleanstate tts_cleanresult_program(const struct tts_cleanresult *result,
                                            size_t program)
{
    const struct tts_cleangone *gone = result->gone ? &result->gone[program] : NULL;
    if (result->plan->programs[program].why != TTS_CLEANWHY_NONE)
        return TTS_CLEANSTATE_REFUSED;
    if (!gone || !gone->was_tried)
        return TTS_CLEANSTATE_WOULD_REMOVE;
    return gone->err.status == TTS_OK ? TTS_CLEANSTATE_REMOVED : TTS_CLEANSTATE_FAILED;
}

static void add_failure(struct tts_cleansum *sum, const struct tts_error *err)
{
    sum->failed++;
    sum->is_denied |= err->sys_errno == EACCES || err->sys_errno == EPERM;
}

static void sum_region(struct tts_cleansum *sum, const struct tts_cleanresult *result, size_t r)
{
    enum tts_cleanstate state = tts_cleanresult_state(result, r);
    if (state == TTS_CLEANSTATE_REFUSED) {
        sum->refused++;
        return;
    }
    sum->regions++;
    for (size_t i = 0; i < tts_cleanresult_rows(result, r); i++) {
        struct tts_cleanrow row = tts_cleanresult_row(result, r, i);
        uint64_t bytes = tts_counters_sum(&row.bytes);
        sum->rows++;
        sum->removed += row.is_removed;
        sum->bytes += bytes;
        sum->removed_bytes += row.is_removed ? bytes : 0;
    }
    if (state == TTS_CLEANSTATE_FAILED)
        add_failure(sum, &result->done[r].err);
}

static void sum_program(struct tts_cleansum *sum, const struct tts_cleanresult *result,
                        size_t p)
{
    enum tts_cleanstate state = tts_cleanresult_program(result, p);
    uint64_t bytes = tts_counters_sum(&result->plan->programs[p].bytes);
    if (state == TTS_CLEANSTATE_REFUSED) {
        sum->refused++;
        return;
    }
    sum->regions++;
    sum->rows++;
    sum->bytes += bytes;
    sum->removed += state == TTS_CLEANSTATE_REMOVED;
    sum->removed_bytes += state == TTS_CLEANSTATE_REMOVED ? bytes : 0;
    if (state == TTS_CLEANSTATE_FAILED)
        add_failure(sum, &result->gone[p].err);
}

struct tts_cleansum tts_cleanresult_sum(const struct tts_cleanresult *result)
{
    struct tts_cleansum sum = {0};
    for (size_t r = 0; r < result->plan->count; r++)
        sum_region(&sum, result, r);
    for (size_t p = 0; p < result->plan->program_count; p++)
        sum_program(&sum, result, p);
    return sum;
}
