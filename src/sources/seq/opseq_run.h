/* opseq_run.h: runs the lines of an operation sequence on a space and returns the result of
 * each line. The caller owns the struct: call init, then run the lines in order, call finish
 * after the last line, and call release in any case. A run owns its space and one array for the
 * answers to `v` and `t`; the array grows to the largest answer and is reused. Nothing else is
 * allocated. One thread at a time. */
#pragma once

#include "device/space.h"
#include "sources/seq/opseq.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

struct tts_opseq_run {
    const struct tts_alloc *alloc;
    struct tts_space *space;      /* NULL until the P line has been run */
    struct tts_space_config pool; /* the values of the P line */
    struct tts_space_stats stats; /* statistics of the space after the last line */
    struct tts_opseq_counts counts;
    void *scratch;
    size_t scratch_bytes;
};

/* Begins a run. `alloc` may be NULL; then the C library allocates. */
void tts_opseq_run_init(struct tts_opseq_run *run, const struct tts_alloc *alloc);
void tts_opseq_run_release(struct tts_opseq_run *run);

/* Runs one line. `line_no` is its number. TTS_E_SYNTAX: a second P line, or an operation before
 * the P line. TTS_E_INVALID, TTS_E_RANGE: no pool can have these values. TTS_E_NOMEM: memory
 * ran out. After an error only tts_opseq_run_release() is allowed. */
TTS_NODISCARD enum tts_status tts_opseq_run_line(struct tts_opseq_run *run,
                                                 const struct tts_opseq_line *line,
                                                 uint64_t line_no, struct tts_opseq_step *out,
                                                 struct tts_error *err);

/* Checks the sequence after its last line. TTS_E_SYNTAX: the sequence has no P line. */
TTS_NODISCARD enum tts_status tts_opseq_run_finish(const struct tts_opseq_run *run,
                                                   struct tts_error *err);
