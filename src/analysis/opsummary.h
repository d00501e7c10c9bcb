/* opsummary.h: the memory of one rank in a runtime log: first, last and highest use of each
 * pool, the operations that add most, kinds of operations, and programs.
 *
 * Ownership: the caller owns the struct. Pointers in it are valid until
 * tts_opsummary_release().
 * Threads: one thread at a time.
 * Cost: an operation takes a few comparisons. Memory grows with the number of different kinds
 * and programs, up to the limits below.
 * Returns: TTS_OK, or TTS_E_NOMEM if the host has too little memory. */
#pragma once

#include "base/hashtable.h"
#include "model/opstep.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

enum {
    TTS_OPSUMMARY_KINDS = 1024,    /* kinds of operations that are counted apart */
    TTS_OPSUMMARY_PROGRAMS = 4096, /* programs and functions that are counted apart */
    TTS_OPSUMMARY_TOP = 100,       /* operations in a list */
};

/* A place in the log. */
struct tts_opplace_in_log {
    uint64_t index; /* number of the operation in its rank, from 0 */
    bool block_known;
    uint64_t block, line; /* number of the block in its rank, from 0; its line, or that of the
                             operation */
    char op[TTS_OPNAME_MAX]; /* "ttnn.add", or "EltwiseBinaryOp" if the log has no text */
    char loc[TTS_OPLOC_MAX];
    bool is_submit, is_after; /* not before an operation, but before or after a program */
};

struct tts_opuse {
    uint64_t bytes; /* in each bank */
    struct tts_opplace_in_log place;
};

/* What one operation added, or what came without an operation. */
struct tts_opadd {
    bool is_upload;      /* inputs that were uploaded after the operation */
    bool may_be_upload;  /* the log does not tell whether inputs came with it */
    uint64_t bytes;      /* in each bank */
    uint64_t rank_order; /* private */
    struct tts_opplace_in_log place;
    char function[TTS_OPNAME_MAX];
};

struct tts_oppoolsum {
    bool is_known;                  /* a block states the pool, or a tensor is in it */
    uint64_t banks, capacity_bytes; /* capacity of each bank; 0: unknown */
    struct tts_opuse first, last, peak;
    uint64_t peak_free_bytes, peak_largest_bytes; /* at the peak; only if blocks are there */
    struct tts_opuse least_largest;               /* the smallest largest free block */
    bool has_views;                               /* blocks state the pool */
    struct tts_opadd top[TTS_OPSUMMARY_TOP];
    size_t top_count;
    uint64_t upload_bytes, unnamed_bytes;
    struct tts_opfinal final; /* valid after tts_opsummary_finish() */
};

struct tts_opkind {
    char name[TTS_OPNAME_MAX];
    uint64_t count;
};

struct tts_opprogram {
    char name[TTS_OPNAME_MAX];
    bool is_function; /* a const-eval function */
    uint64_t runs, ops, first_index, last_index;
};

struct tts_opnames {
    struct tts_hashtable table;
    size_t count, capacity;
};

struct tts_opsummary {
    const struct tts_alloc *alloc;
    size_t top; /* operations to list for each pool, at most TTS_OPSUMMARY_TOP */
    uint64_t ops, deallocations, blocks, submits, const_eval_ops;
    uint64_t op_lines; /* operations with a text */
    bool has_ops, has_blocks;
    bool has_memory; /* a block, or a tensor of known size */
    struct tts_oppoolsum pools[TTS_POOLS];
    struct tts_opkind *kinds;
    struct tts_opnames kind_names;
    uint64_t kinds_left_out;
    struct tts_opprogram *programs;
    struct tts_opnames program_names;
    uint64_t programs_left_out;
    /* private */
    uint32_t last_program;
    bool has_last_program;
    char last_function[TTS_OPNAME_MAX];
};

void tts_opsummary_init(struct tts_opsummary *sum, size_t top, const struct tts_alloc *alloc);
void tts_opsummary_release(struct tts_opsummary *sum); /* a zeroed struct is allowed */

/* Adds a step. The steps of a rank come in their order. */
TTS_NODISCARD enum tts_status tts_opsummary_add(struct tts_opsummary *sum,
                                                const struct tts_opstep *step);
/* The end of the log. */
void tts_opsummary_finish(struct tts_opsummary *sum,
                          const struct tts_opfinal finals[TTS_POOLS]);
