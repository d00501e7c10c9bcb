/* figures.h: the running figures of one phase, of one device or of all.
 * Sums are kept modulo 2^64: what is freed again leaves no trace, however large. */
#pragma once

#include "model/cores.h"
#include "ttscope/chip.h"

#include <stdint.h>

/* Since the phase began. */
struct tts_pool_run {
    uint64_t allocated_bytes, freed_bytes;
    int64_t peak_bytes;
    uint64_t allocations, frees;
};

/* L1 as it is printed has no run of its own: its buffers are those of the pool. */
struct tts_run {
    struct tts_pool_run pools[TTS_POOLS];
    uint64_t program_bytes[TTS_PROGRAM_KINDS]; /* of the program under way, of this phase */
    int64_t program_peak_bytes[TTS_PROGRAM_KINDS];
    int64_t total_peak_bytes;
    uint64_t programs, traces, traced_bytes;
};

/* Over all phases that ended. */
struct tts_pool_total {
    int64_t peak_bytes;
    uint64_t current_bytes; /* signed, modulo 2^64 */
};

static inline int64_t tts_pool_run_change(const struct tts_pool_run *run)
{
    return (int64_t)(run->allocated_bytes - run->freed_bytes);
}

static inline void tts_pool_run_alloc(struct tts_pool_run *run, uint64_t bytes)
{
    run->allocated_bytes += bytes;
    run->allocations++;
    int64_t change = tts_pool_run_change(run);
    if (change > run->peak_bytes)
        run->peak_bytes = change;
}

static inline void tts_pool_run_free(struct tts_pool_run *run, uint64_t bytes)
{
    run->freed_bytes += bytes;
    run->frees++;
}

/* To be called after what adds to L1. */
static inline void tts_run_note_total(struct tts_run *run)
{
    uint64_t total = run->pools[TTS_POOL_L1].allocated_bytes;
    total -= run->pools[TTS_POOL_L1].freed_bytes;
    for (int kind = 0; kind < TTS_PROGRAM_KINDS; kind++)
        total += run->program_bytes[kind];
    if ((int64_t)total > run->total_peak_bytes)
        run->total_peak_bytes = (int64_t)total;
}

static inline void tts_run_add_program(struct tts_run *run, enum tts_core_kind kind,
                                       uint64_t bytes)
{
    run->program_bytes[kind] += bytes;
    int64_t now = (int64_t)run->program_bytes[kind];
    if (now > run->program_peak_bytes[kind])
        run->program_peak_bytes[kind] = now;
    tts_run_note_total(run);
}

/* Of the program before, what this phase counted is gone. */
static inline void tts_run_begin_program(struct tts_run *run)
{
    for (int kind = 0; kind < TTS_PROGRAM_KINDS; kind++)
        run->program_bytes[kind] = 0;
    run->programs++;
}
