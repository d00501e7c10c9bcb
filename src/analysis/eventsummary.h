/* eventsummary.h: the summary of a file of events: phases, the peak of a pool with the buffers
 * that were live then, operations, refused requests. Or the buffers that were live after one
 * event.
 *
 * tts_eventsummary holds the answers. tts_eventscan takes the items of a file in their order
 * and fills a summary. A summary can be stored as bytes and loaded again. Neither opens files.
 * The caller owns both structs. One thread at a time. */
#pragma once

#include "analysis/best.h"
#include "analysis/opbytes.h"
#include "analysis/peak.h"
#include "analysis/questions/growscan.h"
#include "analysis/questions/leakscan.h"
#include "analysis/questions/tracescan.h"

enum {
    TTS_SUMMARY_PHASES_MAX = 65536,
    TTS_SUMMARY_FAILURES_MAX = 1024,
    TTS_SUMMARY_OP_BYTES = TTS_OP_NAME_MAX + 1,
    TTS_SUMMARY_PATH_BYTES = 512,
};

/* A phase without its devices. The phase covers the events first_seq + 1 to last_seq. */
struct tts_summary_phase {
    uint32_t capture;
    bool is_partial, core_is_known, core_is_at_least;
    size_t name_at; /* offset of the name in the array of names */
    uint64_t first_seq, last_seq;
    struct tts_pool_usage dram;
    int64_t peak_cb_bytes, peak_buffer_bytes, peak_total_bytes;
    uint64_t core_bytes;
};

/* The operation of an item: a text of the fold, or a copy of the name if the fold has no room
 * for the name. */
struct tts_summary_op {
    /* Text of the fold; NULL if there is no operation, or if `copy` has the name. */
    const char *known;
    char copy[TTS_SUMMARY_OP_BYTES];
};

struct tts_summary_failure {
    uint64_t seq;
    bool has_time;
    uint64_t time_ns;
    uint32_t device;
    struct tts_summary_op op;
    struct tts_failure failure;
    struct tts_level level; /* level of the pool of the request, on its device */
};

/* The live buffers of a pool at one moment. */
struct tts_summary_moment {
    enum tts_pool pool;
    /* The level; level.bytes is the sum of the buffers plus the loose bytes (levels.h). */
    struct tts_level level;
    uint64_t buffers, bytes;
    struct tts_best largest; /* items are struct tts_live, the largest first */
    struct tts_best by_op;   /* items are struct tts_op_row, the largest moment_bytes first */
    size_t op_count;
};

/* The event config.at, or the last event of the file. */
struct tts_summary_event {
    uint64_t seq;
    bool is_known; /* the event was found, and the other fields are valid */
    enum tts_event_kind kind;
    bool has_time;
    uint64_t time_ns;
    struct tts_summary_op op;
};

/* Facts about the file. The reader of the file fills them in, and they are stored with the
 * figures. */
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
    bool has_captures; /* more than one capture has phases */
    struct tts_summary_failure *failures;
    size_t failure_count, failure_capacity;
    uint64_t failures_unlisted;
    struct tts_summary_moment peak_moment, failure_moment, at_moment;
    /* Items are struct tts_op_row, the largest allocated_bytes first. */
    struct tts_best top_ops;
    size_t op_count; /* number of all operations */
    struct tts_peak_info peak_info;
    struct tts_levels levels;
    struct tts_tracker_health health;
    const struct tts_phase *whole;
    struct tts_core_peak at_core;
    struct tts_core_part at_parts[TTS_CORE_PARTS_MAX];
    struct tts_summary_event event;
    bool has_event;
    uint64_t first_seq;        /* number of events before the first event of the file */
    uint64_t restored_buffers; /* number of buffers that were live before the first event */
    uint64_t restored_dram;    /* DRAM bytes of these buffers */
    uint64_t first_ns;         /* time of the first item that has a time */
    uint64_t last_ns;          /* time of the last item that has a time; 0 if none has */
    struct tts_summary_input input;
    struct tts_leakowners leaks;        /* with finds_leaks */
    struct tts_growfounds growing;      /* with a rule in `growing` of the configuration */
    struct tts_livephases trace_phases; /* with follows_traces */
    uint64_t traces;                    /* captures of traces that began or ended */
    /* Has the paths of operations, borrowed; NULL if `stored` is set. */
    const struct tts_follow *follow;
    /* Data of a loaded summary; otherwise NULL. */
    struct tts_summary_stored *stored;
};

void tts_eventsummary_release(struct tts_eventsummary *sum); /* a struct of zeros is allowed */

/* ---- queries ---- */

const char *tts_eventsummary_phase_name(const struct tts_eventsummary *sum,
                                        const struct tts_summary_phase *phase);
/* Returns the shortest phase that contains the event, or NULL. */
const struct tts_summary_phase *tts_eventsummary_phase_of(const struct tts_eventsummary *sum,
                                                          uint64_t seq);
/* tts_eventsummary_dram_peak() returns the DRAM peak, tts_eventsummary_dram_final() the DRAM in
 * use at the end. Both include buffers that are older than the file. */
int64_t tts_eventsummary_dram_peak(const struct tts_eventsummary *sum);
int64_t tts_eventsummary_dram_final(const struct tts_eventsummary *sum);
/* Writes the path of an operation, for example "ttnn::add > ttnn::prim::binary". A path that is
 * too long is cut at the front. Returns `out`. */
const char *tts_eventsummary_path(const struct tts_eventsummary *sum, const char *op,
                                  char out[TTS_SUMMARY_PATH_BYTES]);
/* Returns the name of the operation, borrowed from *op. Returns NULL if there is no
 * operation. */
const char *tts_summary_op_name(const struct tts_summary_op *op);
/* Sets *mesh to the mesh of a chip. Returns false if the device is not a chip of a mesh. */
bool tts_eventsummary_mesh_of(const struct tts_eventsummary *sum, uint32_t device,
                              uint32_t *mesh);

/* ---- the scan ---- */

struct tts_eventscan_config {
    /* List the live buffers after this event; 0 to summarize the whole file. */
    uint64_t at;
    size_t top;         /* maximum number of rows in each list; 0 for all */
    enum tts_pool pool; /* pool of the peak and of the operations */
    /* Follow every pool, as tts_eventsummary_store() needs it. */
    bool keeps_all;
    bool finds_leaks;               /* decide about leaks */
    bool follows_traces;            /* find the phases of traces */
    struct tts_growth_rule growing; /* find growing pools; an interval of 0: do not */
};

struct tts_eventscan_capture {
    uint32_t number;
    uint64_t since; /* the last event before the current phase */
};

struct tts_eventscan {
    struct tts_eventscan_config config;
    struct tts_eventsummary *sum;
    const struct tts_alloc *alloc;
    struct tts_follow *follow;
    struct tts_peak *peaks[TTS_POOLS]; /* peak of config.pool; with keeps_all, of each pool */
    struct tts_ops *ops[TTS_POOLS];    /* operations, for the same pools as `peaks` */
    struct tts_ops *failure_ops;
    struct tts_leakscan *leaks; /* NULL without finds_leaks */
    struct tts_tracescan traces;
    struct tts_growscan growing;
    uint64_t item_seq;
    uint64_t items; /* number of items read */
    bool is_out_of_memory;
    struct tts_eventscan_capture captures[TTS_FOLLOW_CAPTURES_MAX];
};

/* Resets *sum and begins a scan. Do not move either struct before it is released. Returns
 * TTS_OK or TTS_E_NOMEM. After a failure both structs must be released too. */
TTS_NODISCARD enum tts_status tts_eventscan_init(struct tts_eventscan *scan,
                                                 const struct tts_eventscan_config *config,
                                                 const struct tts_alloc *alloc,
                                                 struct tts_eventsummary *sum,
                                                 struct tts_error *err);
void tts_eventscan_release(struct tts_eventscan *scan); /* a struct of zeros is allowed */

/* Processes the next item. Returns TTS_E_NOMEM if there is no memory; the scan cannot continue
 * then. Returns another error if the item is invalid. An invalid item is ignored; if it is an
 * event, the figures after it are wrong. */
TTS_NODISCARD enum tts_status tts_eventscan_item(struct tts_eventscan *scan,
                                                 const struct tts_item *item,
                                                 struct tts_error *err);
/* Completes the summary after the last item. Call once. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_eventscan_finish(struct tts_eventscan *scan,
                                                   struct tts_error *err);

/* ---- the stored form ---- */

/* A packed recording stores the summary as bytes (docs/design/recording.md). */

enum { TTS_SUMMARY_STORED_TOP = 1000 }; /* rows of each stored list: the `top` of the scan */

/* Finishes a scan with keeps_all and encodes its summary. Call instead of
 * tts_eventscan_finish(). The caller fills in sum->input before the call, and frees *bytes with
 * scan->alloc after the call. *len is 0 if nothing should be stored, because a request was
 * refused or there are too many bytes. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_eventsummary_store(struct tts_eventscan *scan,
                                                     unsigned char **bytes, size_t *len,
                                                     struct tts_error *err);

/* Decodes the summary of the pool config->pool, with config->top rows in each list, and
 * replaces *sum. The bytes are copied. Returns false, and changes nothing, if there is no
 * memory or the bytes cannot be used: they have another version, are invalid, have too few
 * rows, or belong to a file whose last event is not `seq`. */
bool tts_eventsummary_load(struct tts_eventsummary *sum, const unsigned char *bytes, size_t len,
                           uint64_t seq, const struct tts_eventscan_config *config);
