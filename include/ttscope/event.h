/* event.h: one change to the memory of a device.
 * An event is a plain value. Its pointers are borrowed for the call that takes the event.
 *
 * Threads: any thread may call any function here at any time, also in a signal handler and in
 * the child of a fork.
 *
 * Example:
 *     struct tts_tracker *tracker = tts_tracker_process();
 *     struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, 0);
 *     struct tts_error err;
 *     event.pool = TTS_POOL_DRAM;
 *     event.id = 1;
 *     event.size_bytes = 8192;
 *     event.has_address = true;
 *     event.address = 1024;
 *     if (tts_tracker_post(tracker, &event, &err) != TTS_OK)
 *         fprintf(stderr, "%s refused: %s\n", tts_event_kind_name(event.kind), err.text); */
#pragma once

#include "ttscope/buffer.h"
#include "ttscope/chip.h"
#include "ttscope/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_event_kind {
    TTS_EVENT_ALLOC,
    TTS_EVENT_FREE,
    TTS_EVENT_PROGRAM, /* ends all CBs, DFBs and scratchpads of the device's last program */
    TTS_EVENT_CB,
    TTS_EVENT_DFB,
    TTS_EVENT_SCRATCHPAD,
    TTS_EVENT_OP_BEGIN, /* an operation begins; operations nest, and each thread has its own */
    TTS_EVENT_OP_END,
    TTS_EVENT_TRACE_BEGIN,
    TTS_EVENT_TRACE_END,
    TTS_EVENT_FAILURE, /* a request failed; nothing was allocated */
};
enum { TTS_EVENT_KINDS = TTS_EVENT_FAILURE + 1 };

/* The comment of a field begins with the kinds that use the field. Other kinds ignore it. All
 * sizes are sizes on one chip. */
struct tts_event {
    enum tts_event_kind kind;
    uint32_t device;    /* all kinds except OP_BEGIN and OP_END; any number */
    enum tts_pool pool; /* used by ALLOC and FREE */
    /* CB, DFB: the circular or dataflow buffer lies in the memory of an L1 buffer and takes no
     * memory of its own (in the runtime: globally_allocated, or borrows_memory). */
    bool borrowed;
    uint64_t id; /* ALLOC, FREE: unique among the live buffers of the device */
    /* ALLOC: requested size, at most 2^52; a size of 0 is ignored. CB, DFB, SCRATCHPAD: size on
     * each core. FREE: size of the buffer, 0 if unknown; used only if the tracker did not see
     * the allocation. */
    uint64_t size_bytes;
    /* ALLOC, FREE in L1 and L1_SMALL; may be 0 in other pools. bytes_per_bank is the number of
     * bytes in the fullest bank, with aligned pages. block_bytes is the number of bytes that
     * the buffer takes in every bank; 0 means bytes_per_bank. */
    uint64_t bytes_per_bank, block_bytes;
    /* CB, DFB, SCRATCHPAD: the cores, as 1 .. TTS_RANGES_MAX ranges that do not overlap. ALLOC
     * in L1: no ranges if the buffer takes its block on every core (lockstep), otherwise the
     * only cores that have a block. */
    const struct tts_core_range *ranges;
    size_t range_count;
    /* OP_BEGIN: the last TTS_OP_NAME_MAX bytes are kept. Names that are equal in these bytes
     * are one operation. */
    const char *name;
    size_t name_len;
    const struct tts_failure *failure; /* FAILURE: the details */
    /* ALLOC: the address in every bank, and the request. No figure depends on these fields. A
     * recording keeps them, so that it can be replayed on another device.
     * CB, DFB that are borrowed: the address tells in which buffer they lie, so that this
     * buffer is not named as one that could move to DRAM. */
    bool has_address;
    uint64_t address;
    uint64_t page_bytes; /* 0 if the request is unknown */
    /* Number of cores with a shard, 0 if interleaved; used only if page_bytes is set. */
    uint32_t cores;
    enum tts_placement placement; /* DEFAULT, UP or DOWN; used only if page_bytes is set */
    uint64_t reserved[2];         /* 0, for later versions */
};

/* Returns an event of this kind and device. All other fields are 0. */
static inline struct tts_event tts_event_of(enum tts_event_kind kind, uint32_t device)
{
    struct tts_event event;
    __builtin_memset(&event, 0, sizeof event);
    event.kind = kind;
    event.device = device;
    return event;
}

enum { TTS_OP_NAME_MAX = 63 };

/* Returns the constant name of a kind: "alloc", "free", "program", "cb", "dfb", "scratchpad",
 * ... Returns "unknown" if there is no such kind. */
TTS_API const char *tts_event_kind_name(enum tts_event_kind kind);
