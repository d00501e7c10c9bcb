/* tracker_ask.c: the listeners of a tracker, and queries. */
#include "base/error.h"
#include "capture/publisher.h"
#include "capture/recorder_hook.h"
#include "capture/tracker_inside.h"

#include <assert.h>

/* --- listeners -------------------------------------------------------------------------- */

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

static void set_told(struct tts_tracker *t)
{
    atomic_store_explicit(&t->is_told, t->recorder || t->publisher, memory_order_relaxed);
}

void tts_tracker_set_recorder(struct tts_tracker *t, struct tts_recorder *recorder)
{
    t->recorder = recorder;
    set_told(t);
}

void tts_tracker_set_publisher(struct tts_tracker *t, struct tts_publisher *publisher)
{
    t->publisher = publisher;
    atomic_store_explicit(&t->is_published, publisher != NULL, memory_order_relaxed);
    set_told(t);
}

static void hold_devices(struct tts_tracker *t, bool held)
{
    for (struct tts_attached *at = t->attached; at; at = at->next)
        tts_device_hold(at->device, held);
}

void tts_tracker_hold(struct tts_tracker *t)
{
    for (const struct tts_attached *at = t->attached; at; at = at->next)
        t->held++;
    if (t->holds++ == 0)
        hold_devices(t, true);
}

void tts_tracker_unhold(struct tts_tracker *t)
{
    assert(t->holds > 0);
    if (--t->holds == 0)
        hold_devices(t, false);
}

/* --- queries ---------------------------------------------------------------------------- */

enum tts_status tts_tracker_chip(struct tts_tracker *t, uint32_t chip, uint32_t mesh,
                                 struct tts_error *err)
{
    if (!t)
        return tts_error_set(err, TTS_E_INVALID, "the tracker is NULL");
    tts_tracker_enter(t);
    enum tts_status status = tts_fold_chip(t->fold, chip, mesh, err);
    if (status == TTS_OK && t->recorder)
        tts_recorder_mark(
            t->recorder,
            &(struct tts_item){.kind = TTS_ITEM_CHIP, .device = chip, .mesh = mesh});
    struct tts_publisher *publisher =
        status == TTS_OK && t->publisher ? tts_publisher_ready(t->publisher) : NULL;
    if (publisher)
        tts_publisher_chip(publisher, chip, mesh);
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

uint64_t tts_tracker_get_held(struct tts_tracker *t)
{
    if (!t)
        return 0;
    tts_tracker_enter(t);
    uint64_t held = t->held;
    tts_tracker_leave(t);
    return held;
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
    /* Sort after tts_tracker_leave(), so that other threads can fold events meanwhile. */
    tts_fold_sort(out, total < capacity ? total : capacity);
    return total;
}
