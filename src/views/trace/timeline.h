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
    uint32_t group;     /* number of the DEVICE track it belongs to; 0: the process */
    uint32_t device;    /* all except PROCESS, THREAD, CAPTURE */
    enum tts_pool pool; /* POOL, CAPACITY, BUFFERS, SLOT */
    /* SLOT: its index; THREAD: its number, 0 if not known; CAPTURE: its number. */
    uint32_t index;
    uint32_t lane; /* CAPTURE: less than TTS_TIMELINE_LANES; not shared while it is active.
                      Phases on a lane follow one another */
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
    uint64_t bytes; /* allocated by the operation, or the size of the peak; 0: none */
    uint64_t seq;   /* 0: not known */
};

struct tts_mark {
    enum tts_mark_kind kind;
    struct tts_track track;
    uint64_t time_ns;   /* never decreases, except: a SPAN has its start, an INSTANT on a DEVICE
                           has the time of the peak */
    uint64_t end_ns;    /* SPAN */
    bool is_open;       /* SPAN: not finished at the end of the file */
    const char *name;   /* BEGIN, INSTANT, SPAN, and END on a SLOT; any bytes */
    uint64_t value;     /* COUNTER */
    uint64_t buffer_no; /* BEGIN, END on a SLOT: unique number of the buffer */
    struct tts_mark_args args;
};
typedef void (*tts_timeline_fn)(void *ctx, const struct tts_mark *mark);

struct tts_timeline_config {
    uint32_t slots_max; /* per pool and device, at most TTS_TIMELINE_SLOTS_MAX */
    bool closes_at_end; /* send an END for everything that lives at the end */
    uint64_t capacity_bytes[TTS_POOLS]; /* DRAM, TRACE: of a device; L1, L1_SMALL: of a core. 0:
                                           not known, and there is no CAPACITY track */
    tts_timeline_fn put;                /* its arguments are valid during the call */
    void *ctx;
};
enum {
    TTS_TIMELINE_SLOTS = 4096, /* the number that callers use by default */
    TTS_TIMELINE_SLOTS_MAX = 1 << 20,
    TTS_TIMELINE_DEVICES_MAX = 256,
    TTS_TIMELINE_THREADS_MAX = 4096,
    /* Nested operations of a thread; deeper ones have no size in their name. */
    TTS_TIMELINE_OPS_MAX = 256,
    TTS_TIMELINE_NAMES_MAX = 65000, /* names of operations */
};

/* Time between events in files without times. */
#define TTS_TIMELINE_EVENT_NS UINT64_C(1000)

struct tts_timeline;

TTS_NODISCARD enum tts_status tts_timeline_new(const struct tts_timeline_config *config,
                                               const struct tts_alloc *alloc,
                                               struct tts_timeline **out,
                                               struct tts_error *err);
void tts_timeline_free(struct tts_timeline *timeline); /* NULL is fine */

/* Takes an item that tts_itemcheck_pass() accepted. TTS_E_RANGE: too many devices, or too many
 * buffers live at the same time. TTS_E_NOMEM. Some marks may have been sent. */
TTS_NODISCARD enum tts_status tts_timeline_item(struct tts_timeline *timeline,
                                                const struct tts_item *item,
                                                struct tts_error *err);
/* Sends a note about the file, as an instant of the process at the current time. */
void tts_timeline_note(struct tts_timeline *timeline, const char *text);
/* Call it after the last item. Sends unfinished phases and operations and the peaks. With
 * closes_at_end, ends everything that lives. */
void tts_timeline_end(struct tts_timeline *timeline);

struct tts_timeline_counts {
    uint64_t undrawn;      /* buffers without a slot */
    uint64_t unseen_frees; /* frees of unknown buffers; they are not counted elsewhere */
    uint64_t unseen_ends;  /* ends of operations or traces whose begin is not known */
    uint64_t other_ops;    /* operations of threads beyond the maximum */
    uint64_t unnamed; /* operations and buffers named "(other)", as there are too many names */
};
struct tts_timeline_counts tts_timeline_counts(const struct tts_timeline *timeline);
