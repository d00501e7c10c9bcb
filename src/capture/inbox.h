/* inbox.h: a queue of events that threads posted while another thread was folding. Any thread
 * may put an event into the inbox. One thread at a time takes events, in the order in which
 * they were put. A put never waits or allocates, and copies everything that the event points
 * to. The inbox holds at most TTS_INBOX_EVENTS events. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/capture.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* An event in the inbox, with copies of everything that the event points to. */
struct tts_letter {
    struct tts_event event;
    uint64_t op_hash;
    /* Number of the thread that put an event of an operation; 0 for other events. */
    uint32_t thread;
    union {
        struct tts_core_range ranges[TTS_RANGES_MAX];
        char name[TTS_OP_NAME_MAX];
        struct tts_failure failure;
    } held;
};

/* Places are numbered from 0, and N is TTS_INBOX_EVENTS. Place p uses letter p % N. The letter
 * is free for a put if turns[p % N] == p, and ready to be taken if turns[p % N] == p + 1. After
 * it is taken, it is free for place p + N. */
struct tts_inbox {
    struct tts_letter *letters; /* not initialized: unused letters take no memory */
    _Atomic uint64_t *turns;
    uint64_t head; /* next place to take; owned by the thread that takes */
    char apart[64];
    _Atomic uint64_t tail;
};

TTS_NODISCARD enum tts_status tts_inbox_init(struct tts_inbox *inbox,
                                             const struct tts_alloc *alloc);
void tts_inbox_release(struct tts_inbox *inbox, const struct tts_alloc *alloc);

/* Puts an event and writes its place to *place. Returns false if the inbox is full. The event
 * must pass tts_event_check(). */
bool tts_inbox_put(struct tts_inbox *inbox, const struct tts_event *event, uint64_t op_hash,
                   uint64_t *place);
/* Returns whether the letter of a place has been taken and dropped. */
bool tts_inbox_is_taken(const struct tts_inbox *inbox, uint64_t place);
/* tts_inbox_has() returns whether the letter of a place is in the inbox: it is written and not
 * dropped yet. tts_inbox_has_letters() returns the same for the last letter. Any thread may
 * call both; the answer may be outdated at once. */
bool tts_inbox_has(const struct tts_inbox *inbox, uint64_t place);
bool tts_inbox_has_letters(const struct tts_inbox *inbox);

/* tts_inbox_first() returns the first letter, or NULL if there is none or if it is still being
 * written. tts_inbox_drop() removes this letter, which is valid until then. Only for the thread
 * that takes. */
const struct tts_letter *tts_inbox_first(const struct tts_inbox *inbox);
void tts_inbox_drop(struct tts_inbox *inbox);

/* Removes the first letter, although it is still being written. Only in the child of a fork,
 * where no thread goes on to write it. */
void tts_inbox_skip(struct tts_inbox *inbox);

/* Returns whether every letter that was put before this call has been taken. Only for the
 * thread that takes. */
static inline bool tts_inbox_is_empty(const struct tts_inbox *inbox)
{
    return inbox->head == atomic_load_explicit(&inbox->tail, memory_order_relaxed);
}
