/* timeline_inside.h: what the parts of a timeline share. */
#pragma once

#include "model/opnames.h"
#include "views/liveset.h"
#include "views/timeline.h"

#include <assert.h>

#define TTS_LINE_NONE UINT32_MAX

/* Tracks are kept by number, 0: not told yet. */
struct tts_pool_line {
    uint64_t bytes;               /* that live, of its own */
    uint64_t peak_bytes, peak_ns; /* of its counter */
    uint32_t counter, buffers, capacity;
    /* Slots; both NULL until the first buffer. */
    uint64_t *taken; /* a bit for each */
    uint32_t *slot_tracks;
    size_t low_word; /* words below are full */
};

/* What the program under way has on its cores: only grows until the next program. */
struct tts_core_line {
    uint64_t *bytes; /* [y * TTS_GRID_SIDE_MAX + x]; NULL until the first */
    uint64_t top_bytes;
    struct tts_core_range box; /* around all that is not 0, when top_bytes is not */
    uint32_t counter;
};

struct tts_device_line {
    uint32_t id;
    uint32_t track;
    uint32_t mesh;  /* the index of a device, or TTS_LINE_NONE */
    uint32_t chips; /* that it is the mesh of */
    struct tts_pool_line pools[TTS_POOLS];
    struct tts_core_line cores;
    uint32_t traces, failures, trace_depth;
};

/* An operation under way. */
struct tts_op_line {
    uint64_t begin_ns, seq;
    uint64_t bytes; /* that it allocated, with those of operations in it that are over */
    uint32_t op;    /* as opnames.h counts them */
    bool is_told;   /* its BEGIN was: it ends with an END, else it becomes a SPAN */
};

struct tts_thread_line {
    uint32_t thread, track, depth;
    struct tts_op_line
        *ops; /* the first TTS_TIMELINE_OPS_MAX of `depth`, the outermost first */
    size_t op_capacity;
};

struct tts_capture_line {
    bool is_active;
    uint32_t capture, track; /* of the last one on this lane */
    uint64_t start_ns;
};

struct tts_timeline {
    struct tts_timeline_config config;
    const struct tts_alloc *alloc;
    struct tts_opnames *ops;
    struct tts_liveset live;
    struct tts_device_line *devices;
    size_t device_count, device_capacity;
    uint32_t last_device; /* most often the next one, too */
    struct tts_thread_line *threads;
    size_t thread_count, thread_capacity, last_thread;
    size_t open_threads; /* that are in operations */
    struct tts_capture_line captures[TTS_TIMELINE_LANES];
    uint64_t first_ns, now_ns;
    bool has_begun;
    uint32_t tracks; /* numbers given out */
    uint64_t buffers;
    struct tts_timeline_counts counts;
};

/* Tells of a track if *number is 0, and gives it one. */
struct tts_track tts_timeline_track(struct tts_timeline *t, struct tts_track track,
                                    uint32_t *number);
/* A track of a device, whose own track is told before it. */
struct tts_track tts_timeline_device_track(struct tts_timeline *t,
                                           struct tts_device_line *device,
                                           struct tts_track track, uint32_t *number);
enum { TTS_TIMELINE_TEXT_MAX = 512 };
/* "matmul 6.00 MiB", or the name alone for 0 bytes. Returns `out`. */
const char *tts_timeline_sized(const char *name, uint64_t bytes,
                               char out[TTS_TIMELINE_TEXT_MAX]);
void tts_timeline_put(struct tts_timeline *t, const struct tts_mark *mark);
/* The text of an operation; NULL for none. Good for life. */
const char *tts_timeline_op(struct tts_timeline *t, const struct tts_item_op *op,
                            uint32_t *idx);

/* NULL: TTS_TIMELINE_DEVICES_MAX are known (*status is TTS_E_RANGE), or TTS_E_NOMEM. Good until
 * the next call. */
struct tts_device_line *tts_timeline_device(struct tts_timeline *t, uint32_t id,
                                            enum tts_status *status);
void tts_timeline_free_devices(struct tts_timeline *t);

TTS_NODISCARD enum tts_status tts_timeline_chip(struct tts_timeline *t, uint32_t chip,
                                                uint32_t mesh);
TTS_NODISCARD enum tts_status tts_timeline_alloc(struct tts_timeline *t,
                                                 const struct tts_event *event,
                                                 const struct tts_item_op *op, uint64_t seq);
void tts_timeline_give(struct tts_timeline *t, const struct tts_event *event);
void tts_timeline_close_buffers(struct tts_timeline *t);
/* Tells the peaks of all pools, and their capacities once more, at the end of the file. */
void tts_timeline_close_pools(struct tts_timeline *t);

/* A part of the program under way. TTS_E_RANGE, TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_timeline_part(struct tts_timeline *t,
                                                const struct tts_event *event);
void tts_timeline_program(struct tts_timeline *t, struct tts_device_line *device);

/* TTS_E_RANGE: TTS_TIMELINE_LANES are active. */
TTS_NODISCARD enum tts_status tts_timeline_begin_capture(struct tts_timeline *t,
                                                         uint32_t capture);
void tts_timeline_cut(struct tts_timeline *t, const struct tts_item *item);
void tts_timeline_end_capture(struct tts_timeline *t, uint32_t capture);
void tts_timeline_close_captures(struct tts_timeline *t);
