/* runs_room.h: collects the runs that the readers of runs.h find. The phases of several runs
 * may alternate. The caller owns the struct and initializes it with zeros and `alloc`. One
 * thread. */
#pragma once

#include "base/compiler.h"
#include "sources/runs/runs.h"

struct tts_runs_entry {
    struct tts_run run;
    uint32_t capture; /* number of the capture; 0 if the run is not a capture */
    bool is_partial;  /* a note says that a part of the run is missing */
    bool is_settled;
    size_t first; /* index of the run's first phase in the result */
};

struct tts_runs_phase {
    size_t entry;
    struct tts_run_phase phase;
};

struct tts_runs_room {
    const struct tts_alloc *alloc;
    struct tts_runs_entry *entries;
    size_t count, capacity;
    struct tts_runs_phase *phases;
    size_t phase_count, phase_capacity;
    uint64_t unlisted;
};

/* Adds a run without phases. If there are TTS_RUNS_MAX runs already, sets *out to NULL and
 * counts the run in `unlisted`. *out is valid until the next run is added. Returns TTS_OK or
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_runs_add(struct tts_runs_room *room,
                                           struct tts_runs_entry **out);
/* Finds the run of a capture, or adds one if there is none. *out is as in tts_runs_add().
 * Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_runs_capture(struct tts_runs_room *room, uint32_t capture,
                                               struct tts_runs_entry **out);
/* Adds a phase to a run. If there are TTS_RUNS_PHASES_MAX phases already, counts the phase in
 * `unlisted` and marks the run as cut. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_runs_add_phase(struct tts_runs_room *room,
                                                 struct tts_runs_entry *entry,
                                                 const struct tts_run_phase *phase);

/* Copies all runs that have figures to *out, which the caller frees with tts_runs_release().
 * Captures are in the order of their numbers. *out may have no run. Call this function only
 * once. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_runs_settle(struct tts_runs_room *room,
                                              enum tts_runs_kind kind, struct tts_runs *out);
void tts_runs_room_release(struct tts_runs_room *room);

/* Sets the overall peak and the final usage of each capture to the values of its last phase. */
void tts_runs_total(struct tts_runs_room *room);
/* Sets the title of each capture to its number, if there are several captures. */
void tts_runs_name_captures(struct tts_runs_room *room);

/* Adds a note to a run. If there are TTS_RUN_NOTES_MAX notes already, only counts the note. */
void tts_runs_note(struct tts_run *run, uint64_t line, const char *format, ...)
    TTS_PRINTF(3, 4);
/* Notes that a phase from model/follow.h is partial, or that the input ends inside it. */
void tts_runs_note_phase(struct tts_runs_entry *entry, const char *name, bool is_partial);
/* Copies the first TTS_RUN_NAME_MAX - 1 bytes of a name, or all of them, and terminates the
 * copy. */
void tts_runs_put_name(char out[TTS_RUN_NAME_MAX], const char *text, size_t len);

/* Names the run after the last part of `path`, without ".gz" or ".zst". The path "-" gives the
 * name "". */
void tts_runs_put_file(struct tts_run *run, const char *path);
