/* Tests the changes that make a run fit, and the largest batch or sequence that fits. */
#include "plan/change.h"

#include "harness/plan_rig.h"
#include "torture/heap.h"

#include <string.h>

struct answer {
    struct tts_fit_change changes[TTS_FIT_CHANGES];
    size_t count;
};

static struct answer changes_of(const struct tts_workload *workload,
                                const struct tts_chip *chip)
{
    struct answer answer;
    struct tts_fit *fit = fit_of(workload, chip);
    T_EQ(tts_fit_change_find(fit, NULL, answer.changes, &answer.count, NULL), TTS_OK);
    tts_fit_free(fit);
    return answer;
}

/* Returns the change of this kind, or NULL if the answer has none. */
static const struct tts_fit_change *find(const struct answer *answer,
                                         enum tts_fit_change_kind kind)
{
    for (size_t i = 0; i < answer->count; i++)
        if (answer->changes[i].kind == kind)
            return &answer->changes[i];
    return NULL;
}

static bool fits_on(const struct tts_workload *workload, const struct tts_chip *chip)
{
    struct tts_fit *fit = fit_of(workload, chip);
    bool fits = tts_fit_fits(fit);
    tts_fit_free(fit);
    return fits;
}

/* Returns the rank of a change. Changes that fit have the lowest ranks, in the order of their
 * cost. */
static int rank_of(const struct tts_fit_change *change, const struct tts_workload *from)
{
    static const int ranks[] = {0, 1, 3, 5, 6, 8};
    int rank = change->fits ? 0 : 100;
    if (change->kind != TTS_FIT_CHANGE_TOGETHER)
        return rank + ranks[change->kind];
    if (change->workload.optimizer.kind != from->optimizer.kind)
        return rank + 7;
    return rank + (change->workload.tensor_parallel == from->tensor_parallel ? 2 : 4);
}

/* Checks that each change has the result of a run with this change, and that the changes are in
 * the order of their cost. */
static void are_true(const struct answer *answer, const struct tts_workload *workload,
                     const struct tts_chip *chip)
{
    struct tts_fit *before = fit_of(workload, chip);
    for (size_t i = 0; i < answer->count; i++) {
        const struct tts_fit_change *change = &answer->changes[i];
        struct tts_chip other = change->device ? chip_of(change->device) : *chip;
        struct tts_fit *after = fit_of(&change->workload, &other);
        T_TRUE(i == 0 || rank_of(change - 1, workload) < rank_of(change, workload));
        T_EQ(change->kind == TTS_FIT_CHANGE_DEVICE, change->device != NULL);
        T_EQ(change->fits, tts_fit_fits(after));
        T_EQ(change->peak_bytes, after->peak_bytes);
        T_EQ(change->saves_bytes, before->peak_bytes - after->peak_bytes);
        T_EQ(change->saves_activation_bytes, before->kept_bytes - after->kept_bytes);
        T_TRUE(change->fits || change->saves_bytes >= (int64_t)(before->peak_bytes / 100));
        T_TRUE(change->options[0] != '\0' && change->cost[0] != '\0');
        tts_fit_free(after);
    }
    tts_fit_free(before);
}

/* --- kinds of changes ------------------------------------------------------------------ */

T_TEST(a_run_that_fits_needs_no_change)
{
    struct tts_workload workload = small_llama();
    struct tts_chip chip = chip_of("n150");
    T_EQ(changes_of(&workload, &chip).count, 0);
}

T_TEST(changes_come_in_the_order_of_their_cost_and_are_runs)
{
    struct tts_workload workload = small_llama();
    struct tts_chip chip = chip_with(bank_peak(&workload) * 6 / 10);
    struct answer answer = changes_of(&workload, &chip);
    T_TRUE(answer.count >= 4);
    are_true(&answer, &workload, &chip);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_ACCUMULATE)->fits);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_RECOMPUTE)->fits);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_SEQUENCE)->fits);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_DEVICE)->fits);
}

T_TEST(the_batch_is_the_largest_that_fits_with_the_same_samples_in_a_step)
{
    struct tts_workload workload = small_llama();
    workload.accumulate = 2;
    struct tts_chip chip = chip_with(bank_peak(&workload) * 6 / 10);
    struct answer answer = changes_of(&workload, &chip);
    struct tts_workload changed = find(&answer, TTS_FIT_CHANGE_ACCUMULATE)->workload;
    T_TRUE(fits_on(&changed, &chip) && changed.batch < 8 && changed.batch > 1);
    T_EQ(changed.batch * changed.accumulate, 16);
    changed.batch *= 2;
    changed.accumulate /= 2;
    T_TRUE(!fits_on(&changed, &chip));
}

T_TEST(the_sequence_is_the_longest_that_fits)
{
    struct tts_workload workload = small_llama();
    struct tts_chip chip = chip_with(bank_peak(&workload) * 6 / 10);
    struct answer answer = changes_of(&workload, &chip);
    struct tts_workload changed = find(&answer, TTS_FIT_CHANGE_SEQUENCE)->workload;
    T_TRUE(changed.model.sequence % 32 == 0 && changed.model.sequence < 256);
    changed.model.sequence += 32;
    T_TRUE(!fits_on(&changed, &chip));
}

T_TEST(what_cannot_be_made_to_fit_shows_how_far_it_goes)
{
    struct tts_workload workload = small_llama();
    struct tts_chip chip = chip_with(tts_workload_parameter_bytes(&workload) / 12 / 2);
    struct answer answer = changes_of(&workload, &chip);
    are_true(&answer, &workload, &chip);
    const struct tts_fit_change *batch = find(&answer, TTS_FIT_CHANGE_ACCUMULATE);
    const struct tts_fit_change *sequence = find(&answer, TTS_FIT_CHANGE_SEQUENCE);
    const struct tts_fit_change *optimizer = find(&answer, TTS_FIT_CHANGE_OPTIMIZER);
    T_TRUE(!batch->fits && batch->workload.batch == 1 && batch->workload.accumulate == 8);
    T_TRUE(!sequence->fits && sequence->workload.model.sequence == 32);
    T_TRUE(!optimizer->fits && optimizer->workload.optimizer.kind == TTS_OPTIMIZER_SGD);
    T_TRUE(!optimizer->workload.optimizer.momentum);
    T_TRUE(!find(&answer, TTS_FIT_CHANGE_RECOMPUTE)->fits);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_DEVICE)->fits);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_TOGETHER) == NULL);
}

T_TEST(what_changes_nothing_is_left_out)
{
    struct tts_workload workload = small_llama();
    workload.batch = 1;
    workload.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    workload.optimizer.kind = TTS_OPTIMIZER_NONE;
    workload.model.sequence = 32;
    struct tts_chip chip = chip_with(bank_peak(&workload) / 2);
    struct answer answer = changes_of(&workload, &chip);
    T_EQ(answer.count, 1);
    T_EQ(answer.changes[0].kind, TTS_FIT_CHANGE_DEVICE);
}

/* The batch cannot be divided into so many micro steps, so the smallest possible batch is
 * offered. */
T_TEST(a_batch_that_cannot_be_run_is_not_offered)
{
    struct tts_workload workload = small_llama();
    workload.batch = UINT64_C(1) << 18;
    struct tts_chip chip = chip_with(tts_workload_parameter_bytes(&workload) / 12 / 2);
    struct answer answer = changes_of(&workload, &chip);
    const struct tts_fit_change *change = find(&answer, TTS_FIT_CHANGE_ACCUMULATE);
    enum tts_workload_field field;
    T_EQ(tts_workload_check(&change->workload, &field, NULL), TTS_OK);
    struct tts_workload smaller = change->workload;
    smaller.batch /= 2;
    smaller.accumulate *= 2;
    T_TRUE(tts_workload_check(&smaller, &field, NULL) != TTS_OK);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_RECOMPUTE) != NULL);
}

/* The gradients stay during the next forward pass and need more than half of the memory of the
 * activations. */
T_TEST(a_smaller_batch_that_takes_more_is_not_offered)
{
    struct tts_workload workload = wide_llama();
    workload.optimizer.kind = TTS_OPTIMIZER_MOREH_ADAMW; /* this optimizer updates in place */
    workload.batch = 2;
    struct tts_workload halved = workload;
    halved.batch = 1;
    halved.accumulate = 2;
    struct tts_chip chip = chip_with(bank_peak(&workload) / 2);
    T_TRUE(bank_peak(&halved) > bank_peak(&workload));
    struct answer answer = changes_of(&workload, &chip);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_ACCUMULATE) == NULL);
    are_true(&answer, &workload, &chip);
}

T_TEST(the_optimizer_that_loses_least_is_taken)
{
    struct tts_workload workload = wide_llama(), lighter = workload;
    workload.recipe = TTS_RECIPE_HEAD;
    workload.optimizer.kind = TTS_OPTIMIZER_ADAMW_FULL_PRECISION;
    lighter.recipe = TTS_RECIPE_HEAD;
    struct tts_chip chip = chip_with(bank_peak(&lighter) * 11 / 10);
    struct answer answer = changes_of(&workload, &chip);
    const struct tts_fit_change *change = find(&answer, TTS_FIT_CHANGE_OPTIMIZER);
    T_TRUE(change->fits && change->workload.optimizer.kind == TTS_OPTIMIZER_ADAMW);
    T_STR_EQ(change->options, "--optimizer AdamW");
}

T_TEST(the_device_is_the_smallest_that_fits)
{
    struct tts_workload workload = small_llama();
    struct tts_chip chip = chip_with(bank_peak(&workload) / 2);
    struct answer answer = changes_of(&workload, &chip);
    /* The p100 is offered, not the n150 itself. */
    T_STR_EQ(find(&answer, TTS_FIT_CHANGE_DEVICE)->device, "p100");
    workload.batch = 1 << 16;
    answer = changes_of(&workload, &chip);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_DEVICE) == NULL); /* no board has enough memory */
}

/* --- together --------------------------------------------------------------------------- */

static uint64_t least_single(const struct tts_workload *workload)
{
    struct tts_workload batch = *workload, recompute = *workload, sequence = *workload,
                        optimizer = *workload;
    batch.accumulate *= batch.batch;
    batch.batch = 1;
    recompute.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    sequence.model.sequence = 32;
    optimizer.optimizer = (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_SGD};
    const struct tts_workload *all[] = {&batch, &recompute, &sequence, &optimizer};
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < 4; i++)
        least = bank_peak(all[i]) < least ? bank_peak(all[i]) : least;
    return least;
}

static struct tts_chip chips_with(const char *name, uint64_t bank_bytes)
{
    struct tts_chip chip = chip_of(name), out;
    T_EQ(tts_whatif_resize(&chip, (bank_bytes + 63) / 64 * 64, &out, NULL), TTS_OK);
    return out;
}

T_TEST(tensor_parallel_is_suggested_if_the_device_has_the_chips)
{
    struct tts_workload workload = wide_llama();
    workload.recipe = TTS_RECIPE_HEAD;
    workload.model.groups = 4;
    struct tts_workload halved = workload;
    halved.tensor_parallel = 2;
    struct tts_chip chip = chips_with("t3k", bank_peak_on(&halved, "t3k") * 11 / 10);
    struct answer answer = changes_of(&workload, &chip);
    are_true(&answer, &workload, &chip);
    const struct tts_fit_change *change = find(&answer, TTS_FIT_CHANGE_TENSOR_PARALLEL);
    T_TRUE(change && change->fits);
    /* The smallest number of chips that is enough. */
    T_STR_EQ(change->options, "--tensor-parallel 2");
    workload.model.tied = true; /* a tied model cannot be divided among chips */
    answer = changes_of(&workload, &chip);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_TENSOR_PARALLEL) == NULL);
    workload.model.tied = false;
    chip = chip_with(bank_peak_on(&halved, "t3k") * 11 / 10); /* the memory of one chip */
    answer = changes_of(&workload, &chip);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_TENSOR_PARALLEL) == NULL);
}

T_TEST(all_chips_and_recompute_are_suggested_if_neither_is_enough)
{
    struct tts_workload workload = small_llama();
    workload.recipe = TTS_RECIPE_HEAD;
    workload.batch = 1; /* with a batch of 1, accumulation does not help */
    workload.model.width = 512;
    workload.model.mlp_width = 2048;
    workload.model.sequence = 1024;
    struct tts_workload both = workload;
    both.tensor_parallel = 2;
    both.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    struct tts_chip chip = chips_with("n300", bank_peak_on(&both, "n300") * 21 / 20);
    struct answer answer = changes_of(&workload, &chip);
    are_true(&answer, &workload, &chip);
    const struct tts_fit_change *change = find(&answer, TTS_FIT_CHANGE_TOGETHER);
    T_TRUE(change && change == answer.changes);
    T_STR_EQ(change->options, "--runner memory_efficient --tensor-parallel 2");
}

T_TEST(a_run_with_too_few_chips_is_offered_fewer_or_a_device_that_has_them)
{
    struct tts_workload workload = small_llama();
    workload.recipe = TTS_RECIPE_HEAD;
    workload.model.groups = 4;
    workload.tensor_parallel = 4;
    struct tts_chip chip = chip_of("n300");
    struct answer answer = changes_of(&workload, &chip);
    are_true(&answer, &workload, &chip);
    T_EQ(answer.count, 2);
    T_STR_EQ(answer.changes[0].options, "--tensor-parallel 1");
    T_STR_EQ(answer.changes[1].options, "--device t3k");
}

T_TEST(where_none_fits_alone_several_together_may)
{
    struct tts_workload workload = small_llama(), all = workload;
    all.batch = 1;
    all.accumulate = 8;
    all.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    all.optimizer = (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_SGD};
    uint64_t least = least_single(&workload), needed = bank_peak(&all);
    T_TRUE(needed < least);
    struct tts_chip chip = chip_with(needed + (least - needed) / 2);
    struct answer answer = changes_of(&workload, &chip);
    are_true(&answer, &workload, &chip);
    const struct tts_fit_change *together = &answer.changes[0];
    T_EQ(together->kind, TTS_FIT_CHANGE_TOGETHER);
    T_TRUE(together->fits);
    T_EQ(answer.changes[1].kind, TTS_FIT_CHANGE_DEVICE);
    T_EQ(answer.count, 6);
    for (size_t i = 2; i < answer.count; i++)
        T_TRUE(!answer.changes[i].fits);
    T_EQ(together->workload.runner, TTS_RUNNER_MEMORY_EFFICIENT);
    T_EQ(together->workload.optimizer.kind, TTS_OPTIMIZER_SGD);
    T_TRUE(strstr(together->options, "--runner memory_efficient --optimizer SGD") != NULL);
    T_TRUE(strstr(together->cost, "; one more forward pass in every step; no ") != NULL ||
           strncmp(together->cost, "one more", 8) == 0);
}

T_TEST(a_smaller_batch_and_recompute_are_tried_before_the_optimizer)
{
    struct tts_workload workload = small_llama(), both;
    workload.model.blocks = 12;
    workload.model.sequence = 128;
    workload.batch = 16;
    both = workload;
    both.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    both.batch = both.accumulate = 4;
    uint64_t enough = bank_peak(&both), too_little = least_single(&workload);
    T_TRUE(enough < too_little);
    struct tts_chip chip = chip_with(enough + (too_little - enough) / 2);
    struct answer answer = changes_of(&workload, &chip);
    const struct tts_fit_change *together = find(&answer, TTS_FIT_CHANGE_TOGETHER);
    are_true(&answer, &workload, &chip);
    T_EQ(together->workload.optimizer.kind, workload.optimizer.kind);
    T_TRUE(strstr(together->options, " --runner memory_efficient") != NULL);
    both = together->workload;
    T_EQ(both.batch * both.accumulate, 16);
    both.batch *= 2;
    both.accumulate /= 2;
    T_TRUE(!fits_on(&both, &chip));
}

T_TEST(together_the_batch_stays_where_it_can)
{
    struct tts_workload workload = wide_llama(), lighter = workload, both;
    workload.recipe = lighter.recipe = TTS_RECIPE_HEAD;
    lighter.optimizer = (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_SGD};
    both = lighter;
    both.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    uint64_t enough = bank_peak(&both), too_little = bank_peak(&lighter);
    T_TRUE(enough < too_little);
    struct tts_chip chip = chip_with(enough + (too_little - enough) / 2);
    struct answer answer = changes_of(&workload, &chip);
    const struct tts_fit_change *together = find(&answer, TTS_FIT_CHANGE_TOGETHER);
    T_TRUE(together->workload.batch == workload.batch && together->workload.accumulate == 1);
    T_STR_EQ(together->options, "--runner memory_efficient --optimizer SGD --momentum 0");
    T_STR_EQ(together->cost,
             "one more forward pass in every step; no moments: training converges differently; "
             "gradients stay allocated, as zeros");
}

/* A shorter sequence costs more than TOGETHER, so it does not replace TOGETHER. */
T_TEST(together_is_told_unless_a_smaller_batch_or_recompute_is_enough)
{
    struct tts_workload workload = small_llama(), efficient = workload;
    struct tts_chip chip = chip_with(least_single(&workload) * 11 / 10);
    struct answer answer = changes_of(&workload, &chip);
    are_true(&answer, &workload, &chip);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_SEQUENCE)->fits);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_TOGETHER)->fits);
    efficient.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    chip = chip_with((bank_peak(&efficient) + bank_peak(&workload)) / 2);
    answer = changes_of(&workload, &chip);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_RECOMPUTE)->fits);
    T_TRUE(find(&answer, TTS_FIT_CHANGE_TOGETHER) == NULL);
}

/* SGD with momentum keeps the zeroed gradients and needs more memory than AdamW. */
T_TEST(a_milder_optimizer_that_fits_is_not_passed_over)
{
    struct tts_workload workload = {.model = {.family = TTS_FAMILY_LLAMA,
                                              .blocks = 22,
                                              .width = 2048,
                                              .heads = 32,
                                              .groups = 4,
                                              .sequence = 2048,
                                              .vocabulary = 32000},
                                    .recipe = TTS_RECIPE_HEAD,
                                    .batch = 2,
                                    .accumulate = 1,
                                    .tensor_parallel = 1,
                                    .data_parallel = 1};
    struct tts_workload adamw, momentum;
    workload.optimizer.kind = TTS_OPTIMIZER_ADAMW_FULL_PRECISION;
    adamw = momentum = workload;
    adamw.optimizer.kind = TTS_OPTIMIZER_ADAMW;
    momentum.optimizer =
        (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_SGD, .momentum = true};
    T_TRUE(bank_peak(&momentum) > bank_peak(&adamw));
    struct tts_chip chip = chip_with((bank_peak(&momentum) + bank_peak(&adamw)) / 2);
    T_TRUE(fits_on(&adamw, &chip) && !fits_on(&momentum, &chip));
    struct answer answer = changes_of(&workload, &chip);
    const struct tts_fit_change *change = find(&answer, TTS_FIT_CHANGE_OPTIMIZER);
    T_TRUE(change->fits && change->workload.optimizer.kind == TTS_OPTIMIZER_ADAMW);
}

/* --- trials ----------------------------------------------------------------------------- */

/* Near the limit the free ranges change, and after many micro steps a buffer finds no place. */
T_TEST(what_a_trial_says_fits_does_so_to_its_last_micro_step)
{
    struct tts_workload workload = small_llama(), efficient, shorter;
    workload.model.sequence = 128;
    workload.batch = 2;
    workload.accumulate = 40;
    efficient = workload;
    efficient.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    shorter = efficient;
    shorter.accumulate = 3;
    uint64_t needed = bank_peak(&efficient), late = 0, early = 0, fine = 0;
    for (uint64_t percent = 109; percent < 112; percent++) {
        struct tts_chip chip = chip_with(needed * percent / 100);
        bool fits = fits_on(&efficient, &chip);
        struct answer answer = changes_of(&workload, &chip);
        const struct tts_fit_change *change = find(&answer, TTS_FIT_CHANGE_RECOMPUTE);
        T_TRUE(change && change->fits == fits);
        late += !fits && fits_on(&shorter, &chip);
        early += fits && !fits_on(&shorter, &chip);
        fine += fits;
    }
    T_TRUE(late + early > 0 && fine > 0);
}

/* --- choices and words ------------------------------------------------------------------ */

static void has_batches(uint64_t batch, uint64_t chips, const uint64_t *expected, size_t count)
{
    struct tts_workload workload = {.batch = batch, .data_parallel = chips};
    struct tts_batches batches;
    tts_batches_init(&batches, &workload);
    T_EQ(batches.count, count);
    T_MEM_EQ(batches.batch, expected, count * sizeof *expected);
}

T_TEST(smaller_batches_divide_the_batch_of_every_chip)
{
    has_batches(1, 1, (const uint64_t[]){1}, 1);
    has_batches(12, 1, (const uint64_t[]){1, 2, 3, 4, 6, 12}, 6);
    has_batches(36, 1, (const uint64_t[]){1, 2, 3, 4, 6, 9, 12, 18, 36}, 9);
    has_batches(12, 2, (const uint64_t[]){2, 4, 6, 12}, 4);
    has_batches(7, 1, (const uint64_t[]){1, 7}, 2);
}

T_TEST(a_batch_with_very_many_divisors_has_its_ends)
{
    struct tts_workload workload = {.batch = UINT64_C(897612484786617600)};
    struct tts_batches batches;
    tts_batches_init(&batches, &workload);
    T_TRUE(batches.count <= TTS_BATCHES_MAX && batches.batch[0] == 1);
    T_EQ(batches.batch[batches.count - 1], workload.batch);
    for (size_t i = 1; i < batches.count; i++)
        T_TRUE(batches.batch[i - 1] < batches.batch[i]);
}

static void has_lighter(struct tts_optimizer_config from,
                        const struct tts_optimizer_config *expected, size_t count)
{
    struct tts_optimizer_config out[TTS_LIGHTER_MAX];
    T_EQ(tts_optimizer_lighter(from, out), count);
    for (size_t i = 0; i < count; i++) {
        T_EQ(out[i].kind, expected[i].kind);
        T_TRUE(out[i].momentum == expected[i].momentum);
        T_TRUE(out[i].amsgrad == expected[i].amsgrad && out[i].kahan == expected[i].kahan);
    }
}

T_TEST(lighter_optimizers_give_up_one_thing_after_the_other)
{
    static const struct tts_optimizer_config adamw = {.kind = TTS_OPTIMIZER_ADAMW},
                                             sgd = {.kind = TTS_OPTIMIZER_SGD},
                                             momentum = {TTS_OPTIMIZER_SGD, true, false, false};
    static const struct tts_optimizer_config exact = {.kind =
                                                          TTS_OPTIMIZER_ADAMW_FULL_PRECISION},
                                             composite = {.kind =
                                                              TTS_OPTIMIZER_ADAMW_COMPOSITE},
                                             kahan = {TTS_OPTIMIZER_ADAMW_COMPOSITE, false,
                                                      false, true};
    struct tts_optimizer_config both = kahan, exact_amsgrad = exact;
    both.amsgrad = exact_amsgrad.amsgrad = true;
    has_lighter((struct tts_optimizer_config){.kind = TTS_OPTIMIZER_NONE}, NULL, 0);
    has_lighter(sgd, NULL, 0);
    has_lighter(momentum, &sgd, 1);
    has_lighter(adamw, (const struct tts_optimizer_config[]){momentum, sgd}, 2);
    has_lighter(both, (const struct tts_optimizer_config[]){kahan, composite, momentum, sgd},
                4);
    has_lighter(exact_amsgrad,
                (const struct tts_optimizer_config[]){exact, adamw, momentum, sgd}, 4);
}

static void is_told(const struct tts_workload *from, const struct tts_workload *to,
                    const char *options, const char *cost)
{
    struct tts_fit_change change = {.workload = *to};
    tts_fit_change_describe(from, &change);
    T_STR_EQ(change.options, options);
    T_STR_EQ(change.cost, cost);
}

T_TEST(a_change_says_what_to_ask_for_and_what_it_costs)
{
    struct tts_workload from = small_llama(), to = from;
    to.batch = 2;
    to.accumulate = 4;
    is_told(&from, &to, "--batch 2 --accumulate 4",
            "4 micro steps for each optimizer step, each with batch 2; gradients stay "
            "allocated between the micro steps");
    from.accumulate = 2; /* with accumulation the gradients stay already */
    is_told(&from, &to, "--batch 2 --accumulate 4",
            "4 micro steps for each optimizer step, each with batch 2");
    from = small_llama();
    to = from;
    to.model.sequence = 128;
    is_told(&from, &to, "--seq 128", "context of 128 tokens instead of 256");
    to = from;
    to.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    is_told(&from, &to, "--runner memory_efficient", "one more forward pass in every step");
    to = from;
    to.tensor_parallel = 4;
    is_told(&from, &to, "--tensor-parallel 4",
            "4 chips share the model and exchange sums in every block");
    struct tts_fit_change change = {.workload = from, .device = "p150"};
    tts_fit_change_describe(&from, &change);
    T_STR_EQ(change.options, "--device p150");
    T_STR_EQ(change.cost, "another card: p150");
    from.tensor_parallel = change.workload.tensor_parallel = 4;
    tts_fit_change_describe(&from, &change);
    T_STR_EQ(change.cost, "4 chips of a p150");
}

T_TEST(an_optimizer_says_what_is_lost)
{
    struct tts_workload from = small_llama(), to = from;
    to.optimizer = (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_SGD, .momentum = true};
    is_told(
        &from, &to, "--optimizer SGD --momentum 0.9",
        "no second moment: training converges differently; gradients stay allocated, as zeros");
    to.optimizer.momentum = false;
    is_told(&from, &to, "--optimizer SGD --momentum 0",
            "no moments: training converges differently; gradients stay allocated, as zeros");
    from.optimizer = (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_SGD, .momentum = true};
    is_told(&from, &to, "--momentum 0", "no momentum: training converges differently");
    from.optimizer = (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_ADAMW_FULL_PRECISION,
                                                   .amsgrad = true};
    to.optimizer = (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_ADAMW};
    is_told(&from, &to, "--optimizer AdamW",
            "no amsgrad; no fp32 master weights, moments in bf16");
    from.optimizer =
        (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_ADAMW_COMPOSITE, .kahan = true};
    to.optimizer = (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_ADAMW_COMPOSITE};
    is_told(&from, &to, "", "no compensation of rounding");
}

/* Uses the largest numbers that a workload can have. */
T_TEST(the_longest_words_find_room)
{
    struct tts_workload from = small_llama(), to = from;
    from.batch = UINT64_C(1) << 40;
    to.batch = (UINT64_C(1) << 40) - 1;
    to.accumulate = (UINT64_C(1) << 40) - 1;
    to.runner = TTS_RUNNER_MEMORY_EFFICIENT;
    to.optimizer = (struct tts_optimizer_config){.kind = TTS_OPTIMIZER_SGD, .momentum = true};
    is_told(&from, &to,
            "--batch 1099511627775 --accumulate 1099511627775 --runner memory_efficient "
            "--optimizer SGD --momentum 0.9",
            "1099511627775 micro steps for each optimizer step, each with batch 1099511627775; "
            "gradients stay allocated between the micro steps; one more forward pass in every "
            "step; no second "
            "moment: training converges differently; gradients stay allocated, as zeros");
}

T_TEST(changes_have_names)
{
    static const char *const names[] = {"accumulate", "recompute", "tensor_parallel",
                                        "sequence",   "optimizer", "device",
                                        "together"};
    for (int kind = 0; kind < TTS_FIT_CHANGES; kind++)
        T_STR_EQ(tts_fit_change_name((enum tts_fit_change_kind)kind), names[kind]);
}

/* --- the largest ------------------------------------------------------------------------ */

static struct tts_largest largest_of(const struct tts_workload *workload,
                                     const struct tts_chip *chip, enum tts_largest_kind kind)
{
    struct tts_largest largest;
    struct tts_error err;
    if (tts_largest_find(workload, chip, kind, NULL, &largest, &err) != TTS_OK)
        fail_msg("no largest: %s", err.text);
    return largest;
}

static struct tts_workload with(struct tts_workload workload, enum tts_largest_kind kind,
                                uint64_t value)
{
    if (kind == TTS_LARGEST_BATCH)
        workload.batch = value;
    else
        workload.model.sequence = value;
    return workload;
}

static void finds_the_border(const struct tts_workload *workload, const struct tts_chip *chip,
                             enum tts_largest_kind kind, uint64_t step)
{
    struct tts_largest largest = largest_of(workload, chip, kind);
    T_TRUE(largest.value > 0 && largest.value % step == 0);
    T_EQ(largest.next, largest.value + step);
    struct tts_workload last = with(*workload, kind, largest.value);
    struct tts_workload next = with(*workload, kind, largest.next);
    struct tts_fit *fits = fit_of(&last, chip), *fails = fit_of(&next, chip);
    T_TRUE(tts_fit_fits(fits) && !tts_fit_fits(fails));
    T_EQ(largest.peak_bytes, fits->peak_bytes);
    T_EQ(largest.next_peak_bytes, fails->peak_bytes);
    tts_fit_free(fits);
    tts_fit_free(fails);
}

T_TEST(the_largest_fits_and_the_next_does_not)
{
    struct tts_chip chip = chip_of("n150");
    struct tts_workload workload = small_llama();
    finds_the_border(&workload, &chip, TTS_LARGEST_BATCH, 1);
    finds_the_border(&workload, &chip, TTS_LARGEST_SEQUENCE, 32);
    workload.recipe = TTS_RECIPE_HEAD;
    workload.data_parallel = 4;
    chip = chip_of("t3k");
    finds_the_border(&workload, &chip, TTS_LARGEST_BATCH, 4);
}

T_TEST(what_stands_in_the_searched_field_does_not_matter)
{
    struct tts_chip chip = chip_of("n150");
    struct tts_workload workload = small_llama(), odd = workload;
    odd.model.sequence = 33;
    struct tts_largest a = largest_of(&workload, &chip, TTS_LARGEST_SEQUENCE);
    struct tts_largest b = largest_of(&odd, &chip, TTS_LARGEST_SEQUENCE);
    T_MEM_EQ(&a, &b, sizeof a);
}

/* Near the limit memory is fragmented, so some smaller values fail. A binary search alone would
 * stop at the first failure. */
T_TEST(the_largest_is_not_stopped_by_a_hole_below_it)
{
    struct tts_workload workload = {.model = {.family = TTS_FAMILY_LLAMA,
                                              .blocks = 32,
                                              .width = 4096,
                                              .heads = 32,
                                              .groups = 8,
                                              .mlp_width = 14336,
                                              .sequence = 8192,
                                              .vocabulary = 128256},
                                    .recipe = TTS_RECIPE_HEAD,
                                    .runner = TTS_RUNNER_MEMORY_EFFICIENT,
                                    .batch = 1,
                                    .accumulate = 1,
                                    .tensor_parallel = 8,
                                    .data_parallel = 1};
    struct tts_chip chip = chip_of("t3k");
    struct tts_largest largest = largest_of(&workload, &chip, TTS_LARGEST_SEQUENCE);
    struct tts_workload hole = with(workload, TTS_LARGEST_SEQUENCE, 4864);
    T_TRUE(!fits_on(&hole, &chip));
    T_TRUE(largest.value > 4864);
    for (uint64_t value = largest.value; value < largest.value + 320; value += 32) {
        struct tts_workload near = with(workload, TTS_LARGEST_SEQUENCE, value);
        T_EQ(fits_on(&near, &chip), value == largest.value);
    }
}

T_TEST(where_not_even_one_fits_the_largest_is_nothing)
{
    struct tts_workload workload = small_llama();
    struct tts_chip chip = chip_with(tts_workload_parameter_bytes(&workload) / 24);
    struct tts_largest largest = largest_of(&workload, &chip, TTS_LARGEST_BATCH);
    T_TRUE(largest.value == 0 && largest.next == 1);
    T_TRUE(largest.peak_bytes > 0 && largest.peak_bytes == largest.next_peak_bytes);
}

T_TEST(where_all_fit_there_is_no_next)
{
    struct tts_workload workload = small_llama();
    struct tts_chip chip = chip_with(UINT64_C(1) << 36);
    workload.model.sequence = 32;
    workload.model.blocks = 1;
    struct tts_largest largest = largest_of(&workload, &chip, TTS_LARGEST_BATCH);
    T_TRUE(largest.value == TTS_LARGEST_MAX && largest.next == 0);
    T_TRUE(largest.peak_bytes > 0 && largest.next_peak_bytes == 0);
}

T_TEST(a_largest_of_what_cannot_be_is_refused)
{
    struct tts_chip chip = chip_of("n150"), blank = chip_of("quasar");
    struct tts_workload workload = small_llama();
    struct tts_largest largest = {.value = 7};
    T_EQ(tts_largest_find(&workload, &blank, TTS_LARGEST_BATCH, NULL, &largest, NULL),
         TTS_E_NOT_FOUND);
    workload.model.heads = 3;
    T_EQ(tts_largest_find(&workload, &chip, TTS_LARGEST_BATCH, NULL, &largest, NULL),
         TTS_E_INVALID);
    T_EQ(largest.value, 7);
}

/* --- memory ----------------------------------------------------------------------------- */

T_TEST(searches_that_run_out_of_memory_leave_nothing)
{
    struct tts_workload workload = small_llama();
    struct tts_chip chip = chip_with(bank_peak(&workload) * 6 / 10);
    struct tts_fit *fit = fit_of(&workload, &chip);
    enum tts_status status = TTS_E_NOMEM;
    for (uint64_t at = 1; status != TTS_OK; at += 1 + at / 4) {
        struct heap heap;
        struct tts_fit_change changes[TTS_FIT_CHANGES];
        struct tts_largest largest;
        size_t count = 77;
        heap_init(&heap);
        heap.fail_at = at;
        heap.fail_after = true; /* a device allocates twice, and both must fail */
        status = tts_fit_change_find(fit, &heap.alloc, changes, &count, NULL);
        T_EQ(status, heap.failed ? TTS_E_NOMEM : TTS_OK);
        T_TRUE(heap_is_settled(&heap) && (status == TTS_OK || count == 77));
        heap_init(&heap);
        heap.fail_at = at;
        heap.fail_after = true; /* a device allocates twice, and both must fail */
        enum tts_status found =
            tts_largest_find(&workload, &chip, TTS_LARGEST_BATCH, &heap.alloc, &largest, NULL);
        T_EQ(found, heap.failed ? TTS_E_NOMEM : TTS_OK);
        T_TRUE(heap_is_settled(&heap));
    }
    tts_fit_free(fit);
}
