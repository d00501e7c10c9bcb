/* capture.h: measures the memory use of each phase of a program: begin, snapshot, end, print.
 *
 * Events go into a tracker. They come from devices that are attached to the tracker, or from
 * plain calls. Any number of captures listen to one tracker. Each capture has its own phases;
 * captures may nest or overlap. While no capture and no recorder listens, an event costs one
 * branch.
 *
 * Order: the tracker puts all events into one order. If the program orders two events (same
 * thread, a lock, a join), the tracker keeps that order.
 * Cost: an event takes no lock, allocates nothing and makes no system call, except as
 * tts_tracker_post() says.
 * Threads: the comment of each function says which threads may call it. "Any thread" means any
 * number of threads at the same time.
 * Signals: only the event calls, from tts_tracker_post() to tts_track_failure(), may be made in
 * a signal handler or inside an allocator. All other functions here may not.
 * Fork: the child has its own copy of every tracker and capture. It may use them if no other
 * thread was inside a function of this header at the moment of the fork. Otherwise the child
 * must not call any function here for that tracker. The tracker of the process
 * (tts_tracker_process()) may be used in any case: a fork waits, for one second at most, until
 * no other thread counts. vfork() and clone() do not wait.
 * Kill: figures are in the memory of the process and are lost if it is killed. A recorder
 * (recorder.h) keeps the events.
 *
 * Example:
 *     struct tts_tracker *tracker = tts_tracker_process();
 *     struct tts_capture *capture;
 *     struct tts_error err;
 *     if (tts_capture_new(tracker, &capture, &err) != TTS_OK ||
 *         tts_capture_begin(capture, TTS_CAPTURE_NORMAL, &err) != TTS_OK)
 *         return 1; // err.text says why
 *     tts_track_alloc(tracker, 0, TTS_POOL_DRAM, 1, 8192, 0, NULL);
 *     if (tts_capture_end(capture, "FORWARD_PASS", &err) == TTS_OK)
 *         tts_capture_print(capture, stdout, &err);
 *     tts_capture_free(capture); */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/device.h"
#include "ttscope/event.h"
#include "ttscope/status.h"
#include "ttscope/usage.h"

#include <stdio.h>

/* ---- trackers ---- */

/* Limits of a tracker. A field of 0 means the default. tts_tracker_new() reserves all memory
 * for these limits; most of it is not touched until it is used. An event allocates only if more
 * than live_max buffers are live: at live_max, at twice live_max, and so on. It then asks the
 * system for pages (mmap) and never calls malloc(), so it is safe in a signal handler and
 * inside an allocator. A tracker with its own `alloc` calls `alloc` instead. Figures are exact
 * for any number of buffers. If there is no memory, the buffer is counted as `unlisted`
 * (tts_tracker_health). */
struct tts_tracker_config {
    uint32_t live_max;    /* number of live buffers: default 2^20, at most 2^26; see above */
    uint32_t devices_max; /* number of devices: default 64, at most 256 */
    uint32_t ops_max;     /* number of names of operations: default 1024, at most 65000 */
    uint32_t reserved[5]; /* 0, for later versions; else TTS_E_INVALID */
};

struct tts_tracker;

enum { TTS_INBOX_EVENTS = 4096 };

/* Makes a tracker. The caller frees it with tts_tracker_free(). If `config` is NULL, all limits
 * have their defaults. If `alloc` is NULL, the tracker uses the allocator of the C library. Any
 * thread.
 *
 * Returns TTS_E_RANGE if a limit is too high. Returns TTS_E_NOMEM if there is no memory.
 * Returns TTS_E_INVALID if `out` is NULL. After a failure *out is unchanged. */
TTS_API TTS_NODISCARD enum tts_status tts_tracker_new(const struct tts_tracker_config *config,
                                                      const struct tts_alloc *alloc,
                                                      struct tts_tracker **out,
                                                      struct tts_error *err);
/* Ends the captures and the recorder of the tracker, detaches its devices and frees it. A
 * capture of the tracker keeps its finished phases, without the names of operations, and cannot
 * begin again. One thread, while no other thread uses the tracker, its captures or its devices.
 * NULL is allowed. */
TTS_API void tts_tracker_free(struct tts_tracker *tracker);

/* Returns the tracker that all bindings of a process share, or NULL if there is no memory. The
 * first call makes the tracker, and begins to publish it if the environment says so
 * (publish.h). It is never freed. Any thread. */
TTS_API struct tts_tracker *tts_tracker_process(void);

/* Posts the events of `device` to the tracker from now on, with the device number `id`. The
 * device is borrowed until tts_tracker_detach(). While a NO_DISPATCH capture is active, nothing
 * is placed on the device. Any thread, while no other thread uses `device`.
 *
 * Returns TTS_E_BUSY if the device has an observer, or the id is in use. Returns TTS_E_RANGE if
 * the tracker already knows devices_max devices. Returns TTS_E_INVALID if an argument is NULL.
 * Returns TTS_E_NOMEM if there is no memory. */
TTS_API TTS_NODISCARD enum tts_status tts_tracker_attach(struct tts_tracker *tracker,
                                                         struct tts_device *device, uint32_t id,
                                                         struct tts_error *err);
/* Stops posting the events of `device`. Call before the device is freed. Any thread, while no
 * other thread uses `device`. Returns TTS_E_NOT_FOUND if the device is not attached. Returns
 * TTS_E_INVALID if an argument is NULL. */
TTS_API TTS_NODISCARD enum tts_status tts_tracker_detach(struct tts_tracker *tracker,
                                                         struct tts_device *device,
                                                         struct tts_error *err);

/* Returns how many times NO_DISPATCH captures have kept an attached device from placing
 * buffers, since the tracker was made. If the number does not change during a NO_DISPATCH
 * capture, the capture had no effect on any device. Returns 0 for NULL. Any thread. */
TTS_API uint64_t tts_tracker_get_held(struct tts_tracker *tracker);

/* Makes device `chip` a part of the mesh with the id `mesh`: the buffers of the mesh then also
 * count on the chip. Call before the chip has events. The call applies to all captures, active
 * and later ones. A chip of another mesh moves to this mesh. Any thread.
 *
 * Returns TTS_E_INVALID if `chip` is `mesh` or is itself a mesh, or `mesh` is a chip. Returns
 * TTS_E_BUSY if something is on the cores of the chip's old mesh. Returns TTS_E_RANGE if the
 * tracker already knows devices_max devices. */
TTS_API TTS_NODISCARD enum tts_status tts_tracker_chip(struct tts_tracker *tracker,
                                                       uint32_t chip, uint32_t mesh,
                                                       struct tts_error *err);

/* ---- events ---- */

/* Counts one event. Does nothing while no capture and no recorder listens. The result may be
 * ignored: refused and dropped events are counted in tts_tracker_health. `err` may be NULL.
 * `event` and its pointers are borrowed for the call.
 *
 * Threads: any thread, also in a signal handler and inside an allocator. In the child of a
 * fork: as the top of this header says.
 * Cost: if another thread is counting at this moment, the call waits up to about 0.05 ms,
 * without a system call. Then it leaves the event in memory, in an inbox of TTS_INBOX_EVENTS
 * (4,096) events. The next thread that counts begins with the inbox. If the inbox is full, the
 * call waits: it spins, yields the processor, then sleeps 0.1 ms at a time. After one second it
 * drops the event. recorder.h says how long an event can wait if there is a recorder.
 *
 * Returns TTS_E_INVALID or TTS_E_RANGE if such an event cannot exist; `err` says why, and
 * nothing is counted. Returns TTS_E_FULL if the event was dropped after one second. */
TTS_API enum tts_status tts_tracker_post(struct tts_tracker *tracker,
                                         const struct tts_event *event, struct tts_error *err);

/* Like tts_tracker_post(), for a buffer that has an equal part in every bank. Faster, because
 * these events are the most common. */
TTS_API enum tts_status tts_tracker_post_alloc(struct tts_tracker *tracker, uint32_t device,
                                               enum tts_pool pool, uint64_t id,
                                               uint64_t size_bytes, uint64_t bytes_per_bank,
                                               struct tts_error *err);
TTS_API enum tts_status tts_tracker_post_free(struct tts_tracker *tracker, uint32_t device,
                                              enum tts_pool pool, uint64_t id,
                                              uint64_t size_bytes, uint64_t bytes_per_bank,
                                              struct tts_error *err);

/* The first word of every tracker: the number of listeners (active captures, recorders and a
 * publisher). */
struct tts_tracker_head {
    uint32_t active;
};

/* Returns whether a capture, a recorder or a publisher listens. NULL is allowed. Any thread,
 * also in a signal handler. */
static inline bool tts_tracker_is_on(const struct tts_tracker *tracker)
{
    const struct tts_tracker_head *head =
        (const struct tts_tracker_head *)(const void *)tracker;
    return head && __builtin_expect(__atomic_load_n(&head->active, __ATOMIC_RELAXED) != 0, 0);
}

/* The functions below test tts_tracker_is_on() and then call tts_tracker_post(). The rules of
 * tts_tracker_post() for threads, signals, forks and ignored results apply to each of them. If
 * no capture and no recorder listens, they return TTS_OK for any arguments. */

/* Reports that a buffer was allocated. `bytes_per_bank` is used in L1 and L1_SMALL and may be 0
 * in other pools. */
static inline enum tts_status tts_track_alloc(struct tts_tracker *tracker, uint32_t device,
                                              enum tts_pool pool, uint64_t id,
                                              uint64_t size_bytes, uint64_t bytes_per_bank,
                                              struct tts_error *err)
{
    if (!tts_tracker_is_on(tracker))
        return TTS_OK;
    return tts_tracker_post_alloc(tracker, device, pool, id, size_bytes, bytes_per_bank, err);
}

/* Reports that a buffer was freed. The sizes are used only if the buffer was allocated while
 * nothing listened. */
static inline enum tts_status tts_track_free(struct tts_tracker *tracker, uint32_t device,
                                             enum tts_pool pool, uint64_t id,
                                             uint64_t size_bytes, uint64_t bytes_per_bank,
                                             struct tts_error *err)
{
    if (!tts_tracker_is_on(tracker))
        return TTS_OK;
    return tts_tracker_post_free(tracker, device, pool, id, size_bytes, bytes_per_bank, err);
}

/* Reports that a program begins. This ends the circular buffers, dataflow buffers and
 * scratchpads of the last program. */
static inline enum tts_status tts_track_program(struct tts_tracker *tracker, uint32_t device,
                                                struct tts_error *err)
{
    if (!tts_tracker_is_on(tracker))
        return TTS_OK;
    struct tts_event event = tts_event_of(TTS_EVENT_PROGRAM, device);
    return tts_tracker_post(tracker, &event, err);
}

/* Reports that a program has a circular buffer, dataflow buffer or scratchpad. `kind` is
 * TTS_EVENT_CB, TTS_EVENT_DFB or TTS_EVENT_SCRATCHPAD. For a circular or dataflow buffer that
 * lies in the memory of an L1 buffer, post an event with `borrowed` instead. */
static inline enum tts_status tts_track_cb(struct tts_tracker *tracker, uint32_t device,
                                           enum tts_event_kind kind,
                                           const struct tts_core_range *ranges,
                                           size_t range_count, uint64_t size_bytes,
                                           struct tts_error *err)
{
    if (!tts_tracker_is_on(tracker))
        return TTS_OK;
    /* Use a kind that does not exist, so that tts_tracker_post() refuses the event. */
    if (kind < TTS_EVENT_CB || kind > TTS_EVENT_SCRATCHPAD)
        kind = (enum tts_event_kind)TTS_EVENT_KINDS;
    struct tts_event event = tts_event_of(kind, device);
    event.size_bytes = size_bytes;
    event.ranges = ranges;
    event.range_count = range_count;
    return tts_tracker_post(tracker, &event, err);
}

/* tts_track_op_begin() reports that an operation begins on the calling thread,
 * tts_track_op_end() that it ends. Operations of one thread nest; an end belongs to the
 * innermost operation. An end is ignored if nothing listened when the operation began. `name`
 * is copied. */
static inline enum tts_status tts_track_op_begin(struct tts_tracker *tracker, const char *name,
                                                 size_t name_len, struct tts_error *err)
{
    if (!tts_tracker_is_on(tracker))
        return TTS_OK;
    struct tts_event event = tts_event_of(TTS_EVENT_OP_BEGIN, 0);
    event.name = name;
    event.name_len = name_len;
    return tts_tracker_post(tracker, &event, err);
}

static inline enum tts_status tts_track_op_end(struct tts_tracker *tracker,
                                               struct tts_error *err)
{
    if (!tts_tracker_is_on(tracker))
        return TTS_OK;
    struct tts_event event = tts_event_of(TTS_EVENT_OP_END, 0);
    return tts_tracker_post(tracker, &event, err);
}

/* tts_track_trace_begin() reports that the device begins to capture a trace,
 * tts_track_trace_end() that the device ends the capture. */
static inline enum tts_status tts_track_trace_begin(struct tts_tracker *tracker,
                                                    uint32_t device, struct tts_error *err)
{
    if (!tts_tracker_is_on(tracker))
        return TTS_OK;
    struct tts_event event = tts_event_of(TTS_EVENT_TRACE_BEGIN, device);
    return tts_tracker_post(tracker, &event, err);
}

static inline enum tts_status tts_track_trace_end(struct tts_tracker *tracker, uint32_t device,
                                                  struct tts_error *err)
{
    if (!tts_tracker_is_on(tracker))
        return TTS_OK;
    struct tts_event event = tts_event_of(TTS_EVENT_TRACE_END, device);
    return tts_tracker_post(tracker, &event, err);
}

/* Reports that a request failed and nothing was allocated. A recording keeps the details. */
static inline enum tts_status tts_track_failure(struct tts_tracker *tracker, uint32_t device,
                                                const struct tts_failure *failure,
                                                struct tts_error *err)
{
    if (!tts_tracker_is_on(tracker))
        return TTS_OK;
    struct tts_event event = tts_event_of(TTS_EVENT_FAILURE, device);
    event.failure = failure;
    return tts_tracker_post(tracker, &event, err);
}

/* Counters that tell how complete the figures are. They count from the moment when the first
 * capture or recorder began to listen. */
struct tts_tracker_health {
    uint64_t events; /* events that were counted */
    /* Events that were not counted: the inbox was full, or the tracker already knew devices_max
     * devices. */
    uint64_t dropped;
    /* Buffers that were counted but not listed, for lack of memory. A free of such a buffer
     * without a size is not counted; totals are then too high. */
    uint64_t unlisted;
    /* Frees with a size, of buffers that were allocated before the tracker listened; they are
     * counted. */
    uint64_t unseen_frees;
    uint64_t unknown_frees; /* frees of unknown ids without a size; they are not counted */
    /* Allocations of an id that is live; the old buffer counts as freed. */
    uint64_t doubled;
    uint64_t refused;     /* impossible events, also from devices; they are not counted */
    uint64_t reserved[9]; /* 0 */
};
/* Copies the health of the tracker to *out. Counts the events in the inbox first. Any
 * thread. */
TTS_API void tts_tracker_get_health(struct tts_tracker *tracker,
                                    struct tts_tracker_health *out);

/* A live buffer whose allocation was seen. */
struct tts_live {
    uint64_t id;
    uint64_t size_bytes;
    uint64_t bytes_per_bank, block_bytes; /* set in L1 and L1_SMALL; 0 in other pools */
    uint64_t seq;                         /* number of the allocation event */
    uint32_t device;
    enum tts_pool pool;
    const char *op;       /* operation that allocated the buffer; NULL if there is none */
    uint64_t reserved[2]; /* 0 */
};
/* Copies the oldest `capacity` live buffers to `out`, oldest first. Returns the number of live
 * buffers. If nothing listens now, these are the buffers that were live when the last listener
 * stopped. Names of operations are borrowed from the tracker until it is freed. `out` may be
 * NULL. Any thread. The copy takes about 20 ns for each live buffer; during the copy, events of
 * other threads wait in the inbox. */
TTS_API size_t tts_tracker_live(struct tts_tracker *tracker, struct tts_live *out,
                                size_t capacity);

/* ---- captures ---- */

enum tts_capture_mode {
    TTS_CAPTURE_NORMAL,
    /* Nothing is placed on attached devices while the capture is active. */
    TTS_CAPTURE_NO_DISPATCH,
};

struct tts_capture;

/* Makes an empty capture that is not active. The caller frees it with tts_capture_free(). Any
 * thread. Returns TTS_E_NOMEM if there is no memory. Returns TTS_E_INVALID if an argument is
 * NULL.
 *
 * Threads, for all functions below: one thread at a time for each capture. Two threads may use
 * two captures of one tracker at the same time. */
TTS_API TTS_NODISCARD enum tts_status
tts_capture_new(struct tts_tracker *tracker, struct tts_capture **out, struct tts_error *err);
/* Ends the capture if it is active, and frees it with its phases. NULL is allowed. */
TTS_API void tts_capture_free(struct tts_capture *capture);

/* Begins the capture and starts its first phase. Phases of an earlier begin stay, and the
 * cumulative figures continue from them. Events between the earlier end and this begin are not
 * counted. Returns TTS_E_BUSY if the capture is active. Returns TTS_E_INVALID if the mode does
 * not exist, or the tracker was freed. */
TTS_API TTS_NODISCARD enum tts_status tts_capture_begin(struct tts_capture *capture,
                                                        enum tts_capture_mode mode,
                                                        struct tts_error *err);

/* Ends the current phase, names it `name` and starts the next phase. Names may repeat. A name
 * of more than TTS_PHASE_NAME_MAX bytes is shortened as in tts_phase_name_clip(). Returns
 * TTS_E_INVALID if the capture is not active, or `name` is NULL. Returns TTS_E_NOMEM if there
 * is no memory; the current phase continues. */
TTS_API TTS_NODISCARD enum tts_status
tts_capture_snapshot(struct tts_capture *capture, const char *name, struct tts_error *err);

/* Ends the last phase and the capture. If `name` is NULL, the phase is named TTS_PHASE_END.
 * Does nothing if the capture is not active. Returns TTS_E_NOMEM if there is no memory: then
 * the capture has ended, but its last phase is lost; the earlier phases stay. If the capture
 * begins again, its cumulative figures do not include the lost phase. */
TTS_API TTS_NODISCARD enum tts_status tts_capture_end(struct tts_capture *capture,
                                                      const char *name, struct tts_error *err);

/* Ends the capture without a last phase if it is active, and frees all phases. */
TTS_API void tts_capture_clear(struct tts_capture *capture);
/* Returns whether the capture has begun and not ended. NULL is allowed. */
TTS_API bool tts_capture_is_active(const struct tts_capture *capture);

#define TTS_PHASE_END "END_TRACE"
enum { TTS_PHASE_NAME_MAX = 255 };

/* Writes the name under which a phase called `name` is stored, and returns the length of that
 * name. A name of more than TTS_PHASE_NAME_MAX bytes keeps its beginning and its end, with
 * "..." between them; no UTF-8 character is cut apart. Any other name is copied unchanged. Any
 * thread, also in a signal handler. */
TTS_API size_t tts_phase_name_clip(const char *name, char out[TTS_PHASE_NAME_MAX + 1]);

/* tts_capture_count() returns the number of finished phases. tts_capture_at() returns the phase
 * at `idx`, or NULL if there is no such phase. A phase is borrowed until tts_capture_clear() or
 * tts_capture_free(). */
TTS_API size_t tts_capture_count(const struct tts_capture *capture);
TTS_API const struct tts_phase *tts_capture_at(const struct tts_capture *capture, size_t idx);

/* Finds the phase with the name `name`; NULL means TTS_PHASE_END. The name is shortened as in a
 * snapshot. The phase is borrowed until tts_capture_clear() or tts_capture_free(). Returns
 * TTS_E_NOT_FOUND if no phase has the name. Returns TTS_E_AMBIGUOUS if several phases have the
 * name; use tts_capture_at(). */
TTS_API TTS_NODISCARD enum tts_status tts_capture_get(const struct tts_capture *capture,
                                                      const char *name,
                                                      const struct tts_phase **out,
                                                      struct tts_error *err);

/* Writes the summary of the finished phases, byte for byte as tt-train prints it, except that
 * control characters in names become '?'. Writes at most `capacity` bytes including the
 * terminator. Returns the length of the whole text without the terminator, like snprintf(). */
TTS_API size_t tts_capture_text(const struct tts_capture *capture, char *out, size_t capacity);
/* Prints the same summary to a file. The result may be ignored. Returns TTS_E_IO if `out`
 * cannot be written. Returns TTS_E_NOMEM if there is no memory. Returns TTS_E_INVALID if an
 * argument is NULL. */
TTS_API enum tts_status tts_capture_print(const struct tts_capture *capture, FILE *out,
                                          struct tts_error *err);

/* Writes a table for people to read: the highest use of a core in each finished phase, and the
 * contents of that core. `out`, `capacity` and the result are as in tts_capture_text(). */
TTS_API size_t tts_capture_cores_text(const struct tts_capture *capture, char *out,
                                      size_t capacity);
