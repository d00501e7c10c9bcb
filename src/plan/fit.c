#include "plan/fit.h"

#include "base/error.h"
#include "base/heap.h"
#include "capture/recorder_hook.h"
#include "plan/fit_follow.h"

#include <assert.h>
#include <string.h>

/* A tracker that is told the sizes of what is freed counts right with any number of buffers;
 * of more than these at once it does not know which operation made them. */
enum { LIVE_MAX = 1 << 16, DEVICES_MAX = 2, OPS_MAX = 256 };

/* A result and what only its end needs. */
struct owned {
    struct tts_fit fit;
    const struct tts_alloc *alloc;
    size_t part_capacity;
};

/* What exists while the workload runs. */
struct session {
    struct tts_device *device;
    struct tts_tracker *tracker;
    struct tts_recorder *recorder; /* NULL: none is asked for */
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

/* The first of what went wrong is what is told; a recording is finished in any case. */
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

static enum tts_status run(struct session *s, struct owned *owned, struct tts_error *err)
{
    s->follow = (struct tts_fit_follow){.tracker = s->tracker, .capture = owned->fit.capture};
    tts_fit_follow_begin(&s->follow, s->device);
    struct tts_workload_watch watch = tts_fit_follow_watch(&s->follow);
    enum tts_status status =
        tts_workload_run(&owned->fit.workload, s->device, &watch, owned->alloc, err);
    if (status == TTS_OK)
        status = tts_fit_follow_end(&s->follow, s->device, err);
    else
        tts_device_observe(s->device, NULL);
    return status;
}

/* --- the result ------------------------------------------------------------------------- */

bool tts_fit_steps_in_parts(const struct tts_workload *workload)
{
    enum tts_optimizer_kind kind = workload->optimizer.kind;
    return kind == TTS_OPTIMIZER_ADAMW_COMPOSITE ||
           (kind == TTS_OPTIMIZER_ADAMW && tts_recipe_is_v1(workload->recipe));
}

static bool is_estimated(const struct tts_workload *workload)
{
    return workload->tensor_parallel > 1 || workload->data_parallel > 1 ||
           workload->kernel_binaries || workload->clip || tts_fit_steps_in_parts(workload);
}

static void fill(struct tts_fit *fit, const struct tts_fit_follow *follow)
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
    fit->is_estimated = is_estimated(&fit->workload);
}

static enum tts_status make(struct owned *owned, const struct tts_fit_config *config,
                            struct tts_error *err)
{
    struct session session = {.device = NULL};
    enum tts_status status = open_session(&session, config, owned, err);
    if (status == TTS_OK)
        status = run(&session, owned, err);
    status = close_session(&session, status, err);
    if (status != TTS_OK)
        return status;
    fill(&owned->fit, &session.follow);
    if (config->parts)
        status = tts_fit_find_parts(&owned->fit.workload, config->chip, owned->alloc,
                                    &owned->fit.peak, &owned->part_capacity, err);
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
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    *owned =
        (struct owned){.fit = {.workload = *workload, .chip = config->chip}, .alloc = alloc};
    owned->fit.inside = owned;
    status = make(owned, config, err);
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
