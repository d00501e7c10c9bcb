/* trainblock.h: the memory summary of a training program while it is being read: its phases,
 * their figures, and checks of the figures. docs/design/train-log.md has the rules.
 *
 * Ownership: the caller's memory, all zero before the first tts_trainblock_begin(). The caller
 * frees `phases` with the allocator of tts_trainblock_take().
 * Threads: one thread.
 * Returns: errors in the log become notes of the run. */
#pragma once

#include "base/compiler.h"
#include "model/run.h"
#include "sources/trainlog/trainline.h"
#include "ttscope/alloc.h"

struct tts_trainblock {
    struct tts_run run;
    struct tts_run_phase *phases; /* run.phase_count of them are in use */
    size_t capacity;
    bool is_full;  /* the block has more phases than are kept */
    bool is_mixed; /* a line occurred twice */
    /* The line of the last phase ends before the value of 'Segment Change'. */
    bool is_change_lost;
    bool is_warned; /* the program warned before the block that it overwrites phases */
    unsigned seen;  /* lines seen of the last phase, one bit for each kind */
};

/* Begins a block at the heading in line `number`. Keeps the memory of the phases. */
void tts_trainblock_begin(struct tts_trainblock *block, uint64_t number, bool is_warned);
/* Takes a line of the block. Figures are only allowed after the first phase. `has_room` says
 * whether one more phase may be kept. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_trainblock_take(struct tts_trainblock *block,
                                                  const struct tts_trainline *line,
                                                  uint64_t number, bool has_room,
                                                  const struct tts_alloc *alloc);
/* Ends the block: checks the figures and derives missing ones. `is_cut` says that the end of
 * the summary is not in the log. */
void tts_trainblock_end(struct tts_trainblock *block, bool is_cut);

/* Adds a note to a run. Only counts the note if there is no room. */
void tts_trainblock_note(struct tts_run *run, uint64_t line, const char *format, ...)
    TTS_PRINTF(3, 4);
