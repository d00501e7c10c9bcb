/* show.h: reads a file of events for `ttscope show`. The views print the answer. One thread at
 * a time. */
#pragma once

#include "cli/device_arg.h"
#include "cli/job.h"
#include "cli/progress.h"
#include "sources/eventpass.h"
#include "sources/partial.h"
#include "views/show/show_view.h"

enum { TTS_SHOW_TOP = 10 };

struct tts_show_options {
    const char *path;
    const char *rank; /* the rank of a runtime log to show; NULL: the first */
    uint64_t at;      /* the requested event; 0: the whole file */
    size_t top;       /* rows of each list; 0: all */
    enum tts_pool pool;
    bool all, json, follow, leaks, phases, growing;
    struct tts_growth_rule growing_rule;
    struct tts_device_arg device; /* name is NULL if the capacities are unknown */
};

struct tts_show {
    struct tts_show_options options;
    struct tts_input *log; /* the file is a text; NULL: it has events */
    struct tts_eventfile *file;
    struct tts_progress progress;
    const struct tts_alloc *alloc;
    struct tts_eventpass pass;
    struct tts_eventscan scan;
    struct tts_eventsummary sum;
    struct tts_samplepeaks samples;
    struct tts_partial partial;
    struct tts_partial_notes missing;
    uint64_t bank_bytes[TTS_POOLS], banks[TTS_POOLS]; /* of --device; 0: unknown */
    char stop_reason[TTS_PARTIAL_REASON_MAX];
    bool is_interrupted; /* a signal ended --follow: nothing more is printed */
    bool is_abandoned;   /* the program no longer runs and did not end the recording */
};

/* Prepares the caller's struct. `show` must not move until tts_show_release(), which is needed
 * also after a failure. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_show_init(struct tts_show *show,
                                            const struct tts_show_options *options,
                                            struct tts_error *err);
void tts_show_release(struct tts_show *show); /* a zeroed struct is fine */

/* Reads show->log as the log of a compiler's runtime and prints the memory in it. Sets *is_one
 * to false and prints nothing if it is another log. Returns an exit code. */
int tts_show_runtimelog(struct tts_job *job, struct tts_show *show, bool *is_one);
/* Reads show->log in one pass and prints the failure in it. Returns an exit code. */
int tts_show_log(struct tts_job *job, struct tts_show *show);

/* Reads the file to its end, or to the requested event. After an error, the data read so far is
 * valid, except after TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_show_read(struct tts_show *show, struct tts_error *err);
/* Loads the answers from the figures that a packed recording stores. Replaces tts_show_read()
 * and tts_eventscan_finish(). Returns false and changes nothing if the file has no figures, if
 * the file is damaged, if the figures do not belong to its events, or if they have fewer rows
 * than the options request. */
bool tts_show_load(struct tts_show *show);

/* Fills in the facts that the views print. The pointers in *out are borrowed from `show`. */
void tts_show_facts(struct tts_show *show, struct tts_show_facts *out);

/* Reads a recording while it is written and prints the memory in use, at most once a second,
 * until the recording ends. Sets is_interrupted if a signal ends the call, and is_abandoned if
 * the program no longer runs. Fails like tts_show_read(). */
TTS_NODISCARD enum tts_status tts_show_follow(struct tts_show *show, struct tts_error *err);
