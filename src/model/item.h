/* item.h: what a file of events tells, one thing after the other: a recording, or a foreign
 * trace. Readers make items, a follower (follow.h) folds them, the encoder writes them.
 * A plain value; what it points to is borrowed until the next item. */
#pragma once

#include "ttscope/capture.h"
#include "ttscope/event.h"

enum tts_item_kind {
    TTS_ITEM_EVENT,  /* event, op, thread */
    TTS_ITEM_NAME,   /* op: an operation that later items name */
    TTS_ITEM_CHIP,   /* device is a chip of `mesh` */
    TTS_ITEM_BEGIN,  /* capture: its first phase begins */
    TTS_ITEM_CUT,    /* capture, name: a phase ends, the next begins */
    TTS_ITEM_END,    /* capture: it ends, behind the cut of its last phase; or is dropped */
    TTS_ITEM_MISSED, /* count: events that were dropped before they got a number */
    /* What there is at one moment: a keyframe, then these, then its end. */
    TTS_ITEM_KEYFRAME, /* seq: the events before; count: buffers that follow */
    TTS_ITEM_LIVE,     /* live, op; ranges of the event: the cores that alone have it */
    TTS_ITEM_PART,     /* event (CB, DFB, SCRATCHPAD), op, live.seq: of the program under way */
    TTS_ITEM_TRACING,  /* device captures `count` traces inside each other */
    TTS_ITEM_ACTIVE,   /* capture: it has begun */
    TTS_ITEM_KEYFRAME_END,
};
enum { TTS_ITEM_KINDS = TTS_ITEM_KEYFRAME_END + 1 };

/* An operation: its name and hash (opnames.h). */
struct tts_item_op {
    uint64_t hash; /* 0: none */
    const char *name;
    size_t name_len;
};

struct tts_item {
    enum tts_item_kind kind;
    uint64_t seq; /* EVENT: its number, from 1; others: that of the last event before */
    bool has_time;
    uint64_t time_ns; /* by the monotonic clock of who recorded; never falls */
    struct tts_event event;
    struct tts_item_op op; /* that an EVENT happened in; of OP_BEGIN itself */
    uint32_t thread;       /* OP_BEGIN, OP_END: of the program, from 1; 0: not known */
    uint32_t device, mesh;
    uint32_t capture; /* numbered by the program, in the order of their first begin, from 1 */
    const char *name;
    size_t name_len;
    uint64_t count;
    struct tts_live live; /* its op is in `op` */
    /* MISSED in a keyframe: the buffers that it had no room for, and the sum of their sizes. */
    uint64_t left_buffers, left_bytes;
};

/* Which items of a file a reader takes, from the first on; all zero is how it begins. A
 * keyframe says again what the items before it said: it is taken only if the file starts with
 * it. Of a later one the names are taken and nothing else. This is the only place that has the
 * rule. */
struct tts_itemgate {
    bool has_begun; /* an item came that is not the begin of a keyframe */
    bool in_keyframe, takes_keyframe;
};

/* To be asked once for every item, in their order. */
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

/* Follows whether a program stopped at a refused request. *stop_seq is the number of that
 * event, or 0. Programs that give up unwind: they free what they had and end what they began.
 * Anything else after the request shows that the program went on. */
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

/* What reads items has this shape: TTS_OK and *out; TTS_E_NOT_FOUND: there are no more. Any
 * other status: the input is damaged from here on, or cannot be read; err has where and what,
 * and all items before are good. */
