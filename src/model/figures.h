/* figures.h: the figures of one phase while it runs, for one device or for all devices (a
 * tally). Sums are computed modulo 2^64: if a sum overflows, later frees make it correct
 * again. */
#pragma once

#include "model/cores.h"
#include "model/ledger.h"
#include "ttscope/chip.h"

#include <stdbool.h>
#include <stdint.h>

/* The figures of one pool since the phase began. Exception: the peak of the first pool of a
 * pair (see below) covers only the time since the last event of the second pool. */
struct tts_pool_tally {
    uint64_t allocated_bytes, freed_bytes;
    int64_t peak_bytes;
    uint64_t allocations, frees;
};

/* Two pools that the summary counts as one. Events of the second pool are rare, and only these
 * events update the peak of the sum. Between two of them the second pool does not change, so
 * the peak of the sum is the peak of the first pool plus the bytes of the second pool. */
enum tts_pool_pair { TTS_PAIR_DRAM, TTS_PAIR_L1, TTS_PAIRS };
struct tts_pair_tally {
    int64_t peak_bytes; /* peak of the sum, up to the last event of the second pool */
    /* Peak of the first pool alone, up to the last event of the second pool. */
    int64_t first_peak_bytes;
};

struct tts_tally {
    struct tts_pool_tally pools[TTS_POOLS];
    struct tts_pair_tally pairs[TTS_PAIRS];
    /* Bytes of the parts of the current program that came in this phase. */
    uint64_t program_bytes[TTS_PROGRAM_KINDS];
    int64_t program_peak_bytes[TTS_PROGRAM_KINDS];
    /* Change of L1, L1_SMALL and the program together, since the phase began: signed, modulo
     * 2^64. */
    uint64_t core_bytes;
    int64_t total_peak_bytes; /* peak of core_bytes */
    uint64_t programs, traces, traced_bytes;
};

/* Figures over all finished phases. */
struct tts_pool_total {
    int64_t peak_bytes;
    uint64_t current_bytes; /* signed, modulo 2^64 */
};

static inline int64_t tts_pool_tally_change(const struct tts_pool_tally *run)
{
    return (int64_t)(run->allocated_bytes - run->freed_bytes);
}

static inline enum tts_pool tts_pair_first(enum tts_pool_pair pair)
{
    return pair == TTS_PAIR_DRAM ? TTS_POOL_DRAM : TTS_POOL_L1;
}

static inline enum tts_pool tts_pair_second(enum tts_pool_pair pair)
{
    return pair == TTS_PAIR_DRAM ? TTS_POOL_TRACE : TTS_POOL_L1_SMALL;
}

static inline bool tts_pool_is_second(enum tts_pool pool)
{
    return pool == TTS_POOL_TRACE || pool == TTS_POOL_L1_SMALL;
}

/* Returns the peak of the sum of both pools of a pair since the phase began. */
static inline int64_t tts_tally_pair_peak(const struct tts_tally *run, enum tts_pool_pair pair)
{
    const struct tts_pool_tally *first = &run->pools[tts_pair_first(pair)];
    int64_t change = tts_pool_tally_change(&run->pools[tts_pair_second(pair)]);
    int64_t reached = (int64_t)((uint64_t)first->peak_bytes + (uint64_t)change);
    int64_t before = run->pairs[pair].peak_bytes;
    return reached > before ? reached : before;
}

/* Returns the peak of a pool since the phase began. */
static inline int64_t tts_tally_peak(const struct tts_tally *run, enum tts_pool pool)
{
    int64_t peak = run->pools[pool].peak_bytes;
    if (tts_pool_is_second(pool))
        return peak;
    const struct tts_pair_tally *pair =
        &run->pairs[pool == TTS_POOL_DRAM ? TTS_PAIR_DRAM : TTS_PAIR_L1];
    return peak > pair->first_peak_bytes ? peak : pair->first_peak_bytes;
}

/* Updates the peaks of a pair. Call before the second pool changes. */
static inline void tts_tally_mark_pair(struct tts_tally *run, enum tts_pool_pair pair)
{
    struct tts_pool_tally *first = &run->pools[tts_pair_first(pair)];
    run->pairs[pair].peak_bytes = tts_tally_pair_peak(run, pair);
    run->pairs[pair].first_peak_bytes = tts_tally_peak(run, tts_pair_first(pair));
    first->peak_bytes = tts_pool_tally_change(first);
}

static inline void tts_pool_tally_alloc(struct tts_pool_tally *run, uint64_t bytes)
{
    run->allocated_bytes += bytes;
    run->allocations++;
    int64_t change = tts_pool_tally_change(run);
    if (change > run->peak_bytes)
        run->peak_bytes = change;
}

static inline void tts_pool_tally_free(struct tts_pool_tally *run, uint64_t bytes)
{
    run->freed_bytes += bytes;
    run->frees++;
}

/* Updates the peak of core_bytes. Call after core_bytes grew. */
static inline void tts_tally_note_total(struct tts_tally *run)
{
    if ((int64_t)run->core_bytes > run->total_peak_bytes)
        run->total_peak_bytes = (int64_t)run->core_bytes;
}

static inline void tts_tally_alloc(struct tts_tally *run, enum tts_pool pool, uint64_t bytes)
{
    if (tts_pool_is_second(pool))
        tts_tally_mark_pair(run, pool == TTS_POOL_TRACE ? TTS_PAIR_DRAM : TTS_PAIR_L1);
    tts_pool_tally_alloc(&run->pools[pool], bytes);
    if (tts_pool_is_l1(pool)) {
        run->core_bytes += bytes;
        tts_tally_note_total(run);
    }
}

static inline void tts_tally_free(struct tts_tally *run, enum tts_pool pool, uint64_t bytes)
{
    if (tts_pool_is_second(pool))
        tts_tally_mark_pair(run, pool == TTS_POOL_TRACE ? TTS_PAIR_DRAM : TTS_PAIR_L1);
    tts_pool_tally_free(&run->pools[pool], bytes);
    if (tts_pool_is_l1(pool))
        run->core_bytes -= bytes;
}

static inline void tts_tally_add_program(struct tts_tally *run, enum tts_core_kind kind,
                                         uint64_t bytes)
{
    run->program_bytes[kind] += bytes;
    int64_t now = (int64_t)run->program_bytes[kind];
    if (now > run->program_peak_bytes[kind])
        run->program_peak_bytes[kind] = now;
    run->core_bytes += bytes;
    tts_tally_note_total(run);
}

/* Starts a new program: subtracts the bytes that this phase counted for the previous
 * program. */
static inline void tts_tally_begin_program(struct tts_tally *run)
{
    for (int kind = 0; kind < TTS_PROGRAM_KINDS; kind++) {
        run->core_bytes -= run->program_bytes[kind];
        run->program_bytes[kind] = 0;
    }
    run->programs++;
}
