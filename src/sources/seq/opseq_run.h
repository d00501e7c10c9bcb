/* opseq_run.h: runs the lines of a sequence on a space and says what each of them did.
 * Caller's memory: init, then one line after the other, finish at the end, release in any case.
 * A run owns its space and one array for the answers to `v` and `t`, which grows to the largest
 * and is used again; nothing else is allocated. One thread. */
#pragma once

#include "sources/seq/opseq.h"
#include "ttscope/alloc.h"
#include "ttscope/space.h"
#include "ttscope/status.h"

/* What has happened so far. Failed, refused and ignored ones are not among the others. */
struct tts_opseq_counts {
    uint64_t operations; /* every line but P, comments and blank lines */
    uint64_t takes, takes_failed, takes_below_limit;
    uint64_t takes_fragmented; /* those of takes_failed for which enough was free, in pieces */
    uint64_t takes_at, takes_at_failed;
    uint64_t gives, gives_ignored;
    uint64_t shrinks, shrinks_refused, unshrinks, clears;
    uint64_t queries;
    uint64_t peak_taken_bytes;
    uint64_t peak_line; /* where the peak was first reached; 0: nothing was ever taken */
};

struct tts_opseq_run {
    const struct tts_alloc *alloc;
    struct tts_space *space;      /* NULL until the P line */
    struct tts_space_config pool; /* of that line */
    struct tts_space_stats stats; /* after the last line */
    struct tts_opseq_counts counts;
    void *scratch;
    size_t scratch_bytes;
};

/* One line, run. */
struct tts_opseq_step {
    struct tts_opseq_line
        line;          /* the same with the result it had, l and q as the result says */
    bool is_operation; /* false: blank or P */
    uint64_t address;  /* of the block that was taken or given */
    uint64_t bytes; /* of that block, 0: none was. For a take that failed: the room it needed,
                     * rounded, UINT64_MAX when past 64 bits */
};

/* `alloc` NULL means the C library's. */
void tts_opseq_run_init(struct tts_opseq_run *run, const struct tts_alloc *alloc);
void tts_opseq_run_release(struct tts_opseq_run *run);

/* Runs one line; `line_no` is where it stands. TTS_E_SYNTAX: a P line that is not the first, or
 * an operation before it. TTS_E_INVALID, TTS_E_RANGE: a pool that cannot be. TTS_E_NOMEM. After
 * an error the run can only be released. */
TTS_NODISCARD enum tts_status tts_opseq_run_line(struct tts_opseq_run *run,
                                                 const struct tts_opseq_line *line,
                                                 uint64_t line_no, struct tts_opseq_step *out,
                                                 struct tts_error *err);

/* To be asked after the last line. TTS_E_SYNTAX: there was no P line. */
TTS_NODISCARD enum tts_status tts_opseq_run_finish(const struct tts_opseq_run *run,
                                                   struct tts_error *err);
