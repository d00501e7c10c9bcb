#include "plan/change.h"

#include "base/compiler.h"
#include "base/error.h"
#include "base/heap.h"
#include "plan/fit_follow.h"
#include "runtime/collective.h"
#include "runtime/tensor.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* --- trials: does a workload fit? ------------------------------------------------------- */

struct trial_of {
    const struct tts_workload *workload;
    const struct tts_chip *chip;
    const struct tts_alloc *alloc;
};

struct trial {
    uint64_t peak_bytes; /* UINT64_MAX: the workload cannot be run */
    uint64_t kept_bytes;
    uint64_t peak_bank_bytes; /* bytes that every bank has to provide. UINT64_MAX: the workload
                                 cannot be run */
    bool has_room;            /* the workload would fit if memory were never fragmented */
    bool fits;                /* every buffer has a place, and the device has enough chips */
};

/* The second micro step is the first that starts with gradients. Later micro steps request the
 * same buffers, so a few steps show whether there is room. Free ranges move from step to step,
 * so only a full run shows that every buffer finds a place. Runs with more than WHOLE_STEPS_MAX
 * steps (micro steps x blocks) are not run in full. */
enum { SHORT_STEPS = 3, WHOLE_STEPS_MAX = 1 << 14 };

/* Runs `micro_steps` micro steps on a new device. In TTS_MODE_PLACE the run ends at the first
 * refusal. */
static enum tts_status run_trial_steps(const struct trial_of *of, enum tts_mode mode,
                                       uint64_t micro_steps, struct trial *out,
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
        *out = (struct trial){.peak_bytes = follow.peak.bytes,
                              .kept_bytes = follow.kept_bytes,
                              .peak_bank_bytes = follow.placement.peak_bank_bytes,
                              .fits = follow.placement.failures == 0};
    tts_device_free(device);
    return status;
}

static bool can_run_all_steps(const struct tts_workload *workload)
{
    return workload->accumulate <= SHORT_STEPS ||
           workload->accumulate <= WHOLE_STEPS_MAX / workload->model.blocks;
}

/* In overcommit mode, runs a few micro steps first, and all of them only if there is room. */
static enum tts_status run_few_then_all(const struct trial_of *of, enum tts_mode mode,
                                        uint64_t bank_bytes, struct trial *out,
                                        struct tts_error *err)
{
    uint64_t steps = of->workload->accumulate, few = steps < SHORT_STEPS ? steps : SHORT_STEPS;
    bool is_whole = mode != TTS_MODE_NO_DISPATCH && can_run_all_steps(of->workload);
    if (mode == TTS_MODE_PLACE && is_whole)
        return run_trial_steps(of, mode, steps, out, err);
    enum tts_status status = run_trial_steps(of, mode, few, out, err);
    if (status == TTS_OK && few < steps && is_whole && out->peak_bank_bytes <= bank_bytes)
        status = run_trial_steps(of, mode, steps, out, err);
    return status;
}

/* Runs a trial. TTS_MODE_OVERCOMMIT fills all of *out; if the first micro steps show that there
 * is no room, the rest is not run. TTS_MODE_PLACE is faster, but if the workload does not fit,
 * only `fits` is valid. TTS_MODE_NO_DISPATCH is the fastest and sets only `has_room`. A
 * workload that tts_workload_check() refuses does not fit.
 *
 * TTS_E_NOT_FOUND: the DRAM of the chip is unknown. TTS_E_NOMEM: out of memory. */
static enum tts_status run_trial(const struct trial_of *of, enum tts_mode mode,
                                 struct trial *out, struct tts_error *err)
{
    const struct trial none = {.peak_bytes = UINT64_MAX, .peak_bank_bytes = UINT64_MAX};
    struct tts_pool_layout dram;
    struct trial trial = none;
    enum tts_workload_field field;
    enum tts_status status = tts_fit_dram(of->chip, &dram, err);
    if (status != TTS_OK)
        return status;
    status = tts_workload_check(of->workload, &field, err);
    if (status == TTS_OK)
        status = run_few_then_all(of, mode, dram.bank_bytes, &trial, err);
    if (status == TTS_E_NOMEM)
        return status;
    assert(status == TTS_OK || status == TTS_E_RANGE || status == TTS_E_INVALID ||
           status == TTS_E_FULL);
    trial.has_room = trial.peak_bank_bytes <= dram.bank_bytes;
    trial.fits = trial.fits && tts_fit_has_chips(of->workload, of->chip);
    *out = status == TTS_OK ? trial : none;
    return TTS_OK;
}

/* --- ladders: workloads in ascending size ----------------------------------------------- */

/* Changes a copy of the base workload into rung `idx`. */
typedef void (*ladder_step_fn)(const void *ctx, uint64_t idx, struct tts_workload *workload);

struct ladder {
    /* Set by the caller. */
    struct tts_workload base;
    const struct tts_chip *chip;
    const struct tts_alloc *alloc;
    ladder_step_fn step;
    const void *ctx;
    uint64_t count; /* number of rungs */
    uint64_t tries; /* rungs tried one by one below the first rung that does not fit */
    bool is_far; /* the answer is probably near the bottom: double from there instead of halving
                  */
    /* Results. fits - 1 is the highest rung that is known to fit. 0: no rung fits. */
    uint64_t fits;
    struct trial last; /* trial of the rung fits - 1 */
};

/* Sets the sequence of rung `idx`: idx + 1 tiles. */
static void set_sequence_rung(const void *ctx, uint64_t idx, struct tts_workload *workload)
{
    (void)ctx;
    workload->model.sequence = (idx + 1) * TTS_TILE_SIDE;
}

static struct tts_workload ladder_rung(const struct ladder *l, uint64_t idx)
{
    struct tts_workload workload = l->base;
    l->step(l->ctx, idx, &workload);
    return workload;
}

static enum tts_status run_rung(const struct ladder *l, uint64_t idx, enum tts_mode mode,
                                struct trial *out, struct tts_error *err)
{
    struct tts_workload workload = ladder_rung(l, idx);
    struct trial_of of = {&workload, l->chip, l->alloc};
    return run_trial(&of, mode, out, err);
}

/* Rungs [0, good) are good. Rungs from `bad` on are not. */
struct border {
    uint64_t good, bad;
};

/* Judges rung `idx` and moves one end of *border. */
typedef enum tts_status (*judge_fn)(struct ladder *l, uint64_t idx, struct border *border,
                                    struct tts_error *err);

static enum tts_status judge_rung_room(struct ladder *l, uint64_t idx, struct border *border,
                                       struct tts_error *err)
{
    struct trial trial;
    enum tts_status status = run_rung(l, idx, TTS_MODE_NO_DISPATCH, &trial, err);
    if (status == TTS_OK && trial.has_room)
        border->good = idx + 1;
    else
        border->bad = idx;
    return status;
}

static enum tts_status judge_rung_fit(struct ladder *l, uint64_t idx, struct border *border,
                                      struct tts_error *err)
{
    struct trial trial;
    enum tts_status status = run_rung(l, idx, TTS_MODE_PLACE, &trial, err);
    if (status == TTS_OK && trial.fits) {
        border->good = l->fits = idx + 1;
        l->last = trial;
    } else {
        border->bad = idx;
    }
    return status;
}

static enum tts_status halve_ladder(struct ladder *l, judge_fn judge, struct border *border,
                                    struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    while (status == TTS_OK && border->good < border->bad)
        status = judge(l, border->good + (border->bad - border->good) / 2, border, err);
    return status;
}

/* Tries rungs 0, 1, 3, 7 and so on, until one is bad or more than half of the rungs are good.
 */
static enum tts_status climb_ladder(struct ladder *l, judge_fn judge, struct border *border,
                                    struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    uint64_t end = border->bad;
    while (status == TTS_OK && border->bad == end && border->good <= end / 2)
        status = judge(l, border->good == 0 ? 0 : 2 * border->good - 1, border, err);
    return status;
}

/* Finds the highest rung that fits. The bytes that a bank has to provide grow from rung to
 * rung, so a binary search finds the highest rung that has room. If that rung does not fit
 * because memory is fragmented, the `tries` rungs below are tried one by one. After them a
 * binary search continues, which can miss a higher rung that fits. Returns the errors of
 * run_trial(). */
static enum tts_status search_ladder(struct ladder *l, struct tts_error *err)
{
    struct border room = {0, l->count}, fit;
    enum tts_status status = TTS_OK;
    assert(l->count > 0 && l->fits == 0);
    if (l->is_far)
        status = climb_ladder(l, judge_rung_room, &room, err);
    if (status == TTS_OK)
        status = halve_ladder(l, judge_rung_room, &room, err);
    fit = (struct border){0, room.good};
    for (uint64_t i = 0; i < l->tries && fit.good < fit.bad && status == TTS_OK; i++)
        status = judge_rung_fit(l, fit.bad - 1, &fit, err);
    return status == TTS_OK ? halve_ladder(l, judge_rung_fit, &fit, err) : status;
}

/* --- choices ---------------------------------------------------------------------------- */

enum { ROOT_MAX = 1024 }; /* square root of the largest batch whose divisors are all found */

void tts_batches_init(struct tts_batches *batches, const struct tts_workload *workload)
{
    uint64_t chips = workload->data_parallel > 1 ? workload->data_parallel : 1;
    uint64_t samples = workload->batch / chips;
    size_t count = 0;
    assert(samples > 0);
    for (uint64_t d = 1; d <= ROOT_MAX && d <= samples / d && count < TTS_BATCHES_MAX / 2; d++)
        if (samples % d == 0)
            batches->batch[count++] = d;
    for (size_t i = count; i-- > 0;)
        if (samples / batches->batch[i] != batches->batch[count - 1])
            batches->batch[count++] = samples / batches->batch[i];
    for (size_t i = 0; i < count; i++)
        batches->batch[i] *= chips;
    batches->count = count;
    assert(count <= TTS_BATCHES_MAX);
}

/* Each optimizer in `out` gives up one more feature than the optimizer before. */
size_t tts_optimizer_lighter(struct tts_optimizer_config from,
                             struct tts_optimizer_config out[TTS_LIGHTER_MAX])
{
    struct tts_optimizer_config now = from;
    bool is_adamw = from.kind != TTS_OPTIMIZER_SGD && from.kind != TTS_OPTIMIZER_NONE;
    size_t count = 0;
    if (is_adamw && now.amsgrad) {
        now.amsgrad = false;
        out[count++] = now;
    }
    if (now.kind == TTS_OPTIMIZER_ADAMW_COMPOSITE && now.kahan) {
        now.kahan = false;
        out[count++] = now;
    }
    if (now.kind == TTS_OPTIMIZER_ADAMW_FULL_PRECISION) {
        now = (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_ADAMW};
        out[count++] = now;
    }
    if (is_adamw)
        out[count++] =
            (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_SGD, .momentum = true};
    if (is_adamw || (from.kind == TTS_OPTIMIZER_SGD && from.momentum))
        out[count++] = (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_SGD};
    assert(count <= TTS_LIGHTER_MAX);
    return count;
}

/* --- words ------------------------------------------------------------------------------ */

static void add_words(char text[TTS_FIT_CHANGE_TEXT_MAX], const char *between,
                      const char *format, ...) TTS_PRINTF(3, 4);

static void add_words(char text[TTS_FIT_CHANGE_TEXT_MAX], const char *between,
                      const char *format, ...)
{
    size_t len = strlen(text);
    if (len > 0)
        len += (size_t)snprintf(text + len, TTS_FIT_CHANGE_TEXT_MAX - len, "%s", between);
    assert(len < TTS_FIT_CHANGE_TEXT_MAX);
    va_list args;
    va_start(args, format);
    int added = vsnprintf(text + len, TTS_FIT_CHANGE_TEXT_MAX - len, format, args);
    va_end(args);
    assert(added >= 0 && (size_t)added < TTS_FIT_CHANGE_TEXT_MAX - len);
    (void)added;
}

#define ADD_OPTION(change, ...) add_words((change)->options, " ", __VA_ARGS__)

#define ADD_COST(change, ...) add_words((change)->cost, "; ", __VA_ARGS__)

static void describe_sgd(struct tts_optimizer_config from, struct tts_fit_change *change)
{
    bool momentum = change->workload.optimizer.momentum;
    if (from.kind == TTS_OPTIMIZER_SGD)
        ADD_OPTION(change, "--momentum 0");
    else
        ADD_OPTION(change, "--optimizer %s --momentum %s",
                   tts_optimizer_name(TTS_OPTIMIZER_SGD), momentum ? "0.9" : "0");
    const char *lost = from.kind == TTS_OPTIMIZER_SGD ? "momentum"
                       : momentum                     ? "second moment"
                                                      : "moments";
    ADD_COST(change, "no %s: training converges differently", lost);
    if (from.kind != TTS_OPTIMIZER_SGD && from.kind != TTS_OPTIMIZER_ADAMW_FULL_PRECISION)
        ADD_COST(change, "gradients stay allocated, as zeros");
}

static void describe_optimizer(struct tts_optimizer_config from, struct tts_fit_change *change)
{
    struct tts_optimizer_config to = change->workload.optimizer;
    if (to.kind == TTS_OPTIMIZER_SGD) {
        describe_sgd(from, change);
        return;
    }
    if (from.amsgrad && !to.amsgrad)
        ADD_COST(change, "no amsgrad");
    if (from.kahan && !to.kahan)
        ADD_COST(change, "no compensation of rounding");
    if (to.kind == from.kind)
        return;
    assert(from.kind == TTS_OPTIMIZER_ADAMW_FULL_PRECISION);
    ADD_OPTION(change, "--optimizer %s", tts_optimizer_name(to.kind));
    ADD_COST(change, "no fp32 master weights, moments in bf16");
}

static bool is_same_optimizer(struct tts_optimizer_config a, struct tts_optimizer_config b)
{
    return a.kind == b.kind && a.momentum == b.momentum && a.amsgrad == b.amsgrad &&
           a.kahan == b.kahan;
}

void tts_fit_change_describe(const struct tts_workload *from, struct tts_fit_change *change)
{
    const struct tts_workload *to = &change->workload;
    change->options[0] = change->cost[0] = '\0';
    if (to->batch != from->batch) {
        ADD_OPTION(change, "--batch %" PRIu64 " --accumulate %" PRIu64, to->batch,
                   to->accumulate);
        ADD_COST(change,
                 "%" PRIu64 " micro steps for each optimizer step, each with batch %" PRIu64,
                 to->accumulate, to->batch);
        if (from->accumulate == 1)
            ADD_COST(change, "gradients stay allocated between the micro steps");
    }
    if (to->runner != from->runner) {
        ADD_OPTION(change, "--runner %s", tts_runner_name(to->runner));
        ADD_COST(change, "one more forward pass in every step");
    }
    if (to->tensor_parallel != from->tensor_parallel) {
        ADD_OPTION(change, "--tensor-parallel %" PRIu64, to->tensor_parallel);
        if (to->tensor_parallel > 1)
            ADD_COST(change,
                     "%" PRIu64 " chips share the model and exchange sums in every block",
                     to->tensor_parallel);
        else
            ADD_COST(change, "one chip holds the whole model");
    }
    if (to->model.sequence != from->model.sequence) {
        ADD_OPTION(change, "--seq %" PRIu64, to->model.sequence);
        ADD_COST(change, "context of %" PRIu64 " tokens instead of %" PRIu64,
                 to->model.sequence, from->model.sequence);
    }
    if (!is_same_optimizer(to->optimizer, from->optimizer))
        describe_optimizer(from->optimizer, change);
    if (change->device) {
        ADD_OPTION(change, "--device %s", change->device);
        uint64_t chips = to->tensor_parallel * to->data_parallel;
        if (chips > 1)
            ADD_COST(change, "%" PRIu64 " chips of a %s", chips, change->device);
        else
            ADD_COST(change, "another card: %s", change->device);
    }
    assert(change->cost[0] != '\0');
}

const char *tts_fit_change_name(enum tts_fit_change_kind kind)
{
    static const char *const names[TTS_FIT_CHANGES] = {
        "accumulate", "recompute", "tensor_parallel", "sequence",
        "optimizer",  "device",    "together"};
    assert((unsigned)kind < TTS_FIT_CHANGES);
    return names[kind];
}

/* --- candidates ------------------------------------------------------------------------- */

enum { CHANGE_TRIES = 8, LEAST_PERCENT = 1 };

/* A search: the run that does not fit, and the changes found so far. */
struct search {
    const struct tts_fit *fit;
    const struct tts_alloc *alloc;
    struct tts_fit_change found[TTS_FIT_CHANGES];
    size_t count;
    /* Parameters and optimizer state alone do not fit, so changes that lower only activations
     * most likely do not help. Ladders are then climbed from the bottom, which finds this out
     * soon. */
    bool is_hopeless;
};

/* A change that may be offered, and its trial. */
struct candidate {
    struct tts_workload workload;
    struct trial trial;
};

static int64_t saved_bytes(uint64_t before, uint64_t after)
{
    return (int64_t)(before - after);
}

/* Adds a change if it makes the run fit, or saves at least LEAST_PERCENT of the peak. */
static void offer_change(struct search *s, enum tts_fit_change_kind kind,
                         const struct candidate *candidate, const char *device)
{
    const struct tts_fit *fit = s->fit;
    const struct trial *trial = &candidate->trial;
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
        .saves_bytes = saved_bytes(fit->peak_bytes, trial->peak_bytes),
        .saves_activation_bytes = saved_bytes(fit->kept_bytes, trial->kept_bytes),
        .fits = trial->fits,
    };
    tts_fit_change_describe(&fit->workload, change);
}

static enum tts_status try_candidate(const struct search *s, struct candidate *candidate,
                                     struct tts_error *err)
{
    struct trial_of of = {&candidate->workload, s->fit->chip, s->alloc};
    return run_trial(&of, TTS_MODE_OVERCOMMIT, &candidate->trial, err);
}

/* --- best rung of a ladder -------------------------------------------------------------- */

static struct ladder ladder_of(const struct search *s, const struct tts_workload *base,
                               ladder_step_fn step, const void *ctx)
{
    return (struct ladder){.base = *base,
                           .chip = s->fit->chip,
                           .alloc = s->alloc,
                           .step = step,
                           .ctx = ctx,
                           .tries = CHANGE_TRIES,
                           .is_far = s->is_hopeless};
}

/* Finds the best rung of a ladder, or the lowest rung if no rung fits. */
static enum tts_status find_best_rung(struct ladder *ladder, struct candidate *out,
                                      struct tts_error *err)
{
    assert(ladder->count > 0);
    enum tts_status status = search_ladder(ladder, err);
    if (status != TTS_OK)
        return status;
    bool is_none = ladder->fits == 0;
    out->workload = ladder_rung(ladder, is_none ? 0 : ladder->fits - 1);
    if (is_none)
        return run_rung(ladder, 0, TTS_MODE_OVERCOMMIT, &out->trial, err);
    out->trial = ladder->last;
    return TTS_OK;
}

static enum tts_status offer_best_rung(struct search *s, enum tts_fit_change_kind kind,
                                       struct ladder *ladder, struct tts_error *err)
{
    struct candidate best;
    if (ladder->count == 0)
        return TTS_OK;
    enum tts_status status = find_best_rung(ladder, &best, err);
    if (status == TTS_OK)
        offer_change(s, kind, &best, NULL);
    return status;
}

/* --- a smaller batch, more micro steps -------------------------------------------------- */

struct batch_rungs {
    uint64_t batch, accumulate; /* values of the workload before the change */
    struct tts_batches batches;
    size_t lowest; /* index of the smallest batch whose number of micro steps is allowed */
};

static void set_divisor_rung(const void *ctx, uint64_t idx, struct tts_workload *workload)
{
    const struct batch_rungs *rungs = ctx;
    workload->batch = rungs->batches.batch[rungs->lowest + idx];
    if (__builtin_mul_overflow(rungs->accumulate, rungs->batch / workload->batch,
                               &workload->accumulate))
        workload->accumulate = 0; /* tts_workload_check() refuses 0 */
}

/* Returns the ladder of the batches below the batch of `base`. */
static struct ladder batch_ladder(const struct search *s, struct batch_rungs *rungs,
                                  const struct tts_workload *base)
{
    rungs->batch = base->batch;
    rungs->accumulate = base->accumulate;
    tts_batches_init(&rungs->batches, base);
    rungs->lowest = 0;
    struct ladder ladder = ladder_of(s, base, set_divisor_rung, rungs);
    for (; rungs->lowest + 1 < rungs->batches.count; rungs->lowest++) {
        struct tts_workload smallest = ladder_rung(&ladder, 0);
        enum tts_workload_field field;
        if (tts_workload_check(&smallest, &field, NULL) == TTS_OK)
            break;
    }
    ladder.count = rungs->batches.count - 1 - rungs->lowest;
    return ladder;
}

static enum tts_status find_smaller_batch(struct search *s, struct tts_error *err)
{
    struct batch_rungs rungs;
    struct ladder ladder = batch_ladder(s, &rungs, &s->fit->workload);
    return offer_best_rung(s, TTS_FIT_CHANGE_ACCUMULATE, &ladder, err);
}

/* --- recompute, sequence, optimizer ----------------------------------------------------- */

static enum tts_status find_recompute(struct search *s, struct tts_error *err)
{
    struct candidate efficient = {.workload = s->fit->workload};
    if (efficient.workload.runner == TTS_RUNNER_MEMORY_EFFICIENT)
        return TTS_OK;
    efficient.workload.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    enum tts_status status = try_candidate(s, &efficient, err);
    if (status == TTS_OK)
        offer_change(s, TTS_FIT_CHANGE_RECOMPUTE, &efficient, NULL);
    return status;
}

static enum tts_status find_shorter_sequence(struct search *s, struct tts_error *err)
{
    struct ladder ladder = ladder_of(s, &s->fit->workload, set_sequence_rung, NULL);
    ladder.count = (s->fit->workload.model.sequence - 1) / TTS_TILE_SIDE;
    return offer_best_rung(s, TTS_FIT_CHANGE_SEQUENCE, &ladder, err);
}

/* Finds the first lighter optimizer that fits, else offers the last one, which has the least
 * state. Less state does not always mean less memory: gradients set to zero may stay
 * instead. */
static enum tts_status find_lighter_optimizer(struct search *s, struct tts_error *err)
{
    struct tts_optimizer_config lighter[TTS_LIGHTER_MAX];
    size_t count = tts_optimizer_lighter(s->fit->workload.optimizer, lighter);
    struct candidate other = {.workload = s->fit->workload};
    for (size_t i = 0; i < count && !other.trial.fits; i++) {
        other.workload.optimizer = lighter[i];
        enum tts_status status = try_candidate(s, &other, err);
        if (status != TTS_OK)
            return status;
    }
    if (count > 0)
        offer_change(s, TTS_FIT_CHANGE_OPTIMIZER, &other, NULL);
    return TTS_OK;
}

/* --- more chips ------------------------------------------------------------------------- */

/* Sets the next larger number of chips that divides the chips of the device and that the model
 * can be divided by. Returns false if there is no such number. */
static bool next_chip_count(const struct tts_fit *fit, struct tts_workload *workload)
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

/* Tries more chips than the run has. If the device has too few chips for the run, tries the
 * numbers of chips that the device has. */
static enum tts_status find_more_chips(struct search *s, struct tts_error *err)
{
    struct candidate best, next = {.workload = s->fit->workload};
    bool any = false;
    if (!tts_fit_has_chips(&s->fit->workload, s->fit->chip))
        next.workload.tensor_parallel = 0;
    while (!(any && best.trial.fits) && next_chip_count(s->fit, &next.workload)) {
        enum tts_status status = try_candidate(s, &next, err);
        if (status != TTS_OK)
            return status;
        best = next;
        any = true;
    }
    if (any)
        offer_change(s, TTS_FIT_CHANGE_TENSOR_PARALLEL, &best, NULL);
    return TTS_OK;
}

/* --- a larger device -------------------------------------------------------------------- */

struct device {
    const char *name; /* NULL: no device */
    struct tts_chip chip;
    uint64_t bytes; /* size of the DRAM */
};

/* Finds the preset with the least DRAM that is larger than the DRAM of *device. The preset has
 * one chip, or for a run on several chips at least as many as the run. */
static bool next_larger_device(struct device *device, uint64_t chips)
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

static enum tts_status find_larger_device(struct search *s, struct tts_error *err)
{
    const struct tts_fit *fit = s->fit;
    bool has_chips = tts_fit_has_chips(&fit->workload, fit->chip);
    struct device device = {.bytes = has_chips ? fit->capacity_bytes : 0};
    struct tts_pool_layout plain;
    /* If the user changed the card with --set, its unchanged preset is not suggested. */
    if (has_chips && tts_chip_preset(fit->chip->name, &device.chip, NULL) == TTS_OK &&
        tts_fit_dram(&device.chip, &plain, NULL) == TTS_OK &&
        plain.bank_bytes * plain.banks > device.bytes)
        device.bytes = plain.bank_bytes * plain.banks;
    struct candidate same = {fit->workload,
                             {.peak_bytes = fit->peak_bytes, .kept_bytes = fit->kept_bytes}};
    while (!same.trial.fits && next_larger_device(&device, tts_fit_chips(&fit->workload))) {
        if (fit->peak_bytes > device.bytes)
            continue; /* the device is too small: do not run the workload */
        struct trial_of of = {&fit->workload, &device.chip, s->alloc};
        enum tts_status status = run_trial(&of, TTS_MODE_OVERCOMMIT, &same.trial, err);
        if (status != TTS_OK)
            return status;
    }
    if (device.name)
        offer_change(s, TTS_FIT_CHANGE_DEVICE, &same, device.name);
    return TTS_OK;
}

/* --- several at once -------------------------------------------------------------------- */

/* Finds the largest batch with which out->workload fits. out->trial.fits says whether there is
 * one. If `own`, tries the batch of out->workload first, separately: with that batch gradients
 * may not have to survive a forward pass. */
static enum tts_status try_batches(const struct search *s, bool own, struct candidate *out,
                                   struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    out->trial.fits = false;
    if (own)
        status = try_candidate(s, out, err);
    struct batch_rungs rungs;
    struct ladder ladder = batch_ladder(s, &rungs, &out->workload);
    if (status != TTS_OK || out->trial.fits || ladder.count == 0)
        return status;
    ladder.is_far = true;
    return find_best_rung(&ladder, out, err);
}

/* Finds the first lighter optimizer with which the workload fits. */
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

static bool has_fitting_change(const struct search *s, enum tts_fit_change_kind kind)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->found[i].kind == kind && s->found[i].fits)
            return true;
    return false;
}

/* Returns whether a change was found that fits and keeps the sequence. */
static bool fits_with_sequence(const struct search *s)
{
    static const enum tts_fit_change_kind kinds[] = {
        TTS_FIT_CHANGE_ACCUMULATE, TTS_FIT_CHANGE_RECOMPUTE, TTS_FIT_CHANGE_TENSOR_PARALLEL,
        TTS_FIT_CHANGE_TOGETHER, TTS_FIT_CHANGE_OPTIMIZER};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (has_fitting_change(s, kinds[i]))
            return true;
    return false;
}

/* Tries recompute with a smaller batch, if neither of the two is enough alone. */
static enum tts_status find_batch_and_recompute(struct search *s, struct tts_error *err)
{
    struct candidate both = {.workload = s->fit->workload};
    if (s->is_hopeless || both.workload.runner == TTS_RUNNER_MEMORY_EFFICIENT ||
        has_fitting_change(s, TTS_FIT_CHANGE_ACCUMULATE) ||
        has_fitting_change(s, TTS_FIT_CHANGE_RECOMPUTE))
        return TTS_OK;
    both.workload.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    enum tts_status status = try_batches(s, false, &both, err);
    if (status == TTS_OK && both.trial.fits)
        offer_change(s, TTS_FIT_CHANGE_TOGETHER, &both, NULL);
    return status;
}

/* Tries all chips of the device with recompute, and with a smaller batch if necessary. */
static enum tts_status find_chips_and_recompute(struct search *s, struct tts_error *err)
{
    const struct tts_fit *fit = s->fit;
    struct candidate both = {.workload = fit->workload};
    struct tts_workload next = fit->workload;
    if (fits_with_sequence(s))
        return TTS_OK;
    while (next_chip_count(fit, &next))
        both.workload = next;
    if (both.workload.tensor_parallel == fit->workload.tensor_parallel ||
        (both.workload.batch == both.workload.data_parallel &&
         both.workload.runner == TTS_RUNNER_MEMORY_EFFICIENT))
        return TTS_OK;
    both.workload.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    enum tts_status status = try_batches(s, true, &both, err);
    if (status == TTS_OK && both.trial.fits)
        offer_change(s, TTS_FIT_CHANGE_TOGETHER, &both, NULL);
    return status;
}

/* Tries a lighter optimizer with recompute and a smaller batch, if no change that keeps the
 * sequence fits. */
static enum tts_status find_with_optimizer(struct search *s, struct tts_error *err)
{
    struct candidate best = {.workload = s->fit->workload};
    bool was_default = best.workload.runner == TTS_RUNNER_DEFAULT;
    if (fits_with_sequence(s))
        return TTS_OK;
    best.workload.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    struct tts_workload base = best.workload;
    enum tts_status status = try_optimizers(s, &base, was_default, &best, err);
    if (status == TTS_OK && best.trial.fits)
        offer_change(s, TTS_FIT_CHANGE_TOGETHER, &best, NULL);
    return status;
}

/* Moves the changes that fit to the front. Both groups keep the order of cost. */
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
        find_smaller_batch,     find_recompute,           find_batch_and_recompute,
        find_more_chips,        find_chips_and_recompute, find_shorter_sequence,
        find_lighter_optimizer, find_with_optimizer,      find_larger_device};
    static enum tts_status (*const chip_finders[])(struct search *, struct tts_error *) = {
        find_more_chips, find_larger_device};
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

/* --- the largest batch or sequence ------------------------------------------------------ */

/* 256 trials that stop at the first refusal take less than a second. */
enum { LARGEST_TRIES = 256 };

static void set_batch_rung(const void *ctx, uint64_t idx, struct tts_workload *workload)
{
    workload->batch = (idx + 1) * *(const uint64_t *)ctx;
}

enum tts_status tts_largest_find(const struct tts_workload *workload,
                                 const struct tts_chip *chip, enum tts_largest_kind kind,
                                 const struct tts_alloc *alloc, struct tts_largest *out,
                                 struct tts_error *err)
{
    assert(kind == TTS_LARGEST_BATCH || kind == TTS_LARGEST_SEQUENCE);
    uint64_t chips = workload->data_parallel > 1 ? workload->data_parallel : 1;
    uint64_t step = kind == TTS_LARGEST_BATCH ? chips : TTS_TILE_SIDE;
    uint64_t count = step < TTS_LARGEST_MAX ? TTS_LARGEST_MAX / step : 1;
    struct ladder ladder = {.base = *workload,
                            .chip = chip,
                            .alloc = alloc,
                            .step =
                                kind == TTS_LARGEST_BATCH ? set_batch_rung : set_sequence_rung,
                            .ctx = &step,
                            .count = count,
                            .tries = LARGEST_TRIES,
                            .is_far = true};
    struct tts_workload smallest = ladder_rung(&ladder, 0);
    enum tts_workload_field field;
    enum tts_status status = tts_workload_check(&smallest, &field, err);
    if (status == TTS_OK)
        status = search_ladder(&ladder, err);
    struct trial next = {0};
    bool has_next = ladder.fits < count;
    if (status == TTS_OK && has_next)
        status = run_rung(&ladder, ladder.fits, TTS_MODE_OVERCOMMIT, &next, err);
    if (status != TTS_OK)
        return status;
    *out = (struct tts_largest){
        .value = ladder.fits * step,
        .peak_bytes = ladder.fits > 0 ? ladder.last.peak_bytes : next.peak_bytes,
        .next = has_next ? (ladder.fits + 1) * step : 0,
        .next_peak_bytes = next.peak_bytes,
    };
    return TTS_OK;
}
