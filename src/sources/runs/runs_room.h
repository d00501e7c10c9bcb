/* runs_room.h: runs while they are gathered, for the readers of runs.h. Phases of several
 * runs may come in turns. Caller's memory, all zero but for `alloc`; one thread. */
#pragma once

#include "base/compiler.h"
#include "sources/runs/runs.h"

struct tts_runs_entry {
    struct tts_run run;
    uint32_t capture; /* 0: it is none of a recording */
    bool is_partial;  /* that was noted */
    bool is_settled;
    size_t first; /* of its phases; known at the end */
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

/* A run without phases so far, counted in `unlisted` where there are too many: then *out is
 * NULL. It stays where it is until the next is added. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_runs_add(struct tts_runs_room *room,
                                           struct tts_runs_entry **out);
/* The run of a capture, made when it is seen first; NULL as above. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_runs_capture(struct tts_runs_room *room, uint32_t capture,
                                               struct tts_runs_entry **out);
/* Its next phase. One too many is counted, and the run is cut off there. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_runs_add_phase(struct tts_runs_room *room,
                                                 struct tts_runs_entry *entry,
                                                 const struct tts_run_phase *phase);

/* Copies all runs that tell something to *out, which may have none then; captures stand in
 * their order. Once. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_runs_settle(struct tts_runs_room *room,
                                              enum tts_runs_kind kind, struct tts_runs *out);
void tts_runs_room_release(struct tts_runs_room *room);

/* Overall peak and final usage, where the last phase tells them: of captures. */
void tts_runs_total(struct tts_runs_room *room);
/* Where there are several captures each is called by its number. */
void tts_runs_name_captures(struct tts_runs_room *room);

/* What is wrong with a run; what is too much is counted. */
void tts_runs_note(struct tts_run *run, uint64_t line, const char *format, ...)
    TTS_PRINTF(3, 4);
/* The same of a phase that a follower told (follow.h). */
void tts_runs_note_phase(struct tts_runs_entry *entry, const char *name, bool is_partial);
/* At most TTS_RUN_NAME_MAX - 1 bytes of it. */
void tts_runs_put_name(char out[TTS_RUN_NAME_MAX], const char *text, size_t len);

/* The name of the file at a path, without what compressors put behind it; "-" has none. */
void tts_runs_put_file(struct tts_run *run, const char *path);
