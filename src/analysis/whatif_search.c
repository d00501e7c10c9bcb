#include "analysis/whatif_search.h"

#include "device/space.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

/* The largest bank that is tried: 32 GiB. The allocator can have twice as many bytes with an
 * alignment of 16 bytes, which is the smallest alignment of DRAM on any chip. */
#define MOST_BYTES (TTS_SPACE_MAX_UNITS / 2 * 16)
enum { FIRST_PART = 4096 }; /* the first step up is 1/4096 of the lower bound */

struct search {
    const struct tts_whatif_search *asked;
    struct tts_whatif_found *out;
    uint64_t low, high; /* sizes in steps: `low` has failed and `high` has passed */
};

static enum tts_status run_size(struct search *search, uint64_t steps, bool *passes,
                                struct tts_error *err)
{
    const struct tts_whatif_search *asked = search->asked;
    search->out->runs++;
    return asked->run(asked->ctx, steps * asked->step_bytes, passes, err);
}

/* Goes up from the lower bound until a size passes. */
static enum tts_status search_up(struct search *search, struct tts_error *err)
{
    const uint64_t most = MOST_BYTES / search->asked->step_bytes;
    uint64_t stride = search->low / FIRST_PART + 1;
    uint64_t known = search->asked->high_bytes / search->asked->step_bytes;
    known = known > search->low && search->asked->high_bytes % search->asked->step_bytes == 0
                ? known
                : 0;
    for (bool passes = false; !passes; stride *= 2) {
        uint64_t next = stride < most - search->low ? search->low + stride : most;
        bool is_known = known > 0 && next >= known;
        if (is_known)
            next = known;
        enum tts_status status = TTS_OK;
        passes = is_known;
        if (!is_known)
            status = run_size(search, next, &passes, err);
        if (status != TTS_OK)
            return status;
        if (passes)
            search->high = next;
        else if (next == most)
            return TTS_OK; /* no size passes */
        else
            search->low = next;
    }
    return TTS_OK;
}

static enum tts_status search_between(struct search *search, struct tts_error *err)
{
    while (search->high - search->low > 1) {
        uint64_t middle = search->low + (search->high - search->low) / 2;
        bool passes;
        enum tts_status status = run_size(search, middle, &passes, err);
        if (status != TTS_OK)
            return status;
        if (passes)
            search->high = middle;
        else
            search->low = middle;
    }
    return TTS_OK;
}

enum tts_status tts_whatif_smallest(const struct tts_whatif_search *asked,
                                    struct tts_whatif_found *out, struct tts_error *err)
{
    struct tts_whatif_found found = {0};
    uint64_t step = asked->step_bytes;
    struct search search = {.asked = asked, .out = &found};
    bool passes;
    assert(step > 0);
    search.low = asked->low_bytes / step + (asked->low_bytes % step > 0);
    search.low += search.low == 0;
    if (search.low > MOST_BYTES / step) {
        *out = found;
        return TTS_OK;
    }
    enum tts_status status = run_size(&search, search.low, &passes, err);
    if (status != TTS_OK)
        return status;
    found.is_least = passes;
    if (passes) {
        search.high = search.low;
    } else {
        status = search_up(&search, err);
        if (status == TTS_OK && search.high > 0)
            status = search_between(&search, err);
    }
    if (status != TTS_OK)
        return status;
    found.found = search.high > 0;
    found.bank_bytes = search.high * step;
    *out = found;
    return TTS_OK;
}

/* --- regions that are too small --------------------------------------------------------- */

struct region_try {
    const struct tts_whatif *whatif;
    enum tts_pool pool;
};

static enum tts_status try_region(void *ctx, uint64_t bytes, bool *passes,
                                  struct tts_error *err)
{
    struct region_try *try = ctx;
    return try->pool == TTS_POOL_DRAM
               ? tts_whatif_try(try->whatif, bytes, passes, err)
               : tts_whatif_try_region(try->whatif, try->pool, bytes, passes, err);
}

static void add_need(struct tts_whatif_regions *regions, enum tts_pool pool,
                     enum tts_fact_key key, uint64_t bytes, const struct tts_chip *chip)
{
    regions->need[regions->count++] =
        (struct tts_whatif_need){pool, tts_fact_name(key), bytes, chip->fact[key].value};
}

static enum tts_status find_region(const struct tts_whatif *whatif, const struct tts_chip *chip,
                                   enum tts_pool pool, struct tts_whatif_regions *regions,
                                   struct tts_error *err)
{
    struct region_try try = {whatif, pool};
    struct tts_whatif_region region;
    if (!tts_whatif_get_region(whatif, pool, &region))
        return TTS_OK;
    struct tts_whatif_search asked = {.low_bytes = region.low_bytes,
                                      .step_bytes = region.step_bytes,
                                      .run = try_region,
                                      .ctx = &try};
    struct tts_whatif_found found = {.found = true, .bank_bytes = region.low_bytes};
    enum tts_status status = TTS_OK;
    if (tts_whatif_has_steps(whatif))
        status = tts_whatif_smallest(&asked, &found, err);
    if (status == TTS_OK && found.found)
        add_need(regions, pool, region.key, found.bank_bytes, chip);
    return status;
}

enum tts_status tts_whatif_find_regions(const struct tts_whatif *whatif,
                                        const struct tts_chip *chip,
                                        struct tts_whatif_regions *regions,
                                        struct tts_error *err)
{
    enum tts_status status = find_region(whatif, chip, TTS_POOL_L1_SMALL, regions, err);
    return status == TTS_OK ? find_region(whatif, chip, TTS_POOL_TRACE, regions, err) : status;
}

/* Sets the sizes in a chip. Returns TTS_OK only if such a chip is possible. */
static enum tts_status set_regions(const struct tts_whatif_regions *regions,
                                   struct tts_chip *chip, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    char text[TTS_FACT_TEXT_MAX];
    for (size_t i = 0; i < regions->count && status == TTS_OK; i++) {
        snprintf(text, sizeof text, "%" PRIu64, regions->need[i].bytes);
        status = tts_chip_set(chip, regions->need[i].key, text, err);
    }
    return status == TTS_OK ? tts_chip_check(chip, err) : status;
}

/* Adds the DRAM that is missing after the larger regions have taken their share. `whatif` ran
 * with the larger regions, on `chip`. */
static enum tts_status add_dram(const struct tts_whatif *whatif, const struct tts_chip *chip,
                                struct tts_whatif_regions *regions, struct tts_error *err)
{
    struct region_try try = {whatif, TTS_POOL_DRAM};
    struct tts_whatif_pool dram;
    struct tts_whatif_found found;
    struct tts_chip larger;
    if (!tts_whatif_has_steps(whatif) || !tts_whatif_get_worst(whatif, TTS_POOL_DRAM, &dram) ||
        dram.failures == 0)
        return TTS_OK;
    struct tts_whatif_search asked = {.low_bytes = dram.stats.peak_bytes,
                                      .step_bytes = dram.layout.block_alignment_bytes,
                                      .run = try_region,
                                      .ctx = &try};
    enum tts_status status = tts_whatif_smallest(&asked, &found, err);
    if (status != TTS_OK || !found.found)
        return status;
    status = tts_whatif_resize(chip, found.bank_bytes, &larger, err);
    if (status != TTS_OK)
        return status;
    const enum tts_fact_key key = TTS_FACT_DRAM_BANK_SIZE;
    add_need(regions, TTS_POOL_DRAM, key, larger.fact[key].value, chip);
    return TTS_OK;
}

enum tts_status tts_whatif_run_regions(struct tts_whatif_regions *regions,
                                       const struct tts_chip *chip, tts_whatif_rerun_fn rerun,
                                       void *ctx, struct tts_error *err)
{
    for (size_t ran = 0; ran < regions->count;) {
        struct tts_chip larger = *chip;
        struct tts_whatif *whatif;
        struct tts_error why = {0};
        regions->are_run = false;
        if (set_regions(regions, &larger, &why) != TTS_OK) {
            snprintf(regions->impossible, sizeof regions->impossible, "%s", why.text);
            return TTS_OK;
        }
        if (!rerun)
            return TTS_OK;
        enum tts_status status = rerun(ctx, &larger, &whatif, err);
        if (status != TTS_OK)
            return status;
        regions->are_run = true;
        regions->failures = tts_whatif_failures(whatif);
        ran = regions->count;
        if (regions->need[ran - 1].pool != TTS_POOL_DRAM)
            status = add_dram(whatif, &larger, regions, err);
        tts_whatif_free(whatif);
        if (status != TTS_OK)
            return status;
    }
    return TTS_OK;
}

/* --- the answer ------------------------------------------------------------------------- */

bool tts_whatif_answer_fits(const struct tts_whatif_answer *answer)
{
    return tts_whatif_failures(answer->whatif) == 0 &&
           tts_whatif_left_out(answer->whatif) == 0 && answer->missing.count == 0 &&
           answer->before == 0;
}
