#include "capture/inbox.h"

#include "capture/opstack.h"

#include <assert.h>
#include <string.h>

enum { MASK = TTS_INBOX_EVENTS - 1 };
static_assert((TTS_INBOX_EVENTS & MASK) == 0, "places are found by a mask");

enum tts_status tts_inbox_init(struct tts_inbox *inbox, const struct tts_alloc *alloc)
{
    struct tts_letter *letters = alloc->alloc(alloc->ctx, TTS_INBOX_EVENTS * sizeof letters[0]);
    if (!letters)
        return TTS_E_NOMEM;
    _Atomic uint64_t *turns = alloc->alloc(alloc->ctx, TTS_INBOX_EVENTS * sizeof turns[0]);
    if (!turns) {
        alloc->free(alloc->ctx, letters, TTS_INBOX_EVENTS * sizeof letters[0]);
        return TTS_E_NOMEM;
    }
    for (uint64_t place = 0; place < TTS_INBOX_EVENTS; place++)
        atomic_init(&turns[place], place);
    inbox->letters = letters;
    inbox->turns = turns;
    inbox->head = 0;
    atomic_init(&inbox->tail, 0);
    return TTS_OK;
}

void tts_inbox_release(struct tts_inbox *inbox, const struct tts_alloc *alloc)
{
    alloc->free(alloc->ctx, inbox->letters, TTS_INBOX_EVENTS * sizeof inbox->letters[0]);
    alloc->free(alloc->ctx, (void *)inbox->turns, TTS_INBOX_EVENTS * sizeof inbox->turns[0]);
}

static bool has_cores(enum tts_event_kind kind)
{
    return kind == TTS_EVENT_ALLOC || kind == TTS_EVENT_CB || kind == TTS_EVENT_DFB ||
           kind == TTS_EVENT_SCRATCHPAD;
}

static void write_letter(struct tts_letter *letter, const struct tts_event *event,
                         uint64_t op_hash)
{
    letter->event = *event;
    letter->op_hash = op_hash;
    letter->thread = tts_ops_thread_of(event);
    if (event->kind == TTS_EVENT_OP_BEGIN) {
        size_t len = event->name_len < TTS_OP_NAME_MAX ? event->name_len : TTS_OP_NAME_MAX;
        if (len > 0)
            memcpy(letter->held.name, event->name, len);
        letter->event.name = letter->held.name;
        letter->event.name_len = len;
    } else if (event->kind == TTS_EVENT_FAILURE) {
        letter->held.failure = *event->failure;
        letter->event.failure = &letter->held.failure;
        letter->event.range_count = 0;
    } else {
        /* Copy only ranges that the kind of the event uses: other pointers may have any
         * value. */
        size_t count = has_cores(event->kind) ? event->range_count : 0;
        assert(count <= TTS_RANGES_MAX);
        if (count > 0)
            memcpy(letter->held.ranges, event->ranges, count * sizeof event->ranges[0]);
        letter->event.ranges = letter->held.ranges;
        letter->event.range_count = count;
    }
}

bool tts_inbox_put(struct tts_inbox *inbox, const struct tts_event *event, uint64_t op_hash,
                   uint64_t *out)
{
    uint64_t place = atomic_load_explicit(&inbox->tail, memory_order_relaxed);
    for (;;) {
        /* Pairs with the release in tts_inbox_drop(), after which nobody reads the letter. */
        uint64_t turn = atomic_load_explicit(&inbox->turns[place & MASK], memory_order_acquire);
        if (turn == place) {
            if (atomic_compare_exchange_weak_explicit(&inbox->tail, &place, place + 1,
                                                      memory_order_relaxed,
                                                      memory_order_relaxed))
                break;
        } else if (turn < place) {
            return false;
        } else {
            place = atomic_load_explicit(&inbox->tail, memory_order_relaxed);
        }
    }
    write_letter(&inbox->letters[place & MASK], event, op_hash);
    /* Pairs with the acquire in tts_inbox_first(), so that a letter is complete before it is
     * read. */
    atomic_store_explicit(&inbox->turns[place & MASK], place + 1, memory_order_release);
    *out = place;
    return true;
}

bool tts_inbox_is_taken(const struct tts_inbox *inbox, uint64_t place)
{
    /* Pairs with the release in tts_inbox_drop(), so that the caller sees the effects of the
     * fold. */
    return atomic_load_explicit(&inbox->turns[place & MASK], memory_order_acquire) > place + 1;
}

bool tts_inbox_has(const struct tts_inbox *inbox, uint64_t place)
{
    return atomic_load_explicit(&inbox->turns[place & MASK], memory_order_relaxed) == place + 1;
}

bool tts_inbox_has_letters(const struct tts_inbox *inbox)
{
    return tts_inbox_has(inbox, atomic_load_explicit(&inbox->tail, memory_order_relaxed) - 1);
}

const struct tts_letter *tts_inbox_first(const struct tts_inbox *inbox)
{
    uint64_t turn =
        atomic_load_explicit(&inbox->turns[inbox->head & MASK], memory_order_acquire);
    return turn == inbox->head + 1 ? &inbox->letters[inbox->head & MASK] : NULL;
}

static void free_first_letter(struct tts_inbox *inbox)
{
    uint64_t place = inbox->head++;
    atomic_store_explicit(&inbox->turns[place & MASK], place + TTS_INBOX_EVENTS,
                          memory_order_release);
}

void tts_inbox_drop(struct tts_inbox *inbox)
{
    assert(tts_inbox_first(inbox) != NULL);
    free_first_letter(inbox);
}

void tts_inbox_skip(struct tts_inbox *inbox)
{
    assert(!tts_inbox_is_empty(inbox) && tts_inbox_first(inbox) == NULL);
    free_first_letter(inbox);
}
