/* attach.c: attaches modelled devices to a tracker. Their observers post events. */
#include "base/error.h"
#include "capture/publisher.h"
#include "capture/tracker_inside.h"

#include <assert.h>

/* Posts an event. The status is ignored: the tracker counts dropped and refused events, and a
 * device has no caller to report to. */
static void post(const struct tts_attached *at, struct tts_event event)
{
    event.device = at->id;
    enum tts_status status = tts_tracker_post(at->tracker, &event, NULL);
    assert(status == TTS_OK || status == TTS_E_FULL || status == TTS_E_RANGE);
    (void)status;
}

/* Adds the address and the request to an ALLOC event. */
static void add_request(struct tts_event *event, const struct tts_buffer *buffer,
                        const struct tts_request *request)
{
    /* A buffer on single cores has another address on each core, so it has no address here. */
    event->has_address = buffer->placed && event->range_count == 0;
    event->address = buffer->address;
    if (!request)
        return;
    event->page_bytes = request->page_bytes;
    if (request->shard || request->distribution)
        event->cores = buffer->banks;
    if (request->placement != TTS_PLACE_AT)
        event->placement = request->placement;
}

/* Publishes the state of a pool. The device belongs to this thread, so the thread reads the
 * device before another thread changes it. */
static void show_attached_pool(const struct tts_attached *at, enum tts_pool pool)
{
    if (atomic_load_explicit(&at->tracker->is_published, memory_order_relaxed))
        tts_publisher_show_pool(at->tracker, at, pool);
}

static void post_buffer(const struct tts_attached *at, enum tts_event_kind kind,
                        const struct tts_device_event *told)
{
    const struct tts_buffer *buffer = told->buffer;
    if (buffer->block_bytes == 0)
        return; /* the buffer takes no memory, and the runtime does not report such buffers */
    struct tts_event event = {.kind = kind,
                              .pool = buffer->pool,
                              .id = buffer->id,
                              .size_bytes = buffer->size_bytes,
                              .bytes_per_bank = buffer->bytes_per_bank,
                              .block_bytes = buffer->block_bytes,
                              .ranges = told->ranges,
                              .range_count = told->range_count};
    if (kind == TTS_EVENT_ALLOC)
        add_request(&event, buffer, told->request);
    post(at, event);
    show_attached_pool(at, buffer->pool);
}

static void on_event(void *ctx, const struct tts_device_event *event)
{
    const struct tts_attached *at = ctx;
    if (!tts_tracker_is_on(at->tracker))
        return;
    switch (event->kind) {
    case TTS_DEVICE_ALLOC:
        post_buffer(at, TTS_EVENT_ALLOC, event);
        break;
    case TTS_DEVICE_FREE:
        post_buffer(at, TTS_EVENT_FREE, event);
        break;
    case TTS_DEVICE_PROGRAM:
        post(at, (struct tts_event){.kind = TTS_EVENT_PROGRAM});
        break;
    case TTS_DEVICE_CB:
        post(at, (struct tts_event){.kind = TTS_EVENT_CB,
                                    .borrowed = event->cb->global,
                                    .has_address = event->cb->global,
                                    .address = event->cb->address,
                                    .size_bytes = event->cb->total_bytes,
                                    .ranges = event->ranges,
                                    .range_count = event->range_count});
        break;
    case TTS_DEVICE_TRACE_BEGIN:
        post(at, (struct tts_event){.kind = TTS_EVENT_TRACE_BEGIN});
        break;
    case TTS_DEVICE_TRACE_END:
        post(at, (struct tts_event){.kind = TTS_EVENT_TRACE_END});
        break;
    case TTS_DEVICE_FAILURE:
        post(at, (struct tts_event){.kind = TTS_EVENT_FAILURE, .failure = event->failure});
        break;
    }
}

static enum tts_status check(struct tts_tracker *t, const struct tts_device *device,
                             uint32_t id, struct tts_error *err)
{
    if (tts_device_is_observed(device))
        return tts_error_set(
            err, TTS_E_BUSY,
            "the device is already attached to a tracker: detach the device first");
    for (const struct tts_attached *at = t->attached; at; at = at->next)
        if (at->id == id)
            return tts_error_set(err, TTS_E_BUSY, "device id %u is in use: give another id",
                                 id);
    if (!tts_fold_know(t->fold, id))
        return tts_error_set(err, TTS_E_RANGE,
                             "the tracker already knows %u devices, which is the maximum: "
                             "raise devices_max, or give the id of a detached device",
                             t->limits.devices_max);
    return TTS_OK;
}

enum tts_status tts_tracker_attach(struct tts_tracker *t, struct tts_device *device,
                                   uint32_t id, struct tts_error *err)
{
    if (!t || !device)
        return tts_error_set(err, TTS_E_INVALID, "the %s is NULL", t ? "device" : "tracker");
    tts_tracker_enter(t);
    struct tts_attached *at = NULL;
    enum tts_status status = check(t, device, id, err);
    if (status == TTS_OK) {
        at = t->alloc->alloc(t->alloc->ctx, sizeof *at);
        if (!at)
            status = tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    }
    if (at) {
        *at = (struct tts_attached){
            .tracker = t, .device = device, .id = id, .next = t->attached};
        t->attached = at;
        tts_device_observe(device, &(struct tts_observer){.event = on_event, .ctx = at});
        if (t->holds > 0) {
            tts_device_hold(device, true);
            t->held++;
        }
        tts_publisher_attached(t, at);
    }
    tts_tracker_leave(t);
    for (int pool = 0; at && pool < TTS_POOLS; pool++)
        show_attached_pool(at, (enum tts_pool)pool);
    return status;
}

/* Removes *link from the list of attached devices and frees it. The device no longer has an
 * observer. */
static void detach(struct tts_tracker *t, struct tts_attached **link)
{
    struct tts_attached *at = *link;
    tts_device_observe(at->device, NULL);
    if (t->holds > 0)
        tts_device_hold(at->device, false);
    *link = at->next;
    t->alloc->free(t->alloc->ctx, at, sizeof *at);
}

enum tts_status tts_tracker_detach(struct tts_tracker *t, struct tts_device *device,
                                   struct tts_error *err)
{
    if (!t || !device)
        return tts_error_set(err, TTS_E_INVALID, "the %s is NULL", t ? "device" : "tracker");
    tts_tracker_enter(t);
    struct tts_attached **link = &t->attached;
    while (*link && (*link)->device != device)
        link = &(*link)->next;
    enum tts_status status = TTS_OK;
    if (*link)
        detach(t, link);
    else
        status =
            tts_error_set(err, TTS_E_NOT_FOUND, "the device is not attached to this tracker");
    tts_tracker_leave(t);
    return status;
}

void tts_tracker_detach_all(struct tts_tracker *t)
{
    while (t->attached)
        detach(t, &t->attached);
}
