/* eventpass.h: one pass over a file of events, for all commands that read such a file.
 *
 * A keyframe lists the live buffers at one moment. It is passed on only at the start of a file
 * (model/item.h). If a recording is damaged in the middle, the pass continues at the next good
 * keyframe, provided that `follow` is set. The difference between the state before the damage
 * and this keyframe is passed on as items too (model/recording/resync.h). Plain data, caller's
 * memory. One thread at a time. */
#pragma once

#include "model/follow.h"
#include "model/recording/resync.h"
#include "sources/eventfile.h"

/* Takes one item. A status that is not TTS_OK ends the pass. */
typedef enum tts_status (*tts_eventpass_fn)(void *ctx, const struct tts_item *item,
                                            struct tts_error *err);

struct tts_eventpass {
    struct tts_eventfile *file; /* the watch of the file is told the progress */
    /* Follows the items that `take` gets, so that the reading can continue after damage. If
     * NULL, damage ends the pass. */
    struct tts_follow *follow;
    tts_eventpass_fn take;
    void *ctx;
    const struct tts_alloc *alloc;
    /* True: the times of a graph trace are passed on, although they leave out the time between
     * the functions of the trace. */
    bool keeps_graph_times;
    bool is_done; /* set by `take` to end the pass */
    /* The following fields belong to the pass and are 0 at first. */
    struct tts_itemgate gate;
    struct tts_resync *resync; /* created at the first gap */
    uint64_t seq;              /* number of the last item passed on */
    uint64_t gap_seq;          /* number of the last event in the last gap */
    uint64_t events;           /* number of events read, without those in gaps */
    uint64_t passed_ns;        /* time of the last item that was not passed on; 0 if unknown */
    bool in_gap;               /* the next items belong to the keyframe after a gap */
    bool is_at_end;
};

void tts_eventpass_release(struct tts_eventpass *pass); /* a zeroed struct is allowed */

/* Passes each item to `take`. After a gap (events missing because of damage) also passes the
 * items that describe what changed in the gap.
 * Returns TTS_OK at the end of the file, or after `take` has set is_done. The pass can continue
 * if the file has grown. Returns TTS_E_NOMEM, a status of `take`, or the status of the file if
 * nothing readable follows the damage. */
TTS_NODISCARD enum tts_status tts_eventpass_run(struct tts_eventpass *pass,
                                                struct tts_error *err);
