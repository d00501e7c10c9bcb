/* eventsummary.h: what a file of events comes to: phases, peaks, what lived then, operations,
 * refused requests; or what lived after one event.
 *
 * tts_eventsummary has the answers. tts_eventscan takes the items of a file in their order and
 * fills a summary. Neither knows files. Caller's memory. One thread. */
#pragma once

#include "analysis/best.h"
#include "analysis/opbytes.h"
#include "analysis/peak.h"

enum {
    TTS_SUMMARY_PHASES_MAX = 65536,
    TTS_SUMMARY_FAILURES_MAX = 1024,
    TTS_SUMMARY_OP_BYTES = TTS_OP_NAME_MAX + 1,
    TTS_SUMMARY_PATH_BYTES = 512,
};

/* A phase without its devices. It has the events first_seq + 1 .. last_seq. */
struct tts_summary_phase {
    uint32_t capture;
    bool is_partial, core_is_known, core_is_at_least;
    size_t name_at; /* in the names */
    uint64_t first_seq, last_seq;
    struct tts_pool_usage dram;
    int64_t peak_cb_bytes, peak_buffer_bytes, peak_total_bytes;
    uint64_t core_bytes;
};

/* The operation of an item: a text of the fold, or a copy of the name that the fold does not
 * have. */
struct tts_summary_op {
    const char *known; /* NULL: none, or there is a copy */
    char copy[TTS_SUMMARY_OP_BYTES];
};

struct tts_summary_failure {
    uint64_t seq;
    bool has_time;
    uint64_t time_ns;
    uint32_t device;
    struct tts_summary_op op;
    struct tts_failure failure;
    struct tts_level level; /* of its pool, on its device */
};

/* What lived in a pool at one moment. */
struct tts_summary_moment {
    enum tts_pool pool;
    struct tts_level level; /* its bytes are those of the buffers, and the loose ones */
    uint64_t buffers, bytes;
    struct tts_best largest; /* struct tts_live */
    struct tts_best by_op;   /* struct tts_op_row, by moment_bytes */
    size_t op_count;
};

/* The event that was asked for, or the last. */
struct tts_summary_event {
    uint64_t seq;
    bool is_known; /* the rest */
    enum tts_event_kind kind;
    bool has_time;
    uint64_t time_ns;
    struct tts_summary_op op;
};

/* What the reader of the file knows about it, for stored figures. */
struct tts_summary_input {
    uint64_t events, missed, left_buffers, left_bytes;
    bool has_items, lacks_start;
};

struct tts_eventsummary {
    const struct tts_alloc *alloc;
    struct tts_summary_phase *phases;
    char *names;
    size_t phase_count, phase_capacity, names_len, names_capacity;
    uint64_t phases_unlisted;
    bool has_captures; /* more than one has phases */
    struct tts_summary_failure *failures;
    size_t failure_count, failure_capacity;
    uint64_t failures_unlisted;
    struct tts_summary_moment peak_moment, failure_moment, at_moment;
    struct tts_best top_ops; /* struct tts_op_row, by allocated_bytes */
    size_t op_count;         /* of all */
    struct tts_peak_info peak_info;
    struct tts_levels levels;
    struct tts_tracker_health health;
    const struct tts_phase *whole;
    struct tts_core_peak at_core;
    struct tts_core_part at_parts[TTS_CORE_PARTS_MAX];
    struct tts_summary_event event;
    bool has_event;
    uint64_t first_seq;        /* events before the first that was read */
    uint64_t restored_buffers; /* that lived before it */
    uint64_t restored_dram;    /* their bytes in DRAM */
    uint64_t first_ns;         /* of the first item that has a time */
    uint64_t last_ns;          /* of the last item that has a time; 0: none */
    struct tts_summary_input input;
    const struct tts_follow *follow; /* has the paths of operations, borrowed; NULL: */
    struct tts_eventfigures *stored; /* it was loaded (eventfigures.h) */
};

void tts_eventsummary_release(struct tts_eventsummary *sum); /* harmless on a zeroed one */

/* Adds a phase. Returns false if there is no memory. */
bool tts_eventsummary_add_phase(struct tts_eventsummary *sum,
                                const struct tts_summary_phase *phase, const char *name);
void tts_summary_moment_release(struct tts_summary_moment *moment);

/* ---- questions ---- */

const char *tts_eventsummary_phase_name(const struct tts_eventsummary *sum,
                                        const struct tts_summary_phase *phase);
/* The shortest phase that has the event; NULL: it is in none. */
const struct tts_summary_phase *tts_eventsummary_phase_of(const struct tts_eventsummary *sum,
                                                          uint64_t seq);
/* Return the DRAM peak and the DRAM at the end, including buffers from before the file. */
int64_t tts_eventsummary_dram_peak(const struct tts_eventsummary *sum);
int64_t tts_eventsummary_dram_final(const struct tts_eventsummary *sum);
/* The operations around an operation and it, "ttnn::add > ttnn::prim::binary": the end of it if
 * it is longer. Returns `out`. */
const char *tts_eventsummary_path(const struct tts_eventsummary *sum, const char *op,
                                  char out[TTS_SUMMARY_PATH_BYTES]);
/* Returns the name, borrowed; NULL: outside any operation. */
const char *tts_summary_op_name(const struct tts_summary_op *op);
/* The mesh that a device is a chip of. False: none. */
bool tts_eventsummary_mesh_of(const struct tts_eventsummary *sum, uint32_t device,
                              uint32_t *mesh);

/* ---- the pass ---- */

struct tts_eventscan_config {
    uint64_t at;        /* what lives after this event; 0: the whole file */
    size_t top;         /* rows of a list; 0: all */
    enum tts_pool pool; /* of the peak and the operations */
    bool keeps_all;     /* every pool can be asked for at the end */
};

struct tts_eventscan_capture {
    uint32_t number;
    uint64_t since; /* the last event before its phase */
};

struct tts_eventscan {
    struct tts_eventscan_config config;
    struct tts_eventsummary *sum;
    const struct tts_alloc *alloc;
    struct tts_follow *follow;
    struct tts_peak *peaks[TTS_POOLS]; /* of config.pool, or of each pool with keeps_all */
    struct tts_ops *ops[TTS_POOLS];    /* of the same pools */
    struct tts_ops *failure_ops;
    uint64_t item_seq;
    uint64_t items; /* read so far */
    bool is_out_of_memory;
    struct tts_eventscan_capture captures[TTS_FOLLOW_CAPTURES_MAX];
};

/* Both stay where they are until release; `sum` is begun anew. TTS_E_NOMEM: to be released all
 * the same. */
TTS_NODISCARD enum tts_status tts_eventscan_init(struct tts_eventscan *scan,
                                                 const struct tts_eventscan_config *config,
                                                 const struct tts_alloc *alloc,
                                                 struct tts_eventsummary *sum,
                                                 struct tts_error *err);
void tts_eventscan_release(struct tts_eventscan *scan); /* harmless on a zeroed one */

/* Takes the next item. TTS_E_NOMEM: it is over. Others: the item cannot be, and says nothing;
 * after an event of that kind nothing is right any more. */
TTS_NODISCARD enum tts_status tts_eventscan_item(struct tts_eventscan *scan,
                                                 const struct tts_item *item,
                                                 struct tts_error *err);
/* Completes the summary after the last item. To be called once. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_eventscan_finish(struct tts_eventscan *scan,
                                                   struct tts_error *err);
/* For one pool: its peak, what lived then, its operations. Again for another, with keeps_all.
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_eventscan_finish_pool(struct tts_eventscan *scan,
                                                        enum tts_pool pool);
/* Ends the whole, and the health. Once. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_eventscan_finish_whole(struct tts_eventscan *scan,
                                                         struct tts_error *err);
