#include "base/alloc.h"
#include "base/compiler.h"
#include "base/error.h"
#include "base/ticks.h"
#include "capture/ops.h"
#include "capture/recorder.h"
#include "capture/tracker_inside.h"
#include "model/opnames.h"

#include <assert.h>
#include <sched.h>
#include <time.h>

enum {
    /* What an event that finds the inbox full does before it is dropped: spins, gives the
     * processor away, and naps, until the time is over. */
    PAUSES = 1000,
    YIELDS = 1000,
    NAP_NS = 100 * 1000,
    WAIT_NS = 1000 * 1000 * 1000,
};

/* --- folding ---------------------------------------------------------------------------- */

static bool try_enter(struct tts_tracker *t)
{
    /* Pairs with the release in tts_tracker_leave(). */
    return !atomic_exchange_explicit(&t->folding, true, memory_order_acquire);
}

void tts_tracker_leave(struct tts_tracker *t)
{
    atomic_store_explicit(&t->folding, false, memory_order_release);
}

/* What was dropped since it was last asked: what is on the cores is no longer all known. */
static void note_dropped(struct tts_tracker *t)
{
    uint64_t dropped = atomic_load_explicit(&t->dropped, memory_order_relaxed);
    if (TTS_LIKELY(dropped == t->known_dropped))
        return;
    tts_fold_miss(t->fold);
    if (t->recorder)
        tts_recorder_mark(t->recorder, &(struct tts_item){.kind = TTS_ITEM_MISSED,
                                                          .count = dropped - t->known_dropped});
    t->known_dropped = dropped;
}

/* Who is to be told of the next event; NULL: nobody. No hint to the compiler: with one it takes
 * what is done for a recorder for rare, and makes it small instead of quick. */
static TTS_FORCE_INLINE struct tts_recorder *ready_recorder(struct tts_tracker *t)
{
    return t->recorder ? tts_recorder_ready(t->recorder) : NULL;
}

static TTS_FORCE_INLINE void fold(struct tts_tracker *t, const struct tts_event *event,
                                  uint64_t op_hash)
{
    struct tts_recorder *r = ready_recorder(t);
    enum tts_fold_outcome outcome = tts_fold_event(t->fold, event, op_hash);
    if (r)
        tts_recorder_event(r, event, op_hash, tts_ops_thread_of(event), outcome);
}

static void fold_letter(struct tts_tracker *t, const struct tts_letter *letter)
{
    struct tts_recorder *r = ready_recorder(t);
    enum tts_fold_outcome outcome = tts_fold_event(t->fold, &letter->event, letter->op_hash);
    if (r)
        tts_recorder_event(r, &letter->event, letter->op_hash, letter->thread, outcome);
}

/* Folds what lies in the inbox, as far as it is written, and no more than it holds: what comes
 * meanwhile is for others. */
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

void tts_tracker_enter(struct tts_tracker *t)
{
    while (!try_enter(t))
        sched_yield();
    uint64_t last = atomic_load_explicit(&t->inbox.tail, memory_order_relaxed);
    while (t->inbox.head < last) {
        fold_inbox(t);
        if (t->inbox.head < last)
            sched_yield(); /* somebody is writing a letter */
    }
    note_dropped(t);
}

/* True: it is folded. False: somebody else folds, or letters before it are being written. */
static TTS_FORCE_INLINE bool fold_now(struct tts_tracker *t, const struct tts_event *event,
                                      uint64_t op_hash)
{
    if (!try_enter(t))
        return false;
    if (TTS_UNLIKELY(!tts_inbox_is_empty(&t->inbox)))
        fold_inbox(t);
    bool is_next = tts_inbox_is_empty(&t->inbox);
    if (TTS_LIKELY(is_next))
        fold(t, event, op_hash);
    tts_tracker_leave(t);
    return is_next;
}

static TTS_COLD enum tts_status drop(struct tts_tracker *t, struct tts_error *err)
{
    atomic_fetch_add_explicit(&t->dropped, 1, memory_order_relaxed);
    return tts_error_set(err, TTS_E_FULL,
                         "event dropped: %d events wait and no thread folds them",
                         TTS_INBOX_EVENTS);
}

/* The inbox is full: the one that folds is behind, or was stopped. */
static TTS_COLD enum tts_status wait_for_room(struct tts_tracker *t,
                                              const struct tts_event *event, uint64_t op_hash,
                                              struct tts_error *err)
{
    if (atomic_load_explicit(&t->is_stuck, memory_order_relaxed))
        return drop(t, err);
    uint64_t start = tts_clock_ns();
    for (int i = 0; i < PAUSES + YIELDS || tts_clock_ns() - start < WAIT_NS; i++) {
        if (fold_now(t, event, op_hash) || tts_inbox_put(&t->inbox, event, op_hash))
            return TTS_OK;
        if (i < PAUSES)
            TTS_PAUSE();
        else if (i < PAUSES + YIELDS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    atomic_store_explicit(&t->is_stuck, true, memory_order_relaxed);
    return drop(t, err);
}

/* --- events ----------------------------------------------------------------------------- */

/* The operation that an event belongs to; one that begins or ends is noted. */
static TTS_NOINLINE uint64_t op_of(struct tts_tracker *t, const struct tts_event *event)
{
    uint64_t session = atomic_load_explicit(&t->session, memory_order_relaxed);
    if (event->kind == TTS_EVENT_OP_BEGIN) {
        uint64_t hash = tts_opnames_hash(event->name, event->name_len);
        tts_ops_push(session, hash);
        atomic_store_explicit(&t->has_ops, true, memory_order_relaxed);
        return hash;
    }
    uint64_t hash = tts_ops_top(session);
    if (event->kind == TTS_EVENT_OP_END)
        tts_ops_pop(session);
    return hash;
}

enum tts_status tts_tracker_post(struct tts_tracker *t, const struct tts_event *event,
                                 struct tts_error *err)
{
    if (TTS_UNLIKELY(!t || !event))
        return tts_error_set(err, TTS_E_INVALID, "no %s, give one", t ? "event" : "tracker");
    if (!tts_tracker_is_on(t))
        return TTS_OK;
    enum tts_status status = tts_event_check(event, err);
    if (TTS_UNLIKELY(status != TTS_OK)) {
        atomic_fetch_add_explicit(&t->refused, 1, memory_order_relaxed);
        return status;
    }
    uint64_t op_hash = 0;
    if (TTS_UNLIKELY(event->kind == TTS_EVENT_OP_BEGIN) ||
        atomic_load_explicit(&t->has_ops, memory_order_relaxed))
        op_hash = op_of(t, event);
    if (TTS_LIKELY(fold_now(t, event, op_hash)) || tts_inbox_put(&t->inbox, event, op_hash))
        return TTS_OK;
    return wait_for_room(t, event, op_hash, err);
}

/* Whether a buffer can be told without an event: nobody names operations, and it is of a pool
 * that is not on cores. */
static TTS_FORCE_INLINE bool is_plain(struct tts_tracker *t, enum tts_pool pool,
                                      uint64_t size_bytes)
{
    return t && tts_tracker_is_on(t) &&
           !atomic_load_explicit(&t->has_ops, memory_order_relaxed) &&
           (pool == TTS_POOL_DRAM || pool == TTS_POOL_TRACE) &&
           size_bytes <= TTS_EVENT_SIZE_MAX;
}

/* The same with a recorder, and apart: what it needs is not to weigh on who has none. */
static TTS_NOINLINE void fold_alloc_recorded(struct tts_tracker *t, uint32_t device,
                                             enum tts_pool pool, uint64_t id,
                                             uint64_t size_bytes)
{
    struct tts_recorder *r = tts_recorder_ready(t->recorder);
    enum tts_fold_outcome outcome = tts_fold_alloc(t->fold, device, pool, id, size_bytes, 0);
    if (r)
        tts_recorder_alloc(r, device, pool, id, size_bytes, outcome);
}

static TTS_NOINLINE void fold_free_recorded(struct tts_tracker *t, uint32_t device,
                                            enum tts_pool pool, uint64_t id,
                                            uint64_t size_bytes)
{
    struct tts_recorder *r = tts_recorder_ready(t->recorder);
    enum tts_fold_outcome outcome = tts_fold_free_buffer(t->fold, device, pool, id, size_bytes);
    if (r)
        tts_recorder_free(r, device, pool, id, size_bytes, outcome);
}

/* Takes `folding` when that can be had at once and nothing waits before. */
static TTS_FORCE_INLINE bool enter_first(struct tts_tracker *t)
{
    if (TTS_UNLIKELY(!try_enter(t)))
        return false;
    if (TTS_LIKELY(tts_inbox_is_empty(&t->inbox)))
        return true;
    tts_tracker_leave(t);
    return false;
}

enum tts_status tts_tracker_post_alloc(struct tts_tracker *t, uint32_t device,
                                       enum tts_pool pool, uint64_t id, uint64_t size_bytes,
                                       uint64_t bytes_per_bank, struct tts_error *err)
{
    if (TTS_LIKELY(is_plain(t, pool, size_bytes) && size_bytes > 0 &&
                   bytes_per_bank <= TTS_EVENT_BYTES_MAX && enter_first(t))) {
        if (!t->recorder)
            tts_fold_alloc_only(t->fold, device, pool, id, size_bytes);
        else
            fold_alloc_recorded(t, device, pool, id, size_bytes);
        tts_tracker_leave(t);
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
        if (!t->recorder)
            tts_fold_free_only(t->fold, device, pool, id, size_bytes);
        else
            fold_free_recorded(t, device, pool, id, size_bytes);
        tts_tracker_leave(t);
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

/* --- who listens ------------------------------------------------------------------------ */

static uint64_t next_session(void)
{
    static _Atomic uint64_t sessions;
    return 1 + atomic_fetch_add_explicit(&sessions, 1, memory_order_relaxed);
}

void tts_tracker_listen(struct tts_tracker *t)
{
    uint32_t active = t->head.active;
    if (active == 0) {
        tts_fold_reset(t->fold);
        atomic_store_explicit(&t->session, next_session(), memory_order_relaxed);
        atomic_store_explicit(&t->has_ops, false, memory_order_relaxed);
        atomic_store_explicit(&t->dropped, 0, memory_order_relaxed);
        t->known_dropped = 0;
        atomic_store_explicit(&t->refused, 0, memory_order_relaxed);
    }
    __atomic_store_n(&t->head.active, active + 1, __ATOMIC_RELAXED);
}

void tts_tracker_unlisten(struct tts_tracker *t)
{
    assert(t->head.active > 0);
    __atomic_store_n(&t->head.active, t->head.active - 1, __ATOMIC_RELAXED);
}

static void hold_devices(struct tts_tracker *t, bool held)
{
    for (struct tts_attached *at = t->attached; at; at = at->next)
        tts_device_hold(at->device, held);
}

void tts_tracker_hold(struct tts_tracker *t)
{
    if (t->holds++ == 0)
        hold_devices(t, true);
}

void tts_tracker_unhold(struct tts_tracker *t)
{
    assert(t->holds > 0);
    if (--t->holds == 0)
        hold_devices(t, false);
}

/* --- questions -------------------------------------------------------------------------- */

enum tts_status tts_tracker_chip(struct tts_tracker *t, uint32_t chip, uint32_t mesh,
                                 struct tts_error *err)
{
    if (!t)
        return tts_error_set(err, TTS_E_INVALID, "no tracker, give one");
    tts_tracker_enter(t);
    enum tts_status status = tts_fold_chip(t->fold, chip, mesh, err);
    if (status == TTS_OK && t->recorder)
        tts_recorder_mark(
            t->recorder,
            &(struct tts_item){.kind = TTS_ITEM_CHIP, .device = chip, .mesh = mesh});
    tts_tracker_leave(t);
    return status;
}

void tts_tracker_get_health(struct tts_tracker *t, struct tts_tracker_health *out)
{
    if (!out)
        return;
    *out = (struct tts_tracker_health){0};
    if (!t)
        return;
    tts_tracker_enter(t);
    tts_fold_health(t->fold, out);
    out->dropped += atomic_load_explicit(&t->dropped, memory_order_relaxed);
    out->refused = atomic_load_explicit(&t->refused, memory_order_relaxed);
    tts_tracker_leave(t);
}

size_t tts_tracker_live(struct tts_tracker *t, struct tts_live *out, size_t capacity)
{
    if (!t)
        return 0;
    if (!out)
        capacity = 0;
    tts_tracker_enter(t);
    size_t total = tts_fold_collect(t->fold, out, capacity);
    tts_tracker_leave(t);
    tts_fold_sort(out, total < capacity ? total : capacity); /* events go on meanwhile */
    return total;
}
