/* corepeak.h: the highest use of a core of one device during one phase (the peak), and the
 * parts (cores.h) that were on the core at that moment.
 *
 * No part is copied when a peak is reached. The parts of the peak are the parts that came at or
 * before the peak and have not left before it. When a part of the peak leaves the core, it is
 * kept here if it is among the largest. The caller owns the memory. One thread at a time. */
#pragma once

#include "model/cores.h"
#include "ttscope/event.h"
#include "ttscope/usage.h"

#include <stdint.h>

/* A kept part. Like struct tts_core_part, but the operation is an index of opnames.h. */
struct tts_held_part {
    uint64_t bytes, seq, id;
    uint32_t op;
    uint8_t kind; /* enum tts_event_kind */
    uint8_t pool; /* enum tts_pool */
};

static inline struct tts_held_part tts_program_part_of(const struct tts_program_part *part)
{
    return (struct tts_held_part){
        part->bytes, part->seq, 0, part->op, (uint8_t)(TTS_EVENT_CB + (int)part->kind),
        TTS_POOL_L1};
}

/* All zeros and a `part` of the caller is a valid peak. */
struct tts_corepeak {
    struct tts_core_sum sum; /* use at the peak; `bytes` is 0 if nothing was on any core */
    uint64_t seq;
    uint32_t op;
    uint32_t count; /* number of kept parts */
    /* Heap of at most TTS_CORE_PARTS_MAX parts, the smallest part first. */
    struct tts_held_part *part;
};

/* tts_corepeak_start() makes the current use the peak, at event `seq` and outside any
 * operation. tts_corepeak_raise() does the same for a higher use, during operation `op`. */
void tts_corepeak_start(struct tts_corepeak *peak, const struct tts_cores *cores, uint64_t seq);

void tts_corepeak_raise(struct tts_corepeak *peak, const struct tts_cores *cores, uint64_t seq,
                        uint32_t op);
/* Raises the peak if the current use is higher. Call after each change that adds to a core. */
static inline void tts_corepeak_note(struct tts_corepeak *peak, const struct tts_cores *cores,
                                     uint64_t seq, uint32_t op)
{
    if (tts_cores_bytes(cores) > peak->sum.bytes)
        tts_corepeak_raise(peak, cores, seq, op);
}

/* Returns whether a part that came with event `seq` was on the core at the peak. The part must
 * still be on the core of the peak, or be leaving it. */
static inline bool tts_corepeak_had(const struct tts_corepeak *peak, uint64_t seq)
{
    return seq <= peak->seq && peak->sum.bytes > 0;
}

/* Keeps a part of the peak if the part is among the largest. Call when the part leaves the
 * core, and at the end for each part that is still on the core. */
void tts_corepeak_keep(struct tts_corepeak *peak, const struct tts_held_part *part);

/* Sorts the kept parts: the largest first, then the oldest. After this call no part can be
 * added. */
void tts_corepeak_sort(struct tts_corepeak *peak);

/* Copies a peak with its kept parts. */
void tts_corepeak_copy(struct tts_corepeak *to, const struct tts_corepeak *from);
