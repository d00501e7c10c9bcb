/* show.h: reads a file of events for `ttscope show`. The views print the answer. One thread. */
#pragma once

#include "cli/progress.h"
#include "sources/eventpass.h"
#include "sources/partial.h"
#include "views/show/show_view.h"

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
    char stop_reason[TTS_PARTIAL_REASON_MAX];
    bool is_interrupted; /* the user stopped it: there is nothing more to say */
    bool is_abandoned;   /* its program is gone and has not ended it */
};

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

/* Fills in the facts that the views print. They borrow from `show`. */
void tts_show_facts(struct tts_show *show, struct tts_show_facts *out);

/* Reads a recording while it is written, and shows what is in use once a second, until it ends.
 * Sets is_interrupted or is_abandoned if it ends otherwise. What tts_show_read() says. */
TTS_NODISCARD enum tts_status tts_show_follow(struct tts_show *show, struct tts_error *err);
