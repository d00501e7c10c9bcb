/* change_words.c: what a change asks for, and what it costs. */
#include "base/compiler.h"
#include "plan/change_inside.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(char text[TTS_FIT_CHANGE_TEXT_MAX], const char *between, const char *format,
                ...) TTS_PRINTF(3, 4);

static void add(char text[TTS_FIT_CHANGE_TEXT_MAX], const char *between, const char *format,
                ...)
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

#define OPTION(change, ...) add((change)->options, " ", __VA_ARGS__)
#define COST(change, ...) add((change)->cost, "; ", __VA_ARGS__)

static void describe_sgd(struct tts_optimizer_config from, struct tts_fit_change *change)
{
    bool momentum = change->workload.optimizer.momentum;
    if (from.kind == TTS_OPTIMIZER_SGD)
        OPTION(change, "--momentum 0");
    else
        OPTION(change, "--optimizer %s --momentum %s", tts_optimizer_name(TTS_OPTIMIZER_SGD),
               momentum ? "0.9" : "0");
    const char *lost = from.kind == TTS_OPTIMIZER_SGD ? "momentum"
                       : momentum                     ? "second moment"
                                                      : "moments";
    COST(change, "no %s: converges differently", lost);
    if (from.kind != TTS_OPTIMIZER_SGD && from.kind != TTS_OPTIMIZER_ADAMW_FULL_PRECISION)
        COST(change, "its gradients stay, as zeros");
}

static void describe_optimizer(struct tts_optimizer_config from, struct tts_fit_change *change)
{
    struct tts_optimizer_config to = change->workload.optimizer;
    if (to.kind == TTS_OPTIMIZER_SGD) {
        describe_sgd(from, change);
        return;
    }
    if (from.amsgrad && !to.amsgrad)
        COST(change, "no amsgrad");
    if (from.kahan && !to.kahan)
        COST(change, "no compensation of rounding");
    if (to.kind == from.kind)
        return;
    assert(from.kind == TTS_OPTIMIZER_ADAMW_FULL_PRECISION);
    OPTION(change, "--optimizer %s", tts_optimizer_name(to.kind));
    COST(change, "no fp32 master weights, moments in bf16");
}

static bool is_same(struct tts_optimizer_config a, struct tts_optimizer_config b)
{
    return a.kind == b.kind && a.momentum == b.momentum && a.amsgrad == b.amsgrad &&
           a.kahan == b.kahan;
}

void tts_fit_change_describe(const struct tts_workload *from, struct tts_fit_change *change)
{
    const struct tts_workload *to = &change->workload;
    change->options[0] = change->cost[0] = '\0';
    if (to->batch != from->batch) {
        OPTION(change, "--batch %" PRIu64 " --accumulate %" PRIu64, to->batch, to->accumulate);
        COST(change,
             "%" PRIu64 " micro steps for each optimizer step, each with batch %" PRIu64,
             to->accumulate, to->batch);
        if (from->accumulate == 1)
            COST(change, "gradients stay between them");
    }
    if (to->runner != from->runner) {
        OPTION(change, "--runner %s", tts_runner_name(to->runner));
        COST(change, "one more forward pass in every step");
    }
    if (to->tensor_parallel != from->tensor_parallel) {
        OPTION(change, "--tensor-parallel %" PRIu64, to->tensor_parallel);
        if (to->tensor_parallel > 1)
            COST(change, "%" PRIu64 " chips share the model and exchange sums in every block",
                 to->tensor_parallel);
        else
            COST(change, "one chip has the whole model");
    }
    if (to->model.sequence != from->model.sequence) {
        OPTION(change, "--seq %" PRIu64, to->model.sequence);
        COST(change, "context of %" PRIu64 " tokens instead of %" PRIu64, to->model.sequence,
             from->model.sequence);
    }
    if (!is_same(to->optimizer, from->optimizer))
        describe_optimizer(from->optimizer, change);
    if (change->device) {
        OPTION(change, "--device %s", change->device);
        uint64_t chips = to->tensor_parallel * to->data_parallel;
        if (chips > 1)
            COST(change, "%" PRIu64 " chips of a %s", chips, change->device);
        else
            COST(change, "another card: %s", change->device);
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
