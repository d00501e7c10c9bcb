/* opseq_run.h: runs the lines of a sequence on a space and gives the result of each. Caller's
 * memory: init, then one line after the other, finish at the end, release in any case. A run
 * owns its space and one array for the answers to `v` and `t`, which grows to the largest
 * answer and is reused. Nothing else is allocated. One thread. */
#pragma once

#include "device/space.h"
#include "sources/seq/opseq.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

/* Counts of the run so far. Failed, refused and ignored operations are counted separately. */
struct tts_opseq_counts {
    uint64_t operations; /* all lines except P, comments and blank lines */
    uint64_t takes, takes_failed, takes_below_limit;
    /* The part of takes_failed for which enough was free, but in pieces. */
    uint64_t takes_fragmented;
    uint64_t takes_at, takes_at_failed;
    uint64_t gives, gives_ignored;
    uint64_t shrinks, shrinks_refused, unshrinks, clears;
    uint64_t queries;
    uint64_t peak_taken_bytes;
    uint64_t peak_line; /* line that first reached the peak; 0 if nothing was taken */
};

struct tts_opseq_run {
    const struct tts_alloc *alloc;
    struct tts_space *space;      /* NULL before the P line */
    struct tts_space_config pool; /* from the P line */
    struct tts_space_stats stats; /* as of the last line */
    struct tts_opseq_counts counts;
    void *scratch;
    size_t scratch_bytes;
};

/* The result of one line. */
struct tts_opseq_step {
    struct tts_opseq_line line; /* the line with its actual result, as l or q */
    bool is_operation;          /* false for a blank line and P */
    uint64_t address;           /* of the block that was taken or given back */
    /* Size of that block, 0 if there is none. For a failed take: the size it needed,
     * rounded; UINT64_MAX if that is above 64 bits. */
    uint64_t bytes;
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
