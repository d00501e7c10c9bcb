/* oplog.h: reads the log of the compiler's runtime (tt-mlir, tt-xla) as a sequence of records:
 * operations, memory blocks, programs. The log may have any subset of these lines, between
 * lines of any other kind, with colours or without, from one process or several ranks.
 * docs/design/runtime-log.md has the format.
 *
 * Ownership: the caller owns the log and the input, and keeps the input open until
 * tts_oplog_close(). A returned record is valid until the next call.
 * Threads: one thread at a time for each log.
 * Cost: one pass, some 2 ns a byte at most. Memory: TTS_OPLINE_MAX bytes for the window and as
 * many for a line with colours, and 4 KiB for each rank.
 * Returns: see the functions. */
#pragma once

#include "model/opstep.h"
#include "sources/input.h"
#include "sources/log/logtext.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTS_OPLINE_MAX = 1 << 20, /* bytes of a line that are read; the rest is skipped */
    TTS_OPLOG_RANKS = 256,    /* ranks that are kept apart */
    TTS_OPRANK_MAX = 64,      /* size of the name of a rank, with its terminator */
};

enum tts_oprecord_kind {
    TTS_OPRECORD_OP,     /* an operation begins; sets text, is_cut */
    TTS_OPRECORD_BLOCK,  /* the memory before an operation; text is its type; sets state */
    TTS_OPRECORD_SUBMIT, /* the memory before or after a program; sets state, is_after */
    TTS_OPRECORD_PROGRAM_BEGIN, /* text is the name of the program */
    TTS_OPRECORD_PROGRAM_END,
    TTS_OPRECORD_CACHE_LOOKUP, /* text is the function, hash its hash */
    TTS_OPRECORD_CACHE_HIT,    /* text is the function */
    TTS_OPRECORD_CACHE_MISS,
    TTS_OPRECORD_CACHE_DONE,
    TTS_OPRECORD_RETAINED, /* the deallocation before this line freed nothing */
    TTS_OPRECORD_TRACE_CAPTURE,
    TTS_OPRECORD_TRACE_REPLAY,
    TTS_OPRECORD_TRACE_STALE,
    TTS_OPRECORD_GRID,      /* text is the grid */
    TTS_OPRECORD_MODULE,    /* a dump of a module begins; text is its stage */
    TTS_OPRECORD_ARGUMENTS, /* the arguments of the main function of a dumped module; text is
                               the list between the parentheses */
};

struct tts_oprecord {
    enum tts_oprecord_kind kind;
    uint32_t rank;            /* from 0, in the order in which the ranks appear */
    uint64_t line, last_line; /* the lines of the record */
    struct tts_span text, hash;
    struct tts_opstate state;
    bool is_after;
    bool is_cut; /* the line is longer than TTS_OPLINE_MAX */
};

struct tts_oplog; /* opaque; heap */

/* Opens the log of `in` from its current position. TTS_E_NOMEM: err names the path. */
TTS_NODISCARD enum tts_status tts_oplog_open(struct tts_input *in,
                                             const struct tts_alloc *alloc,
                                             struct tts_oplog **out, struct tts_error *err);
void tts_oplog_close(struct tts_oplog *log); /* NULL is allowed */

/* Reads the next record. Returns TTS_E_NOT_FOUND at the end of the text; TTS_E_IO, or
 * TTS_E_SYNTAX for damaged compressed bytes, if the rest cannot be read: err then has the line
 * and the offset. All records before the damage are good. TTS_E_NOMEM: no memory for a new
 * rank. */
TTS_NODISCARD enum tts_status tts_oplog_next(struct tts_oplog *log, struct tts_oprecord *out,
                                             struct tts_error *err);
/* Facts about the text so far. They are final after TTS_E_NOT_FOUND. */
struct tts_oplog_facts {
    struct tts_logtext_facts text;
    uint32_t ranks;
    uint64_t cut_lines;   /* operations whose line is too long */
    uint64_t part_blocks; /* blocks that lack a pool */
    uint64_t bad_views;   /* lines of a block whose numbers cannot be read */
    uint64_t left_out;    /* records of ranks beyond TTS_OPLOG_RANKS */
};
struct tts_oplog_facts tts_oplog_facts(const struct tts_oplog *log);
/* Returns the name of a rank; "" if the log has no ranks. Valid until tts_oplog_close(). */
const char *tts_oplog_rank_name(const struct tts_oplog *log, uint32_t rank);

/* Like the functions of logtext.h. */
void tts_oplog_on_read(struct tts_oplog *log,
                       void (*tap)(void *ctx, const struct tts_logpiece *piece), void *ctx);
void tts_oplog_on_tick(struct tts_oplog *log, void (*tick)(void *ctx, uint64_t taken),
                       void *ctx);

/* Returns whether a text has a line of a memory block, which only a runtime log has. `head`
 * is the beginning of the text. */
bool tts_oplog_is_head(struct tts_span head);
