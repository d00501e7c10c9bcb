/* failure.h: a request that the device refused, with all that the runtime would say about it.
 * A plain value.
 *
 * Threads: any thread may call any function here at any time, also in the child of a fork.
 * Signals: not in a signal handler, because error texts are written with snprintf().
 *
 * Example:
 *     struct tts_failure failure = {.kind = TTS_FAILURE_SPACE, .pool = TTS_POOL_DRAM};
 *     char text[TTS_FAILURE_TEXT_MAX];
 *     failure.requested_bytes = 98304;
 *     failure.need_bytes = failure.block_bytes = 8192;
 *     failure.banks = 12;
 *     failure.bank_bytes = 65536;
 *     failure.taken_bytes = 61440;
 *     failure.free_bytes = failure.largest_free_bytes = 4096;
 *     printf("%s\nmissing: %llu bytes of each bank\n", tts_failure_text(&failure, text),
 *            (unsigned long long)tts_failure_deficit(&failure)); */
#pragma once

#include "ttscope/buffer.h"
#include "ttscope/chip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_failure_kind {
    TTS_FAILURE_NONE,
    TTS_FAILURE_SPACE,         /* no free block is large enough */
    TTS_FAILURE_DEPENDENCY,    /* none is, after what other allocators hold */
    TTS_FAILURE_BELOW_LIMIT,   /* the block lies below the address limit */
    TTS_FAILURE_CB_BEYOND,     /* circular buffers grow past the end of L1 */
    TTS_FAILURE_CB_CLASH,      /* circular buffers grow into L1 buffers */
    TTS_FAILURE_TRACE,         /* the trace region is too small */
    TTS_FAILURE_TRACE_OVERLAP, /* a trace in DRAM, below what was in use during a capture */
};

/* Fields that the kind does not name are 0. */
struct tts_failure {
    enum tts_failure_kind kind;
    enum tts_pool pool;
    /* SPACE, DEPENDENCY: sizes are per bank, except what was requested. */
    uint64_t requested_bytes, need_bytes, block_bytes;
    uint32_t banks;
    uint64_t bank_bytes, taken_bytes, free_bytes, largest_free_bytes;
    /* BELOW_LIMIT */
    uint64_t address, limit;
    /* CB_BEYOND, CB_CLASH: addresses in L1. */
    uint64_t program_id, region_end, l1_bytes, l1_address;
    struct tts_core_range range;
    /* TRACE: requested_bytes, and: */
    uint64_t mesh_id, trace_bytes;
    /* TRACE_OVERLAP: address, limit (the highest mark of a live trace), and those of its own:
     */
    uint64_t taken_end, given_end;
};

/* "none", "space", "dependency", "below_limit", "beyond_l1", "clash", "trace_region",
 * "trace_overlap"; "other" for no such kind. */
TTS_API const char *tts_failure_kind_name(enum tts_failure_kind kind);

enum { TTS_FAILURE_TEXT_MAX = 320 };

/* The sentence of the current runtime, word for word. Returns `out`. */
TTS_API const char *tts_failure_text(const struct tts_failure *failure,
                                     char out[TTS_FAILURE_TEXT_MAX]);

/* How many bytes more would have done: in the largest free block of every bank, below the L1
 * buffer or the end of L1, in the trace region, or above the limit. 0 where that is not known.
 */
TTS_API uint64_t tts_failure_deficit(const struct tts_failure *failure);
/* Not with dependencies: what else is free says nothing about the others' blocks. */
TTS_API bool tts_failure_deficit_is_known(const struct tts_failure *failure);
