/* partial.h: finds the reasons why an answer about a file of events is partial (incomplete). A
 * command passes on all items of its pass, and the error that ended the reading. So all
 * commands have the same rule and the same words; docs/design/show-json.md has the table. Plain
 * values; initialize with zeros. */
#pragma once

#include "model/partialnotes.h"
#include "sources/eventfile.h"

struct tts_partial {
    bool has_items;  /* an item was read, so there is an answer */
    uint64_t events; /* events that were read */
    uint64_t missed; /* events that were dropped and not recorded */
    /* number of impossible statements in the file, which were skipped */
    uint64_t refused;
    struct tts_error refusal; /* the first such statement */
    /* the error that ended the reading; its status is TTS_OK if there was none */
    struct tts_error damage;
    /* buffers that were allocated before the first event may be unknown */
    bool lacks_start;
    uint64_t left_buffers; /* number of such buffers that the writer of the file left out */
    uint64_t left_bytes;   /* sum of the sizes of those left_buffers */
    /* number of the refused request at which the program stopped; 0 if there is none */
    uint64_t stop_seq;
    bool has_start; /* an event or a keyframe was read */
    bool in_keyframe;
    const struct tts_core_peak *core; /* the fullest core, or NULL; borrowed */
};

/* Examines the next item of a pass (sources/eventpass.h). */
void tts_partial_item(struct tts_partial *partial, const struct tts_item *item);

/* Lists the reasons. Call it after the last item. */
void tts_partial_list(const struct tts_partial *partial, struct tts_eventfile *file,
                      struct tts_partial_notes *out);

/* Writes the end of a note that represents `count` places: " (the first of 7 places)", or ""
 * for one place. Returns `out`. */
enum { TTS_PARTIAL_FIRST_MAX = 48 };
const char *tts_partial_first_of(uint64_t count, char out[TTS_PARTIAL_FIRST_MAX]);

/* Writes why a recording stopped: "stopped because the disk was full". Returns `out`. */
enum { TTS_PARTIAL_REASON_MAX = 160 };
const char *tts_partial_stop_text(const struct tts_rec_state *state,
                                  char out[TTS_PARTIAL_REASON_MAX]);
