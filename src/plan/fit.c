#include "plan/fit.h"

#include "base/error.h"
#include "base/heap.h"
#include "capture/recorder_hook.h"
#include "plan/fit_follow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Limits of the tracker. The tracker learns the size of each freed buffer, so its counts are
 * right for any number of buffers. If more than LIVE_MAX buffers live at once, it does not know
 * which operations made the others. */
enum { LIVE_MAX = 1 << 16, DEVICES_MAX = 2, OPS_MAX = 256 };

/* A result, and the data needed to free it. */
struct owned {
    struct tts_fit fit;
    const struct tts_alloc *alloc;
    size_t part_capacity;
};

/* The objects that exist while the workload runs. */
struct session {
    struct tts_device *device;
    struct tts_tracker *tracker;
    struct tts_recorder *recorder; /* NULL: no recording was asked for */
    struct tts_fit_follow follow;
};

/* --- the run ---------------------------------------------------------------------------- */

static enum tts_status open_session(struct session *s, const struct tts_fit_config *config,
                                    struct owned *owned, struct tts_error *err)
{
    const struct tts_tracker_config limits = {
        .live_max = LIVE_MAX, .devices_max = DEVICES_MAX, .ops_max = OPS_MAX};
    enum tts_status status =
        tts_device_new(config->chip, &(struct tts_device_config){.mode = TTS_MODE_OVERCOMMIT},
                       owned->alloc, &s->device, err);
    if (status == TTS_OK)
        status = tts_tracker_new(&limits, owned->alloc, &s->tracker, err);
    if (status == TTS_OK && config->record_path)
        status = tts_recorder_begin_dram_only(
            s->tracker, &(struct tts_recorder_config){.path = config->record_path},
            &s->recorder, err);
    if (status == TTS_OK)
        status = tts_capture_new(s->tracker, &owned->fit.capture, err);
    if (status == TTS_OK)
        status = tts_capture_begin(owned->fit.capture, TTS_CAPTURE_NORMAL, err);
    return status;
}

/* Frees the session. Finishes the recording even after a failure. Returns the first error. */
static enum tts_status close_session(struct session *s, enum tts_status status,
                                     struct tts_error *err)
{
    struct tts_error why;
    enum tts_status ended = tts_recorder_end(s->recorder, NULL, &why);
    tts_tracker_free(s->tracker);
    tts_device_free(s->device);
    if (status != TTS_OK || ended == TTS_OK)
        return status;
    if (err)
        *err = why;
    return ended;
}

/* --- parts of the peak ----------------------------------------------------------------- */

/* The buffers that live at the peak: at first one entry per buffer, later one per group. */
struct heap_of_parts {
    const struct tts_alloc *alloc;
    struct tts_fit_part *parts;
    size_t count, capacity;
    bool is_out_of_memory;
};

static void add_part_buffer(void *ctx, const struct tts_part_buffer *buffer)
{
    struct heap_of_parts *heap = ctx;
    struct tts_fit_part *grown = NULL;
    if (!heap->is_out_of_memory)
        grown = tts_alloc_grow(heap->alloc, heap->parts, &heap->capacity, heap->count + 1,
                               sizeof *grown);
    heap->is_out_of_memory = !grown;
    if (!grown)
        return;
    heap->parts = grown;
    heap->parts[heap->count++] = (struct tts_fit_part){.part = buffer->part,
                                                       .layer = buffer->layer,
                                                       .op = buffer->op,
                                                       .bytes = buffer->size_bytes,
                                                       .buffers = 1};
}

static int by_part_group(const void *left, const void *right)
{
    const struct tts_fit_part *a = left, *b = right;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    if (a->layer != b->layer)
        return a->layer < b->layer ? -1 : 1;
    return strcmp(a->op ? a->op : "", b->op ? b->op : "");
}

static int by_part_bytes(const void *left, const void *right)
{
    const struct tts_fit_part *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return by_part_group(left, right);
}

/* Joins the entries of each group and sorts the groups by size. */
static void join_part_groups(struct heap_of_parts *heap)
{
    size_t groups = 0;
    qsort(heap->parts, heap->count, sizeof *heap->parts, by_part_group);
    for (size_t i = 0; i < heap->count; i++) {
        struct tts_fit_part *last = groups > 0 ? &heap->parts[groups - 1] : NULL;
        if (last && by_part_group(last, &heap->parts[i]) == 0) {
            last->bytes += heap->parts[i].bytes;
            last->buffers++;
        } else {
            heap->parts[groups++] = heap->parts[i];
        }
    }
    heap->count = groups;
    qsort(heap->parts, heap->count, sizeof *heap->parts, by_part_bytes);
}

/* Runs the workload up to the peak. The device places nothing: the live buffers depend on the
 * requests alone. */
static enum tts_status collect_parts(const struct tts_fit *fit, struct heap_of_parts *heap,
                                     struct tts_error *err)
{
    struct tts_device *device;
    enum tts_status status =
        tts_device_new(fit->chip, &(struct tts_device_config){.mode = TTS_MODE_NO_DISPATCH},
                       heap->alloc, &device, err);
    if (status != TTS_OK)
        return status;
    struct tts_workload_watch watch = {
        .ctx = heap, .look_at = fit->peak.allocation, .look = add_part_buffer};
    status = tts_workload_run(&fit->workload, device, &watch, heap->alloc, err);
    tts_device_free(device);
    if (status == TTS_OK && heap->is_out_of_memory)
        status = tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    return status;
}

/* Fills part_bytes, parts and part_count of the peak. */
static enum tts_status find_peak_parts(struct owned *owned, struct tts_error *err)
{
    struct heap_of_parts heap = {.alloc = owned->alloc};
    struct tts_fit_peak *peak = &owned->fit.peak;
    uint64_t bytes = 0;
    enum tts_status status = collect_parts(&owned->fit, &heap, err);
    peak->parts = heap.parts; /* freed with the result, also after a failure */
    owned->part_capacity = heap.capacity;
    if (status != TTS_OK)
        return status;
    if (heap.count > 0)
        join_part_groups(&heap);
    for (size_t i = 0; i < heap.count; i++) {
        assert((unsigned)heap.parts[i].part < TTS_PARTS);
        peak->part_bytes[heap.parts[i].part] += heap.parts[i].bytes;
        bytes += heap.parts[i].bytes;
    }
    assert(bytes == peak->bytes);
    (void)bytes;
    peak->part_count = heap.count;
    return TTS_OK;
}

/* --- the result ------------------------------------------------------------------------- */

bool tts_fit_steps_in_parts(const struct tts_workload *workload)
{
    enum tts_optimizer_kind kind = workload->optimizer.kind;
    return kind == TTS_OPTIMIZER_ADAMW_COMPOSITE ||
           (kind == TTS_OPTIMIZER_ADAMW && tts_recipe_is_v1(workload->recipe));
}

static bool is_fit_estimated(const struct tts_workload *workload)
{
    return workload->tensor_parallel > 1 || workload->data_parallel > 1 ||
           workload->kernel_binaries || workload->clip || tts_fit_steps_in_parts(workload);
}

static void fill_fit(struct tts_fit *fit, const struct tts_fit_follow *follow)
{
    assert(!tts_capture_is_active(fit->capture) && follow->is_first_over);
    assert(follow->live_bytes == 0 && !follow->peak_is_open && !follow->first_is_open);
    fit->parameters = tts_workload_parameters(&fit->workload);
    fit->parameter_bytes = tts_workload_parameter_bytes(&fit->workload);
    fit->peak_bytes = follow->peak.bytes;
    fit->first_peak_bytes = follow->first_peak_bytes;
    fit->later_peak_bytes = follow->later_peak_bytes;
    fit->final_bytes = follow->final_bytes;
    fit->kept_bytes = follow->kept_bytes;
    fit->peak = follow->peak;
    fit->placement = follow->placement;
    fit->capacity_bytes = fit->placement.bank_bytes * fit->placement.banks;
    fit->events = follow->events;
    fit->iterations = follow->iterations;
    fit->is_settled = follow->is_settled;
    fit->is_estimated = is_fit_estimated(&fit->workload);
}

static enum tts_status make_fit(struct owned *owned, const struct tts_fit_config *config,
                                struct tts_error *err)
{
    struct session session = {.device = NULL};
    enum tts_status status = open_session(&session, config, owned, err);
    session.follow =
        (struct tts_fit_follow){.tracker = session.tracker, .capture = owned->fit.capture};
    if (status == TTS_OK)
        status = tts_fit_follow_run(&session.follow, &owned->fit.workload, session.device,
                                    owned->alloc, err);
    status = close_session(&session, status, err);
    if (status != TTS_OK)
        return status;
    fill_fit(&owned->fit, &session.follow);
    if (config->parts)
        status = find_peak_parts(owned, err);
    return status;
}

/* --- life ------------------------------------------------------------------------------- */

enum tts_status tts_fit_new(const struct tts_workload *workload,
                            const struct tts_fit_config *config, const struct tts_alloc *alloc,
                            struct tts_fit **out, struct tts_error *err)
{
    struct tts_pool_layout dram;
    enum tts_workload_field field;
    enum tts_status status = tts_workload_check(workload, &field, err);
    if (status == TTS_OK)
        status = tts_fit_dram(config->chip, &dram, err);
    if (status != TTS_OK)
        return status;
    alloc = alloc ? alloc : tts_alloc_libc();
    struct owned *owned = alloc->alloc(alloc->ctx, sizeof *owned);
    if (!owned)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    *owned =
        (struct owned){.fit = {.workload = *workload, .chip = config->chip}, .alloc = alloc};
    owned->fit.inside = owned;
    status = make_fit(owned, config, err);
    if (status != TTS_OK)
        tts_fit_free(&owned->fit);
    else
        *out = &owned->fit;
    return status;
}

void tts_fit_free(struct tts_fit *fit)
{
    if (!fit)
        return;
    struct owned *owned = fit->inside;
    const struct tts_alloc *alloc = owned->alloc;
    tts_capture_free(fit->capture);
    if (fit->peak.parts)
        alloc->free(alloc->ctx, (void *)fit->peak.parts,
                    owned->part_capacity * sizeof *fit->peak.parts);
    alloc->free(alloc->ctx, owned, sizeof *owned);
}

bool tts_fit_fits(const struct tts_fit *fit)
{
    return fit->placement.failures == 0 && tts_fit_has_chips(&fit->workload, fit->chip);
}

uint64_t tts_fit_chips(const struct tts_workload *workload)
{
    uint64_t chips;
    if (__builtin_mul_overflow(workload->tensor_parallel, workload->data_parallel, &chips))
        return UINT64_MAX;
    return chips;
}

bool tts_fit_has_chips(const struct tts_workload *workload, const struct tts_chip *chip)
{
    return tts_fit_chips(workload) <= chip->fact[TTS_FACT_CHIPS].value;
}

enum tts_status tts_fit_dram(const struct tts_chip *chip, struct tts_pool_layout *out,
                             struct tts_error *err)
{
    struct tts_pool_layout layout;
    enum tts_status status = tts_chip_pool(chip, TTS_POOL_DRAM, &layout, err);
    if (status != TTS_OK)
        return status;
    if (layout.bank_bytes == 0)
        return tts_error_set(err, TTS_E_NOT_FOUND, "'%.31s' has no DRAM: choose another device",
                             chip->name);
    *out = layout;
    return TTS_OK;
}
