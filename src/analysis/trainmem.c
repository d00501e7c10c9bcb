#include "analysis/trainmem.h"

#include "analysis/trainmem_inside.h"

#include <assert.h>
#include <string.h>

/* 12 GiB: what the published script takes. */
static const int64_t assumed_device_bytes = 12LL << 30;

/* ---- what was measured ---- */

static struct tts_amount change_of(const struct tts_run_phase *phase)
{
    return phase->figures[TTS_RUN_CHANGE];
}

static struct tts_amount current_of(const struct tts_run_phase *phase)
{
    return phase->figures[TTS_RUN_CUMULATIVE_CURRENT];
}

/* Of all phases of a part; not known if there is none. */
static struct tts_amount change_in(const struct tts_run *run, enum tts_run_part part,
                                   uint32_t *count)
{
    struct tts_amount sum = {.is_known = true};
    *count = 0;
    for (size_t i = 0; i < run->phase_count; i++) {
        if (tts_train_part_of(run->phases[i].name) != part)
            continue;
        sum = tts_amount_add(sum, change_of(&run->phases[i]));
        ++*count;
    }
    return *count > 0 ? sum : (struct tts_amount){0};
}

/* The most that was kept at once: a backward pass frees what was kept for it. */
static struct tts_amount most_activations(const struct tts_run *run)
{
    struct tts_amount most = {0}, now = {.is_known = true};
    for (size_t i = 0; i < run->phase_count; i++) {
        enum tts_run_part part = tts_train_part_of(run->phases[i].name);
        if (part == TTS_RUN_PART_GRADIENTS)
            now = tts_amount_of(0);
        if (part != TTS_RUN_PART_ACTIVATIONS)
            continue;
        now = tts_amount_add(now, change_of(&run->phases[i]));
        if (!now.is_known)
            return now;
        if (!most.is_known || now.bytes > most.bytes)
            most = now;
    }
    return most;
}

/* What the last backward pass left, beyond what was there when the optimizer had been made and
 * beyond what phases of other names left in between; what those free was not theirs. */
static struct tts_amount gradients_left(const struct tts_run *run)
{
    size_t after = run->phase_count, last = run->phase_count;
    for (size_t i = 0; i < run->phase_count; i++) {
        enum tts_run_part part = tts_train_part_of(run->phases[i].name);
        if (part == TTS_RUN_PART_MODEL || part == TTS_RUN_PART_OPTIMIZER)
            after = i;
        if (part == TTS_RUN_PART_GRADIENTS)
            last = i;
    }
    if (after >= last || last == run->phase_count)
        return (struct tts_amount){0};
    struct tts_amount others = tts_amount_of(0);
    for (size_t i = after + 1; i < last; i++) {
        if (tts_train_part_of(run->phases[i].name) == TTS_RUN_PART_OTHER)
            others = tts_amount_add(others, change_of(&run->phases[i]));
        if (others.bytes < 0)
            others.bytes = 0;
    }
    struct tts_amount left =
        tts_amount_subtract(current_of(&run->phases[last]), current_of(&run->phases[after]));
    return tts_amount_subtract(left, others);
}

static void measure(const struct tts_run *run, struct tts_trainmem *mem)
{
    uint32_t count;
    mem->model.actual = change_in(run, TTS_RUN_PART_MODEL, &count);
    mem->optimizer.actual = change_in(run, TTS_RUN_PART_OPTIMIZER, &count);
    mem->activations_sum = change_in(run, TTS_RUN_PART_ACTIVATIONS, &mem->forward_passes);
    mem->activations = most_activations(run);
    (void)change_in(run, TTS_RUN_PART_GRADIENTS, &mem->backward_passes);
    if (!run->is_overwritten)
        mem->gradients.actual = gradients_left(run);
}

/* ---- what was to be expected ---- */

static int64_t dtype_bytes(enum tts_train_dtype dtype)
{
    static const int64_t bytes[] = {
#define X(name, text, size) size,
        TTS_TRAIN_DTYPE_MAP(X)
#undef X
    };
    assert(dtype < TTS_TRAIN_DTYPES);
    return bytes[dtype];
}

/* Not known where it is not of 64 bits. */
static struct tts_amount times(struct tts_amount amount, int64_t factor)
{
    int64_t product;
    if (!amount.is_known || __builtin_mul_overflow(amount.bytes, factor, &product))
        return (struct tts_amount){0};
    return tts_amount_of(product);
}

static void expect_model(const struct tts_run *run, const struct tts_trainmem_options *options,
                         struct tts_trainmem *mem)
{
    mem->dtype = options->has_dtype ? options->dtype : TTS_TRAIN_DTYPE_BF16;
    mem->dtype_source = options->has_dtype ? TTS_TRAIN_FROM_OPTION : TTS_TRAIN_ASSUMED;
    if (options->model.is_known) {
        mem->model.expected = options->model;
        mem->model.source = TTS_TRAIN_FROM_OPTION;
    } else if (run->has_parameters && run->parameters <= INT64_MAX) {
        struct tts_amount parameters = tts_amount_of((int64_t)run->parameters);
        mem->model.expected = times(parameters, dtype_bytes(mem->dtype));
        mem->model.source =
            mem->model.expected.is_known ? TTS_TRAIN_FROM_LOG : TTS_TRAIN_FROM_NOWHERE;
    }
}

/* Which optimizer it is. False: the log names one that we do not know enough of. */
static bool choose_optimizer(const struct tts_run *run,
                             const struct tts_trainmem_options *options,
                             struct tts_trainmem *mem)
{
    mem->optimizer_kind = options->has_optimizer ? options->optimizer_kind : TTS_TRAIN_ADAMW;
    mem->optimizer_source = options->has_optimizer ? TTS_TRAIN_FROM_OPTION : TTS_TRAIN_ASSUMED;
    if (options->has_optimizer)
        return true;
    if (run->optimizer[0] != '\0') {
        mem->optimizer_source = TTS_TRAIN_FROM_LOG;
        if (!tts_train_optimizer_find(run->optimizer, &mem->optimizer_kind)) {
            mem->optimizer_source = TTS_TRAIN_FROM_NOWHERE;
            return false;
        }
    }
    if (run->has_kahan && run->is_kahan) {
        mem->optimizer_kind = TTS_TRAIN_ADAMW_KAHAN;
        mem->optimizer_source = TTS_TRAIN_FROM_LOG;
    }
    /* Whether SGD has momentum, and with it a state, no log says. */
    return mem->optimizer_kind != TTS_TRAIN_SGD;
}

/* Its state for a model of so many bytes. */
static struct tts_amount state_of(struct tts_amount model, enum tts_train_dtype dtype,
                                  enum tts_train_optimizer optimizer)
{
    static const int64_t copies[TTS_TRAIN_OPTIMIZERS] = {
        [TTS_TRAIN_ADAMW] = 2,
        [TTS_TRAIN_MOREH_ADAMW] = 2,
        [TTS_TRAIN_ADAMW_COMPOSITE] = 2,
        [TTS_TRAIN_ADAMW_KAHAN] = 3,
        [TTS_TRAIN_SGD_MOMENTUM] = 1,
        [TTS_TRAIN_SGD_COMPOSITE] = 1,
        [TTS_TRAIN_MUON] = 1,
    };
    if (optimizer != TTS_TRAIN_ADAMW_FULL_PRECISION)
        return times(model, copies[optimizer]);
    struct tts_amount parameters = model;
    parameters.bytes /= dtype_bytes(dtype);
    return times(parameters, 3 * dtype_bytes(TTS_TRAIN_DTYPE_FP32));
}

static void expect(const struct tts_run *run, const struct tts_trainmem_options *options,
                   struct tts_trainmem *mem)
{
    expect_model(run, options, mem);
    bool is_known = choose_optimizer(run, options, mem);
    if (options->optimizer.is_known) {
        mem->optimizer.expected = options->optimizer;
        mem->optimizer.source = TTS_TRAIN_FROM_OPTION;
    } else if (is_known) {
        mem->optimizer.expected =
            state_of(mem->model.expected, mem->dtype, mem->optimizer_kind);
        if (mem->optimizer.expected.is_known)
            mem->optimizer.source = mem->optimizer_source;
    }
    if (options->gradients.is_known) {
        mem->gradients.expected = options->gradients;
        mem->gradients.source = TTS_TRAIN_FROM_OPTION;
    } else if (mem->model.expected.is_known) {
        mem->gradients.expected = mem->model.expected;
        mem->gradients.source = TTS_TRAIN_ASSUMED;
    }
}

/* ---- later iterations ---- */

/* Whether zero_grad() of an optimizer leaves gradients of zeros, which the next iteration
 * finds. In the first iteration there are none. */
static bool leaves_gradients(enum tts_train_optimizer optimizer)
{
    return optimizer == TTS_TRAIN_SGD || optimizer == TTS_TRAIN_SGD_MOMENTUM ||
           optimizer == TTS_TRAIN_ADAMW_FULL_PRECISION || optimizer == TTS_TRAIN_NO_OP;
}

/* Whether a forward pass follows the end of an iteration: "ITERATION_COMPLETE" or
 * "FIRST_ITERATION_COMPLETE". */
static bool has_later_iteration(const struct tts_run *run)
{
    bool is_later = false;
    for (size_t i = 0; i < run->phase_count; i++) {
        if (strstr(run->phases[i].name, "ITERATION_COMPLETE"))
            is_later = true;
        else if (is_later && tts_train_part_of(run->phases[i].name) == TTS_RUN_PART_ACTIVATIONS)
            return true;
    }
    return false;
}

/* The bound is two sets of gradients: the one that stays, and the sums that replace it one by
 * one. Models of `ttscope fit` need up to 1.57 sets more than in their first iteration. */
static void look_later(const struct tts_run *run, struct tts_trainmem *mem)
{
    bool is_named = mem->optimizer_source == TTS_TRAIN_FROM_LOG ||
                    mem->optimizer_source == TTS_TRAIN_FROM_OPTION;
    mem->covers_first = is_named && !mem->peak_is_whole && mem->backward_passes > 0 &&
                        leaves_gradients(mem->optimizer_kind) && !has_later_iteration(run);
    if (!mem->covers_first)
        return;
    struct tts_amount set = mem->gradients.actual;
    if (!set.is_known || set.bytes <= 0)
        set = mem->gradients.expected.is_known ? mem->gradients.expected : mem->model.actual;
    if (set.is_known && set.bytes > 0)
        mem->later_more = tts_amount_add(set, set);
}

static void size_device(const struct tts_run *run, const struct tts_trainmem_options *options,
                        struct tts_trainmem *mem)
{
    mem->device_memory = tts_amount_of(assumed_device_bytes);
    mem->device_memory_source = TTS_TRAIN_ASSUMED;
    if (options->device_memory.is_known) {
        mem->device_memory = options->device_memory;
        mem->device_memory_source = options->device_memory_source;
    } else if (tts_trainmem_log_device(run, mem)) {
        mem->device_memory_source = TTS_TRAIN_FROM_LOG;
    }
}

/* Whether the run itself states if it fits the device that is judged here: the memory is the
 * same (a log rounds it), and so is the name, if both are known, as boards with the same memory
 * have different numbers of chips. The statement counts more than the peak: memory in pieces
 * can be too little although the peak is below it. */
static bool states_fits(const struct tts_run *run, const struct tts_trainmem_options *options,
                        const struct tts_trainmem *mem)
{
    const struct tts_run_whole *whole = &run->whole;
    struct tts_amount off = tts_amount_subtract(mem->device_memory, run->device_memory);
    if (!mem->peak_is_whole || !whole->has_fits)
        return false;
    if (whole->never_runs)
        return true;
    if (options->device[0] != '\0' && whole->device[0] != '\0' &&
        strcmp(options->device, whole->device) != 0)
        return false;
    return off.is_known && off.bytes <= TTS_RUN_HALF_STEP_BYTES &&
           off.bytes >= -TTS_RUN_HALF_STEP_BYTES;
}

bool tts_trainmem_may_exceed(const struct tts_trainmem *mem, int64_t bytes)
{
    struct tts_amount most = tts_amount_add(mem->peak, mem->later_more);
    return mem->covers_first && (!most.is_known || most.bytes > bytes);
}

static void judge(const struct tts_run *run, const struct tts_trainmem_options *options,
                  struct tts_trainmem *mem)
{
    if (!mem->peak.is_known)
        return;
    bool is_stated = states_fits(run, options, mem);
    int64_t over = mem->peak.bytes - mem->device_memory.bytes; /* neither is negative */
    mem->fits = over <= (is_stated ? TTS_RUN_HALF_STEP_BYTES : 0);
    mem->is_refused = is_stated && mem->fits && !run->whole.fits;
    mem->fits &= !mem->is_refused;
    bool may_be_more =
        mem->peak_at_least || tts_trainmem_may_exceed(mem, mem->device_memory.bytes);
    mem->has_verdict = !mem->fits || !may_be_more;
}

void tts_trainmem_of(const struct tts_run *run, const struct tts_trainmem_options *options,
                     struct tts_trainmem *out)
{
    *out = (struct tts_trainmem){0};
    measure(run, out);
    expect(run, options, out);
    size_device(run, options, out);
    tts_trainmem_peak(run, options, out);
    look_later(run, out);
    judge(run, options, out);
}

bool tts_train_difference(const struct tts_train_size *size, int64_t *out)
{
    if (!size->actual.is_known || !size->expected.is_known)
        return false;
    double expected = size->expected.bytes == 0 ? 1 : (double)size->expected.bytes;
    double share = ((double)size->actual.bytes - expected) / expected * 10000;
    share = share > 9e15 ? 9e15 : share < -9e15 ? -9e15 : share;
    *out = size->expected.bytes == 0 ? 0 : (int64_t)(share < 0 ? share - 0.5 : share + 0.5);
    return true;
}
