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
    enum tts_direction direction; /* of a */
    uint64_t bytes;               /* of a, x, k and v: the requested size, not rounded */
    uint64_t address;             /* of x and d */
    uint64_t limit;               /* of a */
    bool has_result;
    struct tts_opseq_result result;
    struct tts_space_config pool; /* of P: as in the file, even if no such space is possible */
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
