/* item.h: one item of a file of events, which is a recording or a foreign trace. Readers make
 * items, a follower (follow.h) folds them, the encoder writes them. A plain value. Its pointers
 * are borrowed until the next item. */
#pragma once

#include "ttscope/capture.h"
#include "ttscope/event.h"

enum tts_item_kind {
    TTS_ITEM_EVENT, /* event, op, thread */
    TTS_ITEM_NAME,  /* op: an operation that later items use */
    TTS_ITEM_CHIP,  /* `device` is a chip of `mesh` */
    TTS_ITEM_BEGIN, /* capture: its first phase begins */
    TTS_ITEM_CUT,   /* capture, name: a phase ends, the next begins */
    TTS_ITEM_END, /* capture: the capture ends after the cut of its last phase, or is dropped */
    TTS_ITEM_MISSED, /* count: events that were dropped before they got a number */
    /* The state at one moment: a keyframe, then the next kinds, then its end. */
    TTS_ITEM_KEYFRAME, /* seq: number of events before; count: number of buffers that follow */
    TTS_ITEM_LIVE, /* live, op; event.ranges: the cores, if only some cores have the buffer */
    /* A part of the current program. Sets event (of kind CB, DFB or SCRATCHPAD), op and
     * live.seq. */
    TTS_ITEM_PART,
    TTS_ITEM_TRACING, /* `device` captures `count` nested traces */
    TTS_ITEM_ACTIVE,  /* capture: a capture that began earlier */
    TTS_ITEM_KEYFRAME_END,
};
enum { TTS_ITEM_KINDS = TTS_ITEM_KEYFRAME_END + 1 };

/* An operation: its name and hash (opnames.h). */
struct tts_item_op {
    uint64_t hash; /* 0: no operation */
    const char *name;
    size_t name_len;
};

struct tts_item {
    enum tts_item_kind kind;
    uint64_t seq; /* EVENT: its number, from 1. Others: number of the last event before */
    bool has_time;
    uint64_t time_ns; /* monotonic clock of the recorder; never decreases */
    struct tts_event event;
    struct tts_item_op op; /* EVENT: operation in progress. OP_BEGIN: operation that begins */
    uint32_t thread;       /* OP_BEGIN, OP_END: thread of the program, from 1. 0: unknown */
    uint32_t device, mesh;
    uint32_t capture; /* number of the capture, from 1, in the order of their first begin */
    const char *name;
    size_t name_len;
    uint64_t count;
    struct tts_live live; /* live.op is not used: see `op` */
    /* MISSED in a keyframe: number and total size of the buffers that the keyframe leaves
     * out. */
    uint64_t left_buffers, left_bytes;
};

/* Decides which items of a file a reader takes. Starts as all zeros. A keyframe repeats the
 * items before it, so a reader takes it only at the start of the file. From later keyframes it
 * takes only the names. This rule is implemented only here. */
struct tts_itemgate {
    bool has_begun; /* an item other than the begin of a keyframe came */
    bool in_keyframe, takes_keyframe;
};

/* Returns whether to take an item. Call once for each item, in order. */
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

/* A function that reads items returns TTS_OK and *out, or TTS_E_NOT_FOUND after the last item.
 * Any other status: the input is damaged from here on, or cannot be read. err says where and
 * why. All items before are valid. */
