/* show_view.h: the answers of `ttscope show` about a file of events, as text and as JSON
 * (docs/design/show-json.md).
 *
 * The functions only read the facts, keep nothing and may run at the same time for different
 * streams. */
#pragma once

#include "analysis/eventsummary.h"
#include "analysis/samplepeaks.h"
#include "model/graphnotes.h"
#include "model/partialnotes.h"
#include "model/recording/recfile.h"
#include "views/json.h"

#include <stdio.h>

/* How a recording ended. A graph trace counts as complete. */
enum tts_show_state {
    TTS_SHOW_COMPLETE,
    TTS_SHOW_NOT_ENDED,
    TTS_SHOW_STOPPED,
    TTS_SHOW_STATE_UNKNOWN, /* both copies of the state are damaged */
};

/* The facts about a file that are printed. All pointers are borrowed. */
struct tts_show_facts {
    const char *path; /* as on the command line */
    const char *name; /* name of the file in text: the path, or "<stdin>" */
    uint64_t at;      /* describe the buffers after this event; 0: the whole file */
    size_t top;       /* rows of a list; 0: all */
    enum tts_pool pool;
    bool lists_all_phases;
    bool has_leaks;        /* the leaks are known and asked for */
    bool has_trace_phases; /* the phases of traces are known and asked for */
    bool has_growing;      /* the growing pools are known and asked for */
    /* Capacities: L1 and L1_SMALL of one core (with l1_is_requested: of one device), DRAM and
     * TRACE of one device. 0: unknown. */
    uint64_t capacity_bytes[TTS_POOLS];
    uint64_t device_bytes[TTS_POOLS]; /* capacities of one device; 0: unknown */
    const struct tts_eventsummary *sum;
    const struct tts_partial_notes *missing; /* why the answer is partial */

    const struct tts_recfile_info *recording; /* NULL: a graph trace */
    enum tts_show_state state;
    const char *stop_reason; /* why the recording stopped; valid for TTS_SHOW_STOPPED */
    uint64_t start_ns;  /* start of the recording, on the clock of the items; 0: no times */
    bool l1_is_unknown; /* the recorded run models DRAM only */
    /* Bytes of L1 buffers are requested bytes of the whole device. The use of the cores is
     * unknown. */
    bool l1_is_requested;
    const struct tts_samplepeaks *samples;               /* sampled counters; never NULL */
    struct tts_graph_figures graph;                      /* valid for a graph trace */
    const struct tts_graph_note *notes[TTS_GRAPH_NOTES]; /* valid for a graph trace */

    const char *damage; /* the damage that ended the reading, else the first gap; NULL: none */
    bool is_cut;        /* damage ended the reading: later events are unknown */
    uint64_t gaps;      /* places where damage removed events */
    uint64_t gap_events,
        first_gap_after; /* number of removed events; event before the first gap */
    uint64_t missed;     /* events that were dropped and not recorded */
    uint64_t left_buffers, left_bytes; /* buffers for which a black box had no room */
    uint64_t refused;                  /* impossible statements about captures */
    const char *refusal;               /* the first such statement; NULL: none */
    bool is_at_least; /* some live buffers are unknown, so each amount is a lower bound */
};

/* The memory in use in a recording that is still being written, after its last event so far. */
struct tts_show_now {
    struct tts_peak_info peak;
    const struct tts_op_row *ops; /* the operations whose buffers use the most memory now */
    size_t op_count;
};

/* Write the answer for people, and for programs as one JSON object. */
void tts_show_text(const struct tts_show_facts *show, FILE *out);
void tts_show_json(const struct tts_show_facts *show, struct tts_json *json);

/* Write the memory in use in a recording that is still being written: as several lines for a
 * terminal, as one line, or as one JSON object. These functions do not read `missing`,
 * `damage` and the fields after `damage`. */
void tts_show_now_text(const struct tts_show_facts *show, const struct tts_show_now *now,
                       FILE *out);
void tts_show_now_line(const struct tts_show_facts *show, const struct tts_show_now *now,
                       FILE *out);
void tts_show_now_json(const struct tts_show_facts *show, const struct tts_show_now *now,
                       struct tts_json *json);

/* ---- helpers of text and JSON ---- */

#define TTS_SHOW_L1_REASON "the recorded run models DRAM only"
#define TTS_SHOW_CORES_REASON                                                                  \
    "the recording has the sizes of L1 buffers, but not their bytes on each core"

/* Returns true if the file has samples and no events. */
static inline bool tts_show_has_samples_only(const struct tts_show_facts *show)
{
    return show->samples->samples > 0 && show->sum->event.seq == 0 &&
           show->sum->restored_buffers == 0;
}

/* Returns true if nothing is known about the pool. */
static inline bool tts_show_is_unknown(const struct tts_show_facts *show, enum tts_pool pool)
{
    bool is_l1 = pool == TTS_POOL_L1 || pool == TTS_POOL_L1_SMALL;
    return (show->l1_is_unknown && is_l1) || tts_show_has_samples_only(show);
}

/* Returns why the use of the cores is unknown, or NULL if it is known. */
static inline const char *tts_show_cores_reason(const struct tts_show_facts *show)
{
    return show->l1_is_unknown     ? TTS_SHOW_L1_REASON
           : show->l1_is_requested ? TTS_SHOW_CORES_REASON
                                   : NULL;
}

/* Returns the capacity that the peak of a pool is judged by; 0 if it is unknown. DRAM and TRACE
 * are sums of all devices, so they are judged only if the file has one device or one mesh. */
static inline uint64_t tts_show_capacity(const struct tts_show_facts *show, enum tts_pool pool)
{
    const struct tts_phase *whole = show->sum->whole;
    size_t devices = 0;
    uint32_t mesh;
    for (size_t i = 0; i < whole->device_count; i++)
        devices += !tts_eventsummary_mesh_of(show->sum, whole->devices[i].device, &mesh);
    return tts_pool_is_l1(pool) || devices == 1 ? show->capacity_bytes[pool] : 0;
}

/* Returns the nanoseconds since the recording began. */
static inline uint64_t tts_show_since_start(const struct tts_show_facts *show, uint64_t time_ns)
{
    return time_ns > show->start_ns ? time_ns - show->start_ns : 0;
}
