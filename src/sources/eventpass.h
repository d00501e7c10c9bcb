/* eventpass.h: one pass over a file of events, for all commands that read one.
 *
 * A keyframe is passed on only at the start of a file (model/item.h). A recording that is
 * damaged in the middle continues at the next good keyframe if there is a follower. The
 * difference that this keyframe shows is passed on as items too (model/recording/resync.h).
 * Plain data, caller's memory. One thread. */
#pragma once

#include "model/follow.h"
#include "model/recording/resync.h"
#include "sources/eventfile.h"

/* Takes one item. A status that is not TTS_OK ends the pass. */
typedef enum tts_status (*tts_eventpass_fn)(void *ctx, const struct tts_item *item,
                                            struct tts_error *err);

struct tts_eventpass {
    struct tts_eventfile *file; /* its watch gets the progress */
    /* The receiver of the items that `take` passes on; NULL if damage ends the pass. */
    struct tts_follow *follow;
    tts_eventpass_fn take;
    void *ctx;
    const struct tts_alloc *alloc;
    /* The times of a graph trace are kept, although they leave out the time between its
     * functions. */
    bool keeps_graph_times;
    bool is_done; /* set by `take` to end the pass */
    /* The rest belongs to the pass and is 0 at first. */
    struct tts_itemgate gate;
    struct tts_resync *resync; /* made at the first gap */
    uint64_t seq;              /* number of the last item passed on */
    uint64_t gap_seq;          /* number of the last event in the last gap */
    uint64_t events;           /* number of events read, without those in gaps */
    uint64_t passed_ns;        /* time of the last item that was not passed on; 0 if unknown */
    bool in_gap;               /* the next items belong to the keyframe after a gap */
    bool is_at_end;
};

void tts_eventpass_release(struct tts_eventpass *pass); /* a zeroed struct is allowed */

/* Passes each item to `take`; after a gap also the items that stand for it. TTS_OK: the end of
 * the file, or `take` is done. The pass can continue if the file has grown. TTS_E_NOMEM.
 * Others: the status of the file if nothing good follows the damage, or a status of `take`. */
TTS_NODISCARD enum tts_status tts_eventpass_run(struct tts_eventpass *pass,
                                                struct tts_error *err);
