/* eventpass.h: one pass over a file of events that goes on after damage.
 *
 * A recording that is damaged in the middle is read on at the next good keyframe. What the
 * keyframe says about the missing events is told as items too (model/resync.h), so the reader
 * needs nothing but its follower. Plain data, caller's memory. One thread. */
#pragma once

#include "model/follow.h"
#include "model/resync.h"
#include "sources/eventfile.h"

/* Takes one item. A status that is not TTS_OK ends the step. */
typedef enum tts_status (*tts_eventpass_fn)(void *ctx, const struct tts_item *item,
                                            struct tts_error *err);

struct tts_eventpass {
    struct tts_eventfile *file;
    struct tts_follow *follow; /* that `take` gives the items to; NULL: damage is the end */
    tts_eventpass_fn take;
    void *ctx;
    const struct tts_alloc *alloc;
    /* the pass's own, 0 at first */
    struct tts_resync *resync; /* made at the first gap */
    uint64_t seq;              /* of the last item that was given to `take` */
    uint64_t gap_seq;          /* of the last event of the last gap */
    uint64_t events;           /* that were read; those of a gap are not among them */
    bool in_keyframe;
    bool in_gap; /* the next items are of the keyframe after a gap */
};

void tts_eventpass_release(struct tts_eventpass *pass); /* harmless on a zeroed one */

/* Reads one item and gives it to `take`; after a gap, the items that the gap comes to.
 * TTS_E_NOT_FOUND: the file is at its end. TTS_E_NOMEM. Others: the status of the file, if
 * there is nothing good after the damage, or of `take`. */
TTS_NODISCARD enum tts_status tts_eventpass_step(struct tts_eventpass *pass,
                                                 struct tts_error *err);
