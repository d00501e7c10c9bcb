/* usage.h: the memory use of one phase of a program. Plain values. A capture (capture.h) makes
 * and owns them; the caller borrows them until the capture is cleared or freed.
 * docs/design/phases.md explains how the figures relate to each other.
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

/* The use of one pool in one phase. DRAM and TRACE count requested bytes of one chip. L1 and
 * L1_SMALL count bytes of one bank; a bank is a core. Figures are relative to the start of the
 * phase. The cumulative figures are relative to the start of the capture's first phase. */
struct tts_pool_usage {
    int64_t peak_bytes; /* highest use above the start of the phase; at least 0 */
    int64_t allocated_bytes, freed_bytes;
    int64_t cumulative_peak_bytes, cumulative_current_bytes;
    uint64_t allocations, frees;
};

/* One thing that was on a core at the core's peak. */
struct tts_core_part {
    enum tts_event_kind kind; /* ALLOC, CB, DFB or SCRATCHPAD */
    enum tts_pool pool;       /* pool of the buffer, if kind is ALLOC */
    uint64_t id;              /* id of the buffer, if kind is ALLOC */
    uint64_t bytes;           /* bytes of the part on this core */
    const char *op;           /* operation that made the part; NULL if there is none */
};

enum { TTS_CORE_PARTS_MAX = 64 };

/* The most bytes that one core had in use at one instant of the phase. Counts everything seen
 * since the tracker began to listen: L1 and L1_SMALL buffers (their rounded blocks), circular
 * buffers, dataflow buffers and scratchpads. `bytes` is the sum of the bytes in use, not the
 * distance between the lowest and the highest address. */
struct tts_core_peak {
    bool known;    /* something was on a core during the phase */
    bool at_least; /* the true peak may be higher, for example because events were lost */
    uint32_t device;
    struct tts_core core; /* among equal cores, the first in row-major order */
    uint64_t bytes;
    /* The parts of `bytes` by kind. Their sum is `bytes`. */
    uint64_t cb_bytes, dfb_bytes, scratchpad_bytes, l1_bytes, l1_small_bytes;
    /* Number of the event that first reached the peak, in the tracker's order. If the use was
     * never above the use at the start of the phase, this is the last event before the
     * phase. */
    uint64_t seq;
    /* Operation in progress at the peak; NULL if there is none. */
    const char *op;
    /* The largest first; among equal parts, the oldest first. */
    const struct tts_core_part *parts;
    size_t part_count; /* at most TTS_CORE_PARTS_MAX */
    /* Number and bytes of the parts that are not in `parts`. */
    uint64_t unlisted, unlisted_bytes;
};

struct tts_usage {
    struct tts_pool_usage pools[TTS_POOLS];
    /* The L1 of one core, as the summary prints it. The summary assumes that every circular
     * buffer is on that core. */
    int64_t peak_cb_bytes, peak_dfb_bytes, peak_scratchpad_bytes;
    int64_t peak_total_bytes; /* peak of the sum of these three, L1 and L1_SMALL */
    uint64_t programs, ops, traces;
    uint64_t traced_bytes; /* DRAM and L1 buffers allocated during a trace capture */
    struct tts_core_peak core;
    /* Two pools added together. The summary counts TRACE as DRAM and L1_SMALL as L1. The peak
     * is the highest sum of both at one instant, not the sum of two peaks. */
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
    /* The use of all devices. DRAM, TRACE and dram_with_trace are sums over the devices; a mesh
     * counts once. L1, L1_SMALL, l1_with_small and the core peak are the figures of the device
     * that had the most. */
    struct tts_usage usage;
    /* Devices with an event in the capture, ordered by first event. */
    const struct tts_device_usage *devices;
    size_t device_count;
};
