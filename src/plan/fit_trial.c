/* fit_trial.c: a run for nothing but its verdict. */
#include "base/error.h"
#include "plan/fit_follow.h"

#include <assert.h>

/* The second micro step is the first that has gradients before it; those behind it ask for the
 * same, so that a few show whether there is room. Where holes are wanders on, so that only a
 * whole run shows that all find a place: unless it has more steps than this, blocks counted. */
enum { SHORT_STEPS = 3, WHOLE_STEPS_MAX = 1 << 14 };

/* In TTS_MODE_PLACE it ends at the first refusal. */
static enum tts_status run_on_new(const struct tts_trial_of *of, enum tts_mode mode,
                                  uint64_t micro_steps, struct tts_trial *out,
                                  struct tts_error *err)
{
    struct tts_device *device = NULL;
    const struct tts_device_config config = {.mode = mode};
    struct tts_fit_follow follow = {.tracker = NULL};
    struct tts_workload workload = *of->workload;
    workload.accumulate = micro_steps;
    enum tts_status status = tts_device_new(of->chip, &config, of->alloc, &device, err);
    if (status == TTS_OK)
        status = tts_fit_follow_run(&follow, &workload, device, of->alloc, err);
    if (status == TTS_OK)
        *out = (struct tts_trial){.peak_bytes = follow.peak.bytes,
                                  .kept_bytes = follow.kept_bytes,
                                  .peak_bank_bytes = follow.placement.peak_bank_bytes,
                                  .fits = follow.placement.failures == 0};
    tts_device_free(device);
    return status;
}

static bool can_run_whole(const struct tts_workload *workload)
{
    return workload->accumulate <= SHORT_STEPS ||
           workload->accumulate <= WHOLE_STEPS_MAX / workload->model.blocks;
}

/* In overcommit mode a few steps say whether there is room, and only then all are run. */
static enum tts_status run_steps(const struct tts_trial_of *of, enum tts_mode mode,
                                 uint64_t bank_bytes, struct tts_trial *out,
                                 struct tts_error *err)
{
    uint64_t steps = of->workload->accumulate, few = steps < SHORT_STEPS ? steps : SHORT_STEPS;
    bool is_whole = mode != TTS_MODE_NO_DISPATCH && can_run_whole(of->workload);
    if (mode == TTS_MODE_PLACE && is_whole)
        return run_on_new(of, mode, steps, out, err);
    enum tts_status status = run_on_new(of, mode, few, out, err);
    if (status == TTS_OK && few < steps && is_whole && out->peak_bank_bytes <= bank_bytes)
        status = run_on_new(of, mode, steps, out, err);
    return status;
}

static enum tts_status run_in(const struct tts_trial_of *of, enum tts_mode mode,
                              struct tts_trial *out, struct tts_error *err)
{
    const struct tts_trial none = {.peak_bytes = UINT64_MAX, .peak_bank_bytes = UINT64_MAX};
    struct tts_pool_layout dram;
    struct tts_trial trial = none;
    enum tts_workload_field field;
    enum tts_status status = tts_fit_dram(of->chip, &dram, err);
    if (status != TTS_OK)
        return status;
    status = tts_workload_check(of->workload, &field, err);
    if (status == TTS_OK)
        status = run_steps(of, mode, dram.bank_bytes, &trial, err);
    if (status == TTS_E_NOMEM)
        return status;
    assert(status == TTS_OK || status == TTS_E_RANGE || status == TTS_E_INVALID ||
           status == TTS_E_FULL);
    trial.fits = trial.fits && tts_fit_has_chips(of->workload, of->chip);
    *out = status == TTS_OK ? trial : none;
    return TTS_OK;
}

enum tts_status tts_trial_run(const struct tts_trial_of *of, struct tts_trial *out,
                              struct tts_error *err)
{
    return run_in(of, TTS_MODE_OVERCOMMIT, out, err);
}

enum tts_status tts_trial_fits(const struct tts_trial_of *of, struct tts_trial *out,
                               struct tts_error *err)
{
    return run_in(of, TTS_MODE_PLACE, out, err);
}

enum tts_status tts_trial_has_room(const struct tts_trial_of *of, bool *out,
                                   struct tts_error *err)
{
    struct tts_pool_layout dram;
    struct tts_trial trial;
    enum tts_status status = run_in(of, TTS_MODE_NO_DISPATCH, &trial, err);
    if (status == TTS_OK)
        status = tts_fit_dram(of->chip, &dram, err);
    if (status == TTS_OK)
        *out = trial.peak_bank_bytes <= dram.bank_bytes;
    return status;
}
