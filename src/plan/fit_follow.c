#include "plan/fit_follow.h"

#include "base/error.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* --- events for the tracker ------------------------------------------------------------- */

static void keep_post_failure(struct tts_fit_follow *f, enum tts_status status,
                              const struct tts_error *why)
{
    if (status == TTS_OK || f->status != TTS_OK)
        return;
    f->status = status;
    f->error = *why;
}

static void post_event(struct tts_fit_follow *f, const struct tts_event *event)
{
    struct tts_error why = {.text = ""};
    keep_post_failure(f, tts_tracker_post(f->tracker, event, &why), &why);
}

/* Posts the event that an attached tracker would fold. The tracker cannot be attached: a device
 * has only one observer, and that is the follower. */
static void post_buffer(struct tts_fit_follow *f, const struct tts_device_event *told)
{
    const struct tts_buffer *buffer = told->buffer;
    bool is_alloc = told->kind == TTS_DEVICE_ALLOC;
    struct tts_event event = tts_event_of(is_alloc ? TTS_EVENT_ALLOC : TTS_EVENT_FREE, 0);
    event.pool = buffer->pool;
    event.id = buffer->id;
    event.size_bytes = buffer->size_bytes;
    event.bytes_per_bank = buffer->bytes_per_bank;
    event.block_bytes = buffer->block_bytes;
    if (is_alloc) {
        assert(told->request && !told->request->shard && !told->request->distribution);
        assert(told->request->placement != TTS_PLACE_AT);
        event.has_address = buffer->placed;
        event.address = buffer->address;
        event.page_bytes = told->request->page_bytes;
        event.placement = told->request->placement;
    }
    post_event(f, &event);
}

/* --- counting --------------------------------------------------------------------------- */

/* Stores the free bytes of the DRAM. Queries are allowed while the device reports an event. */
static void note_dram_room(struct tts_fit_follow *f)
{
    struct tts_pool_stats stats;
    bool has_dram = tts_device_stats(f->device, TTS_POOL_DRAM, &stats);
    assert(has_dram);
    (void)has_dram;
    f->placement.free_bytes = stats.space.free_bytes;
    f->placement.largest_free_bytes = stats.space.largest_free_bytes;
}

static void note_peak(struct tts_fit_follow *f)
{
    uint64_t *of_iteration = f->is_first_over ? &f->later_peak_bytes : &f->first_peak_bytes;
    if (f->live_bytes > *of_iteration)
        *of_iteration = f->live_bytes;
    if (f->live_bytes <= f->peak.bytes)
        return;
    f->peak.bytes = f->live_bytes;
    f->peak.op = f->op;
    f->peak.layer = f->layer;
    f->peak.allocation = f->allocations;
    f->peak_is_open = true;
    if (f->placement.failures == 0)
        note_dram_room(f);
}

static void note_placement_failure(struct tts_fit_follow *f, const struct tts_failure *failure)
{
    if (f->placement.failures++ > 0)
        return;
    f->placement.first =
        (struct tts_fit_failure){.failure = *failure, .op = f->op, .layer = f->layer};
    f->first_is_open = true;
    note_dram_room(f);
}

static void count_buffer(struct tts_fit_follow *f, const struct tts_device_event *told)
{
    bool is_alloc = told->kind == TTS_DEVICE_ALLOC;
    uint64_t bytes = told->buffer->size_bytes;
    assert(told->buffer->pool == TTS_POOL_DRAM);
    f->events++;
    f->allocations += is_alloc;
    assert(!is_alloc || f->allocations == told->buffer->id);
    if (told->buffer->block_bytes == 0)
        return; /* the buffer takes no memory */
    if (is_alloc) {
        assert(bytes <= UINT64_MAX - f->live_bytes);
        f->live_bytes += bytes;
        note_peak(f);
    } else {
        assert(bytes <= f->live_bytes);
        f->live_bytes -= bytes;
    }
    if (tts_tracker_is_on(f->tracker))
        post_buffer(f, told);
}

static void on_device_event(void *ctx, const struct tts_device_event *told)
{
    struct tts_fit_follow *f = ctx;
    if (told->kind == TTS_DEVICE_ALLOC || told->kind == TTS_DEVICE_FREE) {
        count_buffer(f, told);
    } else if (told->kind == TTS_DEVICE_FAILURE) {
        /* The failure itself is not posted. The device reports the buffer next, as a buffer
         * without a place. A recording with both would make a replay refuse the buffer
         * twice. */
        note_placement_failure(f, told->failure);
    }
}

/* --- callbacks of the workload ---------------------------------------------------------- */

static void on_op_begin(void *ctx, const char *op, int32_t layer)
{
    struct tts_fit_follow *f = ctx;
    assert(op && !f->op);
    f->op = op;
    f->layer = layer;
    if (!tts_tracker_is_on(f->tracker))
        return;
    struct tts_event event = tts_event_of(TTS_EVENT_OP_BEGIN, 0);
    event.name = op;
    event.name_len = strlen(op);
    post_event(f, &event);
}

static void on_op_end(void *ctx)
{
    struct tts_fit_follow *f = ctx;
    assert(f->op);
    f->op = NULL;
    f->layer = TTS_LAYER_NONE;
    struct tts_event event = tts_event_of(TTS_EVENT_OP_END, 0);
    if (tts_tracker_is_on(f->tracker))
        post_event(f, &event);
}

static void name_open_phase(char out[32], bool *is_open, const char *name)
{
    if (*is_open)
        snprintf(out, 32, "%.31s", name);
    *is_open = false;
}

static void end_capture_phase(struct tts_fit_follow *f, const char *name, bool is_last)
{
    struct tts_error why = {.text = ""};
    if (!f->capture || f->is_first_over)
        return;
    keep_post_failure(f,
                      is_last ? tts_capture_end(f->capture, name, &why)
                              : tts_capture_snapshot(f->capture, name, &why),
                      &why);
}

static void on_workload_phase(void *ctx, const char *name)
{
    static const char forward[] = "FORWARD_PASS";
    struct tts_fit_follow *f = ctx;
    bool is_last = strcmp(name, TTS_PHASE_FIRST_ITERATION) == 0;
    name_open_phase(f->peak.phase, &f->peak_is_open, name);
    name_open_phase(f->placement.first.phase, &f->first_is_open, name);
    end_capture_phase(f, name, is_last);
    if (!f->is_forward_over && strncmp(name, forward, sizeof forward - 1) == 0) {
        f->is_forward_over = true;
        if (f->live_bytes > f->phase_start_bytes)
            f->kept_bytes = f->live_bytes - f->phase_start_bytes;
    }
    if (is_last) {
        f->is_first_over = true;
        f->final_bytes = f->later_peak_bytes = f->live_bytes;
    }
    f->iterations += f->is_first_over;
    f->phase_start_bytes = f->live_bytes;
}

static void on_workload_settled(void *ctx)
{
    struct tts_fit_follow *f = ctx;
    f->is_settled = true;
}

/* --- begin and end ---------------------------------------------------------------------- */

void tts_fit_follow_begin(struct tts_fit_follow *f, struct tts_device *device)
{
    assert(!tts_device_is_observed(device));
    f->device = device;
    f->layer = f->peak.layer = TTS_LAYER_NONE;
    tts_device_observe(device, &(struct tts_observer){.event = on_device_event, .ctx = f});
}

struct tts_workload_watch tts_fit_follow_watch(struct tts_fit_follow *f)
{
    return (struct tts_workload_watch){.ctx = f,
                                       .phase = on_workload_phase,
                                       .op_begin = on_op_begin,
                                       .op_end = on_op_end,
                                       .settled = on_workload_settled};
}

enum tts_status tts_fit_follow_end(struct tts_fit_follow *f, struct tts_device *device,
                                   struct tts_error *err)
{
    struct tts_pool_stats stats;
    const struct tts_pool_layout *layout = tts_device_layout(device, TTS_POOL_DRAM);
    assert(device == f->device && layout);
    tts_device_observe(device, NULL);
    if (f->status != TTS_OK) {
        if (err)
            *err = f->error;
        return f->status;
    }
    bool has_dram = tts_device_stats(device, TTS_POOL_DRAM, &stats);
    assert(has_dram && stats.failures == f->placement.failures);
    (void)has_dram;
    f->placement.banks = layout->banks;
    f->placement.bank_bytes = layout->bank_bytes;
    f->placement.peak_bank_bytes = stats.peak_bytes;
    return TTS_OK;
}

enum tts_status tts_fit_follow_run(struct tts_fit_follow *f,
                                   const struct tts_workload *workload,
                                   struct tts_device *device, const struct tts_alloc *alloc,
                                   struct tts_error *err)
{
    tts_fit_follow_begin(f, device);
    struct tts_workload_watch watch = tts_fit_follow_watch(f);
    enum tts_status status = tts_workload_run(workload, device, &watch, alloc, err);
    if (status == TTS_OK)
        return tts_fit_follow_end(f, device, err);
    tts_device_observe(device, NULL);
    return status;
}
