#include "plan/change.h"

#include "base/heap.h"
#include "plan/change_inside.h"
#include "plan/change_ladder.h"
#include "runtime/collective.h"
#include "runtime/tensor.h"

#include <assert.h>
#include <string.h>

enum { TRIES = 8, LEAST_PERCENT = 1 };

/* A search: the run that does not fit, and what was found so far. */
struct search {
    const struct tts_fit *fit;
    const struct tts_alloc *alloc;
    struct tts_fit_change found[TTS_FIT_CHANGES];
    size_t count;
    /* Parameters and the optimizer's state alone are too much: most likely nothing helps that
     * lowers activations. Then ladders are tried from the bottom, to know soon. */
    bool is_hopeless;
};

/* One that may be offered. */
struct candidate {
    struct tts_workload workload;
    struct tts_trial trial;
};

static int64_t less(uint64_t before, uint64_t after)
{
    return (int64_t)(before - after);
}

/* Adds a change, unless it neither fits nor saves at least LEAST_PERCENT of the peak. */
static void offer(struct search *s, enum tts_fit_change_kind kind,
                  const struct candidate *candidate, const char *device)
{
    const struct tts_fit *fit = s->fit;
    const struct tts_trial *trial = &candidate->trial;
    if (!trial->fits &&
        (trial->peak_bytes >= fit->peak_bytes ||
         fit->peak_bytes - trial->peak_bytes < (fit->peak_bytes + 99) / 100 * LEAST_PERCENT))
        return;
    assert(s->count < TTS_FIT_CHANGES);
    struct tts_fit_change *change = &s->found[s->count++];
    *change = (struct tts_fit_change){
        .kind = kind,
        .workload = candidate->workload,
        .device = device,
        .peak_bytes = trial->peak_bytes,
        .saves_bytes = less(fit->peak_bytes, trial->peak_bytes),
        .saves_activation_bytes = less(fit->kept_bytes, trial->kept_bytes),
        .fits = trial->fits,
    };
    tts_fit_change_describe(&fit->workload, change);
}

static enum tts_status try(const struct search *s, struct candidate *candidate,
                           struct tts_error *err)
{
    struct tts_trial_of of = {&candidate->workload, s->fit->chip, s->alloc};
    return tts_trial_run(&of, &candidate->trial, err);
}

/* --- ladders ---------------------------------------------------------------------------- */

static struct tts_ladder ladder_of(const struct search *s, const struct tts_workload *base,
                                   tts_ladder_step_fn step, const void *ctx)
{
    return (struct tts_ladder){.base = *base,
                               .chip = s->fit->chip,
                               .alloc = s->alloc,
                               .step = step,
                               .ctx = ctx,
                               .tries = TRIES,
                               .is_far = s->is_hopeless};
}

/* The best of a ladder, or its lowest rung when none fits. */
static enum tts_status find_best(struct tts_ladder *ladder, struct candidate *out,
                                 struct tts_error *err)
{
    assert(ladder->count > 0);
    enum tts_status status = tts_ladder_search(ladder, err);
    if (status != TTS_OK)
        return status;
    bool is_none = ladder->fits == 0;
    out->workload = tts_ladder_rung(ladder, is_none ? 0 : ladder->fits - 1);
    if (is_none)
        return tts_ladder_run(ladder, 0, &out->trial, err);
    out->trial = ladder->last;
    return TTS_OK;
}

static enum tts_status offer_best(struct search *s, enum tts_fit_change_kind kind,
                                  struct tts_ladder *ladder, struct tts_error *err)
{
    struct candidate best;
    if (ladder->count == 0)
        return TTS_OK;
    enum tts_status status = find_best(ladder, &best, err);
    if (status == TTS_OK)
        offer(s, kind, &best, NULL);
    return status;
}

/* --- a smaller batch, more micro steps -------------------------------------------------- */

struct batch_rungs {
    uint64_t batch, accumulate; /* as they are */
    struct tts_batches batches;
    size_t lowest; /* that has no more micro steps than there can be */
};

static void set_batch(const void *ctx, uint64_t idx, struct tts_workload *workload)
{
    const struct batch_rungs *rungs = ctx;
    workload->batch = rungs->batches.batch[rungs->lowest + idx];
    if (__builtin_mul_overflow(rungs->accumulate, rungs->batch / workload->batch,
                               &workload->accumulate))
        workload->accumulate = 0; /* refused */
}

/* The batches below the one of `base`. */
static struct tts_ladder batch_ladder(const struct search *s, struct batch_rungs *rungs,
                                      const struct tts_workload *base)
{
    rungs->batch = base->batch;
    rungs->accumulate = base->accumulate;
    tts_batches_init(&rungs->batches, base);
    rungs->lowest = 0;
    struct tts_ladder ladder = ladder_of(s, base, set_batch, rungs);
    for (; rungs->lowest + 1 < rungs->batches.count; rungs->lowest++) {
        struct tts_workload smallest = tts_ladder_rung(&ladder, 0);
        enum tts_workload_field field;
        if (tts_workload_check(&smallest, &field, NULL) == TTS_OK)
            break;
    }
    ladder.count = rungs->batches.count - 1 - rungs->lowest;
    return ladder;
}

static enum tts_status find_accumulate(struct search *s, struct tts_error *err)
{
    struct batch_rungs rungs;
    struct tts_ladder ladder = batch_ladder(s, &rungs, &s->fit->workload);
    return offer_best(s, TTS_FIT_CHANGE_ACCUMULATE, &ladder, err);
}

/* --- recompute, sequence, optimizer ----------------------------------------------------- */

static enum tts_status find_recompute(struct search *s, struct tts_error *err)
{
    struct candidate efficient = {.workload = s->fit->workload};
    if (efficient.workload.runner == TTS_RUNNER_MEMORY_EFFICIENT)
        return TTS_OK;
    efficient.workload.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    enum tts_status status = try(s, &efficient, err);
    if (status == TTS_OK)
        offer(s, TTS_FIT_CHANGE_RECOMPUTE, &efficient, NULL);
    return status;
}

static enum tts_status find_sequence(struct search *s, struct tts_error *err)
{
    struct tts_ladder ladder = ladder_of(s, &s->fit->workload, tts_ladder_sequence, NULL);
    ladder.count = (s->fit->workload.model.sequence - 1) / TTS_TILE_SIDE;
    return offer_best(s, TTS_FIT_CHANGE_SEQUENCE, &ladder, err);
}

/* The first that fits, in the order of what is lost; else the last, with the least state. Less
 * state is not always less: zeroed gradients may stay instead. */
static enum tts_status find_optimizer(struct search *s, struct tts_error *err)
{
    struct tts_optimizer_config lighter[TTS_LIGHTER_MAX];
    size_t count = tts_optimizer_lighter(s->fit->workload.optimizer, lighter);
    struct candidate other = {.workload = s->fit->workload};
    for (size_t i = 0; i < count && !other.trial.fits; i++) {
        other.workload.optimizer = lighter[i];
        enum tts_status status = try(s, &other, err);
        if (status != TTS_OK)
            return status;
    }
    if (count > 0)
        offer(s, TTS_FIT_CHANGE_OPTIMIZER, &other, NULL);
    return TTS_OK;
}

/* --- more chips ------------------------------------------------------------------------- */

/* Sets the next larger number of chips that divides the chips of the device and that the model
 * can be divided by. Returns false if there is none. */
static bool next_chips(const struct tts_fit *fit, struct tts_workload *workload)
{
    uint64_t chips = fit->chip->fact[TTS_FACT_CHIPS].value / workload->data_parallel;
    while (++workload->tensor_parallel <= chips && workload->tensor_parallel <= TTS_CHIPS_MAX) {
        enum tts_workload_field field;
        if (chips % workload->tensor_parallel == 0 &&
            workload->tensor_parallel != fit->workload.tensor_parallel &&
            tts_workload_check(workload, &field, NULL) == TTS_OK)
            return true;
    }
    return false;
}

/* Tries more chips than the run has; if the device has too few for the run, as many as it has.
 */
static enum tts_status find_chips(struct search *s, struct tts_error *err)
{
    struct candidate best, next = {.workload = s->fit->workload};
    bool any = false;
    if (!tts_fit_has_chips(&s->fit->workload, s->fit->chip))
        next.workload.tensor_parallel = 0;
    while (!(any && best.trial.fits) && next_chips(s->fit, &next.workload)) {
        enum tts_status status = try(s, &next, err);
        if (status != TTS_OK)
            return status;
        best = next;
        any = true;
    }
    if (any)
        offer(s, TTS_FIT_CHANGE_TENSOR_PARALLEL, &best, NULL);
    return TTS_OK;
}

/* --- a larger device -------------------------------------------------------------------- */

struct device {
    const char *name; /* NULL: there is none */
    struct tts_chip chip;
    uint64_t bytes; /* of DRAM */
};

/* Finds the preset with the least DRAM above that of *device; of one chip, or, for a run on
 * several, with as many. */
static bool next_device(struct device *device, uint64_t chips)
{
    struct device next = {.name = NULL}, other;
    struct tts_pool_layout dram;
    const struct tts_preset *preset;
    for (size_t i = 0; (preset = tts_preset_at(i)) != NULL; i++) {
        if (tts_chip_preset(preset->name, &other.chip, NULL) != TTS_OK ||
            tts_fit_dram(&other.chip, &dram, NULL) != TTS_OK ||
            other.chip.fact[TTS_FACT_CHIPS].value < chips ||
            (chips == 1 && other.chip.fact[TTS_FACT_CHIPS].value > 1))
            continue;
        other.name = preset->name;
        other.bytes = dram.bank_bytes * dram.banks;
        if (other.bytes > device->bytes && (!next.name || other.bytes < next.bytes))
            next = other;
    }
    if (next.name)
        *device = next;
    return next.name != NULL;
}

static enum tts_status find_device(struct search *s, struct tts_error *err)
{
    const struct tts_fit *fit = s->fit;
    bool has_chips = tts_fit_has_chips(&fit->workload, fit->chip);
    struct device device = {.bytes = has_chips ? fit->capacity_bytes : 0};
    struct tts_pool_layout plain;
    /* If facts of the card were set, the same preset does not help. */
    if (has_chips && tts_chip_preset(fit->chip->name, &device.chip, NULL) == TTS_OK &&
        tts_fit_dram(&device.chip, &plain, NULL) == TTS_OK &&
        plain.bank_bytes * plain.banks > device.bytes)
        device.bytes = plain.bank_bytes * plain.banks;
    struct candidate same = {fit->workload,
                             {.peak_bytes = fit->peak_bytes, .kept_bytes = fit->kept_bytes}};
    while (!same.trial.fits && next_device(&device, tts_fit_chips(&fit->workload))) {
        if (fit->peak_bytes > device.bytes)
            continue; /* no need to run it */
        struct tts_trial_of of = {&fit->workload, &device.chip, s->alloc};
        enum tts_status status = tts_trial_run(&of, &same.trial, err);
        if (status != TTS_OK)
            return status;
    }
    if (device.name)
        offer(s, TTS_FIT_CHANGE_DEVICE, &same, device.name);
    return TTS_OK;
}

/* --- several at once -------------------------------------------------------------------- */

/* The largest batch with which out->workload fits, if there is one: out->trial says. Its own
 * is tried apart, since gradients may not have to live through a forward pass with it. */
static enum tts_status try_batches(const struct search *s, bool own, struct candidate *out,
                                   struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    out->trial.fits = false;
    if (own)
        status = try(s, out, err);
    struct batch_rungs rungs;
    struct tts_ladder ladder = batch_ladder(s, &rungs, &out->workload);
    if (status != TTS_OK || out->trial.fits || ladder.count == 0)
        return status;
    ladder.is_far = true;
    return find_best(&ladder, out, err);
}

/* The first optimizer with which it fits, in the order of what is lost. */
static enum tts_status try_optimizers(const struct search *s, const struct tts_workload *base,
                                      bool own, struct candidate *best, struct tts_error *err)
{
    struct tts_optimizer_config lighter[TTS_LIGHTER_MAX];
    size_t count = tts_optimizer_lighter(base->optimizer, lighter);
    enum tts_status status = TTS_OK;
    for (size_t i = 0; i < count && status == TTS_OK && !best->trial.fits; i++) {
        best->workload = *base;
        best->workload.optimizer = lighter[i];
        status = try_batches(s, own, best, err);
    }
    return status;
}

static bool has_fitting(const struct search *s, enum tts_fit_change_kind kind)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->found[i].kind == kind && s->found[i].fits)
            return true;
    return false;
}

/* Returns whether a change was found that fits and leaves the sequence as it is. */
static bool fits_with_sequence(const struct search *s)
{
    static const enum tts_fit_change_kind kinds[] = {
        TTS_FIT_CHANGE_ACCUMULATE, TTS_FIT_CHANGE_RECOMPUTE, TTS_FIT_CHANGE_TENSOR_PARALLEL,
        TTS_FIT_CHANGE_TOGETHER, TTS_FIT_CHANGE_OPTIMIZER};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (has_fitting(s, kinds[i]))
            return true;
    return false;
}

/* Recompute with a smaller batch, where neither does alone. */
static enum tts_status find_both(struct search *s, struct tts_error *err)
{
    struct candidate both = {.workload = s->fit->workload};
    if (s->is_hopeless || both.workload.runner == TTS_RUNNER_MEMORY_EFFICIENT ||
        has_fitting(s, TTS_FIT_CHANGE_ACCUMULATE) || has_fitting(s, TTS_FIT_CHANGE_RECOMPUTE))
        return TTS_OK;
    both.workload.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    enum tts_status status = try_batches(s, false, &both, err);
    if (status == TTS_OK && both.trial.fits)
        offer(s, TTS_FIT_CHANGE_TOGETHER, &both, NULL);
    return status;
}

/* All chips of the device and recompute, with a smaller batch if it must be. */
static enum tts_status find_chips_both(struct search *s, struct tts_error *err)
{
    const struct tts_fit *fit = s->fit;
    struct candidate both = {.workload = fit->workload};
    struct tts_workload next = fit->workload;
    if (fits_with_sequence(s))
        return TTS_OK;
    while (next_chips(fit, &next))
        both.workload = next;
    if (both.workload.tensor_parallel == fit->workload.tensor_parallel ||
        (both.workload.batch == both.workload.data_parallel &&
         both.workload.runner == TTS_RUNNER_MEMORY_EFFICIENT))
        return TTS_OK;
    both.workload.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    enum tts_status status = try_batches(s, true, &both, err);
    if (status == TTS_OK && both.trial.fits)
        offer(s, TTS_FIT_CHANGE_TOGETHER, &both, NULL);
    return status;
}

/* With a lighter optimizer too, where nothing that leaves the context alone does. */
static enum tts_status find_all(struct search *s, struct tts_error *err)
{
    struct candidate best = {.workload = s->fit->workload};
    bool was_default = best.workload.runner == TTS_RUNNER_DEFAULT;
    if (fits_with_sequence(s))
        return TTS_OK;
    best.workload.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    struct tts_workload base = best.workload;
    enum tts_status status = try_optimizers(s, &base, was_default, &best, err);
    if (status == TTS_OK && best.trial.fits)
        offer(s, TTS_FIT_CHANGE_TOGETHER, &best, NULL);
    return status;
}

/* Moves the changes that fit to the front; the order of cost stays within both groups. */
static void put_fitting_first(const struct search *s, struct tts_fit_change *out)
{
    size_t at = 0;
    for (int fits = 1; fits >= 0; fits--)
        for (size_t i = 0; i < s->count; i++)
            if (s->found[i].fits == (fits == 1))
                out[at++] = s->found[i];
}

enum tts_status tts_fit_change_find(const struct tts_fit *fit, const struct tts_alloc *alloc,
                                    struct tts_fit_change out[TTS_FIT_CHANGES], size_t *count,
                                    struct tts_error *err)
{
    static enum tts_status (*const finders[])(struct search *, struct tts_error *) = {
        find_accumulate, find_recompute, find_both, find_chips, find_chips_both,
        find_sequence,   find_optimizer, find_all,  find_device};
    static enum tts_status (*const chip_finders[])(struct search *, struct tts_error *) = {
        find_chips, find_device};
    bool has_chips = tts_fit_has_chips(&fit->workload, fit->chip);
    size_t finder_count = has_chips ? sizeof finders / sizeof finders[0]
                                    : sizeof chip_finders / sizeof chip_finders[0];
    struct search search = {.fit = fit, .alloc = alloc ? alloc : tts_alloc_libc()};
    search.is_hopeless = strstr(fit->placement.first.phase, "CREATION") != NULL;
    enum tts_status status = TTS_OK;
    for (size_t i = 0; i < finder_count && status == TTS_OK && !tts_fit_fits(fit); i++)
        status = (has_chips ? finders : chip_finders)[i](&search, err);
    if (status != TTS_OK)
        return status;
    put_fitting_first(&search, out);
    *count = search.count;
    return TTS_OK;
}
