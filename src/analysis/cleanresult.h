/* cleanresult.h: what became of a plan to clean memory regions: the entries that are removed or
 * would be removed, region by region. Plain data and pure functions. Any thread. */
#pragma once

#include "analysis/cleanplan.h"

enum tts_cleanstate {
    TTS_CLEANSTATE_WOULD_REMOVE,
    TTS_CLEANSTATE_REMOVED,
    TTS_CLEANSTATE_REFUSED, /* the plan says why */
    TTS_CLEANSTATE_FAILED,  /* the error says why */
};

/* What was done to one region of a plan. */
struct tts_cleandone {
    bool was_tried;
    struct tts_error err;                /* why nothing was removed; TTS_OK: removed */
    bool is_removed[TTS_HOSTVIEW_SLOTS]; /* by place in `slots` of the plan */
    struct tts_counters before[TTS_HOSTVIEW_SLOTS]; /* what a removed entry held */
    bool is_reset;
    struct tts_counters reset; /* what the totals held before the reset */
};

/* A plan and its result. Both are borrowed. */
struct tts_cleanresult {
    const struct tts_cleanplan *plan;
    const struct tts_cleandone *done; /* for each region of the plan; NULL: nothing was tried */
};

/* An entry of a dead process, or the bytes of a region that belong to no entry. */
struct tts_cleanrow {
    const struct tts_seenregion *region;
    const struct tts_seenslot *slot; /* NULL: the bytes of no entry */
    struct tts_counters bytes;
    bool is_removed;
};

/* What a result adds up to. */
struct tts_cleansum {
    size_t regions, rows, removed, refused, failed;
    uint64_t bytes, removed_bytes;
    bool is_denied; /* a failure is a missing permission */
};

/* `region` is a place in the plan. Refused regions have rows, too: nothing of them is removed.
 */
enum tts_cleanstate tts_cleanresult_state(const struct tts_cleanresult *result, size_t region);
size_t tts_cleanresult_rows(const struct tts_cleanresult *result, size_t region);
struct tts_cleanrow tts_cleanresult_row(const struct tts_cleanresult *result, size_t region,
                                        size_t i);
struct tts_cleansum tts_cleanresult_sum(const struct tts_cleanresult *result);
