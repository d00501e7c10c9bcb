#include "base/compiler.h"
#include "base/error.h"
#include "base/ticks.h"
#include "capture/opstack.h"
#include "capture/publisher.h"
#include "capture/recorder_hook.h"
#include "capture/tracker_inside.h"
#include "model/ophelper.h"
#include "model/opnames.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

enum {
    /* If the inbox is full, a thread that posts an event spins PAUSES times, yields the
     * processor YIELDS times, then sleeps NAP_NS at a time. After WAIT_NS it drops the
     * event. */
    PAUSES = 1000,
    YIELDS = 1000,
    NAP_NS = 100 * 1000,
    WAIT_NS = 1000 * 1000 * 1000,
    /* While another thread folds, a thread that posts an event waits for FIRST_PAUSES, then for
     * twice as many, up to MOST_PAUSES. Then it puts the event into the inbox. The thread reads
     * `folding` rarely, so that the memory that the folding thread writes stays in the cache of
     * that thread. */
    FIRST_PAUSES = 64,
    MOST_PAUSES = 1024,
    /* Number of pauses during which a thread waits until its letter is taken. This is many
     * times as long as a store needs to become visible to other processors. */
    LETTER_PAUSES = 512,
};

/* --- folding ---------------------------------------------------------------------------- */

static bool try_enter(struct tts_tracker *t)
{
    /* Pairs with the release in give_back(), so that this thread sees the changes of the last
     * one. */
    return !atomic_exchange_explicit(&t->folding, true, memory_order_acquire);
}

static TTS_FORCE_INLINE void give_back(struct tts_tracker *t)
{
    atomic_store_explicit(&t->folding, false, memory_order_release);
}

/* Returns whether there is a recorder or a publisher. */
static TTS_FORCE_INLINE bool is_told(struct tts_tracker *t)
{
    return TTS_UNLIKELY(atomic_load_explicit(&t->is_told, memory_order_relaxed));
}

static TTS_FORCE_INLINE struct tts_publisher *ready_publisher(struct tts_tracker *t)
{
    return t->publisher ? tts_publisher_ready(t->publisher) : NULL;
}

/* Tells the fold, the recorder and the publisher about events that were dropped since the last
 * call. After this the use of the cores is incomplete. */
static void note_dropped(struct tts_tracker *t)
{
    uint64_t dropped = atomic_load_explicit(&t->dropped, memory_order_relaxed);
    if (TTS_LIKELY(dropped == t->known_dropped))
        return;
    tts_fold_miss(t->fold);
    if (t->recorder)
        tts_recorder_mark(t->recorder, &(struct tts_item){.kind = TTS_ITEM_MISSED,
                                                          .count = dropped - t->known_dropped});
    struct tts_publisher *publisher = ready_publisher(t);
    if (publisher)
        tts_publisher_miss(publisher, dropped - t->known_dropped);
    t->known_dropped = dropped;
}

/* Folds an event and tells the recorder and the publisher. */
static TTS_FORCE_INLINE void fold_and_tell(struct tts_tracker *t, const struct tts_event *event,
                                           uint64_t op_hash, uint32_t thread)
{
    struct tts_recorder *r = t->recorder ? tts_recorder_ready(t->recorder) : NULL;
    struct tts_publisher *p = ready_publisher(t);
    enum tts_fold_outcome outcome =
        p ? tts_publisher_fold(p, event, op_hash) : tts_fold_event(t->fold, event, op_hash);
    if (r)
        tts_recorder_event(r, event, op_hash, thread, outcome);
}

static void fold_letter(struct tts_tracker *t, const struct tts_letter *letter)
{
    fold_and_tell(t, &letter->event, letter->op_hash, letter->thread);
}

/* Folds the letters of the inbox that are fully written, at most TTS_INBOX_EVENTS. Letters that
 * come during the call are left to other threads. */
static TTS_COLD void fold_inbox(struct tts_tracker *t)
{
    const struct tts_letter *letter;
    int count = 0;
    for (; count < TTS_INBOX_EVENTS && (letter = tts_inbox_first(&t->inbox)); count++) {
        fold_letter(t, letter);
        tts_inbox_drop(&t->inbox);
    }
    if (count > 0)
        atomic_store_explicit(&t->is_stuck, false, memory_order_relaxed);
    note_dropped(t);
}

bool tts_tracker_try_enter(struct tts_tracker *t)
{
    return try_enter(t);
}

void tts_tracker_enter(struct tts_tracker *t)
{
    while (!try_enter(t))
        sched_yield();
    uint64_t last = atomic_load_explicit(&t->inbox.tail, memory_order_relaxed);
    while (t->inbox.head < last) {
        fold_inbox(t);
        if (t->inbox.head < last)
            sched_yield(); /* a thread is still writing a letter */
    }
    note_dropped(t);
}

/* --- leaving ---------------------------------------------------------------------------- */

/* If there is a recorder or a publisher, an event must not stay in the inbox after the call
 * that posted it has returned: the program may be killed or be idle then. Two rules ensure
 * this. First, a thread that clears `folding` looks into the inbox afterwards. Second, a thread
 * that put a letter (the sender) tries to set `folding` itself, for LETTER_PAUSES or until the
 * letter is taken.
 *
 * There is no memory fence between clearing `folding` and the look into the inbox, so the look
 * may miss a letter that was put at the same moment. Then the sender finds `folding` clear long
 * before it stops trying. The sender stops trying only if another thread has set `folding` for
 * longer: for a keyframe or a query, or because the system or the signal handler that posts has
 * interrupted that thread. Such a thread looks into the inbox later. */

/* Clears `folding` and returns whether there is a letter to fold. Ignores a letter that is
 * still being written, because its sender tries to fold it afterwards. */
static TTS_FORCE_INLINE bool give_back_and_look(struct tts_tracker *t)
{
    uint64_t head = t->inbox.head;
    give_back(t);
    /* A signal handler may post between the store and the load, so the compiler must not swap
     * them. */
    atomic_signal_fence(memory_order_seq_cst);
    return TTS_UNLIKELY(head != atomic_load_explicit(&t->inbox.tail, memory_order_relaxed)) &&
           tts_inbox_has(&t->inbox, head);
}

static TTS_COLD void fold_rest(struct tts_tracker *t)
{
    bool goes_on = true;
    while (goes_on && try_enter(t)) {
        fold_inbox(t);
        goes_on = give_back_and_look(t);
    }
}

/* Leaves the tracker if there is a recorder or a publisher. */
static TTS_FORCE_INLINE void leave_and_look(struct tts_tracker *t)
{
    if (TTS_UNLIKELY(give_back_and_look(t)))
        fold_rest(t);
}

void tts_tracker_leave(struct tts_tracker *t)
{
    if (is_told(t))
        leave_and_look(t);
    else
        give_back(t);
}

/* --- one event -------------------------------------------------------------------------- */

/* Like the end of fold_now(), for a tracker with a recorder or a publisher. A function of its
 * own, so that other trackers do not pay for this case. */
static TTS_NOINLINE bool fold_told(struct tts_tracker *t, const struct tts_event *event,
                                   uint64_t op_hash)
{
    bool is_next = tts_inbox_is_empty(&t->inbox);
    if (TTS_LIKELY(is_next))
        fold_and_tell(t, event, op_hash, t->recorder ? tts_ops_thread_of(event) : 0);
    leave_and_look(t);
    return is_next;
}

/* Folds the event now, if possible. Returns false if another thread folds, or if earlier
 * letters are still being written. */
static TTS_FORCE_INLINE bool fold_now(struct tts_tracker *t, const struct tts_event *event,
                                      uint64_t op_hash)
{
    if (!try_enter(t))
        return false;
    if (TTS_UNLIKELY(!tts_inbox_is_empty(&t->inbox)))
        fold_inbox(t);
    if (is_told(t))
        return fold_told(t, event, op_hash);
    bool is_next = tts_inbox_is_empty(&t->inbox);
    if (TTS_LIKELY(is_next))
        tts_fold_event(t->fold, event, op_hash);
    give_back(t);
    return is_next;
}

/* --- while another thread folds --------------------------------------------------------- */

static bool is_folding(struct tts_tracker *t)
{
    return atomic_load_explicit(&t->folding, memory_order_relaxed);
}

static bool wait_to_fold(struct tts_tracker *t, const struct tts_event *event, uint64_t op_hash)
{
    for (int pauses = FIRST_PAUSES; pauses <= MOST_PAUSES; pauses *= 2) {
        for (int i = 0; i < pauses; i++)
            TTS_PAUSE();
        if (!is_folding(t) && fold_now(t, event, op_hash))
            return true;
    }
    return false;
}

static void look_after(struct tts_tracker *t, uint64_t place)
{
    for (int i = 0; i < LETTER_PAUSES && !tts_inbox_is_taken(&t->inbox, place); i++) {
        if (!is_folding(t))
            fold_rest(t);
        TTS_PAUSE();
    }
}

/* Puts the event into the inbox. Returns false if the inbox is full. */
static bool post_letter(struct tts_tracker *t, const struct tts_event *event, uint64_t op_hash)
{
    uint64_t place;
    if (!tts_inbox_put(&t->inbox, event, op_hash, &place))
        return false;
    if (is_told(t))
        look_after(t, place);
    return true;
}

static TTS_COLD enum tts_status drop(struct tts_tracker *t, struct tts_error *err)
{
    atomic_fetch_add_explicit(&t->dropped, 1, memory_order_relaxed);
    return tts_error_set(err, TTS_E_FULL,
                         "event dropped: %d events are waiting already, which is the maximum",
                         TTS_INBOX_EVENTS);
}

static void nap(void)
{
    int kept_errno = errno; /* errno of the program, which only posted an event */
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    errno = kept_errno;
}

/* Waits while the inbox is full, because the thread that folds is slow or was interrupted.
 * Returns TTS_E_FULL if the event was dropped. */
static TTS_COLD enum tts_status wait_for_room(struct tts_tracker *t,
                                              const struct tts_event *event, uint64_t op_hash,
                                              struct tts_error *err)
{
    if (atomic_load_explicit(&t->is_stuck, memory_order_relaxed))
        return drop(t, err);
    uint64_t start = tts_clock_ns();
    for (int i = 0; i < PAUSES + YIELDS || tts_clock_ns() - start < WAIT_NS; i++) {
        if (fold_now(t, event, op_hash) || post_letter(t, event, op_hash))
            return TTS_OK;
        if (i < PAUSES)
            TTS_PAUSE();
        else if (i < PAUSES + YIELDS)
            sched_yield();
        else
            nap();
    }
    atomic_store_explicit(&t->is_stuck, true, memory_order_relaxed);
    return drop(t, err);
}

/* Waits until this thread can fold the event, or leaves the event in the inbox. Does not wait
 * if the inbox has events already: then the folding thread was interrupted. */
static TTS_NOINLINE enum tts_status post_later(struct tts_tracker *t,
                                               const struct tts_event *event, uint64_t op_hash,
                                               struct tts_error *err)
{
    if (!tts_inbox_has_letters(&t->inbox) && wait_to_fold(t, event, op_hash))
        return TTS_OK;
    return post_letter(t, event, op_hash) ? TTS_OK : wait_for_room(t, event, op_hash, err);
}

/* --- forks ------------------------------------------------------------------------------ */

bool tts_tracker_stop(struct tts_tracker *t)
{
    uint64_t start = tts_clock_ns();
    bool has_stopped = try_enter(t);
    for (int i = 0; !has_stopped && (i < PAUSES || tts_clock_ns() - start < WAIT_NS); i++) {
        if (i < PAUSES)
            TTS_PAUSE();
        else
            nap(); /* a thread that wakes up often finds the flag clear sooner than by yielding
                    */
        has_stopped = try_enter(t);
    }
    return has_stopped;
}

void tts_tracker_resume_child(struct tts_tracker *t)
{
    uint64_t skipped = 0;
    while (!tts_inbox_is_empty(&t->inbox)) {
        const struct tts_letter *letter = tts_inbox_first(&t->inbox);
        if (letter) {
            tts_fold_event(t->fold, &letter->event, letter->op_hash);
            tts_inbox_drop(&t->inbox);
        } else { /* the thread that was writing the letter does not exist here */
            tts_inbox_skip(&t->inbox);
            skipped++;
        }
    }
    if (skipped > 0) {
        tts_fold_miss(t->fold);
        atomic_fetch_add_explicit(&t->dropped, skipped, memory_order_relaxed);
        t->known_dropped += skipped;
    }
    atomic_store_explicit(&t->is_stuck, false, memory_order_relaxed);
    give_back(t);
}

/* --- events ----------------------------------------------------------------------------- */

/* Begins or ends an operation of this thread. Returns the hash of the operation. */
static TTS_NOINLINE uint64_t change_op(struct tts_tracker *t, const struct tts_event *event,
                                       uint64_t session)
{
    if (event->kind == TTS_EVENT_OP_END)
        return tts_ops_pop(session);
    uint64_t hash = tts_opnames_hash(event->name, event->name_len);
    tts_ops_push(session, hash, tts_op_is_helper(event->name, event->name_len));
    atomic_store_explicit(&t->has_ops, true, memory_order_relaxed);
    return hash;
}

/* Returns the hash of the operation that the event belongs to. Also begins or ends
 * operations. */
static TTS_NOINLINE uint64_t op_of(struct tts_tracker *t, const struct tts_event *event)
{
    uint64_t session = atomic_load_explicit(&t->session, memory_order_relaxed);
    if (event->kind == TTS_EVENT_OP_BEGIN || event->kind == TTS_EVENT_OP_END)
        return change_op(t, event, session);
    return tts_ops_top(session);
}

/* Posts an event with a shortened name, so that every part of the library keeps the same end of
 * a long name. */
static TTS_COLD enum tts_status
post_long_name(struct tts_tracker *t, const struct tts_event *event, struct tts_error *err)
{
    struct tts_event cut = *event;
    tts_opnames_cut(&cut.name, &cut.name_len);
    return tts_tracker_post(t, &cut, err);
}

enum tts_status tts_tracker_post(struct tts_tracker *t, const struct tts_event *event,
                                 struct tts_error *err)
{
    if (TTS_UNLIKELY(!t || !event))
        return tts_error_set(err, TTS_E_INVALID, "the %s is NULL", t ? "event" : "tracker");
    if (!tts_tracker_is_on(t))
        return TTS_OK;
    enum tts_status status = tts_event_check(event, err);
    if (TTS_UNLIKELY(status != TTS_OK)) {
        atomic_fetch_add_explicit(&t->refused, 1, memory_order_relaxed);
        return status;
    }
    uint64_t op_hash = 0;
    if (TTS_UNLIKELY(event->kind == TTS_EVENT_OP_BEGIN)) {
        if (event->name_len > TTS_OP_NAME_MAX)
            return post_long_name(t, event, err);
        op_hash = op_of(t, event);
    } else if (atomic_load_explicit(&t->has_ops, memory_order_relaxed)) {
        op_hash = op_of(t, event);
    }
    if (TTS_LIKELY(fold_now(t, event, op_hash)))
        return TTS_OK;
    return post_later(t, event, op_hash, err);
}

/* Returns whether a buffer can be counted without a struct tts_event: the buffer is in DRAM,
 * and no operation was named in this session. */
static TTS_FORCE_INLINE bool is_plain(struct tts_tracker *t, enum tts_pool pool,
                                      uint64_t size_bytes)
{
    return t && tts_tracker_is_on(t) &&
           !atomic_load_explicit(&t->has_ops, memory_order_relaxed) && pool == TTS_POOL_DRAM &&
           size_bytes <= TTS_EVENT_SIZE_MAX;
}

static TTS_NOINLINE void fold_alloc_told(struct tts_tracker *t, uint32_t device, uint64_t id,
                                         uint64_t size_bytes, uint64_t bytes_per_bank)
{
    struct tts_recorder *r = t->recorder ? tts_recorder_ready(t->recorder) : NULL;
    struct tts_publisher *p = ready_publisher(t);
    enum tts_pool pool = TTS_POOL_DRAM;
    enum tts_fold_outcome outcome =
        p ? tts_publisher_alloc(p, device, id, size_bytes, bytes_per_bank)
          : tts_fold_alloc(t->fold, device, pool, id, size_bytes, 0);
    if (r)
        tts_recorder_alloc(r, device, pool, id, size_bytes, outcome);
    leave_and_look(t);
}

static TTS_NOINLINE void fold_free_told(struct tts_tracker *t, uint32_t device, uint64_t id,
                                        uint64_t size_bytes)
{
    struct tts_recorder *r = t->recorder ? tts_recorder_ready(t->recorder) : NULL;
    struct tts_publisher *p = ready_publisher(t);
    enum tts_pool pool = TTS_POOL_DRAM;
    enum tts_fold_outcome outcome =
        p ? tts_publisher_free(p, device, id, size_bytes)
          : tts_fold_free_buffer(t->fold, device, pool, id, size_bytes);
    if (r)
        tts_recorder_free(r, device, pool, id, size_bytes, outcome);
    leave_and_look(t);
}

/* Sets `folding` if no other thread has set it and the inbox is empty. Does not wait. */
static TTS_FORCE_INLINE bool enter_first(struct tts_tracker *t)
{
    if (TTS_UNLIKELY(!try_enter(t)))
        return false;
    if (TTS_LIKELY(tts_inbox_is_empty(&t->inbox)))
        return true;
    give_back(t); /* then the caller posts a struct tts_event */
    return false;
}

enum tts_status tts_tracker_post_alloc(struct tts_tracker *t, uint32_t device,
                                       enum tts_pool pool, uint64_t id, uint64_t size_bytes,
                                       uint64_t bytes_per_bank, struct tts_error *err)
{
    if (TTS_LIKELY(is_plain(t, pool, size_bytes) && size_bytes > 0 &&
                   bytes_per_bank <= TTS_EVENT_BYTES_MAX && enter_first(t))) {
        if (is_told(t)) {
            fold_alloc_told(t, device, id, size_bytes, bytes_per_bank);
            return TTS_OK;
        }
        tts_fold_alloc_dram(t->fold, device, id, size_bytes);
        give_back(t);
        return TTS_OK;
    }
    struct tts_event event = {.kind = TTS_EVENT_ALLOC,
                              .device = device,
                              .pool = pool,
                              .id = id,
                              .size_bytes = size_bytes,
                              .bytes_per_bank = bytes_per_bank};
    return tts_tracker_post(t, &event, err);
}

enum tts_status tts_tracker_post_free(struct tts_tracker *t, uint32_t device,
                                      enum tts_pool pool, uint64_t id, uint64_t size_bytes,
                                      uint64_t bytes_per_bank, struct tts_error *err)
{
    if (TTS_LIKELY(is_plain(t, pool, size_bytes) && bytes_per_bank <= TTS_EVENT_BYTES_MAX &&
                   enter_first(t))) {
        if (is_told(t)) {
            fold_free_told(t, device, id, size_bytes);
            return TTS_OK;
        }
        tts_fold_free_dram(t->fold, device, id, size_bytes);
        give_back(t);
        return TTS_OK;
    }
    struct tts_event event = {.kind = TTS_EVENT_FREE,
                              .device = device,
                              .pool = pool,
                              .id = id,
                              .size_bytes = size_bytes,
                              .bytes_per_bank = bytes_per_bank};
    return tts_tracker_post(t, &event, err);
}
