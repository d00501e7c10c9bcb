/* trainblock.h: the summary that a training program prints, while it is being read: its phases,
 * their figures, and whether the figures follow from each other. docs/design/train-log.md has
 * the rules.
 *
 * Ownership: the caller's memory, all zero before the first begin. The caller frees `phases`
 * with the allocator of tts_trainblock_take().
 * Threads: one thread.
 * Returns: what cannot be read is in the notes of the run. */
#pragma once

#include "base/compiler.h"
#include "model/run.h"
#include "sources/trainlog/trainline.h"
#include "ttscope/alloc.h"

struct tts_trainblock {
    struct tts_run run;
    struct tts_run_phase *phases; /* run.phase_count are in use */
    size_t capacity;
    bool is_full;        /* it had more phases than are kept */
    bool is_mixed;       /* a line came twice */
    bool is_change_lost; /* the line of the last phase ends before 'Segment Change' does */
    bool is_warned;      /* the program said above the block that it overwrites phases */
    unsigned seen;       /* lines of the last phase, a bit for each kind */
};

/* Begins a block at the heading in line `number`. Keeps the memory of the phases. */
void tts_trainblock_begin(struct tts_trainblock *block, uint64_t number, bool is_warned);
/* Takes a line of the block; figures only after the first phase. `has_room`: one more phase may
 * be kept. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_trainblock_take(struct tts_trainblock *block,
                                                  const struct tts_trainline *line,
                                                  uint64_t number, bool has_room,
                                                  const struct tts_alloc *alloc);
/* Ends the block. Checks the figures and derives what is missing. `is_cut`: the end of the
 * summary is not in the log. */
void tts_trainblock_end(struct tts_trainblock *block, bool is_cut);

/* Adds a note to a run; counts it if there is no room. */
void tts_trainblock_note(struct tts_run *run, uint64_t line, const char *format, ...)
    TTS_PRINTF(3, 4);
