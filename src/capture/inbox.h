/* inbox.h: events that came while another thread was folding, in one order.
 * Any thread puts; one at a time takes. A put neither waits nor allocates; what is pointed to
 * is copied. Bounded: TTS_INBOX_EVENTS. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/capture.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* An event that waits, and what it points to. */
struct tts_letter {
    struct tts_event event;
    uint64_t op_hash;
    uint32_t thread; /* OP_*: of who put it; others: 0 */
    union {
        struct tts_core_range ranges[TTS_RANGES_MAX];
        char name[TTS_OP_NAME_MAX];
        struct tts_failure failure;
    } held;
};

/* A letter of place p is free for a put when turns[p % N] == p, and there for a take when it is
 * p + 1; taken, it waits for place p + N. */
struct tts_inbox {
    struct tts_letter *letters; /* not touched before they are used */
    _Atomic uint64_t *turns;
    uint64_t head; /* of the one that takes */
    char apart[64];
    _Atomic uint64_t tail;
};

TTS_NODISCARD enum tts_status tts_inbox_init(struct tts_inbox *inbox,
                                             const struct tts_alloc *alloc);
void tts_inbox_release(struct tts_inbox *inbox, const struct tts_alloc *alloc);

/* False: it is full. The event is one that tts_event_check() passes. */
bool tts_inbox_put(struct tts_inbox *inbox, const struct tts_event *event, uint64_t op_hash,
                   uint64_t *place);
/* Whether a letter that was put there has been dropped. */
bool tts_inbox_is_taken(const struct tts_inbox *inbox, uint64_t place);
/* Whether the letter of a place, or the last one, lies there, written and not dropped. For any
 * thread: it may be otherwise at once. */
bool tts_inbox_has(const struct tts_inbox *inbox, uint64_t place);
bool tts_inbox_has_letters(const struct tts_inbox *inbox);

/* For the one that takes. NULL: there is none, or the first is still being written. Borrowed
 * until drop, which is for the letter that first gave. */
const struct tts_letter *tts_inbox_first(const struct tts_inbox *inbox);
void tts_inbox_drop(struct tts_inbox *inbox);

/* For the one that takes: everything put before, in the program's order, has been taken. */
static inline bool tts_inbox_is_empty(const struct tts_inbox *inbox)
{
    return inbox->head == atomic_load_explicit(&inbox->tail, memory_order_relaxed);
}
