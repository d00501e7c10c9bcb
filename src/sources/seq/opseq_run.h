/* opseq_run.h: runs the lines of a sequence on a space and gives the result of each. Caller's
 * memory: init, then one line after the other, finish at the end, release in any case. A run
 * owns its space and one array for the answers to `v` and `t`, which grows to the largest
 * answer and is reused. Nothing else is allocated. One thread. */
#pragma once

#include "device/space.h"
#include "sources/seq/opseq.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

struct tts_opseq_run {
    const struct tts_alloc *alloc;
    struct tts_space *space;      /* NULL before the P line */
    struct tts_space_config pool; /* from the P line */
    struct tts_space_stats stats; /* as of the last line */
    struct tts_opseq_counts counts;
    void *scratch;
    size_t scratch_bytes;
};

/* `alloc` may be NULL for the C library's. */
void tts_opseq_run_init(struct tts_opseq_run *run, const struct tts_alloc *alloc);
void tts_opseq_run_release(struct tts_opseq_run *run);

/* Runs one line. `line_no` is its number. TTS_E_SYNTAX: a P line that is not the first, or an
 * operation before it. TTS_E_INVALID, TTS_E_RANGE: the pool is not possible. TTS_E_NOMEM. After
 * an error the run can only be released. */
TTS_NODISCARD enum tts_status tts_opseq_run_line(struct tts_opseq_run *run,
                                                 const struct tts_opseq_line *line,
                                                 uint64_t line_no, struct tts_opseq_step *out,
                                                 struct tts_error *err);

/* Checks the sequence after its last line. TTS_E_SYNTAX: it has no P line. */
TTS_NODISCARD enum tts_status tts_opseq_run_finish(const struct tts_opseq_run *run,
                                                   struct tts_error *err);
