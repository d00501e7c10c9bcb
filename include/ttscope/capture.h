/* capture.h: what each phase of a program took: begin, snapshot, end, print.
 *
 * A tracker is where events go in: from devices that are attached to it, or by plain calls. Any
 * number of captures listen to one tracker, each with phases of its own, one inside the other
 * or side by side. While nobody listens, no capture and no recorder, an event costs one branch.
 *
 * Threads: events may come from any thread at any time; each is counted once, in one order for
 * all captures, which is the program's own order wherever the program has one. No event takes
 * a lock, allocates or calls the system, unless TTS_INBOX_EVENTS others lie before it: then it
 * waits, and after a second it is dropped and counted. (recorder.h says what else a recorder
 * asks of it.) A capture belongs to one thread at a time. Events may be told in a signal
 * handler and in an allocator; nothing else may. In the child of a process that forked nothing
 * may be called if another thread was using the tracker then; that of a recorder never does. A
 * capture whose tracker is freed keeps its phases, without the names of operations in them, and
 * cannot begin again. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/device.h"
#include "ttscope/event.h"
#include "ttscope/status.h"
#include "ttscope/usage.h"

#include <stdio.h>

/* ---- trackers ---- */

/* What is 0 is as said. All memory for events is taken at birth; little of it is touched until
 * it is used. */
struct tts_tracker_config {
    uint32_t live_max;    /* buffers that live at once: 2^20; at most 2^26 */
    uint32_t devices_max; /* 64; at most 256 */
    uint32_t ops_max;     /* operations that have a name: 1024; at most 65000 */
};

struct tts_tracker;

enum { TTS_INBOX_EVENTS = 4096 };

/* `config` NULL is all zero, `alloc` NULL the C library's. TTS_E_RANGE, TTS_E_NOMEM. */
TTS_API TTS_NODISCARD enum tts_status tts_tracker_new(const struct tts_tracker_config *config,
                                                      const struct tts_alloc *alloc,
                                                      struct tts_tracker **out,
                                                      struct tts_error *err);
/* Ends its captures and lets its devices go; no other thread uses any of them. NULL is fine. */
TTS_API void tts_tracker_free(struct tts_tracker *tracker);

/* The one that the bindings of a process share; made at the first call, by whichever thread,
 * and there for good. NULL: out of memory. */
TTS_API struct tts_tracker *tts_tracker_process(void);

/* From now on what `device` does is told to the tracker as device `id`; while a NO_DISPATCH
 * capture is active nothing is placed on it. TTS_E_BUSY: somebody watches it, or the id is
 * taken. TTS_E_RANGE: devices_max are known. TTS_E_INVALID, TTS_E_NOMEM. */
TTS_API TTS_NODISCARD enum tts_status tts_tracker_attach(struct tts_tracker *tracker,
                                                         struct tts_device *device, uint32_t id,
                                                         struct tts_error *err);
/* Before the device is freed, and while nobody uses it. TTS_E_NOT_FOUND, TTS_E_INVALID. */
TTS_API TTS_NODISCARD enum tts_status tts_tracker_detach(struct tts_tracker *tracker,
                                                         struct tts_device *device,
                                                         struct tts_error *err);

/* Device `chip` is part of the mesh that has the id `mesh`: the buffers of the mesh lie on it
 * too. To be said before the chip has events; goes for every capture to come, and for those
 * that are active. A chip that was in another mesh moves to this one. TTS_E_INVALID: it is its
 * own mesh, or a mesh itself, or `mesh` is a chip. TTS_E_BUSY: the mesh it was in has something
 * on its cores. TTS_E_RANGE: devices_max are known. */
TTS_API TTS_NODISCARD enum tts_status tts_tracker_chip(struct tts_tracker *tracker,
                                                       uint32_t chip, uint32_t mesh,
                                                       struct tts_error *err);

/* ---- events ---- */

/* Tells of one event. While nobody listens it does nothing. TTS_E_INVALID, TTS_E_RANGE:
 * it cannot be, err says why, and nothing is counted. TTS_E_FULL: dropped, and counted as
 * such. */
TTS_API enum tts_status tts_tracker_post(struct tts_tracker *tracker,
                                         const struct tts_event *event, struct tts_error *err);

/* The same for a buffer in lockstep: what most events are, and quicker. */
TTS_API enum tts_status tts_tracker_post_alloc(struct tts_tracker *tracker, uint32_t device,
                                               enum tts_pool pool, uint64_t id,
                                               uint64_t size_bytes, uint64_t bytes_per_bank,
                                               struct tts_error *err);
TTS_API enum tts_status tts_tracker_post_free(struct tts_tracker *tracker, uint32_t device,
                                              enum tts_pool pool, uint64_t id,
                                              uint64_t size_bytes, uint64_t bytes_per_bank,
                                              struct tts_error *err);

/* The first word of every tracker: how many listen, captures that are active and a recorder. */
struct tts_tracker_head {
    uint32_t active;
};

/* False also for NULL. */
static inline bool tts_tracker_is_on(const struct tts_tracker *tracker)
{
    const struct tts_tracker_head *head =
        (const struct tts_tracker_head *)(const void *)tracker;
    return head && __builtin_expect(__atomic_load_n(&head->active, __ATOMIC_RELAXED) != 0, 0);
}

/* The plain calls: tts_tracker_post() behind the one branch. While nobody listens they return
 * TTS_OK, whatever the arguments. `err` may be NULL. */

/* A buffer in lockstep. `bytes_per_bank` matters in L1 and L1_SMALL, and may be 0 elsewhere. */
static inline enum tts_status tts_track_alloc(struct tts_tracker *tracker, uint32_t device,
                                              enum tts_pool pool, uint64_t id,
                                              uint64_t size_bytes, uint64_t bytes_per_bank,
                                              struct tts_error *err)
{
    if (!tts_tracker_is_on(tracker))
        return TTS_OK;
    return tts_tracker_post_alloc(tracker, device, pool, id, size_bytes, bytes_per_bank, err);
}

/* The sizes are only for a buffer that may have been allocated before anybody listened. */
static inline enum tts_status tts_track_free(struct tts_tracker *tracker, uint32_t device,
                                             enum tts_pool pool, uint64_t id,
                                             uint64_t size_bytes, uint64_t bytes_per_bank,
                                             struct tts_error *err)
{
    if (!tts_tracker_is_on(tracker))
        return TTS_OK;
    return tts_tracker_post_free(tracker, device, pool, id, size_bytes, bytes_per_bank, err);
}

/* A program begins: the circular buffers, dataflow buffers and scratchpads before are gone. */
static inline enum tts_status tts_track_program(struct tts_tracker *tracker, uint32_t device,
                                                struct tts_error *err)
{
    if (!tts_tracker_is_on(tracker))
        return TTS_OK;
    struct tts_event event = tts_event_of(TTS_EVENT_PROGRAM, device);
    return tts_tracker_post(tracker, &event, err);
}

/* `kind` is TTS_EVENT_CB, TTS_EVENT_DFB or TTS_EVENT_SCRATCHPAD; one that lies on a buffer
 * (global, a view) is posted as an event with `borrowed`. */
static inline enum tts_status tts_track_cb(struct tts_tracker *tracker, uint32_t device,
                                           enum tts_event_kind kind,
                                           const struct tts_core_range *ranges,
                                           size_t range_count, uint64_t size_bytes,
                                           struct tts_error *err)
{
    if (!tts_tracker_is_on(tracker))
        return TTS_OK;
    if (kind < TTS_EVENT_CB || kind > TTS_EVENT_SCRATCHPAD)
        kind = (enum tts_event_kind)TTS_EVENT_KINDS; /* refused */
    struct tts_event event = tts_event_of(kind, device);
    event.size_bytes = size_bytes;
    event.ranges = ranges;
    event.range_count = range_count;
    return tts_tracker_post(tracker, &event, err);
}

/* Operations of one thread nest; the end is that of the innermost. An end whose begin nobody
 * listened to is passed over. */
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

/* The device begins, or ends, to capture a trace. */
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

/* A request was refused: nothing was taken, but a recording has the circumstances. */
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

/* How well the tracker could follow, since the first of those began that listen, captures or a
 * recorder. */
struct tts_tracker_health {
    uint64_t events;        /* counted */
    uint64_t dropped;       /* not counted: the inbox was full, or there was one more device
                             * than devices_max */
    uint64_t unlisted;      /* buffers counted without being in the ledger, which was full */
    uint64_t unseen_frees;  /* of buffers allocated before, with a size: counted */
    uint64_t unknown_frees; /* of ids not known, without a size: not counted */
    uint64_t doubled;       /* allocations of an id that lived: the one before was freed */
    uint64_t refused;       /* events that cannot be: not counted, also those of devices */
};
TTS_API void tts_tracker_get_health(struct tts_tracker *tracker,
                                    struct tts_tracker_health *out);

/* A buffer that lives, of those seen. */
struct tts_live {
    uint64_t id;
    uint64_t size_bytes;
    uint64_t bytes_per_bank, block_bytes; /* in L1 and L1_SMALL; elsewhere 0 */
    uint64_t seq;                         /* of its allocation */
    uint32_t device;
    enum tts_pool pool;
    const char *op; /* that allocated it; NULL: none */
};
/* Writes the first `capacity` of them, the oldest first, and returns how many there are. They
 * are those of the moment of the call, or of when the last one stopped to listen, until the
 * next begins. Events wait in the inbox while the ledger is gone through, some 20 ns for each
 * buffer. Names of operations are borrowed from the tracker. `out` may be NULL. */
TTS_API size_t tts_tracker_live(struct tts_tracker *tracker, struct tts_live *out,
                                size_t capacity);

/* ---- captures ---- */

enum tts_capture_mode {
    TTS_CAPTURE_NORMAL,
    TTS_CAPTURE_NO_DISPATCH, /* while it is active nothing is placed on attached devices */
};

struct tts_capture;

/* An empty one, not active. TTS_E_NOMEM. */
TTS_API TTS_NODISCARD enum tts_status
tts_capture_new(struct tts_tracker *tracker, struct tts_capture **out, struct tts_error *err);
/* Ends it if it is active. NULL is fine. */
TTS_API void tts_capture_free(struct tts_capture *capture);

/* Starts the first phase. Phases of an earlier begin stay, and the cumulative figures go on
 * from them, whatever happened in between. TTS_E_BUSY: it is active. TTS_E_INVALID: no such
 * mode, or its tracker is gone. */
TTS_API TTS_NODISCARD enum tts_status tts_capture_begin(struct tts_capture *capture,
                                                        enum tts_capture_mode mode,
                                                        struct tts_error *err);

/* Ends the phase under `name`, at most TTS_PHASE_NAME_MAX bytes, and starts the next. Names may
 * repeat. TTS_E_INVALID: not active, or no name. TTS_E_RANGE: the name is too long.
 * TTS_E_NOMEM: the phase goes on. */
TTS_API TTS_NODISCARD enum tts_status
tts_capture_snapshot(struct tts_capture *capture, const char *name, struct tts_error *err);

/* Ends the last phase (`name` NULL: TTS_PHASE_END) and the capture. When it is not active
 * nothing happens. TTS_E_RANGE, TTS_E_NOMEM: it is still active. */
TTS_API TTS_NODISCARD enum tts_status tts_capture_end(struct tts_capture *capture,
                                                      const char *name, struct tts_error *err);

/* Ends it without a phase if it is active, and drops all phases. */
TTS_API void tts_capture_clear(struct tts_capture *capture);
TTS_API bool tts_capture_is_active(const struct tts_capture *capture);

#define TTS_PHASE_END "END_TRACE"
enum { TTS_PHASE_NAME_MAX = 255 };

/* Finished phases in their order; NULL behind the last. Borrowed until clear or free. */
TTS_API size_t tts_capture_count(const struct tts_capture *capture);
TTS_API const struct tts_phase *tts_capture_at(const struct tts_capture *capture, size_t idx);

/* The phase of that name (NULL: TTS_PHASE_END). TTS_E_NOT_FOUND; TTS_E_AMBIGUOUS: several have
 * it, take them by index. */
TTS_API TTS_NODISCARD enum tts_status tts_capture_get(const struct tts_capture *capture,
                                                      const char *name,
                                                      const struct tts_phase **out,
                                                      struct tts_error *err);

/* The summary of the finished phases, byte for byte as tt-train prints it; control characters
 * in names become '?'. Writes at most `capacity` bytes, with a terminator, and returns how
 * long the text is without it, as snprintf does. */
TTS_API size_t tts_capture_text(const struct tts_capture *capture, char *out, size_t capacity);
/* The same to a file. TTS_E_IO, TTS_E_NOMEM. */
TTS_API enum tts_status tts_capture_print(const struct tts_capture *capture, FILE *out,
                                          struct tts_error *err);

/* The true core peak of each finished phase, and what was there: text for people, a table. As
 * tts_capture_text() otherwise. */
TTS_API size_t tts_capture_cores_text(const struct tts_capture *capture, char *out,
                                      size_t capacity);
