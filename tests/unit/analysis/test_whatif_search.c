#include "analysis/whatif_search.h"

#include "analysis/whatif.h"
#include "harness/t.h"
#include "harness/whatif_rig.h"

/* ---- on made-up runs ---- */

struct fake {
    uint64_t passes_from, passes_also; /* passes_also: a single smaller size that passes */
    unsigned runs, stop_at;
};

static enum tts_status fake_run(void *ctx, uint64_t bank_bytes, bool *passes,
                                struct tts_error *err)
{
    struct fake *fake = ctx;
    (void)err;
    if (++fake->runs == fake->stop_at)
        return TTS_E_IO;
    *passes = bank_bytes >= fake->passes_from || bank_bytes == fake->passes_also;
    return TTS_OK;
}

static struct tts_whatif_found find(struct fake *fake, uint64_t low, uint64_t high)
{
    struct tts_whatif_search search = {
        .low_bytes = low, .high_bytes = high, .step_bytes = 32, .run = fake_run, .ctx = fake};
    struct tts_whatif_found found = {0};
    T_EQ(tts_whatif_smallest(&search, &found, NULL), TTS_OK);
    T_EQ(found.runs, fake->runs);
    return found;
}

T_TEST(where_larger_never_fails_the_smallest_is_found)
{
    uint64_t rng = 5;
    for (int i = 0; i < 2000; i++) {
        uint64_t low = t_random(&rng) % (UINT64_C(1) << (6 + i % 28));
        uint64_t above = t_random(&rng) % (UINT64_C(1) << (i % 30));
        uint64_t at = (low + 31) / 32 * 32 + above / 32 * 32;
        at += at == 0 ? 32 : 0;
        uint64_t high = t_random(&rng) % 3 == 0 ? 0 : at + t_random(&rng) % 1000 * 32;
        struct fake fake = {.passes_from = at, .passes_also = at};
        struct tts_whatif_found found = find(&fake, low, high);
        T_TRUE(found.found && found.bank_bytes == at);
        T_EQ(found.is_least, at - low < 32 || at == 32);
        T_TRUE(found.runs <= 90);
    }
}

T_TEST(the_lower_bound_is_one_run)
{
    struct fake fake = {.passes_from = 320};
    struct tts_whatif_found found = find(&fake, 320, 3200);
    T_TRUE(found.is_least && found.bank_bytes == 320 && found.runs == 1);
}

T_TEST(what_was_found_has_passed_also_where_larger_ones_fail)
{
    for (uint64_t also = 1; also < 200; also++) {
        struct fake fake = {.passes_from = 6400, .passes_also = also * 32};
        struct tts_whatif_found found = find(&fake, 32, 0);
        T_TRUE(found.found);
        T_TRUE(found.bank_bytes == 6400 || found.bank_bytes == also * 32);
    }
}

T_TEST(a_size_that_is_known_to_pass_is_not_tried_and_not_passed)
{
    struct fake fake = {.passes_from = 64000};
    struct tts_whatif_found found = find(&fake, 32000, 64000);
    T_TRUE(found.bank_bytes == 64000 && !found.is_least);
    fake = (struct fake){.passes_from = 64000};
    /* 64001 is not a multiple of the step, so it is not tried. */
    found = find(&fake, 32000, 64001);
    T_EQ(found.bank_bytes, 64000);
}

T_TEST(where_nothing_passes_it_is_said)
{
    struct fake fake = {.passes_from = UINT64_MAX};
    T_TRUE(!find(&fake, 4096, 0).found);
    fake.runs = 0;
    T_TRUE(!find(&fake, UINT64_C(1) << 60, 0).found);
    T_EQ(fake.runs, 0);
}

T_TEST(a_run_that_cannot_be_made_ends_the_search)
{
    for (unsigned stop_at = 1; stop_at < 20; stop_at++) {
        struct fake fake = {.passes_from = 1 << 20, .stop_at = stop_at};
        struct tts_whatif_search search = {
            .low_bytes = 4096, .step_bytes = 32, .run = fake_run, .ctx = &fake};
        struct tts_whatif_found found = {.runs = 77};
        T_EQ(tts_whatif_smallest(&search, &found, NULL), TTS_E_IO);
        T_TRUE(found.runs == 77 && fake.runs == stop_at);
    }
}

T_TEST(banks_of_another_size_change_nothing_else)
{
    struct tts_chip chip = chip_of("n150"), out;
    struct tts_pool_layout was, is;
    set(&chip, "trace_region", "12M");
    T_EQ(tts_whatif_resize(&chip, 1 << 20, &out, NULL), TTS_OK);
    T_EQ(tts_chip_pool(&chip, TTS_POOL_DRAM, &was, NULL), TTS_OK);
    T_EQ(tts_chip_pool(&out, TTS_POOL_DRAM, &is, NULL), TTS_OK);
    T_TRUE(is.bank_bytes == 1 << 20 && is.offset_bytes == was.offset_bytes);
    T_TRUE(is.banks == was.banks && is.nominal_bytes < was.nominal_bytes);
    T_EQ(tts_chip_pool(&out, TTS_POOL_TRACE, &is, NULL), TTS_OK);
    T_EQ(is.bank_bytes, 1 << 20);
    struct tts_error err = {0};
    T_EQ(tts_whatif_resize(&chip, UINT64_MAX, &out, &err), TTS_E_RANGE);
}

/* ---- larger regions ---- */

/* A recording that fills a DRAM bank of 1 MiB. */
struct reruns {
    unsigned count;
    uint64_t bank_bytes;    /* size of a DRAM bank in the last run */
    unsigned refused_until; /* another request fails in run `refused_until` and before it */
};

static enum tts_status rerun_full(void *ctx, const struct tts_chip *chip,
                                  struct tts_whatif **out, struct tts_error *err)
{
    struct reruns *reruns = ctx;
    struct rig rig = rig_with(chip, true);
    (void)err;
    rows(&rig, 1, (1 << 20) / 2048);
    if (++reruns->count <= reruns->refused_until)
        alloc_in(&rig, TTS_POOL_L1_SMALL, 2, 1 << 30, 2048);
    reruns->bank_bytes = pool_of(&rig, TTS_POOL_DRAM).layout.bank_bytes;
    tts_whatif_end(rig.whatif);
    *out = rig.whatif;
    return TTS_OK;
}

static struct tts_whatif_regions trace_region(uint64_t bytes)
{
    return (struct tts_whatif_regions){.need = {{TTS_POOL_TRACE, "trace_region", bytes, 0}},
                                       .count = 1};
}

T_TEST(sizes_are_called_enough_only_after_a_run_with_all_of_them)
{
    struct tts_chip chip = small_chip(1 << 20);
    struct tts_whatif_regions regions = trace_region(12 * 8192);
    struct reruns reruns = {0};
    T_EQ(tts_whatif_run_regions(&regions, &chip, rerun_full, &reruns, NULL), TTS_OK);
    T_TRUE(regions.are_run && regions.failures == 0 && !regions.impossible[0]);
    T_TRUE(regions.count == 2 && regions.need[1].pool == TTS_POOL_DRAM);
    T_TRUE(reruns.count == 2 && reruns.bank_bytes == 1 << 20);
    /* What fails in the run with all sizes is counted. */
    regions = trace_region(12 * 8192);
    reruns = (struct reruns){.refused_until = 2};
    T_EQ(tts_whatif_run_regions(&regions, &chip, rerun_full, &reruns, NULL), TTS_OK);
    T_TRUE(regions.are_run && regions.failures == 1);
    /* What failed only in the first run is not. */
    regions = trace_region(12 * 8192);
    reruns = (struct reruns){.refused_until = 1};
    T_EQ(tts_whatif_run_regions(&regions, &chip, rerun_full, &reruns, NULL), TTS_OK);
    T_TRUE(regions.are_run && regions.failures == 0 && reruns.count == 2);
}

T_TEST(sizes_that_no_device_can_have_are_not_run_and_the_reason_is_kept)
{
    struct tts_chip chip = small_chip(1 << 20);
    struct tts_whatif_regions regions = trace_region(UINT64_C(1) << 30);
    struct reruns reruns = {0};
    T_EQ(tts_whatif_run_regions(&regions, &chip, rerun_full, &reruns, NULL), TTS_OK);
    T_TRUE(!regions.are_run && reruns.count == 0);
    T_STR_EQ(regions.impossible, "'trace_region' takes 89481216 bytes of each bank, but a bank "
                                 "has 1048576 bytes: make 'trace_region' smaller");
    /* The reason does not depend on whether the file can be read again. */
    regions = trace_region(UINT64_C(1) << 30);
    T_EQ(tts_whatif_run_regions(&regions, &chip, NULL, NULL, NULL), TTS_OK);
    T_TRUE(!regions.are_run && regions.impossible[0]);
    regions = trace_region(12 * 8192);
    T_EQ(tts_whatif_run_regions(&regions, &chip, NULL, NULL, NULL), TTS_OK);
    T_TRUE(!regions.are_run && !regions.impossible[0] && regions.count == 1);
}

T_TEST(a_run_that_left_something_out_does_not_fit)
{
    struct rig rig = rig_on("n150");
    struct tts_whatif_answer answer = {.whatif = rig.whatif};
    rows(&rig, 1, 1);
    T_TRUE(tts_whatif_answer_fits(&answer));
    answer.before = 1;
    T_TRUE(!tts_whatif_answer_fits(&answer));
    answer.before = 0;
    answer.missing.count = 1;
    T_TRUE(!tts_whatif_answer_fits(&answer));
    answer.missing.count = 0;
    rows(&rig, 2, UINT64_C(1) << 30);
    T_TRUE(!tts_whatif_answer_fits(&answer));
    tts_whatif_free(rig.whatif);
}

/* ---- on random stories ---- */

enum { IDS = 24, EVENTS = 300 };

/* Sends the same events for the same seed, in any number of runs. Returns the largest number of
 * live bytes. */
static uint64_t tell(struct rig *rig, uint64_t seed)
{
    uint64_t rng = seed * 2 + 1, sizes[IDS] = {0}, live = 0, most = 0;
    rig->seq = 0;
    for (int i = 0; i < EVENTS; i++) {
        uint64_t id = t_random(&rng) % IDS, draw = t_random(&rng);
        live -= sizes[id];
        if (sizes[id] > 0) {
            sizes[id] = 0;
            free_row(rig, id);
            continue;
        }
        uint64_t page = draw % 3 == 0 ? 1088 : 2048;
        sizes[id] = (1 + draw / 16 % 60) * page;
        live += sizes[id];
        most = live > most ? live : most;
        struct tts_event *event = alloc_event(rig, TTS_POOL_DRAM, id, sizes[id], page);
        event->placement = (enum tts_placement)(draw / 4 % 3);
        if (draw % 5 == 0)
            event->cores = 1 + (uint32_t)(draw % 12);
        feed(rig);
    }
    tts_whatif_end(rig->whatif);
    return most;
}

T_TEST(what_is_found_passes_in_a_whole_run_and_less_does_not)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct tts_chip chip = small_chip(seed % 2 ? 30000 : 300000), other;
        struct rig rig = rig_with(&chip, true);
        uint64_t most = tell(&rig, seed);
        struct tts_whatif_pool dram = pool_of(&rig, TTS_POOL_DRAM);
        T_TRUE(dram.stats.peak_bytes >= most / 12);
        T_EQ(dram.failures == 0, tts_whatif_failures(rig.whatif) == 0);
        struct tts_pool_stats stats;
        T_TRUE(tts_device_stats(tts_whatif_device(rig.whatif, 0), TTS_POOL_DRAM, &stats));
        T_EQ(stats.peak_bytes,
             dram.stats.peak_bytes); /* equal to the count of the device itself */
        struct tts_whatif_found found = smallest(&rig);
        T_TRUE(found.found && found.bank_bytes >= dram.stats.peak_bytes);
        if (dram.failures == 0)
            T_TRUE(found.bank_bytes <= dram.layout.bank_bytes);
        for (int less = 0; less < 2; less++) {
            if (less && found.is_least)
                break;
            T_EQ(tts_whatif_resize(&chip, found.bank_bytes - (less ? 32 : 0), &other, NULL),
                 TTS_OK);
            struct rig again = rig_with(&other, false);
            tell(&again, seed);
            T_EQ(tts_whatif_failures(again.whatif) > 0, less);
            tts_whatif_free(again.whatif);
        }
        tts_whatif_free(rig.whatif);
    }
}

T_TEST(kept_steps_fail_and_pass_as_whole_runs_do)
{
    for (uint64_t seed = 100; seed < 120; seed++) {
        struct tts_chip chip = small_chip(40000), other;
        struct rig rig = rig_with(&chip, true);
        tell(&rig, seed);
        for (uint64_t bytes = 20000 / 32 * 32; bytes < 90000; bytes += 3200) {
            bool passes;
            T_EQ(tts_whatif_try(rig.whatif, bytes, &passes, NULL), TTS_OK);
            T_EQ(tts_whatif_resize(&chip, bytes, &other, NULL), TTS_OK);
            struct rig again = rig_with(&other, false);
            tell(&again, seed);
            T_EQ(passes, tts_whatif_failures(again.whatif) == 0);
            tts_whatif_free(again.whatif);
        }
        tts_whatif_free(rig.whatif);
    }
}

/* More different requests than are remembered, and places of several bytes. The steps must give
 * the same result as the events. */
T_TEST(steps_of_many_different_requests_are_what_they_were)
{
    enum { BUFFERS = 20000 };
    struct tts_chip chip = small_chip(UINT64_C(1) << 34);
    struct rig rig = rig_with(&chip, true);
    bool passes = false;
    for (int round = 0; round < 3; round++) {
        for (uint64_t id = 0; id < BUFFERS; id++)
            alloc_in(&rig, TTS_POOL_DRAM, id, (1 + id * 7919 % BUFFERS) * 384, 32);
        for (uint64_t id = 0; id < BUFFERS && round < 2; id++)
            free_row(&rig, id * 13 % BUFFERS);
    }
    T_EQ(tts_whatif_failures(rig.whatif), 0);
    struct tts_whatif_pool dram = pool_of(&rig, TTS_POOL_DRAM);
    uint64_t sum = UINT64_C(32) * BUFFERS * (BUFFERS + 1) / 2;
    T_EQ(dram.stats.peak_bytes, sum);
    T_EQ(tts_whatif_try(rig.whatif, sum, &passes, NULL), TTS_OK);
    T_TRUE(passes);
    T_EQ(tts_whatif_try(rig.whatif, sum - 32, &passes, NULL), TTS_OK);
    T_TRUE(!passes);
    tts_whatif_free(rig.whatif);
}

/* More than four million steps, which would take 96 MiB uncompressed. */
T_TEST(steps_of_a_long_recording_are_kept_in_little_memory)
{
    enum { PAIRS = (4 << 20) / 2 + 1 };
    struct tts_chip chip = small_chip(4 * 2048);
    struct rig rig = rig_with(&chip, true);
    bool passes = false;
    for (uint64_t id = 1; id <= PAIRS; id++) {
        rows(&rig, id, 1 + id % 3);
        free_row(&rig, id);
    }
    T_TRUE(tts_whatif_has_steps(rig.whatif));
    T_EQ(tts_whatif_try(rig.whatif, 3 * 2048, &passes, NULL), TTS_OK);
    T_TRUE(passes);
    T_EQ(tts_whatif_try(rig.whatif, 3 * 2048 - 32, &passes, NULL), TTS_OK);
    T_TRUE(!passes);
    tts_whatif_free(rig.whatif);
}
