/* whatif_buffers.c: the buffers of a recording on the modelled devices. */
#include "analysis/whatif_inside.h"
#include "base/error.h"
#include "device/devicepools.h"
#include "model/fold.h"

#include <assert.h>
#include <stdio.h>

static enum tts_status give(struct tts_whatif *whatif, uint32_t place, struct tts_error *err)
{
    struct tts_whatif_entry *entry = &whatif->table.entries[place];
    if (entry->buffer.block_bytes > 0) {
        struct tts_whatif_model *model = &whatif->models[entry->model];
        enum tts_status status = tts_device_release(model->device, &entry->buffer);
        assert(status == TTS_OK || status == TTS_E_NOMEM); /* the table has what is there */
        if (status != TTS_OK)
            return tts_error_set(err, status, "out of memory");
        model->fill[entry->buffer.pool].bytes -= entry->buffer.block_bytes;
        if (entry->is_trace)
            model->trace_bytes -= entry->buffer.size_bytes;
    }
    if (entry->is_step)
        tts_whatif_keep(whatif, &(struct tts_whatif_step){.kind = TTS_WHATIF_STEP_GIVE,
                                                          .place = place,
                                                          .model = (uint8_t)entry->model});
    tts_whatif_table_remove(&whatif->table, place);
    return TTS_OK;
}

static void count_taken(struct tts_whatif_model *model, const struct tts_buffer *buffer,
                        uint64_t seq)
{
    struct tts_whatif_fill *fill = &model->fill[buffer->pool];
    fill->bytes += buffer->block_bytes;
    if (fill->bytes > fill->peak_bytes) {
        fill->peak_bytes = fill->bytes;
        fill->peak_seq = seq;
    }
}

static void count_trace(struct tts_whatif_model *model, const struct tts_buffer *buffer)
{
    if (buffer->block_bytes == 0)
        return;
    model->trace_bytes += buffer->size_bytes;
    if (model->trace_bytes > model->trace_peak_bytes)
        model->trace_peak_bytes = model->trace_bytes;
}

/* What was asked for cannot be at all: it has an entry, so that its free is known, and no
 * bytes. */
static void cannot_be(struct tts_whatif *whatif, const struct tts_event *event,
                      const struct tts_whatif_moment *when, const struct tts_error *why,
                      size_t model)
{
    bool by_cores = why->status == TTS_E_RANGE;
    if (why->status == TTS_E_NOT_FOUND) {
        whatif->counts.no_pool++;
        return;
    }
    struct tts_whatif_failure failure = {.kind =
                                             by_cores ? TTS_WHATIF_CORES : TTS_WHATIF_REQUEST,
                                         .pool = event->pool,
                                         .id = event->id,
                                         .size_bytes = event->size_bytes};
    snprintf(failure.text, sizeof failure.text, "%s", why->text);
    whatif->counts.failed_cores += by_cores;
    whatif->counts.failed_requests += !by_cores;
    tts_whatif_note(whatif, when, &failure, model);
}

static void was_refused(struct tts_whatif *whatif, const struct tts_event *event,
                        const struct tts_whatif_moment *when, size_t model)
{
    const struct tts_failure *why = tts_device_failure(whatif->models[model].device);
    struct tts_whatif_failure failure = {.kind = TTS_WHATIF_REFUSED,
                                         .pool = why->pool,
                                         .id = event->id,
                                         .size_bytes = event->size_bytes,
                                         .failure = *why};
    whatif->counts.failed_buffers++;
    whatif->models[model].trace_failures +=
        why->kind == TTS_FAILURE_TRACE_OVERLAP || why->pool == TTS_POOL_TRACE;
    whatif->counts.fragmented +=
        why->kind == TTS_FAILURE_SPACE && why->block_bytes <= why->free_bytes;
    tts_whatif_note(whatif, when, &failure, model);
}

static void keep_take(struct tts_whatif *whatif, const struct tts_event *event,
                      const struct tts_request *request, uint32_t place)
{
    struct tts_whatif_entry *entry = &whatif->table.entries[place];
    struct tts_whatif_step step = {
        .size_bytes = request->size_bytes,
        .page_bytes = request->page_bytes,
        .place = place,
        .cores = request->shard ? (uint16_t)event->cores : 0,
        .model = (uint8_t)entry->model,
        .kind = TTS_WHATIF_STEP_TAKE,
        .placement = request->placement & 3,
    };
    if (entry->is_trace) {
        step.kind = TTS_WHATIF_STEP_TRACE;
        step.size_bytes = event->size_bytes;
    } else if (entry->buffer.pool == TTS_POOL_L1_SMALL) {
        step.kind = TTS_WHATIF_STEP_SMALL;
        step.size_bytes = request->page_bytes;
        step.cores = 1; /* a bank gives up the same on any number of cores */
    } else if (entry->buffer.pool != TTS_POOL_DRAM) {
        return;
    }
    tts_whatif_keep(whatif, &step);
    entry->is_step = true;
}

/* Asks the modelled device. Traces go where it has room for them. */
static enum tts_status ask(struct tts_whatif *whatif, const struct tts_event *event,
                           struct tts_whatif_request *request, size_t model,
                           struct tts_buffer *out, struct tts_error *err)
{
    struct tts_device *device = whatif->models[model].device;
    *request = (struct tts_whatif_request){0};
    enum tts_status status = TTS_OK;
    if (event->pool != TTS_POOL_TRACE)
        status = tts_whatif_map(event, &whatif->chip, request, err);
    if (status != TTS_OK)
        return status;
    status = event->pool == TTS_POOL_TRACE
                 ? tts_device_alloc_trace(device, event->size_bytes, out, err)
                 : tts_device_alloc(device, &request->request, out, err);
    if (status == TTS_E_RANGE) /* of the device it means: past 64 bits */
        status = err->status = TTS_E_INVALID;
    return status;
}

static enum tts_status take(struct tts_whatif *whatif, const struct tts_event *event,
                            const struct tts_whatif_moment *when, uint32_t place,
                            struct tts_error *err)
{
    struct tts_whatif_entry *entry = &whatif->table.entries[place];
    struct tts_whatif_request request;
    struct tts_buffer buffer = {0};
    struct tts_error why = {0};
    size_t model = entry->model;
    struct tts_device *device = whatif->models[model].device;
    uint64_t failures = tts_device_failures(device);
    enum tts_status status = ask(whatif, event, &request, model, &buffer, &why);
    if (status == TTS_E_NOMEM)
        return tts_error_set(err, status, "out of memory");
    if (status != TTS_OK) {
        cannot_be(whatif, event, when, &why, model);
        return TTS_OK;
    }
    whatif->counts.unknown_pages += request.page_is_unknown;
    whatif->counts.padded += request.is_padded && !request.page_is_unknown;
    if (tts_device_failures(device) > failures)
        was_refused(whatif, event, when, model); /* before it is among what lives */
    entry->buffer = buffer;
    entry->is_trace = event->pool == TTS_POOL_TRACE;
    if (entry->is_trace)
        count_trace(&whatif->models[model], &buffer);
    count_taken(&whatif->models[model], &buffer, when->seq);
    keep_take(whatif, event, &request.request, place);
    return TTS_OK;
}

enum tts_status tts_whatif_allocate(struct tts_whatif *whatif, const struct tts_event *event,
                                    size_t source, const struct tts_whatif_moment *when,
                                    struct tts_error *err)
{
    size_t model;
    uint32_t place = tts_whatif_table_find(&whatif->table, event->device, event->id);
    if (event->size_bytes == 0)
        return TTS_OK;
    enum tts_status status = tts_whatif_model_of(whatif, source, &model, err);
    if (status != TTS_OK)
        return status;
    tts_whatif_run_programs(whatif, model);
    if (place != TTS_WHATIF_NONE) /* its free was not told */
        status = give(whatif, place, err);
    if (status == TTS_OK)
        status = tts_whatif_table_add(&whatif->table, event->device, event->id, &place, err);
    if (status != TTS_OK)
        return status;
    struct tts_whatif_entry *entry = &whatif->table.entries[place];
    entry->seq = when->seq;
    entry->op = when->op;
    entry->model = (uint16_t)model;
    if (event->range_count > 0) {
        whatif->counts.single_core++;
        return TTS_OK;
    }
    return take(whatif, event, when, place, err);
}

enum tts_status tts_whatif_release(struct tts_whatif *whatif, const struct tts_event *event,
                                   struct tts_error *err)
{
    uint32_t place = tts_whatif_table_find(&whatif->table, event->device, event->id);
    if (place == TTS_WHATIF_NONE) {
        whatif->counts.unknown_frees++;
        return TTS_OK;
    }
    tts_whatif_run_programs(whatif, whatif->table.entries[place].model);
    return give(whatif, place, err);
}

enum tts_status tts_whatif_retry(struct tts_whatif *whatif, const struct tts_event *event,
                                 size_t source, const struct tts_whatif_moment *when,
                                 struct tts_error *err)
{
    const struct tts_failure *was = event->failure;
    struct tts_event again = {.kind = TTS_EVENT_ALLOC,
                              .device = event->device,
                              .pool = TTS_POOL_DRAM,
                              .id = TTS_WHATIF_NO_ID,
                              .size_bytes = was->requested_bytes};
    whatif->counts.refused++;
    if (was->kind != TTS_FAILURE_SPACE || was->pool != TTS_POOL_DRAM ||
        was->requested_bytes == 0 || was->requested_bytes > TTS_EVENT_SIZE_MAX ||
        tts_whatif_table_find(&whatif->table, again.device, again.id) != TTS_WHATIF_NONE)
        return TTS_OK;
    whatif->counts.retried++;
    enum tts_status status = tts_whatif_allocate(whatif, &again, source, when, err);
    return status == TTS_OK ? tts_whatif_release(whatif, &again, err) : status;
}

enum tts_status tts_whatif_begin_trace(struct tts_whatif *whatif, size_t source,
                                       struct tts_error *err)
{
    size_t model;
    enum tts_status status = tts_whatif_model_of(whatif, source, &model, err);
    if (status != TTS_OK)
        return status;
    tts_device_trace_begin(whatif->models[model].device);
    if (!tts_device_pool(whatif->models[model].device, TTS_POOL_TRACE))
        tts_whatif_keep(whatif, &(struct tts_whatif_step){.kind = TTS_WHATIF_STEP_CAPTURE,
                                                          .model = (uint8_t)model});
    return TTS_OK;
}
