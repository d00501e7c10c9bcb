/* event.h: one thing that happened to the memory of a device.
 * A plain value; what it points to is borrowed for the call that takes it.
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
    TTS_EVENT_PROGRAM, /* the three below, of the device's program before, are gone together */
    TTS_EVENT_CB,
    TTS_EVENT_DFB,
    TTS_EVENT_SCRATCHPAD,
    TTS_EVENT_OP_BEGIN, /* operations nest, for each thread on its own */
    TTS_EVENT_OP_END,
    TTS_EVENT_TRACE_BEGIN,
    TTS_EVENT_TRACE_END,
    TTS_EVENT_FAILURE, /* a request was refused; nothing was taken */
};
enum { TTS_EVENT_KINDS = TTS_EVENT_FAILURE + 1 };

/* Fields that the kind does not name are not read. All sizes are of one chip. */
struct tts_event {
    enum tts_event_kind kind;
    uint32_t device;    /* all but OP_*; any number */
    enum tts_pool pool; /* ALLOC, FREE */
    bool borrowed;      /* CB, DFB: lies on a buffer (global, a view) and takes nothing */
    uint64_t id;        /* ALLOC, FREE: names the buffer on its device while it lives */
    uint64_t
        size_bytes; /* ALLOC: as asked for, 0 is passed over, at most 2^52; CB, DFB, SCRATCHPAD:
                     * on each of its cores. FREE: of a buffer that was allocated unseen; 0: it
                     * is not known. What was seen is freed as it was allocated. */
    /* ALLOC, FREE in L1 and L1_SMALL: what its fullest bank holds, pages aligned; and what
     * every bank gives up, 0: the same. Elsewhere they may be 0. */
    uint64_t bytes_per_bank, block_bytes;
    /* CB, DFB, SCRATCHPAD: its cores, 1 .. TTS_RANGES_MAX ranges that do not overlap. ALLOC in
     * L1: none, for a buffer in lockstep, which takes its block of every core; or the cores
     * that alone have a block of it. */
    const struct tts_core_range *ranges;
    size_t range_count;
    const char *name; /* OP_BEGIN: its last TTS_OP_NAME_MAX bytes are kept. Longer names that
                       * differ only before these are one operation */
    size_t name_len;
    const struct tts_failure *failure; /* FAILURE: its circumstances */
    /* ALLOC: where it lies in every bank and how it was asked for. No figure depends on these;
     * a recording keeps them, so that it can be run on another device. */
    bool has_address;
    uint64_t address;
    uint64_t page_bytes; /* 0: how it was asked for is not known */
    uint32_t cores;      /* that have a shard of it; 0: interleaved. With page_bytes only */
    enum tts_placement placement; /* DEFAULT, UP or DOWN. With page_bytes only */
    uint64_t reserved[2];         /* 0, for later versions */
};

/* One with all else 0. */
static inline struct tts_event tts_event_of(enum tts_event_kind kind, uint32_t device)
{
    struct tts_event event;
    __builtin_memset(&event, 0, sizeof event);
    event.kind = kind;
    event.device = device;
    return event;
}

enum { TTS_OP_NAME_MAX = 63 };

/* "alloc", "free", "program", "cb", "dfb", "scratchpad", ...; "unknown" for no such kind. */
TTS_API const char *tts_event_kind_name(enum tts_event_kind kind);
