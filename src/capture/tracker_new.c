/* tracker_new.c: creates and frees trackers. Also has the tracker of the process. */
#include "base/error.h"
#include "base/heap.h"
#include "capture/publisher.h"
#include "capture/recorder_hook.h"
#include "capture/tracker_inside.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

enum {
    LIVE_DEFAULT = 1 << 20,
    DEVICES_DEFAULT = 64,
    OPS_DEFAULT = 1024,
};

static enum tts_status limit(const char *name, uint32_t asked, uint32_t usual, uint32_t most,
                             uint32_t *out, struct tts_error *err)
{
    if (asked > most)
        return tts_error_set(err, TTS_E_RANGE, "%s is %u, but the maximum is %u", name, asked,
                             most);
    *out = asked ? asked : usual;
    return TTS_OK;
}

static enum tts_status limits_of(const struct tts_tracker_config *asked,
                                 struct tts_tracker_config *out, struct tts_error *err)
{
    static const struct tts_tracker_config nothing;
    if (!asked)
        asked = &nothing;
    if (memcmp(asked->reserved, nothing.reserved, sizeof asked->reserved) != 0)
        return tts_error_set(
            err, TTS_E_INVALID,
            "a reserved field of the configuration is not 0: set all reserved fields to 0");
    enum tts_status status = limit("live_max", asked->live_max, LIVE_DEFAULT, TTS_FOLD_LIVE_MAX,
                                   &out->live_max, err);
    if (status == TTS_OK)
        status = limit("devices_max", asked->devices_max, DEVICES_DEFAULT, TTS_FOLD_DEVICES_MAX,
                       &out->devices_max, err);
    if (status == TTS_OK)
        status =
            limit("ops_max", asked->ops_max, OPS_DEFAULT, TTS_FOLD_OPS_MAX, &out->ops_max, err);
    return status;
}

enum tts_status tts_tracker_new(const struct tts_tracker_config *config,
                                const struct tts_alloc *alloc, struct tts_tracker **out,
                                struct tts_error *err)
{
    struct tts_tracker_config limits = {0};
    if (!out)
        return tts_error_set(err, TTS_E_INVALID,
                             "'out' is NULL: give a pointer for the new tracker");
    enum tts_status status = limits_of(config, &limits, err);
    if (status != TTS_OK)
        return status;
    if (!alloc)
        alloc = tts_alloc_libc();
    struct tts_tracker *t = alloc->alloc(alloc->ctx, sizeof *t);
    if (!t)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    *t = (struct tts_tracker){.limits = limits, .alloc = alloc};
    status = tts_fold_new(&limits, alloc, &t->fold);
    if (status == TTS_OK) {
        status = tts_inbox_init(&t->inbox, alloc);
        if (status != TTS_OK)
            tts_fold_free(t->fold);
    }
    if (status != TTS_OK) {
        alloc->free(alloc->ctx, t, sizeof *t);
        return tts_error_set(err, status,
                             TTS_TEXT_NOMEM " for %u live buffers: give a lower live_max",
                             limits.live_max);
    }
    *out = t;
    return TTS_OK;
}

void tts_tracker_free(struct tts_tracker *t)
{
    if (!t)
        return;
    tts_publish_end(t);
    tts_tracker_enter(t);
    tts_tracker_orphan_all(t);
    if (t->owned_recorder)
        tts_recorder_orphan(t->owned_recorder);
    tts_tracker_detach_all(t);
    tts_tracker_leave(t);
    assert(t->head.active == 0 && t->holds == 0);
    const struct tts_alloc *alloc = t->alloc;
    tts_inbox_release(&t->inbox, alloc);
    tts_fold_free(t->fold);
    alloc->free(alloc->ctx, t, sizeof *t);
}

/* The only mutable global of the library: bindings of several languages in one process share
 * this tracker. */
static _Atomic(struct tts_tracker *) the_one;

/* Removes the file that shows the process live. */
__attribute__((destructor)) static void end_process_tracker(void)
{
    struct tts_tracker *t = atomic_load_explicit(&the_one, memory_order_acquire);
    if (t)
        tts_publisher_end_at_exit(t);
}

/* Forks. A program that is published by its environment does not know that its threads use a
 * tracker, so it cannot choose a good moment for a fork. */

/* Whether this thread has stopped the tracker for its fork. */
static _Thread_local bool has_stopped_tracker;

static void stop_process_tracker(void)
{
    struct tts_tracker *t = atomic_load_explicit(&the_one, memory_order_acquire);
    has_stopped_tracker = tts_tracker_is_on(t) && tts_tracker_stop(t);
}

static void resume_parent(void)
{
    if (has_stopped_tracker)
        tts_tracker_leave(atomic_load_explicit(&the_one, memory_order_acquire));
    has_stopped_tracker = false;
}

static void resume_child(void)
{
    if (has_stopped_tracker)
        tts_tracker_resume_child(atomic_load_explicit(&the_one, memory_order_acquire));
    has_stopped_tracker = false;
}

struct tts_tracker *tts_tracker_process(void)
{
    struct tts_tracker *t = atomic_load_explicit(&the_one, memory_order_acquire);
    struct tts_tracker *made = NULL;
    if (t || tts_tracker_new(NULL, NULL, &made, NULL) != TTS_OK)
        return t;
    if (atomic_compare_exchange_strong_explicit(&the_one, &t, made, memory_order_acq_rel,
                                                memory_order_acquire)) {
        /* Without memory for the handlers, a fork works as for other trackers. */
        pthread_atfork(stop_process_tracker, resume_parent, resume_child);
        tts_publisher_begin_by_environment(made);
        return made;
    }
    tts_tracker_free(made);
    return t;
}
