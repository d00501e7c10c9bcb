/* usage.h: what a phase of a program did to memory. Plain values, made by a capture
 * (capture.h) and borrowed from it. The relations are in docs/design/phases.md.
 *
 * Threads: any thread may read a phase until the capture is cleared or freed.
 *
 * Example:
 *     static void print_phase(const struct tts_phase *phase) {
 *         const struct tts_pool_usage *dram = &phase->usage.pools[TTS_POOL_DRAM];
 *         printf("%s: DRAM peak %lld bytes\n", phase->name, (long long)dram->peak_bytes);
 *         if (phase->usage.core.known)
 *             printf("fullest core (%d, %d): %llu bytes\n", phase->usage.core.core.x,
 *                    phase->usage.core.core.y, (unsigned long long)phase->usage.core.bytes);
 *     }
 *     int main(void) {
 *         struct tts_phase empty = {.name = "FORWARD_PASS"};
 *         print_phase(&empty);
 *         return 0; } */
#pragma once

#include "ttscope/buffer.h"
#include "ttscope/chip.h"
#include "ttscope/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one pool in one phase. DRAM and TRACE: bytes as asked for, of one chip. L1 and L1_SMALL:
 * bytes of a bank, which is a core. Everything is relative to the start of the phase, except
 * the cumulative figures, which are relative to the first phase of the capture. */
struct tts_pool_usage {
    int64_t peak_bytes; /* the most above the start; 0 at least */
    int64_t allocated_bytes, freed_bytes;
    int64_t cumulative_peak_bytes, cumulative_current_bytes;
    uint64_t allocations, frees;
};

/* What was on a core at its peak. */
struct tts_core_part {
    enum tts_event_kind kind; /* ALLOC, CB, DFB or SCRATCHPAD */
    enum tts_pool pool;       /* ALLOC */
    uint64_t id;              /* ALLOC */
    uint64_t bytes;           /* on this core */
    const char *op;           /* that made it; NULL: outside any */
};

enum { TTS_CORE_PARTS_MAX = 64 };

/* The most bytes that any core had in use at one instant, of all that was seen since the
 * tracker listens: L1 and L1_SMALL buffers (what their banks give up), circular buffers,
 * dataflow buffers and scratchpads. Bytes in use, not the distance between the first and the
 * last. */
struct tts_core_peak {
    bool known;    /* something was on a core during the phase */
    bool at_least; /* what was there is not all known: events were lost, or the like */
    uint32_t device;
    struct tts_core core; /* the first in row-major order among equals */
    uint64_t bytes;
    uint64_t cb_bytes, dfb_bytes, scratchpad_bytes, l1_bytes, l1_small_bytes; /* add up to it */
    uint64_t seq;   /* the event that first reached it, by the tracker's count; the start of
                     * the phase when it was never more than there */
    const char *op; /* under way then; NULL: none */
    const struct tts_core_part *parts; /* the largest first, then the oldest */
    size_t part_count;                 /* at most TTS_CORE_PARTS_MAX */
    uint64_t unlisted, unlisted_bytes; /* parts beyond those */
};

struct tts_usage {
    struct tts_pool_usage pools[TTS_POOLS];
    /* L1 as the summary prints it: of one core, as if every circular buffer were on it. */
    int64_t peak_cb_bytes, peak_dfb_bytes, peak_scratchpad_bytes;
    int64_t
        peak_total_bytes; /* of the three, L1 and L1_SMALL buffers together, at one instant */
    uint64_t programs, ops, traces;
    uint64_t traced_bytes; /* of DRAM and L1 buffers allocated while a trace was captured */
    struct tts_core_peak core;
    /* Two pools together, as the summary prints them: it counts TRACE as DRAM and L1_SMALL as
     * L1. The peak is that of the sum, at one instant. */
    struct tts_pool_usage dram_with_trace, l1_with_small;
};

struct tts_device_usage {
    uint32_t device;
    struct tts_usage usage;
};

/* A finished phase (a segment of the printed summary). */
struct tts_phase {
    const char *name;
    uint64_t events;
    /* All devices: DRAM, TRACE and both together as sums in which a mesh counts once; L1,
     * L1_SMALL, both together and the core peak are those of the device that had the most. */
    struct tts_usage usage;
    const struct tts_device_usage *devices; /* that had an event in the capture, by first one */
    size_t device_count;
};
