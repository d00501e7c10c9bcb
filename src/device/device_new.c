/* device_new.c: makes and frees devices, sets their observer, and holds them. */
#include "base/error.h"
#include "base/heap.h"
#include "device/device_inside.h"
#include "device/devicepools.h"

#include <assert.h>
#include <string.h>

/* Makes the L1 pool in HYBRID mode. Allocator 0 serves all cores in lockstep. Each other
 * allocator serves one core and must not overlap allocator 0. */
static enum tts_status new_hybrid(struct tts_device *d, struct tts_banks_config *config,
                                  struct tts_error *err)
{
    struct tts_device_pool *pool = &d->pools[TTS_POOL_L1];
    size_t cores = pool->layout.banks, bytes = cores * sizeof(uint32_t);
    uint32_t *on = d->alloc->alloc(d->alloc->ctx, bytes);
    d->floor = d->alloc->alloc(d->alloc->ctx, cores * sizeof *d->floor);
    if (!on || !d->floor) {
        if (on)
            d->alloc->free(d->alloc->ctx, on, bytes);
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    }
    for (uint32_t i = 0; i < cores; i++)
        on[i] = i + 1;
    struct tts_dependency star = {.of = 0, .on = on, .count = cores};
    config->dependencies = &star;
    config->dependency_count = 1;
    enum tts_status status = tts_banks_new(config, d->alloc, &pool->banks, err);
    d->alloc->free(d->alloc->ctx, on, bytes);
    return status;
}

static enum tts_status new_pool(struct tts_device *d, enum tts_pool kind, struct tts_error *err)
{
    struct tts_device_pool *pool = &d->pools[kind];
    enum tts_status status = tts_chip_pool(&d->chip, kind, &pool->layout, err);
    if (status != TTS_OK)
        return status;
    if (pool->layout.bank_bytes == 0)
        return TTS_OK;
    bool hybrid = d->config.hybrid && kind == TTS_POOL_L1;
    if (hybrid)
        pool->layout.bank_page_alignment_bytes = pool->layout.block_alignment_bytes;
    pool->need = tts_need_pool(&pool->layout);
    pool->is_quick = kind != TTS_POOL_L1_SMALL &&
                     pool->layout.block_alignment_bytes <= TTS_NEED_ALIGNMENT_MAX &&
                     pool->layout.bank_page_alignment_bytes <= TTS_NEED_ALIGNMENT_MAX;
    pool->uneven = hybrid;
    struct tts_banks_config config = {
        .size_bytes = pool->layout.bank_bytes,
        .offset_bytes = pool->layout.offset_bytes,
        .page_alignment_bytes = pool->layout.bank_page_alignment_bytes,
        .block_alignment_bytes = pool->layout.block_alignment_bytes,
        .banks = pool->layout.banks,
        .limit = pool->layout.limit,
    };
    return hybrid ? new_hybrid(d, &config, err)
                  : tts_banks_new(&config, d->alloc, &pool->banks, err);
}

static enum tts_status new_pools(struct tts_device *d, struct tts_error *err)
{
    bool any = false;
    struct tts_error why, first = {0}; /* why the first missing pool is missing */
    for (int kind = 0; kind < TTS_POOLS; kind++) {
        enum tts_status status = new_pool(d, (enum tts_pool)kind, &why);
        if (status != TTS_OK && status != TTS_E_NOT_FOUND) {
            if (err)
                *err = why;
            return status;
        }
        if (status != TTS_OK && first.status == TTS_OK)
            first = why;
        any = any || d->pools[kind].banks;
    }
    if (!any && err)
        *err = first;
    return any ? TTS_OK : TTS_E_NOT_FOUND;
}

static enum tts_status new_cbs(struct tts_device *d, struct tts_error *err)
{
    static const enum tts_fact_key needed[] = {TTS_FACT_GRID, TTS_FACT_L1_BASE,
                                               TTS_FACT_L1_SIZE, TTS_FACT_DRAM_ALIGNMENT,
                                               TTS_FACT_MAX_CBS};
    const struct tts_fact *fact = d->chip.fact;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (fact[needed[i]].origin == TTS_ORIGIN_UNKNOWN)
            return TTS_OK;
    struct tts_cbs_config config = {
        .base = fact[TTS_FACT_L1_BASE].value,
        .l1_bytes = fact[TTS_FACT_L1_SIZE].value,
        .l1_small_bytes = d->pools[TTS_POOL_L1_SMALL].layout.bank_bytes,
        .alignment_bytes = fact[TTS_FACT_DRAM_ALIGNMENT].value,
        .columns = TTS_GRID_COLUMNS(d->grid),
        .rows = TTS_GRID_ROWS(d->grid),
        .max_indices = (uint32_t)fact[TTS_FACT_MAX_CBS].value,
    };
    return tts_cbs_new(&config, d->alloc, &d->cbs, err);
}

static enum tts_status new_map(struct tts_device *d, struct tts_error *err)
{
    struct tts_banks_map *map = d->alloc->alloc(d->alloc->ctx, sizeof *map);
    if (!map)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    if (tts_banks_map_init(map, &d->chip, NULL) == TTS_OK)
        d->map = map;
    else
        d->alloc->free(d->alloc->ctx, map, sizeof *map);
    return TTS_OK;
}

enum tts_status tts_device_new(const struct tts_chip *chip,
                               const struct tts_device_config *config,
                               const struct tts_alloc *alloc, struct tts_device **out,
                               struct tts_error *err)
{
    enum tts_status status = tts_chip_check(chip, err);
    if (status != TTS_OK)
        return status;
    if (config && (unsigned)config->mode > TTS_MODE_OVERCOMMIT)
        return tts_error_set(err, TTS_E_INVALID, "unknown mode %d", (int)config->mode);
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_device *d = alloc->alloc(alloc->ctx, sizeof *d);
    if (!d)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    memset(d, 0, sizeof *d);
    d->alloc = alloc;
    d->chip = *chip;
    if (config)
        d->config = *config;
    d->observer = d->config.observer;
    tts_device_hold(d, false);
    if (chip->fact[TTS_FACT_GRID].origin != TTS_ORIGIN_UNKNOWN)
        d->grid = chip->fact[TTS_FACT_GRID].value;
    status = new_pools(d, err);
    if (status == TTS_OK)
        status = new_cbs(d, err);
    if (status == TTS_OK)
        status = new_map(d, err);
    if (status != TTS_OK) {
        tts_device_free(d);
        return status;
    }
    *out = d;
    return TTS_OK;
}

void tts_device_free(struct tts_device *d)
{
    if (!d)
        return;
    const struct tts_alloc *alloc = d->alloc;
    size_t cores = d->pools[TTS_POOL_L1].layout.banks;
    for (int kind = 0; kind < TTS_POOLS; kind++)
        tts_banks_free(d->pools[kind].banks);
    tts_cbs_free(d->cbs);
    if (d->map)
        alloc->free(alloc->ctx, d->map, sizeof *d->map);
    if (d->floor)
        alloc->free(alloc->ctx, d->floor, cores * sizeof *d->floor);
    if (d->traces)
        alloc->free(alloc->ctx, d->traces, d->trace_capacity * sizeof *d->traces);
    alloc->free(alloc->ctx, d, sizeof *d);
}

/* --- observer and hold ------------------------------------------------------------------ */

void tts_device_observe(struct tts_device *d, const struct tts_observer *observer)
{
    d->observer = observer ? *observer : (struct tts_observer){0};
    d->config.observer = (struct tts_observer){0};
}

bool tts_device_is_observed(const struct tts_device *d)
{
    return tts_device_watched(d);
}

/* There is one flag for all pools, so that two threads cannot leave the pools in different
 * states. The flag publishes no other data, so relaxed order is enough. */
void tts_device_hold(struct tts_device *d, bool held)
{
    bool places = !held && d->config.mode != TTS_MODE_NO_DISPATCH;
    __atomic_store_n(&d->is_placing, places, __ATOMIC_RELAXED);
}
