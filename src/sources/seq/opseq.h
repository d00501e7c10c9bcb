/* opseq.h: one line of the operation language (docs/design/opseq.md) as text and as data. Plain
 * values and pure functions: nothing is allocated, kept or printed. opseq_run.h runs a
 * sequence. */
#pragma once

#include "device/space.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
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

/* Parses one line without its line end. TTS_E_SYNTAX, TTS_E_RANGE (a number above 64 bits): err
 * says what was expected, and err->offset is the byte in the line. */
TTS_NODISCARD enum tts_status tts_opseq_parse(const char *text, size_t len,
                                              struct tts_opseq_line *out,
                                              struct tts_error *err);

enum { TTS_OPSEQ_TEXT_MAX = 192 };

/* Writes the canonical text, terminated, without a line end. Returns its length. A blank line
 * gives "". */
size_t tts_opseq_format(const struct tts_opseq_line *line, char out[TTS_OPSEQ_TEXT_MAX]);

/* Returns the letter of a kind, ' ' for a blank line. */
char tts_opseq_letter(enum tts_opseq_kind kind);

/* Returns "FIRST" or "BEST". */
const char *tts_opseq_policy_name(enum tts_policy policy);

/* Returns true if an operation of this kind can have a result. */
bool tts_opseq_kind_has_result(enum tts_opseq_kind kind);

/* Returns true if two results of one operation are equal. */
bool tts_opseq_result_equal(const struct tts_opseq_result *a, const struct tts_opseq_result *b);
