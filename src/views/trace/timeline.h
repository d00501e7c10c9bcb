/* timeline.h: the items of a file as slices, counters and instants on tracks, which is how
 * viewers of traces see time.
 *
 * One pass: a mark is told as soon as it is known, and nothing is kept but what lives: buffers,
 * and the devices, threads and captures there are. The rules are in docs/design/export.md. Heap
 * object, one thread. */
#pragma once

#include "model/item.h"
#include "ttscope/alloc.h"

enum tts_track_kind {
    TTS_TRACK_PROCESS,  /* the program; instants about the file itself */
    TTS_TRACK_DEVICE,   /* parent of all tracks of a device; instants: its peaks */
    TTS_TRACK_POOL,     /* counter: bytes that live in a pool of a device */
    TTS_TRACK_CAPACITY, /* counter: bytes that the pool has; constant */
    TTS_TRACK_CORES,    /* counter: what the program under way has on its fullest core */
    TTS_TRACK_THREAD,   /* slices: its operations, nested */
    TTS_TRACK_BUFFERS,  /* parent of the slots of a pool of a device */
    TTS_TRACK_SLOT,     /* slices: buffers, one after the other */
    TTS_TRACK_TRACES,   /* slices: traces that a device captured, nested */
    TTS_TRACK_FAILURES, /* instants: requests that a device refused */
    TTS_TRACK_CAPTURE,  /* spans: the phases of a capture */
};

struct tts_track {
    enum tts_track_kind kind;
    uint32_t number;    /* of the track, from 1, the process */
    uint32_t parent;    /* number of another; 0: PROCESS and DEVICE have none */
    uint32_t group;     /* number of the DEVICE track that it belongs to; 0: the process */
    uint32_t device;    /* all but PROCESS, THREAD, CAPTURE */
    enum tts_pool pool; /* POOL, CAPACITY, BUFFERS, SLOT */
    uint32_t index;     /* SLOT: its place; THREAD: 0, not known; CAPTURE */
    uint32_t lane; /* CAPTURE: below TTS_TIMELINE_LANES, its own while it is active; phases on
                    * one lane follow each other */
};
enum { TTS_TIMELINE_LANES = 64, TTS_TRACK_NAME_MAX = 64 };

/* "device 0", "device 0 DRAM", "thread 2", ...; the process has none. Terminated; returns
 * `out`. */
const char *tts_track_name(const struct tts_track *track, char out[TTS_TRACK_NAME_MAX]);

enum tts_mark_kind {
    TTS_MARK_TRACK, /* there is one more track; its parent was told before */
    TTS_MARK_BEGIN,
    TTS_MARK_END, /* of the slice of its track that began last */
    TTS_MARK_INSTANT,
    TTS_MARK_COUNTER,
    TTS_MARK_SPAN, /* a slice that is over: only now its name is known */
};

/* What can be said of a slice or an instant. What is not known is NULL. */
struct tts_mark_args {
    const struct tts_event *buffer; /* ALLOC */
    const struct tts_failure *failure;
    const char *op;
    uint64_t bytes; /* of an operation: that it allocated; of a peak. 0: none */
    uint64_t seq;   /* 0: not known */
};

struct tts_mark {
    enum tts_mark_kind kind;
    struct tts_track track;
    uint64_t time_ns;   /* never falls, but that of a SPAN is when it began, and that of an
                         * INSTANT on a DEVICE when its peak was */
    uint64_t end_ns;    /* SPAN */
    bool is_open;       /* SPAN: and it was not over when the file ended */
    const char *name;   /* BEGIN, INSTANT, SPAN; also END on a SLOT. Any bytes */
    uint64_t value;     /* COUNTER */
    uint64_t buffer_no; /* BEGIN, END on a SLOT: of the buffer, each once */
    struct tts_mark_args args;
};
typedef void (*tts_timeline_fn)(void *ctx, const struct tts_mark *mark);

struct tts_timeline_config {
    uint32_t slots_max; /* for each pool of each device, at most TTS_TIMELINE_SLOTS_MAX */
    bool closes_at_end; /* else what lives at the end has no END */
    uint64_t capacity_bytes[TTS_POOLS]; /* of a device: DRAM, TRACE; of a core: L1, L1_SMALL.
                                         * 0: not known, then there is no CAPACITY track */
    tts_timeline_fn put;                /* what it is given is borrowed for the call */
    void *ctx;
};
enum {
    TTS_TIMELINE_SLOTS = 4096, /* what users get who do not choose */
    TTS_TIMELINE_SLOTS_MAX = 1 << 20,
    TTS_TIMELINE_DEVICES_MAX = 256,
    TTS_TIMELINE_THREADS_MAX = 4096,
    TTS_TIMELINE_OPS_MAX =
        256, /* of a thread, nested: those deeper have no size in their name */
    TTS_TIMELINE_NAMES_MAX = 65000, /* of operations */
};

/* For items that have no time. */
#define TTS_TIMELINE_EVENT_NS UINT64_C(1000)

struct tts_timeline;

TTS_NODISCARD enum tts_status tts_timeline_new(const struct tts_timeline_config *config,
                                               const struct tts_alloc *alloc,
                                               struct tts_timeline **out,
                                               struct tts_error *err);
void tts_timeline_free(struct tts_timeline *timeline); /* NULL is fine */

/* One that tts_itemcheck_pass() let through. TTS_E_RANGE: one device too many,
 * or more lives at once than can be kept. TTS_E_NOMEM. Marks may have been told. */
TTS_NODISCARD enum tts_status tts_timeline_item(struct tts_timeline *timeline,
                                                const struct tts_item *item,
                                                struct tts_error *err);
/* Something about the file, as an instant of the process, now. */
void tts_timeline_note(struct tts_timeline *timeline, const char *text);
/* Call it after the last item: it tells phases and operations that are under way, the peaks,
 * and ends what lives if it closes. */
void tts_timeline_end(struct tts_timeline *timeline);

struct tts_timeline_counts {
    uint64_t undrawn;      /* buffers for which there was no slot */
    uint64_t unseen_frees; /* of buffers that are not known: they count nowhere */
    uint64_t unseen_ends;  /* of operations or traces whose begin is not known */
    uint64_t other_ops;    /* of one thread more than can be kept */
    uint64_t unnamed;      /* operations and buffers with one name more: "(other)" */
};
struct tts_timeline_counts tts_timeline_counts(const struct tts_timeline *timeline);
