/* cleanresult.h: what became of a plan to clean memory regions: the entries and the regions of
 * programs that are removed or would be removed. Plain data and pure functions. Any thread. */
#pragma once

#include "analysis/live/cleanplan.h"

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

/* What was done to the region of one program. */
struct tts_cleangone {
    bool was_tried;
    struct tts_error err; /* why the region was not removed; TTS_OK: removed */
};

/* A plan and its result. All are borrowed. */
struct tts_cleanresult {
    const struct tts_cleanplan *plan;
    const struct tts_cleandone *done; /* for each region of the plan; NULL: nothing was tried */
    const struct tts_cleangone *gone; /* for each program of the plan; NULL: as above */
};

/* An entry of a dead process, or the bytes of a region that belong to no entry. */
struct tts_cleanrow {
    const struct tts_seenregion *region;
    const struct tts_seenslot *slot; /* NULL: the bytes of no entry */
    struct tts_counters bytes;
    bool is_removed;
};

/* What a result adds up to. The region of a program is one region with one row. */
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
/* `program` is a place among the programs of the plan. */
enum tts_cleanstate tts_cleanresult_program(const struct tts_cleanresult *result,
                                            size_t program);
struct tts_cleansum tts_cleanresult_sum(const struct tts_cleanresult *result);
