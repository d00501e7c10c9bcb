/* show_parts.h: what the files of `ttscope show` know of each other: the reading of a file, and
 * the two forms in which its summary is printed. */
#pragma once

#include "analysis/eventsummary.h"
#include "cli/progress.h"
#include "sources/eventpass.h"
#include "sources/partial.h"
#include "views/json.h"

#include <stdio.h>

enum { TTS_SHOW_TOP = 10 };

struct tts_show_options {
    const char *path;
    uint64_t at; /* 0: the whole file */
    size_t top;  /* 0: all */
    enum tts_pool pool;
    bool all, json, follow;
};

struct tts_show {
    struct tts_show_options options;
    struct tts_eventfile *file;
    struct tts_progress progress;
    const struct tts_alloc *alloc;
    struct tts_eventpass pass;
    struct tts_eventscan scan;
    struct tts_eventsummary sum;
    struct tts_partial partial;
    struct tts_partial_notes missing;
    bool is_interrupted; /* the user stopped it: there is nothing more to say */
    bool is_abandoned;   /* its program is gone and has not ended it */
};

/* ---- show_read.c ---- */

/* Caller's memory. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_show_init(struct tts_show *show,
                                            const struct tts_show_options *options,
                                            struct tts_error *err);
void tts_show_release(struct tts_show *show); /* harmless on a zeroed one */

/* Reads the file to its end, or to the requested event. After an error, the data read so far is
 * valid, except after TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_show_read(struct tts_show *show, struct tts_error *err);
/* Takes the answers from the figures of the file; replaces tts_show_read() and
 * tts_eventscan_finish(). Returns false, and changes nothing, if the file has no figures or
 * damage, if they are not of its events, or if they have fewer rows than the options ask for.
 */
bool tts_show_load(struct tts_show *show);

/* Nanoseconds since the recording began. */
uint64_t tts_show_since_start(const struct tts_show *show, uint64_t time_ns);
/* Returns true if buffers may have lived that are not in the figures: each peak, and what lives
 * at the end, is at least what is shown. */
bool tts_show_is_at_least(const struct tts_show *show);
/* Returns true if nothing is known of the pool: L1 in a recording of a run that models DRAM
 * only. */
bool tts_show_is_unknown(const struct tts_show *show, enum tts_pool pool);
#define TTS_SHOW_L1_REASON "the recorded run models DRAM only"

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

/* ---- show_follow.c ---- */

/* Reads a recording while it is written, and shows what is in use once a second, until it ends.
 * Sets is_interrupted or is_abandoned if it ends otherwise. What tts_show_read() says. */
TTS_NODISCARD enum tts_status tts_show_follow(struct tts_show *show, struct tts_error *err);

/* ---- show_text.c, show_text_file.c, show_text_live.c ---- */

void tts_show_text(const struct tts_show *show, FILE *out);
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
/* Writes the fields "op" and "op_path". Both are null if `op` is NULL or "". */
void tts_show_json_op(const struct tts_show *show, const char *op, struct tts_json *json);
/* The fields "event" and "seconds". */
void tts_show_json_event(const struct tts_show *show, uint64_t seq, bool has_time,
                         uint64_t time_ns, struct tts_json *json);
