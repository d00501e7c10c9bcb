/* Tests runs that end early, because an allocation fails or because the device has no room. */
#include "harness/run_rig.h"

#include <inttypes.h>
#include <stdio.h>

static struct tts_workload tiny(enum tts_recipe recipe)
{
    bool is_head = recipe == TTS_RECIPE_HEAD;
    return (struct tts_workload){
        .model = {.family = is_head ? TTS_FAMILY_LLAMA : TTS_FAMILY_GPT2,
                  .blocks = 2,
                  .width = 64,
                  .heads = 2,
                  .groups = is_head ? 1 : 2,
                  .sequence = 32,
                  .vocabulary = 40,
                  .tied = !is_head,
                  .dropout = true,
                  .fixed_positions = !is_head},
        .recipe = recipe,
        .runner = is_head ? TTS_RUNNER_MEMORY_EFFICIENT : TTS_RUNNER_DEFAULT,
        .optimizer = {.kind = TTS_OPTIMIZER_ADAMW_COMPOSITE, .kahan = true, .amsgrad = is_head},
        .batch = 2,
        .accumulate = 2,
        .clip = true,
        .tensor_parallel = 1,
        .data_parallel = 2,
        .kernel_binaries = true};
}

/* --- memory ------------------------------------------------------------------------------ */

static void is_empty(const struct tts_device *device)
{
    struct tts_pool_stats stats = stats_of(device, TTS_POOL_DRAM);
    T_EQ(stats.buffers, 0);
    T_EQ(stats.unplaced_buffers, 0);
    T_EQ(stats.unplaced_bytes, 0);
    T_EQ(stats.space.taken_bytes, 0);
}

/* Makes each allocation of a run fail in turn. Returns the number of allocations. A device that
 * places has a heap of its own, because its failure to release a buffer is not an error of the
 * run. */
static uint64_t runs_out(const struct tts_workload *workload, enum tts_mode mode)
{
    for (uint64_t n = 1;; n++) {
        struct heap heap;
        struct tts_error err = {0};
        heap_init(&heap);
        heap.paused = true;
        struct tts_device *device =
            device_on(chip_of("n150"), (struct tts_device_config){.mode = mode},
                      mode == TTS_MODE_PLACE ? NULL : &heap);
        heap.paused = false;
        heap.fail_at = n;
        heap.fail_after = n % 2;
        enum tts_status status = tts_workload_run(workload, device, NULL, &heap.alloc, &err);
        T_EQ(status, heap.failed > 0 ? TTS_E_NOMEM : TTS_OK);
        if (heap.failed > 0)
            T_TRUE(err.status == TTS_E_NOMEM && says(&err, "the host has too little memory"));
        is_empty(device);
        tts_device_free(device);
        T_TRUE(heap_is_settled(&heap));
        if (status == TTS_OK)
            return n - 1;
    }
}

T_TEST(a_run_without_memory_ends_clean_wherever_it_is)
{
    struct tts_workload w = tiny(TTS_RECIPE_HEAD);
    T_TRUE(runs_out(&w, TTS_MODE_NO_DISPATCH) > 15);
    T_TRUE(runs_out(&w, TTS_MODE_PLACE) > 15);
    w = tiny(TTS_RECIPE_V1);
    T_TRUE(runs_out(&w, TTS_MODE_NO_DISPATCH) > 15);
}

/* --- room -------------------------------------------------------------------------------- */

static struct run run;

static struct tts_chip chip_of_room(uint64_t bytes)
{
    char text[32];
    struct tts_chip chip = chip_of("n150");
    snprintf(text, sizeof text, "%" PRIu64, DRAM_BASE + bytes);
    set(&chip, "dram_bank_size", text);
    return chip;
}

/* Returns the bytes that a run needs in each bank, measured on a device with enough memory. */
static uint64_t room_needed(const struct tts_workload *workload)
{
    struct tts_device *device = device_of("n150");
    T_EQ(tts_workload_run(workload, device, NULL, NULL, NULL), TTS_OK);
    uint64_t peak = stats_of(device, TTS_POOL_DRAM).peak_bytes;
    is_empty(device);
    tts_device_free(device);
    return peak;
}

/* Runs on a device with too little room and checks the refusal. Returns the number of phases
 * that were completed. */
static size_t is_refused(const struct tts_workload *workload, uint64_t room)
{
    struct heap heap;
    struct tts_error err = {0};
    memset(&run, 0, sizeof run);
    heap_init(&heap);
    struct tts_workload_watch watch = {.ctx = &run, .phase = run_phase_end};
    struct tts_device *device = device_on(
        chip_of_room(room), (struct tts_device_config){.observer = {run_event, &run}}, &heap);
    T_EQ(tts_workload_run(workload, device, &watch, &heap.alloc, &err), TTS_E_FULL);
    T_EQ(err.status, TTS_E_FULL);
    T_TRUE(strlen(err.text) > 0);
    T_EQ(tts_device_failures(device), 1); /* after the refusal the run makes no more requests */
    T_EQ(run.live, 0);
    is_empty(device);
    tts_device_free(device);
    T_TRUE(heap_is_settled(&heap));
    return run.phase_count;
}

T_TEST(a_device_that_is_full_ends_the_run_and_is_left_empty)
{
    struct tts_workload w = tiny(TTS_RECIPE_HEAD);
    uint64_t need = room_needed(&w);
    bool seen[RUN_PHASES] = {false};
    size_t most = 0;
    for (uint64_t i = 1; i < 48; i++) {
        size_t phases = is_refused(&w, (need * i / 48 + 63) / 64 * 64);
        /* With more room a run completes at least as many phases. */
        T_TRUE(phases < RUN_PHASES && phases >= most);
        most = phases;
        seen[phases] = true;
    }
    /* There were runs that failed while building the model, while building the optimizer, and
     * in the forward pass. */
    T_TRUE(seen[1] && seen[2] && seen[3]);
}

/* --- what cannot be run ------------------------------------------------------------------ */

T_TEST(a_workload_that_fails_its_check_touches_nothing)
{
    struct tts_workload w = tiny(TTS_RECIPE_HEAD);
    struct tts_error err = {0};
    struct tts_device *device = device_of("n150");
    w.model.sequence = 33;
    T_EQ(tts_workload_run(&w, device, NULL, NULL, &err), TTS_E_INVALID);
    T_TRUE(says(&err, "multiple of 32"));
    T_EQ(stats_of(device, TTS_POOL_DRAM).peak_bytes, 0);
    tts_device_free(device);
}
