/* whatif_program.c: the circular buffers of programs, laid out on the other device. */
#include "analysis/whatif_inside.h"
#include "base/error.h"
#include "base/heap.h"
#include "device/cbs.h"

#include <assert.h>
#include <string.h>

void tts_whatif_source_release(struct tts_whatif *whatif, struct tts_whatif_source *source)
{
    const struct tts_alloc *alloc = whatif->alloc;
    if (source->cbs)
        alloc->free(alloc->ctx, source->cbs, source->cb_capacity * sizeof *source->cbs);
    if (source->ranges)
        alloc->free(alloc->ctx, source->ranges,
                    source->range_capacity * sizeof *source->ranges);
}

static void forget(struct tts_whatif_source *source)
{
    assert(!source->is_pending);
    source->cb_count = source->range_count = 0;
    source->is_unchecked = source->is_counted = source->has_failed = false;
}

void tts_whatif_program(struct tts_whatif *whatif, size_t source)
{
    for (size_t i = 0; i < whatif->source_count; i++) {
        struct tts_whatif_source *one = &whatif->sources[i];
        if (i != source && one->mesh != source)
            continue;
        if (one->is_pending)
            tts_whatif_run_programs(whatif, whatif->sources[one->mesh].model);
        forget(one);
    }
}

static enum tts_status add_cb(struct tts_whatif *whatif, struct tts_whatif_source *source,
                              const struct tts_event *event, struct tts_error *err)
{
    void *cbs = tts_alloc_grow(whatif->alloc, source->cbs, &source->cb_capacity,
                               source->cb_count + 1, sizeof *source->cbs);
    if (!cbs)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    source->cbs = cbs;
    void *ranges =
        tts_alloc_grow(whatif->alloc, source->ranges, &source->range_capacity,
                       source->range_count + event->range_count, sizeof *source->ranges);
    if (!ranges)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    source->ranges = ranges;
    source->cbs[source->cb_count++] =
        (struct tts_whatif_cb){event->size_bytes, source->range_count, event->range_count};
    memcpy(source->ranges + source->range_count, event->ranges,
           event->range_count * sizeof *event->ranges);
    source->range_count += event->range_count;
    return TTS_OK;
}

enum tts_status tts_whatif_part(struct tts_whatif *whatif, const struct tts_event *event,
                                size_t source, const struct tts_whatif_moment *when,
                                struct tts_error *err)
{
    struct tts_whatif_source *at = &whatif->sources[source];
    size_t model;
    if (event->borrowed)
        return TTS_OK; /* it takes nothing of its own */
    if (event->kind != TTS_EVENT_CB) {
        whatif->counts.other_parts++;
        return TTS_OK;
    }
    enum tts_status status = tts_whatif_model_of(whatif, source, &model, err);
    if (status == TTS_OK && at->cb_count == TTS_CBS_MAX)
        at->is_unchecked = true; /* more than a program can have */
    else if (status == TTS_OK)
        status = add_cb(whatif, at, event, err);
    if (status != TTS_OK)
        return status;
    at->last = *when;
    at->is_pending = true;
    whatif->pending_count += !whatif->models[model].is_pending;
    whatif->models[model].is_pending = true;
    return TTS_OK;
}

/* False: it cannot be laid out on this device. */
static bool lay_out(struct tts_device *device, const struct tts_whatif_source *source,
                    uint64_t program_id)
{
    uint64_t address;
    if (source->is_unchecked)
        return false;
    tts_device_program(device, program_id);
    for (size_t i = 0; i < source->cb_count; i++) {
        const struct tts_whatif_cb *own = &source->cbs[i];
        struct tts_cb cb = {.ranges = source->ranges + own->first_range,
                            .range_count = own->range_count,
                            .total_bytes = own->bytes};
        if (tts_device_add_cb(device, &cb, &address, NULL) != TTS_OK)
            return false;
    }
    return true;
}

/* What the runtime would check of one program. False: it was not looked at. */
static bool run_one(struct tts_whatif *whatif, struct tts_whatif_source *source, size_t model,
                    bool *has_failed)
{
    struct tts_device *device = whatif->models[model].device;
    uint64_t failures = tts_device_failures(device);
    if (!lay_out(device, source, whatif->counts.programs))
        return false;
    /* In the mode of these devices a program that does not fit is noted, and that is all. */
    if (tts_device_run_program(device, NULL) != TTS_OK)
        return false;
    if (tts_device_failures(device) == failures || source->has_failed)
        return true;
    struct tts_whatif_failure failure = {.kind = TTS_WHATIF_PROGRAM,
                                         .pool = TTS_POOL_L1,
                                         .failure = *tts_device_failure(device)};
    tts_whatif_note(whatif, &source->last, &failure, model);
    source->has_failed = *has_failed = true;
    return true;
}

void tts_whatif_run_programs(struct tts_whatif *whatif, size_t model)
{
    bool any = false, has_failed = false, is_new = false;
    if (!whatif->models[model].is_pending)
        return;
    for (size_t i = 0; i < whatif->source_count; i++) {
        struct tts_whatif_source *source = &whatif->sources[i];
        bool is_its = whatif->sources[source->mesh].model == model;
        if (!source->is_pending || !is_its)
            continue;
        if (!source->is_counted && !is_new) {
            is_new = true;
            whatif->counts.programs++; /* also the number it has in messages */
        }
        source->is_counted = true;
        source->is_pending = false;
        any = run_one(whatif, source, model, &has_failed) || any;
    }
    whatif->counts.unchecked += is_new && !any;
    whatif->counts.failed_programs += has_failed;
    whatif->models[model].is_pending = false;
    assert(whatif->pending_count > 0);
    whatif->pending_count--;
}

void tts_whatif_run_all(struct tts_whatif *whatif)
{
    for (size_t i = 0; i < whatif->model_count && whatif->pending_count > 0; i++)
        tts_whatif_run_programs(whatif, i);
}
