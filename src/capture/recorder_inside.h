/* recorder_inside.h: the parts of a recorder. Only for recorder*.c.
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
    TTS_RECORDER_REFUSED, /* the system refused: state.sys_errno */
    TTS_RECORDER_LEFT,    /* this process is a child; the parent records */
};

struct tts_recorder {
    struct tts_recenc enc;
    /* The event being written; fields that its kind does not use may be left from an earlier
     * event. */
    struct tts_item item;
    /* 0: this process is a child of the process that records. */
    const volatile uint32_t *home;
    struct tts_fold *fold;
    struct tts_tracker *tracker; /* NULL: the tracker was freed */
    unsigned char *place;        /* place of the current block */
    uint64_t blocks;             /* number of blocks begun */
    uint32_t keyframes_left;     /* how many failures still get a keyframe */
    bool in_keyframe;            /* writing a keyframe that may continue in the next block */
    enum tts_recorder_stopped stopped;
    struct tts_rec_block block;         /* header of the current block */
    struct tts_rec_state state;         /* as in the header of the file */
    uint64_t start_seq, end_seq;        /* end_seq: when it stopped or ended */
    struct tts_recorder_state finished; /* final state, if it ended with its tracker */
    enum tts_status finish_status;
    struct tts_error finish_error;
    struct tts_places places;
    struct tts_recorder_file file;
    struct tts_recenc kept_enc; /* state before a keyframe that may not fit */
    uint64_t hidden_commit;     /* of a keyframe that is not visible yet */
    uint64_t keep_bytes;
    uint64_t flags; /* flags of the file header */
    const struct tts_alloc *alloc;
};

/* A block begins with a keyframe only if at most this many buffers are live. */
enum { TTS_RECORDER_KEYFRAME_LIVE = 8192 };

/* UNIT_SHIFT: time is written in units of 2^UNIT_SHIFT ticks; smaller units cost bytes and add
 * no information. KEYFRAMES: how many failures get a keyframe. */
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
