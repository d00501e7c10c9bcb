/* timeline.h: turns the items of a file into slices, counters and instants on tracks, which is
 * how trace viewers show time.
 *
 * One pass: a mark is sent as soon as it is known. Only live buffers and the known devices,
 * threads and captures are kept. The rules are in docs/design/export.md. Heap object. One
 * thread. */
#pragma once

#include "model/item.h"
#include "ttscope/alloc.h"

enum tts_track_kind {
    TTS_TRACK_PROCESS,  /* the program; its instants are about the file itself */
    TTS_TRACK_DEVICE,   /* parent of all tracks of a device; its instants are peaks */
    TTS_TRACK_POOL,     /* counter: live bytes in a pool of a device */
    TTS_TRACK_CAPACITY, /* counter: size of the pool; constant */
    TTS_TRACK_SAMPLE,   /* counter: a value of the samples of a device */
    TTS_TRACK_CORES,    /* counter: use of the fullest core by the current program */
    TTS_TRACK_THREAD,   /* slices: operations of a thread, nested */
    TTS_TRACK_BUFFERS,  /* parent of the slots of a pool of a device */
    TTS_TRACK_SLOT,     /* slices: buffers, one after another */
    TTS_TRACK_TRACES,   /* slices: traces that a device captured, nested */
    TTS_TRACK_FAILURES, /* instants: requests that a device refused */
    TTS_TRACK_CAPTURE,  /* spans: the phases of a capture */
};

struct tts_track {
    enum tts_track_kind kind;
    uint32_t number;    /* number of the track, from 1; the process has 1 */
    uint32_t parent;    /* number of the parent; 0: PROCESS and DEVICE have none */
    uint32_t group;     /* number of the DEVICE track to which this track belongs; 0: none */
    uint32_t device;    /* valid for all kinds except PROCESS, THREAD, CAPTURE */
    enum tts_pool pool; /* valid for POOL, CAPACITY, BUFFERS, SLOT */
    /* SLOT: index of the slot. SAMPLE: number of the value (sample.h). THREAD: number of the
     * thread; 0: unknown. CAPTURE: its number.
     */
    uint32_t index;
    uint32_t lane; /* CAPTURE: less than TTS_TIMELINE_LANES. Active captures have different
                      lanes, so phases on one lane do not overlap */
};
enum { TTS_TIMELINE_LANES = 64, TTS_TRACK_NAME_MAX = 64 };

/* Writes the name of a track: "device 0", "device 0 DRAM", "thread 2", ... The process has an
 * empty name. The text is terminated. Returns `out`. */
const char *tts_track_name(const struct tts_track *track, char out[TTS_TRACK_NAME_MAX]);

enum tts_mark_kind {
    TTS_MARK_TRACK, /* a new track; its parent was sent before */
    TTS_MARK_BEGIN,
    TTS_MARK_END, /* ends the slice of the track that began last */
    TTS_MARK_INSTANT,
    TTS_MARK_COUNTER,
    TTS_MARK_SPAN, /* a finished slice; its name was not known earlier */
};

/* Details of a slice or an instant. Unknown pointers are NULL. */
struct tts_mark_args {
    const struct tts_event *buffer; /* the ALLOC event */
    const struct tts_failure *failure;
    const char *op;
    uint64_t bytes; /* bytes that the operation allocated, or the size of the peak; 0: none */
    uint64_t seq;   /* number of the event; 0: unknown */
};

struct tts_mark {
    enum tts_mark_kind kind;
    struct tts_track track;
    uint64_t time_ns;   /* never decreases, except: a SPAN has its start, an INSTANT on a DEVICE
                           has the time of the peak */
    uint64_t end_ns;    /* end of a SPAN */
    bool is_open;       /* the SPAN is not finished at the end of the file */
    const char *name;   /* BEGIN, INSTANT, SPAN, and END on a SLOT; any bytes */
    uint64_t value;     /* value of a COUNTER */
    uint64_t buffer_no; /* BEGIN, END on a SLOT: unique number of the buffer */
    struct tts_mark_args args;
};
typedef void (*tts_timeline_fn)(void *ctx, const struct tts_mark *mark);

struct tts_timeline_config {
    uint32_t slots_max; /* per pool and device, at most TTS_TIMELINE_SLOTS_MAX */
    /* Bytes of L1 are requested bytes of the whole device, and so are their capacities. The
     * bytes per bank are unknown. */
    bool l1_is_requested;
    bool closes_at_end; /* send an END for each buffer that is live at the end */
    uint64_t capacity_bytes[TTS_POOLS]; /* DRAM, TRACE: of a device; L1, L1_SMALL: of a core. 0:
                                           unknown, so there is no CAPACITY track */
    tts_timeline_fn put; /* receives the marks, which are valid only during the call */
    void *ctx;
};
enum {
    TTS_TIMELINE_SLOTS = 4096, /* default for slots_max */
    TTS_TIMELINE_SLOTS_MAX = 1 << 20,
    TTS_TIMELINE_DEVICES_MAX = 256,
    TTS_TIMELINE_THREADS_MAX = 4096,
    /* Maximum of nested operations of a thread. Names of deeper operations have no size. */
    TTS_TIMELINE_OPS_MAX = 256,
    TTS_TIMELINE_NAMES_MAX = 65000, /* maximum of different names of operations */
};

/* Time between events in files without times. */
#define TTS_TIMELINE_EVENT_NS UINT64_C(1000)

struct tts_timeline;

TTS_NODISCARD enum tts_status tts_timeline_new(const struct tts_timeline_config *config,
                                               const struct tts_alloc *alloc,
                                               struct tts_timeline **out,
                                               struct tts_error *err);
void tts_timeline_free(struct tts_timeline *timeline); /* NULL is allowed */

/* Takes an item that tts_itemcheck_pass() accepted. TTS_E_RANGE: too many devices, or too many
 * buffers are live at the same time. TTS_E_NOMEM: out of memory. Some marks may have been sent.
 */
TTS_NODISCARD enum tts_status tts_timeline_item(struct tts_timeline *timeline,
                                                const struct tts_item *item,
                                                struct tts_error *err);
/* Sends a note about the file, as an instant of the process at the current time. */
void tts_timeline_note(struct tts_timeline *timeline, const char *text);
/* Sends unfinished phases, unfinished operations and the peaks. With closes_at_end, also ends
 * all live buffers. Call it after the last item. */
void tts_timeline_end(struct tts_timeline *timeline);

struct tts_timeline_counts {
    uint64_t undrawn;      /* buffers without a slot */
    uint64_t unseen_frees; /* frees of unknown buffers; they change no counter */
    uint64_t unseen_ends;  /* ends of operations or traces that did not begin in the file */
    uint64_t other_ops;    /* operations of threads beyond the maximum */
    uint64_t unnamed; /* operations and buffers named "(other)", as there are too many names */
};
struct tts_timeline_counts tts_timeline_counts(const struct tts_timeline *timeline);
