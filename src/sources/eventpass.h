/* eventpass.h: one pass over a file of events, for all who read one.
 *
 * Of the keyframes of a file only one that it starts with is told (model/item.h). A recording
 * that is damaged in the middle is read on at the next good keyframe if there is a follower:
 * what that keyframe says about the missing events is told as items too
 * (model/recording/resync.h). Plain data, caller's memory. One thread. */
#pragma once

#include "model/follow.h"
#include "model/recording/resync.h"
#include "sources/eventfile.h"

/* Takes one item. A status that is not TTS_OK ends the pass. */
typedef enum tts_status (*tts_eventpass_fn)(void *ctx, const struct tts_item *item,
                                            struct tts_error *err);

struct tts_eventpass {
    struct tts_eventfile *file; /* its watch is told how far the pass is */
    struct tts_follow *follow;  /* that `take` gives the items to; NULL: damage is the end */
    tts_eventpass_fn take;
    void *ctx;
    const struct tts_alloc *alloc;
    bool keeps_graph_times; /* they leave out what was between the functions of a trace */
    bool is_done;           /* set by `take`: no more is wanted */
    /* the pass's own, 0 at first */
    struct tts_itemgate gate;
    struct tts_resync *resync; /* made at the first gap */
    uint64_t seq;              /* of the last item that was told */
    uint64_t gap_seq;          /* of the last event of the last gap */
    uint64_t events;           /* that were read; those of a gap are not among them */
    uint64_t passed_ns;        /* when the last item came that was not told; 0: not known */
    bool in_gap;               /* the next items are of the keyframe after a gap */
    bool is_at_end;
};

void tts_eventpass_release(struct tts_eventpass *pass); /* harmless on a zeroed one */

/* Gives each item to `take`; after a gap, the items that the gap comes to. TTS_OK: the file is
 * at its end, or `take` is done. A file that grew can be read on. TTS_E_NOMEM. Others: the
 * status of the file, if there is nothing good after the damage, or of `take`. */
TTS_NODISCARD enum tts_status tts_eventpass_run(struct tts_eventpass *pass,
                                                struct tts_error *err);
