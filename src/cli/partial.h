/* partial.h: what is missing of a file of events. Every command that reads one tells its items,
 * and what ended the reading; then it asks here, so that all have one rule and one wording
 * (docs/design/show-json.md has the table). Plain values; all zero is how they begin. */
#pragma once

#include "cli/command.h"
#include "sources/eventfile.h"
#include "views/json.h"

struct tts_partial {
    bool has_items;           /* something was read: there is an answer */
    uint64_t missed;          /* events that were dropped before they were recorded */
    uint64_t refused;         /* statements that cannot be, and were passed over */
    struct tts_error refusal; /* the first of them */
    struct tts_error damage;  /* what ended the reading; TTS_OK: the end did */
    bool lacks_start;         /* not all is known that lived before the first event */
    uint64_t left_buffers;    /* of them: those that the writer of the file left out, */
    uint64_t left_bytes;      /* and the sum of their sizes */
    uint64_t stop_seq;        /* of a refused request at which the program stopped; 0: none */
    bool has_start;           /* an event or a keyframe came */
    bool in_keyframe;
    const struct tts_core_peak *core; /* the fullest core, if it was asked for; borrowed */
};

/* To be told every item of a pass (sources/eventpass.h), in their order. */
void tts_partial_item(struct tts_partial *partial, const struct tts_item *item);

enum {
    TTS_PARTIAL_NOTES_MAX = TTS_GRAPH_NOTES + 8,
    TTS_PARTIAL_TEXT_MAX = 320,
};

struct tts_partial_note {
    /* "damage", "graph", "l1", "missed", "program", "refused", "start", "state", "stopped" */
    const char *kind;
    uint64_t line; /* 0: none */
    char text[TTS_PARTIAL_TEXT_MAX];
};

/* Why an answer is one of a part. None: it is one of the whole. */
struct tts_partial_notes {
    size_t count;
    bool is_beginning; /* only the end is missing: a peak is at least that of what is there */
    bool is_stopped;   /* the last note is of kind "program" */
    struct tts_partial_note note[TTS_PARTIAL_NOTES_MAX];
};

/* Behind the last item. */
void tts_partial_list(const struct tts_partial *partial, struct tts_eventfile *file,
                      struct tts_partial_notes *out);
/* Says them all on stderr. Returns TTS_EXIT_PARTIAL, or TTS_EXIT_DONE if there are none. */
int tts_partial_say(const struct tts_partial_notes *notes, const char *command,
                    const char *path);
/* The fields "partial" and "missing". */
void tts_partial_json(const struct tts_partial_notes *notes, struct tts_json *json);

/* Behind a note that stands for others of its kind: " (the first of 7)"; of 1: "". Returns
 * `out`. */
enum { TTS_PARTIAL_FIRST_MAX = 40 };
const char *tts_partial_first_of(uint64_t count, char out[TTS_PARTIAL_FIRST_MAX]);

/* Why a recording stopped: "stopped: no space left on device". Returns `out`. */
enum { TTS_PARTIAL_REASON_MAX = 160 };
const char *tts_partial_stop_text(const struct tts_rec_state *state,
                                  char out[TTS_PARTIAL_REASON_MAX]);
