/* tracker_inside.h: the fields of a tracker. Only for the capture room.
 *
 * The flag `folding` is a lock: the thread that has set it folds events, or begins, cuts or
 * ends a phase, and owns everything that is not atomic. A thread that posts an event tries to
 * set the flag for a while, and then puts the event into the inbox. The next thread that sets
 * the flag folds the events in the inbox first. */
#pragma once

#include "capture/inbox.h"
#include "model/fold.h"
#include "ttscope/capture.h"

/* An attached device. This struct is the context of the observer of the device. */
struct tts_attached {
    struct tts_tracker *tracker;
    struct tts_device *device;
    uint32_t id;
    struct tts_attached *next;
};

struct tts_tracker {
    struct tts_tracker_head head; /* read by every event, written at begin and end */
    /* Number of the session, unique over all trackers. A session begins when the tracker gets
     * its first listener. */
    _Atomic uint64_t session;
    atomic_bool has_ops; /* a thread has named an operation in this session */
    /* Whether `recorder` or `publisher` is set. Changed with `folding`, read by any thread. */
    atomic_bool is_told;
    atomic_bool is_published; /* like is_told, for `publisher` alone */
    char apart[64];
    atomic_bool folding;
    struct tts_fold *fold;
    /* Receives every event; NULL if there is none or it has stopped. */
    struct tts_recorder *recorder;
    /* The recorder that must be finished, even if it has stopped. */
    struct tts_recorder *owned_recorder;
    bool has_recorder; /* also true while a recorder is being made */
    /* Publishes every event; NULL if there is none or it has stopped. */
    struct tts_publisher *publisher;
    /* The publisher that must be ended, even if it has stopped. */
    struct tts_publisher *owned_publisher;
    bool has_publisher; /* also true while a publisher is being made */
    uint32_t holds;     /* number of active NO_DISPATCH captures */
    /* Sum of the numbers of devices that each NO_DISPATCH capture has kept from placing
     * buffers. */
    uint64_t held;
    uint32_t capture_numbers; /* number of the last capture in recordings */
    struct tts_attached *attached;
    struct tts_capture *captures; /* list of all captures, active or not */
    uint64_t known_dropped;       /* number of dropped events that the fold already knows */
    struct tts_inbox inbox;
    char apart_too[64];
    /* An event waited in vain for the inbox, and no event was folded since. */
    atomic_bool is_stuck;
    _Atomic uint64_t dropped, refused;
    struct tts_tracker_config limits;
    const struct tts_alloc *alloc;
};

/* tts_tracker_enter() waits until it can set `folding`, and folds all events that were posted
 * before. tts_tracker_leave() clears `folding`. If there is a recorder or a publisher,
 * tts_tracker_leave() also folds events that were posted in between. tts_tracker_try_enter()
 * sets `folding` if no thread has set it; it does not wait and folds nothing. */
void tts_tracker_enter(struct tts_tracker *tracker);
bool tts_tracker_try_enter(struct tts_tracker *tracker);
void tts_tracker_leave(struct tts_tracker *tracker);

/* Around a fork. tts_tracker_stop() sets `folding`, so that no thread is in the middle of a
 * change at the moment of the fork. It waits for one second at most, and returns false if
 * another thread, or the code that a signal handler has interrupted, still folds then. If it
 * returned true, the parent calls tts_tracker_leave() after the fork, and the child calls
 * tts_tracker_resume_child(), which folds the events in the inbox without a recorder and a
 * publisher, because the parent tells them about these events. An event that a thread of the
 * parent was writing counts as dropped. */
bool tts_tracker_stop(struct tts_tracker *tracker);
void tts_tracker_resume_child(struct tts_tracker *tracker);

/* Sets the recorder that receives every event from now on; NULL for none. Call between
 * tts_tracker_enter() and tts_tracker_leave(). */
void tts_tracker_set_recorder(struct tts_tracker *tracker, struct tts_recorder *recorder);
/* Sets the publisher that publishes every event from now on; NULL for none. Call between
 * tts_tracker_enter() and tts_tracker_leave(). */
void tts_tracker_set_publisher(struct tts_tracker *tracker, struct tts_publisher *publisher);

/* tts_tracker_listen() increments the number of listeners (captures, recorders and a
 * publisher), tts_tracker_unlisten() decrements it. When the first listener begins, all counts
 * start at 0. Call both between tts_tracker_enter() and tts_tracker_leave(). */
void tts_tracker_listen(struct tts_tracker *tracker);
void tts_tracker_unlisten(struct tts_tracker *tracker);

/* tts_tracker_hold() increments the number of active NO_DISPATCH captures, tts_tracker_unhold()
 * decrements it. Call both between tts_tracker_enter() and tts_tracker_leave(). */
void tts_tracker_hold(struct tts_tracker *tracker);
void tts_tracker_unhold(struct tts_tracker *tracker);

/* Calls `fn` with a TTS_ITEM_ACTIVE for each active capture. Stops and returns false if `fn`
 * returns false. Call this function between tts_tracker_enter() and tts_tracker_leave(). */
bool tts_tracker_tell_active(const struct tts_tracker *tracker, tts_fold_item_fn fn, void *ctx);

/* Ends all captures and removes their pointers to the tracker. Call it between
 * tts_tracker_enter() and tts_tracker_leave(). */
void tts_tracker_orphan_all(struct tts_tracker *tracker);

/* Detaches all devices. Call it between tts_tracker_enter() and tts_tracker_leave(). */
void tts_tracker_detach_all(struct tts_tracker *tracker);
