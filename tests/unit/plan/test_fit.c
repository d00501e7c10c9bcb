/* Tests the result of one run: its phases, its peak and the parts of the peak, the placement,
 * the recording. */
#include "plan/fit.h"

#include "harness/plan_rig.h"
#include "model/recording/recfile.h"
#include "torture/heap.h"

#include <string.h>

static const struct tts_pool_usage *dram_of(const struct tts_phase *phase)
{
    return &phase->usage.pools[TTS_POOL_DRAM];
}

/* --- phases and peaks ------------------------------------------------------------------- */

static void agrees_with_its_phases(const struct tts_fit *fit)
{
    size_t count = tts_capture_count(fit->capture);
    const struct tts_phase *last = tts_capture_at(fit->capture, count - 1), *forward = NULL;
    bool is_named = strcmp(fit->peak.phase, TTS_PHASE_LATER_ITERATION "2") == 0;
    T_STR_EQ(last->name, TTS_PHASE_FIRST_ITERATION);
    T_EQ(dram_of(last)->cumulative_peak_bytes, fit->first_peak_bytes);
    T_EQ(dram_of(last)->cumulative_current_bytes, fit->final_bytes);
    for (size_t i = count; i-- > 0;) {
        const struct tts_phase *phase = tts_capture_at(fit->capture, i);
        is_named |= strcmp(phase->name, fit->peak.phase) == 0;
        if (strncmp(phase->name, "FORWARD_PASS", 12) == 0)
            forward = phase;
    }
    T_TRUE(is_named && forward);
    T_EQ(dram_of(forward)->allocated_bytes - dram_of(forward)->freed_bytes, fit->kept_bytes);
    T_TRUE(fit->peak_bytes == fit->peak.bytes && fit->later_peak_bytes >= fit->final_bytes);
    T_EQ(fit->peak_bytes, fit->later_peak_bytes > fit->first_peak_bytes
                              ? fit->later_peak_bytes
                              : fit->first_peak_bytes);
}

T_TEST(the_figures_are_those_of_the_phases)
{
    struct tts_chip chip = chip_of("n150");
    struct tts_workload workload = small_llama();
    for (int recipe = TTS_RECIPE_V1; recipe <= TTS_RECIPE_HEAD; recipe++)
        for (uint64_t accumulate = 1; accumulate <= 2; accumulate++) {
            workload.recipe = (enum tts_recipe)recipe;
            workload.accumulate = accumulate;
            struct tts_fit *fit = fit_of(&workload, &chip);
            agrees_with_its_phases(fit);
            T_EQ(fit->parameters, tts_workload_parameters(&workload));
            T_EQ(fit->parameter_bytes, tts_workload_parameter_bytes(&workload));
            T_TRUE(fit->chip == &chip && fit->workload.accumulate == accumulate);
            tts_fit_free(fit);
        }
}

T_TEST(gradients_that_are_zeroed_make_the_second_iteration_the_larger_one)
{
    struct tts_chip chip = chip_of("n150");
    struct tts_workload workload = small_llama();
    workload.recipe = TTS_RECIPE_HEAD;
    workload.optimizer.kind = TTS_OPTIMIZER_SGD;
    struct tts_fit *fit = fit_of(&workload, &chip);
    T_TRUE(fit->later_peak_bytes > fit->first_peak_bytes);
    T_STR_EQ(fit->peak.phase, TTS_PHASE_LATER_ITERATION "2");
    agrees_with_its_phases(fit);
    tts_fit_free(fit);
}

T_TEST(only_one_chip_without_binaries_is_not_an_estimate)
{
    struct tts_chip chip = chip_of("n150");
    for (int which = 0; which < 4; which++) {
        struct tts_workload workload = small_llama();
        workload.recipe = TTS_RECIPE_HEAD;
        workload.tensor_parallel = which == 1 ? 2 : 1;
        workload.data_parallel = which == 2 ? 2 : 1;
        workload.kernel_binaries = which == 3;
        struct tts_fit *fit = fit_of(&workload, &chip);
        T_EQ(fit->is_estimated, which != 0);
        tts_fit_free(fit);
    }
}

T_TEST(a_run_with_more_chips_than_the_device_has_does_not_fit)
{
    struct tts_workload workload = small_llama();
    workload.recipe = TTS_RECIPE_HEAD;
    workload.data_parallel = 4;
    workload.batch = 4;
    struct tts_chip few = chip_of("n300"), enough = chip_of("t3k");
    struct tts_fit *fit = fit_of(&workload, &few);
    T_TRUE(!tts_fit_fits(fit) && fit->placement.failures == 0);
    tts_fit_free(fit);
    fit = fit_of(&workload, &enough);
    T_TRUE(tts_fit_fits(fit));
    tts_fit_free(fit);
    T_EQ(tts_fit_chips(&workload), 4);
    workload.tensor_parallel = UINT64_MAX;
    T_EQ(tts_fit_chips(&workload), UINT64_MAX);
}

/* --- parts of the peak ----------------------------------------------------------------- */

static bool is_before(const struct tts_fit_part *a, const struct tts_fit_part *b)
{
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes;
    if (a->part != b->part)
        return a->part < b->part;
    if (a->layer != b->layer)
        return a->layer < b->layer;
    return strcmp(a->op ? a->op : "", b->op ? b->op : "") < 0;
}

static void is_made_of_its_parts(const struct tts_fit *fit)
{
    uint64_t part_bytes[TTS_PARTS] = {0}, bytes = 0;
    T_TRUE(fit->peak.part_count > 0);
    for (size_t i = 0; i < fit->peak.part_count; i++) {
        const struct tts_fit_part *part = &fit->peak.parts[i];
        T_TRUE(i == 0 || is_before(part - 1, part));
        T_TRUE(part->buffers > 0 && part->layer < (int32_t)fit->workload.model.blocks);
        part_bytes[part->part] += part->bytes;
        bytes += part->bytes;
    }
    T_EQ(bytes, fit->peak_bytes);
    T_MEM_EQ(part_bytes, fit->peak.part_bytes, sizeof part_bytes);
}

static uint64_t buffers_of(const struct tts_fit *fit, enum tts_tensor_part part)
{
    uint64_t buffers = 0;
    for (size_t i = 0; i < fit->peak.part_count; i++)
        buffers += fit->peak.parts[i].part == part ? fit->peak.parts[i].buffers : 0;
    return buffers;
}

T_TEST(the_parts_add_up_to_the_peak_and_the_largest_is_first)
{
    struct tts_chip chip = chip_of("n150");
    struct tts_workload workload = small_llama();
    struct tts_fit *fit = fit_of(&workload, &chip);
    is_made_of_its_parts(fit);
    T_EQ(fit->peak.part_bytes[TTS_PART_PARAMETERS], fit->parameter_bytes);
    T_EQ(fit->peak.part_bytes[TTS_PART_OPTIMIZER], 2 * fit->parameter_bytes);
    T_EQ(fit->peak.part_bytes[TTS_PART_KERNELS], 0);
    T_EQ(buffers_of(fit, TTS_PART_PARAMETERS), 3 * 8 + 3);
    T_EQ(buffers_of(fit, TTS_PART_OPTIMIZER), 2 * (3 * 8 + 3));
    tts_fit_free(fit);
    workload.kernel_binaries = true;
    fit = fit_of(&workload, &chip);
    is_made_of_its_parts(fit);
    T_TRUE(fit->peak.part_bytes[TTS_PART_KERNELS] > 0);
    tts_fit_free(fit);
}

T_TEST(parts_are_there_when_asked_for)
{
    struct tts_chip chip = chip_of("n150");
    struct tts_workload workload = small_llama();
    const struct tts_fit_config config = {.chip = &chip};
    struct tts_fit *fit;
    T_EQ(tts_fit_new(&workload, &config, NULL, &fit, NULL), TTS_OK);
    T_TRUE(fit->peak.parts == NULL && fit->peak.part_count == 0 && fit->peak.bytes > 0);
    tts_fit_free(fit);
}

/* --- placement -------------------------------------------------------------------------- */

T_TEST(every_bank_gives_its_share_of_the_peak_at_least)
{
    struct tts_chip chip = chip_of("n150");
    struct tts_workload workload = small_llama();
    struct tts_fit *fit = fit_of(&workload, &chip);
    const struct tts_fit_placement *placement = &fit->placement;
    T_TRUE(tts_fit_fits(fit) && placement->failures == 0 && placement->banks == 12);
    T_EQ(fit->capacity_bytes, placement->bank_bytes * 12);
    T_TRUE(placement->peak_bank_bytes * 12 >= fit->peak_bytes);
    T_TRUE(placement->largest_free_bytes <= placement->free_bytes);
    T_TRUE(placement->free_bytes <= placement->bank_bytes - fit->peak_bytes / 12);
    tts_fit_free(fit);
}

T_TEST(with_less_than_it_takes_it_does_not_fit_and_takes_the_same)
{
    struct tts_workload workload = small_llama();
    uint64_t needed = bank_peak(&workload);
    struct tts_chip large = chip_of("n150"), small = chip_with(needed / 2);
    struct tts_fit *fits = fit_of(&workload, &large), *fit = fit_of(&workload, &small);
    const struct tts_fit_failure *first = &fit->placement.first;
    T_TRUE(!tts_fit_fits(fit) && fit->placement.failures > 0);
    T_EQ(first->failure.kind, TTS_FAILURE_SPACE);
    T_TRUE(first->op && first->phase[0] && first->layer < 3);
    T_EQ(fit->placement.free_bytes, first->failure.free_bytes);
    T_EQ(fit->placement.largest_free_bytes, first->failure.largest_free_bytes);
    T_TRUE(fit->placement.peak_bank_bytes > fit->placement.bank_bytes);
    T_EQ(fit->peak_bytes, fits->peak_bytes);
    T_EQ(fit->placement.peak_bank_bytes, fits->placement.peak_bank_bytes);
    /* More iterations would add no information. */
    T_TRUE(fit->iterations == 2 && !fit->is_settled);
    T_TRUE(fit->events <= fits->events);
    is_made_of_its_parts(fit);
    tts_fit_free(fit);
    tts_fit_free(fits);
}

/* The parameters and the gradients fit. The forward pass is the first phase that does not
 * fit. */
T_TEST(the_first_refusal_is_in_the_phase_that_is_too_much)
{
    struct tts_workload workload = small_llama();
    struct tts_chip chip = chip_with(bank_peak(&workload) / 2);
    struct tts_fit *fit = fit_of(&workload, &chip);
    T_STR_EQ(fit->placement.first.phase, "FORWARD_PASS");
    tts_fit_free(fit);
    chip = chip_with(tts_workload_parameter_bytes(&workload) / 24);
    fit = fit_of(&workload, &chip);
    T_STR_EQ(fit->placement.first.phase, "MODEL_CREATION");
    tts_fit_free(fit);
}

/* --- recordings ------------------------------------------------------------------------- */

static struct tts_fit *record(const struct tts_workload *workload, const struct tts_chip *chip,
                              const char *path)
{
    struct tts_fit *fit;
    const struct tts_fit_config config = {.chip = chip, .record_path = path};
    T_EQ(tts_fit_new(workload, &config, NULL, &fit, NULL), TTS_OK);
    return fit;
}

static struct tts_whatif *replay(const char *path, const struct tts_chip *chip, uint64_t *cuts)
{
    struct tts_recfile *file;
    struct tts_whatif *whatif;
    struct tts_item item;
    struct tts_error err;
    enum tts_status status;
    *cuts = 0;
    T_EQ(tts_recfile_open(path, NULL, &file, &err), TTS_OK);
    T_EQ(tts_whatif_new(&(struct tts_whatif_config){.chip = chip}, NULL, &whatif, &err),
         TTS_OK);
    while ((status = tts_recfile_next(file, &item, &err)) == TTS_OK) {
        *cuts += item.kind == TTS_ITEM_CUT;
        T_EQ(tts_whatif_item(whatif, &item, &err), TTS_OK);
    }
    T_EQ(status, TTS_E_NOT_FOUND);
    tts_whatif_end(whatif);
    tts_recfile_close(file);
    return whatif;
}

static void replays_the_same(const struct tts_fit *fit, const char *path)
{
    uint64_t cuts;
    struct tts_whatif_counts counts;
    struct tts_whatif_pool dram;
    struct tts_whatif *whatif = replay(path, fit->chip, &cuts);
    const struct tts_whatif_failure *first = tts_whatif_first(whatif);
    tts_whatif_get_counts(whatif, &counts);
    T_TRUE(tts_whatif_get_pool(whatif, 0, TTS_POOL_DRAM, &dram));
    T_EQ(counts.allocations + counts.frees, fit->events);
    T_EQ(tts_whatif_failures(whatif), fit->placement.failures);
    T_TRUE(tts_whatif_left_out(whatif) == 0 && counts.unknown_pages == 0);
    T_EQ(dram.stats.peak_bytes, fit->placement.peak_bank_bytes);
    T_EQ(cuts, tts_capture_count(fit->capture));
    T_EQ(first != NULL, !tts_fit_fits(fit));
    if (first) {
        char here[TTS_FAILURE_TEXT_MAX], there[TTS_FAILURE_TEXT_MAX];
        tts_failure_text(&fit->placement.first.failure, here);
        T_STR_EQ(tts_whatif_failure_text(first, there), here);
        T_STR_EQ(first->op, fit->placement.first.op);
    }
    tts_whatif_free(whatif);
}

T_TEST(a_recording_replays_on_the_same_device_to_the_same_refusals)
{
    struct tts_workload workload = small_llama();
    struct tts_chip large = chip_of("n150"), small = chip_with(bank_peak(&workload) * 3 / 4);
    const char *path = t_scratch("run.tts");
    struct tts_fit *fit = record(&workload, &large, path);
    T_EQ(fit->placement.failures, 0);
    replays_the_same(fit, path);
    tts_fit_free(fit);
    workload.kernel_binaries = true;
    fit = record(&workload, &small, path);
    T_TRUE(fit->placement.failures > 0);
    replays_the_same(fit, path);
    tts_fit_free(fit);
}

/* --- refusals --------------------------------------------------------------------------- */

T_TEST(what_cannot_be_run_is_refused_and_leaves_nothing)
{
    struct tts_chip chip = chip_of("n150"), blank = chip_of("quasar");
    struct tts_workload workload = small_llama();
    struct tts_fit *fit = NULL;
    struct tts_error err;
    struct tts_fit_config config = {.chip = &blank};
    T_EQ(tts_fit_new(&workload, &config, NULL, &fit, &err), TTS_E_NOT_FOUND);
    config = (struct tts_fit_config){.chip = &chip, .record_path = "/nowhere/at/all.tts"};
    T_EQ(tts_fit_new(&workload, &config, NULL, &fit, &err), TTS_E_IO);
    config = (struct tts_fit_config){.chip = &chip};
    workload.model.sequence = 100;
    T_EQ(tts_fit_new(&workload, &config, NULL, &fit, &err), TTS_E_INVALID);
    T_TRUE(says(&err, "32") && fit == NULL);
    tts_fit_free(NULL);
}

T_TEST(memory_that_runs_out_anywhere_leaves_nothing_behind)
{
    struct tts_chip chip = chip_of("n150");
    struct tts_workload workload = small_llama();
    const struct tts_fit_config config = {.chip = &chip, .parts = true};
    enum tts_status status = TTS_E_NOMEM;
    workload.model.blocks = 1;
    for (uint64_t at = 1; status != TTS_OK; at += 1 + at / 8) {
        struct heap heap;
        struct tts_fit *fit = NULL;
        heap_init(&heap);
        heap.fail_at = at;
        heap.fail_after = true; /* a device allocates twice, and both must fail */
        status = tts_fit_new(&workload, &config, &heap.alloc, &fit, NULL);
        T_TRUE(status == TTS_OK || (status == TTS_E_NOMEM && !fit));
        T_EQ(status == TTS_OK, heap.failed == 0);
        tts_fit_free(fit);
        T_TRUE(heap_is_settled(&heap));
    }
}
