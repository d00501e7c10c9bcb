/* failure.h: a request that the device refused, with the details that the runtime reports. A
 * plain value.
 *
 * Threads: any thread may call any function here at any time, also in the child of a fork.
 * Signals: not in a signal handler, because error texts are written with snprintf().
 * Cost: constant time. Nothing here allocates.
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
    TTS_FAILURE_SPACE,       /* no free block is large enough */
    TTS_FAILURE_DEPENDENCY,  /* no free block that other allocators leave is large enough */
    TTS_FAILURE_BELOW_LIMIT, /* the chosen block lies below the address limit */
    TTS_FAILURE_CB_BEYOND,   /* circular buffers grow past the end of L1 */
    TTS_FAILURE_CB_CLASH,    /* circular buffers grow into L1 buffers */
    TTS_FAILURE_TRACE,       /* the trace region is too small */
    /* A trace in DRAM lies below memory used in a trace capture. */
    TTS_FAILURE_TRACE_OVERLAP,
};

/* The details of a refusal. Fields that do not belong to the kind are 0. */
struct tts_failure {
    enum tts_failure_kind kind;
    enum tts_pool pool;
    /* For SPACE and DEPENDENCY. requested_bytes is the size of the whole buffer; the other
     * sizes are sizes of one bank. */
    uint64_t requested_bytes, need_bytes, block_bytes;
    uint32_t banks;
    uint64_t bank_bytes, taken_bytes, free_bytes, largest_free_bytes;
    /* For BELOW_LIMIT. */
    uint64_t address, limit;
    /* For CB_BEYOND and CB_CLASH: addresses in L1. */
    uint64_t program_id, region_end, l1_bytes, l1_address;
    struct tts_core_range range;
    /* For TRACE, together with requested_bytes. */
    uint64_t mesh_id, trace_bytes;
    /* For TRACE_OVERLAP. `address` is the address that the trace would get. `limit` is the
     * highest address that was in use during the captures of other live traces. taken_end and
     * given_end are the highest ends of the DRAM that was allocated and freed during the
     * capture of this trace. */
    uint64_t taken_end, given_end;
};

/* Returns the constant name of a kind: "none", "space", "dependency", "below_limit",
 * "beyond_l1", "clash", "trace_region" or "trace_overlap". Returns "other" if there is no such
 * kind. */
TTS_API const char *tts_failure_kind_name(enum tts_failure_kind kind);

enum { TTS_FAILURE_TEXT_MAX = 320 };

/* Writes the message of the current runtime, word for word. If `banks` of a SPACE failure is 0,
 * the details are unknown, and the message leaves them out. Returns `out`. */
TTS_API const char *tts_failure_text(const struct tts_failure *failure,
                                     char out[TTS_FAILURE_TEXT_MAX]);

/* Returns how many more bytes the request needed: in the largest free block of every bank,
 * below the L1 buffer or the end of L1, in the trace region, or above the limit. Returns 0 if
 * the number is unknown. */
TTS_API uint64_t tts_failure_deficit(const struct tts_failure *failure);
/* Returns whether tts_failure_deficit() is known. It is unknown for DEPENDENCY, because the
 * free bytes of one allocator say nothing about the blocks of the others, and if the numbers of
 * the failure contradict each other: then nothing seems to be missing. */
TTS_API bool tts_failure_deficit_is_known(const struct tts_failure *failure);
