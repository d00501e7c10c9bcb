/* recorder_inside.h: the fields of a recorder. Only for the files recorder*.c.
 *
 * While a recorder writes, it is the `recorder` of its tracker and belongs to the thread that
 * folds. To stop, it removes itself from the tracker. Later events are not written; their
 * number follows from the event numbers of the fold. */
#pragma once

#include "capture/recorder_file.h"
#include "capture/recorder_hook.h"
#include "capture/recorder_places.h"
#include "capture/tracker_inside.h"
#include "model/recording/recenc.h"
#include "model/recording/recformat.h"

/* Why a recorder no longer writes. */
enum tts_recorder_stopped {
    TTS_RECORDER_GOES_ON,
    TTS_RECORDER_REFUSED, /* the system refused, with the error state.sys_errno */
    TTS_RECORDER_LEFT,    /* this process is the child of a fork; the parent records */
};

struct tts_recorder {
    struct tts_recenc enc;
    /* The event that is being written. Fields that its kind does not use may still have values
     * of an earlier event. */
    struct tts_item item;
    /* Points to 1 in the process that records, and to 0 in its children. */
    const volatile uint32_t *home;
    struct tts_fold *fold;
    struct tts_tracker *tracker; /* NULL if the tracker was freed */
    unsigned char *place;        /* memory of the current block */
    uint64_t blocks;             /* number of blocks begun */
    /* Number of further refused requests after which a keyframe is written. */
    uint32_t keyframes_left;
    bool in_keyframe; /* writing a keyframe that may continue in the next block */
    enum tts_recorder_stopped stopped;
    struct tts_rec_block block; /* header of the current block */
    struct tts_rec_state state; /* state, as in the header of the file */
    /* Event numbers at the start, and when the recorder stopped or ended. */
    uint64_t start_seq, end_seq;
    /* Final state, if the tracker was freed before the recorder ended. */
    struct tts_recorder_state finished;
    enum tts_status finish_status;
    struct tts_error finish_error;
    struct tts_places places;
    struct tts_recorder_file file;
    /* Copy of the encoder from before a keyframe that may not fit. */
    struct tts_recenc kept_enc;
    uint64_t hidden_commit; /* commit word of a keyframe that readers do not see yet */
    uint64_t keep_bytes;
    uint64_t flags; /* flags of the file header */
    const struct tts_alloc *alloc;
};

/* A block begins with a keyframe only if at most this many buffers are live. */
enum { TTS_RECORDER_KEYFRAME_LIVE = 8192 };

/* Time is written in units of 2^UNIT_SHIFT ticks, because smaller units cost bytes and add no
 * information. KEYFRAMES is the number of refused requests after which a keyframe is
 * written. */
enum { TTS_RECORDER_UNIT_SHIFT = 8, TTS_RECORDER_KEYFRAMES = 16 };

/* Writes the first block with the current state. Returns false if the recording has stopped.
 * Call it between tts_tracker_enter() and tts_tracker_leave(). */
bool tts_recorder_start(struct tts_recorder *recorder);
static inline bool tts_recorder_is_child(const struct tts_recorder *recorder)
{
    return *recorder->home == 0;
}
/* Stops the recorder in a child process. The file belongs to the parent. */
void tts_recorder_leave_to_parent(struct tts_recorder *recorder);
/* Writes the next state into the file header. */
void tts_recorder_put_state(struct tts_recorder *recorder, enum tts_rec_state_kind kind);
