/* recorder_inside.h: what a recorder is made of. For the files of it only.
 *
 * While it writes it is the tracker's `recorder`, and belongs to the thread that folds. It
 * stops by leaving that place: from then on events pass it by, and how many they were is told
 * by the fold's numbers. */
#pragma once

#include "capture/recorder_file.h"
#include "capture/recorder_hook.h"
#include "capture/recorder_places.h"
#include "capture/tracker_inside.h"
#include "model/recording/recenc.h"
#include "model/recording/recformat.h"

/* Why it writes no more. */
enum tts_recorder_stopped {
    TTS_RECORDER_GOES_ON,
    TTS_RECORDER_REFUSED, /* by the system: state.sys_errno */
    TTS_RECORDER_LEFT,    /* to the process that forked this one */
};

struct tts_recorder {
    struct tts_recenc enc;
    struct tts_item item;          /* of an event that is written; what its kind does not name
                                    * may be of one before */
    const volatile uint32_t *home; /* 0: this is a child of the process that records */
    struct tts_fold *fold;
    struct tts_tracker *tracker; /* NULL: it was freed */
    unsigned char *place;        /* of the block that is written */
    uint64_t blocks;             /* begun */
    uint32_t keyframes_left;     /* for failures */
    bool in_keyframe;            /* that may go on in the next block */
    enum tts_recorder_stopped stopped;
    struct tts_rec_block block;         /* the header of the block that is written */
    struct tts_rec_state state;         /* as in the header */
    uint64_t start_seq, end_seq;        /* end: when it stopped or ended */
    struct tts_recorder_state finished; /* of one that ended with its tracker */
    enum tts_status finish_status;
    struct tts_error finish_error;
    struct tts_places places;
    struct tts_recorder_file file;
    struct tts_recenc kept_enc; /* as it was before a keyframe that may not fit */
    uint64_t hidden_commit;     /* of a keyframe that is not yet told */
    uint64_t keep_bytes;
    uint64_t flags; /* of the header */
    const struct tts_alloc *alloc;
};

/* A block begins with a keyframe while no more buffers than this live. */
enum { TTS_RECORDER_KEYFRAME_LIVE = 8192 };

/* Time is written in units of 2^this ticks: finer ones cost bytes and say nothing. */
enum { TTS_RECORDER_UNIT_SHIFT = 8, TTS_RECORDER_KEYFRAMES = 16 };

/* Between enter and leave. The first block, with what there is now. False: it has stopped. */
bool tts_recorder_start(struct tts_recorder *recorder);
static inline bool tts_recorder_is_child(const struct tts_recorder *recorder)
{
    return *recorder->home == 0;
}
/* The file is the parent's: this process, which it forked, stays away from it. */
void tts_recorder_leave_to_parent(struct tts_recorder *recorder);
/* Writes the next state into the header. */
void tts_recorder_put_state(struct tts_recorder *recorder, enum tts_rec_state_kind kind);
