#include "analysis/whatif.h"

#include "analysis/whatif_inside.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/seed.h"
#include "model/fold.h"

#include <assert.h>
#include <string.h>

enum { NAMES_MAX = 8192 };

/* --- life ------------------------------------------------------------------------------- */

enum tts_status tts_whatif_new_device(const struct tts_whatif *whatif,
                                      const struct tts_chip *chip, enum tts_mode mode,
                                      struct tts_device **out, struct tts_error *err)
{
    struct tts_device_config config = {.mode = mode};
    return tts_device_new(chip, &config, whatif->alloc, out, err);
}

enum tts_status tts_whatif_new(const struct tts_whatif_config *config,
                               const struct tts_alloc *alloc, struct tts_whatif **out,
                               struct tts_error *err)
{
    struct tts_device *probe;
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_whatif *whatif = alloc->alloc(alloc->ctx, sizeof *whatif);
    if (!whatif)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    memset(whatif, 0, sizeof *whatif);
    whatif->alloc = whatif->table.alloc = whatif->table.by_key.alloc = alloc;
    whatif->chip = *config->chip;
    whatif->dram_only = config->dram_only;
    whatif->steps.is_kept = config->keeps_steps;
    whatif->table.seed = tts_seed();
    /* Whether there can be one is said now, not at the first event. */
    enum tts_status status =
        tts_whatif_new_device(whatif, &whatif->chip, TTS_MODE_OVERCOMMIT, &probe, err);
    if (status == TTS_OK) {
        tts_device_free(probe);
        status = tts_opnames_new(NAMES_MAX, alloc, &whatif->names);
        if (status != TTS_OK)
            tts_error_set(err, status, "out of memory");
    }
    if (status != TTS_OK) {
        tts_whatif_free(whatif);
        return status;
    }
    *out = whatif;
    return TTS_OK;
}

void tts_whatif_free(struct tts_whatif *whatif)
{
    if (!whatif)
        return;
    const struct tts_alloc *alloc = whatif->alloc;
    for (size_t i = 0; i < whatif->model_count; i++)
        tts_device_free(whatif->models[i].device);
    for (size_t i = 0; i < whatif->source_count; i++)
        tts_whatif_source_release(whatif, &whatif->sources[i]);
    tts_whatif_table_release(&whatif->table);
    tts_whatif_drop_steps(whatif);
    if (whatif->before)
        alloc->free(alloc->ctx, whatif->before,
                    whatif->before_capacity * sizeof *whatif->before);
    tts_opnames_free(whatif->names);
    alloc->free(alloc->ctx, whatif, sizeof *whatif);
}

/* --- devices ---------------------------------------------------------------------------- */

enum tts_status tts_whatif_source_of(struct tts_whatif *whatif, uint32_t id, size_t *out,
                                     struct tts_error *err)
{
    size_t count = whatif->source_count;
    for (size_t i = 0; i < count; i++)
        if (whatif->sources[i].id == id) {
            *out = i;
            return TTS_OK;
        }
    if (count == TTS_WHATIF_DEVICES_MAX)
        return tts_error_set(err, TTS_E_RANGE, "more than %d devices", TTS_WHATIF_DEVICES_MAX);
    whatif->sources[count] = (struct tts_whatif_source){
        .id = id, .mesh = (uint16_t)count, .model = TTS_WHATIF_DEVICES_MAX};
    *out = count;
    whatif->source_count++;
    return TTS_OK;
}

enum tts_status tts_whatif_model_of(struct tts_whatif *whatif, size_t source, size_t *model,
                                    struct tts_error *err)
{
    struct tts_whatif_source *mesh = &whatif->sources[whatif->sources[source].mesh];
    if (mesh->model < TTS_WHATIF_DEVICES_MAX) {
        *model = mesh->model;
        return TTS_OK;
    }
    assert(whatif->model_count < TTS_WHATIF_DEVICES_MAX);
    struct tts_whatif_model *next = &whatif->models[whatif->model_count];
    enum tts_status status =
        tts_whatif_new_device(whatif, &whatif->chip, TTS_MODE_OVERCOMMIT, &next->device, err);
    if (status != TTS_OK)
        return status;
    next->id = mesh->id;
    mesh->model = (uint16_t)whatif->model_count;
    *model = whatif->model_count++;
    return TTS_OK;
}

static bool is_mesh(const struct tts_whatif *whatif, size_t source)
{
    for (size_t i = 0; i < whatif->source_count; i++)
        if (i != source && whatif->sources[i].mesh == source)
            return true;
    return false;
}

/* A mesh of meshes cannot be, and is passed over. */
static enum tts_status join(struct tts_whatif *whatif, const struct tts_item *item,
                            struct tts_error *err)
{
    size_t chip, mesh;
    enum tts_status status = tts_whatif_source_of(whatif, item->device, &chip, err);
    if (status == TTS_OK)
        status = tts_whatif_source_of(whatif, item->mesh, &mesh, err);
    if (status != TTS_OK)
        return status;
    if (chip == mesh || whatif->sources[mesh].mesh != mesh || is_mesh(whatif, chip))
        return TTS_OK;
    tts_whatif_run_all(whatif); /* its program is that of where it was */
    whatif->sources[chip].mesh = (uint16_t)mesh;
    return TTS_OK;
}

/* --- items ------------------------------------------------------------------------------ */

/* The name of an item's operation, as opnames.h counts it. */
uint32_t tts_whatif_op_of(struct tts_whatif *whatif, const struct tts_item *item)
{
    uint32_t op = tts_opnames_find(whatif->names, item->op.hash);
    if (op != TTS_OPNAMES_OTHER || !item->op.name)
        return op;
    tts_opnames_add(whatif->names, item->op.hash, item->op.name, item->op.name_len);
    return tts_opnames_find(whatif->names, item->op.hash);
}

static struct tts_whatif_moment moment_of(struct tts_whatif *whatif,
                                          const struct tts_item *item, uint32_t device)
{
    struct tts_whatif_moment when = {
        .seq = item->seq, .device = device, .op = tts_whatif_op_of(whatif, item)};
    when.has_time = item->has_time;
    when.time_ns = item->has_time ? item->time_ns : 0;
    return when;
}

/* Is it one that a run of DRAM alone needs? */
bool tts_whatif_matters(const struct tts_whatif *whatif, const struct tts_event *event)
{
    if (!whatif->dram_only)
        return true;
    if (event->kind == TTS_EVENT_ALLOC)
        return event->pool == TTS_POOL_DRAM || event->pool == TTS_POOL_TRACE;
    return event->kind == TTS_EVENT_FREE || event->kind == TTS_EVENT_TRACE_BEGIN ||
           event->kind == TTS_EVENT_FAILURE;
}

static enum tts_status run_event(struct tts_whatif *whatif, const struct tts_item *item,
                                 struct tts_error *err)
{
    const struct tts_event *event = &item->event;
    size_t source;
    enum tts_status status = tts_event_check(event, err);
    if (status != TTS_OK)
        return status;
    whatif->counts.events++;
    tts_item_follow_stop(item, &whatif->stop_seq);
    if (!tts_whatif_matters(whatif, event))
        return TTS_OK;
    if (event->kind == TTS_EVENT_OP_BEGIN || event->kind == TTS_EVENT_OP_END) {
        tts_whatif_run_all(whatif);
        return TTS_OK;
    }
    status = tts_whatif_source_of(whatif, event->device, &source, err);
    if (status != TTS_OK)
        return status;
    struct tts_whatif_moment when = moment_of(whatif, item, event->device);
    switch (event->kind) {
    case TTS_EVENT_ALLOC:
        whatif->counts.allocations++;
        return tts_whatif_allocate(whatif, event, source, &when, err);
    case TTS_EVENT_FREE:
        whatif->counts.frees++;
        return tts_whatif_release(whatif, event, err);
    case TTS_EVENT_PROGRAM:
        tts_whatif_program(whatif, source);
        return TTS_OK;
    case TTS_EVENT_CB:
    case TTS_EVENT_DFB:
    case TTS_EVENT_SCRATCHPAD:
        return tts_whatif_part(whatif, event, source, &when, err);
    case TTS_EVENT_TRACE_BEGIN:
        return tts_whatif_begin_trace(whatif, source, err);
    case TTS_EVENT_FAILURE:
        return tts_whatif_retry(whatif, event, source, &when, err);
    case TTS_EVENT_TRACE_END: /* the trace that it ended with has done so */
    case TTS_EVENT_OP_BEGIN:
    case TTS_EVENT_OP_END:
        break;
    }
    return TTS_OK;
}

enum tts_status tts_whatif_item(struct tts_whatif *whatif, const struct tts_item *item,
                                struct tts_error *err)
{
    switch (item->kind) {
    case TTS_ITEM_EVENT:
        return run_event(whatif, item, err);
    case TTS_ITEM_NAME:
        tts_whatif_op_of(whatif, item);
        return TTS_OK;
    case TTS_ITEM_CHIP:
        return join(whatif, item, err);
    case TTS_ITEM_MISSED:
        if (__builtin_add_overflow(whatif->counts.missed, item->count, &whatif->counts.missed))
            whatif->counts.missed = UINT64_MAX;
        return TTS_OK;
    case TTS_ITEM_LIVE:
        return tts_whatif_add_before(whatif, item, err);
    case TTS_ITEM_KEYFRAME_END:
        return tts_whatif_end_keyframe(whatif, err);
    case TTS_ITEM_BEGIN:
    case TTS_ITEM_CUT:
        tts_item_follow_stop(item, &whatif->stop_seq);
        return TTS_OK;
    case TTS_ITEM_KEYFRAME:
    case TTS_ITEM_PART: /* of a program that was looked at before */
    case TTS_ITEM_TRACING:
    case TTS_ITEM_ACTIVE:
    case TTS_ITEM_END:
        break;
    }
    return TTS_OK;
}

void tts_whatif_end(struct tts_whatif *whatif)
{
    tts_whatif_run_all(whatif);
}
