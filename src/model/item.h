/* item.h: one item of a file of events, which is a recording or a trace of another program.
 * Readers make items, a follower (follow.h) folds items, and the encoder writes them. An item
 * is a plain value. The pointers in an item are valid until the next item. */
#pragma once

#include "model/sample.h"
#include "ttscope/capture.h"
#include "ttscope/event.h"

enum tts_item_kind {
    TTS_ITEM_EVENT, /* an event; sets event, op, thread */
    TTS_ITEM_NAME,  /* the name of an operation that later items use; sets op */
    TTS_ITEM_CHIP,  /* `device` is a chip of `mesh` */
    TTS_ITEM_BEGIN, /* a capture begins, with its first phase; sets capture */
    /* A phase of a capture ends and the next phase begins; sets capture, name. */
    TTS_ITEM_CUT,
    /* A capture ends after the CUT of its last phase, or is abandoned; sets capture. */
    TTS_ITEM_END,
    TTS_ITEM_MISSED, /* `count` events were dropped before they got a number */
    TTS_ITEM_SAMPLE, /* counters of `device`; sets sample. No figure of events contains them */
    /* A keyframe is the whole state at one moment: KEYFRAME, then items of the next kinds, then
     * KEYFRAME_END. */
    TTS_ITEM_KEYFRAME, /* start of a keyframe after event `seq`, with `count` LIVE items */
    /* A live buffer; sets live, op, and event.ranges if the buffer is on some cores only. */
    TTS_ITEM_LIVE,
    /* A part of the current program. Sets event (of kind CB, DFB or SCRATCHPAD), op and
     * live.seq. */
    TTS_ITEM_PART,
    TTS_ITEM_TRACING, /* `device` captures `count` nested traces */
    TTS_ITEM_ACTIVE,  /* a capture that is active and began earlier; sets capture */
    TTS_ITEM_KEYFRAME_END,
};
enum { TTS_ITEM_KINDS = TTS_ITEM_KEYFRAME_END + 1 };

/* An operation: its name and hash (opnames.h). */
struct tts_item_op {
    uint64_t hash; /* 0 if there is no operation */
    const char *name;
    size_t name_len;
};

struct tts_item {
    enum tts_item_kind kind;
    /* Number of the event, from 1; for other kinds, the number of the last event before the
     * item. */
    uint64_t seq;
    bool has_time;
    uint64_t time_ns; /* monotonic clock of the recorder; never decreases */
    struct tts_event event;
    /* Operation in progress at the event; for OP_BEGIN, the operation that begins. */
    struct tts_item_op op;
    /* Thread that begins or ends an operation, from 1; 0 if unknown or for other events. */
    uint32_t thread;
    uint32_t device, mesh;
    /* Number of the capture, from 1, in the order in which captures first begin. */
    uint32_t capture;
    const char *name;
    size_t name_len;
    uint64_t count;
    struct tts_live live; /* a buffer; its operation is in `op`, and live.op is not used */
    const struct tts_sample *sample;
    /* For MISSED in a keyframe: number and total size of the buffers that the keyframe leaves
     * out. */
    uint64_t left_buffers, left_bytes;
};

/* Decides which items of a file a reader uses. Initialize with zeros. A keyframe repeats the
 * effect of the items before it, so a reader uses a keyframe only at the start of the file.
 * From later keyframes a reader uses only the names of operations. */
struct tts_itemgate {
    bool has_begun; /* an item other than a KEYFRAME came */
    bool in_keyframe, takes_keyframe;
};

/* Returns whether a reader uses an item. Call once for each item, in order. */
static inline bool tts_itemgate_takes(struct tts_itemgate *gate, enum tts_item_kind kind)
{
    bool begins = kind == TTS_ITEM_KEYFRAME && !gate->in_keyframe;
    bool is_inside = begins || gate->in_keyframe;
    if (begins)
        gate->takes_keyframe = !gate->has_begun;
    gate->has_begun |= kind != TTS_ITEM_KEYFRAME;
    gate->in_keyframe = is_inside && kind != TTS_ITEM_KEYFRAME_END;
    return !is_inside || gate->takes_keyframe || kind == TTS_ITEM_NAME;
}

/* Tracks whether a program stopped at a refused request. *stop_seq is the number of that event,
 * or 0. A program that gives up only frees its buffers and ends its operations. Any other event
 * after the request shows that the program continued. */
static inline void tts_item_follow_stop(const struct tts_item *item, uint64_t *stop_seq)
{
    enum tts_event_kind kind = item->event.kind;
    if (item->kind == TTS_ITEM_BEGIN || item->kind == TTS_ITEM_CUT)
        *stop_seq = 0;
    if (item->kind != TTS_ITEM_EVENT)
        return;
    if (kind == TTS_EVENT_FAILURE)
        *stop_seq = item->seq;
    else if (kind != TTS_EVENT_FREE && kind != TTS_EVENT_OP_END && kind != TTS_EVENT_TRACE_END)
        *stop_seq = 0;
}

/* A function that reads items returns TTS_OK and fills *out, or returns TTS_E_NOT_FOUND after
 * the last item. Any other status means that the input is damaged from this place on, or cannot
 * be read; err says where and why. All earlier items are valid. */
