/* corepeak.h: the most that a core of one device had during one phase, and what was there.
 *
 * Nothing is copied when a peak is reached. What was there then is what came no later than it
 * and is there still, or went away since: of the latter the largest are kept. Caller's memory;
 * one thread at a time. */
#pragma once

#include "model/cores.h"
#include "ttscope/event.h"
#include "ttscope/usage.h"

#include <stdint.h>

/* As struct tts_core_part, with the operation as opnames.h counts it. */
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

struct tts_corepeak {
    struct tts_core_sum sum; /* of its core; bytes 0: nothing was on any */
    uint64_t seq;
    uint32_t op;
    uint32_t count;             /* of the kept */
    struct tts_held_part *part; /* [TTS_CORE_PARTS_MAX], a heap: the least of them first */
};

void tts_corepeak_init(struct tts_corepeak *peak, struct tts_held_part *part);

/* What is there now is the peak, from the event `seq` on, in no operation. */
void tts_corepeak_start(struct tts_corepeak *peak, const struct tts_cores *cores, uint64_t seq);

void tts_corepeak_raise(struct tts_corepeak *peak, const struct tts_cores *cores, uint64_t seq,
                        uint32_t op);
/* To be called after every change that adds to a core. */
static inline void tts_corepeak_note(struct tts_corepeak *peak, const struct tts_cores *cores,
                                     uint64_t seq, uint32_t op)
{
    if (tts_cores_bytes(cores) > peak->sum.bytes)
        tts_corepeak_raise(peak, cores, seq, op);
}

/* Was something that came with event `seq` there at the peak, if it is on the peak's core and
 * has not been kept? */
static inline bool tts_corepeak_had(const struct tts_corepeak *peak, uint64_t seq)
{
    return seq <= peak->seq && peak->sum.bytes > 0;
}

/* Keeps what was there, if it is among the largest: to be called when it goes away, and for all
 * that is there still at the end. */
void tts_corepeak_keep(struct tts_corepeak *peak, const struct tts_held_part *part);

/* The kept, the largest first and then the oldest. It is over with the peak then. */
void tts_corepeak_sort(struct tts_corepeak *peak);

/* The same peak with the same parts kept, elsewhere. */
void tts_corepeak_copy(struct tts_corepeak *to, const struct tts_corepeak *from);
