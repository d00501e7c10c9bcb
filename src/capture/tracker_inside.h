/* tracker_inside.h: the parts of a tracker. Only for the capture room.
 *
 * `folding` is a flag that one thread holds at a time: the thread that folds events, or that
 * begins, cuts or ends a phase. That thread owns everything that is not atomic. An event tries
 * to take the flag for a while and then goes to the inbox. The next thread that takes the flag
 * folds the inbox first. */
#pragma once

#include "capture/inbox.h"
#include "model/fold.h"
#include "ttscope/capture.h"

/* An attached device. This is the context of its observer. */
struct tts_attached {
    struct tts_tracker *tracker;
    struct tts_device *device;
    uint32_t id;
    struct tts_attached *next;
};

struct tts_tracker {
    struct tts_tracker_head head; /* read by every event, written at begin and end */
    /* Number of the session, unique over all trackers. A session begins with a first listener.
     */
    _Atomic uint64_t session;
    atomic_bool has_ops;     /* a thread has named an operation in this session */
    atomic_bool is_recorded; /* whether `recorder` is set, for threads without `folding` */
    char apart[64];
    atomic_bool folding;
    struct tts_fold *fold;
    struct tts_recorder *recorder; /* receives everything; NULL: none, or it has stopped */
    struct tts_recorder *owned_recorder; /* must be finished, even if it has stopped */
    bool has_recorder;                   /* also true while a recorder is being made */
    uint32_t holds;                      /* number of active NO_DISPATCH captures */
    /* Sum of the numbers of devices that each NO_DISPATCH capture has kept from placing
     * buffers. */
    uint64_t held;
    uint32_t capture_numbers; /* last number given to a capture, for recordings */
    struct tts_attached *attached;
    struct tts_capture *captures; /* active or not */
    uint64_t known_dropped;       /* how many of `dropped` the fold already knows */
    struct tts_inbox inbox;
    char apart_too[64];
    atomic_bool is_stuck; /* an event waited in vain, and no event was folded since */
    _Atomic uint64_t dropped, refused;
    struct tts_tracker_config limits;
    const struct tts_alloc *alloc;
};

/* tts_tracker_enter() waits for `folding`, takes it and folds all events posted before.
 * tts_tracker_leave() gives it back. With a recorder it also folds events posted in between. */
void tts_tracker_enter(struct tts_tracker *tracker);
void tts_tracker_leave(struct tts_tracker *tracker);

/* Sets the recorder that receives everything from now on; NULL: none. Call it between
 * tts_tracker_enter() and tts_tracker_leave(). */
void tts_tracker_set_recorder(struct tts_tracker *tracker, struct tts_recorder *recorder);

/* Increment or decrement the number of listeners (captures and recorders). For the first
 * listener all counts start at 0. Call it between tts_tracker_enter() and
 * tts_tracker_leave(). */
void tts_tracker_listen(struct tts_tracker *tracker);
void tts_tracker_unlisten(struct tts_tracker *tracker);

/* Increment or decrement the number of active NO_DISPATCH captures. Call it between
 * tts_tracker_enter() and tts_tracker_leave(). */
void tts_tracker_hold(struct tts_tracker *tracker);
void tts_tracker_unhold(struct tts_tracker *tracker);

/* Calls `fn` with a TTS_ITEM_ACTIVE for each active capture. Returns false if `fn` does. Call
 * it between tts_tracker_enter() and tts_tracker_leave(). */
bool tts_tracker_tell_active(const struct tts_tracker *tracker, tts_fold_item_fn fn, void *ctx);

/* Ends all captures and removes their pointers to the tracker. Call it between
 * tts_tracker_enter() and tts_tracker_leave(). */
void tts_tracker_orphan_all(struct tts_tracker *tracker);

/* Detaches all devices. Call it between tts_tracker_enter() and tts_tracker_leave(). */
void tts_tracker_detach_all(struct tts_tracker *tracker);
