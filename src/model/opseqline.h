/* opseqline.h: one line of the operation language (docs/design/opseq.md) as data, with its
 * result, and the counts of a run. Plain values. sources/seq/opseq.h parses and formats a line,
 * and sources/seq/opseq_run.h runs it. */
#pragma once

#include "device/space.h"

#include <stdbool.h>
#include <stdint.h>

enum tts_opseq_kind {
    TTS_OPSEQ_BLANK,     /* an empty line or a comment, whose text is not kept */
    TTS_OPSEQ_POOL,      /* letter P */
    TTS_OPSEQ_TAKE,      /* letter a */
    TTS_OPSEQ_TAKE_AT,   /* letter x */
    TTS_OPSEQ_GIVE,      /* letter d */
    TTS_OPSEQ_SHRINK,    /* letter k */
    TTS_OPSEQ_UNSHRINK,  /* letter r */
    TTS_OPSEQ_CLEAR,     /* letter c */
    TTS_OPSEQ_STATS,     /* letter s */
    TTS_OPSEQ_LOWEST,    /* letter l */
    TTS_OPSEQ_STALE,     /* letter q: like l, if the reported and the true address differ */
    TTS_OPSEQ_AVAILABLE, /* letter v */
    TTS_OPSEQ_MAP,       /* letter m */
    TTS_OPSEQ_TABLE,     /* letter t */
    TTS_OPSEQ_KINDS,
};

enum tts_opseq_outcome {
    TTS_OPSEQ_DONE,
    TTS_OPSEQ_FAILED,      /* written as F or E */
    TTS_OPSEQ_BELOW_LIMIT, /* written as T */
};

enum { TTS_OPSEQ_VALUES = 4 };

/* value[] holds the words of the result from left to right:
 *   a x    address, unless it failed
 *   s      total, taken, free, largest free, all in bytes
 *   l q    reported and true lowest address, where none[] is false; l has them equal
 *   v m t  count, hash
 * All other elements are 0 and false. */
struct tts_opseq_result {
    enum tts_opseq_outcome outcome;
    bool none[2];
    uint64_t value[TTS_OPSEQ_VALUES];
};

/* Operands that the kind does not have are 0. */
struct tts_opseq_line {
    enum tts_opseq_kind kind;
    enum tts_direction direction; /* operand of `a` */
    uint64_t bytes; /* operand of `a`, `x`, `k` and `v`: the requested size, before rounding */
    uint64_t address; /* operand of `x` and `d` */
    uint64_t limit;   /* operand of `a` */
    bool has_result;
    struct tts_opseq_result result;
    /* Operands of P, as in the file, even if no space can have them. */
    struct tts_space_config pool;
};

/* The result of one line. */
struct tts_opseq_step {
    /* The line with its actual result; an l line may become q, and a q line l. */
    struct tts_opseq_line line;
    bool is_operation; /* false for a blank line and P */
    uint64_t address;  /* address of the block that was taken or given back */
    /* Size of this block; 0 if there is none. If a take failed, the rounded size that it
     * needed; UINT64_MAX if that size does not fit in 64 bits. */
    uint64_t bytes;
};

/* Counts of the run so far. Failed, refused and ignored operations are counted separately. */
struct tts_opseq_counts {
    uint64_t operations; /* all lines except P, comments and blank lines */
    uint64_t takes, takes_failed, takes_below_limit;
    /* Number of the failed takes for which enough bytes were free, but not in one block. */
    uint64_t takes_fragmented;
    uint64_t takes_at, takes_at_failed;
    uint64_t gives, gives_ignored;
    uint64_t shrinks, shrinks_refused, unshrinks, clears;
    uint64_t queries;
    uint64_t peak_taken_bytes;
    uint64_t peak_line; /* line that first reached the peak; 0 if nothing was taken */
};
