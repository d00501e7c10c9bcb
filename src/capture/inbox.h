/* inbox.h: events that were posted while another thread was folding, in one order.
 * Any thread may put; one thread at a time takes. A put never waits or allocates, and copies
 * everything that the event points to. The inbox holds at most TTS_INBOX_EVENTS events. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/capture.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A waiting event with copies of everything it points to. */
struct tts_letter {
    struct tts_event event;
    uint64_t op_hash;
    uint32_t thread; /* OP_*: number of the thread that put it; otherwise 0 */
    union {
        struct tts_core_range ranges[TTS_RANGES_MAX];
        char name[TTS_OP_NAME_MAX];
        struct tts_failure failure;
    } held;
};

/* Place p uses letter p % N. The letter is free for a put if turns[p % N] == p, and ready for a
 * take if turns[p % N] == p + 1. After the take it is free for place p + N. */
struct tts_inbox {
    struct tts_letter *letters; /* not touched before their first use */
    _Atomic uint64_t *turns;
    uint64_t head; /* owned by the thread that takes */
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
/* Returns whether the letter of a place has been dropped. */
bool tts_inbox_is_taken(const struct tts_inbox *inbox, uint64_t place);
/* Return whether the letter of a place, or the last letter, is in the inbox: written and not
 * dropped. Any thread; the answer may be outdated at once. */
bool tts_inbox_has(const struct tts_inbox *inbox, uint64_t place);
bool tts_inbox_has_letters(const struct tts_inbox *inbox);

/* Returns the first letter, or NULL if there is none or it is still being written. The letter
 * is borrowed until tts_inbox_drop(), which drops the letter that tts_inbox_first() returned.
 * Only for the thread that takes. */
const struct tts_letter *tts_inbox_first(const struct tts_inbox *inbox);
void tts_inbox_drop(struct tts_inbox *inbox);

/* Returns whether every letter that was put before, in the order of the program, has been
 * taken. Only for the thread that takes. */
static inline bool tts_inbox_is_empty(const struct tts_inbox *inbox)
{
    return inbox->head == atomic_load_explicit(&inbox->tail, memory_order_relaxed);
}
