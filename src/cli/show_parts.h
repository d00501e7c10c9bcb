/* show_parts.h: what the files of `ttscope show` know of each other: what was read out of a
 * file of events, and the two forms it is printed in. */
#pragma once

#include "analysis/best.h"
#include "analysis/opbytes.h"
#include "analysis/peak.h"
#include "cli/partial.h"
#include "cli/progress.h"
#include "sources/eventpass.h"
#include "views/json.h"

#include <stdio.h>

enum {
    TTS_SHOW_TOP = 10,
    TTS_SHOW_PHASES_MAX = 65536,
    TTS_SHOW_FAILURES_MAX = 1024,
    TTS_SHOW_OP_BYTES = TTS_OP_NAME_MAX + 1,
};

struct tts_show_options {
    const char *path;
    uint64_t at; /* 0: the whole file */
    size_t top;  /* 0: all */
    enum tts_pool pool;
    bool all, json, follow;
};

/* A phase without its devices. It has the events first_seq + 1 .. last_seq. */
struct tts_show_phase {
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
struct tts_show_op {
    const char *known; /* NULL: none, or there is a copy */
    char copy[TTS_SHOW_OP_BYTES];
};

struct tts_show_failure {
    uint64_t seq;
    bool has_time;
    uint64_t time_ns;
    uint32_t device;
    struct tts_show_op op;
    struct tts_failure failure;
    struct tts_level level; /* of its pool, on its device */
};

/* What lived in a pool at one moment. */
struct tts_show_moment {
    enum tts_pool pool;
    struct tts_level level; /* its bytes are those of the buffers, and the loose ones */
    uint64_t buffers, bytes;
    struct tts_best largest; /* struct tts_live */
    struct tts_best by_op;   /* struct tts_op_row, by moment_bytes */
    size_t op_count;
};

/* The event that was asked for, or the last. */
struct tts_show_event {
    uint64_t seq;
    bool is_known; /* the rest */
    enum tts_event_kind kind;
    bool has_time;
    uint64_t time_ns;
    struct tts_show_op op;
};

struct tts_show_capture {
    uint32_t number;
    uint64_t since; /* the last event before its phase */
};

struct tts_show {
    struct tts_show_options options;
    struct tts_eventfile *file;
    struct tts_progress progress;
    const struct tts_alloc *alloc;
    /* the questions */
    struct tts_follow *follow;
    struct tts_changes changes;
    struct tts_levels levels;
    struct tts_peak *peak;
    struct tts_ops *ops, *failure_ops;
    /* With tts_show_keep_all(): those of every pool; `peak` and `ops` are among them. */
    bool keeps_all;
    struct tts_peak *peaks[TTS_POOLS];
    struct tts_ops *ops_of[TTS_POOLS];
    struct tts_show_stored *stored; /* figures of the file; NULL: its events were read */
    struct tts_eventpass pass;
    /* the answers */
    struct tts_show_phase *phases;
    char *names;
    size_t phase_count, phase_capacity, names_len, names_capacity;
    uint64_t phases_unlisted;
    bool has_captures; /* more than one has phases */
    struct tts_show_failure *failures;
    size_t failure_count, failure_capacity;
    uint64_t failures_unlisted;
    struct tts_show_moment peak_moment, failure_moment, at_moment;
    struct tts_best top_ops; /* struct tts_op_row, by allocated_bytes */
    size_t op_count;         /* of all */
    struct tts_peak_info peak_info;
    struct tts_tracker_health health;
    const struct tts_phase *whole;
    struct tts_core_peak at_core;
    struct tts_core_part at_parts[TTS_CORE_PARTS_MAX];
    struct tts_show_event event;
    uint64_t first_seq;        /* events before the first that was read */
    uint64_t restored_buffers; /* that lived before it */
    uint64_t restored_dram;    /* their bytes in DRAM */
    uint64_t first_ns;         /* of the first item that has a time */
    uint64_t last_ns;          /* of the last item that has a time; 0: none */
    struct tts_partial partial;
    struct tts_partial_notes missing;
    /* where it is */
    uint64_t item_seq;
    uint64_t items; /* read so far */
    bool has_event, is_out_of_memory;
    bool is_read;        /* up to the event that was asked for */
    bool is_interrupted; /* the user stopped it: there is nothing more to say */
    bool is_abandoned;   /* its program is gone and has not ended it */
    struct tts_show_capture captures[TTS_FOLLOW_CAPTURES_MAX];
};

/* ---- show_read.c ---- */

/* Caller's memory. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_show_init(struct tts_show *show,
                                            const struct tts_show_options *options,
                                            struct tts_error *err);
/* Keeps the figures of every pool. To be called after init. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_show_keep_all(struct tts_show *show);
void tts_show_release(struct tts_show *show); /* harmless on a zeroed one */

/* Adds a phase to those that were read. Returns false if there is no memory. */
bool tts_show_add_phase(struct tts_show *show, const struct tts_show_phase *phase,
                        const char *name);
/* Reads the file to its end, or to the event asked for. What was read before an error is good,
 * but for TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_show_read(struct tts_show *show, struct tts_error *err);

/* ---- show_follow.c ---- */

/* Reads a recording while it is written, and shows what is in use once a second, until it ends.
 * Sets is_interrupted or is_abandoned if it ends otherwise. What tts_show_read() says. */
TTS_NODISCARD enum tts_status tts_show_follow(struct tts_show *show, struct tts_error *err);

/* ---- show_moment.c ---- */

/* What lives now in the pool of `ops`, which had no moment before. TTS_E_NOMEM: to be released
 * all the same. */
TTS_NODISCARD enum tts_status tts_show_moment_now(const struct tts_show *show,
                                                  struct tts_show_moment *moment,
                                                  struct tts_ops *ops, struct tts_level level);
void tts_show_moment_release(struct tts_show_moment *moment);

/* The capture by which what is on the cores now is asked for: no file has so many. */
#define TTS_SHOW_NOW UINT32_MAX

/* Makes the answers of what was read. Once. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_show_finish(struct tts_show *show, struct tts_error *err);

/* For the pool of the options: its peak, what lived then, its operations. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_show_finish_pool(struct tts_show *show);

/* ---- show_figures.c: the answers, stored in a packed recording ---- */

enum { TTS_SHOW_STORED_TOP = 1000 }; /* rows of each list */

/* Makes the bytes of what was read with tts_show_keep_all(), to be freed by show->alloc. *len
 * is 0 if nothing should be stored: events are missing, a request was refused, or the bytes are
 * too many. Replaces tts_show_finish(). TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_show_store(struct tts_show *show, unsigned char **bytes,
                                             size_t *len, struct tts_error *err);
/* Takes the answers from the figures of the file; replaces tts_show_read() and
 * tts_show_finish(). Returns false, and changes nothing, if the file has no figures, if they
 * are of another version, or if they have fewer rows than the options ask for. */
bool tts_show_load(struct tts_show *show);
/* The same for bytes that tts_show_store() made, or others that are refused. */
bool tts_show_load_bytes(struct tts_show *show, const unsigned char *bytes, size_t len);
/* Forgets what was loaded. */
void tts_show_unload(struct tts_show *show);
/* The path of an operation that was loaded. */
enum { TTS_SHOW_PATH_BYTES = 512 };
void tts_show_stored_path(const struct tts_show *show, const char *op,
                          char out[TTS_SHOW_PATH_BYTES]);

/* ---- show_facts.c: questions about what was read ---- */

const char *tts_show_phase_name(const struct tts_show *show,
                                const struct tts_show_phase *phase);
/* The shortest phase that has the event; NULL: it is in none. */
const struct tts_show_phase *tts_show_phase_of(const struct tts_show *show, uint64_t seq);
/* Nanoseconds since the recording began. */
uint64_t tts_show_since_start(const struct tts_show *show, uint64_t time_ns);
/* DRAM of the whole file, with what was there before it. */
int64_t tts_show_dram_peak(const struct tts_show *show);
int64_t tts_show_dram_final(const struct tts_show *show);
/* Returns true if buffers may have lived that are not in the figures: each peak, and what lives
 * at the end, is at least what is shown. */
bool tts_show_is_at_least(const struct tts_show *show);
/* Returns true if nothing is known of the pool: L1 in a recording of a run that models DRAM
 * only. */
bool tts_show_is_unknown(const struct tts_show *show, enum tts_pool pool);
#define TTS_SHOW_L1_REASON "the recorded run models DRAM only"
/* The operations around an operation and it, "ttnn::add > ttnn::prim::binary": the end of it if
 * it is longer. Returns `out`. */
const char *tts_show_path(const struct tts_show *show, const char *op,
                          char out[TTS_SHOW_PATH_BYTES]);
/* Returns the name, borrowed; NULL: outside any operation. */
const char *tts_show_op_name(const struct tts_show_op *op);
/* The mesh that a device is a chip of. False: none. */
bool tts_show_mesh_of(const struct tts_show *show, uint32_t device, uint32_t *mesh);

enum tts_show_state {
    TTS_SHOW_COMPLETE,
    TTS_SHOW_NOT_ENDED,
    TTS_SHOW_STOPPED,
    TTS_SHOW_STATE_UNKNOWN, /* no copy of it is whole */
};
enum tts_show_state tts_show_state(const struct tts_show *show);
/* Not all of it could be read. */
bool tts_show_is_damaged(const struct tts_show *show);
/* What is damaged: what ended the reading, else the first gap; NULL: nothing. */
const char *tts_show_damage(const struct tts_show *show);

/* ---- show_text.c, show_text_file.c, show_text_live.c ---- */

void tts_show_text(const struct tts_show *show, FILE *out);
void tts_show_text_file(const struct tts_show *show, FILE *out);
void tts_show_text_figures(const struct tts_show *show, FILE *out); /* of a graph trace */
void tts_show_text_health(const struct tts_show *show, FILE *out);
void tts_show_text_moment(const struct tts_show *show, const struct tts_show_moment *moment,
                          FILE *out);
void tts_show_text_core(const struct tts_show *show, const struct tts_core_peak *core,
                        FILE *out);
void tts_show_text_failures(const struct tts_show *show, FILE *out);
/* ", 1.234567 s, in matmul"; the time if there is one, the operation if it is not NULL or "".
 */
void tts_show_text_when(const struct tts_show *show, bool has_time, uint64_t time_ns,
                        const char *op, FILE *out);

enum { TTS_SHOW_COLUMNS = 80 };
/* A foreign name of at most `columns` columns, TTS_SHOW_COLUMNS at most; `pad`: filled up to
 * them. */
void tts_show_text_name(FILE *out, const char *name, int columns, bool pad);
/* The path of an operation, the end of it if it is too long; NULL: outside any. */
void tts_show_text_op(const struct tts_show *show, FILE *out, const char *op, int columns);

/* ---- show_json.c, show_json_live.c ---- */

void tts_show_json(const struct tts_show *show, struct tts_json *json);
void tts_show_json_moment(const struct tts_show *show, const struct tts_show_moment *moment,
                          struct tts_json *json);
/* The fields "op" and "op_path"; null for NULL and "". */
void tts_show_json_op(const struct tts_show *show, const char *op, struct tts_json *json);
/* The same fields of a pool of which nothing is known. */
void tts_show_json_unknown(enum tts_pool pool, struct tts_json *json);
void tts_show_json_core(const struct tts_show *show, const struct tts_core_peak *core,
                        struct tts_json *json);
void tts_show_json_failures(const struct tts_show *show, struct tts_json *json);
void tts_show_json_graph(const struct tts_show *show, struct tts_json *json);
void tts_show_json_health(const struct tts_show *show, struct tts_json *json);
/* The fields "event" and "seconds". */
void tts_show_json_event(const struct tts_show *show, uint64_t seq, bool has_time,
                         uint64_t time_ns, struct tts_json *json);
