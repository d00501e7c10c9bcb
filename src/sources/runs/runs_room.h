/* runs_room.h: collects runs for the readers of runs.h. The phases of several runs may
 * alternate. Caller's memory, all zero except `alloc`. One thread. */
#pragma once

#include "base/compiler.h"
#include "sources/runs/runs.h"

struct tts_runs_entry {
    struct tts_run run;
    uint32_t capture; /* 0 if it is not a capture of a recording */
    bool is_partial;  /* a note says so */
    bool is_settled;
    size_t first; /* index of its first phase; known at the end */
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

/* Adds a run without phases. If there are too many, *out is NULL and `unlisted` counts the run.
 * The entry stays in place until the next one is added. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_runs_add(struct tts_runs_room *room,
                                           struct tts_runs_entry **out);
/* Finds the run of a capture, which is added when it is first seen. *out may be NULL, see
 * tts_runs_add(). TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_runs_capture(struct tts_runs_room *room, uint32_t capture,
                                               struct tts_runs_entry **out);
/* Adds a phase to a run. If there are too many, the phase is counted and the run is cut off.
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_runs_add_phase(struct tts_runs_room *room,
                                                 struct tts_runs_entry *entry,
                                                 const struct tts_run_phase *phase);

/* Copies all runs that have figures to *out, captures in the order of their numbers. *out may
 * be empty. Only once. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_runs_settle(struct tts_runs_room *room,
                                              enum tts_runs_kind kind, struct tts_runs *out);
void tts_runs_room_release(struct tts_runs_room *room);

/* Sets the overall peak and the final usage of each capture from its last phase. */
void tts_runs_total(struct tts_runs_room *room);
/* Names each capture by its number if there are several. */
void tts_runs_name_captures(struct tts_runs_room *room);

/* Adds a note to a run. Only counts the note if there is no room. */
void tts_runs_note(struct tts_run *run, uint64_t line, const char *format, ...)
    TTS_PRINTF(3, 4);
/* Notes that a phase from a follower (follow.h) is partial or was not ended. */
void tts_runs_note_phase(struct tts_runs_entry *entry, const char *name, bool is_partial);
/* Copies at most TTS_RUN_NAME_MAX - 1 bytes of the name. */
void tts_runs_put_name(char out[TTS_RUN_NAME_MAX], const char *text, size_t len);

/* Names the run after the file at a path, without the suffix of a compressor. "-" gives no
 * name. */
void tts_runs_put_file(struct tts_run *run, const char *path);
