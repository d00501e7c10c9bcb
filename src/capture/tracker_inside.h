/* tracker_inside.h: what a tracker is made of. For the capture room only.
 *
 * `folding` is taken by the thread that folds, or that begins, cuts or ends a phase; everything
 * not atomic belongs to it. An event tries to take it for a while, and goes to the inbox when
 * it cannot: whoever has it next folds what lies there first. */
#pragma once

#include "capture/inbox.h"
#include "model/fold.h"
#include "ttscope/capture.h"

/* A device that tells of its events: the context of its observer. */
struct tts_attached {
    struct tts_tracker *tracker;
    struct tts_device *device;
    uint32_t id;
    struct tts_attached *next;
};

struct tts_tracker {
    struct tts_tracker_head head; /* read by every event, written at begin and end */
    _Atomic uint64_t session;     /* counts the times that a first one listened, over all */
    atomic_bool has_ops;          /* some thread named an operation in this session */
    atomic_bool is_recorded;      /* `recorder` is there: for who does not have `folding` */
    char apart[64];
    atomic_bool folding;
    struct tts_fold *fold;
    struct tts_recorder *recorder; /* that is told of everything; NULL: none, or it stopped */
    struct tts_recorder *owned_recorder; /* that has to be finished, stopped or not */
    bool has_recorder;                   /* or one that is being made */
    uint32_t holds;                      /* active captures without dispatch */
    uint64_t held;                       /* devices that such captures held, over all */
    uint32_t capture_numbers;            /* given to captures, for recordings */
    struct tts_attached *attached;
    struct tts_capture *captures; /* active or not */
    uint64_t known_dropped;       /* of `dropped`: what the fold was told of */
    struct tts_inbox inbox;
    char apart_too[64];
    atomic_bool is_stuck; /* an event waited in vain; until somebody folds again */
    _Atomic uint64_t dropped, refused;
    struct tts_tracker_config limits;
    const struct tts_alloc *alloc;
};

/* Takes `folding`, waiting for it, and folds all that was posted before. With a recorder leave
 * also folds what was posted in between. */
void tts_tracker_enter(struct tts_tracker *tracker);
void tts_tracker_leave(struct tts_tracker *tracker);

/* Who is told of everything from now on; NULL: nobody. Between enter and leave. */
void tts_tracker_set_recorder(struct tts_tracker *tracker, struct tts_recorder *recorder);

/* One more listens, a capture or a recorder, or one less; the first finds nothing counted.
 * Between enter and leave. */
void tts_tracker_listen(struct tts_tracker *tracker);
void tts_tracker_unlisten(struct tts_tracker *tracker);

/* One more active capture keeps devices from placing anything, or one less. Between enter and
 * leave. */
void tts_tracker_hold(struct tts_tracker *tracker);
void tts_tracker_unhold(struct tts_tracker *tracker);

/* A TTS_ITEM_ACTIVE for each capture that is. False: `fn` said so. Between enter and leave. */
bool tts_tracker_tell_active(const struct tts_tracker *tracker, tts_fold_item_fn fn, void *ctx);

/* Ends all captures, which are then without a tracker. Between enter and leave. */
void tts_tracker_orphan_all(struct tts_tracker *tracker);

/* Lets all devices go. Between enter and leave. */
void tts_tracker_detach_all(struct tts_tracker *tracker);
