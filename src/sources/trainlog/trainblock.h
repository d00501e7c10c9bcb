/* trainblock.h: one memory summary (block) of a training program while it is read: its phases,
 * their figures, and checks of the figures. docs/design/train-log.md has the rules.
 *
 * Ownership: the caller owns the struct, which must be all zero before the first
 * tts_trainblock_begin(). The caller frees `phases` with the allocator given to
 * tts_trainblock_take().
 * Threads: one thread at a time.
 * Returns: errors in the log become notes of the run. */
#pragma once

#include "base/compiler.h"
#include "model/run.h"
#include "sources/trainlog/trainline.h"
#include "ttscope/alloc.h"

struct tts_trainblock {
    struct tts_run run;
    /* Array of `capacity` phases; the first run.phase_count are in use. */
    struct tts_run_phase *phases;
    size_t capacity;
    bool is_full;  /* a phase was dropped because there was no room */
    bool is_mixed; /* a line of figures occurred twice in a phase */
    /* The line of the last phase is cut off before the value of 'Segment Change'. */
    bool is_change_lost;
    bool is_warned; /* before the block the program warned that it overwrites phases */
    unsigned seen;  /* one bit for each kind of line that was seen in the last phase */
};

/* Begins a block whose heading is line `number`. The array of phases is reused. */
void tts_trainblock_begin(struct tts_trainblock *block, uint64_t number, bool is_warned);
/* Reads a line of the block. A line of figures is allowed only after the first phase.
 * `has_room` tells whether one more phase may be kept. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_trainblock_take(struct tts_trainblock *block,
                                                  const struct tts_trainline *line,
                                                  uint64_t number, bool has_room,
                                                  const struct tts_alloc *alloc);
/* Ends the block: derives missing figures and checks all. `is_cut` is true if the log does not
 * have the end of the summary. */
void tts_trainblock_end(struct tts_trainblock *block, bool is_cut);

/* Adds a note to a run. If there are TTS_RUN_NOTES_MAX notes already, only counts the note. */
void tts_trainblock_note(struct tts_run *run, uint64_t line, const char *format, ...)
    TTS_PRINTF(3, 4);
